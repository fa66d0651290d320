/* provenance - see provenance.h. */
#include "perfetto/provenance.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#define MAX_LISTED 64

struct teller {
    pft_fact_fn *fact;
    void *user;
};

static void number(const struct teller *to, const char *key, uint64_t n)
{
    to->fact(to->user, key, NULL, n > INT64_MAX ? INT64_MAX : (int64_t)n);
}

static void text(const struct teller *to, const char *key, const char *value)
{
    if (value && *value)
        to->fact(to->user, key, value, 0);
}

uint64_t pft_worst_residual_ns(const struct ntff_trace *t)
{
    uint64_t worst = 0;
    for (size_t i = 0; i < t->n_clocks; i++) {
        uint64_t ns = ntff_clock_quality(t->clocks[i].map)->residual_max_ns;
        worst = ns > worst ? ns : worst;
    }
    return worst;
}

static void tell_counts(const struct teller *to, const struct ntff_trace *t)
{
    uint64_t instants = 0, unfinished = 0, start_lost = 0, reversed = 0;
    for (size_t i = 0; i < t->n_events; i++) {
        uint32_t flags = t->events[i].flags;
        instants += (flags & NTFF_EV_INSTANT) != 0;
        unfinished += (flags & NTFF_EV_UNFINISHED) != 0;
        start_lost += (flags & NTFF_EV_START_LOST) != 0;
    }
    for (size_t i = 0; i < t->n_flows; i++)
        reversed += t->flows[i].reversed;
    number(to, "spans", t->n_events - instants);
    number(to, "instants", instants);
    number(to, "samples", t->n_samples);
    number(to, "flows", t->n_flows);
    number(to, "flows_reversed", reversed);
    number(to, "unfinished", unfinished);
    number(to, "start_lost", start_lost);
    number(to, "records_in", t->counts.records_in);
    number(to, "records_filtered", t->counts.filtered_records);
    number(to, "records_dropped", t->counts.dropped_records);
    number(to, "samples_dropped", t->counts.samples_dropped);
}

static void tell_findings(const struct teller *to, const struct ntff_diag *d)
{
    char key[96];
    for (int k = 0; d && k < NTFF_DIAG_COUNT; k++) {
        if (d->of[k].count == 0)
            continue;
        snprintf(key, sizeof key, "%s.%s", ntff_diag_grade(k) == NTFF_LOSS ? "lost" : "finding",
                 ntff_diag_name(k));
        for (char *p = key; *p; p++)
            *p = (char)tolower((unsigned char)*p);
        number(to, key, d->of[k].count);
    }
}

static void tell_clocks(const struct teller *to, const struct ntff_trace *t)
{
    text(to, "clock", ntff_clock_mode_name(t->clock_mode));
    number(to, "clock_worst_residual_ns", pft_worst_residual_ns(t));
    for (size_t i = 0; i < t->n_clocks && i < MAX_LISTED; i++) {
        const struct ntff_core_clock *c = &t->clocks[i];
        char key[96], what[240];
        int n = snprintf(key, sizeof key, "clock.process%" PRIu32 ".nc%" PRIu32, c->process, c->nc);
        if (c->core != NTFF_NONE)
            snprintf(key + n, sizeof key - (size_t)n, ".core%" PRIu32, c->core);
        ntff_clock_describe(c->map, what, sizeof what);
        text(to, key, what);
    }
}

/* False: no memory. */
static bool tell_file(const struct teller *to, const struct ntff_trace *t, size_t i)
{
    const struct ntff_file *f = &t->files[i];
    struct ntff_buf b = {0};
    char key[32];
    snprintf(key, sizeof key, "file.%zu", i);
    ntff_buf_printf(&b, "%s: %s%s, %" PRIu64 " records", ntff_str_of(t, f->path),
                    ntff_file_kind_name(f->kind), f->gzip ? " (gzip)" : "", f->n_records);
    for (size_t k = 0; k < f->facts.n; k++) {
        const struct ntff_fact *fact = &f->facts.v[k];
        ntff_buf_printf(&b, "; %s = %s", ntff_str_of(t, fact->key), ntff_str_of(t, fact->value));
        if (fact->how)
            ntff_buf_printf(&b, " (%s)", ntff_str_of(t, fact->how));
    }
    ntff_buf_add(&b, "", 1);
    bool good = !b.failed;
    if (good)
        text(to, key, (const char *)b.p);
    ntff_buf_free(&b);
    return good;
}

static void tell_processes(const struct teller *to, const struct ntff_trace *t)
{
    for (size_t i = 0; i < t->n_processes && i < MAX_LISTED; i++) {
        const struct ntff_process *p = &t->processes[i];
        char key[32], what[400];
        int n = snprintf(what, sizeof what, "pid %" PRIu64, p->pid);
        if (p->instance)
            n += snprintf(what + n, sizeof what - (size_t)n, ", instance %.200s",
                          ntff_str_of(t, p->instance));
        if (p->worker_gid >= 0)
            snprintf(what + n, sizeof what - (size_t)n, ", worker %" PRId32, p->worker_gid);
        snprintf(key, sizeof key, "process.%zu", i);
        text(to, key, what);
    }
}

bool pft_provenance(const struct ntff_trace *t, const struct ntff_diag *diag, const char *creator,
                    pft_fact_fn *fact, void *user)
{
    struct teller to = {fact, user};
    text(&to, "converter", creator);
    text(&to, "schema", ntff_str_of(t, t->schema));
    number(&to, "begin_unix_ns", t->begin_ns);
    number(&to, "end_unix_ns", t->end_ns);
    tell_counts(&to, t);
    tell_findings(&to, diag);
    tell_clocks(&to, t);
    number(&to, "processes", t->n_processes);
    tell_processes(&to, t);
    number(&to, "files", t->n_files);
    bool good = true;
    for (size_t i = 0; good && i < t->n_files && i < MAX_LISTED; i++)
        good = tell_file(&to, t, i);
    return good;
}
