/* record - the one walk over an ntrace_event record for its details, as code to be inlined.
 * Knows: model, plan, wire, decimal.   Private to those who turn records into something by the
 * million: detail.c makes arrays of them, writers make output at once.
 *
 * Numbers and attributes are nearly all there is, and have field numbers below 16: they are read in
 * place. A number is handed over as it stands in the record, a checked varint; whoever writes
 * varints can copy it. Everything else (field numbers above, other wire types, what is cut) goes
 * the long way. */
#ifndef NTFF_RECORD_H
#define NTFF_RECORD_H

#include "decimal.h"
#include "model.h"
#include "plan.h"
#include "wire.h"

/* What every record has, in the order it is shown in; the last only if present [FMT]. */
struct ntff_common_key {
    uint8_t slot, len;
    const char *key;
};
extern const struct ntff_common_key ntff_common_keys[NTFF_N_COMMON];

/* Shown only when they are not 0. */
#define NTFF_RARE_SLOTS                                                                            \
    (1u << NTFF_S_DURATION | 1u << NTFF_S_PARENT_ID | 1u << NTFF_S_STATUS | 1u << NTFF_S_TYPE |    \
     1u << NTFF_S_DATA | 1u << NTFF_S_ND_IDX)

enum ntff_record_half { NTFF_HALF_START, NTFF_HALF_STOP, NTFF_HALF_POINT };

/* Which records of e tell something: the start, and what it is the start of; the stop. */
static inline bool ntff_has_start(const struct ntff_event *e)
{
    return e->start_ref.src != NTFF_SRC_NONE;
}
static inline bool ntff_stop_tells(const struct ntff_event *e)
{
    return e->stop_ref.src != NTFF_SRC_NONE &&
           (!ntff_has_start(e) || !(e->flags & NTFF_EV_STOP_PLAIN));
}
static inline enum ntff_record_half ntff_start_half(const struct ntff_event *e)
{
    return e->flags & NTFF_EV_INSTANT && !(e->flags & NTFF_EV_NO_LANE) ? NTFF_HALF_POINT
                                                                       : NTFF_HALF_START;
}

/* The key an attribute is shown under. */
struct ntff_slice ntff_shown_key_slow(struct ntff_slice key, enum ntff_record_half half);
static inline struct ntff_slice ntff_shown_key(struct ntff_slice key, enum ntff_record_half half)
{
    return NTFF_UNLIKELY(key.len - 15 < 2) ? ntff_shown_key_slow(key, half) : key;
}

/* A canonical decimal (no sign, no leading zero) below 2^64 is a number; all else is text. Bytes
 * can be read up to `readable`: most numbers are short enough not to ask digit by digit, and most
 * texts do not begin with a digit. */
bool ntff_canonical_slow(const char *p, size_t n, uint64_t *out);
__attribute__((always_inline)) static inline bool
ntff_canonical(const char *p, size_t n, const uint8_t *readable, uint64_t *out)
{
    if (n == 0 || (uint8_t)(p[0] - '0') > 9)
        return false;
    if (NTFF_UNLIKELY(n > 16 || (const char *)readable - p < 16))
        return ntff_canonical_slow(p, n, out);
    return ntff_decimal_16(p, n, out) && (p[0] != '0' || n == 1);
}

/* The message a ref names, see ntff_source_message. */
static inline bool ntff_message_at(const struct ntff_source *s, uint32_t off, struct ntff_wire *w)
{
    const uint8_t *end = s->data + s->len, *p = s->data + off;
    unsigned framing = s->kind == NTFF_SOURCE_STORE ? NTFF_FRAME_VARINT : s->framing;
    uint64_t n;
    if (off >= s->len)
        return false;
    if (NTFF_LIKELY(framing == NTFF_FRAME_VARINT && end - p > 2 && p[0] >= 0x80 && p[1] < 0x80)) {
        n = (p[0] & 0x7fu) | (unsigned)p[1] << 7;
        p += 2;
    } else if (framing == NTFF_FRAME_U32 || framing == NTFF_FRAME_U64) {
        size_t size = framing == NTFF_FRAME_U32 ? 4 : 8;
        if ((size_t)(end - p) < size)
            return false;
        n = size == 4 ? ntff_le32(p) : ntff_le64(p);
        p += size;
    } else if (!(p = ntff_varint(p, end, &n))) {
        return false;
    }
    *w = (struct ntff_wire){p, p + n, NULL};
    return n <= (uint64_t)(end - p);
}

/* A record up to this size is worth a way of its own; the others are few, or somebody means ill. */
#define NTFF_RECORD_SMALL 4096

/* The ntrace_event of a ref, a small one whose numbers stand there as they are meant; false if it
 * names something else. */
static inline bool ntff_record_at(const struct ntff_trace *t, struct ntff_ref ref,
                                  struct ntff_wire *w)
{
    if (NTFF_UNLIKELY(ref.src >= t->n_sources))
        return false;
    const struct ntff_source *s = &t->sources[ref.src];
    return NTFF_LIKELY(s->kind == NTFF_SOURCE_EVENTS && !s->plan->zigzag &&
                       ntff_message_at(s, ref.off, w) && w->end - w->p <= NTFF_RECORD_SMALL);
}

