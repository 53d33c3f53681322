/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib streams (RFC 1950) of one tile each, at a fixed level or at the level that the tile deserves.
 */
#ifndef TXM_CODEC_DEFLATE_H
#define TXM_CODEC_DEFLATE_H
#include <stddef.h>
#include <stdint.h>

#include "txmill/status.h"

typedef struct txm_deflate txm_deflate;

/* `level`: 1 (fastest) to 12 (smallest); 0 chooses for each stream. Scratch memory is allocated as levels come to be
 * used, and kept. */
txm_status txm_deflate_new(int level, txm_deflate **out, txm_error *err);
void txm_deflate_free(txm_deflate **deflate); /* NULL-safe */

/* Room that any stream of size_bytes bytes can need. */
size_t txm_deflate_bound(size_t size_bytes);

/* Writes the zlib stream of src to dst, which holds txm_deflate_bound(size_bytes). The bytes depend on src and the
 * level alone. */
txm_status txm_deflate_run(txm_deflate *deflate, const uint8_t *src, size_t size_bytes, uint8_t *dst,
                           size_t *encoded_bytes, txm_error *err);
#endif
