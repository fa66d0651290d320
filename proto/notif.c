/* notif - tables of the notification record, its clock, and the look over a whole run.
 *
 * Times are exact: the correction of a block's counter is a fraction, so it is computed with
 * 128-bit intermediates and rounded down once. floor(floor(x / a) / b) = floor(x / (a * b)) lets
 * the two divisions follow each other without a product that could overflow.
 *
 * The look is one pass over a run before it is decoded. It is what makes a position graded C
 * usable (the unused bits beside it must be zero in every record), tells where a ring that was
 * stored unrotated begins, and whether any clock in the run goes back. */
#include "proto/notif.h"

/* -- tables ------------------------------------------------------------------------------------ */

#define FOUR NTFF_NK_START, NTFF_NK_END, NTFF_NK_EXPLICIT, NTFF_NK_SEM
#define RES NTFF_NK_RESERVED
const uint8_t ntff_notif_kinds[32] = {
    RES,  RES,  NTFF_NK_DMA, NTFF_NK_ERROR, /* 00 */
    FOUR, FOUR, FOUR,        FOUR,
    FOUR,                                       /* 04 PE, 08 ACT, 0c POOL, 10 DVE, 14 SP */
    RES,  RES,  RES,         NTFF_NK_AXI_SEM,   /* 18 */
    RES,  RES,  NTFF_NK_HAM, NTFF_NK_TPB_ERROR, /* 1c */
};
#undef FOUR
#undef RES

const char *ntff_notif_kind_name(int kind)
{
    static const char *const names[NTFF_NK_COUNT] = {"instruction start",
                                                     "instruction end",
                                                     "explicit",
                                                     "semaphore",
                                                     "bus semaphore",
                                                     "DMA",
                                                     "error",
                                                     "TPB error",
                                                     "throttle",
                                                     "reserved"};
    return kind >= 0 && kind < NTFF_NK_COUNT ? names[kind] : "unknown";
}

#define NAME_OF(names, i) ((i) < NTFF_ARRAY_LEN(names) ? (names)[i] : NULL)

const char *ntff_engine_code(unsigned engine)
{
    static const char *const names[] = {"PE", "ACT", "POOL", "DVE", "SP"};
    return NAME_OF(names, engine);
}

const char *ntff_engine_name(unsigned engine)
{
    static const char *const names[] = {"Tensor", "Scalar", "GpSimd", "Vector", "Sync"};
    return NAME_OF(names, engine);
}

const char *ntff_engine_track(unsigned engine)
{
    static const char *const names[] = {"Tensor (PE)", "Scalar (ACT)", "GpSimd (POOL)",
                                        "Vector (DVE)", "Sync (SP)"};
    return NAME_OF(names, engine);
}

const char *ntff_notif_error(unsigned error_id) /* [NOTIF-E] */
{
    static const char *const names[] = {
        "FP_UNDERFLOW", "FP_NAN", "FP_INF",         "FP_OVERFLOW",        "MEMORY",         "FAKE",
        "SEMAPHORE",    "EVENT",  "PSUM_COLLISION", "SEQUENCER_NONFATAL", "SEQUENCER_FATAL"};
    return NAME_OF(names, error_id);
}

bool ntff_notif_out_of_bounds(unsigned sub_id) /* [NOTIF-X] */
{
    return sub_id <= 5 || sub_id == 9 || sub_id == 10;
}

const char *ntff_notif_custom(unsigned sub_id)
{
    if (ntff_notif_out_of_bounds(sub_id))
        return "out of bounds";
    static const char *const names[] = {
        [6] = "debug value", [7] = "output tensor complete", [8] = "debug tensor read"};
    return NAME_OF(names, sub_id);
}

const char *ntff_dma_name(unsigned sub_type) /* [NOTIF] dma_notific_type */
{
    static const char *const names[] = {
        [1] = "M2S start",     [2] = "M2S end",      [3] = "M2S completion",
        [4] = "S2M start",     [5] = "S2M end",      [6] = "S2M completion",
        [8] = "AXI request",   [9] = "AXI request",  [10] = "AXI response",
        [11] = "AXI response", [12] = "APB request", [13] = "APB request"};
    return NAME_OF(names, sub_type);
}

/* -- where records are stored ---------------------------------------------------------------------
 */

