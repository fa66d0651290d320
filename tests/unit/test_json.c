/* JSON inputs through the loader. tests/data/json/README.md says what the files hold; the numbers
 * below are counted from that description, not from the program's output. */
#include "proto/event_types.h"
#include "proto/load.h"
#include "proto/store.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BASE UINT64_C(1764000000000000000)

struct loaded {
    struct ntff_trace *t;
    struct ntff_diag diag;
    struct ntff_error err;
};

static struct loaded load_path(const char *path)
{
    struct loaded l = {.t = NULL};
    struct ntff_load_options opt = {.schema = NULL};
    enum ntff_status s = ntff_load(&path, 1, &opt, &l.t, &l.diag, &l.err);
    TAP_CONTEXT("%s: %s", path, s ? l.err.text : "loaded");
    TAP_EQ_U64(s, NTFF_OK);
    return l;
}

static struct loaded load_data(const char *name)
{
    static char path[512];
    const char *src = getenv("SRC");
    snprintf(path, sizeof path, "%s/tests/data/json/%s", src ? src : ".", name);
    return load_path(path);
}

static struct loaded load_text(const char *text)
{
    static char path[] = "json-text-XXXXXX";
    strcpy(path, "json-text-XXXXXX");
    int fd = mkstemp(path);
    TAP_OK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
    struct loaded l = load_path(path);
    unlink(path);
    return l;
}

static size_t count(const struct ntff_trace *t, const char *name, uint32_t flags)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_events; i++)
        n += !strcmp(ntff_str_of(t, t->events[i].name), name) &&
             (t->events[i].flags & flags) == flags;
    return n;
}

/* The k-th event of a name, in time order. */
static const struct ntff_event *nth(const struct ntff_trace *t, const char *name, size_t k)
{
    for (size_t i = 0; i < t->n_events; i++)
        if (!strcmp(ntff_str_of(t, t->events[i].name), name) && k-- == 0)
            return &t->events[i];
    TAP_FAIL("no such %s", name);
}

static uint64_t finding(const struct loaded *l, enum ntff_diag_kind kind)
{
    return l->diag.of[kind].count;
}

static uint64_t attr_uint(const struct ntff_trace *t, const struct ntff_event *e, const char *key)
{
    struct ntff_detail d = {.n = 0};
    TAP_OK(ntff_detail(t, e, &d));
    const struct ntff_attr *a = ntff_detail_find(&d, key);
    TAP_OK(a && a->kind == NTFF_V_UINT);
    uint64_t v = a->u;
    ntff_detail_done(&d);
    return v;
}

/* Every whole span and instant of the run; the same in all forms. */
static void check_run(const struct ntff_trace *t)
{
    TAP_EQ_U64(count(t, "nrt_execute", 0), 6);
    TAP_EQ_U64(count(t, "kbl_exec_pre", 0), 6);
    TAP_EQ_U64(count(t, "kbl_exec_wait", 0), 6);
    TAP_EQ_U64(count(t, "nc_exec_running", 0), 12);
    TAP_EQ_U64(count(t, "timestamp_sync_point", NTFF_EV_INSTANT), 10);
    TAP_EQ_U64(count(t, "dmem_buf_copyin", 0), 2);
    TAP_EQ_U64(count(t, "nrta_execute_schedule", 0), 1);
    TAP_EQ_U64(count(t, "numerical_err", NTFF_EV_INSTANT), 1);
    for (size_t x = 0; x < 3; x++) /* NC0 starts 90 us before NC9 */
        for (size_t nc = 0; nc < 2; nc++) {
            const struct ntff_event *e = nth(t, "nrt_execute", 2 * x + nc);
            TAP_EQ_U64(e->ts_ns, BASE + (x + 1) * 1000000 + nc * 90000);
            TAP_EQ_U64(e->dur_ns, 200000);
            e = nth(t, "nc_exec_running", 4 * x + 2 * nc);
            TAP_EQ_U64(e->ts_ns, BASE + (x + 1) * 1000000 + nc * 90000 + 7000);
            TAP_EQ_U64(e->dur_ns, 180000);
            TAP_EQ_U64(t->tracks[e->track].core, nc ? 18 : 0);
            e = nth(t, "nc_exec_running", 4 * x + 2 * nc + 1);
            TAP_EQ_U64(e->dur_ns, 180500);
            TAP_EQ_U64(t->tracks[e->track].core, nc ? 19 : 1);
        }
}

