/* summary - what a conversion wrote, as JSON, to be compared with what a reader of the trace
 * counts. Knows: model, jsonw, perfetto.
 *
 * Object of the file, version 1:
 *   "output"       path, format, bytes (before compression), compact, args; Perfetto also parts:
 * bytes of the packets of spans and instants, of the flow ids in them, of samples, and the rest
 *   "time"         base_unix_ns (Unix time of trace time 0), begin_ns, end_ns (trace time)
 *   "spans" "instants" "samples"   numbers written
 *   "categories"   per category that occurs: count, sum (of durations), min (first start), max
 * (last end), in trace time as the output holds it - the columns of SELECT category, count(*),
 * sum(dur), min(ts), max(ts + dur) FROM slice GROUP BY 1 - and spans, instants, shortest_ns,
 * longest_ns "flows"        written, reversed "lanes"        tracks, rows (one per lane),
 * tracks_with_lanes, most "closed_unfinished" "start_lost" "cut" "records"      in, pairs, whole,
 * unfinished, start_lost, instants, filtered, dropped, samples_in, samples_dropped "dropped"
 * "repaired" "notes"   findings by name, of all that was read even if only a window was written
 * "clipped"      true then
 * "clock"        mode, worst_residual_ns, cores */
#ifndef CONV_SUMMARY_H
#define CONV_SUMMARY_H

#include "perfetto/perfetto_sink.h"

struct conv_summary {
    const struct ntff_trace *t;
    const struct ntff_diag *diag;
    const struct pft_stats *stats;
    const char *path, *format;
    uint64_t bytes;
    uint64_t origin_ns; /* trace time of the first moment in this format */
    bool compact, args;
    bool force; /* replace an existing summary */
};

enum ntff_status conv_summary_write(const struct conv_summary *s, const char *path,
                                    struct ntff_error *err) NTFF_MUST_CHECK;

#endif
