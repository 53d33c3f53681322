/* SPDX-License-Identifier: Apache-2.0
 * The library that lookups are compared with: OpenImageIO's TextureSystem, with texture handles and per-thread data. */
#ifndef OIIO_LOOKUP_H
#define OIIO_LOOKUP_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct oiio_textures oiio_textures;

enum { OIIO_ONE_LEVEL, OIIO_TRILINEAR, OIIO_ANISOTROPIC };
enum { OIIO_CLOSEST, OIIO_BILINEAR, OIIO_BICUBIC, OIIO_SMART };

oiio_textures *oiio_textures_new(int cache_mb);                    /* without files */
oiio_textures *oiio_textures_open(const char *path, int cache_mb); /* NULL on failure */
void oiio_textures_close(oiio_textures *textures);
/* Adds a file and returns its number, from 0 on; negative on failure. Not to be called during lookups. */
int oiio_textures_add(oiio_textures *textures, const char *path);

/* Looks up `count` places: u, v (from the bottom) and four derivatives each, four channels out, periodic. Any thread
 * may call it. Returns 0 on failure. */
int oiio_textures_sample(oiio_textures *textures, int mode, int interpolation, int anisotropy, size_t count,
                         const float *const in[6], float *out);

/* Makes one lookup at a time, in any texture, as a renderer does; a caller belongs to the thread that made it. */
typedef struct oiio_caller oiio_caller;
oiio_caller *oiio_caller_new(oiio_textures *textures, int mode, int interpolation, int anisotropy);
void oiio_caller_free(oiio_caller *caller);
int oiio_caller_sample(oiio_caller *caller, unsigned texture, const float at[6], float out[4]); /* 0 on failure */

#ifdef __cplusplus
}
#endif
#endif
