/* SPDX-License-Identifier: Apache-2.0
 * Opening tx files and decoding plain tiles: every codec, type and layout of other programs. */
#include <openexr.h>
#include <sys/stat.h>
#include <tiffio.h>

#include "util_check.h"
#include "util_tx.h"

/* Reads every tile of every level, with gaps between pixels and rows, and compares the pixels with the image. */
static void compare_tiles(txm_tx *tx, const made_image *m)
{
    const txm_tx_info *info = txm_tx_info_of(tx);
    size_t px = made_pixel_bytes(m), step = px + 3, stride = info->tile_w * step + 5;
    FREED uint8_t *tile = malloc(stride * info->tile_h);
    ck_assert_uint_eq(info->levels, m->layout.levels);
    ck_assert_uint_eq(info->channels, m->layout.channels);
    ck_assert_int_eq(info->type, m->layout.type);
    for (uint32_t i = 0; i < info->levels; i++) {
        const txm_tx_level *l = txm_tx_level_of(tx, i);
        ck_assert_uint_eq(l->width, txm_level_size(m->layout.width, i));
        ck_assert_uint_eq(l->height, txm_level_size(m->layout.height, i));
        uint64_t sum = 0;
        for (uint32_t t = 0; t < l->tiles_x * l->tiles_y; t++) {
            uint32_t tx_x = t % l->tiles_x, tx_y = t / l->tiles_x, w, h;
            txm_error err = {0};
            ck_assert_msg(txm_tx_read_tile(tx,
                                           REQUEST(tile, step, stride, .level = i, .tile_x = tx_x, .tile_y = tx_y,
                                                   .width = &w, .height = &h),
                                           &err) == TXM_OK,
                          "%s", err.message);
            const uint8_t *want = m->levels[i] + ((size_t)tx_y * info->tile_h * l->width + tx_x * info->tile_w) * px;
            uint32_t wrong = 0; /* one assertion for each tile: each costs a system call */
            for (uint32_t y = 0; y < h; y++, want += l->width * px)
                for (uint32_t x = 0; x < w; x++)
                    wrong += memcmp(tile + y * stride + x * step, want + x * px, px) != 0;
            ck_assert_msg(!wrong, "%s %s x%u: level %u, tile %u,%u: %u pixels differ", info->compression,
                          txm_type_name(info->type), info->channels, i, tx_x, tx_y, wrong);
            sum += txm_tx_tile_bytes(tx, i, tx_x, tx_y);
        }
        ck_assert_uint_gt(sum, 0);
        ck_assert_uint_eq(sum, l->encoded_bytes);
    }
    ck_assert_ptr_null(txm_tx_level_of(tx, info->levels));
}

static void round_trip_tiff(uint32_t w, uint32_t h, uint32_t channels, txm_type type, uint32_t tile, foreign_tiff how,
                            made_content content)
{
    SCOPED(free_image) made_image m = make_image(w, h, channels, type, tile, (txm_compression){0}, content);
    const char *path = temp_file("a.tx");
    write_foreign_tiff(path, &m, how);
    txm_tx *tx = open_tx(path);
    ck_assert_int_eq(txm_tx_info_of(tx)->container, TXM_CONTAINER_TIFF);
    ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_NONE);
    compare_tiles(tx, &m);
    txm_tx_close(&tx);
    ck_assert_ptr_null(tx);
}

static const uint16_t tiff_codecs[] = {COMPRESSION_NONE,    COMPRESSION_LZW,      COMPRESSION_ADOBE_DEFLATE,
                                       COMPRESSION_DEFLATE, COMPRESSION_PACKBITS, COMPRESSION_ZSTD};

