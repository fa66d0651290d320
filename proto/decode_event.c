/* decode_event - one ntrace_event message into a struct ntff_rec.
 *
 * The hot loop of the program: every record of a capture passes here once at load. It walks the
 * fields once by the file's plan; attributes are looked into only for types whose attributes the
 * loader itself needs (clock pairs, execution ids, sizes). All others stay where they are until
 * somebody asks for the details of an event. */
#include "proto/build.h"

#include "proto/event_types.h"
#include "proto/plan.h"

#include <string.h>

#define BIT(n) (UINT64_C(1) << (n))
/* Types whose attributes matter at load. Unknown types (above 45) are looked into as well. */
#define NEEDS_ATTRS                                                                                \
    (BIT(6) | BIT(7) | BIT(8) | BIT(13) | BIT(17) | BIT(18) | BIT(19) | BIT(20) | BIT(21) |        \
     BIT(24) | BIT(25) | BIT(26) | BIT(30) | BIT(31) | BIT(32) | BIT(33) | BIT(34) | BIT(35))

static bool decimal(const char *p, size_t n, uint64_t *out)
{
    uint64_t v = 0;
    if (n == 0 || n > 20)
        return false;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)(p[i] - '0');
        if (digit > 9)
            return false;
        if (i == 19) { /* only a twentieth digit can overflow */
            if (__builtin_mul_overflow(v, 10u, &v) || __builtin_add_overflow(v, digit, &v))
                return false;
        } else {
            v = v * 10 + digit;
        }
    }
    *out = v;
    return true;
}

/* Lengths of the keys below: most attributes are none of them. */
#define LENGTHS (1u << 4 | 1u << 7 | 1u << 10 | 1u << 11 | 1u << 15 | 1u << 16 | 1u << 22)

#define KEY_IS(text) (key_len == sizeof(text) - 1 && memcmp(key, text, sizeof(text) - 1) == 0)

void ntff_rec_attr(struct ntff_rec *r, const char *key, size_t key_len, const char *value,
                   size_t value_len)
{
    uint64_t v;
    if (!(LENGTHS >> (key_len & 31) & 1) || key_len > 22)
        return;
    if (!decimal(value, value_len, &v)) {
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

static int fail(const uint8_t *msg, const uint8_t *p, const char *what, const char **why,
                size_t *at)
{
    *why = what;
    *at = (size_t)(p - msg);
    return -1;
}

/* Second look: the attributes from the first one on. The bytes have been walked before, so lengths
 * are known to fit. */
static void take_attrs(const struct ntff_event_plan *plan, const uint8_t *p, const uint8_t *end,
                       struct ntff_rec *r)
{
    while (p < end) {
        uint64_t tag, v;
        p = ntff_varint(p, end, &tag);
        if ((tag & 7) == NTFF_WT_I64 || (tag & 7) == NTFF_WT_I32) {
            p += (tag & 7) == NTFF_WT_I64 ? 8 : 4;
            continue;
        }
        p = ntff_varint(p, end, &v);
        if ((tag & 7) != NTFF_WT_LEN)
            continue;
        if (ntff_plan_slot(plan, (uint32_t)(tag >> 3)) == NTFF_S_ATTRIBUTES) {
            struct ntff_slice key, value;
            ntff_wire_entry(p, v, &key, &value);
            ntff_rec_attr(r, key.p, key.len, value.p, value.len);
        }
        p += v;
    }
}

static inline void set_scalar(const struct ntff_event_plan *plan, struct ntff_rec *r, int slot,
                              uint64_t v)
{
    if (NTFF_UNLIKELY(plan->zigzag >> slot & 1))
        v = v >> 1 ^ (0 - (v & 1));
    switch (slot) {
    case NTFF_S_TIMESTAMP:
        r->timestamp_ns = v;
        break;
    case NTFF_S_TYPE:
        r->ring_type = (uint32_t)v;
        break;
    case NTFF_S_NC_IDX:
        r->nc_idx = (uint32_t)v;
        break;
    case NTFF_S_EVENT_TYPE:
        r->type = (uint32_t)v;
        break;
    case NTFF_S_DURATION:
        r->duration_ns = v;
        break;
    case NTFF_S_THREAD_ID:
        r->thread_id = v;
        break;
    case NTFF_S_ID:
        r->id = v;
        break;
    case NTFF_S_PHASE:
        r->phase = (uint32_t)v;
        break;
    case NTFF_S_TRACKING_ID:
        r->tracking_id = v;
        break;
    case NTFF_S_NRTA_SEQ_ID:
        r->nrta_seq_id = v, r->has |= NTFF_HAS_SEQ;
        break;
    case NTFF_S_DATA:
        r->is_ring = true;
        break;
    case NTFF_S_UNKNOWN:
        r->n_unknown++;
        break;
    default:
        break;
    }
}

int ntff_decode_event(const struct ntff_event_plan *plan, const uint8_t *msg, size_t len,
                      struct ntff_rec *r, const char **why, size_t *at)
{
    const uint8_t *p = msg, *end = msg + len, *attrs = NULL;
    while (p < end) {
        const uint8_t *field = p;
        uint64_t tag, v;
        if (NTFF_UNLIKELY(!(p = ntff_varint(p, end, &tag))))
            return fail(msg, field, "field tag is cut or longer than 10 bytes", why, at);
        uint64_t number = tag >> 3;
        if (NTFF_UNLIKELY(number == 0 || number > 0x1fffffff))
            return fail(msg, field, "field number is 0 or above 2^29-1", why, at);
        int slot = ntff_plan_slot(plan, (uint32_t)number);
        switch (tag & 7) {
        case NTFF_WT_VARINT:
            if (NTFF_UNLIKELY(!(p = ntff_varint(p, end, &v))))
                return fail(msg, field, "number is cut or longer than 10 bytes", why, at);
            set_scalar(plan, r, slot, v);
            break;
        case NTFF_WT_LEN:
            if (NTFF_UNLIKELY(!(p = ntff_varint(p, end, &v)) || v > (uint64_t)(end - p)))
                return fail(msg, field, "length goes past the end of the record", why, at);
            if (slot == NTFF_S_ATTRIBUTES && !attrs)
                attrs = field;
            r->n_unknown += slot == NTFF_S_UNKNOWN;
            r->is_ring |= slot == NTFF_S_HINT;
            p += v;
            break;
        case NTFF_WT_I64:
            if (end - p < 8)
                return fail(msg, field, "8-byte number is cut", why, at);
            set_scalar(plan, r, slot, ntff_le64(p));
            p += 8;
            break;
        case NTFF_WT_I32:
            if (end - p < 4)
                return fail(msg, field, "4-byte number is cut", why, at);
            set_scalar(plan, r, slot, ntff_le32(p));
            p += 4;
            break;
        default:
            return fail(msg, field, "wire type is a group or does not exist", why, at);
        }
    }
    if (attrs && (r->type >= 64 || NEEDS_ATTRS >> r->type & 1))
        take_attrs(plan, attrs, end, r);
    r->is_ring &= r->phase == 0 && r->tracking_id == 0;
    return 0;
}
