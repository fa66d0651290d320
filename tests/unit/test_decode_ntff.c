/* Device profiles from file to model. Files come from the text scripts below by way of
 * tools/mkntff, which shares no code with the decoder. */
#include "proto/build.h"
#include "proto/ntff_info.h"

#include "tests/tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- scripts to traces
 * ------------------------------------------------------------------------------------ */

struct loaded {
    struct ntff_trace *t;
    struct ntff_diag diag;
    struct ntff_detail detail;
};

static char dir[200];

static const char *path_of(const char *name)
{
    static char path[2][300];
    static int turn;
    const char *tmp = getenv("TMP");
    snprintf(dir, sizeof dir, "%s", tmp ? tmp : "/tmp");
    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%s.%d", dir, name, 7);
    return path[turn];
}

static void write_bytes(const char *path, const void *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    TAP_OK(f && fwrite(p, 1, n, f) == n);
    TAP_OK(fclose(f) == 0);
}

/* Bytes of the .ntff a script describes; freed by the caller. */
static uint8_t *make(const char *script, size_t *len)
{
    const char *build = getenv("BUILD");
    char command[1000];
    if (!build)
        TAP_SKIP("needs $BUILD/tools/mkntff");
    const char *text = path_of("script");
    write_bytes(text, script, strlen(script));
    snprintf(command, sizeof command, "'%s/tools/mkntff' '%s'", build, text);
    FILE *f = popen(command, "r");
    uint8_t *p = malloc(1 << 20);
    TAP_OK(f && p);
    *len = fread(p, 1, 1 << 20, f);
    TAP_EQ_U64(pclose(f), 0);
    return p;
}

/* in = out + drops, whatever the input. */
static void check_accounts(const struct ntff_trace *t)
{
    const struct ntff_counts *c = &t->counts;
    TAP_EQ_U64(2 * c->pairs + c->whole + c->unfinished + c->start_lost + c->instants +
                   c->filtered_records + c->dropped_records,
               c->records_in);
    uint64_t shown = 0, samples = 0;
    for (size_t i = 0; i < t->n_events; i++)
        shown += (t->events[i].start_ref.src != NTFF_SRC_NONE) +
                 (t->events[i].stop_ref.src != NTFF_SRC_NONE);
    TAP_EQ_U64(shown, c->records_in - c->filtered_records - c->dropped_records);
    for (size_t i = 0; i < t->n_samples; i++)
        samples += t->tracks[t->samples[i].track].kind == NTFF_TRACK_SEMAPHORE;
    TAP_EQ_U64(samples, c->samples_in - c->samples_dropped);
}

static enum ntff_status load_bytes(struct loaded *l, const void *p, size_t n,
                                   const struct ntff_load_options *opt)
{
    static const struct ntff_load_options none;
    struct ntff_error err;
    const char *path = path_of("profile.ntff");
    memset(l, 0, sizeof *l);
    write_bytes(path, p, n);
    enum ntff_status s = ntff_load(&path, 1, opt ? opt : &none, &l->t, &l->diag, &err);
    if (s == NTFF_OK)
        check_accounts(l->t);
    return s;
}

static struct loaded load(const char *script, const struct ntff_load_options *opt)
{
    struct loaded l;
    size_t n;
    uint8_t *p = make(script, &n);
    TAP_EQ_U64(load_bytes(&l, p, n, opt), NTFF_OK);
    free(p);
    return l;
}

static void done(struct loaded *l)
{
    ntff_detail_done(&l->detail);
    ntff_trace_free(l->t);
}

static const char *name_of(const struct loaded *l, const struct ntff_event *e)
{
    return ntff_str_of(l->t, e->name);
}
static const char *track_of(const struct loaded *l, const struct ntff_event *e)
{
    return ntff_str_of(l->t, l->t->tracks[e->track].name);
}

/* The n-th event of a name, in time order. */
static const struct ntff_event *event(const struct loaded *l, const char *name, size_t n)
{
    for (size_t i = 0; i < l->t->n_events; i++)
        if (strcmp(name_of(l, &l->t->events[i]), name) == 0 && n-- == 0)
            return &l->t->events[i];
    TAP_FAIL("no event called %s", name);
}

static size_t n_events(const struct loaded *l, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < l->t->n_events; i++)
        n += strcmp(name_of(l, &l->t->events[i]), name) == 0;
    return n;
}

static uint64_t fact(struct loaded *l, const struct ntff_event *e, const char *key)
{
    TAP_CONTEXT("fact %s of %s", key, name_of(l, e));
    TAP_OK(ntff_detail(l->t, e, &l->detail));
    const struct ntff_attr *a = ntff_detail_find(&l->detail, key);
    TAP_OK(a != NULL && (a->kind == NTFF_V_UINT || a->kind == NTFF_V_BOOL));
    return a->kind == NTFF_V_BOOL ? a->b : a->u;
}

static void is_text(struct loaded *l, const struct ntff_event *e, const char *key, const char *want)
{
    TAP_CONTEXT("fact %s of %s", key, name_of(l, e));
    TAP_OK(ntff_detail(l->t, e, &l->detail));
    const struct ntff_attr *a = ntff_detail_find(&l->detail, key);
    TAP_OK(a != NULL && a->kind == NTFF_V_TEXT);
    TAP_EQ_MEM(a->text.p, a->text.len, want, strlen(want));
}

static bool has_fact(struct loaded *l, const struct ntff_event *e, const char *key)
{
    return ntff_detail(l->t, e, &l->detail) && ntff_detail_find(&l->detail, key);
}

/* A line of `info`, by its key; NULL if there is none. */
static const char *info(const struct loaded *l, const char *key)
{
    for (size_t i = 0; i < l->t->n_files; i++)
        for (size_t k = 0; k < l->t->files[i].facts.n; k++)
            if (strcmp(ntff_str_of(l->t, l->t->files[i].facts.v[k].key), key) == 0)
                return ntff_str_of(l->t, l->t->files[i].facts.v[k].value);
    return NULL;
}

static uint64_t found(const struct loaded *l, enum ntff_diag_kind kind)
{
    return l->diag.of[kind].count;
}

static uint32_t track(const struct loaded *l, const char *name)
{
    for (uint32_t i = 0; i < l->t->n_tracks; i++)
        if (strcmp(ntff_str_of(l->t, l->t->tracks[i].name), name) == 0)
            return i;
    return NTFF_NONE;
}

#define GRAPH "graph sg00 0 0\n"
#define RING GRAPH "run pe 0x10000 640\nblob 0 0 0\n"

/* -- instructions
 * ---------------------------------------------------------------------------------------- */

