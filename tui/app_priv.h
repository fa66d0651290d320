/* app_priv - the state of the viewer, shared by app.c, nav.c, prompt.c, mouse.c and draw_*.c. */
#ifndef TUI_APP_PRIV_H
#define TUI_APP_PRIV_H

#include "app.h"
#include "doc.h"
#include "keymap.h"
#include "layout.h"
#include "stats.h"
#include "sums.h"
#include "timefmt.h"

enum tui_pane { TUI_PANE_TIME, TUI_PANE_DETAILS, TUI_PANE_STATS };
enum tui_over { TUI_OVER_NONE, TUI_OVER_HELP, TUI_OVER_INFO };
enum tui_ask {
    TUI_ASK_NONE,
    TUI_ASK_SEARCH,
    TUI_ASK_SEARCH_BACK,
    TUI_ASK_FILTER,
    TUI_ASK_TIME,
    TUI_ASK_EXPORT,
    TUI_ASK_REPLACE
};

/* Glyphs of the two character sets. */
struct tui_glyphs {
    uint32_t open, folded, leaf; /* tree marks */
    uint32_t tick, cursor_top, cursor_line, grid, mark_line;
    uint32_t span_begin, fill, fill_estimated, fill_unaligned, fill_broken;
    uint32_t start_lost, unfinished, cut_left, cut_right;
    uint32_t instant, error, lost, right_half, border, sep, gap;
    uint32_t left[9];  /* 0 .. 8 eighths of a cell, from the left */
    uint32_t lower[9]; /* from below */
    const char *us, *ellipsis, *dot, *arrow_from, *arrow_to, *warn;
};
extern const struct tui_glyphs tui_glyphs_utf8, tui_glyphs_ascii;

#define TUI_ASK_CAP 512
#define TUI_BACK_MAX 64

struct tui_app {
    const struct ntff_trace *t;
    const struct tui_lod *l;
    struct tui_options o;
    const struct tui_glyphs *g;
    tui_detail_fn *details_of;
    uint32_t *flows_by_to; /* indices into t->flows, by (to, from) */

    int w, h;
    struct tui_layout lay;
    struct tui_panes panes;
    enum tui_pane focus;
    enum tui_over over;

    struct tui_rows rows;
    struct tui_view view;
    uint64_t now;       /* time under the cursor */
    size_t line, top;   /* line under the cursor, first on screen */
    uint32_t event;     /* selected, or NTFF_NONE */
    struct tui_gap gap; /* selected instead, if to > from */
    struct {
        uint64_t from, span;
    } back[TUI_BACK_MAX];
    size_t n_back;
    uint64_t mark[2];
    int n_marks;
    bool utc, mouse;

    enum tui_ask ask;
    char ask_text[TUI_ASK_CAP];
    size_t ask_len, ask_at;
    char filter[TUI_ASK_CAP];

    struct tui_search search;
    int search_dir;
    bool search_jump; /* go to the first hit found */

    /* where L and p go on: the range they began with, and what they found last */
    uint64_t hunt_from, hunt_to;
    uint32_t hunt_event;
    struct tui_gap hunt_gap;

    struct tui_stats stats;
    bool stats_by_track, stats_scoped;
    enum tui_sort sort;
    struct tui_doc tracks; /* the table of tracks is one line each: only .at and .top are used */
    uint32_t *busy_tracks; /* tracks listed there */
    size_t n_busy_tracks;

    struct tui_doc details, page; /* page: help or about */
    uint32_t doc_event;           /* what details show */
    uint32_t doc_track;
    uint64_t doc_now;

    uint8_t *hues; /* by string id: hue + 1, 0 = not yet known */
    size_t n_hues;
    struct tui_sums sums, overview;
    struct tui_range *vals; /* scratch of one counter line */
    int vals_cap;

    int drag_x0; /* column where the button went down; -1 = not down */
    enum { TUI_DRAG_NONE, TUI_DRAG_TIME, TUI_DRAG_OVERVIEW } drag;
    bool dragged;

    bool starved;      /* memory ran out for a whole screen */
    bool starved_said; /* and the user knows that something is missing */

    char said[256];
    bool said_bad;
    struct tui_export export;
};

