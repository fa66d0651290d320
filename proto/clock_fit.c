/* clock_fit - one smooth line through noisy clock pairs.
 *
 * A host reading is late by a latency: never early, mostly little, now and then much. Where the
 * noise is one-sided like that, the earliest readings are the good ones, and the truth runs along
 * the lower edge of the points, not through their middle. One straight line below all points that
 * is closest to them is an edge of their lower convex hull, the one above the mean x (Moon, Skelly
 * and Towsley, "Estimation and removal of clock skew from network delay measurements", 1999). Four
 * things are added:
 *
 * - Outliers. Points far off a robust trend (Theil-Sen slope, medians of short blocks) are left
 * out.
 * - Noise that is as often early as late would pull the lower edge far off. So the shape of the
 *   scatter decides the level, a quantile: the lower edge for a one-sided scatter (level 0), the
 *   middle for a symmetric one (level 1/2), in between for a doubtful one.
 * - Wander. A crystal's drift changes slowly. The points are cut into K windows, and the line bends
 *   where two windows meet: a knot per window, at the level of the points in it. More windows
 * follow more wander but see more noise, so K is halved, from windows of eight points on, as long
 * as the fit holds: as long as the four quarters of the windows, one after the other, scatter no
 * more than four interleaved subsets of them, which see the same noise but no wander.
 * - Exact points. If some line passes all points within rounding, the one in the middle of all such
 *   lines is taken. If not, but neighbours are as smooth as no noise can be, every point is a knot.
 *
 * Of many points (thousands) the trend and the scatter are taken from a sample, and the bends from
 * one point for each group of neighbours, at the level of the group. What may be exact, and what is
 * an outlier, is asked of every point.
 */
#include "clock_fit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 16,        /* points per block of the rough trend */
    LEAST = 8,         /* points per window; fewer than that are neither judged nor rejected */
    TREND_POINTS = 64, /* of the Theil-Sen slope */
    MANY = 2048,       /* more points than these are thinned out to as many, */
    MOST_THINNED = 16  /* or to a sixteenth if that is more */
};
#define FREE_DRIFT 1e-4 /* a drift the points do not determine is held to this */
#define MOST_DRIFT 0.25 /* and no drift goes beyond this */
#define EXACT_NS 2.0    /* both readings rounded to the ns */
#define OUTLIER_NS 1000 /* closer than this nothing is an outlier */

struct fit {
    struct ntff_fit_point *p;
    size_t n;
    double *res, *tmp; /* n each */
    uint32_t *lower, *upper;
    size_t n_lower, n_upper;
    double at0, slope;          /* the straight line */
    double least, most;         /* limits of its slope */
    struct ntff_fit_node *knot; /* the bends, over the straight line */
    size_t n_knots;
    struct fit *few; /* where trend, scatter and bends are worked out: a thinned fit, or itself */
};

/* -- order statistics ---------------------------------------------------------------------------
 */

static int by_double(const void *va, const void *vb)
{
    const double *a = va, *b = vb;
    return (*a > *b) - (*a < *b);
}

/* Moves what is smaller than the pivot (or equal, if so asked) before the rest of v[lo .. hi);
 * returns where the rest begins. No branch depends on the values: they are noise, and half of such
 * branches would be guessed wrong. */
static size_t partition(double *v, size_t lo, size_t hi, double pivot, bool or_equal)
{
    size_t to = lo;
    for (size_t i = lo; i < hi; i++) {
        double x = v[i];
        v[i] = v[to];
        v[to] = x;
        to += (size_t)((x < pivot) | (or_equal & (x == pivot)));
    }
    return to;
}

/* Moves the k-th smallest of v[0 .. n) to v[k], none larger before it, none smaller after it.
 * Quickselect; a run of bad pivots ends in a sort. */
void ntff_fit_select(double *v, size_t n, size_t k)
{
    uint32_t seed = 0x9e3779b9u ^ (uint32_t)n;
    size_t lo = 0, hi = n;
    for (int round = 0; hi - lo > 1; round++) {
        if (round == 96) {
            qsort(v + lo, hi - lo, sizeof *v, by_double);
            return;
        }
        seed = seed * 1664525u + 1013904223u;
        double pivot = v[lo + (seed >> 8) % (hi - lo)];
        size_t at = partition(v, lo, hi, pivot, false);
        if (at == lo) { /* the pivot is the smallest: settle all of its kind */
            at = partition(v, lo, hi, pivot, true);
            if (k < at)
                return;
        }
        *(k < at ? &hi : &lo) = at;
    }
}

