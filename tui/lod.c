/* lod - see lod.h: questions to the index. lod_build.c makes it, lod_counter.c has the counters. */
#include "lod_priv.h"

#include <string.h>

static inline const struct ntff_event *event_of(const struct tui_lod *l, const struct tui_row *r,
                                                uint32_t pos)
{
    return &l->t->events[r->ev[pos]];
}

static inline uint64_t end_of(const struct ntff_event *e)
{
    return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

unsigned tui_event_has(const struct ntff_trace *t, const struct ntff_event *e)
{
    unsigned has = 0;
    if (e->cat == NTFF_CAT_ERROR)
        has |= TUI_HAS_ERROR;
    if (e->cat == NTFF_CAT_MARK && strncmp(ntff_str_of(t, e->name), "events lost", 11) == 0)
        has |= TUI_HAS_LOST; /* as the loader names them */
    if (e->flags & NTFF_EV_UNFINISHED)
        has |= TUI_HAS_UNFINISHED;
    if (e->flags & NTFF_EV_START_LOST)
        has |= TUI_HAS_START_LOST;
    if (e->flags & (NTFF_EV_CUT_LEFT | NTFF_EV_CUT_RIGHT))
        has |= TUI_HAS_CUT;
    if (e->flags & NTFF_EV_ESTIMATED)
        has |= TUI_HAS_ESTIMATED;
    if (e->flags & NTFF_EV_UNALIGNED)
        has |= TUI_HAS_UNALIGNED;
    if (e->flags & NTFF_EV_INSTANT)
        has |= TUI_HAS_INSTANT;
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
        if (r->lane != e->lane)
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

/* Events [i, j), each clipped to [from, to). */
static void acc_events(const struct tui_lod *l, const struct tui_row *r, uint32_t i, uint32_t j,
                       uint64_t from, uint64_t to, struct acc *a)
{
    for (; i < j; i++) {
        const struct ntff_event *e = event_of(l, r, i);
        uint64_t b = e->ts_ns > from ? e->ts_ns : from, end = end_of(e);
        uint64_t ns = (end < to ? end : to) > b ? (end < to ? end : to) - b : 0;
        a->busy += ns;
        acc_vote(a, e->name, ns);
        acc_longest(a, e->dur_ns, r->ev[i]);
        a->has |= tui_event_has(l->t, e);
    }
}

static void acc_node(const struct tui_node *n, struct acc *a)
{
    acc_vote(a, n->name, tui_node_votes(n));
    acc_longest(a, n->longest_ns, n->event);
    a->has |= tui_node_has(n);
}

/* Whole blocks [lo, hi) by the tree. */
static void acc_blocks(const struct tui_lod *l, const struct tui_row *r, uint32_t lo, uint32_t hi,
                       struct acc *a)
{
    const struct tui_node *level = l->nodes + r->node;
    uint32_t n = tui_blocks_of(r->n);
    while (lo < hi) {
        for (; lo < hi && lo % TUI_FAN; lo++)
            acc_node(&level[lo], a);
        /* the last node of a level may have fewer than TUI_FAN children: it is whole all the same
         */
        for (; lo < hi && hi % TUI_FAN && hi != n; hi--)
            acc_node(&level[hi - 1], a);
        if (lo >= hi)
            break;
        if (hi - lo <= TUI_FAN) {
            for (; lo < hi; lo++)
                acc_node(&level[lo], a);
            break;
        }
        level += n;
        n = tui_parents_of(n);
        lo /= TUI_FAN;
        hi = (hi + TUI_FAN - 1) / TUI_FAN;
    }
}

/* Events [i, j) of a row over [from, to); only the first and the last can reach over an edge. */
static void sum_events(const struct tui_lod *l, const struct tui_row *r, uint32_t i, uint32_t j,
                       uint64_t from, uint64_t to, struct tui_sum *out)
{
    struct acc a = {.event = NTFF_NONE};
    uint32_t n = j - i;
    if (n <= 2 * TUI_BLOCK || r->n <= TUI_BLOCK) {
        acc_events(l, r, i, j, from, to, &a);
    } else {
        uint32_t b0 = (i + 1 + TUI_BLOCK - 1) / TUI_BLOCK, b1 = (j - 1) / TUI_BLOCK;
        const struct tui_block *b = l->blocks + r->block;
        acc_events(l, r, i, b0 * TUI_BLOCK, from, to, &a);
        if (b1 > b0) {
            acc_blocks(l, r, b0, b1, &a);
            a.busy += b[b1].busy_ns - b[b0].busy_ns;
        }
        acc_events(l, r, b1 > b0 ? b1 * TUI_BLOCK : b0 * TUI_BLOCK, j, from, to, &a);
    }
    out->busy_ns = a.busy;
    out->count = n;
    out->event = a.event;
    out->has = (uint8_t)a.has;
    out->name = a.event == NTFF_NONE               ? 0
                : a.votes && a.votes >= a.busy / 3 ? a.name
                                                   : l->t->events[a.event].name;
}

static const struct tui_sum empty_sum = {.event = NTFF_NONE};

void tui_lod_cells(const struct tui_lod *l, uint32_t row, const struct tui_view *v, int x0, int x1,
                   struct tui_sum *out)
{
    const struct tui_row *r = &l->rows[row];
    uint32_t pos = find_from(l, r, 0, tui_view_begin(v, x0)); /* first start >= the cell's begin */
    uint64_t prev_end = pos ? end_of(event_of(l, r, pos - 1)) : 0;
    uint64_t next_ts = pos < r->n ? event_of(l, r, pos)->ts_ns : UINT64_MAX;
    for (int x = x0; x < x1; x++) {
        uint64_t from = tui_view_begin(v, x), to = tui_view_end(v, x);
        uint32_t end = pos;
        if (next_ts < to)
            end = find_from(l, r, pos, to);
        uint32_t first = pos && prev_end > from ? pos - 1 : pos;
        if (first == end)
            out[x - x0] = empty_sum;
        else
            sum_events(l, r, first, end, from, to, &out[x - x0]);
        /* a column narrower than a ns shows the same ns as the next one */
        if (end != pos && tui_view_begin(v, x + 1) > from) {
            pos = tui_view_begin(v, x + 1) >= to ? end
                                                 : find_from(l, r, pos, tui_view_begin(v, x + 1));
            prev_end = pos ? end_of(event_of(l, r, pos - 1)) : 0;
            next_ts = pos < r->n ? event_of(l, r, pos)->ts_ns : UINT64_MAX;
        }
    }
}

void tui_lod_range(const struct tui_lod *l, uint32_t row, uint64_t from, uint64_t to,
                   struct tui_sum *out)
{
    const struct tui_row *r = &l->rows[row];
    uint32_t i = find_from(l, r, 0, from), j = find_from(l, r, i, to);
    if (i && end_of(event_of(l, r, i - 1)) > from)
        i--;
    *out = empty_sum;
    if (j > i)
        sum_events(l, r, i, j, from, to, out);
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
};

static void longest_of(const struct tui_lod *l, const struct tui_row *r, uint32_t i, uint32_t j,
                       struct longest *s)
{
    for (; i < j; i++) {
        const struct ntff_event *e = event_of(l, r, i);
        bool after =
            s->limit_ns == UINT64_MAX || longer(s->limit_ns, s->limit, e->dur_ns, r->ev[i]);
        if (after && (s->best == NTFF_NONE || longer(e->dur_ns, r->ev[i], s->best_ns, s->best)) &&
            (end_of(e) > s->from || e->ts_ns >= s->from) && e->ts_ns < s->to) {
            s->best = r->ev[i];
            s->best_ns = e->dur_ns;
        }
    }
}

uint32_t tui_lod_next_longest(const struct tui_lod *l, uint32_t row0, uint32_t row1, uint64_t from,
                              uint64_t to, uint64_t dur_ns, uint32_t event)
{
    struct longest s = {from, to, dur_ns, 0, event, NTFF_NONE};
    for (uint32_t row = row0; row < row1; row++) {
        const struct tui_row *r = &l->rows[row];
        uint32_t i = tui_lod_find(l, row, from), j = find_from(l, r, i, to);
        i -= i > 0;
        while (i < j) {
            uint32_t stop = (i / TUI_BLOCK + 1) * TUI_BLOCK;
            stop = stop < j ? stop : j;
            /* a block whose longest cannot win is passed over */
            const struct tui_node *k =
                r->n <= TUI_BLOCK ? NULL : &l->nodes[r->node + i / TUI_BLOCK];
            if (!k || s.best == NTFF_NONE || longer(k->longest_ns, k->event, s.best_ns, s.best))
                longest_of(l, r, i, stop, &s);
            i = stop;
        }
    }
    return s.best;
}

/* -- gaps ----------------------------------------------------------------------------------- */

/* End of whatever runs on the track's outermost rows before t. */
static uint64_t reach_before(const struct tui_lod *l, uint32_t track, uint64_t t)
{
    uint64_t reach = 0;
    for (uint32_t i = l->first_row[track]; i < l->first_row[track + 1]; i++) {
        if (l->rows[i].depth)
            continue;
        uint32_t pos = tui_lod_find(l, i, t);
        uint64_t end = pos ? end_of(event_of(l, &l->rows[i], pos - 1)) : 0;
        reach = end > reach ? end : reach;
    }
    return reach;
}

static bool gap_before(const struct tui_gap *a, const struct tui_gap *b)
{
    uint64_t la = a->to - a->from, lb = b->to - b->from;
    return la != lb ? la > lb : a->from < b->from;
}

/* Lanes are given first fit, so whenever nothing runs the next span starts on lane 0: every gap of
 * the track ends where a span of its first row starts. */
bool tui_lod_next_gap(const struct tui_lod *l, uint32_t track, uint64_t from, uint64_t to,
                      const struct tui_gap *prev, struct tui_gap *out)
{
    if (l->first_row[track] == l->first_row[track + 1])
        return false;
    uint32_t row = l->first_row[track];
    const struct tui_row *r = &l->rows[row];
    struct tui_gap last = prev ? *prev : (struct tui_gap){0}; /* out may be prev */
    bool one_lane = l->t->tracks[track].n_lanes <= 1, found = false;
    uint32_t i = tui_lod_find(l, row, from), j = find_from(l, r, i, to);
    const struct tui_block *b = l->blocks + r->block;
    for (i = i ? i : 1; i < j; i++) {
        if (found && r->n > TUI_BLOCK && i % TUI_BLOCK == 1 &&
            b[i / TUI_BLOCK].gap_ns <= out->to - out->from) {
            i += TUI_BLOCK - 1; /* no gap behind an event of this block is longer */
            continue;
        }
        struct tui_gap g = {end_of(event_of(l, r, i - 1)), event_of(l, r, i)->ts_ns};
        if (g.from < from)
            g.from = from;
        if (g.to <= g.from || (found && !gap_before(&g, out)))
            continue;
        if (!one_lane) {
            uint64_t reach = reach_before(l, track, g.to);
            g.from = reach > g.from ? reach : g.from;
        }
        if (g.to > g.from && (!prev || gap_before(&last, &g)) && (!found || gap_before(&g, out))) {
            *out = g;
            found = true;
        }
    }
    return found;
}
