/* SPDX-License-Identifier: Apache-2.0
 *
 * What the EXR half of the reader shares: structure (exr_reader.c), tiles (exr_reader_tile.c), byte shuffling
 * (exr_reader_bytes.c), the rarer codecs through OpenEXRCore (exr_reader_core.c).
 */
#ifndef TXM_CONTAINER_EXR_READER_H
#define TXM_CONTAINER_EXR_READER_H
#include "container/reader_impl.h"

/* Numbers of codecs in the file. */
enum { TXM_EXR_NONE = 0, TXM_EXR_RLE = 1, TXM_EXR_ZIPS = 2, TXM_EXR_ZIP = 3, TXM_EXR_CODECS = 10 };

/* In front of each tile: tile x and y, level x and y, bytes that follow; 32 bits each. */
enum { TXM_EXR_CHUNK_HEADER_BYTES = 20 };

extern const txm_container_ops txm_exr_reader_ops;

/* Decodes exactly dst_bytes bytes of run lengths; false if the data is malformed. */
bool txm_exr_rle_decode(const uint8_t *src, size_t src_bytes, uint8_t *dst, size_t dst_bytes);

/* Undoes what precedes ZIP and RLE: differences between bytes (in place in `src`), then the two halves of the buffer
 * (even and odd bytes) are woven into `dst`. Both buffers have 16 bytes of slack. */
void txm_exr_unsplit(uint8_t *src, uint8_t *dst, size_t bytes);

/* Turns rows of planes (`planes` planes of w samples a row) into interleaved pixels; the n-th plane becomes channel
 * slot[n]. */
void txm_exr_interleave(const uint8_t *src, uint8_t *dst, uint32_t w, uint32_t h, uint32_t planes,
                        unsigned sample_bytes, const uint8_t *slot);

/* Decodes a tile with OpenEXRCore into interleaved, tight pixels at `dst`. */
txm_status txm_exr_core_decode(const txm_tx *tx, const txm_tile_id *tile, txm_scratch *scratch, uint8_t *dst,
                               txm_error *err);

#endif
