/* SPDX-License-Identifier: Apache-2.0
 *
 * Colour interop ids from the code points that PNG files carry in their cICP chunk.
 *
 * OpenImageIO 2.4 does not report the chunk, so it is looked for here: chunks are walked by their lengths up to the
 * first IDAT, which the chunk has to precede.
 */
#include <stdio.h>
#include <string.h>

#include "core/endian.h"
#include "source/readers.h"

/* As Blender reads the code points of still images: as pictures made for a display. */
static const struct {
    uint8_t primaries, transfer;
    const char *id;
} code_points[] = {
    {1, 1, "g24_rec709_display"},   /* BT.709 primaries, BT.709 camera curve */
    {1, 4, "g22_rec709_display"},   /* gamma 2.2 */
    {1, 13, "srgb_rec709_display"}, /* sRGB */
    {9, 1, "g24_rec2020_display"},  /* BT.2020 primaries */
    {9, 16, "pq_rec2020_display"},  /* SMPTE ST 2084 */
    {9, 18, "hlg_rec2020_display"}, /* ARIB STD-B67 */
    {12, 1, "srgb_p3d65_display"},  /* P3 primaries with D65 white */
    {12, 13, "srgb_p3d65_display"}, {12, 16, "pq_p3d65_display"},
    {12, 17, "g26_p3d65_display"}, /* SMPTE ST 428-1, gamma 2.6 */
};

/* "" for code points that Blender has no name for. */
const char *txm_interop_from_cicp(unsigned primaries, unsigned transfer)
{
    for (size_t i = 0; i < sizeof code_points / sizeof code_points[0]; i++)
        if (code_points[i].primaries == primaries && code_points[i].transfer == transfer)
            return code_points[i].id;
    return "";
}

/* Chunks are skipped by their length; a length that leads nowhere ends the search. */
const char *txm_interop_of_png(const char *path)
{
    static const uint8_t signature[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    const char *id = "";
    uint8_t b[12];
    FILE *f = fopen(path, "rbe");
    if (!f)
        return id;
    if (fread(b, 1, 8, f) == 8 && memcmp(b, signature, 8) == 0) {
        while (fread(b, 1, 8, f) == 8 && memcmp(b + 4, "IDAT", 4) != 0 && memcmp(b + 4, "IEND", 4) != 0) {
            uint32_t size = txm_load_be32(b);
            if (memcmp(b + 4, "cICP", 4) == 0) {
                if (size == 4 && fread(b, 1, 4, f) == 4)
                    id = txm_interop_from_cicp(b[0], b[1]);
                break;
            }
            if (size > INT32_MAX || fseeko(f, (off_t)size + 4, SEEK_CUR) != 0)
                break;
        }
    }
    fclose(f);
    return id;
}
