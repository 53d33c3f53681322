/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures and pages that the program makes: pixels and data of a viewer's page, pictures in a terminal, sheets of
 * tiles. */
#include <fcntl.h>
#include <libdeflate.h>
#include <math.h>
#include <openssl/evp.h>

#include "tools/picture/tile_sheet.h"
#include "tools/view/view_blocks.h"
#include "tools/view/view_data.h"
#include "tools/view/view_page.h"
#include "tools/view/view_terminal.h"
#include "util_batch.h"
#include "util_cache.h"
#include "util_check.h"
#include "util_tx.h"

static txm_context *context;

static void enter(void)
{
    const txm_context_options options = {.struct_size = sizeof options, .threads = 2};
    ck_assert_int_eq(txm_context_new(&options, &context, NULL), TXM_OK);
    batch_enter();
}

static void leave(void)
{
    batch_leave();
    txm_context_free(&context);
}
FIXTURE(enter, leave)

/* ---- pixels in a page -------------------------------------------------------------------------------------------- */

static int64_t median(int64_t a, int64_t b, int64_t c)
{
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    return c >= high ? low : c <= low ? high : a + b - c;
}

/* Decodes one block of w x h px by the documentation alone: residuals by channel and byte plane, LOCO-I prediction. */
static void decode_block(const uint8_t *raw, uint32_t w, uint32_t h, uint32_t channels, size_t bytes, uint8_t *out)
{
    size_t plane = (size_t)w * h, mask = bytes == 4 ? 0xFFFFFFFF : ((size_t)1 << 8 * bytes) - 1;
    FREED uint32_t *v = calloc(plane, sizeof *v);
    for (uint32_t c = 0; c < channels; c++) {
        for (size_t i = 0; i < plane; i++) {
            int64_t residual = 0, expected = 0, x = (int64_t)(i % w);
            for (size_t n = 0; n < bytes; n++)
                residual |= (int64_t)raw[(c * bytes + n) * plane + i] << 8 * n;
            if (i >= w)
                expected = x ? median(v[i - 1], v[i - w], v[i - w - 1]) : v[i - w];
            else if (x)
                expected = v[i - 1];
            v[i] = (uint32_t)((uint64_t)(expected + residual) & mask);
            memcpy(out + (i * channels + c) * bytes, &v[i], bytes);
        }
    }
}

TEST(blocks_hold_the_stored_bits)
{
    static const struct {
        uint32_t width, height, channels, tile;
        txm_type type;
    } cases[] = {{600, 300, 4, 64, TXM_TYPE_U8},
                 {257, 1, 1, 64, TXM_TYPE_U16},
                 {1, 520, 4, 512, TXM_TYPE_HALF},
                 {100, 90, 1, 16, TXM_TYPE_FLOAT}};
    ck_assert_uint_eq(txm_view_block_px(16), 256);
    ck_assert_uint_eq(txm_view_block_px(256), 256);
    ck_assert_uint_eq(txm_view_block_px(512), 512);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        uint32_t width = cases[k].width, height = cases[k].height, channels = cases[k].channels;
        size_t sample = txm_type_bytes(cases[k].type), px = channels * sample;
        made_image m =
            make_image(width, height, channels, cases[k].type, cases[k].tile, (txm_compression){0}, MADE_NOISE);
        write_made("a.tx", &m);
        SCOPED(txm_tx_close) txm_tx *tx = open_tx("a.tx");
        SCOPED(txm_bytes_free) txm_bytes text = {0};
        bool fits = false;
        txm_error err = {0};
        ck_assert_msg(txm_view_blocks(context, tx, 0, SIZE_MAX, NULL, &text, &fits, &err) == TXM_OK, "%s", err.message);
        ck_assert(fits);
        uint32_t block = txm_view_block_px(cases[k].tile), across = (width - 1) / block + 1;
        char *save = NULL;
        text.data[text.size] = 0;
        size_t n = 0;
        for (char *part = strtok_r(text.data, " ", &save); part; part = strtok_r(NULL, " ", &save), n++) {
            uint32_t x0 = (uint32_t)(n % across) * block, y0 = (uint32_t)(n / across) * block;
            uint32_t w = width - x0 < block ? width - x0 : block, h = height - y0 < block ? height - y0 : block;
            size_t letters = strlen(part), raw_bytes = w * h * px;
            FREED uint8_t *packed = malloc(letters), *raw = malloc(raw_bytes), *out = malloc(raw_bytes);
            int got = EVP_DecodeBlock(packed, (unsigned char *)part, (int)letters);
            ck_assert_int_gt(got, 0);
            struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
            size_t used;
            ck_assert_int_eq(libdeflate_zlib_decompress_ex(d, packed, (size_t)got, raw, raw_bytes, NULL, &used),
                             LIBDEFLATE_SUCCESS);
            ck_assert_uint_eq(used, raw_bytes);
            libdeflate_free_decompressor(d);
            decode_block(raw, w, h, channels, sample, out);
            for (uint32_t y = 0; y < h; y++)
                ck_assert_mem_eq(out + y * w * px, m.levels[0] + ((size_t)(y0 + y) * width + x0) * px, w * px);
        }
        ck_assert_uint_eq(n, (size_t)across * ((height - 1) / block + 1));
        free_image(&m);
    }
}

