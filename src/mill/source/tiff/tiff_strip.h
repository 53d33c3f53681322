/* SPDX-License-Identifier: Apache-2.0
 *
 * The bytes of one TIFF strip, decompressed in order and piece by piece. libtiff reads a strip into memory whole before
 * it decodes the first row; for images that are stored as one strip that is the whole file.
 *
 * In: a strip's place and compression. Out: its bytes in order, a piece at a time, with the decoder's window in
 * memory instead of the strip. Deflate, LZW and PackBits can be followed so; other compressions are libtiff's.
 */
#ifndef TXM_SOURCE_TIFF_STRIP_H
#define TXM_SOURCE_TIFF_STRIP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct txm_tiff_strip txm_tiff_strip;

/* A decoder for strips of a file that is open as `fd`, compressed as TIFF's tag 259 says. NULL when memory is exhausted
 * or the compression is none that is decoded here: deflate, LZW, PackBits are. */
txm_tiff_strip *txm_tiff_strip_new(int fd, uint16_t compression);
void txm_tiff_strip_free(txm_tiff_strip *strip); /* NULL-safe */

/* Goes to the start of a strip. False when it cannot be read, or is LZW of the kind that only the first versions of
 * libtiff wrote. */
bool txm_tiff_strip_begin(txm_tiff_strip *strip, uint64_t offset, uint64_t bytes);

/* The next `bytes` bytes of pixels. False when there are no more or the data is damaged. */
bool txm_tiff_strip_read(txm_tiff_strip *strip, uint8_t *dst, size_t bytes);
/* What was wrong, after a false answer. */
const char *txm_tiff_strip_reason(const txm_tiff_strip *strip);
/* The errno of a read that failed, or 0. */
int txm_tiff_strip_errno(const txm_tiff_strip *strip);
#endif
