/* device_instr - instruction starts and ends into spans: the hot loop of a device profile.
 *
 * A start becomes an event at once, in place, at the end of the builder's array; its end completes
 * it there. So nothing is copied and nothing is kept beside the 40 bytes of the event: while a span
 * is open its dur_ns holds the index of the next open one of the same program counter. The table of
 * program counters gives a span's name and the oldest open one in one look-up.
 *
 * Engines work on several instructions at once (matrix multiplications about four deep), so a start
 * is not simply closed by the next end: the end with its program counter closes the oldest open
 * start with that counter. Where an end was lost - an overflow, the next execution begins - the
 * open ones are of an older epoch than the new start: they are closed there and marked unfinished,
 * so that one lost record does not shift every later pair. */
#include "proto/device.h"

#include <inttypes.h>
#include <stdlib.h>

#define RARE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline))

enum { CHUNK = 4096 };

/* What to do with a record, by its byte 3 (type, overflow bits, phase). */
enum {
    DO_START,
    DO_END,
    DO_OTHER,
    DO_SKIP,
    DO_DMA,
    DO_MARK = 8 /* a bit: an overflow mark first */
};

/* A ring made ready: per engine code its stream and clock, per byte 3 what to do. */
struct plan {
    struct ntff_stream *stream[NTFF_N_ENGINES];
    const struct ntff_tick *tick[NTFF_N_ENGINES];
    uint64_t init[NTFF_N_ENGINES]; /* of the tick */
    bool plain;                    /* no tick changes the rate: ns = (ps - init) / 1000 */
    uint8_t action[256];
};

static bool make_plan(struct ntff_device *d, const struct ntff_ring *ring, struct plan *plan)
{
    plan->plain = true;
    for (unsigned e = 0; e < NTFF_N_ENGINES; e++) {
        const struct ntff_tick *t = plan->tick[e] = ntff_blob_tick(ring->ref, 4 + 4 * e);
        plan->init[e] = t->init;
        plan->plain &= t->expected == t->actual && t->ticks_per_ns == 1000;
        if (!(plan->stream[e] = ntff_device_stream(d, ring->ref, 4 + 4 * e)))
            return false;
    }
    for (unsigned b = 0; b < 256; b++) {
        unsigned type = b & 31;
        int kind = ntff_notif_kinds[type];
        bool mark = b & 0x60;
        plan->action[b] = kind == NTFF_NK_DMA ? DO_DMA : DO_OTHER;
        if ((kind == NTFF_NK_SEM || kind == NTFF_NK_AXI_SEM) && d->opt->no_semaphores && !mark)
            plan->action[b] = DO_SKIP;
        if (kind != NTFF_NK_START && kind != NTFF_NK_END)
            continue;
        bool off = !plan->stream[ntff_notif_engine(type)]->on || d->opt->no_instructions;
        unsigned what = off ? DO_SKIP : kind == NTFF_NK_START ? DO_START : DO_END;
        plan->action[b] = (uint8_t)(what | (mark ? DO_MARK : 0));
    }
    return true;
}

static struct ntff_pc *new_page(struct ntff_device *d, struct ntff_stream *s, uint32_t pc)
{
    if (!ntff_budget_take(&ntff_build_trace(d->b)->budget, NTFF_PC_PAGE * sizeof(struct ntff_pc)))
        return NULL;
    struct ntff_pc *page = malloc(NTFF_PC_PAGE * sizeof *page);
    if (page)
        s->page[pc / NTFF_PC_PAGE] = memcpy(page, d->no_page, NTFF_PC_PAGE * sizeof *page);
    return page;
}

/* Entry of a program counter, named. NULL: no memory. */
static RARE struct ntff_pc *slow_pc(struct ntff_device *d, struct ntff_stream *s, uint32_t pc)
{
    if (s->page[pc / NTFF_PC_PAGE] == d->no_page && !new_page(d, s, pc))
        return NULL;
    struct ntff_pc *e = &s->page[pc / NTFF_PC_PAGE][pc % NTFF_PC_PAGE];
    if (e->name == NTFF_STR_NONE)
        e->name = ntff_internf(&ntff_build_trace(d->b)->strs, "%s pc %" PRIu32, s->label, pc);
    return e->name == NTFF_STR_NONE || !ntff_device_stream_track(d, s) ? NULL : e;
}

INLINE struct ntff_pc *pc_of(struct ntff_device *d, struct ntff_stream *s, uint32_t pc)
{
    struct ntff_pc *e = &s->page[pc / NTFF_PC_PAGE][pc % NTFF_PC_PAGE];
    return NTFF_LIKELY(e->name != NTFF_STR_NONE) ? e : slow_pc(d, s, pc);
}

