/* device_dma - DMA packets: start and end records into spans.
 *
 * A DMA engine works its queues in order, so the packets of one (engine, queue, direction) are a
 * first-in-first-out list; like the instructions, an open packet is an event in place whose dur_ns
 * links to the next. A lost record would shift every later pair of its queue, so an overflow mark
 * closes what is open. One byte of a record holds sub-type and queue: a table over it says what to
 * do with the record and in which list.
 *
 * Records are taken a few at a time in three short loops: starts and ends apart, starts into lists,
 * ends to the heads of the lists. An end knows how many starts came before it, so the result is
 * that of one record after the other. */
#include "proto/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RARE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

enum { M2S, S2M };
enum { TELL_EVERY = 1 << 16 }; /* records */
enum { CHUNK = 96 }; /* records at a time: what is noted of them stays in the nearest cache */

/* -- engines and queues
 * ------------------------------------------------------------------------------ */

static struct ntff_dma_engine *engine_of(struct ntff_device *d, const struct ntff_blob_ref *r)
{
    struct ntff_budget *budget = &ntff_build_trace(d->b)->budget;
    struct ntff_strtab *strs = &ntff_build_trace(d->b)->strs;
    struct ntff_dma_engine *e = NULL;
    for (size_t i = 0; i < d->dma.n && !e; i++)
        e = d->dma.v[i]->index == r->engine_index ? d->dma.v[i] : NULL;
    if (!e) {
        struct ntff_dma_engine **at = NTFF_VEC_PUSH(budget, &d->dma);
        if (!at || !(*at = e = calloc(1, sizeof *e)))
            return at ? d->dma.n--, NULL : NULL;
        *e = (struct ntff_dma_engine){
            .index = r->engine_index,
            .bus_track = NTFF_NONE,
            .tick = ntff_blob_tick(r, 2),
            .name = {ntff_intern(strs, "M2S read", 8), ntff_intern(strs, "S2M write", 9)}};
        for (unsigned q = 0; q < NTFF_N_QUEUES; q++)
            for (int k = 0; k < 2; k++)
                e->fifo[q][k] = (struct ntff_fifo){NTFF_NONE, NTFF_NONE, NTFF_NONE, true};
        if (e->name[M2S] == NTFF_STR_NONE || e->name[S2M] == NTFF_STR_NONE)
            return NULL;
    }
    if (e->dma_layout != r->dma_layout || e->queue_ok != r->dma_queue_ok)
        memset(e->what, NTFF_LANE_NEW, sizeof e->what);
    e->dma_layout = r->dma_layout;
    e->queue_ok = r->dma_queue_ok;
    return e;
}

static uint32_t dma_track(struct ntff_device *d, const char *name, int32_t rank)
{
    struct ntff_track proto = {
        .kind = NTFF_TRACK_GROUP, .rank = 3000, .process = d->proc, .nc = d->nc, .core = d->core};
    if (d->dma_group == NTFF_NONE)
        d->dma_group = ntff_build_track(d->b, d->parent, "DMA", &proto);
    if (d->dma_group == NTFF_NONE)
        return NTFF_NONE;
    proto.kind = NTFF_TRACK_DMA;
    proto.rank = rank;
    proto.flat = true;
    return ntff_build_track(d->b, d->dma_group, name, &proto);
}

static void engine_text(uint32_t index, char out[16])
{
    if (index == UINT32_MAX)
        snprintf(out, 16, "E?");
    else
        snprintf(out, 16, "E%" PRIu32, index);
}

/* "qSyncIO0-Q3-E5 M2S", the viewer's own way to name a queue [AWS:IMG]. */
static bool queue_track(struct ntff_device *d, const struct ntff_blob_ref *r, unsigned q, int k,
                        struct ntff_fifo *f)
{
    const struct ntff_queue *queue = ntff_blob_queue(r, q);
    char e[16], number[16], name[160], text[96] = "";
    if (f->track != NTFF_NONE)
        return true;
    if (queue)
        snprintf(text, sizeof text, "%.*s", queue->name.len < 80 ? (int)queue->name.len : 80,
                 queue->name.p);
    engine_text(r->engine_index, e);
    snprintf(number, sizeof number, "Q%u", q);
    snprintf(name, sizeof name, "%s%sQ%u-%s %s", text, *text ? "-" : "", q, e, k ? "S2M" : "M2S");
    f->on = ntff_device_listed(d->opt->filter_queue, number, text);
    if (d->opt->filter_queue &&
        !ntff_build_met(d->b, NTFF_FILTER_QUEUE, *text ? text : number, f->on))
        return false;
    f->track = dma_track(d, name, (int32_t)((r->engine_index & 0xffff) * 40 + q * 2 + (unsigned)k));
    return f->track != NTFF_NONE;
}

