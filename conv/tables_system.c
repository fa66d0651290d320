/* tables_system - tables of the system trace: events, flows, device memory, host samples. */
#include "conv/eventrow.h"
#include "conv/tables.h"
#include "proto/event_types.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -- SystemProfileEvents, Flow --------------------------------------------------------------------
 */

static const struct conv_column events_columns[] = {
    {"id", "i64", "", true},
    {"name", "string", "", true},
    {"start_ts", "i64", "nanoseconds", true},
    {"end_ts", "i64", "nanoseconds", true},
    {"duration_ns", "i64", "nanoseconds", true},
    {"trace_event_source", "string", "", true},
    {"instance_id", "string", "", true},
    {"process_id", "i64", "", true},
    {"thread_id", "i64", "", true},
    {"nc_idx", "i64", "", false},
    {"pcore_idx", "i64", "", false},
    {"worker_gid", "i64", "", false},
    {"flow_id", "[] of string", "", false},
    {"framework_stream_id", "string", "", false},
    {"extra_attributes_json", "string", "", false},
};

static bool events_rows(struct conv_filler *f, struct conv_rows *r)
{
    struct conv_eventrow e;
    bool good = conv_eventrow_init(&e, f->t);
    for (uint32_t i = 0; good && i < f->t->n_events; i++) {
        if (conv_event_is_device(f->t, &f->t->events[i]))
            continue;
        good = conv_eventrow_cells(&e, r, i);
        conv_row_end(r);
    }
    conv_eventrow_done(&e);
    return good;
}

static const struct conv_column flow_columns[] = {
    {"in_id", "i64", "", true},
    {"out_id", "i64", "", true},
    {"in_table", "string", "", true},
    {"out_table", "string", "", true},
    {"gap_time", "i64", "nanoseconds", false},
};

/* An arrow goes in at the event it begins at, and comes out at the other. */
static bool flow_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (size_t i = 0; i < t->n_flows; i++) {
        const struct ntff_event *from = &t->events[t->flows[i].from],
                                *to = &t->events[t->flows[i].to];
        conv_row_u64(r, (uint64_t)t->flows[i].from + 1);
        conv_row_u64(r, (uint64_t)t->flows[i].to + 1);
        conv_row_str(r, "SystemProfileEvents");
        conv_row_str(r, "SystemProfileEvents");
        conv_row_i64(r, (int64_t)(to->ts_ns - ntff_event_end(from)));
        conv_row_end(r);
    }
    return true;
}

/* -- host samples ---------------------------------------------------------------------------------
 */

static const struct conv_column cpu_columns[] = {
    {"timestamp", "i64", "nanoseconds", true},
    {"util_percent", "f32", "percent (0-100)", true},
    {"cpu_id", "string", "", true},
    {"instance_id", "string", "", true},
    {"x_process_id", "i64", "", false},
};

static const struct conv_column mem_columns[] = {
    {"timestamp", "i64", "nanoseconds", true},
    {"used_bytes", "i64", "bytes", true},
    {"used_percent", "f32", "percent (0-100)", true},
    {"instance_id", "string", "", true},
    {"x_process_id", "i64", "", false},
};

static const struct ntff_process *process_of(const struct ntff_trace *t, uint32_t track)
{
    uint32_t p = t->tracks[track].process;
    return p < t->n_processes ? &t->processes[p] : NULL;
}

static void instance_cell(const struct ntff_trace *t, struct conv_rows *r, uint32_t track)
{
    const struct ntff_process *p = process_of(t, track);
    conv_row_str(r, p ? ntff_str_of(t, p->instance) : "");
}

static void pid_cell(const struct ntff_trace *t, struct conv_rows *r, uint32_t track)
{
    const struct ntff_process *p = process_of(t, track);
    if (p && p->pid)
        conv_row_u64(r, p->pid);
    else
        conv_row_null(r);
}

