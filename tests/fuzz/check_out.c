/* check_out - what both outputs promise, checked from their bytes. A reader of its own: it takes
 * nothing from the writers but the wire cursor. tests/check_pftrace.py and check_chrome.py check
 * more, but not a thousand traces a second. */
#include "tests/fuzz/fuzz.h"

#include "perfetto/perfetto_sink.h"
#include "proto/wire.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static char text[400];

static const char *wrong(const char *fmt, ...) NTFF_PRINTF(1, 2);
static const char *wrong(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return text;
}

/* -- numbers seen -------------------------------------------------------------------------------
 */

/* key -> value, open addressing; key 0 is none. */
struct seen {
    uint64_t *keys, *values;
    size_t n, cap;
};

static uint64_t *seen_at(struct seen *s, uint64_t key, bool *fresh)
{
    if (2 * s->n >= s->cap) {
        struct seen old = *s;
        s->cap = old.cap * 2 + 64;
        s->n = 0;
        s->keys = calloc(s->cap, sizeof *s->keys);
        s->values = calloc(s->cap, sizeof *s->values);
        if (s->keys == NULL || s->values == NULL)
            abort();
        for (size_t i = 0; i < old.cap; i++) {
            bool unused;
            if (old.keys[i] != 0)
                *seen_at(s, old.keys[i], &unused) = old.values[i];
        }
        free(old.keys);
        free(old.values);
    }
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) % s->cap);
    while (s->keys[i] != 0 && s->keys[i] != key)
        i = (i + 1) % s->cap;
    *fresh = s->keys[i] == 0;
    if (*fresh) {
        s->keys[i] = key;
        s->n++;
    }
    return &s->values[i];
}

static void seen_done(struct seen *s)
{
    free(s->keys);
    free(s->values);
}

/* -- Perfetto -------------------------------------------------------------------------------------
 */

enum { /* numbers of perfetto_subset.proto */
       PACKET_TIME = 8,
       PACKET_EVENT = 11,
       PACKET_INTERNED = 12,
       PACKET_TRACK = 60,
       EVENT_CATEGORY = 3,
       EVENT_ANNOTATION = 4,
       EVENT_TYPE = 9,
       EVENT_NAME = 10,
       EVENT_TRACK = 11,
       EVENT_FLOW = 47,
       EVENT_FLOW_END = 48
};
enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };
enum { INTERNED_KINDS = 30, ANNOTATION_NAMES = 3 };

struct reader {
    struct seen tracks; /* uuid -> open spans + 1 */
    struct seen flows;  /* id -> 1 started, 2 ended */
    struct seen iids[INTERNED_KINDS];
    struct pft_stats got;
    uint64_t now;
    bool compact;
};

static bool is_defined(struct seen *s, uint64_t key)
{
    bool fresh = true;
    if (key != 0)
        seen_at(s, key, &fresh);
    return !fresh;
}

/* Definitions of ids: each once, with a text that is UTF-8. */
static const char *read_interned(struct reader *r, struct ntff_field in)
{
    struct ntff_wire w = ntff_wire_init(in.data, in.value), e;
    struct ntff_field f, g;
    int got;
    while ((got = ntff_wire_next(&w, &f)) == 1) {
        uint64_t iid = 0;
        bool fresh = false;
        if (f.type != NTFF_WT_LEN || f.number >= INTERNED_KINDS)
            return wrong("interned field %u", f.number);
        e = ntff_wire_init(f.data, f.value);
        while ((got = ntff_wire_next(&e, &g)) == 1) {
            if (g.number == 1)
                iid = g.value;
            else if (g.type != NTFF_WT_LEN || !ntff_utf8_ok((const char *)g.data, g.value))
                return wrong("an interned text that is none");
        }
        if (iid != 0)
            seen_at(&r->iids[f.number], iid, &fresh);
        if (got != 0 || !fresh)
            return wrong("interned %u: id %llu again, or malformed", f.number,
                         (unsigned long long)iid);
    }
    return got == 0 ? NULL : wrong("interned data: %s", w.why);
}