TAP_TEST(an_instruction)
{
    struct loaded l =
        load(RING "start dve 77 5000123 3 40 hint=9\nend dve 77 6500999 0x1234 0xabcd\n", NULL);
    TAP_EQ_U64(l.t->n_events, 1);
    const struct ntff_event *e = event(&l, "Vector pc 77", 0);
    TAP_EQ_STR(track_of(&l, e), "Vector (DVE)");
    TAP_EQ_U64(e->ts_ns, 0);
    TAP_EQ_U64(e->dur_ns, 1500); /* 5000.123 to 6500.999 ns: whole ns of the two ends */
    TAP_EQ_U64(e->cat, NTFF_CAT_INSTR);
    TAP_EQ_U64(e->flags, NTFF_EV_DEVICE | NTFF_EV_UNALIGNED);
    is_text(&l, e, "engine", "Vector");
    TAP_EQ_U64(fact(&l, e, "pc"), 77);
    TAP_EQ_U64(fact(&l, e, "debug_hint"), 9);
    TAP_EQ_U64(fact(&l, e, "inference"), 3);
    TAP_EQ_U64(fact(&l, e, "wait_cycles"), 40);
    TAP_EQ_U64(fact(&l, e, "input_data_crc"), 0x1234);
    TAP_EQ_U64(fact(&l, e, "output_data_crc"), 0xabcd);
    TAP_EQ_U64(fact(&l, e, "timestamp_ps"), 5000123);
    TAP_EQ_U64(fact(&l, e, "nc_start_timestamp_ns"), 5000);
    TAP_EQ_U64(fact(&l, e, "nc_stop_timestamp_ns"), 6500);
    TAP_EQ_U64(fact(&l, e, "device_core_idx"), 0);
    done(&l);
}

/* Four deep on one engine, ends out of order, one counter twice: equal counters pair first in,
 * first out, each lane holds spans that do not overlap. */
TAP_TEST(overlap_and_lanes)
{
    struct loaded l = load(RING "start pe 1 1000000 1 0\nstart pe 2 1100000 1 0\n"
                                "start pe 1 1200000 1 0\nstart pe 4 1300000 1 0\n"
                                "end pe 4 1400000 0 0\nend pe 1 1500000 0 0\n"
                                "end pe 2 1600000 0 0\nend pe 1 1700000 0 0\n",
                           NULL);
    TAP_EQ_U64(l.t->n_events, 4);
    TAP_EQ_U64(event(&l, "Tensor pc 1", 0)->ts_ns, 0);
    TAP_EQ_U64(event(&l, "Tensor pc 1", 0)->dur_ns, 500);
    TAP_EQ_U64(event(&l, "Tensor pc 1", 1)->ts_ns, 200);
    TAP_EQ_U64(event(&l, "Tensor pc 1", 1)->dur_ns, 500);
    TAP_EQ_U64(event(&l, "Tensor pc 2", 0)->dur_ns, 500);
    TAP_EQ_U64(event(&l, "Tensor pc 4", 0)->dur_ns, 100);
    TAP_EQ_U64(l.t->tracks[track(&l, "Tensor (PE)")].n_lanes, 4);
    for (size_t i = 0; i < l.t->n_events; i++)
        for (size_t k = i + 1; k < l.t->n_events; k++)
            TAP_OK(l.t->events[i].lane != l.t->events[k].lane ||
                   ntff_event_end(&l.t->events[i]) <= l.t->events[k].ts_ns);
    TAP_EQ_STR(info(&l, "NC0:0 active time Tensor (PE)"), "700 ns, 4 instructions");
    done(&l);
}

TAP_TEST(active_time_merges)
{
    struct loaded l =
        load(RING "start act 1 1000000 1 0\nstart act 2 1100000 1 0\nend act 2 1200000 0 0\n"
                  "end act 1 1300000 0 0\nstart act 3 1300000 1 0\nend act 3 1400000 0 0\n"
                  "start act 4 1900000 1 0\nend act 4 2000000 0 0\n",
             NULL);
    TAP_EQ_STR(info(&l, "NC0:0 active time Scalar (ACT)"), "500 ns, 4 instructions");
    done(&l);
}

TAP_TEST(lost_halves)
{
    struct loaded l =
        load(RING "end pe 9 1000000 0 0\nstart pe 1 1100000 1 0\nend pe 1 1200000 0 0\n"
                  "start sp 2 1250000 1 0\nstart pe 3 1300000 1 0\nend sp 7 1500000 0 0\n",
             NULL);
    const struct ntff_event *e = event(&l, "Tensor pc 9", 0);
    TAP_OK(e->flags & NTFF_EV_START_LOST);
    TAP_EQ_U64(e->dur_ns, 0); /* it claims no time nobody measured */
    e = event(&l, "Sync pc 2", 0);
    TAP_OK(e->flags & NTFF_EV_UNFINISHED);
    TAP_EQ_U64(e->dur_ns, 250); /* to the last record of its engine */
    TAP_OK(event(&l, "Tensor pc 3", 0)->flags & NTFF_EV_UNFINISHED);
    TAP_EQ_U64(found(&l, NTFF_DIAG_UNMATCHED_START), 2);
    TAP_EQ_U64(found(&l, NTFF_DIAG_UNMATCHED_STOP), 2);
    done(&l);
}

/* A lost end must not shift every later pair of its counter: with the next execution (another
 * inference counter, a start marker, an overflow mark) the old start is closed. */
TAP_TEST(lost_end_does_not_shift)
{
    static const char *const between[] = {"", "explicit pe 0 1900000 0 2\n", ""};
    static const char *const counter[] = {"2", "1", "1"}, *const flags[] = {"", "", " sw"};
    for (int k = 0; k < 3; k++) {
        char script[600];
        snprintf(script, sizeof script,
                 RING "start pe 1 1000000 1 0\n%sstart pe 1 2000000 %s 0%s\nend pe 1 2100000 0 0\n"
                      "start pe 1 3000000 %s 0\nend pe 1 3100000 0 0\n",
                 between[k], counter[k], flags[k], counter[k]);
        struct loaded l = load(script, NULL);
        TAP_CONTEXT("way %d", k);
        TAP_EQ_U64(n_events(&l, "Tensor pc 1"), 3);
        const struct ntff_event *e = event(&l, "Tensor pc 1", 0);
        TAP_OK(e->flags & NTFF_EV_UNFINISHED);
        TAP_EQ_U64(e->dur_ns, 1000); /* until it was found out */
        TAP_EQ_U64(event(&l, "Tensor pc 1", 1)->dur_ns, 100);
        TAP_EQ_U64(event(&l, "Tensor pc 1", 2)->dur_ns, 100);
        done(&l);
    }
}

TAP_TEST(pieces_of_one_ring)
{
    struct loaded l = load(RING "start pe 1 1000000 1 0\nblob 0 0 0\nend pe 1 1400000 0 0\n", NULL);
    TAP_EQ_U64(l.t->n_events, 1);
    TAP_EQ_U64(l.t->events[0].dur_ns, 400);
    done(&l);
}

/* A ring stored unrotated: its newest part first. */
TAP_TEST(unrotated_ring)
{
    struct loaded l =
        load(RING "end pe 5 5000000 0 0\nstart pe 6 5100000 1 0\nend pe 6 5200000 0 0\n"
                  "start pe 1 1000000 1 0\nend pe 1 1100000 0 0\nstart pe 5 4000000 1 0\n",
             NULL);
    TAP_EQ_U64(l.t->n_events, 3);
    TAP_EQ_U64(event(&l, "Tensor pc 5", 0)->dur_ns, 1000);
    TAP_EQ_U64(event(&l, "Tensor pc 6", 0)->ts_ns, 4100);
    TAP_EQ_U64(found(&l, NTFF_DIAG_UNMATCHED_START) + found(&l, NTFF_DIAG_UNMATCHED_STOP), 0);
    done(&l);
}

