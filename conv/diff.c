/* diff - two captures side by side: events by name and engines, what takes longer first.
 *
 * JSON, version 1: {"version", "a": {"input", "duration_ns", "spans", "instants"}, "b": {...},
 * "events": [{"name", "category", "a": {"count", "instants", "partial", "total_ns", "mean_ns",
 * "min_ns", "max_ns"} or null, "b": likewise, "total_delta_ns", "total_ratio", "mean_ratio",
 * "cost_ns"}], "engines": [{"engine", "a": {"cores", "instruction_count", "instruction_time_ns",
 * "active_time_ns", "active_time_percent"} or null, "b": likewise, "active_delta_ns",
 * "active_ratio"}]}. Where one has no device profile, deltas and ratios of engines are null. Events
 * are sorted by cost_ns, (mean b - mean a) * count b, largest first: what the slower or faster
 * means cost b; of a name without whole spans on one side all of the other, total_ns b - total_ns
 * a. Ratios are b / a, null where a has nothing. Spans whose start or stop is missing, or cut off
 * by --from or --to, are only counted: "partial". */
#include "conv/columns.h"
#include "conv/conv.h"
#include "conv/figtext.h"
#include "conv/jsonw.h"
#include "conv/outfile.h"
#include "conv/range.h"
#include "conv/redact.h"
#include "conv/times.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char *output;
    bool json, force, quiet;
    struct conv_range range; /* from the begin of each */
    unsigned long top;
};

/* One of the two. */
struct side {
    const char *path;
    struct ntff_trace *t;
    struct ntff_diag diag;
    struct conv_figures f;
    bool made;
};

/* The same name on both sides; NULL where it does not occur. */
struct pair {
    const char *name;
    const struct conv_named *of[2];
    int64_t delta_ns; /* of totals */
    int64_t cost_ns; /* what the change of the mean costs B; all of it if the name is new or gone */
};

/* An engine over all physical cores. */
struct engine_sum {
    const char *name;
    struct {
        uint64_t cores, count, sum_ns, active_ns, window_ns;
    } of[2];
    bool comparable;  /* both have device profiles */
    int64_t delta_ns; /* of active time; 0 unless comparable */
};

struct comparison {
    struct side side[2];
    NTFF_VEC(struct pair) pairs;
    NTFF_VEC(struct engine_sum) engines;
};

/* -- matching -------------------------------------------------------------------------------------
 */

static uint64_t total(const struct conv_named *n)
{
    return n ? n->lengths.sum_ns : 0;
}

