/* lod_build - makes the index of lod.h in two passes over the events in time order, so that memory
 * is read as it lies and only small states jump around.
 *
 * The first pass finds every event's depth with a stack of open ends per lane, and by it its row.
 * Then the sizes are known: rows are sorted by track, lane and depth and get their places. The
 * second pass puts each event into its row and adds it to the row's current block. A track that is
 * a single row needs no list of its own: its row is the slice of t->order. Last, the trees over the
 * blocks. */
#include "lod_priv.h"

#include <stdlib.h>
#include <string.h>

struct lane {       /* of one track */
    uint64_t *ends; /* of the open spans, outermost first */
    uint32_t *rows; /* number of the row of each depth seen */
    uint32_t n_open, n_rows, cap;
};

struct fill { /* of one row, second pass */
    uint64_t busy_ns, end_ns;
    uint32_t n;
};

struct reach { /* of one track with several lanes, second pass */
    uint64_t busy_ns, reach_ns;
    uint32_t n;
};

struct build {
    struct tui_lod *l;
    struct lane *lanes;
    size_t *first_lane; /* per track, n_tracks + 1 */
    uint32_t *row_of;   /* per event: row, as numbered in pass one */
    uint32_t *new_of;   /* from those numbers to the sorted rows */
    NTFF_VEC(struct tui_row) rows;
    NTFF_VEC(uint32_t) alarms;
    struct fill *fills;
    struct reach *reaches;
    uint64_t n_done;
    int (*progress)(void *user, const char *what, int permille);
    void *user;
    bool cancelled;
};

