/* sums - see sums.h. */
#include "sums.h"

#include <stdlib.h>
#include <string.h>

#define RANGE_COST 40 /* of asking whether a row has anything in view */
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
                    int64_t budget)
{
    if (s->rows != rows || !tui_view_same(&s->view, v) || s->n > MAX_ENTRIES)
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
        o->starts += r->starts;
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
        s->budget -= RANGE_COST;
        if (!any.count || (deep && !(any.has & (TUI_HAS_ERROR | TUI_HAS_LOST))))
            continue;
        s->budget -= tui_lod_cells(l, row, &s->view, 0, s->view.cols, s->row);
        if (deep)
            for (int x = 0; x < s->view.cols; x++)
                s->row[x].busy_ns = 0;
        add_row(s, e);
    }
    s->pending = true;
}

/* The entry of a line, made empty if it is new. */
static struct tui_sums_entry *entry(struct tui_sums *s, uint32_t track, uint32_t row0)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->v[i].track == track && s->v[i].row0 == row0)
            return &s->v[i];
    struct tui_sum *v = NULL;
    if (ntff_grow(NULL, (void **)&s->v, &s->cap, s->n, 1, sizeof *s->v))
        v = calloc((size_t)s->view.cols, sizeof *v);
    if (!v) {
        s->starved = true;
        return NULL;
    }
    for (int x = 0; x < s->view.cols; x++)
        v[x].event = NTFF_NONE;
    s->v[s->n] = (struct tui_sums_entry){.track = track, .row0 = row0, .v = v};
    return &s->v[s->n++];
}

const struct tui_sums_entry *tui_sums_line(struct tui_sums *s, const struct tui_line *line)
{
    /* an open line is known by its row; a folded one is the only one of its track */
    bool folded = line->pre1 > line->pre0;
    struct tui_sums_entry *e = entry(s, line->track, folded ? NTFF_NONE : line->row0);
    if (!e)
        return NULL;
    if (!e->started) {
        e->started = true;
        e->pre = line->pre0;
        e->pre_end = line->pre1;
        e->row = folded ? 0 : line->row0;
        e->row_end = folded ? 0 : line->row1;
    }
    if (!e->done)
        fill(s, e);
    return e;
}

const struct tui_sums_entry *tui_sums_all(struct tui_sums *s)
{
    struct tui_sums_entry *e = entry(s, NTFF_NONE, 0);
    if (e && !e->started) {
        e->started = true;
        e->pre_end = (uint32_t)s->rows->l->t->n_tracks;
    }
    if (e && !e->done)
        fill(s, e);
    return e;
}
