/* schema_table - a schema as a table, its types as text, and as the descriptor set it came from.
 *
 * The table of the built-in schema also has a row for what is known to exist without a public
 * number, so that a reader sees what a schema from a libnrt.so would add. */
#include "proto/schema_print.h"

#include <stdio.h>
#include <string.h>

#include "proto/schema_spec.h"

/* -- types as text ---------------------------------------------------------------------------- */

const char *ntff_type_name(int ftype)
{
    static const char *const name[] = {
        "?",       "double",   "float",    "int64",  "uint64",  "int32", "fixed64",
        "fixed32", "bool",     "string",   "group",  "message", "bytes", "uint32",
        "enum",    "sfixed32", "sfixed64", "sint32", "sint64",
    };
    return ftype > 0 && (size_t)ftype < NTFF_ARRAY_LEN(name) ? name[ftype] : name[0];
}

bool ntff_field_is_map(const struct ntff_field_def *f)
{
    const struct ntff_message_def *m = f->message;
    return m && m->map_entry && f->label == NTFF_L_REPEATED && m->n_fields == 2 &&
           m->by_number[0]->number == 1 && m->by_number[1]->number == 2;
}

/* Name of a type as a field mentions it. */
static const char *plain_type(const struct ntff_field_def *f)
{
    return f->type_name ? f->type_name : ntff_type_name(f->type);
}

const char *ntff_field_type_text(const struct ntff_field_def *f, char *out, size_t cap)
{
    if (ntff_field_is_map(f))
        snprintf(out, cap, "map<%s,%s>", plain_type(f->message->by_number[0]),
                 plain_type(f->message->by_number[1]));
    else
        snprintf(out, cap, "%s", plain_type(f));
    return out;
}

const char *ntff_field_label_text(const struct ntff_field_def *f)
{
    if (ntff_field_is_map(f))
        return "";
    if (f->label == NTFF_L_REPEATED)
        return "repeated";
    return f->optional ? "optional" : f->oneof >= 0 ? "oneof" : "";
}

/* -- descriptor set, table -------------------------------------------------------------------- */

void ntff_schema_print_set(const struct ntff_schema *s, struct ntff_buf *out)
{
    for (size_t i = 0; i < s->n_files; i++) {
        uint8_t head[11] = {0x0a};
        size_t n = 1;
        for (uint64_t len = s->files[i].raw.len;; len >>= 7) {
            head[n++] = (uint8_t)(len >= 0x80 ? len | 0x80 : len);
            if (len < 0x80)
                break;
        }
        ntff_buf_add(out, head, n);
        ntff_buf_add(out, s->files[i].raw.p, s->files[i].raw.len);
    }
}

static void put_row(struct ntff_buf *out, const char *message, const char *number, const char *name,
                    const char *type, const char *label, const char *grade)
{
    ntff_buf_printf(out, "%-28s %6s  %-28s %-26s %s%s%s\n", message, number, name, type,
                    *label ? label : "singular", *grade ? "  " : "", grade);
}

static void put_message_rows(const struct ntff_schema *s, const struct ntff_message_def *m,
                             struct ntff_buf *out)
{
    bool builtin = s->origin == NTFF_SCHEMA_BUILTIN;
    char number[16], type[600], grade[200] = "";
    int stated = ntff_spec_message_fields(m->name), named = (int)m->n_fields;
    for (size_t i = 0; i < m->n_fields; i++) {
        const struct ntff_field_def *f = m->by_number[i];
        const struct ntff_spec_field *spec = builtin ? ntff_spec_find(m->name, f->name) : NULL;
        snprintf(number, sizeof number, "%u", f->number);
        if (spec)
            snprintf(grade, sizeof grade, "%s %s%s", ntff_spec_grade_text(spec->grade),
                     spec->source, *spec->type == '?' ? "; type not sure" : "");
        const char *label = ntff_field_is_map(f) ? "map" : ntff_field_label_text(f);
        put_row(out, m->name, number, f->name, ntff_field_type_text(f, type, sizeof type), label,
                spec ? grade : "");
    }
    for (size_t i = 0; builtin && i < ntff_spec_n_fields; i++) {
        const struct ntff_spec_field *f = &ntff_spec_fields[i];
        if (strcmp(f->message, m->name) != 0 || ntff_message_field(m, f->name))
            continue;
        snprintf(grade, sizeof grade, "lacking: %s %s", ntff_spec_grade_text(f->grade), f->source);
        put_row(out, m->name, "?", f->name, f->type[strspn(f->type, "?")] ? f->type : "?",
                *f->label == '?' ? "?" : f->label, grade);
        named++;
    }
    if (builtin && !m->map_entry && (stated < 0 || named < stated)) {
        snprintf(grade, sizeof grade, stated < 0 ? "lacking: count not public" : "lacking: %d more",
                 stated - named);
        put_row(out, m->name, "?", "?", "?", "?", grade);
    }
}

void ntff_schema_print_table(const struct ntff_schema *s, struct ntff_buf *out)
{
    char number[16];
    put_row(out, "message", "number", "name", "type", "label", "");
    for (size_t i = 0; i < s->n_messages; i++)
        put_message_rows(s, &s->messages[i], out);
    for (size_t i = 0; i < s->n_enums; i++)
        for (size_t k = 0; k < s->enums[i].n_values; k++) {
            const struct ntff_enum_value *v = &s->enums[i].values[k];
            snprintf(number, sizeof number, "%d", v->number);
            put_row(out, s->enums[i].name, number, v->name, "enum", "value", "");
        }
}
