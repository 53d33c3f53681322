/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct TIFF reader: rows from strips and tiles, decoded by libtiff, whose messages become part of txmill's.
 * Blocks are decoded as a whole, which is fastest; a strip that is requested as a whole is decoded directly into the
 * caller's rows. Strips too large for that (some programs write an image as a single one) are decoded row by row:
 * deflate and no compression as a stream (tiff_strip.c), other compressions by libtiff, which then keeps the compressed
 * strip in memory. That counts against the memory bound.
 *
 * It exists in addition to OpenImageIO because a conversion takes 30 to 40 % less processor time with it
 * (bench/readers.py).
 */
#include "mill/source/tiff/tiff.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/text.h"
#include "tile/reader/libtiff.h"

enum { LARGE_STRIP_BYTES = 8 << 20 };

/* There is one per plane. */
static void free_streams(txm_tiff *t)
{
    for (uint32_t p = 0; p < TXM_MAX_CHANNELS; p++) {
        free(t->strip[p]);
        t->strip[p] = NULL;
    }
}

static void close_tiff(void *self)
{
    txm_tiff *t = self;
    if (!t)
        return;
    if (t->tif)
        TIFFClose(t->tif);
    txm_source_file_close(&t->file);
    free_streams(t);
    free(t->block);
    free(t->line);
    free(t->band);
    free(t);
}

/* Keeps libtiff's last message, but never replaces one that casts doubt on the pixels: one about a tag that says how
 * they are stored. libtiff ignores tags that it cannot read, and quotes their names; the image is then a different one.
 */
__attribute__((format(printf, 2, 0))) static void keep_message(txm_tiff *t, const char *format, va_list args)
{
    static const char *const tags[] = {
        "ImageWidth",   "ImageLength",      "BitsPerSample",       "Compression",         "PhotometricInterpretation",
        "StripOffsets", "SamplesPerPixel",  "RowsPerStrip",        "PlanarConfiguration", "Predictor",
        "ColorMap",     "StripByteCounts",  "TileWidth",           "TileLength",          "ExtraSamples",
        "SampleFormat", "TileOffsets",      "TileByteCounts",      "YCbCrCoefficients",   "JPEGTables",
        "InkSet",       "YCbCrSubsampling", "ReferenceBlackWhite",
    };
    char message[sizeof t->message];
    txm_vformat(message, sizeof message, format, args);
    t->no_memory |= txm_libtiff_lacks_memory(message);
    if (t->guarded && txm_libtiff_breaks_handle(message))
        longjmp(t->escape, 1);
    if (t->doubtful)
        return;
    for (char *c = message; *c; c++)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    strcpy(t->message, message);
    for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++) {
        const char *name = strstr(t->message, tags[i]);
        t->doubtful |= name && name > t->message && name[-1] == '"' && name[strlen(tags[i])] == '"';
    }
}

__attribute__((format(printf, 4, 0))) static int remember_message(TIFF *tif, void *user, const char *module,
                                                                  const char *format, va_list args)
{
    (void)tif, (void)module;
    keep_message(user, format, args);
    return 1; /* handled: nothing is printed */
}

/* Warnings do not concern pixels, except those of tags beyond the end of the file, which may have defined what pixels
 * mean. */
__attribute__((format(printf, 4, 0))) static int judge_warning(TIFF *tif, void *user, const char *module,
                                                               const char *format, va_list args)
{
    (void)tif, (void)module;
    if (strstr(format, "IO error"))
        keep_message(user, format, args);
    return 1;
}

/* libtiff neither maps nor opens the file itself. A read that fails returns 0 and not -1: libtiff would add the -1 to
 * its count of bytes, and clear the rest of its buffer from one byte before it. */
static tmsize_t read_tiff_bytes(thandle_t user, void *dst, tmsize_t bytes)
{
    txm_tiff *t = user;
    int64_t got = bytes < 0 ? 0 : txm_source_file_read(&t->file, dst, (size_t)bytes, t->position);
    got = got > 0 ? got : 0;
    t->position += (uint64_t)got;
    return (tmsize_t)got;
}

static tmsize_t write_file(thandle_t user, void *src, tmsize_t bytes)
{
    (void)user, (void)src, (void)bytes;
    return -1;
}

