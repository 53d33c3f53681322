/* SPDX-License-Identifier: Apache-2.0
 * What the fuzz targets of readers of images share: opening bytes as a file and reading rows of it. */
#ifndef FUZZ_SOURCE_H
#define FUZZ_SOURCE_H
#include "fuzz_input.h"
#include "mill/source/readers.h"
#include "txtile/pixel.h"

/* A header may promise more rows than there is time for. */
enum { FUZZ_MAX_ROWS = 300, FUZZ_BAND_ROWS = 19 };

static void fuzz_read_image(const txm_reader_ops *reader, void *self, const txm_source_info *info)
{
    size_t stride = (size_t)info->width * info->channels * txm_type_bytes(info->type);
    uint8_t *band = malloc(stride * FUZZ_BAND_ROWS);
    uint32_t end = info->height < FUZZ_MAX_ROWS ? info->height : FUZZ_MAX_ROWS;
    txm_error err = {0};
    /* Goes on after a damaged row: what is left over from it must do no harm. */
    for (uint32_t y = 0; band && y < end; y += FUZZ_BAND_ROWS)
        reader->read(self, y, end - y < FUZZ_BAND_ROWS ? end - y : FUZZ_BAND_ROWS, band, stride, &err);
    if (band && (!reader->rewind || reader->rewind(self, &err) == TXM_OK))
        reader->read(self, 0, 1, band, stride, &err);
    free(band);
}

static int fuzz_source(const txm_reader_ops *reader, const uint8_t *data, size_t size)
{
    const txm_source_options options = {.max_memory_bytes = 64 << 20};
    txm_source_info info = {0};
    void *self = NULL;
    txm_error err = {0};
    if (reader->open(fuzz_input_path(data, size), &options, &info, &self, &err) == TXM_OK) {
        fuzz_read_image(reader, self, &info);
        reader->close(self);
    } else if (!err.message[0]) {
        abort(); /* every failure has a message */
    }
    for (size_t i = 0; i < info.attribute_count; i++) {
        free(info.attributes[i].name);
        free(info.attributes[i].value);
    }
    free(info.attributes);
    return 0;
}
#endif
