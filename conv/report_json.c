/* report_json - a report for scripts. One object, "version" 1; within a version keys are only
 * added. Times are Unix nanoseconds, lengths nanoseconds, *_percent fractions 0..1 (but
 * host.cpu.util_percent, which is 0..100 as in the vendor's CpuUsage). Absent facts are null. A
 * "core" names a logical core:
 * {"process": index into processes, "nc": number}.
 *
 *   version, tool
 *   capture      begin_ns, end_ns, trace_begin_ns (before --from), duration_ns, spans, instants,
 *                samples, flows,
 *                files [{path, kind, records}], versions {name: [values]}, schema
 *   processes    [{process_id, instance_id, worker_gid, path}]
 *   losses       [{kind, grade (loss, repair, note), count, file, offset, text, first}]
 *   clocks       [{core, pcore_idx, mode, pairs, drift_ppb, residual_median_ns, residual_p99_ns,
 *                residual_max_ns, estimated, unplaced, before_submit, after_wait}]
 *   cores        [{core, worker_gid, pcores, executions, spans, partial_spans, begin_ns, end_ns,
 * busy_ns, utilization, first_duration_ns, duration_ns {count, sum, min, median, max, mean},
 *                without_first {utilization, busy_ns, duration_ns {...}}, gaps {count, total_ns,
 *                max_ns}}]
 *   longest_executions  [{core, exec_id, model, start_ts, end_ts, duration_ns, first,
 *                partial}]; partial: the window cuts it (before and after below)
 *   gaps         [{core, start_ts, duration_ns, before, after}], before and after as above
 *   host_calls   [{process,
 * nrt_execute {count, duration_ns}, kbl_exec_wait {count, duration_ns}, wait_share, other_wait_ns}]
 *   transfers    [{direction, source, count, partial, bytes, mean_bytes, active_ns,
 *                bandwidth_bytes_per_sec}]
 *   collectives  [{op_id, algorithm, ranks, count, instances, duration_ns {...},
 *                slowest {core, mean_ns, ranks}, spread {mean_ns, max_ns},
 *                start_skew {mean_ns, max_ns}, latest {core, ranks}}]; ranks: how many share it, of
 *                which core is the first
 *   hbm_usage    [{process, counter, peak_bytes, peak_ts, last_bytes}]
 *   errors       [{name, timestamp, core, physical_core, source: "runtime" or "device"}]
 *   host         {cpu {samples, mean_util_percent, max_util_percent}, memory {samples,
 * max_used_bytes, last_used_bytes}}, each null without samples engines      [{core, pcore_idx,
 * engine, instruction_count, partial, instruction_time_ns, active_time_ns, active_time_percent}]
 *   dma          [{core, pcore_idx, dma_queue_count, dma_transfer_count, partial,
 * dma_transfer_total_bytes, dma_transfer_average_bytes, dma_active_time_ns,
 * dma_active_time_percent, throttles}] checks       [{expression, held, values, label, value}] */
#include "conv/report.h"

#include "conv/eventrow.h"
#include "conv/conv.h"
#include "conv/figtext.h"
#include "conv/jsonw.h"

#include <string.h>

struct form {
    const struct conv_report *r;
    const struct conv_figures *f;
    const struct ntff_trace *t;
    struct conv_json j;
    struct ntff_detail d;
};

/* -- pieces ---------------------------------------------------------------------------------------
 */

static void key_i64(struct form *o, const char *key, int64_t v)
{
    conv_json_key(&o->j, key);
    conv_json_i64(&o->j, v);
}
static void key_double(struct form *o, const char *key, double v)
{
    conv_json_key(&o->j, key);
    conv_json_double(&o->j, v);
}
static void key_null(struct form *o, const char *key)
{
    conv_json_key(&o->j, key);
    conv_json_null(&o->j);
}
static void key_index(struct form *o, const char *key, uint32_t i)
{
    if (i == NTFF_NONE)
        key_null(o, key);
    else
        conv_json_key_u64(&o->j, key, i);
}
static void key_object(struct form *o, const char *key)
{
    conv_json_key(&o->j, key);
    conv_json_object(&o->j);
}
static void key_array(struct form *o, const char *key)
{
    conv_json_key(&o->j, key);
    conv_json_array(&o->j);
}
static void key_str(struct form *o, const char *key, ntff_str s)
{
    if (s)
        conv_json_key_text(&o->j, key, ntff_str_of(o->t, s));
    else
        key_null(o, key);
}

