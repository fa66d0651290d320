/* ntff_facts - an .ntff in lines.
 *
 * Messages that hold nothing the decoder needs (versions, executions, memory, collectives) are
 * shown field by field, named by the schema; without one, by number. A list shows its first entries
 * and then how many more there are. */
#include "proto/ntff_facts.h"

#include "proto/wire.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { MAX_LINES = 64, MAX_DEPTH = 4, MAX_TEXT = 600 };

bool ntff_factf(struct ntff_builder *b, uint32_t file, const char *key, const char *how,
                const char *fmt, ...)
{
    char value[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(value, sizeof value, fmt, ap);
    va_end(ap);
    return ntff_build_fact(b, file, key, value, how);
}

static const char *name_or_number(const char *const *names, size_t n, uint32_t i, char buf[16])
{
    if (i < n && names[i])
        return names[i];
    snprintf(buf, 16, "%" PRIu32, i);
    return i == UINT32_MAX ? "?" : buf;
}

const char *ntff_trace_type_name(uint32_t trace_type, char buf[16])
{
    static const char *const names[] = {"INSTRUCTION", "EVENT", "ERROR",
                                        "EXPLICIT",    "DMA",   "THROTTLE"};
    return name_or_number(names, NTFF_ARRAY_LEN(names), trace_type, buf);
}

const char *ntff_block_type_name(uint32_t block_type, char buf[16])
{
    static const char *const names[] = {"NC", "DMA", "TOPSP"};
    return name_or_number(names, NTFF_ARRAY_LEN(names), block_type, buf);
}

/* -- any message as text
 * ----------------------------------------------------------------------------- */

static struct ntff_slice field_slice(const struct ntff_field *f)
{
    return (struct ntff_slice){(const char *)f->data, (size_t)f->value};
}

static bool printable(struct ntff_slice s)
{
    for (size_t i = 0; i < s.len; i++)
        if ((uint8_t)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return ntff_utf8_ok(s.p, s.len);
}

static void render(struct ntff_buf *out, const struct ntff_message_def *def, struct ntff_slice msg,
                   int depth);

static void render_bytes(struct ntff_buf *out, const struct ntff_field_def *fd,
                         const struct ntff_field *f, int depth)
{
    struct ntff_slice s = field_slice(f);
    bool is_message =
        fd ? fd->type == NTFF_T_MESSAGE : !printable(s) && ntff_wire_plausible(f->data, s.len);
    bool is_text = fd ? fd->type == NTFF_T_STRING : printable(s);
    if (is_message && depth < MAX_DEPTH) {
        ntff_buf_printf(out, "{");
        render(out, fd ? fd->message : NULL, s, depth + 1);
        ntff_buf_printf(out, "}");
    } else if (is_text && printable(s)) {
        ntff_buf_printf(out, "%.*s", s.len < 200 ? (int)s.len : 200, s.p);
    } else {
        ntff_buf_printf(out, "%zu bytes", s.len);
    }
}

/* Name of an enum value, without the prefix the built-in schema gives them all. */
static const char *enum_text(const struct ntff_enum_def *e, uint64_t v)
{
    const char *name = v <= INT32_MAX ? ntff_enum_name(e, (int32_t)v) : NULL;
    size_t n = strlen(e->name);
    if (name && strncasecmp(name, e->name, n) == 0 && name[n] == '_')
        name += n + 1;
    return name;
}

static void render_value(struct ntff_buf *out, const struct ntff_field_def *fd,
                         const struct ntff_field *f, int depth)
{
    const char *name = fd && fd->enumeration ? enum_text(fd->enumeration, f->value) : NULL;
    double d;
    memcpy(&d, &f->value, sizeof d);
    if (f->type == NTFF_WT_LEN)
        render_bytes(out, fd, f, depth);
    else if (f->type == NTFF_WT_I64 && (!fd || fd->type == NTFF_T_DOUBLE))
        ntff_buf_printf(out, "%.9g", d);
    else if (name)
        ntff_buf_printf(out, "%s", name);
    else if (fd && (fd->type == NTFF_T_INT32 || fd->type == NTFF_T_INT64))
        ntff_buf_printf(out, "%" PRId64, (int64_t)f->value);
    else
        ntff_buf_printf(out, "%" PRIu64, f->value);
}

/* Enums that are not in the bytes are zero, and zero has a name worth reading. */
static void render_absent(struct ntff_buf *out, const struct ntff_message_def *def,
                          struct ntff_slice msg, bool *first)
{
    for (size_t i = 0; def && i < def->n_fields; i++) {
        const struct ntff_field_def *fd = &def->fields[i];
        struct ntff_wire w = ntff_wire_init(msg.p, msg.len);
        struct ntff_field f;
        bool there = false;
        if (!fd->enumeration || fd->label == NTFF_L_REPEATED || fd->oneof >= 0)
            continue;
        while (!there && ntff_wire_next(&w, &f) > 0)
            there = f.number == fd->number;
        const char *name = there ? NULL : enum_text(fd->enumeration, 0);
        if (!name)
            continue;
        ntff_buf_printf(out, "%s%s %s", *first ? "" : ", ", fd->name, name);
        *first = false;
    }
}

static void render(struct ntff_buf *out, const struct ntff_message_def *def, struct ntff_slice msg,
                   int depth)
{
    struct ntff_wire w = ntff_wire_init(msg.p, msg.len);
    struct ntff_field f;
    bool first = true;
    render_absent(out, def, msg, &first);
    while (ntff_wire_next(&w, &f) > 0) {
        const struct ntff_field_def *fd = def ? ntff_message_number(def, f.number) : NULL;
        if (fd && f.type != ntff_type_wire(fd->type))
            fd = NULL;
        if (out->len > MAX_TEXT) {
            ntff_buf_printf(out, " ...");
            return;
        }
        ntff_buf_printf(out, "%s", first ? "" : ", ");
        if (fd)
            ntff_buf_printf(out, "%s ", fd->name);
        else
            ntff_buf_printf(out, "#%" PRIu32 " ", f.number);
        render_value(out, fd, &f, depth);
        first = false;
    }
}

static bool fact_message(struct ntff_builder *b, uint32_t file, const char *key,
                         const struct ntff_message_def *def, struct ntff_slice msg)
{
    struct ntff_buf text = {0};
    render(&text, def, msg, 0);
    ntff_buf_add(&text, "", 1);
    bool ok = !text.failed && ntff_build_fact(b, file, key, (const char *)text.p, NULL);
    ntff_buf_free(&text);
    return ok;
}

/* -- ntff_info
 * ----------------------------------------------------------------------------------------- */

static const char *how_text(const struct ntff_profile *p, int slot)
{
    switch (p->how[slot]) {
    case NTFF_HOW_BUILTIN:
        return "built-in";
    case NTFF_HOW_SCHEMA:
        return p->schema->source;
    case NTFF_HOW_TEST:
        return "found by test";
    default:
        return "unknown";
    }
}

static bool fact_numbers(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p)
{
    static const struct {
        enum ntff_number slot;
        const char *key;
    } shown[] = {{NTFF_N_NODES, "ntff_info.neff_nodes"},
                 {NTFF_N_GRAPHS, "nd_node_info.graphs"},
                 {NTFF_N_BUFFERS, "ntff_info buffer sizes"},
                 {NTFF_N_SESSION, "ntff_info.session_notifications"},
                 {NTFF_N_TRACE_TYPE, "trace_info.trace_type"},
                 {NTFF_N_TRACE_BLOCK, "trace_info.block_type"},
                 {NTFF_N_TRACE_ENGINE, "trace_info engine index"},
                 {NTFF_N_TRACE_OFFSET, "trace_info.trace_offset"},
                 {NTFF_N_TRACE_SIZE, "trace_info.trace_size"}};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(shown); i++) {
        char key[64];
        snprintf(key, sizeof key, "field number of %s", shown[i].key);
        if (p->number[shown[i].slot] && !ntff_factf(b, file, key, how_text(p, shown[i].slot),
                                                    "%" PRIu32, p->number[shown[i].slot]))
            return false;
    }
    return true;
}

static bool fact_container(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p)
{
    bool ok = ntff_factf(b, file, "format version", NULL, "%u%s", p->version,
                         p->version > NTFF_VERSION_MAX ? " (supported: 1 to 6)" : "") &&
              ntff_factf(b, file, "message", NULL, "%" PRIu64 " bytes at 128", p->msg_len);
    if (p->runs_want)
        ok = ok && ntff_factf(b, file, "instruction section", NULL, "%" PRIu64 " bytes at %" PRIu64,
                              p->runs_want, p->runs_off);
    if (p->blobs_want)
        ok = ok &&
             ntff_factf(b, file, "notification section", NULL, "%" PRIu64 " bytes at %" PRIu64,
                        p->blobs_want, p->blobs_off) &&
             ntff_build_fact(b, file, "trace offsets", ntff_base_name(p->base), p->base_how);
    if (p->left_over)
        ok = ok && ntff_factf(b, file, "bytes left over", NULL, "%" PRIu64, p->left_over);
    return ok;
}

/* "2.31.24.0": the numbers of version_info joined, texts behind. */
static bool fact_version(struct ntff_builder *b, uint32_t file, const char *key,
                         const struct ntff_message_def *def, struct ntff_slice msg)
{
    uint64_t v[16] = {0};
    uint32_t top = 0;
    char text[200] = "";
    struct ntff_buf out = {0};
    struct ntff_wire w = ntff_wire_init(msg.p, msg.len);
    struct ntff_field f;
    for (size_t i = 0; def && i < def->n_fields; i++) /* zeros at the end are not in the file */
        if (ntff_type_wire(def->fields[i].type) == NTFF_WT_VARINT && def->fields[i].number < 16 &&
            def->fields[i].number > top)
            top = def->fields[i].number;
    while (ntff_wire_next(&w, &f) > 0) {
        if (f.type == NTFF_WT_VARINT && f.number < 16) {
            v[f.number] = f.value;
            top = f.number > top ? f.number : top;
        } else if (f.type == NTFF_WT_LEN && printable(field_slice(&f)) && f.value < sizeof text) {
            snprintf(text, sizeof text, " %.*s", (int)f.value, (const char *)f.data);
        }
    }
    for (uint32_t i = 1; i <= top; i++)
        ntff_buf_printf(&out, "%s%" PRIu64, i > 1 ? "." : "", v[i]);
    ntff_buf_printf(&out, "%s", text);
    ntff_buf_add(&out, "", 1);
    bool ok = !out.failed && ntff_build_fact(b, file, key, (const char *)out.p, NULL);
    ntff_buf_free(&out);
    return ok;
}

/* One field of ntff_info that is no list of subgraphs. */
static bool fact_field(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p,
                       const struct ntff_message_def *def, const struct ntff_field *f,
                       unsigned *lines)
{
    const struct ntff_field_def *fd = def ? ntff_message_number(def, f->number) : NULL;
    char key[80];
    if (fd && f->type != ntff_type_wire(fd->type) && !fd->packed)
        fd = NULL;
    if (f->number == p->number[NTFF_N_NODES] || f->number == p->number[NTFF_N_SESSION])
        return true;
    if (fd)
        snprintf(key, sizeof key, "%s", fd->name);
    else
        snprintf(key, sizeof key, "ntff_info field %" PRIu32, f->number);
    if (fd && fd->type_name && strcmp(fd->type_name, "version_info") == 0)
        return fact_version(b, file, key, fd->message, field_slice(f));
    if (++*lines > MAX_LINES)
        return true;
    if (f->type == NTFF_WT_LEN && f->number == p->number[NTFF_N_BUFFERS])
        return fact_message(b, file, "buffer size",
                            ntff_schema_message(p->schema, "notification_buffer_size"),
                            field_slice(f));
    struct ntff_buf text = {0};
    render_value(&text, fd, f, 0);
    ntff_buf_add(&text, "", 1);
    bool ok = !text.failed && ntff_build_fact(b, file, key, (const char *)text.p, NULL);
    ntff_buf_free(&text);
    return ok;
}

static bool fact_nodes(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p)
{
    struct ntff_wire w = ntff_wire_init(p->msg.p, p->msg.len), node;
    struct ntff_field f;
    while (ntff_wire_next(&w, &f) > 0) {
        if (f.number != p->number[NTFF_N_NODES] || f.type != NTFF_WT_LEN)
            continue;
        node = ntff_wire_init(f.data, (size_t)f.value);
        while (ntff_wire_next(&node, &f) > 0) {
            const struct ntff_message_def *def = ntff_schema_message(p->schema, "neff_node_info");
            const struct ntff_field_def *fd = def ? ntff_message_number(def, f.number) : NULL;
            if (f.number == p->number[NTFF_N_NODE_ND])
                continue;
            struct ntff_buf text = {0};
            render_value(&text, fd && f.type == ntff_type_wire(fd->type) ? fd : NULL, &f, 0);
            ntff_buf_add(&text, "", 1);
            char key[80];
            snprintf(key, sizeof key, "node %s", fd ? fd->name : "field");
            bool ok = !text.failed && ntff_build_fact(b, file, key, (const char *)text.p, NULL);
            ntff_buf_free(&text);
            if (!ok)
                return false;
        }
    }
    return true;
}

/* Blobs by (block_type, trace_type) and what they hold. */
static bool fact_blobs(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p)
{
    enum { BLOCKS = 4, TYPES = 7 }; /* the last of each: anything else */
    uint64_t blobs[BLOCKS][TYPES] = {{0}}, records[BLOCKS][TYPES] = {{0}};
    for (size_t i = 0; i < p->blobs.n; i++) {
        const struct ntff_blob *x = &p->blobs.v[i];
        unsigned k = x->block_type < BLOCKS - 1 ? x->block_type : BLOCKS - 1;
        unsigned t = x->trace_type < TYPES - 1 ? x->trace_type : TYPES - 1;
        uint64_t off, len = 0;
        blobs[k][t]++;
        if (ntff_blob_place(p, x, &off, &len))
            records[k][t] += len / NTFF_NOTIF_BYTES;
    }
    for (unsigned k = 0; k < BLOCKS; k++) {
        for (unsigned t = 0; t < TYPES; t++) {
            char key[64], x[16], y[16];
            snprintf(key, sizeof key, "blobs %s/%s",
                     ntff_block_type_name(k < BLOCKS - 1 ? k : UINT32_MAX, x),
                     ntff_trace_type_name(t < TYPES - 1 ? t : UINT32_MAX, y));
            if (blobs[k][t] &&
                !ntff_factf(b, file, key, NULL, "%" PRIu64 " with %" PRIu64 " records", blobs[k][t],
                            records[k][t]))
                return false;
        }
    }
    return true;
}

bool ntff_facts_file(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p)
{
    static const char *const versions[] = {[8] = "neuron_runtime_version",
                                           [11] = "neuron_driver_version",
                                           [12] = "neuron_collectives_version"};
    const struct ntff_message_def *def = ntff_schema_message(p->schema, "ntff_info");
    struct ntff_wire w = ntff_wire_init(p->msg.p, p->msg.len);
    struct ntff_field f;
    unsigned lines = 0;
    bool ok = fact_container(b, file, p) && fact_numbers(b, file, p);
    while (ok && ntff_wire_next(&w, &f) > 0) {
        const struct ntff_field_def *fd = def ? ntff_message_number(def, f.number) : NULL;
        bool version = !fd && f.type == NTFF_WT_LEN && f.number < NTFF_ARRAY_LEN(versions) &&
                       versions[f.number];
        ok = version ? fact_version(b, file, versions[f.number], NULL, field_slice(&f))
                     : fact_field(b, file, p, def, &f, &lines);
    }
    if (ok && lines > MAX_LINES)
        ok = ntff_factf(b, file, "ntff_info", NULL, "%u more fields", lines - MAX_LINES);
    return ok && fact_nodes(b, file, p) && fact_blobs(b, file, p);
}

/* -- subgraphs
 * ------------------------------------------------------------------------------------------ */

static bool fact_runs(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p,
                      uint32_t graph, const char *where)
{
    unsigned lines = 0;
    for (size_t i = 0; i < p->runs.n; i++) {
        const struct ntff_run *r = &p->runs.v[i];
        char key[96];
        if (r->graph != graph || lines++ >= MAX_LINES)
            continue;
        uint64_t len = r->bytes.len ? r->bytes.len : r->len;
        if (r->collective)
            snprintf(key, sizeof key, "%s instructions CC-core %" PRIu32, where, r->engine_index);
        else if (r->engine < NTFF_N_ENGINES)
            snprintf(key, sizeof key, "%s instructions %s", where, ntff_engine_track(r->engine));
        else
            snprintf(key, sizeof key, "%s instructions engine %" PRIu32, where, r->engine);
        if (!ntff_factf(b, file, key, NULL,
                        "%" PRIu64 " bytes (%" PRIu64 " of 64), start address 0x%" PRIx64 "%s%s",
                        len, len / 64, r->start_address, r->bytes.len ? ", inline" : "",
                        r->function_section ? ", function section" : ""))
            return false;
    }
    return lines <= MAX_LINES ||
           ntff_factf(b, file, "instructions", NULL, "%u more streams", lines - MAX_LINES);
}

static bool fact_queues(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p,
                        const struct ntff_graph *g, const char *where)
{
    const struct ntff_enum_def *types = ntff_schema_enum(p->schema, "dma_queue_type");
    char key[96];
    snprintf(key, sizeof key, "%s DMA queue", where);
    for (uint32_t i = 0; i < g->n_queues && i < MAX_LINES; i++) {
        const struct ntff_queue *q = &p->queues.v[g->first_queue + i];
        const char *type = types ? enum_text(types, q->type) : NULL;
        if (!ntff_factf(b, file, key, NULL, "%.*s-Q%" PRIu32 "-E%" PRIu32 ", type %s",
                        q->name.len < 200 ? (int)q->name.len : 200, q->name.p ? q->name.p : "",
                        q->queue_index, q->engine_index, type ? type : "?"))
            return false;
    }
    return g->n_queues <= MAX_LINES ||
           ntff_factf(b, file, key, NULL, "%" PRIu32 " more", g->n_queues - MAX_LINES);
}

/* Everything of a subgraph that has no line of its own yet: memory, collectives, patches. */
static bool fact_rest(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p,
                      const struct ntff_graph *g, const char *where)
{
    static const enum ntff_number done[] = {
        NTFF_N_GRAPH_NAME,   NTFF_N_GRAPH_ND,     NTFF_N_GRAPH_NC,     NTFF_N_GRAPH_RUNS,
        NTFF_N_GRAPH_TRACES, NTFF_N_GRAPH_QUEUES, NTFF_N_GRAPH_CLOCKS, NTFF_N_GRAPH_COLL_RUNS};
    const struct ntff_message_def *def = ntff_schema_message(p->schema, "subgraph_info");
    struct ntff_wire w = ntff_wire_init(g->msg.p, g->msg.len);
    struct ntff_field f;
    unsigned lines = 0;
    while (ntff_wire_next(&w, &f) > 0) {
        bool skip = false;
        for (size_t i = 0; i < NTFF_ARRAY_LEN(done); i++)
            skip |= f.number == p->number[done[i]];
        if (skip || lines++ >= MAX_LINES)
            continue;
        const struct ntff_field_def *fd = def ? ntff_message_number(def, f.number) : NULL;
        char key[128];
        if (fd)
            snprintf(key, sizeof key, "%s %s", where, fd->name);
        else
            snprintf(key, sizeof key, "%s subgraph_info field %" PRIu32, where, f.number);
        struct ntff_buf text = {0};
        render_value(&text, fd && f.type == ntff_type_wire(fd->type) ? fd : NULL, &f, 0);
        ntff_buf_add(&text, "", 1);
        bool ok = !text.failed && ntff_build_fact(b, file, key, (const char *)text.p, NULL);
        ntff_buf_free(&text);
        if (!ok)
            return false;
    }
    return lines <= MAX_LINES ||
           ntff_factf(b, file, where, NULL, "%u more fields", lines - MAX_LINES);
}

bool ntff_facts_graph(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p,
                      uint32_t graph, const char *where)
{
    const struct ntff_graph *g = &p->graphs.v[graph];
    return fact_runs(b, file, p, graph, where) && fact_queues(b, file, p, g, where) &&
           fact_rest(b, file, p, g, where);
}

/* -- what was read
 * --------------------------------------------------------------------------------------- */

static bool fact_records(struct ntff_device *d, const char *where)
{
    char key[96];
    for (int k = 0; k < NTFF_NK_COUNT; k++) {
        snprintf(key, sizeof key, "%s records: %s", where, ntff_notif_kind_name(k));
        if (d->of_kind[k] && !ntff_factf(d->b, d->file, key, NULL, "%" PRIu64, d->of_kind[k]))
            return false;
    }
    snprintf(key, sizeof key, "%s overflow", where);
    if (d->sw_marks + d->hw_marks &&
        !ntff_factf(d->b, d->file, key, NULL, "software %" PRIu64 ", hardware %" PRIu64 " marks",
                    d->sw_marks, d->hw_marks))
        return false;
    snprintf(key, sizeof key, "%s DMA packets", where);
    return !d->n_packets ||
           ntff_factf(d->b, d->file, key, NULL,
                      "%" PRIu64 ", %" PRIu64 " bytes read (M2S), %" PRIu64 " bytes written (S2M)",
                      d->n_packets, d->packet_bytes[0], d->packet_bytes[1]);
}

/* Time in which at least one instruction was open: overlapping ones count once. Of what that is a
 * share, reports say: they know the clock, the filters and the window. */
static bool fact_active(struct ntff_device *d, const char *where)
{
    for (unsigned e = 0; e < NTFF_N_ENGINES; e++) {
        const struct ntff_stream *s = d->engine[e];
        char key[96];
        snprintf(key, sizeof key, "%s active time %s", where, ntff_engine_track(e));
        if (s->n_spans &&
            !ntff_factf(d->b, d->file, key, NULL, "%" PRIu64 " ns, %" PRIu64 " instruction%s",
                        s->active_ns, s->n_spans, s->n_spans == 1 ? "" : "s"))
            return false;
    }
    return true;
}

static int window_cmp(const void *pa, const void *pb)
{
    const struct ntff_window *x = pa, *y = pb;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->stop_ns < y->stop_ns ? -1 : x->stop_ns > y->stop_ns;
}

/* Runs of the engines that overlap are one execution. */
static size_t merge_windows(struct ntff_window *w, size_t n)
{
    size_t m = 0;
    if (n)
        qsort(w, n, sizeof *w, window_cmp);
    for (size_t i = 0; i < n; i++) {
        if (m && w[i].start_ns <= w[m - 1].stop_ns)
            w[m - 1].stop_ns = w[i].stop_ns > w[m - 1].stop_ns ? w[i].stop_ns : w[m - 1].stop_ns;
        else
            w[m++] = w[i];
    }
    return m;
}

static const struct ntff_window *first_touching(const struct ntff_window *w, size_t n,
                                                const struct ntff_core_run *r)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (w[mid].stop_ns < r->start_ns)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n && w[lo].start_ns <= r->stop_ns ? &w[lo] : NULL;
}

