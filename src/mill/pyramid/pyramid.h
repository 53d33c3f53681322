/* SPDX-License-Identifier: Apache-2.0
 *
 * The pyramid takes rows of level 0 from the top, and outputs rows of every other level as soon as their source rows
 * are complete. It holds four rows per level. Filtering uses linear float32; rows of sRGB-encoded images are decoded
 * once, and each level is encoded when it is output. Levels are made from the float rows, not from stored ones (half
 * is clamped to its range).
 *
 * In this folder, pyramid.c decides which rows are combined, and border.c gathers the pixels around a tile.
 * src/tile/ops has the arithmetic.
 */
#ifndef TXM_PYRAMID_PYRAMID_H
#define TXM_PYRAMID_PYRAMID_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile/ops/ops.h"
#include "txtile/status.h"

typedef struct txm_pyramid_spec {
    uint32_t width, height; /* level 0, px */
    uint32_t channels;      /* 1 or 4 */
    txm_type type;
    txm_curve curve;  /* how class scene-linear sRGB is filtered in linear light; NONE for other classes */
    bool equiangular; /* latitude-longitude: rows weighted by their area, poles of one colour, matching left and right
                         edges */
    bool closed;   /* equiangular, and level 0 already has such poles and edges, because it was read from a tx file */
    uint32_t only; /* output this level, and make no further ones; 0: output all */
} txm_pyramid_spec;

/* The receiver of rows: `place` returns memory for row y of a level (>= 1), width * channels samples; `placed` is
 * called when it is filled. Rows of a level come in order. If `place` returns NULL, push stops and returns false. */
typedef struct txm_pyramid_sink {
    void *context;
    void *(*place)(void *context, uint32_t level, uint32_t y);
    void (*placed)(void *context, uint32_t level, uint32_t y);
} txm_pyramid_sink;

typedef struct txm_pyramid txm_pyramid;

txm_status txm_pyramid_new(const txm_pyramid_spec *spec, const txm_ops *ops, const txm_pyramid_sink *sink,
                           txm_pyramid **out, txm_error *err);

/* Takes the next `rows` rows of level 0, in storage type, stride_bytes apart. */
bool txm_pyramid_push(txm_pyramid *pyramid, const void *pixels, size_t stride_bytes, uint32_t rows);

void txm_pyramid_free(txm_pyramid **pyramid); /* NULL-safe */

/* The weight of the second of two rows if each is also weighted by the area that it covers on the sphere, sin(pi t),
 * where t is the row's centre divided by the height; `g` is the weight of the second row by position alone. */
float txm_latlong_weight(uint32_t first, uint32_t second, uint32_t height, float g);

/* Gives the pole rows (y == 0 and y == height - 1) one colour, their mean, and makes the left and right pixel of other
 * rows equal, since they are the same place. */
void txm_latlong_edges(float *row, uint32_t channels, uint32_t width, uint32_t y, uint32_t height);

/* The same for a row as it is stored. `scratch` has room for a row of floats, at least two pixels. */
void txm_latlong_stored_edges(const txm_ops *ops, txm_type type, uint32_t channels, void *row, uint32_t width,
                              uint32_t y, uint32_t height, float *scratch);
#endif
