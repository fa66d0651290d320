/* report - the command: figures of the inputs as a page of text or as JSON, and checks for scripts.
 */
#include "conv/report.h"

#include "conv/conv.h"
#include "conv/outfile.h"
#include "conv/range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHECKS 64

struct settings {
    const char *output;
    bool json, force, quiet;
    struct conv_range range;
    unsigned long top;
    struct conv_check checks[MAX_CHECKS];
    size_t n_checks;
};

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

static void list_metrics(void)
{
    fputs("ntff-conv: the figures are:\n", stderr);
    for (size_t i = 0; i < conv_metric_count(); i++)
        fprintf(stderr, "  %-24s %s\n", conv_metric_name(i), conv_metric_about(i));
}

static bool set_check(void *settings, const char *value, struct ntff_error *err)
{
    struct settings *s = settings;
    if (s->n_checks == MAX_CHECKS)
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "more than %d checks", MAX_CHECKS) ==
               NTFF_OK;
    struct conv_check *c = &s->checks[s->n_checks++];
    *c = (struct conv_check){.label = ""};
    if (conv_expr_parse(value, &c->expr, err))
        return true;
    if (strstr(err->text, "no such figure"))
        list_metrics();
    return false;
}

#define AT(member) offsetof(struct settings, member)

static const struct conv_option options[] = {
    {"json", 0, NULL, "as JSON, for scripts: everything, in a documented structure", CONV_OPT_FLAG,
     AT(json), NULL},
    {"top", 0, "N", "rows of the lists (default 5)", CONV_OPT_SET, 0, set_top},
    {"fail-on", 0, "EXPR",
     "exit with 4 if EXPR holds: a figure, an operator, a value, as in 'core.utilization < 60%' or "
     "'gap.max_ns > 2ms'; fails if it holds for any core, engine, collective or whatever the "
     "figure "
     "is of; may be repeated; an unknown figure lists all",
     CONV_OPT_SET, 0, set_check},
    CONV_RANGE_OPTIONS(AT(range)),
    {"output", 'o', "FILE",
     "write FILE instead of standard output; a name ending in .json means --json", CONV_OPT_TEXT,
     AT(output), NULL},
    {"force", 0, NULL, "replace FILE if it exists", CONV_OPT_FLAG, AT(force), NULL},
    {"quiet", 'q', NULL, "no progress", CONV_OPT_FLAG, AT(quiet), NULL},
};

const struct conv_cli conv_cli_report = {
    .command = "report",
    .operands = "INPUT...",
    .about = "Says what a capture shows, on one page: cores and how busy they were, longest "
             "executions, gaps, waiting, transfers, collectives over ranks, memory, errors, host, "
             "engines and DMA.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .loads = true,
    .min_operands = 1,
    .more = "Exit status: 0 all read, 1 no events, 2 usage, 3 read with losses, 4 a --fail-on "
            "holds.\n",
};

/* -- checks ---------------------------------------------------------------------------------------
 */

/* Goes over all values; false when memory ran out. */
static void check(struct conv_check *c, const struct conv_metrics *m)
{
    double furthest = -1;
    for (size_t i = 0; i < m->all.n; i++) {
        const struct conv_metric *x = &m->all.v[i];
        if (x->name != c->expr.name)
            continue;
        c->n_values++;
        if (!conv_expr_holds(&c->expr, x->value))
            continue;
        c->n_held++;
        if (fabs(x->value - c->expr.value) > furthest) {
            furthest = fabs(x->value - c->expr.value);
            c->worst = x->value;
            c->label = x->label;
        }
    }
}

/* True if any check holds; says which on standard error. */
static bool run_checks(struct settings *s, const struct conv_metrics *m)
{
    bool any = false;
    for (size_t i = 0; i < s->n_checks; i++) {
        struct conv_check *c = &s->checks[i];
        char value[40];
        check(c, m);
        any |= c->n_held > 0;
        if (!c->n_values)
            conv_say("%s: there is no such figure here, so nothing was checked", c->expr.text);
        if (c->n_held)
            conv_say("%s: %s%s%s (%zu of %zu)", c->expr.text,
                     conv_metric_text(c->expr.name, c->worst, value), *c->label ? " for " : "",
                     c->label, c->n_held, c->n_values);
    }
    return any;
}

/* -- the command ----------------------------------------------------------------------------------
 */

static bool put_text(const struct conv_report *r, struct ntff_out *out)
{
    FILE *f = conv_outfile_stream(out);
    if (!f)
        return false;
    conv_report_text(r, f);
    return fclose(f) == 0;
}

static int write_report(struct settings *s, const struct conv_args *args,
                        const struct ntff_trace *t, const struct ntff_diag *diag,
                        struct ntff_out *out)
{
    struct conv_figures f;
    struct conv_metrics m = {.all = {0}};
    int code = conv_exit_code(diag);
    bool good =
        conv_figures_make(&f, t, args->load.options.jobs) && conv_metrics_make(&m, &f, diag);
    if (good) {
        if (run_checks(s, &m))
            code = CONV_CHECK_FAILED;
        bool starved = false;
        struct conv_report r = {&f, diag, s->top, s->checks, s->n_checks, &starved};
        if (s->json)
            conv_report_json(&r, out);
        else
            good = put_text(&r, out);
        good &= !starved;
    }
    if (!good) {
        conv_say("out of memory");
        code = CONV_NOTHING;
    }
    conv_metrics_done(&m);
    conv_figures_done(&f);
    return code;
}

int conv_cmd_report(int argc, char **argv)
{
    struct settings s = {.top = 5};
    struct conv_args args;
    struct ntff_trace *t = NULL;
    struct ntff_diag diag = {0};
    struct ntff_out *out = NULL;
    int code = conv_cli_parse(&conv_cli_report, argc, argv, &s, &args);
    if (code != CONV_GO)
        return code;
    s.json |= conv_has_suffix(s.output, ".json");
    code = conv_outfile_open(&out, s.output, s.force, &args);
    conv_range_ask(&s.range, &args.load.options);
    if (code == CONV_ALL)
        code = conv_load(&args, s.quiet, &t, &diag);
    if (code == CONV_ALL)
        code = conv_range_clip(&s.range, t, &diag);
    if (code == CONV_ALL)
        code = write_report(&s, &args, t, &diag, out);
    code = conv_outfile_close(out, s.output, code);
    ntff_trace_free(t);
    conv_args_done(&args);
    return code;
}
