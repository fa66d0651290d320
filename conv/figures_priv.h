/* figures_priv - the state of the one pass, shared by figures*.c. */
#ifndef CONV_FIGURES_PRIV_H
#define CONV_FIGURES_PRIV_H

#include "conv/figures.h"
#include "proto/sort.h"

#define CONV_RECENT                                                                                \
    8 /* executions of a core that may still get a span of another physical core                   \
       */

enum conv_shape { CONV_SPAN, CONV_PARTIAL, CONV_INSTANT };

struct conv_core_pass {
    uint64_t busy_end_ns, rest_end_ns;
    uint32_t latest;     /* execution that ends last so far, NTFF_NONE before the first */
    uint32_t first_exec; /* as made: the first not cut; NTFF_NONE before it */
    uint32_t pcores[31]; /* physical cores by bit */
    uint32_t recent[CONV_RECENT], mask[CONV_RECENT]; /* a ring: executions, cores they have */
    uint32_t n_recent;
};

struct conv_cc { /* one cc_running */
    uint64_t op_id, exec_id, ts_ns, dur_ns;
    uint64_t group, nth; /* set while matching: which instance of its op it is */
    struct ntff_slice algorithm;
    uint32_t rank; /* index into .cores */
};

struct conv_device_pass { /* beside .devices */
    uint64_t dma_end_ns, engine_end_ns;
};

#define CONV_PARTS 3

struct conv_pass {
    struct conv_figures *f;
    struct ntff_detail detail;                          /* of the pass */
    struct conv_list lists[CONV_PARTS];                 /* for the parts */
    uint8_t *types;                                     /* by name */
    uint32_t *name_at;                                  /* by name: index into .names */
    uint32_t *core_of_track;                            /* index into .cores; NTFF_NONE = none */
    uint64_t *call_end_ns;                              /* by track: end of the last nrt_execute */
    struct conv_core_pass *cores;                       /* beside .cores */
    struct conv_transfer transfers[2][CONV_DIRECTIONS]; /* dmem_buf_*, tensor calls */
    uint64_t transfer_end_ns[2][CONV_DIRECTIONS];
    NTFF_VEC(struct conv_cc) cc;
    NTFF_VEC(struct conv_device_pass) devices;
    NTFF_VEC(uint64_t) engine_end_ns; /* beside .engines */
    uint32_t *device_of_track;        /* index into .devices; made when needed */
    uint32_t *engine_of_track;        /* likewise; a DMA queue: 0 once counted */
};

#define CONV_KEY(text)                                                                             \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

/* A partial span whose times are true as far as they go: the window cut it. */
static inline bool conv_is_cut(const struct ntff_event *e)
{
    return (e->flags & (NTFF_EV_CUT_LEFT | NTFF_EV_CUT_RIGHT)) &&
           !(e->flags & (NTFF_EV_UNFINISHED | NTFF_EV_START_LOST));
}
void conv_lengths_add(struct conv_lengths *l, uint64_t ns);
/* Adds [ts_ns, stop_ns) to a union whose latest end is *end_ns, if spans come by start. Returns
 * what it adds. */
uint64_t conv_union_add(uint64_t *end_ns, uint64_t ts_ns, uint64_t stop_ns);
uint64_t conv_attr_u64(const struct ntff_detail *d, const char *key, uint64_t otherwise);
/* The logical core of a track whose core_of_track is not NTFF_NONE. */
struct conv_core *conv_core_at(struct conv_pass *p, uint32_t track);

/* figures_sort.c: order by numbers. Keys stand the least significant first; what all leave equal
 * stays as it was. */
typedef uint64_t (*conv_key)(const void *item);
/* Indices of v[0 .. n), items of size bytes each, in order. NULL = out of memory. */
uint32_t *conv_order(const void *v, size_t n, size_t size, const conv_key *keys,
                     size_t n_keys) NTFF_MUST_CHECK;
/* Puts v itself in order; false when memory ran out. */
bool conv_sort(void *v, size_t n, size_t size, const conv_key *keys, size_t n_keys) NTFF_MUST_CHECK;
/* Of the keys of v[0 .. n), which are sorted. v has room for n more. */
uint64_t conv_median(struct ntff_sort_item *v, size_t n);

/* figures_exec.c: sorts what the pass made, and takes lengths */
bool conv_exec_finish(struct conv_pass *p);

/* figures_cc.c: collectives */
bool conv_cc_take(struct conv_pass *p, uint32_t index, struct ntff_detail *d);
bool conv_cc_finish(struct conv_pass *p);
void conv_cc_done(struct conv_pass *p);

/* figures_device.c: engines, DMA, throttling of device profiles */
bool conv_device_take(struct conv_pass *p, const struct ntff_event *e, enum conv_shape shape);
bool conv_device_finish(struct conv_pass *p);
void conv_device_done(struct conv_pass *p);

#endif