TESTS(tiff_codecs_types_and_channels, 6)
{
    uint16_t codec = tiff_codecs[_i];
    for (int type = TXM_TYPE_U8; type <= TXM_TYPE_FLOAT; type++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (uint16_t predictor = 1; predictor <= (txm_type_is_float((txm_type)type) ? 3 : 2); predictor++) {
                bool predicts = codec != COMPRESSION_NONE && codec != COMPRESSION_PACKBITS;
                if (!predicts && predictor > 1)
                    continue;
                /* libtiff swaps the bytes of big-endian floats that predictor 3 has put in order already: it cannot
                 * read what it writes. */
                bool big_endian = channels & 1 && predictor != 3;
                foreign_tiff how = {codec, predicts ? predictor : 0, big_endian, predictor & 1};
                round_trip_tiff(97, 45, channels, (txm_type)type, 32, how, predictor & 1 ? MADE_NOISE : MADE_SMOOTH);
            }
}

TEST(tiff_both_byte_orders_classic_and_big)
{
    for (int order = 0; order < 4; order++) {
        foreign_tiff how = {COMPRESSION_ADOBE_DEFLATE, 2, order & 1, order & 2};
        round_trip_tiff(130, 70, 4, TXM_TYPE_U16, 64, how, MADE_SMOOTH);
        round_trip_tiff(1, 1, 1, TXM_TYPE_U8, 16, how, MADE_SMOOTH);
    }
}

TEST(tiff_tile_sizes)
{
    foreign_tiff how = {COMPRESSION_LZW, 2, false, false};
    for (uint32_t tile = 16; tile <= 1024; tile *= 2)
        round_trip_tiff(700, 300, 3, TXM_TYPE_U8, tile, how, MADE_SMOOTH);
    round_trip_tiff(700, 300, 1, TXM_TYPE_U8, 256, how, MADE_CONSTANT); /* long strings of the LZW table */
}

enum { ZIPS = 2, ZIP = 3 };
static const struct {
    int compression;
    const char *name;
} exr_codecs[] = {{EXR_COMPRESSION_NONE, "none"},
                  {EXR_COMPRESSION_RLE, "rle"},
                  {EXR_COMPRESSION_ZIPS, "zips"},
                  {EXR_COMPRESSION_ZIP, "zip"},
                  {EXR_COMPRESSION_PIZ, "piz"}};

static void round_trip_exr(uint32_t w, uint32_t h, uint32_t channels, txm_type type, uint32_t tile, int codec,
                           made_content content)
{
    SCOPED(free_image) made_image m = make_image(w, h, channels, type, tile, (txm_compression){0}, content);
    const char *path = temp_file("a.tx");
    write_foreign_exr(path, &m, exr_codecs[codec].compression);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    ck_assert_int_eq(txm_tx_info_of(tx)->container, TXM_CONTAINER_EXR);
    ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_NONE);
    ck_assert_str_eq(txm_tx_info_of(tx)->compression, exr_codecs[codec].name);
    compare_tiles(tx, &m);
}

TESTS(exr_codecs_types_and_channels, 5)
{
    for (int type = TXM_TYPE_HALF; type <= TXM_TYPE_FLOAT; type++)
        for (uint32_t channels = 1; channels <= 4; channels++)
            for (int content = MADE_SMOOTH; content <= MADE_CONSTANT; content++)
                /* Compressed noise may have exactly its original size. OpenEXRCore 3.1 then writes the compressed
                 * bytes, although the size says that the tile is not compressed. */
                if (content != MADE_NOISE || (_i != ZIPS && _i != ZIP))
                    round_trip_exr(99, 45, channels, (txm_type)type, 32, _i, (made_content)content);
}

TESTS(exr_tile_sizes, 5)
{
    for (uint32_t tile = 8; tile <= 1024; tile *= 2)
        round_trip_exr(150, 100, 4, TXM_TYPE_HALF, tile, _i, MADE_SMOOTH);
    round_trip_exr(1, 1, 1, TXM_TYPE_FLOAT, 64, _i, MADE_SMOOTH);
    round_trip_exr(500, 3, 3, TXM_TYPE_HALF, 64, _i, MADE_SMOOTH);
}

