/* SPDX-License-Identifier: Apache-2.0
 * How densely an image's pixels lie and how wide they are, as OpenImageIO 3.1 reports it. */
#ifndef TXM_BASE_DENSITY_H
#define TXM_BASE_DENSITY_H
#include "tile/base/shared.h"

typedef struct txm_density {
    float aspect;  /* PixelAspectRatio; 0: not said */
    float x, y;    /* XResolution, YResolution: pixels a unit; 0: not said */
    char unit[16]; /* ResolutionUnit: "in", "inch", "cm", "m", "none"; "": not said */
} txm_density;

/* Forgets the numbers that no image has: those below or at 0, NaN, and those of 2^32 and above, infinity with them. */
TXM_SHARED void txm_density_drop_nonsense(txm_density *density);
#endif