/* nav.c: moving and selecting. All keep the state consistent and leave redrawing to the caller. */
void tui_nav_time(struct tui_app *a, uint64_t t);      /* cursor there; the view follows */
void tui_nav_line(struct tui_app *a, size_t line);     /* cursor there; the list follows */
void tui_nav_column(struct tui_app *a, int dir);       /* one column */
void tui_nav_pick(struct tui_app *a);                  /* select what is under the cursor */
bool tui_nav_event(struct tui_app *a, uint32_t event); /* select, unfold, bring into view */
void tui_nav_zoom(struct tui_app *a, uint64_t num, uint64_t den, uint64_t anchor);
void tui_nav_fit(struct tui_app *a, uint64_t from, uint64_t to);
void tui_nav_back(struct tui_app *a);
void tui_nav_zoom_selected(struct tui_app *a);
void tui_nav_zoom_event(struct tui_app *a, uint32_t event);
void tui_nav_neighbour(struct tui_app *a, int dir);
void tui_nav_longest(struct tui_app *a);
void tui_nav_gap(struct tui_app *a);
void tui_nav_flow(struct tui_app *a, int dir);
void tui_nav_error(struct tui_app *a, int dir);
void tui_nav_hit(struct tui_app *a, int dir);
void tui_nav_mark(struct tui_app *a);
void tui_nav_relayout(struct tui_app *a);
/* The selected event, else the first at or after the cursor: where a walk through the trace starts.
 */
uint32_t tui_nav_here(const struct tui_app *a);
/* Line under the cursor; NULL when no track is shown. */
const struct tui_line *tui_nav_current(const struct tui_app *a);
/* Keeps the line under the cursor while lines change: note before, restore after. */
struct tui_place {
    uint32_t track, row;
};
struct tui_place tui_nav_note(const struct tui_app *a);
void tui_nav_restore(struct tui_app *a, struct tui_place p);
/* What is being looked at: the marked range, else the visible one. */
void tui_nav_range(const struct tui_app *a, uint64_t *from, uint64_t *to);
/* Flows of an event: out (dir > 0) or in; returns the number, *first an index for tui_nav_flow_at.
 */
size_t tui_nav_flows(const struct tui_app *a, uint32_t event, int dir, size_t *first);
const struct ntff_flow *tui_nav_flow_at(const struct tui_app *a, int dir, size_t i);

/* actions.c: returns TUI_* flags. */
unsigned tui_app_key(struct tui_app *a, uint32_t key);
/* The page that is shown, for the present width. */
void tui_page_make(struct tui_app *a);

/* prompt.c: the line at the bottom. */
void tui_ask(struct tui_app *a, enum tui_ask what, const char *text);
unsigned tui_ask_key(struct tui_app *a, uint32_t key);
const char *tui_ask_label(enum tui_ask what);

/* mouse.c */
unsigned tui_mouse_event(struct tui_app *a, const struct tui_event *e);

/* details.c, about.c: documents. */
void tui_details_make(struct tui_app *a);
void tui_help_make(struct tui_doc *d);
void tui_about_make(struct tui_app *a, struct tui_doc *d);

/* draw_*.c */
void tui_draw_header(struct tui_app *a, struct tui_screen *s);
void tui_draw_overview(struct tui_app *a, struct tui_screen *s);
void tui_draw_ruler(struct tui_app *a, struct tui_screen *s);
void tui_draw_tracks(struct tui_app *a, struct tui_screen *s);
void tui_draw_stats(struct tui_app *a, struct tui_screen *s, struct tui_rect r);
void tui_draw_status(struct tui_app *a, struct tui_screen *s);
/* A line with a title above a pane; returns what is left below. */
struct tui_rect tui_draw_title(struct tui_app *a, struct tui_screen *s, struct tui_rect r,
                               bool focus, const char *title);
/* Distance between ticks whose labels take so many columns; the first tick at or after a time; the
 * one after a tick (both UINT64_MAX when there is none). */
uint64_t tui_tick_step(const struct tui_view *v, int label_cols);
uint64_t tui_tick_first(uint64_t rel, uint64_t step);
uint64_t tui_tick_next(uint64_t rel, uint64_t step);
/* A moment as the user wants it: since the begin, or UTC. */
size_t tui_app_time(const struct tui_app *a, char *out, uint64_t t, uint64_t step_ns);
size_t tui_app_dur(const struct tui_app *a, char *out, uint64_t ns);
/* Step between columns, at least 1 ns. */
uint64_t tui_app_step(const struct tui_app *a);
struct tui_view tui_app_whole(const struct tui_app *a);
/* Sums of a line's columns; NULL: no memory. */
const struct tui_sum *tui_app_sums(struct tui_app *a, const struct tui_line *line);
const char *tui_app_name(const struct tui_app *a, uint32_t event, size_t *len);

#endif
