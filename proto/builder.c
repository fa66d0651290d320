/* builder - what decoders and the steps of a load share: memory within the budget, sources, facts,
 * progress, and the events and samples of device profiles. */
#include "proto/builder.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct ntff_trace *ntff_build_trace(struct ntff_builder *b)
{
    return b->t;
}
struct ntff_diag *ntff_build_diag(struct ntff_builder *b)
{
    return b->diag;
}
const struct ntff_load_options *ntff_build_options(struct ntff_builder *b)
{
    return b->opt;
}
const struct ntff_schema *ntff_build_schema(struct ntff_builder *b)
{
    return b->schema;
}
const char *ntff_build_path(struct ntff_builder *b, uint32_t file)
{
    return file < b->files.n ? ntff_text(&b->t->strs, b->files.v[file].path) : "";
}
void ntff_builder_found(struct ntff_builder *b, enum ntff_diag_kind kind, struct ntff_ref ref,
                        const char *fmt, ...)
{
    const char *file = NULL;
    uint64_t offset = NTFF_NO_OFFSET;
    if (ref.src < b->sources.n) {
        const struct ntff_source *s = &b->sources.v[ref.src];
        file = ntff_build_path(b, s->file);
        offset = s->kind == NTFF_SOURCE_STORE ? NTFF_NO_OFFSET : s->file_off + ref.off;
    }
    va_list ap;
    va_start(ap, fmt);
    ntff_diag_addv(b->diag, kind, 1, file, offset, fmt, ap);
    va_end(ap);
}
struct ntff_file *ntff_build_file(struct ntff_builder *b, uint32_t file)
{
    return &b->files.v[file];
}

void *ntff_build_take(struct ntff_builder *b, size_t n, size_t elem)
{
    size_t bytes;
    void *p = NULL;
    if (ntff_mul_ok(n ? n : 1, elem, &bytes) && ntff_budget_take(b->budget, bytes) &&
        !(p = calloc(1, bytes)))
        ntff_budget_give(b->budget, bytes);
    if (!p)
        return ntff_builder_no_memory(b), NULL;
    ntff_mem_hint(p, bytes);
    return p;
}

void ntff_build_give(struct ntff_builder *b, void *p, size_t n, size_t elem)
{
    if (p)
        ntff_budget_give(b->budget, (n ? n : 1) * elem);
    free(p);
}

struct ntff_build_mark ntff_build_mark(const struct ntff_builder *b)
{
#define N(field) .field = b->field.n,
    return (struct ntff_build_mark){NTFF_BUILD_FILLED(N)};
#undef N
}

/* Only an expectation: where memory is short, arrays grow as they need to. */
static void make_room(struct ntff_budget *m, void **v, size_t *cap, size_t n, size_t more,
                      size_t elem)
{
    size_t bytes, left = m->max_bytes ? m->max_bytes - m->used_bytes : SIZE_MAX;
    if (more && ntff_mul_ok(more, elem, &bytes) && bytes < left / 8)
        (void)!ntff_grow(m, v, cap, n, more, elem);
}

void ntff_build_expect(struct ntff_builder *b, const struct ntff_build_mark *since, size_t times)
{
#define MAKE_ROOM(f)                                                                               \
    make_room(b->budget, (void **)&b->f.v, &b->f.cap, b->f.n, (b->f.n - since->f) * times,         \
              sizeof *b->f.v);
    NTFF_BUILD_FILLED(MAKE_ROOM)
#undef MAKE_ROOM
}

bool ntff_build_progress(struct ntff_builder *b, const char *what, uint64_t done, uint64_t all)
{
    if (b->cancelled)
        return false;
    int permille = all ? (int)((done > all ? all : done) / (all / 1000 + 1)) : 0;
    if (b->opt->progress && b->opt->progress(b->opt->progress_user, what, permille))
        b->cancelled = true;
    return !b->cancelled;
}

uint32_t ntff_build_source(struct ntff_builder *b, const struct ntff_source *src)
{
    if (b->sources.n >= NTFF_SRC_NONE)
        return NTFF_NONE;
    struct ntff_source *s = NTFF_VEC_PUSH(b->budget, &b->sources);
    if (!s)
        return ntff_builder_no_memory(b), NTFF_NONE;
    *s = *src;
    b->t->sources = b->sources.v;
    b->t->n_sources = b->sources.n;
    return (uint32_t)(b->sources.n - 1);
}

bool ntff_build_fact(struct ntff_builder *b, uint32_t file, const char *key, const char *value,
                     const char *how)
{
    struct ntff_strtab *s = &b->t->strs;
    struct ntff_fact *f = NTFF_VEC_PUSH(b->budget, &b->files.v[file].facts);
    if (!f)
        return ntff_builder_no_memory(b);
    f->key = ntff_intern(s, key, strlen(key));
    f->value = ntff_intern(s, value, strlen(value));
    f->how = how ? ntff_intern(s, how, strlen(how)) : 0;
    if (f->key == NTFF_STR_NONE || f->value == NTFF_STR_NONE || f->how == NTFF_STR_NONE) {
        b->files.v[file].facts.n--;
        return ntff_builder_no_memory(b);
    }
    return true;
}

