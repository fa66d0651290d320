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
#include "proto/dump_priv.h"
#include "proto/probe.h"
#include "proto/schema_priv.h"
#include "proto/wire.h"

static enum ntff_status not_protobuf(struct ntff_dump_job *j, const char *what)
{
    return ntff_fail(j->err, NTFF_NOTHING, NTFF_NO_OFFSET, "%s: %s", j->in->path, what);
}

static enum ntff_status nomem(struct ntff_dump_job *j)
{
    return ntff_fail(j->err, NTFF_NOMEM, NTFF_NO_OFFSET, "out of memory");
}

/* -- records ---------------------------------------------------------------------------------- */

static uint64_t offset_of(const struct ntff_dump_job *j, const uint8_t *p)
{
    return (uint64_t)(p - j->in->data);
}

enum ntff_status ntff_dump_one(struct ntff_dump_job *j, const char *name,
                               const struct ntff_message_def *def, const uint8_t *msg, size_t len)
{
    if (j->opt.offsets)
        ntff_dump_comment(j->d, "offset 0x%" PRIx64 ", %zu bytes", offset_of(j, msg), len);
    return ntff_dump_message(j->d, name, j->opt.raw ? NULL : def, msg, len);
}

/* What is left behind the last whole record of a stream: the beginning of another one, or something
 * else. */
static enum ntff_status torn_record(struct ntff_dump_job *j, const char *name,
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
    return ntff_dump_one(j, name, def, p, (size_t)(end - p));
}

static enum ntff_status stream(struct ntff_dump_job *j, const char *name,
                               const struct ntff_message_def *def, enum ntff_framing framing)
{
    const uint8_t *msg;
    size_t len;
    uint64_t off = 0, next, n = 0;
    enum ntff_status status = NTFF_OK;
    for (; status == NTFF_OK && off < j->in->len; off = next, n++) {
        next = ntff_frame_next(j->in->data, j->in->len, off, framing, &msg, &len);
        if (next == 0)
            return torn_record(j, name, def, off, framing);
        status = ntff_dump_one(j, name, def, msg, len);
    }
    return status;
}

static enum ntff_status records(struct ntff_dump_job *j, const char *name,
                                const struct ntff_message_def *def, enum ntff_framing framing)
{
    if (framing == NTFF_FRAME_BARE)
        return ntff_dump_one(j, name, def, j->in->data, (size_t)j->in->len);
    return stream(j, name, def, framing);
}

/* -- kinds of files --------------------------------------------------------------------------- */

void ntff_dump_about(struct ntff_dump_job *j, const char *what)
{
    ntff_dump_comment(j->d, "%s: %s, %" PRIu64 " bytes%s", j->in->path, what, j->in->len,
                      j->in->gzip ? " unpacked from gzip" : "");
    if (j->in->damaged) {
        ntff_dump_comment(j->d, "damaged: %s; what was unpacked before is shown", j->in->why);
        j->d->n_damaged++;
    }
    if (j->opt.raw)
        ntff_dump_comment(j->d, "fields by number only");
    else
        ntff_dump_comment(j->d, "schema: %s", j->opt.schema->source);
}

