/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes pictures in a worker process. The worker encodes into memory and returns the file, so that an incomplete
 * file never appears at the path that the user named.
 */
#include "txmill/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/source/oiio/worker.h"
#include "txmill/out_file.h"

/* Callers may pass anything. Pixels are sent row by row, since the caller's rows may have gaps. The size of the file is
 * checked before memory is allocated, and a worker that failed is not used again. */
txm_status txm_picture_encode(const char *name, const txm_picture *p, unsigned char **file, size_t *file_bytes,
                              txm_error *err)
{
    txm_error own = {0};
    txm_worker *worker = NULL;
    txm_worker_reply reply = {0};
    char *message = NULL;
    txm_error_clear(err);
    *file = NULL;
    *file_bytes = 0;
    if ((unsigned)p->type > TXM_TYPE_FLOAT)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: there is no sample type %d", name, (int)p->type);
    if (!p->pixels || !p->width || !p->height || !p->channels)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: %u x %u px of %u channels cannot be a picture", name, p->width,
                        p->height, p->channels);
    const size_t row_bytes = txm_mul(txm_mul(p->width, p->channels), txm_type_bytes(p->type));
    if (p->stride_bytes < row_bytes)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: rows of %zu bytes are too short for %u px of %u channels", name,
                        p->stride_bytes, p->width, p->channels);
    txm_status status = txm_worker_get(&worker, &own);
    if (status != TXM_OK)
        return txm_fail(err, status, "%s: %s", name, own.message);
    const char *colorspace = p->colorspace ? p->colorspace : "", *base = txm_path_base(name);
    /* No encoder needs the limit of CPU time: those of video formats take seconds for a megapixel. */
    const double seconds = 600 + (double)p->width * p->height / 1e6 * 60;
    const txm_worker_request request = {.version = TXM_WORKER_VERSION,
                                        .op = TXM_WORKER_ENCODE,
                                        .cpu_seconds = txm_worker_seconds(seconds),
                                        .width = p->width,
                                        .rows = p->height,
                                        .channels = p->channels,
                                        .type = p->type,
                                        .cwd_bytes = (uint32_t)strlen(colorspace),
                                        .path_bytes = (uint32_t)strlen(base)};
    status = txm_worker_send(worker, &request, colorspace, base, err);
    for (uint32_t y = 0; y < p->height && status == TXM_OK; y++)
        status = txm_worker_send_bytes(worker, (const char *)p->pixels + y * p->stride_bytes, row_bytes, name, err);
    if (status == TXM_OK)
        status = txm_worker_answer(worker, &reply, &message, name, err);
    if (status == TXM_OK && reply.status != TXM_OK)
        status = txm_fail(err, (txm_status)reply.status, "%s: %s", name, message);
    if (status == TXM_OK && !(*file = txm_alloc_pixels(reply.data_bytes, 1)))
        status = txm_no_memory(err, name);
    if (status == TXM_OK)
        status = txm_worker_receive(worker, *file, reply.data_bytes, name, err);
    txm_worker_put(worker, status == TXM_OK);
    free(message);
    if (status == TXM_OK) {
        *file_bytes = reply.data_bytes;
    } else {
        free(*file);
        *file = NULL;
    }
    return status;
}

/* The picture is encoded in memory first, so that an encoder that fails leaves no file. */
txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err)
{
    unsigned char *file;
    size_t bytes;
    txm_error_clear(err);
    txm_status status = txm_picture_encode(path, picture, &file, &bytes, err);
    if (status == TXM_OK)
        status = txm_out_file_write(path, file, bytes, err);
    free(file);
    return status;
}
