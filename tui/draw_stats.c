/* draw_stats - the statistics pane: a table of names, and one of tracks with their busy time; both
 * beside each other when there is room. */
#include "app_priv.h"

#include <stdio.h>
#include <string.h>

#define BOTH_COLS 130 /* from here on both tables are shown */

struct column {
    const char *title;
    enum tui_sort sort;
    int cols, need; /* width; pane width from which it is shown */
};

static const struct column columns[] = {
    {"count", TUI_SORT_COUNT, 8, 30}, {"total", TUI_SORT_TOTAL, 10, 0},
    {"self", TUI_SORT_SELF, 10, 62},  {"mean", TUI_SORT_MEAN, 10, 42},
    {"min", TUI_SORT_MIN, 10, 98},    {"p50", TUI_SORT_P50, 10, 74},
    {"p99", TUI_SORT_P99, 10, 86},    {"max", TUI_SORT_MAX, 10, 52},
};

/* Partial spans are not in the count, but stand behind it, "5 +1", if there are any: then its
 * column is wider, and the others want a wider pane. */
#define PARTIAL_COLS 3
static int extra_cols(const struct tui_app *a)
{
    return a->stats.n_partial ? PARTIAL_COLS : 0;
}

static int cols_of(const struct tui_app *a, const struct column *c)
{
    return c->cols + (c->sort == TUI_SORT_COUNT ? extra_cols(a) : 0);
}

static bool has_room(const struct tui_app *a, const struct column *c, struct tui_rect r)
{
    return !c->need || r.w >= c->need + extra_cols(a);
}

static void fmt_number(char *out, const struct tui_stat *st, size_t cols)
{
    char n[TUI_TIME_CAP], more[TUI_TIME_CAP];
    size_t len = tui_fmt_count(n, st->count), behind = tui_fmt_short(more, st->n_partial);
    behind += 2;
    if (len + (st->n_partial ? behind : 0) > cols)
        len = tui_fmt_short(n, st->count);
    if (!st->n_partial)
        snprintf(out, TUI_TIME_CAP, "%s", n);
    else
        snprintf(out, TUI_TIME_CAP, "%.16s%s%.16s", n, len + behind > cols ? "+" : " +", more);
}

static void fmt_cell(const struct tui_app *a, char *out, const struct tui_stat *st,
                     enum tui_sort what)
{
    bool late = a->stats.phase != TUI_STATS_DONE;
    snprintf(out, TUI_TIME_CAP, "-");
    switch (what) {
    case TUI_SORT_COUNT:
        fmt_number(out, st, (size_t)cols_of(a, &columns[0]));
        return;
    case TUI_SORT_TOTAL:
        tui_app_dur(a, out, st->total_ns);
        return;
    case TUI_SORT_SELF:
        tui_app_dur(a, out, st->self_ns);
        return;
    default:
        break;
    }
    if (!st->n_spans)
        return;
    if (what == TUI_SORT_MEAN)
        tui_app_dur(a, out, st->sum_ns / st->n_spans);
    else if (what == TUI_SORT_MIN)
        tui_app_dur(a, out, st->min_ns);
    else if (what == TUI_SORT_MAX)
        tui_app_dur(a, out, st->max_ns);
    else if (late)
        snprintf(out, TUI_TIME_CAP, "%s", a->g->ellipsis);
    else
        tui_app_dur(a, out, what == TUI_SORT_P50 ? st->p50_ns : st->p99_ns);
}

static void put_right(struct tui_screen *s, int x, int y, int w, int style, const char *text)
{
    int cols = tui_text_cols(text, strlen(text), w);
    tui_put_str(s, x + w - cols, y, cols, style, text);
}

/* Lines that fit, first to show, for a list of n. */
static void settle(struct tui_doc *d, int n, int h)
{
    d->at = d->at >= n ? n - 1 : d->at;
    d->at = d->at < 0 ? 0 : d->at;
    h = h < 1 ? 1 : h;
    if (d->at < d->top)
        d->top = d->at;
    if (d->at >= d->top + h)
        d->top = d->at - h + 1;
    d->top = d->top < 0 ? 0 : d->top;
}

