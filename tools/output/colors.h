/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether colours are exactly Blender's.
 *
 * The arithmetic of OpenColorIO's transforms changes between minor versions. With the version in Blender the results
 * are Blender's; with another one some values differ by a rounding step. Values that are not converted - sRGB,
 * scene-linear and data - are the same with any version. The differences listed in txmill-tx(5) remain in all cases.
 */
#ifndef TXM_TOOLS_OUTPUT_COLORS_H
#define TXM_TOOLS_OUTPUT_COLORS_H
#include <stdbool.h>
#include <stddef.h>

/* Whether the OpenColorIO in use has the same minor version as Blender's. */
bool txm_colors_exact(void);

/* "2.5.0, as in Blender 5.2: ..." and the like. */
void txm_colors_describe(char *out, size_t out_bytes);

/* A sentence about a run that converted `images` with another OpenColorIO. */
void txm_colors_differ(size_t images, char *out, size_t out_bytes);
#endif
