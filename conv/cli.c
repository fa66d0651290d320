/* cli - see cli.h. getopt_long does the parsing: its array of options is made from the tables. */
#include "conv/cli.h"

#include "conv/conv.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#define HELP_WIDTH 80
#define HELP_COLUMN 26

/* Numbers getopt returns for what has no letter of its own. */
enum { CODE_OWN = 1000, CODE_LOAD = 2000, CODE_HELP = 'h', CODE_VERSION = 3000, CODE_REDACT };

struct parser {
    const struct conv_cli *cli;
    struct option longs[CONV_MAX_OPTIONS];
    size_t n_longs;
    char shorts[3 * CONV_MAX_OPTIONS];
};

static void add_long(struct parser *p, const char *name, const char *arg, int code)
{
    if (name && p->n_longs + 1 < CONV_MAX_OPTIONS)
        p->longs[p->n_longs++] =
            (struct option){name, arg ? required_argument : no_argument, NULL, code};
}

static void prepare(struct parser *p)
{
    char *s = p->shorts;
    *s++ = ':'; /* a missing value is reported as such */
    for (size_t i = 0; i < p->cli->n_options; i++) {
        const struct conv_option *o = &p->cli->options[i];
        add_long(p, o->name, o->arg, CODE_OWN + (int)i);
        if (o->letter) {
            *s++ = o->letter;
            if (o->arg)
                *s++ = ':';
        }
    }
    size_t n;
    const struct ntff_load_arg *load = ntff_load_args(&n);
    for (size_t i = 0; p->cli->loads && i < n; i++) {
        add_long(p, load[i].name, load[i].arg, CODE_LOAD + (int)i);
        add_long(p, load[i].alias, load[i].arg, CODE_LOAD + (int)i);
        if (ntff_load_arg_letter_of(&load[i])) {
            *s++ = ntff_load_arg_letter_of(&load[i]);
            if (load[i].arg)
                *s++ = ':';
        }
    }
    if (p->cli->loads)
        add_long(p, "redact", NULL, CODE_REDACT);
    add_long(p, "help", NULL, CODE_HELP);
    add_long(p, "version", NULL, CODE_VERSION);
    *s++ = 'h';
    *s = '\0';
}

static int usage_error(const struct conv_cli *cli, const char *what)
{
    conv_say("%s", what);
    fprintf(stderr, "Try 'ntff-conv %s --help'.\n", cli->command);
    return CONV_USAGE;
}

static bool apply_own(const struct conv_option *o, void *settings, const char *value,
                      struct ntff_error *err)
{
    char *at = (char *)settings + o->offset;
    switch (o->kind) {
    case CONV_OPT_FLAG:
    case CONV_OPT_CLEAR:
        *(bool *)at = o->kind == CONV_OPT_FLAG;
        return true;
    case CONV_OPT_TEXT:
        *(const char **)at = value;
        return *value || strcmp(o->arg, "FILE|auto") == 0 || strncmp(o->arg, "FILE", 4) != 0 ||
               ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "--%s: the name of the file is empty",
                         o->name) == NTFF_OK;
    default:
        return o->set(at, value, err);
    }
}

static const struct conv_option *by_letter(const struct conv_cli *cli, int c)
{
    for (size_t i = 0; i < cli->n_options; i++)
        if (cli->options[i].letter == c)
            return &cli->options[i];
    return NULL;
}

/* Applies what getopt returned as c. CONV_GO, or an exit code. */
static int apply(const struct parser *p, int c, char **argv, void *settings, struct conv_args *args)
{
    const struct conv_cli *cli = p->cli;
    struct ntff_error err = {.status = NTFF_OK};
    size_t n;
    const struct ntff_load_arg *load = ntff_load_args(&n);
    bool ok;
    if (c == '?' || c == ':') {
        char what[400];
        ntff_option_mistake(c, optopt, argv[optind - 1], p->longs, what, sizeof what);
        return usage_error(cli, what);
    }
    if (c == CODE_VERSION) {
        printf("ntff-conv %s\n", NTFF_VERSION);
        return CONV_ALL;
    }
    if (c == CODE_HELP) {
        conv_cli_help(cli, stdout);
        return CONV_ALL;
    }
    if (c == CODE_REDACT) {
        args->redact = true;
        return CONV_GO;
    }
    const struct conv_option *own =
        c >= CODE_OWN && c < CODE_LOAD ? &cli->options[c - CODE_OWN] : by_letter(cli, c);
    if (own)
        ok = apply_own(own, settings, optarg ? optarg : "", &err);
    else
        ok = ntff_load_args_apply(&args->load,
                                  c >= CODE_LOAD ? &load[c - CODE_LOAD] : ntff_load_arg_letter(c),
                                  optarg, &err) == 0;
    return ok ? CONV_GO : usage_error(cli, err.text);
}

