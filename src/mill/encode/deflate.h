/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib streams (RFC 1950) of one tile each, at a fixed level or in the way that the tile deserves.
 *
 * In: the filtered bytes of a tile. Out: a zlib stream that every reader takes. Level 0 surveys the bytes of each tile
 * and lets our own encoder (sparse.h) look for few matches or for many; libdeflate's levels are for who names one, and
 * for 16-bit samples of which much repeats.
 */
#ifndef TXM_ENCODE_DEFLATE_H
#define TXM_ENCODE_DEFLATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/status.h"

typedef struct txm_deflate txm_deflate;

/* How the bytes of a tile are laid out after its filter. */
typedef struct txm_deflate_shape {
    size_t max_bytes;  /* longest input */
    size_t step_bytes; /* 1 to 8: distance of the positions where matches are looked for, a pixel in TIFF */
    int parts;         /* parts of equal length with different statistics: 1, or 2 for EXR's low and high bytes */
    bool wide;         /* the bytes of a wider sample stand side by side: TIFF's 16 bits */
} txm_deflate_shape;

/* `level`: 1 (fastest, mill/encode/sparse.h) to 12 (smallest; 2 and up are libdeflate's); 0 chooses for each stream.
 * Scratch memory is allocated as levels come to be used, and kept. */
txm_status txm_deflate_new(int level, const txm_deflate_shape *shape, txm_deflate **out, txm_error *err);
void txm_deflate_free(txm_deflate **deflate); /* NULL-safe */

/* Room that any stream of the shape can need. */
size_t txm_deflate_bound(const txm_deflate *deflate);

/* Writes the zlib stream of src (1 to max_bytes bytes) to dst, which holds txm_deflate_bound. The bytes depend on src,
 * the level and the shape alone. */
txm_status txm_deflate_run(txm_deflate *deflate, const uint8_t *src, size_t size_bytes, uint8_t *dst,
                           size_t *encoded_bytes, txm_error *err);
#endif
