/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that a library reads at offsets of its own choosing. Libraries report a failed read as damage, or distinguish
 * it only in their messages, and some continue without what they could not read; so the errno is stored here.
 */
#ifndef TXM_SOURCE_RANDOM_FILE_H
#define TXM_SOURCE_RANDOM_FILE_H
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

typedef struct txm_random_file {
    int fd;         /* -1 if closed; zero-initialised objects must be opened before they are closed */
    int sys_errno;  /* errno of the first read that failed; 0: none did */
    uint64_t bytes; /* size when it was opened */
} txm_random_file;

txm_status txm_random_file_open(txm_random_file *file, const char *path, txm_error *err);
void txm_random_file_close(txm_random_file *file);
/* Reads as many bytes as there are, at most `bytes`; -1 if reading failed. */
int64_t txm_random_file_read(txm_random_file *file, void *dst, size_t bytes, uint64_t offset);
/* OK unless a read failed: then that is the failure, whatever else it caused. */
txm_status txm_random_file_status(const txm_random_file *file, const char *path, txm_error *err);
#endif
