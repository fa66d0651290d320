/* model - one trace, immutable once loaded: what every output and the viewer read.
 * Knows: base, error, mem, diag, clock.
 *
 * Shape: a tree of tracks; spans and instants in one array sorted by time; counter samples in a
 * second one; flows as pairs of event indices; strings interned. An event is 40 bytes: attributes
 * are not stored but referenced - start_ref and stop_ref name the raw records in the mapped
 * input, and ntff_detail decodes them when somebody asks.
 *
 * Time: every ts_ns is Unix time on the host clock of its process, in nanoseconds; device events
 * have been placed there by clock.h (flag NTFF_EV_ESTIMATED or NTFF_EV_UNALIGNED tells if not
 * exactly). Ranges are half-open.
 * Order of events: ts_ns ascending; at one ts longer spans first, then zero-length spans, then
 * instants; then input order. Emitting BEGINs in this order and closing ended spans first keeps
 * every lane strictly nested. Memory: the trace owns everything; free with ntff_trace_free. Threads
 * may share it read-only. */
#ifndef NTFF_MODEL_H
#define NTFF_MODEL_H

#include <assert.h>

#include "clock.h"
#include "diag.h"
#include "error.h"
#include "mem.h"

#define NTFF_NONE UINT32_MAX

/* -- where raw records live ------------------------------------------------------------------- */

/* A record: .off bytes into source .src. */
struct ntff_ref {
    uint32_t off;
    uint16_t src; /* NTFF_SRC_NONE = there is no such record (the half is missing) */
} __attribute__((packed));
#define NTFF_SRC_NONE UINT16_MAX

enum ntff_source_kind {
    NTFF_SOURCE_EVENTS, /* protobuf ntrace_event messages, .framing tells how the length is written
                         */
    NTFF_SOURCE_RAW112, /* nrt_sys_trace_event records, 112 bytes each [TAX] */
    NTFF_SOURCE_STORE,  /* events re-encoded from JSON (varint length, ntrace_event + own fields) */
    NTFF_SOURCE_NOTIF   /* 16-byte device notification records [NOTIF] */
};

struct ntff_event_plan; /* plan.h: numbers of ntrace_event in this file */

struct ntff_source {
    enum ntff_source_kind kind;
    const uint8_t *data;                /* off counts from here */
    uint64_t len;                       /* readable bytes from data */
    uint64_t file_off;                  /* offset of data in the (unpacked) file */
    uint32_t file;                      /* index into trace.files */
    uint8_t framing;                    /* enum ntff_framing, EVENTS only */
    const struct ntff_event_plan *plan; /* EVENTS */
    const void *extra;                  /* NOTIF: blob table of the decoder */
};

/* -- tracks ----------------------------------------------------------------------------------- */

enum ntff_track_kind {
    NTFF_TRACK_PROCESS,   /* a Perfetto process: by default one (instance, pid) */
    NTFF_TRACK_THREAD,    /* host events of one host thread; .tid */
    NTFF_TRACK_ROW,       /* host events grouped by other fields, or a further row of a thread */
    NTFF_TRACK_GROUP,     /* only holds children: Counters, NeuronCores, HBM, DMA, Semaphores... */
    NTFF_TRACK_NC,        /* a logical NeuronCore; only holds children */
    NTFF_TRACK_EXEC,      /* nc_exec_running, nc_model_switch of one physical core */
    NTFF_TRACK_ENGINE,    /* instructions of one engine of one physical core */
    NTFF_TRACK_DMA,       /* packets of one DMA queue */
    NTFF_TRACK_CC,        /* collectives: cc_running, cc_exec_barrier, CC-cores */
    NTFF_TRACK_SEMAPHORE, /* counter of one semaphore or event */
    NTFF_TRACK_EVENTS,    /* errors, notifications, throttling, lost-event marks */
    NTFF_TRACK_COUNTER    /* samples, no events */
};

enum ntff_unit {
    NTFF_UNIT_NONE,
    NTFF_UNIT_NS,
    NTFF_UNIT_COUNT,
    NTFF_UNIT_BYTES,
    NTFF_UNIT_PERCENT,
    NTFF_UNIT_BYTES_PER_SEC
};

