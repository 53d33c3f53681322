/* SPDX-License-Identifier: Apache-2.0
 *
 * An offset of -1 means the position in the file.
 */
#include "base/whole.h"

#include <errno.h>
#include <unistd.h>

static int64_t read_most(int fd, void *data, size_t bytes, off_t offset)
{
    size_t got = 0;
    while (got < bytes) {
        char *to = (char *)data + got;
        const ssize_t n = offset < 0 ? read(fd, to, bytes - got) : pread(fd, to, bytes - got, offset + (off_t)got);
        if (n == 0)
            break;
        if (n < 0 && errno != EINTR)
            return -1;
        got += n > 0 ? (size_t)n : 0;
    }
    return (int64_t)got;
}

static int write_all(int fd, const void *data, size_t bytes, off_t offset)
{
    for (size_t done = 0; done < bytes;) {
        const char *from = (const char *)data + done;
        const ssize_t n =
            offset < 0 ? write(fd, from, bytes - done) : pwrite(fd, from, bytes - done, offset + (off_t)done);
        if (n == 0 || (n < 0 && errno != EINTR))
            return n == 0 ? ENOSPC : errno;
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

static int all_of(int64_t got, size_t bytes)
{
    return got < 0 ? errno : (uint64_t)got < bytes ? EIO : 0;
}

int64_t txm_read_most(int fd, void *data, size_t bytes)
{
    return read_most(fd, data, bytes, -1);
}

int64_t txm_pread_most(int fd, void *data, size_t bytes, uint64_t offset)
{
    return read_most(fd, data, bytes, (off_t)offset);
}

int txm_read_all(int fd, void *data, size_t bytes)
{
    return all_of(txm_read_most(fd, data, bytes), bytes);
}

int txm_pread_all(int fd, void *data, size_t bytes, uint64_t offset)
{
    return all_of(txm_pread_most(fd, data, bytes, offset), bytes);
}

int txm_write_all(int fd, const void *data, size_t bytes)
{
    return write_all(fd, data, bytes, -1);
}

int txm_pwrite_all(int fd, const void *data, size_t bytes, uint64_t offset)
{
    return write_all(fd, data, bytes, (off_t)offset);
}
