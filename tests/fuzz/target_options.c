/* Texts of the command line: both programs' options, --fail-on expressions, times, sizes, groups,
 * and filters on a real load. Lines of the input are the arguments. */
#include "tests/fuzz/fuzz.h"

#include "conv/cli.h"
#include "conv/metrics.h"
#include "conv/times.h"
#include "tui/args.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGS = 24 };

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    fuzz_quiet(true);
    return 0;
}

struct settings {
    const char *text;
    bool flag, clear;
    struct conv_expr expr;
    struct conv_time time;
};

static bool set_expr(void *settings, const char *value, struct ntff_error *err)
{
    return conv_expr_parse(value, &((struct settings *)settings)->expr, err);
}

static bool set_time(void *settings, const char *value, struct ntff_error *err)
{
    return conv_time_parse(value, &((struct settings *)settings)->time, err);
}

static const struct conv_option options[] = {
    {"fail-on", 0, "EXPR", "an expression", CONV_OPT_SET, 0, set_expr},
    {"from", 0, "TIME", "a time", CONV_OPT_SET, 0, set_time},
    {"output", 'o', "FILE", "a text", CONV_OPT_TEXT, offsetof(struct settings, text), NULL},
    {"force", 0, NULL, "a flag", CONV_OPT_FLAG, offsetof(struct settings, flag), NULL},
    {"quiet", 'q', NULL, "a flag", CONV_OPT_FLAG, offsetof(struct settings, clear), NULL},
};
static const struct conv_cli cli = {.command = "fuzz",
                                    .operands = "INPUT...",
                                    .about = "Nothing.",
                                    .options = options,
                                    .n_options = NTFF_ARRAY_LEN(options),
                                    .loads = true,
                                    .min_operands = 1};

/* Does what a program does with its arguments up to the point where files are opened. */
static void command_line(int argc, char **argv)
{
    struct settings s = {0};
    struct conv_args args = {0};
    int code = conv_cli_parse(&cli, argc, argv, &s, &args);
    FUZZ_OK(code == CONV_GO || code == 0 || code == 2 || code == 1);
    if (code == CONV_GO) {
        FUZZ_OK(args.n_operands >= 1 && args.n_operands < (size_t)argc);
        FUZZ_OK(args.load.options.max_memory > 0 || args.load.memory_given);
        conv_args_done(&args);
    }
    struct tui_args t = {0};
    struct ntff_error err = {0};
    code = tui_args_parse(&t, argc, argv, &err);
    FUZZ_OK(code == 0 || (code == 2 && err.text[0] != '\0'));
    ntff_load_setup_done(&t.load);
}

static void one_text(const char *text)
{
    struct ntff_error err = {0};
    struct conv_expr e;
    struct conv_time t;
    size_t bytes;
    char out[48];
    if (conv_expr_parse(text, &e, &err)) {
        FUZZ_OK(e.name < conv_metric_count() && isfinite(e.value));
        bool lt = e.op == CONV_LT || e.op == CONV_LE || e.op == CONV_NE;
        FUZZ_OK(conv_expr_holds(&e, -INFINITY) == lt);
        conv_metric_text(e.name, e.value, out);
    } else {
        FUZZ_OK(err.text[0] != '\0');
    }
    err.text[0] = '\0';
    if (conv_time_parse(text, &t, &err)) {
        FUZZ_OK(t.given);
        FUZZ_OK(conv_time_resolve(&t, 1000) >= (t.relative ? 1000 : 0));
        conv_duration(t.ns, out);
        conv_date(t.ns, out);
    } else {
        FUZZ_OK(err.text[0] != '\0');
    }
    int mask = ntff_group_parse(text);
    FUZZ_OK(mask == -1 || (mask & ~31) == 0);
    if (!ntff_parse_bytes(text, &bytes))
        bytes = 0;
}

/* Every option of the table with this text, and a load with it. */
static void load_option(const char *text, uint8_t which)
{
    static const char event[] =
        "{\"events\":[{\"event_type\":\"nrt_execute\",\"phase\":\"instant\",\"nc_idx\":3,"
        "\"tracking_id\":1,\"timestamp_ns\":1764440000000000000}]}";
    size_t n;
    const struct ntff_load_arg *all = ntff_load_args(&n);
    struct ntff_load_setup s = {0};
    struct ntff_error err = {0};
    if (ntff_load_args_apply(&s, &all[which % n], text, &err) != 0) {
        FUZZ_OK(err.text[0] != '\0');
        return;
    }
    struct fuzz_choices c = {.load = s.options};
    c.load.jobs = 1;
    if (c.load.max_memory == 0 || c.load.max_memory > 64 << 20)
        c.load.max_memory = (size_t)65 << 20;
    const char *path = fuzz_file(0, event, sizeof event - 1);
    fuzz_capture(&path, 1, &c);
    ntff_load_setup_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *argv[MOST_ARGS + 1], *copy, *save = NULL;
    int argc = 1;
    if (size < 1 || size > 4096 || memchr(data, 0, size) != NULL)
        return 0;
    copy = malloc(size + 1);
    FUZZ_OK(copy != NULL);
    memcpy(copy, data, size);
    copy[size] = '\0';
    char name[] = "fuzz";
    argv[0] = name;
    for (char *line = strtok_r(copy + 1, "\n", &save); line != NULL && argc < MOST_ARGS;
         line = strtok_r(NULL, "\n", &save)) {
        one_text(line);
        argv[argc++] = line;
    }
    argv[argc] = NULL;
    load_option(argc > 1 ? argv[1] : "", data[0]);
    command_line(argc, argv);
    free(copy);
    return 0;
}
