/* SPDX-License-Identifier: Apache-2.0
 * The EXR half of the tx reader, part by part: headers and tiles of files that are composed byte by byte, and the
 * codecs that OpenEXRCore decodes. */
#include <zlib.h>

#include "mill/encode/filter.h"
#include "tile/reader/exr_reader.h"
#include "tile/reader/openexr_core.h"
#include "util_check.h"
#include "util_faults.h"
#include "util_tx.h"

/* ---- files ------------------------------------------------------------------------------------------------------- */

enum { HALF = 1, FLOAT = 2, TILED = 0x200, PIZ = 4, B44 = 6 };

/* An EXR file in memory, open in a reader. */
typedef struct file {
    txm_bytes bytes;
    txm_tx tx;
    txm_error err;
} file;

static void add(file *f, const void *data, size_t bytes)
{
    ck_assert(txm_bytes_add(&f->bytes, data, bytes));
}

static void add32(file *f, uint32_t value)
{
    add(f, &value, 4);
}

static void add64(file *f, uint64_t value)
{
    add(f, &value, 8);
}

static file *new_file(uint32_t version)
{
    file *f = calloc(1, sizeof *f);
    add32(f, 20000630);
    add32(f, version);
    f->tx.path = (char *)"made.exr";
    pthread_mutex_init(&f->tx.lock, NULL);
    return f;
}

static void free_file(file *f)
{
    txm_scratch_free_all(&f->tx);
    txm_exr_core_free(&f->tx);
    txm_metadata_free(&f->tx.metadata);
    pthread_mutex_destroy(&f->tx.lock);
    txm_bytes_free(&f->bytes);
    free(f);
}

static void add_attribute(file *f, const char *name, const char *type, const void *data, uint32_t bytes)
{
    add(f, name, strlen(name) + 1);
    add(f, type, strlen(type) + 1);
    add32(f, bytes);
    add(f, data, bytes);
}

/* Each letter of the string is a channel's name; all channels have the same type. */
static void add_channels(file *f, const char *letters, uint32_t type, uint32_t sampling)
{
    uint8_t list[512];
    uint32_t bytes = 0;
    for (; *letters; letters++, bytes += 18) {
        memset(list + bytes, 0, 18);
        list[bytes] = (uint8_t)*letters;
        list[bytes + 2] = (uint8_t)type;
        list[bytes + 10] = list[bytes + 14] = (uint8_t)sampling;
    }
    list[bytes++] = 0;
    add_attribute(f, "channels", "chlist", list, bytes);
}

static void add_window(file *f, int32_t x0, int32_t y0, int32_t x1, int32_t y1)
{
    const int32_t box[4] = {x0, y0, x1, y1};
    add_attribute(f, "dataWindow", "box2i", box, sizeof box);
}

static void add_tile_size(file *f, uint32_t w, uint32_t h, uint8_t mode)
{
    uint8_t tiles[9];
    memcpy(tiles, &w, 4);
    memcpy(tiles + 4, &h, 4);
    tiles[8] = mode;
    add_attribute(f, "tiles", "tiledesc", tiles, sizeof tiles);
}

/* Adds what every header needs, for a file of one level. */
static void add_header(file *f, const char *letters, uint32_t type, uint8_t codec, int32_t w, int32_t h, uint32_t tile)
{
    add_channels(f, letters, type, 1);
    add_attribute(f, "compression", "compression", &codec, 1);
    add_window(f, -3, 5, -3 + w - 1, 5 + h - 1); /* its position does not matter */
    add_tile_size(f, tile, tile, 0);
}

/* Opens the file after clearing what an earlier call left. */
static txm_status open_file(file *f, bool *is)
{
    f->tx.map.data = (const uint8_t *)f->bytes.data;
    f->tx.map.bytes = f->bytes.size;
    memset(&f->tx.info, 0, sizeof f->tx.info);
    memset(f->tx.levels, 0, sizeof f->tx.levels);
    txm_metadata_free(&f->tx.metadata);
    txm_error_clear(&f->err);
    f->tx.ops = &txm_tx_exr_reader;
    return txm_tx_exr_reader.open(&f->tx, is, &f->err);
}

