/* SPDX-License-Identifier: Apache-2.0
 *
 * Pictures and pages that the program makes: pixels and data of a viewer's page, pictures in a terminal, sheets of
 * tiles, tables and plots of replays, the page of a report. */
#include <check.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <math.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command/stream_args.h"
#include "replay/replay_table.h"
#include "tools/picture/tile_sheet.h"
#include "tools/report/report_page.h"
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

static void write_tx(const char *path, const made_image *m)
{
    txm_tx_metadata metadata = made_metadata();
    txm_tx_summary summary = made_summary();
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    ck_assert_int_eq(write_image(fd, m, &metadata, &summary, NULL, NULL), TXM_OK);
    close(fd);
}

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
    uint32_t *v = calloc(plane, sizeof *v);
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
    free(v);
}

START_TEST(blocks_hold_the_stored_bits)
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
        write_tx("a.tx", &m);
        txm_tx *tx = open_tx("a.tx");
        txm_bytes text = {0};
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
            uint8_t *packed = malloc(letters), *raw = malloc(raw_bytes), *out = malloc(raw_bytes);
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
            free(packed);
            free(raw);
            free(out);
        }
        ck_assert_uint_eq(n, (size_t)across * ((height - 1) / block + 1));
        txm_bytes_free(&text);
        txm_tx_close(&tx);
        free_image(&m);
    }
}
END_TEST

