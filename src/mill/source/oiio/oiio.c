/* SPDX-License-Identifier: Apache-2.0
 *
 * The OpenImageIO reader passes every call to a worker process, as a request and an answer on a socket, and checks the
 * answer. Sizes in an answer are compared with what was announced before memory is allocated; a worker that dies or
 * hangs affects only this image.
 *
 * Image libraries cannot report a failed read: they take it for damage, or for an unknown format. If a decoder refuses
 * a file, the whole file is therefore read here; if that fails, the failed read is reported, and if it does not, the
 * decoder gets a second try. Only images that fail take this time.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/free_memory.h"
#include "base/text.h"
#include "mill/source/bound.h"
#include "mill/source/oiio/worker.h"
#include "mill/source/readers.h"
#include "mill/source/source_file.h"

/* What the worker's process takes with its libraries, and the copy of it that reads the image. */
enum { WORKER_BYTES = 128 << 20 };

typedef struct oiio_source {
    txm_worker *worker;
    const char *path;
    uint64_t max_memory_bytes;
    uint32_t width, height, channels;
    txm_type type; /* type with which it was opened */
    bool half;     /* it was opened as half */
    size_t row_bytes;
    uint32_t cpu_seconds;
    uint64_t file_bytes;
    bool answered; /* the last request was answered, perhaps with a failure */
    bool failed;   /* a call failed, so nothing more can be read */
    bool spent;    /* the worker did not answer, or more than it should: it is not used for another image */
} oiio_source;

/* The limit of CPU time for one call, which no valid image needs. */
static uint32_t time_limit(double megabytes, double megapixels)
{
    return txm_worker_seconds(60 + megabytes + megapixels);
}

static txm_worker_request request_for(const oiio_source *s, txm_worker_op op)
{
    return (txm_worker_request){.version = TXM_WORKER_VERSION, .op = op, .cpu_seconds = s->cpu_seconds};
}

/* Sends a request and receives the reply with its text, which may be NULL; on success the caller frees it. A failure
 * that the worker reports is recorded with its message. The caller receives what follows the text: info or rows. */
static txm_status ask(oiio_source *s, const txm_worker_request *request, const char *cwd, txm_worker_reply *reply,
                      char **text, txm_error *err)
{
    char *message = NULL;
    txm_status status = txm_worker_send(s->worker, request, cwd, s->path, err);
    if (status == TXM_OK)
        status = txm_worker_answer(s->worker, reply, &message, s->path, err);
    s->answered = status == TXM_OK;
    if (s->answered && reply->status != TXM_OK)
        status = txm_fail_again(err, (txm_status)reply->status,
                                &(txm_failure){message, reply->subject_bytes, reply->advice_at});
    if (status == TXM_OK && text)
        *text = message;
    else
        free(message);
    /* A refusal is not a failure of the decoder. */
    bool refused =
        status == TXM_STATUS_UNSUPPORTED || status == TXM_STATUS_TOO_LARGE || status == TXM_STATUS_NOT_INSTALLED;
    s->failed |= status != TXM_OK && !refused;
    s->spent |= !s->answered;
    return status;
}

/* A worker that still answers is used for the next image; it sees to it that this one has no effect on that. */
static void release_worker(oiio_source *s)
{
    if (s->worker && !s->spent) {
        txm_worker_request request = request_for(s, TXM_WORKER_CLOSE);
        txm_worker_reply reply;
        /* Some decoders fail while they close: then this worker is not used again. */
        ask(s, &request, NULL, &reply, NULL, NULL);
    }
    txm_worker_put(s->worker, !s->spent);
    s->worker = NULL;
}

static void close_oiio(void *self)
{
    oiio_source *s = self;
    if (!s)
        return;
    release_worker(s);
    free(s);
}

/* Some decoders decode the whole image while they open it, before its size can be checked. This includes half of what
 * the worker adds for their tables. */
static uint64_t open_bytes(const oiio_source *s)
{
    return (uint64_t)txm_bound_of_file(s->file_bytes, 0) - TXM_WORKER_SLACK_BYTES / 2;
}

/* The current folder is sent too, since the worker was started in another one. If it does not exist any more, absolute
 * paths still work. The worker's description of the image is taken over if it is plausible: its pointers are of another
 * process, and attributes come as text instead; strings are terminated at the end of their field. */
