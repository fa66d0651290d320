/* report_text - one page a human reads first. Sections without data are left out; what is missing
 * in the capture is said once, in "Capture". Times of events are counted from the begin of the
 * trace, also of one that --from cut. */
#include "conv/report.h"

#include "conv/columns.h"
#include "conv/conv.h"
#include "conv/eventrow.h"
#include "conv/figtext.h"
#include "conv/times.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MANY 16 /* rows of a kind beyond which a page shows the worst, or sums up */

static void put_line(FILE *to, const char *key, const char *fmt, ...) NTFF_PRINTF(3, 4);

static void put_line(FILE *to, const char *key, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    fprintf(to, "  %-10s ", key);
    conv_put_text(to, text);
    fputc('\n', to);
}

/* -- capture --------------------------------------------------------------------------------------
 */

static void put_files(const struct conv_report *r, FILE *to)
{
    const struct ntff_trace *t = r->f->t;
    char kinds[400] = "";
    size_t n = 0;
    for (int kind = 0; kind <= NTFF_FILE_SCHEMA; kind++) {
        size_t count = 0;
        for (size_t i = 0; i < t->n_files; i++)
            count += t->files[i].kind == kind;
        bool s = count > 1 && (kind == NTFF_FILE_EMPTY || kind == NTFF_FILE_NTFF);
        if (count && n < sizeof kinds)
            n += (size_t)snprintf(kinds + n, sizeof kinds - n, "%s%zu %s%s", n ? ", " : "", count,
                                  ntff_file_kind_name(kind), s ? "s" : "");
    }
    put_line(to, "files", "%s", kinds);
    put_line(to, "schema", "%s", ntff_str_of(t, t->schema));
}

/* Version facts of the files, each once. */
static void put_versions(const struct conv_report *r, FILE *to)
{
    const struct ntff_trace *t = r->f->t;
    for (size_t i = 0; i < t->n_files; i++)
        for (size_t k = 0; k < t->files[i].facts.n; k++) {
            const struct ntff_fact *f = &t->files[i].facts.v[k];
            const char *key = ntff_str_of(t, f->key);
            bool seen = !strstr(key, "version") && strcmp(key, "arch") != 0;
            for (size_t i2 = 0; i2 <= i && !seen; i2++)
                for (size_t k2 = 0; k2 < (i2 < i ? t->files[i2].facts.n : k) && !seen; k2++)
                    seen = t->files[i2].facts.v[k2].key == f->key &&
                           t->files[i2].facts.v[k2].value == f->value;
            if (!seen)
                put_line(to, "", "%s: %s", key, ntff_str_of(t, f->value));
        }
}

static void put_capture(const struct conv_report *r, FILE *to)
{
    const struct ntff_trace *t = r->f->t;
    char begin[80], length[32], label[80], a[64], b[64], c[64], d[64];
    size_t pcores = 0;
    fputs("Capture\n", to);
    put_line(to, "time", "%s, %s", conv_duration(t->end_ns - t->begin_ns, length),
             conv_begin_text(t, r->diag, begin));
    if (t->begin_ns > t->origin_ns)
        put_line(to, "", "begins %s behind the begin of the trace, from which times count",
                 conv_duration(t->begin_ns - t->origin_ns, length));
    for (size_t i = 0; i < r->f->cores.n; i++)
        pcores += r->f->cores.v[i].n_pcores;
    put_line(to, "devices", "%s, %s with executions", conv_count(r->f->cores.n, "logical core", a),
             conv_count(pcores, "physical core", b));
    for (size_t i = 0; i < t->n_processes && i < MANY; i++)
        put_line(to, i ? "" : "processes", "%s%s%s", conv_process_label(t, (uint32_t)i, label),
                 t->processes[i].instance ? " on " : "", ntff_str_of(t, t->processes[i].instance));
    if (t->n_processes > MANY)
        put_line(to, "", "and %zu more", t->n_processes - MANY);
    put_line(to, "events", "%s, %s, %s, %s", conv_count(r->f->spans, "span", a),
             conv_count(r->f->instants, "instant", b), conv_count(t->n_samples, "sample", c),
             conv_count(t->n_flows, "flow", d));
    put_files(r, to);
    put_versions(r, to);
}

