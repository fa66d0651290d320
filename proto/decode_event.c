/* decode_event - one ntrace_event message into a struct ntff_rec.
 *
 * The hot loop of the program: every record of a capture passes here once at load. It walks the
 * fields once by the file's plan, storing numbers by slot without asking which is which; attributes
 * are looked into only for types whose attributes the loader itself needs (clock pairs, execution
 * ids, sizes). All others stay where they are until somebody asks for the details of an event.
 *
 * A short loop reads what every writer writes. Where a field is unusual or wrong, and at the very
 * end of the file, the careful one of wire.h goes on from there. */
#include "proto/build.h"

#include "proto/decimal.h"
#include "proto/event_types.h"
#include "proto/plan.h"

#include <string.h>

#define BIT(n) (UINT64_C(1) << (n))
/* Types whose attributes matter at load. Unknown types (above 45) are looked into as well. */
#define NEEDS_ATTRS                                                                                \
    (BIT(6) | BIT(7) | BIT(8) | BIT(13) | BIT(17) | BIT(18) | BIT(19) | BIT(20) | BIT(21) |        \
     BIT(24) | BIT(25) | BIT(26) | BIT(30) | BIT(31) | BIT(32) | BIT(33) | BIT(34) | BIT(35))

#define MAX_ATTRS 16 /* more than any type has */

/* Lengths of the keys below: most attributes are none of them. */
#define LENGTHS (1u << 4 | 1u << 7 | 1u << 10 | 1u << 11 | 1u << 15 | 1u << 16 | 1u << 22)

#define KEY_IS(text) (key_len == sizeof(text) - 1 && memcmp(key, text, sizeof(text) - 1) == 0)

void ntff_rec_attr(struct ntff_rec *r, const char *key, size_t key_len, const char *value,
                   size_t value_len)
{
    uint64_t v;
    if (!(LENGTHS >> (key_len & 31) & 1) || key_len > 22)
        return;
    if (!ntff_decimal(value, value_len, &v)) {
        if (KEY_IS("usage_type") && value_len) {
            r->usage = ntff_usage_by_name(value, value_len);
            r->usage_text = (struct ntff_slice){value, value_len};
            r->has |= NTFF_HAS_USAGE;
        }
        return;
    }
    switch (key_len) {
    case 4:
        if (KEY_IS("size"))
            r->size_bytes = v, r->has |= NTFF_HAS_SIZE;
        break;
    case 7:
        if (KEY_IS("exec_id"))
            r->exec_id = v, r->has |= NTFF_HAS_EXEC;
        else if (KEY_IS("hbm_idx") && v < NTFF_NONE)
            r->hbm = (uint32_t)v, r->has |= NTFF_HAS_HBM;
        break;
    case 10:
        if (KEY_IS("total_size"))
            r->size_bytes = v, r->has |= NTFF_HAS_SIZE;
        else if (KEY_IS("usage_type") && v < NTFF_NONE)
            r->usage = (uint32_t)v, r->has |= NTFF_HAS_USAGE;
        break;
    case 11:
        if (KEY_IS("total_bytes"))
            r->total_bytes = v, r->has |= NTFF_HAS_TOTAL;
        break;
    case 15:
        if (KEY_IS("nc_timestamp_ns"))
            r->nc_ns = v, r->has |= NTFF_HAS_NC_TS;
        else if (KEY_IS("device_core_idx") && v < NTFF_NONE)
            r->core = (uint32_t)v, r->has |= NTFF_HAS_CORE;
        break;
    case 16:
        if (KEY_IS("cpu_timestamp_ns"))
            r->cpu_ns = v, r->has |= NTFF_HAS_CPU_TS;
        break;
    case 22:
        if (KEY_IS("usage_type_total_bytes"))
            r->type_total_bytes = v, r->has |= NTFF_HAS_TYPE_TOTAL;
        break;
    default:
        break;
    }
}

