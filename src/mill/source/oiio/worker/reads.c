/* SPDX-License-Identifier: Apache-2.0
 *
 * These functions stand before those of the C library, for the worker and for every library that it loads: they do the
 * same, and keep the errno of what failed. What a damaged file leads to, as a place before its beginning, is not meant.
 */
/* By their own names, not as those of 64 bits. */
#undef _FILE_OFFSET_BITS
#include "mill/source/oiio/worker/reads.h"

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

/* Errors of the caller's say nothing about the disk. */
static void note_errno(int error)
{
    if (error && error != EINVAL && error != EBADF && error != ESPIPE && error != EISDIR && error != EFAULT &&
        error != EOVERFLOW)
        keep_errno(error);
}

/* Whether a regular file is said to end where there is more of it. */
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
        keep_errno(EINVAL); /* there is such a place in any file */
    else if (rc != 0)
        note_errno(errno);
    return rc;
}

int fseek(FILE *f, long offset, int from)
{
    return fseeko(f, offset, from);
}

/* What comes after this file: the C library's, or a preloaded library's before it. */
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

/* Of the file streams of C++. */
ssize_t read(int fd, void *dst, size_t bytes)
{
    static _Atomic(void *) known;
    ssize_t n = next(&known, "read").read(fd, dst, bytes);
    if (n < 0)
        note_errno(errno);
    return n;
}
