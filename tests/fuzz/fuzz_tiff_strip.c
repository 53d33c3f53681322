/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the streams of TIFF strips. The first byte selects the size of pieces and whether the strip is deflated; the
 * rest is the strip.
 *
 * Seeds: testdata/fuzz/strip-[a-z]* */
#include "fuzz_input.h"
#include "mill/source/tiff/tiff_strip.h"

/* Limits pixels: a strip may hold any number. */
enum { MAX_BYTES = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static uint8_t pixels[5000];
    if (bytes < 1)
        return 0;
    size_t piece = data[0] & 64 ? sizeof pixels : 1 + data[0] / 4u;
    txm_tiff_strip *strip = txm_tiff_strip_new(fuzz_input(data + 1, bytes - 1), !(data[0] & 1));
    if (strip && txm_tiff_strip_begin(strip, 0, bytes - 1)) {
        size_t done = 0;
        while (done < MAX_BYTES && txm_tiff_strip_read(strip, pixels, piece))
            done += piece;
        if (done < MAX_BYTES && !*txm_tiff_strip_reason(strip))
            abort(); /* every failure has a message */
    }
    free(strip);
    return 0;
}
