/* SPDX-License-Identifier: Apache-2.0
 * The peer of the look-up benchmark: OpenImageIO's TextureSystem, its handle and its thread's data held. */
#ifndef OIIO_LOOKUP_H
#define OIIO_LOOKUP_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct oiio_textures oiio_textures;

enum { OIIO_ONE_LEVEL, OIIO_TRILINEAR, OIIO_ANISOTROPIC };
enum { OIIO_CLOSEST, OIIO_BILINEAR, OIIO_BICUBIC, OIIO_SMART };

oiio_textures *oiio_textures_open(const char *path, int cache_mb); /* NULL on failure */
void oiio_textures_close(oiio_textures *textures);

/* Looks up `count` places: u, v (from the bottom) and four derivatives each, four channels out, periodic. To be called
 * from any thread. 0 on failure. */
int oiio_textures_sample(oiio_textures *textures, int mode, int interpolation, int anisotropy, size_t count,
                         const float *const in[6], float *out);

#ifdef __cplusplus
}
#endif
#endif
