/* builder - the state of a load, shared by load.c, build.c, place.c and order.c. Private to those,
 * the steps they are split into, and device_cut.c. */
#ifndef NTFF_BUILDER_H
#define NTFF_BUILDER_H

#include "build.h"
#include "event_types.h"

/* -- a small map: three numbers to an index ---------------------------------------------------- */

struct ntff_key {
    uint64_t a, b, c;
};
struct ntff_map_slot {
    struct ntff_key key;
    uint32_t value; /* NTFF_NONE = empty */
    uint32_t aux;
};
struct ntff_map {
    struct ntff_budget *budget;
    struct ntff_map_slot *slots;
    size_t n, n_slots;
};
/* Slot of a key: an existing one, or an empty one with the key filled in (value NTFF_NONE; set it).
 * NULL when memory ran out. Valid until the next call that inserts. */
struct ntff_map_slot *ntff_map_at(struct ntff_map *m, struct ntff_key key);
struct ntff_map_slot *ntff_map_find(const struct ntff_map *m, struct ntff_key key);
void ntff_map_remove(struct ntff_map *m, struct ntff_map_slot *slot);
void ntff_map_free(struct ntff_map *m);

/* -- what has been seen ------------------------------------------------------------------------ */

/* A half span that found no partner while reading; matched again at the end. */
struct ntff_half {
    struct ntff_key key;   /* pairing key */
    uint64_t ts_ns, nc_ns; /* recorded time; device time if has_nc */
    uint64_t thread_id;
    uint32_t event; /* starts: its event; stops: NTFF_NONE */
    uint32_t aux;   /* starts: as in the open table */
    struct ntff_ref ref;
    uint32_t nc;
    uint32_t type;
    ntff_str name;
    int32_t gid;
    bool has_nc, stop;
};

enum {
    NTFF_DEV_START = 1,
    NTFF_DEV_STOP = 2,
    NTFF_DEV_EXEC = 4,
    NTFF_DEV_CPU_START = 8,
    NTFF_DEV_INSTANT = 16,
    NTFF_DEV_CORE_GUESSED = 32,
    NTFF_DEV_WHOLE = 64,
    NTFF_DEV_CPU_STOP = 128
};

/* A device event of the system trace: what is needed to place it on host time. */
struct ntff_dev {
    uint64_t nc_start_ns, nc_stop_ns;   /* device time; valid by has */
    uint64_t rec_start_ns, rec_stop_ns; /* recorded timestamps */
    uint64_t cpu_start_ns, cpu_stop_ns; /* own pair of a raw record */
    uint64_t exec_id;
    uint64_t
        near_ns; /* host time of the record before it, for a clock that was reset; 0 = unknown */
    uint32_t event, proc, nc, core; /* core NTFF_NONE until attributed */
    uint32_t type;
    uint32_t has;
};

/* A clock pair, from wherever. */
struct ntff_sync {
    uint64_t nc_ns, cpu_ns, exec_id;
    uint32_t proc, nc, core; /* core NTFF_NONE: to be attributed */
    uint32_t dev;            /* the device event it belongs to, NTFF_NONE for a sync point */
};

/* An event of a device profile, waiting for its core's clock. */
struct ntff_range {
    uint32_t first_event, n_events, first_sample, n_samples;
    uint32_t proc, nc, core;
    uint64_t n_cut[NTFF_PLACED_EXTRAPOLATED + 1]; /* events left out, by how they would be placed */
};

/* Device time of a core's first execution, for when it has no clock. */
struct ntff_zero {
    uint64_t ns;
    uint64_t shift_ns; /* where it went, if moved: trace time - device time, modulo 2^64 */
    uint32_t proc, nc, core;
    bool moved;
};

/* What was kept of a core with a window in mind (cut.c): everything in [from_ns, to_ns), host time
 * if aligned, else device time. */
struct ntff_cut_note {
    uint64_t from_ns, to_ns;
    uint32_t proc, nc, core;
    bool aligned;
};

/* The begin of the trace, and where cores without a clock will stand in it, before that is known.
 * A first load guesses; where it was wrong the next one knows. */
struct ntff_foresight {
    bool on;
    bool known;        /* not guessed */
    uint64_t begin_ns; /* UINT64_MAX = no idea */
    NTFF_VEC(struct ntff_zero) zeros;
};

/* A track that belongs nowhere yet. */
#define NTFF_BLANK_TRACK                                                                           \
    ((struct ntff_track){                                                                          \
        .parent = NTFF_NONE, .process = NTFF_NONE, .nc = NTFF_NONE, .core = NTFF_NONE})

enum ntff_role { NTFF_ROLE_SUBMIT, NTFF_ROLE_PRE, NTFF_ROLE_WAIT, NTFF_ROLE_DEVICE };

/* An event that may be an end of a flow. */
struct ntff_link {
    uint64_t id; /* exec_id or nrta_seq_id */
    uint32_t event, proc, nc;
    uint8_t role;
    bool is_seq;
};

/* Bytes per second that begin or end to flow at a time. */
struct ntff_rate {
    uint64_t ts_ns;
    int64_t delta;
    uint32_t track;
};

