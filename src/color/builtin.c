/* SPDX-License-Identifier: Apache-2.0
 * The built-in config, embedded from builtin.ocio. */
#include "color/builtin.h"

const char txm_builtin_config[] = {
#include "color/builtin.inc"
};
const size_t txm_builtin_config_bytes = sizeof txm_builtin_config;

/* Blender names these too, but they are rendered pictures, not scenes: no texture is in them, and undoing a tone curve
 * needs look-up tables. Listed so that asking for one is answered with the reason. */
#define VIEW "a view transform for displays, which needs look-up tables; a texture saved through it is in sRGB"
const txm_builtin_missing txm_builtin_missing_spaces[] = {
    {"ACES 1.3 sRGB", VIEW},
    {"ACES 2.0 sRGB", VIEW},
    {"AgX Base sRGB", VIEW},
    {"Filmic sRGB", VIEW},
    {"Khronos PBR Neutral sRGB", VIEW},
};
const size_t txm_builtin_missing_count = sizeof txm_builtin_missing_spaces / sizeof txm_builtin_missing_spaces[0];
