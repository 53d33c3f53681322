/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill-oiio-worker loads the OpenImageIO module and serves one image after the other over descriptor 3
 * (mill/source/oiio/worker.h). libtxmill starts it; --version prints which OpenImageIO it would use. The system limits
 * what a decoder can do: CPU time per request, memory per image, and no file may be written. An encoder may write to
 * an anonymous file in memory.
 *
 * The loop at the end runs for the whole life of the process: a request, an answer, the next request. At most one
 * image is open. Requests come from the same build of libtxmill and are trusted to be well-formed, so an invalid one
 * ends the process; images are not trusted, and a failure in an image is answered with a message. Except for --version
 * nothing is printed, and no signal handler is installed, since libtxmill is prepared for a crash.
 *
 * A decoder that read damaged data may have overwritten its memory without crashing, and loading the libraries anew
 * takes most of a second. The loop therefore runs in a copy of the process, made when the libraries were loaded; once
 * an image has failed, the copy ends when that image is closed, and the next image gets a new copy.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/copies.h"
#include "base/os/library.h"
#include "base/os/machine.h"
#include "base/os/pages.h"
#include "base/os/plugin.h"
#include "base/os/signals.h"
#include "mill/source/oiio/oiio_module.h"
#include "mill/source/oiio/worker.h"

#define MODULE_FILE "txmill-oiio.so"

enum { WORKER_RENEW = 1 }; /* exit status of a copy that an image may have damaged */

enum { MAX_PATH_BYTES = 1 << 16 };

/* The module's tables; NULL if it could not be loaded, which is reported by the first request and not at the start. */
static const txm_reader_ops *decoder;
static const txm_encoder_ops *encoder;
static char no_decoder[512] = "out of memory"; /* why there is none */
static bool lacked_memory = true;              /* that is the reason */
static int library_version;
static const char *library_formats;

/* The open image. `rows` is kept between requests, with the size of the largest so far. */
static struct {
    void *self; /* NULL: no image is open */
    char *path;
    txm_source_info info;
    uint8_t *rows;
    size_t rows_bytes;
} image;

static bool spoiled; /* a decoder failed on an image */

/* Limits the address space to what is mapped now plus what the image may need, at most the machine's memory. 0 means no
 * bound of its own. It is set for every image, since libraries keep what earlier images have mapped. Without /proc,
 * what is mapped is the smallest limit under which a page can be mapped: the image's threads do not run yet. */
static void limit_memory(uint64_t max_memory_bytes)
{
#ifndef __SANITIZE_ADDRESS__ /* shadow memory of AddressSanitizer exceeds any limit */
    const uint64_t all = txm_machine_bytes();
    const uint64_t may = max_memory_bytes && max_memory_bytes < all ? max_memory_bytes : all;
    if (!all)
        return;
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "re");
    const bool known = f && fscanf(f, "%lu", &pages) == 1;
    if (f)
        fclose(f);
    uint64_t mapped = pages * (uint64_t)txm_page_bytes();
    if (!known) {
        uint64_t low = 0, before;
        txm_limit_of(TXM_LIMIT_ADDRESSES, &before);
        for (mapped = UINT64_C(1) << 47; mapped - low > 1 << 20;) {
            const uint64_t tried = low + (mapped - low) / 2;
            if (txm_limit_set(TXM_LIMIT_ADDRESSES, tried) && !txm_pages_have_room(txm_page_bytes()))
                low = tried;
            else
                mapped = tried;
        }
        txm_limit_set(TXM_LIMIT_ADDRESSES, before);
    }
    if (mapped)
        txm_limit_set(TXM_LIMIT_ADDRESSES, mapped + may + TXM_WORKER_SLACK_BYTES);
#else
    (void)max_memory_bytes;
#endif
}

