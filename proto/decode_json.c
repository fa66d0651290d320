/* decode_json - runtime events as JSON, and the vendor tool's system_profile.json.
 *
 * jsonscan cuts single objects out of the stream, json-c parses each, json_event knows what their
 * keys mean. So memory stays at one object, be the file 600 MB on a single line. Around the objects
 * there may be log text; the capture tool's warning about dropped events stands in it. */
#include "proto/json_event.h"
#include "proto/jsonscan.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES ((size_t)256 << 10)

struct decoder {
    struct ntff_json_taker take;
    struct json_tokener *tok;
};

static bool contains(struct ntff_slice text, const char *what)
{
    return text.len && memmem(text.p, text.len, what, strlen(what));
}

/* -- the capture tool's warning --------------------------------------------------------------- */

static bool number_at(const char **p, const char *end, uint64_t *out)
{
    const char *q = *p;
    for (*out = 0; q < end && *q >= '0' && *q <= '9'; q++)
        if (__builtin_mul_overflow(*out, 10u, out) ||
            __builtin_add_overflow(*out, (unsigned)(*q - '0'), out))
            return false;
    bool any = q > *p;
    *p = q;
    return any;
}

/* "1001 trace events were dropped during capture (stored 530560 out of 531561 total events)" */
static bool drop_warning(struct ntff_slice text, uint64_t *dropped, uint64_t *stored, uint64_t *all)
{
    static const char phrase[] = " trace events were dropped during capture";
    static const char stored_text[] = "stored ", of_text[] = " out of ";
    const char *end = text.p + text.len, *p, *q;
    if (!text.len || !(p = memmem(text.p, text.len, phrase, sizeof phrase - 1)))
        return false;
    for (q = p; q > text.p && q[-1] >= '0' && q[-1] <= '9'; q--)
        ;
    if (!number_at(&q, p, dropped))
        return false;
    *stored = *all = 0;
    p = memmem(p, (size_t)(end - p), stored_text, sizeof stored_text - 1);
    if (p && (p += sizeof stored_text - 1, number_at(&p, end, stored)) &&
        (size_t)(end - p) >= sizeof of_text - 1 && !memcmp(p, of_text, sizeof of_text - 1)) {
        p += sizeof of_text - 1;
        number_at(&p, end, all);
    }
    return true;
}

static void on_line(void *user, struct ntff_slice text, uint64_t offset)
{
    struct decoder *d = user;
    uint64_t dropped, stored, all;
    if (!drop_warning(text, &dropped, &stored, &all))
        return;
    if (all)
        ntff_diag_add(d->take.diag, NTFF_DIAG_CAPTURE_DROPPED, dropped, d->take.path, offset,
                      "stored %" PRIu64 " of %" PRIu64, stored, all);
    else
        ntff_diag_add(d->take.diag, NTFF_DIAG_CAPTURE_DROPPED, dropped, d->take.path, offset, NULL);
}

/* -- the stream ------------------------------------------------------------------------------- */

static bool looks_like_event(struct ntff_slice text)
{
    return contains(text, "\"event_type\"");
}

static bool looks_like_row(struct ntff_slice text)
{
    return contains(text, "\"name\"") && contains(text, "\"timestamp\"");
}

static void take_object(struct decoder *d, enum ntff_json_place place, struct json_object *o)
{
    switch (place) {
    case NTFF_JSON_CPU_UTIL:
        ntff_json_take_cpu(&d->take, o);
        break;
    case NTFF_JSON_MEM_USAGE:
        ntff_json_take_memory(&d->take, o);
        break;
    case NTFF_JSON_DEVICE_MEM:
        ntff_json_take_device_memory(&d->take, o);
        break;
    case NTFF_JSON_METADATA:
        ntff_json_take_metadata(&d->take, o);
        break;
    default:
        ntff_json_take_event(&d->take, o);
    }
}

/* What json-c makes of a text at most: a table of 16 members for each object, an entry and a value
 * for each member or element, texts once more. */
static size_t parsed_bytes(struct ntff_slice text)
{
    enum { TABLE_BYTES = 1024, VALUE_BYTES = 192, ALWAYS_BYTES = 4096 };
    size_t n = ALWAYS_BYTES + 4 * text.len;
    for (size_t i = 0; i < text.len; i++)
        n += text.p[i] == '{' ? TABLE_BYTES
                              : (text.p[i] == ',' || text.p[i] == '[') * (size_t)VALUE_BYTES;
    return n;
}

