/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs of the GPU plug-in against scalar C, bit for bit: conforming, statistics, every level, tiles as the compressor
 * gets them, and borders, for every type, on random pixels and on edge values, at odd sizes, in chunks of every height.
 * `make check` runs them on the CPU (tests/device/gpu_runtime.c); `make check-gpu` with TXM_GPU_PLUGIN on a GPU.
 */
#include <dlfcn.h>

#include "mill/encode/filter.h"
#include "mill/encode/tile.h"
#include "mill/gpu/gpu_abi.h"
#include "mill/pyramid/border.h"
#include "mill/pyramid/pyramid.h"
#include "tile/ops/ops.h"
#include "util_check.h"

static const txm_device_plugin *plugin;
static const txm_gpu_jobs *gpu;
static const txm_ops *ops;
static uint32_t seed = 5;
static unsigned compressed; /* tiles that the device compressed */

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* ---- the image -------------------------------------------------------------------------------------------------- */

typedef struct image {
    txm_gpu_plan plan;
    uint8_t *raw;
    uint8_t *wide;                  /* level 0 conformed, before grey drops its channels */
    uint8_t *level[TXM_MAX_LEVELS]; /* as stored */
    uint32_t levels;
} image;

static size_t stored_row(const image *m, uint32_t level)
{
    return (size_t)txm_level_size(m->plan.width, level) * m->plan.channels * txm_type_bytes(m->plan.type);
}

static size_t raw_row(const image *m)
{
    return (size_t)m->plan.width * m->plan.conform.src_channels * txm_type_bytes(m->plan.type);
}

static size_t wide_row(const image *m)
{
    return (size_t)m->plan.width * m->plan.conform.channels * txm_type_bytes(m->plan.type);
}

static void random_sample(txm_type type, uint8_t *p)
{
    const uint16_t u = (uint16_t)(next_random() % 5 ? next_random() : 65535);
    if (type == TXM_TYPE_U8)
        *p = (uint8_t)(u >> 8);
    else
        memcpy(p, &u, sizeof u);
}

/* Grey images are opaque, and their colour channels are equal. */
static void fill(image *m)
{
    const txm_gpu_conform *c = &m->plan.conform;
    size_t b = txm_type_bytes(m->plan.type), pixels = (size_t)m->plan.width * m->plan.height;
    bool grey = c->channels == 4 && m->plan.channels == 1;
    for (size_t i = 0; i < pixels; i++) {
        uint8_t *p = m->raw + i * c->src_channels * b;
        for (uint32_t k = 0; k < c->src_channels; k++) {
            random_sample(m->plan.type, p + k * b);
            if (grey && (k == 1 || k == 2))
                memcpy(p + k * b, p, b);
        }
        if (grey && c->src_channels == 4)
            ops->set_opaque(m->plan.type, p, 1);
    }
}

static void conform_rows(const image *m)
{
    const txm_gpu_conform *c = &m->plan.conform;
    txm_type t = m->plan.type;
    for (uint32_t y = 0; y < m->plan.height; y++) {
        uint8_t *row = m->wide + y * wide_row(m);
        const uint8_t *src = m->raw + y * raw_row(m);
        if (c->src_channels == c->channels)
            memcpy(row, src, wide_row(m));
        if (c->src_channels != c->channels)
            ops->widen(t, c->src_channels, src, row, m->plan.width);
        if (c->associate)
            ops->associate(t, row, m->plan.width);
        if (c->set_opaque)
            ops->set_opaque(t, row, m->plan.width);
        uint8_t *stored = m->level[0] + y * stored_row(m, 0);
        if (m->plan.channels == c->channels)
            memcpy(stored, row, stored_row(m, 0));
        else
            ops->take_first(t, row, stored, m->plan.width);
    }
}

static void *place(void *context, uint32_t level, uint32_t y)
{
    const image *m = context;
    return m->level[level] + y * stored_row(m, level);
}

static void placed(void *context, uint32_t level, uint32_t y)
{
    (void)context, (void)level, (void)y;
}

