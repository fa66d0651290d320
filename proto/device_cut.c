/* device_cut - events of a core that lie outside the window are let go while its records are read.
 *
 * Pairing has to see every record: which end belongs to which start depends on all before it, and
 * so do running counts, executions and what `info` says. So records outside the window are read as
 * any other, but what they became is let go as soon as it is complete. Events stand in the
 * builder's array in the order of their starts; every so often those that are still open and those
 * that may be seen in the window close ranks over those that are gone. What is kept beside the
 * window is as much as is open, and a few thousand more.
 *
 * Some of what lies outside stays, for the clip that comes later to take away, since the rest of
 * the load depends on it: the first event and sample of every track (which tracks there are), the
 * earliest and the latest of all (where the trace begins and ends), and the last sample of each
 * counter before the window (its value at the begin of the window). */
#include "proto/builder.h"
#include "proto/device.h"

#include <stdlib.h>

enum { PATIENCE = 1 << 14 };                             /* events between two looks */
#define FAR_NS (UINT64_C(100) * 86400 * NTFF_NS_PER_SEC) /* odd times are left to order.c */

/* -- one event ------------------------------------------------------------------------------------
 */

/* Where something from ts to end (device time) lies: its times for the comparison with others, and
 * how it would be placed. */
struct spot {
    uint64_t ts, end;
    uint8_t how;
};
enum where { INSIDE, BEFORE, BEHIND };

/* The general case: through the core's map, as place.c does it later. */
static enum where place(struct ntff_cut *c, struct spot *at)
{
    const struct ntff_core_window *w = &c->window;
    uint64_t ts, dur, from = w->from_ns, to = w->to_ns;
    if (!w->map)
        return INSIDE;
    enum ntff_placed how =
        ntff_clock_span(w->map, at->ts, at->end, NTFF_NO_EXEC, &c->hint, &ts, &dur);
    bool odd = dur > FAR_NS || ts > UINT64_MAX - FAR_NS || (ts < from && from - ts > FAR_NS) ||
               (ts > to && ts - to > FAR_NS);
    if (how == NTFF_PLACED_NONE || odd)
        return INSIDE;
    at->how = (uint8_t)how;
    if (!w->rises) { /* else device times compare as well as these */
        at->ts = ts;
        at->end = ts + dur;
    }
    return ts + dur < from ? BEFORE : ts >= to ? BEHIND : INSIDE;
}

static inline enum where find(struct ntff_cut *c, struct spot *at)
{
    const struct ntff_core_window *w = &c->window;
    at->how = w->how;
    if (NTFF_UNLIKELY(at->ts < w->sure_lo_ns || at->end >= w->sure_hi_ns))
        return place(c, at);
    return at->end < w->lo_ns ? BEFORE : at->ts >= w->hi_ns ? BEHIND : INSIDE;
}

static bool is_open(const struct ntff_event *e)
{
    return (e->flags & (NTFF_EV_UNFINISHED | NTFF_EV_EDGES_DRAWN)) == NTFF_EV_UNFINISHED;
}

/* A span over an undecoded blob shares a row where it may overlap with others: which lane they get
 * depends on it. There is one of a blob. */
static bool is_blob(const struct ntff_event *e)
{
    return e->cat == NTFF_CAT_DMA && e->dur_ns > 0 && e->stop_ref.src == NTFF_SRC_NONE &&
           !(e->flags & (NTFF_EV_UNFINISHED | NTFF_EV_EDGES_DRAWN | NTFF_EV_START_LOST));
}

static inline struct ntff_ref ref_of(const struct ntff_event *e)
{
    return e->start_ref.src != NTFF_SRC_NONE ? e->start_ref : e->stop_ref;
}

/* Is it the event its track is remembered by? */
static inline bool is_first(struct ntff_cut *c, const struct ntff_event *e)
{
    struct ntff_cut_track *t = &c->tracks.v[e->track];
    struct ntff_ref r = ref_of(e);
    if (NTFF_UNLIKELY(!t->has_event)) {
        t->has_event = true;
        t->first = r;
    }
    return t->first.off == r.off && t->first.src == r.src;
}

static void let_go(struct ntff_cut *c, struct ntff_counts *counts, const struct ntff_cut_event *x)
{
    ntff_event_uncount(counts, &x->e);
    c->n_gone[x->how]++;
}

