/* foreign - what is given where a capture is expected: traces for viewers, our own results among
 * them, and captures that are still packed.
 * Knows: input, wire. */
#ifndef NTFF_FOREIGN_H
#define NTFF_FOREIGN_H

#include "base.h"

/* "this is a Perfetto trace, not a capture" or the like if the file at path looks like something
 * known, else NULL. Meant for files in which nothing was found: a capture is not told from traces
 * with certainty. */
const char *ntff_foreign(const char *path);

/* "this is a tar archive; unpack it ..." if a file that begins so is an archive, else NULL. This is
 * certain: no file of a capture begins so. */
const char *ntff_archive(struct ntff_slice head);

#endif
