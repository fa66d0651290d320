/* Notification records: what their bits say, runs of them, their times; then the same records as a
 * blob of an .ntff by the whole path. Choice 0 is the trace type of the blob, 1 its block type. */
#include "tests/fuzz/fuzz.h"

#include "proto/notif.h"
#include "proto/schema.h"

#include <stdlib.h>
#include <string.h>

static void check_records(const uint8_t *p, uint64_t n)
{
    struct ntff_ring_look look;
    uint64_t of_types = 0;
    ntff_ring_look(p, n, &look);
    FUZZ_OK(look.n == n && look.n_descents <= n && look.last_descent <= n);
    for (unsigned i = 0; i < 32; i++)
        of_types += look.of_type[i];
    FUZZ_OK(of_types == n && look.sw_marks <= n && look.hw_marks <= n);
    FUZZ_OK(n == 0 || look.min_ps <= look.max_ps);
    int type = ntff_ring_class(&look);
    FUZZ_OK(type >= -1 && type <= NTFF_TRACE_THROTTLE);
}

/* ns = (ts - init) * expected / actual / ticks, by wide arithmetic. */
static void check_ticks(const uint8_t *p, size_t len)
{
    uint64_t v[5], ns = 0;
    if (len < sizeof v)
        return;
    memcpy(v, p, sizeof v);
    struct ntff_tick t = ntff_tick_make(v[0], v[1], v[2], v[3]);
    bool good = ntff_tick_ns(&t, v[4], &ns);
    FUZZ_OK(t.actual > 0 && t.expected > 0 && t.ticks_per_ns > 0);
    if (v[4] < t.init) {
        FUZZ_OK(!good);
        return;
    }
    unsigned __int128 per = (unsigned __int128)t.actual * t.ticks_per_ns;
    uint64_t d = v[4] - t.init;
    unsigned __int128 want = (unsigned __int128)d * t.expected;
    if (per >> 64 == 0 && want / per <= UINT64_MAX)
        FUZZ_OK(good && ns == (uint64_t)(want / per));
    else if (per >> 64 == 0)
        FUZZ_OK(!good);
}

/* -- an .ntff around them -------------------------------------------------------------------------
 */

struct bytes {
    uint8_t p[512];
    size_t n;
};

static void varint(struct bytes *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        b->p[b->n++] = (uint8_t)(v | 0x80);
    b->p[b->n++] = (uint8_t)v;
}

static void number(struct bytes *b, uint32_t field, uint64_t v)
{
    varint(b, (uint64_t)field << 3);
    varint(b, v);
}

static void inner(struct bytes *b, uint32_t field, const struct bytes *in)
{
    varint(b, (uint64_t)field << 3 | 2);
    varint(b, in->n);
    memcpy(b->p + b->n, in->p, in->n);
    b->n += in->n;
}

/* Numbers come from the schema of the simulated captures, where each field has one. */
static uint32_t field(const struct ntff_schema *s, const char *message, const char *name)
{
    uint32_t n = ntff_schema_number(s, message, name);
    if (n == 0)
        FUZZ_FAIL("the schema has no %s.%s", message, name);
    return n;
}

static void capture(const uint8_t *p, size_t len, const uint8_t choices[FUZZ_CHOICES])
{
    uint8_t with_schema[FUZZ_CHOICES] = {0, choices[1], choices[2], choices[3] | 32};
    struct fuzz_choices c = fuzz_choose(with_schema);
    const struct ntff_schema *s = c.load.schema;
    struct bytes trace = {.n = 0}, graph = {.n = 0}, nd = {.n = 0}, node = {.n = 0},
                 info = {.n = 0};
    number(&trace, field(s, "trace_info", "trace_type"), choices[0] % 7);
    number(&trace, field(s, "trace_info", "block_type"), choices[0] / 7 % 4);
    number(&trace, field(s, "trace_info", "trace_offset"), 0);
    number(&trace, field(s, "trace_info", "trace_size"), len);
    number(&trace, field(s, "trace_info", "engine_index"), choices[0] / 28);
    inner(&graph, field(s, "subgraph_info", "traces"), &trace);
    inner(&nd, field(s, "nd_node_info", "graphs"), &graph);
    inner(&node, field(s, "neff_node_info", "nd_node"), &nd);
    inner(&info, field(s, "ntff_info", "neff_nodes"), &node);
    uint8_t *all = calloc(1, 128 + info.n + len);
    FUZZ_OK(all != NULL);
    all[0] = 4;
    for (size_t i = 0; i < 8; i++)
        all[1 + i] = (uint8_t)(info.n >> 8 * i);
    memcpy(all + 128, info.p, info.n);
    memcpy(all + 128 + info.n, p, len);
    const char *path = fuzz_file(0, all, 128 + info.n + len);
    fuzz_capture(&path, 1, &c);
    free(all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < FUZZ_CHOICES)
        return 0;
    const uint8_t *p = data + FUZZ_CHOICES;
    size_t len = size - FUZZ_CHOICES;
    check_records(p, len / NTFF_NOTIF_BYTES);
    check_ticks(p, len);
    capture(p, len, data);
    return 0;
}