static void make_levels(image *m)
{
    const txm_gpu_plan *p = &m->plan;
    const txm_pyramid_spec spec = {p->width, p->height, p->channels, p->type, p->curve, false, false, 0};
    const txm_pyramid_sink sink = {m, place, placed};
    SCOPED(txm_pyramid_free) txm_pyramid *pyramid = NULL;
    ck_assert(!txm_pyramid_new(&spec, ops, &sink, &pyramid, NULL));
    ck_assert(txm_pyramid_push(pyramid, m->level[0], stored_row(m, 0), p->height));
}

static image image_new(const txm_gpu_plan *plan)
{
    image m = {.plan = *plan, .levels = txm_level_count(plan->width, plan->height)};
    m.raw = malloc(raw_row(&m) * plan->height + 8);
    m.wide = malloc(wide_row(&m) * plan->height);
    for (uint32_t l = 0; l < m.levels; l++)
        m.level[l] = malloc(stored_row(&m, l) * txm_level_size(plan->height, l));
    fill(&m);
    conform_rows(&m);
    make_levels(&m);
    return m;
}

static void image_free(image *m)
{
    free(m->raw);
    free(m->wide);
    for (uint32_t l = 0; l < m->levels; l++)
        free(m->level[l]);
}

/* ---- expected results -------------------------------------------------------------------------------------------- */

/* Returns the bytes of one tile as the compressor would get them, and their number. */
static size_t expected_tile(const image *m, uint32_t level, uint32_t x, uint32_t y, uint32_t w, uint32_t h,
                            uint8_t *out)
{
    const txm_gpu_plan *p = &m->plan;
    const txm_tile_format format = {p->type, p->channels, p->tile_px, {TXM_CODEC_NONE, 0}};
    size_t pixel = p->channels * txm_type_bytes(p->type), bytes = 0, row = p->tile_px * pixel;
    SCOPED(txm_tile_encoder_free) txm_tile_encoder *e = NULL;
    const void *plain = NULL;
    ck_assert(!txm_tile_encoder_new(&format, &e, NULL));
    ck_assert(!txm_tile_encode(e, m->level[level] + y * stored_row(m, level) + x * pixel, stored_row(m, level), w, h,
                               &plain, &bytes, NULL));
    for (uint32_t r = 0; r < p->tile_px && p->filter; r++) {
        const uint8_t *src = (const uint8_t *)plain + r * row;
        if (p->type == TXM_TYPE_U8)
            txm_predict_row_u8(src, row, p->channels, out + r * row);
        else
            txm_predict_row_u16((const uint16_t *)(const void *)src, row / 2, p->channels,
                                (uint16_t *)(void *)(out + r * row));
    }
    if (!p->filter)
        memcpy(out, plain, bytes);
    return bytes;
}

typedef struct rows_of {
    const image *m;
    uint32_t level;
} rows_of;

static const uint8_t *level_row(void *context, uint32_t y)
{
    const rows_of *r = context;
    return r->m->level[r->level] + y * stored_row(r->m, r->level);
}

/* Returns the border and edges of one tile. */
static size_t expected_border(const image *m, uint32_t level, uint32_t x, uint32_t y, uint32_t w, uint32_t h,
                              uint8_t *out)
{
    size_t pixel = m->plan.channels * txm_type_bytes(m->plan.type), stride = stored_row(m, level);
    uint32_t lw = txm_level_size(m->plan.width, level), lh = txm_level_size(m->plan.height, level);
    const uint8_t *tile = m->level[level] + y * stride + x * pixel;
    rows_of rows = {m, level};
    txm_border_gather(level_row, &rows, lw, lh, pixel, x, y, w, h, out);
    uint8_t *at = out + txm_border_pixels(w, h) * pixel;
    memcpy(at, tile, w * pixel);
    memcpy(at + w * pixel, tile + (h - 1) * stride, w * pixel);
    at += 2 * w * pixel;
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t r = 0; r < h; r++, at += pixel)
            memcpy(at, tile + r * stride + (side ? w - 1 : 0) * pixel, pixel);
    return (size_t)(at - out);
}

