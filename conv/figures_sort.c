/* figures_sort - executions, gaps, collectives in order, by the ten thousand: numbers are sorted
 * digit by digit, and as such a sort is stable, an order by several numbers is one sort after the
 * other, the number that counts least first. */
#include "conv/figures_priv.h"

#include <stdlib.h>
#include <string.h>

/* Indices with room for as many more; NULL = out of memory. */
static struct ntff_sort_item *order(const char *v, size_t n, size_t size, const conv_key *keys,
                                    size_t n_keys)
{
    struct ntff_sort_item *a = calloc(2 * n + 1, sizeof *a);
    for (size_t i = 0; a && i < n; i++)
        a[i].index = (uint32_t)i;
    for (size_t k = 0; a && k < n_keys; k++) {
        for (size_t i = 0; i < n; i++)
            a[i].key = keys[k](v + a[i].index * size);
        ntff_sort_with(a, a + n, n);
    }
    return a;
}

uint32_t *conv_order(const void *v, size_t n, size_t size, const conv_key *keys, size_t n_keys)
{
    struct ntff_sort_item *a = order(v, n, size, keys, n_keys);
    uint32_t *out = calloc(n + 1, sizeof *out);
    for (size_t i = 0; a && out && i < n; i++)
        out[i] = a[i].index;
    if (!a)
        free(out), out = NULL;
    free(a);
    return out;
}

bool conv_sort(void *v, size_t n, size_t size, const conv_key *keys, size_t n_keys)
{
    struct ntff_sort_item *a = order(v, n, size, keys, n_keys);
    char *sorted = calloc(n + 1, size);
    bool good = a && sorted;
    for (size_t i = 0; good && i < n; i++)
        memcpy(sorted + i * size, (char *)v + a[i].index * size, size);
    if (good && n)
        memcpy(v, sorted, n * size);
    free(sorted);
    free(a);
    return good;
}

uint64_t conv_median(struct ntff_sort_item *v, size_t n)
{
    if (n == 0)
        return 0;
    ntff_sort_with(v, v + n, n);
    uint64_t high = v[n / 2].key, low = v[(n - 1) / 2].key;
    return low + (high - low) / 2;
}
