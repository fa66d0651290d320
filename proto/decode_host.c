/* decode_host - the files of the host side: ntrace.pb, trace_info.pb, cpu_util.pb, host_mem.pb, and
 * dumps of raw 112-byte records. probe.c has said what the file is; here it becomes records.
 *
 * ntrace.pb may be large, and there may be one for each of many processes. These files wait until
 * nothing but them comes next, then go through batches together (worker.h): one pass finds the next
 * few hundred fields, of one file after the other, another, possibly on another thread, decodes the
 * events among them, and here they are taken in order. */
#include "proto/decode_host.h"

#include "proto/builder.h"
#include "proto/worker.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct ntff_host_file {
    struct ntff_builder *b;
    const uint8_t *data;
    uint64_t len;
    const char *damage; /* of the gzip stream; NULL = none */
    struct ntff_probe probe;
    uint32_t file, proc;
    uint32_t first_source; /* one per window */
    uint32_t n_sources;
    uint32_t n_facts;    /* told of a bare ntrace_info */
    struct ntff_wire at; /* what has not been put into a batch yet */
};

/* A field of a bare ntrace_info, or a record of a stream. */
struct item {
    const uint8_t *data; /* the record, */
    uint64_t value;      /* its length; or the number a field holds */
    uint64_t ref_off;    /* where the length of the record is, or in a stream its frame */
    uint32_t number;     /* of the field */
    uint8_t type;        /* enum ntff_wire_type */
    bool is_event, bad;  /* bad: an event that cannot be decoded */
};
_Static_assert(sizeof(struct item) == 32, "written by one thread, read by another");

enum { BATCH_ITEMS = 1024, THREADS_FROM_BYTES = 1 << 20 };

struct batch {
    struct ntff_host_file *file;
    size_t n;
    struct item items[BATCH_ITEMS];
    struct ntff_rec recs[BATCH_ITEMS];
};

/* A reference has 32 bits of offset: a file takes one source per 2 GiB window, each readable to the
 * end of the file, so that a record may reach over the border. */
#define WINDOW_BYTES (UINT64_C(1) << 31)

static bool add_sources(struct ntff_host_file *r, enum ntff_source_kind kind,
                        const struct ntff_event_plan *plan)
{
    for (uint64_t at = 0; at < r->len; at += WINDOW_BYTES) {
        struct ntff_source s = {.kind = kind,
                                .data = r->data + at,
                                .len = r->len - at,
                                .file_off = at,
                                .file = r->file,
                                .framing = (uint8_t)r->probe.framing,
                                .plan = plan};
        uint32_t id = ntff_build_source(r->b, &s);
        if (id == NTFF_NONE) {
            ntff_diag_add(r->b->diag, NTFF_DIAG_UNREADABLE_FILE, 1, ntff_build_path(r->b, r->file),
                          at, "too many inputs at once");
            return !r->b->out_of_memory && r->n_sources > 0;
        }
        if (r->n_sources++ == 0)
            r->first_source = id;
    }
    return true;
}

static struct ntff_ref ref_to(const struct ntff_host_file *r, uint64_t off)
{
    uint64_t window = off / WINDOW_BYTES;
    return (struct ntff_ref){.off = (uint32_t)(off % WINDOW_BYTES),
                             .src = (uint16_t)(r->first_source + window)};
}

/* Counts a record that is no good. */
static void bad_record(struct ntff_host_file *r, uint64_t off, const char *why)
{
    r->b->t->counts.records_in++;
    r->b->t->counts.dropped_records++;
    r->b->files.v[r->file].n_dropped++;
    ntff_diag_add(r->b->diag, NTFF_DIAG_BAD_RECORD, 1, ntff_build_path(r->b, r->file), off, "%s",
                  why);
}

static bool poll(struct ntff_host_file *r, uint64_t n, uint64_t off)
{
    return n % 16384 || ntff_build_progress(r->b, "reading", off, r->len);
}

/* -- the bare ntrace_info ------------------------------------------------------------------------
 */

/* One interned_data_db: id_map (2 unless the schema says otherwise) is map<uint64, string> [FMT].
 */
