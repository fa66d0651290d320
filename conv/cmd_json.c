/* json - runtime events as the runtime itself would hand them out:
 * {"events":[{11 keys}...],"data_version":2} [SERDE] [TAX], so that scripts written against the
 * live interface read files.
 *
 * Every record of the inputs becomes one object, in file order. What came from such JSON goes back
 * byte for byte: its records keep keys, order and types (proto/store.h). Records of ntrace.pb and
 * of raw dumps get the runtime's keys in its order; times of device events are those they were
 * placed at, as the runtime hands out host time. A row of system_profile.json, which is a whole
 * span, becomes a start and a stop. */
#include "conv/conv.h"
#include "conv/figtext.h"
#include "conv/jsonw.h"
#include "proto/keys.h"
#include "conv/outfile.h"
#include "conv/redact.h"
#include "proto/event_types.h"
#include "proto/plan.h"
#include "proto/store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    const char *output;
    bool force, quiet;
};

/* A record and the half of the event it is. */
struct item {
    uint64_t at; /* source << 32 | offset */
    uint32_t event;
    bool stop;
};

struct writer {
    const struct ntff_trace *t;
    struct ntff_put w;
    struct ntff_detail detail;
    bool any; /* an object was written */
    bool key; /* a key of the current object was */
    bool in_data;
    struct ntff_keys keys, data_keys; /* of the event; of its "data" */
    bool starved;                     /* memory ran out */
    uint64_t numbers;                 /* tracking ids for rows that have none */
};

/* -- pieces ---------------------------------------------------------------------------------------
 */

static void key_len(struct writer *j, const char *key, size_t len)
{
    struct ntff_slice name = ntff_keys_take(j->in_data ? &j->data_keys : &j->keys, key, len);
    if (j->key)
        conv_json_raw(&j->w, ",");
    conv_json_put_text(&j->w, name.p, name.len);
    conv_json_raw(&j->w, ":");
    j->key = true;
}

static void key(struct writer *j, const char *name)
{
    key_len(j, name, strlen(name));
}

static void key_u64(struct writer *j, const char *name, uint64_t v)
{
    key(j, name);
    conv_json_put_u64(&j->w, v);
}

static void key_text(struct writer *j, const char *name, const char *text)
{
    key(j, name);
    conv_json_put_text(&j->w, text, strlen(text));
}

static void open_event(struct writer *j)
{
    conv_json_raw(&j->w, j->any ? ",{" : "{");
    ntff_keys_begin(&j->keys);
    j->any = true;
    j->key = false;
}

static void close_event(struct writer *j)
{
    conv_json_raw(&j->w, "}");
    ntff_put_done(&j->w);
}

static void open_data(struct writer *j)
{
    key(j, "data");
    conv_json_raw(&j->w, "{");
    ntff_keys_begin(&j->data_keys);
    j->in_data = true;
    j->key = false;
}

static void close_data(struct writer *j)
{
    conv_json_raw(&j->w, "}");
    j->in_data = false;
    j->key = true;
}

static const char *phase_name(uint64_t phase)
{
    static const char *const names[] = {"unknown", "start", "stop", "instant"};
    return phase < NTFF_ARRAY_LEN(names) ? names[phase] : names[0];
}

/* -- the facts every record has, in the runtime's order -------------------------------------------
 */

struct common {
    char name[32];
    const char *type_name;
    uint64_t phase, id, nc_idx, nc_local_id, tracking_id, thread_id, timestamp_ns, seq;
    int64_t worker_gid;
    bool has_seq;
};

static const char *type_name(struct common *c, uint64_t type)
{
    const struct ntff_event_type *t =
        type < NTFF_N_EVENT_TYPES ? ntff_event_type((uint32_t)type) : NULL;
    snprintf(c->name, sizeof c->name, "type %" PRIu64, type);
    return t ? t->name : c->name;
}

