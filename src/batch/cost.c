/* SPDX-License-Identifier: Apache-2.0
 *
 * What a conversion costs, estimated from the image's header. The numbers order the work, keep it below a bound of
 * memory, and tell people what to expect; nothing else depends on them. They are rough: their order counts, not their
 * value.
 */
#include <string.h>

#include "batch/batch.h"
#include "convert/memory.h"

/* Seconds of one processor. */
#define SECONDS_PER_FILE 0.0015      /* opening, look-up, creating, renaming */
#define SECONDS_PER_FILE_OIIO 0.02   /* the same through OpenImageIO */
#define SECONDS_PER_MEGASAMPLE 0.012 /* decode, pyramid, digest, encode, rings */
#define SECONDS_PER_MEGAPIXEL_COLOR 0.05
#define SECONDS_PER_MEGABYTE_ENCODED 0.006 /* deflate of the tiles */

/* A small image never fills the buffers that a large one may: it takes some copies of itself. */
enum { SMALL_BASE_BYTES = 3 << 20, SMALL_COPIES = 6 };

static bool converts_color(const txm_item *item)
{
    return strcmp(item->detected, "data") && strcmp(item->detected, "scene_linear") &&
           strcmp(item->detected, "scene_linear_srgb");
}

static uint64_t memory(const txm_item *item, const txm_settings *settings, txm_type type, unsigned threads)
{
    const txm_conform conform = {.width = item->width,
                                 .src_channels = item->channels,
                                 .channels = item->channels,
                                 .src_type = (txm_type)item->type,
                                 .type = type};
    uint64_t bytes = txm_convert_memory(&conform, settings, TXM_MIN_BANDS + 1 + threads, threads);
    /* At most 65536 x 65536 x 16 bytes: nothing overflows. */
    uint64_t pixels = (uint64_t)item->width * item->height * item->channels;
    uint64_t small = SMALL_BASE_BYTES + SMALL_COPIES * pixels * txm_type_bytes(type);
    if (small < bytes)
        bytes = small;
    /* OpenImageIO holds whole images of many formats. */
    if (!strcmp(item->reader, "oiio"))
        bytes += pixels * txm_type_bytes((txm_type)item->type);
    return bytes;
}

txm_cost txm_cost_estimate(const txm_item *item, const txm_settings *settings, unsigned threads)
{
    bool oiio = strcmp(item->reader, "oiio") == 0, color = converts_color(item);
    /* Converted colours are half, or float where the source is. */
    txm_type type = color && !txm_type_is_float((txm_type)item->type) ? TXM_HALF : (txm_type)item->type;
    double megapixels = (double)item->width * item->height * 1e-6, megasamples = megapixels * item->channels;
    return (txm_cost){.megapixels = megapixels,
                      .memory_bytes = memory(item, settings, type, threads),
                      .seconds = (oiio ? SECONDS_PER_FILE_OIIO : SECONDS_PER_FILE) +
                                 megasamples * SECONDS_PER_MEGASAMPLE +
                                 megasamples * (double)txm_type_bytes(type) * SECONDS_PER_MEGABYTE_ENCODED +
                                 (color ? megapixels * SECONDS_PER_MEGAPIXEL_COLOR : 0)};
}
