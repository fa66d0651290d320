/* intern - see intern.h. */
#include "perfetto/intern.h"

#include "proto/near.h"

#include <stdio.h>
#include <stdlib.h>

bool pft_intern_init(struct pft_intern *in)
{
    *in = (struct pft_intern){0};
    in->keys = calloc(PFT_KEY_SLOTS, sizeof *in->keys);
    in->texts = calloc(PFT_TEXT_SETS * PFT_TEXT_WAYS, sizeof *in->texts);
    if (in->keys && in->texts && ntff_strtab_init(&in->names, NULL))
        return true;
    pft_intern_done(in);
    return false;
}

void pft_intern_done(struct pft_intern *in)
{
    free(in->keys);
    free(in->texts);
    if (in->names.slots)
        ntff_strtab_done(&in->names);
    ntff_arena_free(&in->arena);
    ntff_buf_free(&in->defs);
    *in = (struct pft_intern){0};
}

static size_t put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

void pft_intern_define(struct pft_intern *in, uint32_t field, uint64_t iid, const char *p,
                       size_t len)
{
    uint8_t head[48], inner[24];
    size_t n_inner = 0, n_head = 0;
    inner[n_inner++] = 0x08; /* iid = 1 */
    n_inner += put_varint(inner + n_inner, iid);
    inner[n_inner++] = 0x12; /* name or str = 2 */
    n_inner += put_varint(inner + n_inner, len);
    n_head += put_varint(head, field << 3 | 2);
    n_head += put_varint(head + n_head, n_inner + len);
    ntff_buf_add(&in->defs, head, n_head);
    ntff_buf_add(&in->defs, inner, n_inner);
    ntff_buf_add(&in->defs, p, len);
}

/* -- names of annotations ------------------------------------------------------------------------
 */

/* The name to write for p: a new entry of in->names. NTFF_STR_NONE when memory ran out. */
static ntff_str written_name(struct pft_intern *in, const char *p, size_t len)
{
    struct ntff_buf b = {0};
    ntff_buf_add(&b, p, len);
    for (size_t i = 0; i < b.len; i++)
        if (b.p[i] == '.' || b.p[i] == '[' || b.p[i] == ']')
            b.p[i] = '_';
    if (len == 0)
        ntff_buf_add(&b, "_", 1);
    size_t stem = b.len, before = in->names.items.n;
    ntff_str id = b.failed ? NTFF_STR_NONE : ntff_intern(&in->names, (const char *)b.p, b.len);
    for (int i = 2; id != NTFF_STR_NONE && in->names.items.n == before && i < 1000; i++) {
        b.len = stem; /* "a.b" and "a_b" in one trace: the second becomes "a_b_2" */
        ntff_buf_printf(&b, "_%d", i);
        id = b.failed ? NTFF_STR_NONE : ntff_intern(&in->names, (const char *)b.p, b.len);
    }
    ntff_buf_free(&b);
    return in->names.items.n > before ? id : NTFF_STR_NONE;
}

/* The name of a list at *at, without the blanks around it; *at moves on. NULL at the end. */
static const char *next_item(const char **at, size_t *len)
{
    if (!*at)
        return NULL;
    const char *p = *at + strspn(*at, " ");
    *len = strcspn(p, ",");
    *at = p[*len] ? p + *len + 1 : NULL;
    while (*len && p[*len - 1] == ' ')
        --*len;
    return p;
}

bool pft_intern_hides(const struct pft_intern *in, const char *p, size_t len)
{
    const char *at = in->only;
    size_t n;
    for (const char *item; (item = next_item(&at, &n));)
        if (n == len && memcmp(item, p, len) == 0)
            return false;
    return in->only != NULL;
}

static const char *nearest_key(const struct pft_intern *in, const char *p, size_t len)
{
    struct ntff_near n = ntff_near_begin(p, len);
    for (size_t i = 0; i < PFT_KEY_SLOTS; i++)
        if (in->keys[i].text)
            ntff_near_try(&n, in->keys[i].text);
    const char *near = ntff_near_found(&n);
    return near ? near : "";
}

size_t pft_intern_unmet(const struct pft_intern *in, struct pft_unmet *out, size_t cap)
{
    const char *at = in->only, *item;
    size_t n = 0, len;
    while (n < cap && in->n_keys < PFT_MAX_KEYS && (item = next_item(&at, &len))) {
        if (len == 0 || pft_intern_find(in, item, len))
            continue;
        snprintf(out[n].name, sizeof out->name, "%.*s", (int)(len < 64 ? len : 64), item);
        size_t said = 0;
        while (strcmp(out[said].name, out[n].name) != 0) /* ends at n */
            said++;
        if (said < n)
            continue;
        snprintf(out[n].near, sizeof out->near, "%s", nearest_key(in, item, len));
        n++;
    }
    return n;
}

