/* schema - messages, fields and enums by name: what the decoder binds to.
 * Knows: base, error, mem, wire. The only module that includes generated *.pb-c.h files.
 *
 * Three origins give the same structure:
 *   built-in   the descriptors of our own proto/ntff.proto and proto/neuron_trace.proto, which hold
 *              exactly the fields graded A, B or B* (proto/FORMAT.md); the others are simply
 * absent; recovered  the serialized FileDescriptorProtos inside a libnrt.so [FMT]; given      a raw
 * FileDescriptorProto or a FileDescriptorSet file.
 *
 * Memory: a schema is one arena; every pointer in it lives until ntff_schema_free. Immutable once
 *         made, so threads may share it. Names are NUL-terminated and valid UTF-8. */
#ifndef NTFF_SCHEMA_H
#define NTFF_SCHEMA_H

#include "error.h"
#include "mem.h"

/* FieldDescriptorProto.Type [PB] */
enum ntff_ftype {
    NTFF_T_DOUBLE = 1,
    NTFF_T_FLOAT = 2,
    NTFF_T_INT64 = 3,
    NTFF_T_UINT64 = 4,
    NTFF_T_INT32 = 5,
    NTFF_T_FIXED64 = 6,
    NTFF_T_FIXED32 = 7,
    NTFF_T_BOOL = 8,
    NTFF_T_STRING = 9,
    NTFF_T_GROUP = 10,
    NTFF_T_MESSAGE = 11,
    NTFF_T_BYTES = 12,
    NTFF_T_UINT32 = 13,
    NTFF_T_ENUM = 14,
    NTFF_T_SFIXED32 = 15,
    NTFF_T_SFIXED64 = 16,
    NTFF_T_SINT32 = 17,
    NTFF_T_SINT64 = 18
};

enum ntff_label { NTFF_L_SINGULAR = 1, NTFF_L_REPEATED = 3 };

struct ntff_message_def;
struct ntff_enum_def;

struct ntff_field_def {
    const char *name;
    uint32_t number;
    uint8_t type;          /* enum ntff_ftype */
    uint8_t label;         /* enum ntff_label */
    bool packed;           /* repeated scalar: written packed */
    bool optional;         /* proto3 explicit presence */
    int32_t oneof;         /* index into message .oneofs, -1 = none; synthetic ones are not kept */
    const char *type_name; /* "ntrace_event" without package; NULL for scalars */
    const struct ntff_message_def *message;  /* type MESSAGE and known, else NULL */
    const struct ntff_enum_def *enumeration; /* type ENUM and known, else NULL */
    struct ntff_slice raw;                   /* its serialized FieldDescriptorProto */
};

struct ntff_message_def {
    const char *name; /* without package: "ntrace_event"; nested: "ntrace_event.AttributesEntry" */
    const char *file; /* "ntff.proto" */
    bool map_entry;
    const struct ntff_field_def *fields; /* declaration order */
    size_t n_fields;
    const struct ntff_field_def *const *by_number; /* the same, rising */
    const char *const *oneofs;
    size_t n_oneofs;
    /* Nested types: the n_below messages after this one in schema.messages lie inside it, at any
     * depth; its own enums are schema.enums[first_enum .. first_enum + n_enums). */
    size_t n_below, first_enum, n_enums;
    struct ntff_slice raw; /* its serialized DescriptorProto */
};

struct ntff_enum_value {
    const char *name;
    int32_t number;
};
struct ntff_enum_def {
    const char *name;
    const char *file;
    const struct ntff_enum_value *values;
    size_t n_values;
    struct ntff_slice raw; /* its serialized EnumDescriptorProto */
};

/* One .proto file of a schema. */
struct ntff_schema_file {
    const char *name;                 /* "ntff.proto" */
    const char *package;              /* "ntff"; "" = none */
    const char *syntax;               /* "proto3"; "" = not stated, which is proto2 */
    size_t first_message, n_messages; /* in schema.messages, nested ones included */
    size_t first_enum, n_enums;       /* in schema.enums, nested ones included */
    uint64_t offset;                  /* of the descriptor in the source */
    struct ntff_slice raw;            /* its serialized FileDescriptorProto */
};

enum ntff_schema_origin { NTFF_SCHEMA_BUILTIN, NTFF_SCHEMA_RECOVERED, NTFF_SCHEMA_GIVEN };

struct ntff_schema {
    enum ntff_schema_origin origin;
    const char *source; /* "built-in", or the path it came from */
    const struct ntff_message_def *messages;
    size_t n_messages;
    const struct ntff_enum_def *enums;
    size_t n_enums;
    const struct ntff_schema_file *files;
    size_t n_files;
    const char *const *notes; /* oddities found on the way, one line each */
    size_t n_notes;
    const struct ntff_message_def *const *messages_by_name;
    const struct ntff_enum_def *const *enums_by_name;
    struct ntff_budget budget;
    struct ntff_arena arena;
};

/* The built-in schema. *out must be freed. Errors: NOMEM. */
enum ntff_status ntff_schema_builtin(struct ntff_schema **out,
                                     struct ntff_error *err) NTFF_MUST_CHECK;

/* A schema from bytes: ELF with embedded descriptors, FileDescriptorSet or FileDescriptorProto,
 * told apart by content. data is only read during the call; source is copied.
 * Errors: UNSUPPORTED (none of the three, or an ELF without descriptors; err says which),
 * MALFORMED (offset in data), LIMIT, NOMEM. */
enum ntff_status ntff_schema_parse(const void *data, size_t len, const char *source,
                                   struct ntff_schema **out,
                                   struct ntff_error *err) NTFF_MUST_CHECK;

/* ntff_schema_parse on a file of any size (mapped). Errors also: IO. */
enum ntff_status ntff_schema_load(const char *path, struct ntff_schema **out,
                                  struct ntff_error *err) NTFF_MUST_CHECK;

/* The first libnrt.so with a schema in library_path (directories with ':' between, may be NULL),
 * then in the usual places. Errors: IO when there is none, else those of the last one tried. */
enum ntff_status ntff_schema_auto(const char *library_path, struct ntff_schema **out,
                                  struct ntff_error *err) NTFF_MUST_CHECK;

/* What --schema and NTFF_SCHEMA name: NULL or "" = built-in, "auto" = ntff_schema_auto, else a
 * file. */
enum ntff_status ntff_schema_open(const char *from, const char *library_path,
                                  struct ntff_schema **out, struct ntff_error *err) NTFF_MUST_CHECK;

void ntff_schema_free(struct ntff_schema *s); /* NULL allowed */

/* By name; NULL when the schema lacks it. */
const struct ntff_message_def *ntff_schema_message(const struct ntff_schema *s, const char *name);
const struct ntff_enum_def *ntff_schema_enum(const struct ntff_schema *s, const char *name);
const struct ntff_field_def *ntff_message_field(const struct ntff_message_def *m, const char *name);
const struct ntff_field_def *ntff_message_number(const struct ntff_message_def *m, uint32_t number);
/* Number of a field by message and field name, 0 when unknown. */
uint32_t ntff_schema_number(const struct ntff_schema *s, const char *message, const char *field);
/* Name of an enum value, NULL when unknown. */
const char *ntff_enum_name(const struct ntff_enum_def *e, int32_t number);

/* Wire type a singular field of this type has (enum ntff_wire_type). */
int ntff_type_wire(int ftype);

#endif
