/* random - splitmix64: numbers that look random and are the same everywhere. For tests. */
#ifndef NTFF_TESTS_RANDOM_H
#define NTFF_TESTS_RANDOM_H

#include <stdint.h>

/* The next number of a sequence; any state begins one. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 .. limit - 1; 0 if limit is. */
static inline uint64_t random_below(uint64_t *state, uint64_t limit)
{
    return limit ? random_next(state) % limit : 0;
}

#endif
