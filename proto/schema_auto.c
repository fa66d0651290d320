/* schema_auto - finds the libnrt.so of this machine without loading it.
 *
 * Looked at, in this order: each directory of the library path (LD_LIBRARY_PATH, handed in by the
 * program), then the directory the runtime's packages install to. The first file that holds a
 * schema is taken. */
#include "proto/schema.h"

#include <glob.h>
#include <stdio.h>
#include <string.h>

#define USUAL_PLACE "/opt/aws/neuron/lib"

struct finder {
    struct ntff_schema **out;
    struct ntff_error last; /* why the last file seen was none */
    unsigned n_seen;
};

/* Appends dir to out with the characters glob would interpret escaped. False if it does not fit. */
static bool glob_escape(const char *dir, size_t len, char *out, size_t cap)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (strchr("\\*?[", dir[i]) && dir[i]) {
            if (n + 1 >= cap)
                return false;
            out[n++] = '\\';
        }
        if (n + 1 >= cap)
            return false;
        out[n++] = dir[i];
    }
    out[n] = '\0';
    return true;
}

/* True when the search is over: a schema was found. */
static bool look_in(struct finder *f, const char *dir, size_t len)
{
    char escaped[2048], pattern[2100];
    glob_t g;
    bool found = false;
    if (len == 0 || !glob_escape(dir, len, escaped, sizeof escaped))
        return false;
    snprintf(pattern, sizeof pattern, "%s/libnrt.so*", escaped);
    if (glob(pattern, 0, NULL, &g) != 0)
        return false;
    for (size_t i = 0; i < g.gl_pathc && !found; i++) {
        f->n_seen++;
        found = ntff_schema_load(g.gl_pathv[i], f->out, &f->last) == NTFF_OK;
    }
    globfree(&g);
    return found;
}

enum ntff_status ntff_schema_auto(const char *library_path, struct ntff_schema **out,
                                  struct ntff_error *err)
{
    struct finder f = {.out = out};
    for (const char *p = library_path; p && *p;) {
        size_t len = strcspn(p, ":;");
        if (look_in(&f, p, len))
            return NTFF_OK;
        p += len + (p[len] != '\0');
    }
    if (look_in(&f, USUAL_PLACE, strlen(USUAL_PLACE)))
        return NTFF_OK;
    if (f.n_seen)
        return ntff_fail(err, f.last.status, f.last.offset,
                         "%u libnrt.so seen, none usable; the last: %s", f.n_seen, f.last.text);
    return ntff_fail(err, NTFF_IO, NTFF_NO_OFFSET,
                     "no libnrt.so in LD_LIBRARY_PATH nor in " USUAL_PLACE
                     "; name one, or copy it from the machine of the capture");
}

enum ntff_status ntff_schema_open(const char *from, const char *library_path,
                                  struct ntff_schema **out, struct ntff_error *err)
{
    if (!from || !*from)
        return ntff_schema_builtin(out, err);
    if (strcmp(from, "auto") == 0)
        return ntff_schema_auto(library_path, out, err);
    return ntff_schema_load(from, out, err);
}
