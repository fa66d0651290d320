/* events - one row per event in time order, for scripts and spreadsheets. */
#include "conv/conv.h"
#include "conv/eventrow.h"
#include "conv/outfile.h"
#include "conv/range.h"

#include <string.h>

/* Behind the columns of SystemProfileEvents, with --device; names of Instruction and DmaPacket
 * [PQ]. */
static const char *const device_columns[] = {"engine",    "opcode",     "pc",
                                             "queue_idx", "queue_name", "transfer_bytes"};
#define N_COLUMNS (CONV_EVENT_COLUMNS + NTFF_ARRAY_LEN(device_columns))

struct settings {
    const char *output, *columns;
    int format;
    struct conv_range range;
    bool device, force, quiet;
};

#define AT(member) offsetof(struct settings, member)

static const struct conv_option options[] = {
    {"format", 'f', "csv|tsv|jsonl",
     "default: by the suffix of -o, else csv; jsonl is one JSON object a line", CONV_OPT_SET,
     AT(format), conv_rows_format_set},
    {"columns", 0, "LIST",
     "these columns in this order: id, name, start_ts, end_ts, duration_ns, trace_event_source, "
     "instance_id, process_id, thread_id, nc_idx, pcore_idx, worker_gid, flow_id, "
     "framework_stream_id, extra_attributes_json; with --device also engine, opcode, pc, "
     "queue_idx, "
     "queue_name, transfer_bytes",
     CONV_OPT_TEXT, AT(columns), NULL},
    {"device", 0, NULL, "also events of device profiles: instructions, DMA packets, marks",
     CONV_OPT_FLAG, AT(device), NULL},
    CONV_RANGE_OPTIONS(AT(range)),
    {"output", 'o', "FILE", "write FILE instead of standard output; .gz compresses", CONV_OPT_TEXT,
     AT(output), NULL},
    {"force", 0, NULL, "replace FILE if it exists", CONV_OPT_FLAG, AT(force), NULL},
    {"quiet", 'q', NULL, "errors only", CONV_OPT_FLAG, AT(quiet), NULL},
};

const struct conv_cli conv_cli_events = {
    .command = "events",
    .operands = "INPUT...",
    .about = "Writes one row per event in time order, with the columns of the vendor's table "
             "SystemProfileEvents. Times are Unix nanoseconds.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .loads = true,
    .min_operands = 1,
    .more = "Exit status: 0 all written, 1 nothing written, 2 usage, 3 written with losses.\n",
};

static void attr_cell(struct conv_rows *r, const struct ntff_detail *d, const char *key)
{
    const struct ntff_attr *a = conv_row_wanted(r) ? ntff_detail_find(d, key) : NULL;
    if (a && a->kind == NTFF_V_UINT)
        conv_row_u64(r, a->u);
    else if (a && a->kind == NTFF_V_TEXT)
        conv_row_text(r, a->text.p, a->text.len);
    else
        conv_row_null(r);
}

static bool device_cells(struct conv_rows *r, struct conv_eventrow *e, const struct ntff_event *ev)
{
    bool wanted = false;
    for (size_t i = CONV_EVENT_COLUMNS; i < N_COLUMNS; i++)
        wanted |= r->wanted[i];
    e->detail.n = wanted ? e->detail.n : 0;
    if (wanted && !ntff_detail(e->t, ev, &e->detail))
        return false;
    attr_cell(r, &e->detail, "engine");
    if (ev->cat == NTFF_CAT_INSTR) /* the operation is not in the records: what is known of it */
        conv_row_str(r, ntff_str_of(e->t, ev->name));
    else
        conv_row_null(r);
    attr_cell(r, &e->detail, "pc");
    attr_cell(r, &e->detail, "queue");
    attr_cell(r, &e->detail, "queue_name");
    attr_cell(r, &e->detail, "bytes");
    return true;
}