static void before_data(struct writer *j, const struct common *c)
{
    key_text(j, "event_type", c->type_name);
    key_text(j, "phase", phase_name(c->phase));
    key_u64(j, "id", c->id);
    key_u64(j, "nc_idx", c->nc_idx);
    key_u64(j, "nc_local_id", c->nc_local_id);
    key_u64(j, "tracking_id", c->tracking_id);
    key_u64(j, "thread_id", c->thread_id);
    key(j, "worker_gid");
    conv_json_put_i64(&j->w, c->worker_gid);
    open_data(j);
}

static void after_data(struct writer *j, const struct common *c)
{
    close_data(j);
    key_u64(j, "timestamp_ns", c->timestamp_ns);
    if (c->has_seq)
        key_u64(j, "nrta_seq_id", c->seq);
}

/* Per-core numbers are the low 50 bits of ids. */
static uint64_t local_id(uint64_t id)
{
    return id & ((UINT64_C(1) << 50) - 1);
}

/* Host time of a half: where a device event was placed, else as recorded. */
static uint64_t half_time(const struct ntff_event *e, bool stop, uint64_t recorded_ns)
{
    if (!(e->flags & NTFF_EV_DEVICE) || e->flags & NTFF_EV_UNALIGNED)
        return recorded_ns;
    return stop ? ntff_event_end(e) : e->ts_ns;
}

static int64_t gid_of(const struct ntff_trace *t, const struct ntff_event *e)
{
    uint32_t p = t->tracks[e->track].process;
    return p < t->n_processes ? t->processes[p].worker_gid : -1;
}

/* -- records of ntrace.pb -------------------------------------------------------------------------
 */

static bool is_key(struct ntff_slice s, const char *name)
{
    return s.len == strlen(name) && memcmp(s.p, name, s.len) == 0;
}

/* -?digits that fit 64 bits, written canonically. */
static bool is_integer(struct ntff_slice s)
{
    bool minus = s.len && s.p[0] == '-';
    size_t n = s.len - minus;
    const char *p = s.p + minus, *most = minus ? "9223372036854775808" : "18446744073709551615";
    if (n == 0 || (p[0] == '0' && (n > 1 || minus)) || n > strlen(most))
        return false;
    for (size_t i = 0; i < n; i++)
        if (p[i] < '0' || p[i] > '9')
            return false;
    return n < strlen(most) || memcmp(p, most, n) <= 0;
}

/* 0 for what is no such integer. */
static uint64_t unsigned_value(struct ntff_slice s)
{
    uint64_t v = 0;
    if (is_integer(s) && s.p[0] != '-')
        for (size_t i = 0; i < s.len; i++)
            v = v * 10 + (uint64_t)(s.p[i] - '0');
    return v;
}

static void put_redacted(struct writer *j, struct ntff_slice name, struct ntff_slice value)
{
    value = conv_redacted(j->t, name, value);
    conv_json_put_text(&j->w, value.p, value.len);
}

/* The type a value has in the runtime's JSON: text for names, true or false for flags. */
static void put_attribute(struct writer *j, struct ntff_slice name, struct ntff_slice value)
{
    static const char *const texts[] = {"mem_type", "usage_type", "physical_address", "algorithm",
                                        "model_name"};
    static const char *const flags[] = {"is_neuron_core_work", "is_nc_hbm", "is_aligned",
                                        "has_work"};
    bool text = !is_integer(value), flag = false;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(texts); i++)
        text |= is_key(name, texts[i]);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(flags); i++)
        flag |= is_key(name, flags[i]);
    key_len(j, name.p, name.len);
    if (flag && (is_key(value, "1") || is_key(value, "true")))
        conv_json_raw(&j->w, "true");
    else if (flag && (is_key(value, "0") || is_key(value, "false")))
        conv_json_raw(&j->w, "false");
    else if (text)
        put_redacted(j, name, value);
    else
        ntff_put_bytes(&j->w, value.p, value.len);
}

/* Key and value of an attribute entry. */
static struct ntff_slice entry(const struct ntff_field *f, struct ntff_slice *value)
{
    struct ntff_wire w = ntff_wire_init(f->data, f->value);
    struct ntff_slice name = {"", 0};
    struct ntff_field kv;
    *value = name;
    while (ntff_wire_next(&w, &kv) > 0) {
        struct ntff_slice s = {(const char *)kv.data, kv.value};
        if (kv.type == NTFF_WT_LEN && kv.number == 1)
            name = s;
        else if (kv.type == NTFF_WT_LEN && kv.number == 2)
            *value = s;
    }
    return name;
}

