/* summary - see summary.h. */
#include "conv/summary.h"

#include "conv/conv.h"
#include "conv/jsonw.h"
#include "perfetto/layout.h"
#include "perfetto/provenance.h"

struct category {
    uint64_t spans, instants, sum_ns, first_ns, last_ns, shortest_ns, longest_ns;
};

static void count(const struct ntff_trace *t, struct category of[NTFF_CAT_COUNT])
{
    for (int c = 0; c < NTFF_CAT_COUNT; c++)
        of[c] = (struct category){.first_ns = UINT64_MAX, .shortest_ns = UINT64_MAX};
    for (size_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        struct category *c = &of[e->cat];
        bool instant = e->flags & NTFF_EV_INSTANT;
        uint64_t dur = instant ? 0 : e->dur_ns, end = e->ts_ns + dur;
        c->instants += instant;
        c->spans += !instant;
        c->sum_ns += dur;
        c->first_ns = e->ts_ns < c->first_ns ? e->ts_ns : c->first_ns;
        c->last_ns = end > c->last_ns ? end : c->last_ns;
        if (!instant) {
            c->shortest_ns = dur < c->shortest_ns ? dur : c->shortest_ns;
            c->longest_ns = dur > c->longest_ns ? dur : c->longest_ns;
        }
    }
}

static void put_categories(struct conv_json *j, const struct conv_summary *s)
{
    struct category of[NTFF_CAT_COUNT];
    uint64_t base = pft_first_ns(s->t) - s->origin_ns;
    count(s->t, of);
    conv_json_key(j, "categories");
    conv_json_object(j);
    for (int c = 0; c < NTFF_CAT_COUNT; c++) {
        if (of[c].spans + of[c].instants == 0)
            continue;
        conv_json_key(j, ntff_category_name(c));
        conv_json_object(j);
        conv_json_key_u64(j, "count", of[c].spans + of[c].instants);
        conv_json_key_u64(j, "sum", of[c].sum_ns);
        conv_json_key_u64(j, "min", of[c].first_ns - base);
        conv_json_key_u64(j, "max", of[c].last_ns - base);
        conv_json_key_u64(j, "spans", of[c].spans);
        conv_json_key_u64(j, "instants", of[c].instants);
        if (of[c].spans) {
            conv_json_key_u64(j, "shortest_ns", of[c].shortest_ns);
            conv_json_key_u64(j, "longest_ns", of[c].longest_ns);
        }
        conv_json_end(j);
    }
    conv_json_end(j);
}

static void put_output(struct conv_json *j, const struct conv_summary *s)
{
    uint64_t base = pft_first_ns(s->t) - s->origin_ns;
    conv_json_key(j, "output");
    conv_json_object(j);
    conv_json_key_text(j, "path", s->path);
    conv_json_key_text(j, "format", s->format);
    conv_json_key_u64(j, "bytes", s->bytes);
    if (s->stats->span_bytes + s->stats->instant_bytes + s->stats->sample_bytes) {
        const struct pft_stats *n = s->stats;
        conv_json_key(j, "parts");
        conv_json_object(j);
        conv_json_key_u64(j, "spans", n->span_bytes);
        conv_json_key_u64(j, "instants", n->instant_bytes);
        conv_json_key_u64(j, "flows", n->flow_bytes);
        conv_json_key_u64(j, "samples", n->sample_bytes);
        conv_json_key_u64(j, "rest",
                          s->bytes - n->span_bytes - n->instant_bytes - n->flow_bytes -
                              n->sample_bytes);
        conv_json_end(j);
    }
    conv_json_key(j, "compact");
    conv_json_bool(j, s->compact);
    conv_json_key(j, "args");
    conv_json_bool(j, s->args);
    conv_json_end(j);
    conv_json_key(j, "time");
    conv_json_object(j);
    conv_json_key_u64(j, "base_unix_ns", base);
    conv_json_key_u64(j, "begin_ns", s->t->begin_ns - base);
    conv_json_key_u64(j, "end_ns", s->t->end_ns - base);
    conv_json_end(j);
    conv_json_key_u64(j, "spans", s->stats->spans);
    conv_json_key_u64(j, "instants", s->stats->instants);
    conv_json_key_u64(j, "samples", s->stats->samples);
}

