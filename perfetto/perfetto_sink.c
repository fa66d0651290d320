/* perfetto_sink - see perfetto_sink.h.
 *
 * The annotations of an event are made ahead, by other threads (annotate.c). Here packets are put
 * together around them, straight into the output's buffer: all lengths are known before, so that
 * nothing is moved. Nothing is allocated per event. New interned strings collect on the side and
 * close the packet that first uses them; readers take them before the event of the same packet.
 *
 * uuids, pids and order come from layout.c, iids from intern.c, the walk guarantees the order that
 * keeps every uuid strictly nested. */
#include "perfetto/perfetto_sink.h"

#include "perfetto/annotate.h"
#include "perfetto/packets.h"
#include "perfetto/provenance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST_TRACE (UINT64_C(1) << 62)
#define MAX_STACKED 16 /* instants left to nest at one time */
#define FIXED_ROOM                                                                                 \
    96 /* an end or counter packet, and what a long packet has around its content                  \
        */
#define FLOW_SIZE 10

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 }; /* TrackEvent.type */

/* Tags that take one byte. */
enum {
    TAG_PACKET = PBW_TAG(1, PBW_LEN),
    TAG_TIMESTAMP = PBW_TAG(PFT_P_TIMESTAMP, PBW_VARINT),
    TAG_SEQUENCE = PBW_TAG(PFT_P_SEQUENCE, PBW_VARINT),
    TAG_FLAGS = PBW_TAG(PFT_P_FLAGS, PBW_VARINT),
    TAG_TRACK_EVENT = PBW_TAG(PFT_P_TRACK_EVENT, PBW_LEN),
    TAG_CATEGORY = PBW_TAG(3, PBW_VARINT),
    TAG_TYPE = PBW_TAG(9, PBW_VARINT),
    TAG_NAME = PBW_TAG(10, PBW_VARINT),
    TAG_UUID = PBW_TAG(11, PBW_VARINT)
};

struct sink {
    const struct ntff_trace *t;
    const struct pft_options *opt;
    struct pft_stats *stats;
    struct ntff_put w;
    struct pft_layout layout;
    struct pft_intern in;
    struct ntff_details *details;     /* NULL with no_args */
    struct pft_annotator *annotators; /* by slot; NULL with no_args */
    unsigned n_annotators;
    uint32_t *name_iids; /* by ntff_str; 0 = not yet defined */
    uint32_t n_names;
    uint64_t base_ns; /* host time of trace time PFT_ORIGIN_NS */
    bool failed;      /* out of memory */
    bool cancelled;   /* by .progress */
    uint64_t last_ns; /* compact: of the previous packet, minus base_ns */
};

/* -- packet frame --------------------------------------------------------------------------------
 */

static inline uint64_t stamp_of(struct sink *s, uint64_t ts_ns)
{
    uint64_t t = ts_ns - s->base_ns, before = s->last_ns;
    if (!s->opt->compact)
        return t + PFT_ORIGIN_NS;
    s->last_ns = t;
    return t - before;
}

/* Timestamp, sequence, flags. */
static inline uint8_t *put_frame(uint8_t *p, uint64_t stamp)
{
    static const uint8_t same[4] = {TAG_SEQUENCE, PFT_SEQUENCE, TAG_FLAGS, PFT_NEXT};
    *p++ = TAG_TIMESTAMP;
    p = pbw_put_varint(p, stamp);
    memcpy(p, same, 4);
    return p + 4;
}
#define FRAME_SIZE(stamp) (1 + pbw_varint_size(stamp) + 4)

static inline uint32_t uuid_of(const struct sink *s, const struct ntff_event *e)
{
    return s->layout.uuids[s->layout.places[e->track].first_lane + e->lane];
}

static uint32_t define_name(struct sink *s, ntff_str name)
{
    const char *text = ntff_str_of(s->t, name);
    size_t len = ntff_text_len(&s->t->strs, name);
    s->name_iids[name] = ++s->n_names;
    if (len == 0)
        pft_intern_define(&s->in, PFT_DEF_EVENT_NAME, s->n_names, "unnamed", 7);
    else
        pft_intern_define(&s->in, PFT_DEF_EVENT_NAME, s->n_names, text, len);
    return s->n_names;
}

/* -- flows ---------------------------------------------------------------------------------------
 */

/* An edge's id is written at both ends: at the one that comes first in the file as flow_ids, at the
 * other as terminating_flow_ids. */
