/* clock - from device time to host time, one map per physical core.
 *
 * The pairs are cut into epochs (clock_epochs.c), each is fitted (clock_fit.c), and the fit becomes
 * a list of straight segments in integers:
 *
 *     host(nc) = floor(host_ns + (frac + (nc - nc_ns) * slope) / 2^63)
 *
 * with slope and frac in units of 2^-63 and 128-bit products, so that placing a time costs one
 * multiplication and nothing is lost: floor of a rising line never falls, and as slopes are rounded
 * down, a segment ends no higher than the next one begins. Hence order and nesting on a core
 * survive. The half that makes floor round to the nearest ns is in frac.
 *
 * An epoch's segments: one before its first node (drawn backwards from it, with the overall drift),
 * one per stretch between nodes, one after the last node (again with the overall drift). */
#include "clock.h"
#include "clock_fit.h"
#include "line.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ONE_Q63 (UINT64_C(1) << 63)

struct segment {
    uint64_t nc_ns;   /* anchor; the first segment of an epoch is for times before it */
    uint64_t slope;   /* host per device, 2^-63 */
    uint64_t frac;    /* below 2^63 */
    __int128 host_ns; /* at the anchor, plus frac */
};

struct epoch {
    uint32_t first_segment, n_segments;
    uint32_t first_pair, n_pairs;
    uint64_t begin_nc_ns, end_nc_ns; /* first and last kept pair */
    uint64_t max_gap_ns, reach_ns;
    double drift;
};

struct exec_entry {
    uint64_t exec_id;
    uint32_t pair, epoch;
};

struct ntff_clock_map {
    struct ntff_clock_quality quality;
    struct ntff_clock_pair *pairs; /* by epoch, then nc_ns */
    struct exec_entry *by_exec;    /* by exec_id, epoch, pair; those that have one */
    struct segment *segments;
    size_t n_pairs, n_by_exec, n_segments;
    struct epoch epochs[NTFF_CLOCK_MAX_EPOCHS];
    size_t n_epochs;
};

/* -- modes --------------------------------------------------------------------------------------
 */

static const char *const mode_names[] = {
    [NTFF_CLOCK_AUTO] = "auto",
    [NTFF_CLOCK_FIT] = "fit",
    [NTFF_CLOCK_SYNC_POINT] = "sync-point",
    [NTFF_CLOCK_NEAREST] = "nearest",
    [NTFF_CLOCK_DEVICE] = "device",
    [NTFF_CLOCK_RECORDED] = "recorded",
};

int ntff_clock_mode_parse(const char *text)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(mode_names); i++)
        if (strcmp(text, mode_names[i]) == 0)
            return (int)i;
    return -1;
}

const char *ntff_clock_mode_name(enum ntff_clock_mode m)
{
    return (unsigned)m < NTFF_ARRAY_LEN(mode_names) ? mode_names[m] : "?";
}

/* -- placing ------------------------------------------------------------------------------------
 */

static uint64_t saturate(__int128 v)
{
    return v < 0 ? 0 : v > UINT64_MAX ? UINT64_MAX : (uint64_t)v;
}

static __int128 on_segment(const struct segment *s, uint64_t nc_ns)
{
    if (nc_ns >= s->nc_ns) {
        unsigned __int128 up = (unsigned __int128)(nc_ns - s->nc_ns) * s->slope + s->frac;
        return s->host_ns + (__int128)(up >> 63);
    }
    unsigned __int128 down = (unsigned __int128)(s->nc_ns - nc_ns) * s->slope;
    if (down <= s->frac)
        return s->host_ns;
    return s->host_ns - (__int128)((down - s->frac + (ONE_Q63 - 1)) >> 63);
}

static bool covers(const struct segment *s, uint32_t n, uint32_t at, uint64_t nc_ns)
{
    return nc_ns >= s[at].nc_ns && (at + 1 == n || nc_ns < s[at + 1].nc_ns);
}

