/* Lanes: what finds none, and what is said about it. */
#include "proto/builder.h"

#include "tests/tap.h"

#include <stdlib.h>

static const struct ntff_strtab no_names;

/* n events on track 0 of n_tracks, made by fill; lanes for them. Freed by the caller. */
static struct ntff_event *assign(size_t n, struct ntff_event (*fill)(size_t i),
                                 struct ntff_track *tracks, size_t n_tracks, bool flat_only,
                                 struct ntff_diag *diag)
{
    struct ntff_event *ev = calloc(n, sizeof *ev);
    struct ntff_budget budget = {0};
    TAP_OK(ev != NULL);
    for (size_t i = 0; i < n; i++)
        ev[i] = fill(i);
    struct ntff_lanes_of x = {.budget = &budget,
                              .strs = &no_names,
                              .tracks = tracks,
                              .n_tracks = n_tracks,
                              .events = ev,
                              .n_events = n,
                              .flat_only = flat_only};
    TAP_OK(ntff_lanes_assign(&x, diag));
    TAP_EQ_U64(budget.used_bytes, 0);
    return ev;
}

static struct ntff_event point(size_t i)
{
    (void)i;
    return (struct ntff_event){.ts_ns = 5, .flags = NTFF_EV_INSTANT};
}

static struct ntff_event overlapping(size_t i)
{
    return (struct ntff_event){.ts_ns = i, .dur_ns = 1000};
}

/* 480 points of one time to a lane, 256 lanes: whatever is more is said to be too many points, not
 * spans that found no lane, and stays an instant. */
TAP_TEST(points_beyond_what_a_row_can_show)
{
    struct ntff_track track = {.n_lanes = 1};
    struct ntff_diag diag = {0};
    char line[400];
    size_t n = 480 * 256 + 3;
    struct ntff_event *ev = assign(n, point, &track, 1, false, &diag);
    TAP_EQ_U64(track.n_lanes, 256);
    TAP_EQ_U64(ev[479].lane, 0);
    TAP_EQ_U64(ev[480].lane, 1);
    TAP_EQ_U64(ev[n - 4].lane, 255);
    for (size_t i = n - 3; i < n; i++) {
        TAP_EQ_U64(ev[i].lane, 0);
        TAP_EQ_U64(ev[i].flags, NTFF_EV_INSTANT);
    }
    TAP_EQ_U64(diag.of[NTFF_DIAG_LANE_OVERFLOW].count, 0);
    TAP_EQ_U64(diag.of[NTFF_DIAG_POINT_OVERFLOW].count, 3);
    ntff_diag_line(&diag, NTFF_DIAG_POINT_OVERFLOW, line, sizeof line);
    TAP_EQ_STR(line, "3 events are of too many at one time on a row; viewers drop them; "
                     "first: more than 122880 at one time on ");
    free(ev);
}

TAP_TEST(spans_beyond_the_lanes)
{
    struct ntff_track track = {.n_lanes = 1, .flat = true};
    struct ntff_diag diag = {0};
    struct ntff_event *ev = assign(300, overlapping, &track, 1, false, &diag);
    TAP_EQ_U64(track.n_lanes, 256);
    for (size_t i = 0; i < 300; i++) {
        TAP_EQ_U64(ev[i].lane, i < 256 ? i : 0);
        TAP_EQ_U64(ev[i].flags, i < 256 ? 0 : NTFF_EV_INSTANT | NTFF_EV_NO_LANE);
    }
    TAP_EQ_U64(diag.of[NTFF_DIAG_LANE_OVERFLOW].count, 300 - 256);
    TAP_EQ_U64(diag.of[NTFF_DIAG_POINT_OVERFLOW].count, 0);
    free(ev);
}

TAP_TEST(only_flat_rows_if_asked)
{
    struct ntff_track track = {.n_lanes = 7};
    struct ntff_diag diag = {0};
    struct ntff_event *ev = assign(300, overlapping, &track, 1, true, &diag);
    TAP_EQ_U64(track.n_lanes, 7);
    TAP_EQ_U64(ev[299].lane, 0);
    TAP_EQ_U64(diag.of[NTFF_DIAG_LANE_OVERFLOW].count, 0);
    free(ev);
}

TAP_MAIN()
