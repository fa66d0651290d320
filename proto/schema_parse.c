/* schema_parse - serialized FileDescriptorProtos into a schema.
 *
 * Descriptors come out of files of unknown origin, so nothing is believed: every name must be an
 * identifier, every number in range and unique in its message, nesting at most
 * NTFF_SCHEMA_MAX_DEPTH deep, and all memory comes from one budgeted arena. Our own wire cursor is
 * used because protobuf-c's unpack recurses without a limit on nested_type.
 *
 * Three steps: copy each blob into the arena (the schema keeps it for printing), walk it into flat
 * lists of messages and enums, then link type names once all files are known. A type that no file
 * defines is no error: the field keeps its number and is read as raw bytes; a note says so.
 *
 * Numbers of descriptor.proto [PB]: FileDescriptorProto name 1, package 2, message_type 4,
 * enum_type 5, syntax 12, edition 14. DescriptorProto name 1, field 2, nested_type 3, enum_type 4,
 * options 7 (map_entry 7), oneof_decl 8. FieldDescriptorProto name 1, number 3, label 4, type 5,
 * type_name 6, options 8 (packed 2), oneof_index 9, proto3_optional 17. EnumDescriptorProto name 1,
 * value 2; its values name 1, number 2. */
#include "proto/schema_priv.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire.h"

struct parse {
    struct ntff_schema *s;
    struct ntff_budget *budget; /* of the schema; scratch counts too */
    struct ntff_error *err;
    enum ntff_status status;
    const char *main_package;
    NTFF_VEC(struct ntff_message_def) messages;
    NTFF_VEC(struct ntff_enum_def) enums;
    NTFF_VEC(const char *) notes;
    /* the file being read */
    const uint8_t *base;
    uint64_t base_offset;
    const uint8_t *at;  /* start of the last field next() gave */
    const char *prefix; /* "" or "package." */
    const char *file;
    bool proto3;
};

/* -- failures --------------------------------------------------------------------------------- */

static bool fail(struct parse *p, enum ntff_status status, const void *at, const char *fmt, ...)
    NTFF_PRINTF(4, 5);
static bool fail(struct parse *p, enum ntff_status status, const void *at, const char *fmt, ...)
{
    char text[200];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    uint64_t offset =
        at ? p->base_offset + (uint64_t)((const uint8_t *)at - p->base) : NTFF_NO_OFFSET;
    p->status = ntff_fail(p->err, status, offset, "%s%s%s", p->file ? p->file : "",
                          p->file ? ": " : "", text);
    return false;
}

static bool nomem(struct parse *p)
{
    return fail(p, NTFF_NOMEM, NULL, "out of memory, or the schema needs more than %zu MiB",
                NTFF_SCHEMA_MAX_MEMORY >> 20);
}

static void *alloc(struct parse *p, size_t n, size_t size)
{
    size_t bytes;
    void *out = ntff_mul_ok(n, size, &bytes) ? ntff_arena_alloc(&p->s->arena, bytes) : NULL;
    if (!out)
        nomem(p);
    return out;
}

static bool note(struct parse *p, const char *text)
{
    if (p->notes.n >= NTFF_SCHEMA_MAX_NOTES)
        return true;
    char *copy = ntff_arena_text(&p->s->arena, text, strlen(text));
    const char **slot = copy ? NTFF_VEC_PUSH(p->budget, &p->notes) : NULL;
    if (!slot)
        return nomem(p);
    *slot = copy;
    return true;
}

/* -- walking ---------------------------------------------------------------------------------- */

/* Next field of one level; whoever uses it checks its kind with want(). */
static bool next(struct parse *p, struct ntff_wire *w, struct ntff_field *f)
{
    p->at = w->p;
    int r = ntff_wire_next(w, f);
    if (r < 0)
        fail(p, NTFF_MALFORMED, w->p, "descriptor: %s", w->why);
    return r > 0;
}

static bool want(struct parse *p, const struct ntff_field *f, enum ntff_wire_type type)
{
    return f->type == type ||
           fail(p, NTFF_MALFORMED, p->at, "descriptor field %u has wire type %u, expected %u",
                f->number, f->type, (unsigned)type);
}

static struct ntff_slice slice(const struct ntff_field *f)
{
    return (struct ntff_slice){(const char *)f->data, (size_t)f->value};
}