/* The segment of the epoch for nc_ns; *hint is where it was last time. */
static inline const struct segment *
find_segment(const struct ntff_clock_map *m, const struct epoch *e, uint64_t nc_ns, uint32_t *hint)
{
    const struct segment *s = m->segments + e->first_segment;
    uint32_t n = e->n_segments, at = *hint - e->first_segment;
    if (nc_ns < s[0].nc_ns) {
        at = 0;
    } else if (at > 0 && at < n && covers(s, n, at, nc_ns)) {
        return s + at;
    } else if (at < n - 1 && covers(s, n, at + 1, nc_ns)) {
        at++;
    } else {
        uint32_t end = n; /* s[at].nc_ns <= nc_ns < s[end].nc_ns */
        for (at = 1; end - at > 1;) {
            uint32_t mid = at + (end - at) / 2;
            *(s[mid].nc_ns <= nc_ns ? &at : &end) = mid;
        }
    }
    *hint = e->first_segment + at;
    return s + at;
}

static __int128 fit_host(const struct ntff_clock_map *m, const struct epoch *e, uint64_t nc_ns,
                         uint32_t *hint)
{
    return on_segment(find_segment(m, e, nc_ns, hint), nc_ns);
}

/* How far outside the support of the epoch a time is. */
static uint64_t outside(const struct epoch *e, uint64_t nc_ns)
{
    return nc_ns < e->begin_nc_ns ? e->begin_nc_ns - nc_ns
           : nc_ns > e->end_nc_ns ? nc_ns - e->end_nc_ns
                                  : 0;
}

