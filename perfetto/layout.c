/* layout - see layout.h.
 *
 * Viewers join what shares a pid, a (pid, tid) or a name, silently. So everything that could
 * collide is settled here: pids that occur twice in a session become synthetic, a thread that
 * occurs twice in a process is a thread once and a plain row after that. */
#include "perfetto/layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SYNTHETIC_PID ((INT32_C(1) << 22) + 1)
#define ONE_BYTE_UUIDS 126

/* Sort key of everything here: two numbers, then the track (or lane) it belongs to. */
struct keyed {
    uint64_t a, b;
    uint32_t index;
};

static int by_key(const void *x, const void *y)
{
    const struct keyed *p = x, *q = y;
    if (p->a != q->a)
        return p->a < q->a ? -1 : 1;
    if (p->b != q->b)
        return p->b < q->b ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

static uint64_t true_pid(const struct ntff_trace *t, uint32_t track)
{
    uint32_t p = t->tracks[track].process;
    return p < t->n_processes ? t->processes[p].pid : 0;
}

/* -- pids -------------------------------------------------------------------------------------- */

static void give_pids(struct pft_layout *l, const struct ntff_trace *t, struct keyed *k)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->n_tracks; i++)
        if (l->places[i].kind == PFT_PROCESS)
            k[n++] = (struct keyed){true_pid(t, i), 0, i};
    qsort(k, n, sizeof *k, by_key);
    for (size_t i = 0; i < n; i++) {
        bool unique = (i == 0 || k[i - 1].a != k[i].a) && (i + 1 == n || k[i + 1].a != k[i].a);
        if (unique && k[i].a >= 1 && k[i].a <= INT32_MAX)
            l->places[k[i].index].pid = (int32_t)k[i].a;
    }
    int32_t next = FIRST_SYNTHETIC_PID;
    size_t taken = 0; /* true pids below next are behind us */
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        struct pft_place *p = &l->places[i];
        if (p->kind != PFT_PROCESS || p->pid != 0)
            continue;
        for (; taken < n && k[taken].a <= (uint64_t)next; taken++)
            next += k[taken].a == (uint64_t)next;
        p->pid = next++;
        p->process_id = true_pid(t, i);
    }
}

/* -- threads ----------------------------------------------------------------------------------- */

/* Only the first track of a (process, tid) is that thread. */
static void give_threads(struct pft_layout *l, const struct ntff_trace *t, struct keyed *k)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->n_tracks; i++)
        if (l->places[i].kind == PFT_THREAD)
            k[n++] = (struct keyed){l->places[i].process, t->tracks[i].tid, i};
    qsort(k, n, sizeof *k, by_key);
    for (size_t i = 0; i < n; i++) {
        struct pft_place *p = &l->places[k[i].index];
        bool again = i > 0 && k[i - 1].a == k[i].a && k[i - 1].b == k[i].b;
        if (again || p->process == NTFF_NONE || k[i].b == 0 || k[i].b > INT64_MAX)
            p->kind = PFT_ROW;
        else
            p->tid = (int64_t)k[i].b;
    }
}

/* -- order ------------------------------------------------------------------------------------- */

/* Lanes that viewers merge share a rank, others take one each. */
static uint32_t order_after(const struct pft_place *p)
{
    return p->order + (p->points_apart ? p->n_lanes : 1u);
}

static void give_order(struct pft_layout *l, const struct ntff_trace *t, struct keyed *k)
{
    for (uint32_t i = 0; i < t->n_tracks; i++)
        k[i] = (struct keyed){t->tracks[i].parent,
                              (uint64_t)((int64_t)t->tracks[i].rank - INT32_MIN), i};
    qsort(k, t->n_tracks, sizeof *k, by_key);
    for (size_t i = t->n_tracks; i-- > 0;) {
        struct pft_place *p = &l->places[k[i].index];
        bool last = i + 1 == t->n_tracks || k[i + 1].a != k[i].a;
        p->next_sibling = last ? NTFF_NONE : k[i + 1].index;
        if (k[i].a == NTFF_NONE)
            l->first_root = k[i].index;
        else
            l->places[k[i].a].first_child = k[i].index;
    }
    for (size_t i = 0; i < t->n_tracks; i++)
        l->places[k[i].index].order =
            i > 0 && k[i].a == k[i - 1].a ? order_after(&l->places[k[i - 1].index]) : 1;
}

