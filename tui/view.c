/* view - see view.h. */
#include "view.h"

typedef unsigned __int128 u128;

static uint64_t whole(const struct tui_view *v)
{
    return v->end - v->begin;
}

bool tui_view_same(const struct tui_view *a, const struct tui_view *b)
{
    return a->begin == b->begin && a->end == b->end && a->from == b->from && a->span == b->span &&
           a->cols == b->cols;
}

/* Brings from and span back inside the whole. */
static void clamp(struct tui_view *v)
{
    if (v->span < 1)
        v->span = 1;
    if (v->span > whole(v))
        v->span = whole(v);
    if (v->from < v->begin)
        v->from = v->begin;
    if (v->from > v->end - v->span)
        v->from = v->end - v->span;
}

void tui_view_init(struct tui_view *v, uint64_t begin, uint64_t end, int cols)
{
    if (end <= begin) {
        begin -= begin == UINT64_MAX;
        end = begin + 1;
    }
    *v = (struct tui_view){begin, end, begin, end - begin, cols < 1 ? 1 : cols};
}

uint64_t tui_view_begin(const struct tui_view *v, int x)
{
    if (x <= 0)
        return v->from;
    return v->from + (uint64_t)((u128)v->span * (u128)x / (u128)v->cols);
}

uint64_t tui_view_end(const struct tui_view *v, int x)
{
    uint64_t b = tui_view_begin(v, x), e = tui_view_begin(v, x + 1);
    return e > b ? e : b + (b < UINT64_MAX);
}

int tui_view_col(const struct tui_view *v, uint64_t t)
{
    if (t < v->from)
        return -1;
    if (t - v->from >= v->span)
        return v->cols;
    /* the last x with x * span / cols <= d, that is x * span < (d + 1) * cols */
    u128 d = (u128)(t - v->from) + 1;
    return (int)((d * (u128)v->cols + v->span - 1) / v->span) - 1;
}

void tui_view_zoom(struct tui_view *v, uint64_t num, uint64_t den, uint64_t anchor)
{
    uint64_t old = v->span;
    u128 want = ((u128)old * num + den / 2) / den;
    if (num < den && want >= old)
        want = old - 1;
    if (num > den && want <= old)
        want = (u128)old + 1;
    v->span = want < 1 ? 1 : want > whole(v) ? whole(v) : (uint64_t)want;
    if (anchor < v->from)
        anchor = v->from;
    if (anchor - v->from > old)
        anchor = v->from + old;
    uint64_t left = (uint64_t)((u128)(anchor - v->from) * v->span / old);
    v->from = anchor - v->begin >= left ? anchor - left : v->begin;
    clamp(v);
}

void tui_view_pan(struct tui_view *v, int num, int den)
{
    uint64_t step = (uint64_t)((u128)v->span * (u128)(num < 0 ? -num : num) / (u128)den);
    if (step == 0)
        step = 1;
    if (num < 0)
        v->from = v->from - v->begin > step ? v->from - step : v->begin;
    else
        v->from = v->end - v->span - v->from > step ? v->from + step : v->end - v->span;
}

void tui_view_fit(struct tui_view *v, uint64_t from, uint64_t to)
{
    if (from < v->begin)
        from = v->begin;
    if (from >= v->end)
        from = v->end - 1;
    if (to > v->end)
        to = v->end;
    v->from = from;
    v->span = to > from ? to - from : 1;
    clamp(v);
}

void tui_view_reveal(struct tui_view *v, uint64_t t)
{
    uint64_t margin = v->span / 8;
    if (t >= v->from && t - v->from < v->span)
        return;
    if (t < v->from)
        v->from = t > v->begin && t - v->begin > margin ? t - margin : v->begin;
    else
        v->from = t - v->begin >= v->span - margin ? t - (v->span - margin) + 1 : v->begin;
    clamp(v);
}

void tui_view_reveal_range(struct tui_view *v, uint64_t from, uint64_t to)
{
    uint64_t margin = v->span / 8;
    if (from < v->from || from - v->from >= v->span)
        tui_view_reveal(v, from);
    if (to <= from || to - from > v->span - 2 * margin || to <= tui_view_to(v))
        return;
    /* its end is beyond the right edge, but there is room for all of it */
    uint64_t room = v->span - margin;
    if (to > room && to - room > v->from)
        v->from = to - room;
    clamp(v);
}