TEST(own_files)
{
    static const txm_codec codecs[] = {TXM_CODEC_ZIP, TXM_CODEC_ZSTD, TXM_CODEC_NONE};
    for (int type = TXM_TYPE_U8; type <= TXM_TYPE_FLOAT; type++)
        for (int c = 0; c < 3; c++) {
            if (txm_type_is_float((txm_type)type) && codecs[c] == TXM_CODEC_ZSTD)
                continue;
            made_image m =
                make_image(257, 129, c == 1 ? 1 : 4, (txm_type)type, 64, (txm_compression){codecs[c], 0}, MADE_SMOOTH);
            const char *path = temp_file("own.tx");
            FILE *f = fopen(path, "w+b");
            txm_tx_summary summary = made_summary();
            txm_error err = {0};
            uint64_t bytes;
            ck_assert_msg(write_image(fileno(f), &m, NULL, &summary, &bytes, &err) == TXM_OK, "%s", err.message);
            fclose(f);
            SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
            char reason[200];
            compare_tiles(tx, &m);
            ck_assert_int_eq(txm_tx_info_of(tx)->section, TXM_SECTION_STATE_NONE);
            ck_assert_uint_eq(txm_tx_info_of(tx)->image_bytes, bytes);
            ck_assert_str_eq(txm_tx_metadata_of(tx, "oiio:SHA-1"), summary.sha1);
            ck_assert_ptr_nonnull(txm_tx_metadata_of(tx, "oiio:AverageColor"));
            ck_assert_str_eq(txm_tx_metadata_of(tx, "asset"), "say \"wall\"");
            /* Blender's libtiff has no zstd. Apart from that, such a file is as Cycles needs it. */
            bool zstd = !strcmp(txm_tx_info_of(tx)->compression, "zstd");
            ck_assert_msg(txm_tx_cycles_accepts(tx, reason, sizeof reason) == !zstd, "%s", reason);
            ck_assert(!zstd || strstr(reason, "zstd"));
            free_image(&m);
        }
}

TEST(metadata_entries)
{
    SCOPED(free_image) made_image m = make_image(40, 20, 3, TXM_TYPE_U8, 16, (txm_compression){0}, MADE_SMOOTH);
    const char *path = temp_file("a.tx"), *name, *value;
    write_foreign_tiff(path, &m, (foreign_tiff){COMPRESSION_NONE, 0, true, false});
    txm_tx *tx = open_tx(path);
    ck_assert_str_eq(txm_tx_metadata_of(tx, "Software"), "a test");
    ck_assert_str_eq(txm_tx_metadata_of(tx, "PixarTextureFormat"), "Plain Texture");
    ck_assert_str_eq(txm_tx_metadata_of(tx, "oiio:SHA-1"), "ABC");
    ck_assert_str_eq(txm_tx_metadata_of(tx, "name"), "two words");
    ck_assert_str_eq(txm_tx_metadata_of(tx, "last"), "1,2");
    ck_assert_str_eq(txm_tx_metadata_of(tx, "PhotometricInterpretation"), "2");
    ck_assert_ptr_null(txm_tx_metadata_of(tx, "plain"));
    size_t count = 0;
    for (; txm_tx_metadata_at(tx, count, &name, &value); count++)
        ck_assert_str_eq(txm_tx_metadata_of(tx, name), value);
    ck_assert_uint_gt(count, 5);
    txm_tx_close(&tx);
    txm_tx_close(&tx); /* harmless */
}

static void refuses(const char *path, txm_status status, const char *words)
{
    txm_tx *tx = (txm_tx *)1;
    txm_error err = {0};
    ck_assert_int_eq(txm_tx_open(path, &tx, &err), status);
    ck_assert_ptr_null(tx);
    ck_assert_msg(strstr(err.message, words) != NULL, "%s", err.message);
    ck_assert_msg(strstr(err.message, path) != NULL, "%s", err.message);
}

TEST(what_is_no_tx_file)
{
    refuses("/nonexistent.tx", TXM_STATUS_NOT_FOUND, "cannot open");
    refuses("/tmp", TXM_STATUS_NOT_A_FILE, "regular");
    const char *path = temp_file("b.tx");
    save_file(path, "", 0);
    refuses(path, TXM_STATUS_CORRUPT, "0 bytes");
    save_file(path, "not an image at all", 19);
    refuses(path, TXM_STATUS_UNSUPPORTED, "neither");
    mkfifo(temp_file("pipe"), 0600);
    refuses(temp_file("pipe"), TXM_STATUS_NOT_A_FILE, "regular");
}

