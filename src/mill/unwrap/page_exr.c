/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages as OpenEXR files of scanlines, which OpenEXRCore compresses with zip in chunks of sixteen rows.
 */
#include <errno.h>
#include <openexr.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"
#include "mill/unwrap/page.h"

typedef struct exr_page {
    page_shape shape;
    exr_context_t exr;
    exr_encode_pipeline_t pipeline;
    bool has_pipeline;
    uint32_t y;
    int sys_errno; /* errno of the first write that failed */
} exr_page;

static txm_status refused(const exr_page *w, const char *what, exr_result_t code, txm_error *err)
{
    if (w->sys_errno)
        return txm_fail_errno(err, w->sys_errno, "%s: cannot write", w->shape.name);
    return txm_fail(err, code == EXR_ERR_OUT_OF_MEMORY ? TXM_STATUS_NO_MEMORY : TXM_STATUS_INTERNAL,
                    "%s: OpenEXR cannot write %s: %s", w->shape.name, what, exr_get_default_error_message(code));
}

static void ignore_message(exr_const_context_t exr, exr_result_t code, const char *message)
{
    (void)exr, (void)code, (void)message;
}

static int64_t write_at(exr_const_context_t exr, void *user, const void *data, uint64_t size, uint64_t offset,
                        exr_stream_error_func_ptr_t fail)
{
    exr_page *w = user;
    (void)exr, (void)fail;
    if (!w->sys_errno)
        w->sys_errno = txm_pwrite_all(w->shape.fd, data, size, offset);
    return w->sys_errno ? -1 : (int64_t)size;
}

static const char *channel_name(uint32_t channels, uint32_t c)
{
    static const char *const names[] = {"R", "G", "B", "A"};
    return channels == 1 ? "Y" : names[c];
}

static exr_result_t write_exr_head(exr_page *w)
{
    const page_shape *s = &w->shape;
    const exr_pixel_type_t type = s->type == TXM_TYPE_HALF ? EXR_PIXEL_HALF : EXR_PIXEL_FLOAT;
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    int part;
    init.error_handler_fn = ignore_message;
    init.user_data = w;
    init.write_fn = write_at;
    exr_result_t rc = exr_start_write(&w->exr, s->name, EXR_WRITE_FILE_DIRECTLY, &init);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_add_part(w->exr, NULL, EXR_STORAGE_SCANLINE, &part);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_initialize_required_attr_simple(w->exr, 0, (int32_t)s->width, (int32_t)s->height, EXR_COMPRESSION_ZIP);
    for (uint32_t c = 0; rc == EXR_ERR_SUCCESS && c < s->channels; c++)
        rc = exr_add_channel(w->exr, 0, channel_name(s->channels, c), type, EXR_PERCEPTUALLY_LOGARITHMIC, 1, 1);
    if (rc == EXR_ERR_SUCCESS)
        rc = exr_attr_set_string(w->exr, 0, "Software", s->mark);
    return rc == EXR_ERR_SUCCESS ? exr_write_header(w->exr) : rc;
}

static void close_exr(void *writer)
{
    exr_page *w = writer;
    if (!w)
        return;
    if (w->has_pipeline)
        exr_encoding_destroy(w->exr, &w->pipeline);
    if (w->exr)
        exr_finish(&w->exr);
    free(w);
}

static txm_status begin_exr(const page_shape *shape, void **writer, txm_error *err)
{
    exr_page *w = *writer = txm_calloc(1, sizeof *w);
    if (!w)
        return txm_no_memory(err, shape->name);
    w->shape = *shape;
    const exr_result_t rc = write_exr_head(w);
    return rc == EXR_ERR_SUCCESS ? TXM_OK : refused(w, "the header", rc, err);
}

static exr_result_t write_exr_chunk(exr_page *w, const uint8_t *rows, size_t row_bytes)
{
    exr_chunk_info_t chunk;
    const size_t bytes = txm_type_bytes(w->shape.type);
    exr_result_t rc = exr_write_scanline_chunk_info(w->exr, 0, (int)w->y, &chunk);
    if (rc == EXR_ERR_SUCCESS)
        rc = w->has_pipeline ? exr_encoding_update(w->exr, 0, &chunk, &w->pipeline)
                             : exr_encoding_initialize(w->exr, 0, &chunk, &w->pipeline);
    const bool is_new = rc == EXR_ERR_SUCCESS && !w->has_pipeline;
    w->has_pipeline |= is_new;
    for (int i = 0; rc == EXR_ERR_SUCCESS && i < w->pipeline.channel_count; i++) {
        exr_coding_channel_info_t *c = &w->pipeline.channels[i];
        c->user_bytes_per_element = (int16_t)bytes;
        c->user_data_type = c->data_type;
        c->user_pixel_stride = (int32_t)(bytes * w->shape.channels);
        c->user_line_stride = (int32_t)row_bytes;
        uint32_t place = 0; /* OpenEXR sorts channels by name */
        while (place + 1 < w->shape.channels && strcmp(channel_name(w->shape.channels, place), c->channel_name) != 0)
            place++;
        c->encode_from_ptr = rows + place * bytes;
    }
    if (is_new)
        rc = exr_encoding_choose_default_routines(w->exr, 0, &w->pipeline);
    return rc == EXR_ERR_SUCCESS ? exr_encoding_run(w->exr, 0, &w->pipeline) : rc;
}

static txm_status write_exr_rows(void *writer, const void *rows, size_t row_bytes, uint32_t count, txm_error *err)
{
    exr_page *w = writer;
    for (uint32_t y = 0; y < count; y += PAGE_BAND_ROWS, w->y += PAGE_BAND_ROWS) {
        const exr_result_t rc = write_exr_chunk(w, (const uint8_t *)rows + y * row_bytes, row_bytes);
        if (rc != EXR_ERR_SUCCESS)
            return refused(w, "rows", rc, err);
    }
    return TXM_OK;
}

static txm_status end_exr(void *writer, txm_error *err)
{
    exr_page *w = writer;
    if (w->has_pipeline)
        exr_encoding_destroy(w->exr, &w->pipeline);
    w->has_pipeline = false;
    const exr_result_t rc = exr_finish(&w->exr);
    w->exr = NULL;
    return rc == EXR_ERR_SUCCESS ? TXM_OK : refused(w, "the end", rc, err);
}

const page_format txm_page_exr = {"exr", begin_exr, write_exr_rows, end_exr, close_exr};
