/* SPDX-License-Identifier: Apache-2.0
 *
 * The bodies of the kernels: what each thread does. They are C over arith.h, which CUDA and OpenCL compile for devices
 * and tests run in loops over the same grids (src/device/convert/entries.h); all give the bits of scalar C. A job has
 * one block of device memory, `m`, and places in it are byte offsets. A body is also called for threads of the grid
 * beyond the image, so it checks its bounds. `type` and `channels` are separate arguments so that a kernel can pass
 * constants, which the compiler propagates.
 */
#ifndef TXM_GPU_KERNELS_H
#define TXM_GPU_KERNELS_H
#include "mill/gpu/pixel.h"

/* A level's rows in storage type: the newest ones in a ring buffer, the first ones (which the repeat extension needs
 * again at the end) separately. */
typedef struct txm_gpu_store {
    uint64_t head, recent;        /* offsets of the two parts */
    uint32_t head_rows, capacity; /* rows of each part */
    uint64_t stride_bytes;
} txm_gpu_store;

/* A level's rows as linear float32, from which the next level is filtered; also a ring buffer. */
typedef struct txm_gpu_floats {
    uint64_t rows;                /* offset */
    uint64_t stride;              /* samples */
    uint32_t capacity, none_kept; /* capacity in rows; none_kept: there is no next level */
} txm_gpu_floats;

TXM_ARITH TXM_GLOBAL uint8_t *txm_gpu_row(TXM_GLOBAL uint8_t *m, const txm_gpu_store *s, uint32_t y)
{
    return m + (y < s->head_rows ? s->head + y * s->stride_bytes : s->recent + (y % s->capacity) * s->stride_bytes);
}

TXM_ARITH TXM_GLOBAL float *txm_gpu_float_row(TXM_GLOBAL uint8_t *m, const txm_gpu_floats *f, uint32_t y)
{
    return (TXM_GLOBAL float *)(TXM_GLOBAL void *)(m + f->rows) + (y % f->capacity) * f->stride;
}

/* Stores a filtered pixel: in storage type, and in float32 for the next level. */
TXM_ARITH void txm_gpu_keep(TXM_GLOBAL uint8_t *m, txm_type type, uint32_t channels, txm_curve curve,
                            TXM_GLOBAL const txm_tables *t, txm_gpu_light p, uint32_t x, uint32_t y,
                            const txm_gpu_store *store, const txm_gpu_floats *floats)
{
    txm_gpu_pixel stored = txm_gpu_encode(type, channels, curve, t, p);
    txm_gpu_save(type, channels, stored, txm_gpu_row(m, store, y) + (uint64_t)x * channels * txm_gpu_bytes(type));
    if (floats->none_kept)
        return;
    txm_gpu_save_light(channels, p, txm_gpu_float_row(m, floats, y) + (uint64_t)x * channels);
}

/* Level 0 and, where both edges are even, level 1 in one pass over the source. */
typedef struct txm_gpu_ingest {
    txm_type type;
    uint32_t channels; /* stored: 1 or 4; 1 after RGBA keeps the first channel of grey */
    uint64_t raw;      /* offset of the chunk's rows as the source delivers them */
    uint64_t raw_stride_bytes;
    uint32_t width, y, rows; /* place of the chunk; y is even */
    uint32_t gives_rows;     /* a tight copy of the chunk's stored rows goes to rows_out */
    txm_gpu_conform conform;
    uint64_t rows_out;
    uint32_t box, curve; /* box: make level 1 too */
    txm_gpu_store store0, store1;
    txm_gpu_floats floats1;
} txm_gpu_ingest;