static struct ntff_wire walk(struct ntff_slice s)
{
    return ntff_wire_init(s.p, s.len);
}

/* The last field `number` of a message, as protobuf merges repeated scalars. type LEN: *text;
 * VARINT: *value. Both keep their value when the field is absent. */
static bool get(struct parse *p, struct ntff_slice msg, uint32_t number, struct ntff_slice *text,
                uint64_t *value)
{
    struct ntff_wire w = walk(msg);
    struct ntff_field f;
    while (next(p, &w, &f)) {
        if (f.number != number)
            continue;
        if (!want(p, &f, text ? NTFF_WT_LEN : NTFF_WT_VARINT))
            return false;
        if (text)
            *text = slice(&f);
        else
            *value = f.value;
    }
    return p->status == NTFF_OK;
}

static bool count(struct parse *p, struct ntff_slice msg, uint32_t number, size_t *n)
{
    struct ntff_wire w = walk(msg);
    struct ntff_field f;
    *n = 0;
    while (next(p, &w, &f)) {
        if (f.number != number)
            continue;
        if (!want(p, &f, NTFF_WT_LEN))
            return false;
        ++*n;
    }
    return p->status == NTFF_OK;
}

static bool ident_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

/* One identifier, or several with dots between. */
static bool is_name(struct ntff_slice t, bool dots)
{
    bool first = true;
    if (t.len == 0 || t.len > NTFF_SCHEMA_MAX_NAME)
        return false;
    for (size_t i = 0; i < t.len; i++) {
        if (dots && t.p[i] == '.' && !first) {
            first = true;
            continue;
        }
        if (!ident_char(t.p[i], first))
            return false;
        first = false;
    }
    return !first;
}

/* a and b one after the other, in the arena. */
static char *join(struct parse *p, const char *a, struct ntff_slice b)
{
    size_t n = strlen(a);
    char *text = alloc(p, n + b.len + 1, 1); /* zeroed, so it ends */
    if (!text)
        return NULL;
    memcpy(text, a, n);
    if (b.len)
        memcpy(text + n, b.p, b.len);
    return text;
}

/* prefix + the name in field 1 of msg, in the arena. */
static const char *get_name(struct parse *p, struct ntff_slice msg, const char *prefix,
                            const char *what)
{
    struct ntff_slice t = {msg.p, 0};
    if (!get(p, msg, 1, &t, NULL))
        return NULL;
    if (is_name(t, false))
        return join(p, prefix, t);
    fail(p, NTFF_MALFORMED, t.p, "name of a %s is no identifier of 1 to %d bytes", what,
         NTFF_SCHEMA_MAX_NAME);
    return NULL;
}

/* -- fields ----------------------------------------------------------------------------------- */

static bool packable(int type)
{
    return type != NTFF_T_STRING && type != NTFF_T_BYTES && type != NTFF_T_MESSAGE &&
           type != NTFF_T_GROUP;
}

/* What one FieldDescriptorProto says, before oneof indices are settled. */
static bool parse_field(struct parse *p, struct ntff_slice msg, struct ntff_field_def *d)
{
    uint64_t number = 0, label = NTFF_L_SINGULAR, type = 0, oneof = UINT64_MAX, optional = 0;
    uint64_t packed = p->proto3;
    struct ntff_slice type_name = {0}, options = {0};
    d->raw = msg;
    if (!(d->name = get_name(p, msg, "", "field")) || !get(p, msg, 3, NULL, &number) ||
        !get(p, msg, 4, NULL, &label) || !get(p, msg, 5, NULL, &type) ||
        !get(p, msg, 6, &type_name, NULL) || !get(p, msg, 8, &options, NULL) ||
        !get(p, msg, 9, NULL, &oneof) || !get(p, msg, 17, NULL, &optional) ||
        !get(p, options, 2, NULL, &packed))
        return false;
    if (number < 1 || number > 0x1fffffff)
        return fail(p, NTFF_MALFORMED, msg.p, "field %s has number %llu, expected 1 to 2^29-1",
                    d->name, (unsigned long long)number);
    if (label < 1 || label > 3 || type > NTFF_T_SINT64)
        return fail(p, NTFF_MALFORMED, msg.p, "field %s has label %llu and type %llu", d->name,
                    (unsigned long long)label, (unsigned long long)type);
    bool named = type == 0 || type == NTFF_T_MESSAGE || type == NTFF_T_ENUM || type == NTFF_T_GROUP;
    if (named) {
        struct ntff_slice t = type_name;
        if (t.len && *t.p == '.')
            t.p++, t.len--;
        if (!is_name(t, true))
            return fail(p, NTFF_MALFORMED, msg.p, "field %s has no valid type name", d->name);
        if (!(d->type_name = ntff_arena_text(&p->s->arena, type_name.p, type_name.len)))
            return nomem(p);
    }
    d->number = (uint32_t)number;
    d->type = (uint8_t)type;
    d->label = label == NTFF_L_REPEATED ? NTFF_L_REPEATED : NTFF_L_SINGULAR;
    d->packed = label == NTFF_L_REPEATED && packed && packable((int)type);
    d->optional = optional != 0;
    d->oneof = oneof < INT32_MAX ? (int32_t)oneof : -1;
    return true;
}

