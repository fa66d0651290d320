/* input - plain files are mapped; gzip and pipes are unpacked, either into memory (map) or piece by
 * piece (read). A head of 64 KiB is always unpacked first, so that a file can be recognised before
 * anybody decides how to read it.
 *
 * A mapped file can shrink under its reader. The fault that follows is turned into zeros by
 * ntff_input_fault, and whoever reads asks in the end if the file is still the one that was opened.
 */
#include "proto/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HEAD_BYTES ((size_t)64 << 10)
#define READ_BYTES ((size_t)256 << 10)

struct ntff_input_priv {
    int fd;
    struct ntff_budget *budget;
    uint8_t *head; /* HEAD_BYTES */
    size_t head_len, head_given;
    uint8_t *raw; /* READ_BYTES of stored bytes, gzip only */
    z_stream z;
    bool z_ready, z_done, eof;
    struct timespec modified; /* when it was opened */
    bool regular;
    void *map;
    size_t map_len;
    bool faulted;                 /* zeros stand where pages were */
    struct ntff_input_priv *next; /* the next mapped input */
    struct ntff_buf whole;
};

static struct ntff_input_priv *mapped; /* see ntff_input_fault */

static enum ntff_status io_fail(struct ntff_error *err, const struct ntff_input *in,
                                const char *what)
{
    return ntff_fail(err, NTFF_IO, NTFF_NO_OFFSET, "%s: %s: %s", in->path, what, strerror(errno));
}

static ssize_t read_some(int fd, void *buf, size_t cap)
{
    ssize_t n;
    do
        n = read(fd, buf, cap);
    while (n < 0 && errno == EINTR);
    return n;
}

static void damaged(struct ntff_input *in, const char *why)
{
    in->damaged = true;
    in->priv->eof = true;
    snprintf(in->why, sizeof in->why, "%s", why);
}

/* Next unpacked bytes of a gzip stream, members one after another. */
static enum ntff_status gunzip_some(struct ntff_input *in, uint8_t *buf, size_t cap, size_t *got,
                                    struct ntff_error *err)
{
    struct ntff_input_priv *p = in->priv;
    p->z.next_out = buf;
    p->z.avail_out = (uInt)(cap < INT32_MAX ? cap : INT32_MAX);
    uInt room = p->z.avail_out;
    while (p->z.avail_out == room && !p->eof) {
        if (p->z.avail_in == 0) {
            ssize_t n = read_some(p->fd, p->raw, READ_BYTES);
            if (n < 0)
                return io_fail(err, in, "cannot read");
            p->z.next_in = p->raw;
            p->z.avail_in = (uInt)n;
            if (n == 0) {
                if (!p->z_done)
                    damaged(in, "gzip data ends too early");
                p->eof = true;
                break;
            }
        }
        if (p->z_done) { /* another member, or garbage after the last */
            if (p->z.next_in[0] != 0x1f) {
                damaged(in, "bytes after the end of the gzip data");
                break;
            }
            inflateReset(&p->z);
            p->z_done = false;
        }
        int r = inflate(&p->z, Z_NO_FLUSH);
        if (r == Z_STREAM_END)
            p->z_done = true;
        else if (r == Z_MEM_ERROR)
            return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "%s: out of memory", in->path);
        else if (r != Z_OK && r != Z_BUF_ERROR)
            damaged(in, "gzip data is damaged");
    }
    *got = room - p->z.avail_out;
    return NTFF_OK;
}

/* Next unpacked bytes from the file itself. */
static enum ntff_status next_bytes(struct ntff_input *in, void *buf, size_t cap, size_t *got,
                                   struct ntff_error *err)
{
    *got = 0;
    if (in->priv->eof)
        return NTFF_OK;
    if (in->gzip)
        return gunzip_some(in, buf, cap, got, err);
    ssize_t n = read_some(in->priv->fd, buf, cap);
    if (n < 0)
        return io_fail(err, in, "cannot read");
    in->priv->eof = n == 0;
    *got = (size_t)n;
    return NTFF_OK;
}