static txm_status open_in_worker(oiio_source *s, txm_source_info *info, txm_error *err)
{
    txm_worker_request request = request_for(s, TXM_WORKER_OPEN);
    txm_worker_reply reply;
    s->answered = false;
    if (txm_worker_get(&s->worker, err) != TXM_OK)
        return txm_error_prefix(err, "%s", s->path);
    char *cwd = getcwd(NULL, 0), *text = NULL;
    request.max_memory_bytes = s->max_memory_bytes;
    request.free_memory_bytes = s->max_memory_bytes ? 0 : txm_free_memory("");
    request.open_bytes = s->max_memory_bytes ? s->max_memory_bytes : open_bytes(s);
    request.cwd_bytes = cwd ? (uint32_t)strlen(cwd) : 0;
    request.path_bytes = (uint32_t)strlen(s->path);
    txm_status status = ask(s, &request, cwd, &reply, &text, err);
    free(cwd);
    if (status != TXM_OK)
        return status;
    if ((status = txm_worker_receive(s->worker, info, sizeof *info, s->path, err)) != TXM_OK)
        memset(info, 0, sizeof *info);
    info->attributes = NULL;
    info->attribute_count = 0;
    info->format[sizeof info->format - 1] = 0;
    info->reader[sizeof info->reader - 1] = 0;
    info->colorspace_hint[sizeof info->colorspace_hint - 1] = 0;
    info->interop_id[sizeof info->interop_id - 1] = 0;
    info->software[sizeof info->software - 1] = 0;
    info->density.unit[sizeof info->density.unit - 1] = 0;
    if (status == TXM_OK &&
        (info->width < 1 || info->width > TXM_MAX_SIZE_PX || info->height < 1 || info->height > TXM_MAX_SIZE_PX ||
         info->channels < 1 || info->channels > TXM_MAX_CHANNELS || info->file_channels < info->channels ||
         (unsigned)info->type > TXM_TYPE_FLOAT || (info->narrowed && info->type != TXM_TYPE_U8)))
        status = txm_fail(err, TXM_STATUS_INTERNAL, "%s: the decoder described the image wrongly", s->path);
    for (size_t at = 0; status == TXM_OK && at < reply.text_bytes;) {
        const char *name = text + at, *value = name + strlen(name) + 1;
        if (value > text + reply.text_bytes)
            break;
        if (!txm_source_keep(info, name, value))
            status = txm_no_memory(err, s->path);
        at = (size_t)(value - text) + strlen(value) + 1;
    }
    s->spent |= status != TXM_OK;
    free(text);
    return status;
}

/* Whether a failed read may have caused the decoder's refusal. A decoder that crashed, or was stopped, is not tried
 * again. */
static bool is_doubtful(const oiio_source *s, txm_status status)
{
    return s->answered && (status == TXM_STATUS_CORRUPT || status == TXM_STATUS_UNSUPPORTED);
}

/* Opens the image again, if the whole file can be read: OK if another worker gets as far as the first one was after it
 * had opened it. */
static txm_status try_again(oiio_source *s, txm_source_info *info, txm_error *err)
{
    char piece[1 << 16];
    int64_t got = 1;
    txm_source_file file;
    txm_status status = txm_source_file_open(&file, s->path, false, err);
    if (status != TXM_OK)
        return status;
    for (uint64_t at = 0; got > 0; at += (uint64_t)got)
        got = txm_source_file_read(&file, piece, sizeof piece, at);
    status = txm_source_file_status(&file, s->path, err);
    txm_source_file_close(&file);
    if (status != TXM_OK)
        return status;
    release_worker(s);
    s->failed = s->spent = false;
    txm_source_forget(info);
    return open_in_worker(s, info, err);
}

/* Whether the bound of an image that is being opened may be why it got no memory. If the same happens again, it is. */
static bool lacks_large_piece(const oiio_source *s, txm_status status)
{
    return status == TXM_STATUS_NO_MEMORY && !s->max_memory_bytes && txm_worker_lacked_large(s->worker) &&
           open_bytes(s) + TXM_WORKER_SLACK_BYTES < txm_free_memory("");
}

/* The time limit grows with the file and, once it is known, with the image. OpenImageIO does not report that a film
 * scan is truncated, so its length is checked here. */
static txm_status open_oiio(const char *path, const txm_source_options *options, txm_source_info *info, void **self,
                            txm_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return txm_fail_errno(err, errno, "%s: cannot be examined", path);
    const double megabytes = (double)st.st_size / 1e6;
    oiio_source *s = txm_calloc(1, sizeof *s);
    if (!s)
        return txm_no_memory(err, path);
    s->path = path;
    s->cpu_seconds = time_limit(megabytes, 0);
    s->file_bytes = (uint64_t)st.st_size;
    s->max_memory_bytes = options->max_memory_bytes;
    txm_error first = {0};
    txm_status status = open_in_worker(s, info, &first);
    if (lacks_large_piece(s, status)) {
        txm_error_clear(&first);
        status = try_again(s, info, &first);
        if (lacks_large_piece(s, status)) {
            txm_fail(err, TXM_STATUS_TOO_LARGE,
                     "%s: opening it takes more than %llu MiB of memory, which no honest file of %llu bytes needs; "
                     "--max-memory SIZE allows more, in other commands " TXM_BOUND_VARIABLE "=N",
                     s->path, (unsigned long long)open_bytes(s) >> 20, (unsigned long long)s->file_bytes);
            close_oiio(s);
            return TXM_STATUS_TOO_LARGE;
        }
    }
    if (is_doubtful(s, status))
        status = try_again(s, info, err);
    else if (status != TXM_OK)
        txm_fail_as(err, &first);
    if (status == TXM_OK && (strcmp(info->format, "dpx") == 0 || strcmp(info->format, "cineon") == 0) &&
        txm_film_pixel_end(path, info) > (uint64_t)st.st_size)
        status = txm_fail(err, TXM_STATUS_CORRUPT, "%s: the file is truncated: %llu bytes, its pixels end at %llu",
                          path, (unsigned long long)st.st_size, (unsigned long long)txm_film_pixel_end(path, info));
    /* Versions of OpenImageIO before 3.1 name the space "Gamma2.2". */
    if (status == TXM_OK && strncmp(info->colorspace_hint, "Gamma", 5) == 0) {
        char *end;
        const float exponent = txm_parse_float(info->colorspace_hint + 5, &end);
        if (!*end)
            txm_source_hint_gamma(info, exponent);
    }
    if (status == TXM_OK && strcmp(info->format, "png") == 0)
        status = txm_png_read_color(path, info, err);
    if (status != TXM_OK) {
        close_oiio(s);
        return status;
    }
    s->width = info->width;
    s->height = info->height;
    s->channels = info->channels;
    s->type = info->type;
    s->row_bytes = (size_t)info->width * info->channels * txm_type_bytes(info->type);
    info->memory_bytes = WORKER_BYTES + (uint64_t)info->height * s->row_bytes;
    s->cpu_seconds = time_limit(megabytes, (double)info->width * info->height / 1e6);
    *self = s;
    return TXM_OK;
}

