/* line - one line of text for people, put together in a fixed space.
 * Knows: base. Private to proto/.
 * What does not fit is cut off; the text always ends in NUL. */
#ifndef NTFF_LINE_H
#define NTFF_LINE_H

#include "base.h"

struct ntff_line {
    char *out;
    size_t cap, len; /* len < cap, unless cap is 0 */
};

/* An empty line in out[0 .. cap); cap may be 0. */
struct ntff_line ntff_line_begin(char *out, size_t cap);
void ntff_line_say(struct ntff_line *l, const char *fmt, ...) NTFF_PRINTF(2, 3);
/* A length of time in two or three digits and a unit: "850 ns", "3.1 us", "41 ms". */
void ntff_line_ns(struct ntff_line *l, uint64_t ns);

#endif