static int by_regression(const void *pa, const void *pb)
{
    const struct pair *a = pa, *b = pb;
    if (a->cost_ns != b->cost_ns)
        return a->cost_ns > b->cost_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Captures rarely hold equally many runs: what counts is how much longer one takes, times how
 * often. */
static int64_t cost(const struct conv_named *a, const struct conv_named *b)
{
    if (!a || !b || a->lengths.n == 0 || b->lengths.n == 0)
        return (int64_t)(total(b) - total(a));
    double as_before = conv_mean(&a->lengths) * (double)b->lengths.n;
    return llround((double)b->lengths.sum_ns - as_before);
}

/* Instructions and packets have a name each; they are compared by engine. */
static bool compared(const struct conv_named *n)
{
    /* one of the lists goes on, so there is a name; NOLINTNEXTLINE(clang-analyzer-core.*) */
    return n->category != NTFF_CAT_INSTR && n->category != NTFF_CAT_DMA;
}

/* Both lists are sorted by name: a merge. */
static bool match_names(struct comparison *c)
{
    const struct conv_figures *f[2] = {&c->side[0].f, &c->side[1].f};
    size_t at[2] = {0, 0};
    while (at[0] < f[0]->names.n || at[1] < f[1]->names.n) {
        const struct conv_named *n[2];
        const char *name[2];
        for (int k = 0; k < 2; k++) {
            n[k] = at[k] < f[k]->names.n ? &f[k]->names.v[at[k]] : NULL;
            name[k] = n[k] ? ntff_str_of(c->side[k].t, n[k]->name) : NULL;
        }
        int order = !n[0] ? 1 : !n[1] ? -1 : strcmp(name[0], name[1]);
        at[0] += order <= 0;
        at[1] += order >= 0;
        if (order > 0)
            n[0] = NULL;
        else if (order < 0)
            n[1] = NULL;
        if (!compared(n[0] ? n[0] : n[1]))
            continue;
        struct pair *p = NTFF_VEC_PUSH(NULL, &c->pairs);
        if (!p)
            return false;
        *p = (struct pair){.name = n[0] ? name[0] : name[1],
                           .of = {n[0], n[1]},
                           .delta_ns = (int64_t)(total(n[1]) - total(n[0])),
                           .cost_ns = cost(n[0], n[1])};
    }
    ntff_sort(c->pairs.v, c->pairs.n, sizeof *c->pairs.v, by_regression);
    return true;
}

static int engine_cmp(const void *pa, const void *pb)
{
    const struct engine_sum *a = pa, *b = pb;
    if (a->delta_ns != b->delta_ns)
        return a->delta_ns > b->delta_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

static bool sum_engines(struct comparison *c)
{
    for (int k = 0; k < 2; k++) {
        const struct conv_figures *f = &c->side[k].f;
        for (size_t i = 0; i < f->engines.n; i++) {
            const struct conv_engine *e = &f->engines.v[i];
            const struct conv_device *d = &f->devices.v[e->device];
            const char *name = ntff_str_of(f->t, f->t->tracks[e->track].name);
            size_t m = 0;
            while (m < c->engines.n && strcmp(c->engines.v[m].name, name) != 0)
                m++;
            if (m == c->engines.n) {
                struct engine_sum *s = NTFF_VEC_PUSH(NULL, &c->engines);
                if (!s)
                    return false;
                *s = (struct engine_sum){.name = name};
            }
            struct engine_sum *s = &c->engines.v[m];
            s->of[k].cores++;
            s->of[k].count += e->lengths.n;
            s->of[k].sum_ns += e->lengths.sum_ns;
            s->of[k].active_ns += e->active_ns;
            s->of[k].window_ns += d->end_ns - d->begin_ns;
        }
    }
    for (size_t i = 0; i < c->engines.n; i++) {
        struct engine_sum *e = &c->engines.v[i];
        e->comparable = c->side[0].f.engines.n && c->side[1].f.engines.n;
        e->delta_ns = e->comparable ? (int64_t)(e->of[1].active_ns - e->of[0].active_ns) : 0;
    }
    ntff_sort(c->engines.v, c->engines.n, sizeof *c->engines.v, engine_cmp);
    return true;
}

/* -- text -----------------------------------------------------------------------------------------
 */

static void ratio_cell(struct conv_columns *c, double a, double b)
{
    if (a > 0)
        conv_cell(c, "%.3f", b / a);
    else
        conv_cell(c, "%s", b > 0 ? "new" : "-");
}

static void delta_cell(struct conv_columns *c, int64_t ns)
{
    char text[32];
    uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    conv_cell(c, "%s%s", ns < 0 ? "-" : ns > 0 ? "+" : "", conv_duration(size, text));
}

static void put_head(const struct comparison *c, FILE *to)
{
    for (int k = 0; k < 2; k++) {
        const struct side *s = &c->side[k];
        char length[32], a[64], b[64];
        fprintf(to, "%c  ", k ? 'B' : 'A');
        conv_put_text(to, s->path);
        fprintf(to, ": %s, %s, %s", conv_duration(s->t->end_ns - s->t->begin_ns, length),
                conv_count(s->f.spans, "span", a), conv_count(s->f.instants, "instant", b));
        if (s->t->clipped)
            fprintf(to, ", from %s on",
                    s->t->begin_ns > s->t->origin_ns
                        ? conv_duration(s->t->begin_ns - s->t->origin_ns, length)
                        : "its begin");
        fputc('\n', to);
    }
}

/* False: no memory. */
static bool put_events(const struct comparison *c, size_t top, FILE *to)
{
    static const char *const head[] = {"event",   "count A", "count B",   "total A",
                                       "total B", "ratio",   "mean A",    "mean B",
                                       "ratio",   "cost",    "partial A", "partial B"};
    struct conv_columns t = conv_columns_begin("lrrrrrrrrrrr");
    fputs(
        "\nEvents: counts, totals and means are of whole spans; partial ones, cut at an edge, are "
        "in none\n"
        "  cost: (mean B - mean A) * count B, what slower means cost B; largest first. Where a "
        "count is 0: total B - total A\n",
        to);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(head); i++)
        conv_cell(&t, "%s", head[i]);
    for (size_t i = 0; i < c->pairs.n && i < top; i++) {
        const struct pair *p = &c->pairs.v[i];
        double mean[2];
        char text[32];
        conv_cell(&t, "%s", p->name);
        for (int k = 0; k < 2; k++) {
            const struct conv_named *n = p->of[k];
            mean[k] = n ? conv_mean(&n->lengths) : 0;
            conv_cell(&t, "%" PRIu64, n ? n->lengths.n + n->instants : 0);
        }
        for (int k = 0; k < 2; k++)
            conv_cell(&t, "%s", total(p->of[k]) ? conv_duration(total(p->of[k]), text) : "-");
        ratio_cell(&t, (double)total(p->of[0]), (double)total(p->of[1]));
        for (int k = 0; k < 2; k++)
            conv_cell(&t, "%s", mean[k] > 0 ? conv_duration((uint64_t)mean[k], text) : "-");
        ratio_cell(&t, mean[0], mean[1]);
        delta_cell(&t, p->cost_ns);
        for (int k = 0; k < 2; k++)
            conv_cell(&t, "%" PRIu64, p->of[k] ? p->of[k]->n_partial : 0);
    }
    if (!conv_columns_print(&t, to, "  "))
        return false;
    if (c->pairs.n > top)
        fprintf(to, "  and %zu more; --top shows them\n", c->pairs.n - top);
    return true;
}

static const char *count_text(uint64_t n, char out[32])
{
    snprintf(out, 32, "%" PRIu64, n);
    return out;
}

static bool put_engines(const struct comparison *c, FILE *to)
{
    static const char *const head[] = {"engine", "count A", "count B", "active A", "active B",
                                       "change", "ratio",   "share A", "share B"};
    struct conv_columns t = conv_columns_begin("lrrrrrrrr");
    if (c->engines.n == 0)
        return true;
    fputs("\nEngines, over all physical cores; " CONV_SHARE_OF "\n", to);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(head); i++)
        conv_cell(&t, "%s", head[i]);
    for (size_t i = 0; i < c->engines.n; i++) {
        const struct engine_sum *e = &c->engines.v[i];
        char text[32];
        conv_cell(&t, "%s", e->name);
        for (int k = 0; k < 2; k++)
            conv_cell(&t, "%s", e->of[k].cores ? count_text(e->of[k].count, text) : "-");
        for (int k = 0; k < 2; k++)
            conv_cell(&t, "%s", e->of[k].cores ? conv_duration(e->of[k].active_ns, text) : "-");
        if (e->comparable) {
            delta_cell(&t, e->delta_ns);
            ratio_cell(&t, (double)e->of[0].active_ns, (double)e->of[1].active_ns);
        } else {
            conv_cell(&t, "-");
            conv_cell(&t, "-");
        }
        for (int k = 0; k < 2; k++)
            conv_cell(&t, "%s",
                      e->of[k].cores
                          ? conv_share(conv_part(e->of[k].active_ns, e->of[k].window_ns), text)
                          : "-");
    }
    return conv_columns_print(&t, to, "  ");
}

