/* ntff_info - the message tree of an .ntff as flat lists.
 *
 * First every number the decoder needs is bound to a field of the schema by name (or, where no name
 * is public, by type). Then one walk: ntff_info -> neff_nodes -> nd_node -> graphs -> their runs,
 * queues, clocks and trace_infos. The walk stops where a number is missing; ntff_find.c supplies
 * those it can prove from the data. Nothing here follows an offset of the file: that begins with
 * the sections. */
#include "proto/ntff_info.h"

#include "proto/wire.h"

#include <stdlib.h>
#include <string.h>

const char *ntff_base_name(int base)
{
    static const char *const names[] = {"unknown", "relative to their section",
                                        "relative to the end of the message",
                                        "relative to the file"};
    return base >= 0 && (size_t)base < NTFF_ARRAY_LEN(names) ? names[base] : names[0];
}

bool ntff_container(struct ntff_slice file, uint8_t *version, uint64_t *msg_len)
{
    const uint8_t *p = (const uint8_t *)file.p;
    if (file.len < 9 || p[0] == 0)
        return false;
    for (size_t i = 9; i < NTFF_HEADER_BYTES && i < file.len; i++)
        if (p[i])
            return false;
    *version = p[0];
    *msg_len = ntff_le64(p + 1);
    return true;
}

/* -- numbers ------------------------------------------------------------------------------------
 */

static const struct {
    const char *message, *field;
} number_names[NTFF_N_COUNT] = {
#define X(slot, message, field) {message, field},
    NTFF_NUMBER_TABLE(X)
#undef X
};

static void set_number(struct ntff_profile *p, enum ntff_number slot, uint32_t number)
{
    if (p->number[slot] || !number)
        return;
    p->number[slot] = number;
    p->how[slot] = p->schema->origin == NTFF_SCHEMA_BUILTIN ? NTFF_HOW_BUILTIN : NTFF_HOW_SCHEMA;
}

/* The only field of a message that holds the message or enum called type. */
static void bind_type(struct ntff_profile *p, enum ntff_number slot, const char *type)
{
    const struct ntff_message_def *m = ntff_schema_message(p->schema, number_names[slot].message);
    uint32_t found = 0;
    for (size_t i = 0; m && i < m->n_fields; i++) {
        const struct ntff_field_def *f = &m->fields[i];
        if (f->type_name && strcmp(f->type_name, type) == 0)
            found = found ? UINT32_MAX : f->number;
    }
    if (found != UINT32_MAX)
        set_number(p, slot, found);
}

/* The only field of a message not bound yet whose type passes. */
static void bind_rest(struct ntff_profile *p, enum ntff_number slot, bool bytes)
{
    const char *message = number_names[slot].message;
    const struct ntff_message_def *m = ntff_schema_message(p->schema, message);
    uint32_t found = 0;
    for (size_t i = 0; m && i < m->n_fields; i++) {
        const struct ntff_field_def *f = &m->fields[i];
        bool taken = false;
        for (int n = 0; n < NTFF_N_COUNT; n++)
            taken |= p->number[n] == f->number && strcmp(number_names[n].message, message) == 0;
        bool fits = bytes ? f->type == NTFF_T_BYTES
                          : ntff_type_wire(f->type) == NTFF_WT_VARINT && f->type != NTFF_T_ENUM &&
                                f->type != NTFF_T_BOOL;
        if (!taken && fits && f->label != NTFF_L_REPEATED)
            found = found ? UINT32_MAX : f->number;
    }
    if (found != UINT32_MAX)
        set_number(p, slot, found);
}

static bool ends_with(const char *s, const char *tail)
{
    size_t n = strlen(s), k = strlen(tail);
    return n >= k && strcmp(s + n - k, tail) == 0;
}

/* Names of which only a part is public. */
static void bind_part(struct ntff_profile *p, enum ntff_number slot, const char *part, bool at_end)
{
    const struct ntff_message_def *m = ntff_schema_message(p->schema, number_names[slot].message);
    for (size_t i = 0; m && i < m->n_fields; i++) {
        const char *name = m->fields[i].name;
        if (at_end ? ends_with(name, part) : strncmp(name, part, strlen(part)) == 0)
            set_number(p, slot, m->fields[i].number);
    }
}

