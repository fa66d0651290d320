/* Our decoder of ntrace_event against protobuf-c's unpack of the built-in schema, on the same
 * bytes: generated messages, and the same messages damaged at random.
 *
 * protobuf-c is the stricter one where it judges a message by its attributes or by the wire type of
 * a known field; we keep such a record. So what it accepts we must accept, with equal fields; what
 * we refuse it must refuse. One exception: it lets field number 0 pass, which the encoding forbids.
 */
#include "proto/build.h"
#include "proto/plan.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/neuron_trace.pb-c.h"

static uint64_t random_state;

static uint64_t next_random(void)
{
    return random_next(&random_state);
}

static uint64_t below(uint64_t n)
{
    return random_below(&random_state, n);
}

/* A number as files have them: absent, small, at an edge of its varint length, or anything. */
static uint64_t random_number(void)
{
    switch (below(5)) {
    case 0:
        return 0;
    case 1:
        return below(300);
    case 2: {
        uint64_t edge = UINT64_C(1) << 7 * (1 + below(9));
        return edge - below(2);
    }
    case 3:
        return UINT64_MAX - below(2);
    default:
        return below(UINT64_MAX) >> (random_state & 63);
    }
}

/* -- messages --------------------------------------------------------------------------------- */

enum { MAX_ATTRS = 6, MAX_LEN = 2048 };

static const char *const keys[] = {
    "exec_id",
    "nc_timestamp_ns",
    "device_core_idx",
    "cpu_timestamp_ns",
    "size",
    "total_bytes",
    "total_size",
    "hbm_idx",
    "usage_type_total_bytes",
    "usage_type",
    "model_name",
    "algorithm",
    "",
};

static void random_value(char *out, size_t cap)
{
    switch (below(6)) {
    case 0:
        snprintf(out, cap, "%s", "");
        break;
    case 1:
        snprintf(out, cap, "%s", below(2) ? "TENSOR" : "/a/path/to/model.neff");
        break;
    case 2: /* too long for 64 bits, by a little or by much */
        snprintf(out, cap, "18446744073709551616%s", below(2) ? "0" : "");
        break;
    case 3:
        snprintf(out, cap, "-%" PRIu64, below(99));
        break;
    default:
        snprintf(out, cap, "%" PRIu64, random_number());
        break;
    }
}

/* Packs one random event; returns its length. */
static size_t random_event(uint8_t *out)
{
    static char values[MAX_ATTRS][64];
    Ntff__NtraceEvent__AttributesEntry entries[MAX_ATTRS], *list[MAX_ATTRS];
    Ntff__NtraceEvent e = NTFF__NTRACE_EVENT__INIT;
    e.type = (Ntff__NtraceDataType)below(16);
    e.timestamp = below(4) ? UINT64_C(1764440000000000000) + below(1 << 30) : random_number();
    e.data = random_number();
    e.nd_idx = (uint32_t)random_number();
    e.nc_idx = (uint32_t)random_number();
    if (below(3) == 0)
        e.hint = (char *)"tensor";
    e.event_type = below(4) ? (uint32_t)below(50) : (uint32_t)random_number();
    e.duration = random_number();
    e.thread_id = (uint32_t)random_number();
    e.id = random_number();
    e.parent_id = random_number();
    e.status = (uint32_t)random_number();
    e.phase = (Ntff__NtraceEventPhaseType)below(5);
    e.tracking_id = random_number();
    if (below(2)) {
        e._nrta_seq_id_case = NTFF__NTRACE_EVENT___NRTA_SEQ_ID_NRTA_SEQ_ID;
        e.nrta_seq_id = random_number();
    }
    e.n_attributes = below(MAX_ATTRS + 1);
    e.attributes = list;
    for (size_t i = 0; i < e.n_attributes; i++) {
        entries[i] = (Ntff__NtraceEvent__AttributesEntry)NTFF__NTRACE_EVENT__ATTRIBUTES_ENTRY__INIT;
        random_value(values[i], sizeof values[i]);
        entries[i].key = (char *)keys[below(NTFF_ARRAY_LEN(keys))];
        entries[i].value = values[i];
        list[i] = &entries[i];
    }
    return ntff__ntrace_event__pack(&e, out);
}

