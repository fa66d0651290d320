/* draw_ruler - the time axis: ticks at round times, marks, the cursor; and the overview above it.
 */
#include "app_priv.h"

#include <stdio.h>
#include <string.h>

/* -- ruler ---------------------------------------------------------------------------------- */

/* Steps people can count in, from 10 s on; below it is 1, 2, 5 times a power of ten ns. */
static const uint64_t step_s[] = {
    10,     15,      30,      60,       120,       300,       600,        1800,
    3600,   7200,    14400,   28800,    43200,     86400,     172800,     432000,
    864000, 2592000, 7776000, 31536000, 157680000, 630720000, 3153600000, 15768000000,
};

uint64_t tui_tick_step(const struct tui_view *v, int label_cols)
{
    unsigned __int128 need = (unsigned __int128)v->span * (unsigned)label_cols;
    unsigned cols = (unsigned)v->cols;
    for (uint64_t ten = 1; ten < 10 * NTFF_NS_PER_SEC; ten *= 10)
        for (uint64_t m = 1; m <= 5; m += m == 1 ? 1 : 3)
            if ((unsigned __int128)(m * ten) * cols >= need)
                return m * ten;
    size_t i = 0;
    while (i + 1 < NTFF_ARRAY_LEN(step_s) &&
           (unsigned __int128)step_s[i] * NTFF_NS_PER_SEC * cols < need)
        i++;
    return step_s[i] * NTFF_NS_PER_SEC;
}

uint64_t tui_tick_first(uint64_t rel, uint64_t step)
{
    uint64_t over = rel % step;
    if (over == 0)
        return rel;
    return rel > UINT64_MAX - (step - over) ? UINT64_MAX : rel + (step - over);
}

uint64_t tui_tick_next(uint64_t rel, uint64_t step)
{
    return rel > UINT64_MAX - step ? UINT64_MAX : rel + step;
}

#define LABEL_COLS 12

/* Deep in a long trace full times do not fit between ticks: then they count from a base, which is
 * shown in the corner. */
static uint64_t label_base(const struct tui_app *a, uint64_t step)
{
    char label[TUI_TIME_CAP];
    uint64_t rel = a->view.from - a->t->begin_ns;
    size_t len = tui_fmt_time(label, rel + a->view.span, step, a->g->us);
    if (len + 2 <= LABEL_COLS || a->utc)
        return 0;
    uint64_t unit = step;
    while (unit <= UINT64_MAX / 1000 && unit < a->view.span)
        unit *= 10;
    return rel / unit * unit;
}

static void fmt_tick(const struct tui_app *a, char *out, uint64_t rel, uint64_t base, uint64_t step)
{
    if (a->utc) {
        char utc[TUI_TIME_CAP];
        size_t n = tui_fmt_utc(utc, a->t->begin_ns + rel);
        int dec = 9;
        for (uint64_t s = step; s >= 10 && dec > 0; s /= 10)
            dec--;
        if (step >= NTFF_NS_PER_SEC)
            dec = -1;
        snprintf(out, TUI_TIME_CAP, "%.*s", n > 20 ? 9 + dec : 0, n > 11 ? utc + 11 : "");
        return;
    }
    if (base) {
        out[0] = '+';
        tui_fmt_time(out + 1, rel - base, step, a->g->us);
    } else {
        tui_fmt_time(out, rel, step, a->g->us);
    }
}

void tui_draw_ruler(struct tui_app *a, struct tui_screen *s)
{
    struct tui_rect r = a->lay.ruler;
    char label[TUI_TIME_CAP];
    uint64_t begin = a->t->begin_ns;
    uint64_t step = tui_tick_step(&a->view, a->utc ? LABEL_COLS + 8 : LABEL_COLS);
    uint64_t base = label_base(a, step);
    uint64_t rel = a->view.from - begin;
    uint64_t first = tui_tick_first(rel, step);
    if (base && a->lay.corner.w > 4) {
        tui_fmt_time(label, base, step, a->g->us);
        tui_put_cut(s, a->lay.corner.x, r.y, a->lay.corner.w - 1, TUI_STYLE_RULER, label,
                    strlen(label));
    }
    uint64_t last = tui_view_to(&a->view) - begin;
    for (uint64_t t = first; t < last; t = tui_tick_next(t, step)) {
        int x = tui_view_col(&a->view, begin + t);
        fmt_tick(a, label, t, base, step);
        tui_put(s, r.x + x, r.y, TUI_STYLE_RULER, a->g->tick);
        tui_put_str(s, r.x + x + 1, r.y, r.w - x - 1, TUI_STYLE_RULER, label);
    }
    for (int i = 0; i < a->n_marks; i++) {
        int x = tui_view_col(&a->view, a->mark[i]);
        if (x >= 0 && x < r.w)
            tui_put(s, r.x + x, r.y, TUI_STYLE_MARKED, i == 0 ? '[' : ']');
    }
    if (a->n_marks == 2) {
        int x0 = tui_view_col(&a->view, a->mark[0]), x1 = tui_view_col(&a->view, a->mark[1]);
        x0 = x0 < 0 ? 0 : x0;
        x1 = x1 >= r.w ? r.w - 1 : x1;
        tui_restyle(s, (struct tui_rect){r.x + x0, r.y, x1 - x0 + 1, 1}, TUI_STYLE_MARKED);
    }
    int now = tui_view_col(&a->view, a->now);
    if (!a->o.plain && now >= 0 && now < r.w)
        tui_put(s, r.x + now, r.y, TUI_STYLE_CURSOR, a->g->cursor_top);
}

/* -- overview ------------------------------------------------------------------------------- */

void tui_draw_overview(struct tui_app *a, struct tui_screen *s)
{
    struct tui_rect r = a->lay.overview;
    const struct tui_sums_entry *e = tui_sums_all(&a->overview);
    struct tui_view v = a->overview.view;
    if (!e)
        return;
    int x0 = tui_view_col(&v, a->view.from), x1 = tui_view_col(&v, tui_view_to(&a->view) - 1);
    int now = tui_view_col(&v, a->now);
    uint64_t most = 1; /* busiest column, so that a mostly idle trace still has a shape */
    for (int x = 0; x < v.cols; x++) {
        uint64_t w = tui_view_end(&v, x) - tui_view_begin(&v, x);
        uint64_t share = (uint64_t)((unsigned __int128)e->v[x].busy_ns * 1000 / w);
        most = share > most ? share : most;
    }
    for (int x = 0; x < r.w && x < v.cols; x++) {
        uint64_t w = tui_view_end(&v, x) - tui_view_begin(&v, x);
        uint64_t share = (uint64_t)((unsigned __int128)e->v[x].busy_ns * 1000 / w);
        int level = e->v[x].count ? (int)((share * 8 + most - 1) / most) : 0;
        level = e->v[x].count && level < 1 ? 1 : level > 8 ? 8 : level;
        bool in = x >= x0 && x <= x1;
        uint32_t ch = a->g->lower[level];
        int style = in ? TUI_STYLE_OVER_IN : TUI_STYLE_OVER_OUT;
        if (e->v[x].has & TUI_HAS_ERROR) {
            ch = a->g->error;
            style = TUI_STYLE_ERROR;
        } else if (e->v[x].has & TUI_HAS_LOST) {
            ch = a->g->lost;
            style = TUI_STYLE_LOST;
        } else if (in && a->o.ascii && level == 0) {
            ch = '_'; /* where the view is must be visible without colour */
        }
        if (x == now && in)
            style = TUI_STYLE_CURSOR;
        tui_put(s, r.x + x, r.y, style, ch);
    }
}
