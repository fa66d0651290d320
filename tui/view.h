/* view - which stretch of time is on screen, and which column is which time. Knows: base.
 * Units: ns. Ranges are half-open. The whole is [begin, end), end > begin; the visible part is
 * [from, from + span) inside it, span >= 1.
 * Column x of cols shows [tui_view_begin(x), tui_view_end(x)), never empty: when a column is
 * narrower than a nanosecond several columns show the same one. Integers throughout, with 128-bit
 * products, so a view of a year and one of a nanosecond are equally exact. */
#ifndef TUI_VIEW_H
#define TUI_VIEW_H

#include "proto/base.h"

struct tui_view {
    uint64_t begin, end; /* the whole */
    uint64_t from, span; /* what is visible */
    int cols;            /* >= 1 */
};

/* Everything visible. end <= begin is taken as one ns. */
void tui_view_init(struct tui_view *v, uint64_t begin, uint64_t end, int cols);

uint64_t tui_view_begin(const struct tui_view *v, int x); /* x = 0 .. cols */
uint64_t tui_view_end(const struct tui_view *v, int x);
/* Column that shows t; negative or >= cols when it is outside. */
int tui_view_col(const struct tui_view *v, uint64_t t);
static inline uint64_t tui_view_to(const struct tui_view *v)
{
    return v->from + v->span;
}

bool tui_view_same(const struct tui_view *a, const struct tui_view *b);

/* Makes span num/den times as long (rounded, at least 1 ns more or less), keeping anchor where it
 * is. */
void tui_view_zoom(struct tui_view *v, uint64_t num, uint64_t den, uint64_t anchor);
/* Moves by num/den of the visible span (at least 1 ns); stops at the ends. */
void tui_view_pan(struct tui_view *v, int num, int den);
/* Shows [from, to), clipped to the whole. */
void tui_view_fit(struct tui_view *v, uint64_t from, uint64_t to);
/* Moves, without zooming, so that t is visible with a margin. */
void tui_view_reveal(struct tui_view *v, uint64_t t);
/* The same for [from, to): all of it if it fits, else its begin. */
void tui_view_reveal_range(struct tui_view *v, uint64_t from, uint64_t to);

#endif