static void put_shape(struct conv_json *j, const struct conv_summary *s)
{
    uint64_t rows = 0, with_lanes = 0, most = 0;
    for (size_t i = 0; i < s->t->n_tracks; i++) {
        uint64_t n = s->t->tracks[i].n_lanes ? s->t->tracks[i].n_lanes : 1;
        rows += n;
        with_lanes += n > 1;
        most = n > most ? n : most;
    }
    conv_json_key(j, "flows");
    conv_json_object(j);
    conv_json_key_u64(j, "written", s->stats->flows);
    conv_json_key_u64(j, "reversed", s->stats->flows_reversed);
    conv_json_end(j);
    conv_json_key(j, "lanes");
    conv_json_object(j);
    conv_json_key_u64(j, "tracks", s->t->n_tracks);
    conv_json_key_u64(j, "rows", rows);
    conv_json_key_u64(j, "tracks_with_lanes", with_lanes);
    conv_json_key_u64(j, "most", most);
    conv_json_end(j);
}

static void put_records(struct conv_json *j, const struct conv_summary *s)
{
    const struct ntff_counts *c = &s->t->counts;
    uint64_t unfinished = 0, start_lost = 0, cut = 0;
    for (size_t i = 0; i < s->t->n_events; i++) {
        uint32_t flags = s->t->events[i].flags;
        unfinished += (flags & NTFF_EV_UNFINISHED) != 0;
        start_lost += (flags & NTFF_EV_START_LOST) != 0;
        cut += (flags & (NTFF_EV_CUT_LEFT | NTFF_EV_CUT_RIGHT)) != 0;
    }
    conv_json_key_u64(j, "closed_unfinished", unfinished);
    conv_json_key_u64(j, "start_lost", start_lost);
    conv_json_key_u64(j, "cut", cut);
    conv_json_key(j, "records");
    conv_json_object(j);
    conv_json_key_u64(j, "in", c->records_in);
    conv_json_key_u64(j, "pairs", c->pairs);
    conv_json_key_u64(j, "whole", c->whole);
    conv_json_key_u64(j, "unfinished", c->unfinished);
    conv_json_key_u64(j, "start_lost", c->start_lost);
    conv_json_key_u64(j, "instants", c->instants);
    conv_json_key_u64(j, "filtered", c->filtered_records);
    conv_json_key_u64(j, "dropped", c->dropped_records);
    conv_json_key_u64(j, "samples_in", c->samples_in);
    conv_json_key_u64(j, "samples_filtered", c->samples_filtered);
    conv_json_key_u64(j, "samples_dropped", c->samples_dropped + s->stats->samples_dropped);
    conv_json_end(j);
}

static void put_findings(struct conv_json *j, const struct ntff_diag *d, const char *key,
                         enum ntff_grade grade)
{
    conv_json_key(j, key);
    conv_json_object(j);
    char name[40];
    for (int k = 0; k < NTFF_DIAG_COUNT; k++)
        if (d->of[k].count && ntff_diag_grade(k) == grade)
            conv_json_key_u64(j, conv_finding_key(k, name), d->of[k].count);
    conv_json_end(j);
}

static void put_clock(struct conv_json *j, const struct ntff_trace *t)
{
    conv_json_key(j, "clock");
    conv_json_object(j);
    conv_json_key_text(j, "mode", ntff_clock_mode_name(t->clock_mode));
    conv_json_key_u64(j, "worst_residual_ns", pft_worst_residual_ns(t));
    conv_json_key_u64(j, "cores", t->n_clocks);
    conv_json_end(j);
}

enum ntff_status conv_summary_write(const struct conv_summary *s, const char *path,
                                    struct ntff_error *err)
{
    struct ntff_out *out;
    enum ntff_status status = ntff_out_open(&out, path, s->force ? NTFF_OUT_REPLACE : 0, 0, err);
    if (status != NTFF_OK)
        return status;
    struct conv_json j = conv_json_begin(out, true);
    conv_json_object(&j);
    conv_json_key_u64(&j, "version", 1);
    conv_json_key_text(&j, "converter", "ntff-conv " NTFF_VERSION);
    put_output(&j, s);
    put_categories(&j, s);
    put_shape(&j, s);
    put_records(&j, s);
    conv_json_key(&j, "clipped");
    conv_json_bool(&j, s->t->clipped);
    put_findings(&j, s->diag, "dropped", NTFF_LOSS);
    put_findings(&j, s->diag, "repaired", NTFF_REPAIR);
    put_findings(&j, s->diag, "notes", NTFF_NOTE);
    put_clock(&j, s->t);
    conv_json_end(&j);
    conv_json_done(&j);
    status = ntff_out_commit(out, err);
    ntff_out_close(out);
    return status;
}
