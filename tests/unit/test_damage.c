/* Whole captures, intact and damaged at random: whatever comes in, the loader ends in order, what
 * it built keeps the promises of model.h, and every record is accounted for. Damage in every place
 * is tests/sweep's. */
#include "proto/load.h"
#include "tests/check_trace.h"
#include "tests/tap.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t random_state;

static uint64_t below(uint64_t n)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % n;
}

static const char *source_path(const char *name)
{
    static char path[4096];
    const char *src = getenv("SRC");
    snprintf(path, sizeof path, "%s/%s", src != NULL ? src : ".", name);
    return path;
}

/* A private file or directory name. */
static const char *scratch_path(const char *name)
{
    static char path[4096];
    const char *tmp = getenv("TMP");
    snprintf(path, sizeof path, "%s/%s", tmp != NULL ? tmp : "/tmp", name);
    return path;
}

struct blob {
    uint8_t *p;
    size_t len;
};

static struct blob read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct blob b = {malloc(1 << 20), 0};
    if (f == NULL || b.p == NULL)
        TAP_FAIL("cannot read %s", path);
    b.len = fread(b.p, 1, 1 << 20, f);
    fclose(f);
    return b;
}

static void write_file(const char *path, const void *p, size_t len)
{
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(p, 1, len, f) != len || fclose(f) != 0)
        TAP_FAIL("cannot write %s", path);
}

/* Loads path and checks the result; returns the number of events, frees everything. */
static size_t load_and_check(const char *path, const struct ntff_load_options *opt, bool must_load,
                             struct ntff_counts *counts)
{
    struct ntff_trace *t = NULL;
    struct ntff_diag diag = {0};
    struct ntff_error err = {0};
    enum ntff_status s = ntff_load(&path, 1, opt, &t, &diag, &err);
    if (s != NTFF_OK) {
        if (must_load)
            TAP_FAIL("%s: %s", path, err.text);
        TAP_OK(err.text[0] != '\0');
        return 0;
    }
    const char *bad = check_trace(t, &diag);
    if (bad != NULL)
        TAP_FAIL("%s: %s", path, bad);
    size_t n = t->n_events;
    if (counts != NULL)
        *counts = t->counts;
    ntff_trace_free(t);
    return n;
}

/* -- intact ----------------------------------------------------------------------------------- */

static const char *const cases[] = {"a-delimited",       "b-bare-raw", "c-second-numbering",
                                    "d-noisy-clocks",    "e-device",   "f-json",
                                    "f-json.events.json"};

TAP_TEST(intact_captures_keep_every_promise)
{
    struct ntff_load_options opt = {0};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(cases); i++) {
        char name[256];
        struct ntff_counts c;
        snprintf(name, sizeof name, "tests/data/cases/%s", cases[i]);
        TAP_CONTEXT("%s", name);
        TAP_OK(load_and_check(source_path(name), &opt, true, &c) > 100);
        TAP_EQ_U64(c.dropped_records, 0);
        TAP_EQ_U64(c.filtered_records, 0);
    }
}

TAP_TEST(filters_account_for_what_they_leave_out)
{
    static const struct ntff_load_options opts[] = {
        {.filter_core = "1"},
        {.filter_core = "0-1"},
        {.filter_type = "nc_exec_running"},
        {.filter_type = "device_exec,nrt_execute"},
        {.filter_type = "hardware"},
        {.filter_type = "software,^nrt_execute"},
        {.filter_process = "1000"},
        {.filter_instance = "i-EXAMPLE0"},
        {.filter_instance = "i-OTHER"},
        {.no_flows = true},
        {.primary_group = NTFF_BY_NC, .secondary_group = NTFF_BY_PROCESS | NTFF_BY_THREAD},
        {.primary_group = NTFF_BY_INSTANCE, .secondary_group = NTFF_BY_NC},
        {.clock = NTFF_CLOCK_SYNC_POINT},
        {.clock = NTFF_CLOCK_NEAREST},
        {.clock = NTFF_CLOCK_DEVICE},
        {.clock = NTFF_CLOCK_RECORDED},
        {.clock = NTFF_CLOCK_FIT},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(cases); i++) {
        char name[256];
        struct ntff_counts all, c;
        snprintf(name, sizeof name, "tests/data/cases/%s", cases[i]);
        load_and_check(source_path(name), &(struct ntff_load_options){0}, true, &all);
        for (size_t k = 0; k < NTFF_ARRAY_LEN(opts); k++) {
            TAP_CONTEXT("%s, options %zu", name, k);
            load_and_check(source_path(name), &opts[k], true, &c);
            /* a device profile that a filter leaves out is not read at all */
            if (strcmp(cases[i], "e-device") != 0)
                TAP_EQ_U64(c.records_in, all.records_in);
        }
    }
}