TAP_TEST(an_end_before_its_start)
{
    struct loaded l = load(RING "clock 1 0 0 0\n"
                                "start pe 1 1000000 1 0\nend pe 1 1000000 0 0\n",
                           NULL);
    TAP_EQ_U64(l.t->n_events, 1);
    TAP_EQ_U64(l.t->events[0].dur_ns, 0);
    done(&l);
}

/* -- executions, collectives, notes
 * ------------------------------------------------------------------------ */

TAP_TEST(markers)
{
    struct loaded l =
        load(RING "start pe 1 900000 1 0\nexplicit pe 0 1000000 5 2\nend pe 1 1500000 0 0\n"
                  "explicit pe 0 2000000 5 7\nexplicit pe 0 2500000 5 8\n"
                  "explicit pe 0 3000000 5 3\nexplicit act 0 3500000 5 3\n"
                  "explicit pe 0 4000000 6 2\nexplicit pe 0 5000000 7 2\n",
             NULL);
    const struct ntff_event *e = event(&l, "run Tensor", 0);
    TAP_EQ_U64(e->ts_ns, 100); /* zero is its start, moved by what came before it */
    TAP_EQ_U64(e->dur_ns, 2000);
    TAP_EQ_U64(fact(&l, e, "inference"), 5);
    e = event(&l, "CC Tensor", 0);
    TAP_EQ_U64(e->dur_ns, 500);
    TAP_EQ_U64(e->cat, NTFF_CAT_CC);
    TAP_EQ_STR(track_of(&l, e), "CC by engine");
    TAP_OK(event(&l, "run Scalar", 0)->flags & NTFF_EV_START_LOST);
    TAP_OK(event(&l, "run Tensor", 1)->flags & NTFF_EV_UNFINISHED);
    TAP_EQ_U64(event(&l, "run Tensor", 1)->dur_ns, 1000); /* until the next start */
    TAP_OK(event(&l, "run Tensor", 2)->flags & NTFF_EV_UNFINISHED);
    TAP_EQ_U64(found(&l, NTFF_DIAG_UNMATCHED_START), 2);
    TAP_EQ_U64(found(&l, NTFF_DIAG_UNMATCHED_STOP), 1);
    done(&l);
}

TAP_TEST(custom_statuses)
{
    struct loaded l = load(RING "explicit pe 0 1000000 9 6\nexplicit pe 0 1000000 7 6\n"
                                "explicit pe 0 1000000 33 6\nexplicit pe 4 1000000 1 99\n"
                                "explicit pe 4 1000000 1 2 hint=7\n",
                           NULL);
    TAP_EQ_U64(l.t->n_events, 5);
    TAP_EQ_U64(event(&l, "out of bounds", 0)->cat, NTFF_CAT_ERROR);
    TAP_EQ_U64(fact(&l, event(&l, "out of bounds", 0), "sub_id"), 9);
    TAP_EQ_U64(event(&l, "output tensor complete", 0)->cat, NTFF_CAT_MARK);
    TAP_EQ_U64(fact(&l, event(&l, "custom notification", 0), "sub_id"), 33);
    TAP_EQ_U64(n_events(&l, "explicit"), 2); /* an unknown status, an unknown hint: kept raw */
    TAP_EQ_U64(fact(&l, event(&l, "explicit", 0), "debug_hint_extended"), 99);
    done(&l);
}

/* Hint 1 is a DGE among instructions, a status in a ring of its own. */
TAP_TEST(dge)
{
    struct loaded l = load(
        RING "start act 1 900000 1 0\ndge act 6 1000000 0xff 12 1 1\n"
             "dge act 7 1100000 3 0 0 0\nend act 1 1200000 1 0\n"
             "blob 0 0 0\nexplicit pe 0 2000000 0 2 hint=1\nexplicit pe 0 2100000 0 3 hint=1\n",
        NULL);
    const struct ntff_event *e = event(&l, "DGE", 0);
    TAP_EQ_STR(track_of(&l, e), "Scalar (ACT)");
    TAP_EQ_U64(fact(&l, e, "dma_map"), 0xff);
    TAP_EQ_U64(fact(&l, e, "num_packets"), 12);
    TAP_EQ_U64(fact(&l, e, "dma_group"), 1);
    TAP_EQ_U64(fact(&l, e, "infer_program_counter"), 1);
    TAP_EQ_U64(fact(&l, event(&l, "DGE", 1), "num_packets"), 4096); /* 0 means 4096 */
    TAP_EQ_U64(event(&l, "run Tensor", 0)->dur_ns, 100);
    done(&l);
}

TAP_TEST(errors)
{
    struct loaded l = load(GRAPH "blob 0 2 0\ntpb 1 0x1234 0xdeadbeef 1000000\n"
                                 "tpb 10 1 0x00420153 +1000\ntpb 200 0 0 +1000\n"
                                 "interrupt 3 517 0x8000 +1000\nwarning 6 18 3 9 0x12345678 +1000\n"
                                 "blob 0 5 0\nham 1 2 3 +1000\n",
                           NULL);
    const struct ntff_event *e = event(&l, "error FP_NAN", 0);
    TAP_EQ_U64(e->cat, NTFF_CAT_ERROR);
    TAP_OK(e->flags & NTFF_EV_INSTANT);
    TAP_EQ_U64(fact(&l, e, "metadata_lo"), 0x1234);
    is_text(&l, e, "metadata_hi", "0xdeadbeef");
    TAP_EQ_U64(fact(&l, e, "nc_timestamp_ns"), 1000);
    e = event(&l, "error SEQUENCER_FATAL", 0);
    TAP_EQ_U64(fact(&l, e, "block_id"), 3);
    TAP_EQ_U64(fact(&l, e, "pc"), 0x15);
    TAP_EQ_U64(fact(&l, e, "info"), 0x42);
    TAP_EQ_U64(n_events(&l, "error 200"), 1);
    e = event(&l, "interrupt group 3", 0);
    TAP_EQ_U64(fact(&l, e, "block_id"), 517);
    is_text(&l, e, "cause", "0x00008000");
    e = event(&l, "warning group 6", 0);
    TAP_EQ_U64(fact(&l, e, "metadata_0"), 3);
    TAP_EQ_U64(fact(&l, e, "metadata_1"), 9);
    is_text(&l, e, "metadata_2", "0x12345678");
    is_text(&l, event(&l, "throttle", 0), "word1", "0x00000003");
    done(&l);
    /* where the unused bits are not zero the layout is not believed */
    l = load(GRAPH "blob 0 2 0\nraw 0x03ffff03 5 1000000\n", NULL);
    e = event(&l, "interrupt (raw)", 0);
    is_text(&l, e, "word0", "0x03ffff03");
    TAP_OK(!has_fact(&l, e, "block_id"));
    done(&l);
}

