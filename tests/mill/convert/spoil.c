/* SPDX-License-Identifier: Apache-2.0
 *
 * LD_PRELOAD for cli_read_back.sh: acts like a disk or library that writes other bytes than it was given. In everything
 * that is written to files, the bytes SPOIL_FROM (hexadecimal) become SPOIL_TO, which must be as many.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 64 };

static size_t bytes_of(const char *name, unsigned char out[MOST])
{
    const char *text = getenv(name);
    size_t n = 0;
    for (unsigned byte; text && n < MOST && sscanf(text, "%2x", &byte) == 1; text += 2)
        out[n++] = (unsigned char)byte;
    return n;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off_t at)
{
    unsigned char from[MOST], to[MOST];
    size_t n = bytes_of("SPOIL_FROM", from);
    char *copy = malloc(size + 1);
    if (!copy || n == 0 || bytes_of("SPOIL_TO", to) != n)
        abort();
    memcpy(copy, data, size);
    for (char *p = copy; (p = memmem(p, size - (size_t)(p - copy), from, n)); p += n)
        memcpy(p, to, n);
    ssize_t written = syscall(SYS_pwrite64, fd, copy, size, at);
    free(copy);
    return written;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return pwrite64(fd, data, size, at);
}
