/* guard - signals and limits, for the mains of programs. */
#include "proto/guard.h"

#include "proto/input.h"
#include "proto/out.h"

#include <signal.h>
#include <sys/resource.h>

/* Leaves no temporary file behind, then ends as the signal would have. */
static void on_signal(int sig)
{
    ntff_out_emergency();
    signal(sig, SIG_DFL);
    raise(sig);
}

/* A mapped file that was cut, or a fault of another kind. */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (!ntff_input_fault(info->si_addr))
        on_signal(sig);
}

void ntff_guard_inputs(void)
{
    struct sigaction bus = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    struct rlimit n;
    sigaction(SIGBUS, &bus, NULL);
    if (getrlimit(RLIMIT_NOFILE, &n) == 0 && n.rlim_cur < n.rlim_max) {
        n.rlim_cur = n.rlim_max;
        setrlimit(RLIMIT_NOFILE, &n);
    }
}

void ntff_guard_outputs(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ};
    for (size_t i = 0; i < NTFF_ARRAY_LEN(signals); i++) {
        struct sigaction old, ours = {.sa_handler = on_signal};
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &ours, NULL);
    }
}
