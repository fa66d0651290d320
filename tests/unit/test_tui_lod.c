/* The index of the viewer against plain loops over all events, on random traces and random views.
 */
#include "tests/made.h"
#include "tests/random.h"
#include "tests/tap.h"
#include "tui/lod.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct ntff_trace *tr;
static struct tui_lod l;

static void make(const char *recipe, size_t n, uint64_t seed)
{
    struct ntff_error err;
    tr = made_make(recipe, n, seed);
    TAP_OK(tr != NULL);
    TAP_OK(tui_lod_build(&l, tr, NULL, NULL, &err) == NTFF_OK);
}

static void drop(void)
{
    tui_lod_done(&l);
    made_free(tr);
}

static uint64_t end_of(const struct ntff_event *e)
{
    return e->ts_ns + e->dur_ns;
}

static bool touches(const struct ntff_event *e, uint64_t from, uint64_t to)
{
    return e->ts_ns < to && (end_of(e) > from || e->ts_ns >= from);
}

static uint64_t part(const struct ntff_event *e, uint64_t from, uint64_t to)
{
    uint64_t b = e->ts_ns > from ? e->ts_ns : from, x = end_of(e) < to ? end_of(e) : to;
    return x > b ? x - b : 0;
}

/* A view somewhere in the trace, of any zoom. */
static struct tui_view random_view(uint64_t *r, int cols)
{
    struct tui_view v;
    uint64_t whole = tr->end_ns + 1 - tr->begin_ns;
    tui_view_init(&v, tr->begin_ns, tr->end_ns + 1, cols);
    uint64_t span = 1 + random_below(r, (whole >> random_below(r, 40)) + 1);
    uint64_t from = tr->begin_ns + random_below(r, whole);
    if (random_below(r, 2) && tr->n_events) /* near an event, where it is tight */
        from = tr->events[random_below(r, tr->n_events)].ts_ns;
    tui_view_fit(&v, from, from + span);
    return v;
}

/* One cell against a loop over the row. */
static void check_sum(const struct tui_row *r, uint64_t from, uint64_t to, const struct tui_sum *s)
{
    uint64_t busy = 0, longest = 0;
    uint32_t count = 0;
    unsigned has = 0;
    static uint64_t of_name[4096];
    memset(of_name, 0, sizeof of_name);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ntff_event *e = &tr->events[r->ev[i]];
        if (!touches(e, from, to))
            continue;
        busy += part(e, from, to);
        of_name[e->name % 4096] += part(e, from, to);
        longest = e->dur_ns > longest ? e->dur_ns : longest;
        has |= tui_event_has(tr, e);
        count++;
    }
    TAP_EQ_U64(s->count, count);
    TAP_EQ_U64(s->busy_ns, busy);
    TAP_EQ_U64(s->has, has);
    if (!count) {
        TAP_EQ_U64(s->event, NTFF_NONE);
        return;
    }
    TAP_EQ_U64(tr->events[s->event].dur_ns, longest);
    TAP_OK(touches(&tr->events[s->event], from, to));
    for (size_t n = 0; n < 4096; n++)
        if (of_name[n] > busy / 3 * 2 + 2 && busy > 8)
            TAP_EQ_U64(s->name, n);
    /* a name is never made up: it is that of the longest, or has a third */
    TAP_OK(s->name == tr->events[s->event].name || of_name[s->name % 4096] >= busy / 3);
}

static void check_cells(uint64_t seed, int rounds)
{
    uint64_t r = seed ^ 99;
    for (int k = 0; k < rounds; k++) {
        int cols = 1 + (int)random_below(&r, 40);
        struct tui_view v = random_view(&r, cols);
        struct tui_sum cells[40];
        uint32_t row = (uint32_t)random_below(&r, l.n_rows);
        int x0 = (int)random_below(&r, (uint64_t)cols);
        tui_lod_cells(&l, row, &v, x0, cols, cells);
        for (int x = x0; x < cols; x++) {
            TAP_CONTEXT("seed %llu, round %d, row %u, column %d", (unsigned long long)seed, k, row,
                        x);
            check_sum(&l.rows[row], tui_view_begin(&v, x), tui_view_end(&v, x), &cells[x - x0]);
        }
        struct tui_sum one;
        tui_lod_range(&l, row, v.from, tui_view_to(&v), &one);
        check_sum(&l.rows[row], v.from, tui_view_to(&v), &one);
    }
}

