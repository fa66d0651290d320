/* export - see export.h. The range is a second trace that shares everything with the first but its
 * events, samples and flows; those are copied as far as they are wanted and then clipped as on
 * load. */
#include "export.h"

#include "perfetto/perfetto_sink.h"
#include "proto/paths.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static bool wanted(const struct tui_export *e, uint32_t track)
{
    return !e->shown || e->shown[track];
}

static uint64_t end_of(const struct ntff_event *e)
{
    return e->dur_ns > UINT64_MAX - e->ts_ns ? UINT64_MAX : e->ts_ns + e->dur_ns;
}

/* Copies the events that touch the range; new_of tells where each went. */
static bool copy_events(const struct ntff_trace *t, const struct tui_export *e,
                        struct ntff_trace *c, uint32_t *new_of)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *v = &t->events[i];
        bool in = v->ts_ns < e->to && (end_of(v) > e->from || v->ts_ns >= e->from);
        new_of[i] = in && wanted(e, v->track) ? (uint32_t)n++ : NTFF_NONE;
    }
    c->events = malloc((n ? n : 1) * sizeof *c->events);
    if (!c->events)
        return false;
    for (size_t i = 0; i < t->n_events; i++)
        if (new_of[i] != NTFF_NONE)
            c->events[new_of[i]] = t->events[i];
    c->n_events = n;
    return true;
}

/* They get other lanes. */
static bool copy_tracks(const struct ntff_trace *t, struct ntff_trace *c)
{
    c->tracks = malloc((t->n_tracks ? t->n_tracks : 1) * sizeof *c->tracks);
    if (c->tracks && t->n_tracks)
        memcpy(c->tracks, t->tracks, t->n_tracks * sizeof *c->tracks);
    return c->tracks;
}

static bool copy_samples(const struct ntff_trace *t, const struct tui_export *e,
                         struct ntff_trace *c)
{
    size_t n = 0;
    c->samples = malloc((t->n_samples ? t->n_samples : 1) * sizeof *c->samples);
    for (size_t i = 0; c->samples && i < t->n_samples; i++)
        if (wanted(e, t->samples[i].track))
            c->samples[n++] = t->samples[i];
    c->n_samples = n;
    return c->samples;
}

static bool copy_flows(const struct ntff_trace *t, struct ntff_trace *c, const uint32_t *new_of)
{
    size_t n = 0;
    c->flows = malloc((t->n_flows ? t->n_flows : 1) * sizeof *c->flows);
    for (size_t i = 0; c->flows && i < t->n_flows; i++) {
        struct ntff_flow f = t->flows[i];
        f.from = new_of[f.from];
        f.to = new_of[f.to];
        if (f.from != NTFF_NONE && f.to != NTFF_NONE)
            c->flows[n++] = f;
    }
    c->n_flows = n;
    return c->flows;
}

/* False: no memory. */
static bool make_range(const struct ntff_trace *t, const struct tui_export *e, struct ntff_trace *c)
{
    uint32_t *new_of = malloc((t->n_events ? t->n_events : 1) * sizeof *new_of);
    *c = *t;
    c->tracks = NULL;
    c->events = NULL;
    c->samples = NULL;
    c->flows = NULL;
    c->order = c->first = NULL;
    bool good = new_of && copy_tracks(t, c) && copy_events(t, e, c, new_of) &&
                copy_samples(t, e, c) && copy_flows(t, c, new_of);
    free(new_of);
    return good;
}

static bool ends_in(const char *p, size_t len, const char *end)
{
    size_t n = strlen(end);
    return len > n && memcmp(p + len - n, end, n) == 0;
}

/* What a name ending in .gz is besides. */
static size_t plain_len(const char *path)
{
    size_t len = strlen(path);
    return ends_in(path, len, ".gz") ? len - 3 : len;
}

