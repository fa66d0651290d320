/* fuzz - what the fuzz targets share: input as a stream of decisions, files without a file system,
 * and the whole path from a capture to both outputs with every promise checked on the way.
 * Knows: proto, perfetto, conv. For tests.
 *
 * A target defines LLVMFuzzerTestOneInput. Linked with -fsanitize=fuzzer it is a libFuzzer target,
 * linked with replay.c it runs files. A promise that does not hold ends the process. */
#ifndef NTFF_TESTS_FUZZ_H
#define NTFF_TESTS_FUZZ_H

#include "proto/load.h"

#include <stdio.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

/* Says what does not hold and aborts. */
_Noreturn void fuzz_fail(const char *file, int line, const char *fmt, ...) NTFF_PRINTF(3, 4);
#define FUZZ_OK(cond)                                                                              \
    do {                                                                                           \
        if (!(cond))                                                                               \
            fuzz_fail(__FILE__, __LINE__, "not true: %s", #cond);                                  \
    } while (0)
#define FUZZ_FAIL(...) fuzz_fail(__FILE__, __LINE__, __VA_ARGS__)

/* Sends what the programs print on standard error, and on standard output too if all, to nowhere;
 * sanitizers still write to descriptor 2. */
void fuzz_quiet(bool all);

/* Bytes as a file in memory; returns a path that can be opened until the slot is used again. */
enum { FUZZ_SLOTS = 4 };
const char *fuzz_file(unsigned slot, const void *p, size_t len);

/* The first bytes of an input are choices, the rest is the file. */
enum { FUZZ_CHOICES = 4 };
struct fuzz_choices {
    struct ntff_load_options load;
    bool compact, no_args, clip; /* of the outputs */
    bool window;                 /* clip to load.from and load.to, else to the middle */
    bool strange_schema;         /* the schema of tests/data/cases instead of ours */
};
struct fuzz_choices fuzz_choose(const uint8_t c[FUZZ_CHOICES]);

/* Loads the files, checks the model, writes both formats and checks them, clips and does it again.
 */
void fuzz_capture(const char *const *paths, size_t n, const struct fuzz_choices *c);

/* A target that is nothing but this: choices, then one file. */
int fuzz_one_file(const uint8_t *data, size_t size);

/* check_out.c: NULL, or what is wrong with an output (static text). stats: what its writer says it
 * wrote. */
struct pft_stats;
const char *fuzz_check_perfetto(struct ntff_slice bytes, const struct pft_stats *stats,
                                bool compact);
const char *fuzz_check_chrome(struct ntff_slice bytes, const struct pft_stats *stats);
const char *fuzz_check_json(struct ntff_slice text);

/* mutate.c: changes protobuf bytes so that they stay protobuf: fields go, come twice, change their
 * values, and the lengths around them are put right. */
enum fuzz_shape { FUZZ_SHAPE_RECORDS, FUZZ_SHAPE_NTFF };
size_t fuzz_mutate_pb(uint8_t *data, size_t size, size_t max_size, unsigned seed,
                      enum fuzz_shape shape);

#endif