/* Opens and frees the file: the outcome must be `expected`, and the message must contain `why`. */
static void opens(file *f, txm_status expected, const char *why)
{
    bool is;
    txm_status status = open_file(f, &is);
    ck_assert(is);
    ck_assert_msg(status == expected && strstr(f->err.message, why), "%d: %s", status, f->err.message);
    ck_assert(status == TXM_OK || strstr(f->err.message, "made.exr"));
    free_file(f);
}

/* Appends a tile's chunk to the file and writes its offset into the table at `table`. */
static void add_chunk(file *f, size_t table, uint32_t x, uint32_t y, uint32_t level, const void *data, uint32_t bytes)
{
    uint64_t at = f->bytes.size;
    memcpy(f->bytes.data + table, &at, 8);
    add32(f, x);
    add32(f, y);
    add32(f, level);
    add32(f, level);
    add32(f, bytes);
    add(f, data, bytes);
}

/* Opens a file with one tile of w x h px whose chunk has these bytes. */
static file *one_tile(const char *letters, uint32_t type, uint8_t codec, int32_t w, int32_t h, const void *data,
                      uint32_t bytes)
{
    bool is;
    file *f = new_file(2 | TILED);
    add_header(f, letters, type, codec, w, h, 64);
    add(f, "", 1);
    add64(f, 0);
    add_chunk(f, f->bytes.size - 8, 0, 0, 0, data, bytes);
    ck_assert_msg(open_file(f, &is) == TXM_OK, "%s", f->err.message);
    return f;
}

/* ---- headers ----------------------------------------------------------------------------------------------------- */

TEST(levels_and_channels_come_from_the_header)
{
    bool is;
    file *f = new_file(2 | TILED);
    const uint8_t codec = TXM_EXR_ZIP;
    add_channels(f, "ABGR", HALF, 1);
    add_attribute(f, "compression", "compression", &codec, 1);
    add_window(f, 0, 0, 19, 9);
    add_tile_size(f, 16, 16, 1); /* mip-maps */
    add(f, "", 1);
    size_t table = f->bytes.size;
    for (int i = 0; i < 2 + 4; i++) /* 20 x 10, 10 x 5, 5 x 2, 2 x 1, 1 x 1: six tiles */
        add64(f, 0);
    for (uint32_t i = 0; i < 6; i++)
        add_chunk(f, table + 8 * i, i < 2 ? i : 0, 0, i < 2 ? 0 : i - 1, "12345", 5);
    ck_assert_msg(open_file(f, &is) == TXM_OK, "%s", f->err.message);
    ck_assert(f->tx.info.width == 20 && f->tx.info.height == 10 && f->tx.info.levels == 5 && f->tx.info.tile_w == 16);
    ck_assert(f->tx.info.channels == 4 && f->tx.info.type == TXM_TYPE_HALF);
    ck_assert_str_eq(f->tx.info.compression, "zip");
    ck_assert_str_eq(txm_tx_metadata_of(&f->tx, "channels"), "A,B,G,R");
    ck_assert_mem_eq(f->tx.exr_slot, "\3\2\1\0", 4);
    ck_assert_uint_eq(f->tx.levels[1].first_tile, 2);
    ck_assert_uint_eq(txm_tx_exr_reader.image_end(&f->tx), f->bytes.size);
    free_file(f);
}

TEST(attributes_become_text)
{
    bool is;
    static const struct {
        const char *name, *type;
        const void *data;
        uint32_t bytes;
        const char *text; /* NULL: left out */
    } cases[] = {
        {"a", "string", "words", 5, "words"},
        {"b", "int", "\xFE\xFF\xFF\xFF", 4, "-2"},
        {"c", "float", "\0\0\xC0\x3F", 4, "1.5"},
        {"d", "v2i", "\1\0\0\0\2\0\0\0", 8, "1,2"},
        {"e", "v2f", "\0\0\xC0\x3F\0\0\0\xC0", 8, "1.5,-2"},
        {"f", "envmap", "\0", 1, "latlong"},
        {"g", "envmap", "\7", 1, NULL},
        {"h", "v2i", "\1\0\0\0", 4, NULL}, /* half an attribute */
        {"i", "preview", "\1\0\0\0", 4, NULL},
    };
    file *f = new_file(2 | TILED);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        add_attribute(f, cases[i].name, cases[i].type, cases[i].data, cases[i].bytes);
    add_header(f, "Y", FLOAT, TXM_EXR_NONE, 4, 4, 64);
    add(f, "", 1);
    add64(f, 0);
    add_chunk(f, f->bytes.size - 8, 0, 0, 0, "", 0);
    ck_assert_msg(open_file(f, &is) == TXM_OK, "%s", f->err.message);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_pstr_eq(txm_tx_metadata_of(&f->tx, cases[i].name), cases[i].text);
    free_file(f);
}

