/* SPDX-License-Identifier: Apache-2.0
 * The callbacks of txm_blend_open for a colour config. */
#ifndef TXM_BLEND_COLORS_H
#define TXM_BLEND_COLORS_H
#include "color/color.h"
#include "txmill/blend.h"

/* The config must outlive the call of txm_blend_open. */
txm_blend_colors txm_blend_colors_of(const txm_color_config *config);
#endif
