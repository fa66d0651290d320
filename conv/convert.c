/* convert - open, load, pick a writer, write to a temporary name, rename. */
#include "conv/chrome_sink.h"
#include "conv/conv.h"
#include "conv/figtext.h"
#include "conv/openhint.h"
#include "conv/outfile.h"
#include "proto/paths.h"
#include "conv/range.h"
#include "conv/summary.h"
#include "conv/times.h"
#include "perfetto/packets.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum format { FORMAT_PERFETTO, FORMAT_CHROME };

struct settings {
    int format;    /* enum format; -1 = not settled yet */
    unsigned jobs; /* of the options about reading */
    const char *output, *summary, *only_args;
    struct conv_range range;
    bool force, strict, quiet, verbose, no_args, compact, open;
};

/* -- options -------------------------------------------------------------------------------------
 */

static bool set_format(void *settings, const char *value, struct ntff_error *err)
{
    struct settings *s = settings;
    if (strcmp(value, "perfetto") == 0)
        s->format = FORMAT_PERFETTO;
    else if (strcmp(value, "chrome") == 0 || strcmp(value, "json") == 0)
        s->format = FORMAT_CHROME;
    else
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "-f %s: expected perfetto or chrome",
                         value) == NTFF_OK;
    return true;
}

#define AT(member) offsetof(struct settings, member)

static const struct conv_option options[] = {
    {"format", 'f', "perfetto|chrome", "default: by the suffix of -o, else perfetto", CONV_OPT_SET,
     0, set_format},
    {"output", 'o', "FILE",
     "write FILE; - is standard output, a name ending in .gz is compressed; FILE may lie beside an "
     "INPUT that is a file, not in one that is a directory (default: in this directory the name of "
     "INPUT; of several, of the directory that all lie in, else of the first; with .pftrace or "
     ".json)",
     CONV_OPT_TEXT, AT(output), NULL},
    {"force", 0, NULL, "replace FILE if it exists", CONV_OPT_FLAG, AT(force), NULL},
    {"from", 0, "TIME",
     "leave out what ends before TIME: Unix nanoseconds, or counted from the begin with a unit "
     "(1.5s, 20ms); spans across it are cut and marked",
     CONV_OPT_SET, AT(range.from), conv_range_set},
    CONV_RANGE_TO(AT(range)),
    {"no-args", 0, NULL, "leave the details of events out: smaller, faster", CONV_OPT_FLAG,
     AT(no_args), NULL},
    {"args", 0, "LIST",
     "of the details of events only these, by name: event_type,exec_id (default: all)",
     CONV_OPT_TEXT, AT(only_args), NULL},
    {"compact", 0, NULL,
     "Perfetto: write time differences; smaller, but only whole files can be read", CONV_OPT_FLAG,
     AT(compact), NULL},
    {"open", 0, NULL, "say how to open what was written", CONV_OPT_FLAG, AT(open), NULL},
    {"summary", 0, "FILE", "write counts of what was written to FILE as JSON", CONV_OPT_TEXT,
     AT(summary), NULL},
    {"strict", 0, NULL, "write nothing if anything was lost", CONV_OPT_FLAG, AT(strict), NULL},
    {"quiet", 'q', NULL, "errors only, no losses and no progress", CONV_OPT_FLAG, AT(quiet), NULL},
    {"verbose", 'v', NULL, "also what was repaired, notes, and counts of what was written",
     CONV_OPT_FLAG, AT(verbose), NULL},
};

const struct conv_cli conv_cli_convert = {
    .command = "convert",
    .operands = "INPUT...",
    .about =
        "Writes one trace of everything the inputs hold: session directories, ntrace.pb, .ntff, "
        "cpu_util.pb, host_mem.pb, runtime event JSON, system_profile.json, also gzipped; - is "
        "standard input. Files are told apart by content.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .loads = true,
    .min_operands = 1,
    .more = "Exit status: 0 all written, 1 nothing written, 2 usage, 3 written with losses.\n"
            "Open the result at https://ui.perfetto.dev; --open says how.\n",
};

/* -- the output's name ---------------------------------------------------------------------------
 */

static const struct conv_suffix suffixes[] = {{".pftrace", FORMAT_PERFETTO},
                                              {".perfetto-trace", FORMAT_PERFETTO},
                                              {".pb", FORMAT_PERFETTO},
                                              {".json", FORMAT_CHROME}};

