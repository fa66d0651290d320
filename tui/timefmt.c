/* timefmt - see timefmt.h. Integers only; a value is split into a whole part and a fraction of its
 * unit, the fraction cut (never rounded up into a time that was not reached). */
#include "timefmt.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MIN_NS (60 * NTFF_NS_PER_SEC)
#define HOUR_NS (60 * MIN_NS)
#define DAY_NS (24 * HOUR_NS)
#define YEAR_NS (365 * DAY_NS)

static const uint64_t pow10_of[] = {1,      10,      100,      1000,      10000,
                                    100000, 1000000, 10000000, 100000000, 1000000000};

static size_t done(int n)
{
    return n < 0 ? 0 : n < TUI_TIME_CAP ? (size_t)n : TUI_TIME_CAP - 1;
}

/* value in units of unit = 10^digits ns, with so many decimals */
static size_t fmt_unit(char *out, uint64_t ns, int digits, int decimals, const char *unit)
{
    uint64_t whole = ns / pow10_of[digits], rest = ns % pow10_of[digits];
    if (decimals > digits)
        decimals = digits;
    if (decimals <= 0)
        return done(snprintf(out, TUI_TIME_CAP, "%" PRIu64 " %s", whole, unit));
    return done(snprintf(out, TUI_TIME_CAP, "%" PRIu64 ".%0*" PRIu64 " %s", whole, decimals,
                         rest / pow10_of[digits - decimals], unit));
}

static int count_digits(uint64_t n)
{
    int d = 1;
    while (n >= 10) {
        n /= 10;
        d++;
    }
    return d;
}

size_t tui_fmt_dur(char *out, uint64_t ns, const char *us)
{
    if (ns < 1000)
        return fmt_unit(out, ns, 0, 0, "ns");
    if (ns < 1000000)
        return fmt_unit(out, ns, 3, 4 - count_digits(ns / 1000), us);
    if (ns < NTFF_NS_PER_SEC)
        return fmt_unit(out, ns, 6, 4 - count_digits(ns / 1000000), "ms");
    if (ns < MIN_NS)
        return fmt_unit(out, ns, 9, 4 - count_digits(ns / NTFF_NS_PER_SEC), "s");
    if (ns < HOUR_NS)
        return done(snprintf(out, TUI_TIME_CAP, "%" PRIu64 "m%02" PRIu64 "s", ns / MIN_NS,
                             ns % MIN_NS / NTFF_NS_PER_SEC));
    if (ns < DAY_NS)
        return done(snprintf(out, TUI_TIME_CAP, "%" PRIu64 "h%02" PRIu64 "m", ns / HOUR_NS,
                             ns % HOUR_NS / MIN_NS));
    if (ns < YEAR_NS)
        return done(snprintf(out, TUI_TIME_CAP, "%" PRIu64 "d%02" PRIu64 "h", ns / DAY_NS,
                             ns % DAY_NS / HOUR_NS));
    return done(snprintf(out, TUI_TIME_CAP, "%" PRIu64 "y%03" PRIu64 "d", ns / YEAR_NS,
                         ns % YEAR_NS / DAY_NS));
}

/* How many decimals of a unit of 10^digits ns a step needs. */
static int decimals_for(uint64_t step_ns, int digits)
{
    int have = step_ns < 1 ? 0 : count_digits(step_ns) - 1; /* step >= 10^have */
    return have >= digits ? 0 : digits - have;
}

