/* SPDX-License-Identifier: Apache-2.0
 *
 * Metadata of TIFF tx files: the tags of the first directory that mean something to people, under libtiff's names.
 */
#include <inttypes.h>
#include <stdio.h>

#include "container/tiff_reader_directory.h"
#include "core/text.h"

/* libtiff's names of the tags that tx files hold. */
static const char *tag_name(uint16_t tag)
{
    static const struct {
        uint16_t tag;
        const char *name;
    } names[] = {
        {262, "PhotometricInterpretation"},
        {269, "DocumentName"},
        {270, "ImageDescription"},
        {271, "Make"},
        {272, "Model"},
        {274, "Orientation"},
        {282, "XResolution"},
        {283, "YResolution"},
        {285, "PageName"},
        {296, "ResolutionUnit"},
        {305, "Software"},
        {306, "DateTime"},
        {315, "Artist"},
        {316, "HostComputer"},
        {317, "Predictor"},
        {338, "ExtraSamples"},
        {33300, "PixarImageFullWidth"},
        {33301, "PixarImageFullLength"},
        {33302, "PixarTextureFormat"},
        {33303, "PixarWrapModes"},
        {33304, "PixarFOVCot"},
        {33305, "PixarMatrixWorldToScreen"},
        {33306, "PixarMatrixWorldToCamera"},
        {33432, "Copyright"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].tag == tag)
            return names[i].name;
    return NULL;
}

/* One value of a field as text; "" for types that mean nothing to people. */
static void print_value(const txm_tiff_field *f, uint64_t index, bool swap, char *out, size_t out_bytes)
{
    const uint8_t *at = f->data + index * f->width;
    uint64_t bits = txm_tiff_uint(at, f->width == 8 && f->type == 5 ? 4 : f->width, swap);
    uint32_t low = (uint32_t)bits;
    float single;
    double value;
    if (f->type == 5) { /* a ratio of two 32-bit numbers */
        uint32_t below = (uint32_t)txm_tiff_uint(at + 4, 4, swap);
        txm_format(out, out_bytes, "%.9g", below ? (double)low / below : 0.0);
    } else if (f->type == 11) {
        memcpy(&single, &low, sizeof single);
        txm_format(out, out_bytes, "%.9g", (double)single);
    } else if (f->type == 12) {
        memcpy(&value, &bits, sizeof value);
        txm_format(out, out_bytes, "%.17g", value);
    } else if (txm_tiff_is_integer(f)) {
        snprintf(out, out_bytes, "%" PRIu64, bits);
    } else {
        *out = 0;
    }
}

bool txm_tiff_keep(const txm_tiff *t, const txm_tiff_field *f)
{
    txm_metadata *m = &t->tx->metadata;
    const char *name = tag_name(f->tag), *text = (const char *)f->data;
    if (!name)
        return true;
    if (f->type == TXM_TIFF_ASCII)
        return txm_metadata_add(m, name, text, f->count) &&
               (f->tag != TXM_TAG_IMAGE_DESCRIPTION || txm_metadata_add_words(m, text, f->count));
    char line[16 * 32] = ""; /* a matrix has 16 numbers */
    for (uint64_t i = 0; i < f->count && i < 16; i++) {
        size_t used = strlen(line);
        if (i)
            line[used++] = ',';
        print_value(f, i, t->tx->swap, line + used, 31);
    }
    return txm_metadata_add(m, name, line, sizeof line);
}
