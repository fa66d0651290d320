/* figures_device - engines, DMA and throttling, from device profiles. Engines retire one
 * instruction after another but overlap several; queues run side by side: what counts as active is
 * the union, what the sums say is work done. */
#include "conv/figures_priv.h"

#include <stdlib.h>
#include <string.h>

static bool make_tables(struct conv_pass *p)
{
    size_t n = p->f->t->n_tracks;
    if (p->device_of_track)
        return true;
    p->device_of_track = malloc(n * sizeof *p->device_of_track);
    p->engine_of_track = malloc(n * sizeof *p->engine_of_track);
    if (!p->device_of_track || !p->engine_of_track)
        return false;
    memset(p->device_of_track, 0xff, n * sizeof *p->device_of_track);
    memset(p->engine_of_track, 0xff, n * sizeof *p->engine_of_track);
    return true;
}

/* Index of the physical core of a track; NTFF_NONE when memory ran out. */
static uint32_t device_at(struct conv_pass *p, uint32_t track)
{
    struct conv_figures *f = p->f;
    const struct ntff_track *t = &f->t->tracks[track];
    uint32_t *at = &p->device_of_track[track];
    for (size_t i = 0; *at == NTFF_NONE && i < f->devices.n; i++) {
        const struct conv_device *d = &f->devices.v[i];
        if (d->process == t->process && d->nc == t->nc && d->core == t->core)
            *at = (uint32_t)i;
    }
    if (*at == NTFF_NONE) {
        struct conv_device *d = NTFF_VEC_PUSH(NULL, &f->devices);
        struct conv_device_pass *dp = NTFF_VEC_PUSH(NULL, &p->devices);
        if (!d || !dp)
            return NTFF_NONE;
        *d = (struct conv_device){
            .process = t->process, .nc = t->nc, .core = t->core, .begin_ns = UINT64_MAX};
        *dp = (struct conv_device_pass){0};
        *at = (uint32_t)(f->devices.n - 1);
    }
    return *at;
}

static void widen(struct conv_device *d, const struct ntff_event *e)
{
    d->begin_ns = e->ts_ns < d->begin_ns ? e->ts_ns : d->begin_ns;
    d->end_ns = ntff_event_end(e) > d->end_ns ? ntff_event_end(e) : d->end_ns;
}

static bool take_instruction(struct conv_pass *p, const struct ntff_event *e, enum conv_shape shape,
                             uint32_t device)
{
    struct conv_figures *f = p->f;
    uint32_t *at = &p->engine_of_track[e->track];
    if (*at == NTFF_NONE) {
        struct conv_engine *x = NTFF_VEC_PUSH(NULL, &f->engines);
        uint64_t *end = NTFF_VEC_PUSH(NULL, &p->engine_end_ns);
        if (!x || !end)
            return false;
        *x = (struct conv_engine){.track = e->track, .device = device};
        *end = 0;
        *at = (uint32_t)(f->engines.n - 1);
    }
    struct conv_engine *x = &f->engines.v[*at];
    x->n_partial += shape == CONV_PARTIAL;
    if (shape == CONV_SPAN)
        conv_lengths_add(&x->lengths, e->dur_ns);
    if (shape == CONV_SPAN || conv_is_cut(e)) {
        x->active_ns += conv_union_add(&p->engine_end_ns.v[*at], e->ts_ns, ntff_event_end(e));
        if (f->t->tracks[e->track].kind == NTFF_TRACK_ENGINE)
            f->devices.v[device].active_ns +=
                conv_union_add(&p->devices.v[device].engine_end_ns, e->ts_ns, ntff_event_end(e));
        widen(&f->devices.v[device], e);
    }
    return true;
}

