/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct reader of PNG reads every PNG file that is not interlaced, row by row. libpng reads the chunks before the
 * pixels; the pixels go through ISA-L's inflate and own filters into the caller's rows. Memory is one read buffer, the
 * inflater's state, and inflated rows of about BATCH_BYTES.
 *
 * It exists in addition to OpenImageIO because a conversion takes little more than half of the processor time with it
 * (bench/readers.py).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/source/png/png.h"
#include "mill/source/png/png_unfilter.h"
#include "mill/source/readers.h"

/* The number of bytes that are inflated at once: every call of the inflater saves and restores its 32 KiB window, so
 * calls should be few; larger batches leave the second-level cache before they are unfiltered. */
enum { BATCH_BYTES = 256 << 10 };

/* The rows that are unfiltered at once, and one more for the row above them. */
enum { ROWS_AT_ONCE = 4, LINES = ROWS_AT_ONCE + 1 };

typedef struct png_source {
    const char *path;
    txm_source_file file;
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

static void start_rows(png_source *s)
{
    memset(s->lines[0], 0, s->row_bytes);
    s->line = 0;
    s->prior = s->lines[0];
    s->batch_next = s->batch_end = 0;
    s->next_row = 0;
    txm_png_idat_begin(&s->idat);
}

static void close_png(void *self)
{
    png_source *s = self;
    if (!s)
        return;
    txm_source_file_close(&s->file);
    for (int i = 0; i < LINES; i++)
        free(s->lines[i]);
    free(s->batch);
    free(s);
}

/* Memory is that of a few rows, whatever the height is. Rows are inflated in batches that fit into the cache. Alpha in
 * PNG is always unassociated. */
static txm_status open_png(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                           txm_error *err)
{
    png_source *s = txm_calloc(1, sizeof *s);
    if (!s)
        return txm_no_memory(err, path);
    const txm_png_header *h = &s->header;
    s->path = path;
    txm_status status = txm_source_file_open(&s->file, path, true, err);
    if (!status)
        status = txm_png_read_header(&s->file, path, &s->header, info, err);
    if (!status && h->interlaced)
        status = txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: interlaced PNG is left to OpenImageIO", path);
    if (!status)
        status = txm_source_check_size(path, h->width, h->height, err);
    /* A row has at most 2^20 * 8 bytes, so nothing overflows here. */
    const uint64_t need = sizeof *s + TXM_SOURCE_PIECE_BYTES + BATCH_BYTES + (LINES + 1) * (uint64_t)h->width * 8;
    if (!status && options && options->max_memory_bytes)
        status = txm_source_afford(path, "a few rows of it", (double)need, 0, options, err);
    if (!status) {
        const unsigned pixel_bits = h->depth * h->file_samples;
        s->pixel_bytes = (pixel_bits + 7) / 8;
        s->row_bytes = ((size_t)h->width * pixel_bits + 7) / 8;
        s->batch_rows = (uint32_t)(BATCH_BYTES / (1 + s->row_bytes));
        if (s->batch_rows < 1)
            s->batch_rows = 1;
        if (s->batch_rows > ROWS_AT_ONCE)
            s->batch_rows -= s->batch_rows % ROWS_AT_ONCE;
        if (s->batch_rows > h->height)
            s->batch_rows = h->height;
        bool complete = (s->batch = txm_alloc_pixels(s->batch_rows, 1 + s->row_bytes)) != NULL;
        for (int i = 0; i < LINES; i++)
            complete = complete && (s->lines[i] = txm_alloc_pixels(s->row_bytes, 1)) != NULL;
        status = complete ? txm_png_read_color(path, info, err) : txm_no_memory(err, path);
    }
    if (status) {
        close_png(s);
        return status;
    }
    info->width = h->width;
    info->height = h->height;
    info->file_channels = info->channels = txm_png_convert_of(h, &s->convert);
    info->type = h->depth == 16 ? TXM_TYPE_U16 : TXM_TYPE_U8;
    info->file_alpha = TXM_FILE_ALPHA_UNASSOCIATED;
    s->ops = txm_unfilter_choose();
    s->idat.file = &s->file;
    s->idat.start = h->data_offset;
    s->idat.start_bytes = h->data_bytes;
    start_rows(s);
    *self = s;
    return TXM_OK;
}

/* Unfilters the next rows, at most `limit` of them, and delivers them; *rows receives the number. Four or two Paeth
 * rows are unfiltered at once, or one row of any kind. */
static txm_status deliver_rows(png_source *s, uint32_t y, uint32_t limit, uint8_t *dst, size_t stride_bytes,
                               uint32_t *rows, txm_error *err)
{
    const size_t stride = 1 + s->row_bytes;
    const uint8_t *stored = s->batch + s->batch_next * stride;
    const uint32_t left = s->batch_end - s->batch_next;
    uint8_t *out[ROWS_AT_ONCE];
    uint32_t run = 0;
    if (stored[0] >= TXM_PNG_FILTERS)
        return txm_fail(err, TXM_STATUS_CORRUPT, "%s: row %u of %u: bad adaptive filter value %u", s->path, y,
                        s->header.height, stored[0]);
    limit = limit < left ? limit : left;
    limit = limit < ROWS_AT_ONCE ? limit : ROWS_AT_ONCE;
    while (s->ops->paeth_4[s->pixel_bytes] && run < limit && stored[run * stride] == TXM_PNG_PAETH)
        run++;
    run = run == ROWS_AT_ONCE ? run : run >= 2 ? 2 : 1;
    for (uint32_t r = 0; r < run; r++)
        out[r] = s->convert ? s->lines[(s->line + 1 + r) % LINES] : dst + r * stride_bytes;
    if (run == 4)
        s->ops->paeth_4[s->pixel_bytes](stored + 1, stride, s->prior, out, s->row_bytes);
    else if (run == 2)
        s->ops->paeth_2[s->pixel_bytes](stored + 1, stride, s->prior, out, s->row_bytes);
    else
        s->ops->undo[stored[0]][s->pixel_bytes](stored + 1, s->prior, out[0], s->row_bytes);
    s->batch_next += run;
    s->prior = out[run - 1];
    if (s->convert) {
        s->line = (s->line + run) % LINES;
        for (uint32_t r = 0; r < run; r++)
            s->convert(&s->header, out[r], dst + r * stride_bytes);
    }
    *rows = run;
    return TXM_OK;
}

/* Rows are inflated in batches, as many as there is room for. Rows before a damaged one are delivered; the failure is
 * reported when the damaged row is requested. Filters need the previous row, so the last one is kept between calls. */
static txm_status read_png(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    png_source *s = self;
    const size_t stored = 1 + s->row_bytes;
    txm_status status = TXM_OK;
    for (uint32_t r = 0, done = 0; r < rows && !status; r += done) {
        if (s->batch_next == s->batch_end) {
            const uint32_t left = s->header.height - s->next_row, want = left < s->batch_rows ? left : s->batch_rows;
            uint32_t got = (uint32_t)(txm_png_idat_read(&s->idat, s->batch, want * stored) / stored);
            if (got == left && !txm_png_idat_finish(&s->idat))
                got--;
            if (got < want && !s->idat.status)
                s->idat.status = TXM_STATUS_CORRUPT; /* the stream is complete, but too short */
            if (got == 0) {
                status = txm_fail(err, s->idat.status, "%s: row %u of %u: %s", s->path, s->next_row, s->header.height,
                                  s->idat.reason ? s->idat.reason : "not enough image data");
                break;
            }
            s->batch_next = 0;
            s->batch_end = got;
            s->next_row += got;
        }
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