/* Damages msg in place: flips, cuts, repeats, inserts. Returns the new length. */
static size_t mutate(uint8_t *msg, size_t len)
{
    for (uint64_t n = 1 + below(3); n > 0 && len > 0; n--) {
        size_t at = below(len);
        switch (below(6)) {
        case 0:
            msg[at] ^= (uint8_t)(1 << below(8));
            break;
        case 1:
            msg[at] = (uint8_t)next_random();
            break;
        case 2:
            msg[at] = 0xff;
            break;
        case 3:
            len = at;
            break;
        case 4: /* an inserted byte shifts what follows */
            memmove(msg + at + 1, msg + at, len - at);
            msg[at] = (uint8_t)next_random();
            len++;
            break;
        default: { /* a piece repeated at the end: fields twice, or torn ones */
            size_t piece = below(len - at) + 1;
            if (len + piece <= MAX_LEN) {
                memmove(msg + len, msg + at, piece);
                len += piece;
            }
            break;
        }
        }
    }
    return len;
}

/* -- comparison ------------------------------------------------------------------------------- */

static bool has_bad_number(const uint8_t *msg, size_t len)
{
    const uint8_t *p = msg, *end = msg + len;
    while (p < end) {
        uint64_t tag, v;
        if ((p = ntff_varint(p, end, &tag)) == NULL)
            return false;
        if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
            return true;
        switch (tag & 7) {
        case 0:
            if ((p = ntff_varint(p, end, &v)) == NULL)
                return false;
            break;
        case 1:
            p += 8;
            break;
        case 2:
            if ((p = ntff_varint(p, end, &v)) == NULL || v > (uint64_t)(end - p))
                return false;
            p += v;
            break;
        case 5:
            p += 4;
            break;
        default:
            return false;
        }
    }
    return false;
}

/* The value of an attribute by protobuf-c, the last of its key that is a decimal number. */
static bool attr_number(const Ntff__NtraceEvent *e, const char *key, uint64_t *out)
{
    bool found = false;
    for (size_t i = 0; i < e->n_attributes; i++) {
        const char *value = e->attributes[i]->value;
        if (strcmp(e->attributes[i]->key, key) != 0 || *value == '\0' ||
            value[strspn(value, "0123456789")] != '\0' || strlen(value) > 20)
            continue;
        char again[32];
        uint64_t v = strtoull(value, NULL, 10);
        snprintf(again, sizeof again, "%0*" PRIu64, (int)strlen(value), v);
        if (strcmp(again, value) != 0) /* beyond 64 bits */
            continue;
        *out = v;
        found = true;
    }
    return found;
}

#define EQ_ATTR(key, flag, field)                                                                  \
    do {                                                                                           \
        uint64_t want = 0;                                                                         \
        bool has = attr_number(e, key, &want);                                                     \
        TAP_EQ_U64((r->has & (flag)) != 0, has);                                                   \
        if (has)                                                                                   \
            TAP_EQ_U64(field, want);                                                               \
    } while (0)