/* A window anywhere: what is left keeps the promises, and what went is counted. */
TAP_TEST(windows_account_for_what_they_cut_off)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(cases); i++)
        for (unsigned round = 0; round < 24; round++) {
            char name[256];
            struct ntff_load_options opt = {0};
            struct ntff_trace *t;
            struct ntff_diag diag = {0};
            struct ntff_error err;
            snprintf(name, sizeof name, "tests/data/cases/%s", cases[i]);
            const char *path = source_path(name);
            TAP_CONTEXT("%s, window %u", name, round);
            TAP_EQ_U64(ntff_load(&path, 1, &opt, &t, &diag, &err), NTFF_OK);
            random_state = round;
            uint64_t len = t->end_ns - t->begin_ns, lo = t->begin_ns + below(len + len / 8), hi;
            hi = round == 0 ? lo : lo + below(round < 12 ? len : len / 64 + 2);
            if (round == 1) /* exactly at the begin of an event */
                lo = t->events[t->n_events / 2].ts_ns;
            size_t before = t->n_events;
            TAP_EQ_U64(ntff_trace_clip(t, lo, hi, &diag, &err), NTFF_OK);
            const char *bad = check_trace(t, &diag);
            if (bad != NULL)
                TAP_FAIL("%" PRIu64 "..%" PRIu64 ": %s", lo, hi, bad);
            for (size_t k = 0; k < t->n_events; k++)
                TAP_OK(t->events[k].ts_ns >= lo && ntff_event_end(&t->events[k]) <= hi);
            for (size_t k = 0; k < t->n_samples; k++)
                TAP_OK(t->samples[k].ts_ns >= lo && t->samples[k].ts_ns < hi);
            TAP_OK(t->n_events <= before && (hi > lo || t->n_events == 0));
            TAP_EQ_U64(ntff_trace_index(t, &err), NTFF_OK);
            TAP_EQ_U64(t->first[t->n_tracks], t->n_events);
            ntff_trace_free(t);
        }
}

/* -- damaged ---------------------------------------------------------------------------------- */

static size_t damage(uint8_t *p, size_t len)
{
    for (uint64_t n = 1 + below(4); n > 0 && len > 1; n--) {
        size_t at = below(len), run = 1 + below(64);
        if (run > len - at)
            run = len - at;
        switch (below(6)) {
        case 0:
            p[at] ^= (uint8_t)(1 << below(8));
            break;
        case 1:
            memset(p + at, (int)below(256), run);
            break;
        case 2:
            len = at;
            break;
        case 3: /* bytes lost in the middle */
            memmove(p + at, p + at + run, len - at - run);
            len -= run;
            break;
        case 4: /* a piece of the file written over another */
            memmove(p + at, p + below(len - run + 1), run);
            break;
        default:
            p[at] = 0xff;
            break;
        }
    }
    return len;
}

static void damage_many(const char *file, const char *name, unsigned rounds)
{
    struct ntff_load_options opt = {.max_memory = (size_t)256 << 20};
    struct blob good = read_file(source_path(file));
    uint8_t *copy = malloc(good.len);
    const char *path = scratch_path(name);
    TAP_OK(copy != NULL && good.len > 0);
    for (unsigned i = 0; i < rounds; i++) {
        random_state = (uint64_t)i << 20;
        TAP_CONTEXT("%s, round %u", file, i);
        memcpy(copy, good.p, good.len);
        write_file(path, copy, damage(copy, good.len));
        load_and_check(path, &opt, false, NULL);
    }
    unlink(path);
    free(copy);
    free(good.p);
}

enum { ROUNDS = 150 };

TAP_TEST(damaged_delimited_events)
{
    damage_many("tests/data/cases/a-delimited/i-EXAMPLE0_pid_1000/ntrace.pb", "a.pb", ROUNDS);
}
TAP_TEST(damaged_bare_info)
{
    damage_many("tests/data/cases/b-bare-raw/i-EXAMPLE0_pid_1000/1764440000000000000/ntrace.pb",
                "b.pb", ROUNDS);
}
TAP_TEST(damaged_second_numbering)
{
    damage_many("tests/data/cases/c-second-numbering/i-EXAMPLE0_pid_1000/ntrace.pb", "c.pb",
                ROUNDS);
}
TAP_TEST(damaged_json)
{
    damage_many("tests/data/cases/f-json.events.json", "f.json", ROUNDS);
}
TAP_TEST(damaged_device_profile)
{
    damage_many("tests/data/cases/e-device/i-EXAMPLE0_pid_1000/deadbeef_instid_0_vnc_0.ntff",
                "e.ntff", ROUNDS);
}
TAP_TEST(damaged_small_files)
{
    static const char *const names[] = {"cpu_util.pb", "host_mem.pb", "trace_info.pb"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(names); i++) {
        char file[256];
        snprintf(file, sizeof file, "tests/data/cases/a-delimited/i-EXAMPLE0_pid_1000/%s",
                 names[i]);
        damage_many(file, names[i], ROUNDS);
    }
}

/* One bit makes 1.0 infinite: no writer could show it, and means would be infinite too. */
TAP_TEST(an_infinite_sample_is_dropped_and_told)
{
    struct ntff_load_options opt = {0};
    struct blob b =
        read_file(source_path("tests/data/cases/a-delimited/i-EXAMPLE0_pid_1000/cpu_util.pb"));
    const char *path = scratch_path("infinite.pb");
    struct ntff_counts c;
    TAP_EQ_U64(b.p[70], 0x3f);
    b.p[70] ^= 0x40;
    write_file(path, b.p, b.len);
    load_and_check(path, &opt, true, &c);
    TAP_EQ_U64(c.samples_in, 20);
    TAP_EQ_U64(c.samples_dropped, 1);
    unlink(path);
    free(b.p);
}

TAP_MAIN()
