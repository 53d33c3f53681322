/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-1 of level 0, as OpenImageIO's computePixelHashSHA1 with blocks of 256 rows computes it: of the pixels as
 * float32; for more than one block, of the blocks' upper-case hex digests, concatenated.
 */
#ifndef TXM_CONVERT_PIXEL_HASH_H
#define TXM_CONVERT_PIXEL_HASH_H
#include <stdbool.h>

#include "base/hash.h"
#include "tile/ops/ops.h"
#include "txtile/status.h"

enum { TXM_HASH_BLOCK_ROWS = 256 };

typedef struct txm_pixel_hash txm_pixel_hash;

txm_status txm_pixel_hash_new(uint32_t width, uint32_t height, uint32_t channels, txm_type type, const txm_ops *ops,
                              txm_pixel_hash **out, txm_error *err);
/* Whether an even block and the odd one after it may be hashed together: both are full, and the machine gains from it.
 */
bool txm_pixel_hash_pairs(const txm_pixel_hash *hash, uint32_t block);
/* Hashes rows y .. y+rows-1, which must be in one block; with `partner`, they are of an even block, and those are the
 * rows 256 further down, which belong to the odd one. Rows of a block must come in order; different threads may hash
 * different blocks at once. */
void txm_pixel_hash_rows(txm_pixel_hash *hash, uint32_t y, uint32_t rows, const void *pixels, const void *partner,
                         size_t stride_bytes);
/* All rows must have been hashed. NO_MEMORY if any of them could not be. */
txm_status txm_pixel_hash_finish(txm_pixel_hash *hash, char out[TXM_SHA1_HEX], txm_error *err);
void txm_pixel_hash_free(txm_pixel_hash **hash); /* NULL-safe */
#endif
