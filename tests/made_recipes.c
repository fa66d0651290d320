/* made_recipes - the ready-made traces of made.h. */
#include "made.h"
#include "tests/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- tour ----------------------------------------------------------------------------------- */

static const char *const engines[] = {"Tensor (PE)", "Vector (DVE)", "Scalar (ACT)",
                                      "GpSimd (POOL)", "Sync (SP)"};

struct core {
    uint32_t exec, engine[5], cc, dma[2], events;
};

static void make_core(struct made *s, uint32_t parent, int nc, struct core *c)
{
    char name[40];
    snprintf(name, sizeof name, "NC%02d", nc);
    uint32_t g = made_track(s, parent, NTFF_TRACK_NC, name);
    snprintf(name, sizeof name, "Execution NC%d:%d", nc, nc);
    c->exec = made_track(s, g, NTFF_TRACK_EXEC, name);
    for (int i = 0; i < 5; i++) {
        c->engine[i] = made_track(s, g, NTFF_TRACK_ENGINE, engines[i]);
        made_track_of(s, c->engine[i])->flat = true;
    }
    uint32_t dma = made_track(s, g, NTFF_TRACK_GROUP, "DMA");
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "qSyncIO%d", i);
        c->dma[i] = made_track(s, dma, NTFF_TRACK_DMA, name);
        made_track_of(s, c->dma[i])->flat = true;
    }
    c->cc = made_track(s, g, NTFF_TRACK_CC, "Collectives");
    c->events = made_track(s, g, NTFF_TRACK_EVENTS, "Events");
}

/* One execution on a core: engines busy inside it, the collective late on the second core. */
static uint32_t execute(struct made *s, struct core *c, uint64_t at, uint64_t dur, uint64_t cc_dur,
                        uint64_t *rng)
{
    static const char *const ops[] = {"MATMUL", "LDWEIGHTS", "ACTIVATE", "COPY", "EVENT_SEMAPHORE"};
    uint32_t exec = made_span(s, c->exec, 0, at, dur, "nc_exec_running");
    made_event_of(s, exec)->cat = NTFF_CAT_EXEC;
    made_event_of(s, exec)->flags |= NTFF_EV_DEVICE;
    for (int e = 0; e < 5; e++) {
        uint64_t t = at + 500, step = 400 + (uint64_t)e * 150;
        for (int k = 0; t + step < at + dur - cc_dur - 500; k++) {
            uint64_t len = step / 2 + random_below(rng, step / 2);
            uint32_t lane = e == 0 ? (uint32_t)k & 3 : 0;
            if (e == 0)
                len *= 4; /* four deep */
            const char *op = e == 0 && k % 3 ? "MATMUL" : ops[(e + k % 2) % 5];
            uint32_t n =
                made_span(s, c->engine[e], lane, t, e == 0 && len > 4 * step ? 4 * step : len, op);
            made_event_of(s, n)->cat = NTFF_CAT_INSTR;
            t += step + (e == 3 && k % 7 == 0 ? 4000 : 0);
        }
    }
    uint32_t cc = made_span(s, c->cc, 0, at + dur - cc_dur, cc_dur, "cc_running");
    made_event_of(s, cc)->cat = NTFF_CAT_CC;
    for (int q = 0; q < 2; q++)
        for (uint64_t t = at + 1000; t + 2500 < at + dur; t += 3000 + random_below(rng, 900)) {
            uint32_t n =
                made_span(s, c->dma[q], 0, t, 1200 + random_below(rng, 1000), "copy 2048 B");
            made_event_of(s, n)->cat = NTFF_CAT_DMA;
        }
    return exec;
}

