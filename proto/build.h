/* build - the load-time half of the model: records in, events out.
 * Knows: model, load, event_types, clock. Private to proto/.
 *
 * Decoders turn whatever they read into struct ntff_rec and hand it to ntff_build_record; pairing,
 * rows, clocks, flows, lanes and order happen here once for all of them. Device profiles, which
 * bring whole tracks, use ntff_build_track and ntff_build_event directly. */
#ifndef NTFF_BUILD_H
#define NTFF_BUILD_H

#include "input.h"
#include "load.h"

enum { NTFF_PHASE_INVALID, NTFF_PHASE_START, NTFF_PHASE_STOP, NTFF_PHASE_INSTANT }; /* [SER] B */

/* Added to .type when the file's enum is an older one: such types are shown by number, never by
 * name. */
#define NTFF_OLD_TYPE (1u << 30)

enum { /* which fields of a ntff_rec were there */
       NTFF_HAS_SEQ = 1,
       NTFF_HAS_EXEC = 2,
       NTFF_HAS_CORE = 4,
       NTFF_HAS_NC_TS = 8,
       NTFF_HAS_CPU_TS = 16,
       NTFF_HAS_SIZE = 32,
       NTFF_HAS_TOTAL = 64,
       NTFF_HAS_USAGE = 128,
       NTFF_HAS_HBM = 256,
       NTFF_HAS_MODEL_NAME = 512,
       NTFF_HAS_GID = 1024,
       NTFF_HAS_TYPE_TOTAL = 2048,
};

/* One record of a runtime event, whatever its file form. Zero-initialise. What every record is
 * asked for stands in front: records go from one processor to another in pieces of 64 bytes. */
struct ntff_rec {
    uint64_t timestamp_ns, duration_ns, tracking_id, thread_id, nrta_seq_id;
    uint32_t type;  /* 0..45, above = unknown; NTFF_NONE when only name is known */
    uint32_t phase; /* NTFF_PHASE_* */
    uint32_t nc_idx;
    uint32_t has;  /* NTFF_HAS_* */
    ntff_str name; /* name carried by the file (JSON), 0 = use the table */
    struct ntff_ref ref;
    bool plain;   /* known to hold numbers of the plan only: no attributes or such */
    bool is_ring; /* entry of the C ntrace ring (hint and data, no phase) */
    int32_t worker_gid;
    uint32_t n_unknown; /* unknown fields seen */
    /* attributes the loader itself needs */
    uint64_t exec_id, nc_ns, cpu_ns;
    uint32_t core, ring_type; /* ring_type: ntrace_data_type of a ring entry */
    uint64_t id, size_bytes, total_bytes, type_total_bytes;
    uint32_t hbm, usage;
    ntff_str usage_name;          /* usage_type as text where it is no class of ours, 0 = none; */
    struct ntff_slice usage_text; /* or the same not interned yet; len 0 = none */
};

struct ntff_builder; /* load.c */

/* What decoders may use of it. */
struct ntff_trace *ntff_build_trace(struct ntff_builder *b);
struct ntff_diag *ntff_build_diag(struct ntff_builder *b);
const struct ntff_load_options *ntff_build_options(struct ntff_builder *b);
const struct ntff_schema *ntff_build_schema(struct ntff_builder *b);
/* Path of a file for diag lines; lives as long as the trace. */
const char *ntff_build_path(struct ntff_builder *b, uint32_t file);
/* The file itself, to set its kind and count records; valid until a further file is added. */
struct ntff_file *ntff_build_file(struct ntff_builder *b, uint32_t file);

/* Registers a source; returns its index, NTFF_NONE when out of memory or of indices (65,535). A
 * file above 2 GiB takes several: file_off is where data starts in it. */
uint32_t ntff_build_source(struct ntff_builder *b, const struct ntff_source *src);

/* Adds a fact line to a file. */
bool ntff_build_fact(struct ntff_builder *b, uint32_t file, const char *key, const char *value,
                     const char *how) NTFF_MUST_CHECK;

/* Takes one attribute (key, text value) into r if it is one the loader needs. */
void ntff_rec_attr(struct ntff_rec *r, const char *key, size_t key_len, const char *value,
                   size_t value_len);

/* Finds or makes a process. For files that name processes inside (system_profile.json). */
uint32_t ntff_build_process(struct ntff_builder *b, const char *instance, uint64_t pid,
                            const char *dir);

/* Takes one record of process proc. False only when memory ran out or the caller cancelled. */
bool ntff_build_record(struct ntff_builder *b, uint32_t proc,
                       const struct ntff_rec *r) NTFF_MUST_CHECK;

/* A counter sample. */
bool ntff_build_sample(struct ntff_builder *b, uint32_t track, uint64_t ts_ns, int64_t i,
                       double d) NTFF_MUST_CHECK;

/* Finds or makes a track below parent (NTFF_NONE = root) by (kind, name). proto: everything but
 * name and parent is copied on creation. NTFF_NONE when memory ran out. */
uint32_t ntff_build_track(struct ntff_builder *b, uint32_t parent, const char *name,
                          const struct ntff_track *proto);
/* The standard places: process (primary group), its "Counters" group, NCxx of a logical core. */
uint32_t ntff_build_process_track(struct ntff_builder *b, uint32_t proc, uint32_t nc);
uint32_t ntff_build_counters(struct ntff_builder *b, uint32_t proc);
uint32_t ntff_build_nc(struct ntff_builder *b, uint32_t proc, uint32_t nc);

/* Adds an event directly. With device_core != NTFF_NONE, ev->ts_ns and dur_ns are device ns of that
 * physical core of (proc, nc), and are moved to host time when the clocks are known. Returns false
 * when memory ran out. */
bool ntff_build_event(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t device_core,
                      const struct ntff_event *ev) NTFF_MUST_CHECK;
