/* SPDX-License-Identifier: Apache-2.0
 *
 * The cascade of levels is compared with the same filters on whole images, level by level, and borders with the rule
 * for whole images, written down directly.
 */
#include <math.h>

#include "mill/pyramid/border.h"
#include "mill/pyramid/pyramid.h"
#include "tile/ops/arith.h"
#include "util_check.h"

typedef struct size2 {
    uint32_t w, h;
} size2;

static const size2 sizes[] = {{1, 1},   {1, 2},   {2, 1},     {2, 2},  {3, 3},   {1, 5},   {5, 1},
                              {7, 2},   {2, 7},   {16, 16},   {17, 9}, {64, 64}, {65, 64}, {63, 129},
                              {1, 500}, {500, 3}, {300, 200}, {6, 1},  {100, 5}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static uint32_t seed = 7;

static uint32_t next_random(void)
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}

/* ---- the cascade ---------------------------------------------------------------------------------------------- */

typedef struct catcher {
    const txm_pyramid_spec *spec;
    uint8_t *levels[TXM_MAX_LEVELS];
    uint32_t next_row[TXM_MAX_LEVELS];
    const txm_ops *ops; /* NULL: the best variant */
} catcher;

static size_t row_bytes(const txm_pyramid_spec *s, uint32_t level)
{
    return (size_t)txm_level_size(s->width, level) * s->channels * txm_type_bytes(s->type);
}

static void *place(void *context, uint32_t level, uint32_t y)
{
    catcher *c = context;
    ck_assert_uint_eq(y, c->next_row[level]);
    return c->levels[level] ? c->levels[level] + y * row_bytes(c->spec, level) : NULL;
}

static void placed(void *context, uint32_t level, uint32_t y)
{
    ((catcher *)context)->next_row[level] = y + 1;
}

/* Computes one level of a whole float image directly by the definition. */
static float *reduce(const txm_pyramid_spec *s, const float *src, uint32_t sw, uint32_t sh, uint32_t dw, uint32_t dh)
{
    float *dst = malloc(sizeof *dst * dw * dh * s->channels);
    for (uint32_t y = 0; y < dh; y++)
        for (uint32_t x = 0; x < dw; x++)
            for (uint32_t c = 0; c < s->channels; c++) {
                uint32_t x0 = 2 * x, x1 = 2 * x + 1, y0 = 2 * y, y1 = 2 * y + 1;
                float f = 0.5f, g = 0.5f;
                bool box = sw % 2 == 0 && sh % 2 == 0;
                if (!box) {
                    txm_bilinear_position(x, dw, sw, &x0, &x1, &f);
                    txm_bilinear_position(y, dh, sh, &y0, &y1, &g);
                }
/* At an edge of one pixel there is no second neighbour. */
#define P(xx, yy) src[((size_t)(yy)*sw + (xx)) * s->channels + c]
#define P1(xx, yy, there) ((there) ? P(xx, yy) : 0.0f)
                dst[((size_t)y * dw + x) * s->channels + c] =
                    box ? txm_box(P(x0, y0), P(x1, y0), P(x0, y1), P(x1, y1))
                        : txm_bilinear(P(x0, y0), P1(x1, y0, sw > 1), P1(x0, y1, sh > 1), P1(x1, y1, sw > 1 && sh > 1),
                                       f, g);
#undef P
#undef P1
            }
    return dst;
}

static void check_against_whole(const txm_pyramid_spec *s, const uint8_t *level0, const catcher *got)
{
    const txm_ops *ops = txm_ops_isa("scalar");
    size_t pixels = (size_t)s->width * s->height;
    float *image = malloc(sizeof *image * pixels * s->channels);
    if (s->curve)
        ops->srgb_decode(s->type, s->channels, s->curve, level0, image, pixels);
    else
        ops->to_float(s->type, level0, image, pixels * s->channels);
    for (uint32_t l = 1; l < txm_level_count(s->width, s->height); l++) {
        uint32_t w = txm_level_size(s->width, l), h = txm_level_size(s->height, l);
        float *next = reduce(s, image, txm_level_size(s->width, l - 1), txm_level_size(s->height, l - 1), w, h);
        uint8_t *stored = malloc(row_bytes(s, l) * h);
        if (s->curve)
            ops->srgb_encode(s->type, s->channels, s->curve, next, stored, (size_t)w * h);
        else
            ops->from_float(s->type, next, stored, (size_t)w * h * s->channels);
        ck_assert_uint_eq(got->next_row[l], h);
        ck_assert_msg(memcmp(stored, got->levels[l], row_bytes(s, l) * h) == 0, "%ux%u %s level %u", s->width,
                      s->height, txm_type_name(s->type), l);
        if (s->type == TXM_TYPE_HALF)
            ops->clamp_half(next, (size_t)w * h * s->channels);
        free(stored);
        free(image);
        image = next;
    }
    free(image);
}

