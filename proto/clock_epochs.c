/* clock_epochs - where a clock was started anew or set, and the pairs before and after.
 *
 * The distance between the two clocks, cpu - nc, creeps by drift and jitters by latency. Two things
 * make it jump and stay there: the device clock begins anew (nc falls while host time goes on), or
 * one clock is set. A pair read late jumps too, but the next pairs are back at the old distance. So
 * a jump counts only if the pairs around it agree on it: most of the next eight must stay at the
 * new distance, measured against the median of the last eight.
 *
 * Resets are looked for in host order: there the device time falls. Late pairs let it fall as well,
 * a little; hence the jump must stand out of the usual scatter, and a jump near the end, with too
 * few pairs after it to agree, must be longer than any host thread is held up. Steps are looked for
 * in device order within what the resets left. Distances are 128-bit: any pair of u64 has one. */
#include "clock_fit.h"

#include <stdlib.h>

enum { WINDOW = 8, SAMPLES = 1024 };
#define RESET_MIN_NS 100000           /* below it, a fall is jitter */
#define RESET_SURE_NS NTFF_NS_PER_SEC /* no latency is that long */
#define STEP_MIN_NS 1000000

static __int128 distance(const struct ntff_clock_pair *p)
{
    return (__int128)p->cpu_ns - p->nc_ns;
}

static int by_cpu(const void *va, const void *vb)
{
    const struct ntff_clock_pair *a = va, *b = vb;
    if (a->cpu_ns != b->cpu_ns)
        return a->cpu_ns < b->cpu_ns ? -1 : 1;
    if (a->nc_ns != b->nc_ns)
        return a->nc_ns < b->nc_ns ? -1 : 1;
    return (a->exec_id > b->exec_id) - (a->exec_id < b->exec_id);
}

static int by_nc(const void *va, const void *vb)
{
    const struct ntff_clock_pair *a = va, *b = vb;
    if (a->nc_ns != b->nc_ns)
        return a->nc_ns < b->nc_ns ? -1 : 1;
    if (a->cpu_ns != b->cpu_ns)
        return a->cpu_ns < b->cpu_ns ? -1 : 1;
    return (a->exec_id > b->exec_id) - (a->exec_id < b->exec_id);
}

/* Distances of up to WINDOW pairs, ascending. */
static size_t sorted_distances(const struct ntff_clock_pair *p, size_t n, __int128 out[WINDOW])
{
    if (n > WINDOW)
        n = WINDOW;
    for (size_t i = 0; i < n; i++) {
        __int128 d = distance(&p[i]);
        size_t at = i;
        for (; at > 0 && out[at - 1] > d; at--)
            out[at] = out[at - 1];
        out[at] = d;
    }
    return n;
}

static int by_value(const void *va, const void *vb)
{
    const uint64_t *a = va, *b = vb;
    return (*a > *b) - (*a < *b);
}

/* How much the distance usually differs from one pair to the next: the median over a sample. */
static uint64_t usual_jump(const struct ntff_clock_pair *p, size_t n)
{
    uint64_t jump[SAMPLES] = {0};
    size_t stride = n / SAMPLES + 1, k = 0;
    for (size_t i = 0; i + 1 < n; i += stride) {
        __int128 d = distance(&p[i + 1]) - distance(&p[i]);
        d = d < 0 ? -d : d;
        jump[k++] = d > UINT64_MAX ? UINT64_MAX : (uint64_t)d;
    }
    qsort(jump, k, sizeof *jump, by_value);
    return k ? jump[k / 2] : 0;
}

static int by_distance(const void *va, const void *vb)
{
    const __int128 *a = va, *b = vb;
    return (*a > *b) - (*a < *b);
}

__int128 ntff_clock_middle(const struct ntff_clock_pair *pairs, size_t n)
{
    __int128 sample[SAMPLES] = {0};
    size_t stride = n / SAMPLES + 1, k = 0;
    for (size_t i = 0; i < n; i += stride)
        if (i == 0 || pairs[i].nc_ns != pairs[i - 1].nc_ns)
            sample[k++] = distance(&pairs[i]);
    qsort(sample, k, sizeof *sample, by_distance);
    return sample[k / 2];
}

/* Does the device clock begin anew at p[i]? p[begin .. i) is the run so far; host order. *halfway =
 * a distance between those before and after. */
static bool resets_at(const struct ntff_clock_pair *p, size_t begin, size_t i, size_t n,
                      __int128 least, __int128 *halfway)
{
    __int128 before[WINDOW] = {0};
    size_t from = i - begin > WINDOW ? i - WINDOW : begin;
    size_t n_before = sorted_distances(p + from, i - from, before);
    __int128 base = before[n_before / 2], jump = distance(&p[i]) - base;
    if (jump <= least)
        return false;
    *halfway = base + jump / 2;
    size_t window = n - i < WINDOW ? n - i : WINDOW, stay = 0;
    for (size_t k = i; k < i + window; k++)
        stay += distance(&p[k]) > *halfway;
    if (window < 3)
        return stay == window && jump > RESET_SURE_NS;
    return stay >= 3 && (window - stay) * 2 < stay;
}

