/* schema - where schemas come from, and how they are asked.
 *
 * All three origins end in the same place: a list of serialized FileDescriptorProtos that
 * schema_parse.c turns into one schema. This file tells the origins apart and answers by name. */
#include "proto/schema_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/input.h"
#include "proto/wire.h"

#define MAX_EXTENTS 4096
#define MAX_UNPACKED ((size_t)1 << 30) /* of a gzip file or a pipe; plain files are mapped */

/* -- lists of descriptors --------------------------------------------------------------------- */

void ntff_schema_blobs_free(struct ntff_schema_blobs *l)
{
    for (size_t i = 0; i < l->notes.n; i++)
        free(l->notes.v[i]);
    NTFF_VEC_FREE(NULL, &l->notes);
    NTFF_VEC_FREE(NULL, &l->blobs);
}

bool ntff_schema_blobs_note(struct ntff_schema_blobs *l, const char *fmt, ...)
{
    char text[200];
    if (l->notes.n >= NTFF_SCHEMA_MAX_NOTES)
        return true;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    char *copy = strdup(text);
    char **slot = copy ? NTFF_VEC_PUSH(NULL, &l->notes) : NULL;
    if (!slot) {
        free(copy);
        return false;
    }
    *slot = copy;
    return true;
}

static enum ntff_status out_of_memory(struct ntff_error *err)
{
    return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "out of memory");
}

/* -- origins ---------------------------------------------------------------------------------- */

enum ntff_status ntff_schema_builtin(struct ntff_schema **out, struct ntff_error *err)
{
    struct ntff_buf file[2] = {{0}, {0}};
    struct ntff_schema_blobs list = {0};
    enum ntff_status status = NTFF_NOMEM;
    bool ok = ntff_builtin_encode(&file[0], &file[1]);
    for (size_t i = 0; ok && i < 2; i++) {
        struct ntff_schema_blob *b = NTFF_VEC_PUSH(NULL, &list.blobs);
        if ((ok = b != NULL))
            *b = (struct ntff_schema_blob){file[i].p, file[i].len, 0};
    }
    status = ok ? ntff_schema_build(&list, NTFF_SCHEMA_BUILTIN, "built-in", out, err)
                : out_of_memory(err);
    ntff_schema_blobs_free(&list);
    ntff_buf_free(&file[0]);
    ntff_buf_free(&file[1]);
    return status;
}

/* True if data looks like a FileDescriptorProto: 0a, length, a printable file name. */
static bool is_file_descriptor(const uint8_t *data, size_t len)
{
    struct ntff_wire w = ntff_wire_init(data, len);
    struct ntff_field f;
    if (ntff_wire_next(&w, &f) != 1 || f.number != 1 || f.type != NTFF_WT_LEN || f.value == 0)
        return false;
    for (size_t i = 0; i < f.value; i++)
        if (f.data[i] < 0x20 || f.data[i] >= 0x7f)
            return false;
    return true;
}

/* Splits a FileDescriptorSet (repeated field 1) into its files. */
static enum ntff_status split_set(const uint8_t *data, size_t len, struct ntff_schema_blobs *list,
                                  struct ntff_error *err)
{
    struct ntff_wire w = ntff_wire_init(data, len);
    struct ntff_field f;
    int r;
    while ((r = ntff_wire_next(&w, &f)) > 0) {
        if (f.number != 1 || f.type != NTFF_WT_LEN)
            continue;
        struct ntff_schema_blob *b = NTFF_VEC_PUSH(NULL, &list->blobs);
        if (!b)
            return out_of_memory(err);
        *b = (struct ntff_schema_blob){f.data, (size_t)f.value, (uint64_t)(f.data - data)};
    }
    return r == 0 ? NTFF_OK
                  : ntff_fail(err, NTFF_MALFORMED, (uint64_t)(w.p - data), "descriptor set: %s",
                              w.why);
}

static bool is_set(const uint8_t *data, size_t len)
{
    uint64_t inner;
    const uint8_t *p = len && data[0] == 0x0a ? ntff_varint(data + 1, data + len, &inner) : NULL;
    return p && is_file_descriptor(p, (size_t)(data + len - p));
}

/* Any other file: the descriptors a compiler put into it. */
static enum ntff_status search(const struct ntff_bytes *in, const char *source,
                               struct ntff_schema_blobs *list, struct ntff_error *err)
{
    enum ntff_status status = ntff_schema_find(in, list, err);
    if (status != NTFF_OK || list->blobs.n)
        return status;
    if (ntff_is_elf(in->data, in->len))
        return ntff_fail(err, NTFF_UNSUPPORTED, NTFF_NO_OFFSET,
                         "%s: an ELF file without the descriptors of ntff.proto and "
                         "neuron_trace.proto; expected a libnrt.so",
                         source);
    return ntff_fail(err, NTFF_UNSUPPORTED, NTFF_NO_OFFSET,
                     "%s: no schema: expected a libnrt.so, a FileDescriptorSet (protoc -o) or a "
                     "FileDescriptorProto",
                     source);
}

/* Puts the source, and where in it, in front of what is wrong with a descriptor. */
static void blame(struct ntff_error *err, const char *source)
{
    struct ntff_error e;
    if (!err)
        return;
    e = *err;
    if (e.offset == NTFF_NO_OFFSET)
        ntff_fail(err, e.status, e.offset, "%.100s: %s", source, e.text);
    else
        ntff_fail(err, e.status, e.offset, "%.100s: offset 0x%llx: %s", source,
                  (unsigned long long)e.offset, e.text);
}

