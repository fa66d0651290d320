/* align - how far the host clocks of instances are apart, from the collectives they took part in.
 *
 * Per instance the ends of one collective on all its ranks become one end, their median. Two
 * instances are compared by the differences of the ends of the collectives they have in common:
 * their median is the distance of the clocks, and the median distance from it (MAD) tells whether
 * there is one at all.
 *
 * Which collectives are common is not quite certain: execution ids count per process, and a process
 * that ran one execution more before the capture is one ahead for ever. Comparing execution n with
 * n + lag would then find ends that keep a distance, too, if the executions are regular - off by
 * whole steps of the program. So other lags are tried besides 0. Lag 0 is believed if it fits
 * nearly as well as the best one; another lag only if it fits and no third one comes near; else
 * nothing is. */
#include "align.h"
#include "line.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MOST_LAG = 8 };
#define LOOSE_NS 100000   /* ends that differ by more than this do not end together */
#define LOOSEST_NS 500000 /* and however unsure the clocks are, by more than this */
#define CLEARLY 4         /* a fit is clearly better if its spread is that many times smaller */

struct instance {
    struct ntff_align_end *ends; /* one per collective, by op, exec_id */
    size_t n_ends;
    uint32_t n_unclear;
};

struct fit {
    int64_t offset_ns, lag;
    uint64_t spread_ns, uncertainty_ns;
    uint32_t n_common, n_agree;
};

/* -- one end per collective ---------------------------------------------------------------------
 */

static int by_collective(const struct ntff_align_end *a, const struct ntff_align_end *b)
{
    if (a->op != b->op)
        return a->op < b->op ? -1 : 1;
    return (a->exec_id > b->exec_id) - (a->exec_id < b->exec_id);
}

