/* intern - iids for annotation names and values, and the definitions that still have to be written.
 * Knows: mem.   Source: InternedData of Perfetto.
 *
 * Names of annotations are few: each gets an iid at once. Values may be anything: a text gets an
 * iid when it is seen for the second time, from a table of fixed size, so that a million different
 * texts cost neither memory nor a definition each. Definitions collect in .defs as fields of
 * InternedData; the packet writer puts them into the packet that first uses them and empties it.
 * Memory: grows with the number of different names (at most PFT_MAX_KEYS) and interned texts (at
 * most PFT_MAX_TEXT_BYTES of them). When that or memory runs out, names and texts are written
 * inline.
 *
 * Threads: one thread gives iids; meanwhile others may look for those given (pft_intern_find,
 * pft_intern_known): what has an iid keeps it, and its .text appears last. */
#ifndef PFT_INTERN_H
#define PFT_INTERN_H

#include "proto/keys.h"

#include <stdatomic.h>
#include <string.h>

#define PFT_MAX_KEYS 4096u
#define PFT_KEY_SLOTS (2 * PFT_MAX_KEYS)
#define PFT_TEXT_SETS 4096u /* of PFT_TEXT_WAYS slots each */
#define PFT_TEXT_WAYS 4u
#define PFT_MIN_INTERNED_LEN 3u /* shorter texts are smaller inline */
#define PFT_MAX_INTERNED_LEN 4096u
#define PFT_MAX_TEXTS 16383u /* iids of two bytes: with one no text takes more than inline */
#define PFT_MAX_TEXT_BYTES ((size_t)16 << 20)

/* Fields of InternedData. */
enum { PFT_DEF_CATEGORY = 1, PFT_DEF_EVENT_NAME = 2, PFT_DEF_KEY = 3, PFT_DEF_TEXT = 29 };

struct pft_key {                /* an annotation name */
    _Atomic(const char *) text; /* as in the file; NULL = empty slot */
    uint32_t len, hash;
    uint32_t iid; /* from 1 */
    bool hidden;  /* records' facts of this name are left out */
};

struct pft_text {
    _Atomic(const char *) text; /* NULL = seen once, no iid yet */
    uint64_t hash;              /* 0 = empty slot */
    uint32_t len, iid;
};

struct pft_intern {
    struct ntff_arena arena;
    struct ntff_strtab names; /* of annotations as written: the id is the iid */
    struct ntff_buf defs;
    const char *only; /* "a,b": records' facts of other names are left out; NULL = of none */
    struct pft_key *keys;
    uint32_t n_keys;
    struct pft_text *texts;
    uint32_t n_texts;
    size_t text_bytes;
};

bool pft_intern_init(struct pft_intern *in) NTFF_MUST_CHECK;
void pft_intern_done(struct pft_intern *in);

/* Adds a definition: field of InternedData, iid, text (valid UTF-8). */
void pft_intern_define(struct pft_intern *in, uint32_t field, uint64_t iid, const char *p,
                       size_t len);

/* iid of a text value, 0 = write it inline. The text must be valid UTF-8 without NUL. */
uint32_t pft_intern_text(struct pft_intern *in, const char *p, size_t len);
/* The same for text of any kind, but only if it has an iid already. */
uint32_t pft_intern_known(const struct pft_intern *in, const char *p, size_t len);

/* True if records' facts of this name are left out; of names with an iid .hidden tells. */
bool pft_intern_hides(const struct pft_intern *in, const char *p, size_t len);

/* A name of in->only that no fact had, and one met that may have been meant, "" = none. */
struct pft_unmet {
    char name[64], near[64];
};
/* Fills at most cap of them; returns how many. 0 when the table is full: nobody knows then. */
size_t pft_intern_unmet(const struct pft_intern *in, struct pft_unmet *out, size_t cap);

/* The annotation name p[0..len), NULL when the table is full. What is written for it has '.', '['
 * and ']' replaced by '_' (readers would do so), is valid UTF-8, not empty, and no other name's. */
const struct pft_key *pft_intern_key(struct pft_intern *in, const char *p, size_t len);

