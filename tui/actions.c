/* actions - what each key does. A list that has the focus takes the keys of moving first; the rest
 * go to the timeline or to the program as a whole. */
#include "app_priv.h"

#include <stdio.h>
#include <string.h>

/* -- lists ---------------------------------------------------------------------------------- */

/* The list that has the focus, and the lines of it on screen; NULL: the timeline has it. */
static struct tui_doc *focus_list(struct tui_app *a, int *h)
{
    if (a->over) {
        *h = a->h - 3;
        return &a->page;
    }
    if (a->focus == TUI_PANE_DETAILS) {
        *h = a->lay.details.h - 1;
        return &a->details;
    }
    *h = a->lay.stats.h - 2;
    return a->focus == TUI_PANE_STATS ? &a->tracks : NULL;
}

static size_t list_len(const struct tui_app *a, const struct tui_doc *d)
{
    if (d != &a->tracks)
        return d->lines.n;
    if (!a->stats_by_track)
        return a->stats.n;
    size_t n = 0;
    for (size_t i = 0; i < a->n_busy_tracks; i++)
        n += a->rows.shown[a->busy_tracks[i]];
    return n;
}

/* Track on a line of the table of busy times; NTFF_NONE if there is none. */
static uint32_t busy_track(const struct tui_app *a, int line)
{
    for (size_t i = 0; i < a->n_busy_tracks; i++)
        if (a->rows.shown[a->busy_tracks[i]] && line-- == 0)
            return a->busy_tracks[i];
    return NTFF_NONE;
}

static void list_move(struct tui_app *a, struct tui_doc *d, int n, int h)
{
    int len = (int)list_len(a, d);
    long at = (long)d->at + n;
    d->at = at >= len ? len - 1 : (int)at;
    d->at = d->at < 0 ? 0 : d->at;
    h = h < 1 ? 1 : h;
    if (d->at < d->top)
        d->top = d->at;
    if (d->at >= d->top + h)
        d->top = d->at - h + 1;
}

/* Asks to search for a name, as a person would type it. */
static void ask_for_name(struct tui_app *a, ntff_str name)
{
    char quoted[200];
    const char *text = ntff_str_of(a->t, name);
    size_t n = 0, len = ntff_text_len(&a->t->strs, name);
    quoted[n++] = '^';
    for (size_t i = 0; i < len && n + 4 < sizeof quoted; i++) {
        if (strchr("\\^$.[]|()?*+{}", text[i]))
            quoted[n++] = '\\';
        quoted[n++] = text[i];
    }
    if (n + 4 < sizeof quoted)
        quoted[n++] = '$';
    quoted[n] = 0;
    tui_ask(a, TUI_ASK_SEARCH, quoted);
}

/* Enter in a list. */
static void list_enter(struct tui_app *a, struct tui_doc *d)
{
    if (d == &a->details && d->at < (int)d->lines.n && d->lines.v[d->at].event != NTFF_NONE) {
        tui_nav_event(a, d->lines.v[d->at].event);
    } else if (d == &a->tracks && a->stats_by_track) {
        uint32_t track = busy_track(a, d->at);
        if (track != NTFF_NONE && tui_rows_reveal(&a->rows, track))
            tui_nav_line(a, tui_rows_line_of(&a->rows, track, NTFF_NONE));
        a->focus = TUI_PANE_TIME;
    } else if (d == &a->tracks && d->at < (int)a->stats.n && a->stats.sorted) {
        ask_for_name(a, a->stats.v[a->stats.sorted[d->at]].name);
        a->focus = TUI_PANE_TIME;
    }
}

/* Actions a list understands; false: not meant for it. */
static bool list_action(struct tui_app *a, enum tui_action act)
{
    int h;
    struct tui_doc *d = focus_list(a, &h);
    if (!d)
        return false;
    switch (act) {
    case TUI_ACT_UP:
        list_move(a, d, -1, h);
        return true;
    case TUI_ACT_DOWN:
        list_move(a, d, 1, h);
        return true;
    case TUI_ACT_PGUP:
        list_move(a, d, -h, h);
        return true;
    case TUI_ACT_PGDN:
        list_move(a, d, h, h);
        return true;
    case TUI_ACT_HOME:
    case TUI_ACT_START:
        list_move(a, d, -(int)list_len(a, d), h);
        return true;
    case TUI_ACT_END:
    case TUI_ACT_LAST:
        list_move(a, d, (int)list_len(a, d), h);
        return true;
    case TUI_ACT_LEFT:
        d->left = d->left > 8 ? d->left - 8 : 0;
        return true;
    case TUI_ACT_RIGHT:
        d->left += d->left < (int)TUI_DOC_TEXT ? 8 : 0;
        return true;
    case TUI_ACT_DETAILS:
        list_enter(a, d);
        return true;
    default:
        return false;
    }
}

