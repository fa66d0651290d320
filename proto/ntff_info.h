/* ntff_info - an .ntff taken apart: container, message tree as flat lists, sections.
 * Source: container and messages [FMT] [WIRE] [SER], numbers as graded in proto/ntff.proto.
 * Knows: base, error, diag, mem, wire, schema.
 * Units:  offsets and lengths are bytes; *_off counts from the start of the file.
 * Memory: lists are owned (ntff_profile_done); slices point into the file.
 *
 * Numbers come from the schema, by name. Those it lacks are found in the data by the structural
 * tests of FORMAT.md, and .how says so; what stays unknown is left out, and the caller is told. */
#ifndef NTFF_INFO_H
#define NTFF_INFO_H

#include "diag.h"
#include "error.h"
#include "mem.h"
#include "schema.h"

enum { NTFF_HEADER_BYTES = 128, NTFF_VERSION_MIN = 1, NTFF_VERSION_MAX = 6 };

/* Numbers the decoder needs: slot, message, field name in the schema. Those without a name there
 * are bound by type, see bind() in ntff_info.c. */
#define NTFF_NUMBER_TABLE(X)                                                                       \
    X(NODES, "ntff_info", "neff_nodes")                                                            \
    X(BUFFERS, "ntff_info", "notification_buffer_sizes")                                           \
    X(TIMELINE, "ntff_info", "execution_timeline")                                                 \
    X(SESSION, "ntff_info", "session_notifications")                                               \
    X(TICKS, "ntff_info", "ticks_per_ns")                                                          \
    X(NODE_ND, "neff_node_info", "nd_node")                                                        \
    X(GRAPHS, "nd_node_info", "graphs")                                                            \
    X(GRAPH_NAME, "subgraph_info", "name")                                                         \
    X(GRAPH_ND, "subgraph_info", "nd_idx")                                                         \
    X(GRAPH_NC, "subgraph_info", "nc_idx")                                                         \
    X(GRAPH_RUNS, "subgraph_info", "instruction_info")                                             \
    X(GRAPH_TRACES, "subgraph_info", "traces")                                                     \
    X(GRAPH_QUEUES, "subgraph_info", "dma_queue_usage")                                            \
    X(GRAPH_COLL, "subgraph_info", "coll_info")                                                    \
    X(GRAPH_CLOCKS, "subgraph_info", "timestamp_info")                                             \
    X(GRAPH_MEMORY, "subgraph_info", "memory_usage_breakdown")                                     \
    X(GRAPH_COLL_RUNS, "subgraph_info", "collectives_instruction_info")                            \
    X(COLL_TOPSP, "collectives_info", "topsp")                                                     \
    X(RUN_ENGINE, "engine_instruction_info", "nc_engine_type")                                     \
    X(RUN_ADDRESS, "engine_instruction_info", "start_address")                                     \
    X(RUN_BYTES, "engine_instruction_info", "instructions")                                        \
    X(RUN_INDEX, "engine_instruction_info", "engine_index")                                        \
    X(RUN_BLOCK, "engine_instruction_info", "block_type")                                          \
    X(RUN_FUNCTION, "engine_instruction_info", "function_section")                                 \
    X(RUN_OFFSET, "engine_instruction_info", "instructions_offset")                                \
    X(RUN_SIZE, "engine_instruction_info", "instructions_size")                                    \
    X(TRACE_TYPE, "trace_info", "trace_type")                                                      \
    X(TRACE_BLOCK, "trace_info", "block_type")                                                     \
    X(TRACE_OFFSET, "trace_info", "trace_offset")                                                  \
    X(TRACE_SIZE, "trace_info", "trace_size")                                                      \
    X(TRACE_ENGINE, "trace_info", "engine_index")                                                  \
    X(TRACE_BYTES, "trace_info", "trace")                                                          \
    X(QUEUE_ENGINE, "dma_queue_usage_info", "engine_index")                                        \
    X(QUEUE_INDEX, "dma_queue_usage_info", "queue_index")                                          \
    X(QUEUE_TYPE, "dma_queue_usage_info", "queue_type")                                            \
    X(QUEUE_NAME, "dma_queue_usage_info", "name")                                                  \
    X(CLOCK_PE, "nc_timestamp_info", "tpb_pe")                                                     \
    X(CLOCK_ACT, "nc_timestamp_info", "tpb_act")                                                   \
    X(CLOCK_POOL, "nc_timestamp_info", "tpb_pool")                                                 \
    X(CLOCK_DVE, "nc_timestamp_info", "tpb_dve")                                                   \
    X(CLOCK_SP, "nc_timestamp_info", "tpb_sp")                                                     \
    X(CLOCK_DMA, "nc_timestamp_info", "dma")                                                       \
    X(CLOCK_TOPSP, "nc_timestamp_info", "top_sp")                                                  \
    X(BLOCK_INIT, "block_timestamp_info", "init_timestamp")                                        \
    X(BLOCK_ACTUAL, "block_timestamp_info", "actual_timestamp_inc")                                \
    X(BLOCK_EXPECTED, "block_timestamp_info", "expected_timestamp_inc")                            \
    X(MEMORY_TYPE, "nc_memory_usage", "type")                                                      \
    X(MEMORY_BYTES, "nc_memory_usage", "bytes")

