/* The schema: built-in, given and recovered, and what hostile descriptors get. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/schema_print.h"
#include "proto/schema_spec.h"
#include "tests/tap.h"

static const char *source_path(const char *name)
{
    static char path[512];
    const char *src = getenv("SRC");
    snprintf(path, sizeof path, "%s/%s", src ? src : ".", name);
    return path;
}

static struct ntff_schema *builtin(void)
{
    struct ntff_schema *s = NULL;
    struct ntff_error err;
    TAP_EQ_U64(ntff_schema_builtin(&s, &err), NTFF_OK);
    return s;
}

static struct ntff_schema *load(const char *name)
{
    struct ntff_schema *s = NULL;
    struct ntff_error err = {.text = ""};
    if (ntff_schema_load(source_path(name), &s, &err) != NTFF_OK)
        TAP_FAIL("%s", err.text);
    return s;
}

TAP_TEST(builtin_holds_the_graded_fields)
{
    struct ntff_schema *s = builtin();
    TAP_EQ_STR(s->source, "built-in");
    TAP_EQ_U64(s->origin, NTFF_SCHEMA_BUILTIN);
    TAP_EQ_U64(s->n_files, 2);
    TAP_EQ_STR(s->files[0].name, "ntff.proto");
    TAP_EQ_STR(s->files[1].package, "ntff");
    TAP_EQ_U64(s->files[0].n_messages, 31);
    TAP_EQ_U64(s->files[1].n_messages, 9); /* with two map entries */
    TAP_EQ_U64(s->n_notes, 0);
    size_t fields = 0;
    for (size_t i = 0; i < s->n_messages; i++)
        fields += s->messages[i].map_entry ? 0 : s->messages[i].n_fields;
    TAP_EQ_U64(fields, 102); /* 104 with a public number, less two at C */
    TAP_EQ_U64(ntff_schema_number(s, "ntrace_event", "timestamp"), 2);
    TAP_EQ_U64(ntff_schema_number(s, "ntrace_event", "nrta_seq_id"), 16);
    TAP_EQ_U64(ntff_schema_number(s, "subgraph_info", "stream_info"), 17);
    TAP_EQ_U64(ntff_schema_number(s, "trace_info", "trace_offset"), 0);
    TAP_EQ_U64(ntff_schema_number(s, "no_such", "timestamp"), 0);
    ntff_schema_free(s);
}

TAP_TEST(builtin_keeps_labels_types_and_oneofs)
{
    struct ntff_schema *s = builtin();
    const struct ntff_message_def *e = ntff_schema_message(s, "ntrace_event");
    const struct ntff_field_def *f = ntff_message_field(e, "nrta_seq_id");
    TAP_OK(f->optional);
    TAP_EQ_I64(f->oneof, -1);
    TAP_EQ_U64(e->n_oneofs, 0);
    f = ntff_message_number(e, 12);
    TAP_EQ_STR(f->name, "attributes");
    TAP_EQ_U64(f->label, NTFF_L_REPEATED);
    TAP_EQ_STR(f->type_name, "ntrace_event.AttributesEntry");
    TAP_OK(f->message->map_entry);
    TAP_EQ_U64(e->n_below, 1);
    const struct ntff_message_def *n = ntff_schema_message(s, "neff_node_info");
    TAP_EQ_U64(n->n_oneofs, 1);
    TAP_EQ_STR(n->oneofs[ntff_message_field(n, "outcc")->oneof], "node_info");
    TAP_EQ_I64(ntff_message_field(n, "uid")->oneof, -1);
    f = ntff_message_field(ntff_schema_message(s, "notification_buffer_size"), "trace_type");
    TAP_EQ_STR(ntff_enum_name(f->enumeration, 5), "NOTIFICATION_TRACE_TYPE_THROTTLE");
    TAP_OK(!ntff_enum_name(f->enumeration, 6));
    TAP_OK(!ntff_message_number(e, 17));
    ntff_schema_free(s);
}

