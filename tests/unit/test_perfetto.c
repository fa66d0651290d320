/* pbw, intern, layout and the Perfetto writer, on traces made by hand. What the bytes mean is
 * judged by tests/check_pftrace.py, which shares nothing with the writer. */
#include "perfetto/intern.h"
#include "perfetto/layout.h"
#include "perfetto/pbw.h"
#include "perfetto/perfetto_sink.h"
#include "proto/wire.h"
#include "tests/synth.h"
#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* -- pbw
 * --------------------------------------------------------------------------------------------- */

TAP_TEST(varints_read_back)
{
    for (int bit = 0; bit < 64; bit++) {
        for (int delta = -2; delta <= 2; delta++) {
            uint64_t v = (UINT64_C(1) << bit) + (uint64_t)delta, got;
            uint8_t buf[32];
            memset(buf, 0xAA, sizeof buf);
            uint8_t *end = pbw_put_varint(buf, v);
            TAP_CONTEXT("value %llx", (unsigned long long)v);
            TAP_EQ_U64(end - buf, pbw_varint_size(v));
            TAP_OK(ntff_varint(buf, end, &got) == end);
            TAP_EQ_U64(got, v);
            TAP_EQ_U64(buf[10], 0xAA); /* no more than ten bytes touched */
        }
    }
}

/* Lengths of one, two, three and four bytes, nested. */
TAP_TEST(lengths_are_exact)
{
    static const size_t sizes[] = {0,     1,     125,   126,   127,     128,    16380,
                                   16381, 16383, 16384, 70000, 2097151, 2097152};
    char *filler = malloc(2097152);
    memset(filler, 'x', 2097152);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(sizes); i++) {
        struct ntff_out *out;
        struct ntff_error err;
        TAP_CONTEXT("content of %zu bytes", sizes[i]);
        TAP_EQ_U64(ntff_out_open(&out, NULL, 0, 0, &err), NTFF_OK);
        struct ntff_put w = ntff_put_begin(out);
        size_t outer = pbw_open(&w, 1), inner = pbw_open(&w, 2000);
        ntff_put_bytes(&w, filler, sizes[i]);
        pbw_close(&w, inner);
        pbw_u64(&w, 3, 7);
        pbw_close(&w, outer);
        ntff_put_done(&w);
        ntff_put_end(&w);
        struct ntff_slice b = ntff_out_bytes(out);
        struct ntff_wire r = ntff_wire_init(b.p, b.len);
        struct ntff_field f;
        TAP_EQ_I64(ntff_wire_next(&r, &f), 1);
        TAP_EQ_U64(f.number, 1);
        TAP_OK(r.p == r.end);
        size_t inner_size = 2 + pbw_varint_size(sizes[i]) + sizes[i];
        TAP_EQ_U64(f.value, inner_size + 2);
        TAP_EQ_U64(b.len, 1 + pbw_varint_size(f.value) + f.value);
        r = ntff_wire_init(f.data, f.value);
        TAP_EQ_I64(ntff_wire_next(&r, &f), 1);
        TAP_EQ_U64(f.number, 2000);
        TAP_EQ_U64(f.value, sizes[i]);
        TAP_EQ_MEM(f.data, f.value, filler, sizes[i]);
        TAP_EQ_I64(ntff_wire_next(&r, &f), 1);
        TAP_EQ_U64(f.value, 7);
        ntff_out_close(out);
    }
    free(filler);
}

/* -- intern
 * ------------------------------------------------------------------------------------------ */

static const char *name_of(struct pft_namer *n, const char *key)
{
    const struct pft_key *k = pft_namer_key(n, key, strlen(key), 0); /* a guess seldom right */
    return k ? ntff_text(&n->in->names, k->iid) : NULL;
}

