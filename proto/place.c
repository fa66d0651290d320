/* place - device events onto host time.
 *
 * First every clock pair and every device event is given to a physical core, then each core gets
 * one map (clock.h) over its own pairs, then every event goes through its core's map. Facts behind
 * it (FORMAT.md, "Clocks"): with LNC=2 a logical core has two physical ones, whose clocks have
 * unrelated origins; sync points and collectives carry no physical core. Because the origins
 * differ, the device time itself tells the core: a sync point follows the end of its core's run by
 * tens of microseconds, and a collective lies inside its core's run. Where that does not decide,
 * the offset host - device of a pair does: it is nearly constant on one core. */
#include "proto/builder.h"

#include "proto/sort.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How far a sync point may lie behind the end of the run it belongs to. Drains of tens of ms were
 * seen on first runs [AWS:IMG]; origins of two cores that close together are not told apart by
 * this. */
#define SYNC_BEHIND_NS UINT64_C(100000000)

#define HOST_FLOOR_NS (UINT64_C(1) << 59) /* Unix ns; device clocks count from a reset */

struct core_key {
    uint32_t proc, nc, core;
};

/* A run of a core, for lookups by execution and by time. */
struct run {
    struct core_key at;
    uint64_t exec_id, start_ns, stop_ns;
};

struct placer {
    struct ntff_builder *b;
    NTFF_VEC(struct core_key) cores; /* known physical cores, sorted */
    NTFF_VEC(struct run) runs;       /* sorted by (proc, nc, exec, core, start) */
    NTFF_VEC(struct ntff_clock_pair) pairs;
};

static bool no_memory(struct ntff_builder *b)
{
    b->out_of_memory = true;
    return false;
}

#define CMP(a, b)                                                                                  \
    do {                                                                                           \
        if ((a) != (b))                                                                            \
            return (a) < (b) ? -1 : 1;                                                             \
    } while (0)

static int core_cmp(const void *pa, const void *pb)
{
    const struct core_key *x = pa, *y = pb;
    CMP(x->proc, y->proc);
    CMP(x->nc, y->nc);
    CMP(x->core, y->core);
    return 0;
}

static int run_cmp(const void *pa, const void *pb)
{
    const struct run *x = pa, *y = pb;
    CMP(x->at.proc, y->at.proc);
    CMP(x->at.nc, y->at.nc);
    CMP(x->exec_id, y->exec_id);
    CMP(x->at.core, y->at.core);
    CMP(x->start_ns, y->start_ns);
    return 0;
}

static int sync_cmp(const void *pa, const void *pb)
{
    const struct ntff_sync *x = pa, *y = pb;
    CMP(x->proc, y->proc);
    CMP(x->nc, y->nc);
    CMP(x->core, y->core);
    CMP(x->cpu_ns, y->cpu_ns);
    CMP(x->nc_ns, y->nc_ns);
    return 0;
}

/* Pairs by (process, logical core, physical core if asked for, host time); then by cmp. */
static bool sort_syncs(struct ntff_builder *b, bool by_core, int (*cmp)(const void *, const void *))
{
    const struct ntff_sync *s = b->syncs.v;
    size_t n = b->syncs.n;
    uint64_t proc = 0, nc = 0, core = 0, low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        proc = s[i].proc > proc ? s[i].proc : proc;
        nc = s[i].nc > nc ? s[i].nc : nc;
        core = s[i].core > core ? s[i].core : core;
        low = s[i].cpu_ns < low ? s[i].cpu_ns : low;
        high = s[i].cpu_ns > high ? s[i].cpu_ns : high;
    }
    unsigned bits[4] = {ntff_sort_bits(proc), ntff_sort_bits(nc),
                        by_core ? ntff_sort_bits(core) : 0,
                        high > low ? ntff_sort_bits(high - low) : 0};
    struct ntff_sort_item *keys = ntff_build_take(b, n, sizeof *keys);
    for (size_t i = 0; keys && i < n; i++) {
        struct ntff_sort_key k = {0};
        ntff_sort_key_add(&k, s[i].proc, bits[0]);
        ntff_sort_key_add(&k, s[i].nc, bits[1]);
        ntff_sort_key_add(&k, by_core ? s[i].core : 0, bits[2]);
        if (k.n_bits <= 64)
            ntff_sort_key_add(&k, s[i].cpu_ns - low, bits[3]);
        keys[i] = (struct ntff_sort_item){ntff_sort_key_done(&k), (uint32_t)i};
    }
    bool good = keys && ntff_sort_keyed(b, b->syncs.v, n, sizeof *b->syncs.v, keys, cmp);
    ntff_build_give(b, keys, n, sizeof *keys);
    return good;
}

/* -- which cores there are ----------------------------------------------------------------------
 */

static bool add_core(struct placer *p, uint32_t proc, uint32_t nc, uint32_t core)
{
    struct core_key *k = p->cores.n ? &p->cores.v[p->cores.n - 1] : NULL;
    if (k && k->proc == proc && k->nc == nc && k->core == core)
        return true;
    if (!(k = NTFF_VEC_PUSH(p->b->budget, &p->cores)))
        return no_memory(p->b);
    *k = (struct core_key){proc, nc, core};
    return true;
}

