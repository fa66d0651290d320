/* args - the command line of ntff-tui: the shared options about reading, and its own. Knows: proto.
 */
#ifndef TUI_ARGS_H
#define TUI_ARGS_H

#include "proto/load_args.h"
#include "style.h"

#include <stdio.h>

struct tui_args {
    struct ntff_load_setup load;
    const char *const *inputs;
    size_t n_inputs;
    const char *script; /* --script; "-" = standard input */
    const char *from, *to, *track;
    int width; /* --width; 0 = not given */
    bool print, ascii, no_mouse, help, version;
    int colors; /* enum tui_colors; -1 = as the terminal can */
};

/* One option of our own: name, value's name (NULL = none), help, letter (0 = none). */
struct tui_option {
    const char *name, *arg, *help;
    char letter;
};
const struct tui_option *tui_options(size_t *n);

/* 0 = good; 2 = a mistake, err says which. Texts are borrowed from argv. */
int tui_args_parse(struct tui_args *a, int argc, char **argv, struct ntff_error *err);
void tui_usage(FILE *to);

#endif
