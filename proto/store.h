/* store - the record form events from JSON are kept in (NTFF_SOURCE_STORE).
 * Written by decode_json.c; read by ntff_detail (facts of an event) and by `ntff-conv json` (the
 * JSON again, byte for byte).   Knows: build.   Private to proto/ and conv/cmd_json.c.
 *
 * JSON is read once, as a stream, and cannot be pointed into later as a mapped ntrace.pb can. So
 * each event is re-encoded as one ntrace_event message, in the default numbering (FORMAT.md), with
 * own fields from 1000 up for what that message has no place for. A ntff_ref points at the varint
 * with the length of the message; the message follows.
 *
 * Presence: a field is there exactly when the JSON had the key, zero or not - unlike proto3.
 * Order:    fields stand in the order the keys had in the JSON.
 * Numbers:  all varints; a 64-bit thread_id is kept whole.
 *
 *   2 timestamp         timestamp_ns, or timestamp converted to ns
 *   5 nc_idx            nc_idx; in system_profile.json lnc_idx where there is one
 *   7 event_type        the JSON's name when it is the display name of that type (event_types.h);
 *                       any other name is in 1002 instead - never both
 *   8 duration          ns; absent when it was negative (then it is an attribute)
 *   9 thread_id, 10 id, 11 parent_id, 15 tracking_id, 16 nrta_seq_id
 *   12 attributes       one entry for each key of "data", and for each key that is not listed here
 *   14 phase            1 "start", 2 "stop", 3 "instant", 0 "unknown"; other texts are in 1003
 *   1000..1004          below
 */
#ifndef NTFF_STORE_H
#define NTFF_STORE_H

#include "build.h"
#include "wire.h"

enum {
    NTFF_STORE_NC_LOCAL_ID = 1000, /* varint */
    NTFF_STORE_WORKER_GID = 1001,  /* varint, zigzag */
    NTFF_STORE_TYPE_NAME = 1002,   /* text: event_type or name, when field 7 cannot say it */
    NTFF_STORE_PHASE_TEXT = 1003,  /* text: a phase outside the four known */
    NTFF_STORE_EMPTY_DATA = 1004   /* varint 1: "data":{} stood here */
};

/* Fields of an attribute entry. */
enum {
    NTFF_STORE_KEY = 1,   /* text */
    NTFF_STORE_VALUE = 2, /* text: numbers as they were written, true/false, raw JSON */
    NTFF_STORE_KIND = 3,  /* varint, enum ntff_store_kind; absent = TEXT */
    NTFF_STORE_TOP = 4    /* varint 1: a key of the event itself, not of "data" */
};

enum ntff_store_kind {
    NTFF_STORE_TEXT,
    NTFF_STORE_UINT,   /* decimal, 0 .. 2^64 - 1 */
    NTFF_STORE_INT,    /* decimal, negative, from -2^63 */
    NTFF_STORE_BOOL,   /* "true", "false" */
    NTFF_STORE_DOUBLE, /* as written: "1.50", "3e8"; never NaN or Infinity (those are NULL) */
    NTFF_STORE_NULL,   /* no value */
    NTFF_STORE_RAW     /* an array or object, as compact JSON */
};

/* -- writing: store.c ------------------------------------------------------------------------- */

struct ntff_store {
    struct ntff_builder *b;
    uint32_t file;
    struct ntff_buf msg; /* the message being made */
    uint8_t *chunk;      /* of the trace's arena; never moves */
    size_t used, size;
    uint32_t src; /* index of the source that is this chunk */
    size_t next_size;
};

void ntff_store_init(struct ntff_store *s, struct ntff_builder *b, uint32_t file);
void ntff_store_done(struct ntff_store *s);  /* what was committed stays with the trace */
void ntff_store_begin(struct ntff_store *s); /* an empty message */
void ntff_store_uint(struct ntff_store *s, uint32_t field, uint64_t v);
void ntff_store_text(struct ntff_store *s, uint32_t field, struct ntff_slice text);
void ntff_store_attr(struct ntff_store *s, struct ntff_slice key, enum ntff_store_kind kind,
                     struct ntff_slice value, bool top);
/* Keeps the message; *ref names it. False when memory or sources ran out. */
bool ntff_store_commit(struct ntff_store *s, struct ntff_ref *ref) NTFF_MUST_CHECK;

static inline uint64_t ntff_zigzag(int64_t v)
{
    return (uint64_t)v << 1 ^ (v < 0 ? UINT64_MAX : 0);
}
static inline int64_t ntff_unzigzag(uint64_t v)
{
    return (int64_t)(v >> 1 ^ (v & 1 ? UINT64_MAX : 0));
}

#endif