static bool take_interned(struct ntff_host_file *r, const uint8_t *data, size_t len)
{
    struct ntff_builder *b = r->b;
    struct ntff_wire w = ntff_wire_init(data, len);
    struct ntff_field f, kv;
    while (ntff_wire_next(&w, &f) > 0) {
        if (f.number != r->probe.n_id_map || f.type != NTFF_WT_LEN)
            continue;
        struct ntff_wire e = ntff_wire_init(f.data, f.value);
        uint64_t id = 0;
        struct ntff_slice text = {"", 0};
        while (ntff_wire_next(&e, &kv) > 0) {
            if (kv.number == 1 && kv.type == NTFF_WT_VARINT)
                id = kv.value;
            else if (kv.number == 2 && kv.type == NTFF_WT_LEN)
                text = (struct ntff_slice){(const char *)kv.data, kv.value};
        }
        ntff_str s = ntff_intern(&b->t->strs, text.p, text.len);
        struct ntff_map_slot *m =
            ntff_map_at(&b->t->owned->names.map, (struct ntff_key){r->proc, id, 0});
        if (s == NTFF_STR_NONE || !m) {
            b->out_of_memory = true;
            return false;
        }
        m->value = s;
    }
    return true;
}

/* A scalar or text of ntrace_info as a line of `info`, by name if the schema knows it. */
static bool info_fact(struct ntff_host_file *r, const struct item *f)
{
    struct ntff_builder *b = r->b;
    const struct ntff_message_def *m = ntff_schema_message(b->schema, "ntrace_info");
    const struct ntff_field_def *def = m ? ntff_message_number(m, f->number) : NULL;
    char key[96], value[200];
    if (f->type == NTFF_WT_LEN) {
        bool text =
            def ? def->type == NTFF_T_STRING
                : f->value < sizeof value && ntff_utf8_ok((const char *)f->data, f->value) &&
                      !memchr(f->data, '\0', f->value) && f->value > 0 && f->data[0] >= 0x20;
        if (!text)
            return true;
        snprintf(value, sizeof value, "%.*s", (int)(f->value < 199 ? f->value : 199),
                 (const char *)f->data);
    } else {
        const char *name =
            def && def->enumeration ? ntff_enum_name(def->enumeration, (int32_t)f->value) : NULL;
        if (name)
            snprintf(value, sizeof value, "%s", name);
        else
            snprintf(value, sizeof value, "%" PRIu64, f->value);
    }
    if (def)
        snprintf(key, sizeof key, "%s", def->name);
    else
        snprintf(key, sizeof key, "field %" PRIu32, f->number);
    return ntff_build_fact(b, r->file, key, value, def ? b->schema->source : "number not known");
}

/* -- records in batches --------------------------------------------------------------------------
 */

static bool next_in_stream(struct ntff_host_file *r, struct item *x)
{
    const uint8_t *msg;
    size_t len;
    uint64_t off = (uint64_t)(r->at.p - r->data), next;
    if (off >= r->len ||
        !(next = ntff_frame_next(r->data, r->len, off, r->probe.framing, &msg, &len)))
        return false;
    *x = (struct item){.data = msg, .value = len, .ref_off = off, .is_event = true};
    r->at.p = r->data + next;
    return true;
}

static bool next_in_info(struct ntff_host_file *r, struct item *x)
{
    const uint8_t *field = r->at.p;
    struct ntff_field f = {0};
    uint64_t tag;
    if (ntff_wire_next(&r->at, &f) <= 0)
        return false;
    *x = (struct item){.data = f.data, .value = f.value, .number = f.number, .type = f.type};
    x->is_event = f.type == NTFF_WT_LEN && f.number == r->probe.n_events;
    x->ref_off = (uint64_t)(ntff_varint(field, r->at.end, &tag) - r->data); /* past the tag */
    return true;
}

/* The files that are read together. */
struct reading {
    struct ntff_host_file **files;
    size_t n_files, claiming; /* the file that batches are taken from */
    struct batch *batches;
};

static bool fill_batch(struct ntff_host_file *r, struct batch *b)
{
    bool bare = r->probe.framing == NTFF_FRAME_BARE;
    b->file = r;
    b->n = 0;
    while (b->n < BATCH_ITEMS &&
           (bare ? next_in_info(r, &b->items[b->n]) : next_in_stream(r, &b->items[b->n])))
        b->n++;
    return b->n > 0;
}

