/* order - the last step of a load: edges, time order, counters; lanes.c, flows.c and tree.c do the
 * rest.
 *
 * Events are mostly in order already. Where they are not, the stretch concerned is sorted: sort.c
 * orders indices by time, then the 40-byte events move once. Ties - longer first, points last,
 * input order - are sorted within runs of equal time. */
#include "proto/builder.h"

#include "proto/sort.h"

#include <stdlib.h>
#include <string.h>

/* -- edges --------------------------------------------------------------------------------------
 */

#define TS_LIMIT_NS (UINT64_C(1) << 62) /* 2116; Perfetto's own limit is 2^63 */

/* How many records of the file an event stands for. */
static unsigned records_of(const struct ntff_event *e)
{
    return (e->start_ref.src != NTFF_SRC_NONE) + (e->stop_ref.src != NTFF_SRC_NONE);
}

/* Takes an event out of the count of its form: filtered and dropped ones are counted apart. */
static void uncount(struct ntff_counts *c, const struct ntff_event *e)
{
    if (e->start_ref.src == NTFF_SRC_NONE)
        c->start_lost--;
    else if (e->stop_ref.src != NTFF_SRC_NONE)
        c->pairs--;
    else if (e->flags & NTFF_EV_UNFINISHED)
        c->unfinished--;
    else if (e->flags & NTFF_EV_INSTANT)
        c->instants--;
    else
        c->whole--;
}

static int u64_cmp(const void *pa, const void *pb)
{
    uint64_t x = *(const uint64_t *)pa, y = *(const uint64_t *)pb;
    return x < y ? -1 : x > y;
}

/* Does event or sample i count for the typical time? */
static bool counts(const struct ntff_builder *b, bool events, size_t i, unsigned but)
{
    return events ? !(b->events.v[i].flags & but)
                  : !(but & NTFF_EV_UNALIGNED && b->tracks.v[b->samples.v[i].track].unaligned);
}

uint64_t ntff_build_typical(const struct ntff_builder *b, unsigned but)
{
    uint64_t pick[1001];
    size_t n = 0, n_picked = 0, n_events = b->events.n, all;
    for (size_t i = 0; but && i < b->events.n; i++)
        n_events -= !counts(b, true, i, but);
    bool events = n_events > 0; /* samples count only where there is nothing else */
    size_t step = (events ? n_events : b->samples.n) / NTFF_ARRAY_LEN(pick) + 1;
    all = events ? b->events.n : b->samples.n;
    for (size_t i = 0; i < all && n_picked < NTFF_ARRAY_LEN(pick); i += but ? 1 : step)
        if (counts(b, events, i, but) && (!but || n++ % step == 0))
            pick[n_picked++] = events ? b->events.v[i].ts_ns : b->samples.v[i].ts_ns;
    ntff_sort(pick, n_picked, sizeof *pick, u64_cmp);
    return n_picked ? pick[n_picked / 2] : 0;
}

bool ntff_build_possible(uint64_t ts_ns, uint64_t dur_ns, uint64_t typical_ns)
{
    uint64_t far = ts_ns > typical_ns ? ts_ns - typical_ns : typical_ns - ts_ns;
    return ts_ns <= TS_LIMIT_NS && dur_ns <= NTFF_MAX_APART_NS && far <= NTFF_MAX_APART_NS;
}

static void drop_event(struct ntff_builder *b, struct ntff_event *e)
{
    struct ntff_counts *c = &b->t->counts;
    ntff_builder_found(b, NTFF_DIAG_BAD_TIME,
                       e->start_ref.src == NTFF_SRC_NONE ? e->stop_ref : e->start_ref,
                       "time %llu ns, duration %llu ns, more than a year from the others",
                       (unsigned long long)e->ts_ns, (unsigned long long)e->dur_ns);
    c->dropped_records += records_of(e);
    uncount(c, e);
    e->flags |= NTFF_EV_HIDDEN;
    e->name = NTFF_STR_NONE; /* not filtered but dropped */
}