static inline bool ends_here(const struct ntff_flow *f, uint32_t self)
{
    uint32_t other = f->from == self ? f->to : f->from;
    return other < self || f->from == f->to;
}

static uint8_t *put_flow(struct sink *s, uint8_t *p, const struct ntff_flow *f, uint32_t self)
{
    bool last = ends_here(f, self);
    s->stats->flows += last;
    s->stats->flows_reversed += last && f->reversed;
    p = pbw_put_varint(p, PBW_TAG(last ? 48 : 47, PBW_I64));
    return pbw_put_fixed64(p, f->id);
}

static uint8_t *put_flows(struct sink *s, uint8_t *p, const struct ntff_flow_list *f, uint32_t self)
{
    for (size_t i = 0; i < f->n_out; i++)
        p = put_flow(s, p, f->out[i], self);
    for (size_t i = 0; i < f->n_in; i++)
        p = put_flow(s, p, f->in[i], self);
    return p;
}

/* -- annotations ---------------------------------------------------------------------------------
 */

static void begin_batch(void *user, unsigned slot, struct ntff_put *w)
{
    struct sink *s = user;
    pft_annotator_begin(&s->annotators[slot], &s->in, slot == NTFF_TAKER, w);
}

static bool make_annotations(void *user, unsigned slot, const struct ntff_event *e,
                             const struct ntff_detail *d)
{
    struct sink *s = user;
    return pft_annotate(&s->annotators[slot], &s->layout, e, d);
}

static bool make_direct(void *user, unsigned slot, const struct ntff_event *e, size_t *at)
{
    struct sink *s = user;
    return pft_annotate_direct(&s->annotators[slot], s->t, &s->layout, e, at);
}

/* Arrows that point back in time say by how much. */
static bool put_skews(struct sink *s, const struct ntff_flow_list *f, struct ntff_made *made)
{
    bool good = true;
    for (size_t i = 0; i < f->n_in && good; i++) {
        const struct ntff_event *from = &s->t->events[f->in[i]->from];
        const struct ntff_event *to = &s->t->events[f->in[i]->to];
        if (f->in[i]->reversed)
            good = pft_annotate_uint(&s->annotators[NTFF_TAKER], "skew_ns", from->ts_ns - to->ts_ns,
                                     made);
    }
    return good;
}

static bool annotations_of(struct sink *s, uint32_t index, const struct ntff_flow_list *f,
                           struct ntff_slice *args)
{
    struct ntff_made made;
    bool skewed = false;
    for (size_t i = 0; i < f->n_in; i++)
        skewed |= f->in[i]->reversed;
    if (!ntff_details_of(s->details, index, skewed, &made) ||
        (NTFF_UNLIKELY(skewed) && !put_skews(s, f, &made)))
        return false;
    *args = pft_annotations(&s->annotators[made.slot], &s->in, &made);
    return true;
}

/* -- the walk's callbacks ------------------------------------------------------------------------
 */

/* An event packet but for its frame, in the order it is written in. */
struct event_parts {
    uint32_t name, uuid;
    struct ntff_slice args;
    const struct ntff_flow_list *flows;
    size_t len; /* of the track event */
};

static inline uint8_t *put_parts(struct sink *s, uint8_t *p, const struct event_parts *parts,
                                 uint8_t cat, uint8_t type, uint32_t index)
{
    *p++ = TAG_TRACK_EVENT;
    p = pbw_put_varint(p, parts->len);
    const uint8_t fixed[5] = {TAG_CATEGORY, cat, TAG_TYPE, type, TAG_NAME};
    memcpy(p, fixed, 5);
    p = pbw_put_varint(p + 5, parts->name);
    *p++ = TAG_UUID;
    p = pbw_put_varint(p, parts->uuid);
    if (parts->args.len)
        memcpy(p, parts->args.p, parts->args.len);
    p += parts->args.len;
    return parts->flows->n_out | parts->flows->n_in ? put_flows(s, p, parts->flows, index) : p;
}