static bool claim_batch(void *user, unsigned slot)
{
    struct reading *x = user;
    while (x->claiming < x->n_files && !fill_batch(x->files[x->claiming], &x->batches[slot]))
        x->claiming++;
    return x->claiming < x->n_files;
}

static void make_batch(void *user, unsigned slot)
{
    const struct reading *all = user;
    struct batch *b = &all->batches[slot];
    const struct ntff_host_file *r = b->file;
    memset(b->recs, 0, b->n * sizeof *b->recs);
    for (size_t i = 0; i < b->n; i++) {
        struct item *x = &b->items[i];
        const char *why;
        size_t at;
        b->recs[i].usage = NTFF_NONE;
        if (x->is_event)
            x->bad = ntff_decode_event(&r->probe.plan, x->data, x->value, r->data + r->len,
                                       &b->recs[i], &why, &at) != 0;
    }
}

static bool take_event(struct ntff_host_file *r, const struct item *x, struct ntff_rec *rec)
{
    struct ntff_file *f = &r->b->files.v[r->file];
    f->n_records++;
    if (x->bad) { /* once more, to tell what is wrong */
        const char *why = "";
        size_t at = 0;
        (void)ntff_decode_event(&r->probe.plan, x->data, x->value, r->data + r->len, rec, &why,
                                &at);
        bad_record(r, (uint64_t)(x->data - r->data) + at, why);
        return true;
    }
    f->n_unknown_fields += rec->n_unknown;
    if (r->probe.plan.old_types && !rec->is_ring) /* an older enum: numbers only, no meaning */
        rec->type |= NTFF_OLD_TYPE;
    rec->ref = ref_to(r, x->ref_off);
    return ntff_build_record(r->b, r->proc, rec);
}

static bool take_batch(struct batch *b)
{
    struct ntff_host_file *r = b->file;
    for (size_t i = 0; i < b->n; i++) {
        const struct item *x = &b->items[i];
        bool good = true;
        if (x->is_event)
            good = take_event(r, x, &b->recs[i]);
        else if (x->type == NTFF_WT_LEN && x->number == r->probe.n_interned)
            good = take_interned(r, x->data, x->value);
        else if (r->n_facts < 200 && ++r->n_facts)
            good = info_fact(r, x);
        if (!good)
            return false;
    }
    return true;
}

/* -- host samplers -------------------------------------------------------------------------------
 */

static uint32_t sampler_track(struct ntff_host_file *r, uint64_t cpu)
{
    struct ntff_track proto = {
        .kind = NTFF_TRACK_COUNTER, .process = r->proc, .nc = NTFF_NONE, .core = NTFF_NONE};
    char name[40] = "Host memory";
    uint32_t group = ntff_build_counters(r->b, r->proc);
    if (group == NTFF_NONE)
        return NTFF_NONE;
    if (r->probe.kind == NTFF_FILE_CPU_UTIL) {
        proto.is_double = true;
        proto.unit = NTFF_UNIT_PERCENT;
        proto.share_key = ntff_intern(&r->b->t->strs, "cpu", 3);
        proto.rank = 1000 + (cpu < 100000 ? (int32_t)cpu : 100000);
        snprintf(name, sizeof name, "CPU %02" PRIu64, cpu);
    } else {
        proto.unit = NTFF_UNIT_BYTES;
        proto.rank = 950;
    }
    return ntff_build_track(r->b, group, name, &proto);
}

