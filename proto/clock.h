/* clock - from device time to host time, one map per physical core.
 * Knows: base, error, mem.
 *
 * A core's clock runs on its own origin and drifts against the host (sys-trace facts: FORMAT.md,
 * "Clocks"). A pair says: when the device read nc_ns, the host read cpu_ns - late by however long
 * the host took, never early (one-sided noise), now and then very late (outlier).
 * Units: nanoseconds. nc_ns is device time of that core (arbitrary origin), cpu_ns Unix time.
 *        Maps are exact integers with 128-bit intermediates; strictly increasing where the fit is
 *        used, so order and nesting on one core survive.
 * Memory: a map owns its segments; free with ntff_clock_done. Immutable once built. */
#ifndef NTFF_CLOCK_H
#define NTFF_CLOCK_H

#include "error.h"
#include "mem.h"

enum ntff_clock_mode {
    NTFF_CLOCK_AUTO,       /* fit where there are enough pairs, else sync-point, nearest, device */
    NTFF_CLOCK_FIT,        /* one piecewise-linear monotone map over all pairs of the core */
    NTFF_CLOCK_SYNC_POINT, /* documented: host = sync.cpu + (nc - sync.nc), same exec_id [AWS:P2] */
    NTFF_CLOCK_NEAREST,    /* the pair nearest in device time */
    NTFF_CLOCK_DEVICE,     /* do not align: device time on a group of its own */
    NTFF_CLOCK_RECORDED    /* keep the recorded timestamp, whatever it is */
};

/* "auto", "fit", "sync-point", "nearest", "device", "recorded"; -1 if none of them. */
int ntff_clock_mode_parse(const char *text);
const char *ntff_clock_mode_name(enum ntff_clock_mode m);

#define NTFF_NO_EXEC UINT64_MAX

struct ntff_clock_pair {
    uint64_t nc_ns, cpu_ns;
    uint64_t exec_id; /* NTFF_NO_EXEC when the pair belongs to none */
};

/* How one time was placed. */
enum ntff_placed {
    NTFF_PLACED_NONE,        /* no pair at all: *host_ns not written */
    NTFF_PLACED_EXACT,       /* fit, inside its support; or the sync point of that exec_id */
    NTFF_PLACED_NEAREST,     /* nearest pair, estimated */
    NTFF_PLACED_EXTRAPOLATED /* fit, outside the span its pairs support */
};

struct ntff_clock_quality {
    enum ntff_clock_mode used; /* never AUTO: what AUTO chose. DEVICE when there are no pairs */
    uint32_t n_pairs;          /* given */
    uint32_t n_duplicates;     /* equal nc_ns, dropped */
    uint32_t n_outliers;       /* not used: far later than the others */
    uint32_t n_resets;         /* times the device clock started anew */
    uint32_t n_segments;
    int64_t drift_ppb; /* overall (host per device - 1), parts per 1e9 */
    uint64_t residual_median_ns, residual_p99_ns,
        residual_max_ns; /* of kept pairs, cpu - map(nc) */
    uint64_t span_begin_nc_ns,
        span_end_nc_ns;  /* support: device time of first and last kept pair */
    uint64_t max_gap_ns; /* longest stretch inside the support without a kept pair */
};

struct ntff_clock_map; /* opaque */

/* Builds a core's map from its pairs (any order; the array is sorted in place by nc_ns).
 * n may be 0: the map then places nothing. Errors: NOMEM. */
enum ntff_status ntff_clock_build(struct ntff_clock_pair *pairs, size_t n,
                                  enum ntff_clock_mode mode, struct ntff_clock_map **out,
                                  struct ntff_error *err) NTFF_MUST_CHECK;
void ntff_clock_done(struct ntff_clock_map *m); /* NULL allowed */

/* Places one device time. exec_id picks the sync point in SYNC_POINT mode (NTFF_NO_EXEC: nearest).
 * A hint for sequential use makes it O(1): keep one per caller, start with 0. */
enum ntff_placed ntff_clock_host(const struct ntff_clock_map *m, uint64_t nc_ns, uint64_t exec_id,
                                 uint32_t *hint, uint64_t *host_ns);

/* Places a span [nc_start, nc_stop): both ends go through the same segment rule, so that
 * *dur_ns = map(stop) - map(start) >= 0, and in the offset modes exactly nc_stop - nc_start. */
enum ntff_placed ntff_clock_span(const struct ntff_clock_map *m, uint64_t nc_start_ns,
                                 uint64_t nc_stop_ns, uint64_t exec_id, uint32_t *hint,
                                 uint64_t *host_ns, uint64_t *dur_ns);

const struct ntff_clock_quality *ntff_clock_quality(const struct ntff_clock_map *m);

/* cpu_ns - map(nc_ns) of a pair, signed: the residual shown as a counter. false if unplaced. */
bool ntff_clock_residual(const struct ntff_clock_map *m, const struct ntff_clock_pair *pair,
                         int64_t *residual_ns);

/* One line for people: "fit over 120 pairs, drift +48.2 ppm, residual median 3 us, p99 41 us". */
void ntff_clock_describe(const struct ntff_clock_map *m, char *out, size_t cap);

#endif
