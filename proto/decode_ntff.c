/* decode_ntff - a device profile into the model.
 *
 * The file is taken apart (ntff_info), its blobs are laid out as sources that details can refer to,
 * each subgraph gets a physical core and a device (device.h) that reads its blobs, and what the
 * message says besides goes to the facts of the file.
 *
 * Which core: subgraph_info names one, but what its numbers count is not public. The executions the
 * runtime traced (nc_exec_running, device time) are the check: instructions lie inside the runs of
 * their own core, and cores count from unrelated origins. If they lie in those of another core,
 * that core is taken and the finding says so. */
#include "proto/device.h"

#include "proto/ntff_core.h"
#include "proto/ntff_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

bool ntff_ntff_sniff(struct ntff_slice head, uint64_t file_len)
{
    uint8_t version;
    uint64_t msg_len;
    if (!ntff_container(head, &version, &msg_len))
        return false;
    bool fits =
        file_len == 0 || (file_len >= NTFF_HEADER_BYTES && msg_len <= file_len - NTFF_HEADER_BYTES);
    if (fits && head.len >= NTFF_HEADER_BYTES)
        return true;
    /* a cut file: only a version we know makes it likely */
    return version <= NTFF_VERSION_MAX && msg_len < UINT64_C(1) << 40;
}

enum { MAX_TOLD = 64 };           /* subgraphs that get lines of their own in `info` */
enum { SOURCE_MAX = 0x7fffffff }; /* an offset in a source has 32 bits */

/* A stretch of whole records in the file, all of one blob. */
struct piece {
    uint64_t off, len;
    const struct ntff_blob *blob;
    uint32_t graph; /* it belongs to; UINT32_MAX: to be found */
    uint16_t src;
    struct ntff_blob_ref *ref;
};

struct decoder {
    struct ntff_builder *b;
    struct ntff_budget *budget;
    uint32_t file, proc;
    struct ntff_profile p;
    NTFF_VEC(struct piece) pieces;
    struct ntff_cores cores;
    struct ntff_clocks *clocks; /* one per graph */
    uint64_t n_records, n_dropped, n_reserved, n_bad_time, sw_marks, hw_marks;
};

static const char *path_of(const struct decoder *x)
{
    return ntff_build_path(x->b, x->file);
}

static struct ntff_diag *diag_of(const struct decoder *x)
{
    return ntff_build_diag(x->b);
}

/* -- blobs to sources
 * ---------------------------------------------------------------------------------- */

static bool add_pieces(struct decoder *x)
{
    for (size_t i = 0; i < x->p.blobs.n; i++) {
        const struct ntff_blob *blob = &x->p.blobs.v[i];
        uint64_t off, len, odd = blob->bytes.len ? blob->bytes.len % 16 : blob->len % 16;
        if (odd)
            ntff_diag_add(diag_of(x), NTFF_DIAG_SKIPPED_BYTES, odd, path_of(x), NTFF_NO_OFFSET,
                          "a blob's size is no multiple of 16");
        if (!ntff_blob_place(&x->p, blob, &off, &len))
            continue;
        while (len) {
            uint64_t part = len < (SOURCE_MAX & ~15u) ? len : (SOURCE_MAX & ~15u);
            struct piece *p = NTFF_VEC_PUSH(x->budget, &x->pieces);
            if (!p)
                return false;
            *p = (struct piece){.off = off, .len = part, .blob = blob, .graph = blob->graph};
            off += part;
            len -= part;
        }
    }
    return true;
}

static int piece_cmp(const void *pa, const void *pb)
{
    const struct piece *a = pa, *b = pb;
    if (a->off != b->off)
        return a->off < b->off ? -1 : 1;
    return a->len < b->len ? -1 : a->len > b->len;
}

/* By graph, then by place in the file. */
static int graph_cmp(const void *pa, const void *pb)
{
    const struct piece *a = pa, *b = pb;
    return a->graph != b->graph ? a->graph < b->graph ? -1 : 1 : piece_cmp(pa, pb);
}

