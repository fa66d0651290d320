/* gen_ntrace - writes a system trace of any size, as a busy inference server would leave it.
 *
 *     gen_ntrace [-n EVENTS] [-f FORM] [-c CORES] [-s SEED] [-r] > ntrace.pb
 *
 * FORM: varint, u32, u64 (length before each ntrace_event), bare (one ntrace_info, events as field
 * 7, an invented number), json ({"events":[...]} on one line). -r: hardware events carry raw device
 * time in their timestamp. The same arguments give the same bytes.
 *
 * Every logical core works in rounds of about 3 ms. In a round its host thread runs a model
 * (seven nested spans) and a second thread drains queues; both physical cores wait at a barrier,
 * run the model and a collective, and a sync point follows for each. Every fourth round also copies
 * tensors in and out, every eighth allocates or frees device memory. So a record takes 140 bytes on
 * average: starts with a model name about 250, stops about 45. Field numbers are the default
 * numbering of ntrace_event [FMT]; encoded here by hand, so that a mistake in the decoder is not
 * repeated. */
#include "tests/random.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_CORES = 64,
    MAX_ATTRS = 8,
    RECORDS_PER_ROUND = 64, /* upper bound, per core */
    PCORES = 2,             /* physical cores of a logical one */
    ROUND_NS = 3000000,
};

enum form { FORM_VARINT, FORM_U32, FORM_U64, FORM_BARE, FORM_JSON };
static const char *const form_names[] = {"varint", "u32", "u64", "bare", "json"};

enum phase { START = 1, STOP = 2, INSTANT = 3 };
static const char *const phase_names[] = {"unknown", "start", "stop", "instant"};

struct attr {
    const char *key;
    bool is_text; /* written as text in JSON */
    char value[192];
};

struct record {
    uint64_t timestamp, order, id, tracking_id, nrta_seq_id;
    uint32_t type, phase, nc, thread_id;
    uint32_t n_attrs;
    bool has_seq;
    struct attr attrs[MAX_ATTRS];
};

/* Names of the types used here, for JSON. */
static const char *type_name(uint32_t type)
{
    switch (type) {
    case 3:
        return "nrt_execute";
    case 4:
        return "kmgr_exec_core";
    case 6:
        return "cc_exec_barrier";
    case 7:
        return "nc_exec_running";
    case 8:
        return "cc_running";
    case 9:
        return "nrt_tensor_read";
    case 10:
        return "nrt_tensor_write";
    case 17:
        return "kbl_exec_pre";
    case 18:
        return "kbl_exec_core";
    case 19:
        return "kbl_exec_wait";
    case 20:
        return "kbl_exec_post";
    case 22:
        return "nrt_model_submit";
    case 25:
        return "timestamp_sync_point";
    case 30:
        return "dmem_buf_copyin";
    case 31:
        return "dmem_buf_copyout";
    case 34:
        return "nrt_dma_mem_alloc";
    case 35:
        return "nrt_dma_mem_dealloc";
    case 37:
        return "exec_consume_cc_core_notifications";
    case 38:
        return "notification_consume_errors";
    case 39:
        return "exec_consume_gpsimd_stdio";
    default:
        return "generic";
    }
}

struct core {
    uint32_t nc;
    uint64_t n_ids, n_tracking, exec_id, total_bytes;
    uint64_t origin_ns[PCORES]; /* host time at device time 0 */
    int64_t drift_ppb[PCORES];
};

struct gen {
    uint64_t n_events, n_written, n_bytes, random, base_ns;
    uint32_t n_cores;
    enum form form;
    bool raw;
    struct core cores[MAX_CORES];
    struct record *records; /* of one round, all cores */
    size_t n_records;
};

/* -- numbers ---------------------------------------------------------------------------------- */

static uint64_t between(struct gen *g, uint64_t lo, uint64_t hi)
{
    return lo + random_next(&g->random) % (hi - lo + 1);
}

