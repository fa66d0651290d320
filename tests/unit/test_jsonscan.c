/* The scanner that finds objects in JSON streaming by: places, chunk borders, recovery, limits. */
#include "proto/jsonscan.h"

#include "proto/build.h"
#include "tests/tap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct seen {
    char log[8192];
    size_t len;
    int stop_after; /* objects; 0 = never */
};

static void note(struct seen *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void note(struct seen *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(s->log + s->len, sizeof s->log - s->len, fmt, ap);
    va_end(ap);
    s->len += (size_t)n < sizeof s->log - s->len ? (size_t)n : 0;
}

static const char *place_name(enum ntff_json_place p)
{
    static const char *const names[] = {"nowhere", "root", "list",   "events", "trace",
                                        "cpu",     "mem",  "devmem", "meta"};
    return names[p];
}

static bool on_object(void *user, enum ntff_json_place place, struct ntff_slice text,
                      uint64_t offset)
{
    struct seen *s = user;
    note(s, "%s@%" PRIu64 " %.*s\n", place_name(place), offset, (int)text.len, text.p);
    return s->stop_after == 0 || --s->stop_after > 0;
}

static void on_scalar(void *user, struct ntff_slice key, struct ntff_slice text)
{
    note(user, "%.*s=%.*s\n", (int)key.len, key.p, (int)text.len, text.p);
}

static void on_line(void *user, struct ntff_slice text, uint64_t offset)
{
    note(user, "line@%" PRIu64 " %.*s\n", offset, (int)text.len, text.p);
}

static void on_problem(void *user, enum ntff_json_place place, struct ntff_slice seen,
                       uint64_t offset, const char *why)
{
    note(user, "problem %s@%" PRIu64 " %.*s: %s\n", place_name(place), offset, (int)seen.len,
         seen.p, why);
}

static void on_cut(void *user, enum ntff_json_place place, struct ntff_slice seen, uint64_t offset)
{
    note(user, "cut %s@%" PRIu64 " %.*s\n", place_name(place), offset, (int)seen.len, seen.p);
}

/* Scans text in pieces of step bytes; what the callbacks saw is in s->log. */
static void scan(struct seen *s, const char *text, size_t len, size_t step)
{
    struct ntff_json_events on = {s, on_object, on_scalar, on_line, on_problem, on_cut};
    struct ntff_jsonscan j;
    ntff_jsonscan_init(&j, &on, NULL);
    bool going = true;
    for (size_t i = 0; i < len && going; i += step) {
        char piece[4096]; /* a copy, so that reading outside a piece is noticed */
        size_t n = len - i < step ? len - i : step;
        TAP_OK(n <= sizeof piece);
        memcpy(piece, text + i, n);
        going = ntff_jsonscan_feed(&j, piece, n);
    }
    if (going)
        ntff_jsonscan_end(&j);
    ntff_jsonscan_done(&j);
}

/* However the text is cut into pieces, the same is seen. */
static void expect(const char *text, const char *want)
{
    size_t len = strlen(text), steps[] = {len, 1, 2, 3, 7, 16};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(steps); i++) {
        struct seen s = {.len = 0};
        TAP_CONTEXT("pieces of %zu bytes", steps[i]);
        scan(&s, text, len, steps[i]);
        TAP_EQ_STR(s.log, want);
    }
}

TAP_TEST(event_document)
{
    expect("{\"events\":[{\"a\":1},{\"b\":{\"c\":[1,\"}\"]}}],\"data_version\":2}",
           "events@11 {\"a\":1}\n"
           "events@19 {\"b\":{\"c\":[1,\"}\"]}}\n"
           "data_version=2\n");
}

TAP_TEST(lists_by_name)
{
    expect("{\"cpu_util\":[{\"u\":1}],\"other\":[{\"x\":1}],\"trace_event\":[{}],\n"
           " \"mem_usage\" : [ { } ],\"device_mem_usage\":[{\"d\":0}],"
           "\"system_profile_metadata\":[{\"m\":1}],\"trace_events\":[{\"t\":2}]}",
           "cpu@13 {\"u\":1}\n"
           "trace@55 {}\n"
           "mem@77 { }\n"
           "devmem@103 {\"d\":0}\n"
           "meta@139 {\"m\":1}\n"
           "trace@164 {\"t\":2}\n");
}

TAP_TEST(bare_list_and_lines)
{
    expect("[{\"a\":1}, {\"b\":2}]\n{\"c\":3}\n{\"d\":4}\n", "list@1 {\"a\":1}\n"
                                                             "list@10 {\"b\":2}\n"
                                                             "c=3\n"
                                                             "root@19 {\"c\":3}\n"
                                                             "d=4\n"
                                                             "root@27 {\"d\":4}\n");
}

TAP_TEST(behind_log_text)
{
    expect("[12:00:01] worker {0} ready\n[x] {\"events\":[{\"a\":1}]} [{1}] end\n",
           "line@0 [12:00:01] worker {0} ready\n"
           "line@28 [x] \n"
           "events@43 {\"a\":1}\n"
           "line@52  [{1}] end\n");
}

TAP_TEST(escapes)
{
    expect("{\"events\":[{\"a\\\"}\":\"\\\\\"},{\"b\":\"{[\\\"\\u007d\"}]}",
           "events@11 {\"a\\\"}\":\"\\\\\"}\n"
           "events@25 {\"b\":\"{[\\\"\\u007d\"}\n");
}

TAP_TEST(nan_and_infinity)
{
    expect("{\"events\":[{\"a\":NaN,\"b\":-Infinity}],\"x\":NaN}",
           "events@11 {\"a\":NaN,\"b\":-Infinity}\nx=NaN\n");
}

