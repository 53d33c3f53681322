/* SPDX-License-Identifier: Apache-2.0
 *
 * A tx file as a view sees it: the shape of its levels, and tiles as lookups read them.
 *
 * Both holders of tiles come through here, the set that has all of them and the cache that loads what is asked
 * for, so that a tile has the same bytes in either. Files of two or three channels are widened to four on the
 * way, unless they are to stay opaque: then three are kept, and of four the last is left out.
 */
#ifndef TXM_SAMPLE_VIEW_FILE_H
#define TXM_SAMPLE_VIEW_FILE_H
#include <stdbool.h>

#include "txtile/sampler.h"

/* Describes a file from level `skip` on, which is level 0 of the view, but for its place in the page table. `opaque`:
 * three channels, where the file has three or its average alpha is 1; never with the clip extension, whose borders are
 * clear. UNSUPPORTED where tiles are not square or not a power of two. */
txm_status txm_view_describe(const txm_tx *tx, txm_extension extension, uint32_t skip, bool opaque, txm_view_texture *v,
                             txm_error *err);

/* The same for pixels that are in no file: `levels` of tiles of tile_px. The average is left at 0. */
void txm_view_shape(uint32_t width, uint32_t height, uint32_t levels, uint32_t tile_px, txm_type type,
                    uint32_t channels, txm_extension extension, txm_view_texture *v);

/* Makes a small texture a packed one: see txm_view_texture. Its tiles are rounded up to one of eight sizes for each
 * power of two, so that textures of many sizes share few kinds of slabs. */
void txm_view_pack(txm_view_texture *v);
static inline bool txm_view_is_packed(const txm_view_texture *v)
{
    return v->tile_shift == TXM_SHIFT_PACKED;
}

/* Tiles of a level of the view: across, and in all. Of a packed texture level 0 has the one tile. */
uint32_t txm_view_tiles_across(const txm_view_texture *v, uint32_t level);
uint32_t txm_view_tiles(const txm_view_texture *v, uint32_t level);

/* Of memory for a tile in the channels of the file, where these are not the view's. */
static inline size_t txm_view_converted_bytes(const txm_view_texture *v)
{
    return v->tile_bytes + v->tile_bytes / 2;
}

/* Reads a tile to `dst`, of v->tile_bytes. `converted`: memory for files of other channels. *opaque is false where a
 * view of three channels has left out an alpha that is not 1; else it is left as it is. */
txm_status txm_view_read_tile(txm_tx *tx, const txm_view_texture *v, uint32_t skip, uint32_t level, uint32_t tile,
                              uint8_t *dst, uint8_t *converted, bool *opaque, txm_error *err);
#endif