/* A source for pieces [i, j), with its table of blobs. */
static bool add_source(struct decoder *x, size_t i, size_t j, uint64_t end)
{
    struct piece *p = x->pieces.v;
    struct ntff_arena *arena = &ntff_build_trace(x->b)->arena;
    struct ntff_blob_table *t = ntff_arena_alloc(arena, sizeof *t);
    size_t bytes;
    if (!t || !ntff_mul_ok(j - i, sizeof *t->v, &bytes) || !(t->v = ntff_arena_alloc(arena, bytes)))
        return false;
    t->n = j - i;
    struct ntff_source s = {.kind = NTFF_SOURCE_NOTIF,
                            .data = (const uint8_t *)x->p.file.p + p[i].off,
                            .len = end - p[i].off,
                            .file_off = p[i].off,
                            .file = x->file,
                            .extra = t};
    uint32_t src = ntff_build_source(x->b, &s);
    if (src == NTFF_NONE)
        return false;
    for (size_t k = i; k < j; k++) {
        uint64_t begin = p[k].off - p[i].off;
        t->v[k - i] = (struct ntff_blob_ref){.begin = (uint32_t)begin,
                                             .end = (uint32_t)(begin + p[k].len),
                                             .engine_index = p[k].blob->engine_index};
        p[k].ref = &t->v[k - i];
        p[k].src = (uint16_t)src;
    }
    return true;
}

/* Neighbours share a source: there are only 65,535 of those. */
static bool add_sources(struct decoder *x)
{
    struct piece *p = x->pieces.v;
    size_t n = x->pieces.n, j;
    if (n)
        qsort(p, n, sizeof *p, piece_cmp);
    for (size_t i = 0; i < n; i = j) {
        uint64_t end = p[i].off + p[i].len;
        for (j = i + 1; j < n && p[j].off + p[j].len - p[i].off <= SOURCE_MAX; j++)
            end = p[j].off + p[j].len > end ? p[j].off + p[j].len : end;
        if (!add_source(x, i, j, end))
            return false;
    }
    return true;
}

/* -- clocks
 * -------------------------------------------------------------------------------------------- */

static struct ntff_tick tick_of(const struct decoder *x, const struct ntff_triple *t)
{
    uint64_t per_ns = x->p.ticks_per_ns <= 1000000 ? x->p.ticks_per_ns : 0;
    return t->there ? ntff_tick_make(t->init, t->actual, t->expected, per_ns)
                    : ntff_tick_make(0, 0, 0, per_ns);
}

static const struct ntff_tick *tick_list(struct decoder *x, const struct ntff_triple *t, uint32_t n)
{
    struct ntff_tick *v = ntff_arena_alloc(&ntff_build_trace(x->b)->arena, (n ? n : 1) * sizeof *v);
    for (uint32_t i = 0; v && i < n; i++)
        v[i] = tick_of(x, &t[i]);
    return v;
}

/* Fields 2 and 3 are ACT and DVE in an unknown order: no matter if they are equal; else left out.
 */
static bool second_and_third(struct decoder *x, struct ntff_graph *g)
{
    const struct ntff_triple *a = &g->clock[NTFF_CLOCK_SECOND], *b = &g->clock[NTFF_CLOCK_THIRD];
    if (!a->there && !b->there)
        return true;
    if (a->there && b->there && a->init == b->init && a->actual == b->actual &&
        a->expected == b->expected) {
        g->clock[NTFF_ACT] = g->clock[NTFF_DVE] = *a;
        return true;
    }
    ntff_diag_add(
        diag_of(x), NTFF_DIAG_UNDECIDED, 1, path_of(x), NTFF_NO_OFFSET,
        "clock corrections of ACT and DVE differ and which is which is unknown without a schema");
    return true;
}

static bool make_clocks(struct decoder *x)
{
    size_t n = x->p.graphs.n;
    x->clocks = ntff_arena_alloc(&ntff_build_trace(x->b)->arena, (n ? n : 1) * sizeof *x->clocks);
    if (!x->clocks)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct ntff_graph *g = &x->p.graphs.v[i];
        struct ntff_clocks *c = &x->clocks[i];
        if (!second_and_third(x, g))
            return false;
        for (unsigned e = 0; e < NTFF_N_ENGINES; e++)
            c->engine[e] = tick_of(x, &g->clock[e]);
        c->other = c->engine[NTFF_PE];
        c->n_dma = g->n_dma_clocks;
        c->n_topsp = g->n_topsp_clocks;
        c->dma = tick_list(x, x->p.dma_clocks.v + g->first_dma_clock, c->n_dma);
        c->topsp = tick_list(x, x->p.topsp_clocks.v + g->first_topsp_clock, c->n_topsp);
        if (!c->dma || !c->topsp)
            return false;
    }
    return true;
}