static void bind(struct ntff_profile *p)
{
    for (int n = 0; n < NTFF_N_COUNT; n++)
        set_number(p, n,
                   ntff_schema_number(p->schema, number_names[n].message, number_names[n].field));
    bind_type(p, NTFF_N_BUFFERS, "notification_buffer_size");
    bind_type(p, NTFF_N_NODES, "neff_node_info");
    bind_type(p, NTFF_N_SESSION, "trace_info");
    bind_type(p, NTFF_N_GRAPHS, "subgraph_info");
    bind_type(p, NTFF_N_MEMORY_TYPE, "memory_usage_type");
    bind_rest(p, NTFF_N_MEMORY_BYTES, false);
    bind_rest(p, NTFF_N_TRACE_ENGINE, false);
    bind_rest(p, NTFF_N_TRACE_BYTES, true);
    bind_part(p, NTFF_N_TICKS, "ticks_per_n", false);
    bind_part(p, NTFF_N_CLOCK_ACT, "act", true);
    bind_part(p, NTFF_N_CLOCK_DVE, "dve", true);
}

/* -- the walk -----------------------------------------------------------------------------------
 */

/* A list that is full is counted, not an error: the file is hostile or absurd then. */
#define PUSH(p, list)                                                                              \
    ((list)->n >= NTFF_LIST_MAX ? ((p)->n_over++, NULL) : NTFF_VEC_PUSH((p)->budget, list))
#define FULL(list) ((list)->n >= NTFF_LIST_MAX)

static struct ntff_wire open_msg(struct ntff_slice s)
{
    return ntff_wire_init(s.p, s.len);
}

static struct ntff_slice field_slice(const struct ntff_field *f)
{
    return (struct ntff_slice){(const char *)f->data, (size_t)f->value};
}

/* Next field of a message; what does not parse is counted once and ends it. */
static bool next(struct ntff_profile *p, struct ntff_wire *w, struct ntff_field *f)
{
    int r = ntff_wire_next(w, f);
    if (r < 0)
        ntff_diag_add(p->diag, NTFF_DIAG_BAD_RECORD, 1, p->path,
                      (uint64_t)((const char *)w->p - p->file.p), "in the message tree: %s",
                      w->why);
    return r > 0;
}

static bool is(const struct ntff_profile *p, const struct ntff_field *f, enum ntff_number slot,
               int type)
{
    return f->number == p->number[slot] && f->type == type;
}
#define IS_NUM(slot) is(p, &f, NTFF_N_##slot, NTFF_WT_VARINT)
#define IS_LEN(slot) is(p, &f, NTFF_N_##slot, NTFF_WT_LEN)

static uint32_t clip32(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX - 1;
}

void ntff_trace_read(const struct ntff_profile *p, struct ntff_slice msg, struct ntff_blob *out)
{
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    *out = (struct ntff_blob){.msg = msg,
                              .graph = UINT32_MAX,
                              .trace_type = UINT32_MAX,
                              .block_type = UINT32_MAX,
                              .engine_index = UINT32_MAX};
    /* absent means zero, but only for a field whose number is known */
    if (p->number[NTFF_N_TRACE_TYPE])
        out->trace_type = 0;
    if (p->number[NTFF_N_TRACE_BLOCK])
        out->block_type = 0;
    if (p->number[NTFF_N_TRACE_ENGINE])
        out->engine_index = 0;
    while (ntff_wire_next(&w, &f) > 0) {
        if (IS_NUM(TRACE_TYPE))
            out->trace_type = clip32(f.value);
        else if (IS_NUM(TRACE_BLOCK))
            out->block_type = clip32(f.value);
        else if (IS_NUM(TRACE_ENGINE))
            out->engine_index = clip32(f.value);
        else if (IS_NUM(TRACE_OFFSET))
            out->off = f.value;
        else if (IS_NUM(TRACE_SIZE))
            out->len = f.value;
        else if (IS_LEN(TRACE_BYTES))
            out->bytes = field_slice(&f);
    }
}

