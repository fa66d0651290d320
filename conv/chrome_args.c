/* chrome_args - see chrome_args.h. The piece ,"name": of each name is made once and copied from
 * then on. */
#include "conv/chrome_args.h"

#include "conv/jsonw.h"
#include "perfetto/perfetto_sink.h"
#include "proto/record.h"

#include <stdlib.h>

#define MAX_ATTRIBUTES 32 /* of an event made from records at once */
#define PIECE_PAD 32      /* bytes that can be read at a piece, whatever its length */
#define NUMBER_ROOM 32    /* of a number with its quotes */

/* A literal of known length. */
#define PUT(w, literal) ntff_put_bytes((w), (literal), sizeof(literal) - 1)

bool conv_args_names_init(struct conv_args_names *n)
{
    n->keys = calloc(PFT_MAX_KEYS + 2, sizeof *n->keys);
    return pft_intern_init(&n->in) && n->keys;
}

void conv_args_names_done(struct conv_args_names *n)
{
    pft_intern_done(&n->in);
    free(n->keys);
    n->keys = NULL;
}

void conv_arguer_begin(struct conv_arguer *a, struct conv_args_names *names, bool may_define,
                       struct ntff_put *w)
{
    a->namer.in = &names->in;
    a->namer.may_define = may_define;
    a->names = names;
    a->w = w;
}

/* -- names ---------------------------------------------------------------------------------------
 */

static void put_key_text(struct conv_arguer *a, const char *p, size_t len)
{
    if (!a->first)
        PUT(a->w, ",");
    a->first = false;
    conv_json_put_text(a->w, p, len);
    PUT(a->w, ":");
}

/* Writes a name for the first time and keeps that; without memory, next time again. */
static bool put_new_key(struct conv_arguer *a, const struct pft_key *k)
{
    struct conv_args_key *key = &a->names->keys[k->iid];
    const struct ntff_strtab *texts = &a->names->in.names;
    if (!a->namer.may_define)
        return false;
    size_t mark = (size_t)(a->w->p - a->w->start), skip = a->first;
    put_key_text(a, ntff_text(texts, k->iid), ntff_text_len(texts, k->iid));
    a->names->in.defs.len = 0; /* nobody reads the definitions here */
    size_t len = (size_t)(a->w->p - a->w->start) - mark;
    char *copy = ntff_out_failed(a->w->o)
                     ? NULL
                     : ntff_arena_alloc(&a->names->in.arena, len + skip + PIECE_PAD);
    if (!copy)
        return true;
    copy[0] = ',';
    memcpy(copy + skip, a->w->start + mark, len);
    key->len = len + skip;
    atomic_store_explicit(&key->p, copy, memory_order_release);
    return true;
}

/* ,"name": - of the first one all but the comma. False if this is left to the taker. */
static inline bool put_key(struct conv_arguer *a, const struct pft_key *k)
{
    const struct conv_args_key *key = &a->names->keys[k->iid];
    const char *p = atomic_load_explicit(&key->p, memory_order_acquire);
    if (NTFF_UNLIKELY(!p))
        return put_new_key(a, k);
    ntff_put_bytes(a->w, p + a->first, key->len - a->first);
    a->first = false;
    return true;
}

/* -- values --------------------------------------------------------------------------------------
 */

static inline void put_number(struct ntff_put *w, bool negative, uint64_t magnitude)
{
    bool quoted = magnitude > CONV_JSON_EXACT;
    if (quoted)
        PUT(w, "\"");
    if (negative)
        PUT(w, "-");
    conv_json_put_u64(w, magnitude);
    if (quoted)
        PUT(w, "\"");
}

static void put_value(struct conv_arguer *a, const struct ntff_attr *attr)
{
    struct ntff_put *w = a->w;
    switch (attr->kind) {
    case NTFF_V_TEXT: {
        bool cut = attr->text.len > PFT_MAX_TEXT;
        conv_json_put_text(w, attr->text.p, cut ? PFT_MAX_TEXT : attr->text.len);
        a->cut_texts += cut;
        break;
    }
    case NTFF_V_UINT:
        put_number(w, false, attr->u);
        break;
    case NTFF_V_INT:
        put_number(w, attr->i < 0, attr->i < 0 ? -(uint64_t)attr->i : (uint64_t)attr->i);
        break;
    case NTFF_V_BOOL:
        conv_json_raw(w, attr->b ? "true" : "false");
        break;
    case NTFF_V_DOUBLE:
        conv_json_put_double(w, attr->d);
        break;
    default:
        conv_json_raw(w, "null");
    }
}

