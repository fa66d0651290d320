/* lod_counter - the counters of lod.h: samples by track, with a tree of smallest and largest values
 * over them, so that a peak of one sample is seen from any height. */
#include "lod_priv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double tui_sample_value(const struct ntff_trace *t, const struct ntff_sample *s)
{
    if (!t->tracks[s->track].is_double)
        return (double)s->value.i;
    return isfinite(s->value.d) ? s->value.d : 0;
}

static const struct ntff_sample *sample_of(const struct tui_lod *l, uint32_t track, uint32_t i)
{
    return &l->t->samples[l->sample_order[l->first_sample[track] + i]];
}

static void widen(struct tui_samples *n, double lo, double hi)
{
    if (lo < n->lo)
        n->lo = lo;
    if (hi > n->hi)
        n->hi = hi;
}

static const struct tui_samples nothing = {0, INFINITY, -INFINITY};

static void fill(struct tui_lod *l, uint32_t track)
{
    uint32_t n = tui_lod_n_samples(l, track), leaves = (n + TUI_SAMPLES - 1) / TUI_SAMPLES;
    struct tui_samples *node = l->sample_nodes + l->first_sample_node[track];
    for (uint32_t i = 0; i < n; i++) {
        double v = tui_sample_value(l->t, sample_of(l, track, i));
        if (i % TUI_SAMPLES == 0) {
            node[i / TUI_SAMPLES] = nothing;
            node[i / TUI_SAMPLES].ts_ns = sample_of(l, track, i)->ts_ns;
        }
        widen(&node[i / TUI_SAMPLES], v, v);
    }
    for (uint32_t level = leaves; level > 1; level = tui_parents_of(level)) {
        struct tui_samples *up = node + level;
        for (uint32_t i = 0; i < level; i++) {
            if (i % TUI_FAN == 0)
                up[i / TUI_FAN] = nothing;
            widen(&up[i / TUI_FAN], node[i].lo, node[i].hi);
        }
        node = up;
    }
}

/* -- axes -------------------------------------------------------------------------------------- */

struct shared { /* counters of one parent and share_key have one axis */
    uint32_t parent, track;
    ntff_str key;
};

static int by_key(const void *pa, const void *pb)
{
    const struct shared *a = pa, *b = pb;
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->track > b->track) - (a->track < b->track);
}

/* Own axis of a counter: from nothing, or below, to its largest value. */
static struct tui_axis own_axis(const struct tui_lod *l, uint32_t track)
{
    uint32_t leaves = (tui_lod_n_samples(l, track) + TUI_SAMPLES - 1) / TUI_SAMPLES;
    struct tui_samples s = {0, 0, 0};
    if (leaves) {
        const struct tui_samples *top =
            l->sample_nodes + l->first_sample_node[track] + tui_tree_size(leaves) - 1;
        widen(&s, top->lo, top->hi);
    }
    if (l->t->tracks[track].unit == NTFF_UNIT_PERCENT && s.hi <= 100 && s.hi > 1)
        s.hi = 100;
    return (struct tui_axis){s.lo, s.hi};
}

static bool make_axes(struct tui_lod *l)
{
    const struct ntff_trace *t = l->t;
    size_t n = 0;
    struct shared *shared = malloc((t->n_tracks ? t->n_tracks : 1) * sizeof *shared);
    l->axes = malloc((t->n_tracks ? t->n_tracks : 1) * sizeof *l->axes);
    for (uint32_t k = 0; shared && l->axes && k < t->n_tracks; k++) {
        l->axes[k] = own_axis(l, k);
        if (t->tracks[k].share_key)
            shared[n++] = (struct shared){t->tracks[k].parent, k, t->tracks[k].share_key};
    }
    if (n)
        qsort(shared, n, sizeof *shared, by_key);
    for (size_t i = 0, j; i < n; i = j) {
        struct tui_axis all = l->axes[shared[i].track];
        for (j = i; j < n && shared[j].parent == shared[i].parent && shared[j].key == shared[i].key;
             j++) {
            const struct tui_axis *one = &l->axes[shared[j].track];
            all.lo = one->lo < all.lo ? one->lo : all.lo;
            all.hi = one->hi > all.hi ? one->hi : all.hi;
        }
        for (size_t k = i; k < j; k++)
            l->axes[shared[k].track] = all;
    }
    bool good = shared && l->axes;
    free(shared);
    return good;
}

enum ntff_status tui_lod_build_counters(struct tui_lod *l, struct ntff_error *err)
{
    const struct ntff_trace *t = l->t;
    size_t n_nodes = 0;
    l->first_sample = calloc(t->n_tracks + 1, sizeof *l->first_sample);
    l->first_sample_node = calloc(t->n_tracks + 1, sizeof *l->first_sample_node);
    l->sample_order = calloc(t->n_samples ? t->n_samples : 1, sizeof *l->sample_order);
    uint32_t *at = calloc(t->n_tracks + 1, sizeof *at);
    if (!l->first_sample || !l->first_sample_node || !l->sample_order || !at)
        goto nomem;
    for (size_t i = 0; i < t->n_samples; i++)
        l->first_sample[t->samples[i].track + 1]++;
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        uint32_t n = l->first_sample[k + 1];
        l->first_sample[k + 1] += l->first_sample[k];
        at[k] = l->first_sample[k];
        l->first_sample_node[k] = n_nodes;
        n_nodes += tui_tree_size((n + TUI_SAMPLES - 1) / TUI_SAMPLES);
    }
    l->first_sample_node[t->n_tracks] = n_nodes;
    for (size_t i = 0; i < t->n_samples; i++)
        l->sample_order[at[t->samples[i].track]++] = (uint32_t)i;
    l->sample_nodes = calloc(n_nodes ? n_nodes : 1, sizeof *l->sample_nodes);
    if (!l->sample_nodes)
        goto nomem;
    for (uint32_t k = 0; k < t->n_tracks; k++)
        fill(l, k);
    if (!make_axes(l))
        goto nomem;
    l->bytes += t->n_samples * sizeof *l->sample_order + n_nodes * sizeof *l->sample_nodes +
                (t->n_tracks + 1) *
                    (sizeof *l->first_sample + sizeof *l->first_sample_node + sizeof *l->axes);
    free(at);
    return NTFF_OK;
