/* textfmt - the pieces of protobuf text format: escaped strings, numbers as protoc writes them.
 * Knows: mem.
 * Output is printable ASCII whatever the input, so it may go to a terminal. Text is appended; when
 * memory runs out .failed of the buffer is set. */
#ifndef NTFF_TEXTFMT_H
#define NTFF_TEXTFMT_H

#include "mem.h"

/* C escapes without the quotes: \n \r \t \" \' \\, and three octal digits for every other byte
 * outside 0x20..0x7e. */
void ntff_text_escape(struct ntff_buf *b, const void *p, size_t len);

void ntff_text_u64(struct ntff_buf *b, uint64_t v);
void ntff_text_i64(struct ntff_buf *b, int64_t v);
/* The shortest of 6 or 9 (float), 15 or 17 (double) digits that reads back equal; inf, -inf, nan.
 */
void ntff_text_float(struct ntff_buf *b, float v);
void ntff_text_double(struct ntff_buf *b, double v);

#endif
