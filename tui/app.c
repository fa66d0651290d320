/* app - the viewer's life: state made and freed, events given to whoever handles them, panes drawn
 * in order. What keys do is in actions.c, moving in nav.c, the prompt in prompt.c, the mouse in
 * mouse.c. */
#include "app_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_BUDGET 100000 /* events, nodes and columns looked at in a frame, see sums.h */
#define SEARCH_SLICE 10000  /* see tui_search_step */
#define STATS_SLICE 40000   /* events */

const struct tui_glyphs tui_glyphs_utf8 = {
    .open = 0x25BE,
    .folded = 0x25B8,
    .leaf = ' ',
    .tick = 0x2575,
    .cursor_top = 0x25BC,
    .cursor_line = 0x2502,
    .grid = 0x250A,
    .mark_line = 0x2506,
    .span_begin = 0x258F,
    .fill = 0x2500,
    .fill_estimated = 0x00B7,
    .fill_unaligned = 0x2248,
    .fill_broken = 0x254C,
    .start_lost = 0x00AB,
    .unfinished = 0x00BB,
    .cut_left = 0x2039,
    .cut_right = 0x203A,
    .instant = 0x25C6,
    .error = '!',
    .lost = 0x25BC,
    .right_half = 0x2590,
    .border = 0x2500,
    .sep = 0x2502,
    .gap = 0x2550,
    .left = {' ', 0x258F, 0x258E, 0x258D, 0x258C, 0x258B, 0x258A, 0x2589, 0x2588},
    .lower = {' ', 0x2581, 0x2582, 0x2583, 0x2584, 0x2585, 0x2586, 0x2587, 0x2588},
    .us = "\xC2\xB5s",
    .ellipsis = "\xE2\x80\xA6",
    .dot = "\xC2\xB7",
    .arrow_from = "\xE2\x86\x90",
    .arrow_to = "\xE2\x86\x92",
    .warn = "\xE2\x9A\xA0",
};

const struct tui_glyphs tui_glyphs_ascii = {
    .open = '-',
    .folded = '+',
    .leaf = ' ',
    .tick = '|',
    .cursor_top = 'v',
    .cursor_line = '|',
    .grid = ':',
    .mark_line = ':',
    .span_begin = '[',
    .fill = '-',
    .fill_estimated = '.',
    .fill_unaligned = '~',
    .fill_broken = '=',
    .start_lost = '<',
    .unfinished = '>',
    .cut_left = '{',
    .cut_right = '}',
    .instant = '*',
    .error = '!',
    .lost = 'V',
    .right_half = '#',
    .border = '-',
    .sep = '|',
    .gap = '=',
    .left = {' ', '|', '|', '|', '|', '#', '#', '#', '#'},
    .lower = {' ', '.', ':', '-', '=', '+', '*', '%', '#'},
    .us = "us",
    .ellipsis = "...",
    .dot = "-",
    .arrow_from = "<-",
    .arrow_to = "->",
    .warn = "!",
};

/* -- life ----------------------------------------------------------------------------------- */

static int by_to(const void *pa, const void *pb, void *arg)
{
    const struct ntff_flow *f = arg;
    const struct ntff_flow *a = &f[*(const uint32_t *)pa], *b = &f[*(const uint32_t *)pb];
    if (a->to != b->to)
        return a->to < b->to ? -1 : 1;
    return (a->from > b->from) - (a->from < b->from);
}

static bool init_flows(struct tui_app *a)
{
    size_t n = a->t->n_flows;
    a->flows_by_to = malloc((n ? n : 1) * sizeof *a->flows_by_to);
    if (!a->flows_by_to)
        return false;
    for (size_t i = 0; i < n; i++)
        a->flows_by_to[i] = (uint32_t)i;
    if (n)
        qsort_r(a->flows_by_to, n, sizeof *a->flows_by_to, by_to, a->t->flows);
    return true;
}

