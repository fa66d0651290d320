/* tables_device - tables of device profiles. Every row says what the records say; columns that need
 * the compiled model (operands, shapes, variables) stay empty or "unknown", as in the vendor's tool
 * without it. */
#include "conv/tables.h"

#include "conv/eventrow.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ORIGIN                                                                                     \
    {"x_process_id", "i64", "", false}, {"x_nc_idx", "i64", "", false},                            \
    {                                                                                              \
        "x_core_idx", "i64", "", false                                                             \
    }
#define TIMES                                                                                      \
    {"start_ts", "i64", "nanoseconds", true}, {"end_ts", "i64", "nanoseconds", true},              \
    {                                                                                              \
        "duration_ns", "i64", "nanoseconds", true                                                  \
    }

static void time_cells(struct conv_rows *r, const struct ntff_event *e)
{
    conv_row_u64(r, e->ts_ns);
    conv_row_u64(r, ntff_event_end(e));
    conv_row_u64(r, e->dur_ns);
}

static const struct ntff_attr *attr(const struct conv_filler *f, const char *key)
{
    return ntff_detail_find(&f->detail, key);
}

static void attr_cell(struct conv_filler *f, struct conv_rows *r, const char *key)
{
    const struct ntff_attr *a = conv_row_wanted(r) ? attr(f, key) : NULL;
    if (a && a->kind == NTFF_V_UINT)
        conv_row_u64(r, a->u);
    else if (a && a->kind == NTFF_V_TEXT)
        conv_row_text(r, a->text.p, a->text.len);
    else
        conv_row_null(r);
}

static const char *engine_of(const struct ntff_trace *t, uint32_t track, char out[64])
{
    /* "Tensor (PE)" -> "Tensor", the vendor's name */
    const char *name = ntff_str_of(t, t->tracks[track].name);
    snprintf(out, 64, "%.*s", (int)(strstr(name, " (") ? strstr(name, " (") - name : 63), name);
    return out;
}

/* Spans are named after the program counter until their opcode is known. */
static const char *opcode_of(const struct ntff_trace *t, const struct ntff_event *e)
{
    const char *name = ntff_str_of(t, e->name);
    return strstr(name, " pc ") ? "unknown" : name;
}

static bool is_instruction(const struct ntff_trace *t, const struct ntff_event *e, bool cc_core)
{
    return e->cat == NTFF_CAT_INSTR && (t->tracks[e->track].kind == NTFF_TRACK_CC) == cc_core &&
           !(e->flags & NTFF_EV_INSTANT);
}

/* -- instructions ---------------------------------------------------------------------------------
 */

static const struct conv_column instruction_columns[] = {
    TIMES,
    {"engine", "string", "", true},
    {"timeline_track", "string", "", false},
    {"pcore_idx", "i64", "", false},
    {"x_engine_idx", "i64", "", true},
    {"opcode", "string", "", true},
    {"operands", "string", "", true},
    {"id", "i64", "", true},
    {"pc", "i64", "", true},
    {"crc_in", "i64", "", false},
    {"crc_out", "i64", "", false},
    ORIGIN,
    {"x_inference", "i64", "", false},
    {"x_wait_cycles", "i64", "", false},
};

static void engine_number_cell(struct conv_rows *r, const char *engine)
{
    static const char *const engines[] = {"Tensor", "Scalar", "GpSimd", "Vector", "Sync"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(engines); i++)
        if (strcmp(engine, engines[i]) == 0) {
            conv_row_u64(r, i);
            return;
        }
    conv_row_null(r);
}

static bool instruction_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    char engine[64];
    for (uint32_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        if (!is_instruction(t, e, false))
            continue;
        if (!ntff_detail(t, e, &f->detail))
            return false;
        time_cells(r, e);
        conv_row_str(r, engine_of(t, e->track, engine));
        conv_row_str(r, ntff_str_of(t, t->tracks[e->track].name));
        conv_cell_pcore(f, r, e->track);
        engine_number_cell(r, engine);
        conv_row_str(r, opcode_of(t, e));
        conv_row_str(r, "");
        conv_row_u64(r, (uint64_t)i + 1);
        attr_cell(f, r, "pc");
        attr_cell(f, r, "input_data_crc");
        attr_cell(f, r, "output_data_crc");
        conv_cells_device(f, r, e->track);
        attr_cell(f, r, "inference");
        attr_cell(f, r, "wait_cycles");
        conv_row_end(r);
    }
    return true;
}

