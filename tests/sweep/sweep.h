/* sweep - what sweep.c, sample.c and subject.c share. Knows: proto/. */
#ifndef NTFF_TESTS_SWEEP_SWEEP_H
#define NTFF_TESTS_SWEEP_SWEEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* -- sample.c: an intact file, and what is known about it without the loader ------------------- */

enum sample_kind {
    SAMPLE_VARINT, /* records, each behind its length; shorter ones make the numbering unsure */
    SAMPLE_U32,
    SAMPLE_U64,
    SAMPLE_BARE, /* one message; its most frequent field holds the records */
    SAMPLE_JSON, /* a list of objects, "events" or bare */
    SAMPLE_GZIP,
    SAMPLE_OTHER
};

struct sample {
    enum sample_kind kind;
    char *path;
    const char *name; /* last part of path */
    uint8_t *p;
    size_t len;
    size_t n_records; /* whole ones; 0 where they are not counted */
    size_t *ends;     /* of each, ascending */
    bool *is_frame;   /* of each byte: part of a length or tag between records, or of a cut one */
    bool *is_clock;   /* of each byte: of a record with a pair of host and device time */
};

/* kind:path. Text that explains a failure, or NULL. */
const char *sample_read(struct sample *s, const char *argument);
void sample_free(struct sample *s);
/* Records that end within the first len bytes. */
size_t sample_whole(const struct sample *s, size_t len);
/* Is len a place between two records? */
bool sample_between(const struct sample *s, size_t len);

/* -- subject.c: one damaged file in front of the loader ---------------------------------------- */

/* Ends a process's work on the sample before, if any, and begins with s: its file in directory. */
void subject_begin(const struct sample *s, const char *directory);
/* The first len bytes, the one at `at` XORed with flip (0 = none). NULL, or what was wrong. */
const char *subject_try(size_t len, size_t at, uint8_t flip);
void subject_end(void);

#endif
