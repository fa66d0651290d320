/* Sorting by numbers, few and many: in order, stable, by several keys; and the median. */
#include "conv/figures_priv.h"
#include "proto/sort.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <stdlib.h>

static const size_t counts[] = {0, 1, 2, 3, 47, 48, 49, 1000, 5000};

TAP_TEST(items_are_sorted_and_stable)
{
    static const uint64_t limits[] = {1, 3, 2048, 1000000, UINT64_MAX};
    uint64_t rng = 1;
    for (size_t c = 0; c < NTFF_ARRAY_LEN(counts); c++)
        for (size_t l = 0; l < NTFF_ARRAY_LEN(limits); l++) {
            size_t n = counts[c];
            struct ntff_sort_item *a = calloc(2 * n + 1, sizeof *a);
            uint64_t *key = calloc(n + 1, sizeof *key);
            uint8_t *seen = calloc(n + 1, 1);
            for (size_t i = 0; i < n; i++) {
                key[i] = random_below(&rng, limits[l]) + (l % 2 ? UINT64_C(1) << 40 : 0);
                a[i] = (struct ntff_sort_item){key[i], (uint32_t)i};
            }
            ntff_sort_with(a, a + n, n);
            TAP_CONTEXT("%zu items below %llu", n, (unsigned long long)limits[l]);
            for (size_t i = 0; i < n; i++) {
                TAP_OK(a[i].index < n && !seen[a[i].index]++);
                TAP_EQ_U64(a[i].key, key[a[i].index]);
                TAP_OK(i == 0 || a[i - 1].key < a[i].key ||
                       (a[i - 1].key == a[i].key && a[i - 1].index < a[i].index));
            }
            free(a);
            free(key);
            free(seen);
        }
}

struct pair {
    uint64_t first, second, was;
};
static uint64_t first(const void *x)
{
    return ((const struct pair *)x)->first;
}
static uint64_t second(const void *x)
{
    return ((const struct pair *)x)->second;
}

TAP_TEST(several_keys_the_last_counts_most)
{
    static const conv_key keys[] = {second, first};
    uint64_t rng = 2;
    for (size_t c = 0; c < NTFF_ARRAY_LEN(counts); c++) {
        size_t n = counts[c];
        struct pair *v = calloc(n + 1, sizeof *v);
        for (size_t i = 0; i < n; i++)
            v[i] = (struct pair){random_below(&rng, 5), random_below(&rng, 20), i};
        uint32_t *order = conv_order(v, n, sizeof *v, keys, 2);
        if (!order || !conv_sort(v, n, sizeof *v, keys, 2))
            abort();
        for (size_t i = 0; i < n; i++)
            TAP_EQ_U64(v[i].was, order[i]);
        for (size_t i = 1; i < n; i++) {
            const struct pair *a = &v[i - 1], *b = &v[i];
            TAP_OK(a->first != b->first     ? a->first < b->first
                   : a->second != b->second ? a->second < b->second
                                            : a->was < b->was);
        }
        free(order);
        free(v);
    }
}

TAP_TEST(median_of_odd_and_even)
{
    struct ntff_sort_item v[8] = {{9, 0}, {1, 0}, {4, 0}, {UINT64_MAX, 0}};
    TAP_EQ_U64(conv_median(v, 0), 0);
    TAP_EQ_U64(conv_median(v, 1), 9);
    TAP_EQ_U64(conv_median(v, 3), 4);
    TAP_EQ_U64(conv_median(v, 4), 6); /* 4 and 9, rounded down */
    v[0].key = v[1].key = UINT64_MAX - 3;
    v[2].key = v[3].key = UINT64_MAX;
    TAP_EQ_U64(conv_median(v, 4), UINT64_MAX - 2);
}

TAP_MAIN()
