/* layout - see layout.h. */
#include "layout.h"

#define SIDE_BY_SIDE 110 /* columns from which two panes share a row */

static int clamp(int v, int lo, int hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static int take_line(struct tui_rect *r, int w, int *y, int bottom, bool want)
{
    *r = (struct tui_rect){0, *y, w, want && *y < bottom};
    *y += r->h;
    return r->h;
}

/* Heights of the panes at the bottom of a body of h lines. */
static void make_panes(struct tui_layout *l, int w, int y, int *bottom, const struct tui_panes *on)
{
    int h = *bottom - y, n = on->details + on->stats;
    bool beside = n == 2 && w >= SIDE_BY_SIDE;
    if (n == 0 || h < 5)
        return;
    int each = n == 1 || beside ? clamp(h * 2 / 5, 3, 16) : clamp(h * 3 / 10, 3, 12);
    if (n == 2 && !beside && h < 3 + 2 * each)
        each = clamp((h - 2) / 2, 2, 12);
    if (beside) {
        int left = w * 2 / 5;
        *bottom -= each;
        l->details = (struct tui_rect){0, *bottom, left, each};
        l->stats = (struct tui_rect){left, *bottom, w - left, each};
        return;
    }
    if (on->stats) {
        *bottom -= each;
        l->stats = (struct tui_rect){0, *bottom, w, each};
    }
    if (on->details) {
        *bottom -= each;
        l->details = (struct tui_rect){0, *bottom, w, each};
    }
}

void tui_layout_make(struct tui_layout *l, int w, int h, const struct tui_panes *on)
{
    *l = (struct tui_layout){0};
    int y = 0, bottom = h;
    if (h >= 4 && on->status)
        l->status = (struct tui_rect){0, --bottom, w, 1};
    take_line(&l->header, w, &y, bottom, h >= 3);
    take_line(&l->overview, w, &y, bottom, h >= 12 && on->overview);
    take_line(&l->ruler, w, &y, bottom, h >= 5);
    make_panes(l, w, y, &bottom, on);
    int tree = on->tree && w >= 24 ? clamp(on->tree_cols, 10, clamp(w * 3 / 10, 10, 44)) : 0;
    l->tree = (struct tui_rect){0, y, tree, bottom - y};
    l->time = (struct tui_rect){tree, y, w - tree, bottom - y};
    l->corner = (struct tui_rect){0, l->ruler.y, tree, l->ruler.h};
    l->ruler.x = tree;
    l->ruler.w = w - tree;
}
