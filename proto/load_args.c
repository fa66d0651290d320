/* load_args - see load_args.h. */
#include "proto/load_args.h"

#include "proto/near.h"
#include "proto/notif.h"

#include <ctype.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLAG, TEXT, ENGINES, CLOCK, GROUP, BYTES, JOBS, SCHEMA };

#define IN_OPTIONS(member) offsetof(struct ntff_load_setup, options.member)

static const struct ntff_load_arg table[] = {
    {"schema", NULL, "FILE|auto",
     "field numbers from FILE: a libnrt.so, a FileDescriptorSet or a FileDescriptorProto; auto "
     "looks for the libnrt.so of this machine (default: $NTFF_SCHEMA, else built-in)",
     SCHEMA, offsetof(struct ntff_load_setup, schema_path)},
    {"clock", NULL, "auto|fit|sync-point|nearest|device|recorded",
     "how device times become host times", CLOCK, IN_OPTIONS(clock)},
    {"align-instances", NULL, NULL,
     "shift instances against each other so that common collectives end together", FLAG,
     IN_OPTIONS(align_instances)},
    {"system-trace-filter-neuron-core", "core", "LIST",
     "only these logical cores: \"0,2\" or \"0-3\"", TEXT, IN_OPTIONS(filter_core)},
    {"system-trace-filter-event-type", "type", "LIST",
     "only these event types, by the name shown (nc_exec_running) or the enum's "
     "(DEVICE_EXEC, NRT_SYS_TRACE_EVENT_TYPE_DEVICE_EXEC), in any case, or number (47); "
     "\"hardware\", "
     "\"software\"; ^NAME leaves out; device profiles stay: --no-device leaves them out",
     TEXT, IN_OPTIONS(filter_type)},
    {"system-trace-filter-process-id", "process", "LIST", "only these process ids", TEXT,
     IN_OPTIONS(filter_process)},
    {"system-trace-filter-instance-id", "instance", "LIST", "only these instances", TEXT,
     IN_OPTIONS(filter_instance)},
    {"system-trace-primary-group", "primary-group", "FIELDS",
     "what makes a process in the output, of instance_id, process_id, lnc_idx, thread_id, "
     "worker_gid "
     "(default: instance_id,process_id)",
     GROUP, IN_OPTIONS(primary_group)},
    {"system-trace-secondary-group", "secondary-group", "FIELDS",
     "what makes a row in it (default: worker_gid,lnc_idx,thread_id)", GROUP,
     IN_OPTIONS(secondary_group)},
    {"engine", NULL, "LIST",
     "device profiles: only these engines (\"PE,ACT\" or \"Tensor,Scalar\")", ENGINES,
     IN_OPTIONS(filter_engine)},
    {"queue", NULL, "LIST", "device profiles: only these DMA queues", TEXT,
     IN_OPTIONS(filter_queue)},
    {"ignore-system-profile", "no-system", NULL, "read .ntff files only", FLAG,
     IN_OPTIONS(no_system)},
    {"ignore-device-profile", "no-device", NULL, "leave .ntff files alone", FLAG,
     IN_OPTIONS(no_device)},
    {"ignore-instruction-trace", "no-instructions", NULL, "device profiles: no instructions", FLAG,
     IN_OPTIONS(no_instructions)},
    {"ignore-dma-trace", "no-dma", NULL, "device profiles: no DMA", FLAG, IN_OPTIONS(no_dma)},
    {"no-semaphores", NULL, NULL, "device profiles: no semaphores", FLAG,
     IN_OPTIONS(no_semaphores)},
    {"no-flows", NULL, NULL, "no arrows from host to device", FLAG, IN_OPTIONS(no_flows)},
    {"max-memory", NULL, "SIZE",
     "stop when the trace needs more, such as 500M or 8G; 0 = no limit (default: half of the "
     "memory)",
     BYTES, IN_OPTIONS(max_memory)},
    {"jobs", NULL, "N",
     "use N threads; 1 = none besides the first (default: one per processor). The result is the "
     "same",
     JOBS, IN_OPTIONS(jobs)},
};

