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

#include <stdarg.h>

enum ntff_grade { NTFF_NOTE, NTFF_REPAIR, NTFF_LOSS };

/* kind, grade, what is counted: completes "1 ..." and "N ..." */
#define NTFF_DIAG_TABLE(X)                                                                         \
    X(TRUNCATED_FILE, LOSS, "file ends in the middle of a record",                                 \
      "files end in the middle of a record")                                                       \
    X(BAD_RECORD, LOSS, "record could not be decoded and was dropped",                             \
      "records could not be decoded and were dropped")                                             \
    X(SKIPPED_BYTES, LOSS, "byte was skipped", "bytes were skipped")                               \
    X(UNREADABLE_FILE, LOSS, "file could not be read", "files could not be read")                  \
    X(BAD_FRAMING, LOSS, "file has no framing that fits; left out",                                \
      "files have no framing that fits; left out")                                                 \
    X(BAD_TIME, LOSS, "event has an impossible time and was dropped",                              \
      "events have an impossible time and were dropped")                                           \
    X(LANE_OVERFLOW, LOSS, "span found no free lane and is shown as an instant",                   \
      "spans found no free lane and are shown as instants")                                        \
    X(POINT_OVERFLOW, LOSS, "event is one of too many at one time on a row; viewers drop it",      \
      "events are of too many at one time on a row; viewers drop them")                            \
    X(CAPTURE_DROPPED, LOSS, "event was dropped by the runtime while capturing",                   \
      "events were dropped by the runtime while capturing")                                        \
    X(QUEUE_OVERFLOW, LOSS, "device queue overflow mark: records were lost in the device",         \
      "device queue overflow marks: records were lost in the device")                              \
    X(UNDECIDED, LOSS, "part was left out because its field numbers are unknown",                  \
      "parts were left out because their field numbers are unknown")                               \
    X(UNDECODED_BLOB, LOSS, "device trace blob could not be decoded",                              \
      "device trace blobs could not be decoded")                                                   \
    X(RESERVED_RECORD, LOSS, "device record of a reserved type was skipped",                       \
      "device records of a reserved type were skipped")                                            \
    X(UNMATCHED_START, REPAIR, "start without a stop (closed at the end, marked unfinished)",      \
      "starts without a stop (closed at the end, marked unfinished)")                              \
    X(UNMATCHED_STOP, REPAIR, "stop without a start (drawn from the begin, marked start_lost)",    \
      "stops without a start (drawn from the begin, marked start_lost)")                           \
    X(NEGATIVE_DURATION, REPAIR, "span stops before it starts (drawn with length 0, marked)",      \
      "spans stop before they start (drawn with length 0, marked)")                                \
    X(REPEATED_START, REPAIR, "start repeats an id that was still open",                           \
      "starts repeat an id that was still open")                                                   \
    X(BAD_TEXT, REPAIR, "text is not valid UTF-8 (made visible)",                                  \
      "texts are not valid UTF-8 (made visible)")                                                  \
    X(BAD_ATTRIBUTE, REPAIR, "attribute is malformed (kept as text)",                              \
      "attributes are malformed (kept as text)")                                                   \
    X(CLOCK_ESTIMATED, REPAIR, "device event was placed with an estimated clock",                  \
      "device events were placed with an estimated clock")                                         \
    X(CLOCK_UNALIGNED, REPAIR, "device event has no clock pair and is shown in device time",       \
      "device events have no clock pair and are shown in device time")                             \
    X(CLOCK_RESET, REPAIR, "device clock reset", "device clock resets")                            \
    X(CORE_ESTIMATED, REPAIR, "device event was given to a physical core by its time",             \
      "device events were given to a physical core by their time")                                 \
    X(ORDER_VIOLATION, NOTE, "device span begins before its submit or ends after its wait",        \
      "device spans begin before their submit or end after their wait")                            \
    X(UNKNOWN_TYPE, NOTE, "event has a type outside the known table (kept by number)",             \
      "events have a type outside the known table (kept by number)")                               \
    X(UNKNOWN_FIELD, NOTE, "field has a number that is not known",                                 \
      "fields have numbers that are not known")                                                    \
    X(EMPTY_FILE, NOTE, "file is empty", "files are empty")                                        \
    X(OTHER_FILE, NOTE, "file is of another kind and was not read",                                \
      "files are of another kind and were not read")                                               \
    X(REPEATED_FILE, NOTE, "file was named more than once and read once",                          \
      "files were named more than once and read once")                                             \
    X(SAME_BYTES, NOTE, "file holds the same bytes as another; both were read",                    \
      "files hold the same bytes as others; all were read")                                        \
    X(NO_METADATA, NOTE, "capture directory has no trace_info.pb",                                 \
      "capture directories have no trace_info.pb")                                                 \
    X(SCHEMA_MISFIT, NOTE, "file does not fit the schema given",                                   \
      "files do not fit the schema given")                                                         \
    X(VERSION, NOTE, "file has a version outside the supported range",                             \
      "files have a version outside the supported range")                                          \
    X(FILTERED_ALL, NOTE, "filter matches nothing", "filters match nothing")                       \
    X(UNSYNCED, NOTE, "instance keeps its own host clock, not synchronised with the others",       \
      "instances keep their own host clock, not synchronised with the others")                     \
    X(FLOW_REVERSED, NOTE, "flow points back in time (device before its host call)",               \
      "flows point back in time (device before its host call)")                                    \
    X(FILE_CHANGED, LOSS, "file changed while it was read", "files changed while they were read")

enum ntff_diag_kind {
#define X(name, grade, one, many) NTFF_DIAG_##name,
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
void ntff_diag_addv(struct ntff_diag *d, enum ntff_diag_kind kind, uint64_t n, const char *file,
                    uint64_t offset, const char *fmt, va_list ap) NTFF_PRINTF(6, 0);

enum ntff_grade ntff_diag_grade(enum ntff_diag_kind kind);
const char *ntff_diag_name(enum ntff_diag_kind kind); /* "UNMATCHED_START" */
const char *ntff_diag_text(enum ntff_diag_kind kind); /* of many */

/* True if anything of grade LOSS was counted. */
bool ntff_diag_lossy(const struct ntff_diag *d);

/* One line for a finding, as the programs print it, without newline:
 * "12 starts without a stop ...; first: FILE offset 0x12 (DETAIL)". Returns its length, cut to cap.
 */
size_t ntff_diag_line(const struct ntff_diag *d, enum ntff_diag_kind kind, char *out, size_t cap);

#endif
