/* device - the notification records of one physical core into tracks, spans and counters.
 * Knows: build, notif, ntff_info. Private to decode_ntff.c, device*.c and notif_detail.c.
 *
 * One struct ntff_device stands for a subgraph while its blobs are read. It makes tracks when the
 * first record needs them, and keeps what is open (instructions, packets, executions) across blobs,
 * so that a ring drained in several pieces reads like one.
 *
 * Units: *_ns is device time of the core (notif.h); the builder moves it onto host time. */
#ifndef NTFF_DEVICE_H
#define NTFF_DEVICE_H

#include "build.h"
#include "notif.h"
#include "ntff_info.h"

/* -- what details need: struct ntff_source.extra of kind NTFF_SOURCE_NOTIF ------------------------
 */

/* How the counters of one core's blocks become nanoseconds. */
struct ntff_clocks {
    struct ntff_tick engine[NTFF_N_ENGINES];
    struct ntff_tick other;              /* records that name no engine */
    const struct ntff_tick *dma, *topsp; /* by engine index; may be fewer than there are engines */
    uint32_t n_dma, n_topsp;
};

/* One blob: bytes [begin, end) of its source. */
struct ntff_blob_ref {
    uint32_t begin, end;
    const struct ntff_clocks *clocks; /* NULL until the blob is read */
    const struct ntff_queue *queues;  /* of its core */
    uint32_t n_queues;
    uint32_t engine_index;          /* UINT32_MAX unknown */
    uint8_t trace_type, block_type; /* as decoded; 255 unknown */
    uint8_t dma_layout;
    bool dma_queue_ok, sem_ok, interrupt_ok;
    bool status_ring; /* holds only EXPLICIT records: hint 1 is a status, not a DGE */
};

struct ntff_blob_table {
    size_t n;
    struct ntff_blob_ref *v; /* by begin, not overlapping unless the file is hostile */
};

/* Clock a record of this type in this blob is stamped by. */
const struct ntff_tick *ntff_blob_tick(const struct ntff_blob_ref *r, unsigned type);
/* Queue of a DMA engine; NULL when the file lists none. */
const struct ntff_queue *ntff_blob_queue(const struct ntff_blob_ref *r, uint32_t queue_index);

/* -- instruction streams --------------------------------------------------------------------------
 */

/* Per program counter: the name of its spans, and its open ones, oldest first. Links are event
 * indices; an open span's dur_ns holds the next one. */
struct ntff_pc {
    ntff_str name;       /* NTFF_STR_NONE = not interned yet */
    uint32_t head, tail; /* NTFF_NONE = none open */
    uint32_t epoch;      /* of the newest open one */
};
enum { NTFF_PC_PAGE = 1024 };

/* One open status span (execution, collective). */
struct ntff_open {
    uint64_t ns;
    struct ntff_ref ref;
    bool there;
};

/* An engine, or a CC-core: whatever retires instructions in one order. */
struct ntff_stream {
    uint32_t track; /* NTFF_NONE until needed */
    uint32_t n_open;
    uint32_t epoch;              /* moves on when what is open cannot be trusted any more */
    uint64_t busy_ns, active_ns; /* since when something is open; time something was, before that */
    uint64_t n_spans;
    uint64_t first_ns, last_ns;
    uint64_t n_unfinished, n_start_lost;
    struct ntff_pc *page[NTFF_PC_COUNT / NTFF_PC_PAGE]; /* never NULL: d->no_page until needed */
    struct ntff_open exec, cc;
    bool on;        /* passes the filters */
    char label[24]; /* "Tensor", "CC-core 8" */
};

/* -- counters over DMA packets
 * --------------------------------------------------------------------- */

enum { NTFF_CELLS = 1 << 16 };

/* Quantities over time, per cell of 1 << shift ns. Something that goes on at a rate adds its part
 * of its first and last cell, and a step of the rate where the whole cells between begin and end.
 * All modulo 2^64, so it cancels exactly. */
enum { NTFF_PENDING, NTFF_FLOW_M2S, NTFF_FLOW_S2M, NTFF_N_FLOWS };
#define NTFF_FLOW_BITS 32 /* fixed point of bytes per ns */
struct ntff_cell {
    struct {
        uint64_t part, step;
    } of[NTFF_N_FLOWS];
};
struct ntff_cells {
    uint64_t begin_ns, length_ns;
    unsigned shift;
    struct ntff_cell *cell; /* NTFF_CELLS and two more */
};