static void equal(const struct ntff_rec *r, const Ntff__NtraceEvent *e, bool with_attrs)
{
    TAP_EQ_U64(r->timestamp_ns, e->timestamp);
    TAP_EQ_U64(r->nc_idx, e->nc_idx);
    TAP_EQ_U64(r->type, e->event_type);
    TAP_EQ_U64(r->duration_ns, e->duration);
    TAP_EQ_U64((uint32_t)r->thread_id, e->thread_id);
    TAP_EQ_U64(r->id, e->id);
    TAP_EQ_U64(r->phase, (uint32_t)e->phase);
    TAP_EQ_U64(r->tracking_id, e->tracking_id);
    bool seq = e->_nrta_seq_id_case == NTFF__NTRACE_EVENT___NRTA_SEQ_ID_NRTA_SEQ_ID;
    TAP_EQ_U64((r->has & NTFF_HAS_SEQ) != 0, seq);
    if (seq)
        TAP_EQ_U64(r->nrta_seq_id, e->nrta_seq_id);
    TAP_EQ_U64(r->n_unknown, e->base.n_unknown_fields);
    /* hardware types; what the loader needs of others differs by type */
    if (!with_attrs || (r->type != 7 && r->type != 25 && r->type != 13))
        return;
    EQ_ATTR("exec_id", NTFF_HAS_EXEC, r->exec_id);
    EQ_ATTR("nc_timestamp_ns", NTFF_HAS_NC_TS, r->nc_ns);
    EQ_ATTR("cpu_timestamp_ns", NTFF_HAS_CPU_TS, r->cpu_ns);
}

struct tally {
    unsigned both_good, both_bad, ours_only;
};

/* What stands behind a message changes nothing, whether good or not. */
static void same_with_more_behind(const struct ntff_event_plan *plan, const uint8_t *msg,
                                  size_t len, int result, const struct ntff_rec *r, size_t at)
{
    static const uint8_t fill[] = {0x00, 0x01, 0x80, 0xff};
    uint8_t longer[MAX_LEN + 32];
    for (size_t i = 0; i < NTFF_ARRAY_LEN(fill); i++) {
        struct ntff_rec again = {0};
        const char *why = NULL;
        size_t again_at = 0;
        memset(longer, fill[i], sizeof longer);
        memcpy(longer, msg, len);
        TAP_EQ_I64(ntff_decode_event(plan, longer, len, longer + len + 32, &again, &why, &again_at),
                   result);
        if (result == 0) { /* the text of usage_type points into the message */
            TAP_EQ_U64(again.usage_text.len, r->usage_text.len);
            again.usage_text = r->usage_text;
            /* both began as zeros, what lies between members too; NOLINTNEXTLINE */
            TAP_OK(memcmp(&again, r, sizeof again) == 0);
        } else {
            TAP_EQ_U64(again_at, at);
        }
    }
}

static void compare(const struct ntff_event_plan *plan, const uint8_t *msg, size_t len,
                    struct tally *t)
{
    struct ntff_rec r = {0};
    const char *why = NULL;
    size_t at = 0;
    /* a copy of exactly this length, so that the sanitizer sees reads past its end */
    uint8_t *copy = malloc(len + (len == 0));
    TAP_OK(copy != NULL);
    memcpy(copy, msg, len);
    int ours = ntff_decode_event(plan, copy, len, copy + len, &r, &why, &at);
    same_with_more_behind(plan, msg, len, ours, &r, at);
    Ntff__NtraceEvent *e = ntff__ntrace_event__unpack(NULL, len, copy);
    if (ours == 0 && e != NULL) {
        equal(&r, e, memchr(msg, 0, len) == NULL); /* protobuf-c loses texts at a NUL */
        t->both_good++;
    } else if (ours != 0) {
        TAP_OK(why != NULL);
        TAP_OK(at < len);
        if (e != NULL && !has_bad_number(copy, len))
            TAP_FAIL("refused (%s at %zu) what protobuf-c accepts", why, at);
        t->both_bad++;
    } else {
        t->ours_only++;
    }
    if (e != NULL)
        ntff__ntrace_event__free_unpacked(e, NULL);
    free(copy);
}

TAP_TEST(generated_messages_decode_alike)
{
    struct ntff_event_plan plan;
    struct tally t = {0};
    uint8_t msg[MAX_LEN];
    ntff_plan_init(&plan, NTFF_NUM_TABLE);
    for (unsigned i = 0; i < 20000; i++) {
        random_state = i;
        TAP_CONTEXT("seed %u", i);
        compare(&plan, msg, random_event(msg), &t);
    }
    TAP_EQ_U64(t.both_good, 20000);
}

