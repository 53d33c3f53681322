/* SPDX-License-Identifier: Apache-2.0
 * Pictures as files, in any format that OpenImageIO writes. */
#ifndef TXMILL_PICTURE_H
#define TXMILL_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#include "txtile/export.h"
#include "txtile/pixel.h"
#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What tells a picture that txmill wrote from one of somebody's own: in the metadata, where the format has any. */
#define TXM_PICTURE_MARK "txmill picture"

/* A picture to write, rows from the top; nothing in it is owned. */
typedef struct txm_picture {
    const void *pixels; /* channels interleaved, rows stride_bytes apart */
    size_t stride_bytes;
    uint32_t width, height, channels;
    txm_type type;
    const char *colorspace; /* what its values are, as OpenImageIO names it ("sRGB", "Linear"); NULL: says nothing */
} txm_picture;

/* Writes a picture under `path`, whose folder must be there, whole or not at all. The extension chooses the format, any
 * that OpenImageIO writes; what the format cannot hold is converted (types) or left out (alpha, which is taken as
 * associated). A worker process does it: an encoder that crashes costs the picture only. UNSUPPORTED when no format has
 * that extension or OpenImageIO is missing; DENIED, IO, DISK_FULL, NO_MEMORY. */
TXM_API txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err);

/* The same in memory, which *file receives: to be freed with free(). The extension of `name` chooses the format. */
TXM_API txm_status txm_picture_encode(const char *name, const txm_picture *picture, unsigned char **file,
                                      size_t *file_bytes, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
