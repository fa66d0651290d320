/* bench_ntff - how fast notification records become spans, against a bare sum over the same bytes.
 *
 *     bench_ntff [RECORDS [PASSES]]   (default 8 million, best of 5)
 *
 * The records are what a busy core writes: five engines, Tensor about four deep, 3,000 instructions
 * a loop, wait times at random, so that neither branches nor tables are easier than in life. Then
 * DMA packets on eight queues. The yardstick adds up both words and the time of every record.
 * Decoding is ntff_device_ring, look included, into events at their final place; "warm" is into
 * memory used before, as the yardstick's is, "first touch" into fresh memory, as in a conversion.
 * Load is ntff_load on the file, with clocks, sorting and lanes. The window is one percent of
 * three times as many records, the load knowing of it or not.
 * Rows are those of show.awk. */
#include "proto/builder.h"
#include "proto/device.h"
#include "tests/bench/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
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
    if (l->n_open == DEPTH && l->next_ps < l->stop_ps[slot]) /* the next one had to wait */
        l->next_ps = l->stop_ps[slot];
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

static void speed(const char *what, double seconds, uint64_t n)
{
    row(what, (double)n / seconds / 1e6, "M/s", -1);
}

static void bench(const char *what, const uint8_t *p, uint64_t n, int passes)
{
    static struct ntff_load_options opt;
    static struct ntff_diag diag;
    struct ntff_builder *b = new_builder(&opt, &diag);
    double first = decode(b, p, n), warm = 0, sum = 0;
    for (int i = 0; i < passes; i++) {
        sum = best(sum, bare_sum(p, n));
        warm = best(warm, decode(b, p, n));
    }
    printf("== Device profiles: %s, %" PRIu64 " records, %zu spans\n", what, n, b->events.n);
    speed("bare sum: records", sum, n);
    speed("decode: records", warm, n);
    speed("decode into fresh memory: records", first, n);
    row("decode: ns a record", warm / (double)n * 1e9, "ns", 40);
    row("decode: x bare sums, x =", warm / sum, "", 12);
    free(b->events.v);
    free(b->samples.v);
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

static const char *file_path(void)
{
    static char path[300];
    const char *dir = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/bench_ntff_%ld.ntff", dir ? dir : "/tmp", (long)getpid());
    return path;
}

/* What a load took: the best of the passes; bytes and spans of the trace. */
struct took {
    double seconds;
    size_t bytes, spans;
};
static struct took whole_load(const uint8_t *p, uint64_t n, int passes)
{
    const char *path = file_path();
    struct ntff_load_options opt = {.max_memory = 0};
    struct took took = {0};
    write_file(path, p, n);
    for (int i = 0; i < passes; i++) {
        static struct ntff_diag diag;
        struct ntff_trace *t;
        struct ntff_error err;
        double begin = now();
        must(ntff_load(&path, 1, &opt, &t, &diag, &err) == NTFF_OK);
        took.seconds = best(took.seconds, now() - begin);
        took.bytes = t->budget.used_bytes;
        took.spans = t->n_events;
        ntff_trace_free(t);
    }
    unlink(path);
    return took;
}

/* Memory a span is what n records need more than half of them do: names, tracks and counters are
 * as many for both. */
static void bench_load(const uint8_t *p, uint64_t n, int passes)
{
    struct took half = whole_load(p, n / 2, 1), all = whole_load(p, n, passes);
    double each = (double)(all.bytes - half.bytes) / (double)(all.spans - half.spans);
    speed("load (decode, place, sort, lanes): records", all.seconds, n);
    row("load: memory a span", round(each * 1000) / 1000, "B", 40);
    row("load: names, tracks, counters besides",
        ((double)all.bytes - each * (double)all.spans) / 1024, "KiB", -1);
}

/* -- a window -------------------------------------------------------------------------------------
 */

struct used {
    double seconds, peak_bytes;
};

/* Loads the file and clips it, in a process of its own. */
static struct used window_load(const char *path, struct ntff_load_options opt, uint64_t file_bytes)
{
    struct rusage r;
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        static struct ntff_diag diag;
        struct ntff_trace *t;
        struct ntff_error err;
        must(ntff_load(&path, 1, &opt, &t, &diag, &err) == NTFF_OK);
        must(ntff_trace_clip(t, ntff_moment_ns(&opt.from, t->begin_ns),
                             ntff_moment_ns(&opt.to, t->begin_ns), &diag, &err) == NTFF_OK);
        _exit(t->n_events == 0);
    }
    must(child > 0 && wait4(child, &status, 0, &r) == child && status == 0);
    double cpu = (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
                 (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) * 1e-6;
    return (struct used){cpu, (double)r.ru_maxrss * 1024 - (double)file_bytes};
}

/* One hundredth from the middle, with everything kept until the end and without. */
static void bench_window(uint64_t n, int passes)
{
    const char *path = file_path();
    uint8_t *p = malloc(n * NTFF_NOTIF_BYTES);
    must(p);
    make_instructions(p, n);
    uint64_t length = ntff_le64(p + (n - 1) * NTFF_NOTIF_BYTES + 8) / 1000;
    write_file(path, p, n);
    free(p);
    struct ntff_load_options opt = {.from = {length / 2, true, true},
                                    .to = {length / 2 + length / 100, true, true}};
    struct used cut = {0}, kept = {0};
    for (int i = 0; i < passes; i++) {
        for (int all = 0; all < 2; all++) {
            struct used *u = all ? &kept : &cut;
            opt.keep_outside = all;
            struct used x = window_load(path, opt, n * NTFF_NOTIF_BYTES);
            *u = (struct used){best(u->seconds, x.seconds), best(u->peak_bytes, x.peak_bytes)};
        }
    }
    unlink(path);
    printf("== Device profiles: 1 %% of %" PRIu64 " records\n", n);
    row("load all, then cut: processor time", kept.seconds, "s", -1);
    row("load all, then cut: peak memory besides the file", kept.peak_bytes / (1 << 20), "MiB", -1);
    row("cut while reading: processor time", cut.seconds, "s", -1);
    row("cut while reading: peak memory besides the file", cut.peak_bytes / (1 << 20), "MiB", -1);
    row("cut while reading: share of the time", cut.seconds / kept.seconds, "", 0.6);
    row("cut while reading: share of the memory", cut.peak_bytes / kept.peak_bytes, "", 0.1);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 8000000;
    int passes = argc > 2 ? atoi(argv[2]) : 5, few = passes < 3 ? passes : 3;
    if (n < 10000 || passes < 1)
        return 2;
    bench_window(3 * n, few); /* first, while this process has no memory of its own */
    uint8_t *p = malloc(n * NTFF_NOTIF_BYTES);
    must(p);
    make_instructions(p, n);
    bench("instructions of five engines", p, n, passes);
    bench_load(p, n, few);
    make_packets(p, n);
    bench("DMA packets of eight queues", p, n, passes);
    bench_load(p, n, few);
    free(p);
    return missed;
}
