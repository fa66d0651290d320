/* tables_about - tables about the profile itself: what was captured, sums, warnings, and the
 * schema. */
#include "conv/conv.h"
#include "conv/figtext.h"
#include "conv/tables.h"
#include "conv/times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA_VERSION "12.0.1" /* of the names used here [PQ] */

/* The value of a fact by key, from the first file that has it; NULL if none does. */
static const char *fact(const struct ntff_trace *t, const char *key)
{
    for (size_t i = 0; i < t->n_files; i++)
        for (size_t k = 0; k < t->files[i].facts.n; k++)
            if (strcmp(ntff_str_of(t, t->files[i].facts.v[k].key), key) == 0)
                return ntff_str_of(t, t->files[i].facts.v[k].value);
    return NULL;
}

/* The leading number of a fact; null without one. */
static void fact_number_cell(struct conv_rows *r, const struct ntff_trace *t, const char *key)
{
    const char *text = fact(t, key);
    char *end;
    unsigned long long v = text ? strtoull(text, &end, 10) : 0;
    if (text && end != text)
        conv_row_u64(r, v);
    else
        conv_row_null(r);
}

/* -- Metadata, SystemProfileMetadata --------------------------------------------------------------
 */

static const struct conv_column metadata_columns[] = {
    {"profile_schema_version", "string", "", true},
    {"ntff_version", "i32", "", true},
    {"num_physical_cores", "i32", "", true},
    {"vnc_enabled", "bool", "", true},
    {"first_hw_timestamp", "i64", "nanoseconds", true},
    {"last_hw_timestamp", "i64", "nanoseconds", true},
    {"first_ts", "string", "", true},
    {"last_ts", "string", "", true},
    {"dma_ddr_bandwidth", "f32", "bytes_per_second", true},
    {"num_dma_engines_per_neuroncore", "i32", "", true},
    {"hbm_ddr_bandwidth", "f32", "bytes_per_second", true},
    {"tensor_engine_num_rows", "i64", "", true},
    {"tensor_engine_num_cols", "i64", "", true},
    {"tensor_engine_clock_freq", "f32", "gigahertz", true},
    {"vector_engine_clock_freq", "f32", "gigahertz", true},
    {"vector_engine_num_channels", "i64", "", true},
    {"scalar_engine_clock_freq", "f32", "gigahertz", true},
    {"scalar_engine_num_channels", "i64", "", true},
    {"gpsimd_engine_clock_freq", "f32", "gigahertz", true},
    {"gpsimd_engine_num_channels", "i64", "", true},
    {"neuroncore_clock_freq", "f32", "gigahertz", true},
    {"ticks_per_nanosec", "i64", "", true},
    {"runtime_version", "string", "", false},
    {"collectives_version", "string", "", false},
    {"driver_version", "string", "", false},
    {"x_converter", "string", "", false},
};
enum { FIRST_UNKNOWN = 8, N_UNKNOWN = 14 }; /* bandwidths, sizes, frequencies: not in the files */

static bool metadata_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    uint64_t begin = UINT64_MAX, end = 0, pcores = 0;
    bool several = false;
    char date[48];
    for (size_t i = 0; i < f->figures->cores.n; i++) {
        const struct conv_core *c = &f->figures->cores.v[i];
        pcores += c->n_pcores;
        several |= c->n_pcores > 1;
        if (c->n_listed && c->begin_ns < begin)
            begin = c->begin_ns;
        end = c->end_ns > end ? c->end_ns : end;
    }
    for (size_t i = 0; i < f->figures->devices.n; i++) {
        const struct conv_device *d = &f->figures->devices.v[i];
        if (d->end_ns && d->begin_ns < begin)
            begin = d->begin_ns;
        end = d->end_ns > end ? d->end_ns : end;
    }
    conv_row_str(r, SCHEMA_VERSION);
    fact_number_cell(r, t, "format version");
    conv_row_u64(r, pcores ? pcores : f->figures->devices.n);
    conv_row_bool(r, several);
    if (end) {
        conv_row_u64(r, begin);
        conv_row_u64(r, end);
    } else {
        conv_row_null(r);
        conv_row_null(r);
    }
    conv_row_str(r, conv_date(t->begin_ns, date));
    conv_row_str(r, conv_date(t->end_ns, date));
    for (int i = 0; i < N_UNKNOWN; i++)
        conv_row_null(r);
    conv_row_str(r, fact(t, "neuron_runtime_version"));
    conv_row_str(r, fact(t, "neuron_collectives_version"));
    conv_row_str(r, fact(t, "neuron_driver_version"));
    conv_row_str(r, "ntff-conv " NTFF_VERSION);
    conv_row_end(r);
    return true;
}

