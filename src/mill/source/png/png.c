/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct reader of PNG reads every PNG file that is not interlaced, row by row. libpng reads the chunks before the
 * pixels; the pixels go through ISA-L's inflate and own filters into the caller's rows. Memory is one read buffer, the
 * inflater's state, and inflated rows of about BATCH_BYTES.
 *
 * It exists in addition to OpenImageIO because a conversion takes little more than half of the processor time with it:
 * 0.65 s instead of 1.19 s for an RGB image of 4096 x 4096 px, 1.9 s instead of 3.3 s for 500 images of 256 x 256 px
 * (bench/readers.py).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/source/png/png_header.h"
#include "mill/source/png/png_idat.h"
#include "mill/source/png/png_pixels.h"
#include "mill/source/png/png_unfilter.h"
#include "mill/source/readers.h"

/* The number of bytes that are inflated at once: every call of the inflater saves and restores its 32 KiB window, so
 * calls should be few; larger batches leave the second-level cache before they are unfiltered. */
enum { BATCH_BYTES = 256 << 10 };

/* The rows that are unfiltered at once, and one more for the row above them. */
enum { ROWS_AT_ONCE = 4, LINES = ROWS_AT_ONCE + 1 };

typedef struct png_source {
    char *path;
    txm_raster_file file;
    txm_png_header header;
    const txm_unfilter_ops *ops;
    txm_png_convert_fn convert; /* NULL: rows are unfiltered directly into the caller's memory */
    unsigned pixel_bytes;       /* distance to the left neighbour that filters use */
    size_t row_bytes;           /* size of an unfiltered row as stored */
    uint8_t *batch;             /* inflated rows, each after its filter byte */
    uint32_t batch_rows;        /* number of rows in the batch */
    uint32_t batch_next, batch_end;
    uint8_t *lines[LINES]; /* unfiltered rows that are not in the caller's memory, reused in turn */
    unsigned line;         /* index of the line that was filled last */
    const uint8_t *prior;  /* the row above the next one; zeros above the first */
    uint32_t next_row;     /* next row from the inflater */
    txm_png_idat idat;
} png_source;

/* Reading from the top again uses it too. */
static void start_rows(png_source *s)
{
    memset(s->lines[0], 0, s->row_bytes);
    s->line = 0;
    s->prior = s->lines[0];
    s->batch_next = s->batch_end = 0;
    s->next_row = 0;
    txm_png_idat_begin(&s->idat);
}

/* Memory is that of a few rows, whatever the height is. */
static txm_status check_size(const png_source *s, const txm_source_options *options, txm_error *err)
{
    const txm_png_header *h = &s->header;

    if (h->interlaced)
        return txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: interlaced PNG is left to OpenImageIO", s->path);
    if (h->width > TXM_MAX_SIZE_PX || h->height > TXM_MAX_SIZE_PX)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: %u x %u px; the limit is %d px per side", s->path, h->width,
                        h->height, TXM_MAX_SIZE_PX);
    /* A row has at most 2^20 * 8 bytes, so nothing overflows here. */
    uint64_t need = sizeof *s + TXM_RASTER_PIECE_BYTES + BATCH_BYTES + (LINES + 1) * (uint64_t)h->width * 8;
    if (options && options->max_memory_bytes && need > options->max_memory_bytes)
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: reading it takes %.1f MiB, the limit is %.1f MiB", s->path,
                        (double)need / 1048576, (double)options->max_memory_bytes / 1048576);
    return TXM_OK;
}

/* Rows are inflated in batches that fit into the cache. */
static txm_status allocate_png(png_source *s, txm_error *err)
{
    const txm_png_header *h = &s->header;
    unsigned pixel_bits = h->depth * h->file_samples;

    s->pixel_bytes = (pixel_bits + 7) / 8;
    s->row_bytes = ((size_t)h->width * pixel_bits + 7) / 8;
    s->batch_rows = (uint32_t)(BATCH_BYTES / (1 + s->row_bytes));
    if (s->batch_rows < 1)
        s->batch_rows = 1;
    if (s->batch_rows > ROWS_AT_ONCE)
        s->batch_rows -= s->batch_rows % ROWS_AT_ONCE;
    if (s->batch_rows > h->height)
        s->batch_rows = h->height;
    s->batch = txm_alloc_pixels(s->batch_rows, 1 + s->row_bytes);
    bool complete = s->batch != NULL;
    for (int i = 0; i < LINES; i++)
        complete = complete && (s->lines[i] = txm_alloc_pixels(s->row_bytes, 1)) != NULL;
    if (!complete)
        return txm_no_memory(err, s->path);
    return TXM_OK;
}

/* Alpha in PNG is always unassociated. */
static void describe_png(const txm_png_header *h, unsigned channels, txm_source_info *info)
{
    info->width = h->width;
    info->height = h->height;
    info->file_channels = info->channels = channels;
    info->type = h->depth == 16 ? TXM_TYPE_U16 : TXM_TYPE_U8;
    info->file_alpha = TXM_FILE_ALPHA_UNASSOCIATED;
}

static void close_png(void *self)
{
    png_source *s = self;

    if (!s)
        return;
    txm_raster_file_close(&s->file);
    for (int i = 0; i < LINES; i++)
        free(s->lines[i]);
    free(s->batch);
    free(s->path);
    free(s);
}