static bool fact_clocks(struct decoder *x, const struct ntff_graph *g, const char *where)
{
    char key[96];
    unsigned n = 0;
    for (unsigned e = 0; e < NTFF_N_ENGINES; e++) {
        const struct ntff_triple *t = &g->clock[e];
        n += t->there;
        snprintf(key, sizeof key, "%s clock %s", where, ntff_engine_track(e));
        if (t->there &&
            !ntff_factf(x->b, x->file, key, NULL,
                        "init %" PRIu64 " ps, increment %" PRIu64 " for %" PRIu64 " expected",
                        t->init, t->actual, t->expected))
            return false;
    }
    snprintf(key, sizeof key, "%s clock", where);
    return n == NTFF_N_ENGINES ||
           ntff_factf(x->b, x->file, key, NULL,
                      "%u of 5 engines have a correction; the others may be offset against them",
                      n);
}

/* -- cores
 * --------------------------------------------------------------------------------------------- */

struct place {
    uint32_t nc, core;
};

/* Pieces of a graph: [*first, *end) of the list, which is sorted by graph. */
static void pieces_of(const struct decoder *x, uint32_t graph, size_t *first, size_t *end)
{
    size_t at[2];
    for (int k = 0; k < 2; k++) {
        size_t lo = 0, hi = x->pieces.n;
        while (lo < hi) {
            size_t mid = lo + (hi - lo) / 2;
            if (x->pieces.v[mid].graph < graph + (uint32_t)k)
                lo = mid + 1;
            else
                hi = mid;
        }
        at[k] = lo;
    }
    *first = at[0];
    *end = at[1];
}

enum { SAMPLES = 256 };

/* Device times of instructions, picked evenly from a graph's blobs. */
static size_t take_samples(const struct decoder *x, uint32_t graph, uint64_t ns[SAMPLES])
{
    size_t first, end, n = 0;
    pieces_of(x, graph, &first, &end);
    size_t each = SAMPLES / (end - first < 64 ? end - first + 1 : 64);
    for (size_t i = first; i < end; i++) {
        const struct piece *p = &x->pieces.v[i];
        uint64_t records = p->len / NTFF_NOTIF_BYTES, step = records / each + 1;
        if (p->blob->block_type == NTFF_BLOCK_DMA)
            continue;
        for (uint64_t k = 0; k < records && n < SAMPLES; k += step) {
            const uint8_t *at = (const uint8_t *)x->p.file.p + p->off + k * NTFF_NOTIF_BYTES;
            struct ntff_notif r = ntff_notif_at(at);
            unsigned type = ntff_notif_type(r.word0);
            if (ntff_notif_kinds[type] <= NTFF_NK_END &&
                ntff_tick_ns(&x->clocks[graph].engine[ntff_notif_engine(type)], r.ts_ps, &ns[n]))
                n++;
        }
    }
    return n;
}

