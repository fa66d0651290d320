/* nav - moving the cursor and the view, and selecting. The cursor is a time and a line; what is
 * under it is selected, until something is selected by name, by flow or by size, which moves the
 * cursor there. Every jump shows its goal: folded tracks open, the view follows without zooming. */
#include "app_priv.h"

#include <stdlib.h>

static inline uint64_t end_of(const struct ntff_event *e)
{
    return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

/* -- view ----------------------------------------------------------------------------------- */

void tui_nav_relayout(struct tui_app *a)
{
    tui_layout_make(&a->lay, a->w, a->h, &a->panes);
    a->view.cols = a->lay.time.w > 0 ? a->lay.time.w : 1;
    if (a->focus == TUI_PANE_DETAILS && !a->lay.details.h)
        a->focus = TUI_PANE_TIME;
    if (a->focus == TUI_PANE_STATS && !a->lay.stats.h)
        a->focus = TUI_PANE_TIME;
    tui_nav_line(a, a->line);
}

static void remember_view(struct tui_app *a)
{
    if (a->n_back && a->back[a->n_back - 1].from == a->view.from &&
        a->back[a->n_back - 1].span == a->view.span)
        return;
    if (a->n_back == TUI_BACK_MAX) {
        for (size_t i = 1; i < TUI_BACK_MAX; i++)
            a->back[i - 1] = a->back[i];
        a->n_back--;
    }
    a->back[a->n_back].from = a->view.from;
    a->back[a->n_back++].span = a->view.span;
}

void tui_nav_back(struct tui_app *a)
{
    while (a->n_back) {
        uint64_t from = a->back[--a->n_back].from, span = a->back[a->n_back].span;
        if (from == a->view.from && span == a->view.span)
            continue;
        tui_view_fit(&a->view, from, from + span);
        break;
    }
    if (a->now < a->view.from || a->now >= tui_view_to(&a->view))
        a->now = a->view.from + a->view.span / 2;
}

void tui_nav_zoom(struct tui_app *a, uint64_t num, uint64_t den, uint64_t anchor)
{
    remember_view(a);
    tui_view_zoom(&a->view, num, den, anchor);
    if (a->now < a->view.from || a->now >= tui_view_to(&a->view))
        a->now = a->view.from + a->view.span / 2;
}

void tui_nav_fit(struct tui_app *a, uint64_t from, uint64_t to)
{
    remember_view(a);
    tui_view_fit(&a->view, from, to);
    if (a->now < a->view.from || a->now >= tui_view_to(&a->view))
        a->now = a->view.from;
}

/* [from, to) with a tenth of it on either side. */
static void fit_around(struct tui_app *a, uint64_t from, uint64_t to)
{
    uint64_t margin = (to - from) / 10 + 1;
    tui_nav_fit(a, from > margin ? from - margin : 0, to < UINT64_MAX - margin ? to + margin : to);
}

void tui_nav_zoom_event(struct tui_app *a, uint32_t event)
{
    const struct ntff_event *e = &a->t->events[event];
    fit_around(a, e->ts_ns, end_of(e) > e->ts_ns ? end_of(e) : e->ts_ns + 1);
}

void tui_nav_zoom_selected(struct tui_app *a)
{
    if (a->n_marks == 2 && a->mark[0] != a->mark[1]) {
        tui_nav_fit(a, a->mark[0], a->mark[1]);
    } else if (a->gap.to > a->gap.from) {
        fit_around(a, a->gap.from, a->gap.to);
    } else if (a->event != NTFF_NONE) {
        tui_nav_zoom_event(a, a->event);
    } else {
        tui_app_say(a, true, "nothing to zoom to: mark a range or select a span");
    }
}

void tui_nav_range(const struct tui_app *a, uint64_t *from, uint64_t *to)
{
    *from = a->view.from;
    *to = tui_view_to(&a->view);
    if (a->n_marks == 2 && a->mark[0] != a->mark[1]) {
        *from = a->mark[0];
        *to = a->mark[1];
    }
}

void tui_nav_mark(struct tui_app *a)
{
    char d[TUI_TIME_CAP], at[TUI_TIME_CAP];
    if (a->n_marks == 2)
        a->n_marks = 0;
    a->mark[a->n_marks++] = a->now;
    if (a->n_marks == 1) {
        tui_app_time(a, at, a->now, 1);
        tui_app_say(a, false, "mark at %s; the next one makes a range", at);
        return;
    }
    if (a->mark[0] > a->mark[1]) {
        uint64_t t = a->mark[0];
        a->mark[0] = a->mark[1];
        a->mark[1] = t;
    }
    tui_app_dur(a, d, a->mark[1] - a->mark[0]);
    tui_fmt_ns(at, a->mark[1] - a->mark[0]);
    tui_app_say(a, false, "between the marks: %s (%s)", d, at);
}

/* -- cursor --------------------------------------------------------------------------------- */

const struct tui_line *tui_nav_current(const struct tui_app *a)
{
    return a->line < a->rows.n_lines ? &a->rows.lines[a->line] : NULL;
}

/* The line into the window. */
static void scroll_to_line(struct tui_app *a)
{
    size_t h = a->lay.time.h > 0 ? (size_t)a->lay.time.h : 1;
    if (a->line < a->top)
        a->top = a->line;
    if (a->line >= a->top + h)
        a->top = a->line - h + 1;
    if (a->top + h > a->rows.n_lines)
        a->top = a->rows.n_lines > h ? a->rows.n_lines - h : 0;
}

/* Rows looked at for the event under the cursor of a folded line. */
#define PICK_ROWS 512u

struct pick {
    uint64_t from, to, busy;
    uint32_t event, rows;
};

/* The event of the busiest of the rows in the range. */
static void pick_rows(const struct tui_app *a, uint32_t row0, uint32_t row1, struct pick *p)
{
    struct tui_sum sum;
    for (uint32_t r = row0; r < row1 && p->rows < PICK_ROWS; r++, p->rows++) {
        tui_lod_range(a->l, r, p->from, p->to, &sum);
        if (sum.count && (p->event == NTFF_NONE || sum.busy_ns > p->busy)) {
            p->event = sum.event;
            p->busy = sum.busy_ns;
        }
    }
}

void tui_nav_pick(struct tui_app *a)
{
    const struct tui_line *l = tui_nav_current(a);
    int x = tui_view_col(&a->view, a->now);
    struct pick p = {tui_view_begin(&a->view, x), tui_view_end(&a->view, x), 0, NTFF_NONE, 0};
    a->gap = (struct tui_gap){0};
    if (l && !l->counter && l->pre1 == l->pre0)
        pick_rows(a, l->row0, l->row1, &p);
    for (uint32_t i = l ? l->pre0 : 0; l && i < l->pre1; i++) {
        uint32_t track = a->rows.pre[i];
        if (a->rows.shown[track])
            pick_rows(a, a->l->first_row[track], a->l->first_row[track + 1], &p);
    }
    a->event = p.event;
}

void tui_nav_line(struct tui_app *a, size_t line)
{
    size_t old = a->line;
    a->line = line < a->rows.n_lines ? line : a->rows.n_lines ? a->rows.n_lines - 1 : 0;
    scroll_to_line(a);
    if (a->line != old)
        tui_nav_pick(a);
}

void tui_nav_time(struct tui_app *a, uint64_t t)
{
    a->now = t < a->view.begin ? a->view.begin : t >= a->view.end ? a->view.end - 1 : t;
    tui_view_reveal(&a->view, a->now);
    tui_nav_pick(a);
}

void tui_nav_column(struct tui_app *a, int dir)
{
    int x = tui_view_col(&a->view, a->now);
    uint64_t t;
    if (dir > 0) {
        t = tui_view_begin(&a->view, x + 1);
        t = t > a->now ? t : a->now + (a->now < UINT64_MAX);
    } else {
        t = x > 0 ? tui_view_begin(&a->view, x - 1) : a->view.from;
        if (t >= a->now)
            t = a->now - (a->now > 0);
        if (x == 0) { /* a column left of the first */
            uint64_t step = tui_app_step(a);
            t = a->view.from - a->view.begin > step ? a->view.from - step : a->view.begin;
        }
    }
    tui_nav_time(a, t);
}

struct tui_place tui_nav_note(const struct tui_app *a)
{
    const struct tui_line *l = tui_nav_current(a);
    if (!l)
        return (struct tui_place){NTFF_NONE, NTFF_NONE};
    return (struct tui_place){l->track, l->row1 > l->row0 ? l->row0 : NTFF_NONE};
}

void tui_nav_restore(struct tui_app *a, struct tui_place p)
{
    size_t line = a->rows.n_lines;
    if (p.track != NTFF_NONE) {
        line = tui_rows_line_of(&a->rows, p.track, p.row);
        /* gone: whatever is nearest above */
        while (line >= a->rows.n_lines && a->t->tracks[p.track].parent < p.track) {
            p.track = a->t->tracks[p.track].parent;
            line = tui_rows_line_of(&a->rows, p.track, NTFF_NONE);
        }
    }
    a->line = SIZE_MAX; /* so that the event under it is found anew */
    tui_nav_line(a, line < a->rows.n_lines ? line : 0);
}

/* -- selecting ------------------------------------------------------------------------------ */

/* Selects it and brings it into view; one around all of the screen already does not move the view.
 */
static void show_event(struct tui_app *a, uint32_t event)
{
    const struct ntff_event *e = &a->t->events[event];
    if (e->ts_ns >= a->view.from || end_of(e) <= a->view.from)
        tui_view_reveal_range(&a->view, e->ts_ns, end_of(e));
    a->now = e->ts_ns < a->view.from ? a->view.from : e->ts_ns;
    if (a->now >= tui_view_to(&a->view))
        a->now = tui_view_to(&a->view) - 1;
    a->event = event;
    a->gap = (struct tui_gap){0};
}

bool tui_nav_event(struct tui_app *a, uint32_t event)
{
    uint32_t row, pos;
    const struct ntff_event *e = &a->t->events[event];
    if (!tui_lod_locate(a->l, event, &row, &pos) || !tui_rows_reveal(&a->rows, e->track)) {
        tui_app_say(a, true, "that span is on a track the filter hides");
        return false;
    }
    size_t line = tui_rows_line_of(&a->rows, e->track, row);
    if (line < a->rows.n_lines) {
        a->line = line;
        scroll_to_line(a);
    }
    show_event(a, event);
    return true;
}

/* Position of an event in its track's order. */
static uint32_t pos_in_track(const struct tui_app *a, uint32_t track, uint32_t event)
{
    uint32_t lo = a->t->first[track], hi = a->t->first[track + 1];
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (a->t->order[mid] < event)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* On a line of one row along the row, on a folded one along the track. */
void tui_nav_neighbour(struct tui_app *a, int dir)
{
    const struct tui_line *l = tui_nav_current(a);
    uint32_t row, pos, next = NTFF_NONE;
    if (!l || l->counter || l->row1 == l->row0) {
        tui_app_say(a, true, "no spans on this line");
        return;
    }
    bool one = l->row1 - l->row0 == 1;
    bool mine = a->event != NTFF_NONE && a->t->events[a->event].track == l->track;
    if (one) {
        const struct tui_row *r = &a->l->rows[l->row0];
        pos = tui_lod_find(a->l, l->row0, a->now);
        if (mine && tui_lod_locate(a->l, a->event, &row, &pos) && row == l->row0)
            pos += dir > 0;
        if (dir > 0 ? pos < r->n : pos > 0)
            next = r->ev[dir > 0 ? pos : pos - 1];
    } else {
        uint32_t first = a->t->first[l->track], end = a->t->first[l->track + 1];
        if (mine) {
            pos = pos_in_track(a, l->track, a->event) + (dir > 0);
        } else { /* order is by time, so events at or after now begin at one position */
            for (uint32_t lo = first, hi = pos = end; lo < hi;) {
                uint32_t mid = lo + (hi - lo) / 2;
                if (a->t->events[a->t->order[mid]].ts_ns < a->now)
                    lo = mid + 1;
                else
                    hi = mid;
                pos = lo;
            }
        }
        if (dir > 0 ? pos < end : pos > first)
            next = a->t->order[dir > 0 ? pos : pos - 1];
    }
    if (next == NTFF_NONE) {
        tui_app_say(a, true, dir > 0 ? "last span of this line" : "first span of this line");
        return;
    }
    if (one)
        tui_nav_event(a, next);
    else
        show_event(a, next); /* stay on the folded line */
}

/* Selects an event without leaving the line it is summed up on. */
static void select_on_line(struct tui_app *a, uint32_t event)
{
    const struct tui_line *l = tui_nav_current(a);
    if (l && (l->row1 - l->row0 > 1 || l->pre1 > l->pre0))
        show_event(a, event);
    else
        tui_nav_event(a, event);
}

static bool longer(const struct tui_app *a, uint32_t x, uint32_t y)
{
    uint64_t dx = a->t->events[x].dur_ns, dy = a->t->events[y].dur_ns;
    return dx != dy ? dx > dy : x < y;
}

/* The longest of a line after (limit, after), of the partial ones or of the others. */
static uint32_t longest_of_line(const struct tui_app *a, const struct tui_line *l, bool partial,
                                uint64_t limit, uint32_t after)
{
    uint32_t best = NTFF_NONE;
    if (l->row1 > l->row0)
        best = tui_lod_next_longest(a->l, l->row0, l->row1, a->hunt_from, a->hunt_to, partial,
                                    limit, after);
    for (uint32_t p = l->pre0 + 1; p < l->pre1; p++) { /* a folded group: all below */
        uint32_t track = a->rows.pre[p], found;
        if (!a->rows.shown[track])
            continue;
        found = tui_lod_next_longest(a->l, a->l->first_row[track], a->l->first_row[track + 1],
                                     a->hunt_from, a->hunt_to, partial, limit, after);
        if (found != NTFF_NONE && (best == NTFF_NONE || longer(a, found, best)))
            best = found;
    }
    return best;
}

/* Partial spans come after all others: how long they are drawn says nothing. */
void tui_nav_longest(struct tui_app *a)
{
    const struct tui_line *l = tui_nav_current(a);
    bool on = a->hunt_event != NTFF_NONE && a->hunt_event == a->event;
    bool partial = on && tui_event_partial(&a->t->events[a->event]);
    uint64_t limit = UINT64_MAX;
    uint32_t after = 0;
    if (!l || l->counter)
        return;
    if (on) {
        limit = a->t->events[a->event].dur_ns;
        after = a->event;
    } else {
        tui_nav_range(a, &a->hunt_from, &a->hunt_to);
    }
    uint32_t best = longest_of_line(a, l, partial, limit, after);
    if (best == NTFF_NONE && !partial) {
        partial = true;
        best = longest_of_line(a, l, partial, UINT64_MAX, 0);
    }
    if (best == NTFF_NONE) {
        tui_app_say(a, true, on ? "no further span in the range" : "no span in the range");
        return;
    }
    select_on_line(a, best);
    a->hunt_event = best;
    if (partial)
        tui_app_say(a, false, "a partial span, so not measured; the whole ones come before");
}

void tui_nav_gap(struct tui_app *a)
{
    const struct tui_line *l = tui_nav_current(a);
    bool on = a->hunt_gap.to > a->hunt_gap.from;
    struct tui_gap g;
    char d[TUI_TIME_CAP];
    if (!l || l->counter || l->row1 == l->row0) {
        tui_app_say(a, true, "no spans on this line, so no gaps");
        return;
    }
    if (!on)
        tui_nav_range(a, &a->hunt_from, &a->hunt_to);
    if (!tui_lod_next_gap(a->l, l->track, a->hunt_from, a->hunt_to, on ? &a->hunt_gap : NULL, &g)) {
        tui_app_say(a, true, on ? "no further gap in the range" : "no gap in the range");
        return;
    }
    if (g.to <= a->view.from || g.from >= tui_view_to(&a->view))
        tui_view_reveal(&a->view, g.from);
    a->now = g.from < a->view.from ? a->view.from : g.from;
    a->event = NTFF_NONE;
    a->gap = a->hunt_gap = g;
    tui_app_dur(a, d, g.to - g.from);
    tui_app_say(a, false, "gap of %s (z zooms to it, p finds the next)", d);
}

/* -- flows, errors, hits -------------------------------------------------------------------- */

const struct ntff_flow *tui_nav_flow_at(const struct tui_app *a, int dir, size_t i)
{
    return &a->t->flows[dir > 0 ? i : a->flows_by_to[i]];
}

size_t tui_nav_flows(const struct tui_app *a, uint32_t event, int dir, size_t *first)
{
    size_t lo = 0, hi = a->t->n_flows, n = 0;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        const struct ntff_flow *f = tui_nav_flow_at(a, dir, mid);
        if ((dir > 0 ? f->from : f->to) < event)
            lo = mid + 1;
        else
            hi = mid;
    }
    *first = lo;
    for (; lo + n < a->t->n_flows; n++) {
        const struct ntff_flow *f = tui_nav_flow_at(a, dir, lo + n);
        if ((dir > 0 ? f->from : f->to) != event)
            break;
    }
    return n;
}

void tui_nav_flow(struct tui_app *a, int dir)
{
    size_t first, n = 0;
    if (a->event != NTFF_NONE)
        n = tui_nav_flows(a, a->event, dir, &first);
    if (!n) {
        tui_app_say(a, true, "no flow %s this span", dir > 0 ? "leaves" : "reaches");
        return;
    }
    const struct ntff_flow *f = tui_nav_flow_at(a, dir, first);
    if (tui_nav_event(a, dir > 0 ? f->to : f->from) && n > 1)
        tui_app_say(a, false, "the first of %zu flows; all are listed in the details", n);
}

uint32_t tui_nav_here(const struct tui_app *a)
{
    size_t lo = 0, hi = a->t->n_events;
    if (a->event != NTFF_NONE)
        return a->event;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (a->t->events[mid].ts_ns < a->now)
            lo = mid + 1;
        else
            hi = mid;
    }
    return (uint32_t)lo;
}

