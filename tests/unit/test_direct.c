/* The two ways to what outputs say of an event: from its records at once, and by its details. On
 * random records, ordinary and odd, both must give the same bytes, for Perfetto and Chrome, and so
 * must several threads. */
#include "conv/chrome_sink.h"
#include "perfetto/perfetto_sink.h"
#include "proto/plan.h"
#include "tests/random.h"
#include "tests/synth.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state;

static uint64_t next_random(void)
{
    return random_next(&random_state);
}

static uint64_t below(uint64_t n)
{
    return random_below(&random_state, n);
}
static bool rarely(void)
{
    return below(40) == 0;
}

/* -- records ------------------------------------------------------------------------------------
 */

struct bytes {
    uint8_t *p;
    size_t len, cap;
};

static void put(struct bytes *b, const void *p, size_t n)
{
    if (b->len + n > b->cap) {
        b->cap = 2 * (b->len + n);
        b->p = realloc(b->p, b->cap);
    }
    if (n)
        memcpy(b->p + b->len, p, n);
    b->len += n;
}

/* A varint, now and then longer than need be. */
static void put_varint(struct bytes *b, uint64_t v, bool longer)
{
    uint8_t out[10];
    size_t n = 0;
    for (; v >= 0x80; v >>= 7)
        out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    if (longer && n < 10) {
        out[n - 1] |= 0x80;
        out[n++] = 0;
    }
    put(b, out, n);
}

static uint64_t number(void)
{
    switch (below(4)) {
    case 0:
        return below(200);
    case 1:
        return (UINT64_C(1) << 7 * (1 + below(9))) - below(2);
    case 2:
        return UINT64_MAX - below(2);
    default:
        return next_random() >> below(64);
    }
}

static void put_number(struct bytes *b, uint32_t field, uint64_t v)
{
    put_varint(b, field << 3, rarely());
    put_varint(b, v, rarely());
}

static void put_text(struct bytes *b, uint32_t field, const char *p, size_t len)
{
    put_varint(b, field << 3 | 2, false);
    put_varint(b, len, false);
    put(b, p, len);
}

static const char *const names[] = {"exec_id", "model_name",      "size",
                                    "op_id",   "nc_timestamp_ns", "cpu_timestamp_ns",
                                    "gid",     "algorithm",       "tensor_id"};
static const char *const odd_names[] = {"id", "nrta_seq_id", "a.b", "a_b", "", "stop_size", "\xff"};

static size_t value_text(char *out, size_t cap)
{
    static const char *const texts[] = {"ring",
                                        "TENSOR",
                                        "0",
                                        "007",
                                        "-1",
                                        "1e3",
                                        "",
                                        "12",
                                        "18446744073709551616",
                                        "a \"quote\"\n",
                                        "/a/path/that/is/longer/than/sixteen/bytes/model.neff",
                                        "not \xff utf-8"};
    if (below(3) == 0)
        return (size_t)snprintf(out, cap, "%s", texts[below(NTFF_ARRAY_LEN(texts))]);
    if (rarely()) { /* a NUL inside; one of many */
        size_t n = (size_t)snprintf(out, cap, "text %d", (int)below(1000));
        out[4] = below(2) ? '\0' : ' ';
        return n;
    }
    return (size_t)snprintf(out, cap, "%llu", (unsigned long long)number());
}

static void put_attribute(struct bytes *b, size_t i)
{
    struct bytes entry = {0};
    char value[128];
    const char *name = rarely() ? odd_names[below(NTFF_ARRAY_LEN(odd_names))]
                                : names[(i + (rarely() ? below(9) : 0)) % NTFF_ARRAY_LEN(names)];
    size_t len = value_text(value, sizeof value);
    if (!rarely())
        put_text(&entry, 1, name, strlen(name));
    if (!rarely())
        put_text(&entry, 2, value, len);
    if (rarely())
        put_number(&entry, 3, number());
    put_text(b, 12, (const char *)entry.p, entry.len);
    free(entry.p);
}