static inline uint64_t end_of(const struct ntff_event *e)
{
    return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

/* Called every so many events of each pass. */
static bool keep_going(struct build *b, uint64_t n)
{
    b->n_done += n;
    if (b->progress && !b->cancelled) {
        int permille = (int)(b->n_done * 1000 / (2 * (uint64_t)b->l->t->n_events + 1));
        b->cancelled = b->progress(b->user, "indexing", permille < 1000 ? permille : 1000) != 0;
    }
    return !b->cancelled;
}
#define STRIDE 0x10000 /* events between two calls */

/* -- pass one: rows ---------------------------------------------------------------------------- */

static bool make_lanes(struct build *b)
{
    const struct ntff_trace *t = b->l->t;
    size_t n = 0;
    b->first_lane = calloc(t->n_tracks + 1, sizeof *b->first_lane);
    if (!b->first_lane)
        return false;
    for (size_t k = 0; k < t->n_tracks; k++) {
        b->first_lane[k] = n;
        n += t->tracks[k].n_lanes ? t->tracks[k].n_lanes : 1;
    }
    b->first_lane[t->n_tracks] = n;
    b->lanes = calloc(n ? n : 1, sizeof *b->lanes);
    return b->lanes;
}

static bool grow_lane(struct lane *lane)
{
    uint32_t cap = lane->cap ? lane->cap * 2 : 4;
    uint64_t *ends = realloc(lane->ends, cap * sizeof *ends);
    if (ends)
        lane->ends = ends;
    uint32_t *rows = ends ? realloc(lane->rows, cap * sizeof *rows) : NULL;
    if (!rows)
        return false;
    lane->rows = rows;
    lane->cap = cap;
    return true;
}

/* The row of an event: NTFF_NONE when memory ran out. Depth is how many spans are open. */
static uint32_t row_for(struct build *b, const struct ntff_event *e)
{
    uint32_t number = tui_lane_of(b->l->t, e);
    struct lane *lane = &b->lanes[b->first_lane[e->track] + number];
    while (lane->n_open && lane->ends[lane->n_open - 1] <= e->ts_ns)
        lane->n_open--;
    if (lane->n_open == lane->cap && !grow_lane(lane))
        return NTFF_NONE;
    uint32_t depth = lane->n_open;
    if (depth == lane->n_rows) {
        struct tui_row *r = NTFF_VEC_PUSH(NULL, &b->rows);
        if (!r)
            return NTFF_NONE;
        *r = (struct tui_row){.track = e->track, .lane = (uint16_t)number, .depth = depth};
        lane->rows[lane->n_rows++] = (uint32_t)b->rows.n - 1;
    }
    if (e->dur_ns)
        lane->ends[lane->n_open++] = end_of(e);
    return lane->rows[depth];
}

static bool note_alarm(struct build *b, const struct ntff_event *e, uint32_t event)
{
    if (e->cat != NTFF_CAT_ERROR && !(tui_event_has(b->l->t, e) & TUI_HAS_LOST))
        return true;
    b->l->n_errors += e->cat == NTFF_CAT_ERROR;
    uint32_t *alarm = NTFF_VEC_PUSH(NULL, &b->alarms);
    if (alarm)
        *alarm = event;
    return alarm;
}

static bool find_rows(struct build *b)
{
    const struct ntff_trace *t = b->l->t;
    struct tui_lod *l = b->l;
    b->row_of = malloc((t->n_events ? t->n_events : 1) * sizeof *b->row_of);
    if (!b->row_of || !make_lanes(b))
        return false;
    for (uint32_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        uint32_t row = row_for(b, e);
        if (row >= b->rows.n)
            return false;
        b->rows.v[row].n++;
        b->row_of[i] = row;
        l->begin = e->ts_ns < l->begin ? e->ts_ns : l->begin;
        l->end = end_of(e) > l->end ? end_of(e) : l->end;
        if ((e->cat == NTFF_CAT_ERROR || e->cat == NTFF_CAT_MARK) && !note_alarm(b, e, i))
            return false;
        if (i % STRIDE == STRIDE - 1 && !keep_going(b, STRIDE))
            return false;
    }
    return true;
}

/* -- places ------------------------------------------------------------------------------------ */

static int by_place(const void *pa, const void *pb)
{
    const struct tui_row *a = pa, *b = pb;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    return (a->depth > b->depth) - (a->depth < b->depth);
}

/* Sorts the rows; .node holds the old number meanwhile. */
static bool sort_rows(struct build *b)
{
    uint32_t *new_of = malloc((b->rows.n ? b->rows.n : 1) * sizeof *new_of);
    if (!new_of)
        return false;
    for (size_t i = 0; i < b->rows.n; i++)
        b->rows.v[i].node = i;
    if (b->rows.n)
        qsort(b->rows.v, b->rows.n, sizeof *b->rows.v, by_place);
    for (size_t i = 0; i < b->rows.n; i++)
        new_of[b->rows.v[i].node] = (uint32_t)i;
    b->new_of = new_of;
    return true;
}

static bool place_rows(struct build *b)
{
    struct tui_lod *l = b->l;
    const struct ntff_trace *t = l->t;
    size_t n_blocks = 0, n_nodes = 0, n_listed = 0, n_unions = 0, row = 0;
    l->first_row = calloc(t->n_tracks + 1, sizeof *l->first_row);
    l->first_union = calloc(t->n_tracks + 1, sizeof *l->first_union);
    if (!l->first_row || !l->first_union)
        return false;
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        uint32_t n = t->first[k + 1] - t->first[k];
        size_t first = row;
        while (row < b->rows.n && b->rows.v[row].track == k)
            row++;
        l->first_row[k] = (uint32_t)first;
        l->first_union[k] = n_unions;
        if (row > first && b->rows.v[row - 1].lane > 0)
            n_unions += (n + TUI_UNION - 1) / TUI_UNION;
        for (size_t i = first; i < row; i++) {
            struct tui_row *r = &b->rows.v[i];
            r->block = n_blocks;
            r->node = n_nodes;
            n_blocks += tui_blocks_of(r->n);
            n_nodes += tui_tree_size(tui_blocks_of(r->n));
            n_listed += row - first > 1 ? r->n : 0;
        }
    }
    l->first_row[t->n_tracks] = (uint32_t)b->rows.n;
    l->first_union[t->n_tracks] = n_unions;
    l->n_rows = (uint32_t)b->rows.n;
    l->row_events = malloc((n_listed ? n_listed : 1) * sizeof *l->row_events);
    l->blocks = malloc((n_blocks ? n_blocks : 1) * sizeof *l->blocks);
    l->nodes = malloc((n_nodes ? n_nodes : 1) * sizeof *l->nodes);
    l->unions = malloc((n_unions ? n_unions : 1) * sizeof *l->unions);
    b->fills = calloc(b->rows.n ? b->rows.n : 1, sizeof *b->fills);
    b->reaches = calloc(t->n_tracks ? t->n_tracks : 1, sizeof *b->reaches);
    l->bytes = b->rows.n * sizeof *l->rows + n_listed * sizeof *l->row_events +
               n_blocks * sizeof *l->blocks + n_nodes * sizeof *l->nodes +
               n_unions * sizeof *l->unions + b->alarms.n * sizeof *l->alarms +
               (t->n_tracks + 1) * (sizeof *l->first_row + sizeof *l->first_union);
    return l->row_events && l->blocks && l->nodes && l->unions && b->fills && b->reaches;
}

