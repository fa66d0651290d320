/* plan - the numbers of ntrace_event in one file, compiled to a table: field number -> slot.
 * Knows: base, schema, wire.
 *
 * Three numberings are possible without a schema (FORMAT.md, "ntrace_event"): the table of the
 * spec (B*), the serializer page's [SER], and a further candidate. Which one a file uses is settled
 * by looking at its records; a schema ends the question. */
#ifndef NTFF_PLAN_H
#define NTFF_PLAN_H

#include "schema.h"
#include "wire.h"

enum ntff_event_slot {
    NTFF_S_UNKNOWN,
    NTFF_S_TYPE,
    NTFF_S_TIMESTAMP,
    NTFF_S_DATA,
    NTFF_S_ND_IDX,
    NTFF_S_NC_IDX,
    NTFF_S_HINT,
    NTFF_S_EVENT_TYPE,
    NTFF_S_DURATION,
    NTFF_S_THREAD_ID,
    NTFF_S_ID,
    NTFF_S_PARENT_ID,
    NTFF_S_ATTRIBUTES,
    NTFF_S_STATUS,
    NTFF_S_PHASE,
    NTFF_S_TRACKING_ID,
    NTFF_S_NRTA_SEQ_ID,
    NTFF_S_COUNT
};
/* Field name of a slot in neuron_trace.proto; NULL for UNKNOWN. */
const char *ntff_slot_name(int slot);

enum ntff_numbering { NTFF_NUM_TABLE, NTFF_NUM_SER, NTFF_NUM_CANDIDATE, NTFF_NUM_SCHEMA };
const char *ntff_numbering_name(int numbering);

#define NTFF_PLAN_DIRECT 64

#define NTFF_TAG_ATTRIBUTE NTFF_S_COUNT

struct ntff_event_plan {
    uint8_t slot[NTFF_PLAN_DIRECT]; /* by field number */
    /* By tag, if it is one byte: the slot of a number, NTFF_TAG_ATTRIBUTE, or 0: anything else. */
    uint8_t by_tag[256];
    struct {
        uint32_t number;
        uint8_t slot;
    } more[NTFF_S_COUNT]; /* numbers from 64 on */
    uint8_t n_more;
    uint32_t zigzag;   /* bit per slot: sint32/sint64 */
    uint8_t numbering; /* enum ntff_numbering */
    bool old_types;    /* the event type enum is an older one: do not name types by the table */
    bool settled;      /* numbering confirmed by data (or from a schema), not just the default */
};

/* The plan of a fixed numbering. */
void ntff_plan_init(struct ntff_event_plan *p, enum ntff_numbering numbering);
/* From a schema's ntrace_event, bound by field name. False if it has no such message, or no
 * timestamp. */
bool ntff_plan_bind(struct ntff_event_plan *p, const struct ntff_schema *s);

static inline int ntff_plan_slot(const struct ntff_event_plan *p, uint32_t number)
{
    if (NTFF_LIKELY(number < NTFF_PLAN_DIRECT))
        return p->slot[number];
    for (unsigned i = 0; i < p->n_more; i++)
        if (p->more[i].number == number)
            return p->more[i].slot;
    return NTFF_S_UNKNOWN;
}

/* True if msg is a well-formed message that can be an ntrace_event in some numbering: numbers 1..31
 * only (or known to p), 6 and 12 length-delimited, everything else a varint, 12 a {text, text}
 * entry. */
bool ntff_event_plausible(const struct ntff_event_plan *p, const uint8_t *msg, size_t len);

/* Evidence on numberings, collected over records, then judged. */
struct ntff_numbering_test {
    uint32_t n, one_big, two_big, five_type, fifteen_type, old_types;
    uint32_t plan_big; /* Unix times where a schema's plan expects them */
};
void ntff_numbering_look(struct ntff_numbering_test *t, const uint8_t *msg, size_t len);
/* Sets *p to the numbering the evidence speaks for. */
void ntff_numbering_judge(const struct ntff_numbering_test *t, struct ntff_event_plan *p);

#endif
