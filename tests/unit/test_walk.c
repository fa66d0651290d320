/* walk, out: the order of an output's packets, and bytes that reach a file or do not. */
#include "proto/out.h"
#include "proto/sink.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* -- the walk: every callback leaves a word
 * -------------------------------------------------------- */

static char said[4096];

static void say(const char *word, unsigned long long n)
{
    size_t len = strlen(said);
    snprintf(said + len, sizeof said - len, "%s%llu", word, n);
}

static void say_flows(const struct ntff_flow_list *f)
{
    for (size_t i = 0; i < f->n_out; i++)
        say(">", f->out[i]->id);
    for (size_t i = 0; i < f->n_in; i++)
        say("<", f->in[i]->id);
}

static bool on_begin(void *user, uint32_t i, const struct ntff_event *e,
                     const struct ntff_flow_list *f)
{
    (void)user, (void)e;
    say(" B", i);
    say_flows(f);
    return true;
}
static bool on_end(void *user, uint32_t i, const struct ntff_event *e)
{
    (void)user;
    say(" E", i);
    say("@", ntff_event_end(e));
    return true;
}
static bool on_instant(void *user, uint32_t i, const struct ntff_event *e,
                       const struct ntff_flow_list *f)
{
    (void)user, (void)e;
    say(" I", i);
    say_flows(f);
    return true;
}
static bool on_sample(void *user, const struct ntff_sample *s)
{
    (void)user;
    say(" S", s->ts_ns);
    return true;
}
static const struct ntff_sink teller = {NULL, on_begin, on_end, on_instant, on_sample, NULL};

static const char *walk(const struct ntff_trace *t)
{
    struct ntff_error err;
    said[0] = '\0';
    TAP_EQ_U64(ntff_walk(t, &teller, &err), NTFF_OK);
    return said;
}

#define SPAN(ts, dur)                                                                              \
    {                                                                                              \
        .ts_ns = (ts), .dur_ns = (dur)                                                             \
    }
#define INSTANT(ts)                                                                                \
    {                                                                                              \
        .ts_ns = (ts), .flags = NTFF_EV_INSTANT                                                    \
    }

TAP_TEST(nests_and_orders_ties)
{
    /* at 100: the end of 0, then longer before shorter, the empty one at once, the instant last */
    struct ntff_event ev[] = {SPAN(50, 50), SPAN(100, 20), SPAN(100, 20), SPAN(100, 10),
                              SPAN(100, 0), INSTANT(100),  SPAN(110, 10)};
    struct ntff_sample samples[] = {{.ts_ns = 10}, {.ts_ns = 100}, {.ts_ns = 105}, {.ts_ns = 300}};
    struct ntff_trace t = {.events = ev, .n_events = 7, .samples = samples, .n_samples = 4};
    TAP_EQ_STR(walk(&t), " S10 B0 E0@100 B1 B2 B3 B4 E4@100 I5 S100 S105 E3@110 B6 E6@120 E2@120"
                         " E1@120 S300");
}

TAP_TEST(empty_trace)
{
    struct ntff_trace t = {0};
    TAP_EQ_STR(walk(&t), "");
}

TAP_TEST(flows_reach_both_ends)
{
    struct ntff_event ev[] = {SPAN(0, 10), SPAN(1, 5), INSTANT(2), SPAN(20, 1)};
    struct ntff_flow flows[] = {
        {0, 1, 1, false}, {0, 3, 2, false}, {2, 1, 3, true}, {2, 3, 4, false}};
    struct ntff_trace t = {.events = ev, .n_events = 4, .flows = flows, .n_flows = 4};
    TAP_EQ_STR(walk(&t), " B0>1>2 B1<1<3 I2>3>4 E1@6 E0@10 B3<2<4 E3@21");
}

static bool stop_at_third(void *user, uint32_t i, const struct ntff_event *e)
{
    (void)e, (void)i;
    return ++*(int *)user < 3;
}

TAP_TEST(stops_when_told)
{
    struct ntff_event ev[10] = {SPAN(0, 1), SPAN(1, 1), SPAN(2, 1), SPAN(3, 1)};
    struct ntff_trace t = {.events = ev, .n_events = 4};
    int n = 0;
    struct ntff_sink s = {.user = &n, .end = stop_at_third};
    struct ntff_error err;
    TAP_EQ_U64(ntff_walk(&t, &s, &err), NTFF_CANCELLED);
    TAP_EQ_I64(n, 3);
}

