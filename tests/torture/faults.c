/* faults - makes the n-th call of a kind fail. Linked around the programs with the linker's --wrap,
 * so that every call of theirs comes here first (see the Makefile, WRAPPED).
 *
 *     FAULT=alloc:17 FAULT_MARK=FILE program ...
 *
 * Kinds: alloc (memory, threads, streams), read (open, stat, map and read of inputs), write
 * (create, write, close, rename, mkdir of outputs): calls of our own. inner: memory that anybody
 * asks for, zlib, json-c, protobuf-c and libc included; below. KIND:N+ fails that call and all
 * after it. When a call was made to fail FILE is created: without it, N is beyond the last one. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <glob.h>
#include <pthread.h>
#include <regex.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { ALLOC, READ, WRITE, INNER };

static struct {
    enum kind kind;
    unsigned long n; /* 0 = none */
    bool on;         /* from there on */
    const char *mark;
} plan;
static atomic_ulong count;

__attribute__((constructor)) static void read_plan(void)
{
    static const char *const names[] = {"alloc:", "read:", "write:", "inner:"};
    const char *text = getenv("FAULT");
    plan.mark = getenv("FAULT_MARK");
    for (int k = 0; text != NULL && k < 4; k++) {
        size_t len = strlen(names[k]);
        char *end;
        if (strncmp(text, names[k], len) != 0)
            continue;
        plan.kind = (enum kind)k;
        plan.n = strtoul(text + len, &end, 10);
        plan.on = *end == '+';
    }
}

int __real_open(const char *path, int flags, ...);
int __real_close(int fd);

/* Is it this call's turn? */
static bool fails(enum kind kind, int error)
{
    if (plan.n == 0 || kind != plan.kind)
        return false;
    unsigned long at = atomic_fetch_add(&count, 1) + 1;
    if (at != plan.n && !(plan.on && at > plan.n))
        return false;
    if (plan.mark != NULL) {
        int fd = __real_open(plan.mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (fd >= 0)
            __real_close(fd);
    }
    errno = error;
    return true;
}

/* A call that is passed on unless it is to fail. */
#define WRAP(kind, error, result, type, name, params, args)                                        \
    type __real_##name params;                                                                     \
    type __wrap_##name params;                                                                     \
    type __wrap_##name params                                                                      \
    {                                                                                              \
        return fails(kind, error) ? (result) : __real_##name args;                                 \
    }

/* -- memory -------------------------------------------------------------------------------------
 */

WRAP(ALLOC, ENOMEM, NULL, void *, malloc, (size_t n), (n))
WRAP(ALLOC, ENOMEM, NULL, void *, calloc, (size_t n, size_t m), (n, m))
WRAP(ALLOC, ENOMEM, NULL, void *, realloc, (void *p, size_t n), (p, n))
WRAP(ALLOC, ENOMEM, NULL, char *, strdup, (const char *s), (s))
WRAP(ALLOC, ENOMEM, NULL, char *, strndup, (const char *s, size_t n), (s, n))
WRAP(ALLOC, ENOMEM, NULL, FILE *, open_memstream, (char **p, size_t *n), (p, n))
WRAP(ALLOC, ENOMEM, REG_ESPACE, int, regcomp, (regex_t * r, const char *p, int flags),
     (r, p, flags))
WRAP(ALLOC, EAGAIN, EAGAIN, int, pthread_create,
     (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *p), (t, a, f, p))
WRAP(ALLOC, ENOMEM, GLOB_NOSPACE, int, glob,
     (const char *p, int flags, int (*e)(const char *, int), glob_t *g), (p, flags, e, g))
WRAP(ALLOC, ENOMEM, NULL, char *, realpath, (const char *p, char *out), (p, out))
WRAP(ALLOC, ENOMEM, NULL, char *, __realpath_chk, (const char *p, char *out, size_t n), (p, out, n))

/* The allocator itself: what is defined here comes before libc's for all libraries, and for libc.
 * free() stays as it is, since the blocks do. A sanitizer has an allocator of its own in this
 * place.
 */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define OWN_ALLOCATOR 0
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define OWN_ALLOCATOR 0
#else
#define OWN_ALLOCATOR 1
#endif
#else
#define OWN_ALLOCATOR 1
#endif

/* json-c 0.16 dies when there is no memory for the name of a member. decode_json.c makes sure of
 * room before it parses; that check may fail here, the parsing behind it not. */
struct json_tokener;
struct json_object;
static _Thread_local bool in_json;
struct json_object *__real_json_tokener_parse_ex(struct json_tokener *t, const char *p, int len);
struct json_object *__wrap_json_tokener_parse_ex(struct json_tokener *t, const char *p, int len);
struct json_object *__wrap_json_tokener_parse_ex(struct json_tokener *t, const char *p, int len)
{
    in_json = true;
    struct json_object *o = __real_json_tokener_parse_ex(t, p, len);
    in_json = false;
    return o;
}

#if OWN_ALLOCATOR && defined __GLIBC__
static bool inner_fails(void)
{
    return !in_json && fails(INNER, ENOMEM);
}

void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t m);
void *__libc_realloc(void *p, size_t n);

