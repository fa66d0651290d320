/* foreign - traces for viewers, our own results among them, given where a capture is expected.
 * Knows: input. */
#ifndef CONV_FOREIGN_H
#define CONV_FOREIGN_H

/* "a Perfetto trace" or "a Chrome trace" if the file at path looks like one, else NULL. Meant for
 * files in which nothing was found: a capture is not told from them with certainty. */
const char *conv_foreign(const char *path);

#endif
