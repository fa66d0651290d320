/* clock_sim - clock pairs of a simulated core, with the truth.
 * Knows: proto/clock.h.
 *
 * A host runs executions at regular intervals. The core's clock has its own origin, a constant
 * drift and a slow wander (a sine); after each execution a pair is read, whose host half is off by
 * the noise asked for. What the estimator is given are the pairs; what it is judged by are the true
 * host times of the executions. The same options give the same numbers. */
#ifndef NTFF_TESTS_CLOCK_SIM_H
#define NTFF_TESTS_CLOCK_SIM_H

#include "proto/clock.h"

enum clock_sim_noise {
    CLOCK_SIM_EXACT,
    CLOCK_SIM_LATE,      /* exponential, mean noise_ns */
    CLOCK_SIM_SYMMETRIC, /* normal, standard deviation noise_ns */
    CLOCK_SIM_UNIFORM    /* -noise_ns .. noise_ns */
};

struct clock_sim_options {
    uint64_t seed;
    size_t n_execs;
    uint64_t period_ns, run_ns;         /* from start to start; how long an execution takes */
    double drift_ppm;                   /* device per host - 1 */
    double wander_ppm, wander_period_s; /* the drift swings by this */
    enum clock_sim_noise noise;
    double noise_ns, latency_ns;      /* latency: added to every reading */
    double outlier_share, outlier_ns; /* outliers are later by outlier_ns */
    double missing_share;             /* pairs that are not there */
    size_t reset_at; /* the device clock starts anew before this execution; 0 = never */
    double jitter;   /* share of the period by which starts are moved */
};

struct clock_sim_exec {
    uint64_t exec_id, nc_start_ns, nc_stop_ns, host_start_ns, host_stop_ns;
};

struct clock_sim {
    struct clock_sim_exec *execs;
    struct ntff_clock_pair *pairs;
    size_t n_execs, n_pairs;
};

/* Aborts when memory runs out. */
struct clock_sim clock_sim_run(const struct clock_sim_options *o);
void clock_sim_done(struct clock_sim *s);

/* A uniform number in (0, 1), from a state of random.h. */
double clock_sim_uniform(uint64_t *state);

#endif