static bool one_sample(struct ntff_host_file *r, const uint8_t *msg, size_t len, uint64_t off)
{
    struct ntff_wire w = ntff_wire_init(msg, len);
    struct ntff_field f;
    uint64_t time_ns = 0, index = 0, bytes = 0;
    float util = 0;
    int got;
    struct ntff_file *file = &r->b->files.v[r->file];
    file->n_records++;
    while ((got = ntff_wire_next(&w, &f)) > 0) {
        if (f.number == r->probe.n_time && f.type == NTFF_WT_VARINT) {
            time_ns = f.value;
        } else if (f.number == r->probe.n_value && f.type == NTFF_WT_I32) {
            uint32_t bits = (uint32_t)f.value;
            memcpy(&util, &bits, sizeof util);
        } else if (f.number == r->probe.n_value) {
            bytes = f.value;
        } else if (f.number == r->probe.n_index) {
            index = f.value;
        } else {
            file->n_unknown_fields++;
        }
    }
    if (got < 0 || time_ns == 0 || !isfinite(util)) {
        r->b->t->counts.samples_in++;
        r->b->t->counts.samples_dropped++;
        file->n_dropped++;
        ntff_diag_add(r->b->diag, NTFF_DIAG_BAD_RECORD, 1, ntff_build_path(r->b, r->file), off,
                      "%s",
                      got < 0   ? w.why
                      : time_ns ? "value is no finite number"
                                : "sample has no time");
        return true;
    }
    uint32_t t = sampler_track(r, index);
    return t != NTFF_NONE && ntff_build_sample(r->b, t, time_ns, (int64_t)bytes, (double)util);
}

static bool stream_samples(struct ntff_host_file *r, uint64_t *end)
{
    uint64_t off = 0, next, n = 0;
    const uint8_t *msg;
    size_t len;
    for (; off < r->len &&
           (next = ntff_frame_next(r->data, r->len, off, r->probe.framing, &msg, &len));
         off = next)
        if (!one_sample(r, msg, len, off) || !poll(r, ++n, off))
            return false;
    *end = off;
    return true;
}

/* -- raw records ---------------------------------------------------------------------------------
 */

/* nrt_sys_trace_event [TAX]: offsets in decode and detail alike come from event_types.c. */
static bool raw_records(struct ntff_host_file *r, uint64_t *end)
{
    uint64_t off = 0;
    for (; r->len - off >= 112; off += 112) {
        const uint8_t *p = r->data + off;
        struct ntff_rec rec = {.type = ntff_le32(p),
                               .thread_id = ntff_le64(p + 8),
                               .id = ntff_le64(p + 16),
                               .tracking_id = ntff_le64(p + 32),
                               .timestamp_ns = ntff_le64(p + 40),
                               .phase = ntff_le32(p + 88) + 1,
                               .nc_idx = ntff_le32(p + 92),
                               .nrta_seq_id = ntff_le64(p + 96),
                               .has = p[104] ? NTFF_HAS_SEQ : 0,
                               .usage = NTFF_NONE};
        r->b->files.v[r->file].n_records++;
        if (ntff_le32(p + 88) > 2 || p[104] > 1) {
            bad_record(r, off, "phase is not 0..2, or the flag of nrta_seq_id is not 0 or 1");
            continue;
        }
        size_t n;
        const struct ntff_payload_field *f = ntff_event_payload(rec.type, rec.phase, &n);
        for (size_t i = 0; i < n; i++) {
            const uint8_t *v = p + 48 + f[i].offset;
            char text[24];
            uint64_t value = f[i].kind == NTFF_P_U64                              ? ntff_le64(v)
                             : f[i].kind == NTFF_P_U32 || f[i].kind == NTFF_P_I32 ? ntff_le32(v)
                             : f[i].kind == NTFF_P_U16 ? (uint64_t)v[0] | (uint64_t)v[1] << 8
                                                       : v[0];
            int len = snprintf(text, sizeof text, "%" PRIu64, value);
            ntff_rec_attr(&rec, f[i].name, strlen(f[i].name), text, (size_t)len);
        }
        if (rec.has & NTFF_HAS_NC_TS && rec.nc_ns == 0) /* a sync_info that was never filled in */
            rec.has &= ~(uint32_t)(NTFF_HAS_NC_TS | NTFF_HAS_CPU_TS);
        rec.ref = ref_to(r, off);
        if (!ntff_build_record(r->b, r->proc, &rec) || !poll(r, off / 112 + 1, off))
            return false;
    }
    *end = off;
    return true;
}

/* -- a file --------------------------------------------------------------------------------------
 */

static bool numbers_fact(struct ntff_host_file *r, const char *key, uint32_t number,
                         const char *how)
{
    char value[24];
    if (!number)
        return true;
    snprintf(value, sizeof value, "%" PRIu32, number);
    return ntff_build_fact(r->b, r->file, key, value, how);
}

#define FACT_FRAMING "framing"
#define FACT_TORN "furthest of the forms (file is torn)"

