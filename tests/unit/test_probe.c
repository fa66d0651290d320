/* test_probe - which form a stream is found to have, and how far it is followed. */
#include "proto/probe.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

#define UNIX_NS UINT64_C(1764440000000000000)

static size_t put_varint(uint8_t *p, uint64_t v)
{
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        p[n++] = (uint8_t)(v | 0x80);
    p[n++] = (uint8_t)v;
    return n;
}

/* One ntrace_event: time, type, phase, an attribute. */
static size_t put_event(uint8_t *p, uint64_t i)
{
    size_t n = 0;
    p[n++] = 2 << 3;
    n += put_varint(p + n, UNIX_NS + i * 1000);
    p[n++] = 7 << 3;
    p[n++] = (uint8_t)(i % 40);
    memcpy(p + n, "\x62\x0b\x0a\x03key\x12\x04text", 13); /* 12: {key: text} */
    n += 13;
    p[n++] = 14 << 3;
    p[n++] = 3;
    return n;
}

/* A stream of n events; *ends[i] = where event i ends. Freed by the caller. */
static uint8_t *stream(size_t n, enum ntff_framing framing, size_t *len, size_t *ends)
{
    uint8_t *out = malloc(n * 64), msg[64];
    TAP_OK(out != NULL);
    *len = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = put_event(msg, i);
        if (framing == NTFF_FRAME_VARINT) {
            *len += put_varint(out + *len, k);
        } else {
            size_t width = framing == NTFF_FRAME_U32 ? 4 : 8;
            memset(out + *len, 0, width);
            out[*len] = (uint8_t)k;
            *len += width;
        }
        memcpy(out + *len, msg, k);
        *len += k;
        ends[i] = *len;
    }
    return out;
}

/* The first 4096 records decide where no other form gets that far; the rest is followed on demand.
 */
TAP_TEST(long_streams_are_left_open)
{
    enum { N = 6000 };
    static size_t ends[N];
    for (int f = NTFF_FRAME_VARINT; f <= NTFF_FRAME_U64; f++) {
        size_t len;
        uint8_t *data = stream(N, (enum ntff_framing)f, &len, ends);
        for (size_t cut = 0; cut < 2; cut++) {
            size_t n = N - cut, torn = len - cut * 5;
            struct ntff_probe p;
            TAP_CONTEXT("%s, %zu bytes cut", ntff_framing_name(f), len - torn);
            TAP_OK(ntff_probe_pb(data, torn, NULL, &p));
            TAP_EQ_I64(p.kind, NTFF_FILE_NTRACE);
            TAP_EQ_I64(p.framing, f);
            if (f == NTFF_FRAME_VARINT) { /* the others also read as short records and zeros */
                TAP_OK(p.open && !p.exact);
                TAP_EQ_U64(p.n_records, 4096);
                TAP_EQ_U64(p.good_bytes, ends[4095]);
            }
            ntff_probe_follow(&p, data, torn);
            TAP_OK(!p.open);
            TAP_EQ_I64(p.exact, cut == 0);
            TAP_EQ_U64(p.n_records, n);
            TAP_EQ_U64(p.good_bytes, ends[n - 1]);
        }
        free(data);
    }
}

TAP_TEST(short_streams_are_followed_at_once)
{
    enum { N = 4096 };
    static size_t ends[N];
    for (int f = NTFF_FRAME_VARINT; f <= NTFF_FRAME_U64; f++) {
        size_t len;
        uint8_t *data = stream(N, (enum ntff_framing)f, &len, ends);
        struct ntff_probe p;
        TAP_CONTEXT("%s", ntff_framing_name(f));
        TAP_OK(ntff_probe_pb(data, len, NULL, &p));
        TAP_OK(p.exact && !p.open);
        TAP_EQ_U64(p.n_records, N);
        TAP_OK(ntff_probe_pb(data, len - 1, NULL, &p));
        TAP_OK(!p.exact && !p.open);
        TAP_EQ_I64(p.framing, f);
        TAP_EQ_U64(p.n_records, N - 1);
        free(data);
    }
}

/* Every length of the prefix, also overlong ones, goes the same way in both walks. */
TAP_TEST(the_short_walk_and_the_long_one_agree)
{
    static const size_t sizes[] = {0, 1, 127, 128, 300, 16383, 16384, 20000};
    uint8_t *data = calloc(1, 20016);
    TAP_OK(data != NULL);
    for (size_t k = 0; k < NTFF_ARRAY_LEN(sizes); k++) {
        for (size_t padded = 0; padded < 2; padded++) {
            size_t head = put_varint(data, sizes[k]);
            if (padded) { /* a further zero byte: allowed */
                data[head - 1] |= 0x80;
                data[head++] = 0;
            }
            for (size_t cut = 0; cut < 3 && cut <= sizes[k]; cut++) {
                const uint8_t *a = NULL, *b = NULL;
                size_t na = 0, nb = 0, len = head + sizes[k] - cut;
                uint64_t x = ntff_frame_next(data, len, 0, NTFF_FRAME_VARINT, &a, &na);
                uint64_t y = ntff_frame_any(data, len, 0, NTFF_FRAME_VARINT, &b, &nb);
                TAP_CONTEXT("length %zu, padded %zu, cut %zu", sizes[k], padded, cut);
                TAP_EQ_U64(x, y);
                TAP_EQ_U64(x, cut ? 0 : len);
                TAP_OK(a == b && na == nb);
            }
        }
    }
    free(data);
}

TAP_MAIN()