/* Fills the head; decides on gzip by the first two bytes. */
static enum ntff_status fill_head(struct ntff_input *in, struct ntff_error *err)
{
    struct ntff_input_priv *p = in->priv;
    enum ntff_status s;
    size_t got;
    while (p->head_len < HEAD_BYTES) {
        if ((s = next_bytes(in, p->head + p->head_len, HEAD_BYTES - p->head_len, &got, err)))
            return s;
        if (got == 0)
            break;
        p->head_len += got;
    }
    if (in->gzip || p->head_len < 3 || memcmp(p->head, "\x1f\x8b\x08", 3) != 0)
        return NTFF_OK;

    p->raw = malloc(READ_BYTES);
    if (!p->raw || inflateInit2(&p->z, 15 + 16) != Z_OK)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "%s: out of memory", in->path);
    p->z_ready = true;
    memcpy(p->raw, p->head, p->head_len);
    p->z.next_in = p->raw;
    p->z.avail_in = (uInt)p->head_len;
    p->head_len = 0;
    p->eof = false;
    in->gzip = true;
    return fill_head(in, err);
}

enum ntff_status ntff_input_open(struct ntff_input *in, const char *path,
                                 struct ntff_budget *budget, struct ntff_error *err)
{
    return ntff_input_open_as(in, path, path, budget, err);
}

enum ntff_status ntff_input_open_as(struct ntff_input *in, const char *where, const char *path,
                                    struct ntff_budget *budget, struct ntff_error *err)
{
    *in = (struct ntff_input){.path = path};
    struct ntff_input_priv *p = calloc(1, sizeof *p);
    if (!p)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "%s: out of memory", path);
    in->priv = p;
    p->budget = p->whole.budget = budget;
    p->fd = -1;
    p->head = malloc(HEAD_BYTES);
    enum ntff_status s = NTFF_OK;
    struct stat st;
    if (!p->head) {
        s = ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "%s: out of memory", path);
    } else if ((p->fd = strcmp(where, "-") == 0 ? dup(STDIN_FILENO)
                                                : open(where, O_RDONLY | O_CLOEXEC)) < 0) {
        s = io_fail(err, in, "cannot open");
    } else if (fstat(p->fd, &st) != 0) {
        s = io_fail(err, in, "cannot stat");
    } else if (S_ISDIR(st.st_mode)) {
        s = ntff_fail(err, NTFF_IO, NTFF_NO_OFFSET, "%s: is a directory", path);
    } else {
        p->regular = S_ISREG(st.st_mode);
        p->modified = st.st_mtim;
        in->file_len = p->regular ? (uint64_t)st.st_size : 0;
        s = fill_head(in, err);
    }
    if (s)
        ntff_input_close(in);
    return s;
}

struct ntff_slice ntff_input_head(const struct ntff_input *in)
{
    if (!in->data)
        return (struct ntff_slice){(const char *)in->priv->head, in->priv->head_len};
    size_t n = in->len < HEAD_BYTES ? (size_t)in->len : HEAD_BYTES;
    return (struct ntff_slice){(const char *)in->data, n};
}

/* Once everything is addressable, the head is too: sessions have files by the thousand. */
static void drop_head(struct ntff_input_priv *p)
{
    free(p->head);
    p->head = NULL;
    p->head_len = 0;
}

/* Reads everything that is left into memory. */
static enum ntff_status slurp(struct ntff_input *in, struct ntff_error *err)
{
    struct ntff_input_priv *p = in->priv;
    struct ntff_buf *b = &p->whole;
    ntff_buf_add(b, p->head, p->head_len);
    for (;;) {
        size_t got;
        if (b->failed || !ntff_grow(b->budget, (void **)&b->p, &b->cap, b->len, READ_BYTES, 1))
            return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET,
                             "%s: unpacked data goes over the memory limit at %zu bytes", in->path,
                             b->len);
        enum ntff_status s = next_bytes(in, b->p + b->len, b->cap - b->len, &got, err);
        if (s)
            return s;
        if (got == 0)
            break;
        b->len += got;
    }
    in->data = b->p;
    in->len = b->len;
    drop_head(p);
    return NTFF_OK;
}