static void put_core(struct form *o, uint32_t process, uint32_t nc)
{
    key_object(o, "core");
    key_index(o, "process", process);
    key_index(o, "nc", nc);
    conv_json_end(&o->j);
}

static void put_core_at(struct form *o, uint32_t core)
{
    put_core(o, o->f->cores.v[core].process, o->f->cores.v[core].nc);
}

static void put_lengths(struct form *o, const struct conv_lengths *l, uint64_t median_ns)
{
    key_object(o, "duration_ns");
    conv_json_key_u64(&o->j, "count", l->n);
    conv_json_key_u64(&o->j, "sum", l->sum_ns);
    conv_json_key_u64(&o->j, "min", l->min_ns);
    conv_json_key_u64(&o->j, "median", median_ns);
    conv_json_key_u64(&o->j, "max", l->max_ns);
    key_double(o, "mean", conv_mean(l));
    conv_json_end(&o->j);
}

/* -- capture --------------------------------------------------------------------------------------
 */

static bool is_version(const struct ntff_trace *t, const struct ntff_fact *f)
{
    const char *key = ntff_str_of(t, f->key);
    return strstr(key, "version") || strcmp(key, "arch") == 0;
}

/* The k-th fact of all files, NULL behind the last. */
static const struct ntff_fact *fact_at(const struct ntff_trace *t, size_t k)
{
    for (size_t i = 0; i < t->n_files; i++) {
        if (k < t->files[i].facts.n)
            return &t->files[i].facts.v[k];
        k -= t->files[i].facts.n;
    }
    return NULL;
}

/* Is there an earlier fact with this key (and value)? */
static bool seen_before(const struct ntff_trace *t, size_t k, bool value_too)
{
    const struct ntff_fact *f = fact_at(t, k), *e;
    for (size_t i = 0; i < k && (e = fact_at(t, i)); i++)
        if (e->key == f->key && (!value_too || e->value == f->value))
            return true;
    return false;
}

