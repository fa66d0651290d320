/* Runtime event JSON in its forms, also inside logs, by the whole path. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_one_file(data, size);
}
