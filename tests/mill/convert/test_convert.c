/* SPDX-License-Identifier: Apache-2.0
 *
 * The converter as a whole: the same bytes with any number of threads and any vector instructions, guesses that turn
 * out wrong, borders equal to gathered ones, failures that publish nothing.
 */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/path.h"
#include "mill/convert/context.h"
#include "mill/convert/pixel_hash.h"
#include "txmill/convert.h"
#include "txtile/reader.h"
#include "util_check.h"
#include "util_tx.h"

static char base[] = "/tmp/txmill-convert-XXXXXX";

static char *in_base(const char *name)
{
    static char paths[4][1024];
    static int next;
    char *p = paths[next++ % 4];
    snprintf(p, sizeof paths[0], "%s/%s", base, name);
    return p;
}

/* Writes a binary PNM: P5 (grey) or P6 (RGB) with 8 bits, whose pixels are a function of their place. */
static char *write_pnm(const char *name, int channels, uint32_t w, uint32_t h,
                       uint8_t (*value)(uint32_t, uint32_t, int))
{
    char *path = in_base(name);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "P%d\n%u %u\n255\n", channels == 1 ? 5 : 6, w, h);
    for (uint32_t y = 0; y < h; y++)
        for (uint32_t x = 0; x < w; x++)
            for (int c = 0; c < channels; c++)
                putc(value(x, y, c), f);
    ck_assert(!fclose(f));
    return path;
}

static txm_context *context_with(unsigned threads, const char *isa)
{
    txm_context *context = NULL;
    txm_error err = {0};
    const txm_context_options options = {.struct_size = sizeof(txm_context_options), .threads = threads};
    ck_assert_msg(!txm_context_new(&options, &context, &err), "%s", err.message);
    if (isa)
        context->ops = txm_ops_isa(isa);
    return context;
}

static txm_status convert(txm_context *context, const char *source, const char *output, const txm_settings *settings,
                          txm_result *result, txm_error *err)
{
    txm_settings defaults;
    txm_settings_init(&defaults);
    const txm_convert_options options = {.struct_size = sizeof(txm_convert_options), .output = output};
    return txm_convert(context, source, settings ? settings : &defaults, &options, result, err);
}

static bool same_files(const char *a, const char *b)
{
    size_t na, nb;
    FREED uint8_t *da = load_file(a, &na), *db = load_file(b, &nb);
    bool same = na == nb && memcmp(da, db, na) == 0;
    return same;
}

static const char *const reproduced[] = {"rgb8.png",  "rgba8.png", "rgb16.png", "half-rgba.exr", "float-rgb.exr",
                                         "photo.jpg", "gray8.png", "wide.png",  "narrow.png"};

TESTS(bytes_do_not_depend_on_threads_or_isa, sizeof reproduced / sizeof *reproduced)
{
    char source[1024], *first = in_base("first.tx"), *again = in_base("again.tx");
    static const char *const isas[] = {NULL, "scalar", "avx2", "avx512", "neon"};
    snprintf(source, sizeof source, "%s/golden/%s", getenv("TXM_TESTDATA"), reproduced[_i]);
    for (unsigned threads = 1; threads <= 5; threads += 2)
        for (size_t k = 0; k < sizeof isas / sizeof *isas; k++) {
            if (isas[k] && !txm_ops_isa(isas[k]))
                continue;
            SCOPED(txm_context_free) txm_context *context = context_with(threads, isas[k]);
            txm_error err = {0};
            txm_result r;
            bool is_first = threads == 1 && k == 0;
            ck_assert_msg(!convert(context, source, is_first ? first : again, NULL, &r, &err), "%s", err.message);
            txm_result_clear(&r);
            if (!is_first)
                ck_assert_msg(same_files(first, again), "%s: %u threads, %s", reproduced[_i], threads,
                              isas[k] ? isas[k] : "best");
        }
}