static bool sort_runs(struct placer *p)
{
    struct ntff_builder *b = p->b;
    const struct run *r = p->runs.v;
    size_t n = p->runs.n;
    struct core_key most = {0, 0, 0};
    uint64_t low = UINT64_MAX, high = 0;
    for (size_t i = 0; i < n; i++) {
        most.proc = r[i].at.proc > most.proc ? r[i].at.proc : most.proc;
        most.nc = r[i].at.nc > most.nc ? r[i].at.nc : most.nc;
        most.core = r[i].at.core > most.core ? r[i].at.core : most.core;
        low = r[i].exec_id < low ? r[i].exec_id : low;
        high = r[i].exec_id > high ? r[i].exec_id : high;
    }
    unsigned proc_bits = ntff_sort_bits(most.proc), nc_bits = ntff_sort_bits(most.nc),
             core_bits = ntff_sort_bits(most.core),
             exec_bits = high > low ? ntff_sort_bits(high - low) : 0;
    struct ntff_sort_item *keys = ntff_build_take(b, n, sizeof *keys);
    for (size_t i = 0; keys && i < n; i++) {
        struct ntff_sort_key k = {0};
        ntff_sort_key_add(&k, r[i].at.proc, proc_bits);
        ntff_sort_key_add(&k, r[i].at.nc, nc_bits);
        ntff_sort_key_add(&k, r[i].exec_id - low, exec_bits);
        if (k.n_bits <= 96)
            ntff_sort_key_add(&k, r[i].at.core, core_bits);
        keys[i] = (struct ntff_sort_item){ntff_sort_key_done(&k), (uint32_t)i};
    }
    bool good = keys && ntff_sort_keyed(b, p->runs.v, n, sizeof *p->runs.v, keys, run_cmp);
    ntff_build_give(b, keys, n, sizeof *keys);
    return good;
}

static bool find_cores(struct placer *p)
{
    struct ntff_builder *b = p->b;
    for (size_t i = 0; i < b->devs.n; i++) {
        const struct ntff_dev *d = &b->devs.v[i];
        if (d->core == NTFF_NONE)
            continue;
        if (!add_core(p, d->proc, d->nc, d->core))
            return false;
        if (d->type != NTFF_ET_DEVICE_EXEC || !(d->has & NTFF_DEV_START))
            continue;
        struct run *r = NTFF_VEC_PUSH(b->budget, &p->runs);
        if (!r)
            return no_memory(b);
        *r = (struct run){{d->proc, d->nc, d->core},
                          d->exec_id,
                          d->nc_start_ns,
                          d->has & NTFF_DEV_STOP ? d->nc_stop_ns : d->nc_start_ns};
    }
    ntff_sort(p->cores.v, p->cores.n, sizeof *p->cores.v, core_cmp);
    size_t n = 0;
    for (size_t i = 0; i < p->cores.n; i++)
        if (n == 0 || core_cmp(&p->cores.v[i], &p->cores.v[n - 1]) != 0)
            p->cores.v[n++] = p->cores.v[i];
    p->cores.n = n;
    return sort_runs(p);
}

/* Cores of (proc, nc): first one and how many. */
static const struct core_key *cores_of(const struct placer *p, uint32_t proc, uint32_t nc,
                                       size_t *n)
{
    size_t lo = 0, hi = p->cores.n;
    struct core_key want = {proc, nc, 0};
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (core_cmp(&p->cores.v[mid], &want) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    size_t end = lo;
    while (end < p->cores.n && p->cores.v[end].proc == proc && p->cores.v[end].nc == nc)
        end++;
    *n = end - lo;
    return p->cores.v + lo;
}

/* Runs of one execution on (proc, nc). */
static const struct run *runs_of(const struct placer *p, uint32_t proc, uint32_t nc, uint64_t exec,
                                 size_t *n)
{
    size_t lo = 0, hi = p->runs.n;
    struct run want = {{proc, nc, 0}, exec, 0, 0};
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (run_cmp(&p->runs.v[mid], &want) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    size_t end = lo;
    while (end < p->runs.n && p->runs.v[end].at.proc == proc && p->runs.v[end].at.nc == nc &&
           p->runs.v[end].exec_id == exec)
        end++;
    *n = end - lo;
    return p->runs.v + lo;
}

/* -- giving pairs and events to cores -----------------------------------------------------------
 */

/* Core whose run of this execution a device time fits: inside it, or behind it by at most slack.
 * NTFF_NONE if none or more than one does. */
static uint32_t core_by_run(const struct placer *p, uint32_t proc, uint32_t nc, uint64_t exec,
                            uint64_t nc_ns, uint64_t slack_ns)
{
    size_t n;
    const struct run *r = runs_of(p, proc, nc, exec, &n);
    uint32_t found = NTFF_NONE;
    for (size_t i = 0; i < n; i++) {
        if (nc_ns < r[i].start_ns || (nc_ns > r[i].stop_ns && nc_ns - r[i].stop_ns > slack_ns))
            continue;
        if (found != NTFF_NONE && found != r[i].at.core)
            return NTFF_NONE;
        found = r[i].at.core;
    }
    return found;
}

/* Last offset (host - device, wrapping) seen per core of one logical core. */
struct offsets {
    uint32_t core[64];
    uint64_t offset[64];
    size_t n;
};

static void note_offset(struct offsets *o, uint32_t core, uint64_t offset)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->core[i] == core) {
            o->offset[i] = offset;
            return;
        }
    if (o->n < NTFF_ARRAY_LEN(o->core)) {
        o->core[o->n] = core;
        o->offset[o->n++] = offset;
    }
}