START_TEST(blocks_that_do_not_fit_leave_nothing)
{
    static const volatile int stop = 1;
    made_image m = make_image(600, 300, 4, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    write_tx("a.tx", &m);
    txm_tx *tx = open_tx("a.tx");
    txm_bytes text = {0};
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
    txm_bytes_free(&text);
    txm_tx_close(&tx);
    free_image(&m);
}
END_TEST

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

START_TEST(pages_know_their_files)
{
    made_image m = make_image(100, 60, 4, TXM_TYPE_HALF, 64, (txm_compression){0}, MADE_SMOOTH);
    uint16_t *pixels = (void *)m.levels[0];
    for (size_t i = 0; i < 100 * 60; i++)
        pixels[4 * i] = i % 2 ? 0x3C00 : 0x4000; /* 1 and 2 */
    pixels[1] = 0x7C00;                          /* infinite */
    write_tx("a.tx", &m);
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
END_TEST

START_TEST(pages_encode_as_pictures_do)
{
    char *text = txm_view_data_finish(cJSON_CreateArray(), -1, 1000);
    cJSON *o = cJSON_Parse(text);
    const cJSON *thresholds = cJSON_GetObjectItemCaseSensitive(o, "thresholds");
    ck_assert(cJSON_IsNull(cJSON_GetObjectItemCaseSensitive(o, "level")));
    ck_assert_int_eq(cJSON_GetArraySize(thresholds), 255);
    for (int code = 1; code < 256; code++) {
        float least = (float)cJSON_GetArrayItem(thresholds, code - 1)->valuedouble;
        ck_assert_uint_eq(txm_srgb_code(least), (unsigned)code);
        ck_assert_uint_eq(txm_srgb_code(nextafterf(least, 0)), (unsigned)code - 1);
    }
    cJSON_Delete(o);
    free(text);
    ck_assert_ptr_null(txm_view_data_finish(NULL, 0, 1000));
}
END_TEST

static char *text_of(const char *path)
{
    size_t bytes;
    uint8_t *data = load_file(path, &bytes);
    char *text = strndup((char *)data, bytes);
    free(data);
    return text;
}

START_TEST(pages_appear_whole_or_not_at_all)
{
    made_image m = make_image(300, 200, 1, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_NOISE);
    write_tx("<!--<script>.tx", &m);
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
END_TEST

/* ---- terminals --------------------------------------------------------------------------------------------------- */

START_TEST(pictures_keep_to_their_cells)
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
    txm_view_terminal_look(&t);
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
    txm_view_terminal_look(&t);
    ck_assert(t.columns == 1000 && t.rows == 1000 && t.format == TXM_VIEW_SIXEL);
}
END_TEST

/* ---- sheets of tiles --------------------------------------------------------------------------------------------- */

START_TEST(sheets_show_every_tile_apart)
{
    made_image m = make_image(100, 70, 1, TXM_TYPE_U8, 64, (txm_compression){0}, MADE_CONSTANT);
    uint8_t value = m.levels[0][0];
    txm_level_picture p;
    txm_error err = {0};
    write_tx("a.tx", &m);
    txm_tx *tx = open_tx("a.tx");
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
    txm_tx_close(&tx);
    free_image(&m);
}
END_TEST

/* ---- replays ----------------------------------------------------------------------------------------------------- */

START_TEST(sizes_can_be_given_back)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{1, "1"},           {1024, "1K"},         {1025, "1025"}, {16 << 20, "16M"}, {3ull << 29, "1536M"},
                 {1ull << 40, "1T"}, {1ull << 50, "1024T"}};
    char text[TXM_REPLAY_SIZE_TEXT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ck_assert_int_eq(strncmp(txm_replay_size_text(cases[i].bytes, text), cases[i].text, strlen(cases[i].text)), 0);
    for (uint32_t k = 0; k <= TXM_CACHE_POLICY_SECOND_CHANCE; k++)
        ck_assert_ptr_nonnull(txm_replay_policy_name(k));
    ck_assert_str_eq(txm_replay_policy_name(TXM_REPLAY_OPT), "opt");
    ck_assert_ptr_null(txm_replay_policy_name(TXM_CACHE_POLICY_SECOND_CHANCE + 1));
}
END_TEST

/* A table made by hand, with two sizes, LRU and the optimum. */
static txm_replay_table table_of(txm_replay_counts counts[4], const txm_trace_info *info)
{
    return (txm_replay_table){.path = "t.trace",
                              .info = info,
                              .ask = {.sizes = {1 << 20, 4 << 20},
                                      .size_count = 2,
                                      .policies = {TXM_CACHE_POLICY_LRU, TXM_REPLAY_OPT},
                                      .policy_count = 2,
                                      .read_seconds = 0.001},
                              .all = {.lookups = 900, .tiles = 100, .tile_bytes = 3 << 20, .reads = 100},
                              .counts = counts};
}

START_TEST(verdicts_name_the_size_that_is_enough)
{
    txm_trace_info info = {.textures = 3};
    txm_replay_counts counts[4] = {{.reads = 300, .reads_again = 200},
                                   {.reads = 150, .reads_again = 50},
                                   {.reads = 104, .reads_again = 4},
                                   {.reads = 100}};
    txm_replay_table t = table_of(counts, &info);
    char text[TXM_REPLAY_VERDICT], *verdict = txm_replay_verdict(&t, text);
    ck_assert_msg(strstr(verdict, "from 4M on lru reads almost no tile again") &&
                      strstr(verdict, "the optimum reads up to 2.0 times fewer (with 1M)"),
                  "%s", verdict);
    ck_assert_double_eq_tol(txm_replay_seconds(&t, &counts[0]), 0.3, 1e-9);
    ck_assert_ptr_eq(txm_replay_counts_at(&t, 1, 0), &counts[2]);
    counts[2].reads_again = 6;
    txm_replay_verdict(&t, text);
    ck_assert_ptr_nonnull(strstr(verdict, "with all of these sizes lru reads many tiles again"));
    t.all.reads = 0;
    txm_replay_verdict(&t, text);
    ck_assert_str_eq(verdict, "no tile was used");
}
END_TEST

static size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, what)); at++)
        n++;
    return n;
}

