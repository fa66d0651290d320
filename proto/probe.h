/* probe - what a file is and how its records are framed, by its content alone.
 * Knows: build (kinds), plan, wire.
 *
 * The rule of the spec (FORMAT.md, "Framing"): try the bare message, then each stream form, each
 * over the whole file; accept the form that ends exactly at the end and whose records all pass. If
 * none does (a torn file), the form that gets furthest. Only the first PROBE_RECORDS are looked
 * into; the chain of lengths is followed to the end of the file, unless all forms but one have
 * ended within them. */
#ifndef NTFF_PROBE_H
#define NTFF_PROBE_H

#include "model.h"
#include "plan.h"

struct ntff_probe {
    enum ntff_file_kind kind;
    enum ntff_framing framing;
    bool exact;                  /* the form ends exactly at the end of the file */
    bool open;                   /* the only form left, not followed to its end yet */
    uint64_t good_bytes;         /* how far the form holds, or was followed */
    uint64_t n_records;          /* records of the form up to there */
    struct ntff_event_plan plan; /* NTRACE: numbering of its events */
    /* numbers of ntrace_info found in the data or taken from the schema; 0 = not there */
    uint32_t n_events, n_interned, n_profiles;
    uint32_t n_id_map; /* of interned_data_db */
    /* numbers of cpu_util / host_mem_usage; 0 = not decided */
    uint32_t n_index, n_value, n_time;
    bool from_schema; /* numbers come from the schema */
    bool misfit;      /* a schema was given but its numbers do not fit: found by test instead */
};

/* Recognises a protobuf file of the host side. schema NULL or built-in: by test alone. False if it
 * is none of them. data[0..len) is the whole file. */
bool ntff_probe_pb(const uint8_t *data, uint64_t len, const struct ntff_schema *schema,
                   struct ntff_probe *out);

/* Follows an open form to its end: sets exact, good_bytes and n_records. */
void ntff_probe_follow(struct ntff_probe *p, const uint8_t *data, uint64_t len);

/* True if data is a plain array of 112-byte nrt_sys_trace_event records [TAX]. */
bool ntff_probe_raw112(const uint8_t *data, uint64_t len);

/* Next record of a stream at off < len: *msg, *msg_len; returns the offset after it, or 0 if the
 * rest is no record. */
uint64_t ntff_frame_any(const uint8_t *data, uint64_t len, uint64_t off, enum ntff_framing framing,
                        const uint8_t **msg, size_t *msg_len);

/* A chain of records is a walk through memory: asked for well ahead, it takes half the time. (An
 * address behind the end does nothing.) */
#define NTFF_FRAMES_AHEAD 1024

/* The same, faster for records below 16 KiB behind a varint. */
static inline uint64_t ntff_frame_next(const uint8_t *data, uint64_t len, uint64_t off,
                                       enum ntff_framing framing, const uint8_t **msg,
                                       size_t *msg_len)
{
    const uint8_t *p = data + off;
    if (NTFF_LIKELY(framing == NTFF_FRAME_VARINT && len - off >= 2)) {
        size_t n = p[0], head = 1;
        if (n >= 0x80 && p[1] < 0x80) {
            n = (n & 0x7f) | (size_t)p[1] << 7;
            head = 2;
        }
        if (NTFF_LIKELY((head == 2 || n < 0x80) && n <= len - off - head)) {
            *msg = p + head;
            *msg_len = n;
            __builtin_prefetch(p + n + NTFF_FRAMES_AHEAD);
            return off + head + n;
        }
    }
    return ntff_frame_any(data, len, off, framing, msg, msg_len);
}

const char *ntff_framing_name(int framing);

#endif