/* Records of the bus side name no queue. */
static bool bus_record(struct ntff_device *d, struct ntff_dma_engine *e, unsigned sub, uint64_t ns,
                       struct ntff_ref ref)
{
    char text[16], name[32];
    engine_text(e->index, text);
    snprintf(name, sizeof name, "%s bus", text);
    if (e->bus_track == NTFF_NONE)
        e->bus_track = dma_track(d, name, (int32_t)((e->index & 0xffff) * 40 + 39));
    return ntff_device_instant(d, e->bus_track, NTFF_CAT_DMA, ntff_dma_name(sub), ns, ref);
}

/* -- packets
 * ------------------------------------------------------------------------------------------ */

static void abandon(struct ntff_device *d, struct ntff_fifo *f, uint64_t end_ns)
{
    struct ntff_event *events = ntff_build_events(d->b);
    uint64_t n = 0;
    for (uint32_t i = f->head; i != NTFF_NONE; n++) {
        uint32_t next = (uint32_t)events[i].dur_ns;
        events[i].dur_ns = end_ns > events[i].ts_ns ? end_ns - events[i].ts_ns : 0;
        events[i].flags |= NTFF_EV_EDGES_DRAWN;
        ntff_cells_add(&d->cells, NTFF_FLOW_M2S, events[i].ts_ns, ntff_event_end(&events[i]), 0);
        i = next;
    }
    f->head = f->tail = NTFF_NONE;
    d->counts.unfinished += n;
    if (n)
        ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_UNMATCHED_START, n,
                      ntff_build_path(d->b, d->file), NTFF_NO_OFFSET, "DMA packets");
}

void ntff_device_dma_close(struct ntff_device *d, struct ntff_dma_engine *e)
{
    for (unsigned q = 0; q < NTFF_N_QUEUES; q++)
        for (int k = 0; k < 2; k++)
            abandon(d, &e->fifo[q][k], e->last_ns);
}

static RARE void backward(struct ntff_device *d, struct ntff_event *e)
{
    e->dur_ns = 0;
    e->flags |= NTFF_EV_NEGATIVE;
    ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_NEGATIVE_DURATION, 1,
                  ntff_build_path(d->b, d->file), NTFF_NO_OFFSET, "DMA packet");
}

static RARE void lone_end(struct ntff_device *d, const struct ntff_dma_lane *lane,
                          struct ntff_event *e, uint64_t ns, struct ntff_ref ref)
{
    *e = (struct ntff_event){.ts_ns = ns,
                             .start_ref = {.src = NTFF_SRC_NONE},
                             .stop_ref = ref,
                             .name = lane->fresh.name,
                             .track = lane->fresh.track,
                             .cat = NTFF_CAT_DMA,
                             .flags = NTFF_EV_DEVICE | NTFF_EV_START_LOST | NTFF_EV_EDGES_DRAWN};
    d->counts.start_lost++;
    ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_UNMATCHED_STOP, 1,
                  ntff_build_path(d->b, d->file), NTFF_NO_OFFSET,
                  "DMA packet, drawn without length");
}

/* What to do with records whose byte is b, once the first of them is there. */
static bool open_lane(struct ntff_device *d, const struct ntff_ring *ring,
                      struct ntff_dma_engine *e, unsigned b)
{
    struct ntff_dma_lane *lane = &e->lane[b];
    unsigned sub = b & 15, q = b >> 4;
    e->what[b] = NTFF_LANE_OTHER;
    if (sub >= NTFF_DMA_AXI_REQ)
        return true;
    int k = sub >= NTFF_DMA_S2M_START ? S2M : M2S;
    struct ntff_fifo *own = &e->fifo[q][k];
    if (!queue_track(d, ring->ref, q, k, own))
        return false;
    /* where starts do not name their queue, packets of a direction follow each other in one list */
    lane->list = e->queue_ok ? own : &e->fifo[0][k];
    lane->fresh = (struct ntff_event){.dur_ns = NTFF_NONE,
                                      .stop_ref = {.src = NTFF_SRC_NONE},
                                      .name = e->name[k],
                                      .track = own->track,
                                      .cat = NTFF_CAT_DMA,
                                      .flags = NTFF_EV_DEVICE | NTFF_EV_UNFINISHED};
    lane->direction = (uint8_t)k;
    e->what[b] = !own->on                             ? NTFF_LANE_OFF
                 : sub - 3u * k == NTFF_DMA_M2S_START ? NTFF_LANE_START
                 : sub - 3u * k == NTFF_DMA_M2S_END   ? NTFF_LANE_END
                                                      : NTFF_LANE_OTHER;
    return true;
}

