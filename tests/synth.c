/* synth - see synth.h. */
#include "tests/synth.h"

#include "tests/tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct synth *synth_new(void)
{
    static struct synth s;
    if (s.t.strs.slots)
        ntff_strtab_done(&s.t.strs);
    memset(&s, 0, sizeof s);
    TAP_OK(ntff_strtab_init(&s.t.strs, NULL));
    s.t.events = s.events;
    s.t.samples = s.samples;
    s.t.flows = s.flows;
    s.t.tracks = s.tracks;
    s.t.processes = s.processes;
    s.t.schema = ntff_intern(&s.t.strs, "built-in", 8);
    return &s;
}

static ntff_str text(struct synth *s, const char *p)
{
    return ntff_intern(&s->t.strs, p, strlen(p));
}

uint32_t synth_process(struct synth *s, uint64_t pid)
{
    TAP_OK(s->t.n_processes < NTFF_ARRAY_LEN(s->processes));
    uint32_t p = (uint32_t)s->t.n_processes++;
    s->processes[p] = (struct ntff_process){.pid = pid, .worker_gid = -1};
    uint32_t track = synth_track(s, NTFF_NONE, NTFF_TRACK_PROCESS, "worker");
    s->tracks[track].process = p;
    return track;
}

uint32_t synth_track(struct synth *s, uint32_t parent, int kind, const char *name)
{
    TAP_OK(s->t.n_tracks < NTFF_ARRAY_LEN(s->tracks));
    uint32_t i = (uint32_t)s->t.n_tracks++;
    s->tracks[i] =
        (struct ntff_track){.name = text(s, name),
                            .parent = parent,
                            .process = parent == NTFF_NONE ? NTFF_NONE : s->tracks[parent].process,
                            .nc = NTFF_NONE,
                            .core = NTFF_NONE,
                            .n_lanes = 1,
                            .kind = (uint8_t)kind};
    return i;
}

struct ntff_event *synth_span(struct synth *s, uint32_t track, const char *name, uint64_t at,
                              uint64_t dur)
{
    TAP_OK(s->t.n_events < NTFF_ARRAY_LEN(s->events));
    struct ntff_event *e = &s->events[s->t.n_events++];
    *e = (struct ntff_event){.ts_ns = SYNTH_T0 + at,
                             .dur_ns = dur,
                             .start_ref = {0, NTFF_SRC_NONE},
                             .stop_ref = {0, NTFF_SRC_NONE},
                             .name = text(s, name),
                             .track = track};
    return e;
}

struct ntff_event *synth_instant(struct synth *s, uint32_t track, const char *name, uint64_t at)
{
    struct ntff_event *e = synth_span(s, track, name, at, 0);
    e->flags = NTFF_EV_INSTANT;
    return e;
}

void synth_sample(struct synth *s, uint32_t track, uint64_t at, int64_t value)
{
    TAP_OK(s->t.n_samples < NTFF_ARRAY_LEN(s->samples));
    s->samples[s->t.n_samples++] =
        (struct ntff_sample){.ts_ns = SYNTH_T0 + at, .value.i = value, .track = track};
}

static int rank_of(const struct ntff_event *e)
{
    return e->flags & NTFF_EV_INSTANT ? 2 : e->dur_ns == 0;
}

static int event_cmp(const void *a, const void *b)
{
    const struct ntff_event *x = a, *y = b;
    if (x->ts_ns != y->ts_ns)
        return x->ts_ns < y->ts_ns ? -1 : 1;
    if (rank_of(x) != rank_of(y))
        return rank_of(x) - rank_of(y);
    return (x->dur_ns < y->dur_ns) - (x->dur_ns > y->dur_ns);
}

