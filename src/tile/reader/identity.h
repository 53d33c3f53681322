/* SPDX-License-Identifier: Apache-2.0
 *
 * The identity of an image part: shows whether a border section still belongs to the TIFF or EXR in front of it.
 *
 * xxh64 (seed 0) over, one after the other,
 *
 *   TIFF  the header (8 bytes; BigTIFF 16), then for each directory of the chain, at most 64 of them: its bytes
 *         (count, entries, link to the next), then for each of its entries in order whose value stands elsewhere in
 *         the file, the bytes of that value. So tile offsets and sizes, texts and SHA-1 are in it. Both byte orders.
 *         A value that would end beyond the image part is left out, and the chain ends at such a directory; the same
 *         holds for what would make directories and values together longer than the image part.
 *   EXR   all bytes up to the offset that the first entry of the chunk table names: header and chunk table. The table
 *         begins after the header's closing zero byte. An offset in front of that entry's end or beyond the image
 *         part counts as the end of that entry.
 *
 * and last over image_bytes as 8 little-endian bytes. Tiles are not read: a few pages of a large file are touched.
 */
#ifndef TXM_READER_IDENTITY_H
#define TXM_READER_IDENTITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile/base/shared.h"
#include "txtile/reader.h"

/* `image`: the image part, in memory or mapped. False if it is neither TIFF nor EXR, or ends within its header. */
TXM_SHARED bool txm_image_identity(const uint8_t *image, size_t image_bytes, uint64_t *identity);

struct txm_map;
bool txm_map_identity(const struct txm_map *map, size_t image_bytes, uint64_t *identity);

/* That of an open file's image part as it is now. False if it can't be read any more. */
bool txm_tx_identity(const txm_tx *tx, uint64_t *identity);
#endif
