/* SPDX-License-Identifier: Apache-2.0
 *
 * Encodes one tile into the bytes of the file. TIFF: horizontal predictor, then zlib, zstd or nothing; tiles always
 * have their full size, so edge tiles are padded by repeating their last column and row, which costs almost nothing.
 * EXR: channel planes per scanline in alphabetical order, the zip byte split and delta, then zlib; edge tiles hold
 * valid pixels only, and a tile that does not shrink is stored uncompressed.
 *
 * An encoder holds the scratch memory of one thread, and allocates nothing per tile once it has grown.
 *
 * The directory src/mill/encode turns the pixels of a tile into the bytes of a file, with predictors, deflate by
 * libdeflate or by our own encoder for tiles of few matches, and zstd. src/tile/decode is the inverse. Neither depends
 * on a container; sizes that come from files are checked by the caller against the file and by the decoder against its
 * output.
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
    txm_type type; /* determines TIFF or EXR */
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

/* The size in bytes of a tile of valid_w x valid_h px before compression. */
size_t txm_tile_raw_bytes(const txm_tile_encoder *encoder, uint32_t valid_w, uint32_t valid_h);

/* Encodes a tile of integers that a device has processed already: the predictor is applied, unless the format is
 * uncompressed. */
txm_status txm_tile_encode_filtered(txm_tile_encoder *encoder, const void *filtered, uint32_t valid_w, uint32_t valid_h,
                                    const void **encoded, size_t *encoded_bytes, txm_error *err);
#endif
