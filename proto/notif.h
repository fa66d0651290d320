/* notif - the 16-byte device notification record: what its bits say, and when it happened.
 * Source: record frame, type codes and bodies [NOTIF]; widths A, positions as graded in FORMAT.md.
 * Knows: base.
 * Units:  ts_ps is the record's own counter (1 ps nominal); ns is device time of one core.
 * Memory: nothing is allocated; records are read where they lie.
 *
 * A record names its engine itself (type code), so a run of records needs no other key to be told
 * apart. What a position graded C means is only believed after ntff_ring_look has seen every record
 * of the run and the layout held in all of them. */
#ifndef NTFF_NOTIF_H
#define NTFF_NOTIF_H

#include "base.h"

#include <string.h>

enum { NTFF_NOTIF_BYTES = 16 };

/* nc_engine_type; in a type code 0x04..0x17 it is (code - 4) / 4. */
enum ntff_engine { NTFF_PE, NTFF_ACT, NTFF_POOL, NTFF_DVE, NTFF_SP, NTFF_N_ENGINES };

enum ntff_notif_kind {
    NTFF_NK_START,    /* instruction starts */
    NTFF_NK_END,      /* instruction ends */
    NTFF_NK_EXPLICIT, /* written by an instruction, or a status record */
    NTFF_NK_SEM,      /* semaphore or event changed by an engine */
    NTFF_NK_AXI_SEM,  /* semaphore changed over the bus */
    NTFF_NK_DMA,
    NTFF_NK_ERROR,     /* interrupt or warning of any block */
    NTFF_NK_TPB_ERROR, /* error of an engine */
    NTFF_NK_HAM,       /* throttle, activity monitor */
    NTFF_NK_RESERVED,
    NTFF_NK_COUNT
};
/* "instruction start", "DMA", ...; never NULL. */
const char *ntff_notif_kind_name(int kind);

struct ntff_notif {
    uint32_t word0, word1;
    uint64_t ts_ps;
};

static inline struct ntff_notif ntff_notif_at(const uint8_t *p)
{
    return (struct ntff_notif){ntff_le32(p), ntff_le32(p + 4), ntff_le64(p + 8)};
}

/* -- frame: word0 31:24 ------------------------------------------------------------------------ */

static inline unsigned ntff_notif_type(uint32_t word0)
{
    return word0 >> 24 & 31;
}
#define NTFF_NOTIF_SW_OVERFLOW (UINT32_C(1) << 29) /* records before this one were lost */
#define NTFF_NOTIF_HW_OVERFLOW (UINT32_C(1) << 30) /* records after this one were lost */
/* bit 31 is the ring's phase: no meaning in a file */

extern const uint8_t ntff_notif_kinds[32]; /* type code -> enum ntff_notif_kind */

static inline bool ntff_notif_has_engine(unsigned type)
{
    return type - 4 < 4 * NTFF_N_ENGINES;
}
static inline unsigned ntff_notif_engine(unsigned type) /* only if it has one */
{
    return (type - 4) >> 2;
}

/* -- bodies ------------------------------------------------------------------------------------ */

/* START, END, EXPLICIT: program counter in 64-byte instructions, and a hint. */
static inline uint32_t ntff_notif_pc(uint32_t word0)
{
    return word0 & 0xfffff;
}
static inline unsigned ntff_notif_hint(uint32_t word0)
{
    return word0 >> 20 & 15;
}
#define NTFF_PC_COUNT (1u << 20)

/* EXPLICIT of a status ring, word1 31:16 */
enum {
    NTFF_STATUS_START = 2,
    NTFF_STATUS_END = 3,
    NTFF_STATUS_CUSTOM = 6,
    NTFF_STATUS_CC_START = 7,
    NTFF_STATUS_CC_END = 8
};
/* Text of a custom status (word1 15:0); NULL when unknown. */
const char *ntff_notif_custom(unsigned sub_id);
/* True for those custom statuses that report an access out of bounds. */
bool ntff_notif_out_of_bounds(unsigned sub_id);

/* SEM, AXI_SEM (positions C): word1 is the new value. */
static inline unsigned ntff_notif_sem_id(uint32_t word0)
{
    return word0 & 0xff;
}
static inline bool ntff_notif_is_sem(uint32_t word0) /* else an event */
{
    return word0 >> 8 & 1;
}
#define NTFF_SEM_UNUSED UINT32_C(0xfc00) /* word0 15:10 */

/* TPB_ERROR: word0 7:0. NULL when unknown. */
const char *ntff_notif_error(unsigned error_id);
enum { NTFF_ERR_SEQUENCER_NONFATAL = 9, NTFF_ERR_SEQUENCER_FATAL = 10 };

/* ERROR: word0 3 tells warning from interrupt; positions C. */
static inline bool ntff_notif_is_warning(uint32_t word0)
{
    return word0 >> 3 & 1;
}
#define NTFF_INTERRUPT_UNUSED UINT32_C(0xfc00f0) /* word0 23:18 and 7:4 of an interrupt */

