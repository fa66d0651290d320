/* eventrow - see eventrow.h. The common facts stand first in a detail and in a fixed order for
 * records of ntrace.pb; they are looked for there before anywhere else. */
#include "conv/eventrow.h"

#include "proto/event_types.h"

#include <stdlib.h>
#include <string.h>

const char *const conv_event_columns[CONV_EVENT_COLUMNS] = {"id",
                                                            "name",
                                                            "start_ts",
                                                            "end_ts",
                                                            "duration_ns",
                                                            "trace_event_source",
                                                            "instance_id",
                                                            "process_id",
                                                            "thread_id",
                                                            "nc_idx",
                                                            "pcore_idx",
                                                            "worker_gid",
                                                            "flow_id",
                                                            "framework_stream_id",
                                                            "extra_attributes_json"};

enum { MAX_FLOWS = 256 }; /* of one event that are shown */

static int by_to_cmp(const void *pa, const void *pb, void *user)
{
    const struct ntff_flow *f = user;
    uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;
    if (f[a].to != f[b].to)
        return f[a].to < f[b].to ? -1 : 1;
    return a < b ? -1 : a > b;
}

bool conv_eventrow_init(struct conv_eventrow *e, const struct ntff_trace *t)
{
    *e = (struct conv_eventrow){.t = t};
    e->names = calloc(t->strs.items.n + 1, 1);
    e->by_to = calloc(t->n_flows + 1, sizeof *e->by_to);
    if (!e->names || !e->by_to)
        return false;
    for (uint32_t i = 0; i < t->n_flows; i++)
        e->by_to[i] = i;
    if (t->n_flows)
        qsort_r(e->by_to, t->n_flows, sizeof *e->by_to, by_to_cmp, t->flows);
    return true;
}

void conv_eventrow_done(struct conv_eventrow *e)
{
    free(e->names);
    free(e->by_to);
    ntff_detail_done(&e->detail);
    e->names = NULL;
    e->by_to = NULL;
}

bool conv_event_is_device(const struct ntff_trace *t, const struct ntff_event *e)
{
    uint16_t src = e->start_ref.src != NTFF_SRC_NONE ? e->start_ref.src : e->stop_ref.src;
    return src < t->n_sources && t->sources[src].kind == NTFF_SOURCE_NOTIF;
}

enum { NAME_KNOWN = 1, NAME_HARDWARE = 2, NAME_PLAIN = 4 };

static unsigned look_up(struct conv_eventrow *e, ntff_str name)
{
    uint8_t *known = &e->names[name];
    if (*known == 0) {
        const char *text = ntff_str_of(e->t, name);
        size_t len = ntff_text_len(&e->t->strs, name);
        const struct ntff_event_type *type = ntff_event_type(ntff_event_type_by_name(text, len));
        *known = NAME_KNOWN;
        *known |= type && type->hardware ? NAME_HARDWARE : 0;
        *known |= conv_is_plain(text, len) ? NAME_PLAIN : 0;
    }
    return *known;
}

static void source_cell(struct conv_rows *r, const struct ntff_event *ev, unsigned name)
{
    if (ev->cat == NTFF_CAT_FRAMEWORK)
        conv_row_plain(r, "framework", 9);
    else
        conv_row_plain(
            r, ev->flags & NTFF_EV_DEVICE || name & NAME_HARDWARE ? "neuron_hw" : "neuron_rt", 9);
}

/* -- facts ----------------------------------------------------------------------------------------
 */

#define KEY_IS(a, text)                                                                            \
    ((a)->key.len == sizeof(text) - 1 && memcmp((a)->key.p, text, sizeof(text) - 1) == 0)

/* The value of a number by key; guess is where it usually stands. */
static bool find_u64(const struct ntff_detail *d, size_t guess, const char *key, uint64_t *v)
{
    size_t len = strlen(key);
    const struct ntff_attr *a = guess < d->n ? &d->attrs[guess] : NULL;
    if (!a || a->key.len != len || memcmp(a->key.p, key, len) != 0)
        a = ntff_detail_find(d, key);
    if (!a || a->kind != NTFF_V_UINT)
        return false;
    *v = a->u;
    return true;
}

