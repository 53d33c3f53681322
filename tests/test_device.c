/* SPDX-License-Identifier: Apache-2.0
 *
 * Row operations: scalar C against the formulas in double precision and against brute force, and every ISA of this
 * machine against scalar C, bit for bit, on random and on edge input of every length.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/arith.h"
#include "device/ops.h"
#include "device/tables.h"

enum { MAX_PIXELS = 300, BYTES = MAX_PIXELS * 16 + 64 };

static const txm_ops *reference;
static const char *const isas[] = {"avx2", "avx512", "neon"};
static const txm_type types[] = {TXM_U8, TXM_U16, TXM_HALF, TXM_FLOAT};
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
    float f = (float)(next_random() & 0xFFFFFF) / 16777216.0f;
    return next_random() % 16 == 0 ? f * 100.0f - 20.0f : f;
}

/* Random samples of a type; alpha of RGBA is often full or 0. `wild`: NaN and Inf among the floats. */
static void fill(txm_type type, uint32_t channels, void *pixels, size_t count, bool wild)
{
    uint8_t *p = pixels;
    for (size_t i = 0; i < count * channels; i++) {
        bool alpha = channels == 4 && i % 4 == 3;
        int kind = (int)(next_random() % 4);
        float f = alpha && kind < 2 ? (float)kind : random_float();
        if (wild && next_random() % 16 == 0)
            f = txm_bits_float(0x7F800000u | (next_random() & 0x80400000u));
        uint16_t h = txm_float_to_half(f), u16 = (uint16_t)(alpha && kind < 2 ? kind * 65535 : next_random());
        uint8_t u8 = (uint8_t)(alpha && kind < 2 ? kind * 255 : next_random());
        const void *from = type == TXM_U8     ? (const void *)&u8
                           : type == TXM_U16  ? &u16
                           : type == TXM_HALF ? &h
                                              : (void *)&f;
        memcpy(p + i * txm_type_bytes(type), from, txm_type_bytes(type));
    }
}

static void same(const void *a, const void *b, size_t bytes, const char *op, const char *isa, txm_type type,
                 size_t length)
{
    size_t i = 0;
    if (memcmp(a, b, bytes) == 0)
        return;
    while (((const uint8_t *)a)[i] == ((const uint8_t *)b)[i])
        i++;
    ck_abort_msg("%s %s %s: %zu pixels differ at byte %zu", isa, op, txm_type_name(type), length, i);
}

/* Two outputs that start out equal, so that writing too far shows. */
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
    prepare(TXM_FLOAT, c, txm_type_is_float(t));
    reference->from_float(t, (float *)m.in, m.a, n * c);
    ops->from_float(t, (float *)m.in, m.b, n * c);
    same(m.a, m.b, sizeof m.a, "from_float", ops->isa, t, n);
    prepare(t, c, false);
    reference->srgb_decode(t, c, m.in, (float *)m.a, n);
    ops->srgb_decode(t, c, m.in, (float *)m.b, n);
    same(m.a, m.b, sizeof m.a, "srgb_decode", ops->isa, t, n);
    prepare(TXM_FLOAT, c, false);
    reference->srgb_encode(t, c, (float *)m.in, m.a, n);
    ops->srgb_encode(t, c, (float *)m.in, m.b, n);
    same(m.a, m.b, sizeof m.a, "srgb_encode", ops->isa, t, n);
}

static void compare_filters(const txm_ops *ops, uint32_t c, size_t n)
{
    float *row0 = (float *)m.in, *row1 = (float *)m.in2;
    size_t half = n / 2;
    prepare(TXM_FLOAT, c, false);
    reference->box(c, row0, row1, (float *)m.a, half);
    ops->box(c, row0, row1, (float *)m.b, half);
    same(m.a, m.b, sizeof m.a, "box", ops->isa, TXM_FLOAT, n);
    if (n) {
        size_t dst = half ? half : 1;
        reference->bilinear(c, row0, row1, 0.3f, n, (float *)m.a, dst);
        ops->bilinear(c, row0, row1, 0.3f, n, (float *)m.b, dst);
        same(m.a, m.b, sizeof m.a, "bilinear", ops->isa, TXM_FLOAT, n);
    }
    memcpy(m.a, m.in, sizeof m.a);
    memcpy(m.b, m.in, sizeof m.b);
    reference->clamp_half((float *)m.a, n * c);
    ops->clamp_half((float *)m.b, n * c);
    same(m.a, m.b, sizeof m.a, "clamp_half", ops->isa, TXM_FLOAT, n);
}

