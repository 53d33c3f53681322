/* SPDX-License-Identifier: Apache-2.0
 *
 * Operations on single pixels for the kernels: loading, conforming, curves, storing. They are C over arith.h, with
 * `type` and `channels` as arguments, so that kernels can pass constants.
 */
#ifndef TXM_GPU_PIXEL_H
#define TXM_GPU_PIXEL_H
#include "tile/ops/arith.h"
#include "tile/ops/tables.h"
#include "txtile/pixel.h"

/* Put in front of a loop whose arrays are to stay in registers. */
#ifdef __CUDA_ARCH__
#define TXM_GPU_UNROLL _Pragma("unroll")
#else
#define TXM_GPU_UNROLL
#endif

typedef struct txm_gpu_pixel {
    uint32_t v[4]; /* the bits of each sample */
} txm_gpu_pixel;

/* Loads words: RGBA pixels are one or two of them, and their rows are aligned to a pixel. */
TXM_ARITH uint32_t txm_gpu_load_16(TXM_GLOBAL const uint8_t *p)
{
    uint16_t v;
    TXM_TAKE(uint16_t, v, p);
    return v;
}

TXM_ARITH uint32_t txm_gpu_load_32(TXM_GLOBAL const uint8_t *p)
{
    uint32_t v;
    TXM_TAKE(uint32_t, v, p);
    return v;
}

TXM_ARITH uint64_t txm_gpu_load_64(TXM_GLOBAL const uint8_t *p)
{
    uint64_t v;
    TXM_TAKE(uint64_t, v, p);
    return v;
}

TXM_ARITH void txm_gpu_save_16(TXM_GLOBAL uint8_t *p, uint32_t v)
{
    const uint16_t sample = (uint16_t)v;
    TXM_PUT(uint16_t, p, sample);
}

TXM_ARITH void txm_gpu_save_32(TXM_GLOBAL uint8_t *p, uint32_t v)
{
    TXM_PUT(uint32_t, p, v);
}

TXM_ARITH void txm_gpu_save_64(TXM_GLOBAL uint8_t *p, uint64_t v)
{
    TXM_PUT(uint64_t, p, v);
}

TXM_ARITH uint32_t txm_gpu_bytes(txm_type type)
{
    return type == TXM_TYPE_U8 ? 1 : 2;
}

TXM_ARITH txm_gpu_pixel txm_gpu_load(txm_type type, uint32_t channels, TXM_GLOBAL const uint8_t *p)
{
    txm_gpu_pixel out = {{0, 0, 0, 0}};
    if (channels == 4 && type == TXM_TYPE_U8) {
        uint32_t word = txm_gpu_load_32(p);
        for (int c = 0; c < 4; c++)
            out.v[c] = word >> (8 * c) & 0xFF;
        return out;
    }
    if (channels == 4 && type != TXM_TYPE_FLOAT) {
        uint64_t word = txm_gpu_load_64(p);
        for (int c = 0; c < 4; c++)
            out.v[c] = (uint32_t)(word >> (16 * c)) & 0xFFFF;
        return out;
    }
    /* The loop is unrolled, because an array with a variable index would be placed in slow memory. */
    for (uint32_t c = 0; c < 4; c++)
        if (c < channels)
            out.v[c] = type == TXM_TYPE_U8 ? p[c] : txm_gpu_load_16(p + 2 * c);
    return out;
}

TXM_ARITH void txm_gpu_save(txm_type type, uint32_t channels, txm_gpu_pixel v, TXM_GLOBAL uint8_t *p)
{
    if (channels == 4 && type == TXM_TYPE_U8) {
        txm_gpu_save_32(p, v.v[0] | v.v[1] << 8 | v.v[2] << 16 | v.v[3] << 24);
        return;
    }
    if (channels == 4 && type != TXM_TYPE_FLOAT) {
        txm_gpu_save_64(p, (uint64_t)(v.v[0] | v.v[1] << 16) | (uint64_t)(v.v[2] | v.v[3] << 16) << 32);
        return;
    }
    for (uint32_t c = 0; c < channels; c++) {
        if (type == TXM_TYPE_U8)
            p[c] = (uint8_t)v.v[c];
        else
            txm_gpu_save_16(p + 2 * c, v.v[c]);
    }
}

typedef struct txm_gpu_conform {
    uint32_t src_channels, channels; /* channels: after widening, 1 or 4 */
    uint32_t associate, set_opaque;  /* flags */
} txm_gpu_conform;

TXM_ARITH uint32_t txm_gpu_one(txm_type type)
{
    return type == TXM_TYPE_U8 ? 255 : 65535;
}

TXM_ARITH uint32_t txm_gpu_times(txm_type type, uint32_t c, uint32_t a)
{
    return type == TXM_TYPE_U8 ? c * a / 255u : c * a / 65535u;
}

