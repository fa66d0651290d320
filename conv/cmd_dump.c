/* cmd_dump - ntff-conv dump: every field of every message of a file, as text. */
#include "conv/conv.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conv/figtext.h"
#include "conv/outfile.h"
#include "conv/paths.h"
#include "proto/dump_file.h"
#include "proto/out.h"

struct settings {
    const char *schema, *type, *output;
    bool raw, offsets, force, quiet;
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

static const struct conv_cli cli = {
    .command = "dump",
    .operands = "FILE",
    .about =
        "Prints every field of every message of FILE as text, like protoc --decode: .ntff, "
        "ntrace.pb, trace_info.pb, cpu_util.pb, host_mem.pb, raw records, any other protobuf by "
        "number; plain or gzip; - is standard input. Lines that begin with # say how the file was "
        "read and what is damaged in it.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .min_operands = 1,
    .max_operands = 1,
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
        .schema = s, .type = type, .raw = o->raw, .offsets = o->offsets};
}

/* Dumps a mapped file; the exit code. */
static int dump_to(const struct settings *o, const struct ntff_schema *s,
                   const struct ntff_input *in)
{
    struct ntff_error err = {.offset = NTFF_NO_OFFSET};
    struct ntff_out *out = NULL;
    char a[64], b[64];
    const char *path = o->output ? o->output : "-";
    size_t len = strlen(path);
    int flags = (o->force ? NTFF_OUT_REPLACE : 0) |
                (len > 3 && strcmp(path + len - 3, ".gz") == 0 ? NTFF_OUT_GZIP : 0);
    if (!conv_output_allowed(path, &in->path, 1, &err) ||
        ntff_out_open(&out, path, flags, 0, &err) != NTFF_OK) {
        conv_say("%s", err.text);
        return CONV_NOTHING;
    }
    struct ntff_dump d = {.write = to_out, .user = out, .max_bytes = o->max_bytes};
    struct ntff_dump_options options_of_dump = dump_options(o, s);
    enum ntff_status status = ntff_dump_file(&d, in, &options_of_dump, &err);
    if (status == NTFF_OK ||
        status == NTFF_CANCELLED) /* cancelled = the output failed: it knows why */
        status = ntff_out_commit(out, &err);
    bool output = ntff_out_failed(out);
    ntff_out_close(out);
    int code = d.n_damaged || d.n_cut ? CONV_LOSSES : CONV_ALL;
    if (status != NTFF_OK) {
        conv_say("%s%s%s", output ? conv_output_name(path) : "", output ? ": " : "", err.text);
        code = status == NTFF_INVALID ? CONV_USAGE : CONV_NOTHING;
    } else if (code == CONV_LOSSES && !o->quiet) {
        conv_say("%s: %s, %s cut; see the lines with #", in->path,
                 conv_count(d.n_damaged, "damaged place", a), conv_count(d.n_cut, "value", b));
    }
    ntff_dump_done(&d);
    return code;
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

static int dump_path(const struct settings *o, const struct ntff_schema *s, const char *path)
{
    struct ntff_error err = {.offset = NTFF_NO_OFFSET};
    struct ntff_budget budget = {.max_bytes = half_of_memory()};
    struct ntff_input in;
    int code = CONV_NOTHING;
    if (ntff_input_open(&in, path, &budget, &err) != NTFF_OK) {
        conv_say("%s", err.text);
        return code;
    }
    if (ntff_input_map(&in, &err) == NTFF_OK)
        code = dump_to(o, s, &in);
    else
        conv_say("%s", err.text);
    ntff_input_close(&in);
    return code;
}

int conv_cmd_dump(int argc, char **argv)
{
    struct settings o = {.schema = getenv("NTFF_SCHEMA")};
    struct conv_args args;
    struct ntff_schema *s = NULL;
    struct ntff_error err;
    int code = conv_cli_parse(&cli, argc, argv, &o, &args);
    if (code != CONV_GO)
        return code;
    if (ntff_schema_open(o.schema, getenv("LD_LIBRARY_PATH"), &s, &err) == NTFF_OK) {
        code = dump_path(&o, s, args.operands[0]);
    } else {
        conv_say("%s", err.text);
        code = CONV_NOTHING;
    }
    ntff_schema_free(s);
    conv_args_done(&args);
    return code;
}
