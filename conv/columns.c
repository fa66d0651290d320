/* columns - see columns.h. Width is counted in characters; wide ones come out a little ragged. */
#include "conv/columns.h"

#include "conv/conv.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct conv_columns conv_columns_begin(const char *align)
{
    return (struct conv_columns){.align = align};
}

/* text as conv_put_text shows it; NULL when memory ran out. */
static char *visible(const char *text)
{
    char *out = NULL;
    size_t len;
    FILE *f = open_memstream(&out, &len);
    if (!f)
        return NULL;
    conv_put_text(f, text);
    if (fclose(f) == 0)
        return out;
    free(out);
    return NULL;
}

void conv_cell(struct conv_columns *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    char **cell = NTFF_VEC_PUSH(NULL, &c->cells);
    if (cell)
        *cell = visible(text);
    c->failed |= !cell || !*cell;
}

static int width(const char *text)
{
    int n = 0;
    for (; text && *text; text++)
        n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

bool conv_columns_print(struct conv_columns *c, FILE *to, const char *indent)
{
    size_t n_cols = strlen(c->align);
    int widths[32] = {0};
    for (size_t i = 0; i < c->cells.n; i++) {
        int w = width(c->cells.v[i]);
        if (i % n_cols < NTFF_ARRAY_LEN(widths) && w > widths[i % n_cols])
            widths[i % n_cols] = w;
    }
    for (size_t row = 0; !c->failed && row + n_cols <= c->cells.n; row += n_cols) {
        size_t last = n_cols;
        while (last > 1 && width(c->cells.v[row + last - 1]) == 0)
            last--;
        for (size_t col = 0; col < last; col++) {
            const char *text = c->cells.v[row + col];
            int pad = col < NTFF_ARRAY_LEN(widths) ? widths[col] - width(text) : 0;
            bool right = c->align[col] == 'r';
            fputs(col == 0 ? indent : "  ", to);
            fprintf(to, "%*s%s%*s", right ? pad : 0, "", text, right || col + 1 == last ? 0 : pad,
                    "");
        }
        fputc('\n', to);
    }
    for (size_t i = 0; i < c->cells.n; i++)
        free(c->cells.v[i]);
    NTFF_VEC_FREE(NULL, &c->cells);
    return !c->failed;
}
