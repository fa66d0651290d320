/* dump_record - raw nrt_sys_trace_event records, 112 bytes each [TAX], as text.
 *
 * They are C structs, not protobuf: the layout of the head is fixed, the payload is a union whose
 * member follows from type and phase (event_types.c). Shown in the text format all the same, so
 * that one reader serves for both. */
#include "proto/dump_file.h"

#include <inttypes.h>

#include "proto/event_types.h"

enum { RECORD_BYTES = 112, PAYLOAD_AT = 48, PAYLOAD_BYTES = 40 };

static uint64_t payload_uint(const uint8_t *p, int kind)
{
    switch (kind) {
    case NTFF_P_U64:
        return ntff_le64(p);
    case NTFF_P_U32:
        return ntff_le32(p);
    case NTFF_P_U16:
        return (uint64_t)p[0] | (uint64_t)p[1] << 8;
    default:
        return p[0];
    }
}

static void dump_payload(struct ntff_dump *d, const uint8_t *p, uint32_t type, uint32_t phase)
{
    size_t n;
    const struct ntff_payload_field *f = ntff_event_payload(type, phase + 1, &n);
    ntff_dump_line(d, 1, "payload {");
    for (size_t i = 0; i < n; i++) {
        const uint8_t *v = p + f[i].offset;
        if (f[i].kind == NTFF_P_BOOL)
            ntff_dump_line(d, 2, "%s: %s", f[i].name, *v ? "true" : "false");
        else if (f[i].kind == NTFF_P_I32)
            ntff_dump_line(d, 2, "%s: %" PRId32, f[i].name, (int32_t)ntff_le32(v));
        else
            ntff_dump_line(d, 2, "%s: %" PRIu64, f[i].name, payload_uint(v, f[i].kind));
    }
    for (unsigned k = 0; n == 0 && k < PAYLOAD_BYTES; k += 8)
        if (ntff_le64(p + k))
            ntff_dump_line(d, 2, "# bytes %u to %u: 0x%016" PRIx64, k, k + 7, ntff_le64(p + k));
    ntff_dump_line(d, 1, "}");
}

static void dump_record(struct ntff_dump *d, const uint8_t *r)
{
    static const char *const phases[] = {"START", "STOP", "INSTANT"};
    uint32_t type = ntff_le32(r), phase = ntff_le32(r + 88);
    const struct ntff_event_type *known = ntff_event_type(type);
    ntff_dump_line(d, 0, "nrt_sys_trace_event {");
    ntff_dump_line(d, 1, "trace_type: %" PRIu32 "%s%s", type, known ? "  # " : "",
                   known ? known->name : "");
    ntff_dump_line(d, 1, "thread_id: %" PRIu64, ntff_le64(r + 8));
    ntff_dump_line(d, 1, "id: %" PRIu64, ntff_le64(r + 16));
    ntff_dump_line(d, 1, "nc_local_id: %" PRIu64, ntff_le64(r + 24));
    ntff_dump_line(d, 1, "tracking_id: %" PRIu64, ntff_le64(r + 32));
    ntff_dump_line(d, 1, "timestamp_ns: %" PRIu64, ntff_le64(r + 40));
    dump_payload(d, r + PAYLOAD_AT, type, phase);
    if (phase < NTFF_ARRAY_LEN(phases))
        ntff_dump_line(d, 1, "phase: %s", phases[phase]);
    else
        ntff_dump_line(d, 1, "phase: %" PRIu32, phase);
    ntff_dump_line(d, 1, "nc_idx: %" PRIu32, ntff_le32(r + 92));
    if (r[104])
        ntff_dump_line(d, 1, "nrta_seq_id: %" PRIu64, ntff_le64(r + 96));
    ntff_dump_line(d, 1, "has_nrta_seq_id: %s", r[104] ? "true" : "false");
    ntff_dump_line(d, 0, "}");
    d->n_messages++;
}

void ntff_dump_records(struct ntff_dump *d, const struct ntff_input *in, bool offsets)
{
    uint64_t off = 0;
    for (; in->len - off >= RECORD_BYTES && !d->stopped; off += RECORD_BYTES) {
        if (offsets)
            ntff_dump_comment(d, "offset 0x%" PRIx64, off);
        dump_record(d, in->data + off);
    }
    if (off < in->len && !d->stopped) {
        ntff_dump_comment(d, "cut at offset 0x%" PRIx64 ": %" PRIu64 " bytes, a record has %d", off,
                          in->len - off, RECORD_BYTES);
        d->n_damaged++;
    }
}