TAP_TEST(overflow_marks)
{
    struct loaded l = load(RING "start pe 1 1000000 1 0\nend pe 1 1100000 0 0 hw\n"
                                "start pe 2 1200000 1 0 hw\nend pe 2 1300000 0 0 hw sw phase\n"
                                "start pe 3 1400000 1 0\nend pe 3 1500000 0 0\n",
                           NULL);
    TAP_EQ_U64(n_events(&l, "events lost from here"), 1); /* once, where it begins */
    TAP_EQ_U64(n_events(&l, "events lost before here"), 1);
    TAP_EQ_U64(event(&l, "events lost from here", 0)->ts_ns, 100);
    TAP_EQ_U64(found(&l, NTFF_DIAG_QUEUE_OVERFLOW), 2);
    TAP_OK(ntff_diag_lossy(&l.diag));
    TAP_EQ_STR(info(&l, "NC0:0 overflow"), "software 1, hardware 1 marks");
    for (int pc = 1; pc <= 3; pc++) {
        char name[32];
        snprintf(name, sizeof name, "Tensor pc %d", pc);
        TAP_EQ_U64(event(&l, name, 0)->dur_ns, 100);
    }
    done(&l);
}

TAP_TEST(reserved_records)
{
    struct loaded l = load(RING "start pe 1 1000000 1 0\nraw 0x18000000 0 +1\nraw 0x01000000 0 +1\n"
                                "end pe 1 +1000 0 0\n",
                           NULL);
    TAP_EQ_U64(l.t->n_events, 1);
    TAP_EQ_U64(found(&l, NTFF_DIAG_RESERVED_RECORD), 2);
    TAP_EQ_U64(l.t->files[0].n_records, 4);
    TAP_EQ_U64(l.t->files[0].n_dropped, 2);
    done(&l);
}

/* -- semaphores
 * --------------------------------------------------------------------------------------------- */

TAP_TEST(semaphores)
{
    struct loaded l = load(
        GRAPH "blob 0 1 0\nsem pe 5 100 1000000\nsem act 5 101 +1000\nsem - 5 4294967295 +1000\n"
              "event dve 5 1 +1000 mode=6\n",
        NULL);
    uint32_t s = track(&l, "S[5]"), e = track(&l, "E[5]");
    static const struct {
        uint64_t ts, value;
        int is_event;
    } want[] = {{0, 100, 0}, {1, 101, 0}, {2, 4294967295u, 0}, {3, 1, 1}};
    TAP_EQ_U64(l.t->n_samples, 4);
    for (size_t i = 0; i < 4; i++) {
        TAP_EQ_U64(l.t->samples[i].ts_ns, want[i].ts);
        TAP_EQ_I64(l.t->samples[i].value.i, want[i].value);
        TAP_EQ_U64(l.t->samples[i].track, want[i].is_event ? e : s);
    }
    TAP_EQ_STR(ntff_str_of(l.t, l.t->tracks[l.t->tracks[s].parent].name), "Semaphores");
    done(&l);
    l = load(GRAPH "blob 0 1 0\nsem pe 5 100 1000000\nraw 0x07000405 3 +1000\n", NULL);
    TAP_EQ_U64(l.t->n_samples, 0);
    TAP_EQ_U64(n_events(&l, "semaphore update (raw)"), 2);
    done(&l);
}

/* -- DMA
 * ----------------------------------------------------------------------------------------------------
 */

#define DMA GRAPH "queue 7 2 3 qSyncIO0\nblob 1 4 7\n"

TAP_TEST(packets)
{
    /* two in flight on queue 2, the other direction and another queue between them */
    struct loaded l =
        load(DMA "dma 1 2 0 0 1000000\ndma 1 2 0 0 1100000\ndma 4 2 0 0 1150000\n"
                 "dma 1 3 0 0 1160000\ndma 2 2 100 0xaa 1200000\ndma 5 2 300 0xcc 1250000\n"
                 "dma 2 2 200 0xbb 1400000\ndma 2 3 4 1 1500000\n"
                 "dma 3 2 0 0 1600000\ndma 8 2 0x123456 0x10 1700000\ndma 10 2 0 0 1800000\n",
             NULL);
    const struct ntff_event *e = event(&l, "M2S read", 0);
    TAP_EQ_STR(track_of(&l, e), "qSyncIO0-Q2-E7 M2S");
    TAP_EQ_U64(e->dur_ns, 200);
    TAP_EQ_U64(fact(&l, e, "bytes"), 100);
    TAP_EQ_U64(fact(&l, e, "crc"), 0xaa);
    TAP_EQ_U64(fact(&l, e, "dma_engine"), 7);
    TAP_EQ_U64(fact(&l, e, "queue"), 2);
    is_text(&l, e, "queue_name", "qSyncIO0");
    e = event(&l, "M2S read", 1);
    TAP_EQ_U64(e->dur_ns, 300);
    TAP_EQ_U64(fact(&l, e, "bytes"), 200);
    TAP_EQ_U64(l.t->tracks[e->track].n_lanes, 2);
    TAP_EQ_STR(track_of(&l, event(&l, "M2S read", 2)), "Q3-E7 M2S");
    e = event(&l, "S2M write", 0);
    TAP_EQ_STR(track_of(&l, e), "qSyncIO0-Q2-E7 S2M");
    TAP_EQ_U64(fact(&l, e, "bytes"), 300);
    is_text(&l, e, "direction", "S2M");
    TAP_EQ_U64(n_events(&l, "M2S completion"), 1);
    TAP_EQ_U64(fact(&l, event(&l, "AXI request", 0), "address"),
               (uint64_t)0x123456 | UINT64_C(0x800) << 24);
    TAP_EQ_STR(track_of(&l, event(&l, "AXI response", 0)), "E7 bus");
    TAP_EQ_STR(info(&l, "NC0:0 DMA packets"), "4, 304 bytes read (M2S), 300 bytes written (S2M)");
    done(&l);
}

static double sample_at(const struct loaded *l, const char *name, uint64_t ns)
{
    uint32_t t = track(l, name);
    double v = 0;
    for (size_t i = 0; i < l->t->n_samples; i++)
        if (l->t->samples[i].track == t && l->t->samples[i].ts_ns <= ns)
            v = l->t->tracks[t].is_double ? l->t->samples[i].value.d
                                          : (double)l->t->samples[i].value.i;
    return v;
}