static uint64_t device_time(const struct core *c, int pcore, uint64_t host_ns)
{
    int64_t dt = (int64_t)(host_ns - c->origin_ns[pcore]);
    return (uint64_t)(dt + dt / 1000000 * c->drift_ppb[pcore] / 1000);
}

/* -- records ---------------------------------------------------------------------------------- */

static struct record *add(struct gen *g, struct core *c, uint32_t type, uint32_t phase,
                          uint64_t tracking_id, uint32_t thread_id, uint64_t ts)
{
    struct record *r = &g->records[g->n_records];
    *r = (struct record){.timestamp = ts,
                         .order = ts,
                         .id = ((uint64_t)c->nc << 50) + ++c->n_ids,
                         .tracking_id = tracking_id,
                         .type = type,
                         .phase = phase,
                         .nc = c->nc,
                         .thread_id = thread_id};
    g->n_records++;
    return r;
}

static void attr_text(struct record *r, const char *key, const char *value)
{
    struct attr *a = &r->attrs[r->n_attrs++];
    a->key = key;
    a->is_text = true;
    snprintf(a->value, sizeof a->value, "%s", value);
}
static void attr_uint(struct record *r, const char *key, uint64_t value)
{
    struct attr *a = &r->attrs[r->n_attrs++];
    a->key = key;
    snprintf(a->value, sizeof a->value, "%" PRIu64, value);
}

static void attr_model(struct record *r, const struct core *c, bool with_exec)
{
    if (with_exec)
        attr_uint(r, "exec_id", c->exec_id);
    attr_uint(r, "model_id", UINT64_C(412357896541230) + c->nc % 4);
    char name[192];
    snprintf(name, sizeof name,
             "/home/ubuntu/.cache/neuron-compile-cache/neuronxcc-2.21.18209.0+043b1bf7/"
             "token_generation_model/_tp0_bk3/"
             "MODULE_18059432170%07u+a9d440f5/model.neff",
             c->nc % 4 + 1000001);
    attr_text(r, "model_name", name);
}

/* A span: start and stop. Returns the start, to add attributes to; *stop_out may be NULL. */
static struct record *span(struct gen *g, struct core *c, uint32_t type, uint32_t thread_id,
                           uint64_t begin, uint64_t end, struct record **stop_out)
{
    uint64_t tracking_id = ((uint64_t)c->nc << 50) + ++c->n_tracking;
    struct record *start = add(g, c, type, START, tracking_id, thread_id, begin);
    struct record *stop = add(g, c, type, STOP, tracking_id, thread_id, end);
    if (stop_out != NULL)
        *stop_out = stop;
    return start;
}

/* A span on a physical core. */
static struct record *device_span(struct gen *g, struct core *c, uint32_t type, int pcore,
                                  uint64_t begin, uint64_t end)
{
    struct record *stop, *start = span(g, c, type, 0, begin, end, &stop);
    uint64_t nc_begin = device_time(c, pcore, begin), nc_end = device_time(c, pcore, end);
    attr_uint(start, "nc_timestamp_ns", nc_begin);
    attr_uint(stop, "nc_timestamp_ns", nc_end);
    if (g->raw) {
        start->timestamp = nc_begin;
        stop->timestamp = nc_end;
    }
    return start;
}

/* -- one round of one core -------------------------------------------------------------------- */

static void transfer(struct gen *g, struct core *c, uint32_t outer, uint32_t inner, uint32_t tid,
                     uint64_t begin)
{
    uint64_t size = UINT64_C(4096) << between(g, 0, 8);
    struct record *r = span(g, c, outer, tid, begin, begin + 30000, NULL);
    attr_uint(r, "tensor_id", UINT64_C(562949953421312) + between(g, 0, 63));
    attr_uint(r, "size", size);
    r = span(g, c, inner, tid, begin + 1500, begin + 28000 - between(g, 0, 999), NULL);
    attr_text(r, "mem_type", "device");
    attr_uint(r, "mem_handle", 94000000000000 + between(g, 0, 63) * 4096);
    attr_uint(r, "offset", 0);
    attr_uint(r, "size", size);
}