static void run_host(struct made *s, uint32_t thread, struct core *c, uint64_t at, int i,
                     uint64_t *rng)
{
    uint64_t exec_dur = 60000 + random_below(rng, 20000), cc = i == 3 ? 38000 : 9000;
    uint64_t wait = exec_dur + 9000;
    uint32_t run = made_span(s, thread, 0, at, wait + 16000, "nrt_execute");
    made_attr(s, run, "model_name", "llama-70b/layer_00.neff", 23);
    made_span(s, thread, 0, at + 1000, 5000, "kbl_exec_pre");
    made_span(s, thread, 0, at + 7000, wait + 6000, "kmgr_exec_core");
    uint32_t w = made_span(s, thread, 0, at + 8000, wait, "kbl_exec_wait");
    made_span(s, thread, 0, at + wait + 14000, 1500, "kbl_exec_post");
    uint32_t exec = execute(s, c, at + 10000, exec_dur, cc, rng);
    made_flow(s, w, exec);
    char id[16];
    int n = snprintf(id, sizeof id, "%d", 100 + i);
    made_attr(s, w, "exec_id", id, (size_t)n);
    made_attr(s, exec, "exec_id", id, (size_t)n);
    made_attr(s, exec, "model_name", "llama-70b/layer_00.neff", 23);
}

static void mark_oddities(struct made *s, uint32_t thread, const struct core *c)
{
    uint32_t e = made_instant(s, c[0].events, 400000, "numerical_err");
    made_event_of(s, e)->cat = NTFF_CAT_ERROR;
    made_attr(s, e, "nan_count", "17", 2);
    e = made_instant(s, c[1].events, 520000, "events lost from here");
    made_event_of(s, e)->cat = NTFF_CAT_MARK;
    e = made_span(s, thread, 0, 950000, 50000, "nrt_tensor_read");
    made_event_of(s, e)->flags |= NTFF_EV_UNFINISHED;
    e = made_span(s, thread, 0, 0, 15000, "nrt_load");
    made_event_of(s, e)->flags |= NTFF_EV_START_LOST;
    e = made_span(s, c[1].exec, 0, 870000, 60000, "nc_model_switch");
    made_event_of(s, e)->flags |= NTFF_EV_ESTIMATED;
    e = made_span(s, c[1].exec, 0, 940000, 60000, "nc_exec_running");
    made_event_of(s, e)->flags |= NTFF_EV_UNALIGNED | NTFF_EV_CUT_RIGHT;
}

static void add_counters(struct made *s, uint32_t parent, uint64_t *rng)
{
    uint32_t g = made_track(s, parent, NTFF_TRACK_GROUP, "Counters");
    uint32_t hbm = made_track(s, g, NTFF_TRACK_COUNTER, "HBM0 tensors");
    uint32_t cpu = made_track(s, g, NTFF_TRACK_COUNTER, "CPU 0");
    made_track_of(s, hbm)->unit = NTFF_UNIT_BYTES;
    made_track_of(s, cpu)->unit = NTFF_UNIT_PERCENT;
    int64_t bytes = 0;
    for (uint64_t t = 0; t < 1000000; t += 20000) {
        bytes += (int64_t)random_below(rng, 400) * 1000000 - (t > 500000 ? 250000000 : 100000000);
        made_sample(s, hbm, t, bytes > 0 ? bytes : 0);
        made_sample_d(s, cpu, t, (double)(random_below(rng, 1000)) / 10);
    }
}

static struct ntff_trace *tour(void)
{
    struct made *s = made_begin();
    uint64_t rng = 1;
    struct core core[2];
    uint32_t p = made_track(s, NTFF_NONE, NTFF_TRACK_PROCESS, "i-EXAMPLE0 pid 4242");
    uint32_t host[2] = {made_track(s, p, NTFF_TRACK_THREAD, "neuron_rt NC0"),
                        made_track(s, p, NTFF_TRACK_THREAD, "neuron_rt NC1")};
    add_counters(s, p, &rng);
    uint32_t g = made_track(s, p, NTFF_TRACK_GROUP, "NeuronCores");
    for (int nc = 0; nc < 2; nc++)
        make_core(s, g, nc, &core[nc]);
    for (int i = 0; i < 7; i++)
        for (int nc = 0; nc < 2; nc++)
            run_host(s, host[nc], &core[nc], 20000 + (uint64_t)i * 118000 + (uint64_t)nc * 6000, i,
                     &rng);
    mark_oddities(s, host[0], core);
    return made_end(s);
}

/* -- hostile -------------------------------------------------------------------------------- */