/* Compressed tiles are the CPU's streams; the others come back as the compressor would get them. */
static void check_packed(const image *m, const txm_gpu_piece *piece)
{
    const txm_gpu_plan *p = &m->plan;
    const txm_tile_format format = {p->type, p->channels, p->tile_px, {TXM_CODEC_ZIP, p->level}};
    uint32_t width = txm_level_size(p->width, piece->level), px = p->tile_px;
    size_t pixel = p->channels * txm_type_bytes(p->type), n = 0;
    FREED uint8_t *filtered = malloc((size_t)px * px * 16);
    SCOPED(txm_tile_encoder_free) txm_tile_encoder *e = NULL;
    ck_assert(!txm_tile_encoder_new(&format, &e, NULL));
    for (uint32_t x = 0, i = 0; x < width; x += px, i++) {
        const txm_gpu_packed *packed = &piece->packed[i];
        uint32_t w = width - x < px ? width - x : px;
        const void *want = filtered;
        if (packed->encoded)
            ck_assert(!txm_tile_encode(e, m->level[piece->level] + piece->y * stored_row(m, piece->level) + x * pixel,
                                       stored_row(m, piece->level), w, piece->rows, &want, &n, NULL));
        else
            n = expected_tile(m, piece->level, x, piece->y, w, piece->rows, filtered);
        ck_assert_msg(n == packed->size && memcmp(want, piece->bytes + packed->at, n) == 0,
                      "%s %ux%u (%u channels, level %d): %s tile of level %u at %u,%u", txm_type_name(p->type),
                      p->width, p->height, p->channels, p->level, packed->encoded ? "compressed" : "filtered",
                      piece->level, x, piece->y);
        compressed += packed->encoded;
    }
}

static void check_piece(const image *m, const txm_gpu_piece *piece)
{
    if (piece->packed) {
        check_packed(m, piece);
        return;
    }
    ck_assert(piece->kind != TXM_GPU_TILES || !m->plan.encoders);
    uint32_t width = txm_level_size(m->plan.width, piece->level), px = m->plan.tile_px;
    FREED uint8_t *want = malloc(((size_t)px * px + 64 * px) * 16);
    size_t at = 0;
    for (uint32_t x = 0; x < width; x += px) {
        uint32_t w = width - x < px ? width - x : px;
        size_t n = (piece->kind == TXM_GPU_TILES ? expected_tile : expected_border)(m, piece->level, x, piece->y, w,
                                                                                    piece->rows, want);
        ck_assert_uint_le(at + n, piece->size_bytes);
        ck_assert_msg(memcmp(want, piece->bytes + at, n) == 0,
                      "%s %ux%u (%u from %u channels): %s of level %u at %u,%u", txm_type_name(m->plan.type),
                      m->plan.width, m->plan.height, m->plan.channels, m->plan.conform.src_channels,
                      piece->kind == TXM_GPU_TILES ? "tile" : "border", piece->level, x, piece->y);
        at += n;
    }
    ck_assert_uint_eq(at, piece->size_bytes);
}

static void check_stats(const image *m, const txm_gpu_result *r)
{
    uint32_t channels = m->plan.conform.channels;
    for (uint32_t i = 0; i < r->rows; i++) {
        const uint8_t *row = m->wide + (r->y + i) * wide_row(m);
        txm_stats st = {0};
        ops->stats(m->plan.type, channels, row, m->plan.width, &st);
        ck_assert(memcmp(st.sum, r->stats[i].sum, channels * sizeof *st.sum) == 0);
        ck_assert_int_eq(st.grey, r->stats[i].grey);
        for (uint32_t c = 0; c < channels; c++) {
            float min = 0, max = 0;
            for (uint32_t x = 0; x < m->plan.width; x++) {
                txm_gpu_pixel p = txm_gpu_load(m->plan.type, channels, row + x * (wide_row(m) / m->plan.width));
                float v = (float)p.v[c];
                min = x == 0 || v < min ? v : min;
                max = x == 0 || v > max ? v : max;
            }
            ck_assert(min == r->stats[i].min[c] && max == r->stats[i].max[c]);
        }
    }
}