/* -- actions -------------------------------------------------------------------------------- */

static void next_pane(struct tui_app *a, int dir)
{
    for (int i = 0; i < 3; i++) {
        a->focus = (enum tui_pane)(((int)a->focus + dir + 3) % 3);
        if (a->focus == TUI_PANE_TIME || (a->focus == TUI_PANE_DETAILS && a->lay.details.h) ||
            (a->focus == TUI_PANE_STATS && a->lay.stats.h))
            return;
    }
}

static void toggle_fold(struct tui_app *a)
{
    const struct tui_line *l = tui_nav_current(a);
    if (!l)
        return;
    uint32_t track = l->track;
    size_t head = tui_rows_line_of(&a->rows, track, NTFF_NONE);
    if (head < a->rows.n_lines && !a->rows.lines[head].foldable && !a->rows.lines[head].counter)
        return;
    if (tui_rows_toggle(&a->rows, track))
        tui_nav_line(a, tui_rows_line_of(&a->rows, track, NTFF_NONE));
}

static void fold_all(struct tui_app *a)
{
    struct tui_place p = tui_nav_note(a);
    bool any_open = false;
    for (size_t i = 0; i < a->rows.n_lines; i++)
        any_open = any_open || (a->rows.lines[i].foldable && !a->rows.lines[i].folded &&
                                !a->rows.lines[i].counter);
    if (tui_rows_open_all(&a->rows, !any_open))
        tui_nav_restore(a, p);
}

static void enter(struct tui_app *a)
{
    const struct tui_line *l = tui_nav_current(a);
    if (l && a->event == NTFF_NONE && l->foldable && !l->counter) {
        toggle_fold(a);
        return;
    }
    if (a->panes.details && a->lay.details.h)
        a->focus = TUI_PANE_DETAILS;
    a->panes.details = true;
    tui_nav_relayout(a);
}

static void escape(struct tui_app *a)
{
    if (a->over)
        a->over = TUI_OVER_NONE;
    else if (a->search.active && a->search.running)
        a->search.running = a->search_jump = false;
    else if (a->focus != TUI_PANE_TIME)
        a->focus = TUI_PANE_TIME;
    else if (a->search.active || a->n_marks || a->gap.to > a->gap.from) {
        tui_search_done(&a->search);
        a->n_marks = 0;
        a->gap = (struct tui_gap){0};
    } else
        a->event = NTFF_NONE;
}

static void show_page(struct tui_app *a, enum tui_over page)
{
    a->over = a->over == page ? TUI_OVER_NONE : page;
    tui_page_make(a);
}

void tui_page_make(struct tui_app *a)
{
    tui_doc_clear(&a->page);
    if (a->over == TUI_OVER_HELP)
        tui_help_make(&a->page);
    else if (a->over == TUI_OVER_INFO)
        tui_about_make(a, &a->page);
}

static void toggle_pane(struct tui_app *a, bool *pane)
{
    *pane = !*pane;
    if ((a->focus == TUI_PANE_DETAILS && !a->panes.details) ||
        (a->focus == TUI_PANE_STATS && !a->panes.stats))
        a->focus = TUI_PANE_TIME;
    tui_nav_relayout(a);
}

static void ask_export(struct tui_app *a)
{
    uint64_t from, to;
    char name[TUI_ASK_CAP];
    const char *title = a->o.title ? a->o.title : "trace", *slash = strrchr(title, '/');
    tui_nav_range(a, &from, &to);
    title = slash && slash[1] ? slash + 1 : title;
    snprintf(name, sizeof name, "%.200s-%llu.pftrace", title,
             (unsigned long long)(from - a->t->begin_ns));
    for (char *p = name; *p; p++)
        if ((unsigned char)*p < 0x21 || *p == '/')
            *p = '_';
    tui_ask(a, TUI_ASK_EXPORT, name);
}

/* All events; once more: all counter samples too. */
static void fit_all(struct tui_app *a)
{
    uint64_t from = a->view.from, span = a->view.span;
    if (a->l->begin < a->l->end)
        tui_nav_fit(a, a->l->begin, a->l->end < UINT64_MAX ? a->l->end + 1 : a->l->end);
    if (a->l->begin >= a->l->end || (a->view.from == from && a->view.span == span))
        tui_nav_fit(a, a->view.begin, a->view.end);
}

