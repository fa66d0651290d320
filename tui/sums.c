/* sums - see sums.h. */
#include "sums.h"

#include <stdlib.h>
#include <string.h>

#define ROW_COST 16 /* of a row with events in view; without: 1 */
#define MAX_ENTRIES 1024

void tui_sums_clear(struct tui_sums *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->v[i].v);
    s->n = 0;
}

void tui_sums_done(struct tui_sums *s)
{
    tui_sums_clear(s);
    free(s->v);
    free(s->row);
    *s = (struct tui_sums){0};
}

bool tui_sums_frame(struct tui_sums *s, const struct tui_rows *rows, const struct tui_view *v,
                    int budget)
{
    if (s->rows != rows || memcmp(&s->view, v, sizeof *v) != 0 || s->n > MAX_ENTRIES)
        tui_sums_clear(s);
    if (!s->row || s->view.cols != v->cols) {
        struct tui_sum *row = realloc(s->row, (size_t)v->cols * sizeof *row);
        if (!row)
            return false;
        s->row = row;
    }
    s->rows = rows;
    s->view = *v;
    s->budget = budget;
    s->pending = false;
    return true;
}

/* Adds the scratch row to an entry. */
static void add_row(struct tui_sums *s, struct tui_sums_entry *e)
{
    for (int x = 0; x < s->view.cols; x++) {
        const struct tui_sum *r = &s->row[x];
        struct tui_sum *o = &e->v[x];
        if (!r->count)
            continue;
        if (e->track == NTFF_NONE)
            o->busy_ns += r->busy_ns;
        if (o->event == NTFF_NONE || (e->track != NTFF_NONE && r->busy_ns > o->busy_ns)) {
            o->busy_ns = e->track == NTFF_NONE ? o->busy_ns : r->busy_ns;
            o->event = r->event;
            o->name = r->name;
        }
        o->count += r->count;
        o->has |= r->has;
    }
}

/* Next row the entry wants; false at the end. */
static bool next_row(const struct tui_rows *r, struct tui_sums_entry *e)
{
    while (e->row == e->row_end) {
        if (e->pre == e->pre_end)
            return false;
        uint32_t track = r->pre[e->pre++];
        if (!r->shown[track])
            continue;
        e->row = r->l->first_row[track];
        e->row_end = r->l->first_row[track + 1];
        e->n_tracks += e->row < e->row_end;
    }
    return true;
}

static void fill(struct tui_sums *s, struct tui_sums_entry *e)
{
    const struct tui_lod *l = s->rows->l;
    while (s->budget > 0) {
        if (!next_row(s->rows, e)) {
            e->done = true;
            return;
        }
        uint32_t row = e->row++;
        struct tui_sum any;
        /* the overview looks at outermost spans only, but errors deep inside count as well */
        bool deep = e->track == NTFF_NONE && (l->rows[row].depth || l->rows[row].lane);
        tui_lod_range(l, row, s->view.from, tui_view_to(&s->view), &any);
        s->budget--;
        if (!any.count || (deep && !(any.has & (TUI_HAS_ERROR | TUI_HAS_LOST))))
            continue;
        tui_lod_cells(l, row, &s->view, 0, s->view.cols, s->row);
        s->budget -= ROW_COST;
        if (deep)
            for (int x = 0; x < s->view.cols; x++)
                s->row[x].busy_ns = 0;
        add_row(s, e);
    }
    s->pending = true;
}

static struct tui_sums_entry *entry(struct tui_sums *s, uint32_t track, uint32_t pre,
                                    uint32_t pre_end)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].track == track && s->v[i].pre_end == pre_end)
            return &s->v[i];
    if (!ntff_grow(NULL, (void **)&s->v, &s->cap, s->n, 1, sizeof *s->v))
        return NULL;
    struct tui_sum *v = calloc((size_t)s->view.cols, sizeof *v);
    if (!v)
        return NULL;
    for (int x = 0; x < s->view.cols; x++)
        v[x].event = NTFF_NONE;
    s->v[s->n] = (struct tui_sums_entry){.track = track, .v = v, .pre = pre, .pre_end = pre_end};
    return &s->v[s->n++];
}

const struct tui_sums_entry *tui_sums_line(struct tui_sums *s, const struct tui_line *line)
{
    struct tui_sums_entry *e = entry(s, line->track, line->pre0, line->pre1);
    if (e && !e->done)
        fill(s, e);
    return e;
}

const struct tui_sums_entry *tui_sums_all(struct tui_sums *s)
{
    struct tui_sums_entry *e = entry(s, NTFF_NONE, 0, (uint32_t)s->rows->l->t->n_tracks);
    if (e && !e->done)
        fill(s, e);
    return e;
}