nomem:
    free(at);
    return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the counters");
}

/* First sample of the track at or after t, from a position known not to be after it. */
static uint32_t find_sample(const struct tui_lod *l, uint32_t track, uint32_t from, uint64_t t)
{
    uint32_t n = tui_lod_n_samples(l, track), lo = from / TUI_SAMPLES, step = 1;
    uint32_t leaves = (n + TUI_SAMPLES - 1) / TUI_SAMPLES;
    const struct tui_samples *leaf = l->sample_nodes + l->first_sample_node[track];
    for (uint32_t near = n - from > 4 ? from + 4 : n; from < near; from++)
        if (sample_of(l, track, from)->ts_ns >= t)
            return from;
    while (lo + step < leaves && leaf[lo + step].ts_ns < t) {
        lo += step;
        step *= 2;
    }
    uint32_t hi = lo + step < leaves ? lo + step : leaves;
    while (hi - lo > 1 && hi > lo) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (leaf[mid].ts_ns < t)
            lo = mid;
        else
            hi = mid;
    }
    uint32_t i = lo * TUI_SAMPLES > from ? lo * TUI_SAMPLES : from;
    uint32_t end = n - i > TUI_SAMPLES ? i + TUI_SAMPLES : n;
    while (i < end && sample_of(l, track, i)->ts_ns < t)
        i++;
    return i;
}

static void widen_leaves(const struct tui_lod *l, uint32_t track, uint32_t lo, uint32_t hi,
                         struct tui_samples *out)
{
    uint32_t n = (tui_lod_n_samples(l, track) + TUI_SAMPLES - 1) / TUI_SAMPLES;
    const struct tui_samples *level = l->sample_nodes + l->first_sample_node[track];
    while (lo < hi) {
        for (; lo < hi && lo % TUI_FAN; lo++)
            widen(out, level[lo].lo, level[lo].hi);
        for (; lo < hi && hi % TUI_FAN && hi != n; hi--)
            widen(out, level[hi - 1].lo, level[hi - 1].hi);
        if (hi - lo <= TUI_FAN) {
            for (; lo < hi; lo++)
                widen(out, level[lo].lo, level[lo].hi);
            break;
        }
        level += n;
        n = tui_parents_of(n);
        lo /= TUI_FAN;
        hi = (hi + TUI_FAN - 1) / TUI_FAN;
    }
}

static void widen_samples(const struct tui_lod *l, uint32_t track, uint32_t i, uint32_t j,
                          struct tui_samples *out)
{
    uint32_t b0 = (i + TUI_SAMPLES - 1) / TUI_SAMPLES, b1 = j / TUI_SAMPLES;
    if (b0 < b1) {
        widen_leaves(l, track, b0, b1, out);
        widen_samples(l, track, i, b0 * TUI_SAMPLES, out); /* less than a leaf: no further call */
        i = b1 * TUI_SAMPLES;
    }
    for (; i < j; i++) {
        double v = tui_sample_value(l->t, sample_of(l, track, i));
        widen(out, v, v);
    }
}

/* Values in [from, to), whose samples are [i, j). */
static void range_of(const struct tui_lod *l, uint32_t track, uint64_t from, uint32_t i, uint32_t j,
                     struct tui_range *out)
{
    struct tui_samples s = nothing;
    *out = (struct tui_range){.count = j - i};
    if (j == 0)
        return;
    if (i && (i == j || sample_of(l, track, i)->ts_ns > from)) {
        double v = tui_sample_value(l->t, sample_of(l, track, i - 1));
        widen(&s, v, v);
    }
    widen_samples(l, track, i, j, &s);
    out->lo = s.lo;
    out->hi = s.hi;
    out->last = tui_sample_value(l->t, sample_of(l, track, j - 1));
    out->any = true;
}

void tui_lod_counter(const struct tui_lod *l, uint32_t track, uint64_t from, uint64_t to,
                     struct tui_range *out)
{
    uint32_t i = find_sample(l, track, 0, from);
    range_of(l, track, from, i, find_sample(l, track, i, to), out);
}

void tui_lod_counter_cells(const struct tui_lod *l, uint32_t track, const struct tui_view *v,
                           int x0, int x1, struct tui_range *out)
{
    uint32_t i = find_sample(l, track, 0, tui_view_begin(v, x0));
    for (int x = x0; x < x1; x++) {
        uint64_t from = tui_view_begin(v, x), next = tui_view_begin(v, x + 1);
        range_of(l, track, from, i, find_sample(l, track, i, tui_view_end(v, x)), &out[x - x0]);
        i = find_sample(l, track, i, next);
    }
}

const struct ntff_sample *tui_lod_sample(const struct tui_lod *l, uint32_t track, uint64_t t)
{
    uint32_t i = t == UINT64_MAX ? tui_lod_n_samples(l, track) : find_sample(l, track, 0, t + 1);
    return i ? sample_of(l, track, i - 1) : NULL;
}

void tui_lod_counter_axis(const struct tui_lod *l, uint32_t track, double *lo, double *hi)
{
    *lo = l->axes[track].lo;
    *hi = l->axes[track].hi;
}
