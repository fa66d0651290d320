/* info - what is in these files, and how it was read: as text for people, as JSON for scripts.
 *
 * JSON, version 1: {"version", "files": [{"path", "kind", "gzip", "size_bytes", "process",
 * "records", "dropped", "unknown_fields", "skipped_bytes", "facts": [{"key", "value", "how"}]}],
 * "processes": [{"pid", "instance", "worker_gid", "dir"}], "schema",
 * "trace": {"begin_unix_ns", "end_unix_ns", "spans", "instants", "samples", "flows", "tracks",
 * "categories": {NAME: count}}, "records": {...}, "clocks": [{"process", "nc", "core", "mode",
 * ...}], "findings": [{"kind", "grade", "count", "file", "offset", "text"}]}. Absent facts are
 * null. */
#include "conv/conv.h"
#include "conv/figtext.h"
#include "conv/jsonw.h"
#include "conv/times.h"
#include "perfetto/provenance.h"

#include <inttypes.h>
#include <string.h>

struct settings {
    bool json, quiet;
};

struct totals {
    uint64_t spans, instants, of[NTFF_CAT_COUNT];
};

static struct totals total(const struct ntff_trace *t)
{
    struct totals n = {0};
    for (size_t i = 0; i < t->n_events; i++) {
        bool instant = t->events[i].flags & NTFF_EV_INSTANT;
        n.instants += instant;
        n.spans += !instant;
        n.of[t->events[i].cat]++;
    }
    return n;
}

/* -- text ----------------------------------------------------------------------------------------
 */

static void text_file(const struct ntff_trace *t, const struct ntff_file *f)
{
    conv_put_text(stdout, ntff_str_of(t, f->path));
    char n[64];
    printf("\n    %s%s, %s", ntff_file_kind_name(f->kind), f->gzip ? " (gzip)" : "",
           conv_count(f->size_bytes, "byte", n));
    if (f->n_records || f->kind == NTFF_FILE_NTRACE)
        printf(", %s", conv_count(f->n_records, "record", n));
    if (f->n_dropped)
        printf(", %" PRIu64 " of them dropped", f->n_dropped);
    if (f->n_unknown_fields)
        printf(", %s kept", conv_count(f->n_unknown_fields, "unknown field", n));
    if (f->skipped_bytes)
        printf(", %s skipped", conv_count(f->skipped_bytes, "byte", n));
    putchar('\n');
    for (size_t i = 0; i < f->facts.n; i++) {
        const struct ntff_fact *fact = &f->facts.v[i];
        int width = (int)ntff_text_len(&t->strs, fact->key);
        fputs("    ", stdout);
        conv_put_text(stdout, ntff_str_of(t, fact->key));
        printf("%*s  ", width < 28 ? 28 - width : 0, "");
        conv_put_text(stdout, ntff_str_of(t, fact->value));
        if (fact->how) {
            fputs("  (", stdout);
            conv_put_text(stdout, ntff_str_of(t, fact->how));
            putchar(')');
        }
        putchar('\n');
    }
}

static void text_processes(const struct ntff_trace *t)
{
    printf("\nProcesses: %zu\n", t->n_processes);
    for (size_t i = 0; i < t->n_processes; i++) {
        const struct ntff_process *p = &t->processes[i];
        if (p->pid)
            printf("    pid %" PRIu64, p->pid);
        else
            fputs("    pid unknown", stdout);
        if (p->instance) {
            fputs(", instance ", stdout);
            conv_put_text(stdout, ntff_str_of(t, p->instance));
        }
        if (p->worker_gid >= 0)
            printf(", worker %" PRId32, p->worker_gid);
        fputs(", in ", stdout);
        conv_put_text(stdout, ntff_str_of(t, p->dir));
        putchar('\n');
    }
}

static void text_trace(const struct ntff_trace *t, const struct ntff_diag *diag)
{
    struct totals n = total(t);
    char begin[80], length[32];
    if (t->n_events + t->n_samples == 0) {
        puts("\nTrace: no events");
        return;
    }
    conv_duration(t->end_ns - t->begin_ns, length);
    printf("\nTrace: %s, %s (%" PRIu64 ")\n", length, conv_begin_text(t, diag, begin), t->begin_ns);
    char a[64], b[64], d[64], e[64], f[64];
    printf("    %s, %s, %s, %s on %s\n", conv_count(n.spans, "span", a),
           conv_count(n.instants, "instant", b), conv_count(t->n_samples, "sample", d),
           conv_count(t->n_flows, "flow", e), conv_count(t->n_tracks, "track", f));
    fputs("    by category:", stdout);
    const char *separator = " ";
    for (int c = 0; c < NTFF_CAT_COUNT; c++)
        if (n.of[c]) {
            printf("%s%s %" PRIu64, separator, ntff_category_name(c), n.of[c]);
            separator = ", ";
        }
    putchar('\n');
}

