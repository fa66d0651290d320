/* load - from paths to a trace.
 *
 * Directories are searched recursively in name order; each file is recognised by its content and
 * handed to its decoder; files that are something else are noted. A process is one directory
 * (sys-trace facts: FORMAT.md, "Ids"): the nearest one named <instance>_pid_<pid> or
 * <instance>-<pid> above the file, else the file's own, where a directory of digits only is a
 * capture session of its parent [AWS:HP] [API]. */
#include "proto/builder.h"

#include "proto/decode_host.h"
#include "proto/foreign.h"
#include "proto/paths.h"
#include "proto/twins.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct entry {
    ntff_str path;     /* as shown */
    const char *where; /* as it is: a file's name need not be text */
    bool named;        /* given by the user, not found in a directory */
};

struct loader {
    struct ntff_builder b;
    NTFF_VEC(struct entry) entries;
    NTFF_VEC(struct entry)
    profiles;             /* .ntff files, read last: the system trace says where they belong */
    bool last;            /* reading those */
    bool once;            /* something cannot be read twice */
    struct ntff_map seen; /* files and directories met: (dev, ino) */
    struct ntff_twins twins;
    size_t n_named, n_unreadable;
    bool missing;      /* a path the user named does not exist */
    bool told_damaged; /* of this file decode_host.c tells where its data ends */
    struct ntff_error *err;
};

/* -- options ------------------------------------------------------------------------------------
 */

int ntff_group_parse(const char *text)
{
    static const struct {
        const char *name;
        int bit;
    } fields[] = {{"instance_id", NTFF_BY_INSTANCE},
                  {"process_id", NTFF_BY_PROCESS},
                  {"lnc_idx", NTFF_BY_NC},
                  {"thread_id", NTFF_BY_THREAD},
                  {"worker_gid", NTFF_BY_GID}};
    int mask = 0;
    for (const char *p = text; *p;) {
        p += strspn(p, ", ");
        size_t n = strcspn(p, ", "), i = 0;
        if (n == 0)
            break;
        while (i < NTFF_ARRAY_LEN(fields) &&
               !(strlen(fields[i].name) == n && memcmp(fields[i].name, p, n) == 0))
            i++;
        if (i == NTFF_ARRAY_LEN(fields))
            return -1;
        mask |= fields[i].bit;
        p += n;
    }
    return mask ? mask : -1;
}

/* -- which process a file belongs to --------------------------------------------------------------
 */

/* "<instance>_pid_<pid>" or "<i-...>-<pid>" [API] [AWS:HP]. */
static bool process_name(const char *p, size_t n, size_t *instance_len, uint64_t *pid)
{
    size_t digits = n;
    while (digits > 0 && isdigit((unsigned char)p[digits - 1]))
        digits--;
    if (digits == n || n - digits > 10 || digits == 0)
        return false;
    *pid = strtoull(p + digits, NULL, 10);
    if (digits > 5 && memcmp(p + digits - 5, "_pid_", 5) == 0)
        *instance_len = digits - 5;
    else if (digits > 3 && memcmp(p, "i-", 2) == 0 && p[digits - 1] == '-')
        *instance_len = digits - 1;
    else
        return false;
    return true;
}

static bool all_digits(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isdigit((unsigned char)p[i]))
            return false;
    return n > 0;
}