/* The capture's table of names knows the model; the runtime writes it beside the id. */
static void put_model_name(struct writer *j, const struct ntff_event *e)
{
    const struct ntff_attr *a = NULL;
    if (ntff_detail(j->t, e, &j->detail))
        a = ntff_detail_find(&j->detail, "model_name");
    else
        j->starved = true;
    if (a && a->kind == NTFF_V_TEXT) {
        key(j, "model_name");
        conv_json_put_text(&j->w, a->text.p, a->text.len);
    }
}

static void take_scalar(struct common *c, int slot, uint64_t v)
{
    switch (slot) {
    case NTFF_S_EVENT_TYPE:
        c->type_name = type_name(c, v);
        break;
    case NTFF_S_PHASE:
        c->phase = v;
        break;
    case NTFF_S_ID:
        c->id = v;
        break;
    case NTFF_S_NC_IDX:
        c->nc_idx = v;
        break;
    case NTFF_S_TRACKING_ID:
        c->tracking_id = v;
        break;
    case NTFF_S_THREAD_ID:
        c->thread_id = v;
        break;
    case NTFF_S_TIMESTAMP:
        c->timestamp_ns = v;
        break;
    case NTFF_S_NRTA_SEQ_ID:
        c->seq = v;
        c->has_seq = true;
        break;
    default:
        break;
    }
}

static void put_message(struct writer *j, const struct ntff_source *s, const struct item *it)
{
    const struct ntff_event *e = &j->t->events[it->event];
    const uint8_t *msg;
    size_t len;
    struct ntff_field f;
    struct common c = {.worker_gid = gid_of(j->t, e)};
    bool model_id = false, model_name = false;
    if (!ntff_source_message(s, (uint32_t)it->at, &msg, &len))
        return;
    c.type_name = type_name(&c, 0);
    for (struct ntff_wire w = ntff_wire_init(msg, len); ntff_wire_next(&w, &f) > 0;) {
        int slot = ntff_plan_slot(s->plan, f.number);
        uint64_t v = f.value;
        if (s->plan->zigzag >> slot & 1)
            v = v >> 1 ^ (0 - (v & 1));
        if (f.type != NTFF_WT_LEN)
            take_scalar(&c, slot, v);
    }
    c.nc_local_id = local_id(c.id);
    c.timestamp_ns = half_time(e, it->stop, c.timestamp_ns);
    open_event(j);
    before_data(j, &c);
    for (struct ntff_wire w = ntff_wire_init(msg, len); ntff_wire_next(&w, &f) > 0;) {
        if (f.type != NTFF_WT_LEN || ntff_plan_slot(s->plan, f.number) != NTFF_S_ATTRIBUTES)
            continue;
        struct ntff_slice value, name = entry(&f, &value);
        put_attribute(j, name, value);
        model_id |= is_key(name, "model_id");
        model_name |= is_key(name, "model_name");
    }
    if (model_id && !model_name)
        put_model_name(j, e);
    after_data(j, &c);
    close_event(j);
}

/* -- raw 112-byte records [TAX] -------------------------------------------------------------------
 */

static void put_payload(struct writer *j, const uint8_t *payload,
                        const struct ntff_payload_field *f)
{
    const uint8_t *p = payload + f->offset;
    uint64_t v = f->kind == NTFF_P_U64   ? ntff_le64(p)
                 : f->kind == NTFF_P_U16 ? (uint64_t)p[0] | (uint64_t)p[1] << 8
                 : f->kind == NTFF_P_U32 || f->kind == NTFF_P_I32 ? ntff_le32(p)
                                                                  : p[0];
    key(j, f->name);
    if (f->kind == NTFF_P_BOOL) {
        conv_json_raw(&j->w, v ? "true" : "false");
    } else if (f->kind == NTFF_P_I32) {
        conv_json_put_i64(&j->w, (int32_t)(uint32_t)v);
    } else if (strcmp(f->name, "physical_address") == 0) {
        char hex[24];
        snprintf(hex, sizeof hex, "0x%" PRIx64, v);
        conv_json_put_text(&j->w, hex, strlen(hex));
    } else if (strcmp(f->name, "usage_type") == 0 && ntff_usage_name((uint32_t)v)) {
        conv_json_put_text(&j->w, ntff_usage_name((uint32_t)v),
                           strlen(ntff_usage_name((uint32_t)v)));
    } else {
        conv_json_put_u64(&j->w, v);
    }
}