/* -- rings
 * -------------------------------------------------------------------------------------------- */

/* A blob that does not say what its records are: one span over its time, and a loss. */
static bool undecoded(struct ntff_device *d, struct ntff_ring *ring, uint64_t n)
{
    uint64_t lo, hi;
    const struct ntff_tick *t = ntff_blob_tick(ring->ref, 2);
    d->n_dropped += n;
    if (ring->undecoded)
        return true;
    ring->undecoded = true;
    ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_UNDECODED_BLOB, 1,
                  ntff_build_path(d->b, d->file), NTFF_NO_OFFSET,
                  "DMA, %" PRIu64 " records: no place for the sub-type fits them all",
                  ring->look.of_type[2]);
    if (!ntff_tick_ns(t, ring->look.min_ps, &lo) || !ntff_tick_ns(t, ring->look.max_ps, &hi))
        return true;
    struct ntff_event e = {.ts_ns = lo,
                           .dur_ns = hi - lo,
                           .start_ref = ntff_ring_ref(d, ring, 0),
                           .stop_ref = {.src = NTFF_SRC_NONE},
                           .track = ntff_device_events(d),
                           .name = ntff_intern(&ntff_build_trace(d->b)->strs, "undecoded DMA", 13),
                           .cat = NTFF_CAT_DMA,
                           .flags = NTFF_EV_DEVICE};
    d->first_ns = lo < d->first_ns ? lo : d->first_ns;
    d->counts.whole++;
    d->counts.records_in++; /* a span of ours over all of them */
    return e.track != NTFF_NONE && e.name != NTFF_STR_NONE && ntff_device_add(d, &e);
}

/* Byte that holds sub-type and queue. */
static inline unsigned lane_byte_at(const struct ntff_dma_engine *e)
{
    return e->dma_layout == NTFF_DMA_WORD0 ? 0 : 4;
}

/* A record of a run that starts or ends a packet. */
struct half {
    uint64_t ns;
    uint32_t off;    /* as in a ref */
    uint16_t before; /* ends: starts of the run that came before */
    uint8_t lane;
};
/* A run of records, starts and ends apart. */
struct sorted {
    struct half start[CHUNK + 1], end[CHUNK + 1];
    size_t n_starts, n_ends, n_bad, n_skipped;
};

/* Takes up to CHUNK starts and ends apart, skipping what is filtered out, from record i on. Stops
 * at any other, returning its place. The first may carry overflow bits, already dealt with.
 *
 * On a busy engine nothing foretells whether the next record starts or ends a packet, and a jump
 * that is guessed wrong every other time costs more than all the rest. So there is none: where a
 * record goes is computed. */
INLINE uint64_t take_apart(const struct ntff_ring *ring, struct ntff_dma_engine *e, uint64_t i,
                           uint64_t stop, bool simple, struct sorted *out)
{
    uint64_t last_ns = e->last_ns, init = e->tick->init;
    unsigned byte = lane_byte_at(e), marks = 0;
    struct half *start = out->start, *end = out->end;
    out->n_bad = out->n_skipped = 0;
    for (stop = stop - i < CHUNK ? stop : i + CHUNK; i < stop; i++, marks = 0x60) {
        uint64_t index = simple ? i : ring->order ? ring->order[i] : i, ns;
        const uint8_t *p = ring->data + index * NTFF_NOTIF_BYTES;
        unsigned what = e->what[p[byte]];
        if (NTFF_UNLIKELY(what > NTFF_LANE_END || p[3] & marks)) {
            if (what != NTFF_LANE_OFF || p[3] & marks)
                break;
            out->n_skipped++;
            continue;
        }
        uint64_t ts_ps = ntff_le64(p + 8);
        bool good = simple ? ts_ps >= init : ntff_tick_ns(e->tick, ts_ps, &ns);
        if (simple)
            ns = (ts_ps - init) / 1000;
        if (NTFF_UNLIKELY(!good)) {
            out->n_bad++;
            continue;
        }
        last_ns = ns;
        struct half *h = what ? end : start;
        *h = (struct half){ns, ring->ref->begin + (uint32_t)(index * NTFF_NOTIF_BYTES),
                           (uint16_t)(start - out->start), p[byte]};
        start += !what;
        end += what;
    }
    e->last_ns = last_ns > e->last_ns ? last_ns : e->last_ns;
    out->n_starts = (size_t)(start - out->start);
    out->n_ends = (size_t)(end - out->end);
    return i;
}

