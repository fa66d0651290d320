/* clock_sim - clock pairs of a simulated core, with the truth.
 *
 * Device time is floor(origin + (1 + drift) * t + wander(t)) with t since the simulation began:
 * below 10^13 ns, where a double is good to a thousandth of a ns. */
#include "clock_sim.h"
#include "tests/random.h"

#include <math.h>
#include <stdlib.h>

#define BEGIN_NS UINT64_C(1764440000000000000)
#define TWO_PI 6.283185307179586

double clock_sim_uniform(uint64_t *state)
{
    return ((double)(random_next(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double r = sqrt(-2 * log(clock_sim_uniform(state)));
    return r * cos(TWO_PI * clock_sim_uniform(state));
}

static double noise(const struct clock_sim_options *o, uint64_t *state)
{
    double late = o->latency_ns;
    if (o->outlier_share > 0 && clock_sim_uniform(state) < o->outlier_share)
        late += o->outlier_ns;
    switch (o->noise) {
    case CLOCK_SIM_LATE:
        return late - o->noise_ns * log(clock_sim_uniform(state));
    case CLOCK_SIM_SYMMETRIC:
        return late + o->noise_ns * normal(state);
    case CLOCK_SIM_UNIFORM:
        return late + o->noise_ns * (2 * clock_sim_uniform(state) - 1);
    case CLOCK_SIM_EXACT:
        break;
    }
    return late;
}

struct device {
    const struct clock_sim_options *o;
    uint64_t origin_ns, reset_ns; /* device time at its begin; host time of that, since BEGIN_NS */
};

/* t_ns: host time since BEGIN_NS. */
static uint64_t device_time(const struct device *d, uint64_t t_ns)
{
    double t = (double)t_ns, wander = 0;
    if (d->o->wander_ppm != 0) {
        double w = TWO_PI / (d->o->wander_period_s * 1e9);
        wander = d->o->wander_ppm * 1e-6 / w * sin(w * t);
    }
    double extra = floor(t * d->o->drift_ppm * 1e-6 + wander);
    return d->origin_ns + (t_ns - d->reset_ns) + (uint64_t)(int64_t)extra;
}

struct clock_sim clock_sim_run(const struct clock_sim_options *o)
{
    uint64_t state = o->seed;
    struct device d = {o, 1000000 + random_next(&state) % UINT64_C(10000000000000), 0};
    struct clock_sim s = {.n_execs = o->n_execs};
    s.execs = calloc(o->n_execs, sizeof *s.execs);
    s.pairs = calloc(o->n_execs, sizeof *s.pairs);
    if (!s.execs || !s.pairs)
        abort();
    for (size_t i = 0; i < o->n_execs; i++) {
        uint64_t t = i * o->period_ns;
        t += (uint64_t)(clock_sim_uniform(&state) * o->jitter * (double)o->period_ns);
        if (o->reset_at && i == o->reset_at) {
            d.origin_ns = 1000000;
            d.reset_ns = t;
        }
        uint64_t read = t + o->run_ns + 1000 + random_next(&state) % 2000;
        s.execs[i] =
            (struct clock_sim_exec){i + 1, device_time(&d, t), device_time(&d, t + o->run_ns),
                                    BEGIN_NS + t, BEGIN_NS + t + o->run_ns};
        double late = noise(o, &state);
        if (o->missing_share > 0 && clock_sim_uniform(&state) < o->missing_share)
            continue;
        s.pairs[s.n_pairs++] = (struct ntff_clock_pair){
            device_time(&d, read), BEGIN_NS + read + (uint64_t)(int64_t)llround(late), i + 1};
    }
    return s;
}

void clock_sim_done(struct clock_sim *s)
{
    free(s->execs);
    free(s->pairs);
}
