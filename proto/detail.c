/* detail - all raw facts of one event, decoded from its records when somebody asks.
 *
 * Order: what every record has (event_type, id, tracking_id, nc_idx, thread_id, timestamp_ns, and
 * nrta_seq_id if present), then the attributes of the start, then those of the stop that say
 * something new. The device times of a span's two ends get the vendor's names,
 * nc_start_timestamp_ns and nc_stop_timestamp_ns. */
#include "proto/builder.h"
#include "proto/decimal.h"
#include "proto/plan.h"
#include "proto/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void ntff_detail_done(struct ntff_detail *d)
{
    free(d->room);
    ntff_buf_free(&d->scratch);
    *d = (struct ntff_detail){0};
}

/* Room for n more behind the last fact. */
static __attribute__((noinline)) bool grow_room(struct ntff_detail *d, size_t n)
{
    size_t skipped = (size_t)(d->attrs - d->room);
    if (!ntff_grow(NULL, (void **)&d->room, &d->cap, skipped + d->n, n, sizeof *d->room))
        return false;
    d->attrs = d->room + skipped;
    return true;
}

static inline bool make_room(struct ntff_detail *d, size_t n)
{
    return NTFF_LIKELY((size_t)(d->room + d->cap - (d->attrs + d->n)) >= n) || grow_room(d, n);
}

static inline struct ntff_attr *add(struct ntff_detail *d, const char *key, size_t key_len,
                                    int kind)
{
    if (!make_room(d, 1))
        return NULL;
    struct ntff_attr *a = &d->attrs[d->n++];
    a->key = (struct ntff_slice){key, key_len};
    a->kind = (uint8_t)kind;
    return a;
}

bool ntff_detail_text(struct ntff_detail *d, const char *key, size_t key_len, const char *p,
                      size_t len)
{
    struct ntff_attr *a = add(d, key, key_len, NTFF_V_TEXT);
    if (a)
        a->text = (struct ntff_slice){p, len};
    return a;
}
bool ntff_detail_uint(struct ntff_detail *d, const char *key, uint64_t v)
{
    struct ntff_attr *a = add(d, key, strlen(key), NTFF_V_UINT);
    if (a)
        a->u = v;
    return a;
}
bool ntff_detail_int(struct ntff_detail *d, const char *key, int64_t v)
{
    struct ntff_attr *a = add(d, key, strlen(key), NTFF_V_INT);
    if (a)
        a->i = v;
    return a;
}
bool ntff_detail_double(struct ntff_detail *d, const char *key, double v)
{
    struct ntff_attr *a = add(d, key, strlen(key), NTFF_V_DOUBLE);
    if (a)
        a->d = v;
    return a;
}
bool ntff_detail_bool(struct ntff_detail *d, const char *key, bool v)
{
    struct ntff_attr *a = add(d, key, strlen(key), NTFF_V_BOOL);
    if (a)
        a->b = v;
    return a;
}

const struct ntff_attr *ntff_detail_find(const struct ntff_detail *d, const char *key)
{
    size_t len = strlen(key);
    for (size_t i = 0; i < d->n; i++)
        if (d->attrs[i].key.len == len && memcmp(d->attrs[i].key.p, key, len) == 0)
            return &d->attrs[i];
    return NULL;
}

/* A canonical decimal (no sign, no leading zero) below 2^64 is a number; all else is text. */
static __attribute__((noinline)) bool canonical(const char *p, size_t n, uint64_t *out)
{
    return ntff_decimal(p, n, out) && (p[0] != '0' || n == 1);
}

/* The same in a source that can be read up to its end: most numbers are short enough not to ask
 * digit by digit, and most texts do not begin with a digit. */
__attribute__((always_inline)) static inline bool canonical_in(const char *p, size_t n,
                                                               const uint8_t *readable,
                                                               uint64_t *out)
{
    if (n == 0 || (uint8_t)(p[0] - '0') > 9)
        return false;
    if (NTFF_UNLIKELY(n > 16 || (const char *)readable - p < 16))
        return canonical(p, n, out);
    return ntff_decimal_16(p, n, out) && (p[0] != '0' || n == 1);
}

/* -- records ------------------------------------------------------------------------------------
 */

enum half { HALF_START, HALF_STOP, HALF_POINT };

#define KEY_IS(k, n, text) ((n) == sizeof(text) - 1 && memcmp(k, text, sizeof(text) - 1) == 0)

