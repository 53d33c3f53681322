/* SPDX-License-Identifier: Apache-2.0
 * Reads any bytes as a border section. Checksums would reject nearly every change, so this target corrects them: the
 * code behind them must be safe by itself.
 * Seeds: testdata/tx/good-*borders*.tx */
#include <stdio.h>

#include "base/checksum.h"
#include "fuzz_reader.h"
#include "tile/reader/identity.h"
#include "tile/reader/section_format.h"

/* Corrects identity and checksum of a plausible footer. */
static void mend(uint8_t *file, size_t bytes)
{
    txm_section_footer f;
    uint8_t *at = file + bytes - TXM_SECTION_FOOTER_BYTES;
    memcpy(at + TXM_SECTION_FOOTER_BYTES - 8, TXM_SECTION_MAGIC, 8);
    if (!txm_section_footer_parse(at, &f))
        abort();
    f.version = TXM_SECTION_VERSION;
    if (f.image_bytes < bytes)
        txm_image_identity(file, (size_t)f.image_bytes, &f.identity);
    txm_section_footer_pack(&f, at);
    if (f.index_offset < bytes && f.index_bytes == bytes - TXM_SECTION_FOOTER_BYTES - f.index_offset)
        f.check = txm_xxh64(file + f.index_offset, f.index_bytes + (size_t)TXM_SECTION_CHECK_AT, 0);
    txm_section_footer_pack(&f, at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 * TXM_SECTION_FOOTER_BYTES)
        return -1;
    uint8_t *file = malloc(size);
    if (!file)
        return -1;
    memcpy(file, data, size);
    mend(file, size);
    fuzz_file(file, size);
    free(file);
    return 0;
}
