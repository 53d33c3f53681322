/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether colours are exactly Blender's.
 *
 * Transforms are OpenColorIO's, whose arithmetic changes from one minor version to the next: with the version that
 * Blender has results are Blender's, with another one a rounding step away from them, at some values. What OpenColorIO
 * does not touch, sRGB, scene-linear and data, is exact with any. What txmill-tx(5) lists differs by intent in both.
 */
#ifndef TXM_TOOLS_OUTPUT_COLORS_H
#define TXM_TOOLS_OUTPUT_COLORS_H
#include <stdbool.h>
#include <stddef.h>

/* Whether the OpenColorIO in use has the minor version that Blender has. */
bool txm_colors_exact(void);

/* "2.5.0, as in Blender 5.2: ..." and the like. */
void txm_colors_describe(char *out, size_t out_bytes);

/* What a run that converted `images` with another OpenColorIO has to say of them, as one sentence. */
void txm_colors_differ(size_t images, char *out, size_t out_bytes);
#endif
