/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of the sRGB curve. They are filled on first use by the functions that they replace, so that a lookup is
 * exact. Encoding uses the first float of each code: a search becomes one lookup and one comparison.
 */
#include "tile/ops/tables.h"

#include <pthread.h>

#include "tile/ops/arith.h"

static txm_tables tables;
static pthread_once_t once_u8 = PTHREAD_ONCE_INIT, once_u16 = PTHREAD_ONCE_INIT;

static uint32_t encode8(uint32_t bits)
{
    return txm_float_to_code(txm_srgb_encode(txm_bits_float(bits)), 255.0f);
}

/* The smallest float (as bits) in (low, high] whose code is at least `code`; the curve is monotonic. */
static uint32_t first_with_code(uint32_t code, uint32_t low, uint32_t high)
{
    while (low + 1 < high) {
        uint32_t middle = low + (high - low) / 2;
        if (encode8(middle) >= code)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* 65536 entries for colour and alpha together. */
static void make_u8(void)
{
    for (uint32_t c = 0; c < 256; c++) {
        tables.u8_grey[c] = txm_srgb_decode_grey(txm_u8_to_float((uint8_t)c));
        for (uint32_t a = 0; a < 256; a++) {
            float p[4] = {txm_u8_to_float((uint8_t)c), 0, 0, txm_u8_to_float((uint8_t)a)};
            txm_srgb_decode_pixel(TXM_CURVE_SRGB, p);
            tables.u8_rgba[a][c] = p[0];
        }
    }
    /* For each bin of floats, the code of its start and the float at which the next code begins; no bin contains three
     * codes. */
    for (uint32_t bin = 0; bin < TXM_SRGB8_BINS; bin++) {
        uint32_t begin = (bin + TXM_SRGB8_FIRST) << TXM_SRGB8_SHIFT, end = begin + (1u << TXM_SRGB8_SHIFT) - 1;
        uint32_t code = encode8(begin);
        uint32_t next = TXM_SRGB8_LOW + 1; /* beyond the bin */
        if (encode8(end) > code)
            next = first_with_code(code + 1, begin, end) & TXM_SRGB8_LOW;
        tables.srgb8[bin] = code << TXM_SRGB8_CODE_SHIFT | next;
    }
}

static void make_u16(void)
{
    for (uint32_t c = 0; c < 65536; c++) {
        float v = txm_u16_to_float((uint16_t)c);
        tables.u16_grey[c] = txm_srgb_decode_grey(v);
        tables.u16_opaque[c] = txm_srgb_decode_rgba(v);
    }
}

const txm_tables *txm_tables_of_u8(void)
{
    pthread_once(&once_u8, make_u8);
    return &tables;
}

/* These are filled separately from those of 8 bits: they take longer, and fewer images need them. */
const txm_tables *txm_tables_of_u16(void)
{
    pthread_once(&once_u16, make_u16);
    return &tables;
}