START_TEST(tables_are_printed_and_drawn)
{
    txm_trace_info info = {.textures = 3,
                           .policy = TXM_CACHE_POLICY_LRU,
                           .tiles_loaded = 200,
                           .tiles_reloaded = 50,
                           .load_seconds = 0.2,
                           .max_bytes = 2 << 20};
    txm_replay_counts counts[4] = {{.reads = 300, .reads_again = 200}, {.reads = 150}, {.reads = 104}, {.reads = 0}};
    txm_replay_table t = table_of(counts, &info);
    batch_catch();
    txm_replay_print(&t);
    char *text = strdup(batch_caught());
    ck_assert_ptr_nonnull(strstr(text, "t.trace: 900 lookups, 100 tiles of 3 textures"));
    ck_assert_ptr_nonnull(strstr(text, "lru with 2M: 200 tiles read, 25.0 % of them again"));
    ck_assert_ptr_nonnull(strstr(text, "      1M     300   0.300 s     150   0.150 s"));
    free(text);
    batch_catch();
    txm_replay_json(&t);
    cJSON *o = cJSON_Parse(batch_caught());
    const cJSON *runs = cJSON_GetObjectItemCaseSensitive(o, "runs");
    ck_assert_int_eq(cJSON_GetArraySize(runs), 4);
    ck_assert_double_eq_tol(number_of(cJSON_GetArrayItem(runs, 1), "reads"), 150, 1e-9);
    ck_assert_double_eq_tol(number_of(cJSON_GetArrayItem(runs, 2), "cache_bytes"), 4 << 20, 1e-9);
    cJSON_Delete(o);
    /* There is a curve for each policy and a point for every pair, also if nothing was read; every coordinate is inside
     * the picture. */
    for (int alone = 0; alone < 2; alone++) {
        char *svg = NULL;
        size_t bytes;
        FILE *f = open_memstream(&svg, &bytes);
        txm_replay_plot(f, &t, alone);
        fclose(f);
        ck_assert_uint_eq(occurrences(svg, "<polyline"), 2);
        ck_assert_uint_eq(occurrences(svg, "<circle"), 4);
        ck_assert_uint_eq(occurrences(svg, "<g "), occurrences(svg, "</g>"));
        ck_assert_uint_eq(occurrences(svg, "xmlns="), (size_t)alone);
        ck_assert(!strstr(svg, "nan") && !strstr(svg, "inf"));
        for (const char *at = svg; (at = strstr(at, "cy=\"")); at++) {
            double y = atof(at + 4);
            ck_assert(y >= 48 && y <= 356);
        }
        free(svg);
    }
    /* A single size is one point in the middle. */
    t.ask.size_count = t.ask.policy_count = 1;
    char *svg = NULL;
    size_t bytes;
    FILE *f = open_memstream(&svg, &bytes);
    txm_replay_plot(f, &t, 1);
    fclose(f);
    ck_assert_ptr_nonnull(strstr(svg, "cx=\"375.0\""));
    free(svg);
}
END_TEST

static size_t calls;

static void on_progress(size_t done, size_t all)
{
    calls++;
    ck_assert_uint_le(done, all);
}

START_TEST(tables_are_played)
{
    static const volatile int stop = 1;
    txm_cache_options co;
    txm_cache_options_init(&co);
    co.threads = 1;
    txm_cache *c = new_cache(&co);
    char *tx = write_cached("r.tx", 512, 512, 4, TXM_TYPE_U8, MADE_NOISE, 1);
    uint32_t id = add_texture(c, tx, TXM_EXTENSION_REPEAT);
    txm_cache_thread *thread = new_thread(c);
    txm_sampler how = sampler(TXM_LEVEL_MODE_FLOOR);
    ck_assert_int_eq(txm_cache_trace_start(c, "r.trace", TXM_TRACE_TILES, NULL), TXM_OK);
    for (int i = 0; i < 400; i++) {
        float out[4];
        txm_lookup at = {(float)(i * 37 % 97) / 97, (float)(i * 53 % 89) / 89, 0, 0, 0, 0};
        txm_cache_sample(thread, id, &how, &at, NULL, out);
    }
    ck_assert_int_eq(txm_cache_trace_stop(c, NULL), TXM_OK);
    txm_cache_thread_free(&thread);
    txm_cache_free(&c);
    free(tx);
    txm_trace *trace = NULL;
    txm_replay_table t;
    txm_error err = {0};
    const txm_replay_ask open = {.keep_epochs = 1, .threads = 2};
    ck_assert_int_eq(txm_trace_open("r.trace", &trace, &err), TXM_OK);
    ck_assert_msg(txm_replay_table_make("r.trace", trace, &open, NULL, on_progress, &t, &err) == TXM_OK, "%s",
                  err.message);
    ck_assert_uint_eq(t.all.tiles, t.info->tiles_loaded);
    ck_assert_uint_eq(t.ask.policy_count, 4);
    ck_assert_uint_ge(t.ask.size_count, 1);
    ck_assert_uint_eq(calls, 1 + t.ask.size_count * t.ask.policy_count); /* reading the trace, then each cache */
    for (size_t i = 0; i < t.ask.size_count; i++) {
        ck_assert(!i || t.ask.sizes[i] > t.ask.sizes[i - 1]);
        for (size_t k = 0; k < 3; k++) /* no policy reads less than the optimum, which is the last one */
            ck_assert_uint_ge(txm_replay_counts_at(&t, i, k)->reads, txm_replay_counts_at(&t, i, 3)->reads);
    }
    txm_replay_table_free(&t);
    txm_replay_table_free(&t);
    ck_assert_int_eq(txm_replay_table_make("r.trace", trace, &open, &stop, NULL, &t, &err), TXM_STATUS_CANCELLED);
    txm_trace_free(&trace);
}
END_TEST

