/* The wire cursor: the fast and the careful path see the same fields, everything lies inside, and
 * text made of it is printable. */
#include "tests/fuzz/fuzz.h"

#include "proto/dump.h"
#include "proto/wire.h"

#include <string.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return fuzz_mutate_pb(data, size, max_size, seed, FUZZ_SHAPE_RECORDS);
}

static void check_varints(const uint8_t *p, const uint8_t *end)
{
    for (; p < end; p++) {
        uint64_t a = 0, b = 0;
        const uint8_t *x = ntff_varint(p, end, &a), *y = ntff_varint_slow(p, end, &b);
        FUZZ_OK(x == y && (x == NULL || (a == b && x <= end && x - p <= 10)));
    }
}

static void check_entry(const struct ntff_field *f)
{
    struct ntff_slice k, v, k2, v2;
    ntff_wire_entry(f->data, (size_t)f->value, &k, &v);
    ntff_wire_entry_slow(f->data, f->data + f->value, &k2, &v2);
    FUZZ_OK(k.len == k2.len && v.len == v2.len);
    FUZZ_OK(k.len == 0 || k.p == k2.p);
    FUZZ_OK(v.len == 0 || v.p == v2.p);
}

/* readable: as far as the fast path may look. */
static void check_fields(const uint8_t *p, size_t len, const uint8_t *readable, unsigned depth)
{
    struct ntff_wire a = ntff_wire_init(p, len), b = a;
    for (;;) {
        struct ntff_field f = {0}, g = {0};
        const uint8_t *before = a.p;
        int got = ntff_wire_next(&a, &f);
        FUZZ_OK(got == ntff_wire_next_in(&b, readable, &g));
        FUZZ_OK(a.p == b.p && a.p <= a.end && (got == 1 ? a.p > before : a.p == before));
        if (got != 1) {
            FUZZ_OK(got == 0 ? a.p == a.end : a.why != NULL);
            return;
        }
        FUZZ_OK(f.number == g.number && f.type == g.type && f.value == g.value);
        FUZZ_OK(f.number > 0 && f.number < 1u << 29);
        if (f.type != NTFF_WT_LEN)
            continue;
        FUZZ_OK(f.data == g.data && f.data >= p && f.value <= (uint64_t)(p + len - f.data));
        check_entry(&f);
        if (depth < 8)
            check_fields(f.data, (size_t)f.value, readable, depth + 1);
    }
}

static bool printable(void *user, const char *text, size_t len)
{
    (void)user;
    for (size_t i = 0; i < len; i++)
        FUZZ_OK(text[i] == '\n' || ((uint8_t)text[i] >= 0x20 && (uint8_t)text[i] < 0x7f));
    return true;
}

static void check_dump(const uint8_t *data, size_t size, uint8_t which)
{
    static struct ntff_schema *schema;
    struct ntff_error err;
    struct ntff_budget budget = {.max_bytes = 64 << 20};
    struct ntff_dump d = {
        .write = printable, .budget = &budget, .base = data, .max_bytes = which & 1 ? 16 : 0};
    if (schema == NULL)
        FUZZ_OK(ntff_schema_builtin(&schema, &err) == NTFF_OK);
    const struct ntff_message_def *def =
        which == 0 ? NULL : &schema->messages[which % schema->n_messages];
    FUZZ_OK(ntff_dump_message(&d, "message", def, data, size) == NTFF_OK);
    FUZZ_OK(ntff_dump_flush(&d) == NTFF_OK);
    ntff_dump_done(&d);
    FUZZ_OK(budget.used_bytes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < FUZZ_CHOICES)
        return 0;
    const uint8_t *p = data + FUZZ_CHOICES, *end = data + size;
    check_varints(p, end);
    check_fields(p, (size_t)(end - p), end, 0);
    check_dump(p, (size_t)(end - p), data[0]);
    return 0;
}
