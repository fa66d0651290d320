/* ntff_core - see ntff_core.h. Runs are kept by core and start, so that a time is looked up in
 * O(log runs): a session capture has thousands of them. */
#include "proto/ntff_core.h"

#include <stdlib.h>
#include <string.h>

static int run_cmp(const void *pa, const void *pb)
{
    const struct ntff_core_run *x = pa, *y = pb;
    if (x->core != y->core)
        return x->core < y->core ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->stop_ns < y->stop_ns ? -1 : x->stop_ns > y->stop_ns;
}

bool ntff_cores_load(struct ntff_cores *c, const struct ntff_builder *b, uint32_t proc,
                     struct ntff_budget *budget)
{
    size_t n = ntff_build_core_runs(b, proc, NULL, 0);
    if (!ntff_grow(budget, (void **)&c->runs.v, &c->runs.cap, 0, n + 1, sizeof *c->runs.v))
        return false;
    c->runs.n = ntff_build_core_runs(b, proc, c->runs.v, n);
    if (n)
        qsort(c->runs.v, n, sizeof *c->runs.v, run_cmp);
    for (size_t i = 0; i < n; i++) {
        const struct ntff_core_run *r = &c->runs.v[i];
        struct ntff_core_runs *k = c->cores.n ? &c->cores.v[c->cores.n - 1] : NULL;
        if (!k || k->core != r->core) {
            if (!(k = NTFF_VEC_PUSH(budget, &c->cores)))
                return false;
            *k = (struct ntff_core_runs){.core = r->core, .nc = r->nc, .first = i};
        }
        k->n++;
    }
    return true;
}

void ntff_cores_done(struct ntff_cores *c, struct ntff_budget *budget)
{
    NTFF_VEC_FREE(budget, &c->runs);
    NTFF_VEC_FREE(budget, &c->cores);
}

const struct ntff_core_runs *ntff_cores_find(const struct ntff_cores *c, uint32_t core)
{
    size_t lo = 0, hi = c->cores.n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->cores.v[mid].core == core)
            return &c->cores.v[mid];
        if (c->cores.v[mid].core < core)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

bool ntff_cores_inside(const struct ntff_cores *c, const struct ntff_core_runs *core, uint64_t ns)
{
    const struct ntff_core_run *r = c->runs.v + core->first;
    size_t lo = 0, hi = core->n;
    while (lo < hi) { /* how many begin at or before ns */
        size_t mid = lo + (hi - lo) / 2;
        if (r[mid].start_ns <= ns)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && ns <= r[lo - 1].stop_ns;
}

static size_t votes(const struct ntff_cores *c, const struct ntff_core_runs *core,
                    const uint64_t *ns, size_t n)
{
    size_t hits = 0;
    for (size_t i = 0; i < n; i++)
        hits += ntff_cores_inside(c, core, ns[i]);
    return hits;
}

uint32_t ntff_cores_vote(const struct ntff_cores *c, const uint64_t *ns, size_t n, uint32_t named,
                         size_t *hits)
{
    const struct ntff_core_runs *own = ntff_cores_find(c, named);
    size_t of_named = own ? votes(c, own, ns, n) : 0;
    uint32_t best = named;
    *hits = of_named;
    for (size_t i = 0; i < c->cores.n && of_named * 2 < n; i++) {
        size_t of_core = votes(c, &c->cores.v[i], ns, n);
        if (of_core > *hits && of_core > of_named * 2) {
            *hits = of_core;
            best = c->cores.v[i].core;
        }
    }
    return best;
}

uint32_t ntff_cores_of_name(const char *path)
{
    static const char *const marks[] = {"_vnc_", "_nc_"};
    const char *base = strrchr(path, '/');
    base = base ? base + 1 : path;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(marks); i++) {
        const char *at = strstr(base, marks[i]);
        char *end;
        if (!at || at[strlen(marks[i])] < '0' || at[strlen(marks[i])] > '9')
            continue;
        unsigned long n = strtoul(at + strlen(marks[i]), &end, 10);
        if (n < 65536 && (*end == '.' || *end == '_' || !*end))
            return (uint32_t)n;
    }
    return NTFF_NONE;
}
