/* args - see args.h. getopt_long over a table made of the shared options and ours. */
#include "args.h"

#include "screen.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_SCRIPT,
    OPT_PRINT,
    OPT_WIDTH,
    OPT_FROM,
    OPT_TO,
    OPT_TRACK,
    OPT_ASCII,
    OPT_COLOR,
    OPT_NO_MOUSE,
    OPT_HELP,
    OPT_VERSION,
    OPT_COUNT
};

static const struct tui_option options[OPT_COUNT] = {
    [OPT_SCRIPT] = {"script", "FILE",
                    "replay keys from FILE without a terminal and print the screens it asks for",
                    0},
    [OPT_PRINT] = {"print", NULL, "print one page of timeline as text and exit", 0},
    [OPT_WIDTH] = {"width", "N",
                   "columns of --print (default: $COLUMNS, else the terminal's, else 100)", 0},
    [OPT_FROM] = {"from", "TIME",
                  "show from here on: 1.5s, 20ms (from the trace begin), 50%, or Unix ns", 0},
    [OPT_TO] = {"to", "TIME", "show up to here", 0},
    [OPT_TRACK] = {"track", "PATTERN", "show only tracks whose path matches the regular expression",
                   0},
    [OPT_ASCII] = {"ascii", NULL, "use ASCII only (the default when the locale is not UTF-8)", 0},
    [OPT_COLOR] = {"color", "auto|256|16|never", "default auto; NO_COLOR in the environment: never",
                   0},
    [OPT_NO_MOUSE] = {"no-mouse", NULL, "leave the mouse to the terminal", 0},
    [OPT_HELP] = {"help", NULL, "this text", 'h'},
    [OPT_VERSION] = {"version", NULL, "print the version", 0},
};

#define MAX_LONG 128
#define CODE_OWN 1000
#define CODE_LOAD 2000

const struct tui_option *tui_options(size_t *n)
{
    *n = OPT_COUNT;
    return options;
}

static void add(struct option *o, size_t *n, const char *name, bool arg, int code)
{
    if (name && *n + 1 < MAX_LONG)
        o[(*n)++] = (struct option){name, arg ? required_argument : no_argument, NULL, code};
}

static int bad(struct ntff_error *err, const char *what, const char *why)
{
    (void)!ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "%.120s: %s", what, why);
    return 2;
}

static int set_own(struct tui_args *a, int code, const char *value, struct ntff_error *err)
{
    static const struct {
        const char *name;
        int colors;
    } when[] = {
        {"auto", -1}, {"256", TUI_COLORS_256}, {"16", TUI_COLORS_16}, {"never", TUI_COLORS_MONO}};
    char *end;
    switch (code) {
    case OPT_SCRIPT:
        a->script = value;
        return 0;
    case OPT_PRINT:
        a->print = true;
        return 0;
    case OPT_WIDTH: {
        long w = strtol(value, &end, 10);
        if (end == value || *end || w < 40 || w > TUI_MAX_COLS)
            return bad(err, value, "not a width: 40 to 1000 columns");
        a->width = (int)w;
        return 0;
    }
    case OPT_FROM:
        a->from = value;
        return 0;
    case OPT_TO:
        a->to = value;
        return 0;
    case OPT_TRACK:
        a->track = value;
        return 0;
    case OPT_ASCII:
        a->ascii = true;
        return 0;
    case OPT_COLOR:
        for (size_t i = 0; i < NTFF_ARRAY_LEN(when); i++)
            if (strcmp(when[i].name, value) == 0) {
                a->colors = when[i].colors;
                return 0;
            }
        return bad(err, value, "--color takes auto, 256, 16 or never");
    case OPT_NO_MOUSE:
        a->no_mouse = true;
        return 0;
    case OPT_HELP:
        a->help = true;
        return 0;
    default:
        a->version = true;
        return 0;
    }
}

