/* replay - runs a fuzz target over files and directories: `TARGET PATH...`. In the place of
 * libFuzzer's main, for compilers and machines that have no libFuzzer. Prints how many inputs ran.
 */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* There if the target wants it; the mutator's counterpart is libFuzzer's. */
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return 0;
}
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    (void)data, (void)max_size;
    return size;
}

static FILE *out; /* targets may silence the usual one */

static size_t run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    struct stat st;
    if (f == NULL || fstat(fileno(f), &st) != 0) {
        fprintf(out, "%s: cannot read\n", path);
        exit(1);
    }
    /* exactly as long as it is, so that a byte too much is noticed */
    uint8_t *p = malloc((size_t)st.st_size + (st.st_size == 0));
    size_t len = p != NULL ? fread(p, 1, (size_t)st.st_size, f) : 0;
    fclose(f);
    if (len == (size_t)st.st_size)
        LLVMFuzzerTestOneInput(p, len);
    free(p);
    return 1;
}

static size_t run_path(const char *path)
{
    DIR *d = opendir(path);
    if (d == NULL)
        return run_file(path);
    size_t n = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char inner[4096];
        if (e->d_name[0] == '.')
            continue;
        snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        n += run_file(inner);
    }
    closedir(d);
    return n;
}

int main(int argc, char **argv)
{
    out = fdopen(dup(STDOUT_FILENO), "w");
    if (out == NULL)
        return 2;
    setvbuf(out, NULL, _IOLBF, 0);
    LLVMFuzzerInitialize(&argc, &argv);
    size_t n = 0;
    for (int i = 1; i < argc; i++) {
        if (getenv("FUZZ_VERBOSE") != NULL)
            fprintf(out, "%s\n", argv[i]);
        n += run_path(argv[i]);
    }
    fprintf(out, "%zu inputs\n", n);
    fclose(out);
    return n == 0;
}