static uint32_t core_by_offset(const struct offsets *o, uint64_t offset)
{
    uint32_t best = NTFF_NONE;
    uint64_t best_far = UINT64_MAX;
    for (size_t i = 0; i < o->n; i++) {
        int64_t d = (int64_t)(offset - o->offset[i]);
        uint64_t far = d < 0 ? 0 - (uint64_t)d : (uint64_t)d;
        if (far < best_far) {
            best_far = far;
            best = o->core[i];
        }
    }
    return best;
}

/* Pairs of one logical core, sorted by host time. The certain ones go first; the others follow the
 * offset their neighbours in time have, looking back and, for those before the first, ahead. */
static void attribute_syncs(struct placer *p, struct ntff_sync *s, size_t n)
{
    struct ntff_builder *b = p->b;
    size_t n_cores, guessed = 0;
    const struct core_key *cores = cores_of(p, s->proc, s->nc, &n_cores);
    for (size_t i = 0; i < n; i++) {
        if (s[i].core != NTFF_NONE)
            continue;
        if (s[i].dev != NTFF_NONE && b->devs.v[s[i].dev].core != NTFF_NONE)
            s[i].core = b->devs.v[s[i].dev].core;
        else if (n_cores == 1)
            s[i].core = cores[0].core;
        else if (n_cores > 1)
            s[i].core = core_by_run(p, s->proc, s->nc, s[i].exec_id, s[i].nc_ns, SYNC_BEHIND_NS);
    }
    for (int back = 0; n_cores > 1 && back < 2; back++) {
        struct offsets o = {.n = 0};
        for (size_t k = 0; k < n; k++) {
            size_t i = back ? n - 1 - k : k;
            uint64_t offset = s[i].cpu_ns - s[i].nc_ns;
            if (s[i].core == NTFF_NONE && (s[i].core = core_by_offset(&o, offset)) != NTFF_NONE)
                guessed++;
            if (s[i].core != NTFF_NONE)
                note_offset(&o, s[i].core, offset);
        }
    }
    if (guessed)
        ntff_diag_add(b->diag, NTFF_DIAG_CORE_ESTIMATED, guessed, NULL, NTFF_NO_OFFSET,
                      "sync points of NC%" PRIu32 " given to a core by their clock offset", s->nc);
}

/* Core of an event without one: by the run it lies in, else by the nearest pair in device time. */
static uint32_t core_of_event(const struct placer *p, const struct ntff_dev *d, bool *guessed)
{
    size_t n;
    const struct core_key *cores = cores_of(p, d->proc, d->nc, &n);
    uint64_t nc_ns = d->has & NTFF_DEV_START ? d->nc_start_ns : d->nc_stop_ns;
    *guessed = false;
    if (n <= 1)
        return n ? cores[0].core : NTFF_NONE;
    if (!(d->has & (NTFF_DEV_START | NTFF_DEV_STOP)))
        return NTFF_NONE;
    uint32_t core =
        d->has & NTFF_DEV_EXEC ? core_by_run(p, d->proc, d->nc, d->exec_id, nc_ns, 0) : NTFF_NONE;
    if (core != NTFF_NONE)
        return core;
    uint64_t best = UINT64_MAX;
    *guessed = true;
    for (size_t i = 0; i < p->b->clocks.n; i++) {
        const struct ntff_core_clock *c = &p->b->clocks.v[i];
        const struct ntff_clock_quality *q = c->map ? ntff_clock_quality(c->map) : NULL;
        if (c->process != d->proc || c->nc != d->nc || c->core == NTFF_NONE || !q || !q->n_pairs)
            continue;
        uint64_t far = nc_ns < q->span_begin_nc_ns ? q->span_begin_nc_ns - nc_ns
                       : nc_ns > q->span_end_nc_ns ? nc_ns - q->span_end_nc_ns
                                                   : 0;
        if (far < best) {
            best = far;
            core = c->core;
        }
    }
    return core;
}

/* -- clocks -------------------------------------------------------------------------------------
 */

