/* perfetto_sink - see perfetto_sink.h.
 *
 * The hot path writes a begin packet straight into the output's buffer: fixed bytes, then one
 * annotation after the other, then the two enclosing lengths are patched. Nothing is allocated per
 * event. New interned strings collect on the side and close the packet that first uses them;
 * readers take them before the event of the same packet.
 *
 * uuids, pids and order come from layout.c, iids from intern.c, the walk guarantees the order that
 * keeps every uuid strictly nested. */
#include "perfetto/perfetto_sink.h"

#include "perfetto/intern.h"
#include "perfetto/layout.h"
#include "perfetto/packets.h"
#include "perfetto/provenance.h"
#include "proto/details.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define LONGEST_TRACE (UINT64_C(1) << 62)
#define MAX_STACKED 16 /* instants left to nest at one time */
#define FIXED_ROOM 96  /* everything of an event packet but annotations, flows and definitions */

enum { GUESSED_KINDS = 64, GUESSED_PLACES = 16 };

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 }; /* TrackEvent.type */

/* Tags that take one byte. */
enum {
    TAG_PACKET = PBW_TAG(1, PBW_LEN),
    TAG_TIMESTAMP = PBW_TAG(PFT_P_TIMESTAMP, PBW_VARINT),
    TAG_SEQUENCE = PBW_TAG(PFT_P_SEQUENCE, PBW_VARINT),
    TAG_FLAGS = PBW_TAG(PFT_P_FLAGS, PBW_VARINT),
    TAG_TRACK_EVENT = PBW_TAG(PFT_P_TRACK_EVENT, PBW_LEN),
    TAG_CATEGORY = PBW_TAG(3, PBW_VARINT),
    TAG_ANNOTATION = PBW_TAG(4, PBW_LEN),
    TAG_TYPE = PBW_TAG(9, PBW_VARINT),
    TAG_NAME = PBW_TAG(10, PBW_VARINT),
    TAG_UUID = PBW_TAG(11, PBW_VARINT),
    TAG_KEY_IID = PBW_TAG(1, PBW_VARINT),
    TAG_BOOL = PBW_TAG(2, PBW_VARINT),
    TAG_UINT = PBW_TAG(3, PBW_VARINT),
    TAG_INT = PBW_TAG(4, PBW_VARINT),
    TAG_DOUBLE = PBW_TAG(5, PBW_I64),
    TAG_STRING = PBW_TAG(6, PBW_LEN)
};

struct sink {
    const struct ntff_trace *t;
    const struct pft_options *opt;
    struct pft_stats *stats;
    struct ntff_put w;
    struct pft_layout layout;
    struct pft_intern in;
    struct ntff_details *details; /* NULL with no_args */
    struct ntff_buf repaired;     /* texts that were no UTF-8 */
    uint32_t *name_iids;          /* by ntff_str; 0 = not yet defined */
    uint32_t n_names;
    struct pft_key *guesses[GUESSED_KINDS][GUESSED_PLACES]; /* by name and place, see pft_key_of */
    uint64_t base_ns; /* host time of trace time PFT_ORIGIN_NS */
    uint64_t last_ns; /* compact: of the previous packet, minus base_ns */
};

/* -- packet frame --------------------------------------------------------------------------------
 */

/* Timestamp, sequence, flags. */
static inline uint8_t *put_frame(struct sink *s, uint8_t *p, uint64_t ts_ns)
{
    uint64_t t = ts_ns - s->base_ns, v = t + PFT_ORIGIN_NS;
    if (s->opt->compact) {
        v = t - s->last_ns;
        s->last_ns = t;
    }
    *p++ = TAG_TIMESTAMP;
    p = pbw_put_varint(p, v);
    static const uint8_t same[4] = {TAG_SEQUENCE, PFT_SEQUENCE, TAG_FLAGS, PFT_NEXT};
    memcpy(p, same, 4);
    return p + 4;
}

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

/* -- annotations ---------------------------------------------------------------------------------
 */

/* Begins an annotation; its length byte is at the returned place. Only for values of a fixed size.
 */
static inline uint8_t *put_annotation(struct sink *s, const struct pft_key *k, uint8_t **len_at)
{
    ntff_put_room(&s->w, 4 * PBW_MAX_VARINT);
    uint8_t *p = s->w.p;
    p[0] = TAG_ANNOTATION;
    *len_at = p + 1;
    p[2] = TAG_KEY_IID;
    return pbw_put_varint(p + 3, k->iid);
}

static inline void end_annotation(struct sink *s, uint8_t *p, uint8_t *len_at)
{
    *len_at = (uint8_t)(p - len_at - 1);
    s->w.p = p;
}