/* Is a clock set between p[i - 1] and p[i]? Device order; both sides must agree within an eighth.
 */
static bool steps_at(const struct ntff_clock_pair *p, size_t i, __int128 least)
{
    __int128 before[WINDOW] = {0}, after[WINDOW] = {0};
    sorted_distances(p + i - WINDOW, WINDOW, before);
    sorted_distances(p + i, WINDOW, after);
    __int128 step = after[WINDOW / 2] - before[WINDOW / 2];
    step = step < 0 ? -step : step;
    /* what a drift of 1000 ppm between the middles of the two sides would do */
    __int128 creep = (p[i + WINDOW / 2].nc_ns - p[i - WINDOW / 2].nc_ns) / 1000;
    if (step <= least || step <= creep)
        return false;
    return before[WINDOW - 2] - before[1] < step / 8 && after[WINDOW - 2] - after[1] < step / 8;
}

/* Cuts the pairs of r, sorted by nc, at its steps; appends to out, at most up to max. */
static size_t split_steps(const struct ntff_clock_pair *pairs, struct ntff_epoch_range r,
                          __int128 least, struct ntff_epoch_range *out, size_t n_out, size_t max)
{
    const struct ntff_clock_pair *p = pairs + r.first;
    size_t begin = 0;
    bool step = r.after_step;
    for (size_t i = WINDOW; i + WINDOW <= r.n && n_out + 1 < max; i++) {
        __int128 jump = distance(&p[i]) - distance(&p[i - 1]);
        if ((jump < 0 ? -jump : jump) <= least / 2 || i - begin < WINDOW || !steps_at(p, i, least))
            continue;
        out[n_out++] = (struct ntff_epoch_range){r.first + begin, i - begin, step};
        begin = i;
        step = true;
    }
    out[n_out++] = (struct ntff_epoch_range){r.first + begin, r.n - begin, step};
    return n_out;
}

/* A run of the device clock while it is being found. */
struct run {
    size_t first, n;
    __int128 halfway;  /* between the distances before and after the reset it begins with */
    uint64_t reset_ns; /* host time of that */
};

/* A pair read before a reset may arrive after it. Gives those at the begin of a run back to the run
 * before; the order inside the runs is lost. */
static void give_back(struct ntff_clock_pair *p, struct run *before, struct run *r)
{
    size_t end = r->first + r->n;
    for (size_t i = r->first; i < end && p[i].cpu_ns - r->reset_ns <= RESET_SURE_NS; i++) {
        if (distance(&p[i]) >= r->halfway)
            continue;
        struct ntff_clock_pair stray = p[i];
        p[i] = p[r->first];
        p[r->first] = stray;
        r->first++, r->n--;
        before->n++;
    }
}

/* Cuts the pairs, sorted by host time, at resets; returns how many runs. */
static size_t split_resets(struct ntff_clock_pair *p, size_t n, __int128 least,
                           struct run run[NTFF_CLOCK_MAX_EPOCHS])
{
    size_t n_run = 1;
    uint64_t top = p[0].nc_ns;
    run[0] = (struct run){.n = n};
    for (size_t i = 1; i < n && n_run < NTFF_CLOCK_MAX_EPOCHS; i++) {
        struct run *r = &run[n_run - 1];
        __int128 halfway;
        if (p[i].nc_ns < top && resets_at(p, r->first, i, n, least, &halfway)) {
            r->n = i - r->first;
            run[n_run++] = (struct run){i, n - i, halfway, p[i].cpu_ns};
            top = 0;
        }
        top = p[i].nc_ns > top ? p[i].nc_ns : top;
    }
    for (size_t k = n_run - 1; k > 0; k--)
        give_back(p, &run[k - 1], &run[k]);
    return n_run;
}

size_t ntff_clock_split(struct ntff_clock_pair *pairs, size_t n,
                        struct ntff_epoch_range out[NTFF_CLOCK_MAX_EPOCHS])
{
    if (n == 0)
        return 0;
    ntff_sort(pairs, n, sizeof *pairs, by_cpu);
    __int128 usual = usual_jump(pairs, n);
    __int128 least = usual * 20 > RESET_MIN_NS ? usual * 20 : RESET_MIN_NS;
    __int128 least_step = usual * 50 > STEP_MIN_NS ? usual * 50 : STEP_MIN_NS;

    struct run run[NTFF_CLOCK_MAX_EPOCHS];
    size_t n_run = split_resets(pairs, n, least, run), n_out = 0;
    for (size_t k = 0; k < n_run; k++) {
        struct ntff_epoch_range r = {run[k].first, run[k].n, false};
        size_t max = NTFF_CLOCK_MAX_EPOCHS - (n_run - k - 1); /* the runs to come have room */
        ntff_sort(pairs + r.first, r.n, sizeof *pairs, by_nc);
        n_out = split_steps(pairs, r, least_step, out, n_out, max);
    }
    return n_out;
}
