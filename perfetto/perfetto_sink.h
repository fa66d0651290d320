/* perfetto_sink - a trace as a Perfetto protobuf trace (.pftrace).
 * Knows: model, walk, layout, packets, intern.
 *
 * One sequence. First the clock, provenance and every track; then the events in time order, each
 * span as a begin and an end packet on the uuid of its lane. Times are host time rebased to a small
 * origin; the clock snapshot says what Unix time that is. Every event carries its raw facts
 * (ntff_detail) as annotations, and what was done to it as flags: unfinished, start_lost,
 * estimated, unaligned, cut_left, cut_right, negative_duration, no_lane. */
#ifndef PFT_PERFETTO_SINK_H
#define PFT_PERFETTO_SINK_H

#include "perfetto/intern.h"
#include "proto/out.h"
#include "proto/sink.h"

#define PFT_MAX_TEXT ((size_t)1 << 20) /* longer values are cut, counted in .cut_texts */

struct pft_options {
    bool no_args;                 /* leave the annotations out */
    const char *only_args;        /* "a,b": of what records tell these alone; NULL = all */
    unsigned jobs;                /* threads, 0 = one per processor; the bytes are the same */
    bool compact;                 /* differences instead of times: smaller, less robust */
    const char *creator;          /* "ntff-conv 0.1.0" */
    const struct ntff_diag *diag; /* findings for the provenance; NULL = none */
    int (*progress)(void *user, const char *what, int permille); /* nonzero cancels; may be NULL */
    void *progress_user;
};

struct pft_stats { /* what was written */
    uint64_t spans, instants, samples, flows, flows_reversed;
    uint64_t samples_dropped; /* no number, or no counter to put them on */
    uint64_t cut_texts;
    /* bytes of packets by kind; what is not here stands before the events */
    uint64_t span_bytes, instant_bytes, sample_bytes;
    uint64_t flow_bytes; /* arrows at spans and instants */
    /* names of .only_args that nothing written has, the first few */
    struct pft_unmet unmet[4];
    size_t n_unmet;
};

/* Writes t to out (without committing it). Errors: NOMEM, CANCELLED, LIMIT (longer than 2^62 ns),
 * and what out reports. */
enum ntff_status pft_write(const struct ntff_trace *t, const struct pft_options *opt,
                           struct ntff_out *out, struct pft_stats *stats,
                           struct ntff_error *err) NTFF_MUST_CHECK;

/* What every writer begins and ends with: LIMIT if the trace is longer than formats can say; the
 * outcome of writing, of what out reports, of what ran out of memory and of the walk. */
enum ntff_status pft_check_length(const struct ntff_trace *t, struct ntff_error *err);
enum ntff_status pft_outcome(const struct ntff_out *out, bool no_memory, enum ntff_status walk,
                             struct ntff_error *err);

#endif