/* An event that lies outside: let go, unless it is the earliest or latest so far; then that one. */
static void leave(struct ntff_cut *c, struct ntff_counts *counts, const struct ntff_event *e,
                  struct spot at)
{
    struct ntff_cut_event x = {*e, at.ts, at.end, at.how, true};
    if (!c->earliest.there || x.ts < c->earliest.ts) {
        struct ntff_cut_event was = c->earliest;
        c->earliest = x;
        if (!was.there)
            return;
        x = was;
    }
    if (!c->latest.there || x.end > c->latest.end) {
        struct ntff_cut_event was = c->latest;
        c->latest = x;
        if (!was.there)
            return;
        x = was;
    }
    let_go(c, counts, &x);
}

/* -- closing ranks --------------------------------------------------------------------------------
 */

static struct ntff_stream *stream_of(const struct ntff_device *d, uint32_t track)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(d->engine); i++)
        if (d->engine[i]->track == track)
            return d->engine[i];
    for (size_t i = 0; i < NTFF_ARRAY_LEN(d->cc_core); i++)
        if (d->cc_core[i] && d->cc_core[i]->track == track)
            return d->cc_core[i];
    return NULL;
}

static void moved(const struct ntff_cut *c, uint32_t *index)
{
    if (*index != NTFF_NONE && *index >= c->base_event)
        *index = c->now.v[*index - c->base_event];
}

/* The open event that was at index was: its link, and the list of its program counter. */
static void relink(struct ntff_device *d, uint32_t was)
{
    struct ntff_cut *c = &d->cut;
    uint32_t now = was;
    moved(c, &now);
    struct ntff_event *e = &d->b->events.v[now];
    uint32_t next = (uint32_t)e->dur_ns;
    moved(c, &next);
    e->dur_ns = next;
    struct ntff_stream *s = e->cat == NTFF_CAT_INSTR ? stream_of(d, e->track) : NULL;
    if (!s)
        return;
    const uint8_t *p = d->b->sources.v[e->start_ref.src].data + e->start_ref.off;
    uint32_t pc = ntff_notif_pc(ntff_le32(p));
    struct ntff_pc *entry = &s->page[pc / NTFF_PC_PAGE][pc % NTFF_PC_PAGE];
    if (entry->head == was) /* a new index is never above an old one that is yet to come */
        entry->head = now;
    if (entry->tail == was)
        entry->tail = now;
}

static void relink_all(struct ntff_device *d)
{
    struct ntff_cut *c = &d->cut;
    for (size_t i = 0; i < c->open.n; i++)
        relink(d, c->open.v[i]);
    for (size_t i = 0; i < d->dma.n; i++)
        for (unsigned q = 0; q < NTFF_N_QUEUES; q++)
            for (int k = 0; k < 2; k++) {
                struct ntff_fifo *f = &d->dma.v[i]->fifo[q][k];
                if (f->head != NTFF_NONE)
                    moved(c, &f->tail);
                moved(c, &f->head);
            }
}

/* Room for what a look over n events needs to remember. */
static bool ready(struct ntff_device *d, size_t n)
{
    struct ntff_cut *c = &d->cut;
    struct ntff_budget *budget = d->b->budget;
    if (!ntff_grow(budget, (void **)&c->now.v, &c->now.cap, 0, n, sizeof *c->now.v) ||
        !ntff_grow(budget, (void **)&c->open.v, &c->open.cap, 0, n, sizeof *c->open.v) ||
        !ntff_grow(budget, (void **)&c->tracks.v, &c->tracks.cap, 0, d->b->tracks.n + 1,
                   sizeof *c->tracks.v))
        return ntff_builder_no_memory(d->b);
    for (c->open.n = 0; c->tracks.n < d->b->tracks.n; c->tracks.n++)
        c->tracks.v[c->tracks.n] = (struct ntff_cut_track){0};
    return true;
}

static bool settle_events(struct ntff_device *d)
{
    struct ntff_cut *c = &d->cut;
    struct ntff_event *ev = d->b->events.v;
    size_t n = d->b->events.n, base = c->base_event, k = base, settled = SIZE_MAX;
    if (!ready(d, n - base))
        return false;
    for (size_t i = base; i < n; i++) {
        bool open = is_open(&ev[i]), first = is_first(c, &ev[i]);
        struct spot at = {.ts = ev[i].ts_ns, .end = ntff_event_end(&ev[i])};
        if (open) {
            c->open.v[c->open.n++] = (uint32_t)i;
            settled = settled == SIZE_MAX ? k : settled;
        } else if (find(c, &at) != INSIDE && !first && !is_blob(&ev[i])) {
            leave(c, &d->b->t->counts, &ev[i], at);
            c->now.v[i - base] = NTFF_NONE;
            continue;
        }
        c->now.v[i - base] = (uint32_t)k;
        ev[k++] = ev[i];
    }
    if (k != n) {
        relink_all(d);
        d->b->events.n = k;
        d->b->ranges.v[d->b->ranges.n - 1].n_events -= (uint32_t)(n - k);
    }
    c->base_event = settled == SIZE_MAX ? k : settled;
    size_t again = 2 * (k - c->base_event), lists = 2 * NTFF_N_QUEUES * d->dma.n;
    again = again > PATIENCE ? again : PATIENCE;
    c->next_event = k + (again > lists ? again : lists);
    return true;
}

