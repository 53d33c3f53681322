/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares an ISA's row operations with scalar C. It does not need a test framework, so that it also runs
 * cross-compiled.
 */
#include "util_isa.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "tile/ops/arith.h"

enum { MAX_PIXELS = 300, BYTES = MAX_PIXELS * 16 + 64 };

static const txm_ops *reference;
static char difference[256]; /* the first difference that was found */
static const txm_type types[] = {TXM_TYPE_U8, TXM_TYPE_U16, TXM_TYPE_HALF, TXM_TYPE_FLOAT};
/* Lengths around every vector width, in pixels. */
static const size_t lengths[] = {0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 257, 300};

static uint32_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8 ^ seed << 9;
}

static float random_float(void)
{
    static const float edges[] = {0.0f,     -0.0f,     1.0f,  -1.0f,       0.5f,      0.0031308f, 0.04045f,
                                  65504.0f, -65504.0f, 1e9f,  1e-40f,      6e-8f,     65519.9f,   65520.0f,
                                  3e38f,    -3e38f,    1e-7f, 0.99999994f, 1.0000001f};
    if (next_random() % 8 == 0)
        return edges[next_random() % (sizeof edges / sizeof *edges)];
    if (next_random() % 8 == 0) /* halfway between two codes, or an ulp away from it */
        return ((float)(next_random() % 255) + 0.5f) / 255.0f;
    float f = (float)(next_random() & 0xFFFFFF) / 16777216.0f;
    return next_random() % 16 == 0 ? f * 100.0f - 20.0f : f;
}

/* Random samples of a type; alpha of RGBA is often full or 0. `wild`: floats include NaN and infinity. */
static void fill(txm_type type, uint32_t channels, void *pixels, size_t count, bool wild)
{
    uint8_t *p = pixels;
    for (size_t i = 0; i < count * channels; i++) {
        bool alpha = channels == 4 && i % 4 == 3;
        int kind = (int)(next_random() % 4);
        float f = alpha && kind < 2 ? (float)kind : random_float();
        if (wild && next_random() % 16 == 0)
            f = txm_bits_float(0x7F800000u | (next_random() & 0x80400000u));
        uint16_t h = txm_float_to_half(f), u16 = (uint16_t)(alpha && kind < 2 ? (uint32_t)kind * 65535 : next_random());
        uint8_t u8 = (uint8_t)(alpha && kind < 2 ? (uint32_t)kind * 255 : next_random());
        const void *from = type == TXM_TYPE_U8     ? (const void *)&u8
                           : type == TXM_TYPE_U16  ? &u16
                           : type == TXM_TYPE_HALF ? &h
                                                   : (void *)&f;
        memcpy(p + i * txm_type_bytes(type), from, txm_type_bytes(type));
    }
}