/* -- JSON -----------------------------------------------------------------------------------------
 */

static void key_double(struct conv_json *j, const char *key, double v)
{
    conv_json_key(j, key);
    conv_json_double(j, v);
}

static void key_null(struct conv_json *j, const char *key)
{
    conv_json_key(j, key);
    conv_json_null(j);
}

static void key_ratio(struct conv_json *j, const char *key, double a, double b)
{
    conv_json_key(j, key);
    if (a > 0)
        conv_json_double(j, b / a);
    else
        conv_json_null(j);
}

static void key_i64(struct conv_json *j, const char *key, int64_t v)
{
    conv_json_key(j, key);
    conv_json_i64(j, v);
}

static void json_named(struct conv_json *j, const char *key, const struct conv_named *n)
{
    conv_json_key(j, key);
    if (!n) {
        conv_json_null(j);
        return;
    }
    conv_json_object(j);
    conv_json_key_u64(j, "count", n->lengths.n);
    conv_json_key_u64(j, "instants", n->instants);
    conv_json_key_u64(j, "partial", n->n_partial);
    conv_json_key_u64(j, "total_ns", n->lengths.sum_ns);
    key_double(j, "mean_ns", conv_mean(&n->lengths));
    conv_json_key_u64(j, "min_ns", n->lengths.min_ns);
    conv_json_key_u64(j, "max_ns", n->lengths.max_ns);
    conv_json_end(j);
}