TAP_TEST(given_set_is_complete)
{
    struct ntff_schema *s = load("tests/data/cases/schema.desc");
    TAP_EQ_U64(s->origin, NTFF_SCHEMA_GIVEN);
    TAP_EQ_U64(s->n_files, 2);
    TAP_EQ_U64(s->n_notes, 0);
    TAP_EQ_U64(ntff_schema_number(s, "trace_info", "trace_offset"), 4);
    TAP_EQ_U64(ntff_schema_number(s, "ntrace_info", "interned_data"), 8);
    const struct ntff_message_def *m = ntff_schema_message(s, "outcc_info");
    TAP_OK(ntff_message_field(m, "participants")->packed);
    TAP_OK(!ntff_message_field(m, "comm_info")->packed);
    TAP_OK(ntff_schema_message(s, "ntrace_event")->fields[15].optional);
    ntff_schema_free(s);
}

/* -- what is known of the real schema -----------------------------------------------------------
 */

/* Two messages have their serialized length on record [FMT]: 22 c3 03 and 22 88 01. They have it
 * only if every name, number and type in them is right. */
TAP_TEST(builtin_messages_have_the_recorded_sizes)
{
    struct ntff_schema *s = builtin();
    TAP_EQ_U64(ntff_schema_message(s, "ntrace_event")->raw.len, 451);
    TAP_EQ_U64(ntff_schema_message(s, "notification_buffer_size")->raw.len, 136);
    ntff_schema_free(s);
}

/* Every row with a number at A, B or B* is in the built-in schema, and nothing else. */
TAP_TEST(builtin_equals_the_table_of_known_fields)
{
    struct ntff_schema *s = builtin();
    struct ntff_buf lines = {0};
    size_t rows = 0, rows_at_c = 0;
    for (size_t i = 0; i < ntff_spec_n_fields; i++) {
        const struct ntff_spec_field *f = &ntff_spec_fields[i];
        if (f->number && f->grade == NTFF_SPEC_C) {
            rows_at_c++;
            TAP_EQ_U64(ntff_schema_number(s, f->message, f->name), 0);
        } else if (f->number) {
            rows++;
            TAP_CONTEXT("%s.%s", f->message, f->name);
            TAP_EQ_U64(ntff_schema_number(s, f->message, f->name), f->number);
        }
    }
    TAP_EQ_U64(rows, 102);
    TAP_EQ_U64(rows_at_c, 2);
    struct ntff_spec_result r = ntff_spec_compare(s, &lines);
    TAP_EQ_U64(r.n_differences, 0);
    TAP_EQ_U64(r.n_equal, 102);
    ntff_buf_free(&lines);
    ntff_schema_free(s);
}

/* "name = 4;  // B* [SER]" in a .proto file: the grade there is the one of the table. */
TAP_TEST(grades_in_the_sources_equal_the_table)
{
    static const char *const files[] = {"proto/ntff.proto", "proto/neuron_trace.proto"};
    char line[512], message[64] = "", name[64], grade[8];
    unsigned n = 0, number;
    for (size_t i = 0; i < 2; i++) {
        FILE *f = fopen(source_path(files[i]), "r");
        TAP_OK(f != NULL);
        while (fgets(line, sizeof line, f)) {
            sscanf(line, "message %63s", message);
            const char *eq = strstr(line, " = "), *comment = strstr(line, "//");
            if (!eq || !comment || eq > comment || sscanf(eq, " = %u;", &number) != 1)
                continue;
            const char *start = eq;
            while (start > line && start[-1] != ' ')
                start--;
            snprintf(name, sizeof name, "%.*s", (int)(eq - start), start);
            TAP_OK(sscanf(comment, "// %7s", grade) == 1);
            TAP_CONTEXT("%s.%s", message, name);
            const struct ntff_spec_field *spec = ntff_spec_find(message, name);
            TAP_OK(spec != NULL);
            TAP_EQ_U64(spec->number, number);
            TAP_EQ_STR(ntff_spec_grade_text(spec->grade), grade);
            TAP_EQ_U64(*spec->type == '?', strstr(comment, "type ?") || strstr(comment, "type C") ||
                                               strstr(comment, "message ?") ||
                                               strstr(comment, "bytes or string") ||
                                               strstr(comment, "message by name"));
            n++;
        }
        fclose(f);
    }
    TAP_EQ_U64(n, 102);
}

