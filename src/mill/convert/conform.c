/* SPDX-License-Identifier: Apache-2.0
 *
 * The plan is made once per image from settings, colour space and metadata. The steps are: integers to half for
 * converted colour spaces, colour conversion in float32, multiplication by alpha, filling channels up to four, and
 * making alpha opaque. The steps and their order are Blender's; golden files check them.
 */
#include "mill/convert/conform.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mill/color/values.h"
#include "tile/ops/arith.h"
#include "tile/reader/blender_format.h"
#include "tile/terms/releases.h"

/* A tiled image of 1 or 4 channels with the mark of Blender's tx writer counts as scene-linear. */
static bool is_linear_already(const txm_source_info *info)
{
    int version = -1, end = 0;
    return info->tiled && (info->file_channels == 1 || info->file_channels == 4) &&
           sscanf(info->software, TXM_BLENDER_SOFTWARE "%d%n", &version, &end) == 1 && end && version >= 0 &&
           txm_blender_format_of((unsigned)version);
}

const char *txm_conform_detected(const txm_source_info *info, const txm_color_space *space, const char *named)
{
    if (txm_color_space_class(space) != TXM_COLOR_CLASS_OTHER)
        return txm_color_space_detected(space);
    if (is_linear_already(info))
        return "scene_linear";
    return named;
}

/* What a release of Blender does about alpha. It goes by the number of channels, whatever the second or fourth one is.
 */
static void plan_alpha(txm_conform *c, const txm_source_info *info, txm_color_class class, txm_alpha alpha,
                       txm_blender blender)
{
    const bool has_alpha = info->file_channels == 2 || info->file_channels > 3;
    /* All numbers of channels beyond the last bit count as that. */
    const unsigned bit = info->file_channels < 31 ? info->file_channels : 31;
    c->associate =
        TXM_RELEASE(blender, associated) >> bit & 1 && class != TXM_COLOR_CLASS_DATA &&
        (alpha == TXM_ALPHA_STRAIGHT || (alpha == TXM_ALPHA_AUTO && info->file_alpha == TXM_FILE_ALPHA_UNASSOCIATED));
    c->set_opaque = info->channels > 1 && alpha == TXM_ALPHA_NONE;
    c->divide = alpha != TXM_ALPHA_NONE && alpha != TXM_ALPHA_CHANNEL_PACKED;
    c->curve = class != TXM_COLOR_CLASS_SRGB ? TXM_CURVE_NONE
               : has_alpha && alpha == TXM_ALPHA_CHANNEL_PACKED && !TXM_RELEASE(blender, packed_levels_divide)
                   ? TXM_CURVE_SRGB_PACKED
                   : TXM_CURVE_SRGB;
}

bool txm_conform_same(const txm_conform *a, const txm_conform *b)
{
    return a->associate == b->associate && a->set_opaque == b->set_opaque && a->divide == b->divide &&
           a->curve == b->curve;
}

bool txm_conform_same_release(const txm_source_info *info, txm_color_class class, txm_alpha alpha, txm_blender a,
                              txm_blender b)
{
    txm_conform one = {0}, other = {0};
    plan_alpha(&one, info, class, alpha, a);
    plan_alpha(&other, info, class, alpha, b);
    return txm_conform_same(&one, &other);
}

txm_conform txm_conform_plan(const txm_source_info *info, const txm_color_space *space, txm_alpha alpha,
                             txm_blender blender, const txm_ops *ops)
{
    txm_color_class class = txm_color_space_class(space);
    txm_conform c = {
        .ops = ops,
        .width = info->width,
        .height = info->height,
        .src_channels = info->channels,
        .channels = info->channels == 1 ? 1 : 4,
        .src_type = info->type,
        .type = info->type,
    };
    if (class == TXM_COLOR_CLASS_OTHER) {
        c.space = is_linear_already(info) ? NULL : space;
        if (!txm_type_is_float(info->type))
            c.type = TXM_TYPE_HALF; /* integers become half before they are converted */
    }
    plan_alpha(&c, info, class, alpha, blender);
    return c;
}