static void check_counts(const struct ntff_trace *t)
{
    const struct ntff_counts *c = &t->counts;
    TAP_EQ_U64(c->records_in, 2 * c->pairs + c->whole + c->unfinished + c->start_lost +
                                  c->instants + c->filtered_records + c->dropped_records);
}

static void check_events(const struct ntff_trace *t)
{
    check_run(t);
    check_counts(t);
    TAP_EQ_U64(t->counts.records_in, 79);
    TAP_EQ_U64(t->counts.pairs, 33);
    TAP_EQ_U64(count(t, "nrt_load", NTFF_EV_START_LOST), 1);
    TAP_EQ_U64(count(t, "nrt_tensor_write", NTFF_EV_UNFINISHED), 1);
    TAP_EQ_U64(t->n_events, 46);
    const struct ntff_event *e = nth(t, "nrta_execute_schedule", 0);
    TAP_EQ_U64(attr_uint(t, e, "nrta_seq_id"), (UINT64_C(3) << 48) + 12);
    e = nth(t, "nrt_execute", 1); /* NC9: ids above 2^53 */
    TAP_EQ_U64(attr_uint(t, e, "tracking_id") >> 50, 9);
    TAP_EQ_U64(attr_uint(t, e, "nc_idx"), 9);
}

TAP_TEST(events)
{
    struct loaded l = load_data("events.json");
    check_events(l.t);
    TAP_EQ_U64(l.t->files[0].kind, NTFF_FILE_EVENT_JSON);
    TAP_EQ_U64(l.t->files[0].n_records, 79);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_UNMATCHED_START), 1);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_UNMATCHED_STOP), 1);
    TAP_OK(!ntff_diag_lossy(&l.diag));
    ntff_trace_free(l.t);
}

TAP_TEST(two_documents)
{
    struct loaded l = load_data("two-documents.json");
    check_events(l.t);
    ntff_trace_free(l.t);
}

TAP_TEST(behind_log_text)
{
    struct loaded l = load_data("behind-log.txt");
    check_events(l.t);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_CAPTURE_DROPPED), 1001);
    const struct ntff_finding *f = &l.diag.of[NTFF_DIAG_CAPTURE_DROPPED];
    TAP_EQ_U64(f->offset, 66); /* the second line */
    TAP_EQ_STR(f->detail, "stored 530560 of 531561");
    TAP_OK(ntff_diag_lossy(&l.diag));
    ntff_trace_free(l.t);
}

TAP_TEST(cut)
{
    struct loaded l = load_data("cut.json");
    check_counts(l.t);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_TRUNCATED_FILE), 1);
    TAP_EQ_U64(count(l.t, "nc_exec_running", 0), 12); /* all before the cut */
    TAP_EQ_U64(count(l.t, "nrta_execute_schedule", 0), 0);
    ntff_trace_free(l.t);
}

/* The cut object is lost; the whole run stands behind it. */
TAP_TEST(cut_and_joined)
{
    struct loaded l = load_data("cut-and-joined.json");
    check_counts(l.t);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_BAD_RECORD), 1);
    TAP_EQ_U64(count(l.t, "nc_exec_running", 0), 24);
    TAP_EQ_U64(count(l.t, "nrta_execute_schedule", 0), 1);
    TAP_EQ_U64(l.t->counts.dropped_records, 1);
    ntff_trace_free(l.t);
}

static const struct ntff_track *counter(const struct ntff_trace *t, const char *name)
{
    for (size_t i = 0; i < t->n_tracks; i++)
        if (t->tracks[i].kind == NTFF_TRACK_COUNTER &&
            !strcmp(ntff_str_of(t, t->tracks[i].name), name))
            return &t->tracks[i];
    TAP_FAIL("no counter %s", name);
}

