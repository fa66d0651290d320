/* about - two pages to read: the help, made from the key table, and what is known about the trace:
 * files and how they were read, clocks and how good they are, and everything that is missing. */
#include "app_priv.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void tui_help_make(struct tui_doc *d)
{
    size_t n, k;
    const struct tui_binding *b = tui_bindings(&n);
    const struct tui_gesture *g = tui_gestures(&k);
    for (int sec = 0; sec < TUI_SEC_COUNT; sec++) {
        if (sec)
            tui_doc_head(d, " ");
        tui_doc_head(d, "%s", tui_section_title((enum tui_section)sec));
        for (size_t i = 0; i < n; i++)
            if ((int)b[i].section == sec)
                tui_doc_bytes(d, TUI_STYLE_KEY, b[i].keys, strlen(b[i].keys), TUI_STYLE_VALUE,
                              b[i].help, strlen(b[i].help));
    }
    tui_doc_head(d, " ");
    tui_doc_head(d, "Mouse");
    for (size_t i = 0; i < k; i++)
        tui_doc_bytes(d, TUI_STYLE_KEY, g[i].what, strlen(g[i].what), TUI_STYLE_VALUE, g[i].help,
                      strlen(g[i].help));
    tui_doc_head(d, " ");
    tui_doc_head(d, "Reading the timeline");
    tui_doc_add(d, TUI_STYLE_VALUE, "box", "one span; its colour follows from its name");
    tui_doc_add(d, TUI_STYLE_VALUE, "sliver", "one span shorter than the column, as wide as it is");
    tui_doc_add(d, TUI_STYLE_VALUE, "bar",
                "several spans; as high as the column is busy, in the colour of "
                "the name that takes most of it");
    tui_doc_add(d, TUI_STYLE_VALUE, "!", "an error: never hidden by anything else");
    tui_doc_add(d, TUI_STYLE_VALUE, "ends",
                "marks for: no start, no stop, cut at the edge of what was loaded");
    tui_doc_add(d, TUI_STYLE_VALUE, "number", "beside a track: how busy it is in view");
}

static void about_files(const struct tui_app *a, struct tui_doc *d)
{
    const struct ntff_trace *t = a->t;
    for (size_t i = 0; i < t->n_files; i++) {
        const struct ntff_file *f = &t->files[i];
        char n[TUI_TIME_CAP];
        tui_doc_head(d, " ");
        tui_doc_path(d, "file", ntff_str_of(t, f->path), ntff_text_len(&t->strs, f->path));
        tui_fmt_short(n, f->size_bytes);
        tui_doc_add(d, TUI_STYLE_VALUE, "kind", "%s%s, %sB", ntff_file_kind_name(f->kind),
                    f->gzip ? " (gzip)" : "", n);
        tui_fmt_count(n, f->n_records);
        tui_doc_add(d, f->n_dropped ? TUI_STYLE_WARN : TUI_STYLE_VALUE, "records",
                    "%s, %" PRIu64 " dropped", n, f->n_dropped);
        for (size_t k = 0; k < f->facts.n; k++) {
            const struct ntff_fact *c = &f->facts.v[k];
            char text[400];
            const char *how = c->how ? ntff_str_of(t, c->how) : "";
            snprintf(text, sizeof text, "%.300s%s%.80s%s", ntff_str_of(t, c->value),
                     *how ? "  (" : "", how, *how ? ")" : "");
            tui_doc_bytes(d, TUI_STYLE_FIELD, ntff_str_of(t, c->key),
                          ntff_text_len(&t->strs, c->key), TUI_STYLE_VALUE, text, strlen(text));
        }
    }
}

static void about_clocks(const struct tui_app *a, struct tui_doc *d)
{
    const struct ntff_trace *t = a->t;
    if (!t->n_clocks)
        return;
    tui_doc_head(d, " ");
    tui_doc_head(d, "Clocks (%s)", ntff_clock_mode_name(t->clock_mode));
    for (size_t i = 0; i < t->n_clocks; i++) {
        const struct ntff_core_clock *c = &t->clocks[i];
        char key[64], pid[32] = "", text[240];
        if (t->n_processes > 1 && c->process < t->n_processes && t->processes[c->process].pid)
            snprintf(pid, sizeof pid, "pid %" PRIu64 ", ", t->processes[c->process].pid);
        snprintf(key, sizeof key, "%sNC%u core %d", pid, c->nc,
                 c->core == NTFF_NONE ? -1 : (int)c->core);
        ntff_clock_describe(c->map, text, sizeof text);
        tui_doc_add(d, TUI_STYLE_VALUE, key, "%s", text);
        if (c->n_extrapolated || c->n_nearest || c->n_unplaced)
            tui_doc_add(d, TUI_STYLE_WARN, "",
                        "%u placed by extrapolation, %u by the nearest pair, %u not at all",
                        c->n_extrapolated, c->n_nearest, c->n_unplaced);
    }
}

static void about_findings(const struct tui_app *a, struct tui_doc *d)
{
    static const struct {
        enum ntff_grade grade;
        const char *title;
        int style;
    } parts[] = {
        {NTFF_LOSS, "Missing from what you see", TUI_STYLE_WARN},
        {NTFF_REPAIR, "Completed or replaced", TUI_STYLE_NOTE},
        {NTFF_NOTE, "Worth knowing", TUI_STYLE_VALUE},
    };
    bool any = false;
    for (size_t p = 0; a->o.diag && p < NTFF_ARRAY_LEN(parts); p++) {
        bool head = false;
        for (int i = 0; i < NTFF_DIAG_COUNT; i++) {
            char line[900];
            if (!a->o.diag->of[i].count ||
                ntff_diag_grade((enum ntff_diag_kind)i) != parts[p].grade)
                continue;
            if (!head) {
                tui_doc_head(d, " ");
                tui_doc_head(d, "%s", parts[p].title);
            }
            head = any = true;
            size_t len = ntff_diag_line(a->o.diag, (enum ntff_diag_kind)i, line, sizeof line);
            tui_doc_wrap(d, parts[p].style, a->w > 8 ? a->w - 2 : 6, line, len);
        }
    }
    if (!any)
        tui_doc_add(d, TUI_STYLE_NOTE, "losses", "none: everything in the files is here");
}

void tui_about_make(struct tui_app *a, struct tui_doc *d)
{
    const struct ntff_trace *t = a->t;
    char from[TUI_TIME_CAP], n[TUI_TIME_CAP], m[TUI_TIME_CAP];
    const char *title = a->o.title ? a->o.title : "";
    tui_doc_path(d, "opened", title, strlen(title));
    tui_fmt_utc(from, t->begin_ns);
    tui_app_dur(a, n, t->end_ns - t->begin_ns);
    tui_doc_add(d, TUI_STYLE_VALUE, "begins", "%s UTC", from);
    tui_doc_add(d, TUI_STYLE_VALUE, "lasts", "%s   %" PRIu64 " ns", n, t->end_ns - t->begin_ns);
    tui_fmt_count(n, t->n_events);
    tui_fmt_count(m, t->n_samples);
    tui_doc_add(d, TUI_STYLE_VALUE, "holds", "%s events, %s counter samples, %zu flows, %zu tracks",
                n, m, t->n_flows, t->n_tracks);
    if (a->l->n_alarms) {
        tui_fmt_count(n, a->l->n_errors);
        tui_doc_add(d, TUI_STYLE_WARN, "errors", "%s (x goes to the next)", n);
    }
    about_findings(a, d);
    about_clocks(a, d);
    about_files(a, d);
}