/* First entry of by_exec at or after (exec_id, pair). */
static size_t find_exec(const struct ntff_clock_map *m, uint64_t exec_id, uint32_t pair)
{
    size_t lo = 0, hi = m->n_by_exec;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct exec_entry *x = &m->by_exec[mid];
        if (x->exec_id < exec_id || (x->exec_id == exec_id && x->pair < pair))
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* The one epoch that has pairs of exec_id, NULL if none or several. */
static const struct epoch *epoch_of_exec(const struct ntff_clock_map *m, uint64_t exec_id)
{
    if (exec_id == NTFF_NO_EXEC)
        return NULL;
    size_t first = find_exec(m, exec_id, 0), end = find_exec(m, exec_id, UINT32_MAX);
    if (first == end || m->by_exec[first].epoch != m->by_exec[end - 1].epoch)
        return NULL;
    return &m->epochs[m->by_exec[first].epoch];
}

static const struct epoch *nearest_in_host_time(const struct ntff_clock_map *m, uint64_t nc_ns,
                                                uint64_t approx_host_ns)
{
    const struct epoch *best = m->epochs;
    __int128 least = -1;
    for (size_t i = 0; i < m->n_epochs; i++) {
        uint32_t hint = 0;
        __int128 d = fit_host(m, &m->epochs[i], nc_ns, &hint) - approx_host_ns;
        d = d < 0 ? -d : d;
        if (least < 0 || d < least) {
            least = d;
            best = &m->epochs[i];
        }
    }
    return best;
}

static inline const struct epoch *pick_epoch(const struct ntff_clock_map *m, uint64_t nc_ns,
                                             uint64_t exec_id, uint64_t approx_host_ns)
{
    if (m->n_epochs == 1)
        return m->epochs;
    const struct epoch *best = epoch_of_exec(m, exec_id);
    if (best)
        return best;
    if (approx_host_ns != NTFF_ANY_TIME)
        return nearest_in_host_time(m, nc_ns, approx_host_ns);
    best = m->epochs;
    for (size_t i = 0; i < m->n_epochs; i++) {
        uint64_t out = outside(&m->epochs[i], nc_ns);
        if (out <= m->epochs[i].reach_ns)
            return &m->epochs[i];
        if (out < outside(best, nc_ns))
            best = &m->epochs[i];
    }
    return best;
}

/* First pair of the epoch at or after nc_ns; one beyond its last if there is none. */
static uint32_t pair_after(const struct ntff_clock_map *m, const struct epoch *e, uint64_t nc_ns)
{
    uint32_t lo = e->first_pair, hi = lo + e->n_pairs;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (m->pairs[mid].nc_ns < nc_ns)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static const struct ntff_clock_pair *nearest_pair(const struct ntff_clock_map *m,
                                                  const struct epoch *e, uint64_t nc_ns)
{
    uint32_t at = pair_after(m, e, nc_ns), end = e->first_pair + e->n_pairs;
    if (at > e->first_pair &&
        (at == end || nc_ns - m->pairs[at - 1].nc_ns <= m->pairs[at].nc_ns - nc_ns))
        at--;
    return &m->pairs[at];
}

/* The sync point of exec_id in the epoch: the first one after nc_ns, as a sync point follows its
 * execution, else the last before it. NULL if there is none. */
static const struct ntff_clock_pair *
sync_point(const struct ntff_clock_map *m, const struct epoch *e, uint64_t nc_ns, uint64_t exec_id)
{
    size_t at = find_exec(m, exec_id, pair_after(m, e, nc_ns));
    for (size_t back = 0; back < 2 && back <= at; back++) {
        const struct exec_entry *x = m->by_exec + at - back;
        if (x < m->by_exec + m->n_by_exec && x->exec_id == exec_id && &m->epochs[x->epoch] == e)
            return &m->pairs[x->pair];
    }
    return NULL;
}

static enum ntff_placed reached(const struct epoch *e, uint64_t nc_ns)
{
    return outside(e, nc_ns) <= e->reach_ns ? NTFF_PLACED_EXACT : NTFF_PLACED_EXTRAPOLATED;
}

/* The offset modes: *shift = host - device time. */
static enum ntff_placed find_shift(const struct ntff_clock_map *m, const struct epoch *e,
                                   uint64_t nc_ns, uint64_t exec_id, __int128 *shift)
{
    const struct ntff_clock_pair *p = NULL;
    if (m->quality.used == NTFF_CLOCK_SYNC_POINT && exec_id != NTFF_NO_EXEC)
        p = sync_point(m, e, nc_ns, exec_id);
    enum ntff_placed how = p ? NTFF_PLACED_EXACT : NTFF_PLACED_NEAREST;
    if (!p)
        p = nearest_pair(m, e, nc_ns);
    *shift = (__int128)p->cpu_ns - p->nc_ns;
    return how;
}

static bool places_nothing(const struct ntff_clock_map *m)
{
    return m->n_epochs == 0 || !m->pairs || m->quality.used == NTFF_CLOCK_DEVICE ||
           m->quality.used == NTFF_CLOCK_RECORDED;
}

enum ntff_placed ntff_clock_host_near(const struct ntff_clock_map *m, uint64_t nc_ns,
                                      uint64_t exec_id, uint64_t approx_host_ns, uint32_t *hint,
                                      uint64_t *host_ns)
{
    if (places_nothing(m))
        return NTFF_PLACED_NONE;
    const struct epoch *e = pick_epoch(m, nc_ns, exec_id, approx_host_ns);
    if (m->quality.used == NTFF_CLOCK_FIT) {
        *host_ns = saturate(fit_host(m, e, nc_ns, hint));
        return reached(e, nc_ns);
    }
    __int128 shift;
    enum ntff_placed how = find_shift(m, e, nc_ns, exec_id, &shift);
    *host_ns = saturate(shift + nc_ns);
    return how;
}

enum ntff_placed ntff_clock_host(const struct ntff_clock_map *m, uint64_t nc_ns, uint64_t exec_id,
                                 uint32_t *hint, uint64_t *host_ns)
{
    return ntff_clock_host_near(m, nc_ns, exec_id, NTFF_ANY_TIME, hint, host_ns);
}

enum ntff_placed ntff_clock_span_near(const struct ntff_clock_map *m, uint64_t nc_start_ns,
                                      uint64_t nc_stop_ns, uint64_t exec_id,
                                      uint64_t approx_host_ns, uint32_t *hint, uint64_t *host_ns,
                                      uint64_t *dur_ns)
{
    if (places_nothing(m))
        return NTFF_PLACED_NONE;
    const struct epoch *e = pick_epoch(m, nc_start_ns, exec_id, approx_host_ns);
    if (nc_stop_ns < nc_start_ns)
        nc_stop_ns = nc_start_ns;
    if (m->quality.used == NTFF_CLOCK_FIT) {
        *host_ns = saturate(fit_host(m, e, nc_start_ns, hint));
        *dur_ns = saturate(fit_host(m, e, nc_stop_ns, hint)) - *host_ns;
        return reached(e, nc_start_ns) == NTFF_PLACED_EXACT ? reached(e, nc_stop_ns)
                                                            : NTFF_PLACED_EXTRAPOLATED;
    }
    __int128 shift;
    enum ntff_placed how = find_shift(m, e, nc_start_ns, exec_id, &shift);
    *host_ns = saturate(shift + nc_start_ns);
    *dur_ns = saturate(shift + nc_stop_ns) - *host_ns;
    return how;
}

enum ntff_placed ntff_clock_span(const struct ntff_clock_map *m, uint64_t nc_start_ns,
                                 uint64_t nc_stop_ns, uint64_t exec_id, uint32_t *hint,
                                 uint64_t *host_ns, uint64_t *dur_ns)
{
    return ntff_clock_span_near(m, nc_start_ns, nc_stop_ns, exec_id, NTFF_ANY_TIME, hint, host_ns,
                                dur_ns);
}

/* -- building -----------------------------------------------------------------------------------
 */

/* Splits y + 1/2 into whole ns and a fraction. */
static void set_host(struct segment *s, __int128 base, double y_ns)
{
    double y = fmax(-9e18, fmin(9e18, y_ns)) + 0.5, whole = floor(y);
    double frac = (y - whole) * 0x1p63;
    s->host_ns = base + (int64_t)whole;
    s->frac = frac < 0x1p63 ? (uint64_t)frac : ONE_Q63 - 1;
}

static uint64_t overall_slope(double drift)
{
    return ONE_Q63 + (uint64_t)(int64_t)floor(drift * 0x1p63);
}

/* Slope from a to b, rounded down, so that a never overtakes b. */
static uint64_t slope_to(const struct segment *a, const struct segment *b)
{
    __int128 rise = (b->host_ns - a->host_ns) - (__int128)(b->nc_ns - a->nc_ns);
    __int128 run = b->nc_ns - a->nc_ns;
    __int128 up = rise * ((__int128)1 << 63) + ((__int128)b->frac - a->frac);
    __int128 slope = (__int128)ONE_Q63 + (up >= 0 ? up / run : -((-up + run - 1) / run));
    return slope < ONE_Q63 / 2 ? ONE_Q63 / 2 : slope > UINT64_MAX ? UINT64_MAX : (uint64_t)slope;
}

/* Appends the segments of a fit. Host time of a point = base + nc_ns + y. */
static bool add_segments(struct ntff_clock_map *m, struct epoch *e, const struct ntff_fit *fit,
                         uint64_t ref_nc_ns, __int128 base)
{
    size_t n = fit->n_nodes + 1;
    struct segment *s = realloc(m->segments, (m->n_segments + n) * sizeof *s);
    if (!s)
        return false;
    m->segments = s;
    s += m->n_segments;
    for (size_t i = 0; i < fit->n_nodes; i++) {
        s[i + 1].nc_ns = ref_nc_ns + fit->nodes[i].x_ns;
        set_host(&s[i + 1], base + s[i + 1].nc_ns, fit->nodes[i].y_ns);
    }
    s[0] = s[1];
    for (size_t i = 1; i + 1 < n; i++)
        s[i].slope = slope_to(&s[i], &s[i + 1]);
    s[0].slope = s[n - 1].slope = overall_slope(fit->slope);
    e->first_segment = (uint32_t)m->n_segments;
    e->n_segments = (uint32_t)n;
    m->n_segments += n;
    m->quality.n_segments += n > 2 ? (uint32_t)n - 2 : 1;
    return true;
}

/* Points from pairs: of equal device times the earliest reading, and nothing absurdly far. */
static size_t make_points(struct ntff_clock_map *m, const struct ntff_clock_pair *p, size_t n,
                          __int128 base, struct ntff_fit_point *out)
{
    size_t n_out = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && p[i].nc_ns == p[i - 1].nc_ns) {
            m->quality.n_duplicates++;
            continue;
        }
        __int128 y = (__int128)p[i].cpu_ns - p[i].nc_ns - base;
        if (y < -NTFF_FIT_MAX_Y || y > NTFF_FIT_MAX_Y) {
            m->quality.n_outliers++;
            continue;
        }
        out[n_out++] = (struct ntff_fit_point){p[i].nc_ns - p[0].nc_ns, (int64_t)y};
    }
    return n_out;
}