static uint32_t process_of(struct ntff_builder *b, const char *path)
{
    char real[PATH_MAX];
    bool is_file = strcmp(path, "-") != 0;
    const char *p = is_file && realpath(path, real) ? real : path;
    if (is_file && p == path && errno == ENOMEM) {
        b->out_of_memory = true;
        return NTFF_NONE;
    }
    size_t end = strlen(p), dir_end = 0;
    bool session = false;
    while (end > 0 && p[end - 1] != '/')
        end--;
    for (size_t at = end; at > 1;) { /* p[at - 1] is the slash after a directory */
        size_t stop = at - 1, start = stop, inst;
        uint64_t pid;
        while (start > 0 && p[start - 1] != '/')
            start--;
        if (process_name(p + start, stop - start, &inst, &pid)) {
            char instance[256], dir[PATH_MAX];
            snprintf(instance, sizeof instance, "%.*s", (int)(inst < 255 ? inst : 255), p + start);
            snprintf(dir, sizeof dir, "%.*s", (int)stop, p);
            return ntff_build_process(b, instance, pid, dir);
        }
        if (at == end && all_digits(p + start, stop - start))
            session = true;
        if (at == end || (session && dir_end == 0))
            dir_end = session && at == end ? 0 : stop;
        at = start;
    }
    char dir[PATH_MAX];
    if (end == 0) /* a pipe, or a bare name that could not be resolved */
        snprintf(dir, sizeof dir, "%s", strcmp(path, "-") == 0 ? "standard input" : ".");
    else
        snprintf(dir, sizeof dir, "%.*s", (int)(dir_end ? dir_end : 1), p);
    return ntff_build_process(b, "", 0, dir);
}

/* -- files ----------------------------------------------------------------------------------------
 */

static bool no_memory(struct loader *l)
{
    l->b.out_of_memory = true;
    return false;
}

static uint32_t add_file(struct loader *l, ntff_str path, enum ntff_file_kind kind, uint32_t proc)
{
    struct ntff_builder *b = &l->b;
    struct ntff_file *f = NTFF_VEC_PUSH(b->budget, &b->files);
    if (!f)
        return no_memory(l), NTFF_NONE;
    *f = (struct ntff_file){.path = path, .kind = (uint8_t)kind, .process = proc};
    b->t->files = b->files.v;
    b->t->n_files = b->files.n;
    return (uint32_t)(b->files.n - 1);
}

/* A file that is none of ours: worth a note inside a directory, a loss when it was asked for by
 * name. */
static void not_ours(struct loader *l, const struct entry *e, struct ntff_slice head)
{
    const char *path = ntff_text(&l->b.t->strs, e->path);
    const uint8_t *h = (const uint8_t *)head.p;
    const char *archive = ntff_archive(head);
    if (e->named && archive)
        ntff_diag_add(l->b.diag, NTFF_DIAG_BAD_FRAMING, 1, path, 0, "%s", archive);
    else if (e->named)
        ntff_diag_add(l->b.diag, NTFF_DIAG_BAD_FRAMING, 1, path, 0,
                      "begins %02x %02x %02x %02x; expected ntrace.pb, trace_info.pb, cpu_util.pb, "
                      "host_mem.pb, .ntff, event JSON or raw records",
                      head.len > 0 ? h[0] : 0, head.len > 1 ? h[1] : 0, head.len > 2 ? h[2] : 0,
                      head.len > 3 ? h[3] : 0);
    else
        ntff_diag_add(l->b.diag, NTFF_DIAG_OTHER_FILE, 1, path, NTFF_NO_OFFSET, NULL);
}

static bool keep_input(struct loader *l, struct ntff_input *in)
{
    struct ntff_input **x = NTFF_VEC_PUSH(l->b.budget, &l->b.t->owned->inputs);
    if (!x)
        return no_memory(l);
    *x = in;
    return true;
}