static double min_of(const double *v, size_t n)
{
    double least = v[0];
    for (size_t i = 1; i < n; i++)
        least = v[i] < least ? v[i] : least;
    return least;
}

/* Quantile of v[0 .. n), n >= 1, interpolated; changes the order. */
static double quantile(double *v, size_t n, double level)
{
    double at = level * (double)(n - 1);
    size_t k = (size_t)at;
    if (k == 0 && at == 0)
        return min_of(v, n);
    ntff_fit_select(v, n, k);
    if (k + 1 >= n)
        return v[k];
    return v[k] + (at - (double)k) * (min_of(v + k + 1, n - k - 1) - v[k]);
}

/* -- the line and its bends ---------------------------------------------------------------------
 */

static double apart(uint64_t x, uint64_t from)
{
    return x >= from ? (double)(x - from) : -(double)(from - x);
}

static double span(const struct fit *f)
{
    return (double)(f->p[f->n - 1].x_ns - f->p[0].x_ns);
}

static double slope_between(const struct ntff_fit_node *a, const struct ntff_fit_node *b)
{
    return (b->y_ns - a->y_ns) / (double)(b->x_ns - a->x_ns);
}

/* Walks along the bends with ascending x; start with {0}. */
struct bends {
    size_t k; /* behind the knot in use; 0 = not begun */
    double slope;
};

/* Height of the bends at x. */
static inline double bent(const struct fit *f, uint64_t x, struct bends *b)
{
    if (f->n_knots < 2)
        return f->n_knots ? f->knot[0].y_ns : 0;
    while (b->k == 0 || (b->k + 1 < f->n_knots && f->knot[b->k].x_ns <= x)) {
        b->slope = slope_between(&f->knot[b->k], &f->knot[b->k + 1]);
        b->k++;
    }
    const struct ntff_fit_node *a = &f->knot[b->k - 1];
    return a->y_ns + b->slope * apart(x, a->x_ns);
}

/* res = how far the points lie above line and bends. */
static void measure(struct fit *f)
{
    struct bends b = {0};
    for (size_t i = 0; i < f->n; i++) {
        uint64_t x = f->p[i].x_ns;
        f->res[i] =
            (double)f->p[i].y_ns - (f->at0 + f->slope * apart(x, f->p[0].x_ns)) - bent(f, x, &b);
    }
}

static size_t window_begin(const struct fit *f, size_t n_windows, size_t w)
{
    return (size_t)((unsigned __int128)f->n * w / n_windows);
}

static uint64_t mean_x(const struct ntff_fit_point *p, size_t n)
{
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += p[i].x_ns;
    return n ? (uint64_t)(sum / n) : 0;
}

/* A knot for each of n windows, at the level of its points. The points of a window are level only
 * once the bends are right, hence three rounds; a single knot bends nothing. */
static void bend(struct fit *f, size_t n_windows, double level)
{
    for (size_t w = 0; w < n_windows; w++) {
        size_t from = window_begin(f, n_windows, w), to = window_begin(f, n_windows, w + 1);
        f->knot[w] = (struct ntff_fit_node){mean_x(f->p + from, to - from), 0};
    }
    f->n_knots = n_windows;
    for (int round = n_windows == 1 ? 2 : 0; round < 3; round++) {
        measure(f);
        for (size_t w = 0; w < n_windows; w++) {
            size_t from = window_begin(f, n_windows, w), to = window_begin(f, n_windows, w + 1);
            f->knot[w].y_ns += quantile(f->res + from, to - from, level);
        }
    }
}

/* -- the rough trend ----------------------------------------------------------------------------
 */

/* Theil-Sen: the median slope between any two of at most TREND_POINTS medians. */
static double median_slope(struct fit *f)
{
    struct ntff_fit_node at[TREND_POINTS];
    double slopes[TREND_POINTS * (TREND_POINTS - 1) / 2];
    size_t n = f->n < TREND_POINTS ? f->n : TREND_POINTS, n_slopes = 0;
    for (size_t w = 0; w < n; w++) {
        size_t from = window_begin(f, n, w), to = window_begin(f, n, w + 1);
        for (size_t i = from; i < to; i++)
            f->tmp[i - from] = (double)f->p[i].y_ns;
        at[w] = (struct ntff_fit_node){f->p[from + (to - from) / 2].x_ns,
                                       quantile(f->tmp, to - from, 0.5)};
        for (size_t k = 0; k < w; k++)
            slopes[n_slopes++] = slope_between(&at[k], &at[w]);
    }
    return n_slopes ? quantile(slopes, n_slopes, 0.5) : 0;
}

