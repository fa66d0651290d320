/* style - see style.h. The span colours are mid-bright so that black text reads on them and they
 * read themselves on dark and on light backgrounds; red is kept for errors. */
#include "style.h"

#include <string.h>

#define BOLD TUI_ATTR_BOLD
#define DIM TUI_ATTR_DIM
#define REVERSE TUI_ATTR_REVERSE
#define UNDERLINE TUI_ATTR_UNDERLINE

static const struct {
    const char *name;
    int16_t f256, b256, f16, b16;
    uint8_t attrs, mono;
} styles[] = {
#define X(id, name, f256, b256, f16, b16, attrs, mono) {name, f256, b256, f16, b16, attrs, mono},
    TUI_STYLE_TABLE(X)
#undef X
};

/* 256-colour number, 16-colour number, of each hue */
static const struct {
    const char *span, *bar;
    int16_t c256, c16;
} hues[TUI_HUES] = {
    {"span0", "bar0", 75, 4},    /* blue */
    {"span1", "bar1", 113, 2},   /* green */
    {"span2", "bar2", 215, 3},   /* orange */
    {"span3", "bar3", 176, 5},   /* magenta */
    {"span4", "bar4", 80, 6},    /* cyan */
    {"span5", "bar5", 185, 3},   /* yellow */
    {"span6", "bar6", 141, 5},   /* violet */
    {"span7", "bar7", 210, 5},   /* salmon */
    {"span8", "bar8", 79, 2},    /* teal */
    {"span9", "bar9", 152, 6},   /* pale blue */
    {"span10", "bar10", 150, 2}, /* pale green */
    {"span11", "bar11", 180, 3}, /* tan */
    {"span12", "bar12", 105, 4}, /* indigo */
    {"span13", "bar13", 218, 7}, /* pink */
};

struct tui_look tui_style_look(int style, enum tui_colors colors)
{
    struct tui_look look = {-1, -1, 0};
    if (style >= TUI_STYLE_BAR && style < TUI_STYLE_COUNT) {
        int hue = style - TUI_STYLE_BAR;
        if (colors != TUI_COLORS_MONO)
            look.fg = colors == TUI_COLORS_256 ? hues[hue].c256 : hues[hue].c16;
    } else if (style >= TUI_STYLE_SPAN && style < TUI_STYLE_BAR) {
        int hue = style - TUI_STYLE_SPAN;
        if (colors == TUI_COLORS_MONO) {
            look.attrs = TUI_ATTR_REVERSE;
        } else {
            look.bg = colors == TUI_COLORS_256 ? hues[hue].c256 : hues[hue].c16;
            look.fg = colors == TUI_COLORS_256 ? 16 : look.bg == 4 ? 15 : 0;
        }
    } else if (style >= 0 && style < TUI_STYLE_SPAN) {
        look.attrs = colors == TUI_COLORS_MONO ? styles[style].mono : styles[style].attrs;
        if (colors != TUI_COLORS_MONO) {
            look.fg = colors == TUI_COLORS_256 ? styles[style].f256 : styles[style].f16;
            look.bg = colors == TUI_COLORS_256 ? styles[style].b256 : styles[style].b16;
        }
    }
    return look;
}

const char *tui_style_name(int style)
{
    if (style < 0 || style >= TUI_STYLE_COUNT)
        return "?";
    if (style >= TUI_STYLE_BAR)
        return hues[style - TUI_STYLE_BAR].bar;
    return style >= TUI_STYLE_SPAN ? hues[style - TUI_STYLE_SPAN].span : styles[style].name;
}

/* Colours people know from the vendor's viewer (nearest hue). */
static const struct {
    const char *name;
    int hue;
} known[] = {
    {"nc_exec_running", 3},  {"kbl_exec_wait", 0},    {"nrta_execute_schedule", 6},
    {"cc_exec_barrier", 10}, {"cc_running", 2},       {"nrt_tensor_write", 5},
    {"dmem_buf_copyin", 11}, {"dmem_buf_copyout", 1}, {"nrt_tensor_read", 8},
    {"nrt_execute", 9},      {"nc_model_switch", 11}, {"enc_barrier", 4},
    {"kbl_exec_pre", 13},    {"kmgr_exec_core", 7},   {"kbl_exec_core", 12},
};

int tui_hue_of(const char *name, size_t len)
{
    /* "nc_exec_running <model path>": the first word tells */
    const char *blank = memchr(name, ' ', len < 64 ? len : 64);
    size_t word = blank ? (size_t)(blank - name) : len;
    for (size_t i = 0; i < NTFF_ARRAY_LEN(known); i++)
        if (strlen(known[i].name) == word && memcmp(known[i].name, name, word) == 0)
            return known[i].hue;
    uint32_t h = 2166136261u; /* FNV-1a; the first 256 bytes do */
    for (size_t i = 0; i < len && i < 256; i++)
        if (name[i] < '0' || name[i] > '9')
            h = (h ^ (unsigned char)name[i]) * 16777619u;
    h ^= h >> 15;
    return (int)(h % TUI_HUES);
}