/* What one look at all events and samples finds. */
struct survey {
    uint64_t begin_ns, end_ns;    /* of what is shown; UINT64_MAX and 0: nothing is */
    unsigned flags;               /* all flags of all events together */
    size_t first_edge, edges_end; /* where there are events to be drawn to an edge */
};

#define TO_EDGES (NTFF_EV_EDGES_DRAWN | NTFF_EV_START_LOST | NTFF_EV_UNFINISHED)

/* Drops impossible times, finds the range. */
static struct survey look_at_all(struct ntff_builder *b, uint64_t typical_ns)
{
    struct survey s = {.begin_ns = UINT64_MAX, .first_edge = SIZE_MAX};
    for (size_t i = 0; i < b->events.n; i++) {
        struct ntff_event *e = &b->events.v[i];
        if (!ntff_build_possible(e->ts_ns, e->dur_ns, typical_ns))
            drop_event(b, e);
        s.flags |= e->flags;
        if (e->flags & TO_EDGES) {
            s.first_edge = s.first_edge < i ? s.first_edge : i;
            s.edges_end = i + 1;
        }
        if (e->flags & NTFF_EV_HIDDEN)
            continue;
        s.begin_ns = e->ts_ns < s.begin_ns ? e->ts_ns : s.begin_ns;
        s.end_ns = ntff_event_end(e) > s.end_ns ? ntff_event_end(e) : s.end_ns;
    }
    for (size_t i = 0; i < b->samples.n; i++) {
        uint64_t ts = b->samples.v[i].ts_ns;
        s.begin_ns = ts < s.begin_ns ? ts : s.begin_ns;
        s.end_ns = ts > s.end_ns ? ts : s.end_ns;
    }
    return s;
}

/* Draws what is open to the edges of the trace. */
static void close_edges(struct ntff_builder *b, const struct survey *s)
{
    struct ntff_trace *t = b->t;
    bool none = s->begin_ns > s->end_ns;
    t->begin_ns = t->origin_ns = none ? 0 : s->begin_ns;
    t->end_ns = none ? 0 : s->end_ns;
    for (size_t i = s->first_edge; i < s->edges_end; i++) {
        struct ntff_event *e = &b->events.v[i];
        if (e->flags & NTFF_EV_HIDDEN)
            continue;
        if (e->flags & NTFF_EV_EDGES_DRAWN) {
            ntff_event_clear(e, NTFF_EV_EDGES_DRAWN);
        } else if (e->flags & NTFF_EV_START_LOST) {
            e->dur_ns = e->ts_ns - t->begin_ns;
            e->ts_ns = t->begin_ns;
        } else if (e->flags & NTFF_EV_UNFINISHED) {
            e->dur_ns = t->end_ns - e->ts_ns;
        }
    }
}

/* Removes hidden events; map[i] = new index of event i, or NTFF_NONE. */
static void compact(struct ntff_builder *b, uint32_t *map)
{
    size_t n = 0;
    for (size_t i = 0; i < b->events.n; i++) {
        const struct ntff_event *e = &b->events.v[i];
        map[i] = NTFF_NONE;
        if (e->flags & NTFF_EV_HIDDEN) {
            if (e->name != NTFF_STR_NONE) {
                b->t->counts.filtered_records += records_of(e);
                uncount(&b->t->counts, e);
            }
            continue;
        }
        map[i] = (uint32_t)n;
        b->events.v[n++] = *e;
    }
    b->events.n = n;
}

/* -- time order ---------------------------------------------------------------------------------
 */

