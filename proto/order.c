/* order - the last step of a load: edges, time order, lanes, flows, counters, track tree.
 *
 * Sorting: keys are (ts - earliest), mostly in order already; a radix sort over the bits that vary
 * moves indices, then the 40-byte events move once. Ties - longer first, points last, input order - are
 * sorted within runs of equal time.
 * Lanes: one sweep in time order. A lane of a nesting row is a stack of open ends: an event fits if it
 * ends no later than the innermost open span. On flat rows it fits only on an empty stack. First lane that
 * fits wins, so the result is the same every time. */
#include "proto/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool no_memory(struct ntff_builder *b)
{
    b->out_of_memory = true;
    return false;
}

static void *take(struct ntff_builder *b, size_t n, size_t elem)
{
    size_t bytes;
    void *p = NULL;
    if (ntff_mul_ok(n ? n : 1, elem, &bytes) && ntff_budget_take(b->budget, bytes) &&
        !(p = calloc(1, bytes)))
        ntff_budget_give(b->budget, bytes);
    if (!p)
        no_memory(b);
    return p;
}

static void give(struct ntff_builder *b, void *p, size_t n, size_t elem)
{
    if (p)
        ntff_budget_give(b->budget, (n ? n : 1) * elem);
    free(p);
}

/* -- edges -------------------------------------------------------------------------------------- */

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

#define FAR_NS (UINT64_C(366) * 86400 * NTFF_NS_PER_SEC)

static int u64_cmp(const void *pa, const void *pb)
{
    uint64_t x = *(const uint64_t *)pa, y = *(const uint64_t *)pb;
    return x < y ? -1 : x > y;
}

/* The middle of a thousand times picked evenly: what the trace is about, whatever a few records say. */
static uint64_t typical_time(const struct ntff_builder *b)
{
    uint64_t pick[1001];
    size_t n = 0, step = b->events.n / NTFF_ARRAY_LEN(pick) + 1;
    for (size_t i = 0; i < b->events.n && n < NTFF_ARRAY_LEN(pick); i += step)
        pick[n++] = b->events.v[i].ts_ns;
    ntff_sort(pick, n, sizeof *pick, u64_cmp);
    return n ? pick[n / 2] : 0;
}

static bool possible(const struct ntff_event *e, uint64_t typical_ns)
{
    uint64_t far = e->ts_ns > typical_ns ? e->ts_ns - typical_ns : typical_ns - e->ts_ns;
    return e->ts_ns <= TS_LIMIT_NS && e->dur_ns <= FAR_NS && far <= FAR_NS;
}

static void drop_event(struct ntff_builder *b, struct ntff_event *e)
{
    struct ntff_counts *c = &b->t->counts;
    ntff_diag_add(b->diag, NTFF_DIAG_BAD_TIME, 1, NULL, NTFF_NO_OFFSET,
                  "time %llu ns, duration %llu ns, more than a year from the others",
                  (unsigned long long)e->ts_ns, (unsigned long long)e->dur_ns);
    c->dropped_records += records_of(e);
    uncount(c, e);
    e->flags |= NTFF_EV_HIDDEN;
    e->name = NTFF_STR_NONE; /* not filtered but dropped */
}

