/* support - see fuzz.h. */
#include "tests/fuzz/fuzz.h"

#include "conv/chrome_sink.h"
#include "proto/schema.h"
#include "tests/check_trace.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static FILE *shown; /* standard error before fuzz_quiet */

void fuzz_fail(const char *file, int line, const char *fmt, ...)
{
    FILE *to = shown != NULL ? shown : stderr;
    va_list ap;
    va_start(ap, fmt);
    fprintf(to, "%s:%d: ", file, line);
    vfprintf(to, fmt, ap);
    fputc('\n', to);
    va_end(ap);
    fflush(to);
    abort();
}

void fuzz_quiet(bool all)
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (nowhere == NULL || shown != NULL)
        return;
    shown = stderr;
    stderr = nowhere;
    if (all)
        stdout = nowhere;
}

const char *fuzz_file(unsigned slot, const void *p, size_t len)
{
    static int fds[FUZZ_SLOTS] = {-1, -1, -1, -1};
    static char paths[FUZZ_SLOTS][40];
    if (fds[slot] >= 0)
        close(fds[slot]);
    fds[slot] = memfd_create("fuzz", MFD_CLOEXEC);
    if (fds[slot] < 0 || write(fds[slot], p, len) != (ssize_t)len)
        FUZZ_FAIL("cannot make a file of %zu bytes", len);
    snprintf(paths[slot], sizeof paths[slot], "/proc/self/fd/%d", fds[slot]);
    return paths[slot];
}

/* -- choices ------------------------------------------------------------------------------------
 */

/* The schema of the simulated captures: all numbers known, none of them ours. */
static const struct ntff_schema *strange_schema(void)
{
    static struct ntff_schema *s;
    if (s == NULL) {
        const char *src = getenv("SRC");
        char path[4096];
        struct ntff_error err;
        snprintf(path, sizeof path, "%s/tests/data/cases/schema.desc", src != NULL ? src : ".");
        if (ntff_schema_load(path, &s, &err) != NTFF_OK)
            FUZZ_FAIL("%s: %s", path, err.text);
    }
    return s;
}

static const struct ntff_load_options filters[] = {
    {.filter_core = "0"},
    {.filter_core = "1,3-7"},
    {.filter_type = "nc_exec_running"},
    {.filter_type = "software,^nrt_execute"},
    {.filter_type = "hardware"},
    {.filter_process = "1000"},
    {.filter_instance = "i-EXAMPLE0"},
    {.filter_engine = "pe,dma"},
    {.filter_queue = "q0"},
    {.no_device = true},
    {.no_system = true},
    {.no_dma = true},
    {.no_semaphores = true},
    {.no_instructions = true},
};

struct fuzz_choices fuzz_choose(const uint8_t c[FUZZ_CHOICES])
{
    static const int groups[] = {0,
                                 NTFF_BY_NC,
                                 NTFF_BY_INSTANCE,
                                 NTFF_BY_PROCESS | NTFF_BY_THREAD,
                                 NTFF_BY_THREAD | NTFF_BY_GID | NTFF_BY_NC,
                                 NTFF_BY_GID,
                                 NTFF_BY_PROCESS,
                                 NTFF_BY_INSTANCE | NTFF_BY_NC};
    struct fuzz_choices r = {0};
    if (c[0] != 0 && c[0] <= NTFF_ARRAY_LEN(filters))
        r.load = filters[c[0] - 1];
    r.load.clock = (enum ntff_clock_mode)(c[1] % 6);
    r.load.primary_group = groups[c[2] & 7];
    r.load.secondary_group = groups[c[2] >> 3 & 7];
    r.load.no_flows = c[2] >> 6 & 1;
    r.load.align_instances = c[2] >> 7;
    r.load.jobs = c[3] & 1 ? 2 : 1;
    r.load.max_memory = c[3] & 2 ? (size_t)300 << 10 : (size_t)256 << 20;
    r.compact = c[3] >> 2 & 1;
    r.no_args = c[3] >> 3 & 1;
    r.clip = c[3] >> 4 & 1;
    r.strange_schema = c[3] >> 5 & 1;
    r.window = r.clip && c[3] >> 6 & 1;
    if (r.window) {
        uint64_t from = (uint64_t)(c[1] >> 3) * 500;
        r.load.from = (struct ntff_moment){from, true, true};
        r.load.to = (struct ntff_moment){from + (UINT64_C(1) << c[2] % 45), true, true};
    }
    if (r.strange_schema)
        r.load.schema = strange_schema();
    return r;
}

/* -- the whole path -------------------------------------------------------------------------------
 */