/* The key an attribute is shown under. */
static struct ntff_slice shown_key(const char *key, size_t len, enum half half)
{
    if (half != HALF_POINT && KEY_IS(key, len, "nc_timestamp_ns"))
        return half == HALF_START ? (struct ntff_slice){"nc_start_timestamp_ns", 21}
                                  : (struct ntff_slice){"nc_stop_timestamp_ns", 20};
    if (half == HALF_STOP && KEY_IS(key, len, "cpu_timestamp_ns"))
        return (struct ntff_slice){"cpu_stop_timestamp_ns", 21};
    return (struct ntff_slice){key, len};
}

static bool same_value(const struct ntff_attr *x, const struct ntff_attr *y)
{
    if (x->kind != y->kind)
        return false;
    if (x->kind == NTFF_V_TEXT)
        return x->text.len == y->text.len && memcmp(x->text.p, y->text.p, x->text.len) == 0;
    return x->kind == NTFF_V_NULL || (x->kind == NTFF_V_BOOL ? x->b == y->b : x->u == y->u);
}

/* Room for n more bytes in the scratch buffer. It is made when first needed and then never moves
 * while facts point into it; what finds no room there keeps its old name. */
static bool scratch_room(struct ntff_detail *d, size_t n)
{
    if (d->scratch.cap == 0 &&
        !ntff_grow(NULL, (void **)&d->scratch.p, &d->scratch.cap, 0, 4096, 1))
        d->scratch.failed = true;
    return d->scratch.cap - d->scratch.len >= n;
}

/* A stop attribute that repeats a start attribute: dropped if equal, else named stop_<key>. d's
 * last attribute is the new one. */
static void settle_repeat(struct ntff_detail *d)
{
    struct ntff_attr *a = &d->attrs[d->n - 1];
    for (size_t i = 0; i + 1 < d->n; i++) {
        const struct ntff_attr *o = &d->attrs[i];
        if (o->key.len != a->key.len || memcmp(o->key.p, a->key.p, a->key.len) != 0)
            continue;
        if (same_value(o, a)) {
            d->n--;
        } else if (scratch_room(d, a->key.len + 5)) {
            char *p = (char *)d->scratch.p + d->scratch.len;
            memcpy(p, "stop_", 5);
            memcpy(p + 5, a->key.p, a->key.len);
            d->scratch.len += a->key.len + 5;
            a->key = (struct ntff_slice){p, a->key.len + 5};
        }
        return;
    }
}

static bool take_text(struct ntff_detail *d, struct ntff_slice key, struct ntff_slice value,
                      enum half half)
{
    uint64_t v;
    struct ntff_slice k = shown_key(key.p, key.len, half);
    struct ntff_attr *a = add(d, k.p, k.len, NTFF_V_TEXT);
    if (!a)
        return false;
    if (canonical(value.p, value.len, &v)) {
        a->kind = NTFF_V_UINT;
        a->u = v;
    } else {
        a->text = value;
    }
    if (half == HALF_STOP)
        settle_repeat(d);
    return true;
}

static inline bool message_of(const struct ntff_source *s, uint32_t off, const uint8_t **msg,
                              size_t *len)
{
    const uint8_t *end = s->data + s->len, *p = s->data + off;
    unsigned framing = s->kind == NTFF_SOURCE_STORE ? NTFF_FRAME_VARINT : s->framing;
    uint64_t n;
    if (off >= s->len)
        return false;
    if (framing == NTFF_FRAME_U32 || framing == NTFF_FRAME_U64) {
        size_t size = framing == NTFF_FRAME_U32 ? 4 : 8;
        if ((size_t)(end - p) < size)
            return false;
        n = size == 4 ? ntff_le32(p) : ntff_le64(p);
        p += size;
    } else if (!(p = ntff_varint(p, end, &n))) {
        return false;
    }
    *msg = p;
    *len = n;
    return n <= (uint64_t)(end - p);
}

bool ntff_source_message(const struct ntff_source *s, uint32_t off, const uint8_t **msg,
                         size_t *len)
{
    return message_of(s, off, msg, len);
}

