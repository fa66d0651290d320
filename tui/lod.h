/* lod - level of detail: what happens in a cell of the screen, without looking at every event.
 * Knows: proto/model, view.
 *
 * Rows. The spans of one track, lane and nesting depth never overlap; they make a row, in time
 * order. Rows are numbered in the order of the track list, lane by lane, outer before inner.
 * Index. Per 16 events of a row: the time of the first, the busy time before it, and a summary;
 * over the summaries a tree of fan-out 8. A cell costs a search from its left neighbour, at most
 * 32 events at its edges and the tree nodes between - whatever the number of events in it.
 * Size: 4 bytes an event for ntff_trace_index, 4 for rows where a track has several, about 3 for
 * summaries (tests/bench/bench_tui.c holds it under 12).
 *
 * The name of a cell: that with more than two thirds of the busy time is always found; one that is
 * found this way has at least one third; if there is none it is that of the longest span. Found
 * with a weighted majority vote (Boyer and Moore), which can be merged; the longest span wins ties
 * by position. Memory: owned by the index; the trace must outlive it. */
#ifndef TUI_LOD_H
#define TUI_LOD_H

#include "proto/model.h"
#include "view.h"

enum { /* what is in a cell */
       TUI_HAS_ERROR = 1,
       TUI_HAS_LOST = 2,       /* lost-event mark */
       TUI_HAS_UNFINISHED = 4, /* a span without its stop */
       TUI_HAS_START_LOST = 8,
       TUI_HAS_CUT = 16, /* at either edge */
       TUI_HAS_ESTIMATED = 32,
       TUI_HAS_UNALIGNED = 64,
       TUI_HAS_INSTANT = 128
};
/* The same of one event. */
unsigned tui_event_has(const struct ntff_trace *t, const struct ntff_event *e);

/* A span whose length is not what was measured: its start or stop is lost, or it is cut at the edge
 * of what was loaded. */
#define TUI_HAS_PARTIAL (TUI_HAS_UNFINISHED | TUI_HAS_START_LOST | TUI_HAS_CUT)
static inline bool tui_event_partial(const struct ntff_event *e)
{
    return e->flags &
           (NTFF_EV_UNFINISHED | NTFF_EV_START_LOST | NTFF_EV_CUT_LEFT | NTFF_EV_CUT_RIGHT);
}

struct tui_sum {
    uint64_t busy_ns; /* time covered by spans, inside the cell */
    uint32_t count;   /* events that touch the cell */
    uint32_t starts;  /* those of them that start in it, and not in a column before */
    uint32_t event;   /* the longest; NTFF_NONE if count is 0 */
    ntff_str name;    /* the dominant one */
    uint8_t has;      /* TUI_HAS_*, of all */
};

struct tui_row {
    uint32_t *ev; /* event indices, ascending; points into t->order or .row_events */
    uint32_t n;
    uint32_t track;
    uint32_t depth;
    uint16_t lane;
    size_t block; /* first of (n + 15) / 16 blocks; rows of 16 events or fewer have none */
    size_t node;  /* first node: level 0 has one per block, each further level an eighth */
};

struct tui_block;
struct tui_node;
struct tui_union;
struct tui_samples;
struct tui_axis {
    double lo, hi;
};

struct tui_lod {
    const struct ntff_trace *t;
    struct tui_row *rows;
    uint32_t n_rows;
    uint32_t *first_row; /* per track, n_tracks + 1 */
    uint32_t *row_events;
    struct tui_block *blocks;
    struct tui_node *nodes;
    struct tui_union *unions; /* of tracks with several lanes */
    size_t *first_union;      /* per track, n_tracks + 1 */
    /* counters */
    uint32_t *sample_order, *first_sample; /* by track, n_tracks + 1 */
    struct tui_samples *sample_nodes;
    size_t *first_sample_node; /* per track, n_tracks + 1 */
    struct tui_axis *axes;     /* per track */
    uint32_t *alarms;          /* errors and lost-event marks, ascending */
    size_t n_alarms, n_errors;
    uint64_t begin, end; /* of the events alone: counters may be sampled long before and after */
    size_t bytes;        /* everything above, without t->order and t->first */
};

/* Builds the index, and t's own by-track index. progress: see ntff_load_options; may be NULL.
 * Errors: NOMEM, CANCELLED. */
enum ntff_status tui_lod_build(struct tui_lod *l, struct ntff_trace *t,
                               int (*progress)(void *user, const char *what, int permille),
                               void *user, struct ntff_error *err) NTFF_MUST_CHECK;
void tui_lod_done(struct tui_lod *l);

/* Sums of columns [x0, x1) of a row into out[0 .. x1 - x0). Returns what it cost: events, nodes and
 * columns looked at. */
uint32_t tui_lod_cells(const struct tui_lod *l, uint32_t row, const struct tui_view *v, int x0,
                       int x1, struct tui_sum *out);
/* One range of a row. */
void tui_lod_range(const struct tui_lod *l, uint32_t row, uint64_t from, uint64_t to,
                   struct tui_sum *out);

/* Time in [from, to) during which any span of the track runs. */
uint64_t tui_lod_busy(const struct tui_lod *l, uint32_t track, uint64_t from, uint64_t to);

/* Positions in a row: the first event that starts at or after t (.n if none). */
uint32_t tui_lod_find(const struct tui_lod *l, uint32_t row, uint64_t t);
/* Row that holds the event, and its position there. */
bool tui_lod_locate(const struct tui_lod *l, uint32_t event, uint32_t *row, uint32_t *pos);

/* Longest event of rows [row0, row1) that touches [from, to) and comes after (dur_ns, event) in the
 * order longest first, then by index; NTFF_NONE if there is none. Start with UINT64_MAX, 0. Of the
 * partial ones (tui_event_partial), or of all others. */
uint32_t tui_lod_next_longest(const struct tui_lod *l, uint32_t row0, uint32_t row1, uint64_t from,
                              uint64_t to, bool partial, uint64_t dur_ns, uint32_t event);

/* A stretch in which nothing runs on a track, between two spans of it. */
struct tui_gap {
    uint64_t from, to;
};
/* The same order for gaps of a track inside [from, to): longest first, then earlier first; those
 * after *prev (NULL = from the longest). False: no more. */
bool tui_lod_next_gap(const struct tui_lod *l, uint32_t track, uint64_t from, uint64_t to,
                      const struct tui_gap *prev, struct tui_gap *out);

/* -- counters ------------------------------------------------------------------------------- */

struct tui_range {
    double lo, hi, last; /* smallest and largest value in force during the range; at its end */
    uint32_t count;      /* samples inside */
    bool any;            /* false: no sample yet */
};
/* Values of a counter in [from, to): the value in force at from counts. */
void tui_lod_counter(const struct tui_lod *l, uint32_t track, uint64_t from, uint64_t to,
                     struct tui_range *out);
/* Of columns [x0, x1). */
void tui_lod_counter_cells(const struct tui_lod *l, uint32_t track, const struct tui_view *v,
                           int x0, int x1, struct tui_range *out);
/* Over the whole trace, and over all counters of the same axis (share_key). */
void tui_lod_counter_axis(const struct tui_lod *l, uint32_t track, double *lo, double *hi);
/* Sample of the track in force at t, NULL before the first. */
const struct ntff_sample *tui_lod_sample(const struct tui_lod *l, uint32_t track, uint64_t t);
static inline uint32_t tui_lod_n_samples(const struct tui_lod *l, uint32_t track)
{
    return l->first_sample[track + 1] - l->first_sample[track];
}
double tui_sample_value(const struct ntff_trace *t, const struct ntff_sample *s);

#endif
