/* foreign - traces for viewers, our own results among them, given where a capture is expected.
 * Knows: input, wire. */
#ifndef NTFF_FOREIGN_H
#define NTFF_FOREIGN_H

/* "a Perfetto trace" or "a Chrome trace" if the file at path looks like one, else NULL. Meant for
 * files in which nothing was found: a capture is not told from them with certainty. */
const char *ntff_foreign(const char *path);

#endif