TEST(kinds_of_file_that_are_no_tx_files)
{
    bool is = true;
    file *f = new_file(2 | TILED);
    f->bytes.data[0] = 'X';
    ck_assert_int_eq(open_file(f, &is), TXM_OK);
    ck_assert(!is);
    free_file(f);
    opens(new_file(3 | TILED), TXM_STATUS_UNSUPPORTED, "EXR version 3");
    opens(new_file(2 | TILED | 0x2000), TXM_STATUS_UNSUPPORTED, "flags 0x2200");
    opens(new_file(2 | TILED | 0x800), TXM_STATUS_UNSUPPORTED, "a deep EXR");
    opens(new_file(2 | TILED | 0x1000), TXM_STATUS_UNSUPPORTED, "a multi-part EXR");
    opens(new_file(2), TXM_STATUS_UNSUPPORTED, "a scan-line EXR");
}

/* One attribute is wrong. The correct ones follow it, so the wrong one is found first. */
static file *odd_attribute(const char *name, const char *type, const void *data, uint32_t bytes)
{
    file *f = new_file(2 | TILED);
    add_attribute(f, name, type, data, bytes);
    add_header(f, "Y", HALF, TXM_EXR_ZIP, 4, 4, 64);
    return f;
}

TEST(odd_attributes_are_refused_with_the_reason)
{
    static const int32_t empty[4] = {3, 0, 2, 9}, huge[4] = {INT32_MIN, 0, INT32_MAX, 9};
    opens(odd_attribute("compression", "compression", "\12", 1), TXM_STATUS_UNSUPPORTED, "compression number 10");
    opens(odd_attribute("compression", "compression", "\3\3", 2), TXM_STATUS_CORRUPT, "compression has a wrong size");
    opens(odd_attribute("dataWindow", "box2i", empty, 16), TXM_STATUS_CORRUPT, "the data window is empty");
    opens(odd_attribute("dataWindow", "box2i", empty, 12), TXM_STATUS_CORRUPT, "the data window has a wrong size");
    opens(odd_attribute("tiles", "tiledesc", "\4\0\0\0\4\0\0\0\2", 9), TXM_STATUS_UNSUPPORTED, "rip-map");
    opens(odd_attribute("tiles", "tiledesc", "\4\0\0\0\4\0\0\0\x11", 9), TXM_STATUS_UNSUPPORTED, "rounded up");
    opens(odd_attribute("tiles", "tiledesc", "\4\0\0\0\4\0\0\0", 8), TXM_STATUS_CORRUPT, "tile description");
    opens(odd_attribute("channels", "chlist", "", 1), TXM_STATUS_CORRUPT, "no channels");
    opens(odd_attribute("channels", "chlist", "R\0\1\0\0", 5), TXM_STATUS_CORRUPT, "the channel list is cut off");
    file *f = new_file(2 | TILED);
    add_header(f, "Y", HALF, TXM_EXR_ZIP, 4, 4, 64);
    add_channels(f, "Y", HALF, 1);
    opens(f, TXM_STATUS_CORRUPT, "two channel lists");
    f = new_file(2 | TILED);
    add_header(f, "Y", HALF, TXM_EXR_ZIP, 4, 4, 64);
    add_attribute(f, "dataWindow", "box2i", huge, 16);
    add(f, "", 1);
    opens(f, TXM_STATUS_TOO_LARGE, "4294967295x10 pixels");
}