static void json_engine(struct conv_json *j, const char *key, const struct engine_sum *e, int k)
{
    conv_json_key(j, key);
    if (e->of[k].cores == 0) {
        conv_json_null(j);
        return;
    }
    conv_json_object(j);
    conv_json_key_u64(j, "cores", e->of[k].cores);
    conv_json_key_u64(j, "instruction_count", e->of[k].count);
    conv_json_key_u64(j, "instruction_time_ns", e->of[k].sum_ns);
    conv_json_key_u64(j, "active_time_ns", e->of[k].active_ns);
    key_double(j, "active_time_percent", conv_part(e->of[k].active_ns, e->of[k].window_ns));
    conv_json_end(j);
}

static void put_json(const struct comparison *c, struct ntff_out *out)
{
    struct conv_json j = conv_json_begin(out, true);
    conv_json_object(&j);
    conv_json_key_u64(&j, "version", 1);
    for (int k = 0; k < 2; k++) {
        const struct side *s = &c->side[k];
        conv_json_key(&j, k ? "b" : "a");
        conv_json_object(&j);
        conv_json_key_text(&j, "input", s->path);
        conv_json_key_u64(&j, "duration_ns", s->t->end_ns - s->t->begin_ns);
        conv_json_key_u64(&j, "spans", s->f.spans);
        conv_json_key_u64(&j, "instants", s->f.instants);
        conv_json_end(&j);
    }
    conv_json_key(&j, "events");
    conv_json_array(&j);
    for (size_t i = 0; i < c->pairs.n; i++) {
        const struct pair *p = &c->pairs.v[i];
        const struct conv_named *a = p->of[0], *b = p->of[1];
        conv_json_object(&j);
        conv_json_key_text(&j, "name", p->name);
        conv_json_key_text(&j, "category", ntff_category_name(a ? a->category : b->category));
        json_named(&j, "a", a);
        json_named(&j, "b", b);
        key_i64(&j, "total_delta_ns", p->delta_ns);
        key_ratio(&j, "total_ratio", (double)total(a), (double)total(b));
        key_ratio(&j, "mean_ratio", a ? conv_mean(&a->lengths) : 0, b ? conv_mean(&b->lengths) : 0);
        key_i64(&j, "cost_ns", p->cost_ns);
        conv_json_end(&j);
    }
    conv_json_end(&j);
    conv_json_key(&j, "engines");
    conv_json_array(&j);
    for (size_t i = 0; i < c->engines.n; i++) {
        const struct engine_sum *e = &c->engines.v[i];
        conv_json_object(&j);
        conv_json_key_text(&j, "engine", e->name);
        json_engine(&j, "a", e, 0);
        json_engine(&j, "b", e, 1);
        if (e->comparable) {
            key_i64(&j, "active_delta_ns", e->delta_ns);
            key_ratio(&j, "active_ratio", (double)e->of[0].active_ns, (double)e->of[1].active_ns);
        } else {
            key_null(&j, "active_delta_ns");
            key_null(&j, "active_ratio");
        }
        conv_json_end(&j);
    }
    conv_json_end(&j);
    conv_json_end(&j);
    conv_json_done(&j);
}

/* -- the command ----------------------------------------------------------------------------------
 */

