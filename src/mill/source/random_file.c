/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads are pread(2) on one descriptor and continue after an interruption.
 */
#include "mill/source/random_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/whole.h"

/* The file was examined before, but may have been replaced by a pipe since. */
txm_status txm_random_file_open(txm_random_file *file, const char *path, txm_error *err)
{
    struct stat st;
    *file = (txm_random_file){.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file->fd >= 0 && fstat(file->fd, &st) == 0) {
        file->bytes = (uint64_t)st.st_size;
        return TXM_OK;
    }
    txm_status status = txm_fail_errno(err, errno, "%s: cannot be opened", path);
    txm_random_file_close(file);
    return status;
}

void txm_random_file_close(txm_random_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

int64_t txm_random_file_read(txm_random_file *file, void *dst, size_t bytes, uint64_t offset)
{
    const int64_t got = txm_pread_most(file->fd, dst, bytes, offset);
    if (got < 0 && file->sys_errno == 0)
        file->sys_errno = errno;
    return got;
}

txm_status txm_random_file_status(const txm_random_file *file, const char *path, txm_error *err)
{
    return file->sys_errno ? txm_fail_errno(err, file->sys_errno, "%s: cannot be read", path) : TXM_OK;
}