/* ---- reports ----------------------------------------------------------------------------------------------------- */

typedef void (*section)(FILE *out, const txm_report *report, const txm_report_sums *sums);

static void failures_of(FILE *out, const txm_report *r, const txm_report_sums *s)
{
    (void)s;
    txm_report_failures(out, r);
}

static void memory_of(FILE *out, const txm_report *report, const txm_report_sums *sums)
{
    (void)report;
    txm_report_memory_section(out, sums);
}

static void times_of(FILE *out, const txm_report *report, const txm_report_sums *sums)
{
    (void)report;
    txm_report_times(out, sums);
}

static void slowest_of(FILE *out, const txm_report *report, const txm_report_sums *sums)
{
    (void)sums;
    txm_report_slowest(out, report);
}

static char *section_of(section fn, const txm_report *report, const txm_report_sums *sums)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);
    fn(f, report, sums);
    fclose(f);
    ck_assert_uint_eq(occurrences(text, "<section"), occurrences(text, "</section>"));
    ck_assert_uint_eq(occurrences(text, "<table"), occurrences(text, "</table>"));
    ck_assert_uint_eq(occurrences(text, "<tr"), occurrences(text, "</tr>"));
    ck_assert_uint_eq(occurrences(text, "<td"), occurrences(text, "</td>"));
    return text;
}