TAP_TEST(cells_of_random_traces)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        make("random", 20 + (size_t)seed * 61, seed);
        check_cells(seed, 60);
        drop();
    }
}

TAP_TEST(cells_of_long_rows)
{
    make("bench", 60000, 3);
    check_cells(3, 400);
    drop();
}

TAP_TEST(rows_hold_every_event_once_and_do_not_overlap)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        make(seed % 2 ? "random" : "deep", 3000, seed);
        size_t n = 0;
        for (uint32_t i = 0; i < l.n_rows; i++) {
            const struct tui_row *r = &l.rows[i];
            n += r->n;
            for (uint32_t k = 0; k < r->n; k++) {
                const struct ntff_event *e = &tr->events[r->ev[k]];
                uint32_t row, pos;
                TAP_EQ_U64(e->track, r->track);
                TAP_EQ_U64(e->lane, r->lane);
                if (k)
                    TAP_OK(end_of(&tr->events[r->ev[k - 1]]) <= e->ts_ns);
                TAP_OK(tui_lod_locate(&l, r->ev[k], &row, &pos));
                TAP_EQ_U64(row, i);
                TAP_EQ_U64(pos, k);
            }
        }
        TAP_EQ_U64(n, tr->n_events);
        drop();
    }
}

/* Union of all spans of a track by a sweep. */
static uint64_t slow_busy(uint32_t track, uint64_t from, uint64_t to)
{
    uint64_t busy = 0, reach = from;
    for (size_t i = 0; i < tr->n_events; i++) {
        const struct ntff_event *e = &tr->events[i];
        if (e->track != track)
            continue;
        uint64_t b = e->ts_ns > reach ? e->ts_ns : reach, x = end_of(e) < to ? end_of(e) : to;
        if (x > b) {
            busy += x - b;
            reach = x;
        }
    }
    return busy;
}

TAP_TEST(busy_time_is_the_union_of_lanes)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t r = seed;
        make(seed == 1 ? "tour" : seed == 2 ? "deep" : "random", 2000, seed);
        for (int k = 0; k < 60; k++) {
            struct tui_view v = random_view(&r, 10);
            uint32_t track = (uint32_t)random_below(&r, tr->n_tracks);
            TAP_CONTEXT("seed %llu round %d track %u", (unsigned long long)seed, k, track);
            TAP_EQ_U64(tui_lod_busy(&l, track, v.from, tui_view_to(&v)),
                       slow_busy(track, v.from, tui_view_to(&v)));
        }
        drop();
    }
}

static int by_length(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    uint64_t x = tr->events[a].dur_ns, y = tr->events[b].dur_ns;
    if (x != y)
        return x > y ? -1 : 1;
    return (a > b) - (a < b);
}

/* Marks some of the spans partial, and has the index made anew. */
static void lose_some(uint64_t *r)
{
    static const unsigned why[] = {NTFF_EV_UNFINISHED, NTFF_EV_START_LOST, NTFF_EV_CUT_LEFT,
                                   NTFF_EV_CUT_RIGHT};
    struct ntff_error err;
    for (size_t i = 0; i < tr->n_events; i++)
        if (random_below(r, 9) == 0)
            tr->events[i].flags = (tr->events[i].flags | why[random_below(r, 4)]) & 0x3FFFF;
    tui_lod_done(&l);
    TAP_OK(tui_lod_build(&l, tr, NULL, NULL, &err) == NTFF_OK);
}