TAP_TEST(cut_in_an_object)
{
    expect("{\"events\":[{\"a\":1},{\"b\":\"xy", "events@11 {\"a\":1}\n"
                                                 "cut events@19 {\"b\":\"xy\n");
    expect("{\"events\":[{\"a\":1},", "events@11 {\"a\":1}\ncut events@19 \n");
    expect("{\"event", "cut root@0 {\"event\n");
}

/* A file cut inside a string, with another one behind it: only the cut object is lost. */
TAP_TEST(cut_and_joined)
{
    expect("{\"events\":[{\"a\":1},{\"b\":\"x{\"events\":[{\"c\":3},{\"d\":4}],\"data_version\":2}",
           "events@11 {\"a\":1}\n"
           "problem events@19 {\"b\":\"x{\": a byte that fits no JSON\n"
           "line@28 events\":\n"
           "list@37 {\"c\":3}\n"
           "list@45 {\"d\":4}\n"
           "line@53 ,\"data_version\":2}\n");
}

TAP_TEST(cut_line)
{
    expect("{\"a\":\"x\n{\"b\":2}\n", "problem root@0 {\"a\":\"x: a line ends inside a string\n"
                                      "b=2\nroot@8 {\"b\":2}\n");
}

TAP_TEST(elements_that_are_no_objects)
{
    expect("{\"events\":[1,\"x\",null,[{\"a\":1}],{\"b\":2}]}",
           "problem events@11 : a list element that is not an object\n"
           "problem events@13 : a list element that is not an object\n"
           "problem events@17 : a list element that is not an object\n"
           "problem events@22 : a list element that is not an object\n"
           "events@32 {\"b\":2}\n");
}

TAP_TEST(grammar)
{
    expect("{\"events\":[{\"a\" 1},{\"b\":2}]}",
           "problem events@11 {\"a\" : a byte that fits no JSON\n"
           "line@16 1},\n"
           "b=2\nroot@19 {\"b\":2}\n"
           "line@26 ]}\n");
    expect("{\"events\":[{\"a\":1]]}", "problem events@11 {\"a\":1: a byte that fits no JSON\n"
                                       "line@17 ]]}\n");
}

TAP_TEST(deep_nesting)
{
    char text[512] = "{\"events\":[{\"a\":";
    size_t n = strlen(text);
    memset(text + n, '[', 100);
    struct seen s = {.len = 0};
    scan(&s, text, strlen(text), 5);
    TAP_OK(strncmp(s.log, "problem events@11 ", 18) == 0);
    TAP_OK(strstr(s.log, ": more than 63 levels of nesting\n") != NULL);
}

TAP_TEST(long_object)
{
    struct ntff_jsonscan j;
    struct seen s = {.len = 0};
    struct ntff_json_events on = {&s, on_object, on_scalar, on_line, NULL, on_cut};
    static char filler[4096];
    memset(filler, 'x', sizeof filler);
    ntff_jsonscan_init(&j, &on, NULL);
    TAP_OK(ntff_jsonscan_feed(&j, "{\"events\":[{\"a\":\"", 17));
    for (size_t i = 0; i < NTFF_JSON_MAX_OBJECT * 8 / sizeof filler; i++)
        TAP_OK(ntff_jsonscan_feed(&j, filler, sizeof filler));
    TAP_OK(j.object.cap <= 2 * NTFF_JSON_MAX_OBJECT);
    TAP_OK(ntff_jsonscan_feed(&j, "\"},{\"b\":2}]}", 12));
    ntff_jsonscan_end(&j);
    ntff_jsonscan_done(&j);
    TAP_EQ_STR(s.log, "events@8388628 {\"b\":2}\n");
}

TAP_TEST(stops_when_told)
{
    struct seen s = {.stop_after = 2};
    const char text[] = "{\"events\":[{\"a\":1},{\"b\":2},{\"c\":3}]}";
    scan(&s, text, sizeof text - 1, 64);
    TAP_EQ_STR(s.log, "events@11 {\"a\":1}\nevents@19 {\"b\":2}\n");
}

TAP_TEST(sniff)
{
    static const struct {
        const char *text;
        bool json;
    } cases[] = {
        {"{\"events\":[{\"event_type\":\"generic\"}]", true},
        {"{\"events\":[],\"data_version\":2}", true},
        {"log line\n[x] {\"events\":[{\"event_type\":\"gen", true},
        {"{\"trace_event\":[{\"name\":\"nrt_load\"", true},
        {"{\"cpu_util\":[{\"cpu_id\":\"0\"}]}", true},
        {"[{\"name\":\"nrt_load\",\"timestamp\":1}]", true},
        {"[ {\"event_type\":\"x\"} ]", true},
        {"{\"event_type\":\"x\",\"timestamp_ns\":1}\n", true},
        {"Warning: 1001 trace events were dropped during capture (stored 1 out of 1002)\n", true},
        {"", false},
        {"hello {\"a\":1}", false},
        {"{\"traceEvents\":[{\"name\":\"x\",\"ts\":1}]}", false},
        {"{\"events\":[{\"ph\":\"X\"}]}", false},
        {"[{\"name\":\"x\",\"ts\":1}]", false},
        {"{\"instruction\":[{\"timestamp\":1", false},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(cases); i++) {
        TAP_CONTEXT("%s", cases[i].text);
        struct ntff_slice head = {cases[i].text, strlen(cases[i].text)};
        TAP_EQ_U64(ntff_json_sniff(head), cases[i].json);
    }
    struct ntff_slice binary = {"{\"events\":[{\"event_type\":\"generic\"}]}\0", 38};
    TAP_EQ_U64(ntff_json_sniff(binary), false);
}

TAP_MAIN()
