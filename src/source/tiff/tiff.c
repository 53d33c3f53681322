/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct TIFF reader: rows from strips and tiles, decoded by libtiff, whose messages are kept for ours.
 *
 * Blocks are decoded whole, which is fastest, a strip that is asked for as a whole straight into the caller's rows.
 * Strips too large for that (some programs write an image as a single one) are decoded a row at a time: deflate, LZW
 * and PackBits as streams of our own, the rest by libtiff, which holds such a strip as it is in the file. That counts
 * against the bound.
 */
#include "source/tiff/tiff.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codec/tiff_decode.h"
#include "core/mem.h"
#include "core/text.h"

enum { LARGE_STRIP_BYTES = 8 << 20 };

static void close_image(void *self)
{
    txm_tiff *t = self;
    if (!t)
        return;
    if (t->tif)
        TIFFClose(t->tif);
    txm_tiff_strip_free(t->strip);
    free(t->block);
    free(t->line);
    free(t->band);
    free(t->path);
    free(t);
}

__attribute__((format(printf, 4, 0))) static int remember_words(TIFF *tif, void *user, const char *module,
                                                                const char *format, va_list args)
{
    txm_tiff *t = user;
    (void)tif, (void)module;
    txm_vformat(t->words, sizeof t->words, format, args);
    return 1; /* handled: nothing is printed */
}

/* Unknown tags and the like do not concern pixels; a tag that lies beyond the end of the file may have said what they
 * mean. */
__attribute__((format(printf, 4, 0))) static int judge_warning(TIFF *tif, void *user, const char *module,
                                                               const char *format, va_list args)
{
    char words[sizeof((txm_tiff *)user)->words];
    (void)tif, (void)module;
    txm_vformat(words, sizeof words, format, args);
    if (strstr(words, "IO error"))
        memcpy(((txm_tiff *)user)->words, words, sizeof words);
    return 1;
}

static bool probe(const uint8_t *head, size_t head_bytes, const char *path)
{
    (void)path;
    if (head_bytes < 8)
        return false;
    return memcmp(head, "II\x2a\0", 4) == 0 || memcmp(head, "MM\0\x2a", 4) == 0 || memcmp(head, "II\x2b\0", 4) == 0 ||
           memcmp(head, "MM\0\x2b", 4) == 0;
}

static txm_status damaged(const txm_tiff *t, uint32_t y, txm_error *err)
{
    return txm_fail(err, TXM_CORRUPT, "%s: row %u: %s", t->path, y, *t->words ? t->words : "libtiff cannot decode it");
}

static size_t file_row_bytes(const txm_tiff *t)
{
    return (size_t)t->width * t->file_channels * t->sample_bytes;
}

/* No mapping ('m'): mapped pages count as memory of ours. */
static TIFF *open_tiff(txm_tiff *t, const txm_source_options *bounds)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetErrorHandlerExtR(options, remember_words, t);
    TIFFOpenOptionsSetWarningHandlerExtR(options, judge_warning, t);
    if (bounds->max_memory_bytes && bounds->max_memory_bytes <= INT64_MAX)
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t)bounds->max_memory_bytes);
    TIFF *tif = TIFFOpenExt(t->path, "rm", options);
    TIFFOpenOptionsFree(options);
    return tif;
}

