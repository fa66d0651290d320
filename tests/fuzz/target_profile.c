/* system_profile.json by the whole path: the lists of the export are there already, so that what
 * the input brings are their elements. Choice 0, which picks a filter, picks the list as well. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const lists[] = {
        "trace_event", "trace_events",           "cpu_util", "mem_usage", "device_mem_usage",
        "events",      "system_profile_metadata"};
    char head[64];
    if (size < FUZZ_CHOICES)
        return 0;
    const char *text = (const char *)data + FUZZ_CHOICES;
    size_t len = size - FUZZ_CHOICES;
    struct fuzz_choices c = fuzz_choose(data);
    size_t n = 0;
    if (data[0] & 0x80) /* as it is */
        head[0] = '\0';
    else
        n = (size_t)snprintf(head, sizeof head, "{\"%s\":[",
                             lists[(data[0] >> 4) % NTFF_ARRAY_LEN(lists)]);
    char *all = malloc(n + len + 3);
    FUZZ_OK(all != NULL);
    memcpy(all, head, n);
    memcpy(all + n, text, len);
    memcpy(all + n + len, "]}\n", 3);
    const char *path = fuzz_file(0, all, n + len + (n > 0 ? 3 : 0));
    fuzz_capture(&path, 1, &c);
    free(all);
    return 0;
}
