/* tree - tracks in their final order: parents before children, siblings by rank, and only those
 * that hold something. */
#include "proto/builder.h"

#include <stdlib.h>
#include <string.h>

struct tree {
    struct ntff_builder *b;
    uint32_t *used;   /* events and samples of a track, then its subtree */
    uint32_t *sorted; /* tracks by (parent, rank, tid, name) */
    uint32_t *number; /* old -> new */
};

static int track_cmp(const void *pa, const void *pb, void *user)
{
    const struct ntff_builder *b = user;
    uint32_t i = *(const uint32_t *)pa, j = *(const uint32_t *)pb;
    const struct ntff_track *x = &b->tracks.v[i], *y = &b->tracks.v[j];
    if (x->parent != y->parent)
        return x->parent + 1 < y->parent + 1 ? -1 : 1; /* roots (NTFF_NONE) first */
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->tid != y->tid)
        return x->tid < y->tid ? -1 : 1;
    int c = strverscmp(ntff_text(&b->t->strs, x->name), ntff_text(&b->t->strs, y->name));
    return c ? c : i < j ? -1 : 1;
}

/* First position in sorted whose parent is p or later. */
static size_t children_of(const struct tree *t, uint32_t p)
{
    size_t lo = 0, hi = t->b->tracks.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (t->b->tracks.v[t->sorted[mid]].parent + 1 < p + 1)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Numbers the used tracks depth first, so that a parent comes before its children and siblings
 * stand in their order. The tree is as deep as our own layout: a few levels. */
static uint32_t number_tracks(struct tree *t, uint32_t parent, uint32_t next,
                              struct ntff_track *out)
{
    const struct ntff_track *v = t->b->tracks.v;
    for (size_t i = children_of(t, parent); i < t->b->tracks.n && v[t->sorted[i]].parent == parent;
         i++) {
        uint32_t old = t->sorted[i];
        if (!t->used[old])
            continue;
        t->number[old] = next;
        out[next] = v[old];
        out[next].parent = parent == NTFF_NONE ? NTFF_NONE : t->number[parent];
        next = number_tracks(t, old, next + 1, out);
    }
    return next;
}

bool ntff_build_tree(struct ntff_builder *b)
{
    size_t n = b->tracks.n;
    struct tree t = {b, ntff_build_take(b, n, 4), ntff_build_take(b, n, 4),
                     ntff_build_take(b, n, 4)};
    struct ntff_track *out = ntff_build_take(b, n, sizeof *out);
    bool good = t.used && t.sorted && t.number && out;
    for (size_t i = 0; good && i < b->events.n; i++)
        t.used[b->events.v[i].track] |= 1;
    for (size_t i = 0; good && i < b->samples.n; i++)
        t.used[b->samples.v[i].track] |= 1;
    for (size_t i = 0; good && i < n; i++)
        t.sorted[i] = (uint32_t)i;
    for (size_t i = n; good && i-- > 0;) /* a parent is always older than its child */
        if (t.used[i] && b->tracks.v[i].parent != NTFF_NONE)
            t.used[b->tracks.v[i].parent] = 1;
    if (good) {
        qsort_r(t.sorted, n, sizeof *t.sorted, track_cmp, b);
        uint32_t kept = number_tracks(&t, NTFF_NONE, 0, out);
        for (size_t i = 0; i < b->events.n; i++)
            b->events.v[i].track = t.number[b->events.v[i].track];
        for (size_t i = 0; i < b->samples.n; i++)
            b->samples.v[i].track = t.number[b->samples.v[i].track];
        if (kept > 0)
            memcpy(b->tracks.v, out, kept * sizeof *out);
        b->tracks.n = kept;
    }
    ntff_build_give(b, out, n, sizeof *out);
    ntff_build_give(b, t.used, n, 4);
    ntff_build_give(b, t.sorted, n, 4);
    ntff_build_give(b, t.number, n, 4);
    return good;
}