bool ntff_notification_place(unsigned notification_type, uint32_t *trace_type, uint32_t *block_type)
{
    static const struct {
        uint8_t trace, block;
    } map[] = {
        {NTFF_TRACE_INSTRUCTION, NTFF_BLOCK_NC},    /* TRACE */
        {NTFF_TRACE_EVENT, NTFF_BLOCK_NC},          /* EVENT */
        {NTFF_TRACE_ERROR, NTFF_BLOCK_NC},          /* ERROR */
        {NTFF_TRACE_INSTRUCTION, NTFF_BLOCK_NC},    /* INFER_STATUS */
        {NTFF_TRACE_DMA, NTFF_BLOCK_DMA},           /* DMA */
        {NTFF_TRACE_THROTTLE, NTFF_BLOCK_NC},       /* THROTTLE */
        {NTFF_TRACE_INSTRUCTION, NTFF_BLOCK_TOPSP}, /* TOPSP_TRACE */
        {NTFF_TRACE_EVENT, NTFF_BLOCK_TOPSP},       /* TOPSP_EVENT */
        {NTFF_TRACE_ERROR, NTFF_BLOCK_TOPSP},       /* TOPSP_ERROR */
    };
    if (notification_type >= NTFF_ARRAY_LEN(map)) /* TOPSP_CC_STATUS, MAX */
        return false;
    *trace_type = map[notification_type].trace;
    *block_type = map[notification_type].block;
    return true;
}

bool ntff_trace_pair_ok(uint64_t trace_type, uint64_t block_type)
{
    uint32_t t, b;
    if (trace_type == NTFF_TRACE_EXPLICIT)
        return block_type == NTFF_BLOCK_NC || block_type == NTFF_BLOCK_TOPSP;
    for (unsigned n = 0; ntff_notification_place(n, &t, &b); n++)
        if (t == trace_type && b == block_type)
            return true;
    return false;
}

/* -- time -------------------------------------------------------------------------------------- */

static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

struct ntff_tick ntff_tick_make(uint64_t init, uint64_t actual, uint64_t expected,
                                uint64_t ticks_per_ns)
{
    struct ntff_tick t = {init, 1, 1, ticks_per_ns ? ticks_per_ns : 1000};
    if (actual && expected) {
        uint64_t g = gcd(actual, expected);
        t.expected = expected / g;
        t.actual = actual / g;
    }
    return t;
}

bool ntff_tick_slow(const struct ntff_tick *t, uint64_t ts_ps, uint64_t *ns)
{
    if (ts_ps < t->init)
        return false;
    uint64_t since = ts_ps - t->init, small;
    if (!__builtin_mul_overflow(since, t->expected, &small)) { /* nearly always */
        *ns = small / t->actual / t->ticks_per_ns;
        return true;
    }
    unsigned __int128 big = (unsigned __int128)since * t->expected / t->actual / t->ticks_per_ns;
    *ns = (uint64_t)big;
    return big >> 64 == 0;
}

/* -- a run as a whole -------------------------------------------------------------------------- */

/* The frame of every record, and of DMA runs the byte that most likely holds sub-type and queue.
 * Several histograms of each, so that one value in a row does not wait for its own counter to be
 * stored. Returns true if time never goes back. */
static inline bool look_frames(const uint8_t *data, uint64_t n, struct ntff_ring_look *out,
                               bool dma, uint64_t low[256])
{
    uint64_t head[4][256] = {{0}}, byte[4][256] = {{0}}, prev = 0, back = 0, others = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *p = data + i * NTFF_NOTIF_BYTES;
        uint64_t ts = ntff_le64(p + 8);
        if (!dma || NTFF_UNLIKELY(p[3] != 2)) { /* in DMA runs nearly none */
            head[i & 3][p[3]]++;
            others++;
        }
        if (dma)
            byte[i & 3][p[4]]++;
        back |= ts < prev;
        prev = ts;
    }
    head[0][2] += n - others;
    for (unsigned b = 0; b < 256; b++) {
        uint64_t count = head[0][b] + head[1][b] + head[2][b] + head[3][b];
        uint32_t word0 = (uint32_t)b << 24;
        out->of_type[ntff_notif_type(word0)] += count;
        out->sw_marks += word0 & NTFF_NOTIF_SW_OVERFLOW ? count : 0;
        out->hw_marks += word0 & NTFF_NOTIF_HW_OVERFLOW ? count : 0;
        low[b] = byte[0][b] + byte[1][b] + byte[2][b] + byte[3][b];
    }
    return !back;
}

/* The same run clock by clock: each engine stamps by its own counter, everything else by another,
 * so only a step back of one of the six means disorder. */
static void look_clocks(const uint8_t *data, uint64_t n, struct ntff_ring_look *out)
{
    uint64_t last[NTFF_N_ENGINES + 1] = {0}, lo = UINT64_MAX, hi = 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *p = data + i * NTFF_NOTIF_BYTES;
        unsigned type = p[3] & 31;
        unsigned clock = ntff_notif_has_engine(type) ? ntff_notif_engine(type) : NTFF_N_ENGINES;
        uint64_t ts = ntff_le64(p + 8);
        if (ts < last[clock]) {
            out->n_descents++;
            out->last_descent = i;
        }
        last[clock] = ts;
        lo = ts < lo ? ts : lo;
        hi = ts > hi ? ts : hi;
    }
    out->min_ps = lo;
    out->max_ps = hi;
}

