/* SPDX-License-Identifier: Apache-2.0
 * Reads any bytes as an EXR tx file.
 * Seeds: testdata/tx/[gbu]*.exr.tx testdata/fuzz/exr-* */
#include <stdio.h>

#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return size < 4 || memcmp(data, "\x76\x2f\x31\x01", 4) != 0 ? -1 : fuzz_file(data, size);
}