/* Tracks the table of busy times lists: whatever runs spans. */
static bool init_busy(struct tui_app *a)
{
    a->busy_tracks = malloc((a->t->n_tracks + 1) * sizeof *a->busy_tracks);
    if (!a->busy_tracks)
        return false;
    for (size_t p = 0; p < a->t->n_tracks; p++) {
        uint32_t track = a->rows.pre[p];
        int kind = a->t->tracks[track].kind;
        if (a->l->first_row[track + 1] > a->l->first_row[track] && kind != NTFF_TRACK_EVENTS)
            a->busy_tracks[a->n_busy_tracks++] = track;
    }
    return true;
}

#define MEASURED_TRACKS 4000

/* Columns the names ask for, folded or not, so that the timeline does not shift as they fold. */
static int names_width(const struct tui_app *a)
{
    int most = 0;
    for (uint32_t i = 0; i < a->t->n_tracks && i < MEASURED_TRACKS; i++) {
        ntff_str name = a->t->tracks[i].name;
        int level = a->rows.level[i] < 8 ? a->rows.level[i] : 8;
        int cols = tui_text_cols(ntff_str_of(a->t, name), ntff_text_len(&a->t->strs, name), 60);
        if (a->rows.full[i] && level + cols > most)
            most = level + cols;
    }
    return most + 9; /* the fold mark before, the number behind */
}

/* A filter that matches nothing is most likely mistyped, and the screen looks as if there were no
 * more. */
static void say_filters(struct tui_app *a)
{
    char line[200];
    if (!a->o.diag || !a->o.diag->of[NTFF_DIAG_FILTERED_ALL].count)
        return;
    ntff_diag_line(a->o.diag, NTFF_DIAG_FILTERED_ALL, line, sizeof line);
    tui_app_say(a, true, "%s; i tells more", line);
}

struct tui_app *tui_app_new(const struct tui_lod *l, const struct tui_options *o)
{
    struct tui_app *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->l = l;
    a->t = l->t;
    a->o = *o;
    a->g = o->ascii ? &tui_glyphs_ascii : &tui_glyphs_utf8;
    a->details_of = o->details ? o->details : ntff_detail;
    a->event = a->doc_event = a->doc_track = NTFF_NONE;
    a->hunt_event = NTFF_NONE;
    a->n_hues = a->t->strs.items.n;
    a->hues = calloc(a->n_hues ? a->n_hues : 1, 1);
    a->panes = (struct tui_panes){.tree = true, .overview = !o->plain, .status = !o->plain};
    a->mouse = true;
    a->w = 80;
    a->h = 24;
    uint64_t end = a->t->end_ns < UINT64_MAX ? a->t->end_ns + 1 : UINT64_MAX;
    tui_view_init(&a->view, a->t->begin_ns, end, a->w);
    a->now = a->view.begin;
    if (!a->hues || !tui_rows_init(&a->rows, l) || !init_flows(a) || !init_busy(a)) {
        tui_app_free(a);
        return NULL;
    }
    a->panes.tree_cols = names_width(a);
    tui_nav_relayout(a);
    if (l->begin < l->end) /* where something happens */
        tui_view_fit(&a->view, l->begin, l->end < UINT64_MAX ? l->end + 1 : l->end);
    a->now = a->view.from;
    tui_nav_pick(a);
    say_filters(a);
    return a;
}

void tui_app_free(struct tui_app *a)
{
    if (!a)
        return;
    tui_search_done(&a->search);
    tui_stats_done(&a->stats);
    tui_doc_done(&a->details);
    tui_doc_done(&a->page);
    tui_doc_done(&a->tracks);
    tui_sums_done(&a->sums);
    tui_sums_done(&a->overview);
    tui_rows_done(&a->rows);
    free(a->hues);
    free(a->busy_tracks);
    free(a->flows_by_to);
    free(a->vals);
    free(a);
}

void tui_app_say(struct tui_app *a, bool bad, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(a->said, sizeof a->said, fmt, ap);
    va_end(ap);
    a->said_bad = bad;
}