/* What every record has, in the order it is shown in. */
static const struct {
    uint8_t slot;
    const char *key;
    uint8_t len;
} common_keys[] = {
#define K(slot, key)                                                                               \
    {                                                                                              \
        slot, key, sizeof(key) - 1                                                                 \
    }
    K(NTFF_S_EVENT_TYPE, "event_type"),   K(NTFF_S_ID, "id"),
    K(NTFF_S_TRACKING_ID, "tracking_id"), K(NTFF_S_NC_IDX, "nc_idx"),
    K(NTFF_S_THREAD_ID, "thread_id"),     K(NTFF_S_TIMESTAMP, "timestamp_ns"),
    K(NTFF_S_NRTA_SEQ_ID, "nrta_seq_id"),
};
#define N_ALWAYS 6 /* of these; nrta_seq_id only if present [FMT] */
#define N_COMMON NTFF_ARRAY_LEN(common_keys)
_Static_assert(N_COMMON == NTFF_N_COMMON, "as model.h says");

/* Shown only when they say something. */
static const struct {
    uint8_t slot;
    const char *key;
} rare_keys[] = {{NTFF_S_DURATION, "duration"}, {NTFF_S_PARENT_ID, "parent_id"},
                 {NTFF_S_STATUS, "status"},     {NTFF_S_TYPE, "type"},
                 {NTFF_S_DATA, "data"},         {NTFF_S_ND_IDX, "nd_idx"}};
#define RARE_SLOTS                                                                                 \
    (1u << NTFF_S_DURATION | 1u << NTFF_S_PARENT_ID | 1u << NTFF_S_STATUS | 1u << NTFF_S_TYPE |    \
     1u << NTFF_S_DATA | 1u << NTFF_S_ND_IDX)

struct common {
    uint64_t v[NTFF_S_COUNT];
    uint32_t has;
};

static inline void put_common(struct ntff_attr *a, size_t n, const struct common *c)
{
    for (size_t i = 0; i < n; i++) {
        a[i].key = (struct ntff_slice){common_keys[i].key, common_keys[i].len};
        a[i].kind = NTFF_V_UINT;
        a[i].u = c->v[common_keys[i].slot];
    }
}

static bool add_rare(struct ntff_detail *d, const struct common *c)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(rare_keys); i++)
        if (c->has >> rare_keys[i].slot & 1 && c->v[rare_keys[i].slot] &&
            !ntff_detail_uint(d, rare_keys[i].key, c->v[rare_keys[i].slot]))
            return false;
    return true;
}

static bool add_common(struct ntff_detail *d, const struct common *c)
{
    size_t n = N_ALWAYS + (c->has >> NTFF_S_NRTA_SEQ_ID & 1);
    if (!make_room(d, n))
        return false;
    put_common(d->attrs + d->n, n, c);
    d->n += n;
    d->n_common = n;
    return add_rare(d, c);
}

/* Unknown fields of newer runtimes, by number: "field_17". */
static bool add_unknown(struct ntff_detail *d, uint64_t number, bool is_text, const uint8_t *p,
                        uint64_t v)
{
    if (!scratch_room(d, 24))
        return true;
    char *key = (char *)d->scratch.p + d->scratch.len;
    int n = snprintf(key, 24, "field_%u", (unsigned)number);
    d->scratch.len += (size_t)n;
    struct ntff_attr *a = add(d, key, (size_t)n, is_text ? NTFF_V_TEXT : NTFF_V_UINT);
    if (a && is_text)
        a->text = (struct ntff_slice){(const char *)p, v};
    else if (a)
        a->u = v;
    return a;
}

/* A field that is neither a number of the plan nor an attribute. */
static bool add_other(struct ntff_detail *d, const struct ntff_field *f, int slot)
{
    if (slot == NTFF_S_HINT && f->type == NTFF_WT_LEN)
        return ntff_detail_text(d, "hint", 4, (const char *)f->data, f->value);
    return add_unknown(d, f->number, f->type == NTFF_WT_LEN, f->data, f->value);
}

__attribute__((always_inline)) static inline void
take_attribute(struct ntff_attr *a, const uint8_t *p, size_t len, const uint8_t *readable,
               enum half half)
{
    struct ntff_slice key, value;
    uint64_t v;
    ntff_wire_entry(p, len, &key, &value);
    a->key = NTFF_UNLIKELY(key.len - 15 < 2) ? shown_key(key.p, key.len, half) : key;
    if (canonical_in(value.p, value.len, readable, &v)) {
        a->kind = NTFF_V_UINT;
        a->u = v;
    } else {
        a->kind = NTFF_V_TEXT;
        a->text = value;
    }
}