/* ---- running a job ---------------------------------------------------------------------------------------------- */

typedef struct seen {
    uint32_t tiles[TXM_MAX_LEVELS], borders[TXM_MAX_LEVELS], rows;
} seen;

static void check_result(const image *m, const txm_gpu_result *r, seen *s)
{
    if (r->stats)
        check_stats(m, r);
    for (size_t i = 0; i < r->piece_count; i++) {
        const txm_gpu_piece *p = &r->pieces[i];
        if (p->kind == TXM_GPU_ROWS) {
            ck_assert(memcmp(p->bytes, m->level[0] + p->y * stored_row(m, 0), p->size_bytes) == 0);
            ck_assert_uint_eq(p->size_bytes, p->rows * stored_row(m, 0));
            s->rows += p->rows;
            continue;
        }
        check_piece(m, p);
        (p->kind == TXM_GPU_TILES ? s->tiles : s->borders)[p->level] += p->rows;
        if (p->kind == TXM_GPU_TILES)
            ck_assert_uint_eq(p->y + p->rows, s->tiles[p->level]); /* in order */
    }
}

static void collect(const image *m, txm_gpu_job *job, bool wait, seen *s)
{
    txm_gpu_result *r = NULL;
    txm_error err = {0};
    ck_assert_msg(!gpu->collect(job, wait, &r, &err), "%s", err.message);
    if (!r)
        return;
    check_result(m, r, s);
    gpu->release(job, r);
}

/* Pushes chunks of random height, some of them with conformed rows. */
static void run(const image *m, bool mixed)
{
    const txm_gpu_plan *p = &m->plan;
    txm_gpu_job *job = NULL;
    txm_error err = {0};
    seen s = {0};
    uint32_t raw = 0;
    ck_assert_msg(!gpu->open(0, p, &job, &err), "%s", err.message);
    for (uint32_t y = 0, rows; y < p->height; y += rows) {
        uint8_t *at;
        while (!(at = gpu->place(job)))
            collect(m, job, true, &s);
        rows = p->tile_px * (1 + next_random() % (p->chunk_rows / p->tile_px));
        rows = rows > p->height - y ? p->height - y : rows;
        bool conformed = mixed && next_random() % 3 == 0;
        memcpy(at, conformed ? m->level[0] + y * stored_row(m, 0) : m->raw + y * raw_row(m),
               rows * (conformed ? stored_row(m, 0) : raw_row(m)));
        raw += conformed ? 0 : rows;
        ck_assert_msg(!gpu->submit(job, rows, conformed, &err), "%s", err.message);
        collect(m, job, false, &s);
    }
    for (uint32_t i = 0; i < p->slots; i++)
        collect(m, job, true, &s);
    gpu->close(&job);
    ck_assert_ptr_null(job);
    ck_assert_uint_eq(s.rows, p->rows ? raw : 0);
    for (uint32_t l = 0; l < m->levels; l++) {
        ck_assert_uint_eq(s.tiles[l], txm_level_size(p->height, l));
        ck_assert_uint_eq(s.borders[l], p->borders ? txm_level_size(p->height, l) : 0);
    }
}