struct ntff_track {
    ntff_str name;
    ntff_str description; /* 0 = none; clock quality for a core */
    uint32_t parent;      /* index of an earlier track, NTFF_NONE for roots */
    uint32_t process;     /* index into trace.processes, NTFF_NONE if several or none */
    int32_t rank;         /* order among siblings, smaller first; ties by index */
    uint32_t nc;          /* logical NeuronCore, NTFF_NONE if none */
    uint32_t core;        /* physical core (device_core_idx), NTFF_NONE if none */
    uint64_t tid;         /* THREAD */
    uint16_t n_lanes;     /* 1 unless spans overlap without nesting */
    uint8_t kind;         /* enum ntff_track_kind */
    uint8_t unit;         /* COUNTER, SEMAPHORE: enum ntff_unit */
    bool is_double;       /* COUNTER: samples hold .d */
    bool flat;            /* spans may not nest here: any overlap opens a lane (engines, DMA) */
    bool unaligned;       /* times are device time, shifted to the trace start */
    ntff_str share_key;   /* COUNTER: one y axis with siblings of the same key; 0 = none */
};

/* -- events ----------------------------------------------------------------------------------- */

enum ntff_category {
    NTFF_CAT_HOST,
    NTFF_CAT_EXEC,
    NTFF_CAT_CC,
    NTFF_CAT_INSTR,
    NTFF_CAT_DMA,
    NTFF_CAT_SEM,
    NTFF_CAT_ERROR,
    NTFF_CAT_SYNC,
    NTFF_CAT_MARK,
    NTFF_CAT_FRAMEWORK,
    NTFF_CAT_COUNT
};
/* "host", "exec", "cc", "instr", "dma", "sem", "error", "sync", "mark", "framework" */
const char *ntff_category_name(int category);

enum {
    NTFF_EV_INSTANT = 1 << 0,    /* a point: dur_ns is 0 */
    NTFF_EV_UNFINISHED = 1 << 1, /* no stop: closed at the trace end */
    NTFF_EV_START_LOST = 1 << 2, /* no start: drawn from the trace begin */
    NTFF_EV_ESTIMATED = 1 << 3,  /* placed by nearest pair or extrapolation, or core guessed */
    NTFF_EV_UNALIGNED = 1 << 4,  /* device time, not aligned */
    NTFF_EV_CUT_LEFT = 1 << 5,   /* begins before --from */
    NTFF_EV_CUT_RIGHT = 1 << 6,  /* ends after --to */
    NTFF_EV_NEGATIVE = 1 << 7,   /* stop before start in the file: length 0 */
    NTFF_EV_DEVICE = 1 << 8,     /* has device time (nc_timestamp_ns, or a notification record) */
    NTFF_EV_FLOW_OUT = 1 << 9,   /* is .from of some flow */
    NTFF_EV_FLOW_IN = 1 << 10,   /* is .to of some flow */
    NTFF_EV_NO_LANE = 1 << 11,   /* a span shown as an instant for want of a lane; dur_ns is kept */
    NTFF_EV_STOP_PLAIN =
        1 << 12, /* the stop record tells no details: it holds the common numbers only
                  */
    /* the start, the stop or both are not those of what happened */
    NTFF_EV_PARTIAL = NTFF_EV_UNFINISHED | NTFF_EV_START_LOST | NTFF_EV_CUT_LEFT | NTFF_EV_CUT_RIGHT
};

struct ntff_event {
    uint64_t ts_ns;
    uint64_t dur_ns;
    struct ntff_ref start_ref; /* START, INSTANT, whole-span record, or INST_START */
    struct ntff_ref stop_ref;
    ntff_str name;
    uint32_t track;
    uint32_t lane : 10;  /* 0 .. track.n_lanes - 1 */
    uint32_t cat : 4;    /* enum ntff_category */
    uint32_t flags : 18; /* NTFF_EV_* */
};
static_assert(sizeof(struct ntff_event) == 40, "events are kept by the million");
#define NTFF_MAX_LANES 256

struct ntff_sample {
    uint64_t ts_ns;
    union {
        int64_t i;
        double d;
    } value;
    uint32_t track;
};

/* An arrow from one event to another; sorted by (from, to). id counts from 1. */
struct ntff_flow {
    uint32_t from, to; /* event indices */
    uint32_t id;
    bool reversed; /* .to begins before .from */
};

/* -- where it came from ----------------------------------------------------------------------- */

struct ntff_process {
    ntff_str instance;  /* "i-..." or 0 */
    ntff_str dir;       /* directory or file it was read from */
    uint64_t pid;       /* true pid, 0 = unknown */
    int32_t worker_gid; /* -1 unknown */
    uint32_t n_captures;
};

