/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages as pictures, written row by row, so no page is held in memory as a whole.
 *
 * Rows are passed from the top, interleaved, in the page's type, in bands whose heights are multiples of
 * PAGE_BAND_ROWS, except for the last. The file is written from its beginning through a descriptor.
 */
#ifndef TXM_UNWRAP_PAGE_H
#define TXM_UNWRAP_PAGE_H
#include "txtile/pixel.h"
#include "txtile/status.h"

enum { PAGE_BAND_ROWS = 16 }; /* rows of a chunk of a zipped EXR */

typedef struct page_shape {
    const char *name; /* for messages */
    const char *mark; /* TXM_PICTURE_MARK and the inputs of the page */
    int fd;
    uint32_t width, height, channels; /* 1, 3 or 4 */
    txm_type type;
} page_shape;

typedef struct page_format {
    const char *extension;
    /* The caller closes *writer even if this fails. */
    txm_status (*begin)(const page_shape *shape, void **writer, txm_error *err);
    txm_status (*rows)(void *writer, const void *rows, size_t row_bytes, uint32_t count, txm_error *err);
    txm_status (*end)(void *writer, txm_error *err);
    void (*close)(void *writer);
} page_format;

extern const page_format txm_page_png; /* 8 and 16 bits */
extern const page_format txm_page_exr; /* half and float */
#endif
