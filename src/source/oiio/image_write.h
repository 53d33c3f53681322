/* SPDX-License-Identifier: Apache-2.0
 * Writing a picture in any format that OpenImageIO writes, for people to look at: tiles, levels, differences. */
#ifndef TXM_SOURCE_IMAGE_WRITE_H
#define TXM_SOURCE_IMAGE_WRITE_H
#include <stddef.h>
#include <stdint.h>

#include "txmill/pixel.h"
#include "txmill/status.h"

typedef struct txm_picture {
    const void *pixels; /* channels interleaved, rows stride_bytes apart */
    size_t stride_bytes;
    uint32_t width, height, channels;
    txm_type type;
    const char *colorspace; /* what its values are, as OpenImageIO names it ("sRGB", "Linear"); NULL: says nothing */
} txm_picture;

/* The extension of `path` chooses the format; what the format cannot hold is converted (types) or left out (alpha).
 * Alpha is taken as associated. Loads the OpenImageIO module into this process. On failure no file is left behind.
 * UNSUPPORTED when no format has that extension or the module is missing. */
txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err);
#endif
