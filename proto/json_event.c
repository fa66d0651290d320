/* json_event - what the keys of a JSON object mean. Two dialects of events, which one file may mix:
 *
 *   event  {"event_type":...,"phase":"start",...,"data":{...},"timestamp_ns":...}
 *   row    {"name":...,"timestamp":...,"duration":...,"process_id":"111",...}
 *
 * Readers and writers of rows disagree on types, so a number is accepted as a number, a string, or
 * a double that is whole. A key that is not understood, or whose value is not, becomes an
 * attribute: nothing but the form of the text is lost. The event goes into the store (store.h),
 * where the details are read from later, and as a struct ntff_rec to the builder, like any other
 * record. */
#include "proto/json_event.h"

#include "proto/event_types.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FACTS 64 /* from system_profile_metadata, per file */

static struct ntff_slice slice(const char *s)
{
    return (struct ntff_slice){s, strlen(s)};
}

void ntff_json_bad_event(struct ntff_json_taker *d, uint64_t offset, const char *why)
{
    struct ntff_counts *c = &ntff_build_trace(d->b)->counts;
    struct ntff_file *f = ntff_build_file(d->b, d->file);
    c->records_in++;
    c->dropped_records++;
    f->n_records++;
    f->n_dropped++;
    ntff_diag_add(d->diag, NTFF_DIAG_BAD_RECORD, 1, d->path, offset, "%s", why);
}

static void bad_sample(struct ntff_json_taker *d, const char *why)
{
    struct ntff_counts *c = &ntff_build_trace(d->b)->counts;
    struct ntff_file *f = ntff_build_file(d->b, d->file);
    c->samples_in++;
    c->samples_dropped++;
    f->n_records++;
    f->n_dropped++;
    ntff_diag_add(d->diag, NTFF_DIAG_BAD_RECORD, 1, d->path, d->offset, "%s", why);
}

/* -- numbers ---------------------------------------------------------------------------------- */

/* [-]digits[.digits][e[+-]digits] times 10^scale, cut to a whole number: exact where a double is
 * not (nanoseconds of today have 19 digits). False: not a number, or it does not fit 64 bits. */
static bool decimal(struct ntff_slice s, int scale, bool *negative, uint64_t *out)
{
    const char *p = s.p, *end = p + s.len;
    uint64_t v = 0;
    bool any = false, point = false;
    *negative = p < end && *p == '-';
    for (p += *negative; p < end; p++) {
        uint64_t longer;
        unsigned digit = (unsigned)(*p - '0');
        if (*p == '.' && !point) {
            point = true;
            continue;
        }
        if (digit > 9)
            break;
        any = true;
        if (!__builtin_mul_overflow(v, 10u, &longer) &&
            !__builtin_add_overflow(longer, digit, &longer)) {
            v = longer;
            scale -= point;
        } else if (!point) {
            return false;
        } /* else: further behind the point than 64 bits reach */
    }
    if (any && p < end && (*p == 'e' || *p == 'E')) {
        bool minus = ++p < end && *p == '-';
        int e = 0;
        for (p += p < end && (*p == '-' || *p == '+'); p < end && *p >= '0' && *p <= '9'; p++)
            e = e < 1000 ? e * 10 + (*p - '0') : e;
        scale += minus ? -e : e;
    }
    for (; scale > 0 && v; scale--)
        if (__builtin_mul_overflow(v, 10u, &v))
            return false;
    for (; scale < 0 && v; scale++)
        v /= 10;
    *out = v;
    return any && p == end;
}

/* v in decimal, ending before end. Returns its first digit. */
static char *digits_before(char *end, uint64_t v)
{
    do
        *--end = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    return end;
}

/* json-c silently takes the largest value for integers it cannot hold. */
static bool saturated(const struct ntff_json_taker *d, struct json_object *v)
{
    const char *limit = "18446744073709551615";
    if (json_object_get_int64(v) == INT64_MIN)
        limit = "-9223372036854775808";
    else if (json_object_get_uint64(v) != UINT64_MAX)
        return false;
    return !memmem(d->text.p, d->text.len, limit, strlen(limit));
}