TAP_TEST(names_are_clean_and_unique)
{
    static struct pft_namer n, other;
    struct pft_intern in;
    TAP_OK(pft_intern_init(&in));
    n.in = other.in = &in;
    n.may_define = true;
    pft_namer_event(&n, 1);
    pft_namer_event(&other, 1);
    TAP_OK(!name_of(&other, "exec_id")); /* new, and may not define it */
    TAP_EQ_STR(name_of(&n, "exec_id"), "exec_id");
    TAP_EQ_STR(name_of(&other, "exec_id"), "exec_id");
    TAP_OK(!name_of(&other, "exec_id")); /* a second one needs a name that nobody defined: left */
    TAP_EQ_STR(name_of(&n, "a.b[0]"), "a_b_0_");
    TAP_EQ_STR(name_of(&n, "a_b_0_"), "a_b_0__2");
    TAP_EQ_STR(name_of(&n, ""), "_");
    TAP_EQ_STR(name_of(&n, "x\xff"), "x\xef\xbf\xbd");
    /* twice in one event: a name of its own; in the next event the plain one again */
    TAP_EQ_STR(name_of(&n, "exec_id"), "exec_id_2");
    pft_namer_event(&other, 1);
    TAP_EQ_STR(name_of(&other, "exec_id"), "exec_id");
    TAP_EQ_STR(name_of(&other, "exec_id"), "exec_id_2");
    TAP_EQ_STR(name_of(&n, "exec_id"), "exec_id_3");
    pft_namer_event(&n, 2);
    TAP_EQ_STR(name_of(&n, "exec_id"), "exec_id");
    pft_intern_done(&in);
}

TAP_TEST(names_end_somewhere)
{
    struct pft_intern in;
    TAP_OK(pft_intern_init(&in));
    char key[32];
    for (unsigned i = 0; i < PFT_MAX_KEYS; i++) {
        snprintf(key, sizeof key, "key %u", i);
        TAP_OK(pft_intern_key(&in, key, strlen(key)) != NULL);
    }
    TAP_OK(pft_intern_key(&in, "one more", 8) == NULL);
    TAP_OK(pft_intern_key(&in, "key 17", 6) != NULL);
    pft_intern_done(&in);
}

TAP_TEST(texts_get_an_id_when_they_repeat)
{
    struct pft_intern in;
    TAP_OK(pft_intern_init(&in));
    TAP_EQ_U64(pft_intern_text(&in, "TENSOR", 6), 0);
    TAP_EQ_U64(in.defs.len, 0);
    TAP_EQ_U64(pft_intern_text(&in, "TENSOR", 6), 1);
    TAP_OK(in.defs.len > 6);
    TAP_EQ_U64(pft_intern_text(&in, "TENSOR", 6), 1);
    TAP_EQ_U64(pft_intern_text(&in, "ab", 2), 0);
    TAP_EQ_U64(pft_intern_text(&in, "ab", 2), 0);
    TAP_EQ_U64(pft_intern_known(&in, "TENSOR", 6), 1);
    TAP_EQ_U64(pft_intern_known(&in, "TENSOS", 6), 0);
    /* long texts that differ where the hash does not look: the second stays inline, nothing is
     * mixed up */
    char x[1000], y[1000];
    memset(x, 'x', sizeof x);
    memcpy(y, x, sizeof y);
    y[300] = 'y';
    TAP_EQ_U64(pft_intern_text(&in, x, sizeof x), 0);
    TAP_EQ_U64(pft_intern_text(&in, x, sizeof x), 2);
    TAP_EQ_U64(pft_intern_text(&in, y, sizeof y), 0);
    TAP_EQ_U64(pft_intern_text(&in, y, sizeof y), 0);
    TAP_EQ_U64(pft_intern_known(&in, x, sizeof x), 2);
    /* a flood of different texts takes no memory and does not push out what has an id */
    char text[32];
    for (int i = 0; i < 200000; i++) {
        snprintf(text, sizeof text, "unique %d", i);
        TAP_EQ_U64(pft_intern_text(&in, text, strlen(text)), 0);
    }
    TAP_EQ_U64(pft_intern_text(&in, "TENSOR", 6), 1);
    TAP_EQ_U64(in.n_texts, 2);
    pft_intern_done(&in);
}

/* -- layout
 * ------------------------------------------------------------------------------------------ */