/* A mapped file: raw records or one of the protobuf files. */
static bool mapped_file(struct loader *l, const struct entry *e, struct ntff_input *in, bool *kept)
{
    struct ntff_builder *b = &l->b;
    struct ntff_probe probe = {.kind = NTFF_FILE_UNKNOWN};
    struct ntff_slice head = ntff_input_head(in);
    bool elf = head.len >= 4 && memcmp(head.p,
                                       "\x7f"
                                       "ELF",
                                       4) == 0;
    if (!elf && ntff_probe_raw112(in->data, in->len))
        probe = (struct ntff_probe){.kind = NTFF_FILE_RAW112, .exact = in->len % 112 == 0};
    else if (!elf)
        ntff_probe_pb(in->data, in->len, b->schema, &probe);
    if (probe.kind == NTFF_FILE_UNKNOWN) {
        not_ours(l, e, head);
        return true;
    }
    if (b->opt->no_system)
        return true;
    uint32_t proc = process_of(b, e->where);
    uint32_t file = proc == NTFF_NONE ? NTFF_NONE : add_file(l, e->path, probe.kind, proc);
    if (file == NTFF_NONE || !keep_input(l, in))
        return false;
    *kept = true;
    if (probe.kind == NTFF_FILE_NTRACE &&
        !ntff_twins_add(&l->twins, b->budget, in, NTFF_FILE_NTRACE))
        return no_memory(l);
    b->files.v[file].gzip = in->gzip;
    b->files.v[file].cut = in->damaged;
    b->files.v[file].size_bytes = in->len;
    l->told_damaged = true;
    return ntff_decode_host(b, in, &probe, file, proc);
}

/* What comes behind blanks may be anything. */
static bool only_blanks(struct ntff_slice s)
{
    size_t i = 0;
    while (i < s.len && (s.p[i] == ' ' || s.p[i] == '\n' || s.p[i] == '\r' || s.p[i] == '\t'))
        i++;
    return i == s.len;
}

static enum ntff_status decode(struct loader *l, const struct entry *e, struct ntff_input *in,
                               bool *kept)
{
    struct ntff_builder *b = &l->b;
    struct ntff_slice head = ntff_input_head(in);
    if (ntff_archive(head)) {
        not_ours(l, e, head);
        return NTFF_OK;
    }
    bool ntff = ntff_ntff_sniff(head, in->gzip ? 0 : in->file_len),
         json = !ntff && ntff_json_sniff(head),
         far = !ntff && !json && (e->named || only_blanks(head)) && ntff_json_far(head);
    json |= far;
    enum ntff_status s;
    if (ntff && !l->last && strcmp(in->path, "-") != 0 && in->file_len > 0) { /* readable twice */
        struct entry *later = NTFF_VEC_PUSH(b->budget, &l->profiles);
        if (!later)
            return NTFF_NOMEM;
        *later = *e;
        return NTFF_OK;
    }
    if ((ntff && b->opt->no_device) || (json && b->opt->no_system))
        return NTFF_OK;
    if (!json && (s = ntff_input_map(in, l->err)))
        return s;
    if (!ntff && !json)
        return mapped_file(l, e, in, kept) ? NTFF_OK : NTFF_NOMEM;
    uint32_t proc = process_of(b, e->where);
    uint32_t file = proc == NTFF_NONE
                        ? NTFF_NONE
                        : add_file(l, e->path, ntff ? NTFF_FILE_NTFF : NTFF_FILE_EVENT_JSON, proc);
    if (file == NTFF_NONE)
        return NTFF_NOMEM;
    b->files.v[file].gzip = in->gzip;
    b->files.v[file].size_bytes = json ? in->file_len : in->len;
    if (json) {
        if (!ntff_decode_host_waiting(b)) /* records stay in the order of the files */
            return NTFF_NOMEM;
        s = ntff_decode_json(b, in, file, proc, l->err);
        if (s == NTFF_OK && far && b->files.v[file].n_records == 0) {
            b->files.v[file].kind = NTFF_FILE_UNKNOWN;
            not_ours(l, e, head);
        }
        return s;
    }
    if (!keep_input(l, in))
        return NTFF_NOMEM;
    *kept = true;
    if (!ntff_twins_add(&l->twins, b->budget, in, NTFF_FILE_NTFF))
        return NTFF_NOMEM;
    return ntff_decode_ntff(b, in, file, proc, l->err);
}

static void check_input(struct ntff_input *in, const char *path, struct ntff_diag *diag)
{
    if (in->told || !ntff_input_changed(in))
        return;
    in->told = true;
    ntff_diag_add(diag, NTFF_DIAG_FILE_CHANGED, 1, path, NTFF_NO_OFFSET,
                  "it had %" PRIu64 " bytes when it was opened", in->file_len);
}