static const struct conv_column cc_instruction_columns[] = {
    TIMES,
    {"core_idx", "i64", "", true},
    {"description", "string", "", true},
    ORIGIN,
};

static bool cc_instruction_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (uint32_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        if (!is_instruction(t, e, true))
            continue;
        if (!ntff_detail(t, e, &f->detail))
            return false;
        time_cells(r, e);
        attr_cell(f, r, "cc_core");
        conv_row_str(r, ntff_str_of(t, e->name));
        conv_cells_device(f, r, e->track);
        conv_row_end(r);
    }
    return true;
}

static const struct conv_column active_columns[] = {
    {"start_ts", "i64", "nanoseconds", true},
    {"end_ts", "i64", "nanoseconds", true},
    {"engine", "string", "", true},
    {"pcore_idx", "i64", "", true},
    {"duration_ns", "i64", "nanoseconds", true},
    ORIGIN,
};

struct stretch { /* time without a pause on one track */
    uint64_t begin_ns, end_ns;
};

static void active_row(struct conv_filler *f, struct conv_rows *r, uint32_t track,
                       const struct stretch *s)
{
    char engine[64];
    conv_row_u64(r, s->begin_ns);
    conv_row_u64(r, s->end_ns);
    conv_row_str(r, engine_of(f->t, track, engine));
    conv_cell_pcore(f, r, track);
    conv_row_u64(r, s->end_ns - s->begin_ns);
    conv_cells_device(f, r, track);
    conv_row_end(r);
}

/* Times in which an engine has an instruction open, by engine. */
static bool active_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (size_t k = 0; k < f->figures->engines.n; k++) {
        uint32_t track = f->figures->engines.v[k].track;
        struct stretch s = {0, 0};
        for (uint32_t i = t->first[track]; i < t->first[track + 1]; i++) {
            const struct ntff_event *e = &t->events[t->order[i]];
            if (!is_instruction(t, e, t->tracks[track].kind == NTFF_TRACK_CC))
                continue;
            if (e->ts_ns > s.end_ns) {
                if (s.end_ns > s.begin_ns)
                    active_row(f, r, track, &s);
                s.begin_ns = e->ts_ns;
            }
            s.end_ns = ntff_event_end(e) > s.end_ns ? ntff_event_end(e) : s.end_ns;
        }
        if (s.end_ns > s.begin_ns)
            active_row(f, r, track, &s);
    }
    return true;
}

static const struct conv_column opcode_columns[] = {
    {"engine", "string", "", true},
    {"opcode", "string", "", true},
    {"instruction_count", "i64", "", true},
    {"instruction_time_ns", "i64", "nanoseconds", true},
    {"active_time_ns", "i64", "nanoseconds", true},
    {"active_time_percent", "f32", "fraction (0-1)", true},
};

struct opcode_sum {
    char engine[64];
    const char *opcode;
    uint64_t n, sum_ns, active_ns;
};

static int opcode_cmp(const void *pa, const void *pb)
{
    const struct opcode_sum *a = pa, *b = pb;
    int c = strcmp(a->engine, b->engine);
    return c ? c : strcmp(a->opcode, b->opcode);
}

/* Adds the instructions of one engine of one core; a union per opcode. */
static bool add_opcodes(struct conv_filler *f, uint32_t track, struct opcode_sum **v, size_t *n,
                        size_t *cap)
{
    const struct ntff_trace *t = f->t;
    uint64_t *end = NULL;
    size_t first = *n, cap_end = 0;
    bool good = true;
    for (uint32_t i = t->first[track]; good && i < t->first[track + 1]; i++) {
        const struct ntff_event *e = &t->events[t->order[i]];
        if (!is_instruction(t, e, false))
            continue;
        const char *opcode = opcode_of(t, e);
        size_t k = first;
        while (k < *n && strcmp((*v)[k].opcode, opcode) != 0)
            k++;
        if (k == *n) {
            good = ntff_grow(NULL, (void **)v, cap, *n, 1, sizeof **v) &&
                   ntff_grow(NULL, (void **)&end, &cap_end, *n - first, 1, sizeof *end);
            if (!good)
                break;
            (*v)[k] = (struct opcode_sum){.opcode = opcode};
            engine_of(t, track, (*v)[k].engine);
            end[k - first] = 0;
            ++*n;
        }
        uint64_t *last = &end[k - first], stop = ntff_event_end(e);
        uint64_t from = e->ts_ns > *last ? e->ts_ns : *last;
        (*v)[k].n++;
        (*v)[k].sum_ns += e->dur_ns;
        if (stop > from)
            (*v)[k].active_ns += stop - from, *last = stop;
    }
    free(end);
    return good;
}

