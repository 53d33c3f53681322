/* SPDX-License-Identifier: Apache-2.0
 * Converting images of one channel. */
#ifndef TXM_COLOR_GREY_H
#define TXM_COLOR_GREY_H
#include "txmill/color.h"

/* As txm_color_apply, for pixels whose three colours are equal before: *grey receives one value for each, the mean of
 * the three after conversion. `rgba` is overwritten, and may begin where `grey` does. */
void txm_color_apply_grey(const txm_color_space *space, float *rgba, float *grey, size_t count);
#endif