static void number_cell(struct conv_rows *r, const struct ntff_detail *d, size_t guess,
                        const char *key)
{
    uint64_t v;
    if (conv_row_wanted(r) && find_u64(d, guess, key, &v))
        conv_row_u64(r, v);
    else
        conv_row_null(r);
}

static void sub_attr(struct conv_rows *r, const struct ntff_attr *a)
{
    switch (a->kind) {
    case NTFF_V_UINT:
        conv_sub_u64(r, a->key.p, a->key.len, a->u);
        break;
    case NTFF_V_INT:
        conv_sub_i64(r, a->key.p, a->key.len, a->i);
        break;
    case NTFF_V_BOOL:
        conv_sub_bool(r, a->key.p, a->key.len, a->b);
        break;
    case NTFF_V_DOUBLE:
        conv_sub_double(r, a->key.p, a->key.len, a->d);
        break;
    case NTFF_V_NULL:
        conv_sub_null(r, a->key.p, a->key.len);
        break;
    default:
        conv_sub_text(r, a->key.p, a->key.len, a->text.p, a->text.len);
    }
}

/* Facts that are columns, or say what the name says. */
static bool in_columns(const struct ntff_attr *a, const struct ntff_event *ev)
{
    switch (a->key.len) {
    case 6:
        return KEY_IS(a, "nc_idx");
    case 9:
        return KEY_IS(a, "thread_id");
    case 10:
        return KEY_IS(a, "event_type") || KEY_IS(a, "worker_gid");
    case 12:
        return KEY_IS(a, "timestamp_ns") && a->kind == NTFF_V_UINT && a->u == ev->ts_ns;
    default:
        return false;
    }
}

static void extra_cell(struct conv_rows *r, const struct ntff_detail *d,
                       const struct ntff_event *ev)
{
    static const struct {
        uint32_t flags;
        const char *key;
    } marks[] = {{NTFF_EV_UNFINISHED, "unfinished"}, {NTFF_EV_START_LOST, "start_lost"},
                 {NTFF_EV_ESTIMATED, "estimated"},   {NTFF_EV_UNALIGNED, "unaligned"},
                 {NTFF_EV_NEGATIVE, "negative"},     {NTFF_EV_CUT_LEFT | NTFF_EV_CUT_RIGHT, "cut"}};
    conv_sub_open(r);
    if (!conv_row_wanted(r)) {
        conv_sub_close(r);
        return;
    }
    for (size_t i = 0; i < d->n; i++)
        if (!in_columns(&d->attrs[i], ev))
            sub_attr(r, &d->attrs[i]);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(marks) && ev->flags; i++)
        if (ev->flags & marks[i].flags)
            conv_sub_bool(r, marks[i].key, strlen(marks[i].key), true);
    conv_sub_close(r);
}

/* -- flows ----------------------------------------------------------------------------------------
 */

static void flow_cell(struct conv_eventrow *e, struct conv_rows *r, uint32_t index)
{
    const struct ntff_trace *t = e->t;
    uint64_t ids[MAX_FLOWS];
    size_t n = 0;
    while (e->from_at < t->n_flows && t->flows[e->from_at].from < index)
        e->from_at++;
    while (e->to_at < t->n_flows && t->flows[e->by_to[e->to_at]].to < index)
        e->to_at++;
    for (size_t i = e->to_at; i < t->n_flows && t->flows[e->by_to[i]].to == index && n < MAX_FLOWS;
         i++)
        ids[n++] = t->flows[e->by_to[i]].id;
    for (size_t i = e->from_at; i < t->n_flows && t->flows[i].from == index && n < MAX_FLOWS; i++)
        ids[n++] = t->flows[i].id;
    conv_row_list(r, ids, n);
}

/* -- the row --------------------------------------------------------------------------------------
 */