/* Starts become events from events[first] on, each at the end of its list. */
static void open_packets(const struct ntff_device *d, struct ntff_dma_engine *e,
                         struct ntff_event *events, size_t first, const struct sorted *s)
{
    for (size_t k = 0; k < s->n_starts; k++) {
        const struct half *h = &s->start[k];
        const struct ntff_dma_lane *lane = &e->lane[h->lane];
        struct ntff_fifo *list = lane->list;
        uint32_t at = (uint32_t)(first + k);
        bool empty = list->head == NTFF_NONE; /* then it is linked from itself, with nothing */
        events[at] = lane->fresh;
        events[at].ts_ns = h->ns;
        events[at].start_ref = (struct ntff_ref){h->off, d->src};
        events[empty ? at : list->tail].dur_ns = empty ? NTFF_NONE : at;
        list->head = empty ? at : list->head;
        list->tail = at;
    }
}

/* Every end completes the oldest packet of its list that was started before it; those that find
 * none follow at events[next]. Returns how many these are. */
static size_t close_packets(struct ntff_device *d, const struct ntff_ring *ring,
                            struct ntff_dma_engine *e, struct ntff_event *events, size_t first,
                            const struct sorted *s)
{
    const struct ntff_cells cells = d->cells;
    const uint8_t *data = ring->data - ring->ref->begin;
    uint32_t byte_mask = e->dma_layout == NTFF_DMA_WORD1 ? 0xffffff : 0;
    uint64_t total[2] = {0, 0};
    size_t lone = 0;
    for (size_t k = 0; k < s->n_ends; k++) {
        const struct half *h = &s->end[k];
        const struct ntff_dma_lane *lane = &e->lane[h->lane];
        struct ntff_ref ref = {h->off, d->src};
        uint64_t ns = h->ns, bytes = ntff_le32(data + h->off) & byte_mask;
        uint32_t head = lane->list->head;
        if (NTFF_UNLIKELY(head >= first + h->before)) {
            lone_end(d, lane, &events[first + s->n_starts + lone++], ns, ref);
            continue;
        }
        struct ntff_event *x = &events[head];
        uint64_t began = x->ts_ns;
        lane->list->head = (uint32_t)x->dur_ns;
        x->stop_ref = ref;
        x->track = lane->fresh.track; /* a start may not have named its queue */
        x->lane = 0;
        x->cat = NTFF_CAT_DMA;
        x->flags = NTFF_EV_DEVICE;
        x->dur_ns = ns - began;
        if (NTFF_UNLIKELY(ns < began)) {
            backward(d, x);
            ns = began;
        }
        ntff_cells_add(&cells, NTFF_FLOW_M2S + lane->direction, began, ns, bytes);
        total[lane->direction] += bytes;
    }
    d->n_packets += s->n_ends - lone;
    d->counts.pairs += s->n_ends - lone;
    d->packet_bytes[M2S] += total[M2S];
    d->packet_bytes[S2M] += total[S2M];
    return lone;
}

/* The next run of starts and ends from *at on. Returns how many events were written from
 * events[first] on. */
static size_t run(struct ntff_device *d, const struct ntff_ring *ring, struct ntff_dma_engine *e,
                  struct ntff_event *events, size_t first, uint64_t *at, uint64_t stop)
{
    const struct ntff_tick *t = e->tick;
    bool simple = !ring->order && t->expected == t->actual && t->ticks_per_ns == 1000;
    struct sorted s;
    *at = simple ? take_apart(ring, e, *at, stop, true, &s)
                 : take_apart(ring, e, *at, stop, false, &s);
    open_packets(d, e, events, first, &s);
    size_t lone = close_packets(d, ring, e, events, first, &s);
    d->n_bad_time += s.n_bad;
    d->n_dropped += s.n_bad;
    d->n_filtered += s.n_skipped;
    return s.n_starts + lone;
}