static void text_records(const struct ntff_counts *c)
{
    if (c->records_in == 0)
        return;
    char a[64], b[64], d[64], e[64], f[64], g[64];
    printf("    %s: %s, %s, %s, %s alone, %s alone, %" PRIu64 " filtered, %" PRIu64 " dropped\n",
           conv_count(c->records_in, "event record", a), conv_count(c->pairs, "pair", b),
           conv_count(c->whole, "whole span", d), conv_count(c->instants, "instant", e),
           conv_count(c->unfinished, "start", f), conv_count(c->start_lost, "stop", g),
           c->filtered_records, c->dropped_records);
}

static void text_clocks(const struct ntff_trace *t)
{
    if (t->n_clocks == 0)
        return;
    printf("\nDevice clocks (--clock %s)\n", ntff_clock_mode_name(t->clock_mode));
    for (size_t i = 0; i < t->n_clocks; i++) {
        const struct ntff_core_clock *c = &t->clocks[i];
        char what[240], n[64];
        if (c->process < t->n_processes && t->processes[c->process].pid)
            printf("    pid %" PRIu64 ", ", t->processes[c->process].pid);
        else
            fputs("    ", stdout);
        printf("NC%" PRIu32, c->nc);
        if (c->core != NTFF_NONE)
            printf(" core %" PRIu32, c->core);
        ntff_clock_describe(c->map, what, sizeof what);
        printf(": %s\n", what);
        printf("        %s placed, %" PRIu32 " extrapolated, %" PRIu32
               " by the nearest pair, %" PRIu32 " as recorded, %" PRIu32 " not at all",
               conv_count(c->n_placed, "event", n), c->n_extrapolated, c->n_nearest, c->n_recorded,
               c->n_unplaced);
        if (c->n_before_submit || c->n_after_wait)
            printf("; %" PRIu32 " begin before their submit, %" PRIu32 " end after their wait",
                   c->n_before_submit, c->n_after_wait);
        putchar('\n');
    }
}

static void text_findings(const struct ntff_diag *d)
{
    static const char *const grades[] = {"note", "repaired", "LOST"};
    bool any = false;
    for (int k = 0; k < NTFF_DIAG_COUNT; k++) {
        char line[1024];
        if (d->of[k].count == 0)
            continue;
        if (!any)
            puts("\nFindings");
        any = true;
        ntff_diag_line(d, k, line, sizeof line);
        printf("    %-8s  ", grades[ntff_diag_grade(k)]);
        conv_put_text(stdout, line);
        putchar('\n');
    }
}

static void put_as_text(const struct ntff_trace *t, const struct ntff_diag *d)
{
    for (size_t i = 0; i < t->n_files; i++)
        text_file(t, &t->files[i]);
    fputs("\nSchema: ", stdout);
    conv_put_text(stdout, ntff_str_of(t, t->schema));
    putchar('\n');
    text_processes(t);
    text_trace(t, d);
    text_records(&t->counts);
    text_clocks(t);
    text_findings(d);
}

/* -- JSON ----------------------------------------------------------------------------------------
 */

static void key_str(struct conv_json *j, const struct ntff_trace *t, const char *key, ntff_str s)
{
    conv_json_key(j, key);
    if (s)
        conv_json_text(j, ntff_str_of(t, s));
    else
        conv_json_null(j);
}

static void key_index(struct conv_json *j, const char *key, uint32_t i)
{
    conv_json_key(j, key);
    if (i == NTFF_NONE)
        conv_json_null(j);
    else
        conv_json_u64(j, i);
}