static void compare_stats(const txm_ops *ops, txm_type t, uint32_t c, size_t n, int kind)
{
    size_t pixel = c * txm_type_bytes(t);
    prepare(t, c, false);
    reference->zero_nonfinite(t, c, m.in, MAX_PIXELS);
    if (kind == 1) /* constant but for the last pixel */
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
        ck_assert_msg(memcmp(a.sum, b.sum, sizeof a.sum) == 0, "%s stats %s: sums of %zu pixels", ops->isa,
                      txm_type_name(t), n);
        ck_assert_msg(a.varies == b.varies && a.grey == b.grey, "%s stats %s: %zu pixels, kind %d", ops->isa,
                      txm_type_name(t), n, kind);
    }
}

static void compare_conforming(const txm_ops *ops, txm_type t, size_t n)
{
    size_t bytes = txm_type_bytes(t);
    prepare(t, 4, false); /* the payload of a product of two NaNs is anyone's guess; NaN pixels become 0 later */
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
        /* the source at the end of the destination, as the converter has it */
        memcpy(m.b + (4 - c) * bytes * n, m.in, c * bytes * n);
        ops->widen(t, c, m.b + (4 - c) * bytes * n, m.b, n);
        same(m.a, m.b, 4 * bytes * n, "widen in place", ops->isa, t, n);
    }
}