/* What the kept points of an epoch add to the quality; residuals are collected in res. */
static void add_quality(struct ntff_clock_map *m, struct epoch *e, const struct ntff_fit_point *p,
                        const struct ntff_fit *fit, uint64_t ref_nc_ns, __int128 base, double *res)
{
    uint32_t hint = 0;
    for (size_t i = 0; i < fit->n_kept; i++) {
        uint64_t nc = ref_nc_ns + p[i].x_ns;
        __int128 late = base + nc + p[i].y_ns - fit_host(m, e, nc, &hint);
        res[i] = (double)(late < 0 ? -late : late);
        if (i > 0 && p[i].x_ns - p[i - 1].x_ns > e->max_gap_ns)
            e->max_gap_ns = p[i].x_ns - p[i - 1].x_ns;
    }
    e->begin_nc_ns = ref_nc_ns + p[0].x_ns;
    e->end_nc_ns = ref_nc_ns + p[fit->n_kept - 1].x_ns;
    /* Outside, the line is about as good as in the longest gap, unless that is most of the span. */
    uint64_t half = (e->end_nc_ns - e->begin_nc_ns) / 2;
    e->reach_ns = e->max_gap_ns < half ? e->max_gap_ns : half;
    e->drift = fit->slope;
}

/* The quality speaks for the epoch with the most pairs where it cannot speak for all. */
static void describe_largest(struct ntff_clock_quality *q, const struct epoch *e,
                             const struct ntff_fit *fit)
{
    q->noise = fit->noise;
    q->drift_ppb = llround(fit->slope * 1e9);
    q->drift_held = fit->held;
    q->drift_error_ppb = UINT64_MAX;
    q->reach_ns = e->reach_ns;
    q->uncertainty_ns = fit->uncertainty_ns < 0      ? UINT64_MAX
                        : fit->uncertainty_ns > 9e18 ? INT64_MAX
                                                     : (uint64_t)ceil(fit->uncertainty_ns);
    if (fit->uncertainty_ns >= 0 && e->end_nc_ns > e->begin_nc_ns) { /* one end high, one low */
        double span = (double)(e->end_nc_ns - e->begin_nc_ns);
        q->drift_error_ppb = (uint64_t)fmin(9e18, 2e9 * fit->uncertainty_ns / span);
    }
}