static bool place_graph(struct decoder *x, uint32_t graph, struct place *out)
{
    const struct ntff_graph *g = &x->p.graphs.v[graph];
    const char *how = "as subgraph_info says; no nc_exec_running to confirm it";
    uint64_t ns[SAMPLES];
    size_t hits = 0;
    out->core = g->nc_idx;
    if (x->cores.runs.n) {
        size_t n = take_samples(x, graph, ns);
        out->core = ntff_cores_vote(&x->cores, ns, n, g->nc_idx, &hits);
        how = out->core != g->nc_idx ? "by the nc_exec_running its instructions lie in"
              : hits ? "as subgraph_info says; its instructions lie in that core's nc_exec_running"
                     : "as subgraph_info says; no nc_exec_running holds its instructions";
    }
    if (out->core != g->nc_idx)
        ntff_diag_add(diag_of(x), NTFF_DIAG_CORE_ESTIMATED, 1, path_of(x), NTFF_NO_OFFSET,
                      "subgraph %" PRIu32 " says core %" PRIu32 ", but ran on core %" PRIu32, graph,
                      g->nc_idx, out->core);
    const struct ntff_core_runs *runs = ntff_cores_find(&x->cores, out->core);
    uint32_t named = ntff_cores_of_name(path_of(x));
    out->nc = runs ? runs->nc : named != NTFF_NONE ? named : out->core;
    char key[32];
    snprintf(key, sizeof key, "subgraph %" PRIu32, graph);
    return graph >= MAX_TOLD ||
           ntff_factf(x->b, x->file, key, how,
                      "%.*s, nd_idx %" PRIu32 ", nc_idx %" PRIu32 ": core %" PRIu32
                      " of NC%" PRIu32,
                      g->name.len < 200 ? (int)g->name.len : 200, g->name.p ? g->name.p : "",
                      g->nd_idx, g->nc_idx, out->core, out->nc);
}

/* The graph whose core's runs hold the first record of a blob. */
static uint32_t graph_of(const struct decoder *x, const struct piece *p, const struct place *places)
{
    struct ntff_notif r = ntff_notif_at((const uint8_t *)x->p.file.p + p->off);
    unsigned type = ntff_notif_type(r.word0);
    for (uint32_t g = 0; g < x->p.graphs.n && g < MAX_TOLD; g++) {
        const struct ntff_core_runs *runs = ntff_cores_find(&x->cores, places[g].core);
        const struct ntff_clocks *c = &x->clocks[g];
        const struct ntff_tick *t =
            ntff_notif_has_engine(type) ? &c->engine[ntff_notif_engine(type)] : &c->other;
        uint64_t ns;
        if (runs && ntff_tick_ns(t, r.ts_ps, &ns) && ntff_cores_inside(&x->cores, runs, ns))
            return g;
    }
    return NTFF_NONE;
}

/* Session blobs name no subgraph. With one subgraph they are its; else the runs their records lie
 * in tell, and what is left goes to the first. */
static void place_session(struct decoder *x, const struct place *places)
{
    uint64_t guessed = 0;
    for (size_t i = 0; i < x->pieces.n; i++) {
        struct piece *p = &x->pieces.v[i];
        if (p->graph != UINT32_MAX)
            continue;
        uint32_t g = x->p.graphs.n > 1 ? graph_of(x, p, places) : 0;
        guessed += g == NTFF_NONE;
        p->graph = g == NTFF_NONE ? 0 : g;
    }
    if (guessed)
        ntff_diag_add(diag_of(x), NTFF_DIAG_CORE_ESTIMATED, guessed, path_of(x), NTFF_NO_OFFSET,
                      "session blobs given to the first subgraph's core");
    qsort(x->pieces.v, x->pieces.n, sizeof *x->pieces.v, graph_cmp);
}

/* With several physical cores to a logical one, each has a group of its own. Subgraphs of several
 * devices that name the same core are told apart by the device. */
static uint32_t parent_track(struct decoder *x, const struct place *places, size_t n,
                             uint32_t graph)
{
    const struct place *me = &places[graph];
    uint32_t nd_idx = x->p.graphs.v[graph].nd_idx;
    bool several = false, devices = false;
    for (size_t i = 0; i < n; i++) {
        several |= places[i].nc == me->nc && places[i].core != me->core;
        devices |= places[i].nc == me->nc && places[i].core == me->core &&
                   x->p.graphs.v[i].nd_idx != nd_idx;
    }
    for (size_t i = 0; i < x->cores.cores.n; i++)
        several |= x->cores.cores.v[i].nc == me->nc && x->cores.cores.v[i].core != me->core;
    uint32_t nc = ntff_build_nc(x->b, x->proc, me->nc);
    if (nc == NTFF_NONE || !(several || devices))
        return nc;
    struct ntff_track proto = {.kind = NTFF_TRACK_GROUP,
                               .process = x->proc,
                               .nc = me->nc,
                               .core = me->core,
                               .rank = 1500 + (int32_t)(me->core & 255)};
    char name[64], device[24] = "";
    if (devices)
        snprintf(device, sizeof device, "ND%" PRIu32 " ", nd_idx);
    snprintf(name, sizeof name, "%sNC%" PRIu32 ":%" PRIu32, device, me->nc, me->core);
    return ntff_build_track(x->b, nc, name, &proto);
}

