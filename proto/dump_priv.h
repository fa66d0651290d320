/* dump_priv - what the dump_*.c files share while one file is dumped.
 * Knows: dump_file, plan. Private to proto/. */
#ifndef NTFF_DUMP_PRIV_H
#define NTFF_DUMP_PRIV_H

#include "proto/dump_file.h"
#include "proto/plan.h"

#define NTFF_DUMP_MAX_OVERLAYS 16

struct ntff_dump_job {
    struct ntff_dump *d;
    const struct ntff_input *in;
    struct ntff_dump_options opt; /* .schema is the built-in one when the given one does not fit */
    struct ntff_error *err;
    struct ntff_schema *builtin; /* loaded when a given schema does not fit */
    struct ntff_arena arena;
    struct ntff_dump_overlay overlays[NTFF_DUMP_MAX_OVERLAYS];
    size_t n_overlays;
};

/* Comments on the file as a whole: name, kind, size, schema. */
void ntff_dump_about(struct ntff_dump_job *j, const char *what);

/* One message, with its offset before it if asked for; by number if asked for. */
enum ntff_status ntff_dump_one(struct ntff_dump_job *j, const char *name,
                               const struct ntff_message_def *def, const uint8_t *msg,
                               size_t len) NTFF_MUST_CHECK;

/* -- dump_names.c: both return false when memory ran out -----------------------------------------
 */

/* A field found by test. */
struct ntff_found_field {
    const char *name;
    uint32_t number;       /* 0 = not found after all */
    int type;              /* enum ntff_ftype */
    const char *type_name; /* for MESSAGE and ENUM */
};

/* Adds found fields to message `name` where the schema has neither name nor number, with a comment
 * for each. */
bool ntff_dump_found(struct ntff_dump_job *j, const char *name,
                     const struct ntff_found_field *found, size_t n) NTFF_MUST_CHECK;

/* ntrace_event as plan numbers it, with the field types of the built-in schema. */
bool ntff_dump_renumber(struct ntff_dump_job *j,
                        const struct ntff_event_plan *plan) NTFF_MUST_CHECK;

/* -- dump_container.c -----------------------------------------------------------------------------
 */

/* A whole .ntff: message, then its sections as comments. */
enum ntff_status ntff_dump_container(struct ntff_dump_job *j) NTFF_MUST_CHECK;

#endif