TEST(blocks_that_do_not_fit_leave_nothing)
{
    static const volatile int stop = 1;
    SCOPED(free_image) made_image m = make_image(600, 300, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    write_made("a.tx", &m);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx("a.tx");
    SCOPED(txm_bytes_free) txm_bytes text = {0};
    bool fits = true;
    txm_error err = {0};
    ck_assert(txm_bytes_puts(&text, "before"));
    ck_assert_int_eq(txm_view_blocks(context, tx, 0, 1000, NULL, &text, &fits, &err), TXM_OK);
    ck_assert(!fits);
    ck_assert_uint_eq(text.size, 6);
    ck_assert_int_eq(txm_view_blocks(context, tx, 0, SIZE_MAX, &stop, &text, &fits, &err), TXM_STATUS_CANCELLED);
    ck_assert_uint_eq(text.size, 6);
    ck_assert_int_eq(txm_view_blocks(context, tx, m.layout.levels - 1, SIZE_MAX, NULL, &text, &fits, &err), TXM_OK);
    ck_assert(fits && text.size > 6);
}

/* ---- data in a page ---------------------------------------------------------------------------------------------- */

static double number_of(const cJSON *o, const char *name)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, name);
    ck_assert_msg(cJSON_IsNumber(n), "%s", name);
    return n->valuedouble;
}

/* Numbers are as a script sees them: exact numbers are texts until they are printed. */
static cJSON *read_again(cJSON *o)
{
    char *text = cJSON_PrintUnformatted(o);
    cJSON_Delete(o);
    o = cJSON_Parse(text);
    free(text);
    ck_assert_ptr_nonnull(o);
    return o;
}

TEST(pages_know_their_files)
{
    made_image m = make_image(100, 60, 4, TXM_TYPE_HALF, 64, (txm_compression){0}, MADE_SMOOTH);
    uint16_t *pixels = (void *)m.levels[0];
    for (size_t i = 0; i < 100 * 60; i++)
        pixels[4 * i] = i % 2 ? 0x3C00 : 0x4000; /* 1 and 2 */
    pixels[1] = 0x7C00;                          /* infinite */
    write_made("a.tx", &m);
    txm_info info;
    txm_error err = {0};
    cJSON *o = NULL;
    ck_assert_int_eq(txm_info_load(context, NULL, "a.tx", true, &info, &err), TXM_OK);
    ck_assert_int_eq(txm_view_data(&info, NULL, &o, &err), TXM_OK);
    static const bool embedded[] = {false, true, true};
    txm_view_data_embedded(o, embedded, 3);
    o = read_again(o);
    ck_assert(number_of(o, "width") > 99 && number_of(o, "height") < 61);
    ck_assert(number_of(o, "block_width") > 255 && number_of(o, "block_width") < 257);
    ck_assert_uint_eq(info.tiles.level[0].tiles, 2);
    const cJSON *statistics = cJSON_GetObjectItemCaseSensitive(o, "statistics");
    ck_assert_int_eq(cJSON_GetArraySize(statistics), 4);
    const cJSON *red = cJSON_GetArrayItem(statistics, 0), *green = cJSON_GetArrayItem(statistics, 1);
    ck_assert_double_eq_tol(number_of(red, "min"), 1, 1e-6);
    ck_assert_double_eq_tol(number_of(red, "max"), 2, 1e-6);
    ck_assert_double_eq_tol(number_of(red, "mean"), 1.5, 1e-6);
    ck_assert_double_eq_tol(number_of(green, "not_finite"), 1, 1e-6);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(o, "embedded")), 2);
    cJSON_Delete(o);
    static const volatile int stop = 1;
    txm_tile_census_clear(&info.tiles);
    ck_assert_int_eq(txm_view_data(&info, &stop, &o, &err), TXM_STATUS_CANCELLED);
    txm_info_clear(&info);
    txm_info_clear(&info);
    free_image(&m);
    o = txm_view_data_error("b.tx", &(txm_error){.status = TXM_STATUS_CORRUPT, .message = "b.tx: broken"});
    char *text = cJSON_PrintUnformatted(o);
    ck_assert(strstr(text, "b.tx: broken") && strstr(text, "corrupt"));
    free(text);
    cJSON_Delete(o);
}

