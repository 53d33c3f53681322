/* SPDX-License-Identifier: Apache-2.0
 * The density and aspect of an image's pixels, as OpenImageIO 3.1 reports them. */
#ifndef TXM_TERMS_DENSITY_H
#define TXM_TERMS_DENSITY_H
#include "base/shared.h"

typedef struct txm_density {
    float aspect;  /* PixelAspectRatio; 0: unknown */
    float x, y;    /* XResolution, YResolution: pixels per unit; 0: unknown */
    char unit[16]; /* ResolutionUnit: "in", "inch", "cm", "m", "none"; "": unknown */
} txm_density;

/* Clears impossible numbers: those that are 0 or negative, NaN, and those from 2^32 on, including infinity. */
TXM_SHARED void txm_density_drop_nonsense(txm_density *density);
#endif
