/* SPDX-License-Identifier: Apache-2.0
 *
 * A file that is read from start to end through one small buffer. The direct readers of PNG, JPEG, PNM and WebP use it
 * instead of mapping the file: mapped pages count as resident memory, and a file that shrinks while it is mapped ends
 * the process.
 */
#ifndef TXM_SOURCE_RASTER_FILE_H
#define TXM_SOURCE_RASTER_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

enum { TXM_RASTER_PIECE_BYTES = 1 << 17 };

typedef struct txm_raster_file {
    int fd;          /* -1 if closed; zero-initialised objects must be opened before they are closed */
    int sys_errno;   /* errno of the read that failed, 0 at the end of the file */
    uint64_t offset; /* file offset of the byte after the end of the buffer */
    size_t pos, end; /* unread part of the buffer, which seeking discards */
    uint8_t *buffer;
} txm_raster_file;

/* Opens `path` and allocates the buffer. On failure nothing needs to be closed. */
txm_status txm_raster_file_open(txm_raster_file *file, const char *path, txm_error *err);
void txm_raster_file_close(txm_raster_file *file);

/* Makes at least one unread byte available; false at the end of the file or if reading failed (sys_errno). */
bool txm_raster_file_fill(txm_raster_file *file);

/* Copies the next `bytes` bytes; false if there are fewer, which are then consumed. */
bool txm_raster_file_get(txm_raster_file *file, void *dst, size_t bytes);

uint64_t txm_raster_file_tell(const txm_raster_file *file);
void txm_raster_file_seek(txm_raster_file *file, uint64_t offset);
#endif
