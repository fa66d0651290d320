/* metrics - a table of names, filled from figures. Expressions are parsed against the same table,
 * so that what can be asked and what is known cannot part. */
#include "conv/metrics.h"

#include "conv/figtext.h"
#include "conv/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* id, name, measure, about */
#define METRICS(X)                                                                                 \
    X(TRACE_NS, "trace.duration_ns", NS, "first start to last end")                                \
    X(TRACE_SPANS, "trace.spans", COUNT, "spans")                                                  \
    X(TRACE_INSTANTS, "trace.instants", COUNT, "instants")                                         \
    X(CORE_UTIL, "core.utilization", SHARE,                                                        \
      "per core: busy share of the time from first to last execution")                             \
    X(CORE_REST_UTIL, "core.rest_utilization", SHARE, "the same without the first execution")      \
    X(CORE_BUSY, "core.busy_ns", NS, "per core: union of its executions")                          \
    X(CORE_EXECS, "core.executions", COUNT, "per core: whole executions")                          \
    X(EXEC_FIRST, "exec.first_ns", NS, "per core: first execution")                                \
    X(EXEC_MEDIAN, "exec.median_ns", NS, "per core: median execution, without the first")          \
    X(EXEC_MAX, "exec.max_ns", NS, "per core: longest execution, without the first")               \
    X(GAP_MAX, "gap.max_ns", NS, "per core: longest time between executions")                      \
    X(GAP_SUM, "gap.total_ns", NS, "per core: all time between executions")                        \
    X(WAIT_SHARE, "wait.share", SHARE, "per process: kbl_exec_wait within nrt_execute")            \
    X(H2D_BYTES, "h2d.bytes", BYTES, "host to device: bytes")                                      \
    X(H2D_COUNT, "h2d.count", COUNT, "host to device: transfers")                                  \
    X(H2D_RATE, "h2d.bandwidth", RATE, "host to device: bytes per second while active")            \
    X(D2H_BYTES, "d2h.bytes", BYTES, "device to host: bytes")                                      \
    X(D2H_COUNT, "d2h.count", COUNT, "device to host: transfers")                                  \
    X(D2H_RATE, "d2h.bandwidth", RATE, "device to host: bytes per second while active")            \
    X(CC_MEDIAN, "cc.median_ns", NS, "per collective: median length")                              \
    X(CC_SPREAD, "cc.max_spread_ns", NS, "per collective: longest - shortest rank, worst case")    \
    X(CC_SKEW, "cc.max_skew_ns", NS, "per collective: last - first start, worst case")             \
    X(HBM_PEAK, "hbm.peak_bytes", BYTES, "per HBM counter: high-water mark")                       \
    X(ERRORS, "errors.count", COUNT, "error events")                                               \
    X(CPU_MEAN, "cpu.mean_percent", PERCENT, "host CPU, mean")                                     \
    X(CPU_MAX, "cpu.max_percent", PERCENT, "host CPU, highest sample")                             \
    X(MEM_MAX, "memory.max_bytes", BYTES, "host memory, highest sample")                           \
    X(LOSS_EVENTS, "loss.events", COUNT,                                                           \
      "events known to be lost, while capturing or reading; a file torn in one counts as one")     \
    X(LOSS_FINDINGS, "loss.findings", COUNT, "findings of grade loss, of any kind")                \
    X(PARTIAL, "partial.spans", COUNT,                                                             \
      "spans whose start or stop is missing or outside the window")                                \
    X(CLOCK_P99, "clock.residual_p99_ns", NS, "per physical core: what its clock map leaves")      \
    X(CLOCK_ESTIMATED, "clock.estimated", COUNT, "per physical core: events placed by estimate")   \
    X(ENGINE_SHARE, "engine.active_percent", SHARE,                                                \
      "per engine: active fraction of the time from first to last instruction or packet of its "   \
      "core")                                                                                      \
    X(ENGINE_COUNT, "engine.instructions", COUNT, "per engine: instructions")                      \
    X(DMA_BYTES, "dma.bytes", BYTES, "per physical core: bytes of its DMA packets")                \
    X(DMA_MEAN, "dma.mean_bytes", BYTES, "per physical core: mean packet")                         \
    X(DMA_SHARE, "dma.active_percent", SHARE, "per physical core: the same of DMA")                \
    X(THROTTLES, "throttle.count", COUNT, "per physical core: throttle notifications")

enum metric_id {
#define X(id, name, measure, about) M_##id,
    METRICS(X)
#undef X
        M_COUNT
};

static const struct {
    const char *name, *about;
    enum conv_measure measure;
} table[] = {
#define X(id, name, measure, about) {name, about, CONV_##measure},
    METRICS(X)
#undef X
};

