/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads are pread(2) on one descriptor and continue after an interruption.
 */
#include "mill/source/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"

/* The file was examined before, but may have been replaced by a pipe since. */
txm_status txm_source_file_open(txm_source_file *file, const char *path, bool buffered, txm_error *err)
{
    struct stat st;
    *file = (txm_source_file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    txm_status status =
        file->fd < 0 || fstat(file->fd, &st) != 0 ? txm_fail_errno(err, errno, "%s: cannot be opened", path) : TXM_OK;
    if (status == TXM_OK && buffered && !(file->buffer = txm_alloc_pixels(TXM_SOURCE_PIECE_BYTES, 1)))
        status = txm_no_memory(err, path);
    if (status != TXM_OK) {
        txm_source_file_close(file);
        return status;
    }
    file->bytes = (uint64_t)st.st_size;
    if (buffered) /* if the kernel ignores this advice, reading is only slower */
        posix_fadvise(file->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    return TXM_OK;
}

void txm_source_file_close(txm_source_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    free(file->buffer);
    *file = (txm_source_file){.fd = -1};
}

txm_status txm_source_file_status(const txm_source_file *file, const char *path, txm_error *err)
{
    return file->sys_errno ? txm_fail_errno(err, file->sys_errno, "%s: cannot be read", path) : TXM_OK;
}

int64_t txm_source_file_read(txm_source_file *file, void *dst, size_t bytes, uint64_t offset)
{
    const int64_t got = txm_pread_most(file->fd, dst, bytes, offset);
    if (got < 0 && file->sys_errno == 0)
        file->sys_errno = errno;
    return got;
}

bool txm_source_file_fill(txm_source_file *file)
{
    if (file->pos < file->end)
        return true;
    const int64_t n = txm_source_file_read(file, file->buffer, TXM_SOURCE_PIECE_BYTES, file->offset);
    if (n <= 0)
        return false;
    file->pos = 0;
    file->end = (size_t)n;
    file->offset += (size_t)n;
    return true;
}

bool txm_source_file_get(txm_source_file *file, void *dst, size_t bytes)
{
    uint8_t *to = dst;
    for (size_t n; bytes; to += n, bytes -= n) {
        if (!txm_source_file_fill(file))
            return false;
        n = file->end - file->pos < bytes ? file->end - file->pos : bytes;
        memcpy(to, file->buffer + file->pos, n);
        file->pos += n;
    }
    return true;
}

uint64_t txm_source_file_tell(const txm_source_file *file)
{
    return file->offset - (file->end - file->pos);
}

void txm_source_file_seek(txm_source_file *file, uint64_t offset)
{
    file->offset = offset;
    file->pos = file->end = 0;
    file->sys_errno = 0;
}