static bool cpu_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (size_t i = 0; i < t->n_samples; i++) {
        const struct ntff_track *tr = &t->tracks[t->samples[i].track];
        const char *name = ntff_str_of(t, tr->name);
        if (tr->unit != NTFF_UNIT_PERCENT || strncmp(name, "CPU ", 4) != 0)
            continue;
        for (name += 4; name[0] == '0' && name[1]; name++)
            ; /* "CPU 03" is cpu_id 3 */
        conv_row_u64(r, t->samples[i].ts_ns);
        conv_row_double(r, t->samples[i].value.d);
        conv_row_str(r, name);
        instance_cell(t, r, t->samples[i].track);
        pid_cell(t, r, t->samples[i].track);
        conv_row_end(r);
    }
    return true;
}

static bool mem_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (size_t i = 0; i < t->n_samples; i++) {
        const struct ntff_track *tr = &t->tracks[t->samples[i].track];
        if (tr->unit != NTFF_UNIT_BYTES || strcmp(ntff_str_of(t, tr->name), "Host memory") != 0)
            continue;
        conv_row_u64(r, t->samples[i].ts_ns);
        conv_row_i64(r, t->samples[i].value.i);
        conv_row_null(r); /* the capacity is not recorded */
        instance_cell(t, r, t->samples[i].track);
        pid_cell(t, r, t->samples[i].track);
        conv_row_end(r);
    }
    return true;
}

/* -- device memory --------------------------------------------------------------------------------
 */

/* The vendor's columns by the runtime's usage class [DMEM]; XT_CC has none. */
static const char *const usage_classes[] = {"total",        "GENERIC",
                                            "INSTR_PE",     "INSTR_ACT",
                                            "INSTR_POOL",   "IO",
                                            "DRAM_SPILL",   "WEIGHT",
                                            "NOTIFICATION", "ACT_TABLE",
                                            "INSTR_DVE",    "INSTR_SP",
                                            "SCRATCHPAD",   "TENSOR",
                                            "UCODE_LIB",    "POOL_STDIO",
                                            "CC",           "SCRATCHPAD_NOT_SHARED",
                                            "DMA_RING",     "DMA_RING_SPILL",
                                            "DMA_RING_IO",  "DMA_RING_COLLECTIVES"};
#define N_USAGES NTFF_ARRAY_LEN(usage_classes)

#define BYTES(name)                                                                                \
    {                                                                                              \
        name, "i64", "bytes", true                                                                 \
    }
static const struct conv_column hbm_columns[] = {
    {"timestamp", "i64", "nanoseconds", true},
    BYTES("total_bytes"),
    BYTES("generic_bytes"),
    BYTES("tensor_instructions_bytes"),
    BYTES("scalar_instructions_bytes"),
    BYTES("gpsimd_instructions_bytes"),
    BYTES("io_bytes"),
    BYTES("dram_spill_bytes"),
    BYTES("weights_bytes"),
    BYTES("profiler_buffers_bytes"),
    BYTES("scalar_table_bytes"),
    BYTES("vector_instructions_bytes"),
    BYTES("sync_instructions_bytes"),
    BYTES("shared_scratchpad_bytes"),
    BYTES("tensors_bytes"),
    BYTES("ucode_lib_bytes"),
    BYTES("gpsimd_stdio_bytes"),
    BYTES("collectives_bytes"),
    BYTES("scratchpad_bytes"),
    BYTES("dma_rings_runtime_bytes"),
    BYTES("dma_rings_spill_bytes"),
    BYTES("dma_rings_io_bytes"),
    BYTES("dma_rings_collectives_bytes"),
    BYTES("unknown_bytes"),
    {"device_idx", "i64", "", true},
    {"hbm_idx", "i64", "", true},
    {"instance_id", "string", "", true},
    {"x_process_id", "i64", "", false},
};
#undef BYTES