TAP_TEST(comparison_names_each_difference)
{
    struct ntff_schema *s = load("tests/data/cases/schema.desc");
    struct ntff_buf lines = {0};
    struct ntff_spec_result r = ntff_spec_compare(s, &lines);
    ntff_buf_add(&lines, "", 1);
    const char *text = (const char *)lines.p;
    TAP_EQ_U64(r.n_graded, 104);
    TAP_EQ_U64(r.n_equal, 104);
    TAP_EQ_U64(r.n_a_changed, 0);
    TAP_OK(strstr(text, "differs: ntff_info: index 30 in its file, stated 1\n"));
    TAP_OK(strstr(text, "differs: uint32 fields: 59, stated 40\n"));
    TAP_OK(strstr(text, "ntff.proto 31 messages (31), 8 enums (9), 151 fields (155)"));
    TAP_OK(
        strstr(text, "104 of 104 public numbers equal; 11 differences: ntff_info, subgraph_info"));
    ntff_buf_free(&lines);
    ntff_schema_free(s);
}

/* -- descriptors made for the occasion ------------------------------------------------------------
 */

struct maker {
    struct ntff_buf b;
};

static void put_varint(struct ntff_buf *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        ntff_buf_add(b, &(uint8_t){(uint8_t)(v | 0x80)}, 1);
    ntff_buf_add(b, &(uint8_t){(uint8_t)v}, 1);
}
static void put_uint(struct ntff_buf *b, unsigned number, uint64_t v)
{
    put_varint(b, number << 3);
    put_varint(b, v);
}
static void put_bytes(struct ntff_buf *b, unsigned number, const void *p, size_t len)
{
    put_varint(b, number << 3 | 2);
    put_varint(b, len);
    ntff_buf_add(b, p, len);
}
static void put_text(struct ntff_buf *b, unsigned number, const char *s)
{
    put_bytes(b, number, s, strlen(s));
}
static void put_sub(struct ntff_buf *b, unsigned number, struct ntff_buf *sub)
{
    put_bytes(b, number, sub->p, sub->len);
    ntff_buf_free(sub);
}

/* A field of a message. type_name NULL = none. */
static void put_field(struct ntff_buf *message, const char *name, uint32_t number, int type,
                      const char *type_name)
{
    struct ntff_buf f = {0};
    put_text(&f, 1, name);
    put_uint(&f, 3, number);
    put_uint(&f, 4, 1);
    put_uint(&f, 5, (uint64_t)type);
    if (type_name)
        put_text(&f, 6, type_name);
    put_sub(message, 2, &f);
}

/* A file of package ntff with n messages m0, m1, ... of one field each. */
static struct ntff_buf small_file(const char *name, int n)
{
    struct ntff_buf b = {0};
    put_text(&b, 1, name);
    put_text(&b, 2, "ntff");
    for (int i = 0; i < n; i++) {
        struct ntff_buf m = {0};
        char text[16];
        snprintf(text, sizeof text, "m%d", i);
        put_text(&m, 1, text);
        put_field(&m, "x", 1, NTFF_T_UINT32, NULL);
        put_sub(&b, 4, &m);
    }
    put_text(&b, 12, "proto3");
    return b;
}

/* A file x.proto with one message `m`, whose inside is given. */
static struct ntff_buf file_with(struct ntff_buf *inside)
{
    struct ntff_buf b = {0}, m = {0};
    put_text(&b, 1, "x.proto");
    put_text(&m, 1, "m");
    ntff_buf_add(&m, inside->p, inside->len);
    ntff_buf_free(inside);
    put_sub(&b, 4, &m);
    put_text(&b, 12, "proto3");
    return b;
}

/* Parses and frees the bytes; the status, *s NULL unless OK. */
static enum ntff_status parse(struct ntff_buf *b, struct ntff_schema **s, struct ntff_error *err)
{
    *s = NULL;
    *err = (struct ntff_error){.offset = NTFF_NO_OFFSET};
    enum ntff_status status = ntff_schema_parse(b->p, b->len, "test", s, err);
    ntff_buf_free(b);
    return status;
}

#define REFUSED(buf, status_, pattern)                                                             \
    do {                                                                                           \
        struct ntff_schema *s_;                                                                    \
        struct ntff_error err_;                                                                    \
        TAP_EQ_U64(parse(buf, &s_, &err_), status_);                                               \
        if (!strstr(err_.text, pattern))                                                           \
            TAP_FAIL("\"%s\" does not say \"%s\"", err_.text, pattern);                            \
    } while (0)