static toff_t seek_file(thandle_t user, toff_t offset, int whence)
{
    txm_tiff *t = user;
    t->position = offset + (whence == SEEK_CUR ? t->position : whence == SEEK_END ? t->file.bytes : 0);
    return t->position;
}

static toff_t file_size(thandle_t user)
{
    return ((const txm_tiff *)user)->file.bytes;
}

static int close_file(thandle_t user)
{
    (void)user;
    return 0;
}

/* Failed reads and lack of memory take precedence over libtiff's message, as in txm_exr_cause. */
txm_status txm_tiff_cause(const txm_tiff *t, txm_error *err)
{
    return t->no_memory ? txm_no_memory(err, t->path) : txm_source_file_status(&t->file, t->path, err);
}

/* The file is not mapped ('m'), because mapped pages count as memory of this process. */
static TIFF *open_guarded(txm_tiff *t, TIFFOpenOptions *options)
{
    if (setjmp(t->escape) != 0) {
        t->guarded = false;
        return NULL;
    }
    t->guarded = true;
    TIFF *tif = TIFFClientOpenExt(t->path, "rm", t, read_tiff_bytes, write_file, seek_file, close_file, file_size, NULL,
                                  NULL, options);
    t->guarded = false;
    return tif;
}

static bool is_deflate(uint16_t compression)
{
    return compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE;
}

/* Creates streams for large strips, if they can decode the file. false if memory is exhausted. */
static bool prepare_streams(txm_tiff *t, uint16_t compression)
{
    uint16_t fill_order = FILLORDER_MSB2LSB;
    if (!is_deflate(compression) && compression != COMPRESSION_NONE)
        return true;
    TIFFGetFieldDefaulted(t->tif, TIFFTAG_FILLORDER, &fill_order);
    t->predictor = PREDICTOR_NONE;
    if (is_deflate(compression))
        TIFFGetFieldDefaulted(t->tif, TIFFTAG_PREDICTOR, &t->predictor);
    if (fill_order != FILLORDER_MSB2LSB ||
        !(t->predictor == PREDICTOR_NONE || (t->predictor == PREDICTOR_HORIZONTAL && t->sample_bytes <= 4) ||
          (t->predictor == PREDICTOR_FLOATINGPOINT && t->sample_bytes > 1)))
        return true;
    for (uint32_t p = 0; p < t->planes; p++) {
        uint32_t first = TIFFComputeStrip(t->tif, 0, (uint16_t)p);
        t->strip[p] = txm_tiff_strip_new(t->file.fd, is_deflate(compression));
        /* If a stream cannot decode the first strip, libtiff may be able to. */
        if (!t->strip[p] || !txm_tiff_strip_begin(t->strip[p], TIFFGetStrileOffset(t->tif, first),
                                                  TIFFGetStrileByteCount(t->tif, first))) {
            free_streams(t);
            return true;
        }
    }
    return (t->line = txm_alloc_pixels(txm_tiff_plane_row(t), 1)) != NULL;
}