static const struct ntff_sample *sample(const struct ntff_trace *t, const char *track, size_t k)
{
    const struct ntff_track *c = counter(t, track);
    for (size_t i = 0; i < t->n_samples; i++)
        if (&t->tracks[t->samples[i].track] == c && k-- == 0)
            return &t->samples[i];
    TAP_FAIL("no such sample of %s", track);
}

TAP_TEST(trace_event)
{
    struct loaded l = load_data("trace-event.json");
    check_run(l.t);
    check_counts(l.t);
    TAP_EQ_U64(l.t->n_events, 44);
    TAP_EQ_U64(l.t->counts.whole, 33);
    TAP_EQ_U64(l.t->files[0].kind, NTFF_FILE_SYSTEM_PROFILE_JSON);
    const struct ntff_event *e = nth(l.t, "nrt_execute", 0);
    const struct ntff_process *p = &l.t->processes[l.t->tracks[e->track].process];
    TAP_EQ_U64(p->pid, 4242);
    TAP_EQ_STR(ntff_str_of(l.t, p->instance), "i-EXAMPLE0");
    TAP_OK(sample(l.t, "CPU 00", 1)->value.d == 13.5);
    TAP_OK(sample(l.t, "CPU average", 0)->value.d == 6.25);
    TAP_EQ_U64(sample(l.t, "Host memory", 1)->value.i, 2097152);
    TAP_EQ_U64(sample(l.t, "Host memory", 1)->ts_ns, BASE + NTFF_NS_PER_SEC);
    ntff_trace_free(l.t);
}

TAP_TEST(trace_events_with_strings)
{
    struct loaded l = load_data("trace-events-strings.json");
    check_run(l.t);
    check_counts(l.t);
    TAP_EQ_U64(l.t->n_events, 44);
    TAP_OK(!ntff_diag_lossy(&l.diag));
    ntff_trace_free(l.t);
}

TAP_TEST(bare_list)
{
    struct loaded l = load_data("bare-list.json");
    TAP_EQ_U64(l.t->n_events, 4);
    TAP_EQ_U64(count(l.t, "nrt_execute", 0), 1);
    ntff_trace_free(l.t);
}

TAP_TEST(nan)
{
    struct loaded l = load_data("nan.json");
    struct ntff_detail d = {.n = 0};
    TAP_EQ_U64(l.t->n_events, 1);
    TAP_OK(ntff_detail(l.t, &l.t->events[0], &d));
    TAP_EQ_U64(ntff_detail_find(&d, "flops")->kind, NTFF_V_NULL);
    TAP_EQ_U64(ntff_detail_find(&d, "rate")->kind, NTFF_V_NULL);
    TAP_EQ_U64(ntff_detail_find(&d, "note")->kind, NTFF_V_NULL);
    const struct ntff_attr *a = ntff_detail_find(&d, "nested");
    TAP_OK(a->kind == NTFF_V_TEXT);
    TAP_EQ_MEM(a->text.p, a->text.len, "{\"a\":[1,null]}", 14);
    ntff_detail_done(&d);
    ntff_trace_free(l.t);
}

TAP_TEST(units_and_forms_of_time)
{
    static const struct {
        const char *text;
        uint64_t ts_ns, dur_ns;
    } cases[] = {
        {"\"timestamp\":1764000000000000123,\"duration\":7", BASE + 123, 7},
        {"\"timestamp\":\"1764000000000000123\",\"duration\":\"7\"", BASE + 123, 7},
        {"\"timestamp\":1764000000000000.123,\"duration\":0.5,\"timestamp_unit\":\"us\"",
         BASE + 123, 500},
        {"\"timestamp\":1764000000000.000123,\"duration\":2,\"timestamp_unit\":\"ms\"", BASE + 123,
         2000000},
        {"\"timestamp\":1764000000.0000001234567890123456789,\"duration\":1e-6,"
         "\"timestamp_unit\":\"s\"",
         BASE + 123, 1000},
        {"\"timestamp\":1.764000000000000123e18,\"duration\":7.0", BASE + 123, 7},
        {"\"timestamp\":1764000000000000123,\"duration\":7,\"timestamp_unit\":\"ns\"", BASE + 123,
         7},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(cases); i++) {
        char text[300];
        snprintf(text, sizeof text, "{\"trace_event\":[{\"name\":\"x\",%s}]}", cases[i].text);
        struct loaded l = load_text(text);
        TAP_CONTEXT("%s", text);
        TAP_EQ_U64(l.t->n_events, 1);
        TAP_EQ_U64(l.t->events[0].ts_ns, cases[i].ts_ns);
        TAP_EQ_U64(l.t->events[0].dur_ns, cases[i].dur_ns);
        ntff_trace_free(l.t);
    }
}

