/* SPDX-License-Identifier: Apache-2.0
 * Reading and writing files whole: the calls go on after a signal and after a part. */
#ifndef TXM_BASE_WHOLE_H
#define TXM_BASE_WHOLE_H
#include <stddef.h>
#include <stdint.h>

/* Read until `bytes` bytes are there or the file ends: how many there are, or -1 and errno. */
int64_t txm_read_most(int fd, void *data, size_t bytes);
int64_t txm_pread_most(int fd, void *data, size_t bytes, uint64_t offset);

/* Return 0 or an errno: EIO if the file ends early, ENOSPC if a write takes nothing, which would be repeated forever.
 */
int txm_read_all(int fd, void *data, size_t bytes);
int txm_pread_all(int fd, void *data, size_t bytes, uint64_t offset);
int txm_write_all(int fd, const void *data, size_t bytes);
int txm_pwrite_all(int fd, const void *data, size_t bytes, uint64_t offset);
#endif