/* Chooses between whole blocks and single rows by the available memory. */
static txm_status allocate_tiff(txm_tiff *t, const txm_source_options *options, txm_source_info *info, txm_error *err)
{
    size_t row = txm_mul(txm_tiff_plane_row(t), t->planes);
    size_t band = txm_mul(row, t->block_h < t->height ? t->block_h : t->height);
    size_t block = t->tiled ? (size_t)TIFFTileSize64(t->tif) : 0;
    uint16_t compression = COMPRESSION_NONE;
    /* libtiff must have the same layout: it pads tiles, but never rows. */
    size_t tile = txm_mul(txm_mul(t->block_w, t->block_h), (size_t)t->plane_channels * t->sample_bytes);
    if (t->tiled ? TIFFTileSize64(t->tif) != tile : TIFFScanlineSize64(t->tif) != txm_tiff_plane_row(t))
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: this layout of samples is not read directly", t->path);
    TIFFGetFieldDefaulted(t->tif, TIFFTAG_COMPRESSION, &compression);
    if (!t->tiled && band > LARGE_STRIP_BYTES) {
        if (!prepare_streams(t, compression))
            return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory to decode rows of %u px", t->path, t->width);
        /* libtiff decodes a compressed strip in order, and only one strip at a time, so it cannot deliver rows of
         * planes in turn. */
        t->by_scanline = t->strip[0] || t->planes == 1 || compression == COMPRESSION_NONE;
        if (t->by_scanline) {
            block = row;
            band = 0;
        }
    }
    /* No codec except zstd compresses pixels by much more than a thousand. */
    size_t largest = block ? block : band;
    if (compression != COMPRESSION_ZSTD && largest / 1400 > t->file.bytes)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: a file of %llu bytes cannot hold blocks of %zu", t->path,
                        (unsigned long long)t->file.bytes, largest);
    /* libtiff reads a strip that it decodes row by row into memory as a whole. */
    uint64_t packed = 0;
    if (t->by_scanline && !t->strip[0] && compression != COMPRESSION_NONE)
        for (uint32_t i = 0; i < TIFFNumberOfStrips(t->tif); i++) {
            uint64_t bytes = TIFFGetStrileByteCount(t->tif, i);
            packed = bytes > packed ? bytes : packed;
        }
    if (packed > t->file.bytes)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: a strip of %llu bytes in a file of %llu: the file is damaged",
                        t->path, (unsigned long long)packed, (unsigned long long)t->file.bytes);
    double need = (double)block + (double)band + (double)packed;
    info->memory_bytes = (uint64_t)need;
    txm_status status = txm_source_afford(t->path, t->tiled ? "a row of its tiles" : "a strip of it", need,
                                          t->file.bytes, options, err);
    if (status != TXM_OK)
        return status;
    if ((block && !(t->block = txm_alloc_pixels(block, 1))) || (band && !(t->band = txm_alloc_pixels(band, 1))))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: no memory to decode %u x %u px in blocks of %u x %u", t->path,
                        t->width, t->height, t->block_w, t->block_h);
    return TXM_OK;
}

enum { TAGS_BYTES = 1 << 20 };

static txm_status open_image(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                             txm_error *err)
{
    txm_tiff *t = txm_calloc(1, sizeof *t);
    if (!t)
        return txm_no_memory(err, path);
    t->file.fd = -1;
    t->path = path;
    txm_status status = txm_source_file_open(&t->file, path, false, err);
    bool cramped = false;
    TIFFOpenOptions *settings = TIFFOpenOptionsAlloc();
    t->no_memory = !settings;
    if (status == TXM_OK) {
        if (settings) {
            TIFFOpenOptionsSetErrorHandlerExtR(settings, remember_message, t);
            TIFFOpenOptionsSetWarningHandlerExtR(settings, judge_warning, t);
            if (options->max_memory_bytes && options->max_memory_bytes <= INT64_MAX)
                TIFFOpenOptionsSetMaxSingleMemAlloc(settings, (tmsize_t)options->max_memory_bytes);
            t->tif = open_guarded(t, settings);
        }
        /* The limit is smaller than the tags of any TIFF file: libtiff mostly reports that as lack of memory. */
        cramped = (!t->tif || t->no_memory) && options->max_memory_bytes && options->max_memory_bytes < TAGS_BYTES;
        t->no_memory &= !cramped;
        /* If it could not read a tag, libtiff may have continued without it. */
        status = txm_tiff_cause(t, err);
    }
    TIFFOpenOptionsFree(settings);
    if (status == TXM_OK && cramped)
        status = txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: its tags need up to 1 MiB, the limit is %.1f MiB", path,
                          (double)options->max_memory_bytes / 1048576);
    /* If libtiff cannot open it, the file is damaged. */
    if (status == TXM_OK && !t->tif)
        status = *t->message ? txm_fail(err, TXM_STATUS_CORRUPT, "%s: %s", path, t->message) : txm_no_memory(err, path);
    if (status == TXM_OK)
        status = txm_tiff_describe(t, info, err);
    if (status == TXM_OK)
        status = allocate_tiff(t, options, info, err);
    if (status == TXM_OK)
        *self = t;
    else
        close_tiff(t);
    return status;
}

/* Rewinding needs no work: strips and tiles are found by position, and row 0 starts its strip again. */
const txm_reader_ops txm_tiff_reader = {"tiff", open_image, txm_tiff_read_rows, NULL, close_tiff, NULL, NULL};
