/* say - lines for people, on standard error. File names and file contents may hold anything, a
 * terminal may not be given it. */
#include "conv/conv.h"

#include <stdarg.h>
#include <stdio.h>

void conv_say(const char *fmt, ...)
{
    char text[2048];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            *p = '?';
    fprintf(stderr, "ntff-conv: %s\n", text);
}
