/* dump_names - message definitions completed by what was found in the data.
 *
 * The walk of dump.c knows only definitions. Where a test found a number that the schema lacks, a
 * copy of the definition with that field in it is laid over the schema's; the text then says so
 * once, in a comment, since such a name is only as sure as the test. */
#include "proto/dump_priv.h"

#include <stdlib.h>
#include <string.h>

static int by_number(const void *a, const void *b)
{
    const struct ntff_field_def *x = *(const struct ntff_field_def *const *)a;
    const struct ntff_field_def *y = *(const struct ntff_field_def *const *)b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Sets by_number of a definition whose fields have been filled in. */
static bool index_fields(struct ntff_dump_job *j, struct ntff_message_def *m)
{
    const struct ntff_field_def **by = ntff_arena_alloc(&j->arena, (m->n_fields + 1) * sizeof *by);
    if (!by)
        return false;
    for (size_t i = 0; i < m->n_fields; i++)
        by[i] = &m->fields[i];
    if (m->n_fields)
        qsort(by, m->n_fields, sizeof *by, by_number);
    m->by_number = by;
    return true;
}

static bool overlay(struct ntff_dump_job *j, const struct ntff_message_def *schema_def,
                    const struct ntff_message_def *use)
{
    if (!schema_def || j->n_overlays == NTFF_DUMP_MAX_OVERLAYS)
        return true;
    j->overlays[j->n_overlays++] = (struct ntff_dump_overlay){schema_def, use};
    j->d->overlays = j->overlays;
    j->d->n_overlays = j->n_overlays;
    return true;
}

bool ntff_dump_found(struct ntff_dump_job *j, const char *name,
                     const struct ntff_found_field *found, size_t n)
{
    const struct ntff_schema *s = j->opt.schema;
    const struct ntff_message_def *m = ntff_schema_message(s, name);
    if (!m)
        return true;
    struct ntff_message_def *use = ntff_arena_alloc(&j->arena, sizeof *use);
    struct ntff_field_def *f = ntff_arena_alloc(&j->arena, (m->n_fields + n) * sizeof *f);
    if (!use || !f)
        return false;
    *use = *m;
    if (m->n_fields)
        memcpy(f, m->fields, m->n_fields * sizeof *f);
    use->fields = f;
    for (size_t i = 0; i < n; i++) {
        const struct ntff_found_field *a = &found[i];
        if (!a->number || ntff_message_number(m, a->number) || ntff_message_field(m, a->name))
            continue;
        f[use->n_fields++] = (struct ntff_field_def){
            .name = a->name,
            .number = a->number,
            .type = (uint8_t)a->type,
            .label = NTFF_L_SINGULAR,
            .oneof = -1,
            .type_name = a->type_name,
            .message = a->type == NTFF_T_MESSAGE ? ntff_schema_message(s, a->type_name) : NULL,
            .enumeration = a->type == NTFF_T_ENUM ? ntff_schema_enum(s, a->type_name) : NULL};
        ntff_dump_comment(j->d, "found by test: %s.%s = %u", name, a->name, a->number);
    }
    return index_fields(j, use) && overlay(j, m, use);
}

bool ntff_dump_renumber(struct ntff_dump_job *j, const struct ntff_event_plan *plan)
{
    const struct ntff_message_def *m = ntff_schema_message(j->opt.schema, "ntrace_event");
    if (!j->builtin && ntff_schema_builtin(&j->builtin, j->err) != NTFF_OK)
        return false;
    const struct ntff_message_def *base = ntff_schema_message(j->builtin, "ntrace_event");
    struct ntff_message_def *use = ntff_arena_alloc(&j->arena, sizeof *use);
    struct ntff_field_def *f = ntff_arena_alloc(&j->arena, NTFF_PLAN_DIRECT * sizeof *f);
    if (!use || !f)
        return false;
    *use = *base;
    use->fields = f;
    use->n_fields = 0;
    for (uint32_t number = 1; number < NTFF_PLAN_DIRECT; number++) {
        const char *name = ntff_slot_name(plan->slot[number]);
        const struct ntff_field_def *have = name ? ntff_message_field(base, name) : NULL;
        if (!have)
            continue;
        f[use->n_fields] = *have;
        f[use->n_fields++].number = number;
    }
    return index_fields(j, use) && overlay(j, m, use);
}
