/* schema_print - a schema back to .proto source, to a descriptor set, to a table.
 *
 * Source text is made from two views of the same descriptor: the parsed schema gives names, types
 * and labels; the raw bytes beside each element give what the decoder has no use for and the schema
 * does not keep, such as options and reserved ranges. What has no place in the source (custom
 * options, services, extensions) is named in a comment, so that nothing disappears unseen.
 *
 * Type names are written without the package where that is unambiguous, fully qualified else. */
#include "proto/schema_print.h"

#include <stdio.h>
#include <string.h>

#include "proto/schema_priv.h"
#include "proto/schema_spec.h"
#include "proto/textfmt.h"
#include "proto/wire.h"

/* -- small things ----------------------------------------------------------------------------- */

static const char *last_part(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? dot + 1 : name;
}

/* The next field of this number and wire type: its data or its value, and nothing else, is there.
 * The raw bytes have been parsed before, so a failure here just ends the loop. */
static bool raw_next(struct ntff_wire *w, struct ntff_field *f, uint32_t number,
                     enum ntff_wire_type type)
{
    while (ntff_wire_next(w, f) == 1)
        if (f->number == number && f->type == type)
            return true;
    return false;
}

/* The last field of this number and wire type. */
static bool raw_last(struct ntff_slice raw, uint32_t number, enum ntff_wire_type type,
                     struct ntff_field *out)
{
    struct ntff_wire w = ntff_wire_init(raw.p, raw.len);
    struct ntff_field f;
    bool found = false;
    while (raw_next(&w, &f, number, type))
        *out = f, found = true;
    return found;
}

static uint64_t raw_uint(struct ntff_slice raw, uint32_t number, uint64_t otherwise)
{
    struct ntff_field f;
    return raw_last(raw, number, NTFF_WT_VARINT, &f) ? f.value : otherwise;
}

static struct ntff_slice raw_bytes(struct ntff_slice raw, uint32_t number)
{
    struct ntff_field f;
    if (!raw_last(raw, number, NTFF_WT_LEN, &f))
        return (struct ntff_slice){raw.p, 0};
    return (struct ntff_slice){(const char *)f.data, (size_t)f.value};
}

struct printer {
    const struct ntff_schema *s;
    const struct ntff_schema_file *file;
    struct ntff_buf *out;
    bool proto3, grades;
};

static void indent(struct printer *p, unsigned depth)
{
    for (unsigned i = 0; i < depth; i++)
        ntff_buf_add(p->out, "  ", 2);
}

static void put_quoted(struct printer *p, const void *text, size_t len)
{
    ntff_buf_add(p->out, "\"", 1);
    ntff_text_escape(p->out, text, len);
    ntff_buf_add(p->out, "\"", 1);
}

/* -- options ---------------------------------------------------------------------------------- */

struct option {
    uint32_t number;
    const char *name;
    const char *values; /* NULL = bool, "" = string, else names of enum values: "0 STRING 1 CORD" */
};

static const struct option file_options[] = {
    {1, "java_package", ""},
    {8, "java_outer_classname", ""},
    {10, "java_multiple_files", NULL},
    {20, "java_generate_equals_and_hash", NULL},
    {27, "java_string_check_utf8", NULL},
    {9, "optimize_for", "1 SPEED 2 CODE_SIZE 3 LITE_RUNTIME "},
    {11, "go_package", ""},
    {16, "cc_generic_services", NULL},
    {17, "java_generic_services", NULL},
    {18, "py_generic_services", NULL},
    {42, "php_generic_services", NULL},
    {23, "deprecated", NULL},
    {31, "cc_enable_arenas", NULL},
    {36, "objc_class_prefix", ""},
    {37, "csharp_namespace", ""},
    {39, "swift_prefix", ""},
    {40, "php_class_prefix", ""},
    {41, "php_namespace", ""},
    {44, "php_metadata_namespace", ""},
    {45, "ruby_package", ""},
    {0, NULL, NULL}};
static const struct option message_options[] = {{1, "message_set_wire_format", NULL},
                                                {2, "no_standard_descriptor_accessor", NULL},
                                                {3, "deprecated", NULL},
                                                {0, NULL, NULL}};
