/* timefmt - times and durations as people write them, exact to the nanosecond. Knows: base.
 * All formatters write a NUL-terminated text of at most TUI_TIME_CAP bytes (UTF-8) and return its
 * length. us: how to write microseconds, "µs" or "us". */
#ifndef TUI_TIMEFMT_H
#define TUI_TIMEFMT_H

#include "proto/base.h"

#define TUI_TIME_CAP 48

/* A duration with about four digits: "812 ns", "1.234 ms", "12.35 s", "3m04s", "2d05h", "1y023d".
 */
size_t tui_fmt_dur(char *out, uint64_t ns, const char *us);

/* A moment relative to the trace begin, with as many digits as step_ns needs to tell neighbours
 * apart: "12.345 ms", "1h02m03.5s". */
size_t tui_fmt_time(char *out, uint64_t ns, uint64_t step_ns, const char *us);

/* Exact: "1,234,567 ns". */
size_t tui_fmt_ns(char *out, uint64_t ns);

/* Unix ns as UTC: "2025-11-29 16:00:00.000000123". */
size_t tui_fmt_utc(char *out, uint64_t unix_ns);

/* Plain number with thousands separators. */
size_t tui_fmt_count(char *out, uint64_t n);
/* A number of at most 5 columns: "812", "12.3k", "1.2M". */
size_t tui_fmt_short(char *out, uint64_t n);

struct tui_time_base {
    uint64_t begin, end; /* of the trace */
    uint64_t now;        /* where the cursor is */
};
/* Reads a time: "1.5s", "20ms", "3m04s" from the trace begin; "+2us", "-1ms" from the cursor; "50%"
 * of the trace; a bare number is Unix ns when it lies in the trace, else ns from its begin. Blanks
 * between number and unit are allowed. The result is absolute, clipped to the trace.
 * False: not a time. */
bool tui_parse_time(const char *text, const struct tui_time_base *base, uint64_t *out);
/* The same for command lines: not clipped, and a bare number is Unix ns wherever it lies. */
bool tui_parse_moment(const char *text, const struct tui_time_base *base, uint64_t *out);

#endif
