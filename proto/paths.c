/* paths - see paths.h.
 *
 * Is an output part of the input? Names cannot tell, because links lead everywhere; device and
 * inode can. Of the output, which need not exist yet, the directories above it are noted that do.
 * Then the inputs are walked as a load walks them: an input directory that is noted has the output
 * in it. */
#include "proto/paths.h"

#include "proto/builder.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* Of a path that ends in a link, where that leads; NULL if it is none, or for want of memory. */
static char *link_target(const char *path)
{
    char to[PATH_MAX], *next;
    ssize_t n = readlink(path, to, sizeof to);
    if (n <= 0 || (size_t)n == sizeof to)
        return NULL;
    size_t len;
    const char *last = last_component(path, &len);
    int dir = to[0] == '/' ? 0 : (int)(last - path);
    return asprintf(&next, "%.*s%.*s", dir, path, (int)n, to) < 0 ? NULL : next;
}

char *ntff_output_target(const char *path)
{
    enum { MAX_LINKS = 40 }; /* as many as the kernel follows */
    char *at = strdup(path);
    for (int i = 0; at && i < MAX_LINKS; i++) {
        char *real = realpath(at, NULL), *next = NULL;
        if (!real && errno != ENOMEM) {
            errno = 0;
            if (!(next = link_target(at)) && errno != ENOMEM)
                return at;
        }
        free(at);
        if (real)
            return real;
        at = next;
        errno = at ? ELOOP : ENOMEM;
    }
    int e = errno;
    free(at);
    errno = e;
    return NULL;
}

/* Cuts the last component off; an empty path is the current directory. False: there is none. */
static bool cut_last(char *path)
{
    size_t len;
    char *last = path + (last_component(path, &len) - path);
    bool any = *last != '\0';
    *last = '\0';
    return any;
}

/* Real path of the nearest directory above target, or target itself, that exists. NULL with errno
 * if there is none. */
static char *nearest_dir(const char *target)
{
    char *at = strdup(target), *real = NULL;
    for (bool more = at != NULL; more && !real; more = !real && errno != ENOMEM && cut_last(at)) {
        struct stat st;
        real = realpath(*at ? at : ".", NULL);
        if (real && (stat(real, &st) != 0 || !S_ISDIR(st.st_mode))) {
            free(real);
            real = NULL;
            errno = ENOTDIR;
        }
    }
    int e = errno;
    free(at);
    errno = e;
    return real;
}

/* Real path of the directory a target is (or will be) in. NULL if there is none. */
static char *real_dir(const char *target)
{
    size_t len;
    const char *last = last_component(target, &len);
    char *dir = last > target ? strndup(target, (size_t)(last - target)) : strdup(".");
    char *real = dir ? realpath(dir, NULL) : NULL;
    free(dir);
    return real;
}

static bool same_place(const char *a, const char *b)
{
    size_t n, m;
    const char *p = last_component(a, &n), *q = last_component(b, &m);
    char *dir = n == m && memcmp(p, q, n) == 0 ? real_dir(a) : NULL;
    char *other = dir ? real_dir(b) : NULL;
    bool same = other && strcmp(dir, other) == 0;
    free(dir);
    free(other);
    return same;
}

bool ntff_same_output(const char *a, const char *b)
{
    struct stat x, y;
    bool has_x = stat(a, &x) == 0, has_y = stat(b, &y) == 0;
    if (has_x && has_y)
        return x.st_dev == y.st_dev && x.st_ino == y.st_ino && S_ISREG(x.st_mode);
    if (has_x || has_y)
        return false;
    char *to_a = ntff_output_target(a), *to_b = to_a ? ntff_output_target(b) : NULL;
    bool same = to_b && same_place(to_a, to_b);
    free(to_a);
    free(to_b);
    return same;
}