/* Packets of one (engine, queue, direction) that have started, oldest first. */
struct ntff_fifo {
    uint32_t head, tail; /* event indices, linked by dur_ns */
    uint32_t track;
    bool on; /* passes the filters */
};
enum { NTFF_N_QUEUES = 16 };

enum { NTFF_LANE_START, NTFF_LANE_END, NTFF_LANE_NEW, NTFF_LANE_OTHER, NTFF_LANE_OFF };
/* What records with one value of the byte that holds sub-type and queue mean. */
struct ntff_dma_lane {
    struct ntff_event fresh; /* a packet that starts, but for its time and record */
    struct ntff_fifo *list;
    uint8_t direction;
};

struct ntff_dma_engine {
    uint32_t index; /* of trace_info; UINT32_MAX unknown */
    uint32_t bus_track;
    ntff_str name[2];
    const struct ntff_tick *tick;
    uint64_t last_ns;
    uint8_t dma_layout; /* of the ring its lanes are for */
    bool queue_ok;
    struct ntff_fifo fifo[NTFF_N_QUEUES][2];
    uint8_t what[256]; /* NTFF_LANE_*, by that byte */
    struct ntff_dma_lane lane[256];
};

/* -- a window (device_cut.c) ----------------------------------------------------------------------
 */

/* An event or a sample taken out of the builder's array, with its times for comparisons. */
struct ntff_cut_event {
    struct ntff_event e;
    uint64_t ts, end;
    uint8_t how; /* enum ntff_placed */
    bool there;
};
struct ntff_cut_sample {
    struct ntff_sample s;
    uint64_t ts;
    bool there;
};
struct ntff_cut_track {
    struct ntff_ref first; /* of its first event */
    bool has_event, has_sample;
    struct ntff_cut_sample before; /* latest sample before the window */
};
struct ntff_cut {
    bool on;
    struct ntff_core_window window;
    uint32_t hint;                          /* for the map */
    size_t base_event, base_sample;         /* what lies before is settled */
    size_t next_event, next_sample;         /* how many there are when to look again */
    NTFF_VEC(uint32_t) now;                 /* new index of base_event + i */
    NTFF_VEC(uint32_t) open;                /* old indices of open events */
    NTFF_VEC(struct ntff_cut_track) tracks; /* by index */
    struct ntff_cut_event earliest, latest; /* outside the window */
    struct ntff_cut_sample first_sample, last_sample;
    uint64_t n_gone[NTFF_PLACED_EXTRAPOLATED + 1];
};

/* -- a core
 * ---------------------------------------------------------------------------------------- */

enum { NTFF_N_CC_CORES = 64 };

struct ntff_window {
    uint64_t start_ns, stop_ns;
};

struct ntff_device {
    struct ntff_builder *b;
    const struct ntff_load_options *opt;
    const struct ntff_profile *profile;
    const struct ntff_graph *graph; /* NULL: session blobs without one */
    struct ntff_clocks *clocks;
    uint32_t file, proc, nc, core;
    uint32_t parent; /* track everything hangs below */
    uint16_t src;

    struct ntff_pc *no_page; /* a page of entries without a name */
    struct ntff_stream *engine[NTFF_N_ENGINES];
    struct ntff_stream *cc_core[NTFF_N_CC_CORES]; /* by engine index, made on demand */
    uint32_t sem_track[2][256];                   /* event, semaphore */
    uint32_t sem_group, dma_group, cc_group, events_track, status_track, cc_status_track;
    NTFF_VEC(struct ntff_dma_engine *) dma;
    struct ntff_cells cells;
    struct ntff_cut cut;

    NTFF_VEC(struct ntff_window) execs; /* executions by their markers, in order of their end */
    uint64_t first_ns;                  /* first record of any kind; UINT64_MAX none */
    uint64_t of_kind[NTFF_NK_COUNT];    /* records by kind */
    uint64_t n_filtered, n_dropped, n_bad_time, n_reserved;
    uint64_t sw_marks, hw_marks; /* overflow marks shown */
    uint64_t n_packets, packet_bytes[2];
    uint64_t n_samples;        /* records that became counter samples */
    struct ntff_counts counts; /* of the others: what they became */
};

/* A run of records of this core, as decode_ntff.c hands it over. */
struct ntff_ring {
    const uint8_t *data;
    uint64_t n;
    struct ntff_blob_ref *ref;
    struct ntff_ring_look look;
    const uint32_t *order; /* records by time; NULL = as they lie */
    bool undecoded;        /* has been reported as such */
};