/* One field, whatever it is. False at the end of the record; *good = false when memory ran out. */
static __attribute__((noinline)) bool any_field(const struct ntff_source *s, struct ntff_wire *w,
                                                struct ntff_detail *d, enum half half,
                                                struct common *c, bool *good)
{
    struct ntff_field f;
    const uint8_t *readable = s->data + s->len;
    if (ntff_wire_next_in(w, readable, &f) <= 0)
        return false;
    int slot = ntff_plan_slot(s->plan, f.number);
    if (f.type != NTFF_WT_LEN && slot != NTFF_S_UNKNOWN) {
        if (c) {
            c->v[slot] = f.value;
            c->has |= 1u << slot;
        }
    } else if (slot == NTFF_S_ATTRIBUTES && f.type == NTFF_WT_LEN) {
        *good = make_room(d, 1);
        if (*good) {
            take_attribute(&d->attrs[d->n++], f.data, f.value, readable, half);
            if (half == HALF_STOP)
                settle_repeat(d);
        }
    } else {
        *good = add_other(d, &f, slot);
    }
    return *good;
}

/* The walk over one record: numbers are gathered in *c (NULL: passed over), the rest is added. Two
 * kinds of fields make up nearly all: numbers, and attributes below 16 KiB, with field numbers
 * below 16. What they load lies inside the source when some bytes follow the record. */
__attribute__((always_inline)) static inline bool walk_event(const struct ntff_source *s,
                                                             struct ntff_wire w,
                                                             struct ntff_detail *d, enum half half,
                                                             struct common *c)
{
    const uint8_t *readable = s->data + s->len, *end = w.end, *p = w.p;
    const uint8_t *usual = readable - end >= 16 ? end : p;
    const uint8_t *slots = s->plan->slot;
    bool good = true;
    do {
        struct ntff_attr *next = d->attrs + d->n, *limit = d->room + d->cap;
        uint32_t has = 0;
        const uint8_t *field;
        for (field = p; p < usual; field = p) {
            unsigned tag = *p, slot = slots[tag >> 3 & 15];
            uint64_t v;
            if ((tag & 0x87) == NTFF_WT_VARINT && slot != NTFF_S_UNKNOWN) {
                p = ntff_varint_in(p + 1, &v);
                if (NTFF_UNLIKELY(!p || p > end))
                    break;
                if (c) {
                    c->v[slot] = v;
                    has |= 1u << slot;
                }
            } else if ((tag & 0x87) == NTFF_WT_LEN && slot == NTFF_S_ATTRIBUTES) {
                v = p[1];
                p += 2;
                if (v >= 0x80) {
                    v = (v & 0x7f) | (uint64_t)*p << 7;
                    if (NTFF_UNLIKELY(*p++ >= 0x80))
                        break;
                }
                if (NTFF_UNLIKELY(v > (uint64_t)(end - p) || p > end || next == limit))
                    break;
                take_attribute(next++, p, v, readable, half);
                if (half == HALF_STOP) {
                    d->n = (size_t)(next - d->attrs);
                    settle_repeat(d);
                    next = d->attrs + d->n;
                }
                p += v;
            } else {
                break;
            }
        }
        d->n = (size_t)(next - d->attrs);
        if (c)
            c->has |= has;
        if (NTFF_LIKELY(field == end))
            return true;
        w.p = field;
        good = true;
    } while (any_field(s, &w, d, half, c, &good) && (p = w.p));
    return good;
}

/* The second record of an event: only what it says besides the numbers. */
static bool rest_of_event(const struct ntff_source *s, struct ntff_wire w, struct ntff_detail *d,
                          enum half half)
{
    return walk_event(s, w, d, half, NULL);
}

/* Numbers are gathered, texts appended behind the room kept for the common facts, which go in last,
 * when nrta_seq_id is known to be there or not. If not, the facts begin one later. */