/* Perfetto is all we write: a name that promises something else is refused. */
static bool name_fits(const char *path)
{
    static const char *const suffixes[] = {".pftrace", ".perfetto-trace", ".pb"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t len = plain_len(path);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(suffixes); i++)
        if (ends_in(path, len, suffixes[i]))
            return true;
    const char *dot = memrchr(name, '.', (size_t)(path + len - name));
    return !dot || dot == name; /* promises nothing */
}

static enum ntff_status write_range(const struct ntff_trace *c, const struct ntff_diag *diag,
                                    const struct tui_export *e,
                                    const struct tui_export_watch *watch, struct tui_exported *done,
                                    struct ntff_error *err)
{
    struct pft_options o = {.creator = "ntff-tui " NTFF_VERSION,
                            .diag = diag,
                            .progress = watch ? watch->progress : NULL,
                            .progress_user = watch ? watch->user : NULL};
    struct pft_stats stats = {0};
    struct ntff_out *out = NULL;
    int flags = e->replace ? NTFF_OUT_REPLACE : 0;
    if (e->path[plain_len(e->path)])
        flags |= NTFF_OUT_GZIP;
    enum ntff_status st = ntff_out_open(&out, e->path, flags, 0, err);
    if (st != NTFF_OK)
        return st;
    st = pft_write(c, &o, out, &stats, err);
    done->spans = stats.spans;
    done->instants = stats.instants;
    done->samples = stats.samples;
    done->bytes = ntff_out_total(out);
    if (st == NTFF_OK)
        st = ntff_out_commit(out, err);
    ntff_out_close(out);
    return st;
}

enum ntff_status tui_export_range(const struct ntff_trace *t, const struct ntff_diag *diag,
                                  const struct tui_export *e, const struct tui_export_watch *watch,
                                  struct tui_exported *done, bool *exists, struct ntff_error *err)
{
    struct ntff_trace c;
    struct ntff_diag found = {0};
    struct stat sb;
    *done = (struct tui_exported){0};
    *exists = stat(e->path, &sb) == 0 && !e->replace;
    if (*exists)
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "%.200s exists", e->path);
    enum ntff_status st = NTFF_OK;
    if (diag)
        found = *diag;
    if (!make_range(t, e, &c))
        st = ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "no memory for the range");
    if (st == NTFF_OK)
        st = ntff_trace_clip(&c, e->from, e->to, &found, err);
    if (st == NTFF_OK && c.n_events + c.n_samples == 0)
        st = ntff_fail(err, NTFF_NOTHING, NTFF_NO_OFFSET, "nothing to export: no %s in this range",
                       e->shown ? "track shown has anything" : "event and no sample");
    if (st == NTFF_OK)
        st = write_range(&c, diag ? &found : NULL, e, watch, done, err);
    free(c.tracks);
    free(c.events);
    free(c.samples);
    free(c.flows);
    return st;
}

void tui_export_for(struct tui_app *a, const struct ntff_trace *t, const struct ntff_diag *diag,
                    const struct tui_inputs *in, const struct tui_export_watch *watch)
{
    struct tui_exported done;
    struct ntff_error err;
    bool exists;
    const struct tui_export *e = tui_app_export(a);
    if (!name_fits(e->path)) {
        tui_app_say(a, true,
                    "only Perfetto traces are written: .pftrace, .perfetto-trace or .pb, also "
                    "with .gz, but not %.100s",
                    e->path);
        return;
    }
    if (!ntff_output_allowed(e->path, in->paths, in->n, &err)) {
        tui_app_say(a, true, "%s", err.text);
        return;
    }
    enum ntff_status st = tui_export_range(t, diag, e, watch, &done, &exists, &err);
    if (st == NTFF_OK)
        tui_app_say(a, false,
                    "wrote %" PRIu64 " spans, %" PRIu64 " instants, %" PRIu64 " samples%s to %s",
                    done.spans, done.instants, done.samples, e->shown ? " of the tracks shown" : "",
                    e->path);
    else if (exists)
        tui_app_export_exists(a);
    else if (st == NTFF_CANCELLED)
        tui_app_say(a, false, "cancelled: %.200s was not written", e->path);
    else
        tui_app_say(a, true, "%s", err.text);
}