static int tie_cmp(const void *pa, const void *pb, void *user)
{
    const struct ntff_event *ev = user;
    const struct ntff_sort_item *x = pa, *y = pb;
    const struct ntff_event *e = &ev[x->index], *f = &ev[y->index];
    int ei = e->flags & NTFF_EV_INSTANT, fi = f->flags & NTFF_EV_INSTANT;
    if (ei != fi)
        return ei - fi;
    if (e->dur_ns != f->dur_ns)
        return e->dur_ns > f->dur_ns ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Items of one time. */
static void sort_ties(struct ntff_sort_item *a, size_t n, struct ntff_event *ev)
{
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && a[j].key == a[i].key; j++)
            ;
        if (j - i == 2 && tie_cmp(&a[i], &a[i + 1], ev) > 0) { /* by far the most common run */
            struct ntff_sort_item x = a[i];
            a[i] = a[i + 1];
            a[i + 1] = x;
        } else if (j - i > 2) {
            qsort_r(a + i, j - i, sizeof *a, tie_cmp, ev);
        }
    }
}

/* Are two events in the order of model.h, input order aside? */
static bool ordered(const struct ntff_event *a, const struct ntff_event *b)
{
    unsigned ai = a->flags & NTFF_EV_INSTANT, bi = b->flags & NTFF_EV_INSTANT;
    if (a->ts_ns != b->ts_ns)
        return a->ts_ns < b->ts_ns;
    return ai != bi ? ai < bi : a->dur_ns >= b->dur_ns;
}

/* Moves events to their places, cycle by cycle. a is used up. */
static void permute(struct ntff_event *ev, struct ntff_sort_item *a, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i].index == i)
            continue;
        struct ntff_event first = ev[i];
        size_t to = i;
        while (a[to].index != i) {
            size_t from = a[to].index;
            ev[to] = ev[from];
            a[to].index = (uint32_t)to;
            to = from;
        }
        ev[to] = first;
        a[to].index = (uint32_t)to;
    }
}

/* Events [lo, hi) that must be sorted by themselves: all before are before, all behind are behind.
 */
struct stretch {
    size_t lo, hi, most; /* most: the last of them in order */
};
typedef NTFF_VEC(struct stretch) stretch_vec;

/* The stretch that begins where event i comes too early. It takes in those before it that it laps
 * over. *work counts events passed on the way. */
static struct stretch stretch_at(const struct ntff_event *ev, size_t n, size_t i, stretch_vec *v,
                                 size_t *work)
{
    struct stretch s = {.lo = i - 1, .hi = i, .most = i - 1};
    size_t least = i;
    for (; s.hi < n && !ordered(&ev[s.most], &ev[s.hi]); s.hi++)
        if (!ordered(&ev[least], &ev[s.hi]))
            least = s.hi;
    for (;;) {
        const struct stretch *before = v->n ? &v->v[v->n - 1] : NULL;
        if (before && before->hi == s.lo) {
            if (ordered(&ev[before->most], &ev[least]))
                break;
            s.lo = before->lo;
            v->n--;
        } else if (s.lo > 0 && !ordered(&ev[s.lo - 1], &ev[least])) {
            s.lo--;
        } else {
            break;
        }
        ++*work;
    }
    *work += s.hi - i;
    return s;
}

/* Records come nearly in order, and what is out of order has not far to go. */
static bool find_stretches(struct ntff_builder *b, stretch_vec *v)
{
    const struct ntff_event *ev = b->events.v;
    size_t n = b->events.n, work = 0;
    for (size_t i = 1; i < n; i++) {
        if (ordered(&ev[i - 1], &ev[i]))
            continue;
        struct stretch s = stretch_at(ev, n, i, v, &work);
        if (work > 4 * n) { /* not at all in order */
            s = (struct stretch){.lo = 0, .hi = n};
            v->n = 0;
        }
        struct stretch *x = NTFF_VEC_PUSH(b->budget, v);
        if (!x)
            return ntff_builder_no_memory(b);
        *x = s;
        i = s.hi;
    }
    return true;
}

