/* SPDX-License-Identifier: Apache-2.0
 * The density and aspect of an image's pixels, as OpenImageIO 3.1 reports them. */
#ifndef TXM_TERMS_DENSITY_H
#define TXM_TERMS_DENSITY_H

typedef struct txm_density {
    float aspect;  /* PixelAspectRatio; 0: unknown */
    float x, y;    /* XResolution, YResolution: pixels per unit; 0: unknown */
    char unit[16]; /* ResolutionUnit: "in", "inch", "cm", "m", "none"; "": unknown */
} txm_density;

/* Clears impossible numbers: those that are 0 or negative, NaN, and those from 2^32 on, including infinity. */
static inline void txm_density_drop_nonsense(txm_density *density)
{
    float *numbers[] = {&density->aspect, &density->x, &density->y};
    for (int i = 0; i < 3; i++)
        if (!(*numbers[i] > 0 && *numbers[i] < 4294967296.0f)) /* also true for NaN */
            *numbers[i] = 0;
}
#endif