TAP_TEST(next_longest_walks_all_by_length)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint64_t r = seed;
        bool partial = seed % 2;
        make(seed % 4 > 1 ? "random" : "bench", 1500, seed);
        lose_some(&r);
        struct tui_view v = random_view(&r, 10);
        uint32_t row0 = (uint32_t)random_below(&r, l.n_rows),
                 row1 = row0 + 1 + (uint32_t)random_below(&r, 3);
        row1 = row1 > l.n_rows ? l.n_rows : row1;
        uint32_t *want = calloc(tr->n_events + 1, sizeof *want);
        size_t n = 0;
        for (uint32_t i = row0; i < row1; i++)
            for (uint32_t k = 0; k < l.rows[i].n; k++)
                if (touches(&tr->events[l.rows[i].ev[k]], v.from, tui_view_to(&v)) &&
                    tui_event_partial(&tr->events[l.rows[i].ev[k]]) == partial)
                    want[n++] = l.rows[i].ev[k];
        if (n)
            qsort(want, n, sizeof *want, by_length);
        uint64_t dur = UINT64_MAX;
        uint32_t event = 0;
        for (size_t i = 0; i <= n; i++) {
            uint32_t got =
                tui_lod_next_longest(&l, row0, row1, v.from, tui_view_to(&v), partial, dur, event);
            TAP_CONTEXT("seed %llu, place %zu of %zu", (unsigned long long)seed, i, n);
            TAP_EQ_U64(got, i < n ? want[i] : NTFF_NONE);
            if (got != NTFF_NONE) {
                dur = tr->events[got].dur_ns;
                event = got;
            }
        }
        free(want);
        drop();
    }
}

/* All gaps of a track inside [from, to), by a sweep; longest first. */
static size_t slow_gaps(uint32_t track, uint64_t from, uint64_t to, struct tui_gap *out)
{
    uint64_t reach = 0;
    bool any = false;
    size_t n = 0;
    for (size_t i = 0; i < tr->n_events; i++) {
        const struct ntff_event *e = &tr->events[i];
        if (e->track != track || e->ts_ns >= to)
            continue;
        if (any && e->ts_ns > reach && e->ts_ns > from && e->ts_ns >= from)
            out[n++] = (struct tui_gap){reach > from ? reach : from, e->ts_ns};
        reach = end_of(e) > reach ? end_of(e) : reach;
        any = true;
    }
    for (size_t i = 0; i < n; i++) /* insertion sort: longer first, then earlier */
        for (size_t k = i; k > 0; k--) {
            struct tui_gap *a = &out[k - 1], *b = &out[k], x = *a;
            if (b->to - b->from <= a->to - a->from)
                break;
            *a = *b;
            *b = x;
        }
    return n;
}

static void check_gaps(uint32_t track, uint64_t from, uint64_t to)
{
    struct tui_gap *want = calloc(tr->n_events + 1, sizeof *want), got = {0};
    size_t n = slow_gaps(track, from, to, want);
    bool more = true;
    for (size_t i = 0; i <= n && more; i++) {
        more = tui_lod_next_gap(&l, track, from, to, i ? &got : NULL, &got);
        TAP_OK(more == (i < n));
        if (more) {
            TAP_EQ_U64(got.from, want[i].from);
            TAP_EQ_U64(got.to, want[i].to);
        }
    }
    free(want);
}

TAP_TEST(next_gap_walks_all_by_length)
{
    make("tour", 0, 0);
    for (uint32_t k = 0; k < tr->n_tracks; k++) {
        TAP_CONTEXT("track %u", k);
        if (tr->first[k + 1] > tr->first[k])
            check_gaps(k, tr->begin_ns, tr->end_ns);
    }
    drop();
    make("bench", 6000, 5);
    uint64_t r = 5;
    for (int i = 0; i < 20; i++) {
        struct tui_view v = random_view(&r, 3);
        uint32_t k = 2 + (uint32_t)random_below(&r, 22);
        TAP_CONTEXT("round %d track %u", i, k);
        if (tr->first[k + 1] > tr->first[k])
            check_gaps(k, v.from, tui_view_to(&v));
    }
    drop();
}

TAP_TEST(gaps_look_at_all_lanes)
{
    struct ntff_error err;
    struct made *s = made_begin();
    struct tui_gap g;
    uint32_t k = made_track(s, NTFF_NONE, NTFF_TRACK_DMA, "q");
    made_span(s, k, 0, 0, 10, "a");
    made_span(s, k, 1, 5, 20, "b"); /* until 25 */
    made_span(s, k, 0, 40, 10, "c");
    made_span(s, k, 0, 52, 10, "d");
    tr = made_end(s);
    TAP_OK(tui_lod_build(&l, tr, NULL, NULL, &err) == NTFF_OK);
    TAP_OK(tui_lod_next_gap(&l, k, tr->begin_ns, tr->end_ns, NULL, &g));
    TAP_EQ_U64(g.from - tr->begin_ns, 25);
    TAP_EQ_U64(g.to - tr->begin_ns, 40);
    TAP_OK(tui_lod_next_gap(&l, k, tr->begin_ns, tr->end_ns, &g, &g));
    TAP_EQ_U64(g.to - g.from, 2);
    TAP_OK(!tui_lod_next_gap(&l, k, tr->begin_ns, tr->end_ns, &g, &g));
    drop();
}

