/* bench_ntff - how fast notification records become spans, against a bare sum over the same bytes.
 *
 *     bench_ntff [RECORDS [PASSES]]   (default 8 million, best of 5)
 *
 * The records are what a busy core writes: five engines, Tensor about four deep, 3,000 instructions
 * a loop, wait times at random, so that neither branches nor tables are easier than in life. Then
 * DMA packets on eight queues. The yardstick adds up both words and the time of every record.
 * Decoding is ntff_device_ring, look included, into events at their final place; "warm" is into
 * memory used before, as the yardstick's is, "first touch" into fresh memory, as in a conversion.
 * Load is ntff_load on the file, with clocks, sorting and lanes. */
#include "proto/builder.h"
#include "proto/device.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others may use the machine too */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t seed = 88172645463325252u;
static uint64_t random64(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

/* -- records --------------------------------------------------------------------------------------
 */

static void put(uint8_t *p, uint32_t word0, uint32_t word1, uint64_t ts_ps)
{
    for (int i = 0; i < 4; i++) {
        p[i] = (uint8_t)(word0 >> 8 * i);
        p[4 + i] = (uint8_t)(word1 >> 8 * i);
    }
    for (int i = 0; i < 8; i++)
        p[8 + i] = (uint8_t)(ts_ps >> 8 * i);
}

enum { DEPTH = 8 };
struct lane { /* an engine, or a DMA queue */
    uint64_t next_ps, stop_ps[DEPTH];
    uint32_t pc, open_pc[DEPTH];
    unsigned n_open;
};

/* The next thing to happen on n lanes: a start (*slot = -1) or the end of an open one. */
static unsigned next_of(const struct lane *l, unsigned n, int *slot)
{
    uint64_t best = UINT64_MAX;
    unsigned lane = 0;
    for (unsigned i = 0; i < n; i++) {
        if (l[i].n_open < DEPTH && l[i].next_ps < best) {
            best = l[i].next_ps;
            lane = i;
            *slot = -1;
        }
        for (unsigned k = 0; k < l[i].n_open; k++) {
            if (l[i].stop_ps[k] < best) {
                best = l[i].stop_ps[k];
                lane = i;
                *slot = (int)k;
            }
        }
    }
    return lane;
}

static void start(struct lane *l, uint64_t dur_ps, uint64_t gap_ps)
{
    l->open_pc[l->n_open] = l->pc;
    l->stop_ps[l->n_open++] = l->next_ps + dur_ps;
    l->pc = (l->pc + 1) % 3000;
    l->next_ps += gap_ps;
}

static void stop(struct lane *l, int slot)
{
    for (unsigned k = (unsigned)slot; k + 1 < l->n_open; k++) {
        l->stop_ps[k] = l->stop_ps[k + 1];
        l->open_pc[k] = l->open_pc[k + 1];
    }
    l->n_open--;
}

static void make_instructions(uint8_t *p, uint64_t n)
{
    struct lane l[NTFF_N_ENGINES] = {{0}};
    for (uint64_t i = 0; i < n; i++, p += NTFF_NOTIF_BYTES) {
        int slot = -1;
        unsigned e = next_of(l, NTFF_N_ENGINES, &slot);
        if (slot < 0) {
            uint64_t gap = 60000 + random64() % 400000, dur = e ? gap : 4 * gap;
            put(p, (4 + 4 * e) << 24 | l[e].pc, 1 | (uint32_t)(random64() & 0xff) << 16,
                l[e].next_ps);
            start(&l[e], dur, gap + random64() % 20000);
        } else {
            put(p, (5 + 4 * e) << 24 | l[e].open_pc[slot], (uint32_t)random64(),
                l[e].stop_ps[slot]);
            stop(&l[e], slot);
        }
    }
}

static void make_packets(uint8_t *p, uint64_t n)
{
    struct lane l[8] = {{0}};
    uint64_t last[8] = {0};
    for (uint64_t i = 0; i < n; i++, p += NTFF_NOTIF_BYTES) {
        int slot = -1;
        unsigned q = next_of(l, 8, &slot);
        uint32_t read = q & 1;
        if (slot < 0) {
            uint64_t dur = 90000 + random64() % 800000, stop_ps = l[q].next_ps + dur;
            stop_ps = stop_ps > last[q] ? stop_ps : last[q] + 1; /* first in, first out */
            last[q] = stop_ps;
            put(p, 2u << 24, (read ? 1 : 4) | q / 2 << 4, l[q].next_ps);
            start(&l[q], stop_ps - l[q].next_ps, 50000 + random64() % 300000);
        } else {
            put(p, 2u << 24 | 2048,
                (read ? 2 : 5) | q / 2 << 4 | (uint32_t)(random64() & 0xffff) << 16,
                l[q].stop_ps[slot]);
            stop(&l[q], slot);
        }
    }
}

/* -- measures -------------------------------------------------------------------------------------
 */

static volatile uint64_t keep;

static double bare_sum(const uint8_t *p, uint64_t n)
{
    double begin = now();
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t words, ts;
        memcpy(&words, p + i * NTFF_NOTIF_BYTES, 8);
        memcpy(&ts, p + i * NTFF_NOTIF_BYTES + 8, 8);
        sum += words + ts;
    }
    keep = sum;
    return now() - begin;
}