static void look_semaphores(const uint8_t *data, uint64_t n, struct ntff_ring_look *out)
{
    uint32_t stray = 0, stray_interrupt = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint32_t word0 = ntff_le32(data + i * NTFF_NOTIF_BYTES);
        int kind = ntff_notif_kinds[ntff_notif_type(word0)];
        if (kind == NTFF_NK_SEM || kind == NTFF_NK_AXI_SEM)
            stray |= word0 & NTFF_SEM_UNUSED;
        else if (kind == NTFF_NK_ERROR && !ntff_notif_is_warning(word0))
            stray_interrupt |= word0 & NTFF_INTERRUPT_UNUSED;
    }
    out->sem_ok = !stray;
    out->interrupt_ok = !stray_interrupt;
}

/* Counts DMA records by the low byte of the word that may hold sub-type and queue. */
static void dma_bytes(const uint8_t *data, uint64_t n, int layout, uint64_t hist[256])
{
    memset(hist, 0, 256 * sizeof hist[0]);
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *p = data + i * NTFF_NOTIF_BYTES;
        if (ntff_notif_type(ntff_le32(p)) == 2)
            hist[layout == NTFF_DMA_WORD0 ? p[0] : p[4]]++;
    }
}

static bool dma_fits(const uint64_t hist[256])
{
    for (unsigned b = 0; b < 256; b++)
        if (hist[b] && !ntff_dma_name(b & 15))
            return false;
    return true;
}

/* Starts and ends of a packet must balance per queue, but for those cut off at either end of the
 * ring; otherwise the bits beside the sub-type of a start are no queue number. */
static bool dma_queues_balance(const uint64_t hist[256])
{
    uint64_t apart = 0, all = 0;
    for (unsigned q = 0; q < 16; q++) {
        for (unsigned start = NTFF_DMA_M2S_START; start <= NTFF_DMA_S2M_START; start += 3) {
            uint64_t starts = hist[q << 4 | start], ends = hist[q << 4 | (start + 1)];
            apart += starts > ends ? starts - ends : ends - starts;
            all += starts + ends;
        }
    }
    return apart <= all / 8 + 16;
}

/* low is the histogram of the first layout's byte, if all records are of DMA. */
static void look_dma(const uint8_t *data, uint64_t n, struct ntff_ring_look *out, uint64_t low[256])
{
    for (int layout = NTFF_DMA_WORD1; layout <= NTFF_DMA_WORD0; layout++) {
        if (layout != NTFF_DMA_WORD1 || out->of_type[2] != n)
            dma_bytes(data, n, layout, low);
        if (!dma_fits(low))
            continue;
        out->dma_layout = (uint8_t)layout;
        out->dma_queue_ok = dma_queues_balance(low);
        return;
    }
}

void ntff_ring_look(const uint8_t *data, uint64_t n, struct ntff_ring_look *out)
{
    uint64_t low[256];
    memset(out, 0, sizeof *out);
    out->n = n;
    bool dma = n && (data[3] & 31) == 2;
    bool in_order =
        dma ? look_frames(data, n, out, true, low) : look_frames(data, n, out, false, low);
    if (!in_order) {
        look_clocks(data, n, out);
    } else if (n) {
        out->min_ps = ntff_le64(data + 8);
        out->max_ps = ntff_le64(data + (n - 1) * NTFF_NOTIF_BYTES + 8);
    }
    out->sem_ok = out->interrupt_ok = true;
    if (ntff_ring_of_kind(out, NTFF_NK_SEM) || ntff_ring_of_kind(out, NTFF_NK_AXI_SEM) ||
        ntff_ring_of_kind(out, NTFF_NK_ERROR))
        look_semaphores(data, n, out);
    if (out->of_type[2])
        look_dma(data, n, out, low);
}

int ntff_ring_class(const struct ntff_ring_look *l)
{
    static const int class_of[NTFF_NK_COUNT] = {
        [NTFF_NK_START] = 0,    [NTFF_NK_END] = 0,       [NTFF_NK_EXPLICIT] = 0,
        [NTFF_NK_SEM] = 1,      [NTFF_NK_AXI_SEM] = 1,   [NTFF_NK_DMA] = 4,
        [NTFF_NK_ERROR] = 2,    [NTFF_NK_TPB_ERROR] = 2, [NTFF_NK_HAM] = 5,
        [NTFF_NK_RESERVED] = -1};
    uint64_t votes[6] = {0}, reserved = 0;
    for (unsigned t = 0; t < 32; t++) {
        int c = class_of[ntff_notif_kinds[t]];
        if (c < 0)
            reserved += l->of_type[t];
        else
            votes[c] += l->of_type[t];
    }
    int best = 0;
    for (int c = 1; c < 6; c++)
        if (votes[c] > votes[best])
            best = c;
    return votes[best] > reserved ? best : -1;
}
