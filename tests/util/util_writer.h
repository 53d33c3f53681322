/* SPDX-License-Identifier: Apache-2.0
 * Images generated for tests, and writing them as tx files with only the tile encoder and the writer. */
#ifndef UTIL_WRITER_H
#define UTIL_WRITER_H
#include "mill/write/writer.h"

typedef struct made_image {
    txm_tx_layout layout;
    uint8_t *levels[TXM_MAX_LEVELS]; /* tight, channels interleaved; each level has its own content */
} made_image;

/* The content of a generated image. Floats are always finite. */
typedef enum made_content { MADE_SMOOTH, MADE_NOISE, MADE_CONSTANT } made_content;

/* Aborts the test if memory is exhausted. */
made_image make_image(uint32_t width, uint32_t height, uint32_t channels, txm_type type, uint32_t tile_px,
                      txm_compression compression, made_content content);
void free_image(made_image *image);

size_t made_pixel_bytes(const made_image *image);

txm_tx_metadata made_metadata(void);
txm_tx_summary made_summary(void);

/* Writes all tiles and finishes; returns the status of the first call that failed. Without `metadata` or `summary` it
 * writes those above. */
txm_status write_image(int fd, const made_image *image, const txm_tx_metadata *metadata, const txm_tx_summary *summary,
                       uint64_t *image_bytes, txm_error *err);
/* The same into a file, whose path it returns; the test fails if that fails. */
const char *write_made(const char *path, const made_image *image);
#endif