void ntff_load_recheck(struct ntff_trace *t, struct ntff_diag *diag)
{
    for (size_t i = 0; i < t->owned->inputs.n; i++)
        check_input(t->owned->inputs.v[i], t->owned->inputs.v[i]->path, diag);
}

/* One file. False only when the whole load must end. */
static bool load_file(struct loader *l, const struct entry *e)
{
    struct ntff_builder *b = &l->b;
    const char *path = ntff_text(&b->t->strs, e->path);
    struct ntff_input *in = calloc(1, sizeof *in);
    struct ntff_error err = {0};
    bool kept = false;
    l->told_damaged = false;
    if (!in)
        return no_memory(l);
    enum ntff_status s = ntff_input_open_as(in, e->where, path, b->budget, &err);
    if (s == NTFF_OK && ntff_input_head(in).len == 0) {
        ntff_diag_add(b->diag, NTFF_DIAG_EMPTY_FILE, 1, path, NTFF_NO_OFFSET, NULL);
        uint32_t proc = process_of(b, e->where);
        if (proc == NTFF_NONE || add_file(l, e->path, NTFF_FILE_EMPTY, proc) == NTFF_NONE)
            s = NTFF_NOMEM;
    } else if (s == NTFF_OK) {
        l->err = &err;
        s = decode(l, e, in, &kept);
    }
    if (s == NTFF_OK && in->damaged && !l->told_damaged)
        ntff_diag_add(b->diag, NTFF_DIAG_TRUNCATED_FILE, 1, path, NTFF_NO_OFFSET,
                      "%s, %" PRIu64 " bytes unpacked", in->why, in->len);
    if (!kept && s == NTFF_OK)
        check_input(in, path, b->diag);
    if (!kept) {
        ntff_input_close(in);
        free(in);
    }
    if (b->out_of_memory || b->cancelled)
        return false;
    if (s != NTFF_OK) { /* this file is unusable, the others still are */
        ntff_diag_add(b->diag, NTFF_DIAG_UNREADABLE_FILE, 1, NULL, NTFF_NO_OFFSET, "%s",
                      err.text[0] ? err.text : ntff_status_text(s));
        l->n_unreadable++;
        return s != NTFF_NOMEM || no_memory(l);
    }
    return true;
}

/* -- directories ----------------------------------------------------------------------------------
 */

static bool add_entry(struct loader *l, const char *path, bool named)
{
    struct entry *e = NTFF_VEC_PUSH(l->b.budget, &l->entries);
    if (!e)
        return no_memory(l);
    e->named = named;
    e->path = ntff_intern(&l->b.t->strs, path, strlen(path));
    e->where = ntff_arena_text(&l->b.t->arena, path, strlen(path));
    return (e->path != NTFF_STR_NONE && e->where) || no_memory(l);
}

/* True the first time a file or directory is met: links may lead round in circles, and a session be
 * named beside its own files. False too when memory ran out. */
static bool first_visit(struct loader *l, const struct stat *st)
{
    struct ntff_map_slot *slot =
        ntff_map_at(&l->seen, (struct ntff_key){st->st_dev, st->st_ino, 0});
    if (!slot)
        return no_memory(l);
    bool first = slot->value == NTFF_NONE;
    slot->value = 1;
    return first;
}

static void repeated(struct loader *l, const char *path)
{
    ntff_diag_add(l->b.diag, NTFF_DIAG_REPEATED_FILE, 1, NULL, NTFF_NO_OFFSET, "%.150s", path);
}

static void unreadable(struct loader *l, const char *path, const char *what)
{
    l->n_unreadable++;
    ntff_diag_add(l->b.diag, NTFF_DIAG_UNREADABLE_FILE, 1, NULL, NTFF_NO_OFFSET, "%.100s: %s", path,
                  what);
}

static bool scan(struct loader *l, const char *path, bool named, int depth);

