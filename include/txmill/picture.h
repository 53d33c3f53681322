/* SPDX-License-Identifier: Apache-2.0
 * Writing pictures in any format that OpenImageIO writes. */
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

/* The text in the metadata of pictures that txmill wrote, in formats that have metadata, by which they are recognised.
 * The digest of the file follows it (TXM_OUT_FILE_SEAL), since programs that edit pictures keep their metadata. */
#define TXM_PICTURE_MARK "txmill picture"

/* A picture to write, rows from the top; nothing in it is owned. */
typedef struct txm_picture {
    const void *pixels; /* channels interleaved, rows stride_bytes apart */
    size_t stride_bytes;
    uint32_t width, height, channels;
    txm_type type;
    const char *colorspace; /* colour space, as OpenImageIO names it ("sRGB", "Linear"); NULL: unspecified */
} txm_picture;

/* Writes a picture to `path`, whose folder must exist; it appears complete or not at all. The extension chooses the
 * format, any that OpenImageIO writes. Types that the format lacks are converted; an alpha channel that it lacks is
 * left out, with alpha taken as associated. A worker process encodes it, so that a crash in an encoder fails this call
 * only. UNSUPPORTED if no format has that extension; NOT_INSTALLED without OpenImageIO; DENIED, IO, DISK_FULL,
 * NO_MEMORY. */
TXM_API txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err);

/* The same into memory: free *file with free(). The extension of `name` chooses the format. */
TXM_API txm_status txm_picture_encode(const char *name, const txm_picture *picture, unsigned char **file,
                                      size_t *file_bytes, txm_error *err);

#ifdef __cplusplus
}
#endif
#endif
