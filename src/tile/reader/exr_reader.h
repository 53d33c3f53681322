/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations shared by the EXR parts of the reader: structure (exr_reader.c) and tiles (exr_tile.c).
 */
#ifndef TXM_READER_EXR_READER_H
#define TXM_READER_EXR_READER_H
#include "tile/reader/reader_impl.h"

/* Codec numbers in the file. */
enum { TXM_EXR_NONE = 0, TXM_EXR_RLE = 1, TXM_EXR_ZIPS = 2, TXM_EXR_ZIP = 3, TXM_EXR_CODECS = 10 };

/* The header of each tile's chunk: tile x and y, level x and y, number of bytes that follow; 32 bits each. */
enum { TXM_EXR_CHUNK_HEADER_BYTES = 20 };

/* Functions of txm_tx_exr_reader. */
txm_status txm_exr_find_tile(const txm_tx *tx, const txm_tile_id *tile, txm_span *out, txm_error *err);
txm_status txm_exr_decode_tile(const txm_tx *tx, const txm_tile_id *tile, const txm_span *span, txm_scratch *scratch,
                               txm_pixels *out, txm_error *err);
uint64_t txm_exr_image_end(const txm_tx *tx);
void txm_exr_core_free(txm_tx *tx);
uint64_t txm_exr_core_bytes(const txm_tx *tx);
#endif