static inline uint64_t pft_load64(const char *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t pft_load32(const char *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* For names: looks at the ends, the middle and the length only. */
static inline uint64_t pft_key_hash(const char *p, size_t len)
{
    uint64_t a = len, b = 0;
    if (len >= 8) {
        a += pft_load64(p) + (len > 16 ? pft_load64(p + len / 2 - 4) * 5 : 0);
        b = pft_load64(p + len - 8);
    } else if (len >= 4) {
        a += pft_load32(p) << 8;
        b = pft_load32(p + len - 4);
    } else if (len > 0) {
        a += (uint64_t)(uint8_t)p[0] << 8;
        b = (uint64_t)(uint8_t)p[len / 2] << 8 | (uint8_t)p[len - 1];
    }
    a = (a ^ b << 32 ^ b >> 32) * UINT64_C(0x9E3779B97F4A7C15);
    return a ^ a >> 32;
}

/* For values: every byte up to 64, of longer ones both ends and eight places between. */
static inline uint64_t pft_text_hash(const char *p, size_t len)
{
    const uint64_t k1 = UINT64_C(0x9E3779B97F4A7C15), k2 = UINT64_C(0xFF51AFD7ED558CCD);
    uint64_t a = len * k2, b = k1;
    size_t step = len <= 64 ? 16 : len / 5;
    if (len >= 16) {
        for (size_t i = 0; i + 16 < len; i += step) {
            a = (a ^ pft_load64(p + i)) * k1;
            b = (b ^ pft_load64(p + i + 8)) * k2;
            a ^= a >> 29;
            b ^= b >> 31;
        }
        a ^= pft_load64(p + len - 16);
        b ^= pft_load64(p + len - 8);
    } else if (len >= 8) {
        a ^= pft_load64(p);
        b ^= pft_load64(p + len - 8);
    } else if (len >= 4) {
        a ^= pft_load32(p);
        b ^= pft_load32(p + len - 4);
    } else {
        for (size_t i = 0; i < len; i++)
            b = b << 8 ^ (uint8_t)p[i];
    }
    a = a * k1 ^ b * k2;
    return a ^ a >> 32;
}

static inline bool pft_same(const char *a, const char *b, size_t len)
{
    if (len > 64)
        return memcmp(a, b, len) == 0;
    if (len >= 8) {
        for (size_t i = 0; i + 8 < len; i += 8)
            if (pft_load64(a + i) != pft_load64(b + i))
                return false;
        return pft_load64(a + len - 8) == pft_load64(b + len - 8);
    }
    if (len >= 4)
        return pft_load32(a) == pft_load32(b) && pft_load32(a + len - 4) == pft_load32(b + len - 4);
    while (len > 0 && a[len - 1] == b[len - 1])
        len--;
    return len == 0;
}

/* The name p[0..len) if it has an iid already, else NULL. */
static inline const struct pft_key *pft_intern_find(const struct pft_intern *in, const char *p,
                                                    size_t len)
{
    uint64_t hash = pft_key_hash(p, len);
    for (size_t s = hash % PFT_KEY_SLOTS;; s = (s + 1) % PFT_KEY_SLOTS) {
        const struct pft_key *k = &in->keys[s];
        const char *text = atomic_load_explicit(&k->text, memory_order_acquire);
        if (!text)
            return NULL;
        if (k->hash == (uint32_t)(hash >> 32) && k->len == len && pft_same(text, p, len))
            return k;
    }
}

/* -- the names of one event ---------------------------------------------------------------------
 *
 * Readers keep one value per name: when an event has a name twice, the second gets a name of its
 * own. Events of one kind have the same names in the same order: what was at a place last time is
 * tried first. One namer per thread. */

enum { PFT_GUESSED_KINDS = 64, PFT_GUESSED_PLACES = 16 };

struct pft_namer {
    struct pft_intern *in;
    bool may_define; /* give iids to new names */
    uint32_t event_no;
    const struct pft_key **guesses; /* of the event's kind */
    const struct pft_key *guess[PFT_GUESSED_KINDS][PFT_GUESSED_PLACES];
    uint32_t seen[PFT_MAX_KEYS + 2]; /* by iid: the event that had it last */
    struct ntff_keys others; /* names with a number, and those without an iid, of .others_of */
    uint32_t others_of;
};
void pft_namer_done(struct pft_namer *n);

static inline void pft_namer_event(struct pft_namer *n, uint32_t kind)
{
    n->event_no++;
    n->guesses = n->guess[kind % PFT_GUESSED_KINDS];
}

/* The slow paths of pft_namer_key: not the name guessed; a name of this event already. */
const struct pft_key *pft_namer_other(struct pft_namer *n, const char *p, size_t len);
const struct pft_key *pft_namer_again(struct pft_namer *n, const char *p, size_t len);

/* The name to write for one that has no iid: no other of this event has it. */
struct ntff_slice pft_namer_unlisted(struct pft_namer *n, const char *p, size_t len);

/* The name p[0..len) by itself: what was at this place last time, or another. NULL when it has no
 * iid: the table is full, or the name is new and n may not define. */
static inline const struct pft_key *pft_namer_guess(struct pft_namer *n, const char *p, size_t len,
                                                    size_t place)
{
    const struct pft_key **guess = &n->guesses[place % PFT_GUESSED_PLACES], *k = *guess;
    if (NTFF_LIKELY(k && k->len == len &&
                    pft_same(atomic_load_explicit(&k->text, memory_order_relaxed), p, len)))
        return k;
    k = pft_namer_other(n, p, len);
    if (k)
        *guess = k;
    return k;
}

/* The name p[0..len) as one of this event. NULL as above. */
static inline const struct pft_key *pft_namer_key(struct pft_namer *n, const char *p, size_t len,
                                                  size_t place)
{
    const struct pft_key *k = pft_namer_guess(n, p, len, place);
    if (NTFF_UNLIKELY(!k) ||
        (NTFF_UNLIKELY(n->seen[k->iid] == n->event_no) && !(k = pft_namer_again(n, p, len))))
        return NULL;
    n->seen[k->iid] = n->event_no;
    return k;
}

#endif
