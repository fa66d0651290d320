/* device_dma - DMA packets: start and end records into spans, and the counters over all of them.
 *
 * A DMA engine works its queues in order, so the packets of one (engine, queue, direction) are a
 * first-in-first-out list; like the instructions, an open packet is an event in place whose dur_ns
 * links to the next. A lost record would shift every later pair of its queue, so an overflow mark
 * closes what is open.
 *
 * Pending count and throughput are kept per cell of time, at most 65,536 of them: cells are 1 ns,
 * and the counters exact, up to that many ns; longer captures get cells of a power of two ns, and a
 * cell holds the average over it. So the memory is bounded however many packets there are. */
#include "proto/device.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { M2S, S2M };
#define RATE_BITS 32 /* fixed point of bytes per ns: sums of it come back to exactly zero */
enum { RANK_PENDING = 3100, RANK_THROUGHPUT = 3101 };

/* -- cells
 * ------------------------------------------------------------------------------------------- */

bool ntff_device_dma_extent(struct ntff_device *d, uint64_t first_ns, uint64_t last_ns)
{
    struct ntff_cells *c = &d->cells;
    size_t bytes = (NTFF_CELLS + 1) * sizeof *c->cell;
    if (last_ns < first_ns || c->cell)
        return true;
    if (!ntff_budget_take(&ntff_build_trace(d->b)->budget, bytes))
        return false;
    c->begin_ns = first_ns;
    while ((last_ns - first_ns) >> c->shift >= NTFF_CELLS)
        c->shift++;
    c->cell = calloc(NTFF_CELLS + 1, sizeof *c->cell);
    return c->cell != NULL;
}

static void cell_part(struct ntff_cells *c, uint64_t cell, uint64_t ns, double bytes, int direction)
{
    c->cell[cell].part_ns += ns;
    c->cell[cell].bytes[direction] += bytes;
}

void ntff_cells_span(struct ntff_cells *c, uint64_t start_ns, uint64_t stop_ns, uint64_t bytes,
                     int direction)
{
    uint64_t end_ns = c->begin_ns + ((uint64_t)NTFF_CELLS << c->shift);
    if (!c->cell || stop_ns < start_ns || start_ns < c->begin_ns || stop_ns > end_ns)
        return;
    uint64_t first = (start_ns - c->begin_ns) >> c->shift,
             last = (stop_ns - c->begin_ns) >> c->shift;
    uint64_t dur = stop_ns - start_ns, width = UINT64_C(1) << c->shift;
    if (dur == 0 || first == last) {
        cell_part(c, first < NTFF_CELLS ? first : NTFF_CELLS - 1, dur, (double)bytes, direction);
        return;
    }
    uint64_t head = c->begin_ns + (first + 1) * width - start_ns; /* 1 .. width */
    uint64_t tail = stop_ns - (c->begin_ns + last * width);       /* 0 .. width - 1 */
    double per_ns = (double)bytes / (double)dur;
    cell_part(c, first, head, per_ns * (double)head, direction);
    cell_part(c, last, tail, per_ns * (double)tail, direction);
    uint64_t rate = ((bytes << RATE_BITS) + dur / 2) / dur;
    c->cell[first + 1].step++;
    c->cell[last].step--;
    c->cell[first + 1].rate_step[direction] += rate;
    c->cell[last].rate_step[direction] -= rate;
}

static uint32_t counter(struct ntff_device *d, const char *name, int32_t rank, int unit,
                        bool is_double)
{
    struct ntff_track proto = {.kind = NTFF_TRACK_COUNTER,
                               .rank = rank,
                               .process = d->proc,
                               .nc = d->nc,
                               .core = d->core,
                               .unit = (uint8_t)unit,
                               .is_double = is_double};
    if (unit == NTFF_UNIT_BYTES_PER_SEC)
        proto.share_key = ntff_intern(&ntff_build_trace(d->b)->strs, "dma_throughput", 14);
    return proto.share_key == NTFF_STR_NONE ? NTFF_NONE
                                            : ntff_build_track(d->b, d->parent, name, &proto);
}

static bool sample(struct ntff_device *d, uint32_t track, uint64_t cell, double value)
{
    uint64_t ns = d->cells.begin_ns + (cell << d->cells.shift);
    ntff_build_trace(d->b)->counts.samples_in--; /* derived, not read */
    return ntff_build_device_sample(d->b, d->proc, d->nc, d->core, track, ns, llround(value),
                                    value);
}

