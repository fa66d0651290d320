/* lod_build - makes the index of lod.h: two passes over the events of each track.
 * The first finds every event's depth with a stack of open ends per lane; events are then grouped
 * by (lane, depth) with a counting sort, which keeps time order. The second fills blocks and trees.
 * A track that is a single row needs no list of its own: its row is the slice of t->order. */
#include "lod_priv.h"

#include <stdlib.h>
#include <string.h>

struct open_stack { /* ends of the open spans of a lane */
    NTFF_VEC(uint64_t) ends;
};

struct build {
    struct tui_lod *l;
    NTFF_VEC(struct tui_row) rows;
    NTFF_VEC(uint32_t) row_events;
    NTFF_VEC(struct tui_block) blocks;
    NTFF_VEC(struct tui_node) nodes;
    NTFF_VEC(struct tui_union) unions;
    NTFF_VEC(uint32_t) alarms;
    NTFF_VEC(uint32_t) depth; /* of the events of the current track, by position */
    struct open_stack lane[NTFF_MAX_LANES];
    uint32_t lane_rows[NTFF_MAX_LANES + 1]; /* depths seen in a lane, then first row of the lane */
    uint64_t n_done;
    int (*progress)(void *user, const char *what, int permille);
    void *user;
    bool cancelled;
};

/* Makes a vector n long (contents undefined beyond the old). */
#define VEC_RESIZE(vec, want)                                                                      \
    (((want) <= (vec)->cap || ntff_grow(NULL, (void **)&(vec)->v, &(vec)->cap, (vec)->n,           \
                                        (want) - (vec)->n, sizeof *(vec)->v))                      \
         ? ((vec)->n = (want), true)                                                               \
         : false)