static bool all_of_event(const struct ntff_source *s, struct ntff_wire w, struct ntff_detail *d,
                         enum half half)
{
    struct common c;
    c.has = 0;
    for (size_t i = 0; i < N_COMMON; i++) /* the others are read only if present */
        c.v[common_keys[i].slot] = 0;
    if (!make_room(d, N_COMMON))
        return false;
    d->n += N_COMMON;
    for (size_t i = 0; half == HALF_STOP && i < N_COMMON; i++)
        d->attrs[i].key.len = SIZE_MAX; /* not there yet: nothing repeats them */
    if (!walk_event(s, w, d, half, &c))
        return false;
    for (int slot = 0; s->plan->zigzag && slot < NTFF_S_COUNT; slot++)
        if (c.has & s->plan->zigzag & 1u << slot)
            c.v[slot] = c.v[slot] >> 1 ^ (0 - (c.v[slot] & 1));
    if (NTFF_UNLIKELY(c.has >> NTFF_S_NRTA_SEQ_ID & 1)) {
        d->n_common = N_COMMON;
        put_common(d->attrs, N_COMMON, &c);
    } else {
        d->attrs++, d->n--;
        d->n_common = N_ALWAYS;
        put_common(d->attrs, N_ALWAYS, &c);
    }
    return !(c.has & RARE_SLOTS) || add_rare(d, &c);
}

static bool from_event(const struct ntff_source *s, uint32_t off, struct ntff_detail *d,
                       enum half half, bool first)
{
    const uint8_t *p;
    size_t len;
    if (!message_of(s, off, &p, &len))
        return true;
    struct ntff_wire w = ntff_wire_init(p, len);
    return first ? all_of_event(s, w, d, half) : rest_of_event(s, w, d, half);
}

/* -- the 112-byte record -------------------------------------------------------------------------
 */

static uint64_t payload_value(const uint8_t *p, const struct ntff_payload_field *f)
{
    p += f->offset;
    switch (f->kind) {
    case NTFF_P_U8:
    case NTFF_P_BOOL:
        return p[0];
    case NTFF_P_U16:
        return (uint64_t)p[0] | (uint64_t)p[1] << 8;
    case NTFF_P_U64:
        return ntff_le64(p);
    default:
        return ntff_le32(p);
    }
}

static bool from_raw(const struct ntff_source *s, uint32_t off, struct ntff_detail *d,
                     enum half half, bool first)
{
    if (off > s->len || s->len - off < 112)
        return true;
    const uint8_t *r = s->data + off;
    uint32_t type = ntff_le32(r), phase = ntff_le32(r + 88);
    if (first) {
        struct common c = {.has = r[104] ? 1u << NTFF_S_NRTA_SEQ_ID : 0};
        c.v[NTFF_S_EVENT_TYPE] = type;
        c.v[NTFF_S_THREAD_ID] = ntff_le64(r + 8);
        c.v[NTFF_S_ID] = ntff_le64(r + 16);
        c.v[NTFF_S_TRACKING_ID] = ntff_le64(r + 32);
        c.v[NTFF_S_TIMESTAMP] = ntff_le64(r + 40);
        c.v[NTFF_S_NC_IDX] = ntff_le32(r + 92);
        c.v[NTFF_S_NRTA_SEQ_ID] = ntff_le64(r + 96);
        if (!add_common(d, &c) || !ntff_detail_uint(d, "nc_local_id", ntff_le64(r + 24)))
            return false;
    }
    size_t n;
    const struct ntff_payload_field *f = ntff_event_payload(type, phase + 1, &n);
    for (size_t i = 0; i < n; i++) {
        uint64_t v = payload_value(r + 48, &f[i]);
        struct ntff_slice key = shown_key(f[i].name, strlen(f[i].name), half);
        struct ntff_attr *a = add(d, key.p, key.len, NTFF_V_UINT);
        if (!a)
            return false;
        a->u = v;
        if (f[i].kind == NTFF_P_BOOL) {
            a->kind = NTFF_V_BOOL;
            a->b = v != 0;
        } else if (f[i].kind == NTFF_P_I32) {
            a->kind = NTFF_V_INT;
            a->i = (int32_t)(uint32_t)v;
        } else if (strcmp(f[i].name, "usage_type") == 0 && v <= UINT32_MAX &&
                   ntff_usage_name((uint32_t)v)) {
            const char *name = ntff_usage_name((uint32_t)v);
            a->kind = NTFF_V_TEXT;
            a->text = (struct ntff_slice){name, strlen(name)};
        }
        if (half == HALF_STOP)
            settle_repeat(d);
    }
    return true;
}

/* -- events from JSON ----------------------------------------------------------------------------
 */

