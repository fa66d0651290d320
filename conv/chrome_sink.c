/* chrome_sink - see chrome_sink.h.
 *
 * An X event holds start and duration, so a line is written when a span begins; ends need none. The
 * fixed pieces are made once and copied from then on: per lane "pid":..,"tid":.., per event name,
 * per counter. Arguments are made ahead, by other threads (chrome_args.c). */
#include "conv/chrome_sink.h"

#include "conv/chrome_args.h"
#include "conv/jsonw.h"
#include "perfetto/provenance.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_ROW_TID 10000000u /* rows that are no threads; above Linux's pid_max */
#define ROOT_PID 0x40000000u    /* plus the track: roots that are no processes */
#define LINE_ROOM 400           /* everything of a line but texts */

struct lane_ids {
    uint32_t pid, tid;
};

/* A piece of output, made when it is first needed. */
struct piece {
    const uint8_t *p; /* NULL = not yet */
    size_t len;
};

struct sink {
    const struct ntff_trace *t;
    const struct pft_options *opt;
    struct pft_stats *stats;
    struct conv_json j; /* .w is what the lines go through */
    struct pft_layout layout;
    struct conv_args_names names; /* of arguments */
    struct ntff_details *details; /* NULL with no_args */
    struct conv_arguer *arguers;  /* by slot; NULL with no_args */
    unsigned n_arguers;
    struct lane_ids *lanes; /* by lane number */
    bool *lane_used;
    struct ntff_arena pieces;
    struct piece *lane_piece;    /* by lane number: "pid":..,"tid":..,"ts": */
    struct piece *name_piece;    /* by name of events: "name" */
    struct piece *counter_piece; /* by track: ,"name":"..","args":{"unit": */
    struct piece cat_piece[NTFF_CAT_COUNT];
    uint64_t base_ns;
    bool first_line, failed;
    bool cancelled; /* by .progress */
};

/* -- small pieces --------------------------------------------------------------------------------
 */

/* A literal of known length. */
#define PUT(w, literal) ntff_put_bytes((w), (literal), sizeof(literal) - 1)

/* Keeps what was written since mark (an offset from w.start) as a piece. Without memory the piece
 * is made again next time. */
static void keep_piece(struct sink *s, struct piece *piece, size_t mark)
{
    const uint8_t *from = s->j.w.start + mark;
    size_t len = (size_t)(s->j.w.p - from);
    uint8_t *copy = ntff_out_failed(s->j.w.o) ? NULL : ntff_arena_alloc(&s->pieces, len);
    if (!copy)
        return;
    memcpy(copy, from, len);
    *piece = (struct piece){copy, len};
}

static inline bool put_piece(struct sink *s, const struct piece *piece)
{
    if (NTFF_UNLIKELY(!piece->p))
        return false;
    ntff_put_bytes(&s->j.w, piece->p, piece->len);
    return true;
}

static inline size_t mark_of(const struct sink *s)
{
    return (size_t)(s->j.w.p - s->j.w.start);
}

static void put_ids(struct sink *s, struct lane_ids ids)
{
    struct ntff_put *w = &s->j.w;
    PUT(w, "\"pid\":");
    conv_json_put_u64(w, ids.pid);
    if (ids.tid) {
        PUT(w, ",\"tid\":");
        conv_json_put_u64(w, ids.tid);
    }
}

static void new_line(struct sink *s)
{
    ntff_put_bytes(&s->j.w, s->first_line ? "" : ",\n", s->first_line ? 0 : 2);
    s->first_line = false;
}

/* {"ph":"X","pid":..,"tid":..,"ts":.. */
static void begin_line(struct sink *s, const char *head, uint32_t lane, uint64_t ts_ns)
{
    struct ntff_put *w = &s->j.w;
    ntff_put_room(w, LINE_ROOM);
    new_line(s);
    conv_json_raw(w, head);
    if (!put_piece(s, &s->lane_piece[lane])) {
        size_t mark = mark_of(s);
        put_ids(s, s->lanes[lane]);
        PUT(w, ",\"ts\":");
        keep_piece(s, &s->lane_piece[lane], mark);
    }
    conv_json_put_micros(w, ts_ns - s->base_ns);
}

static void end_line(struct sink *s)
{
    PUT(&s->j.w, "}");
    ntff_put_done(&s->j.w);
}

static uint32_t lane_of(const struct sink *s, const struct ntff_event *e)
{
    return s->layout.places[e->track].first_lane + e->lane;
}

/* -- arguments -----------------------------------------------------------------------------------
 */