TAP_TEST(nesting_is_limited_before_anything_recurses)
{
    static const int depths[] = {31, 32, 33, 10000, 100000};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(depths); i++) {
        struct ntff_buf inner = {0}, file;
        for (int d = 1; d < depths[i]; d++) { /* from the inside out; quadratic but small */
            struct ntff_buf m = {0};
            if (depths[i] > 1000 && d > 200)
                break;
            put_text(&m, 1, "m");
            ntff_buf_add(&m, inner.p, inner.len);
            ntff_buf_free(&inner);
            put_sub(&inner, 3, &m);
        }
        file = file_with(&inner);
        struct ntff_schema *s;
        struct ntff_error err;
        TAP_CONTEXT("%d deep", depths[i]);
        enum ntff_status status = parse(&file, &s, &err);
        TAP_EQ_U64(status, depths[i] <= 32 ? NTFF_OK : NTFF_LIMIT);
        ntff_schema_free(s);
    }
}

TAP_TEST(numbers_are_unique_and_in_range)
{
    struct ntff_buf in = {0}, file;
    put_field(&in, "a", 7, NTFF_T_UINT32, NULL);
    put_field(&in, "b", 7, NTFF_T_UINT32, NULL);
    file = file_with(&in);
    REFUSED(&file, NTFF_MALFORMED, "two fields with number 7: a and b");
    put_field(&in, "a", 0, NTFF_T_UINT32, NULL);
    file = file_with(&in);
    REFUSED(&file, NTFF_MALFORMED, "number 0");
    put_field(&in, "a", 0x20000000, NTFF_T_UINT32, NULL);
    file = file_with(&in);
    REFUSED(&file, NTFF_MALFORMED, "number 536870912");
    put_field(&in, "a", 1, 19, NULL);
    file = file_with(&in);
    REFUSED(&file, NTFF_MALFORMED, "type 19");
}

TAP_TEST(names_are_identifiers)
{
    static const char *const bad[] = {"", "a b", "a.b", "1a", "a\n", "a\x1b[31m", "\xc3\xa9", "a;"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(bad); i++) {
        struct ntff_buf in = {0}, file;
        TAP_CONTEXT("name %zu", i);
        put_field(&in, bad[i], 1, NTFF_T_UINT32, NULL);
        file = file_with(&in);
        REFUSED(&file, NTFF_MALFORMED, "no identifier");
    }
    struct ntff_buf in = {0}, file;
    char longest[300];
    memset(longest, 'a', sizeof longest);
    longest[256] = '\0';
    put_field(&in, longest, 1, NTFF_T_UINT32, NULL);
    file = file_with(&in);
    REFUSED(&file, NTFF_MALFORMED, "no identifier");
    struct ntff_buf b = {0};
    put_text(&b, 1, "x\".proto");
    put_text(&b, 12, "proto3");
    REFUSED(&b, NTFF_MALFORMED, "no plain text");
}

TAP_TEST(missing_types_are_kept_as_bytes_and_noted)
{
    struct ntff_buf in = {0}, file;
    struct ntff_schema *s;
    struct ntff_error err;
    put_field(&in, "a", 1, NTFF_T_MESSAGE, ".ntff.nowhere");
    put_field(&in, "b", 2, NTFF_T_ENUM, ".other.nothing");
    put_field(&in, "self", 3, NTFF_T_MESSAGE, ".m");
    file = file_with(&in);
    TAP_EQ_U64(parse(&file, &s, &err), NTFF_OK);
    const struct ntff_message_def *m = ntff_schema_message(s, "m");
    TAP_OK(!ntff_message_field(m, "a")->message);
    TAP_OK(!ntff_message_field(m, "b")->enumeration);
    TAP_OK(ntff_message_field(m, "self")->message == m); /* a cycle is fine */
    TAP_EQ_U64(s->n_notes, 3);                           /* the third: nothing of NTFF is in it */
    TAP_EQ_STR(s->notes[0], "m.a has type ntff.nowhere, which is not defined here");
    ntff_schema_free(s);

    put_field(&in, "a", 1, NTFF_T_MESSAGE, ".ntff.\x1b");
    file = file_with(&in);
    REFUSED(&file, NTFF_MALFORMED, "no valid type name");
    put_field(&in, "a", 1, NTFF_T_MESSAGE, NULL);
    file = file_with(&in);
    REFUSED(&file, NTFF_MALFORMED, "no valid type name");
}