/* DMA: where the sub-type sits. */
enum ntff_dma_layout { NTFF_DMA_UNDECIDED, NTFF_DMA_WORD1, NTFF_DMA_WORD0 };
enum {
    NTFF_DMA_M2S_START = 1,
    NTFF_DMA_M2S_END = 2,
    NTFF_DMA_M2S = 3,
    NTFF_DMA_S2M_START = 4,
    NTFF_DMA_S2M_END = 5,
    NTFF_DMA_S2M = 6,
    NTFF_DMA_AXI_REQ = 8,
    NTFF_DMA_AXI_RSP = 10,
    NTFF_DMA_APB_REQ = 12
};
/* "M2S start", ...; NULL when the code is none. */
const char *ntff_dma_name(unsigned sub_type);
static inline unsigned ntff_dma_type(struct ntff_notif r, int layout)
{
    return (layout == NTFF_DMA_WORD0 ? r.word0 : r.word1) & 15;
}
static inline unsigned ntff_dma_queue(struct ntff_notif r, int layout)
{
    return (layout == NTFF_DMA_WORD0 ? r.word0 : r.word1) >> 4 & 15;
}

const char *ntff_engine_code(unsigned engine);  /* "PE" */
const char *ntff_engine_name(unsigned engine);  /* "Tensor" */
const char *ntff_engine_track(unsigned engine); /* "Tensor (PE)" */

/* -- where records are stored: trace_info.trace_type and block_type [FMT] [TAX] -------------------
 */

enum {
    NTFF_TRACE_INSTRUCTION,
    NTFF_TRACE_EVENT,
    NTFF_TRACE_ERROR,
    NTFF_TRACE_EXPLICIT,
    NTFF_TRACE_DMA,
    NTFF_TRACE_THROTTLE
};
enum { NTFF_BLOCK_NC, NTFF_BLOCK_DMA, NTFF_BLOCK_TOPSP };

/* The pair a device notification type (0..8) is stored under; false for those that are dropped. */
bool ntff_notification_place(unsigned notification_type, uint32_t *trace_type,
                             uint32_t *block_type);
/* True for those nine pairs, and for EXPLICIT of an NC or TopSP, which another path writes. */
bool ntff_trace_pair_ok(uint64_t trace_type, uint64_t block_type);

/* -- time -------------------------------------------------------------------------------------- */

/* ns = (ts - init) * expected / actual / ticks_per_ns, rounded down. */
struct ntff_tick {
    uint64_t init;
    uint64_t expected, actual; /* in lowest terms; equal = no correction of the rate */
    uint64_t ticks_per_ns;     /* 1000 unless the file says otherwise */
};

/* From what the file carries: actual 0 means no rate (ratio 1), ticks_per_ns 0 means 1000. */
struct ntff_tick ntff_tick_make(uint64_t init, uint64_t actual, uint64_t expected,
                                uint64_t ticks_per_ns);
/* The general case. False when the time lies before init or beyond 64 bits. */
bool ntff_tick_slow(const struct ntff_tick *t, uint64_t ts_ps, uint64_t *ns);

static inline bool ntff_tick_ns(const struct ntff_tick *t, uint64_t ts_ps, uint64_t *ns)
{
    if (NTFF_LIKELY(t->expected == t->actual && t->ticks_per_ns == 1000 && ts_ps >= t->init)) {
        *ns = (ts_ps - t->init) / 1000;
        return true;
    }
    return ntff_tick_slow(t, ts_ps, ns);
}

/* -- a run of records as a whole --------------------------------------------------------------- */

struct ntff_ring_look {
    uint64_t n;                  /* whole records */
    uint64_t of_type[32];        /* by type code */
    uint64_t sw_marks, hw_marks; /* records with the overflow bit */
    uint64_t n_descents;         /* neighbours of one clock whose time goes back */
    uint64_t last_descent;       /* index of the record after the last one */
    uint64_t min_ps, max_ps;
    bool sem_ok;        /* unused bits are zero in all semaphore records */
    bool interrupt_ok;  /* likewise in all interrupts */
    uint8_t dma_layout; /* enum ntff_dma_layout */
    bool dma_queue_ok;  /* start records name their queue at the same place as end records */
};

/* Reads a run of whole records once. */
void ntff_ring_look(const uint8_t *data, uint64_t n, struct ntff_ring_look *out);

static inline uint64_t ntff_ring_of_kind(const struct ntff_ring_look *l, int kind)
{
    uint64_t n = 0;
    for (unsigned t = 0; t < 32; t++)
        if (ntff_notif_kinds[t] == kind)
            n += l->of_type[t];
    return n;
}

/* Trace type (notification_trace_type) the records themselves speak for, by majority of kinds:
 * 0 instruction, 1 event, 2 error, 4 DMA, 5 throttle; -1 if most are reserved or there is none. */
int ntff_ring_class(const struct ntff_ring_look *l);

#endif
