/* diag - counts findings by kind and keeps the first of each: a damaged file of a million records
 * gives one line, not a million. */
#include "proto/diag.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    const char *name, *one, *many;
    enum ntff_grade grade;
} table[] = {
#define X(n, g, one, many) {#n, one, many, NTFF_##g},
    NTFF_DIAG_TABLE(X)
#undef X
};

void ntff_diag_addv(struct ntff_diag *d, enum ntff_diag_kind kind, uint64_t n, const char *file,
                    uint64_t offset, const char *fmt, va_list ap)
{
    struct ntff_finding *f = &d->of[kind];
    if (f->count == 0) {
        f->file = file;
        f->offset = offset;
        f->detail[0] = '\0';
        if (fmt)
            vsnprintf(f->detail, sizeof f->detail, fmt, ap);
    }
    if (__builtin_add_overflow(f->count, n, &f->count))
        f->count = UINT64_MAX;
}

void ntff_diag_add(struct ntff_diag *d, enum ntff_diag_kind kind, uint64_t n, const char *file,
                   uint64_t offset, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    ntff_diag_addv(d, kind, n, file, offset, fmt, ap);
    va_end(ap);
}

enum ntff_grade ntff_diag_grade(enum ntff_diag_kind kind)
{
    return table[kind].grade;
}

const char *ntff_diag_name(enum ntff_diag_kind kind)
{
    return table[kind].name;
}

const char *ntff_diag_text(enum ntff_diag_kind kind)
{
    return table[kind].many;
}

bool ntff_diag_lossy(const struct ntff_diag *d)
{
    for (int k = 0; k < NTFF_DIAG_COUNT; k++)
        if (d->of[k].count && table[k].grade == NTFF_LOSS)
            return true;
    return false;
}

/* Appends at *pos, never past cap - 1. */
static void put(char *out, size_t cap, size_t *pos, const char *fmt, ...) NTFF_PRINTF(4, 5);
static void put(char *out, size_t cap, size_t *pos, const char *fmt, ...)
{
    if (*pos + 1 >= cap)
        return;
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(out + *pos, cap - *pos, fmt, ap);
    va_end(ap);
    if (n > 0)
        *pos = (size_t)n < cap - *pos ? *pos + (size_t)n : cap - 1;
}

size_t ntff_diag_line(const struct ntff_diag *d, enum ntff_diag_kind kind, char *out, size_t cap)
{
    const struct ntff_finding *f = &d->of[kind];
    size_t pos = 0;
    if (cap == 0)
        return 0;
    out[0] = '\0';
    put(out, cap, &pos, "%" PRIu64 " %s", f->count,
        f->count == 1 ? table[kind].one : table[kind].many);
    if (f->file || f->detail[0])
        put(out, cap, &pos, f->count > 1 ? "; first:" : ":");
    if (f->file)
        put(out, cap, &pos, " %s", f->file);
    if (f->file && f->offset != UINT64_MAX)
        put(out, cap, &pos, " offset 0x%" PRIx64, f->offset);
    if (f->detail[0])
        put(out, cap, &pos, f->file ? " (%s)" : " %s", f->detail);
    for (size_t i = 0; i < pos; i++) /* names may hold control bytes; a terminal line may not */
        if ((unsigned char)out[i] < 0x20 || out[i] == 0x7f)
            out[i] = '?';
    return pos;
}