/* Converts a pixel of the source to one of level 0. */
TXM_ARITH txm_gpu_pixel txm_gpu_conform_pixel(txm_type type, const txm_gpu_conform *f, txm_gpu_pixel p)
{
    if (f->channels == 4 && f->src_channels < 4) {
        p.v[3] = f->src_channels == 2 ? p.v[1] : txm_gpu_one(type);
        if (f->src_channels < 3)
            p.v[1] = p.v[2] = p.v[0];
    }
    if (f->associate)
        for (int c = 0; c < 3; c++)
            p.v[c] = txm_gpu_times(type, p.v[c], p.v[3]);
    if (f->set_opaque)
        p.v[3] = txm_gpu_one(type);
    return p;
}

typedef struct txm_gpu_light {
    float v[4];
} txm_gpu_light;

TXM_ARITH float txm_gpu_to_float(txm_type type, uint32_t v)
{
    return type == TXM_TYPE_U8 ? txm_u8_to_float((uint8_t)v) : txm_u16_to_float((uint16_t)v);
}

/* Converts a stored pixel to the float32 in which levels are filtered. */
TXM_ARITH txm_gpu_light txm_gpu_decode(txm_type type, uint32_t channels, txm_curve curve,
                                       TXM_GLOBAL const txm_tables *t, txm_gpu_pixel p)
{
    txm_gpu_light out = {{0, 0, 0, 0}};
    for (uint32_t c = 0; c < channels; c++)
        out.v[c] = txm_gpu_to_float(type, p.v[c]);
    if (!curve)
        return out;
    if (channels == 1) {
        out.v[0] = type == TXM_TYPE_U8 ? t->u8_grey[p.v[0]] : t->u16_grey[p.v[0]];
    } else if (type == TXM_TYPE_U8) {
        for (int c = 0; c < 3; c++)
            out.v[c] = t->u8_rgba[curve == TXM_CURVE_SRGB_PACKED ? 255 : p.v[3]][p.v[c]];
    } else if (p.v[3] == 0 || p.v[3] == 65535 || curve == TXM_CURVE_SRGB_PACKED) {
        for (int c = 0; c < 3; c++)
            out.v[c] = t->u16_opaque[p.v[c]];
    } else {
        txm_srgb_decode_pixel(curve, out.v);
    }
    return out;
}

TXM_ARITH uint32_t txm_gpu_from_float(txm_type type, float v)
{
    return txm_float_to_code(v, type == TXM_TYPE_U8 ? 255.0f : 65535.0f);
}

/* Converts a float32 pixel to a stored one. */
TXM_ARITH txm_gpu_pixel txm_gpu_encode(txm_type type, uint32_t channels, txm_curve curve,
                                       TXM_GLOBAL const txm_tables *t, txm_gpu_light p)
{
    txm_gpu_pixel out = {{0, 0, 0, 0}};
    bool table = curve && type == TXM_TYPE_U8 && (channels == 1 || !txm_curve_divides(curve, p.v[3]));
    uint32_t colors = channels == 1 ? 1 : 3;
    if (table) {
        for (uint32_t c = 0; c < colors; c++) {
            uint32_t bits = txm_float_bits(p.v[c]);
            out.v[c] = txm_srgb8_code(t->srgb8[txm_srgb8_bin(bits)], bits);
        }
    } else if (curve && channels == 1) {
        p.v[0] = txm_srgb_encode(p.v[0]);
    } else if (curve) {
        txm_srgb_encode_pixel(curve, p.v);
    }
    for (uint32_t c = 0; c < channels; c++)
        if (!table || c >= colors)
            out.v[c] = txm_gpu_from_float(type, p.v[c]);
    return out;
}

TXM_ARITH txm_gpu_light txm_gpu_load_light(uint32_t channels, TXM_GLOBAL const float *p)
{
    txm_gpu_light out = {{0, 0, 0, 0}};
#ifdef __CUDA_ARCH__
    if (channels == 4) {
        float4 v = *(const float4 *)p;
        out.v[0] = v.x, out.v[1] = v.y, out.v[2] = v.z, out.v[3] = v.w;
        return out;
    }
#endif
    for (uint32_t c = 0; c < channels; c++)
        out.v[c] = p[c];
    return out;
}

TXM_ARITH void txm_gpu_save_light(uint32_t channels, txm_gpu_light v, TXM_GLOBAL float *p)
{
#ifdef __CUDA_ARCH__
    if (channels == 4) {
        *(float4 *)p = make_float4(v.v[0], v.v[1], v.v[2], v.v[3]);
        return;
    }
#endif
    for (uint32_t c = 0; c < channels; c++)
        p[c] = v.v[c];
}
#endif
