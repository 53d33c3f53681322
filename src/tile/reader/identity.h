/* SPDX-License-Identifier: Apache-2.0
 *
 * The identity of an image part, which shows whether a border section still belongs to the TIFF or EXR in front of it.
 * It is the xxh64 (seed 0) of the following bytes, in this order:
 *
 *   TIFF  the header (8 bytes; BigTIFF 16), then for each directory of the chain, at most 64 of them: its bytes
 *         (count, entries, link to the next), then for each of its entries in order whose value is stored elsewhere
 *         in the file, the bytes of that value. This covers tile offsets and sizes, texts and SHA-1, in either byte
 *         order. A value that would end beyond the image part is left out, and the chain ends at a directory that
 *         would; the same applies to anything that would make directories and values together longer than the image
 *         part.
 *   EXR   all bytes up to the offset that the first entry of the chunk table names: header and chunk table. The table
 *         begins after the header's closing zero byte. An offset in front of that entry's end or beyond the image
 *         part counts as the end of that entry.
 *
 * The last 8 bytes are image_bytes in little-endian order. Tiles are not read, so that only a few pages of a large file
 * are touched.
 */
#ifndef TXM_READER_IDENTITY_H
#define TXM_READER_IDENTITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/shared.h"
#include "txtile/reader.h"

/* `image` is the image part, in memory or mapped. False if it is neither TIFF nor EXR, or ends within its header. */
TXM_SHARED bool txm_image_identity(const uint8_t *image, size_t image_bytes, uint64_t *identity);

struct txm_map;
bool txm_map_identity(const struct txm_map *map, size_t image_bytes, uint64_t *identity);

/* The identity of an open file's image part in its current state. False if the file can no longer be read. */
bool txm_tx_identity(const txm_tx *tx, uint64_t *identity);
#endif