static inline void annotate_varint(struct sink *s, const struct pft_key *k, uint8_t tag, uint64_t v)
{
    uint8_t *len_at, *p = put_annotation(s, k, &len_at);
    *p++ = tag;
    end_annotation(s, pbw_put_varint(p, v), len_at);
}

static void annotate_double(struct sink *s, const struct pft_key *k, double d)
{
    uint8_t *len_at, *p = put_annotation(s, k, &len_at);
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    *p++ = TAG_DOUBLE;
    end_annotation(s, pbw_put_fixed64(p, bits), len_at);
}

/* True for text without NUL and above-ASCII bytes: nearly all of it, and cheap to see. */
static inline bool plain_ascii(const char *p, size_t len)
{
    uint64_t bad = 0;
    for (; len >= 8; p += 8, len -= 8) {
        uint64_t w = pft_load64(p);
        bad |= w | ((w - UINT64_C(0x0101010101010101)) & ~w);
    }
    for (; len > 0; p++, len--)
        bad |= (uint64_t)(uint8_t)*p | ((uint64_t)(uint8_t)*p - 1);
    return (bad & UINT64_C(0x8080808080808080)) == 0;
}

/* Valid UTF-8 without NUL and of bounded length; in place if it is so already. */
static struct ntff_slice clean_text(struct sink *s, struct ntff_slice in)
{
    bool cut = in.len > PFT_MAX_TEXT;
    if (cut) {
        in.len = PFT_MAX_TEXT;
        s->stats->cut_texts++;
    }
    if (!cut && ntff_utf8_ok(in.p, in.len) && !memchr(in.p, '\0', in.len))
        return in;
    struct ntff_buf *b = &s->repaired;
    b->len = 0;
    for (size_t i = 0, n; i < in.len; i += n ? n : 1) {
        n = ntff_utf8_len(in.p + i, in.len - i);
        if (n == 0 || in.p[i] == '\0')
            ntff_buf_add(b, n ? "\xe2\x90\x80" : "\xef\xbf\xbd", 3);
        else
            ntff_buf_add(b, in.p + i, n);
    }
    if (cut)
        ntff_buf_add(b, "\xe2\x80\xa6", 3);
    return b->failed ? (struct ntff_slice){"", 0} : (struct ntff_slice){(char *)b->p, b->len};
}

static inline void annotate_iid(struct sink *s, const struct pft_key *k, uint32_t iid)
{
    uint8_t *len_at, *at = put_annotation(s, k, &len_at);
    at = pbw_put_varint(at, PBW_TAG(17, PBW_VARINT));
    end_annotation(s, pbw_put_varint(at, iid), len_at);
}

/* A text that is known to be clean. */
static void annotate_clean(struct sink *s, const struct pft_key *k, const char *p, size_t len)
{
    uint32_t iid = pft_intern_text(&s->in, p, len);
    if (iid) {
        annotate_iid(s, k, iid);
        return;
    }
    ntff_put_room(&s->w, 6 * PBW_MAX_VARINT);
    size_t inner = 1 + pbw_varint_size(k->iid) + 1 + pbw_varint_size(len) + len;
    uint8_t *at = s->w.p;
    *at++ = TAG_ANNOTATION;
    at = pbw_put_varint(at, inner);
    *at++ = TAG_KEY_IID;
    at = pbw_put_varint(at, k->iid);
    *at++ = TAG_STRING;
    s->w.p = pbw_put_varint(at, len);
    ntff_put_bytes(&s->w, p, len);
}

/* Most texts repeat: those were clean when they got their iid. */
static void annotate_text(struct sink *s, const struct pft_key *k, struct ntff_slice text)
{
    uint32_t iid = pft_intern_known(&s->in, text.p, text.len);
    if (NTFF_LIKELY(iid)) {
        annotate_iid(s, k, iid);
        return;
    }
    if (text.len > PFT_MAX_TEXT || !plain_ascii(text.p, text.len))
        text = clean_text(s, text);
    annotate_clean(s, k, text.p, text.len);
}

static size_t number_text(char out[48], const struct ntff_attr *a)
{
    switch (a->kind) {
    case NTFF_V_UINT:
        return (size_t)snprintf(out, 48, "%" PRIu64, a->u);
    case NTFF_V_DOUBLE:
        return (size_t)snprintf(out, 48, "%.17g", a->d);
    default:
        return (size_t)snprintf(out, 48, "null");
    }
}

/* Values no field can hold: too large for the reader's signed column, no number, null. */
static bool only_as_text(const struct ntff_attr *a)
{
    return (a->kind == NTFF_V_UINT && a->u > INT64_MAX) ||
           (a->kind == NTFF_V_DOUBLE && !isfinite(a->d)) || a->kind == NTFF_V_NULL;
}

