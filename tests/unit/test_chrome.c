/* jsonw, times, paths and the Chrome writer. What the JSON means is judged by
 * tests/check_chrome.py. */
#include "conv/chrome_sink.h"
#include "conv/jsonw.h"
#include "proto/paths.h"
#include "conv/times.h"
#include "tests/synth.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* -- jsonw
 * ------------------------------------------------------------------------------------------- */

static struct ntff_out *out;
static struct conv_json j;

static void begin(bool pretty)
{
    struct ntff_error err;
    TAP_EQ_U64(ntff_out_open(&out, NULL, 0, 0, &err), NTFF_OK);
    j = conv_json_begin(out, pretty);
}

static const char *written(void)
{
    static char text[65536];
    conv_json_done(&j);
    struct ntff_slice b = ntff_out_bytes(out);
    TAP_OK(b.len < sizeof text);
    memcpy(text, b.p, b.len);
    text[b.len] = '\0';
    ntff_out_close(out);
    return text;
}

static const char *as_text(const char *p, size_t len)
{
    begin(false);
    conv_json_text_len(&j, p, len);
    return written();
}

TAP_TEST(texts)
{
    TAP_EQ_STR(as_text("", 0), "\"\"");
    TAP_EQ_STR(as_text("plain text of some length", 25), "\"plain text of some length\"");
    TAP_EQ_STR(as_text("a\"b\\c/d", 7), "\"a\\\"b\\\\c/d\"");
    TAP_EQ_STR(as_text("\n\r\t\b\x1b\x7f", 6), "\"\\n\\r\\t\\u0008\\u001b\x7f\"");
    TAP_EQ_STR(as_text("a\0b", 3), "\"a\xe2\x90\x80"
                                   "b\"");
    TAP_EQ_STR(as_text("gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80", 11),
               "\"gr\xc3\xbc\xc3\x9f \xf0\x9f\x98\x80\"");
    TAP_EQ_STR(as_text("x\xff\xc3", 3), "\"x\xef\xbf\xbd\xef\xbf\xbd\"");
    TAP_EQ_STR(as_text("\xed\xa0\x80", 3),
               "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""); /* a surrogate */
}

/* A character that needs care at every place of texts of every length: the word-wise scan is right.
 */
TAP_TEST(texts_at_every_place)
{
    for (size_t len = 1; len < 40; len++) {
        for (size_t at = 0; at < len; at++) {
            char in[64], want[64];
            memset(in, 'a', len);
            in[at] = '"';
            snprintf(want, sizeof want, "\"%.*s\\\"%.*s\"", (int)at, in, (int)(len - at - 1),
                     in + at + 1);
            TAP_EQ_STR(as_text(in, len), want);
        }
    }
}

TAP_TEST(numbers)
{
    begin(false);
    conv_json_array(&j);
    conv_json_u64(&j, 0);
    conv_json_u64(&j, 99);
    conv_json_u64(&j, 100);
    conv_json_u64(&j, UINT64_MAX);
    conv_json_i64(&j, INT64_MIN);
    conv_json_id(&j, UINT64_C(1) << 53);
    conv_json_id(&j, (UINT64_C(1) << 53) + 1);
    conv_json_double(&j, 0.1);
    conv_json_double(&j, 1.0 / 3);
    conv_json_double(&j, -1e300);
    conv_json_double(&j, NAN);
    conv_json_double(&j, INFINITY);
    conv_json_bool(&j, true);
    conv_json_null(&j);
    conv_json_end(&j);
    TAP_EQ_STR(written(),
               "[0,99,100,18446744073709551615,-9223372036854775808,9007199254740992,"
               "\"9007199254740993\",0.1,0.33333333333333331,-1e+300,null,null,true,null]");
    begin(false);
    conv_json_put_micros(&j.w, 0);
    conv_json_raw(&j.w, " ");
    conv_json_put_micros(&j.w, 1234567);
    conv_json_raw(&j.w, " ");
    conv_json_put_micros(&j.w, UINT64_MAX);
    conv_json_raw(&j.w, " ");
    conv_json_put_micros(&j.w, 90);
    TAP_EQ_STR(written(), "0.000 1234.567 18446744073709551.615 0.090");
}

TAP_TEST(structure)
{
    begin(true);
    conv_json_object(&j);
    conv_json_key_text(&j, "a\n", "b");
    conv_json_key(&j, "list");
    conv_json_array(&j);
    conv_json_u64(&j, 1);
    conv_json_object(&j);
    conv_json_end(&j);
    conv_json_end(&j);
    conv_json_key_u64(&j, "n", 3);
    conv_json_end(&j);
    TAP_EQ_STR(written(),
               "{\n  \"a\\n\": \"b\",\n  \"list\": [\n    1,\n    {}\n  ],\n  \"n\": 3\n}\n");
}

/* -- times
 * ------------------------------------------------------------------------------------------- */

TAP_TEST(points_in_time)
{
    static const struct {
        const char *text;
        uint64_t ns;
        bool relative, good;
    } rows[] = {
        {"0", 0, false, true},
        {"1764440000123456789", UINT64_C(1764440000123456789), false, true},
        {"1.5s", 1500000000, true, true},
        {"20ms", 20000000, true, true},
        {"0.000000001s", 1, true, true},
        {"250us", 250000, true, true},
        {"1.5\xc2\xb5s", 1500, true, true},
        {"7ns", 7, true, true},
        {"2m", UINT64_C(120000000000), true, true},
        {"1.25h", UINT64_C(4500000000000), true, true},
        {"18446744073709551615", UINT64_MAX, false, true},
        {"18446744073709551616", 0, false, false},
        {"1.5ns", 0, true, false},
        {"1.5", 0, false, false},
        {"1.s", 0, false, false},
        {".5s", 0, false, false},
        {"-1s", 0, false, false},
        {"1 s", 0, false, false},
        {"", 0, false, false},
        {"s", 0, false, false},
        {"5parsecs", 0, false, false},
        {"99999999999s", 0, false, false},
        {"0x10", 0, false, false},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(rows); i++) {
        struct conv_time t = {0};
        struct ntff_error err = {.text = ""};
        TAP_CONTEXT("%s", rows[i].text);
        TAP_EQ_U64(conv_time_parse(rows[i].text, &t, &err), rows[i].good);
        if (!rows[i].good) {
            TAP_OK(strstr(err.text, "expected"));
            continue;
        }
        TAP_EQ_U64(t.ns, rows[i].ns);
        TAP_EQ_U64(t.relative, rows[i].relative);
    }
    struct conv_time rel = {5, true, true}, absolute = {5, false, true};
    TAP_EQ_U64(conv_time_resolve(&rel, 100), 105);
    TAP_EQ_U64(conv_time_resolve(&absolute, 100), 5);
    TAP_EQ_U64(conv_time_resolve(&rel, UINT64_MAX - 1), UINT64_MAX);
}

TAP_TEST(durations_and_dates)
{
    char d[32], when[48];
    TAP_EQ_STR(conv_duration(0, d), "0 ns");
    TAP_EQ_STR(conv_duration(999, d), "999 ns");
    TAP_EQ_STR(conv_duration(1500, d), "1.5 us");
    TAP_EQ_STR(conv_duration(20000000, d), "20 ms");
    TAP_EQ_STR(conv_duration(3217999999u, d), "3.217 s");
    TAP_EQ_STR(conv_date(UINT64_C(1764440000123456789), when), "2025-11-29 18:13:20.123456789 UTC");
}

/* -- paths
 * ------------------------------------------------------------------------------------------- */

static bool allowed(const char *output, const char *input)
{
    struct ntff_error err;
    return ntff_output_allowed(output, &input, 1, &err);
}

TAP_TEST(outputs_keep_away_from_inputs)
{
    char dir[512], file[600], link_path[600], inside[600], deep[600], other[600];
    snprintf(dir, sizeof dir, "%s", synth_path("in"));
    snprintf(file, sizeof file, "%s/ntrace.pb", dir);
    snprintf(link_path, sizeof link_path, "%s", synth_path("link.pftrace"));
    snprintf(inside, sizeof inside, "%s/new.pftrace", dir);
    snprintf(deep, sizeof deep, "%s/../in/./new.pftrace", dir);
    snprintf(other, sizeof other, "%s", synth_path("in-not.pftrace"));
    mkdir(dir, 0777);
    FILE *f = fopen(file, "w");
    TAP_OK(f && fputs("x", f) >= 0 && fclose(f) == 0);
    unlink(link_path);
    TAP_EQ_I64(symlink(file, link_path), 0);
    TAP_OK(!allowed(file, file));
    TAP_OK(!allowed(link_path, file));
    TAP_OK(!allowed(file, dir));
    TAP_OK(!allowed(inside, dir));
    TAP_OK(!allowed(deep, dir));
    TAP_OK(!allowed(link_path, dir));
    TAP_OK(allowed(inside, file)); /* beside a single input file is fine */
    TAP_OK(allowed(other, dir));
    TAP_OK(allowed("-", dir));
    TAP_OK(allowed("/dev/null", dir));
    unlink(file);
    unlink(link_path);
    rmdir(dir);
}

/* A link below an input directory makes what it leads to part of the input. */
TAP_TEST(outputs_keep_away_from_what_links_in_inputs_lead_to)
{
    char in[512], aside[512], sub[600], odd[600], path[700];
    snprintf(in, sizeof in, "%s", synth_path("linked-in"));
    snprintf(aside, sizeof aside, "%s", synth_path("linked-aside"));
    snprintf(sub, sizeof sub, "%s/o", in);
    snprintf(odd, sizeof odd, "%s/.hidden", in);
    mkdir(in, 0777);
    mkdir(aside, 0777);
    unlink(sub);
    TAP_EQ_I64(symlink("../linked-aside", sub), 0);
    const struct {
        const char *dir, *rest;
        bool fine;
    } cases[] = {
        {sub, "", false},          {sub, "/y.pftrace", false}, {sub, "/new/y.pftrace", false},
        {sub, "/a/../b/y", false}, {aside, "", false},         {aside, "/y.pftrace", false},
        {aside, "/a/b/c", false},  {aside, ".pftrace", true},  {aside, "-not/y.pftrace", true},
    };
    for (size_t i = 0; i < NTFF_ARRAY_LEN(cases); i++) {
        snprintf(path, sizeof path, "%s%s", cases[i].dir, cases[i].rest);
        TAP_OK(allowed(path, in) == cases[i].fine);
    }
    /* as files are read: nothing behind a hidden name is input */
    TAP_EQ_I64(rename(sub, odd), 0);
    snprintf(path, sizeof path, "%s/y.pftrace", aside);
    TAP_OK(allowed(path, in));
    unlink(odd);
    rmdir(in);
    rmdir(aside);
}

/* 2^16 ways lead to the last directory, and one round in a circle; each is looked at once. */
TAP_TEST(links_in_inputs_may_lead_in_circles)
{
    enum { LEVELS = 16 };
    char top[512], path[700], to[600];
    snprintf(top, sizeof top, "%s", synth_path("circles"));
    mkdir(top, 0777);
    for (int i = 0; i <= LEVELS; i++) {
        snprintf(path, sizeof path, "%s/.%d", top, i);
        mkdir(path, 0777);
        snprintf(to, sizeof to, "../.%d", i < LEVELS ? i + 1 : 0);
        for (char c = 'a'; c <= 'b'; c++) {
            snprintf(path, sizeof path, "%s/.%d/%c", top, i, c);
            unlink(path);
            TAP_EQ_I64(symlink(to, path), 0);
        }
    }
    snprintf(to, sizeof to, "%s/.0", top);
    snprintf(path, sizeof path, "%s/.%d/y.pftrace", top, LEVELS);
    TAP_OK(!allowed(path, to));
    snprintf(path, sizeof path, "%s/y.pftrace", top);
    TAP_OK(allowed(path, to));
    for (int i = 0; i <= LEVELS; i++) {
        for (char c = 'a'; c <= 'b'; c++) {
            snprintf(path, sizeof path, "%s/.%d/%c", top, i, c);
            unlink(path);
        }
        snprintf(path, sizeof path, "%s/.%d", top, i);
        rmdir(path);
    }
    rmdir(top);
}

TAP_TEST(links_to_nothing_yet)
{
    char dir[512], a[600], b[600], path[700];
    snprintf(dir, sizeof dir, "%s", synth_path("dangling"));
    snprintf(a, sizeof a, "%s/a", dir);
    snprintf(b, sizeof b, "%s/b", dir);
    snprintf(path, sizeof path, "%s/none", dir);
    mkdir(dir, 0777);
    unlink(a);
    unlink(b);
    TAP_EQ_I64(symlink("b", a), 0);
    TAP_EQ_I64(symlink(path, b), 0);
    char *to = ntff_output_target(a);
    TAP_EQ_STR(to, path);
    free(to);
    TAP_OK(ntff_same_output(a, path));
    TAP_OK(ntff_same_output(a, b));
    TAP_OK(!allowed(a, dir));
    unlink(b);
    TAP_EQ_I64(symlink("a", b), 0);
    to = ntff_output_target(a);
    TAP_OK(!to && errno == ELOOP);
    free(to);
    unlink(a);
    unlink(b);
    rmdir(dir);
}

TAP_TEST(names_of_paths)
{
    char *name = ntff_path_name("/a/b/sess.1/");
    TAP_EQ_STR(name, "sess.1");
    free(name);
    name = ntff_path_name("-");
    TAP_EQ_STR(name, "stdin");
    free(name);
    name = ntff_path_name("/");
    TAP_EQ_STR(name, "trace");
    free(name);
}

/* -- whole traces
 * ------------------------------------------------------------------------------------ */

static struct pft_stats write_file(const struct ntff_trace *t, const char *path)
{
    struct pft_options opt = {.creator = "test"};
    struct pft_stats stats;
    struct ntff_error err = {.text = ""};
    struct ntff_out *o;
    unlink(path);
    TAP_EQ_U64(ntff_out_open(&o, path, 0, 0, &err), NTFF_OK);
    TAP_EQ_U64(conv_chrome_write(t, &opt, o, &stats, &err), NTFF_OK);
    TAP_EQ_U64(ntff_out_commit(o, &err), NTFF_OK);
    ntff_out_close(o);
    return stats;
}

TAP_TEST(awkward_trace)
{
    const char *path = synth_path("t.json");
    struct pft_stats stats = write_file(synth_awkward(), path);
    TAP_OK(synth_check("check_chrome.py", path));
    TAP_EQ_U64(stats.spans, 10);
    TAP_EQ_U64(stats.instants, 601);
    TAP_EQ_U64(stats.samples, 4);
    TAP_EQ_U64(stats.samples_dropped, 2);
    unlink(path);
}

TAP_TEST(flows_in_both_directions)
{
    const char *path = synth_path("f.json");
    struct pft_stats stats = write_file(synth_flows(), path);
    TAP_OK(synth_check("check_chrome.py", path));
    TAP_EQ_U64(stats.flows, 4);
    TAP_EQ_U64(stats.flows_reversed, 1);
    unlink(path);
}

TAP_TEST(random_traces)
{
    const char *path = synth_path("r.json");
    for (unsigned seed = 100; seed < 110; seed++) {
        TAP_CONTEXT("seed %u", seed);
        write_file(synth_random(seed), path);
        TAP_OK(synth_check("check_chrome.py", path));
    }
    unlink(path);
}

TAP_TEST(thread_ids_in_the_range_of_rows)
{
    struct synth *s = synth_new();
    uint32_t p = synth_process(s, 1), h = synth_track(s, p, NTFF_TRACK_THREAD, "hashed id");
    uint32_t big = synth_track(s, p, NTFF_TRACK_THREAD, "more than 32 bits");
    s->tracks[h].tid = 10000002, s->tracks[big].tid = UINT64_C(1) << 40;
    for (int i = 0; i < 5; i++)
        synth_span(s, synth_track(s, p, NTFF_TRACK_ROW, "row"), "x", 0, 10);
    synth_span(s, h, "x", 0, 10);
    synth_span(s, big, "x", 0, 10);
    const char *path = synth_path("i.json");
    write_file(synth_done(s), path);
    TAP_OK(synth_check("check_chrome.py", path));
    unlink(path);
}

TAP_MAIN()
