/* probe - see probe.h. A candidate is a pair (kind of record, framing); each is scored by how far
 * its chain of records goes and whether the records looked into pass as that kind. */
#include "proto/probe.h"

#include <string.h>

#define PROBE_RECORDS 4096
#define UNIX_NS_FLOOR (UINT64_C(1) << 59)

const char *ntff_framing_name(int framing)
{
    static const char *const names[] = {"bare message", "varint length before each record",
                                        "u32 length before each record",
                                        "u64 length before each record"};
    return names[framing];
}

uint64_t ntff_frame_any(const uint8_t *data, uint64_t len, uint64_t off, enum ntff_framing framing,
                        const uint8_t **msg, size_t *msg_len)
{
    const uint8_t *p = data + off, *end = data + len;
    uint64_t n;
    switch (framing) {
    case NTFF_FRAME_U32:
        if (end - p < 4)
            return 0;
        n = ntff_le32(p);
        p += 4;
        break;
    case NTFF_FRAME_U64:
        if (end - p < 8)
            return 0;
        n = ntff_le64(p);
        p += 8;
        break;
    default:
        if (!(p = ntff_varint(p, end, &n)))
            return 0;
    }
    if (n > (uint64_t)(end - p))
        return 0;
    *msg = p;
    *msg_len = n;
    return (uint64_t)(p - data) + n;
}

/* -- records of the host samplers ----------------------------------------------------------------
 */

/* A flat record of scalars only: cpu_util {index, float, time} or host_mem_usage {bytes, time}.
 * Which number is which: the time is the one above 2^59, the float the only 4-byte one. */
struct sampler_test {
    uint32_t n, n_float, n_time;          /* records, with a float, with exactly one time */
    uint32_t time_no, float_no, other_no; /* numbers seen, 0 = none; UINT32_MAX = several */
};

static void one_number(uint32_t *have, uint32_t number)
{
    *have = *have == 0 || *have == number ? number : UINT32_MAX;
}

static bool sampler_look(struct sampler_test *t, const uint8_t *msg, size_t len)
{
    struct ntff_wire w = ntff_wire_init(msg, len);
    struct ntff_field f;
    int r, times = 0, fields = 0;
    while ((r = ntff_wire_next(&w, &f)) > 0) {
        if (f.number > 64 || f.type == NTFF_WT_LEN || f.type == NTFF_WT_I64 || ++fields > 4)
            return false; /* three are known; an event without attributes has five and more */
        if (f.type == NTFF_WT_I32) {
            one_number(&t->float_no, f.number);
            t->n_float++;
        } else if (f.value > UNIX_NS_FLOOR && f.value < UINT64_C(1) << 62) {
            one_number(&t->time_no, f.number);
            times++;
        } else {
            one_number(&t->other_no, f.number);
        }
    }
    t->n++;
    t->n_time += times == 1;
    return r == 0 && times == 1;
}

/* -- stream forms --------------------------------------------------------------------------------
 */

struct chain {
    uint64_t good_bytes, n;
    bool exact;
    bool open;   /* not followed further: it may go on */
    bool filled; /* a record was not empty */
};

/* Follows the lengths for at most so many records more. */
static void follow(struct chain *c, const uint8_t *data, uint64_t len, enum ntff_framing framing,
                   uint64_t most)
{
    const uint8_t *msg;
    size_t n;
    uint64_t next = 1;
    for (; most > 0 && c->good_bytes < len; most--, c->n++) {
        if (!(next = ntff_frame_next(data, len, c->good_bytes, framing, &msg, &n)))
            break;
        c->good_bytes = next;
        c->filled |= n > 0;
    }
    c->exact = c->good_bytes == len;
    c->open = next && !c->exact;
}

void ntff_probe_follow(struct ntff_probe *p, const uint8_t *data, uint64_t len)
{
    struct chain c = {.good_bytes = p->good_bytes, .n = p->n_records};
    if (!p->open)
        return;
    follow(&c, data, len, p->framing, UINT64_MAX);
    p->good_bytes = c.good_bytes;
    p->n_records = c.n;
    p->exact = c.exact;
    p->open = false;
}

/* Does the plan find Unix times in the records? A schema of another version may not. */
static void check_plan(const struct ntff_event_plan *plan, struct ntff_numbering_test *t,
                       const uint8_t *msg, size_t len)
{
    struct ntff_wire w = ntff_wire_init(msg, len);
    struct ntff_field f;
    if (plan->numbering != NTFF_NUM_SCHEMA)
        return;
    while (ntff_wire_next(&w, &f) > 0)
        t->plan_big +=
            ntff_plan_slot(plan, f.number) == NTFF_S_TIMESTAMP && f.value > UNIX_NS_FLOOR;
}

/* Do the first records of a stream pass as events? The share that must: all but the torn last one.
 */