static int cmp_number(const void *a, const void *b)
{
    const struct ntff_field_def *x = *(const struct ntff_field_def *const *)a;
    const struct ntff_field_def *y = *(const struct ntff_field_def *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static bool index_fields(struct parse *p, struct ntff_message_def *m)
{
    const struct ntff_field_def **by = alloc(p, m->n_fields, sizeof *by);
    if (!by)
        return false;
    for (size_t i = 0; i < m->n_fields; i++)
        by[i] = &m->fields[i];
    qsort(by, m->n_fields, sizeof *by, cmp_number);
    for (size_t i = 1; i < m->n_fields; i++)
        if (by[i]->number == by[i - 1]->number)
            return fail(p, NTFF_MALFORMED, by[i]->raw.p,
                        "%s has two fields with number %u: %s and %s", m->name, by[i]->number,
                        by[i - 1]->name, by[i]->name);
    m->by_number = by;
    return true;
}

/* The oneofs of a message without the synthetic ones that stand for proto3 optional; fields are
 * renumbered to match. */
static bool parse_oneofs(struct parse *p, struct ntff_message_def *m, struct ntff_field_def *fields)
{
    size_t n;
    if (!count(p, m->raw, 8, &n))
        return false;
    const char **names = alloc(p, n, sizeof *names);
    int32_t *kept = alloc(p, n, sizeof *kept);
    if (!names || !kept)
        return false;
    for (size_t i = 0; i < m->n_fields; i++) {
        struct ntff_field_def *f = &fields[i];
        if (f->oneof >= 0 && (size_t)f->oneof >= n)
            return fail(p, NTFF_MALFORMED, f->raw.p, "%s.%s is in oneof %d, the message has %zu",
                        m->name, f->name, f->oneof, n);
        if (f->oneof >= 0 && f->optional)
            kept[f->oneof] = -1;
    }
    struct ntff_wire w = walk(m->raw);
    struct ntff_field f;
    for (size_t i = 0; next(p, &w, &f);) {
        if (f.number != 8)
            continue;
        if (kept[i] >= 0) {
            kept[i] = (int32_t)m->n_oneofs;
            if (!(names[m->n_oneofs++] = get_name(p, slice(&f), "", "oneof")))
                return false;
        }
        i++;
    }
    for (size_t i = 0; i < m->n_fields; i++)
        if (fields[i].oneof >= 0)
            fields[i].oneof = kept[fields[i].oneof];
    m->oneofs = names;
    return p->status == NTFF_OK;
}

static bool parse_fields(struct parse *p, struct ntff_message_def *m)
{
    if (!count(p, m->raw, 2, &m->n_fields))
        return false;
    struct ntff_field_def *fields = alloc(p, m->n_fields, sizeof *fields);
    if (!fields)
        return false;
    m->fields = fields;
    struct ntff_wire w = walk(m->raw);
    struct ntff_field f;
    for (size_t i = 0; next(p, &w, &f);)
        if (f.number == 2 && !parse_field(p, slice(&f), &fields[i++]))
            return false;
    return p->status == NTFF_OK && parse_oneofs(p, m, fields) && index_fields(p, m);
}

/* -- enums and messages ----------------------------------------------------------------------- */

static bool parse_values(struct parse *p, struct ntff_enum_def *e)
{
    if (!count(p, e->raw, 2, &e->n_values))
        return false;
    struct ntff_enum_value *values = alloc(p, e->n_values, sizeof *values);
    if (!values)
        return false;
    e->values = values;
    struct ntff_wire w = walk(e->raw);
    struct ntff_field f;
    for (size_t i = 0; next(p, &w, &f);) {
        uint64_t number = 0;
        if (f.number != 2)
            continue;
        if (!(values[i].name = get_name(p, slice(&f), "", "enum value")) ||
            !get(p, slice(&f), 2, NULL, &number))
            return false;
        values[i++].number = (int32_t)(uint32_t)number;
    }
    return p->status == NTFF_OK;
}

/* Every enum in fields `number` of a message. */
static bool parse_enums(struct parse *p, struct ntff_slice msg, uint32_t number, const char *prefix)
{
    struct ntff_wire w = walk(msg);
    struct ntff_field f;
    while (next(p, &w, &f)) {
        if (f.number != number)
            continue;
        struct ntff_enum_def e = {.file = p->file};
        if (!want(p, &f, NTFF_WT_LEN))
            return false;
        e.raw = slice(&f);
        if (!(e.name = get_name(p, e.raw, prefix, "enum")) || !parse_values(p, &e))
            return false;
        struct ntff_enum_def *slot = NTFF_VEC_PUSH(p->budget, &p->enums);
        if (!slot)
            return nomem(p);
        *slot = e;
    }
    return p->status == NTFF_OK;
}

static bool parse_messages(struct parse *p, struct ntff_slice msg, uint32_t number,
                           const char *prefix, unsigned depth);

static bool parse_message(struct parse *p, struct ntff_slice raw, const char *prefix,
                          unsigned depth)
{
    struct ntff_message_def m = {.file = p->file, .raw = raw, .first_enum = p->enums.n};
    struct ntff_slice options = {0};
    uint64_t map_entry = 0;
    if (depth >= NTFF_SCHEMA_MAX_DEPTH)
        return fail(p, NTFF_LIMIT, raw.p, "messages nested more than %d deep",
                    NTFF_SCHEMA_MAX_DEPTH);
    if (!(m.name = get_name(p, raw, prefix, "message")) || !get(p, raw, 7, &options, NULL) ||
        !get(p, options, 7, NULL, &map_entry) || !parse_fields(p, &m))
        return false;
    m.map_entry = map_entry != 0;

    const char *inner = join(p, m.name, (struct ntff_slice){".", 1});
    if (!inner)
        return false;
    size_t index = p->messages.n;
    struct ntff_message_def *slot = NTFF_VEC_PUSH(p->budget, &p->messages);
    if (!slot)
        return nomem(p);
    *slot = m;
    if (!parse_enums(p, raw, 4, inner))
        return false;
    p->messages.v[index].n_enums = p->enums.n - m.first_enum;
    if (!parse_messages(p, raw, 3, inner, depth + 1))
        return false;
    p->messages.v[index].n_below = p->messages.n - index - 1;
    return true;
}

/* Every message in fields `number` of msg, at most NTFF_SCHEMA_MAX_DEPTH levels down. */
static bool parse_messages(struct parse *p, struct ntff_slice msg, uint32_t number,
                           const char *prefix, unsigned depth)
{
    struct ntff_wire w = walk(msg);
    struct ntff_field f;
    while (next(p, &w, &f)) {
        if (f.number != number)
            continue;
        if (!want(p, &f, NTFF_WT_LEN) || !parse_message(p, slice(&f), prefix, depth))
            return false;
    }
    return p->status == NTFF_OK;
}

/* -- files ------------------------------------------------------------------------------------ */

/* A text of the file level: like a name, but any printable ASCII. */
static const char *file_text(struct parse *p, struct ntff_slice raw, uint32_t number)
{
    struct ntff_slice t = {raw.p, 0};
    if (!get(p, raw, number, &t, NULL))
        return NULL;
    bool ok = t.len <= NTFF_SCHEMA_MAX_NAME;
    for (size_t i = 0; ok && i < t.len; i++)
        ok = t.p[i] > 0x20 && t.p[i] < 0x7f && t.p[i] != '"' && t.p[i] != '\\';
    if (!ok) {
        fail(p, NTFF_MALFORMED, t.p, "field %u of a file descriptor is no plain text", number);
        return NULL;
    }
    char *text = ntff_arena_text(&p->s->arena, t.p, t.len);
    if (!text)
        nomem(p);
    return text;
}

/* Copies the blob and reads what the whole file needs to know. */
static bool open_file(struct parse *p, const struct ntff_schema_blob *b, struct ntff_schema_file *f)
{
    uint64_t edition = 0;
    uint8_t *copy = b->len <= NTFF_SCHEMA_MAX_BLOB ? alloc(p, b->len, 1) : NULL;
    p->file = NULL;
    if (b->len > NTFF_SCHEMA_MAX_BLOB)
        return fail(p, NTFF_LIMIT, NULL, "descriptor of %zu bytes, at most %zu are read", b->len,
                    NTFF_SCHEMA_MAX_BLOB);
    if (!copy)
        return false;
    if (b->len)
        memcpy(copy, b->p, b->len);
    p->base = copy;
    p->base_offset = f->offset = b->offset;
    f->raw = (struct ntff_slice){(const char *)copy, b->len};
    if (!(f->name = file_text(p, f->raw, 1)))
        return false;
    p->file = f->name;
    if (!*f->name)
        return fail(p, NTFF_MALFORMED, copy, "file descriptor without a name");
    if (!(f->package = file_text(p, f->raw, 2)) || !(f->syntax = file_text(p, f->raw, 12)))
        return false;
    if (*f->package && !is_name((struct ntff_slice){f->package, strlen(f->package)}, true))
        return fail(p, NTFF_MALFORMED, copy, "package is no identifier");
    return get(p, f->raw, 14, NULL, &edition);
}

static bool parse_file(struct parse *p, struct ntff_schema_file *f)
{
    bool main = strcmp(f->package, p->main_package) == 0;
    const char *prefix =
        main || !*f->package ? "" : join(p, f->package, (struct ntff_slice){".", 1});
    if (!prefix)
        return false;
    p->file = f->name;
    p->base = (const uint8_t *)f->raw.p;
    p->base_offset = f->offset;
    p->proto3 = *f->syntax && strcmp(f->syntax, "proto2") != 0;
    f->first_message = p->messages.n;
    f->first_enum = p->enums.n;
    if (!parse_enums(p, f->raw, 5, prefix) || !parse_messages(p, f->raw, 4, prefix, 0))
        return false;
    f->n_messages = p->messages.n - f->first_message;
    f->n_enums = p->enums.n - f->first_enum;
    return true;
}

static bool parse_files(struct parse *p, const struct ntff_schema_blobs *list)
{
    size_t n = list->blobs.n;
    if (n > NTFF_SCHEMA_MAX_FILES)
        return fail(p, NTFF_LIMIT, NULL, "%zu file descriptors, at most %d are read", n,
                    NTFF_SCHEMA_MAX_FILES);
    struct ntff_schema_file *files = alloc(p, n, sizeof *files);
    if (!files)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!open_file(p, &list->blobs.v[i], &files[i]))
            return false;
        for (size_t j = 0; j < i; j++)
            if (strcmp(files[j].name, files[i].name) == 0)
                return fail(p, NTFF_MALFORMED, files[i].raw.p, "two descriptors of this file");
        if (i == 0 || strcmp(files[i].package, "ntff") == 0)
            p->main_package = files[i].package;
    }
    for (size_t i = 0; i < n; i++)
        if (!parse_file(p, &files[i]))
            return false;
    p->s->files = files;
    p->s->n_files = n;
    return true;
}