/* back: where each event goes. */
static bool sort_stretch(struct ntff_builder *b, const struct stretch *s, uint32_t *back)
{
    size_t n = s->hi - s->lo;
    struct ntff_event *ev = b->events.v + s->lo;
    struct ntff_sort_item two[2], *a = n > 2 ? ntff_build_take(b, n, sizeof *a) : two;
    bool good = a != NULL;
    for (size_t i = 0; good && i < n; i++)
        a[i] = (struct ntff_sort_item){ev[i].ts_ns - b->t->begin_ns, (uint32_t)i};
    if (n == 2) { /* most often: two of one time */
        a[0].index = 1;
        a[1].index = 0;
    } else if ((good = good && ntff_sort_items(b, a, n))) {
        sort_ties(a, n, ev);
    }
    for (size_t i = 0; good && i < n; i++)
        back[s->lo + a[i].index] = (uint32_t)(s->lo + i);
    if (good)
        permute(ev, a, n);
    if (a != two)
        ntff_build_give(b, a, n, sizeof *a);
    return good;
}

/* *back: where each event went, NULL if all are where they were. */
static bool sort_events(struct ntff_builder *b, uint32_t **back)
{
    stretch_vec v = {0};
    bool good = find_stretches(b, &v);
    *back = good && v.n ? ntff_build_take(b, b->events.n, sizeof **back) : NULL;
    good = good && (v.n == 0 || *back);
    for (size_t i = 0; *back && i < b->events.n; i++)
        (*back)[i] = (uint32_t)i;
    for (size_t i = 0; good && i < v.n; i++)
        good = sort_stretch(b, &v.v[i], *back);
    NTFF_VEC_FREE(b->budget, &v);
    return good;
}

/* -- counters -----------------------------------------------------------------------------------
 */

/* Overlapping transfers add up; one sample wherever the sum of a track changes. */
static bool rates_to_samples(struct ntff_builder *b)
{
    size_t n = b->rates.n, n_tracks = b->tracks.n;
    struct ntff_sort_item *a = ntff_build_take(b, n, sizeof *a);
    int64_t *sum = ntff_build_take(b, n_tracks, sizeof *sum);
    uint32_t *last = ntff_build_take(b, n_tracks, sizeof *last); /* latest sample of a track, + 1 */
    bool good = a && sum && last;
    for (size_t i = 0; good && i < n; i++)
        a[i] = (struct ntff_sort_item){b->rates.v[i].ts_ns, (uint32_t)i};
    good = good && ntff_sort_items(b, a, n);
    for (size_t i = 0; good && i < n; i++) {
        const struct ntff_rate *r = &b->rates.v[a[i].index];
        if (__builtin_add_overflow(sum[r->track], r->delta, &sum[r->track]))
            sum[r->track] = 0;
        if (last[r->track] && b->samples.v[last[r->track] - 1].ts_ns == r->ts_ns) {
            b->samples.v[last[r->track] - 1].value.i = sum[r->track];
            continue;
        }
        good = ntff_build_sample(b, r->track, r->ts_ns, sum[r->track], 0);
        last[r->track] = (uint32_t)b->samples.n;
        b->t->counts.samples_in--; /* derived, not read */
    }
    ntff_build_give(b, last, n_tracks, sizeof *last);
    ntff_build_give(b, sum, n_tracks, sizeof *sum);
    ntff_build_give(b, a, n, sizeof *a);
    NTFF_VEC_FREE(b->budget, &b->rates);
    return good;
}

static void drop_bad_samples(struct ntff_builder *b, uint64_t typical_ns)
{
    size_t n = 0;
    for (size_t i = 0; i < b->samples.n; i++) {
        const struct ntff_sample *s = &b->samples.v[i];
        if (!ntff_build_possible(s->ts_ns, 0, typical_ns)) {
            b->t->counts.samples_dropped++;
            ntff_diag_add(b->diag, NTFF_DIAG_BAD_TIME, 1, NULL, NTFF_NO_OFFSET, "sample at %llu",
                          (unsigned long long)s->ts_ns);
            continue;
        }
        b->samples.v[n++] = *s;
    }
    b->samples.n = n;
}

