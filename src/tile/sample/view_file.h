/* SPDX-License-Identifier: Apache-2.0
 *
 * A tx file as a view of it: the shape of its levels, and tiles in the layout that lookups read.
 *
 * Both owners of tiles use these functions, the texture set with all tiles in memory and the cache that loads requested
 * ones, so a tile has the same bytes in both. Files of two or three channels are widened to four, unless the texture
 * stays opaque: then three are kept, and the last of four is dropped.
 */
#ifndef TXM_SAMPLE_VIEW_FILE_H
#define TXM_SAMPLE_VIEW_FILE_H
#include <stdbool.h>

#include "txtile/sampler.h"

/* Describes a file from level `skip` on, which becomes level 0 of the view; the place in the page table is not set.
 * `opaque` requests three channels if the file has three or its average alpha is 1, but never with the clip extension,
 * whose borders are clear. UNSUPPORTED if tiles are not square or their size is not a power of two. */
txm_status txm_view_describe(const txm_tx *tx, txm_extension extension, uint32_t skip, bool opaque, txm_view_texture *v,
                             txm_error *err);

/* The same for pixels that are in no file, with `levels` levels of tiles of tile_px. The average is set to 0. */
void txm_view_shape(uint32_t width, uint32_t height, uint32_t levels, uint32_t tile_px, txm_type type,
                    uint32_t channels, txm_extension extension, txm_view_texture *v);

/* Makes a small texture a packed one (see txm_view_texture). Tile sizes are rounded up to one of eight for each power
 * of two, so that textures of many sizes share few kinds of slabs. */
void txm_view_pack(txm_view_texture *v);
static inline bool txm_view_is_packed(const txm_view_texture *v)
{
    return v->tile_shift == TXM_SHIFT_PACKED;
}

/* The number of tiles in a level of the view: across, and in total. In a packed texture level 0 has the only tile. */
uint32_t txm_view_tiles_across(const txm_view_texture *v, uint32_t level);
uint32_t txm_view_tiles(const txm_view_texture *v, uint32_t level);

/* Bytes of memory for a tile in the channels of the file, if those differ from the view's. */
static inline size_t txm_view_converted_bytes(const txm_view_texture *v)
{
    return v->tile_bytes + v->tile_bytes / 2;
}

/* Reads a tile into `dst`, which has v->tile_bytes. `converted` is memory for files with other channels. *opaque is set
 * to false if a view of three channels dropped an alpha that is not 1, and not changed otherwise. */
txm_status txm_view_read_tile(txm_tx *tx, const txm_view_texture *v, uint32_t skip, uint32_t level, uint32_t tile,
                              uint8_t *dst, uint8_t *converted, bool *opaque, txm_error *err);
#endif