static int sample_cmp(const void *a, const void *b)
{
    const struct ntff_sample *x = a, *y = b;
    return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

struct ntff_trace *synth_done(struct synth *s)
{
    struct ntff_trace *t = &s->t;
    qsort(t->events, t->n_events, sizeof *t->events, event_cmp);
    qsort(t->samples, t->n_samples, sizeof *t->samples, sample_cmp);
    t->begin_ns = UINT64_MAX;
    for (size_t i = 0; i < t->n_events; i++) {
        uint64_t end = ntff_event_end(&t->events[i]);
        t->begin_ns = t->events[i].ts_ns < t->begin_ns ? t->events[i].ts_ns : t->begin_ns;
        t->end_ns = end > t->end_ns ? end : t->end_ns;
    }
    for (size_t i = 0; i < t->n_samples; i++) {
        t->begin_ns = t->samples[i].ts_ns < t->begin_ns ? t->samples[i].ts_ns : t->begin_ns;
        t->end_ns = t->samples[i].ts_ns > t->end_ns ? t->samples[i].ts_ns : t->end_ns;
    }
    return t;
}

void synth_flow(struct synth *s, uint32_t from, uint32_t to)
{
    uint32_t n = (uint32_t)s->t.n_flows++;
    s->flows[n] = (struct ntff_flow){from, to, n + 1, s->events[to].ts_ns < s->events[from].ts_ns};
    s->events[from].flags |= NTFF_EV_FLOW_OUT;
    s->events[to].flags |= NTFF_EV_FLOW_IN;
}

/* -- ready-made traces
 * ----------------------------------------------------------------------------- */

struct ntff_trace *synth_awkward(void)
{
    struct synth *s = synth_new();
    uint32_t p = synth_process(s, 111), q = synth_process(s, 111);
    uint32_t host = synth_track(s, p, NTFF_TRACK_THREAD, "host"),
             two = synth_track(s, q, NTFF_TRACK_THREAD, "");
    uint32_t ncs = synth_track(s, p, NTFF_TRACK_GROUP, "NeuronCores");
    uint32_t exec = synth_track(s, ncs, NTFF_TRACK_EXEC, "Execution");
    uint32_t counters = synth_track(s, p, NTFF_TRACK_GROUP, "Counters");
    uint32_t bytes = synth_track(s, counters, NTFF_TRACK_COUNTER, "HBM");
    uint32_t ratio = synth_track(s, counters, NTFF_TRACK_COUNTER, "CPU");
    uint32_t alone = synth_track(s, NTFF_NONE, NTFF_TRACK_EXEC, "device only");
    s->tracks[host].tid = 7, s->tracks[two].tid = 7, s->tracks[host].n_lanes = 3,
    s->tracks[exec].n_lanes = 2;
    s->tracks[bytes].unit = NTFF_UNIT_BYTES, s->tracks[ratio].unit = NTFF_UNIT_PERCENT;
    s->tracks[ratio].is_double = true;
    s->tracks[alone].n_lanes = 2;

    synth_span(s, host, "outer", 0, 1000);
    synth_span(s, host, "same begin", 0, 500);
    synth_span(s, host, "back to back", 500, 500);
    synth_span(s, host, "empty", 500, 0);
    synth_span(s, host, "empty", 500, 0);
    synth_span(s, host, "after", 1000, 10);
    synth_span(s, host, "crosses", 900, 300)->lane = 1;
    synth_span(s, host, "crosses too", 950, 300)->lane = 2;
    synth_span(s, exec, "run", 100, 50)->cat = NTFF_CAT_EXEC;
    struct ntff_event *e = synth_span(s, exec, "run", 120, 50);
    e->cat = NTFF_CAT_EXEC, e->lane = 1;
    e->flags = NTFF_EV_UNFINISHED | NTFF_EV_ESTIMATED | NTFF_EV_CUT_RIGHT | NTFF_EV_DEVICE;
    for (int i = 0; i < 600; i++) {
        e = synth_instant(s, alone, "storm", 300);
        e->cat = NTFF_CAT_MARK, e->lane = i >= 480; /* as many as one row keeps */
    }
    synth_instant(s, two, "", 300);
    synth_sample(s, bytes, 0, INT64_MAX >> 12);
    synth_sample(s, bytes, 300, -5);
    synth_sample(s, bytes, 5000, 0);
    synth_sample(s, ratio, 300, 0);
    synth_sample(s, ratio, 301, 0);
    s->samples[4].value.d = NAN;
    synth_sample(s, host, 302, 1); /* no counter */
    struct ntff_trace *t = synth_done(s);
    t->samples[3].value.d = NAN; /* order: 0, 300, 300, 301, 302, 5000 */
    return t;
}

struct ntff_trace *synth_flows(void)
{
    struct synth *s = synth_new();
    uint32_t p = synth_process(s, 1), h = synth_track(s, p, NTFF_TRACK_THREAD, "h");
    uint32_t g = synth_track(s, p, NTFF_TRACK_GROUP, "g"),
             x = synth_track(s, g, NTFF_TRACK_EXEC, "x");
    s->tracks[h].tid = 5;
    synth_span(s, h, "wait", 100, 50);
    synth_span(s, x, "run", 110, 10);
    synth_span(s, x, "early", 90, 10);
    synth_span(s, h, "same time", 200, 10);
    synth_span(s, x, "same time", 200, 5);
    synth_instant(s, x, "instant", 300);
    struct ntff_trace *t = synth_done(s); /* early, wait, run, same, same, instant */
    synth_flow(s, 1, 0);
    synth_flow(s, 1, 2);
    synth_flow(s, 3, 4);
    synth_flow(s, 3, 5);
    return t;
}

static uint64_t seed;
static uint64_t rnd(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

static void nest(struct synth *s, uint32_t track, uint32_t lane, uint64_t from, uint64_t to,
                 int depth)
{
    while (from < to && s->t.n_events < 1500) {
        uint64_t begin = from + rnd(3) * rnd(20), dur = rnd(4) ? 1 + rnd(to - from) : 0;
        if (begin + dur > to)
            break;
        synth_span(s, track, rnd(2) ? "a" : "b", begin, dur)->lane = lane & 1023;
        if (depth < 6 && dur > 0 && rnd(2))
            nest(s, track, lane, begin, begin + dur, depth + 1);
        from = begin + dur;
        if (rnd(10) == 0)
            synth_instant(s, track, "i", from)->lane = lane & 1023;
        if (dur == 0 && rnd(3) == 0)
            from++;
    }
}

struct ntff_trace *synth_random(uint64_t from_seed)
{
    seed = from_seed;
    struct synth *s = synth_new();
    uint32_t p = synth_process(s, 1), g = synth_track(s, p, NTFF_TRACK_GROUP, "g");
    for (int i = 0; i < 5; i++) {
        uint32_t row = synth_track(s, g, NTFF_TRACK_ENGINE, "row");
        s->tracks[row].n_lanes = 3;
        for (uint32_t lane = 0; lane < 3; lane++)
            nest(s, row, lane, rnd(50), 50 + rnd(300), 0);
    }
    return synth_done(s);
}

/* -- files
 * ------------------------------------------------------------------------------------------ */

const char *synth_path(const char *name)
{
    static char path[512];
    const char *dir = getenv("TMP");
    snprintf(path, sizeof path, "%s/%s", dir ? dir : "/tmp", name);
    return path;
}

bool synth_check(const char *script, const char *path)
{
    char command[1200];
    const char *src = getenv("SRC");
    if (system("python3 -c pass >/dev/null 2>&1") != 0)
        TAP_SKIP("python3 is missing");
    snprintf(command, sizeof command, "python3 '%s/tests/%s' '%s' >&2", src ? src : ".", script,
             path);
    return system(command) == 0;
}