/* A time further than this from the typical one, or a longer duration, is impossible. */
#define NTFF_MAX_APART_NS (UINT64_C(366) * 86400 * NTFF_NS_PER_SEC)
#define NTFF_EV_HIDDEN (1u << 17) /* filtered out: dropped before sorting */

struct ntff_interval {
    uint32_t lo, hi; /* inclusive */
};

/* What an open start is remembered by besides its event: a transfer's size, an allocation's class.
 */
struct ntff_aux {
    uint64_t size_bytes;
    uint32_t hbm, usage;
    ntff_str usage_name;
};

struct ntff_filter_name {
    ntff_str name; /* display name of a known type, else the text as given */
    bool on;       /* false: "^name", leaves it out */
    bool known;    /* a type of the table */
    bool hit;      /* some record had it */
};

struct ntff_filter {
    bool active; /* any filter at all */
    bool types_given;
    NTFF_VEC(struct ntff_interval) cores;
    uint64_t n_asked, n_kept; /* records seen by the filter, and let through */
    bool type_on[NTFF_N_EVENT_TYPES];
    bool other_on;                           /* types outside the table, unless named below */
    NTFF_VEC(struct ntff_filter_name) names; /* every name asked for, in the user's order */
    const char *process, *instance;
    /* what there was to choose from */
    unsigned hit;                    /* bit by enum ntff_filter_by: something passed */
    uint64_t cores_met;              /* logical cores below 64 */
    NTFF_VEC(ntff_str) names_met[3]; /* of ENGINE, QUEUE and TYPE, the first few; see filter.c */
    bool device_met;                 /* any device profile with records */
};

static inline void ntff_event_clear(struct ntff_event *e, unsigned flags)
{
    e->flags = e->flags & ~flags & 0x3ffff;
}

/* Interned strings of a capture: (process, id) -> string. */
struct ntff_names {
    struct ntff_map map;
};

struct ntff_load_state { /* owned by the trace: what refs point into */
    NTFF_VEC(struct ntff_input *) inputs;
    struct ntff_names names;
};

#define NTFF_LATELY 64

struct ntff_builder {
    struct ntff_trace *t;
    struct ntff_diag *diag;
    const struct ntff_load_options *opt;
    const struct ntff_schema *schema;
    struct ntff_schema *builtin; /* owned, when no schema was given */
    struct ntff_budget *budget;
    bool out_of_memory, cancelled;
    int primary, secondary;
    struct ntff_filter filter;
    struct ntff_foresight *foresight; /* NULL: no window */

    NTFF_VEC(struct ntff_host_file *) waiting; /* of decode_host.c */

    NTFF_VEC(struct ntff_event) events;
    NTFF_VEC(struct ntff_sample) samples;
    NTFF_VEC(struct ntff_track) tracks;
    NTFF_VEC(struct ntff_process) processes;
    NTFF_VEC(struct ntff_source) sources;
    NTFF_VEC(struct ntff_file) files;
    NTFF_VEC(struct ntff_flow) flows;

    struct ntff_map open;    /* pairing key -> event, aux */
    struct ntff_map rows;    /* (class, proc, nc | gid, tid) -> track */
    struct ntff_map by_name; /* (parent, kind, name) -> track */
    struct ntff_map names;   /* (proc instance, pid, dir) -> process */
    NTFF_VEC(struct ntff_half) halves;
    NTFF_VEC(struct ntff_dev) devs;
    NTFF_VEC(struct ntff_sync) syncs;
    NTFF_VEC(struct ntff_range) ranges;
    NTFF_VEC(struct ntff_zero) zeros;
    NTFF_VEC(struct ntff_cut_note) cuts;
    NTFF_VEC(struct ntff_link) links;
    NTFF_VEC(struct ntff_rate) rates;
    NTFF_VEC(struct ntff_core_clock) clocks;
    NTFF_VEC(struct ntff_aux) auxes;
    ntff_str type_names[NTFF_N_EVENT_TYPES];
    bool unaligned;                           /* some events or samples stay in device time */
    uint64_t last_host_ns;                    /* of the latest record in host time */
    struct ntff_map_slot lately[NTFF_LATELY]; /* rows asked for, by a few bits of their key */
    uint64_t progress_polls;
};

/* What records fill. */
#define NTFF_BUILD_FILLED(X) X(events) X(samples) X(devs) X(syncs) X(links) X(rates) X(auxes)

/* How full the builder is. Once part of a file is read, so much more is expected of the rest as was
 * added since the mark, so many times over: room that is made at once need not be moved later. */
struct ntff_build_mark {
#define NTFF_BUILD_MARK(field) size_t field;
    NTFF_BUILD_FILLED(NTFF_BUILD_MARK)
#undef NTFF_BUILD_MARK
};
struct ntff_build_mark ntff_build_mark(const struct ntff_builder *b);
void ntff_build_expect(struct ntff_builder *b, const struct ntff_build_mark *since, size_t times);

/* filter.c: the name an event is shown under */
bool ntff_builder_name(struct ntff_builder *b, const struct ntff_rec *r, ntff_str *name);
/* Closes what is open, matches halves, makes lone ones events. */
bool ntff_build_finish_pairs(struct ntff_builder *b) NTFF_MUST_CHECK;
uint32_t ntff_build_row(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint64_t tid,
                        int32_t gid);