static void pan(struct tui_app *a, int dir)
{
    int col = tui_view_col(&a->view, a->now);
    tui_view_pan(&a->view, dir, 8);
    a->now = tui_view_begin(&a->view, col); /* the cursor stays where it is on the screen */
    tui_nav_pick(a);
}

/* The actions of a section of the key table; false: the action is not of this section. */
static bool time_action(struct tui_app *a, enum tui_action act)
{
    switch (act) {
    case TUI_ACT_LEFT:
    case TUI_ACT_RIGHT:
        tui_nav_column(a, act == TUI_ACT_LEFT ? -1 : 1);
        return true;
    case TUI_ACT_PAN_LEFT:
    case TUI_ACT_PAN_RIGHT:
        pan(a, act == TUI_ACT_PAN_LEFT ? -1 : 1);
        return true;
    case TUI_ACT_ZOOM_IN:
        tui_nav_zoom(a, 1, 2, a->now);
        return true;
    case TUI_ACT_ZOOM_OUT:
        tui_nav_zoom(a, 2, 1, a->now);
        return true;
    case TUI_ACT_START:
        tui_nav_time(a, a->view.begin);
        return true;
    case TUI_ACT_LAST:
        tui_nav_time(a, a->view.end - 1);
        return true;
    case TUI_ACT_FIT:
        fit_all(a);
        return true;
    case TUI_ACT_ZOOM_SEL:
        tui_nav_zoom_selected(a);
        return true;
    case TUI_ACT_BACK:
        tui_nav_back(a);
        return true;
    case TUI_ACT_CLOCK:
        a->utc = !a->utc;
        return true;
    default:
        return false;
    }
}

static bool track_action(struct tui_app *a, enum tui_action act)
{
    size_t page = a->lay.time.h > 1 ? (size_t)a->lay.time.h - 1 : 1;
    switch (act) {
    case TUI_ACT_UP:
        tui_nav_line(a, a->line ? a->line - 1 : 0);
        return true;
    case TUI_ACT_DOWN:
        tui_nav_line(a, a->line + 1);
        return true;
    case TUI_ACT_PGUP:
        tui_nav_line(a, a->line > page ? a->line - page : 0);
        return true;
    case TUI_ACT_PGDN:
        tui_nav_line(a, a->line + page);
        return true;
    case TUI_ACT_HOME:
        tui_nav_line(a, 0);
        return true;
    case TUI_ACT_END:
        tui_nav_line(a, a->rows.n_lines);
        return true;
    case TUI_ACT_FOLD:
        toggle_fold(a);
        return true;
    case TUI_ACT_FOLD_ALL:
        fold_all(a);
        return true;
    default:
        return false;
    }
}

static bool span_action(struct tui_app *a, enum tui_action act)
{
    switch (act) {
    case TUI_ACT_DETAILS:
        enter(a);
        return true;
    case TUI_ACT_NEXT:
    case TUI_ACT_PREV:
        tui_nav_neighbour(a, act == TUI_ACT_NEXT ? 1 : -1);
        return true;
    case TUI_ACT_LONGEST:
        tui_nav_longest(a);
        return true;
    case TUI_ACT_GAP:
        tui_nav_gap(a);
        return true;
    case TUI_ACT_FLOW_NEXT:
    case TUI_ACT_FLOW_BACK:
        tui_nav_flow(a, act == TUI_ACT_FLOW_NEXT ? 1 : -1);
        return true;
    case TUI_ACT_ERROR_NEXT:
    case TUI_ACT_ERROR_PREV:
        tui_nav_error(a, act == TUI_ACT_ERROR_NEXT ? 1 : -1);
        return true;
    case TUI_ACT_AGAIN:
    case TUI_ACT_AGAIN_BACK:
        tui_nav_hit(a, act == TUI_ACT_AGAIN ? a->search_dir : -a->search_dir);
        return true;
    case TUI_ACT_MARK:
        tui_nav_mark(a);
        return true;
    case TUI_ACT_UNMARK:
        a->n_marks = 0;
        return true;
    default:
        return false;
    }
}

/* Those that ask something first. */
static bool ask_action(struct tui_app *a, enum tui_action act)
{
    switch (act) {
    case TUI_ACT_SEARCH:
        tui_ask(a, TUI_ASK_SEARCH, "");
        return true;
    case TUI_ACT_SEARCH_BACK:
        tui_ask(a, TUI_ASK_SEARCH_BACK, "");
        return true;
    case TUI_ACT_FILTER:
        tui_ask(a, TUI_ASK_FILTER, a->filter);
        return true;
    case TUI_ACT_GOTO:
        tui_ask(a, TUI_ASK_TIME, "");
        return true;
    case TUI_ACT_EXPORT:
        ask_export(a);
        return true;
    default:
        return false;
    }
}