/* Where each row's events are. */
static void place_lists(struct build *b)
{
    struct tui_lod *l = b->l;
    const struct ntff_trace *t = l->t;
    uint32_t *list = l->row_events;
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        bool single = l->first_row[k + 1] - l->first_row[k] == 1;
        for (uint32_t i = l->first_row[k]; i < l->first_row[k + 1]; i++) {
            b->rows.v[i].ev = single ? t->order + t->first[k] : list;
            list += single ? 0 : b->rows.v[i].n;
        }
    }
}

/* -- pass two: summaries ----------------------------------------------------------------------- */

static void vote(struct tui_node *n, ntff_str name, uint64_t votes)
{
    uint64_t mine = tui_node_votes(n), has = n->votes_has & ~TUI_VOTES_MAX;
    if (votes > TUI_VOTES_MAX)
        votes = TUI_VOTES_MAX;
    if (n->name == name) {
        mine = mine + votes < TUI_VOTES_MAX ? mine + votes : TUI_VOTES_MAX;
    } else if (votes > mine) {
        mine = votes - mine;
        n->name = name;
    } else {
        mine -= votes;
    }
    n->votes_has = has | mine;
}

static void take_longest(struct tui_node *n, uint64_t dur, uint32_t event)
{
    if (n->event == NTFF_NONE || dur > n->longest_ns) {
        n->longest_ns = dur;
        n->event = event;
    }
}

/* Adds event number f->n of a row to its block. */
static void fill_block(struct build *b, const struct tui_row *r, struct fill *f,
                       const struct ntff_event *e, uint32_t event)
{
    struct tui_block *block = b->l->blocks + r->block + f->n / TUI_BLOCK;
    struct tui_node *node = b->l->nodes + r->node + f->n / TUI_BLOCK;
    if (f->n) { /* the gap belongs to the event before it */
        struct tui_block *before = b->l->blocks + r->block + (f->n - 1) / TUI_BLOCK;
        if (e->ts_ns > f->end_ns && e->ts_ns - f->end_ns > before->gap_ns)
            before->gap_ns = e->ts_ns - f->end_ns;
    }
    if (f->n % TUI_BLOCK == 0) {
        *block = (struct tui_block){.ts_ns = e->ts_ns, .busy_ns = f->busy_ns};
        *node = (struct tui_node){.event = NTFF_NONE};
    }
    vote(node, e->name, e->dur_ns);
    take_longest(node, e->dur_ns, event);
    if (e->flags || e->cat == NTFF_CAT_ERROR || e->cat == NTFF_CAT_MARK)
        node->votes_has |= (uint64_t)tui_event_has(b->l->t, e) << 56;
    f->busy_ns += e->dur_ns;
    f->end_ns = end_of(e);
}

/* Time covered by any lane of a track, noted every TUI_UNION events. */
static void fill_union(struct build *b, const struct ntff_event *e)
{
    struct tui_lod *l = b->l;
    struct reach *u = &b->reaches[e->track];
    if (u->n % TUI_UNION == 0)
        l->unions[l->first_union[e->track] + u->n / TUI_UNION] =
            (struct tui_union){e->ts_ns, u->busy_ns, u->reach_ns};
    uint64_t from = e->ts_ns > u->reach_ns ? e->ts_ns : u->reach_ns, end = end_of(e);
    if (end > from) {
        u->busy_ns += end - from;
        u->reach_ns = end;
    }
    u->n++;
}