static bool opcode_rows(struct conv_filler *f, struct conv_rows *r)
{
    struct opcode_sum *v = NULL;
    size_t n = 0, cap = 0;
    uint64_t window = 0;
    bool good = true;
    for (size_t k = 0; good && k < f->figures->engines.n; k++)
        good = add_opcodes(f, f->figures->engines.v[k].track, &v, &n, &cap);
    for (size_t k = 0; k < f->figures->devices.n; k++)
        window += f->figures->devices.v[k].end_ns - f->figures->devices.v[k].begin_ns;
    ntff_sort(v, n, sizeof *v, opcode_cmp);
    for (size_t i = 0, j; good && i < n; i = j) {
        struct opcode_sum s = v[i];
        for (j = i + 1; j < n && opcode_cmp(&v[i], &v[j]) == 0; j++) {
            s.n += v[j].n;
            s.sum_ns += v[j].sum_ns;
            s.active_ns += v[j].active_ns;
        }
        conv_row_str(r, s.engine);
        conv_row_str(r, s.opcode);
        conv_row_u64(r, s.n);
        conv_row_u64(r, s.sum_ns);
        conv_row_u64(r, s.active_ns);
        conv_cell_share(r, s.active_ns, window);
        conv_row_end(r);
    }
    free(v);
    return good;
}

/* -- DMA ------------------------------------------------------------------------------------------
 */

static const struct conv_column packet_columns[] = {
    TIMES,
    {"pcore_idx", "i64", "", false},
    {"id", "i64", "", true},
    {"packet_idx", "i32", "", true},
    {"x_is_host_device", "bool", "", true},
    {"engine_idx", "i64", "", false},
    {"read_bytes", "i64", "bytes", true},
    {"write_bytes", "i64", "bytes", true},
    {"transfer_bytes", "i64", "bytes", true},
    {"throughput", "f32", "bytes_per_second", true},
    {"variable", "string", "", false},
    {"queue_name", "string", "", false},
    {"queue_idx", "i64", "", false},
    {"crc", "i64", "", true},
    ORIGIN,
};

static bool is_packet(const struct ntff_event *e)
{
    return e->cat == NTFF_CAT_DMA && !(e->flags & (NTFF_EV_INSTANT | NTFF_EV_UNFINISHED |
                                                   NTFF_EV_START_LOST | NTFF_EV_NO_LANE));
}

/* Bytes of the packet in .detail; false if it does not say. */
static bool packet_bytes(const struct conv_filler *f, uint64_t *bytes)
{
    const struct ntff_attr *a = attr(f, "bytes");
    *bytes = a && a->kind == NTFF_V_UINT ? a->u : 0;
    return a && a->kind == NTFF_V_UINT;
}

/* Memory to stream reads, stream to memory writes. */
static void bytes_cells(struct conv_rows *r, bool known, bool write, uint64_t bytes,
                        uint64_t dur_ns)
{
    if (!known) {
        for (int i = 0; i < 4; i++)
            conv_row_null(r);
        return;
    }
    conv_row_u64(r, write ? 0 : bytes);
    conv_row_u64(r, write ? bytes : 0);
    conv_row_u64(r, bytes);
    if (dur_ns)
        conv_row_double(r, (double)bytes * 1e9 / (double)dur_ns);
    else
        conv_row_null(r);
}

static bool is_write(const struct conv_filler *f)
{
    const struct ntff_attr *a = attr(f, "direction");
    return a && a->kind == NTFF_V_TEXT && a->text.len == 3 && memcmp(a->text.p, "S2M", 3) == 0;
}

static bool packet_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    uint32_t *count = calloc(t->n_tracks + 1, sizeof *count);
    bool good = count != NULL;
    for (uint32_t i = 0; good && i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        uint64_t bytes;
        if (!is_packet(e))
            continue;
        if (!(good = ntff_detail(t, e, &f->detail)))
            break;
        time_cells(r, e);
        conv_cell_pcore(f, r, e->track);
        conv_row_u64(r, (uint64_t)i + 1);
        conv_row_u64(r, count[e->track]++);
        conv_row_null(r);
        attr_cell(f, r, "dma_engine");
        bool known = packet_bytes(f, &bytes);
        /* the rate of what the window left of a packet would be none */
        bytes_cells(r, known, is_write(f), bytes, e->flags & NTFF_EV_PARTIAL ? 0 : e->dur_ns);
        conv_row_str(r, "unknown");
        attr_cell(f, r, "queue_name");
        attr_cell(f, r, "queue");
        attr_cell(f, r, "crc");
        conv_cells_device(f, r, e->track);
        conv_row_end(r);
    }
    free(count);
    return good;
}