TAP_TEST(twice_the_same_name_is_refused)
{
    struct ntff_buf b = {0}, m = {0};
    put_text(&b, 1, "x.proto");
    put_text(&m, 1, "m");
    put_bytes(&b, 4, m.p, m.len);
    put_sub(&b, 4, &m);
    REFUSED(&b, NTFF_MALFORMED, "message m is defined twice");
    struct ntff_buf f = small_file("x.proto", 1), set = {0};
    put_bytes(&set, 1, f.p, f.len);
    put_sub(&set, 1, &f);
    REFUSED(&set, NTFF_MALFORMED, "x.proto: two descriptors of this file");
}

TAP_TEST(oneof_index_is_checked)
{
    struct ntff_buf f = {0}, in = {0}, file;
    put_text(&f, 1, "a");
    put_uint(&f, 3, 1);
    put_uint(&f, 5, NTFF_T_UINT32);
    put_uint(&f, 9, 3);
    put_sub(&in, 2, &f);
    file = file_with(&in);
    REFUSED(&file, NTFF_MALFORMED, "is in oneof 3, the message has 0");
}

TAP_TEST(wrong_wire_types_are_refused_with_their_offset)
{
    struct ntff_buf b = {0};
    struct ntff_schema *s;
    struct ntff_error err;
    put_text(&b, 1, "x.proto"); /* 9 bytes */
    put_uint(&b, 4, 7);
    TAP_EQ_U64(parse(&b, &s, &err), NTFF_MALFORMED);
    TAP_EQ_U64(err.offset, 9);
    TAP_EQ_STR(err.text,
               "test: offset 0x9: x.proto: descriptor field 4 has wire type 0, expected 2");
}

TAP_TEST(huge_descriptors_are_over_a_limit)
{
    struct ntff_buf b = {0};
    char *big = calloc(1, 9 << 20);
    put_text(&b, 1, "x.proto");
    put_bytes(&b, 9, big, 9 << 20);
    free(big);
    REFUSED(&b, NTFF_LIMIT, "at most 8388608 are read");
}

static uint64_t rng = 88172645463325252u;
static uint64_t rnd(uint64_t n)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return rng % n;
}

static struct ntff_buf read_file(const char *path)
{
    struct ntff_buf b = {0};
    char piece[4096];
    FILE *f = fopen(path, "rb");
    TAP_OK(f != NULL);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f)) > 0;)
        ntff_buf_add(&b, piece, n);
    fclose(f);
    TAP_OK(!b.failed);
    return b;
}

/* Prints whatever still parses in all forms: none of them may trip over it. */
static void print_all(const struct ntff_schema *s)
{
    struct ntff_buf out = {0};
    for (size_t i = 0; i < s->n_files; i++)
        ntff_schema_print_file(s, &s->files[i], &out);
    ntff_schema_print_merged(s, &out);
    ntff_schema_print_table(s, &out);
    ntff_schema_print_set(s, &out);
    ntff_spec_compare(s, &out);
    TAP_OK(!out.failed);
    ntff_buf_free(&out);
}

TAP_TEST(damaged_descriptors_never_hurt)
{
    struct ntff_buf good = read_file(source_path("tests/data/cases/schema.desc"));
    unsigned parsed = 0;
    for (int round = 0; round < 1500; round++) {
        uint8_t *copy = malloc(good.len);
        size_t len = rnd(3) ? good.len : rnd(good.len);
        memcpy(copy, good.p, len);
        for (uint64_t n = rnd(6); n && len; n--)
            copy[rnd(len)] = (uint8_t)(rnd(2) ? rnd(256) : rnd(32));
        struct ntff_schema *s = NULL;
        struct ntff_error err;
        enum ntff_status status = ntff_schema_parse(copy, len, "x", &s, &err);
        free(copy);
        if (status == NTFF_OK) {
            parsed++;
            if (parsed % 8 == 0)
                print_all(s);
            ntff_schema_free(s);
        }
    }
    TAP_OK(parsed > 100);
    ntff_buf_free(&good);
}

/* -- inside other files
 * ---------------------------------------------------------------------------- */

static void put_zeros(struct ntff_buf *b, size_t n)
{
    for (; n; n--)
        ntff_buf_add(b, "", 1);
}

/* The two descriptors of schema.desc. */
static struct ntff_slice descriptor(const struct ntff_buf *set, int n)
{
    struct ntff_schema *s = NULL;
    TAP_EQ_U64(ntff_schema_parse(set->p, set->len, "x", &s, NULL), NTFF_OK);
    struct ntff_slice raw = {(const char *)set->p + s->files[n].offset, s->files[n].raw.len};
    ntff_schema_free(s);
    return raw;
}

