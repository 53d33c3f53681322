/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the direct JPEG reader: markers, metadata, and the ways in which libjpeg recovers from damage.
 *
 * Seeds: testdata/jpeg/[a-z]*.jpg testdata/sources/[a-z]*.jpg testdata/density/[a-z]*.jpg testdata/fuzz/jpeg-* */
#include <string.h>

#include "fuzz_input.h"
#include "mill/source/readers.h"

/* Limits pixels: a size in the header costs nothing, but decoding does. */
enum { MAX_PIXELS = 1 << 20, BAND = 5 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void read_some(void *self, const txm_source_info *info, uint32_t rows)
{
    size_t row = (size_t)info->width * info->channels;
    uint8_t *band = malloc(row * BAND);
    txm_error err = {0};

    for (uint32_t y = 0; y < rows; y += BAND)
        if (txm_jpeg_reader.read(self, y, rows - y < BAND ? rows - y : BAND, band, row, &err))
            break;
    free(band);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    txm_source_info info = {0};
    txm_error err = {0};
    void *self = NULL;

    if (bytes < 3 || memcmp(data, "\xff\xd8\xff", 3) != 0)
        return -1;
    if (!txm_jpeg_reader.open(fuzz_input_path(data, bytes), NULL, &info, &self, &err)) {
        if ((uint64_t)info.width * info.height <= MAX_PIXELS) {
            read_some(self, &info, info.height / 2);
            txm_jpeg_reader.rewind(self, &err);
            read_some(self, &info, info.height);
            txm_jpeg_reader.warning(self);
        }
        txm_jpeg_reader.close(self);
    }
    for (size_t i = 0; i < info.attribute_count; i++) {
        free(info.attributes[i].name);
        free(info.attributes[i].value);
    }
    free(info.attributes);
    return 0;
}