static txm_status open_png(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                           txm_error *err)
{
    txm_status status;
    png_source *s = txm_calloc(1, sizeof *s);

    if (!s)
        return txm_no_memory(err, path);
    s->file.fd = -1;
    s->path = txm_strdup(path);
    status = s->path ? txm_raster_file_open(&s->file, path, err) : txm_no_memory(err, path);
    if (!status)
        status = txm_png_read_header(&s->file, path, &s->header, info, err);
    if (!status)
        status = check_size(s, options, err);
    if (!status)
        status = allocate_png(s, err);
    if (!status)
        status = txm_png_read_color(path, info, err);
    if (status) {
        close_png(s);
        return status;
    }
    describe_png(&s->header, txm_png_convert_of(&s->header, &s->convert), info);
    s->ops = txm_unfilter_choose();
    s->idat.file = &s->file;
    s->idat.start = s->header.data_offset;
    s->idat.start_bytes = s->header.data_bytes;
    start_rows(s);
    *self = s;
    return TXM_OK;
}

/* The message counts rows from 1. */
static txm_status fail_row(const png_source *s, uint32_t row, txm_error *err)
{
    return txm_fail(err, s->idat.status, "%s: row %u of %u: %s", s->path, row, s->header.height,
                    s->idat.reason ? s->idat.reason : "not enough image data");
}

/* Inflates the next rows, as many as there is room for. Rows before a damaged one are delivered; the failure is
 * reported when the damaged row is requested. */
static txm_status next_batch(png_source *s, txm_error *err)
{
    size_t stored = 1 + s->row_bytes;
    uint32_t left = s->header.height - s->next_row;
    uint32_t want = left < s->batch_rows ? left : s->batch_rows;
    uint32_t got = (uint32_t)(txm_png_idat_read(&s->idat, s->batch, want * stored) / stored);

    if (got == left && !txm_png_idat_finish(&s->idat))
        got--;
    if (got < want && !s->idat.status)
        s->idat.status = TXM_STATUS_CORRUPT; /* the stream is complete, but too short */
    if (got == 0)
        return fail_row(s, s->next_row, err);
    s->batch_next = 0;
    s->batch_end = got;
    s->next_row += got;
    return TXM_OK;
}

/* Returns how many of the next rows, at most `limit`, can be unfiltered at once: four or two Paeth rows, or one of any
 * kind. */
static uint32_t rows_at_once(const png_source *s, uint32_t limit)
{
    uint32_t left = s->batch_end - s->batch_next, run = 0;
    const uint8_t *stored = s->batch + s->batch_next * (1 + s->row_bytes);

    if (!s->ops->paeth_4[s->pixel_bytes])
        return 1;
    limit = limit < left ? limit : left;
    limit = limit < ROWS_AT_ONCE ? limit : ROWS_AT_ONCE;
    while (run < limit && stored[run * (1 + s->row_bytes)] == TXM_PNG_PAETH)
        run++;
    return run == ROWS_AT_ONCE ? run : run >= 2 ? 2 : 1;
}

/* Unfilters the next `rows` rows of the batch (rows_at_once) to `out`. */
static void unfilter(png_source *s, uint32_t rows, uint8_t *const out[ROWS_AT_ONCE])
{
    const size_t stride = 1 + s->row_bytes;
    const uint8_t *stored = s->batch + s->batch_next * stride;

    if (rows == 4)
        s->ops->paeth_4[s->pixel_bytes](stored + 1, stride, s->prior, out, s->row_bytes);
    else if (rows == 2)
        s->ops->paeth_2[s->pixel_bytes](stored + 1, stride, s->prior, out, s->row_bytes);
    else
        s->ops->undo[stored[0]][s->pixel_bytes](stored + 1, s->prior, out[0], s->row_bytes);
    s->batch_next += rows;
    s->prior = out[rows - 1];
}

/* Delivers the next rows, at most `limit` of them; *rows receives the number. */
static txm_status deliver_rows(png_source *s, uint32_t y, uint32_t limit, uint8_t *dst, size_t stride_bytes,
                               uint32_t *rows, txm_error *err)
{
    uint8_t filter = s->batch[s->batch_next * (1 + s->row_bytes)], *out[ROWS_AT_ONCE];

    if (filter >= TXM_PNG_FILTERS)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %u of %u: bad adaptive filter value %u", s->path, y,
                        s->header.height, filter);
    *rows = rows_at_once(s, limit);
    for (uint32_t r = 0; r < *rows; r++)
        out[r] = s->convert ? s->lines[(s->line + 1 + r) % LINES] : dst + r * stride_bytes;
    unfilter(s, *rows, out);
    if (s->convert) {
        s->line = (s->line + *rows) % LINES;
        for (uint32_t r = 0; r < *rows; r++)
            s->convert(&s->header, out[r], dst + r * stride_bytes);
    }
    return TXM_OK;
}

/* Filters need the previous row, so the last one is kept between calls. */
static txm_status read_png(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    png_source *s = self;
    txm_status status = TXM_OK;

    for (uint32_t r = 0, done = 0; r < rows && !status; r += done) {
        if (s->batch_next == s->batch_end)
            status = next_batch(s, err);
        if (!status)
            status = deliver_rows(s, y + r, rows - r, (uint8_t *)dst + r * stride_bytes, stride_bytes, &done, err);
    }
    /* The last row is in the caller's memory, which may change before the next call, so it is copied. */
    if (!s->convert && s->prior != s->lines[0]) {
        memcpy(s->lines[0], s->prior, s->row_bytes);
        s->prior = s->lines[0];
    }
    return status;
}

static txm_status rewind_png(void *self, txm_error *err)
{
    (void)err;
    start_rows(self);
    return TXM_OK;
}

const txm_reader_ops txm_png_reader = {"png", open_png, read_png, rewind_png, close_png, NULL, NULL};