static const struct conv_column aggregated_columns[] = {
    TIMES,
    {"id", "i64", "", true},
    {"pcore_idx", "i64", "", false},
    {"block_id", "i32", "", true},
    {"queue_idx", "i64", "", true},
    {"queue_name", "string", "", true},
    {"variable", "string", "", true},
    {"read_bytes", "i64", "bytes", true},
    {"write_bytes", "i64", "bytes", true},
    {"transfer_bytes", "i64", "bytes", true},
    {"throughput", "f32", "bytes_per_second", true},
    {"source", "string", "", true},
    {"dest", "string", "", true},
    {"semaphore_id", "string", "", true},
    {"read_num_sbuf_partitions", "i32", "", true},
    {"read_shape", "string", "", true},
    {"read_offset", "string", "", true},
    {"read_steps", "string", "", true},
    {"write_num_sbuf_partitions", "i32", "", true},
    {"write_shape", "string", "", true},
    {"write_offset", "string", "", true},
    {"write_steps", "string", "", true},
    ORIGIN,
    {"x_num_packets", "i64", "", false},
};

/* Packets of one queue that follow each other without a pause. */
struct burst {
    struct stretch time;
    uint64_t bytes, n, queue;
    struct ntff_slice queue_name;
    bool open, sized, write;
};

static void burst_row(struct conv_filler *f, struct conv_rows *r, uint32_t track, struct burst *b,
                      uint64_t id)
{
    uint64_t dur = b->time.end_ns - b->time.begin_ns;
    conv_row_u64(r, b->time.begin_ns);
    conv_row_u64(r, b->time.end_ns);
    conv_row_u64(r, dur);
    conv_row_u64(r, id);
    conv_cell_pcore(f, r, track);
    conv_row_null(r);
    if (b->queue == UINT64_MAX)
        conv_row_null(r);
    else
        conv_row_u64(r, b->queue);
    conv_row_text(r, b->queue_name.len ? b->queue_name.p : "", b->queue_name.len);
    conv_row_str(r, "unknown");
    bytes_cells(r, b->sized, b->write, b->bytes, dur);
    conv_row_str(r, "");
    conv_row_str(r, "");
    conv_row_str(r, "");
    for (int half = 0; half < 2; half++) {
        conv_row_null(r);
        for (int i = 0; i < 3; i++)
            conv_row_str(r, "");
    }
    conv_cells_device(f, r, track);
    conv_row_u64(r, b->n);
    conv_row_end(r);
    b->open = false;
}

static void begin_burst(struct conv_filler *f, struct burst *b, const struct ntff_event *e)
{
    const struct ntff_attr *q = attr(f, "queue"), *name = attr(f, "queue_name");
    *b = (struct burst){.time = {e->ts_ns, e->ts_ns},
                        .open = true,
                        .sized = true,
                        .write = is_write(f),
                        .queue = q && q->kind == NTFF_V_UINT ? q->u : UINT64_MAX};
    if (name && name->kind == NTFF_V_TEXT)
        b->queue_name = name->text;
}

static bool aggregated_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    struct burst *v = calloc(t->n_tracks + 1, sizeof *v);
    uint64_t id = 0;
    bool good = v != NULL;
    for (uint32_t i = 0; good && i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        struct burst *b = &v[e->track];
        uint64_t bytes;
        if (!is_packet(e))
            continue;
        if (!(good = ntff_detail(t, e, &f->detail)))
            break;
        if (b->open && e->ts_ns > b->time.end_ns)
            burst_row(f, r, e->track, b, ++id);
        if (!b->open)
            begin_burst(f, b, e);
        b->sized &= packet_bytes(f, &bytes);
        b->bytes += bytes;
        b->n++;
        if (ntff_event_end(e) > b->time.end_ns)
            b->time.end_ns = ntff_event_end(e);
    }
    for (uint32_t k = 0; good && k < t->n_tracks; k++)
        if (v[k].open)
            burst_row(f, r, k, &v[k], ++id);
    free(v);
    return good;
}

/* -- counters -------------------------------------------------------------------------------------
 */

static const struct conv_column usage_columns[] = {
    {"timestamp", "i64", "nanoseconds", true},
    {"current_throughput", "f32", "bytes_per_second", true},
    {"total_transfer_bytes", "i64", "bytes", true},
    {"pcore_idx", "i64", "", false},
    ORIGIN,
};

