/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenEXR images of luminance and subsampled chroma (channels Y, RY, BY), which OpenImageIO reads since 3.1 alone, and
 * not where their data window is elsewhere than at 0. OpenEXR's own RGBA interface makes the colours, as halves.
 *
 * Cycles reads such files as colours, so a reader that delivered Y alone would give another picture. Files that
 * OpenImageIO serves rightly are left to it.
 */
#ifndef TXM_SOURCE_LUMINANCE_CHROMA_H
#define TXM_SOURCE_LUMINANCE_CHROMA_H
#include <memory>
#include <OpenImageIO/imageio.h>
#include <string>

enum class Chroma {
    NONE,    /* OpenImageIO's: other channels, all of full size, or no OpenEXR image that can be read */
    SERVED,  /* chroma of half the width and height beside Y, and perhaps A */
    REFUSED, /* luminance and chroma otherwise, in a layer for instance, or other subsampled channels */
};

Chroma chroma_of(const std::string &path);

/* The first part of the file as an RGB or RGBA image of halves. */
std::unique_ptr<OIIO::ImageInput> luminance_chroma_input();

#endif
