/* SPDX-License-Identifier: Apache-2.0
 *
 * Row operations: scalar C against the formulas in double precision and against brute force, and every variant for this
 * machine against scalar C, bit for bit, with random values and edge cases of every length.
 */
#include <math.h>

#include "tile/ops/arith.h"
#include "tile/ops/ops.h"

#define TXM_LANES 4
#include "tile/ops/simd/curve.h"
#include "tile/ops/tables.h"
#include "util_check.h"
#include "util_isa.h"

#define POWERS_ENCODE 2661262692354915386ull
#define POWERS_DECODE 15129023793237451226ull

static const txm_ops *reference;
static const char *const isas[] = {"avx2", "avx512", "neon"};

TESTS(isa_equals_scalar, sizeof isas / sizeof *isas)
{
    const txm_ops *ops = txm_ops_isa(isas[_i]);
    if (!ops) {
        printf("skip %s (not on this machine)\n", isas[_i]);
        return;
    }
    const char *difference = isa_compare(ops, NULL);
    ck_assert_msg(difference == NULL, "%s", difference);
}

TEST(half_round_trips)
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

/* An FNV-1a hash of glibc's powf (x86-64, 2.28 to 2.41) over floats from 2^-9 to the largest, 4099 apart. */
static uint64_t hash_of_powers(float exponent, float (*power)(float, float))
{
    uint64_t hash = 0xCBF29CE484222325ull;
    for (uint32_t bits = 0x3B000000u; bits < 0x7F800000u; bits += 4099) {
        uint32_t result = txm_float_bits(power(txm_bits_float(bits), exponent));
        for (int i = 0; i < 32; i += 8)
            hash = (hash ^ (result >> i & 0xFF)) * 0x100000001B3ull;
    }
    return hash;
}

static float power_of(float x, float exponent)
{
    return txm_pow_positive(x, (double)exponent);
}

TEST(powers_are_those_of_glibc)
{
    ck_assert_uint_eq(hash_of_powers(1.0f / 2.4f, power_of), POWERS_ENCODE);
    ck_assert_uint_eq(hash_of_powers(2.4f, power_of), POWERS_DECODE);
#if defined(__GLIBC__) && defined(__x86_64__)
    ck_assert_uint_eq(hash_of_powers(1.0f / 2.4f, powf), POWERS_ENCODE);
    ck_assert_uint_eq(hash_of_powers(2.4f, powf), POWERS_DECODE);
#endif
    double worst = 0;
    for (float x = 0.0031308f; x < 1e6f; x *= 1.0003f) {
        double exact = pow((double)x, (double)2.4f), root = pow((double)x, (double)(1.0f / 2.4f));
        worst = fmax(worst, fabs((double)txm_pow_positive(x, (double)2.4f) / exact - 1.0));
        worst = fmax(worst, fabs((double)txm_pow_positive(x, (double)(1.0f / 2.4f)) / root - 1.0));
    }
    ck_assert_msg(worst < 6.0e-8, "off by %g", worst); /* half an ulp is 6.0e-8 just above a power of 2 */
    ck_assert_float_eq(txm_pow_positive(1.0f, (double)2.4f), 1.0f);
    ck_assert(isinf(txm_pow_positive(INFINITY, (double)2.4f)));
    ck_assert(isinf(txm_pow_positive(INFINITY, (double)(1.0f / 2.4f))));
    ck_assert(isinf(txm_pow_positive(3e38f, (double)2.4f)));
}

/* Halves round up. The largest float below a half rounds down, although adding 0.5f to it gives 1. */
TEST(codes_round_half_up)
{
    enum { TIES = 255, EDGES = 8 };
    float row[TIES];
    uint8_t codes[TIES];
    uint16_t codes16[EDGES];
    const float edges[EDGES] = {0x1.fffffep-2f / 255.0f, 0.5f, 0.25f, 2.0f, -1.0f, NAN, INFINITY, -0.0f};
    const uint8_t expected[EDGES] = {0, 128, 64, 255, 0, 0, 255, 0};
    const uint16_t expected16[EDGES] = {128, 32768, 16384, 65535, 0, 0, 65535, 0};
    ck_assert(edges[0] * 255.0f + 0.5f == 1.0f && edges[0] * 255.0f < 0.5f);
    for (int i = 0; i < TIES; i++)
        row[i] = ((float)i + 0.5f) / 255.0f;
    for (size_t isa = 0; txm_ops_isa_name(isa); isa++) {
        const txm_ops *ops = txm_ops_isa(txm_ops_isa_name(isa));
        ops->from_float(TXM_TYPE_U8, row, codes, TIES);
        for (int i = 0; i < TIES; i++)
            ck_assert_int_eq(codes[i], (int)roundf(row[i] * 255.0f));
        ops->from_float(TXM_TYPE_U8, edges, codes, EDGES);
        ck_assert_mem_eq(codes, expected, sizeof expected);
        ops->from_float(TXM_TYPE_U16, edges, codes16, EDGES);
        ck_assert_mem_eq(codes16, expected16, sizeof expected16);
    }
}

