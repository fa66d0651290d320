/* cmd_schema - ntff-conv schema: shows, saves and judges the schema files are read with.
 *
 * The schema comes from --from (a libnrt.so, a descriptor set, a descriptor, "auto"), else from
 * --schema or NTFF_SCHEMA, else it is the built-in one. It goes out as .proto source, as a
 * descriptor set that
 * --schema takes again, or as a table that ends in a comparison with what is publicly known. */
#include "conv/conv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conv/outfile.h"
#include "proto/paths.h"
#include "proto/out.h"
#include "proto/schema_print.h"
#include "proto/schema_spec.h"

enum format { FORMAT_UNSET, FORMAT_PROTO, FORMAT_DESCRIPTOR, FORMAT_TABLE };

struct settings {
    const char *from, *schema, *output;
    enum format format;
    bool force, quiet;
};

static bool set_format(void *settings, const char *value, struct ntff_error *err)
{
    static const char *const names[] = {"", "proto", "descriptor", "table"};
    for (size_t i = 1; i < NTFF_ARRAY_LEN(names); i++)
        if (strcmp(value, names[i]) == 0) {
            ((struct settings *)settings)->format = (enum format)i;
            return true;
        }
    ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
              "--format: %s: expected proto, descriptor or table", value);
    return false;
}

static const struct conv_option options[] = {
    {"from", 0, "FILE|auto",
     "a libnrt.so (read, never executed), a FileDescriptorSet (protoc -o) or a "
     "FileDescriptorProto; "
     "auto looks for libnrt.so in LD_LIBRARY_PATH and /opt/aws/neuron/lib (default: --schema, "
     "$NTFF_SCHEMA, else built-in)",
     CONV_OPT_TEXT, offsetof(struct settings, from), NULL},
    {"schema", 0, "FILE|auto", "the same as --from", CONV_OPT_TEXT,
     offsetof(struct settings, schema), NULL},
    {"format", 'f', "proto|descriptor|table",
     "proto: source that protoc compiles (default); descriptor: a FileDescriptorSet for --schema "
     "(default with -o); table: a line per field, then a comparison with what is known of "
     "runtime " NTFF_SPEC_VERSION,
     CONV_OPT_SET, 0, set_format},
    {"output", 'o', "FILE",
     "write to FILE, whose suffix picks the format (.proto, .txt, else descriptor); a directory "
     "gets "
     "one .proto file per file of the schema",
     CONV_OPT_TEXT, offsetof(struct settings, output), NULL},
    {"force", 0, NULL, "replace FILE if it exists", CONV_OPT_FLAG, offsetof(struct settings, force),
     NULL},
    {"quiet", 'q', NULL, "no notes on standard error", CONV_OPT_FLAG,
     offsetof(struct settings, quiet), NULL},
};

const struct conv_cli conv_cli_schema = {
    .command = "schema",
    .operands = "",
    .about =
        "Prints the schema that files are read with: messages, fields, numbers and types. The "
        "built-in one holds only what is public and marks what it lacks; the exact one is inside "
        "every libnrt.so.",
    .options = options,
    .n_options = NTFF_ARRAY_LEN(options),
    .more = "To keep the schema of a machine and use it elsewhere:\n"
            "  ntff-conv schema --from auto -o neuron.desc\n"
            "  ntff-conv --schema neuron.desc SESSION\n",
};

static bool is_directory(const char *path)
{
    struct stat st;
    size_t len = path ? strlen(path) : 0;
    return len && (path[len - 1] == '/' || (stat(path, &st) == 0 && S_ISDIR(st.st_mode)));
}

static bool has_suffix(const char *path, const char *suffix)
{
    size_t len = strlen(path), n = strlen(suffix);
    return len > n && strcmp(path + len - n, suffix) == 0;
}

static enum format pick_format(const struct settings *o)
{
    if (o->format != FORMAT_UNSET)
        return o->format;
    if (!o->output || strcmp(o->output, "-") == 0 || is_directory(o->output) ||
        has_suffix(o->output, ".proto"))
        return FORMAT_PROTO;
    return has_suffix(o->output, ".txt") ? FORMAT_TABLE : FORMAT_DESCRIPTOR;
}

/* -- out -------------------------------------------------------------------------------------- */

static bool write_buf(const struct settings *o, const char *path, const struct ntff_buf *b)
{
    struct ntff_error err = {0};
    struct ntff_out *out = NULL;
    if (b->failed) {
        conv_say("schema: out of memory");
        return false;
    }
    enum ntff_status status = ntff_out_open(&out, path, o->force ? NTFF_OUT_REPLACE : 0, 0, &err);
    if (status == NTFF_OK) {
        ntff_out_write(out, b->p, b->len);
        status = ntff_out_commit(out, &err);
        if (status != NTFF_OK)
            conv_say("%s: %s", conv_output_name(path), err.text);
    } else {
        conv_say("%s", err.text);
    }
    ntff_out_close(out);
    return status == NTFF_OK;
}

