/* mutate - changes of protobuf bytes that leave protobuf.
 *
 * A mutator that only knows bytes breaks a length with nearly every change, and then the file is
 * one damaged record to the decoder. This one walks the message as a tree, picks one field of it by
 * number, writes everything anew with that field changed, and puts the lengths of what surrounds it
 * right. Streams of records (a length before each) and .ntff containers (a header that says how
 * long the message is, and notification records behind it) are taken apart first. Every other time
 * the bytes go to the ordinary mutator instead, so that damage is tried as well. */
#include "tests/fuzz/fuzz.h"
#include "tests/random.h"

#include "proto/wire.h"

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

enum { DEEPEST = 8 };

enum change { DROP, TWICE, VALUE, RENUMBER, RETYPE, CONTENT, CHANGES };

struct edit {
    uint64_t random;
    uint32_t target, seen; /* which field is changed; fields met so far */
    uint64_t kept;         /* a number met on the way, to be put elsewhere */
    enum change change;
    uint8_t *out;
    size_t len, cap;
    bool failed;
};

static uint64_t next(struct edit *e)
{
    return random_next(&e->random);
}

static void put(struct edit *e, const void *p, size_t n)
{
    if (e->failed || n > e->cap - e->len) {
        e->failed = true;
        return;
    }
    if (n > 0)
        memcpy(e->out + e->len, p, n);
    e->len += n;
}

static void put_varint(struct edit *e, uint64_t v)
{
    uint8_t b[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        b[n++] = (uint8_t)(v | 0x80);
    b[n++] = (uint8_t)v;
    put(e, b, n);
}

/* Puts the length of what was written since at before it. */
static void close_length(struct edit *e, size_t at)
{
    uint64_t v = e->len - at;
    size_t n = 1;
    for (uint64_t x = v; x >= 0x80; x >>= 7)
        n++;
    if (e->failed || n > e->cap - e->len) {
        e->failed = true;
        return;
    }
    memmove(e->out + at + n, e->out + at, (size_t)v);
    e->len = at;
    put_varint(e, v);
    e->len += (size_t)v;
}

static uint64_t some_value(struct edit *e, uint64_t v)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   3,
                                   45,
                                   46,
                                   127,
                                   255,
                                   65535,
                                   65536,
                                   INT32_MAX,
                                   UINT32_MAX,
                                   UINT64_C(1) << 32,
                                   UINT64_C(1) << 53,
                                   UINT64_C(1764440000000000000),
                                   INT64_MAX,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX};
    uint64_t r = next(e);
    switch (r >> 8 & 7) {
    case 0:
    case 1:
        return odd[(r >> 16) % NTFF_ARRAY_LEN(odd)];
    case 2:
        return v ^ UINT64_C(1) << (r >> 16 & 63);
    case 3:
        return e->kept;
    case 4:
        return v - 1;
    case 5:
        return v + 1 + (r >> 16 & 15);
    case 6:
        return v + (r >> 16 & 0xffffff) * 1000;
    default:
        return r >> (r & 63);
    }
}

static void put_value(struct edit *e, const struct ntff_field *f, uint64_t v)
{
    uint8_t b[8];
    for (size_t i = 0; i < sizeof b; i++)
        b[i] = (uint8_t)(v >> 8 * i);
    if (f->type == NTFF_WT_VARINT)
        put_varint(e, v);
    else
        put(e, b, f->type == NTFF_WT_I64 ? 8 : 4);
}

/* Bytes that the ordinary mutator changed, or a number as text; nothing if there is no room. */
static void put_content(struct edit *e, const struct ntff_field *f)
{
    char number[24];
    size_t at = e->len, n, room = e->cap - e->len;
    if (next(e) % 3 == 0) {
        n = (size_t)snprintf(number, sizeof number, "%llu",
                             (unsigned long long)some_value(e, e->kept));
        put(e, number, n);
    } else if (!e->failed && f->value + 80 < room) {
        memcpy(e->out + e->len, f->data, (size_t)f->value);
        e->len += LLVMFuzzerMutate(e->out + e->len, (size_t)f->value, (size_t)f->value + 64);
    }
    close_length(e, at);
}