/* "HBM3 WEIGHT" -> 3 and "WEIGHT". False for other counters. */
static bool hbm_name(const struct ntff_trace *t, uint32_t track, uint64_t *hbm, const char **usage)
{
    const char *name = ntff_str_of(t, t->tracks[track].name);
    char *end;
    if (t->tracks[track].unit != NTFF_UNIT_BYTES || strncmp(name, "HBM", 3) != 0)
        return false;
    *hbm = strtoull(name + 3, &end, 10);
    *usage = end + 1;
    return end > name + 3 && *end == ' ';
}

/* What is in use on one HBM of one process, as far as it has been said. */
struct hbm_state {
    uint32_t process;
    uint64_t hbm;
    int64_t bytes[N_USAGES + 1]; /* the last: all classes without a column */
};

static struct hbm_state *state_of(const struct ntff_trace *t, struct hbm_state *v, size_t *n,
                                  uint32_t track, uint64_t hbm)
{
    uint32_t process = t->tracks[track].process;
    for (size_t i = 0; i < *n; i++)
        if (v[i].process == process && v[i].hbm == hbm)
            return &v[i];
    v[*n] = (struct hbm_state){.process = process, .hbm = hbm};
    return &v[(*n)++];
}

static void hbm_row(const struct ntff_trace *t, struct conv_rows *r, const struct hbm_state *s,
                    uint64_t ts_ns, uint32_t track)
{
    conv_row_u64(r, ts_ns);
    for (size_t u = 0; u <= N_USAGES; u++)
        conv_row_i64(r, s->bytes[u]);
    conv_row_null(r); /* the device's number is not in the counter */
    conv_row_u64(r, s->hbm);
    instance_cell(t, r, track);
    pid_cell(t, r, track);
    conv_row_end(r);
}

/* One row for each time something changed; an allocation changes two counters at once. */
static bool hbm_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    struct hbm_state *v = calloc(f->figures->memory.n + 1, sizeof *v);
    int64_t *was = calloc(t->n_tracks + 1, sizeof *was); /* of classes that share a column */
    size_t n = 0;
    bool good = v && was;
    for (size_t i = 0; good && i < t->n_samples; i++) {
        const struct ntff_sample *s = &t->samples[i];
        uint64_t hbm;
        const char *usage;
        size_t u = 0;
        if (!hbm_name(t, s->track, &hbm, &usage))
            continue;
        struct hbm_state *state = state_of(t, v, &n, s->track, hbm);
        while (u < N_USAGES && strcmp(usage_classes[u], usage) != 0)
            u++;
        state->bytes[u] += s->value.i - was[s->track];
        was[s->track] = s->value.i;
        bool more = false; /* at the same time, of the same HBM? */
        uint64_t next_hbm;
        for (size_t k = i + 1; k < t->n_samples && t->samples[k].ts_ns == s->ts_ns && !more; k++)
            more = hbm_name(t, t->samples[k].track, &next_hbm, &usage) && next_hbm == hbm &&
                   t->tracks[t->samples[k].track].process == state->process;
        if (!more)
            hbm_row(t, r, state, s->ts_ns, s->track);
    }
    free(v);
    free(was);
    return good;
}

static const struct conv_column by_type_columns[] = {
    {"neuron_device_idx", "i64", "", true}, {"neuroncore_idx", "i64", "", true},
    {"usage_type", "string", "", true},     {"usage_bytes", "i64", "bytes", true},
    {"x_hbm_idx", "i64", "", false},        {"x_process_id", "i64", "", false},
};

/* High-water marks. */
static bool by_type_rows(struct conv_filler *f, struct conv_rows *r)
{
    for (size_t i = 0; i < f->figures->memory.n; i++) {
        const struct conv_memory *m = &f->figures->memory.v[i];
        uint64_t hbm;
        const char *usage;
        if (!hbm_name(f->t, m->track, &hbm, &usage) || strcmp(usage, "total") == 0)
            continue;
        conv_row_null(r);
        conv_row_null(r);
        conv_row_str(r, usage);
        conv_row_u64(r, m->peak_bytes);
        conv_row_u64(r, hbm);
        pid_cell(f->t, r, m->track);
        conv_row_end(r);
    }
    return true;
}

