/* detail - all raw facts of one event, decoded from its records when somebody asks.
 *
 * Order: what every record has (event_type, id, tracking_id, nc_idx, thread_id, timestamp_ns, and
 * nrta_seq_id if present), then the attributes of the start, then those of the stop that say
 * something new. The device times of a span's two ends get the vendor's names,
 * nc_start_timestamp_ns and nc_stop_timestamp_ns. */
#include "proto/builder.h"
#include "proto/record.h"
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
    if (!ntff_grow(NULL, (void **)&d->room, &d->cap, skipped + d->n, n, sizeof *d->room)) {
        d->scratch.failed = true;
        return false;
    }
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

bool ntff_canonical_slow(const char *p, size_t n, uint64_t *out)
{
    return ntff_decimal(p, n, out) && (p[0] != '0' || n == 1);
}

/* -- records ------------------------------------------------------------------------------------
 */

#define KEY_IS(k, n, text) ((n) == sizeof(text) - 1 && memcmp(k, text, sizeof(text) - 1) == 0)

struct ntff_slice ntff_shown_key_slow(struct ntff_slice key, enum ntff_record_half half)
{
    if (half != NTFF_HALF_POINT && KEY_IS(key.p, key.len, "nc_timestamp_ns"))
        return half == NTFF_HALF_START ? (struct ntff_slice){"nc_start_timestamp_ns", 21}
                                       : (struct ntff_slice){"nc_stop_timestamp_ns", 20};
    if (half == NTFF_HALF_STOP && KEY_IS(key.p, key.len, "cpu_timestamp_ns"))
        return (struct ntff_slice){"cpu_stop_timestamp_ns", 21};
    return key;
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
                      enum ntff_record_half half)
{
    uint64_t v;
    struct ntff_slice k = ntff_shown_key(key, half);
    struct ntff_attr *a = add(d, k.p, k.len, NTFF_V_TEXT);
    if (!a)
        return false;
    if (value.len && ntff_canonical_slow(value.p, value.len, &v)) {
        a->kind = NTFF_V_UINT;
        a->u = v;
    } else {
        a->text = value;
    }
    if (half == NTFF_HALF_STOP)
        settle_repeat(d);
    return true;
}

bool ntff_source_message(const struct ntff_source *s, uint32_t off, const uint8_t **msg,
                         size_t *len)
{
    struct ntff_wire w;
    if (!ntff_message_at(s, off, &w))
        return false;
    *msg = w.p;
    *len = (size_t)(w.end - w.p);
    return true;
}

const struct ntff_common_key ntff_common_keys[NTFF_N_COMMON] = {
#define K(slot, key)                                                                               \
    {                                                                                              \
        slot, sizeof(key) - 1, key                                                                 \
    }
    K(NTFF_S_EVENT_TYPE, "event_type"),   K(NTFF_S_ID, "id"),
    K(NTFF_S_TRACKING_ID, "tracking_id"), K(NTFF_S_NC_IDX, "nc_idx"),
    K(NTFF_S_THREAD_ID, "thread_id"),     K(NTFF_S_TIMESTAMP, "timestamp_ns"),
    K(NTFF_S_NRTA_SEQ_ID, "nrta_seq_id"),
};
#define N_ALWAYS 6 /* of these */
#define N_COMMON NTFF_N_COMMON

/* Shown only when they say something. */
static const struct {
    uint8_t slot;
    const char *key;
} rare_keys[] = {{NTFF_S_DURATION, "duration"}, {NTFF_S_PARENT_ID, "parent_id"},
                 {NTFF_S_STATUS, "status"},     {NTFF_S_TYPE, "type"},
                 {NTFF_S_DATA, "data"},         {NTFF_S_ND_IDX, "nd_idx"}};
struct common {
    uint64_t v[NTFF_S_COUNT];
    uint32_t has;
};