/* Handles two by two pixels: (2 qx, 2 qy) of the chunk and its neighbours. */
TXM_ARITH void txm_gpu_ingest_body(const txm_gpu_ingest *a, TXM_GLOBAL uint8_t *m, TXM_GLOBAL const txm_tables *t,
                                   txm_type type, uint32_t channels, uint32_t qx, uint32_t qy)
{
    uint32_t src_bytes = a->conform.src_channels * txm_gpu_bytes(type), bytes = channels * txm_gpu_bytes(type);
    txm_gpu_light quad[4] = {{{0}}};
    if (2 * qx >= a->width || 2 * qy >= a->rows)
        return;
    TXM_GPU_UNROLL
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t x = 2 * qx + (i & 1), row = 2 * qy + (i >> 1);
        if (x >= a->width || row >= a->rows)
            continue;
        TXM_GLOBAL const uint8_t *src = m + a->raw + row * a->raw_stride_bytes + (uint64_t)x * src_bytes;
        txm_gpu_pixel p = txm_gpu_conform_pixel(type, &a->conform, txm_gpu_load(type, a->conform.src_channels, src));
        txm_gpu_save(type, channels, p, txm_gpu_row(m, &a->store0, a->y + row) + (uint64_t)x * bytes);
        if (a->gives_rows)
            txm_gpu_save(type, channels, p, m + a->rows_out + ((uint64_t)row * a->width + x) * bytes);
        if (a->box)
            quad[i] = txm_gpu_decode(type, channels, (txm_curve)a->curve, t, p);
    }
    if (!a->box)
        return;
    txm_gpu_light p = {{0, 0, 0, 0}};
    for (uint32_t c = 0; c < channels; c++)
        p.v[c] = txm_box(quad[0].v[c], quad[1].v[c], quad[2].v[c], quad[3].v[c]);
    txm_gpu_keep(m, type, channels, (txm_curve)a->curve, t, p, qx, a->y / 2 + qy, &a->store1, &a->floats1);
}

/* Statistics of one row of level 0, before RGBA that is grey loses its other channels. */
typedef struct txm_gpu_row_stats {
    double sum[4];        /* sums of samples as float32, as in txm_stats */
    float min[4], max[4]; /* stored integers */
    uint32_t grey;        /* r == g == b and full alpha in every pixel */
} txm_gpu_row_stats;

typedef struct txm_gpu_count {
    txm_type type;
    uint32_t width;
    uint64_t raw, raw_stride_bytes;
    uint32_t rows;
    txm_gpu_conform conform;
    uint64_t out; /* offset of one txm_gpu_row_stats per row */
} txm_gpu_count;

/* Sums one channel of one row. The rows of a chunk are enough to keep a GPU busy. */
TXM_ARITH void txm_gpu_count_body(const txm_gpu_count *a, TXM_GLOBAL uint8_t *m, txm_type type, uint32_t channel,
                                  uint32_t row)
{
    if (row >= a->rows || channel >= a->conform.channels)
        return;
    TXM_GLOBAL const uint8_t *src = m + a->raw + row * a->raw_stride_bytes;
    uint32_t step = a->conform.src_channels * txm_gpu_bytes(type), one = txm_gpu_one(type);
    uint64_t shares = 0;
    float min = 0, max = 0;
    bool grey = a->conform.channels == 4;
    for (uint32_t x = 0; x < a->width; x++, src += step) {
        txm_gpu_pixel p = txm_gpu_conform_pixel(type, &a->conform, txm_gpu_load(type, a->conform.src_channels, src));
        uint32_t sample = channel < 2 ? p.v[channel ? 1 : 0] : p.v[channel == 2 ? 2 : 3];
        float v = (float)sample;
        shares += txm_sample_share(txm_gpu_to_float(type, sample));
        min = x == 0 || v < min ? v : min;
        max = x == 0 || v > max ? v : max;
        grey = grey && p.v[0] == p.v[1] && p.v[1] == p.v[2] && p.v[3] == one;
    }
    TXM_GLOBAL txm_gpu_row_stats *out = (TXM_GLOBAL txm_gpu_row_stats *)(TXM_GLOBAL void *)(m + a->out) + row;
    out->sum[channel] = txm_shares_sum(shares);
    out->min[channel] = min;
    out->max[channel] = max;
    if (channel == 0)
        out->grey = grey;
}

typedef struct txm_gpu_level {
    txm_type type;
    uint32_t channels;
    uint32_t box, curve;
    uint32_t src_width, src_height, width, height;
    uint32_t y, rows;        /* the rows to make */
    uint32_t from_store;     /* the level below is level 0, in storage type */
    txm_gpu_store src_store; /* its rows if from_store */
    txm_gpu_floats src, dst; /* src: its rows otherwise */
    txm_gpu_store store;
} txm_gpu_level;

TXM_ARITH txm_gpu_light txm_gpu_source(const txm_gpu_level *a, TXM_GLOBAL uint8_t *m, TXM_GLOBAL const txm_tables *t,
                                       txm_type type, uint32_t channels, uint32_t x, uint32_t y)
{
    if (!a->from_store)
        return txm_gpu_load_light(channels, txm_gpu_float_row(m, &a->src, y) + (uint64_t)x * channels);
    TXM_GLOBAL const uint8_t *p = txm_gpu_row(m, &a->src_store, y) + (uint64_t)x * channels * txm_gpu_bytes(type);
    return txm_gpu_decode(type, channels, (txm_curve)a->curve, t, txm_gpu_load(type, channels, p));
}