/* Blocks hashed in pairs give the same as blocks hashed one by one. 700 rows are a pair and a remainder. */
TESTS(pairs_of_blocks_hash_alike, 4)
{
    enum { W = 37, H = 700 };
    static const txm_type types[] = {TXM_TYPE_U8, TXM_TYPE_U16, TXM_TYPE_HALF, TXM_TYPE_FLOAT};
    size_t stride = W * 4 * txm_type_bytes(types[_i]);
    FREED uint8_t *pixels = malloc(H * stride);
    char one[TXM_SHA1_HEX], two[TXM_SHA1_HEX];
    for (size_t i = 0; i < H * stride; i++)
        pixels[i] = (uint8_t)(i * 31 % 59); /* small values: NaN in no type */
    for (int pairs = 0; pairs < 2; pairs++) {
        SCOPED(txm_pixel_hash_free) txm_pixel_hash *h = NULL;
        ck_assert(!txm_pixel_hash_new(W, H, 4, types[_i], txm_ops_best(), &h, NULL));
        bool paired = pairs && txm_pixel_hash_pairs(h, 0);
        ck_assert(!txm_pixel_hash_pairs(h, 2));
        for (uint32_t y = 0; y < 256; y += 64) {
            const uint8_t *a = pixels + y * stride, *b = a + 256 * stride;
            if (paired) {
                txm_pixel_hash_rows(h, y, 64, a, b, stride);
            } else {
                txm_pixel_hash_rows(h, y, 64, a, NULL, stride);
                txm_pixel_hash_rows(h, y + 256, 64, b, NULL, stride);
            }
        }
        txm_pixel_hash_rows(h, 512, H - 512, pixels + 512 * stride, NULL, stride);
        ck_assert(!txm_pixel_hash_finish(h, pairs ? two : one, NULL));
    }
    ck_assert_str_eq(one, two);
}

/* ---- guesses ---------------------------------------------------------------------------------------------------- */

static uint8_t ramp(uint32_t x, uint32_t y, int c)
{
    return (uint8_t)(x * 3 + y * 5 + (uint32_t)c * 40);
}

static uint8_t grey_ramp(uint32_t x, uint32_t y, int c)
{
    (void)c;
    return (uint8_t)(x * 3 + y * 5);
}

static uint8_t white(uint32_t x, uint32_t y, int c)
{
    (void)x, (void)y, (void)c;
    return 255;
}

/* All pixels of this 150 x 300 image are equal, except for the last one. */
static uint8_t white_but_one(uint32_t x, uint32_t y, int c)
{
    return x == 149 && y == 299 && c == 1 ? 0 : 255;
}

static uint8_t grey_but_one(uint32_t x, uint32_t y, int c)
{
    return x == 149 && y == 299 && c == 1 ? 1 : grey_ramp(x, y, c);
}

static const struct {
    const char *what;
    uint8_t (*value)(uint32_t, uint32_t, int);
    bool mono_wanted;
    uint32_t channels, width, height; /* expected */
    bool constant;
} guesses[] = {
    {"coloured", ramp, true, 4, 150, 300, false},
    {"grey", grey_ramp, true, 1, 150, 300, false},
    {"grey, not wanted", grey_ramp, false, 4, 150, 300, false},
    {"constant", white, true, 1, 64, 64, true},
    {"constant, not mono", white, false, 4, 64, 64, true},
    {"constant but for the last pixel", white_but_one, true, 4, 150, 300, false},
    {"grey but for the last pixel", grey_but_one, true, 4, 150, 300, false},
};

TESTS(guesses_end_right, sizeof guesses / sizeof *guesses)
{
    char *source = write_pnm("guess.ppm", 3, 150, 300, guesses[_i].value), *out = in_base("guess.tx");
    SCOPED(txm_context_free) txm_context *context = context_with(3, NULL);
    txm_settings settings;
    txm_settings_init(&settings);
    settings.mono = guesses[_i].mono_wanted;
    txm_error err = {0};
    txm_result r;
    ck_assert_msg(!convert(context, source, out, &settings, &r, &err), "%s", err.message);
    ck_assert_uint_eq(r.channels, guesses[_i].channels);
    ck_assert_uint_eq(r.width, guesses[_i].width);
    ck_assert_uint_eq(r.height, guesses[_i].height);
    ck_assert_int_eq(r.constant, guesses[_i].constant);
    ck_assert_int_eq(r.mono, guesses[_i].channels == 1);
    txm_result_clear(&r);
    SCOPED(txm_tx_close) txm_tx *tx = NULL;
    ck_assert(!txm_tx_open(out, &tx, &err));
    FREED uint8_t *tile = malloc(64 * 64 * 4);
    const txm_tx_info *info = txm_tx_info_of(tx);
    const txm_tx_level *l0 = txm_tx_level_of(tx, 0);
    for (uint32_t ty = 0; ty < l0->tiles_y; ty++)
        for (uint32_t tx_ = 0; tx_ < l0->tiles_x; tx_++) {
            uint32_t w, h, n = info->channels;
            ck_assert(!txm_tx_read_tile(
                tx, REQUEST(tile, n, 64 * n, .tile_x = tx_, .tile_y = ty, .width = &w, .height = &h), &err));
            for (uint32_t y = 0; y < h; y++)
                for (uint32_t x = 0; x < w; x++)
                    for (uint32_t c = 0; c < n; c++) {
                        uint8_t want = c == 3 ? 255 : guesses[_i].value(tx_ * 64 + x, ty * 64 + y, (int)c);
                        if (tile[(y * 64 + x) * n + c] != want)
                            ck_abort_msg("%s: pixel %u,%u channel %u", guesses[_i].what, tx_ * 64 + x, ty * 64 + y, c);
                    }
        }
}