static inline void put_common(struct ntff_attr *a, size_t n, const struct common *c)
{
    for (size_t i = 0; i < n; i++) {
        a[i].key = (struct ntff_slice){ntff_common_keys[i].key, ntff_common_keys[i].len};
        a[i].kind = NTFF_V_UINT;
        a[i].u = c->v[ntff_common_keys[i].slot];
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

/* The walk over one record: numbers are gathered (or passed over), the rest is added. */
struct taking {
    const struct ntff_source *s;
    struct ntff_detail *d;
    struct common *c; /* NULL: numbers are known already */
    enum ntff_record_half half;
};

__attribute__((always_inline)) static inline bool take_number(void *user, unsigned slot,
                                                              const uint8_t *varint, size_t len)
{
    struct taking *k = user;
    (void)len;
    if (k->c) {
        (void)ntff_varint_in(varint, &k->c->v[slot]);
        k->c->has |= 1u << slot;
    }
    return true;
}

__attribute__((always_inline)) static inline bool take_attribute(void *user, const uint8_t *entry,
                                                                 size_t len)
{
    struct taking *k = user;
    struct ntff_detail *d = k->d;
    struct ntff_slice key, value;
    uint64_t v;
    if (!make_room(d, 1))
        return false;
    struct ntff_attr *a = &d->attrs[d->n++];
    ntff_wire_entry(entry, len, &key, &value);
    a->key = ntff_shown_key(key, k->half);
    if (ntff_canonical(value.p, value.len, k->s->data + k->s->len, &v)) {
        a->kind = NTFF_V_UINT;
        a->u = v;
    } else {
        a->kind = NTFF_V_TEXT;
        a->text = value;
    }
    if (k->half == NTFF_HALF_STOP)
        settle_repeat(d);
    return true;
}

static __attribute__((noinline)) bool take_other(void *user, const struct ntff_field *f)
{
    struct taking *k = user;
    int slot = ntff_plan_slot(k->s->plan, f->number);
    if (f->type == NTFF_WT_LEN && slot == NTFF_S_ATTRIBUTES)
        return take_attribute(k, f->data, f->value);
    if (f->type == NTFF_WT_LEN || slot == NTFF_S_UNKNOWN)
        return add_other(k->d, f, slot);
    if (k->c) {
        k->c->v[slot] = f->value;
        k->c->has |= 1u << slot;
    }
    return true;
}

static bool take_all(struct taking k, struct ntff_wire w)
{
    static const struct ntff_record_visitor v = {take_number, take_attribute, take_other};
    return ntff_record_walk(k.s, w, &k, &v);
}

/* The second record of an event: only what it says besides the numbers. */
static bool rest_of_event(const struct ntff_source *s, struct ntff_wire w, struct ntff_detail *d,
                          enum ntff_record_half half)
{
    return take_all((struct taking){s, d, NULL, half}, w);
}

/* Numbers are gathered, texts appended behind the room kept for the common facts, which go in last,
 * when nrta_seq_id is known to be there or not. If not, the facts begin one later. */
static bool all_of_event(const struct ntff_source *s, struct ntff_wire w, struct ntff_detail *d,
                         enum ntff_record_half half)
{
    struct common c;
    c.has = 0;
    for (size_t i = 0; i < N_COMMON; i++) /* the others are read only if present */
        c.v[ntff_common_keys[i].slot] = 0;
    if (!make_room(d, N_COMMON))
        return false;
    d->n += N_COMMON;
    for (size_t i = 0; half == NTFF_HALF_STOP && i < N_COMMON; i++)
        d->attrs[i].key.len = SIZE_MAX; /* not there yet: nothing repeats them */
    if (!take_all((struct taking){s, d, &c, half}, w))
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
    return !(c.has & NTFF_RARE_SLOTS) || add_rare(d, &c);
}

static bool from_event(const struct ntff_source *s, uint32_t off, struct ntff_detail *d,
                       enum ntff_record_half half, bool first)
{
    struct ntff_wire w;
    if (!ntff_message_at(s, off, &w))
        return true;
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
                     enum ntff_record_half half, bool first)
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
        struct ntff_slice key =
            ntff_shown_key((struct ntff_slice){f[i].name, strlen(f[i].name)}, half);
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
        if (half == NTFF_HALF_STOP)
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

static bool take_store_entry(struct ntff_detail *d, const struct ntff_field *f,
                             enum ntff_record_half half)
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
    struct ntff_slice k = ntff_shown_key(key, half);
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
    if (half == NTFF_HALF_STOP)
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
                       enum ntff_record_half half, bool first)
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
                     enum ntff_record_half half, bool first)
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

bool ntff_detail_is_plain(const struct ntff_trace *t)
{
    return !t->rewrite && !(t->owned && t->owned->names.map.n);
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
    if (ntff_stop_tells(&t->events[index]))
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
    return from_ref(t, e->start_ref, d, ntff_start_half(e), true) &&
           (!ntff_stop_tells(e) ||
            from_ref(t, e->stop_ref, d, NTFF_HALF_STOP, !ntff_has_start(e))) &&
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

/* -- a few attributes of an event ------------------------------------------------------------- */

struct picking {
    struct taking take;
    const struct ntff_slice *keys;
    uint32_t missing; /* a bit per key */
};

__attribute__((always_inline)) static inline bool pick_attribute(void *user, const uint8_t *entry,
                                                                 size_t len)
{
    struct picking *k = user;
    struct ntff_slice key, value;
    ntff_wire_entry(entry, len, &key, &value);
    for (uint32_t left = k->missing; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctz(left);
        if (key.len != k->keys[i].len || memcmp(key.p, k->keys[i].p, key.len) != 0)
            continue;
        k->missing &= ~(UINT32_C(1) << i);
        return take_attribute(&k->take, entry, len) && k->missing;
    }
    return true;
}

static __attribute__((noinline)) bool pick_other(void *user, const struct ntff_field *f)
{
    struct picking *k = user;
    return f->type != NTFF_WT_LEN ||
           ntff_plan_slot(k->take.s->plan, f->number) != NTFF_S_ATTRIBUTES ||
           pick_attribute(k, f->data, f->value);
}

/* False if this kind of record is none to pick from. */
static bool pick_from(const struct ntff_trace *t, struct ntff_ref ref, struct picking *k,
                      enum ntff_record_half half)
{
    static const struct ntff_record_visitor v = {ntff_record_pass, pick_attribute, pick_other};
    struct ntff_wire w;
    if (ref.src >= t->n_sources || t->sources[ref.src].kind != NTFF_SOURCE_EVENTS)
        return false;
    k->take.s = &t->sources[ref.src];
    k->take.half = half;
    if (k->missing && ntff_message_at(k->take.s, ref.off, &w))
        (void)ntff_record_walk(k->take.s, w, k, &v);
    return true;
}

bool ntff_detail_pick(const struct ntff_trace *t, const struct ntff_event *e,
                      const struct ntff_slice *keys, size_t n, struct ntff_detail *d)
{
    struct picking k = {{.d = d}, keys, n < 32 ? (UINT32_C(1) << n) - 1 : 0};
    d->attrs = d->room;
    d->n = d->n_common = 0;
    d->scratch.len = 0;
    if (t->rewrite || n >= 32 ||
        (ntff_has_start(e) && !pick_from(t, e->start_ref, &k, ntff_start_half(e))) ||
        (ntff_stop_tells(e) && !pick_from(t, e->stop_ref, &k, NTFF_HALF_STOP)))
        return ntff_detail(t, e, d);
    return !d->scratch.failed;
}