size_t conv_metric_count(void)
{
    return M_COUNT;
}
const char *conv_metric_name(size_t i)
{
    return table[i].name;
}
const char *conv_metric_about(size_t i)
{
    return table[i].about;
}
enum conv_measure conv_metric_measure(size_t i)
{
    return table[i].measure;
}

/* -- filling --------------------------------------------------------------------------------------
 */

struct filler {
    struct conv_metrics *m;
    bool good;
};

static void add(struct filler *to, enum metric_id id, double value, const char *label)
{
    struct conv_metric *x = to->good ? NTFF_VEC_PUSH(NULL, &to->m->all) : NULL;
    to->good = x != NULL;
    if (!x)
        return;
    *x = (struct conv_metric){.name = (uint16_t)id, .value = value};
    snprintf(x->label, sizeof x->label, "%s", label);
}

static void add_cores(struct filler *to, const struct conv_figures *f)
{
    for (size_t i = 0; i < f->cores.n; i++) {
        const struct conv_core *c = &f->cores.v[i];
        char label[96];
        if (c->n_listed == 0)
            continue;
        conv_core_label(f->t, c->process, c->nc, label);
        add(to, M_CORE_UTIL, conv_core_utilization(c), label);
        add(to, M_CORE_BUSY, (double)c->busy_ns, label);
        add(to, M_CORE_EXECS, (double)c->n_execs, label);
        if (conv_core_has_first(c))
            add(to, M_EXEC_FIRST, (double)c->first_ns, label);
        add(to, M_GAP_MAX, (double)c->max_gap_ns, label);
        add(to, M_GAP_SUM, (double)c->gap_ns, label);
        if (c->rest.n == 0)
            continue;
        add(to, M_CORE_REST_UTIL, conv_core_rest_utilization(c), label);
        add(to, M_EXEC_MEDIAN, (double)c->rest_median_ns, label);
        add(to, M_EXEC_MAX, (double)c->rest.max_ns, label);
    }
}

static void add_host(struct filler *to, const struct conv_figures *f)
{
    char label[96];
    for (size_t i = 0; i < f->waits.n; i++)
        if (f->waits.v[i].execute_ns)
            add(to, M_WAIT_SHARE, conv_part(f->waits.v[i].wait_ns, f->waits.v[i].execute_ns),
                conv_process_label(f->t, f->waits.v[i].process, label));
    for (int d = 0; d < CONV_DIRECTIONS; d++) {
        const struct conv_transfer *x = &f->transfers[d];
        bool out = d == CONV_DEVICE_TO_HOST;
        add(to, out ? M_D2H_BYTES : M_H2D_BYTES, (double)x->bytes, "");
        add(to, out ? M_D2H_COUNT : M_H2D_COUNT, (double)x->n, "");
        if (x->active_ns)
            add(to, out ? M_D2H_RATE : M_H2D_RATE, conv_bandwidth(x), "");
    }
    for (size_t i = 0; i < f->memory.n; i++) {
        const struct ntff_track *tr = &f->t->tracks[f->memory.v[i].track];
        char who[80];
        snprintf(label, sizeof label, "%.60s %.30s", conv_process_label(f->t, tr->process, who),
                 ntff_str_of(f->t, tr->name));
        add(to, M_HBM_PEAK, (double)f->memory.v[i].peak_bytes, label);
    }
    if (f->host.n_cpu) {
        add(to, M_CPU_MEAN, f->host.cpu_mean_percent, "");
        add(to, M_CPU_MAX, f->host.cpu_max_percent, "");
    }
    if (f->host.n_memory)
        add(to, M_MEM_MAX, (double)f->host.memory_max_bytes, "");
}

static void add_collectives(struct filler *to, const struct conv_figures *f)
{
    for (size_t i = 0; i < f->collectives.n; i++) {
        const struct conv_collective *c = &f->collectives.v[i];
        char op[96], label[96];
        snprintf(label, sizeof label, "op %.80s", conv_collective_label(c, op));
        add(to, M_CC_MEDIAN, (double)c->median_ns, label);
        if (c->n_instances) {
            add(to, M_CC_SPREAD, (double)c->max_spread_ns, label);
            add(to, M_CC_SKEW, (double)c->max_skew_ns, label);
        }
    }
}