static void draw_names(struct tui_app *a, struct tui_screen *s, struct tui_rect r, bool focus)
{
    int name_cols = r.w, n = (int)a->stats.n;
    for (size_t c = 0; c < NTFF_ARRAY_LEN(columns); c++)
        if (has_room(a, &columns[c], r))
            name_cols -= cols_of(a, &columns[c]) + 1;
    name_cols = name_cols < 6 ? 6 : name_cols;
    tui_put_str(s, r.x, r.y, name_cols, a->sort == TUI_SORT_NAME ? TUI_STYLE_KEY : TUI_STYLE_DIM,
                "name");
    int x = r.x + name_cols;
    for (size_t c = 0; c < NTFF_ARRAY_LEN(columns); c++)
        if (has_room(a, &columns[c], r)) {
            put_right(s, x + 1, r.y, cols_of(a, &columns[c]),
                      a->sort == columns[c].sort ? TUI_STYLE_KEY : TUI_STYLE_DIM, columns[c].title);
            x += cols_of(a, &columns[c]) + 1;
        }
    int h = r.h - 1;
    settle(&a->tracks, n, h);
    for (int y = 0; y < h && a->tracks.top + y < n && a->stats.sorted; y++) {
        const struct tui_stat *st = &a->stats.v[a->stats.sorted[a->tracks.top + y]];
        bool here = focus && a->tracks.top + y == a->tracks.at;
        int style = here ? TUI_STYLE_LIST_SEL : TUI_STYLE_VALUE, line = r.y + 1 + y;
        const char *name = ntff_str_of(a->t, st->name);
        size_t len = ntff_text_len(&a->t->strs, st->name);
        if (here)
            tui_fill(s, (struct tui_rect){r.x, line, r.w, 1}, style, ' ');
        int hue = here ? style : TUI_STYLE_BAR + tui_hue_of(name, len);
        tui_put(s, r.x, line, hue, a->g->left[8]);
        tui_put_cut(s, r.x + 2, line, name_cols - 2, style, name, len);
        x = r.x + name_cols;
        for (size_t c = 0; c < NTFF_ARRAY_LEN(columns); c++) {
            char text[TUI_TIME_CAP];
            if (!has_room(a, &columns[c], r))
                continue;
            fmt_cell(a, text, st, columns[c].sort);
            put_right(s, x + 1, line, cols_of(a, &columns[c]), style, text);
            x += cols_of(a, &columns[c]) + 1;
        }
    }
}

/* Name of a track with the core it belongs to. */
static void fmt_track(const struct tui_app *a, char *out, size_t cap, uint32_t track)
{
    char path[256];
    size_t len = tui_track_path(a->t, track, path, sizeof path);
    const char *p = path;
    /* the last two steps say enough */
    int slashes = 0;
    for (size_t i = len; i > 0; i--)
        if (path[i - 1] == '/' && ++slashes == 2) {
            p = path + i;
            break;
        }
    snprintf(out, cap, "%s", p);
}

