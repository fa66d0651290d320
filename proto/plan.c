/* plan - which field number means what in a file's ntrace_event records.
 *
 * The rule (FORMAT.md): Unix timestamps in ns exceed 2^59, nothing else in a record's low numbers
 * does. If number 2 is such a timestamp in most records, the table holds; if number 1 is, it is
 * [SER] or the further candidate, which differ in where the event type (a small number in nearly
 * every record) sits: 5 or 15. Hardware events may carry device time, so "most", not "all". */
#include "proto/plan.h"

#include <string.h>

static const char *const slot_names[NTFF_S_COUNT] = {
    NULL,         "type",       "timestamp", "data",        "nd_idx",      "nc_idx",
    "hint",       "event_type", "duration",  "thread_id",   "id",          "parent_id",
    "attributes", "status",     "phase",     "tracking_id", "nrta_seq_id",
};

const char *ntff_slot_name(int slot)
{
    return slot > 0 && slot < NTFF_S_COUNT ? slot_names[slot] : NULL;
}

const char *ntff_numbering_name(int numbering)
{
    static const char *const names[] = {"table (timestamp 2, event_type 7)",
                                        "[SER] (timestamp 1, event_type 5)",
                                        "candidate (timestamp 1, event_type 15)", "schema"};
    return names[numbering];
}

/* Slot by number 1..16. */
static const uint8_t numberings[3][17] = {
    [NTFF_NUM_TABLE] = {0, NTFF_S_TYPE, NTFF_S_TIMESTAMP, NTFF_S_DATA, NTFF_S_ND_IDX, NTFF_S_NC_IDX,
                        NTFF_S_HINT, NTFF_S_EVENT_TYPE, NTFF_S_DURATION, NTFF_S_THREAD_ID,
                        NTFF_S_ID, NTFF_S_PARENT_ID, NTFF_S_ATTRIBUTES, NTFF_S_STATUS, NTFF_S_PHASE,
                        NTFF_S_TRACKING_ID, NTFF_S_NRTA_SEQ_ID},
    /* nrta_seq_id is 16 by its own tag [FMT]; [SER] prints it at 15, so both are taken */
    [NTFF_NUM_SER] = {0, NTFF_S_TIMESTAMP, NTFF_S_DATA, NTFF_S_ND_IDX, NTFF_S_NC_IDX,
                      NTFF_S_EVENT_TYPE, NTFF_S_HINT, NTFF_S_DURATION, NTFF_S_THREAD_ID, NTFF_S_ID,
                      NTFF_S_PARENT_ID, NTFF_S_STATUS, NTFF_S_ATTRIBUTES, NTFF_S_PHASE,
                      NTFF_S_TRACKING_ID, NTFF_S_NRTA_SEQ_ID, NTFF_S_NRTA_SEQ_ID},
    [NTFF_NUM_CANDIDATE] = {0, NTFF_S_TIMESTAMP, NTFF_S_TYPE, NTFF_S_ND_IDX, NTFF_S_NC_IDX,
                            NTFF_S_DATA, NTFF_S_HINT, NTFF_S_DURATION, NTFF_S_ID, NTFF_S_PARENT_ID,
                            NTFF_S_THREAD_ID, NTFF_S_STATUS, NTFF_S_ATTRIBUTES, NTFF_S_PHASE,
                            NTFF_S_TRACKING_ID, NTFF_S_EVENT_TYPE, NTFF_S_NRTA_SEQ_ID},
};

static void index_tags(struct ntff_event_plan *p)
{
    for (unsigned number = 1; number < 16; number++) {
        p->by_tag[number << 3 | NTFF_WT_VARINT] = p->slot[number];
        if (p->slot[number] == NTFF_S_ATTRIBUTES)
            p->by_tag[number << 3 | NTFF_WT_LEN] = NTFF_TAG_ATTRIBUTE;
    }
}

void ntff_plan_init(struct ntff_event_plan *p, enum ntff_numbering numbering)
{
    *p = (struct ntff_event_plan){.numbering = (uint8_t)numbering};
    if (numbering != NTFF_NUM_SCHEMA)
        memcpy(p->slot, numberings[numbering], sizeof numberings[numbering]);
    index_tags(p);
}

