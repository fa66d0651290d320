/* annotate - see annotate.h.
 *
 * An annotation is a tag, a length, the iid of its name and one value. All lengths but those of
 * texts fit one byte, so it is written in one go into room that was asked for once an event. */
#include "perfetto/annotate.h"

#include "proto/record.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ROOM 40 /* of an annotation that is no text, and of one but for its text */

/* Tags of DebugAnnotation, all but one of one byte. */
enum {
    TAG_ANNOTATION = PBW_TAG(4, PBW_LEN), /* of TrackEvent */
    TAG_KEY_IID = PBW_TAG(1, PBW_VARINT),
    TAG_BOOL = PBW_TAG(2, PBW_VARINT),
    TAG_UINT = PBW_TAG(3, PBW_VARINT),
    TAG_INT = PBW_TAG(4, PBW_VARINT),
    TAG_DOUBLE = PBW_TAG(5, PBW_I64),
    TAG_STRING = PBW_TAG(6, PBW_LEN),
    TAG_STRING_IID = PBW_TAG(17, PBW_VARINT)
};

void pft_annotator_begin(struct pft_annotator *a, struct pft_intern *in, bool may_define,
                         struct ntff_put *w)
{
    a->names.in = in;
    a->names.may_define = may_define;
    a->w = w;
    a->texts.n = a->next_text = 0;
}

void pft_annotator_done(struct pft_annotator *a)
{
    NTFF_VEC_FREE(NULL, &a->texts);
    ntff_buf_free(&a->repaired);
    pft_namer_done(&a->names);
}

/* -- values of a fixed size ----------------------------------------------------------------------
 */

/* Tag, place of the length, name. */
static inline uint8_t *put_name(uint8_t *p, uint32_t key)
{
    p[0] = TAG_ANNOTATION;
    p[2] = TAG_KEY_IID;
    return pbw_put_varint(p + 3, key);
}

static inline uint8_t *put_varint(uint8_t *p, uint32_t key, uint8_t tag, uint64_t v)
{
    uint8_t *end = put_name(p, key);
    *end++ = tag;
    end = pbw_put_varint(end, v);
    p[1] = (uint8_t)(end - p - 2);
    return end;
}

static inline uint8_t *put_iid(uint8_t *p, uint32_t key, uint32_t iid)
{
    uint8_t *end = pbw_put_varint(put_name(p, key), TAG_STRING_IID);
    end = pbw_put_varint(end, iid);
    p[1] = (uint8_t)(end - p - 2);
    return end;
}

static uint8_t *put_double(uint8_t *p, uint32_t key, double d)
{
    uint8_t *end = put_name(p, key);
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    *end++ = TAG_DOUBLE;
    end = pbw_put_fixed64(end, bits);
    p[1] = (uint8_t)(end - p - 2);
    return end;
}

/* -- texts ---------------------------------------------------------------------------------------
 *
 * They are looked at where they were copied to: a file may change while it is read. */

/* True for text without NUL and above-ASCII bytes: nearly all of it, and cheap to see. */
static inline bool plain_ascii(const char *p, size_t len)
{
    uint64_t bad = 0;
    for (; len >= 8; p += 8, len -= 8) {
        uint64_t w = pft_load64(p);
        bad |= w | ((w - UINT64_C(0x0101010101010101)) & ~w);
    }
    for (; len > 0; p++, len--)
        bad |= (uint64_t)(uint8_t)*p | ((uint64_t)(uint8_t)*p - 1);
    return (bad & UINT64_C(0x8080808080808080)) == 0;
}

/* A copy that is valid UTF-8 without NUL and of bounded length. */
static struct ntff_slice clean_text(struct pft_annotator *a, struct ntff_slice in)
{
    struct ntff_buf *b = &a->repaired;
    bool cut = in.len > PFT_MAX_TEXT;
    a->cut_texts += cut;
    b->len = 0;
    ntff_buf_add_text(b, in.p, cut ? PFT_MAX_TEXT : in.len);
    if (cut)
        ntff_buf_add(b, "\xe2\x80\xa6", 3);
    a->failed |= b->failed;
    return b->failed ? (struct ntff_slice){"", 0} : (struct ntff_slice){(char *)b->p, b->len};
}

