/* Files with the same bytes: found once each, whatever their order; holes are not walked. */
#include "proto/twins.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { N = 6, KIND = 2, OTHER_KIND = 6 };

static char paths[N][4096];
static struct ntff_input inputs[N];
static struct ntff_twins twins;

/* A file of len bytes that is a hole but for the text at its begin and the byte in its middle. */
static void add(size_t i, uint64_t len, const char *text, char middle, uint8_t kind)
{
    const char *tmp = getenv("TMP");
    struct ntff_error err;
    snprintf(paths[i], sizeof paths[i], "%s/twin%zu", tmp != NULL ? tmp : "/tmp", i);
    FILE *f = fopen(paths[i], "wb");
    TAP_OK(f != NULL);
    fputs(text, f);
    TAP_EQ_U64(fseeko(f, (off_t)(len / 3), SEEK_SET), 0);
    putc(middle, f);
    TAP_EQ_U64(fclose(f), 0);
    TAP_EQ_U64(truncate(paths[i], (off_t)len), 0);
    TAP_EQ_U64(ntff_input_open(&inputs[i], paths[i], NULL, &err), NTFF_OK);
    TAP_EQ_U64(ntff_input_map(&inputs[i], &err), NTFF_OK);
    TAP_OK(ntff_twins_add(&twins, NULL, &inputs[i], kind));
}

static uint64_t told(struct ntff_finding *f)
{
    struct ntff_diag diag = {0};
    ntff_twins_tell(&twins, &diag);
    *f = diag.of[NTFF_DIAG_SAME_BYTES];
    for (size_t i = 0; i < N; i++)
        if (inputs[i].path) {
            ntff_input_close(&inputs[i]);
            unlink(paths[i]);
            inputs[i] = (struct ntff_input){0};
        }
    NTFF_VEC_FREE(NULL, &twins.files);
    return f->count;
}

TAP_TEST(copies)
{
    struct ntff_finding f;
    add(0, 9000, "head", 'a', KIND);
    add(1, 9000, "head", 'b', KIND); /* differs where no sample is taken */
    add(2, 9001, "head", 'a', KIND);
    add(3, 9000, "head", 'a', OTHER_KIND);
    add(4, 9000, "head", 'a', KIND);
    add(5, 9000, "head", 'b', KIND);
    TAP_EQ_U64(told(&f), 2);
    TAP_OK(f.file == paths[4]);
    char want[200];
    snprintf(want, sizeof want, "as %.150s", paths[0]);
    TAP_EQ_STR(f.detail, want);
}

TAP_TEST(tiny)
{
    struct ntff_finding f;
    add(0, 60, "head", 'a', KIND);
    add(1, 60, "head", 'a', KIND);
    TAP_EQ_U64(told(&f), 0);
    TAP_EQ_U64(told(&f), 0);
}

/* 64 GiB each, of which a few pages are stored. */
TAP_TEST(holes)
{
    struct ntff_finding f;
    add(0, UINT64_C(1) << 36, "head", 'a', KIND);
    add(1, UINT64_C(1) << 36, "head", 'a', KIND);
    add(2, UINT64_C(1) << 36, "head", 'b', KIND);
    TAP_EQ_U64(told(&f), 1);
    TAP_OK(f.file == paths[1]);
}

TAP_MAIN()