uint32_t ntff_build_device_row(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t core,
                               uint32_t type, bool instant);
/* filter.c: does the user want this record? name is what ntff_builder_name gave. */
bool ntff_builder_passes(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r,
                         ntff_str name);
/* Before: the filters of b->opt. Errors: INVALID (a core that is no number), NOMEM. */
enum ntff_status ntff_builder_parse_filters(struct ntff_builder *b,
                                            struct ntff_error *err) NTFF_MUST_CHECK;
/* After reading: an unknown type name nothing had is an error (INVALID, with the nearest known
 * one); other filters that let nothing through are named in a note. */
enum ntff_status ntff_builder_check_filters(struct ntff_builder *b,
                                            struct ntff_error *err) NTFF_MUST_CHECK;
bool ntff_builder_process_passes(struct ntff_builder *b, uint32_t proc);
/* counters.c: samples of an allocation's running totals; the two steps of a transfer's bandwidth.
 */
bool ntff_build_memory_samples(struct ntff_builder *b, uint32_t proc, const struct ntff_rec *r,
                               const struct ntff_aux *a) NTFF_MUST_CHECK;
bool ntff_build_transfer_rate(struct ntff_builder *b, uint32_t proc, uint32_t nc, uint32_t type,
                              uint64_t ts_ns, uint64_t dur_ns, uint64_t size_bytes) NTFF_MUST_CHECK;
/* place.c: attributes cores, builds the clocks and moves the host's device events onto host time,
 * when the host's files have been read and paired; then those of device profiles. */
bool ntff_build_clocks(struct ntff_builder *b) NTFF_MUST_CHECK;
bool ntff_build_place(struct ntff_builder *b) NTFF_MUST_CHECK;
/* Clock of a core, NULL if it has none. After ntff_build_clocks. */
struct ntff_core_clock *ntff_builder_clock(struct ntff_builder *b, uint32_t proc, uint32_t nc,
                                           uint32_t core);
/* cut.c: guesses what is not known, once the clocks are there; says in the end whether what was cut
 * lay outside the window; keeps what is known now for another try. */
void ntff_cut_foresee(struct ntff_builder *b);
bool ntff_cut_good(const struct ntff_builder *b);
bool ntff_cut_learn(const struct ntff_builder *b, struct ntff_foresight *f) NTFF_MUST_CHECK;
/* model.c: takes an event that is left out from what was counted as written. */
void ntff_event_uncount(struct ntff_counts *c, const struct ntff_event *e);
/* instances.c: several instances are said to have clocks of their own, or aligned if asked. */
bool ntff_build_instances(struct ntff_builder *b) NTFF_MUST_CHECK;
/* order.c: the middle of a thousand times picked evenly from the events, else the samples: what the
 * trace is about, whatever a few records say. Events with one of the flags `but` do not count. */
uint64_t ntff_build_typical(const struct ntff_builder *b, unsigned but);
/* False where something lies so far from that, or lasts so long, that order.c drops it. */
bool ntff_build_possible(uint64_t ts_ns, uint64_t dur_ns, uint64_t typical_ns);
/* order.c: sorts, lanes, flows, counters; hands the arrays over to the trace. */
bool ntff_build_order(struct ntff_builder *b) NTFF_MUST_CHECK;
bool ntff_build_lanes(struct ntff_builder *b) NTFF_MUST_CHECK; /* lanes.c */
/* The same on events in their order, of flat rows only or of all. False when memory ran out. */
struct ntff_lanes_of {
    struct ntff_budget *budget;
    const struct ntff_strtab *strs;
    struct ntff_track *tracks;
    size_t n_tracks;
    struct ntff_event *events;
    size_t n_events;
    bool flat_only;
};
bool ntff_lanes_assign(struct ntff_lanes_of *x, struct ntff_diag *diag) NTFF_MUST_CHECK;
/* flows.c; map: where the events of the links are now, NULL = where they were */
bool ntff_build_flows(struct ntff_builder *b, const uint32_t *map) NTFF_MUST_CHECK;
bool ntff_build_tree(struct ntff_builder *b) NTFF_MUST_CHECK; /* tree.c */

/* Counts a finding about a record: .file and .offset of the first tell where it stands; an
 * event that was rewritten on the way (JSON) has no offset. */
void ntff_builder_found(struct ntff_builder *b, enum ntff_diag_kind kind, struct ntff_ref ref,
                        const char *fmt, ...) NTFF_PRINTF(4, 5);

/* Notes that memory ran out; false, so that `return ntff_builder_no_memory(b)` reads well. */
static inline bool ntff_builder_no_memory(struct ntff_builder *b)
{
    b->out_of_memory = true;
    return false;
}

/* Zeroed scratch arrays within the budget; n may be 0. */
void *ntff_build_take(struct ntff_builder *b, size_t n, size_t elem) NTFF_MUST_CHECK;
void ntff_build_give(struct ntff_builder *b, void *p, size_t n, size_t elem);

#endif
