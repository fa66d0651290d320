/* schema_spec - holds a schema against what is publicly known of runtime 2.31.24.0.
 *
 * Names, numbers and types that were read from decoded descriptors should be found again in a
 * libnrt.so of that version; in another version differences are expected and worth knowing. Each
 * difference becomes one line, in the order of the tables; the last line sums up. */
#include "proto/schema_spec.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "proto/schema_print.h"

const char *ntff_spec_grade_text(enum ntff_spec_grade g)
{
    static const char *const text[] = {"A", "B", "B*", "C"};
    return (size_t)g < NTFF_ARRAY_LEN(text) ? text[g] : "?";
}

const struct ntff_spec_field *ntff_spec_find(const char *message, const char *field)
{
    for (size_t i = 0; i < ntff_spec_n_fields; i++)
        if (strcmp(ntff_spec_fields[i].message, message) == 0 &&
            strcmp(ntff_spec_fields[i].name, field) == 0)
            return &ntff_spec_fields[i];
    return NULL;
}

int ntff_spec_message_fields(const char *message)
{
    for (size_t i = 0; i < ntff_spec_n_messages; i++)
        if (strcmp(ntff_spec_messages[i].name, message) == 0)
            return ntff_spec_messages[i].n_fields;
    return -1;
}

/* -- the comparison --------------------------------------------------------------------------- */

struct comparison {
    const struct ntff_schema *s;
    struct ntff_buf *out;
    struct ntff_buf names; /* of what differs, for the last line */
    struct ntff_spec_result r;
};

/* One difference: name is what the last line lists. */
static void differ(struct comparison *c, const char *name, const char *fmt, ...) NTFF_PRINTF(3, 4);
static void differ(struct comparison *c, const char *name, const char *fmt, ...)
{
    char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    ntff_buf_printf(c->out, "differs: %s: %s\n", name, text);
    ntff_buf_printf(&c->names, "%s%s", c->names.len ? ", " : "", name);
    c->r.n_differences++;
}

static bool sure(const char *text)
{
    return *text != '?';
}

/* Number, type and label of one stated field against the one of the same name. */
static void compare_field(struct comparison *c, const struct ntff_spec_field *want)
{
    char name[128], type[160];
    const char *grade = ntff_spec_grade_text(want->grade);
    const struct ntff_message_def *m = ntff_schema_message(c->s, want->message);
    const struct ntff_field_def *f = ntff_message_field(m, want->name);
    snprintf(name, sizeof name, "%s.%s", want->message, want->name);
    if (!f) {
        if (want->number || want->grade != NTFF_SPEC_C)
            differ(c, name, "not in this schema, stated at grade %s %s", grade, want->source);
        return;
    }
    bool equal = true;
    if (want->number && f->number != want->number) {
        differ(c, name, "number %u, stated %u at grade %s %s", f->number, want->number, grade,
               want->source);
        c->r.n_a_changed += want->grade == NTFF_SPEC_A;
        equal = false;
    }
    ntff_field_type_text(f, type, sizeof type);
    if (sure(want->type) && strcmp(type, want->type) != 0) {
        differ(c, name, "type %s, stated %s", type, want->type);
        equal = false;
    }
    const char *label = ntff_field_label_text(f);
    if (sure(want->label) && strncmp(want->type, "map<", 4) != 0 &&
        strcmp(label, want->label) != 0) {
        differ(c, name, "%s, stated %s", *label ? label : "singular",
               *want->label ? want->label : "singular");
        equal = false;
    }
    c->r.n_equal += want->number != 0 && equal;
}

/* Place of m among the top-level messages of its file. */
static int message_index(const struct ntff_schema *s, const struct ntff_message_def *m)
{
    for (size_t k = 0; k < s->n_files; k++) {
        const struct ntff_schema_file *f = &s->files[k];
        size_t end = f->first_message + f->n_messages;
        int index = 0;
        for (size_t i = f->first_message; i < end; i += s->messages[i].n_below + 1, index++)
            if (&s->messages[i] == m)
                return index;
    }
    return -1;
}