/* Options that have a letter besides. */
static const struct {
    char letter;
    const char *name;
} letters[] = {{'j', "jobs"}};

const struct ntff_load_arg *ntff_load_args(size_t *n)
{
    *n = NTFF_ARRAY_LEN(table);
    return table;
}

const struct ntff_load_arg *ntff_load_arg_find(const char *name)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(table); i++)
        if (strcmp(table[i].name, name) == 0 ||
            (table[i].alias && strcmp(table[i].alias, name) == 0))
            return &table[i];
    return NULL;
}

const struct ntff_load_arg *ntff_load_arg_letter(int letter)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(letters); i++)
        if (letters[i].letter == letter)
            return ntff_load_arg_find(letters[i].name);
    return NULL;
}

char ntff_load_arg_letter_of(const struct ntff_load_arg *a)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(letters); i++)
        if (strcmp(letters[i].name, a->name) == 0)
            return letters[i].letter;
    return '\0';
}

bool ntff_parse_bytes(const char *text, size_t *bytes)
{
    static const char units[] = "KMGT";
    size_t n = 0;
    const char *p = text;
    for (; isdigit((unsigned char)*p); p++)
        if (!ntff_mul_ok(n, 10, &n) || !ntff_add_ok(n, (size_t)(*p - '0'), &n))
            return false;
    if (p == text)
        return false;
    const char *unit = *p ? strchr(units, toupper((unsigned char)*p)) : NULL;
    if (unit) {
        for (const char *u = units; u <= unit; u++)
            if (!ntff_mul_ok(n, 1024, &n))
                return false;
        p += p[1] == 'i' && (p[2] == 'B' || p[2] == 'b') ? 2 : 0;
        p++;
    }
    if (*p == 'B' || *p == 'b')
        p++;
    *bytes = n;
    return *p == '\0';
}

static bool parse_jobs(const char *text, unsigned *jobs)
{
    char *end;
    unsigned long n = isdigit((unsigned char)text[0]) ? strtoul(text, &end, 10) : 0;
    if (n < 1 || n > 1024 || *end)
        return false;
    *jobs = (unsigned)n;
    return true;
}

/* -- mistakes -------------------------------------------------------------------------------------
 */

static void unknown_option(const char *word, const struct option *longs, char *out, size_t cap)
{
    const char *name = word + strspn(word, "-");
    size_t len = strcspn(name, "="), n = 0, at;
    struct ntff_near near = ntff_near_begin(name, len);
    for (const struct option *o = longs; o->name; o++) {
        n += strncmp(o->name, name, len) == 0;
        ntff_near_try(&near, o->name);
    }
    const char *meant = ntff_near_found(&near);
    if (n < 2) {
        snprintf(out, cap,
                 meant ? "unknown option %.100s; did you mean --%s?" : "unknown option %.100s",
                 word, meant);
        return;
    }
    at = (size_t)snprintf(out, cap, "ambiguous option %.100s:", word);
    for (const struct option *o = longs; o->name && at < cap; o++)
        if (strncmp(o->name, name, len) == 0)
            at += (size_t)snprintf(out + at, cap - at, " --%s", o->name);
}

/* Is optopt a letter that was met in a word of letters? For mistakes in a long option it is that
 * option's value, which may be a letter too, or 0. A char may be negative. */
static bool was_letter(int optopt_, const struct option *longs)
{
    bool of_long = optopt_ == 0;
    for (const struct option *o = longs; o->name && !of_long; o++)
        of_long = o->val == optopt_;
    return !of_long && optopt_ >= SCHAR_MIN && optopt_ <= UCHAR_MAX;
}