static bool read_run(struct ntff_profile *p, struct ntff_slice msg, uint32_t graph, bool collective)
{
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    struct ntff_run *r = PUSH(p, &p->runs);
    if (!r)
        return FULL(&p->runs);
    *r = (struct ntff_run){.graph = graph, .collective = collective};
    while (next(p, &w, &f)) {
        if (IS_NUM(RUN_ENGINE))
            r->engine = clip32(f.value);
        else if (IS_NUM(RUN_ADDRESS))
            r->start_address = f.value;
        else if (IS_LEN(RUN_BYTES))
            r->bytes = field_slice(&f);
        else if (IS_NUM(RUN_INDEX))
            r->engine_index = clip32(f.value);
        else if (IS_NUM(RUN_BLOCK))
            r->block_type = clip32(f.value);
        else if (IS_NUM(RUN_FUNCTION))
            r->function_section = f.value != 0;
        else if (IS_NUM(RUN_OFFSET))
            r->off = f.value;
        else if (IS_NUM(RUN_SIZE))
            r->len = f.value;
    }
    return true;
}

static bool read_queue(struct ntff_profile *p, struct ntff_slice msg)
{
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    struct ntff_queue *q = PUSH(p, &p->queues);
    if (!q)
        return FULL(&p->queues);
    *q = (struct ntff_queue){0};
    while (next(p, &w, &f)) {
        if (IS_NUM(QUEUE_ENGINE))
            q->engine_index = clip32(f.value);
        else if (IS_NUM(QUEUE_INDEX))
            q->queue_index = clip32(f.value);
        else if (IS_NUM(QUEUE_TYPE))
            q->type = clip32(f.value);
        else if (IS_LEN(QUEUE_NAME))
            q->name = field_slice(&f);
    }
    return true;
}

static struct ntff_triple read_triple(struct ntff_profile *p, struct ntff_slice msg)
{
    struct ntff_triple t = {.there = true};
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    while (next(p, &w, &f)) {
        if (IS_NUM(BLOCK_INIT))
            t.init = f.value;
        else if (IS_NUM(BLOCK_ACTUAL))
            t.actual = f.value;
        else if (IS_NUM(BLOCK_EXPECTED))
            t.expected = f.value;
    }
    return t;
}

static bool read_clocks(struct ntff_profile *p, struct ntff_slice msg, struct ntff_graph *g)
{
    static const enum ntff_number engines[] = {NTFF_N_CLOCK_PE, NTFF_N_CLOCK_ACT, NTFF_N_CLOCK_POOL,
                                               NTFF_N_CLOCK_DVE, NTFF_N_CLOCK_SP};
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    while (next(p, &w, &f)) {
        if (f.type != NTFF_WT_LEN)
            continue;
        struct ntff_triple t = read_triple(p, field_slice(&f)), *to = NULL;
        for (size_t e = 0; e < NTFF_ARRAY_LEN(engines) && !to; e++)
            to = f.number == p->number[engines[e]] ? &g->clock[e] : NULL;
        if (f.number == p->number[NTFF_N_CLOCK_DMA]) {
            to = PUSH(p, &p->dma_clocks);
            g->n_dma_clocks += to != NULL;
        } else if (f.number == p->number[NTFF_N_CLOCK_TOPSP]) {
            to = PUSH(p, &p->topsp_clocks);
            g->n_topsp_clocks += to != NULL;
        } else if (!to && p->schema->origin == NTFF_SCHEMA_BUILTIN &&
                   (f.number == 2 || f.number == 3)) {
            to = &g->clock[f.number == 2 ? NTFF_CLOCK_SECOND : NTFF_CLOCK_THIRD];
        } else if (!to) {
            continue;
        }
        if (!to && !FULL(&p->dma_clocks) && !FULL(&p->topsp_clocks))
            return false;
        if (to)
            *to = t;
    }
    return true;
}

bool ntff_profile_add_trace(struct ntff_profile *p, struct ntff_slice msg, uint32_t graph)
{
    struct ntff_slice *s = PUSH(p, &p->traces);
    if (!s)
        return FULL(&p->traces);
    *s = msg;
    uint32_t *g = NTFF_VEC_PUSH(p->budget, &p->trace_graph);
    if (!g)
        return false;
    *g = graph;
    return true;
}

/* collectives_info: only its instruction streams take part in the layout of the file. */
static bool read_coll(struct ntff_profile *p, struct ntff_slice msg, uint32_t graph)
{
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    while (next(p, &w, &f))
        if (IS_LEN(COLL_TOPSP) && !read_run(p, field_slice(&f), graph, true))
            return false;
    return true;
}