/* A text that had no iid when looked for. False if it is not clean: nothing is written then. */
static bool put_clean(struct pft_annotator *a, uint32_t key, struct ntff_slice text)
{
    ntff_put_room(a->w, 2 * ROOM);
    size_t at = (size_t)(a->w->p - a->w->start);
    size_t inner = 1 + pbw_varint_size(key) + 1 + pbw_varint_size(text.len) + text.len;
    uint8_t *p = a->w->p;
    *p++ = TAG_ANNOTATION;
    p = pbw_put_varint(p, inner);
    *p++ = TAG_KEY_IID;
    p = pbw_put_varint(p, key);
    *p++ = TAG_STRING;
    a->w->p = pbw_put_varint(p, text.len);
    ntff_put_bytes(a->w, text.p, text.len);
    size_t end = (size_t)(a->w->p - a->w->start);
    const char *copy = (const char *)a->w->p - text.len;
    if (!plain_ascii(copy, text.len) && !ntff_text_ok(copy, text.len)) {
        a->w->p = a->w->start + at;
        return false;
    }
    if (text.len < PFT_MIN_INTERNED_LEN || text.len > PFT_MAX_INTERNED_LEN)
        return true;
    struct pft_inline_text *x = NTFF_VEC_PUSH(NULL, &a->texts);
    if (x)
        *x = (struct pft_inline_text){at, end - text.len, end, key};
    else
        a->failed = true;
    return true;
}

/* Most texts repeat: those were clean when they got their iid. */
static inline void put_text(struct pft_annotator *a, uint32_t key, struct ntff_slice text)
{
    uint32_t iid = pft_intern_known(a->names.in, text.p, text.len);
    if (NTFF_LIKELY(iid)) {
        a->w->p = put_iid(a->w->p, key, iid);
        return;
    }
    if (text.len > PFT_MAX_TEXT || !put_clean(a, key, text))
        (void)put_clean(a, key, clean_text(a, text));
}

/* -- rare values ---------------------------------------------------------------------------------
 */

static size_t number_text(char out[48], const struct ntff_attr *a)
{
    switch (a->kind) {
    case NTFF_V_UINT:
        return (size_t)snprintf(out, 48, "%" PRIu64, a->u);
    case NTFF_V_DOUBLE:
        return (size_t)snprintf(out, 48, "%.17g", a->d);
    default:
        return (size_t)snprintf(out, 48, "null");
    }
}

/* Values no field can hold: too large for the reader's signed column, no number, null. */
static bool only_as_text(const struct ntff_attr *a)
{
    return (a->kind == NTFF_V_UINT && a->u > INT64_MAX) ||
           (a->kind == NTFF_V_DOUBLE && !isfinite(a->d)) || a->kind == NTFF_V_NULL;
}

/* With its name inline: for the names that found no place in the table. */
static __attribute__((noinline)) void put_inline(struct pft_annotator *a,
                                                 const struct ntff_attr *attr)
{
    char text[48];
    size_t mark = pbw_open(a->w, 4);
    struct ntff_slice name = pft_namer_unlisted(&a->names, attr->key.p, attr->key.len);
    name = clean_text(a, name);
    pbw_bytes(a->w, 10, name.p, name.len);
    struct ntff_slice value = {text, 0};
    if (attr->kind == NTFF_V_TEXT)
        value = clean_text(a, attr->text);
    else if (only_as_text(attr))
        value.len = number_text(text, attr);
    if (attr->kind == NTFF_V_TEXT || value.len)
        pbw_bytes(a->w, 6, value.p, value.len);
    else if (attr->kind == NTFF_V_BOOL)
        pbw_u64(a->w, 2, attr->b);
    else if (attr->kind == NTFF_V_DOUBLE)
        pbw_double(a->w, 5, attr->d);
    else
        pbw_u64(a->w, attr->kind == NTFF_V_INT && attr->i < 0 ? 4 : 3, attr->u);
    pbw_close(a->w, mark);
}