static void begin_batch(void *user, unsigned slot, struct ntff_put *w)
{
    struct sink *s = user;
    conv_arguer_begin(&s->arguers[slot], &s->names, slot == NTFF_TAKER, w);
}

static bool make_args(void *user, unsigned slot, const struct ntff_event *e,
                      const struct ntff_detail *d)
{
    struct sink *s = user;
    return conv_args_make(&s->arguers[slot], &s->layout, e, d);
}

static bool make_direct(void *user, unsigned slot, const struct ntff_event *e, size_t *at)
{
    struct sink *s = user;
    (void)at;
    return conv_args_make_direct(&s->arguers[slot], s->t, &s->layout, e);
}

static bool put_skews(struct sink *s, const struct ntff_flow_list *f, struct ntff_made *made)
{
    bool good = true;
    for (size_t i = 0; i < f->n_in && good; i++) {
        const struct ntff_event *from = &s->t->events[f->in[i]->from];
        const struct ntff_event *to = &s->t->events[f->in[i]->to];
        if (f->in[i]->reversed)
            good = conv_args_add(&s->arguers[NTFF_TAKER], "skew_ns", from->ts_ns - to->ts_ns, made);
    }
    return good;
}

static bool put_args(struct sink *s, const struct ntff_event *e, const struct ntff_flow_list *f)
{
    struct ntff_made made;
    bool skewed = false;
    for (size_t i = 0; i < f->n_in; i++)
        skewed |= f->in[i]->reversed;
    if (!ntff_details_of(s->details, (size_t)(e - s->t->events), skewed, &made) ||
        (NTFF_UNLIKELY(skewed) && !put_skews(s, f, &made)))
        return !(s->failed = true);
    PUT(&s->j.w, ",\"args\":{");
    ntff_put_bytes(&s->j.w, made.w->start + made.at, made.end - made.at);
    PUT(&s->j.w, "}");
    return true;
}

/* -- flows ---------------------------------------------------------------------------------------
 */

/* Starts at the end that comes first, finishes at the other; both bind to the span that begins
 * there. */
static void put_flow(struct sink *s, const struct ntff_flow *f, uint32_t self)
{
    const struct ntff_event *e = &s->t->events[self];
    uint32_t other = f->from == self ? f->to : f->from;
    bool last = other < self || f->from == f->to;
    begin_line(s, last ? "{\"ph\":\"f\",\"bp\":\"e\"," : "{\"ph\":\"s\",", lane_of(s, e), e->ts_ns);
    PUT(&s->j.w, ",\"cat\":\"flow\",\"name\":\"flow\",\"id\":");
    conv_json_put_u64(&s->j.w, f->id);
    end_line(s);
    s->stats->flows += last;
    s->stats->flows_reversed += last && f->reversed;
}

/* -- the walk's callbacks ------------------------------------------------------------------------
 */

static void put_category(struct sink *s, unsigned cat)
{
    if (put_piece(s, &s->cat_piece[cat]))
        return;
    size_t mark = mark_of(s);
    PUT(&s->j.w, ",\"cat\":\"");
    conv_json_raw(&s->j.w, ntff_category_name((int)cat));
    PUT(&s->j.w, "\",\"name\":");
    keep_piece(s, &s->cat_piece[cat], mark);
}

static void put_name(struct sink *s, ntff_str name)
{
    if (put_piece(s, &s->name_piece[name]))
        return;
    size_t mark = mark_of(s), len = ntff_text_len(&s->t->strs, name);
    conv_json_put_text(&s->j.w, len ? ntff_str_of(s->t, name) : "unnamed", len ? len : 7);
    keep_piece(s, &s->name_piece[name], mark);
}

static bool put_event(struct sink *s, uint32_t index, const struct ntff_event *e,
                      const struct ntff_flow_list *f, const char *head)
{
    struct ntff_put *w = &s->j.w;
    begin_line(s, head, lane_of(s, e), e->ts_ns);
    if (!(e->flags & NTFF_EV_INSTANT)) {
        PUT(w, ",\"dur\":");
        conv_json_put_micros(w, e->dur_ns);
    }
    put_category(s, e->cat);
    put_name(s, e->name);
    bool ok = s->opt->no_args || put_args(s, e, f);
    end_line(s);
    for (size_t i = 0; i < f->n_out; i++)
        put_flow(s, f->out[i], index);
    for (size_t i = 0; i < f->n_in; i++)
        put_flow(s, f->in[i], index);
    return ok;
}

