/* A load that knows the window (--from, --to) keeps of device profiles only what may be seen in it.
 * Held against a load that keeps everything: after ntff_trace_clip the two are the same trace,
 * event by event, sample by sample, with the same counts, clocks and findings. */
#include "proto/load.h"

#include "tests/check_trace.h"
#include "tests/random.h"
#include "tests/tap.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state;
static uint64_t below(uint64_t n)
{
    return random_below(&random_state, n);
}

static const char *scratch(const char *name)
{
    static char path[4][4096];
    static unsigned turn;
    const char *tmp = getenv("TMP");
    turn = (turn + 1) % NTFF_ARRAY_LEN(path);
    snprintf(path[turn], sizeof path[turn], "%s/%s", tmp ? tmp : "/tmp", name);
    return path[turn];
}

static const char *source(const char *name)
{
    static char path[4096];
    const char *src = getenv("SRC");
    snprintf(path, sizeof path, "%s/%s", src ? src : ".", name);
    return path;
}

/* -- two loads ------------------------------------------------------------------------------------
 */

struct loaded {
    struct ntff_trace *t;
    struct ntff_diag diag;
};

static struct loaded load(const char *path, const struct ntff_load_options *opt)
{
    struct loaded l = {0};
    struct ntff_error err;
    if (ntff_load(&path, 1, opt, &l.t, &l.diag, &err) != NTFF_OK)
        TAP_FAIL("%s: %s", path, err.text);
    return l;
}

static void same_findings(const struct ntff_diag *x, const struct ntff_diag *y)
{
    for (int k = 0; k < NTFF_DIAG_COUNT; k++) {
        TAP_CONTEXT("finding %s", ntff_diag_name(k));
        TAP_EQ_U64(x->of[k].count, y->of[k].count);
        if (x->of[k].count)
            TAP_EQ_STR(x->of[k].detail, y->of[k].detail);
    }
}

static void same_tracks(const struct ntff_trace *x, const struct ntff_trace *y)
{
    TAP_EQ_U64(x->n_tracks, y->n_tracks);
    for (size_t i = 0; i < x->n_tracks; i++) {
        const struct ntff_track *a = &x->tracks[i], *b = &y->tracks[i];
        TAP_CONTEXT("track %zu, %s", i, ntff_str_of(x, a->name));
        TAP_EQ_STR(ntff_str_of(x, a->name), ntff_str_of(y, b->name));
        TAP_EQ_STR(ntff_str_of(x, a->description), ntff_str_of(y, b->description));
        TAP_EQ_U64(a->parent, b->parent);
        TAP_EQ_U64(a->n_lanes, b->n_lanes);
        TAP_EQ_U64(a->unaligned, b->unaligned);
        TAP_OK(a->rank == b->rank && a->nc == b->nc && a->core == b->core && a->kind == b->kind);
    }
}

static void same_clocks(const struct ntff_trace *x, const struct ntff_trace *y)
{
    TAP_EQ_U64(x->n_clocks, y->n_clocks);
    for (size_t i = 0; i < x->n_clocks; i++) {
        const struct ntff_core_clock *a = &x->clocks[i], *b = &y->clocks[i];
        TAP_CONTEXT("clock %zu", i);
        TAP_EQ_U64(a->n_placed, b->n_placed);
        TAP_EQ_U64(a->n_extrapolated, b->n_extrapolated);
        TAP_EQ_U64(a->n_nearest, b->n_nearest);
        TAP_EQ_U64(a->n_unplaced, b->n_unplaced);
        TAP_EQ_U64(a->n_recorded, b->n_recorded);
    }
}