/* A form that was taken for the only one left may still turn out torn. */
static bool note_torn(struct ntff_host_file *r)
{
    struct ntff_strtab *s = &r->b->t->strs;
    struct ntff_file *f = &r->b->files.v[r->file];
    for (size_t i = 0; i < f->facts.n; i++)
        if (strcmp(ntff_text(s, f->facts.v[i].key), FACT_FRAMING) == 0) {
            ntff_str how = ntff_intern(s, FACT_TORN, strlen(FACT_TORN));
            if (how == NTFF_STR_NONE)
                return ntff_builder_no_memory(r->b);
            f->facts.v[i].how = how;
        }
    return true;
}

static bool facts(struct ntff_host_file *r)
{
    const struct ntff_probe *p = &r->probe;
    struct ntff_builder *b = r->b;
    const char *how = p->from_schema && !p->misfit ? b->schema->source : "found by test";
    bool good = p->kind == NTFF_FILE_RAW112 ||
                ntff_build_fact(b, r->file, FACT_FRAMING, ntff_framing_name(p->framing),
                                p->exact || p->open ? "whole-file test" : FACT_TORN);
    if (p->kind == NTFF_FILE_NTRACE) {
        const char *numbering = p->plan.numbering == NTFF_NUM_SCHEMA ? b->schema->source
                                : p->plan.settled                    ? "found by test"
                                                  : "built-in default, not confirmed";
        good = good && ntff_build_fact(b, r->file, "numbering",
                                       ntff_numbering_name(p->plan.numbering), numbering);
        if (p->plan.old_types)
            good =
                good && ntff_build_fact(b, r->file, "event types", "an older enum: shown by number",
                                        "type 11 carries tensor_id");
    }
    if (p->framing == NTFF_FRAME_BARE && p->kind != NTFF_FILE_RAW112)
        good = good && numbers_fact(r, "ntrace_info.events", p->n_events, how) &&
               numbers_fact(r, "ntrace_info.interned_data", p->n_interned, how) &&
               numbers_fact(r, "ntrace_info.collected_profiles", p->n_profiles, how);
    if (p->kind == NTFF_FILE_CPU_UTIL)
        good = good && numbers_fact(r, "cpu_util index", p->n_index, how) &&
               numbers_fact(r, "cpu_util util", p->n_value, how) &&
               numbers_fact(r, "cpu_util timestamp", p->n_time, how);
    if (p->kind == NTFF_FILE_HOST_MEM)
        good = good && numbers_fact(r, "host_mem_usage usage", p->n_value, how) &&
               numbers_fact(r, "host_mem_usage timestamp", p->n_time, how);
    if (p->misfit)
        ntff_diag_add(b->diag, NTFF_DIAG_SCHEMA_MISFIT, 1, ntff_build_path(b, r->file),
                      NTFF_NO_OFFSET, "numbers of %s do not fit the data; read by test",
                      b->schema->source);
    return good;
}

/* What there is to say about a file that was read up to end. */
static bool end_of_file(struct ntff_host_file *r, uint64_t end)
{
    struct ntff_builder *b = r->b;
    struct ntff_file *f = &b->files.v[r->file];
    bool samples = f->kind == NTFF_FILE_CPU_UTIL || f->kind == NTFF_FILE_HOST_MEM;
    if (f->n_unknown_fields > 0)
        ntff_diag_add(b->diag, NTFF_DIAG_UNKNOWN_FIELD, f->n_unknown_fields,
                      ntff_build_path(b, r->file), NTFF_NO_OFFSET, "%s",
                      samples ? "left out" : "kept by number, as field_N");
    if (r->damage)
        ntff_diag_add(b->diag, NTFF_DIAG_TRUNCATED_FILE, 1, ntff_build_path(b, r->file),
                      NTFF_NO_OFFSET, "%s, %" PRIu64 " bytes unpacked", r->damage, r->len);
    if (end == r->len)
        return true;
    f->skipped_bytes = r->len - end;
    if (!f->cut)
        ntff_diag_add(b->diag, NTFF_DIAG_TRUNCATED_FILE, 1, ntff_build_path(b, r->file), end,
                      "%" PRIu64 " bytes left over after the last whole record", r->len - end);
    return !r->probe.open || note_torn(r);
}

