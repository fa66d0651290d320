/* lod - see lod.h: questions to the index. lod_build.c makes it, lod_counter.c has the counters. */
#include "lod_priv.h"

#include <string.h>

static inline const struct ntff_event *event_of(const struct tui_lod *l, const struct tui_row *r,
                                                uint32_t pos)
{
    return &l->t->events[r->ev[pos]];
}

/* Events of a row lie far apart in memory: ask for one before it is needed. */
static inline void fetch(const struct tui_lod *l, const struct tui_row *r, uint32_t pos)
{
    if (pos >= r->n)
        return;
    const char *e = (const char *)&l->t->events[r->ev[pos]];
    __builtin_prefetch(e);
    __builtin_prefetch(e + sizeof(struct ntff_event) - 1);
}
#define FETCH_AHEAD 8

static inline uint64_t end_of(const struct ntff_event *e)
{
    return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

unsigned tui_event_has(const struct ntff_trace *t, const struct ntff_event *e)
{
    unsigned has = 0, f = e->flags;
    has |= e->cat == NTFF_CAT_ERROR ? TUI_HAS_ERROR : 0;
    has |= f & NTFF_EV_UNFINISHED ? TUI_HAS_UNFINISHED : 0;
    has |= f & NTFF_EV_START_LOST ? TUI_HAS_START_LOST : 0;
    has |= f & (NTFF_EV_CUT_LEFT | NTFF_EV_CUT_RIGHT) ? TUI_HAS_CUT : 0;
    has |= f & NTFF_EV_ESTIMATED ? TUI_HAS_ESTIMATED : 0;
    has |= f & NTFF_EV_UNALIGNED ? TUI_HAS_UNALIGNED : 0;
    has |= f & NTFF_EV_INSTANT ? TUI_HAS_INSTANT : 0;
    if (e->cat == NTFF_CAT_MARK && strncmp(ntff_str_of(t, e->name), "events lost", 11) == 0)
        has |= TUI_HAS_LOST; /* as the loader names them */
    return has;
}

/* -- where is a time ------------------------------------------------------------------------ */

/* First position in [lo, hi) whose event starts at or after t, else hi. */
static uint32_t search_events(const struct tui_lod *l, const struct tui_row *r, uint32_t lo,
                              uint32_t hi, uint64_t t)
{
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (event_of(l, r, mid)->ts_ns < t)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The same from a position known not to be after the answer: gallops over the blocks. */
static uint32_t find_from(const struct tui_lod *l, const struct tui_row *r, uint32_t pos,
                          uint64_t t)
{
    uint32_t near = r->n - pos > 4 ? pos + 4 : r->n;
    for (; pos < near; pos++)
        if (event_of(l, r, pos)->ts_ns >= t)
            return pos;
    if (r->n <= TUI_BLOCK)
        return search_events(l, r, pos, r->n, t);
    const struct tui_block *b = l->blocks + r->block;
    uint32_t n_blocks = tui_blocks_of(r->n), lo = pos / TUI_BLOCK, step = 1;
    /* invariant: block lo starts before t, or holds pos */
    while (lo + step < n_blocks && b[lo + step].ts_ns < t) {
        lo += step;
        step *= 2;
    }
    uint32_t hi = lo + step < n_blocks ? lo + step : n_blocks;
    while (hi - lo > 1) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (b[mid].ts_ns < t)
            lo = mid;
        else
            hi = mid;
    }
    uint32_t from = lo * TUI_BLOCK > pos ? lo * TUI_BLOCK : pos;
    uint32_t to = r->n - lo * TUI_BLOCK > TUI_BLOCK ? (lo + 1) * TUI_BLOCK : r->n;
    return search_events(l, r, from, to, t);
}

uint32_t tui_lod_find(const struct tui_lod *l, uint32_t row, uint64_t t)
{
    return find_from(l, &l->rows[row], 0, t);
}

bool tui_lod_locate(const struct tui_lod *l, uint32_t event, uint32_t *row, uint32_t *pos)
{
    if (event >= l->t->n_events)
        return false;
    const struct ntff_event *e = &l->t->events[event];
    for (uint32_t i = l->first_row[e->track]; i < l->first_row[e->track + 1]; i++) {
        const struct tui_row *r = &l->rows[i];
        if (r->lane != tui_lane_of(l->t, e))
            continue;
        for (uint32_t p = tui_lod_find(l, i, e->ts_ns); p < r->n && r->ev[p] <= event; p++)
            if (r->ev[p] == event) {
                *row = i;
                *pos = p;
                return true;
            }
    }
    return false;
}

/* -- summing -------------------------------------------------------------------------------- */

/* A sum being made: the vote and the longest so far. */
struct acc {
    uint64_t busy, votes, longest_ns;
    uint32_t event;
    ntff_str name;
    unsigned has;
    uint32_t cost; /* events and nodes looked at */
};

static void acc_vote(struct acc *a, ntff_str name, uint64_t votes)
{
    if (a->name == name) {
        a->votes += votes;
    } else if (votes > a->votes) {
        a->votes = votes - a->votes;
        a->name = name;
    } else {
        a->votes -= votes;
    }
}

static void acc_longest(struct acc *a, uint64_t dur, uint32_t event)
{
    if (a->event == NTFF_NONE || dur > a->longest_ns) {
        a->longest_ns = dur;
        a->event = event;
    }
}

/* One event, clipped to [from, to). */
static inline void acc_event(const struct tui_lod *l, const struct ntff_event *e, uint32_t event,
                             uint64_t from, uint64_t to, struct acc *a)
{
    uint64_t b = e->ts_ns > from ? e->ts_ns : from, end = end_of(e);
    end = end < to ? end : to;
    uint64_t ns = end > b ? end - b : 0;
    a->busy += ns;
    a->cost++;
    acc_vote(a, e->name, ns);
    acc_longest(a, e->dur_ns, event);
    /* most events have nothing to tell */
    if (e->flags || e->cat == NTFF_CAT_ERROR || e->cat == NTFF_CAT_MARK)
        a->has |= tui_event_has(l->t, e);
}

static void acc_node(const struct tui_node *n, struct acc *a)
{
    a->cost++;
    acc_vote(a, n->name, tui_node_votes(n));
    acc_longest(a, n->longest_ns, n->event);
    a->has |= tui_node_has(n);
}

/* Whole blocks [lo, hi) by the tree. */
static void acc_blocks(const struct tui_lod *l, const struct tui_row *r, uint32_t lo, uint32_t hi,
                       struct acc *a)
{
    const struct tui_node *level = l->nodes + r->node;
    const struct tui_block *b = l->blocks + r->block;
    uint32_t n = tui_blocks_of(r->n);
    a->busy += b[hi].busy_ns - b[lo].busy_ns; /* hi is never behind the last block */
    while (lo < hi) {
        for (; lo < hi && lo % TUI_FAN; lo++)
            acc_node(&level[lo], a);
        for (; lo < hi && hi % TUI_FAN; hi--)
            acc_node(&level[hi - 1], a);
        if (hi - lo <= TUI_FAN) {
            for (; lo < hi; lo++)
                acc_node(&level[lo], a);
            return;
        }
        level += n;
        n = tui_parents_of(n);
        lo /= TUI_FAN;
        hi /= TUI_FAN;
    }
}

/* The last block that starts before t, from block k that does. */
static uint32_t last_block_before(const struct tui_block *b, uint32_t n, uint32_t k, uint64_t t)
{
    uint32_t step = 1;
    while (k + step < n && b[k + step].ts_ns < t) {
        k += step;
        step *= 2;
    }
    uint32_t hi = k + step < n ? k + step : n;
    while (hi - k > 1) {
        uint32_t mid = k + (hi - k) / 2;
        if (b[mid].ts_ns < t)
            k = mid;
        else
            hi = mid;
    }
    return k;
}

/* Adds the events from position i on that start before to; returns the first that does not. Blocks
 * all of whose events do (the next block starts before to as well) are taken whole; they end there
 * too, as spans of a row do not overlap. */
static uint32_t acc_until(const struct tui_lod *l, const struct tui_row *r, uint32_t i,
                          uint64_t from, uint64_t to, struct acc *a)
{
    const struct tui_block *b = l->blocks + r->block;
    uint32_t n_blocks = tui_blocks_of(r->n);
    while (i < r->n) {
        uint32_t k = i / TUI_BLOCK;
        if (i % TUI_BLOCK == 0 && k + 1 < n_blocks && b[k + 1].ts_ns < to) {
            uint32_t last = last_block_before(b, n_blocks, k + 1, to);
            i = last * TUI_BLOCK;
            for (uint32_t f = 0; f < FETCH_AHEAD; f++)
                fetch(l, r, i + f);
            acc_blocks(l, r, k, last, a);
            continue;
        }
        fetch(l, r, i + FETCH_AHEAD);
        const struct ntff_event *e = event_of(l, r, i);
        if (e->ts_ns >= to)
            break;
        acc_event(l, e, r->ev[i++], from, to, a);
    }
    return i;
}

static const struct tui_sum empty_sum = {.event = NTFF_NONE};

/* [from, to) of a row; pos is the first event that starts at or after from. Returns the first that
 * starts at or after to. */
static uint32_t sum_range(const struct tui_lod *l, const struct tui_row *r, uint32_t pos,
                          uint64_t from, uint64_t to, struct tui_sum *out, uint32_t *cost)
{
    struct acc a = {.event = NTFF_NONE};
    uint32_t first = pos;
    if (pos && end_of(event_of(l, r, pos - 1)) > from) {
        first = pos - 1;
        acc_event(l, event_of(l, r, first), r->ev[first], from, to, &a);
    }
    uint32_t end = acc_until(l, r, pos, from, to, &a);
    *out = empty_sum;
    *cost += a.cost;
    if (end == first)
        return end;
    bool sure = a.votes && a.votes >= a.busy / 3;
    *out = (struct tui_sum){.busy_ns = a.busy,
                            .count = end - first,
                            .starts = end - pos,
                            .event = a.event,
                            .name = sure ? a.name : l->t->events[a.event].name,
                            .has = (uint8_t)a.has};
    return end;
}

uint32_t tui_lod_cells(const struct tui_lod *l, uint32_t row, const struct tui_view *v, int x0,
                       int x1, struct tui_sum *out)
{
    const struct tui_row *r = &l->rows[row];
    uint64_t from = tui_view_begin(v, x0), prev_end = 0, next_ts = UINT64_MAX;
    uint32_t pos = find_from(l, r, 0, from), known = NTFF_NONE, cost = (uint32_t)(x1 - x0);
    for (int x = x0; x < x1; x++) {
        uint64_t next = tui_view_begin(v, x + 1), to = next > from ? next : from + 1;
        if (known != pos) { /* the neighbours of pos, read once */
            prev_end = pos ? end_of(event_of(l, r, pos - 1)) : 0;
            next_ts = pos < r->n ? event_of(l, r, pos)->ts_ns : UINT64_MAX;
            known = pos;
        }
        if (next_ts >= to && prev_end <= from) {
            out[x - x0] = empty_sum;
        } else {
            uint32_t end = sum_range(l, r, pos, from, to, &out[x - x0], &cost);
            if (next > from)
                pos = end;
            else /* narrower than a ns: the next column shows the same one */
                out[x - x0].starts = 0;
        }
        from = next;
    }
    return cost;
}

void tui_lod_range(const struct tui_lod *l, uint32_t row, uint64_t from, uint64_t to,
                   struct tui_sum *out)
{
    const struct tui_row *r = &l->rows[row];
    uint32_t cost = 0;
    sum_range(l, r, find_from(l, r, 0, from), from, to, out, &cost);
}

/* -- busy time of a track ------------------------------------------------------------------- */

/* Busy time of a row before t. */
static uint64_t row_busy_before(const struct tui_lod *l, const struct tui_row *r, uint64_t t)
{
    uint32_t pos = find_from(l, r, 0, t), i = 0;
    uint64_t busy = 0;
    if (pos == 0)
        return 0;
    if (r->n > TUI_BLOCK) {
        i = (pos - 1) / TUI_BLOCK * TUI_BLOCK;
        busy = l->blocks[r->block + i / TUI_BLOCK].busy_ns;
    }
    for (; i + 1 < pos; i++)
        busy += event_of(l, r, i)->dur_ns;
    uint64_t end = end_of(event_of(l, r, i));
    return busy + ((end < t ? end : t) - event_of(l, r, i)->ts_ns);
}

/* Time covered by any lane before t: resume at the last stop of the union index. */
static uint64_t union_before(const struct tui_lod *l, uint32_t track, uint64_t t)
{
    const uint32_t *o = l->t->order + l->t->first[track];
    uint32_t n = l->t->first[track + 1] - l->t->first[track];
    const struct tui_union *u = l->unions + l->first_union[track];
    size_t lo = 0, hi = l->first_union[track + 1] - l->first_union[track];
    if (hi == 0 || l->t->events[o[0]].ts_ns >= t)
        return 0;
    while (hi - lo > 1) {
        size_t mid = (lo + hi) / 2;
        if (u[mid].ts_ns < t)
            lo = mid;
        else
            hi = mid;
    }
    uint64_t busy = u[lo].busy_ns, reach = u[lo].reach_ns;
    for (uint32_t i = (uint32_t)lo * TUI_UNION; i < n; i++) {
        const struct ntff_event *e = &l->t->events[o[i]];
        if (e->ts_ns >= t)
            break;
        uint64_t from = e->ts_ns > reach ? e->ts_ns : reach, end = end_of(e);
        if (end > from) {
            busy += end - from;
            reach = end;
        }
    }
    return reach > t ? busy - (reach - t) : busy;
}

static uint64_t busy_before(const struct tui_lod *l, uint32_t track, uint64_t t)
{
    if (l->first_union[track + 1] > l->first_union[track])
        return union_before(l, track, t);
    if (l->first_row[track + 1] == l->first_row[track])
        return 0;
    return row_busy_before(l, &l->rows[l->first_row[track]], t);
}

uint64_t tui_lod_busy(const struct tui_lod *l, uint32_t track, uint64_t from, uint64_t to)
{
    return to > from ? busy_before(l, track, to) - busy_before(l, track, from) : 0;
}

/* -- longest -------------------------------------------------------------------------------- */

/* (dur, event) a before b: longer first, then earlier */
static bool longer(uint64_t a_ns, uint32_t a, uint64_t b_ns, uint32_t b)
{
    return a_ns != b_ns ? a_ns > b_ns : a < b;
}

struct longest {
    uint64_t from, to, limit_ns, best_ns;
    uint32_t limit, best;
    bool partial;
};

static void longest_of(const struct tui_lod *l, const struct tui_row *r, uint32_t i, uint32_t j,
                       struct longest *s)
{
    for (; i < j; i++) {
        const struct ntff_event *e = event_of(l, r, i);
        bool after =
            s->limit_ns == UINT64_MAX || longer(s->limit_ns, s->limit, e->dur_ns, r->ev[i]);
        if (after && tui_event_partial(e) == s->partial &&
            (s->best == NTFF_NONE || longer(e->dur_ns, r->ev[i], s->best_ns, s->best)) &&
            (end_of(e) > s->from || e->ts_ns >= s->from) && e->ts_ns < s->to) {
            s->best = r->ev[i];
            s->best_ns = e->dur_ns;
        }
    }
}

uint32_t tui_lod_next_longest(const struct tui_lod *l, uint32_t row0, uint32_t row1, uint64_t from,
                              uint64_t to, bool partial, uint64_t dur_ns, uint32_t event)
{
    struct longest s = {from, to, dur_ns, 0, event, NTFF_NONE, partial};
    for (uint32_t row = row0; row < row1; row++) {
        const struct tui_row *r = &l->rows[row];
        uint32_t i = tui_lod_find(l, row, from), j = find_from(l, r, i, to);
        i -= i > 0;
        while (i < j) {
            uint32_t stop = (i / TUI_BLOCK + 1) * TUI_BLOCK;
            stop = stop < j ? stop : j;
            /* a block whose longest, of either sort, cannot win is passed over */
            const struct tui_node *k =
                r->n <= TUI_BLOCK ? NULL : &l->nodes[r->node + i / TUI_BLOCK];
            bool none = k && partial && !(tui_node_has(k) & TUI_HAS_PARTIAL);
            if (!none &&
                (!k || s.best == NTFF_NONE || longer(k->longest_ns, k->event, s.best_ns, s.best)))
                longest_of(l, r, i, stop, &s);
            i = stop;
        }
    }
    return s.best;
}

/* -- gaps ---------------------------------------------------------------------------------- */

static bool gap_before(const struct tui_gap *a, const struct tui_gap *b)
{
    uint64_t la = a->to - a->from, lb = b->to - b->from;
    return la != lb ? la > lb : a->from < b->from;
}

struct gaps {
    uint64_t from, to;
    struct tui_gap after, best;
    bool limited, found;
};

/* A gap of the track, clipped to the range: the best so far among those after the last one shown?
 */
static void consider(struct gaps *s, uint64_t from, uint64_t to)
{
    struct tui_gap g = {from > s->from ? from : s->from, to};
    if (g.to <= g.from || (s->found && !gap_before(&g, &s->best)) ||
        (s->limited && !gap_before(&s->after, &g)))
        return;
    s->best = g;
    s->found = true;
}

/* Whether gaps of at most this length cannot be the best any more. */
static bool too_short(const struct gaps *s, uint64_t longest)
{
    return longest == 0 || (s->found && longest <= s->best.to - s->best.from);
}

/* One lane: gaps lie between the spans of the outermost row, and each block knows its longest. */
static void gaps_of_row(const struct tui_lod *l, uint32_t row, struct gaps *s)
{
    const struct tui_row *r = &l->rows[row];
    const struct tui_block *b = l->blocks + r->block;
    uint32_t i = tui_lod_find(l, row, s->from), j = find_from(l, r, i, s->to);
    for (i = i ? i : 1; i < j; i++) {
        if (r->n > TUI_BLOCK && i % TUI_BLOCK == 1 && too_short(s, b[i / TUI_BLOCK].gap_ns)) {
            i += TUI_BLOCK - 1;
            continue;
        }
        consider(s, end_of(event_of(l, r, i - 1)), event_of(l, r, i)->ts_ns);
    }
}

/* Several lanes: by the union index, whose entries tell how long nothing ran in between. */
static void gaps_of_lanes(const struct tui_lod *l, uint32_t track, struct gaps *s)
{
    const uint32_t *o = l->t->order + l->t->first[track];
    uint32_t n = l->t->first[track + 1] - l->t->first[track];
    const struct tui_union *u = l->unions + l->first_union[track];
    uint32_t n_unions = (uint32_t)(l->first_union[track + 1] - l->first_union[track]);
    for (uint32_t k = 0; k < n_unions && u[k].ts_ns < s->to; k++) {
        if (k + 1 < n_unions) {
            uint64_t idle = (u[k + 1].reach_ns - u[k].reach_ns) - (u[k + 1].busy_ns - u[k].busy_ns);
            if (u[k + 1].ts_ns < s->from || (k > 0 && too_short(s, idle)))
                continue;
        }
        uint64_t reach = u[k].reach_ns;
        for (uint32_t i = k * TUI_UNION; i < n && i < (k + 1) * TUI_UNION; i++) {
            const struct ntff_event *e = &l->t->events[o[i]];
            if (e->ts_ns >= s->to)
                return;
            if (i > 0 && e->ts_ns > reach)
                consider(s, reach, e->ts_ns);
            reach = end_of(e) > reach ? end_of(e) : reach;
        }
    }
}

bool tui_lod_next_gap(const struct tui_lod *l, uint32_t track, uint64_t from, uint64_t to,
                      const struct tui_gap *prev, struct tui_gap *out)
{
    struct gaps s = {.from = from, .to = to, .limited = prev != NULL};
    if (prev)
        s.after = *prev;
    if (l->first_union[track + 1] > l->first_union[track])
        gaps_of_lanes(l, track, &s);
    else if (l->first_row[track + 1] > l->first_row[track])
        gaps_of_row(l, l->first_row[track], &s);
    if (s.found)
        *out = s.best;
    return s.found;
}