static void same_trace(const struct ntff_trace *x, const struct ntff_trace *y)
{
    TAP_EQ_U64(x->begin_ns, y->begin_ns);
    TAP_EQ_U64(x->origin_ns, y->origin_ns);
    TAP_EQ_U64(x->end_ns, y->end_ns);
    same_tracks(x, y);
    same_clocks(x, y);
    TAP_EQ_MEM(&x->counts, sizeof x->counts, &y->counts, sizeof y->counts);
    TAP_EQ_U64(x->n_events, y->n_events);
    for (size_t i = 0; i < x->n_events; i++) {
        TAP_CONTEXT("event %zu of %zu, %s on %s", i, x->n_events, ntff_str_of(x, x->events[i].name),
                    ntff_str_of(x, x->tracks[x->events[i].track].name));
        TAP_EQ_MEM(&x->events[i], sizeof *x->events, &y->events[i], sizeof *y->events);
    }
    TAP_EQ_U64(x->n_samples, y->n_samples);
    for (size_t i = 0; i < x->n_samples; i++) {
        TAP_CONTEXT("sample %zu of %s", i, ntff_str_of(x, x->tracks[x->samples[i].track].name));
        TAP_EQ_U64(x->samples[i].ts_ns, y->samples[i].ts_ns);
        TAP_EQ_U64(x->samples[i].track, y->samples[i].track);
        TAP_EQ_U64(x->samples[i].value.i, y->samples[i].value.i);
    }
    TAP_EQ_U64(x->n_flows, y->n_flows);
    for (size_t i = 0; i < x->n_flows; i++)
        TAP_OK(x->flows[i].from == y->flows[i].from && x->flows[i].to == y->flows[i].to);
    for (size_t i = 0; i < x->n_files; i++) {
        TAP_EQ_U64(x->files[i].n_records, y->files[i].n_records);
        TAP_EQ_U64(x->files[i].facts.n, y->files[i].facts.n);
        for (size_t k = 0; k < x->files[i].facts.n; k++)
            TAP_EQ_STR(ntff_str_of(x, x->files[i].facts.v[k].value),
                       ntff_str_of(y, y->files[i].facts.v[k].value));
    }
}

/* Loads path both ways, cuts both, compares. Returns the events that the load kept. */
static size_t compare(const char *path, struct ntff_load_options opt, struct ntff_moment from,
                      struct ntff_moment to)
{
    struct ntff_error err;
    opt.from = from;
    opt.to = to;
    struct loaded cut = load(path, &opt);
    opt.keep_outside = true;
    struct loaded all = load(path, &opt);
    size_t kept = cut.t->n_events;
    TAP_CONTEXT("%s, from %s%" PRIu64 " to %s%" PRIu64, path, from.relative ? "+" : "", from.ns,
                to.relative ? "+" : "", to.ns);
    TAP_EQ_U64(cut.t->begin_ns, all.t->begin_ns);
    TAP_EQ_U64(cut.t->end_ns, all.t->end_ns);
    uint64_t begin = all.t->begin_ns, lo = from.given ? ntff_moment_ns(&from, begin) : 0;
    uint64_t hi = to.given ? ntff_moment_ns(&to, begin) : UINT64_MAX;
    TAP_EQ_U64(ntff_trace_clip(cut.t, lo, hi, &cut.diag, &err), NTFF_OK);
    TAP_EQ_U64(ntff_trace_clip(all.t, lo, hi, &all.diag, &err), NTFF_OK);
    const char *bad = check_trace(cut.t, &cut.diag);
    if (bad)
        TAP_FAIL("%s", bad);
    same_trace(cut.t, all.t);
    same_findings(&cut.diag, &all.diag);
    ntff_trace_free(cut.t);
    ntff_trace_free(all.t);
    return kept;
}

static struct ntff_moment at(uint64_t ns, bool relative)
{
    return (struct ntff_moment){.ns = ns, .relative = relative, .given = true};
}

/* Windows all over a trace: long, short, empty, open, at its edges, as dates and as distances. */
static void many_windows(const char *path, struct ntff_load_options opt, unsigned rounds)
{
    struct loaded l = load(path, &opt);
    uint64_t begin = l.t->begin_ns, len = l.t->end_ns - l.t->begin_ns;
    ntff_trace_free(l.t);
    compare(path, opt, (struct ntff_moment){0}, at(len / 3, true));
    compare(path, opt, at(len / 2, true), (struct ntff_moment){0});
    for (unsigned i = 0; i < rounds; i++) {
        uint64_t width = len >> below(12), from = below(len + 2);
        bool relative = below(2);
        compare(path, opt, at(relative ? from : begin + from, relative),
                at(relative ? from + width : begin + from + width, relative));
    }
}