static const char *read_track(struct reader *r, struct ntff_field track)
{
    struct ntff_wire w = ntff_wire_init(track.data, track.value);
    struct ntff_field f;
    uint64_t uuid = 0, parent = 0;
    bool fresh = true;
    int got;
    while ((got = ntff_wire_next(&w, &f)) == 1)
        *(f.number == 1 ? &uuid : f.number == 5 ? &parent : &(uint64_t){0}) = f.value;
    if (got != 0)
        return wrong("track: %s", w.why);
    if (parent != 0 && !is_defined(&r->tracks, parent))
        return wrong("a track before its parent");
    if (uuid != 0)
        *seen_at(&r->tracks, uuid, &fresh) = 1;
    return fresh ? NULL : wrong("a track twice");
}

/* A name each, of a defined id, no two the same in one event. */
static const char *read_annotation(struct reader *r, struct ntff_field in, struct seen *names)
{
    struct ntff_wire w = ntff_wire_init(in.data, in.value);
    struct ntff_field f;
    bool fresh = true;
    int got;
    while ((got = ntff_wire_next(&w, &f)) == 1) {
        if (f.number == 1 && !is_defined(&r->iids[ANNOTATION_NAMES], f.value))
            return wrong("annotation name %llu is not defined", (unsigned long long)f.value);
        if (f.number == 1)
            seen_at(names, f.value, &fresh);
        if (f.number == 6 && !ntff_utf8_ok((const char *)f.data, f.value))
            return wrong("annotation text is not UTF-8");
        if (f.number == 17 && !is_defined(&r->iids[29], f.value))
            return wrong("annotation text %llu is not defined", (unsigned long long)f.value);
    }
    if (!fresh)
        return wrong("two annotations of one name in one event");
    return got == 0 ? NULL : wrong("annotation: %s", w.why);
}

static const char *end_flow(struct reader *r, uint64_t id, bool end)
{
    bool fresh;
    uint64_t *state = seen_at(&r->flows, id, &fresh), bit = end ? 2 : 1;
    r->got.flows += end;
    if (*state & bit)
        return wrong("flow %llu %s twice", (unsigned long long)id, end ? "ends" : "starts");
    *state |= bit;
    return NULL;
}

static const char *count_event(struct reader *r, uint64_t type, uint64_t uuid)
{
    bool fresh;
    uint64_t *open = seen_at(&r->tracks, uuid, &fresh);
    if (uuid == 0 || fresh)
        return wrong("an event on a track nobody described");
    switch (type) {
    case SLICE_BEGIN:
        r->got.spans++;
        ++*open;
        return NULL;
    case SLICE_END:
        return --*open > 0 ? NULL : wrong("a span ends that did not begin");
    case INSTANT:
        r->got.instants++;
        return NULL;
    case COUNTER:
        r->got.samples++;
        return NULL;
    default:
        return wrong("event type %llu", (unsigned long long)type);
    }
}

static const char *read_event(struct reader *r, struct ntff_field in)
{
    struct ntff_wire w = ntff_wire_init(in.data, in.value);
    struct ntff_field f;
    struct seen names = {0};
    uint64_t type = 0, uuid = 0, name = 0;
    const char *bad = NULL;
    int got = 1;
    while (bad == NULL && (got = ntff_wire_next(&w, &f)) == 1) {
        if (f.number == EVENT_TYPE)
            type = f.value;
        else if (f.number == EVENT_TRACK)
            uuid = f.value;
        else if (f.number == EVENT_NAME)
            name = f.value;
        else if (f.number == EVENT_CATEGORY && !is_defined(&r->iids[1], f.value))
            bad = wrong("a category that is not defined");
        else if (f.number == EVENT_ANNOTATION)
            bad = read_annotation(r, f, &names);
        else if (f.number == EVENT_FLOW || f.number == EVENT_FLOW_END)
            bad = end_flow(r, f.value, f.number == EVENT_FLOW_END);
    }
    seen_done(&names);
    if (bad == NULL && got != 0)
        bad = wrong("event: %s", w.why);
    if (bad == NULL && (type == SLICE_BEGIN || type == INSTANT) && !is_defined(&r->iids[2], name))
        bad = wrong("an event whose name is not defined");
    return bad != NULL ? bad : count_event(r, type, uuid);
}