static void draw_busy(struct tui_app *a, struct tui_screen *s, struct tui_rect r, bool focus)
{
    uint64_t from, to;
    int n = 0, h = r.h - 1, shown = 0;
    tui_nav_range(a, &from, &to);
    for (size_t i = 0; i < a->n_busy_tracks; i++)
        n += a->rows.shown[a->busy_tracks[i]];
    int name_cols = r.w / 2 < 32 ? r.w / 2 : 32, bar = r.w - name_cols - 8;
    tui_put_str(s, r.x, r.y, name_cols, TUI_STYLE_DIM, "track");
    put_right(s, r.x + name_cols, r.y, 7, TUI_STYLE_DIM, "busy");
    settle(&a->tracks, n, h);
    for (size_t i = 0; i < a->n_busy_tracks; i++) {
        uint32_t track = a->busy_tracks[i];
        if (!a->rows.shown[track])
            continue;
        int y = shown++ - a->tracks.top;
        if (y < 0 || y >= h)
            continue;
        bool here = focus && y + a->tracks.top == a->tracks.at;
        int style = here ? TUI_STYLE_LIST_SEL : TUI_STYLE_VALUE, line = r.y + 1 + y;
        char text[256];
        uint64_t busy = tui_lod_busy(a->l, track, from, to);
        unsigned permille = (unsigned)((unsigned __int128)busy * 1000 / (to - from));
        if (here)
            tui_fill(s, (struct tui_rect){r.x, line, r.w, 1}, style, ' ');
        fmt_track(a, text, sizeof text, track);
        tui_put_middle(s, r.x, line, name_cols - 1, style, text, strlen(text));
        snprintf(text, sizeof text, "%u.%u%%", permille / 10, permille % 10);
        put_right(s, r.x + name_cols, line, 7, style, text);
        int eighths = bar > 0 ? (int)((uint64_t)permille * (uint64_t)bar * 8 / 1000) : 0;
        for (int x = 0; x < bar; x++, eighths -= 8)
            if (eighths > 0)
                tui_put(s, r.x + name_cols + 8 + x, line, here ? style : TUI_STYLE_METER,
                        a->g->left[eighths > 8 ? 8 : eighths]);
    }
}

void tui_draw_stats(struct tui_app *a, struct tui_screen *s, struct tui_rect r)
{
    char title[256], span[TUI_TIME_CAP], n[TUI_TIME_CAP], partial[TUI_TIME_CAP + 16] = "";
    uint64_t from, to;
    bool focus = a->focus == TUI_PANE_STATS, both = r.w >= BOTH_COLS;
    const struct tui_line *l = tui_nav_current(a);
    tui_nav_range(a, &from, &to);
    tui_app_dur(a, span, to - from);
    if (a->stats.n_partial) {
        tui_fmt_count(n, a->stats.n_partial);
        snprintf(partial, sizeof partial, ", +%s partial", n);
    }
    tui_fmt_count(n, a->stats.n);
    const char *scope =
        a->stats_scoped && l ? ntff_str_of(a->t, a->t->tracks[l->track].name) : "all tracks";
    const char *state = a->stats.phase == TUI_STATS_DONE     ? ""
                        : a->stats.phase == TUI_STATS_FAILED ? ", out of memory"
                                                             : ", counting";
    if (a->stats_by_track && !both)
        snprintf(title, sizeof title, "Busy time, %s %s", a->n_marks == 2 ? "marked" : "visible",
                 span);
    else
        snprintf(title, sizeof title, "Statistics, %s %s, %.*s, %s names by %s%s%s",
                 a->n_marks == 2 ? "marked" : "visible", span,
                 (int)tui_text_begin(scope, strlen(scope), 60), scope, n, tui_sort_name(a->sort),
                 partial, state);
    r = tui_draw_title(a, s, r, focus, title);
    if (r.h < 1)
        return;
    if (!both) {
        if (a->stats_by_track)
            draw_busy(a, s, r, focus);
        else
            draw_names(a, s, r, focus);
        return;
    }
    /* the table that has the cursor decides how the other is scrolled: it shows its begin */
    struct tui_rect left = {r.x, r.y, r.w * 2 / 3, r.h},
                    right = {r.x + left.w + 2, r.y, r.w - left.w - 2, r.h};
    struct tui_doc keep = a->tracks;
    if (a->stats_by_track) {
        a->tracks = (struct tui_doc){0};
        draw_names(a, s, left, false);
        a->tracks = keep;
        draw_busy(a, s, right, focus);
    } else {
        draw_names(a, s, left, focus);
        keep = a->tracks;
        a->tracks = (struct tui_doc){0};
        draw_busy(a, s, right, false);
        a->tracks = keep;
    }
}