/* -- captures -------------------------------------------------------------------------------------
 */

static const struct ntff_load_options plain;

TAP_TEST(cases)
{
    static const char *const names[] = {"a-delimited",    "b-bare-raw", "c-second-numbering",
                                        "d-noisy-clocks", "e-device",   "f-json"};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(names); i++) {
        char name[300];
        snprintf(name, sizeof name, "tests/data/cases/%s", names[i]);
        random_state = i;
        many_windows(source(name), plain, 12);
    }
}

TAP_TEST(clock_modes)
{
    for (int mode = NTFF_CLOCK_AUTO; mode <= NTFF_CLOCK_RECORDED; mode++) {
        random_state = 100 + (unsigned)mode;
        many_windows(source("tests/data/cases/e-device"), (struct ntff_load_options){.clock = mode},
                     16);
    }
}

/* Every .ntff below a directory alone: device time, from the first record. */
static void each_profile(const char *dir, struct ntff_load_options opt)
{
    struct dirent **names;
    int n = scandir(dir, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[4096];
        const char *dot = strrchr(names[i]->d_name, '.');
        snprintf(path, sizeof path, "%s/%s", dir, names[i]->d_name);
        random_state = (uint64_t)i;
        if (dot && strcmp(dot, ".ntff") == 0)
            many_windows(path, opt, 8);
        else if (names[i]->d_name[0] != '.' && !dot)
            each_profile(path, opt);
        free(names[i]);
    }
    if (n >= 0)
        free(names);
}

TAP_TEST(profiles_alone)
{
    char dir[4096];
    snprintf(dir, sizeof dir, "%s", source("tests/data/cases/e-device"));
    each_profile(dir, plain);
}

TAP_TEST(the_sample_session)
{
    char command[9000];
    const char *dir = scratch("session");
    snprintf(command, sizeof command, "'%s' '%s' >/dev/null", source("samples/build.sh"), dir);
    if (!getenv("BUILD") || system(command) != 0)
        TAP_SKIP("needs $BUILD/tools and protoc");
    many_windows(dir, plain, 16);
    many_windows(dir, (struct ntff_load_options){.no_system = true}, 16);
    many_windows(dir, (struct ntff_load_options){.filter_type = "hardware"}, 8);
}

/* -- made profiles --------------------------------------------------------------------------------
 */

enum { ENGINES = 5, RECORDS = 60000 };

struct maker {
    FILE *f;
    uint64_t ps;
    unsigned loss;     /* one in so many starts or ends is not written; 0 = none */
    unsigned overflow; /* one record in so many has an overflow bit; 0 = none */
};

static bool chance(unsigned one_in)
{
    return one_in && below(one_in) == 0;
}

static const char *flags(const struct maker *m)
{
    return chance(m->overflow) ? below(2) ? " hw" : " sw" : "";
}

/* Instructions of five engines up to four deep, semaphores, executions, errors between them. */
static void instructions(struct maker *m, unsigned n)
{
    static const char *const engine[] = {"pe", "act", "pool", "dve", "sp"};
    unsigned open[ENGINES][4], n_open[ENGINES] = {0}, pc[ENGINES] = {0};
    bool running = false;
    for (unsigned i = 0; i < n; i++) {
        unsigned e = (unsigned)below(ENGINES), what = (unsigned)below(100);
        m->ps += below(60000000);
        if (what < 6)
            fprintf(m->f, "sem %s %u %u %" PRIu64 "\n", engine[e], (unsigned)below(6), i, m->ps);
        else if (what == 6 && below(40) == 0)
            fprintf(m->f, "explicit pe 0 %" PRIu64 " 0 %d\n", m->ps, (running = !running) ? 2 : 3);
        else if (what == 7 && below(4) == 0)
            fprintf(m->f, "tpb %u 0 0 %" PRIu64 "\n", (unsigned)below(9), m->ps);
        else if (n_open[e] < 4 && below(2)) {
            open[e][n_open[e]++] = pc[e] = (pc[e] + 1) % 300;
            if (!chance(m->loss))
                fprintf(m->f, "start %s %u %" PRIu64 " 1 %u%s\n", engine[e], pc[e], m->ps,
                        (unsigned)below(99), flags(m));
        } else if (n_open[e]) {
            if (!chance(m->loss))
                fprintf(m->f, "end %s %u %" PRIu64 " 3 4%s\n", engine[e], open[e][0], m->ps,
                        flags(m));
            memmove(open[e], open[e] + 1, sizeof open[e] - sizeof open[e][0]);
            n_open[e]--;
        }
    }
}