static const struct conv_column allocation_columns[] = {
    {"x_start_ts", "i64", "nanoseconds", true},
    {"x_end_ts", "i64", "nanoseconds", true},
    {"start_address", "i64", "bytes", true},
    {"x_end_address", "i64", "bytes", true},
    {"x_usage_type", "string", "", true},
    {"x_device_idx", "i64", "", true},
    {"x_hbm_idx", "i64", "", true},
    {"x_nc_idx", "i64", "", true},
    {"trace_id", "i64", "", false},
    {"x_process_id", "i64", "", false},
    {"x_never_freed", "bool", "", false},
};

struct allocation {
    uint64_t begin_ns, end_ns, address, bytes, hbm, device, nc, trace_id;
    struct ntff_slice usage;
    uint32_t track, process, event, usage_number;
    bool frees; /* no allocation, but the end of one */
    bool freed;
};

static bool number(const struct ntff_detail *d, const char *key, uint64_t *v)
{
    const struct ntff_attr *a = ntff_detail_find(d, key);
    char text[32];
    if (a && a->kind == NTFF_V_UINT) {
        *v = a->u;
        return true;
    }
    if (!a || a->kind != NTFF_V_TEXT || a->text.len < 3 || a->text.len >= sizeof text ||
        memcmp(a->text.p, "0x", 2) != 0)
        return false;
    memcpy(text, a->text.p, a->text.len);
    text[a->text.len] = '\0';
    *v = strtoull(text, NULL, 16);
    return true;
}

static bool read_allocation(struct conv_filler *f, const struct ntff_event *e, struct allocation *a)
{
    *a = (struct allocation){.track = e->track, .usage_number = NTFF_NONE};
    if (!ntff_detail(f->t, e, &f->detail))
        return false;
    const struct ntff_attr *u = ntff_detail_find(&f->detail, "usage_type");
    if (u && u->kind == NTFF_V_TEXT)
        a->usage = u->text;
    else if (u && u->kind == NTFF_V_UINT && u->u < NTFF_NONE)
        a->usage_number = (uint32_t)u->u;
    a->hbm = a->device = a->nc = UINT64_MAX;
    number(&f->detail, "hbm_idx", &a->hbm);
    number(&f->detail, "mla_idx", &a->device);
    number(&f->detail, "nc_idx", &a->nc);
    number(&f->detail, "tracking_id", &a->trace_id);
    if (!number(&f->detail, "allocated_bytes", &a->bytes))
        number(&f->detail, "freed_bytes", &a->bytes);
    return number(&f->detail, "physical_address", &a->address) && a->address != 0;
}

static void optional_cell(struct conv_rows *r, uint64_t v)
{
    if (v == UINT64_MAX)
        conv_row_null(r);
    else
        conv_row_u64(r, v);
}

static void allocation_row(const struct ntff_trace *t, struct conv_rows *r,
                           const struct allocation *a)
{
    conv_row_u64(r, a->begin_ns);
    conv_row_u64(r, a->freed ? a->end_ns : t->end_ns);
    conv_row_u64(r, a->address);
    conv_row_u64(r, a->address + a->bytes);
    if (a->usage.len)
        conv_row_text(r, a->usage.p, a->usage.len);
    else
        conv_row_str(r, ntff_usage_name(a->usage_number));
    optional_cell(r, a->device);
    optional_cell(r, a->hbm);
    optional_cell(r, a->nc);
    conv_row_u64(r, a->trace_id);
    pid_cell(t, r, a->track);
    conv_row_bool(r, !a->freed);
    conv_row_end(r);
}

static int by_begin(const void *pa, const void *pb)
{
    const struct allocation *a = pa, *b = pb;
    if (a->begin_ns != b->begin_ns)
        return a->begin_ns < b->begin_ns ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static int by_address(const void *pa, const void *pb)
{
    const struct allocation *a = pa, *b = pb;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->hbm != b->hbm)
        return a->hbm < b->hbm ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return by_begin(a, b);
}

