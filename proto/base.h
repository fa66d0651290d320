/* base - attributes, checked arithmetic and small helpers every module may use.
 * Knows: libc only. */
#ifndef NTFF_BASE_H
#define NTFF_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define NTFF_MUST_CHECK __attribute__((warn_unused_result))
#define NTFF_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define NTFF_LIKELY(x) __builtin_expect(!!(x), 1)
#define NTFF_UNLIKELY(x) __builtin_expect(!!(x), 0)

#define NTFF_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define NTFF_NS_PER_SEC UINT64_C(1000000000)

/* *out = a * b or a + b; false (and *out undefined) when it does not fit. */
static inline bool ntff_mul_ok(size_t a, size_t b, size_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}
static inline bool ntff_add_ok(size_t a, size_t b, size_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

/* qsort, but an empty array may be NULL, and one in order already costs one pass. */
static inline void ntff_sort(void *items, size_t n, size_t size,
                             int (*cmp)(const void *, const void *))
{
    const char *p = (const char *)items;
    size_t i = 1;
    if (!p)
        return;
    while (i < n && cmp(p + (i - 1) * size, p + i * size) <= 0)
        i++;
    if (i < n)
        qsort(items, n, size, cmp);
}

/* A run of bytes somewhere else: not owned, no NUL after it. */
struct ntff_slice {
    const char *p;
    size_t len;
};

static inline uint32_t ntff_le32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}
static inline uint64_t ntff_le64(const uint8_t *p)
{
    return (uint64_t)ntff_le32(p) | (uint64_t)ntff_le32(p + 4) << 32;
}

#endif