static bool fill_rows(struct build *b)
{
    struct tui_lod *l = b->l;
    const struct ntff_trace *t = l->t;
    for (uint32_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        uint32_t row = b->new_of[b->row_of[i]];
        struct tui_row *r = &b->rows.v[row];
        struct fill *f = &b->fills[row];
        if (l->first_row[e->track + 1] - l->first_row[e->track] > 1)
            r->ev[f->n] = i;
        if (r->n > TUI_BLOCK)
            fill_block(b, r, f, e, i);
        f->n++;
        if (l->first_union[e->track + 1] > l->first_union[e->track])
            fill_union(b, e);
        if (i % STRIDE == STRIDE - 1 && !keep_going(b, STRIDE))
            return false;
    }
    return true;
}

static void fill_tree(struct tui_node *nodes, uint32_t n)
{
    while (n > 1) {
        struct tui_node *up = nodes + n;
        for (uint32_t i = 0; i < n; i++) {
            struct tui_node *p = &up[i / TUI_FAN];
            if (i % TUI_FAN == 0)
                *p = (struct tui_node){.event = NTFF_NONE};
            vote(p, nodes[i].name, tui_node_votes(&nodes[i]));
            take_longest(p, nodes[i].longest_ns, nodes[i].event);
            p->votes_has |= nodes[i].votes_has & ~TUI_VOTES_MAX;
        }
        nodes = up;
        n = tui_parents_of(n);
    }
}

/* -- all of it --------------------------------------------------------------------------------- */

static bool build_all(struct build *b)
{
    if (!find_rows(b) || !sort_rows(b) || !place_rows(b))
        return false;
    place_lists(b);
    if (!fill_rows(b))
        return false;
    for (size_t i = 0; i < b->rows.n; i++)
        fill_tree(b->l->nodes + b->rows.v[i].node, tui_blocks_of(b->rows.v[i].n));
    return true;
}

/* Gives the slack of a vector back: an index is kept. */
static void trim(void **p, size_t n, size_t elem)
{
    void *q = realloc(*p, n ? n * elem : 1);
    if (q)
        *p = q;
}

/* Hands the rows over to the index, complete or not, and drops what only the building needed. */
static void take(struct build *b)
{
    struct tui_lod *l = b->l;
    trim((void **)&b->rows.v, b->rows.n, sizeof *l->rows);
    trim((void **)&b->alarms.v, b->alarms.n, sizeof *l->alarms);
    l->rows = b->rows.v;
    l->alarms = b->alarms.v;
    l->n_alarms = b->alarms.n;
    size_t n_lanes = b->first_lane ? b->first_lane[l->t->n_tracks] : 0;
    for (size_t k = 0; b->lanes && k < n_lanes; k++) {
        free(b->lanes[k].ends);
        free(b->lanes[k].rows);
    }
    free(b->lanes);
    free(b->first_lane);
    free(b->row_of);
    free(b->new_of);
    free(b->fills);
    free(b->reaches);
}

enum ntff_status tui_lod_build(struct tui_lod *l, struct ntff_trace *t,
                               int (*progress)(void *user, const char *what, int permille),
                               void *user, struct ntff_error *err)
{
    memset(l, 0, sizeof *l);
    enum ntff_status st = ntff_trace_index(t, err);
    if (st != NTFF_OK)
        return st;
    l->t = t;
    l->begin = UINT64_MAX;
    struct build b = {.l = l, .progress = progress, .user = user};
    bool good = build_all(&b);
    take(&b);
    if (!good) {
        tui_lod_done(l);
        return b.cancelled ? ntff_fail(err, NTFF_CANCELLED, NTFF_NO_OFFSET, "cancelled")
                           : ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the index");
    }
    st = tui_lod_build_counters(l, err);
    if (st != NTFF_OK)
        tui_lod_done(l);
    return st;
}

void tui_lod_done(struct tui_lod *l)
{
    free(l->rows);
    free(l->first_row);
    free(l->row_events);
    free(l->blocks);
    free(l->nodes);
    free(l->unions);
    free(l->alarms);
    free(l->first_union);
    free(l->sample_order);
    free(l->first_sample);
    free(l->sample_nodes);
    free(l->first_sample_node);
    free(l->axes);
    memset(l, 0, sizeof *l);
}