static struct ntff_trace *hostile(void)
{
    static const char *const names[] = {
        "\033[2J\033[1;1Hcleared",
        "\033]0;title\007",
        "bell\a back\b tab\t nl\n cr\r del\x7f",
        "csi \302\23331m red",
        "rtl \342\200\256gnihton", /* NOLINT(misc-misleading-bidirectional): that is the point */
        "zero\xE2\x80\x8Bwidth\xE2\x80\x8Djoin",
        "wide \xE6\xBC\xA2\xE5\xAD\x97 text \xED\x95\x9C\xEA\xB8\x80",
        "combining e\xCC\x81\xCC\x82\xCC\x83 n\xCC\x83",
        "emoji \xF0\x9F\x94\xA5\xF0\x9F\x9A\x80",
        "\xCC\x81 begins combining",
        "%s%n%x format",
        "",
        " ",
        "last",
    };
    static const char raw[] = "\x1b[H\x80\xff\xc0\xaf\0zero\x7f";
    struct made *s = made_begin();
    uint32_t p = made_track(s, NTFF_NONE, NTFF_TRACK_PROCESS, "proc \033[31mred\033[0m");
    uint32_t t =
        made_track(s, p, NTFF_TRACK_THREAD, "\xE6\xBC\xA2\xE5\xAD\x97 thread\nsecond line");
    uint32_t wide =
        made_track(s, p, NTFF_TRACK_THREAD,
                   "\xE5\x85\xA8\xE8\xA7\x92\xE5\x85\xA8\xE8\xA7\x92\xE5\x85\xA8\xE8\xA7\x92"
                   "\xE5\x85\xA8\xE8\xA7\x92\xE5\x85\xA8\xE8\xA7\x92");
    for (size_t i = 0; i < NTFF_ARRAY_LEN(names); i++) {
        uint32_t e = made_span(s, t, 0, i * 1000, 900, names[i]);
        made_span(s, wide, 0, i * 1000, 1000, names[6]);
        made_attr(s, e, "raw\033[5m", raw, sizeof raw - 1);
    }
    char *big = malloc(1 << 20);
    if (!big)
        abort();
    memset(big, 'A', 1 << 20);
    big[(1 << 20) - 1] = 0;
    made_span(s, t, 0, 14000, 900, big);
    for (size_t i = 0; i + 2 < 1 << 20; i += 2) /* nothing but combining marks */
        memcpy(big + i, "\xCC\x81", 2);
    big[(1 << 20) - 2] = 0;
    uint32_t e = made_span(s, t, 0, 15000, 900, big);
    made_attr(s, e, "big", big, (1 << 20) - 2);
    made_track(s, p, NTFF_TRACK_THREAD, big);
    free(big);
    return made_end(s);
}

/* -- shapes --------------------------------------------------------------------------------- */

static struct ntff_trace *deep(void)
{
    struct made *s = made_begin();
    uint32_t p = made_track(s, NTFF_NONE, NTFF_TRACK_PROCESS, "python");
    uint32_t t = made_track(s, p, NTFF_TRACK_THREAD, "MainThread");
    uint32_t lanes = made_track(s, p, NTFF_TRACK_DMA, "qGpSimdDynamic");
    made_track_of(s, lanes)->flat = true;
    char name[32];
    for (uint64_t k = 0; k < 5; k++)
        for (uint64_t d = 0; d < 40; d++) {
            snprintf(name, sizeof name, "frame_%02" PRIu64, d);
            made_span(s, t, 0, k * 100000 + d * 1000, 98000 - d * 2000, name);
        }
    for (uint64_t k = 0; k < 200; k++)
        made_span(s, lanes, (uint32_t)(k % 12), k * 2500, 25000 + k % 7, "copy");
    return made_end(s);
}

static struct ntff_trace *years(void)
{
    struct made *s = made_begin();
    uint64_t year = UINT64_C(365) * 86400 * NTFF_NS_PER_SEC;
    uint32_t p = made_track(s, NTFF_NONE, NTFF_TRACK_PROCESS, "long");
    uint32_t t = made_track(s, p, NTFF_TRACK_THREAD, "main");
    made_span(s, t, 0, 0, 3 * year, "three_years");
    for (uint64_t i = 0; i < 20; i++)
        made_span(s, t, 0, year + i * 3, 1 + i % 3, "tick");
    made_span(s, t, 0, 2 * year, 3600 * NTFF_NS_PER_SEC, "an_hour");
    return made_end(s);
}

