/* SPDX-License-Identifier: Apache-2.0
 *
 * Declarations shared by the files that pack faces into pages: ptex_chart.c joins faces to charts, ptex_pack.c assigns
 * places to these, ptex_frame.c reads a face and the frame around it, and ptex_pages.c combines them into rectangles of
 * pages.
 */
#ifndef TXM_PTEX_PAGES_IMPL_H
#define TXM_PTEX_PAGES_IMPL_H
#include "tile/ptex/ptex_impl.h"
#include "txtile/ptex_pages.h"

/* The widest frame that options may ask for, and the widest that is chosen for large charts. */
enum { PTEX_MAX_PADDING_LOG2 = 4, PTEX_WIDEST_LOG2 = 6 };

/* Blocks of one size that fill a rectangle of a page. They are numbered column by column within a strip of `strip`
 * rows, one strip after another, so faces with adjacent numbers lie close together. */
typedef struct ptex_grid {
    uint32_t page, x, y; /* x and y of its corner; rows are counted from the bottom */
    uint32_t columns, rows, strip;
    uint32_t first; /* index of its first chart in `order` */
    uint8_t width_log2, height_log2, frame_log2;
} ptex_grid;

typedef struct ptex_page {
    uint32_t width, height;
    uint32_t first_grid, grids; /* range in `by_page` */
} ptex_page;

/* The column and row of a face in its chart, and by how many quarters it is turned there, counter-clockwise. */
typedef struct ptex_cell {
    uint32_t turn : 2, x : 15, y : 15;
} ptex_cell;

/* Where a face is packed, with how many texels, and how it is turned; all in 8 bytes, since scenes look places up. */
typedef struct ptex_spot {
    uint32_t x : 17, page : 14;
    uint32_t y : 17, width_log2 : 4, height_log2 : 4, turn : 2;
} ptex_spot;

struct txm_ptex_pages {
    const txm_ptex *ptex;
    txm_ptex_pages_info info;
    uint32_t padding_log2, widest_log2; /* of frames; faces are packed with at least 2^padding_log2 texels a side */
    ptex_grid *grids;                   /* sorted by `first` */
    size_t grid_count;
    uint32_t *by_page; /* indices of the grids of page 0, page 1 ... */
    ptex_page *pages;
    uint32_t
        *order; /* the index in `members` of each chart's first face; charts are sorted by the size of their blocks */
    uint32_t *members; /* the faces of each chart, row by row */
    ptex_spot *spots;  /* of each face */
    uint8_t mean[16];  /* a page's pixel of the file's average colour */
    uint64_t number;   /* of no other pages in this process */
};

/* The size at which a face is packed that is turned by this number of quarters. */
typedef struct ptex_packed {
    uint8_t width_log2, height_log2;
} ptex_packed;
ptex_packed txm_ptex_packed_size(const txm_ptex *p, uint32_t face, unsigned turn, uint32_t padding_log2);

/* The side of a block: a chart and its frame, rounded up to twice the frame's width. Blocks begin at multiples of that.
 */
static inline uint32_t txm_ptex_block_px(uint32_t log2, uint32_t frame_log2)
{
    return (1u << log2 > 2u << frame_log2 ? 1u << log2 : 2u << frame_log2) + (2u << frame_log2);
}

/* Faces that are being joined to charts. They are sorted and numbered anew, so that faces that are close on the mesh
 * are close in memory and in pages, whatever their order in the file. */
typedef struct ptex_charts {
    txm_ptex file;         /* the file with its faces in this order; only `info` and `faces` are used */
    uint32_t *number;      /* of each face in the file */
    uint32_t *curve;       /* bits of its column and row in a grid over the mesh, alternately */
    uint8_t *first_turn;   /* how it lies in this grid */
    ptex_cell *cells;      /* where it lies in its chart, */
    uint32_t *chart;       /* which has the name of the face in its lower left corner, */
    uint8_t (*log2)[2];    /* and columns and rows of the chart of this name */
    uint32_t *list;        /* room for one number a face */
    uint32_t padding_log2; /* faces have at least so many texels a side */
    uint32_t most_log2;    /* texels of a chart's side */
    bool turns;            /* faces may be turned */
} ptex_charts;
txm_status txm_ptex_sort_faces(const txm_ptex *ptex, ptex_charts *out, txm_error *err); /* NO_MEMORY */
void txm_ptex_charts_free(ptex_charts *charts);                                         /* also after a failure */
void txm_ptex_find_charts(ptex_charts *charts, uint32_t padding_log2, uint32_t page_px);

/* Fills in sizes, grids, pages and order. The narrowest frame has 2^least_log2 to 2^padding_log2 texels, and large
 * charts have wider ones: as wide as possible if pages are to have at most `wanted` times the texels of the faces, or
 * else at most `most` times as many, or else the narrowest. TOO_LARGE, NO_MEMORY. */
txm_status txm_ptex_pack(txm_ptex_pages *pages, uint32_t page_px, uint32_t least_log2, double wanted, double most,
                         txm_error *err);

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
