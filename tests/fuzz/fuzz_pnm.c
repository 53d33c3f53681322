/* SPDX-License-Identifier: Apache-2.0
 * Reads hostile bytes with the direct reader of PGM and PPM.
 * Seeds: testdata/sources/[a-z]*.p[pg]m */
#include "fuzz_source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_source(&txm_pnm_reader, data, size);
}
