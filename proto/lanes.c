/* lanes - where spans of one row overlap without nesting, they go to further lanes.
 *
 * One sweep in time order. A lane of a nesting row is a stack of open ends: an event fits if it
 * ends no later than the innermost open span. On flat rows (engines, DMA, collectives) it fits only
 * on an empty stack. The first lane that fits wins, so the result is the same every time. */
#include "proto/builder.h"

#include <stdlib.h>

/* Perfetto drops what is nested deeper than 512, and stacks points of one time [contract 2.1, 2.3].
 */
#define MAX_DEPTH 480

struct lane {
    NTFF_VEC(uint64_t) ends; /* of open spans, outer first */
    uint64_t point_ns;       /* time of the last points, and how many of them stand there */
    uint32_t n_points;
};
typedef NTFF_VEC(struct lane) lane_vec;

static bool lane_fits(struct lane *l, const struct ntff_event *e, bool flat)
{
    while (l->ends.n && l->ends.v[l->ends.n - 1] <= e->ts_ns)
        l->ends.n--;
    if (l->ends.n == 0)
        return true;
    return !flat && l->ends.v[l->ends.n - 1] >= ntff_event_end(e) && l->ends.n < MAX_DEPTH;
}

static bool point_fits(struct lane *l, const struct ntff_event *e)
{
    while (l->ends.n && l->ends.v[l->ends.n - 1] <= e->ts_ns)
        l->ends.n--;
    if (l->point_ns != e->ts_ns)
        l->point_ns = e->ts_ns, l->n_points = 0;
    return l->n_points + l->ends.n < MAX_DEPTH;
}

/* Finds the lane of one event; -1 = out of memory, NTFF_MAX_LANES = none free. */
static int assign_lane(struct ntff_budget *budget, lane_vec *lanes, const struct ntff_event *e,
                       bool flat)
{
    bool instant = e->flags & NTFF_EV_INSTANT, point = instant || e->dur_ns == 0;
    for (size_t i = 0; i < NTFF_MAX_LANES; i++) {
        if (i == lanes->n) {
            struct lane *fresh = NTFF_VEC_PUSH(budget, lanes);
            if (!fresh)
                return -1;
            *fresh = (struct lane){.point_ns = UINT64_MAX};
        }
        struct lane *l = &lanes->v[i];
        if ((point && !point_fits(l, e)) || (!instant && !lane_fits(l, e, flat)))
            continue;
        if (point) {
            l->n_points++;
        } else {
            uint64_t *end = NTFF_VEC_PUSH(budget, &l->ends);
            if (!end)
                return -1;
            *end = ntff_event_end(e);
        }
        return (int)i;
    }
    return NTFF_MAX_LANES;
}

/* An event without a lane stays on the first. A span is made an instant there; a point is one. */
static void no_lane(struct ntff_event *e, const char *track, struct ntff_diag *diag)
{
    e->lane = 0;
    if (e->flags & NTFF_EV_INSTANT) {
        ntff_diag_add(diag, NTFF_DIAG_POINT_OVERFLOW, 1, NULL, NTFF_NO_OFFSET,
                      "more than %d at one time on %s", MAX_DEPTH * NTFF_MAX_LANES, track);
        return;
    }
    e->flags |= NTFF_EV_INSTANT | NTFF_EV_NO_LANE;
    ntff_diag_add(diag, NTFF_DIAG_LANE_OVERFLOW, 1, NULL, NTFF_NO_OFFSET,
                  "more than %d at once on %s", NTFF_MAX_LANES, track);
}

bool ntff_lanes_assign(struct ntff_lanes_of *x, struct ntff_diag *diag)
{
    size_t bytes;
    if (!ntff_mul_ok(x->n_tracks + 1, sizeof(lane_vec), &bytes) ||
        !ntff_budget_take(x->budget, bytes))
        return false;
    lane_vec *all = calloc(1, bytes);
    bool good = all != NULL;
    for (size_t i = 0; good && i < x->n_events; i++) {
        struct ntff_event *e = &x->events[i];
        struct ntff_track *t = &x->tracks[e->track];
        if (x->flat_only && !t->flat)
            continue;
        int lane = assign_lane(x->budget, &all[e->track], e, t->flat);
        if (lane < 0) {
            good = false;
        } else if (lane == NTFF_MAX_LANES) {
            no_lane(e, ntff_text(x->strs, t->name), diag);
        } else {
            e->lane = (unsigned)lane & 1023;
            if (t->n_lanes < lane + 1)
                t->n_lanes = (uint16_t)(lane + 1);
        }
    }
    for (size_t i = 0; all && i < x->n_tracks; i++) {
        for (size_t k = 0; k < all[i].n; k++)
            NTFF_VEC_FREE(x->budget, &all[i].v[k].ends);
        NTFF_VEC_FREE(x->budget, &all[i]);
    }
    free(all);
    ntff_budget_give(x->budget, bytes);
    return good;
}

bool ntff_build_lanes(struct ntff_builder *b)
{
    struct ntff_lanes_of x = {.budget = b->budget,
                              .strs = &b->t->strs,
                              .tracks = b->tracks.v,
                              .n_tracks = b->tracks.n,
                              .events = b->events.v,
                              .n_events = b->events.n};
    return ntff_lanes_assign(&x, b->diag) || ntff_builder_no_memory(b);
}