const struct pft_key *pft_intern_key(struct pft_intern *in, const char *p, size_t len)
{
    const struct pft_key *known = pft_intern_find(in, p, len);
    if (known)
        return known;
    if (in->n_keys >= PFT_MAX_KEYS || len > PFT_MAX_INTERNED_LEN)
        return NULL;
    const char *copy = ntff_arena_text(&in->arena, p, len);
    ntff_str id = copy ? written_name(in, p, len) : NTFF_STR_NONE;
    if (id == NTFF_STR_NONE) {
        in->defs.failed = true;
        return NULL;
    }
    uint64_t hash = pft_key_hash(p, len);
    size_t s = hash % PFT_KEY_SLOTS;
    while (in->keys[s].text)
        s = (s + 1) % PFT_KEY_SLOTS;
    struct pft_key *k = &in->keys[s];
    in->n_keys++;
    k->len = (uint32_t)len;
    k->hash = (uint32_t)(hash >> 32);
    k->iid = id;
    k->hidden = pft_intern_hides(in, p, len);
    pft_intern_define(in, PFT_DEF_KEY, id, ntff_text(&in->names, id),
                      ntff_text_len(&in->names, id));
    atomic_store_explicit(&k->text, copy, memory_order_release);
    return k;
}

/* -- the names of one event ----------------------------------------------------------------------
 */

const struct pft_key *pft_namer_other(struct pft_namer *n, const char *p, size_t len)
{
    return n->may_define ? pft_intern_key(n->in, p, len) : pft_intern_find(n->in, p, len);
}

const struct pft_key *pft_namer_again(struct pft_namer *n, const char *p, size_t len)
{
    struct ntff_slice name = pft_namer_unlisted(n, p, len);
    return n->others.failed ? NULL : pft_namer_other(n, name.p, name.len);
}

/* Counts on where the last one ended, so that a name repeated a million times costs a million
 * steps. */
struct ntff_slice pft_namer_unlisted(struct pft_namer *n, const char *p, size_t len)
{
    const struct pft_key *k;
    struct ntff_slice name;
    if (n->others_of != n->event_no)
        ntff_keys_begin(&n->others);
    n->others_of = n->event_no;
    do {
        name = ntff_keys_take(&n->others, len > 0 ? p : "_", len > 0 ? len : 1);
        k = n->others.failed ? NULL : pft_intern_find(n->in, name.p, name.len);
    } while (k && n->seen[k->iid] == n->event_no);
    if (n->may_define)
        n->in->defs.failed |= n->others.failed;
    return name;
}

void pft_namer_done(struct pft_namer *n)
{
    ntff_keys_done(&n->others);
}

/* -- values --------------------------------------------------------------------------------------
 */

static uint32_t promote(struct pft_intern *in, struct pft_text *slot, const char *p, size_t len)
{
    if (in->text_bytes + len > PFT_MAX_TEXT_BYTES || in->n_texts == PFT_MAX_TEXTS)
        return 0;
    const char *copy = ntff_arena_text(&in->arena, p, len);
    if (!copy) {
        in->defs.failed = true;
        return 0;
    }
    in->text_bytes += len;
    slot->len = (uint32_t)len;
    slot->iid = ++in->n_texts;
    pft_intern_define(in, PFT_DEF_TEXT, slot->iid, p, len);
    atomic_store_explicit(&slot->text, copy, memory_order_release);
    return slot->iid;
}

static inline struct pft_text *set_of(const struct pft_intern *in, uint64_t hash)
{
    return &in->texts[(hash >> 20) % PFT_TEXT_SETS * PFT_TEXT_WAYS];
}

uint32_t pft_intern_known(const struct pft_intern *in, const char *p, size_t len)
{
    if (len < PFT_MIN_INTERNED_LEN || len > PFT_MAX_INTERNED_LEN)
        return 0;
    uint64_t hash = pft_text_hash(p, len) | 1;
    const struct pft_text *set = set_of(in, hash);
    for (uint32_t i = 0; i < PFT_TEXT_WAYS; i++) {
        const char *text = atomic_load_explicit(&set[i].text, memory_order_acquire);
        if (text && set[i].hash == hash)
            return set[i].len == len && pft_same(text, p, len) ? set[i].iid : 0;
    }
    return 0;
}

uint32_t pft_intern_text(struct pft_intern *in, const char *p, size_t len)
{
    if (len < PFT_MIN_INTERNED_LEN || len > PFT_MAX_INTERNED_LEN)
        return 0;
    uint64_t hash = pft_text_hash(p, len) | 1;
    struct pft_text *set = set_of(in, hash);
    struct pft_text *free_slot = NULL;
    for (uint32_t i = 0; i < PFT_TEXT_WAYS; i++) {
        struct pft_text *slot = &set[i];
        if (slot->hash == hash) {
            if (!slot->text)
                return promote(in, slot, p, len);
            return slot->len == len && pft_same(slot->text, p, len) ? slot->iid : 0;
        }
        /* the first slot of the set that holds no definition, starting where the hash says */
        struct pft_text *candidate = &set[(i + (uint32_t)(hash >> 60)) % PFT_TEXT_WAYS];
        if (!candidate->text && (!free_slot || (free_slot->hash && !candidate->hash)))
            free_slot = candidate;
    }
    if (free_slot)
        free_slot->hash = hash; /* others look at it only when it has a text */
    return 0;
}