static bool stream_of_events(const uint8_t *data, uint64_t len, enum ntff_framing framing,
                             const struct ntff_event_plan *plan, struct ntff_numbering_test *test)
{
    const uint8_t *msg;
    size_t n;
    uint64_t off = 0, next, seen = 0, bad = 0, filled = 0;
    for (; seen < PROBE_RECORDS && off < len; seen++, off = next) {
        if (!(next = ntff_frame_next(data, len, off, framing, &msg, &n)))
            break;
        if (!ntff_event_plausible(plan, msg, n)) {
            bad++;
            continue;
        }
        filled += n > 0;
        ntff_numbering_look(test, msg, n);
        check_plan(plan, test, msg, n);
    }
    return filled > 0 && bad * 20 <= seen; /* a few damaged ones do not change what it is */
}

static bool stream_of_samples(const uint8_t *data, uint64_t len, enum ntff_framing framing,
                              struct sampler_test *test)
{
    const uint8_t *msg;
    size_t n;
    uint64_t off = 0, next, seen = 0, bad = 0;
    for (; seen < PROBE_RECORDS && off < len; seen++, off = next) {
        if (!(next = ntff_frame_next(data, len, off, framing, &msg, &n)))
            break;
        bad += !sampler_look(test, msg, n);
    }
    if (test->n_float == 0 && test->other_no == UINT32_MAX)
        return false; /* memory use is one number */
    return seen > 0 && bad * 20 <= seen && test->time_no && test->time_no != UINT32_MAX;
}

/* Keeps the better of two candidates: exact before torn, then the one that gets further. */
static void offer(struct ntff_probe *best, const struct ntff_probe *p)
{
    if (best->kind == NTFF_FILE_UNKNOWN || p->exact > best->exact ||
        (p->exact == best->exact && p->good_bytes > best->good_bytes))
        *best = *p;
}

static void plan_of(struct ntff_probe *p, const struct ntff_event_plan *given,
                    const struct ntff_numbering_test *test)
{
    bool fits = test->plan_big * 4 > test->n || test->plan_big >= test->one_big + test->two_big;
    p->plan = *given;
    if (given->numbering == NTFF_NUM_SCHEMA && fits)
        return;
    p->misfit = given->numbering == NTFF_NUM_SCHEMA;
    ntff_numbering_judge(test, &p->plan);
}

static void try_stream(const uint8_t *data, uint64_t len, enum ntff_framing framing,
                       const struct chain *c, const struct ntff_event_plan *plan,
                       struct ntff_probe *best)
{
    struct ntff_numbering_test events = {0};
    struct sampler_test samples = {0};
    struct ntff_probe p = {.framing = framing,
                           .exact = c->exact,
                           .open = c->open,
                           .good_bytes = c->good_bytes,
                           .n_records = c->n};
    if (c->n == 0 || (!c->exact && c->n < 2 && c->good_bytes < len / 2))
        return;
    if (stream_of_samples(data, len, framing, &samples)) {
        bool cpu = samples.n_float * 2 > samples.n || (samples.n_float && samples.n < 64);
        p.kind = cpu ? NTFF_FILE_CPU_UTIL : NTFF_FILE_HOST_MEM;
        p.n_time = samples.time_no;
        p.n_value = cpu ? samples.float_no : samples.other_no;
        p.n_index = cpu ? samples.other_no : 0;
        offer(best, &p);
    } else if (stream_of_events(data, len, framing, plan, &events)) {
        p.kind = NTFF_FILE_NTRACE;
        plan_of(&p, plan, &events);
        offer(best, &p);
    }
}

/* Where one form is ahead after the first records and the others have ended, nothing further on
 * can change which gets furthest: the rest is not walked here, whoever reads it will. */
static void try_streams(const uint8_t *data, uint64_t len, const struct ntff_event_plan *plan,
                        struct ntff_probe *best)
{
    enum { FIRST = NTFF_FRAME_VARINT, LAST = NTFF_FRAME_U64, ALL = LAST + 1 };
    struct chain c[ALL] = {{0}};
    uint64_t furthest = best->kind == NTFF_FILE_UNKNOWN ? 0 : best->good_bytes;
    unsigned n_open = 0;
    for (int f = FIRST; f <= LAST; f++) {
        follow(&c[f], data, len, (enum ntff_framing)f, PROBE_RECORDS);
        if (!c[f].filled) /* zeros without end are lengths to every form: not worth a walk */
            c[f] = (struct chain){0};
        n_open += c[f].open;
        if (!c[f].open && c[f].good_bytes > furthest)
            furthest = c[f].good_bytes;
    }
    for (int f = FIRST; f <= LAST; f++) {
        if (c[f].open && (n_open > 1 || c[f].good_bytes <= furthest))
            follow(&c[f], data, len, (enum ntff_framing)f, UINT64_MAX);
        try_stream(data, len, (enum ntff_framing)f, &c[f], plan, best);
    }
}

