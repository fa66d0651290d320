/* figures_cc - the same collective on several ranks: who is slow, who is late.
 *
 * Records say which operation ran (op_id), not which instance of it. Ranks run the same program, so
 * the k-th one of an execution on one rank belongs to the k-th of the same execution on another;
 * but execution numbers count per process, and may be shifted against each other after a warm-up.
 * So instances can be matched in three ways: by execution, counted from the front, counted from
 * the back (rings lose their oldest entries). The first way in which the ranks of an instance
 * overlap in time is taken, as they must in a collective; else the one with the smallest skew. */
#include "conv/figures_priv.h"

#include <stdlib.h>
#include <string.h>

bool conv_cc_take(struct conv_pass *p, uint32_t index, struct ntff_detail *d)
{
    const struct ntff_event *e = &p->f->t->events[index];
    if (p->core_of_track[e->track] == NTFF_NONE)
        return true;
    struct conv_core *c = conv_core_at(p, e->track);
    static const struct ntff_slice keys[] = {CONV_KEY("op_id"), CONV_KEY("exec_id"),
                                             CONV_KEY("algorithm")};
    if (!ntff_detail_pick(p->f->t, e, keys, NTFF_ARRAY_LEN(keys), d))
        return false;
    struct conv_cc *x = NTFF_VEC_PUSH(NULL, &p->cc);
    if (!x)
        return false;
    *x = (struct conv_cc){.op_id = conv_attr_u64(d, "op_id", UINT64_MAX),
                          .exec_id = conv_attr_u64(d, "exec_id", UINT64_MAX),
                          .ts_ns = e->ts_ns,
                          .dur_ns = e->dur_ns,
                          .rank = (uint32_t)(c - p->f->cores.v)};
    const struct ntff_attr *a = ntff_detail_find(d, "algorithm");
    if (a && a->kind == NTFF_V_TEXT)
        x->algorithm = a->text;
    return true;
}

#define CMP(a, b)                                                                                  \
    if ((a) != (b))                                                                                \
    return (a) < (b) ? -1 : 1

#define KEY(name, field)                                                                           \
    static uint64_t name(const void *x)                                                            \
    {                                                                                              \
        return ((const struct conv_cc *)x)->field;                                                 \
    }
KEY(op_of, op_id)
KEY(rank_of, rank)
KEY(group_of, group)
KEY(nth_of, nth)

static int by_time(const void *pa, const void *pb)
{
    const struct conv_cc *a = pa, *b = pb;
    CMP(a->ts_ns, b->ts_ns);
    CMP(a->exec_id, b->exec_id);
    return 0;
}

enum matching { BY_EXEC, FROM_FRONT, FROM_BACK, MATCHINGS };

/* Numbers the entries of each op and rank in time order, and sorts them so that instances stand
 * together. False when memory ran out. */
static bool match(struct conv_cc *v, size_t n, enum matching how)
{
    static const conv_key by_rank[] = {rank_of, op_of},
                          by_instance[] = {rank_of, nth_of, group_of, op_of};
    ntff_sort(v, n, sizeof *v, by_time); /* as they came, nearly always */
    uint32_t *o = conv_order(v, n, sizeof *v, by_rank, NTFF_ARRAY_LEN(by_rank));
    for (size_t i = 0, j; o && i < n; i = j) {
        const struct conv_cc *first = &v[o[i]];
        for (j = i; j < n && v[o[j]].op_id == first->op_id && v[o[j]].rank == first->rank; j++)
            ;
        for (size_t k = i; k < j; k++) {
            struct conv_cc *x = &v[o[k]], *before = k > i ? &v[o[k - 1]] : NULL;
            bool same = before && how == BY_EXEC && x->exec_id == before->exec_id;
            x->group = how == BY_EXEC ? x->exec_id : 0;
            if (how == BY_EXEC)
                x->nth = same ? before->nth + 1 : 0;
            else
                x->nth = how == FROM_FRONT ? k - i : j - 1 - k;
        }
    }
    bool good = o && conv_sort(v, n, sizeof *v, by_instance, NTFF_ARRAY_LEN(by_instance));
    free(o);
    return good;
}

static size_t instance_end(const struct conv_cc *v, size_t n, size_t i)
{
    size_t j = i;
    while (j < n && v[j].op_id == v[i].op_id && v[j].group == v[i].group && v[j].nth == v[i].nth)
        j++;
    return j;
}

struct edges {
    uint64_t first_ns, last_ns, short_ns, long_ns;
    uint32_t latest;
};

static struct edges edges_of(const struct conv_cc *v, size_t i, size_t j)
{
    struct edges e = {v[i].ts_ns, v[i].ts_ns, v[i].dur_ns, v[i].dur_ns, v[i].rank};
    for (; i < j; i++) {
        e.first_ns = v[i].ts_ns < e.first_ns ? v[i].ts_ns : e.first_ns;
        if (v[i].ts_ns > e.last_ns)
            e.last_ns = v[i].ts_ns, e.latest = v[i].rank;
        e.short_ns = v[i].dur_ns < e.short_ns ? v[i].dur_ns : e.short_ns;
        e.long_ns = v[i].dur_ns > e.long_ns ? v[i].dur_ns : e.long_ns;
    }
    return e;
}