/* Width of the middle half of res. */
static double middle_half(struct fit *f)
{
    memcpy(f->tmp, f->res, f->n * sizeof *f->tmp);
    double low = quantile(f->tmp, f->n, 0.25);
    return quantile(f->tmp, f->n, 0.75) - low;
}

/* Straight robust line, bent through medians of blocks if that narrows the scatter by much; res is
 * left with the scatter. */
static void rough_trend(struct fit *f)
{
    f->at0 = 0;
    f->slope = median_slope(f);
    size_t blocks = f->n / BLOCK ? f->n / BLOCK : 1;
    bend(f, blocks, 0.5);
    measure(f);
    if (blocks == 1)
        return;
    double bent_half = middle_half(f);
    bend(f, 1, 0.5);
    measure(f);
    if (middle_half(f) > 1.25 * bent_half) {
        bend(f, blocks, 0.5);
        measure(f);
    }
}

/* -- many points --------------------------------------------------------------------------------
 */

/* A few of all points, evenly. */
static void sample(struct fit *f, size_t n_few)
{
    struct fit *few = f->few;
    if (few == f)
        return;
    few->n = n_few < f->n ? n_few : f->n;
    for (size_t i = 0; i < few->n; i++)
        few->p[i] = f->p[window_begin(f, few->n, i)];
}

/* How far all points lie above the trend of the few. */
static void measure_all(struct fit *f)
{
    const struct fit *few = f->few;
    if (few == f)
        return;
    f->at0 = few->at0; /* both begin with the same point */
    f->slope = few->slope;
    f->knot = few->knot;
    f->n_knots = few->n_knots;
    measure(f);
}

/* One point for each group of neighbours: in its middle, at its level over the trend. */
static void thin(struct fit *f, double level, size_t n_few)
{
    struct fit *few = f->few;
    struct bends b = {0};
    few->n = n_few < f->n ? n_few : f->n;
    for (size_t g = 0; g < few->n; g++) {
        size_t from = window_begin(f, few->n, g), to = window_begin(f, few->n, g + 1);
        uint64_t x = mean_x(f->p + from, to - from);
        double line = f->at0 + f->slope * apart(x, f->p[0].x_ns) + bent(f, x, &b);
        few->p[g] =
            (struct ntff_fit_point){x, llround(line + quantile(f->res + from, to - from, level))};
    }
}

/* Leaves out what is ten times further off than the middle half of the points is wide. True if
 * anything is. */
static bool reject(struct fit *f)
{
    size_t before = f->n;
    double wide = middle_half(f->few) * 10, mid = quantile(f->few->tmp, f->few->n, 0.5);
    wide = wide > OUTLIER_NS ? wide : OUTLIER_NS;
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        if (fabs(f->res[i] - mid) <= wide)
            f->p[n++] = f->p[i];
    f->n = n; /* at least half of them */
    return n < before;
}

/* Where in the scatter the truth runs: 0 = lower edge, 1/2 = middle. Latency has a short lower and
 * a long upper tail (exponential: 3.6 times as long, between the 5 % and 95 % quantiles); symmetric
 * noise has equal ones. Few points cannot tell: they are taken for late. */
static double choose_level(struct fit *f)
{
    if (f->n < 12)
        return 0;
    memcpy(f->tmp, f->res, f->n * sizeof *f->tmp);
    double low = quantile(f->tmp, f->n, 0.05), mid = quantile(f->tmp, f->n, 0.5);
    double high = quantile(f->tmp, f->n, 0.95);
    double symmetric = 1.35 - 2.5 / sqrt((double)f->n), late = symmetric + 0.6;
    double ratio = mid > low ? (high - mid) / (mid - low) : late;
    if (ratio >= late)
        return 0;
    return ratio <= symmetric ? 0.5 : 0.5 * (late - ratio) / (late - symmetric);
}

/* A drift beyond FREE_DRIFT is believed only if it stands out of the scatter. */
static void limit_slope(struct fit *f)
{
    double middle = 0;
    if (f->n >= 3 && fabs(f->slope) > FREE_DRIFT) {
        double doubt = f->n < LEAST ? 500 : 16; /* few may lie straight by chance */
        double sure = doubt * middle_half(f) / (sqrt((double)f->n) * span(f));
        if (fabs(f->slope) > sure)
            middle = fmax(-MOST_DRIFT, fmin(MOST_DRIFT, f->slope));
    }
    f->least = middle - FREE_DRIFT;
    f->most = middle + FREE_DRIFT;
}