/* Drops impossible times and filtered events, finds the range, closes what is open at its edges. */
static void close_edges(struct ntff_builder *b)
{
    struct ntff_trace *t = b->t;
    uint64_t begin = UINT64_MAX, end = 0, typical_ns = typical_time(b);
    for (size_t i = 0; i < b->events.n; i++) {
        struct ntff_event *e = &b->events.v[i];
        if (!possible(e, typical_ns)) {
            drop_event(b, e);
            continue;
        }
        if (e->flags & NTFF_EV_HIDDEN)
            continue;
        begin = e->ts_ns < begin ? e->ts_ns : begin;
        end = ntff_event_end(e) > end ? ntff_event_end(e) : end;
    }
    for (size_t i = 0; i < b->samples.n; i++) {
        uint64_t ts = b->samples.v[i].ts_ns;
        if (ts > TS_LIMIT_NS)
            continue; /* dropped with its track below */
        begin = ts < begin ? ts : begin;
        end = ts > end ? ts : end;
    }
    if (begin > end)
        begin = end = 0;
    for (size_t i = 0; i < b->events.n; i++) {
        struct ntff_event *e = &b->events.v[i];
        if (e->flags & NTFF_EV_HIDDEN)
            continue;
        if (e->flags & NTFF_EV_START_LOST) {
            e->dur_ns = e->ts_ns - begin;
            e->ts_ns = begin;
        } else if (e->flags & NTFF_EV_UNFINISHED) {
            e->dur_ns = end - e->ts_ns;
        }
    }
    t->begin_ns = begin;
    t->end_ns = end;
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

/* -- time order --------------------------------------------------------------------------------- */

struct sort_item {
    uint64_t key;
    uint32_t index;
};

#define RADIX_BITS 11

/* Stable LSD radix sort by the bits below top. */
static void radix_sort(struct sort_item *a, struct sort_item *tmp, size_t n, unsigned bits)
{
    for (unsigned shift = 0; shift < bits; shift += RADIX_BITS) {
        size_t count[1 << RADIX_BITS] = {0};
        for (size_t i = 0; i < n; i++)
            count[a[i].key >> shift & ((1 << RADIX_BITS) - 1)]++;
        size_t sum = 0;
        for (size_t d = 0; d < NTFF_ARRAY_LEN(count); d++) {
            size_t c = count[d];
            count[d] = sum;
            sum += c;
        }
        for (size_t i = 0; i < n; i++)
            tmp[count[a[i].key >> shift & ((1 << RADIX_BITS) - 1)]++] = a[i];
        memcpy(a, tmp, n * sizeof *a);
    }
}

static int tie_cmp(const void *pa, const void *pb, void *user)
{
    const struct ntff_event *ev = user;
    const struct sort_item *x = pa, *y = pb;
    const struct ntff_event *e = &ev[x->index], *f = &ev[y->index];
    int ei = e->flags & NTFF_EV_INSTANT, fi = f->flags & NTFF_EV_INSTANT;
    if (ei != fi)
        return ei - fi;
    if (e->dur_ns != f->dur_ns)
        return e->dur_ns > f->dur_ns ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

static void sort_ties(struct sort_item *a, size_t n, struct ntff_event *ev)
{
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && a[j].key == a[i].key; j++)
            ;
        if (j - i > 1)
            qsort_r(a + i, j - i, sizeof *a, tie_cmp, ev);
    }
}

/* Moves every event to its place, cycle by cycle; back[old] = new. a is used up. */
static void permute(struct ntff_event *ev, struct sort_item *a, size_t n, uint32_t *back)
{
    for (size_t i = 0; i < n; i++)
        back[a[i].index] = (uint32_t)i;
    for (size_t i = 0; i < n; i++) {
        if (a[i].index == i)
            continue;
        struct ntff_event first = ev[i];
        size_t at = i;
        while (a[at].index != i) {
            size_t from = a[at].index;
            ev[at] = ev[from];
            a[at].index = (uint32_t)at;
            at = from;
        }
        ev[at] = first;
        a[at].index = (uint32_t)at;
    }
}

/* map (of n_map old indices) is composed with the sort. */
static bool sort_events(struct ntff_builder *b, uint32_t *map, size_t n_map)
{
    size_t n = b->events.n;
    struct ntff_event *ev = b->events.v;
    struct sort_item *a = take(b, n, sizeof *a);
    uint64_t span = 0;
    bool sorted = true, good = a != NULL;
    for (size_t i = 0; good && i < n; i++) {
        a[i] = (struct sort_item){ev[i].ts_ns - b->t->begin_ns, (uint32_t)i};
        sorted &= i == 0 || a[i].key >= a[i - 1].key;
        span |= a[i].key;
    }
    if (good && !sorted) {
        struct sort_item *tmp = take(b, n, sizeof *tmp);
        if ((good = tmp != NULL))
            radix_sort(a, tmp, n, span ? 64 - (unsigned)__builtin_clzll(span) : 0);
        give(b, tmp, n, sizeof *tmp);
    }
    uint32_t *back = good ? take(b, n, sizeof *back) : NULL;
    if ((good = back != NULL)) {
        sort_ties(a, n, ev);
        permute(ev, a, n, back);
        for (size_t i = 0; i < n_map; i++)
            if (map[i] != NTFF_NONE)
                map[i] = back[map[i]];
    }
    give(b, back, n, sizeof *back);
    give(b, a, n, sizeof *a);
    return good;
}

/* -- lanes -------------------------------------------------------------------------------------- */