static size_t fmt_long(char *out, uint64_t ns, uint64_t step_ns)
{
    char head[32] = "", sec[24] = "";
    int n = 0;
    uint64_t rest = ns;
    if (ns >= YEAR_NS)
        n += snprintf(head + n, sizeof head - (size_t)n, "%" PRIu64 "y", ns / YEAR_NS);
    rest %= YEAR_NS;
    if (ns >= DAY_NS)
        n += snprintf(head + n, sizeof head - (size_t)n,
                      ns >= YEAR_NS ? "%03" PRIu64 "d" : "%" PRIu64 "d", rest / DAY_NS);
    rest %= DAY_NS;
    if (ns >= HOUR_NS && step_ns < DAY_NS)
        n += snprintf(head + n, sizeof head - (size_t)n,
                      ns >= DAY_NS ? "%02" PRIu64 "h" : "%" PRIu64 "h", rest / HOUR_NS);
    rest %= HOUR_NS;
    if (step_ns < HOUR_NS)
        snprintf(head + n, sizeof head - (size_t)n,
                 ns >= HOUR_NS ? "%02" PRIu64 "m" : "%" PRIu64 "m", rest / MIN_NS);
    rest %= MIN_NS;
    if (step_ns < MIN_NS) {
        int dec = decimals_for(step_ns, 9);
        if (dec)
            snprintf(sec, sizeof sec, "%02" PRIu64 ".%0*" PRIu64 "s", rest / NTFF_NS_PER_SEC, dec,
                     rest % NTFF_NS_PER_SEC / pow10_of[9 - dec]);
        else
            snprintf(sec, sizeof sec, "%02" PRIu64 "s", rest / NTFF_NS_PER_SEC);
    }
    return done(snprintf(out, TUI_TIME_CAP, "%s%s", head, sec));
}

size_t tui_fmt_time(char *out, uint64_t ns, uint64_t step_ns, const char *us)
{
    if (ns == 0)
        return done(snprintf(out, TUI_TIME_CAP, "0"));
    if (ns >= MIN_NS)
        return fmt_long(out, ns, step_ns);
    if (ns >= NTFF_NS_PER_SEC)
        return fmt_unit(out, ns, 9, decimals_for(step_ns, 9), "s");
    if (ns >= 1000000)
        return fmt_unit(out, ns, 6, decimals_for(step_ns, 6), "ms");
    if (ns >= 1000)
        return fmt_unit(out, ns, 3, decimals_for(step_ns, 3), us);
    return fmt_unit(out, ns, 0, 0, "ns");
}