/* -- convex hulls -------------------------------------------------------------------------------
 */

/* Which side of the line a..b the point c is on: > 0 above. Exact: |x| < 2^64, |y| < 2^62. */
static __int128 side(const struct ntff_fit_point *a, const struct ntff_fit_point *b,
                     const struct ntff_fit_point *c)
{
    return (__int128)(b->x_ns - a->x_ns) * (c->y_ns - a->y_ns) -
           (__int128)(c->x_ns - a->x_ns) * (b->y_ns - a->y_ns);
}

/* Indices of one hull, left to right; sign 1 = lower, -1 = upper. */
static size_t hull(const struct fit *f, int sign, uint32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++) {
        while (n >= 2) {
            __int128 s = side(&f->p[out[n - 2]], &f->p[i], &f->p[out[n - 1]]);
            if (sign > 0 ? s < 0 : s > 0)
                break;
            n--;
        }
        out[n++] = (uint32_t)i;
    }
    return n;
}

static double edge_slope(const struct fit *f, const uint32_t *edge)
{
    const struct ntff_fit_point *a = &f->p[edge[0]], *b = &f->p[edge[1]];
    return (double)(b->y_ns - a->y_ns) / (double)(b->x_ns - a->x_ns);
}

/* How far c lies above the edge. */
static double above_edge(const struct fit *f, const uint32_t *edge, uint32_t c)
{
    const struct ntff_fit_point *a = &f->p[edge[0]], *b = &f->p[edge[1]];
    return (double)side(a, b, &f->p[c]) / (double)(b->x_ns - a->x_ns);
}

/* Sets the line through the edge, raised. */
static void line_on_edge(struct fit *f, const uint32_t *edge, double raised)
{
    f->slope = edge_slope(f, edge);
    f->at0 =
        (double)f->p[edge[0]].y_ns - f->slope * apart(f->p[edge[0]].x_ns, f->p[0].x_ns) + raised;
}

/* The line in the middle of the narrowest strip that holds all points; its width. A narrowest strip
 * lies along an edge of one hull and touches the other in a vertex. As the edges of the lower hull
 * turn upwards, the furthest vertex of the upper one moves from its right end to the left; likewise
 * for the edges of the upper hull, right to left. */
static double narrowest_strip(struct fit *f)
{
    double best = INFINITY, raised = 0;
    const uint32_t *on = f->lower;
    const struct {
        const uint32_t *edges, *others;
        size_t n, m;
    } hulls[2] = {{f->lower, f->upper, f->n_lower, f->n_upper},
                  {f->upper, f->lower, f->n_upper, f->n_lower}};
    for (int h = 0; h < 2; h++) {
        size_t v = hulls[h].m - 1;
        for (size_t e = 0; e + 1 < hulls[h].n; e++) {
            const uint32_t *edge = hulls[h].edges + e;
            double wide = fabs(above_edge(f, edge, hulls[h].others[v]));
            for (; v > 0; v--) {
                double next = fabs(above_edge(f, edge, hulls[h].others[v - 1]));
                if (next < wide)
                    break;
                wide = next;
            }
            if (wide < best) {
                best = wide;
                on = edge;
                raised = h == 0 ? wide / 2 : -wide / 2;
            }
        }
    }
    line_on_edge(f, on, raised);
    return best;
}

/* The line below all points that is closest to them on average. */
static void lowest_line(struct fit *f)
{
    uint64_t mean = mean_x(f->p, f->n);
    size_t e = 0;
    while (e + 2 < f->n_lower && f->p[f->lower[e + 1]].x_ns <= mean)
        e++;
    line_on_edge(f, f->lower + e, 0);
}

/* -- putting it together ------------------------------------------------------------------------
 */

/* Holds the slope to its limits and puts the line at the level of the points. */
static bool settle_line(struct fit *f, double level)
{
    double free_slope = f->slope;
    f->slope = fmax(f->least, fmin(f->most, f->slope));
    f->n_knots = 0;
    measure(f);
    f->at0 += quantile(f->res, f->n, level);
    return f->slope != free_slope;
}

