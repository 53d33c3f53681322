/* SPDX-License-Identifier: Apache-2.0
 * Padded tiles from the section equal gathered ones and the definition, for every extension, padding, level, size,
 * type and tile. */
#include <openexr.h>
#include <pthread.h>
#include <tiffio.h>

#include "util_check.h"
#include "util_tx.h"

static const uint32_t sizes[][2] = {{1, 1},    {2, 2},     {1, 500},   {500, 3},  {65, 64},
                                    {63, 129}, {300, 200}, {777, 333}, {66, 130}, {17, 16}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Compares one padded tile with the definition. Gaps between pixels and rows must be left unchanged. */
static void compare_window(txm_tx *tx, const made_image *m, uint32_t level, uint32_t tile_x, uint32_t tile_y,
                           uint32_t padding, txm_extension extension)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    size_t px = made_pixel_bytes(m), gap = padding & 1 ? 0 : 2, step = px + gap;
    size_t edge = info->tile_w + 2 * TXM_MAX_PADDING_PX, stride = edge * step + 3;
    FREED uint8_t *out = malloc(stride * edge);
    uint32_t w, h;
    txm_error err = {0};
    memset(out, 0xa5, stride * edge);
    if (txm_tx_read_tile(tx,
                         REQUEST(out, step, stride, .level = level, .tile_x = tile_x, .tile_y = tile_y,
                                 .padding_px = padding, .extension = extension, .width = &w, .height = &h),
                         &err) != TXM_OK)
        ck_abort_msg("%s", err.message);
    uint32_t x0 = tile_x * info->tile_w, y0 = tile_y * info->tile_h, ow = w + 2 * padding;
    FREED uint8_t *want = brute_window(m, level, x0, y0, w, h, padding, extension);
    /* Each assertion costs a system call, so only a wrong pixel makes one. */
    uint32_t wrong = out[ow * step] != 0xa5;
    for (uint32_t y = 0; y < h + 2 * padding; y++) {
        const uint8_t *at = out + y * stride, *expected = want + (size_t)y * ow * px;
        if (!gap) {
            wrong += memcmp(at, expected, ow * px) != 0;
            continue;
        }
        for (uint32_t x = 0; x < ow; x++, at += step, expected += px)
            wrong += memcmp(at, expected, px) != 0 || at[px] != 0xa5 || at[px + 1] != 0xa5;
    }
    if (wrong)
        ck_abort_msg("%ux%u, level %u, tile %u,%u, padding %u, extension %d: %u pixels or rows differ", info->width,
                     info->height, level, tile_x, tile_y, padding, (int)extension, wrong);
}

static void compare_all(const char *path, const made_image *m, uint32_t first_padding, uint32_t last_padding)
{
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    for (uint32_t i = 0; i < m->layout.levels; i++) {
        const txm_tx_level *l = txm_tx_level_of(tx, i);
        for (uint32_t t = 0; t < l->tiles_x * l->tiles_y; t++)
            for (int e = 0; e < 16; e += 1 + e / 4) /* all modes, and some pairs */
                for (uint32_t p = first_padding; p <= last_padding; p++)
                    compare_window(tx, m, i, t % l->tiles_x, t / l->tiles_x, p, (txm_extension)e);
    }
}

/* The EXR is uncompressed, because OpenEXRCore 3.1 spoils tiles whose compressed size equals the original size. */
static const char *write_tx(const made_image *m, uint16_t tiff_compression)
{
    const char *path = temp_file("p.tx");
    if (txm_type_is_float(m->layout.type))
        write_foreign_exr(path, m, EXR_COMPRESSION_NONE);
    else
        write_foreign_tiff(
            path, m, (foreign_tiff){tiff_compression, tiff_compression == COMPRESSION_NONE ? 0 : 2, false, false});
    return path;
}

/* Every size is tested with every tile size; type and channels take turns. First without a section, so that borders are
 * gathered: each window then decodes up to nine tiles, so they are uncompressed. Then with a section. */
static void every_tile(uint32_t w, uint32_t h, txm_type type, uint32_t channels, uint32_t tile)
{
    SCOPED(free_image) made_image m = make_image(w, h, channels, type, tile, (txm_compression){0}, MADE_SMOOTH);
    const char *path = write_tx(&m, COMPRESSION_NONE);
    txm_tx *tx = open_tx(path);
    ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_NONE);
    txm_tx_close(&tx);
    bool small = w * h < 20000;
    compare_all(path, &m, small ? 0 : 2, small ? TXM_MAX_PADDING_PX : 2);
    if (!small)
        compare_all(path, &m, TXM_MAX_PADDING_PX, TXM_MAX_PADDING_PX);
    path = write_tx(&m, COMPRESSION_ADOBE_DEFLATE);
    append_section(path, &m);
    tx = open_tx(path);
    ck_assert_msg(txm_tx_info_of(tx)->section == TXM_SECTION_STATE_VALID, "%s", txm_tx_info_of(tx)->section_reason);
    txm_tx_close(&tx);
    compare_all(path, &m, small ? 0 : 1, 2);
}

/* Whether a test takes combination n: all if thorough, otherwise a fourth. */
static bool takes(uint32_t n)
{
    return thorough() || n % 4 == 0;
}