static bool put_event(struct sink *s, uint32_t index, const struct ntff_event *e,
                      const struct ntff_flow_list *f, uint8_t type, uint64_t *bytes)
{
    struct event_parts parts = {.name = s->name_iids[e->name], .uuid = uuid_of(s, e), .flows = f};
    if (NTFF_UNLIKELY(parts.name == 0))
        parts.name = define_name(s, e->name);
    if (s->details && !annotations_of(s, index, f, &parts.args))
        return !(s->failed = true);
    parts.len = 4 + 1 + pbw_varint_size(parts.name) + 1 + pbw_varint_size(parts.uuid) +
                parts.args.len + FLOW_SIZE * (f->n_out + f->n_in);
    uint64_t stamp = stamp_of(s, e->ts_ns);
    size_t defs_len = s->in.defs.len;
    size_t len = FRAME_SIZE(stamp) + 1 + pbw_varint_size(parts.len) + parts.len;
    if (NTFF_UNLIKELY(defs_len > 0))
        len += 1 + pbw_varint_size(defs_len) + defs_len;

    struct ntff_put *w = &s->w;
    if (NTFF_UNLIKELY(!ntff_put_room(w, len + FIXED_ROOM)))
        return false;
    *w->p = TAG_PACKET;
    uint8_t *p = put_frame(pbw_put_varint(w->p + 1, len), stamp);
    p = put_parts(s, p, &parts, (uint8_t)(e->cat + 1), type, index);
    size_t flow_bytes = FLOW_SIZE * (f->n_out + f->n_in);
    s->stats->flow_bytes += flow_bytes;
    *bytes += (uint64_t)(p - w->p) - flow_bytes;
    w->p = p;
    if (NTFF_UNLIKELY(defs_len > 0)) {
        pbw_bytes(w, PFT_P_INTERNED, s->in.defs.p, defs_len);
        *bytes += 1 + pbw_varint_size(defs_len) + defs_len;
        s->in.defs.len = 0;
    }
    ntff_put_done(w);
    return !s->in.defs.failed;
}

static bool on_begin(void *user, uint32_t index, const struct ntff_event *e,
                     const struct ntff_flow_list *f)
{
    struct sink *s = user;
    s->stats->spans++;
    return put_event(s, index, e, f, TYPE_BEGIN, &s->stats->span_bytes);
}

/* An end or a counter packet: both lengths stay below 128, so it is written at once. Begin it, put
 * the value behind what is returned, end it. */
static inline uint8_t *begin_small(struct sink *s, uint64_t ts_ns, uint8_t type, uint32_t uuid,
                                   uint8_t **event)
{
    ntff_put_room(&s->w, FIXED_ROOM);
    uint8_t *p = put_frame(s->w.p + 2, stamp_of(s, ts_ns));
    const uint8_t fixed[5] = {TAG_TRACK_EVENT, 0, TAG_TYPE, type, TAG_UUID};
    memcpy(p, fixed, 5);
    *event = p;
    return pbw_put_varint(p + 5, uuid);
}

static inline uint64_t end_small(struct sink *s, uint8_t *event, uint8_t *end)
{
    uint8_t *packet = s->w.p;
    event[1] = (uint8_t)(end - event - 2);
    packet[0] = TAG_PACKET;
    packet[1] = (uint8_t)(end - packet - 2);
    s->w.p = end;
    ntff_put_done(&s->w);
    return (uint64_t)(end - packet);
}

/* Readers nest instants of one time into each other, and drop what is nested too deep. Where many
 * stand at one time all but the last few are written as spans of length 0, which do not nest and
 * are drawn alike. */
static inline bool crowded(const struct ntff_trace *t, uint32_t index, const struct ntff_event *e)
{
    return t->n_events - index > MAX_STACKED && t->events[index + MAX_STACKED].ts_ns == e->ts_ns;
}

static bool on_instant(void *user, uint32_t index, const struct ntff_event *e,
                       const struct ntff_flow_list *f)
{
    struct sink *s = user;
    s->stats->instants++;
    if (NTFF_LIKELY(!crowded(s->t, index, e) && !(e->flags & NTFF_EV_NO_LANE)))
        return put_event(s, index, e, f, TYPE_INSTANT, &s->stats->instant_bytes);
    bool ok = put_event(s, index, e, f, TYPE_BEGIN, &s->stats->instant_bytes);
    uint8_t *event, *end = begin_small(s, e->ts_ns, TYPE_END, uuid_of(s, e), &event);
    s->stats->instant_bytes += end_small(s, event, end);
    return ok;
}

static bool on_end(void *user, uint32_t index, const struct ntff_event *e)
{
    struct sink *s = user;
    (void)index;
    uint8_t *event, *end = begin_small(s, ntff_event_end(e), TYPE_END, uuid_of(s, e), &event);
    s->stats->span_bytes += end_small(s, event, end);
    return true;
}

