/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that a decoder reads, at offsets of its own choosing or from start to end through one small buffer. Libraries
 * report a failed read as damage, or distinguish it only in their messages, and some continue without what they could
 * not read; so the errno is stored here. Files are not mapped: mapped pages count as resident memory, and a file that
 * shrinks while it is mapped ends the process.
 */
#ifndef TXM_SOURCE_SOURCE_FILE_H
#define TXM_SOURCE_SOURCE_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

enum { TXM_SOURCE_PIECE_BYTES = 1 << 17 };

typedef struct txm_source_file {
    int fd;          /* -1 if closed; zero-initialised objects must be opened before they are closed */
    int sys_errno;   /* errno of the first read that failed; 0: none did since the last seek */
    uint64_t bytes;  /* size when it was opened */
    uint64_t offset; /* file offset of the byte after the end of the buffer */
    size_t pos, end; /* unread part of the buffer, in which decoders may work; seeking discards it */
    uint8_t *buffer; /* NULL: the file is read at offsets only */
} txm_source_file;

/* On failure nothing needs to be closed. */
txm_status txm_source_file_open(txm_source_file *file, const char *path, bool buffered, txm_error *err);
void txm_source_file_close(txm_source_file *file);
/* OK unless a read failed: then that is the failure, whatever else it caused. */
txm_status txm_source_file_status(const txm_source_file *file, const char *path, txm_error *err);

/* Reads as many bytes as there are, at most `bytes`; -1 if reading failed. */
int64_t txm_source_file_read(txm_source_file *file, void *dst, size_t bytes, uint64_t offset);

/* Makes at least one unread byte of the buffer available; false at the end of the file or if reading failed. */
bool txm_source_file_fill(txm_source_file *file);
/* Copies the next `bytes` bytes; false if there are fewer, which are then consumed. */
bool txm_source_file_get(txm_source_file *file, void *dst, size_t bytes);
uint64_t txm_source_file_tell(const txm_source_file *file);
void txm_source_file_seek(txm_source_file *file, uint64_t offset);
#endif
