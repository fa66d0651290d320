/* mem - budgeted memory: growable arrays, an arena, interned strings.
 * Knows: base, error.
 * A budget limits the sum of what a trace holds (--max-memory). All three report failure by
 * returning NULL/false; nothing is freed or changed then. */
#ifndef NTFF_MEM_H
#define NTFF_MEM_H

#include "base.h"

struct ntff_budget {
    size_t used_bytes, max_bytes; /* max 0 = no limit */
    bool refused;                 /* something was not taken because of the limit */
};
bool ntff_budget_take(struct ntff_budget *b, size_t n) NTFF_MUST_CHECK;
void ntff_budget_give(struct ntff_budget *b, size_t n);

/* A block that will be filled: large ones are better off in huge pages, where there are any. */
void ntff_mem_hint(void *p, size_t bytes);

/* Grows *items (elements of elem bytes, *cap allocated) so that n more fit after len. */
bool ntff_grow(struct ntff_budget *b, void **items, size_t *cap, size_t len, size_t n,
               size_t elem) NTFF_MUST_CHECK;
/* Gives back what an array made by ntff_grow has beyond its len elements. */
void ntff_trim(struct ntff_budget *b, void **items, size_t *cap, size_t len, size_t elem);
/* Frees an array made by ntff_grow and gives its bytes back. */
void ntff_grow_free(struct ntff_budget *b, void *items, size_t cap, size_t elem);

/* A typed vector: struct { T *v; size_t n, cap; }. PUSH yields a pointer to a new uninitialised
 * last element, or NULL. */
#define NTFF_VEC(T)                                                                                \
    struct {                                                                                       \
        T *v;                                                                                      \
        size_t n, cap;                                                                             \
    }
#define NTFF_VEC_PUSH(b, vec)                                                                      \
    ((vec)->n < (vec)->cap ||                                                                      \
             ntff_grow((b), (void **)&(vec)->v, &(vec)->cap, (vec)->n, 1, sizeof *(vec)->v)        \
         ? &(vec)->v[(vec)->n++]                                                                   \
         : NULL)
#define NTFF_VEC_TRIM(b, vec)                                                                      \
    ntff_trim((b), (void **)&(vec)->v, &(vec)->cap, (vec)->n, sizeof *(vec)->v)
#define NTFF_VEC_FREE(b, vec)                                                                      \
    (ntff_grow_free((b), (vec)->v, (vec)->cap, sizeof *(vec)->v), (vec)->v = NULL,                 \
     (vec)->n = (vec)->cap = 0)

/* Bump allocator: everything is freed at once. 16-byte aligned, zeroed. */
struct ntff_arena {
    struct ntff_budget *budget;
    struct ntff_arena_chunk *chunks;
};
void *ntff_arena_alloc(struct ntff_arena *a, size_t n) NTFF_MUST_CHECK;
char *ntff_arena_text(struct ntff_arena *a, const char *p, size_t len) NTFF_MUST_CHECK; /* + NUL */
void ntff_arena_free(struct ntff_arena *a);

/* Interned strings: equal text gives equal id; id 0 is "". Text is UTF-8 without NUL inside:
 * bytes that are not are replaced when interned (U+FFFD; NUL becomes U+2400). */
typedef uint32_t ntff_str;
#define NTFF_STR_NONE UINT32_MAX

struct ntff_strtab {
    struct ntff_arena arena;
    NTFF_VEC(struct ntff_slice) items; /* by id; NUL follows each */
    uint32_t *slots;                   /* open addressing, id + 1 */
    size_t n_slots;
    uint64_t bad_texts; /* how many were repaired */
};
bool ntff_strtab_init(struct ntff_strtab *t, struct ntff_budget *b) NTFF_MUST_CHECK;
void ntff_strtab_done(struct ntff_strtab *t);
/* NTFF_STR_NONE when memory ran out. */
ntff_str ntff_intern(struct ntff_strtab *t, const char *p, size_t len) NTFF_MUST_CHECK;
ntff_str ntff_internf(struct ntff_strtab *t, const char *fmt, ...)
    NTFF_PRINTF(2, 3) NTFF_MUST_CHECK;
/* Text of an id, NUL-terminated; lives as long as the table. Unknown ids give "". */
const char *ntff_text(const struct ntff_strtab *t, ntff_str id);
size_t ntff_text_len(const struct ntff_strtab *t, ntff_str id);

/* Growable bytes. A failed append sets .failed, and later appends do nothing. */
struct ntff_buf {
    struct ntff_budget *budget; /* may be NULL */
    uint8_t *p;
    size_t len, cap;
    bool failed;
};
void ntff_buf_add(struct ntff_buf *b, const void *p, size_t n);
/* Text, with every byte that is no UTF-8 as U+FFFD and NUL as U+2400 (both 3 bytes long). */
void ntff_buf_add_text(struct ntff_buf *b, const char *p, size_t n);
void ntff_buf_printf(struct ntff_buf *b, const char *fmt, ...) NTFF_PRINTF(2, 3);
void ntff_buf_free(struct ntff_buf *b);

/* Length of the valid UTF-8 sequence at p (1..4), 0 if p[0..n) starts none or n is 0.
 * Surrogates and overlong forms are not valid. NUL is (length 1). */
size_t ntff_utf8_len(const char *p, size_t n);
/* True if all n bytes are valid UTF-8. */
bool ntff_utf8_ok(const char *p, size_t n);
/* The same, and without NUL. */
bool ntff_text_ok(const char *p, size_t n);

#endif