/* Fields in the default numbering [FMT], now and then others. */
static void put_record(struct bytes *out, bool ordinary)
{
    static const uint8_t numbers[] = {2, 5, 7, 9, 10, 14, 15};
    struct bytes b = {0};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(numbers); i++) {
        if (ordinary || !rarely())
            put_number(&b, numbers[i], ordinary ? number() >> 1 : number());
        if (i == 4)
            for (size_t k = 0, n = below(5), from = below(9); k < n; k++)
                put_attribute(&b, from + k);
        if (!ordinary && rarely())
            put_number(&b, (uint32_t)(1 + below(20)), number());
        if (!ordinary && rarely())
            put_text(&b, 6, "hint", 4);
    }
    if (below(4) == 0)
        put_number(&b, 16, number());
    if (rarely() && b.len > 4)
        b.len -= 1 + below(3); /* cut */
    put_varint(out, b.len, false);
    put(out, b.p, b.len);
    free(b.p);
}

/* -- traces -------------------------------------------------------------------------------------
 */

enum { N_EVENTS = 4096 };

static struct ntff_ref record(struct bytes *b, bool none, bool ordinary)
{
    struct ntff_ref ref = {(uint32_t)b->len, none ? NTFF_SRC_NONE : 0};
    if (!none)
        put_record(b, ordinary);
    return ref;
}

static struct ntff_trace *make_trace(uint64_t seed, struct ntff_event_plan *plan, struct bytes *b)
{
    static const char *const kinds[] = {"nrt_execute", "kbl_exec_wait", "nc_exec_running"};
    static struct ntff_source source;
    static struct ntff_file file = {.process = NTFF_NONE};
    random_state = seed;
    struct synth *s = synth_new();
    uint32_t track = synth_track(s, synth_process(s, 4711), NTFF_TRACK_EXEC, "row");
    for (uint64_t i = 0; i < N_EVENTS; i++) {
        bool point = below(5) == 0, odd = below(3) == 0;
        const char *name = kinds[below(3)];
        struct ntff_event *e = point ? synth_instant(s, track, name, i * 100)
                                     : synth_span(s, track, name, i * 100, 50);
        e->start_ref = record(b, rarely(), !odd);
        e->stop_ref = record(b, point || rarely(), !odd);
        if (below(4) == 0)
            e->flags |= NTFF_EV_STOP_PLAIN;
        if (rarely())
            e->flags |= NTFF_EV_ESTIMATED;
    }
    struct ntff_trace *t = synth_done(s);
    for (uint32_t i = 0; i + 1 < 60; i += 2) /* arrows, some back in time */
        synth_flow(s, i % 3 ? i : i + 1, i % 3 ? i + 1 : i);
    for (size_t i = 0; i < t->n_flows; i++)
        t->flows[i].reversed = t->flows[i].from > t->flows[i].to;
    source = (struct ntff_source){
        .kind = NTFF_SOURCE_EVENTS, .data = b->p, .len = b->len, .framing = NTFF_FRAME_VARINT};
    source.plan = plan;
    t->sources = &source;
    t->n_sources = 1;
    t->files = &file;
    t->n_files = 1;
    return t;
}

static struct ntff_slice as_it_is(void *user, struct ntff_slice key, struct ntff_slice text)
{
    (void)user, (void)key;
    return text;
}

typedef enum ntff_status write_fn(const struct ntff_trace *t, const struct pft_options *opt,
                                  struct ntff_out *out, struct pft_stats *stats,
                                  struct ntff_error *err);

static struct ntff_out *written(const struct ntff_trace *t, write_fn *write, unsigned jobs)
{
    struct ntff_out *out;
    struct ntff_error err;
    struct pft_options opt = {.creator = "test", .jobs = jobs};
    TAP_EQ_U64(ntff_out_open(&out, NULL, 0, 0, &err), NTFF_OK);
    TAP_EQ_U64(write(t, &opt, out, NULL, &err), NTFF_OK);
    return out;
}

