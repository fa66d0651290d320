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

static void add_varint(struct ntff_buf *b, uint64_t v)
{
    uint8_t bytes[10];
    ntff_buf_add(b, bytes, put_varint(bytes, v));
}

void ntff_store_uint(struct ntff_store *s, uint32_t field, uint64_t v)
{
    uint8_t bytes[15];
    size_t n = put_varint(bytes, (uint64_t)field << 3 | NTFF_WT_VARINT);
    n += put_varint(bytes + n, v);
    ntff_buf_add(&s->msg, bytes, n);
}

void ntff_store_text(struct ntff_store *s, uint32_t field, struct ntff_slice text)
{
    add_varint(&s->msg, (uint64_t)field << 3 | NTFF_WT_LEN);
    add_varint(&s->msg, text.len);
    ntff_buf_add(&s->msg, text.p, text.len);
}

void ntff_store_attr(struct ntff_store *s, struct ntff_slice key, enum ntff_store_kind kind,
                     struct ntff_slice value, bool top)
{
    size_t len = 2 + varint_len(key.len) + key.len + varint_len(value.len) + value.len +
                 (kind != NTFF_STORE_TEXT ? 2 : 0) + (top ? 2 : 0);
    add_varint(&s->msg, 12 << 3 | NTFF_WT_LEN);
    add_varint(&s->msg, len);
    ntff_store_text(s, NTFF_STORE_KEY, key);
    ntff_store_text(s, NTFF_STORE_VALUE, value);
    if (kind != NTFF_STORE_TEXT)
        ntff_store_uint(s, NTFF_STORE_KIND, kind);
    if (top)
        ntff_store_uint(s, NTFF_STORE_TOP, 1);
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