/* Closes every open span of a program counter at end_ns, unfinished. */
static RARE void abandon(struct ntff_device *d, struct ntff_stream *s, struct ntff_pc *e,
                         struct ntff_event *events, uint64_t end_ns)
{
    uint64_t n = 0;
    for (uint32_t i = e->head; i != NTFF_NONE; n++) {
        uint32_t next = (uint32_t)events[i].dur_ns;
        events[i].dur_ns = end_ns > events[i].ts_ns ? end_ns - events[i].ts_ns : 0;
        events[i].flags |= NTFF_EV_EDGES_DRAWN;
        i = next;
    }
    e->head = e->tail = NTFF_NONE;
    s->n_open -= (uint32_t)n;
    if (s->n_open == 0 && end_ns > s->busy_ns)
        s->active_ns += end_ns - s->busy_ns;
    s->n_unfinished += n;
    ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_UNMATCHED_START, n,
                  ntff_build_path(d->b, d->file), NTFF_NO_OFFSET, "%s",
                  ntff_text(&ntff_build_trace(d->b)->strs, e->name));
}

void ntff_stream_close(struct ntff_device *d, struct ntff_stream *s)
{
    struct ntff_event *events = ntff_build_events(d->b);
    for (size_t i = 0; s->n_open && i < NTFF_ARRAY_LEN(s->page); i++)
        for (size_t k = 0; s->page[i] != d->no_page && k < NTFF_PC_PAGE; k++)
            if (s->page[i][k].head != NTFF_NONE)
                abandon(d, s, &s->page[i][k], events, s->last_ns);
}

/* An end without a start: a point on the row, so that it claims no time nobody measured. */
static RARE void lone_end(struct ntff_device *d, struct ntff_stream *s, struct ntff_event *e,
                          const struct ntff_pc *pc, uint64_t ns, struct ntff_ref ref)
{
    *e = (struct ntff_event){.ts_ns = ns,
                             .start_ref = {.src = NTFF_SRC_NONE},
                             .stop_ref = ref,
                             .name = pc->name,
                             .track = s->track,
                             .cat = NTFF_CAT_INSTR,
                             .flags = NTFF_EV_DEVICE | NTFF_EV_START_LOST | NTFF_EV_EDGES_DRAWN};
    s->n_start_lost++;
    ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_UNMATCHED_STOP, 1,
                  ntff_build_path(d->b, d->file), NTFF_NO_OFFSET, "%s, drawn without length",
                  ntff_text(&ntff_build_trace(d->b)->strs, pc->name));
}

static RARE void backward(struct ntff_device *d, struct ntff_event *e)
{
    e->dur_ns = 0;
    e->flags |= NTFF_EV_NEGATIVE;
    ntff_diag_add(ntff_build_diag(d->b), NTFF_DIAG_NEGATIVE_DURATION, 1,
                  ntff_build_path(d->b, d->file), NTFF_NO_OFFSET, "%s",
                  ntff_text(&ntff_build_trace(d->b)->strs, e->name));
}

/* Writes a start at events[at]. */
INLINE void open_span(struct ntff_device *d, struct ntff_stream *s, struct ntff_pc *pc,
                      struct ntff_event *events, uint32_t at, uint64_t ns, struct ntff_ref ref,
                      uint32_t epoch)
{
    if (NTFF_UNLIKELY(pc->head != NTFF_NONE && pc->epoch != epoch))
        abandon(d, s, pc, events, ns);
    events[at] = (struct ntff_event){.ts_ns = ns,
                                     .dur_ns = NTFF_NONE,
                                     .start_ref = ref,
                                     .stop_ref = {.src = NTFF_SRC_NONE},
                                     .name = pc->name,
                                     .track = s->track,
                                     .cat = NTFF_CAT_INSTR,
                                     .flags = NTFF_EV_DEVICE | NTFF_EV_UNFINISHED};
    if (pc->head == NTFF_NONE)
        pc->head = at;
    else
        events[pc->tail].dur_ns = at;
    pc->tail = at;
    pc->epoch = epoch;
    if (s->n_open++ == 0)
        s->busy_ns = ns;
}

INLINE void close_span(struct ntff_device *d, struct ntff_stream *s, struct ntff_pc *pc,
                       struct ntff_event *events, uint64_t ns, struct ntff_ref ref)
{
    struct ntff_event *e = &events[pc->head];
    pc->head = (uint32_t)e->dur_ns;
    e->stop_ref = ref;
    e->flags = NTFF_EV_DEVICE;
    e->dur_ns = ns - e->ts_ns;
    s->n_spans++;
    if (--s->n_open == 0)
        s->active_ns += ns - s->busy_ns;
    if (NTFF_UNLIKELY(ns < e->ts_ns))
        backward(d, e);
}

/* Up to CHUNK records from *at on, until one is not a plain start or end, nor to be skipped; the
 * first one may carry an overflow bit, already dealt with. Returns how many events were written
 * from events[first] on; -1 = no memory. simple: records as they lie, and a plain clock. */
