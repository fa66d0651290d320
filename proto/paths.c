/* paths - see paths.h. Files are compared by device and inode; directories by their real paths,
 * since the output need not exist yet. */
#include "proto/paths.h"

#include <errno.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *last_component(const char *path, size_t *len)
{
    *len = strlen(path);
    while (*len > 1 && path[*len - 1] == '/')
        --*len;
    const char *p = path + *len;
    while (p > path && p[-1] != '/')
        p--;
    *len -= (size_t)(p - path);
    return p;
}

static bool is_word(const char *p, size_t len, const char *word)
{
    return len == strlen(word) && memcmp(p, word, len) == 0;
}

char *ntff_path_name(const char *path)
{
    size_t len;
    if (strcmp(path, "-") == 0)
        return strdup("stdin");
    const char *p = last_component(path, &len);
    if (!is_word(p, len, ".") && !is_word(p, len, "..") && !is_word(p, len, "/") && len > 0)
        return strndup(p, len);
    char *real = realpath(path, NULL);
    p = real ? last_component(real, &len) : "";
    char *name = real && len > 0 && *p != '/' ? strndup(p, len) : strdup("trace");
    free(real);
    return name;
}

/* Real path of the directory output is (or will be) in. NULL if there is none. */
static char *real_dir(const char *output)
{
    char *real = realpath(output, NULL);
    if (!real) {
        size_t len;
        const char *last = last_component(output, &len);
        char *dir = last > output ? strndup(output, (size_t)(last - output)) : strdup(".");
        real = dir ? realpath(dir, NULL) : NULL;
        free(dir);
        return real;
    }
    char *slash = strrchr(real, '/');
    slash[slash == real] = '\0';
    return real;
}

bool ntff_same_output(const char *a, const char *b)
{
    struct stat x, y;
    bool has_x = stat(a, &x) == 0, has_y = stat(b, &y) == 0;
    if (has_x && has_y)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino && S_ISREG(x.st_mode);
    if (has_x || has_y)
        return false;
    size_t n, m;
    const char *p = last_component(a, &n), *q = last_component(b, &m);
    char *dir = n == m && memcmp(p, q, n) == 0 ? real_dir(a) : NULL;
    char *other = dir ? real_dir(b) : NULL;
    bool same = other && strcmp(dir, other) == 0;
    free(dir);
    free(other);
    return same;
}

static bool inside(const char *dir, const char *of)
{
    size_t n = strlen(of);
    return strcmp(of, "/") == 0 || (strncmp(dir, of, n) == 0 && (dir[n] == '/' || dir[n] == '\0'));
}

/* Real path of the directory an input lies in; NULL if there is none. */
static char *parent_of(const char *path)
{
    size_t len;
    const char *last = last_component(path, &len);
    if (strcmp(path, "-") == 0 || is_word(last, len, ".") || is_word(last, len, ".."))
        return NULL;
    char *dir = last > path ? strndup(path, (size_t)(last - path)) : strdup(".");
    char *real = dir ? realpath(dir, NULL) : NULL;
    free(dir);
    return real;
}

char *ntff_default_name(const char *const *inputs, size_t n)
{
    char *dir = n > 1 ? parent_of(inputs[0]) : NULL;
    for (size_t i = 1; i < n && dir; i++) {
        char *other = parent_of(inputs[i]);
        if (!other || strcmp(dir, other) != 0) {
            free(dir);
            dir = NULL;
        }
        free(other);
    }
    char *name = ntff_path_name(dir && strcmp(dir, "/") != 0 ? dir : inputs[0]);
    free(dir);
    return name;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is a file one of those below a directory, which may be links to elsewhere? errno ENOMEM: there
 * was no memory to look everywhere. */
static bool below(const char *dir, const struct stat *file)
{
    char *roots[] = {(char *)dir, NULL};
    FTS *tree = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    bool found = false, short_of_memory = !tree && errno == ENOMEM;
    for (FTSENT *e; tree && !found && (errno = 0, e = fts_read(tree));) {
        found = e->fts_info == FTS_F && same_file(e->fts_statp, file);
        short_of_memory |= e->fts_errno == ENOMEM;
    }
    short_of_memory |= errno == ENOMEM;
    if (tree)
        fts_close(tree);
    errno = short_of_memory ? ENOMEM : 0;
    return found;
}

bool ntff_output_allowed(const char *output, const char *const *inputs, size_t n_inputs,
                         struct ntff_error *err)
{
    struct stat out, in;
    bool exists = stat(output, &out) == 0;
    if (strcmp(output, "-") == 0 || (exists && !S_ISREG(out.st_mode) && !S_ISDIR(out.st_mode)))
        return true;
    errno = 0;
    char *dir = real_dir(output);
    bool ok = true, known = dir || errno != ENOMEM; /* memory did not run out while looking */
    for (size_t i = 0; i < n_inputs && ok; i++) {
        if (strcmp(inputs[i], "-") == 0 || stat(inputs[i], &in) != 0)
            continue;
        if (exists && (same_file(&out, &in) || (S_ISDIR(in.st_mode) && below(inputs[i], &out)))) {
            ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "%s: is an input, not written over",
                      output);
            ok = false;
        }
        known &= errno != ENOMEM;
        char *real = ok && dir && S_ISDIR(in.st_mode) ? realpath(inputs[i], NULL) : NULL;
        known &= real || errno != ENOMEM;
        if (real && inside(dir, real)) {
            ntff_fail(
                err, NTFF_INVALID, NTFF_NO_OFFSET,
                "%s: lies in the input directory %s, which is only read; name a file elsewhere",
                output, inputs[i]);
            ok = false;
        }
        free(real);
    }
    free(dir);
    if (ok && !known)
        ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "%s: out of memory", output);
    return ok && known;
}
