/* diag - counted findings about an input: one line per kind, whatever the number.
 * Knows: base.
 * Grades: NOTE   something worth knowing, nothing is missing;
 *         REPAIR something was completed or replaced and is flagged in the output;
 *         LOSS   data that was in the file is not in the output (exit code 3).
 * Memory: a struct ntff_diag owns nothing; file names are borrowed and must outlive it
 *         (the trace keeps them). One diag per thread. */
#ifndef NTFF_DIAG_H
#define NTFF_DIAG_H

#include "base.h"

enum ntff_grade { NTFF_NOTE, NTFF_REPAIR, NTFF_LOSS };

/* kind, grade, what is counted (plural; completes "N ...") */
#define NTFF_DIAG_TABLE(X)                                                                         \
    X(TRUNCATED_FILE, LOSS, "files end in the middle of a record")                                 \
    X(BAD_RECORD, LOSS, "records could not be decoded and were dropped")                           \
    X(SKIPPED_BYTES, LOSS, "bytes were skipped")                                                   \
    X(UNREADABLE_FILE, LOSS, "files could not be read")                                            \
    X(BAD_FRAMING, LOSS, "files have no framing that fits; left out")                              \
    X(BAD_TIME, LOSS, "events have an impossible time and were dropped")                           \
    X(LANE_OVERFLOW, LOSS, "spans found no free lane and are shown as instants")                   \
    X(CAPTURE_DROPPED, LOSS, "events were dropped by the runtime while capturing")                 \
    X(QUEUE_OVERFLOW, LOSS, "device queue overflow marks: records were lost in the device")        \
    X(UNDECIDED, LOSS, "parts were left out because their field numbers are unknown")              \
    X(UNDECODED_BLOB, LOSS, "device trace blobs could not be decoded")                             \
    X(RESERVED_RECORD, LOSS, "device records of a reserved type were skipped")                     \
    X(UNMATCHED_START, REPAIR, "starts without a stop (closed at the end, marked unfinished)")     \
    X(UNMATCHED_STOP, REPAIR, "stops without a start (drawn from the begin, marked start_lost)")   \
    X(NEGATIVE_DURATION, REPAIR, "spans stop before they start (drawn with length 0, marked)")     \
    X(REPEATED_START, REPAIR, "starts repeat an id that was still open")                           \
    X(BAD_TEXT, REPAIR, "texts are not valid UTF-8 (made visible)")                                \
    X(BAD_ATTRIBUTE, REPAIR, "attributes are malformed (kept as text)")                            \
    X(CLOCK_ESTIMATED, REPAIR, "device events were placed with an estimated clock")                \
    X(CLOCK_UNALIGNED, REPAIR, "device events have no clock pair and are shown in device time")    \
    X(CLOCK_RESET, REPAIR, "device clock resets")                                                  \
    X(CORE_ESTIMATED, REPAIR, "device events were given to a physical core by their time")         \
    X(ORDER_VIOLATION, NOTE, "device spans begin before their submit or end after their wait")     \
    X(UNKNOWN_TYPE, NOTE, "events have a type outside the known table (kept by number)")           \
    X(UNKNOWN_FIELD, NOTE, "unknown fields were kept by number")                                   \
    X(EMPTY_FILE, NOTE, "files are empty")                                                         \
    X(OTHER_FILE, NOTE, "files are of another kind and were not read")                             \
    X(NO_METADATA, NOTE, "capture directories have no trace_info.pb")                              \
    X(SCHEMA_MISFIT, NOTE, "files do not fit the schema given")                                    \
    X(VERSION, NOTE, "files have a version outside the supported range")                           \
    X(FILTERED_ALL, NOTE, "sets of filters let no record through")                                 \
    X(UNSYNCED, NOTE, "instances keep their own host clock, not synchronised with the others")     \
    X(FLOW_REVERSED, NOTE, "flows point back in time (device before its host call)")               \
    X(CLOCK_FAR, NOTE, "inputs lie more than an hour apart in time")                               \
    X(FILE_CHANGED, LOSS, "files changed while they were read")

enum ntff_diag_kind {
#define X(name, grade, text) NTFF_DIAG_##name,
    NTFF_DIAG_TABLE(X)
#undef X
        NTFF_DIAG_COUNT
};

struct ntff_finding {
    uint64_t count;
    const char *file; /* of the first one; NULL = none in particular */
    uint64_t offset;  /* of the first one; UINT64_MAX = none */
    char detail[160]; /* of the first one: what was there, what was expected */
};

struct ntff_diag {
    struct ntff_finding of[NTFF_DIAG_COUNT];
};

/* Counts n findings; keeps file, offset and text of the first. fmt may be NULL. */
void ntff_diag_add(struct ntff_diag *d, enum ntff_diag_kind kind, uint64_t n, const char *file,
                   uint64_t offset, const char *fmt, ...) NTFF_PRINTF(6, 7);

enum ntff_grade ntff_diag_grade(enum ntff_diag_kind kind);
const char *ntff_diag_name(enum ntff_diag_kind kind); /* "UNMATCHED_START" */
const char *ntff_diag_text(enum ntff_diag_kind kind);

/* True if anything of grade LOSS was counted. */
bool ntff_diag_lossy(const struct ntff_diag *d);

/* One line for a finding, as the programs print it, without newline:
 * "12 starts without a stop ...; first: FILE offset 0x12 (DETAIL)". Returns its length, cut to cap.
 */
size_t ntff_diag_line(const struct ntff_diag *d, enum ntff_diag_kind kind, char *out, size_t cap);

#endif