/* Packets of four queues in both directions, up to eight at a time. */
static void packets(struct maker *m, unsigned n)
{
    unsigned n_open[4][2] = {{0}};
    for (unsigned i = 0; i < n; i++) {
        unsigned q = (unsigned)below(4), k = (unsigned)below(2);
        bool start = n_open[q][k] == 0 || (n_open[q][k] < 8 && below(2));
        m->ps += below(150000000);
        n_open[q][k] += start ? 1 : -1u;
        if (chance(m->loss))
            continue;
        fprintf(m->f, "dma %u %u %u 0 %" PRIu64 "%s\n", (start ? 1 : 2) + 3 * k, q,
                start ? 0 : (unsigned)below(4096), m->ps, flags(m));
        if (below(200) == 0)
            fprintf(m->f, "dma %u %u 0 0 %" PRIu64 "\n", below(2) ? 3 : 8, q, m->ps);
    }
}

/* Runs mkntff on what fill writes. */
static const char *made(const char *name, void (*fill)(struct maker *), struct maker m)
{
    char command[9000];
    const char *build = getenv("BUILD"), *script = scratch("script"), *path = scratch(name);
    if (!build)
        TAP_SKIP("needs $BUILD/tools/mkntff");
    TAP_OK((m.f = fopen(script, "w")) != NULL);
    fill(&m);
    TAP_OK(fclose(m.f) == 0);
    snprintf(command, sizeof command, "'%s/tools/mkntff' '%s' >'%s'", build, script, path);
    TAP_EQ_U64(system(command), 0);
    return path;
}

static void one_core(struct maker *m)
{
    fprintf(m->f, "graph sg00 0 3\nclock 1 1000 1024 1020\nblob 0 0 0\n");
    m->ps = 50000000;
    instructions(m, RECORDS);
    for (unsigned e = 0; e < 2; e++) {
        fprintf(m->f, "blob 1 4 %u\n", e);
        m->ps = 40000000;
        packets(m, RECORDS / 3);
    }
}

/* A ring drained before it was turned: the second half lies in front. */
static void unrotated(struct maker *m)
{
    fprintf(m->f, "graph sg00 0 3\nblob 0 0 0\n");
    m->ps = UINT64_C(4000000000000);
    instructions(m, RECORDS / 2);
    m->ps = 1000000;
    instructions(m, RECORDS / 2);
}

/* Cores that count from elsewhere; the second runs later than its first record. */
static void two_cores(struct maker *m)
{
    for (unsigned g = 0; g < 2; g++) {
        fprintf(m->f, "graph sg0%u 0 %u\nblob 0 0 0\n", g, g);
        m->ps = 5000000 + UINT64_C(70000000000000) * g;
        if (g)
            fprintf(m->f, "start sp 7 %" PRIu64 " 1 2\n", m->ps - 4000000);
        instructions(m, RECORDS / 2);
        fprintf(m->f, "blob 1 4 0\n");
        m->ps = 6000000 + UINT64_C(70000000000000) * g;
        packets(m, RECORDS / 4);
    }
}

