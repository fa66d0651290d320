/* cmd_dump - ntff-conv dump: every field of every message of a file, as text. */
#include "conv/conv.h"

#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conv/figtext.h"
#include "conv/outfile.h"
#include "proto/dump_file.h"
#include "proto/foreign.h"
#include "proto/out.h"

struct settings {
    const char *schema, *type, *output;
    bool raw, names, records, offsets, force, quiet;
    size_t max_bytes;
};

static bool set_max(void *settings, const char *value, struct ntff_error *err)
{
    if (ntff_parse_bytes(value, &((struct settings *)settings)->max_bytes))
        return true;
    ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
              "--max-bytes: %s: expected a size such as 64 or 4K", value);
    return false;
}

static const struct conv_option options[] = {
    {"schema", 0, "FILE|auto",
     "names and numbers from FILE: a libnrt.so, a FileDescriptorSet or a FileDescriptorProto "
     "(default: $NTFF_SCHEMA, else built-in)",
     CONV_OPT_TEXT, offsetof(struct settings, schema), NULL},
    {"type", 't', "MESSAGE", "read FILE as this message of the schema, bare or behind lengths",
     CONV_OPT_TEXT, offsetof(struct settings, type), NULL},
    {"raw", 0, NULL, "by number only, in file order", CONV_OPT_FLAG, offsetof(struct settings, raw),
     NULL},
    {"names", 0, NULL, "the name of each event type as a comment behind its number", CONV_OPT_FLAG,
     offsetof(struct settings, names), NULL},
    {"records", 0, NULL, ".ntff: also every notification record, a comment line each",
     CONV_OPT_FLAG, offsetof(struct settings, records), NULL},
    {"offsets", 0, NULL, "the place of each message, as a comment before it", CONV_OPT_FLAG,
     offsetof(struct settings, offsets), NULL},
    {"max-bytes", 0, "N", "show at most N bytes of one value", CONV_OPT_SET, 0, set_max},
    {"output", 'o', "FILE", "write to FILE; .gz compresses", CONV_OPT_TEXT,
     offsetof(struct settings, output), NULL},
    {"force", 0, NULL, "replace FILE if it exists", CONV_OPT_FLAG, offsetof(struct settings, force),
     NULL},
    {"quiet", 'q', NULL, "no summary of damage on standard error", CONV_OPT_FLAG,
     offsetof(struct settings, quiet), NULL},
};

const struct conv_cli conv_cli_dump = {
    .command = "dump",
    .operands = "FILE...",
    .about =
        "Prints every field of every message of FILE as text, like protoc --decode: .ntff, "
        "ntrace.pb, trace_info.pb, cpu_util.pb, host_mem.pb, raw records, any other protobuf by "
        "number; plain or gzip; - is standard input. Lines that begin with # say how the file was "
        "read and what is damaged in it.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .min_operands = 1,
    .more =
        "Exit status: 0 all printed, 1 nothing printed, 2 usage, 3 printed with damage, or a FILE "
        "is missing in it.\n",
};

static bool to_out(void *user, const char *text, size_t len)
{
    ntff_out_write(user, text, len);
    return !ntff_out_failed(user);
}

static struct ntff_dump_options dump_options(const struct settings *o, const struct ntff_schema *s)
{
    const char *type = o->type && strncmp(o->type, "ntff.", 5) == 0 ? o->type + 5 : o->type;
    return (struct ntff_dump_options){
        .schema = s, .type = type, .raw = o->raw, .records = o->records, .offsets = o->offsets};
}

/* Dumps a mapped file; the exit code. */
static int dump_to(const struct settings *o, const struct ntff_schema *s,
                   const struct ntff_input *in, struct ntff_out *out, bool header)
{
    struct ntff_error err = {.offset = NTFF_NO_OFFSET};
    char a[64], b[64];
    struct ntff_dump d = {
        .write = to_out, .user = out, .max_bytes = o->max_bytes, .type_names = o->names};
    struct ntff_dump_options options_of_dump = dump_options(o, s);
    if (header)
        ntff_dump_comment(&d, "file %s", in->path);
    enum ntff_status status = ntff_dump_file(&d, in, &options_of_dump, &err);
    int code = d.n_damaged ? CONV_LOSSES : CONV_ALL; /* cutting values was asked for */
    if (status == NTFF_CANCELLED) {                  /* the output failed: it knows why */
        code = CONV_ALL;
    } else if (status != NTFF_OK) {
        conv_say("%s", err.text);
        code = status == NTFF_INVALID ? CONV_USAGE : CONV_NOTHING;
    } else if (code == CONV_LOSSES && !o->quiet) {
        conv_say("%s: %s, %s cut; see the lines with #", in->path,
                 conv_count(d.n_damaged, "damaged place", a), conv_count(d.n_cut, "value", b));
    }
    ntff_dump_done(&d);
    return code;
}

