/* SPDX-License-Identifier: Apache-2.0
 *
 * txmill-oiio-worker: loads the OpenImageIO module and serves one image after the other over descriptor 3
 * (mill/source/oiio/worker.h). Started by libtxmill, never by people; --version says what it would decode with.
 *
 * What a decoder may do here is limited by the system: computing time per request, memory per image, no
 * file may be written. An encoder may write to a file that only memory holds.
 *
 * The loop at the end is the whole life of the process: a request, an answer, the next request. At most one
 * image is open. Requests come from our own library and are trusted to be well-formed, images are not; so
 * what can't be right in a request ends the process instead of being answered. A failure in an image is
 * answered with a message; whether the worker serves on is for the asking side to decide.
 *
 * But for --version nothing is printed, and no signal handler is installed: a crash is the answer that the asking side
 * is prepared for.
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mill/source/oiio/oiio_module.h"
#include "mill/source/oiio/worker.h"
#include "mill/source/oiio/worker/reads.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/plugin.h"

#define MODULE_FILE "txmill-oiio.so"

/* Room for a decoder's own tables beyond the pixels that the memory bound counts. */
enum { SLACK_BYTES = 512 << 20, MAX_PATH_BYTES = 1 << 16 };

/* Of the module; NULL while it could not be loaded, which is said when something is asked for, not at the
 * start. */
static const txm_reader_ops *decoder;
static const txm_encoder_ops *encoder;
static char no_decoder[512] = "out of memory"; /* why there is none */
static int library_version;

/* The image that is open. `rows` is kept from request to request, as large as the largest so far. */
static struct {
    void *self; /* NULL: no image is open */
    char *path;
    txm_source_info info;
    uint8_t *rows;
    size_t rows_bytes;
} image;

/* ---- limits ---- */

/* Soft limits, so that they can be raised again for the next image. A limit that cannot be set is no reason
 * to refuse the image; hard limits of the user stay in force. */
static void limit(__rlimit_resource_t resource, rlim_t soft)
{
    struct rlimit r;
    if (getrlimit(resource, &r) == 0) {
        r.rlim_cur = r.rlim_max != RLIM_INFINITY && soft > r.rlim_max ? r.rlim_max : soft;
        setrlimit(resource, &r);
    }
}

/* Counted from now: the process has served other images. RLIMIT_CPU counts whole seconds; one more makes up
 * for the part that was cut off. Beyond it the kernel sends SIGXCPU. */
static void limit_time(uint32_t seconds)
{
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) == 0)
        limit(RLIMIT_CPU, (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + seconds + 1);
}

/* Address space: what is mapped now and what the image may need, at most all the machine has. 0 asks for no
 * bound of its own. Raised or lowered for every image, since libraries keep what the one before has mapped. */
static void limit_memory(uint64_t max_memory_bytes)
{
#ifndef __SANITIZE_ADDRESS__ /* whose shadow memory is larger than any limit */
    unsigned long mapped_pages = 0;
    long page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES);
    FILE *f = fopen("/proc/self/statm", "re");
    if (f && fscanf(f, "%lu", &mapped_pages) == 1 && page > 0 && pages > 0) {
        uint64_t all = (uint64_t)pages * (uint64_t)page;
        uint64_t may = max_memory_bytes && max_memory_bytes < all ? max_memory_bytes : all;
        limit(RLIMIT_AS, (rlim_t)(mapped_pages * (uint64_t)page + may + SLACK_BYTES));
    }
    if (f)
        fclose(f);
#else
    (void)max_memory_bytes;
#endif
}

/* ---- the module ---- */

/* The handle is kept for good: the libraries it brings do not survive being unloaded. RTLD_LOCAL keeps its
 * symbols from being taken for others'. The sizes are compared because structures cross this border as they
 * are. */
static void load_decoder(void)
{
    char *looked_in = NULL, *path = txm_plugin_path(MODULE_FILE, &looked_in);
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const txm_oiio_module *m = handle ? dlsym(handle, TXM_OIIO_MODULE_SYMBOL) : NULL;
    if (m && m->version == TXM_OIIO_MODULE_VERSION && m->info_bytes == sizeof(txm_source_info) &&
        m->error_bytes == sizeof(txm_error)) {
        decoder = &m->reader;
        encoder = &m->encoder;
        library_version = m->library_version();
    } else if (handle) {
        snprintf(no_decoder, sizeof no_decoder, "%s belongs to another version of txmill", path);
    } else if (path) {
        snprintf(no_decoder, sizeof no_decoder, "%s", dlerror());
    } else if (looked_in) {
        snprintf(no_decoder, sizeof no_decoder, "%s", looked_in);
    }
    free(path);
    free(looked_in);
}

/* ---- talking ---- */

