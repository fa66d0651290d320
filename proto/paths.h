/* paths - where programs may write: never over an input, never into an input directory.
 * Knows: error, map. */
#ifndef NTFF_PATHS_H
#define NTFF_PATHS_H

#include "proto/error.h"

/* Directories below one that is named are read down to this level, hidden ones not at all; links
 * are followed, and none is read twice. */
enum { NTFF_MAX_DIR_DEPTH = 16 };

/* Last component of a path, after links if it is "." or the like; "stdin" for "-". Caller frees;
 * NULL when memory ran out. */
char *ntff_path_name(const char *path);

/* The name a result gets that was given none: of the input; of several, of the directory all of
 * them lie in, else of the first. Caller frees; NULL when memory ran out. */
char *ntff_default_name(const char *const *inputs, size_t n);

/* Where a file of this name goes: links are followed, also a last one that leads to nothing yet.
 * Caller frees; NULL with errno ENOMEM, or ELOOP if the links have no end. */
char *ntff_output_target(const char *path);

/* False (err says why) if writing to output would replace one of the inputs or put a file into an
 * input directory, or into one that a link below an input directory leads to. Neither output nor
 * the directories above it need exist. Outputs that are no files ("-", devices) are always fine. */
bool ntff_output_allowed(const char *output, const char *const *inputs, size_t n_inputs,
                         struct ntff_error *err) NTFF_MUST_CHECK;

/* True if two paths are, or would become, one file. */
bool ntff_same_output(const char *a, const char *b);

#endif
