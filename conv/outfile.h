/* outfile - where a command writes: standard output or a file, never over an input.
 * Knows: out, paths. */
#ifndef CONV_OUTFILE_H
#define CONV_OUTFILE_H

#include "conv/cli.h"
#include "proto/out.h"

/* path as messages name it; NULL and "-" are "standard output". */
const char *conv_output_name(const char *path);

/* Opens path ("-" or NULL = standard output; a name ending in .gz is compressed). CONV_ALL, or the
 * exit code after the error was printed. */
int conv_outfile_open(struct ntff_out **out, const char *path, bool force,
                      const struct conv_args *args);
/* Commits unless code says that nothing was written, and closes; out may be NULL, path is the
 * one it was opened with. Returns code, or CONV_NOTHING after an error of the output was printed.
 */
int conv_outfile_close(struct ntff_out *out, const char *path, int code);

#endif