static void run_cascade(const txm_pyramid_spec *s, const uint8_t *level0, catcher *c, uint32_t band)
{
    txm_pyramid *p = NULL;
    c->spec = s;
    for (uint32_t l = 1; l < txm_level_count(s->width, s->height); l++)
        c->levels[l] = malloc(row_bytes(s, l) * txm_level_size(s->height, l));
    const txm_pyramid_sink sink = {c, place, placed};
    ck_assert(!txm_pyramid_new(s, c->ops ? c->ops : txm_ops_best(), &sink, &p, NULL));
    for (uint32_t y = 0; y < s->height; y += band) {
        uint32_t rows = s->height - y < band ? s->height - y : band;
        ck_assert(txm_pyramid_push(p, level0 + y * row_bytes(s, 0), row_bytes(s, 0), rows));
    }
    txm_pyramid_free(&p);
    ck_assert_ptr_null(p);
}

static void free_levels(catcher *c)
{
    for (uint32_t l = 0; l < TXM_MAX_LEVELS; l++)
        free(c->levels[l]);
}

TESTS(cascade_equals_whole_image, SIZES)
{
    for (int t = TXM_TYPE_U8; t <= TXM_TYPE_FLOAT; t++)
        for (txm_curve curve = TXM_CURVE_NONE; curve <= TXM_CURVE_SRGB_PACKED; curve++)
            for (uint32_t channels = 1; channels <= 4; channels += 3) {
                txm_pyramid_spec s = {sizes[_i].w, sizes[_i].h, channels, (txm_type)t, curve, false, false, 0};
                size_t samples = (size_t)s.width * s.height * channels;
                FREED uint8_t *level0 = malloc(samples * 4);
                for (size_t i = 0; i < samples; i++) {
                    float f = (float)(next_random() % 4096) / 2048.0f - 0.25f;
                    uint16_t h = txm_float_to_half(f), u16 = (uint16_t)next_random();
                    uint8_t u8 = (uint8_t)next_random();
                    const void *from = t == TXM_TYPE_U8     ? (const void *)&u8
                                       : t == TXM_TYPE_U16  ? &u16
                                       : t == TXM_TYPE_HALF ? &h
                                                            : (void *)&f;
                    memcpy(level0 + i * txm_type_bytes(s.type), from, txm_type_bytes(s.type));
                }
                SCOPED(free_levels) catcher c = {0};
                run_cascade(&s, level0, &c, 1 + next_random() % 70);
                check_against_whole(&s, level0, &c);
            }
}

TEST(failure_of_the_sink_stops)
{
    const txm_pyramid_spec s = {8, 8, 1, TXM_TYPE_U8, TXM_CURVE_NONE, false, false, 0};
    SCOPED(txm_pyramid_free) txm_pyramid *p = NULL;
    uint8_t level0[64] = {0};
    catcher c = {.spec = &s};
    const txm_pyramid_sink sink = {&c, place, placed}; /* it provides no memory for levels */
    ck_assert(!txm_pyramid_new(&s, txm_ops_best(), &sink, &p, NULL));
    ck_assert(!txm_pyramid_push(p, level0, 8, 8));
}

/* ---- latitude-longitude ---------------------------------------------------------------------------------------- */