static void json_file(struct conv_json *j, const struct ntff_trace *t, const struct ntff_file *f)
{
    conv_json_object(j);
    key_str(j, t, "path", f->path);
    conv_json_key_text(j, "kind", ntff_file_kind_name(f->kind));
    conv_json_key(j, "gzip");
    conv_json_bool(j, f->gzip);
    conv_json_key_u64(j, "size_bytes", f->size_bytes);
    key_index(j, "process", f->process);
    conv_json_key_u64(j, "records", f->n_records);
    conv_json_key_u64(j, "dropped", f->n_dropped);
    conv_json_key_u64(j, "unknown_fields", f->n_unknown_fields);
    conv_json_key_u64(j, "skipped_bytes", f->skipped_bytes);
    conv_json_key(j, "facts");
    conv_json_array(j);
    for (size_t i = 0; i < f->facts.n; i++) {
        conv_json_object(j);
        key_str(j, t, "key", f->facts.v[i].key);
        conv_json_key_text(j, "value", ntff_str_of(t, f->facts.v[i].value));
        key_str(j, t, "how", f->facts.v[i].how);
        conv_json_end(j);
    }
    conv_json_end(j);
    conv_json_end(j);
}

static void json_processes(struct conv_json *j, const struct ntff_trace *t)
{
    conv_json_key(j, "processes");
    conv_json_array(j);
    for (size_t i = 0; i < t->n_processes; i++) {
        const struct ntff_process *p = &t->processes[i];
        conv_json_object(j);
        conv_json_key(j, "pid");
        if (p->pid)
            conv_json_u64(j, p->pid);
        else
            conv_json_null(j);
        key_str(j, t, "instance", p->instance);
        conv_json_key(j, "worker_gid");
        conv_json_i64(j, p->worker_gid);
        key_str(j, t, "dir", p->dir);
        conv_json_end(j);
    }
    conv_json_end(j);
}

static void json_trace(struct conv_json *j, const struct ntff_trace *t)
{
    struct totals n = total(t);
    conv_json_key(j, "trace");
    conv_json_object(j);
    conv_json_key_u64(j, "begin_unix_ns", t->begin_ns);
    conv_json_key_u64(j, "end_unix_ns", t->end_ns);
    conv_json_key_u64(j, "spans", n.spans);
    conv_json_key_u64(j, "instants", n.instants);
    conv_json_key_u64(j, "samples", t->n_samples);
    conv_json_key_u64(j, "flows", t->n_flows);
    conv_json_key_u64(j, "tracks", t->n_tracks);
    conv_json_key(j, "categories");
    conv_json_object(j);
    for (int c = 0; c < NTFF_CAT_COUNT; c++)
        if (n.of[c])
            conv_json_key_u64(j, ntff_category_name(c), n.of[c]);
    conv_json_end(j);
    conv_json_end(j);
}

static void json_records(struct conv_json *j, const struct ntff_counts *c)
{
    conv_json_key(j, "records");
    conv_json_object(j);
    conv_json_key_u64(j, "in", c->records_in);
    conv_json_key_u64(j, "pairs", c->pairs);
    conv_json_key_u64(j, "whole", c->whole);
    conv_json_key_u64(j, "instants", c->instants);
    conv_json_key_u64(j, "unfinished", c->unfinished);
    conv_json_key_u64(j, "start_lost", c->start_lost);
    conv_json_key_u64(j, "filtered", c->filtered_records);
    conv_json_key_u64(j, "dropped", c->dropped_records);
    conv_json_key_u64(j, "samples_in", c->samples_in);
    conv_json_key_u64(j, "samples_dropped", c->samples_dropped);
    conv_json_end(j);
}

static void json_clock(struct conv_json *j, const struct ntff_core_clock *c)
{
    const struct ntff_clock_quality *q = ntff_clock_quality(c->map);
    conv_json_object(j);
    key_index(j, "process", c->process);
    key_index(j, "nc", c->nc);
    key_index(j, "core", c->core);
    conv_json_key_text(j, "mode", ntff_clock_mode_name(q->used));
    conv_json_key_u64(j, "pairs", q->n_pairs);
    conv_json_key_u64(j, "duplicates", q->n_duplicates);
    conv_json_key_u64(j, "outliers", q->n_outliers);
    conv_json_key_u64(j, "resets", q->n_resets);
    conv_json_key_u64(j, "segments", q->n_segments);
    conv_json_key(j, "drift_ppb");
    conv_json_i64(j, q->drift_ppb);
    conv_json_key_u64(j, "residual_median_ns", q->residual_median_ns);
    conv_json_key_u64(j, "residual_p99_ns", q->residual_p99_ns);
    conv_json_key_u64(j, "residual_max_ns", q->residual_max_ns);
    conv_json_key_u64(j, "span_begin_nc_ns", q->span_begin_nc_ns);
    conv_json_key_u64(j, "span_end_nc_ns", q->span_end_nc_ns);
    conv_json_key_u64(j, "max_gap_ns", q->max_gap_ns);
    conv_json_key_u64(j, "placed", c->n_placed);
    conv_json_key_u64(j, "extrapolated", c->n_extrapolated);
    conv_json_key_u64(j, "nearest", c->n_nearest);
    conv_json_key_u64(j, "recorded", c->n_recorded);
    conv_json_key_u64(j, "unplaced", c->n_unplaced);
    conv_json_key_u64(j, "before_submit", c->n_before_submit);
    conv_json_key_u64(j, "after_wait", c->n_after_wait);
    conv_json_end(j);
}

