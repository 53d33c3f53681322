/* SPDX-License-Identifier: Apache-2.0
 *
 * Undoes PNG's row filters. A filter predicts each byte from a (the byte one pixel to the left), b (above) and c
 * (above left), all 0 outside the image, and stores the difference modulo 256. The scalar functions are the
 * specification; tests check that the others agree with them to the byte.
 */
#ifndef TXM_SOURCE_PNG_UNFILTER_H
#define TXM_SOURCE_PNG_UNFILTER_H
#include <stddef.h>
#include <stdint.h>

enum { TXM_PNG_NONE, TXM_PNG_SUB, TXM_PNG_UP, TXM_PNG_AVERAGE, TXM_PNG_PAETH, TXM_PNG_FILTERS };
enum { TXM_PNG_MAX_PIXEL_BYTES = 8 };

/* The numbers of bytes per pixel in PNG; and a table of functions F_bytes by bytes per pixel. */
#define TXM_PNG_PIXEL_SIZES(F) F(1) F(2) F(3) F(4) F(6) F(8)
#define TXM_PNG_BY_PIXEL_SIZE(F)                                                                                       \
    {                                                                                                                  \
        NULL, F##_1, F##_2, F##_3, F##_4, NULL, F##_6, NULL, F##_8                                                     \
    }

/* Converts `bytes` filtered bytes to `out`; `prior` is the unfiltered row above. `out` overlaps neither input, and
 * nothing outside the three rows is accessed. */
typedef void (*txm_unfilter_fn)(const uint8_t *raw, const uint8_t *prior, uint8_t *out, size_t bytes);

/* The same for several Paeth rows at once: row k of the filtered rows is at raw + k * stride and becomes out[k]. */
typedef void (*txm_unfilter_rows_fn)(const uint8_t *raw, size_t stride, const uint8_t *prior, uint8_t *const *out,
                                     size_t bytes);

/* Functions by filter type and bytes per pixel (1, 2, 3, 4, 6, 8; the others are NULL). */
typedef struct txm_unfilter_ops {
    const char *name;
    txm_unfilter_fn undo[TXM_PNG_FILTERS][TXM_PNG_MAX_PIXEL_BYTES + 1];
    /* Functions for two and four rows at once, by bytes per pixel; NULL in the scalar table. */
    txm_unfilter_rows_fn paeth_2[TXM_PNG_MAX_PIXEL_BYTES + 1], paeth_4[TXM_PNG_MAX_PIXEL_BYTES + 1];
} txm_unfilter_ops;

extern const txm_unfilter_ops txm_unfilter_scalar;
#if defined(__x86_64__)
extern const txm_unfilter_ops txm_unfilter_sse41;
extern const txm_unfilter_ops txm_unfilter_avx2;
#endif

/* All tables that this machine can run, the best first; returns their number. `list` has room for 3. */
size_t txm_unfilter_all(const txm_unfilter_ops *list[3]);

/* The best one that the environment's TXMILL_ISA allows ("scalar", "sse41", "avx2" or more). */
const txm_unfilter_ops *txm_unfilter_choose(void);
#endif