static void put_versions(struct form *o)
{
    const struct ntff_fact *f, *e;
    key_object(o, "versions");
    for (size_t k = 0; (f = fact_at(o->t, k)); k++) {
        if (!is_version(o->t, f) || seen_before(o->t, k, false))
            continue;
        key_array(o, ntff_str_of(o->t, f->key));
        for (size_t i = k; (e = fact_at(o->t, i)); i++)
            if (e->key == f->key && !seen_before(o->t, i, true))
                conv_json_text(&o->j, ntff_str_of(o->t, e->value));
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

static void put_capture(struct form *o)
{
    const struct ntff_trace *t = o->t;
    key_object(o, "capture");
    conv_json_key_u64(&o->j, "begin_ns", t->begin_ns);
    conv_json_key_u64(&o->j, "end_ns", t->end_ns);
    conv_json_key_u64(&o->j, "trace_begin_ns", t->origin_ns);
    conv_json_key_u64(&o->j, "duration_ns", t->end_ns - t->begin_ns);
    conv_json_key_u64(&o->j, "spans", o->f->spans);
    conv_json_key_u64(&o->j, "instants", o->f->instants);
    conv_json_key_u64(&o->j, "samples", t->n_samples);
    conv_json_key_u64(&o->j, "flows", t->n_flows);
    key_array(o, "files");
    for (size_t i = 0; i < t->n_files; i++) {
        conv_json_object(&o->j);
        key_str(o, "path", t->files[i].path);
        conv_json_key_text(&o->j, "kind", ntff_file_kind_name(t->files[i].kind));
        conv_json_key_u64(&o->j, "records", t->files[i].n_records);
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
    put_versions(o);
    key_str(o, "schema", t->schema);
    conv_json_end(&o->j);

    key_array(o, "processes");
    for (size_t i = 0; i < t->n_processes; i++) {
        const struct ntff_process *p = &t->processes[i];
        conv_json_object(&o->j);
        if (p->pid)
            conv_json_key_u64(&o->j, "process_id", p->pid);
        else
            key_null(o, "process_id");
        key_str(o, "instance_id", p->instance);
        key_i64(o, "worker_gid", p->worker_gid);
        key_str(o, "path", p->dir);
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

static void put_losses(struct form *o)
{
    static const char *const grades[] = {"note", "repair", "loss"};
    key_array(o, "losses");
    for (int k = 0; k < NTFF_DIAG_COUNT; k++) {
        const struct ntff_finding *f = &o->r->diag->of[k];
        char name[40];
        if (f->count == 0)
            continue;
        conv_json_object(&o->j);
        conv_json_key_text(&o->j, "kind", conv_finding_key(k, name));
        conv_json_key_text(&o->j, "grade", grades[ntff_diag_grade(k)]);
        conv_json_key_u64(&o->j, "count", f->count);
        if (f->file)
            conv_json_key_text(&o->j, "file", f->file);
        else
            key_null(o, "file");
        if (f->offset != UINT64_MAX)
            conv_json_key_u64(&o->j, "offset", f->offset);
        else
            key_null(o, "offset");
        conv_json_key_text(&o->j, "text", ntff_diag_text(k));
        conv_json_key_text(&o->j, "first", f->detail);
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

static void put_clocks(struct form *o)
{
    key_array(o, "clocks");
    for (size_t i = 0; i < o->t->n_clocks; i++) {
        const struct ntff_core_clock *c = &o->t->clocks[i];
        const struct ntff_clock_quality *q = ntff_clock_quality(c->map);
        conv_json_object(&o->j);
        put_core(o, c->process, c->nc);
        key_index(o, "pcore_idx", c->core);
        conv_json_key_text(&o->j, "mode", ntff_clock_mode_name(q->used));
        conv_json_key_u64(&o->j, "pairs", q->n_pairs);
        key_i64(o, "drift_ppb", q->drift_ppb);
        conv_json_key_u64(&o->j, "residual_median_ns", q->residual_median_ns);
        conv_json_key_u64(&o->j, "residual_p99_ns", q->residual_p99_ns);
        conv_json_key_u64(&o->j, "residual_max_ns", q->residual_max_ns);
        conv_json_key_u64(&o->j, "estimated", (uint64_t)c->n_nearest + c->n_extrapolated);
        conv_json_key_u64(&o->j, "unplaced", c->n_unplaced);
        conv_json_key_u64(&o->j, "before_submit", c->n_before_submit);
        conv_json_key_u64(&o->j, "after_wait", c->n_after_wait);
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

/* -- executions -----------------------------------------------------------------------------------
 */

static void put_cores(struct form *o)
{
    key_array(o, "cores");
    for (size_t i = 0; i < o->f->cores.n; i++) {
        const struct conv_core *c = &o->f->cores.v[i];
        conv_json_object(&o->j);
        put_core(o, c->process, c->nc);
        key_i64(o, "worker_gid", c->worker_gid);
        conv_json_key_u64(&o->j, "pcores", c->n_pcores);
        conv_json_key_u64(&o->j, "executions", c->n_execs);
        conv_json_key_u64(&o->j, "spans", c->n_spans);
        conv_json_key_u64(&o->j, "partial_spans", c->n_partial);
        conv_json_key_u64(&o->j, "begin_ns", c->begin_ns);
        conv_json_key_u64(&o->j, "end_ns", c->end_ns);
        conv_json_key_u64(&o->j, "busy_ns", c->busy_ns);
        key_double(o, "utilization", conv_core_utilization(c));
        if (conv_core_has_first(c))
            conv_json_key_u64(&o->j, "first_duration_ns", c->first_ns);
        else
            key_null(o, "first_duration_ns");
        put_lengths(o, &c->lengths, c->median_ns);
        key_object(o, "without_first");
        key_double(o, "utilization", conv_core_rest_utilization(c));
        conv_json_key_u64(&o->j, "busy_ns", c->rest_busy_ns);
        put_lengths(o, &c->rest, c->rest_median_ns);
        conv_json_end(&o->j);
        key_object(o, "gaps");
        conv_json_key_u64(&o->j, "count", c->n_gaps);
        conv_json_key_u64(&o->j, "total_ns", c->gap_ns);
        conv_json_key_u64(&o->j, "max_ns", c->max_gap_ns);
        conv_json_end(&o->j);
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

static void put_exec(struct form *o, uint32_t exec)
{
    const struct conv_exec *e = &o->f->execs.v[exec];
    char out[64];
    const char *model = conv_exec_model(o->f, e, &o->d, out);
    conv_json_object(&o->j);
    put_core_at(o, e->core);
    if (e->exec_id == UINT64_MAX)
        key_null(o, "exec_id");
    else
        conv_json_key_u64(&o->j, "exec_id", e->exec_id);
    if (*model)
        conv_json_key_text(&o->j, "model", model);
    else
        key_null(o, "model");
    conv_json_key_u64(&o->j, "start_ts", e->ts_ns);
    conv_json_key_u64(&o->j, "end_ts", e->end_ns);
    conv_json_key_u64(&o->j, "duration_ns", e->end_ns - e->ts_ns);
    conv_json_key(&o->j, "first");
    conv_json_bool(&o->j, o->f->cores.v[e->core].first_exec == exec);
    conv_json_key(&o->j, "partial");
    conv_json_bool(&o->j, e->cut);
    conv_json_end(&o->j);
}

static void put_lists(struct form *o)
{
    key_array(o, "longest_executions");
    for (size_t i = 0; i < o->f->n_longest && i < o->r->top; i++)
        put_exec(o, o->f->longest[i]);
    conv_json_end(&o->j);
    key_array(o, "gaps");
    for (size_t i = 0; i < o->f->gaps.n && i < o->r->top; i++) {
        const struct conv_gap *g = &o->f->gaps.v[i];
        conv_json_object(&o->j);
        put_core_at(o, g->core);
        conv_json_key_u64(&o->j, "start_ts", g->ts_ns);
        conv_json_key_u64(&o->j, "duration_ns", g->dur_ns);
        conv_json_key(&o->j, "before");
        put_exec(o, g->before);
        conv_json_key(&o->j, "after");
        put_exec(o, g->after);
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

/* -- host -----------------------------------------------------------------------------------------
 */

static void put_count(struct form *o, const char *key, uint64_t n, uint64_t ns)
{
    key_object(o, key);
    conv_json_key_u64(&o->j, "count", n);
    conv_json_key_u64(&o->j, "duration_ns", ns);
    conv_json_end(&o->j);
}

static void put_calls(struct form *o)
{
    key_array(o, "host_calls");
    for (size_t i = 0; i < o->f->waits.n; i++) {
        const struct conv_wait *w = &o->f->waits.v[i];
        conv_json_object(&o->j);
        key_index(o, "process", w->process);
        put_count(o, "nrt_execute", w->n_executes, w->execute_ns);
        put_count(o, "kbl_exec_wait", w->n_waits, w->wait_ns);
        key_double(o, "wait_share", conv_part(w->wait_ns, w->execute_ns));
        conv_json_key_u64(&o->j, "other_wait_ns", w->other_wait_ns);
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
    key_array(o, "transfers");
    for (int d = 0; d < CONV_DIRECTIONS; d++) {
        const struct conv_transfer *x = &o->f->transfers[d];
        conv_json_object(&o->j);
        conv_json_key_text(&o->j, "direction", conv_direction_name(d));
        conv_json_key_text(&o->j, "source", x->from_tensors ? "nrt_tensor" : "dmem_buf");
        conv_json_key_u64(&o->j, "count", x->n);
        conv_json_key_u64(&o->j, "partial", x->n_partial);
        conv_json_key_u64(&o->j, "bytes", x->bytes);
        key_double(o, "mean_bytes", conv_part(x->bytes, x->n));
        conv_json_key_u64(&o->j, "active_ns", x->active_ns);
        key_double(o, "bandwidth_bytes_per_sec", conv_bandwidth(x));
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

static void put_edges(struct form *o, const char *key, bool known, uint64_t mean_ns,
                      uint64_t max_ns)
{
    if (!known) {
        key_null(o, key);
        return;
    }
    key_object(o, key);
    conv_json_key_u64(&o->j, "mean_ns", mean_ns);
    conv_json_key_u64(&o->j, "max_ns", max_ns);
    conv_json_end(&o->j);
}

static void put_collectives(struct form *o)
{
    key_array(o, "collectives");
    for (size_t i = 0; i < o->f->collectives.n; i++) {
        const struct conv_collective *c = &o->f->collectives.v[i];
        bool matched = c->n_instances > 0;
        conv_json_object(&o->j);
        if (c->op_id == UINT64_MAX)
            key_null(o, "op_id");
        else
            conv_json_key_u64(&o->j, "op_id", c->op_id);
        conv_json_key(&o->j, "algorithm");
        if (c->algorithm.len)
            conv_json_text_len(&o->j, c->algorithm.p, c->algorithm.len);
        else
            conv_json_null(&o->j);
        conv_json_key_u64(&o->j, "ranks", c->n_ranks);
        conv_json_key_u64(&o->j, "count", c->lengths.n);
        conv_json_key_u64(&o->j, "instances", c->n_instances);
        put_lengths(o, &c->lengths, c->median_ns);
        key_object(o, "slowest");
        put_core_at(o, c->slowest);
        conv_json_key_u64(&o->j, "mean_ns", c->slowest_mean_ns);
        conv_json_key_u64(&o->j, "ranks", c->n_slowest);
        conv_json_end(&o->j);
        put_edges(o, "spread", matched, c->spread_ns, c->max_spread_ns);
        put_edges(o, "start_skew", matched, c->skew_ns, c->max_skew_ns);
        if (matched) {
            key_object(o, "latest");
            put_core_at(o, c->latest);
            conv_json_key_u64(&o->j, "ranks", c->n_latest);
            conv_json_end(&o->j);
        } else {
            key_null(o, "latest");
        }
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

static void put_memory(struct form *o)
{
    key_array(o, "hbm_usage");
    for (size_t i = 0; i < o->f->memory.n; i++) {
        const struct conv_memory *m = &o->f->memory.v[i];
        const struct ntff_track *tr = &o->t->tracks[m->track];
        conv_json_object(&o->j);
        key_index(o, "process", tr->process);
        key_str(o, "counter", tr->name);
        conv_json_key_u64(&o->j, "peak_bytes", m->peak_bytes);
        conv_json_key_u64(&o->j, "peak_ts", m->peak_ts_ns);
        conv_json_key_u64(&o->j, "last_bytes", m->last_bytes);
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

static void put_host(struct form *o)
{
    const struct conv_host *h = &o->f->host;
    struct ntff_detail detail = {.n = 0};
    key_array(o, "errors");
    for (size_t i = 0; i < o->f->errors.n; i++) {
        const struct ntff_event *e = &o->t->events[o->f->errors.v[i]];
        const struct ntff_track *tr = &o->t->tracks[e->track];
        conv_json_object(&o->j);
        uint32_t core = conv_event_core(o->t, e, &detail);
        key_str(o, "name", e->name);
        conv_json_key_u64(&o->j, "timestamp", e->ts_ns);
        put_core(o, tr->process, tr->nc);
        if (core == NTFF_NONE)
            key_null(o, "physical_core");
        else
            conv_json_key_u64(&o->j, "physical_core", core);
        conv_json_key_text(&o->j, "source", conv_event_is_device(o->t, e) ? "device" : "runtime");
        conv_json_end(&o->j);
    }
    *o->r->out_of_memory |= detail.scratch.failed;
    ntff_detail_done(&detail);
    conv_json_end(&o->j);
    key_object(o, "host");
    if (h->n_cpu) {
        key_object(o, "cpu");
        conv_json_key_u64(&o->j, "samples", h->n_cpu);
        key_double(o, "mean_util_percent", h->cpu_mean_percent);
        key_double(o, "max_util_percent", h->cpu_max_percent);
        conv_json_end(&o->j);
    } else {
        key_null(o, "cpu");
    }
    if (h->n_memory) {
        key_object(o, "memory");
        conv_json_key_u64(&o->j, "samples", h->n_memory);
        conv_json_key_u64(&o->j, "max_used_bytes", h->memory_max_bytes);
        conv_json_key_u64(&o->j, "last_used_bytes", h->memory_last_bytes);
        conv_json_end(&o->j);
    } else {
        key_null(o, "memory");
    }
    conv_json_end(&o->j);
}

/* -- device profiles ------------------------------------------------------------------------------
 */

static void put_devices(struct form *o)
{
    key_array(o, "engines");
    for (size_t i = 0; i < o->f->engines.n; i++) {
        const struct conv_engine *e = &o->f->engines.v[i];
        const struct conv_device *d = &o->f->devices.v[e->device];
        conv_json_object(&o->j);
        put_core(o, d->process, d->nc);
        key_index(o, "pcore_idx", d->core);
        key_str(o, "engine", o->t->tracks[e->track].name);
        conv_json_key_u64(&o->j, "instruction_count", e->lengths.n);
        conv_json_key_u64(&o->j, "partial", e->n_partial);
        conv_json_key_u64(&o->j, "instruction_time_ns", e->lengths.sum_ns);
        conv_json_key_u64(&o->j, "active_time_ns", e->active_ns);
        key_double(o, "active_time_percent", conv_part(e->active_ns, d->end_ns - d->begin_ns));
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
    key_array(o, "dma");
    for (size_t i = 0; i < o->f->devices.n; i++) {
        const struct conv_device *d = &o->f->devices.v[i];
        conv_json_object(&o->j);
        put_core(o, d->process, d->nc);
        key_index(o, "pcore_idx", d->core);
        conv_json_key_u64(&o->j, "dma_queue_count", d->n_queues);
        conv_json_key_u64(&o->j, "dma_transfer_count", d->n_packets);
        conv_json_key_u64(&o->j, "partial", d->n_partial);
        if (d->n_sized) {
            conv_json_key_u64(&o->j, "dma_transfer_total_bytes", d->bytes);
            key_double(o, "dma_transfer_average_bytes", conv_part(d->bytes, d->n_sized));
        } else {
            key_null(o, "dma_transfer_total_bytes");
            key_null(o, "dma_transfer_average_bytes");
        }
        conv_json_key_u64(&o->j, "dma_active_time_ns", d->dma_active_ns);
        key_double(o, "dma_active_time_percent",
                   conv_part(d->dma_active_ns, d->end_ns - d->begin_ns));
        conv_json_key_u64(&o->j, "throttles", d->n_throttles);
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

static void put_checks(struct form *o)
{
    key_array(o, "checks");
    for (size_t i = 0; i < o->r->n_checks; i++) {
        const struct conv_check *c = &o->r->checks[i];
        conv_json_object(&o->j);
        conv_json_key_text(&o->j, "expression", c->expr.text);
        conv_json_key_u64(&o->j, "held", c->n_held);
        conv_json_key_u64(&o->j, "values", c->n_values);
        if (c->n_held) {
            conv_json_key_text(&o->j, "label", c->label);
            key_double(o, "value", c->worst);
        } else {
            key_null(o, "label");
            key_null(o, "value");
        }
        conv_json_end(&o->j);
    }
    conv_json_end(&o->j);
}

void conv_report_json(const struct conv_report *r, struct ntff_out *out)
{
    struct form o = {.r = r, .f = r->f, .t = r->f->t, .j = conv_json_begin(out, true)};
    conv_json_object(&o.j);
    conv_json_key_u64(&o.j, "version", 1);
    conv_json_key_text(&o.j, "tool", "ntff-conv " NTFF_VERSION);
    put_capture(&o);
    put_losses(&o);
    put_clocks(&o);
    put_cores(&o);
    put_lists(&o);
    put_calls(&o);
    put_collectives(&o);
    put_memory(&o);
    put_host(&o);
    put_devices(&o);
    put_checks(&o);
    conv_json_end(&o.j);
    conv_json_done(&o.j);
    *r->out_of_memory |= o.d.scratch.failed;
    ntff_detail_done(&o.d);
}