TAP_TEST(dma_counters)
{
    struct loaded l = load(DMA "dma 1 2 0 0 1000000\ndma 1 2 0 0 1100000\ndma 2 2 1000 0 1200000\n"
                               "dma 2 2 600 0 1300000\ndma 1 2 0 0 1400000\ndma 2 2 77 0 1400000\n"
                               "dma 4 2 0 0 1500000\ndma 5 2 500 0 1600000\n",
                           NULL);
    static const struct {
        uint64_t ns;
        double pending, m2s, s2m;
    } want[] = {{0, 1, 5e9, 0},   {99, 1, 5e9, 0},  {100, 2, 8e9, 0}, {199, 2, 8e9, 0},
                {200, 1, 3e9, 0}, {299, 1, 3e9, 0}, {300, 0, 0, 0},   {400, 0, 77e9, 0},
                {401, 0, 0, 0},   {500, 1, 0, 5e9}, {599, 1, 0, 5e9}, {600, 0, 0, 0}};
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        TAP_CONTEXT("at %" PRIu64 " ns", want[i].ns);
        TAP_EQ_U64(sample_at(&l, "Pending DMA count", want[i].ns), want[i].pending);
        TAP_EQ_U64(sample_at(&l, "DMA M2S throughput", want[i].ns), want[i].m2s);
        TAP_EQ_U64(sample_at(&l, "DMA S2M throughput", want[i].ns), want[i].s2m);
    }
    done(&l);
}

/* Cells longer than a ns: averages, and no byte more or less over the whole. */
TAP_TEST(dma_counters_of_long_captures)
{
    struct loaded l = load(DMA "dma 1 2 0 0 1000000\ndma 2 2 1000000 0 101000000000\n"
                               "dma 1 2 0 0 101000000000\ndma 2 2 4096 0 101000100000\n"
                               "dma 4 2 0 0 201000000000\ndma 5 2 16 0 201000000000\n",
                           NULL);
    uint32_t t = track(&l, "DMA M2S throughput");
    double bytes = 0, rate = 0;
    uint64_t from = 0;
    size_t n = 0;
    for (size_t i = 0; i < l.t->n_samples; i++) {
        if (l.t->samples[i].track != t)
            continue;
        bytes += rate * (double)(l.t->samples[i].ts_ns - from) * 1e-9;
        rate = (double)l.t->samples[i].value.i;
        from = l.t->samples[i].ts_ns;
        n++;
    }
    TAP_EQ_U64(rate, 0);
    TAP_OK(bytes > 1004095.5 && bytes < 1004096.5);
    TAP_OK(n < 10);
    done(&l);
}

TAP_TEST(dma_halves_and_overflow)
{
    /* after the mark, what was open is closed: the next pair is not shifted */
    struct loaded l = load(DMA "dma 2 2 5 0 900000\ndma 1 2 0 0 1000000\ndma 1 2 0 0 1100000 sw\n"
                               "dma 2 2 9 0 1200000\n",
                           NULL);
    TAP_OK(event(&l, "M2S read", 0)->flags & NTFF_EV_START_LOST);
    TAP_OK(event(&l, "M2S read", 1)->flags & NTFF_EV_UNFINISHED);
    TAP_EQ_U64(event(&l, "M2S read", 1)->dur_ns, 100);
    TAP_EQ_U64(event(&l, "M2S read", 2)->dur_ns, 100);
    TAP_EQ_U64(fact(&l, event(&l, "M2S read", 2), "bytes"), 9);
    TAP_EQ_U64(n_events(&l, "events lost before here"), 1);
    done(&l);
}

TAP_TEST(dma_of_unknown_layout)
{
    struct loaded l = load(DMA "dma0 1 2 1000000\ndma0 2 2 1500000\n", NULL);
    TAP_EQ_U64(event(&l, "M2S read", 0)->dur_ns, 500);
    TAP_OK(!has_fact(&l, event(&l, "M2S read", 0), "bytes"));
    done(&l);
    l = load(DMA "raw 0x02000007 7 1000000\nraw 0x0200000f 15 2000000\n", NULL);
    const struct ntff_event *e = event(&l, "undecoded DMA", 0);
    TAP_EQ_U64(e->dur_ns, 1000);
    is_text(&l, e, "word1", "0x00000007");
    TAP_EQ_U64(found(&l, NTFF_DIAG_UNDECODED_BLOB), 1);
    TAP_EQ_U64(l.t->files[0].n_dropped, 2);
    done(&l);
}

/* -- CC-cores
 * ------------------------------------------------------------------------------------------------
 */

TAP_TEST(cc_cores)
{
    struct loaded l = load(GRAPH "blob 0 0 0\nstart pe 1 1000000 1 0\nend pe 1 1100000 0 0\n"
                                 "blob 2 0 9\nstart sp 3 1000000 1 0\nend sp 3 1009000 0 0\n"
                                 "blob 2 0 10\nstart sp 3 1000000 1 0\nend sp 3 1005000 0 0\n"
                                 "blob 2 3 9\nexplicit sp 1 1010000 1 2\n",
                           NULL);
    TAP_EQ_U64(event(&l, "CC-core 9 pc 3", 0)->dur_ns, 9);
    TAP_EQ_U64(event(&l, "CC-core 10 pc 3", 0)->dur_ns, 5);
    TAP_EQ_U64(fact(&l, event(&l, "CC-core 10 pc 3", 0), "cc_core"), 10);
    const struct ntff_event *e = event(&l, "collective status", 0);
    TAP_EQ_STR(track_of(&l, e), "CC-core 9");
    is_text(&l, e, "word1", "0x00020001"); /* not read as an execution marker */
    TAP_EQ_U64(n_events(&l, "run CC-core 9"), 0);
    done(&l);
}

/* -- time
 * ------------------------------------------------------------------------------------------------------
 */

TAP_TEST(corrections)
{
    struct loaded l =
        load(GRAPH "clock 1 1000000 1000 1024\nclock 4 500 0 0\nclock 8 300 0 0\nclock 8 700 0 0\n"
                   "blob 0 0 0\nstart pe 1 2000000 1 0\nend pe 1 3000000 0 0\n"
                   "start pool 1 2000500 1 0\nend pool 1 3000500 0 0\nstart pool 2 499 1 0\n"
                   "blob 1 4 1\ndma 1 0 0 0 5000700\ndma 2 0 8 0 6000700\n",
             NULL);
    const struct ntff_event *e = event(&l, "Tensor pc 1", 0);
    TAP_EQ_U64(fact(&l, e, "nc_start_timestamp_ns"), 1024);
    TAP_EQ_U64(fact(&l, e, "nc_stop_timestamp_ns"), 2048);
    TAP_EQ_U64(e->dur_ns, 1024);
    TAP_EQ_U64(fact(&l, e, "timestamp_ps"), 2000000); /* as recorded */
    TAP_EQ_U64(fact(&l, event(&l, "GpSimd pc 1", 0), "nc_start_timestamp_ns"), 2000);
    TAP_EQ_U64(fact(&l, event(&l, "M2S read", 0), "nc_start_timestamp_ns"),
               5000);                             /* the second in the list */
    TAP_EQ_U64(found(&l, NTFF_DIAG_BAD_TIME), 1); /* before its block began to count */
    done(&l);
}

/* ACT and DVE, numbers 2 and 3 in an unknown order: equal ones do not matter, others are left out.
 */