/* Mean skew of a matching, and how many instances it finds on several ranks. */
static double mean_skew(const struct conv_cc *v, size_t n, uint64_t *n_matched)
{
    double sum = 0;
    *n_matched = 0;
    for (size_t i = 0, j; i < n; i = j) {
        j = instance_end(v, n, i);
        if (j - i < 2)
            continue;
        struct edges e = edges_of(v, i, j);
        sum += (double)(e.last_ns - e.first_ns);
        ++*n_matched;
    }
    return *n_matched ? sum / (double)*n_matched : 0;
}

static double mean_length(const struct conv_cc *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)v[i].dur_ns;
    return sum / (double)n;
}

static bool choose_matching(struct conv_cc *v, size_t n)
{
    double skew[MATCHINGS], length = mean_length(v, n);
    uint64_t matched[MATCHINGS], most = 0;
    int best = -1;
    for (int m = 0; m < MATCHINGS; m++) {
        if (!match(v, n, m))
            return false;
        skew[m] = mean_skew(v, n, &matched[m]);
        most = matched[m] > most ? matched[m] : most;
        if (matched[m] && skew[m] <= length)
            return true; /* they overlap: no need to look further */
    }
    for (int m = 0; m < MATCHINGS; m++)
        if (matched[m] >= (most + 1) / 2 && (best < 0 || skew[m] < skew[best]))
            best = m;
    return match(v, n, best);
}

#define SAME_NS 1 /* by which means differ because times are whole nanoseconds */

struct rank_sum {
    uint64_t sum_ns, n, latest;
};

static uint64_t mean_of(const struct rank_sum *r)
{
    return r->n ? r->sum_ns / r->n : 0;
}

/* One op: v[0..n), instances together. ranks and ns are scratch. */
static struct conv_collective one_op(const struct conv_cc *v, size_t n, struct rank_sum *ranks,
                                     size_t n_ranks, struct ntff_sort_item *ns)
{
    struct conv_collective c = {.op_id = v[0].op_id, .algorithm = v[0].algorithm};
    memset(ranks, 0, n_ranks * sizeof *ranks);
    for (size_t i = 0; i < n; i++) {
        ns[i].key = v[i].dur_ns;
        conv_lengths_add(&c.lengths, v[i].dur_ns);
        ranks[v[i].rank].sum_ns += v[i].dur_ns;
        ranks[v[i].rank].n++;
    }
    c.median_ns = conv_median(ns, n);
    for (size_t i = 0, j; i < n; i = j) {
        j = instance_end(v, n, i);
        if (j - i < 2)
            continue;
        struct edges e = edges_of(v, i, j);
        uint64_t spread = e.long_ns - e.short_ns, skew = e.last_ns - e.first_ns;
        c.n_instances++;
        c.spread_ns += spread;
        c.skew_ns += skew;
        c.max_spread_ns = spread > c.max_spread_ns ? spread : c.max_spread_ns;
        c.max_skew_ns = skew > c.max_skew_ns ? skew : c.max_skew_ns;
        ranks[e.latest].latest += skew > 0;
    }
    if (c.n_instances) {
        c.spread_ns /= c.n_instances;
        c.skew_ns /= c.n_instances;
    }
    c.slowest = c.latest = v[0].rank;
    for (uint32_t r = 0; r < n_ranks; r++) {
        c.n_ranks += ranks[r].n > 0;
        if (mean_of(&ranks[r]) > c.slowest_mean_ns)
            c.slowest = r, c.slowest_mean_ns = mean_of(&ranks[r]);
        if (ranks[r].latest > ranks[c.latest].latest)
            c.latest = r;
    }
    for (uint32_t r = 0; r < n_ranks; r++) {
        c.n_slowest += ranks[r].n && mean_of(&ranks[r]) + SAME_NS >= c.slowest_mean_ns;
        c.n_latest += ranks[r].n && ranks[r].latest == ranks[c.latest].latest;
    }
    return c;
}

static int largest_first(const void *pa, const void *pb)
{
    const struct conv_collective *a = pa, *b = pb;
    CMP(b->lengths.sum_ns, a->lengths.sum_ns);
    CMP(a->op_id, b->op_id);
    return 0;
}

bool conv_cc_finish(struct conv_pass *p)
{
    struct conv_figures *f = p->f;
    struct conv_cc *v = p->cc.v;
    size_t n = p->cc.n;
    if (n == 0)
        return true;
    struct rank_sum *ranks = calloc(f->cores.n, sizeof *ranks);
    struct ntff_sort_item *ns = calloc(2 * n, sizeof *ns);
    bool good = ranks && ns && choose_matching(v, n);
    for (size_t i = 0, j; good && i < n; i = j) {
        for (j = i; j < n && v[j].op_id == v[i].op_id; j++)
            ;
        struct conv_collective *c = NTFF_VEC_PUSH(NULL, &f->collectives);
        if ((good = c != NULL))
            *c = one_op(v + i, j - i, ranks, f->cores.n, ns);
    }
    free(ranks);
    free(ns);
    ntff_sort(f->collectives.v, f->collectives.n, sizeof *f->collectives.v, largest_first);
    return good;
}

void conv_cc_done(struct conv_pass *p)
{
    NTFF_VEC_FREE(NULL, &p->cc);
}
