/* SPDX-License-Identifier: Apache-2.0
 *
 * The readers among which source.c chooses, and what they share. A reader is a table of functions (source.h) for one
 * format. The first bytes of a file choose a direct reader, which supports the common forms of its format; all others
 * are left to OpenImageIO, with the same pixels.
 */
#ifndef TXM_SOURCE_READERS_H
#define TXM_SOURCE_READERS_H
#include "mill/source/source.h"

/* One for each DIRECT of the table: txm_png_reader and so on. Their files say what they read. */
#define DIRECT(reader, ...) extern const txm_reader_ops txm_##reader##_reader;
#define FORMAT(...)
#include "mill/source/format_table.h"
#undef DIRECT
#undef FORMAT

/* Reads everything that OpenImageIO reads; tried last. */
extern const txm_reader_ops txm_oiio_reader;

/* Adds a copy of a descriptive field to `info`; empty values are left out. false if memory is exhausted. */
bool txm_source_keep(txm_source_info *info, const char *name, const char *value);
/* Frees the fields that were added, and zeroes `info`. */
void txm_source_forget(txm_source_info *info);

/* The interop ids for the first two code points of a cICP chunk (ITU-T H.273 primaries and transfer): of the space that
 * Blender sets for such an image, and of the one that Cycles uses for `auto`. NULL if there is none. */
void txm_interop_from_cicp(unsigned primaries, unsigned transfer, const char **loaded, const char **automatic);

/* Sets interop_id and colorspace_hint from the chunks of a PNG file before its pixels. `info` has what else matters:
 * the text that is the file's own hint, "" if it has none, and what Exif states. */
txm_status txm_png_read_color(const char *path, txm_source_info *info, txm_error *err);

/* Sets colorspace_hint for an encoding with this exponent (2.2). */
void txm_source_hint_gamma(txm_source_info *info, float exponent);
/* The offset at which the pixels of a DPX or Cineon file must end; 0 if unknown. */
uint64_t txm_film_pixel_end(const char *path, const txm_source_info *info);

#define TXM_INTEROP_ACES2065 "lin_ap0_scene"
#define TXM_INTEROP_LINEAR "lin_rec709_scene"
#define TXM_INTEROP_SRGB "srgb_rec709_scene"

/* The space in which Blender takes an EXR file when it loads it: by chromaticities of ACES2065-1 (red, green, blue,
 * white as x, y; NULL: none) or the flag of its container, else by its colorInteropID, else by the chromaticities of
 * XYZ. `auto` uses only the id. */
static inline const char *txm_exr_loaded_as(const float xy[8], bool aces_flag, const char *interop_id)
{
    static const float aces[8] = {0.7347f, 0.2653f, 0.0f, 1.0f, 0.0001f, -0.077f, 0.32168f, 0.33767f};
    static const float xyz[8] = {1.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 1.0f / 3.0f, 1.0f / 3.0f};
    bool is_aces = xy, is_xyz = xy;
    for (int i = 0; xy && i < 8; i++) {
        is_aces = is_aces && xy[i] - aces[i] < 1e-6f && aces[i] - xy[i] < 1e-6f;
        is_xyz = is_xyz && xy[i] - xyz[i] < 1e-6f && xyz[i] - xy[i] < 1e-6f;
    }
    return is_aces || aces_flag ? TXM_INTEROP_ACES2065 : *interop_id ? interop_id : is_xyz ? "Linear CIE-XYZ E" : "";
}
#endif