bool ntff_build_sample(struct ntff_builder *b, uint32_t track, uint64_t ts_ns, int64_t i, double d)
{
    uint32_t proc = b->tracks.v[track].process;
    if (b->filter.active && proc != NTFF_NONE && !ntff_builder_process_passes(b, proc)) {
        b->t->counts.samples_in++;
        b->t->counts.samples_filtered++;
        return true;
    }
    struct ntff_sample *s = NTFF_VEC_PUSH(b->budget, &b->samples);
    if (!s)
        return ntff_builder_no_memory(b);
    s->ts_ns = ts_ns;
    s->track = track;
    if (b->tracks.v[track].is_double)
        s->value.d = d;
    else
        s->value.i = i;
    b->t->counts.samples_in++;
    return true;
}

/* -- device profiles ----------------------------------------------------------------------------
 */

static struct ntff_range *range_of(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                                   uint32_t core)
{
    struct ntff_range *last = b->ranges.n ? &b->ranges.v[b->ranges.n - 1] : NULL;
    if (last && last->proc == proc && last->nc == nc && last->core == core &&
        last->first_event + last->n_events == b->events.n &&
        last->first_sample + last->n_samples == b->samples.n)
        return last;
    last = NTFF_VEC_PUSH(b->budget, &b->ranges);
    if (last)
        *last = (struct ntff_range){.first_event = (uint32_t)b->events.n,
                                    .proc = proc,
                                    .nc = nc,
                                    .first_sample = (uint32_t)b->samples.n,
                                    .core = core};
    return last;
}

bool ntff_build_event(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t device_core,
                      const struct ntff_event *ev)
{
    struct ntff_range *range = NULL;
    if (device_core != NTFF_NONE && !(range = range_of(b, proc, nc, device_core)))
        return ntff_builder_no_memory(b);
    if (b->events.n >= NTFF_NONE - 1)
        return ntff_builder_no_memory(b);
    struct ntff_event *e = NTFF_VEC_PUSH(b->budget, &b->events);
    if (!e)
        return ntff_builder_no_memory(b);
    *e = *ev;
    if (range)
        range->n_events++;
    return true;
}

struct ntff_event *ntff_build_events(struct ntff_builder *b)
{
    return b->events.v;
}

struct ntff_event *ntff_build_room(struct ntff_builder *b, size_t n, size_t *first)
{
    if (n > NTFF_NONE - 1 - b->events.n ||
        !ntff_grow(b->budget, (void **)&b->events.v, &b->events.cap, b->events.n, n,
                   sizeof *b->events.v))
        return ntff_builder_no_memory(b), NULL;
    *first = b->events.n;
    return b->events.v;
}

bool ntff_build_filled(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t device_core,
                       size_t n)
{
    struct ntff_range *range = NULL;
    if (device_core != NTFF_NONE && !(range = range_of(b, proc, nc, device_core)))
        return ntff_builder_no_memory(b);
    b->events.n += n;
    if (range)
        range->n_events += (uint32_t)n;
    return true;
}

bool ntff_build_device_sample(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                              uint32_t device_core, uint32_t track, uint64_t nc_ns, int64_t i,
                              double d)
{
    struct ntff_range *range = NULL;
    if (device_core != NTFF_NONE && !(range = range_of(b, proc, nc, device_core)))
        return ntff_builder_no_memory(b);
    if (!ntff_build_sample(b, track, nc_ns, i, d))
        return false;
    if (range)
        range->n_samples++;
    return true;
}

size_t ntff_build_core_runs(const struct ntff_builder *b, uint32_t proc, struct ntff_core_run *runs,
                            size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < b->devs.n; i++) {
        const struct ntff_dev *d = &b->devs.v[i];
        if (d->proc != proc || d->type != NTFF_ET_DEVICE_EXEC || d->core == NTFF_NONE ||
            !(d->has & NTFF_DEV_START) || !(d->has & NTFF_DEV_STOP))
            continue;
        if (n < cap)
            runs[n] = (struct ntff_core_run){d->nc_start_ns, d->nc_stop_ns, d->nc, d->core};
        n++;
    }
    return n;
}

bool ntff_build_device_zero(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                            uint32_t device_core, uint64_t zero_ns)
{
    for (size_t i = 0; i < b->zeros.n; i++) {
        struct ntff_zero *z = &b->zeros.v[i];
        if (z->proc != proc || z->nc != nc || z->core != device_core)
            continue;
        z->ns = zero_ns < z->ns ? zero_ns : z->ns;
        return true;
    }
    struct ntff_zero *z = NTFF_VEC_PUSH(b->budget, &b->zeros);
    if (!z)
        return ntff_builder_no_memory(b);
    *z = (struct ntff_zero){.ns = zero_ns, .proc = proc, .nc = nc, .core = device_core};
    return true;
}
