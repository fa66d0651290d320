/* tables - the command: one of the vendor's tables, all of them into a directory, or the list of
 * what is supported and from what. A table without rows makes no file, as with the vendor's tool: a
 * missing file means "none". */
#include "conv/tables.h"

#include "conv/columns.h"
#include "conv/conv.h"
#include "conv/outfile.h"
#include "conv/range.h"
#include "proto/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* -- what is not supported, and why ---------------------------------------------------------------
 */

#define NEFF "needs the compiled model (.neff), which is not read"
#define COMPILER "needs debug information of the compiler"
#define FRAMEWORK "needs traces of the framework, which are not read"

static const struct conv_table missing[] = {
    {"AssemblyInstruction", NEFF, NULL, 0, NULL},
    {"BirInstruction", COMPILER, NULL, 0, NULL},
    {"CcStream", NEFF, NULL, 0, NULL},
    {"CompilerEnvVars", NEFF, NULL, 0, NULL},
    {"CompilerFlags", NEFF, NULL, 0, NULL},
    {"CoreBarriers", NEFF, NULL, 0, NULL},
    {"DgePhaseGroup", "its records are not understood", NULL, 0, NULL},
    {"DmaQueuesInfo", "AXI ports and DRAM channels are not in the files; see `info` for the queues",
     NULL, 0, NULL},
    {"DmaUsageSummary", "buckets of DmaUsage, whose size is the vendor's choice", NULL, 0, NULL},
    {"DtypeSummary", NEFF, NULL, 0, NULL},
    {"FrameworkInstruction", COMPILER, NULL, 0, NULL},
    {"FrameworkNode", COMPILER, NULL, 0, NULL},
    {"HbmUsage", "which packets touch HBM needs the compiled model", NULL, 0, NULL},
    {"HloInstruction", COMPILER, NULL, 0, NULL},
    {"HostDeviceDmaUsage", "which queues reach the host is not in the files", NULL, 0, NULL},
    {"KernelInstructions", COMPILER, NULL, 0, NULL},
    {"KernelIterationVariables", COMPILER, NULL, 0, NULL},
    {"KernelStackFrames", COMPILER, NULL, 0, NULL},
    {"MemoryBandwidthPoint", "computed by the vendor's server, never on disk", NULL, 0, NULL},
    {"MemoryBandwidthResponse", "computed by the vendor's server, never on disk", NULL, 0, NULL},
    {"MemoryBandwidthSeries", "computed by the vendor's server, never on disk", NULL, 0, NULL},
    {"NeffHeader", NEFF, NULL, 0, NULL},
    {"NkiKernelCallSites", COMPILER, NULL, 0, NULL},
    {"PenguinInstruction", COMPILER, NULL, 0, NULL},
    {"PsumUsage", NEFF, NULL, 0, NULL},
    {"SbufAllocation", NEFF, NULL, 0, NULL},
    {"SbufUsage", NEFF, NULL, 0, NULL},
    {"SnapshotAllocation", FRAMEWORK, NULL, 0, NULL},
    {"SnapshotSegment", FRAMEWORK, NULL, 0, NULL},
    {"StackFrame", COMPILER, NULL, 0, NULL},
    {"StackFrameFileLocation", COMPILER, NULL, 0, NULL},
    {"StackFrameFileName", COMPILER, NULL, 0, NULL},
    {"StackFrameFunctionName", COMPILER, NULL, 0, NULL},
    {"TensorInfo", NEFF, NULL, 0, NULL},
    {"TimelineAnnotation", NEFF, NULL, 0, NULL},
};
static const struct conv_table_list conv_tables_missing = {missing, NTFF_ARRAY_LEN(missing)};

static const struct conv_table_list *const lists[] = {&conv_tables_system, &conv_tables_device,
                                                      &conv_tables_about, &conv_tables_missing};

size_t conv_table_count(void)
{
    size_t n = 0;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(lists); i++)
        n += lists[i]->n;
    return n;
}