TEST(curves_follow_the_standard)
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

/* The table that encodes to 8 bits gives the formula's values: at every threshold, at its neighbours and in between. */
TEST(table_encodes_exactly)
{
    const txm_ops *ops = reference;
    uint8_t code, previous = 0;
    for (uint32_t bits = 0x38000000u; bits < 0x3F900000u; bits += 97) {
        float v = txm_bits_float(bits);
        ops->srgb_encode(TXM_TYPE_U8, 1, TXM_CURVE_SRGB, &v, &code, 1);
        ck_assert_uint_eq(code, txm_float_to_code(txm_srgb_encode(v), 255.0f));
        if (code != previous)
            for (uint32_t near = bits - 97; near < bits + 97; near++) {
                v = txm_bits_float(near);
                ops->srgb_encode(TXM_TYPE_U8, 1, TXM_CURVE_SRGB, &v, &code, 1);
                ck_assert_uint_eq(code, txm_float_to_code(txm_srgb_encode(v), 255.0f));
            }
        previous = code;
    }
}

/* The fast path of the 8-bit encoder relies on this bound. */
TEST(near_curve_is_near)
{
    double worst = 0;
    for (uint32_t bits = 0x30000000u; bits < 0x47000000u; bits += 64) {
        float v[TXM_LANES];
        for (int i = 0; i < TXM_LANES; i++)
            v[i] = txm_bits_float(bits + 16 * (uint32_t)i);
        vf near = vf_srgb_encode_near(TXM_LOAD(vf, v));
        for (int i = 0; i < TXM_LANES; i++) {
            double exact = txm_srgb_encode(v[i]);
            worst = fmax(worst, fabs((double)near[i] - exact) / exact);
        }
    }
    ck_assert_msg(worst < 1e-6, "off by %g", worst);
}

TEST(every_code_survives_the_curve)
{
    for (uint32_t c = 0; c < 256; c++)
        for (uint32_t a = 1; a < 256; a++) {
            uint8_t in[4] = {(uint8_t)(c * a / 255), (uint8_t)(c < a ? c : a), 0, (uint8_t)a}, out[4];
            float linear[4];
            reference->srgb_decode(TXM_TYPE_U8, 4, TXM_CURVE_SRGB, in, linear, 1);
            reference->srgb_encode(TXM_TYPE_U8, 4, TXM_CURVE_SRGB, linear, out, 1);
            for (int k = 0; k < 4; k++)
                ck_assert_int_le(abs(in[k] - out[k]), 0);
        }
}

TEST(association_truncates)
{
    for (uint32_t c = 0; c < 256; c++)
        for (uint32_t a = 0; a < 256; a++) {
            uint8_t p[4] = {(uint8_t)c, (uint8_t)c, (uint8_t)c, (uint8_t)a};
            reference->associate(TXM_TYPE_U8, p, 1);
            ck_assert_uint_eq(p[1], c * a / 255);
        }
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        const txm_ops *ops = txm_ops_isa(isas[i]);
        for (uint32_t a = 0; ops && a < 65536; a += 3) {
            uint16_t p[4] = {65535, (uint16_t)(a * 7), (uint16_t)(65535 - a), (uint16_t)a}, q[4];
            memcpy(q, p, sizeof q);
            reference->associate(TXM_TYPE_U16, p, 1);
            ops->associate(TXM_TYPE_U16, q, 1);
            ck_assert(memcmp(p, q, sizeof p) == 0);
        }
    }
}

/* With halves, a product that is too large becomes the largest half, infinity counts as 65536, and zero_nonfinite sees
 * NaN. */