/* Markers of the device against nc_exec_running of the runtime. */
static bool fact_executions(struct ntff_device *d, const char *where,
                            const struct ntff_core_run *runs, size_t n_runs)
{
    size_t n = merge_windows(d->execs.v, d->execs.n), met = 0, of_core = 0;
    int64_t start_lo = INT64_MAX, start_hi = INT64_MIN, stop_lo = INT64_MAX, stop_hi = INT64_MIN;
    char key[96];
    for (size_t i = 0; i < n_runs; i++) {
        const struct ntff_core_run *r = &runs[i];
        if (r->core != d->core || r->nc != d->nc)
            continue;
        of_core++;
        const struct ntff_window *w = first_touching(d->execs.v, n, r);
        if (!w)
            continue;
        int64_t start = (int64_t)(w->start_ns - r->start_ns),
                stop = (int64_t)(w->stop_ns - r->stop_ns);
        start_lo = start < start_lo ? start : start_lo;
        start_hi = start > start_hi ? start : start_hi;
        stop_lo = stop < stop_lo ? stop : stop_lo;
        stop_hi = stop > stop_hi ? stop : stop_hi;
        met++;
    }
    snprintf(key, sizeof key, "%s executions", where);
    if (!met)
        return n == 0 ||
               ntff_factf(d->b, d->file, key, NULL,
                          of_core ? "%zu by markers; none meets a nc_exec_running of the core"
                                  : "%zu by markers",
                          n);
    return ntff_factf(d->b, d->file, key, "markers against nc_exec_running",
                      "%zu by markers, %zu of %zu nc_exec_running met; markers start %" PRId64
                      " to %" PRId64 " ns after, stop %" PRId64 " to %" PRId64 " ns after",
                      n, met, of_core, start_lo, start_hi, stop_lo, stop_hi);
}

bool ntff_facts_core(struct ntff_device *d, const char *where, const struct ntff_core_run *runs,
                     size_t n_runs)
{
    return fact_records(d, where) && fact_active(d, where) &&
           fact_executions(d, where, runs, n_runs);
}
