/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings that a Blender scene holds for an image that was just loaded: what `default` means.
 */
#ifndef TXM_SOURCE_DEFAULTS_H
#define TXM_SOURCE_DEFAULTS_H
#include "mill/source/source.h"
#include "txmill/color.h"
#include "txtile/settings.h"

/* Colour space and alpha type as Blender sets them when it loads `path`. Colour space: the file's own colour metadata
 * if the config knows it, else a file rule of the config that really matches, else role default_float or default_byte
 * by format. Alpha: premultiplied for formats that always are (and 4-channel 16-bit TIFF), channel_packed for data,
 * else by extension. *colorspace points into `config`. Either output may be NULL. COLORSPACE when the config has no
 * such role. */
txm_status txm_source_scene_defaults(const txm_source_info *info, const char *path, const txm_color_config *config,
                                     const char **colorspace, txm_alpha *alpha);

/* The space of the pixels for colour space `auto` (a rule of its own, Cycles' and not Blender's): what OpenImageIO 3.1
 * says of the file if the config knows it, else role default_float for half and float samples, default_byte for
 * integers. NULL when the config has no such role. An interop id stays one: points into `info` or `config`. */
const char *txm_source_auto_space(const txm_source_info *info, const txm_color_config *config);

#endif