TAP_TEST(corrections_of_unknown_order)
{
    struct loaded l = load(GRAPH "clock 2 1000 0 0\nclock 3 1000 0 0\nblob 0 0 0\n"
                                 "start act 1 2000 1 0\nend act 1 3000 0 0\n",
                           NULL);
    TAP_EQ_U64(fact(&l, event(&l, "Scalar pc 1", 0), "nc_start_timestamp_ns"), 1);
    TAP_EQ_U64(found(&l, NTFF_DIAG_UNDECIDED), 0);
    done(&l);
    l = load(
        GRAPH
        "clock 2 1000 0 0\nclock 3 900 0 0\nblob 0 0 0\nstart act 1 2000 1 0\nend act 1 3000 0 0\n",
        NULL);
    TAP_EQ_U64(fact(&l, event(&l, "Scalar pc 1", 0), "nc_start_timestamp_ns"), 2);
    TAP_EQ_U64(found(&l, NTFF_DIAG_UNDECIDED), 1);
    done(&l);
}

/* -- container
 * -------------------------------------------------------------------------------------------------
 */

#define TWO_CORES                                                                                  \
    "info 1 text EX\nver 8 2 31\nbuffer 0 0 0x4000000\nbuffer 1 4 0x100000\n"                      \
    "graph sg00 0 0\nrun pe 0x10000 640\nrun act 0x20000 64\n"                                     \
    "blob 0 0 0\nstart pe 1 1000000 1 0\nend pe 1 1100000 0 0\n"                                   \
    "blob 0 1 0\nsem pe 5 100 1000000\nblob 1 4 3\ndma 1 2 0 0 1000000\ndma 2 2 64 0 1100000\n"    \
    "blob 2 0 9\nstart sp 3 1000000 1 0\nend sp 3 1009000 0 0\n"                                   \
    "graph sg01 0 1\nrun pe 0x10000 640\n"                                                         \
    "blob 0 0 0\nstart pe 2 9000000 1 0\nend pe 2 9200000 0 0\n"

static void check_two_cores(struct loaded *l, const char *what)
{
    TAP_CONTEXT("%s", what);
    TAP_EQ_U64(l->t->n_events, 4);
    TAP_EQ_U64(event(l, "Tensor pc 1", 0)->dur_ns, 100);
    TAP_EQ_U64(event(l, "Tensor pc 2", 0)->dur_ns, 200);
    TAP_EQ_U64(fact(l, event(l, "Tensor pc 2", 0), "device_core_idx"), 1);
    TAP_EQ_STR(track_of(l, event(l, "CC-core 9 pc 3", 0)), "CC-core 9");
    TAP_EQ_U64(event(l, "M2S read", 0)->dur_ns, 100);
    TAP_EQ_U64(fact(l, event(l, "M2S read", 0), "dma_engine"), 3);
    TAP_OK(track(l, "S[5]") != NTFF_NONE);
}

/* Offsets relative to the section, the message's end or the file; numbers found in the data. */
TAP_TEST(bases)
{
    static const char *const bases[] = {"section", "message", "file"};
    static const char *const texts[] = {
        "relative to their section", "relative to the end of the message", "relative to the file"};
    for (int i = 0; i < 3; i++) {
        char script[1200];
        snprintf(script, sizeof script, "base %s\n" TWO_CORES, bases[i]);
        struct loaded l = load(script, NULL);
        check_two_cores(&l, bases[i]);
        TAP_EQ_STR(info(&l, "trace offsets"), texts[i]);
        done(&l);
    }
}

/* The tests do not know the numbers: any will do, as long as they meet what is public. */
TAP_TEST(any_numbers)
{
    static const char *const numbers[] = {
        "number block 5\nnumber type 4\nnumber engine 3\nnumber offset 2\nnumber size 1\n",
        "number block 2\nnumber type 1\nnumber engine 7\nnumber offset 8\nnumber size 9\n",
        "number nodes 1\nnumber graphs 2\nnumber buffers 13\nnumber session 20\n",
        "number nodes 7\nnumber graphs 5\nnumber block 15\nnumber offset 14\n",
    };
    for (int i = 0; i < 4; i++) {
        char script[1200];
        /* a text in field 1 of ntff_info makes room for another there */
        snprintf(script, sizeof script, "%s%s", numbers[i],
                 i == 2 ? strchr(TWO_CORES, '\n') : TWO_CORES);
        struct loaded l = load(script, NULL);
        check_two_cores(&l, numbers[i]);
        done(&l);
    }
}

/* Listed under the session instead of the graph, or under both: read once. */
TAP_TEST(session_blobs)
{
    struct loaded l =
        load(GRAPH "run pe 0x1000 64\nsession 0 0 0\nstart pe 1 1000000 1 0\nend pe 1 1100000 0 0\n"
                   "session 0 1 0\nsem pe 5 100 1000000\n",
             NULL);
    TAP_EQ_U64(event(&l, "Tensor pc 1", 0)->dur_ns, 100);
    TAP_EQ_U64(l.t->n_samples, 1);
    TAP_OK(info(&l, "field number of ntff_info.session_notifications") != NULL);
    done(&l);
    /* no subgraph to hang them under */
    l = load(GRAPH "session 0 0 0\nstart pe 1 1000000 1 0\nend pe 1 1100000 0 0\n", NULL);
    TAP_EQ_U64(event(&l, "Tensor pc 1", 0)->dur_ns, 100);
    TAP_EQ_U64(found(&l, NTFF_DIAG_CORE_ESTIMATED), 1);
    done(&l);
    l = load(RING "start pe 1 1000000 1 0\nend pe 1 1100000 0 0\ntwin\n", NULL);
    TAP_EQ_U64(l.t->n_events, 1);
    TAP_EQ_U64(l.t->files[0].n_records, 2);
    done(&l);
}

/* The schema the scripts' numbers are from. */
static struct ntff_schema *case_schema(struct ntff_load_options *opt)
{
    struct ntff_error err;
    struct ntff_schema *schema;
    char path[500];
    const char *src = getenv("SRC");
    if (!src)
        TAP_SKIP("needs $SRC");
    snprintf(path, sizeof path, "%s/tests/data/cases/schema.desc", src);
    TAP_EQ_U64(ntff_schema_load(path, &schema, &err), NTFF_OK);
    opt->schema = schema;
    return schema;
}

/* What only a schema can tell: ticks per ns, and which of fields 2 and 3 is ACT. */
TAP_TEST(clocks_by_schema)
{
    struct ntff_load_options opt = {0};
    struct ntff_schema *schema = case_schema(&opt);
    struct loaded l =
        load("info 13 varint 500\n" GRAPH "clock 2 1000 0 0\nclock 3 0 1 2\nblob 0 0 0\n"
             "start act 1 2000 1 0\nend act 1 3000 0 0\n"
             "start dve 1 2000 1 0\nend dve 1 3000 0 0\n",
             &opt);
    TAP_EQ_U64(fact(&l, event(&l, "Scalar pc 1", 0), "nc_start_timestamp_ns"), 2);
    TAP_EQ_U64(fact(&l, event(&l, "Scalar pc 1", 0), "nc_stop_timestamp_ns"), 4);
    TAP_EQ_U64(fact(&l, event(&l, "Vector pc 1", 0), "nc_start_timestamp_ns"), 8);
    TAP_EQ_U64(fact(&l, event(&l, "Vector pc 1", 0), "nc_stop_timestamp_ns"), 12);
    TAP_EQ_U64(found(&l, NTFF_DIAG_UNDECIDED), 0);
    done(&l);
    ntff_schema_free(schema);
}

