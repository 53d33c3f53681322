/* SPDX-License-Identifier: Apache-2.0
 *
 * The direct EXR reader: reads rows from rows of chunks. If all rows of a row of chunks are requested at once, they are
 * decoded into the caller's memory; otherwise the decoded rows are kept until the last one was read.
 *
 * It exists in addition to OpenImageIO because a conversion takes little more than half of the processor time with it
 * (bench/readers.py).
 */
#include "mill/source/exr/exr.h"

#include <libdeflate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

static void close_image(void *self)
{
    txm_exr *x = self;
    if (!x)
        return;
    if (x->pipeline.context)
        exr_decoding_destroy(x->pipeline.context, &x->pipeline);
    if (x->context)
        exr_finish(&x->context);
    txm_source_file_close(&x->file);
    libdeflate_free_decompressor(x->inflater);
    free(x->packed);
    free(x->scratch);
    free(x->planes);
    free(x->band);
    free(x);
}

static void remember_message(exr_const_context_t context, exr_result_t code, const char *message)
{
    void *user = NULL;
    if (exr_get_user_data(context, &user) != EXR_ERR_SUCCESS || !user)
        return;
    txm_exr *x = user;
    snprintf(x->message, sizeof x->message, "%s", message);
    x->no_memory |= code == EXR_ERR_OUT_OF_MEMORY;
}

static int64_t read_file(exr_const_context_t context, void *user, void *buffer, uint64_t bytes, uint64_t offset,
                         exr_stream_error_func_ptr_t fail)
{
    (void)context, (void)fail;
    return txm_source_file_read(&((txm_exr *)user)->file, buffer, bytes, offset);
}

static int64_t file_size(exr_const_context_t context, void *user)
{
    (void)context;
    return (int64_t)((txm_exr *)user)->file.bytes;
}

txm_status txm_exr_cause(const txm_exr *x, txm_error *err)
{
    return x->no_memory ? txm_no_memory(err, x->path) : txm_source_file_status(&x->file, x->path, err);
}

/* Memory for one chunk is allocated within the maximum that a file of this size can hold: deflate shrinks data by at
 * most a factor of 1032. */
static txm_status open_exr_image(const char *path, const txm_source_options *options, txm_source_info *info,
                                 void **self, txm_error *err)
{
    txm_exr *x = txm_calloc(1, sizeof *x);
    if (!x)
        return txm_no_memory(err, path);
    x->path = path;
    txm_status status = txm_source_file_open(&x->file, path, false, err);
    if (status != TXM_OK) {
        free(x);
        return status;
    }
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.error_handler_fn = remember_message;
    init.read_fn = read_file;
    init.size_fn = file_size;
    init.user_data = x;
    exr_result_t opened = exr_start_read(&x->context, path, &init);
    x->no_memory |= opened == EXR_ERR_OUT_OF_MEMORY; /* OpenEXR gives no message before there is a context */
    status = txm_exr_cause(x, err);
    /* OpenImageIO may read a header that OpenEXR's C library refuses, so it decides. */
    if (status == TXM_OK && opened != EXR_ERR_SUCCESS)
        status =
            txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: %s", path, *x->message ? x->message : "the header is damaged");
    if (status == TXM_OK)
        status = txm_exr_describe(x, info, err);
    if (status == TXM_OK) {
        const uint32_t w = x->chunk_w < x->width ? x->chunk_w : x->width,
                       h = x->chunk_h < x->height ? x->chunk_h : x->height;
        const size_t band = txm_mul(txm_mul(x->width, h), (size_t)x->channels * x->sample_bytes);
        x->chunk_bytes = txm_mul(txm_mul(w, h), (size_t)x->file_channels * x->sample_bytes);
        const double need = 3.0 * (double)x->chunk_bytes + (double)band;
        info->memory_bytes = (uint64_t)need;
        status = x->compression != EXR_COMPRESSION_PIZ && x->chunk_bytes / 1032 > x->file.bytes
                     ? txm_fail(err, TXM_STATUS_CORRUPT, "%s: a file of %llu bytes cannot hold blocks of %zu", path,
                                (unsigned long long)x->file.bytes, x->chunk_bytes)
                     : txm_source_afford(path, "a row of its blocks", need, x->file.bytes, options, err);
    }
    if (status == TXM_OK) {
        x->packed = txm_alloc_pixels(x->chunk_bytes, 1);
        x->scratch = txm_alloc_pixels(x->chunk_bytes, 1);
        x->planes = txm_alloc_pixels(x->chunk_bytes, 1);
        x->inflater = libdeflate_alloc_decompressor();
        if (!x->packed || !x->scratch || !x->planes || !x->inflater)
            status = txm_no_memory(err, path);
    }
    if (status == TXM_OK)
        *self = x;
    else
        close_image(x);
    return status;
}

static txm_status read_rows(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    txm_exr *x = self;
    size_t row_bytes = (size_t)x->width * x->channels * x->sample_bytes;
    uint8_t *out = dst;
    for (uint32_t end = y + rows, taken; y < end; y += taken, out += taken * stride_bytes) {
        uint32_t begin = y / x->chunk_h * x->chunk_h;
        uint32_t whole = x->height - begin < x->chunk_h ? x->height - begin : x->chunk_h;
        txm_status status = TXM_OK;
        if (y == begin && end - y >= whole && stride_bytes <= INT32_MAX) {
            status = txm_exr_decode_rows(x, y, out, stride_bytes, err);
            taken = whole;
        } else {
            taken = 1;
            if (y < x->band_begin || y >= x->band_end) {
                uint32_t most = x->chunk_h < x->height ? x->chunk_h : x->height;
                if (!x->band && !(x->band = txm_alloc_pixels(txm_mul(row_bytes, most), 1)))
                    return txm_no_memory(err, x->path);
                x->band_begin = x->band_end = 0;
                status = txm_exr_decode_rows(x, begin, x->band, row_bytes, err);
            }
            if (status == TXM_OK) {
                x->band_begin = begin;
                x->band_end = begin + whole;
                memcpy(out, x->band + (y - begin) * row_bytes, row_bytes);
            }
        }
        if (status != TXM_OK)
            return status;
    }
    return TXM_OK;
}

/* Rewinding needs no work, since chunks are found by their position. */
const txm_reader_ops txm_exr_reader = {"exr", open_exr_image, read_rows, NULL, close_image, NULL, NULL};