/* Length of the varint at p, 1 .. 10; SIZE_MAX if it has no end there. Ten bytes can be read. */
__attribute__((always_inline)) static inline size_t ntff_varint_len(const uint8_t *p)
{
    if (NTFF_LIKELY(*p < 0x80))
        return 1;
    uint64_t last = ~ntff_le64(p) & 0x8080808080808080u;
    if (NTFF_LIKELY(last != 0))
        return (size_t)(__builtin_ctzll(last) >> 3) + 1;
    return p[8] < 0x80 ? 9 : p[9] < 0x80 ? 10 : SIZE_MAX;
}

/* True if details are what the records hold: nothing rewrites texts, no names are added to ids. */
bool ntff_detail_is_plain(const struct ntff_trace *t);

/* What is called on the way; false stops the walk. */
struct ntff_record_visitor {
    /* A number in a known slot: its varint, 16 bytes can be read there. */
    bool (*number)(void *user, unsigned slot, const uint8_t *varint, size_t len);
    bool (*attribute)(void *user, const uint8_t *entry, size_t len);
    /* Any field, of these or of other kinds. */
    bool (*other)(void *user, const struct ntff_field *f);
};

/* False if a visitor stopped it. Fields up to the first malformed one are visited. v must be known
 * when this is compiled. */
__attribute__((always_inline)) static inline bool
ntff_record_walk(const struct ntff_source *s, struct ntff_wire w, void *user,
                 const struct ntff_record_visitor *v)
{
    const uint8_t *readable = s->data + s->len, *end = w.end, *p = w.p;
    const uint8_t *usual = readable - end >= 16 ? end : p; /* what is read lies in the source */
    const uint8_t *by_tag = s->plan->by_tag, *slots = s->plan->slot;
    for (;;) {
        while (p < usual) {
            unsigned slot = by_tag[*p];
            if (NTFF_LIKELY(slot - 1u < NTFF_S_COUNT - 1u)) {
                size_t n = ntff_varint_len(p + 1);
                if (NTFF_UNLIKELY(n >= (size_t)(end - p)))
                    break;
                if (!v->number(user, slot, p + 1, n))
                    return false;
                p += 1 + n;
            } else if (NTFF_LIKELY(slot == NTFF_TAG_ATTRIBUTE)) {
                const uint8_t *entry = p + 2;
                size_t n = p[1];
                if (n >= 0x80) {
                    n = (n & 0x7f) | (size_t)p[2] << 7;
                    entry = p[2] < 0x80 ? p + 3 : end + 1;
                }
                if (NTFF_UNLIKELY(entry > end || n > (size_t)(end - entry)))
                    break;
                if (!v->attribute(user, entry, n))
                    return false;
                p = entry + n;
            } else { /* numbers of the fields 16 to 63 */
                unsigned number = (*p >> 3 & 15u) | (unsigned)p[1] << 4;
                if ((*p & 0x87) != (0x80 | NTFF_WT_VARINT) || p[1] - 1u >= 3 ||
                    slots[number] == NTFF_S_UNKNOWN)
                    break;
                size_t n = ntff_varint_len(p + 2);
                if (NTFF_UNLIKELY(end - p < 2 || n >= (size_t)(end - p - 1)))
                    break;
                if (!v->number(user, slots[number], p + 2, n))
                    return false;
                p += 2 + n;
            }
        }
        struct ntff_field f;
        w.p = p;
        if (NTFF_LIKELY(p == end) || ntff_wire_next(&w, &f) <= 0)
            return true;
        if (!v->other(user, &f))
            return false;
        p = w.p;
    }
}

/* -- visitors of those who make bytes of a record at once, and leave what is unusual to details --
 */

/* A number that is not wanted. */
__attribute__((always_inline)) static inline bool
ntff_record_pass(void *user, unsigned slot, const uint8_t *varint, size_t len)
{
    (void)user, (void)slot, (void)varint, (void)len;
    return true;
}

/* A field that only details can tell. */
__attribute__((always_inline)) static inline bool ntff_record_refuse(void *user,
                                                                     const struct ntff_field *f)
{
    (void)user, (void)f;
    return false;
}

/* Walks the record of a ref. *readable: the end of what may be read behind its texts. False if it
 * has to be left to details. v must be known when this is compiled. */
__attribute__((always_inline)) static inline bool
ntff_record_visit(const struct ntff_trace *t, struct ntff_ref ref, const uint8_t **readable,
                  void *user, const struct ntff_record_visitor *v)
{
    struct ntff_wire w;
    if (!ntff_record_at(t, ref, &w))
        return false;
    const struct ntff_source *s = &t->sources[ref.src];
    *readable = s->data + s->len;
    return ntff_record_walk(s, w, user, v);
}

#endif
