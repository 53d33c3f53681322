/* SPDX-License-Identifier: Apache-2.0
 * Reads hostile bytes with the direct EXR reader.
 * Seeds: testdata/sources/[a-z]*.exr */
#include <string.h>

#include "fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 8 || memcmp(data, "\x76\x2f\x31\x01", 4) != 0)
        return -1;
    return fuzz_source(&txm_exr_reader, data, size);
}