/* Makes the directories in front of the last part of path, which lie below a directory the user
 * named. Failures show when the file is opened. */
static void make_parents(char *path, size_t from)
{
    for (char *p = path + from; (p = strchr(p, '/')); p++) {
        *p = '\0';
        mkdir(path, 0777);
        *p = '/';
    }
}

/* File names come out of the schema: none may lead out of the directory. */
static bool is_safe_name(const char *name)
{
    if (*name == '/' || !*name)
        return false;
    for (const char *p = name; p; p = strchr(p, '/') ? strchr(p, '/') + 1 : NULL)
        if (strncmp(p, "..", 2) == 0 && (p[2] == '/' || p[2] == '\0'))
            return false;
    return true;
}

static int write_directory(const struct settings *o, const struct ntff_schema *s)
{
    int code = CONV_ALL;
    for (size_t i = 0; i < s->n_files && code == CONV_ALL; i++) {
        char path[4096];
        struct ntff_buf b = {0};
        int n = snprintf(path, sizeof path, "%s/%s", o->output, s->files[i].name);
        if (n < 0 || (size_t)n >= sizeof path || !is_safe_name(s->files[i].name)) {
            conv_say("schema: will not write a file of this name: %s", s->files[i].name);
            return CONV_NOTHING;
        }
        make_parents(path, strlen(o->output));
        ntff_schema_print_file(s, &s->files[i], &b);
        code = write_buf(o, path, &b) ? CONV_ALL : CONV_NOTHING;
        ntff_buf_free(&b);
    }
    return code;
}

static bool print_proto(const struct ntff_schema *s, struct ntff_buf *b)
{
    if (ntff_schema_print_merged(s, b))
        return true;
    for (size_t i = 0; i < s->n_files; i++)
        ntff_schema_print_file(s, &s->files[i], b);
    return false;
}

static int write_schema(const struct settings *o, const struct ntff_schema *s)
{
    struct ntff_buf b = {0};
    const char *path = o->output ? o->output : "-";
    struct ntff_spec_result r = {0};
    switch (pick_format(o)) {
    case FORMAT_DESCRIPTOR:
        if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO)) {
            conv_say("not writing binary data to a terminal; use -o FILE");
            return CONV_USAGE;
        }
        ntff_schema_print_set(s, &b);
        break;
    case FORMAT_TABLE:
        ntff_schema_print_table(s, &b);
        r = ntff_spec_compare(s, &b);
        break;
    default:
        if (is_directory(path))
            return write_directory(o, s);
        if (!print_proto(s, &b) && !o->quiet)
            conv_say("files of several packages: this text is not one file for protoc; "
                     "-o DIRECTORY writes each on its own");
    }
    bool ok = write_buf(o, path, &b);
    if (r.n_a_changed && !o->quiet)
        conv_say("%zu numbers that are certain for runtime " NTFF_SPEC_VERSION
                 " are others here: another version, or not the schema of NTFF",
                 r.n_a_changed);
    ntff_buf_free(&b);
    return ok ? CONV_ALL : CONV_NOTHING;
}

int conv_cmd_schema(int argc, char **argv)
{
    struct settings o = {.schema = getenv("NTFF_SCHEMA")};
    struct conv_args args;
    struct ntff_schema *s = NULL;
    struct ntff_error err = {.offset = NTFF_NO_OFFSET};
    int code = conv_cli_parse(&conv_cli_schema, argc, argv, &o, &args);
    if (code != CONV_GO)
        return code;
    if (args.n_operands) {
        conv_say("schema takes no operand; --from %s?", args.operands[0]);
        return CONV_USAGE;
    }
    const char *from = o.from ? o.from : o.schema;
    if (ntff_schema_open(from, getenv("LD_LIBRARY_PATH"), &s, &err) != NTFF_OK) {
        conv_say("%s", err.text);
        return CONV_NOTHING;
    }
    for (size_t i = 0; i < s->n_notes && !o.quiet; i++)
        conv_say("note: %s", s->notes[i]);
    if (from && strcmp(from, "auto") == 0 && !o.quiet)
        conv_say("schema from %s", s->source);
    if (o.output && !ntff_output_allowed(o.output, &s->source, 1, &err)) {
        conv_say("%s", err.text);
        code = CONV_NOTHING;
    } else {
        code = write_schema(&o, s);
    }
    ntff_schema_free(s);
    conv_args_done(&args);
    return code;
}