/* A file that is cut off at any place must not open as valid, and must not crash the reader. */
static void cut_everywhere(const char *path)
{
    size_t bytes;
    FREED uint8_t *data = load_file(path, &bytes), *tile = malloc(64 * 64 * 16);
    for (size_t keep = 0; keep < bytes; keep += keep < 600 ? 1 : 37 * case_part()) {
        SCOPED(txm_tx_close) txm_tx *tx = NULL;
        txm_error err = {0};
        save_file(temp_file("cut.tx"), data, keep);
        if (txm_tx_open(temp_file("cut.tx"), &tx, &err) != TXM_OK)
            continue;
        /* In an EXR all headers may come before the last tile's data: the file opens, and that tile fails. */
        bool failed = false;
        for (uint32_t i = 0; i < txm_tx_info_of(tx)->levels; i++) {
            const txm_tx_level *l = txm_tx_level_of(tx, i);
            for (uint32_t t = 0; t < l->tiles_x * l->tiles_y; t++)
                failed |= txm_tx_read_tile(
                    tx, REQUEST(tile, 16, 64 * 16, .level = i, .tile_x = t % l->tiles_x, .tile_y = t / l->tiles_x),
                    &err);
        }
        ck_assert_msg(failed, "a file cut at %zu of %zu bytes reads as if it were whole", keep, bytes);
    }
}

TEST(truncated_files)
{
    made_image m = make_image(150, 90, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_SMOOTH);
    write_foreign_tiff(temp_file("t.tx"), &m, (foreign_tiff){COMPRESSION_ADOBE_DEFLATE, 2, false, false});
    cut_everywhere(temp_file("t.tx"));
    free_image(&m);
    m = make_image(150, 90, 4, TXM_TYPE_HALF, 64, (txm_compression){0}, MADE_SMOOTH);
    write_foreign_exr(temp_file("t.tx"), &m, EXR_COMPRESSION_ZIP);
    cut_everywhere(temp_file("t.tx"));
    free_image(&m);
}

