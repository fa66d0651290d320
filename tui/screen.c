/* screen - see screen.h. */
#include "screen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct tui_cell blank = {.ch = ' ', .width = 1};

bool tui_screen_resize(struct tui_screen *s, int w, int h)
{
    size_t bytes;
    w = w < 1 ? 1 : w > TUI_MAX_COLS ? TUI_MAX_COLS : w;
    h = h < 1 ? 1 : h;
    if (!ntff_mul_ok((size_t)w * (size_t)h, sizeof *s->cells, &bytes))
        return false;
    struct tui_cell *cells = realloc(s->cells, bytes);
    if (!cells)
        return false;
    s->cells = cells;
    s->w = w;
    s->h = h;
    tui_screen_clear(s);
    return true;
}

void tui_screen_done(struct tui_screen *s)
{
    free(s->cells);
    s->cells = NULL;
    s->w = s->h = 0;
}

void tui_screen_clear(struct tui_screen *s)
{
    for (size_t i = 0; i < (size_t)s->w * (size_t)s->h; i++)
        s->cells[i] = blank;
    s->cursor_x = s->cursor_y = -1;
}

static struct tui_cell *at(struct tui_screen *s, int x, int y)
{
    if (x < 0 || y < 0 || x >= s->w || y >= s->h)
        return NULL;
    return &s->cells[(size_t)y * (size_t)s->w + (size_t)x];
}

const struct tui_cell *tui_cell_at(const struct tui_screen *s, int x, int y)
{
    return at((struct tui_screen *)s, x, y);
}

bool tui_cell_same(const struct tui_cell *a, const struct tui_cell *b)
{
    return a->ch == b->ch && a->comb[0] == b->comb[0] && a->comb[1] == b->comb[1] &&
           a->width == b->width && a->style == b->style;
}

/* Blanks the other half of a wide code point that is about to lose one. */
static void split_wide(struct tui_screen *s, int x, int y)
{
    struct tui_cell *c = at(s, x, y), *other = NULL;
    if (!c || c->width == 1)
        return;
    other = at(s, c->width == 0 ? x - 1 : x + 1, y);
    if (other) {
        other->ch = ' ';
        other->comb[0] = other->comb[1] = 0;
        other->width = 1;
    }
    c->width = 1;
}

void tui_put(struct tui_screen *s, int x, int y, int style, uint32_t ch)
{
    struct tui_cell *c = at(s, x, y);
    if (!c)
        return;
    split_wide(s, x, y);
    if (s->ascii && ch > 0x7e)
        ch = '?';
    *c = (struct tui_cell){.ch = ch, .width = 1, .style = (uint8_t)style};
}

static void put_wide(struct tui_screen *s, int x, int y, int style, uint32_t ch)
{
    struct tui_cell *l = at(s, x, y), *r = at(s, x + 1, y);
    if (!l || !r) { /* half of it is outside */
        tui_put(s, l ? x : x + 1, y, style, ' ');
        return;
    }
    split_wide(s, x, y);
    split_wide(s, x + 1, y);
    *l = (struct tui_cell){.ch = ch, .width = 2, .style = (uint8_t)style};
    *r = (struct tui_cell){.ch = ' ', .width = 0, .style = (uint8_t)style};
}

static void put_combining(struct tui_screen *s, int x, int y, uint32_t ch)
{
    struct tui_cell *c = at(s, x, y);
    if (!c || s->ascii)
        return;
    if (!c->comb[0])
        c->comb[0] = ch;
    else if (!c->comb[1])
        c->comb[1] = ch;
}

void tui_fill(struct tui_screen *s, struct tui_rect r, int style, uint32_t ch)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++)
            tui_put(s, x, y, style, ch);
}

