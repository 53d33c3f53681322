/* SPDX-License-Identifier: Apache-2.0
 *
 * The readers that source.c asks, and what they share.
 *
 * A reader is a table of functions (reader.h) for one format. source.c tries them in the order of its table;
 * each looks at the first bytes and either takes the file or leaves it. The direct ones are fast and know the
 * common forms of their format; what they do not take is OpenImageIO's, with the same pixels.
 */
#ifndef TXM_SOURCE_READERS_H
#define TXM_SOURCE_READERS_H
#include "source/source.h"

/* PNG that is not interlaced. */
extern const txm_reader_ops txm_png_reader;

/* JPEG in grey or colour, not CMYK. */
extern const txm_reader_ops txm_jpeg_reader;

/* EXR of one part, compressed without loss. */
extern const txm_reader_ops txm_exr_reader;

/* TIFF with contiguous grey or RGB samples, compressed without loss. */
extern const txm_reader_ops txm_tiff_reader;

/* WebP. */
extern const txm_reader_ops txm_webp_reader;

/* PGM and PPM, plain and binary. */
extern const txm_reader_ops txm_pnm_reader;

/* Radiance pictures, runs of both kinds. */
extern const txm_reader_ops txm_hdr_reader;

/* Everything that OpenImageIO reads: asked last. */
extern const txm_reader_ops txm_oiio_reader;

/* Adds a copy of a descriptive field to `info`; empty values are left out. False when memory is exhausted. */
bool txm_source_keep(txm_source_info *info, const char *name, const char *value);
/* Frees what was kept, and zeroes the rest. */
void txm_source_forget(txm_source_info *info);

/* The interop id for the first two code points of a cICP chunk (ITU-T H.273 primaries and transfer); matrix and range
 * do not matter, decoders deliver full-range RGB. "" where no interop id says the same. */
const char *txm_interop_from_cicp(unsigned primaries, unsigned transfer);

/* Looks for the cICP chunk of a PNG file before its pixels; "" if there is none (or no PNG). */
const char *txm_interop_of_png(const char *path);
/* Where the pixels of a DPX or Cineon file must end, bytes from its start; 0 where that is not known. */
uint64_t txm_film_pixel_end(const char *path, const txm_source_info *info);

/* Whether chromaticities (red, green, blue, white as x, y) are those of ACES2065-1: such an EXR file counts as being in
 * that space, whatever else it says. */
static inline bool txm_is_aces2065(const float xy[8])
{
    static const float aces[8] = {0.7347f, 0.2653f, 0.0f, 1.0f, 0.0001f, -0.077f, 0.32168f, 0.33767f};
    for (int i = 0; i < 8; i++)
        if (!(xy[i] - aces[i] < 1e-6f && aces[i] - xy[i] < 1e-6f))
            return false;
    return true;
}
#define TXM_INTEROP_ACES2065 "lin_ap0_scene"
#endif
