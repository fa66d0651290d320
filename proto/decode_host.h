/* decode_host - host-side files into records. Private to proto/. */
#ifndef NTFF_DECODE_HOST_H
#define NTFF_DECODE_HOST_H

#include "build.h"
#include "input.h"
#include "probe.h"

/* Decodes a file that probe recognised, or lets it wait for ntff_decode_host_waiting. in stays
 * open as long as the trace. False, of both: out of memory or cancelled (the builder knows
 * which). */
bool ntff_decode_host(struct ntff_builder *b, const struct ntff_input *in,
                      const struct ntff_probe *probe, uint32_t file, uint32_t proc) NTFF_MUST_CHECK;

/* Decodes the files that wait, in their order, several threads at work on one or more of them. */
bool ntff_decode_host_waiting(struct ntff_builder *b) NTFF_MUST_CHECK;

#endif