/* Settles format and name. CONV_ALL, or an exit code; *path is the caller's to free. */
static int settle_output(struct settings *s, const struct conv_args *args, char **path, bool *gzip)
{
    struct ntff_error err;
    size_t len = s->output ? strlen(s->output) : 0;
    *gzip = len > 3 && strcmp(s->output + len - 3, ".gz") == 0;
    if (!conv_settle_format(&s->format, s->output, suffixes, NTFF_ARRAY_LEN(suffixes),
                            FORMAT_PERFETTO, &err)) {
        conv_say("%s", err.text);
        return CONV_USAGE;
    }
    char *base = s->output      ? NULL
                 : args->redact ? strdup("redacted") /* names of inputs are what is to go */
                                : ntff_default_name(args->operands, args->n_operands);
    if (s->output)
        *path = strdup(s->output);
    else if (!base ||
             asprintf(path, "%s.%s", base, s->format == FORMAT_CHROME ? "json" : "pftrace") < 0)
        *path = NULL;
    free(base);
    if (!*path)
        conv_say("out of memory");
    return *path ? CONV_ALL : CONV_NOTHING;
}

/* Refuses what must not be written. */
static int check_output(const struct settings *s, const struct conv_args *args, const char *path,
                        bool gzip)
{
    struct ntff_error err;
    if (!ntff_output_allowed(path, args->operands, args->n_operands, &err) ||
        (s->summary && !ntff_output_allowed(s->summary, args->operands, args->n_operands, &err))) {
        conv_say("%s%s", err.text, s->output ? "" : " with -o");
        return CONV_NOTHING;
    }
    if (s->summary && (strcmp(s->summary, path) == 0 || ntff_same_output(s->summary, path))) {
        conv_say("%s: cannot be both the trace and its summary", path);
        return CONV_USAGE;
    }
    if (s->summary && !s->force && conv_would_replace(s->summary)) {
        conv_say("%s: exists already; --force replaces it", s->summary);
        return CONV_NOTHING;
    }
    if (strcmp(path, "-") == 0 && s->open) {
        conv_say("--open: standard output cannot be opened; use -o FILE");
        return CONV_USAGE;
    }
    if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO) && (gzip || s->format == FORMAT_PERFETTO)) {
        conv_say("not writing binary data to a terminal; use -o FILE");
        return CONV_USAGE;
    }
    if (s->no_args && s->only_args) {
        conv_say("--args and --no-args exclude each other");
        return CONV_USAGE;
    }
    const struct conv_time *from = &s->range.from, *to = &s->range.to;
    if (from->given && to->given && from->relative == to->relative && from->ns >= to->ns) {
        conv_say("--from is not before --to");
        return CONV_USAGE;
    }
    return CONV_ALL;
}

/* -- the work ------------------------------------------------------------------------------------
 */

static int on_progress(void *user, const char *what, int permille)
{
    (void)user;
    conv_progress(what, permille);
    return 0;
}

struct written {
    struct pft_stats stats;
    uint64_t bytes;
};

/* What the formats cannot hold: texts beyond the limit, counter values that are no numbers. */
static bool lost_in_writing(const struct written *w)
{
    return w->stats.cut_texts + w->stats.samples_dropped > 0;
}

static int write_trace(const struct settings *s, struct ntff_trace *t, struct ntff_diag *diag,
                       const char *path, bool gzip, struct written *w)
{
    struct ntff_error err = {.status = NTFF_OK};
    struct ntff_out *out;
    int flags = (s->force ? NTFF_OUT_REPLACE : 0) | (gzip ? NTFF_OUT_GZIP : 0);
    struct pft_options opt = {.no_args = s->no_args,
                              .only_args = s->only_args,
                              .jobs = s->jobs,
                              .compact = s->compact,
                              .creator = "ntff-conv " NTFF_VERSION,
                              .diag = diag,
                              .progress = s->quiet ? NULL : on_progress};
    if (ntff_out_open(&out, path, flags, s->jobs, &err) != NTFF_OK) {
        conv_say("%s%s", err.text, strstr(err.text, "exists") ? "; --force replaces it" : "");
        return CONV_NOTHING;
    }
    enum ntff_status status = s->format == FORMAT_CHROME
                                  ? conv_chrome_write(t, &opt, out, &w->stats, &err)
                                  : pft_write(t, &opt, out, &w->stats, &err);
    w->bytes = ntff_out_total(out);
    ntff_load_recheck(t, diag);
    if (status == NTFF_OK && s->strict && (lost_in_writing(w) || ntff_diag_lossy(diag)))
        status = ntff_fail(&err, NTFF_LIMIT, NTFF_NO_OFFSET, "not written because of --strict");
    if (status == NTFF_OK)
        status = ntff_out_commit(out, &err);
    ntff_out_close(out);
    conv_progress(NULL, -1);
    if (status == NTFF_OK)
        return CONV_ALL;
    conv_say("%s: %s", conv_output_name(path), err.text);
    return CONV_NOTHING;
}

