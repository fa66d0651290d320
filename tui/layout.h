/* layout - from the size of the screen and what is switched on to rectangles. Knows: screen.
 * From the top: header, overview, ruler, the tracks (tree left, timeline right), then details and
 * statistics, side by side when there is room; the status line last. What does not fit is left out
 * (w or h 0), the timeline last. */
#ifndef TUI_LAYOUT_H
#define TUI_LAYOUT_H

#include "screen.h"

struct tui_layout {
    struct tui_rect header, overview, ruler, tree, time, details, stats, status;
    struct tui_rect corner; /* left of the ruler */
};

struct tui_panes {
    bool tree, overview, details, stats, status;
    int tree_cols; /* what the names would like */
};

void tui_layout_make(struct tui_layout *l, int w, int h, const struct tui_panes *on);

static inline bool tui_inside(struct tui_rect r, int x, int y)
{
    return x >= r.x && y >= r.y && x < r.x + r.w && y < r.y + r.h;
}

#endif
