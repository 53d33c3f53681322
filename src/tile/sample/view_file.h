/* SPDX-License-Identifier: Apache-2.0
 *
 * A tx file as a view sees it: the shape of its levels, and tiles as look-ups read them.
 *
 * Both holders of tiles come through here, the set that has all of them and the cache that loads what is asked
 * for, so that a tile has the same bytes in either. Files of two or three channels are widened to four on the
 * way, since look-ups know one and four alone.
 */
#ifndef TXM_SAMPLE_VIEW_FILE_H
#define TXM_SAMPLE_VIEW_FILE_H
#include "txtile/sampler.h"

/* Describes a file from level `skip` on, which is level 0 of the view, but for its place in the page table. UNSUPPORTED
 * where tiles are not square or not a power of two. */
txm_status txm_view_describe(const txm_tx *tx, txm_extension extension, uint32_t skip, txm_view_texture *v,
                             txm_error *err);

/* The same for pixels that are in no file: `levels` of tiles of tile_px. The average is left at 0. */
void txm_view_shape(uint32_t width, uint32_t height, uint32_t levels, uint32_t tile_px, txm_type type,
                    uint32_t channels, txm_extension extension, txm_view_texture *v);

/* Tiles of a level of the view: across, and in all. */
uint32_t txm_view_tiles_across(const txm_view_texture *v, uint32_t level);
uint32_t txm_view_tiles(const txm_view_texture *v, uint32_t level);

/* Reads a padded tile to `dst`, of v->tile_bytes. `unwidened`: as many bytes, for files of two and three channels. */
txm_status txm_view_read_tile(txm_tx *tx, const txm_view_texture *v, uint32_t skip, uint32_t level, uint32_t tile,
                              uint8_t *dst, uint8_t *unwidened, txm_error *err);
#endif
