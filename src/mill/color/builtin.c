/* SPDX-License-Identifier: Apache-2.0
 *
 * The built-in config, embedded from builtin.ocio. It has the spaces of Blender's default config under the same names,
 * except those that need Blender's lookup tables: these are listed here with the reason and what to do, and come from
 * a Blender in PATH if there is one (blenders.c). This is not part of config.c, because the program that generates
 * known.inc (generate/known.c) is linked with it: the config must exist before the tables that are made from it.
 */
#include "mill/color/known.h"

const char txm_builtin_config[] = {
#include "color/builtin.inc"
};
const size_t txm_builtin_config_bytes = sizeof txm_builtin_config;

/* Most are view transforms: images saved through them are pictures and not scenes, and undoing their tone curves needs
 * lookup tables. They are listed so that a request for one is answered with the reason and what to do. */
#define BLENDERS_OWN                                                                                                   \
    "add Blender's folder to PATH, or name Blender's own config with --ocio (datafiles/colormanagement/config.ocio "   \
    "in that folder)"
#define VIEW "a view transform, which needs lookup tables: " BLENDERS_OWN
#define OR_SRGB ", or use sRGB, in which textures saved through it are encoded"
const txm_builtin_missing txm_builtin_missing_spaces[] = {
    {"ACES 2.0 sRGB",
     "a view transform, which needs OpenColorIO 2.4 or newer: use a txmill that is built with it" OR_SRGB,
     {NULL}},
    {"AgX Base sRGB", VIEW OR_SRGB, {NULL}},
    {"Filmic sRGB", VIEW OR_SRGB, {NULL}},
    {"Khronos PBR Neutral sRGB", VIEW OR_SRGB, {NULL}},
    {"Luminance Compensation Rec.2020",
     "it needs a lookup table: " BLENDERS_OWN,
     {"blender:luminancecompensation_rec2020_scene", "Luminance Compensation BT.2020"}},
};
const size_t txm_builtin_missing_count = sizeof txm_builtin_missing_spaces / sizeof txm_builtin_missing_spaces[0];
