/* gzip - see gzip.h.
 *
 * Blocks lie in a ring and are numbered as they are filled; block i lives in slot i % n_slots.
 * Three counters tell all: emitted <= claimed <= filled <= emitted + n_slots. The writer fills,
 * threads claim the oldest block that nobody compresses yet, the writer emits blocks in order as
 * they become ready. When the ring is full the writer does not wait for the others: it compresses a
 * block itself, and sleeps only if there is none left to claim. With no thread at all it therefore
 * compresses everything, by the same path.
 *
 * A block keeps a copy of the 32 KiB before it, since the slot they came from may be gone. */
#include "gzip.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define WINDOW ((size_t)32 << 10)
#define MAX_THREADS 16
#define MAX_SLOTS (2 * (MAX_THREADS + 1))
/* deflate stores what it cannot shrink: 5 bytes for each stored block of at least 16 KiB, and the
 * end marks */
#define PACKED_MAX (NTFF_GZIP_BLOCK + NTFF_GZIP_BLOCK / 1024 + 256)

struct block {
    uint8_t *text;   /* WINDOW bytes of dictionary, then NTFF_GZIP_BLOCK of text */
    uint8_t *packed; /* PACKED_MAX */
    size_t n_dict, n_text, n_packed;
    uint32_t crc;
    bool last, ready;
};

struct ntff_gzip {
    ntff_gzip_emit *emit;
    void *user;
    z_stream z; /* the writer's own */
    int level;
    unsigned n_slots;
    struct block blocks[MAX_SLOTS];
    pthread_mutex_t lock; /* guards the counters, ready and stop */
    pthread_cond_t work, done;
    uint64_t n_emitted, n_claimed, n_filled;
    bool stop;
    uint32_t crc; /* of all emitted blocks */
    uint64_t n_bytes;
    unsigned n_threads;
    pthread_t threads[MAX_THREADS];
};

/* -- compressing one block --------------------------------------------------------------------- */

static bool init_deflate(z_stream *z, int level)
{
    *z = (z_stream){0};
    return deflateInit2(z, level, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY) == Z_OK;
}

static void compress_block(struct block *b, z_stream *z)
{
    (void)deflateReset(z);
    if (b->n_dict)
        (void)deflateSetDictionary(z, b->text + WINDOW - b->n_dict, (uInt)b->n_dict);
    z->next_in = b->text + WINDOW;
    z->avail_in = (uInt)b->n_text;
    z->next_out = b->packed;
    z->avail_out = (uInt)PACKED_MAX;
    (void)deflate(z, b->last ? Z_FINISH : Z_SYNC_FLUSH);
    b->n_packed = PACKED_MAX - z->avail_out;
    b->crc = (uint32_t)crc32(0, b->text + WINDOW, (uInt)b->n_text);
}

/* Claims the oldest block and compresses it; the lock is held before and after, not meanwhile. */
static bool claim_and_compress(struct ntff_gzip *g, z_stream *z)
{
    if (g->n_claimed == g->n_filled)
        return false;
    struct block *b = &g->blocks[g->n_claimed++ % g->n_slots];
    pthread_mutex_unlock(&g->lock);
    compress_block(b, z);
    pthread_mutex_lock(&g->lock);
    b->ready = true;
    pthread_cond_signal(&g->done);
    return true;
}

static void *thread_main(void *user)
{
    struct ntff_gzip *g = user;
    z_stream z;
    if (!init_deflate(&z, g->level))
        return NULL; /* the others do its share */
    pthread_mutex_lock(&g->lock);
    while (!g->stop)
        if (!claim_and_compress(g, &z) && !g->stop)
            pthread_cond_wait(&g->work, &g->lock);
    pthread_mutex_unlock(&g->lock);
    deflateEnd(&z);
    return NULL;
}

/* -- the writer's side ------------------------------------------------------------------------- */

/* Emits what is ready at the front of the ring; the lock is held before and after. The slots stay
 * the writer's until n_emitted moves on, so emitting needs no lock. */
static void emit_ready(struct ntff_gzip *g)
{
    while (g->n_emitted < g->n_claimed && g->blocks[g->n_emitted % g->n_slots].ready) {
        struct block *b = &g->blocks[g->n_emitted % g->n_slots];
        pthread_mutex_unlock(&g->lock);
        g->emit(g->user, b->packed, b->n_packed);
        g->crc = (uint32_t)crc32_combine(g->crc, b->crc, (z_off_t)b->n_text);
        g->n_bytes += b->n_text;
        pthread_mutex_lock(&g->lock);
        g->n_emitted++;
    }
}

