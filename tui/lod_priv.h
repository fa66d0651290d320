/* lod_priv - the index's own pieces, shared by lod.c, lod_build.c and lod_counter.c. */
#ifndef TUI_LOD_PRIV_H
#define TUI_LOD_PRIV_H

#include "lod.h"

#define TUI_BLOCK 16u /* events */
#define TUI_FAN 8u    /* nodes under a node */
#define TUI_UNION 64u /* events */

struct tui_block {
    uint64_t ts_ns;   /* of its first event */
    uint64_t busy_ns; /* of all events of the row before it */
    uint64_t gap_ns;  /* longest gap behind one of its events, up to the next event of the row */
};

/* Summary of the events below. */
struct tui_node {
    uint64_t votes_has; /* votes of .name, and TUI_HAS_* in the top 8 bits */
    uint64_t longest_ns;
    uint32_t event; /* the longest */
    ntff_str name;  /* winner of the vote */
};
#define TUI_VOTES_MAX ((UINT64_C(1) << 56) - 1) /* 2.2 years */

static inline uint64_t tui_node_votes(const struct tui_node *n)
{
    return n->votes_has & TUI_VOTES_MAX;
}
static inline unsigned tui_node_has(const struct tui_node *n)
{
    return (unsigned)(n->votes_has >> 56);
}

/* Before event 64 k of a track: time covered so far, and up to when. */
struct tui_union {
    uint64_t ts_ns, busy_ns, reach_ns;
};

/* Smallest and largest of 32 samples, then of 4 nodes each. */
#define TUI_SAMPLES 32u
struct tui_samples {
    uint64_t ts_ns; /* leaves: of the first sample */
    double lo, hi;
};

static inline uint32_t tui_blocks_of(uint32_t n_events)
{
    return n_events <= TUI_BLOCK ? 0 : (n_events + TUI_BLOCK - 1) / TUI_BLOCK;
}
static inline uint32_t tui_parents_of(uint32_t n)
{
    return (n + TUI_FAN - 1) / TUI_FAN;
}
/* Nodes over so many leaves, all levels. */
static inline size_t tui_tree_size(uint32_t leaves)
{
    size_t all = 0;
    for (uint32_t n = leaves; n; n = n > 1 ? tui_parents_of(n) : 0)
        all += n;
    return all;
}

/* The lane of an event, inside what its track says. */
static inline uint32_t tui_lane_of(const struct ntff_trace *t, const struct ntff_event *e)
{
    uint32_t n = t->tracks[e->track].n_lanes;
    return e->lane < n ? e->lane : n ? n - 1 : 0;
}

enum ntff_status tui_lod_build_counters(struct tui_lod *l, struct ntff_error *err);

#endif