/* -- reading
 * -------------------------------------------------------------------------------------------- */

/* Indices of a ring's records by time, stable: ascending stretches are merged pairwise, so a ring
 * stored unrotated (two stretches) costs one pass. */
static uint32_t *time_order(struct decoder *x, const uint8_t *data, uint64_t n, size_t *bytes)
{
    if (n >= NTFF_NONE || !ntff_mul_ok((size_t)n, 2 * sizeof(uint32_t), bytes) ||
        !ntff_budget_take(x->budget, *bytes))
        return NULL;
    uint32_t *a = malloc(*bytes), *from = a, *to = a ? a + n : NULL;
    if (!a) {
        ntff_budget_give(x->budget, *bytes);
        return NULL;
    }
#define TS(i) ntff_le64(data + (uint64_t)(i)*NTFF_NOTIF_BYTES + 8)
    for (uint64_t i = 0; i < n; i++)
        a[i] = (uint32_t)i;
    for (size_t stretches = 2; stretches > 1;) {
        uint64_t at = 0;
        stretches = 0;
        while (at < n) {
            uint64_t mid = at + 1, end;
            while (mid < n && TS(from[mid]) >= TS(from[mid - 1]))
                mid++;
            for (end = mid < n ? mid + 1 : n; end < n && TS(from[end]) >= TS(from[end - 1]); end++)
                ;
            for (uint64_t i = at, j = mid, k = at; k < end; k++)
                to[k] = j >= end || (i < mid && TS(from[i]) <= TS(from[j])) ? from[i++] : from[j++];
            at = end;
            stretches++;
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
#undef TS
    if (from != a)
        memcpy(a, from, n * sizeof *a);
    return a;
}

static void fill_ref(const struct decoder *x, const struct piece *p, struct ntff_ring *ring)
{
    struct ntff_blob_ref *r = p->ref;
    const struct ntff_ring_look *l = &ring->look;
    const struct ntff_graph *g = p->graph < x->p.graphs.n ? &x->p.graphs.v[p->graph] : NULL;
    int class = ntff_ring_class(l);
    r->trace_type = p->blob->trace_type < 255 ? (uint8_t)p->blob->trace_type
                    : class >= 0              ? (uint8_t) class
                                              : 255;
    r->block_type = p->blob->block_type < 255 ? (uint8_t)p->blob->block_type
                    : class == NTFF_TRACE_DMA ? NTFF_BLOCK_DMA
                                              : NTFF_BLOCK_NC;
    r->dma_layout = l->dma_layout;
    r->dma_queue_ok = l->dma_queue_ok;
    r->sem_ok = l->sem_ok;
    r->interrupt_ok = l->interrupt_ok;
    r->status_ring = ntff_ring_of_kind(l, NTFF_NK_EXPLICIT) == l->n;
    r->clocks = g ? &x->clocks[p->graph] : &x->clocks[0];
}

static bool read_piece(struct decoder *x, struct ntff_device *d, const struct piece *p)
{
    struct ntff_ring ring = {.data = (const uint8_t *)x->p.file.p + p->off,
                             .n = p->len / NTFF_NOTIF_BYTES,
                             .ref = p->ref};
    uint32_t *order = NULL;
    size_t order_bytes = 0;
    ntff_ring_look(ring.data, ring.n, &ring.look);
    fill_ref(x, p, &ring);
    x->n_records += ring.n;
    if (ring.look.n_descents) {
        if (!(order = time_order(x, ring.data, ring.n, &order_bytes)))
            return false;
        ring.order = order;
    }
    d->src = p->src;
    bool ok = ntff_device_ring(d, &ring);
    free(order);
    ntff_budget_give(x->budget, order_bytes);
    return ok;
}

/* First and last time of a graph's DMA records, for the counters; blobs are in time order or nearly
 * so. */
static bool dma_extent(struct decoder *x, struct ntff_device *d, uint32_t graph)
{
    uint64_t lo = UINT64_MAX, hi = 0;
    size_t first, end;
    pieces_of(x, graph, &first, &end);
    for (size_t i = first; i < end; i++) {
        const struct piece *p = &x->pieces.v[i];
        const uint8_t *data = (const uint8_t *)x->p.file.p + p->off;
        if (data[3] % 32 != 2)
            continue;
        const struct ntff_clocks *c = &x->clocks[graph];
        const struct ntff_tick *t =
            p->blob->engine_index < c->n_dma ? &c->dma[p->blob->engine_index] : &c->other;
        for (int last = 0; last < 2; last++) {
            uint64_t ns, at = last ? p->len - NTFF_NOTIF_BYTES : 0;
            if (!ntff_tick_ns(t, ntff_le64(data + at + 8), &ns))
                continue;
            lo = ns < lo ? ns : lo;
            hi = ns > hi ? ns : hi;
        }
    }
    return lo > hi || ntff_device_dma_extent(d, lo, hi);
}

/* Time of a graph's first record, at a guess: blobs are in time order or nearly so. */
static uint64_t first_time(const struct decoder *x, uint32_t graph)
{
    uint64_t first_ns = UINT64_MAX, ns;
    size_t first, end;
    pieces_of(x, graph, &first, &end);
    for (size_t i = first; i < end; i++) {
        const struct piece *p = &x->pieces.v[i];
        struct ntff_notif r = ntff_notif_at((const uint8_t *)x->p.file.p + p->off);
        unsigned type = ntff_notif_type(r.word0);
        struct ntff_blob_ref ref = {
            .clocks = &x->clocks[graph],
            .engine_index = p->blob->engine_index,
            .block_type = p->blob->block_type < 255 ? (uint8_t)p->blob->block_type : 255};
        if (ntff_notif_kinds[type] != NTFF_NK_RESERVED &&
            ntff_tick_ns(ntff_blob_tick(&ref, type), r.ts_ps, &ns))
            first_ns = ns < first_ns ? ns : first_ns;
    }
    return first_ns;
}

static void add_counts(struct decoder *x, const struct ntff_device *d)
{
    struct ntff_counts *c = &ntff_build_trace(x->b)->counts;
    c->records_in += d->counts.records_in - d->n_samples;
    c->pairs += d->counts.pairs;
    c->whole += d->counts.whole;
    c->unfinished += d->counts.unfinished;
    c->start_lost += d->counts.start_lost;
    c->instants += d->counts.instants;
    c->filtered_records += d->n_filtered;
    c->dropped_records += d->n_dropped;
    x->n_dropped += d->n_dropped;
    x->n_reserved += d->n_reserved;
    x->n_bad_time += d->n_bad_time;
    x->sw_marks += d->sw_marks;
    x->hw_marks += d->hw_marks;
}

/* Zero of a core that has no clock: its first execution, else its first record. */
static bool set_zero(struct decoder *x, const struct ntff_device *d)
{
    uint64_t zero = d->first_ns;
    for (size_t i = 0; i < d->execs.n; i++)
        zero = i == 0 || d->execs.v[i].start_ns < zero ? d->execs.v[i].start_ns : zero;
    return zero == UINT64_MAX || ntff_build_device_zero(x->b, x->proc, d->nc, d->core, zero);
}

static bool read_graph(struct decoder *x, const struct place *places, size_t n, uint32_t graph)
{
    const struct ntff_graph *g = &x->p.graphs.v[graph];
    struct ntff_device d = {.b = x->b,
                            .opt = ntff_build_options(x->b),
                            .profile = &x->p,
                            .graph = g,
                            .file = x->file,
                            .proc = x->proc,
                            .clocks = &x->clocks[graph],
                            .nc = places[graph].nc,
                            .core = places[graph].core};
    char where[48];
    snprintf(where, sizeof where, "NC%" PRIu32 ":%" PRIu32, d.nc, d.core);
    bool told = graph < MAX_TOLD;
    size_t first, end;
    pieces_of(x, graph, &first, &end);
    if (told &&
        (!ntff_facts_graph(x->b, x->file, &x->p, graph, where) || !fact_clocks(x, g, where)))
        return false;
    if (first == end)
        return true;
    if (!ntff_build_wants(x->b, x->proc, d.nc)) {
        struct ntff_counts *c = &ntff_build_trace(x->b)->counts;
        for (size_t i = first; i < end; i++) {
            uint64_t records = x->pieces.v[i].len / NTFF_NOTIF_BYTES;
            x->n_records += records;
            c->records_in += records;
            c->filtered_records += records;
        }
        return true;
    }
    d.parent = parent_track(x, places, n, graph);
    bool ok = d.parent != NTFF_NONE && ntff_device_init(&d) == NTFF_OK && dma_extent(x, &d, graph);
    if (ok)
        ntff_device_cut_begin(&d, first_time(x, graph));
    for (size_t i = first; ok && i < end; i++)
        ok = read_piece(x, &d, &x->pieces.v[i]);
    ok = ok && ntff_device_finish(&d) && set_zero(x, &d);
    const struct ntff_core_runs *runs = ntff_cores_find(&x->cores, d.core);
    if (ok && told)
        ok = ntff_facts_core(&d, where, runs ? x->cores.runs.v + runs->first : NULL,
                             runs ? runs->n : 0);
    add_counts(x, &d);
    ntff_device_done(&d);
    return ok;
}

/* -- the file
 * --------------------------------------------------------------------------------------------- */

/* Queue names outlive the profile: details look them up. */
static bool keep_queues(struct decoder *x)
{
    size_t n = x->p.queues.n;
    struct ntff_queue *v =
        ntff_arena_alloc(&ntff_build_trace(x->b)->arena, (n ? n : 1) * sizeof *v);
    if (!v)
        return false;
    if (n)
        memcpy(v, x->p.queues.v, n * sizeof *v);
    for (size_t i = 0; i < x->pieces.n; i++) {
        const struct piece *p = &x->pieces.v[i];
        const struct ntff_graph *g = p->graph < x->p.graphs.n ? &x->p.graphs.v[p->graph] : NULL;
        p->ref->queues = v + (g ? g->first_queue : 0);
        p->ref->n_queues = g ? g->n_queues : 0;
    }
    return true;
}

static void report(struct decoder *x)
{
    const struct ntff_profile *p = &x->p;
    struct ntff_diag *d = diag_of(x);
    uint64_t msg_end = NTFF_HEADER_BYTES + p->msg.len;
    if (p->version > NTFF_VERSION_MAX)
        ntff_diag_add(d, NTFF_DIAG_VERSION, 1, path_of(x), 0, "version %u, supported are 1 to 6",
                      p->version);
    if (p->msg.len < p->msg_len)
        ntff_diag_add(d, NTFF_DIAG_TRUNCATED_FILE, 1, path_of(x), p->file.len,
                      "the message has %" PRIu64 " bytes, %zu are there", p->msg_len, p->msg.len);
    else if (p->runs_len < p->runs_want || p->blobs_len < p->blobs_want)
        ntff_diag_add(d, NTFF_DIAG_TRUNCATED_FILE, 1, path_of(x), p->file.len,
                      "notifications are %" PRIu64 " bytes, %" PRIu64 " are there", p->blobs_want,
                      p->blobs_len);
    if (p->left_over)
        ntff_diag_add(d, NTFF_DIAG_SKIPPED_BYTES, p->left_over, path_of(x),
                      p->file.len - p->left_over, "behind the notification section");
    if (p->gap_bytes)
        ntff_diag_add(d, NTFF_DIAG_SKIPPED_BYTES, p->gap_bytes, path_of(x), p->blobs_off,
                      "between blobs of the notification section");
    if (p->n_over)
        ntff_diag_add(d, NTFF_DIAG_BAD_RECORD, p->n_over, path_of(x), NTFF_NO_OFFSET,
                      "entries of lists longer than any device has");
    if (p->file.len > msg_end && p->graphs.n == 0 && p->msg.len)
        ntff_diag_add(d, NTFF_DIAG_UNDECIDED, 1, path_of(x), NTFF_HEADER_BYTES,
                      "no subgraph could be found in the message");
    else if (p->traces.n && !p->number[NTFF_N_TRACE_SIZE])
        ntff_diag_add(d, NTFF_DIAG_UNDECIDED, 1, path_of(x), NTFF_HEADER_BYTES,
                      "trace_info: no field fits as offset and size; give a schema");
    if (x->n_reserved)
        ntff_diag_add(d, NTFF_DIAG_RESERVED_RECORD, x->n_reserved, path_of(x), NTFF_NO_OFFSET,
                      NULL);
    if (x->n_bad_time)
        ntff_diag_add(d, NTFF_DIAG_BAD_TIME, x->n_bad_time, path_of(x), NTFF_NO_OFFSET,
                      "device records before their block's init time");
    if (x->sw_marks + x->hw_marks)
        ntff_diag_add(d, NTFF_DIAG_QUEUE_OVERFLOW, x->sw_marks + x->hw_marks, path_of(x),
                      NTFF_NO_OFFSET, "%" PRIu64 " software, %" PRIu64 " hardware", x->sw_marks,
                      x->hw_marks);
}

/* Blobs but no subgraph: one is made up, for the core the file name has. */
static bool invent_graph(struct decoder *x)
{
    uint32_t nc = ntff_cores_of_name(path_of(x));
    struct ntff_graph *g = NTFF_VEC_PUSH(x->budget, &x->p.graphs);
    if (!g)
        return false;
    *g = (struct ntff_graph){.nc_idx = nc == NTFF_NONE ? 0 : nc};
    ntff_diag_add(diag_of(x), NTFF_DIAG_CORE_ESTIMATED, 1, path_of(x), NTFF_NO_OFFSET,
                  "no subgraph in the message; core by the file name");
    return true;
}

static bool decode(struct decoder *x)
{
    if (x->p.graphs.n == 0 && x->p.blobs.n && !invent_graph(x))
        return false;
    size_t n = x->p.graphs.n, bytes = 0;
    if (!ntff_facts_file(x->b, x->file, &x->p) ||
        !ntff_cores_load(&x->cores, x->b, x->proc, x->budget) || !make_clocks(x))
        return false;
    if (n == 0)
        return true;
    if (!add_pieces(x) || !add_sources(x) || !ntff_mul_ok(n, sizeof(struct place), &bytes))
        return false;
    struct place *places = ntff_arena_alloc(&ntff_build_trace(x->b)->arena, bytes);
    bool ok = places != NULL;
    if (x->pieces.n)
        qsort(x->pieces.v, x->pieces.n, sizeof *x->pieces.v, graph_cmp);
    for (uint32_t g = 0; ok && g < n; g++)
        ok = place_graph(x, g, &places[g]);
    if (!ok)
        return false;
    if (x->pieces.n)
        place_session(x, places);
    if (!keep_queues(x))
        return false;
    for (uint32_t g = 0; g < n; g++)
        if (!read_graph(x, places, n, g))
            return false;
    return n <= MAX_TOLD || ntff_factf(x->b, x->file, "subgraphs", NULL, "%zu in all", n);
}

enum ntff_status ntff_decode_ntff(struct ntff_builder *b, struct ntff_input *in, uint32_t file,
                                  uint32_t proc, struct ntff_error *err)
{
    struct decoder x = {.b = b, .budget = &ntff_build_trace(b)->budget, .file = file, .proc = proc};
    enum ntff_status status = ntff_profile_parse(
        &x.p, (struct ntff_slice){(const char *)in->data, (size_t)in->len}, ntff_build_schema(b),
        x.budget, ntff_build_diag(b), ntff_build_path(b, file), err);
    if (status == NTFF_OK) {
        bool ok = decode(&x);
        report(&x);
        struct ntff_file *f = ntff_build_file(b, file);
        f->n_records = x.n_records;
        f->n_dropped = x.n_dropped;
        if (!ok)
            status = ntff_build_progress(b, "", 0, 0) ? NTFF_NOMEM : NTFF_CANCELLED;
    }
    NTFF_VEC_FREE(x.budget, &x.pieces);
    ntff_cores_done(&x.cores, x.budget);
    ntff_profile_done(&x.p);
    return status;
}