/* When memory runs out inside json-c it leaves members out or dies (it trusts strdup). So what it
 * needs is asked for before it begins, and whether all was there when it is done. */
static struct json_object *parse(struct decoder *d, struct ntff_slice text, size_t need)
{
    void *room = malloc(need);
    free(room);
    errno = 0;
    struct json_object *o = room ? json_tokener_parse_ex(d->tok, text.p, (int)text.len) : NULL;
    d->take.stopped |= !room || errno == ENOMEM;
    return o;
}

static bool on_object(void *user, enum ntff_json_place place, struct ntff_slice text,
                      uint64_t offset)
{
    struct decoder *d = user;
    struct ntff_budget *budget = &ntff_build_trace(d->take.b)->budget;
    if (place == NTFF_JSON_ROOT && !looks_like_event(text)) { /* some JSON between the log lines */
        on_line(d, text, offset);
        return true;
    }
    d->take.text = text;
    d->take.offset = offset;
    size_t need = parsed_bytes(text);
    if (!ntff_budget_take(budget, need))
        return false;
    struct json_object *o = parse(d, text, need);
    enum json_tokener_error e = json_tokener_get_error(d->tok);
    if (!d->take.stopped && json_object_is_type(o, json_type_object))
        take_object(d, place, o);
    else if (!d->take.stopped)
        ntff_json_bad_event(&d->take, offset + json_tokener_get_parse_end(d->tok),
                            json_tokener_error_desc(e));
    json_object_put(o);
    json_tokener_reset(d->tok);
    ntff_budget_give(budget, need);
    return !d->take.stopped;
}

static void on_scalar(void *user, struct ntff_slice key, struct ntff_slice text)
{
    struct decoder *d = user;
    char value[33];
    if (key.len != 12 || memcmp(key.p, "data_version", 12) != 0)
        return;
    snprintf(value, sizeof value, "%.*s", (int)text.len, text.p);
    if (strcmp(value, "2") != 0)
        ntff_diag_add(d->take.diag, NTFF_DIAG_VERSION, 1, d->take.path, NTFF_NO_OFFSET,
                      "data_version %s, supported: 2", value);
    if (d->take.n_facts++ == 0)
        d->take.stopped |= !ntff_build_fact(d->take.b, d->take.file, "data_version", value, NULL);
}

static void on_problem(void *user, enum ntff_json_place place, struct ntff_slice seen,
                       uint64_t offset, const char *why)
{
    struct decoder *d = user;
    if (place == NTFF_JSON_NOWHERE || (place == NTFF_JSON_ROOT && !looks_like_event(seen)))
        return; /* braces in a log line */
    ntff_json_bad_event(&d->take, offset, why);
}

static void on_cut(void *user, enum ntff_json_place place, struct ntff_slice seen, uint64_t offset)
{
    struct decoder *d = user;
    if (place == NTFF_JSON_ROOT && !looks_like_event(seen) && !contains(seen, "\"events\""))
        return;
    ntff_diag_add(d->take.diag, NTFF_DIAG_TRUNCATED_FILE, 1, d->take.path, offset,
                  seen.len ? "inside an object that begins here" : "inside a document");
}

static const struct ntff_json_events handlers = {.object = on_object,
                                                 .scalar = on_scalar,
                                                 .line = on_line,
                                                 .problem = on_problem,
                                                 .cut = on_cut};

static enum ntff_status stream(struct decoder *d, struct ntff_jsonscan *scan, struct ntff_input *in,
                               uint8_t *buf, struct ntff_error *err)
{
    size_t got;
    enum ntff_status s;
    while (!(s = ntff_input_read(in, buf, READ_BYTES, &got, err)) && got) {
        if (!ntff_jsonscan_feed(scan, buf, got) || d->take.stopped)
            return ntff_fail(err, NTFF_NOMEM, scan->pos, "%s: out of memory, or cancelled",
                             d->take.path);
        if (!ntff_build_progress(d->take.b, "reading JSON", scan->pos, in->gzip ? 0 : in->file_len))
            return ntff_fail(err, NTFF_CANCELLED, NTFF_NO_OFFSET, "cancelled");
    }
    if (s) { /* a read error: what came before it stays */
        ntff_diag_add(d->take.diag, NTFF_DIAG_UNREADABLE_FILE, 1, d->take.path, scan->pos,
                      "read error");
        s = NTFF_OK;
    }
    ntff_jsonscan_end(scan);
    return s;
}