static struct ntff_trace *edge(void)
{
    struct made *s = made_begin();
    uint32_t p = made_track(s, NTFF_NONE, NTFF_TRACK_PROCESS, "edge");
    uint32_t t = made_track(s, p, NTFF_TRACK_THREAD, "main");
    static const struct {
        uint64_t ts, dur;
    } spans[] = {{0, 5},
                 {5, UINT64_MAX - 5},
                 {7, 1},
                 {UINT64_MAX / 2, 10},
                 {UINT64_MAX - 20, 10},
                 {UINT64_MAX - 10, 10},
                 {UINT64_MAX - 1, 1}};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(spans); i++) {
        uint32_t e = made_span(s, t, 0, 0, spans[i].dur, i % 2 ? "odd" : "even");
        made_event_of(s, e)->ts_ns = spans[i].ts;
    }
    uint32_t e = made_instant(s, t, 0, "the last moment");
    made_event_of(s, e)->ts_ns = UINT64_MAX;
    return made_end(s);
}

static struct ntff_trace *empty(void)
{
    struct made *s = made_begin();
    uint32_t p = made_track(s, NTFF_NONE, NTFF_TRACK_PROCESS, "nothing");
    made_track(s, p, NTFF_TRACK_THREAD, "thread");
    return made_end(s);
}

static struct ntff_trace *samples(void)
{
    struct made *s = made_begin();
    uint64_t rng = 7;
    uint32_t p = made_track(s, NTFF_NONE, NTFF_TRACK_PROCESS, "host");
    add_counters(s, p, &rng);
    return made_end(s);
}

/* -- many ----------------------------------------------------------------------------------- */

/* Like a large device profile: 8 cores, each with engines (the first four lanes deep), 16 queues,
 * an execution row and a host thread with nesting. */
static struct ntff_trace *bench(size_t n, uint64_t seed)
{
    struct made *s = made_begin();
    uint64_t rng = seed;
    enum { CORES = 8, PER_CORE = 1 + 5 + 16 + 1 };
    uint32_t track[CORES][PER_CORE];
    char name[40], ops[64][24];
    for (int i = 0; i < 64; i++)
        snprintf(ops[i], sizeof ops[i], "%s_%c%c", i % 2 ? "MATMUL" : "ACTIVATE", 'a' + i / 8,
                 'a' + i % 8);
    uint32_t p = made_track(s, NTFF_NONE, NTFF_TRACK_PROCESS, "i-EXAMPLE0 pid 1");
    for (int c = 0; c < CORES; c++) {
        snprintf(name, sizeof name, "NC%02d", c);
        uint32_t g = made_track(s, p, NTFF_TRACK_NC, name);
        for (int k = 0; k < PER_CORE; k++) {
            snprintf(name, sizeof name,
                     k == 0   ? "Execution"
                     : k < 6  ? "Engine %d"
                     : k < 22 ? "q%02d"
                              : "tid %d",
                     k);
            track[c][k] = made_track(s, g,
                                     k == 0   ? NTFF_TRACK_EXEC
                                     : k < 6  ? NTFF_TRACK_ENGINE
                                     : k < 22 ? NTFF_TRACK_DMA
                                              : NTFF_TRACK_THREAD,
                                     name);
        }
    }
    uint64_t t[CORES][PER_CORE] = {{0}};
    uint32_t turn[CORES] = {0};
    for (size_t i = 0; i < n; i++) {
        int c = (int)(i % CORES), k = (int)(random_below(&rng, 64));
        k = k < 40 ? 1 + k % 5 : k < 60 ? 6 + k % 16 : k < 61 ? 0 : 22;
        uint64_t *at = &t[c][k], dur = 50 + random_below(&rng, 600);
        const char *op = ops[random_below(&rng, 64)];
        if (k == 1) { /* four deep: each lane has every fourth */
            made_span(s, track[c][k], turn[c]++ & 3, *at, 97, op);
            *at += 30;
            continue;
        }
        uint32_t e = made_span(s, track[c][k], 0, *at, dur, op);
        if (k == 22 && i + 1 < n) { /* a child */
            made_span(s, track[c][k], 0, *at + dur / 4, dur / 2, "inner");
            i++;
        }
        if (random_below(&rng, 1000000) == 0)
            made_event_of(s, e)->cat = NTFF_CAT_ERROR;
        *at += dur + random_below(&rng, k == 0 ? 20000 : 900);
    }
    return made_end(s);
}