enum ntff_number {
#define X(slot, message, field) NTFF_N_##slot,
    NTFF_NUMBER_TABLE(X)
#undef X
        NTFF_N_COUNT
};

enum ntff_how { NTFF_HOW_UNKNOWN, NTFF_HOW_BUILTIN, NTFF_HOW_SCHEMA, NTFF_HOW_TEST };

/* init, actual and expected increment of one block's counter, as in the file. */
struct ntff_triple {
    uint64_t init, actual, expected;
    bool there;
};
enum {
    NTFF_CLOCK_SECOND = 5,
    NTFF_CLOCK_THIRD,
    NTFF_N_TRIPLES
}; /* after the five engines: 2 and 3,
which are ACT and DVE in an order nobody published */

/* A subgraph: what one physical core ran. */
struct ntff_graph {
    struct ntff_slice name;
    struct ntff_slice msg; /* the whole message, for those who list the rest of it */
    uint32_t nd_idx, nc_idx;
    struct ntff_triple clock[NTFF_N_TRIPLES]; /* by enum ntff_engine, then the two above */
    uint32_t first_queue, n_queues;
    uint32_t first_dma_clock, n_dma_clocks;
    uint32_t first_topsp_clock, n_topsp_clocks;
};

/* engine_instruction_info: the instruction stream of one engine. */
struct ntff_run {
    uint64_t start_address, off, len; /* off as in the file, relative to whatever .base says */
    struct ntff_slice bytes;          /* inline form; len 0 when off and len are used */
    uint32_t graph, engine, engine_index, block_type;
    bool function_section, collective;
};

/* trace_info: one run of notification records. */
struct ntff_blob {
    uint64_t off, len;       /* as in the file, relative to whatever .base says */
    struct ntff_slice bytes; /* inline form */
    struct ntff_slice msg;   /* the trace_info itself */
    uint32_t graph;          /* UINT32_MAX = session_notifications */
    uint32_t trace_type;     /* notification_trace_type, UINT32_MAX unknown */
    uint32_t block_type;     /* 0 NC, 1 DMA, 2 TOPSP; UINT32_MAX unknown */
    uint32_t engine_index;   /* UINT32_MAX unknown */
};

struct ntff_queue {
    struct ntff_slice name;
    uint32_t engine_index, queue_index, type;
};

enum ntff_base { NTFF_BASE_UNKNOWN, NTFF_BASE_SECTION, NTFF_BASE_MESSAGE, NTFF_BASE_FILE };
/* "relative to their section", ... */
const char *ntff_base_name(int base);

struct ntff_profile {
    struct ntff_budget *budget;
    struct ntff_diag *diag;
    const char *path;
    const struct ntff_schema *schema; /* the one that was used */
    struct ntff_schema *own_schema;   /* set when the given one did not fit */
    struct ntff_slice file;