static const struct conv_table *table_unsorted(size_t i)
{
    for (size_t k = 0; k < NTFF_ARRAY_LEN(lists); k++) {
        if (i < lists[k]->n)
            return &lists[k]->v[i];
        i -= lists[k]->n;
    }
    return NULL;
}

/* The table that has i others before it in the alphabet. */
const struct conv_table *conv_table_at(size_t i)
{
    size_t n = conv_table_count();
    for (size_t k = 0; k < n; k++) {
        const struct conv_table *t = table_unsorted(k);
        size_t before = 0;
        for (size_t m = 0; m < n; m++)
            before += strcmp(table_unsorted(m)->name, t->name) < 0;
        if (before == i)
            return t;
    }
    return NULL;
}

const struct conv_table *conv_table_find(const char *name)
{
    for (size_t i = 0; i < conv_table_count(); i++)
        if (strcasecmp(table_unsorted(i)->name, name) == 0)
            return table_unsorted(i);
    return NULL;
}

/* -- shared cells ---------------------------------------------------------------------------------
 */

void conv_cell_index(struct conv_rows *r, uint32_t v)
{
    if (v == NTFF_NONE)
        conv_row_null(r);
    else
        conv_row_u64(r, v);
}

void conv_cells_origin(struct conv_filler *f, struct conv_rows *r, uint32_t track)
{
    const struct ntff_track *tr = &f->t->tracks[track];
    if (tr->process < f->t->n_processes && f->t->processes[tr->process].pid)
        conv_row_u64(r, f->t->processes[tr->process].pid);
    else
        conv_row_null(r);
    conv_cell_index(r, tr->nc);
}

void conv_cells_device(struct conv_filler *f, struct conv_rows *r, uint32_t track)
{
    conv_cells_origin(f, r, track);
    conv_cell_index(r, f->t->tracks[track].core);
}

void conv_cell_pcore(struct conv_filler *f, struct conv_rows *r, uint32_t track)
{
    conv_cell_index(r, f->pcore[track]);
}

void conv_cell_share(struct conv_rows *r, uint64_t part, uint64_t whole)
{
    if (whole)
        conv_row_double(r, (double)part / (double)whole);
    else
        conv_row_null(r);
}

struct place {
    uint32_t process, nc, core;
};

static int place_cmp(const void *pa, const void *pb)
{
    const struct place *a = pa, *b = pb;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->nc != b->nc)
        return a->nc < b->nc ? -1 : 1;
    return a->core < b->core ? -1 : a->core > b->core;
}

/* Numbers the physical cores of each logical core by their device_core_idx. */
static uint32_t *number_pcores(const struct ntff_trace *t)
{
    uint32_t *v = malloc((t->n_tracks + 1) * sizeof *v);
    struct place *p = malloc((t->n_tracks + 1) * sizeof *p);
    size_t all = 0, n = 0;
    for (size_t i = 0; v && p && i < t->n_tracks; i++)
        if (t->tracks[i].core != NTFF_NONE)
            p[all++] = (struct place){t->tracks[i].process, t->tracks[i].nc, t->tracks[i].core};
    ntff_sort(p, all, sizeof *p, place_cmp);
    for (size_t i = 0; i < all; i++)
        if (n == 0 || place_cmp(&p[n - 1], &p[i]) != 0)
            p[n++] = p[i];
    for (size_t i = 0; v && p && i < t->n_tracks; i++) {
        struct place key = {t->tracks[i].process, t->tracks[i].nc, t->tracks[i].core};
        struct place *at =
            n && key.core != NTFF_NONE ? bsearch(&key, p, n, sizeof key, place_cmp) : NULL;
        v[i] = at ? 0 : NTFF_NONE;
        for (; at && at > p && at[-1].process == key.process && at[-1].nc == key.nc; at--)
            v[i]++;
    }
    if (!p) {
        free(v);
        return NULL;
    }
    free(p);
    return v;
}

/* -- the command ----------------------------------------------------------------------------------
 */

struct settings {
    const char *output;
    int format;
    struct conv_range range;
    bool list, all, force, quiet;
};

#define AT(member) offsetof(struct settings, member)