uint32_t pft_layout_next(const struct pft_layout *l, const struct ntff_trace *t, uint32_t track)
{
    if (l->places[track].first_child != NTFF_NONE)
        return l->places[track].first_child;
    while (track != NTFF_NONE && l->places[track].next_sibling == NTFF_NONE)
        track = t->tracks[track].parent;
    return track == NTFF_NONE ? NTFF_NONE : l->places[track].next_sibling;
}

/* -- uuids ------------------------------------------------------------------------------------- */

static enum ntff_status give_uuids(struct pft_layout *l, const struct ntff_trace *t,
                                   struct ntff_error *err)
{
    size_t n = l->n_lanes;
    l->uuids = calloc(n + 1, sizeof *l->uuids);
    if (!l->uuids)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for %zu lanes", n);
    for (uint32_t i = 0; i < n; i++)
        l->uuids[i] = i + 1;
    if (n <= ONE_BYTE_UUIDS)
        return NTFF_OK;
    struct keyed *k = calloc(n, sizeof *k);
    if (!k)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for %zu lanes", n);
    for (uint32_t i = 0; i < n; i++)
        k[i] = (struct keyed){UINT64_MAX, 0, i};
    for (size_t i = 0; i < t->n_events; i++)
        k[l->places[t->events[i].track].first_lane + t->events[i].lane].a--;
    qsort(k, n, sizeof *k, by_key);
    for (uint32_t i = 0; i < n; i++)
        l->uuids[k[i].index] = i + 1;
    free(k);
    return NTFF_OK;
}

/* -- all --------------------------------------------------------------------------------------- */

static uint8_t kind_of(const struct ntff_track *tr)
{
    switch (tr->kind) {
    case NTFF_TRACK_PROCESS:
        return PFT_PROCESS;
    case NTFF_TRACK_THREAD:
        return PFT_THREAD;
    case NTFF_TRACK_COUNTER:
    case NTFF_TRACK_SEMAPHORE:
        return PFT_COUNTER;
    default:
        return PFT_ROW;
    }
}

static void place_all(struct pft_layout *l, const struct ntff_trace *t)
{
    uint32_t lane = 0;
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        const struct ntff_track *tr = &t->tracks[i];
        struct pft_place *p = &l->places[i];
        p->kind = kind_of(tr);
        p->n_lanes = tr->n_lanes ? tr->n_lanes : 1;
        p->first_lane = lane;
        p->first_child = p->next_sibling = NTFF_NONE;
        lane += p->n_lanes;
        p->process = p->kind == PFT_PROCESS ? i : NTFF_NONE;
        if (tr->parent != NTFF_NONE) {
            l->places[tr->parent].has_children = true;
            if (p->kind != PFT_PROCESS)
                p->process = l->places[tr->parent].process;
        }
    }
    l->n_lanes = lane;
}

/* Points of one time fill a row by their number, which viewers that merge lanes again do not know
 * of.
 */
static void find_points(struct pft_layout *l, const struct ntff_trace *t)
{
    if (l->n_lanes == t->n_tracks)
        return;
    for (size_t i = 0; i < t->n_events; i++)
        if (t->events[i].lane > 0 && t->events[i].flags & NTFF_EV_INSTANT)
            l->places[t->events[i].track].points_apart = true;
}

