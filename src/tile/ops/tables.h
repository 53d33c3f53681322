/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of the sRGB curve for integer samples, filled from arith.h on first use and therefore exact. Most textures
 * have 8-bit samples with only 256 values: a table does with one load what the curve does with twenty operations.
 */
#ifndef TXM_OPS_TABLES_H
#define TXM_OPS_TABLES_H
#include "tile/ops/arith.h"

enum {
    /* Bins of linear values by their upper float bits (exponent and 7 bits of mantissa). At most one code of the 8-bit
     * sRGB curve begins inside a bin: bins are 0.4 to 0.8 % wide, codes at least 0.9 %. */
    TXM_SRGB8_SHIFT = 16,
    TXM_SRGB8_FIRST = 0x3900, /* 2^-13: below the beginning of code 1 */
    TXM_SRGB8_LAST = 0x3F80,  /* 1.0 */
    TXM_SRGB8_BINS = TXM_SRGB8_LAST - TXM_SRGB8_FIRST + 1,
    TXM_SRGB8_LOW = (1 << TXM_SRGB8_SHIFT) - 1,
    TXM_SRGB8_CODE_SHIFT = 24,
    TXM_SRGB8_LIMIT = (1 << TXM_SRGB8_CODE_SHIFT) - 1
};

typedef struct txm_tables {
    float u8_grey[256];      /* linear value of a grey sample */
    float u8_rgba[256][256]; /* [alpha][sample]: linear associated value of an associated sample */
    float u16_grey[65536];
    float u16_opaque[65536];        /* colour of an RGBA pixel whose alpha is 0 or 65535 */
    uint32_t srgb8[TXM_SRGB8_BINS]; /* for txm_srgb8_code */
} txm_tables;

/* All tables, 0.8 MB that are never freed, with those of 8 or of 16 bits filled in, which takes a millisecond or two
 * and is done only for images of that type. Thread-safe. */
#ifndef __OPENCL_VERSION__
const txm_tables *txm_tables_of_u8(void);
const txm_tables *txm_tables_of_u16(void);
#endif

/* The bin of a linear value, clamped at both ends. */
TXM_ARITH uint32_t txm_srgb8_bin(uint32_t float_bits)
{
    int32_t bin = (int32_t)float_bits >> TXM_SRGB8_SHIFT; /* negative values have negative bits */
    bin = bin < TXM_SRGB8_FIRST ? TXM_SRGB8_FIRST : bin > TXM_SRGB8_LAST ? TXM_SRGB8_LAST : bin;
    return (uint32_t)(bin - TXM_SRGB8_FIRST);
}

/* The code of a linear value from its bin's entry: above TXM_SRGB8_CODE_SHIFT the code of the bin's first value; below,
 * the lower bits of the value at which the next code begins, or more than any value has. */
TXM_ARITH uint32_t txm_srgb8_code(uint32_t entry, uint32_t float_bits)
{
    return (entry >> TXM_SRGB8_CODE_SHIFT) + ((float_bits & TXM_SRGB8_LOW) >= (entry & TXM_SRGB8_LIMIT) ? 1u : 0u);
}
#endif