/* Same use and size, as far as both say. */
static bool fits(const struct allocation *freeing, const struct allocation *a)
{
    if (a->frees || a->freed || (freeing->bytes && a->bytes != freeing->bytes))
        return false;
    return a->usage_number == freeing->usage_number && a->usage.len == freeing->usage.len &&
           (a->usage.len == 0 || memcmp(a->usage.p, freeing->usage.p, a->usage.len) == 0);
}

/* A call that frees ends the latest allocation of its address that fits. v is sorted by address.
 * Looking back ends somewhere, or a capture of nothing but frees would take the square of its size.
 */
static void match_frees(struct allocation *v, size_t n)
{
    enum { LOOK_BACK = 256 };
    for (size_t i = 0; v != NULL && i < n; i++) {
        if (!v[i].frees)
            continue;
        for (size_t k = i; k-- > 0 && i - k <= LOOK_BACK && v[k].process == v[i].process &&
                           v[k].hbm == v[i].hbm && v[k].address == v[i].address;)
            if (fits(&v[i], &v[k])) {
                v[k].freed = true;
                v[k].end_ns = v[i].begin_ns;
                break;
            }
    }
}

static bool allocation_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    NTFF_VEC(struct allocation) v = {0};
    bool good = true;
    for (uint32_t i = 0; good && i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        const char *name = ntff_str_of(t, e->name);
        bool alloc = strcmp(name, "nrt_dma_mem_alloc") == 0;
        struct allocation a;
        if ((!alloc && strcmp(name, "nrt_dma_mem_dealloc") != 0) ||
            e->flags & (NTFF_EV_UNFINISHED | NTFF_EV_START_LOST | NTFF_EV_CUT_RIGHT) ||
            !read_allocation(f, e, &a))
            continue;
        a.begin_ns = ntff_event_end(e); /* when the call returned */
        a.event = i;
        a.process = t->tracks[e->track].process;
        a.frees = !alloc;
        struct allocation *x = NTFF_VEC_PUSH(NULL, &v);
        if ((good = x != NULL))
            *x = a;
    }
    ntff_sort(v.v, v.n, sizeof *v.v, by_address);
    match_frees(v.v, v.n);
    ntff_sort(v.v, v.n, sizeof *v.v, by_begin);
    for (size_t i = 0; good && i < v.n; i++)
        if (!v.v[i].frees)
            allocation_row(t, r, &v.v[i]);
    NTFF_VEC_FREE(NULL, &v);
    return good;
}

/* -- executions and collectives of the system trace -----------------------------------------------
 */

static const struct conv_column execution_columns[] = {
    {"execution_index", "i32", "", true},
    {"neff_name", "string", "", false},
    {"execution_start_ts", "i64", "nanoseconds", false},
    {"execution_end_ts", "i64", "nanoseconds", false},
    {"num_subgraphs", "i32", "", false},
    {"x_process_id", "i64", "", false},
    {"x_nc_idx", "i64", "", false},
    {"x_exec_id", "i64", "", false},
    {"x_partial", "bool", "", true},
};

static bool execution_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct conv_figures *g = f->figures;
    for (size_t i = 0; i < g->execs.n; i++) {
        const struct conv_exec *e = &g->execs.v[i];
        const struct conv_core *c = &g->cores.v[e->core];
        char out[64];
        const char *model = conv_exec_model(g, e, &f->detail, out);
        conv_row_u64(r, i - c->execs_at);
        conv_row_str(r, *model ? model : NULL);
        conv_row_u64(r, e->ts_ns);
        conv_row_u64(r, e->end_ns);
        conv_row_u64(r, e->n_spans);
        conv_cells_origin(f, r, f->t->events[e->event].track);
        if (e->exec_id == UINT64_MAX)
            conv_row_null(r);
        else
            conv_row_u64(r, e->exec_id);
        conv_row_bool(r, e->cut);
        conv_row_end(r);
    }
    return true;
}

