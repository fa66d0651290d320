/* dump_file - a whole capture file as text: finds out what it is, then dumps message by message.
 * Knows: dump, input, probe, schema.
 *
 * Reads .ntff containers, ntrace.pb, trace_info.pb, cpu_util.pb and host_mem.pb in every framing,
 * raw 112-byte records, and any other protobuf by number. What the file is, its framing and where
 * the numbers come from is written first, as comments. */
#ifndef NTFF_DUMP_FILE_H
#define NTFF_DUMP_FILE_H

#include "proto/dump.h"
#include "proto/input.h"

struct ntff_dump_options {
    const struct ntff_schema *schema; /* never NULL */
    const char *type;                 /* read as this message; NULL = find out */
    bool raw;                         /* by number, in file order, whatever the schema says */
    bool records;                     /* .ntff: a comment for each notification record */
    bool offsets;                     /* a comment with the offset before each message */
};

/* in is mapped. Errors: NOTHING (not protobuf at all; err says what it seems to be), INVALID (type
 * is not in the schema), NOMEM, CANCELLED. Damage is counted in d. */
enum ntff_status ntff_dump_file(struct ntff_dump *d, const struct ntff_input *in,
                                const struct ntff_dump_options *opt,
                                struct ntff_error *err) NTFF_MUST_CHECK;

/* The records of a run of device notifications, a comment each (dump_notif.c); off is the place of
 * the first in the file. */
void ntff_dump_notifs(struct ntff_dump *d, const uint8_t *data, uint64_t len, uint64_t off);

/* The same for an array of raw 112-byte records (dump_record.c). */
void ntff_dump_records(struct ntff_dump *d, const struct ntff_input *in, bool offsets);

#endif
