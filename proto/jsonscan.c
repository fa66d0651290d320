/* jsonscan - a pushdown automaton of the JSON grammar, one step per byte, with a stack of one bit
 * per level. It does not build values: it knows where strings begin and end and which container it
 * is in, so it can cut event objects of a few hundred bytes out of a document of any size, and it
 * notices at once when a text is not JSON any more (a cut file with another one behind it, a brace
 * in a log line). It then falls back to looking for the next `{"` or `[{"`; since the elements of a
 * list look the same without their list, all whole events behind the damage are still found.
 *
 * Three kinds of text are kept aside: the current object of a list, or the whole document while it
 * is short and has no list (one event per line is such a document); the current key, for the names
 * of lists; and the current line outside documents, where the capture tool's warnings stand. */
#include "proto/jsonscan.h"

#include <string.h>

enum state {
    TEXT,         /* outside documents */
    TEXT_BRACE,   /* ... behind a '{' that begins one if a string follows */
    TEXT_BRACKET, /* ... behind a '[' that begins one if an object follows */
    FIRST_KEY,    /* behind '{' */
    KEY,          /* behind ',' in an object */
    KEY_STRING,
    KEY_ESCAPE,
    COLON,
    FIRST_VALUE, /* behind '[' */
    VALUE,
    STRING,
    ESCAPE,
    LITERAL,
    AFTER /* behind a value */
};

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Bytes of numbers and words, NaN and -Infinity among them. */
static bool is_literal(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '+' || c == '.';
}

static bool in_object(const struct ntff_jsonscan *s)
{
    return s->objects >> s->depth & 1;
}

static enum ntff_json_place place_of_key(const struct ntff_jsonscan *s)
{
    static const struct {
        const char *name;
        enum ntff_json_place place;
    } lists[] = {{"events", NTFF_JSON_EVENTS},
                 {"trace_event", NTFF_JSON_TRACE_EVENT},
                 {"trace_events", NTFF_JSON_TRACE_EVENT},
                 {"cpu_util", NTFF_JSON_CPU_UTIL},
                 {"mem_usage", NTFF_JSON_MEM_USAGE},
                 {"device_mem_usage", NTFF_JSON_DEVICE_MEM},
                 {"system_profile_metadata", NTFF_JSON_METADATA}};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(lists); i++)
        if (strlen(lists[i].name) == s->key_len && !memcmp(lists[i].name, s->key, s->key_len))
            return lists[i].place;
    return NTFF_JSON_NOWHERE;
}

/* -- what is kept aside ----------------------------------------------------------------------- */

static void capture_begin(struct ntff_jsonscan *s, const uint8_t *p)
{
    s->capturing = true;
    s->capture_depth = s->depth;
    s->capture_off = s->pos;
    s->from = p;
    s->object.len = 0;
}

static bool too_long(const struct ntff_jsonscan *s, uint64_t end)
{
    return end - s->capture_off > NTFF_JSON_MAX_OBJECT;
}

static enum ntff_json_place place_now(const struct ntff_jsonscan *s)
{
    return s->capturing && !s->list_depth ? NTFF_JSON_ROOT : s->place;
}

/* The captured text up to p, which lies in the bytes being fed. */
static struct ntff_slice captured(struct ntff_jsonscan *s, const uint8_t *p)
{
    if (!s->capturing)
        return (struct ntff_slice){"", 0};
    if (s->object.len == 0)
        return (struct ntff_slice){(const char *)s->from, (size_t)(p - s->from)};
    if (!too_long(s, s->pos))
        ntff_buf_add(&s->object, s->from, (size_t)(p - s->from));
    return (struct ntff_slice){(const char *)s->object.p, s->object.len};
}

static void problem(struct ntff_jsonscan *s, struct ntff_slice seen, uint64_t offset,
                    const char *why)
{
    if (s->on.problem)
        s->on.problem(s->on.user, place_now(s), seen, offset, why);
}

/* Hands the captured object over; p is behind its last byte. */
static void capture_end(struct ntff_jsonscan *s, const uint8_t *p)
{
    struct ntff_slice text = captured(s, p);
    if (s->object.failed) {
        s->stopped = true;
    } else if (too_long(s, s->pos + 1)) {
        if (s->list_depth)
            problem(s, text, s->capture_off, "an object of more than 1 MiB");
    } else if (s->on.object) {
        s->stopped |= !s->on.object(s->on.user, place_now(s), text, s->capture_off);
    }
    s->capturing = false;
    s->object.len = 0;
}