static const struct conv_column cc_columns[] = {
    {"x_id", "i64", "", true},
    {"start_ts", "i64", "nanoseconds", true},
    {"end_ts", "i64", "nanoseconds", true},
    {"duration_ns", "i64", "nanoseconds", true},
    {"operation", "string", "", true},
    {"algorithm", "string", "", true},
    {"num_elements", "i64", "", true},
    {"dtype", "string", "", true},
    {"op_id", "i64", "", false},
    {"stream_id", "i64", "", true},
    {"stream_index", "i64", "", true},
    {"trigger_engine", "string", "", true},
    {"x_process_id", "i64", "", false},
    {"x_nc_idx", "i64", "", false},
    {"x_exec_id", "i64", "", false},
    {"x_gid", "i64", "", false},
    {"x_partial", "bool", "", true},
};

static void u64_attr_cell(struct conv_rows *r, const struct ntff_detail *d, const char *key)
{
    uint64_t v;
    if (number(d, key, &v))
        conv_row_u64(r, v);
    else
        conv_row_null(r);
}

static bool cc_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (uint32_t i = 0; i < t->n_events; i++) {
        const struct ntff_event *e = &t->events[i];
        const char *name = ntff_str_of(t, e->name);
        bool barrier = strcmp(name, "cc_exec_barrier") == 0;
        if (e->cat != NTFF_CAT_CC || (!barrier && strcmp(name, "cc_running") != 0))
            continue;
        if (!ntff_detail(t, e, &f->detail))
            return false;
        const struct ntff_attr *a = ntff_detail_find(&f->detail, "algorithm");
        conv_row_u64(r, (uint64_t)i + 1);
        conv_row_u64(r, e->ts_ns);
        conv_row_u64(r, ntff_event_end(e));
        conv_row_u64(r, e->dur_ns);
        conv_row_str(r, barrier ? "barrier" : "unknown");
        conv_row_text(r, a && a->kind == NTFF_V_TEXT ? a->text.p : "",
                      a && a->kind == NTFF_V_TEXT ? a->text.len : 0);
        conv_row_null(r);
        conv_row_str(r, "unknown");
        u64_attr_cell(r, &f->detail, "op_id");
        conv_row_null(r);
        conv_row_null(r);
        conv_row_str(r, "");
        conv_cells_origin(f, r, e->track);
        u64_attr_cell(r, &f->detail, "exec_id");
        u64_attr_cell(r, &f->detail, "gid");
        conv_row_bool(r, e->flags & NTFF_EV_PARTIAL);
        conv_row_end(r);
    }
    return true;
}

#define COLUMNS(name) name, NTFF_ARRAY_LEN(name)
static const struct conv_table tables[] = {
    {"SystemProfileEvents", "runtime events", COLUMNS(events_columns), events_rows},
    {"Flow", "runtime events: arrows from host calls to executions", COLUMNS(flow_columns),
     flow_rows},
    {"CpuUsage", "cpu_util.pb, system_profile.json", COLUMNS(cpu_columns), cpu_rows},
    {"HostMemUsage", "host_mem.pb, system_profile.json", COLUMNS(mem_columns), mem_rows},
    {"SystemProfileHbmUsage", "runtime events: nrt_dma_mem_alloc, nrt_dma_mem_dealloc",
     COLUMNS(hbm_columns), hbm_rows},
    {"HbmUsageSummaryByType", "the same: high-water marks", COLUMNS(by_type_columns), by_type_rows},
    {"HbmAllocation", "the same: pairs by address", COLUMNS(allocation_columns), allocation_rows},
    {"ExecutionInfo", "runtime events: nc_exec_running", COLUMNS(execution_columns),
     execution_rows},
    {"CcOp", "runtime events: cc_running, cc_exec_barrier", COLUMNS(cc_columns), cc_rows},
};
const struct conv_table_list conv_tables_system = {tables, NTFF_ARRAY_LEN(tables)};
