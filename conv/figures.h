/* figures - the numbers of a trace that reports, checks and comparisons are made of.
 * Knows: proto (model, event_types).
 *
 * Computed in one pass over the events, with attributes decoded only for the few kinds of event
 * where they count (executions, transfers, collectives), and of these only the ones that count.
 *
 * Units:  ns, bytes; shares are fractions 0..1.
 * Edges:  spans whose start or stop is missing have an invented length; they are counted as partial
 *         and left out of every sum, length and gap. Spans cut by --from or --to are partial too,
 *         and in no count, length, sum or collective; but what is left of them is in the unions
 *         (busy, active), between which gaps are, and in host calls.
 * Memory: everything belongs to the figures; event indices and strings refer to the trace. */
#ifndef CONV_FIGURES_H
#define CONV_FIGURES_H

#include "proto/model.h"

/* Lengths of a set of spans. All 0 when n is 0. */
struct conv_lengths {
    uint64_t n, sum_ns, min_ns, max_ns;
};
static inline double conv_mean(const struct conv_lengths *l)
{
    return l->n ? (double)l->sum_ns / (double)l->n : 0;
}

/* One run of a model on a logical core: a nc_exec_running for each of its physical cores. */
struct conv_exec {
    uint64_t ts_ns, end_ns; /* first start, last end */
    uint64_t exec_id;       /* UINT64_MAX = not known */
    uint32_t core;          /* index into .cores */
    uint32_t event;         /* the first of its spans */
    uint32_t n_spans;
    uint32_t made; /* private */
    bool cut;      /* by --from or --to: .ts_ns or .end_ns is an edge of the window */
};

/* Time between executions in which no physical core of a logical core ran. */
struct conv_gap {
    uint64_t ts_ns, dur_ns;
    uint32_t core;
    uint32_t before, after; /* indices into .execs */
};

/* A logical core of one process. */
struct conv_core {
    uint32_t process, nc;
    int32_t worker_gid;                   /* -1 unknown */
    uint32_t n_pcores;                    /* physical cores seen */
    size_t execs_at, n_listed;            /* in .execs, by time, with those that are cut */
    size_t first_exec;                    /* in .execs: the first that is not cut */
    size_t n_execs;                       /* whole ones */
    uint64_t n_spans, n_partial;          /* nc_exec_running */
    uint64_t begin_ns, end_ns;            /* of its executions */
    uint64_t busy_ns;                     /* union over its physical cores */
    uint64_t first_ns;                    /* length of the first execution, start-up included; if
                                             conv_core_has_first */
    uint64_t rest_begin_ns, rest_busy_ns; /* behind the first */
    struct conv_lengths lengths, rest;    /* of whole executions; without the first */
    uint64_t median_ns, rest_median_ns;
    uint64_t n_gaps, gap_ns, max_gap_ns;
};
/* False if the first is cut, or there is none. */
static inline bool conv_core_has_first(const struct conv_core *c)
{
    return c->lengths.n > c->rest.n;
}
/* Busy share of the time from its first to its last execution. */
double conv_core_utilization(const struct conv_core *c);
double conv_core_rest_utilization(const struct conv_core *c); /* the same without the first */

/* Host calls of one process. */
struct conv_wait {
    uint32_t process;
    uint64_t n_executes, execute_ns; /* nrt_execute; of one that is cut, what is left */
    uint64_t n_waits, wait_ns;       /* kbl_exec_wait inside them, on the same thread */
    uint64_t other_wait_ns;          /* kbl_exec_wait outside any nrt_execute */
};

enum conv_direction { CONV_HOST_TO_DEVICE, CONV_DEVICE_TO_HOST, CONV_DIRECTIONS };
/* "host_to_device", "device_to_host" [PQ] */
const char *conv_direction_name(int direction);

struct conv_transfer {
    uint64_t n, n_partial, bytes;
    uint64_t active_ns; /* union: overlapping transfers count once */
    struct conv_lengths lengths;
    bool from_tensors; /* no dmem_buf_*: nrt_tensor_read/write stand in */
};
double conv_bandwidth(const struct conv_transfer *t); /* bytes per second while active */

