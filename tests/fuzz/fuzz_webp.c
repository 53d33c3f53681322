/* SPDX-License-Identifier: Apache-2.0
 * Reads hostile bytes with the direct WebP reader.
 * Seeds: testdata/sources/[a-z]*.webp */
#include "fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_source(&txm_webp_reader, data, size);
}