/* A fact of a record, or (own) one of ours. False if the event is left to the taker. */
static bool put_attr(struct conv_arguer *a, const struct ntff_attr *attr, size_t place, bool own)
{
    const struct pft_key *k = pft_namer_key(&a->namer, attr->key.p, attr->key.len, place);
    if (NTFF_UNLIKELY(a->namer.in->only != NULL) && !own &&
        (k ? k->hidden : pft_intern_hides(a->namer.in, attr->key.p, attr->key.len)))
        return k || a->namer.may_define;
    bool later = attr->kind == NTFF_V_TEXT && attr->text.len > PFT_MAX_TEXT;
    if (NTFF_UNLIKELY((!k || later) && !a->namer.may_define) || (k && !put_key(a, k)))
        return false;
    if (!k) {
        struct ntff_slice name = pft_namer_unlisted(&a->namer, attr->key.p, attr->key.len);
        put_key_text(a, name.p, name.len);
    }
    put_value(a, attr);
    return true;
}

/* -- an event ------------------------------------------------------------------------------------
 */

static bool begin_event(struct conv_arguer *a, const struct pft_layout *layout,
                        const struct ntff_event *e)
{
    struct ntff_attr own[PFT_MAX_OWN];
    size_t n = pft_has_own_facts(layout, e) ? pft_own_facts(layout, e, own) : 0;
    a->first = true;
    pft_namer_event(&a->namer, e->name);
    for (size_t i = 0; i < n; i++)
        if (!put_attr(a, &own[i], PFT_GUESSED_PLACES - 1, true))
            return false;
    return true;
}

bool conv_args_make(struct conv_arguer *a, const struct pft_layout *layout,
                    const struct ntff_event *e, const struct ntff_detail *d)
{
    if (!begin_event(a, layout, e))
        return false;
    for (size_t i = 0; i < d->n; i++)
        if (!put_attr(a, &d->attrs[i], i, false))
            return false;
    return true;
}

bool conv_args_add(struct conv_arguer *a, const char *key, uint64_t v, struct ntff_made *made)
{
    struct ntff_attr attr = {.key = {key, strlen(key)}, .kind = NTFF_V_UINT, .u = v};
    bool good = put_attr(a, &attr, PFT_GUESSED_PLACES - 1, true);
    made->end = (size_t)(a->w->p - a->w->start);
    return good;
}

/* -- from records at once ------------------------------------------------------------------------
 *
 * What every record has comes first in the output, but last to be known: attributes are noted on
 * the way, then all is written in order. Whatever is unusual ends this, conv_args_make does it. */

struct direct {
    uint64_t number[NTFF_S_COUNT]; /* of the first record; only what .has, or is common */
    uint32_t has;
    enum ntff_record_half half;
    size_t n;
    struct {
        const uint8_t *entry, *readable;
        uint32_t len;
        uint8_t half; /* enum ntff_record_half */
    } attributes[MAX_ATTRIBUTES];
    const uint8_t *readable;
};

__attribute__((always_inline)) static inline bool direct_number(void *user, unsigned slot,
                                                                const uint8_t *varint, size_t len)
{
    struct direct *x = user;
    (void)len;
    (void)ntff_varint_in(varint, &x->number[slot]);
    x->has |= 1u << slot;
    return true;
}

__attribute__((always_inline)) static inline bool direct_attribute(void *user, const uint8_t *entry,
                                                                   size_t len)
{
    struct direct *x = user;
    if (x->n == MAX_ATTRIBUTES)
        return false;
    x->attributes[x->n].entry = entry;
    x->attributes[x->n].readable = x->readable;
    x->attributes[x->n].len = (uint32_t)len; /* below 16 KiB */
    x->attributes[x->n++].half = (uint8_t)x->half;
    return true;
}

static inline bool direct_read(struct direct *x, const struct ntff_trace *t,
                               const struct ntff_event *e)
{
    static const struct ntff_record_visitor start = {direct_number, direct_attribute,
                                                     ntff_record_refuse},
                                            stop = {ntff_record_pass, direct_attribute,
                                                    ntff_record_refuse};
    x->n = x->has = 0;
    x->half = ntff_start_half(e);
    for (size_t i = 0; i < NTFF_N_COMMON; i++)
        x->number[ntff_common_keys[i].slot] = 0;
    if (!ntff_record_visit(t, e->start_ref, &x->readable, x, &start) || x->has & NTFF_RARE_SLOTS)
        return false;
    x->half = NTFF_HALF_STOP;
    return !ntff_stop_tells(e) || ntff_record_visit(t, e->stop_ref, &x->readable, x, &stop);
}