/* v as JSON, or as its own text if it is one; memory may run out there, in the middle too. */
static struct ntff_slice json_text(struct ntff_json_taker *d, struct json_object *v, int how)
{
    errno = 0;
    const char *text = json_object_is_type(v, json_type_string)
                           ? json_object_get_string(v)
                           : json_object_to_json_string_ext(v, how);
    if (text && errno != ENOMEM)
        return slice(text);
    d->stopped = true;
    return (struct ntff_slice){"", 0};
}

/* The text of a number, from a number or a string. Empty for everything else, and for integers
 * beyond 64 bits. */
static struct ntff_slice number_text(struct ntff_json_taker *d, struct json_object *v)
{
    char *end = d->scratch + sizeof d->scratch, *p;
    switch (json_object_get_type(v)) {
    case json_type_int:
        if (saturated(d, v))
            break;
        if (json_object_get_int64(v) < 0) {
            p = digits_before(end, 0 - (uint64_t)json_object_get_int64(v));
            *--p = '-';
        } else {
            p = digits_before(end, json_object_get_uint64(v));
        }
        return (struct ntff_slice){p, (size_t)(end - p)};
    case json_type_double: /* as it was written */
        return json_text(d, v, JSON_C_TO_STRING_PLAIN);
    case json_type_string:
        return (struct ntff_slice){json_object_get_string(v),
                                   (size_t)json_object_get_string_len(v)};
    default:
        break;
    }
    return (struct ntff_slice){"", 0};
}

/* A number times 10^scale. */
static bool get_scaled(struct ntff_json_taker *d, struct json_object *v, int scale, bool *negative,
                       uint64_t *out)
{
    if (scale == 0 && json_object_is_type(v, json_type_int) && json_object_get_int64(v) >= 0) {
        *negative = false;
        *out = json_object_get_uint64(v);
        return *out != UINT64_MAX || !saturated(d, v);
    }
    return decimal(number_text(d, v), scale, negative, out);
}

static bool get_uint(struct ntff_json_taker *d, struct json_object *v, uint64_t max, uint64_t *out)
{
    bool negative;
    return get_scaled(d, v, 0, &negative, out) && !negative && *out <= max;
}

static bool get_int32(struct ntff_json_taker *d, struct json_object *v, int32_t *out)
{
    bool negative;
    uint64_t u;
    if (!get_scaled(d, v, 0, &negative, &u) || u > INT32_MAX)
        return false;
    *out = negative ? -(int32_t)u : (int32_t)u;
    return true;
}

/* Powers of ten from a row's unit of time to nanoseconds; rows without a unit are in ns [AWS:P2].
 */
static int unit_scale(struct json_object *row)
{
    static const struct {
        const char *name;
        int scale;
    } units[] = {{"us", 3}, {"ms", 6}, {"s", 9}};
    struct json_object *v;
    if (json_object_object_get_ex(row, "timestamp_unit", &v) &&
        json_object_is_type(v, json_type_string))
        for (size_t i = 0; i < NTFF_ARRAY_LEN(units); i++)
            if (strcmp(json_object_get_string(v), units[i].name) == 0)
                return units[i].scale;
    return 0;
}

/* -- attributes ------------------------------------------------------------------------------- */

/* json-c writes NaN and Infinity, which are not JSON; nesting is bounded by the scanner. */
static void null_for_nan(struct json_object *v)
{
    if (json_object_is_type(v, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(v); i++) {
            struct json_object *e = json_object_array_get_idx(v, i);
            if (json_object_is_type(e, json_type_double) && !isfinite(json_object_get_double(e)))
                json_object_array_put_idx(v, i, NULL);
            else
                null_for_nan(e);
        }
    } else if (json_object_is_type(v, json_type_object)) {
        json_object_object_foreach(v, key, e)
        {
            if (json_object_is_type(e, json_type_double) && !isfinite(json_object_get_double(e)))
                json_object_object_add(v, key, NULL);
            else
                null_for_nan(e);
        }
    }
}