static const struct conv_column system_columns[] = {
    {"first_ts", "string", "", true},        {"last_ts", "string", "", true},
    {"first_ts_ns", "string", "", true},     {"last_ts_ns", "string", "", true},
    {"ntff_version", "i64", "", true},       {"hbm_capacity_bytes", "i64", "bytes", true},
    {"x_instance_type", "string", "", true},
};

static bool system_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    char text[48];
    conv_row_str(r, conv_date(t->begin_ns, text));
    conv_row_str(r, conv_date(t->end_ns, text));
    snprintf(text, sizeof text, "%" PRIu64, t->begin_ns);
    conv_row_str(r, text);
    snprintf(text, sizeof text, "%" PRIu64, t->end_ns);
    conv_row_str(r, text);
    fact_number_cell(r, t, "ntff_version");
    fact_number_cell(r, t, "hbm_capacity_bytes");
    conv_row_str(r, fact(t, "instance_type"));
    conv_row_end(r);
    return true;
}

/* -- DeviceProfileList ----------------------------------------------------------------------------
 */

static const struct conv_column profile_columns[] = {
    {"device_profile_name", "string", "", true},
    {"instance_id", "string", "", true},
    {"process_id", "i64", "", true},
    {"nc_id", "i64", "", true},
    {"session_id", "i64", "", false},
    {"model_id", "i64", "", false},
};

/* The number behind a word in a file name: "..._vnc_3.ntff" -> 3. */
static void name_number_cell(struct conv_rows *r, const char *name, const char *word,
                             const char *other)
{
    const char *p = strstr(name, word);
    size_t len = strlen(word);
    if (!p && other)
        p = strstr(name, other), len = strlen(other);
    if (p && p[len] >= '0' && p[len] <= '9')
        conv_row_u64(r, strtoull(p + len, NULL, 10));
    else
        conv_row_null(r);
}

static bool profile_rows(struct conv_filler *f, struct conv_rows *r)
{
    const struct ntff_trace *t = f->t;
    for (size_t i = 0; i < t->n_files; i++) {
        const struct ntff_file *file = &t->files[i];
        if (file->kind != NTFF_FILE_NTFF)
            continue;
        const char *path = ntff_str_of(t, file->path), *name = strrchr(path, '/');
        const struct ntff_process *p =
            file->process < t->n_processes ? &t->processes[file->process] : NULL;
        name = name ? name + 1 : path;
        size_t len = strlen(name);
        if (len > 5 && strcmp(name + len - 5, ".ntff") == 0)
            len -= 5;
        conv_row_text(r, name, len);
        conv_row_str(r, p ? ntff_str_of(t, p->instance) : "");
        if (p && p->pid)
            conv_row_u64(r, p->pid);
        else
            conv_row_null(r);
        name_number_cell(r, name, "vnc_", "_nc_");
        name_number_cell(r, name, "session_", NULL);
        /* model mode: <model id>_instid_...; the number may be a hash of more than 64 bits */
        size_t digits = strspn(name, "0123456789");
        if (digits > 0 && digits < 20 && strncmp(name + digits, "_instid_", 8) == 0)
            conv_row_u64(r, strtoull(name, NULL, 10));
        else
            conv_row_null(r);
        conv_row_end(r);
    }
    return true;
}

/* -- Summary --------------------------------------------------------------------------------------
 */

#define ENGINE(name)                                                                               \
    {name "_engine_instruction_time", "f32", "seconds", false},                                    \
        {name "_engine_active_time", "f32", "seconds", false},                                     \
        {name "_engine_active_time_percent", "f32", "fraction (0-1)", false},                      \
    {                                                                                              \
        name "_engine_instruction_count", "i64", "", false                                         \
    }

