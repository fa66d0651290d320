/* dump_file - see dump_file.h.
 *
 * What a file is comes from its content: the container header of an .ntff, else the tests of
 * probe.c, else whether the bytes are protobuf messages at all, bare or behind lengths. Where the
 * schema lacks numbers and the tests found them, the message definitions are overlaid with what was
 * found, and a comment says so: names in the text are then as sure as the test. */
#include "proto/dump_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/build.h"
#include "proto/probe.h"
#include "proto/schema_priv.h"
#include "proto/wire.h"

#define HEADER_BYTES 128
#define MAX_OVERLAYS 8

struct job {
    struct ntff_dump *d;
    const struct ntff_input *in;
    const struct ntff_dump_options *opt;
    struct ntff_error *err;
    struct ntff_schema *builtin; /* loaded when a given schema does not fit */
    struct ntff_arena arena;
    struct ntff_dump_overlay overlays[MAX_OVERLAYS];
    size_t n_overlays;
};

static enum ntff_status not_protobuf(struct job *j, const char *what)
{
    return ntff_fail(j->err, NTFF_NOTHING, NTFF_NO_OFFSET, "%s: %s", j->in->path, what);
}

static enum ntff_status nomem(struct job *j)
{
    return ntff_fail(j->err, NTFF_NOMEM, NTFF_NO_OFFSET, "out of memory");
}

/* -- definitions completed by what was found -------------------------------------------------- */

/* A field that the schema lacks. */
struct found_field {
    const char *name;
    uint32_t number; /* 0 = not found */
    int type;
    const char *message; /* for type MESSAGE */
};

static int by_number(const struct ntff_field_def *a, const struct ntff_field_def *b)
{
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Rising by_number of a definition whose fields have been filled in. n is small. */
static bool index_fields(struct job *j, struct ntff_message_def *m)
{
    const struct ntff_field_def **by = ntff_arena_alloc(&j->arena, (m->n_fields + 1) * sizeof *by);
    if (!by)
        return false;
    for (size_t i = 0; i < m->n_fields; i++) {
        size_t k = i;
        for (; k > 0 && by_number(by[k - 1], &m->fields[i]) > 0; k--)
            by[k] = by[k - 1];
        by[k] = &m->fields[i];
    }
    m->by_number = by;
    return true;
}

static bool overlay(struct job *j, const struct ntff_message_def *schema_def,
                    const struct ntff_message_def *use)
{
    if (!schema_def || j->n_overlays == MAX_OVERLAYS)
        return true;
    j->overlays[j->n_overlays++] = (struct ntff_dump_overlay){schema_def, use};
    j->d->overlays = j->overlays;
    j->d->n_overlays = j->n_overlays;
    return true;
}

static bool has_number(const struct ntff_message_def *m, uint32_t number)
{
    return ntff_message_number(m, number) != NULL;
}

/* Adds found fields to message `name`, where the schema has neither the name nor the number. */
static bool add_found(struct job *j, const char *name, const struct found_field *found, size_t n)
{
    const struct ntff_message_def *m = ntff_schema_message(j->opt->schema, name);
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
        const struct found_field *a = &found[i];
        if (!a->number || has_number(m, a->number) || ntff_message_field(m, a->name))
            continue;
        f[use->n_fields++] = (struct ntff_field_def){
            .name = a->name,
            .number = a->number,
            .type = (uint8_t)a->type,
            .label = NTFF_L_SINGULAR,
            .oneof = -1,
            .message = a->message ? ntff_schema_message(j->opt->schema, a->message) : NULL};
        ntff_dump_comment(j->d, "found by test: %s.%s = %u", name, a->name, a->number);
    }
    return index_fields(j, use) && overlay(j, m, use);
}

/* ntrace_event as a numbering other than the schema's has it: the built-in field types, other
 * numbers. */