bool ntff_device_dma_counters(struct ntff_device *d)
{
    static const char *const names[] = {"DMA M2S throughput", "DMA S2M throughput"};
    const struct ntff_cells *c = &d->cells;
    if (!c->cell || d->n_packets == 0)
        return true;
    double width = (double)(UINT64_C(1) << c->shift), pending_was = 0, rate_was[2] = {0, 0};
    int64_t open = 0;
    uint64_t rate[2] = {0, 0};
    uint32_t pending = counter(d, "Pending DMA count", RANK_PENDING, NTFF_UNIT_COUNT, true),
             flow[2];
    for (int k = 0; k < 2; k++)
        flow[k] = counter(d, names[k], RANK_THROUGHPUT + k, NTFF_UNIT_BYTES_PER_SEC, false);
    bool ok = pending != NTFF_NONE && flow[0] != NTFF_NONE && flow[1] != NTFF_NONE;
    for (uint64_t i = 0; ok && i <= NTFF_CELLS; i++) {
        const struct ntff_cell *x = &c->cell[i];
        open += x->step;
        double now = (double)open + (double)x->part_ns / width;
        if (now != pending_was)
            ok = sample(d, pending, i, now);
        pending_was = now;
        for (int k = 0; ok && k < 2; k++) {
            rate[k] += x->rate_step[k];
            double per_sec =
                round((ldexp((double)rate[k], -RATE_BITS) + x->bytes[k] / width) * 1e9);
            if (per_sec != rate_was[k])
                ok = sample(d, flow[k], i, per_sec);
            rate_was[k] = per_sec;
        }
    }
    return ok;
}

/* -- engines and queues
 * ------------------------------------------------------------------------------ */

static struct ntff_dma_engine *engine_of(struct ntff_device *d, const struct ntff_blob_ref *r)
{
    for (size_t i = 0; i < d->dma.n; i++)
        if (d->dma.v[i].index == r->engine_index)
            return &d->dma.v[i];
    struct ntff_dma_engine *e = NTFF_VEC_PUSH(&ntff_build_trace(d->b)->budget, &d->dma);
    if (!e)
        return NULL;
    struct ntff_strtab *strs = &ntff_build_trace(d->b)->strs;
    *e = (struct ntff_dma_engine){
        .index = r->engine_index,
        .bus_track = NTFF_NONE,
        .tick = ntff_blob_tick(r, 2),
        .name = {ntff_intern(strs, "M2S read", 8), ntff_intern(strs, "S2M write", 9)}};
    if (e->name[M2S] == NTFF_STR_NONE || e->name[S2M] == NTFF_STR_NONE)
        return d->dma.n--, NULL;
    for (unsigned q = 0; q < NTFF_N_QUEUES; q++)
        for (int k = 0; k < 2; k++)
            e->fifo[q][k] = (struct ntff_fifo){NTFF_NONE, NTFF_NONE, NTFF_NONE, true};
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

static void start_packet(struct ntff_fifo *f, struct ntff_event *events, uint32_t at, uint64_t ns,
                         struct ntff_ref ref, ntff_str name)
{
    events[at] = (struct ntff_event){.ts_ns = ns,
                                     .dur_ns = NTFF_NONE,
                                     .start_ref = ref,
                                     .stop_ref = {.src = NTFF_SRC_NONE},
                                     .name = name,
                                     .track = f->track,
                                     .cat = NTFF_CAT_DMA,
                                     .flags = NTFF_EV_DEVICE | NTFF_EV_UNFINISHED};
    if (f->head == NTFF_NONE)
        f->head = at;
    else
        events[f->tail].dur_ns = at;
    f->tail = at;
}

static void end_packet(struct ntff_device *d, struct ntff_fifo *f, uint32_t track,
                       struct ntff_event *events, uint64_t ns, struct ntff_ref ref, uint64_t bytes,
                       int k)
{
    struct ntff_event *e = &events[f->head];
    f->head = (uint32_t)e->dur_ns;
    e->stop_ref = ref;
    e->track = track;
    e->flags = NTFF_EV_DEVICE | (ns < e->ts_ns ? NTFF_EV_NEGATIVE : 0);
    e->dur_ns = ns < e->ts_ns ? 0 : ns - e->ts_ns;
    d->n_packets++;
    d->counts.pairs++;
    d->packet_bytes[k] += bytes;
    ntff_cells_span(&d->cells, e->ts_ns, e->ts_ns + e->dur_ns, bytes, k);
    if (ns < e->ts_ns)
        ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_NEGATIVE_DURATION, 1,
                      ntff_build_path(d->b, d->file), NTFF_NO_OFFSET, "DMA packet");
}