/* Emits, compresses and waits until at most n_left blocks are under way. */
static void drain(struct ntff_gzip *g, uint64_t n_left)
{
    for (emit_ready(g); g->n_filled - g->n_emitted > n_left; emit_ready(g))
        if (!claim_and_compress(g, &g->z) && !g->blocks[g->n_emitted % g->n_slots].ready)
            pthread_cond_wait(&g->done, &g->lock);
}

/* Hands the block being filled to whoever compresses, and begins the next with its end. */
static void block_filled(struct ntff_gzip *g, bool last)
{
    struct block *b = &g->blocks[g->n_filled % g->n_slots];
    b->last = last;
    pthread_mutex_lock(&g->lock);
    g->n_filled++;
    pthread_cond_signal(&g->work);
    drain(g, last ? 0 : g->n_slots - 1);
    pthread_mutex_unlock(&g->lock);
    if (last)
        return;
    /* b is full, hence longer than the window; the slot behind it is free, so b was not refilled */
    struct block *next = &g->blocks[g->n_filled % g->n_slots];
    next->n_dict = WINDOW;
    next->n_text = 0;
    next->ready = false;
    memcpy(next->text, b->text + b->n_text, WINDOW);
}

void ntff_gzip_write(struct ntff_gzip *g, const void *p, size_t n)
{
    const uint8_t *from = p;
    while (n > 0) {
        struct block *b = &g->blocks[g->n_filled % g->n_slots];
        size_t room = NTFF_GZIP_BLOCK - b->n_text, part = n < room ? n : room;
        memcpy(b->text + WINDOW + b->n_text, from, part);
        b->n_text += part;
        from += part;
        n -= part;
        if (part == room)
            block_filled(g, false);
    }
}

static void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

void ntff_gzip_finish(struct ntff_gzip *g)
{
    uint8_t trailer[8];
    block_filled(g, true);
    put_u32(trailer, g->crc);
    put_u32(trailer + 4, (uint32_t)g->n_bytes);
    g->emit(g->user, trailer, sizeof trailer);
}

/* -- begin and end ----------------------------------------------------------------------------- */

static bool get_slots(struct ntff_gzip *g, unsigned wanted)
{
    while (g->n_slots < wanted) {
        struct block *b = &g->blocks[g->n_slots];
        b->text = malloc(WINDOW + NTFF_GZIP_BLOCK);
        b->packed = b->text ? malloc(PACKED_MAX) : NULL;
        if (!b->packed) {
            free(b->text);
            break;
        }
        g->n_slots++;
    }
    return g->n_slots >= 2;
}

struct ntff_gzip *ntff_gzip_open(int level, unsigned jobs, ntff_gzip_emit *emit, void *user)
{
    /* magic, deflate, no flags, no time, no hint about the level, system unknown [RFC 1952] */
    static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    struct ntff_gzip *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    unsigned n_threads = jobs > 1 ? jobs - 1 : 0;
    n_threads = n_threads < MAX_THREADS ? n_threads : MAX_THREADS;
    g->emit = emit;
    g->user = user;
    g->level = level;
    if (!init_deflate(&g->z, level)) {
        free(g);
        return NULL;
    }
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->work, NULL);
    pthread_cond_init(&g->done, NULL);
    if (!get_slots(g, 2 * (n_threads + 1))) {
        ntff_gzip_close(g);
        return NULL;
    }
    while (g->n_threads < n_threads &&
           pthread_create(&g->threads[g->n_threads], NULL, thread_main, g) == 0)
        g->n_threads++;
    emit(user, header, sizeof header);
    return g;
}

void ntff_gzip_close(struct ntff_gzip *g)
{
    if (!g)
        return;
    pthread_mutex_lock(&g->lock);
    g->stop = true;
    pthread_cond_broadcast(&g->work);
    pthread_mutex_unlock(&g->lock);
    for (unsigned i = 0; i < g->n_threads; i++)
        pthread_join(g->threads[i], NULL);
    for (unsigned i = 0; i < g->n_slots; i++) {
        free(g->blocks[i].text);
        free(g->blocks[i].packed);
    }
    pthread_cond_destroy(&g->work);
    pthread_cond_destroy(&g->done);
    pthread_mutex_destroy(&g->lock);
    deflateEnd(&g->z);
    free(g);
}