static void put_findings(const struct conv_report *r, FILE *to)
{
    static const char *const grades[] = {"note", "repaired", "LOST"};
    bool any = false;
    for (int grade = NTFF_LOSS; grade >= NTFF_NOTE; grade--)
        for (int k = 0; k < NTFF_DIAG_COUNT; k++) {
            char line[1024];
            bool told = grade != NTFF_NOTE || k == NTFF_DIAG_SAME_BYTES; /* figures count twice */
            if (r->diag->of[k].count == 0 || (int)ntff_diag_grade(k) != grade || !told)
                continue;
            ntff_diag_line(r->diag, k, line, sizeof line);
            if (!any)
                fprintf(to, "\nLosses and repairs%s\n", r->f->t->clipped ? ", " CONV_OF_ALL : "");
            any = true;
            put_line(to, grades[grade], "%s%s", line, conv_finding_hint(r->f->t, k));
        }
    if (!any)
        fputs("\nLosses and repairs\n  none\n", to);
}

static int worst_clock(const void *pa, const void *pb)
{
    const struct ntff_core_clock *a = *(const struct ntff_core_clock *const *)pa,
                                 *b = *(const struct ntff_core_clock *const *)pb;
    uint64_t x = ntff_clock_quality(a->map)->residual_p99_ns,
             y = ntff_clock_quality(b->map)->residual_p99_ns;
    return x != y ? (x > y ? -1 : 1) : a < b ? -1 : a > b;
}