/* ---- zeros of both signs ---------------------------------------------------------------------------------------- */

enum { ZEROS_WIDTH = 70, ZEROS_HEIGHT = 300 };

static float zero(uint32_t x, uint32_t y, uint32_t c)
{
    return (x * 7 + y * 3 + c * 5) % 11 < 5 ? -0.0f : 0.0f;
}

/* A PFM whose samples are all 0, except for the last pixel's red, which is `last`. Its rows are bottom up. */
static char *write_zeros(const char *name, float last)
{
    char *path = in_base(name);
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    fprintf(f, "PF\n%d %d\n-1.0\n", ZEROS_WIDTH, ZEROS_HEIGHT);
    for (uint32_t y = ZEROS_HEIGHT; y-- > 0;)
        for (uint32_t x = 0; x < ZEROS_WIDTH; x++)
            for (uint32_t c = 0; c < 3; c++) {
                bool ends = x == ZEROS_WIDTH - 1 && y == ZEROS_HEIGHT - 1 && c == 0;
                float value = ends ? last : zero(x, y, c);
                fwrite(&value, sizeof value, 1, f);
            }
    ck_assert(!fclose(f));
    return path;
}

static bool same_bits(float a, float b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Blender makes a constant image from the last pixel, and keeps the signs of zeros in an image that is not constant. */
TESTS(zeros_keep_their_signs, 2)
{
    const float last = _i ? 0.5f : -0.0f;
    char *source = write_zeros("zeros.pfm", last), *out = in_base("zeros.tx");
    SCOPED(txm_context_free) txm_context *context = context_with(2, NULL);
    txm_settings settings;
    txm_settings_init(&settings);
    settings.mono = false;
    txm_error err = {0};
    txm_result r;
    ck_assert_msg(!convert(context, source, out, &settings, &r, &err), "%s", err.message);
    ck_assert_int_eq(r.constant, _i == 0);
    txm_result_clear(&r);
    SCOPED(txm_tx_close) txm_tx *tx = NULL;
    ck_assert(!txm_tx_open(out, &tx, &err));
    ck_assert_int_eq(txm_tx_info_of(tx)->type, TXM_TYPE_FLOAT);
    static float tile[64 * 64 * 4];
    const txm_tx_level *l0 = txm_tx_level_of(tx, 0);
    for (uint32_t i = 0; i < l0->tiles_x * l0->tiles_y; i++) {
        uint32_t w, h, x0 = i % l0->tiles_x * 64, y0 = i / l0->tiles_x * 64;
        ck_assert(!txm_tx_read_tile(tx,
                                    REQUEST(tile, sizeof(float[4]), 64 * sizeof(float[4]), .tile_x = x0 / 64,
                                            .tile_y = y0 / 64, .width = &w, .height = &h),
                                    &err));
        for (uint32_t y = y0; y < y0 + h; y++)
            for (uint32_t x = x0; x < x0 + w; x++)
                for (uint32_t c = 0; c < 3; c++) {
                    uint32_t from_x = _i ? x : ZEROS_WIDTH - 1, from_y = _i ? y : ZEROS_HEIGHT - 1;
                    bool ends = from_x == ZEROS_WIDTH - 1 && from_y == ZEROS_HEIGHT - 1 && c == 0;
                    float want = ends ? last : zero(from_x, from_y, c);
                    ck_assert_msg(same_bits(tile[((y - y0) * 64 + x - x0) * 4 + c], want), "pixel %u,%u channel %u", x,
                                  y, c);
                }
    }
}

/* ---- borders ----------------------------------------------------------------------------------------------------- */

static const uint32_t border_sizes[][2] = {{2, 2},    {1, 500}, {500, 3},   {65, 64},
                                           {63, 129}, {64, 65}, {130, 130}, {300, 200}};

/* Every padded tile of a file with a section equals the one gathered from a file without a section. */
TESTS(borders_in_flight_equal_gathering, sizeof border_sizes / sizeof *border_sizes)
{
    uint32_t w = border_sizes[_i][0], h = border_sizes[_i][1];
    char *source = write_pnm("border.ppm", 3, w, h, ramp), *with = in_base("with.tx"), *without = in_base("without.tx");
    SCOPED(txm_context_free) txm_context *context = context_with(2, NULL);
    txm_settings settings;
    txm_settings_init(&settings);
    settings.tile_px = 16u << (_i % 3);
    txm_error err = {0};
    txm_result r;
    ck_assert_msg(!convert(context, source, with, &settings, &r, &err), "%s", err.message);
    ck_assert_uint_gt(r.section_bytes, 0);
    txm_result_clear(&r);
    settings.borders = false;
    ck_assert(!convert(context, source, without, &settings, &r, &err));
    ck_assert_uint_eq(r.section_bytes, 0);
    txm_result_clear(&r);
    SCOPED(txm_tx_close) txm_tx *a = NULL, *b = NULL;
    ck_assert(!txm_tx_open(with, &a, &err) && !txm_tx_open(without, &b, &err));
    ck_assert_int_eq(txm_tx_info_of(a)->section, TXM_SECTION_STATE_VALID);
    ck_assert_int_eq(txm_tx_info_of(b)->section, TXM_SECTION_STATE_NONE);
    size_t side = settings.tile_px + 4, bytes = side * side * 4;
    FREED uint8_t *pa = calloc(bytes, 1), *pb = calloc(bytes, 1);
    for (uint32_t l = 0; l < txm_tx_info_of(a)->levels; l++)
        for (uint32_t t = 0; t < txm_tx_level_of(a, l)->tiles_x * txm_tx_level_of(a, l)->tiles_y; t++)
            for (int mode = TXM_EXTENSION_REPEAT; mode <= TXM_EXTENSION_MIRROR; mode++) {
                uint32_t x = t % txm_tx_level_of(a, l)->tiles_x, y = t / txm_tx_level_of(a, l)->tiles_x;
                ck_assert(!txm_tx_read_tile(a,
                                            REQUEST(pa, 4, side * 4, .level = l, .tile_x = x, .tile_y = y,
                                                    .padding_px = 2, .extension = (txm_extension)mode),
                                            &err));
                ck_assert(!txm_tx_read_tile(b,
                                            REQUEST(pb, 4, side * 4, .level = l, .tile_x = x, .tile_y = y,
                                                    .padding_px = 2, .extension = (txm_extension)mode),
                                            &err));
                ck_assert_msg(memcmp(pa, pb, bytes) == 0, "%ux%u level %u tile %u,%u mode %d", w, h, l, x, y, mode);
            }
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

static int entries_of(const char *folder)
{
    char command[1200];
    int n = -1;
    snprintf(command, sizeof command, "ls -A '%s' | wc -l", folder);
    FILE *p = popen(command, "r");
    ck_assert(p && fscanf(p, "%d", &n) == 1);
    pclose(p);
    return n;
}

TEST(a_truncated_source_publishes_nothing)
{
    char command[2400], *dir = in_base("cut"), *cut = in_base("cut/photo.jpg");
    snprintf(command, sizeof command, "mkdir -p '%s/blender_tx' && head -c 4000 '%s/golden/photo.jpg' > '%s'", dir,
             getenv("TXM_TESTDATA"), cut);
    ck_assert_int_eq(system(command), 0);
    SCOPED(txm_context_free) txm_context *context = context_with(2, NULL);
    txm_settings settings;
    txm_settings_init(&settings);
    txm_error err = {0};
    txm_result r;
    ck_assert(txm_convert(context, cut, &settings, NULL, &r, &err) == TXM_STATUS_CORRUPT);
    ck_assert_msg(strstr(err.message, cut) != NULL, "%s", err.message);
    ck_assert_ptr_null(r.tx_path);
    ck_assert_int_eq(entries_of(in_base("cut/blender_tx")), 0);
}

/* Changes the file while it is being read. */
typedef struct meddling {
    const char *path;
    int how;
    bool done;
} meddling;

static void meddle(void *user, uint32_t rows_done, uint32_t rows)
{
    static const char *const ways[] = {"printf x >>\"$f\"", "touch -d 2001-01-01 \"$f\"",
                                       "cp -p \"$f\" \"$f.new\" && mv \"$f.new\" \"$f\"", "rm \"$f\""};
    meddling *m = user;
    char command[2400];
    (void)rows_done, (void)rows;
    if (m->done)
        return;
    m->done = true;
    snprintf(command, sizeof command, "f='%s'; %s", m->path, ways[m->how]);
    ck_assert_int_eq(system(command), 0);
}

TESTS(a_source_that_changes_publishes_nothing, 4)
{
    char *source = write_pnm("changing.ppm", 3, 300, 200, ramp);
    meddling m = {.path = source, .how = _i};
    const txm_convert_options how = {
        .struct_size = sizeof(txm_convert_options), .progress = meddle, .progress_user = &m};
    SCOPED(txm_context_free) txm_context *context = context_with(1, NULL);
    txm_settings settings;
    txm_settings_init(&settings);
    txm_error err = {0};
    txm_result r;
    ck_assert_int_eq(txm_convert(context, source, &settings, &how, &r, &err), TXM_STATUS_CHANGED);
    ck_assert(m.done);
    ck_assert_msg(strstr(err.message, source) != NULL, "%s", err.message);
    ck_assert_int_le(entries_of(in_base("blender_tx")), 0);
}

static void stop_early(void *user, uint32_t rows_done, uint32_t rows)
{
    (void)rows_done, (void)rows;
    *(volatile int *)user = 1;
}

TEST(cancelling_leaves_nothing)
{
    char *source = write_pnm("big.ppm", 3, 700, 900, ramp);
    volatile int cancel = 0;
    txm_error err = {0};
    SCOPED(txm_context_free) txm_context *context = NULL;
    const txm_context_options options = {.struct_size = sizeof(txm_context_options), .threads = 2, .cancel = &cancel};
    ck_assert(!txm_context_new(&options, &context, &err));
    txm_settings settings;
    txm_settings_init(&settings);
    const txm_convert_options how = {.struct_size = sizeof(txm_convert_options),
                                     .progress = stop_early,
                                     .progress_user = (void *)(uintptr_t)&cancel};
    txm_result r;
    ck_assert_int_eq(txm_convert(context, source, &settings, &how, &r, &err), TXM_STATUS_CANCELLED);
    ck_assert_int_le(entries_of(in_base("blender_tx")), 0);
}

/* Bands are smaller than a block of the digest, as high as one, and higher; the last block is short. */
TEST(the_digest_does_not_depend_on_tiles)
{
    const char *image = write_pnm("blocks.ppm", 3, 24, 5 * TXM_HASH_BLOCK_ROWS + 77, ramp);
    static const uint32_t tiles[] = {16, 64, 128, 256, 512};
    char first[TXM_SHA1_HEX] = "", *out = in_base("blocks.tx");
    for (int i = 0; i < 10; i++) {
        SCOPED(txm_context_free) txm_context *context = context_with(i % 2 ? 3 : 1, NULL);
        txm_settings s;
        txm_result r;
        txm_tx *tx = NULL;
        txm_error err = {0};
        txm_settings_init(&s);
        s.tile_px = tiles[i / 2];
        ck_assert_msg(!convert(context, image, out, &s, &r, &err) && !txm_tx_open(out, &tx, &err), "%s", err.message);
        const char *digest = txm_tx_metadata_of(tx, "oiio:SHA-1");
        if (!i)
            snprintf(first, sizeof first, "%s", digest);
        ck_assert_str_eq(digest, first);
        txm_tx_close(&tx);
        txm_result_clear(&r);
    }
}

/* A file that is up to date is compared with the settings that were chosen, and with no others. */
TEST(other_settings_are_told)
{
    const char *image = write_pnm("otherwise.ppm", 3, 100, 80, ramp);
    SCOPED(txm_context_free) txm_context *context = context_with(1, NULL);
    txm_settings s;
    txm_result r;
    txm_error err = {0};
    txm_settings_init(&s);
    s.cache_dir = base;
    s.compression.codec = TXM_CODEC_NONE;
    ck_assert_msg(!convert(context, image, NULL, &s, &r, &err), "%s", err.message);
    txm_result_clear(&r);
    s.compression.codec = TXM_CODEC_ZIP;
    s.tile_px = 128;
    s.borders = false;
    static const struct {
        unsigned asked;
        const char *reason;
    } cases[] = {{0, ""},
                 {TXM_ASKED_TILE | TXM_ASKED_COMPRESSION, "compression none, not zip; tiles of 64 px, not 128"},
                 {TXM_ASKED_BORDERS, "with a border section"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        s.asked = cases[i].asked;
        ck_assert_msg(!convert(context, image, NULL, &s, &r, &err), "%s", err.message);
        ck_assert(r.outcome == TXM_OUTCOME_UP_TO_DATE && r.otherwise == (s.asked != 0));
        ck_assert_str_eq(r.reason, cases[i].reason);
        txm_result_clear(&r);
    }
}

TEST(odd_settings_are_refused)
{
    char *source = write_pnm("small.ppm", 3, 4, 4, ramp), *out = in_base("small.tx");
    SCOPED(txm_context_free) txm_context *context = context_with(1, NULL);
    txm_settings settings;
    txm_settings_init(&settings);
    txm_error err = {0};
    txm_result r;
    settings.tile_px = 48;
    ck_assert_int_eq(convert(context, source, out, &settings, &r, &err), TXM_STATUS_USAGE);
    txm_settings_init(&settings);
    const char *const bad[] = {"no-equals-sign", NULL};
    settings.attributes = bad;
    txm_error_clear(&err);
    ck_assert_int_eq(convert(context, source, out, &settings, &r, &err), TXM_STATUS_USAGE);
    txm_settings_init(&settings);
    settings.colorspace = "sRBG";
    txm_error_clear(&err);
    ck_assert_int_eq(convert(context, source, out, &settings, &r, &err), TXM_STATUS_COLORSPACE);
    ck_assert_msg(strstr(err.message, "sRGB") != NULL, "%s", err.message);
    ck_assert_int_ne(access(out, F_OK), 0);
}

TEST(a_missing_device_is_an_error)
{
    txm_context *context = NULL;
    txm_error err = {0};
    const txm_context_options options = {
        .struct_size = sizeof(txm_context_options), .threads = 1, .device = "cuda:999"};
    ck_assert_int_eq(txm_context_new(&options, &context, &err), TXM_STATUS_DEVICE);
    ck_assert_ptr_null(context);
}

TEST(memory_bound_is_obeyed_or_refused)
{
    char *source = write_pnm("wide.ppm", 3, 3000, 100, ramp), *out = in_base("wide.tx");
    txm_error err = {0};
    txm_result r;
    for (uint64_t bound = 1 << 20; bound <= 1u << 30; bound <<= 10) {
        SCOPED(txm_context_free) txm_context *context = NULL;
        const txm_context_options options = {
            .struct_size = sizeof(txm_context_options), .threads = 2, .max_memory_bytes = bound};
        ck_assert(!txm_context_new(&options, &context, &err));
        txm_status status = convert(context, source, out, NULL, &r, &err);
        ck_assert_int_eq(status, bound < 1u << 30 ? TXM_STATUS_TOO_LARGE : TXM_OK);
        ck_assert_int_eq(access(out, F_OK), status ? -1 : 0);
        txm_result_clear(&r);
        txm_error_clear(&err);
    }
}

int main(void)
{
    char command[1200];
    if (!mkdtemp(base))
        return 1;
    int failed = run_tests_in_one_process();
    snprintf(command, sizeof command, "rm -rf '%s'", base);
    if (system(command))
        printf("note %s was not removed\n", base);
    return failed;
}