static const uint32_t sizes[][2] = {{1, 1},     {2, 2},    {1, 2},    {3, 1},    {2, 7},   {16, 16},  {17, 9},
                                    {64, 64},   {65, 64},  {63, 129}, {128, 66}, {1, 300}, {300, 3},  {33, 35},
                                    {130, 200}, {96, 160}, {18, 19},  {50, 98},  {66, 97}, {256, 128}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* All operations that the converter requests, and some that it does not. */
static const struct {
    txm_gpu_conform conform;
    uint32_t channels;
} layouts[] = {
    {{1, 1, false, false}, 1}, {{2, 4, false, false}, 4}, {{2, 4, true, false}, 4},
    {{3, 4, false, false}, 4}, {{3, 4, false, true}, 1},  {{4, 4, true, false}, 4},
    {{4, 4, false, false}, 4}, {{4, 4, false, true}, 4},  {{4, 4, true, true}, 1},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts, CURVES = TXM_CURVE_SRGB_PACKED + 1 };

/* Every layout with each curve; only some of them for each size, unless thorough. */
TESTS(jobs_equal_scalar, 2 * SIZES)
{
    const txm_type type = (txm_type)(_i % 2);
    const uint32_t *size = sizes[_i / 2];
    seed = 2654435761u * (uint32_t)(_i + 1);
    for (size_t k = (size_t)_i / 2 % case_part() % (CURVES * LAYOUTS); k < CURVES * LAYOUTS; k += case_part()) {
        bool plain = next_random() % 4 == 0;
        uint32_t tile_px = 16u << next_random() % 2;
        const txm_gpu_plan plan = {.width = size[0],
                                   .height = size[1],
                                   .tile_px = tile_px,
                                   .type = type,
                                   .conform = layouts[k / CURVES].conform,
                                   .channels = layouts[k / CURVES].channels,
                                   .curve = (txm_curve)(k % CURVES),
                                   .filter = !plain,
                                   .borders = next_random() % 4 != 0,
                                   .rows = next_random() % 2,
                                   .chunk_rows = tile_px * (1 + next_random() % 5),
                                   .slots = 2 + next_random() % 3,
                                   .encoders = plain ? 0 : next_random() % 2 * (1 + next_random() % 40),
                                   .level = (int32_t)(next_random() % 2)};
        SCOPED(image_free) image m = image_new(&plan);
        run(&m, true);
    }
}

/* Tiles of every kind of content, which the encoder decides on differently: each type and number of channels, tiles of
 * one block and of several; constant, smooth, repeated, noisy, and mixtures. */
TESTS(tiles_are_compressed_alike, 16)
{
    const txm_type type = (txm_type)(_i % 2);
    const uint32_t channels = _i / 2 % 2 ? 4 : 1, tile_px = 64u << _i / 4 % 2;
    const size_t bytes = txm_type_bytes(type);
    const txm_gpu_plan plan = {.width = 3 * tile_px + 7,
                               .height = 2 * tile_px + 9,
                               .tile_px = tile_px,
                               .type = type,
                               .conform = {channels, channels, false, false},
                               .channels = channels,
                               .filter = true,
                               .chunk_rows = tile_px,
                               .slots = 2,
                               .encoders = 3,
                               .level = _i / 8};
    seed = 77u * (uint32_t)(_i + 1);
    compressed = 0;
    for (uint32_t kind = 0; kind < 6; kind++) {
        SCOPED(image_free) image m = image_new(&plan);
        for (size_t i = 0; i < (size_t)plan.width * plan.height * channels; i++) {
            size_t pixel = i / channels;
            uint32_t x = (uint32_t)(pixel % plan.width), y = (uint32_t)(pixel / plan.width), r = next_random();
            float v = kind == 0               ? 0.25f
                      : kind == 1             ? (float)(x + y + i % channels) / 700.0f
                      : kind == 2             ? (float)(x % 8 * (y % 5) + x % 3) / 64.0f
                      : kind == 3             ? (float)(r & 0xFF) / 255.0f
                      : kind == 4             ? (float)x / 500.0f + (float)(r % 5) / 255.0f
                      : (x / 16 + y / 16) % 2 ? 0.5f
                                              : (float)(r & 0xF) / 100.0f;
            uint16_t wide = (uint16_t)(v * 60000.0f);
            if (kind == 5 && type == TXM_TYPE_U16)
                wide = (uint16_t)(wide >> 8 | (wide & 0xFF00)); /* widened from 8 bits */
            m.raw[i * bytes] = (uint8_t)(v * 200.0f);
            if (type != TXM_TYPE_U8)
                memcpy(m.raw + i * bytes, &wide, bytes);
        }
        conform_rows(&m);
        make_levels(&m);
        run(&m, false);
    }
    ck_assert_uint_gt(compressed, 4);
}

/* A filtered tile is encoded into the same bytes as its pixels are. */
TESTS(filtered_tiles_encode_alike, 12)
{
    static const txm_codec codecs[] = {TXM_CODEC_ZIP, TXM_CODEC_ZSTD, TXM_CODEC_NONE};
    txm_type type = (txm_type)(_i % 2);
    txm_codec codec = codecs[_i / 2 % 3];
    bool noise = _i / 6, stored = false;
    const txm_gpu_plan plan = {.width = 90,
                               .height = 70,
                               .tile_px = 64,
                               .type = type,
                               .conform = {4, 4, false, false},
                               .channels = 4,
                               .filter = codec != TXM_CODEC_NONE};
    SCOPED(image_free) image m = image_new(&plan);
    for (size_t i = 0; noise && i < stored_row(&m, 0) * plan.height; i++)
        m.level[0][i] = (uint8_t)(next_random() >> 12);
    const txm_tile_format format = {type, 4, 64, {codec, 0}};
    FREED uint8_t *filtered = malloc(64 * 64 * 16);
    SCOPED(txm_tile_encoder_free) txm_tile_encoder *a = NULL, *b = NULL;
    ck_assert(!txm_tile_encoder_new(&format, &a, NULL) && !txm_tile_encoder_new(&format, &b, NULL));
    for (uint32_t x = 0; x < 90; x += 64)
        for (uint32_t y = 0; y < 70; y += 64) {
            uint32_t w = x ? 26 : 64, h = y ? 6 : 64;
            const void *one, *two;
            size_t n, k, raw = expected_tile(&m, 0, x, y, w, h, filtered);
            const uint8_t *pixels = m.level[0] + y * stored_row(&m, 0) + x * 4 * txm_type_bytes(type);
            ck_assert_uint_eq(raw, txm_tile_raw_bytes(a, w, h));
            ck_assert(!txm_tile_encode(a, pixels, stored_row(&m, 0), w, h, &one, &n, NULL));
            ck_assert(!txm_tile_encode_filtered(b, filtered, w, h, &two, &k, NULL));
            ck_assert(n == k && memcmp(one, two, n) == 0);
            stored |= n == raw;
        }
    ck_assert(stored == (codec == TXM_CODEC_NONE));
    ck_assert_int_eq(txm_tile_encode_filtered(b, filtered, 65, 1, NULL, NULL, NULL), TXM_STATUS_INTERNAL);
}

/* Plans that no image has are refused. */
TEST(senseless_plans)
{
    const txm_gpu_plan good = {.width = 64,
                               .height = 64,
                               .tile_px = 64,
                               .conform = {1, 1, false, false},
                               .channels = 1,
                               .chunk_rows = 64,
                               .slots = 2};
    txm_gpu_plan bad[10];
    txm_error err = {0};
    for (int i = 0; i < 10; i++)
        bad[i] = good;
    bad[0].width = 0;
    bad[1].height = TXM_MAX_LOOKUP_PX + 1;
    bad[2].tile_px = 48;
    bad[3].chunk_rows = 65;
    bad[4].slots = 1;
    bad[5].conform.src_channels = 5;
    bad[6].channels = 4;
    bad[7].chunk_rows = 1u << 20;
    bad[8].slots = 100;
    bad[9].type = TXM_TYPE_HALF;
    txm_gpu_job *job = NULL;
    for (int i = 0; i < 10; i++, txm_error_clear(&err)) {
        ck_assert_int_eq(gpu->open(0, &bad[i], &job, &err), TXM_STATUS_INTERNAL);
        ck_assert_ptr_null(job);
    }
    ck_assert(!gpu->open(0, &good, &job, &err));
    ck_assert_ptr_nonnull(gpu->place(job));
    ck_assert_int_eq(gpu->submit(job, 65, false, &err), TXM_STATUS_INTERNAL);
    gpu->close(&job);
    gpu->close(&job);
}

/* A plan takes exactly the memory that it announces: a device with a byte less refuses it. */
TEST(memory_is_as_planned)
{
    const txm_gpu_plan plan = {.width = 500,
                               .height = 700,
                               .tile_px = 64,
                               .conform = {3, 4, false, false},
                               .channels = 4,
                               .filter = true,
                               .borders = true,
                               .rows = true,
                               .chunk_rows = 128,
                               .slots = 3,
                               .encoders = 7};
    uint64_t device = 0, pinned = 0;
    char text[32];
    txm_gpu_job *job = NULL;
    txm_error err = {0};
    if (getenv("TXM_GPU_PLUGIN"))
        return; /* real memory has other limits */
    gpu->trim(0);
    gpu->memory(&plan, &device, &pinned);
    snprintf(text, sizeof text, "%llu", (unsigned long long)device - 1);
    setenv("TXM_FAKE_MEMORY", text, 1);
    ck_assert_int_eq(gpu->open(0, &plan, &job, &err), TXM_STATUS_NO_MEMORY);
    snprintf(text, sizeof text, "%llu", (unsigned long long)device);
    setenv("TXM_FAKE_MEMORY", text, 1);
    txm_error_clear(&err);
    ck_assert_msg(!gpu->open(0, &plan, &job, &err), "%s", err.message);
    /* Memory that a job returns serves the next job of the same size, and makes room for others. */
    gpu->close(&job);
    for (int i = 0; i < 3; i++) {
        ck_assert(!gpu->open(0, &plan, &job, &err));
        gpu->close(&job);
    }
    txm_gpu_plan other = plan;
    other.height = 300;
    other.chunk_rows = 64;
    ck_assert_msg(!gpu->open(0, &other, &job, &err), "%s", err.message);
    gpu->close(&job);
    gpu->trim(0);
    unsetenv("TXM_FAKE_MEMORY");
}

/* The benchmark measures everything once, and each measurement gives the bytes that it moved. */
TEST(bench_runs)
{
    txm_gpu_plan plan = {.width = 64,
                         .height = 256,
                         .tile_px = 64,
                         .type = TXM_TYPE_U16,
                         .conform = {4, 4, false, false},
                         .channels = 4,
                         .curve = TXM_CURVE_SRGB,
                         .filter = true,
                         .borders = true,
                         .chunk_rows = 128,
                         .slots = 2,
                         .encoders = 3};
    txm_gpu_measure m[16];
    size_t count = 16;
    txm_error err = {0};
    ck_assert_msg(!gpu->bench(0, &plan, m, &count, &err), "%s", err.message);
    ck_assert_uint_eq(count, 9);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(m[i].bytes > 0 && m[i].seconds > 0 && *m[i].name, "%zu", i);
    plan.height = 128;
    ck_assert_int_eq(gpu->bench(0, &plan, m, &count, &err), TXM_STATUS_USAGE);
}

/* The table of another build is recognised by its numbers. */
TEST(table_says_what_it_is)
{
    uint32_t n = 0;
    txm_device_facts info;
    txm_error err = {0};
    ck_assert_uint_eq(gpu->abi, TXM_GPU_ABI);
    ck_assert_uint_eq(gpu->plan_bytes, sizeof(txm_gpu_plan));
    ck_assert_uint_eq(plugin->abi, TXM_DEVICE_ABI);
    ck_assert_uint_eq(plugin->facts_bytes, sizeof(txm_device_facts));
    ck_assert_msg(!plugin->count(&n, &err) && n > 0, "%s", err.message);
    ck_assert(!plugin->describe(0, &info, &err));
    ck_assert(info.usable && *info.name && info.memory_bytes && info.free_bytes);
}

int main(void)
{
    char path[1024];
    const char *asked = getenv("TXM_GPU_PLUGIN");
    snprintf(path, sizeof path, "%s/tests/gpu/txmill-cuda.so", getenv("TXM_BUILD"));
    void *handle = dlopen(asked ? asked : path, RTLD_NOW | RTLD_LOCAL);
    plugin = handle ? dlsym(handle, TXM_DEVICE_SYMBOL) : NULL;
    gpu = plugin ? plugin->jobs : NULL;
    if (!gpu) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    ops = txm_ops_isa("scalar");
    /* A device's context cannot be used after a fork. */
    return asked ? run_tests_in_one_process() : run_tests();
}
