/* wire - the protobuf wire format [PB] over a bounded run of bytes. */
#include "proto/wire.h"

const uint8_t *ntff_varint_slow(const uint8_t *p, const uint8_t *end, uint64_t *out)
{
    uint64_t v = 0;
    const uint8_t *stop = end - p > 10 ? p + 10 : end;
    for (unsigned shift = 0; p < stop; shift += 7) {
        uint8_t b = *p++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            *out = v; /* bits above 64 in a tenth byte are dropped, as protobuf does */
            return p;
        }
    }
    return NULL;
}

static int bad(struct ntff_wire *w, const char *why)
{
    w->why = why;
    return -1;
}

int ntff_wire_next(struct ntff_wire *w, struct ntff_field *f)
{
    const uint8_t *p = w->p, *end = w->end;
    uint64_t tag, v;
    if (p == end)
        return 0;
    if (!(p = ntff_varint(p, end, &tag)))
        return bad(w, "field tag is cut or longer than 10 bytes");
    if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
        return bad(w, "field number is 0 or above 2^29-1");
    f->number = (uint32_t)(tag >> 3);
    f->type = tag & 7;
    switch (f->type) {
    case NTFF_WT_VARINT:
        if (!(p = ntff_varint(p, end, &f->value)))
            return bad(w, "number is cut or longer than 10 bytes");
        break;
    case NTFF_WT_LEN:
        if (!(p = ntff_varint(p, end, &v)))
            return bad(w, "length is cut or longer than 10 bytes");
        if (v > (uint64_t)(end - p))
            return bad(w, "length goes past the end");
        f->value = v;
        f->data = p;
        p += v;
        break;
    case NTFF_WT_I64:
        if (end - p < 8)
            return bad(w, "8-byte number is cut");
        f->value = ntff_le64(p);
        p += 8;
        break;
    case NTFF_WT_I32:
        if (end - p < 4)
            return bad(w, "4-byte number is cut");
        f->value = ntff_le32(p);
        p += 4;
        break;
    default:
        return bad(w, "wire type is a group or does not exist");
    }
    w->p = p;
    return 1;
}

bool ntff_wire_plausible(const uint8_t *data, size_t len)
{
    struct ntff_wire w = ntff_wire_init(data, len);
    struct ntff_field f;
    int r;
    while ((r = ntff_wire_next(&w, &f)) > 0)
        ;
    return r == 0;
}

void ntff_wire_entry_slow(const uint8_t *p, const uint8_t *end, struct ntff_slice *key,
                          struct ntff_slice *value)
{
    struct ntff_wire w = ntff_wire_init(p, (size_t)(end - p));
    struct ntff_field f;
    *key = *value = (struct ntff_slice){"", 0};
    while (ntff_wire_next(&w, &f) > 0) {
        if (f.type != NTFF_WT_LEN)
            continue;
        if (f.number == 1)
            *key = (struct ntff_slice){(const char *)f.data, f.value};
        else if (f.number == 2)
            *value = (struct ntff_slice){(const char *)f.data, f.value};
    }
}