static bool take_packet(struct conv_pass *p, const struct ntff_event *e, enum conv_shape shape,
                        uint32_t device)
{
    struct conv_device *d = &p->f->devices.v[device];
    if (shape == CONV_INSTANT) /* descriptors, bus requests */
        return true;
    d->n_packets++;
    if (p->engine_of_track[e->track] == NTFF_NONE) {
        p->engine_of_track[e->track] = 0;
        d->n_queues++;
    }
    d->n_partial += shape == CONV_PARTIAL;
    if (shape == CONV_SPAN) {
        if (!ntff_detail(p->f->t, e, &p->detail))
            return false;
        const struct ntff_attr *bytes = ntff_detail_find(&p->detail, "bytes");
        if (bytes && bytes->kind == NTFF_V_UINT) {
            d->bytes += bytes->u;
            d->n_sized++;
        }
        conv_lengths_add(&d->packets, e->dur_ns);
    } else if (!conv_is_cut(e)) {
        return true;
    }
    d->dma_active_ns +=
        conv_union_add(&p->devices.v[device].dma_end_ns, e->ts_ns, ntff_event_end(e));
    widen(d, e);
    return true;
}

bool conv_device_take(struct conv_pass *p, const struct ntff_event *e, enum conv_shape shape)
{
    bool throttle = e->cat == NTFF_CAT_MARK && shape == CONV_INSTANT &&
                    strcmp(ntff_str_of(p->f->t, e->name), "throttle") == 0;
    if (e->cat == NTFF_CAT_MARK && !throttle)
        return true;
    if (!make_tables(p))
        return false;
    uint32_t device = device_at(p, e->track);
    if (device == NTFF_NONE)
        return false;
    if (throttle) {
        p->f->devices.v[device].n_throttles++;
        return true;
    }
    return e->cat == NTFF_CAT_INSTR ? take_instruction(p, e, shape, device)
                                    : take_packet(p, e, shape, device);
}

static int by_track(const void *pa, const void *pb)
{
    const struct conv_engine *a = pa, *b = pb;
    return a->track < b->track ? -1 : a->track > b->track;
}

static int by_place(const void *pa, const void *pb, void *user)
{
    const struct conv_device *all = user;
    const struct conv_device *a = &all[*(const uint32_t *)pa], *b = &all[*(const uint32_t *)pb];
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->nc != b->nc)
        return a->nc < b->nc ? -1 : 1;
    return a->core < b->core ? -1 : a->core > b->core;
}

/* Sorts the cores, and lets the engines follow. */
static bool sort_devices(struct conv_figures *f)
{
    size_t n = f->devices.n;
    uint32_t *order = calloc(n, sizeof *order), *now = calloc(n, sizeof *now);
    struct conv_device *sorted = calloc(n, sizeof *sorted);
    bool good = order && now && sorted;
    for (uint32_t i = 0; good && i < n; i++)
        order[i] = i;
    if (good) {
        qsort_r(order, n, sizeof *order, by_place, f->devices.v);
        for (uint32_t i = 0; i < n; i++) {
            sorted[i] = f->devices.v[order[i]];
            now[order[i]] = i;
        }
        memcpy(f->devices.v, sorted, n * sizeof *sorted);
        for (size_t i = 0; i < f->engines.n; i++)
            f->engines.v[i].device = now[f->engines.v[i].device];
    }
    free(order);
    free(now);
    free(sorted);
    return good;
}

bool conv_device_finish(struct conv_pass *p)
{
    struct conv_figures *f = p->f;
    for (size_t i = 0; i < f->devices.n; i++)
        if (f->devices.v[i].begin_ns == UINT64_MAX)
            f->devices.v[i].begin_ns = f->devices.v[i].end_ns = 0;
    ntff_sort(f->engines.v, f->engines.n, sizeof *f->engines.v, by_track);
    return f->devices.n == 0 || sort_devices(f);
}

void conv_device_done(struct conv_pass *p)
{
    NTFF_VEC_FREE(NULL, &p->devices);
    NTFF_VEC_FREE(NULL, &p->engine_end_ns);
    free(p->device_of_track);
    free(p->engine_of_track);
}