struct flow_state { /* of one physical core, both directions */
    double rate[2], bytes;
    uint64_t since_ns;
};

/* The two directions summed; the total is the rate integrated. */
static bool usage_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    struct flow_state *v = calloc(t->n_tracks + 1, sizeof *v); /* by parent */
    if (!v)
        return false;
    for (size_t i = 0; i < t->n_samples; i++) {
        const struct ntff_sample *s = &t->samples[i];
        const struct ntff_track *tr = &t->tracks[s->track];
        const char *name = ntff_str_of(t, tr->name);
        bool write = strcmp(name, "DMA S2M throughput") == 0;
        if ((!write && strcmp(name, "DMA M2S throughput") != 0) || tr->parent >= t->n_tracks)
            continue;
        struct flow_state *x = &v[tr->parent];
        x->bytes += (x->rate[0] + x->rate[1]) * (double)(s->ts_ns - x->since_ns) / 1e9;
        x->since_ns = s->ts_ns;
        x->rate[write] = tr->is_double ? s->value.d : (double)s->value.i;
        bool more =
            i + 1 < t->n_samples && t->samples[i + 1].ts_ns == s->ts_ns &&
            t->tracks[t->samples[i + 1].track].parent == tr->parent &&
            strncmp(ntff_str_of(t, t->tracks[t->samples[i + 1].track].name), "DMA ", 4) == 0;
        if (more)
            continue; /* the other direction changes at the same time */
        conv_row_u64(r, s->ts_ns);
        conv_row_double(r, x->rate[0] + x->rate[1]);
        conv_row_i64(r, llround(x->bytes));
        conv_cell_pcore(f, r, s->track);
        conv_cells_device(f, r, s->track);
        conv_row_end(r);
    }
    free(v);
    return true;
}

static const struct conv_column pending_columns[] = {
    {"timestamp", "i64", "nanoseconds", true},
    {"value", "i32", "", true},
    {"pcore_idx", "i64", "", false},
    ORIGIN,
};

static bool pending_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (size_t i = 0; i < t->n_samples; i++) {
        const struct ntff_sample *s = &t->samples[i];
        const struct ntff_track *tr = &t->tracks[s->track];
        if (strcmp(ntff_str_of(t, tr->name), "Pending DMA count") != 0)
            continue;
        conv_row_u64(r, s->ts_ns);
        conv_row_i64(r, tr->is_double ? llround(s->value.d) : s->value.i);
        conv_cell_pcore(f, r, s->track);
        conv_cells_device(f, r, s->track);
        conv_row_end(r);
    }
    return true;
}

static const struct conv_column semaphore_columns[] = {
    {"timestamp", "i64", "nanoseconds", true},
    {"id", "string", "", true},
    {"value", "i32", "", true},
    {"pcore_idx", "i64", "", false},
    ORIGIN,
};

static bool semaphore_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (size_t i = 0; i < t->n_samples; i++) {
        const struct ntff_sample *s = &t->samples[i];
        if (t->tracks[s->track].kind != NTFF_TRACK_SEMAPHORE)
            continue;
        conv_row_u64(r, s->ts_ns);
        conv_row_str(r, ntff_str_of(t, t->tracks[s->track].name));
        conv_row_i64(r, s->value.i);
        conv_cell_pcore(f, r, s->track);
        conv_cells_device(f, r, s->track);
        conv_row_end(r);
    }
    return true;
}

/* -- errors, throttling ---------------------------------------------------------------------------
 */

static const struct conv_column error_columns[] = {
    {"description", "string", "", true}, {"error_type_id", "i32", "", true},
    {"metadata", "string", "", false},   {"metadata_hex", "string", "", false},
    {"pcore_idx", "i64", "", false},     {"timestamp", "i64", "nanoseconds", true},
    {"type", "string", "", true},        ORIGIN,
    {"x_source", "string", "", false},
};

/* Errors of the runtime stand on a track of the logical core, but name the physical one: numbered
 * as any track of it is. */
static uint32_t pcore_of(struct conv_filler *f, const struct ntff_event *e)
{
    const struct ntff_trace *t = f->t;
    const struct ntff_track *own = &t->tracks[e->track];
    uint32_t core = conv_event_core(t, e, &f->detail);
    for (size_t i = 0; core != NTFF_NONE && i < t->n_tracks; i++)
        if (t->tracks[i].process == own->process && t->tracks[i].nc == own->nc &&
            t->tracks[i].core == core)
            return f->pcore[i];
    return NTFF_NONE;
}

