/* ntff_core - which physical core a device time belongs to, by the executions the runtime traced.
 * Knows: build. Private to decode_ntff.c.
 *
 * Cores count from unrelated origins, so a device time lies inside an execution (nc_exec_running)
 * of the core it was read on, and practically never inside one of another core. */
#ifndef NTFF_CORE_H
#define NTFF_CORE_H

#include "build.h"

/* Runs of one physical core: [first, first + n) of .runs, by start. */
struct ntff_core_runs {
    uint32_t core, nc;
    size_t first, n;
};

struct ntff_cores {
    NTFF_VEC(struct ntff_core_run) runs;
    NTFF_VEC(struct ntff_core_runs) cores; /* by core */
};

/* All runs of a process read so far. False when memory ran out. */
bool ntff_cores_load(struct ntff_cores *c, const struct ntff_builder *b, uint32_t proc,
                     struct ntff_budget *budget) NTFF_MUST_CHECK;
void ntff_cores_done(struct ntff_cores *c, struct ntff_budget *budget);

/* NULL if the process has no run on this core. */
const struct ntff_core_runs *ntff_cores_find(const struct ntff_cores *c, uint32_t core);
/* Does a run of the core hold this time? */
bool ntff_cores_inside(const struct ntff_cores *c, const struct ntff_core_runs *core, uint64_t ns);

/* The core most of these times lie in, if named does not hold half as many; else named. *hits: how
 * many lie in the runs of the core returned. */
uint32_t ntff_cores_vote(const struct ntff_cores *c, const uint64_t *ns, size_t n, uint32_t named,
                         size_t *hits);

/* Logical core in a file name: "..._vnc_3.ntff", "profile_nc_3_session_0.ntff" [AWS:HP] [API].
 * NTFF_NONE if it has none. */
uint32_t ntff_cores_of_name(const char *path);

#endif