static void add_devices(struct filler *to, const struct conv_figures *f)
{
    char core[96], label[96];
    for (size_t i = 0; i < f->engines.n; i++) {
        const struct conv_engine *e = &f->engines.v[i];
        const struct conv_device *d = &f->devices.v[e->device];
        snprintf(label, sizeof label, "%.50s:%" PRIu32 " %.30s",
                 conv_core_label(f->t, d->process, d->nc, core), d->core,
                 ntff_str_of(f->t, f->t->tracks[e->track].name));
        add(to, M_ENGINE_SHARE, conv_part(e->active_ns, d->end_ns - d->begin_ns), label);
        add(to, M_ENGINE_COUNT, (double)e->lengths.n, label);
    }
    for (size_t i = 0; i < f->devices.n; i++) {
        const struct conv_device *d = &f->devices.v[i];
        snprintf(label, sizeof label, "%.80s:%" PRIu32,
                 conv_core_label(f->t, d->process, d->nc, core), d->core);
        add(to, M_THROTTLES, (double)d->n_throttles, label);
        if (d->n_packets == 0)
            continue;
        add(to, M_DMA_SHARE, conv_part(d->dma_active_ns, d->end_ns - d->begin_ns), label);
        if (d->n_sized == 0)
            continue;
        add(to, M_DMA_BYTES, (double)d->bytes, label);
        add(to, M_DMA_MEAN, (double)d->bytes / (double)d->n_sized, label);
    }
    for (size_t i = 0; i < f->t->n_clocks; i++) {
        const struct ntff_core_clock *c = &f->t->clocks[i];
        snprintf(label, sizeof label, "%.80s:%" PRIu32,
                 conv_core_label(f->t, c->process, c->nc, core), c->core);
        add(to, M_CLOCK_P99, (double)ntff_clock_quality(c->map)->residual_p99_ns, label);
        add(to, M_CLOCK_ESTIMATED, (double)c->n_nearest + c->n_extrapolated + c->n_unplaced, label);
    }
}

/* Files that end in the middle of an event. A file of samples that is torn loses none. */
static uint64_t torn_events(const struct ntff_trace *t, const struct ntff_diag *diag)
{
    uint64_t torn = diag->of[NTFF_DIAG_TRUNCATED_FILE].count, of_samples = 0;
    for (size_t i = 0; i < t->n_files; i++) {
        const struct ntff_file *f = &t->files[i];
        of_samples += (f->kind == NTFF_FILE_CPU_UTIL || f->kind == NTFF_FILE_HOST_MEM ||
                       f->kind == NTFF_FILE_TRACE_INFO) &&
                      (f->cut || f->skipped_bytes > 0);
    }
    return torn > of_samples ? torn - of_samples : 0;
}

static void add_losses(struct filler *to, const struct conv_figures *f,
                       const struct ntff_diag *diag)
{
    static const enum ntff_diag_kind events[] = {NTFF_DIAG_CAPTURE_DROPPED, NTFF_DIAG_BAD_RECORD,
                                                 NTFF_DIAG_BAD_TIME, NTFF_DIAG_RESERVED_RECORD};
    uint64_t lost = 0, findings = 0, partial = 0;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(events); i++)
        lost += diag->of[events[i]].count;
    lost += torn_events(f->t, diag);
    for (int k = 0; k < NTFF_DIAG_COUNT; k++)
        if (ntff_diag_grade(k) == NTFF_LOSS)
            findings += diag->of[k].count;
    for (size_t i = 0; i < f->names.n; i++)
        partial += f->names.v[i].n_partial;
    add(to, M_LOSS_EVENTS, (double)lost, "");
    add(to, M_LOSS_FINDINGS, (double)findings, "");
    add(to, M_PARTIAL, (double)partial, "");
    add(to, M_ERRORS, (double)f->errors.n, "");
}

bool conv_metrics_make(struct conv_metrics *m, const struct conv_figures *f,
                       const struct ntff_diag *diag)
{
    struct filler to = {m, true};
    *m = (struct conv_metrics){.all = {0}};
    add(&to, M_TRACE_NS, (double)(f->t->end_ns - f->t->begin_ns), "");
    add(&to, M_TRACE_SPANS, (double)f->spans, "");
    add(&to, M_TRACE_INSTANTS, (double)f->instants, "");
    add_cores(&to, f);
    add_host(&to, f);
    add_collectives(&to, f);
    add_devices(&to, f);
    add_losses(&to, f, diag);
    return to.good;
}

void conv_metrics_done(struct conv_metrics *m)
{
    NTFF_VEC_FREE(NULL, &m->all);
}

char *conv_metric_text(size_t name, double value, char out[40])
{
    char text[32];
    switch (table[name].measure) {
    case CONV_NS:
        snprintf(out, 40, "%s", conv_duration((uint64_t)llround(value), text));
        break;
    case CONV_BYTES:
        snprintf(out, 40, "%s", conv_size((uint64_t)llround(value), text));
        break;
    case CONV_RATE:
        snprintf(out, 40, "%s", conv_rate(value, text));
        break;
    case CONV_SHARE:
        snprintf(out, 40, "%.2f %%", 100 * value);
        break;
    case CONV_PERCENT:
        snprintf(out, 40, "%.2f %%", value);
        break;
    default:
        snprintf(out, 40, "%.0f", value);
    }
    return out;
}

