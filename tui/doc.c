/* doc - see doc.h. */
#include "doc.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void tui_doc_clear(struct tui_doc *d)
{
    d->lines.n = 0;
    d->text.len = 0;
    d->text.failed = false;
    d->top = d->at = d->left = 0;
    d->key_cols = 0;
}

void tui_doc_done(struct tui_doc *d)
{
    NTFF_VEC_FREE(NULL, &d->lines);
    ntff_buf_free(&d->text);
    *d = (struct tui_doc){0};
}

static uint32_t keep(struct tui_doc *d, const char *p, size_t *len)
{
    size_t at = d->text.len;
    *len = *len < TUI_DOC_TEXT ? *len : TUI_DOC_TEXT;
    ntff_buf_add(&d->text, p, *len);
    d->starved |= d->text.failed;
    if (d->text.failed || at > UINT32_MAX - TUI_DOC_TEXT)
        *len = 0;
    return (uint32_t)at;
}

struct tui_doc_line *tui_doc_bytes(struct tui_doc *d, int key_style, const char *key,
                                   size_t key_len, int val_style, const char *val, size_t val_len)
{
    struct tui_doc_line *l = NTFF_VEC_PUSH(NULL, &d->lines);
    if (!l) {
        d->starved = true;
        return NULL;
    }
    *l = (struct tui_doc_line){
        .key_style = (uint8_t)key_style, .val_style = (uint8_t)val_style, .event = UINT32_MAX};
    size_t full = val_len;
    l->key = keep(d, key, &key_len);
    l->key_len = (uint32_t)key_len;
    l->val = keep(d, val, &val_len);
    if (full > val_len && !d->text.failed) { /* say how much there was */
        char more[48];
        size_t n = (size_t)snprintf(more, sizeof more, " ... (%zu bytes)", full);
        ntff_buf_add(&d->text, more, n);
        val_len += d->text.failed ? 0 : n;
    }
    l->val_len = (uint32_t)val_len;
    int cols = val_len ? tui_text_cols(key, key_len, 28) : 0;
    if (cols > d->key_cols)
        d->key_cols = cols;
    return l;
}

void tui_doc_head(struct tui_doc *d, const char *fmt, ...)
{
    char buf[256];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1;
    tui_doc_bytes(d, TUI_STYLE_TITLE_FOCUS, buf, len, TUI_STYLE_NORMAL, "", 0);
}

struct tui_doc_line *tui_doc_add(struct tui_doc *d, int style, const char *key, const char *fmt,
                                 ...)
{
    char buf[512];
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(buf, sizeof buf, fmt, ap);
    va_end(ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof buf ? (size_t)n : sizeof buf - 1;
    return tui_doc_bytes(d, TUI_STYLE_FIELD, key, strlen(key), style, buf, len);
}

void tui_doc_path(struct tui_doc *d, const char *key, const char *path, size_t len)
{
    struct tui_doc_line *l =
        tui_doc_bytes(d, TUI_STYLE_FIELD, key, strlen(key), TUI_STYLE_BOLD, path, len);
    if (l)
        l->path = true;
}

/* The longest begin of p[0..len) that fits into cols columns, at least one code point; up to the
 * last blank in it if something is left. */
static size_t fitting(const char *p, size_t len, int cols)
{
    struct tui_text t = tui_text_from(p, len);
    const char *blank = NULL;
    size_t fits = 0;
    for (int at = 0, w; t.p < t.end;) {
        const char *here = t.p;
        uint32_t c;
        do /* one that is shown as several is not taken apart */
            at += (c = tui_text_next(&t, &w)) == TUI_TEXT_END ? 0 : w;
        while (c != TUI_TEXT_END && t.escape_at < t.escape_len);
        if (at > cols && fits)
            return blank ? (size_t)(blank - p) : fits;
        if (c == ' ' && here > p)
            blank = here;
        fits = (size_t)(t.p - p);
    }
    return len;
}

void tui_doc_wrap(struct tui_doc *d, int style, int cols, const char *text, size_t len)
{
    char line[1024] = "  ";
    size_t indent = 0;
    while (len > 0) {
        size_t n = fitting(text, len, cols - (int)indent);
        n = tui_text_begin(text, n, sizeof line - indent);
        size_t shown = n;
        while (shown > 0 && text[shown - 1] == ' ')
            shown--;
        memcpy(line + indent, text, shown);
        if (shown > 0)
            tui_doc_bytes(d, style, line, indent + shown, TUI_STYLE_NORMAL, "", 0);
        text += n;
        len -= n;
        while (len > 0 && *text == ' ')
            text++, len--;
        memcpy(line, "  ", 2);
        indent = 2;
    }
}

static void settle(struct tui_doc *d, int h)
{
    int n = (int)d->lines.n;
    d->at = d->at >= n ? n - 1 : d->at;
    d->at = d->at < 0 ? 0 : d->at;
    if (d->at < d->top)
        d->top = d->at;
    if (d->at >= d->top + h)
        d->top = d->at - h + 1;
    if (d->top > n - h)
        d->top = n - h;
    if (d->top < 0)
        d->top = 0;
}

void tui_doc_move(struct tui_doc *d, int n, int h)
{
    long at = (long)d->at + n, last = (long)d->lines.n - 1;
    at = at > last ? last : at;
    d->at = at < 0 ? 0 : (int)at;
    settle(d, h);
}

void tui_doc_draw(struct tui_doc *d, struct tui_screen *s, struct tui_rect r, bool focus)
{
    settle(d, r.h);
    for (int y = 0; y < r.h && d->top + y < (int)d->lines.n; y++) {
        const struct tui_doc_line *l = &d->lines.v[d->top + y];
        const char *text = (const char *)d->text.p;
        bool here = focus && d->top + y == d->at;
        int key_style = here ? TUI_STYLE_LIST_SEL : l->key_style;
        int val_style = here ? TUI_STYLE_LIST_SEL : l->val_style;
        if (here)
            tui_fill(s, (struct tui_rect){r.x, r.y + y, r.w, 1}, TUI_STYLE_LIST_SEL, ' ');
        if (!l->val_len) {
            tui_put_cut(s, r.x, r.y + y, r.w, key_style, l->key_len ? text + l->key : "",
                        l->key_len);
            continue;
        }
        int key_cols = d->key_cols < r.w / 2 ? d->key_cols : r.w / 2, x = r.x + key_cols + 2;
        tui_put_cut(s, r.x, r.y + y, key_cols, key_style, l->key_len ? text + l->key : "",
                    l->key_len);
        if (l->path && !d->left) {
            tui_put_end(s, x, r.y + y, r.x + r.w - x, val_style, text + l->val, l->val_len);
            continue;
        }
        struct tui_text t = tui_text_from(text + l->val, l->val_len);
        for (int skip = d->left, w; skip > 0 && tui_text_next(&t, &w) != TUI_TEXT_END;)
            skip -= w > 0 ? w : 0;
        tui_put_cut(s, x, r.y + y, r.x + r.w - x, val_style, t.p, (size_t)(t.end - t.p));
    }
}