TAP_TEST(descriptors_are_found_in_any_bytes)
{
    struct ntff_buf set = read_file(source_path("tests/data/cases/schema.desc")), b = {0};
    struct ntff_slice ntff = descriptor(&set, 0), trace = descriptor(&set, 1);
    struct ntff_schema *s;
    struct ntff_error err;
    put_zeros(&b, 1001);
    ntff_buf_add(&b, trace.p, trace.len); /* the other way round, unaligned, garbage behind */
    ntff_buf_add(&b, "p\x7f\x22zzz.proto\x12\x04ntff", 15);
    ntff_buf_add(&b, ntff.p, ntff.len);
    put_zeros(&b, 3);
    uint64_t at = 1001 + trace.len + 15;
    TAP_EQ_U64(parse(&b, &s, &err), NTFF_OK);
    TAP_EQ_U64(s->origin, NTFF_SCHEMA_RECOVERED);
    TAP_EQ_U64(s->n_files, 2);
    TAP_EQ_STR(s->files[0].name, "ntff.proto");
    TAP_EQ_U64(s->files[0].offset, at);
    TAP_EQ_MEM(s->files[0].raw.p, s->files[0].raw.len, ntff.p, ntff.len);
    TAP_EQ_MEM(s->files[1].raw.p, s->files[1].raw.len, trace.p, trace.len);
    TAP_EQ_U64(s->files[1].offset, 1001);
    ntff_schema_free(s);
    ntff_buf_free(&set);
}

TAP_TEST(of_several_descriptors_the_nearest_to_the_totals_wins)
{
    struct ntff_buf set = read_file(source_path("tests/data/cases/schema.desc")), b = {0};
    struct ntff_slice ntff = descriptor(&set, 0);
    struct ntff_buf decoy = small_file("ntff.proto", 3);
    struct ntff_schema *s;
    struct ntff_error err;
    put_zeros(&b, 10);
    ntff_buf_add(&b, ntff.p, ntff.len / 2); /* cut: what follows is not its end */
    put_zeros(&b, 2);
    ntff_buf_add(&b, decoy.p, decoy.len);
    ntff_buf_add(&b, ntff.p, ntff.len);
    ntff_buf_add(&b, ntff.p, ntff.len); /* the same again is no second one */
    ntff_buf_add(&b, decoy.p, decoy.len);
    TAP_EQ_U64(parse(&b, &s, &err), NTFF_OK);
    TAP_EQ_U64(s->n_files, 1);
    TAP_EQ_U64(s->n_messages, 31);
    TAP_OK(s->n_notes >= 2);
    unsigned skipped = 0, several = 0;
    for (size_t i = 0; i < s->n_notes; i++) {
        skipped += strstr(s->notes[i], "skipped what begins like a descriptor at 0xa") != NULL;
        several += strstr(s->notes[i], "several descriptors of ntff.proto") != NULL;
    }
    TAP_EQ_U64(skipped, 1);
    TAP_OK(several >= 1);
    ntff_schema_free(s);
    ntff_buf_free(&decoy);
    ntff_buf_free(&set);
}

TAP_TEST(a_descriptor_that_is_cut_is_refused_with_its_offset)
{
    struct ntff_buf b = {0}, f = small_file("ntff.proto", 5);
    struct ntff_schema *s;
    struct ntff_error err;
    put_zeros(&b, 100);
    ntff_buf_add(&b, f.p, f.len - 12);
    TAP_EQ_U64(parse(&b, &s, &err), NTFF_MALFORMED);
    TAP_EQ_U64(err.offset, 100);
    TAP_OK(strstr(err.text, "ntff.proto: descriptor is cut (length goes past the end)"));
    ntff_buf_free(&f);
}

