/* load - paths in, a trace out: finds the files of a capture, recognises them by content, decodes
 * them, pairs, aligns clocks, builds the model.
 * Knows: everything else in proto/. Prints nothing: progress and findings go to the caller. */
#ifndef NTFF_LOAD_H
#define NTFF_LOAD_H

#include "model.h"
#include "schema.h"

/* Fields rows can be grouped by; the vendor's names [AWS:PF]. */
enum {
    NTFF_BY_INSTANCE = 1,
    NTFF_BY_PROCESS = 2,
    NTFF_BY_NC = 4,
    NTFF_BY_THREAD = 8,
    NTFF_BY_GID = 16
};
#define NTFF_PRIMARY_DEFAULT (NTFF_BY_INSTANCE | NTFF_BY_PROCESS)
#define NTFF_SECONDARY_DEFAULT (NTFF_BY_GID | NTFF_BY_NC | NTFF_BY_THREAD)
/* "instance_id,process_id" -> mask; blanks around commas allowed [AWS:PF]. -1 on an unknown name.
 */
int ntff_group_parse(const char *text);

/* A point in time: Unix nanoseconds, or counted from the begin of the trace. */
struct ntff_moment {
    uint64_t ns;
    bool relative, given;
};
/* Unix time of m in a trace that begins at begin_ns; saturates. */
static inline uint64_t ntff_moment_ns(const struct ntff_moment *m, uint64_t begin_ns)
{
    return !m->relative ? m->ns : m->ns > UINT64_MAX - begin_ns ? UINT64_MAX : m->ns + begin_ns;
}

struct ntff_load_options {
    const struct ntff_schema *schema; /* NULL = built-in */
    enum ntff_clock_mode clock;
    int primary_group, secondary_group; /* masks; 0 = default */
    /* Filters; NULL/0 = everything. Texts as on the command line: comma lists, "0-3" ranges for
     * cores, names in either spelling, "hardware", "software", "^name" excludes. */
    const char *filter_core, *filter_type, *filter_process, *filter_instance;
    const char *filter_engine, *filter_queue; /* device profiles */
    bool no_flows;
    bool no_device; /* leave .ntff files alone */
    bool no_system; /* leave everything but .ntff alone */
    bool no_dma, no_semaphores, no_instructions;
    bool align_instances;
    /* A window the caller will clip to (ntff_trace_clip) when the load is done. It changes nothing
     * of what is left then: records of device profiles that lie surely outside need not be kept. */
    struct ntff_moment from, to;
    bool keep_outside; /* keep them all the same; for tests */
    unsigned jobs;     /* threads, 0 = one per processor; changes nothing but the time */
    size_t max_memory; /* bytes for the model, 0 = no limit */
    /* Called now and then with a share 0..1000 and what is being done; nonzero cancels. */
    int (*progress)(void *user, const char *what, int permille);
    void *progress_user;
};

/* Loads every path (file, directory, or "-" for standard input) into one trace. On NTFF_OK *out is
 * a trace with at least one file in it, possibly with no event at all (then err->text says what was
 * looked for; callers treat n_events + n_samples == 0 as nothing). diag gets the findings. Errors:
 * IO (no path readable), NOMEM, LIMIT, CANCELLED, INVALID (bad filter text). */
enum ntff_status ntff_load(const char *const *paths, size_t n_paths,
                           const struct ntff_load_options *opt, struct ntff_trace **out,
                           struct ntff_diag *diag, struct ntff_error *err) NTFF_MUST_CHECK;

/* Details are read from the mapped files as long as the trace lives. Looks at these files again:
 * those that are not what was loaded any more are counted as FILE_CHANGED, each once. Call it when
 * the output is complete. */
void ntff_load_recheck(struct ntff_trace *t, struct ntff_diag *diag);

#endif
