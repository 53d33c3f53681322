/* SPDX-License-Identifier: Apache-2.0
 * Latitude-longitude images: how they differ from a flat pyramid, in the arithmetic of Cycles (float32). */
#ifndef TXM_PYRAMID_LATLONG_H
#define TXM_PYRAMID_LATLONG_H
#include <stddef.h>
#include <stdint.h>

#include "tile/ops/ops.h"

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
