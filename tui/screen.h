/* screen - a grid of cells between the viewer and whatever shows it. Knows: text, style.
 * Every put is clipped to the grid; coordinates may lie outside. A wide code point owns the cell
 * to its right, which has width 0; overwriting either half blanks the other.
 * Memory: the screen owns its cells. */
#ifndef TUI_SCREEN_H
#define TUI_SCREEN_H

#include "style.h"
#include "text.h"

struct tui_cell {
    uint32_t ch;      /* code point; ' ' when empty */
    uint32_t comb[2]; /* combining marks, 0 = none */
    uint8_t width;    /* 1, 2, or 0 = right half of the cell to the left */
    uint8_t style;    /* enum tui_style */
};

struct tui_rect {
    int x, y, w, h;
};

struct tui_screen {
    int w, h;
    struct tui_cell *cells;   /* row by row */
    bool ascii;               /* no code point above 0x7e: others show as '?' */
    int (*width)(uint32_t c); /* columns of a code point, -1 = unknown; NULL = tui_cp_width */
    int cursor_x, cursor_y;   /* where the terminal's cursor belongs; -1 = hidden */
};

#define TUI_MAX_COLS 1000
#define TUI_MAX_LINES 500

/* Zero-initialise once. At least 1x1, at most TUI_MAX_COLS wide. All cells become blank. False when
 * memory ran out (nothing changed). */
bool tui_screen_resize(struct tui_screen *s, int w, int h) NTFF_MUST_CHECK;
void tui_screen_done(struct tui_screen *s);
void tui_screen_clear(struct tui_screen *s);

/* One code point of width 1 (UI glyphs). */
void tui_put(struct tui_screen *s, int x, int y, int style, uint32_t ch);
void tui_fill(struct tui_screen *s, struct tui_rect r, int style, uint32_t ch);
/* Text in at most max columns; returns the columns used. With cut, a text that does not fit ends
 * in an ellipsis. */
int tui_put_text(struct tui_screen *s, int x, int y, int max, int style, const char *p, size_t len);
int tui_put_cut(struct tui_screen *s, int x, int y, int max, int style, const char *p, size_t len);
/* Cut in the middle instead: what tells tracks apart is often at the end. */
int tui_put_middle(struct tui_screen *s, int x, int y, int max, int style, const char *p,
                   size_t len);
/* Cut at the begin: of a path the file name says most. */
int tui_put_end(struct tui_screen *s, int x, int y, int max, int style, const char *p, size_t len);
int tui_put_str(struct tui_screen *s, int x, int y, int max, int style, const char *str);
int tui_putf(struct tui_screen *s, int x, int y, int max, int style, const char *fmt, ...)
    NTFF_PRINTF(6, 7);
/* Changes only the style of cells. */
void tui_restyle(struct tui_screen *s, struct tui_rect r, int style);

/* The cell, or NULL outside. */
const struct tui_cell *tui_cell_at(const struct tui_screen *s, int x, int y);

bool tui_cell_same(const struct tui_cell *a, const struct tui_cell *b);

/* Appends a row as UTF-8, without blanks at its end; returns its length, cut to cap (with NUL).
 * cap of w * 12 + 1 is always enough. */
size_t tui_screen_row_text(const struct tui_screen *s, int y, char *out, size_t cap);

#endif