/* Perfetto drops what is nested deeper than 512, and stacks points of one time [contract 2.1, 2.3]. */
#define MAX_DEPTH 480

struct lane {
    NTFF_VEC(uint64_t) ends; /* of open spans, outer first */
    uint64_t point_ns;       /* time of the last points, and how many of them stand there */
    uint32_t n_points;
};
typedef NTFF_VEC(struct lane) lane_vec;

static bool lane_fits(struct lane *l, const struct ntff_event *e, bool flat)
{
    while (l->ends.n && l->ends.v[l->ends.n - 1] <= e->ts_ns)
        l->ends.n--;
    if (l->ends.n == 0)
        return true;
    return !flat && l->ends.v[l->ends.n - 1] >= ntff_event_end(e) && l->ends.n < MAX_DEPTH;
}

static bool point_fits(struct lane *l, const struct ntff_event *e)
{
    while (l->ends.n && l->ends.v[l->ends.n - 1] <= e->ts_ns)
        l->ends.n--;
    if (l->point_ns != e->ts_ns)
        l->point_ns = e->ts_ns, l->n_points = 0;
    return l->n_points + l->ends.n < MAX_DEPTH;
}

/* Finds the lane of one event; -1 = out of memory, NTFF_MAX_LANES = none free. */
static int assign_lane(struct ntff_builder *b, lane_vec *lanes, const struct ntff_event *e, bool flat)
{
    bool point = e->flags & NTFF_EV_INSTANT;
    for (size_t i = 0; i < NTFF_MAX_LANES; i++) {
        if (i == lanes->n) {
            struct lane *fresh = NTFF_VEC_PUSH(b->budget, lanes);
            if (!fresh)
                return -1;
            *fresh = (struct lane){.point_ns = UINT64_MAX};
        }
        struct lane *l = &lanes->v[i];
        if (point ? !point_fits(l, e) : !lane_fits(l, e, flat))
            continue;
        if (point) {
            l->n_points++;
        } else if (e->dur_ns) {
            uint64_t *end = NTFF_VEC_PUSH(b->budget, &l->ends);
            if (!end)
                return -1;
            *end = ntff_event_end(e);
        }
        return (int)i;
    }
    return NTFF_MAX_LANES;
}

static bool assign_lanes(struct ntff_builder *b)
{
    size_t n_tracks = b->tracks.n;
    lane_vec *all = take(b, n_tracks, sizeof *all);
    bool good = all != NULL;
    for (size_t i = 0; good && i < b->events.n; i++) {
        struct ntff_event *e = &b->events.v[i];
        struct ntff_track *t = &b->tracks.v[e->track];
        int lane = assign_lane(b, &all[e->track], e, t->flat);
        if (lane < 0) {
            good = no_memory(b);
        } else if (lane == NTFF_MAX_LANES) {
            e->flags |= NTFF_EV_INSTANT | NTFF_EV_NO_LANE;
            ntff_diag_add(b->diag, NTFF_DIAG_LANE_OVERFLOW, 1, NULL, NTFF_NO_OFFSET,
                          "more than %d at once on %s", NTFF_MAX_LANES,
                          ntff_text(&b->t->strs, t->name));
        } else {
            e->lane = (unsigned)lane & 1023;
            if (t->n_lanes < lane + 1)
                t->n_lanes = (uint16_t)(lane + 1);
        }
    }
    for (size_t i = 0; all && i < n_tracks; i++) {
        for (size_t k = 0; k < all[i].n; k++)
            NTFF_VEC_FREE(b->budget, &all[i].v[k].ends);
        NTFF_VEC_FREE(b->budget, &all[i]);
    }
    give(b, all, n_tracks, sizeof *all);
    return good;
}

/* -- flows -------------------------------------------------------------------------------------- */

static int link_cmp(const void *pa, const void *pb)
{
    const struct ntff_link *x = pa, *y = pb;
#define CMP(f)                                    \
    do {                                          \
        if (x->f != y->f)                         \
            return x->f < y->f ? -1 : 1;          \
    } while (0)
    CMP(is_seq);
    CMP(proc);
    CMP(nc);
    CMP(id);
    CMP(role);
    CMP(event); /* event order is time order */
    return 0;
#undef CMP
}

