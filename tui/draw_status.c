/* draw_status - the last line: a question, what was said, how the search goes, or the keys that
 * help now; on the right what is wrong with the trace. And the titles above panes. */
#include "app_priv.h"

#include <stdio.h>
#include <string.h>

static int cols_of(const char *s)
{
    return tui_text_cols(s, strlen(s), TUI_MAX_COLS);
}

struct tui_rect tui_draw_title(struct tui_app *a, struct tui_screen *s, struct tui_rect r,
                               bool focus, const char *title)
{
    if (r.h < 1)
        return r;
    tui_fill(s, (struct tui_rect){r.x, r.y, r.w, 1}, TUI_STYLE_BORDER, a->g->border);
    int style = focus ? TUI_STYLE_TITLE_FOCUS : TUI_STYLE_TITLE;
    if (r.w > 6) {
        tui_put(s, r.x + 1, r.y, style, focus ? '[' : ' ');
        int n = tui_put_cut(s, r.x + 2, r.y, r.w - 5, style, title, strlen(title));
        tui_put(s, r.x + 2 + n, r.y, style, focus ? ']' : ' ');
    }
    return (struct tui_rect){r.x, r.y + 1, r.w, r.h - 1};
}

static void draw_ask(struct tui_app *a, struct tui_screen *s, struct tui_rect r)
{
    const char *label = tui_ask_label(a->ask);
    int x = tui_put_str(s, r.x, r.y, r.w, TUI_STYLE_PROMPT, label);
    /* the part around the cursor, when the text is longer than the line */
    size_t from = 0;
    int room = r.w - x - 1;
    while (room > 0 && from < a->ask_at &&
           tui_text_cols(a->ask_text + from, a->ask_at - from, room + 1) > room)
        from++;
    while (from < a->ask_at && ((unsigned char)a->ask_text[from] & 0xC0) == 0x80)
        from++;
    tui_put_text(s, r.x + x, r.y, r.w - x, TUI_STYLE_NORMAL, a->ask_text + from, a->ask_len - from);
    s->cursor_x =
        r.x + x + tui_text_cols(a->ask_text + from, a->ask_at - from, room > 0 ? room : 0);
    s->cursor_y = r.y;
}

/* What the search is doing. */
static void fmt_search(const struct tui_app *a, char *out, size_t cap)
{
    char n[TUI_TIME_CAP], at[TUI_TIME_CAP];
    const struct tui_search *f = &a->search;
    tui_fmt_count(n, f->n_hits);
    size_t here = a->event != NTFF_NONE ? tui_search_at(f, a->event) : 0;
    if (f->running)
        snprintf(out, cap, "/%.60s: %s hits, %u%% searched (Esc stops)", f->pattern, n,
                 (unsigned)((uint64_t)f->done * 100 / (f->t->n_events ? f->t->n_events : 1)));
    else if (here) {
        tui_fmt_count(at, here);
        snprintf(out, cap, "/%.60s: hit %s of %s", f->pattern, at, n);
    } else
        snprintf(out, cap, "/%.60s: %s hits", f->pattern, n);
}

/* The keys worth knowing now, as many as fit. */
static void draw_hints(struct tui_app *a, struct tui_screen *s, struct tui_rect r)
{
    static const char *const time[] = {
        "F1",  "help",   "/",    "search", "w s",    "zoom", "L",       "longest", "p",
        "gap", "m",      "mark", "f",      "filter", "2",    "details", "3",       "stats",
        "e",   "export", "i",    "about",  "q",      "quit", NULL};
    static const char *const list[] = {"Up Down",   "line", "Enter",    "go there", "Tab",
                                       "next pane", "Esc",  "timeline", "q",        "close",
                                       "F1",        "help", NULL};
    static const char *const stats[] = {
        "c",   "sort",      "b",   "names or tracks", "S", "scope", "Enter", "go there",
        "Tab", "next pane", "Esc", "timeline",        "q", "close", NULL};
    static const char *const page[] = {"Up Down", "scroll", "q", "leave", NULL};
    const char *const *h = a->over                        ? page
                           : a->focus == TUI_PANE_DETAILS ? list
                           : a->focus == TUI_PANE_STATS   ? stats
                                                          : time;
    int x = r.x;
    for (; h[0]; h += 2) {
        int need = cols_of(h[0]) + cols_of(h[1]) + 1;
        if (x + need > r.x + r.w)
            break;
        x += tui_put_str(s, x, r.y, need, TUI_STYLE_KEY, h[0]) + 1;
        x += tui_put_str(s, x, r.y, need, TUI_STYLE_DIM, h[1]) + 2;
    }
}

/* Something the user should know from the first second on: what is missing, what went wrong. */
static int draw_notice(struct tui_app *a, struct tui_screen *s, struct tui_rect r)
{
    char text[160] = "", n[TUI_TIME_CAP];
    int losses = 0, style = TUI_STYLE_WARN;
    for (int i = 0; a->o.diag && i < NTFF_DIAG_COUNT; i++)
        losses += a->o.diag->of[i].count && ntff_diag_grade((enum ntff_diag_kind)i) == NTFF_LOSS;
    int len = 0;
    if (a->l->n_errors) {
        tui_fmt_count(n, a->l->n_errors);
        len += snprintf(text + len, sizeof text - (size_t)len, " %s error%s (x) ", n,
                        a->l->n_errors == 1 ? "" : "s");
        style = TUI_STYLE_ERROR;
    }
    if (losses)
        snprintf(text + len, sizeof text - (size_t)len, " %s data missing (i) ", a->g->warn);
    int cols = cols_of(text);
    if (!cols || cols > r.w / 2)
        return 0;
    tui_put_str(s, r.x + r.w - cols, r.y, cols, style, text);
    return cols;
}

void tui_draw_status(struct tui_app *a, struct tui_screen *s)
{
    struct tui_rect r = a->lay.status;
    char text[256];
    if (!r.h)
        return;
    if (a->ask) {
        draw_ask(a, s, r);
        return;
    }
    r.w -= draw_notice(a, s, r);
    if (a->said[0]) {
        tui_put_cut(s, r.x, r.y, r.w, a->said_bad ? TUI_STYLE_WARN : TUI_STYLE_NOTE, a->said,
                    strlen(a->said));
    } else if (a->search.active && !a->over) {
        fmt_search(a, text, sizeof text);
        tui_put_cut(s, r.x, r.y, r.w, TUI_STYLE_NOTE, text, strlen(text));
    } else {
        draw_hints(a, s, r);
    }
}