struct scratch {
    struct ntff_fit_point *points;
    double *res; /* residuals; a quantile of them is no time */
    size_t n_res;
    size_t largest; /* most points kept in an epoch so far */
};

static bool build_epoch(struct ntff_clock_map *m, struct ntff_epoch_range r, struct scratch *w)
{
    struct epoch *e = &m->epochs[m->n_epochs];
    const struct ntff_clock_pair *p = m->pairs + r.first;
    struct ntff_fit fit;
    *e = (struct epoch){.first_pair = (uint32_t)r.first, .n_pairs = (uint32_t)r.n};
    __int128 base = ntff_clock_middle(p, r.n);
    size_t n = make_points(m, p, r.n, base, w->points);
    if (!ntff_fit_points(w->points, n, &fit))
        return false;
    bool ok = add_segments(m, e, &fit, p[0].nc_ns, base);
    free(fit.nodes);
    if (!ok)
        return false;
    add_quality(m, e, w->points, &fit, p[0].nc_ns, base, w->res + w->n_res);
    w->n_res += fit.n_kept;
    m->quality.n_outliers += (uint32_t)(n - fit.n_kept);
    if (e->max_gap_ns > m->quality.max_gap_ns)
        m->quality.max_gap_ns = e->max_gap_ns;
    if (fit.n_kept > w->largest) {
        w->largest = fit.n_kept;
        describe_largest(&m->quality, e, &fit);
    }
    if (m->n_epochs > 0)
        ++*(r.after_step ? &m->quality.n_steps : &m->quality.n_resets);
    m->n_epochs++;
    return true;
}

static int by_exec_id(const void *va, const void *vb)
{
    const struct exec_entry *a = va, *b = vb;
    if (a->exec_id != b->exec_id)
        return a->exec_id < b->exec_id ? -1 : 1;
    return (a->pair > b->pair) - (a->pair < b->pair);
}