/* Zero and negative durations draw nothing false; a bad time costs that event, with its offset. */
TAP_TEST(impossible_durations_and_times)
{
    struct loaded l = load_text("{\"trace_event\":[{\"name\":\"a\",\"timestamp\":5,\"duration\":0},"
                                "{\"name\":\"b\",\"timestamp\":5,\"duration\":-5},"
                                "{\"name\":\"c\",\"timestamp\":-5,\"duration\":5},"
                                "{\"name\":\"d\",\"timestamp\":99999999999999999999},"
                                "{\"timestamp\":5},{\"name\":\"e\"},{}]}");
    check_counts(l.t);
    TAP_EQ_U64(l.t->n_events, 2);
    TAP_EQ_U64(count(l.t, "a", NTFF_EV_INSTANT), 1);
    TAP_EQ_U64(count(l.t, "b", NTFF_EV_INSTANT), 1);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_NEGATIVE_DURATION), 1);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_BAD_RECORD), 5);
    TAP_EQ_U64(l.diag.of[NTFF_DIAG_BAD_RECORD].offset, 97); /* of "c" */
    ntff_trace_free(l.t);
}

/* Device events without a clock pair are shown from the begin of the trace on: of what is kept, not
 * of what has a time years away. */
TAP_TEST(an_impossible_time_takes_nothing_with_it)
{
    struct loaded l = load_text(
        "{\"events\":[{\"event_type\":\"nrt_execute\",\"phase\":\"start\",\"tracking_id\":1,"
        "\"nc_idx\":0,\"timestamp_ns\":1764440000000000000},"
        "{\"event_type\":\"nrt_execute\",\"phase\":\"stop\",\"tracking_id\":1,\"nc_idx\":0,"
        "\"timestamp_ns\":1764440000000001000},"
        "{\"event_type\":\"nc_exec_running\",\"phase\":\"start\",\"tracking_id\":2,\"nc_idx\":0,"
        "\"timestamp_ns\":5000,\"data\":{\"device_core_idx\":0,\"nc_timestamp_ns\":5000}},"
        "{\"event_type\":\"nc_exec_running\",\"phase\":\"stop\",\"tracking_id\":2,\"nc_idx\":0,"
        "\"timestamp_ns\":5300,\"data\":{\"device_core_idx\":0,\"nc_timestamp_ns\":5300}},"
        "{\"event_type\":\"nrt_load\",\"phase\":\"instant\",\"tracking_id\":3,\"nc_idx\":0,"
        "\"timestamp_ns\":1701368000000000000}]}");
    check_counts(l.t);
    TAP_EQ_U64(l.t->n_events, 2);
    TAP_EQ_U64(l.t->counts.dropped_records, 1);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_BAD_TIME), 1);
    const struct ntff_event *e = nth(l.t, "nc_exec_running", 0);
    TAP_EQ_U64(e->ts_ns, UINT64_C(1764440000000000000));
    TAP_EQ_U64(e->dur_ns, 300);
    ntff_trace_free(l.t);
}

