/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates order the work, keep it within the bound of memory, and tell users what to expect; nothing else depends on
 * them. bench/estimates.py compares them with measurements: on the server core for which they were fitted, most are
 * within a third for all formats, types and encoders; the rest depends on the content of images.
 */
#include <math.h>
#include <string.h>

#include "mill/convert/memory.h"
#include "mill/farm/batch.h"
#include "mill/source/formats.h"

#define SECONDS_PER_FILE 0.0015       /* opening, lookup, creating, renaming */
#define SECONDS_PER_FILE_OIIO 0.02    /* the same through OpenImageIO */
#define SECONDS_PER_MEGASAMPLE 0.0055 /* decode, pyramid, digest, borders, writing */
#define SECONDS_PER_MEGAPIXEL_COLOR 0.008
#define SECONDS_PER_MEGAPIXEL_SLOW 0.5

/* Seconds that encoding a megasample takes, by type, with the default encoder. */
static const double encode_seconds[] = {
    [TXM_TYPE_U8] = 0.006, [TXM_TYPE_U16] = 0.022, [TXM_TYPE_HALF] = 0.011, [TXM_TYPE_FLOAT] = 0.045};

/* The time of an encoder relative to the default one. High levels search long for little gain; in floats there are so
 * few matches that they end early. */
static double encoder_factor(txm_compression c, txm_type type)
{
    if (type == TXM_TYPE_FLOAT && c.codec == TXM_CODEC_ZIP)
        return 1;
    if (c.codec == TXM_CODEC_NONE)
        return 0.25;
    if (c.codec == TXM_CODEC_ZSTD)
        return c.level <= 3 ? 1 : 4 * pow(1.24, c.level - 6);
    return c.level <= 1 ? 1 : c.level <= 5 ? 2 : 3.5 * pow(1.55, c.level - 6);
}

/* The estimate is linear in samples, with factors for reader, type and encoder. */
txm_cost txm_cost_estimate(const char *path, const txm_item *item, const txm_settings *settings, unsigned threads)
{
    /* The three classes of colour spaces that Blender handles itself need no conversion. */
    const bool oiio = strcmp(item->reader, "oiio") == 0, color = strcmp(item->detected, "data") &&
                                                                 strcmp(item->detected, "scene_linear") &&
                                                                 strcmp(item->detected, "scene_linear_srgb");
    const txm_image_format *format = txm_format_of_source(path, false);
    /* Converted colours are stored as half, or as float if the source is float. */
    txm_conform conform = {.width = item->image_width ? item->image_width : item->width,
                           .height = item->image_height ? item->image_height : item->height,
                           .src_channels = item->channels,
                           .channels = item->channels,
                           .src_type = (txm_type)item->type,
                           .type = color && !txm_type_is_float((txm_type)item->type) ? TXM_TYPE_HALF
                                                                                     : (txm_type)item->type};
    /* Where it fails, the conversion does too. */
    if (color)
        txm_color_find(item->context->color, item->detected, &conform.space, NULL);
    double megapixels = (double)conform.width * conform.height * 1e-6;
    double stored = (double)item->width * item->height * 1e-6;
    double seconds = oiio ? SECONDS_PER_FILE_OIIO : SECONDS_PER_FILE;
    seconds +=
        item->channels * (megapixels * SECONDS_PER_MEGASAMPLE +
                          stored * encode_seconds[conform.type] * encoder_factor(settings->compression, conform.type));
    seconds += color ? megapixels * SECONDS_PER_MEGAPIXEL_COLOR : 0;
    seconds += format && format->traits & TXM_FORMAT_SLOW ? megapixels * SECONDS_PER_MEGAPIXEL_SLOW : 0;
    /* What the converter will decide without a bound. */
    unsigned held, bands = txm_convert_bands(&conform, settings, threads, item->reader_bytes, 0, &held, NULL);
    return (txm_cost){.megapixels = megapixels,
                      .memory_bytes = txm_convert_needs(&conform, settings, bands + held, threads, item->reader_bytes),
                      .seconds = seconds};
}