static bool number_text(struct ntff_attr *a, struct ntff_slice v, int kind)
{
    char text[64];
    if (v.len >= sizeof text)
        return false;
    memcpy(text, v.p, v.len);
    text[v.len] = '\0';
    if (kind == NTFF_STORE_UINT) {
        a->kind = NTFF_V_UINT;
        a->u = strtoull(text, NULL, 10);
    } else if (kind == NTFF_STORE_INT) {
        a->kind = NTFF_V_INT;
        a->i = strtoll(text, NULL, 10);
    } else {
        a->kind = NTFF_V_DOUBLE;
        a->d = strtod(text, NULL);
    }
    return true;
}

static bool take_store_entry(struct ntff_detail *d, const struct ntff_field *f, enum half half)
{
    struct ntff_wire w = ntff_wire_init(f->data, f->value);
    struct ntff_slice key = {"", 0}, value = {"", 0};
    struct ntff_field kv;
    uint64_t kind = NTFF_STORE_TEXT;
    while (ntff_wire_next(&w, &kv) > 0) {
        if (kv.number == NTFF_STORE_KEY && kv.type == NTFF_WT_LEN)
            key = (struct ntff_slice){(const char *)kv.data, kv.value};
        else if (kv.number == NTFF_STORE_VALUE && kv.type == NTFF_WT_LEN)
            value = (struct ntff_slice){(const char *)kv.data, kv.value};
        else if (kv.number == NTFF_STORE_KIND)
            kind = kv.value;
    }
    if (kind == NTFF_STORE_TEXT || kind == NTFF_STORE_RAW)
        return take_text(d, key, value, half);
    struct ntff_slice k = shown_key(key.p, key.len, half);
    struct ntff_attr *a = add(d, k.p, k.len, NTFF_V_NULL);
    if (!a)
        return false;
    if (kind == NTFF_STORE_BOOL) {
        a->kind = NTFF_V_BOOL;
        a->b = value.len == 4;
    } else if (kind != NTFF_STORE_NULL && !number_text(a, value, (int)kind)) {
        a->kind = NTFF_V_TEXT;
        a->text = value;
    }
    if (half == HALF_STOP)
        settle_repeat(d);
    return true;
}

/* Scalars of a stored record under their JSON names. */
static bool store_scalar(struct ntff_detail *d, const struct ntff_field *f)
{
    static const struct {
        uint32_t number;
        const char *key;
    } keys[] = {{2, "timestamp_ns"}, {5, "nc_idx"},       {8, "duration"},
                {9, "thread_id"},    {10, "id"},          {11, "parent_id"},
                {15, "tracking_id"}, {16, "nrta_seq_id"}, {NTFF_STORE_NC_LOCAL_ID, "nc_local_id"}};
    if (f->number == 7) {
        const struct ntff_event_type *et = ntff_event_type((uint32_t)f->value);
        return !et || ntff_detail_text(d, "event_type", 10, et->name, strlen(et->name));
    }
    if (f->number == NTFF_STORE_WORKER_GID)
        return ntff_detail_int(d, "worker_gid", (int64_t)(f->value >> 1 ^ (0 - (f->value & 1))));
    for (size_t i = 0; i < NTFF_ARRAY_LEN(keys); i++)
        if (keys[i].number == f->number)
            return ntff_detail_uint(d, keys[i].key, f->value);
    return true;
}

static bool from_store(const struct ntff_source *s, uint32_t off, struct ntff_detail *d,
                       enum half half, bool first)
{
    const uint8_t *msg;
    size_t len;
    if (!ntff_source_message(s, off, &msg, &len))
        return true;
    struct ntff_wire w = ntff_wire_init(msg, len);
    struct ntff_field f;
    while (ntff_wire_next(&w, &f) > 0) {
        bool good = true;
        if (f.type == NTFF_WT_VARINT)
            good = !first || store_scalar(d, &f);
        else if (f.type == NTFF_WT_LEN && f.number == 12)
            good = take_store_entry(d, &f, half);
        else if (f.type == NTFF_WT_LEN && f.number == NTFF_STORE_TYPE_NAME && first)
            good = ntff_detail_text(d, "event_type", 10, (const char *)f.data, f.value);
        else if (f.type == NTFF_WT_LEN && f.number == NTFF_STORE_PHASE_TEXT && first)
            good = ntff_detail_text(d, "phase", 5, (const char *)f.data, f.value);
        if (!good)
            return false;
    }
    return true;
}

