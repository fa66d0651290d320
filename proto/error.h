/* error - status codes and the detail that goes with a failure.
 * Knows: base.
 * A function that can fail returns enum ntff_status and, when given one, fills a
 * struct ntff_error. The library never prints; the program shows error.text. */
#ifndef NTFF_ERROR_H
#define NTFF_ERROR_H

#include "base.h"

/* name, fixed text */
#define NTFF_STATUS_TABLE(X)                                                                       \
    X(OK, "no error")                                                                              \
    X(NOMEM, "out of memory, or over the memory limit")                                            \
    X(IO, "cannot read or write")                                                                  \
    X(LIMIT, "input exceeds a limit of this program")                                              \
    X(TRUNCATED, "ends in the middle of something")                                                \
    X(MALFORMED, "bytes that do not fit the format")                                               \
    X(UNSUPPORTED, "a form this program does not read")                                            \
    X(NOTHING, "no events found")                                                                  \
    X(CANCELLED, "cancelled")                                                                      \
    X(INVALID, "an argument that makes no sense")

enum ntff_status {
#define X(name, text) NTFF_##name,
    NTFF_STATUS_TABLE(X)
#undef X
};

#define NTFF_NO_OFFSET UINT64_MAX

struct ntff_error {
    enum ntff_status status;
    uint64_t offset; /* byte offset in the file, or NTFF_NO_OFFSET */
    char text[240];  /* one line, no newline, control bytes already made visible */
};

/* Fixed text of a status; never NULL. */
const char *ntff_status_text(enum ntff_status s);

/* Fills *err (may be NULL) and returns s, so that `return ntff_fail(err, ...)` reads well. */
enum ntff_status ntff_fail(struct ntff_error *err, enum ntff_status s, uint64_t offset,
                           const char *fmt, ...) NTFF_PRINTF(4, 5);

#endif
