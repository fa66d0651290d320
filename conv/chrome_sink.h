/* chrome_sink - a trace as Chrome JSON, for chrome://tracing, Perfetto and scripts.
 * Knows: model, walk, layout, jsonw.
 *
 * The same content as the Perfetto writer: one event a line, spans as X events, one tid per lane,
 * rebased microseconds with three decimals made from integer nanoseconds (.baseTimeNanoseconds is
 * the Unix time of 0), integers above 2^53 as text, arrows as s/f pairs, counters as C. */
#ifndef CONV_CHROME_SINK_H
#define CONV_CHROME_SINK_H

#include "perfetto/perfetto_sink.h"

/* As pft_write; .compact means nothing here. */
enum ntff_status conv_chrome_write(const struct ntff_trace *t, const struct pft_options *opt,
                                   struct ntff_out *out, struct pft_stats *stats,
                                   struct ntff_error *err) NTFF_MUST_CHECK;

#endif
