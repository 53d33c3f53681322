/* SPDX-License-Identifier: Apache-2.0
 *
 * Estimates order the work, keep it within the bound of memory, and tell users what to expect; nothing else depends on
 * them. bench/estimates.py compares them with measurements: on the server core for which they were fitted, most are
 * within a third for all formats, types and encoders; the rest depends on the content of images.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/os/machine.h"
#include "base/path.h"
#include "base/text.h"
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

/* Rough ratios, for warnings only: deflate packs a tile about as well as it packed a PNG or TIFF, the levels above add
 * a third, and the pixels of lossy images shrink to about half. */
#define LEVELS (4.0 / 3)
#define BORDERS 1.13
#define LOSSY_RATIO 0.6
#define LEAST_RATIO 0.02

uint64_t txm_cost_tx_bytes(const txm_item *item, const txm_settings *settings)
{
    const bool lossy = !strcmp(item->reader, "jpeg") || !strcmp(item->reader, "webp") || !strcmp(item->reader, "oiio");
    const double image = (double)(item->image_width ? item->image_width : item->width) *
                         (item->image_height ? item->image_height : item->height) * item->channels *
                         (double)txm_type_bytes((txm_type)item->type);
    const double own = image > 0 ? 1.1 * (double)item->source_bytes / image : 1;
    const double ratio = settings->compression.codec == TXM_CODEC_NONE ? 1
                         : lossy                                       ? LOSSY_RATIO
                         : own < LEAST_RATIO                           ? LEAST_RATIO
                         : own > 1                                     ? 1
                                                                       : own;
    const double pixels =
        (double)item->width * item->height * item->channels * (double)txm_type_bytes((txm_type)item->type);
    return (uint64_t)(pixels * ratio * LEVELS * (settings->borders ? BORDERS : 1)) + 4096;
}

/* A disk, by the first folder on it where a tx file will be. */
typedef struct disk {
    dev_t device;
    char *folder;
    uint64_t bytes;
} disk;

txm_status txm_batch_check_room(txm_batch *batch, txm_error *err)
{
    disk *disks = NULL;
    size_t count = 0, capacity = 0;
    txm_status status = TXM_OK;
    for (size_t i = 0; i < batch->order_count && status == TXM_OK; i++) {
        const txm_item *item = &batch->items[batch->order[i]];
        const txm_settings settings = txm_batch_settings_of(batch, batch->order[i]);
        struct stat st = {0};
        size_t k = 0;
        if (!item->tx_path)
            continue;
        char *folder = txm_path_dir(item->tx_path);
        while (folder && stat(folder, &st) != 0) { /* the nearest one that exists */
            char *above = txm_path_dir(folder);
            const bool top = above && !strcmp(above, folder);
            free(folder);
            folder = above;
            if (top)
                break;
        }
        while (k < count && disks[k].device != st.st_dev)
            k++;
        if (!folder || (k == count && !TXM_GROW(disks, capacity, count))) {
            free(folder);
            status = txm_no_memory(err, item->tx_path);
            continue;
        }
        if (k == count)
            disks[count++] = (disk){st.st_dev, folder, 0};
        else
            free(folder);
        disks[k].bytes += txm_cost_tx_bytes(item, &settings);
    }
    for (size_t k = 0; k < count; k++) {
        txm_volume volume;
        if (status == TXM_OK && txm_volume_of(disks[k].folder, &volume) && disks[k].bytes > volume.free_bytes)
            txm_batch_warn(
                batch,
                "%s: the tx files to make there will take about %.1f MB, but its disk has only %.1f MB left; "
                "free space, choose another folder with --cache-dir or make them smaller with --limit",
                disks[k].folder, (double)disks[k].bytes / 1e6, (double)volume.free_bytes / 1e6);
        free(disks[k].folder);
    }
    free(disks);
    return status;
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