static bool on_sample(void *user, const struct ntff_sample *sample)
{
    struct sink *s = user;
    const struct pft_place *place = &s->layout.places[sample->track];
    bool is_double = s->t->tracks[sample->track].is_double;
    if (place->kind != PFT_COUNTER || (is_double && !isfinite(sample->value.d))) {
        s->stats->samples_dropped++;
        return true;
    }
    uint32_t uuid = s->layout.uuids[place->first_lane];
    uint8_t *event, *p = begin_small(s, sample->ts_ns, TYPE_COUNTER, uuid, &event);
    if (is_double) {
        uint64_t bits;
        memcpy(&bits, &sample->value.d, sizeof bits);
        p = pbw_put_fixed64(pbw_put_varint(p, PBW_TAG(44, PBW_I64)), bits);
    } else {
        p = pbw_put_varint(pbw_put_varint(p, PBW_TAG(30, PBW_VARINT)), (uint64_t)sample->value.i);
    }
    s->stats->sample_bytes += end_small(s, event, p);
    s->stats->samples++;
    return true;
}

static bool on_progress(void *user, int permille)
{
    struct sink *s = user;
    if (ntff_out_failed(s->w.o))
        return false;
    s->cancelled =
        s->opt->progress && s->opt->progress(s->opt->progress_user, "writing", permille) != 0;
    return !s->cancelled;
}

/* -- what stands before the events ---------------------------------------------------------------
 */

static void put_unit(struct pft_descriptor *d, const struct ntff_track *tr)
{
    switch (tr->unit) {
    case NTFF_UNIT_NS:
        d->unit = 1;
        break;
    case NTFF_UNIT_COUNT:
        d->unit = 2;
        break;
    case NTFF_UNIT_BYTES:
        d->unit = 3;
        break;
    case NTFF_UNIT_PERCENT:
        d->unit_name = "%";
        break;
    case NTFF_UNIT_BYTES_PER_SEC:
        d->unit_name = "B/s";
        break;
    default:
        break;
    }
}

static void put_lane(struct sink *s, uint32_t track, uint32_t lane, const char *name)
{
    const struct ntff_track *tr = &s->t->tracks[track];
    const struct pft_place *p = &s->layout.places[track];
    const uint32_t *uuids = s->layout.uuids;
    char key[32];
    snprintf(key, sizeof key, "track %" PRIu32, track);
    struct pft_descriptor d = {
        .uuid = uuids[p->first_lane + lane],
        .name = name,
        .description = ntff_str_of(s->t, tr->description),
        .rank = p->order + (p->points_apart ? lane : 0),
        .explicit_children = p->has_children,
        .merge_key = p->n_lanes > 1 && !p->points_apart ? key : NULL,
        .pid = p->pid,
        .tid = p->tid,
        .share_key = ntff_str_of(s->t, tr->share_key),
    };
    if (tr->parent != NTFF_NONE)
        d.parent = uuids[s->layout.places[tr->parent].first_lane];
    if (p->kind == PFT_PROCESS) {
        d.kind = PFT_D_PROCESS;
        d.label = tr->process < s->t->n_processes
                      ? ntff_str_of(s->t, s->t->processes[tr->process].instance)
                      : "";
    } else if (p->kind == PFT_THREAD) {
        d.kind = PFT_D_THREAD;
    } else if (p->kind == PFT_COUNTER) {
        d.kind = PFT_D_COUNTER;
        put_unit(&d, tr);
    }
    if (lane > 0 && (p->kind == PFT_THREAD || p->kind == PFT_PROCESS)) {
        d.kind = PFT_D_ROW; /* the overlapping rest of a thread: rows below it */
        d.parent = uuids[p->first_lane];
    }
    pft_packet_track(&s->w, &d);
}

static bool put_tracks(struct sink *s)
{
    struct ntff_buf name = {0};
    bool ok = true;
    pft_packet_root(&s->w);
    for (uint32_t i = 0; i < s->t->n_tracks && ok; i++) {
        const struct pft_place *p = &s->layout.places[i];
        name.len = 0;
        if (p->kind == PFT_PROCESS)
            pft_process_name(s->t, &s->layout, i, &name);
        else
            ntff_buf_printf(&name, "%s", pft_track_name(s->t, i));
        ntff_buf_add(&name, "", 1);
        ok = !name.failed;
        for (uint32_t lane = 0; ok && lane < p->n_lanes; lane++)
            put_lane(s, i, lane, (const char *)name.p);
    }
    ntff_buf_free(&name);
    return ok;
}

static void put_fact(void *user, const char *key, const char *text, int64_t number)
{
    struct sink *s = user;
    if (text)
        pft_attribute_text(&s->w, key, text);
    else
        pft_attribute_number(&s->w, key, number);
}

