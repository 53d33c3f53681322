/* SPDX-License-Identifier: Apache-2.0
 *
 * The pyramid: rows of level 0 go in from the top, rows of every level above come out as soon as the level below has
 * what they need. Holds four rows per level and nothing of the image.
 *
 * Filtering runs in linear float32; where the image is sRGB-encoded, rows are decoded once on the way in and each
 * level is encoded on its way out. Levels above come from the float rows, not from what was stored (half: clamped to
 * its range).
 *
 * The room src/mill/pyramid makes levels and borders: pyramid.c decides which rows meet, latlong.c what is different on
 * a sphere, border.c gathers what lies around a tile. Arithmetic is src/tile/ops's.
 */
#ifndef TXM_PYRAMID_PYRAMID_H
#define TXM_PYRAMID_PYRAMID_H
#include <stdbool.h>

#include "tile/ops/ops.h"
#include "txtile/status.h"

typedef struct txm_pyramid_spec {
    uint32_t width, height; /* level 0, px */
    uint32_t channels;      /* 1 or 4 */
    txm_type type;
    bool srgb;        /* class scene-linear sRGB: filter in linear light */
    bool equiangular; /* latitude-longitude: rows weighted by their area, solid poles, matching left and right edges */
    bool closed;      /* equiangular, and level 0 has such poles and edges already: it was read from a tx file */
} txm_pyramid_spec;

/* Where rows go: `place` gives the storage of row y of a level (>= 1), width * channels samples; `placed` says that it
 * is filled. Rows of a level come in order. A NULL place means failure: push stops and returns false. */
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
#endif