static __attribute__((noinline)) void annotate_as_text(struct sink *s, const struct pft_key *k,
                                                       const struct ntff_attr *a)
{
    char text[48];
    annotate_clean(s, k, text, number_text(text, a));
}

/* With its name inline: for the names that found no place in the table. */
static __attribute__((noinline)) void annotate_inline(struct sink *s, const struct ntff_attr *a)
{
    char text[48];
    size_t mark = pbw_open(&s->w, 4);
    struct ntff_slice name = a->key.len ? clean_text(s, a->key) : (struct ntff_slice){"_", 1};
    pbw_bytes(&s->w, 10, name.p, name.len);
    struct ntff_slice value = {text, 0};
    if (a->kind == NTFF_V_TEXT)
        value = clean_text(s, a->text);
    else if (only_as_text(a))
        value.len = number_text(text, a);
    if (a->kind == NTFF_V_TEXT || value.len)
        pbw_bytes(&s->w, 6, value.p, value.len);
    else if (a->kind == NTFF_V_BOOL)
        pbw_u64(&s->w, 2, a->b);
    else if (a->kind == NTFF_V_DOUBLE)
        pbw_double(&s->w, 5, a->d);
    else
        pbw_u64(&s->w, a->kind == NTFF_V_INT && a->i < 0 ? 4 : 3, a->u);
    pbw_close(&s->w, mark);
}

static inline void annotate(struct sink *s, const struct ntff_attr *a, struct pft_key **guess)
{
    struct pft_key *k = pft_key_of(&s->in, a->key.p, a->key.len, guess);
    if (NTFF_UNLIKELY(!k)) {
        annotate_inline(s, a);
    } else if (NTFF_LIKELY(a->kind == NTFF_V_UINT && a->u <= INT64_MAX)) {
        annotate_varint(s, k, TAG_UINT, a->u);
    } else if (a->kind == NTFF_V_TEXT) {
        annotate_text(s, k, a->text);
    } else if (a->kind == NTFF_V_BOOL) {
        annotate_varint(s, k, TAG_BOOL, a->b);
    } else if (a->kind == NTFF_V_INT) {
        annotate_varint(s, k, a->i >= 0 ? TAG_UINT : TAG_INT, (uint64_t)a->i);
    } else if (only_as_text(a)) {
        annotate_as_text(s, k, a);
    } else {
        annotate_double(s, k, a->d);
    }
}

static void annotate_own(struct sink *s, const char *key, uint8_t kind, uint64_t v)
{
    struct ntff_attr a = {.key = {key, strlen(key)}, .kind = kind};
    if (kind == NTFF_V_BOOL)
        a.b = v != 0;
    else
        a.u = v;
    struct pft_key *guess = NULL;
    annotate(s, &a, &guess);
}

static void annotate_flags(struct sink *s, const struct ntff_event *e)
{
    for (size_t i = 0; i < PFT_N_FLAGS; i++)
        if (e->flags & pft_flags[i].flag)
            annotate_own(s, pft_flags[i].key, NTFF_V_BOOL, 1);
    if (e->flags & NTFF_EV_NO_LANE && e->dur_ns)
        annotate_own(s, "dur_ns", NTFF_V_UINT, e->dur_ns);
}

static bool annotate_all(struct sink *s, const struct ntff_event *e)
{
    s->in.event_no++;
    uint64_t process_id = s->layout.places[e->track].process_id;
    if (e->flags & PFT_FLAGS_SHOWN)
        annotate_flags(s, e);
    if (process_id)
        annotate_own(s, "process_id", NTFF_V_UINT, process_id);
    const struct ntff_detail *d = ntff_details_of(s->details, (size_t)(e - s->t->events));
    if (!d)
        return false;
    struct pft_key **guesses = s->guesses[e->name % GUESSED_KINDS];
    for (size_t i = 0; i < d->n; i++)
        annotate(s, &d->attrs[i], &guesses[i % GUESSED_PLACES]);
    return true;
}

/* -- flows ---------------------------------------------------------------------------------------
 */

/* An edge's id is written at both ends: at the one that comes first in the file as flow_ids, at the
 * other as terminating_flow_ids. Arrows that point back in time say by how much. */
static void put_flow(struct sink *s, const struct ntff_flow *f, uint32_t self)
{
    uint32_t other = f->from == self ? f->to : f->from;
    bool last = other < self || f->from == f->to;
    pbw_fixed64(&s->w, last ? 48 : 47, f->id);
    s->stats->flow_bytes += 10;
    s->stats->flows += last;
    if (!f->reversed)
        return;
    s->stats->flows_reversed += last;
    if (f->to == self && !s->opt->no_args)
        annotate_own(s, "skew_ns", NTFF_V_UINT,
                     s->t->events[f->from].ts_ns - s->t->events[f->to].ts_ns);
}

