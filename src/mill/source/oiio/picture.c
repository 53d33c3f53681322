/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes pictures in a worker process. The worker encodes into memory and returns the file, so that an incomplete
 * file never appears at the path that the user named.
 */
#include "mill/source/oiio/picture.h"

#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/source/oiio/worker.h"
#include "txmill/out_file.h"

/* The limit of CPU time, which no encoder needs: those of video formats take seconds for a megapixel. */
static uint32_t time_limit(const txm_picture *p)
{
    return txm_worker_seconds(600 + (double)p->width * p->height / 1e6 * 60);
}

/* Pixels are sent in pieces, since sockets have small buffers; row by row, since the caller's rows may have gaps. */
static txm_status send_picture(txm_worker *w, const char *name, const txm_picture *p, txm_error *err)
{
    const char *colorspace = p->colorspace ? p->colorspace : "", *base = txm_path_base(name);
    const txm_worker_request request = {.version = TXM_WORKER_VERSION,
                                        .info_bytes = sizeof(txm_source_info),
                                        .op = TXM_WORKER_ENCODE,
                                        .cpu_seconds = time_limit(p),
                                        .width = p->width,
                                        .rows = p->height,
                                        .channels = p->channels,
                                        .type = p->type,
                                        .cwd_bytes = (uint32_t)strlen(colorspace),
                                        .path_bytes = (uint32_t)strlen(base)};
    size_t row_bytes = (size_t)p->width * p->channels * txm_type_bytes(p->type);
    txm_status status = txm_worker_send(w, &request, colorspace, base, err);
    for (uint32_t y = 0; y < p->height && status == TXM_OK; y++)
        status = txm_worker_send_bytes(w, (const char *)p->pixels + y * p->stride_bytes, row_bytes, name, err);
    return status;
}

/* The size is checked before memory is allocated. */
static txm_status receive_file(txm_worker *w, const char *name, txm_bytes *out, txm_error *err)
{
    txm_worker_reply reply;
    char message[TXM_MESSAGE_BYTES] = "";
    txm_status status = txm_worker_receive(w, &reply, sizeof reply, name, err);
    if (status == TXM_OK && (reply.text_bytes >= sizeof message || reply.status >= TXM_STATUSES))
        status = txm_fail(err, TXM_STATUS_INTERNAL, "%s: the encoder gave an invalid answer", name);
    if (status == TXM_OK)
        status = txm_worker_receive(w, message, reply.text_bytes, name, err);
    if (status == TXM_OK && reply.status != TXM_OK)
        return txm_fail(err, (txm_status)reply.status, "%s: %s", name, message);
    if (status == TXM_OK && !txm_bytes_reserve(out, reply.data_bytes))
        status = txm_no_memory(err, name);
    if (status == TXM_OK)
        status = txm_worker_receive(w, out->data, reply.data_bytes, name, err);
    if (status == TXM_OK)
        out->size = reply.data_bytes;
    return status;
}

/* Callers may pass anything; the worker reads rows of this size. */
static txm_status check_picture(const char *name, const txm_picture *p, txm_error *err)
{
    if ((unsigned)p->type > TXM_TYPE_FLOAT)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: there is no sample type %d", name, (int)p->type);
    if (!p->pixels || !p->width || !p->height || !p->channels)
        return txm_fail(err, TXM_STATUS_USAGE, "%s: %u x %u px of %u channels cannot be a picture", name, p->width,
                        p->height, p->channels);
    if (p->stride_bytes < txm_mul(txm_mul(p->width, p->channels), txm_type_bytes(p->type)))
        return txm_fail(err, TXM_STATUS_USAGE, "%s: rows of %zu bytes are too short for %u px of %u channels", name,
                        p->stride_bytes, p->width, p->channels);
    return TXM_OK;
}

/* A worker that failed is not used again. */
txm_status txm_picture_encode_bytes(const char *name, const txm_picture *picture, txm_bytes *out, txm_error *err)
{
    txm_error own = {0};
    if (check_picture(name, picture, err) != TXM_OK)
        return TXM_STATUS_USAGE;
    txm_worker *worker = NULL;
    txm_status status = txm_worker_get(&worker, &own);
    if (status != TXM_OK)
        return txm_fail(err, status, "%s: %s", name, own.message);
    status = send_picture(worker, name, picture, err);
    if (status == TXM_OK)
        status = receive_file(worker, name, out, err);
    txm_worker_put(worker, status == TXM_OK);
    if (status != TXM_OK)
        txm_bytes_free(out);
    return status;
}

/* The picture is encoded in memory first, so that an encoder that fails leaves no file. */
txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err)
{
    txm_error_clear(err);
    txm_bytes file = {0};
    txm_status status = txm_picture_encode_bytes(path, picture, &file, err);
    if (status == TXM_OK)
        status = txm_out_file_write(path, file.data, file.size, err);
    txm_bytes_free(&file);
    return status;
}

/* Callers that send pictures elsewhere use it. */
txm_status txm_picture_encode(const char *name, const txm_picture *picture, unsigned char **file, size_t *file_bytes,
                              txm_error *err)
{
    txm_error_clear(err);
    txm_bytes bytes = {0};
    *file = NULL;
    *file_bytes = 0;
    txm_status status = txm_picture_encode_bytes(name, picture, &bytes, err);
    if (status != TXM_OK) {
        txm_bytes_free(&bytes);
        return status;
    }
    *file = (unsigned char *)bytes.data;
    *file_bytes = bytes.size;
    return TXM_OK;
}
