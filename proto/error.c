/* error - texts of the status codes, and the one place that formats a failure. */
#include "proto/error.h"

#include <stdarg.h>
#include <stdio.h>

const char *ntff_status_text(enum ntff_status s)
{
    static const char *const text[] = {
#define X(name, t) t,
        NTFF_STATUS_TABLE(X)
#undef X
    };
    return (size_t)s < NTFF_ARRAY_LEN(text) ? text[s] : "unknown status";
}

/* File names and contents may hold anything; one line for a terminal may not. */
static void make_visible(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
}

enum ntff_status ntff_fail(struct ntff_error *err, enum ntff_status s, uint64_t offset,
                           const char *fmt, ...)
{
    if (!err)
        return s;
    err->status = s;
    err->offset = offset;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(err->text, sizeof err->text, fmt, ap);
    va_end(ap);
    make_visible(err->text);
    return s;
}