static void allocate(struct gen *g, struct core *c, uint32_t tid, uint64_t begin, bool is_free)
{
    struct record *stop, *start = span(g, c, is_free ? 35 : 34, tid, begin, begin + 9000, &stop);
    uint64_t bytes = 4 << 20;
    c->total_bytes = is_free ? c->total_bytes - bytes : c->total_bytes + bytes;
    attr_uint(start, "hbm_idx", c->nc / 2);
    attr_text(start, "usage_type", "TENSOR");
    attr_text(start, "is_nc_hbm", "true");
    attr_uint(start, "mla_idx", 0);
    if (is_free)
        attr_text(start, "physical_address", "0x7f0040000000");
    else
        attr_text(start, "is_aligned", "true");
    attr_uint(stop, is_free ? "freed_bytes" : "allocated_bytes", bytes);
    if (!is_free) {
        attr_text(stop, "physical_address", "0x7f0040000000");
        attr_uint(stop, "return_code", 0);
    }
    attr_uint(stop, "usage_type_total_bytes", c->total_bytes);
    attr_uint(stop, "total_bytes", c->total_bytes + (64 << 20));
}

/* What both physical cores do for one execution; returns when the later one is done. */
static uint64_t run_on_device(struct gen *g, struct core *c, uint64_t begin)
{
    uint64_t last = 0;
    for (int p = 0; p < PCORES; p++) {
        uint64_t b = begin + between(g, 0, 4000), e = b + 1400000 + between(g, 0, 200000);
        struct record *r = device_span(g, c, 7, p, b, e);
        attr_uint(r, "device_core_idx", c->nc * PCORES + (uint32_t)p);
        attr_model(r, c, true);
        r = device_span(g, c, 6, p, b + 150000, b + 190000);
        attr_model(r, c, true);
        r = device_span(g, c, 8, p, b + 200000, b + 500000);
        attr_uint(r, "gid", 1);
        attr_uint(r, "op_id", between(g, 0, 7));
        attr_uint(r, "exec_id", c->exec_id);
        attr_text(r, "algorithm", "ring");
        if (e > last)
            last = e;
        uint64_t sync = e + 20000 + (uint64_t)p * 30000;
        r = add(g, c, 25, INSTANT, ((uint64_t)c->nc << 50) + ++c->n_tracking, 0, sync + 10200);
        attr_uint(r, "exec_id", c->exec_id);
        attr_uint(r, "nc_timestamp_ns", device_time(c, p, sync));
        attr_uint(r, "cpu_timestamp_ns", sync + between(g, 0, 2000));
    }
    return last;
}

static void run_round(struct gen *g, struct core *c, uint64_t t)
{
    uint32_t tid = 24000 + c->nc * 2, tid2 = tid + 1;
    t += between(g, 0, 100000);
    c->exec_id++;
    if (c->exec_id % 8 == 0)
        allocate(g, c, tid2, t, c->exec_id % 16 == 0);
    if (c->exec_id % 4 == 0)
        transfer(g, c, 10, 30, tid, t);
    t += 60000;
    uint64_t wait = t + 13000, done = run_on_device(g, c, t + 16000) + 60000;
    struct record *r = span(g, c, 3, tid, t, done + 9000, NULL);
    attr_model(r, c, false);
    r->has_seq = true;
    r->nrta_seq_id = (UINT64_C(1) << 48) + c->exec_id;
    attr_model(span(g, c, 4, tid, t + 1000, done + 7000, NULL), c, false);
    attr_model(span(g, c, 17, tid, t + 2000, t + 8000, NULL), c, true);
    attr_model(span(g, c, 22, tid, t + 9000, t + 11000, NULL), c, false);
    attr_model(span(g, c, 18, tid, t + 12000, done + 1000, NULL), c, true);
    attr_model(span(g, c, 19, tid, wait, done, NULL), c, true);
    attr_model(span(g, c, 20, tid, done + 2000, done + 4000 + between(g, 0, 1500), NULL), c, true);
    for (uint32_t i = 0; i < 3; i++) /* device queues are drained */
        attr_model(span(g, c, 37 + i, tid2, done + i * 3000, done + i * 3000 + 2000, NULL), c,
                   true);
    if (c->exec_id % 4 == 0)
        transfer(g, c, 9, 31, tid2, done + 12000);
}