/* Where the asking side is gone or talks nonsense, there is nobody to serve; otherwise it is told the errno. _exit,
 * because the libraries of the module are not made to be taken down. */
static _Noreturn void leave(int sys_errno)
{
    _exit(sys_errno ? TXM_WORKER_LEFT + sys_errno : 0);
}

/* Some libraries end the program when they run out of memory, as libjpeg does: then too nothing is taken down. */
static void leave_at_once(int status, void *unused)
{
    (void)unused;
    _exit(status);
}

/* How far one call came, 0 where a signal broke it off. The other end closing is the usual way to end. */
static size_t moved(ssize_t n)
{
    if (n < 0 && errno == EINTR)
        return 0;
    if (n <= 0)
        leave(n < 0 ? errno : 0);
    return (size_t)n;
}

/* Returns with all bytes or not at all. */
static void receive(void *dst, size_t bytes)
{
    for (size_t done = 0; done < bytes;)
        done += moved(read(TXM_WORKER_FD, (char *)dst + done, bytes - done));
}

static void send_bytes(const void *data, size_t bytes)
{
    for (size_t done = 0; done < bytes;)
        done += moved(write(TXM_WORKER_FD, (const char *)data + done, bytes - done));
}

/* A failure without a status would look like a success to the other side. */
static void reply_failure(const txm_error *err)
{
    txm_worker_reply reply = {.status = err->status ? err->status : TXM_STATUS_INTERNAL, .sys_errno = err->sys_errno};
    reply.text_bytes = (uint32_t)strlen(err->message);
    send_bytes(&reply, sizeof reply);
    send_bytes(err->message, reply.text_bytes);
}

/* For requests whose answer has no data. */
static void reply_done(void)
{
    txm_worker_reply reply = {.status = TXM_OK};
    send_bytes(&reply, sizeof reply);
}

/* ---- requests ---- */

/* Attributes were allocated by the module with malloc, and are ours to free. */
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

/* Ends with a zero that was not sent. The caller frees it. */
static char *receive_string(uint32_t bytes)
{
    char *s = bytes <= MAX_PATH_BYTES ? txm_calloc((size_t)bytes + 1, 1) : NULL;
    if (!s)
        leave(bytes <= MAX_PATH_BYTES ? ENOMEM : 0);
    receive(s, bytes);
    return s;
}

/* Attributes that do not fit are left out from the end on; they describe the image, and none is needed to
 * read it. */
static void reply_opened(void)
{
    txm_worker_reply reply = {.status = TXM_OK};
    uint32_t fitting = 0; /* attributes that the answer has room for */
    for (; fitting < image.info.attribute_count; fitting++) {
        const txm_attribute *a = &image.info.attributes[fitting];
        size_t grown = reply.text_bytes + strlen(a->name) + strlen(a->value) + 2;
        if (grown > TXM_WORKER_MAX_TEXT_BYTES)
            break;
        reply.text_bytes = (uint32_t)grown;
    }
    send_bytes(&reply, sizeof reply);
    for (uint32_t i = 0; i < fitting; i++) {
        send_bytes(image.info.attributes[i].name, strlen(image.info.attributes[i].name) + 1);
        send_bytes(image.info.attributes[i].value, strlen(image.info.attributes[i].value) + 1);
    }
    send_bytes(&image.info, sizeof image.info);
}

/* A read that failed is what went wrong, whatever the decoder made of it. */
static void blame_reads(const char *path, txm_error *err)
{
    int sys_errno = txm_reads_failed();
    if (!sys_errno || err->status == TXM_STATUS_NO_MEMORY)
        return;
    txm_error_clear(err);
    txm_fail_errno(err, sys_errno, "%s: cannot be read", path);
}

/* Relative paths count from the folder of the asking process, which may have changed since the worker was
 * started. Both strings are read before anything may fail, so that the stream stays in step. */
static void open_image(const txm_worker_request *request)
{
    txm_error err = {0};
    txm_source_options options = {.max_memory_bytes = request->max_memory_bytes};
    char *cwd = receive_string(request->cwd_bytes), *path = receive_string(request->path_bytes);
    forget_image();
    if (request->version != TXM_WORKER_VERSION || request->info_bytes != sizeof(txm_source_info)) {
        txm_fail(&err, TXM_STATUS_UNSUPPORTED, "%s: the decoder belongs to another version of txmill", path);
    } else if (!decoder) {
        txm_fail(&err, TXM_STATUS_UNSUPPORTED, "%s: this kind of image needs OpenImageIO, which cannot be loaded: %s",
                 path, no_decoder);
    } else if (*cwd && *path != '/' && chdir(cwd) != 0) {
        txm_fail_errno(&err, errno, "%s: the folder %s cannot be entered", path, cwd);
    } else {
        limit_memory(request->max_memory_bytes);
        txm_reads_failed(); /* of an earlier image */
        decoder->open(path, &options, &image.info, &image.self, &err);
        blame_reads(path, &err);
    }
    image.path = path;
    if (err.status == TXM_OK)
        reply_opened();
    else
        reply_failure(&err);
    free(cwd);
}