static bool scan_dir(struct loader *l, const char *path, int depth)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, NULL, versionsort);
    bool good = true;
    if (n < 0 && errno == ENOMEM)
        return no_memory(l);
    if (n < 0) {
        unreadable(l, path, strerror(errno));
        return true;
    }
    for (int i = 0; i < n; i++) {
        char sub[PATH_MAX];
        bool hidden = names[i]->d_name[0] == '.';
        size_t len = strlen(path);
        int k = snprintf(sub, sizeof sub, "%s%s%s", path, len && path[len - 1] == '/' ? "" : "/",
                         names[i]->d_name);
        if (good && !hidden && k > 0 && (size_t)k < sizeof sub)
            good = scan(l, sub, false, depth + 1);
        else if (good && !hidden)
            unreadable(l, path, "a name in it is too long");
        free(names[i]);
    }
    free(names);
    return good;
}

static bool scan(struct loader *l, const char *path, bool named, int depth)
{
    struct stat st;
    if (strcmp(path, "-") == 0 && named) {
        l->once = true;
        return add_entry(l, path, true);
    }
    if (stat(path, &st) != 0) {
        l->missing |= named && errno == ENOENT;
        unreadable(l, path, strerror(errno));
        return true;
    }
    bool dir = S_ISDIR(st.st_mode), file = S_ISREG(st.st_mode);
    if (!dir && !file) {
        l->once |= named;
        return !named || add_entry(l, path, true);
    }
    if (dir && depth > NTFF_MAX_DIR_DEPTH) {
        unreadable(l, path, "too many levels of directories");
        return true;
    }
    if (!first_visit(l, &st)) {
        if (file && !l->b.out_of_memory)
            repeated(l, path);
        return !l->b.out_of_memory;
    }
    if (file)
        return add_entry(l, path, named);
    return scan_dir(l, path, depth);
}

/* -- the load -------------------------------------------------------------------------------------
 */

static enum ntff_status begin(struct loader *l, const struct ntff_load_options *opt,
                              struct ntff_diag *diag, struct ntff_error *err)
{
    struct ntff_builder *b = &l->b;
    b->t = calloc(1, sizeof *b->t);
    if (!b->t)
        return NTFF_NOMEM;
    b->budget = &b->t->budget;
    b->budget->max_bytes = opt->max_memory;
    b->opt = opt;
    b->diag = diag;
    b->primary = opt->primary_group ? opt->primary_group : NTFF_PRIMARY_DEFAULT;
    b->secondary = opt->secondary_group ? opt->secondary_group : NTFF_SECONDARY_DEFAULT;
    for (size_t i = 0; i < NTFF_LATELY; i++)
        b->lately[i].value = NTFF_NONE;
    b->t->clock_mode = opt->clock;
    b->t->arena.budget = b->open.budget = b->rows.budget = b->by_name.budget = b->names.budget =
        b->budget;
    b->t->owned = calloc(1, sizeof *b->t->owned);
    if (!b->t->owned || !ntff_strtab_init(&b->t->strs, b->budget))
        return NTFF_NOMEM;
    b->t->owned->names.map.budget = l->seen.budget = b->budget;
    if (!(b->schema = opt->schema)) {
        enum ntff_status s = ntff_schema_builtin(&b->builtin, err);
        if (s)
            return s;
        b->schema = b->builtin;
    }
    b->t->schema = ntff_intern(&b->t->strs, b->schema->source, strlen(b->schema->source));
    return b->t->schema == NTFF_STR_NONE ? NTFF_NOMEM : ntff_builder_parse_filters(b, err);
}

/* Capture directories whose metadata is missing, once per process. */
static void note_missing_metadata(struct ntff_builder *b)
{
    for (uint32_t p = 0; p < b->processes.n; p++) {
        bool info = false, events = false;
        for (size_t i = 0; i < b->files.n; i++) {
            if (b->files.v[i].process != p)
                continue;
            info |= b->files.v[i].kind == NTFF_FILE_TRACE_INFO;
            events |= b->files.v[i].kind == NTFF_FILE_NTRACE;
        }
        if (events && !info)
            ntff_diag_add(b->diag, NTFF_DIAG_NO_METADATA, 1,
                          ntff_text(&b->t->strs, b->processes.v[p].dir), NTFF_NO_OFFSET, NULL);
    }
}