/* ELF header, one section of `size` bytes at 256, the section table behind the data. */
static struct ntff_buf elf_around(const struct ntff_buf *data, size_t section_size, bool wide,
                                  bool big)
{
    struct ntff_buf b = {0};
    size_t table = 256 + data->len, entry = wide ? 64 : 40;
    uint8_t head[256] = "\x7f"
                        "ELF";
    uint8_t sections[128] = {0};
#define PUT(at, value, n)                                                                          \
    for (unsigned i_ = 0; i_ < (n); i_++)                                                          \
    (at)[big ? (n)-1 - i_ : i_] = (uint8_t)((uint64_t)(value) >> 8 * i_)
    head[4] = wide ? 2 : 1;
    head[5] = big ? 2 : 1;
    PUT(head + (wide ? 0x28 : 0x20), table, wide ? 8u : 4u);
    PUT(head + (wide ? 0x3a : 0x2e), entry, 2u);
    PUT(head + (wide ? 0x3c : 0x30), 2, 2u);
    uint8_t *one = sections + entry;
    PUT(one + 4, 1, 4u); /* PROGBITS */
    PUT(one + (wide ? 0x18 : 0x10), 256, wide ? 8u : 4u);
    PUT(one + (wide ? 0x20 : 0x14), section_size, wide ? 8u : 4u);
#undef PUT
    ntff_buf_add(&b, head, sizeof head);
    ntff_buf_add(&b, data->p, data->len);
    ntff_buf_add(&b, sections, 2 * entry);
    return b;
}

TAP_TEST(sections_bound_descriptors_in_every_kind_of_elf)
{
    for (int kind = 0; kind < 4; kind++) {
        struct ntff_buf f = small_file("ntff.proto", 4), b;
        struct ntff_schema *s;
        struct ntff_error err;
        TAP_CONTEXT("%d bits, %s-endian", kind & 1 ? 64 : 32, kind & 2 ? "big" : "little");
        b = elf_around(&f, f.len, kind & 1, kind & 2);
        TAP_EQ_U64(parse(&b, &s, &err), NTFF_OK);
        TAP_EQ_U64(s->origin, NTFF_SCHEMA_RECOVERED);
        TAP_EQ_U64(s->n_messages, 4);
        TAP_EQ_U64(s->files[0].offset, 256);
        ntff_schema_free(s);
        /* the section ends within the last message: cut there, whatever the file goes on with */
        b = elf_around(&f, f.len - 10, kind & 1, kind & 2);
        TAP_EQ_U64(parse(&b, &s, &err), NTFF_MALFORMED);
        TAP_EQ_U64(err.offset, 256);
        ntff_buf_free(&f);
    }
}

TAP_TEST(broken_elf_headers_do_not_matter)
{
    for (int round = 0; round < 2000; round++) {
        struct ntff_buf f = small_file("ntff.proto", 4), b;
        struct ntff_schema *s;
        struct ntff_error err;
        b = elf_around(&f, f.len, round & 1, round & 2);
        for (uint64_t n = 1 + rnd(8); n; n--)
            b.p[rnd(2) ? 4 + rnd(60) : 256 + f.len + rnd(b.len - 256 - f.len)] = (uint8_t)rnd(256);
        enum ntff_status status = parse(&b, &s, &err);
        TAP_OK(status == NTFF_OK || status == NTFF_MALFORMED); /* a section may now end too early */
        ntff_schema_free(s);
        ntff_buf_free(&f);
    }
}

TAP_TEST(a_flood_of_look_alikes_ends)
{
    struct ntff_buf b = {0};
    struct ntff_schema *s;
    struct ntff_error err;
    put_zeros(&b, 1);
    for (int i = 0; i < 100000; i++) /* each begins like a descriptor and leads nowhere */
        ntff_buf_add(&b, "\x0a\x0antff.proto\x12\x04ntff\x22\xff\xff\x03", 22);
    TAP_EQ_U64(parse(&b, &s, &err), NTFF_MALFORMED);
}

TAP_TEST(other_files_are_told_apart)
{
    static const struct {
        const char *bytes;
        size_t len;
        const char *says;
    } rows[] = {
        {"", 0, "no schema: expected"},
        {"\x7f"
         "ELF\2\1\1\0\0\0\0\0\0\0\0\0",
         16, "an ELF file without the descriptors"},
        {"hello", 5, "no schema: expected"},
        {"\x0a", 1, "no schema: expected"},
        {"\x0a\x05hello", 7, "defines nothing"},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(rows); i++) {
        struct ntff_schema *s = NULL;
        struct ntff_error err = {.text = ""};
        enum ntff_status status = ntff_schema_parse(rows[i].bytes, rows[i].len, "hello", &s, &err);
        TAP_CONTEXT("row %zu", i);
        TAP_EQ_U64(status, NTFF_UNSUPPORTED);
        TAP_OK(strstr(err.text, rows[i].says));
    }
}

TAP_MAIN()