static uint64_t largest_strip(TIFF *tif)
{
    uint64_t largest = 0;
    for (uint32_t i = 0; i < TIFFNumberOfStrips(tif); i++) {
        uint64_t bytes = TIFFGetStrileByteCount(tif, i);
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

/* Makes a stream of large strips, where that can be. False: no memory. */
static bool prepare_stream(txm_tiff *t, uint16_t compression)
{
    uint16_t fill_order = FILLORDER_MSB2LSB;
    TIFFGetFieldDefaulted(t->tif, TIFFTAG_FILLORDER, &fill_order);
    if (!t->by_scanline || fill_order != FILLORDER_MSB2LSB ||
        !(t->strip = txm_tiff_strip_new(TIFFFileno(t->tif), compression)))
        return true;
    t->predictor = PREDICTOR_NONE;
    if (compression != COMPRESSION_PACKBITS)
        TIFFGetFieldDefaulted(t->tif, TIFFTAG_PREDICTOR, &t->predictor);
    bool known = t->predictor == PREDICTOR_NONE || t->predictor == PREDICTOR_HORIZONTAL ||
                 (t->predictor == PREDICTOR_FLOATINGPOINT && t->sample_bytes > 1);
    /* What the stream does not take from the start, libtiff may. */
    if (!known || !txm_tiff_strip_begin(t->strip, TIFFGetStrileOffset(t->tif, 0), TIFFGetStrileByteCount(t->tif, 0))) {
        txm_tiff_strip_free(t->strip);
        t->strip = NULL;
    }
    return !t->strip || (t->line = txm_alloc_pixels(file_row_bytes(t), 1)) != NULL;
}

/* Decides how blocks are decoded and allocates for it. libtiff's sizes must be ours: it pads tiles, never rows. */
static txm_status allocate(txm_tiff *t, const txm_source_options *options, txm_error *err)
{
    size_t row = file_row_bytes(t), band = txm_mul(row, t->block_h < t->height ? t->block_h : t->height), block = 0;
    size_t tile = txm_mul(txm_mul(t->block_w, t->block_h), (size_t)t->file_channels * t->sample_bytes);
    if (t->tiled ? TIFFTileSize64(t->tif) != tile : TIFFScanlineSize64(t->tif) != row)
        return txm_fail(err, TXM_UNSUPPORTED, "%s: this layout of samples is not read directly", t->path);
    if (t->tiled) {
        block = tile;
    } else if (band > LARGE_STRIP_BYTES) {
        t->by_scanline = true;
        block = row;
        band = 0;
    }
    struct stat st;
    if (stat(t->path, &st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", t->path);
    /* No codec but zstd shrinks pixels more than a thousandfold or so. */
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(t->tif, TIFFTAG_COMPRESSION, &compression);
    if (compression != COMPRESSION_ZSTD && block / 1400 > (uint64_t)st.st_size)
        return txm_fail(err, TXM_CORRUPT, "%s: a file of %lld bytes cannot hold blocks of %zu", t->path,
                        (long long)st.st_size, block);
    if (!prepare_stream(t, compression))
        return txm_fail(err, TXM_NO_MEMORY, "%s: no memory to decode rows of %u px", t->path, t->width);
    bool held = t->by_scanline && !t->strip && compression != COMPRESSION_NONE;
    uint64_t packed = held ? largest_strip(t->tif) : 0;
    if (packed > (uint64_t)st.st_size)
        return txm_fail(err, TXM_CORRUPT, "%s: a strip of %llu bytes in a file of %lld: the file is damaged", t->path,
                        (unsigned long long)packed, (long long)st.st_size);
    double need = (double)block + (double)band + (double)packed;
    if (options->max_memory_bytes && need > (double)options->max_memory_bytes)
        return txm_fail(err, TXM_TOO_LARGE, "%s: a %s of it needs %.0f MiB to decode, the limit is %.0f MiB", t->path,
                        t->tiled ? "row of tiles" : "strip", need / 1048576,
                        (double)options->max_memory_bytes / 1048576);
    if ((block && !(t->block = txm_alloc_pixels(block, 1))) || (band && !(t->band = txm_alloc_pixels(band, 1))))
        return txm_fail(err, TXM_NO_MEMORY, "%s: no memory to decode %u x %u px in blocks of %u x %u", t->path,
                        t->width, t->height, t->block_w, t->block_h);
    return TXM_OK;
}

static txm_status open_image(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                             txm_error *err)
{
    txm_status status = TXM_OK;
    txm_tiff *t = txm_calloc(1, sizeof *t);
    if (!t || !(t->path = txm_strdup(path)))
        status = txm_fail(err, TXM_NO_MEMORY, "%s: no memory to open it", path);
    else if (!(t->tif = open_tiff(t, options)))
        status = txm_fail(err, TXM_CORRUPT, "%s: %s", path, *t->words ? t->words : "libtiff cannot open it");
    if (status == TXM_OK)
        status = txm_tiff_describe(t, info, err);
    if (status == TXM_OK)
        status = allocate(t, options, err);
    if (status == TXM_OK)
        *self = t;
    else
        close_image(t);
    return status;
}

/* Decodes the row of blocks that begins at image row `y` to dst, channels as in the file. */
static txm_status decode_blocks(txm_tiff *t, uint32_t y, uint8_t *dst, txm_error *err)
{
    size_t row = file_row_bytes(t), pixel = (size_t)t->file_channels * t->sample_bytes;
    uint32_t rows = t->height - y < t->block_h ? t->height - y : t->block_h;
    *t->words = 0;
    if (!t->tiled) {
        tmsize_t want = (tmsize_t)(row * rows);
        tmsize_t got = TIFFReadEncodedStrip(t->tif, TIFFComputeStrip(t->tif, y, 0), dst, want);
        return got == want ? TXM_OK : damaged(t, y, err);
    }
    for (uint32_t x = 0; x < t->width; x += t->block_w) {
        uint32_t width = t->width - x < t->block_w ? t->width - x : t->block_w;
        if (TIFFReadTile(t->tif, t->block, x, y, 0, 0) < 0)
            return damaged(t, y, err);
        for (uint32_t r = 0; r < rows; r++)
            memcpy(dst + r * row + x * pixel, t->block + (size_t)r * t->block_w * pixel, width * pixel);
    }
    return TXM_OK;
}

/* One row to the caller: all channels, or the first four. */
static void deliver_row(const txm_tiff *t, const uint8_t *row, uint8_t *dst)
{
    size_t from = (size_t)t->file_channels * t->sample_bytes, to = (size_t)t->channels * t->sample_bytes;
    if (from == to)
        memcpy(dst, row, to * t->width);
    else
        for (uint32_t x = 0; x < t->width; x++)
            memcpy(dst + x * to, row + x * from, to);
}

/* Samples of the file's byte order to ours, differences to samples. */
static void undo_predictor(txm_tiff *t)
{
    size_t samples = (size_t)t->width * t->file_channels;
    if (t->predictor == PREDICTOR_FLOATINGPOINT) {
        txm_unpredict_float(t->block, t->width, 1, t->file_channels, t->sample_bytes, t->line);
        return;
    }
    if (TIFFIsByteSwapped(t->tif) && t->sample_bytes == 2)
        TIFFSwabArrayOfShort((uint16_t *)(void *)t->block, (tmsize_t)samples);
    else if (TIFFIsByteSwapped(t->tif) && t->sample_bytes == 4)
        TIFFSwabArrayOfLong((uint32_t *)(void *)t->block, (tmsize_t)samples);
    if (t->predictor == PREDICTOR_HORIZONTAL)
        txm_unpredict_horizontal(t->block, t->width, 1, t->file_channels, t->sample_bytes);
}

/* The next row of a strip that is decoded as a stream; rows are asked for in order. */
static txm_status stream_row(txm_tiff *t, uint32_t y, txm_error *err)
{
    bool ok = true;
    if (y % t->block_h == 0) {
        uint32_t strip = y / t->block_h;
        ok = txm_tiff_strip_begin(t->strip, TIFFGetStrileOffset(t->tif, strip), TIFFGetStrileByteCount(t->tif, strip));
    }
    if (!ok || !txm_tiff_strip_read(t->strip, t->block, file_row_bytes(t)))
        return txm_fail(err, TXM_CORRUPT, "%s: row %u: %s", t->path, y, txm_tiff_strip_words(t->strip));
    undo_predictor(t);
    return TXM_OK;
}

static txm_status read_scanline(txm_tiff *t, uint32_t y, uint8_t *dst, txm_error *err)
{
    if (t->strip) {
        txm_status status = stream_row(t, y, err);
        if (status == TXM_OK)
            deliver_row(t, t->block, dst);
        return status;
    }
    /* libtiff decodes a strip in order; rows before the one asked for were all asked for before. */
    *t->words = 0;
    if (TIFFReadScanline(t->tif, t->block, y, 0) < 0)
        return damaged(t, y, err);
    deliver_row(t, t->block, dst);
    return TXM_OK;
}

static txm_status load_band(txm_tiff *t, uint32_t y, txm_error *err)
{
    if (y >= t->band_begin && y < t->band_end)
        return TXM_OK;
    uint32_t begin = y / t->block_h * t->block_h;
    t->band_begin = t->band_end = 0;
    txm_status status = decode_blocks(t, begin, t->band, err);
    if (status == TXM_OK) {
        t->band_begin = begin;
        t->band_end = t->height - begin < t->block_h ? t->height : begin + t->block_h;
    }
    return status;
}

static txm_status read_rows(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    txm_tiff *t = self;
    uint8_t *out = dst;
    bool tight = t->channels == t->file_channels && stride_bytes == file_row_bytes(t);
    for (uint32_t end = y + rows, taken; y < end; y += taken, out += taken * stride_bytes) {
        uint32_t whole = t->height - y < t->block_h ? t->height - y : t->block_h;
        txm_status status;
        taken = 1;
        if (t->by_scanline) {
            status = read_scanline(t, y, out, err);
        } else if (tight && y % t->block_h == 0 && end - y >= whole) {
            status = decode_blocks(t, y, out, err);
            taken = whole;
        } else {
            status = load_band(t, y, err);
            if (status == TXM_OK)
                deliver_row(t, t->band + (y - t->band_begin) * file_row_bytes(t), out);
        }
        if (status != TXM_OK)
            return status;
    }
    return TXM_OK;
}

/* Strips and tiles are found by their place, and row 0 starts its strip anew. */
static txm_status rewind_image(void *self, txm_error *err)
{
    (void)self, (void)err;
    return TXM_OK;
}

const txm_reader_ops txm_tiff_reader = {"tiff", probe, open_image, read_rows, rewind_image, close_image};