static const struct conv_column summary_columns[] = {
    {"total_time", "f32", "seconds", false},
    {"dma_active_time", "f32", "seconds", false},
    {"dma_active_time_percent", "f32", "fraction (0-1)", false},
    {"dma_transfer_average_bytes", "f32", "bytes", false},
    {"dma_packet_time", "f32", "seconds", false},
    {"dma_transfer_count", "i64", "", false},
    {"dma_transfer_total_bytes", "i64", "bytes", false},
    {"dma_queue_count", "i64", "", false},
    ENGINE("tensor"),
    ENGINE("vector"),
    ENGINE("scalar"),
    ENGINE("sync"),
    ENGINE("gpsimd"),
    {"total_exec_time", "f32", "seconds", false},
    {"total_active_time", "f32", "seconds", false},
    {"total_active_time_percent", "f32", "fraction (0-1)", false},
    {"x_process_id", "i64", "", false},
    {"x_nc_idx", "i64", "", false},
    {"x_core_idx", "i64", "", false},
};

static void seconds_cell(struct conv_rows *r, uint64_t ns)
{
    conv_row_double(r, (double)ns / 1e9);
}

static void engine_cells(struct conv_filler *f, struct conv_rows *r, uint32_t device,
                         const char *name)
{
    const struct conv_figures *g = f->figures;
    for (size_t i = 0; i < g->engines.n; i++) {
        const struct conv_engine *e = &g->engines.v[i];
        const char *track = ntff_str_of(f->t, f->t->tracks[e->track].name);
        if (e->device != device || strncmp(track, name, strlen(name)) != 0)
            continue;
        const struct conv_device *d = &g->devices.v[device];
        seconds_cell(r, e->lengths.sum_ns);
        seconds_cell(r, e->active_ns);
        conv_cell_share(r, e->active_ns, d->end_ns - d->begin_ns);
        conv_row_u64(r, e->lengths.n);
        return;
    }
    for (int i = 0; i < 4; i++)
        conv_row_null(r);
}

/* Time of the executions of a physical core, from the system trace. */
static uint64_t executed_ns(struct conv_filler *f, const struct conv_device *d)
{
    const struct ntff_trace *t = f->t;
    uint64_t sum = 0;
    for (uint32_t k = 0; k < t->n_tracks; k++) {
        const struct ntff_track *tr = &t->tracks[k];
        if (tr->kind != NTFF_TRACK_EXEC || tr->process != d->process || tr->nc != d->nc ||
            tr->core != d->core)
            continue;
        for (uint32_t i = t->first[k]; i < t->first[k + 1]; i++) {
            const struct ntff_event *e = &t->events[t->order[i]];
            if (strcmp(ntff_str_of(t, e->name), "nc_exec_running") == 0 &&
                !(e->flags & (NTFF_EV_UNFINISHED | NTFF_EV_START_LOST)))
                sum += e->dur_ns;
        }
    }
    return sum;
}

/* A row for each physical core with a device profile. */
static bool summary_rows(struct conv_filler *f, struct conv_rows *r)
{
    static const char *const engines[] = {"Tensor", "Vector", "Scalar", "Sync", "GpSimd"};
    const struct conv_figures *g = f->figures;
    for (uint32_t i = 0; i < g->devices.n; i++) {
        const struct conv_device *d = &g->devices.v[i];
        uint64_t window = d->end_ns - d->begin_ns;
        uint64_t executed = executed_ns(f, d);
        bool dma = d->n_packets > 0, sized = d->n_sized > 0;
        if (window == 0)
            continue;
        seconds_cell(r, window);
        dma ? seconds_cell(r, d->dma_active_ns) : conv_row_null(r);
        dma ? conv_cell_share(r, d->dma_active_ns, window) : conv_row_null(r);
        sized ? conv_row_double(r, (double)d->bytes / (double)d->n_sized) : conv_row_null(r);
        dma ? seconds_cell(r, d->packets.sum_ns) : conv_row_null(r);
        dma ? conv_row_u64(r, d->n_packets) : conv_row_null(r);
        sized ? conv_row_u64(r, d->bytes) : conv_row_null(r);
        dma ? conv_row_u64(r, d->n_queues) : conv_row_null(r);
        for (size_t k = 0; k < NTFF_ARRAY_LEN(engines); k++)
            engine_cells(f, r, i, engines[k]);
        executed ? seconds_cell(r, executed) : conv_row_null(r);
        seconds_cell(r, d->active_ns);
        conv_cell_share(r, d->active_ns, window);
        if (d->process < f->t->n_processes && f->t->processes[d->process].pid)
            conv_row_u64(r, f->t->processes[d->process].pid);
        else
            conv_row_null(r);
        conv_cell_index(r, d->nc);
        conv_cell_index(r, d->core);
        conv_row_end(r);
    }
    return true;
}