static void line_add(struct ntff_jsonscan *s, uint8_t c)
{
    if (s->line_len == 0)
        s->line_off = s->pos;
    if (s->line_len < sizeof s->line)
        s->line[s->line_len++] = (char)c;
}

static void line_end(struct ntff_jsonscan *s)
{
    if (s->line_len && s->on.line)
        s->on.line(s->on.user, (struct ntff_slice){s->line, s->line_len}, s->line_off);
    s->line_len = 0;
}

static void keep(char *text, size_t cap, size_t *len, uint8_t c)
{
    if (*len < cap)
        text[*len] = (char)c;
    ++*len;
}

static void scalar_end(struct ntff_jsonscan *s)
{
    if (s->depth == 1 && in_object(s) && s->on.scalar && s->key_len <= sizeof s->key &&
        s->scalar_len <= sizeof s->scalar)
        s->on.scalar(s->on.user, (struct ntff_slice){s->key, s->key_len},
                     (struct ntff_slice){s->scalar, s->scalar_len});
}

/* -- the automaton ---------------------------------------------------------------------------- */

/* Leaves the document: what follows is text again. */
static void give_up(struct ntff_jsonscan *s, const uint8_t *p, const char *why)
{
    problem(s, captured(s, p), s->capturing ? s->capture_off : s->pos, why);
    s->state = TEXT;
    s->depth = s->list_depth = 0;
    s->place = NTFF_JSON_NOWHERE;
    s->capturing = false;
}

static bool push(struct ntff_jsonscan *s, bool object, const uint8_t *p)
{
    if (s->depth + 1 >= NTFF_JSON_MAX_DEPTH) {
        give_up(s, p, "more than 63 levels of nesting");
        return false;
    }
    s->depth++;
    s->objects = (s->objects & ~(UINT64_C(1) << s->depth)) | (uint64_t)object << s->depth;
    s->state = object ? FIRST_KEY : FIRST_VALUE;
    return true;
}

static void open_list(struct ntff_jsonscan *s, enum ntff_json_place place)
{
    s->list_depth = s->depth;
    s->place = (uint8_t)place;
    s->known_lists |= 1u << place;
    s->capturing = false; /* a document with a list is not an event itself */
}

/* A value begins with c at p. False: c fits no value. */
static bool begin_value(struct ntff_jsonscan *s, const uint8_t *p)
{
    bool element = s->list_depth && s->depth == s->list_depth;
    if (*p == '{') {
        if (element)
            capture_begin(s, p);
        push(s, true, p);
        return true;
    }
    if (element)
        problem(s, (struct ntff_slice){"", 0}, s->pos, "a list element that is not an object");
    if (*p == '[') {
        enum ntff_json_place place =
            !s->list_depth && in_object(s) ? place_of_key(s) : NTFF_JSON_NOWHERE;
        if (push(s, false, p) && place)
            open_list(s, place);
        return true;
    }
    s->scalar_len = 0;
    if (*p == '"') {
        s->state = STRING;
        return true;
    }
    s->state = LITERAL;
    if (is_literal(*p))
        keep(s->scalar, sizeof s->scalar, &s->scalar_len, *p);
    return is_literal(*p);
}

/* The innermost container ends with the byte at p. */
static void pop(struct ntff_jsonscan *s, const uint8_t *p)
{
    if (s->list_depth == s->depth) {
        s->list_depth = 0;
        s->place = NTFF_JSON_NOWHERE;
    }
    s->depth--;
    s->state = s->depth ? AFTER : TEXT;
    if (s->capturing && s->depth == s->capture_depth)
        capture_end(s, p + 1);
}

/* One byte inside a document that is not inside a string. False: it does not fit. */
static bool step(struct ntff_jsonscan *s, const uint8_t *p)
{
    uint8_t c = *p;
    if (s->state == LITERAL) {
        if (is_literal(c)) {
            keep(s->scalar, sizeof s->scalar, &s->scalar_len, c);
            return true;
        }
        scalar_end(s);
        s->state = AFTER;
    }
    if (is_space(c))
        return true;
    bool object = in_object(s);
    switch (s->state) {
    case FIRST_KEY:
    case KEY:
        s->key_len = 0;
        if (c == '"')
            s->state = KEY_STRING;
        else if (c == '}' && s->state == FIRST_KEY)
            pop(s, p);
        else
            return false;
        return true;
    case COLON:
        s->state = VALUE;
        return c == ':';
    case FIRST_VALUE:
        if (c == ']') {
            pop(s, p);
            return true;
        }
        return begin_value(s, p);
    case VALUE:
        return begin_value(s, p);
    default: /* AFTER */
        if (c == (object ? '}' : ']'))
            pop(s, p);
        else if (c == ',')
            s->state = object ? KEY : VALUE;
        else
            return false;
        return true;
    }
}

