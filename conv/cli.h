/* cli - command lines: one table of options per command feeds parsing and --help; the man page and
 * the completions are made from the same tables. Knows: load_args.
 *
 * An option either stores its value at an offset of the command's settings (FLAG, TEXT) or hands it
 * to a setter. A command with .loads also takes the options of load_args. */
#ifndef CONV_CLI_H
#define CONV_CLI_H

#include "proto/load_args.h"

#include <stdio.h>

enum conv_option_kind {
    CONV_OPT_FLAG,  /* bool at .offset = true */
    CONV_OPT_CLEAR, /* bool at .offset = false */
    CONV_OPT_TEXT,  /* const char * at .offset */
    CONV_OPT_SET    /* .set decides, of what is at .offset */
};

struct conv_option {
    const char *name; /* without dashes */
    char letter;      /* 0 = none */
    /* name of the value, NULL = takes none; FILE and DIR are names of those, and words in small
     * letters between bars stand for themselves: "csv|tsv" */
    const char *arg;
    const char *help; /* one paragraph */
    enum conv_option_kind kind;
    size_t offset;
    /* false = bad value: err says what was expected */
    bool (*set)(void *at, const char *value, struct ntff_error *err);
};

struct conv_cli {
    const char *command;  /* "convert" */
    const char *operands; /* "INPUT..." */
    const char *about;    /* one paragraph */
    const struct conv_option *options;
    size_t n_options;
    bool loads;                        /* takes the options of load_args */
    size_t min_operands, max_operands; /* max 0 = any number */
    const char *more;                  /* end of the help, ready-made lines; NULL = none */
};

struct conv_args {
    const char *const *operands;
    size_t n_operands;
    struct ntff_load_setup load;
    bool redact; /* --redact, of every command that loads */
};

#define CONV_GO (-1)

/* Parses argv[1..argc). CONV_GO = carry on with *args (conv_args_done at the end); anything else is
 * the exit code: 0 after --help or --version, CONV_USAGE after a mistake, which was printed. */
int conv_cli_parse(const struct conv_cli *cli, int argc, char **argv, void *settings,
                   struct conv_args *args);
void conv_args_done(struct conv_args *args);

/* An option as --help, the manual page and the completions show it. */
struct conv_listed {
    char letter; /* 0 = none */
    const char *name, *alias, *arg, *help;
    bool reading; /* of load_args */
};
#define CONV_MAX_OPTIONS 96
/* All options of a command in the order of --help. Returns how many. */
size_t conv_cli_list(const struct conv_cli *cli, struct conv_listed out[CONV_MAX_OPTIONS]);

/* What --help prints. */
void conv_cli_help(const struct conv_cli *cli, FILE *to);

#endif