static enum ntff_status failed(const struct loader *l, struct ntff_error *err)
{
    if (l->b.cancelled)
        return ntff_fail(err, NTFF_CANCELLED, NTFF_NO_OFFSET, "cancelled");
    return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET,
                     l->b.budget && l->b.budget->refused
                         ? "the trace needs more than the memory limit of %zu bytes (--max-memory)"
                         : "out of memory",
                     l->b.budget ? l->b.budget->max_bytes : 0);
}

/* Whoever gave several captures must see which of them is meant. */
static void nothing_found(const struct loader *l, const char *const *paths, size_t n_paths,
                          struct ntff_error *err)
{
    char others[40] = "";
    if (n_paths > 1)
        snprintf(others, sizeof others, " and %zu other%s", n_paths - 1, n_paths > 2 ? "s" : "");
    ntff_fail(err, NTFF_NOTHING, NTFF_NO_OFFSET,
              "%.100s%s: no events found in %zu file%s; looked for ntrace.pb, cpu_util.pb, "
              "host_mem.pb, .ntff, event JSON",
              n_paths ? paths[0] : "", others, l->entries.n, l->entries.n == 1 ? "" : "s");
}

static enum ntff_status run(struct loader *l, const char *const *paths, size_t n_paths,
                            struct ntff_error *err)
{
    struct ntff_builder *b = &l->b;
    for (size_t i = 0; i < n_paths; i++)
        if (!scan(l, paths[i], true, 0))
            return failed(l, err);
    if (l->missing) /* a slip of the finger: better nothing than something else */
        return ntff_fail(err, NTFF_IO, NTFF_NO_OFFSET, "%s",
                         b->diag->of[NTFF_DIAG_UNREADABLE_FILE].detail);
    if (b->foresight && l->once) /* what is cut by mistake could not be read again */
        b->foresight->on = false;
    for (size_t i = 0; i < l->entries.n; i++)
        if (!load_file(l, &l->entries.v[i]))
            return failed(l, err);
    if (!ntff_decode_host_waiting(b) || !ntff_build_progress(b, "aligning", 0, 1) ||
        !ntff_build_finish_pairs(b) || !ntff_build_clocks(b))
        return failed(l, err);
    ntff_cut_foresee(b);
    l->last = true;
    for (size_t i = 0; i < l->profiles.n; i++)
        if (!load_file(l, &l->profiles.v[i]))
            return failed(l, err);
    if (l->entries.n == 0 && l->n_unreadable)
        return ntff_fail(err, NTFF_IO, NTFF_NO_OFFSET, "%s",
                         b->diag->of[NTFF_DIAG_UNREADABLE_FILE].detail);
    ntff_twins_tell(&l->twins, b->diag);
    ntff_load_recheck(b->t, b->diag);
    note_missing_metadata(b);
    enum ntff_status s = ntff_builder_check_filters(b, err);
    if (s != NTFF_OK)
        return s;
    if (!ntff_build_place(b) || !ntff_build_instances(b) ||
        !ntff_build_progress(b, "sorting", 0, 1) || !ntff_build_order(b))
        return failed(l, err);
    if (b->t->strs.bad_texts)
        ntff_diag_add(b->diag, NTFF_DIAG_BAD_TEXT, b->t->strs.bad_texts, NULL, NTFF_NO_OFFSET,
                      NULL);
    if (b->t->n_events + b->t->n_samples == 0 && b->diag->of[NTFF_DIAG_FILTERED_ALL].count)
        ntff_fail(err, NTFF_NOTHING, NTFF_NO_OFFSET, "nothing left after the filters");
    else if (b->t->n_events + b->t->n_samples == 0)
        nothing_found(l, paths, n_paths, err);
    return NTFF_OK;
}

