/* SPDX-License-Identifier: Apache-2.0
 * Reads any bytes as a TIFF tx file.
 * Seeds: testdata/tx/[gb]*[!r].tx */
#include <stdio.h>

#include "fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return size < 4 || !memchr("IM", data[0], 2) ? -1 : fuzz_file(data, size);
}
