/* SPDX-License-Identifier: Apache-2.0
 * The fuzzer's bytes as a file. One file serves all inputs, because making a new one takes longer than reading most of
 * them. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Returns a descriptor of a file with these bytes, which is valid until the next call. */
static inline int fuzz_input(const uint8_t *data, size_t bytes)
{
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0 || pwrite(fd, data, bytes, 0) != (ssize_t)bytes)
        abort();
    return fd;
}

/* Returns the path of such a file. */
static inline const char *fuzz_input_path(const uint8_t *data, size_t bytes)
{
    static char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fuzz_input(data, bytes));
    return path;
}
#endif
