/* draw_header - the first line: what is open, what is visible, where the cursor is, what is
 * selected. */
#include "app_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct segment {
    char text[224];
    int style;
    int rank; /* left out from the highest down when there is no room; 1 stays */
};

struct header {
    struct segment seg[6];
    size_t n;
};

NTFF_PRINTF(4, 5)
static void add(struct header *h, int rank, int style, const char *fmt, ...)
{
    struct segment *s = &h->seg[h->n];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->text, sizeof s->text, fmt, ap);
    va_end(ap);
    s->rank = rank;
    s->style = style;
    h->n += s->text[0] != 0;
}

static void add_selected(const struct tui_app *a, struct header *h)
{
    char d[TUI_TIME_CAP];
    if (a->n_marks == 2) {
        tui_app_dur(a, d, a->mark[1] - a->mark[0]);
        add(h, 5, TUI_STYLE_HEADER_WARN, "marked %s", d);
    } else if (a->gap.to > a->gap.from) {
        tui_app_dur(a, d, a->gap.to - a->gap.from);
        add(h, 5, TUI_STYLE_HEADER_WARN, "gap %s", d);
    } else if (a->event != NTFF_NONE) {
        size_t len;
        const struct ntff_event *e = &a->t->events[a->event];
        const char *name = tui_app_name(a, a->event, &len);
        tui_app_dur(a, d, e->dur_ns);
        add(h, 5, TUI_STYLE_HEADER_WARN, "%.*s %s", (int)tui_text_begin(name, len, 120), name,
            e->flags & NTFF_EV_INSTANT ? "instant" : d);
    }
}

static void add_all(const struct tui_app *a, struct header *h)
{
    char from[TUI_TIME_CAP], to[TUI_TIME_CAP];
    uint64_t step = tui_app_step(a);
    const char *title = a->o.title ? a->o.title : "", *slash = strrchr(title, '/');
    add(h, 3, TUI_STYLE_HEADER_HI, "%.190s", slash && slash[1] ? slash + 1 : title);
    tui_fmt_time(from, a->view.from - a->t->begin_ns, step, a->g->us);
    tui_fmt_time(to, tui_view_to(&a->view) - a->t->begin_ns, step, a->g->us);
    add(h, 4, TUI_STYLE_HEADER, "%s %s %s", from, a->g->arrow_to, to);
    tui_app_dur(a, from, a->view.span);
    tui_fmt_short(to, (a->view.end - a->view.begin) / a->view.span);
    add(h, 1, TUI_STYLE_HEADER, "%s %sx", from, to);
    if (a->o.plain)
        return;
    tui_app_time(a, from, a->now, step);
    add(h, 2, TUI_STYLE_HEADER_HI, "at %s", from);
    add_selected(a, h);
}

static int cols_of(const char *s)
{
    return tui_text_cols(s, strlen(s), TUI_MAX_COLS);
}

/* Takes out what does not fit, highest rank first. */
static void fit(struct header *h, int w)
{
    int total = -1;
    for (size_t i = 0; i < h->n; i++)
        total += cols_of(h->seg[i].text) + 3;
    for (int rank = 5; rank > 1 && total > w; rank--)
        for (size_t i = 0; i < h->n; i++) {
            if (h->seg[i].rank != rank)
                continue;
            int cols = cols_of(h->seg[i].text), over = total - w;
            if (rank == 5 && cols - over >= 12)
                return; /* the name may be cut instead */
            total -= cols + 3;
            memmove(&h->seg[i], &h->seg[i + 1], (h->n - i - 1) * sizeof h->seg[0]);
            h->n--;
            break;
        }
}

void tui_draw_header(struct tui_app *a, struct tui_screen *s)
{
    struct tui_rect r = a->lay.header;
    struct header h = {.n = 0};
    if (!r.h)
        return;
    tui_fill(s, r, TUI_STYLE_HEADER, ' ');
    add_all(a, &h);
    fit(&h, r.w - 1);
    int x = r.x + 1;
    for (size_t i = 0; i < h.n; i++) {
        const struct segment *g = &h.seg[i];
        if (i) {
            tui_put(s, x + 1, r.y, TUI_STYLE_HEADER, a->g->sep);
            x += 3;
        }
        x += tui_put_cut(s, x, r.y, r.x + r.w - x, g->style, g->text, strlen(g->text));
    }
}