enum ntff_status pft_layout_init(struct pft_layout *l, const struct ntff_trace *t,
                                 struct ntff_error *err)
{
    *l = (struct pft_layout){.n_places = t->n_tracks, .first_root = NTFF_NONE};
    l->places = calloc(t->n_tracks + 1, sizeof *l->places);
    struct keyed *k = calloc(t->n_tracks + 1, sizeof *k);
    if (!l->places || !k) {
        free(k);
        pft_layout_done(l);
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for %zu tracks", t->n_tracks);
    }
    place_all(l, t);
    find_points(l, t);
    give_pids(l, t, k);
    give_threads(l, t, k);
    give_order(l, t, k);
    free(k);
    for (uint32_t i = 0; i < t->n_tracks; i++) {
        struct pft_place *p = &l->places[i];
        if (p->process != NTFF_NONE && p->kind != PFT_PROCESS) {
            p->pid = l->places[p->process].pid;
            p->process_id = l->places[p->process].process_id;
        }
    }
    enum ntff_status s = give_uuids(l, t, err);
    if (s != NTFF_OK)
        pft_layout_done(l);
    return s;
}

void pft_layout_done(struct pft_layout *l)
{
    free(l->places);
    free(l->uuids);
    *l = (struct pft_layout){0};
}

const char *pft_track_name(const struct ntff_trace *t, uint32_t track)
{
    const char *name = ntff_str_of(t, t->tracks[track].name);
    return *name ? name : "unnamed";
}

void pft_process_name(const struct ntff_trace *t, const struct pft_layout *l, uint32_t track,
                      struct ntff_buf *out)
{
    const struct pft_place *p = &l->places[track];
    const char *name = pft_track_name(t, track);
    ntff_buf_add(out, name, strlen(name));
    char pid[24];
    snprintf(pid, sizeof pid, "%" PRIu64, p->process_id);
    if (p->process_id != 0 && !strstr(name, pid))
        ntff_buf_printf(out, " (pid %s)", pid);
}

static const struct {
    uint32_t flag; /* NTFF_EV_* */
    const char *key;
} flags[] = {
    {NTFF_EV_UNFINISHED, "unfinished"},      {NTFF_EV_START_LOST, "start_lost"},
    {NTFF_EV_ESTIMATED, "estimated"},        {NTFF_EV_UNALIGNED, "unaligned"},
    {NTFF_EV_CUT_LEFT, "cut_left"},          {NTFF_EV_CUT_RIGHT, "cut_right"},
    {NTFF_EV_NEGATIVE, "negative_duration"}, {NTFF_EV_NO_LANE, "no_lane"},
};
_Static_assert(PFT_MAX_OWN == NTFF_ARRAY_LEN(flags) + 2, "room for all");

static struct ntff_attr *add_fact(struct ntff_attr *a, const char *key, uint8_t kind)
{
    a->key = (struct ntff_slice){key, strlen(key)};
    a->kind = kind;
    return a;
}

size_t pft_own_facts(const struct pft_layout *l, const struct ntff_event *e,
                     struct ntff_attr facts[PFT_MAX_OWN])
{
    uint64_t process_id = l->places[e->track].process_id;
    size_t n = 0;
    for (size_t i = 0; e->flags & PFT_FLAGS_SHOWN && i < NTFF_ARRAY_LEN(flags); i++)
        if (e->flags & flags[i].flag)
            add_fact(&facts[n++], flags[i].key, NTFF_V_BOOL)->b = true;
    if (e->flags & NTFF_EV_NO_LANE && e->dur_ns)
        add_fact(&facts[n++], "dur_ns", NTFF_V_UINT)->u = e->dur_ns;
    if (process_id)
        add_fact(&facts[n++], "process_id", NTFF_V_UINT)->u = process_id;
    return n;
}

uint64_t pft_first_ns(const struct ntff_trace *t)
{
    uint64_t ns = t->begin_ns;
    if (t->n_events && t->events[0].ts_ns < ns)
        ns = t->events[0].ts_ns;
    if (t->n_samples && t->samples[0].ts_ns < ns)
        ns = t->samples[0].ts_ns;
    return ns;
}