TXM_ARITH void txm_gpu_level_body(const txm_gpu_level *a, TXM_GLOBAL uint8_t *m, TXM_GLOBAL const txm_tables *t,
                                  txm_type type, uint32_t channels, uint32_t x, uint32_t row)
{
    uint32_t y = a->y + row, x0 = 2 * x, x1 = 2 * x + 1, y0 = 2 * y, y1 = 2 * y + 1;
    float f = 0.5f, g = 0.5f;
    if (x >= a->width || row >= a->rows)
        return;
    if (!a->box) {
        txm_bilinear_position(x, a->width, a->src_width, &x0, &x1, &f);
        txm_bilinear_position(y, a->height, a->src_height, &y0, &y1, &g);
    }
    const txm_gpu_light none = {{0, 0, 0, 0}};
    bool right = a->src_width > 1, below = a->src_height > 1;
    txm_gpu_light p00 = txm_gpu_source(a, m, t, type, channels, x0, y0), p10 = none, p01 = none, p11 = none, p = none;
    if (right)
        p10 = txm_gpu_source(a, m, t, type, channels, x1, y0);
    if (below)
        p01 = txm_gpu_source(a, m, t, type, channels, x0, y1);
    if (right && below)
        p11 = txm_gpu_source(a, m, t, type, channels, x1, y1);
    for (uint32_t c = 0; c < channels; c++)
        p.v[c] = a->box ? txm_box(p00.v[c], p10.v[c], p01.v[c], p11.v[c])
                        : txm_bilinear(p00.v[c], p10.v[c], p01.v[c], p11.v[c], f, g);
    txm_gpu_keep(m, type, channels, (txm_curve)a->curve, t, p, x, y, &a->store, &a->dst);
}

/* Makes whole rows of tiles for the compressor: TIFF tiles are full, with the last pixel and row repeated. Tiles are
 * contiguous. */
typedef struct txm_gpu_tiles {
    txm_type type;
    uint32_t channels, tile_px, tile_shift; /* tile_px = 1 << tile_shift, since a shift is cheaper than a division */
    uint32_t filter;                        /* the horizontal predictor */
    uint32_t width, height;                 /* size of the level */
    uint32_t y, bands;                      /* y: first row, a multiple of tile_px; bands: number of rows of tiles */
    txm_gpu_store store;
    uint64_t out;
} txm_gpu_tiles;

TXM_ARITH uint32_t txm_gpu_shift(uint32_t tile_px)
{
    uint32_t shift = 0;
    while (1u << shift < tile_px)
        shift++;
    return shift;
}

/* Bytes of one row of tiles. */
TXM_ARITH uint64_t txm_gpu_tiles_bytes(txm_type type, uint32_t channels, uint32_t tile_px, uint32_t width)
{
    uint64_t pixel = channels * txm_gpu_bytes(type), across = (width + tile_px - 1) / tile_px;
    return across * tile_px * tile_px * pixel;
}

/* Makes pixel x of row `row` in a row of tiles. */
TXM_ARITH void txm_gpu_tiles_body(const txm_gpu_tiles *a, TXM_GLOBAL uint8_t *m, txm_type type, uint32_t channels,
                                  uint32_t x, uint32_t row, uint32_t band)
{
    if (band >= a->bands || row >= a->tile_px || x >= (a->width + a->tile_px - 1) >> a->tile_shift << a->tile_shift)
        return;
    uint32_t bytes = channels * txm_gpu_bytes(type), tile = x >> a->tile_shift, in = x & (a->tile_px - 1);
    uint32_t y0 = a->y + band * a->tile_px, last_y = a->height - 1, y = y0 + row < last_y ? y0 + row : last_y;
    uint64_t band_bytes = txm_gpu_tiles_bytes(type, channels, a->tile_px, a->width);
    uint64_t at = (((uint64_t)tile << a->tile_shift) + row) << a->tile_shift;
    TXM_GLOBAL const uint8_t *src = txm_gpu_row(m, &a->store, y);
    txm_gpu_pixel v = txm_gpu_load(type, channels, src + (uint64_t)(x < a->width ? x : a->width - 1) * bytes);
    /* A repeated pixel differs from its neighbour by zero. */
    if (a->filter && in) {
        txm_gpu_pixel left = v;
        if (x < a->width)
            left = txm_gpu_load(type, channels, src + (uint64_t)(x - 1) * bytes);
        for (uint32_t c = 0; c < channels; c++)
            v.v[c] = (v.v[c] - left.v[c]) & (type == TXM_TYPE_U8 ? 0xFFu : 0xFFFFu);
    }
    txm_gpu_save(type, channels, v, m + a->out + band * band_bytes + (at + in) * bytes);
}