static const struct option field_options[] = {{1, "ctype", "0 STRING 1 CORD 2 STRING_PIECE "},
                                              {2, "packed", NULL},
                                              {3, "deprecated", NULL},
                                              {5, "lazy", NULL},
                                              {6, "jstype", "0 JS_NORMAL 1 JS_STRING 2 JS_NUMBER "},
                                              {10, "weak", NULL},
                                              {15, "unverified_lazy", NULL},
                                              {0, NULL, NULL}};
static const struct option enum_options[] = {
    {2, "allow_alias", NULL}, {3, "deprecated", NULL}, {0, NULL, NULL}};
static const struct option value_options[] = {{1, "deprecated", NULL}, {0, NULL, NULL}};

/* "name = value" of one option; false if the value is none we can write. */
static bool put_option(struct printer *p, const struct option *o, const struct ntff_field *f)
{
    bool text = o->values && !*o->values;
    char key[24];
    const char *name = NULL;
    if (f->type != (text ? NTFF_WT_LEN : NTFF_WT_VARINT))
        return false;
    if (o->values && !text) {
        snprintf(key, sizeof key, "%llu ", (unsigned long long)f->value);
        const char *at = strstr(o->values, key);
        if (!at)
            return false;
        name = at + strlen(key);
    }
    ntff_buf_printf(p->out, "%s = ", o->name);
    if (text)
        put_quoted(p, f->data, (size_t)f->value);
    else if (name)
        ntff_buf_add(p->out, name, strcspn(name, " "));
    else
        ntff_buf_printf(p->out, "%s", f->value ? "true" : "false");
    return true;
}

static const struct option *find_option(const struct option *table, uint32_t number)
{
    while (table->name && table->number != number)
        table++;
    return table->name ? table : NULL;
}

/* Options as statements of their own. */
static void put_option_lines(struct printer *p, struct ntff_slice raw, const struct option *table,
                             unsigned depth)
{
    struct ntff_wire w = ntff_wire_init(raw.p, raw.len);
    struct ntff_field f;
    while (ntff_wire_next(&w, &f) == 1) {
        const struct option *o = find_option(table, f.number);
        if (table == message_options && f.number == 7)
            continue; /* map_entry is never written by hand */
        size_t undo = p->out->len;
        indent(p, depth);
        ntff_buf_add(p->out, "option ", 7);
        if (o && put_option(p, o, &f)) {
            ntff_buf_add(p->out, ";\n", 2);
            continue;
        }
        p->out->len = undo < p->out->len ? undo : p->out->len;
        indent(p, depth);
        ntff_buf_printf(p->out, "// option %u is left out\n", f.number);
    }
}

static void put_separator(struct printer *p, bool *open)
{
    ntff_buf_printf(p->out, "%s", *open ? ", " : " [");
    *open = true;
}

/* Options in brackets behind a field or value; returns how many were left out. */
static unsigned put_option_list(struct printer *p, struct ntff_slice raw,
                                const struct option *table, bool *open)
{
    struct ntff_wire w = ntff_wire_init(raw.p, raw.len);
    struct ntff_field f;
    unsigned left_out = 0;
    while (ntff_wire_next(&w, &f) == 1) {
        const struct option *o = find_option(table, f.number);
        size_t undo = p->out->len;
        bool was_open = *open;
        if (o)
            put_separator(p, open);
        if (o && put_option(p, o, &f))
            continue;
        p->out->len = undo < p->out->len ? undo : p->out->len;
        *open = was_open;
        left_out++;
    }
    return left_out;
}

/* -- type names ------------------------------------------------------------------------------- */

