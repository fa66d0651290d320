/* dump_container - an .ntff as text: the message, then a list of what the two sections hold.
 *
 * ntff_info.c takes the container apart; it knows which numbers the schema lacked and a test found,
 * and where the runs of the sections lie. Instructions and notification records themselves are not
 * printed unless asked for: they are gigabytes, and the converter shows them. Each run is a comment
 * line with its place, so that other tools can cut it out. */
#include "proto/dump_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/notif.h"
#include "proto/ntff_facts.h"

/* -- names ------------------------------------------------------------------------------------ */

/* What the number slots of ntff_info.h are, for those that a test can find. */
static const struct {
    enum ntff_number slot;
    int type;
    const char *type_name;
} slot_types[] = {
    {NTFF_N_NODES, NTFF_T_MESSAGE, "neff_node_info"},
    {NTFF_N_BUFFERS, NTFF_T_MESSAGE, "notification_buffer_size"},
    {NTFF_N_TIMELINE, NTFF_T_MESSAGE, "execution_info"},
    {NTFF_N_SESSION, NTFF_T_MESSAGE, "trace_info"},
    {NTFF_N_GRAPHS, NTFF_T_MESSAGE, "subgraph_info"},
    {NTFF_N_TRACE_TYPE, NTFF_T_ENUM, "notification_trace_type"},
    {NTFF_N_TRACE_BLOCK, NTFF_T_ENUM, "block_type"},
    {NTFF_N_TRACE_OFFSET, NTFF_T_UINT64, NULL},
    {NTFF_N_TRACE_SIZE, NTFF_T_UINT64, NULL},
    {NTFF_N_TRACE_ENGINE, NTFF_T_UINT32, NULL},
    {NTFF_N_TRACE_BYTES, NTFF_T_BYTES, NULL},
    {NTFF_N_MEMORY_TYPE, NTFF_T_ENUM, "memory_usage_type"},
    {NTFF_N_MEMORY_BYTES, NTFF_T_UINT64, NULL},
};

static const char *slot_message(enum ntff_number slot)
{
    static const char *const names[NTFF_N_COUNT] = {
#define X(slot, message, field) message,
        NTFF_NUMBER_TABLE(X)
#undef X
    };
    return names[slot];
}

static const char *slot_field(enum ntff_number slot)
{
    static const char *const names[NTFF_N_COUNT] = {
#define X(slot, message, field) field,
        NTFF_NUMBER_TABLE(X)
#undef X
    };
    return names[slot];
}

/* Gives the fields of one message that were found by test their names. */
static bool name_message(struct ntff_dump_job *j, const struct ntff_profile *p, const char *message)
{
    struct ntff_found_field found[NTFF_ARRAY_LEN(slot_types)];
    size_t n = 0;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(slot_types); i++) {
        enum ntff_number slot = slot_types[i].slot;
        if (p->how[slot] == NTFF_HOW_TEST && strcmp(slot_message(slot), message) == 0)
            found[n++] = (struct ntff_found_field){slot_field(slot), p->number[slot],
                                                   slot_types[i].type, slot_types[i].type_name};
    }
    return n == 0 || ntff_dump_found(j, message, found, n);
}

static bool name_found(struct ntff_dump_job *j, const struct ntff_profile *p)
{
    return name_message(j, p, "ntff_info") && name_message(j, p, "nd_node_info") &&
           name_message(j, p, "trace_info") && name_message(j, p, "nc_memory_usage");
}

/* -- sections --------------------------------------------------------------------------------- */

static void list_run(struct ntff_dump_job *j, const struct ntff_profile *p, size_t i)
{
    static const char *const engines[] = {"PE", "ACT", "POOL", "DVE", "SP"};
    const struct ntff_run *r = &p->runs.v[i];
    char engine[24], place[64];
    if (r->engine < NTFF_ARRAY_LEN(engines))
        snprintf(engine, sizeof engine, "%s", engines[r->engine]);
    else
        snprintf(engine, sizeof engine, "engine %" PRIu32, r->engine);
    if (r->bytes.len)
        snprintf(place, sizeof place, "%zu bytes inside the message", r->bytes.len);
    else
        snprintf(place, sizeof place, "%" PRIu64 " bytes at offset 0x%" PRIx64 " of the section",
                 r->len, r->off);
    ntff_dump_comment(j->d, "  run %zu: %s; subgraph %" PRIu32 ", %s index %" PRIu32 "%s%s", i,
                      place, r->graph, engine, r->engine_index, r->collective ? ", collective" : "",
                      r->function_section ? ", function" : "");
}

/* How many records of each kind a run of notifications holds. */
static void count_kinds(const struct ntff_profile *p, uint64_t off, uint64_t len, char *out,
                        size_t cap)
{
    uint64_t n[NTFF_NK_COUNT] = {0};
    const uint8_t *r = (const uint8_t *)p->file.p + off;
    size_t used = 0;
    for (uint64_t k = 0; k + NTFF_NOTIF_BYTES <= len; k += NTFF_NOTIF_BYTES)
        n[ntff_notif_kinds[ntff_notif_type(ntff_le32(r + k))]]++;
    out[0] = '\0';
    for (int kind = 0; kind < NTFF_NK_COUNT; kind++) {
        int w = n[kind] && used < cap
                    ? snprintf(out + used, cap - used, "%s%" PRIu64 " %s", used ? ", " : "",
                               n[kind], ntff_notif_kind_name(kind))
                    : 0;
        used += w > 0 ? (size_t)w : 0;
    }
}