/* -- linking ---------------------------------------------------------------------------------- */

static int cmp_message(const void *a, const void *b)
{
    return strcmp((*(const struct ntff_message_def *const *)a)->name,
                  (*(const struct ntff_message_def *const *)b)->name);
}
static int cmp_enum(const void *a, const void *b)
{
    return strcmp((*(const struct ntff_enum_def *const *)a)->name,
                  (*(const struct ntff_enum_def *const *)b)->name);
}

/* Moves the lists into the arena and sorts them by name. */
static bool index_types(struct parse *p)
{
    struct ntff_schema *s = p->s;
    size_t nm = p->messages.n, ne = p->enums.n;
    struct ntff_message_def *m = alloc(p, nm, sizeof *m);
    struct ntff_enum_def *e = alloc(p, ne, sizeof *e);
    const struct ntff_message_def **mb = alloc(p, nm, sizeof *mb);
    const struct ntff_enum_def **eb = alloc(p, ne, sizeof *eb);
    if (!m || !e || !mb || !eb)
        return false;
    for (size_t i = 0; i < nm; i++)
        m[i] = p->messages.v[i], mb[i] = &m[i];
    for (size_t i = 0; i < ne; i++)
        e[i] = p->enums.v[i], eb[i] = &e[i];
    qsort(mb, nm, sizeof *mb, cmp_message);
    qsort(eb, ne, sizeof *eb, cmp_enum);
    p->file = NULL;
    for (size_t i = 1; i < nm; i++)
        if (strcmp(mb[i - 1]->name, mb[i]->name) == 0)
            return fail(p, NTFF_MALFORMED, NULL, "message %s is defined twice", mb[i]->name);
    for (size_t i = 1; i < ne; i++)
        if (strcmp(eb[i - 1]->name, eb[i]->name) == 0)
            return fail(p, NTFF_MALFORMED, NULL, "enum %s is defined twice", eb[i]->name);
    s->messages = m, s->n_messages = nm, s->messages_by_name = mb;
    s->enums = e, s->n_enums = ne, s->enums_by_name = eb;
    return true;
}