TEST(pages_encode_as_pictures_do)
{
    cJSON *o = read_again(txm_view_data_finish(cJSON_CreateArray(), -1, 1000));
    const cJSON *thresholds = cJSON_GetObjectItemCaseSensitive(o, "thresholds");
    ck_assert(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(o, "level")));
    ck_assert_int_eq(cJSON_GetArraySize(thresholds), 255);
    for (int code = 1; code < 256; code++) {
        float least = (float)cJSON_GetArrayItem(thresholds, code - 1)->valuedouble;
        ck_assert_uint_eq(txm_srgb_code(least), (unsigned)code);
        ck_assert_uint_eq(txm_srgb_code(nextafterf(least, 0)), (unsigned)code - 1);
    }
    cJSON_Delete(o);
    ck_assert_ptr_null(txm_view_data_finish(NULL, 0, 1000));
}

static char *text_of(const char *path)
{
    size_t bytes;
    FREED uint8_t *data = load_file(path, &bytes);
    char *text = strndup((char *)data, bytes);
    return text;
}

TEST(pages_appear_whole_or_not_at_all)
{
    made_image m = make_image(300, 200, 1, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    write_made("<!--<script>.tx", &m);
    free_image(&m);
    batch_file("b.tx", "no tx file");
    for (int give_up = 0; give_up < 2; give_up++) {
        const txm_view_page_options o = {
            .output = "page.html", .files = 2, .bytes = 40000, .context = context, .level = 1};
        txm_view_page *page = NULL;
        txm_view_page_file what;
        txm_error err = {0};
        ck_assert_int_eq(txm_view_page_begin(&o, &page, &err), TXM_OK);
        ck_assert_int_ne(access("page.html", F_OK), 0);
        ck_assert_int_ne(txm_view_page_add(page, context, "b.tx", &what, &err), TXM_OK);
        ck_assert(!txm_view_page_broken(page)); /* a comment in the page */
        err = (txm_error){0};
        ck_assert_msg(txm_view_page_add(page, context, "<!--<script>.tx", &what, &err) == TXM_OK, "%s", err.message);
        ck_assert(what.levels == 9 && what.embedded[8] && what.embedded[1] && !what.embedded[0]);
        ck_assert(what.bytes > 0 && what.bytes <= 40000);
        ck_assert_int_eq(txm_view_page_finish(&page, give_up, &err), TXM_OK);
        ck_assert_ptr_null(page);
        ck_assert_int_eq(access("page.html", F_OK) == 0, !give_up);
        if (give_up)
            break;
        char *text = text_of("page.html");
        ck_assert_ptr_nonnull(strstr(text, "id=\"pixels-1-8\""));
        ck_assert_ptr_null(strstr(text, "id=\"pixels-1-0\""));
        ck_assert_ptr_null(strstr(text, "<script>.tx")); /* a name must not open or end a script */
        ck_assert_ptr_nonnull(strstr(text, "\\u003c!--\\u003cscript\\u003e.tx"));
        free(text);
        ck_assert_int_eq(unlink("page.html"), 0);
    }
    ck_assert_uint_eq(batch_count(), 2);
    const txm_view_page_options nowhere = {.output = "b.tx/page.html", .context = context};
    txm_view_page *page = NULL;
    txm_error err = {0};
    ck_assert_int_ne(txm_view_page_begin(&nowhere, &page, &err), TXM_OK);
    ck_assert_ptr_null(page);
}

/* ---- terminals --------------------------------------------------------------------------------------------------- */

TEST(pictures_keep_to_their_cells)
{
    uint8_t pixels[40 * 20 * 4];
    uint32_t w, h;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = i % 4 == 3 ? 255 : (uint8_t)(i * 7);
    const txm_level_picture p = {.pixels = pixels, .width = 40, .height = 20, .channels = 4, .type = TXM_TYPE_U8};
    setenv("LC_ALL", "C", 1);
    setenv("NO_COLOR", "1", 1);
    txm_view_terminal t = {.columns = 30, .rows = 5, .format = TXM_VIEW_SYMBOLS};
    batch_catch();
    txm_view_terminal_find(&t);
    txm_status status = txm_view_terminal_print(&t, &p, NULL);
    const char *text = batch_caught();
    ck_assert_int_eq(status, TXM_OK);
    ck_assert(t.columns == 30 && t.rows == 5 && t.cell_w == 8 && t.cell_h == 16);
    txm_view_terminal_target(&t, &w, &h);
    ck_assert(w == 240 && h == 80);
    /* Twice as wide as high: 5 rows of 16 px are 80 px, 20 columns 160 px. */
    size_t lines = 0, longest = 0;
    for (const char *at = text; *at; lines++) {
        size_t n = strcspn(at, "\n");
        longest = n > longest ? n : longest;
        at += n + (at[n] == '\n');
    }
    ck_assert_uint_eq(lines, 5);
    ck_assert_uint_ge(longest, 20);
    ck_assert_ptr_null(strstr(text, "\xE2")); /* no blocks where the locale has none */
    t = (txm_view_terminal){.columns = 100000, .rows = 100000, .format = TXM_VIEW_SIXEL};
    txm_view_terminal_find(&t);
    ck_assert(t.columns == 1000 && t.rows == 1000 && t.format == TXM_VIEW_SIXEL);
}

/* ---- sheets of tiles --------------------------------------------------------------------------------------------- */

TEST(sheets_show_every_tile_apart)
{
    SCOPED(free_image) made_image m = make_image(100, 70, 1, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_CONSTANT);
    uint8_t value = m.levels[0][0];
    txm_level_picture p;
    txm_error err = {0};
    write_made("a.tx", &m);
    SCOPED(txm_tx_close) txm_tx *tx = open_tx("a.tx");
    ck_assert_msg(txm_tile_sheet(tx, 0, 2, TXM_EXTENSION_REPEAT, &p, &err) == TXM_OK, "%s", err.message);
    /* Cells of 68 px and a line; a label of 7 px above. */
    ck_assert(p.width == 2 * 69 + 1 && p.height == 2 * (68 + 7 + 1) + 1 && p.channels == 3);
    const uint8_t *inside = p.pixels + ((1 + 7 + 10) * (size_t)p.width + 1 + 10) * 3;
    const uint8_t *padding = p.pixels + ((1 + 7) * (size_t)p.width + 1) * 3;
    ck_assert(inside[0] == value && inside[1] == value && inside[2] == value);
    ck_assert(padding[0] == (value + 255) / 2 && padding[1] == value / 2);
    size_t ink = 0;
    for (size_t i = 0; i < (size_t)p.width * p.height; i++)
        ink += p.pixels[3 * i] == 255 && p.pixels[3 * i + 1] == 208;
    /* "0,0" "1,0" "0,1" "1,1": a zero has 12 px, a one 8, a comma 3. */
    ck_assert_uint_gt(ink, 60);
    ck_assert_uint_lt(ink, 120);
    txm_level_picture_clear(&p);
    ck_assert_int_eq(txm_tile_sheet(tx, 6, 0, TXM_EXTENSION_CLIP, &p, &err), TXM_OK);
    ck_assert_uint_gt(p.width, 12); /* as wide as its label, although the level is one pixel */
    txm_level_picture_clear(&p);
    ck_assert_int_eq(txm_tile_sheet(tx, 7, 0, TXM_EXTENSION_CLIP, &p, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_null(p.pixels);
}
