/* times - points in time and durations on the command line and in texts, in exact integers.
 * Knows: error. */
#ifndef CONV_TIMES_H
#define CONV_TIMES_H

#include "proto/error.h"

/* A point in time as typed: absolute Unix nanoseconds ("1764440000123456789") or, with a unit,
 * counted from the begin of the trace ("1.5s", "20ms", "250us", "0s"). */
struct conv_time {
    uint64_t ns;
    bool relative, given;
};

/* Units: ns, us (or µs), ms, s, m, h. Fractions must be whole nanoseconds.
 * false = none of these; err says what was expected. */
bool conv_time_parse(const char *text, struct conv_time *t, struct ntff_error *err) NTFF_MUST_CHECK;

/* Unix time of t in a trace that begins at begin_ns; saturates. */
uint64_t conv_time_resolve(const struct conv_time *t, uint64_t begin_ns);

/* A duration for people, cut to a thousandth of its unit: "12 ns", "1.5 us", "20 ms",
 * "3.217 s". Returns out. */
char *conv_duration(uint64_t ns, char out[32]);

/* "2025-11-29 18:13:20.123456789 UTC". Returns out. */
char *conv_date(uint64_t unix_ns, char out[48]);

#endif