/* May the line bend that much? The drift stays within FREE_DRIFT of its limits. */
static bool plausible(const struct fit *f, double slope)
{
    return slope >= f->least - FREE_DRIFT && slope <= f->most + FREE_DRIFT;
}

/* Is y a smooth curve? What each point is off the line between its neighbours has the same sign
 * from point to point along a curve, and changes it with noise (correlation -2/3). */
static bool smooth(const struct fit *f)
{
    double before = 0, same = 0, all = 0;
    for (size_t i = 0; i + 1 < f->n; i++) {
        uint32_t edge[2] = {(uint32_t)i, (uint32_t)i + 1};
        if (!plausible(f, edge_slope(f, edge)))
            return false;
    }
    for (size_t i = 1; i + 1 < f->n; i++) {
        const struct ntff_fit_point *a = &f->p[i - 1], *b = a + 1, *c = a + 2;
        double off = (double)side(a, c, b) / (double)(c->x_ns - a->x_ns);
        same += before * off;
        all += off * off;
        before = off;
    }
    return f->n >= LEAST && same > 0.3 * all;
}

/* Mean over the windows of how much four parts of a window differ: parts are its quarters, or
 * (mixed) every fourth point. */
static double parts_differ(struct fit *f, size_t n_windows, double level, bool mixed)
{
    double sum = 0;
    for (size_t w = 0; w < n_windows; w++) {
        size_t from = window_begin(f, n_windows, w), n = window_begin(f, n_windows, w + 1) - from;
        double low = INFINITY, high = -INFINITY;
        for (size_t q = 0; q < 4; q++) {
            size_t len = 0;
            if (mixed)
                for (size_t i = q; i < n; i += 4)
                    f->tmp[len++] = f->res[from + i];
            else
                for (size_t i = n * q / 4; i < n * (q + 1) / 4; i++)
                    f->tmp[len++] = f->res[from + i];
            double at = quantile(f->tmp, len, level);
            low = fmin(low, at);
            high = fmax(high, at);
        }
        sum += high - low;
    }
    return sum / (double)n_windows;
}

static bool all_plausible(const struct fit *f)
{
    for (size_t k = 0; k + 1 < f->n_knots; k++)
        if (!plausible(f, f->slope + slope_between(&f->knot[k], &f->knot[k + 1])))
            return false;
    return true;
}

/* Bends the line as much as the points ask for; returns the standard error of a knot. */
static double bend_as_needed(struct fit *f, double level)
{
    size_t best = 1;
    double noise = 0, best_noise = 0;
    bool have = false;
    for (size_t k = f->n / LEAST; k >= 1; k /= 2) {
        bend(f, k, level);
        measure(f);
        double mixed = parts_differ(f, k, level, true);
        noise = fmax(mixed, noise / 2); /* twice the points at least halve it */
        double quarters = parts_differ(f, k, level, false);
        bool holds = quarters <= noise * (1.1 + 1.2 / sqrt((double)k));
        if (have && !holds)
            break;
        if (all_plausible(f)) {
            best = k;
            best_noise = fmax(noise, quarters);
            have = true;
        }
    }
    bend(f, best, level);
    /* Four parts differ by about twice their standard error, and a window has four times their
     * points; between knots and at the ends a line misses a curve by part of its second difference.
     */
    double curve = 0;
    for (size_t k = 1; k + 1 < best; k++)
        curve += fabs(f->knot[k - 1].y_ns - 2 * f->knot[k].y_ns + f->knot[k + 1].y_ns);
    return best_noise / (level == 0 ? 4 : 2) + (best > 2 ? curve / (double)(best - 2) / 4 : 0);
}

/* Writes line and bends as nodes from the first point to the last. */
static bool write_nodes(const struct fit *f, const struct fit *line, bool every_point,
                        struct ntff_fit *out)
{
    size_t inner = line->n_knots > 2 ? line->n_knots - 2 : 0;
    size_t n = f->n == 1 ? 1 : every_point ? f->n : inner + 2;
    struct ntff_fit_node *node = calloc(n, sizeof *node);
    if (!node)
        return false;
    if (every_point) {
        for (size_t i = 0; i < n; i++)
            node[i] = (struct ntff_fit_node){f->p[i].x_ns, (double)f->p[i].y_ns};
    } else {
        struct bends b = {0};
        for (size_t i = 0; i < n; i++) {
            uint64_t x = i == 0       ? f->p[0].x_ns
                         : i == n - 1 ? f->p[f->n - 1].x_ns
                                      : line->knot[i].x_ns;
            double y = line->at0 + line->slope * apart(x, line->p[0].x_ns);
            node[i] = (struct ntff_fit_node){x, y + bent(line, x, &b)};
        }
    }
    *out = (struct ntff_fit){.nodes = node, .n_nodes = n, .n_kept = f->n, .slope = line->slope};
    return true;
}