/* The handle is kept, because the libraries that it loads do not survive being unloaded. */
static void load_decoder(void)
{
    char *looked_in = NULL, *path = txm_plugin_path(MODULE_FILE, &looked_in);
    const char *why = "";
    void *handle = path ? txm_library_open(path, &why) : NULL;
    const txm_oiio_module *m = handle ? txm_library_find(handle, TXM_OIIO_MODULE_SYMBOL, &why) : NULL;
    if (m && m->version == TXM_OIIO_MODULE_VERSION) {
        decoder = &m->reader;
        encoder = &m->encoder;
        library_version = m->library_version();
        library_formats = m->formats();
    } else if (handle) {
        snprintf(no_decoder, sizeof no_decoder, "%s belongs to another version of txmill", path);
        lacked_memory = false;
    } else if (path) {
        lacked_memory = txm_loading_lacked_memory(why);
        snprintf(no_decoder, sizeof no_decoder, "%s", why);
    } else if (looked_in) {
        lacked_memory = false;
        snprintf(no_decoder, sizeof no_decoder, "%s", looked_in);
    }
    free(path);
    free(looked_in);
}

/* Ends the worker if the other side is gone or sends nonsense; otherwise it gets the errno. No library is shut down,
 * because the module's libraries are not made to be shut down. */
static _Noreturn void leave(int sys_errno)
{
    txm_exit_at_once(sys_errno ? TXM_WORKER_LEFT + sys_errno : 0);
}

/* Some libraries end the program if memory is exhausted, as libjpeg does: then too, nothing is shut down. */
static void leave_at_once(int status, void *unused)
{
    (void)unused;
    txm_exit_at_once(status);
}

/* Returns the number of bytes that one call transferred, 0 if a signal interrupted it. The worker usually ends because
 * the other side closes the socket. */
static size_t bytes_moved(ssize_t n)
{
    if (n < 0 && errno == EINTR)
        return 0;
    if (n <= 0)
        leave(n < 0 ? errno : 0);
    return (size_t)n;
}

static void receive(void *dst, size_t bytes)
{
    for (size_t done = 0; done < bytes;)
        done += bytes_moved(read(TXM_WORKER_FD, (char *)dst + done, bytes - done));
}

static void send_bytes(const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;)
        done += bytes_moved(write(TXM_WORKER_FD, (const char *)data + done, bytes - done));
}

/* A failure without a status would look like a success to the other side. */
static void reply_failure(const txm_error *err)
{
    txm_worker_reply reply = {.status = err->status ? err->status : TXM_STATUS_INTERNAL,
                              .subject_bytes = err->subject_bytes,
                              .advice_at = err->advice_at,
                              .text_bytes = (uint32_t)strlen(err->message)};
    spoiled |= reply.status != TXM_STATUS_UNSUPPORTED && reply.status != TXM_STATUS_TOO_LARGE &&
               reply.status != TXM_STATUS_NOT_INSTALLED;
    send_bytes(&reply, sizeof reply);
    send_bytes(err->message, reply.text_bytes);
}

static void reply_done(const txm_error *err)
{
    const txm_worker_reply reply = {.status = TXM_OK};
    if (err->status != TXM_OK)
        reply_failure(err);
    else
        send_bytes(&reply, sizeof reply);
}

/* The module allocated attributes with malloc, and the worker frees them. */
static void forget_image(void)
{
    if (image.self)
        decoder->close(image.self);
    for (size_t i = 0; i < image.info.attribute_count; i++) {
        free(image.info.attributes[i].name);
        free(image.info.attributes[i].value);
    }
    free(image.info.attributes);
    free(image.rows);
    free(image.path);
    memset(&image, 0, sizeof image);
}

static char *receive_string(uint32_t bytes)
{
    char *s = bytes <= MAX_PATH_BYTES ? txm_calloc((size_t)bytes + 1, 1) : NULL;
    if (!s)
        leave(bytes <= MAX_PATH_BYTES ? ENOMEM : 0);
    receive(s, bytes);
    return s;
}

/* If a read failed, that is the cause, whatever the decoder reports. */
static void blame_reads(const char *path, txm_error *err)
{
    int sys_errno = txm_reads_failed();
    if (!sys_errno || err->status == TXM_STATUS_NO_MEMORY)
        return;
    txm_error_clear(err);
    txm_fail_errno(err, sys_errno, "%s: cannot be read", path);
}

static bool is_ready(const txm_worker_request *request, const char *path, const char *what, txm_error *err)
{
    if (request->version != TXM_WORKER_VERSION)
        txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s: txmill-oiio-worker belongs to another version of txmill", path);
    /* The same file may be read on another machine, or once there is memory. */
    else if (!decoder && lacked_memory)
        txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: there is not enough memory to load OpenImageIO: %s", path, no_decoder);
    else if (!decoder)
        txm_fail(err, TXM_STATUS_NOT_INSTALLED, "%s: %s OpenImageIO, which cannot be loaded: %s", path, what,
                 no_decoder);
    return err->status == TXM_OK;
}