/* What has been read of a message. */
struct reading {
    uint64_t v[NTFF_S_COUNT]; /* by slot; has: bit per slot seen, texts: of those with a length */
    uint32_t has, texts, n_unknown;
    uint32_t n_attrs;                   /* may go beyond those there is room for */
    struct ntff_slice attrs[MAX_ATTRS]; /* the first ones */
    const uint8_t *first_attr;          /* its tag */
};

/* Second look, where there were too many attributes to note: all from the first one on. The bytes
 * have been walked before, so lengths are known to fit. */
static void look_again(const struct ntff_event_plan *plan, const uint8_t *p, const uint8_t *end,
                       const uint8_t *readable, struct ntff_rec *r)
{
    struct ntff_wire w = ntff_wire_init(p, (size_t)(end - p));
    struct ntff_field f;
    while (ntff_wire_next_in(&w, readable, &f) > 0) {
        if (f.type != NTFF_WT_LEN || ntff_plan_slot(plan, f.number) != NTFF_S_ATTRIBUTES)
            continue;
        struct ntff_slice key, value;
        ntff_wire_entry(f.data, f.value, &key, &value);
        ntff_rec_attr(r, key.p, key.len, value.p, value.len);
    }
}

static void take_attrs(const struct reading *m, struct ntff_rec *r)
{
    for (uint32_t i = 0; i < m->n_attrs; i++) {
        struct ntff_slice key, value;
        ntff_wire_entry((const uint8_t *)m->attrs[i].p, m->attrs[i].len, &key, &value);
        ntff_rec_attr(r, key.p, key.len, value.p, value.len);
    }
}

/* Scalars by slot, the last of a kind; has: bit per slot seen. */
static void take_scalars(const struct ntff_event_plan *plan, uint64_t v[NTFF_S_COUNT], uint32_t has,
                         struct ntff_rec *r)
{
    for (int i = 0; NTFF_UNLIKELY(plan->zigzag) && i < NTFF_S_COUNT; i++)
        if ((plan->zigzag & has) >> i & 1)
            v[i] = v[i] >> 1 ^ (0 - (v[i] & 1));
    r->timestamp_ns = v[NTFF_S_TIMESTAMP];
    r->duration_ns = v[NTFF_S_DURATION];
    r->id = v[NTFF_S_ID];
    r->tracking_id = v[NTFF_S_TRACKING_ID];
    r->thread_id = v[NTFF_S_THREAD_ID];
    r->nrta_seq_id = v[NTFF_S_NRTA_SEQ_ID];
    r->type = (uint32_t)v[NTFF_S_EVENT_TYPE];
    r->phase = (uint32_t)v[NTFF_S_PHASE];
    r->nc_idx = (uint32_t)v[NTFF_S_NC_IDX];
    r->ring_type = (uint32_t)v[NTFF_S_TYPE];
    r->has |= has >> NTFF_S_NRTA_SEQ_ID & 1 ? NTFF_HAS_SEQ : 0;
}

/* A field with a length: only attributes are noted. */
static inline void take_text(struct reading *m, int slot, const uint8_t *field, const uint8_t *data,
                             size_t len)
{
    m->texts |= 1u << slot;
    if (slot != NTFF_S_ATTRIBUTES)
        return;
    if (m->n_attrs == 0)
        m->first_attr = field;
    if (m->n_attrs < MAX_ATTRS)
        m->attrs[m->n_attrs] = (struct ntff_slice){(const char *)data, len};
    m->n_attrs++;
}

/* Reads fields as every writer makes them: tags of one or two bytes, numbers, lengths below 16 KiB.
 * Ends at the first that is something else, or goes beyond the message; returns where that is. FAR
 * bytes behind the end must be readable, so that one look at the end is enough for a field. */
enum { FAR = 12 };