TAP_TEST(two_devices)
{
    struct loaded l =
        load("graph a 0 3\nblob 0 0 0\nstart pe 1 1000000 1 0\nend pe 1 1100000 0 0\n"
             "graph b 1 3\nblob 0 0 0\nstart pe 2 1000000 1 0\nend pe 2 1100000 0 0\n",
             NULL);
    TAP_OK(event(&l, "Tensor pc 1", 0)->track != event(&l, "Tensor pc 2", 0)->track);
    TAP_OK(track(&l, "ND0 NC3:3") != NTFF_NONE && track(&l, "ND1 NC3:3") != NTFF_NONE);
    done(&l);
}

TAP_TEST(inline_bytes)
{
    struct ntff_load_options opt = {0};
    struct ntff_schema *schema = case_schema(&opt);
    struct loaded l = load("inline\n" GRAPH "run pe 0x1000 128 inline\nblob 0 0 0\n"
                           "start pe 1 1000000 1 0\nend pe 1 1100000 0 0\n",
                           &opt);
    TAP_EQ_U64(event(&l, "Tensor pc 1", 0)->dur_ns, 100);
    TAP_EQ_U64(fact(&l, event(&l, "Tensor pc 1", 0), "timestamp_ps"), 1000000);
    TAP_OK(strstr(info(&l, "NC0:0 instructions Tensor (PE)"), "128 bytes (2 of 64)") != NULL);
    done(&l);
    ntff_schema_free(schema);
}

TAP_TEST(versions)
{
    struct loaded l =
        load("version 3\n" RING "start pe 1 1000000 1 0\nend pe 1 1100000 0 0\n", NULL);
    TAP_EQ_U64(l.t->n_events, 1);
    TAP_EQ_U64(found(&l, NTFF_DIAG_VERSION), 0);
    done(&l);
    l = load("version 9\n" RING "start pe 1 1000000 1 0\nend pe 1 1100000 0 0\n", NULL);
    TAP_EQ_U64(l.t->n_events, 1); /* what can be read is read */
    TAP_EQ_U64(found(&l, NTFF_DIAG_VERSION), 1);
    TAP_EQ_STR(info(&l, "format version"), "9 (supported: 1 to 6)");
    done(&l);
}

TAP_TEST(bytes_left_over)
{
    struct loaded l = load(RING "start pe 1 1000000 1 0\nend pe 1 1100000 0 0\ntail 40\n", NULL);
    TAP_EQ_U64(l.t->n_events, 1);
    TAP_EQ_U64(found(&l, NTFF_DIAG_SKIPPED_BYTES), 40);
    done(&l);
    /* a blob whose size is no multiple of 16 */
    l = load(RING "start pe 1 1000000 1 0\nend pe 1 1100000 0 0\nbytes aabbccdd\n", NULL);
    TAP_OK(found(&l, NTFF_DIAG_SKIPPED_BYTES) || found(&l, NTFF_DIAG_UNDECIDED));
    done(&l);
}

/* Every length of a small file: never a crash, whole records before the cut are kept, and the cut
 * is reported. */
TAP_TEST(every_cut)
{
    size_t n, message = 0, kept_before = 0;
    uint8_t *p = make(TWO_CORES, &n);
    for (int k = 0; k < 8; k++)
        message |= (size_t)p[1 + k] << 8 * k;
    size_t records = n - 9 * 16;
    for (size_t cut = 0; cut < n; cut++) {
        struct loaded l;
        TAP_CONTEXT("cut at %zu of %zu", cut, n);
        enum ntff_status s = load_bytes(&l, p, cut, NULL);
        if (s != NTFF_OK)
            continue;
        size_t kept = 0;
        for (size_t i = 0; i < l.t->n_files; i++)
            kept += l.t->files[i].n_records;
        if (cut >= records)
            TAP_EQ_U64(kept, (cut - records) / 16);
        else if (cut > 128 + message)
            TAP_EQ_U64(kept, 0);
        TAP_OK(kept >= kept_before);
        kept_before = kept;
        if (cut >= NTFF_HEADER_BYTES)
            TAP_OK(found(&l, NTFF_DIAG_TRUNCATED_FILE) == 1);
        done(&l);
    }
    TAP_EQ_U64(kept_before, 8);
    free(p);
}

/* The same with one blob only, whose end nothing follows. */
TAP_TEST(cuts_of_a_single_blob)
{
    size_t n;
    uint8_t *p = make(RING "start pe 1 1000000 1 0\nend pe 1 1100000 0 0\nstart pe 2 +5 1 0\n", &n);
    for (size_t left = 0; left < 48; left++) {
        struct loaded l;
        TAP_CONTEXT("%zu bytes of records", left);
        TAP_EQ_U64(load_bytes(&l, p, n - 48 + left, NULL), NTFF_OK);
        TAP_EQ_U64(l.t->files[0].n_records, left / 16);
        TAP_EQ_U64(found(&l, NTFF_DIAG_TRUNCATED_FILE), 1);
        TAP_EQ_U64(found(&l, NTFF_DIAG_UNDECIDED), 0);
        done(&l);
    }
    free(p);
}

/* Sizes and offsets no file can have. */
TAP_TEST(hostile_sizes)
{
    static const char *const scripts[] = {
        "msglen 0xffffffffffffffff\n",
        "msglen 0x7fffffffffffffff\n",
        "msglen 0\n",
        "msglen 1\n",
    };
    char script[1500];
    struct loaded l;
    size_t n;
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        snprintf(script, sizeof script, "%s" TWO_CORES, scripts[i]);
        uint8_t *p = make(script, &n);
        TAP_CONTEXT("%s", scripts[i]);
        if (load_bytes(&l, p, n, NULL) == NTFF_OK)
            done(&l);
        free(p);
    }
    /* every byte of the message set to the values that hurt */
    uint8_t *p = make(TWO_CORES, &n);
    size_t message = (size_t)p[1] | (size_t)p[2] << 8;
    static const uint8_t values[] = {0x00, 0x7f, 0x80, 0xff};
    for (size_t i = 0; i < 9 + message; i++) {
        size_t at = i < 9 ? i : NTFF_HEADER_BYTES + i - 9;
        uint8_t was = p[at];
        for (size_t v = 0; v < sizeof values; v++) {
            p[at] = values[v];
            TAP_CONTEXT("byte %zu = %02x", at, values[v]);
            if (load_bytes(&l, p, n, NULL) == NTFF_OK)
                done(&l);
        }
        p[at] = was;
    }
    free(p);
}

/* Whatever the limit, the load ends cleanly: all of the trace or none. */
TAP_TEST(tight_memory)
{
    size_t n, loaded = 0, refused = 0;
    uint8_t *p = make(TWO_CORES, &n);
    for (size_t limit = 2000; limit < 8u << 20; limit += limit / 16) {
        struct ntff_load_options opt = {.max_memory = limit};
        struct loaded l;
        TAP_CONTEXT("%zu bytes", limit);
        enum ntff_status s = load_bytes(&l, p, n, &opt);
        TAP_OK(s == NTFF_OK || s == NTFF_NOMEM);
        if (s == NTFF_OK) {
            check_two_cores(&l, "in little memory");
            done(&l);
        }
        *(s == NTFF_OK ? &loaded : &refused) += 1;
    }
    TAP_OK(loaded > 0 && refused > 10);
    free(p);
}