static void take_attr(struct ntff_json_taker *d, struct ntff_rec *r, struct ntff_slice key,
                      struct json_object *v, bool top)
{
    enum ntff_store_kind kind = NTFF_STORE_NULL;
    struct ntff_slice text = {"", 0};
    switch (json_object_get_type(v)) {
    case json_type_string:
        kind = NTFF_STORE_TEXT;
        text = number_text(d, v);
        break;
    case json_type_int:
        kind = json_object_get_int64(v) < 0 ? NTFF_STORE_INT : NTFF_STORE_UINT;
        text = number_text(d, v);
        if (text.len == 0) {
            kind = NTFF_STORE_NULL;
            ntff_diag_add(d->diag, NTFF_DIAG_BAD_ATTRIBUTE, 1, d->path, d->offset,
                          "%s: an integer beyond 64 bits", key.p);
        }
        break;
    case json_type_double:
        if (isfinite(json_object_get_double(v))) {
            kind = NTFF_STORE_DOUBLE;
            text = number_text(d, v);
        }
        break;
    case json_type_boolean:
        kind = NTFF_STORE_BOOL;
        text = slice(json_object_get_boolean(v) ? "true" : "false");
        break;
    case json_type_object:
    case json_type_array:
        kind = NTFF_STORE_RAW;
        null_for_nan(v);
        text = json_text(d, v, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
        break;
    default:
        break;
    }
    ntff_store_attr(&d->store, key, kind, text, top);
    if (kind == NTFF_STORE_TEXT || kind == NTFF_STORE_UINT)
        ntff_rec_attr(r, key.p, key.len, text.p, text.len);
}

/* -- events ----------------------------------------------------------------------------------- */

/* What is known of the event so far, beyond its record. */
struct taking {
    struct ntff_rec *r;
    bool row;  /* dialect */
    bool lnc;  /* a row with lnc_idx: nc_idx means something else there */
    int scale; /* of times, to ns */
    bool has_time, has_name, has_phase, negative;
    uint64_t pid;
    const char *instance;
};

struct member {
    const char *key;
    bool row_only;
    /* False: not understood, the member becomes an attribute. */
    bool (*take)(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                 struct json_object *v);
    /* plain numbers: where they go in the store and in the record */
    uint32_t field, has;
    size_t offset; /* in struct ntff_rec; 0 = no place there */
};

static bool take_u64(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                     struct json_object *v)
{
    uint64_t u;
    if (!get_uint(d, v, UINT64_MAX, &u))
        return false;
    ntff_store_uint(&d->store, m->field, u);
    t->r->has |= m->has;
    if (m->offset)
        memcpy((char *)t->r + m->offset, &u, sizeof u);
    return true;
}

/* nc_idx and lnc_idx. */
static bool take_core(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                      struct json_object *v)
{
    uint64_t u;
    if ((t->lnc && m->key[0] == 'n') || !get_uint(d, v, NTFF_NONE - 1, &u))
        return false;
    ntff_store_uint(&d->store, 5, u);
    t->r->nc_idx = (uint32_t)u;
    return true;
}

/* The name of the event: a type of the table if it has that name there, text otherwise. */
static bool take_name(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                      struct json_object *v)
{
    (void)m;
    if (!json_object_is_type(v, json_type_string) || t->has_name)
        return false;
    struct ntff_slice name = number_text(d, v);
    if (name.len == 0)
        return false;
    t->r->type = ntff_event_type_by_name(name.p, name.len);
    const struct ntff_event_type *type = ntff_event_type(t->r->type);
    t->has_name = true;
    if (type && strcmp(type->name, name.p) == 0) {
        ntff_store_uint(&d->store, 7, t->r->type);
        return true;
    }
    ntff_store_text(&d->store, NTFF_STORE_TYPE_NAME, name);
    t->r->name = ntff_intern(&ntff_build_trace(d->b)->strs, name.p, name.len);
    d->stopped |= t->r->name == NTFF_STR_NONE;
    return true;
}

static bool take_phase(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                       struct json_object *v)
{
    static const char *const phases[] = {"unknown", "start", "stop", "instant"};
    (void)m;
    if (!json_object_is_type(v, json_type_string))
        return false;
    struct ntff_slice text = number_text(d, v);
    for (uint32_t i = 0; i < NTFF_ARRAY_LEN(phases); i++)
        if (strcmp(text.p, phases[i]) == 0) {
            ntff_store_uint(&d->store, 14, i);
            t->r->phase = i;
            t->has_phase = true;
            return true;
        }
    ntff_store_text(&d->store, NTFF_STORE_PHASE_TEXT, text);
    return true;
}

static bool take_time(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                      struct json_object *v)
{
    bool negative;
    uint64_t ns;
    int scale = m->row_only ? t->scale : 0; /* timestamp, timestamp_ns */
    if (t->has_time || !get_scaled(d, v, scale, &negative, &ns) || negative)
        return false;
    t->has_time = true;
    t->r->timestamp_ns = ns;
    ntff_store_uint(&d->store, 2, ns);
    return true;
}

static bool take_duration(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                          struct json_object *v)
{
    uint64_t ns;
    bool negative;
    (void)m;
    if (!get_scaled(d, v, t->scale, &negative, &ns))
        return false;
    t->negative = negative && ns;
    if (t->negative)
        return false;
    t->r->duration_ns = ns;
    ntff_store_uint(&d->store, 8, ns);
    return true;
}

static bool take_gid(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                     struct json_object *v)
{
    int32_t gid;
    (void)m;
    if (!get_int32(d, v, &gid))
        return false;
    ntff_store_uint(&d->store, NTFF_STORE_WORKER_GID, ntff_zigzag(gid));
    t->r->worker_gid = gid;
    if (gid >= 0)
        t->r->has |= NTFF_HAS_GID;
    return true;
}

static bool take_data(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                      struct json_object *v)
{
    if (!json_object_is_type(v, json_type_object)) {
        ntff_diag_add(d->diag, NTFF_DIAG_BAD_ATTRIBUTE, 1, d->path, d->offset,
                      "\"%s\" is not an object", m->key);
        return false;
    }
    if (json_object_object_length(v) == 0)
        ntff_store_uint(&d->store, NTFF_STORE_EMPTY_DATA, 1);
    json_object_object_foreach(v, name, value) take_attr(d, t->r, slice(name), value, false);
    return true;
}

static bool take_process(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                         struct json_object *v)
{
    (void)m;
    return get_uint(d, v, UINT64_MAX, &t->pid);
}

static bool take_instance(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                          struct json_object *v)
{
    (void)d, (void)m;
    if (!json_object_is_type(v, json_type_string))
        return false;
    t->instance = json_object_get_string(v);
    return true;
}

/* timestamp_unit: used already, for every time of the row. */
static bool take_unit(struct ntff_json_taker *d, struct taking *t, const struct member *m,
                      struct json_object *v)
{
    (void)d, (void)t, (void)m;
    return json_object_is_type(v, json_type_string);
}

#define REC(member) offsetof(struct ntff_rec, member)
static const struct member members[] = {
    /* as the runtime writes them */
    {"event_type", false, take_name, 0, 0, 0},
    {"phase", false, take_phase, 0, 0, 0},
    {"id", false, take_u64, 10, 0, REC(id)},
    {"nc_idx", false, take_core, 0, 0, 0},
    {"nc_local_id", false, take_u64, NTFF_STORE_NC_LOCAL_ID, 0, 0},
    {"tracking_id", false, take_u64, 15, 0, REC(tracking_id)},
    {"thread_id", false, take_u64, 9, 0, REC(thread_id)},
    {"worker_gid", false, take_gid, 0, 0, 0},
    {"data", false, take_data, 0, 0, 0},
    {"timestamp_ns", false, take_time, 0, 0, 0},
    {"nrta_seq_id", false, take_u64, 16, NTFF_HAS_SEQ, REC(nrta_seq_id)},
    /* older runtimes, and rows */
    {"parent_id", false, take_u64, 11, 0, 0},
    {"duration", false, take_duration, 0, 0, 0},
    {"name", true, take_name, 0, 0, 0},
    {"timestamp", true, take_time, 0, 0, 0},
    {"timestamp_unit", true, take_unit, 0, 0, 0},
    {"lnc_idx", true, take_core, 0, 0, 0},
    {"process_id", true, take_process, 0, 0, 0},
    {"instance_id", true, take_instance, 0, 0, 0},
    {"args", true, take_data, 0, 0, 0},
};
#undef REC

static void take_member(struct ntff_json_taker *d, struct taking *t, const char *key,
                        struct json_object *v)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(members); i++) {
        const struct member *m = &members[i];
        if (m->key[0] != key[0] || strcmp(m->key, key) != 0)
            continue;
        if ((t->row || !m->row_only) && m->take(d, t, m, v))
            return;
        break;
    }
    take_attr(d, t->r, slice(key), v, true);
}

