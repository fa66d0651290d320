/* decimal - numbers written as text, as attributes of ntrace.pb carry them.   Knows: base. */
#ifndef NTFF_DECIMAL_H
#define NTFF_DECIMAL_H

#include "base.h"

/* Are the eight bytes of w all digits? Then their value, the first byte being the highest digit. */
static inline bool ntff_eight_digits(uint64_t w)
{
    const uint64_t high = UINT64_C(0xf0f0f0f0f0f0f0f0);
    return ((w & high) | ((w + UINT64_C(0x0606060606060606)) & high) >> 4) ==
           UINT64_C(0x3333333333333333);
}
static inline uint64_t ntff_eight_value(uint64_t w)
{
    w = (w & UINT64_C(0x0f0f0f0f0f0f0f0f)) * (10 << 8 | 1) >> 8;
    w = (w & UINT64_C(0x00ff00ff00ff00ff)) * (100 << 16 | 1) >> 16;
    return (w & UINT64_C(0x0000ffff0000ffff)) * (UINT64_C(10000) << 32 | 1) >> 32;
}

/* The last n of the eight bytes at p, n being 1 .. 8, with zeros before them. */
static inline uint64_t ntff_last_digits(const char *p, size_t n)
{
    const uint64_t zeros = UINT64_C(0x3030303030303030);
    return ntff_le64((const uint8_t *)p) << 8 * (8 - n) | zeros >> 4 * n >> 4 * n;
}

/* ntff_decimal for up to 16 digits where 16 bytes can be read at p, whatever they belong to: no
 * loop. */
static inline bool ntff_decimal_16(const char *p, size_t n, uint64_t *out)
{
    uint64_t high = 0, low;
    if (n - 1 >= 16)
        return false;
    if (n > 8) {
        high = ntff_last_digits(p, n - 8);
        if (!ntff_eight_digits(high))
            return false;
        high = ntff_eight_value(high) * 100000000;
        p += n - 8;
        n = 8;
    }
    low = ntff_last_digits(p, n);
    *out = high + ntff_eight_value(low);
    return ntff_eight_digits(low);
}

/* Digits only, at least one, below 2^64; leading zeros allowed up to 20 digits. Ids and times have
 * many digits: eight at a time. */
static inline bool ntff_decimal(const char *p, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    bool long_one = n == 20; /* nothing shorter can overflow */
    if (n == 0 || n > 20 || (uint8_t)(p[0] - '0') > 9)
        return false;
    for (; n >= 8; p += 8, n -= 8) {
        uint64_t w = ntff_le64((const uint8_t *)p);
        if (!ntff_eight_digits(w))
            return false;
        v = v * 100000000 + ntff_eight_value(w);
    }
    for (; n > 0; p++, n--) {
        unsigned digit = (unsigned)(p[0] - '0');
        if (digit > 9 || (long_one && (v > UINT64_MAX / 10 || v * 10 > UINT64_MAX - digit)))
            return false;
        v = v * 10 + digit;
    }
    *out = v;
    return true;
}

#endif