TAP_TEST(syntax_error_inside_an_object)
{
    /* balanced for the scanner, but no JSON: found by json-c, at the byte */
    struct loaded l = load_text("{\"events\":[{\"event_type\":\"generic\",\"phase\":tru,"
                                "\"timestamp_ns\":5},"
                                "{\"event_type\":\"generic\",\"phase\":\"instant\","
                                "\"timestamp_ns\":6}],\"data_version\":2}");
    TAP_EQ_U64(l.t->n_events, 1);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_BAD_RECORD), 1);
    TAP_EQ_U64(l.diag.of[NTFF_DIAG_BAD_RECORD].offset, 46); /* the comma after "tru" */
    check_counts(l.t);
    ntff_trace_free(l.t);
}

/* Found in a file that is named, even if the head shows nothing but log lines. */
TAP_TEST(far_behind_log_text)
{
    size_t cap = 300000, len = 0;
    char *text = malloc(cap);
    TAP_OK(text != NULL);
    for (int i = 0; len < 200000; i++)
        len += (size_t)snprintf(text + len, cap - len, "[12:00:%02d] step {%d} of the warm-up\n",
                                i % 60, i);
    snprintf(text + len, cap - len,
             "[12:01:00] {\"events\":[{\"event_type\":\"generic\",\"phase\":\"instant\","
             "\"timestamp_ns\":6}],\"data_version\":2}\nend\n");
    struct loaded l = load_text(text);
    TAP_EQ_U64(l.t->n_events, 1);
    TAP_EQ_U64(l.t->files[0].kind, NTFF_FILE_EVENT_JSON);
    ntff_trace_free(l.t);
    text[len] = '\0'; /* the same without events */
    l = load_text(text);
    TAP_EQ_U64(l.t->n_events, 0);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_BAD_FRAMING), 1);
    ntff_trace_free(l.t);
    free(text);
}

TAP_TEST(several_processes)
{
    struct loaded l =
        load_text("[{\"name\":\"x\",\"timestamp\":5,\"duration\":1,\"process_id\":\"7\","
                  "\"instance_id\":\"i-a\"},{\"name\":\"x\",\"timestamp\":5,\"duration\":1,"
                  "\"process_id\":7,\"instance_id\":\"i-b\"}]");
    const struct ntff_trace *t = l.t;
    TAP_EQ_U64(t->n_events, 2);
    const struct ntff_process *a = &t->processes[t->tracks[t->events[0].track].process];
    const struct ntff_process *b = &t->processes[t->tracks[t->events[1].track].process];
    TAP_OK(a != b);
    TAP_EQ_U64(a->pid, 7);
    TAP_EQ_U64(b->pid, 7);
    ntff_trace_free(l.t);
}

TAP_TEST(other_data_version)
{
    struct loaded l = load_text("{\"events\":[{\"event_type\":\"generic\",\"phase\":\"instant\","
                                "\"timestamp_ns\":6}],\"data_version\":3}");
    TAP_EQ_U64(finding(&l, NTFF_DIAG_VERSION), 1);
    TAP_EQ_U64(l.t->n_events, 1);
    ntff_trace_free(l.t);
}

TAP_TEST(integers_beyond_64_bits)
{
    struct loaded l =
        load_text("[{\"event_type\":\"generic\",\"phase\":\"instant\",\"timestamp_ns\":6,"
                  "\"data\":{\"a\":18446744073709551615,\"b\":-9223372036854775808}},"
                  "{\"event_type\":\"generic\",\"phase\":\"instant\",\"timestamp_ns\":7,"
                  "\"data\":{\"a\":18446744073709551616}}]");
    struct ntff_detail d = {.n = 0};
    TAP_EQ_U64(l.t->n_events, 2);
    TAP_EQ_U64(attr_uint(l.t, &l.t->events[0], "a"), UINT64_MAX);
    TAP_OK(ntff_detail(l.t, &l.t->events[0], &d));
    TAP_EQ_I64(ntff_detail_find(&d, "b")->i, INT64_MIN);
    TAP_OK(ntff_detail(l.t, &l.t->events[1], &d));
    TAP_EQ_U64(ntff_detail_find(&d, "a")->kind, NTFF_V_NULL);
    TAP_EQ_U64(finding(&l, NTFF_DIAG_BAD_ATTRIBUTE), 1);
    ntff_detail_done(&d);
    ntff_trace_free(l.t);
}

TAP_MAIN()
