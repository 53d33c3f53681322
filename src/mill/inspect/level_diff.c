/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures how much two versions of a level differ. Samples are compared as values of their type; halves by their
 * order as integers, so that neighbouring values differ by one unit in the last place. Sums of tiles can be merged in
 * any order.
 */
#include "mill/inspect/level_diff.h"

#include <math.h>
#include <string.h>

#include "base/endian.h"

/* The differences that rounding may cause: in one sample of 100,000, but at least in one per level; for floats, by 1e-6
 * of the level's maximum. */
static const double parity_share = 1e-5, parity_relative = 1e-6;

/* Samples of a tile may be unaligned. */
static float load_float(const uint8_t *p)
{
    float v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Maps a half to an integer with the same order; both zeros become 0. */
static int half_rank(unsigned bits)
{
    int magnitude = (int)(bits & 0x7fff);
    return bits & 0x8000 ? -magnitude : magnitude;
}

/* NaN against a number counts as infinite. Samples are little-endian in memory on all supported machines. */
static double distance(txm_type type, const uint8_t *a, const uint8_t *b)
{
    switch (type) {
    case TXM_TYPE_U8:
        return fabs((double)*a - (double)*b);
    case TXM_TYPE_U16:
        return fabs((double)txm_load_le16(a) - (double)txm_load_le16(b));
    case TXM_TYPE_HALF:
        return fabs((double)half_rank(txm_load_le16(a)) - (double)half_rank(txm_load_le16(b)));
    case TXM_TYPE_FLOAT: {
        double d = fabs((double)load_float(a) - (double)load_float(b));
        return isnan(d) ? (double)INFINITY : d;
    }
    }
    return 0;
}

/* The maximum of float levels is needed for the relative bound of parity, so it is measured even if nothing differs. */
void txm_level_diff_tile(txm_level_diff *diff, txm_type type, uint32_t channels, const uint8_t *expected,
                         size_t expected_stride, const uint8_t *found, size_t found_stride, uint32_t w, uint32_t h,
                         uint32_t tile_x, uint32_t tile_y)
{
    size_t samples = (size_t)w * channels;
    uint64_t before = diff->different;
    for (uint32_t y = 0; y < h; y++) {
        const uint8_t *a = expected + y * expected_stride, *b = found + y * found_stride;
        for (size_t i = 0; type == TXM_TYPE_FLOAT && i < samples; i++) {
            const double v = fabs((double)load_float(a + 4 * i));
            diff->maximum = v > diff->maximum ? v : diff->maximum;
        }
        if (memcmp(a, b, samples * txm_type_bytes(type)) != 0) {
            size_t bytes = txm_type_bytes(type);
            for (size_t i = 0; i < samples; i++, a += bytes, b += bytes) {
                if (!memcmp(a, b, bytes))
                    continue;
                double d = distance(type, a, b);
                diff->different++;
                if (d > diff->worst || diff->different == 1) {
                    diff->worst = d;
                    diff->tile_x = tile_x;
                    diff->tile_y = tile_y;
                }
            }
        }
    }
    diff->samples += samples * h;
    diff->tiles += diff->different > before;
}

/* Counts add up and distances have a maximum, so that the order of merging does not matter, except for ties, which the
 * place decides. */
void txm_level_diff_merge(txm_level_diff *sum, const txm_level_diff *part)
{
    /* If several tiles are equally bad, the first one is reported, whatever the order of merging. */
    bool earlier = part->tile_y < sum->tile_y || (part->tile_y == sum->tile_y && part->tile_x < sum->tile_x);
    if (part->different && (!sum->different || part->worst > sum->worst || (part->worst >= sum->worst && earlier))) {
        sum->worst = part->worst;
        sum->tile_x = part->tile_x;
        sum->tile_y = part->tile_y;
    }
    sum->samples += part->samples;
    sum->different += part->different;
    sum->tiles += part->tiles;
    if (part->maximum > sum->maximum)
        sum->maximum = part->maximum;
}

/* Parity is what rounding can cause between two correct writers, and damage cannot: one code value (or one unit in the
 * last place) in a few samples of a million, or, for floats, a small fraction of the largest value. */
bool txm_level_diff_is_parity(const txm_level_diff *diff, txm_type type)
{
    if (!diff->different)
        return true;
    if (type == TXM_TYPE_FLOAT)
        return diff->worst <= parity_relative * diff->maximum;
    double allowed = parity_share * (double)diff->samples;
    return diff->worst <= 1 && (double)diff->different <= (allowed > 1 ? allowed : 1);
}

/* The unit to print after the number; floats have none. */
const char *txm_level_diff_unit(txm_type type)
{
    return type == TXM_TYPE_HALF ? " units in the last place" : type == TXM_TYPE_FLOAT ? "" : " code values";
}