enum { EXAMPLES = 3, LEVELS = 3 };

static bool of_capture(const FTSENT *e)
{
    const char *dot = strrchr(e->fts_name, '.');
    return e->fts_info == FTS_F && dot && (strcmp(dot, ".pb") == 0 || strcmp(dot, ".ntff") == 0);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* A directory is not dumped; says which files of it can be. */
static void say_files(const char *dir)
{
    char *roots[] = {(char *)(uintptr_t)dir, NULL}, list[600] = "";
    size_t n = 0, at = 0;
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    for (FTSENT *e; tree && n < EXAMPLES && (e = fts_read(tree));) {
        if (e->fts_level >= LEVELS && e->fts_info == FTS_D)
            fts_set(tree, e, FTS_SKIP);
        if (!of_capture(e) || at + strlen(e->fts_path) + 3 > sizeof list)
            continue;
        at += (size_t)snprintf(list + at, sizeof list - at, "%s %s", n++ ? "," : "", e->fts_path);
    }
    if (tree)
        fts_close(tree);
    conv_say(n ? "%s: is a directory; dump takes files, such as%s" : "%s: is a directory%s", dir,
             list);
}

static bool is_directory(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* What is not mapped (pipes, gzip) may fill half of the memory. */
static size_t half_of_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    size_t bytes;
    if (pages <= 0 || page_bytes <= 0 || !ntff_mul_ok((size_t)pages, (size_t)page_bytes, &bytes))
        return 0;
    return bytes / 2;
}

static int dump_path(const struct settings *o, const struct ntff_schema *s, const char *path,
                     struct ntff_out *out, bool header)
{
    struct ntff_error err = {.offset = NTFF_NO_OFFSET};
    struct ntff_budget budget = {.max_bytes = half_of_memory()};
    struct ntff_input in;
    int code = CONV_NOTHING;
    if (is_directory(path)) {
        say_files(path);
        return code;
    }
    if (ntff_input_open(&in, path, &budget, &err) != NTFF_OK) {
        conv_say("%s", err.text);
        return code;
    }
    const char *archive = ntff_archive(ntff_input_head(&in));
    if (archive)
        conv_say("%s: %s", path, archive);
    else if (ntff_input_map(&in, &err) == NTFF_OK)
        code = dump_to(o, s, &in, out, header);
    else
        conv_say("%s", err.text);
    ntff_input_close(&in);
    return code;
}

/* What could be printed is; the exit code tells of the rest. */
static int dump_all(const struct settings *o, const struct ntff_schema *s,
                    const struct conv_args *args, struct ntff_out *out)
{
    size_t good = 0;
    int result = CONV_ALL;
    for (size_t i = 0; i < args->n_operands && !ntff_out_failed(out); i++) {
        int code = dump_path(o, s, args->operands[i], out, args->n_operands > 1);
        if (code == CONV_USAGE)
            return code;
        good += code != CONV_NOTHING;
        if (code != CONV_ALL)
            result = CONV_LOSSES;
    }
    return good ? result : CONV_NOTHING;
}

int conv_cmd_dump(int argc, char **argv)
{
    struct settings o = {.schema = getenv("NTFF_SCHEMA")};
    struct conv_args args;
    struct ntff_schema *s = NULL;
    struct ntff_out *out = NULL;
    struct ntff_error err;
    int code = conv_cli_parse(&conv_cli_dump, argc, argv, &o, &args);
    if (code != CONV_GO)
        return code;
    if (ntff_schema_open(o.schema, getenv("LD_LIBRARY_PATH"), &s, &err) == NTFF_OK) {
        code = conv_outfile_open(&out, o.output, o.force, &args);
        if (code == CONV_ALL)
            code = dump_all(&o, s, &args, out);
        code = conv_outfile_close(out, o.output, code);
    } else {
        conv_say("%s", err.text);
        code = CONV_NOTHING;
    }
    ntff_schema_free(s);
    conv_args_done(&args);
    return code;
}