bool ntff_plan_bind(struct ntff_event_plan *p, const struct ntff_schema *s)
{
    const struct ntff_message_def *m = ntff_schema_message(s, "ntrace_event");
    ntff_plan_init(p, NTFF_NUM_SCHEMA);
    if (!m)
        return false;
    p->settled = true;
    bool has_time = false;
    for (int slot = 1; slot < NTFF_S_COUNT; slot++) {
        const struct ntff_field_def *f = ntff_message_field(m, slot_names[slot]);
        if (!f)
            continue;
        bool want_len = slot == NTFF_S_ATTRIBUTES || slot == NTFF_S_HINT;
        if ((ntff_type_wire(f->type) == NTFF_WT_LEN) != want_len)
            continue; /* another kind of field under our name: kept as unknown */
        if (f->number < NTFF_PLAN_DIRECT) {
            p->slot[f->number] = (uint8_t)slot;
        } else {
            p->more[p->n_more].number = f->number;
            p->more[p->n_more++].slot = (uint8_t)slot;
        }
        if (f->type == NTFF_T_SINT32 || f->type == NTFF_T_SINT64)
            p->zigzag |= 1u << slot;
        has_time |= slot == NTFF_S_TIMESTAMP;
    }
    index_tags(p);
    return has_time;
}

/* A map entry {1: text, 2: text}, either of them possibly absent. */
static bool entry_plausible(const uint8_t *data, size_t len)
{
    struct ntff_wire w = ntff_wire_init(data, len);
    struct ntff_field f;
    int r;
    while ((r = ntff_wire_next(&w, &f)) > 0)
        if (f.type != NTFF_WT_LEN || f.number > 2)
            return false;
    return r == 0;
}

bool ntff_event_plausible(const struct ntff_event_plan *p, const uint8_t *msg, size_t len)
{
    struct ntff_wire w = ntff_wire_init(msg, len);
    struct ntff_field f;
    int r;
    while ((r = ntff_wire_next(&w, &f)) > 0) {
        int slot = p->numbering == NTFF_NUM_SCHEMA ? ntff_plan_slot(p, f.number)
                   : f.number == 6                 ? NTFF_S_HINT
                   : f.number == 12                ? NTFF_S_ATTRIBUTES
                   : f.number <= 16                ? NTFF_S_DATA
                                                   : NTFF_S_UNKNOWN;
        bool is_len = f.type == NTFF_WT_LEN;
        if (slot == NTFF_S_UNKNOWN) {
            if (f.number > 4096) /* later runtimes may add some, not thousands */
                return false;
        } else if (is_len != (slot == NTFF_S_ATTRIBUTES || slot == NTFF_S_HINT)) {
            return false;
        } else if (slot == NTFF_S_ATTRIBUTES && !entry_plausible(f.data, f.value)) {
            return false;
        }
    }
    return r == 0;
}

#define UNIX_NS_FLOOR (UINT64_C(1) << 59) /* 1988; device times stay far below (months) */

/* Sign of an older enum: type 11 is a batch today and has no tensor_id (FORMAT.md, "Event types").
 */
static bool has_tensor_id(const struct ntff_field *attr)
{
    return attr->value > 13 && memcmp(attr->data, "\x0a\x09tensor_id", 11) == 0;
}

void ntff_numbering_look(struct ntff_numbering_test *t, const uint8_t *msg, size_t len)
{
    struct ntff_wire w = ntff_wire_init(msg, len);
    struct ntff_field f;
    bool seven_is_11 = false, tensor = false;
    t->n++;
    while (ntff_wire_next(&w, &f) > 0) {
        if (f.type == NTFF_WT_LEN) {
            tensor |= f.number == 12 && has_tensor_id(&f);
            continue;
        }
        t->one_big += f.number == 1 && f.value > UNIX_NS_FLOOR;
        t->two_big += f.number == 2 && f.value > UNIX_NS_FLOOR;
        t->five_type += f.number == 5 && f.value < 256;
        t->fifteen_type += f.number == 15 && f.value < 256;
        seven_is_11 |= f.number == 7 && f.value == 11;
    }
    t->old_types += seven_is_11 && tensor;
}

void ntff_numbering_judge(const struct ntff_numbering_test *t, struct ntff_event_plan *p)
{
    enum ntff_numbering n = NTFF_NUM_TABLE;
    if (t->one_big > t->two_big)
        n = t->fifteen_type > t->five_type ? NTFF_NUM_CANDIDATE : NTFF_NUM_SER;
    ntff_plan_init(p, n);
    p->settled = t->one_big + t->two_big > 0;
    p->old_types = n == NTFF_NUM_TABLE && t->old_types > 0;
}