static bool read_graph(struct ntff_profile *p, struct ntff_slice msg)
{
    uint32_t self = (uint32_t)p->graphs.n;
    struct ntff_wire w = open_msg(msg);
    struct ntff_field f;
    struct ntff_graph g = {.msg = msg,
                           .first_queue = (uint32_t)p->queues.n,
                           .first_dma_clock = (uint32_t)p->dma_clocks.n,
                           .first_topsp_clock = (uint32_t)p->topsp_clocks.n};
    bool ok = true;
    while (ok && next(p, &w, &f)) {
        if (IS_LEN(GRAPH_NAME))
            g.name = field_slice(&f);
        else if (IS_NUM(GRAPH_ND))
            g.nd_idx = clip32(f.value);
        else if (IS_NUM(GRAPH_NC))
            g.nc_idx = clip32(f.value);
        else if (IS_LEN(GRAPH_RUNS))
            ok = read_run(p, field_slice(&f), self, false);
        else if (IS_LEN(GRAPH_COLL_RUNS))
            ok = read_run(p, field_slice(&f), self, true);
        else if (IS_LEN(GRAPH_TRACES))
            ok = ntff_profile_add_trace(p, field_slice(&f), self);
        else if (IS_LEN(GRAPH_QUEUES))
            ok = read_queue(p, field_slice(&f));
        else if (IS_LEN(GRAPH_COLL))
            ok = read_coll(p, field_slice(&f), self);
        else if (IS_LEN(GRAPH_CLOCKS))
            ok = read_clocks(p, field_slice(&f), &g);
    }
    g.n_queues = (uint32_t)p->queues.n - g.first_queue;
    if (!ok)
        return false;
    if (p->graphs.n >= NTFF_GRAPHS_MAX)
        return p->n_over++, true;
    struct ntff_graph *to = NTFF_VEC_PUSH(p->budget, &p->graphs);
    if (to)
        *to = g;
    return to != NULL;
}

/* neff_node_info -> nd_node -> graphs */
static bool read_node(struct ntff_profile *p, struct ntff_slice msg)
{
    struct ntff_wire w = open_msg(msg), inner;
    struct ntff_field f;
    while (next(p, &w, &f)) {
        if (!IS_LEN(NODE_ND))
            continue;
        inner = open_msg(field_slice(&f));
        while (next(p, &inner, &f))
            if (IS_LEN(GRAPHS) && !read_graph(p, field_slice(&f)))
                return false;
    }
    return true;
}

static bool walk(struct ntff_profile *p)
{
    struct ntff_wire w = open_msg(p->msg);
    struct ntff_field f;
    bool ok = true;
    while (ok && next(p, &w, &f)) {
        if (IS_LEN(NODES))
            ok = read_node(p, field_slice(&f));
        else if (IS_LEN(SESSION))
            ok = ntff_profile_add_trace(p, field_slice(&f), UINT32_MAX);
        else if (IS_NUM(TICKS))
            p->ticks_per_ns = f.value;
    }
    return ok;
}

static int blob_cmp(const void *pa, const void *pb)
{
    const struct ntff_blob *a = pa, *b = pb;
    if (a->off != b->off)
        return a->off < b->off ? -1 : 1;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return a->graph != b->graph ? a->graph < b->graph ? -1 : 1 : 0; /* the graph's own first */
}

/* trace_infos -> blobs in file order. One listed twice (under its graph and under the session)
 * counts once. */
static bool read_blobs(struct ntff_profile *p)
{
    for (size_t i = 0; i < p->traces.n; i++) {
        struct ntff_blob *b = NTFF_VEC_PUSH(p->budget, &p->blobs);
        if (!b)
            return false;
        ntff_trace_read(p, p->traces.v[i], b);
        b->graph = p->trace_graph.v[i];
    }
    if (p->blobs.n)
        qsort(p->blobs.v, p->blobs.n, sizeof *p->blobs.v, blob_cmp);
    size_t kept = 0;
    for (size_t i = 0; i < p->blobs.n; i++) {
        const struct ntff_blob *b = &p->blobs.v[i], *prev = kept ? &p->blobs.v[kept - 1] : NULL;
        if (b->len == 0 && b->bytes.len == 0)
            continue;
        if (prev && b->len && prev->off == b->off && prev->len == b->len)
            continue;
        p->blobs.v[kept++] = *b;
    }
    p->blobs.n = kept;
    return true;
}