bool txm_conform_in_place(const txm_conform *c)
{
    return c->src_channels == c->channels && c->src_type == c->type;
}

/* Multiplies colours by 1/alpha or by alpha, except where alpha is 0 or 1. */
static void scale_colors(float *rgba, size_t count, bool divide)
{
    for (size_t i = 0; i < count; i++, rgba += 4) {
        if (txm_alpha_divides(rgba[3])) {
            float factor = divide ? 1.0f / rgba[3] : rgba[3];
            for (int c = 0; c < 3; c++)
                rgba[c] *= factor;
        }
    }
}

/* Grey is converted as RGBA with equal channels. NaN is put back where it was, because a transform would spread it, or
 * turn it into a number. */
static void convert_row(const txm_conform *c, void *row, float *scratch)
{
    const size_t pixels = c->width, samples = pixels * c->channels;
    bool nan = false;
    c->ops->to_float(c->type, row, scratch, samples);
    for (size_t i = 0; c->type == TXM_TYPE_HALF && i < samples; i++)
        scratch[i] = txm_half_infinity(scratch[i]);
    for (size_t i = 0; i < samples; i++) /* without a branch, since hardly any row contains NaN */
        nan |= isnan(scratch[i]) != 0;
    if (c->channels == 1) {
        /* The floats are spread to RGBA from the end, so that none is overwritten unread. */
        for (size_t i = pixels; i-- > 0;) {
            float v = scratch[i];
            float *p = scratch + 4 * i;
            p[0] = p[1] = p[2] = v;
            p[3] = 1.0f;
        }
        txm_color_apply_grey(c->space, scratch, scratch, pixels);
    } else {
        if (c->divide)
            scale_colors(scratch, pixels, true);
        txm_color_apply(c->space, scratch, pixels);
        if (c->divide)
            scale_colors(scratch, pixels, false);
    }
    /* A pixel of halves that contains NaN, or whose alpha is NaN, has no colour, but some versions and curves of
     * OpenColorIO turn NaN into a number. A NaN in the last channel makes the whole pixel 0 later. */
    const uint8_t *sample = row; /* as it was before the conversion */
    for (size_t i = 0; nan && i < samples; i++, sample += txm_type_bytes(c->type)) {
        float before;
        c->ops->to_float(c->type, sample, &before, 1);
        if (isnan(before) && (c->type == TXM_TYPE_HALF || i % c->channels == 3))
            scratch[i / c->channels * c->channels + c->channels - 1] = before;
    }
    c->ops->from_float(c->type, scratch, row, samples);
}

void txm_conform_rows(const txm_conform *c, const void *src, size_t src_stride, void *dst, size_t dst_stride,
                      uint32_t rows, float *scratch)
{
    size_t b = txm_type_bytes(c->type);
    for (uint32_t y = 0; y < rows; y++) {
        const uint8_t *s = (const uint8_t *)src + y * src_stride;
        uint8_t *d = (uint8_t *)dst + y * dst_stride;
        bool widens = c->src_channels != c->channels;
        /* A row that becomes wider is first moved to the end of its memory, in the storage type. */
        if (c->src_type != c->type) {
            uint8_t *typed = widens ? d + (c->channels - c->src_channels) * b * c->width : d;
            /* This goes through the rounded reciprocal, as in OpenImageIO. */
            c->ops->to_float(c->src_type, s, scratch, (size_t)c->width * c->src_channels);
            c->ops->from_float(TXM_TYPE_HALF, scratch, typed, (size_t)c->width * c->src_channels);
            s = typed;
        } else if (!widens && s != d) {
            memcpy(d, s, b * c->channels * c->width);
        }
        if (widens)
            c->ops->widen(c->type, c->src_channels, s, d, c->width);
        if (c->associate)
            c->ops->associate(c->type, d, c->width);
        if (c->set_opaque)
            c->ops->set_opaque(c->type, d, c->width);
        if (c->space)
            convert_row(c, d, scratch);
        c->ops->zero_nonfinite(c->type, c->channels, d, c->width);
    }
}
