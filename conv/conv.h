/* conv - the commands of ntff-conv.
 * Each takes its own arguments, argv[0] being the name of the command, and returns the exit code.
 */
#ifndef CONV_CONV_H
#define CONV_CONV_H

#include "proto/base.h"

enum conv_exit {
    CONV_ALL = 0,     /* everything was written */
    CONV_NOTHING = 1, /* nothing was written */
    CONV_USAGE = 2,   /* the command line makes no sense */
    CONV_LOSSES = 3,  /* written, but not everything that was in the input */
};

int conv_cmd_schema(int argc, char **argv);
int conv_cmd_dump(int argc, char **argv);

/* One line on standard error, "ntff-conv: " before it. Bytes that are no plain text are shown as
 * '?'. */
void conv_say(const char *fmt, ...) NTFF_PRINTF(1, 2);

#endif