START_TEST(sections_are_there_where_they_say_something)
{
    static const section all[] = {failures_of, txm_report_runs, txm_report_disk, memory_of,
                                  times_of,    slowest_of,      txm_report_lint};
    const txm_report empty = {0};
    const txm_report_sums nothing = {0};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *text = section_of(all[i], &empty, &nothing);
        ck_assert_str_eq(text, "");
        free(text);
    }
    txm_report_file files[] = {
        {.input = "a<b>.png", .state = TXM_MADE_FAILED, .status = "io", .message = "a & b", .retryable = true},
        {.input = "c.png", .state = TXM_MADE_FAILED, .status = "corrupt", .message = "broken"},
        {.input = "d.png",
         .tx = "d.tx",
         .space = "sRGB",
         .type = "u8",
         .reader = "png",
         .state = TXM_MADE_CREATED,
         .lint = TXM_LINT_DATA_AS_COLOR,
         .made = 1,
         .width = 40,
         .height = 20,
         .levels = 6,
         .channels = 4,
         .type_bytes = 1,
         .tile_px = 64,
         .source_bytes = 4000,
         .tx_bytes = 1000,
         .seconds = 1.5f,
         .stages = {1}}};
    txm_report_run runs[] = {{.log = "one.log",
                              .complete = true,
                              .shard = 1,
                              .shards = 2,
                              .list_key = "0123456789abcdef",
                              .listed = 3,
                              .inputs = 2,
                              .created = 1,
                              .failed = 1,
                              .seconds = 2,
                              .exit_code = 1},
                             {.log = "two.log"}};
    /* The permanent failure first, as they are grouped. */
    txm_report_reason reasons[] = {
        {.text = "broken", .status = "corrupt", .count = 1, .first = 1, .last = 1},
        {.text = "a & b", .status = "io", .retryable = true, .count = 1, .first = 0, .last = 0}};
    const txm_report r = {
        .files = files, .file_count = 3, .runs = runs, .run_count = 2, .reasons = reasons, .reason_count = 2};
    const txm_report_sums s = {.states = {2, 1},
                               .images = 3,
                               .retryable = 1,
                               .lint = {1, 1, 1, 1, 1, 1},
                               .source_bytes = 4000,
                               .tx_bytes = 1000,
                               .stages = {1, 1},
                               .seconds = 2,
                               .memory = {.files = 2, .tiles = 2, .full = 3200, .from = {4266, 1066}},
                               .shards = 2};
    char *text = section_of(failures_of, &r, &s);
    /* Texts are escaped. */
    ck_assert_ptr_nonnull(strstr(text, "a&lt;b&gt;.png"));
    ck_assert_ptr_nonnull(strstr(text, "a &amp; b"));
    ck_assert(strstr(text, "c.png") < strstr(text, "a&lt;b"));
    free(text);
    text = section_of(txm_report_runs, &r, &s);
    ck_assert_ptr_nonnull(strstr(text, "1 of 2"));
    ck_assert_ptr_nonnull(strstr(text, "0123456789ab"));
    free(text);
    text = section_of(txm_report_disk, &r, &s);
    ck_assert_ptr_nonnull(strstr(text, "<tfoot>"));
    free(text);
    text = section_of(memory_of, &r, &s);
    ck_assert_ptr_nonnull(strstr(text, "id=\"full-bytes\""));
    ck_assert_ptr_nonnull(strstr(text, "1/2 of the resolution"));
    free(text);
    text = section_of(times_of, &r, &s);
    ck_assert_ptr_nonnull(strstr(text, "50.0 %"));
    free(text);
    text = section_of(slowest_of, &r, &s);
    ck_assert_ptr_nonnull(strstr(text, "d.png"));
    ck_assert_ptr_null(strstr(text, "c.png"));
    free(text);
    text = section_of(txm_report_lint, &r, &s);
    ck_assert_ptr_nonnull(strstr(text, "Likely mistakes"));
    free(text);
    /* The page of all of them is complete or not there. */
    txm_error err = {0};
    ck_assert_int_eq(txm_report_page(&r, &s, "Film <2>", "report.html", &err), TXM_OK);
    text = text_of("report.html");
    ck_assert_ptr_nonnull(strstr(text, "Film &lt;2&gt;"));
    ck_assert_ptr_null(strstr(text, "Film <2>"));
    ck_assert_ptr_nonnull(strstr(text, "</html>"));
    free(text);
    batch_file("file", "");
    ck_assert_int_ne(txm_report_page(&r, &s, NULL, "file/report.html", &err), TXM_OK);
    ck_assert_uint_eq(batch_count(), 2);
}
END_TEST

/* ---- renders ----------------------------------------------------------------------------------------------------- */

START_TEST(maps_show_the_finest_level_of_each_place)
{
    /* 4 x 2 tiles of level 0, and a small image of one tile. */
    static const txm_render_part parts[] = {{0, 0, 256, 128, 9, 64}, {1, 0, 10, 10, 4, 64}};
    static const txm_render_tile tiles[] = {{0, 0, 0, 3, 1}, {0, 0, 1, 0, 0}, {0, 0, 2, 0, 0}};
    const txm_render_picture p = {
        .parts = (txm_render_part *)parts, .part_count = 2, .tiles = (txm_render_tile *)tiles, .tile_count = 3};
    txm_stream_map map;
    size_t first = 0;
    ck_assert(txm_stream_map_new(&p, 0, &first, 4, &map));
    ck_assert_uint_eq(first, 3);
    ck_assert(map.width == 4 && map.height == 2 && map.finest == 0 && map.tiles == 3);
    /* Level 0 is the hottest; level 1 hides level 2 below it. */
    ck_assert_float_eq_tol(map.heat[7], 1.0f, 1e-6f);
    ck_assert_float_eq_tol(map.heat[0], 1.0f - 1.0f / 6, 1e-6f);
    ck_assert_float_eq_tol(map.heat[5], 1.0f - 1.0f / 6, 1e-6f);
    ck_assert_float_eq_tol(map.heat[2], 1.0f - 2.0f / 6, 1e-6f);
    free(map.heat);
    ck_assert(txm_stream_map_new(&p, 1, &first, 4, &map));
    ck_assert(map.width == 4 && map.height == 4 && map.tiles == 0 && map.finest == 4);
    ck_assert(map.heat[0] < 0 && map.heat[15] < 0);
    free(map.heat);
    float *rgb = NULL;
    uint32_t width, height;
    txm_error err = {0};
    ck_assert_int_eq(txm_stream_sheet(&p, &rgb, &width, &height, &err), TXM_OK);
    ck_assert(width == 2 * 132 && height == 132);
    ck_assert_float_eq_tol(rgb[0], 0.05f, 1e-6f); /* between maps */
    ck_assert(rgb[3 * (2 * width + 2 + 132)] < 0.01f && rgb[3 * (2 * width + 2)] != 0.05f);
    free(rgb);
}
END_TEST

