/* unaligned - device events without any clock pair: in device time, on rows of their own, each core
 * moved so that its first execution stands at the begin of the trace. */
#include "proto/place.h"

#include <inttypes.h>
#include <stdio.h>

/* A core whose events keep device time, and how they are moved. */
struct unaligned {
    struct ntff_core_key at;
    uint64_t low_ns, zero_ns; /* first event or sample; what shall stand at the begin */
};

/* What ntff_build_unaligned knows of each track there was when it began. */
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
    struct ntff_core_key at = {b->tracks.v[track].process, b->tracks.v[track].nc,
                               b->tracks.v[track].core};
    for (uint32_t i = 0; t->group == NTFF_NONE && i < s->cores.n; i++)
        if (ntff_core_cmp(&s->cores.v[i].at, &at) == 0)
            t->group = i;
    if (t->group == NTFF_NONE) {
        struct unaligned *u = NTFF_VEC_PUSH(b->budget, &s->cores);
        if (!u)
            return ntff_builder_no_memory(b);
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

/* Begin of what has host time, without what will be dropped for an impossible time: that must not
 * take others with it. */
static void find_begin(struct shifter *s)
{
    const struct ntff_builder *b = s->b;
    uint64_t typical_ns = ntff_build_typical(b, NTFF_EV_UNALIGNED);
    for (size_t i = 0; i < b->events.n; i++) {
        const struct ntff_event *e = &b->events.v[i];
        if (!(e->flags & NTFF_EV_UNALIGNED) && e->ts_ns < s->begin_ns &&
            ntff_build_possible(e->ts_ns, e->dur_ns, typical_ns))
            s->begin_ns = e->ts_ns;
    }
    for (size_t i = 0; i < b->samples.n; i++) {
        const struct ntff_sample *x = &b->samples.v[i];
        if (!b->tracks.v[x->track].unaligned && x->ts_ns < s->begin_ns &&
            ntff_build_possible(x->ts_ns, 0, typical_ns))
            s->begin_ns = x->ts_ns;
    }
}

static bool find_unaligned(struct shifter *s)
{
    struct ntff_builder *b = s->b;
    find_begin(s);
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

static void note_shift(struct ntff_builder *b, const struct ntff_core_key *at, uint64_t shift_ns)
{
    for (size_t i = 0; i < b->zeros.n; i++)
        if (b->zeros.v[i].proc == at->proc && b->zeros.v[i].nc == at->nc &&
            b->zeros.v[i].core == at->core)
            b->zeros.v[i].shift_ns = shift_ns, b->zeros.v[i].moved = true;
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
    for (size_t i = 0; i < s->cores.n; i++)
        note_shift(b, &s->cores.v[i].at, begin + lead - s->cores.v[i].zero_ns);
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

bool ntff_build_unaligned(struct ntff_builder *b)
{
    struct shifter s = {.b = b, .begin_ns = UINT64_MAX};
    bool good = ntff_grow(b->budget, (void **)&s.tracks.v, &s.tracks.cap, 0, b->tracks.n + 1,
                          sizeof *s.tracks.v) ||
                ntff_builder_no_memory(b);
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
