/* SPDX-License-Identifier: Apache-2.0
 *
 * The reference for the sampler: whole levels decoded in memory, with each tap passed through txm_extend, without
 * tiles or padding.
 */
#ifndef UTIL_WHOLE_H
#define UTIL_WHOLE_H
#include "txtile/sampler.h"

typedef struct whole_image {
    uint32_t width, height, levels, tiled_levels, channels;
    txm_type type;
    txm_extension extension;
    uint8_t *pixels[TXM_MAX_LEVELS]; /* tight */
} whole_image;

/* Reads all levels of a tx file; aborts the test on failure. */
whole_image whole_read(const char *path, txm_extension extension);
void whole_free(whole_image *image);

/* As txm_sample_d (du and dv may be NULL) with everything resident; `random` is as in a lookup state. */
void whole_sample(const whole_image *image, const txm_sampler *how, const txm_lookup *at, uint32_t *random,
                  float out[4], float *du, float *dv);
#endif