static void put_raw(struct writer *j, const struct ntff_source *s, const struct item *it)
{
    const struct ntff_event *e = &j->t->events[it->event];
    uint32_t off = (uint32_t)it->at;
    if (off > s->len || s->len - off < 112)
        return;
    const uint8_t *r = s->data + off;
    uint32_t type = ntff_le32(r), phase = ntff_le32(r + 88) + 1;
    struct common c = {.phase = phase,
                       .id = ntff_le64(r + 16),
                       .nc_idx = ntff_le32(r + 92),
                       .nc_local_id = ntff_le64(r + 24),
                       .tracking_id = ntff_le64(r + 32),
                       .thread_id = ntff_le64(r + 8),
                       .timestamp_ns = half_time(e, it->stop, ntff_le64(r + 40)),
                       .seq = ntff_le64(r + 96),
                       .has_seq = r[104],
                       .worker_gid = gid_of(j->t, e)};
    size_t n;
    const struct ntff_payload_field *f = ntff_event_payload(type, phase, &n);
    c.type_name = type_name(&c, type);
    open_event(j);
    before_data(j, &c);
    for (size_t i = 0; i < n; i++)
        put_payload(j, r + 48, &f[i]);
    after_data(j, &c);
    close_event(j);
}

/* -- records from JSON ----------------------------------------------------------------------------
 */

struct stored {
    struct ntff_slice name, value;
    uint64_t kind;
    bool top;
};

static struct stored stored_entry(const struct ntff_field *f)
{
    struct ntff_wire w = ntff_wire_init(f->data, f->value);
    struct stored a = {.name = {"", 0}, .value = {"", 0}};
    struct ntff_field kv;
    while (ntff_wire_next(&w, &kv) > 0) {
        if (kv.number == NTFF_STORE_KEY)
            a.name = (struct ntff_slice){(const char *)kv.data, kv.value};
        else if (kv.number == NTFF_STORE_VALUE)
            a.value = (struct ntff_slice){(const char *)kv.data, kv.value};
        else if (kv.number == NTFF_STORE_KIND)
            a.kind = kv.value;
        else if (kv.number == NTFF_STORE_TOP)
            a.top = kv.value != 0;
    }
    return a;
}

static void put_bytes(struct writer *j, struct ntff_slice s)
{
    ntff_put_bytes(&j->w, s.p, s.len);
}

static void put_stored(struct writer *j, const struct stored *a)
{
    key_len(j, a->name.p, a->name.len);
    if (a->kind == NTFF_STORE_NULL)
        conv_json_raw(&j->w, "null");
    else if (a->kind == NTFF_STORE_TEXT ||
             (a->kind == NTFF_STORE_RAW && !ntff_utf8_ok(a->value.p, a->value.len)))
        put_redacted(j, a->name, a->value);
    else if (a->kind == NTFF_STORE_RAW) /* pseudonyms hold nothing that JSON would escape */
        put_bytes(j, conv_redacted(j->t, a->name, a->value));
    else
        put_bytes(j, a->value);
}

static bool is_attribute(const struct ntff_field *f)
{
    return f->number == 12 && f->type == NTFF_WT_LEN;
}

/* All entries of "data", which may stand apart in the message. */
static void put_stored_data(struct writer *j, const uint8_t *msg, size_t len, bool top_too)
{
    struct ntff_field f;
    open_data(j);
    for (struct ntff_wire w = ntff_wire_init(msg, len); ntff_wire_next(&w, &f) > 0;) {
        if (!is_attribute(&f))
            continue;
        struct stored a = stored_entry(&f);
        if (!a.top || top_too)
            put_stored(j, &a);
    }
    close_data(j);
}