/* Many open spans with random lengths: ends come in time order, inner before outer. */
static uint64_t last_ns, n_open;
static bool check_begin(void *user, uint32_t i, const struct ntff_event *e,
                        const struct ntff_flow_list *f)
{
    (void)user, (void)i, (void)f;
    TAP_OK(e->ts_ns >= last_ns);
    last_ns = e->ts_ns;
    n_open++;
    return true;
}
static bool check_end(void *user, uint32_t i, const struct ntff_event *e)
{
    (void)user, (void)i;
    TAP_OK(ntff_event_end(e) >= last_ns);
    last_ns = ntff_event_end(e);
    n_open--;
    return true;
}

TAP_TEST(thousands_of_open_spans)
{
    enum { N = 20000 };
    struct ntff_event *ev = calloc(N, sizeof *ev);
    TAP_OK(ev != NULL);
    srand(7);
    for (int i = 0; i < N; i++)
        ev[i] = (struct ntff_event)SPAN((uint64_t)i / 3, (uint64_t)(rand() % 5000));
    struct ntff_trace t = {.events = ev, .n_events = N};
    struct ntff_sink s = {.begin = check_begin, .end = check_end};
    struct ntff_error err;
    TAP_EQ_U64(ntff_walk(&t, &s, &err), NTFF_OK);
    TAP_EQ_U64(n_open, 0);
    free(ev);
}

/* -- out
 * --------------------------------------------------------------------------------------------- */

static const char *tmp_path(const char *name)
{
    static char path[4][512];
    static int turn;
    char *p = path[turn++ % 4];
    const char *dir = getenv("TMP");
    snprintf(p, 512, "%s/%s", dir ? dir : "/tmp", name);
    return p;
}