/* A record that is no start or end: completions, the bus side, what is filtered out. */
static bool other(struct ntff_device *d, struct ntff_dma_engine *e, const uint8_t *p,
                  struct ntff_ref ref)
{
    const struct ntff_dma_lane *lane = &e->lane[p[lane_byte_at(e)]];
    unsigned sub = p[lane_byte_at(e)] & 15;
    uint64_t ns;
    if (e->what[p[lane_byte_at(e)]] == NTFF_LANE_OFF)
        return d->n_filtered++, true;
    if (!ntff_tick_ns(e->tick, ntff_le64(p + 8), &ns))
        return d->n_bad_time++, d->n_dropped++, true;
    d->first_ns = ns < d->first_ns ? ns : d->first_ns;
    if (sub >= NTFF_DMA_AXI_REQ)
        return bus_record(d, e, sub, ns, ref);
    return ntff_device_instant(d, lane->fresh.track, NTFF_CAT_DMA, ntff_dma_name(sub), ns, ref);
}

/* Marks of a record, and the end of what was open: pairs after it must not shift. */
static bool overflow(struct ntff_device *d, struct ntff_ring *ring, struct ntff_dma_engine *e,
                     uint64_t i, const uint8_t *p)
{
    uint64_t ns;
    if (ntff_tick_ns(e->tick, ntff_le64(p + 8), &ns) && ns > e->last_ns)
        e->last_ns = ns;
    ntff_device_dma_close(d, e);
    return ntff_device_other(d, ring, i);
}

static bool read_dma(struct ntff_device *d, struct ntff_ring *ring, struct ntff_dma_engine *e,
                     uint64_t i, uint64_t stop)
{
    for (uint64_t told = i; i < stop;) {
        uint64_t index = ring->order ? ring->order[i] : i;
        const uint8_t *p = ring->data + index * NTFF_NOTIF_BYTES;
        unsigned byte = p[lane_byte_at(e)];
        if (d->cut.on && !ntff_device_cut_step(d))
            return false;
        if (e->what[byte] == NTFF_LANE_NEW && !open_lane(d, ring, e, byte))
            return false;
        if (p[3] & 0x60 && !overflow(d, ring, e, i, p))
            return false;
        if (e->what[byte] > NTFF_LANE_END) {
            if (!other(d, e, p, ntff_ring_ref(d, ring, index)))
                return false;
            i++;
            continue;
        }
        size_t first;
        struct ntff_event *events = ntff_build_room(d->b, CHUNK, &first);
        if (!events)
            return false;
        size_t n = run(d, ring, e, events, first, &i, stop);
        if (!ntff_build_filled(d->b, d->proc, d->nc, d->core, n))
            return false;
        if (i - told >= TELL_EVERY) {
            told = i;
            if (!ntff_build_progress(d->b, "DMA records", i, ring->n))
                return false;
        }
    }
    return true;
}

/* First time of a ring; counters that nobody has set up yet run over it alone. */
static bool begin_ring(struct ntff_device *d, const struct ntff_ring *ring,
                       const struct ntff_dma_engine *e)
{
    uint64_t lo, hi;
    if (!ntff_tick_ns(e->tick, ring->look.min_ps, &lo))
        lo = 0;
    else if (lo < d->first_ns)
        d->first_ns = lo;
    if (d->cells.cell)
        return true;
    if (!ntff_tick_ns(e->tick, ring->look.max_ps, &hi))
        hi = lo;
    return ntff_device_dma_extent(d, lo, hi);
}

bool ntff_device_dma(struct ntff_device *d, struct ntff_ring *ring, uint64_t first, uint64_t n)
{
    if (d->opt->no_dma)
        return d->n_filtered += n, true;
    if (ring->ref->dma_layout == NTFF_DMA_UNDECIDED)
        return undecoded(d, ring, n);
    struct ntff_dma_engine *e = engine_of(d, ring->ref);
    if (!e || !begin_ring(d, ring, e))
        return false;
    return read_dma(d, ring, e, first, first + n);
}