static void compare(uint64_t seed, int numbering, uint32_t zigzag, write_fn *write)
{
    static const struct ntff_rewrite none = {as_it_is, NULL}; /* texts pass: by details only */
    struct ntff_event_plan plan;
    struct bytes b = {0};
    ntff_plan_init(&plan, (enum ntff_numbering)numbering);
    plan.zigzag = zigzag;
    struct ntff_trace *t = make_trace(seed, &plan, &b);
    struct ntff_out *direct = written(t, write, 1), *threads = written(t, write, 3);
    t->rewrite = &none;
    struct ntff_out *details = written(t, write, 1);
    struct ntff_slice x = ntff_out_bytes(direct), y = ntff_out_bytes(details),
                      z = ntff_out_bytes(threads);
    TAP_CONTEXT("seed %d", (int)seed);
    TAP_OK(x.len > N_EVENTS * 50);
    TAP_EQ_MEM(x.p, x.len, y.p, y.len);
    TAP_EQ_MEM(z.p, z.len, y.p, y.len);
    ntff_out_close(direct);
    ntff_out_close(threads);
    ntff_out_close(details);
    free(b.p);
}

TAP_TEST(perfetto_direct_or_by_details)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        compare(seed, NTFF_NUM_TABLE, 0, pft_write);
    compare(7, NTFF_NUM_SER, 0, pft_write);
    compare(8, NTFF_NUM_TABLE, 1u << NTFF_S_ID, pft_write);
}

TAP_TEST(chrome_direct_or_by_details)
{
    for (uint64_t seed = 1; seed <= 6; seed++)
        compare(seed, NTFF_NUM_TABLE, 0, conv_chrome_write);
    compare(7, NTFF_NUM_SER, 0, conv_chrome_write);
    compare(8, NTFF_NUM_TABLE, 1u << NTFF_S_ID, conv_chrome_write);
}

/* A few attributes by themselves are those among all details. */
static void compare_picked(uint64_t seed, uint32_t zigzag)
{
    static const struct ntff_slice keys[] = {{"op_id", 5}, {"size", 4}, {"algorithm", 9}};
    struct ntff_event_plan plan;
    struct bytes b = {0};
    struct ntff_detail all = {.n = 0}, few = {.n = 0};
    size_t n_found = 0;
    ntff_plan_init(&plan, NTFF_NUM_TABLE);
    plan.zigzag = zigzag;
    struct ntff_trace *t = make_trace(seed, &plan, &b);
    for (size_t i = 0; i < t->n_events; i++) {
        size_t n = 1 + i % NTFF_ARRAY_LEN(keys);
        TAP_CONTEXT("seed %d, event %zu", (int)seed, i);
        TAP_OK(ntff_detail(t, &t->events[i], &all));
        TAP_OK(ntff_detail_pick(t, &t->events[i], keys, n, &few));
        TAP_OK(few.n <= 2 * n); /* a key again in the stop, renamed */
        for (size_t k = 0; k < n; k++) {
            const struct ntff_attr *x = ntff_detail_find(&all, keys[k].p),
                                   *y = ntff_detail_find(&few, keys[k].p);
            TAP_EQ_U64(x != NULL, y != NULL);
            if (!x || !y)
                continue;
            n_found++;
            TAP_EQ_U64(x->kind, y->kind);
            if (x->kind == NTFF_V_UINT)
                TAP_EQ_U64(x->u, y->u);
            else
                TAP_EQ_MEM(x->text.p, x->text.len, y->text.p, y->text.len);
        }
    }
    TAP_OK(n_found > N_EVENTS / 2);
    ntff_detail_done(&all);
    ntff_detail_done(&few);
    free(b.p);
}

TAP_TEST(few_attributes_are_those_among_all)
{
    for (uint64_t seed = 11; seed <= 14; seed++)
        compare_picked(seed, 0);
    compare_picked(15, 1u << NTFF_S_ID);
}

TAP_MAIN()