static int write_summary(const struct settings *s, const struct ntff_trace *t,
                         const struct ntff_diag *diag, const char *path, const struct written *w)
{
    struct ntff_error err;
    struct conv_summary sum = {
        .t = t,
        .diag = diag,
        .stats = &w->stats,
        .path = path,
        .format = s->format == FORMAT_CHROME ? "chrome" : "perfetto",
        .bytes = w->bytes,
        .origin_ns = s->format == FORMAT_CHROME ? 0 : PFT_ORIGIN_NS,
        .compact = s->compact && s->format == FORMAT_PERFETTO,
        .args = !s->no_args,
        .force = s->force,
    };
    if (!s->summary || conv_summary_write(&sum, s->summary, &err) == NTFF_OK)
        return CONV_ALL;
    conv_say("%s: %s", s->summary, err.text);
    return CONV_LOSSES; /* the trace itself is there */
}

static void tell_result(const struct ntff_trace *t, const char *path, const struct written *w)
{
    char length[32], a[64], b[64], c[64], d[64];
    conv_duration(t->end_ns - t->begin_ns, length);
    fprintf(stderr, "ntff-conv: wrote ");
    conv_put_text(stderr, conv_output_name(path));
    fprintf(stderr, ": %s, %s, %s, %s over %s\n", conv_count(w->stats.spans, "span", a),
            conv_count(w->stats.instants, "instant", b), conv_count(w->stats.samples, "sample", c),
            conv_count(w->stats.flows, "flow", d), length);
}

static int run(struct settings *s, const struct conv_args *args, const char *path, bool gzip)
{
    struct ntff_trace *t = NULL;
    struct ntff_diag diag = {0};
    struct written w = {0};
    char n[64];
    int code = conv_load(args, s->quiet, &t, &diag);
    if (code != CONV_ALL)
        return code;
    if (s->strict && ntff_diag_lossy(&diag))
        code = CONV_NOTHING;
    if (code == CONV_ALL)
        code = conv_range_clip(&s->range, t, &diag);
    if (code == CONV_ALL)
        code = write_trace(s, t, &diag, path, gzip, &w);
    if (code == CONV_ALL)
        code = write_summary(s, t, &diag, path, &w);
    conv_print_findings(t, &diag, s->quiet ? CONV_QUIET : s->verbose ? CONV_VERBOSE : CONV_NORMAL);
    if (w.stats.cut_texts)
        conv_say("%s longer than 1 MiB cut", conv_count(w.stats.cut_texts, "text", n));
    if (w.stats.samples_dropped)
        conv_say("%s dropped: no number", conv_count(w.stats.samples_dropped, "counter sample", n));
    for (size_t i = 0; i < w.stats.n_unmet && !s->quiet; i++) {
        const struct pft_unmet *x = &w.stats.unmet[i];
        conv_say(*x->near ? "--args: no event has %s; did you mean %s?" : "--args: no event has %s",
                 x->name, x->near);
    }
    if (s->strict && ntff_diag_lossy(&diag))
        conv_say("nothing written because of --strict");
    else if (code == CONV_ALL && !s->quiet &&
             (s->verbose || !s->output || t->n_events == 0 || isatty(STDERR_FILENO)))
        tell_result(t, path, &w);
    if (s->open && w.bytes && code != CONV_NOTHING)
        conv_open_hint(stdout, path, w.bytes);
    if (code == CONV_ALL)
        code = lost_in_writing(&w) ? CONV_LOSSES : conv_exit_code(&diag);
    ntff_trace_free(t);
    return code;
}

int conv_cmd_convert(int argc, char **argv)
{
    struct settings s = {.format = -1};
    struct conv_args args;
    int code = conv_cli_parse(&conv_cli_convert, argc, argv, &s, &args);
    if (code != CONV_GO)
        return code;
    bool gzip;
    char *path = NULL;
    code = settle_output(&s, &args, &path, &gzip);
    if (code == CONV_ALL)
        code = check_output(&s, &args, path, gzip);
    s.jobs = args.load.options.jobs;
    conv_range_ask(&s.range, &args.load.options);
    if (code == CONV_ALL)
        code = run(&s, &args, path, gzip);
    free(path);
    conv_args_done(&args);
    return code;
}
