/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in config, embedded from builtin.ocio.
 *
 * It holds the scene-linear and display spaces of Blender's default config under the same names, without what needs
 * look-up tables: those are listed here with the reason and the way out.
 *
 * Apart from config.c because the program that makes known.inc (generate/known.c) is linked with it: the config
 * must be there before the tables that are made from it.
 */
#include "color/builtin.h"

const char txm_builtin_config[] = {
#include "color/builtin.inc"
};
const size_t txm_builtin_config_bytes = sizeof txm_builtin_config;

/* Blender names these too, but they are rendered pictures, not scenes: no texture is in them, and undoing a tone curve
 * needs look-up tables. Listed so that asking for one is answered with the reason and the ways out. */
#define VIEW                                                                                                           \
    "a view transform, which needs look-up tables: give Blender's own config with --ocio "                             \
    "(datafiles/colormanagement/config.ocio in Blender's folder)"
#define OR_SRGB ", or say sRGB, which textures saved through it are in"
const txm_builtin_missing txm_builtin_missing_spaces[] = {
    {"ACES 1.3 sRGB", VIEW OR_SRGB},
    {"ACES 2.0 sRGB", VIEW " and use OpenColorIO 2.4 or newer" OR_SRGB},
    {"AgX Base sRGB", VIEW OR_SRGB},
    {"Filmic sRGB", VIEW OR_SRGB},
    {"Khronos PBR Neutral sRGB", VIEW OR_SRGB},
};
const size_t txm_builtin_missing_count = sizeof txm_builtin_missing_spaces / sizeof txm_builtin_missing_spaces[0];