/* The line through points that are not exact, at a level of their scatter; returns the standard
 * error of a knot. */
static double fit_noisy(struct fit *f, double level, size_t n_few, bool *held, bool *every_point)
{
    struct fit *few = f->few;
    double slope = few->slope, error = NTFF_FIT_UNKNOWN;
    if (few != f) {
        measure_all(f);
        thin(f, level, n_few);
        level = level > 0 ? 0.5 : 0; /* the points are at that level already */
        few->n_lower = hull(few, 1, few->lower);
    }
    few->n_knots = 0;
    few->slope = slope;
    few->at0 = 0;
    if (level == 0)
        lowest_line(few);
    *held = settle_line(few, level);
    *every_point = smooth(f);
    if (!*every_point && few->n >= LEAST)
        error = bend_as_needed(few, level);
    return error;
}

/* n_few: how many points the few may be. trend: it is known already. */
static bool fit_kept(struct fit *f, size_t n_few, bool trend, struct ntff_fit *out)
{
    struct fit *few = f->few;
    double error = NTFF_FIT_UNKNOWN;
    bool held = false, every_point = false;
    if (f->n == 1) {
        f->at0 = (double)f->p[0].y_ns;
        f->slope = 0;
        f->n_knots = 0;
        if (!write_nodes(f, f, false, out))
            return false;
        out->noise = NTFF_NOISE_LATE;
        out->uncertainty_ns = NTFF_FIT_UNKNOWN;
        return true;
    }
    if (!trend) {
        sample(f, n_few);
        rough_trend(few);
    }
    limit_slope(few);
    double level = choose_level(few), rough = few->slope;
    f->least = few->least;
    f->most = few->most;
    f->n_lower = hull(f, 1, f->lower);
    f->n_upper = hull(f, -1, f->upper);
    bool exact =
        f->n >= 3 && narrowest_strip(f) <= EXACT_NS && f->slope >= f->least && f->slope <= f->most;
    if (exact) {
        f->n_knots = 0;
    } else {
        few->slope = rough;
        error = fit_noisy(f, level, n_few, &held, &every_point);
    }
    if (!write_nodes(f, exact ? f : few, every_point, out))
        return false;
    out->noise = exact || every_point ? NTFF_NOISE_NONE
                 : level == 0         ? NTFF_NOISE_LATE
                 : level < 0.5        ? NTFF_NOISE_MIXED
                                      : NTFF_NOISE_SYMMETRIC;
    out->uncertainty_ns = exact || every_point ? 0 : error;
    out->held = held;
    return true;
}

/* Room for n points; the bends are kept where they are worked out. */
static bool take_room(struct fit *f, size_t n)
{
    f->res = calloc(n, sizeof *f->res);
    f->tmp = calloc(n, sizeof *f->tmp);
    f->lower = calloc(n, sizeof *f->lower);
    f->upper = calloc(n, sizeof *f->upper);
    if (f->few == f)
        f->knot = calloc(n / LEAST + 1, sizeof *f->knot);
    return f->res && f->tmp && f->lower && f->upper && (f->knot || f->few != f);
}

static void free_room(struct fit *f)
{
    free(f->res);
    free(f->tmp);
    free(f->lower);
    free(f->upper);
    if (f->few == f)
        free(f->knot);
}

bool ntff_fit_points(struct ntff_fit_point *p, size_t n, struct ntff_fit *out)
{
    size_t n_few = n / MOST_THINNED > MANY ? n / MOST_THINNED : MANY;
    struct fit f = {.p = p, .n = n}, few = {.few = &few};
    f.few = n > n_few ? &few : &f;
    bool ok = take_room(&f, n), trend = false;
    if (ok && f.few == &few) {
        few.p = calloc(n_few, sizeof *few.p);
        ok = few.p && take_room(&few, n_few);
    }
    if (ok && n >= LEAST) {
        sample(&f, n_few);
        rough_trend(f.few);
        measure_all(&f);
        trend = !reject(&f);
    }
    ok = ok && fit_kept(&f, n_few, trend, out);
    free_room(&f);
    free_room(&few);
    free(few.p);
    return ok;
}