/* -- encoding --------------------------------------------------------------------------------- */

static uint8_t *put_varint(uint8_t *p, uint64_t v)
{
    while (v >= 0x80) {
        *p++ = (uint8_t)(v | 0x80);
        v >>= 7;
    }
    *p++ = (uint8_t)v;
    return p;
}
static uint8_t *put_field(uint8_t *p, uint32_t number, uint64_t v)
{
    return v == 0 ? p : put_varint(put_varint(p, number << 3), v); /* proto3 leaves zeros out */
}
static uint8_t *put_text(uint8_t *p, uint32_t number, const char *text, size_t len)
{
    p = put_varint(put_varint(p, number << 3 | 2), len);
    memcpy(p, text, len);
    return p + len;
}

static size_t encode(const struct record *r, uint8_t *out)
{
    uint8_t *p = out;
    p = put_field(p, 2, r->timestamp);
    p = put_field(p, 5, r->nc);
    p = put_field(p, 7, r->type);
    p = put_field(p, 9, r->thread_id);
    p = put_field(p, 10, r->id);
    for (uint32_t i = 0; i < r->n_attrs; i++) {
        const struct attr *a = &r->attrs[i];
        size_t key_len = strlen(a->key), value_len = strlen(a->value);
        size_t entry_len = 4 + key_len + value_len + (value_len >= 128);
        p = put_varint(put_varint(p, 12 << 3 | 2), entry_len);
        p = put_text(p, 1, a->key, key_len);
        p = put_text(p, 2, a->value, value_len);
    }
    p = put_field(p, 14, r->phase);
    p = put_field(p, 15, r->tracking_id);
    if (r->has_seq)
        p = put_varint(put_varint(p, 16 << 3), r->nrta_seq_id);
    return (size_t)(p - out);
}

static size_t encode_json(const struct record *r, char *out, size_t cap, bool first)
{
    size_t n = (size_t)snprintf(
        out, cap,
        "%s{\"event_type\":\"%s\",\"phase\":\"%s\",\"id\":%" PRIu64 ",\"nc_idx\":%" PRIu32
        ",\"nc_local_id\":%" PRIu64 ",\"tracking_id\":%" PRIu64 ",\"thread_id\":%" PRIu32
        ",\"worker_gid\":%" PRIu32 ",\"data\":{",
        first ? "" : ",", type_name(r->type), phase_names[r->phase], r->id, r->nc,
        r->id & ((UINT64_C(1) << 50) - 1), r->tracking_id, r->thread_id, r->nc);
    for (uint32_t i = 0; i < r->n_attrs; i++) {
        const struct attr *a = &r->attrs[i];
        bool quoted = a->is_text && strcmp(a->value, "true") != 0;
        n += (size_t)snprintf(out + n, cap - n, quoted ? "%s\"%s\":\"%s\"" : "%s\"%s\":%s",
                              i > 0 ? "," : "", a->key, a->value);
    }
    n += (size_t)snprintf(out + n, cap - n, "},\"timestamp_ns\":%" PRIu64, r->timestamp);
    if (r->has_seq)
        n += (size_t)snprintf(out + n, cap - n, ",\"nrta_seq_id\":%" PRIu64, r->nrta_seq_id);
    n += (size_t)snprintf(out + n, cap - n, "}");
    return n;
}

static void write_bytes(struct gen *g, const void *p, size_t n)
{
    if (fwrite(p, 1, n, stdout) != n) {
        fprintf(stderr, "gen_ntrace: cannot write: %s\n", strerror(errno));
        exit(1);
    }
    g->n_bytes += n;
}

