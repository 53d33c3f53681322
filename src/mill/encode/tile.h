/* SPDX-License-Identifier: Apache-2.0
 *
 * Encoding one tile into the bytes of the file: TIFF (horizontal predictor, then zlib, zstd or nothing; always full
 * tiles, so edge tiles are filled up by repeating their last column and row, which compresses to nothing) and EXR
 * (channel planes a scanline in alphabetical order, the zip byte split and delta, then zlib; edge tiles hold their
 * valid pixels only; a tile that does not shrink is stored as it is).
 *
 * An encoder holds one thread's scratch memory: nothing is allocated per tile once it has grown.
 *
 * The room src/mill/encode turns the pixels of a tile into the bytes of a file: predictors, deflate by libdeflate or by
 * our own encoder for tiles of few matches, zstd. src/tile/decode undoes it. Neither knows a container; sizes that come
 * from files are checked by the caller against the file and by the decoder against its output.
 */
#ifndef TXM_ENCODE_TILE_H
#define TXM_ENCODE_TILE_H
#include <stddef.h>
#include <stdint.h>

#include "txtile/pixel.h"
#include "txtile/settings.h"
#include "txtile/status.h"

typedef struct txm_tile_encoder txm_tile_encoder;

typedef struct txm_tile_format {
    txm_type type; /* decides TIFF or EXR */
    uint32_t channels, tile_px;
    txm_compression compression;
} txm_tile_format;

txm_status txm_tile_encoder_new(const txm_tile_format *format, txm_tile_encoder **out, txm_error *err);
void txm_tile_encoder_free(txm_tile_encoder **encoder); /* NULL-safe */

/* Encodes the tile whose first pixel is at `pixels` (rows stride_bytes apart), of which valid_w x valid_h px exist.
 * *encoded points into the encoder and is valid until its next call. The bytes depend on the pixels and the format
 * alone (not on ISA, thread or earlier tiles). */
txm_status txm_tile_encode(txm_tile_encoder *encoder, const void *pixels, size_t stride_bytes, uint32_t valid_w,
                           uint32_t valid_h, const void **encoded, size_t *encoded_bytes, txm_error *err);

/* Bytes of a tile in front of the compressor, where it has valid_w x valid_h px. */
size_t txm_tile_raw_bytes(const txm_tile_encoder *encoder, uint32_t valid_w, uint32_t valid_h);

/* As txm_tile_encode, for a tile that has been brought there already (by a device): after predictor or split, unless
 * nothing compresses it. */
txm_status txm_tile_encode_filtered(txm_tile_encoder *encoder, const void *filtered, uint32_t valid_w, uint32_t valid_h,
                                    const void **encoded, size_t *encoded_bytes, txm_error *err);
#endif