static void compare_messages(struct comparison *c)
{
    for (size_t i = 0; i < ntff_spec_n_messages; i++) {
        const struct ntff_spec_message *want = &ntff_spec_messages[i];
        const struct ntff_message_def *m = ntff_schema_message(c->s, want->name);
        if (!m) {
            differ(c, want->name, "message not in this schema");
            continue;
        }
        if (want->n_fields >= 0 && m->n_fields != (size_t)want->n_fields)
            differ(c, want->name, "%zu fields, stated %d", m->n_fields, want->n_fields);
        int index = message_index(c->s, m);
        if (want->index >= 0 && index != want->index)
            differ(c, want->name, "index %d in its file, stated %d", index, want->index);
    }
    for (size_t i = 0; i < c->s->n_messages; i++) {
        const struct ntff_message_def *m = &c->s->messages[i];
        bool known = m->map_entry;
        for (size_t k = 0; k < ntff_spec_n_messages && !known; k++)
            known = strcmp(m->name, ntff_spec_messages[k].name) == 0;
        if (!known)
            differ(c, m->name, "message not stated, %zu fields", m->n_fields);
    }
}

/* The four fields of ntff_info after number 12 whose order is stated [WIRE]. */
static void compare_order(struct comparison *c)
{
    static const char *const types[] = {"notification_buffer_size", "ultraserver_info",
                                        "execution_info", "trace_info"};
    const struct ntff_message_def *m = ntff_schema_message(c->s, "ntff_info");
    const struct ntff_field_def *nodes = ntff_message_field(m, "neff_nodes");
    uint32_t above = 12;
    if (nodes && nodes->number >= 8)
        differ(c, "ntff_info.neff_nodes", "number %u, stated below 8 at grade A [WIRE]",
               nodes->number);
    for (size_t t = 0; t < NTFF_ARRAY_LEN(types); t++) {
        const struct ntff_field_def *f = NULL;
        for (size_t i = 0; m && i < m->n_fields && !f; i++)
            if (m->fields[i].message && strcmp(m->fields[i].message->name, types[t]) == 0)
                f = &m->fields[i];
        if (!f)
            continue;
        if (f->number <= above || f->number > 20) {
            char name[128];
            snprintf(name, sizeof name, "ntff_info.%.100s", f->name);
            differ(c, name, "number %u, stated above %u and at most 20 at grade A [WIRE]",
                   f->number, above);
        }
        above = f->number;
    }
}

/* Ours are prefixed with the name of the enum; theirs may be or not. */
static bool same_value_name(const char *ours, const char *enum_name, const char *theirs)
{
    const char *bare = ours + strlen(enum_name) + 1;
    size_t n = strlen(bare), len = strlen(theirs);
    return len >= n && strcasecmp(theirs + len - n, bare) == 0 &&
           (len == n || theirs[len - n - 1] == '_');
}

static void compare_enum(struct comparison *c, const struct ntff_enum_def *want)
{
    const struct ntff_enum_def *e = ntff_schema_enum(c->s, want->name);
    if (!e) {
        differ(c, want->name, "enum not in this schema");
        return;
    }
    if (strcmp(want->name, "ntrace_data_type") == 0) { /* only the range is known */
        for (size_t i = 0; i < e->n_values; i++)
            if (e->values[i].number < 0 || e->values[i].number > 14)
                differ(c, e->name, "value %d, stated 0 to 14 at grade A [FMT]",
                       e->values[i].number);
        return;
    }
    for (size_t i = 0; i < want->n_values; i++) {
        const struct ntff_enum_value *v = &want->values[i];
        const char *name = ntff_enum_name(e, v->number);
        const char *bare = v->name + strlen(want->name) + 1;
        if (!name)
            differ(c, e->name, "no value %d, stated %s", v->number, bare);
        else if (!same_value_name(v->name, want->name, name))
            differ(c, e->name, "value %d is %.100s, stated %s", v->number, name, bare);
    }
    for (size_t i = 0; i < e->n_values; i++)
        if (!ntff_enum_name(want, e->values[i].number))
            differ(c, e->name, "value %d is %.100s, not stated", e->values[i].number,
                   e->values[i].name);
}