static const char *read_packet(struct reader *r, struct ntff_field in)
{
    struct ntff_wire w = ntff_wire_init(in.data, in.value);
    struct ntff_field f, event = {0};
    uint64_t time = 0;
    const char *bad = NULL;
    int got = 1;
    while (bad == NULL && (got = ntff_wire_next(&w, &f)) == 1) {
        if (f.number == PACKET_TIME)
            time = f.value;
        else if (f.number == PACKET_INTERNED)
            bad = read_interned(r, f);
        else if (f.number == PACKET_TRACK)
            bad = read_track(r, f);
        else if (f.number == PACKET_EVENT)
            event = f;
    }
    if (bad != NULL || got != 0)
        return bad != NULL ? bad : wrong("packet: %s", w.why);
    if (event.data == NULL)
        return NULL;
    time += r->compact ? r->now : 0;
    if (time < r->now || time >> 62 != 0)
        return wrong("time goes from %llu to %llu", (unsigned long long)r->now,
                     (unsigned long long)time);
    r->now = time;
    return read_event(r, event);
}

static const char *read_trace(struct reader *r, struct ntff_slice bytes)
{
    struct ntff_wire w = ntff_wire_init(bytes.p, bytes.len);
    struct ntff_field f;
    int got;
    while ((got = ntff_wire_next(&w, &f)) == 1) {
        if (f.number != 1 || f.type != NTFF_WT_LEN)
            return wrong("field %u in the trace", f.number);
        const char *bad = read_packet(r, f);
        if (bad != NULL)
            return bad;
    }
    if (got != 0)
        return wrong("trace: %s", w.why);
    for (size_t i = 0; i < r->tracks.cap; i++)
        if (r->tracks.keys[i] != 0 && r->tracks.values[i] != 1)
            return wrong("a span without an end");
    for (size_t i = 0; i < r->flows.cap; i++)
        if (r->flows.keys[i] != 0 && r->flows.values[i] != 3)
            return wrong("a flow without two ends");
    return NULL;
}

static const char *same_counts(const struct pft_stats *got, const struct pft_stats *want)
{
    if (got->spans == want->spans && got->instants == want->instants &&
        got->samples == want->samples && got->flows == want->flows)
        return NULL;
    return wrong("%llu spans, %llu instants, %llu samples, %llu flows; the writer says %llu, %llu, "
                 "%llu, %llu",
                 (unsigned long long)got->spans, (unsigned long long)got->instants,
                 (unsigned long long)got->samples, (unsigned long long)got->flows,
                 (unsigned long long)want->spans, (unsigned long long)want->instants,
                 (unsigned long long)want->samples, (unsigned long long)want->flows);
}

const char *fuzz_check_perfetto(struct ntff_slice bytes, const struct pft_stats *stats,
                                bool compact)
{
    struct reader r = {.compact = compact};
    const char *bad = read_trace(&r, bytes);
    /* where instants crowd they are written as spans of no length */
    if (bad == NULL && r.got.spans >= stats->spans) {
        r.got.instants += r.got.spans - stats->spans;
        r.got.spans = stats->spans;
    }
    if (bad == NULL)
        bad = same_counts(&r.got, stats);
    seen_done(&r.tracks);
    seen_done(&r.flows);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(r.iids); i++)
        seen_done(&r.iids[i]);
    return bad;
}

/* -- JSON
 * ------------------------------------------------------------------------------------------ */

enum { MAX_DEPTH = 80 };

struct json {
    const char *begin, *p, *end;
    const char *bad;
};

static void json_bad(struct json *j, const char *what)
{
    if (j->bad == NULL)
        j->bad = wrong("JSON, byte %zu: %s", (size_t)(j->p - j->begin), what);
    j->p = j->end;
}

static void blanks(struct json *j)
{
    while (j->p < j->end && strchr(" \t\r\n", *j->p) != NULL && *j->p != '\0')
        j->p++;
}

static bool take(struct json *j, char c)
{
    blanks(j);
    if (j->p >= j->end || *j->p != c)
        return false;
    j->p++;
    return true;
}

static struct ntff_slice string(struct json *j)
{
    if (!take(j, '"')) {
        json_bad(j, "no string");
        return (struct ntff_slice){"", 0};
    }
    struct ntff_slice s = {j->p, 0};
    while (j->p < j->end && *j->p != '"') {
        if ((uint8_t)*j->p < 0x20)
            json_bad(j, "a control character");
        else if (*j->p != '\\')
            j->p++;
        else if (j->end - j->p > 6 && j->p[1] == 'u' &&
                 strspn(j->p + 2, "0123456789abcdefABCDEF") >= 4)
            j->p += 6;
        else if (j->end - j->p > 2 && j->p[1] != '\0' && strchr("\"\\/bfnrt", j->p[1]) != NULL)
            j->p += 2;
        else
            json_bad(j, "an escape that is none");
    }
    if (j->p >= j->end)
        json_bad(j, "a string without end");
    s.len = (size_t)(j->p - s.p);
    take(j, '"');
    return s;
}

