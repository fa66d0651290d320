/* stats - see stats.h. Three passes over the rows in range. COUNT sums per name and takes the time
 * of children off their parents (the row one deeper in the same lane, walked beside). FILL lays the
 * durations of each name side by side. SELECT finds p50 and p99 in place with Hoare's selection,
 * which can stop in the middle of a partition and go on. */
#include "stats.h"

#include <stdlib.h>
#include <string.h>

struct tui_stats_work {
    const struct tui_rows *rows;
    uint32_t *slot_of; /* by string id: index into v + 1 */
    size_t n_slots;
    uint64_t *durs;
    size_t n_durs;
    uint32_t pre, pre_end; /* tracks left, by preorder position */
    uint32_t row, row_end; /* rows left of the track */
    bool in_row;
    uint32_t i, j;               /* events left of the row */
    uint32_t parent, parent_row; /* position in the row above; NTFF_NONE = outermost */
    /* selection */
    size_t name;
    int quantile;     /* 0: p50, 1: p99 */
    size_t lo, hi, k; /* the k-th smallest is in [lo, hi) */
    size_t a, b;      /* partition under way: [lo, a) <= pivot, [b, hi) >= pivot */
    uint64_t pivot;
    bool ranged, splitting;
};

static inline uint64_t end_of(const struct ntff_event *e)
{
    return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

static void drop_work(struct tui_stats *s)
{
    if (s->w) {
        free(s->w->slot_of);
        free(s->w->durs);
    }
    free(s->w);
    s->w = NULL;
}

void tui_stats_done(struct tui_stats *s)
{
    drop_work(s);
    free(s->v);
    free(s->sorted);
    *s = (struct tui_stats){0};
}

void tui_stats_reset(struct tui_stats *s)
{
    drop_work(s);
    s->phase = TUI_STATS_IDLE;
}

static void rewind_rows(struct tui_stats *s)
{
    struct tui_stats_work *w = s->w;
    const struct tui_rows *r = w->rows;
    w->pre = 0;
    w->pre_end = (uint32_t)s->l->t->n_tracks;
    if (s->scope != NTFF_NONE) {
        w->pre = r->pre_of[s->scope];
        w->pre_end = r->pre_end[w->pre];
    }
    w->row = w->row_end = 0;
    w->in_row = false;
}

void tui_stats_want(struct tui_stats *s, const struct tui_rows *rows, uint64_t from, uint64_t to,
                    uint32_t scope)
{
    if (s->phase != TUI_STATS_IDLE && s->from == from && s->to == to && s->scope == scope)
        return;
    drop_work(s);
    s->l = rows->l;
    s->from = from;
    s->to = to;
    s->scope = scope;
    s->n = 0;
    s->n_partial = 0;
    s->done = s->all = 0;
    s->phase = TUI_STATS_FAILED;
    bool before = s->starved;
    s->starved = true; /* until all is there */
    s->w = calloc(1, sizeof *s->w);
    if (!s->w)
        return;
    s->w->rows = rows;
    s->w->n_slots = s->l->t->strs.items.n;
    s->w->slot_of = calloc(s->w->n_slots ? s->w->n_slots : 1, sizeof *s->w->slot_of);
    if (!s->w->slot_of)
        return;
    s->starved = before;
    rewind_rows(s);
    s->phase = TUI_STATS_COUNT;
}

/* Next row with events in range; false when there is none left. */
static bool next_row(struct tui_stats *s)
{
    struct tui_stats_work *w = s->w;
    const struct tui_lod *l = s->l;
    for (;;) {
        while (w->row == w->row_end) {
            if (w->pre == w->pre_end)
                return false;
            uint32_t track = w->rows->pre[w->pre++];
            if (!w->rows->shown[track])
                continue;
            w->row = l->first_row[track];
            w->row_end = l->first_row[track + 1];
        }
        const struct tui_row *r = &l->rows[w->row];
        w->i = tui_lod_find(l, w->row, s->from);
        w->j = tui_lod_find(l, w->row, s->to);
        if (w->i && end_of(&l->t->events[r->ev[w->i - 1]]) > s->from)
            w->i--;
        w->parent_row = r->depth ? w->row - 1 : NTFF_NONE;
        if (r->depth)
            w->parent = tui_lod_find(l, w->parent_row, s->from);
        if (r->depth && w->parent)
            w->parent--;
        w->row++;
        if (w->j > w->i) {
            w->in_row = true;
            return true;
        }
    }
}

static struct tui_stat *slot(struct tui_stats *s, ntff_str name)
{
    struct tui_stats_work *w = s->w;
    if (name >= w->n_slots)
        name = 0;
    if (!w->slot_of[name]) {
        if (!ntff_grow(NULL, (void **)&s->v, &s->cap, s->n, 1, sizeof *s->v))
            return NULL;
        s->v[s->n] = (struct tui_stat){.name = name, .track = NTFF_NONE, .min_ns = UINT64_MAX};
        w->slot_of[name] = (uint32_t)++s->n;
    }
    return &s->v[w->slot_of[name] - 1];
}

/* Part of [ts, end) inside the range. */
static uint64_t inside(const struct tui_stats *s, uint64_t ts, uint64_t end)
{
    uint64_t b = ts > s->from ? ts : s->from, e = end < s->to ? end : s->to;
    return e > b ? e - b : 0;
}

/* Takes a span's time off the span around it. */
static void charge_parent(struct tui_stats *s, const struct ntff_event *e, uint64_t ns)
{
    struct tui_stats_work *w = s->w;
    const struct tui_row *up = &s->l->rows[w->parent_row];
    while (w->parent < up->n && end_of(&s->l->t->events[up->ev[w->parent]]) <= e->ts_ns)
        w->parent++;
    if (w->parent >= up->n)
        return;
    const struct ntff_event *p = &s->l->t->events[up->ev[w->parent]];
    bool around = p->ts_ns <= e->ts_ns && !tui_event_partial(p);
    struct tui_stat *st = around ? slot(s, p->name) : NULL;
    if (st)
        st->self_ns -= ns; /* unsigned: may pass below zero until the parent itself is added */
}

static bool measured(const struct ntff_event *e)
{
    return !(e->flags & NTFF_EV_INSTANT) && !tui_event_partial(e);
}

static bool count_event(struct tui_stats *s, const struct ntff_event *e)
{
    struct tui_stat *st = slot(s, e->name);
    uint64_t ns = inside(s, e->ts_ns, end_of(e));
    if (!st)
        return false;
    if (tui_event_partial(e)) {
        st->n_partial++;
        s->n_partial++;
    } else {
        st->count++;
        st->total_ns += ns;
        st->self_ns += ns;
    }
    if (measured(e)) {
        st->n_spans++;
        st->sum_ns += e->dur_ns;
        st->min_ns = e->dur_ns < st->min_ns ? e->dur_ns : st->min_ns;
        st->max_ns = e->dur_ns > st->max_ns ? e->dur_ns : st->max_ns;
    }
    if (s->w->parent_row != NTFF_NONE && ns)
        charge_parent(s, e, ns);
    return true;
}

static bool after_count(struct tui_stats *s)
{
    struct tui_stats_work *w = s->w;
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        s->v[i].at = n;
        n += s->v[i].n_spans;
        if (!s->v[i].n_spans)
            s->v[i].min_ns = 0;
    }
    w->durs = malloc((n ? n : 1) * sizeof *w->durs);
    w->n_durs = n;
    s->phase = TUI_STATS_FILL;
    rewind_rows(s);
    tui_stats_sort(s, s->sort);
    return w->durs != NULL;
}

