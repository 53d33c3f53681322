/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoes PNG's row filters: the scalar specification, and the choice of the implementation. Filters are compiled once
 * for each pixel size, so that the distance to the previous pixel is a constant. The best table that the machine and
 * the environment allow is chosen when a file is opened.
 */
#include "mill/source/png/png_unfilter.h"

#include <stdlib.h>
#include <string.h>

static void undo_none(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)
{
    (void)prior;
    memcpy(out, raw, bytes);
}

static void undo_up(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(raw[i] + prior[i]);
}

static inline void undo_sub(const uint8_t *raw, uint8_t *out, size_t bytes, size_t bpp)
{
    for (size_t i = 0; i < bytes; i++)
        out[i] = (uint8_t)(raw[i] + (i >= bpp ? out[i - bpp] : 0));
}

static inline void undo_average(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes, size_t bpp)
{
    for (size_t i = 0; i < bytes; i++) {
        unsigned a = i >= bpp ? out[i - bpp] : 0;
        out[i] = (uint8_t)(raw[i] + ((a + prior[i]) >> 1));
    }
}

/* The one of a, b, c that is nearest to a + b - c; ties go to a, then b. */
static inline int paeth(int a, int b, int c)
{
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

static inline void undo_paeth(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes, size_t bpp)
{
    for (size_t i = 0; i < bytes; i++) {
        int a = i >= bpp ? out[i - bpp] : 0, c = i >= bpp ? prior[i - bpp] : 0;
        out[i] = (uint8_t)(raw[i] + paeth(a, prior[i], c));
    }
}

/* There is one set of functions per pixel size, so that the distance to the left neighbour is a constant in the loops.
 */
#define PIXEL_SIZE(N)                                                                                                  \
    static void undo_sub_##N(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)                     \
    {                                                                                                                  \
        (void)prior;                                                                                                   \
        undo_sub(raw, out, bytes, N);                                                                                  \
    }                                                                                                                  \
    static void undo_average_##N(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)                 \
    {                                                                                                                  \
        undo_average(raw, prior, out, bytes, N);                                                                       \
    }                                                                                                                  \
    static void undo_paeth_##N(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes)                   \
    {                                                                                                                  \
        undo_paeth(raw, prior, out, bytes, N);                                                                         \
    }

TXM_PNG_PIXEL_SIZES(PIXEL_SIZE)

#define FOR_ALL_SIZES(F)                                                                                               \
    {                                                                                                                  \
        NULL, F, F, F, F, NULL, F, NULL, F                                                                             \
    }

const txm_unfilter_ops txm_unfilter_scalar = {
    .name = "scalar",
    .undo = {FOR_ALL_SIZES(undo_none), TXM_PNG_BY_PIXEL_SIZE(undo_sub), FOR_ALL_SIZES(undo_up),
             TXM_PNG_BY_PIXEL_SIZE(undo_average), TXM_PNG_BY_PIXEL_SIZE(undo_paeth)},
};

size_t txm_unfilter_all(const txm_unfilter_ops *list[3])
{
    size_t n = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        list[n++] = &txm_unfilter_avx2;
    if (__builtin_cpu_supports("sse4.1"))
        list[n++] = &txm_unfilter_sse41;
#endif
    list[n++] = &txm_unfilter_scalar;
    return n;
}

const txm_unfilter_ops *txm_unfilter_choose(void)
{
    const txm_unfilter_ops *list[3];
    const char *isa = getenv("TXMILL_ISA");
    size_t n = txm_unfilter_all(list);
    for (size_t i = 0; isa && i < n; i++)
        if (strcmp(isa, list[i]->name) == 0)
            return list[i];
    return list[0];
}
