/* sort - a stable radix sort of (key, index) items. Private to proto/. */
#ifndef NTFF_SORT_H
#define NTFF_SORT_H

#include "builder.h"

struct ntff_sort_item {
    uint64_t key;
    uint32_t index;
};

/* Sorts by key, equal keys in input order. O(n) for keys that lie close together; nothing to do
 * when they are in order already. False when memory ran out. */
bool ntff_sort_items(struct ntff_builder *b, struct ntff_sort_item *a, size_t n) NTFF_MUST_CHECK;

#endif