static int by_rank(const void *va, const void *vb)
{
    const struct ntff_align_end *a = va, *b = vb;
    int c = by_collective(a, b);
    if (c == 0)
        c = (a->rank > b->rank) - (a->rank < b->rank);
    return c ? c : (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

static int by_end(const void *va, const void *vb)
{
    const struct ntff_align_end *a = va, *b = vb;
    return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* Copies the ends and leaves one per collective. A collective that a rank has twice is left out:
 * which of the two it is on the other instances cannot be told. */
static bool collect(const struct ntff_align_instance *in, struct instance *out)
{
    *out = (struct instance){0};
    if (in->n_ends == 0)
        return true;
    struct ntff_align_end *e = calloc(in->n_ends, sizeof *e);
    if (!e)
        return false;
    for (size_t i = 0; i < in->n_ends; i++)
        e[i] = in->ends[i];
    qsort(e, in->n_ends, sizeof *e, by_rank);
    for (size_t i = 0, j; i < in->n_ends; i = j) {
        bool twice = false;
        for (j = i + 1; j < in->n_ends && by_collective(&e[j], &e[i]) == 0; j++)
            twice = twice || e[j].rank == e[j - 1].rank;
        if (twice) {
            out->n_unclear += (uint32_t)(j - i);
            continue;
        }
        qsort(e + i, j - i, sizeof *e, by_end);
        e[out->n_ends++] = e[i + (j - i - 1) / 2];
    }
    out->ends = e;
    return true;
}

/* -- two instances ------------------------------------------------------------------------------
 */

static int by_value(const void *va, const void *vb)
{
    const int64_t *a = va, *b = vb;
    return (*a > *b) - (*a < *b);
}

static int64_t difference(uint64_t a, uint64_t b)
{
    uint64_t d = a > b ? a - b : b - a;
    if (d > INT64_MAX)
        d = INT64_MAX;
    return a > b ? (int64_t)d : -(int64_t)d;
}

/* Differences b - a of the ends of common collectives, execution n of a being n + lag of b. */
static size_t differences(const struct instance *a, const struct instance *b, int64_t lag,
                          int64_t *out)
{
    size_t n = 0;
    for (size_t i = 0, j = 0; i < a->n_ends && j < b->n_ends;) {
        struct ntff_align_end there = b->ends[j];
        __int128 exec = (__int128)there.exec_id - lag;
        int c = a->ends[i].op < there.op ? -1
                : a->ends[i].op > there.op
                    ? 1
                    : (a->ends[i].exec_id > exec) - (a->ends[i].exec_id < exec);
        if (c == 0)
            out[n++] = difference(there.end_ns, a->ends[i].end_ns);
        i += c <= 0;
        j += c >= 0;
    }
    return n;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t off(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

static int by_u64(const void *va, const void *vb)
{
    const uint64_t *a = va, *b = vb;
    return (*a > *b) - (*a < *b);
}

static uint64_t root(uint64_t n)
{
    uint64_t r = 0;
    while ((r + 1) * (r + 1) <= n)
        r++;
    return r;
}

/* Median of the differences, and how sure it is. A normal scatter has a standard deviation of 1.48
 * MAD; the median of n such values has a standard error of 1.25 / sqrt(n) of that, and nine in ten
 * are within 1.64 of those: 3 MAD / sqrt(n). */
static struct fit fit_lag(const struct instance *a, const struct instance *b, int64_t lag,
                          int64_t *diff, uint64_t *far)
{
    struct fit f = {.lag = lag};
    size_t n = differences(a, b, lag, diff);
    f.n_common = (uint32_t)n;
    if (n == 0)
        return f;
    qsort(diff, n, sizeof *diff, by_value);
    f.offset_ns = diff[(n - 1) / 2];
    for (size_t i = 0; i < n; i++)
        far[i] = off(diff[i], f.offset_ns);
    qsort(far, n, sizeof *far, by_u64);
    f.spread_ns = far[(n - 1) / 2];
    uint64_t near = f.spread_ns < UINT64_MAX / 8 ? f.spread_ns * 6 + 1000 : UINT64_MAX;
    for (size_t i = 0; i < n && far[i] <= near; i++)
        f.n_agree++;
    f.uncertainty_ns = f.spread_ns / root(n) * 3 + 1;
    return f;
}

static bool fits(const struct fit *f, uint64_t loose_ns)
{
    return f->n_common >= NTFF_ALIGN_LEAST && f->spread_ns <= loose_ns;
}

/* Is a clearly better than b? */
static bool clearly(const struct fit *a, const struct fit *b)
{
    return b->spread_ns / CLEARLY > a->spread_ns;
}

/* The two best fits among the lags other than 0; those with far fewer collectives do not count. */
static void fit_other_lags(const struct instance *a, const struct instance *b, uint32_t n_own,
                           int64_t *diff, uint64_t *far, struct fit *first, struct fit *second)
{
    *first = *second = (struct fit){.spread_ns = UINT64_MAX};
    for (int64_t lag = -MOST_LAG; lag <= MOST_LAG; lag++) {
        struct fit f = {0};
        if (lag != 0)
            f = fit_lag(a, b, lag, diff, far);
        if (f.n_common < NTFF_ALIGN_LEAST || f.n_common < n_own / 2)
            continue;
        if (f.spread_ns < first->spread_ns) {
            *second = *first;
            *first = f;
        } else if (f.spread_ns < second->spread_ns) {
            *second = f;
        }
    }
}

/* Puts b on the clock of a. sure_ns: how sure the ends of both are. */
static struct ntff_align_offset compare(const struct instance *a, const struct instance *b,
                                        uint64_t sure_ns, int64_t *diff, uint64_t *far)
{
    struct fit own = fit_lag(a, b, 0, diff, far), other, third;
    fit_other_lags(a, b, own.n_common, diff, far, &other, &third);
    uint64_t loose_ns = sure_ns < LOOSEST_NS - LOOSE_NS ? LOOSE_NS + sure_ns : LOOSEST_NS;
    bool own_fits = fits(&own, loose_ns), other_fits = fits(&other, loose_ns);
    bool by_number = own_fits && !clearly(&other, &own);
    bool by_lag = !by_number && other_fits;
    struct fit f = by_lag || own.n_common < other.n_common ? other : own;
    if (by_number)
        f = own;
    struct ntff_align_offset o = {.n_common = f.n_common,
                                  .n_agree = f.n_agree,
                                  .spread_ns = f.spread_ns,
                                  .uncertainty_ns = add(f.uncertainty_ns, sure_ns),
                                  .n_unclear = b->n_unclear};
    if (f.n_common < NTFF_ALIGN_LEAST) {
        o.how = NTFF_ALIGN_FEW;
    } else if (!by_number && !by_lag) {
        o.how = NTFF_ALIGN_DISAGREE;
    } else if (by_lag && !clearly(&other, &third)) {
        o.how = NTFF_ALIGN_AMBIGUOUS;
    } else {
        o.how = NTFF_ALIGN_DONE;
        o.offset_ns = -f.offset_ns;
        o.lag = (int32_t)-f.lag;
        o.periodic = by_number && other_fits && !clearly(&own, &other);
    }
    return o;
}

/* -- all of them --------------------------------------------------------------------------------
 */

struct work {
    const struct ntff_align_instance *in;
    struct instance *all;
    size_t n;
    int64_t *diff; /* scratch for the differences and how far they are off */
    uint64_t *far;
    uint32_t *queue; /* instances with an offset, in the order they got it */
};

/* Compares instance b with a, which has an offset. */
static void align_with(const struct work *w, uint32_t a, uint32_t b, struct ntff_align_offset *out)
{
    uint64_t sure_ns = add(w->in[a].placed_within_ns, w->in[b].placed_within_ns);
    struct ntff_align_offset o = compare(&w->all[a], &w->all[b], sure_ns, w->diff, w->far);
    o.via = a;
    if (o.how == NTFF_ALIGN_DONE) {
        if (__builtin_add_overflow(o.offset_ns, out[a].offset_ns, &o.offset_ns))
            return;
        o.uncertainty_ns = add(o.uncertainty_ns, out[a].uncertainty_ns);
        o.lag += out[a].lag;
    }
    /* of several failures the one with most in common is told */
    if (o.how == NTFF_ALIGN_DONE || o.n_common > out[b].n_common)
        out[b] = o;
}

static void align_all(const struct work *w, uint32_t reference, struct ntff_align_offset *out)
{
    size_t n_queue = 1;
    for (size_t i = 0; i < w->n; i++)
        out[i] = (struct ntff_align_offset){
            .how = NTFF_ALIGN_FEW, .via = reference, .n_unclear = w->all[i].n_unclear};
    out[reference].how = NTFF_ALIGN_REFERENCE;
    w->queue[0] = reference;
    for (size_t k = 0; k < n_queue; k++)
        for (uint32_t i = 0; i < w->n; i++) {
            if (out[i].how <= NTFF_ALIGN_DONE)
                continue;
            align_with(w, w->queue[k], i, out);
            if (out[i].how == NTFF_ALIGN_DONE)
                w->queue[n_queue++] = i;
        }
}

enum ntff_status ntff_align(const struct ntff_align_instance *in, size_t n,
                            struct ntff_align_offset *out, struct ntff_error *err)
{
    struct work w = {.in = in, .n = n};
    size_t most = 1, reference = 0;
    w.all = calloc(n + 1, sizeof *w.all);
    w.queue = calloc(n + 1, sizeof *w.queue);
    bool ok = w.all && w.queue;
    for (size_t i = 0; ok && i < n; i++) {
        ok = collect(&in[i], &w.all[i]);
        most = w.all[i].n_ends > most ? w.all[i].n_ends : most;
        reference = w.all[i].n_ends > w.all[reference].n_ends ? i : reference;
    }
    w.diff = calloc(most, sizeof *w.diff);
    w.far = calloc(most, sizeof *w.far);
    ok = ok && w.diff && w.far;
    if (ok && n > 0)
        align_all(&w, (uint32_t)reference, out);
    for (size_t i = 0; w.all && i < n; i++)
        free(w.all[i].ends);
    free(w.all);
    free(w.queue);
    free(w.diff);
    free(w.far);
    if (!ok)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory to align %zu instances", n);
    return NTFF_OK;
}

void ntff_align_describe(const struct ntff_align_offset *o, const char *via, char *out, size_t cap)
{
    struct ntff_line l = ntff_line_begin(out, cap);
    switch (o->how) {
    case NTFF_ALIGN_REFERENCE:
        ntff_line_say(&l, "the clock the others are put on");
        break;
    case NTFF_ALIGN_DONE:
        ntff_line_say(&l, "shifted by %c", o->offset_ns < 0 ? '-' : '+');
        ntff_line_ns(&l, off(o->offset_ns, 0));
        if (o->uncertainty_ns != UINT64_MAX) {
            ntff_line_say(&l, " +-");
            ntff_line_ns(&l, o->uncertainty_ns);
        }
        ntff_line_say(
            &l, ": %" PRIu32 " of %" PRIu32 " common collectives end together with those of %s",
            o->n_agree, o->n_common, via);
        if (o->lag)
            ntff_line_say(&l, " if execution n is n%+" PRId32 " there", o->lag);
        if (o->periodic)
            ntff_line_say(&l, "; a shift by whole executions would fit as well");
        break;
    case NTFF_ALIGN_FEW:
        ntff_line_say(&l,
                      "not synchronised: %" PRIu32 " collectives in common with %s, %d are needed",
                      o->n_common, via, NTFF_ALIGN_LEAST);
        break;
    case NTFF_ALIGN_DISAGREE:
        ntff_line_say(&l,
                      "not synchronised: the ends of %" PRIu32
                      " common collectives are not together "
                      "with those of %s, half of them are off by ",
                      o->n_common, via);
        ntff_line_ns(&l, o->spread_ns);
        break;
    case NTFF_ALIGN_AMBIGUOUS:
        ntff_line_say(&l,
                      "not synchronised: %" PRIu32
                      " collectives keep their distance to those of %s at "
                      "several numbers of executions apart",
                      o->n_common, via);
        break;
    }
}