enum ntff_framing { NTFF_FRAME_BARE, NTFF_FRAME_VARINT, NTFF_FRAME_U32, NTFF_FRAME_U64 };

enum ntff_file_kind {
    NTFF_FILE_UNKNOWN,
    NTFF_FILE_EMPTY,
    NTFF_FILE_NTRACE,
    NTFF_FILE_TRACE_INFO,
    NTFF_FILE_CPU_UTIL,
    NTFF_FILE_HOST_MEM,
    NTFF_FILE_NTFF,
    NTFF_FILE_RAW112,
    NTFF_FILE_EVENT_JSON,
    NTFF_FILE_SYSTEM_PROFILE_JSON,
    NTFF_FILE_NEFF,
    NTFF_FILE_SCHEMA
};
const char *ntff_file_kind_name(int kind);

/* One line of `ntff-conv info`: how the file was read, and how that was settled. */
struct ntff_fact {
    ntff_str key;   /* "framing", "numbering", "ntrace_info.events", "arch", ... */
    ntff_str value; /* "varint length before each record", "2", ... */
    ntff_str how;   /* "built-in", "found by test", "schema FILE", 0 = plain fact */
};

struct ntff_file {
    ntff_str path;
    uint8_t kind; /* enum ntff_file_kind */
    bool gzip;
    bool cut;         /* the gzip stream ended badly: said once, not again for the record it cut */
    uint32_t process; /* NTFF_NONE if it belongs to none */
    uint64_t size_bytes; /* unpacked */
    uint64_t n_records;  /* records found in it (events, samples, notification records) */
    uint64_t n_dropped;  /* of these, not in the model; every reason is in the diag */
    uint64_t n_unknown_fields, skipped_bytes;
    NTFF_VEC(struct ntff_fact) facts;
};

/* A physical core's clock, with its quality. */
struct ntff_core_clock {
    uint32_t process, nc, core;
    struct ntff_clock_map *map;
    uint32_t n_placed, n_extrapolated, n_nearest, n_unplaced, n_recorded; /* events by how */
    uint32_t n_before_submit, n_after_wait;                               /* order violations */
};

/* -- the trace -------------------------------------------------------------------------------- */

/* Record accounting; in = out + filtered + dropped, and tests hold it.
 * records_in = 2 * (paired spans) + whole spans + unfinished + start_lost + instants
 *              + n_filtered_records + n_dropped_records   (host and JSON events; samples apart). */
struct ntff_counts {
    uint64_t records_in;
    uint64_t pairs, whole, unfinished, start_lost, instants;
    uint64_t filtered_records, dropped_records;
    uint64_t samples_in, samples_filtered, samples_dropped;
};

/* What ntff_detail does to texts: text of a key -> what is shown. The result lives as long as the
 * trace. */
struct ntff_rewrite {
    struct ntff_slice (*text)(void *user, struct ntff_slice key, struct ntff_slice text);
    void *user;
};

struct ntff_trace {
    struct ntff_budget budget;
    struct ntff_strtab strs;
    struct ntff_arena arena;

    struct ntff_event *events;
    size_t n_events;
    struct ntff_sample *samples; /* sorted by (ts_ns, track) */
    size_t n_samples;
    struct ntff_flow *flows;
    size_t n_flows;
    struct ntff_track *tracks; /* parents before children */
    size_t n_tracks;
    struct ntff_process *processes;
    size_t n_processes;
    struct ntff_source *sources;
    size_t n_sources;
    struct ntff_file *files;
    size_t n_files;
    struct ntff_core_clock *clocks;
    size_t n_clocks;

    uint64_t begin_ns, end_ns; /* first start, last end over everything; 0, 0 when empty */
    uint64_t origin_ns; /* .begin_ns before any clip: times "from the begin of the trace" that are
                           asked for (--from 7ms) and shown count from here, whatever was clipped */
    bool clipped;       /* by ntff_trace_clip; findings are still those of all that was read */
    struct ntff_counts counts;
    enum ntff_clock_mode clock_mode;
    ntff_str schema; /* "built-in" or the path of the schema used */

    /* Texts of records pass through here on their way out (redaction); NULL = as they are. */
    const struct ntff_rewrite *rewrite;

    struct ntff_load_state *owned; /* inputs and interned strings, for details; model.c frees */
    size_t cap_events, cap_samples, cap_flows, cap_tracks, cap_processes, cap_sources, cap_files,
        cap_clocks; /* allocated, for the budget */