/* -- Warning, SchemaFields ------------------------------------------------------------------------
 */

static const struct conv_column warning_columns[] = {
    {"message", "string", "", true},
    {"category", "string", "", true},
    {"x_count", "i64", "", false},
};

static bool warning_rows(struct conv_filler *f, struct conv_rows *r)
{
    static const char *const grades[] = {"note", "repair", "loss"};
    for (int grade = NTFF_LOSS; grade >= NTFF_NOTE; grade--)
        for (int k = 0; k < NTFF_DIAG_COUNT; k++) {
            char line[1024];
            if (f->diag->of[k].count == 0 || (int)ntff_diag_grade(k) != grade)
                continue;
            conv_row_text(r, line, ntff_diag_line(f->diag, k, line, sizeof line));
            conv_row_str(r, grades[grade]);
            conv_row_u64(r, f->diag->of[k].count);
            conv_row_end(r);
        }
    return true;
}

static const struct conv_column schema_columns[] = {
    {"table_name", "string", "", true},  {"table_description", "string", "", true},
    {"field_name", "string", "", true},  {"field_description", "string", "", true},
    {"field_type", "string", "", true},  {"field_required", "bool", "", true},
    {"field_unit", "string", "", false}, {"field_minimum", "f32", "", false},
    {"field_maximum", "f32", "", false},
};

/* Where a name alone would mislead. */
static const char *column_about(const struct conv_table *t, const struct conv_column *c)
{
    bool system = strcmp(t->name, "SystemProfileEvents") == 0;
    if (strcmp(c->name, "pcore_idx") == 0)
        return system ? "physical core as the record says, device_core_idx: x_core_idx of other "
                        "tables"
                      : "physical core, counted from 0 inside its logical core: x_core_idx is the "
                        "machine's number";
    if (strcmp(c->name, "x_core_idx") == 0)
        return "physical core, device_core_idx of runtime events: pcore_idx of "
               "SystemProfileEvents; not a column the vendor documents by name";
    return strncmp(c->name, "x_", 2) == 0 ? "not a column the vendor documents by name" : "";
}

static bool schema_rows(struct conv_filler *f, struct conv_rows *r)
{
    (void)f;
    for (size_t i = 0; i < conv_table_count(); i++) {
        const struct conv_table *t = conv_table_at(i);
        for (size_t k = 0; t->rows && k < t->n_columns; k++) {
            const struct conv_column *c = &t->columns[k];
            double max = strstr(c->unit, "0-100") ? 100 : strstr(c->unit, "0-1") ? 1 : -1;
            conv_row_str(r, t->name);
            conv_row_str(r, t->from);
            conv_row_str(r, c->name);
            conv_row_str(r, column_about(t, c));
            conv_row_str(r, c->type);
            conv_row_bool(r, c->required);
            conv_row_str(r, *c->unit ? c->unit : NULL);
            if (max > 0) {
                conv_row_u64(r, 0);
                conv_row_double(r, max);
            } else {
                conv_row_null(r);
                conv_row_null(r);
            }
            conv_row_end(r);
        }
    }
    return true;
}

#define COLUMNS(name) name, NTFF_ARRAY_LEN(name)
static const struct conv_table tables[] = {
    {"Metadata", "every input", COLUMNS(metadata_columns), metadata_rows},
    {"SystemProfileMetadata", "every input", COLUMNS(system_columns), system_rows},
    {"DeviceProfileList", ".ntff files", COLUMNS(profile_columns), profile_rows},
    {"Summary", ".ntff: a row for each physical core", COLUMNS(summary_columns), summary_rows},
    {"Warning", "every input: losses, repairs, notes", COLUMNS(warning_columns), warning_rows},
    {"SchemaFields", "these tables themselves", COLUMNS(schema_columns), schema_rows},
};
const struct conv_table_list conv_tables_about = {tables, NTFF_ARRAY_LEN(tables)};
