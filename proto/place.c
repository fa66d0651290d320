/* place - device events onto host time.
 *
 * cores.c has given every event and every clock pair to a physical core and made one map per core
 * (clock.h); here each event goes through its core's map - unless its recorded time is host time
 * already and was read independently of the pairs, or there is no pair at all (unaligned.c). */
#include "proto/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define HOST_FLOOR_NS (UINT64_C(1) << 59) /* Unix ns; device clocks count from a reset */

/* -- recorded times -----------------------------------------------------------------------------
 */

/* What the recorded timestamps of a process's device events are. */
enum recorded { REC_FORMULA, REC_INDEPENDENT };

static bool recorded_is_host(const struct ntff_dev *d)
{
    return !(d->has & NTFF_DEV_START) ||
           (d->rec_start_ns != d->nc_start_ns && d->rec_start_ns > HOST_FLOOR_NS);
}

#define POINTS_ENOUGH 2048

static bool is_point(const struct ntff_sync *s)
{
    return s->dev == NTFF_NONE && s->exec_id != NTFF_NO_EXEC;
}

/* Sync points by execution and core: of every process so many and up to twice as many, taken
 * evenly. */
static bool pick_points(struct ntff_placer *p, struct ntff_map *points)
{
    struct ntff_builder *b = p->b;
    const struct ntff_sync *s = b->syncs.v;
    for (size_t i = 0, end, n; i < b->syncs.n; i = end) { /* they are sorted by process */
        for (end = i, n = 0; end < b->syncs.n && s[end].proc == s[i].proc; end++)
            n += is_point(&s[end]);
        size_t step = n / (2 * POINTS_ENOUGH) + 1, k = 0;
        for (; i < end; i++) {
            if (!is_point(&s[i]) || k++ % step)
                continue;
            struct ntff_map_slot *m = ntff_map_at(
                points,
                (struct ntff_key){s[i].exec_id, (uint64_t)s[i].proc << 32 | s[i].nc, s[i].core});
            if (!m)
                return ntff_builder_no_memory(b);
            m->value = (uint32_t)i;
        }
    }
    return true;
}

/* Timestamps that are themselves the formula's result tell nothing the pairs do not; others were
 * read independently and are kept. Counted per process: 9 of 10 comparable ones decide. The formula
 * is host = sync.cpu + (nc - sync.nc) with the sync point of the same execution and core [AWS:P2].
 */
static bool compare_recorded(struct ntff_placer *p, struct ntff_map *points, uint32_t (*seen)[2])
{
    struct ntff_builder *b = p->b;
    if (!pick_points(p, points))
        return false;
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

static bool classify(struct ntff_placer *p, uint8_t *kind)
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

/* Rows that several cores share (collectives, events) fall apart when times stay device times: each
 * core has its own origin. */
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

/* In device time for now; ntff_build_unaligned moves it to the begin of the trace. */
static bool leave_unaligned(struct ntff_builder *b, struct ntff_event *e, const struct ntff_dev *d)
{
    bool lost = e->flags & NTFF_EV_START_LOST;
    e->ts_ns = lost ? d->nc_stop_ns : d->nc_start_ns;
    e->dur_ns = d->has & NTFF_DEV_STOP && !lost && d->nc_stop_ns > d->nc_start_ns
                    ? d->nc_stop_ns - d->nc_start_ns
                    : 0;
    e->flags |= NTFF_EV_UNALIGNED;
    b->unaligned = true;
    e->track = row_of_core(b, e->track, d->core);
    return e->track != NTFF_NONE;
}

static bool place_dev(struct ntff_placer *p, struct ntff_dev *d, const uint8_t *recorded,
                      uint32_t *hint)
{
    struct ntff_builder *b = p->b;
    struct ntff_event *e = &b->events.v[d->event];
    bool guessed = false;
    if (d->core == NTFF_NONE) {
        d->core = ntff_placer_core_of(p, d, &guessed);
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
    enum ntff_placed how = aligns && c ? by_map(e, d, c, hint) : NTFF_PLACED_NONE;
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
    uint32_t hint = 0;
    uint64_t n_by[NTFF_PLACED_EXTRAPOLATED + 1], n_cut = 0;
    for (size_t how = 0; how < NTFF_ARRAY_LEN(n_by); how++)
        n_cut += n_by[how] = r->n_cut[how];
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
            b->tracks.v[s->track].unaligned = b->unaligned = true;
    }
    b->unaligned |= n_by[NTFF_PLACED_NONE] > 0;
    if (c) {
        c->n_placed += r->n_events + (uint32_t)n_cut;
        c->n_nearest += (uint32_t)n_by[NTFF_PLACED_NEAREST];
        c->n_extrapolated += (uint32_t)n_by[NTFF_PLACED_EXTRAPOLATED];
        c->n_unplaced += (uint32_t)n_by[NTFF_PLACED_NONE];
    }
    uint64_t n_estimated = n_by[NTFF_PLACED_NEAREST] + n_by[NTFF_PLACED_EXTRAPOLATED];
    uint64_t n_unplaced = n_by[NTFF_PLACED_NONE];
    if (n_estimated)
        ntff_diag_add(b->diag, NTFF_DIAG_CLOCK_ESTIMATED, n_estimated, NULL, NTFF_NO_OFFSET,
                      "device profile of NC%" PRIu32 " core %" PRIu32, r->nc, r->core);
    if (n_unplaced)
        ntff_diag_add(b->diag, NTFF_DIAG_CLOCK_UNALIGNED, n_unplaced, NULL, NTFF_NO_OFFSET,
                      "device profile of NC%" PRIu32 " core %" PRIu32, r->nc, r->core);
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
            return ntff_builder_no_memory(b);
    }
    return true;
}

/* Events are asked for so many steps before they are needed. */
#define AHEAD 16

static bool place_devs(struct ntff_placer *p)
{
    struct ntff_builder *b = p->b;
    NTFF_VEC(uint8_t) recorded = {0};
    uint32_t hint = 0;
    if (!ntff_placer_cores(p) || !ntff_placer_clocks(p))
        return false;
    if (!ntff_grow(b->budget, (void **)&recorded.v, &recorded.cap, 0, b->processes.n + 1, 1))
        return ntff_builder_no_memory(b);
    bool good = b->opt->clock != NTFF_CLOCK_AUTO || classify(p, recorded.v);
    for (size_t i = 0; good && i < b->devs.n; i++) {
        if (i + AHEAD < b->devs.n)
            __builtin_prefetch(&b->events.v[b->devs.v[i + AHEAD].event], 1);
        good = place_dev(p, &b->devs.v[i], recorded.v, &hint);
    }
    NTFF_VEC_FREE(b->budget, &recorded);
    return good;
}

bool ntff_build_clocks(struct ntff_builder *b)
{
    struct ntff_placer p = {.b = b};
    bool good = place_devs(&p);
    NTFF_VEC_FREE(b->budget, &p.cores);
    NTFF_VEC_FREE(b->budget, &p.runs);
    return good;
}

bool ntff_build_place(struct ntff_builder *b)
{
    for (size_t i = 0; i < b->ranges.n; i++)
        place_range(b, &b->ranges.v[i]);
    return describe_cores(b) && (!b->unaligned || ntff_build_unaligned(b));
}
