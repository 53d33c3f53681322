/* SPDX-License-Identifier: Apache-2.0
 *
 * A file read from front to back through one small buffer.
 *
 * One buffer, filled in turn; get copies out of it, decoders may also work in place between pos and end. Seeking drops
 * the buffer.
 */
#include "mill/source/raster_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tile/base/fail.h"
#include "tile/base/mem.h"

/* The kernel is told that reading goes forward. */
txm_status txm_raster_file_open(txm_raster_file *file, const char *path, txm_error *err)
{
    *file = (txm_raster_file){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    if (file->fd < 0)
        return txm_fail_errno(err, errno, "%s", path);
    file->buffer = txm_alloc_pixels(TXM_RASTER_PIECE_BYTES, 1);
    if (!file->buffer) {
        txm_raster_file_close(file);
        return txm_no_memory(err, path);
    }
    /* Advice only: where the kernel does not take it, reading is merely slower. */
    posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return TXM_OK;
}

void txm_raster_file_close(txm_raster_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->buffer);
    *file = (txm_raster_file){.fd = -1};
}

/* False at the end and on failure; sys_errno tells which. */
bool txm_raster_file_fill(txm_raster_file *file)
{
    ssize_t n;

    if (file->pos < file->end)
        return true;
    do {
        n = pread(file->fd, file->buffer, TXM_RASTER_PIECE_BYTES, (off_t)file->offset);
    } while (n < 0 && errno == EINTR);
    file->sys_errno = n < 0 ? errno : 0;
    if (n <= 0)
        return false;
    file->pos = 0;
    file->end = (size_t)n;
    file->offset += (size_t)n;
    return true;
}

/* All of it, or false. */
bool txm_raster_file_get(txm_raster_file *file, void *dst, size_t bytes)
{
    uint8_t *to = dst;

    while (bytes) {
        if (!txm_raster_file_fill(file))
            return false;
        size_t n = file->end - file->pos < bytes ? file->end - file->pos : bytes;
        memcpy(to, file->buffer + file->pos, n);
        file->pos += n;
        to += n;
        bytes -= n;
    }
    return true;
}

uint64_t txm_raster_file_tell(const txm_raster_file *file)
{
    return file->offset - (file->end - file->pos);
}

void txm_raster_file_seek(txm_raster_file *file, uint64_t offset)
{
    file->offset = offset;
    file->pos = file->end = 0;
}