static enum ntff_status parse_bytes(const struct ntff_bytes *in, const char *source,
                                    struct ntff_schema **out, struct ntff_error *err)
{
    struct ntff_schema_blobs list = {0};
    enum ntff_schema_origin origin = NTFF_SCHEMA_GIVEN;
    enum ntff_status status = NTFF_OK;
    if (is_set(in->data, in->len)) {
        status = split_set(in->data, in->len, &list, err);
    } else if (is_file_descriptor(in->data, in->len)) {
        struct ntff_schema_blob *b = NTFF_VEC_PUSH(NULL, &list.blobs);
        if (b)
            *b = (struct ntff_schema_blob){in->data, in->len, 0};
        else
            status = out_of_memory(err);
    } else {
        origin = NTFF_SCHEMA_RECOVERED;
        status = search(in, source, &list, err);
    }
    if (status == NTFF_OK)
        status = ntff_schema_build(&list, origin, source, out, err);
    if (status == NTFF_OK && (*out)->n_messages + (*out)->n_enums == 0) {
        ntff_schema_free(*out);
        *out = NULL;
        status = ntff_fail(err, NTFF_UNSUPPORTED, NTFF_NO_OFFSET,
                           "%s: begins like a descriptor, but defines nothing", source);
    } else if (status != NTFF_OK && status != NTFF_UNSUPPORTED) {
        blame(err, source);
    }
    ntff_schema_blobs_free(&list);
    return status;
}

enum ntff_status ntff_schema_parse(const void *data, size_t len, const char *source,
                                   struct ntff_schema **out, struct ntff_error *err)
{
    struct ntff_bytes in = {.data = data, .len = len};
    return parse_bytes(&in, source, out, err);
}

/* Notes the stored runs of a sparse file. A file in very many pieces is taken as one. */
static bool list_stored(const struct ntff_input *in, struct ntff_bytes *b)
{
    uint64_t begin, end;
    for (uint64_t pos = 0; ntff_input_stored(in, pos, &begin, &end); pos = end) {
        struct ntff_extent *e = NTFF_VEC_PUSH(NULL, &b->stored);
        if (!e)
            return false;
        if (b->stored.n > MAX_EXTENTS)
            end = in->len;
        *e = (struct ntff_extent){(size_t)begin, (size_t)end};
    }
    return true;
}

enum ntff_status ntff_schema_load(const char *path, struct ntff_schema **out,
                                  struct ntff_error *err)
{
    struct ntff_input in;
    struct ntff_budget budget = {.max_bytes = MAX_UNPACKED};
    enum ntff_status status = ntff_input_open(&in, path, &budget, err);
    if (status != NTFF_OK)
        return status;
    struct ntff_bytes bytes = {0};
    if ((status = ntff_input_map(&in, err)) == NTFF_OK) {
        bytes.data = in.data;
        bytes.len = (size_t)in.len;
        status =
            list_stored(&in, &bytes) ? parse_bytes(&bytes, path, out, err) : out_of_memory(err);
    }
    NTFF_VEC_FREE(NULL, &bytes.stored);
    ntff_input_close(&in);
    return status;
}

void ntff_schema_free(struct ntff_schema *s)
{
    if (!s)
        return;
    ntff_arena_free(&s->arena);
    free(s);
}

/* -- questions -------------------------------------------------------------------------------- */

const struct ntff_message_def *ntff_schema_message(const struct ntff_schema *s, const char *name)
{
    size_t lo = 0, hi = s->n_messages;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(s->messages_by_name[mid]->name, name);
        if (c == 0)
            return s->messages_by_name[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

const struct ntff_enum_def *ntff_schema_enum(const struct ntff_schema *s, const char *name)
{
    size_t lo = 0, hi = s->n_enums;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int c = strcmp(s->enums_by_name[mid]->name, name);
        if (c == 0)
            return s->enums_by_name[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

const struct ntff_field_def *ntff_message_field(const struct ntff_message_def *m, const char *name)
{
    for (size_t i = 0; m && i < m->n_fields; i++)
        if (strcmp(m->fields[i].name, name) == 0)
            return &m->fields[i];
    return NULL;
}

const struct ntff_field_def *ntff_message_number(const struct ntff_message_def *m, uint32_t number)
{
    size_t lo = 0, hi = m ? m->n_fields : 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        uint32_t n = m->by_number[mid]->number;
        if (n == number)
            return m->by_number[mid];
        if (n < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

uint32_t ntff_schema_number(const struct ntff_schema *s, const char *message, const char *field)
{
    const struct ntff_field_def *f = ntff_message_field(ntff_schema_message(s, message), field);
    return f ? f->number : 0;
}

const char *ntff_enum_name(const struct ntff_enum_def *e, int32_t number)
{
    for (size_t i = 0; e && i < e->n_values; i++)
        if (e->values[i].number == number)
            return e->values[i].name;
    return NULL;
}

int ntff_type_wire(int ftype)
{
    switch (ftype) {
    case NTFF_T_DOUBLE:
    case NTFF_T_FIXED64:
    case NTFF_T_SFIXED64:
        return NTFF_WT_I64;
    case NTFF_T_FLOAT:
    case NTFF_T_FIXED32:
    case NTFF_T_SFIXED32:
        return NTFF_WT_I32;
    case NTFF_T_STRING:
    case NTFF_T_BYTES:
    case NTFF_T_MESSAGE:
        return NTFF_WT_LEN;
    case NTFF_T_GROUP:
        return 3; /* refused by the cursor */
    default:
        return NTFF_WT_VARINT;
    }
}