TEST(latlong_weighs_rows_and_closes_the_sphere)
{
    enum { W = 16, H = 8 };
    const txm_pyramid_spec s = {W, H, 1, TXM_TYPE_FLOAT, TXM_CURVE_NONE, true, false, 0};
    float level0[W * H];
    for (int i = 0; i < W * H; i++)
        level0[i] = (float)(i / W);
    SCOPED(free_levels) catcher c = {0};
    run_cascade(&s, (uint8_t *)level0, &c, 64);
    const float *l1 = (const void *)c.levels[1];
    for (uint32_t y = 0; y < H / 2; y++) {
        /* row 2y+1 is nearer to the equator in the northern half, so it has more weight there */
        float middle = 2.0f * (float)y + 0.5f;
        ck_assert(y < H / 4 ? l1[y * W / 2 + 3] > middle : l1[y * W / 2 + 3] < middle);
        ck_assert_float_eq(l1[y * W / 2], l1[y * W / 2 + W / 2 - 1]);
    }
    for (uint32_t x = 1; x < W / 2; x++)
        ck_assert_float_eq(l1[x], l1[0]);
    ck_assert_float_eq_tol(txm_latlong_weight(0, 1, 8, 0.5f), 0.75f,
                           0.01f); /* sin(3pi/16) / (sin(pi/16) + sin(3pi/16)) */
}

/* If the box filter makes a pair of pixels infinite, the pixel stays infinite in the next level on every processor, as
 * in Blender: it has no neighbour below or beside it that a weight of 0 could turn into NaN. */
TESTS(infinite_edges_of_one_pixel, 8)
{
    static const size2 shapes[] = {{4, 2}, {2, 4}, {8, 2}, {2, 8}};
    static const char *const isas[] = {"scalar", "avx2", "avx512", "neon"};
    const size2 shape = shapes[_i % 4];
    const txm_pyramid_spec s = {shape.w, shape.h, _i < 4 ? 1 : 4, TXM_TYPE_FLOAT, TXM_CURVE_NONE, false, false, 0};
    float level0[8 * 2 * 4];
    for (size_t i = 0; i < (size_t)s.width * s.height * s.channels; i++)
        level0[i] = 3e38f;
    for (size_t k = 0; k < sizeof isas / sizeof *isas; k++) {
        const txm_ops *ops = txm_ops_isa(isas[k]);
        SCOPED(free_levels) catcher c = {.ops = ops};
        if (!ops)
            continue;
        run_cascade(&s, (const uint8_t *)level0, &c, 64);
        for (uint32_t l = 1; l < txm_level_count(s.width, s.height); l++)
            for (size_t i = 0; i < row_bytes(&s, l) / 4 * txm_level_size(s.height, l); i++) {
                float value;
                memcpy(&value, c.levels[l] + 4 * i, sizeof value);
                ck_assert_msg(isinf(value) && value > 0, "%ux%u level %u on %s: %g", s.width, s.height, l, isas[k],
                              (double)value);
            }
    }
}

/* Computes the levels of a latitude-longitude image directly by the definition: level 0 as floats, closed, then
 * decoded. */
static void check_latlong(const txm_pyramid_spec *s, const uint8_t *level0, const catcher *got)
{
    const txm_ops *ops = txm_ops_isa("scalar");
    uint32_t sw = s->width, sh = s->height, channels = s->channels;
    float *image = malloc(sizeof *image * sw * sh * channels);
    ops->to_float(s->type, level0, image, (size_t)sw * sh * channels);
    for (uint32_t l = 0; l < txm_level_count(s->width, s->height); l++) {
        uint32_t w = txm_level_size(s->width, l), h = txm_level_size(s->height, l);
        float *next = malloc(sizeof *next * w * h * channels);
        for (uint32_t y = 0; y < h; y++) {
            float *row = next + (size_t)y * w * channels, g = 0.5f;
            uint32_t y0 = y, y1 = y;
            if (l) {
                txm_bilinear_position(y, h, sh, &y0, &y1, &g);
                ops->bilinear(channels, image + (size_t)y0 * sw * channels,
                              sh > 1 ? image + (size_t)y1 * sw * channels : NULL, txm_latlong_weight(y0, y1, sh, g), sw,
                              row, w);
            } else {
                memcpy(row, image + (size_t)y * w * channels, sizeof *row * w * channels);
            }
            txm_latlong_edges(row, channels, w, y, h);
            if (!l && s->curve)
                ops->srgb_decode(TXM_TYPE_FLOAT, channels, s->curve, row, row, w);
            uint8_t stored[512 * 16];
            if (l && s->curve)
                ops->srgb_encode(s->type, channels, s->curve, row, stored, w);
            else
                ops->from_float(s->type, row, stored, (size_t)w * channels);
            if (l)
                ck_assert_msg(memcmp(stored, got->levels[l] + y * row_bytes(s, l), row_bytes(s, l)) == 0,
                              "%ux%u %s level %u row %u", s->width, s->height, txm_type_name(s->type), l, y);
        }
        if (l && s->type == TXM_TYPE_HALF)
            ops->clamp_half(next, (size_t)w * h * channels);
        free(image);
        image = next;
        sw = w;
        sh = h;
    }
    free(image);
}