/* Needed to look up sync points, and to tell epochs apart. */
static bool index_by_exec(struct ntff_clock_map *m)
{
    if (m->n_epochs < 2 && m->quality.used != NTFF_CLOCK_SYNC_POINT)
        return true;
    m->by_exec = calloc(m->n_pairs, sizeof *m->by_exec);
    if (!m->by_exec)
        return false;
    for (uint32_t e = 0; e < m->n_epochs; e++) {
        uint32_t end = m->epochs[e].first_pair + m->epochs[e].n_pairs;
        for (uint32_t i = m->epochs[e].first_pair; i < end; i++)
            if (m->pairs[i].exec_id != NTFF_NO_EXEC)
                m->by_exec[m->n_by_exec++] = (struct exec_entry){m->pairs[i].exec_id, i, e};
    }
    qsort(m->by_exec, m->n_by_exec, sizeof *m->by_exec, by_exec_id);
    return true;
}

/* The k-th smallest residual, in whole ns. */
static uint64_t residual(struct scratch *w, size_t k)
{
    ntff_fit_select(w->res, w->n_res, k);
    return w->res[k] < 0x1p64 ? (uint64_t)w->res[k] : UINT64_MAX;
}

static bool build_epochs(struct ntff_clock_map *m)
{
    struct ntff_epoch_range range[NTFF_CLOCK_MAX_EPOCHS];
    struct ntff_clock_quality *q = &m->quality;
    struct scratch w = {.points = calloc(m->n_pairs, sizeof *w.points),
                        .res = calloc(m->n_pairs, sizeof *w.res)};
    bool ok = w.points && w.res;
    size_t n = ok ? ntff_clock_split(m->pairs, m->n_pairs, range) : 0;
    for (size_t i = 0; ok && i < n; i++)
        ok = build_epoch(m, range[i], &w);
    if (ok) {
        q->residual_median_ns = residual(&w, (w.n_res - 1) / 2);
        q->residual_p99_ns = residual(&w, (w.n_res - 1) * 99 / 100);
        q->residual_max_ns = residual(&w, w.n_res - 1);
        if (q->used != NTFF_CLOCK_FIT && q->uncertainty_ns != UINT64_MAX)
            q->uncertainty_ns =
                residual(&w, (w.n_res - 1) * 9 / 10); /* a single pair is off by its residual */
        q->span_begin_nc_ns = m->epochs[0].begin_nc_ns;
        q->span_end_nc_ns = m->epochs[n - 1].end_nc_ns;
    }
    free(w.points);
    free(w.res);
    return ok;
}

/* One pair tells the distance of the clocks but no drift: the formula is all there is. */
static enum ntff_clock_mode choose_mode(enum ntff_clock_mode mode, const struct ntff_clock_pair *p,
                                        size_t n)
{
    if (mode == NTFF_CLOCK_RECORDED || n == 0)
        return mode == NTFF_CLOCK_RECORDED ? mode : NTFF_CLOCK_DEVICE;
    if (mode != NTFF_CLOCK_AUTO)
        return mode;
    if (n >= 2)
        return NTFF_CLOCK_FIT;
    return p[0].exec_id != NTFF_NO_EXEC ? NTFF_CLOCK_SYNC_POINT : NTFF_CLOCK_NEAREST;
}

enum ntff_status ntff_clock_build(const struct ntff_clock_pair *pairs, size_t n,
                                  enum ntff_clock_mode mode, struct ntff_clock_map **out,
                                  struct ntff_error *err)
{
    *out = NULL;
    if (n > UINT32_MAX / 2) /* segments are numbered in 32 bits, two for a pair at most */
        return ntff_fail(err, NTFF_LIMIT, NTFF_NO_OFFSET, "%zu clock pairs of one core", n);
    struct ntff_clock_map *m = calloc(1, sizeof *m);
    bool ok = m;
    if (ok) {
        m->quality.n_pairs = (uint32_t)n;
        m->quality.used = choose_mode(mode, pairs, n);
        m->quality.uncertainty_ns = m->quality.drift_error_ppb = UINT64_MAX;
        m->n_pairs = n;
    }
    if (ok && n > 0) {
        m->pairs = malloc(n * sizeof *m->pairs);
        ok = m->pairs;
        if (ok) {
            memcpy(m->pairs, pairs, n * sizeof *m->pairs);
            ok = build_epochs(m) && index_by_exec(m);
        }
    }
    if (!ok) {
        ntff_clock_done(m);
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for %zu clock pairs", n);
    }
    *out = m;
    return NTFF_OK;
}

