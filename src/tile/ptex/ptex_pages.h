/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts that pack faces into pages share: ptex_pack.c chooses places, ptex_frame.c gives the texels of a face
 * and of the frame round it, ptex_pages.c puts them together to rectangles of pages.
 */
#ifndef TXM_PTEX_PAGES_IMPL_H
#define TXM_PTEX_PAGES_IMPL_H
#include <pthread.h>

#include "tile/ptex/ptex_impl.h"
#include "txtile/ptex_pages.h"

/* Blocks of one size that fill a rectangle of a page. They are counted down the columns of a strip of `strip` rows,
 * then strip after strip, so that faces whose numbers are near lie near each other. */
typedef struct ptex_grid {
    uint32_t page, x, y; /* rows from the bottom */
    uint32_t columns, rows, strip;
    uint32_t first; /* in the order of faces */
    uint8_t u_log2, v_log2;
} ptex_grid;

typedef struct ptex_page {
    uint32_t width, height;
    uint32_t first_grid, grids; /* in `by_page` */
} ptex_page;

struct txm_ptex_pages {
    const txm_ptex *ptex;
    txm_ptex_pages_info info;
    uint32_t padding_log2;
    ptex_grid *grids; /* by `first` */
    size_t grid_count;
    uint32_t *by_page; /* grids of page 0, page 1 ... */
    ptex_page *pages;
    uint32_t *order;  /* faces, by the size of their blocks */
    uint32_t *rank;   /* of each face in the order */
    uint8_t mean[16]; /* of the file: a pixel of a page */
    pthread_mutex_t lock;
    struct ptex_reader *idle; /* under the lock: readers that nobody uses at the moment */
};

/* How large a face is packed. */
typedef struct ptex_packed {
    uint8_t u_log2, v_log2;
} ptex_packed;
ptex_packed txm_ptex_packed_size(const txm_ptex *p, uint32_t face, uint32_t padding_log2);

/* Fills in sizes, grids, pages and order. TOO_LARGE, NO_MEMORY. */
txm_status txm_ptex_pack(txm_ptex_pages *pages, uint32_t page_px, txm_error *err);

/* Texels of a face at 2^u_log2 x 2^v_log2, which may be more than it has, in one tile or piece. */
typedef struct ptex_window {
    txm_ptex_filter *filter;
    uint32_t face, u_shift, v_shift, u_log2, v_log2; /* shifts: what is wanted is finer by */
    uint32_t tile_u_log2, tile_v_log2;
    bool tiled, constant;
    const uint8_t *data;
    uint32_t tile; /* that `data` is */
} ptex_window;

/* Rows and columns count from a face's lower left corner, and are below 0 or beyond its size in the frame. */
typedef struct ptex_part {
    int x, y, width, height;
} ptex_part;

/* A part of a face at 2^u_log2 x 2^v_log2 texels with `frame` more all round: texels as the file has them, rows from
 * the bottom. */
txm_status txm_ptex_read_framed(txm_ptex_filter *filter, uint32_t face, uint32_t u_log2, uint32_t v_log2,
                                const ptex_part *part, uint8_t *out, size_t row_bytes, txm_error *err);
#endif
