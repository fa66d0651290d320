/* ntff_facts - what an .ntff says besides its notifications, as lines for `ntff-conv info`.
 * Knows: build, ntff_info, device. Private to decode_ntff.c.
 * Every function returns false only when memory ran out. */
#ifndef NTFF_FACTS_H
#define NTFF_FACTS_H

#include "device.h"

/* Container, how numbers and offsets were settled, everything of ntff_info that is not a subgraph.
 */
bool ntff_facts_file(struct ntff_builder *b, uint32_t file,
                     const struct ntff_profile *p) NTFF_MUST_CHECK;
/* A subgraph: instruction streams, queues, memory, collectives, clocks. */
bool ntff_facts_graph(struct ntff_builder *b, uint32_t file, const struct ntff_profile *p,
                      uint32_t graph, const char *where) NTFF_MUST_CHECK;
/* What was read of a core: records by kind, active time, executions against those of the runtime.
 */
bool ntff_facts_core(struct ntff_device *d, const char *where, const struct ntff_core_run *runs,
                     size_t n_runs) NTFF_MUST_CHECK;
/* Adds a fact whose value is formatted. */
bool ntff_factf(struct ntff_builder *b, uint32_t file, const char *key, const char *how,
                const char *fmt, ...) NTFF_PRINTF(5, 6) NTFF_MUST_CHECK;

/* "INSTRUCTION", "NC"; numbers beyond the tables as digits in buf. */
const char *ntff_trace_type_name(uint32_t trace_type, char buf[16]);
const char *ntff_block_type_name(uint32_t block_type, char buf[16]);

#endif
