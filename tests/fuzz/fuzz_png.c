/* SPDX-License-Identifier: Apache-2.0
 *
 * Fuzzes the direct PNG reader: header, chunks, stream, filters, and every conversion of pixels.
 *
 * Nearly all mutated files would fail at the first CRC, so the mutator corrects CRCs. Besides memory errors, this
 * checks that rows do not depend on the bands in which they are requested, also after a rewind.
 *
 * Seeds: testdata/png/[bg]*.png testdata/sources/[a-z]*.png testdata/golden/[a-z]*8*.png */
#include <libdeflate.h>

#include "base/checksum.h"
#include "fuzz_input.h"
#include "mill/source/readers.h"

/* Limits the pixels read from one input: an image may be 65536 px on a side. */
enum { MAX_BYTES = 1 << 17 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
size_t LLVMFuzzerMutate(uint8_t *data, size_t bytes, size_t max_bytes);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t max_bytes, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t bytes, size_t max_bytes, unsigned seed)
{
    bytes = LLVMFuzzerMutate(data, bytes, max_bytes);
    if (seed % 8 == 0)
        return bytes; /* wrong CRCs are tested, too */
    for (size_t at = 8; at + 12 <= bytes;) {
        size_t length = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > bytes - at - 12)
            break;
        uint32_t crc = libdeflate_crc32(0, data + at + 4, length + 4);
        for (int i = 0; i < 4; i++)
            data[at + 8 + length + i] = (uint8_t)(crc >> (24U - 8U * (unsigned)i));
        at += 12 + length;
    }
    return bytes;
}

/* Reads rows in bands of `band` up to the limit or a failure. Returns their number and a digest. */
static uint32_t read_rows(void *self, const txm_source_info *info, uint32_t band, uint64_t *digest)
{
    size_t row = (size_t)info->width * info->channels * txm_type_bytes(info->type);
    uint32_t y = 0, limit = (uint32_t)(MAX_BYTES / row) + 1;
    uint8_t *rows = malloc(row * band);
    txm_error err = {0};

    *digest = 0;
    if (limit > info->height)
        limit = info->height;
    while (y < limit) {
        uint32_t n = limit - y < band ? limit - y : band;
        if (txm_png_reader.read(self, y, n, rows, row, &err))
            break;
        for (uint32_t r = 0; r < n; r++) /* the digest does not depend on the bands */
            *digest = txm_xxh64(rows + r * row, row, *digest);
        y += n;
    }
    free(rows);
    return y;
}

static void free_attributes(txm_source_info *info)
{
    for (size_t i = 0; i < info->attribute_count; i++) {
        free(info->attributes[i].name);
        free(info->attributes[i].value);
    }
    free(info->attributes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    txm_source_info info = {0};
    txm_error err = {0};
    void *self = NULL;
    uint64_t first, second;

    if (!txm_png_reader.open(fuzz_input_path(data, bytes), NULL, &info, &self, &err)) {
        uint32_t one = read_rows(self, &info, 1, &first);
        txm_png_reader.rewind(self, &err);
        uint32_t three = read_rows(self, &info, 3, &second);
        if (three > one || (one == three && first != second))
            abort();
        txm_png_reader.close(self);
    }
    free_attributes(&info);
    return 0;
}
