/* clock_fit - one smooth line through the noisy clock pairs of one epoch.
 * Knows: base, clock. Private to proto/.
 *
 * Points are residuals, not times: x is device time since the epoch's first pair, y how much more
 * host time than device time went by until then. A y is small (drift, wander, latency), so the fit
 * works in double; absolute times never do. */
#ifndef NTFF_CLOCK_FIT_H
#define NTFF_CLOCK_FIT_H

#include "clock.h"

struct ntff_fit_point {
    uint64_t x_ns;
    int64_t y_ns; /* |y| <= NTFF_FIT_MAX_Y */
};
#define NTFF_FIT_MAX_Y (INT64_C(1) << 61)
#define NTFF_FIT_UNKNOWN (-1.0)

struct ntff_fit_node {
    uint64_t x_ns;
    double y_ns;
};

struct ntff_fit {
    struct ntff_fit_node
        *nodes;            /* x strictly ascending; first and last are those of the points kept */
    size_t n_nodes;        /* 1 if there is one point; free(nodes) is the caller's */
    size_t n_kept;         /* points that were used */
    double slope;          /* overall, beyond 1: used outside the nodes */
    double uncertainty_ns; /* NTFF_FIT_UNKNOWN: too few points to tell */
    enum ntff_clock_noise noise;
    bool held; /* the overall slope was held to its limit */
};

/* Fits n >= 1 points, x strictly ascending. Points dropped as outliers are moved out: p[0 ..
 * n_kept) are the others, in order. False when memory ran out. */
bool ntff_fit_points(struct ntff_fit_point *p, size_t n, struct ntff_fit *out) NTFF_MUST_CHECK;

/* Moves the k-th smallest of v[0 .. n) to v[k], none larger before it, none smaller after it. O(n).
 */
void ntff_fit_select(double *v, size_t n, size_t k);

/* -- clock_epochs.c -----------------------------------------------------------------------------
 */

/* pairs[first .. first + n) of one run of the device clock, sorted by nc_ns, then cpu_ns. */
struct ntff_epoch_range {
    size_t first, n;
    bool after_step; /* begins where a clock was set; otherwise at a reset (or it is the first) */
};

/* Sorts the pairs and cuts them into epochs, in host time order of their begins. Returns how many.
 */
size_t ntff_clock_split(struct ntff_clock_pair *pairs, size_t n,
                        struct ntff_epoch_range out[NTFF_CLOCK_MAX_EPOCHS]);

/* A usual distance cpu - nc of n >= 1 pairs: the median of a sample. It is the distance of one of
 * them. */
__int128 ntff_clock_middle(const struct ntff_clock_pair *pairs, size_t n);

#endif