/* Number of threads for one line. */
TXM_ARITH uint32_t txm_gpu_tiles_threads(const txm_gpu_tiles *a)
{
    return (a->width + a->tile_px - 1) / a->tile_px * a->tile_px;
}

/* Makes for each tile its border in the order of tile/reader/border_order.h, followed by the tile's own outermost
 * pixels, from which the border is predicted when it is encoded: first row, last row, first column, last column. */
typedef struct txm_gpu_borders {
    txm_type type;
    uint32_t channels, tile_px;
    uint32_t width, height;
    uint32_t y, bands; /* as in txm_gpu_tiles */
    txm_gpu_store store;
    uint64_t out;
} txm_gpu_borders;

/* Number of pixels of one record. */
TXM_ARITH uint32_t txm_gpu_border_pixels(uint32_t w, uint32_t h)
{
    return 4 * (w + h + 4) + 2 * (w + h);
}

/* Number of pixels of the records of one row of tiles with `rows` valid pixel rows. */
TXM_ARITH uint32_t txm_gpu_borders_pixels(uint32_t tile_px, uint32_t width, uint32_t rows)
{
    uint32_t full = width / tile_px, rest = width % tile_px;
    return full * txm_gpu_border_pixels(tile_px, rows) + (rest ? txm_gpu_border_pixels(rest, rows) : 0);
}

/* The position of pixel `i` of a record, relative to the tile's first pixel. */
TXM_ARITH void txm_gpu_border_place(uint32_t i, uint32_t w, uint32_t h, int32_t *x, int32_t *y)
{
    uint32_t row = w + 4, sides = 2 * row, below = sides + 4 * h, edges = below + 2 * row, columns = edges + 2 * w;
    if (i < sides || (i >= below && i < edges)) { /* two rows above, two below */
        uint32_t k = i < sides ? i : i - below, second = k >= row;
        *x = (int32_t)(k - second * row) - 2;
        *y = i < sides ? (int32_t)second - 2 : (int32_t)(h + second);
    } else if (i < below) { /* two pixels on either side */
        int32_t k = (int32_t)((i - sides) % 4);
        *x = k < 2 ? k - 2 : (int32_t)w + k - 2;
        *y = (int32_t)((i - sides) / 4);
    } else if (i < columns) {
        uint32_t last = i - edges >= w;
        *x = (int32_t)(i - edges - last * w);
        *y = last ? (int32_t)h - 1 : 0;
    } else {
        uint32_t last = i - columns >= h;
        *x = last ? (int32_t)w - 1 : 0;
        *y = (int32_t)(i - columns - last * h);
    }
}

/* A level may be narrower than the border, so the plane repeats as often as needed. */
TXM_ARITH uint32_t txm_gpu_wrap(uint32_t origin, int32_t offset, uint32_t size)
{
    uint32_t v = origin + 2 * size + (uint32_t)offset;
    return v >= 2 * size && v < 3 * size ? v - 2 * size : v % size;
}

/* Makes pixel `i` of the record of one tile. */
TXM_ARITH void txm_gpu_borders_body(const txm_gpu_borders *a, TXM_GLOBAL uint8_t *m, txm_type type, uint32_t channels,
                                    uint32_t i, uint32_t tile, uint32_t band)
{
    uint32_t px = a->tile_px, x0 = tile * px, y0 = a->y + band * px, bytes = channels * txm_gpu_bytes(type);
    if (band >= a->bands || x0 >= a->width)
        return;
    uint32_t w = a->width - x0 < px ? a->width - x0 : px, h = a->height - y0 < px ? a->height - y0 : px;
    if (i >= txm_gpu_border_pixels(w, h))
        return;
    int32_t dx, dy;
    txm_gpu_border_place(i, w, h, &dx, &dy);
    TXM_GLOBAL const uint8_t *row = txm_gpu_row(m, &a->store, txm_gpu_wrap(y0, dy, a->height));
    uint64_t at =
        (uint64_t)txm_gpu_borders_pixels(px, a->width, px) * band + (uint64_t)tile * txm_gpu_border_pixels(px, h) + i;
    txm_gpu_pixel p = txm_gpu_load(type, channels, row + (uint64_t)txm_gpu_wrap(x0, dx, a->width) * bytes);
    txm_gpu_save(type, channels, p, m + a->out + at * bytes);
}
#endif
