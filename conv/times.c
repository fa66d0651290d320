/* times - see times.h. */
#include "conv/times.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {
    {"ns", 1},
    {"us", 1000},
    {"\xc2\xb5s", 1000}, /* micro sign */
    {"\xce\xbcs", 1000}, /* greek mu */
    {"ms", 1000000},
    {"s", NTFF_NS_PER_SEC},
    {"m", 60 * NTFF_NS_PER_SEC},
    {"min", 60 * NTFF_NS_PER_SEC},
    {"h", 3600 * NTFF_NS_PER_SEC},
};

static bool fail(struct ntff_error *err, const char *text)
{
    ntff_fail(
        err, NTFF_INVALID, NTFF_NO_OFFSET,
        "%s: expected Unix nanoseconds, or a time from the begin with a unit such as 1.5s, 20ms",
        text);
    return false;
}

/* Digits at *p; false on overflow. *n_digits counts them. */
static bool digits(const char **p, uint64_t *v, int *n_digits)
{
    for (*v = 0, *n_digits = 0; isdigit((unsigned char)**p); (*p)++, (*n_digits)++)
        if (__builtin_mul_overflow(*v, UINT64_C(10), v) ||
            __builtin_add_overflow(*v, (uint64_t)(**p - '0'), v))
            return false;
    return true;
}

bool conv_time_parse(const char *text, struct conv_time *t, struct ntff_error *err)
{
    const char *p = text;
    uint64_t whole, fraction = 0, unit = 0;
    int n, n_fraction = 0;
    if (!digits(&p, &whole, &n) || n == 0)
        return fail(err, text);
    if (*p == '.') {
        p++;
        if (!digits(&p, &fraction, &n_fraction) || n_fraction == 0)
            return fail(err, text);
    }
    if (*p == '\0' && n_fraction == 0) {
        *t = (struct conv_time){whole, false, true};
        return true;
    }
    for (size_t i = 0; i < NTFF_ARRAY_LEN(units); i++)
        if (strcmp(p, units[i].name) == 0)
            unit = units[i].ns;
    uint64_t scaled, ns;
    if (unit == 0 || __builtin_mul_overflow(fraction, unit, &scaled) ||
        __builtin_mul_overflow(whole, unit, &ns))
        return fail(err, text);
    for (; n_fraction > 0; n_fraction--) {
        if (scaled % 10 != 0)
            return fail(err, text); /* finer than a nanosecond */
        scaled /= 10;
    }
    if (__builtin_add_overflow(ns, scaled, &ns))
        return fail(err, text);
    *t = (struct conv_time){ns, true, true};
    return true;
}

uint64_t conv_time_resolve(const struct conv_time *t, uint64_t begin_ns)
{
    uint64_t ns = t->ns;
    if (t->relative && __builtin_add_overflow(ns, begin_ns, &ns))
        ns = UINT64_MAX;
    return ns;
}

char *conv_duration(uint64_t ns, char out[32])
{
    uint64_t unit = ns < 1000              ? 1
                    : ns < 1000000         ? 1000
                    : ns < NTFF_NS_PER_SEC ? 1000000
                                           : NTFF_NS_PER_SEC;
    const char *name = unit == 1 ? "ns" : unit == 1000 ? "us" : unit == 1000000 ? "ms" : "s";
    uint64_t milli = unit == 1 ? 0 : ns % unit / (unit / 1000);
    int n = snprintf(out, 32, "%" PRIu64, ns / unit);
    if (milli) {
        n += snprintf(out + n, 32 - (size_t)n, ".%03" PRIu64, milli);
        while (out[n - 1] == '0')
            n--;
    }
    snprintf(out + n, 32 - (size_t)n, " %s", name);
    return out;
}

char *conv_date(uint64_t unix_ns, char out[48])
{
    time_t s = (time_t)(unix_ns / NTFF_NS_PER_SEC);
    struct tm tm;
    size_t n = gmtime_r(&s, &tm) ? strftime(out, 48, "%Y-%m-%d %H:%M:%S", &tm) : 0;
    snprintf(out + n, 48 - n, ".%09" PRIu64 " UTC", unix_ns % NTFF_NS_PER_SEC);
    return out;
}