bool tui_app_starved(const struct tui_app *a)
{
    return a->starved || a->rows.starved || a->sums.starved || a->overview.starved ||
           a->stats.starved || a->search.starved || a->details.starved || a->page.starved;
}

bool tui_app_mouse(const struct tui_app *a)
{
    return a->mouse;
}

const struct tui_export *tui_app_export(const struct tui_app *a)
{
    return &a->export;
}

void tui_app_export_exists(struct tui_app *a)
{
    tui_ask(a, TUI_ASK_REPLACE, "");
}

void tui_app_show(struct tui_app *a, uint64_t from, uint64_t to)
{
    tui_nav_fit(a, from, to);
}

size_t tui_app_lines(const struct tui_app *a)
{
    return a->rows.n_lines;
}

bool tui_app_filter(struct tui_app *a, const char *pattern, char *why, size_t why_cap)
{
    struct tui_place p = tui_nav_note(a);
    if (!tui_rows_filter(&a->rows, pattern, why, why_cap))
        return false;
    tui_nav_restore(a, p);
    tui_sums_clear(&a->sums);
    tui_sums_clear(&a->overview);
    tui_stats_reset(&a->stats);
    return true;
}

/* What the overview shows: all events, or everything when the view lies outside of them. */
struct tui_view tui_app_whole(const struct tui_app *a)
{
    struct tui_view v = a->view;
    v.cols = a->lay.overview.h ? a->lay.overview.w : 1;
    v.from = v.begin;
    v.span = v.end - v.begin;
    if (a->l->begin < a->l->end && a->view.from >= a->l->begin &&
        tui_view_to(&a->view) <= a->l->end + 1)
        tui_view_fit(&v, a->l->begin, a->l->end + (a->l->end < UINT64_MAX));
    return v;
}

/* -- texts everybody needs ------------------------------------------------------------------ */

uint64_t tui_app_step(const struct tui_app *a)
{
    uint64_t step = a->view.span / (uint64_t)a->view.cols;
    return step ? step : 1;
}

size_t tui_app_time(const struct tui_app *a, char *out, uint64_t t, uint64_t step_ns)
{
    if (!a->utc)
        return tui_fmt_time(out, t - a->t->begin_ns, step_ns, a->g->us);
    return tui_fmt_utc(out, t);
}

size_t tui_app_dur(const struct tui_app *a, char *out, uint64_t ns)
{
    return tui_fmt_dur(out, ns, a->g->us);
}

const char *tui_app_name(const struct tui_app *a, uint32_t event, size_t *len)
{
    ntff_str name = a->t->events[event].name;
    *len = ntff_text_len(&a->t->strs, name);
    return ntff_str_of(a->t, name);
}

const struct tui_sum *tui_app_sums(struct tui_app *a, const struct tui_line *line)
{
    if (line->row1 == line->row0 && line->pre1 - line->pre0 <= 1)
        return NULL;
    const struct tui_sums_entry *e = tui_sums_line(&a->sums, line);
    return e ? e->v : NULL;
}

/* -- events --------------------------------------------------------------------------------- */

unsigned tui_app_handle(struct tui_app *a, const struct tui_event *e)
{
    switch (e->kind) {
    case TUI_EVENT_KEY:
        return tui_app_key(a, e->key);
    case TUI_EVENT_MOUSE:
        return tui_mouse_event(a, e);
    case TUI_EVENT_RESIZE:
        a->w = e->w < 1 ? 1 : e->w > TUI_MAX_COLS ? TUI_MAX_COLS : e->w;
        a->h = e->h < 1 ? 1 : e->h;
        tui_nav_relayout(a);
        if (a->over)
            tui_page_make(a);
        return TUI_REDRAW;
    case TUI_EVENT_QUIT:
        return TUI_QUIT;
    default:
        return 0;
    }
}

/* -- background ----------------------------------------------------------------------------- */

