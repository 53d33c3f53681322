/* SPDX-License-Identifier: Apache-2.0
 * Padded tiles as renderers without border sections make them: nine tiles through OpenImageIO's ImageInput. */
#ifndef BENCH_OIIO_H
#define BENCH_OIIO_H
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct oiio_tiles oiio_tiles;

oiio_tiles *oiio_tiles_open(const char *path); /* NULL on failure */
void oiio_tiles_close(oiio_tiles *tiles);

/* Reads the padded window of a tile for the repeat extension, tight pixels, rows row_bytes apart. Returns NULL, or what
 * went wrong. */
const char *oiio_tiles_padded(oiio_tiles *tiles, uint32_t level, uint32_t tile_x, uint32_t tile_y, uint32_t padding,
                              uint8_t *out, size_t row_bytes);

#ifdef __cplusplus
}
#endif
#endif
