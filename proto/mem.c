/* mem - memory with a budget. Growth is by half, so a vector of n elements costs at most 1.5 n
 * address space; large blocks move by remapping, so it does not cost twice the memory either. The
 * system is asked to make large blocks of huge pages: the first touch of every 4 KiB of a trace's
 * arrays would take longer than filling them. */
#include "proto/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool ntff_budget_take(struct ntff_budget *b, size_t n)
{
    size_t sum;
    if (!b)
        return true;
    if (!ntff_add_ok(b->used_bytes, n, &sum) || (b->max_bytes && sum > b->max_bytes)) {
        b->refused = true;
        return false;
    }
    b->used_bytes = sum;
    return true;
}

void ntff_budget_give(struct ntff_budget *b, size_t n)
{
    if (b)
        b->used_bytes -= n < b->used_bytes ? n : b->used_bytes;
}

/* Of the whole pages it touches: a mapping must stay one piece to be moved. Refused where there are
 * no such pages, which changes nothing. */
void ntff_mem_hint(void *p, size_t bytes)
{
    enum { PAGE = 4096, HUGE_FROM = 2 << 20, HEADER = 16 };
    uintptr_t from = (uintptr_t)p - HEADER, to = (uintptr_t)p + bytes + HEADER;
    from &= ~(uintptr_t)(PAGE - 1);
    if (bytes >= HUGE_FROM)
        (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

bool ntff_grow(struct ntff_budget *b, void **items, size_t *cap, size_t len, size_t n, size_t elem)
{
    size_t need, want, bytes;
    if (!ntff_add_ok(len, n, &need))
        return false;
    if (need <= *cap)
        return true;
    if (!ntff_add_ok(*cap, *cap / 2 + 16, &want))
        return false;
    if (want < need)
        want = need;
    if (!ntff_mul_ok(want, elem, &bytes))
        return false;
    size_t more = bytes - *cap * elem;
    if (!ntff_budget_take(b, more))
        return false;
    void *p = realloc(*items, bytes);
    if (!p) {
        ntff_budget_give(b, more);
        return false;
    }
    ntff_mem_hint(p, bytes);
    *items = p;
    *cap = want;
    return true;
}

void ntff_trim(struct ntff_budget *b, void **items, size_t *cap, size_t len, size_t elem)
{
    if (len == 0 || len == *cap)
        return;
    void *p = realloc(*items, len * elem);
    if (!p)
        return; /* then it stays as large as it is */
    ntff_budget_give(b, (*cap - len) * elem);
    *items = p;
    *cap = len;
}

void ntff_grow_free(struct ntff_budget *b, void *items, size_t cap, size_t elem)
{
    free(items);
    ntff_budget_give(b, cap * elem);
}

/* -- arena ----------------------------------------------------------------------------------- */

struct ntff_arena_chunk {
    struct ntff_arena_chunk *next;
    size_t used, size; /* of .bytes */
    _Alignas(16) uint8_t bytes[];
};

#define CHUNK_BYTES ((size_t)64 << 10)

void *ntff_arena_alloc(struct ntff_arena *a, size_t n)
{
    struct ntff_arena_chunk *c = a->chunks;
    if (n > SIZE_MAX / 2)
        return NULL;
    n = (n + 15) & ~(size_t)15;
    if (!c || c->size - c->used < n) {
        size_t size = n > CHUNK_BYTES / 4 ? n : CHUNK_BYTES;
        if (!ntff_budget_take(a->budget, sizeof *c + size))
            return NULL;
        struct ntff_arena_chunk *fresh = calloc(1, sizeof *c + size);
        if (!fresh) {
            ntff_budget_give(a->budget, sizeof *c + size);
            return NULL;
        }
        fresh->size = size;
        if (c && size == n) { /* a large block of its own goes behind the current chunk */
            fresh->next = c->next;
            c->next = fresh;
        } else {
            fresh->next = c;
            a->chunks = fresh;
        }
        c = fresh;
    }
    void *p = c->bytes + c->used;
    c->used += n;
    return p;
}

char *ntff_arena_text(struct ntff_arena *a, const char *p, size_t len)
{
    char *s = len < SIZE_MAX ? ntff_arena_alloc(a, len + 1) : NULL;
    if (s && len)
        memcpy(s, p, len);
    return s; /* zeroed, so the NUL is there */
}

void ntff_arena_free(struct ntff_arena *a)
{
    for (struct ntff_arena_chunk *c = a->chunks, *next; c; c = next) {
        next = c->next;
        ntff_budget_give(a->budget, sizeof *c + c->size);
        free(c);
    }
    a->chunks = NULL;
}

/* -- strings --------------------------------------------------------------------------------- */

/* Declared order of the slots: open addressing with linear probing, at most half full. */
static uint64_t hash_bytes(const char *p, size_t len)
{
    uint64_t h = 0x9e3779b97f4a7c15u ^ len, w;
    for (; len >= 8; p += 8, len -= 8) {
        memcpy(&w, p, 8);
        h = (h ^ w) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    w = 0;
    if (len > 0)
        memcpy(&w, p, len);
    h = (h ^ w) * 0xff51afd7ed558ccdu;
    return h ^ h >> 32;
}

static bool rehash(struct ntff_strtab *t, size_t n_slots)
{
    size_t bytes;
    if (!ntff_mul_ok(n_slots, sizeof *t->slots, &bytes) ||
        !ntff_budget_take(t->arena.budget, bytes))
        return false;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots) {
        ntff_budget_give(t->arena.budget, bytes);
        return false;
    }
    for (size_t i = 0; i < t->items.n; i++) {
        size_t s = hash_bytes(t->items.v[i].p, t->items.v[i].len) & (n_slots - 1);
        while (slots[s])
            s = (s + 1) & (n_slots - 1);
        slots[s] = (uint32_t)i + 1;
    }
    free(t->slots);
    ntff_budget_give(t->arena.budget, t->n_slots * sizeof *t->slots);
    t->slots = slots;
    t->n_slots = n_slots;
    return true;
}

bool ntff_strtab_init(struct ntff_strtab *t, struct ntff_budget *b)
{
    *t = (struct ntff_strtab){.arena.budget = b};
    if (!rehash(t, 256) || ntff_intern(t, "", 0) != 0) {
        ntff_strtab_done(t);
        return false;
    }
    return true;
}

void ntff_strtab_done(struct ntff_strtab *t)
{
    struct ntff_budget *b = t->arena.budget;
    free(t->slots);
    ntff_budget_give(b, t->n_slots * sizeof *t->slots);
    NTFF_VEC_FREE(b, &t->items);
    ntff_arena_free(&t->arena);
    *t = (struct ntff_strtab){0};
}

static ntff_str intern_clean(struct ntff_strtab *t, const char *p, size_t len)
{
    size_t s = hash_bytes(p, len) & (t->n_slots - 1);
    for (; t->slots[s]; s = (s + 1) & (t->n_slots - 1)) {
        const struct ntff_slice *have = &t->items.v[t->slots[s] - 1];
        if (have->len == len && memcmp(have->p, p, len) == 0)
            return t->slots[s] - 1;
    }
    if (t->items.n >= NTFF_STR_NONE - 1)
        return NTFF_STR_NONE;
    char *copy = ntff_arena_text(&t->arena, p, len);
    if (copy && NTFF_UNLIKELY(!ntff_text_ok(copy, len)))
        memset(copy, '?', len); /* the file it stands in changed just now */
    struct ntff_slice *item = copy ? NTFF_VEC_PUSH(t->arena.budget, &t->items) : NULL;
    if (!item)
        return NTFF_STR_NONE;
    *item = (struct ntff_slice){copy, len};
    ntff_str id = (ntff_str)(t->items.n - 1);
    t->slots[s] = id + 1;
    if (t->items.n * 2 > t->n_slots && !rehash(t, t->n_slots * 2)) {
        t->slots[s] = 0;
        t->items.n--;
        return NTFF_STR_NONE;
    }
    return id;
}

static ntff_str intern_repaired(struct ntff_strtab *t, const char *p, size_t len)
{
    struct ntff_buf b = {.budget = t->arena.budget};
    ntff_buf_add_text(&b, p, len);
    ntff_str id = b.failed ? NTFF_STR_NONE : intern_clean(t, (const char *)b.p, b.len);
    ntff_buf_free(&b);
    t->bad_texts++;
    return id;
}

ntff_str ntff_intern(struct ntff_strtab *t, const char *p, size_t len)
{
    return ntff_text_ok(p, len) ? intern_clean(t, p, len) : intern_repaired(t, p, len);
}

ntff_str ntff_internf(struct ntff_strtab *t, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0)
        return NTFF_STR_NONE;
    return ntff_intern(t, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

const char *ntff_text(const struct ntff_strtab *t, ntff_str id)
{
    return id < t->items.n ? t->items.v[id].p : "";
}

size_t ntff_text_len(const struct ntff_strtab *t, ntff_str id)
{
    return id < t->items.n ? t->items.v[id].len : 0;
}

/* -- bytes ----------------------------------------------------------------------------------- */

void ntff_buf_add(struct ntff_buf *b, const void *p, size_t n)
{
    if (b->failed || !ntff_grow(b->budget, (void **)&b->p, &b->cap, b->len, n, 1)) {
        b->failed = true;
        return;
    }
    if (n)
        memcpy(b->p + b->len, p, n); /* NOLINT(clang-analyzer-core.NonNullParamChecker): it grew */
    b->len += n;
}

void ntff_buf_add_text(struct ntff_buf *b, const char *p, size_t len)
{
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        char c[4]; /* once read it stays what it is: a file may change */
        size_t left = len - i < sizeof c ? len - i : sizeof c;
        memcpy(c, p + i, left);
        n = ntff_utf8_len(c, left);
        if (n == 0 || c[0] == '\0')
            ntff_buf_add(b, n ? "\xe2\x90\x80" : "\xef\xbf\xbd", 3);
        else
            ntff_buf_add(b, c, n);
    }
}

void ntff_buf_printf(struct ntff_buf *b, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
    } else if ((size_t)n < sizeof text) {
        ntff_buf_add(b, text, (size_t)n);
    } else if (!b->failed &&
               ntff_grow(b->budget, (void **)&b->p, &b->cap, b->len, (size_t)n + 1, 1)) {
        va_start(ap, fmt);
        vsnprintf((char *)b->p + b->len, (size_t)n + 1, fmt, ap);
        va_end(ap);
        b->len += (size_t)n;
    } else {
        b->failed = true;
    }
}

void ntff_buf_free(struct ntff_buf *b)
{
    ntff_grow_free(b->budget, b->p, b->cap, 1);
    *b = (struct ntff_buf){.budget = b->budget};
}

/* -- UTF-8 ----------------------------------------------------------------------------------- */

size_t ntff_utf8_len(const char *text, size_t n)
{
    const uint8_t *p = (const uint8_t *)text;
    if (n == 0)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
        return 0;
    uint8_t lo = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80;
    uint8_t hi = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf;
    if (p[1] < lo || p[1] > hi)
        return 0;
    for (size_t i = 2; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    return len;
}

bool ntff_utf8_ok(const char *p, size_t n)
{
    while (n) {
        uint64_t w;
        if (n >= 8 && (memcpy(&w, p, 8), !(w & 0x8080808080808080u))) {
            p += 8, n -= 8;
            continue;
        }
        size_t len = ntff_utf8_len(p, n);
        if (len == 0)
            return false;
        p += len, n -= len;
    }
    return true;
}

bool ntff_text_ok(const char *p, size_t n)
{
    return n == 0 || (!memchr(p, '\0', n) && ntff_utf8_ok(p, n));
}