/* The hit to go to: the next one, or with nothing selected the one at the cursor itself. */
static uint32_t wanted_hit(const struct tui_app *a)
{
    size_t at;
    if (a->event != NTFF_NONE)
        return tui_search_next(&a->search, a->event, a->search_dir, &at);
    if (a->search_dir > 0 && tui_search_is_hit(&a->search, a->search.start))
        return a->search.start;
    return tui_search_next(&a->search, a->search.start, a->search_dir, &at);
}

static void work_search(struct tui_app *a)
{
    bool more = tui_search_step(&a->search, SEARCH_SLICE);
    if (!a->search_jump)
        return;
    uint32_t hit = wanted_hit(a);
    if (hit != NTFF_NONE) {
        a->search_jump = false;
        tui_nav_event(a, hit);
    } else if (!more) {
        a->search_jump = false;
        tui_app_say(a, true, "not found: %.200s", a->search.pattern);
    }
}

unsigned tui_app_work(struct tui_app *a)
{
    unsigned work = a->sums.pending || a->overview.pending ? TUI_STALE : 0;
    if (a->search.active && a->search.running) {
        work_search(a);
        work |= TUI_MORE;
    }
    if (a->lay.stats.h) {
        uint64_t from, to;
        const struct tui_line *l = tui_nav_current(a);
        tui_nav_range(a, &from, &to);
        a->stats.sort = a->sort;
        tui_stats_want(&a->stats, &a->rows, from, to, a->stats_scoped && l ? l->track : NTFF_NONE);
        work |= tui_stats_step(&a->stats, STATS_SLICE) ? TUI_MORE : 0;
    }
    return work;
}

/* -- drawing -------------------------------------------------------------------------------- */

static bool frame_memory(struct tui_app *a)
{
    if (a->vals_cap < a->view.cols) {
        struct tui_range *vals = realloc(a->vals, (size_t)a->view.cols * sizeof *vals);
        if (!vals)
            return false;
        a->vals = vals;
        a->vals_cap = a->view.cols;
    }
    struct tui_view whole = tui_app_whole(a);
    int64_t budget = a->o.plain ? INT64_MAX : FRAME_BUDGET; /* nobody waits for half a page */
    return tui_sums_frame(&a->sums, &a->rows, &a->view, budget) &&
           tui_sums_frame(&a->overview, &a->rows, &whole, budget / 4);
}

static void draw_page(struct tui_app *a, struct tui_screen *s)
{
    struct tui_rect r = {0, 0, s->w, s->h};
    const char *title = a->over == TUI_OVER_HELP ? "Help" : "About this trace";
    if (r.h > 2) {
        r = tui_draw_title(a, s, r, true, title);
        r.h--;
    }
    r.x += r.w > 4;
    r.w -= r.w > 4 ? 2 : 0;
    tui_doc_draw(&a->page, s, r, true);
}

void tui_app_draw(struct tui_app *a, struct tui_screen *s)
{
    if (!a->starved_said && tui_app_starved(a)) {
        a->starved_said = true;
        tui_app_say(a, true, "out of memory: not all is shown");
    }
    tui_screen_clear(s);
    s->ascii = a->o.ascii;
    if (!frame_memory(a)) {
        a->starved = true;
        tui_put_str(s, 0, 0, s->w, TUI_STYLE_ERROR, "out of memory");
        return;
    }
    if (a->over) {
        draw_page(a, s);
        tui_draw_status(a, s);
        return;
    }
    tui_draw_header(a, s);
    if (a->lay.overview.h)
        tui_draw_overview(a, s);
    if (a->lay.ruler.h)
        tui_draw_ruler(a, s);
    tui_draw_tracks(a, s);
    if (a->lay.details.h) {
        tui_details_make(a);
        struct tui_rect r =
            tui_draw_title(a, s, a->lay.details, a->focus == TUI_PANE_DETAILS, "Details");
        tui_doc_draw(&a->details, s, r, a->focus == TUI_PANE_DETAILS);
    }
    if (a->lay.stats.h)
        tui_draw_stats(a, s, a->lay.stats);
    tui_draw_status(a, s);
}
