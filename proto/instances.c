/* instances - several instances in one trace: each keeps its own host clock, and the trace says so.
 *
 * With --align-instances the ends of common collectives tell how far the clocks are apart
 * (align.c); everything of an instance is then shifted as one, so nothing inside it moves against
 * the rest. What was done, or why nothing could be, is a fact of the instance's first file. */
#include "proto/align.h"
#include "proto/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct instance {
    ntff_str name;
    NTFF_VEC(struct ntff_align_end) ends;
    uint64_t placed_within_ns;
};
typedef NTFF_VEC(struct instance) instance_vec;

/* Index of a process's instance; instances without a name are one. */
static size_t instance_of(const struct ntff_builder *b, const instance_vec *v, uint32_t proc)
{
    size_t i = 0;
    while (i < v->n && v->v[i].name != b->processes.v[proc].instance)
        i++;
    return i;
}

static bool find_instances(struct ntff_builder *b, instance_vec *v)
{
    for (uint32_t p = 0; p < b->processes.n; p++) {
        if (instance_of(b, v, p) < v->n)
            continue;
        struct instance *x = NTFF_VEC_PUSH(b->budget, v);
        if (!x)
            return ntff_builder_no_memory(b);
        *x = (struct instance){.name = b->processes.v[p].instance};
    }
    return true;
}

static uint64_t number(const struct ntff_detail *d, const char *key)
{
    const struct ntff_attr *a = ntff_detail_find(d, key);
    return a && a->kind == NTFF_V_UINT ? a->u : 0;
}

/* Ends of all whole cc_running spans. gid may be a group (the same on all ranks) or a rank's own
 * number (FORMAT.md): with_gid tries the first reading. */
static bool collect_ends(struct ntff_builder *b, instance_vec *v, bool with_gid)
{
    struct ntff_detail d = {0};
    bool good = true;
    for (size_t i = 0; good && i < b->devs.n; i++) {
        const struct ntff_dev *dev = &b->devs.v[i];
        const struct ntff_event *e = &b->events.v[dev->event];
        if (dev->type != NTFF_ET_CC_EXEC || !(dev->has & NTFF_DEV_EXEC) ||
            e->flags &
                (NTFF_EV_UNFINISHED | NTFF_EV_START_LOST | NTFF_EV_UNALIGNED | NTFF_EV_INSTANT))
            continue;
        struct instance *x = &v->v[instance_of(b, v, dev->proc)];
        struct ntff_align_end *end = NTFF_VEC_PUSH(b->budget, &x->ends);
        const struct ntff_core_clock *c = ntff_builder_clock(b, dev->proc, dev->nc, dev->core);
        if (!end || !ntff_detail(b->t, e, &d)) {
            good = ntff_builder_no_memory(b);
            break;
        }
        *end = (struct ntff_align_end){
            .op = number(&d, "op_id") | (with_gid ? number(&d, "gid") << 32 : 0),
            .exec_id = dev->exec_id,
            .end_ns = ntff_event_end(e),
            .rank = c ? (uint32_t)(c - b->clocks.v) : dev->proc << 8 | (dev->nc & 255)};
        if (c && ntff_clock_quality(c->map)->uncertainty_ns > x->placed_within_ns)
            x->placed_within_ns = ntff_clock_quality(c->map)->uncertainty_ns;
    }
    ntff_detail_done(&d);
    return good;
}

static void drop_ends(struct ntff_builder *b, instance_vec *v)
{
    for (size_t i = 0; i < v->n; i++)
        NTFF_VEC_FREE(b->budget, &v->v[i].ends);
}

/* Process of an event: its row's, or where rows hold several, that of its file. */
static uint32_t process_of(const struct ntff_builder *b, const struct ntff_event *e)
{
    uint32_t p = b->tracks.v[e->track].process;
    uint16_t src = e->start_ref.src != NTFF_SRC_NONE ? e->start_ref.src : e->stop_ref.src;
    if (p == NTFF_NONE && src < b->sources.n)
        p = b->files.v[b->sources.v[src].file].process;
    return p;
}