int tui_put_text(struct tui_screen *s, int x, int y, int max, int style, const char *p, size_t len)
{
    struct tui_text t = tui_text_from(p, len);
    int col = 0, w = 0, last = -1;
    uint32_t c;
    for (int left = TUI_TEXT_EFFORT(max); left > 0 && col < max; left--) {
        if ((c = tui_text_next(&t, &w)) == TUI_TEXT_END)
            return col;
        if (s->width && c >= 0x300) {
            w = s->width(c);
            if (w < 0) { /* this terminal's library does not know it */
                c = 0xFFFD;
                w = 1;
            }
        }
        if (w == 0) {
            if (last >= 0)
                put_combining(s, last, y, c);
            continue;
        }
        if (col + w > max)
            break;
        last = x + col;
        if (s->ascii && w == 2)
            tui_put(s, x + col + 1, y, style, '?');
        if (w == 2 && !s->ascii)
            put_wide(s, x + col, y, style, c);
        else
            tui_put(s, x + col, y, style, c);
        col += w;
    }
    /* marks that belong to the last column */
    for (int left = 4; left > 0 && last >= 0 && t.escape_at >= t.escape_len; left--) {
        if ((c = tui_text_next(&t, &w)) == TUI_TEXT_END || w != 0)
            break;
        put_combining(s, last, y, c);
    }
    return col;
}

int tui_put_cut(struct tui_screen *s, int x, int y, int max, int style, const char *p, size_t len)
{
    if (max <= 0)
        return 0;
    if (tui_text_cols(p, len, max + 1) <= max)
        return tui_put_text(s, x, y, max, style, p, len);
    int used = tui_put_text(s, x, y, max - 1, style, p, len);
    tui_put(s, x + used, y, style, s->ascii ? '~' : 0x2026);
    return used + 1;
}

/* Where the longest end of the text begins that takes at most cols columns. */
static size_t tail_of(const char *p, size_t len, int cols)
{
    size_t at = len;
    for (size_t k = len; k > 0 && len - k < (size_t)cols * 4 + 4; k--) {
        if (((unsigned char)p[k - 1] & 0xC0) == 0x80)
            continue; /* inside a sequence */
        if (tui_text_cols(p + k - 1, len - k + 1, cols + 1) > cols)
            break;
        at = k - 1;
    }
    return at;
}

int tui_put_middle(struct tui_screen *s, int x, int y, int max, int style, const char *p,
                   size_t len)
{
    if (max < 8 || tui_text_cols(p, len, max + 1) <= max)
        return tui_put_cut(s, x, y, max, style, p, len);
    int end = (max - 1) / 2 < 10 ? (max - 1) / 2 : 10;
    size_t tail = tail_of(p, len, end);
    int used = tui_put_text(s, x, y, max - 1 - end, style, p, len);
    tui_put(s, x + used++, y, style, s->ascii ? '~' : 0x2026);
    return used + tui_put_text(s, x + used, y, max - used, style, p + tail, len - tail);
}

int tui_put_end(struct tui_screen *s, int x, int y, int max, int style, const char *p, size_t len)
{
    if (max < 2 || tui_text_cols(p, len, max + 1) <= max)
        return tui_put_cut(s, x, y, max, style, p, len);
    size_t tail = tail_of(p, len, max - 1);
    tui_put(s, x, y, style, s->ascii ? '~' : 0x2026);
    return 1 + tui_put_text(s, x + 1, y, max - 1, style, p + tail, len - tail);
}

int tui_put_str(struct tui_screen *s, int x, int y, int max, int style, const char *str)
{
    return tui_put_text(s, x, y, max, style, str, strlen(str));
}

int tui_putf(struct tui_screen *s, int x, int y, int max, int style, const char *fmt, ...)
{
    char buf[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    if (n < 0)
        return 0;
    return tui_put_text(s, x, y, max, style, buf,
                        (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1);
}

void tui_restyle(struct tui_screen *s, struct tui_rect r, int style)
{
    for (int y = r.y; y < r.y + r.h; y++)
        for (int x = r.x; x < r.x + r.w; x++) {
            struct tui_cell *c = at(s, x, y);
            if (c)
                c->style = (uint8_t)style;
        }
}

size_t tui_screen_row_text(const struct tui_screen *s, int y, char *out, size_t cap)
{
    size_t len = 0, keep = 0;
    for (int x = 0; x < s->w; x++) {
        const struct tui_cell *c = tui_cell_at(s, x, y);
        if (!c || c->width == 0)
            continue;
        uint32_t chars[3] = {c->ch, c->comb[0], c->comb[1]};
        for (int i = 0; i < 3 && (i == 0 || chars[i]); i++) {
            if (len + 5 > cap)
                break;
            len += (size_t)tui_utf8_put(out + len, chars[i]);
        }
        if (c->ch != ' ' || c->comb[0])
            keep = len;
    }
    if (cap)
        out[keep < cap ? keep : cap - 1] = 0;
    return keep;
}