TAP_TEST(a_made_core)
{
    random_state = 1;
    const char *path = made("one.ntff", one_core, (struct maker){0});
    many_windows(path, plain, 12);
    many_windows(path, (struct ntff_load_options){.filter_engine = "ACT,SP"}, 4);
    many_windows(path, (struct ntff_load_options){.filter_queue = "Q2", .no_semaphores = true}, 4);
    many_windows(path, (struct ntff_load_options){.no_dma = true}, 4);
    many_windows(path, (struct ntff_load_options){.no_instructions = true}, 4);
}

TAP_TEST(lost_records_and_overflows)
{
    random_state = 2;
    many_windows(made("lost.ntff", one_core, (struct maker){.loss = 50, .overflow = 2000}), plain,
                 12);
    random_state = 3;
    many_windows(made("more.ntff", one_core, (struct maker){.loss = 4, .overflow = 30}), plain, 8);
}

TAP_TEST(a_ring_not_turned)
{
    random_state = 4;
    many_windows(made("turned.ntff", unrotated, (struct maker){.loss = 1000}), plain, 12);
}

TAP_TEST(two_made_cores)
{
    random_state = 5;
    many_windows(made("two.ntff", two_cores, (struct maker){.loss = 1000}), plain, 12);
}

/* What is kept is what the window holds, and as much again as one has patience for. */
TAP_TEST(little_is_kept)
{
    random_state = 6;
    const char *path = made("one.ntff", one_core, (struct maker){0});
    struct loaded l = load(path, &plain);
    uint64_t len = l.t->end_ns - l.t->begin_ns, all = l.t->n_events;
    ntff_trace_free(l.t);
    TAP_OK(len > 1000000000);
    size_t kept = compare(path, plain, at(len / 2, true), at(len / 2 + len / 100, true));
    TAP_OK(all > 40000);
    TAP_OK(kept < all / 40);
}

/* Two groups of times more than a year apart: which of them is impossible depends on how many there
 * are of each, cut or not. */
static void two_times(struct maker *m)
{
    fprintf(m->f, "graph sg00 0 0\nclock 1 1000 10 100\nblob 0 0 0\n");
    for (unsigned k = 0; k < 19; k++) {
        uint64_t ps = k < 12 ? UINT64_C(1000000000000000) + k * UINT64_C(2000000000)
                             : UINT64_C(9000000000000000000) + (k - 12) * UINT64_C(2000000000);
        unsigned pc = k < 12 ? k : k - 12;
        fprintf(m->f, "start pe %u %" PRIu64 " 1 2\nend pe %u %" PRIu64 " 3 4\n", pc, ps, pc,
                ps + UINT64_C(1000000000));
    }
}

TAP_TEST(times_years_apart)
{
    random_state = 7;
    const char *path = made("years.ntff", two_times, (struct maker){0});
    many_windows(path, plain, 20);
    compare(path, plain, at(100000000, true), at(150000000, true));
    compare(path, plain, at(200000000, true), (struct ntff_moment){0});
}

/* Spans over blobs that cannot be decoded share a row with each other. */
static void undecoded(struct maker *m)
{
    fputs("graph sg00 0 3\n"
          "blob 0 1 0\n"
          "dma 0 1 632 2 1000000084450439384\n"
          "end pool 5 1000000084451176973 3 4\n"
          "dma 4 2 1680 1 1263833692692291339\n"
          "blob 0 0 1\n"
          "dma 7 1 1384 2 1000000897310117926\n"
          "end pe 7 1000000897310118800 3 4\n"
          "dma 1 1 863 2 1000000897310118800\n"
          "end pool 1 976393306869408242 3 4\n"
          "start pe 4 976393306869408242 1 85\n"
          "blob 1 4 3\n"
          "dma 1 0 607 1 1140000000511294190\n"
          "dma 7 2 3548 0 1235721271192635248\n"
          "blob 1 4 1\n"
          "dma 1 2 300 2 1140000000000000000\n"
          "dma 4 1 3407 2 1140000067331917856\n"
          "dma 7 1 685 1 1140000067331917856\n",
          m->f);
}

TAP_TEST(undecoded_blobs_overlap)
{
    random_state = 1072;
    many_windows(made("undecoded.ntff", undecoded, (struct maker){0}), plain, 20);
}

TAP_MAIN()
