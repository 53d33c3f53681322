/* SPDX-License-Identifier: Apache-2.0
 *
 * Film scans (DPX, Cineon): OpenImageIO reads what a truncated file lacks as whatever was in memory, without a word.
 * Pixels are stored without compression, so their end can be computed from the header. (The size of the file is in the
 * header too, but common programs write it wrong.)
 */
#include <stdio.h>
#include <string.h>

#include "source/readers.h"

enum { HEADER_BYTES = 816 };

static uint32_t read32(const uint8_t *p, bool big_endian)
{
    return big_endian ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                      : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static uint32_t read16(const uint8_t *p, bool big_endian)
{
    return big_endian ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

/* Least bytes of a row of `samples` samples; padding at its end is left out. 0: not known. */
static uint64_t row_bytes(uint64_t samples, unsigned bits, bool filled)
{
    if (bits == 10 && filled)
        return (samples + 2) / 3 * 4; /* three in 32 bits */
    if (bits == 12 && filled)
        return samples * 2;
    return bits == 8 || bits == 10 || bits == 12 || bits == 16 || bits == 32 || bits == 64 ? samples * bits / 8 : 0;
}

uint64_t txm_film_pixel_end(const char *path, const txm_source_info *info)
{
    uint8_t h[HEADER_BYTES] = {0};
    FILE *f = fopen(path, "rbe");
    if (!f)
        return 0;
    size_t got = fread(h, 1, sizeof h, f);
    fclose(f);
    uint64_t samples = (uint64_t)info->width * info->file_channels, row = 0, offset = 0;
    if (got == sizeof h && (memcmp(h, "SDPX", 4) == 0 || memcmp(h, "XPDS", 4) == 0)) {
        bool big = h[0] == 'S';
        /* One element with all channels, not run-length encoded. */
        if (read16(h + 770, big) == 1 && read16(h + 806, big) == 0)
            row = row_bytes(samples, h[803], read16(h + 804, big) != 0);
        offset = read32(h + 808, big);
    } else if (got == sizeof h && (read32(h, true) == 0x802a5fd7 || read32(h, false) == 0x802a5fd7)) {
        row = h[198] == 10 ? row_bytes(samples, 10, true) : 0;
        offset = read32(h + 4, read32(h, true) == 0x802a5fd7);
    }
    return row ? offset + row * info->height : 0;
}