static void must(bool good)
{
    if (!good) {
        fprintf(stderr, "bench_ntff: out of memory\n");
        exit(1);
    }
}

/* A builder as load.c begins one, without files. */
static struct ntff_builder *new_builder(const struct ntff_load_options *opt, struct ntff_diag *diag)
{
    struct ntff_builder *b = calloc(1, sizeof *b);
    must(b && (b->t = calloc(1, sizeof *b->t)));
    b->budget = &b->t->budget;
    b->opt = opt;
    b->diag = diag;
    b->primary = NTFF_PRIMARY_DEFAULT;
    b->t->arena.budget = b->rows.budget = b->by_name.budget = b->names.budget = b->budget;
    must(ntff_strtab_init(&b->t->strs, b->budget));
    must(ntff_build_process(b, "", 0, "bench") == 0);
    struct ntff_file *f = NTFF_VEC_PUSH(b->budget, &b->files);
    must(f);
    *f = (struct ntff_file){.process = 0};
    return b;
}

/* Seconds to decode one ring; the events of the pass before are overwritten. */
static double decode(struct ntff_builder *b, const uint8_t *p, uint64_t n)
{
    static struct ntff_tick tick, dma[1];
    struct ntff_clocks clocks = {.dma = dma, .n_dma = 1};
    tick = dma[0] = clocks.other = ntff_tick_make(0, 0, 0, 0);
    for (unsigned e = 0; e < NTFF_N_ENGINES; e++)
        clocks.engine[e] = tick;
    struct ntff_blob_ref ref = {.clocks = &clocks, .trace_type = 0};
    struct ntff_device d = {
        .b = b, .opt = b->opt, .clocks = &clocks, .parent = ntff_build_nc(b, 0, 0)};
    struct ntff_ring ring = {.data = p, .n = n, .ref = &ref};
    b->events.n = b->samples.n = b->ranges.n = 0;
    must(ntff_device_init(&d) == NTFF_OK);
    double begin = now();
    ntff_ring_look(p, n, &ring.look);
    ref.dma_layout = ring.look.dma_layout;
    ref.dma_queue_ok = ring.look.dma_queue_ok;
    if (ring.look.of_type[2])
        must(ntff_device_dma_extent(&d, ring.look.min_ps / 1000, ring.look.max_ps / 1000));
    must(ntff_device_ring(&d, &ring) && ntff_device_finish(&d));
    double took = now() - begin;
    ntff_device_done(&d);
    return took;
}

static double best(double a, double b)
{
    return a == 0 || b < a ? b : a;
}

static void row(const char *what, double seconds, uint64_t n, double yard)
{
    printf("  %-40s %8.1f M records/s", what, (double)n / seconds / 1e6);
    if (yard > 0)
        printf("   1/%.1f of the bare sum", seconds / yard);
    printf("\n");
}

