/* app - the viewer without a terminal: events in, a grid of cells out. Knows: everything here but
 * term.c and main.c; no I/O, no clock, no curses, so that scripts and tests can drive it.
 *
 * The caller's loop: draw, show, wait for an event (or not, while tui_app_work has more to do),
 * handle, again. What the viewer cannot do itself it asks for by a flag. Everything long is done in
 * steps, so that one call never takes longer than a frame may. */
#ifndef TUI_APP_H
#define TUI_APP_H

#include "event.h"
#include "rows.h"
#include "screen.h"
#include "search.h"

struct tui_app;

struct tui_options {
    const char *title;            /* what was opened */
    const struct ntff_diag *diag; /* findings; may be NULL */
    tui_detail_fn *details;       /* NULL = ntff_detail */
    bool ascii;                   /* glyphs from ASCII only */
    bool fill;                    /* spans visible in plain text, without styles (--print) */
    bool plain;                   /* no panes but ruler, tree and timeline; no cursor (--print) */
};

/* The index must be built; it and the trace are borrowed. NULL: no memory. */
struct tui_app *tui_app_new(const struct tui_lod *l, const struct tui_options *o);
void tui_app_free(struct tui_app *a);

enum {
    TUI_REDRAW = 1, /* something changed */
    TUI_QUIT = 2,
    TUI_EXPORT = 4,  /* tui_app_export says what; answer with tui_app_say */
    TUI_REPAINT = 8, /* send the whole screen again */
    TUI_SUSPEND = 16,
    TUI_MOUSE = 32, /* the mouse was switched: tui_app_mouse */
    TUI_BELL = 64,
    TUI_INTERRUPTED = 128 /* with QUIT: by ctrl-C */
};
/* Returns TUI_* flags. */
unsigned tui_app_handle(struct tui_app *a, const struct tui_event *e);

enum {
    TUI_MORE = 1, /* call again: a search or a count goes on */
    TUI_STALE = 2 /* draw again: there is more to show, or drawing itself was cut short */
};
/* A slice of background work, a few ms at most. Returns TUI_MORE, TUI_STALE or 0 = nothing to do.
 */
unsigned tui_app_work(struct tui_app *a);

void tui_app_draw(struct tui_app *a, struct tui_screen *s);

struct tui_export {
    char path[512];
    uint64_t from, to;
    const bool *shown; /* by track; NULL = all */
    bool replace;      /* an existing file */
};
const struct tui_export *tui_app_export(const struct tui_app *a);
/* The file exists: asks whether to replace it. */
void tui_app_export_exists(struct tui_app *a);
/* A line for the user; bad: an error. */
void tui_app_say(struct tui_app *a, bool bad, const char *fmt, ...) NTFF_PRINTF(3, 4);
bool tui_app_mouse(const struct tui_app *a);
/* True if memory ran out since the viewer began: some of what was shown or found was not all there
 * is. */
bool tui_app_starved(const struct tui_app *a);

/* For --print and tests. */
void tui_app_show(struct tui_app *a, uint64_t from, uint64_t to);
bool tui_app_filter(struct tui_app *a, const char *pattern, char *why, size_t why_cap);
size_t tui_app_lines(const struct tui_app *a);

#endif