/* Real path of the directory an input lies in; NULL if there is none. */
static char *parent_of(const char *path)
{
    size_t len;
    const char *last = last_component(path, &len);
    if (strcmp(path, "-") == 0 || is_word(last, len, ".") || is_word(last, len, ".."))
        return NULL;
    return real_dir(path);
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

/* -- is the output part of the input? -------------------------------------------------------------
 */

enum { NOTED = 1, SEEN }; /* a directory above the output; one walked already */

struct search {
    struct ntff_map places; /* NOTED or SEEN */
    const struct stat *out; /* NULL = the output does not exist */
    bool is_input, no_memory;
    char in[PATH_MAX]; /* the input directory the output lies in, "" = none so far */
};

static struct ntff_map_slot *place_of(struct search *s, const struct stat *st)
{
    struct ntff_map_slot *slot =
        ntff_map_at(&s->places, (struct ntff_key){st->st_dev, st->st_ino, 0});
    s->no_memory |= !slot;
    return slot;
}

/* Notes all directories above an output. */
static void note_above(struct search *s, const char *output)
{
    char *target = ntff_output_target(output), *dir = target ? nearest_dir(target) : NULL;
    s->no_memory |= !dir && errno == ENOMEM;
    for (bool more = dir != NULL; more; more = cut_last(dir)) {
        struct stat st;
        struct ntff_map_slot *slot = stat(dir, &st) == 0 ? place_of(s, &st) : NULL;
        if (slot)
            slot->value = NOTED;
    }
    free(dir);
    free(target);
}

static bool done(const struct search *s)
{
    return s->is_input || s->no_memory || (*s->in && !s->out);
}

static int not_hidden(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static void search(struct search *s, const char *path, int depth);

static void search_dir(struct search *s, const char *path, int depth)
{
    struct dirent **names = NULL;
    int n = scandir(path, &names, not_hidden, versionsort);
    s->no_memory |= n < 0 && errno == ENOMEM;
    for (int i = 0; i < n; i++) {
        char sub[PATH_MAX];
        size_t len = strlen(path);
        bool plain = names[i]->d_type == DT_REG && !s->out; /* can be neither */
        int k = plain || done(s) ? -1
                                 : snprintf(sub, sizeof sub, "%s%s%s", path,
                                            path[len - 1] == '/' ? "" : "/", names[i]->d_name);
        if (k > 0 && (size_t)k < sizeof sub)
            search(s, sub, depth + 1);
        free(names[i]);
    }
    free(names);
}

/* Looks for the output in an input, or in what lies below it. */
static void search(struct search *s, const char *path, int depth)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return;
    s->is_input |= s->out && same_file(&st, s->out);
    if (!S_ISDIR(st.st_mode) || depth > NTFF_MAX_DIR_DEPTH || s->is_input)
        return;
    struct ntff_map_slot *slot = place_of(s, &st);
    if (!slot || slot->value == SEEN)
        return;
    if (slot->value == NOTED && !*s->in)
        snprintf(s->in, sizeof s->in, "%s", path);
    slot->value = SEEN;
    if (!done(s))
        search_dir(s, path, depth);
}

bool ntff_output_allowed(const char *output, const char *const *inputs, size_t n_inputs,
                         struct ntff_error *err)
{
    struct stat out;
    bool exists = stat(output, &out) == 0;
    if (strcmp(output, "-") == 0 || (exists && !S_ISREG(out.st_mode) && !S_ISDIR(out.st_mode)))
        return true;
    struct search s = {.out = exists && S_ISREG(out.st_mode) ? &out : NULL};
    note_above(&s, output);
    for (size_t i = 0; i < n_inputs && !done(&s); i++)
        if (strcmp(inputs[i], "-") != 0)
            search(&s, inputs[i], 0);
    ntff_map_free(&s.places);
    enum ntff_status status = NTFF_OK;
    if (s.no_memory)
        status = ntff_fail(err, NTFF_NOMEM, NTFF_NO_OFFSET, "%s: out of memory", output);
    else if (s.is_input)
        status = ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET, "%s: is an input, not written over",
                           output);
    else if (*s.in)
        status = ntff_fail(
            err, NTFF_INVALID, NTFF_NO_OFFSET,
            "%s: lies in the input directory %s, which is only read; name a file elsewhere", output,
            s.in);
    return status == NTFF_OK;
}
