/* outfile - see outfile.h. */
#include "conv/outfile.h"

#include "conv/conv.h"
#include "proto/paths.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const char *conv_output_name(const char *path)
{
    return path && strcmp(path, "-") != 0 ? path : "standard output";
}

bool conv_would_replace(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* Was the name chosen for its own sake? Not if it is a device, or empty as mktemp leaves files. */
static bool chosen(const char *path)
{
    struct stat st;
    return stat(path, &st) != 0 || conv_would_replace(path);
}

bool conv_has_suffix(const char *path, const char *suffix)
{
    size_t len = path ? strlen(path) : 0, end = strlen(suffix);
    if (len > 3 && strcmp(path + len - 3, ".gz") == 0)
        len -= 3;
    return len > end && memcmp(path + len - end, suffix, end) == 0;
}

bool conv_settle_format(int *format, const char *path, const struct conv_suffix *known, size_t n,
                        int fallback, struct ntff_error *err)
{
    size_t len = path ? strlen(path) : 0, at = 0;
    char list[160] = "";
    int by = -1;
    if (len > 3 && strcmp(path + len - 3, ".gz") == 0)
        len -= 3;
    for (size_t i = 0; i < n; i++) {
        if (conv_has_suffix(path, known[i].text))
            by = known[i].format;
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i ? ", " : "", known[i].text);
    }
    if (*format >= 0 && by >= 0 && by != *format)
        return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
                         "%s: -f asks for another format than this name", path) == NTFF_OK;
    if (*format < 0 && by < 0 && path) {
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        const char *dot = memrchr(name, '.', (size_t)(path + len - name));
        if (dot && dot > name && chosen(path))
            return ntff_fail(err, NTFF_INVALID, NTFF_NO_OFFSET,
                             "%s: no format has this suffix: %s, or -f", path, list) == NTFF_OK;
    }
    *format = *format >= 0 ? *format : by >= 0 ? by : fallback;
    return true;
}

int conv_outfile_open(struct ntff_out **out, const char *path, bool force,
                      const struct conv_args *args)
{
    struct ntff_error err;
    size_t len = path ? strlen(path) : 0;
    bool gzip = len > 3 && strcmp(path + len - 3, ".gz") == 0;
    if (!path)
        path = "-";
    if (!ntff_output_allowed(path, args->operands, args->n_operands, &err)) {
        conv_say("%s", err.text);
        return CONV_NOTHING;
    }
    int flags = (force ? NTFF_OUT_REPLACE : 0) | (gzip ? NTFF_OUT_GZIP : 0);
    if (ntff_out_open(out, path, flags, args->load.options.jobs, &err) == NTFF_OK)
        return CONV_ALL;
    conv_say("%s%s", err.text, strstr(err.text, "exists") ? "; --force replaces it" : "");
    return CONV_NOTHING;
}

/* Not open_memstream: that neither keeps nor tells that it could not grow. */
static ssize_t stream_write(void *out, const char *p, size_t n)
{
    ntff_out_write(out, p, n);
    return (ssize_t)n;
}

FILE *conv_outfile_stream(struct ntff_out *out)
{
    return fopencookie(out, "w", (cookie_io_functions_t){.write = stream_write});
}

int conv_outfile_close(struct ntff_out *out, const char *path, int code)
{
    struct ntff_error err;
    bool written = code == CONV_ALL || code == CONV_LOSSES || code == CONV_CHECK_FAILED;
    if (out && written && ntff_out_commit(out, &err) != NTFF_OK) {
        conv_say("%s: %s", conv_output_name(path), err.text);
        code = CONV_NOTHING;
    }
    ntff_out_close(out);
    return code;
}