static __attribute__((noinline)) void put_rare(struct pft_annotator *a, uint32_t key,
                                               const struct ntff_attr *attr)
{
    char text[48];
    if (only_as_text(attr))
        put_text(a, key, (struct ntff_slice){text, number_text(text, attr)});
    else if (attr->kind == NTFF_V_BOOL)
        a->w->p = put_varint(a->w->p, key, TAG_BOOL, attr->b);
    else if (attr->kind == NTFF_V_INT)
        a->w->p = put_varint(a->w->p, key, attr->i >= 0 ? TAG_UINT : TAG_INT, (uint64_t)attr->i);
    else
        a->w->p = put_double(a->w->p, key, attr->d);
}

/* -- an event ------------------------------------------------------------------------------------
 */

/* A fact of a record, or (own) one of ours. Asks for room itself. False if the event is left to the
 * taker. */
static inline bool put_attr(struct pft_annotator *a, const struct ntff_attr *attr, size_t place,
                            bool own)
{
    const struct pft_key *k = pft_namer_key(&a->names, attr->key.p, attr->key.len, place);
    if (NTFF_UNLIKELY(a->names.in->only != NULL) && !own &&
        (k ? k->hidden : pft_intern_hides(a->names.in, attr->key.p, attr->key.len)))
        return k || a->names.may_define;
    ntff_put_room(a->w, ROOM);
    if (NTFF_UNLIKELY(!k)) {
        if (!a->names.may_define)
            return false;
        put_inline(a, attr);
    } else if (NTFF_LIKELY(attr->kind == NTFF_V_UINT && attr->u <= INT64_MAX)) {
        a->w->p = put_varint(a->w->p, k->iid, TAG_UINT, attr->u);
    } else if (attr->kind == NTFF_V_TEXT) {
        if (NTFF_UNLIKELY(attr->text.len > PFT_MAX_TEXT) && !a->names.may_define)
            return false;
        put_text(a, k->iid, attr->text);
    } else {
        put_rare(a, k->iid, attr);
    }
    return true;
}

/* What every record has: the names are known, and are the first of the event. */
static inline bool put_common(struct pft_annotator *a, const struct ntff_detail *d)
{
    for (size_t i = 0; i < d->n_common; i++) {
        const struct ntff_attr *attr = &d->attrs[i];
        uint32_t iid = a->common[i];
        ntff_put_room(a->w, ROOM);
        if (NTFF_LIKELY(iid != 0 && attr->u <= INT64_MAX)) {
            a->names.seen[iid] = a->names.event_no;
            a->w->p = put_varint(a->w->p, iid, TAG_UINT, attr->u);
            continue;
        }
        if (!put_attr(a, attr, PFT_GUESSED_PLACES - 1, false))
            return false;
        const struct pft_key *k = pft_intern_find(a->names.in, attr->key.p, attr->key.len);
        a->common[i] = k && k->iid < 0x80 && !k->hidden ? (uint8_t)k->iid : 0;
    }
    return true;
}

static bool put_own(struct pft_annotator *a, const struct pft_layout *layout,
                    const struct ntff_event *e)
{
    struct ntff_attr own[PFT_MAX_OWN];
    size_t n = pft_own_facts(layout, e, own);
    for (size_t i = 0; i < n; i++)
        if (!put_attr(a, &own[i], PFT_GUESSED_PLACES - 1, true))
            return false;
    return true;
}

bool pft_annotate(struct pft_annotator *a, const struct pft_layout *layout,
                  const struct ntff_event *e, const struct ntff_detail *d)
{
    size_t n_texts = a->texts.n;
    pft_namer_event(&a->names, e->name);
    bool good = (!pft_has_own_facts(layout, e) || put_own(a, layout, e)) && put_common(a, d);
    for (size_t i = d->n_common; i < d->n && good; i++)
        good = put_attr(a, &d->attrs[i], i, false);
    if (!good)
        a->texts.n = n_texts;
    return good && !a->failed;
}

bool pft_annotate_uint(struct pft_annotator *a, const char *key, uint64_t v, struct ntff_made *made)
{
    struct ntff_attr attr = {.key = {key, strlen(key)}, .kind = NTFF_V_UINT, .u = v};
    bool good = put_attr(a, &attr, PFT_GUESSED_PLACES - 1, true);
    made->end = (size_t)(a->w->p - a->w->start);
    return good;
}

