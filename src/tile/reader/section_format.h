/* SPDX-License-Identifier: Apache-2.0
 *
 * The layout of the border section. All numbers are little-endian and unsigned; xxh64 is XXH64 with seed 0.
 *
 *     image part | border payloads | index | footer
 *
 * The image part is the finished TIFF or EXR file, untouched. The section follows immediately and extends to the
 * end of the file.
 *
 * FOOTER, the last 64 bytes of the file:
 *
 *      0  u64  image_bytes    size of the image part; the payloads begin here
 *      8  u64  identity       of the image part, see tile/reader/identity.h
 *     16  u64  index_offset   from the start of the file
 *     24  u32  index_bytes    stored size of the index: index_offset + index_bytes is where the footer begins
 *     28  u32  index_raw      size of the index once decompressed: 4 + 8 * levels + 8 * tiles
 *     32  u32  tiles          of all levels together: the number of borders
 *     36  u16  tile_px        edge of a tile
 *     38  u8   border_px      width of the border: 2
 *     39  u8   channels       samples per pixel, 1 to 4
 *     40  u8   type           of a sample: 0 u8, 1 u16, 2 half, 3 float
 *     41  u8   zero[3]
 *     44  u32  version        1; at this place in every version
 *     48  u64  check          xxh64 of all bytes from index_offset up to this field
 *     56  u8   magic[8]       "TXMRINGS"; at this place in every version
 *
 * INDEX: one zstd frame, which decompresses to
 *
 *     u32  levels
 *     u32  tiles_x, tiles_y              for each level
 *     u32  size                          of each border's payload, in tile order
 *     u32  border_check                  of each border, in tile order
 *
 * Tile order: level 0 first, each level row by row, top left first. Payloads follow in tile order without gaps: the
 * offset of a border is image_bytes plus the sizes before it. border_check is the low half of the xxh64 of the border's
 * pixels in the order of tile/reader/border_order.h, for the repeat extension. It covers the pixels and not the
 * payload, because a border is coded relative to its tile, so that this also detects a damaged tile.
 *
 * BORDER PAYLOAD of a tile of w x h valid pixels:
 *
 *     nothing (size 0)                   every residual is zero
 *     u16 planes, zstd frame             bit p of planes: residual plane p is not all zero
 *     u16 0, one pixel                   every pixel of the border equals this one
 *     u16 0, u8 0, u32 n (size 7)        the same payload as border n, an earlier one that is not a reference
 *     u8 0 (size 1)                      not stored: the border has to be gathered from the neighbours
 *
 * If the section of an image of 512 x 512 px or more would exceed a fifth of the file, borders are left out, the
 * longest payloads first. This happens with drawings of thin lines, whose tiles are short and whose borders are hard to
 * predict.
 *
 * The frame decompresses to the planes whose bit is set, one after the other, each of 4 * (w + h + 4) bytes.
 *
 * RESIDUALS. The border's pixels are visited in eight lines. Each line has a reference: the line beside it, nearer to
 * the tile. In coordinates where the tile's first pixel is (0, 0):
 *
 *     line   pixels                      reference
 *      0     x = -1,  y = 0 .. h-1       x = 0
 *      1     x = -2,  y = 0 .. h-1       x = -1
 *      2     x = w,   y = 0 .. h-1       x = w - 1
 *      3     x = w+1, y = 0 .. h-1       x = w
 *      4     y = -1,  x = -2 .. w+1      y = 0
 *      5     y = -2,  x = -2 .. w+1      y = -1
 *      6     y = h,   x = -2 .. w+1      y = h - 1
 *      7     y = h+1, x = -2 .. w+1      y = h
 *
 * Samples are taken as unsigned integers of their size (half and float by their bits); all arithmetic is modulo 2^bits.
 * With `u` the reference pixel beside this one, `l` the pixel before it in its line and `k` the reference pixel beside
 * `l`, the prediction is min(l, u) if k >= max(l, u), max(l, u) if k <= min(l, u), else l + u - k. The first pixel of a
 * line is predicted by `u`. The residual is sample - prediction. With four channels the residuals of the first and the
 * third are then reduced by the second's (r -= g, b -= g). The last step is zigzag: v * 2 for v below half the range,
 * otherwise (2^bits - v) * 2 - 1, which maps 0, -1, 1, -2 ... to 0, 1, 2, 3 ...
 *
 * Plane c * sample_bytes + i holds byte i, the most significant first, of all residuals of channel c in visiting order.
 *
 * MEASUREMENTS. The section's share of the whole file for 4096 x 4096 px with all levels, tiles of 64 px and zip, and
 * the time to encode one border on one core:
 *
 *                                       photo RGBA8   RGBA8 with alpha   photo half   photo RGBA16   predict + zstd
 *     left neighbour, zstd 3              12.5 %          18.1 %           13.3 %        14.4 %        3 + 10 us
 *     nearest tile pixel, zstd 3          12.7            16.5             13.3          14.2          2 + 10
 *     median, zstd 3                      12.0            15.8             13.1          13.9          2 + 11
 *     + zigzag, minus green, zstd 1       11.6            15.3             11.1          13.0          2 + 8
 *     + matches of 7 bytes up only        11.0            14.9             11.1          12.7          2 + 7
 *     the same, a zstd block per plane    12.2            16.7             11.9          14.1          2 + 10
 *     the same, trained dictionary        17.6            14.3             11.2          15.5          2 + 6
 *
 * Each border has its own frame, so that a random read decodes little. The checksums of frames are off because
 * border_check replaces them.
 */