static void after_fill(struct tui_stats *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->v[i].at -= s->v[i].n_spans;
    s->phase = TUI_STATS_SELECT;
    s->w->name = 0;
    s->w->quantile = 0;
    s->w->ranged = false;
}

/* One pass over the rows, budget events of it. */
static bool scan(struct tui_stats *s, size_t budget)
{
    struct tui_stats_work *w = s->w;
    const struct ntff_event *events = s->l->t->events;
    while (budget > 0) {
        if (!w->in_row && !next_row(s)) {
            if (s->phase == TUI_STATS_FILL)
                after_fill(s);
            else
                return after_count(s);
            return true;
        }
        const struct tui_row *r = &s->l->rows[w->row - 1];
        for (; w->i < w->j && budget > 0; w->i++, budget--) {
            const struct ntff_event *e = &events[r->ev[w->i]];
            if (w->i + 8 < w->j) { /* events of a row lie far apart in memory */
                __builtin_prefetch(&events[r->ev[w->i + 8]]);
                __builtin_prefetch((const char *)&events[r->ev[w->i + 8] + 1] - 1);
            }
            if (s->phase == TUI_STATS_COUNT) {
                if (!count_event(s, e))
                    return false;
            } else if (measured(e)) {
                w->durs[s->v[w->slot_of[e->name < w->n_slots ? e->name : 0] - 1].at++] = e->dur_ns;
            }
            s->done++;
        }
        w->in_row = w->i < w->j;
        if (!w->in_row && budget > 0)
            budget--;
    }
    return true;
}

/* Partitions [lo, hi) around a pivot in at most budget steps, then narrows to the side of k.
 * Returns the budget left. */