static bool on_begin(void *user, uint32_t index, const struct ntff_event *e,
                     const struct ntff_flow_list *f)
{
    struct sink *s = user;
    s->stats->spans++;
    return put_event(s, index, e, f, "{\"ph\":\"X\",");
}

static bool on_instant(void *user, uint32_t index, const struct ntff_event *e,
                       const struct ntff_flow_list *f)
{
    struct sink *s = user;
    s->stats->instants++;
    return put_event(s, index, e, f, "{\"ph\":\"i\",\"s\":\"t\",");
}

static const char *unit_key(uint8_t unit)
{
    static const char *const keys[] = {"value", "ns", "count", "bytes", "%", "B/s"};
    return unit < NTFF_ARRAY_LEN(keys) ? keys[unit] : keys[0];
}

/* Name of a track below its process: "NeuronCores / NC00 / Execution". */
static void put_path(struct sink *s, uint32_t track, struct ntff_buf *b)
{
    uint32_t chain[32];
    size_t n = 0;
    for (uint32_t i = track; i != NTFF_NONE && n < NTFF_ARRAY_LEN(chain);
         i = s->t->tracks[i].parent)
        if (i == track || s->layout.places[i].kind != PFT_PROCESS)
            chain[n++] = i;
    while (n > 0) {
        const char *name = pft_track_name(s->t, chain[--n]);
        ntff_buf_add(b, name, strlen(name));
        if (n > 0)
            ntff_buf_add(b, " / ", 3);
    }
}

/* ,"name":"..","args":{"unit": */
static bool put_counter(struct sink *s, uint32_t track)
{
    if (put_piece(s, &s->counter_piece[track]))
        return true;
    struct ntff_put *w = &s->j.w;
    struct ntff_buf name = {0};
    put_path(s, track, &name);
    size_t mark = mark_of(s);
    PUT(w, ",\"name\":");
    conv_json_put_text(w, (const char *)name.p, name.len);
    PUT(w, ",\"args\":{");
    const char *unit = unit_key(s->t->tracks[track].unit);
    conv_json_put_text(w, unit, strlen(unit));
    PUT(w, ":");
    keep_piece(s, &s->counter_piece[track], mark);
    bool ok = !name.failed;
    ntff_buf_free(&name);
    return ok;
}

/* As text where readers with doubles would change it; Perfetto takes text that is a number. */
static void put_count(struct ntff_put *w, int64_t v)
{
    bool quoted = v > (int64_t)CONV_JSON_EXACT || v < -(int64_t)CONV_JSON_EXACT;
    if (quoted)
        PUT(w, "\"");
    conv_json_put_i64(w, v);
    if (quoted)
        PUT(w, "\"");
}

static bool on_sample(void *user, const struct ntff_sample *sample)
{
    struct sink *s = user;
    const struct ntff_track *tr = &s->t->tracks[sample->track];
    const struct pft_place *place = &s->layout.places[sample->track];
    if (place->kind != PFT_COUNTER || (tr->is_double && !isfinite(sample->value.d))) {
        s->stats->samples_dropped++;
        return true;
    }
    struct ntff_put *w = &s->j.w;
    begin_line(s, "{\"ph\":\"C\",", place->first_lane, sample->ts_ns);
    bool ok = put_counter(s, sample->track);
    if (tr->is_double)
        conv_json_put_double(w, sample->value.d);
    else
        put_count(w, sample->value.i);
    PUT(w, "}");
    end_line(s);
    s->stats->samples++;
    return ok;
}

static bool on_progress(void *user, int permille)
{
    struct sink *s = user;
    if (ntff_out_failed(s->j.w.o))
        return false;
    s->cancelled =
        s->opt->progress && s->opt->progress(s->opt->progress_user, "writing", permille) != 0;
    return !s->cancelled;
}

/* -- rows ----------------------------------------------------------------------------------------
 */

/* True if a thread has this tid: thread ids of other origin may reach into the range of the made
 * ones. */
static bool tid_taken(const struct sink *s, uint32_t tid)
{
    for (uint32_t i = 0; i < s->t->n_tracks; i++)
        if (s->layout.places[i].kind == PFT_THREAD && s->layout.places[i].tid == tid)
            return true;
    return false;
}

