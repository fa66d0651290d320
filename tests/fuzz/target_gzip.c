/* gzip: a file is the same whether it is read as a stream or made addressable as a whole, and what
 * was compressed comes out again. Choice 0 bit 0: the input is not gzip but is packed first, and
 * bytes of the result are changed as choices 1 to 3 say. */
#include "tests/fuzz/fuzz.h"

#include "proto/input.h"
#include "proto/out.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64 << 20 };

static void check_both_ways(const uint8_t *p, size_t len)
{
    const char *path = fuzz_file(0, p, len);
    struct ntff_budget b = {.max_bytes = MOST}, b2 = b;
    struct ntff_input whole = {0}, flow = {0};
    struct ntff_error err = {0};
    FUZZ_OK(ntff_input_open(&whole, path, &b, &err) == NTFF_OK);
    FUZZ_OK(ntff_input_open(&flow, path, &b2, &err) == NTFF_OK);
    struct ntff_slice head = ntff_input_head(&whole);
    FUZZ_OK(head.len <= 64 << 10 && whole.gzip == flow.gzip);
    enum ntff_status s = ntff_input_map(&whole, &err);
    FUZZ_OK(s == NTFF_OK || s == NTFF_LIMIT || s == NTFF_NOMEM);
    FUZZ_OK(s == NTFF_OK || whole.gzip);
    uint64_t n = 0;
    while (s == NTFF_OK) {
        uint8_t piece[5000];
        size_t got = 0;
        FUZZ_OK(ntff_input_read(&flow, piece, sizeof piece - n % 7, &got, &err) == NTFF_OK);
        if (got == 0)
            break;
        FUZZ_OK(got <= whole.len - n && memcmp(whole.data + n, piece, got) == 0);
        n += got;
    }
    if (s == NTFF_OK) {
        FUZZ_OK(n == whole.len && whole.damaged == flow.damaged);
        FUZZ_OK(head.len <= whole.len);
        FUZZ_OK(whole.gzip || (whole.len == len && memcmp(whole.data, p, len) == 0));
    }
    ntff_input_close(&whole);
    ntff_input_close(&flow);
    FUZZ_OK(b.used_bytes == 0 && b2.used_bytes == 0);
}

static void pack_and_damage(const uint8_t *p, size_t len, const uint8_t *choices)
{
    struct ntff_out *out;
    struct ntff_error err = {0};
    FUZZ_OK(ntff_out_open(&out, NULL, NTFF_OUT_GZIP, 1 + choices[1] % 9, &err) == NTFF_OK);
    ntff_out_write(out, p, len);
    FUZZ_OK(ntff_out_commit(out, &err) == NTFF_OK);
    struct ntff_slice packed = ntff_out_bytes(out);
    size_t n = packed.len, twice = choices[0] & 2 ? 2 : 1;
    uint8_t *copy = malloc(2 * n);
    FUZZ_OK(copy != NULL);
    memcpy(copy, packed.p, n);
    memcpy(copy + n, packed.p, n);
    n *= twice; /* two members in a row are one file */
    if (choices[0] & 4)
        copy[(choices[2] << 8 | choices[3]) % n] ^= choices[1] | 1;
    if (choices[0] & 8)
        n = (size_t)(choices[2] << 8 | choices[3]) % n + 1;
    check_both_ways(copy, n);
    free(copy);
    ntff_out_close(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < FUZZ_CHOICES)
        return 0;
    if (data[0] & 1)
        pack_and_damage(data + FUZZ_CHOICES, size - FUZZ_CHOICES, data);
    else
        check_both_ways(data + FUZZ_CHOICES, size - FUZZ_CHOICES);
    return 0;
}