static void shift_all(struct ntff_builder *b, const instance_vec *v,
                      const struct ntff_align_offset *o)
{
#define OFFSET_OF(proc)                                                                            \
    ((proc) < b->processes.n ? (uint64_t)o[instance_of(b, v, (proc))].offset_ns : 0)
    for (size_t i = 0; i < b->events.n; i++)
        b->events.v[i].ts_ns += OFFSET_OF(process_of(b, &b->events.v[i]));
    for (size_t i = 0; i < b->samples.n; i++)
        b->samples.v[i].ts_ns += OFFSET_OF(b->tracks.v[b->samples.v[i].track].process);
    for (size_t i = 0; i < b->rates.n; i++)
        b->rates.v[i].ts_ns += OFFSET_OF(b->tracks.v[b->rates.v[i].track].process);
#undef OFFSET_OF
}

static const char *name_of(const struct ntff_builder *b, const instance_vec *v, size_t i)
{
    const char *name = i < v->n ? ntff_text(&b->t->strs, v->v[i].name) : "";
    return *name ? name : "(unnamed instance)";
}

static bool state_facts(struct ntff_builder *b, const instance_vec *v,
                        const struct ntff_align_offset *o)
{
    for (size_t i = 0; i < v->n; i++) {
        char text[240];
        ntff_align_describe(&o[i], name_of(b, v, o[i].via), text, sizeof text);
        for (uint32_t f = 0; f < b->files.n; f++) {
            uint32_t p = b->files.v[f].process;
            if (p >= b->processes.n || instance_of(b, v, p) != i)
                continue;
            if (!ntff_build_fact(b, f, "instance clock", text, "common collectives"))
                return false;
            break;
        }
    }
    return true;
}

static bool align(struct ntff_builder *b, instance_vec *v)
{
    struct ntff_align_offset *o = ntff_build_take(b, v->n, sizeof *o);
    struct ntff_align_instance *in = ntff_build_take(b, v->n, sizeof *in);
    bool good = o && in, done = false;
    for (int with_gid = 1; good && !done && with_gid >= 0; with_gid--) {
        drop_ends(b, v);
        good = collect_ends(b, v, with_gid);
        for (size_t i = 0; i < v->n; i++)
            in[i] = (struct ntff_align_instance){v->v[i].ends.v, v->v[i].ends.n,
                                                 v->v[i].placed_within_ns};
        if (good && ntff_align(in, v->n, o, NULL) != NTFF_OK)
            good = ntff_builder_no_memory(b);
        for (size_t i = 0; i < v->n; i++)
            done |= o[i].how == NTFF_ALIGN_DONE;
    }
    for (size_t i = 0; good && i < v->n; i++)
        if (o[i].how != NTFF_ALIGN_REFERENCE && o[i].how != NTFF_ALIGN_DONE)
            ntff_diag_add(b->diag, NTFF_DIAG_UNSYNCED, 1, NULL, NTFF_NO_OFFSET, "%.80s",
                          name_of(b, v, i));
    if (good) {
        shift_all(b, v, o);
        good = state_facts(b, v, o);
    }
    drop_ends(b, v);
    ntff_build_give(b, in, v->n, sizeof *in);
    ntff_build_give(b, o, v->n, sizeof *o);
    return good;
}

bool ntff_build_instances(struct ntff_builder *b)
{
    instance_vec v = {0};
    bool good = find_instances(b, &v);
    if (good && v.n > 1 && b->opt->align_instances)
        good = align(b, &v);
    else if (good && v.n > 1)
        ntff_diag_add(b->diag, NTFF_DIAG_UNSYNCED, v.n, NULL, NTFF_NO_OFFSET, NULL);
    NTFF_VEC_FREE(b->budget, &v);
    return good;
}
