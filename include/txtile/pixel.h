/* SPDX-License-Identifier: Apache-2.0
 *
 * Sample types and the limits of an image.
 *
 * NULL: as in status.h; arrays may be NULL if their count is 0.
 */
#ifndef TXTILE_PIXEL_H
#define TXTILE_PIXEL_H

#ifndef __OPENCL_VERSION__ /* OpenCL C has no standard headers and calls no library functions */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "txtile/export.h"
#endif

/* Marks functions that device code calls too. */
#ifdef __CUDACC__
#define TXM_HOST_DEVICE __host__ __device__
#else
#define TXM_HOST_DEVICE
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The type of a stored sample. Multi-byte samples are in the machine's byte order (little-endian machines only). */
typedef enum txm_type { TXM_TYPE_U8 = 0, TXM_TYPE_U16 = 1, TXM_TYPE_HALF = 2, TXM_TYPE_FLOAT = 3 } txm_type;

/* The extension decides what lies beyond the edges of an image. TXM_EXTENSION_UV makes one that differs along u and
 * along v, wherever textures are added, described or read with padding; _U and _V are its parts. */
typedef enum txm_extension {
    TXM_EXTENSION_REPEAT = 0,
    TXM_EXTENSION_EXTEND,
    TXM_EXTENSION_CLIP,
    TXM_EXTENSION_MIRROR
} txm_extension;
#define TXM_EXTENSION_UV(u, v) ((txm_extension)((u) | ((u) ^ (v)) << 2))
#define TXM_EXTENSION_U(extension) ((txm_extension)((extension)&3))
#define TXM_EXTENSION_V(extension) ((txm_extension)(((extension)&3) ^ (extension) >> 2))

/* Limits and sizes. */
enum {
    TXM_MAX_SIZE_PX = 1048575,  /* width and height of a source or tx image */
    TXM_MAX_LEVELS = 20,        /* 1048575 down to 1 */
    TXM_MAX_LOOKUP_PX = 131071, /* width and height of a texture that is looked up */
    TXM_MAX_LOOKUP_LEVELS = 17, /* 131071 down to 1 */
    TXM_MAX_CHANNELS = 4,       /* channels of a tx file */
    TXM_MIN_TILE_PX = 16,       /* smallest tile edge that is written (TIFF requires multiples of 16) */
    TXM_MAX_TILE_PX = 1024,     /* largest tile edge that is written or read */
    TXM_DEFAULT_TILE_PX = 64,   /* what Blender writes */
    TXM_BORDER_PX = 2,          /* width of the stored border */
    TXM_MIN_LIMIT_PX = 16,      /* the smallest limit of an image's sides */
    TXM_MAX_LIMIT_PX = 1048576  /* the largest one */
};

#ifndef __OPENCL_VERSION__
/* Bytes of one sample: 1, 2, 2, 4. */
static inline size_t txm_type_bytes(txm_type type)
{
    return type == TXM_TYPE_U8 ? 1 : type == TXM_TYPE_FLOAT ? 4 : 2;
}

/* Whether the type is half or float: such tx files are EXR, the others TIFF. */
static inline bool txm_type_is_float(txm_type type)
{
    return type == TXM_TYPE_HALF || type == TXM_TYPE_FLOAT;
}

/* "uint8", "uint16", "half", "float". */
TXM_API const char *txm_type_name(txm_type type);

/* Converts `count` samples to float32 and back. Integers become 0 to 1, by multiplication with the rounded reciprocal
 * of their maximum; floats are clamped to 0 to 1, NaN becomes 0, and the code is rounded half up. Halves are rounded to
 * nearest, ties to even, and clamped to +-65504. */
TXM_API void txm_samples_to_float(txm_type type, const void *samples, float *out, size_t count);
TXM_API void txm_samples_from_float(txm_type type, const float *values, void *out, size_t count);
#endif

/* The length in a level of an image edge of `size_px`: halved `level` times, rounded down, at least 1. */
static TXM_HOST_DEVICE inline uint32_t txm_level_size(uint32_t size_px, uint32_t level)
{
    uint32_t s = size_px >> level;
    return s ? s : 1;
}

#ifndef __OPENCL_VERSION__
/* How often an image is halved until neither side has more than limit_px pixels; 0 if limit_px is 0. */
static inline uint32_t txm_limit_level(uint32_t width_px, uint32_t height_px, uint32_t limit_px)
{
    uint32_t level = 0, longest = width_px > height_px ? width_px : height_px;
    while (limit_px && longest >> level > limit_px)
        level++;
    return level;
}

/* The number of levels down to 1x1: 1 + floor(log2(max(width, height))). */
TXM_API uint32_t txm_level_count(uint32_t width_px, uint32_t height_px);
#endif

#ifdef __cplusplus
}
#endif
#endif
