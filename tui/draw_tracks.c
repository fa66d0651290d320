/* draw_tracks - the tree on the left and the timeline on the right, line by line.
 *
 * How a column looks depends on what is in it. One span over several columns is a box in the colour
 * of its name with the name inside; its ends are drawn to an eighth of a column where that tells
 * more. A column with one short span is a sliver, as wide as the span. A column with several events
 * is a bar as high as it is busy, in the colour of the dominant name; where the bars of one name
 * run on, the name is written into them. Errors and lost-event marks override all of it. */
#include "app_priv.h"

#include <stdio.h>
#include <string.h>

/* One line being painted. */
struct paint {
    struct tui_app *a;
    struct tui_screen *s;
    int x, y, w;               /* on screen */
    const struct tui_sum *sum; /* per column */
    bool current;              /* the cursor is on this line */
};

static inline uint64_t end_of(const struct ntff_event *e)
{
    return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

/* The hue of a name, worked out once. */
static int hue_of(struct tui_app *a, ntff_str name)
{
    if (name >= a->n_hues)
        return 0;
    if (!a->hues[name])
        a->hues[name] =
            (uint8_t)(1 + tui_hue_of(ntff_str_of(a->t, name), ntff_text_len(&a->t->strs, name)));
    return a->hues[name] - 1;
}

/* Whether the flow partner of the selected span. */
static int flow_style(const struct tui_app *a, uint32_t event)
{
    size_t first, n;
    if (a->event == NTFF_NONE || !a->t->n_flows ||
        !(a->t->events[event].flags & (NTFF_EV_FLOW_IN | NTFF_EV_FLOW_OUT)))
        return 0;
    n = tui_nav_flows(a, event, 1, &first);
    for (size_t i = 0; i < n && i < 16; i++)
        if (tui_nav_flow_at(a, 1, first + i)->to == a->event)
            return TUI_STYLE_BEFORE;
    n = tui_nav_flows(a, event, -1, &first);
    for (size_t i = 0; i < n && i < 16; i++)
        if (tui_nav_flow_at(a, -1, first + i)->from == a->event)
            return TUI_STYLE_AFTER;
    return 0;
}

/* Style of the box of one event. */
static int box_style(struct tui_app *a, uint32_t event)
{
    const struct ntff_event *e = &a->t->events[event];
    if (event == a->event)
        return TUI_STYLE_SELECTED;
    if (e->cat == NTFF_CAT_ERROR)
        return TUI_STYLE_ERROR;
    if (e->cat == NTFF_CAT_MARK && (tui_event_has(a->t, e) & TUI_HAS_LOST))
        return TUI_STYLE_LOST;
    int flow = flow_style(a, event);
    if (flow)
        return flow;
    if (a->search.active &&
        (tui_search_name(&a->search, e->name) || tui_search_is_hit(&a->search, event)))
        return TUI_STYLE_HIT;
    return TUI_STYLE_SPAN + hue_of(a, e->name);
}

/* The same on the background, for slivers and bars. */
static int thin_style(struct tui_app *a, int box)
{
    if (box >= TUI_STYLE_SPAN && box < TUI_STYLE_BAR)
        return box - TUI_STYLE_SPAN + TUI_STYLE_BAR;
    (void)a;
    return box;
}

static uint64_t col_ns(const struct tui_view *v, int x)
{
    return tui_view_end(v, x) - tui_view_begin(v, x);
}

/* ns of a column as eighths, at least one when there is any. */
static int eighths(const struct tui_view *v, int x, uint64_t ns)
{
    int n = (int)((unsigned __int128)ns * 8 / col_ns(v, x));
    return n < 1 ? 1 : n > 8 ? 8 : n;
}

/* What fills the box of a span behind its name. */
static uint32_t fill_of(const struct tui_app *a, const struct ntff_event *e)
{
    if (e->flags & NTFF_EV_UNALIGNED)
        return a->g->fill_unaligned;
    if (e->flags & (NTFF_EV_UNFINISHED | NTFF_EV_START_LOST))
        return a->g->fill_broken;
    if (e->flags & NTFF_EV_ESTIMATED)
        return a->g->fill_estimated;
    return a->o.fill ? a->g->fill : ' ';
}

static uint32_t left_end(const struct tui_app *a, const struct ntff_event *e)
{
    if (e->flags & NTFF_EV_START_LOST)
        return a->g->start_lost;
    if (e->flags & NTFF_EV_CUT_LEFT)
        return a->g->cut_left;
    return a->g->span_begin;
}

/* 0: nothing special at the right end. */
static uint32_t right_end(const struct tui_app *a, const struct ntff_event *e)
{
    if (e->flags & NTFF_EV_UNFINISHED)
        return a->g->unfinished;
    return e->flags & NTFF_EV_CUT_RIGHT ? a->g->cut_right : 0;
}

/* One span alone in columns [x0, x1), x1 - x0 > 1 or the column full. */
static void paint_box(struct paint *p, int x0, int x1, uint32_t event)
{
    struct tui_app *a = p->a;
    const struct ntff_event *e = &a->t->events[event];
    const struct tui_view *v = &a->view;
    int style = box_style(a, event), thin = thin_style(a, style), b = x0, c = x1;
    bool starts = e->ts_ns >= tui_view_begin(v, x0), ends = end_of(e) <= tui_view_end(v, x1 - 1);
    /* ends to a fraction of a column */
    if (starts && x1 - x0 > 1 && thin != style && !a->o.fill) {
        uint64_t off = e->ts_ns - tui_view_begin(v, x0);
        if (off > col_ns(v, x0) * 3 / 8 && col_ns(v, x0) >= 8)
            tui_put(p->s, p->x + b++, p->y, thin, a->g->right_half);
    }
    if (ends && c - b > 1 && thin != style && !a->o.fill && !right_end(a, e)) {
        uint64_t in = end_of(e) - tui_view_begin(v, c - 1);
        int n = eighths(v, c - 1, in);
        if (n < 8 && col_ns(v, c - 1) >= 8)
            tui_put(p->s, p->x + --c, p->y, thin, a->g->left[n]);
    }
    for (int x = b; x < c; x++)
        tui_put(p->s, p->x + x, p->y, style, fill_of(a, e));
    int text = b;
    uint32_t last = right_end(a, e);
    if (starts && b == x0)
        tui_put(p->s, p->x + text++, p->y, style, left_end(a, e));
    if (ends && last && c > text)
        tui_put(p->s, p->x + c - 1, p->y, style, last);
    if (ends && !last && a->o.fill && c > text)
        tui_put(p->s, p->x + c - 1, p->y, style, a->o.ascii ? ']' : 0x2595);
    int room = c - text - (ends && (last || a->o.fill) ? 1 : 0);
    size_t len;
    const char *name = tui_app_name(a, event, &len);
    if (room >= 5 || tui_text_cols(name, len, 6) <= room) /* "nr..." says nothing */
        tui_put_cut(p->s, p->x + text, p->y, room, style, name, len);
}

/* One event in one column that it does not fill. */
static void paint_sliver(struct paint *p, int x, const struct tui_sum *sum)
{
    struct tui_app *a = p->a;
    const struct ntff_event *e = &a->t->events[sum->event];
    int style = thin_style(a, box_style(a, sum->event));
    uint32_t ch = a->g->left[eighths(&a->view, x, sum->busy_ns)];
    if (e->flags & NTFF_EV_UNFINISHED)
        ch = a->g->unfinished;
    else if (e->flags & NTFF_EV_START_LOST)
        ch = a->g->start_lost;
    else if (e->flags & NTFF_EV_INSTANT)
        ch = a->g->instant;
    tui_put(p->s, p->x + x, p->y, style, ch);
}

static int dense_style(struct tui_app *a, const struct tui_sum *sum)
{
    if (a->search.active && tui_search_name(&a->search, sum->name))
        return TUI_STYLE_HIT;
    return TUI_STYLE_BAR + hue_of(a, sum->name);
}

#define SHORTEST_LABEL 12 /* columns */

/* The name of the bars in columns [x0, x1) with the number of events, where there is room for twice
 * as much; full bars become its background. */
static void label_dense(struct paint *p, int x0, int x1)
{
    struct tui_app *a = p->a;
    ntff_str name = p->sum[x0].name;
    uint64_t n = p->sum[x0].count;
    if (x1 - x0 < SHORTEST_LABEL)
        return;
    for (int x = x0 + 1; x < x1; x++)
        n += p->sum[x].starts;
    char count[TUI_TIME_CAP], label[96];
    size_t len = ntff_text_len(&a->t->strs, name);
    const char *text = ntff_str_of(a->t, name);
    tui_fmt_short(count, n);
    int k = snprintf(label, sizeof label, " %.*s x%s ", (int)tui_text_begin(text, len, 40), text,
                     count);
    if (k <= 0 || k >= (int)sizeof label)
        return;
    int cols = tui_text_cols(label, (size_t)k, 90);
    if (x1 - x0 < 2 * cols)
        return;
    tui_put_text(p->s, p->x + x0 + 1, p->y, cols, TUI_STYLE_NORMAL, label, (size_t)k);
    for (int x = x0 + 1; x < x0 + 1 + cols; x++) {
        int style = dense_style(a, &p->sum[x]);
        bool full = eighths(&a->view, x, p->sum[x].busy_ns) >= 7 && style >= TUI_STYLE_BAR;
        tui_restyle(p->s, (struct tui_rect){p->x + x, p->y, 1, 1},
                    full ? style - TUI_STYLE_BAR + TUI_STYLE_SPAN : style);
    }
}

/* Several events per column, of one dominant name, in columns [x0, x1). */
static void paint_dense(struct paint *p, int x0, int x1)
{
    struct tui_app *a = p->a;
    for (int x = x0; x < x1; x++) {
        const struct tui_sum *s = &p->sum[x];
        uint32_t ch = s->busy_ns ? a->g->lower[eighths(&a->view, x, s->busy_ns)] : a->g->instant;
        tui_put(p->s, p->x + x, p->y, dense_style(a, s), ch);
    }
    label_dense(p, x0, x1);
}

static bool solo(const struct tui_sum *s)
{
    return s->count == 1;
}

static bool fills(const struct tui_view *v, int x, const struct tui_sum *s)
{
    return s->busy_ns >= col_ns(v, x);
}

/* End of the run of columns that look alike from x0 on. */
static int run_end(const struct paint *p, int x0)
{
    const struct tui_sum *f = &p->sum[x0];
    int x = x0 + 1;
    for (; x < p->w; x++) {
        const struct tui_sum *s = &p->sum[x];
        if (f->count == 0 ? s->count != 0
            : solo(f)     ? !solo(s) || s->event != f->event
                          : s->count < 2 || s->name != f->name)
            break;
    }
    return x;
}

static void paint_spans(struct paint *p)
{
    struct tui_app *a = p->a;
    for (int x = 0, end; x < p->w; x = end) {
        const struct tui_sum *s = &p->sum[x];
        end = run_end(p, x);
        if (s->count == 0)
            continue;
        if (!solo(s))
            paint_dense(p, x, end);
        else if (end - x > 1 || fills(&a->view, x, s))
            paint_box(p, x, end, s->event);
        else
            paint_sliver(p, x, s);
    }
    for (int x = 0; x < p->w; x++) {
        const struct tui_sum *s = &p->sum[x];
        bool selected = s->count && s->event == a->event && a->event != NTFF_NONE;
        if ((s->has & TUI_HAS_ERROR) &&
            !(solo(s) && end_of(&a->t->events[s->event]) > tui_view_end(&a->view, x)))
            tui_put(p->s, p->x + x, p->y, selected ? TUI_STYLE_SELECTED : TUI_STYLE_ERROR,
                    a->g->error);
        else if (s->has & TUI_HAS_LOST)
            tui_put(p->s, p->x + x, p->y, selected ? TUI_STYLE_SELECTED : TUI_STYLE_LOST,
                    a->g->lost);
    }
}

/* A counter: height of the value on its axis; parts lines tall, this is the part-th from the top.
 */
static void paint_counter(struct paint *p, const struct tui_line *l)
{
    struct tui_app *a = p->a;
    double lo, hi;
    tui_lod_counter_axis(a->l, l->track, &lo, &hi);
    tui_lod_counter_cells(a->l, l->track, &a->view, 0, p->w, a->vals);
    for (int x = 0; x < p->w; x++) {
        const struct tui_range *v = &a->vals[x];
        if (!v->any)
            continue;
        double share = hi > lo ? (v->hi - lo) / (hi - lo) : 0;
        int level = (int)(share * 8 * l->parts + 0.5) - 8 * (l->parts - 1 - l->part);
        if (v->hi > lo && level < 1 && l->part == l->parts - 1)
            level = 1; /* something is never drawn as nothing */
        level = level < 0 ? 0 : level > 8 ? 8 : level;
        if (level)
            tui_put(p->s, p->x + x, p->y, TUI_STYLE_COUNTER, a->g->lower[level]);
    }
}

static void paint_gap(struct paint *p)
{
    struct tui_app *a = p->a;
    int x0 = tui_view_col(&a->view, a->gap.from), x1 = tui_view_col(&a->view, a->gap.to - 1);
    for (int x = x0 < 0 ? 0 : x0; x <= x1 && x < p->w; x++)
        tui_put(p->s, p->x + x, p->y, TUI_STYLE_MARKED, a->g->gap);
}

/* The lines through all tracks where nothing else is. */
static void paint_guides(struct paint *p, const bool *tick)
{
    struct tui_app *a = p->a;
    int now = a->o.plain ? -1 : tui_view_col(&a->view, a->now);
    for (int x = 0; x < p->w; x++) {
        const struct tui_cell *c = tui_cell_at(p->s, p->x + x, p->y);
        if (!c || c->ch != ' ' || c->style != TUI_STYLE_NORMAL)
            continue;
        bool mark = false;
        for (int i = 0; i < a->n_marks; i++)
            mark = mark || tui_view_col(&a->view, a->mark[i]) == x;
        if (mark)
            tui_put(p->s, p->x + x, p->y, TUI_STYLE_WARN, a->g->mark_line);
        else if (x == now)
            tui_put(p->s, p->x + x, p->y, TUI_STYLE_CURSOR_LINE, a->g->cursor_line);
        else if (tick[x])
            tui_put(p->s, p->x + x, p->y, TUI_STYLE_GRID, a->g->grid);
    }
    const struct tui_cell *c = tui_cell_at(p->s, p->x + now, p->y);
    if (p->current && now >= 0 && now < p->w && c)
        tui_restyle(p->s, (struct tui_rect){p->x + now, p->y, 1, 1}, TUI_STYLE_CURSOR);
}

static void paint_time(struct tui_app *a, struct tui_screen *s, int y, const struct tui_line *l,
                       bool current, const bool *tick)
{
    struct paint p = {a, s, a->lay.time.x, y, a->view.cols, NULL, current};
    if (p.w > a->lay.time.w)
        p.w = a->lay.time.w;
    if (l && l->counter) {
        paint_counter(&p, l);
    } else if (l) {
        p.sum = tui_app_sums(a, l);
        if (p.sum)
            paint_spans(&p);
        if (current && a->gap.to > a->gap.from)
            paint_gap(&p);
    }
    paint_guides(&p, tick);
}

/* -- tree ----------------------------------------------------------------------------------- */

static void fmt_value(const struct tui_app *a, char *out, uint32_t track, double v)
{
    bool neg = v < 0;
    double m = neg ? -v : v;
    char n[TUI_TIME_CAP];
    switch (a->t->tracks[track].unit) {
    case NTFF_UNIT_NS:
        tui_fmt_dur(n, m < 1.8e19 ? (uint64_t)m : UINT64_MAX, a->g->us);
        snprintf(out, TUI_TIME_CAP, "%s%.40s", neg ? "-" : "", n);
        return;
    case NTFF_UNIT_PERCENT:
        snprintf(out, TUI_TIME_CAP, "%.1f%%", v);
        return;
    default:
        if (m != (double)(uint64_t)(m < 1.8e19 ? m : 0) && m < 1000)
            snprintf(out, TUI_TIME_CAP, "%.3g", v);
        else {
            tui_fmt_short(n, m < 1.8e19 ? (uint64_t)m : UINT64_MAX);
            snprintf(out, TUI_TIME_CAP, "%s%.40s%s", neg ? "-" : "", n,
                     a->t->tracks[track].unit == NTFF_UNIT_BYTES           ? "B"
                     : a->t->tracks[track].unit == NTFF_UNIT_BYTES_PER_SEC ? "B/s"
                                                                           : "");
        }
    }
}

/* At the right of a name: how busy the track is in view, or the counter's value at the cursor. */
static void fmt_number(const struct tui_app *a, const struct tui_line *l, char *out)
{
    out[0] = 0;
    if (l->counter) {
        const struct ntff_sample *v = tui_lod_sample(a->l, l->track, a->now);
        if (v)
            fmt_value(a, out, l->track, tui_sample_value(a->t, v));
        return;
    }
    if (!l->head || l->row1 == l->row0 || a->t->tracks[l->track].kind == NTFF_TRACK_EVENTS)
        return;
    uint64_t busy = tui_lod_busy(a->l, l->track, a->view.from, tui_view_to(&a->view));
    unsigned permille = (unsigned)((unsigned __int128)busy * 1000 / a->view.span);
    if (busy && !permille)
        snprintf(out, TUI_TIME_CAP, "<0.1%%");
    else if (permille >= 100)
        snprintf(out, TUI_TIME_CAP, "%u%%", (permille + 5) / 10);
    else
        snprintf(out, TUI_TIME_CAP, "%u.%u%%", permille / 10, permille % 10);
}

static void paint_tree(struct tui_app *a, struct tui_screen *s, int y, const struct tui_line *l,
                       bool current)
{
    struct tui_rect r = {a->lay.tree.x, y, a->lay.tree.w, 1};
    const struct ntff_track *t = &a->t->tracks[l->track];
    int style =
        l->head && l->row1 == l->row0 && !l->counter ? TUI_STYLE_TREE_GROUP : TUI_STYLE_TREE;
    if (current)
        style = a->focus == TUI_PANE_TIME ? TUI_STYLE_TREE_SEL : TUI_STYLE_TREE_SEL_OFF;
    if (a->o.plain)
        style = TUI_STYLE_TREE;
    if (current && !a->o.plain)
        tui_fill(s, (struct tui_rect){r.x, y, r.w - 1, 1}, style, ' ');
    int level = l->level < 8 ? l->level : 8, x = r.x + level;
    if (!l->head) {
        const struct tui_row *row = &a->l->rows[l->row0];
        if (!l->counter && t->n_lanes > 1)
            tui_putf(s, x + 2, y, r.w - level - 3, current ? style : TUI_STYLE_DIM, "lane %u",
                     row->lane + 1u);
        return;
    }
    if (l->foldable)
        tui_put(s, x, y, style, l->folded ? a->g->folded : a->g->open);
    x += 2;
    char num[TUI_TIME_CAP];
    fmt_number(a, l, num);
    int cols = tui_text_cols(num, strlen(num), 40), room = r.x + r.w - 1 - x;
    if (cols && room - cols - 1 >= 8) {
        tui_put_str(s, r.x + r.w - 1 - cols, y, cols, current ? style : TUI_STYLE_TREE_NUM, num);
        room -= cols + 1;
    }
    tui_put_middle(s, x, y, room, style, ntff_str_of(a->t, t->name),
                   ntff_text_len(&a->t->strs, t->name));
}

static void find_ticks(const struct tui_app *a, bool *tick)
{
    uint64_t step = tui_tick_step(&a->view, a->utc ? 20 : 12), begin = a->t->begin_ns;
    uint64_t first = tui_tick_first(a->view.from - begin, step),
             last = tui_view_to(&a->view) - begin;
    memset(tick, 0, (size_t)a->view.cols * sizeof *tick);
    for (uint64_t t = first; t < last; t = tui_tick_next(t, step)) {
        int x = tui_view_col(&a->view, begin + t);
        if (x >= 0 && x < a->view.cols)
            tick[x] = true;
    }
}

void tui_draw_tracks(struct tui_app *a, struct tui_screen *s)
{
    bool tick[TUI_MAX_COLS];
    find_ticks(a, tick);
    for (int y = 0; y < a->lay.time.h; y++) {
        size_t i = a->top + (size_t)y;
        const struct tui_line *l = i < a->rows.n_lines ? &a->rows.lines[i] : NULL;
        bool current = l && i == a->line && !a->o.plain;
        if (a->lay.tree.w && l)
            paint_tree(a, s, a->lay.tree.y + y, l, current);
        if (a->lay.tree.w)
            tui_put(s, a->lay.tree.x + a->lay.tree.w - 1, a->lay.tree.y + y, TUI_STYLE_BORDER,
                    a->g->sep);
        paint_time(a, s, a->lay.time.y + y, l, current, tick);
    }
    if (a->rows.n_lines == 0 && a->lay.time.h > 0)
        tui_put_str(s, a->lay.time.x + 1, a->lay.time.y, a->lay.time.w - 1, TUI_STYLE_DIM,
                    a->rows.filtered ? "no track matches the filter" : "this trace has no events");
}