#ifndef TXM_READER_SECTION_FORMAT_H
#define TXM_READER_SECTION_FORMAT_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/endian.h"
#include "txtile/pixel.h"

enum {
    TXM_SECTION_VERSION = 1,
    TXM_SECTION_FOOTER_BYTES = 64,
    TXM_SECTION_CHECK_AT = 48, /* place of the footer's checksum */
    TXM_BORDER_LINES = 8,
    TXM_BORDER_REFERENCE_BYTES = 7, /* payload sizes that identify special forms */
    TXM_BORDER_MISSING_BYTES = 1
};
#define TXM_SECTION_MAGIC "TXMRINGS"

typedef struct txm_section_footer {
    uint64_t image_bytes, identity, index_offset;
    uint32_t index_bytes, index_raw, tiles;
    uint16_t tile_px;
    uint8_t border_px, channels, type;
    uint32_t version;
    uint64_t check;
} txm_section_footer;

static inline void txm_section_footer_pack(const txm_section_footer *f, uint8_t out[TXM_SECTION_FOOTER_BYTES])
{
    memset(out, 0, TXM_SECTION_FOOTER_BYTES);
    txm_store_le64(out, f->image_bytes);
    txm_store_le64(out + 8, f->identity);
    txm_store_le64(out + 16, f->index_offset);
    txm_store_le32(out + 24, f->index_bytes);
    txm_store_le32(out + 28, f->index_raw);
    txm_store_le32(out + 32, f->tiles);
    txm_store_le16(out + 36, f->tile_px);
    out[38] = f->border_px;
    out[39] = f->channels;
    out[40] = f->type;
    txm_store_le32(out + 44, f->version);
    txm_store_le64(out + TXM_SECTION_CHECK_AT, f->check);
    memcpy(out + 56, TXM_SECTION_MAGIC, 8);
}

/* Returns 0 if the magic is missing. No other field is checked. */
static inline int txm_section_footer_parse(const uint8_t in[TXM_SECTION_FOOTER_BYTES], txm_section_footer *f)
{
    if (memcmp(in + 56, TXM_SECTION_MAGIC, 8))
        return 0;
    f->image_bytes = txm_load_le64(in);
    f->identity = txm_load_le64(in + 8);
    f->index_offset = txm_load_le64(in + 16);
    f->index_bytes = txm_load_le32(in + 24);
    f->index_raw = txm_load_le32(in + 28);
    f->tiles = txm_load_le32(in + 32);
    f->tile_px = txm_load_le16(in + 36);
    f->border_px = in[38];
    f->channels = in[39];
    f->type = in[40];
    f->version = txm_load_le32(in + 44);
    f->check = txm_load_le64(in + TXM_SECTION_CHECK_AT);
    return 1;
}
#endif
