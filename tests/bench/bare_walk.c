/* bare_walk - the yardstick of `make bench`: reads every field of an ntrace.pb and does nothing
 * with it.
 *
 *     bare_walk FILE [PASSES]  ->  seconds of the best pass, records, bytes, checksum
 *
 * FILE holds length-delimited ntrace_event messages. A pass visits every record, every field and
 * both texts of every attribute, bounds checked as any reader must, and adds up all numbers,
 * lengths and the last bytes of the texts, so that nothing can be left out. It shares no code with
 * proto/wire.h: a yardstick that moves with what it measures is none. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct cursor {
    const uint8_t *p, *end;
};

/* False at the end of the buffer or after ten bytes. */
static inline bool get_varint(struct cursor *c, uint64_t *out)
{
    const uint8_t *p = c->p;
    uint64_t v = 0;
    if (c->end - p >= 10) { /* room for the longest one: no check per byte */
        for (unsigned shift = 0; shift < 70; shift += 7) {
            uint8_t b = *p++;
            v |= (uint64_t)(b & 0x7f) << shift;
            if (b < 0x80) {
                c->p = p;
                *out = v;
                return true;
            }
        }
        return false;
    }
    for (unsigned shift = 0; p < c->end && shift < 70; shift += 7) {
        uint8_t b = *p++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            c->p = p;
            *out = v;
            return true;
        }
    }
    return false;
}

/* Walks the fields of one message; map entries (field 12) are walked too. */
static bool walk(struct cursor c, bool inside, uint64_t *sum)
{
    while (c.p < c.end) {
        uint64_t tag, v;
        if (!get_varint(&c, &tag))
            return false;
        switch (tag & 7) {
        case 0:
            if (!get_varint(&c, &v))
                return false;
            *sum += v;
            break;
        case 1:
        case 5: {
            size_t n = (tag & 7) == 1 ? 8 : 4;
            if ((size_t)(c.end - c.p) < n)
                return false;
            *sum += *c.p;
            c.p += n;
            break;
        }
        case 2:
            if (!get_varint(&c, &v) || v > (uint64_t)(c.end - c.p))
                return false;
            *sum += v;
            if (!inside && tag >> 3 == 12) {
                if (!walk((struct cursor){c.p, c.p + v}, true, sum))
                    return false;
            } else if (v > 0) {
                *sum += c.p[v - 1];
            }
            c.p += v;
            break;
        default:
            return false;
        }
    }
    return true;
}

static bool pass(const uint8_t *data, size_t len, uint64_t *records, uint64_t *sum)
{
    struct cursor c = {data, data + len};
    *records = 0;
    *sum = 0;
    while (c.p < c.end) {
        uint64_t n;
        if (!get_varint(&c, &n) || n > (uint64_t)(c.end - c.p) ||
            !walk((struct cursor){c.p, c.p + n}, false, sum))
            return false;
        c.p += n;
        ++*records;
    }
    return true;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
    int passes = argc > 2 ? atoi(argv[2]) : 5;
    struct stat st;
    int fd = argc > 1 ? open(argv[1], O_RDONLY) : -1;
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_size == 0) {
        fprintf(stderr, "usage: bare_walk FILE [PASSES]\n");
        return 2;
    }
    size_t len = (size_t)st.st_size;
    const uint8_t *data = mmap(NULL, len, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    if (data == MAP_FAILED) {
        perror("bare_walk");
        return 1;
    }
    double best = 1e9;
    uint64_t records = 0, sum = 0;
    for (int i = 0; i < passes; i++) {
        double t0 = now_s();
        if (!pass(data, len, &records, &sum)) {
            fprintf(stderr, "bare_walk: %s: malformed\n", argv[1]);
            return 1;
        }
        double t = now_s() - t0;
        if (t < best)
            best = t;
    }
    printf("%.6f %" PRIu64 " %zu %016" PRIx64 "\n", best, records, len, sum);
    return 0;
}