/* -- samples --------------------------------------------------------------------------------------
 */

static void leave_sample(struct ntff_cut *c, struct ntff_cut_sample x, enum where where)
{
    struct ntff_cut_track *t = &c->tracks.v[x.s.track];
    if (!c->first_sample.there || x.ts < c->first_sample.ts)
        c->first_sample = x;
    if (!c->last_sample.there || x.ts > c->last_sample.ts)
        c->last_sample = x;
    if (where == BEFORE && (!t->before.there || x.ts >= t->before.ts))
        t->before = x;
}

static bool settle_samples(struct ntff_device *d)
{
    struct ntff_cut *c = &d->cut;
    struct ntff_sample *v = d->b->samples.v;
    size_t n = d->b->samples.n, k = c->base_sample;
    if (!ready(d, 0))
        return false;
    for (size_t i = k; i < n; i++) {
        struct spot at = {.ts = v[i].ts_ns, .end = v[i].ts_ns};
        enum where where = find(c, &at);
        bool *there = &c->tracks.v[v[i].track].has_sample;
        if (where != INSIDE && *there) {
            leave_sample(c, (struct ntff_cut_sample){v[i], at.ts, true}, where);
            continue;
        }
        *there = true;
        v[k++] = v[i];
    }
    if (k != n) {
        d->b->samples.n = k;
        d->b->ranges.v[d->b->ranges.n - 1].n_samples -= (uint32_t)(n - k);
    }
    c->base_sample = k;
    c->next_sample = k + PATIENCE;
    return true;
}

/* -- a core ---------------------------------------------------------------------------------------
 */

void ntff_device_cut_begin(struct ntff_device *d, uint64_t first_ns)
{
    struct ntff_cut *c = &d->cut;
    if (d->opt->keep_outside || !(d->opt->from.given || d->opt->to.given))
        return;
    c->on = ntff_build_window(d->b, d->proc, d->nc, d->core, first_ns, &c->window);
    c->base_event = d->b->events.n;
    c->base_sample = d->b->samples.n;
    c->next_event = c->base_event + PATIENCE;
    c->next_sample = c->base_sample + PATIENCE;
}

bool ntff_device_cut_step(struct ntff_device *d)
{
    return (d->b->events.n < d->cut.next_event || settle_events(d)) &&
           (d->b->samples.n < d->cut.next_sample || settle_samples(d));
}

static bool put_back(struct ntff_device *d, const struct ntff_cut_sample *x)
{
    if (!x->there)
        return true;
    d->b->t->counts.samples_in--; /* it has been counted */
    return ntff_build_device_sample(d->b, d->proc, d->nc, d->core, x->s.track, x->s.ts_ns,
                                    x->s.value.i, x->s.value.d);
}

bool ntff_device_cut_end(struct ntff_device *d)
{
    struct ntff_cut *c = &d->cut;
    if (!c->on)
        return true;
    bool good = settle_events(d) && settle_samples(d);
    if (good && c->earliest.there)
        good = ntff_device_add(d, &c->earliest.e);
    if (good && c->latest.there)
        good = ntff_device_add(d, &c->latest.e);
    good = good && put_back(d, &c->first_sample) && put_back(d, &c->last_sample);
    for (size_t i = 0; good && i < c->tracks.n; i++)
        good = put_back(d, &c->tracks.v[i].before);
    for (size_t how = 0; good && c->earliest.there && how < NTFF_ARRAY_LEN(c->n_gone); how++)
        d->b->ranges.v[d->b->ranges.n - 1].n_cut[how] += c->n_gone[how];
    return good;
}

void ntff_device_cut_done(struct ntff_device *d)
{
    NTFF_VEC_FREE(d->b->budget, &d->cut.now);
    NTFF_VEC_FREE(d->b->budget, &d->cut.open);
    NTFF_VEC_FREE(d->b->budget, &d->cut.tracks);
}