struct ntff_core_clock *ntff_builder_clock(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                                           uint32_t core)
{
    size_t lo = 0, hi = b->clocks.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct ntff_core_clock *c = &b->clocks.v[mid];
        struct core_key have = {c->process, c->nc, c->core}, want = {proc, nc, core};
        int r = core_cmp(&have, &want);
        if (r == 0)
            return &b->clocks.v[mid];
        if (r < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static bool residual_track(struct ntff_builder *b, const struct ntff_core_clock *c, uint32_t *track)
{
    struct ntff_track proto = {.kind = NTFF_TRACK_COUNTER,
                               .unit = NTFF_UNIT_NS,
                               .process = c->process,
                               .nc = c->nc,
                               .core = c->core,
                               .rank = 900};
    char name[64];
    uint32_t group = ntff_build_counters(b, c->process);
    if (group == NTFF_NONE)
        return false;
    proto.share_key = ntff_intern(&b->t->strs, "residual", 8);
    if (c->core == NTFF_NONE)
        snprintf(name, sizeof name, "Clock residual NC%" PRIu32, c->nc);
    else
        snprintf(name, sizeof name, "Clock residual NC%" PRIu32 ":%" PRIu32, c->nc, c->core);
    *track = ntff_build_track(b, group, name, &proto);
    return *track != NTFF_NONE;
}

/* One core's map from its pairs s[0..n). */
static bool build_clock(struct placer *p, const struct ntff_sync *s, size_t n)
{
    struct ntff_builder *b = p->b;
    struct ntff_core_clock *c = NTFF_VEC_PUSH(b->budget, &b->clocks);
    if (!c)
        return no_memory(b);
    *c = (struct ntff_core_clock){.process = s->proc, .nc = s->nc, .core = s->core};
    p->pairs.n = 0;
    for (size_t i = 0; i < n; i++) {
        struct ntff_clock_pair *x = NTFF_VEC_PUSH(b->budget, &p->pairs);
        if (!x)
            return no_memory(b);
        *x = (struct ntff_clock_pair){s[i].nc_ns, s[i].cpu_ns, s[i].exec_id};
    }
    if (ntff_clock_build(p->pairs.v, p->pairs.n, b->opt->clock, &c->map, NULL) != NTFF_OK)
        return no_memory(b);
    const struct ntff_clock_quality *q = ntff_clock_quality(c->map);
    if (q->n_resets)
        ntff_diag_add(b->diag, NTFF_DIAG_CLOCK_RESET, q->n_resets, NULL, NTFF_NO_OFFSET,
                      "core %" PRIu32 " of NC%" PRIu32, c->core, c->nc);
    uint32_t track;
    if (n < 2)
        return true;
    if (!residual_track(b, c, &track))
        return false;
    for (size_t i = 0; i < p->pairs.n; i++) {
        int64_t r;
        if (ntff_clock_residual(c->map, &p->pairs.v[i], &r) &&
            !ntff_build_sample(b, track, p->pairs.v[i].cpu_ns, r, 0))
            return false;
        b->t->counts.samples_in -= b->t->counts.samples_in > 0; /* derived, not read */
    }
    return true;
}

static int clock_cmp(const void *pa, const void *pb)
{
    const struct ntff_core_clock *x = pa, *y = pb;
    CMP(x->process, y->process);
    CMP(x->nc, y->nc);
    CMP(x->core, y->core);
    return 0;
}

static int sync_time_cmp(const void *pa, const void *pb)
{
    const struct ntff_sync *x = pa, *y = pb;
    CMP(x->proc, y->proc);
    CMP(x->nc, y->nc);
    CMP(x->cpu_ns, y->cpu_ns);
    CMP(x->nc_ns, y->nc_ns);
    return 0;
}

static bool build_clocks(struct placer *p)
{
    struct ntff_builder *b = p->b;
    struct ntff_sync *s = b->syncs.v;
    size_t n = b->syncs.n, j;
    if (!sort_syncs(b, false, sync_time_cmp))
        return false;
    for (size_t i = 0; i < n; i = j) {
        for (j = i + 1; j < n && s[j].proc == s[i].proc && s[j].nc == s[i].nc; j++)
            ;
        attribute_syncs(p, s + i, j - i);
    }
    if (!sort_syncs(b, true, sync_cmp))
        return false;
    for (size_t i = 0; i < n; i = j) {
        for (j = i + 1;
             j < n && s[j].proc == s[i].proc && s[j].nc == s[i].nc && s[j].core == s[i].core; j++)
            ;
        if (!build_clock(p, s + i, j - i))
            return false;
    }
    size_t with_pairs = b->clocks.n;
    for (size_t i = 0; i < p->cores.n; i++) { /* cores without a single pair have a clock too */
        const struct core_key *k = &p->cores.v[i];
        struct ntff_core_clock want = {.process = k->proc, .nc = k->nc, .core = k->core};
        if (with_pairs && bsearch(&want, b->clocks.v, with_pairs, sizeof want, clock_cmp))
            continue;
        struct ntff_core_clock *c = NTFF_VEC_PUSH(b->budget, &b->clocks);
        if (!c)
            return no_memory(b);
        *c = want;
        if (ntff_clock_build(NULL, 0, b->opt->clock, &c->map, NULL) != NTFF_OK)
            return no_memory(b);
    }
    ntff_sort(b->clocks.v, b->clocks.n, sizeof *b->clocks.v, clock_cmp);
    return true;
}

/* -- recorded times -----------------------------------------------------------------------------
 */

/* What the recorded timestamps of a process's device events are. */
enum recorded { REC_FORMULA, REC_INDEPENDENT };

static bool recorded_is_host(const struct ntff_dev *d)
{
    return !(d->has & NTFF_DEV_START) ||
           (d->rec_start_ns != d->nc_start_ns && d->rec_start_ns > HOST_FLOOR_NS);
}

/* Timestamps that are themselves the formula's result tell nothing the pairs do not; others were
 * read independently and are kept. Counted per process: 9 of 10 comparable ones decide. The formula
 * is host = sync.cpu + (nc - sync.nc) with the sync point of the same execution and core [AWS:P2].
 */
static bool compare_recorded(struct placer *p, struct ntff_map *points, uint32_t (*seen)[2])
{
    struct ntff_builder *b = p->b;
    for (size_t i = 0; i < b->syncs.n; i++) {
        const struct ntff_sync *s = &b->syncs.v[i];
        if (s->dev != NTFF_NONE || s->exec_id == NTFF_NO_EXEC)
            continue;
        struct ntff_map_slot *m = ntff_map_at(
            points, (struct ntff_key){s->exec_id, (uint64_t)s->proc << 32 | s->nc, s->core});
        if (!m)
            return no_memory(b);
        m->value = (uint32_t)i;
    }
    for (size_t i = 0; i < b->devs.n; i++) {
        const struct ntff_dev *d = &b->devs.v[i];
        if (!(d->has & NTFF_DEV_START) || d->has & NTFF_DEV_WHOLE || !recorded_is_host(d))
            continue;
        const struct ntff_map_slot *m = ntff_map_find(
            points, (struct ntff_key){d->exec_id, (uint64_t)d->proc << 32 | d->nc, d->core});
        if (!m)
            continue;
        const struct ntff_sync *s = &b->syncs.v[m->value];
        int64_t off = (int64_t)(s->cpu_ns + (d->nc_start_ns - s->nc_ns) - d->rec_start_ns);
        seen[d->proc][off < -1 || off > 1]++;
    }
    return true;
}

static bool classify(struct placer *p, uint8_t *kind)
{
    struct ntff_builder *b = p->b;
    size_t n_proc = b->processes.n;
    struct ntff_map points = {.budget = b->budget};
    uint32_t(*seen)[2] = ntff_build_take(b, n_proc, sizeof *seen);
    bool good = seen && compare_recorded(p, &points, seen);
    for (size_t i = 0; good && i < n_proc; i++)
        kind[i] = seen[i][0] > 9 * (uint64_t)seen[i][1] ? REC_FORMULA : REC_INDEPENDENT;
    ntff_map_free(&points);
    ntff_build_give(b, seen, n_proc, sizeof *seen);
    return good;
}

/* -- placing ------------------------------------------------------------------------------------
 */

/* Length of a span whose recorded times are kept. The vendor takes STOP.nc - START.nc [AWS:IMG];
 * the recorded times say the same on the host's scale, unless they were adjusted by different
 * pairs. So: the recorded difference where the two agree within the drift a clock can have, else
 * the device's. */
static uint64_t kept_length(const struct ntff_dev *d)
{
    uint64_t rec = d->rec_stop_ns > d->rec_start_ns ? d->rec_stop_ns - d->rec_start_ns : 0;
    if (!(d->has & NTFF_DEV_START) || !(d->has & NTFF_DEV_STOP) || d->nc_stop_ns < d->nc_start_ns)
        return rec;
    uint64_t dev = d->nc_stop_ns - d->nc_start_ns, off = rec > dev ? rec - dev : dev - rec;
    return off <= dev / 5000 + 2 ? rec : dev; /* 200 ppm */
}

static void keep_recorded(struct ntff_event *e, const struct ntff_dev *d, struct ntff_core_clock *c)
{
    if (c)
        c->n_recorded++;
    e->ts_ns = e->flags & NTFF_EV_START_LOST ? d->rec_stop_ns : d->rec_start_ns;
    if (!(d->has & NTFF_DEV_WHOLE) && e->stop_ref.src != NTFF_SRC_NONE &&
        !(e->flags & (NTFF_EV_START_LOST | NTFF_EV_NEGATIVE)))
        e->dur_ns = kept_length(d);
}

static enum ntff_placed by_map(struct ntff_event *e, const struct ntff_dev *d,
                               const struct ntff_core_clock *c, uint32_t *hint)
{
    const struct ntff_clock_map *m = c->map;
    uint64_t near_ns = d->near_ns ? d->near_ns : NTFF_ANY_TIME;
    bool formula = ntff_clock_quality(m)->used == NTFF_CLOCK_SYNC_POINT;
    if (e->flags & NTFF_EV_START_LOST)
        return ntff_clock_host_near(m, d->nc_stop_ns, d->exec_id, near_ns, hint, &e->ts_ns);
    if (formula && d->has & NTFF_DEV_CPU_START) { /* its own pair: no other is needed */
        e->ts_ns = d->cpu_start_ns;
        if (d->has & NTFF_DEV_STOP)
            e->dur_ns = d->nc_stop_ns > d->nc_start_ns ? d->nc_stop_ns - d->nc_start_ns : 0;
        return NTFF_PLACED_EXACT;
    }
    if (d->has & NTFF_DEV_STOP && !(e->flags & NTFF_EV_NEGATIVE))
        return ntff_clock_span_near(m, d->nc_start_ns, d->nc_stop_ns, d->exec_id, near_ns, hint,
                                    &e->ts_ns, &e->dur_ns);
    e->dur_ns = 0;
    return ntff_clock_host_near(m, d->nc_start_ns, d->exec_id, near_ns, hint, &e->ts_ns);
}

/* Rows that several cores share (collectives, events) fall apart when times stay device times: each core has
 * its own origin. */
static uint32_t row_of_core(struct ntff_builder *b, uint32_t track, uint32_t core)
{
    struct ntff_track proto = b->tracks.v[track];
    char name[160];
    if (proto.core != NTFF_NONE || core == NTFF_NONE)
        return track;
    snprintf(name, sizeof name, "%.128s core %" PRIu32, ntff_text(&b->t->strs, proto.name), core);
    proto.core = core;
    return ntff_build_track(b, proto.parent, name, &proto);
}

/* In device time for now; shift_unaligned moves it to the begin of the trace. */
static bool leave_unaligned(struct ntff_builder *b, struct ntff_event *e, const struct ntff_dev *d)
{
    bool lost = e->flags & NTFF_EV_START_LOST;
    e->ts_ns = lost ? d->nc_stop_ns : d->nc_start_ns;
    e->dur_ns = d->has & NTFF_DEV_STOP && !lost && d->nc_stop_ns > d->nc_start_ns
                    ? d->nc_stop_ns - d->nc_start_ns
                    : 0;
    e->flags |= NTFF_EV_UNALIGNED;
    e->track = row_of_core(b, e->track, d->core);
    return e->track != NTFF_NONE;
}

static bool place_dev(struct placer *p, struct ntff_dev *d, const uint8_t *recorded, uint32_t *hint)
{
    struct ntff_builder *b = p->b;
    struct ntff_event *e = &b->events.v[d->event];
    bool guessed = false;
    if (d->core == NTFF_NONE) {
        d->core = core_of_event(p, d, &guessed);
        uint32_t track =
            ntff_build_device_row(b, d->proc, d->nc, d->core, d->type, e->flags & NTFF_EV_INSTANT);
        if (track == NTFF_NONE)
            return false;
        e->track = track;
    }
    if (guessed) {
        e->flags |= NTFF_EV_ESTIMATED;
        ntff_diag_add(b->diag, NTFF_DIAG_CORE_ESTIMATED, 1, NULL, NTFF_NO_OFFSET,
                      "an event of NC%" PRIu32 " that names no core", d->nc);
    }
    struct ntff_core_clock *c = ntff_builder_clock(b, d->proc, d->nc, d->core);
    enum ntff_clock_mode mode = b->opt->clock;
    bool has_nc = d->has & (NTFF_DEV_START | NTFF_DEV_STOP) && !(d->has & NTFF_DEV_WHOLE);
    bool lost = e->flags & NTFF_EV_START_LOST;
    bool host = lost ? d->rec_stop_ns != d->nc_stop_ns && d->rec_stop_ns > HOST_FLOOR_NS
                     : recorded_is_host(d);
    if (!has_nc || (mode == NTFF_CLOCK_RECORDED && host) ||
        (mode == NTFF_CLOCK_AUTO && host && recorded[d->proc] == REC_INDEPENDENT)) {
        keep_recorded(e, d, c);
        return true;
    }
    bool aligns = mode != NTFF_CLOCK_DEVICE && mode != NTFF_CLOCK_RECORDED; /* else raw stays raw */
    enum ntff_placed how =
        aligns && c ? by_map(e, d, c, hint) : NTFF_PLACED_NONE;
    if (how == NTFF_PLACED_NONE && host && aligns) {
        keep_recorded(e, d, c);
        return true;
    }
    if (c) {
        c->n_placed++;
        c->n_nearest += how == NTFF_PLACED_NEAREST;
        c->n_extrapolated += how == NTFF_PLACED_EXTRAPOLATED;
        c->n_unplaced += how == NTFF_PLACED_NONE;
    }
    if (how == NTFF_PLACED_NONE) {
        if (!leave_unaligned(b, e, d))
            return false;
        ntff_diag_add(b->diag, NTFF_DIAG_CLOCK_UNALIGNED, 1, NULL, NTFF_NO_OFFSET,
                      "NC%" PRIu32 " core %" PRIu32, d->nc, d->core);
    } else if (how != NTFF_PLACED_EXACT) {
        e->flags |= NTFF_EV_ESTIMATED;
        ntff_diag_add(b->diag, NTFF_DIAG_CLOCK_ESTIMATED, 1, NULL, NTFF_NO_OFFSET,
                      "NC%" PRIu32 " core %" PRIu32, d->nc, d->core);
    }
    return true;
}

/* Events of device profiles: already on their core's device clock. */
static void place_range(struct ntff_builder *b, const struct ntff_range *r)
{
    struct ntff_core_clock *c = ntff_builder_clock(b, r->proc, r->nc, r->core);
    bool align = c && b->opt->clock != NTFF_CLOCK_DEVICE && ntff_clock_quality(c->map)->n_pairs;
    uint32_t hint = 0, n_by[NTFF_PLACED_EXTRAPOLATED + 1] = {0};
    for (uint32_t i = 0; i < r->n_events; i++) {
        struct ntff_event *e = &b->events.v[r->first_event + i];
        enum ntff_placed how = NTFF_PLACED_NONE;
        if (align)
            how = ntff_clock_span(c->map, e->ts_ns, e->ts_ns + e->dur_ns, NTFF_NO_EXEC, &hint,
                                  &e->ts_ns, &e->dur_ns);
        if (how == NTFF_PLACED_NONE)
            e->flags |= NTFF_EV_UNALIGNED;
        else if (how != NTFF_PLACED_EXACT)
            e->flags |= NTFF_EV_ESTIMATED;
        n_by[how]++;
    }
    for (uint32_t i = 0; i < r->n_samples; i++) {
        struct ntff_sample *s = &b->samples.v[r->first_sample + i];
        if (!align ||
            ntff_clock_host(c->map, s->ts_ns, NTFF_NO_EXEC, &hint, &s->ts_ns) == NTFF_PLACED_NONE)
            b->tracks.v[s->track].unaligned = true;
    }
    if (c) {
        c->n_placed += r->n_events;
        c->n_nearest += n_by[NTFF_PLACED_NEAREST];
        c->n_extrapolated += n_by[NTFF_PLACED_EXTRAPOLATED];
        c->n_unplaced += n_by[NTFF_PLACED_NONE];
    }
    uint32_t n_estimated = n_by[NTFF_PLACED_NEAREST] + n_by[NTFF_PLACED_EXTRAPOLATED];
    uint32_t n_unplaced = n_by[NTFF_PLACED_NONE];
    if (n_estimated)
        ntff_diag_add(b->diag, NTFF_DIAG_CLOCK_ESTIMATED, n_estimated, NULL, NTFF_NO_OFFSET,
                      "device profile of NC%" PRIu32 " core %" PRIu32, r->nc, r->core);
    if (n_unplaced)
        ntff_diag_add(b->diag, NTFF_DIAG_CLOCK_UNALIGNED, n_unplaced, NULL, NTFF_NO_OFFSET,
                      "device profile of NC%" PRIu32 " core %" PRIu32, r->nc, r->core);
}

/* -- what could not be aligned -------------------------------------------------------------------
 */

/* A core whose events keep device time, and how they are moved. */
struct unaligned {
    struct core_key at;
    uint64_t low_ns, zero_ns; /* first event or sample; what shall stand at the begin */
};

/* What shift_unaligned knows of each track there was when it began. */
struct unaligned_track {
    uint32_t group; /* index into .cores, NTFF_NONE: nothing of it is unaligned */
    uint32_t row;   /* where its events go */
};

struct shifter {
    struct ntff_builder *b;
    NTFF_VEC(struct unaligned) cores;
    NTFF_VEC(struct unaligned_track) tracks;
    uint64_t begin_ns; /* first aligned event; UINT64_MAX: there is none */
};

/* A twin of a device row below "Device clock, not aligned". Where nothing at all is aligned - a
 * device profile alone - rows stay where they are. */
static uint32_t unaligned_row(struct shifter *s, uint32_t track)
{
    struct ntff_builder *b = s->b;
    char name[160];
    if (s->begin_ns == UINT64_MAX) {
        b->tracks.v[track].unaligned = true;
        return track;
    }
    struct ntff_track proto = b->tracks.v[track];
    uint32_t process =
        ntff_build_process_track(b, proto.process, proto.nc == NTFF_NONE ? 0 : proto.nc);
    if (process == NTFF_NONE)
        return NTFF_NONE;
    struct ntff_track group = {.kind = NTFF_TRACK_GROUP,
                               .process = proto.process,
                               .nc = NTFF_NONE,
                               .core = NTFF_NONE,
                               .rank = INT32_MAX - 1,
                               .unaligned = true};
    uint32_t g = ntff_build_track(b, process, "Device clock, not aligned", &group);
    if (g == NTFF_NONE)
        return NTFF_NONE;
    if (proto.core == NTFF_NONE ||
        proto.kind == NTFF_TRACK_EXEC) /* those name their core themselves */
        snprintf(name, sizeof name, "NC%" PRIu32 " %.128s", proto.nc,
                 ntff_text(&b->t->strs, proto.name));
    else
        snprintf(name, sizeof name, "NC%" PRIu32 ":%" PRIu32 " %.120s", proto.nc, proto.core,
                 ntff_text(&b->t->strs, proto.name));
    proto.unaligned = true;
    return ntff_build_track(b, g, name, &proto);
}

static bool add_unaligned(struct shifter *s, uint32_t track, uint64_t ts_ns)
{
    struct ntff_builder *b = s->b;
    struct unaligned_track *t = &s->tracks.v[track];
    struct core_key at = {b->tracks.v[track].process, b->tracks.v[track].nc,
                          b->tracks.v[track].core};
    for (uint32_t i = 0; t->group == NTFF_NONE && i < s->cores.n; i++)
        if (core_cmp(&s->cores.v[i].at, &at) == 0)
            t->group = i;
    if (t->group == NTFF_NONE) {
        struct unaligned *u = NTFF_VEC_PUSH(b->budget, &s->cores);
        if (!u)
            return no_memory(b);
        *u = (struct unaligned){at, UINT64_MAX, UINT64_MAX};
        t->group = (uint32_t)(s->cores.n - 1);
        for (size_t i = 0; i < b->zeros.n; i++)
            if (b->zeros.v[i].proc == at.proc && b->zeros.v[i].nc == at.nc &&
                b->zeros.v[i].core == at.core)
                u->zero_ns = b->zeros.v[i].ns;
    }
    if (t->row == NTFF_NONE && (t->row = unaligned_row(s, track)) == NTFF_NONE)
        return false;
    struct unaligned *u = &s->cores.v[t->group];
    u->low_ns = ts_ns < u->low_ns ? ts_ns : u->low_ns;
    return true;
}

static bool find_unaligned(struct shifter *s)
{
    struct ntff_builder *b = s->b;
    for (size_t i = 0; i < b->events.n; i++) {
        const struct ntff_event *e = &b->events.v[i];
        if (!(e->flags & NTFF_EV_UNALIGNED) && e->ts_ns < s->begin_ns)
            s->begin_ns = e->ts_ns;
    }
    for (size_t i = 0; i < b->samples.n; i++) {
        const struct ntff_sample *x = &b->samples.v[i];
        if (!b->tracks.v[x->track].unaligned && x->ts_ns < s->begin_ns)
            s->begin_ns = x->ts_ns;
    }
    for (size_t i = 0; i < b->events.n; i++) {
        const struct ntff_event *e = &b->events.v[i];
        if (e->flags & NTFF_EV_UNALIGNED && !add_unaligned(s, e->track, e->ts_ns))
            return false;
    }
    for (size_t i = 0; i < b->samples.n; i++) {
        const struct ntff_sample *x = &b->samples.v[i];
        if (b->tracks.v[x->track].unaligned && !add_unaligned(s, x->track, x->ts_ns))
            return false;
    }
    return true;
}

/* Moves every unaligned core so that its first execution (else its first record) stands at the
 * begin of the trace. What happened before those moves the begin, for all cores alike. */
static void move_unaligned(struct shifter *s)
{
    struct ntff_builder *b = s->b;
    uint64_t begin = s->begin_ns == UINT64_MAX ? 0 : s->begin_ns, lead = 0;
    for (size_t i = 0; i < s->cores.n; i++) {
        struct unaligned *u = &s->cores.v[i];
        u->zero_ns = u->zero_ns == UINT64_MAX ? u->low_ns : u->zero_ns;
        if (u->zero_ns > u->low_ns && u->zero_ns - u->low_ns > lead)
            lead = u->zero_ns - u->low_ns;
    }
    for (size_t i = 0; i < b->events.n; i++) {
        struct ntff_event *e = &b->events.v[i];
        if (!(e->flags & NTFF_EV_UNALIGNED))
            continue;
        const struct unaligned_track *t = &s->tracks.v[e->track];
        e->ts_ns = begin + lead + (e->ts_ns - s->cores.v[t->group].zero_ns);
        e->track = t->row;
    }
    for (size_t i = 0; i < b->samples.n; i++) {
        struct ntff_sample *x = &b->samples.v[i];
        if (x->track >= s->tracks.n || s->tracks.v[x->track].group == NTFF_NONE)
            continue;
        const struct unaligned_track *t = &s->tracks.v[x->track];
        if (!b->tracks.v[x->track].unaligned)
            continue;
        x->ts_ns = begin + lead + (x->ts_ns - s->cores.v[t->group].zero_ns);
        x->track = t->row;
    }
}

static bool shift_unaligned(struct ntff_builder *b)
{
    struct shifter s = {.b = b, .begin_ns = UINT64_MAX};
    bool good = ntff_grow(b->budget, (void **)&s.tracks.v, &s.tracks.cap, 0, b->tracks.n + 1,
                          sizeof *s.tracks.v) ||
                no_memory(b);
    s.tracks.n = good ? b->tracks.n : 0;
    for (size_t i = 0; i < s.tracks.n; i++)
        s.tracks.v[i] = (struct unaligned_track){NTFF_NONE, NTFF_NONE};
    good = good && find_unaligned(&s);
    if (good && s.cores.n)
        move_unaligned(&s);
    NTFF_VEC_FREE(b->budget, &s.tracks);
    NTFF_VEC_FREE(b->budget, &s.cores);
    return good;
}

static bool describe_cores(struct ntff_builder *b)
{
    char text[240];
    for (size_t i = 0; i < b->tracks.n; i++) {
        struct ntff_track *t = &b->tracks.v[i];
        if (t->kind != NTFF_TRACK_EXEC && t->kind != NTFF_TRACK_ENGINE)
            continue;
        const struct ntff_core_clock *c = ntff_builder_clock(b, t->process, t->nc, t->core);
        if (!c || t->description)
            continue;
        ntff_clock_describe(c->map, text, sizeof text);
        t->description = ntff_intern(&b->t->strs, text, strlen(text));
        if (t->description == NTFF_STR_NONE)
            return no_memory(b);
    }
    return true;
}

static bool place_all(struct placer *p)
{
    struct ntff_builder *b = p->b;
    NTFF_VEC(uint8_t) recorded = {0};
    uint32_t hint = 0;
    if (!find_cores(p) || !build_clocks(p))
        return false;
    if (!ntff_grow(b->budget, (void **)&recorded.v, &recorded.cap, 0, b->processes.n + 1, 1))
        return no_memory(b);
    bool good = b->opt->clock != NTFF_CLOCK_AUTO || classify(p, recorded.v);
    for (size_t i = 0; good && i < b->devs.n; i++)
        good = place_dev(p, &b->devs.v[i], recorded.v, &hint);
    NTFF_VEC_FREE(b->budget, &recorded);
    for (size_t i = 0; good && i < b->ranges.n; i++)
        place_range(b, &b->ranges.v[i]);
    return good && describe_cores(b) && shift_unaligned(b);
}

bool ntff_build_place(struct ntff_builder *b)
{
    struct placer p = {.b = b};
    bool good = place_all(&p);
    NTFF_VEC_FREE(b->budget, &p.cores);
    NTFF_VEC_FREE(b->budget, &p.runs);
    NTFF_VEC_FREE(b->budget, &p.pairs);
    return good;
}
