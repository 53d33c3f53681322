/* SPDX-License-Identifier: Apache-2.0
 *
 * What a PNG file states about its colours, for both readers of PNG: walks the chunks by their lengths, and reads
 * those for colours, which count only before the palette. Blender's libpng reads chunks that older versions ignore, or
 * judges them differently (cICP, a gAMA of 0), so they are read here by its rules: a chunk with a wrong length or
 * checksum does not count, and of several the first counts. A cICP chunk with a matrix counts as the first, but states
 * nothing. The range flag makes no difference.
 */
#include <isa-l/crc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "mill/source/meta/raster_meta.h"
#include "mill/source/readers.h"
#include "mill/source/source_file.h"

/* Blender's loader takes images as display-referred; Cycles takes them as scene-referred if an id for that exists.
 * NULL: no id. */
static const struct {
    uint8_t primaries, transfer;
    const char *loaded, *automatic;
} code_points[] = {
    {1, 1, "g24_rec709_display", "g24_rec709_display"},  /* BT.709 primaries, BT.709 camera curve */
    {1, 4, "g22_rec709_display", "g22_rec709_scene"},    /* gamma 2.2 */
    {1, 8, "lin_rec709_scene", "lin_rec709_scene"},      /* linear */
    {1, 13, "srgb_rec709_display", "srgb_rec709_scene"}, /* sRGB */
    {9, 1, "g24_rec2020_display", NULL},                 /* BT.2020 primaries */
    {9, 8, "lin_rec2020_scene", "lin_rec2020_scene"},
    {9, 16, "pq_rec2020_display", "pq_rec2020_display"},   /* SMPTE ST 2084 */
    {9, 18, "hlg_rec2020_display", "hlg_rec2020_display"}, /* ARIB STD-B67 */
    {10, 8, "lin_ciexyzd65_scene", "lin_ciexyzd65_scene"}, /* CIE XYZ */
    {12, 1, "srgb_p3d65_display", NULL},                   /* P3 primaries with D65 white */
    {12, 8, "lin_p3d65_scene", "lin_p3d65_scene"},
    {12, 13, "srgb_p3d65_display", "srgb_p3d65_scene"},
    {12, 16, "pq_p3d65_display", "pq_p3d65_display"},
    {12, 17, "g26_p3d65_display", "g26_p3d65_display"}, /* SMPTE ST 428-1, gamma 2.6 */
};

void txm_interop_from_cicp(unsigned primaries, unsigned transfer, const char **loaded, const char **automatic)
{
    *loaded = *automatic = NULL;
    for (size_t i = 0; i < sizeof code_points / sizeof code_points[0]; i++)
        if (code_points[i].primaries == primaries && code_points[i].transfer == transfer) {
            *loaded = code_points[i].loaded;
            *automatic = code_points[i].automatic;
        }
}

/* OpenImageIO 3.1 names an exponent to a tenth, rounded from one that was rounded to a hundredth. */
void txm_source_hint_gamma(txm_source_info *info, float exponent)
{
    float rounded = roundf(100.0f * exponent) / 100.0f;
    if (!isfinite(rounded) || fabsf(rounded - 1.0f) <= 0.01f)
        strcpy(info->colorspace_hint, TXM_INTEROP_LINEAR);
    else
        txm_format(info->colorspace_hint, sizeof info->colorspace_hint, "g%02.0f_rec709_scene",
                   (double)roundf(rounded * 10.0f));
}

typedef struct png_color {
    bool has_cicp, has_gamma, has_srgb, exif_says_srgb;
    uint8_t cicp[4];
    uint32_t gamma; /* times 100000 */
} png_color;

/* Bytes of length, name and checksum together; and of the longest contents that are read. */
enum { CHUNK_ENDS = 12, LONGEST = 4, LONGEST_EXIF = 1 << 20 };

/* An invalid length ends the search; the reader will report what is wrong with the file. */
static txm_status walk(const char *path, bool look_for_exif, png_color *color, txm_error *err)
{
    uint8_t b[8 + LONGEST + 4];
    bool colors = true, ok = true;
    txm_source_file file;
    txm_status status = txm_source_file_open(&file, path, false, err);
    if (status != TXM_OK)
        return status;
    for (uint64_t at = 8; ok && txm_source_file_read(&file, b, sizeof b, at) >= CHUNK_ENDS;) {
        const uint32_t size = txm_load_be32(b);
        const uint8_t *name = b + 4, *data = b + 8;
        colors = colors && memcmp(name, "PLTE", 4) != 0;
        if (memcmp(name, "IDAT", 4) == 0 || memcmp(name, "IEND", 4) == 0)
            break;
        const bool counts =
            colors && size <= LONGEST && crc32_gzip_refl(0, name, 4 + size) == txm_load_be32(data + size);
        if (counts && size == 4 && memcmp(name, "cICP", 4) == 0 && !color->has_cicp) {
            color->has_cicp = true;
            memcpy(color->cicp, data, 4);
        } else if (counts && size == 4 && memcmp(name, "gAMA", 4) == 0 && !color->has_gamma) {
            color->has_gamma = txm_load_be32(data) <= INT32_MAX;
            color->gamma = txm_load_be32(data);
        } else if (counts && size == 1 && memcmp(name, "sRGB", 4) == 0 && data[0] < 4) {
            color->has_srgb = true;
        }
        if (look_for_exif && memcmp(name, "eXIf", 4) == 0 && size <= LONGEST_EXIF) {
            const size_t whole = 4 + (size_t)size + 4;
            txm_raster_meta meta = {0};
            uint8_t *exif = malloc(whole);
            ok = exif != NULL;
            if (ok && txm_source_file_read(&file, exif, whole, at + 4) == (int64_t)whole &&
                crc32_gzip_refl(0, exif, 4 + size) == txm_load_be32(exif + 4 + size))
                ok = txm_raster_meta_add_exif(&meta, exif + 4, size);
            color->exif_says_srgb |= meta.says_srgb;
            txm_raster_meta_clear(&meta);
            free(exif);
        }
        at += (uint64_t)size + CHUNK_ENDS;
    }
    status = ok ? txm_source_file_status(&file, path, err) : txm_no_memory(err, path);
    txm_source_file_close(&file);
    return status;
}

/* Exif's statement of sRGB takes precedence over all others, code points over a text, and that over the curves. */
txm_status txm_png_read_color(const char *path, txm_source_info *info, txm_error *err)
{
    png_color color = {0};
    const char *loaded = NULL, *automatic = NULL;
    /* The direct reader has read the texts too; OpenImageIO does not report them. */
    txm_status status = walk(path, strcmp(info->reader, "oiio") == 0, &color, err);
    if (status != TXM_OK)
        return status;
    info->exif_says_srgb |= color.exif_says_srgb;
    if (info->exif_says_srgb) {
        strcpy(info->colorspace_hint, TXM_INTEROP_SRGB);
        return TXM_OK;
    }
    if (color.has_cicp && color.cicp[2] == 0)
        txm_interop_from_cicp(color.cicp[0], color.cicp[1], &loaded, &automatic);
    snprintf(info->interop_id, sizeof info->interop_id, "%s", loaded ? loaded : "");
    if (automatic)
        snprintf(info->colorspace_hint, sizeof info->colorspace_hint, "%s", automatic);
    else if (!*info->colorspace_hint && color.has_gamma && !color.has_srgb)
        txm_source_hint_gamma(info, (float)(100000.0 / color.gamma));
    else if (!*info->colorspace_hint)
        strcpy(info->colorspace_hint, TXM_INTEROP_SRGB);
    return TXM_OK;
}