static void write_record(struct gen *g, const struct record *r)
{
    uint8_t msg[2048], head[16], *h = head;
    if (g->form == FORM_JSON) {
        char text[4096];
        size_t n = encode_json(r, text, sizeof text, g->n_written == 0);
        write_bytes(g, text, n);
        g->n_written++;
        return;
    }
    size_t len = encode(r, msg);
    if (g->form == FORM_U32 || g->form == FORM_U64) {
        for (int i = 0; i < (g->form == FORM_U32 ? 4 : 8); i++)
            *h++ = (uint8_t)(len >> 8 * i);
    } else {
        if (g->form == FORM_BARE)
            *h++ = 7 << 3 | 2;
        h = put_varint(h, len);
    }
    write_bytes(g, head, (size_t)(h - head));
    write_bytes(g, msg, len);
    g->n_written++;
}

static int by_order(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    if (x->order != y->order)
        return x->order < y->order ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

static void generate(struct gen *g)
{
    for (uint32_t i = 0; i < g->n_cores; i++) {
        struct core *c = &g->cores[i];
        c->nc = i;
        for (int p = 0; p < PCORES; p++) {
            c->origin_ns[p] = g->base_ns - between(g, 1, 3600) * 1000000007;
            c->drift_ppb[p] = (int64_t)between(g, 0, 100000) - 50000;
        }
    }
    if (g->form == FORM_JSON)
        write_bytes(g, "{\"events\":[", 11);
    for (uint64_t round = 0; g->n_written < g->n_events; round++) {
        g->n_records = 0;
        for (uint32_t i = 0; i < g->n_cores; i++)
            run_round(g, &g->cores[i], g->base_ns + round * ROUND_NS);
        qsort(g->records, g->n_records, sizeof *g->records, by_order);
        for (size_t i = 0; i < g->n_records && g->n_written < g->n_events; i++)
            write_record(g, &g->records[i]);
    }
    if (g->form == FORM_JSON)
        write_bytes(g, "],\"data_version\":2}\n", 20);
}

static void usage(void)
{
    fprintf(stderr,
            "usage: gen_ntrace [-n EVENTS] [-f varint|u32|u64|bare|json] [-c CORES] [-s SEED] "
            "[-r] > FILE\n");
    exit(2);
}

int main(int argc, char **argv)
{
    struct gen g = {.n_events = 1000000, .n_cores = 4, .base_ns = UINT64_C(1764440000000000000)};
    int opt;
    while ((opt = getopt(argc, argv, "n:f:c:s:r")) != -1) {
        switch (opt) {
        case 'n':
            g.n_events = strtoull(optarg, NULL, 10);
            break;
        case 'c':
            g.n_cores = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 's':
            g.random = strtoull(optarg, NULL, 10);
            break;
        case 'r':
            g.raw = true;
            break;
        case 'f':
            for (g.form = FORM_VARINT; strcmp(form_names[g.form], optarg) != 0; g.form++)
                if (g.form == FORM_JSON)
                    usage();
            break;
        default:
            usage();
        }
    }
    if (optind != argc || g.n_cores == 0 || g.n_cores > MAX_CORES || isatty(STDOUT_FILENO))
        usage();
    g.records = calloc((size_t)g.n_cores * RECORDS_PER_ROUND, sizeof *g.records);
    if (g.records == NULL) {
        fprintf(stderr, "gen_ntrace: no memory\n");
        return 1;
    }
    generate(&g);
    free(g.records);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "gen_ntrace: cannot write: %s\n", strerror(errno));
        return 1;
    }
    fprintf(stderr, "%" PRIu64 " events, %" PRIu64 " bytes, %.1f bytes each\n", g.n_written,
            g.n_bytes, g.n_written > 0 ? (double)g.n_bytes / (double)g.n_written : 0.0);
    return 0;
}
