/* SPDX-License-Identifier: Apache-2.0
 *
 * Film scans (DPX, Cineon): for pixels that a truncated file lacks, OpenImageIO delivers whatever is in memory,
 * without an error. Pixels are stored without compression, so their end can be computed from the header. (The header
 * also has the file's size, but common programs write it wrong.)
 */
#include <string.h>

#include "base/endian.h"
#include "mill/source/readers.h"
#include "mill/source/source_file.h"

enum { HEADER_BYTES = 816 };
#define CINEON_MAGIC 0x802a5fd7u

/* The least number of bytes of a row of `samples` samples, without padding at its end; 0 if unknown. `filled`: samples
 * are packed into words of 16 or 32 bits with unused bits, by method A or B of the standard, which take the same space.
 */
static uint64_t row_bytes(uint64_t samples, unsigned bits, bool filled)
{
    if (bits == 10 && filled)
        return (samples + 2) / 3 * 4; /* three samples in 32 bits */
    if (bits == 12 && filled)
        return samples * 2;
    return bits == 8 || bits == 10 || bits == 12 || bits == 16 || bits == 32 || bits == 64 ? samples * bits / 8 : 0;
}

/* Returns 0 if the end cannot be computed (run-length encoding, several elements); the file is then not checked. Reads
 * the header again, because OpenImageIO does not report where pixels begin. Both byte orders are in use. */
uint64_t txm_film_pixel_end(const char *path, const txm_source_info *info)
{
    uint8_t h[HEADER_BYTES] = {0};
    txm_source_file f;
    if (txm_source_file_open(&f, path, false, NULL) != TXM_OK)
        return 0;
    int64_t got = txm_source_file_read(&f, h, sizeof h, 0);
    txm_source_file_close(&f);
    uint64_t row = 0, offset = 0;
    if (got == (int64_t)sizeof h && (memcmp(h, "SDPX", 4) == 0 || memcmp(h, "XPDS", 4) == 0)) {
        bool big = h[0] == 'S';
        /* The image must have one element with all channels and no run-length encoding. */
        if (txm_load_uint(h + 770, 2, big) == 1 && txm_load_uint(h + 806, 2, big) == 0)
            /* Where two pixels share their colour differences (CbYCrY, CbYACrYA), OpenImageIO delivers one channel more
             * than is stored. */
            row = row_bytes(info->width * (h[800] == 100   ? UINT64_C(2)
                                           : h[800] == 101 ? UINT64_C(3)
                                                           : info->file_channels),
                            h[803], txm_load_uint(h + 804, 2, big) != 0);
        offset = txm_load_uint(h + 808, 4, big);
    } else if (got == (int64_t)sizeof h && (txm_load_be32(h) == CINEON_MAGIC || txm_load_le32(h) == CINEON_MAGIC)) {
        row = h[198] == 10 ? row_bytes((uint64_t)info->width * info->file_channels, 10, true) : 0;
        offset = txm_load_uint(h + 4, 4, txm_load_be32(h) == CINEON_MAGIC);
    }
    return row ? offset + row * info->height : 0;
}