START_TEST(renders_have_a_page)
{
    static txm_render_moment moments[] = {{0.5, 10, 1000, 2000, 1}, {1.0, 20, 3000, 4000, 2}};
    static float rgb[3 * 4 * 2], heat[4 * 2] = {0, 1, 2};
    txm_render_image_use use = {.path = "a<b>.png",
                                .width = 256,
                                .height = 128,
                                .levels = 9,
                                .virtual_bytes = 1000,
                                .level_tiles = {8},
                                .level_used = {1},
                                .used_bytes = 100};
    txm_render_image_cost cost = {.loads = 1, .loaded_bytes = 100};
    txm_render_picture p = {.width = 4,
                            .height = 2,
                            .rgb = rgb,
                            .level = heat,
                            .misses = heat,
                            .passes = heat,
                            .images = &use,
                            .costs = &cost,
                            .image_count = 1,
                            .moments = moments,
                            .moment_count = 2};
    txm_render_options o;
    txm_error err = {0};
    txm_render_options_init(&o);
    ck_assert_msg(txm_stream_page("page.html", "room <1>", &o, &p, NULL, &err) == TXM_OK, "%s", err.message);
    char *text = text_of("page.html");
    ck_assert_ptr_nonnull(strstr(text, "<h1>room &lt;1&gt;</h1>"));
    ck_assert_ptr_nonnull(strstr(text, "a&lt;b&gt;.png"));
    ck_assert_uint_eq(occurrences(text, "data:image/png;base64,"), 4); /* the picture and three maps */
    ck_assert_uint_eq(occurrences(text, "<polyline"), 2);
    ck_assert_ptr_null(strstr(text, "<script"));
    ck_assert_ptr_null(strstr(text, "Other caches"));
    free(text);
    /* With the reads of other caches. */
    txm_trace_info info = {.textures = 1};
    txm_replay_counts counts[4] = {{.reads = 300}, {.reads = 150}, {.reads = 104}, {.reads = 100}};
    txm_replay_table table = table_of(counts, &info);
    ck_assert_int_eq(txm_stream_page("page.html", "room", &o, &p, &table, &err), TXM_OK);
    text = text_of("page.html");
    ck_assert_ptr_nonnull(strstr(text, "Other caches"));
    free(text);
    batch_file("file", "");
    ck_assert_int_ne(txm_stream_page("file/page.html", "room", &o, &p, NULL, &err), TXM_OK);
    /* Without a cache, a render has no memory over time. */
    char *svg = NULL;
    size_t bytes;
    FILE *f = open_memstream(&svg, &bytes);
    p.moment_count = 0;
    txm_stream_plot_memory(f, &p);
    fclose(f);
    ck_assert_str_eq(svg, "");
    free(svg);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of pages");
    temp_file(""); /* the folder belongs to this process and not to a test's */
    TCase *t = add_case(suite, "pages");
    tcase_add_checked_fixture(t, enter, leave);
    add_tests(t, blocks_hold_the_stored_bits, blocks_that_do_not_fit_leave_nothing, pages_know_their_files,
              pages_encode_as_pictures_do, pages_appear_whole_or_not_at_all, pictures_keep_to_their_cells,
              sheets_show_every_tile_apart);
    add_tests(t, sizes_can_be_given_back, verdicts_name_the_size_that_is_enough, tables_are_printed_and_drawn,
              tables_are_played, sections_are_there_where_they_say_something, maps_show_the_finest_level_of_each_place,
              renders_have_a_page);
    return run_suite(suite);
}
