/* conv - what the commands of ntff-conv share: their entry points, exit codes, messages, loading.
 * Knows: proto. */
#ifndef CONV_CONV_H
#define CONV_CONV_H

#include "conv/cli.h"
#include "proto/model.h"

#include <stdio.h>

enum conv_exit {
    CONV_ALL = 0,
    CONV_NOTHING = 1,     /* nothing written */
    CONV_USAGE = 2,       /* a mistake on the command line */
    CONV_LOSSES = 3,      /* written, but something of the input is missing in it */
    CONV_CHECK_FAILED = 4 /* report --fail-on */
};

/* Entry points; argv[0] is the name of the command. They return an exit code. */
int conv_cmd_convert(int argc, char **argv);
int conv_cmd_info(int argc, char **argv);
int conv_cmd_dump(int argc, char **argv);
int conv_cmd_schema(int argc, char **argv);
int conv_cmd_report(int argc, char **argv);
int conv_cmd_events(int argc, char **argv);
int conv_cmd_table(int argc, char **argv);
int conv_cmd_json(int argc, char **argv);
int conv_cmd_diff(int argc, char **argv);

/* Their command lines. */
extern const struct conv_cli conv_cli_convert, conv_cli_info, conv_cli_dump, conv_cli_schema,
    conv_cli_report, conv_cli_events, conv_cli_table, conv_cli_json, conv_cli_diff;

struct conv_command {
    const char *name;
    int (*run)(int argc, char **argv);
    const struct conv_cli *cli;
    const char *about; /* half a line */
};
const struct conv_command *conv_commands(size_t *n);

/* One line on standard error, "ntff-conv: ...", control bytes made visible. */
void conv_say(const char *fmt, ...) NTFF_PRINTF(1, 2);

/* Writes text so that a terminal shows it and does nothing else: control characters (C0, C1, bidi)
 * and bytes that are no UTF-8 appear as \xNN or \u{NNNN}. */
void conv_put_text(FILE *to, const char *text);

/* A line of progress on standard error, if that is a terminal; permille < 0 erases it. */
void conv_progress(const char *what, int permille);

/* Loads what the command line names, with progress. On CONV_ALL *t is a trace (free it), which may
 * be empty; otherwise the error was printed and the exit code is returned. *err keeps what was
 * looked for. */
int conv_load_any(const struct conv_args *args, bool quiet, struct ntff_trace **t,
                  struct ntff_diag *diag, struct ntff_error *err);
/* The same, but a trace without events and samples is an error. */
int conv_load(const struct conv_args *args, bool quiet, struct ntff_trace **t,
              struct ntff_diag *diag);

/* Says why a trace is empty: err is what was looked for; traces for viewers are recognised. */
void conv_say_nothing(const struct conv_args *args, const struct ntff_error *err);

enum conv_verbosity { CONV_QUIET, CONV_NORMAL, CONV_VERBOSE };
/* What helps against a finding, behind its line; "" if nothing does, or it was asked for. */
const char *conv_finding_hint(const struct ntff_trace *t, enum ntff_diag_kind kind);

/* One line per kind of finding on standard error: losses, and what else nobody expects; repairs and
 * notes too if VERBOSE. Behind them, if t is clipped, CONV_OF_ALL. */
void conv_print_findings(const struct ntff_trace *t, const struct ntff_diag *diag,
                         enum conv_verbosity verbosity);
#define CONV_OF_ALL "counted over all that was read, not only from --from to --to"

/* Name of a kind of finding as a key: "unmatched_start". Returns out. */
char *conv_finding_key(enum ntff_diag_kind kind, char out[40]);

/* CONV_LOSSES if the diag holds losses, else CONV_ALL. */
int conv_exit_code(const struct ntff_diag *diag);

#endif
