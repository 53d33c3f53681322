/* SPDX-License-Identifier: Apache-2.0
 *
 * A stdio stream, made with fopencookie, whose reads wait in poll(2), which a signal or a flag can end, and never in
 * open(2) or read(2).
 */
#include "base/text_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/os/process.h"

/* A signal may arrive between the check of the flag and the wait, or be handled by another thread: then only the
 * timeout ends the wait. */
enum { POLL_MS = 500 };

typedef struct text_file {
    int fd;
    bool ended; /* a terminal would otherwise be read again after its end */
    const volatile int *cancel;
} text_file;

/* As for read(2), fewer bytes are fine and 0 is the end. */
static ssize_t read_some(void *cookie, char *out, size_t size)
{
    text_file *f = cookie;
    while (!f->ended) {
        if (txm_is_cancelled(f->cancel)) {
            errno = ECANCELED;
            return -1;
        }
        /* A FIFO that never had a writer is not ready; one whose writers have closed it is, and reads as ended. */
        int ready = txm_wait_readable(f->fd, f->cancel ? POLL_MS : -1);
        ssize_t got = ready > 0 ? read(f->fd, out, size) : -1;
        if (got >= 0) {
            f->ended = !got;
            return got;
        }
        if (ready && errno != EINTR && errno != EAGAIN)
            return -1;
    }
    return 0;
}

static int close_file(void *cookie)
{
    text_file *f = cookie;
    int rc = f->fd == STDIN_FILENO ? 0 : close(f->fd);
    free(f);
    return rc;
}

FILE *txm_text_file_open(const char *path, const volatile int *cancel)
{
    const cookie_io_functions_t calls = {.read = read_some, .close = close_file};
    text_file *f = malloc(sizeof *f);
    if (!f)
        return NULL;
    *f = (text_file){.fd = STDIN_FILENO, .cancel = cancel};
    if (strcmp(path, "-") != 0)
        f->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    FILE *stream = f->fd < 0 ? NULL : fopencookie(f, "r", calls);
    if (!stream) {
        int saved_errno = errno;
        if (f->fd > STDIN_FILENO)
            close(f->fd);
        free(f);
        errno = saved_errno;
    }
    return stream;
}
