/* schema_print - a schema as text or bytes: .proto source, descriptor set, table.
 * Knows: schema.
 * All appended to a ntff_buf; .failed of it tells when memory ran out. Output is plain ASCII: names
 * are identifiers, everything else is escaped. */
#ifndef NTFF_SCHEMA_PRINT_H
#define NTFF_SCHEMA_PRINT_H

#include "proto/schema.h"

/* One file of the schema as .proto source. protoc compiles it back to the same descriptor
 * (json_name, which protoc adds by itself, aside). */
void ntff_schema_print_file(const struct ntff_schema *s, const struct ntff_schema_file *f,
                            struct ntff_buf *out);

/* All files as one .proto source, if they share package and syntax; false (and nothing appended) if
 * not. The messages and enums compile back to the same descriptors. */
bool ntff_schema_print_merged(const struct ntff_schema *s, struct ntff_buf *out);

/* A FileDescriptorSet of the descriptors as they were found. */
void ntff_schema_print_set(const struct ntff_schema *s, struct ntff_buf *out);

/* A header line, then one line per field: message, number, name, type, label; then one per enum
 * value. Columns are separated by blanks and hold none. The built-in schema also lists what is
 * known to exist without a public number ("?"), and grades. */
void ntff_schema_print_table(const struct ntff_schema *s, struct ntff_buf *out);

/* True for map<...>: a repeated message with the entry type protoc makes of a map. */
bool ntff_field_is_map(const struct ntff_field_def *f);
/* Type as in .proto source without blanks: "uint64", "block_type", "map<string,string>". Returns
 * out. */
const char *ntff_field_type_text(const struct ntff_field_def *f, char *out, size_t cap);
/* "", "repeated", "optional", "oneof"; a map is "". */
const char *ntff_field_label_text(const struct ntff_field_def *f);
/* "uint64"; "message", "enum" for those. Never NULL. */
const char *ntff_type_name(int ftype);

#endif