TEST(latlong_closes_level_0_before_decoding)
{
    static const size2 shapes[] = {{64, 32}, {65, 33}, {7, 4}, {1, 5}, {5, 1}, {128, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int t = 0; t < 8; t++) {
            const txm_pyramid_spec s = {shapes[i].w,    shapes[i].h, t < 4 ? 1 : 4, (txm_type)(t % 4),
                                        TXM_CURVE_SRGB, true,        false,         0};
            FREED uint8_t *level0 = malloc(row_bytes(&s, 0) * s.height);
            size_t samples = (size_t)s.width * s.height * s.channels;
            FREED float *values = malloc(sizeof *values * samples);
            for (size_t k = 0; k < samples; k++)
                values[k] = (float)(next_random() & 0xFFFF) / 65535.0f;
            txm_ops_isa("scalar")->from_float(s.type, values, level0, samples);
            SCOPED(free_levels) catcher c = {0};
            run_cascade(&s, level0, &c, 16);
            check_latlong(&s, level0, &c);
        }
}

/* Checks the stored rows: poles have one colour, ends are equal, and all others are unchanged. */
TEST(latlong_closes_stored_rows)
{
    enum { W = 5, H = 3 };
    const txm_ops *ops = txm_ops_best();
    uint8_t rows[H][W] = {{10, 20, 30, 40, 51}, {10, 20, 30, 40, 51}, {0, 0, 0, 0, 2}};
    const uint8_t closed[H][W] = {{30, 30, 30, 30, 30}, {31, 20, 30, 40, 31}, {0, 0, 0, 0, 0}};
    float scratch[W + 1];
    for (uint32_t y = 0; y < H; y++)
        txm_latlong_stored_edges(ops, TXM_TYPE_U8, 1, rows[y], W, y, H, scratch);
    ck_assert_mem_eq(rows, closed, sizeof rows);
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

typedef struct whole {
    const uint8_t *pixels;
    size_t stride;
} whole;

static const uint8_t *whole_row(void *context, uint32_t y)
{
    const whole *w = context;
    return w->pixels + y * w->stride;
}

static uint32_t wrap(int64_t v, uint32_t n)
{
    return (uint32_t)(((v % n) + n) % n);
}

static void check_border(const whole *image, uint32_t w, uint32_t h, size_t pixel, uint32_t x0, uint32_t y0,
                         uint32_t tile)
{
    uint32_t tw = w - x0 < tile ? w - x0 : tile, th = h - y0 < tile ? h - y0 : tile;
    uint8_t *border = malloc(txm_border_pixels(tw, th) * pixel), *p = border;
    txm_border_gather(whole_row, (void *)(uintptr_t)image, w, h, pixel, x0, y0, tw, th, border);
    for (int64_t y = -2; y < (int64_t)th + 2; y++)
        for (int64_t x = -2; x < (int64_t)tw + 2; x++) {
            if (x >= 0 && x < tw && y >= 0 && y < th)
                continue;
            const uint8_t *want =
                image->pixels + wrap((int64_t)y0 + y, h) * image->stride + wrap((int64_t)x0 + x, w) * pixel;
            if (memcmp(p, want, pixel) != 0)
                ck_abort_msg("%ux%u tile at %u,%u: border pixel for %d,%d", w, h, x0, y0, (int)x, (int)y);
            p += pixel;
        }
    ck_assert_ptr_eq(p, border + txm_border_pixels(tw, th) * pixel);
    free(border);
}

TESTS(borders_follow_the_full_image_rule, SIZES)
{
    uint32_t w = sizes[_i].w, h = sizes[_i].h;
    for (size_t pixel = 1; pixel <= 16; pixel *= 4) {
        size_t bytes = (size_t)w * h * pixel;
        FREED uint8_t *pixels = malloc(bytes);
        for (size_t i = 0; i < bytes; i++)
            pixels[i] = (uint8_t)next_random();
        const whole image = {pixels, w * pixel};
        for (uint32_t tile = 16; tile <= 256; tile *= 4)
            for (uint32_t y = 0; y < h; y += tile)
                for (uint32_t x = 0; x < w; x += tile)
                    check_border(&image, w, h, pixel, x, y, tile);
    }
}