bool ntff_decode_host(struct ntff_builder *b, const struct ntff_input *in,
                      const struct ntff_probe *probe, uint32_t file, uint32_t proc)
{
    bool samples = probe->kind == NTFF_FILE_CPU_UTIL || probe->kind == NTFF_FILE_HOST_MEM;
    bool raw = probe->kind == NTFF_FILE_RAW112;
    uint64_t end = 0;
    if (raw && !ntff_decode_host_waiting(b)) /* records stay in the order of the files */
        return false;
    struct ntff_host_file *r = ntff_arena_alloc(&b->t->arena, sizeof *r);
    if (!r)
        return ntff_builder_no_memory(b);
    *r = (struct ntff_host_file){.b = b,
                                 .data = in->data,
                                 .len = in->len,
                                 .damage = in->damaged ? in->why : NULL,
                                 .probe = *probe,
                                 .file = file,
                                 .proc = proc,
                                 .at = ntff_wire_init(in->data, in->len)};
    if (!facts(r))
        return false;
    if (samples)
        return stream_samples(r, &end) && end_of_file(r, end);
    if (!add_sources(r, raw ? NTFF_SOURCE_RAW112 : NTFF_SOURCE_EVENTS, &r->probe.plan))
        return !b->out_of_memory;
    if (raw)
        return raw_records(r, &end) && end_of_file(r, end);
    struct ntff_host_file **x = NTFF_VEC_PUSH(b->budget, &b->waiting);
    if (!x)
        return ntff_builder_no_memory(b);
    *x = r;
    return true;
}

/* -- all that wait -------------------------------------------------------------------------------
 */

/* A sixteenth of a large input tells how much room the rest will take. */
enum { EXPECT_FROM_BYTES = 4 << 20, EXPECT_PART = 16 };

/* Ends the files before the one a batch is of; NULL: all. *next is the first not ended. */
static bool end_before(const struct reading *x, const struct ntff_host_file *current, size_t *next,
                       uint64_t *done)
{
    bool good = true;
    for (; good && *next < x->n_files && x->files[*next] != current; ++*next) {
        struct ntff_host_file *r = x->files[*next];
        *done += r->len;
        good = end_of_file(r, (uint64_t)(r->at.p - r->data));
    }
    return good;
}

static bool take_all(struct ntff_builder *b, struct reading *x, struct ntff_ahead *ahead,
                     uint64_t len)
{
    struct ntff_build_mark begin = ntff_build_mark(b);
    bool good = true, expected = len < EXPECT_FROM_BYTES;
    uint64_t done = 0, n = 0;
    size_t next = 0;
    for (int slot; good && (slot = ntff_ahead_take(ahead)) >= 0;) {
        struct batch *batch = &x->batches[slot];
        good = end_before(x, batch->file, &next, &done);
        uint64_t at = done + batch->items[0].ref_off;
        if (!expected && (expected = at > len / EXPECT_PART))
            ntff_build_expect(b, &begin, EXPECT_PART);
        good =
            good && take_batch(batch) && (++n % 16 || ntff_build_progress(b, "reading", at, len));
    }
    return good && end_before(x, NULL, &next, &done);
}

bool ntff_decode_host_waiting(struct ntff_builder *b)
{
    struct reading x = {.files = b->waiting.v, .n_files = b->waiting.n};
    uint64_t len = 0;
    if (x.n_files == 0)
        return true;
    for (size_t i = 0; i < x.n_files; i++)
        len += x.files[i]->len;
    unsigned jobs = len < THREADS_FROM_BYTES ? 1 : ntff_jobs(b->opt->jobs);
    struct ntff_ahead_work work = {&x, claim_batch, make_batch, ntff_ahead_slots(jobs)};
    x.batches = ntff_build_take(b, work.n_slots, sizeof *x.batches);
    struct ntff_ahead *ahead = x.batches ? ntff_ahead_start(&work, jobs - 1) : NULL;
    bool good = ahead ? take_all(b, &x, ahead, len) : ntff_builder_no_memory(b);
    ntff_ahead_stop(ahead);
    ntff_build_give(b, x.batches, work.n_slots, sizeof *x.batches);
    b->waiting.n = 0;
    return good;
}
