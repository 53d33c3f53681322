/* SPDX-License-Identifier: Apache-2.0
 * Formats of images: which files are taken for one, by name and by their first bytes. */
#ifndef TXMILL_FORMAT_H
#define TXMILL_FORMAT_H

#include <stdbool.h>
#include <stddef.h>

#include "txtile/export.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Whether the extension of `path` is one of an image that txmill takes as a source. The file need not exist. NULL is no
 * image. */
TXM_API bool txm_is_image_name(const char *path);

/* What a file is by its first bytes, with an article: "a PNG image". 16 bytes are enough. NULL: not an image that can
 * be told by them, as Targa cannot. */
TXM_API const char *txm_image_noun(const void *head, size_t bytes);

/* Whether the extension of `name` is that of a format for viewing, 8 bits of what a screen shows, as PNG and JPEG are.
 * The others, OpenEXR and TIFF among them, hold values as they are stored. */
TXM_API bool txm_picture_is_for_viewing(const char *name);

#ifdef __cplusplus
}
#endif
#endif
