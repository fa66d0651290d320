/* sort - least significant digit first, over the bits in which the keys differ from the smallest.
 */
#include "proto/sort.h"

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

bool ntff_sort_items(struct ntff_builder *b, struct ntff_sort_item *a, size_t n)
{
    uint64_t low = UINT64_MAX, high = 0;
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        low = a[i].key < low ? a[i].key : low;
        high = a[i].key > high ? a[i].key : high;
        sorted &= i == 0 || a[i].key >= a[i - 1].key;
    }
    if (sorted)
        return true;
    struct ntff_sort_item *tmp = ntff_build_take(b, n, sizeof *tmp), *from = a, *to = tmp;
    if (!tmp)
        return false;
    for (unsigned shift = 0; shift < 64 && (high - low) >> shift; shift += RADIX_BITS) {
        one_pass(from, to, n, low, shift);
        struct ntff_sort_item *x = from;
        from = to;
        to = x;
    }
    if (from != a)
        memcpy(a, from, n * sizeof *a);
    ntff_build_give(b, tmp, n, sizeof *tmp);
    return true;
}