/* Writes one form and reads it back: all is there, and every promise holds. */
static void write_form(const struct ntff_trace *t, const struct ntff_diag *diag,
                       const struct fuzz_choices *c, bool chrome)
{
    const char *form = chrome ? "chrome" : "perfetto", *bad = NULL;
    struct pft_options opt = {.no_args = c->no_args,
                              .compact = c->compact,
                              .jobs = c->load.jobs,
                              .creator = "fuzz",
                              .diag = diag};
    struct pft_stats stats = {0};
    struct ntff_error err = {0};
    struct ntff_out *out;
    FUZZ_OK(ntff_out_open(&out, NULL, 0, 0, &err) == NTFF_OK);
    enum ntff_status s = chrome ? conv_chrome_write(t, &opt, out, &stats, &err)
                                : pft_write(t, &opt, out, &stats, &err);
    if (s != NTFF_OK && s != NTFF_LIMIT)
        FUZZ_FAIL("%s: %s", form, err.text);
    if (s == NTFF_OK)
        bad = chrome ? fuzz_check_chrome(ntff_out_bytes(out), &stats)
                     : fuzz_check_perfetto(ntff_out_bytes(out), &stats, c->compact);
    if (bad != NULL)
        FUZZ_FAIL("%s: %s", form, bad);
    if (s == NTFF_OK && stats.spans + stats.instants != t->n_events)
        FUZZ_FAIL("%s: %zu events, but %llu + %llu written", form, t->n_events,
                  (unsigned long long)stats.spans, (unsigned long long)stats.instants);
    if (s == NTFF_OK && stats.samples + stats.samples_dropped != t->n_samples)
        FUZZ_FAIL("%s: %zu samples", form, t->n_samples);
    ntff_out_close(out);
}

static void check_and_write(const struct ntff_trace *t, const struct ntff_diag *diag,
                            const struct fuzz_choices *c)
{
    const char *bad = check_trace(t, diag);
    if (bad != NULL)
        FUZZ_FAIL("%s", bad);
    write_form(t, diag, c, false);
    write_form(t, diag, c, true);
}

/* The window asked for, or the middle half. */
static void clip(struct ntff_trace *t, struct ntff_diag *diag, const struct fuzz_choices *c)
{
    uint64_t quarter = (t->end_ns - t->begin_ns) / 4;
    uint64_t from = t->begin_ns + quarter, to = t->end_ns - quarter;
    struct ntff_error err = {0};
    if (c->window) {
        from = ntff_moment_ns(&c->load.from, t->begin_ns);
        to = ntff_moment_ns(&c->load.to, t->begin_ns);
    }
    enum ntff_status s = ntff_trace_clip(t, from, to, diag, &err);
    if (s != NTFF_OK)
        FUZZ_FAIL("clip: %s", err.text);
}

/* NULL if the load failed as it may. */
static struct ntff_trace *load(const char *const *paths, size_t n,
                               const struct ntff_load_options *opt, struct ntff_diag *diag)
{
    struct ntff_trace *t = NULL;
    struct ntff_error err = {0};
    enum ntff_status s = ntff_load(paths, n, opt, &t, diag, &err);
    if (s == NTFF_OK)
        return t;
    if (s != NTFF_NOMEM && s != NTFF_LIMIT && s != NTFF_INVALID && s != NTFF_IO)
        FUZZ_FAIL("load: status %d, %s", s, err.text);
    if (s == NTFF_NOMEM && opt->max_memory > (size_t)64 << 20)
        FUZZ_FAIL("a small file over the memory limit: %s", err.text);
    FUZZ_OK(err.text[0] != '\0' && t == NULL);
    return NULL;
}

/* What is read with a window in mind is, once clipped, what is read whole and clipped. */
static void compare_with_whole(const char *const *paths, size_t n, const struct fuzz_choices *c,
                               const struct ntff_trace *t)
{
    struct ntff_load_options opt = c->load;
    struct ntff_diag diag = {0};
    opt.keep_outside = true;
    struct ntff_trace *whole = load(paths, n, &opt, &diag);
    if (whole == NULL)
        return;
    clip(whole, &diag, c);
    if (whole->n_events != t->n_events || whole->n_samples != t->n_samples ||
        whole->n_flows != t->n_flows)
        FUZZ_FAIL("%zu events, %zu samples, %zu flows in the window; %zu, %zu, %zu if read whole",
                  t->n_events, t->n_samples, t->n_flows, whole->n_events, whole->n_samples,
                  whole->n_flows);
    for (size_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *a = &t->events[i], *b = &whole->events[i];
        if (a->ts_ns != b->ts_ns || a->dur_ns != b->dur_ns || a->flags != b->flags ||
            strcmp(ntff_str_of(t, a->name), ntff_str_of(whole, b->name)) != 0)
            FUZZ_FAIL("event %zu of the window is another if all is read", i);
    }
    ntff_trace_free(whole);
}

void fuzz_capture(const char *const *paths, size_t n, const struct fuzz_choices *c)
{
    struct ntff_diag diag = {0};
    struct ntff_trace *t = load(paths, n, &c->load, &diag);
    if (t == NULL)
        return;
    check_and_write(t, &diag, c);
    if (c->clip && t->n_events + t->n_samples > 0) {
        clip(t, &diag, c);
        check_and_write(t, &diag, c);
        if (c->window)
            compare_with_whole(paths, n, c, t);
    }
    ntff_load_recheck(t, &diag);
    FUZZ_OK(diag.of[NTFF_DIAG_FILE_CHANGED].count == 0);
    ntff_trace_free(t);
}

int fuzz_one_file(const uint8_t *data, size_t size)
{
    if (size < FUZZ_CHOICES)
        return 0;
    struct fuzz_choices c = fuzz_choose(data);
    const char *path = fuzz_file(0, data + FUZZ_CHOICES, size - FUZZ_CHOICES);
    fuzz_capture(&path, 1, &c);
    return 0;
}