static bool renumber_event(struct job *j, const struct ntff_event_plan *plan)
{
    const struct ntff_message_def *m = ntff_schema_message(j->opt->schema, "ntrace_event");
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

/* -- records ---------------------------------------------------------------------------------- */

static uint64_t offset_of(const struct job *j, const uint8_t *p)
{
    return (uint64_t)(p - j->in->data);
}

static enum ntff_status one_message(struct job *j, const char *name,
                                    const struct ntff_message_def *def, const uint8_t *msg,
                                    size_t len)
{
    if (j->opt->offsets)
        ntff_dump_comment(j->d, "offset 0x%" PRIx64 ", %zu bytes", offset_of(j, msg), len);
    return ntff_dump_message(j->d, name, j->opt->raw ? NULL : def, msg, len);
}

/* What is left behind the last whole record of a stream: the beginning of another one, or something
 * else. */
static enum ntff_status torn_record(struct job *j, const char *name,
                                    const struct ntff_message_def *def, uint64_t off,
                                    enum ntff_framing framing)
{
    const uint8_t *p = j->in->data + off, *end = j->in->data + j->in->len;
    uint64_t want = 0;
    size_t width = framing == NTFF_FRAME_U32 ? 4 : 8;
    if (framing == NTFF_FRAME_VARINT)
        p = ntff_varint(p, end, &want);
    else if ((size_t)(end - p) >= width)
        want = width == 4 ? ntff_le32(p) : ntff_le64(p), p += width;
    else
        p = NULL;
    j->d->n_damaged++;
    if (!p) {
        ntff_dump_comment(j->d,
                          "torn at offset 0x%" PRIx64 ": %" PRIu64 " bytes, not even a length", off,
                          j->in->len - off);
        return NTFF_OK;
    }
    ntff_dump_comment(j->d,
                      "torn at offset 0x%" PRIx64 ": a record of %" PRIu64 " bytes, %zu are there",
                      off, want, (size_t)(end - p));
    return one_message(j, name, def, p, (size_t)(end - p));
}

static enum ntff_status stream(struct job *j, const char *name, const struct ntff_message_def *def,
                               enum ntff_framing framing)
{
    const uint8_t *msg;
    size_t len;
    uint64_t off = 0, next, n = 0;
    enum ntff_status status = NTFF_OK;
    for (; status == NTFF_OK && off < j->in->len; off = next, n++) {
        next = ntff_frame_next(j->in->data, j->in->len, off, framing, &msg, &len);
        if (next == 0)
            return torn_record(j, name, def, off, framing);
        status = one_message(j, name, def, msg, len);
    }
    return status;
}

static enum ntff_status records(struct job *j, const char *name, const struct ntff_message_def *def,
                                enum ntff_framing framing)
{
    if (framing == NTFF_FRAME_BARE)
        return one_message(j, name, def, j->in->data, (size_t)j->in->len);
    return stream(j, name, def, framing);
}

/* -- kinds of files --------------------------------------------------------------------------- */

static void about(struct job *j, const char *what)
{
    ntff_dump_comment(j->d, "%s: %s, %" PRIu64 " bytes%s", j->in->path, what, j->in->len,
                      j->in->gzip ? " unpacked from gzip" : "");
    if (j->in->damaged) {
        ntff_dump_comment(j->d, "damaged: %s; what was unpacked before is shown", j->in->why);
        j->d->n_damaged++;
    }
    if (j->opt->raw)
        ntff_dump_comment(j->d, "fields by number only");
    else
        ntff_dump_comment(j->d, "schema: %s", j->opt->schema->source);
}

static enum ntff_status dump_probed(struct job *j, const struct ntff_probe *p)
{
    static const char *const roots[] = {
        [NTFF_FILE_NTRACE] = "ntrace_event",
        [NTFF_FILE_TRACE_INFO] = "ntrace_info",
        [NTFF_FILE_CPU_UTIL] = "cpu_util",
        [NTFF_FILE_HOST_MEM] = "host_mem_usage",
    };
    const char *name = p->framing == NTFF_FRAME_BARE ? "ntrace_info" : roots[p->kind];
    bool events = p->kind == NTFF_FILE_NTRACE, ok = true;
    about(j, ntff_file_kind_name(p->kind));
    ntff_dump_comment(j->d, "framing: %s%s", ntff_framing_name(p->framing),
                      p->exact ? "" : ", which does not hold to the end");
    if (p->misfit)
        ntff_dump_comment(j->d, "the schema does not fit this file: numbers were found by test");
    if (events)
        ntff_dump_comment(j->d, "numbering of ntrace_event: %s",
                          ntff_numbering_name(p->plan.numbering));
    bool builtin = j->opt->schema->origin == NTFF_SCHEMA_BUILTIN;
    bool other =
        p->plan.numbering != NTFF_NUM_SCHEMA && (p->plan.numbering != NTFF_NUM_TABLE || !builtin);
    if (j->opt->raw)
        return records(j, name, NULL, p->framing);
    if (events && other)
        ok = renumber_event(j, &p->plan);
    if (p->framing == NTFF_FRAME_BARE)
        ok = ok &&
             add_found(
                 j, "ntrace_info",
                 (const struct found_field[]){
                     {"events", p->n_events, NTFF_T_MESSAGE, "ntrace_event"},
                     {"interned_data", p->n_interned, NTFF_T_MESSAGE, "interned_data_db"},
                     {"collected_profiles", p->n_profiles, NTFF_T_MESSAGE, "ntrace_data_file"}},
                 3);
    else if (p->kind == NTFF_FILE_CPU_UTIL)
        ok = ok &&
             add_found(j, name,
                       (const struct found_field[]){{"util", p->n_value, NTFF_T_FLOAT, NULL},
                                                    {"timestamp", p->n_time, NTFF_T_UINT64, NULL}},
                       2);
    else if (p->kind == NTFF_FILE_HOST_MEM)
        ok = ok &&
             add_found(j, name,
                       (const struct found_field[]){{"usage", p->n_value, NTFF_T_INT64, NULL},
                                                    {"timestamp", p->n_time, NTFF_T_UINT64, NULL}},
                       2);
    if (!ok)
        return nomem(j);
    return records(j, name, ntff_schema_message(j->opt->schema, name), p->framing);
}

/* True if every record of this framing is a message, up to the end of the file. */
static bool all_messages(const struct ntff_input *in, enum ntff_framing framing)
{
    const uint8_t *msg;
    size_t len;
    uint64_t off = 0, next;
    if (framing == NTFF_FRAME_BARE)
        return ntff_wire_plausible(in->data, (size_t)in->len);
    for (; off < in->len; off = next) {
        next = ntff_frame_next(in->data, in->len, off, framing, &msg, &len);
        if (next == 0 || len == 0 || !ntff_wire_plausible(msg, len))
            return false;
    }
    return true;
}

/* A type the user named, or protobuf of no kind we know. */
static enum ntff_status dump_other(struct job *j, const struct ntff_message_def *def,
                                   const char *name)
{
    for (int framing = NTFF_FRAME_BARE; framing <= NTFF_FRAME_U64; framing++) {
        if (!all_messages(j->in, (enum ntff_framing)framing))
            continue;
        about(j, def ? "read as asked" : "protobuf of a kind that is not known here");
        ntff_dump_comment(j->d, "framing: %s", ntff_framing_name(framing));
        return records(j, name, def, (enum ntff_framing)framing);
    }
    if (def) {
        about(j, "read as asked, in spite of damage");
        return records(j, name, def, NTFF_FRAME_BARE);
    }
    return not_protobuf(j, "no protobuf: neither a message nor records behind lengths to its end");
}

/* -- .ntff ------------------------------------------------------------------------------------ */

/* True if the file has the header of a container: version, length, then zeros up to 128 [FMT]. */
static bool is_container(const struct ntff_input *in)
{
    static const uint8_t zeros[HEADER_BYTES - 9];
    return in->len >= HEADER_BYTES && in->data[0] != 0 &&
           memcmp(in->data + 9, zeros, sizeof zeros) == 0 &&
           ntff_le64(in->data + 1) <= UINT64_C(1) << 40;
}

static enum ntff_status dump_container(struct job *j)
{
    const uint8_t *data = j->in->data;
    uint64_t want = ntff_le64(data + 1), there = j->in->len - HEADER_BYTES;
    uint64_t len = want < there ? want : there;
    about(j, "ntff device profile");
    ntff_dump_comment(j->d, "format version %u%s; message of %" PRIu64 " bytes at offset 0x%x",
                      data[0], data[0] <= 6 ? "" : " (known are 1 to 6)", want, HEADER_BYTES);
    if (len < want) {
        ntff_dump_comment(j->d, "cut: %" PRIu64 " bytes of the message are there", len);
        j->d->n_damaged++;
    }
    enum ntff_status status =
        one_message(j, "ntff_info", ntff_schema_message(j->opt->schema, "ntff_info"),
                    data + HEADER_BYTES, (size_t)len);
    if (status == NTFF_OK)
        ntff_dump_comment(
            j->d, "instruction and notification sections: %" PRIu64 " bytes at offset 0x%" PRIx64,
            there - len, HEADER_BYTES + len);
    return status;
}

/* -- the whole -------------------------------------------------------------------------------- */

static enum ntff_status dump_any(struct job *j)
{
    const struct ntff_input *in = j->in;
    struct ntff_probe probe;
    if (j->opt->type) {
        const struct ntff_message_def *def = ntff_schema_message(j->opt->schema, j->opt->type);
        if (!def)
            return ntff_fail(j->err, NTFF_INVALID, NTFF_NO_OFFSET,
                             "no message %s in the schema (%s)", j->opt->type,
                             j->opt->schema->source);
        return dump_other(j, def, j->opt->type);
    }
    if (in->len == 0) {
        about(j, "empty file");
        return NTFF_OK;
    }
    if (is_container(in))
        return dump_container(j);
    if (ntff_is_elf(in->data, (size_t)in->len))
        return not_protobuf(j, "an ELF file; ntff-conv schema --from reads the schema in it");
    if (ntff_json_sniff(ntff_input_head(in)))
        return not_protobuf(j, "JSON, which is text already");
    if (ntff_probe_raw112(in->data, in->len)) {
        about(j, ntff_file_kind_name(NTFF_FILE_RAW112));
        ntff_dump_records(j->d, in, j->opt->offsets);
        return NTFF_OK;
    }
    if (ntff_probe_pb(in->data, in->len, j->opt->schema, &probe))
        return dump_probed(j, &probe);
    return dump_other(j, NULL, "message");
}

enum ntff_status ntff_dump_file(struct ntff_dump *d, const struct ntff_input *in,
                                const struct ntff_dump_options *opt, struct ntff_error *err)
{
    struct job j = {.d = d, .in = in, .opt = opt, .err = err};
    d->base = in->data;
    d->base_off = 0;
    enum ntff_status status = dump_any(&j);
    enum ntff_status flushed = ntff_dump_flush(d);
    d->overlays = NULL;
    d->n_overlays = 0;
    ntff_arena_free(&j.arena);
    ntff_schema_free(j.builtin);
    if (status == NTFF_OK && flushed == NTFF_NOMEM)
        return nomem(&j);
    return status != NTFF_OK ? status : flushed;
}