enum ntff_status
ntff_device_init(struct ntff_device *d) NTFF_MUST_CHECK; /* after the fields above src */
/* Time over which the DMA counters run, before the first DMA blob is read. */
bool ntff_device_dma_extent(struct ntff_device *d, uint64_t first_ns,
                            uint64_t last_ns) NTFF_MUST_CHECK;
/* With a window asked for: lets go of what lies outside. first_ns is the time of the first record,
 * at a guess. Before the first blob is read. */
void ntff_device_cut_begin(struct ntff_device *d, uint64_t first_ns);
/* Reads one blob. */
bool ntff_device_ring(struct ntff_device *d, struct ntff_ring *ring) NTFF_MUST_CHECK;
/* Closes what is open, emits counters. */
bool ntff_device_finish(struct ntff_device *d) NTFF_MUST_CHECK;
void ntff_device_done(struct ntff_device *d);

/* -- between the device*.c files
 * -------------------------------------------------------------------- */

struct ntff_stream *ntff_device_stream(struct ntff_device *d, const struct ntff_blob_ref *r,
                                       unsigned type);
bool ntff_device_stream_track(struct ntff_device *d, struct ntff_stream *s) NTFF_MUST_CHECK;
/* "PE,Tensor" or "^SP": does a list want something with these two names? Empty and NULL want all.
 */
bool ntff_device_listed(const char *list, const char *code, const char *name);
/* An instant or span of this core. */
bool ntff_device_add(struct ntff_device *d, const struct ntff_event *e) NTFF_MUST_CHECK;
bool ntff_device_instant(struct ntff_device *d, uint32_t track, int category, const char *name,
                         uint64_t ns, struct ntff_ref ref) NTFF_MUST_CHECK;
uint32_t
ntff_device_events(struct ntff_device *d); /* track for errors and marks; NTFF_NONE: no memory */
/* Any record that is not an instruction's start or end, and the overflow marks of all. */
bool ntff_device_other(struct ntff_device *d, struct ntff_ring *ring,
                       uint64_t index) NTFF_MUST_CHECK;
/* device_cut.c: now and then while records are read, if cut.on; at the end; always. */
bool ntff_device_cut_step(struct ntff_device *d) NTFF_MUST_CHECK;
bool ntff_device_cut_end(struct ntff_device *d) NTFF_MUST_CHECK;
void ntff_device_cut_done(struct ntff_device *d);
/* device_instr.c */
bool ntff_device_instructions(struct ntff_device *d, struct ntff_ring *ring) NTFF_MUST_CHECK;
void ntff_stream_close(struct ntff_device *d, struct ntff_stream *s);
/* device_dma.c, device_cells.c */
/* Records [first, first + n) of a ring, all of DMA. */
bool ntff_device_dma(struct ntff_device *d, struct ntff_ring *ring, uint64_t first,
                     uint64_t n) NTFF_MUST_CHECK;
void ntff_device_dma_close(struct ntff_device *d, struct ntff_dma_engine *e);
/* One that lies in several cells, from and to counted from the first. */
void ntff_cells_spread(const struct ntff_cells *c, int what, uint64_t from, uint64_t to,
                       uint64_t bytes);
/* A packet: pending from start to stop, and bytes that flowed evenly. what = NTFF_FLOW_*. */
static inline void ntff_cells_add(const struct ntff_cells *c, int what, uint64_t start_ns,
                                  uint64_t stop_ns, uint64_t bytes)
{
    uint64_t from = start_ns - c->begin_ns, to = stop_ns - c->begin_ns;
    if (NTFF_UNLIKELY(from > to || to > c->length_ns))
        return; /* a time out of order, outside what the first and last record said */
    struct ntff_cell *cell = &c->cell[from >> c->shift];
    if (NTFF_LIKELY(from >> c->shift == to >> c->shift)) {
        cell->of[NTFF_PENDING].part += to - from;
        cell->of[what].part += bytes << NTFF_FLOW_BITS;
    } else {
        ntff_cells_spread(c, what, from, to, bytes);
    }
}
bool ntff_device_dma_counters(struct ntff_device *d) NTFF_MUST_CHECK;

static inline struct ntff_ref ntff_ring_ref(const struct ntff_device *d, const struct ntff_ring *r,
                                            uint64_t index)
{
    return (struct ntff_ref){r->ref->begin + (uint32_t)(index * NTFF_NOTIF_BYTES), d->src};
}

#endif
