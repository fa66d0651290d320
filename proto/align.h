/* align - how far the host clocks of instances are apart, from the collectives they took part in.
 * Knows: base, error. A pure function of its input; allocates only while it runs.
 *
 * Every instance has a host clock of its own, and nothing in the files relates them. But a
 * collective ends on all of its ranks at nearly the same moment, a little sooner here, a little
 * later there. So the ends of common collectives, each on the clock of its instance, differ by how
 * far the clocks are apart, give or take. Whether that is so is part of the answer: offsets are
 * only given where the ends agree. Units: nanoseconds of Unix time. Errors: NOMEM. */
#ifndef NTFF_ALIGN_H
#define NTFF_ALIGN_H

#include "error.h"

/* The end of one collective on one rank, on the instance's host clock. */
struct ntff_align_end {
    uint64_t op;      /* the same for all ranks: group and op_id, as the caller packs them */
    uint64_t exec_id; /* of the execution it was part of; counts up from execution to execution */
    uint64_t end_ns;
    uint32_t rank; /* process or core, any number that tells the ranks of the instance apart */
};

struct ntff_align_instance {
    const struct ntff_align_end *ends; /* any order; copied */
    size_t n_ends;
    uint64_t placed_within_ns; /* how sure the ends are (clock quality); UINT64_MAX = unknown */
};

enum ntff_align_how {
    NTFF_ALIGN_REFERENCE, /* the others are put on its clock */
    NTFF_ALIGN_DONE,
    NTFF_ALIGN_FEW,      /* not aligned: too few common collectives */
    NTFF_ALIGN_DISAGREE, /* not aligned: their ends do not keep one distance */
    NTFF_ALIGN_AMBIGUOUS /* not aligned: they do, but at several numbers of executions apart */
};

/* Common collectives it takes. */
#define NTFF_ALIGN_LEAST 8

struct ntff_align_offset {
    enum ntff_align_how how;
    int64_t offset_ns; /* to add to the instance's host times; 0 unless DONE */
    uint64_t
        uncertainty_ns; /* nine in ten are closer, if the clocks keep still; UINT64_MAX = unknown */
    uint64_t spread_ns; /* median distance of the differences from their median */
    uint32_t via;       /* instance it was compared with; itself for the reference */
    int32_t lag;        /* execution n here is n + lag there */
    bool periodic;      /* another lag would fit as well; the executions' own numbers decided */
    uint32_t n_common, n_agree; /* collectives compared; of these, those near the median */
    uint32_t n_unclear;         /* ends not used: the same rank names the same collective twice */
};

/* out[0 .. n): one offset for each instance. The reference is the instance with the most
 * collectives, the first of equals; the others are compared with it or, failing that, with one that
 * was aligned. Instances without any collective give FEW. n may be 0. */
enum ntff_status ntff_align(const struct ntff_align_instance *in, size_t n,
                            struct ntff_align_offset *out, struct ntff_error *err) NTFF_MUST_CHECK;

/* One line for people: "shifted by -1.2 ms +- 8.1 us: 240 of 252 common collectives end together
 * with those of VIA"; via is the name of that instance. Cut to cap. */
void ntff_align_describe(const struct ntff_align_offset *o, const char *via, char *out, size_t cap);

#endif