static void list_blob(struct ntff_dump_job *j, const struct ntff_profile *p, size_t i)
{
    const struct ntff_blob *b = &p->blobs.v[i];
    char type[16], block[16], kinds[300] = "", where[40] = "session", engine[24] = "";
    uint64_t off, len;
    if (b->graph != UINT32_MAX)
        snprintf(where, sizeof where, "subgraph %" PRIu32, b->graph);
    if (b->engine_index != UINT32_MAX)
        snprintf(engine, sizeof engine, " engine %" PRIu32, b->engine_index);
    if (!ntff_blob_place(p, b, &off, &len)) {
        ntff_dump_comment(j->d, "  trace %zu: %" PRIu64 " bytes, nothing of it is in the file; %s",
                          i, b->len, where);
        return;
    }
    count_kinds(p, off, len, kinds, sizeof kinds);
    ntff_dump_comment(j->d, "  trace %zu: %" PRIu64 " bytes at 0x%" PRIx64 "; %s, %s of %s%s: %s",
                      i, len, off, where, ntff_trace_type_name(b->trace_type, type),
                      ntff_block_type_name(b->block_type, block), engine, kinds);
    if (j->opt.records)
        ntff_dump_notifs(j->d, (const uint8_t *)p->file.p + off, len, off);
}

static void note_cut(struct ntff_dump_job *j, const char *section, uint64_t want, uint64_t there)
{
    if (want <= there)
        return;
    ntff_dump_comment(
        j->d, "cut: the %s section has %" PRIu64 " bytes by the message, %" PRIu64 " are there",
        section, want, there);
    j->d->n_damaged++;
}

static void list_sections(struct ntff_dump_job *j, const struct ntff_profile *p)
{
    struct ntff_dump *d = j->d;
    ntff_dump_comment(d, "instruction section: %" PRIu64 " bytes at 0x%" PRIx64 ", %zu runs",
                      p->runs_len, p->runs_off, p->runs.n);
    for (size_t i = 0; i < p->runs.n && !d->stopped; i++)
        list_run(j, p, i);
    ntff_dump_comment(
        d, "notification section: %" PRIu64 " bytes at 0x%" PRIx64 ", %zu traces, offsets %s%s%s%s",
        p->blobs_len, p->blobs_off, p->blobs.n, ntff_base_name(p->base), p->base_how ? " (" : "",
        p->base_how ? p->base_how : "", p->base_how ? ")" : "");
    for (size_t i = 0; i < p->blobs.n && !d->stopped; i++)
        list_blob(j, p, i);
    note_cut(j, "instruction", p->runs_want, p->runs_len);
    note_cut(j, "notification", p->blobs_want, p->blobs_len);
    if (p->gap_bytes)
        ntff_dump_comment(d, "%" PRIu64 " bytes of it are named by no trace_info", p->gap_bytes);
    if (p->left_over)
        ntff_dump_comment(d, "%" PRIu64 " bytes follow the notification section", p->left_over);
}

static void list_findings(struct ntff_dump_job *j, const struct ntff_diag *diag)
{
    char line[400];
    for (int kind = 0; kind < NTFF_DIAG_COUNT; kind++) {
        if (!diag->of[kind].count)
            continue;
        ntff_diag_line(diag, (enum ntff_diag_kind)kind, line, sizeof line);
        ntff_dump_comment(j->d, "%s", line);
    }
    if (ntff_diag_lossy(diag))
        j->d->n_damaged++;
}

/* -- the container ---------------------------------------------------------------------------- */

enum ntff_status ntff_dump_container(struct ntff_dump_job *j)
{
    struct ntff_profile p = {0};
    struct ntff_diag diag = {0};
    struct ntff_slice file = {(const char *)j->in->data, (size_t)j->in->len};
    ntff_dump_about(j, "ntff device profile");
    enum ntff_status status =
        ntff_profile_parse(&p, file, j->opt.schema, j->d->budget, &diag, j->in->path, j->err);
    if (status == NTFF_OK) {
        ntff_dump_comment(j->d, "format version %u%s; message of %" PRIu64 " bytes at offset 0x%x",
                          p.version, p.version <= NTFF_VERSION_MAX ? "" : " (known are 1 to 6)",
                          p.msg_len, (unsigned)NTFF_HEADER_BYTES);
        if (p.msg.len < p.msg_len) {
            ntff_dump_comment(j->d, "cut: %zu bytes of the message are there", p.msg.len);
            j->d->n_damaged++;
        }
        if (p.own_schema) {
            ntff_dump_comment(j->d, "the schema does not fit this file: the built-in one is used");
            j->opt.schema = p.own_schema;
        }
        if (!j->opt.raw && !name_found(j, &p))
            status = ntff_fail(j->err, NTFF_NOMEM, NTFF_NO_OFFSET, "out of memory");
    }
    if (status == NTFF_OK)
        status = ntff_dump_one(j, "ntff_info", ntff_schema_message(j->opt.schema, "ntff_info"),
                               (const uint8_t *)p.msg.p, p.msg.len);
    if (status == NTFF_OK) {
        list_sections(j, &p);
        list_findings(j, &diag);
    }
    ntff_profile_done(&p);
    return status;
}