static bool put_preamble(struct sink *s)
{
    pft_packet_clock(&s->w, s->base_ns, s->opt->compact);
    struct pft_attributes a = pft_attributes_open(&s->w);
    bool good = pft_provenance(s->t, s->opt->diag, s->opt->creator, put_fact, s);
    pft_attributes_close(&s->w, a);
    if (!good || !put_tracks(s))
        return false;
    for (int c = 0; c < NTFF_CAT_COUNT; c++) {
        const char *name = ntff_category_name(c);
        pft_intern_define(&s->in, PFT_DEF_CATEGORY, (uint64_t)c + 1, name, strlen(name));
    }
    if (s->in.defs.failed)
        return false;
    pft_packet_interned(&s->w, s->in.defs.p, s->in.defs.len);
    s->in.defs.len = 0;
    return true;
}

/* -- all -----------------------------------------------------------------------------------------
 */

enum ntff_status pft_check_length(const struct ntff_trace *t, struct ntff_error *err)
{
    if (t->end_ns - pft_first_ns(t) <= LONGEST_TRACE)
        return NTFF_OK;
    return ntff_fail(err, NTFF_LIMIT, NTFF_NO_OFFSET,
                     "the trace is longer than 2^62 ns; use --from and --to");
}

enum ntff_status pft_outcome(const struct ntff_out *out, bool no_memory, enum ntff_status walk,
                             struct ntff_error *err)
{
    if (ntff_out_failed(out)) {
        if (err)
            *err = *ntff_out_error(out);
        return ntff_out_error(out)->status;
    }
    return no_memory ? ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory while writing") : walk;
}

static bool start_details(struct sink *s)
{
    const struct ntff_maker maker = {s, begin_batch, make_annotations,
                                     s->opt->only_args ? NULL : make_direct};
    s->in.only = s->opt->only_args;
    s->n_annotators = ntff_details_slots(s->t, s->opt->jobs);
    s->annotators = calloc(s->n_annotators, sizeof *s->annotators);
    return s->annotators && (s->details = ntff_details_start(s->t, s->opt->jobs, &maker));
}

static void stop_details(struct sink *s)
{
    ntff_details_stop(s->details);
    for (size_t i = 0; s->annotators && i < s->n_annotators; i++) {
        s->stats->cut_texts += s->annotators[i].cut_texts;
        pft_annotator_done(&s->annotators[i]);
    }
    free(s->annotators);
}

static enum ntff_status write_all(struct sink *s, struct ntff_out *out, struct ntff_error *err)
{
    const struct ntff_trace *t = s->t;
    enum ntff_status status = pft_layout_init(&s->layout, t, err);
    if (status != NTFF_OK)
        return status;
    s->name_iids = calloc(t->strs.items.n + 1, sizeof *s->name_iids);
    if (!s->name_iids || !pft_intern_init(&s->in))
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the string tables");
    if (!s->opt->no_args && !start_details(s))
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the details of events");
    s->w = ntff_put_begin(out);
    const struct ntff_sink sink = {s, on_begin, on_end, on_instant, on_sample, on_progress};
    s->failed = !put_preamble(s);
    if (!s->failed)
        status = ntff_walk(t, &sink, err);
    ntff_put_end(&s->w);
    /* a walk that nobody cancelled was stopped by an event that could not be written */
    s->failed |= s->in.defs.failed || (status == NTFF_CANCELLED && !s->cancelled);
    return pft_outcome(out, s->failed, status, err);
}

enum ntff_status pft_write(const struct ntff_trace *t, const struct pft_options *opt,
                           struct ntff_out *out, struct pft_stats *stats, struct ntff_error *err)
{
    struct pft_stats unused = {0};
    struct sink s = {
        .t = t, .opt = opt, .stats = stats ? stats : &unused, .base_ns = pft_first_ns(t)};
    *s.stats = (struct pft_stats){0};
    enum ntff_status status = pft_check_length(t, err);
    if (status == NTFF_OK)
        status = write_all(&s, out, err);
    stop_details(&s);
    s.stats->n_unmet = status == NTFF_OK && opt->only_args
                           ? pft_intern_unmet(&s.in, s.stats->unmet, NTFF_ARRAY_LEN(s.stats->unmet))
                           : 0;
    pft_layout_done(&s.layout);
    pft_intern_done(&s.in);
    free(s.name_iids);
    return status;
}