void ntff_option_mistake(int c, int optopt_, const char *word, const struct option *longs,
                         char *out, size_t cap)
{
    bool letter = was_letter(optopt_, longs);
    unsigned byte = (unsigned char)optopt_;
    char short_form[8];
    snprintf(short_form, sizeof short_form, byte > 0x20 && byte < 0x7f ? "-%c" : "-\\x%02X", byte);
    const char *name = letter ? short_form : word;
    if (c == ':')
        snprintf(out, cap, "%.150s: needs a value", name);
    else if (letter)
        snprintf(out, cap, "unknown option %s", name);
    else if (optopt_ != 0)
        snprintf(out, cap, "%.150s: takes no value", name);
    else
        unknown_option(word, longs, out, cap);
}

static bool is_word(const char *p, size_t n, const char *word)
{
    return strlen(word) == n && strncasecmp(p, word, n) == 0;
}

/* Are all items of a list engines, or CC-cores? Those are numbered, and named by the file. */
static bool known_engines(const char *list)
{
    for (const char *p = list; *p; p += *p == ',') {
        p += strspn(p, " ^");
        size_t n = strcspn(p, ","), len = n;
        while (len && p[len - 1] == ' ')
            len--;
        bool known = len == 0 || strncasecmp(p, "CC", 2) == 0;
        for (unsigned e = 0; e < NTFF_N_ENGINES && !known; e++)
            known = is_word(p, len, ntff_engine_code(e)) || is_word(p, len, ntff_engine_name(e));
        if (!known)
            return false;
        p += n;
    }
    return true;
}

static int bad(struct ntff_error *err, const struct ntff_load_arg *a, const char *value,
               const char *expected)
{
    ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "--%s %s: expected %s", a->name, value, expected);
    return -1;
}

int ntff_load_args_apply(struct ntff_load_setup *s, const struct ntff_load_arg *a,
                         const char *value, struct ntff_error *err)
{
    void *at = (char *)s + a->offset;
    int mode;
    switch (a->kind) {
    case FLAG:
        *(bool *)at = true;
        return 0;
    case TEXT:
    case SCHEMA:
        *(const char **)at = value;
        return 0;
    case ENGINES:
        *(const char **)at = value;
        return known_engines(value)
                   ? 0
                   : bad(err, a, value,
                         "a list of PE (Tensor), ACT (Scalar), POOL (GpSimd), DVE (Vector), SP "
                         "(Sync), CC-core");
    case CLOCK:
        mode = ntff_clock_mode_parse(value);
        if (mode < 0)
            return bad(err, a, value, "auto, fit, sync-point, nearest, device or recorded");
        *(enum ntff_clock_mode *)at = (enum ntff_clock_mode)mode;
        return 0;
    case GROUP:
        *(int *)at = ntff_group_parse(value);
        if (*(int *)at <= 0)
            return bad(err, a, value,
                       "a list of instance_id, process_id, lnc_idx, thread_id, worker_gid");
        return 0;
    case JOBS:
        if (!parse_jobs(value, at))
            return bad(err, a, value, "a number of threads, 1 to 1024");
        return 0;
    default: /* BYTES */
        s->memory_given = true;
        if (!ntff_parse_bytes(value, at))
            return bad(err, a, value, "a size such as 500M or 8G");
        return 0;
    }
}

enum ntff_status ntff_load_setup_finish(struct ntff_load_setup *s, const char *env_schema,
                                        struct ntff_error *err)
{
    const char *path = s->schema_path ? s->schema_path : env_schema;
    if (path && *path) {
        enum ntff_status status =
            ntff_schema_open(path, getenv("LD_LIBRARY_PATH"), &s->schema, err);
        if (status != NTFF_OK)
            return status;
        s->options.schema = s->schema;
    }
    if (!s->memory_given) {
        long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
        size_t all;
        if (pages > 0 && page > 0 && ntff_mul_ok((size_t)pages, (size_t)page, &all))
            s->options.max_memory = all / 2;
    }
    return NTFF_OK;
}

void ntff_load_setup_done(struct ntff_load_setup *s)
{
    ntff_schema_free(s->schema);
    *s = (struct ntff_load_setup){0};
}