static void put_flows(struct sink *s, const struct ntff_flow_list *f, uint32_t self)
{
    for (size_t i = 0; i < f->n_out; i++)
        put_flow(s, f->out[i], self);
    for (size_t i = 0; i < f->n_in; i++)
        put_flow(s, f->in[i], self);
}

/* -- the walk's callbacks ------------------------------------------------------------------------
 */

static bool put_event(struct sink *s, uint32_t index, const struct ntff_event *e,
                      const struct ntff_flow_list *f, uint8_t type, uint64_t *bytes)
{
    uint32_t name = s->name_iids[e->name];
    if (NTFF_UNLIKELY(name == 0))
        name = define_name(s, e->name);
    struct ntff_put *w = &s->w;
    ntff_put_room(w, FIXED_ROOM);
    uint8_t *p = w->p;
    *p = TAG_PACKET;
    size_t packet = (size_t)(p + 3 - w->start);
    p = put_frame(s, p + 3, e->ts_ns);
    *p = TAG_TRACK_EVENT;
    size_t event = (size_t)(p + 3 - w->start);
    p += 3;
    const uint8_t fixed[4] = {TAG_CATEGORY, (uint8_t)(e->cat + 1), TAG_TYPE, type};
    memcpy(p, fixed, 4);
    p[4] = TAG_NAME;
    p = pbw_put_varint(p + 5, name);
    *p++ = TAG_UUID;
    w->p = pbw_put_varint(p, uuid_of(s, e));
    bool ok = s->opt->no_args || annotate_all(s, e);
    if (f->n_out | f->n_in)
        put_flows(s, f, index);
    pbw_close(w, event);
    if (NTFF_UNLIKELY(s->in.defs.len > 0)) {
        pbw_bytes(w, PFT_P_INTERNED, s->in.defs.p, s->in.defs.len);
        s->in.defs.len = 0;
    }
    pbw_close(w, packet);
    *bytes += (uint64_t)(w->p - w->start);
    ntff_put_done(w);
    return ok && !s->in.defs.failed;
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
    uint8_t *p = put_frame(s, s->w.p + 2, ts_ns);
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
    return !s->opt->progress || s->opt->progress(s->opt->progress_user, "writing", permille) == 0;
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
    pft_provenance(s->t, s->opt->diag, s->opt->creator, put_fact, s);
    pft_attributes_close(&s->w, a);
    if (!put_tracks(s))
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

static enum ntff_status write_all(struct sink *s, struct ntff_out *out, struct ntff_error *err)
{
    const struct ntff_trace *t = s->t;
    enum ntff_status status = pft_layout_init(&s->layout, t, err);
    if (status != NTFF_OK)
        return status;
    s->name_iids = calloc(t->strs.items.n + 1, sizeof *s->name_iids);
    if (!s->name_iids || !pft_intern_init(&s->in))
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the string tables");
    if (!s->opt->no_args && !(s->details = ntff_details_start(t, s->opt->jobs)))
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the details of events");
    s->w = ntff_put_begin(out);
    const struct ntff_sink sink = {s, on_begin, on_end, on_instant, on_sample, on_progress};
    bool ok = put_preamble(s);
    if (ok)
        status = ntff_walk(t, &sink, err);
    ntff_put_end(&s->w);
    if (ntff_out_failed(out)) {
        if (err)
            *err = *ntff_out_error(out);
        return ntff_out_error(out)->status;
    }
    if (!ok || s->in.defs.failed)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory while writing");
    return status;
}

enum ntff_status pft_write(const struct ntff_trace *t, const struct pft_options *opt,
                           struct ntff_out *out, struct pft_stats *stats, struct ntff_error *err)
{
    struct pft_stats unused = {0};
    struct sink s = {
        .t = t, .opt = opt, .stats = stats ? stats : &unused, .base_ns = pft_first_ns(t)};
    *s.stats = (struct pft_stats){0};
    if (t->end_ns - s.base_ns > LONGEST_TRACE)
        return ntff_fail(err, NTFF_LIMIT, NTFF_NO_OFFSET,
                         "the trace is longer than 2^62 ns; use --from and --to");
    enum ntff_status status = write_all(&s, out, err);
    pft_layout_done(&s.layout);
    pft_intern_done(&s.in);
    ntff_details_stop(s.details);
    ntff_buf_free(&s.repaired);
    free(s.name_iids);
    return status;
}
