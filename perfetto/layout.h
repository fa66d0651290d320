/* layout - where the tracks of a trace go in an output: processes with pids, threads with tids,
 * everything else below them; order among siblings; one uuid per (track, lane).
 * Knows: model.   Used by the Perfetto and the Chrome writer, so that both show the same pids.
 *
 * pids: the true one where it is unique in the session and a viewer can take it (1 .. 2^31-1), else
 * a synthetic one from 2^22 + 1 up, above Linux's pid_max; 0 is the idle process and never used.
 * uuids: small and sequential; with more than 126 lanes the busiest ones get those of one byte. */
#ifndef PFT_LAYOUT_H
#define PFT_LAYOUT_H

#include "proto/model.h"

enum pft_place_kind {
    PFT_PROCESS, /* a process with .pid */
    PFT_THREAD,  /* a thread .tid of the process .pid; lanes above 0 are rows below it */
    PFT_ROW,     /* any other row */
    PFT_COUNTER
};

struct pft_place { /* one per track */
    uint8_t kind;  /* enum pft_place_kind */
    bool has_children;
    bool points_apart;   /* has instants on further lanes: one lane cannot show them all */
    uint16_t n_lanes;    /* at least 1 */
    uint32_t process;    /* the PFT_PROCESS track it belongs to, NTFF_NONE if none */
    int32_t pid;         /* of that process, 0 if none */
    int64_t tid;         /* PFT_THREAD */
    uint64_t process_id; /* true pid when .pid is synthetic and the true one known, else 0 */
    uint32_t order;      /* position among its siblings, from 1 */
    uint32_t first_child, next_sibling; /* in that order; NTFF_NONE = no more */
    uint32_t first_lane;                /* lane l of the track is number first_lane + l */
};

struct pft_layout {
    struct pft_place *places;
    size_t n_places;
    uint32_t *uuids; /* by lane number */
    size_t n_lanes;
    uint32_t first_root; /* track, NTFF_NONE if there is none */
};

/* Next track in depth-first order, parents first; NTFF_NONE after the last. Begin with .first_root.
 */
uint32_t pft_layout_next(const struct pft_layout *l, const struct ntff_trace *t, uint32_t track);

/* Errors: NOMEM. */
enum ntff_status pft_layout_init(struct pft_layout *l, const struct ntff_trace *t,
                                 struct ntff_error *err) NTFF_MUST_CHECK;
void pft_layout_done(struct pft_layout *l);

/* Appends the name of a process track: with the true pid when the one shown is synthetic. */
void pft_process_name(const struct ntff_trace *t, const struct pft_layout *l, uint32_t track,
                      struct ntff_buf *out);

/* Name of a track, never empty. */
const char *pft_track_name(const struct ntff_trace *t, uint32_t track);

/* What was done to an event, as facts of every output, before those of its records: its flags by
 * name, dur_ns where the span has no lane, process_id where the pid shown is not the true one.
 * Returns how many. */
#define PFT_MAX_OWN 10
size_t pft_own_facts(const struct pft_layout *l, const struct ntff_event *e,
                     struct ntff_attr facts[PFT_MAX_OWN]);

#define PFT_FLAGS_SHOWN                                                                            \
    (NTFF_EV_UNFINISHED | NTFF_EV_START_LOST | NTFF_EV_ESTIMATED | NTFF_EV_UNALIGNED |             \
     NTFF_EV_CUT_LEFT | NTFF_EV_CUT_RIGHT | NTFF_EV_NEGATIVE | NTFF_EV_NO_LANE)
static inline bool pft_has_own_facts(const struct pft_layout *l, const struct ntff_event *e)
{
    return e->flags & PFT_FLAGS_SHOWN || l->places[e->track].process_id;
}

/* First moment of anything in the trace: the model's begin_ns unless something lies before it. */
uint64_t pft_first_ns(const struct ntff_trace *t);

#endif