void *malloc(size_t n)
{
    return inner_fails() ? NULL : __libc_malloc(n);
}
void *calloc(size_t n, size_t m)
{
    return inner_fails() ? NULL : __libc_calloc(n, m);
}
void *realloc(void *p, size_t n)
{
    return inner_fails() ? NULL : __libc_realloc(p, n);
}
#endif

__attribute__((format(printf, 2, 3))) int __wrap_asprintf(char **p, const char *fmt, ...);
int __wrap_asprintf(char **p, const char *fmt, ...)
{
    va_list ap;
    if (fails(ALLOC, ENOMEM))
        return -1;
    va_start(ap, fmt);
    int n = vasprintf(p, fmt, ap);
    va_end(ap);
    return n;
}
__attribute__((format(printf, 3, 4))) int __wrap___asprintf_chk(char **p, int flag, const char *fmt,
                                                                ...);
int __wrap___asprintf_chk(char **p, int flag, const char *fmt, ...)
{
    va_list ap;
    (void)flag;
    if (fails(ALLOC, ENOMEM))
        return -1;
    va_start(ap, fmt);
    int n = vasprintf(p, fmt, ap);
    va_end(ap);
    return n;
}

/* -- files --------------------------------------------------------------------------------------
 */

int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = flags & O_CREAT ? (mode_t)va_arg(ap, int) : 0;
    va_end(ap);
    bool out = (flags & O_ACCMODE) != O_RDONLY;
    if (fails(out ? WRITE : READ, out ? ENOSPC : EIO))
        return -1;
    return __real_open(path, flags, mode);
}
FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
    return fails(mode[0] == 'r' ? READ : WRITE, EIO) ? NULL : __real_fopen(path, mode);
}
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    bool out = (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDONLY, bad = out && fails(WRITE, EIO);
    int r = __real_close(fd); /* the descriptor is gone either way, as on Linux */
    if (bad)
        errno = EIO;
    return bad ? -1 : r;
}
WRAP(READ, EIO, -1, int, stat, (const char *p, struct stat *st), (p, st))
WRAP(READ, EIO, -1, int, fstat, (int fd, struct stat *st), (fd, st))
WRAP(READ, EIO, -1, off_t, lseek, (int fd, off_t at, int whence), (fd, at, whence))
WRAP(READ, EIO, -1, int, madvise, (void *p, size_t n, int what), (p, n, what))
WRAP(READ, EIO, -1, ssize_t, read, (int fd, void *p, size_t n), (fd, p, n))
WRAP(READ, ENOMEM, MAP_FAILED, void *, mmap,
     (void *p, size_t n, int prot, int flags, int fd, off_t at), (p, n, prot, flags, fd, at))
WRAP(READ, EIO, NULL, FTS *, fts_open,
     (char *const *p, int flags, int (*cmp)(const FTSENT **, const FTSENT **)), (p, flags, cmp))
WRAP(READ, EIO, NULL, FTSENT *, fts_read, (FTS * f), (f))
WRAP(READ, EIO, -1, int, scandir,
     (const char *p, struct dirent ***list, int (*want)(const struct dirent *),
      int (*cmp)(const struct dirent **, const struct dirent **)),
     (p, list, want, cmp))
WRAP(WRITE, EIO, -1, int, rename, (const char *from, const char *to), (from, to))
WRAP(WRITE, EIO, -1, int, renameat2, (int a, const char *from, int b, const char *to, unsigned how),
     (a, from, b, to, how))
WRAP(WRITE, EIO, -1, int, mkdir, (const char *p, mode_t mode), (p, mode))

/* Writes at most half first, as a disk that fills up does. */
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n)
{
    if (fails(WRITE, ENOSPC))
        return -1;
    return __real_write(fd, p, plan.kind == WRITE && plan.n != 0 && n > 1 ? n / 2 : n);
}