/* One field of a stored record that is no attribute. */
static void put_stored_field(struct writer *j, const struct ntff_field *f)
{
    static const struct {
        uint32_t number;
        const char *key;
    } numbers[] = {
        {2, "timestamp_ns"}, {5, "nc_idx"},       {8, "duration"},
        {9, "thread_id"},    {10, "id"},          {11, "parent_id"},
        {15, "tracking_id"}, {16, "nrta_seq_id"}, {NTFF_STORE_NC_LOCAL_ID, "nc_local_id"}};
    struct common c;
    switch (f->number) {
    case 7:
        key_text(j, "event_type", type_name(&c, f->value));
        return;
    case 14:
        key_text(j, "phase", phase_name(f->value));
        return;
    case NTFF_STORE_TYPE_NAME:
    case NTFF_STORE_PHASE_TEXT:
        key(j, f->number == NTFF_STORE_TYPE_NAME ? "event_type" : "phase");
        put_redacted(j, (struct ntff_slice){"", 0},
                     (struct ntff_slice){(const char *)f->data, f->value});
        return;
    case NTFF_STORE_WORKER_GID:
        key(j, "worker_gid");
        conv_json_put_i64(&j->w, ntff_unzigzag(f->value));
        return;
    case NTFF_STORE_EMPTY_DATA:
        open_data(j);
        close_data(j);
        return;
    default:
        for (size_t i = 0; i < NTFF_ARRAY_LEN(numbers); i++)
            if (numbers[i].number == f->number)
                key_u64(j, numbers[i].key, f->value);
    }
}

/* As it was. */
static void put_event_again(struct writer *j, const uint8_t *msg, size_t len)
{
    struct ntff_field f;
    bool data = false;
    open_event(j);
    for (struct ntff_wire w = ntff_wire_init(msg, len); ntff_wire_next(&w, &f) > 0;) {
        if (!is_attribute(&f)) {
            put_stored_field(j, &f);
            continue;
        }
        struct stored a = stored_entry(&f);
        if (a.top)
            put_stored(j, &a);
        else if (!data)
            put_stored_data(j, msg, len, false);
        data |= !a.top;
    }
    close_event(j);
}

/* A row, as the events the runtime would have written. */
static void put_row(struct writer *j, const struct ntff_event *e, const uint8_t *msg, size_t len)
{
    struct common c = {.worker_gid = -1, .type_name = ntff_str_of(j->t, e->name)};
    struct ntff_field f;
    uint64_t nc_ns = 0;
    bool tracked = false;
    for (struct ntff_wire w = ntff_wire_init(msg, len); ntff_wire_next(&w, &f) > 0;) {
        if (f.number == 10)
            c.id = f.value;
        else if (f.number == 5)
            c.nc_idx = f.value;
        else if (f.number == 9)
            c.thread_id = f.value;
        else if (f.number == 15)
            c.tracking_id = f.value, tracked = true;
        else if (f.number == NTFF_STORE_WORKER_GID)
            c.worker_gid = ntff_unzigzag(f.value);
        else if (f.number == 16)
            c.seq = f.value, c.has_seq = true;
    }
    if (!tracked)
        c.tracking_id = c.id ? c.id : ++j->numbers;
    c.nc_local_id = local_id(c.id);
    bool instant = e->flags & NTFF_EV_INSTANT;
    for (int half = 0; half < (instant ? 1 : 2); half++) {
        c.phase = instant ? 3 : half ? 2 : 1;
        c.timestamp_ns = half ? ntff_event_end(e) : e->ts_ns;
        open_event(j);
        before_data(j, &c);
        for (struct ntff_wire w = ntff_wire_init(msg, len); !half && ntff_wire_next(&w, &f) > 0;)
            if (is_attribute(&f)) {
                struct stored a = stored_entry(&f);
                put_stored(j, &a);
                if (is_key(a.name, "nc_timestamp_ns"))
                    nc_ns = unsigned_value(a.value);
            }
        if (half && nc_ns)
            key_u64(j, "nc_timestamp_ns", nc_ns + e->dur_ns);
        after_data(j, &c);
        close_event(j);
    }
}

