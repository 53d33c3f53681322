/* SPDX-License-Identifier: Apache-2.0
 *
 * The extensions of an image beyond its edges: a table with a row for each mode, and its arithmetic for C and for
 * devices. The functions below take the mode of one axis, of which TXM_EXTENSION_UV in txtile/pixel.h makes pairs.
 * Readers, lookups, the cache, scenes and options all use it. A new mode needs a constant in txtile/pixel.h, a row
 * here, a case in each function below, and a case in tile/sample/simd/wrap_simd.h, which has the same functions for
 * vectors.
 */
#ifndef TXM_TERMS_EXTENSION_H
#define TXM_TERMS_EXTENSION_H
#include "tile/terms/dialect.h"
#include "txtile/pixel.h"

/* Columns: the constant; the word in options, scenes and reports; Cycles' word; Blender's number in .blend files;
 * whether a place beyond the edges is rejected, so that its colour is clear. */
#define TXM_EXTENSION_TABLE(X)                                                                                         \
    X(REPEAT, "repeat", "periodic", 0, 0)                                                                              \
    X(EXTEND, "extend", "clamp", 1, 0)                                                                                 \
    X(CLIP, "clip", "black", 2, 1)                                                                                     \
    X(MIRROR, "mirror", "mirror", 3, 0)

#define TXM_EXTENSION_COUNT(name, word, cycles, blender, rejects) +1
#define TXM_EXTENSION_BITS(name, word, cycles, blender, rejects) | (rejects) << TXM_EXTENSION_##name
enum { TXM_EXTENSIONS = 0 TXM_EXTENSION_TABLE(TXM_EXTENSION_COUNT) };

/* These expand to array elements by mode, and to cases of a switch over Blender's numbers. */
#define TXM_EXTENSION_WORD(name, word, cycles, blender, rejects) [TXM_EXTENSION_##name] = word,
#define TXM_EXTENSION_CYCLES(name, word, cycles, blender, rejects) [TXM_EXTENSION_##name] = cycles,
#define TXM_EXTENSION_CASE(name, word, cycles, blender, rejects)                                                       \
    case blender:                                                                                                      \
        return TXM_EXTENSION_##name;

/* Words separated by spaces, in the form that txm_option takes. */
#define TXM_EXTENSION_SPACED(name, word, cycles, blender, rejects) " " word
#define TXM_EXTENSION_VALUES (&TXM_EXTENSION_TABLE(TXM_EXTENSION_SPACED)[1])

/* Whether a number is that of a mode, or of a pair of modes along u and v. */
TXM_ARITH int txm_extension_exists(uint32_t extension)
{
    return extension < TXM_EXTENSIONS * TXM_EXTENSIONS;
}

TXM_ARITH int txm_extension_is_pair(uint32_t extension)
{
    return extension >= TXM_EXTENSIONS;
}

/* Whether places are rejected along either axis. */
TXM_ARITH int txm_extension_rejects(int extension)
{
    const int rejecting = 0 TXM_EXTENSION_TABLE(TXM_EXTENSION_BITS);
    return (rejecting >> TXM_EXTENSION_U(extension) | rejecting >> TXM_EXTENSION_V(extension)) & 1;
}

/* ---- coordinates ---- */

/* The largest integer not above x, without a library call; large numbers, infinities and NaN are returned unchanged. */
TXM_ARITH float txm_floor(float x)
{
    if (!(x > -8388608.0f && x < 8388608.0f))
        return x;
    float t = (float)(int32_t)x;
    return t > x ? t - 1.0f : t;
}

/* Maps one coordinate to 0..1 (both included); false if CLIP rejects it. Only NaN is then outside of 0..1: REPEAT and
 * MIRROR return NaN for infinities. */
TXM_ARITH int txm_wrap(float *u, int extension)
{
    float x = *u, t;
    switch (extension) {
    case TXM_EXTENSION_REPEAT:
        *u = x - txm_floor(x);
        return 1;
    case TXM_EXTENSION_EXTEND: /* NaN: 0 */
        *u = txm_min(txm_max(x, 0.0f), 1.0f);
        return 1;
    case TXM_EXTENSION_MIRROR:
        t = x * 0.5f;
        t = 2.0f * (t - txm_floor(t));
        *u = t > 1.0f ? 2.0f - t : t;
        return 1;
    default:
        return x >= 0.0f && x <= 1.0f;
    }
}

/* The direction of the mapped coordinate as the given one grows: 1, -1 in every other mirror image, 0 where EXTEND
 * clamps it. */
TXM_ARITH float txm_wrap_slope(float u, int extension)
{
    if (extension == TXM_EXTENSION_EXTEND)
        return u >= 0.0f && u <= 1.0f ? 1.0f : 0.0f;
    if (extension == TXM_EXTENSION_MIRROR) {
        float t = u * 0.5f;
        return 2.0f * (t - txm_floor(t)) > 1.0f ? -1.0f : 1.0f;
    }
    return 1.0f;
}

/* ---- pixels ---- */

/* The pixel of an edge of `size` that is shown at pixel x of the plane; -1: none (CLIP). Mirror images repeat the pixel
 * at the edge: ... 1 0 | 0 1 ... This one has 32 bits, for lookups; the padding of txm_extend may need 64. */
#define TXM_WRAP_PIXEL(function, integer)                                                                              \
    TXM_ARITH integer function(integer x, integer size, int extension)                                                 \
    {                                                                                                                  \
        if (x >= 0 && x < size)                                                                                        \
            return x;                                                                                                  \
        if (extension == TXM_EXTENSION_CLIP)                                                                           \
            return -1;                                                                                                 \
        if (extension == TXM_EXTENSION_EXTEND)                                                                         \
            return x < 0 ? 0 : size - 1;                                                                               \
        integer period = extension == TXM_EXTENSION_MIRROR ? 2 * size : size, m = x % period;                          \
        m = m < 0 ? m + period : m;                                                                                    \
        return m < size ? m : period - 1 - m;                                                                          \
    }
TXM_WRAP_PIXEL(txm_wrap_pixel, int32_t)
TXM_WRAP_PIXEL(txm_wrap_pixel_wide, int64_t)
#endif
