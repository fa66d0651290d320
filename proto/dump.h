/* dump - any protobuf message as text, the way protoc --decode writes it.
 * Source: text format of protobuf [PB].   Knows: schema, wire, textfmt.
 *
 * Fields the schema knows come first, by number, under their names; those it does not know after
 * them, by number, like --decode_raw. Unlike protoc nothing is merged or dropped: a repeated
 * singular field is shown as often as it is there, and damaged bytes become a comment with their
 * offset. Comments begin with '#', as the text format has them. Output is printable ASCII whatever
 * the input.
 *
 * Memory: constant but for messages whose fields are not in order (48 bytes a field, budgeted). */
#ifndef NTFF_DUMP_H
#define NTFF_DUMP_H

#include "proto/error.h"
#include "proto/schema.h"

#define NTFF_DUMP_MAX_DEPTH 100 /* of messages in messages, as in protobuf */

/* Says that a message is to be read with another definition: numbers that were found in the data.
 */
struct ntff_dump_overlay {
    const struct ntff_message_def *schema_def, *use;
};

struct ntff_dump {
    /* Takes text; false = stop. */
    bool (*write)(void *user, const char *text, size_t len);
    void *user;
    const struct ntff_dump_overlay *overlays;
    size_t n_overlays;
    bool type_names;  /* the name of an event type as a comment behind its number */
    size_t max_bytes; /* of one bytes or string value; more is cut, with a comment; 0 = no limit */
    struct ntff_budget *budget;
    /* where the bytes given lie: offsets in comments are (p - base) + base_off */
    const uint8_t *base;
    uint64_t base_off;
    /* results, counted up */
    uint64_t n_messages, n_fields, n_unknown, n_damaged, n_cut;
    /* private; zero to begin with */
    struct ntff_buf buf, order;
    bool stopped;
};

/* Writes "name {", the fields of msg[0..len) and "}". def NULL = every field by number.
 * Errors: NOMEM, CANCELLED (write said so). Damage is no error: see .n_damaged. */
enum ntff_status ntff_dump_message(struct ntff_dump *d, const char *name,
                                   const struct ntff_message_def *def, const uint8_t *msg,
                                   size_t len) NTFF_MUST_CHECK;

/* Writes a line "# ..." */
void ntff_dump_comment(struct ntff_dump *d, const char *fmt, ...) NTFF_PRINTF(2, 3);

/* Writes a line of the text format, 2 * depth blanks before it. The caller keeps it printable. */
void ntff_dump_line(struct ntff_dump *d, unsigned depth, const char *fmt, ...) NTFF_PRINTF(3, 4);

/* Hands over what is still buffered. */
enum ntff_status ntff_dump_flush(struct ntff_dump *d) NTFF_MUST_CHECK;
void ntff_dump_done(struct ntff_dump *d);

#endif
