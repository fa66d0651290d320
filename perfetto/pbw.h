/* pbw - write protobuf fields into the room of a put cursor, lengths included, without malloc.
 * Source: protobuf encoding [PB].   Knows: out.
 *
 * Nested messages are written in one pass: pbw_open leaves two bytes for the length, pbw_close
 * patches it and moves the content only when the length needs another size, so that the bytes are
 * exactly what any protobuf library would write. The raw functions (pbw_put_*) do not check room:
 * their caller asked ntff_put_room for the whole of a fixed-size part at once. The others do. */
#ifndef PFT_PBW_H
#define PFT_PBW_H

#include "proto/out.h"

#include <endian.h>
#include <string.h>

#define PBW_MAX_VARINT 10
#define PBW_TAG(field, wire) ((uint32_t)(field) << 3 | (uint32_t)(wire))
enum { PBW_VARINT = 0, PBW_I64 = 1, PBW_LEN = 2 };

static inline size_t pbw_varint_size(uint64_t v)
{
    return ((size_t)(63 - __builtin_clzll(v | 1)) * 9 + 73) / 64; /* bits / 7, rounded up */
}

/* Spreads the low 56 bits over eight bytes, seven each: no loop over the groups. */
static inline uint64_t pbw_spread(uint64_t v)
{
    v = (v & 0x00FFFFFFF0000000) << 4 | (v & 0x000000000FFFFFFF);
    v = (v & 0x0FFFC0000FFFC000) << 2 | (v & 0x00003FFF00003FFF);
    return (v & 0x3F803F803F803F80) << 1 | (v & 0x007F007F007F007F);
}

/* Writes v at p and returns the byte after it; 10 bytes may be touched. */
static inline uint8_t *pbw_put_varint(uint8_t *p, uint64_t v)
{
    if (NTFF_LIKELY(v < 0x80)) {
        *p = (uint8_t)v;
        return p + 1;
    }
    size_t n = pbw_varint_size(v);
    uint64_t more = UINT64_C(0x8080808080808080);
    if (n < 9)
        more &= (UINT64_C(1) << (8 * (n - 1))) - 1;
    uint64_t low = htole64(pbw_spread(v) | more);
    memcpy(p, &low, 8);
    if (n > 8) {
        p[8] = (uint8_t)((v >> 56 & 0x7F) | (n > 9 ? 0x80 : 0));
        p[9] = (uint8_t)(v >> 63);
    }
    return p + n;
}

static inline uint8_t *pbw_put_fixed64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, 8);
    return p + 8;
}

/* -- checked -------------------------------------------------------------------------------------
 */

static inline void pbw_u64(struct ntff_put *w, uint32_t field, uint64_t v)
{
    ntff_put_room(w, 2 * PBW_MAX_VARINT);
    w->p = pbw_put_varint(pbw_put_varint(w->p, PBW_TAG(field, PBW_VARINT)), v);
}
static inline void pbw_i64(struct ntff_put *w, uint32_t field, int64_t v)
{
    pbw_u64(w, field, (uint64_t)v);
}
static inline void pbw_fixed64(struct ntff_put *w, uint32_t field, uint64_t v)
{
    ntff_put_room(w, 2 * PBW_MAX_VARINT);
    w->p = pbw_put_fixed64(pbw_put_varint(w->p, PBW_TAG(field, PBW_I64)), v);
}
static inline void pbw_double(struct ntff_put *w, uint32_t field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    pbw_fixed64(w, field, bits);
}
static inline void pbw_bytes(struct ntff_put *w, uint32_t field, const void *p, size_t n)
{
    ntff_put_room(w, 2 * PBW_MAX_VARINT);
    w->p = pbw_put_varint(pbw_put_varint(w->p, PBW_TAG(field, PBW_LEN)), n);
    ntff_put_bytes(w, p, n);
}
static inline void pbw_text(struct ntff_put *w, uint32_t field, const char *text)
{
    pbw_bytes(w, field, text, strlen(text));
}

/* A nested message: everything written until pbw_close(w, mark) is its content. */
static inline size_t pbw_open(struct ntff_put *w, uint32_t field)
{
    ntff_put_room(w, PBW_MAX_VARINT + 2);
    w->p = pbw_put_varint(w->p, PBW_TAG(field, PBW_LEN)) + 2;
    return (size_t)(w->p - w->start);
}

/* The half of pbw_close for lengths that do not take two bytes. */
static inline void pbw_close_moving(struct ntff_put *w, size_t len)
{
    size_t size = pbw_varint_size(len);
    ntff_put_room(w, PBW_MAX_VARINT);
    uint8_t *at = w->p - len - 2;
    memmove(at + size, at + 2, len);
    w->p = at + size + len;
    for (; len >= 0x80; len >>= 7)
        *at++ = (uint8_t)(len | 0x80);
    *at = (uint8_t)len;
}

static inline void pbw_close(struct ntff_put *w, size_t mark)
{
    uint8_t *content = w->start + mark;
    if (NTFF_UNLIKELY(content > w->p)) /* the output failed and dropped this unit */
        return;
    size_t len = (size_t)(w->p - content);
    if (NTFF_LIKELY(len >= 0x80 && len < 0x4000)) {
        content[-2] = (uint8_t)(len | 0x80);
        content[-1] = (uint8_t)(len >> 7);
        return;
    }
    pbw_close_moving(w, len);
}

#endif
