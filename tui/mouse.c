/* mouse - see keymap.c for what each gesture does; everything here can be done with keys as well.
 */
#include "app_priv.h"

#define WHEEL_LINES 3

/* The time shown in a column of the screen. */
static uint64_t time_at(const struct tui_app *a, int x)
{
    int col = x - a->lay.time.x;
    col = col < 0 ? 0 : col >= a->view.cols ? a->view.cols - 1 : col;
    return tui_view_begin(&a->view, col);
}

static void center_at(struct tui_app *a, int x)
{
    struct tui_view whole = tui_app_whole(a);
    int col = x < 0 ? 0 : x >= whole.cols ? whole.cols - 1 : x;
    uint64_t t = tui_view_begin(&whole, col), half = a->view.span / 2, span = a->view.span;
    uint64_t from = t - a->view.begin > half ? t - half : a->view.begin;
    from = from > a->view.end - span ? a->view.end - span : from;
    tui_view_fit(&a->view, from, from + span);
    a->now = t >= a->view.from && t < tui_view_to(&a->view) ? t : a->view.from;
    tui_nav_pick(a);
}

static void press_tree(struct tui_app *a, int x, int y)
{
    size_t line = a->top + (size_t)(y - a->lay.tree.y);
    if (line >= a->rows.n_lines)
        return;
    tui_nav_line(a, line);
    const struct tui_line *l = tui_nav_current(a);
    if (l->foldable && x - a->lay.tree.x <= l->level + 1 && tui_rows_toggle(&a->rows, l->track))
        tui_nav_line(a, tui_rows_line_of(&a->rows, l->track, NTFF_NONE));
}

static void press_time(struct tui_app *a, int x, int y)
{
    size_t line = a->top + (size_t)(y - a->lay.time.y);
    a->drag = TUI_DRAG_TIME;
    a->drag_x0 = x;
    a->dragged = false;
    if (line < a->rows.n_lines)
        tui_nav_line(a, line);
    a->now = time_at(a, x);
    tui_nav_pick(a);
}

static void press_list(struct tui_app *a, struct tui_doc *d, enum tui_pane pane, int line)
{
    a->focus = pane;
    if (line >= 0)
        d->at = d->top + line;
}

static void press(struct tui_app *a, int x, int y)
{
    a->drag = TUI_DRAG_NONE;
    if (tui_inside(a->lay.overview, x, y)) {
        a->drag = TUI_DRAG_OVERVIEW;
        center_at(a, x);
    } else if (tui_inside(a->lay.tree, x, y)) {
        a->focus = TUI_PANE_TIME;
        press_tree(a, x, y);
    } else if (tui_inside(a->lay.time, x, y) || tui_inside(a->lay.ruler, x, y)) {
        a->focus = TUI_PANE_TIME;
        press_time(a, x,
                   tui_inside(a->lay.ruler, x, y) ? a->lay.time.y + (int)(a->line - a->top) : y);
    } else if (tui_inside(a->lay.details, x, y)) {
        press_list(a, &a->details, TUI_PANE_DETAILS, y - a->lay.details.y - 1);
    } else if (tui_inside(a->lay.stats, x, y)) {
        press_list(a, &a->tracks, TUI_PANE_STATS, y - a->lay.stats.y - 2);
    }
}

static void drag(struct tui_app *a, int x)
{
    if (a->drag == TUI_DRAG_OVERVIEW) {
        center_at(a, x);
        return;
    }
    if (a->drag != TUI_DRAG_TIME || (x == a->drag_x0 && !a->dragged))
        return;
    int x0 = a->drag_x0 < x ? a->drag_x0 : x, x1 = a->drag_x0 < x ? x : a->drag_x0;
    int col = x1 - a->lay.time.x;
    a->dragged = true;
    a->mark[0] = time_at(a, x0);
    a->mark[1] = tui_view_end(&a->view, col < 0 ? 0 : col >= a->view.cols ? a->view.cols - 1 : col);
    a->n_marks = 2;
    a->now = time_at(a, x);
}

static void release(struct tui_app *a)
{
    char d[TUI_TIME_CAP];
    if (a->drag == TUI_DRAG_TIME && a->dragged) {
        tui_app_dur(a, d, a->mark[1] - a->mark[0]);
        tui_app_say(a, false, "marked %s (z zooms to it, e exports it)", d);
    }
    a->drag = TUI_DRAG_NONE;
    a->dragged = false;
}

static void scroll_list(struct tui_doc *d, int n)
{
    d->at += n;
    d->at = d->at < 0 ? 0 : d->at;
}

static void wheel(struct tui_app *a, const struct tui_event *e, int dir)
{
    if (a->over) {
        tui_doc_move(&a->page, dir * WHEEL_LINES, a->h - 3);
    } else if (tui_inside(a->lay.details, e->x, e->y)) {
        tui_doc_move(&a->details, dir * WHEEL_LINES, a->lay.details.h - 1);
    } else if (tui_inside(a->lay.stats, e->x, e->y)) {
        scroll_list(&a->tracks, dir * WHEEL_LINES);
    } else if (tui_inside(a->lay.tree, e->x, e->y) || (e->mods & TUI_MOD_CTRL)) {
        size_t n = a->line;
        n = dir > 0 ? n + WHEEL_LINES : n > WHEEL_LINES ? n - WHEEL_LINES : 0;
        tui_nav_line(a, n);
    } else if (e->mods & TUI_MOD_SHIFT) {
        tui_view_pan(&a->view, dir, 8);
        if (a->now < a->view.from || a->now >= tui_view_to(&a->view))
            a->now = a->view.from + a->view.span / 2;
    } else {
        uint64_t at = time_at(a, e->x);
        tui_nav_zoom(a, dir < 0 ? 4 : 5, dir < 0 ? 5 : 4, at);
    }
}

unsigned tui_mouse_event(struct tui_app *a, const struct tui_event *e)
{
    if (a->ask)
        return 0;
    a->said[0] = 0;
    switch (e->mouse) {
    case TUI_MOUSE_PRESS:
        if (a->over)
            break;
        press(a, e->x, e->y);
        break;
    case TUI_MOUSE_DRAG:
        drag(a, e->x);
        break;
    case TUI_MOUSE_RELEASE:
        release(a);
        break;
    case TUI_MOUSE_DOUBLE:
        if (!a->over && tui_inside(a->lay.time, e->x, e->y)) {
            press(a, e->x, e->y);
            a->drag = TUI_DRAG_NONE;
            if (a->event != NTFF_NONE)
                tui_nav_zoom_event(a, a->event);
        }
        break;
    case TUI_MOUSE_WHEEL_UP:
        wheel(a, e, -1);
        break;
    case TUI_MOUSE_WHEEL_DOWN:
        wheel(a, e, 1);
        break;
    }
    return TUI_REDRAW;
}