/* -- expressions ----------------------------------------------------------------------------------
 */

static const struct {
    const char *text;
    enum conv_operator op;
} operators[] = {{"<=", CONV_LE}, {">=", CONV_GE}, {"==", CONV_EQ}, {"!=", CONV_NE},
                 {"<", CONV_LT},  {">", CONV_GT},  {"=", CONV_EQ}};

/* Units by what is measured; factor to the metric's own. */
static const struct {
    const char *text;
    uint8_t measures; /* bits */
    double factor;
} suffixes[] = {
#define B(m) (1 << CONV_##m)
    {"ns", B(NS), 1},
    {"us", B(NS), 1e3},
    {"ms", B(NS), 1e6},
    {"s", B(NS), 1e9},
    {"m", B(NS), 60e9},
    {"h", B(NS), 3600e9},
    {"B", B(BYTES) | B(RATE), 1},
    {"KiB", B(BYTES) | B(RATE), 1024},
    {"MiB", B(BYTES) | B(RATE), 1048576},
    {"GiB", B(BYTES) | B(RATE), 1073741824},
    {"KB", B(BYTES) | B(RATE), 1e3},
    {"MB", B(BYTES) | B(RATE), 1e6},
    {"GB", B(BYTES) | B(RATE), 1e9},
    {"%", B(SHARE), 0.01},
    {"%", B(PERCENT), 1},
#undef B
};

static const char *const expected[] = {"a number",
                                       "a number, with ns, us, ms, s, m or h",
                                       "a number, with B, KiB, MiB, GiB, KB, MB or GB",
                                       "a number, with B, KiB, MiB, GiB, KB, MB or GB per second",
                                       "a fraction, or a number with %",
                                       "a percentage"};

/* *bare: a number without a unit. */
static bool parse_value(const char *text, enum conv_measure measure, double *out, bool *bare)
{
    char *end;
    *out = strtod(text, &end);
    if (end == text || !isfinite(*out))
        return false;
    end += strspn(end, " ");
    size_t len = strlen(end);
    while (len && end[len - 1] == ' ')
        len--;
    if (measure == CONV_RATE && len > 2 && strncmp(end + len - 2, "/s", 2) == 0)
        len -= 2;
    *bare = len == 0;
    if (*bare)
        return true;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(suffixes); i++)
        if (suffixes[i].measures >> measure & 1 && strlen(suffixes[i].text) == len &&
            strncmp(suffixes[i].text, end, len) == 0) {
            *out *= suffixes[i].factor;
            return true;
        }
    return false;
}

bool conv_expr_parse(const char *text, struct conv_expr *e, struct ntff_error *err)
{
    const char *p = text + strspn(text, " ");
    size_t len = strspn(p, "abcdefghijklmnopqrstuvwxyz0123456789._"), i;
    *e = (struct conv_expr){.text = text};
    for (i = 0; i < M_COUNT; i++)
        if (strlen(table[i].name) == len && strncmp(table[i].name, p, len) == 0)
            break;
    if (i == M_COUNT)
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "%s: no such figure: %.*s", text,
                         (int)(len < 60 ? len : 60), p) == NTFF_OK;
    e->name = (uint16_t)i;
    p += len;
    p += strspn(p, " ");
    for (i = 0; i < NTFF_ARRAY_LEN(operators); i++)
        if (strncmp(p, operators[i].text, strlen(operators[i].text)) == 0)
            break;
    if (i == NTFF_ARRAY_LEN(operators))
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
                         "%s: expected <, <=, >, >=, == or != after %s", text,
                         table[e->name].name) == NTFF_OK;
    e->op = operators[i].op;
    p += strlen(operators[i].text);
    enum conv_measure measure = table[e->name].measure;
    bool bare;
    if (!parse_value(p, measure, &e->value, &bare))
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "%s: expected %s after %s", text,
                         expected[measure], operators[i].text) == NTFF_OK;
    if (measure == CONV_SHARE && bare && e->value > 1)
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
                         "%s is a fraction 0..1; write %.6g or %.6g%%", table[e->name].name,
                         e->value / 100, e->value) == NTFF_OK;
    return true;
}

bool conv_expr_holds(const struct conv_expr *e, double value)
{
    switch (e->op) {
    case CONV_LT:
        return value < e->value;
    case CONV_LE:
        return value <= e->value;
    case CONV_GT:
        return value > e->value;
    case CONV_GE:
        return value >= e->value;
    case CONV_EQ:
        return !(value < e->value) && !(value > e->value);
    default:
        return value < e->value || value > e->value;
    }
}