/* Relative paths are resolved against the current folder of the requesting process, which may have changed since the
 * worker was started. Both strings are read before anything can fail, so that the stream stays in step. If the
 * attributes do not all fit into the answer, the last ones are left out; they are descriptive. */
static void open_image(const txm_worker_request *request)
{
    txm_error err = {0};
    txm_source_options options = {.max_memory_bytes = request->max_memory_bytes,
                                  .free_memory_bytes = request->free_memory_bytes};
    char *cwd = receive_string(request->cwd_bytes), *path = receive_string(request->path_bytes);
    forget_image();
    if (is_ready(request, path, "this kind of image needs", &err)) {
        if (*cwd && *path != '/' && chdir(cwd) != 0) {
            txm_fail_errno(&err, errno, "%s: the folder %s cannot be entered", path, cwd);
        } else {
            limit_memory(request->open_bytes);
            txm_reads_failed(); /* clears failures of an earlier image */
            decoder->open(path, &options, &image.info, &image.self, &err);
            blame_reads(path, &err);
            limit_memory(request->max_memory_bytes);
        }
    }
    free(cwd);
    image.path = path;
    if (err.status != TXM_OK) {
        reply_failure(&err);
        return;
    }
    txm_worker_reply reply = {.status = TXM_OK};
    uint32_t fitting = 0;
    for (const txm_attribute *a = image.info.attributes; fitting < image.info.attribute_count; fitting++, a++) {
        size_t grown = reply.text_bytes + strlen(a->name) + strlen(a->value) + 2;
        if (grown > TXM_WORKER_MAX_TEXT_BYTES)
            break;
        reply.text_bytes = (uint32_t)grown;
    }
    send_bytes(&reply, sizeof reply);
    for (const txm_attribute *a = image.info.attributes; a < image.info.attributes + fitting; a++) {
        send_bytes(a->name, strlen(a->name) + 1);
        send_bytes(a->value, strlen(a->value) + 1);
    }
    send_bytes(&image.info, sizeof image.info);
}

/* Rows beyond the image are never requested; otherwise the stream is out of step. */
static void read_rows(const txm_worker_request *request)
{
    txm_error err = {0};
    size_t stride = (size_t)image.info.width * image.info.channels * txm_type_bytes(image.info.type);
    size_t bytes = txm_mul(stride, request->rows);
    if (!image.self || request->y >= image.info.height || request->rows > image.info.height - request->y)
        leave(0);
    if (bytes > image.rows_bytes) {
        free(image.rows);
        image.rows = txm_alloc_pixels(bytes, 1);
        image.rows_bytes = image.rows ? bytes : 0;
    }
    if (!image.rows)
        txm_fail(&err, TXM_STATUS_NO_MEMORY, "no memory for %u rows", request->rows);
    else
        decoder->read(image.self, request->y, request->rows, image.rows, stride, &err);
    blame_reads(image.path, &err);
    if (err.status != TXM_OK) {
        reply_failure(&err);
        return;
    }
    txm_worker_reply reply = {.status = TXM_OK, .data_bytes = bytes};
    send_bytes(&reply, sizeof reply);
    send_bytes(image.rows, bytes);
}

/* Goes back to the first row, for which the info stays the same as when the image was opened, or reads an image that
 * was narrowed as half; then the info says half, for read_rows. */
static void change_reading(txm_worker_op op)
{
    txm_error err = {0};
    if (!image.self || (op == TXM_WORKER_AS_HALF && !image.info.narrowed))
        leave(0);
    if (op == TXM_WORKER_REWIND) {
        decoder->rewind(image.self, &err);
        blame_reads(image.path, &err);
    } else if (decoder->as_half(image.self, &err) == TXM_OK) {
        image.info.type = TXM_TYPE_HALF;
        image.info.narrowed = false;
    }
    reply_done(&err);
}

/* Encodes the rows that arrive, some at a time. After a failure the remaining rows are still read, because the other
 * side sends everything before it reads the answer. An open image is closed first, since its memory may be needed. The
 * file is made in memory and sent; RLIMIT_FSIZE also limits anonymous files, so it is lifted meanwhile. */