static bool pane_action(struct tui_app *a, enum tui_action act)
{
    switch (act) {
    case TUI_ACT_PANE_NEXT:
    case TUI_ACT_PANE_PREV:
        next_pane(a, act == TUI_ACT_PANE_NEXT ? 1 : -1);
        return true;
    case TUI_ACT_SHOW_TREE:
        toggle_pane(a, &a->panes.tree);
        return true;
    case TUI_ACT_SHOW_DETAILS:
        toggle_pane(a, &a->panes.details);
        return true;
    case TUI_ACT_SHOW_STATS:
        toggle_pane(a, &a->panes.stats);
        return true;
    case TUI_ACT_SHOW_OVERVIEW:
        toggle_pane(a, &a->panes.overview);
        return true;
    case TUI_ACT_SORT:
        a->sort = (enum tui_sort)((a->sort + 1) % TUI_SORT_KINDS);
        tui_stats_sort(&a->stats, a->sort);
        return true;
    case TUI_ACT_SCOPE:
        a->stats_scoped = !a->stats_scoped;
        return true;
    case TUI_ACT_ENGINES:
        a->stats_by_track = !a->stats_by_track;
        a->tracks.at = a->tracks.top = 0;
        return true;
    default:
        return false;
    }
}

static unsigned interrupt(struct tui_app *a)
{
    if (a->search.active && a->search.running) {
        a->search.running = a->search_jump = false;
        tui_app_say(a, false, "search stopped");
        return TUI_REDRAW;
    }
    return TUI_QUIT | TUI_INTERRUPTED;
}

/* Closes the page or the pane that has the keys; false: there is none, only the timeline. */
static bool leave(struct tui_app *a)
{
    if (a->over)
        a->over = TUI_OVER_NONE;
    else if (a->focus == TUI_PANE_DETAILS)
        toggle_pane(a, &a->panes.details);
    else if (a->focus == TUI_PANE_STATS)
        toggle_pane(a, &a->panes.stats);
    else
        return false;
    return true;
}

/* The rest: what concerns the program. */
static unsigned program_action(struct tui_app *a, enum tui_action act)
{
    switch (act) {
    case TUI_ACT_QUIT:
        return leave(a) ? TUI_REDRAW : TUI_QUIT;
    case TUI_ACT_INTERRUPT:
        return interrupt(a);
    case TUI_ACT_REDRAW:
        return TUI_REDRAW | TUI_REPAINT;
    case TUI_ACT_SUSPEND:
        return TUI_REDRAW | TUI_SUSPEND;
    case TUI_ACT_MOUSE:
        a->mouse = !a->mouse;
        tui_app_say(a, false, a->mouse ? "mouse on" : "mouse off: the terminal selects text");
        return TUI_REDRAW | TUI_MOUSE;
    case TUI_ACT_HELP:
        show_page(a, TUI_OVER_HELP);
        break;
    case TUI_ACT_INFO:
        show_page(a, TUI_OVER_INFO);
        break;
    case TUI_ACT_ESCAPE:
        escape(a);
        break;
    default:
        break;
    }
    return TUI_REDRAW;
}

/* While a page is shown only keys that concern it, or the program, mean what they say. */
static bool leaves_page(enum tui_action act)
{
    return act != TUI_ACT_HELP && act != TUI_ACT_INFO && act != TUI_ACT_QUIT &&
           act != TUI_ACT_INTERRUPT && act != TUI_ACT_REDRAW && act != TUI_ACT_SUSPEND;
}

unsigned tui_app_key(struct tui_app *a, uint32_t key)
{
    enum tui_action act = tui_action_of(key);
    a->said[0] = 0;
    if (a->ask)
        return tui_ask_key(a, key);
    if (act == TUI_ACT_NONE)
        return TUI_BELL;
    if (act != TUI_ACT_LONGEST)
        a->hunt_event = NTFF_NONE;
    if (act != TUI_ACT_GAP)
        a->hunt_gap = (struct tui_gap){0};
    if (list_action(a, act))
        return TUI_REDRAW;
    if (a->over && leaves_page(act)) {
        a->over = TUI_OVER_NONE;
        return TUI_REDRAW;
    }
    if (time_action(a, act) || track_action(a, act) || span_action(a, act) || ask_action(a, act) ||
        pane_action(a, act))
        return TUI_REDRAW;
    return program_action(a, act);
}
