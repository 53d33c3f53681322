/* SPDX-License-Identifier: Apache-2.0
 *
 * The settings that Blender gives an image when it loads it: the meaning of `default`.
 */
#ifndef TXM_SOURCE_DEFAULTS_H
#define TXM_SOURCE_DEFAULTS_H
#include "mill/source/source.h"
#include "txmill/color.h"
#include "txtile/settings.h"

/* Colour space and alpha type that Blender sets when it loads `path`. The colour space is what the file's metadata
 * state if the config has it, else that of a matching file rule other than the default one, else that of role
 * default_float or default_byte, by format. Alpha is premultiplied for formats that always are (and 4-channel 16-bit
 * TIFF), channel_packed for data, else by extension. *colorspace points into `config`. Either output may be NULL.
 * COLORSPACE if the config lacks the role. */
txm_status txm_source_scene_defaults(const txm_source_info *info, const char *path, const txm_color_config *config,
                                     const char **colorspace, txm_alpha *alpha);

/* The same for an image that is not opened, if its format alone decides: one that only OpenImageIO reads, and whose
 * metadata Blender does not trust. false if the file has to be opened, or has other first bytes than its extension. */
bool txm_source_format_defaults(const char *path, const txm_color_config *config, const char **colorspace,
                                txm_alpha *alpha);

/* The space of the pixels for colour space `auto`, by a rule of Cycles and not of Blender: what OpenImageIO 3.1 reports
 * for the file if the config has it, else role default_float for half and float samples, default_byte for integers.
 * NULL if the config lacks the role. An interop id is returned as such. Points into `info` or `config`. */
const char *txm_source_auto_space(const txm_source_info *info, const txm_color_config *config);

#endif