/* -- from records at once ------------------------------------------------------------------------
 *
 * Records and annotations write numbers alike: their varints are copied. What every record has
 * comes first in the output, but last to be known: it is put in front of the attributes, into room
 * that is left there. Whatever is unusual (names that are new or come twice, numbers written longer
 * than need be, fields that are no facts of every record) ends this: pft_annotate does it. */

#define COMMON_ROOM (NTFF_N_COMMON * 15)

struct direct {
    struct pft_annotator *a;
    const uint8_t *readable;
    uint8_t *p; /* where the next goes */
    size_t place;
    enum ntff_record_half half;
    uint32_t has;                     /* of the first record: bits of slots, */
    uint8_t number[NTFF_S_COUNT][16]; /* varints, copied: a file may change while it is read */
    uint8_t len[NTFF_S_COUNT];        /* their lengths */
};

__attribute__((always_inline)) static inline bool direct_number(void *user, unsigned slot,
                                                                const uint8_t *varint, size_t len)
{
    struct direct *x = user;
    memcpy(x->number[slot], varint, 16);
    x->len[slot] = (uint8_t)len;
    x->has |= 1u << slot;
    varint = x->number[slot];
    return ntff_varint_len(varint) == len && len < 10 && (len == 1 || varint[len - 1] != 0);
}

__attribute__((always_inline)) static inline bool direct_attribute(void *user, const uint8_t *entry,
                                                                   size_t len)
{
    struct direct *x = user;
    struct pft_annotator *a = x->a;
    struct pft_namer *n = &a->names;
    struct ntff_slice key, value;
    uint64_t v;
    ntff_wire_entry(entry, len, &key, &value);
    key = ntff_shown_key(key, x->half);
    const struct pft_key *k = pft_namer_guess(n, key.p, key.len, x->place++);
    if (NTFF_UNLIKELY(!k || n->seen[k->iid] == n->event_no))
        return false;
    n->seen[k->iid] = n->event_no;
    if (NTFF_UNLIKELY(a->w->end - x->p < 2 * ROOM)) {
        a->w->p = x->p;
        ntff_put_room(a->w, 2 * ROOM);
        x->p = a->w->p;
    }
    if (ntff_canonical(value.p, value.len, x->readable, &v)) {
        x->p = put_varint(x->p, k->iid, TAG_UINT, v);
        return v <= INT64_MAX;
    }
    if (NTFF_UNLIKELY(value.len > PFT_MAX_TEXT))
        return false;
    a->w->p = x->p;
    put_text(a, k->iid, value);
    x->p = a->w->p;
    return true;
}

/* The common facts, to end at `end`; what stands behind stays. Returns where they begin. */
static inline uint8_t *direct_common(struct direct *x, uint8_t *end)
{
    size_t n = x->has >> NTFF_S_NRTA_SEQ_ID & 1 ? NTFF_N_COMMON : NTFF_N_COMMON - 1, len = 5 * n;
    uint8_t behind[16];
    for (size_t i = 0; i < n; i++)
        len += x->len[ntff_common_keys[i].slot];
    memcpy(behind, end, sizeof behind);
    uint8_t *p = end - len;
    for (size_t i = 0; i < n; i++) {
        uint32_t iid = x->a->common[i];
        unsigned slot = ntff_common_keys[i].slot;
        uint32_t head = htole32(TAG_ANNOTATION | (uint32_t)(3 + x->len[slot]) << 8 |
                                TAG_KEY_IID << 16 | iid << 24);
        memcpy(p, &head, 4);
        p[4] = TAG_UINT;
        memcpy(p + 5, x->number[slot], 16);
        p += 5 + x->len[slot];
    }
    memcpy(end, behind, sizeof behind);
    return end - len;
}

