/* SPDX-License-Identifier: Apache-2.0
 * Reads hostile bytes with the direct EXR reader.
 * Seeds: testdata/sources/[a-z]*.exr */
#include <string.h>

#include "fuzz_input.h"
#include "mill/source/readers.h"

/* Reads at most this many rows: a header may promise 65536 of them, which all fail for the same reason. */
enum { MAX_ROWS = 300, BAND_ROWS = 19 };

static void read_image(const txm_reader_ops *reader, void *self, const txm_source_info *info)
{
    size_t stride = (size_t)info->width * info->channels * txm_type_bytes(info->type);
    uint8_t *band = malloc(stride * BAND_ROWS);
    uint32_t end = info->height < MAX_ROWS ? info->height : MAX_ROWS;
    txm_error err = {0};
    /* Goes on after a damaged row: what is left over from it must do no harm. */
    for (uint32_t y = 0; band && y < end; y += BAND_ROWS)
        reader->read(self, y, end - y < BAND_ROWS ? end - y : BAND_ROWS, band, stride, &err);
    if (band && reader->rewind(self, &err) == TXM_OK)
        reader->read(self, 0, 1, band, stride, &err);
    free(band);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const txm_reader_ops *reader = &txm_exr_reader;
    if (size < 8 || memcmp(data, "\x76\x2f\x31\x01", 4) != 0)
        return -1;
    txm_source_options options = {.max_memory_bytes = 64 << 20};
    txm_source_info info = {0};
    void *self = NULL;
    txm_error err = {0};
    if (reader->open(fuzz_input_path(data, size), &options, &info, &self, &err) == TXM_OK) {
        read_image(reader, self, &info);
        reader->close(self);
    }
    for (size_t i = 0; i < info.attribute_count; i++) {
        free(info.attributes[i].name);
        free(info.attributes[i].value);
    }
    free(info.attributes);
    return 0;
}