static void process_cells(const struct conv_eventrow *e, struct conv_rows *r,
                          const struct ntff_track *track)
{
    const struct ntff_trace *t = e->t;
    const struct ntff_process *p =
        track->process < t->n_processes ? &t->processes[track->process] : NULL;
    if (p && p->instance)
        conv_row_text(r, ntff_str_of(t, p->instance), ntff_text_len(&t->strs, p->instance));
    else
        conv_row_null(r);
    if (p && p->pid)
        conv_row_u64(r, p->pid);
    else
        conv_row_null(r);
}

static void core_cells(const struct conv_eventrow *e, struct conv_rows *r,
                       const struct ntff_track *track)
{
    const struct ntff_trace *t = e->t;
    uint64_t pcore;
    const struct ntff_attr *gid = NULL;
    if (track->core != NTFF_NONE)
        conv_row_u64(r, track->core);
    else if (conv_row_wanted(r) && find_u64(&e->detail, SIZE_MAX, "device_core_idx", &pcore))
        conv_row_u64(r, pcore);
    else
        conv_row_null(r);
    if (conv_row_wanted(r))
        gid = ntff_detail_find(&e->detail, "worker_gid");
    if (gid && gid->kind == NTFF_V_INT && gid->i >= 0)
        conv_row_i64(r, gid->i);
    else if (!gid && track->process < t->n_processes &&
             t->processes[track->process].worker_gid >= 0)
        conv_row_i64(r, t->processes[track->process].worker_gid);
    else
        conv_row_null(r);
}

/* Events are in time order, their records are not: asks for those of a later row while this one is
 * written. */
static void fetch_ahead(const struct ntff_trace *t, size_t index)
{
    if (index >= t->n_events)
        return;
    const struct ntff_ref refs[] = {t->events[index].start_ref, t->events[index].stop_ref};
    for (int k = 0; k < 2; k++)
        if (refs[k].src < t->n_sources) {
            const uint8_t *p = t->sources[refs[k].src].data + refs[k].off;
            __builtin_prefetch(p);
            __builtin_prefetch(p + 64);
        }
}

bool conv_eventrow_cells(struct conv_eventrow *e, struct conv_rows *r, uint32_t index)
{
    const struct ntff_trace *t = e->t;
    const struct ntff_event *ev = &t->events[index];
    const struct ntff_track *track = &t->tracks[ev->track];
    unsigned name = look_up(e, ev->name);
    bool detail = false;
    for (size_t i = 8; i < CONV_EVENT_COLUMNS && !detail; i++)
        detail = r->wanted[i];
    if (detail)
        fetch_ahead(t, (size_t)index + 8);
    if (detail && !ntff_detail(t, ev, &e->detail))
        return false;
    bool point = ev->flags & NTFF_EV_INSTANT && !(ev->flags & NTFF_EV_NO_LANE);
    conv_row_u64(r, (uint64_t)index + 1);
    if (name & NAME_PLAIN)
        conv_row_plain(r, ntff_str_of(t, ev->name), ntff_text_len(&t->strs, ev->name));
    else
        conv_row_text(r, ntff_str_of(t, ev->name), ntff_text_len(&t->strs, ev->name));
    conv_row_u64(r, ev->ts_ns);
    conv_row_u64(r, ev->ts_ns + (point ? 0 : ev->dur_ns));
    conv_row_u64(r, point ? 0 : ev->dur_ns);
    source_cell(r, ev, name);
    process_cells(e, r, track);
    number_cell(r, &e->detail, 4, "thread_id");
    if (conv_row_wanted(r) && track->nc != NTFF_NONE)
        conv_row_u64(r, track->nc);
    else
        number_cell(r, &e->detail, 3, "nc_idx");
    core_cells(e, r, track);
    flow_cell(e, r, index);
    conv_row_null(r); /* framework_stream_id: framework events come from elsewhere */
    extra_cell(r, &e->detail, ev);
    return true;
}
