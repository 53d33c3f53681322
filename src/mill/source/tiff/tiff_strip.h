/* SPDX-License-Identifier: Apache-2.0
 *
 * Decompresses a TIFF strip in order and piece by piece, with only the decoder's window in memory. libtiff reads a
 * strip into memory as a whole before it decodes the first row; for images that are stored as one strip, that is the
 * whole file. This supports deflate, which gains most, and strips without compression: if the image has separate
 * planes, libtiff reads many rows of those for each row. Other compressions are left to libtiff.
 */
#ifndef TXM_SOURCE_TIFF_STRIP_H
#define TXM_SOURCE_TIFF_STRIP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct txm_tiff_strip txm_tiff_strip;

/* A decoder for deflated strips, or strips without compression, of the file that is open as `fd`. It is freed with
 * free(). NULL if memory is exhausted. */
txm_tiff_strip *txm_tiff_strip_new(int fd, bool deflated);

/* Goes to the start of a strip. false if it cannot be read, or was said to be deflated but is not a zlib stream. */
bool txm_tiff_strip_begin(txm_tiff_strip *strip, uint64_t offset, uint64_t bytes);

/* Reads the next `bytes` bytes of pixels. false if there are no more or the data is damaged. */
bool txm_tiff_strip_read(txm_tiff_strip *strip, uint8_t *dst, size_t bytes);
const char *txm_tiff_strip_reason(const txm_tiff_strip *strip);
int txm_tiff_strip_errno(const txm_tiff_strip *strip);
#endif