void tui_nav_error(struct tui_app *a, int dir)
{
    size_t n = a->l->n_alarms, lo = 0, hi = n;
    uint32_t here = tui_nav_here(a);
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (a->l->alarms[mid] < here)
            lo = mid + 1;
        else
            hi = mid;
    }
    bool on_it = lo < n && a->l->alarms[lo] == a->event;
    for (size_t k = 0; k < n; k++) { /* round the end, passing over hidden tracks */
        size_t i = dir > 0 ? (lo + (on_it ? 1 : 0) + k) % n : (lo + n - 1 - k) % n;
        uint32_t event = a->l->alarms[i];
        if (!a->rows.shown[a->t->events[event].track])
            continue;
        if (tui_nav_event(a, event))
            tui_app_say(a, false, "%zu of %zu errors and lost-event marks", i + 1, n);
        return;
    }
    tui_app_say(a, false, "no errors and no lost-event marks");
}

void tui_nav_hit(struct tui_app *a, int dir)
{
    size_t at;
    if (!a->search.active) {
        tui_app_say(a, true, "nothing searched yet: / or ?");
        return;
    }
    uint32_t here = tui_nav_here(a);
    uint32_t hit = tui_search_next(&a->search, here, dir, &at);
    if (hit == NTFF_NONE) {
        if (a->search.running) {
            a->search_dir = dir;
            a->search_jump = true;
        } else {
            tui_app_say(a, true, "not found: %.200s", a->search.pattern);
        }
        return;
    }
    tui_nav_event(a, hit);
}
