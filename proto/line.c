/* line - one line of text for people, put together in a fixed space. */
#include "line.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

struct ntff_line ntff_line_begin(char *out, size_t cap)
{
    if (cap > 0)
        out[0] = '\0';
    return (struct ntff_line){out, cap, 0};
}

void ntff_line_say(struct ntff_line *l, const char *fmt, ...)
{
    size_t room = l->cap - l->len;
    va_list ap;
    if (room <= 1)
        return;
    va_start(ap, fmt);
    int n = vsnprintf(l->out + l->len, room, fmt, ap);
    va_end(ap);
    if (n > 0)
        l->len += (size_t)n < room ? (size_t)n : room - 1;
}

void ntff_line_ns(struct ntff_line *l, uint64_t ns)
{
    static const struct {
        uint64_t ns;
        const char *name;
    } unit[] = {{NTFF_NS_PER_SEC, "s"}, {1000000, "ms"}, {1000, "us"}};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(unit); i++) {
        uint64_t whole = ns / unit[i].ns, tenth = ns % unit[i].ns / (unit[i].ns / 10);
        if (whole >= 10)
            ntff_line_say(l, "%" PRIu64 " %s", whole, unit[i].name);
        else if (whole >= 1)
            ntff_line_say(l, "%" PRIu64 ".%" PRIu64 " %s", whole, tenth, unit[i].name);
        if (whole >= 1)
            return;
    }
    ntff_line_say(l, "%" PRIu64 " ns", ns);
}
