/* ntrace.pb, trace_info.pb, cpu_util.pb and host_mem.pb in every framing, by the whole path. */
#include "tests/fuzz/fuzz.h"

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    return fuzz_mutate_pb(data, size, max_size, seed, FUZZ_SHAPE_RECORDS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_one_file(data, size);
}
