/* schema_priv - what the schema*.c files share.
 * Knows: schema. Private to proto/. */
#ifndef NTFF_SCHEMA_PRIV_H
#define NTFF_SCHEMA_PRIV_H

#include "proto/schema.h"

/* Limits on descriptors, which come from files of unknown origin. The real ones are 7 KB and 2.6 KB
 * with 40 messages in all. */
#define NTFF_SCHEMA_MAX_DEPTH 32               /* of nested types */
#define NTFF_SCHEMA_MAX_BLOB ((size_t)8 << 20) /* bytes of one file descriptor */
#define NTFF_SCHEMA_MAX_FILES 1024
#define NTFF_SCHEMA_MAX_MEMORY ((size_t)256 << 20) /* bytes of one schema */
#define NTFF_SCHEMA_MAX_NAME 255                   /* bytes of an identifier */
#define NTFF_SCHEMA_MAX_NOTES 32

/* A serialized FileDescriptorProto somewhere in a larger file. */
struct ntff_schema_blob {
    const uint8_t *p;
    size_t len;
    uint64_t offset; /* in that file */
};

struct ntff_schema_blobs {
    NTFF_VEC(struct ntff_schema_blob) blobs;
    NTFF_VEC(char *) notes; /* malloc'd */
};

void ntff_schema_blobs_free(struct ntff_schema_blobs *l);

/* Adds a line to the list's notes; silently none above NTFF_SCHEMA_MAX_NOTES. */
bool ntff_schema_blobs_note(struct ntff_schema_blobs *l, const char *fmt, ...)
    NTFF_PRINTF(2, 3) NTFF_MUST_CHECK;

/* Makes a schema of descriptors. Errors: MALFORMED (offset of the blob + position), LIMIT, NOMEM.
 */
enum ntff_status ntff_schema_build(const struct ntff_schema_blobs *list,
                                   enum ntff_schema_origin origin, const char *source,
                                   struct ntff_schema **out,
                                   struct ntff_error *err) NTFF_MUST_CHECK;

/* A file's bytes and the runs of it that may hold something: all else is zeros. No runs = all. */
struct ntff_extent {
    size_t begin, end;
};
struct ntff_bytes {
    const uint8_t *data;
    size_t len;
    NTFF_VEC(struct ntff_extent) stored; /* rising */
};

/* Finds the descriptors of package ntff inside any file, ELF or not (schema_elf.c). An empty list
 * with OK = none there. */
enum ntff_status ntff_schema_find(const struct ntff_bytes *in, struct ntff_schema_blobs *out,
                                  struct ntff_error *err) NTFF_MUST_CHECK;
bool ntff_is_elf(const uint8_t *data, size_t len);

/* Appends the built-in schema's file descriptors (schema_builtin.c); false when memory ran out. */
bool ntff_builtin_encode(struct ntff_buf *ntff, struct ntff_buf *neuron_trace) NTFF_MUST_CHECK;

#endif