static void message(struct edit *e, const uint8_t *p, size_t len, unsigned depth);

static void field_as_it_is(struct edit *e, const struct ntff_field *f, unsigned depth)
{
    put_varint(e, (uint64_t)f->number << 3 | f->type);
    if (f->type != NTFF_WT_LEN) {
        put_value(e, f, f->value);
        return;
    }
    size_t at = e->len;
    if (depth < DEEPEST && f->value > 1 && ntff_wire_plausible(f->data, (size_t)f->value))
        message(e, f->data, (size_t)f->value, depth + 1);
    else
        put(e, f->data, (size_t)f->value);
    close_length(e, at);
}

static void changed_field(struct edit *e, struct ntff_field f, unsigned depth)
{
    switch (e->change) {
    case DROP:
        return;
    case TWICE:
        field_as_it_is(e, &f, depth);
        break;
    case RENUMBER:
        f.number = (uint32_t)(next(e) % 31) + 1;
        break;
    case RETYPE:
        if (f.type != NTFF_WT_LEN) {
            f.type = f.type == NTFF_WT_VARINT ? NTFF_WT_I64 : NTFF_WT_VARINT;
            break;
        }
        put_varint(e, (uint64_t)f.number << 3 | NTFF_WT_VARINT);
        put_varint(e, some_value(e, f.value));
        return;
    default:
        put_varint(e, (uint64_t)f.number << 3 | f.type);
        if (f.type == NTFF_WT_LEN)
            put_content(e, &f);
        else
            put_value(e, &f, some_value(e, f.value));
        return;
    }
    field_as_it_is(e, &f, depth);
}

/* Copies a message; what does not parse is copied as it is. */
static void message(struct edit *e, const uint8_t *p, size_t len, unsigned depth)
{
    struct ntff_wire w = ntff_wire_init(p, len);
    struct ntff_field f;
    while (ntff_wire_next(&w, &f) == 1) {
        if (f.type != NTFF_WT_LEN && (next(e) & 7) == 0)
            e->kept = f.value;
        if (e->seen++ == e->target)
            changed_field(e, f, depth);
        else
            field_as_it_is(e, &f, depth);
    }
    put(e, w.p, (size_t)(w.end - w.p));
}

/* -- files ----------------------------------------------------------------------------------------
 */

/* A record with its length in n bytes (0 = varint) before it, or NULL at the end. */
static const uint8_t *record(const uint8_t *p, const uint8_t *end, size_t n, uint64_t *len)
{
    if (n == 0)
        p = p < end ? ntff_varint(p, end, len) : NULL;
    else if ((size_t)(end - p) < n)
        p = NULL;
    else {
        *len = n == 4 ? ntff_le32(p) : ntff_le64(p);
        p += n;
    }
    return p != NULL && *len <= (uint64_t)(end - p) ? p : NULL;
}

/* Length bytes of a stream all of whose records are messages; -1 = it is none. */
static int stream_of(const uint8_t *p, const uint8_t *end)
{
    static const uint8_t forms[] = {8, 4, 0};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(forms); i++) {
        const uint8_t *q = p, *r;
        uint64_t len = 0;
        while ((r = record(q, end, forms[i], &len)) != NULL && ntff_wire_plausible(r, (size_t)len))
            q = r + len;
        if (q > p + (end - p) / 2)
            return forms[i];
    }
    return -1;
}

static void one_record(struct edit *e, const uint8_t *p, size_t len, size_t n)
{
    size_t at = e->len;
    message(e, p, len, 1);
    if (n == 0) {
        close_length(e, at);
        return;
    }
    uint8_t size[8] = {0};
    for (size_t i = 0; i < n; i++)
        size[i] = (uint8_t)((e->len - at) >> 8 * i);
    put(e, size, n);
    if (e->failed)
        return;
    memmove(e->out + at + n, e->out + at, e->len - n - at);
    memcpy(e->out + at, size, n);
}

