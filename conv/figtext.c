/* figtext - see figtext.h. */
#include "conv/figtext.h"

#include "conv/times.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool several_instances(const struct ntff_trace *t)
{
    for (size_t i = 1; i < t->n_processes; i++)
        if (t->processes[i].instance != t->processes[0].instance)
            return true;
    return false;
}

char *conv_process_label(const struct ntff_trace *t, uint32_t process, char out[80])
{
    out[0] = '\0';
    if (process >= t->n_processes)
        return memcpy(out, "no process", sizeof "no process");
    const struct ntff_process *p = &t->processes[process];
    size_t n = 0;
    if (p->instance && several_instances(t))
        n = (size_t)snprintf(out, 80, "%.40s ", ntff_str_of(t, p->instance));
    if (p->pid)
        snprintf(out + n, 80 - n, "pid %" PRIu64, p->pid);
    else
        snprintf(out + n, 80 - n, "process %" PRIu32, process);
    return out;
}

char *conv_core_label(const struct ntff_trace *t, uint32_t process, uint32_t nc, char out[96])
{
    char who[80];
    snprintf(out, 96, "%s NC%" PRIu32, conv_process_label(t, process, who), nc);
    return out;
}

char *conv_collective_label(const struct conv_collective *c, char out[96])
{
    char number[24] = "?";
    if (c->op_id != UINT64_MAX)
        snprintf(number, sizeof number, "%" PRIu64, c->op_id);
    snprintf(out, 96, "%s%s%.*s", number, c->algorithm.len ? " " : "",
             (int)(c->algorithm.len < 60 ? c->algorithm.len : 60),
             c->algorithm.len ? c->algorithm.p : "");
    return out;
}

bool conv_device_time(const struct ntff_trace *t, const struct ntff_diag *diag)
{
    for (size_t i = 0; i < t->n_files; i++)
        if (t->files[i].kind != NTFF_FILE_NTFF && t->files[i].kind != NTFF_FILE_TRACE_INFO)
            return false;
    return diag->of[NTFF_DIAG_CLOCK_UNALIGNED].count > 0;
}

char *conv_begin_text(const struct ntff_trace *t, const struct ntff_diag *diag, char out[80])
{
    char text[48];
    if (!conv_device_time(t, diag))
        snprintf(out, 80, "from %s", conv_date(t->begin_ns, text));
    else
        snprintf(out, 80, "device time, begins at %s",
                 t->begin_ns ? conv_duration(t->begin_ns, text) : "0");
    return out;
}

char *conv_count(uint64_t n, const char *one, char out[64])
{
    snprintf(out, 64, "%" PRIu64 " %.40s%s", n, one, n == 1 ? "" : "s");
    return out;
}

static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

char *conv_size(uint64_t bytes, char out[32])
{
    size_t u = 0;
    uint64_t scale = 1;
    while (u + 1 < NTFF_ARRAY_LEN(units) && bytes / scale >= 1024)
        scale *= 1024, u++;
    /* the fraction in thousandths, without passing through floating point */
    uint64_t rest = (uint64_t)((unsigned __int128)(bytes % scale) * 1000 / scale);
    int n = snprintf(out, 32, "%" PRIu64, bytes / scale);
    if (rest) {
        n += snprintf(out + n, 32 - (size_t)n, ".%03" PRIu64, rest);
        while (out[n - 1] == '0')
            n--;
    }
    snprintf(out + n, 32 - (size_t)n, " %s", units[u]);
    return out;
}

char *conv_rate(double bytes_per_second, char out[32])
{
    size_t u = 0;
    while (u + 1 < NTFF_ARRAY_LEN(units) && bytes_per_second >= 1024)
        bytes_per_second /= 1024, u++;
    snprintf(out, 32, "%.2f %s/s", bytes_per_second, units[u]);
    return out;
}

char *conv_share(double share, char out[32])
{
    snprintf(out, 32, "%.1f %%", share * 100);
    return out;
}

double conv_part(uint64_t part, uint64_t whole)
{
    return whole ? (double)part / (double)whole : 0;
}
