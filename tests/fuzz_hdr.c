/* SPDX-License-Identifier: Apache-2.0
 * The direct reader of Radiance pictures on hostile bytes.
 * Seeds: testdata/sources/[a-z]*.hdr */
#include "fuzz_input.h"
#include "source/readers.h"

/* A header may promise more rows than there is time for. */
enum { MAX_ROWS = 300, BAND_ROWS = 7 };

static void read_image(void *self, const txm_source_info *info)
{
    size_t stride = (size_t)info->width * info->channels * sizeof(float);
    uint8_t *band = malloc(stride * BAND_ROWS);
    uint32_t end = info->height < MAX_ROWS ? info->height : MAX_ROWS;
    txm_error err = {0};
    /* Rows after a damaged one are asked for, too: what is left over from it must do no harm. */
    for (uint32_t y = 0; band && y < end; y += BAND_ROWS)
        txm_hdr_reader.read(self, y, end - y < BAND_ROWS ? end - y : BAND_ROWS, band, stride, &err);
    if (band && txm_hdr_reader.rewind(self, &err) == TXM_OK)
        txm_hdr_reader.read(self, 0, 1, band, stride, &err);
    free(band);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const txm_source_options options = {.max_memory_bytes = 64 << 20};
    txm_source_info info = {0};
    void *self = NULL;
    txm_error err = {0};
    if (txm_hdr_reader.open(fuzz_input_path(data, size), &options, &info, &self, &err) == TXM_OK) {
        read_image(self, &info);
        txm_hdr_reader.close(self);
    } else if (!err.message[0]) {
        abort(); /* every failure has a message */
    }
    return 0;
}