INLINE int64_t run(struct ntff_device *d, const struct ntff_ring *ring, const struct plan *plan,
                   struct ntff_event *events, size_t first, uint64_t *at, bool simple)
{
    uint64_t i = *at, stop = ring->n - i < CHUNK ? ring->n : i + CHUNK;
    uint64_t last[NTFF_N_ENGINES] = {0}, bad_times = 0, skipped = 0;
    unsigned mask = ~(unsigned)DO_MARK;
    const uint8_t *data = ring->data;
    uint32_t ref_base = ring->ref->begin;
    uint16_t src = d->src;
    size_t next = first;
    for (; i < stop; i++, mask = UINT32_MAX) {
        uint64_t index = simple ? i : ring->order ? ring->order[i] : i, ns;
        const uint8_t *p = data + index * NTFF_NOTIF_BYTES;
        unsigned what = plan->action[p[3]] & mask, engine = ntff_notif_engine(p[3] & 31);
        if (NTFF_UNLIKELY(what > DO_END)) {
            if (what != DO_SKIP)
                break;
            skipped++;
            continue;
        }
        struct ntff_notif r = ntff_notif_at(p);
        struct ntff_stream *s = plan->stream[engine];
        struct ntff_pc *pc = pc_of(d, s, ntff_notif_pc(r.word0));
        if (NTFF_UNLIKELY(!pc))
            return -1;
        bool good =
            simple ? r.ts_ps >= plan->init[engine] : ntff_tick_ns(plan->tick[engine], r.ts_ps, &ns);
        if (simple)
            ns = (r.ts_ps - plan->init[engine]) / 1000;
        if (NTFF_UNLIKELY(!good)) {
            bad_times++;
            continue;
        }
        last[engine] = ns;
        struct ntff_ref ref = {ref_base + (uint32_t)(index * NTFF_NOTIF_BYTES), src};
        if (__builtin_expect_with_probability(what == DO_START, 1, 0.5))
            open_span(d, s, pc, events, (uint32_t)next++, ns, ref,
                      (r.word1 & 0xffff) | s->epoch << 16);
        else if (NTFF_UNLIKELY(pc->head == NTFF_NONE))
            lone_end(d, s, &events[next++], pc, ns, ref);
        else
            close_span(d, s, pc, events, ns, ref);
    }
    for (unsigned e = 0; e < NTFF_N_ENGINES; e++)
        if (last[e] > plan->stream[e]->last_ns)
            plan->stream[e]->last_ns = last[e];
    d->n_bad_time += bad_times;
    d->n_dropped += bad_times;
    d->n_filtered += skipped;
    *at = i;
    return (int64_t)(next - first);
}

static void note_first(struct ntff_device *d, const struct ntff_ring *ring)
{
    for (uint64_t i = 0; i < ring->n && i < 64; i++) {
        uint64_t index = ring->order ? ring->order[i] : i, ns;
        struct ntff_notif r = ntff_notif_at(ring->data + index * NTFF_NOTIF_BYTES);
        unsigned type = ntff_notif_type(r.word0);
        if (ntff_notif_kinds[type] == NTFF_NK_RESERVED ||
            !ntff_tick_ns(ntff_blob_tick(ring->ref, type), r.ts_ps, &ns))
            continue;
        d->first_ns = ns < d->first_ns ? ns : d->first_ns;
        struct ntff_stream *s =
            ntff_notif_has_engine(type) ? ntff_device_stream(d, ring->ref, type) : NULL;
        if (s && ns < s->first_ns)
            s->first_ns = ns;
    }
}

/* A record that is no start or end to be kept. */
static bool one_record(struct ntff_device *d, struct ntff_ring *ring, unsigned what, uint64_t i)
{
    if ((what & ~(unsigned)DO_MARK) == DO_SKIP) {
        d->n_filtered++;
        return !(what & DO_MARK) || ntff_device_other(d, ring, i);
    }
    return what == DO_DMA ? ntff_device_dma(d, ring, i, 1) : ntff_device_other(d, ring, i);
}

bool ntff_device_instructions(struct ntff_device *d, struct ntff_ring *ring)
{
    struct plan plan;
    if (!make_plan(d, ring, &plan))
        return false;
    note_first(d, ring);
    for (uint64_t i = 0, told = 0; i < ring->n;) {
        uint64_t index = ring->order ? ring->order[i] : i;
        unsigned what = plan.action[ring->data[index * NTFF_NOTIF_BYTES + 3]];
        if (d->cut.on && !ntff_device_cut_step(d))
            return false;
        if ((what & ~(unsigned)DO_MARK) > DO_END) {
            if (!one_record(d, ring, what, i++))
                return false;
            continue;
        }
        if (what & DO_MARK && !ntff_device_other(d, ring, i))
            return false;
        size_t first;
        struct ntff_event *events = ntff_build_room(d->b, CHUNK, &first);
        int64_t n = !events                      ? -1
                    : plan.plain && !ring->order ? run(d, ring, &plan, events, first, &i, true)
                                                 : run(d, ring, &plan, events, first, &i, false);
        if (n < 0 || !ntff_build_filled(d->b, d->proc, d->nc, d->core, (size_t)n))
            return false;
        if (i - told >= 16 * CHUNK) {
            told = i;
            if (!ntff_build_progress(d->b, "device records", i, ring->n))
                return false;
        }
    }
    return true;
}