/* A collective operation over all ranks (process, logical core) that ran it. */
struct conv_collective {
    uint64_t op_id;
    struct ntff_slice algorithm; /* as recorded; empty = not known */
    uint32_t n_ranks;
    uint64_t n_instances;        /* matched over at least two ranks; 0 with one rank */
    struct conv_lengths lengths; /* over ranks and instances */
    uint64_t median_ns;
    uint32_t slowest;   /* index into .cores: largest mean length */
    uint32_t n_slowest; /* ranks whose mean is the same, but for rounding */
    uint64_t slowest_mean_ns;
    uint64_t spread_ns, max_spread_ns; /* longest - shortest of an instance: mean, worst */
    uint64_t skew_ns, max_skew_ns;     /* last start - first start of an instance */
    uint32_t latest;   /* index into .cores: starts last most often; the first of n_latest such */
    uint32_t n_latest; /* all ranks if they always start together */
};

struct conv_memory { /* a counter of device memory */
    uint32_t track;
    uint64_t peak_bytes, last_bytes, peak_ts_ns;
};

struct conv_named { /* all events of one name */
    ntff_str name;
    uint8_t category; /* enum ntff_category */
    uint64_t instants, n_partial;
    struct conv_lengths lengths;
};

struct conv_host { /* samples of host counters; n 0 = none */
    uint64_t n_cpu, n_memory;
    double cpu_mean_percent, cpu_max_percent; /* "average" if there is one, else over all CPUs */
    uint64_t memory_max_bytes, memory_last_bytes;
};

/* A physical core, as device profiles show it. */
struct conv_device {
    uint32_t process, nc, core;
    uint64_t begin_ns, end_ns; /* of its instructions and DMA packets */
    uint64_t active_ns;        /* union over its engines, CC-cores apart */
    uint64_t n_packets, n_partial, n_queues;
    uint64_t bytes, n_sized; /* of packets that say their size */
    uint64_t dma_active_ns;  /* union over queues */
    struct conv_lengths packets;
    uint64_t n_throttles; /* notifications; what they say is not published */
};

struct conv_engine {        /* an engine of a physical core */
    uint32_t track, device; /* device: index into .devices */
    uint64_t n_partial;
    uint64_t active_ns;          /* union: at least one instruction runs */
    struct conv_lengths lengths; /* of instructions */
};

struct conv_list { /* indices of events, ascending */
    uint32_t *v;
    size_t n, cap;
};

struct conv_figures {
    const struct ntff_trace *t;
    NTFF_VEC(struct conv_core) cores;
    NTFF_VEC(struct conv_exec) execs; /* by core, then time */
    NTFF_VEC(struct conv_gap) gaps;   /* longest first */
    uint32_t *longest;                /* indices into .execs of whole ones, longest first */
    size_t n_longest;
    uint32_t *flows_by_end; /* indices of flows, by the event they end at */
    NTFF_VEC(struct conv_wait) waits;
    struct conv_transfer transfers[CONV_DIRECTIONS];
    NTFF_VEC(struct conv_collective) collectives; /* largest total first */
    NTFF_VEC(struct conv_memory) memory;          /* by track */
    NTFF_VEC(struct conv_named) names;            /* by name */
    struct conv_list errors;                      /* events */
    NTFF_VEC(struct conv_device) devices;
    NTFF_VEC(struct conv_engine) engines; /* by track */
    struct conv_host host;
    uint64_t spans, instants;
};

/* jobs: as ntff_load_options.jobs. False when memory ran out. Free with conv_figures_done in any
 * case. */
bool conv_figures_make(struct conv_figures *f, const struct ntff_trace *t,
                       unsigned jobs) NTFF_MUST_CHECK;
void conv_figures_done(struct conv_figures *f);

/* Model name of an execution, else its model id, "" if neither is recorded. Looks into the event
 * and the host call its flow comes from. out is used for ids. */
const char *conv_exec_model(const struct conv_figures *f, const struct conv_exec *e,
                            struct ntff_detail *d, char out[64]);

/* Physical core of an event: its track's, else the one the record names; NTFF_NONE = unknown, or no
 * memory to look. d is scratch. */
uint32_t conv_event_core(const struct ntff_trace *t, const struct ntff_event *e,
                         struct ntff_detail *d);

#endif