static void lone_end(struct ntff_device *d, uint32_t track, struct ntff_event *e, uint64_t ns,
                     struct ntff_ref ref, ntff_str name)
{
    *e = (struct ntff_event){.ts_ns = ns,
                             .start_ref = {.src = NTFF_SRC_NONE},
                             .stop_ref = ref,
                             .name = name,
                             .track = track,
                             .cat = NTFF_CAT_DMA,
                             .flags = NTFF_EV_DEVICE | NTFF_EV_START_LOST | NTFF_EV_EDGES_DRAWN};
    d->counts.start_lost++;
    ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_UNMATCHED_STOP, 1,
                  ntff_build_path(d->b, d->file), NTFF_NO_OFFSET,
                  "DMA packet, drawn without length");
}

/* One record of sub-type M2S or S2M. *used = 1 if events[at] was written. */
static bool packet(struct ntff_device *d, struct ntff_ring *ring, struct ntff_dma_engine *e,
                   struct ntff_notif r, struct ntff_ref ref, uint64_t ns, struct ntff_event *events,
                   uint32_t at, uint32_t *used)
{
    const struct ntff_blob_ref *blob = ring->ref;
    unsigned sub = ntff_dma_type(r, blob->dma_layout), q = ntff_dma_queue(r, blob->dma_layout);
    int k = sub >= NTFF_DMA_S2M_START ? S2M : M2S;
    struct ntff_fifo *own = &e->fifo[q][k];
    /* where starts do not name their queue, packets of a direction follow each other in one list */
    struct ntff_fifo *f = blob->dma_queue_ok ? own : &e->fifo[0][k];
    if (!queue_track(d, blob, q, k, own) || (f != own && !queue_track(d, blob, 0, k, f)))
        return false;
    if (!own->on)
        return d->n_filtered++, true;
    switch (sub - (k ? 3 : 0)) {
    case NTFF_DMA_M2S_START:
        *used = 1;
        start_packet(f, events, at, ns, ref, e->name[k]);
        return true;
    case NTFF_DMA_M2S_END:
        if (f->head == NTFF_NONE) {
            *used = 1;
            lone_end(d, own->track, &events[at], ns, ref, e->name[k]);
        } else {
            uint64_t bytes = blob->dma_layout == NTFF_DMA_WORD1 ? r.word0 & 0xffffff : 0;
            end_packet(d, f, own->track, events, ns, ref, bytes, k);
        }
        return true;
    default:
        return ntff_device_instant(d, own->track, NTFF_CAT_DMA, ntff_dma_name(sub), ns, ref);
    }
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

/* One record at ring position i, already known to be of DMA. */
static bool dma_record(struct ntff_device *d, struct ntff_ring *ring, struct ntff_dma_engine *e,
                       uint64_t i)
{
    uint64_t index = ring->order ? ring->order[i] : i, ns;
    struct ntff_notif r = ntff_notif_at(ring->data + index * NTFF_NOTIF_BYTES);
    struct ntff_ref ref = ntff_ring_ref(d, ring, index);
    if (NTFF_UNLIKELY(!ntff_tick_ns(e->tick, r.ts_ps, &ns)))
        return d->n_bad_time++, d->n_dropped++, true;
    d->first_ns = ns < d->first_ns ? ns : d->first_ns;
    e->last_ns = ns > e->last_ns ? ns : e->last_ns;
    if (NTFF_UNLIKELY(r.word0 & (NTFF_NOTIF_SW_OVERFLOW | NTFF_NOTIF_HW_OVERFLOW))) {
        if (!ntff_device_other(d, ring, i))
            return false;
        ntff_device_dma_close(d, e);
    }
    unsigned sub = ntff_dma_type(r, ring->ref->dma_layout);
    if (sub >= NTFF_DMA_AXI_REQ)
        return bus_record(d, e, sub, ns, ref);
    size_t at;
    uint32_t used = 0;
    struct ntff_event *events = ntff_build_room(d->b, 1, &at);
    return events && packet(d, ring, e, r, ref, ns, events, (uint32_t)at, &used) &&
           (!used || ntff_build_filled(d->b, d->proc, d->nc, d->core, 1));
}

bool ntff_device_dma(struct ntff_device *d, struct ntff_ring *ring, uint64_t first, uint64_t n)
{
    if (d->opt->no_dma)
        return d->n_filtered += n, true;
    if (ring->ref->dma_layout == NTFF_DMA_UNDECIDED)
        return undecoded(d, ring, n);
    struct ntff_dma_engine *e = engine_of(d, ring->ref);
    if (!e)
        return false;
    for (uint64_t i = first; i < first + n; i++) {
        if (!dma_record(d, ring, e, i))
            return false;
        if ((i + 1) % 65536 == 0 && !ntff_build_progress(d->b, "DMA records", i, ring->n))
            return false;
    }
    return true;
}
