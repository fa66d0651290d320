/* twins - see twins.h. Files are sorted by kind, length and a hash of a few samples of their bytes;
 * those that agree in all of it lie side by side and are compared in full, each with the last few
 * before it. So files that differ cost three pages, copies one walk, and what is made to look alike
 * no more than the number of neighbours times its length. Holes of sparse files cost nothing. */
#include "proto/twins.h"

#include <string.h>

enum { SAMPLE = 512, NEIGHBOURS = 4, TINY = 64 };

static uint64_t hashed(uint64_t h, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

/* Of the begin, the middle and the end. */
static uint64_t sampled(const struct ntff_input *in)
{
    size_t n = in->len < SAMPLE ? (size_t)in->len : SAMPLE;
    uint64_t h = hashed(UINT64_C(0xcbf29ce484222325), in->data, n);
    h = hashed(h, in->data + (in->len - n) / 2, n);
    return hashed(h, in->data + in->len - n, n);
}

bool ntff_twins_add(struct ntff_twins *t, struct ntff_budget *budget, const struct ntff_input *in,
                    uint8_t kind)
{
    if (in->len < TINY)
        return true;
    struct ntff_twin *x = NTFF_VEC_PUSH(budget, &t->files);
    if (!x)
        return false;
    *x = (struct ntff_twin){.in = in, .kind = kind, .at = t->files.n, .key = sampled(in)};
    return true;
}

static int compare(const struct ntff_twin *a, const struct ntff_twin *b)
{
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->in->len != b->in->len)
        return a->in->len < b->in->len ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

static int twin_cmp(const void *pa, const void *pb)
{
    const struct ntff_twin *a = pa, *b = pb;
    int order = compare(a, b);
    return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

/* Bytes that are stored in neither are zeros in both. */
static bool same_bytes(const struct ntff_input *a, const struct ntff_input *b)
{
    uint64_t begin_a, end_a, begin_b, end_b;
    for (uint64_t pos = 0; pos < a->len;) {
        bool in_a = ntff_input_stored(a, pos, &begin_a, &end_a),
             in_b = ntff_input_stored(b, pos, &begin_b, &end_b);
        if (!in_a && !in_b)
            return true;
        bool first = in_a && (!in_b || begin_a <= begin_b);
        uint64_t begin = first ? begin_a : begin_b, end = first ? end_a : end_b;
        if (memcmp(a->data + begin, b->data + begin, (size_t)(end - begin)) != 0)
            return false;
        pos = end;
    }
    return true;
}

void ntff_twins_tell(struct ntff_twins *t, struct ntff_diag *diag)
{
    struct ntff_twin *v = t->files.v;
    if (t->files.n < 2)
        return;
    ntff_sort(v, t->files.n, sizeof *v, twin_cmp);
    for (size_t i = 1; i < t->files.n; i++)
        for (size_t k = i; k > 0 && i - k < NEIGHBOURS && compare(&v[k - 1], &v[i]) == 0; k--)
            if (same_bytes(v[i].in, v[k - 1].in)) {
                ntff_diag_add(diag, NTFF_DIAG_SAME_BYTES, 1, v[i].in->path, NTFF_NO_OFFSET,
                              "as %.150s", v[k - 1].in->path);
                break;
            }
}