size_t tui_fmt_count(char *out, uint64_t n)
{
    char raw[24];
    int len = snprintf(raw, sizeof raw, "%" PRIu64, n);
    size_t at = 0;
    for (int i = 0; i < len; i++) {
        if (i && (len - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = raw[i];
    }
    out[at] = 0;
    return at;
}

size_t tui_fmt_ns(char *out, uint64_t ns)
{
    size_t n = tui_fmt_count(out, ns);
    memcpy(out + n, " ns", 4);
    return n + 3;
}

size_t tui_fmt_short(char *out, uint64_t n)
{
    static const char unit[] = "kMGTPE";
    int u = -1;
    uint64_t scale = 1;
    while (n / scale >= 1000 && u < 5) {
        scale *= 1000;
        u++;
    }
    if (u < 0)
        return done(snprintf(out, TUI_TIME_CAP, "%" PRIu64, n));
    if (n / scale >= 100)
        return done(snprintf(out, TUI_TIME_CAP, "%" PRIu64 "%c", n / scale, unit[u]));
    return done(snprintf(out, TUI_TIME_CAP, "%" PRIu64 ".%" PRIu64 "%c", n / scale,
                         n % scale / (scale / 10), unit[u]));
}

size_t tui_fmt_utc(char *out, uint64_t unix_ns)
{
    time_t sec = (time_t)(unix_ns / NTFF_NS_PER_SEC);
    struct tm tm;
    if (!gmtime_r(&sec, &tm))
        return tui_fmt_ns(out, unix_ns);
    size_t n = strftime(out, TUI_TIME_CAP, "%Y-%m-%d %H:%M:%S", &tm);
    return n + done(snprintf(out + n, TUI_TIME_CAP - n, ".%09" PRIu64, unix_ns % NTFF_NS_PER_SEC));
}

/* -- reading -------------------------------------------------------------------------------- */

typedef unsigned __int128 u128;

static const struct {
    const char *name;
    uint64_t ns;
} units[] = {
    {"ns", 1},       {"us", 1000},    {"µs", 1000},           {"μs", 1000},
    {"ms", 1000000}, {"min", MIN_NS}, {"m", MIN_NS},          {"h", HOUR_NS},
    {"d", DAY_NS},   {"y", YEAR_NS},  {"s", NTFF_NS_PER_SEC},
};

static const char *skip_blank(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* Number with optional fraction and unit; *unit_ns = 0 when there is none. NULL: not a number. */
static const char *parse_part(const char *p, u128 *value, uint64_t *unit_ns)
{
    u128 whole = 0, frac = 0, scale = 1;
    const char *start = p;
    for (; isdigit((unsigned char)*p) || (*p == ',' && p > start); p++)
        if (*p != ',') {
            whole = whole * 10 + (u128)(*p - '0');
            if (whole > UINT64_MAX)
                return NULL;
        }
    if (*p == '.') {
        for (p++; isdigit((unsigned char)*p); p++)
            if (scale < (u128)1000000000 * 1000000000) {
                frac = frac * 10 + (u128)(*p - '0');
                scale *= 10;
            }
        if (p == start + 1)
            return NULL;
    } else if (p == start) {
        return NULL;
    }
    const char *u = skip_blank(p);
    *unit_ns = 0;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(units); i++) {
        size_t n = strlen(units[i].name);
        if (strncmp(u, units[i].name, n) == 0 && !isalpha((unsigned char)u[n])) {
            *unit_ns = units[i].ns;
            p = u + n;
            break;
        }
    }
    if (*u == '%') {
        if (whole > 1000)
            return NULL;
        *value = whole * scale + frac; /* percent times scale; the caller divides */
        *value = *value * 1000000 / scale;
        *unit_ns = UINT64_MAX;
        return u + 1;
    }
    uint64_t m = *unit_ns ? *unit_ns : 1;
    *value = whole * m + frac * m / scale;
    return *value > UINT64_MAX ? NULL : p;
}

static uint64_t clip(u128 t, const struct tui_time_base *b)
{
    return t < b->begin ? b->begin : t > b->end ? b->end : (uint64_t)t;
}

/* As tui_parse_time, but not clipped; dates: a bare number is Unix ns wherever it lies. */
static bool parse_any(const char *text, const struct tui_time_base *base, bool dates, u128 *out)
{
    const char *p = skip_blank(text);
    char sign = *p == '+' || *p == '-' ? *p : 0;
    u128 sum = 0, v;
    uint64_t unit = 0;
    int parts = 0;
    if (sign)
        p = skip_blank(p + 1);
    for (; *p; parts++) {
        if (!(p = parse_part(p, &v, &unit)))
            return false;
        p = skip_blank(p);
        if ((unit == 0 || unit == UINT64_MAX) && (parts || *p))
            return false; /* a bare number or a percentage stands alone */
        sum += v;
        if (sum > UINT64_MAX)
            return false;
    }
    if (parts == 0)
        return false;
    if (unit == UINT64_MAX) {
        if (sign)
            return false;
        *out = base->begin + (u128)(base->end - base->begin) * sum / 100000000;
    } else if (sign == '-') {
        *out = sum > base->now ? 0 : base->now - sum;
    } else if (sign) {
        *out = (u128)base->now + sum;
    } else if (unit == 0 && (dates || (sum >= base->begin && sum <= base->end))) {
        *out = sum;
    } else {
        *out = (u128)base->begin + sum;
    }
    return true;
}

bool tui_parse_time(const char *text, const struct tui_time_base *base, uint64_t *out)
{
    u128 t;
    if (!parse_any(text, base, false, &t))
        return false;
    *out = clip(t, base);
    return true;
}

bool tui_parse_moment(const char *text, const struct tui_time_base *base, uint64_t *out)
{
    u128 t;
    if (!parse_any(text, base, true, &t))
        return false;
    *out = t > UINT64_MAX ? UINT64_MAX : (uint64_t)t;
    return true;
}