static void json_findings(struct conv_json *j, const struct ntff_diag *d)
{
    static const char *const grades[] = {"note", "repair", "loss"};
    conv_json_key(j, "findings");
    conv_json_array(j);
    for (int k = 0; k < NTFF_DIAG_COUNT; k++) {
        const struct ntff_finding *f = &d->of[k];
        char name[40];
        if (f->count == 0)
            continue;
        conv_json_object(j);
        conv_json_key_text(j, "kind", conv_finding_key(k, name));
        conv_json_key_text(j, "grade", grades[ntff_diag_grade(k)]);
        conv_json_key_u64(j, "count", f->count);
        conv_json_key(j, "file");
        f->file ? conv_json_text(j, f->file) : conv_json_null(j);
        conv_json_key(j, "offset");
        f->offset != UINT64_MAX ? conv_json_u64(j, f->offset) : conv_json_null(j);
        conv_json_key_text(j, "text", ntff_diag_text(k));
        conv_json_key_text(j, "first", f->detail);
        conv_json_end(j);
    }
    conv_json_end(j);
}

static bool put_as_json(const struct ntff_trace *t, const struct ntff_diag *d,
                        struct ntff_error *err)
{
    struct ntff_out *out;
    if (ntff_out_open(&out, "-", 0, 0, err) != NTFF_OK)
        return false;
    struct conv_json j = conv_json_begin(out, true);
    conv_json_object(&j);
    conv_json_key_u64(&j, "version", 1);
    conv_json_key(&j, "files");
    conv_json_array(&j);
    for (size_t i = 0; i < t->n_files; i++)
        json_file(&j, t, &t->files[i]);
    conv_json_end(&j);
    json_processes(&j, t);
    key_str(&j, t, "schema", t->schema);
    json_trace(&j, t);
    json_records(&j, &t->counts);
    conv_json_key(&j, "clocks");
    conv_json_array(&j);
    for (size_t i = 0; i < t->n_clocks; i++)
        json_clock(&j, &t->clocks[i]);
    conv_json_end(&j);
    json_findings(&j, d);
    conv_json_end(&j);
    conv_json_done(&j);
    bool ok = ntff_out_commit(out, err) == NTFF_OK;
    ntff_out_close(out);
    return ok;
}

/* -- the command ---------------------------------------------------------------------------------
 */

static const struct conv_option options[] = {
    {"json", 0, NULL, "as JSON, for scripts", CONV_OPT_FLAG, offsetof(struct settings, json), NULL},
    {"quiet", 'q', NULL, "no progress", CONV_OPT_FLAG, offsetof(struct settings, quiet), NULL},
};

const struct conv_cli conv_cli_info = {
    .command = "info",
    .operands = "INPUT...",
    .about =
        "Says what the inputs hold and how they were read: files and how their form was settled, "
        "processes, counts, clocks, and everything that was lost or repaired.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .loads = true,
    .min_operands = 1,
    .more = "Exit status: 0 all read, 1 no events, 2 usage, 3 read with losses.\n",
};

int conv_cmd_info(int argc, char **argv)
{
    struct settings s = {0};
    struct conv_args args;
    struct ntff_trace *t = NULL;
    struct ntff_diag diag = {0};
    struct ntff_error err, out_err;
    int code = conv_cli_parse(&conv_cli_info, argc, argv, &s, &args);
    if (code != CONV_GO)
        return code;
    code = conv_load_any(&args, s.quiet, &t, &diag, &err);
    if (code == CONV_ALL) {
        bool empty = t->n_events + t->n_samples == 0;
        code = empty ? CONV_NOTHING : conv_exit_code(&diag);
        if (!s.json)
            put_as_text(t, &diag);
        else if (!put_as_json(t, &diag, &out_err)) {
            conv_say("standard output: %s", out_err.text);
            code = CONV_NOTHING;
        }
        if (empty)
            conv_say_nothing(&args, &err);
        ntff_trace_free(t);
    }
    conv_args_done(&args);
    return code;
}