static const struct conv_option options[] = {
    {"list", 0, NULL, "list the vendor's tables: which are supported, from what, or why not",
     CONV_OPT_FLAG, AT(list), NULL},
    {"all", 0, NULL, "all tables that have rows, each into a file of DIR", CONV_OPT_FLAG, AT(all),
     NULL},
    {"output", 'o', "FILE|DIR",
     "write FILE instead of standard output; with --all the directory, made if need be",
     CONV_OPT_TEXT, AT(output), NULL},
    {"format", 'f', "csv|tsv|jsonl", "default: by the suffix of -o, else csv", CONV_OPT_SET,
     AT(format), conv_rows_format_set},
    CONV_RANGE_OPTIONS(AT(range)),
    {"force", 0, NULL, "replace files that exist", CONV_OPT_FLAG, AT(force), NULL},
    {"quiet", 'q', NULL, "errors only", CONV_OPT_FLAG, AT(quiet), NULL},
};

const struct conv_cli conv_cli_table = {
    .command = "table",
    .operands = "NAME INPUT... | --all -o DIR INPUT... | --list",
    .about =
        "Writes tables with the columns of the vendor's profile schema (version 12.0.1). Columns "
        "whose name is not confirmed, and our own, begin with x_. Times are Unix nanoseconds.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .loads = true,
    .more = "Exit status: 0 all written, 1 nothing written, 2 usage, 3 written with losses.\n",
};

static int put_list(void)
{
    struct conv_columns c = conv_columns_begin("lll");
    size_t n = conv_table_count(), supported = 0;
    for (size_t i = 0; i < n; i++) {
        const struct conv_table *t = conv_table_at(i);
        conv_cell(&c, "%s", t->name);
        conv_cell(&c, "%s", t->rows ? "yes" : "no");
        conv_cell(&c, "%s", t->from);
        supported += t->rows != NULL;
    }
    if (!conv_columns_print(&c, stdout, "")) {
        conv_say("out of memory");
        return CONV_NOTHING;
    }
    printf("%zu of %zu tables\n", supported, n);
    return CONV_ALL;
}

/* Writes one table; *rows tells how many rows it has. Nothing is committed. */
static int put_table(const struct conv_table *table, struct conv_filler *f, int format,
                     struct ntff_out *out, uint64_t *rows)
{
    const char *columns[CONV_MAX_COLUMNS];
    struct conv_rows r = {0};
    struct ntff_error err;
    for (size_t i = 0; i < table->n_columns; i++)
        columns[i] = table->columns[i].name;
    bool good = conv_rows_begin(&r, out, format, columns, table->n_columns, NULL, &err) &&
                table->rows(f, &r) && !r.cells.failed && !f->detail.scratch.failed;
    *rows = r.rows;
    conv_rows_done(&r);
    if (!good)
        conv_say("%s: out of memory", table->name);
    return good ? CONV_ALL : CONV_NOTHING;
}

static int put_file(const struct settings *s, const struct conv_args *args,
                    const struct conv_table *table, struct conv_filler *f)
{
    char path[4096];
    struct ntff_out *out = NULL;
    uint64_t rows = 0;
    int n = snprintf(path, sizeof path, "%s/%s.%s", s->output, table->name,
                     conv_rows_suffix(s->format));
    if (n < 0 || (size_t)n >= sizeof path) {
        conv_say("%s: name is too long", s->output);
        return CONV_NOTHING;
    }
    int code = conv_outfile_open(&out, path, s->force, args);
    if (code == CONV_ALL)
        code = put_table(table, f, s->format, out, &rows);
    if (code == CONV_ALL && rows == 0) {
        ntff_out_close(out); /* nothing to keep: no file */
        return CONV_ALL;
    }
    return conv_outfile_close(out, path, code);
}