static uint32_t process_of(struct ntff_json_taker *d, const char *instance, uint64_t pid)
{
    if (!instance && !pid)
        return d->proc;
    if (!instance)
        instance = "";
    if (d->row_proc == NTFF_NONE || d->pid != pid || strcmp(d->instance, instance) != 0) {
        d->row_proc = ntff_build_process(d->b, instance, pid, d->path);
        d->pid = pid;
        snprintf(d->instance, sizeof d->instance, "%s", instance);
        d->stopped |= d->row_proc == NTFF_NONE;
    }
    return d->row_proc;
}

/* A row without a phase is a whole span, or an instant if it has no length. */
static void settle_phase(struct ntff_json_taker *d, struct taking *t)
{
    if (t->negative)
        ntff_diag_add(d->diag, NTFF_DIAG_NEGATIVE_DURATION, 1, d->path, d->offset,
                      "duration below 0");
    if (t->has_phase || (!t->row && !t->r->duration_ns))
        return;
    t->r->phase = t->r->duration_ns ? NTFF_PHASE_START : NTFF_PHASE_INSTANT;
}

void ntff_json_take_event(struct ntff_json_taker *d, struct json_object *o)
{
    struct ntff_rec r = {.type = NTFF_NONE, .worker_gid = -1};
    struct taking t = {.r = &r};
    t.row = !json_object_object_get_ex(o, "event_type", NULL);
    t.lnc = t.row && json_object_object_get_ex(o, "lnc_idx", NULL);
    t.scale = t.row ? unit_scale(o) : 0;
    ntff_store_begin(&d->store);
    json_object_object_foreach(o, key, v) take_member(d, &t, key, v);

    if (!t.has_time || !t.has_name) {
        ntff_json_bad_event(d, d->offset,
                            t.has_time ? "an event without a name" : "an event without a time");
        return;
    }
    ntff_build_file(d->b, d->file)->n_records++;
    settle_phase(d, &t);
    uint32_t proc = process_of(d, t.instance, t.pid);
    if (d->stopped || !ntff_store_commit(&d->store, &r.ref) || !ntff_build_record(d->b, proc, &r))
        d->stopped = true;
}