/* -- filters
 * ----------------------------------------------------------------------------------------------------
 */

TAP_TEST(filters)
{
    static const char script[] =
        GRAPH "queue 7 2 3 qSyncIO0\nblob 0 0 0\nstart pe 1 1000000 1 0\nend pe 1 1100000 0 0\n"
              "start act 1 1000000 1 0\nend act 1 1100000 0 0\nexplicit pe 0 1200000 0 2\n"
              "blob 0 1 0\nsem pe 5 1 1000000\nsem act 6 1 1000000\n"
              "blob 1 4 7\ndma 1 2 0 0 1000000\ndma 2 2 1 0 1100000\ndma 1 3 0 0 1100000\ndma 2 3 "
              "1 0 1200000\n";
    static const struct {
        struct ntff_load_options opt;
        unsigned tensor, scalar, packets, semaphores, runs;
    } rows[] = {
        {{.max_memory = 0}, 1, 1, 2, 2, 1},
        {{.filter_engine = "PE"}, 1, 0, 2, 1, 1},
        {{.filter_engine = "scalar, sync"}, 0, 1, 2, 1, 0},
        {{.filter_engine = "^Tensor"}, 0, 1, 2, 1, 0},
        {{.filter_queue = "qSyncIO0"}, 1, 1, 1, 2, 1},
        {{.filter_queue = "Q3"}, 1, 1, 1, 2, 1},
        {{.filter_queue = "^Q3"}, 1, 1, 1, 2, 1},
        {{.no_dma = true}, 1, 1, 0, 2, 1},
        {{.no_semaphores = true}, 1, 1, 2, 0, 1},
        {{.no_instructions = true}, 0, 0, 2, 2, 1},
        {{.filter_core = "1"}, 0, 0, 0, 0, 0},
        {{.filter_core = "0"}, 1, 1, 2, 2, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct loaded l = load(script, &rows[i].opt);
        TAP_CONTEXT("row %zu", i);
        size_t semaphores = 0;
        for (size_t k = 0; k < l.t->n_samples; k++)
            semaphores += l.t->tracks[l.t->samples[k].track].kind == NTFF_TRACK_SEMAPHORE;
        TAP_EQ_U64(n_events(&l, "Tensor pc 1"), rows[i].tensor);
        TAP_EQ_U64(n_events(&l, "Scalar pc 1"), rows[i].scalar);
        TAP_EQ_U64(n_events(&l, "M2S read"), rows[i].packets);
        TAP_EQ_U64(n_events(&l, "run Tensor"), rows[i].runs);
        TAP_EQ_U64(semaphores, rows[i].semaphores);
        done(&l);
    }
}

/* -- info
 * ------------------------------------------------------------------------------------------------------
 */

TAP_TEST(info_lines)
{
    struct loaded l = load(TWO_CORES, NULL);
    TAP_EQ_STR(info(&l, "format version"), "6");
    TAP_EQ_STR(info(&l, "neuron_runtime_version"), "2.31");
    TAP_EQ_STR(info(&l, "buffer size"),
               "block_type NC, trace_type INSTRUCTION, buffer_size 67108864");
    TAP_EQ_STR(info(&l, "blobs NC/INSTRUCTION"), "2 with 4 records");
    TAP_EQ_STR(info(&l, "blobs DMA/DMA"), "1 with 2 records");
    TAP_EQ_STR(info(&l, "blobs TOPSP/INSTRUCTION"), "1 with 2 records");
    TAP_EQ_STR(info(&l, "NC0:0 instructions Tensor (PE)"),
               "640 bytes (10 of 64), start address 0x10000");
    TAP_EQ_STR(info(&l, "NC0:0 records: DMA"), "2");
    TAP_EQ_STR(info(&l, "subgraph 1"), "sg01, nd_idx 0, nc_idx 1: core 1 of NC1");
    done(&l);
}

/* The n-th fact of this key. */
static const char *info_at(const struct loaded *l, const char *key, size_t n)
{
    const struct ntff_file *f = &l->t->files[0];
    for (size_t k = 0; k < f->facts.n; k++)
        if (strcmp(ntff_str_of(l->t, f->facts.v[k].key), key) == 0 && n-- == 0)
            return ntff_str_of(l->t, f->facts.v[k].value);
    return NULL;
}

/* Memory by usage, collectives and communicators: by number where no name is public. */
TAP_TEST(info_of_memory_and_collectives)
{
    static const char script[] =
        "ver 12 2 30 1 0\n" GRAPH "field 11 hex 080610808040\nfield 11 hex 0810108020\n"
        "field 15 hex 08011002\nfield 16 hex 080510021804\nfield 14 varint 99\n"
        "blob 0 0 0\nstart pe 1 2000 1 0\nend pe 1 3000 0 0\n";
    static const char *const usage[2][2] = {
        {"{#1 6, #2 1048576}", "{#1 16, #2 4096}"},
        {"{type WEIGHT, bytes 1048576}", "{type CC, bytes 4096}"}};
    for (int named = 0; named < 2; named++) {
        struct ntff_load_options opt = {0};
        struct ntff_schema *schema = named ? case_schema(&opt) : NULL;
        struct loaded l = load(script, &opt);
        TAP_EQ_STR(info(&l, "neuron_collectives_version"), named ? "2.30.1.0" : "2.30.1");
        TAP_EQ_STR(info_at(&l, "NC0:0 memory_usage_breakdown", 0), usage[named][0]);
        TAP_EQ_STR(info_at(&l, "NC0:0 memory_usage_breakdown", 1), usage[named][1]);
        TAP_EQ_STR(info(&l, "NC0:0 comm_info"), "{id 5, rank 2, rank_n 4}");
        TAP_EQ_STR(info(&l, "NC0:0 cc_op_info"), "{#1 1, #2 2}");
        TAP_EQ_STR(info(&l, "NC0:0 exec_duration"), "99");
        done(&l);
        ntff_schema_free(schema);
    }
}

/* The runtime's executions and the device's own marks of them: how far they are apart. */
TAP_TEST(executions_against_their_markers)
{
    char path[4096];
    const char *src = getenv("SRC"), *paths[1] = {path};
    static const struct ntff_load_options none;
    struct loaded l = {0};
    struct ntff_error err;
    snprintf(path, sizeof path, "%s/tests/data/cases/e-device", src ? src : ".");
    TAP_EQ_U64(ntff_load(paths, 1, &none, &l.t, &l.diag, &err), NTFF_OK);
    TAP_EQ_STR(info(&l, "NC0:0 executions"),
               "4 by markers, 4 of 4 nc_exec_running met; markers start 1 to 1 ns after, "
               "stop -500 to -500 ns after");
    done(&l);
}

TAP_MAIN()
