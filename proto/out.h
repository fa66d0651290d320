/* out - bytes out to a file, standard output or memory, plain or gzip.
 * Knows: base, error, mem; zlib.
 * A named file is written to a temporary name in the same directory and renamed by ntff_out_commit;
 * without commit ntff_out_close removes it, so a failed run leaves nothing behind.
 * Errors stick: the first one is kept, later writes do nothing, commit reports it (ENOSPC at close
 * included). Deterministic: the gzip header carries no time and no name. */
#ifndef NTFF_OUT_H
#define NTFF_OUT_H

#include "error.h"
#include "mem.h"

enum { NTFF_OUT_REPLACE = 1 /* replace an existing file */, NTFF_OUT_GZIP = 2 };

struct ntff_out;

/* path "-" = standard output; NULL = memory (ntff_out_bytes). gzip_level 1..9, 0 = default.
 * Errors: IO (exists and REPLACE not given; cannot create), NOMEM. */
enum ntff_status ntff_out_open(struct ntff_out **out, const char *path, int flags, int gzip_level,
                               struct ntff_error *err) NTFF_MUST_CHECK;
void ntff_out_write(struct ntff_out *o, const void *p, size_t n);
/* Room for at least n bytes (n <= 64 KiB) to fill in place; ntff_out_advance says how many were used.
 * Never NULL. The fast path of the writers. */
uint8_t *ntff_out_reserve(struct ntff_out *o, size_t n);
void ntff_out_advance(struct ntff_out *o, size_t n);
uint64_t ntff_out_total(const struct ntff_out *o); /* bytes given so far, before compression */
bool ntff_out_failed(const struct ntff_out *o);
/* Memory output so far. */
struct ntff_slice ntff_out_bytes(const struct ntff_out *o);
/* Flushes, syncs the name into place. */
enum ntff_status ntff_out_commit(struct ntff_out *o, struct ntff_error *err) NTFF_MUST_CHECK;
void ntff_out_close(struct ntff_out *o); /* NULL allowed */
/* Removes temporary files of outputs still open; safe in a signal handler. */
void ntff_out_emergency(void);

#endif
