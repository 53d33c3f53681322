/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations shared by the files that pack faces into pages: ptex_pack.c assigns places, ptex_frame.c reads a face
 * and the frame around it, and ptex_pages.c combines them into rectangles of pages.
 */
#ifndef TXM_PTEX_PAGES_IMPL_H
#define TXM_PTEX_PAGES_IMPL_H
#include "tile/ptex/ptex_impl.h"
#include "txtile/ptex_pages.h"

/* Blocks of one size that fill a rectangle of a page. They are numbered column by column within a strip of `strip`
 * rows, one strip after another, so faces with adjacent numbers lie close together. */
typedef struct ptex_grid {
    uint32_t page, x, y; /* x and y of its corner; rows are counted from the bottom */
    uint32_t columns, rows, strip;
    uint32_t first; /* index of its first face in `order` */
    uint8_t u_log2, v_log2;
} ptex_grid;

typedef struct ptex_page {
    uint32_t width, height;
    uint32_t first_grid, grids; /* range in `by_page` */
} ptex_page;

struct txm_ptex_pages {
    const txm_ptex *ptex;
    txm_ptex_pages_info info;
    uint32_t padding_log2;
    ptex_grid *grids; /* sorted by `first` */
    size_t grid_count;
    uint32_t *by_page; /* indices of the grids of page 0, page 1 ... */
    ptex_page *pages;
    uint32_t *order;  /* face numbers, sorted by the size of their blocks */
    uint32_t *rank;   /* position of each face in `order` */
    uint8_t mean[16]; /* a page's pixel of the file's average colour */
    uint64_t number;  /* of no other pages in this process */
};

/* The size at which a face is packed. */
typedef struct ptex_packed {
    uint8_t u_log2, v_log2;
} ptex_packed;
ptex_packed txm_ptex_packed_size(const txm_ptex *p, uint32_t face, uint32_t padding_log2);

/* Fills in sizes, grids, pages and order. TOO_LARGE, NO_MEMORY. */
txm_status txm_ptex_pack(txm_ptex_pages *pages, uint32_t page_px, txm_error *err);

/* Access to the texels of a face at 2^u_log2 x 2^v_log2, which may be larger than the face, as one piece or tile by
 * tile. */
typedef struct ptex_window {
    txm_ptex_filter *filter;
    uint32_t face, u_shift, v_shift, u_log2, v_log2; /* shifts: log2 of the requested size over that of the face */
    uint32_t tile_u_log2, tile_v_log2;
    bool tiled, constant;
    const uint8_t *data;
    uint32_t tile; /* the tile in `data` */
} ptex_window;
/* Large faces that are stored in tiles are read tile by tile; the window then has no data yet. */
txm_status txm_ptex_open_window(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2,
                                ptex_window *out, txm_error *err);
/* Returns the texel at (x, y) and the number of texels that are contiguous to its right in memory, including itself. */
txm_status txm_ptex_window_texel(ptex_window *window, uint32_t x, uint32_t y, const uint8_t **out, uint32_t *run,
                                 txm_error *err);

/* Rows and columns are counted from a face's lower left corner; in the frame, they are negative or beyond the face's
 * size. */
typedef struct ptex_part {
    int x, y, width, height;
} ptex_part;

/* Reads a part of a face at 2^u_log2 x 2^v_log2 texels, surrounded by a frame of `frame` texels. The result has texels
 * as in the file, with rows from the bottom. */
txm_status txm_ptex_read_framed(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2,
                                const ptex_part *part, uint8_t *out, size_t row_bytes, txm_error *err);
#endif