static void put_clocks(const struct conv_report *r, FILE *to)
{
    const struct ntff_trace *t = r->f->t;
    const struct ntff_core_clock **by = calloc(t->n_clocks + 1, sizeof *by);
    if (t->n_clocks == 0 || !by) {
        *r->out_of_memory |= !by;
        free(by);
        return;
    }
    for (size_t i = 0; i < t->n_clocks; i++)
        by[i] = &t->clocks[i];
    size_t n = t->n_clocks;
    if (n > MANY) {
        qsort(by, n, sizeof *by, worst_clock);
        n = MANY / 2;
    }
    fprintf(to, "\nDevice clocks (--clock %s)", ntff_clock_mode_name(t->clock_mode));
    fprintf(to, n < t->n_clocks ? ", the worst %zu of %zu\n" : "\n", n, t->n_clocks);
    struct conv_columns c = conv_columns_begin("lll");
    for (size_t i = 0; i < n; i++) {
        const struct ntff_core_clock *k = by[i];
        char label[96], what[240];
        uint64_t estimated = (uint64_t)k->n_nearest + k->n_extrapolated;
        conv_cell(&c, "%s:%" PRIu32, conv_core_label(t, k->process, k->nc, label), k->core);
        ntff_clock_describe(k->map, what, sizeof what);
        conv_cell(&c, "%s", what);
        if (estimated || k->n_unplaced)
            conv_cell(&c, "%" PRIu64 " estimated, %" PRIu32 " not placed", estimated,
                      k->n_unplaced);
        else
            conv_cell(&c, "%s", "");
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
    free(by);
}

/* -- cores ----------------------------------------------------------------------------------------
 */

static void put_cores(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    char a[32], b[96];
    if (f->execs.n == 0)
        return;
    fputs("\nCores: nc_exec_running, union over physical cores; utilization between first and last "
          "execution\n",
          to);
    struct conv_columns c = conv_columns_begin("lrrrrrrrrrr");
    static const char *const head[] = {"core",        "execs",       "busy",   "util",
                                       "without 1st", "first",       "median", "max",
                                       "gaps",        "longest gap", "partial"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(head); i++)
        conv_cell(&c, "%s", head[i]);
    for (size_t i = 0; i < f->cores.n; i++) {
        const struct conv_core *x = &f->cores.v[i];
        if (x->n_spans == 0)
            continue; /* collectives only */
        conv_cell(&c, "%s", conv_core_label(f->t, x->process, x->nc, b));
        conv_cell(&c, "%zu", x->n_execs);
        conv_cell(&c, "%s", conv_duration(x->busy_ns, a));
        conv_cell(&c, "%s", conv_share(conv_core_utilization(x), a));
        conv_cell(&c, "%s", x->rest.n ? conv_share(conv_core_rest_utilization(x), a) : "-");
        conv_cell(&c, "%s", conv_core_has_first(x) ? conv_duration(x->first_ns, a) : "-");
        conv_cell(&c, "%s", x->rest.n ? conv_duration(x->rest_median_ns, a) : "-");
        conv_cell(&c, "%s", x->rest.n ? conv_duration(x->rest.max_ns, a) : "-");
        conv_cell(&c, "%" PRIu64, x->n_gaps);
        conv_cell(&c, "%s", x->n_gaps ? conv_duration(x->max_gap_ns, a) : "-");
        conv_cell(&c, "%" PRIu64, x->n_partial);
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
}

/* "exec 3 (model.neff)" */
static const char *exec_label(const struct conv_report *r, uint32_t exec, struct ntff_detail *d,
                              char out[128])
{
    char model[64];
    const struct conv_exec *e = &r->f->execs.v[exec];
    const char *name = conv_exec_model(r->f, e, d, model);
    if (e->exec_id == UINT64_MAX)
        snprintf(out, 128, "%s", *name ? name : "?");
    else
        snprintf(out, 128, "exec %" PRIu64 "%s%s%s", e->exec_id, *name ? " (" : "", name,
                 *name ? ")" : "");
    return out;
}

static void put_longest(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    struct ntff_detail d = {.n = 0};
    char a[32], b[32], label[96], what[128];
    bool windowed = f->t->begin_ns > f->t->origin_ns;
    if (f->n_longest == 0)
        return;
    fputs("\nLongest executions\n", to);
    struct conv_columns c = conv_columns_begin("rlll");
    for (size_t i = 0; i < f->n_longest && i < r->top; i++) {
        const struct conv_exec *e = &f->execs.v[f->longest[i]];
        const struct conv_core *core = &f->cores.v[e->core];
        conv_cell(&c, "%s", conv_duration(e->end_ns - e->ts_ns, a));
        conv_cell(&c, "at %s", conv_duration(e->ts_ns - f->t->origin_ns, b));
        conv_cell(&c, "%s", conv_core_label(f->t, core->process, core->nc, label));
        conv_cell(&c, "%s%s%s", exec_label(r, f->longest[i], &d, what),
                  f->longest[i] == core->first_exec ? ", the first" : "",
                  f->longest[i] == core->first_exec && windowed ? " of the window" : "");
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
    *r->out_of_memory |= d.scratch.failed;
    ntff_detail_done(&d);
}

static void put_gaps(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    struct ntff_detail d = {.n = 0};
    char a[32], b[32], label[96], what[128];
    if (f->gaps.n == 0)
        return;
    fputs("\nLargest gaps between executions\n", to);
    struct conv_columns c = conv_columns_begin("rllll");
    for (size_t i = 0; i < f->gaps.n && i < r->top; i++) {
        const struct conv_gap *g = &f->gaps.v[i];
        const struct conv_core *core = &f->cores.v[g->core];
        conv_cell(&c, "%s", conv_duration(g->dur_ns, a));
        conv_cell(&c, "at %s", conv_duration(g->ts_ns - f->t->origin_ns, b));
        conv_cell(&c, "%s", conv_core_label(f->t, core->process, core->nc, label));
        conv_cell(&c, "after %s", exec_label(r, g->before, &d, what));
        conv_cell(&c, "before %s", exec_label(r, g->after, &d, what));
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
    *r->out_of_memory |= d.scratch.failed;
    ntff_detail_done(&d);
}

/* -- host -----------------------------------------------------------------------------------------
 */

static void put_waits(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    char a[32], b[32], s[32], label[80], n[64];
    if (f->waits.n == 0)
        return;
    fputs("\nHost calls: kbl_exec_wait within nrt_execute\n", to);
    struct conv_columns c = conv_columns_begin("lrrrr");
    for (size_t i = 0; i < f->waits.n; i++) {
        const struct conv_wait *w = &f->waits.v[i];
        conv_cell(&c, "%s", conv_process_label(f->t, w->process, label));
        conv_cell(&c, "%s %s", conv_count(w->n_executes, "call", n),
                  conv_duration(w->execute_ns, a));
        conv_cell(&c, "waits %s", conv_duration(w->wait_ns, b));
        conv_cell(&c, "%s", conv_share(conv_part(w->wait_ns, w->execute_ns), s));
        conv_cell(&c, "%s%s", w->other_wait_ns ? "other waits " : "",
                  w->other_wait_ns ? conv_duration(w->other_wait_ns, a) : "");
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
}

static void put_transfers(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    char a[32], b[32], s[32], m[32], n[64];
    if (f->transfers[0].n + f->transfers[1].n == 0)
        return;
    fputs("\nTransfers\n", to);
    struct conv_columns c = conv_columns_begin("lrrrrrl");
    for (int dir = 0; dir < CONV_DIRECTIONS; dir++) {
        const struct conv_transfer *x = &f->transfers[dir];
        conv_cell(&c, "%s", dir == CONV_HOST_TO_DEVICE ? "host to device" : "device to host");
        conv_cell(&c, "%s", conv_count(x->n, "transfer", n));
        conv_cell(&c, "%s", conv_size(x->bytes, a));
        conv_cell(&c, "mean %s", conv_size(x->n ? x->bytes / x->n : 0, m));
        conv_cell(&c, "active %s", conv_duration(x->active_ns, b));
        conv_cell(&c, "%s", x->active_ns ? conv_rate(conv_bandwidth(x), s) : "-");
        conv_cell(&c, "%s", x->from_tensors ? "(nrt_tensor_* calls)" : "");
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
}

/* The rank of which something is largest, or that n of all ranks share it. */
static void rank_cell(const struct conv_report *r, struct conv_columns *c, uint32_t core,
                      uint32_t n, uint32_t n_ranks)
{
    const struct conv_core *x = &r->f->cores.v[core];
    char label[96];
    conv_core_label(r->f->t, x->process, x->nc, label);
    if (n > 1 && n == n_ranks)
        conv_cell(c, "all alike");
    else if (n > 1)
        conv_cell(c, "%s and %" PRIu32 " more", label, n - 1);
    else
        conv_cell(c, "%s", label);
}

static void put_collectives(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    char a[32], label[96];
    if (f->collectives.n == 0)
        return;
    fputs("\nCollectives: cc_running by operation, over ranks\n", to);
    struct conv_columns c = conv_columns_begin("lrrrlrrrrl");
    static const char *const head[] = {"op",       "ranks",  "count", "median",   "slowest rank",
                                       "its mean", "spread", "skew",  "max skew", "last to start"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(head); i++)
        conv_cell(&c, "%s", head[i]);
    for (size_t i = 0; i < f->collectives.n && i < r->top; i++) {
        const struct conv_collective *x = &f->collectives.v[i];
        conv_cell(&c, "%s", conv_collective_label(x, label));
        conv_cell(&c, "%" PRIu32, x->n_ranks);
        conv_cell(&c, "%" PRIu64, x->lengths.n);
        conv_cell(&c, "%s", conv_duration(x->median_ns, a));
        rank_cell(r, &c, x->slowest, x->n_slowest, x->n_ranks);
        conv_cell(&c, "%s", conv_duration(x->slowest_mean_ns, a));
        conv_cell(&c, "%s", x->n_instances ? conv_duration(x->spread_ns, a) : "-");
        conv_cell(&c, "%s", x->n_instances ? conv_duration(x->skew_ns, a) : "-");
        conv_cell(&c, "%s", x->n_instances ? conv_duration(x->max_skew_ns, a) : "-");
        if (x->n_instances)
            rank_cell(r, &c, x->latest, x->n_latest, x->n_ranks);
        else
            conv_cell(&c, "%s", "");
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
    if (f->collectives.n > r->top)
        fprintf(to, "  and %zu more\n", f->collectives.n - r->top);
}

/* "HBM0 WEIGHT" -> "WEIGHT" */
static const char *usage_of(const struct conv_report *r, const struct conv_memory *m)
{
    const char *name = ntff_str_of(r->f->t, r->f->t->tracks[m->track].name);
    const char *blank = strchr(name, ' ');
    return blank ? blank + 1 : name;
}

/* By usage over all HBMs: the highest one, and the sum of all. */
static void put_memory(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    char a[32], b[32], d[32], label[80];
    if (f->memory.n == 0)
        return;
    fputs("\nDevice memory: high-water mark by usage\n", to);
    struct conv_columns c = conv_columns_begin("lrlrr");
    static const char *const head[] = {"usage", "highest", "where", "all HBMs", "at the end"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(head); i++)
        conv_cell(&c, "%s", head[i]);
    for (size_t i = 0; i < f->memory.n; i++) {
        const struct conv_memory *top = &f->memory.v[i];
        const char *usage = usage_of(r, top);
        uint64_t sum = 0, last = 0;
        bool shown = false;
        for (size_t k = 0; k < f->memory.n; k++) {
            const struct conv_memory *m = &f->memory.v[k];
            if (strcmp(usage_of(r, m), usage) != 0)
                continue;
            shown |= k < i;
            sum += m->peak_bytes;
            last += m->last_bytes;
            top = m->peak_bytes > top->peak_bytes ? m : top;
        }
        if (shown)
            continue;
        const struct ntff_track *tr = &f->t->tracks[top->track];
        conv_cell(&c, "%s", usage);
        conv_cell(&c, "%s", conv_size(top->peak_bytes, a));
        conv_cell(&c, "%s %.*s", conv_process_label(f->t, tr->process, label),
                  (int)strcspn(ntff_str_of(f->t, tr->name), " "), ntff_str_of(f->t, tr->name));
        conv_cell(&c, "%s", conv_size(sum, b));
        conv_cell(&c, "%s", conv_size(last, d));
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
}

static void put_host(const struct conv_report *r, FILE *to)
{
    const struct conv_host *h = &r->f->host;
    char a[32], b[32], n[64];
    if (h->n_cpu + h->n_memory == 0)
        return;
    fputs("\nHost\n", to);
    if (h->n_cpu)
        put_line(to, "CPU", "mean %.1f %%, max %.1f %% (%s)", h->cpu_mean_percent,
                 h->cpu_max_percent, conv_count(h->n_cpu, "sample", n));
    if (h->n_memory)
        put_line(to, "memory", "max %s, last %s (%s)", conv_size(h->memory_max_bytes, a),
                 conv_size(h->memory_last_bytes, b), conv_count(h->n_memory, "sample", n));
}

/* An error that both the runtime and a device profile tell of is two lines: neither says that they
 * are one. */
static void put_errors(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    struct ntff_detail d = {.n = 0};
    char a[32];
    size_t n_device = 0;
    if (f->errors.n == 0)
        return;
    for (size_t i = 0; i < f->errors.n; i++)
        n_device += conv_event_is_device(f->t, &f->t->events[f->errors.v[i]]);
    fprintf(to, "\nErrors: %zu of the runtime, %zu of device profiles\n", f->errors.n - n_device,
            n_device);
    struct conv_columns c = conv_columns_begin("llll");
    for (size_t i = 0; i < f->errors.n && i < r->top; i++) {
        const struct ntff_event *e = &f->t->events[f->errors.v[i]];
        const struct ntff_track *tr = &f->t->tracks[e->track];
        uint32_t core = conv_event_core(f->t, e, &d);
        char label[96];
        conv_core_label(f->t, tr->process, tr->nc, label);
        conv_cell(&c, "at %s", conv_duration(e->ts_ns - f->t->origin_ns, a));
        conv_cell(&c, "%s", conv_event_is_device(f->t, e) ? "device" : "runtime");
        conv_cell(&c, "%s", ntff_str_of(f->t, e->name));
        if (core == NTFF_NONE)
            conv_cell(&c, "%s", label);
        else
            conv_cell(&c, "%s:%" PRIu32, label, core);
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
    *r->out_of_memory |= d.scratch.failed;
    ntff_detail_done(&d);
    if (f->errors.n > r->top)
        fprintf(to, "  and %zu more\n", f->errors.n - r->top);
}

/* -- device profiles ------------------------------------------------------------------------------
 */

static void engine_rows(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    char a[32], b[32], s[32], label[96];
    struct conv_columns c = conv_columns_begin("llrrrr");
    static const char *const head[] = {"core", "engine", "active", "share", "instructions", "sum"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(head); i++)
        conv_cell(&c, "%s", head[i]);
    for (size_t i = 0; i < f->engines.n; i++) {
        const struct conv_engine *e = &f->engines.v[i];
        const struct conv_device *d = &f->devices.v[e->device];
        conv_cell(&c, "%s:%" PRIu32, conv_core_label(f->t, d->process, d->nc, label), d->core);
        conv_cell(&c, "%s", ntff_str_of(f->t, f->t->tracks[e->track].name));
        conv_cell(&c, "%s", conv_duration(e->active_ns, a));
        conv_cell(&c, "%s", conv_share(conv_part(e->active_ns, d->end_ns - d->begin_ns), s));
        conv_cell(&c, "%" PRIu64, e->lengths.n);
        conv_cell(&c, "%s", conv_duration(e->lengths.sum_ns, b));
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
}

/* Many cores: one row for each engine over all of them. */
static void engine_sums(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    char a[32], s[3][32];
    struct conv_columns c = conv_columns_begin("lrrrrrr");
    static const char *const head[] = {"engine", "cores",   "active",      "mean share",
                                       "lowest", "highest", "instructions"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(head); i++)
        conv_cell(&c, "%s", head[i]);
    for (size_t i = 0; i < f->engines.n; i++) {
        ntff_str name = f->t->tracks[f->engines.v[i].track].name;
        double sum = 0, low = 2, high = 0;
        uint64_t n = 0, count = 0, active = 0;
        bool shown = false;
        for (size_t k = 0; k < f->engines.n; k++) {
            const struct conv_engine *e = &f->engines.v[k];
            const struct conv_device *d = &f->devices.v[e->device];
            if (f->t->tracks[e->track].name != name)
                continue;
            double share = conv_part(e->active_ns, d->end_ns - d->begin_ns);
            shown |= k < i;
            n++;
            count += e->lengths.n;
            active += e->active_ns;
            sum += share;
            low = share < low ? share : low;
            high = share > high ? share : high;
        }
        if (shown)
            continue;
        conv_cell(&c, "%s", ntff_str_of(f->t, name));
        conv_cell(&c, "%" PRIu64, n);
        conv_cell(&c, "%s", conv_duration(active, a));
        conv_cell(&c, "%s", conv_share(sum / (double)n, s[0]));
        conv_cell(&c, "%s", conv_share(low, s[1]));
        conv_cell(&c, "%s", conv_share(high, s[2]));
        conv_cell(&c, "%" PRIu64, count);
    }
    *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
}

static void put_engines(const struct conv_report *r, FILE *to)
{
    if (r->f->engines.n == 0)
        return;
    fputs("\nEngines, from device profiles; " CONV_SHARE_OF "\n", to);
    if (r->f->engines.n > 2 * MANY)
        engine_sums(r, to);
    else
        engine_rows(r, to);
}

static void put_dma(const struct conv_report *r, FILE *to)
{
    const struct conv_figures *f = r->f;
    char a[32], s[32], m[32], n[64], label[96];
    uint64_t packets = 0, throttles = 0;
    for (size_t i = 0; i < f->devices.n; i++) {
        packets += f->devices.v[i].n_packets;
        throttles += f->devices.v[i].n_throttles;
    }
    if (packets) {
        fputs("\nDMA, from device profiles; " CONV_SHARE_OF "\n", to);
        struct conv_columns c = conv_columns_begin("lrrrrrr");
        static const char *const head[] = {"core",   "queues", "packets",    "bytes",
                                           "active", "share",  "mean packet"};
        for (size_t i = 0; i < NTFF_ARRAY_LEN(head); i++)
            conv_cell(&c, "%s", head[i]);
        for (size_t i = 0; i < f->devices.n && i < 2 * MANY; i++) {
            const struct conv_device *d = &f->devices.v[i];
            conv_cell(&c, "%s:%" PRIu32, conv_core_label(f->t, d->process, d->nc, label), d->core);
            conv_cell(&c, "%" PRIu64, d->n_queues);
            conv_cell(&c, "%" PRIu64, d->n_packets);
            conv_cell(&c, "%s", d->n_sized ? conv_size(d->bytes, a) : "-");
            conv_cell(&c, "%s", conv_duration(d->dma_active_ns, a));
            conv_cell(&c, "%s",
                      conv_share(conv_part(d->dma_active_ns, d->end_ns - d->begin_ns), s));
            conv_cell(&c, "%s", d->n_sized ? conv_size(d->bytes / d->n_sized, m) : "-");
        }
        *r->out_of_memory |= !conv_columns_print(&c, to, "  ");
    }
    if (throttles)
        fprintf(to, "\nThrottling: %s; how much is not published\n",
                conv_count(throttles, "notification", n));
}

static void put_checks(const struct conv_report *r, FILE *to)
{
    if (r->n_checks == 0)
        return;
    fputs("\nChecks (--fail-on)\n", to);
    for (size_t i = 0; i < r->n_checks; i++) {
        const struct conv_check *c = &r->checks[i];
        char value[40];
        if (c->n_held)
            put_line(to, "FAILED", "%s: %s%s%s%s", c->expr.text,
                     conv_metric_text(c->expr.name, c->worst, value), *c->label ? " for " : "",
                     c->label, c->n_held > 1 ? " and others" : "");
        else
            put_line(to, "passed", "%s%s", c->expr.text,
                     c->n_values ? "" : " (no such figure here)");
    }
}

void conv_report_text(const struct conv_report *r, FILE *to)
{
    put_checks(r, to);
    if (r->n_checks)
        fputc('\n', to);
    put_capture(r, to);
    put_findings(r, to);
    put_clocks(r, to);
    put_cores(r, to);
    put_longest(r, to);
    put_gaps(r, to);
    put_waits(r, to);
    put_transfers(r, to);
    put_collectives(r, to);
    put_memory(r, to);
    put_host(r, to);
    put_errors(r, to);
    put_engines(r, to);
    put_dma(r, to);
}