static bool add_flow(struct ntff_builder *b, uint32_t from, uint32_t to)
{
    struct ntff_event *e = &b->events.v[from], *f = &b->events.v[to];
    struct ntff_flow *x = NTFF_VEC_PUSH(b->budget, &b->flows);
    if (!x)
        return no_memory(b);
    *x = (struct ntff_flow){.from = from, .to = to, .reversed = f->ts_ns < e->ts_ns};
    return true;
}

/* Of the events v[0..n), ascending, the last that begins no later than at, else the first. */
static const struct ntff_link *latest(const struct ntff_link *v, size_t n, uint32_t at)
{
    size_t lo = 0, hi = n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (v[mid].event <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return n == 0 ? NULL : lo ? &v[lo - 1] : &v[0];
}

/* Device and host disagree: the device began before its submit, or ended after the wait for it. */
static void check_order(struct ntff_builder *b, const struct ntff_link *host, bool is_wait,
                        const struct ntff_event *dev)
{
    const struct ntff_track *t = &b->tracks.v[dev->track];
    const struct ntff_event *h = &b->events.v[host->event];
    struct ntff_core_clock *c = ntff_builder_clock(b, t->process, t->nc, t->core);
    bool early = !is_wait && dev->ts_ns < h->ts_ns;
    bool late = is_wait && !(h->flags & NTFF_EV_UNFINISHED) && !(dev->flags & NTFF_EV_UNFINISHED) &&
                ntff_event_end(dev) > ntff_event_end(h);
    if (!c || dev->flags & (NTFF_EV_UNALIGNED | NTFF_EV_START_LOST) || !(early || late))
        return;
    c->n_before_submit += early;
    c->n_after_wait += late;
    ntff_diag_add(b->diag, NTFF_DIAG_ORDER_VIOLATION, 1, NULL, NTFF_NO_OFFSET,
                  "NC%u core %u: %s by %llu ns", t->nc, t->core,
                  early ? "starts before its submit" : "ends after its wait",
                  (unsigned long long)(early ? h->ts_ns - dev->ts_ns
                                             : ntff_event_end(dev) - ntff_event_end(h)));
}

/* One (process, core, execution) or (process, core, sequence number). */
static bool link_group(struct ntff_builder *b, const struct ntff_link *v, size_t n)
{
    const struct ntff_link *role[4];
    size_t count[4] = {0};
    for (size_t i = 0; i < n; i++)
        if (count[v[i].role]++ == 0)
            role[v[i].role] = &v[i];
    for (size_t i = 0; i < count[NTFF_ROLE_DEVICE]; i++) {
        uint32_t dev = role[NTFF_ROLE_DEVICE][i].event;
        const struct ntff_event *e = &b->events.v[dev];
        const struct ntff_link *from = NULL;
        static const int order[] = {NTFF_ROLE_WAIT, NTFF_ROLE_PRE, NTFF_ROLE_SUBMIT};
        for (size_t k = 0; k < NTFF_ARRAY_LEN(order); k++) {
            const struct ntff_link *l = count[order[k]]
                                            ? latest(role[order[k]], count[order[k]], dev)
                                            : NULL;
            if (l && order[k] != NTFF_ROLE_SUBMIT)
                check_order(b, l, order[k] == NTFF_ROLE_WAIT, e);
            from = from ? from : l;
        }
        /* a sequence number only steps in where the execution id gave no edge */
        if (from && !(v->is_seq && e->flags & NTFF_EV_FLOW_IN)) {
            if (!add_flow(b, from->event, dev))
                return false;
            b->events.v[dev].flags |= NTFF_EV_FLOW_IN;
        }
    }
    for (size_t i = 0; v->is_seq && i < count[NTFF_ROLE_WAIT] && count[NTFF_ROLE_SUBMIT]; i++) {
        uint32_t wait = role[NTFF_ROLE_WAIT][i].event;
        if (!add_flow(b, role[NTFF_ROLE_SUBMIT][0].event, wait))
            return false;
    }
    return true;
}

static int flow_cmp(const void *pa, const void *pb)
{
    const struct ntff_flow *x = pa, *y = pb;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to != y->to ? x->to < y->to ? -1 : 1 : 0;
}

static bool make_flows(struct ntff_builder *b, const uint32_t *map)
{
    size_t n = 0;
    for (size_t i = 0; i < b->links.n; i++) {
        struct ntff_link l = b->links.v[i];
        l.event = map[l.event];
        if (l.event != NTFF_NONE)
            b->links.v[n++] = l;
    }
    b->links.n = n;
    ntff_sort(b->links.v, n, sizeof *b->links.v, link_cmp);
    for (size_t i = 0, j; i < n; i = j) {
        const struct ntff_link *v = b->links.v;
        for (j = i + 1; j < n && v[j].is_seq == v[i].is_seq && v[j].proc == v[i].proc &&
                        v[j].nc == v[i].nc && v[j].id == v[i].id; j++)
            ;
        if (!link_group(b, v + i, j - i))
            return false;
    }
    if (b->opt->no_flows) {
        for (size_t i = 0; i < b->flows.n; i++)
            ntff_event_clear(&b->events.v[b->flows.v[i].to], NTFF_EV_FLOW_IN);
        b->flows.n = 0;
    }
    ntff_sort(b->flows.v, b->flows.n, sizeof *b->flows.v, flow_cmp);
    for (size_t i = 0; i < b->flows.n; i++) {
        struct ntff_flow *f = &b->flows.v[i];
        f->id = (uint32_t)i + 1;
        b->events.v[f->from].flags |= NTFF_EV_FLOW_OUT;
        b->events.v[f->to].flags |= NTFF_EV_FLOW_IN;
        if (f->reversed)
            ntff_diag_add(b->diag, NTFF_DIAG_FLOW_REVERSED, 1, NULL, NTFF_NO_OFFSET,
                          "by %llu ns",
                          (unsigned long long)(b->events.v[f->from].ts_ns - b->events.v[f->to].ts_ns));
    }
    return true;
}

/* -- counters ----------------------------------------------------------------------------------- */

static int rate_cmp(const void *pa, const void *pb)
{
    const struct ntff_rate *x = pa, *y = pb;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return x->ts_ns != y->ts_ns ? x->ts_ns < y->ts_ns ? -1 : 1 : 0;
}

static int sample_cmp(const void *pa, const void *pb)
{
    const struct ntff_sample *x = pa, *y = pb;
    if (x->ts_ns != y->ts_ns)
        return x->ts_ns < y->ts_ns ? -1 : 1;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    return x->value.i != y->value.i ? x->value.i < y->value.i ? -1 : 1 : 0;
}

/* Overlapping transfers add up; a sample wherever the sum changes. */
static bool rates_to_samples(struct ntff_builder *b)
{
    struct ntff_rate *r = b->rates.v;
    int64_t sum = 0;
    ntff_sort(r, b->rates.n, sizeof *r, rate_cmp);
    for (size_t i = 0, j; i < b->rates.n; i = j) {
        if (i == 0 || r[i].track != r[i - 1].track)
            sum = 0;
        for (j = i; j < b->rates.n && r[j].track == r[i].track && r[j].ts_ns == r[i].ts_ns; j++)
            if (__builtin_add_overflow(sum, r[j].delta, &sum))
                sum = 0;
        if (!ntff_build_sample(b, r[i].track, r[i].ts_ns, sum, (double)sum))
            return false;
        b->t->counts.samples_in--; /* derived, not read */
    }
    NTFF_VEC_FREE(b->budget, &b->rates);
    return true;
}

static void sort_samples(struct ntff_builder *b)
{
    size_t n = 0;
    bool sorted = true;
    for (size_t i = 0; i < b->samples.n; i++) {
        const struct ntff_sample *s = &b->samples.v[i];
        if (s->ts_ns > TS_LIMIT_NS) {
            b->t->counts.samples_dropped++;
            ntff_diag_add(b->diag, NTFF_DIAG_BAD_TIME, 1, NULL, NTFF_NO_OFFSET, "sample at %llu",
                          (unsigned long long)s->ts_ns);
            continue;
        }
        b->samples.v[n++] = *s;
        sorted &= n < 2 || sample_cmp(&b->samples.v[n - 2], &b->samples.v[n - 1]) < 0;
    }
    b->samples.n = n;
    if (!sorted)
        ntff_sort(b->samples.v, n, sizeof *b->samples.v, sample_cmp);
}

/* -- the tree of tracks ------------------------------------------------------------------------- */

struct tree {
    struct ntff_builder *b;
    uint32_t *used;    /* events and samples of a track, then its subtree */
    uint32_t *sorted;  /* tracks by (parent, rank, tid, name) */
    uint32_t *number;  /* old -> new */
};

static int track_cmp(const void *pa, const void *pb, void *user)
{
    const struct ntff_builder *b = user;
    uint32_t i = *(const uint32_t *)pa, j = *(const uint32_t *)pb;
    const struct ntff_track *x = &b->tracks.v[i], *y = &b->tracks.v[j];
    if (x->parent != y->parent)
        return x->parent + 1 < y->parent + 1 ? -1 : 1; /* roots (NTFF_NONE) first */
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    int c = strverscmp(ntff_text(&b->t->strs, x->name), ntff_text(&b->t->strs, y->name));
    return c ? c : i < j ? -1 : 1;
}

/* First position in sorted whose parent is p or later. */
static size_t children_of(const struct tree *t, uint32_t p)
{
    size_t lo = 0, hi = t->b->tracks.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->b->tracks.v[t->sorted[mid]].parent + 1 < p + 1)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Numbers the used tracks depth first, so that a parent comes before its children and siblings stand
 * in their order. The tree is as deep as our own layout: a few levels. */
static uint32_t number_tracks(struct tree *t, uint32_t parent, uint32_t next, struct ntff_track *out)
{
    const struct ntff_track *v = t->b->tracks.v;
    for (size_t i = children_of(t, parent);
         i < t->b->tracks.n && v[t->sorted[i]].parent == parent; i++) {
        uint32_t old = t->sorted[i];
        if (!t->used[old])
            continue;
        t->number[old] = next;
        out[next] = v[old];
        out[next].parent = parent == NTFF_NONE ? NTFF_NONE : t->number[parent];
        next = number_tracks(t, old, next + 1, out);
    }
    return next;
}

static bool arrange_tracks(struct ntff_builder *b)
{
    size_t n = b->tracks.n;
    struct tree t = {b, take(b, n, 4), take(b, n, 4), take(b, n, 4)};
    struct ntff_track *out = take(b, n, sizeof *out);
    bool good = t.used && t.sorted && t.number && out;
    for (size_t i = 0; good && i < b->events.n; i++)
        t.used[b->events.v[i].track] |= 1;
    for (size_t i = 0; good && i < b->samples.n; i++)
        t.used[b->samples.v[i].track] |= 1;
    for (size_t i = 0; good && i < n; i++)
        t.sorted[i] = (uint32_t)i;
    for (size_t i = n; good && i-- > 0;) /* a parent is always older than its child */
        if (t.used[i] && b->tracks.v[i].parent != NTFF_NONE)
            t.used[b->tracks.v[i].parent] = 1;
    if (good) {
        qsort_r(t.sorted, n, sizeof *t.sorted, track_cmp, b);
        uint32_t kept = number_tracks(&t, NTFF_NONE, 0, out);
        for (size_t i = 0; i < b->events.n; i++)
            b->events.v[i].track = t.number[b->events.v[i].track];
        for (size_t i = 0; i < b->samples.n; i++)
            b->samples.v[i].track = t.number[b->samples.v[i].track];
        if (kept > 0)
            memcpy(b->tracks.v, out, kept * sizeof *out);
        b->tracks.n = kept;
    }
    give(b, out, n, sizeof *out);
    give(b, t.used, n, 4);
    give(b, t.sorted, n, 4);
    give(b, t.number, n, 4);
    return good;
}

/* -- all of it ---------------------------------------------------------------------------------- */

static void hand_over(struct ntff_builder *b)
{
    struct ntff_trace *t = b->t;
#define GIVE(field)               \
    (t->field = b->field.v, t->n_##field = b->field.n, t->cap_##field = b->field.cap, \
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

bool ntff_build_order(struct ntff_builder *b)
{
    size_t n_map = b->events.n;
    bool good = rates_to_samples(b);
    uint32_t *map = good ? take(b, n_map, sizeof *map) : NULL;
    if ((good = map != NULL)) {
        close_edges(b);
        compact(b, map);
        NTFF_VEC_FREE(b->budget, &b->devs);
        NTFF_VEC_FREE(b->budget, &b->syncs);
        good = sort_events(b, map, n_map) && make_flows(b, map);
    }
    give(b, map, n_map, sizeof *map);
    if (!good || !assign_lanes(b) || !arrange_tracks(b))
        return false;
    sort_samples(b); /* by time and track, so after the tracks have their numbers */
    hand_over(b);
    return true;
}
