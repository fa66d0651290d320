/* keymap - see keymap.h. */
#include "keymap.h"

#include "proto/mem.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

static const struct tui_binding bindings[] = {
#define X(id, section, keys, help) {TUI_ACT_##id, TUI_SEC_##section, keys, help},
    TUI_ACTION_TABLE(X)
#undef X
};

static const char *const titles[TUI_SEC_COUNT] = {
    "Time", "Tracks", "Spans", "Search", "Range and export", "Panes", "Program",
};

static const struct tui_gesture gestures[] = {
    {"click", "select what is there; on a fold mark: fold or unfold"},
    {"double click", "zoom to the span"},
    {"drag", "mark a range; on the overview: move the view"},
    {"wheel", "zoom at the pointer; on names and lists: scroll"},
    {"Shift+wheel", "pan"},
    {"Ctrl+wheel", "scroll the tracks"},
};

static const struct {
    const char *name;
    uint32_t key;
} names[] = {
    {"Up", TUI_KEY_UP},       {"Down", TUI_KEY_DOWN},           {"Left", TUI_KEY_LEFT},
    {"Right", TUI_KEY_RIGHT}, {"S-Left", TUI_KEY_SLEFT},        {"S-Right", TUI_KEY_SRIGHT},
    {"PgUp", TUI_KEY_PGUP},   {"PgDn", TUI_KEY_PGDN},           {"Home", TUI_KEY_HOME},
    {"End", TUI_KEY_END},     {"Insert", TUI_KEY_INSERT},       {"Delete", TUI_KEY_DELETE},
    {"Tab", TUI_KEY_TAB},     {"BackTab", TUI_KEY_BACKTAB},     {"Enter", TUI_KEY_ENTER},
    {"Esc", TUI_KEY_ESC},     {"Backspace", TUI_KEY_BACKSPACE}, {"Space", ' '},
};

const struct tui_binding *tui_bindings(size_t *n)
{
    *n = NTFF_ARRAY_LEN(bindings);
    return bindings;
}

const char *tui_section_title(enum tui_section s)
{
    return titles[s];
}

const struct tui_gesture *tui_gestures(size_t *n)
{
    *n = NTFF_ARRAY_LEN(gestures);
    return gestures;
}

uint32_t tui_key_parse(const char *name, size_t len)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(names); i++)
        if (strlen(names[i].name) == len && memcmp(names[i].name, name, len) == 0)
            return names[i].key;
    if (len == 3 && name[0] == 'C' && name[1] == '-' && name[2] >= 'a' && name[2] <= 'z')
        return (uint32_t)TUI_CTRL(name[2]);
    if ((len == 2 || len == 3) && name[0] == 'F' && name[1] >= '1' && name[1] <= '9') {
        uint32_t n = (uint32_t)(name[1] - '0');
        if (len == 3)
            n = name[2] >= '0' && name[2] <= '9' ? n * 10 + (uint32_t)(name[2] - '0') : 99;
        return n <= 12 ? TUI_KEY_F1 + n - 1 : 0;
    }
    int width;
    struct tui_text t = tui_text_from(name, len);
    uint32_t c = tui_text_next(&t, &width);
    return c != TUI_TEXT_END && t.p == t.end && t.escape_len == 0 && c != ' ' ? c : 0;
}

void tui_key_list(char *out, size_t cap)
{
    size_t at = (size_t)snprintf(out, cap, "characters");
    for (size_t i = 0; i < NTFF_ARRAY_LEN(names) && at < cap; i++)
        at += (size_t)snprintf(out + at, cap - at, ", %s", names[i].name);
    if (at < cap)
        snprintf(out + at, cap - at, ", F1 to F12, C-a to C-z");
}

size_t tui_key_name(uint32_t key, char *out)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(names); i++)
        if (names[i].key == key)
            return (size_t)snprintf(out, 16, "%s", names[i].name);
    if (key > TUI_KEY_CTRL && key <= TUI_KEY_CTRL + 26)
        return (size_t)snprintf(out, 16, "C-%c", (char)('a' + key - TUI_KEY_CTRL - 1));
    if (key >= TUI_KEY_F1 && key <= TUI_KEY_F12)
        return (size_t)snprintf(out, 16, "F%u", key - TUI_KEY_F1 + 1);
    int n = key > ' ' && key < 0x110000 ? tui_utf8_put(out, key) : 0;
    out[n] = 0;
    return (size_t)n;
}

enum tui_action tui_action_of(uint32_t key)
{
    for (size_t i = 0; i < NTFF_ARRAY_LEN(bindings); i++)
        for (const char *p = bindings[i].keys; *p;) {
            size_t len = strcspn(p, " ");
            if (tui_key_parse(p, len) == key)
                return bindings[i].action;
            p += len + (p[len] == ' ');
        }
    return TUI_ACT_NONE;
}
