/* out - bytes out to a file, standard output or memory, plain or gzip.
 * Knows: base, error, mem, gzip, paths, worker.
 * A named file is written to a temporary name in the same directory and renamed by
 * ntff_out_commit; without commit ntff_out_close removes it, so a failed run leaves nothing
 * behind. A path that is no regular file (a pipe, /dev/null) is written in place.
 * Errors stick: the first one is kept, later writes do nothing, commit reports it (ENOSPC at close
 * included). Deterministic: the gzip header carries no time and no name. */
#ifndef NTFF_OUT_H
#define NTFF_OUT_H

#include "error.h"
#include "mem.h"

enum { NTFF_OUT_REPLACE = 1 /* replace an existing file */, NTFF_OUT_GZIP = 2 };

struct ntff_out;

/* path "-" = standard output; NULL = memory (ntff_out_bytes). jobs: threads that compress, 0 = as
 * many as there are processors; the bytes are the same whatever their number.
 * A symbolic link is followed: its target is replaced, or made, not the link. An existing file of 0
 * bytes (mktemp) counts as absent. Errors: IO (exists and REPLACE not given; cannot create), NOMEM.
 */
enum ntff_status ntff_out_open(struct ntff_out **out, const char *path, int flags, unsigned jobs,
                               struct ntff_error *err) NTFF_MUST_CHECK;
void ntff_out_write(struct ntff_out *o, const void *p, size_t n);
/* Room for at least n bytes (n <= 64 KiB) to fill in place; ntff_out_advance says how many were
 * used. Never NULL. */
uint8_t *ntff_out_reserve(struct ntff_out *o, size_t n);
void ntff_out_advance(struct ntff_out *o, size_t n);
uint64_t ntff_out_total(const struct ntff_out *o); /* bytes given so far, before compression */
bool ntff_out_failed(const struct ntff_out *o);
/* Why it failed: status OK until then. */
const struct ntff_error *ntff_out_error(const struct ntff_out *o);
/* Memory output so far (after commit when gzip was asked for). */
struct ntff_slice ntff_out_bytes(const struct ntff_out *o);
/* Flushes, puts the name into place. */
enum ntff_status ntff_out_commit(struct ntff_out *o, struct ntff_error *err) NTFF_MUST_CHECK;
void ntff_out_close(struct ntff_out *o); /* NULL allowed */
/* Removes temporary files of outputs still open; safe in a signal handler. */
void ntff_out_emergency(void);

/* -- a cursor: the fast path of the writers -------------------------------------------------------
 * Holds p in a register-friendly struct instead of asking the output for every few bytes. Between
 * put_begin and put_end nothing else may use the output. Bytes in [start, p) are the unit being
 * written: they stay contiguous (for lengths patched in later) until ntff_put_done makes them
 * final.
 *
 *     ntff_put_room(&w, 40);      room for the fixed part, checked once
 *     *w.p++ = ...;
 *     ntff_put_bytes(&w, text, len);   any length
 *     ntff_put_done(&w);          this packet / line is complete
 */
struct ntff_put {
    struct ntff_out *o;
    uint8_t *start, *p, *end;
};
#define NTFF_PUT_ROOM ((size_t)64 << 10) /* room up to this size cannot fail */

struct ntff_put ntff_put_begin(struct ntff_out *o);
void ntff_put_end(struct ntff_put *w); /* hands everything to the output; w is dead */
/* Slow path of ntff_put_room. False only for n above NTFF_PUT_ROOM when memory ran out; the output
 * has then failed and the unfinished unit is dropped. */
bool ntff_put_more(struct ntff_put *w, size_t n);

static inline bool ntff_put_room(struct ntff_put *w, size_t n)
{
    return NTFF_LIKELY((size_t)(w->end - w->p) >= n) || ntff_put_more(w, n);
}
static inline void ntff_put_done(struct ntff_put *w)
{
    w->start = w->p;
}
static inline void ntff_put_bytes(struct ntff_put *w, const void *p, size_t n)
{
    if (!ntff_put_room(w, n))
        return;
    uint8_t *to = w->p;
    const uint8_t *from = p;
    w->p += n;
    if (n > 32) {
        __builtin_memcpy(to, from, n);
    } else if (n >= 8) { /* the last eight may overlap those before */
        for (size_t i = 0; i < n - 8; i += 8)
            __builtin_memcpy(to + i, from + i, 8);
        __builtin_memcpy(to + n - 8, from + n - 8, 8);
    } else {
        while (n--)
            *to++ = *from++;
    }
}

#endif