    uint8_t version;
    uint64_t msg_len;      /* as the header says */
    struct ntff_slice msg; /* what is there of it */
    uint64_t ticks_per_ns; /* 0 = not given */

    uint32_t number[NTFF_N_COUNT]; /* 0 = unknown */
    uint8_t how[NTFF_N_COUNT];     /* enum ntff_how */

    NTFF_VEC(struct ntff_graph) graphs;
    NTFF_VEC(struct ntff_run) runs;
    NTFF_VEC(struct ntff_blob) blobs;
    NTFF_VEC(struct ntff_queue) queues;
    NTFF_VEC(struct ntff_triple) dma_clocks, topsp_clocks;
    NTFF_VEC(struct ntff_slice) traces; /* trace_info messages, file order */
    NTFF_VEC(uint32_t) trace_graph;     /* the graph of each */
    uint64_t n_over;                    /* list entries left out: over NTFF_LIST_MAX */

    /* sections, once ntff_profile_sections has run */
    uint64_t runs_off, runs_len;   /* instruction section, cut to the file */
    uint64_t runs_want;            /* its length by the message */
    uint64_t blobs_off, blobs_len; /* notification section, cut to the file */
    uint64_t blobs_want;  /* its length by the message; more than blobs_len = the file is cut */
    uint64_t left_over;   /* bytes after the notification section */
    uint64_t gap_bytes;   /* inside it, named by no trace_info */
    uint64_t base_off;    /* what blob offsets count from */
    uint8_t base;         /* enum ntff_base, of blob offsets */
    const char *base_how; /* "sum test", "record test", "default" */
};

#define NTFF_GRAPHS_MAX 4096     /* a subgraph is a core: no machine has as many */
#define NTFF_LIST_MAX (1u << 20) /* entries of any list; beyond it they are counted only */

/* Header of a file. False when it is none (too short, or the fixed zero bytes are not). */
bool ntff_container(struct ntff_slice file, uint8_t *version, uint64_t *msg_len);

/* Takes the file apart. Damage is counted in the diag and what is good is kept.
 * Errors: NOMEM; MALFORMED (no header). *p must be done also after an error. */
enum ntff_status ntff_profile_parse(struct ntff_profile *p, struct ntff_slice file,
                                    const struct ntff_schema *schema, struct ntff_budget *budget,
                                    struct ntff_diag *diag, const char *path,
                                    struct ntff_error *err) NTFF_MUST_CHECK;
void ntff_profile_done(struct ntff_profile *p);

/* Records of a blob that are in the file: *off counts from the file's start, *len is a multiple of
 * 16. False when nothing of it is there. */
bool ntff_blob_place(const struct ntff_profile *p, const struct ntff_blob *b, uint64_t *off,
                     uint64_t *len);

/* -- between ntff_info.c and ntff_find.c ------------------------------------------------------- */

/* Finds the numbers of the path to the subgraphs where the schema lacks them. */
void ntff_find_graphs(struct ntff_profile *p);
/* Finds offset and size in trace_info, and which field of ntff_info lists the session's: those are
 * appended to p->traces. False when memory ran out. */
bool ntff_find_traces(struct ntff_profile *p) NTFF_MUST_CHECK;
/* Settles bases and extents of the two sections from the lists. */
void ntff_find_sections(struct ntff_profile *p);
/* Finds type, block and engine of trace_info by the records themselves, and fills them in. */
bool ntff_find_kinds(struct ntff_profile *p) NTFF_MUST_CHECK;
/* Appends a trace_info message. False when memory ran out. */
bool ntff_profile_add_trace(struct ntff_profile *p, struct ntff_slice msg,
                            uint32_t graph) NTFF_MUST_CHECK;

/* One trace_info by the numbers known. */
void ntff_trace_read(const struct ntff_profile *p, struct ntff_slice msg, struct ntff_blob *out);

#endif