TEST(channels_must_be_alike_and_whole)
{
    static const struct {
        const char *letters;
        uint32_t type, sampling;
        const char *why;
    } cases[] = {
        {"Y", 0, 1, "channel Y is neither half nor float"},
        {"BGR", HALF, 2, "channel B is subsampled"},
        {"ABGRZ", HALF, 1, "more than 4 channels"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file *f = new_file(2 | TILED);
        add_channels(f, cases[i].letters, cases[i].type, cases[i].sampling);
        opens(f, TXM_STATUS_UNSUPPORTED, cases[i].why);
    }
    uint8_t two[37] = {'A', 0, HALF, [10] = 1, [14] = 1, [18] = 'B', [20] = FLOAT, [28] = 1, [32] = 1};
    opens(odd_attribute("channels", "chlist", two, sizeof two), TXM_STATUS_UNSUPPORTED, "differ in type");
}

TEST(headers_that_end_too_early)
{
    file *f = new_file(2 | TILED);
    add_header(f, "Y", HALF, TXM_EXR_ZIP, 4, 4, 64);
    add(f, "", 1);
    add64(f, 0);
    size_t whole = f->bytes.size;
    for (size_t cut = 9; cut < whole; cut++) {
        bool is;
        file *g = new_file(2 | TILED);
        add(g, f->bytes.data + 8, cut - 8);
        ck_assert_int_eq(open_file(g, &is), TXM_STATUS_CORRUPT);
        free_file(g);
    }
    opens(f, TXM_STATUS_CORRUPT, "level 0, tile 0,0 lies at byte 0"); /* before the table */
    f = new_file(2 | TILED);
    add_window(f, 0, 0, 3, 3);
    add(f, "", 1);
    opens(f, TXM_STATUS_CORRUPT, "a required attribute is missing");
    f = new_file(2 | TILED);
    for (int i = 0; i < 300; i++)
        add(f, "n", 1);
    opens(f, TXM_STATUS_CORRUPT, "an attribute's name does not end");
    f = new_file(2 | TILED);
    for (int i = 0; i < 4096; i++)
        add_attribute(f, "n", "t", "", 0);
    opens(f, TXM_STATUS_CORRUPT, "more attributes than any file has");
}

/* If tiles will not be read, only sizes and tile sizes count. */
TEST(outlines_accept_what_blender_reads)
{
    bool is;
    file *f = new_file(2 | TILED | 0x1000);
    f->tx.outline = true;
    add_channels(f, "ABGRUVWXYZ", 0, 2);
    add_attribute(f, "compression", "compression", "\x9", 1);
    add_window(f, 0, 0, 99, 49);
    add_tile_size(f, 32, 16, 0x12); /* rip-maps, rounded up */
    add(f, "", 1);
    ck_assert_msg(open_file(f, &is) == TXM_OK, "%s", f->err.message);
    ck_assert(f->tx.info.width == 100 && f->tx.info.tile_h == 16 && f->tx.info.levels == txm_level_count(100, 50));
    free_file(f);
}

static txm_status open_again(void *user)
{
    bool is;
    file *f = user;
    txm_status status = open_file(f, &is);
    txm_metadata_free(&f->tx.metadata);
    return status;
}

TEST(metadata_may_find_no_memory)
{
    file *f = one_tile("Y", FLOAT, TXM_EXR_NONE, 4, 4, "", 0);
    refuse_each(open_again, f);
    free_file(f);
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

static txm_status find(file *f, uint32_t x, txm_span *span)
{
    const txm_tile_id tile = {.x = x, .w = 4, .h = 4};
    txm_error_clear(&f->err);
    return f->tx.ops->find(&f->tx, &tile, span, &f->err);
}

TEST(a_chunk_must_be_of_its_tile_and_in_the_file)
{
    txm_span span;
    file *f = one_tile("Y", FLOAT, TXM_EXR_NONE, 4, 4, "0123456789", 10);
    char *chunk = f->bytes.data + f->bytes.size - 30;
    ck_assert_int_eq(find(f, 0, &span), TXM_OK);
    ck_assert(span.bytes == 10 && !memcmp(span.data, "0123456789", 10));
    for (int i = 0; i < 4; i++) {
        chunk[4 * i] = 1; /* x, y, and level twice */
        ck_assert_int_eq(find(f, 0, &span), TXM_STATUS_CORRUPT);
        ck_assert_msg(strstr(f->err.message, "another tile is in its place") != NULL, "%s", f->err.message);
        chunk[4 * i] = 0;
    }
    f->tx.map.bytes--;
    ck_assert_int_eq(find(f, 0, &span), TXM_STATUS_CORRUPT);
    ck_assert_msg(strstr(f->err.message, "beyond the end") != NULL, "%s", f->err.message);
    f->tx.map.bytes -= 10;
    ck_assert_int_eq(find(f, 0, &span), TXM_STATUS_CORRUPT);
    ck_assert_str_eq(f->err.message, "lies outside of the file");
    free_file(f);
}

TEST(sizes_are_summed_and_the_end_is_found)
{
    file *f = one_tile("Y", FLOAT, TXM_EXR_NONE, 4, 4, "0123456789", 10);
    size_t end = f->bytes.size;
    add(f, "a section", 9);
    f->tx.map.data = (const uint8_t *)f->bytes.data;
    f->tx.map.bytes = f->bytes.size;
    f->tx.levels[0].offsets = f->tx.map.data + f->tx.header_bytes; /* the table moved with the bytes */
    ck_assert_uint_eq(f->tx.ops->image_end(&f->tx), end);
    free_file(f);
    SCOPED(free_image)
    made_image image = make_image(100, 60, 4, TXM_TYPE_HALF, 32, (txm_compression){TXM_CODEC_ZIP, 1}, MADE_SMOOTH);
    const char *path = temp_file("measured.exr");
    write_foreign_exr(path, &image, TXM_EXR_ZIP);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    uint64_t sum = 0;
    txm_tx_exr_reader.measure(tx);
    for (uint32_t y = 0; y < 2; y++)
        for (uint32_t x = 0; x < 4; x++)
            sum += txm_tx_tile_bytes(tx, 0, x, y);
    ck_assert(sum > 0 && tx->levels[0].shape.encoded_bytes == sum && atomic_load(&tx->sized));
}

/* Decodes the only tile, of w x h px, and returns its pixels in scratch memory. */
static const uint8_t *decode(file *f, txm_scratch *scratch, uint32_t w, uint32_t h, txm_status expected,
                             const char *why)
{
    const txm_tile_id tile = {.w = w, .h = h};
    txm_span span;
    txm_pixels pixels = {0};
    ck_assert_int_eq(find(f, 0, &span), TXM_OK);
    txm_status status = f->tx.ops->decode(&f->tx, &tile, &span, scratch, &pixels, &f->err);
    ck_assert_msg(status == expected && strstr(f->err.message, why), "%d: %s", status, f->err.message);
    return pixels.data;
}

/* Frees the file. */
static void decodes(file *f, uint32_t w, uint32_t h, const void *expected, size_t bytes)
{
    txm_scratch *scratch = txm_scratch_take(&f->tx);
    ck_assert_mem_eq(decode(f, scratch, w, h, TXM_OK, ""), expected, bytes);
    txm_scratch_give(&f->tx, scratch);
    free_file(f);
}

static void fails_with(file *f, uint32_t w, uint32_t h, const char *why)
{
    txm_scratch *scratch = txm_scratch_take(&f->tx);
    decode(f, scratch, w, h, TXM_STATUS_CORRUPT, why);
    txm_scratch_give(&f->tx, scratch);
    free_file(f);
}

/* The planes are in the file's order, A B G R. The width leaves a remainder after whole vectors. */
enum { W = 11, H = 3 };

static size_t make_planes(uint8_t *planes, uint8_t *pixels, size_t sample)
{
    for (size_t y = 0; y < H; y++)
        for (size_t c = 0; c < 4; c++)
            for (size_t x = 0; x < W; x++)
                for (size_t b = 0; b < sample; b++)
                    planes[((y * 4 + c) * W + x) * sample + b] = pixels[((y * W + x) * 4 + 3 - c) * sample + b] =
                        (uint8_t)(x * 17 + c * 50 + y * 5 + b * 3);
    return W * H * 4 * sample;
}

TEST(planes_become_pixels)
{
    uint8_t planes[W * H * 16], pixels[W * H * 16];
    for (uint32_t type = HALF; type <= FLOAT; type++) {
        size_t bytes = make_planes(planes, pixels, type == HALF ? 2 : 4);
        decodes(one_tile("ABGR", type, TXM_EXR_NONE, W, H, planes, (uint32_t)bytes), W, H, pixels, bytes);
        /* Data that did not shrink is stored uncompressed, whatever the codec. */
        decodes(one_tile("ABGR", type, TXM_EXR_ZIP, W, H, planes, (uint32_t)bytes), W, H, pixels, bytes);
    }
    size_t bytes = make_planes(planes, pixels, 4) / 4;
    decodes(one_tile("Y", FLOAT, TXM_EXR_NONE, W, H, planes, (uint32_t)bytes), W, H, planes, bytes);
}

TEST(runs_and_zlib_streams_are_expanded)
{
    uint8_t planes[W * H * 16], pixels[W * H * 16], filtered[W * H * 16], packed[1024];
    uint32_t bytes = (uint32_t)make_planes(planes, pixels, 2);
    uLongf zipped = sizeof packed;
    txm_zip_filter(planes, bytes, filtered);
    ck_assert_int_eq(compress(packed, &zipped, filtered, bytes), Z_OK);
    ck_assert_uint_lt(zipped, bytes);
    decodes(one_tile("ABGR", HALF, TXM_EXR_ZIP, W, H, packed, (uint32_t)zipped), W, H, pixels, bytes);
    decodes(one_tile("ABGR", HALF, TXM_EXR_ZIPS, W, H, packed, (uint32_t)zipped), W, H, pixels, bytes);
    fails_with(one_tile("ABGR", HALF, TXM_EXR_ZIP, W, H, packed, (uint32_t)zipped - 5), W, H, "zip data is damaged");
    fails_with(one_tile("ABGR", HALF, TXM_EXR_RLE, W, H, packed, (uint32_t)zipped), W, H, "rle data is damaged");
    /* This is one run: the first byte of the filter's output is a value, and 128 means no difference. */
    static const uint8_t run[] = {0, 9, 127, 128};
    uint8_t nines[128];
    memset(nines, 9, sizeof nines);
    file *f = one_tile("Y", HALF, TXM_EXR_RLE, 64, 1, "", 0);
    free_file(f);
    uint8_t rle[] = {0, 9, 126, 128};
    decodes(one_tile("Y", HALF, TXM_EXR_RLE, 64, 1, rle, sizeof rle), 64, 1, nines, 128);
    fails_with(one_tile("Y", HALF, TXM_EXR_RLE, 64, 1, run, sizeof run), 64, 1, "rle data is damaged");
}

TEST(chunks_of_a_wrong_size_are_damage)
{
    uint8_t planes[W * H * 16] = {0};
    fails_with(one_tile("ABGR", HALF, TXM_EXR_ZIP, W, H, planes, W * H * 8 + 1), W, H, "more than its pixels take");
    fails_with(one_tile("ABGR", HALF, TXM_EXR_NONE, W, H, planes, W * H * 8 - 1), W, H, "instead of");
}

static txm_status decode_anew(void *user)
{
    file *f = user;
    const txm_tile_id tile = {.w = W, .h = H};
    txm_span span;
    txm_pixels pixels;
    txm_scratch *scratch = txm_scratch_take(&f->tx);
    txm_status status = TXM_STATUS_NO_MEMORY;
    if (scratch && (status = f->tx.ops->find(&f->tx, &tile, &span, NULL)) == TXM_OK)
        status = f->tx.ops->decode(&f->tx, &tile, &span, scratch, &pixels, NULL);
    if (scratch)
        txm_scratch_give(&f->tx, scratch);
    txm_scratch_free_all(&f->tx);
    return status;
}

TEST(tiles_may_find_no_memory)
{
    uint8_t planes[W * H * 16], pixels[W * H * 16], filtered[W * H * 16], packed[1024];
    uLongf zipped = sizeof packed;
    uint32_t bytes = (uint32_t)make_planes(planes, pixels, 2);
    txm_zip_filter(planes, bytes, filtered);
    ck_assert_int_eq(compress(packed, &zipped, filtered, bytes), Z_OK);
    file *f = one_tile("ABGR", HALF, TXM_EXR_ZIP, W, H, packed, (uint32_t)zipped);
    refuse_each(decode_anew, f);
    free_file(f);
}

/* ---- OpenEXRCore ------------------------------------------------------------------------------------------------- */

TEST(the_library_is_loaded_once_and_whole)
{
    const txm_openexr_core *exr = txm_openexr_core_load();
    ck_assert_ptr_nonnull(exr);
    ck_assert_ptr_eq(txm_openexr_core_load(), exr);
#define IS_THERE(name) ck_assert(exr->name != NULL);
    TXM_OPENEXR_FUNCTIONS(IS_THERE)
#undef IS_THERE
}

/* Returns the first tile of level `level` of an open file. */
static txm_status decode_corner(txm_tx *tx, uint32_t level, txm_scratch *scratch, txm_pixels *out, txm_error *err)
{
    txm_tile_id tile;
    txm_span span;
    txm_status status = txm_tile_at(tx, level, 0, 0, &tile, err);
    if (status == TXM_OK)
        status = tx->ops->find(tx, &tile, &span, err);
    return status == TXM_OK ? tx->ops->decode(tx, &tile, &span, scratch, out, err) : status;
}

TEST(rarer_codecs_are_its_own)
{
    SCOPED(free_image)
    made_image image = make_image(64, 64, 4, TXM_TYPE_HALF, 64, (txm_compression){TXM_CODEC_ZIP, 1}, MADE_SMOOTH);
    const char *path = temp_file("piz.exr");
    txm_pixels pixels;
    txm_error err = {0};
    write_foreign_exr(path, &image, PIZ);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx(path);
    txm_scratch *scratch = txm_scratch_take(tx);
    for (uint32_t level = 0; level < 3; level++) { /* one pipeline decodes all of them */
        ck_assert_msg(decode_corner(tx, level, scratch, &pixels, &err) == TXM_OK, "%s", err.message);
        uint32_t edge = 64u >> level;
        for (uint32_t y = 0; y < edge; y++)
            ck_assert_mem_eq(pixels.data + y * pixels.stride, image.levels[level] + (size_t)y * edge * 8, edge * 8);
    }
    ck_assert_ptr_nonnull(atomic_load(&tx->exr_core));
    txm_exr_chunk_free(scratch);
    ck_assert_ptr_null(scratch->exr_chunk);
    txm_exr_chunk_free(scratch);
    txm_scratch_give(tx, scratch);
}

/* Any chunk is decoded or refused, and the same scratch memory serves for the next tile. */
TEST(damage_in_rarer_codecs_is_refused)
{
    SCOPED(free_image)
    made_image image = make_image(64, 64, 4, TXM_TYPE_HALF, 64, (txm_compression){TXM_CODEC_ZIP, 1}, MADE_SMOOTH);
    const char *path = temp_file("damaged.exr");
    int refused = 0;
    size_t bytes;
    write_foreign_exr(path, &image, PIZ);
    FREED uint8_t *good = load_file(path, &bytes);
    for (unsigned round = 0; round < 40; round++) {
        txm_pixels pixels;
        txm_error err = {0};
        txm_tx *tx = open_tx(path);
        uint64_t at = txm_load_le64(tx->levels[0].offsets) + TXM_EXR_CHUNK_HEADER_BYTES;
        txm_tx_close(&tx);
        FREED uint8_t *bad = malloc(bytes);
        memcpy(bad, good, bytes);
        bad[at + round] ^= 0x55;
        const char *damaged = temp_file("bad.exr");
        save_file(damaged, bad, bytes);
        tx = open_tx(damaged);
        txm_scratch *scratch = txm_scratch_take(tx);
        txm_status status = decode_corner(tx, 0, scratch, &pixels, &err);
        ck_assert_msg(status == TXM_OK || status == TXM_STATUS_CORRUPT, "%d: %s", status, err.message);
        refused += status != TXM_OK;
        ck_assert_int_eq(decode_corner(tx, 1, scratch, &pixels, &err), TXM_OK);
        txm_scratch_give(tx, scratch);
        txm_tx_close(&tx);
    }
    ck_assert_int_gt(refused, 0);
}
