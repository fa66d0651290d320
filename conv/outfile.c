/* outfile - see outfile.h. */
#include "conv/outfile.h"

#include "conv/conv.h"
#include "conv/paths.h"

#include <string.h>

const char *conv_output_name(const char *path)
{
    return path && strcmp(path, "-") != 0 ? path : "standard output";
}

int conv_outfile_open(struct ntff_out **out, const char *path, bool force,
                      const struct conv_args *args)
{
    struct ntff_error err;
    size_t len = path ? strlen(path) : 0;
    bool gzip = len > 3 && strcmp(path + len - 3, ".gz") == 0;
    if (!path)
        path = "-";
    if (!conv_output_allowed(path, args->operands, args->n_operands, &err)) {
        conv_say("%s", err.text);
        return CONV_NOTHING;
    }
    int flags = (force ? NTFF_OUT_REPLACE : 0) | (gzip ? NTFF_OUT_GZIP : 0);
    if (ntff_out_open(out, path, flags, 0, &err) == NTFF_OK)
        return CONV_ALL;
    conv_say("%s%s", err.text, strstr(err.text, "exists") ? "; --force replaces it" : "");
    return CONV_NOTHING;
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