static int bench(const char *what, const uint8_t *p, uint64_t n, int passes)
{
    static struct ntff_load_options opt;
    static struct ntff_diag diag;
    struct ntff_builder *b = new_builder(&opt, &diag);
    double first = decode(b, p, n), warm = 0, sum = 0;
    for (int i = 0; i < passes; i++) {
        sum = best(sum, bare_sum(p, n));
        warm = best(warm, decode(b, p, n));
    }
    printf("%s: %" PRIu64 " records, %zu spans\n", what, n, b->events.n);
    row("bare sum", sum, n, 0);
    row("decode, warm", warm, n, sum);
    row("decode, first touch of memory", first, n, sum);
    bool good = (double)n / warm >= 25e6 && warm <= 12 * sum;
    printf("  %-40s %s\n", "wanted: >= 25 M/s and >= 1/12", good ? "yes" : "NO");
    free(b->events.v);
    free(b->samples.v);
    return !good;
}

/* -- the whole way
 * ---------------------------------------------------------------------------------- */

static void put_varint_field(FILE *f, unsigned number, uint64_t v)
{
    fputc((int)(number << 3), f);
    for (; v > 127; v >>= 7)
        fputc((int)(v & 127) | 128, f);
    fputc((int)v, f);
}

/* One subgraph with one blob of n records. */
static void write_file(const char *path, const uint8_t *p, uint64_t n)
{
    char *trace, *info;
    size_t trace_len, info_len;
    FILE *f = open_memstream(&trace, &trace_len);
    must(f);
    put_varint_field(f, 5, n * NTFF_NOTIF_BYTES); /* trace_size */
    fclose(f);
    must((f = open_memstream(&info, &info_len)) != NULL);
    /* neff_nodes 3 { nd_node 4 { graphs 1 { traces 6 { } } } } */
    uint8_t head[] = {0x1a, 0, 0x22, 0, 0x0a, 0, 0x32, (uint8_t)trace_len};
    head[5] = (uint8_t)(trace_len + 2);
    head[3] = (uint8_t)(trace_len + 4);
    head[1] = (uint8_t)(trace_len + 6);
    fwrite(head, 1, sizeof head, f);
    fwrite(trace, 1, trace_len, f);
    fclose(f);
    must((f = fopen(path, "wb")) != NULL);
    uint8_t header[NTFF_HEADER_BYTES] = {6, (uint8_t)info_len};
    fwrite(header, 1, sizeof header, f);
    fwrite(info, 1, info_len, f);
    must(fwrite(p, NTFF_NOTIF_BYTES, n, f) == n && fclose(f) == 0);
    free(trace);
    free(info);
}

static void whole_load(const uint8_t *p, uint64_t n, int passes)
{
    char path[300];
    const char *dir = getenv("TMPDIR"), *paths[1] = {path};
    struct ntff_load_options opt = {.max_memory = 0};
    double seconds = 0;
    snprintf(path, sizeof path, "%s/bench_ntff_%ld.ntff", dir ? dir : "/tmp", (long)getpid());
    write_file(path, p, n);
    size_t used = 0, spans = 0;
    for (int i = 0; i < passes; i++) {
        static struct ntff_diag diag;
        struct ntff_trace *t;
        struct ntff_error err;
        double begin = now();
        must(ntff_load(paths, 1, &opt, &t, &diag, &err) == NTFF_OK);
        seconds = best(seconds, now() - begin);
        used = t->budget.used_bytes;
        spans = t->n_events;
        ntff_trace_free(t);
    }
    unlink(path);
    row("load: decode, place, sort, lanes", seconds, n, 0);
    printf("  %-40s %8.1f bytes for each of %zu spans (wanted: <= 40 and strings)\n", "kept",
           (double)used / (double)spans, spans);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 8000000;
    int passes = argc > 2 ? atoi(argv[2]) : 5;
    uint8_t *p = malloc(n * NTFF_NOTIF_BYTES);
    if (n < 1000 || passes < 1)
        return 2;
    must(p);
    make_instructions(p, n);
    int missed = bench("instructions of five engines", p, n, passes);
    whole_load(p, n, passes < 3 ? passes : 3);
    make_packets(p, n);
    missed |= bench("DMA packets of eight queues", p, n, passes);
    whole_load(p, n, passes < 3 ? passes : 3);
    free(p);
    return missed;
}
