/* SPDX-License-Identifier: Apache-2.0
 *
 * OpenEXR images of luminance and subsampled chroma (channels Y, RY, BY), which OpenImageIO reads only since 3.1, and
 * only if their data window begins at 0. OpenEXR's own RGBA interface converts them to colours, as halves. Cycles
 * reads such files as colours, so a reader that delivered only Y would give another picture. Files that OpenImageIO
 * reads correctly are left to it.
 */
#ifndef TXM_SOURCE_LUMINANCE_CHROMA_H
#define TXM_SOURCE_LUMINANCE_CHROMA_H
#include <memory>
#include <OpenImageIO/imageio.h>
#include <string>

enum class Chroma {
    NONE,    /* left to OpenImageIO: other channels, all of full size, or not a readable OpenEXR image */
    SERVED,  /* chroma of half the width and height with Y, and optionally A */
    REFUSED, /* other luminance and chroma, for instance in a layer, or other subsampled channels */
};

Chroma chroma_of(const std::string &path);

/* Reads the first part of the file as an RGB or RGBA image of halves. */
std::unique_ptr<OIIO::ImageInput> luminance_chroma_input();

#endif