static bool give_lanes(struct sink *s)
{
    size_t n = s->layout.n_lanes;
    s->lanes = calloc(n + 1, sizeof *s->lanes);
    s->lane_used = calloc(n + 1, sizeof *s->lane_used);
    s->lane_piece = calloc(n + 1, sizeof *s->lane_piece);
    s->name_piece = calloc(s->t->strs.items.n + 1, sizeof *s->name_piece);
    s->counter_piece = calloc(s->t->n_tracks + 1, sizeof *s->counter_piece);
    if (!s->lanes || !s->lane_used || !s->lane_piece || !s->name_piece || !s->counter_piece)
        return false;
    for (size_t i = 0; i < s->t->n_events; i++)
        s->lane_used[lane_of(s, &s->t->events[i])] = true;
    bool large = false;
    for (uint32_t i = 0; i < s->t->n_tracks; i++)
        large |= s->layout.places[i].tid >= FIRST_ROW_TID;
    uint32_t next = FIRST_ROW_TID;
    for (uint32_t i = 0; i < s->t->n_tracks; i++) {
        const struct pft_place *p = &s->layout.places[i];
        uint32_t parent = s->t->tracks[i].parent;
        uint32_t pid = (uint32_t)p->pid;
        if (pid == 0)
            pid = parent == NTFF_NONE ? ROOT_PID + i
                                      : s->lanes[s->layout.places[parent].first_lane].pid;
        for (uint32_t lane = 0; lane < p->n_lanes; lane++) {
            struct lane_ids *ids = &s->lanes[p->first_lane + lane];
            ids->pid = pid;
            bool own = p->kind == PFT_THREAD && lane == 0 && p->tid <= UINT32_MAX;
            while (!own && large && tid_taken(s, next))
                next++;
            ids->tid = own ? (uint32_t)p->tid : next++;
            if (p->kind == PFT_COUNTER)
                ids->tid = 0; /* counters have no thread */
        }
    }
    return true;
}

/* {"ph":"M","pid":..,"name":"thread_name","args":{"name": */
static void put_meta(struct sink *s, const char *what, struct lane_ids ids, const char *key)
{
    struct ntff_put *w = &s->j.w;
    ntff_put_room(w, LINE_ROOM);
    new_line(s);
    PUT(w, "{\"ph\":\"M\",");
    put_ids(s, ids);
    PUT(w, ",\"name\":\"");
    conv_json_raw(w, what);
    PUT(w, "\",\"args\":{\"");
    conv_json_raw(w, key);
    PUT(w, "\":");
}

static void put_meta_name(struct sink *s, const char *what, struct lane_ids ids, const char *p,
                          size_t len)
{
    put_meta(s, what, ids, "name");
    conv_json_put_text(&s->j.w, p, len);
    PUT(&s->j.w, "}");
    end_line(s);
}

static void put_meta_sort(struct sink *s, const char *what, struct lane_ids ids, uint64_t index)
{
    put_meta(s, what, ids, "sort_index");
    conv_json_put_u64(&s->j.w, index);
    PUT(&s->j.w, "}");
    end_line(s);
}

static bool put_row(struct sink *s, uint32_t track, uint64_t *row)
{
    const struct pft_place *p = &s->layout.places[track];
    struct ntff_buf name = {0};
    for (uint32_t lane = 0; lane < p->n_lanes; lane++) {
        if (!s->lane_used[p->first_lane + lane])
            continue;
        struct lane_ids ids = s->lanes[p->first_lane + lane];
        name.len = 0;
        put_path(s, track, &name);
        if (lane > 0)
            ntff_buf_printf(&name, " [%" PRIu32 "]", lane + 1);
        put_meta_name(s, "thread_name", ids, (const char *)name.p, name.len);
        put_meta_sort(s, "thread_sort_index", ids, ++*row);
    }
    bool ok = !name.failed;
    ntff_buf_free(&name);
    return ok;
}

static bool put_rows(struct sink *s)
{
    uint64_t row = 0, process = 0;
    bool ok = true;
    for (uint32_t i = s->layout.first_root; i != NTFF_NONE && ok;
         i = pft_layout_next(&s->layout, s->t, i)) {
        const struct pft_place *p = &s->layout.places[i];
        if (p->kind == PFT_PROCESS || s->t->tracks[i].parent == NTFF_NONE) {
            struct lane_ids ids = {s->lanes[p->first_lane].pid, 0};
            struct ntff_buf name = {0};
            if (p->kind == PFT_PROCESS)
                pft_process_name(s->t, &s->layout, i, &name);
            else
                ntff_buf_printf(&name, "%s", pft_track_name(s->t, i));
            put_meta_name(s, "process_name", ids, (const char *)name.p, name.len);
            put_meta_sort(s, "process_sort_index", ids, ++process);
            ok = !name.failed;
            ntff_buf_free(&name);
        }
        ok = ok && put_row(s, i, &row);
    }
    return ok;
}