static bool set_top(void *settings, const char *value, struct ntff_error *err)
{
    char *end;
    struct settings *s = settings;
    s->top = strtoul(value, &end, 10);
    if (*value >= '0' && *value <= '9' && *end == '\0' && s->top <= 1000000)
        return true;
    return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "--top %s: expected a number", value) ==
           NTFF_OK;
}

static const struct conv_option options[] = {
    {"json", 0, NULL, "as JSON, all names", CONV_OPT_FLAG, offsetof(struct settings, json), NULL},
    {"top", 0, "N", "rows of the text (default 40)", CONV_OPT_SET, 0, set_top},
    CONV_RANGE_OPTIONS(offsetof(struct settings, range)),
    {"output", 'o', "FILE",
     "write FILE instead of standard output; a name ending in .json means --json", CONV_OPT_TEXT,
     offsetof(struct settings, output), NULL},
    {"force", 0, NULL, "replace FILE if it exists", CONV_OPT_FLAG, offsetof(struct settings, force),
     NULL},
    {"quiet", 'q', NULL, "errors only", CONV_OPT_FLAG, offsetof(struct settings, quiet), NULL},
};

const struct conv_cli conv_cli_diff = {
    .command = "diff",
    .operands = "A B",
    .about =
        "Compares two captures: per event name and per engine counts, totals and means side by "
        "side, with ratios; what takes longer in B comes first.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .loads = true,
    .min_operands = 2,
    .max_operands = 2,
    .more = "Exit status: 0 both read, 1 nothing written, 2 usage, 3 read with losses.\n",
};

static int load_side(const struct settings *set, struct side *s, const struct conv_args *args,
                     size_t i)
{
    struct conv_args one = *args;
    one.operands += i;
    one.n_operands = 1;
    s->path = args->operands[i];
    conv_range_ask(&set->range, &one.load.options);
    int code = conv_load(&one, set->quiet, &s->t, &s->diag);
    if (code == CONV_ALL)
        code = conv_range_clip(&set->range, s->t, &s->diag);
    if (code != CONV_ALL)
        return code;
    conv_print_findings(s->t, &s->diag, set->quiet ? CONV_QUIET : CONV_NORMAL);
    s->path = conv_redacted_path(s->t, s->path).p;
    s->made = true;
    if (conv_figures_make(&s->f, s->t, args->load.options.jobs))
        return CONV_ALL;
    conv_say("out of memory");
    return CONV_NOTHING;
}

static int put(const struct settings *s, struct comparison *c, struct ntff_out *out)
{
    FILE *f = NULL;
    bool good = match_names(c) && sum_engines(c);
    if (good && s->json) {
        put_json(c, out);
    } else if (good && (good = (f = conv_outfile_stream(out)) != NULL)) {
        put_head(c, f);
        good = put_events(c, s->top, f) && put_engines(c, f);
        good &= fclose(f) == 0;
    }
    if (!good)
        conv_say("out of memory");
    return good ? CONV_ALL : CONV_NOTHING;
}

int conv_cmd_diff(int argc, char **argv)
{
    struct settings s = {.top = 40};
    struct conv_args args;
    struct ntff_out *out = NULL;
    struct comparison *c = calloc(1, sizeof *c);
    int code = c ? conv_cli_parse(&conv_cli_diff, argc, argv, &s, &args) : CONV_NOTHING;
    if (!c)
        conv_say("out of memory");
    if (code != CONV_GO) {
        free(c);
        return code;
    }
    s.json |= conv_has_suffix(s.output, ".json");
    code = conv_outfile_open(&out, s.output, s.force, &args);
    for (size_t i = 0; i < 2 && code == CONV_ALL; i++)
        code = load_side(&s, &c->side[i], &args, i);
    if (code == CONV_ALL)
        code = put(&s, c, out);
    for (int i = 0; i < 2; i++) {
        if (code == CONV_ALL)
            code = conv_exit_code(&c->side[i].diag);
        if (c->side[i].made)
            conv_figures_done(&c->side[i].f);
        ntff_trace_free(c->side[i].t);
    }
    code = conv_outfile_close(out, s.output, code);
    NTFF_VEC_FREE(NULL, &c->pairs);
    NTFF_VEC_FREE(NULL, &c->engines);
    free(c);
    conv_args_done(&args);
    return code;
}