static void write_picture(const txm_worker_request *request)
{
    txm_error err = {0};
    void *self = NULL;
    const void *file = NULL;
    size_t bytes = 0;
    char *colorspace = receive_string(request->cwd_bytes), *name = receive_string(request->path_bytes);
    const txm_picture picture = {.width = request->width,
                                 .height = request->rows,
                                 .channels = request->channels,
                                 .type = (txm_type)request->type,
                                 .colorspace = *colorspace ? colorspace : NULL};
    forget_image();
    limit_memory(0);
    txm_limit_set(TXM_LIMIT_FILE_BYTES, UINT64_MAX);
    if (is_ready(request, name, "pictures need", &err))
        encoder->begin(name, &picture, &self, &err);
    enum { ROWS = 64 };
    const size_t row_bytes = (size_t)request->width * request->channels * txm_type_bytes((txm_type)request->type);
    uint8_t *band = txm_alloc_pixels(row_bytes, ROWS), rest[4096];
    if (!band)
        txm_fail(&err, TXM_STATUS_NO_MEMORY, "no memory for %d rows", ROWS);
    for (uint32_t y = 0, n; y < request->rows; y += n) {
        n = request->rows - y < ROWS ? request->rows - y : ROWS;
        for (size_t left = n * row_bytes, part; left; left -= part) {
            part = band || left < sizeof rest ? left : sizeof rest;
            receive(band ? band : rest, part);
        }
        if (err.status == TXM_OK)
            encoder->rows(self, y, n, band, &err);
    }
    free(band);
    if (err.status == TXM_OK)
        encoder->finish(self, &file, &bytes, &err);
    if (err.status == TXM_OK) {
        txm_worker_reply reply = {.status = TXM_OK, .data_bytes = bytes};
        send_bytes(&reply, sizeof reply);
        send_bytes(file, bytes);
    } else {
        reply_failure(&err);
    }
    if (self)
        encoder->close(self);
    txm_limit_set(TXM_LIMIT_FILE_BYTES, 0);
    free(colorspace);
    free(name);
}

/* No image has been opened yet: libraries end the program while they are loaded if they get no thread or memory, and
 * the same may work a moment later. */
static void give_up_loading(void)
{
    txm_exit_at_once(TXM_WORKER_LEFT + EAGAIN);
}

static _Noreturn void serve(void)
{
    for (;;) {
        txm_worker_request request;
        receive(&request, sizeof request);
        txm_limit_time(request.cpu_seconds);
        switch (request.op) {
        case TXM_WORKER_OPEN:
            open_image(&request);
            break;
        case TXM_WORKER_READ:
            read_rows(&request);
            break;
        case TXM_WORKER_REWIND:
        case TXM_WORKER_AS_HALF:
            change_reading((txm_worker_op)request.op);
            break;
        case TXM_WORKER_CLOSE:
            forget_image();
            reply_done(&(txm_error){0});
            if (spoiled)
                txm_exit_at_once(WORKER_RENEW);
            break;
        case TXM_WORKER_ENCODE:
            write_picture(&request);
            break;
        default:
            leave(0);
        }
    }
}

/* Descriptor 3 was prepared by the other side; the worker ends at its end of file. */
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        /* For `txmill doctor`: the version of OpenImageIO and its formats, or why there is none. */
        load_decoder();
        if (decoder)
            printf("%d.%d.%d %s\n", library_version / 10000, library_version / 100 % 100, library_version % 100,
                   library_formats);
        else
            puts(no_decoder);
        fflush(stdout);
        txm_exit_at_once(!decoder);
    }
    /* Interrupts of the terminal are handled by the other process; a crash needs no core file. */
    txm_signals_ignore_terminal();
    txm_limit_set(TXM_LIMIT_CORE, 0);
    txm_limit_set(TXM_LIMIT_FILE_BYTES, 0);
    txm_signals_on_abort(give_up_loading);
    load_decoder();
    txm_signals_on_abort(NULL);
    on_exit(leave_at_once, NULL); /* runs before the handlers that the module's libraries have registered */
    txm_serve_in_copies(serve, WORKER_RENEW, TXM_WORKER_LEFT);
}
