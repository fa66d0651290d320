/* Schemas: descriptors, sets of them and ELF files that hold them. What was read is consistent, can
 * be looked up by name and number, and can be printed. */
#include "tests/fuzz/fuzz.h"

#include "proto/schema.h"
#include "proto/schema_print.h"

#include <string.h>

static void check_message(const struct ntff_schema *s, const struct ntff_message_def *m)
{
    FUZZ_OK(m->name != NULL && ntff_utf8_ok(m->name, strlen(m->name)));
    FUZZ_OK(ntff_schema_message(s, m->name) != NULL);
    for (size_t i = 0; i < m->n_fields; i++) {
        const struct ntff_field_def *f = &m->fields[i];
        FUZZ_OK(f->name != NULL && ntff_utf8_ok(f->name, strlen(f->name)));
        FUZZ_OK(ntff_message_number(m, f->number) != NULL);
        FUZZ_OK(ntff_message_field(m, f->name) != NULL);
        FUZZ_OK(f->oneof < (int32_t)m->n_oneofs);
        FUZZ_OK(i == 0 || m->by_number[i - 1]->number <= m->by_number[i]->number);
    }
}

static void check_schema(const struct ntff_schema *s)
{
    for (size_t i = 0; i < s->n_messages; i++) {
        check_message(s, &s->messages[i]);
        FUZZ_OK(s->messages[i].n_below <= s->n_messages - i - 1);
    }
    for (size_t i = 0; i < s->n_files; i++) {
        const struct ntff_schema_file *f = &s->files[i];
        FUZZ_OK(f->first_message + f->n_messages <= s->n_messages);
        FUZZ_OK(f->first_enum + f->n_enums <= s->n_enums);
    }
    for (size_t i = 0; i < s->n_enums; i++)
        FUZZ_OK(ntff_schema_enum(s, s->enums[i].name) != NULL);
}

/* Both printed forms are ASCII, and a set of descriptors reads back to as much as it was made of.
 */
static void print(const struct ntff_schema *s)
{
    struct ntff_budget budget = {.max_bytes = (size_t)1 << 30};
    struct ntff_buf b = {.budget = &budget};
    for (size_t i = 0; i < s->n_files; i++)
        ntff_schema_print_file(s, &s->files[i], &b);
    ntff_schema_print_table(s, &b);
    if (!ntff_schema_print_merged(s, &b))
        ntff_schema_print_table(s, &b);
    FUZZ_OK(!b.failed);
    for (size_t i = 0; i < b.len; i++)
        FUZZ_OK(b.p[i] == '\n' || (b.p[i] >= 0x20 && b.p[i] < 0x7f));
    ntff_buf_free(&b);
    FUZZ_OK(budget.used_bytes == 0);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return fuzz_mutate_pb(data, size, max_size, seed, FUZZ_SHAPE_RECORDS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ntff_schema *s = NULL;
    struct ntff_error err = {0};
    if (size < FUZZ_CHOICES)
        return 0;
    enum ntff_status status =
        ntff_schema_parse(data + FUZZ_CHOICES, size - FUZZ_CHOICES, "fuzz", &s, &err);
    if (status != NTFF_OK) {
        FUZZ_OK(s == NULL && err.text[0] != '\0');
        FUZZ_OK(status == NTFF_UNSUPPORTED || status == NTFF_MALFORMED || status == NTFF_LIMIT);
        return 0;
    }
    check_schema(s);
    print(s);
    ntff_schema_free(s);
    return 0;
}