int tui_args_parse(struct tui_args *a, int argc, char **argv, struct ntff_error *err)
{
    struct option longs[MAX_LONG] = {{0}};
    size_t n = 0, n_load;
    const struct ntff_load_arg *load = ntff_load_args(&n_load);
    *a = (struct tui_args){.colors = -1};
    for (int i = 0; i < OPT_COUNT; i++)
        add(longs, &n, options[i].name, options[i].arg, CODE_OWN + i);
    for (size_t i = 0; i < n_load; i++) {
        add(longs, &n, load[i].name, load[i].arg, CODE_LOAD + (int)i);
        add(longs, &n, load[i].alias, load[i].arg, CODE_LOAD + (int)i);
    }
    opterr = 0;
    optind = 0;
    for (int c; (c = getopt_long(argc, argv, ":hj:", longs, NULL)) != -1;) {
        int rc = 0;
        if (c == ':' || c == '?') {
            char what[400];
            ntff_option_mistake(c, optopt, argv[optind - 1], longs, what, sizeof what);
            (void)!ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "%s (--help lists all)", what);
            return 2;
        }
        if (c == 'h')
            a->help = true;
        else if (ntff_load_arg_letter(c))
            rc = ntff_load_args_apply(&a->load, ntff_load_arg_letter(c), optarg, err) ? 2 : 0;
        else if (c >= CODE_LOAD)
            rc = ntff_load_args_apply(&a->load, &load[c - CODE_LOAD], optarg, err) ? 2 : 0;
        else
            rc = set_own(a, c - CODE_OWN, optarg, err);
        if (rc)
            return rc;
    }
    a->inputs = (const char *const *)argv + optind;
    a->n_inputs = (size_t)(argc - optind);
    if (!a->help && !a->version && a->n_inputs == 0)
        return bad(err, "an input is missing", "a session directory or a file (--help says more)");
    if (a->print && a->script)
        return bad(err, "--print", "and --script exclude each other");
    return 0;
}

#define HELP_COLUMN 28
#define HELP_COLS 80

static void usage_line(FILE *to, char letter, const char *name, const char *alias, const char *arg,
                       const char *help)
{
    int at = letter ? fprintf(to, "  -%c, --%s", letter, name) : fprintf(to, "  --%s", name);
    if (alias)
        at += fprintf(to, ", --%s", alias);
    if (arg)
        at += fprintf(to, " %s", arg);
    if (at + 2 > HELP_COLUMN) {
        fputc('\n', to);
        at = 0;
    }
    while (*help) {
        int word = (int)strcspn(help, " ");
        if (at > HELP_COLUMN && at + 1 + word > HELP_COLS) {
            fputc('\n', to);
            at = 0;
        }
        at += at < HELP_COLUMN ? fprintf(to, "%*s", HELP_COLUMN - at, "") : fprintf(to, " ");
        at += fprintf(to, "%.*s", word, help);
        help += word + (help[word] == ' ');
    }
    fputc('\n', to);
}

void tui_usage(FILE *to)
{
    size_t n;
    fputs("Usage: ntff-tui [OPTIONS] INPUT...\n"
          "Shows AWS Neuron profiles as a timeline in the terminal. INPUT is a session directory "
          "or a file\n"
          "of one: ntrace.pb, .ntff, event JSON, plain or gzip; '-' is standard input. Several are "
          "shown\n"
          "together. F1 lists the keys.\n\n",
          to);
    for (int i = 0; i < OPT_COUNT; i++)
        usage_line(to, options[i].letter, options[i].name, NULL, options[i].arg, options[i].help);
    fputs("\nReading:\n", to);
    const struct ntff_load_arg *load = ntff_load_args(&n);
    for (size_t i = 0; i < n; i++)
        usage_line(to, ntff_load_arg_letter_of(&load[i]), load[i].name, load[i].alias, load[i].arg,
                   load[i].help);
    fputs(
        "\nExit status: 0 good, 1 nothing to show, 2 mistake on the command line, 3 printed, but\n"
        "something of the input is missing in it; after a signal 128 + its number.\n",
        to);
}