/* Words that protoc reads as something else where a type may stand. */
static bool is_keyword(const char *name)
{
    static const char *const words[] = {
        "double", "float",  "int64",   "uint64", "int32",    "fixed64",  "fixed32",    "bool",
        "string", "group",  "message", "bytes",  "uint32",   "enum",     "sfixed32",   "sfixed64",
        "sint32", "sint64", "oneof",   "option", "optional", "repeated", "required",   "reserved",
        "map",    "extend", "stream",  "syntax", "package",  "import",   "extensions", "service"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(words); i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return false;
}

/* True if a type around or inside m has the same first name, so that protoc would find that one. */
static bool is_shadowed(const struct ntff_schema *s, const struct ntff_message_def *m,
                        const char *type)
{
    char name[(NTFF_SCHEMA_MAX_DEPTH + 2) * (NTFF_SCHEMA_MAX_NAME + 1)];
    size_t scope = strlen(m->name), first = strcspn(type, ".");
    for (; scope; scope--) {
        if (scope != strlen(m->name) && m->name[scope] != '.')
            continue;
        int n = snprintf(name, sizeof name, "%.*s.%.*s", (int)scope, m->name, (int)first, type);
        if (n < 0 || (size_t)n >= sizeof name)
            return true;
        if (strcmp(name, type) != 0 && (ntff_schema_message(s, name) || ntff_schema_enum(s, name)))
            return true;
    }
    return false;
}

static void put_type(struct printer *p, const struct ntff_message_def *m,
                     const struct ntff_field_def *f)
{
    if (!f->type_name) {
        ntff_buf_printf(p->out, "%s", ntff_type_name(f->type));
        return;
    }
    struct ntff_slice full = raw_bytes(f->raw, 6);
    bool known = f->message || f->enumeration;
    if (full.len && *full.p == '.' &&
        (!known || is_keyword(f->type_name) || is_shadowed(p->s, m, f->type_name)))
        ntff_buf_add(p->out, full.p, full.len);
    else
        ntff_buf_printf(p->out, "%s", f->type_name);
}

/* -- fields ----------------------------------------------------------------------------------- */

/* The JSON name protoc derives from a field name. */
static bool is_default_json(const char *name, struct ntff_slice json)
{
    size_t n = 0;
    bool upper = false;
    for (; *name; name++) {
        char c = *name;
        if (c == '_') {
            upper = true;
            continue;
        }
        if (upper && c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        upper = false;
        if (n >= json.len || json.p[n++] != c)
            return false;
    }
    return n == json.len;
}

/* default_value of proto2 is kept as text; that of bytes has its escapes in it already. */
static void put_default(struct printer *p, const struct ntff_field_def *f, struct ntff_slice text)
{
    ntff_buf_printf(p->out, "default = ");
    if (f->type == NTFF_T_STRING) {
        put_quoted(p, text.p, text.len);
        return;
    }
    if (f->type == NTFF_T_BYTES)
        ntff_buf_add(p->out, "\"", 1);
    for (size_t i = 0; i < text.len; i++)
        ntff_buf_add(p->out, text.p[i] >= 0x20 && text.p[i] < 0x7f ? &text.p[i] : "?", 1);
    if (f->type == NTFF_T_BYTES)
        ntff_buf_add(p->out, "\"", 1);
}

static void put_label(struct printer *p, const struct ntff_field_def *f, bool in_oneof)
{
    if (in_oneof || ntff_field_is_map(f))
        return;
    if (f->label == NTFF_L_REPEATED)
        ntff_buf_printf(p->out, "repeated ");
    else if (!p->proto3)
        ntff_buf_printf(p->out, "%s ", raw_uint(f->raw, 4, 1) == 2 ? "required" : "optional");
    else if (f->optional)
        ntff_buf_printf(p->out, "optional ");
}

static void put_field(struct printer *p, const struct ntff_message_def *m,
                      const struct ntff_field_def *f, unsigned depth, bool in_oneof)
{
    bool open = false;
    indent(p, depth);
    if (f->type == NTFF_T_GROUP) {
        ntff_buf_printf(p->out, "// group %s = %u is left out\n", f->name, f->number);
        return;
    }
    put_label(p, f, in_oneof);
    if (ntff_field_is_map(f)) {
        ntff_buf_printf(p->out, "map<");
        put_type(p, m, f->message->by_number[0]);
        ntff_buf_printf(p->out, ", ");
        put_type(p, m, f->message->by_number[1]);
        ntff_buf_printf(p->out, ">");
    } else {
        put_type(p, m, f);
    }
    ntff_buf_printf(p->out, " %s = %u", f->name, f->number);
    struct ntff_field json, text;
    if (raw_last(f->raw, 10, NTFF_WT_LEN, &json) &&
        !is_default_json(f->name, (struct ntff_slice){(const char *)json.data, json.value})) {
        put_separator(p, &open);
        ntff_buf_printf(p->out, "json_name = ");
        put_quoted(p, json.data, (size_t)json.value);
    }
    if (raw_last(f->raw, 7, NTFF_WT_LEN, &text)) {
        put_separator(p, &open);
        put_default(p, f, (struct ntff_slice){(const char *)text.data, text.value});
    }
    unsigned left_out = put_option_list(p, raw_bytes(f->raw, 8), field_options, &open);
    ntff_buf_printf(p->out, "%s;", open ? "]" : "");
    const struct ntff_spec_field *spec = p->grades ? ntff_spec_find(m->name, f->name) : NULL;
    if (spec)
        ntff_buf_printf(p->out, "  // %s %s%s", ntff_spec_grade_text(spec->grade), spec->source,
                        *spec->type == '?' ? "; type not sure" : "");
    if (left_out)
        ntff_buf_printf(p->out, "  // %u options are left out", left_out);
    ntff_buf_add(p->out, "\n", 1);
}

/* Fields in declaration order; a oneof stands where its first member does. */
static void put_fields(struct printer *p, const struct ntff_message_def *m, unsigned depth)
{
    int32_t open = -1;
    for (size_t i = 0; i < m->n_fields; i++) {
        const struct ntff_field_def *f = &m->fields[i];
        if (open >= 0 && f->oneof != open) {
            indent(p, depth);
            ntff_buf_printf(p->out, "}\n");
            open = -1;
        }
        if (f->oneof >= 0 && open < 0) {
            open = f->oneof;
            indent(p, depth);
            ntff_buf_printf(p->out, "oneof %s {\n", m->oneofs[open]);
        }
        put_field(p, m, f, depth + (open >= 0), open >= 0);
    }
    if (open >= 0) {
        indent(p, depth);
        ntff_buf_printf(p->out, "}\n");
    }
}

/* -- reserved ranges -------------------------------------------------------------------------- */

/* Ranges {1 start, 2 end} in fields `number`; those of messages are half-open, those of enums are
 * not. */
static void put_ranges(struct printer *p, struct ntff_slice raw, uint32_t number, const char *word,
                       bool half_open, unsigned depth)
{
    struct ntff_wire w = ntff_wire_init(raw.p, raw.len);
    struct ntff_field f;
    int32_t max = half_open ? 0x1fffffff : INT32_MAX;
    while (raw_next(&w, &f, number, NTFF_WT_LEN)) {
        struct ntff_slice range = {(const char *)f.data, (size_t)f.value};
        int32_t from = (int32_t)(uint32_t)raw_uint(range, 1, 0);
        int32_t to = (int32_t)(uint32_t)raw_uint(range, 2, 0);
        if (half_open && to > INT32_MIN)
            to--;
        if (from > to)
            continue;
        indent(p, depth);
        ntff_buf_printf(p->out, "%s %d", word, from);
        if (to >= max)
            ntff_buf_printf(p->out, " to max;\n");
        else if (to > from)
            ntff_buf_printf(p->out, " to %d;\n", to);
        else
            ntff_buf_printf(p->out, ";\n");
    }
}

static void put_reserved_names(struct printer *p, struct ntff_slice raw, uint32_t number,
                               unsigned depth)
{
    struct ntff_wire w = ntff_wire_init(raw.p, raw.len);
    struct ntff_field f;
    while (raw_next(&w, &f, number, NTFF_WT_LEN)) {
        indent(p, depth);
        ntff_buf_printf(p->out, "reserved ");
        put_quoted(p, f.data, (size_t)f.value);
        ntff_buf_printf(p->out, ";\n");
    }
}

/* -- messages, enums, files ------------------------------------------------------------------- */

static void put_enum(struct printer *p, const struct ntff_enum_def *e, unsigned depth)
{
    struct ntff_wire w = ntff_wire_init(e->raw.p, e->raw.len);
    struct ntff_field f;
    indent(p, depth);
    ntff_buf_printf(p->out, "enum %s {\n", last_part(e->name));
    put_option_lines(p, raw_bytes(e->raw, 3), enum_options, depth + 1);
    for (size_t i = 0; i < e->n_values && raw_next(&w, &f, 2, NTFF_WT_LEN); i++) {
        bool open = false;
        indent(p, depth + 1);
        ntff_buf_printf(p->out, "%s = %d", e->values[i].name, e->values[i].number);
        struct ntff_slice value = {(const char *)f.data, (size_t)f.value};
        unsigned left_out = put_option_list(p, raw_bytes(value, 3), value_options, &open);
        ntff_buf_printf(p->out, "%s;%s\n", open ? "]" : "",
                        left_out ? "  // options are left out" : "");
    }
    put_ranges(p, e->raw, 4, "reserved", false, depth + 1);
    put_reserved_names(p, e->raw, 5, depth + 1);
    indent(p, depth);
    ntff_buf_printf(p->out, "}\n");
}

/* What the built-in schema lacks of a message, as comments. */
static void put_lacks(struct printer *p, const struct ntff_message_def *m, unsigned depth)
{
    int stated = ntff_spec_message_fields(m->name), named = (int)m->n_fields;
    for (size_t i = 0; i < ntff_spec_n_fields; i++) {
        const struct ntff_spec_field *f = &ntff_spec_fields[i];
        if (strcmp(f->message, m->name) != 0 || ntff_message_field(m, f->name))
            continue;
        indent(p, depth);
        const char *label = f->label + (*f->label == '?'), *type = f->type + (*f->type == '?');
        ntff_buf_printf(p->out, "// lacks %s%s%s%s%s = ?;  // %s %s\n", label, *label ? " " : "",
                        type, *type ? " " : "", f->name, ntff_spec_grade_text(f->grade), f->source);
        named++;
    }
    if (stated < 0 || named < stated) {
        indent(p, depth);
        if (stated < 0)
            ntff_buf_printf(p->out, "// may lack more fields: their count is not public\n");
        else
            ntff_buf_printf(p->out, "// lacks %d more without a public name\n", stated - named);
    }
}

static void put_message(struct printer *p, const struct ntff_message_def *m, unsigned depth)
{
    indent(p, depth);
    ntff_buf_printf(p->out, "message %s {\n", last_part(m->name));
    put_option_lines(p, raw_bytes(m->raw, 7), message_options, depth + 1);
    for (size_t i = 0; i < m->n_enums; i++)
        put_enum(p, &p->s->enums[m->first_enum + i], depth + 1);
    for (size_t i = 1; i <= m->n_below; i += m[i].n_below + 1)
        if (!m[i].map_entry)
            put_message(p, &m[i], depth + 1); /* depth was limited when the schema was parsed */
    put_fields(p, m, depth + 1);
    if (p->grades)
        put_lacks(p, m, depth + 1);
    put_ranges(p, m->raw, 5, "extensions", true, depth + 1);
    put_ranges(p, m->raw, 9, "reserved", true, depth + 1);
    put_reserved_names(p, m->raw, 10, depth + 1);
    struct ntff_field f;
    if (raw_last(m->raw, 6, NTFF_WT_LEN, &f)) {
        indent(p, depth + 1);
        ntff_buf_printf(p->out, "// extensions are left out\n");
    }
    indent(p, depth);
    ntff_buf_printf(p->out, "}\n");
}

static void put_body(struct printer *p, const struct ntff_schema_file *file)
{
    const struct ntff_message_def *m = &p->s->messages[file->first_message];
    size_t top = (file->n_messages ? m->first_enum : file->first_enum + file->n_enums);
    struct ntff_field f;
    for (size_t i = 0; i < file->n_messages; i += m[i].n_below + 1) {
        ntff_buf_add(p->out, "\n", 1);
        put_message(p, &m[i], 0);
    }
    for (size_t i = file->first_enum; i < top; i++) {
        ntff_buf_add(p->out, "\n", 1);
        put_enum(p, &p->s->enums[i], 0);
    }
    if (raw_last(file->raw, 6, NTFF_WT_LEN, &f))
        ntff_buf_printf(p->out, "\n// services are left out\n");
    if (raw_last(file->raw, 7, NTFF_WT_LEN, &f))
        ntff_buf_printf(p->out, "\n// extensions are left out\n");
}

/* A comment line on where the text comes from. */
static void put_origin(struct printer *p, const struct ntff_schema_file *file)
{
    ntff_buf_printf(p->out, "// %s, ", file->name);
    if (p->s->origin == NTFF_SCHEMA_BUILTIN) {
        ntff_buf_printf(p->out, "the built-in schema: fields with a public number of runtime %s.\n",
                        NTFF_SPEC_VERSION);
        return;
    }
    ntff_buf_printf(p->out, "%s ",
                    p->s->origin == NTFF_SCHEMA_RECOVERED ? "recovered from" : "given by");
    ntff_text_escape(p->out, p->s->source, strlen(p->s->source));
    ntff_buf_printf(p->out, ": descriptor of %zu bytes at offset 0x%llx.\n", file->raw.len,
                    (unsigned long long)file->offset);
}

static struct ntff_slice nth_dependency(const struct ntff_schema_file *file, uint64_t n)
{
    struct ntff_wire w = ntff_wire_init(file->raw.p, file->raw.len);
    struct ntff_field f;
    while (raw_next(&w, &f, 3, NTFF_WT_LEN))
        if (n-- == 0)
            return (struct ntff_slice){(const char *)f.data, (size_t)f.value};
    return (struct ntff_slice){file->raw.p, 0};
}

/* "public " or "weak " if the n-th import is one. */
static const char *import_kind(const struct ntff_schema_file *file, uint64_t n)
{
    static const struct {
        uint32_t number;
        const char *word;
    } kinds[] = {{10, "public "}, {11, "weak "}};
    for (size_t k = 0; k < NTFF_ARRAY_LEN(kinds); k++) {
        struct ntff_wire w = ntff_wire_init(file->raw.p, file->raw.len);
        struct ntff_field f;
        while (raw_next(&w, &f, kinds[k].number, NTFF_WT_VARINT))
            if (f.value == n)
                return kinds[k].word;
    }
    return "";
}

static void put_imports(struct printer *p, const struct ntff_schema_file *file)
{
    struct ntff_slice name;
    for (uint64_t n = 0; n < 1024 && (name = nth_dependency(file, n)).len; n++) {
        ntff_buf_printf(p->out, "%simport %s", n ? "" : "\n", import_kind(file, n));
        put_quoted(p, name.p, name.len);
        ntff_buf_printf(p->out, ";\n");
    }
}

static void put_head(struct printer *p, const struct ntff_schema_file *file)
{
    ntff_buf_printf(p->out, "syntax = \"%s\";\n", *file->syntax ? file->syntax : "proto2");
    if (*file->package)
        ntff_buf_printf(p->out, "package %s;\n", file->package);
}

static struct printer printer_init(const struct ntff_schema *s, const struct ntff_schema_file *f,
                                   struct ntff_buf *out)
{
    return (struct printer){.s = s,
                            .file = f,
                            .out = out,
                            .proto3 = *f->syntax && strcmp(f->syntax, "proto2") != 0,
                            .grades = s->origin == NTFF_SCHEMA_BUILTIN};
}

void ntff_schema_print_file(const struct ntff_schema *s, const struct ntff_schema_file *f,
                            struct ntff_buf *out)
{
    struct printer p = printer_init(s, f, out);
    put_origin(&p, f);
    put_head(&p, f);
    put_imports(&p, f);
    put_option_lines(&p, raw_bytes(f->raw, 8), file_options, 0);
    put_body(&p, f);
}

bool ntff_schema_print_merged(const struct ntff_schema *s, struct ntff_buf *out)
{
    for (size_t i = 1; i < s->n_files; i++)
        if (strcmp(s->files[i].package, s->files[0].package) != 0 ||
            strcmp(s->files[i].syntax, s->files[0].syntax) != 0)
            return false;
    for (size_t i = 0; i < s->n_files; i++) {
        struct printer p = printer_init(s, &s->files[i], out);
        if (i)
            ntff_buf_add(out, "\n", 1);
        put_origin(&p, &s->files[i]);
        if (i == 0) {
            put_head(&p, &s->files[0]);
            put_option_lines(&p, raw_bytes(s->files[0].raw, 8), file_options, 0);
        }
        put_body(&p, &s->files[i]);
    }
    return true;
}
