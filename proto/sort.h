/* sort - a stable radix sort of (key, index) items, and of anything by such keys. Private to
 * proto/ and conv/figures*.c. */
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
/* The same with room for n further items lent by the caller: cannot fail. */
void ntff_sort_with(struct ntff_sort_item *a, struct ntff_sort_item *tmp, size_t n);

/* Sorts v[0 .. n), of size bytes each, by cmp. key[i] is a number for v[i] that never falls where
 * cmp rises; what keys leave equal, cmp settles. False when memory ran out. */
bool ntff_sort_keyed(struct ntff_builder *b, void *v, size_t n, size_t size,
                     struct ntff_sort_item *keys,
                     int (*cmp)(const void *, const void *)) NTFF_MUST_CHECK;

/* A key of several numbers, the most significant first, each with the bits it may take. Where all
 * together take more than 64, the last bits are dropped. */
struct ntff_sort_key {
    unsigned __int128 v;
    unsigned n_bits; /* at most 128 */
};
static inline void ntff_sort_key_add(struct ntff_sort_key *k, uint64_t v, unsigned bits)
{
    k->v = k->v << bits | v;
    k->n_bits += bits;
}
static inline uint64_t ntff_sort_key_done(const struct ntff_sort_key *k)
{
    return (uint64_t)(k->n_bits > 64 ? k->v >> (k->n_bits - 64) : k->v);
}
/* Bits that hold 0 .. most. */
static inline unsigned ntff_sort_bits(uint64_t most)
{
    return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

#endif