/* Besides NTFF_EV_*: an unfinished or start_lost event whose edges are drawn already, not by the
 * trace's. */
#define NTFF_EV_EDGES_DRAWN (1u << 16)
/* The same in bulk. Room for n further events: all of the builder's events, of which those from
 * *first on are free to be filled in order; earlier ones, once filled, may be changed in place.
 * Valid until the builder gets any other event. NULL when memory ran out. */
struct ntff_event *ntff_build_room(struct ntff_builder *b, size_t n, size_t *first);
/* n of them were filled, as by ntff_build_event. */
bool ntff_build_filled(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t device_core,
                       size_t n) NTFF_MUST_CHECK;
struct ntff_event *ntff_build_events(struct ntff_builder *b); /* as ntff_build_room gives them */
/* Likewise for a sample of a device counter. */
bool ntff_build_device_sample(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                              uint32_t device_core, uint32_t track, uint64_t nc_ns, int64_t i,
                              double d) NTFF_MUST_CHECK;

/* Executions (nc_exec_running) whose device times are known, of a process, as read so far. Fills at
 * most cap of them; returns how many there are. */
struct ntff_core_run {
    uint64_t start_ns, stop_ns; /* device time of the core */
    uint32_t nc, core;
};
size_t ntff_build_core_runs(const struct ntff_builder *b, uint32_t proc, struct ntff_core_run *runs,
                            size_t cap);
/* Where the time axis of a core without a clock shall begin: device time of its first execution. */
bool ntff_build_device_zero(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                            uint32_t device_core, uint64_t zero_ns) NTFF_MUST_CHECK;
/* False if the filters leave this logical core out. */
bool ntff_build_wants(struct ntff_builder *b, uint32_t proc, uint32_t nc);

/* Options that pick from what there is. */
enum ntff_filter_by {
    NTFF_FILTER_CORE,
    NTFF_FILTER_TYPE,
    NTFF_FILTER_PROCESS,
    NTFF_FILTER_INSTANCE,
    NTFF_FILTER_ENGINE,
    NTFF_FILTER_QUEUE,
    NTFF_FILTERS
};
/* A decoder that asks a filter itself met what is called name, and the filter lets it through or
 * not: a filter that matches nothing is told, with what there is. */
bool ntff_build_met(struct ntff_builder *b, enum ntff_filter_by by, const char *name,
                    bool passes) NTFF_MUST_CHECK;

/* -- a window (--from, --to): what of a core lies surely outside it --------------------------- */

struct ntff_core_window {
    const struct ntff_clock_map *map; /* NULL: the core keeps device time */
    uint64_t from_ns, to_ns;          /* host time; with a map */
    /* If rises, host time never falls while device time rises, and in device time the window is in
     * [lo_ns, hi_ns). Times in [sure_lo_ns, sure_hi_ns] are all placed in the same way. */
    bool rises;
    uint8_t how; /* enum ntff_placed */
    uint64_t lo_ns, hi_ns, sure_lo_ns, sure_hi_ns;
};
/* The window of a core whose first record is at device time first_ns. False if everything has to be
 * kept. */
bool ntff_build_window(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t core,
                       uint64_t first_ns, struct ntff_core_window *w);

/* Reports progress and polls for cancellation; false = stop. Cheap; call every few thousand
 * records. */
bool ntff_build_progress(struct ntff_builder *b, const char *what, uint64_t done, uint64_t all);

/* -- decoders: one file each. file is an index into trace.files, proc into trace.processes.
 * -------- They return NTFF_OK also for damaged files (findings in the diag); NOMEM and CANCELLED
 * end the load. */

/* decode_json.c: event JSON and system_profile.json, streamed. */
enum ntff_status ntff_decode_json(struct ntff_builder *b, struct ntff_input *in, uint32_t file,
                                  uint32_t proc, struct ntff_error *err) NTFF_MUST_CHECK;
/* True if text looks like one of the JSON forms (also behind log lines). */
bool ntff_json_sniff(struct ntff_slice head);
/* True if head is text that goes on: a log that may hold JSON further on. */
bool ntff_json_far(struct ntff_slice head);

/* decode_ntff.c: device profiles. in is mapped already. */
enum ntff_status ntff_decode_ntff(struct ntff_builder *b, struct ntff_input *in, uint32_t file,
                                  uint32_t proc, struct ntff_error *err) NTFF_MUST_CHECK;
bool ntff_ntff_sniff(struct ntff_slice head, uint64_t file_len);
/* Facts of a notification event (ntff_detail calls it). */
bool ntff_notif_detail(const struct ntff_trace *t, const struct ntff_event *e,
                       struct ntff_detail *d);

/* decode_event.c: one ntrace_event message. */
struct ntff_event_plan;
/* Fills *r from msg[0..len), with the attributes the loader needs for its type. r->ref is left
 * alone. Bytes up to readable, at or behind the end of the message, may be looked at (and mean
 * nothing). Returns 0 = good, -1 = malformed (*why and *at, an offset into msg, tell). */
int ntff_decode_event(const struct ntff_event_plan *plan, const uint8_t *msg, size_t len,
                      const uint8_t *readable, struct ntff_rec *r, const char **why, size_t *at);

/* Adds an attribute to a detail; false when memory ran out. */
bool ntff_detail_text(struct ntff_detail *d, const char *key, size_t key_len, const char *p,
                      size_t len);
bool ntff_detail_uint(struct ntff_detail *d, const char *key, uint64_t v);
bool ntff_detail_int(struct ntff_detail *d, const char *key, int64_t v);
bool ntff_detail_double(struct ntff_detail *d, const char *key, double v);
bool ntff_detail_bool(struct ntff_detail *d, const char *key, bool v);

#endif