TEST(flipped_bytes_in_tiles_are_found)
{
    SCOPED(free_image) made_image m = make_image(150, 90, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_SMOOTH);
    const char *path = temp_file("f.tx");
    write_foreign_tiff(path, &m, (foreign_tiff){COMPRESSION_ADOBE_DEFLATE, 2, false, false});
    size_t bytes;
    uint8_t *data = load_file(path, &bytes), tile[64 * 64 * 4];
    data[8 + 2000] ^= 16; /* libtiff writes the first tile after the header */
    save_file(path, data, bytes);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    txm_error err = {0};
    memset(tile, 7, sizeof tile);
    ck_assert_int_eq(txm_tx_read_tile(tx, REQUEST(tile, 4, 256, .level = 0), &err), TXM_STATUS_CORRUPT);
    ck_assert_msg(strstr(err.message, "level 0, tile 0,0") != NULL, "%s", err.message);
    for (size_t i = 0; i < sizeof tile; i++)
        ck_assert_uint_eq(tile[i], 7); /* a failed call leaves the output unchanged */
    ck_assert_int_eq(txm_tx_read_tile(tx, REQUEST(tile, 4, 256, .tile_x = 1), NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_read_tile(tx, REQUEST(tile, 4, 256, .tile_x = 3), NULL), TXM_STATUS_USAGE);
    ck_assert_int_eq(txm_tx_read_tile(tx, REQUEST(tile, 4, 256, .level = 99), NULL), TXM_STATUS_USAGE);
    ck_assert_uint_eq(txm_tx_tile_bytes(tx, 0, 3, 0), 0);
    free(data);
}

TEST(a_file_that_shrinks_while_open)
{
    SCOPED(free_image) made_image m = make_image(300, 300, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    const char *path = temp_file("s.tx");
    write_foreign_tiff(path, &m, (foreign_tiff){COMPRESSION_NONE, 0, false, false});
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    static uint8_t tile[72 * 72 * 4];
    ck_assert_int_eq(truncate(path, 4096), 0);
    txm_error err = {0};
    txm_status status = txm_tx_read_tile(tx, REQUEST(tile, 4, 256, .tile_y = 1), &err);
    ck_assert_msg(status == TXM_STATUS_CHANGED, "%s", err.message);
    ck_assert_int_eq(
        txm_tx_read_tile(tx, REQUEST(tile, 4, 288, .tile_y = 1, .padding_px = 2, .extension = TXM_EXTENSION_REPEAT),
                         NULL),
        TXM_STATUS_CHANGED);
    ck_assert_uint_eq(txm_tx_tile_bytes(tx, 0, 0, 1), 0);
}

/* ---- what Cycles accepts ---- */

static int accepts(const char *path, char *reason, size_t bytes)
{
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    int answer = txm_tx_cycles_accepts(tx, reason, bytes);
    return answer;
}

TEST(cycles_wants_levels)
{
    char reason[200];
    const char *path = temp_file("l.tx");
    made_image m = make_image(200, 100, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_SMOOTH);
    for (uint32_t levels = 1; levels <= 4; levels++) {
        m.layout.levels = levels;
        write_foreign_tiff(path, &m, (foreign_tiff){COMPRESSION_ADOBE_DEFLATE, 2, false, false});
        /* 200, 100, 50: the third fits into a tile. */
        ck_assert_int_eq(accepts(path, reason, sizeof reason), levels >= 3);
        ck_assert_int_eq(*reason == 0, levels >= 3);
    }
    free_image(&m);
    m = make_image(40, 30, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_SMOOTH);
    m.layout.levels = 1;
    write_foreign_tiff(path, &m, (foreign_tiff){COMPRESSION_ADOBE_DEFLATE, 2, false, false});
    ck_assert_int_eq(accepts(path, reason, sizeof reason), 1);
    free_image(&m);
    m = make_image(64, 64, 4, TXM_TYPE_U8, 48, (txm_compression){0}, MADE_SMOOTH);
    write_foreign_tiff(path, &m, (foreign_tiff){COMPRESSION_ADOBE_DEFLATE, 2, false, false});
    ck_assert_int_eq(accepts(path, reason, sizeof reason), 0);
    ck_assert_ptr_nonnull(strstr(reason, "power of two"));
    ck_assert_int_eq(accepts(path, NULL, 0), 0);
    free_image(&m);
}

TEST(cycles_refuses_newer_writers)
{
    char reason[200];
    const char *path = temp_file("n.tx");
    SCOPED(free_image) made_image m = make_image(40, 30, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_SMOOTH);
    write_foreign_tiff(path, &m, (foreign_tiff){COMPRESSION_ADOBE_DEFLATE, 2, false, false});
    static const struct {
        const char *software;
        int accepted;
    } cases[] = {{"Blender maketx v0", 1}, {"Blender maketx v1", 0}, {"Blender maketx v12", 0}, {"maketx v7", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TIFF *tif = TIFFOpen(path, "r+");
        TIFFSetField(tif, TIFFTAG_SOFTWARE, cases[i].software);
        ck_assert_int_eq(TIFFRewriteDirectory(tif), 1);
        TIFFClose(tif);
        ck_assert_int_eq(accepts(path, reason, sizeof reason), cases[i].accepted);
    }
}

TEST(cycles_sees_no_levels_without_texture_format)
{
    char reason[200];
    const char *path = temp_file("x.tx");
    SCOPED(free_image) made_image m = make_image(200, 100, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_SMOOTH);
    write_foreign_tiff(path, &m, (foreign_tiff){COMPRESSION_ADOBE_DEFLATE, 2, false, false});
    TIFF *tif = TIFFOpen(path, "r+");
    TIFFUnsetField(tif, TIFFTAG_PIXAR_TEXTUREFORMAT);
    ck_assert_int_eq(TIFFRewriteDirectory(tif), 1);
    TIFFClose(tif);
    ck_assert_int_eq(accepts(path, reason, sizeof reason), 0);
    ck_assert_ptr_nonnull(strstr(reason, "33302"));
}
