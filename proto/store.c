/* store - writes the record form of store.h into blocks of the trace's arena. Blocks double in size
 * from 256 KiB to 64 MiB: a small JSON file costs little, a huge one few of the 65,535 sources. The
 * arena hands out zeroed memory that is not touched before it is used, so the unused part of the
 * last block is address space only. */
#include "proto/store.h"

#include <string.h>

#define FIRST_CHUNK ((size_t)256 << 10)
#define LAST_CHUNK ((size_t)64 << 20)

void ntff_store_init(struct ntff_store *s, struct ntff_builder *b, uint32_t file)
{
    *s = (struct ntff_store){.b = b, .file = file, .src = NTFF_NONE, .next_size = FIRST_CHUNK};
}

void ntff_store_done(struct ntff_store *s)
{
    ntff_buf_free(&s->msg);
}

void ntff_store_begin(struct ntff_store *s)
{
    s->msg.len = 0;
}

static size_t put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

static size_t varint_len(uint64_t v)
{
    size_t n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

/* Room for n more bytes at the end of the message; NULL when memory ran out. */
static uint8_t *room(struct ntff_store *s, size_t n)
{
    struct ntff_buf *b = &s->msg;
    if (b->failed || !ntff_grow(b->budget, (void **)&b->p, &b->cap, b->len, n, 1)) {
        b->failed = true;
        return NULL;
    }
    return b->p + b->len;
}

void ntff_store_uint(struct ntff_store *s, uint32_t field, uint64_t v)
{
    uint8_t *p = room(s, 15);
    if (!p)
        return;
    size_t n = put_varint(p, (uint64_t)field << 3 | NTFF_WT_VARINT);
    s->msg.len += n + put_varint(p + n, v);
}

static size_t put_text(uint8_t *p, uint32_t field, struct ntff_slice text)
{
    size_t n = put_varint(p, (uint64_t)field << 3 | NTFF_WT_LEN);
    n += put_varint(p + n, text.len);
    if (text.len)
        memcpy(p + n, text.p, text.len);
    return n + text.len;
}

void ntff_store_text(struct ntff_store *s, uint32_t field, struct ntff_slice text)
{
    uint8_t *p = room(s, 20 + text.len);
    if (p)
        s->msg.len += put_text(p, field, text);
}

void ntff_store_attr(struct ntff_store *s, struct ntff_slice key, enum ntff_store_kind kind,
                     struct ntff_slice value, bool top)
{
    size_t len = 2 + varint_len(key.len) + key.len + varint_len(value.len) + value.len +
                 (kind != NTFF_STORE_TEXT ? 2 : 0) + (top ? 2 : 0);
    uint8_t *p = room(s, 20 + len), *start = p;
    if (!p)
        return;
    p += put_varint(p, 12 << 3 | NTFF_WT_LEN);
    p += put_varint(p, len);
    p += put_text(p, NTFF_STORE_KEY, key);
    p += put_text(p, NTFF_STORE_VALUE, value);
    if (kind != NTFF_STORE_TEXT) {
        *p++ = NTFF_STORE_KIND << 3 | NTFF_WT_VARINT;
        *p++ = (uint8_t)kind;
    }
    if (top) {
        *p++ = NTFF_STORE_TOP << 3 | NTFF_WT_VARINT;
        *p++ = 1;
    }
    s->msg.len += (size_t)(p - start);
}

/* A block that holds at least n more bytes. */
static bool next_chunk(struct ntff_store *s, size_t n)
{
    struct ntff_trace *t = ntff_build_trace(s->b);
    size_t size = n > s->next_size ? n : s->next_size;
    uint8_t *p = ntff_arena_alloc(&t->arena, size);
    if (!p)
        return false;
    struct ntff_source source = {
        .kind = NTFF_SOURCE_STORE, .data = p, .len = size, .file = s->file};
    uint32_t src = ntff_build_source(s->b, &source);
    if (src == NTFF_NONE)
        return false;
    s->chunk = p;
    s->size = size;
    s->used = 0;
    s->src = src;
    if (s->next_size < LAST_CHUNK)
        s->next_size *= 2;
    return true;
}

bool ntff_store_commit(struct ntff_store *s, struct ntff_ref *ref)
{
    uint8_t head[10];
    size_t n_head = put_varint(head, s->msg.len), n = n_head + s->msg.len;
    if (s->msg.failed || (s->size - s->used < n && !next_chunk(s, n)))
        return false;
    *ref = (struct ntff_ref){.off = (uint32_t)s->used, .src = (uint16_t)s->src};
    memcpy(s->chunk + s->used, head, n_head);
    memcpy(s->chunk + s->used + n_head, s->msg.p, s->msg.len);
    s->used += n;
    return true;
}
