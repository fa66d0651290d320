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
    uint32_t number;     /* 1 .. 2^29-1 */
    uint8_t type;        /* enum ntff_wire_type */
    uint64_t value;      /* VARINT, I64, I32; for LEN the length */
    const uint8_t *data; /* LEN: value bytes */
};

static inline struct ntff_wire ntff_wire_init(const void *p, size_t len)
{
    return (struct ntff_wire){p, (const uint8_t *)p + len, NULL};
}

/* The case near the end of the buffer: one byte at a time. */
const uint8_t *ntff_varint_slow(const uint8_t *p, const uint8_t *end, uint64_t *out);

/* The payload bits of eight varint bytes, 7 each, moved together. */
static inline uint64_t ntff_varint_pack(uint64_t w)
{
    w = (w & 0x007f007f007f007fu) | (w & 0x7f007f007f007f00u) >> 1;
    w = (w & 0x00003fff00003fffu) | (w & 0x3fff00003fff0000u) >> 2;
    return (w & 0x0fffffffu) | (w & 0x0fffffff00000000u) >> 4;
}

/* Reads one varint; returns the byte after it, or NULL (cut, or longer than 10 bytes). Bits above
 * 64 in a tenth byte are dropped, as protobuf does. Timestamps take nine bytes, so long ones are
 * read as a word, without a branch per byte. */
__attribute__((always_inline)) static inline const uint8_t *
ntff_varint(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    if (NTFF_LIKELY(p < end && *p < 0x80)) {
        *out = *p;
        return p + 1;
    }
    if (NTFF_UNLIKELY(end - p < 10))
        return ntff_varint_slow(p, end, out);
    uint64_t w = ntff_le64(p), last = ~w & 0x8080808080808080u;
    if (last) {
        *out = ntff_varint_pack(w & (last ^ (last - 1)));
        return p + (__builtin_ctzll(last) >> 3) + 1;
    }
    *out = ntff_varint_pack(w) | (uint64_t)p[8] << 56;
    if (p[8] < 0x80)
        return p + 9;
    *out = (*out & ~(UINT64_C(1) << 63)) | (uint64_t)p[9] << 63;
    return p[9] < 0x80 ? p + 10 : NULL;
}

/* The same where 10 bytes can be read, whatever they belong to. */
__attribute__((always_inline)) static inline const uint8_t *ntff_varint_in(const uint8_t *p,
                                                                           uint64_t *out)
{
    return ntff_varint(p, p + 10, out);
}

/* Next field: 1 = *f filled, 0 = exactly at the end, -1 = malformed. */
int ntff_wire_next(struct ntff_wire *w, struct ntff_field *f);

/* The same for the hot loops: bytes can be read up to `readable`, at or behind the end of the
 * message, so that one check serves for tag and value. Everything unusual goes the long way, on
 * copies, so that *w and *f can live in registers. */
__attribute__((always_inline)) static inline int
ntff_wire_next_in(struct ntff_wire *w, const uint8_t *readable, struct ntff_field *f)
{
    const uint8_t *p = w->p;
    if (NTFF_UNLIKELY(readable - p < 12))
        goto unusual;
    uint32_t tag = *p++;
    if (tag >= 0x80) {
        tag = (tag & 0x7f) | (uint32_t)*p << 7;
        if (NTFF_UNLIKELY(*p == 0 || *p >= 0x80))
            goto unusual;
        p++;
    }
    f->number = tag >> 3;
    f->type = tag & 7;
    p = ntff_varint_in(p, &f->value);
    if (NTFF_UNLIKELY(!p || p > w->end || f->number == 0))
        goto unusual;
    f->data = p;
    if (f->type == NTFF_WT_LEN) {
        if (NTFF_UNLIKELY(f->value > (uint64_t)(w->end - p)))
            goto unusual;
        p += f->value;
    } else if (NTFF_UNLIKELY(f->type != NTFF_WT_VARINT)) {
        goto unusual;
    }
    w->p = p;
    return 1;

unusual:;
    struct ntff_wire w2 = *w;
    struct ntff_field f2 = {0};
    int got = ntff_wire_next(&w2, &f2);
    *w = w2;
    *f = f2;
    return got;
}

/* Key and value of a map entry {1: text, 2: text} [FMT]; what is absent or no text is left empty.
 * Any extra fields are skipped; a malformed rest ends the entry. */
void ntff_wire_entry_slow(const uint8_t *p, const uint8_t *end, struct ntff_slice *key,
                          struct ntff_slice *value);

/* The same; entries as every writer makes them (key below 128 bytes, value below 16 KiB, nothing
 * else) take a few loads. */
static inline void ntff_wire_entry(const uint8_t *p, size_t len, struct ntff_slice *key,
                                   struct ntff_slice *value)
{
    if (NTFF_LIKELY(len >= 4 && p[0] == 0x0a && p[1] < 0x80 && p[1] + (size_t)4 <= len)) {
        const uint8_t *v = p + 2 + p[1];
        size_t rest = (size_t)(p + len - v), n = v[1], head = 2;
        if (n >= 0x80 && rest > 2 && v[2] < 0x80) {
            n = (n & 0x7f) | (size_t)v[2] << 7;
            head = 3;
        }
        if (NTFF_LIKELY(v[0] == 0x12 && n == rest - head)) {
            *key = (struct ntff_slice){(const char *)p + 2, p[1]};
            *value = (struct ntff_slice){(const char *)v + head, n};
            return;
        }
    }
    ntff_wire_entry_slow(p, p + len, key, value);
}

/* True if data[0..len) parses as a message all the way (one level, non-empty allowed). */
bool ntff_wire_plausible(const uint8_t *data, size_t len);

#endif
