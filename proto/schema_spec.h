/* schema_spec - what is publicly known of the schema of runtime 2.31.24.0, as data.
 * Knows: schema.
 *
 * Three uses: the grades beside the built-in schema, the list of what it lacks, and the comparison
 * of a schema from a libnrt.so with what was stated about it. Nothing here is used to read files.
 */
#ifndef NTFF_SCHEMA_SPEC_H
#define NTFF_SCHEMA_SPEC_H

#include "proto/schema.h"

#define NTFF_SPEC_VERSION "2.31.24.0"

/* A: read from decoded descriptors or parse tables. B: read from serializer code. B_STAR: B
 * corrected by an argument. C: inferred, never built in. (proto/FORMAT.md) */
enum ntff_spec_grade { NTFF_SPEC_A, NTFF_SPEC_B, NTFF_SPEC_B_STAR, NTFF_SPEC_C };

struct ntff_spec_field {
    const char *message, *name;
    uint32_t number;   /* 0 = not public */
    const char *type;  /* as in .proto source, "map<...>" for maps; "?" in front: not sure */
    const char *label; /* "", "repeated", "optional", "oneof"; "?" in front: not sure */
    enum ntff_spec_grade grade; /* of the number; of the name when there is no number */
    const char *source;         /* "[SER]", or what is known instead of a number: "below 8" */
};

struct ntff_spec_message {
    const char *name, *file;
    int index;    /* among the top-level messages of its file; -1 = not stated */
    int n_fields; /* -1 = not stated */
};

extern const struct ntff_spec_field ntff_spec_fields[];
extern const size_t ntff_spec_n_fields;
extern const struct ntff_spec_message ntff_spec_messages[];
extern const size_t ntff_spec_n_messages;

const char *ntff_spec_grade_text(enum ntff_spec_grade g); /* "B*" */

/* The stated field of this name, NULL when there is none. */
const struct ntff_spec_field *ntff_spec_find(const char *message, const char *field);
/* Stated number of fields of a message, -1 when none is. */
int ntff_spec_message_fields(const char *message);

struct ntff_spec_result {
    size_t n_differences;     /* lines written before the last one */
    size_t n_a_changed;       /* of them: a number at grade A that is another one here */
    size_t n_graded, n_equal; /* public numbers; found as stated */
};

/* Compares counts, every public number, stated types, enum values and orders. Appends one line per
 * difference, then one line with the counts and the names of what differs. */
struct ntff_spec_result ntff_spec_compare(const struct ntff_schema *s, struct ntff_buf *out);

#endif