static inline uint64_t end_of(const struct ntff_event *e)
{
    return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

/* Called every so many events; half of the work is pass one, half pass two. */
static bool keep_going(struct build *b, uint64_t n)
{
    uint64_t before = b->n_done >> 18;
    b->n_done += n;
    if (b->progress && b->n_done >> 18 != before) {
        uint64_t all = 2 * (uint64_t)b->l->t->n_events;
        int permille = all ? (int)(b->n_done * 1000 / all) : 1000;
        b->cancelled = b->cancelled ||
                       b->progress(b->user, "indexing", permille > 1000 ? 1000 : permille) != 0;
    }
    return !b->cancelled;
}

/* Depth of an event in its lane: how many spans are still open when it starts. */
static bool depth_of(struct build *b, const struct ntff_event *e, uint32_t *depth)
{
    struct open_stack *s = &b->lane[e->lane % NTFF_MAX_LANES];
    while (s->ends.n && s->ends.v[s->ends.n - 1] <= e->ts_ns)
        s->ends.n--;
    *depth = (uint32_t)s->ends.n;
    if (!e->dur_ns)
        return true;
    uint64_t *end = NTFF_VEC_PUSH(NULL, &s->ends);
    if (end)
        *end = end_of(e);
    return end != NULL;
}

/* Time covered by any lane, every TUI_UNION events. */
static bool add_unions(struct build *b, uint32_t track)
{
    const struct ntff_trace *t = b->l->t;
    uint64_t busy = 0, reach = 0;
    for (uint32_t i = t->first[track]; i < t->first[track + 1]; i++) {
        const struct ntff_event *e = &t->events[t->order[i]];
        if ((i - t->first[track]) % TUI_UNION == 0) {
            struct tui_union *u = NTFF_VEC_PUSH(NULL, &b->unions);
            if (!u)
                return false;
            *u = (struct tui_union){e->ts_ns, busy, reach};
        }
        uint64_t from = e->ts_ns > reach ? e->ts_ns : reach, end = end_of(e);
        if (end > from) {
            busy += end - from;
            reach = end;
        }
    }
    return true;
}

/* Pass one: depths, rows per lane. False: no memory or cancelled. */
static bool find_depths(struct build *b, uint32_t track)
{
    const struct ntff_trace *t = b->l->t;
    uint32_t n = t->first[track + 1] - t->first[track];
    memset(b->lane_rows, 0, sizeof b->lane_rows);
    for (size_t i = 0; i < NTFF_MAX_LANES; i++)
        b->lane[i].ends.n = 0;
    b->depth.n = 0;
    if (!VEC_RESIZE(&b->depth, (size_t)n))
        return false;
    const uint32_t *order = t->order + t->first[track];
    for (uint32_t i = 0; i < n; i++) {
        const struct ntff_event *e = &t->events[order[i]];
        uint32_t lane = e->lane % NTFF_MAX_LANES, depth;
        if (!depth_of(b, e, &depth))
            return false;
        b->depth.v[i] = depth;
        if (e->ts_ns < b->l->begin)
            b->l->begin = e->ts_ns;
        if (end_of(e) > b->l->end)
            b->l->end = end_of(e);
        if ((e->cat == NTFF_CAT_ERROR || e->cat == NTFF_CAT_MARK) &&
            (tui_event_has(t, e) & (TUI_HAS_ERROR | TUI_HAS_LOST))) {
            uint32_t *alarm = NTFF_VEC_PUSH(NULL, &b->alarms);
            if (!alarm)
                return false;
            *alarm = order[i];
            b->l->n_errors += e->cat == NTFF_CAT_ERROR;
        }
        if (depth >= b->lane_rows[lane])
            b->lane_rows[lane] = depth + 1;
        if ((i & 0xffff) == 0xffff && !keep_going(b, 0x10000))
            return false;
    }
    return keep_going(b, n & 0xffff);
}

/* Rows of a track and their events, from the depths. */
static bool make_rows(struct build *b, uint32_t track)
{
    const struct ntff_trace *t = b->l->t;
    uint32_t n = t->first[track + 1] - t->first[track], n_rows = 0;
    size_t row0 = b->rows.n, base = b->row_events.n;
    uint32_t *order = t->order + t->first[track];
    for (uint32_t lane = 0; lane < NTFF_MAX_LANES; lane++) {
        uint32_t depths = b->lane_rows[lane];
        b->lane_rows[lane] = n_rows;
        for (uint32_t d = 0; d < depths; d++, n_rows++) {
            struct tui_row *r = NTFF_VEC_PUSH(NULL, &b->rows);
            if (!r)
                return false;
            *r = (struct tui_row){.track = track, .lane = (uint16_t)lane, .depth = d};
        }
    }
    struct tui_row *rows = b->rows.v + row0;
    if (n_rows == 1) {
        rows[0].n = n;
        rows[0].block = SIZE_MAX; /* events are the slice of t->order */
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        rows[b->lane_rows[t->events[order[i]].lane % NTFF_MAX_LANES] + b->depth.v[i]].n++;
    for (size_t r = 0, at = base; r < n_rows; r++) { /* where each row's events go */
        rows[r].node = at;
        at += rows[r].n;
    }
    if (!VEC_RESIZE(&b->row_events, base + n))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t lane = t->events[order[i]].lane % NTFF_MAX_LANES;
        b->row_events.v[rows[b->lane_rows[lane] + b->depth.v[i]].node++] = order[i];
    }
    for (size_t r = 0, at = base; r < n_rows;
         r++) { /* kept as a position until the list is final */
        rows[r].node = at;
        at += rows[r].n;
    }
    return true;
}

/* -- pass two: summaries -------------------------------------------------------------------- */

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

static void fill_leaves(struct build *b, struct tui_row *r)
{
    const struct ntff_event *events = b->l->t->events;
    struct tui_block *blocks = b->blocks.v + r->block;
    struct tui_node *nodes = b->nodes.v + r->node;
    uint64_t busy = 0, end = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct ntff_event *e = &events[r->ev[i]];
        struct tui_node *n = &nodes[i / TUI_BLOCK];
        if (i) {
            struct tui_block *before = &blocks[(i - 1) / TUI_BLOCK];
            if (e->ts_ns > end && e->ts_ns - end > before->gap_ns)
                before->gap_ns = e->ts_ns - end;
        }
        if (i % TUI_BLOCK == 0) {
            blocks[i / TUI_BLOCK] = (struct tui_block){.ts_ns = e->ts_ns, .busy_ns = busy};
            *n = (struct tui_node){.event = NTFF_NONE};
        }
        vote(n, e->name, e->dur_ns);
        take_longest(n, e->dur_ns, r->ev[i]);
        n->votes_has |= (uint64_t)tui_event_has(b->l->t, e) << 56;
        busy += e->dur_ns;
        end = end_of(e);
    }
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

/* Vectors grow by halves; an index is kept, so give the slack back. */
static void *trim(void *p, size_t n, size_t elem)
{
    void *q = realloc(p, n ? n * elem : 1);
    return q ? q : p;
}
#define TRIM(vec) ((vec)->v = trim((vec)->v, (vec)->n, sizeof *(vec)->v), (vec)->cap = (vec)->n)

static bool fill_rows(struct build *b)
{
    struct tui_lod *l = b->l;
    const struct ntff_trace *t = l->t;
    size_t n_blocks = 0, n_nodes = 0;
    TRIM(&b->row_events);
    for (size_t i = 0; i < b->rows.n; i++) {
        struct tui_row *r = &b->rows.v[i];
        r->ev = r->block == SIZE_MAX ? t->order + t->first[r->track] : b->row_events.v + r->node;
        r->block = n_blocks;
        r->node = n_nodes;
        n_blocks += tui_blocks_of(r->n);
        n_nodes += tui_tree_size(tui_blocks_of(r->n));
    }
    if (!VEC_RESIZE(&b->blocks, n_blocks) || !VEC_RESIZE(&b->nodes, n_nodes))
        return false;
    for (size_t i = 0; i < b->rows.n; i++) {
        struct tui_row *r = &b->rows.v[i];
        if (r->n > TUI_BLOCK) {
            fill_leaves(b, r);
            fill_tree(b->nodes.v + r->node, tui_blocks_of(r->n));
        }
        if (!keep_going(b, r->n))
            return false;
    }
    return true;
}

static bool build_rows(struct build *b)
{
    struct tui_lod *l = b->l;
    const struct ntff_trace *t = l->t;
    l->first_row = calloc(t->n_tracks + 1, sizeof *l->first_row);
    l->first_union = calloc(t->n_tracks + 1, sizeof *l->first_union);
    if (!l->first_row || !l->first_union)
        return false;
    for (uint32_t track = 0; track < t->n_tracks; track++) {
        l->first_row[track] = (uint32_t)b->rows.n;
        l->first_union[track] = b->unions.n;
        if (t->first[track + 1] == t->first[track])
            continue;
        if (!find_depths(b, track) || !make_rows(b, track))
            return false;
        if (b->rows.v[b->rows.n - 1].lane > 0 && !add_unions(b, track))
            return false;
    }
    l->first_row[t->n_tracks] = (uint32_t)b->rows.n;
    l->first_union[t->n_tracks] = b->unions.n;
    return fill_rows(b);
}

static int by_index(const void *pa, const void *pb)
{
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    return (a > b) - (a < b);
}

/* Hands what was built over to the index, complete or not. */
static void take(struct build *b)
{
    struct tui_lod *l = b->l;
    TRIM(&b->rows);
    TRIM(&b->unions);
    TRIM(&b->blocks);
    TRIM(&b->nodes);
    l->rows = b->rows.v;
    l->n_rows = (uint32_t)b->rows.n;
    l->row_events = b->row_events.v;
    l->blocks = b->blocks.v;
    l->nodes = b->nodes.v;
    l->unions = b->unions.v;
    TRIM(&b->alarms);
    l->alarms = b->alarms.v;
    l->n_alarms = b->alarms.n;
    if (l->n_alarms)
        qsort(l->alarms, l->n_alarms, sizeof *l->alarms, by_index);
    l->bytes = b->rows.n * sizeof *l->rows + b->row_events.n * sizeof *l->row_events +
               b->blocks.n * sizeof *l->blocks + b->nodes.n * sizeof *l->nodes +
               b->unions.n * sizeof *l->unions + b->alarms.n * sizeof *l->alarms +
               (l->t->n_tracks + 1) * (sizeof *l->first_row + sizeof *l->first_union);
    ntff_grow_free(NULL, b->depth.v, 0, 0);
    for (size_t i = 0; i < NTFF_MAX_LANES; i++)
        ntff_grow_free(NULL, b->lane[i].ends.v, 0, 0);
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
    struct build *b = calloc(1, sizeof *b);
    if (!b)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the index");
    *b = (struct build){.l = l, .progress = progress, .user = user};
    bool good = build_rows(b), cancelled = b->cancelled;
    take(b);
    free(b);
    if (!good) {
        tui_lod_done(l);
        return cancelled ? ntff_fail(err, NTFF_CANCELLED, NTFF_NO_OFFSET, "cancelled")
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
    memset(l, 0, sizeof *l);
}
