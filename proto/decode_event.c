/* decode_event - one ntrace_event message into a struct ntff_rec.
 *
 * The hot loop of the program: every record of a capture passes here once at load. It walks the
 * fields once by the file's plan, storing numbers by slot without asking which is which; attributes
 * are looked into only for types whose attributes the loader itself needs (clock pairs, execution
 * ids, sizes). All others stay where they are until somebody asks for the details of an event. */
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

/* Second look: the attributes from the first one on. The bytes have been walked before, so lengths
 * are known to fit. */
static void take_attrs(const struct ntff_event_plan *plan, struct ntff_wire w,
                       const uint8_t *readable, struct ntff_rec *r)
{
    struct ntff_field f;
    while (ntff_wire_next_in(&w, readable, &f) > 0) {
        if (f.type != NTFF_WT_LEN || ntff_plan_slot(plan, f.number) != NTFF_S_ATTRIBUTES)
            continue;
        struct ntff_slice key, value;
        ntff_wire_entry(f.data, f.value, &key, &value);
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

int ntff_decode_event(const struct ntff_event_plan *plan, const uint8_t *msg, size_t len,
                      const uint8_t *readable, struct ntff_rec *r, const char **why, size_t *at)
{
    struct ntff_wire w = ntff_wire_init(msg, len), attrs = w;
    struct ntff_field f;
    uint64_t v[NTFF_S_COUNT]; /* of these only those used are cleared: rep stos is slow to start */
    uint32_t has = 0, texts = 0, n_unknown = 0;
    int got;
    v[NTFF_S_TIMESTAMP] = v[NTFF_S_DURATION] = v[NTFF_S_ID] = v[NTFF_S_TRACKING_ID] = 0;
    v[NTFF_S_THREAD_ID] = v[NTFF_S_NRTA_SEQ_ID] = v[NTFF_S_EVENT_TYPE] = v[NTFF_S_PHASE] = 0;
    v[NTFF_S_NC_IDX] = v[NTFF_S_TYPE] = 0;
    for (const uint8_t *field = msg; (got = ntff_wire_next_in(&w, readable, &f)) > 0; field = w.p) {
        int slot = ntff_plan_slot(plan, f.number);
        n_unknown += slot == NTFF_S_UNKNOWN;
        if (f.type != NTFF_WT_LEN) {
            v[slot] = f.value;
            has |= 1u << slot;
            continue;
        }
        if (slot == NTFF_S_ATTRIBUTES && !(texts >> slot & 1))
            attrs.p = field;
        texts |= 1u << slot;
    }
    if (NTFF_UNLIKELY(got < 0)) {
        *why = w.why;
        *at = (size_t)(w.p - msg);
        return -1;
    }
    r->n_unknown = n_unknown;
    r->plain = !texts && !n_unknown;
    take_scalars(plan, v, has, r);
    if (texts >> NTFF_S_ATTRIBUTES & 1 && (r->type >= 64 || NEEDS_ATTRS >> r->type & 1))
        take_attrs(plan, attrs, readable, r);
    bool ring = has >> NTFF_S_DATA & 1 || texts >> NTFF_S_HINT & 1;
    r->is_ring = ring && r->phase == 0 && r->tracking_id == 0;
    return 0;
}