static size_t slurp(const char *path, char *to, size_t cap)
{
    FILE *f = fopen(path, "rb");
    if (!f)
        return SIZE_MAX;
    size_t n = fread(to, 1, cap, f);
    fclose(f);
    return n;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

TAP_TEST(memory_output)
{
    struct ntff_out *o;
    struct ntff_error err;
    TAP_EQ_U64(ntff_out_open(&o, NULL, 0, 0, &err), NTFF_OK);
    for (int i = 0; i < 100000; i++)
        ntff_out_write(o, "0123456789", 10);
    memcpy(ntff_out_reserve(o, 100), "tail", 4);
    ntff_out_advance(o, 4);
    TAP_EQ_U64(ntff_out_total(o), 1000004);
    TAP_EQ_U64(ntff_out_commit(o, &err), NTFF_OK);
    struct ntff_slice b = ntff_out_bytes(o);
    TAP_EQ_U64(b.len, 1000004);
    TAP_EQ_MEM(b.p + 999990, 14, "0123456789tail", 14);
    ntff_out_close(o);
}

TAP_TEST(file_appears_on_commit_only)
{
    struct ntff_out *o;
    struct ntff_error err;
    const char *path = tmp_path("a.out");
    unlink(path);
    TAP_EQ_U64(ntff_out_open(&o, path, 0, 0, &err), NTFF_OK);
    ntff_out_write(o, "abc", 3);
    TAP_OK(!exists(path));
    TAP_EQ_U64(ntff_out_commit(o, &err), NTFF_OK);
    ntff_out_close(o);
    char got[8];
    TAP_EQ_MEM(got, slurp(path, got, 8), "abc", 3);
    struct stat st;
    mode_t mask = umask(0);
    umask(mask);
    TAP_EQ_U64(stat(path, &st), 0);
    TAP_EQ_U64(st.st_mode & 0777, 0666 & ~mask);

    TAP_EQ_U64(ntff_out_open(&o, path, 0, 0, &err), NTFF_IO);
    TAP_OK(strstr(err.text, "exists"));
    TAP_EQ_U64(ntff_out_open(&o, path, NTFF_OUT_REPLACE, 0, &err), NTFF_OK);
    ntff_out_write(o, "x", 1);
    ntff_out_close(o); /* no commit: the old file stays */
    TAP_EQ_MEM(got, slurp(path, got, 8), "abc", 3);
    unlink(path);
}

TAP_TEST(appeared_meanwhile)
{
    struct ntff_out *o;
    struct ntff_error err;
    const char *path = tmp_path("b.out");
    unlink(path);
    TAP_EQ_U64(ntff_out_open(&o, path, 0, 0, &err), NTFF_OK);
    FILE *f = fopen(path, "w");
    TAP_OK(f && fputs("other", f) >= 0 && fclose(f) == 0);
    TAP_EQ_U64(ntff_out_commit(o, &err), NTFF_IO);
    ntff_out_close(o);
    char got[8];
    TAP_EQ_MEM(got, slurp(path, got, 8), "other", 5);
    unlink(path);
}

TAP_TEST(link_is_followed_and_empty_file_replaced)
{
    struct ntff_out *o;
    struct ntff_error err;
    const char *target = tmp_path("c.target"), *link_path = tmp_path("c.link");
    unlink(link_path);
    FILE *f = fopen(target, "w");
    TAP_OK(f && fclose(f) == 0);
    TAP_EQ_I64(symlink(target, link_path), 0);
    TAP_EQ_U64(ntff_out_open(&o, link_path, 0, 0, &err), NTFF_OK);
    ntff_out_write(o, "abc", 3);
    TAP_EQ_U64(ntff_out_commit(o, &err), NTFF_OK);
    ntff_out_close(o);
    struct stat st;
    TAP_OK(lstat(link_path, &st) == 0 && S_ISLNK(st.st_mode));
    char got[8];
    TAP_EQ_MEM(got, slurp(target, got, 8), "abc", 3);
    unlink(target);
    unlink(link_path);
}

TAP_TEST(emergency_removes_the_temporary_file)
{
    struct ntff_out *o;
    struct ntff_error err;
    const char *path = tmp_path("d.out");
    unlink(path);
    TAP_EQ_U64(ntff_out_open(&o, path, 0, 0, &err), NTFF_OK);
    ntff_out_emergency();
    TAP_EQ_U64(ntff_out_commit(o, &err), NTFF_IO); /* nothing left to rename */
    ntff_out_close(o);
    TAP_OK(!exists(path));
}

TAP_TEST(errors_stick)
{
    struct ntff_out *o;
    struct ntff_error err;
    if (!exists("/dev/full"))
        TAP_SKIP("no /dev/full");
    TAP_EQ_U64(ntff_out_open(&o, "/dev/full", 0, 0, &err), NTFF_OK);
    ntff_out_write(o, "abc", 3);
    TAP_OK(!ntff_out_failed(o)); /* still buffered */
    TAP_EQ_U64(ntff_out_commit(o, &err), NTFF_IO);
    TAP_OK(strstr(err.text, strerror(ENOSPC)));
    ntff_out_close(o);

    TAP_EQ_U64(ntff_out_open(&o, "/nonexistent/dir/file", 0, 0, &err), NTFF_IO);
    TAP_EQ_U64(ntff_out_open(&o, "/", 0, 0, &err), NTFF_IO);
    TAP_OK(strstr(err.text, "directory"));
}

TAP_TEST(gzip_is_deterministic_and_whole)
{
    struct ntff_out *o[2];
    struct ntff_error err;
    for (int k = 0; k < 2; k++) {
        TAP_EQ_U64(ntff_out_open(&o[k], NULL, NTFF_OUT_GZIP, 0, &err), NTFF_OK);
        for (int i = 0; i < 100000; i++)
            ntff_out_write(o[k], &i, sizeof i);
        TAP_EQ_U64(ntff_out_total(o[k]), 400000);
        TAP_EQ_U64(ntff_out_commit(o[k], &err), NTFF_OK);
    }
    struct ntff_slice a = ntff_out_bytes(o[0]), b = ntff_out_bytes(o[1]);
    TAP_EQ_MEM(a.p, a.len, b.p, b.len);
    TAP_EQ_U64(ntff_le32((const uint8_t *)a.p + 4), 0); /* no time in the header */
    uint8_t *plain = malloc(400100);
    z_stream z = {
        .next_in = (Bytef *)a.p, .avail_in = (uInt)a.len, .next_out = plain, .avail_out = 400100};
    TAP_EQ_I64(inflateInit2(&z, 15 + 16), Z_OK);
    TAP_EQ_I64(inflate(&z, Z_FINISH), Z_STREAM_END);
    TAP_EQ_U64(z.total_out, 400000);
    TAP_EQ_U64(ntff_le32(plain + 4 * 77777), 77777);
    inflateEnd(&z);
    free(plain);
    ntff_out_close(o[0]);
    ntff_out_close(o[1]);
}

/* Units longer than the buffer stay contiguous, and finished ones are flushed. */
TAP_TEST(put_cursor)
{
    struct ntff_out *o;
    struct ntff_error err;
    const char *path = tmp_path("e.out");
    unlink(path);
    TAP_EQ_U64(ntff_out_open(&o, path, 0, 0, &err), NTFF_OK);
    struct ntff_put w = ntff_put_begin(o);
    char *big = malloc(1 << 20);
    memset(big, 'x', 1 << 20);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 50000; k++) {
            TAP_OK(ntff_put_room(&w, 4));
            *w.p++ = (uint8_t)('a' + i);
            ntff_put_done(&w);
        }
        size_t mark = (size_t)(w.p - w.start);
        ntff_put_bytes(&w, "[?", 2);
        ntff_put_bytes(&w, big, 1 << 20);
        ntff_put_bytes(&w, "]", 1);
        w.start[mark + 1] = '!'; /* patched after a megabyte */
        ntff_put_done(&w);
    }
    ntff_put_end(&w);
    size_t total = 3 * (50000 + (1 << 20) + 3);
    TAP_EQ_U64(ntff_out_total(o), total);
    TAP_EQ_U64(ntff_out_commit(o, &err), NTFF_OK);
    ntff_out_close(o);
    char *got = malloc(total + 1);
    TAP_EQ_U64(slurp(path, got, total + 1), total);
    size_t at = 50000 + (1 << 20) + 3;
    TAP_EQ_MEM(got + 49998, 5, "aa[!x", 5);
    TAP_EQ_MEM(got + at - 2, 4, "x]bb", 4);
    TAP_EQ_MEM(got + total - 2, 2, "x]", 2);
    free(got);
    free(big);
    unlink(path);
}