/* Rows that the image does not have are never asked for; if they are, the stream is out of step. */
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

/* The info stays as it was when the image was opened. */
static void rewind_image(void)
{
    txm_error err = {0};
    if (!image.self)
        leave(0);
    decoder->rewind(image.self, &err);
    blame_reads(image.path, &err);
    if (err.status == TXM_OK)
        reply_done();
    else
        reply_failure(&err);
}

/* Only where the image was narrowed when it was opened may it be read as half; the info then says half to
 * read_rows. */
static void read_as_half(void)
{
    txm_error err = {0};
    if (!image.self || !image.info.narrowed)
        leave(0);
    if (decoder->as_half(image.self, &err) == TXM_OK) {
        image.info.type = TXM_TYPE_HALF;
        image.info.narrowed = false;
        reply_done();
    } else {
        reply_failure(&err);
    }
}

/* Encodes the rows that come, some at a time. After a failure the rest is taken all the same: the asking side listens
 * once it has sent everything. */
static txm_status encode_rows(void *self, const txm_worker_request *request, txm_error *err)
{
    enum { ROWS = 64 };
    size_t row_bytes = (size_t)request->width * request->channels * txm_type_bytes((txm_type)request->type);
    uint8_t *band = txm_alloc_pixels(row_bytes, ROWS);
    if (!band)
        txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for %d rows", ROWS);
    for (uint32_t y = 0, n; y < request->rows; y += n) {
        n = request->rows - y < ROWS ? request->rows - y : ROWS;
        if (band) {
            receive(band, n * row_bytes);
        } else {
            char rest[4096];
            for (size_t left = n * row_bytes, part; left; left -= part) {
                part = left < sizeof rest ? left : sizeof rest;
                receive(rest, part);
            }
        }
        if (err->status == TXM_OK)
            encoder->rows(self, y, n, band, err);
    }
    free(band);
    return err->status;
}

/* An open image is dropped first: its memory may be needed. The file is made in memory and sent;
 * RLIMIT_FSIZE counts for that kind of file too, so it is lifted meanwhile. */
static void encode(const txm_worker_request *request)
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
    limit(RLIMIT_FSIZE, RLIM_INFINITY);
    if (request->version != TXM_WORKER_VERSION)
        txm_fail(&err, TXM_STATUS_UNSUPPORTED, "the encoder belongs to another version of txmill");
    else if (!encoder)
        txm_fail(&err, TXM_STATUS_UNSUPPORTED, "pictures need OpenImageIO, which cannot be loaded: %s", no_decoder);
    else
        encoder->begin(name, &picture, &self, &err);
    if (encode_rows(self, request, &err) == TXM_OK)
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
    limit(RLIMIT_FSIZE, 0);
    free(colorspace);
    free(name);
}

/* No image has been seen yet: the libraries end the program while they are loaded when they get no thread or no memory,
 * and the same may work a moment later. */
static void give_up_loading(int sig)
{
    (void)sig;
    _exit(TXM_WORKER_LEFT + EAGAIN);
}

/* For `txmill doctor`: which OpenImageIO there is, or why there is none. */
static _Noreturn void say_version(void)
{
    load_decoder();
    if (decoder)
        printf("%d.%d.%d\n", library_version / 10000, library_version / 100 % 100, library_version % 100);
    else
        puts(no_decoder);
    fflush(stdout);
    _exit(!decoder);
}

/* Descriptor 3 was prepared by the asking side; its end of file is how the worker is told to go. */
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--version"))
        say_version();
    /* The terminal's interrupts are the asking side's to handle; a crash needs no core file. */
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_FSIZE, 0);
    signal(SIGABRT, give_up_loading);
    load_decoder();
    signal(SIGABRT, SIG_DFL);
    on_exit(leave_at_once, NULL); /* runs before what the module's libraries have registered */
    for (;;) {
        txm_worker_request request;
        receive(&request, sizeof request);
        limit_time(request.cpu_seconds);
        switch (request.op) {
        case TXM_WORKER_OPEN:
            open_image(&request);
            break;
        case TXM_WORKER_READ:
            read_rows(&request);
            break;
        case TXM_WORKER_REWIND:
            rewind_image();
            break;
        case TXM_WORKER_CLOSE:
            forget_image();
            reply_done();
            break;
        case TXM_WORKER_AS_HALF:
            read_as_half();
            break;
        case TXM_WORKER_ENCODE:
            encode(&request);
            break;
        default:
            leave(0);
        }
    }
}
