/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib streams (RFC 1950) of one tile each, at a fixed level or at one that suits the tile.
 *
 * Any zlib reader can decode the streams. Level 0 surveys the bytes of each tile and uses our own encoder (sparse.h),
 * which searches for few matches or for many; libdeflate handles the explicit levels, and 16-bit samples with many
 * repetitions.
 */
#ifndef TXM_ENCODE_DEFLATE_H
#define TXM_ENCODE_DEFLATE_H
#include "mill/encode/sparse.h"
#include "txtile/status.h"

typedef struct txm_deflate txm_deflate;

/* `level` is 1 (fastest, mill/encode/sparse.h) to 12 (smallest; 2 and up are libdeflate's); 0 chooses for each stream.
 * Scratch memory is allocated when a level is first used, and kept. */
txm_status txm_deflate_new(int level, const txm_deflate_shape *shape, txm_deflate **out, txm_error *err);
void txm_deflate_free(txm_deflate **deflate); /* NULL-safe */

/* The largest size of a stream for any input of the shape. */
size_t txm_deflate_bound(const txm_deflate *deflate);

/* Writes the zlib stream of src (1 to max_bytes bytes) to dst, which has room for txm_deflate_bound. The result depends
 * only on src, the level and the shape. */
txm_status txm_deflate_run(txm_deflate *deflate, const uint8_t *src, size_t size_bytes, uint8_t *dst,
                           size_t *encoded_bytes, txm_error *err);
#endif