bool ntff_blob_place(const struct ntff_profile *p, const struct ntff_blob *b, uint64_t *off,
                     uint64_t *len)
{
    if (b->bytes.len) {
        *off = (uint64_t)(b->bytes.p - p->file.p);
        *len = b->bytes.len & ~(uint64_t)15;
        return *len != 0;
    }
    if (p->base == NTFF_BASE_UNKNOWN || p->base_off > p->file.len ||
        b->off > p->file.len - p->base_off)
        return false;
    *off = p->base_off + b->off;
    uint64_t left = p->file.len - *off;
    *len = (b->len < left ? b->len : left) & ~(uint64_t)15;
    return *len != 0;
}

/* Takes the message apart with the numbers of one schema. */
static enum ntff_status take_apart(struct ntff_profile *p, const struct ntff_schema *schema,
                                   struct ntff_error *err)
{
    p->schema = schema;
    bind(p);
    ntff_find_graphs(p);
    if (!walk(p) || !ntff_find_traces(p) || !read_blobs(p))
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "the lists of %s", p->path);
    ntff_find_sections(p);
    if (!ntff_find_kinds(p))
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "the lists of %s", p->path);
    return NTFF_OK;
}

static struct ntff_profile empty_profile(struct ntff_slice file, struct ntff_budget *budget,
                                         struct ntff_diag *diag, const char *path)
{
    return (struct ntff_profile){
        .budget = budget, .diag = diag, .path = path, .file = file, .base_how = ""};
}

/* A given schema found no subgraph: if the built-in one and the tests do, the schema is that of
 * another version. Their result and findings replace the first ones then. */
static enum ntff_status try_builtin(struct ntff_profile *p, const struct ntff_diag *before,
                                    struct ntff_error *err)
{
    struct ntff_diag first = *p->diag;
    struct ntff_profile q = empty_profile(p->file, p->budget, p->diag, p->path);
    enum ntff_status status = ntff_schema_builtin(&q.own_schema, err);
    q.version = p->version;
    q.msg_len = p->msg_len;
    q.msg = p->msg;
    *p->diag = *before;
    if (status == NTFF_OK)
        status = take_apart(&q, q.own_schema, err);
    if (status == NTFF_OK && q.graphs.n) {
        ntff_diag_add(q.diag, NTFF_DIAG_SCHEMA_MISFIT, 1, q.path, NTFF_HEADER_BYTES,
                      "no subgraph by the numbers of %s; read by the built-in schema and tests",
                      p->schema->source);
        struct ntff_profile t = *p;
        *p = q;
        q = t;
    } else {
        *p->diag = first;
    }
    ntff_profile_done(&q);
    return status;
}

enum ntff_status ntff_profile_parse(struct ntff_profile *p, struct ntff_slice file,
                                    const struct ntff_schema *schema, struct ntff_budget *budget,
                                    struct ntff_diag *diag, const char *path,
                                    struct ntff_error *err)
{
    *p = empty_profile(file, budget, diag, path);
    p->schema = schema;
    if (!ntff_container(file, &p->version, &p->msg_len))
        return ntff_fail(err, NTFF_MALFORMED, 0, "no .ntff header: %s",
                         file.len < 9 ? "shorter than 9 bytes" : "bytes 9..127 are not zero");
    if (file.len > NTFF_HEADER_BYTES) {
        uint64_t there = file.len - NTFF_HEADER_BYTES;
        p->msg.p = file.p + NTFF_HEADER_BYTES;
        p->msg.len = (size_t)(p->msg_len < there ? p->msg_len : there);
    }
    struct ntff_diag before = *diag;
    enum ntff_status status = take_apart(p, schema, err);
    if (status == NTFF_OK && p->graphs.n == 0 && p->msg.len &&
        schema->origin != NTFF_SCHEMA_BUILTIN)
        status = try_builtin(p, &before, err);
    return status;
}

void ntff_profile_done(struct ntff_profile *p)
{
    NTFF_VEC_FREE(p->budget, &p->graphs);
    NTFF_VEC_FREE(p->budget, &p->runs);
    NTFF_VEC_FREE(p->budget, &p->blobs);
    NTFF_VEC_FREE(p->budget, &p->queues);
    NTFF_VEC_FREE(p->budget, &p->dma_clocks);
    NTFF_VEC_FREE(p->budget, &p->topsp_clocks);
    NTFF_VEC_FREE(p->budget, &p->traces);
    NTFF_VEC_FREE(p->budget, &p->trace_graph);
    ntff_schema_free(p->own_schema);
    p->own_schema = NULL;
}