static bool put_rows(const struct settings *s, const struct ntff_trace *t, struct conv_rows *r)
{
    struct conv_eventrow e;
    bool good = conv_eventrow_init(&e, t);
    for (uint32_t i = 0; good && i < t->n_events; i++) {
        if (!s->device && conv_event_is_device(t, &t->events[i]))
            continue;
        good = conv_eventrow_cells(&e, r, i) && (!s->device || device_cells(r, &e, &t->events[i]));
        if (good)
            conv_row_end(r);
        if (i % 65536 == 0)
            conv_progress("writing", (int)((uint64_t)i * 1000 / t->n_events));
    }
    conv_progress(NULL, -1);
    conv_eventrow_done(&e);
    return good && !r->cells.failed;
}

static int nothing_written(const struct ntff_trace *t)
{
    conv_say(t->n_events ? "no runtime events in the input; --device writes those of device "
                           "profiles"
                         : "no events in the input");
    return CONV_NOTHING;
}

/* Is one of the columns asked for among those that --device adds? */
static const char *device_column(const char *columns)
{
    for (const char *p = columns; p && *p; p += strcspn(p, ","), p += *p == ',')
        for (size_t i = 0; i < NTFF_ARRAY_LEN(device_columns); i++)
            if (strcspn(p, ",") == strlen(device_columns[i]) &&
                strncmp(p, device_columns[i], strlen(device_columns[i])) == 0)
                return device_columns[i];
    return NULL;
}

static int put_events(const struct settings *s, const struct conv_args *args, struct ntff_out *out)
{
    const char *columns[N_COLUMNS];
    struct conv_rows rows = {0};
    struct ntff_trace *t = NULL;
    struct ntff_diag diag = {0};
    struct ntff_error err;
    memcpy(columns, conv_event_columns, sizeof conv_event_columns);
    memcpy(columns + CONV_EVENT_COLUMNS, device_columns, sizeof device_columns);
    size_t n = s->device ? N_COLUMNS : CONV_EVENT_COLUMNS;
    if (!conv_rows_begin(&rows, out, s->format, columns, n, s->columns, &err)) {
        const char *more = s->device ? NULL : device_column(s->columns);
        if (err.status == NTFF_INVALID && more)
            conv_say("no column %s without --device, which adds those of device profiles", more);
        else
            conv_say("%s", err.text);
        conv_rows_done(&rows);
        return err.status == NTFF_NOMEM ? CONV_NOTHING : CONV_USAGE;
    }
    int code = conv_load(args, s->quiet, &t, &diag);
    if (code == CONV_ALL)
        code = conv_range_clip(&s->range, t, &diag);
    if (code == CONV_ALL && !put_rows(s, t, &rows)) {
        conv_say("out of memory");
        code = CONV_NOTHING;
    }
    if (code == CONV_ALL && rows.rows == 0)
        code = nothing_written(t);
    conv_rows_done(&rows);
    if (code == CONV_ALL) {
        ntff_load_recheck(t, &diag);
        conv_print_findings(t, &diag, s->quiet ? CONV_QUIET : CONV_NORMAL);
        code = conv_exit_code(&diag);
    }
    ntff_trace_free(t);
    return code;
}

int conv_cmd_events(int argc, char **argv)
{
    static const struct conv_suffix suffixes[] = {CONV_ROWS_SUFFIXES};
    struct settings s = {.format = -1};
    struct conv_args args;
    struct ntff_out *out = NULL;
    struct ntff_error err;
    int code = conv_cli_parse(&conv_cli_events, argc, argv, &s, &args);
    if (code != CONV_GO)
        return code;
    if (conv_settle_format(&s.format, s.output, suffixes, NTFF_ARRAY_LEN(suffixes), CONV_CSV,
                           &err)) {
        code = conv_outfile_open(&out, s.output, s.force, &args);
        conv_range_ask(&s.range, &args.load.options);
        if (code == CONV_ALL)
            code = put_events(&s, &args, out);
        code = conv_outfile_close(out, s.output, code);
    } else {
        conv_say("%s", err.text);
        code = CONV_USAGE;
    }
    conv_args_done(&args);
    return code;
}
