/* subject - see sweep.h. One file on disk (better in memory: TMP on a tmpfs) that is changed in
 * place from one damage to the next, so that a try costs what the loader costs and little else.
 *
 * The loader maps its input, and behind the last byte of a mapping the page goes on: a read too far
 * would see zeros there and nothing would tell. So the program is linked with --wrap=mmap: what the
 * loader gets instead is a copy that ends at the end of a page, before one that cannot be read. */
#include "conv/conv.h"
#include "proto/load.h"
#include "tests/check_trace.h"
#include "tests/sweep/sweep.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* What a load may take: the limit it is given, and the README's constant for what is not counted
 * by it. Sanitizers have memory of their own. */
#define LIMIT_BYTES ((size_t)64 << 20)
#define CONSTANT_BYTES ((size_t)64 << 20)
#if defined __SANITIZE_ADDRESS__
enum { MEMORY_IS_OURS = false };
#else
enum { MEMORY_IS_OURS = true };
#endif

static struct {
    const struct sample *sample;
    char path[4096];
    int fd;
    size_t len, changed; /* of the file now; where a byte of it is changed, SIZE_MAX = nowhere */
    size_t start_bytes;  /* memory before the first load */
    struct ntff_schema *schema;
} now = {.fd = -1, .changed = SIZE_MAX};

static const char *wrong(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *wrong(const char *fmt, ...)
{
    static char text[400];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    return text;
}

/* -- mappings with an end ---------------------------------------------------------------------- */

enum { GUARDED_BYTES = 4 << 20 };
static uint8_t *guarded; /* GUARDED_BYTES, and a page without access */
static bool guarded_used;

void *__real_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    if (fd < 0 || prot != PROT_READ || flags != MAP_PRIVATE || guarded_used || n > GUARDED_BYTES)
        return __real_mmap(p, n, prot, flags, fd, at);
    uint8_t *begin = guarded + GUARDED_BYTES - n;
    if (pread(fd, begin, n, at) != (ssize_t)n)
        return MAP_FAILED;
    guarded_used = true;
    return begin;
}

int __real_munmap(void *p, size_t n);
int __wrap_munmap(void *p, size_t n);
int __wrap_munmap(void *p, size_t n)
{
    if (!guarded_used || (uint8_t *)p != guarded + GUARDED_BYTES - n)
        return __real_munmap(p, n);
    guarded_used = false;
    return 0;
}