TAP_TEST(pids_and_tids)
{
    struct synth *s = synth_new();
    uint32_t a = synth_process(s, 111), b = synth_process(s, 222), c = synth_process(s, 111);
    uint32_t d = synth_process(s, 0), e = synth_process(s, UINT64_C(1) << 40);
    uint32_t f = synth_process(s, (1u << 22) + 1);
    uint32_t t1 = synth_track(s, a, NTFF_TRACK_THREAD, "t1"),
             t2 = synth_track(s, a, NTFF_TRACK_THREAD, "t2");
    uint32_t t3 = synth_track(s, c, NTFF_TRACK_THREAD, "t3"),
             t4 = synth_track(s, a, NTFF_TRACK_THREAD, "t4");
    s->tracks[t1].tid = s->tracks[t2].tid = s->tracks[t3].tid = 7;
    struct ntff_trace *t = synth_done(s);
    struct pft_layout l;
    struct ntff_error err;
    TAP_EQ_U64(pft_layout_init(&l, t, &err), NTFF_OK);
    TAP_EQ_I64(l.places[b].pid, 222);
    TAP_EQ_U64(l.places[b].process_id, 0);
    TAP_EQ_I64(l.places[f].pid, (1 << 22) + 1); /* true, so the synthetic ones go around it */
    uint32_t made[] = {a, c, d, e};
    for (int i = 0; i < 4; i++)
        TAP_EQ_I64(l.places[made[i]].pid, (1 << 22) + 2 + i);
    TAP_EQ_U64(l.places[a].process_id, 111);
    TAP_EQ_U64(l.places[d].process_id, 0);
    TAP_EQ_U64(l.places[e].process_id, UINT64_C(1) << 40);
    TAP_EQ_U64(l.places[t1].kind, PFT_THREAD);
    TAP_EQ_U64(l.places[t2].kind, PFT_ROW); /* the same thread again */
    TAP_EQ_U64(l.places[t3].kind, PFT_THREAD);
    TAP_EQ_U64(l.places[t4].kind, PFT_ROW); /* thread 0 is the idle one */
    TAP_EQ_I64(l.places[t3].pid, l.places[c].pid);
    struct ntff_buf name = {0};
    pft_process_name(t, &l, a, &name);
    ntff_buf_add(&name, "", 1);
    TAP_EQ_STR((char *)name.p, "worker (pid 111)");
    ntff_buf_free(&name);
    pft_layout_done(&l);
}

TAP_TEST(order_and_depth_first_walk)
{
    struct synth *s = synth_new();
    uint32_t p = synth_process(s, 1), g = synth_track(s, p, NTFF_TRACK_GROUP, "g");
    uint32_t x = synth_track(s, g, NTFF_TRACK_ENGINE, "x"),
             y = synth_track(s, g, NTFF_TRACK_ENGINE, "y");
    uint32_t z = synth_track(s, p, NTFF_TRACK_ROW, "z"), q = synth_process(s, 2);
    s->tracks[x].rank = 5, s->tracks[y].rank = -5, s->tracks[z].rank = -1, s->tracks[q].rank = -1;
    struct ntff_trace *t = synth_done(s);
    struct pft_layout l;
    struct ntff_error err;
    TAP_EQ_U64(pft_layout_init(&l, t, &err), NTFF_OK);
    uint32_t want[] = {q, p, z, g, y, x}, n = 0;
    for (uint32_t i = l.first_root; i != NTFF_NONE; i = pft_layout_next(&l, t, i))
        TAP_EQ_U64(i, want[n++]);
    TAP_EQ_U64(n, 6);
    TAP_EQ_U64(l.places[y].order, 1);
    TAP_EQ_U64(l.places[x].order, 2);
    pft_layout_done(&l);
}

TAP_TEST(busiest_lanes_have_small_uuids)
{
    struct synth *s = synth_new();
    uint32_t p = synth_process(s, 1), last = 0;
    for (int i = 0; i < 300; i++)
        last = synth_track(s, p, NTFF_TRACK_ROW, "row");
    for (uint64_t i = 0; i < 100; i++)
        synth_span(s, last, "x", i * 10, 5);
    synth_span(s, last - 7, "x", 0, 5);
    struct pft_layout l;
    struct ntff_error err;
    TAP_EQ_U64(pft_layout_init(&l, synth_done(s), &err), NTFF_OK);
    TAP_EQ_U64(l.uuids[l.places[last].first_lane], 1);
    TAP_EQ_U64(l.uuids[l.places[last - 7].first_lane], 2);
    pft_layout_done(&l);
}

/* -- whole traces
 * ------------------------------------------------------------------------------------ */

static struct pft_stats write_file(const struct ntff_trace *t, const char *path, bool compact,
                                   bool no_args)
{
    struct pft_options opt = {.creator = "test", .compact = compact, .no_args = no_args};
    struct pft_stats stats;
    struct ntff_error err = {.text = ""};
    struct ntff_out *out;
    unlink(path);
    TAP_EQ_U64(ntff_out_open(&out, path, 0, 0, &err), NTFF_OK);
    TAP_EQ_U64(pft_write(t, &opt, out, &stats, &err), NTFF_OK);
    TAP_EQ_U64(ntff_out_commit(out, &err), NTFF_OK);
    ntff_out_close(out);
    return stats;
}