/* -- all -----------------------------------------------------------------------------------------
 */

static void put_fact(void *user, const char *key, const char *text, int64_t number)
{
    struct sink *s = user;
    conv_json_key(&s->j, key);
    if (text)
        conv_json_text(&s->j, text);
    else if (number > (int64_t)CONV_JSON_EXACT)
        conv_json_id(&s->j, (uint64_t)number);
    else
        conv_json_i64(&s->j, number);
}

/* Everything up to the first event line. False: no memory. */
static bool put_head(struct sink *s)
{
    char base[24];
    snprintf(base, sizeof base, "%" PRIu64, s->base_ns);
    conv_json_object(&s->j);
    conv_json_key_text(&s->j, "displayTimeUnit", "ns");
    conv_json_key_u64(&s->j, "baseTimeNanoseconds", s->base_ns);
    conv_json_key(&s->j, "metadata");
    conv_json_object(&s->j);
    conv_json_key_text(&s->j, "baseTimeNanoseconds", base);
    bool good = pft_provenance(s->t, s->opt->diag, s->opt->creator, put_fact, s);
    conv_json_end(&s->j);
    conv_json_key(&s->j, "traceEvents");
    conv_json_array(&s->j);
    ntff_put_bytes(&s->j.w, "\n", 1);
    ntff_put_done(&s->j.w);
    s->first_line = true;
    return good;
}

static bool start_details(struct sink *s)
{
    const struct ntff_maker maker = {s, begin_batch, make_args,
                                     s->opt->only_args ? NULL : make_direct};
    s->names.in.only = s->opt->only_args;
    s->n_arguers = ntff_details_slots(s->t, s->opt->jobs);
    s->arguers = calloc(s->n_arguers, sizeof *s->arguers);
    return s->arguers && (s->details = ntff_details_start(s->t, s->opt->jobs, &maker));
}

static void stop_details(struct sink *s)
{
    ntff_details_stop(s->details);
    s->stats->cut_texts = s->arguers ? s->arguers[NTFF_TAKER].cut_texts : 0;
    for (size_t i = 0; s->arguers && i < s->n_arguers; i++)
        pft_namer_done(&s->arguers[i].namer);
    free(s->arguers);
}

static enum ntff_status write_all(struct sink *s, struct ntff_out *out, struct ntff_error *err)
{
    enum ntff_status status = pft_layout_init(&s->layout, s->t, err);
    if (status != NTFF_OK)
        return status;
    if (!give_lanes(s) || !conv_args_names_init(&s->names))
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the table of rows");
    if (!s->opt->no_args && !start_details(s))
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the details of events");
    s->j = conv_json_begin(out, false);
    s->failed = !put_head(s) || !put_rows(s);
    const struct ntff_sink sink = {s, on_begin, NULL, on_instant, on_sample, on_progress};
    if (!s->failed)
        status = ntff_walk(s->t, &sink, err);
    PUT(&s->j.w, "\n");
    conv_json_end(&s->j);
    conv_json_end(&s->j);
    PUT(&s->j.w, "\n");
    conv_json_done(&s->j);
    /* a walk that nobody cancelled was stopped by an event that could not be written */
    s->failed |= s->names.in.defs.failed || (status == NTFF_CANCELLED && !s->cancelled);
    return pft_outcome(out, s->failed, status, err);
}

enum ntff_status conv_chrome_write(const struct ntff_trace *t, const struct pft_options *opt,
                                   struct ntff_out *out, struct pft_stats *stats,
                                   struct ntff_error *err)
{
    struct pft_stats unused = {0};
    struct sink s = {
        .t = t, .opt = opt, .stats = stats ? stats : &unused, .base_ns = pft_first_ns(t)};
    *s.stats = (struct pft_stats){0};
    enum ntff_status status = pft_check_length(t, err);
    if (status == NTFF_OK)
        status = write_all(&s, out, err);
    stop_details(&s);
    s.stats->n_unmet =
        status == NTFF_OK && opt->only_args
            ? pft_intern_unmet(&s.names.in, s.stats->unmet, NTFF_ARRAY_LEN(s.stats->unmet))
            : 0;
    pft_layout_done(&s.layout);
    conv_args_names_done(&s.names);
    ntff_arena_free(&s.pieces);
    free(s.lanes);
    free(s.lane_used);
    free(s.lane_piece);
    free(s.name_piece);
    free(s.counter_piece);
    return status;
}