static bool make_guarded(void)
{
    guarded = __real_mmap(NULL, GUARDED_BYTES + (size_t)getpagesize(), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return guarded != MAP_FAILED &&
           mprotect(guarded + GUARDED_BYTES, (size_t)getpagesize(), PROT_NONE) == 0;
}

/* -- the file -------------------------------------------------------------------------------------
 */

static size_t peak_bytes(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (size_t)r.ru_maxrss << 10;
}

static void give_up(const char *what)
{
    fprintf(stderr, "sweep: %s: %s\n", now.path, what);
    exit(2);
}

static void remove_file(void)
{
    if (now.fd >= 0) {
        close(now.fd);
        unlink(now.path);
    }
    now.fd = -1;
}

void subject_end(void)
{
    remove_file();
    ntff_schema_free(now.schema);
    now.schema = NULL;
}

void subject_begin(const struct sample *s, const char *directory)
{
    struct ntff_error err;
    remove_file();
    if (guarded == NULL && !make_guarded())
        give_up("no memory");
    if (now.schema == NULL && ntff_schema_builtin(&now.schema, &err) != NTFF_OK)
        give_up(err.text);
    now.sample = s;
    now.len = s->len;
    now.changed = SIZE_MAX;
    snprintf(now.path, sizeof now.path, "%s/%s", directory, s->name);
    now.fd = open(now.path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (now.fd < 0 || pwrite(now.fd, s->p, s->len, 0) != (ssize_t)s->len)
        give_up("cannot be written");
    now.start_bytes = peak_bytes();
}

static bool put(const void *p, size_t n, size_t at)
{
    return pwrite(now.fd, p, n, (off_t)at) == (ssize_t)n;
}

/* Makes the file what is asked for, from what it is. */
static void change(size_t len, size_t at, uint8_t flip)
{
    const struct sample *s = now.sample;
    bool ok = now.changed >= now.len || put(s->p + now.changed, 1, now.changed);
    if (len < now.len)
        ok = ok && ftruncate(now.fd, (off_t)len) == 0;
    else if (len > now.len)
        ok = ok && put(s->p + now.len, len - now.len, now.len);
    now.len = len;
    now.changed = SIZE_MAX;
    if (flip != 0) {
        uint8_t c = s->p[at] ^ flip;
        ok = ok && put(&c, 1, at);
        now.changed = at;
    }
    if (!ok)
        give_up("cannot be changed");
}

/* -- what must hold
 * --------------------------------------------------------------------------------- */

struct outcome {
    enum ntff_status status;
    struct ntff_counts counts;
    bool lossy, empty;
};

static const char *load(struct outcome *o)
{
    struct ntff_load_options opt = {.jobs = 1, .max_memory = LIMIT_BYTES, .schema = now.schema};
    const char *path = now.path, *bad = NULL;
    struct ntff_trace *t = NULL;
    struct ntff_diag diag = {0};
    struct ntff_error err = {0};
    *o = (struct outcome){.status = ntff_load(&path, 1, &opt, &t, &diag, &err), .empty = true};
    if (o->status != NTFF_OK)
        return err.text[0] == '\0' ? "an error without a text" : NULL;
    bad = check_trace(t, &diag);
    o->counts = t->counts;
    o->empty = t->n_events + t->n_samples == 0;
    o->lossy = ntff_diag_lossy(&diag);
    ntff_trace_free(t);
    return bad;
}

/* What is whole before a cut is kept; the cut itself is told. */
static const char *check_cut(const struct outcome *o, size_t len)
{
    const struct sample *s = now.sample;
    size_t whole = sample_whole(s, len);
    uint64_t kept = o->counts.records_in - o->counts.dropped_records;
    /* a few records are not enough to settle framing and numbering */
    bool settled = s->kind <= SAMPLE_JSON && whole >= 8;
    if (settled && (o->status != NTFF_OK || kept != whole))
        return wrong("%zu whole records, %" PRIu64 " kept", whole, kept);
    if (len < s->len && s->kind < SAMPLE_OTHER && o->status == NTFF_OK && !o->lossy &&
        !(s->kind < SAMPLE_JSON && sample_between(s, len)) && len > 0)
        return "cut, and nobody is told";
    return NULL;
}

/* No record but the damaged one, and its other half, is lost - unless the bytes that separate
 * records are hit, or no record at all is recognised. Where a core has one pair of times only, all
 * its events hang on it, and may be lost for times that cannot be: counted, as ever. */
static const char *check_byte(const struct outcome *o, size_t at)
{
    const struct sample *s = now.sample;
    uint64_t in = o->counts.records_in, kept = in - o->counts.dropped_records;
    if (s->kind > SAMPLE_BARE || s->is_frame[at])
        return NULL;
    if (in == 0 && !o->lossy && o->status == NTFF_OK)
        return "no record is left, and nobody is told";
    /* one that is cut at the end may count */
    if (in > 0 && (in < s->n_records || in > s->n_records + 1 ||
                   (!s->is_clock[at] && kept + 2 < s->n_records)))
        return wrong("%zu records, %" PRIu64 " found, %" PRIu64 " kept", s->n_records, in, kept);
    return NULL;
}

/* The program itself says the same by its exit status; asked of every prefix and every single bit,
 * since it takes as long as all the rest. */
static bool asks_program(uint8_t flip)
{
    return (flip & (flip - 1)) == 0;
}

static const char *check_program(const struct outcome *o)
{
    static char words[][24] = {"convert", "-q", "-j1", "--max-memory=64M", "-o", "-"};
    char *argv[8];
    int argc = 0;
    while (argc < 6) {
        argv[argc] = words[argc];
        argc++;
    }
    argv[argc++] = now.path;
    argv[argc] = NULL;
    int code = conv_cmd_convert(argc, argv), want = o->empty   ? CONV_NOTHING
                                                    : o->lossy ? CONV_LOSSES
                                                               : CONV_ALL;
    return code == want ? NULL : wrong("exit status %d, not %d", code, want);
}

const char *subject_try(size_t len, size_t at, uint8_t flip)
{
    struct outcome o;
    change(len, at, flip);
    const char *bad = load(&o);
    if (bad == NULL)
        bad = flip == 0 ? check_cut(&o, len) : check_byte(&o, at);
    if (bad == NULL && asks_program(flip))
        bad = check_program(&o);
    if (bad == NULL && MEMORY_IS_OURS &&
        peak_bytes() > now.start_bytes + LIMIT_BYTES + CONSTANT_BYTES)
        bad = wrong("%zu MiB of memory", peak_bytes() >> 20);
    return bad;
}
