/* figures_exec - executions when all of them are known: by core, their lengths, the longest.
 *
 * The pass meets them in time order and numbers them as they come; gaps and the first of each core
 * refer to those numbers until they are sorted by core. One that a window cut stays among its
 * neighbours, since gaps lie between them too, but no length is taken of it. */
#include "conv/figures_priv.h"

#include <stdlib.h>

static uint64_t exec_core(const void *x)
{
    return ((const struct conv_exec *)x)->core;
}
static uint64_t exec_start(const void *x)
{
    return ((const struct conv_exec *)x)->ts_ns;
}
static uint64_t exec_longer(const void *x)
{
    const struct conv_exec *e = x;
    return UINT64_MAX - (e->end_ns - e->ts_ns);
}

static uint64_t gap_core(const void *x)
{
    return ((const struct conv_gap *)x)->core;
}
static uint64_t gap_start(const void *x)
{
    return ((const struct conv_gap *)x)->ts_ns;
}
static uint64_t gap_longer(const void *x)
{
    return UINT64_MAX - ((const struct conv_gap *)x)->dur_ns;
}

/* Whole ones, longest first. */
static bool sort_longest(struct conv_figures *f)
{
    static const conv_key longest[] = {exec_start, exec_longer};
    f->longest =
        conv_order(f->execs.v, f->execs.n, sizeof *f->execs.v, longest, NTFF_ARRAY_LEN(longest));
    for (size_t i = 0; f->longest && i < f->execs.n; i++)
        if (!f->execs.v[f->longest[i]].cut)
            f->longest[f->n_longest++] = f->longest[i];
    return f->longest;
}

/* Sorts executions, which came by time, by core, and lets what refers to them follow. */
static bool sort_execs(struct conv_pass *p)
{
    struct conv_figures *f = p->f;
    static const conv_key by_core[] = {exec_core},
                          longest_gap[] = {gap_core, gap_start, gap_longer};
    size_t n = f->execs.n;
    uint32_t *now = calloc(n + 1, sizeof *now);
    bool good = now && conv_sort(f->execs.v, n, sizeof *f->execs.v, by_core, 1);
    for (size_t i = 0; good && i < n; i++)
        now[f->execs.v[i].made] = (uint32_t)i;
    for (size_t i = 0; good && i < f->gaps.n; i++) {
        f->gaps.v[i].before = now[f->gaps.v[i].before];
        f->gaps.v[i].after = now[f->gaps.v[i].after];
    }
    for (size_t i = 0; good && i < f->cores.n; i++) {
        uint32_t first = p->cores[i].first_exec;
        f->cores.v[i].first_exec = first == NTFF_NONE ? n : now[first];
    }
    free(now);
    return good && conv_sort(f->gaps.v, f->gaps.n, sizeof *f->gaps.v, longest_gap, 3) &&
           sort_longest(f);
}

/* Edges of the executions of a core, and lengths of the whole ones; ns is scratch. */
static void finish_core(struct conv_figures *f, struct conv_core *c, struct ntff_sort_item *ns)
{
    struct ntff_sort_item *to = ns;
    c->begin_ns = f->execs.v[c->execs_at].ts_ns;
    for (size_t i = c->execs_at; i < c->execs_at + c->n_listed; i++) {
        const struct conv_exec *x = &f->execs.v[i];
        c->end_ns = x->end_ns > c->end_ns ? x->end_ns : c->end_ns;
        if (i == c->first_exec + 1)
            c->rest_begin_ns = x->ts_ns;
        if (x->cut)
            continue;
        to->key = x->end_ns - x->ts_ns;
        conv_lengths_add(&c->lengths, to->key);
        if (i > c->first_exec)
            conv_lengths_add(&c->rest, to->key);
        to++;
    }
    c->n_execs = c->lengths.n;
    if (conv_core_has_first(c))
        c->first_ns = ns[0].key;
    c->rest_median_ns = conv_median(ns + (c->n_execs - c->rest.n), c->rest.n);
    c->median_ns = conv_median(ns, c->n_execs);
}

/* They are sorted by now. */
static bool finish_cores(struct conv_figures *f)
{
    struct ntff_sort_item *ns = calloc(2 * f->execs.n + 1, sizeof *ns);
    if (!ns)
        return false;
    for (size_t i = 0, j; i < f->execs.n; i = j) {
        struct conv_core *c = &f->cores.v[f->execs.v[i].core];
        for (j = i; j < f->execs.n && f->execs.v[j].core == f->execs.v[i].core; j++)
            ;
        c->execs_at = i;
        c->n_listed = j - i;
        finish_core(f, c, ns);
    }
    free(ns);
    return true;
}

bool conv_exec_finish(struct conv_pass *p)
{
    return sort_execs(p) && finish_cores(p->f);
}
