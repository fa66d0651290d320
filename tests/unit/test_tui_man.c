/* The manual page says what the program does: keys, mouse and options are those of the tables. */
#include "tests/tap.h"
#include "tui/args.h"
#include "tui/keymap.h"

#include <stdlib.h>
#include <string.h>

static char *page;

/* The page, with mdoc's escapes taken out: \- and \&. */
static void read_page(void)
{
    page = tap_source_text("tui/ntff-tui.1");
    size_t n = strlen(page), to = 0;
    for (size_t i = 0; i < n; i++) {
        if (page[i] == '\\' && page[i + 1] == '&')
            i++;
        else if (!(page[i] == '\\' && page[i + 1] == '-'))
            page[to++] = page[i];
    }
    page[to] = 0;
}

static int count(const char *from, const char *to, const char *what)
{
    int n = 0;
    for (const char *p = from; (p = strstr(p, what)) && p < to; p++)
        n++;
    return n;
}

TAP_TEST(keys)
{
    size_t n, n_keys = 0;
    read_page();
    const struct tui_binding *b = tui_bindings(&n);
    const char *begin = strstr(page, "\n.Sh KEYS\n"), *end = strstr(page, "\n.Sh STATISTICS\n");
    TAP_OK(begin && end);
    for (size_t i = 0; i < n; i++) {
        char want[600] = "\n.It", title[80];
        for (const char *p = b[i].keys; *p; n_keys++) {
            size_t len = strcspn(p, " ");
            snprintf(want + strlen(want), sizeof want - strlen(want), " Ic %.*s", (int)len, p);
            p += len + (p[len] == ' ');
        }
        snprintf(want + strlen(want), sizeof want - strlen(want), "\n%s\n", b[i].help);
        const char *at = strstr(begin, want);
        TAP_CONTEXT("tui/ntff-tui.1 lacks:%s", want);
        TAP_OK(at && at < end);
        /* in the section it has in the help */
        snprintf(title, sizeof title, "\n.Ss %s\n", tui_section_title(b[i].section));
        const char *section = strstr(begin, title),
                   *next = section ? strstr(section + 1, "\n.Ss ") : NULL;
        TAP_OK(section && at > section && (!next || at < next));
    }
    TAP_CONTEXT("keys in tui/ntff-tui.1 that the program does not know");
    TAP_EQ_I64(count(begin, end, " Ic "), n_keys);
    free(page);
}

TAP_TEST(mouse)
{
    size_t n;
    read_page();
    const struct tui_gesture *g = tui_gestures(&n);
    for (size_t i = 0; i < n; i++) {
        char want[300];
        snprintf(want, sizeof want, "\n.It Em %s\n%s\n", g[i].what, g[i].help);
        TAP_CONTEXT("tui/ntff-tui.1 lacks:%s", want);
        TAP_OK(strstr(page, want) != NULL);
    }
    free(page);
}

static void has_option(char letter, const char *name, const char *arg)
{
    char want[200], first[16] = "";
    if (letter)
        snprintf(first, sizeof first, " Fl %c ,", letter);
    snprintf(want, sizeof want, "%s Fl Fl %s%s%s", first, name, arg ? " Ar " : "", arg ? arg : "");
    TAP_CONTEXT("tui/ntff-tui.1 lacks:%s", want);
    TAP_OK(strstr(page, want) != NULL);
}

TAP_TEST(options)
{
    size_t n, k;
    read_page();
    const struct tui_option *o = tui_options(&n);
    const struct ntff_load_arg *l = ntff_load_args(&k);
    for (size_t i = 0; i < n; i++)
        has_option(o[i].letter, o[i].name, o[i].arg);
    for (size_t i = 0; i < k; i++) {
        has_option(ntff_load_arg_letter_of(&l[i]), l[i].name, l[i].arg);
        if (l[i].alias)
            has_option(0, l[i].alias, l[i].arg);
    }
    free(page);
}

TAP_MAIN()