static void put_from_json(struct writer *j, const struct ntff_source *s, const struct item *it)
{
    const uint8_t *msg;
    size_t len;
    struct ntff_field f;
    bool row = true;
    if (!ntff_source_message(s, (uint32_t)it->at, &msg, &len))
        return;
    for (struct ntff_wire w = ntff_wire_init(msg, len); ntff_wire_next(&w, &f) > 0;)
        row &= f.number != 14 && f.number != NTFF_STORE_PHASE_TEXT;
    if (row)
        put_row(j, &j->t->events[it->event], msg, len);
    else
        put_event_again(j, msg, len);
}

/* -- the command ----------------------------------------------------------------------------------
 */

static int item_cmp(const void *pa, const void *pb)
{
    const struct item *a = pa, *b = pb;
    return a->at < b->at ? -1 : a->at > b->at;
}

static size_t add_item(const struct ntff_trace *t, struct item *items, size_t n, uint32_t event,
                       bool stop)
{
    struct ntff_ref ref = stop ? t->events[event].stop_ref : t->events[event].start_ref;
    if (ref.src >= t->n_sources || t->sources[ref.src].kind == NTFF_SOURCE_NOTIF)
        return n;
    items[n] = (struct item){(uint64_t)ref.src << 32 | ref.off, event, stop};
    return n + 1;
}

/* Every record of a runtime event, in file order. NULL when memory ran out. */
static struct item *list_items(const struct ntff_trace *t, size_t *n)
{
    size_t count;
    if (!ntff_mul_ok(t->n_events + 1, 2, &count))
        return NULL;
    struct item *items = calloc(count, sizeof *items);
    *n = 0;
    for (uint32_t i = 0; items && i < t->n_events; i++) {
        *n = add_item(t, items, *n, i, false);
        *n = add_item(t, items, *n, i, true);
    }
    if (items)
        ntff_sort(items, *n, sizeof *items, item_cmp);
    return items;
}

/* What the inputs say, if they are of this kind; the runtime of today writes 2. */
static const char *data_version(const struct ntff_trace *t)
{
    for (size_t i = 0; i < t->n_files; i++)
        for (size_t k = 0; t->files[i].kind == NTFF_FILE_EVENT_JSON && k < t->files[i].facts.n;
             k++) {
            const struct ntff_fact *f = &t->files[i].facts.v[k];
            const char *v = ntff_str_of(t, f->value);
            if (strcmp(ntff_str_of(t, f->key), "data_version") == 0 && *v &&
                strspn(v, "0123456789") == strlen(v))
                return v;
        }
    return "2";
}

static void put_events(struct writer *j, const struct item *items, size_t n)
{
    conv_json_raw(&j->w, "{\"events\":[");
    for (size_t i = 0; i < n; i++) {
        const struct ntff_source *s = &j->t->sources[items[i].at >> 32];
        if (s->kind == NTFF_SOURCE_EVENTS)
            put_message(j, s, &items[i]);
        else if (s->kind == NTFF_SOURCE_RAW112)
            put_raw(j, s, &items[i]);
        else
            put_from_json(j, s, &items[i]);
        if (i % 65536 == 0)
            conv_progress("writing", (int)(i * 1000 / n));
    }
    conv_json_raw(&j->w, "],\"data_version\":");
    conv_json_raw(&j->w, data_version(j->t));
    conv_json_raw(&j->w, "}");
    ntff_put_done(&j->w);
}

/* -- processes ------------------------------------------------------------------------------------
 */

struct owners {
    bool *has; /* by process: an item is of it */
    size_t n;
    bool by_pid; /* --process tells them apart */
};

static bool find_owners(struct owners *o, const struct ntff_trace *t, const struct item *items,
                        size_t n)
{
    *o = (struct owners){.by_pid = true};
    if (!(o->has = calloc(t->n_processes + 1, sizeof *o->has)))
        return false;
    for (size_t i = 0; i < n; i++) {
        uint32_t p = t->tracks[t->events[items[i].event].track].process;
        if (p >= t->n_processes || o->has[p])
            continue;
        for (size_t k = 0; k < t->n_processes; k++)
            o->by_pid &= !o->has[k] || t->processes[k].pid != t->processes[p].pid;
        o->by_pid &= t->processes[p].pid != 0;
        o->has[p] = true;
        o->n++;
    }
    return true;
}

