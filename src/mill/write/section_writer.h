/* SPDX-License-Identifier: Apache-2.0
 *
 * The border section: the borders of all tiles, appended to a finished tx file. txmill-borders(5) documents it byte by
 * byte. Border pixels are in the order of tile/reader/border_order.h.
 */
#ifndef TXM_WRITE_SECTION_WRITER_H
#define TXM_WRITE_SECTION_WRITER_H
#include <stddef.h>
#include <stdint.h>

#include "mill/write/writer.h"
#include "txtile/status.h"

/* ---- encoding one border (any thread, each with its own encoder) ---- */
typedef struct txm_border_encoder txm_border_encoder;
txm_status txm_border_encoder_new(const txm_tx_layout *layout, txm_border_encoder **out, txm_error *err);
void txm_border_encoder_free(txm_border_encoder **encoder);

/* Encodes the border of a tile of valid_w x valid_h px. `border` holds its pixels without gaps, in border order.
 * `pixels` and `stride_bytes` are the tile itself, from whose nearest edge pixels the border is predicted. The output
 * is as in txm_tile_encode and depends on the arguments alone. */
txm_status txm_border_encode(txm_border_encoder *encoder, const void *border, const void *pixels, size_t stride_bytes,
                             uint32_t valid_w, uint32_t valid_h, const void **encoded, size_t *encoded_bytes,
                             txm_error *err);

/* The outermost pixels of a tile, from which its border is predicted: rows without gaps, columns column_step bytes
 * apart. */
typedef struct txm_border_edges {
    const uint8_t *top, *bottom, *left, *right;
    size_t column_step;
} txm_border_edges;

/* Encodes a border like txm_border_encode, if the rest of the tile is not available. */
txm_status txm_border_encode_edges(txm_border_encoder *encoder, const void *border, const txm_border_edges *edges,
                                   uint32_t valid_w, uint32_t valid_h, const void **encoded, size_t *encoded_bytes,
                                   txm_error *err);

/* ---- writing a section ---- */
typedef struct txm_section_writer txm_section_writer;

/* The writer keeps payloads in memory up to a budget, and then in an unlinked spill file in `spill_dir`. */
txm_status txm_section_writer_new(const txm_tx_layout *layout, const char *spill_dir, txm_section_writer **out,
                                  txm_error *err);
/* Adds the border of tile `tile` (tile_y * tiles_x + tile_x) of `level`, as txm_border_encode produced it. Every tile
 * must be added exactly once, in any order (the borders of the first tile row are known last, because they wrap
 * around); the section is the same for every order. */
txm_status txm_section_writer_add(txm_section_writer *writer, uint32_t level, uint32_t tile, const void *encoded,
                                  size_t size_bytes, txm_error *err);
/* Appends the section to `fd` after the finished image part of image_bytes bytes. */
txm_status txm_section_writer_finish(txm_section_writer *writer, int fd, uint64_t image_bytes, txm_error *err);
void txm_section_writer_free(txm_section_writer **writer); /* NULL-safe */
#endif
