/* sort - least significant digit first, over the bits in which the keys differ from the smallest.
 */
#include "proto/sort.h"

#include <stdlib.h>
#include <string.h>

#define RADIX_BITS 11
#define RADIX (1u << RADIX_BITS)

static void one_pass(const struct ntff_sort_item *from, struct ntff_sort_item *to, size_t n,
                     uint64_t base, unsigned shift)
{
    size_t count[RADIX] = {0}, sum = 0;
    for (size_t i = 0; i < n; i++)
        count[(from[i].key - base) >> shift & (RADIX - 1)]++;
    for (size_t d = 0; d < RADIX; d++) {
        size_t c = count[d];
        count[d] = sum;
        sum += c;
    }
    for (size_t i = 0; i < n; i++)
        to[count[(from[i].key - base) >> shift & (RADIX - 1)]++] = from[i];
}

static bool in_order(const struct ntff_sort_item *a, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (a[i].key < a[i - 1].key)
            return false;
    return true;
}

/* Fewer than it is worth counting digits for. */
enum { FEW = 48 };

static void sort_few(struct ntff_sort_item *a, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct ntff_sort_item x = a[i];
        size_t to = i;
        for (; to > 0 && a[to - 1].key > x.key; to--)
            a[to] = a[to - 1];
        a[to] = x;
    }
}

void ntff_sort_with(struct ntff_sort_item *a, struct ntff_sort_item *tmp, size_t n)
{
    uint64_t low = UINT64_MAX, high = 0;
    struct ntff_sort_item *from = a, *to = tmp;
    if (n < FEW) {
        sort_few(a, n);
        return;
    }
    if (in_order(a, n))
        return;
    for (size_t i = 0; i < n; i++) {
        low = a[i].key < low ? a[i].key : low;
        high = a[i].key > high ? a[i].key : high;
    }
    for (unsigned shift = 0; shift < 64 && high > low && (high - low) >> shift;
         shift += RADIX_BITS) {
        one_pass(from, to, n, low, shift);
        struct ntff_sort_item *x = from;
        from = to;
        to = x;
    }
    if (from != a)
        memcpy(a, from, n * sizeof *a);
}

bool ntff_sort_items(struct ntff_builder *b, struct ntff_sort_item *a, size_t n)
{
    if (in_order(a, n))
        return true;
    struct ntff_sort_item *tmp = ntff_build_take(b, n, sizeof *tmp);
    if (!tmp)
        return false;
    ntff_sort_with(a, tmp, n);
    ntff_build_give(b, tmp, n, sizeof *tmp);
    return true;
}

/* Runs of equal keys are short: a straight insertion, else the library's sort. */
static void sort_run(char *v, size_t n, size_t size, char *spare,
                     int (*cmp)(const void *, const void *))
{
    if (n > 16) {
        qsort(v, n, size, cmp);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        size_t to = i;
        while (to > 0 && cmp(v + (to - 1) * size, v + i * size) > 0)
            to--;
        if (to == i)
            continue;
        memcpy(spare, v + i * size, size);
        memmove(v + (to + 1) * size, v + to * size, (i - to) * size);
        memcpy(v + to * size, spare, size);
    }
}

bool ntff_sort_keyed(struct ntff_builder *b, void *v, size_t n, size_t size,
                     struct ntff_sort_item *keys, int (*cmp)(const void *, const void *))
{
    char *at = v;
    if (n < 2)
        return true;
    if (!ntff_sort_items(b, keys, n))
        return false;
    char *sorted = ntff_build_take(b, n + 1, size);
    if (!sorted)
        return false;
    for (size_t i = 0; i < n; i++)
        memcpy(sorted + i * size, at + keys[i].index * size, size);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && keys[j].key == keys[i].key; j++)
            ;
        if (j - i > 1)
            sort_run(sorted + i * size, j - i, size, sorted + n * size, cmp);
    }
    memcpy(v, sorted, n * size);
    ntff_build_give(b, sorted, n + 1, size);
    return true;
}