/* -- host samples ----------------------------------------------------------------------------- */

/* The value of a sample in the form its counter holds. */
static bool sample_value(struct ntff_json_taker *d, struct json_object *v, bool is_double,
                         int64_t *i, double *dbl)
{
    bool negative;
    uint64_t u;
    *i = 0, *dbl = 0;
    if (is_double) {
        struct ntff_slice text = number_text(d, v);
        char *end;
        *dbl = strtod(text.p, &end);
        return text.len && end == text.p + text.len && isfinite(*dbl);
    }
    if (!get_scaled(d, v, 0, &negative, &u) || negative || u > INT64_MAX)
        return false;
    *i = (int64_t)u;
    return true;
}

/* One value of a counter below "Counters" of the row's process or, where a row names an instance
 * alone, of a process that stands for that host. */
static void take_sample(struct ntff_json_taker *d, struct json_object *row, const char *name,
                        struct json_object *value, struct ntff_track track)
{
    struct json_object *v;
    bool negative;
    uint64_t ts, pid = 0;
    int64_t i;
    double dbl;
    const char *instance = NULL;
    if (!json_object_object_get_ex(row, "timestamp", &v) ||
        !get_scaled(d, v, unit_scale(row), &negative, &ts) || negative) {
        bad_sample(d, "a sample without a time");
        return;
    }
    if (!sample_value(d, value, track.is_double, &i, &dbl)) {
        bad_sample(d, "a sample without a value");
        return;
    }
    if (json_object_object_get_ex(row, "instance_id", &v) && v)
        instance = json_text(d, v, JSON_C_TO_STRING_SPACED).p;
    if (json_object_object_get_ex(row, "process_id", &v) && !get_uint(d, v, UINT64_MAX, &pid))
        pid = 0;
    ntff_build_file(d->b, d->file)->n_records++;
    track.kind = NTFF_TRACK_COUNTER;
    track.nc = track.core = NTFF_NONE;
    track.process = process_of(d, instance, pid);
    uint32_t group = d->stopped ? NTFF_NONE : ntff_build_counters(d->b, track.process);
    uint32_t id = group == NTFF_NONE ? NTFF_NONE : ntff_build_track(d->b, group, name, &track);
    if (id == NTFF_NONE || !ntff_build_sample(d->b, id, ts, i, dbl))
        d->stopped = true;
}