/* ,"name": at p, where there is room for a number behind. NULL if it is not known yet. */
static inline uint8_t *direct_key(struct conv_arguer *a, uint8_t *p, const struct pft_key *k)
{
    const struct conv_args_key *key = &a->names->keys[k->iid];
    const char *piece = atomic_load_explicit(&key->p, memory_order_acquire);
    if (NTFF_UNLIKELY(!piece))
        return NULL;
    size_t skip = a->first, len = key->len - skip;
    if (NTFF_UNLIKELY((size_t)(a->w->end - p) < len + PIECE_PAD + NUMBER_ROOM)) {
        a->w->p = p;
        ntff_put_room(a->w, len + PIECE_PAD + NUMBER_ROOM);
        p = a->w->p;
    }
    memcpy(p, piece + skip, PIECE_PAD);
    if (NTFF_UNLIKELY(len > PIECE_PAD))
        memcpy(p, piece + skip, len);
    a->first = false;
    return p + len;
}

static inline uint8_t *direct_uint(uint8_t *p, uint64_t v)
{
    if (NTFF_LIKELY(v <= CONV_JSON_EXACT))
        return conv_json_decimal(p, v);
    *p++ = '"';
    p = conv_json_decimal(p, v);
    *p = '"';
    return p + 1;
}

static inline uint8_t *direct_common(struct conv_arguer *a, uint8_t *p, const struct direct *x)
{
    size_t n = x->has >> NTFF_S_NRTA_SEQ_ID & 1 ? NTFF_N_COMMON : NTFF_N_COMMON - 1;
    for (size_t i = 0; i < n; i++) {
        const struct ntff_common_key *c = &ntff_common_keys[i];
        if (NTFF_UNLIKELY(!a->common[i]) &&
            !(a->common[i] = pft_intern_find(a->namer.in, c->key, c->len)))
            return NULL;
        a->namer.seen[a->common[i]->iid] = a->namer.event_no;
        if (NTFF_UNLIKELY(!(p = direct_key(a, p, a->common[i]))))
            return NULL;
        p = direct_uint(p, x->number[c->slot]);
    }
    return p;
}

/* Digits of a number that is not quoted are copied, and looked at then: a file may change while it
 * is read. */
static inline uint8_t *direct_value(struct conv_arguer *a, uint8_t *p, struct ntff_slice value,
                                    const uint8_t *readable)
{
    uint64_t v;
    if (NTFF_LIKELY(value.len - 1 < 16 && (const char *)readable - value.p >= 16)) {
        memcpy(p, value.p, 16);
        if (ntff_canonical((const char *)p, value.len, p + 16, &v) && v <= CONV_JSON_EXACT)
            return p + value.len;
    }
    if (!ntff_canonical(value.p, value.len, readable, &v)) {
        a->w->p = p;
        if (NTFF_UNLIKELY(value.len > PFT_MAX_TEXT))
            return NULL;
        conv_json_put_text(a->w, value.p, value.len);
        return a->w->p;
    }
    return direct_uint(p, v);
}

bool conv_args_make_direct(struct conv_arguer *a, const struct ntff_trace *t,
                           const struct pft_layout *layout, const struct ntff_event *e)
{
    struct direct x;
    if (!direct_read(&x, t, e) || !begin_event(a, layout, e))
        return false;
    uint8_t *p = direct_common(a, a->w->p, &x);
    for (size_t i = 0; p && i < x.n; i++) {
        struct ntff_slice key, value;
        ntff_wire_entry(x.attributes[i].entry, x.attributes[i].len, &key, &value);
        key = ntff_shown_key(key, x.attributes[i].half);
        const struct pft_key *k = pft_namer_guess(&a->namer, key.p, key.len, i);
        if (NTFF_UNLIKELY(!k || a->namer.seen[k->iid] == a->namer.event_no))
            return false;
        a->namer.seen[k->iid] = a->namer.event_no;
        if (NTFF_LIKELY((p = direct_key(a, p, k)) != NULL))
            p = direct_value(a, p, value, x.attributes[i].readable);
    }
    if (p)
        a->w->p = p;
    return p;
}
