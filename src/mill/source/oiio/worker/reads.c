/* SPDX-License-Identifier: Apache-2.0
 *
 * These functions replace those of the C library, for the worker and for every library that it loads: they call the
 * originals, and store the errno of a failure. Errors that damaged files cause, such as seeking to a negative offset,
 * are ignored.
 */
/* The functions are defined under their own names and not as aliases for 64-bit offsets. */
#undef _FILE_OFFSET_BITS
#include "mill/source/oiio/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static atomic_int failed;

int txm_reads_failed(void)
{
    return atomic_exchange(&failed, 0);
}

static void keep_errno(int error)
{
    int none = 0;
    atomic_compare_exchange_strong(&failed, &none, error);
}

/* Errors of the caller say nothing about the disk. */
static void note_errno(int error)
{
    if (error && error != EINVAL && error != EBADF && error != ESPIPE && error != EISDIR && error != EFAULT &&
        error != EOVERFLOW)
        keep_errno(error);
}

/* The libraries are built for all versions of glibc, so this is how they call stat. They take a size that they cannot
 * get for that of an empty file. */
int __xstat(int version, const char *path, struct stat *st);
int __xstat(int version, const char *path, struct stat *st)
{
    (void)version;
    const int rc = stat(path, st);
    if (rc != 0 && errno != ENOENT && errno != ENOTDIR && errno != EACCES && errno != ENAMETOOLONG)
        note_errno(errno);
    return rc;
}

/* Whether read returned the end of a regular file although more of it exists. */
static bool ended_early(int fd)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && lseek(fd, 0, SEEK_CUR) < st.st_size;
}

size_t fread(void *dst, size_t size, size_t count, FILE *f)
{
    flockfile(f);
    bool before = ferror_unlocked(f) != 0;
    errno = 0;
    size_t got = (fread_unlocked)(dst, size, count, f);
    if (!before && ferror_unlocked(f))
        note_errno(errno);
    else if (got < count && feof_unlocked(f) && ended_early(fileno(f)))
        keep_errno(EIO);
    funlockfile(f);
    return got;
}

int fseeko(FILE *f, off_t offset, int from)
{
    int rc = fseeko64(f, offset, from);
    if (rc != 0 && errno == EINVAL && from == SEEK_SET && offset >= 0)
        keep_errno(EINVAL); /* every file has this offset */
    else if (rc != 0)
        note_errno(errno);
    return rc;
}

int fseek(FILE *f, long offset, int from)
{
    return fseeko(f, offset, from);
}

/* The next definition after this one: that of a preloaded library or the C library. */
typedef union next_call {
    void *symbol;
    ssize_t (*read)(int, void *, size_t);
    ssize_t (*pread)(int, void *, size_t, off_t);
} next_call;

static next_call next(_Atomic(void *) *known, const char *name)
{
    next_call call = {atomic_load_explicit(known, memory_order_relaxed)};
    if (!call.symbol) {
        call.symbol = dlsym(RTLD_NEXT, name);
        atomic_store_explicit(known, call.symbol, memory_order_relaxed);
    }
    return call;
}

ssize_t pread(int fd, void *dst, size_t bytes, off_t offset)
{
    static _Atomic(void *) known;
    ssize_t n = next(&known, "pread64").pread(fd, dst, bytes, offset);
    if (n < 0)
        note_errno(errno);
    return n;
}

/* It is used by file streams of C++. */
ssize_t read(int fd, void *dst, size_t bytes)
{
    static _Atomic(void *) known;
    ssize_t n = next(&known, "read").read(fd, dst, bytes);
    if (n < 0)
        note_errno(errno);
    return n;
}
