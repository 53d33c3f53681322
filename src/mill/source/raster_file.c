/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions copy out of the buffer; decoders may also work in place between pos and end.
 */
#include "mill/source/raster_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"

txm_status txm_raster_file_open(txm_raster_file *file, const char *path, txm_error *err)
{
    *file = (txm_raster_file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file->fd < 0)
        return txm_fail_errno(err, errno, "%s", path);
    file->buffer = txm_alloc_pixels(TXM_RASTER_PIECE_BYTES, 1);
    if (!file->buffer) {
        txm_raster_file_close(file);
        return txm_no_memory(err, path);
    }
    /* If the kernel ignores this advice, reading is only slower. */
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

bool txm_raster_file_fill(txm_raster_file *file)
{
    if (file->pos < file->end)
        return true;
    const int64_t n = txm_pread_most(file->fd, file->buffer, TXM_RASTER_PIECE_BYTES, file->offset);
    file->sys_errno = n < 0 ? errno : 0;
    if (n <= 0)
        return false;
    file->pos = 0;
    file->end = (size_t)n;
    file->offset += (size_t)n;
    return true;
}

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