    /* By-track index, made by ntff_trace_index: events of track t are
     * order[first[t] .. first[t+1]), ascending; NULL until then. */
    uint32_t *order, *first;
};

void ntff_trace_free(struct ntff_trace *t); /* NULL allowed */

/* Makes t->order and t->first (4 bytes an event). Idempotent. Errors: NOMEM. */
enum ntff_status ntff_trace_index(struct ntff_trace *t, struct ntff_error *err) NTFF_MUST_CHECK;

/* Clips to [from_ns, to_ns): drops what lies outside (counted as filtered), cuts spans at the edges
 * and flags them; samples keep the last value before from_ns, moved to from_ns. Flows with a
 * missing end go; flat rows get lanes for what is left (diag: those that find none). Changes the
 * trace; call before ntff_trace_index. */
enum ntff_status ntff_trace_clip(struct ntff_trace *t, uint64_t from_ns, uint64_t to_ns,
                                 struct ntff_diag *diag, struct ntff_error *err) NTFF_MUST_CHECK;

static inline const char *ntff_str_of(const struct ntff_trace *t, ntff_str id)
{
    return ntff_text(&t->strs, id);
}
static inline uint64_t ntff_event_end(const struct ntff_event *e)
{
    return e->ts_ns + e->dur_ns;
}

/* The message a ref into a source of kind EVENTS or STORE names: *msg points into the source. False
 * if it does not lie inside any more. */
bool ntff_source_message(const struct ntff_source *s, uint32_t off, const uint8_t **msg,
                         size_t *len);

/* -- details on demand ------------------------------------------------------------------------ */

enum ntff_value_kind {
    NTFF_V_TEXT,
    NTFF_V_UINT,
    NTFF_V_INT,
    NTFF_V_BOOL,
    NTFF_V_DOUBLE,
    NTFF_V_NULL
};

/* One fact of an event. Text is raw bytes from the file (not checked for UTF-8), not
 * NUL-terminated. */
struct ntff_attr {
    struct ntff_slice key;
    uint8_t kind; /* enum ntff_value_kind */
    union {
        struct ntff_slice text;
        uint64_t u;
        int64_t i;
        double d;
        bool b;
    };
};

/* All raw facts of an event, in a fixed order: event_type, id, tracking_id, nc_idx, thread_id,
 * timestamp_ns (recorded, of the start), nrta_seq_id (if present), then the attributes of the start
 * record in file order, then those of the stop record that differ, with nc_timestamp_ns renamed to
 * nc_start_timestamp_ns and nc_stop_timestamp_ns for spans. Attribute values of ntrace.pb are text;
 * a value that is a canonical decimal (no sign, no leading zero, below 2^64) is given as UINT. */
#define NTFF_N_COMMON 7
struct ntff_detail {
    struct ntff_attr *attrs; /* somewhere in room */
    size_t n_common;         /* of these that records of the runtime begin with: UINT, the first
                                NTFF_N_COMMON of the order above, or all but nrta_seq_id; or 0 */
    size_t n, cap;           /* cap counts from room */
    struct ntff_attr *room;
    struct ntff_buf scratch; /* renamed keys and rebuilt texts live here until the next call */
};

/* Fills *d (zero-initialise once, reuse, free with ntff_detail_done). False when memory ran out,
 * and from then on until ntff_detail_done (d->scratch.failed says so, to who looks only at the
 * end); records that do not decode any more give the facts read so far. */
bool ntff_detail(const struct ntff_trace *t, const struct ntff_event *e, struct ntff_detail *d);
void ntff_detail_done(struct ntff_detail *d);
/* The same for who wants no more than the attributes of records under these n keys, the first of
 * each: *d holds them, and perhaps others. Several times as fast, as the rest is not even read. */
bool ntff_detail_pick(const struct ntff_trace *t, const struct ntff_event *e,
                      const struct ntff_slice *keys, size_t n, struct ntff_detail *d);
/* Has the records of t->events[index] brought near, for its details are asked for soon: whoever
 * goes through all events asks for the one NTFF_DETAIL_AHEAD later. An index too large does
 * nothing. */
void ntff_detail_prefetch(const struct ntff_trace *t, size_t index);
#define NTFF_DETAIL_AHEAD 8
/* Attribute by key, NULL if absent. */
const struct ntff_attr *ntff_detail_find(const struct ntff_detail *d, const char *key);

#endif
