/* clock - from device time to host time, one map per physical core.
 * Knows: base, error, mem.
 *
 * A core's clock runs on its own origin and drifts against the host (sys-trace facts: FORMAT.md,
 * "Clocks"). A pair says: when the device read nc_ns, the host read cpu_ns - late by however long
 * the host took, never early (one-sided noise), now and then very late (outlier).
 * Units: nanoseconds. nc_ns is device time of that core (arbitrary origin), cpu_ns Unix time.
 *        Maps are exact integers with 128-bit intermediates. The fit is continuous and strictly
 *        increasing, rounded to the ns at the end, so order and nesting on one core survive.
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
#define NTFF_ANY_TIME UINT64_MAX
/* A core's pairs are split into at most this many epochs. */
#define NTFF_CLOCK_MAX_EPOCHS 64

struct ntff_clock_pair {
    uint64_t nc_ns, cpu_ns;
    uint64_t exec_id; /* NTFF_NO_EXEC when the pair belongs to none */
};

/* How one time was placed. */
enum ntff_placed {
    NTFF_PLACED_NONE,        /* no pair at all, or mode DEVICE or RECORDED: *host_ns not written */
    NTFF_PLACED_EXACT,       /* fit, inside its reach; or the sync point of that exec_id */
    NTFF_PLACED_NEAREST,     /* nearest pair, estimated */
    NTFF_PLACED_EXTRAPOLATED /* fit, further from its pairs than its reach */
};

/* How the host readings scatter around the fit; decides where in the scatter the fit runs. */
enum ntff_clock_noise {
    NTFF_NOISE_NONE, /* readings agree with the fit to the ns */
    NTFF_NOISE_LATE, /* one-sided (or too few pairs to tell): the fit follows the earliest readings
                      */
    NTFF_NOISE_SYMMETRIC, /* as far early as late: the fit runs through the middle */
    NTFF_NOISE_MIXED      /* between the two */
};

/* What is known about a map. Whatever the mode, residuals, outliers, drift and noise are those of
 * the fit over all pairs: they tell how far the pairs can be trusted. */
struct ntff_clock_quality {
    enum ntff_clock_mode used; /* never AUTO: what AUTO chose. DEVICE when there are no pairs */
    enum ntff_clock_noise noise;
    uint32_t n_pairs;      /* given */
    uint32_t n_duplicates; /* equal nc_ns in one epoch: all but the earliest reading dropped */
    uint32_t n_outliers;   /* not used: far off the others */
    uint32_t n_resets;     /* times the device clock started anew (device time goes back) */
    uint32_t n_steps;      /* times one of the two clocks was set: the distance jumps for good */
    uint32_t n_segments;
    int64_t drift_ppb;        /* overall (host per device - 1), parts per 1e9 */
    uint64_t drift_error_ppb; /* how sure it is, as uncertainty_ns; UINT64_MAX = cannot tell */
    bool drift_held;          /* the pairs do not determine the drift: held within 100 ppm */
    /* |cpu - map(nc)| of the kept pairs */
    uint64_t residual_median_ns, residual_p99_ns, residual_max_ns;
    /* Nine in ten times are placed closer to the truth than this, by an estimate from the scatter
     * and the bends; UINT64_MAX = too few pairs to tell. Not in it: the shortest latency of a
     * reading, which no pair can tell. */
    uint64_t uncertainty_ns;
    /* Support: device time of the first and the last kept pair (the last may be lower after a
     * reset). */
    uint64_t span_begin_nc_ns, span_end_nc_ns;
    uint64_t max_gap_ns; /* longest stretch inside the support without a kept pair */
    uint64_t reach_ns;   /* times this far outside the support still count as supported */
};

struct ntff_clock_map; /* opaque */

/* Builds a core's map from its pairs (any order; copied). n may be 0: the map then places nothing.
 * O(n log n) whatever the values. Errors: NOMEM; LIMIT (2^31 pairs). */
enum ntff_status ntff_clock_build(const struct ntff_clock_pair *pairs, size_t n,
                                  enum ntff_clock_mode mode, struct ntff_clock_map **out,
                                  struct ntff_error *err) NTFF_MUST_CHECK;
void ntff_clock_done(struct ntff_clock_map *m);          /* NULL allowed */
size_t ntff_clock_bytes(const struct ntff_clock_map *m); /* memory it holds */

/* Places one device time. exec_id picks the sync point in SYNC_POINT mode (NTFF_NO_EXEC: nearest).
 * A hint for sequential use makes it O(1): keep one per caller, start with 0. The hint never
 * changes the result. */
enum ntff_placed ntff_clock_host(const struct ntff_clock_map *m, uint64_t nc_ns, uint64_t exec_id,
                                 uint32_t *hint, uint64_t *host_ns);

/* Places a span [nc_start, nc_stop): both ends go through the same segment rule, so that
 * *dur_ns = map(stop) - map(start) >= 0, and in the offset modes exactly nc_stop - nc_start. */
enum ntff_placed ntff_clock_span(const struct ntff_clock_map *m, uint64_t nc_start_ns,
                                 uint64_t nc_stop_ns, uint64_t exec_id, uint32_t *hint,
                                 uint64_t *host_ns, uint64_t *dur_ns);

/* After a reset the same device time may occur twice. These two take a rough host time besides (the
 * submit of the execution, the time the record was written; NTFF_ANY_TIME = unknown) and choose, in
 * this order: the epoch that has pairs of exec_id, the epoch that puts nc_ns nearest to
 * approx_host_ns, the first epoch whose pairs reach nc_ns, the epoch nearest in device time. The
 * functions above are these with NTFF_ANY_TIME. With one epoch (n_resets + n_steps == 0) all of it
 * makes no difference. */
enum ntff_placed ntff_clock_host_near(const struct ntff_clock_map *m, uint64_t nc_ns,
                                      uint64_t exec_id, uint64_t approx_host_ns, uint32_t *hint,
                                      uint64_t *host_ns);
enum ntff_placed ntff_clock_span_near(const struct ntff_clock_map *m, uint64_t nc_start_ns,
                                      uint64_t nc_stop_ns, uint64_t exec_id,
                                      uint64_t approx_host_ns, uint32_t *hint, uint64_t *host_ns,
                                      uint64_t *dur_ns);

const struct ntff_clock_quality *ntff_clock_quality(const struct ntff_clock_map *m);

/* cpu_ns - fit(nc_ns) of a pair, signed, in every mode: the residual shown as a counter. Saturates.
 * False if there is no pair at all. */
bool ntff_clock_residual(const struct ntff_clock_map *m, const struct ntff_clock_pair *pair,
                         int64_t *residual_ns);

/* One line for people: "fit over 120 pairs, drift +48.2 ppm, reads late, residual median 3.1 us,
 * p99 41 us, max 58 us, placed within 170 ns, 2 outliers dropped". Cut to cap. */
void ntff_clock_describe(const struct ntff_clock_map *m, char *out, size_t cap);

#endif