/* ".ntff.block_type" -> "block_type": how messages of this schema are called. */
static const char *local_name(const struct parse *p, const char *name)
{
    size_t n = strlen(p->main_package);
    if (*name != '.')
        return name;
    name++;
    if (n && strncmp(name, p->main_package, n) == 0 && name[n] == '.')
        return name + n + 1;
    return name;
}

static bool link_field(struct parse *p, const struct ntff_message_def *m, struct ntff_field_def *f)
{
    if (!f->type_name)
        return true;
    f->type_name = local_name(p, f->type_name);
    if (f->type != NTFF_T_ENUM)
        f->message = ntff_schema_message(p->s, f->type_name);
    if (f->type == NTFF_T_ENUM || (f->type == 0 && !f->message))
        f->enumeration = ntff_schema_enum(p->s, f->type_name);
    if (f->type == 0)
        f->type = f->enumeration ? NTFF_T_ENUM : NTFF_T_MESSAGE;
    if (f->message || f->enumeration)
        return true;
    char text[256];
    snprintf(text, sizeof text, "%.60s.%.60s has type %.60s, which is not defined here", m->name,
             f->name, f->type_name);
    return note(p, text);
}

static bool link_types(struct parse *p)
{
    for (size_t i = 0; i < p->s->n_messages; i++) {
        const struct ntff_message_def *m = &p->s->messages[i];
        struct ntff_field_def *fields = (struct ntff_field_def *)m->fields; /* ours, in the arena */
        for (size_t k = 0; k < m->n_fields; k++)
            if (!link_field(p, m, &fields[k]))
                return false;
    }
    if (!ntff_schema_message(p->s, "ntrace_event") && !ntff_schema_message(p->s, "ntff_info") &&
        !note(p, "neither ntrace_event nor ntff_info is in it: not the schema of NTFF files"))
        return false;
    const char **notes = alloc(p, p->notes.n, sizeof *notes);
    if (!notes)
        return false;
    if (p->notes.n)
        memcpy(notes, p->notes.v, p->notes.n * sizeof *notes);
    p->s->notes = notes;
    p->s->n_notes = p->notes.n;
    return true;
}

enum ntff_status ntff_schema_build(const struct ntff_schema_blobs *list,
                                   enum ntff_schema_origin origin, const char *source,
                                   struct ntff_schema **out, struct ntff_error *err)
{
    struct ntff_schema *s = calloc(1, sizeof *s);
    if (!s)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "out of memory");
    s->origin = origin;
    s->budget.max_bytes = NTFF_SCHEMA_MAX_MEMORY;
    s->arena.budget = &s->budget;
    struct parse p = {.s = s, .budget = &s->budget, .err = err, .main_package = ""};
    bool ok = (s->source = ntff_arena_text(&s->arena, source, strlen(source))) || nomem(&p);
    for (size_t i = 0; ok && i < list->notes.n; i++)
        ok = note(&p, list->notes.v[i]);
    ok = ok && parse_files(&p, list) && index_types(&p) && link_types(&p);
    NTFF_VEC_FREE(p.budget, &p.messages);
    NTFF_VEC_FREE(p.budget, &p.enums);
    NTFF_VEC_FREE(p.budget, &p.notes);
    if (!ok) {
        ntff_schema_free(s);
        return p.status;
    }
    *out = s;
    return NTFF_OK;
}