static void check_all_forms(const struct ntff_trace *t, struct pft_stats *stats)
{
    const char *path = synth_path("t.pftrace");
    for (int form = 0; form < 4; form++) {
        TAP_CONTEXT("compact %d, no_args %d", form & 1, form >> 1);
        *stats = write_file(t, path, form & 1, form >> 1);
        TAP_OK(synth_check("check_pftrace.py", path));
    }
    unlink(path);
}

TAP_TEST(awkward_trace)
{
    struct ntff_trace *t = synth_awkward();
    struct pft_stats stats;
    check_all_forms(t, &stats);
    TAP_EQ_U64(stats.spans, 10);
    TAP_EQ_U64(stats.instants, 601);
    TAP_EQ_U64(stats.samples, 4);
    TAP_EQ_U64(stats.samples_dropped, 2);
}

TAP_TEST(flows_in_both_directions)
{
    struct ntff_trace *t = synth_flows();
    struct pft_stats stats;
    check_all_forms(t, &stats);
    TAP_EQ_U64(stats.flows, 4);
    TAP_EQ_U64(stats.flows_reversed, 1);
}

/* Random nested spans on many lanes: whatever the shape, the bytes are sound. */
TAP_TEST(random_traces)
{
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct ntff_trace *t = synth_random(seed);
        TAP_CONTEXT("seed %u", seed);
        const char *path = synth_path("r.pftrace");
        write_file(t, path, seed & 1, false);
        TAP_OK(synth_check("check_pftrace.py", path));
    }
}

TAP_TEST(long_names_and_many_names)
{
    struct synth *s = synth_new();
    uint32_t p = synth_process(s, 1), h = synth_track(s, p, NTFF_TRACK_THREAD, "h");
    s->tracks[h].tid = 5;
    char *huge = malloc(300001);
    memset(huge, 'n', 300000);
    huge[300000] = '\0';
    for (uint64_t i = 0; i < 2000; i++) {
        char name[32];
        snprintf(name, sizeof name, "Operation(%llu)", (unsigned long long)(i % 700));
        synth_span(s, h, i == 1000 ? huge : name, i * 10, 5);
    }
    free(huge);
    struct pft_stats stats;
    check_all_forms(synth_done(s), &stats);
    TAP_EQ_U64(stats.spans, 2000);
}

TAP_TEST(sizes_without_details)
{
    struct synth *s = synth_new();
    uint32_t p = synth_process(s, 1), h = synth_track(s, p, NTFF_TRACK_THREAD, "h");
    s->tracks[h].tid = 5;
    for (uint64_t i = 0; i < 4000; i++)
        synth_span(s, h, "x", i * 7000000, 5000);
    struct ntff_trace *t = synth_done(s); /* 28 s */
    struct pft_options opt = {.creator = "test", .no_args = true};
    struct ntff_error err;
    for (int compact = 0; compact < 2; compact++) {
        struct ntff_out *out;
        opt.compact = compact;
        TAP_EQ_U64(ntff_out_open(&out, NULL, 0, 0, &err), NTFF_OK);
        TAP_EQ_U64(pft_write(t, &opt, out, NULL, &err), NTFF_OK);
        TAP_OK(ntff_out_total(out) <= 1000 + 4000 * (compact ? 37u : 40u));
        ntff_out_close(out);
    }
}

TAP_TEST(too_long_and_cancelled)
{
    struct synth *s = synth_new();
    uint32_t p = synth_process(s, 1), h = synth_track(s, p, NTFF_TRACK_ROW, "h");
    synth_span(s, h, "x", 0, (UINT64_C(1) << 62) + 1);
    struct ntff_trace *t = synth_done(s);
    struct pft_options opt = {.creator = "test"};
    struct ntff_error err;
    struct ntff_out *out;
    TAP_EQ_U64(ntff_out_open(&out, NULL, 0, 0, &err), NTFF_OK);
    TAP_EQ_U64(pft_write(t, &opt, out, NULL, &err), NTFF_LIMIT);
    ntff_out_close(out);
    TAP_EQ_U64(ntff_out_open(&out, "/dev/full", 0, 0, &err), NTFF_OK);
    t->events[0].dur_ns = 5;
    t->end_ns = t->begin_ns + 5;
    TAP_EQ_U64(pft_write(t, &opt, out, NULL, &err), NTFF_OK); /* all in the buffer yet */
    TAP_EQ_U64(ntff_out_commit(out, &err), NTFF_IO);
    ntff_out_close(out);
}

TAP_MAIN()