/* Any shape the model allows: random tree, nesting, lanes, flags, counters, flows. */
static struct ntff_trace *any(size_t n, uint64_t seed)
{
    struct made *s = made_begin();
    uint64_t rng = seed;
    enum { MAX_TRACKS = 40 };
    uint32_t n_tracks = 1 + (uint32_t)random_below(&rng, MAX_TRACKS - 1);
    uint64_t open[MAX_TRACKS][4][6] = {{{0}}}, cursor[MAX_TRACKS][4] = {{0}};
    int depth[MAX_TRACKS][4] = {{0}};
    char name[32];
    for (uint32_t i = 0; i < n_tracks; i++) {
        snprintf(name, sizeof name, "track %" PRIu32, i);
        uint32_t parent =
            i == 0 || random_below(&rng, 4) == 0 ? NTFF_NONE : (uint32_t)random_below(&rng, i);
        made_track(s, parent, (int)random_below(&rng, 12), name);
        made_track_of(s, i)->rank = (int32_t)random_below(&rng, 5);
        made_track_of(s, i)->flat = random_below(&rng, 2);
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t k = (uint32_t)random_below(&rng, n_tracks), lane = (uint32_t)random_below(&rng, 4);
        uint64_t *at = &cursor[k][lane];
        int *d = &depth[k][lane];
        if (lane && random_below(&rng, 3))
            lane = 0, at = &cursor[k][0], d = &depth[k][0];
        while (*d > 0 && open[k][lane][*d - 1] <= *at)
            --*d;
        uint64_t room = *d ? open[k][lane][*d - 1] - *at : UINT64_MAX;
        uint64_t dur = random_below(&rng, UINT64_C(1) << (1 + random_below(&rng, 30)));
        dur = dur > room ? room : dur;
        snprintf(name, sizeof name, "op%c", (char)('a' + random_below(&rng, 12)));
        if (random_below(&rng, 20) == 0) {
            uint32_t e = made_instant(s, k, *at, name);
            made_event_of(s, e)->lane = lane & 0x3ff;
            if (random_below(&rng, 4) == 0)
                made_event_of(s, e)->cat = NTFF_CAT_ERROR;
        } else {
            uint32_t e = made_span(s, k, lane, *at, dur, name);
            if (random_below(&rng, 30) == 0) {
                unsigned flag = 1u << (1 + random_below(&rng, 8));
                made_event_of(s, e)->flags = flag & 0x3ffffu;
            }
            if (e && random_below(&rng, 10) == 0)
                made_flow(s, (uint32_t)random_below(&rng, e), e);
            if (*d < 6 && dur > 8 && random_below(&rng, 3) == 0) {
                open[k][lane][(*d)++] = *at + dur;
                *at += random_below(&rng, dur / 2 + 1);
                continue;
            }
            *at += dur;
        }
        *at +=
            random_below(&rng, 3) ? 0 : random_below(&rng, UINT64_C(1) << random_below(&rng, 24));
    }
    for (size_t i = 0; i < n / 4; i++) {
        uint32_t k = (uint32_t)random_below(&rng, n_tracks);
        made_sample(s, k, random_below(&rng, 1000000), (int64_t)random_below(&rng, 2000) - 500);
    }
    return made_end(s);
}

struct ntff_trace *made_make(const char *recipe, size_t n, uint64_t seed)
{
    if (strcmp(recipe, "tour") == 0)
        return tour();
    if (strcmp(recipe, "hostile") == 0)
        return hostile();
    if (strcmp(recipe, "deep") == 0)
        return deep();
    if (strcmp(recipe, "years") == 0)
        return years();
    if (strcmp(recipe, "edge") == 0)
        return edge();
    if (strcmp(recipe, "empty") == 0)
        return empty();
    if (strcmp(recipe, "samples") == 0)
        return samples();
    if (strcmp(recipe, "bench") == 0)
        return bench(n, seed);
    if (strcmp(recipe, "random") == 0)
        return any(n, seed);
    return NULL;
}