enum ntff_status ntff_input_map(struct ntff_input *in, struct ntff_error *err)
{
    struct ntff_input_priv *p = in->priv;
    if (in->data)
        return NTFF_OK;
    if (in->gzip || in->file_len == 0)
        return slurp(in, err);
    void *m = mmap(NULL, in->file_len, PROT_READ, MAP_PRIVATE, p->fd, 0);
    if (m == MAP_FAILED)
        return slurp(in, err);
    madvise(m, in->file_len, MADV_SEQUENTIAL);
    p->map = m;
    p->map_len = in->file_len;
    p->next = mapped;
    mapped = p;
    drop_head(p);
    in->data = m;
    in->len = in->file_len;
    return NTFF_OK;
}

bool ntff_input_stored(const struct ntff_input *in, uint64_t pos, uint64_t *begin, uint64_t *end)
{
    if (pos >= in->len)
        return false;
    *begin = pos;
    *end = in->len;
    if (!in->priv->map)
        return true;
    off_t data = lseek(in->priv->fd, (off_t)pos, SEEK_DATA);
    if (data < 0)
        return errno != ENXIO; /* ENXIO = only a hole is left */
    off_t hole = lseek(in->priv->fd, data, SEEK_HOLE);
    *begin = (uint64_t)data;
    if (hole > data && (uint64_t)hole < in->len)
        *end = (uint64_t)hole;
    return *begin < in->len;
}

enum ntff_status ntff_input_read(struct ntff_input *in, void *buf, size_t cap, size_t *got,
                                 struct ntff_error *err)
{
    struct ntff_input_priv *p = in->priv;
    if (p->head_given < p->head_len) {
        size_t n = p->head_len - p->head_given;
        *got = n < cap ? n : cap;
        memcpy(buf, p->head + p->head_given, *got);
        p->head_given += *got;
        return NTFF_OK;
    }
    return next_bytes(in, buf, cap, got, err);
}

bool ntff_input_changed(const struct ntff_input *in)
{
    const struct ntff_input_priv *p = in->priv;
    struct stat st;
    if (!p->regular || fstat(p->fd, &st) != 0)
        return false;
    return p->faulted || (uint64_t)st.st_size != in->file_len ||
           st.st_mtim.tv_sec != p->modified.tv_sec || st.st_mtim.tv_nsec != p->modified.tv_nsec;
}

/* Runs in a signal handler: system calls only. The list is whole whenever a mapped byte is read. */
bool ntff_input_fault(const void *address)
{
    struct stat st;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (struct ntff_input_priv *p = mapped; p; p = p->next) {
        size_t at = (uintptr_t)address - (uintptr_t)p->map, len = (p->map_len + page - 1) & -page;
        if ((uintptr_t)address < (uintptr_t)p->map || at >= len)
            continue;
        at &= -page;
        /* behind the end of the file all is gone, before it perhaps one page of a disk */
        bool cut = fstat(p->fd, &st) != 0 || (uint64_t)st.st_size <= at;
        p->faulted = true;
        return mmap((uint8_t *)p->map + at, cut ? len - at : page, PROT_READ,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    }
    return false;
}

static void unlist(struct ntff_input_priv *p)
{
    for (struct ntff_input_priv **at = &mapped; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            return;
        }
}

void ntff_input_close(struct ntff_input *in)
{
    struct ntff_input_priv *p = in->priv;
    if (!p)
        return;
    if (p->z_ready)
        inflateEnd(&p->z);
    if (p->map) {
        unlist(p);
        munmap(p->map, p->map_len);
    }
    if (p->fd >= 0)
        close(p->fd);
    ntff_buf_free(&p->whole);
    free(p->raw);
    free(p->head);
    free(p);
    in->priv = NULL;
    in->data = NULL;
}