static void end(struct loader *l)
{
    struct ntff_builder *b = &l->b;
    struct ntff_budget *m = b->budget;
    ntff_map_free(&b->open);
    ntff_map_free(&b->rows);
    ntff_map_free(&b->by_name);
    ntff_map_free(&b->names);
    NTFF_VEC_FREE(m, &b->halves);
    NTFF_VEC_FREE(m, &b->devs);
    NTFF_VEC_FREE(m, &b->syncs);
    NTFF_VEC_FREE(m, &b->ranges);
    NTFF_VEC_FREE(m, &b->zeros);
    NTFF_VEC_FREE(m, &b->cuts);
    NTFF_VEC_FREE(m, &b->links);
    NTFF_VEC_FREE(m, &b->rates);
    NTFF_VEC_FREE(m, &b->auxes);
    NTFF_VEC_FREE(m, &b->waiting);
    NTFF_VEC_FREE(m, &b->filter.cores);
    NTFF_VEC_FREE(m, &b->filter.names);
    for (size_t i = 0; i < NTFF_ARRAY_LEN(b->filter.names_met); i++)
        NTFF_VEC_FREE(m, &b->filter.names_met[i]);
    NTFF_VEC_FREE(m, &l->entries);
    NTFF_VEC_FREE(m, &l->profiles);
    NTFF_VEC_FREE(m, &l->twins.files);
    ntff_map_free(&l->seen);
    ntff_schema_free(b->builtin);
}

/* What a failed load leaves in the builder goes to the trace, so that one function frees it. */
static void abandon(struct loader *l)
{
    struct ntff_builder *b = &l->b;
    struct ntff_trace *t = b->t;
    if (!t)
        return;
    if (b->events.v)
        t->events = b->events.v;
    if (b->samples.v)
        t->samples = b->samples.v;
    if (b->flows.v)
        t->flows = b->flows.v;
    if (b->clocks.v) {
        t->clocks = b->clocks.v;
        t->n_clocks = b->clocks.n;
    }
    ntff_trace_free(t);
}

/* One load. *again: it was cut for a window that turned out to lie elsewhere, and *f now knows
 * where. */
static enum ntff_status load_once(const char *const *paths, size_t n_paths,
                                  const struct ntff_load_options *opt, struct ntff_foresight *f,
                                  struct ntff_trace **out, bool *again, struct ntff_diag *diag,
                                  struct ntff_error *err)
{
    struct loader *l = calloc(1, sizeof *l);
    *again = false;
    if (!l)
        return ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "out of memory");
    l->b.foresight = f;
    enum ntff_status s = begin(l, opt, diag, err);
    if (s == NTFF_OK)
        s = run(l, paths, n_paths, err);
    else if (s == NTFF_NOMEM)
        failed(l, err);
    if (s == NTFF_OK && !ntff_cut_good(&l->b)) {
        *again = true;
        f->on = !f->known && ntff_cut_learn(&l->b, f);
    }
    end(l);
    if (s == NTFF_OK && !*again)
        *out = l->b.t;
    else
        abandon(l);
    free(l);
    return s;
}

enum ntff_status ntff_load(const char *const *paths, size_t n_paths,
                           const struct ntff_load_options *opt, struct ntff_trace **out,
                           struct ntff_diag *diag, struct ntff_error *err)
{
    /* instances that are shifted against each other later take their windows along: not foreseen */
    struct ntff_foresight f = {.on = (opt->from.given || opt->to.given) && !opt->align_instances};
    struct ntff_diag before = *diag;
    enum ntff_status s = NTFF_OK;
    bool again = true;
    for (*out = NULL; again;) {
        s = load_once(paths, n_paths, opt, &f, out, &again, diag, err);
        if (again)
            *diag = before;
    }
    NTFF_VEC_FREE(NULL, &f.zeros);
    return s;
}
