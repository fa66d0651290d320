/* outfile - where a command writes: standard output or a file, never over an input.
 * Knows: out, paths. */
#ifndef CONV_OUTFILE_H
#define CONV_OUTFILE_H

#include "conv/cli.h"
#include "proto/out.h"

#include <stdio.h>

/* path as messages name it; NULL and "-" are "standard output". */
const char *conv_output_name(const char *path);

/* A file of that name would be lost: it exists, and is neither a device nor empty, as mktemp leaves
 * files. */
bool conv_would_replace(const char *path);

/* Does path end in suffix? .gz may stand behind it. path may be NULL. */
bool conv_has_suffix(const char *path, const char *suffix);

/* Formats a command can write, by the ends of names. */
struct conv_suffix {
    const char *text; /* ".json" */
    int format;
};

/* Settles *format, which is what -f asked for, or -1: by the suffix of path, behind which .gz may
 * stand, else fallback. False (err says why): the suffix names another format than -f, or is none
 * of these and -f is not given; names without a suffix, devices and files of mktemp are free. */
bool conv_settle_format(int *format, const char *path, const struct conv_suffix *known, size_t n,
                        int fallback, struct ntff_error *err) NTFF_MUST_CHECK;

/* Opens path ("-" or NULL = standard output; a name ending in .gz is compressed). CONV_ALL, or the
 * exit code after the error was printed. */
int conv_outfile_open(struct ntff_out **out, const char *path, bool force,
                      const struct conv_args *args);
/* A stream into out, for what is put together by printf; close it before out. NULL = out of memory.
 * What does not reach out is an error of out. */
FILE *conv_outfile_stream(struct ntff_out *out);
/* Commits unless code says that nothing was written, and closes; out may be NULL, path is the
 * one it was opened with. Returns code, or CONV_NOTHING after an error of the output was printed.
 */
int conv_outfile_close(struct ntff_out *out, const char *path, int code);

#endif
