/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in config, embedded from builtin.ocio.
 *
 * It holds the spaces of Blender's default config under the same names, without what needs Blender's lookup tables:
 * those are listed here with the reason and the way out, and come from a Blender in PATH where there is one
 * (blenders.c).
 *
 * Apart from config.c because the program that makes known.inc (generate/known.c) is linked with it: the config
 * must be there before the tables that are made from it.
 */
#include "mill/color/builtin.h"

const char txm_builtin_config[] = {
#include "color/builtin.inc"
};
const size_t txm_builtin_config_bytes = sizeof txm_builtin_config;

/* Most are views: pictures that were rendered, not scenes, and undoing their tone curves needs lookup tables. Listed
 * so that asking for one is answered with the reason and the ways out. */
#define BLENDERS_OWN                                                                                                   \
    "put Blender's folder into PATH, or give Blender's own config with --ocio (datafiles/colormanagement/config.ocio " \
    "in that folder)"
#define VIEW "a view transform, which needs lookup tables: " BLENDERS_OWN
#define OR_SRGB ", or say sRGB, which textures saved through it are in"
const txm_builtin_missing txm_builtin_missing_spaces[] = {
    {"ACES 2.0 sRGB", NULL,
     "a view transform, which needs OpenColorIO 2.4 or newer: use a txmill that is built with it" OR_SRGB},
    {"AgX Base sRGB", NULL, VIEW OR_SRGB},
    {"Filmic sRGB", NULL, VIEW OR_SRGB},
    {"Khronos PBR Neutral sRGB", NULL, VIEW OR_SRGB},
    {"Luminance Compensation Rec.2020", "Luminance Compensation BT.2020", "it needs a lookup table: " BLENDERS_OWN},
};
const size_t txm_builtin_missing_count = sizeof txm_builtin_missing_spaces / sizeof txm_builtin_missing_spaces[0];