/* The runtime's JSON is of one process and has no place to say which: of several, ids meet. */
static void say_owners(const struct owners *o, const struct ntff_trace *t)
{
    enum { SHOWN = 8 };
    char names[SHOWN * 82] = "", label[80];
    size_t len = 0, shown = 0;
    for (uint32_t p = 0; p < t->n_processes; p++) {
        if (!o->has[p])
            continue;
        if (shown++ < SHOWN)
            len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "",
                                    conv_process_label(t, p, label));
    }
    conv_say("events of %zu processes cannot be told apart in this JSON: %s%s; %s", o->n, names,
             o->n > SHOWN ? ", ..." : "",
             o->by_pid ? "write a file of each with --process N"
                       : "write a file of each, from its own directory");
}

static int write_events(const struct settings *s, struct ntff_out *out, const struct ntff_trace *t)
{
    size_t n;
    struct item *items = list_items(t, &n);
    struct owners owners = {.n = 0};
    int code = items && n && find_owners(&owners, t, items, n) ? CONV_ALL : CONV_NOTHING;
    if (code == CONV_ALL) {
        struct writer j = {.t = t, .w = ntff_put_begin(out)};
        put_events(&j, items, n);
        ntff_put_end(&j.w);
        ntff_detail_done(&j.detail);
        conv_progress(NULL, -1);
        if (j.keys.failed || j.data_keys.failed || j.starved) {
            conv_say("out of memory");
            code = CONV_NOTHING;
        }
        ntff_keys_done(&j.keys);
        ntff_keys_done(&j.data_keys);
    } else {
        conv_say(items && !n ? "no runtime events in the input" : "out of memory");
    }
    if (code == CONV_ALL && owners.n > 1) {
        if (!s->quiet)
            say_owners(&owners, t);
        code = CONV_LOSSES;
    }
    free(owners.has);
    free(items);
    return code;
}

static const struct conv_option options[] = {
    {"output", 'o', "FILE", "write FILE instead of standard output; .gz compresses", CONV_OPT_TEXT,
     offsetof(struct settings, output), NULL},
    {"force", 0, NULL, "replace FILE if it exists", CONV_OPT_FLAG, offsetof(struct settings, force),
     NULL},
    {"quiet", 'q', NULL, "errors only", CONV_OPT_FLAG, offsetof(struct settings, quiet), NULL},
};

const struct conv_cli conv_cli_json = {
    .command = "json",
    .operands = "INPUT...",
    .about =
        "Writes runtime events as the JSON the runtime itself hands out, one object per record "
        "in file order: {\"events\":[...],\"data_version\":2}. It has no place for the process: a "
        "file is of one, so of a session with several, write one each with --process; else a line "
        "says which are mixed and the exit status is 3.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .loads = true,
    .min_operands = 1,
    .more = "Exit status: 0 all written, 1 nothing written, 2 usage, 3 written with losses.\n",
};

int conv_cmd_json(int argc, char **argv)
{
    struct settings s = {0};
    struct conv_args args;
    struct ntff_trace *t = NULL;
    struct ntff_diag diag = {0};
    int code = conv_cli_parse(&conv_cli_json, argc, argv, &s, &args);
    if (code != CONV_GO)
        return code;
    struct ntff_out *out = NULL;
    code = conv_outfile_open(&out, s.output, s.force, &args);
    if (code == CONV_ALL)
        code = conv_load(&args, s.quiet, &t, &diag);
    if (code == CONV_ALL) {
        code = write_events(&s, out, t);
        ntff_load_recheck(t, &diag);
        conv_print_findings(t, &diag, s.quiet ? CONV_QUIET : CONV_NORMAL);
        if (code == CONV_ALL)
            code = conv_exit_code(&diag);
    }
    code = conv_outfile_close(out, s.output, code);
    ntff_trace_free(t);
    conv_args_done(&args);
    return code;
}
