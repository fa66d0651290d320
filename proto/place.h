/* place - shared by cores.c, place.c and unaligned.c: a load's device events on their way to host
 * time. Private to those. */
#ifndef NTFF_PLACE_H
#define NTFF_PLACE_H

#include "builder.h"

struct ntff_core_key {
    uint32_t proc, nc, core;
};

/* Cores of one logical core; v NULL: none looked for yet. */
struct ntff_core_list {
    const struct ntff_core_key *v;
    size_t n;
    uint32_t proc, nc;
};

/* A run of a core, for lookups by execution and by time. */
struct ntff_run {
    struct ntff_core_key at;
    uint64_t exec_id, start_ns, stop_ns;
};

/* Lookups go on where the last one of the same logical core ended: times run on. */
#define NTFF_PLACER_NEAR 64

struct ntff_placer {
    struct ntff_builder *b;
    size_t near_run[NTFF_PLACER_NEAR]; /* index into runs */
    struct ntff_core_list near_cores[NTFF_PLACER_NEAR];
    NTFF_VEC(struct ntff_core_key) cores; /* known physical cores, sorted */
    NTFF_VEC(struct ntff_run) runs;       /* sorted by (proc, nc, exec, core, start) */
};

/* By process, logical core, physical core. */
int ntff_core_cmp(const void *a, const void *b);

/* cores.c: which cores there are; one clock each, from the pairs given to it; the core of an event
 * that names none (NTFF_NONE if unknown), *guessed if only its time speaks for it. */
bool ntff_placer_cores(struct ntff_placer *p) NTFF_MUST_CHECK;
bool ntff_placer_clocks(struct ntff_placer *p) NTFF_MUST_CHECK;
uint32_t ntff_placer_core_of(struct ntff_placer *p, const struct ntff_dev *d, bool *guessed);

/* unaligned.c: moves what kept device time to the begin of the trace, below a group that says so.
 */
bool ntff_build_unaligned(struct ntff_builder *b) NTFF_MUST_CHECK;

#endif
