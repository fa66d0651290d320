/* dump - protobuf messages as text.
 *
 * The walk follows the wire with the bounded cursor and looks each number up in the schema. protoc
 * prints known fields by rising number, maps by rising key and unknown fields last; writers nearly
 * always write in that order. So each message is looked through once: if it is in order, its fields
 * are printed as they come; if not, their places are collected and sorted. Text goes through one
 * buffer to the caller. */
#include "proto/dump.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/event_types.h"
#include "proto/textfmt.h"
#include "proto/wire.h"

#define FLUSH_BYTES ((size_t)64 << 10)
#define RAW_DEPTH 10 /* unknown messages in unknown messages, as protoc prints them */

/* One field of a message that is being sorted. */
struct place {
    struct ntff_field field;
    const struct ntff_field_def *def; /* NULL = unknown */
    size_t index;                     /* in the message */
};

static void dump_fields(struct ntff_dump *d, const struct ntff_message_def *m,
                        struct ntff_slice msg, unsigned depth);

static uint64_t offset_of(const struct ntff_dump *d, const void *p)
{
    return d->base_off + (uint64_t)((const uint8_t *)p - d->base);
}

static void indent(struct ntff_dump *d, unsigned depth)
{
    static const char blanks[] = "                                ";
    for (size_t n = depth * 2; n;) {
        size_t k = n < sizeof blanks - 1 ? n : sizeof blanks - 1;
        ntff_buf_add(&d->buf, blanks, k);
        n -= k;
    }
}

static void put(struct ntff_dump *d, const char *text)
{
    ntff_buf_add(&d->buf, text, strlen(text));
}

static void give(struct ntff_dump *d)
{
    if (d->buf.len && !d->stopped && !d->write(d->user, (const char *)d->buf.p, d->buf.len))
        d->stopped = true;
    d->buf.len = 0;
}

static void end_line(struct ntff_dump *d)
{
    put(d, "\n");
    if (d->buf.len >= FLUSH_BYTES)
        give(d);
}

void ntff_dump_comment(struct ntff_dump *d, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    put(d, "# ");
    ntff_text_escape(&d->buf, text, strlen(text));
    end_line(d);
}

void ntff_dump_line(struct ntff_dump *d, unsigned depth, const char *fmt, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    indent(d, depth);
    put(d, text);
    end_line(d);
}

static struct ntff_slice slice(const struct ntff_field *f)
{
    return (struct ntff_slice){(const char *)f->data, (size_t)f->value};
}

/* -- values ----------------------------------------------------------------------------------- */

static void put_text(struct ntff_dump *d, struct ntff_slice t)
{
    bool cut = d->max_bytes && t.len > d->max_bytes;
    put(d, "\"");
    ntff_text_escape(&d->buf, t.p, cut ? d->max_bytes : t.len);
    put(d, "\"");
    if (cut) {
        ntff_buf_printf(&d->buf, "  # %zu bytes, %zu shown", t.len, d->max_bytes);
        d->n_cut++;
    }
}

static void put_enum(struct ntff_dump *d, const struct ntff_enum_def *e, int32_t v)
{
    const char *name = ntff_enum_name(e, v);
    if (name)
        put(d, name);
    else
        ntff_text_i64(&d->buf, v);
}

static int64_t unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

static float float_of(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float v;
    memcpy(&v, &low, sizeof v);
    return v;
}