TAP_TEST(damaged_messages_decode_alike_or_are_refused)
{
    struct ntff_event_plan plan;
    struct tally t = {0};
    uint8_t msg[MAX_LEN + 64];
    ntff_plan_init(&plan, NTFF_NUM_TABLE);
    for (unsigned i = 0; i < 200000; i++) {
        random_state = UINT64_C(1) << 40 | i;
        TAP_CONTEXT("seed %u", i);
        compare(&plan, msg, mutate(msg, random_event(msg)), &t);
    }
    /* the test is worth nothing if nearly everything falls into one class */
    TAP_OK(t.both_good > 20000);
    TAP_OK(t.both_bad > 20000);
}

TAP_TEST(a_plan_bound_to_the_built_in_schema_reads_the_same)
{
    struct ntff_schema *schema;
    struct ntff_event_plan table, bound;
    struct ntff_error err;
    TAP_EQ_U64(ntff_schema_builtin(&schema, &err), NTFF_OK);
    ntff_plan_init(&table, NTFF_NUM_TABLE);
    TAP_OK(ntff_plan_bind(&bound, schema));
    for (unsigned i = 0; i < 5000; i++) {
        uint8_t msg[MAX_LEN + 64];
        struct ntff_rec a = {0}, b = {0};
        const char *why = NULL;
        size_t at = 0, len;
        random_state = UINT64_C(2) << 40 | i;
        TAP_CONTEXT("seed %u", i);
        len = random_event(msg);
        if (below(2))
            len = mutate(msg, len);
        TAP_EQ_I64(ntff_decode_event(&table, msg, len, msg + len, &a, &why, &at),
                   ntff_decode_event(&bound, msg, len, msg + len, &b, &why, &at));
        TAP_EQ_MEM(&a, sizeof a, &b, sizeof b);
    }
    ntff_schema_free(schema);
}

/* Every way a record can be wrong, with the offset of the field that is. */
TAP_TEST(each_refusal_names_its_field)
{
    static const struct {
        const char *what, *msg;
        size_t len, at;
    } rows[] = {
        {"a tag that is cut", "\x10\x01\x80", 3, 2},
        {"a tag of eleven bytes", "\x10\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 13, 2},
        {"field number 0", "\x10\x01\x00\x01", 4, 2},
        {"a number that is cut", "\x38\x07\x10\x80", 4, 2},
        {"a number of eleven bytes", "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, 0},
        {"a length beyond the end", "\x38\x07\x62\x05\x0a\x00", 6, 2},
        {"a length that is cut", "\x62\x80", 2, 0},
        {"a length of 2^64-1", "\x62\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, 0},
        {"eight bytes of which seven are there", "\x38\x07\x11\0\0\0\0\0\0\0", 10, 2},
        {"four bytes of which three are there", "\x15\0\0\0", 4, 0},
        {"the start of a group", "\x38\x07\x13", 3, 2},
        {"the end of a group", "\x14", 1, 0},
        {"wire type 6", "\x16", 1, 0},
        {"wire type 7", "\x38\x07\x17", 3, 2},
    };
    struct ntff_event_plan plan;
    ntff_plan_init(&plan, NTFF_NUM_TABLE);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(rows); i++) {
        struct ntff_rec r = {0};
        const char *why = NULL;
        size_t at = SIZE_MAX;
        TAP_CONTEXT("%s", rows[i].what);
        const uint8_t *msg = (const uint8_t *)rows[i].msg;
        TAP_EQ_I64(ntff_decode_event(&plan, msg, rows[i].len, msg + rows[i].len, &r, &why, &at),
                   -1);
        TAP_EQ_U64(at, rows[i].at);
        TAP_OK(why != NULL && strlen(why) > 10);
        TAP_OK(ntff__ntrace_event__unpack(NULL, rows[i].len, msg) == NULL || i == 2);
    }
}

TAP_MAIN()
