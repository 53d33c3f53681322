/* SPDX-License-Identifier: Apache-2.0
 *
 * The faces of a Ptex file packed into pages: pictures that any renderer can look up with texture coordinates.
 *
 * Each face lies in a page, surrounded by a frame of `padding_px` texels or more. The frame holds the texels beyond the
 * face's edges: those of the neighbours, rotated as the file says, at the face's own size. A bilinear lookup in the
 * page therefore crosses edges as a Ptex lookup does, on level 0 and on the log2 of so many smaller levels after it,
 * which are made from the faces' own smaller sizes. Levels smaller than those average pixels of the page, so there a
 * face mixes with its surroundings in the page. A face that is no larger than a pixel of one of these levels has the
 * average colour that the file stores.
 *
 * At the border of the mesh, unless the file specifies black, the frame mirrors the face.
 *
 * Pages are numbered as UDIM tiles are: page 0 is 1001, which covers texture coordinates from 0 to 1, and page 1 is
 * 1002. Pictures have their first row at the top; faces have v = 0 at the bottom.
 *
 * A face of a triangle mesh is the lower left half of a square of pixels whose diagonal is edge 1. These files hold two
 * triangular texels for each pixel of the square; the pixel is their average. The neighbour continues beyond the
 * diagonal.
 *
 * Faces of equal size that continue each other on the mesh lie side by side in a page, without frames between them, as
 * long as lookups do not tell the difference. Faces are turned by quarters for this, and so that more rectangles are
 * wide than high; those of files with tangent vectors are not. txm_ptex_place_corners tells how.
 *
 * A face is packed with at least padding_px and at most 2^15 texels a side; a constant one whose neighbours have the
 * same colour, with the least.
 *
 * NULL: as described in status.h; options may be NULL.
 *
 * Thread safety: any number of threads may read the same pages at once.
 */
#ifndef TXTILE_PTEX_PAGES_H
#define TXTILE_PTEX_PAGES_H

#include "txtile/export.h"
#include "txtile/ptex.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The positions of all faces in pages. */
typedef struct txm_ptex_pages txm_ptex_pages;

/* Options for packing faces. */
typedef struct txm_ptex_pages_options {
    size_t struct_size;    /* sizeof(txm_ptex_pages_options) */
    uint32_t page_px;      /* largest width and height of a page, unless a face needs more; 0: 4096 */
    uint32_t padding_px;   /* width of all frames: 1, 2, 4, 8 or 16; 0: at least 4, or 2 or 1 if pages would otherwise
                              have more than 1.15 times the texels of the faces, and up to 64, in proportion to the size
                              of faces, as long as pages do not have more; if they do in any case, the widest with which
                              they have at most 1.3 times as many, or 1 */
    uint32_t most_percent; /* with padding_px = 0, pages may have this many hundredths of the faces' texels instead, and
                              frames are at most 4 wide; 0: as above */
} txm_ptex_pages_options;

/* The result of packing. */
typedef struct txm_ptex_pages_info {
    uint32_t pages, padding_px; /* of the narrowest frame */
    uint32_t channels;          /* channels of the pages: 1 or 4 */
    bool has_alpha;             /* the file has alpha; otherwise a fourth channel is 1 */
    txm_type type;              /* the file's type */
    uint64_t face_pixels;       /* texels of the faces in the file */
    uint64_t block_pixels;      /* pixels of the faces with their frames */
    uint64_t page_pixels;       /* pixels of all pages; the excess over block_pixels is unused */
} txm_ptex_pages_info;

/* Packs the faces. NULL options: the defaults. The file must stay open until the pages are freed, and should be opened
 * with TXM_PTEX_PREMULTIPLY. USAGE for options out of bounds, TOO_LARGE if more pages are needed than there are UDIM
 * numbers (8999), NO_MEMORY. */
TXM_API txm_status txm_ptex_pages_new(const txm_ptex *ptex, const txm_ptex_pages_options *options, txm_ptex_pages **out,
                                      txm_error *err);
TXM_API void txm_ptex_pages_free(txm_ptex_pages **pages); /* NULL-safe; sets *pages to NULL */

/* The text is valid until the pages are freed. */
TXM_API const txm_ptex_pages_info *txm_ptex_pages_info_of(const txm_ptex_pages *pages);
/* The size of a page, px; 0 x 0 if the page does not exist. */
TXM_API void txm_ptex_page_size(const txm_ptex_pages *pages, uint32_t page, uint32_t *width, uint32_t *height);

/* The position of a face: columns x to x + width of a page, and rows y to y + height from its bottom. A face that is
 * turned by one or three quarters has its v along x. */
typedef struct txm_ptex_place {
    uint32_t page, x, y, width, height;
} txm_ptex_place;

/* Returns a face's position in *out. USAGE for a face that does not exist. */
TXM_API txm_status txm_ptex_place_of(const txm_ptex_pages *pages, uint32_t face, txm_ptex_place *out, txm_error *err);

/* The texture coordinates of a face's corners (0, 0), (1, 0), (1, 1) and (0, 1), as of txm_ptex_place_uv. */
TXM_API txm_status txm_ptex_place_corners(const txm_ptex_pages *pages, uint32_t face, double out[4][2], txm_error *err);

/* Converts the point (u, v) of a face to texture coordinates in the set of UDIM tiles, out[0] and out[1]. */
TXM_API txm_status txm_ptex_place_uv(const txm_ptex_pages *pages, uint32_t face, double u, double v, double out[2],
                                     txm_error *err);

/* Reads a rectangle of a level of a page, starting at column x and row y, counted from the top. Channels are
 * interleaved, in the pages' type. Each level is half as wide and high as the one before, rounded down. Pixels that
 * belong to no face have the average colour of the file. Colours are multiplied by alpha. USAGE if the rectangle is not
 * inside the page; other errors as txm_ptex_read. */
TXM_API txm_status txm_ptex_page_read(const txm_ptex_pages *pages, uint32_t page, uint32_t level, uint32_t x,
                                      uint32_t y, uint32_t width, uint32_t height, void *pixels,
                                      size_t row_stride_bytes, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