/* Bytes that shrink by a half or so, different all along. */
static void fill(uint8_t *p, size_t n)
{
    uint32_t x = 1;
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525 + 1013904223;
        p[i] = i % 3 ? (uint8_t)(x >> 28) : (uint8_t)(x >> 24);
    }
}

/* len bytes of text written in pieces of that size, compressed; returns how many came out. */
static size_t gzipped(const uint8_t *text, size_t len, size_t piece, unsigned jobs, uint8_t *to,
                      size_t cap)
{
    struct ntff_out *o;
    struct ntff_error err;
    TAP_EQ_U64(ntff_out_open(&o, NULL, NTFF_OUT_GZIP, jobs, &err), NTFF_OK);
    for (size_t at = 0; at < len; at += piece)
        ntff_out_write(o, text + at, len - at < piece ? len - at : piece);
    TAP_EQ_U64(ntff_out_commit(o, &err), NTFF_OK);
    struct ntff_slice b = ntff_out_bytes(o);
    TAP_OK(b.len <= cap);
    memcpy(to, b.p, b.len);
    ntff_out_close(o);
    return b.len;
}

/* Every length around the borders of blocks comes back from zlib's own inflate, as one member, and
 * its bytes depend neither on the threads nor on the pieces it was written in. */
TAP_TEST(gzip_by_blocks)
{
    enum { BLOCK = 256 << 10, CAP = 14 * BLOCK };
    static const size_t lengths[] = {0,         1,         BLOCK - 1,         BLOCK,
                                     BLOCK + 1, 2 * BLOCK, 13 * BLOCK + 12345};
    uint8_t *text = malloc(CAP), *one = malloc(CAP), *many = malloc(CAP), *back = malloc(CAP);
    TAP_OK(text && one && many && back);
    fill(text, CAP);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t len = lengths[i], n_one = gzipped(text, len, 1000, 1, one, CAP);
        for (unsigned jobs = 2; jobs <= 5; jobs++) {
            size_t n = gzipped(text, len, 300001 * jobs, jobs, many, CAP);
            TAP_EQ_MEM(many, n, one, n_one);
        }
        z_stream z = {.next_in = one, .avail_in = (uInt)n_one, .next_out = back, .avail_out = CAP};
        TAP_EQ_I64(inflateInit2(&z, 15 + 16), Z_OK);
        TAP_EQ_I64(inflate(&z, Z_FINISH), Z_STREAM_END);
        TAP_EQ_U64(z.avail_in, 0);
        TAP_EQ_U64(z.total_out, len);
        TAP_OK(memcmp(back, text, len) == 0);
        inflateEnd(&z);
        TAP_OK(len < BLOCK || n_one < len * 4 / 5);
    }
    free(text), free(one), free(many), free(back);
}

/* Closed before it is finished: the threads end, nothing is left. */
TAP_TEST(gzip_given_up)
{
    uint8_t *text = calloc(1, 4 << 20);
    struct ntff_out *o;
    struct ntff_error err;
    TAP_EQ_U64(ntff_out_open(&o, NULL, NTFF_OUT_GZIP, 4, &err), NTFF_OK);
    ntff_out_write(o, text, 4 << 20);
    ntff_out_close(o);
    free(text);
}

TAP_MAIN()
