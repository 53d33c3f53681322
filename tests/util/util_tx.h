/* SPDX-License-Identifier: Apache-2.0
 * Tx files as other programs write them, through libtiff and OpenEXRCore, and border sections appended to any file. */
#ifndef UTIL_TX_H
#define UTIL_TX_H
#include <stdbool.h>

#include "txtile/reader.h"
#include "util_writer.h"

typedef struct foreign_tiff {
    uint16_t compression, predictor; /* values of the tags */
    bool big_endian, big;            /* byte order; BigTIFF */
} foreign_tiff;

/* Each writes all levels of `image` (layout.compression is ignored) and aborts the test on failure. */
void write_foreign_tiff(const char *path, const made_image *image, foreign_tiff how);
void write_foreign_exr(const char *path, const made_image *image, int compression);

/* Appends the border section of `image` (border_gather, border encoder, section writer). */
void append_section(const char *path, const made_image *image);

/* A path in a folder of this process, which is removed with its content at exit. */
const char *temp_file(const char *name);

/* Reads the whole file; free() it. */
uint8_t *load_file(const char *path, size_t *bytes);
void save_file(const char *path, const void *data, size_t bytes);

/* Opens a tx file; the test fails if that fails. */
txm_tx *open_tx(const char *path);

/* A request for txm_tx_read_tile with these strides, followed by the members to set: REQUEST(out, 4, 256, .level = 1).
 */
#define REQUEST(out, pixel_stride, row_stride, ...)                                                                    \
    (&(txm_tx_request){.struct_size = sizeof(txm_tx_request),                                                          \
                       .pixels = (out),                                                                                \
                       .pixel_stride_bytes = (pixel_stride),                                                           \
                       .row_stride_bytes = (row_stride),                                                               \
                       __VA_ARGS__})

/* The padded window by its definition, from the level's pixels, tight: the caller frees it. */
uint8_t *brute_window(const made_image *image, uint32_t level, uint32_t x0, uint32_t y0, uint32_t w, uint32_t h,
                      uint32_t padding, txm_extension extension);
#endif