/* -- the bare ntrace_info ------------------------------------------------------------------------
 */

#define MAX_NUMBER 64
#define MANY 4   /* records that make events of a list, not one message that looks like an event */
#define ID_MAP 2 /* interned_data_db.id_map, A [FMT] */

struct bare_test { /* per field number */
    uint32_t n, events, interned, profiles;
};

/* {2: {1: varint, 2: text}}: an interned_data_db [FMT]. Field 1 may be a label. With a schema the
 * map may have another number, and other fields beside it. */
static bool looks_interned(const uint8_t *data, size_t len, uint32_t id_map)
{
    struct ntff_wire w = ntff_wire_init(data, len);
    struct ntff_field f, kv;
    int r, maps = 0;
    while ((r = ntff_wire_next(&w, &f)) > 0) {
        if (id_map == ID_MAP && (f.type != NTFF_WT_LEN || f.number > 2))
            return false;
        if (f.number != id_map)
            continue;
        if (f.type != NTFF_WT_LEN)
            return false;
        struct ntff_wire e = ntff_wire_init(f.data, f.value);
        bool key = false, text = false;
        while ((r = ntff_wire_next(&e, &kv)) > 0) {
            key |= kv.number == 1 && kv.type == NTFF_WT_VARINT && kv.value > 0;
            text |= kv.number == 2 && kv.type == NTFF_WT_LEN;
            if (kv.number > 2)
                return false;
        }
        if (r < 0 || !key || !text)
            return false;
        maps++;
    }
    return r == 0 && maps > 0;
}

/* A message with a text that ends in ".ntff": an ntrace_data_file. */
static bool looks_profile(const uint8_t *data, size_t len)
{
    struct ntff_wire w = ntff_wire_init(data, len);
    struct ntff_field f;
    bool found = false;
    int r;
    while ((r = ntff_wire_next(&w, &f)) > 0)
        found |=
            f.type == NTFF_WT_LEN && f.value > 5 && memcmp(f.data + f.value - 5, ".ntff", 5) == 0;
    return r == 0 && found;
}

static uint32_t winner(const struct bare_test *t, size_t member)
{
    uint32_t best = 0, most = 0;
    for (uint32_t i = 1; i < MAX_NUMBER; i++) {
        uint32_t n = *(const uint32_t *)((const char *)&t[i] + member);
        if (n > most && n * 20 >= t[i].n * 19) {
            most = n;
            best = i;
        }
    }
    return best;
}

static void bare_look(struct bare_test *t, const struct ntff_field *f,
                      const struct ntff_event_plan *plan, uint32_t id_map,
                      struct ntff_numbering_test *numbering)
{
    t = &t[f->number];
    t->n++;
    /* an event has more than texts in it; an interned table and a file entry do not pass as one */
    if (looks_interned(f->data, f->value, id_map)) {
        t->interned++;
    } else if (looks_profile(f->data, f->value)) {
        t->profiles++;
    } else if (f->value > 8 && ntff_event_plausible(plan, f->data, f->value)) {
        t->events++;
        if (t->events > PROBE_RECORDS)
            return;
        ntff_numbering_look(numbering, f->data, f->value);
        check_plan(plan, numbering, f->data, f->value);
    }
}

/* Has the file what a trace_info has, apart from events? A known part, or several scalars of a
 * kind. */
static bool try_bare(const uint8_t *data, uint64_t len, const struct ntff_event_plan *plan,
                     uint32_t id_map, struct ntff_probe *best)
{
    struct ntff_wire w = ntff_wire_init(data, len);
    struct bare_test test[MAX_NUMBER] = {{0}};
    struct ntff_numbering_test numbering = {0};
    struct ntff_field f;
    uint64_t looked = 0;
    uint32_t scalars = 0, n_fields = 0;
    bool big_time = false;
    int r;
    while ((r = ntff_wire_next(&w, &f)) > 0) {
        n_fields++;
        if (f.number >= MAX_NUMBER)
            return false;
        if (f.type == NTFF_WT_LEN && looked < PROBE_RECORDS) {
            looked++;
            bare_look(test, &f, plan, id_map, &numbering);
        } else if (f.type == NTFF_WT_VARINT) {
            scalars++;
            big_time |= f.value > UNIX_NS_FLOOR;
        }
    }
    struct ntff_probe p = {.framing = NTFF_FRAME_BARE,
                           .exact = r == 0,
                           .good_bytes = (uint64_t)(w.p - data),
                           .n_id_map = id_map};
    p.n_events = winner(test, offsetof(struct bare_test, events));
    p.n_interned = winner(test, offsetof(struct bare_test, interned));
    p.n_profiles = winner(test, offsetof(struct bare_test, profiles));
    if (p.n_events && numbering.one_big + numbering.two_big + numbering.plan_big == 0)
        p.n_events = 0; /* no record ever carries a Unix time: not events */
    plan_of(&p, plan, &numbering);
    if (p.n_events)
        p.kind = NTFF_FILE_NTRACE;
    else if ((p.n_interned || p.n_profiles || (scalars >= 3 && big_time)) && r == 0 &&
             n_fields < 4096)
        p.kind = NTFF_FILE_TRACE_INFO;
    else
        return false;
    p.n_records = p.n_events ? test[p.n_events].n : 0;
    offer(best, &p);
    return true;
}