/* Leaves room for the common facts, whose names count as seen before any attribute is. */
static inline bool direct_begin(struct direct *x)
{
    struct pft_annotator *a = x->a;
    for (size_t i = 0; i < NTFF_N_COMMON - 1; i++) {
        memset(x->number[ntff_common_keys[i].slot], 0, 16); /* what is not there is 0 */
        x->len[ntff_common_keys[i].slot] = 1;
        if (NTFF_UNLIKELY(!a->common[i]))
            return false;
        a->names.seen[a->common[i]] = a->names.event_no;
    }
    x->has = 0;
    x->place = 0;
    ntff_put_room(a->w, COMMON_ROOM + 2 * ROOM);
    x->p = a->w->p + COMMON_ROOM;
    return true;
}

/* All records of e; what is said of the last common fact, which not all have. */
static inline bool direct_records(struct direct *x, const struct ntff_trace *t,
                                  const struct ntff_event *e)
{
    static const struct ntff_record_visitor start = {direct_number, direct_attribute,
                                                     ntff_record_refuse},
                                            stop = {ntff_record_pass, direct_attribute,
                                                    ntff_record_refuse};
    struct pft_namer *n = &x->a->names;
    x->half = ntff_start_half(e);
    if (!ntff_record_visit(t, e->start_ref, &x->readable, x, &start) || x->has & NTFF_RARE_SLOTS)
        return false;
    if (x->has >> NTFF_S_NRTA_SEQ_ID & 1) {
        uint32_t iid = x->a->common[NTFF_N_COMMON - 1];
        if (!iid || n->seen[iid] == n->event_no)
            return false;
        n->seen[iid] = n->event_no;
    }
    x->half = NTFF_HALF_STOP;
    return !ntff_stop_tells(e) || ntff_record_visit(t, e->stop_ref, &x->readable, x, &stop);
}

bool pft_annotate_direct(struct pft_annotator *a, const struct ntff_trace *t,
                         const struct pft_layout *layout, const struct ntff_event *e, size_t *at)
{
    struct direct x;
    size_t n_texts = a->texts.n, before = *at;
    x.a = a;
    pft_namer_event(&a->names, e->name);
    bool good = !pft_has_own_facts(layout, e) || (put_own(a, layout, e) && a->texts.n == n_texts);
    size_t own = (size_t)(a->w->p - a->w->start) - before;
    size_t attributes = own + before + COMMON_ROOM;
    if (NTFF_UNLIKELY(!good || !direct_begin(&x) || !direct_records(&x, t, e) || a->failed)) {
        a->texts.n = n_texts;
        return false;
    }
    a->w->p = x.p;
    uint8_t *first = direct_common(&x, a->w->start + attributes) - own;
    if (own)
        memmove(first, a->w->start + before, own);
    *at = (size_t)(first - a->w->start);
    return true;
}

/* -- the taker -----------------------------------------------------------------------------------
 */

/* Puts iids where texts get one, and moves what follows up. */
static size_t settle_texts(struct pft_annotator *a, struct pft_intern *in, size_t end)
{
    uint8_t *base = a->w->start;
    size_t to = a->texts.v[a->next_text].at, from = to;
    for (; a->next_text < a->texts.n && a->texts.v[a->next_text].at < end; a->next_text++) {
        const struct pft_inline_text *x = &a->texts.v[a->next_text];
        uint32_t iid = pft_intern_text(in, (const char *)base + x->text, x->end - x->text);
        if (!iid)
            continue;
        uint8_t small[ROOM];
        size_t n = (size_t)(put_iid(small, x->key, iid) - small);
        memmove(base + to, base + from, x->at - from);
        to += x->at - from;
        memcpy(base + to, small, n); /* smaller than the text was */
        to += n;
        from = x->end;
    }
    if (to != from)
        memmove(base + to, base + from, end - from);
    return to + (end - from);
}

struct ntff_slice pft_annotations(struct pft_annotator *a, struct pft_intern *in,
                                  const struct ntff_made *made)
{
    size_t end = made->end;
    while (a->next_text < a->texts.n && a->texts.v[a->next_text].at < made->at)
        a->next_text++; /* of events that were made again */
    if (NTFF_UNLIKELY(a->next_text < a->texts.n && a->texts.v[a->next_text].at < end))
        end = settle_texts(a, in, end);
    return (struct ntff_slice){(const char *)a->w->start + made->at, end - made->at};
}
