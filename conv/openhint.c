/* openhint - see openhint.h. The command can be pasted: a name the shell would take apart is
 * quoted. */
#include "conv/openhint.h"

#include "conv/conv.h"
#include "proto/mem.h"

#include <string.h>

static bool plain(const char *path)
{
    static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_./+,:@%-";
    return path[strspn(path, fine)] == '\0';
}

/* As one word for the shell, harmless on a terminal. */
static void put_word(FILE *to, const char *path)
{
    struct ntff_buf word = {0};
    size_t quoted = plain(path) ? 0 : 1;
    if (path[0] == '-')
        ntff_buf_add(&word, "./", 2);
    ntff_buf_add(&word, "'", quoted);
    for (const char *p = path; *p; p++)
        ntff_buf_add(&word, *p == '\'' ? "'\\''" : p, *p == '\'' ? 4 : 1);
    ntff_buf_add(&word, "'", quoted);
    ntff_buf_add(&word, "", 1);
    if (!word.failed)
        conv_put_text(to, (const char *)word.p);
    ntff_buf_free(&word);
}

void conv_open_hint(FILE *to, const char *path, uint64_t bytes)
{
    if (bytes <= CONV_OPEN_BROWSER_BYTES) {
        fputs("To see it: https://ui.perfetto.dev, \"Open trace file\", ", to);
        conv_put_text(to, path);
        fputs(".\nThe page reads the file in the browser and sends it nowhere.\n", to);
        return;
    }
    fprintf(to,
            "To see it: %.0f MB are a lot for a browser, so let trace_processor read them:\n"
            "  trace_processor --httpd ",
            (double)bytes / 1e6);
    put_word(to, path);
    fputs(
        "\nthen open or reload https://ui.perfetto.dev, which finds it on port 9001 and offers to "
        "use it.\nOr write less: --from and --to, --core, --type, --compact, --no-args.\n",
        to);
}
