/* gzip - one gzip stream, compressed block by block by several threads.
 * Knows: base, worker (for its thread count only); zlib, pthreads.   Private to proto/.
 *
 * The stream is cut every NTFF_GZIP_BLOCK bytes, wherever the writer's own units end. Each block is
 * deflated on its own with the last 32 KiB before it as its dictionary, and ends on a byte border
 * (an empty stored block, 5 bytes), so that blocks can be put one behind the other: one member with
 * one checksum, which every reader of gzip takes. What comes out depends on the bytes and the level
 * alone, never on the number of threads. The header carries no time and no name. */
#ifndef NTFF_GZIP_H
#define NTFF_GZIP_H

#include "base.h"

#define NTFF_GZIP_BLOCK ((size_t)256 << 10)

struct ntff_gzip;

/* Takes the finished bytes, in order, always in the thread that calls the functions below. */
typedef void ntff_gzip_emit(void *user, const uint8_t *p, size_t n);

/* level 1..9; jobs = threads that compress, the caller among them (0 counts as 1). Fewer where the
 * system refuses threads or memory for them. NULL = out of memory. Takes about 0.8 MB a thread. */
struct ntff_gzip *ntff_gzip_open(int level, unsigned jobs, ntff_gzip_emit *emit,
                                 void *user) NTFF_MUST_CHECK;
/* Copies the bytes; compresses, waits and emits when all blocks are full. */
void ntff_gzip_write(struct ntff_gzip *g, const void *p, size_t n);
/* Compresses and emits what is left and the trailer. Nothing may be written afterwards. */
void ntff_gzip_finish(struct ntff_gzip *g);
/* Ends the threads, whatever is left undone. NULL allowed. */
void ntff_gzip_close(struct ntff_gzip *g);

#endif