static size_t digits(struct json *j)
{
    const char *from = j->p;
    while (j->p < j->end && *j->p >= '0' && *j->p <= '9')
        j->p++;
    if (j->p == from)
        json_bad(j, "no digit");
    return (size_t)(j->p - from);
}

static void number(struct json *j)
{
    take(j, '-');
    const char *from = j->p;
    if (digits(j) > 1 && *from == '0')
        json_bad(j, "a leading zero");
    if (j->p < j->end && *j->p == '.') {
        j->p++;
        digits(j);
    }
    if (j->p < j->end && (*j->p == 'e' || *j->p == 'E')) {
        j->p++;
        if (j->p < j->end && (*j->p == '+' || *j->p == '-'))
            j->p++;
        digits(j);
    }
}

static void value(struct json *j, unsigned depth);

static uint64_t hash_of(struct ntff_slice s)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < s.len; i++)
        h = (h ^ (uint8_t)s.p[i]) * UINT64_C(0x100000001b3);
    return h | 1;
}

static void object(struct json *j, unsigned depth)
{
    struct seen keys = {0};
    if (!take(j, '}'))
        do {
            bool fresh;
            struct ntff_slice key = string(j);
            seen_at(&keys, hash_of(key), &fresh);
            if (!fresh && j->bad == NULL)
                json_bad(j, "a key twice");
            if (!take(j, ':'))
                json_bad(j, "no colon");
            value(j, depth + 1);
        } while (take(j, ','));
    else
        j->p--;
    if (!take(j, '}'))
        json_bad(j, "an object without end");
    seen_done(&keys);
}

static void array(struct json *j, unsigned depth)
{
    if (take(j, ']'))
        return;
    do
        value(j, depth + 1);
    while (take(j, ','));
    if (!take(j, ']'))
        json_bad(j, "an array without end");
}

static void literal(struct json *j, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(j->end - j->p) < n || memcmp(j->p, word, n) != 0)
        json_bad(j, "no value");
    else
        j->p += n;
}

static void value(struct json *j, unsigned depth)
{
    blanks(j);
    if (j->p >= j->end || depth > MAX_DEPTH) {
        json_bad(j, depth > MAX_DEPTH ? "too deep" : "no value");
        return;
    }
    switch (*j->p) {
    case '{':
        j->p++;
        object(j, depth);
        break;
    case '[':
        j->p++;
        array(j, depth);
        break;
    case '"':
        string(j);
        break;
    case 't':
        literal(j, "true");
        break;
    case 'f':
        literal(j, "false");
        break;
    case 'n':
        literal(j, "null");
        break;
    default:
        number(j);
    }
}

const char *fuzz_check_json(struct ntff_slice in)
{
    struct json j = {in.p, in.p, in.p + in.len, NULL};
    if (!ntff_utf8_ok(in.p, in.len))
        return wrong("JSON that is not UTF-8");
    value(&j, 0);
    blanks(&j);
    if (j.bad == NULL && j.p != j.end)
        json_bad(&j, "something after the end");
    return j.bad;
}

/* -- Chrome
 * ---------------------------------------------------------------------------------------- */

/* An event a line, each beginning with its phase. */
const char *fuzz_check_chrome(struct ntff_slice bytes, const struct pft_stats *stats)
{
    struct pft_stats got = {0};
    const char *bad = fuzz_check_json(bytes), *end = bytes.p + bytes.len;
    if (bad != NULL)
        return bad;
    for (const char *line = bytes.p; line < end;) {
        const char *nl = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((nl != NULL ? nl : end) - line);
        if (len > 7 && memcmp(line, "{\"ph\":\"", 7) == 0) {
            got.spans += line[7] == 'X';
            got.instants += line[7] == 'i';
            got.samples += line[7] == 'C';
            got.flows += line[7] == 'f';
        }
        line += len + 1;
    }
    return same_counts(&got, stats);
}