static int put_all(const struct settings *s, const struct conv_args *args, struct conv_filler *f)
{
    int code = CONV_ALL;
    struct ntff_error err;
    if (!ntff_output_allowed(s->output, args->operands, args->n_operands, &err)) {
        conv_say("%s", err.text);
        return CONV_NOTHING;
    }
    if (mkdir(s->output, 0777) != 0 && errno != EEXIST) {
        conv_say("%s: cannot make the directory: %s", s->output, strerror(errno));
        return CONV_NOTHING;
    }
    for (size_t i = 0; i < conv_table_count() && code == CONV_ALL; i++) {
        const struct conv_table *table = table_unsorted(i);
        if (table->rows)
            code = put_file(s, args, table, f);
    }
    return code;
}

static int put_tables(const struct settings *s, const struct conv_args *args,
                      const struct conv_table *one, struct ntff_trace *t,
                      const struct ntff_diag *diag, struct ntff_out *out)
{
    struct conv_figures figures;
    struct ntff_error err;
    struct conv_filler f = {.t = t, .figures = &figures, .diag = diag, .pcore = number_pcores(t)};
    int code = CONV_NOTHING;
    uint64_t rows = 0;
    bool good = conv_figures_make(&figures, t, args->load.options.jobs) && f.pcore &&
                ntff_trace_index(t, &err) == NTFF_OK;
    if (!good)
        conv_say("out of memory");
    else if (one)
        code = put_table(one, &f, s->format, out, &rows);
    else
        code = put_all(s, args, &f);
    conv_figures_done(&figures);
    ntff_detail_done(&f.detail);
    free(f.pcore);
    return code;
}

/* What the operands ask for. CONV_GO, or an exit code. */
static int settle(struct settings *s, struct conv_args *args, const struct conv_table **one)
{
    static const struct conv_suffix suffixes[] = {CONV_ROWS_SUFFIXES};
    struct ntff_error err;
    *one = NULL;
    if (!conv_settle_format(&s->format, s->all ? NULL : s->output, suffixes,
                            NTFF_ARRAY_LEN(suffixes), CONV_CSV, &err)) {
        conv_say("%s", err.text);
        return CONV_USAGE;
    }
    if (s->list)
        return put_list();
    if (s->all) {
        if (!s->output || strcmp(s->output, "-") == 0) {
            conv_say("--all needs a directory: -o DIR");
            return CONV_USAGE;
        }
    } else if (args->n_operands) {
        *one = conv_table_find(args->operands[0]);
        if (!*one || !(*one)->rows) {
            conv_say(*one ? "%s: not supported: %s"
                          : "%s: no such table%s; `ntff-conv table --list` has "
                            "them all",
                     args->operands[0], *one ? (*one)->from : "");
            return CONV_USAGE;
        }
        args->operands++;
        args->n_operands--;
    }
    if (args->n_operands)
        return CONV_GO;
    conv_say(s->all || *one ? "an input is missing" : "which table? `ntff-conv table --list`");
    return CONV_USAGE;
}

int conv_cmd_table(int argc, char **argv)
{
    struct settings s = {.format = -1};
    struct conv_args args;
    const struct conv_table *one;
    struct ntff_trace *t = NULL;
    struct ntff_diag diag = {0};
    struct ntff_out *out = NULL;
    int code = conv_cli_parse(&conv_cli_table, argc, argv, &s, &args);
    if (code != CONV_GO)
        return code;
    code = settle(&s, &args, &one);
    conv_range_ask(&s.range, &args.load.options);
    if (code == CONV_GO) {
        code = one ? conv_outfile_open(&out, s.output, s.force, &args) : CONV_ALL;
        if (code == CONV_ALL)
            code = conv_load(&args, s.quiet, &t, &diag);
        if (code == CONV_ALL)
            code = conv_range_clip(&s.range, t, &diag);
        if (code == CONV_ALL)
            code = put_tables(&s, &args, one, t, &diag, out);
        if (code == CONV_ALL) {
            ntff_load_recheck(t, &diag);
            conv_print_findings(t, &diag, s.quiet ? CONV_QUIET : CONV_NORMAL);
            code = conv_exit_code(&diag);
        }
        code = conv_outfile_close(out, s.output, code);
        ntff_trace_free(t);
    }
    conv_args_done(&args);
    return code;
}