enum ntff_status ntff_decode_json(struct ntff_builder *b, struct ntff_input *in, uint32_t file,
                                  uint32_t proc, struct ntff_error *err)
{
    struct decoder d = {.take = {.b = b,
                                 .diag = ntff_build_diag(b),
                                 .path = ntff_build_path(b, file),
                                 .file = file,
                                 .proc = proc,
                                 .row_proc = NTFF_NONE},
                        .tok = json_tokener_new_ex(NTFF_JSON_MAX_DEPTH)};
    struct ntff_jsonscan scan;
    uint8_t *buf = malloc(READ_BYTES);
    struct ntff_json_events on = handlers;
    on.user = &d;
    ntff_store_init(&d.take.store, b, file);
    ntff_jsonscan_init(&scan, &on, NULL);
    enum ntff_status s;
    if (d.tok && buf)
        s = stream(&d, &scan, in, buf, err);
    else
        s = ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "%s: out of memory", d.take.path);
    struct ntff_file *f = ntff_build_file(b, file);
    f->size_bytes = scan.pos;
    f->kind = scan.known_lists & (1u << NTFF_JSON_TRACE_EVENT | 1u << NTFF_JSON_CPU_UTIL |
                                  1u << NTFF_JSON_MEM_USAGE | 1u << NTFF_JSON_METADATA)
                  ? NTFF_FILE_SYSTEM_PROFILE_JSON
                  : NTFF_FILE_EVENT_JSON;
    ntff_jsonscan_done(&scan);
    ntff_store_done(&d.take.store);
    if (d.tok)
        json_tokener_free(d.tok);
    free(buf);
    return s;
}

/* -- recognising ------------------------------------------------------------------------------ */

static bool sniff_object(void *user, enum ntff_json_place place, struct ntff_slice text,
                         uint64_t offset)
{
    bool *found = user;
    (void)offset;
    if (place == NTFF_JSON_ROOT || place == NTFF_JSON_EVENTS)
        *found |= looks_like_event(text);
    else if (place == NTFF_JSON_LIST)
        *found |= looks_like_event(text) || looks_like_row(text);
    else
        *found |= place != NTFF_JSON_NOWHERE;
    return !*found;
}

static void sniff_scalar(void *user, struct ntff_slice key, struct ntff_slice text)
{
    (void)text;
    *(bool *)user |= key.len == 12 && memcmp(key.p, "data_version", 12) == 0;
}

static void sniff_line(void *user, struct ntff_slice text, uint64_t offset)
{
    uint64_t dropped, stored, all;
    (void)offset;
    *(bool *)user |= drop_warning(text, &dropped, &stored, &all);
}

/* The head may end inside the first event of a list. */
static void sniff_cut(void *user, enum ntff_json_place place, struct ntff_slice seen,
                      uint64_t offset)
{
    sniff_object(user, place, seen, offset);
}

bool ntff_json_sniff(struct ntff_slice head)
{
    bool found = false;
    if (head.len == 0 || memchr(head.p, 0, head.len))
        return false;
    struct ntff_json_events on = {.user = &found,
                                  .object = sniff_object,
                                  .scalar = sniff_scalar,
                                  .line = sniff_line,
                                  .cut = sniff_cut};
    struct ntff_jsonscan scan;
    ntff_jsonscan_init(&scan, &on, NULL);
    if (ntff_jsonscan_feed(&scan, head.p, head.len))
        ntff_jsonscan_end(&scan);
    ntff_jsonscan_done(&scan);
    return found;
}

bool ntff_json_far(struct ntff_slice head)
{
    if (head.len < (size_t)64 << 10)
        return false;
    for (size_t i = 0; i < head.len; i++)
        if ((uint8_t)head.p[i] < 0x20 && !memchr("\t\n\r\x1b\b\f", head.p[i], 6))
            return false;
    return true;
}