static int sample_cmp(const void *pa, const void *pb, void *user)
{
    const struct ntff_sample *v = user;
    const struct ntff_sort_item *x = pa, *y = pb;
    uint32_t tx = v[x->index].track, ty = v[y->index].track;
    return tx != ty ? tx < ty ? -1 : 1 : x->index < y->index ? -1 : 1;
}

/* By time, then track, then input order. */
static bool sort_samples(struct ntff_builder *b)
{
    size_t n = b->samples.n;
    struct ntff_sort_item *a = ntff_build_take(b, n, sizeof *a);
    struct ntff_sample *out = ntff_build_take(b, n, sizeof *out);
    bool good = a && out;
    for (size_t i = 0; good && i < n; i++)
        a[i] = (struct ntff_sort_item){b->samples.v[i].ts_ns, (uint32_t)i};
    good = good && ntff_sort_items(b, a, n);
    for (size_t i = 0, j; good && i < n; i = j) {
        for (j = i + 1; j < n && a[j].key == a[i].key; j++)
            ;
        if (j - i > 1)
            qsort_r(a + i, j - i, sizeof *a, sample_cmp, b->samples.v);
    }
    for (size_t i = 0; good && i < n; i++)
        out[i] = b->samples.v[a[i].index];
    if (good && n)
        memcpy(b->samples.v, out, n * sizeof *out);
    ntff_build_give(b, out, n, sizeof *out);
    ntff_build_give(b, a, n, sizeof *a);
    return good;
}

/* -- all of it ----------------------------------------------------------------------------------
 */

static void hand_over(struct ntff_builder *b)
{
    struct ntff_trace *t = b->t;
    NTFF_VEC_TRIM(b->budget, &b->samples);
    NTFF_VEC_TRIM(b->budget, &b->flows);
#define GIVE(field)                                                                                \
    (t->field = b->field.v, t->n_##field = b->field.n, t->cap_##field = b->field.cap,              \
     memset(&b->field, 0, sizeof b->field))
    GIVE(events);
    GIVE(samples);
    GIVE(flows);
    GIVE(tracks);
    GIVE(processes);
    GIVE(sources);
    GIVE(files);
    GIVE(clocks);
#undef GIVE
}

/* Removes what is hidden and sorts. *map (n_map entries) tells where each event went; NULL if none
 * moved. */
static bool arrange(struct ntff_builder *b, uint32_t **map, size_t n_map)
{
    uint64_t typical_ns = ntff_build_typical(b, 0);
    uint32_t *back = NULL;
    drop_bad_samples(b, typical_ns);
    struct survey all = look_at_all(b, typical_ns);
    close_edges(b, &all);
    NTFF_VEC_FREE(b->budget, &b->devs);
    NTFF_VEC_FREE(b->budget, &b->syncs);
    if (all.flags & NTFF_EV_HIDDEN) {
        if (!(*map = ntff_build_take(b, n_map, sizeof **map)))
            return false;
        compact(b, *map);
    }
    size_t n = b->events.n;
    bool good = sort_events(b, &back);
    if (!*map) {
        *map = back;
        return good;
    }
    for (size_t i = 0; back && i < n_map; i++)
        if ((*map)[i] != NTFF_NONE)
            (*map)[i] = back[(*map)[i]];
    ntff_build_give(b, back, n, sizeof *back);
    return good;
}

bool ntff_build_order(struct ntff_builder *b)
{
    size_t n_map = b->events.n;
    NTFF_VEC_TRIM(b->budget, &b->events); /* there will be no more, but much beside them */
    uint32_t *map = NULL;
    bool good = rates_to_samples(b) && arrange(b, &map, n_map) && ntff_build_flows(b, map);
    ntff_build_give(b, map, n_map, sizeof *map);
    if (!good || !ntff_build_lanes(b) || !ntff_build_tree(b) || !sort_samples(b))
        return false;
    hand_over(b);
    return true;
}