TEST(association_of_halves)
{
    enum { PIXELS = 9, INF = 0x7C00, MAX = 0x7BFF };
    const uint16_t in[4] = {txm_float_to_half(3000.0f), INF, 0x7E01, txm_float_to_half(50.0f)};
    const uint16_t half_alpha[4] = {INF, 0xFC00, txm_float_to_half(3.0f), txm_float_to_half(0.5f)};
    for (size_t isa = 0; txm_ops_isa_name(isa); isa++) {
        const txm_ops *ops = txm_ops_isa(txm_ops_isa_name(isa));
        uint16_t p[4 * PIXELS];
        for (int i = 0; i < PIXELS; i++)
            memcpy(p + 4 * i, i % 2 ? half_alpha : in, sizeof in);
        ops->associate(TXM_TYPE_HALF, p, PIXELS);
        for (int i = 0; i < PIXELS; i++) {
            const uint16_t *q = p + 4 * i;
            if (i % 2) {
                ck_assert_uint_eq(q[0], txm_float_to_half(32768.0f));
                ck_assert_uint_eq(q[1], txm_float_to_half(-32768.0f));
                ck_assert_uint_eq(q[2], txm_float_to_half(1.5f));
            } else {
                ck_assert(q[0] == MAX && q[1] == MAX && isnan(txm_half_to_float(q[2])));
            }
        }
        ops->zero_nonfinite(TXM_TYPE_HALF, 4, p, PIXELS);
        ck_assert(p[0] == 0 && p[3] == 0 && p[4] != 0);
    }
}

/* Encoding does not clamp halves; storing does. */
TEST(encoded_halves_overflow)
{
    enum { COUNT = 9 };
    for (size_t isa = 0; txm_ops_isa_name(isa); isa++) {
        const txm_ops *ops = txm_ops_isa(txm_ops_isa_name(isa));
        float grey[COUNT], rgba[4 * COUNT];
        uint16_t out[4 * COUNT];
        for (int i = 0; i < COUNT; i++) {
            grey[i] = 1e20f;
            memcpy(rgba + 4 * i, (const float[4]){1e20f, 0.5f, NAN, 30.0f}, 4 * sizeof *rgba);
        }
        ops->srgb_encode(TXM_TYPE_HALF, 1, TXM_CURVE_SRGB, grey, out, COUNT);
        for (int i = 0; i < COUNT; i++)
            ck_assert_uint_eq(out[i], 0x7C00);
        ops->from_float(TXM_TYPE_HALF, grey, out, COUNT);
        for (int i = 0; i < COUNT; i++)
            ck_assert_uint_eq(out[i], 0x7BFF);
        ops->srgb_encode(TXM_TYPE_HALF, 4, TXM_CURVE_SRGB, rgba, out, COUNT);
        for (int i = 0; i < COUNT; i++)
            ck_assert(out[4 * i] == 0x7C00 && out[4 * i + 1] < 0x7C00 && out[4 * i + 2] == 0);
    }
}

TEST(bilinear_positions)
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

/* A variant overwrites the scalar table. No entry may be missing, and the table must be the one that was chosen. */
TEST(every_back_end_fills_its_table)
{
    static const struct {
        const char *isa;
        void (*fill)(txm_ops *ops);
    } fills[] = {
        {"scalar", txm_ops_fill_scalar},
#if defined(__x86_64__)
        {"avx2", txm_ops_fill_avx2},
        {"avx512", txm_ops_fill_avx512},
#elif defined(__aarch64__)
        {"neon", txm_ops_fill_neon},
#endif
    };
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++) {
        const txm_ops *chosen = txm_ops_isa(fills[i].isa);
        txm_ops ops;
        if (!chosen)
            continue; /* this processor does not support it */
        memset(&ops, 0, sizeof ops);
        txm_ops_fill_scalar(&ops);
        void *const *entry = (void *const *)&ops.to_float;
        for (size_t e = 0; e < (sizeof ops - offsetof(txm_ops, to_float)) / sizeof *entry; e++)
            ck_assert_ptr_nonnull(entry[e]);
        fills[i].fill(&ops);
        ck_assert_mem_eq(&ops.to_float, &chosen->to_float, sizeof ops - offsetof(txm_ops, to_float));
    }
    /* By definition, a box of four pixels gives their mean. */
    txm_ops scalar;
    float row0[4] = {1, 2, 3, 4}, row1[4] = {5, 6, 7, 8}, out[2];
    memset(&scalar, 0, sizeof scalar);
    txm_ops_fill_scalar(&scalar);
    scalar.box(1, row0, row1, out, 2);
    ck_assert(out[0] == 3.5f && out[1] == 5.5f);
}

TEST(srgb_tables_are_the_curve)
{
    const txm_tables *t = txm_tables_of_u8();
    ck_assert(t->u8_grey[0] <= 0.0f && t->u8_grey[255] >= 1.0f);
    ck_assert(fabsf(t->u8_grey[128] - 0.2158605f) < 1e-6f);
    for (int i = 1; i < 256; i++)
        ck_assert(t->u8_grey[i] > t->u8_grey[i - 1]);
    ck_assert_ptr_eq(txm_tables_of_u16(), t);
    ck_assert(fabsf(t->u16_grey[128 * 257] - t->u8_grey[128]) < 1e-6f);
}

int main(void)
{
    reference = txm_ops_isa("scalar");
    return run_tests();
}