static bool error_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (size_t i = 0; i < f->figures->errors.n; i++) {
        const struct ntff_event *e = &t->events[f->figures->errors.v[i]];
        if (!ntff_detail(t, e, &f->detail))
            return false;
        const struct ntff_attr *kind = attr(f, "notification");
        bool warning = kind && kind->kind == NTFF_V_TEXT && kind->text.len == 7;
        conv_row_str(r, ntff_str_of(t, e->name));
        attr_cell(f, r, "error_id");
        attr_cell(f, r, "error");
        attr_cell(f, r, "metadata_hi");
        conv_cell_index(r, pcore_of(f, e));
        conv_row_u64(r, e->ts_ns);
        conv_row_str(r, warning ? "Warnings" : "Errors");
        conv_cells_device(f, r, e->track);
        conv_row_str(r, conv_event_is_device(t, e) ? "device" : "runtime");
        conv_row_end(r);
    }
    return true;
}

static const struct conv_column throttle_columns[] = {
    {"duration", "i64", "nanoseconds", true},
    {"k", "i32", "", true},
    {"n", "i32", "", true},
    {"timestamp", "i64", "nanoseconds", true},
    {"type", "string", "", true},
    {"pcore_idx", "i64", "", false},
    ORIGIN,
};

/* What a notification says about the limit is not published: the vendor's "unknown", k = n = 1. */
static bool throttle_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (size_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        if (e->cat != NTFF_CAT_MARK || strcmp(ntff_str_of(t, e->name), "throttle") != 0)
            continue;
        conv_row_u64(r, 0);
        conv_row_u64(r, 1);
        conv_row_u64(r, 1);
        conv_row_u64(r, e->ts_ns);
        conv_row_str(r, "unknown");
        conv_cell_pcore(f, r, e->track);
        conv_cells_device(f, r, e->track);
        conv_row_end(r);
    }
    return true;
}

static const struct conv_column throttle_sum_columns[] = {
    {"nc_idx", "i32", "", true},
    {"throttle_type", "string", "", true},
    {"x_process_id", "i64", "", false},
    {"x_notifications", "i64", "", false},
};

static bool throttle_sum_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct conv_figures *g = f->figures;
    for (size_t i = 0; i < g->devices.n; i++) {
        const struct conv_device *d = &g->devices.v[i];
        if (d->n_throttles == 0)
            continue;
        conv_cell_index(r, d->nc);
        conv_row_str(r, "unknown");
        if (d->process < f->t->n_processes && f->t->processes[d->process].pid)
            conv_row_u64(r, f->t->processes[d->process].pid);
        else
            conv_row_null(r);
        conv_row_u64(r, d->n_throttles);
        conv_row_end(r);
    }
    return true;
}

#define COLUMNS(name) name, NTFF_ARRAY_LEN(name)
static const struct conv_table tables[] = {
    {"Instruction", ".ntff: instruction records", COLUMNS(instruction_columns), instruction_rows},
    {"CcInstruction", ".ntff: instruction records of CC-cores", COLUMNS(cc_instruction_columns),
     cc_instruction_rows},
    {"ActiveTime", ".ntff: instruction records", COLUMNS(active_columns), active_rows},
    {"OpcodeSummary", ".ntff: instruction records; opcodes need the instruction bytes",
     COLUMNS(opcode_columns), opcode_rows},
    {"DmaPacket", ".ntff: DMA records", COLUMNS(packet_columns), packet_rows},
    {"DmaPacketAggregated", ".ntff: packets of a queue without a pause between",
     COLUMNS(aggregated_columns), aggregated_rows},
    {"PendingDma", ".ntff: DMA records", COLUMNS(pending_columns), pending_rows},
    {"DmaUsage", ".ntff: DMA records", COLUMNS(usage_columns), usage_rows},
    {"SemaphoreUpdate", ".ntff: semaphore records", COLUMNS(semaphore_columns), semaphore_rows},
    {"Error", "runtime events: numerical_err; .ntff: error records", COLUMNS(error_columns),
     error_rows},
    {"Throttle", ".ntff: throttle records", COLUMNS(throttle_columns), throttle_rows},
    {"ThrottleSummary", ".ntff: throttle records", COLUMNS(throttle_sum_columns),
     throttle_sum_rows},
};
const struct conv_table_list conv_tables_device = {tables, NTFF_ARRAY_LEN(tables)};