static enum ntff_status dump_probed(struct ntff_dump_job *j, const struct ntff_probe *p)
{
    static const char *const roots[] = {
        [NTFF_FILE_NTRACE] = "ntrace_event",
        [NTFF_FILE_TRACE_INFO] = "ntrace_info",
        [NTFF_FILE_CPU_UTIL] = "cpu_util",
        [NTFF_FILE_HOST_MEM] = "host_mem_usage",
    };
    const char *name = p->framing == NTFF_FRAME_BARE ? "ntrace_info" : roots[p->kind];
    bool events = p->kind == NTFF_FILE_NTRACE, ok = true;
    ntff_dump_about(j, ntff_file_kind_name(p->kind));
    ntff_dump_comment(j->d, "framing: %s%s", ntff_framing_name(p->framing),
                      p->exact ? "" : ", which does not hold to the end");
    if (p->misfit)
        ntff_dump_comment(j->d, "the schema does not fit this file: numbers were found by test");
    if (events)
        ntff_dump_comment(j->d, "numbering of ntrace_event: %s",
                          ntff_numbering_name(p->plan.numbering));
    bool builtin = j->opt.schema->origin == NTFF_SCHEMA_BUILTIN;
    bool other =
        p->plan.numbering != NTFF_NUM_SCHEMA && (p->plan.numbering != NTFF_NUM_TABLE || !builtin);
    if (j->opt.raw)
        return records(j, name, NULL, p->framing);
    if (events && other)
        ok = ntff_dump_renumber(j, &p->plan);
    if (p->framing == NTFF_FRAME_BARE)
        ok = ok &&
             ntff_dump_found(
                 j, "ntrace_info",
                 (const struct ntff_found_field[]){
                     {"events", p->n_events, NTFF_T_MESSAGE, "ntrace_event"},
                     {"interned_data", p->n_interned, NTFF_T_MESSAGE, "interned_data_db"},
                     {"collected_profiles", p->n_profiles, NTFF_T_MESSAGE, "ntrace_data_file"}},
                 3);
    else if (p->kind == NTFF_FILE_CPU_UTIL)
        ok = ok && ntff_dump_found(j, name,
                                   (const struct ntff_found_field[]){
                                       {"util", p->n_value, NTFF_T_FLOAT, NULL},
                                       {"timestamp", p->n_time, NTFF_T_UINT64, NULL}},
                                   2);
    else if (p->kind == NTFF_FILE_HOST_MEM)
        ok = ok && ntff_dump_found(j, name,
                                   (const struct ntff_found_field[]){
                                       {"usage", p->n_value, NTFF_T_INT64, NULL},
                                       {"timestamp", p->n_time, NTFF_T_UINT64, NULL}},
                                   2);
    if (!ok)
        return nomem(j);
    return records(j, name, ntff_schema_message(j->opt.schema, name), p->framing);
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
static enum ntff_status dump_other(struct ntff_dump_job *j, const struct ntff_message_def *def,
                                   const char *name)
{
    for (int framing = NTFF_FRAME_BARE; framing <= NTFF_FRAME_U64; framing++) {
        if (!all_messages(j->in, (enum ntff_framing)framing))
            continue;
        ntff_dump_about(j, def ? "read as asked" : "protobuf of a kind that is not known here");
        ntff_dump_comment(j->d, "framing: %s", ntff_framing_name(framing));
        return records(j, name, def, (enum ntff_framing)framing);
    }
    if (def) {
        ntff_dump_about(j, "read as asked, in spite of damage");
        return records(j, name, def, NTFF_FRAME_BARE);
    }
    return not_protobuf(j, "no protobuf: neither a message nor records behind lengths to its end");
}

/* -- the whole -------------------------------------------------------------------------------- */

static enum ntff_status dump_any(struct ntff_dump_job *j)
{
    const struct ntff_input *in = j->in;
    struct ntff_probe probe;
    if (j->opt.type) {
        const struct ntff_message_def *def = ntff_schema_message(j->opt.schema, j->opt.type);
        if (!def)
            return ntff_fail(j->err, NTFF_INVALID, NTFF_NO_OFFSET,
                             "no message %s in the schema (%s)", j->opt.type,
                             j->opt.schema->source);
        return dump_other(j, def, j->opt.type);
    }
    if (in->len == 0) {
        ntff_dump_about(j, "empty file");
        return NTFF_OK;
    }
    if (ntff_ntff_sniff(ntff_input_head(in), in->len))
        return ntff_dump_container(j);
    if (ntff_is_elf(in->data, (size_t)in->len))
        return not_protobuf(j, "an ELF file; ntff-conv schema --from reads the schema in it");
    if (ntff_json_sniff(ntff_input_head(in)))
        return not_protobuf(j, "JSON, which is text already");
    if (ntff_probe_raw112(in->data, in->len)) {
        ntff_dump_about(j, ntff_file_kind_name(NTFF_FILE_RAW112));
        ntff_dump_records(j->d, in, j->opt.offsets);
        return NTFF_OK;
    }
    if (ntff_probe_pb(in->data, in->len, j->opt.schema, &probe)) {
        ntff_probe_follow(&probe, in->data, in->len);
        return dump_probed(j, &probe);
    }
    return dump_other(j, NULL, "message");
}

enum ntff_status ntff_dump_file(struct ntff_dump *d, const struct ntff_input *in,
                                const struct ntff_dump_options *opt, struct ntff_error *err)
{
    struct ntff_dump_job j = {.d = d, .in = in, .opt = *opt, .err = err};
    d->base = in->data;
    d->base_off = 0;
    enum ntff_status status = dump_any(&j);
    enum ntff_status flushed = ntff_dump_flush(d);
    d->overlays = NULL;
    d->n_overlays = 0;
    ntff_arena_free(&j.arena);
    ntff_schema_free(j.builtin);
    if (status == NTFF_NOMEM || (status == NTFF_OK && flushed == NTFF_NOMEM))
        return nomem(&j);
    return status != NTFF_OK ? status : flushed;
}