/* A document begins: p is at the first quote in it. */
static void begin_document(struct ntff_jsonscan *s, const uint8_t *p)
{
    s->line_len = s->line_mark;
    line_end(s);
    s->place = NTFF_JSON_NOWHERE;
    if (s->depth) {
        s->place = NTFF_JSON_LIST;
        s->list_depth = 1;
        s->known_lists |= 1u << NTFF_JSON_LIST;
    }
    push(s, true, p);
    s->key_len = 0;
    s->state = KEY_STRING;
}

/* Outside documents. One begins with `{"` or `[{"`, blanks allowed between; depth is 1 behind the
 * bracket already. */
static void step_text(struct ntff_jsonscan *s, const uint8_t *p)
{
    if (s->state == TEXT_BRACE && *p == '"') {
        begin_document(s, p);
        return;
    }
    if (s->state == TEXT || !is_space(*p)) {
        if (*p == '[' || s->state != TEXT_BRACKET)
            s->line_mark = s->line_len;
        if (*p == '{') {
            s->depth = s->state == TEXT_BRACKET;
            s->state = TEXT_BRACE;
            capture_begin(s, p);
        } else {
            s->depth = *p == '[';
            s->objects = 0;
            s->state = s->depth ? TEXT_BRACKET : TEXT;
            s->capturing = false;
        }
    }
    if (*p == '\n')
        line_end(s);
    else
        line_add(s, *p);
}

/* Bytes of a string up to its end or the end of the input; returns behind the last one used. */
static const uint8_t *step_string(struct ntff_jsonscan *s, const uint8_t *p, const uint8_t *end)
{
    bool key = s->state == KEY_STRING;
    const uint8_t *q = p;
    while (q < end && *q != '"' && *q != '\\' && *q != '\n')
        q++;
    if (key && !(s->capturing && s->list_depth)) {
        for (const uint8_t *k = p; k < q && s->key_len <= sizeof s->key; k++)
            keep(s->key, sizeof s->key, &s->key_len, *k);
    }
    if (q == end)
        return q;
    if (*q == '\n') {
        give_up(s, q, "a line ends inside a string");
        return q;
    }
    if (*q == '\\')
        s->state = key ? KEY_ESCAPE : ESCAPE;
    else
        s->state = key ? COLON : AFTER;
    return q + 1;
}

bool ntff_jsonscan_feed(struct ntff_jsonscan *s, const void *bytes, size_t n)
{
    const uint8_t *p = bytes, *end = p + n;
    s->from = p;
    while (p < end && !s->stopped) {
        const uint8_t *start = p;
        switch (s->state) {
        case TEXT:
        case TEXT_BRACE:
        case TEXT_BRACKET:
            step_text(s, p);
            p++;
            break;
        case STRING:
        case KEY_STRING:
            p = step_string(s, p, end);
            break;
        case ESCAPE:
        case KEY_ESCAPE:
            s->state = s->state == ESCAPE ? STRING : KEY_STRING;
            p++;
            break;
        default:
            if (step(s, p))
                p++;
            else
                give_up(s, p, "a byte that fits no JSON"); /* and look at it again as text */
        }
        s->pos += (uint64_t)(p - start);
    }
    if (s->capturing && !too_long(s, s->pos))
        ntff_buf_add(&s->object, s->from, (size_t)(end - s->from));
    return !s->stopped && !s->object.failed;
}

void ntff_jsonscan_end(struct ntff_jsonscan *s)
{
    struct ntff_slice seen = {"", 0};
    if (s->capturing)
        seen = (struct ntff_slice){(const char *)s->object.p, s->object.len};
    if (s->state > TEXT_BRACKET && s->on.cut)
        s->on.cut(s->on.user, place_now(s), seen, s->capturing ? s->capture_off : s->pos);
    line_end(s);
}

void ntff_jsonscan_init(struct ntff_jsonscan *s, const struct ntff_json_events *on,
                        struct ntff_budget *budget)
{
    memset(s, 0, sizeof *s);
    s->on = *on;
    s->object.budget = budget;
}

void ntff_jsonscan_done(struct ntff_jsonscan *s)
{
    ntff_buf_free(&s->object);
}
