/* SPDX-License-Identifier: Apache-2.0
 *
 * A file read from front to back through one small buffer.
 *
 * The direct readers of PNG and JPEG use it instead of mapping the file: mapped pages count as resident memory, and a
 * file that shrinks while it is mapped ends the process. */
#ifndef TXM_SOURCE_RASTER_FILE_H
#define TXM_SOURCE_RASTER_FILE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

enum { TXM_RASTER_PIECE_BYTES = 1 << 17 };

typedef struct txm_raster_file {
    int fd;          /* -1 when closed; zero-initialised objects must be opened before they are closed */
    int sys_errno;   /* of the read that failed, 0 at a plain end of file */
    uint64_t offset; /* in the file, of the byte after the buffer's last */
    size_t pos, end; /* unread part of the buffer */
    uint8_t *buffer;
} txm_raster_file;

/* Opens `path` and allocates the buffer. On failure nothing needs closing. */
txm_status txm_raster_file_open(txm_raster_file *file, const char *path, txm_error *err);
void txm_raster_file_close(txm_raster_file *file);

/* Makes at least one unread byte available; false at the end of the file or when reading failed (sys_errno). */
bool txm_raster_file_fill(txm_raster_file *file);

/* Copies the next `bytes` bytes; false if there are fewer, which are consumed then. */
bool txm_raster_file_get(txm_raster_file *file, void *dst, size_t bytes);

uint64_t txm_raster_file_tell(const txm_raster_file *file);
void txm_raster_file_seek(txm_raster_file *file, uint64_t offset);
#endif