/* Total number of fields per kind [WIRE]. */
static void compare_kinds(struct comparison *c)
{
    static const struct {
        const char *kind;
        size_t n;
    } stated[] = {{"bool", 3},
                  {"bytes", 7},
                  {"string", 21},
                  {"uint32", 40},
                  {"packed uint32", 1},
                  {"uint64", 42},
                  {"optional uint64", 1},
                  {"packed uint64", 1},
                  {"int32", 10},
                  {"int64", 1},
                  {"enum", 17},
                  {"float", 3},
                  {"double", 1},
                  {"singular message", 22},
                  {"repeated message", 30},
                  {"oneof message", 5},
                  {"map", 2},
                  {"other", 0}};
    size_t have[NTFF_ARRAY_LEN(stated)] = {0};
    for (size_t i = 0; i < c->s->n_messages; i++) {
        const struct ntff_message_def *m = &c->s->messages[i];
        for (size_t k = 0; k < m->n_fields && !m->map_entry; k++) {
            const struct ntff_field_def *f = &m->fields[k];
            const char *label = ntff_field_label_text(f);
            char kind[64];
            if (f->message && f->message->map_entry)
                snprintf(kind, sizeof kind, "map");
            else if (f->type == NTFF_T_MESSAGE)
                snprintf(kind, sizeof kind, "%s message", *label ? label : "singular");
            else
                snprintf(kind, sizeof kind, "%s%s%s", f->packed ? "packed" : label,
                         *label ? " " : "", ntff_type_name(f->type));
            size_t t = 0;
            while (t + 1 < NTFF_ARRAY_LEN(stated) && strcmp(kind, stated[t].kind) != 0)
                t++;
            have[t]++;
        }
    }
    for (size_t t = 0; t < NTFF_ARRAY_LEN(stated); t++)
        if (have[t] != stated[t].n) {
            char name[64];
            snprintf(name, sizeof name, "%s fields", stated[t].kind);
            differ(c, name, "%zu, stated %zu", have[t], stated[t].n);
        }
}

#define STATED_FIELDS ((size_t)(155 + 52))

struct counts {
    size_t messages, enums, fields;
};

static struct counts count_file(const struct ntff_schema *s, const char *name)
{
    struct counts n = {0};
    for (size_t k = 0; k < s->n_files; k++) {
        const struct ntff_schema_file *f = &s->files[k];
        if (strcmp(f->name, name) != 0)
            continue;
        n.enums += f->n_enums;
        for (size_t i = f->first_message; i < f->first_message + f->n_messages; i++) {
            n.messages++;
            n.fields += s->messages[i].map_entry ? 0 : s->messages[i].n_fields;
        }
    }
    return n;
}

static void last_line(struct comparison *c)
{
    struct counts a = count_file(c->s, "ntff.proto"), b = count_file(c->s, "neuron_trace.proto");
    ntff_buf_printf(c->out,
                    "compared with runtime " NTFF_SPEC_VERSION
                    " (stated): ntff.proto %zu messages (31), %zu enums (9), %zu fields (155); "
                    "neuron_trace.proto %zu messages (9), %zu enums (3), %zu fields (52); "
                    "%zu of %zu public numbers equal; ",
                    a.messages, a.enums, a.fields, b.messages, b.enums, b.fields, c->r.n_equal,
                    c->r.n_graded);
    if (c->s->origin == NTFF_SCHEMA_BUILTIN)
        ntff_buf_printf(c->out, "%zu fields lacking\n", STATED_FIELDS - a.fields - b.fields);
    else if (c->r.n_differences == 0)
        ntff_buf_printf(c->out, "no differences\n");
    else
        ntff_buf_printf(c->out, "%zu differences: %.*s\n", c->r.n_differences, (int)c->names.len,
                        (const char *)c->names.p);
}

struct ntff_spec_result ntff_spec_compare(const struct ntff_schema *s, struct ntff_buf *out)
{
    struct comparison c = {.s = s, .out = out};
    struct ntff_schema *stated = NULL;
    bool builtin = s->origin == NTFF_SCHEMA_BUILTIN; /* what it lacks is no difference */
    if (!builtin)
        compare_messages(&c);
    for (size_t i = 0; i < ntff_spec_n_fields; i++) {
        const struct ntff_spec_field *f = &ntff_spec_fields[i];
        c.r.n_graded += f->number != 0;
        if (!builtin || ntff_schema_number(s, f->message, f->name))
            compare_field(&c, f);
    }
    compare_order(&c);
    if (ntff_schema_builtin(&stated, NULL) == NTFF_OK)
        for (size_t i = 0; i < stated->n_enums; i++)
            compare_enum(&c, &stated->enums[i]);
    else
        out->failed = true;
    ntff_schema_free(stated);
    if (!builtin)
        compare_kinds(&c);
    last_line(&c);
    out->failed |= c.names.failed;
    ntff_buf_free(&c.names);
    return c.r;
}