/* -- with a schema -------------------------------------------------------------------------------
 */

/* True if the message has a field of this number. */
static bool occurs(const uint8_t *data, uint64_t len, uint32_t number)
{
    struct ntff_wire w = ntff_wire_init(data, len);
    struct ntff_field f;
    while (ntff_wire_next(&w, &f) > 0)
        if (f.number == number)
            return true;
    return false;
}

/* The schema's number of a list in ntrace_info; the one found by test only if that is another one
 * and the schema's does not even occur. */
static uint32_t list_number(const uint8_t *data, uint64_t len, const struct ntff_schema *s,
                            const char *field, uint32_t found, bool *misfit)
{
    uint32_t n = ntff_schema_number(s, "ntrace_info", field);
    if (found && n && n != found && !occurs(data, len, n)) {
        *misfit = true;
        return found;
    }
    return n ? n : found;
}

static void use_schema_numbers(const uint8_t *data, uint64_t len, struct ntff_probe *p,
                               const struct ntff_schema *s)
{
    p->from_schema = true;
    if (p->kind == NTFF_FILE_CPU_UTIL) {
        uint32_t t = ntff_schema_number(s, "cpu_util", "timestamp");
        p->misfit = t && t != p->n_time;
    } else if (p->kind == NTFF_FILE_HOST_MEM) {
        uint32_t t = ntff_schema_number(s, "host_mem_usage", "timestamp");
        p->misfit = t && t != p->n_time;
    } else if (p->framing == NTFF_FRAME_BARE) {
        p->n_events = list_number(data, len, s, "events", p->n_events, &p->misfit);
        p->n_interned = list_number(data, len, s, "interned_data", p->n_interned, &p->misfit);
        p->n_profiles = ntff_schema_number(s, "ntrace_info", "collected_profiles");
    }
}

bool ntff_probe_pb(const uint8_t *data, uint64_t len, const struct ntff_schema *schema,
                   struct ntff_probe *out)
{
    struct ntff_event_plan plan;
    bool given = schema && schema->origin != NTFF_SCHEMA_BUILTIN;
    if (!given || !ntff_plan_bind(&plan, schema))
        ntff_plan_init(&plan, NTFF_NUM_TABLE);
    *out = (struct ntff_probe){.kind = NTFF_FILE_UNKNOWN};
    uint32_t id_map = given ? ntff_schema_number(schema, "interned_data_db", "id_map") : ID_MAP;
    try_bare(data, len, &plan, id_map ? id_map : ID_MAP, out);
    if (!(out->exact && out->kind == NTFF_FILE_NTRACE && out->n_records > 4))
        try_streams(data, len, &plan, out);
    if (given && out->kind != NTFF_FILE_NTRACE) { /* events that this schema does not see? */
        struct ntff_probe other;
        bool found = ntff_probe_pb(data, len, NULL, &other);
        if (found && (out->kind == NTFF_FILE_UNKNOWN ||
                      (other.kind == NTFF_FILE_NTRACE && other.n_records >= MANY))) {
            *out = other;
            out->misfit = true;
            return true;
        }
    }
    if (out->kind != NTFF_FILE_UNKNOWN && given)
        use_schema_numbers(data, len, out, schema);
    return out->kind != NTFF_FILE_UNKNOWN;
}

/* -- raw records ---------------------------------------------------------------------------------
 */

bool ntff_probe_raw112(const uint8_t *data, uint64_t len)
{
    uint64_t n = len / 112, good = 0, looked = n < PROBE_RECORDS ? n : PROBE_RECORDS;
    if (n == 0)
        return false;
    for (uint64_t i = 0; i < looked; i++) {
        const uint8_t *r = data + i * 112;
        uint64_t ts = ntff_le64(r + 40), nc_ts = ntff_le64(r + 48);
        (void)nc_ts;
        good += ntff_le32(r) < 256 && ntff_le32(r + 88) <= 2 && r[104] <= 1 && ts > 0 &&
                ts < UINT64_C(1) << 62 && ntff_le32(r + 92) < 4096;
    }
    return good * 20 >= looked * 19;
}
