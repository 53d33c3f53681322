/* SPDX-License-Identifier: Apache-2.0
 * Recognising image files by their name and by their first bytes. */
#ifndef TXMILL_FORMAT_H
#define TXMILL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "txtile/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the extension of `path` is that of an image format which txmill converts. The file need not exist. false for
 * NULL. */
TXM_API bool txm_is_image_name(const char *path);

/* The extensions of a format that txmill converts, in lower case and separated by blanks, such as "jpg jpeg jpe"; ""
 * for a format without any. NULL if `index`, which counts from 0, is beyond the last format. */
TXM_API const char *txm_image_extensions(size_t index);

/* Names the format of a file from its first bytes, with an article: "a PNG image". 16 bytes are enough. NULL if they
 * match no format; some formats, such as Targa, cannot be recognised this way. */
TXM_API const char *txm_image_noun(const void *head, size_t bytes);

/* Whether the extension of `name` is that of a format for viewing, such as PNG or JPEG, into which txm_extract writes 8
 * bits through the sRGB curve. Into all others, such as OpenEXR and TIFF, it writes values as they are stored. */
TXM_API bool txm_picture_is_for_viewing(const char *name);

#ifdef __cplusplus
}
#endif
#endif
