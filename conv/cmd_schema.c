/* cmd_schema - ntff-conv schema: shows, saves and judges the schema files are read with.
 *
 * The schema comes from --from (a libnrt.so, a descriptor set, a descriptor, "auto"), else from
 * --schema or NTFF_SCHEMA, else it is the built-in one. It goes out as .proto source, as a
 * descriptor set that
 * --schema takes again, or as a table that ends in a comparison with what is publicly known. */
#include "conv/conv.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/out.h"
#include "proto/schema_print.h"
#include "proto/schema_spec.h"

enum format { FORMAT_UNSET, FORMAT_PROTO, FORMAT_DESCRIPTOR, FORMAT_TABLE };

struct options {
    const char *from, *output;
    enum format format;
    bool force, quiet;
};

static const char help[] =
    "usage: ntff-conv schema [OPTIONS]\n"
    "\n"
    "Prints the schema that traces are read with: message and field names, numbers and types.\n"
    "\n"
    "  --from FILE|auto   a libnrt.so (read, never executed), a descriptor set (protoc -o) or a\n"
    "                     single descriptor; auto looks for libnrt.so in LD_LIBRARY_PATH and in\n"
    "                     /opt/aws/neuron/lib. Without it: --schema, NTFF_SCHEMA, else the "
    "built-in\n"
    "                     schema, and what that one lacks\n"
    "  --format FORMAT    proto       source text that protoc compiles (default)\n"
    "                     descriptor  a FileDescriptorSet, for --schema (default with -o FILE)\n"
    "                     table       one line per field; the last line compares with what is "
    "known\n"
    "                                 of runtime " NTFF_SPEC_VERSION "\n"
    "  -o, --output FILE  write to FILE; the suffix picks the format (.proto, .txt, else "
    "descriptor);\n"
    "                     a directory gets one .proto file per file of the schema\n"
    "  --force            replace FILE\n"
    "  --quiet            no notes on standard error\n"
    "  --help             this text\n";

static int usage_error(const char *text, const char *what)
{
    conv_say("schema: %s%s (try ntff-conv schema --help)", text, what);
    return CONV_USAGE;
}

static bool parse_format(const char *text, enum format *out)
{
    static const char *const names[] = {"", "proto", "descriptor", "table"};
    for (size_t i = 1; i < NTFF_ARRAY_LEN(names); i++)
        if (strcmp(text, names[i]) == 0) {
            *out = (enum format)i;
            return true;
        }
    return false;
}

/* -1 = go on, else the exit code. */
static int parse_options(int argc, char **argv, struct options *o)
{
    static const struct option longs[] = {
        {"from", required_argument, NULL, 'F'},   {"schema", required_argument, NULL, 'S'},
        {"format", required_argument, NULL, 'f'}, {"output", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'y'},        {"quiet", no_argument, NULL, 'q'},
        {"help", no_argument, NULL, 'h'},         {NULL, 0, NULL, 0},
    };
    const char *schema = getenv("NTFF_SCHEMA");
    int c;
    opterr = 0;
    optind = 0;
    while ((c = getopt_long(argc, argv, "f:o:qh", longs, NULL)) != -1) {
        switch (c) {
        case 'F':
            o->from = optarg;
            break;
        case 'S':
            schema = optarg;
            break;
        case 'f':
            if (!parse_format(optarg, &o->format))
                return usage_error("--format is proto, descriptor or table, not ", optarg);
            break;
        case 'o':
            o->output = optarg;
            break;
        case 'y':
            o->force = true;
            break;
        case 'q':
            o->quiet = true;
            break;
        case 'h':
            fputs(help, stdout);
            return fflush(stdout) == 0 ? CONV_ALL : CONV_NOTHING;
        default:
            return usage_error("unknown option or missing argument: ", argv[optind - 1]);
        }
    }
    if (optind < argc)
        return usage_error("takes no file but with --from: ", argv[optind]);
    if (!o->from)
        o->from = schema;
    return -1;
}

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

static enum format pick_format(const struct options *o)
{
    if (o->format != FORMAT_UNSET)
        return o->format;
    if (!o->output || strcmp(o->output, "-") == 0 || is_directory(o->output) ||
        has_suffix(o->output, ".proto"))
        return FORMAT_PROTO;
    return has_suffix(o->output, ".txt") ? FORMAT_TABLE : FORMAT_DESCRIPTOR;
}

/* -- out ----------------------------------------------------------------------------------------
 */

static bool write_buf(const struct options *o, const char *path, const struct ntff_buf *b)
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
    }
    if (status != NTFF_OK)
        conv_say("%s", err.text);
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

static int write_directory(const struct options *o, const struct ntff_schema *s)
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

static int write_schema(const struct options *o, const struct ntff_schema *s)
{
    struct ntff_buf b = {0};
    const char *path = o->output ? o->output : "-";
    struct ntff_spec_result r = {0};
    switch (pick_format(o)) {
    case FORMAT_DESCRIPTOR:
        if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
            return usage_error("a descriptor is no text; write it to a file with ", "-o FILE");
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
    struct options o = {0};
    struct ntff_schema *s = NULL;
    struct ntff_error err = {0};
    int code = parse_options(argc, argv, &o);
    if (code >= 0)
        return code;
    if (ntff_schema_open(o.from, getenv("LD_LIBRARY_PATH"), &s, &err) != NTFF_OK) {
        if (err.offset != NTFF_NO_OFFSET)
            conv_say("%s: offset 0x%llx: %s", o.from, (unsigned long long)err.offset, err.text);
        else
            conv_say("%s", err.text);
        return CONV_NOTHING;
    }
    for (size_t i = 0; i < s->n_notes && !o.quiet; i++)
        conv_say("note: %s", s->notes[i]);
    if (o.from && strcmp(o.from, "auto") == 0 && !o.quiet)
        conv_say("schema from %s", s->source);
    code = write_schema(&o, s);
    ntff_schema_free(s);
    return code;
}