int conv_cli_parse(const struct conv_cli *cli, int argc, char **argv, void *settings,
                   struct conv_args *args)
{
    struct parser p = {.cli = cli};
    struct ntff_error err;
    char what[200];
    *args = (struct conv_args){0};
    prepare(&p);
    opterr = 0;
    optind = 0; /* start over: getopt keeps state between calls */
    int c, result = CONV_GO;
    while (result == CONV_GO && (c = getopt_long(argc, argv, p.shorts, p.longs, NULL)) != -1)
        result = apply(&p, c, argv, settings, args);
    if (result != CONV_GO)
        return result;
    args->operands = (const char *const *)argv + optind;
    args->n_operands = (size_t)(argc - optind);
    if (args->n_operands < cli->min_operands)
        return usage_error(cli, "an input is missing");
    if (cli->max_operands && args->n_operands > cli->max_operands) {
        snprintf(what, sizeof what, "%.150s: one operand too many",
                 args->operands[cli->max_operands]);
        return usage_error(cli, what);
    }
    if (cli->loads && ntff_load_setup_finish(&args->load, getenv("NTFF_SCHEMA"), &err) != NTFF_OK) {
        conv_say("%s", err.text);
        conv_args_done(args);
        return CONV_NOTHING;
    }
    return CONV_GO;
}

void conv_args_done(struct conv_args *args)
{
    ntff_load_setup_done(&args->load);
}

/* -- help ----------------------------------------------------------------------------------------
 */

/* Breaks text at blanks into lines from column to HELP_WIDTH; at = where the cursor is now. */
static void wrapped(FILE *to, const char *text, int column, int at)
{
    while (*text) {
        int word = (int)strcspn(text, " ");
        if (at > column && at + 1 + word > HELP_WIDTH) {
            fputc('\n', to);
            at = 0;
        }
        if (at < column)
            fprintf(to, "%*s", column - at, "");
        else if (at > column)
            fputc(' ', to);
        at = (at < column ? column : at > column ? at + 1 : at) + word;
        fwrite(text, 1, (size_t)word, to);
        text += word + strspn(text + word, " ");
    }
    fputc('\n', to);
}

static void help_line(FILE *to, const struct conv_listed *o)
{
    char head[160];
    int n = o->letter ? snprintf(head, sizeof head, "  -%c, --%s", o->letter, o->name)
                      : snprintf(head, sizeof head, "      --%s", o->name);
    if (o->alias)
        n += snprintf(head + n, sizeof head - (size_t)n, ", --%s", o->alias);
    if (o->arg)
        n += snprintf(head + n, sizeof head - (size_t)n, " %s", o->arg);
    fputs(head, to);
    if (n + 2 > HELP_COLUMN) {
        fputc('\n', to);
        n = 0;
    }
    wrapped(to, o->help, HELP_COLUMN, n);
}

size_t conv_cli_list(const struct conv_cli *cli, struct conv_listed out[CONV_MAX_OPTIONS])
{
    size_t n = 0, n_load;
    const struct ntff_load_arg *load = ntff_load_args(&n_load);
    for (size_t i = 0; i < cli->n_options; i++) {
        const struct conv_option *o = &cli->options[i];
        out[n++] = (struct conv_listed){o->letter, o->name, NULL, o->arg, o->help, false};
    }
    if (cli->loads)
        out[n++] = (struct conv_listed){
            .name = "redact",
            .help = "replace instance ids, host names, paths and model names by pseudonyms"};
    out[n++] = (struct conv_listed){.letter = 'h', .name = "help", .help = "this text"};
    out[n++] = (struct conv_listed){.name = "version", .help = "print the version"};
    for (size_t i = 0; cli->loads && i < n_load && n < CONV_MAX_OPTIONS; i++)
        out[n++] = (struct conv_listed){ntff_load_arg_letter_of(&load[i]),
                                        load[i].name,
                                        load[i].alias,
                                        load[i].arg,
                                        load[i].help,
                                        true};
    return n;
}

void conv_cli_help(const struct conv_cli *cli, FILE *to)
{
    struct conv_listed o[CONV_MAX_OPTIONS];
    size_t n = conv_cli_list(cli, o);
    fprintf(to, "Usage: ntff-conv %s [OPTIONS]%s%s\n", cli->command, *cli->operands ? " " : "",
            cli->operands);
    wrapped(to, cli->about, 0, 0);
    fputs("\nOptions:\n", to);
    for (size_t i = 0; i < n; i++) {
        if (o[i].reading && !o[i - 1].reading)
            fputs("\nReading:\n", to);
        help_line(to, &o[i]);
    }
    if (cli->more)
        fprintf(to, "\n%s", cli->more);
}