/* A stream: its records count as fields. */
static void stream(struct edit *e, const uint8_t *p, const uint8_t *end, size_t n)
{
    const uint8_t *r;
    uint64_t len = 0;
    for (; (r = record(p, end, n, &len)) != NULL; p = r + len) {
        bool mine = e->seen++ == e->target;
        if (mine && e->change == DROP)
            continue;
        if (mine)
            one_record(e, r, (size_t)len, n);
        one_record(e, r, (size_t)len, n);
    }
    put(e, p, (size_t)(end - p));
}

/* Header, message, sections. Records behind the message change as words. */
static void container(struct edit *e, const uint8_t *p, size_t size)
{
    enum { HEADER = 128 };
    uint64_t len = ntff_le64(p + 1);
    if (len > size - HEADER)
        len = size - HEADER;
    put(e, p, HEADER);
    message(e, p + HEADER, (size_t)len, 0);
    if (e->failed)
        return;
    for (size_t i = 0; i < 8; i++)
        e->out[1 + i] = (uint8_t)((e->len - HEADER) >> 8 * i);
    size_t at = e->len, rest = size - HEADER - (size_t)len;
    put(e, p + HEADER + len, rest);
    if (e->failed || rest < 16 || e->seen > e->target)
        return;
    uint8_t *word = e->out + at + next(e) % (rest / 4) * 4;
    uint64_t v = some_value(e, ntff_le32(word));
    for (size_t i = 0; i < 4; i++)
        word[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t count_fields(const uint8_t *p, size_t len, unsigned depth)
{
    struct ntff_wire w = ntff_wire_init(p, len);
    struct ntff_field f;
    uint32_t n = 0;
    while (ntff_wire_next(&w, &f) == 1) {
        n++;
        if (f.type == NTFF_WT_LEN && depth < DEEPEST && f.value > 1 &&
            ntff_wire_plausible(f.data, (size_t)f.value))
            n += count_fields(f.data, (size_t)f.value, depth + 1);
    }
    return n;
}

static uint32_t count_stream(const uint8_t *p, const uint8_t *end, size_t n)
{
    const uint8_t *r;
    uint64_t len = 0;
    uint32_t all = 0;
    for (; (r = record(p, end, n, &len)) != NULL; p = r + len)
        all += 1 + count_fields(r, (size_t)len, 1);
    return all;
}

static void edit_file(struct edit *e, const uint8_t *p, size_t size, enum fuzz_shape shape)
{
    bool is_container = shape == FUZZ_SHAPE_NTFF && size > 128;
    int n = is_container ? -1 : stream_of(p, p + size);
    uint32_t fields = is_container ? count_fields(p + 128, size - 128, 0) * 5 / 4 + 1
                      : n >= 0     ? count_stream(p, p + size, (size_t)n)
                                   : count_fields(p, size, 0);
    e->target = (uint32_t)(next(e) % (fields + 1));
    e->change = (enum change)(next(e) % CHANGES);
    e->kept = next(e) % 100;
    if (is_container)
        container(e, p, size);
    else if (n >= 0)
        stream(e, p, p + size, (size_t)n);
    else
        message(e, p, size, 0);
}

size_t fuzz_mutate_pb(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                      enum fuzz_shape shape)
{
    struct edit e = {.random = seed, .cap = max_size};
    if (size <= FUZZ_CHOICES || (next(&e) & 3) == 0)
        return LLVMFuzzerMutate(data, size, max_size);
    e.out = malloc(max_size + 1);
    if (e.out == NULL)
        return size;
    put(&e, data, FUZZ_CHOICES);
    uint64_t r = next(&e);
    if ((r & 7) == 0)
        e.out[r >> 8 & 3] = (uint8_t)(r >> 16);
    struct edit body = {.random = next(&e), .cap = max_size - e.len, .out = e.out + e.len};
    edit_file(&body, data + FUZZ_CHOICES, size - FUZZ_CHOICES, shape);
    if (!body.failed) {
        size = e.len + body.len;
        memcpy(data, e.out, size);
    }
    free(e.out);
    return size;
}
