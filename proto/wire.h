/* wire - read protobuf fields from untrusted bytes without allocating.
 * Source: the protobuf encoding page [PB].   Knows: base.
 * Units:  offsets and lengths are bytes.
 * Memory: a cursor borrows the bytes; pointers it returns point into them.
 * Errors: ntff_wire_next returns -1 and leaves .p at the start of the field that failed and
 *         .why at a static text; the caller computes the file offset from .p.
 * Groups (wire types 3, 4) are refused: the schema has none and proto3 cannot write them. */
#ifndef NTFF_WIRE_H
#define NTFF_WIRE_H

#include "base.h"

enum ntff_wire_type { NTFF_WT_VARINT = 0, NTFF_WT_I64 = 1, NTFF_WT_LEN = 2, NTFF_WT_I32 = 5 };

struct ntff_wire {
    const uint8_t *p, *end;
    const char *why;
};

struct ntff_field {
    uint32_t number; /* 1 .. 2^29-1 */
    uint8_t type;    /* enum ntff_wire_type */
    uint64_t value;  /* VARINT, I64, I32; for LEN the length */
    const uint8_t *data; /* LEN: value bytes */
};

static inline struct ntff_wire ntff_wire_init(const void *p, size_t len)
{
    return (struct ntff_wire){p, (const uint8_t *)p + len, NULL};
}

/* The rare long case of ntff_varint. */
const uint8_t *ntff_varint_slow(const uint8_t *p, const uint8_t *end, uint64_t *out);

/* Reads one varint; returns the byte after it, or NULL (cut, or longer than 10 bytes). */
static inline const uint8_t *ntff_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    if (NTFF_LIKELY(p < end && *p < 0x80)) {
        *out = *p;
        return p + 1;
    }
    return ntff_varint_slow(p, end, out);
}

/* Next field: 1 = *f filled, 0 = exactly at the end, -1 = malformed. */
int ntff_wire_next(struct ntff_wire *w, struct ntff_field *f);

/* True if data[0..len) parses as a message all the way (one level, non-empty allowed). */
bool ntff_wire_plausible(const uint8_t *data, size_t len);

#endif