/* Sends a request whose answer has no data; none after a decoder has failed. */
static txm_status order(oiio_source *s, txm_worker_op op, txm_error *err)
{
    txm_worker_request request = request_for(s, op);
    txm_worker_reply reply;
    if (s->failed)
        return txm_fail(err, TXM_STATUS_IO, "%s: decoding it has already failed", s->path);
    return ask(s, &request, NULL, &reply, NULL, err);
}

/* In the middle of an image, the file that is opened must be the same as before. */
static txm_status resume(oiio_source *s, txm_error *err)
{
    txm_source_info now = {0};
    txm_status status = try_again(s, &now, err);
    if (status == TXM_OK &&
        (now.width != s->width || now.height != s->height || now.channels != s->channels || now.type != s->type))
        status = txm_fail(err, TXM_STATUS_CHANGED, "%s: the file changed while it was read", s->path);
    txm_source_forget(&now);
    if (status == TXM_OK && s->half)
        status = order(s, TXM_WORKER_AS_HALF, err);
    s->failed |= status != TXM_OK;
    return status;
}

/* Rows arrive without gaps and are spread to the caller's stride. The number of bytes is known beforehand and not
 * decided by the worker. */
static txm_status read_once(oiio_source *s, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    txm_worker_request request = request_for(s, TXM_WORKER_READ);
    txm_worker_reply reply;
    request.y = y;
    request.rows = rows;
    txm_status status = ask(s, &request, NULL, &reply, NULL, err);
    if (status == TXM_OK && reply.data_bytes != s->row_bytes * rows)
        status = txm_fail(err, TXM_STATUS_INTERNAL, "%s: the decoder delivers %llu bytes for %u rows", s->path,
                          (unsigned long long)reply.data_bytes, rows);
    for (uint32_t r = 0; r < rows && status == TXM_OK; r++)
        status = txm_worker_receive(s->worker, (char *)dst + r * stride_bytes, s->row_bytes, s->path, err);
    /* Data that were announced may still arrive, so no other request may follow. */
    s->spent |= status != TXM_OK && !s->failed;
    s->failed |= status != TXM_OK;
    return status;
}

static txm_status read_oiio_rows(void *self, uint32_t y, uint32_t rows, void *dst, size_t stride_bytes, txm_error *err)
{
    oiio_source *s = self;
    txm_error first = {0};
    if (s->failed)
        return txm_fail(err, TXM_STATUS_IO, "%s: decoding it has already failed", s->path);
    txm_status status = read_once(s, y, rows, dst, stride_bytes, &first);
    if (!is_doubtful(s, status))
        return status == TXM_OK ? TXM_OK : txm_fail_as(err, &first);
    status = resume(s, err);
    return status == TXM_OK ? read_once(s, y, rows, dst, stride_bytes, err) : status;
}

static txm_status rewind_oiio(void *self, txm_error *err)
{
    oiio_source *s = self;
    txm_error first = {0};
    txm_status status = order(s, TXM_WORKER_REWIND, &first);
    if (is_doubtful(s, status))
        return resume(s, err);
    return status == TXM_OK ? TXM_OK : txm_fail_as(err, &first);
}

/* The decoder converts types that tx files do not have. Rows had 8 bits before, so their size grows to that of half. */
static txm_status as_half(void *self, txm_error *err)
{
    oiio_source *s = self;
    txm_status status = order(s, TXM_WORKER_AS_HALF, err);
    if (status == TXM_OK) {
        s->row_bytes *= txm_type_bytes(TXM_TYPE_HALF);
        s->half = true;
    }
    return status;
}

const txm_reader_ops txm_oiio_reader = {"oiio", open_oiio, read_oiio_rows, rewind_oiio, close_oiio, as_half, NULL};