static void differ(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void differ(const char *format, ...)
{
    va_list args;
    if (*difference)
        return;
    va_start(args, format);
    vsnprintf(difference, sizeof difference, format, args);
    va_end(args);
}

/* On machines whose conversion to half rounds ties up, the result is the odd code above where the even one is correct.
 */
static bool ties_go_up;

static bool same_but_for_ties(const void *a, const void *b, size_t bytes)
{
    const uint16_t *wanted = a, *got = b;
    for (size_t i = 0; i < bytes / 2; i++)
        if (got[i] != wanted[i] && (wanted[i] % 2 || got[i] != wanted[i] + 1))
            return false;
    return true;
}

static void same(const void *a, const void *b, size_t bytes, const char *op, const char *isa, txm_type type,
                 size_t length)
{
    size_t i = 0;
    if (memcmp(a, b, bytes) == 0)
        return;
    if (ties_go_up && type == TXM_TYPE_HALF && strcmp(op, "to_float") != 0 && strcmp(op, "srgb_decode") != 0 &&
        same_but_for_ties(a, b, bytes))
        return;
    while (((const uint8_t *)a)[i] == ((const uint8_t *)b)[i])
        i++;
    size_t first = i & ~(size_t)7;
    uint64_t wanted, got;
    memcpy(&wanted, (const uint8_t *)a + first, sizeof wanted);
    memcpy(&got, (const uint8_t *)b + first, sizeof got);
    differ("%s %s %s: %zu pixels differ at byte %zu: %016" PRIx64 " instead of %016" PRIx64, isa, op,
           txm_type_name(type), length, i, got, wanted);
}

/* Two outputs that are equal at first, so that writing too far is detected. */
static struct {
    _Alignas(64) uint8_t in[BYTES], in2[BYTES], a[BYTES], b[BYTES];
} m;

static void prepare(txm_type type, uint32_t channels, bool wild)
{
    fill(type, channels, m.in, MAX_PIXELS, wild);
    fill(type, channels, m.in2, MAX_PIXELS, wild);
    memset(m.a, 0xA5, sizeof m.a);
    memset(m.b, 0xA5, sizeof m.b);
}

static void compare_conversions(const txm_ops *ops, txm_type t, uint32_t c, size_t n)
{
    prepare(t, c, true);
    reference->to_float(t, m.in, (float *)m.a, n * c);
    ops->to_float(t, m.in, (float *)m.b, n * c);
    same(m.a, m.b, sizeof m.a, "to_float", ops->isa, t, n);
    prepare(TXM_TYPE_FLOAT, c, txm_type_is_float(t));
    reference->from_float(t, (float *)m.in, m.a, n * c);
    ops->from_float(t, (float *)m.in, m.b, n * c);
    same(m.a, m.b, sizeof m.a, "from_float", ops->isa, t, n);
    for (txm_curve curve = TXM_CURVE_SRGB; curve <= TXM_CURVE_SRGB_PACKED; curve++) {
        prepare(t, c, false);
        reference->srgb_decode(t, c, curve, m.in, (float *)m.a, n);
        ops->srgb_decode(t, c, curve, m.in, (float *)m.b, n);
        same(m.a, m.b, sizeof m.a, "srgb_decode", ops->isa, t, n);
        prepare(TXM_TYPE_FLOAT, c, false);
        reference->srgb_encode(t, c, curve, (float *)m.in, m.a, n);
        ops->srgb_encode(t, c, curve, (float *)m.in, m.b, n);
        same(m.a, m.b, sizeof m.a, "srgb_encode", ops->isa, t, n);
    }
}

static void compare_filters(const txm_ops *ops, uint32_t c, size_t n)
{
    float *row0 = (float *)m.in, *row1 = (float *)m.in2;
    size_t half = n / 2;
    prepare(TXM_TYPE_FLOAT, c, false);
    reference->box(c, row0, row1, (float *)m.a, half);
    ops->box(c, row0, row1, (float *)m.b, half);
    same(m.a, m.b, sizeof m.a, "box", ops->isa, TXM_TYPE_FLOAT, n);
    if (n) {
        size_t dst = half ? half : 1;
        reference->bilinear(c, row0, row1, 0.3f, n, (float *)m.a, dst);
        ops->bilinear(c, row0, row1, 0.3f, n, (float *)m.b, dst);
        same(m.a, m.b, sizeof m.a, "bilinear", ops->isa, TXM_TYPE_FLOAT, n);
        reference->bilinear(c, row0, NULL, 0.0f, n, (float *)m.a, dst);
        ops->bilinear(c, row0, NULL, 0.0f, n, (float *)m.b, dst);
        same(m.a, m.b, sizeof m.a, "bilinear of one row", ops->isa, TXM_TYPE_FLOAT, n);
    }
    prepare(TXM_TYPE_FLOAT, c, true);
    memcpy(m.a, m.in, sizeof m.a);
    memcpy(m.b, m.in, sizeof m.b);
    reference->clamp_half((float *)m.a, n * c);
    ops->clamp_half((float *)m.b, n * c);
    same(m.a, m.b, sizeof m.a, "clamp_half", ops->isa, TXM_TYPE_FLOAT, n);
}

static void compare_stats(const txm_ops *ops, txm_type t, uint32_t c, size_t n, int kind)
{
    size_t pixel = c * txm_type_bytes(t);
    prepare(t, c, false);
    reference->zero_nonfinite(t, c, m.in, MAX_PIXELS);
    if (kind == 1) /* constant except for the last pixel */
        for (size_t i = 1; i + 1 < n; i++)
            memcpy(m.in + i * pixel, m.in, pixel);
    if (kind == 2 && c == 4) /* grey and opaque */
        for (size_t i = 0; i < n; i++) {
            memcpy(m.in + i * pixel + pixel / 4, m.in + i * pixel, pixel / 4);
            memcpy(m.in + i * pixel + pixel / 2, m.in + i * pixel, pixel / 4);
            reference->set_opaque(t, m.in + i * pixel, 1);
        }
    txm_stats a = {0}, b = {0};
    for (int rows = 0; rows < 3 && n; rows++) {
        reference->stats(t, c, m.in, n, &a);
        ops->stats(t, c, m.in, n, &b);
        if (memcmp(a.sum, b.sum, sizeof a.sum) != 0)
            differ("%s stats %s: sums of %zu pixels", ops->isa, txm_type_name(t), n);
        if (a.varies != b.varies || a.grey != b.grey)
            differ("%s stats %s: %zu pixels, kind %d", ops->isa, txm_type_name(t), n, kind);
    }
}

static void compare_conforming(const txm_ops *ops, txm_type t, size_t n)
{
    size_t bytes = txm_type_bytes(t);
    prepare(t, 4, false); /* the payload of a product of two NaNs is undefined; NaN pixels become 0 later */
    memcpy(m.a, m.in, sizeof m.a);
    memcpy(m.b, m.in, sizeof m.b);
    reference->associate(t, m.a, n);
    ops->associate(t, m.b, n);
    same(m.a, m.b, sizeof m.a, "associate", ops->isa, t, n);
    prepare(t, 4, true);
    reference->set_opaque(t, m.a, n);
    ops->set_opaque(t, m.b, n);
    same(m.a, m.b, sizeof m.a, "set_opaque", ops->isa, t, n);
    for (uint32_t c = 1; c <= 4; c += 3) {
        memcpy(m.a, m.in, sizeof m.a);
        memcpy(m.b, m.in, sizeof m.b);
        reference->zero_nonfinite(t, c, m.a, n);
        ops->zero_nonfinite(t, c, m.b, n);
        same(m.a, m.b, sizeof m.a, "zero_nonfinite", ops->isa, t, n);
    }
    reference->take_first(t, m.in, m.a, n);
    ops->take_first(t, m.in, m.b, n);
    same(m.a, m.b, sizeof m.a, "take_first", ops->isa, t, n);
    for (uint32_t c = 1; c < 4; c++) {
        prepare(t, c, true);
        reference->widen(t, c, m.in, m.a, n);
        ops->widen(t, c, m.in, m.b, n);
        same(m.a, m.b, sizeof m.a, "widen", ops->isa, t, n);
        /* the source is at the end of the destination, as in the converter */
        memcpy(m.b + (4 - c) * bytes * n, m.in, c * bytes * n);
        ops->widen(t, c, m.b + (4 - c) * bytes * n, m.b, n);
        same(m.a, m.b, 4 * bytes * n, "widen in place", ops->isa, t, n);
    }
}

/* Runs colours and alphas of every size through the 8-bit encoder, whose vectors take a short cut. */
static void compare_u8_encoding(const txm_ops *ops)
{
    for (int round = 0; round < 4000 && !*difference; round++) {
        float *p = (float *)m.in;
        for (int i = 0; i < MAX_PIXELS; i++, p += 4) {
            p[3] = (float)(next_random() & 0xFFFF) / 65536.0f;
            for (int c = 0; c < 3; c++)
                p[c] = p[3] * (float)(next_random() & 0xFFFFFF) / (float)(0xA00000 >> (round % 12));
        }
        reference->srgb_encode(TXM_TYPE_U8, 4, TXM_CURVE_SRGB, (float *)m.in, m.a, MAX_PIXELS);
        ops->srgb_encode(TXM_TYPE_U8, 4, TXM_CURVE_SRGB, (float *)m.in, m.b, MAX_PIXELS);
        same(m.a, m.b, MAX_PIXELS * 4, "srgb_encode of alphas", ops->isa, TXM_TYPE_U8, MAX_PIXELS);
    }
}

static bool rounds_up(const txm_ops *ops)
{
    float ties[16];
    uint16_t halves[16];
    for (int i = 0; i < 16; i++)
        ties[i] = 1.0f + 0x1p-11f; /* between 0x3C00 and 0x3C01 */
    ops->from_float(TXM_TYPE_HALF, ties, (uint8_t *)halves, 16);
    return halves[0] != 0x3C00;
}

const char *isa_compare(const txm_ops *ops, const txm_ops *proven)
{
    reference = txm_ops_isa("scalar");
    ties_go_up = proven && rounds_up(proven);
    *difference = 0;
    for (int round = 0; round < 20 && !*difference; round++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (size_t k = 0; k < sizeof types / sizeof *types; k++) {
                for (uint32_t c = 1; c <= 4; c += 3) {
                    compare_conversions(ops, types[k], c, lengths[l]);
                    compare_filters(ops, c, lengths[l]);
                    compare_stats(ops, types[k], c, lengths[l], round % 3);
                }
                compare_conforming(ops, types[k], lengths[l]);
            }
    compare_u8_encoding(ops);
    return *difference ? difference : NULL;
}