void ntff_clock_done(struct ntff_clock_map *m)
{
    if (!m)
        return;
    free(m->pairs);
    free(m->by_exec);
    free(m->segments);
    free(m);
}

size_t ntff_clock_bytes(const struct ntff_clock_map *m)
{
    return sizeof *m + m->n_pairs * sizeof *m->pairs + m->n_by_exec * sizeof *m->by_exec +
           m->n_segments * sizeof *m->segments;
}

/* -- telling ------------------------------------------------------------------------------------
 */

const struct ntff_clock_quality *ntff_clock_quality(const struct ntff_clock_map *m)
{
    return &m->quality;
}

bool ntff_clock_residual(const struct ntff_clock_map *m, const struct ntff_clock_pair *pair,
                         int64_t *residual_ns)
{
    if (m->n_epochs == 0)
        return false;
    const struct epoch *e = pick_epoch(m, pair->nc_ns, pair->exec_id, pair->cpu_ns);
    uint32_t hint = 0;
    __int128 late = pair->cpu_ns - fit_host(m, e, pair->nc_ns, &hint);
    *residual_ns = late > INT64_MAX ? INT64_MAX : late < INT64_MIN ? INT64_MIN : (int64_t)late;
    return true;
}

static void say_ns(struct ntff_line *l, const char *what, uint64_t ns)
{
    ntff_line_say(l, ", %s ", what);
    ntff_line_ns(l, ns);
}

/* In tenths of a ppm, with how sure it is unless that is surer than they are. */
static void say_drift(struct ntff_line *l, const struct ntff_clock_quality *q)
{
    uint64_t ppb = q->drift_ppb < 0 ? -(uint64_t)q->drift_ppb : (uint64_t)q->drift_ppb;
    uint64_t tenths = (ppb + 50) / 100, error = q->drift_error_ppb / 100;
    ntff_line_say(l, ", drift %c%" PRIu64 ".%" PRIu64, q->drift_ppb < 0 && tenths ? '-' : '+',
                  tenths / 10, tenths % 10);
    if (error > 0 && q->drift_error_ppb != UINT64_MAX)
        ntff_line_say(l, " +-%" PRIu64 ".%" PRIu64, error / 10, error % 10);
    ntff_line_say(l, " ppm%s", q->drift_held ? " (held)" : "");
}

static void say_count(struct ntff_line *l, uint32_t n, const char *one, const char *many)
{
    if (n)
        ntff_line_say(l, ", %" PRIu32 " %s", n, n == 1 ? one : many);
}

void ntff_clock_describe(const struct ntff_clock_map *m, char *out, size_t cap)
{
    static const char *const noise[] = {[NTFF_NOISE_NONE] = "reads exact",
                                        [NTFF_NOISE_LATE] = "reads late",
                                        [NTFF_NOISE_SYMMETRIC] = "reads early and late alike",
                                        [NTFF_NOISE_MIXED] = "reads early and late"};
    const struct ntff_clock_quality *q = &m->quality;
    struct ntff_line l = ntff_line_begin(out, cap);
    if (q->n_pairs == 0) {
        ntff_line_say(&l, "%s, no clock pairs", ntff_clock_mode_name(q->used));
        return;
    }
    ntff_line_say(&l, "%s over %" PRIu32 " pair%s", ntff_clock_mode_name(q->used), q->n_pairs,
                  q->n_pairs == 1 ? "" : "s");
    if (q->n_pairs > 1) {
        say_drift(&l, q);
        ntff_line_say(&l, ", %s", noise[q->noise]);
        say_ns(&l, "residual median", q->residual_median_ns);
        say_ns(&l, "p99", q->residual_p99_ns);
        say_ns(&l, "max", q->residual_max_ns);
        if (q->uncertainty_ns != UINT64_MAX)
            say_ns(&l, "placed within", q->uncertainty_ns);
    }
    say_count(&l, q->n_outliers, "outlier dropped", "outliers dropped");
    say_count(&l, q->n_duplicates, "duplicate dropped", "duplicates dropped");
    say_count(&l, q->n_resets, "reset", "resets");
    say_count(&l, q->n_steps, "step", "steps");
    if (q->n_segments > q->n_resets + q->n_steps + 1)
        say_count(&l, q->n_segments, "segment", "segments");
}