TAP_TEST(counters_show_every_peak)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t r = seed;
        make("random", 4000, seed);
        for (int k = 0; k < 40; k++) {
            uint32_t track = (uint32_t)random_below(&r, tr->n_tracks);
            struct tui_range cells[20];
            struct tui_view v = random_view(&r, 20);
            if (!tui_lod_n_samples(&l, track))
                continue;
            tui_lod_counter_cells(&l, track, &v, 0, 20, cells);
            for (int x = 0; x < 20; x++) {
                uint64_t from = tui_view_begin(&v, x), to = tui_view_end(&v, x);
                double lo = INFINITY, hi = -INFINITY, held = 0, last = 0;
                bool any = false, at_from = false, inside = false;
                for (size_t i = 0; i < tr->n_samples; i++) {
                    const struct ntff_sample *p = &tr->samples[i];
                    if (p->track != track || p->ts_ns >= to)
                        continue;
                    any = true;
                    last = (double)p->value.i;
                    if (p->ts_ns < from) {
                        held = last;
                        continue;
                    }
                    at_from = at_from || (!inside && p->ts_ns == from);
                    inside = true;
                    lo = last < lo ? last : lo;
                    hi = last > hi ? last : hi;
                }
                bool before = any && !at_from;
                for (size_t i = 0, first = 1; before && i < tr->n_samples; i++)
                    if (tr->samples[i].track == track && first) {
                        before = tr->samples[i].ts_ns < from;
                        first = 0;
                    }
                if (before) {
                    lo = held < lo ? held : lo;
                    hi = held > hi ? held : hi;
                }
                TAP_CONTEXT("seed %llu, round %d, column %d", (unsigned long long)seed, k, x);
                TAP_EQ_U64(cells[x].any, any);
                if (any) {
                    TAP_OK(cells[x].lo == lo && cells[x].hi == hi && cells[x].last == last);
                }
            }
        }
        drop();
    }
}

TAP_TEST(errors_are_listed)
{
    make("bench", 20000, 11);
    size_t n = 0;
    for (size_t i = 0; i < tr->n_events; i++)
        if (tui_event_has(tr, &tr->events[i]) & (TUI_HAS_ERROR | TUI_HAS_LOST)) {
            TAP_OK(n < l.n_alarms);
            TAP_EQ_U64(l.alarms[n++], i);
        }
    TAP_EQ_U64(n, l.n_alarms);
    drop();
}

TAP_TEST(index_stays_under_12_bytes_an_event)
{
    make("bench", 300000, 2);
    TAP_OK((l.bytes + (tr->n_events + tr->n_tracks) * 4) <= 12 * tr->n_events);
    drop();
}

TAP_TEST(empty_traces)
{
    make("empty", 0, 0);
    TAP_EQ_U64(l.n_rows, 0);
    TAP_EQ_U64(tui_lod_busy(&l, 1, 0, 1000), 0);
    drop();
    make("samples", 0, 0);
    TAP_EQ_U64(l.n_rows, 0);
    TAP_OK(tui_lod_n_samples(&l, 2) > 0);
    drop();
}

static int stop(void *user, const char *what, int permille)
{
    (void)what;
    (void)permille;
    return --*(int *)user <= 0;
}

TAP_TEST(building_can_be_cancelled)
{
    struct ntff_error err;
    int left = 1;
    tr = made_make("bench", 600000, 1);
    TAP_EQ_U64(tui_lod_build(&l, tr, stop, &left, &err), NTFF_CANCELLED);
    TAP_OK(l.rows == NULL);
    made_free(tr);
}

TAP_MAIN()