TESTS(all_sizes_u8, SIZES)
{
    for (uint32_t tile = 16, n = (uint32_t)_i; tile <= 256; tile *= 2)
        if (takes(n++))
            every_tile(sizes[_i][0], sizes[_i][1], TXM_TYPE_U8, tile == 32 ? 1 : tile == 128 ? 3 : 4, tile);
}

TESTS(all_sizes_half, SIZES)
{
    for (uint32_t tile = 16; tile <= 256; tile *= 4)
        every_tile(sizes[_i][0], sizes[_i][1], TXM_TYPE_HALF, tile == 64 ? 1 : 4, tile);
}

TESTS(all_types_and_channels, 6)
{
    for (int type = TXM_TYPE_U8; type <= TXM_TYPE_FLOAT; type++)
        for (uint32_t channels = 1; channels <= 4; channels++) {
            if (!takes((uint32_t)(type + _i) + channels))
                continue;
            every_tile(sizes[_i][0], sizes[_i][1], (txm_type)type, channels, 16);
            every_tile(sizes[_i][0], sizes[_i][1], (txm_type)type, channels, 64);
        }
}

/* Noise and constant content take other paths through the border codec than slopes do. */
TEST(borders_of_noise_and_of_one_colour)
{
    for (int type = TXM_TYPE_U8; type <= TXM_TYPE_FLOAT; type++)
        for (int content = MADE_NOISE; content <= MADE_CONSTANT; content++) {
            SCOPED(free_image)
            made_image m = make_image(150, 90, 4, (txm_type)type, 32, (txm_compression){0}, (made_content)content);
            const char *path = temp_file("p.tx");
            if (txm_type_is_float((txm_type)type))
                write_foreign_exr(path, &m, EXR_COMPRESSION_NONE);
            else
                write_foreign_tiff(path, &m, (foreign_tiff){COMPRESSION_NONE, 0, false, false});
            append_section(path, &m);
            compare_all(path, &m, 0, 2);
        }
}

TEST(nonsense_is_refused)
{
    SCOPED(free_image) made_image m = make_image(20, 20, 4, TXM_TYPE_U8, 16, (txm_compression){0}, MADE_SMOOTH);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(write_tx(&m, COMPRESSION_ADOBE_DEFLATE));
    uint8_t out[64 * 64 * 4];
    ck_assert_int_eq(
        txm_tx_read_tile(tx, REQUEST(out, 4, 256, .padding_px = 9, .extension = TXM_EXTENSION_REPEAT), NULL),
        TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_tx_read_tile(tx, REQUEST(out, 4, 256, .padding_px = 2, .extension = (txm_extension)16), NULL),
                     TXM_STATUS_USAGE);
    ck_assert_int_eq(
        txm_tx_read_tile(tx, REQUEST(out, 4, 256, .tile_x = 2, .padding_px = 2, .extension = TXM_EXTENSION_CLIP), NULL),
        TXM_STATUS_USAGE);
    ck_assert_int_eq(
        txm_tx_read_tile(tx, REQUEST(out, 4, 256, .level = 5, .padding_px = 2, .extension = TXM_EXTENSION_CLIP), NULL),
        TXM_STATUS_USAGE);
}

/* ---- many readers at once ---- */

typedef struct reader {
    txm_tx *tx;
    uint64_t sum;
} reader;

static void *read_all(void *arg)
{
    reader *r = arg;
    static _Thread_local uint8_t out[80 * 80 * 8];
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < txm_tx_info_of(r->tx)->levels; i++) {
            const txm_tx_level *l = txm_tx_level_of(r->tx, i);
            for (uint32_t t = 0; t < l->tiles_x * l->tiles_y; t++) {
                uint32_t w, h, padding = 1 + t % 3;
                if (txm_tx_read_tile(r->tx,
                                     REQUEST(out, 8, 80 * 8, .level = i, .tile_x = t % l->tiles_x,
                                             .tile_y = t / l->tiles_x, .padding_px = padding,
                                             .extension = (txm_extension)(t % 16), .width = &w, .height = &h),
                                     NULL) != TXM_OK)
                    return NULL;
                for (size_t y = 0; y < h + 2 * padding; y++)
                    for (size_t x = 0; x < (w + 2 * padding) * 8; x++)
                        r->sum = r->sum * 31 + out[y * 80 * 8 + x];
            }
        }
    return NULL;
}

TESTS(concurrent_readers_see_the_same, 2)
{
    SCOPED(free_image) made_image m = make_image(200, 130, 4, TXM_TYPE_HALF, 64, (txm_compression){0}, MADE_SMOOTH);
    const char *path = temp_file("p.tx");
    write_foreign_exr(path, &m, _i ? EXR_COMPRESSION_PIZ : EXR_COMPRESSION_ZIP);
    append_section(path, &m);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    reader alone = {tx, 0}, readers[8];
    pthread_t threads[8];
    read_all(&alone);
    ck_assert_uint_ne(alone.sum, 0);
    for (int i = 0; i < 8; i++) {
        readers[i] = (reader){tx, 0};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, read_all, &readers[i]), 0);
    }
    for (int i = 0; i < 8; i++) {
        pthread_join(threads[i], NULL);
        ck_assert_uint_eq(readers[i].sum, alone.sum);
    }
}