START_TEST(isa_equals_scalar)
{
    const txm_ops *ops = txm_ops_isa(isas[_i]);
    if (!ops) {
        printf("skip %s (not on this machine)\n", isas[_i]);
        return;
    }
    for (int round = 0; round < 20; round++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (size_t k = 0; k < 4; k++) {
                for (uint32_t c = 1; c <= 4; c += 3) {
                    compare_conversions(ops, types[k], c, lengths[l]);
                    compare_filters(ops, c, lengths[l]);
                    compare_stats(ops, types[k], c, lengths[l], round % 3);
                }
                compare_conforming(ops, types[k], lengths[l]);
            }
}
END_TEST

START_TEST(half_round_trips)
{
    for (uint32_t h = 0; h < 65536; h++) {
        float f = txm_half_to_float((uint16_t)h);
        bool nan = (h & 0x7C00) == 0x7C00 && (h & 0x3FF);
        ck_assert_uint_eq(txm_float_to_half(f), nan ? (h | 0x200) : h);
    }
    /* halfway cases round to even */
    ck_assert_uint_eq(txm_float_to_half(1.0f + 1.0f / 2048), 0x3C00);
    ck_assert_uint_eq(txm_float_to_half(1.0f + 3.0f / 2048), 0x3C02);
    ck_assert_uint_eq(txm_float_to_half(65519.0f), 0x7BFF);
    ck_assert_uint_eq(txm_float_to_half(65520.0f), 0x7C00);
    ck_assert_uint_eq(txm_float_to_half(2.98e-8f), 0x0000);
    ck_assert_uint_eq(txm_float_to_half(2.99e-8f), 0x0001);
}
END_TEST

START_TEST(powers_are_rounded_right)
{
    unsigned wrong = 0, total = 0;
    for (float x = 1e-6f; x < 100.0f; x *= 1.0003f, total++) {
        wrong += txm_pow_positive(x, (double)2.4f) != (float)pow((double)x, (double)2.4f);
        wrong += txm_pow_positive(x, (double)(1.0f / 2.4f)) != (float)pow((double)x, (double)(1.0f / 2.4f));
    }
    ck_assert_msg(wrong * 1000 < total, "%u of %u", wrong, total);
    ck_assert_float_eq(txm_pow_positive(1.0f, (double)2.4f), 1.0f);
    ck_assert(isinf(txm_pow_positive(INFINITY, (double)2.4f)));
}
END_TEST

START_TEST(curves_follow_the_standard)
{
    for (int i = -200; i <= 4000; i++) {
        float v = (float)i / 1000.0f;
        double linear = v <= 0 ? 0 : v < 0.04045f ? v / 12.92 : pow((v + 0.055) / 1.055, 2.4);
        double coded = v <= 0 ? 0 : v < 0.0031308f ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - 0.055;
        ck_assert_double_eq_tol(txm_srgb_decode_grey(v), linear, 2e-6 * fmax(linear, 0.01));
        ck_assert_double_eq_tol(txm_srgb_decode_rgba(v), linear, 1e-5 * fmax(linear, 0.01));
        ck_assert_double_eq_tol(txm_srgb_encode(v), coded, 2e-6 * fmax(coded, 0.01));
    }
}
END_TEST

/* The table that encodes to 8 bits gives what the formula gives, at every threshold and its neighbours and in between.
 */
START_TEST(table_encodes_exactly)
{
    const txm_ops *ops = reference;
    uint8_t code, previous = 0;
    for (uint32_t bits = 0x38000000u; bits < 0x3F900000u; bits += 97) {
        float v = txm_bits_float(bits);
        ops->srgb_encode(TXM_U8, 1, &v, &code, 1);
        ck_assert_uint_eq(code, txm_float_to_code(txm_srgb_encode(v), 255.0f));
        if (code != previous)
            for (uint32_t near = bits - 97; near < bits + 97; near++) {
                v = txm_bits_float(near);
                ops->srgb_encode(TXM_U8, 1, &v, &code, 1);
                ck_assert_uint_eq(code, txm_float_to_code(txm_srgb_encode(v), 255.0f));
            }
        previous = code;
    }
}
END_TEST

START_TEST(every_code_survives_the_curve)
{
    for (uint32_t c = 0; c < 256; c++)
        for (uint32_t a = 1; a < 256; a++) {
            uint8_t in[4] = {(uint8_t)(c * a / 255), (uint8_t)(c < a ? c : a), 0, (uint8_t)a}, out[4];
            float linear[4];
            reference->srgb_decode(TXM_U8, 4, in, linear, 1);
            reference->srgb_encode(TXM_U8, 4, linear, out, 1);
            for (int k = 0; k < 4; k++)
                ck_assert_int_le(abs(in[k] - out[k]), 0);
        }
}
END_TEST

START_TEST(association_truncates)
{
    for (uint32_t c = 0; c < 256; c++)
        for (uint32_t a = 0; a < 256; a++) {
            uint8_t p[4] = {(uint8_t)c, (uint8_t)c, (uint8_t)c, (uint8_t)a};
            reference->associate(TXM_U8, p, 1);
            ck_assert_uint_eq(p[1], c * a / 255);
        }
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        const txm_ops *ops = txm_ops_isa(isas[i]);
        for (uint32_t a = 0; ops && a < 65536; a += 3) {
            uint16_t p[4] = {65535, (uint16_t)(a * 7), (uint16_t)(65535 - a), (uint16_t)a}, q[4];
            memcpy(q, p, sizeof q);
            reference->associate(TXM_U16, p, 1);
            ops->associate(TXM_U16, q, 1);
            ck_assert(memcmp(p, q, sizeof p) == 0);
        }
    }
}
END_TEST

START_TEST(bilinear_positions)
{
    uint32_t a, b;
    float f;
    txm_bilinear_position(0, 1, 3, &a, &b, &f);
    ck_assert(a == 1 && b == 2 && f == 0.0f);
    txm_bilinear_position(0, 1, 1, &a, &b, &f);
    ck_assert(a == 0 && b == 0 && f == 0.0f);
    for (uint32_t src = 1; src < 3000; src += 7)
        for (uint32_t i = 0, dst = src / 2 ? src / 2 : 1; i < dst; i++) {
            txm_bilinear_position(i, dst, src, &a, &b, &f);
            ck_assert(a <= b && b < src && f >= 0.0f && f < 1.0f && b <= 2 * i + 2);
        }
}
END_TEST

int main(void)
{
    reference = txm_ops_isa("scalar");
    Suite *suite = suite_create("device");
    TCase *t = tcase_create("device");
    tcase_add_loop_test(t, isa_equals_scalar, 0, sizeof isas / sizeof *isas);
    tcase_add_test(t, half_round_trips);
    tcase_add_test(t, powers_are_rounded_right);
    tcase_add_test(t, curves_follow_the_standard);
    tcase_add_test(t, table_encodes_exactly);
    tcase_add_test(t, every_code_survives_the_curve);
    tcase_add_test(t, association_truncates);
    tcase_add_test(t, bilinear_positions);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
