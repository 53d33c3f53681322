/* SPDX-License-Identifier: Apache-2.0
 *
 * The faces of a Ptex file packed into pages: pictures that any renderer can look up with texture coordinates.
 *
 * Each face lies in a page with a frame of `padding_px` texels all round, which hold what lies beyond its edges: texels
 * of the neighbours, turned as the file says, at the face's own size. A bilinear lookup in the page therefore goes on
 * over edges as a Ptex lookup does, on level 0 and on the log2(padding_px) levels below it, which are made of the
 * faces' own smaller sizes. Levels below those are means of pixels of the page: there, faces mix with what lies beside
 * them in the page. A face that is no larger than a pixel of such a level has the mean colour that the file holds.
 *
 * Where the mesh ends and the file does not ask for black, the frame mirrors the face.
 *
 * Pages are numbered as UDIM tiles are: page 0 is 1001, which has texture coordinates from 0 to 1, page 1 is 1002.
 * Pictures have their first row at the top, faces at v = 0, the bottom.
 *
 * A face of a triangle mesh is the lower left half of a square of pixels, whose diagonal is edge 1. Such files hold two
 * triangular texels where the square has one pixel: it is their mean. Beyond the diagonal the neighbour goes on.
 *
 * A face is packed with padding_px texels a side at least, and 2^15 at most.
 *
 * NULL: as status.h says; options may be NULL.
 *
 * Thread safety: the same pages may be read from any number of threads at once.
 */
#ifndef TXTILE_PTEX_PAGES_H
#define TXTILE_PTEX_PAGES_H

#include "txtile/export.h"
#include "txtile/ptex.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Faces in their places. */
typedef struct txm_ptex_pages txm_ptex_pages;

/* How faces are packed. */
typedef struct txm_ptex_pages_options {
    size_t struct_size;  /* sizeof(txm_ptex_pages_options) */
    uint32_t page_px;    /* the most that a page is wide and high, unless a face needs more; 0: 4096 */
    uint32_t padding_px; /* 1, 2, 4, 8 or 16; 0: 4, or less where faces are so small that most of a page were frames */
} txm_ptex_pages_options;

/* What came of it. */
typedef struct txm_ptex_pages_info {
    uint32_t pages, padding_px;
    uint32_t channels;     /* of the pages: 1, or 4 */
    bool has_alpha;        /* the file has; otherwise a fourth channel is 1 */
    txm_type type;         /* as the file's */
    uint64_t face_pixels;  /* of the faces alone */
    uint64_t block_pixels; /* with their frames */
    uint64_t page_pixels;  /* of all pages; what is more than block_pixels is free */
} txm_ptex_pages_info;

/* NULL options: the defaults. The file must stay open as long; it should be open with TXM_PTEX_PREMULTIPLY. USAGE for
 * options out of bounds, TOO_LARGE for more pages than UDIM tiles have numbers (8999), NO_MEMORY. */
TXM_API txm_status txm_ptex_pages_new(const txm_ptex *ptex, const txm_ptex_pages_options *options, txm_ptex_pages **out,
                                      txm_error *err);
TXM_API void txm_ptex_pages_free(txm_ptex_pages **pages); /* NULL-safe; sets *pages to NULL */

/* Valid as long as the pages. */
TXM_API const txm_ptex_pages_info *txm_ptex_pages_info_of(const txm_ptex_pages *pages);
/* The size of a page, px; 0 x 0 beyond the last. */
TXM_API void txm_ptex_page_size(const txm_ptex_pages *pages, uint32_t page, uint32_t *width, uint32_t *height);

/* Where a face lies: columns x to x + width of a page, and rows y to y + height from its bottom. */
typedef struct txm_ptex_place {
    uint32_t page, x, y, width, height;
} txm_ptex_place;

/* USAGE for a face that is not there. */
TXM_API txm_status txm_ptex_place_of(const txm_ptex_pages *pages, uint32_t face, txm_ptex_place *out, txm_error *err);

/* Texture coordinates of a set of UDIM tiles, of the point (u, v) of a face: out[0] and out[1]. */
TXM_API txm_status txm_ptex_place_uv(const txm_ptex_pages *pages, uint32_t face, double u, double v, double out[2],
                                     txm_error *err);

/* A rectangle of a level of a page, columns from x, rows from y on, counted from the top: channels interleaved, in the
 * pages' type. A level is half as wide and high as the one before, rounded down. What no face covers has the mean
 * colour of the file. Colours are multiplied by alpha. USAGE beyond the page; as txm_ptex_read. */
TXM_API txm_status txm_ptex_page_read(const txm_ptex_pages *pages, uint32_t page, uint32_t level, uint32_t x,
                                      uint32_t y, uint32_t width, uint32_t height, void *pixels,
                                      size_t row_stride_bytes, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
