/* input - a file, pipe or gzip stream as bytes. The only module that reads files.
 * Knows: base, error, mem; zlib.
 * Memory: an input owns its mapping or buffer until ntff_input_close.
 * Errors: IO (path and errno in err), LIMIT (unpacked size over the limit), MALFORMED (gzip damage:
 *         what was unpacked before it is kept, .damaged is set and the call succeeds). */
#ifndef NTFF_INPUT_H
#define NTFF_INPUT_H

#include "error.h"
#include "mem.h"

struct ntff_input {
    const char *path;    /* borrowed, as shown; "-" is standard input */
    const uint8_t *data; /* everything, unpacked, after ntff_input_map */
    uint64_t len;
    uint64_t file_len; /* as stored; 0 when unknown (pipe) */
    bool gzip;
    bool damaged; /* the gzip stream ended badly; error text in .why */
    bool told;    /* the caller's: that it changed was said */
    char why[80];
    struct ntff_input_priv *priv;
};

/* Opens a path and peeks: .gzip is known and ntff_input_head works afterwards. */
enum ntff_status ntff_input_open(struct ntff_input *in, const char *path,
                                 struct ntff_budget *budget,
                                 struct ntff_error *err) NTFF_MUST_CHECK;

/* The same of a file whose name, where, need not be text: it is shown as path. */
enum ntff_status ntff_input_open_as(struct ntff_input *in, const char *where, const char *path,
                                    struct ntff_budget *budget,
                                    struct ntff_error *err) NTFF_MUST_CHECK;

/* The first bytes, unpacked; up to 64 KiB, fewer only if the input is shorter. */
struct ntff_slice ntff_input_head(const struct ntff_input *in);

/* Makes all bytes addressable: mapped for plain files, in memory for pipes and gzip. */
enum ntff_status ntff_input_map(struct ntff_input *in, struct ntff_error *err) NTFF_MUST_CHECK;

/* After ntff_input_map: the first run of bytes at or after pos that is really stored, as [*begin,
 * *end). Holes of a sparse file, which read as zeros, lie between the runs. False = nothing more.
 * Where holes are not known, all is one run. */
bool ntff_input_stored(const struct ntff_input *in, uint64_t pos, uint64_t *begin, uint64_t *end);

/* Instead of mapping: the next bytes in order, unpacked, from the beginning (the head included).
 * *got = 0 at the end. Memory stays constant. */
enum ntff_status ntff_input_read(struct ntff_input *in, void *buf, size_t cap, size_t *got,
                                 struct ntff_error *err) NTFF_MUST_CHECK;

/* True if the file is not any more what was opened: its size or the time of its last change
 * differs, or pages of it could not be read (below). Always false for pipes. */
bool ntff_input_changed(const struct ntff_input *in);

void ntff_input_close(struct ntff_input *in);

/* Reading a mapped page that is not there any more, because the file was cut or its disk fails,
 * raises SIGBUS. A program's handler calls this with siginfo's si_addr: if that lies in a mapped
 * input, zeros take the place of what is gone, the input counts as changed, and true tells the
 * handler to return. False = no page of ours. For this the mapped inputs form a list, the only
 * global state here: one thread at a time may map, close and read inputs. */
bool ntff_input_fault(const void *address);

#endif