static size_t split(struct tui_stats_work *w, size_t budget)
{
    uint64_t *v = w->durs;
    if (!w->splitting) {
        uint64_t x = v[w->lo], y = v[w->lo + (w->hi - w->lo) / 2], z = v[w->hi - 1];
        w->pivot = x < y ? (y < z ? y : x < z ? z : x) : (x < z ? x : y < z ? z : y);
        w->a = w->lo;
        w->b = w->hi;
        w->splitting = true;
    }
    while (w->a < w->b) { /* equal values stop both sides, so runs of them split evenly */
        for (; budget && v[w->a] < w->pivot; budget--)
            w->a++;
        for (; budget && v[w->b - 1] > w->pivot; budget--)
            w->b--;
        if (!budget)
            return 0;
        if (w->a < w->b) {
            uint64_t x = v[w->a];
            v[w->a++] = v[w->b - 1];
            v[--w->b] = x;
        }
        budget--;
    }
    w->splitting = false;
    if (w->k < w->b) {
        w->hi = w->b;
    } else if (w->k >= w->a) {
        w->lo = w->a;
    } else { /* between the sides: equal to the pivot */
        w->lo = w->k;
        w->hi = w->k + 1;
    }
    return budget;
}

/* Nearest rank: the value that q per cent of the spans do not exceed. */
static size_t rank_of(uint64_t n, unsigned percent)
{
    uint64_t r = n / 100 * percent + (n % 100 * percent + 99) / 100;
    return (size_t)(r ? r - 1 : 0);
}

static void select_some(struct tui_stats *s, size_t budget)
{
    struct tui_stats_work *w = s->w;
    while (budget > 0) {
        if (w->name == s->n) {
            s->phase = TUI_STATS_DONE;
            drop_work(s);
            tui_stats_sort(s, s->sort);
            return;
        }
        struct tui_stat *st = &s->v[w->name];
        if (!st->n_spans) {
            w->name++;
            budget--;
            continue;
        }
        if (!w->ranged) {
            w->lo = w->quantile ? w->k : st->at; /* p99 is not left of p50 */
            w->hi = st->at + st->n_spans;
            w->k = st->at + rank_of(st->n_spans, w->quantile ? 99 : 50);
            w->ranged = true;
            w->splitting = false;
        }
        if (w->hi - w->lo > 1) {
            budget = split(w, budget);
            continue;
        }
        *(w->quantile ? &st->p99_ns : &st->p50_ns) = w->durs[w->k];
        w->ranged = false;
        w->name += (size_t)w->quantile;
        w->quantile ^= 1;
        budget--;
    }
}

bool tui_stats_step(struct tui_stats *s, size_t budget)
{
    bool good = true;
    switch (s->phase) {
    case TUI_STATS_COUNT:
    case TUI_STATS_FILL:
        good = scan(s, budget);
        break;
    case TUI_STATS_SELECT:
        select_some(s, budget * 4); /* cheaper than looking at events */
        break;
    default:
        return false;
    }
    if (!good) {
        drop_work(s);
        s->phase = TUI_STATS_FAILED;
        s->starved = true;
    }
    return true;
}

/* -- order ---------------------------------------------------------------------------------- */

static uint64_t sort_key(const struct tui_stat *st, enum tui_sort by)
{
    switch (by) {
    case TUI_SORT_SELF:
        return st->self_ns;
    case TUI_SORT_COUNT:
        return st->count;
    case TUI_SORT_MEAN:
        return st->n_spans ? st->sum_ns / st->n_spans : 0;
    case TUI_SORT_MIN:
        return st->min_ns;
    case TUI_SORT_P50:
        return st->p50_ns;
    case TUI_SORT_P99:
        return st->p99_ns;
    case TUI_SORT_MAX:
        return st->max_ns;
    default:
        return st->total_ns;
    }
}

static int compare(const void *pa, const void *pb, void *arg)
{
    const struct tui_stats *s = arg;
    const struct tui_stat *a = &s->v[*(const uint32_t *)pa], *b = &s->v[*(const uint32_t *)pb];
    if (s->sort != TUI_SORT_NAME) {
        uint64_t x = sort_key(a, s->sort), y = sort_key(b, s->sort);
        if (x != y)
            return x > y ? -1 : 1;
        if (a->count != b->count)
            return a->count > b->count ? -1 : 1;
    }
    int c = strcmp(ntff_str_of(s->l->t, a->name), ntff_str_of(s->l->t, b->name));
    return c ? c : (a->name > b->name) - (a->name < b->name);
}

void tui_stats_sort(struct tui_stats *s, enum tui_sort by)
{
    s->sort = by;
    if (!s->n)
        return;
    if (!ntff_grow(NULL, (void **)&s->sorted, &s->cap_sorted, 0, s->n, sizeof *s->sorted)) {
        s->starved = true;
        return;
    }
    for (size_t i = 0; i < s->n; i++)
        s->sorted[i] = (uint32_t)i;
    qsort_r(s->sorted, s->n, sizeof *s->sorted, compare, s);
}

const char *tui_sort_name(enum tui_sort by)
{
    static const char *const name[TUI_SORT_KINDS] = {"total", "self", "count", "mean", "min",
                                                     "p50",   "p99",  "max",   "name"};
    return name[by];
}