/* Names and ranks are those of the counters from cpu_util.pb and host_mem.pb. */
void ntff_json_take_cpu(struct ntff_json_taker *d, struct json_object *o)
{
    struct ntff_track track = {.unit = NTFF_UNIT_PERCENT, .is_double = true, .rank = 999};
    struct json_object *id, *util;
    char name[64];
    uint64_t cpu;
    if (!json_object_object_get_ex(o, "util", &util) ||
        !json_object_object_get_ex(o, "cpu_id", &id) || !id) {
        bad_sample(d, "a CPU sample without util or cpu_id");
        return;
    }
    track.share_key = ntff_intern(&ntff_build_trace(d->b)->strs, "cpu", 3);
    if (get_uint(d, id, 100000, &cpu)) {
        snprintf(name, sizeof name, "CPU %02" PRIu64, cpu);
        track.rank = 1000 + (int32_t)cpu;
    } else { /* "average" */
        snprintf(name, sizeof name, "CPU %s", json_text(d, id, JSON_C_TO_STRING_SPACED).p);
    }
    take_sample(d, o, name, util, track);
}

void ntff_json_take_memory(struct ntff_json_taker *d, struct json_object *o)
{
    const struct ntff_track track = {.unit = NTFF_UNIT_BYTES, .rank = 950};
    struct json_object *usage;
    if (json_object_object_get_ex(o, "usage", &usage))
        take_sample(d, o, "Host memory", usage, track);
    else
        bad_sample(d, "a memory sample without usage");
}

/* {"hbm_idx":0,"total_bytes":...,"dram_spill_bytes":...}: a counter for each kind of use. */
void ntff_json_take_device_memory(struct ntff_json_taker *d, struct json_object *o)
{
    struct ntff_track track = {.unit = NTFF_UNIT_BYTES};
    struct json_object *idx;
    uint64_t hbm = 0;
    if (json_object_object_get_ex(o, "hbm_idx", &idx) && !get_uint(d, idx, NTFF_NONE, &hbm))
        hbm = 0;
    track.share_key = ntff_intern(&ntff_build_trace(d->b)->strs, "hbm", 3);
    track.rank = 100 + (hbm < 1000 ? (int32_t)hbm * 32 : 32000);
    json_object_object_foreach(o, key, v)
    {
        size_t len = strlen(key);
        char name[96];
        if (len <= 6 || strcmp(key + len - 6, "_bytes") != 0 || !v)
            continue;
        snprintf(name, sizeof name, "HBM%" PRIu64 " %.*s", hbm, (int)(len < 64 ? len - 6 : 58),
                 key);
        take_sample(d, o, name, v, track);
    }
}

void ntff_json_take_metadata(struct ntff_json_taker *d, struct json_object *o)
{
    json_object_object_foreach(o, key, v)
    {
        if (d->n_facts == MAX_FACTS || d->stopped)
            return;
        d->n_facts++;
        const char *text = v ? json_text(d, v, JSON_C_TO_STRING_SPACED).p : "";
        d->stopped |= !ntff_build_fact(d->b, d->file, key, text, NULL);
    }
}
