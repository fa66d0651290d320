/* The schema: built-in, given and recovered, and what hostile descriptors get. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/schema.h"
#include "tests/tap.h"

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
    char path[512];
    const char *src = getenv("SRC");
    snprintf(path, sizeof path, "%s/tests/data/%s", src ? src : ".", name);
    if (ntff_schema_load(path, &s, &err) != NTFF_OK)
        TAP_FAIL("%s: %s", path, err.text);
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
    struct ntff_schema *s = load("cases/schema.desc");
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

TAP_MAIN()