/* -- an event ------------------------------------------------------------------------------------
 */

static bool from_ref(const struct ntff_trace *t, struct ntff_ref ref, struct ntff_detail *d,
                     enum half half, bool first)
{
    if (ref.src >= t->n_sources)
        return true;
    const struct ntff_source *s = &t->sources[ref.src];
    switch (s->kind) {
    case NTFF_SOURCE_EVENTS:
        return from_event(s, ref.off, d, half, first);
    case NTFF_SOURCE_RAW112:
        return from_raw(s, ref.off, d, half, first);
    case NTFF_SOURCE_STORE:
        return from_store(s, ref.off, d, half, first);
    default:
        return true;
    }
}

/* Names the capture carries for ids: model_id -> model_name, tensor_id -> tensor_name. */
static bool resolve_names(const struct ntff_trace *t, struct ntff_ref ref, struct ntff_detail *d)
{
    static const struct {
        const char *id, *name;
    } pairs[] = {{"model_id", "model_name"}, {"tensor_id", "tensor_name"}};
    const struct ntff_names *names = t->owned ? &t->owned->names : NULL;
    if (!names || names->map.n == 0 || ref.src >= t->n_sources)
        return true;
    uint32_t proc = t->files[t->sources[ref.src].file].process;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(pairs); i++) {
        const struct ntff_attr *a = ntff_detail_find(d, pairs[i].id);
        if (!a || a->kind != NTFF_V_UINT)
            continue;
        const struct ntff_map_slot *m =
            ntff_map_find(&names->map, (struct ntff_key){proc, a->u, 0});
        if (!m || ntff_detail_find(d, pairs[i].name))
            continue;
        const char *text = ntff_str_of(t, m->value);
        if (!ntff_detail_text(d, pairs[i].name, strlen(pairs[i].name), text, strlen(text)))
            return false;
    }
    return true;
}

/* Has the stop record anything to say that the start has not? */
static inline bool stop_tells(const struct ntff_event *e)
{
    return e->start_ref.src == NTFF_SRC_NONE || !(e->flags & NTFF_EV_STOP_PLAIN);
}

/* always_inline: gcc takes a function that only prefetches for one that does nothing. */
__attribute__((always_inline)) static inline void prefetch_record(const struct ntff_trace *t,
                                                                  struct ntff_ref ref)
{
    if (ref.src >= t->n_sources || ref.off >= t->sources[ref.src].len)
        return;
    const char *p = (const char *)t->sources[ref.src].data + ref.off;
    __builtin_prefetch(p);
    __builtin_prefetch(p + 64); /* the processor goes on from there by itself */
}

void ntff_detail_prefetch(const struct ntff_trace *t, size_t index)
{
    if (index >= t->n_events)
        return;
    prefetch_record(t, t->events[index].start_ref);
    if (stop_tells(&t->events[index]))
        prefetch_record(t, t->events[index].stop_ref);
}

static bool facts(const struct ntff_trace *t, const struct ntff_event *e, struct ntff_detail *d)
{
    struct ntff_ref any = e->start_ref.src != NTFF_SRC_NONE ? e->start_ref : e->stop_ref;
    d->attrs = d->room;
    d->n = d->n_common = 0;
    d->scratch.len = 0;
    if (any.src < t->n_sources && t->sources[any.src].kind == NTFF_SOURCE_NOTIF)
        return scratch_room(d, 4096) && ntff_notif_detail(t, e, d);
    bool point = e->flags & NTFF_EV_INSTANT && !(e->flags & NTFF_EV_NO_LANE);
    bool has_start = e->start_ref.src != NTFF_SRC_NONE, all = stop_tells(e);
    return from_ref(t, e->start_ref, d, point ? HALF_POINT : HALF_START, true) &&
           (!all || from_ref(t, e->stop_ref, d, HALF_STOP, !has_start)) &&
           resolve_names(t, any, d) && !d->scratch.failed;
}

bool ntff_detail(const struct ntff_trace *t, const struct ntff_event *e, struct ntff_detail *d)
{
    if (!facts(t, e, d))
        return false;
    for (size_t i = 0; t->rewrite && i < d->n; i++)
        if (d->attrs[i].kind == NTFF_V_TEXT)
            d->attrs[i].text =
                t->rewrite->text(t->rewrite->user, d->attrs[i].key, d->attrs[i].text);
    return true;
}