static double double_of(uint64_t bits)
{
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* A number of the wire as its type has it; 4-byte types keep the low half, as protobuf does. */
static void put_number(struct ntff_dump *d, const struct ntff_field_def *f, uint64_t v)
{
    struct ntff_buf *b = &d->buf;
    switch (f->type) {
    case NTFF_T_DOUBLE:
        ntff_text_double(b, double_of(v));
        break;
    case NTFF_T_FLOAT:
        ntff_text_float(b, float_of(v));
        break;
    case NTFF_T_INT64:
    case NTFF_T_SFIXED64:
        ntff_text_i64(b, (int64_t)v);
        break;
    case NTFF_T_INT32:
    case NTFF_T_SFIXED32:
        ntff_text_i64(b, (int32_t)(uint32_t)v);
        break;
    case NTFF_T_SINT64:
        ntff_text_i64(b, unzigzag(v));
        break;
    case NTFF_T_SINT32:
        ntff_text_i64(b, unzigzag(v & UINT32_MAX));
        break;
    case NTFF_T_UINT32:
    case NTFF_T_FIXED32:
        ntff_text_u64(b, v & UINT32_MAX);
        break;
    case NTFF_T_BOOL:
        put(d, v ? "true" : "false");
        break;
    case NTFF_T_ENUM:
        put_enum(d, f->enumeration, (int32_t)(uint32_t)v);
        break;
    default:
        ntff_text_u64(b, v);
    }
    /* negative numbers of 4-byte types are sign-extended on the wire */
    bool narrow = f->type == NTFF_T_UINT32 || f->type == NTFF_T_INT32 || f->type == NTFF_T_ENUM;
    if (NTFF_UNLIKELY(narrow && v > UINT32_MAX && (int64_t)v != (int32_t)(uint32_t)v))
        ntff_buf_printf(b, "  # 0x%" PRIx64 " in the file", v);
}

/* -- fields the schema does not know ---------------------------------------------------------- */

static void dump_raw(struct ntff_dump *d, const struct ntff_field *f, unsigned depth,
                     unsigned budget);

/* What comes after the last good field of a message. */
static void put_damage(struct ntff_dump *d, const struct ntff_wire *w, unsigned depth)
{
    indent(d, depth);
    ntff_buf_printf(&d->buf, "# damaged at offset 0x%" PRIx64 ": %s; %zu bytes not decoded",
                    offset_of(d, w->p), w->why, (size_t)(w->end - w->p));
    end_line(d);
    d->n_damaged++;
}

static void dump_raw_fields(struct ntff_dump *d, struct ntff_slice msg, unsigned depth,
                            unsigned budget)
{
    struct ntff_wire w = ntff_wire_init(msg.p, msg.len);
    struct ntff_field f;
    int r = 0;
    while (!d->stopped && (r = ntff_wire_next(&w, &f)) > 0)
        dump_raw(d, &f, depth, budget);
    if (r < 0)
        put_damage(d, &w, depth);
}

static void dump_raw(struct ntff_dump *d, const struct ntff_field *f, unsigned depth,
                     unsigned budget)
{
    indent(d, depth);
    ntff_text_u64(&d->buf, f->number);
    switch (f->type) {
    case NTFF_WT_VARINT:
        put(d, ": ");
        ntff_text_u64(&d->buf, f->value);
        break;
    case NTFF_WT_I64:
        ntff_buf_printf(&d->buf, ": 0x%016" PRIx64, f->value);
        break;
    case NTFF_WT_I32:
        ntff_buf_printf(&d->buf, ": 0x%08" PRIx64, f->value);
        break;
    default:
        if (f->value && budget && ntff_wire_plausible(f->data, (size_t)f->value)) {
            put(d, " {");
            end_line(d);
            dump_raw_fields(d, slice(f), depth + 1, budget - 1);
            indent(d, depth);
            put(d, "}");
        } else {
            put(d, ": ");
            put_text(d, slice(f));
        }
    }
    d->n_fields++;
    d->n_unknown++;
    end_line(d);
}

/* -- fields the schema knows ------------------------------------------------------------------ */

static const struct ntff_message_def *overlaid(const struct ntff_dump *d,
                                               const struct ntff_message_def *m)
{
    for (size_t i = 0; i < d->n_overlays; i++)
        if (d->overlays[i].schema_def == m)
            return d->overlays[i].use;
    return m;
}

static bool is_packable(int type)
{
    return ntff_type_wire(type) != NTFF_WT_LEN && type != NTFF_T_GROUP;
}

/* The definition of a field, if the wire type suits it. */
static const struct ntff_field_def *known_field(const struct ntff_message_def *m,
                                                const struct ntff_field *f)
{
    const struct ntff_field_def *def = m ? ntff_message_number(m, f->number) : NULL;
    if (!def)
        return NULL;
    if (f->type == ntff_type_wire(def->type))
        return def;
    bool packed = f->type == NTFF_WT_LEN && def->label == NTFF_L_REPEATED && is_packable(def->type);
    return packed ? def : NULL;
}

static void begin_value(struct ntff_dump *d, const char *name, unsigned depth)
{
    indent(d, depth);
    put(d, name);
    put(d, ": ");
}

static void dump_packed(struct ntff_dump *d, const struct ntff_field_def *def,
                        const struct ntff_field *f, unsigned depth)
{
    const uint8_t *p = f->data, *end = p + f->value;
    int wire = ntff_type_wire(def->type);
    size_t width = wire == NTFF_WT_I64 ? 8 : 4;
    while (p < end && !d->stopped) {
        const uint8_t *at = p;
        uint64_t v = 0;
        if (wire == NTFF_WT_VARINT)
            p = ntff_varint(p, end, &v);
        else if ((size_t)(end - p) >= width)
            v = width == 8 ? ntff_le64(p) : ntff_le32(p), p += width;
        else
            p = NULL;
        if (!p) {
            struct ntff_wire bad = {at, end, "packed number is cut"};
            put_damage(d, &bad, depth);
            return;
        }
        begin_value(d, def->name, depth);
        put_number(d, def, v);
        end_line(d);
    }
}

static void put_type_name(struct ntff_dump *d, uint64_t v)
{
    const struct ntff_event_type *type = v <= UINT32_MAX ? ntff_event_type((uint32_t)v) : NULL;
    if (type)
        ntff_buf_printf(&d->buf, "  # %s", type->name);
}

/* A map entry always shows both its fields, as protoc does: what is absent has its default. */
static void dump_map_default(struct ntff_dump *d, const struct ntff_message_def *m,
                             struct ntff_slice msg, uint32_t number, unsigned depth)
{
    const struct ntff_field_def *def = ntff_message_number(m, number);
    struct ntff_wire w = ntff_wire_init(msg.p, msg.len);
    struct ntff_field f;
    if (!m->map_entry || !def)
        return;
    while (ntff_wire_next(&w, &f) == 1)
        if (f.number == number && known_field(m, &f))
            return;
    if (def->type == NTFF_T_MESSAGE) {
        indent(d, depth);
        put(d, def->name);
        put(d, " {");
        end_line(d);
        indent(d, depth);
        put(d, "}");
    } else {
        begin_value(d, def->name, depth);
        if (ntff_type_wire(def->type) == NTFF_WT_LEN)
            put(d, "\"\"");
        else
            put_number(d, def, 0);
    }
    end_line(d);
}

static void dump_known(struct ntff_dump *d, const struct ntff_field_def *def,
                       const struct ntff_field *f, unsigned depth)
{
    d->n_fields++;
    if (def->type == NTFF_T_MESSAGE && depth < NTFF_DUMP_MAX_DEPTH) {
        indent(d, depth);
        put(d, def->name);
        put(d, " {");
        end_line(d);
        d->n_messages++;
        dump_fields(d, def->message, slice(f), depth + 1);
        indent(d, depth);
        put(d, "}");
        end_line(d);
        return;
    }
    if (f->type == NTFF_WT_LEN && is_packable(def->type)) {
        dump_packed(d, def, f, depth);
        return;
    }
    begin_value(d, def->name, depth);
    if (f->type == NTFF_WT_LEN)
        put_text(d, slice(f));
    else
        put_number(d, def, f->value);
    if (NTFF_UNLIKELY(d->type_names) && strcmp(def->name, "event_type") == 0)
        put_type_name(d, f->value);
    if (NTFF_UNLIKELY(def->type == NTFF_T_MESSAGE)) {
        ntff_buf_printf(&d->buf, "  # nested more than %d deep", NTFF_DUMP_MAX_DEPTH);
        d->n_damaged++;
    }
    end_line(d);
}

/* -- order ------------------------------------------------------------------------------------ */

static const struct ntff_field_def *map_key_of(const struct ntff_field_def *def)
{
    return def && def->message && def->message->map_entry ? ntff_message_number(def->message, 1)
                                                          : NULL;
}

/* The key of a map entry: a number or a text. */
struct map_key {
    struct ntff_slice text;
    uint64_t number;
};

static struct map_key read_key(const struct ntff_field_def *key, struct ntff_slice entry)
{
    struct map_key k = {{entry.p, 0}, 0};
    struct ntff_wire w = ntff_wire_init(entry.p, entry.len);
    struct ntff_field f;
    while (ntff_wire_next(&w, &f) == 1) {
        if (f.number != key->number || f.type != ntff_type_wire(key->type))
            continue;
        if (f.type == NTFF_WT_LEN)
            k.text = slice(&f);
        else
            k.number = f.value;
    }
    bool is_signed = key->type == NTFF_T_INT32 || key->type == NTFF_T_INT64 ||
                     key->type == NTFF_T_SFIXED32 || key->type == NTFF_T_SFIXED64;
    if (key->type == NTFF_T_SINT32 || key->type == NTFF_T_SINT64)
        k.number = (uint64_t)unzigzag(k.number), is_signed = true;
    if (key->type == NTFF_T_SFIXED32)
        k.number = (uint64_t)(int64_t)(int32_t)(uint32_t)k.number;
    if (is_signed)
        k.number ^= UINT64_C(1) << 63;
    return k;
}

static int cmp_keys(const struct ntff_field_def *key, struct ntff_slice a, struct ntff_slice b)
{
    struct map_key x = read_key(key, a), y = read_key(key, b);
    if (key->type != NTFF_T_STRING)
        return x.number < y.number ? -1 : x.number > y.number;
    size_t n = x.text.len < y.text.len ? x.text.len : y.text.len;
    int c = n ? memcmp(x.text.p, y.text.p, n) : 0;
    return c ? c : x.text.len < y.text.len ? -1 : x.text.len > y.text.len;
}

/* Rank of a field: its number, unknown ones behind all known. */
static uint64_t order_key(const struct ntff_field_def *def)
{
    return def ? def->number : UINT64_MAX;
}

static int cmp_places(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    uint64_t kx = order_key(x->def), ky = order_key(y->def);
    if (kx != ky)
        return kx < ky ? -1 : 1;
    const struct ntff_field_def *key = map_key_of(x->def);
    int c = key ? cmp_keys(key, slice(&x->field), slice(&y->field)) : 0;
    return c ? c : x->index < y->index ? -1 : 1;
}

/* True if the fields may be printed as they come. */
static bool in_order(const struct ntff_message_def *m, struct ntff_slice msg)
{
    struct ntff_wire w = ntff_wire_init(msg.p, msg.len);
    struct ntff_field f;
    struct ntff_slice before = {0};
    uint64_t last = 0;
    while (ntff_wire_next(&w, &f) == 1) {
        const struct ntff_field_def *def = known_field(m, &f), *key = map_key_of(def);
        uint64_t now = order_key(def);
        if (now < last || (key && now == last && cmp_keys(key, before, slice(&f)) > 0))
            return false;
        last = now;
        if (key)
            before = slice(&f);
    }
    return true;
}

static void dump_sorted(struct ntff_dump *d, const struct ntff_message_def *m,
                        struct ntff_slice msg, unsigned depth)
{
    struct ntff_wire w = ntff_wire_init(msg.p, msg.len);
    struct ntff_field f;
    size_t first = d->order.len, n = 0;
    int r;
    for (; (r = ntff_wire_next(&w, &f)) > 0; n++) {
        struct place p = {f, known_field(m, &f), n};
        ntff_buf_add(&d->order, &p, sizeof p);
    }
    if (!d->order.failed)
        qsort(d->order.p + first, n, sizeof(struct place), cmp_places);
    for (size_t i = 0; i < n && !d->order.failed && !d->stopped; i++) {
        struct place p; /* copied: the list may move when an inner message is sorted */
        memcpy(&p, d->order.p + first + i * sizeof p, sizeof p);
        if (p.def)
            dump_known(d, p.def, &p.field, depth);
        else
            dump_raw(d, &p.field, depth, RAW_DEPTH);
    }
    d->order.len = first;
    if (r < 0)
        put_damage(d, &w, depth);
}

static void dump_fields(struct ntff_dump *d, const struct ntff_message_def *m,
                        struct ntff_slice msg, unsigned depth)
{
    struct ntff_wire w = ntff_wire_init(msg.p, msg.len);
    struct ntff_field f;
    int r = 0;
    if (!m) {
        dump_raw_fields(d, msg, depth, RAW_DEPTH);
        return;
    }
    m = overlaid(d, m);
    dump_map_default(d, m, msg, 1, depth);
    if (in_order(m, msg)) {
        while (!d->stopped && (r = ntff_wire_next(&w, &f)) > 0) {
            const struct ntff_field_def *def = known_field(m, &f);
            if (def)
                dump_known(d, def, &f, depth);
            else
                dump_raw(d, &f, depth, RAW_DEPTH);
        }
        if (r < 0)
            put_damage(d, &w, depth);
    } else {
        dump_sorted(d, m, msg, depth);
    }
    dump_map_default(d, m, msg, 2, depth);
}

/* -- the whole -------------------------------------------------------------------------------- */

static enum ntff_status state(const struct ntff_dump *d)
{
    return d->buf.failed || d->order.failed ? NTFF_NOMEM : d->stopped ? NTFF_CANCELLED : NTFF_OK;
}

enum ntff_status ntff_dump_message(struct ntff_dump *d, const char *name,
                                   const struct ntff_message_def *def, const uint8_t *msg,
                                   size_t len)
{
    d->order.budget = d->buf.budget = d->budget;
    put(d, name);
    put(d, " {");
    end_line(d);
    d->n_messages++;
    dump_fields(d, def, (struct ntff_slice){(const char *)msg, len}, 1);
    put(d, "}");
    end_line(d);
    return state(d);
}

enum ntff_status ntff_dump_flush(struct ntff_dump *d)
{
    give(d);
    return state(d);
}

void ntff_dump_done(struct ntff_dump *d)
{
    ntff_buf_free(&d->buf);
    ntff_buf_free(&d->order);
}