static const uint8_t *usual_fields(const struct ntff_event_plan *plan, const uint8_t *p,
                                   const uint8_t *end, struct reading *m)
{
    const uint8_t *field = p; /* what is before it has been read */
    uint32_t has = 0, n_unknown = 0;
    for (; p < end; field = p) {
        uint32_t tag = *p++;
        if (tag >= 0x80) {
            if (p[0] == 0 || p[0] >= 0x80)
                break;
            tag = (tag & 0x7f) | (uint32_t)*p++ << 7;
        }
        if (NTFF_UNLIKELY(tag < 8)) /* number 0 */
            break;
        int slot = ntff_plan_slot(plan, tag >> 3);
        uint64_t v = *p;
        if ((tag & 7) == NTFF_WT_VARINT) {
            p = ntff_varint_in(p, &v);
            if (NTFF_UNLIKELY(!p || p > end))
                break;
            m->v[slot] = v;
            has |= 1u << slot;
        } else if (NTFF_LIKELY((tag & 7) == NTFF_WT_LEN)) {
            p++;
            if (v >= 0x80) {
                if (*p >= 0x80)
                    break;
                v = (v & 0x7f) | (uint64_t)*p++ << 7;
            }
            if (NTFF_UNLIKELY((int64_t)v > end - p))
                break;
            take_text(m, slot, field, p, v);
            p += v;
        } else {
            break;
        }
        n_unknown += slot == NTFF_S_UNKNOWN;
    }
    m->has = has;
    m->n_unknown = n_unknown;
    return field;
}

int ntff_decode_event(const struct ntff_event_plan *plan, const uint8_t *msg, size_t len,
                      const uint8_t *readable, struct ntff_rec *r, const char **why, size_t *at)
{
    struct ntff_wire w = ntff_wire_init(msg, len);
    struct ntff_field f;
    struct reading m; /* of it only what is used is cleared: rep stos is slow to start */
    int got;
    m.has = m.texts = m.n_unknown = m.n_attrs = 0;
    m.v[NTFF_S_TIMESTAMP] = m.v[NTFF_S_DURATION] = m.v[NTFF_S_ID] = m.v[NTFF_S_TRACKING_ID] = 0;
    m.v[NTFF_S_THREAD_ID] = m.v[NTFF_S_NRTA_SEQ_ID] = m.v[NTFF_S_EVENT_TYPE] = 0;
    m.v[NTFF_S_PHASE] = m.v[NTFF_S_NC_IDX] = m.v[NTFF_S_TYPE] = 0;
    if (NTFF_LIKELY(readable - w.end >= FAR))
        w.p = usual_fields(plan, msg, w.end, &m);
    got = w.p != w.end;
    for (const uint8_t *field = w.p; got && (got = ntff_wire_next_in(&w, readable, &f)) > 0;
         field = w.p) {
        int slot = ntff_plan_slot(plan, f.number);
        m.n_unknown += slot == NTFF_S_UNKNOWN;
        if (f.type == NTFF_WT_LEN) {
            take_text(&m, slot, field, f.data, f.value);
        } else {
            m.v[slot] = f.value;
            m.has |= 1u << slot;
        }
    }
    if (NTFF_UNLIKELY(got < 0)) {
        *why = w.why;
        *at = (size_t)(w.p - msg);
        return -1;
    }
    r->n_unknown = m.n_unknown;
    r->plain = !m.texts && !m.n_unknown;
    take_scalars(plan, m.v, m.has, r);
    if (m.n_attrs && (r->type >= 64 || NEEDS_ATTRS >> r->type & 1)) {
        if (NTFF_LIKELY(m.n_attrs <= MAX_ATTRS))
            take_attrs(&m, r);
        else
            look_again(plan, m.first_attr, w.end, readable, r);
    }
    bool ring = m.has >> NTFF_S_DATA & 1 || m.texts >> NTFF_S_HINT & 1;
    r->is_ring = ring && r->phase == 0 && r->tracking_id == 0;
    return 0;
}
