/* SPDX-License-Identifier: Apache-2.0
 * Finding tx files: the order of places, freshness to the second, files that Cycles refuses, images that are used as
 * they are, and parsing a tx file's metadata. The files are made by the converter. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "txmill/color.h"
#include "txmill/convert.h"
#include "txmill/inspect.h"
#include "txtile/describe.h"
#include "txtile/name.h"
#include "txtile/reader.h"
#include "util_check.h"

static const char xyz[] = "3.241_-1.537_-0.4986_0_-0.9692_1.876_0.04155_0_0.05563_-0.204_1.057_0";

static char dir[64], source[256];
static txm_context *context;

static void copy_file(const char *from, const char *to)
{
    char command[600];
    snprintf(command, sizeof command, "cp '%s' '%s'", from, to);
    ck_assert_int_eq(system(command), 0);
}

static void set_time(const char *path, time_t seconds, long nanoseconds)
{
    const struct timespec times[2] = {{seconds, nanoseconds}, {seconds, nanoseconds}};
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void set_up(void)
{
    const char *data = getenv("TXM_TESTDATA");
    char golden[300];
    txm_error err = {0};
    const txm_context_options options = {.struct_size = sizeof(txm_context_options), .threads = 1, .ocio_path = NULL};
    snprintf(dir, sizeof dir, "/tmp/txm-lookup-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(source, sizeof source, "%s/rgb8.png", dir);
    snprintf(golden, sizeof golden, "%s/golden/rgb8.png", data ? data : "testdata");
    copy_file(golden, source);
    set_time(source, 1500000000, 5);
    ck_assert_int_eq(unsetenv("OCIO"), 0);
    ck_assert_msg(txm_context_new(&options, &context, &err) == TXM_OK, "%s", err.message);
}

static void tear_down(void)
{
    char command[100];
    txm_context_free(&context);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}
FIXTURE(set_up, tear_down)

/* Makes the tx file of the source in `cache_dir`. The caller frees its path. */
static char *make(const char *cache_dir, bool force)
{
    txm_settings settings;
    txm_settings_init(&settings);
    const txm_convert_options options = {.struct_size = sizeof(txm_convert_options), .force = force};
    SCOPED(txm_result_clear) txm_result result = {0};
    txm_error err = {0};
    settings.cache_dir = cache_dir;
    ck_assert_msg(txm_convert(context, source, &settings, &options, &result, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(result.outcome, TXM_OUTCOME_CREATED);
    char *path = txm_strdup(result.tx_path);
    return path;
}

static txm_tx_wanted wanted_in(const char *cache_dir)
{
    txm_tx_wanted wanted;
    txm_tx_wanted_init(&wanted);
    wanted.cache_dir = cache_dir;
    return wanted;
}

/* The path of the source's tx file. The caller frees it. */
static char *path_in(const char *cache_dir)
{
    const txm_tx_wanted wanted = wanted_in(cache_dir);
    char *path;
    ck_assert_int_eq(txm_tx_path_of(source, &wanted, &path, NULL), TXM_OK);
    return path;
}

/* Looks a tx file up and compares the result; `path` is not compared if it is NULL. */
static void expect(const char *cache_dir, txm_tx_state state, const char *path, const char *reason)
{
    txm_found found = {0};
    txm_error err = {0};
    const txm_tx_wanted wanted = wanted_in(cache_dir);
    ck_assert_msg(txm_tx_find(source, &wanted, &found, &err) == TXM_OK, "%s", err.message);
    ck_assert_msg(found.state == state, "state %d, not %d: %s", found.state, state, found.reason);
    if (path)
        ck_assert_str_eq(found.path, path);
    ck_assert_msg(strstr(found.reason, reason) != NULL, "'%s' lacks '%s'", found.reason, reason);
    txm_found_clear(&found);
    txm_found_clear(&found);
    txm_found_clear(NULL);
}

TEST(test_missing_and_fresh)
{
    FREED char *expected = path_in(NULL);
    expect(NULL, TXM_TX_STATE_MISSING, expected, "");
    FREED char *made = make(NULL, false);
    ck_assert_str_eq(made, expected);
    expect(NULL, TXM_TX_STATE_FRESH, expected, "");
    expect("", TXM_TX_STATE_FRESH, expected, "");
    expect("blender_tx", TXM_TX_STATE_FRESH, expected, "");
}

TEST(test_freshness_to_the_second)
{
    FREED char *tx = make(NULL, false);
    set_time(tx, 1500000000, 999999999);
    expect(NULL, TXM_TX_STATE_FRESH, tx, "");
    set_time(tx, 1500000001, 5); /* newer is not fresh: Cycles requires equal times */
    expect(NULL, TXM_TX_STATE_OUTDATED, tx, "older than the tx file by 1 second");
    set_time(tx, 1499999999, 5);
    expect(NULL, TXM_TX_STATE_OUTDATED, tx, "newer than the tx file by 1 second");
}

TEST(test_order_of_places)
{
    FREED char *in_default = make(NULL, false);
    FREED char *in_cache = path_in("cache");
    /* The file in the default folder is used while the configured one has no fresh file ... */
    expect("cache", TXM_TX_STATE_FRESH, in_default, "");
    /* ... but "blender_tx" must be spelled like this: another spelling of the path also means the default folder. */
    expect("./blender_tx", TXM_TX_STATE_FRESH, NULL, "");
    FREED char *made = make("cache", true);
    ck_assert_str_eq(made, in_cache);
    expect("cache", TXM_TX_STATE_FRESH, in_cache, "");
    /* If neither folder has a fresh file, the path in the configured folder is returned, which a conversion would
     * write. */
    set_time(in_cache, 1, 0);
    expect("cache", TXM_TX_STATE_FRESH, in_default, "");
    set_time(in_default, 1, 0);
    expect("cache", TXM_TX_STATE_OUTDATED, in_cache, "newer than the tx file by ");
}

/* The name in the default folder has no `filepath:`, whatever is configured. */
TEST(test_absolute_falls_back)
{
    char cache[100];
    snprintf(cache, sizeof cache, "%s/abs", dir);
    FREED char *in_default = make(NULL, false);
    expect(cache, TXM_TX_STATE_FRESH, in_default, "");
    FREED char *in_cache = make(cache, true);
    expect(cache, TXM_TX_STATE_FRESH, in_cache, "");
    ck_assert_str_ne(strrchr(in_cache, '/'), strrchr(in_default, '/'));
}

TEST(test_unusable)
{
    FREED char *tx = make(NULL, false);
    ck_assert_int_eq(truncate(tx, 5000), 0);
    set_time(tx, 1500000000, 5);
    expect(NULL, TXM_TX_STATE_UNUSABLE, tx, "");
    ck_assert_int_eq(truncate(tx, 0), 0);
    set_time(tx, 1500000000, 5);
    expect(NULL, TXM_TX_STATE_UNUSABLE, tx, "");
    ck_assert_int_eq(unlink(tx), 0);
    ck_assert_int_eq(mkdir(tx, 0755), 0);
    expect(NULL, TXM_TX_STATE_UNUSABLE, tx, "not a regular file");
}

TEST(test_source_serves)
{
    FREED char *tx = make(NULL, false);
    snprintf(source, sizeof source, "%s/other.tx", dir);
    copy_file(tx, source);
    expect(NULL, TXM_TX_STATE_SOURCE, source, "");
}

static void refused(const char *path, txm_status status)
{
    txm_found found = {0};
    txm_error err = {0};
    ck_assert_int_eq(txm_tx_find(path, NULL, &found, &err), status);
    ck_assert(!found.path && !found.reason);
    ck_assert_ptr_nonnull(strstr(err.message, path));
}

/* ---- images that are used as they are, whatever their samples: as the official build of Blender 5.2.3 answered --- */

typedef struct tiled {
    const char *what;
    unsigned width, height, tile, bits, format, samples, planar, photometric, compression, levels;
    bool serves;
} tiled;

static const tiled tiled_tiffs[] = {
    {"int32, planes", 8, 33, 64, 32, 2, 2, 2, 1, 8, 1, true},
    {"float24", 3, 3, 64, 24, 3, 1, 1, 1, 1, 1, true},
    {"double, planes", 128, 128, 128, 64, 3, 3, 2, 2, 5, 1, true},
    {"14 bits", 5, 31, 64, 14, 1, 5, 2, 2, 1, 1, true},
    {"CMYK", 64, 15, 16, 8, 1, 4, 1, 5, 8, 1, true},
    {"int8", 32, 32, 16, 8, 2, 5, 1, 2, 1, 1, true},
    {"palette", 7, 9, 64, 8, 1, 1, 1, 3, 32773, 1, true},
    {"six channels", 63, 8, 64, 8, 1, 6, 1, 2, 8, 1, true},
    {"plain bytes", 64, 64, 16, 8, 1, 4, 1, 2, 1, 1, true},
    {"one more column", 65, 64, 16, 8, 1, 4, 1, 2, 1, 1, false},
    {"one more row", 64, 65, 16, 16, 2, 4, 1, 2, 1, 1, false},
    {"large tile", 256, 200, 256, 16, 2, 4, 1, 2, 1, 1, true},
    {"no power of two", 20, 20, 48, 8, 1, 4, 1, 2, 1, 1, false},
    {"levels down to 64", 256, 256, 16, 32, 1, 3, 1, 2, 1, 3, true},
    {"a level too few", 256, 256, 16, 32, 1, 3, 1, 2, 1, 2, false},
    {"levels down to the tile", 256, 256, 128, 32, 1, 3, 1, 2, 1, 2, true},
    {"a codec that Blender lacks", 8, 33, 64, 32, 2, 2, 2, 1, 50000, 1, false},
};

static void put(FILE *f, unsigned bytes, unsigned value)
{
    for (unsigned i = 0; i < bytes; i++)
        fputc(i < sizeof value ? (int)(value >> (8 * i) & 255) : 0, f);
}

static void put_tag(FILE *f, unsigned tag, unsigned type, unsigned count, unsigned value)
{
    put(f, 2, tag);
    put(f, 2, type);
    put(f, 4, count);
    put(f, 4, value);
}

/* Writes only directories, because nobody reads the pixels. Values that do not fit into a field are taken from the
 * file's first 32 bytes; all samples are alike. */
static void write_tiled_tiff(const char *path, const tiled *t)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    enum { VALUES = 16, BEGIN = 48, FIELDS = 12, BYTES = 2 + 12 * FIELDS + 4 };
    fwrite("II*", 1, 4, f);
    put(f, 4, BEGIN);
    put(f, 8, 0);
    for (unsigned i = 0; i < 8; i++)
        put(f, 2, t->bits);
    for (unsigned i = 0; i < 8; i++)
        put(f, 2, t->format);
    for (unsigned l = 0; l < t->levels; l++) {
        put(f, 2, FIELDS);
        put_tag(f, 256, 4, 1, t->width >> l);
        put_tag(f, 257, 4, 1, t->height >> l);
        put_tag(f, 258, 3, t->samples, t->samples > 2 ? VALUES : t->bits | t->bits << 16);
        put_tag(f, 259, 3, 1, t->compression);
        put_tag(f, 262, 3, 1, t->photometric);
        put_tag(f, 277, 3, 1, t->samples);
        put_tag(f, 284, 3, 1, t->planar);
        put_tag(f, 322, 4, 1, t->tile);
        put_tag(f, 323, 4, 1, t->tile);
        put_tag(f, 324, 4, 1, BEGIN);
        put_tag(f, 339, 3, t->samples, t->samples > 2 ? VALUES + 16 : t->format | t->format << 16);
        put_tag(f, 33302, 2, 4, 'x');
        put(f, 4, l + 1 < t->levels ? BEGIN + (l + 1) * BYTES : 0);
    }
    fclose(f);
}

TESTS(test_tiff_serves_itself, sizeof tiled_tiffs / sizeof *tiled_tiffs)
{
    const tiled *t = &tiled_tiffs[_i];
    write_tiled_tiff(source, t);
    ck_assert_msg(txm_tx_serves_itself(source) == t->serves, "%s", t->what);
}

static void put_attribute(FILE *f, const char *name, const char *type, const void *data, unsigned bytes)
{
    fwrite(name, 1, strlen(name) + 1, f);
    fwrite(type, 1, strlen(type) + 1, f);
    put(f, 4, bytes);
    fwrite(data, 1, bytes, f);
}

/* Writes five channels of three types in tiles, as the only part or as the first of several. */
TESTS(test_exr_serves_itself, 9)
{
    static const struct {
        int width, height, tile, mode;
        bool parts, serves;
    } cases[] = {
        {3, 33, 16, 0, false, true}, {64, 64, 8, 0, false, true},   {65, 64, 8, 0, false, false},
        {65, 64, 8, 1, false, true}, {65, 64, 8, 0x11, true, true}, {40, 40, 100, 0, false, false},
        {40, 40, 64, 0, true, true}, {200, 10, 64, 2, false, true}, {200, 10, 64, 0, true, false},
    };
    char channels[5 * 18 + 1] = {0};
    for (int c = 0; c < 5; c++) {
        char *p = channels + 18 * c;
        p[0] = (char)('A' + c);
        p[2] = (char)(c % 3); /* uint, half, float */
        p[10] = p[14] = 1;
    }
    const int box[4] = {0, 0, cases[_i].width - 1, cases[_i].height - 1};
    char tiles[9] = {(char)cases[_i].tile, 0, 0, 0, (char)cases[_i].tile, 0, 0, 0, (char)cases[_i].mode};
    FILE *f = fopen(source, "wb");
    ck_assert_ptr_nonnull(f);
    put(f, 4, 20000630);
    put(f, 4, cases[_i].parts ? 0x1002 : 0x202);
    put_attribute(f, "channels", "chlist", channels, sizeof channels);
    put_attribute(f, "compression", "compression", "\5", 1);
    put_attribute(f, "dataWindow", "box2i", box, sizeof box);
    put_attribute(f, "tiles", "tiledesc", tiles, sizeof tiles);
    put(f, 4, 0);
    fclose(f);
    ck_assert_int_eq(txm_tx_serves_itself(source), cases[_i].serves);
}

TEST(test_iff_serves_itself)
{
    static const struct {
        unsigned width, height, tiles;
        bool serves;
    } cases[] = {{64, 64, 1, true}, {8, 8, 1, true}, {4, 4, 1, false}, {40, 30, 1, false}, {128, 128, 4, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned char h[0x60] = "FOR4\0\0\1\0CIMGTBHD\0\0\0\x20";
        h[0x17] = (unsigned char)cases[i].width;
        h[0x1B] = (unsigned char)cases[i].height;
        h[0x27] = (unsigned char)cases[i].tiles;
        FILE *f = fopen(source, "wb");
        ck_assert_ptr_nonnull(f);
        fwrite(h, 1, sizeof h, f);
        fclose(f);
        ck_assert_int_eq(txm_tx_serves_itself(source), cases[i].serves);
    }
}

/* Checks the lookup, and what verify reports about the file. */
TEST(test_odd_samples_serve)
{
    write_tiled_tiff(source, &tiled_tiffs[0]);
    expect("cache", TXM_TX_STATE_SOURCE, source, "");
    txm_verdict verdict;
    ck_assert_int_eq(txm_judge(context, source, NULL, &verdict, NULL), TXM_OK);
    ck_assert_int_eq(verdict.use, TXM_USE_DIRECT);
    ck_assert(verdict.used);
    write_tiled_tiff(source, &tiled_tiffs[9]);
    expect("cache", TXM_TX_STATE_MISSING, NULL, "");
}

TEST(test_bad_sources)
{
    refused("/no/such/file.png", TXM_STATUS_NOT_FOUND);
    refused(dir, TXM_STATUS_NOT_A_FILE);
    refused("/dev/null", TXM_STATUS_NOT_A_FILE);
}

/* ---- descriptions ------------------------------------------------------------------------------------------------ */

TEST(test_describe)
{
    FREED char *path = make(NULL, false);
    SCOPED(txm_tx_close) txm_tx *tx = NULL;
    txm_tx_description d;
    ck_assert_int_eq(txm_tx_open(path, &tx, NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_describe(tx, &d, NULL), TXM_OK);
    ck_assert_str_eq(d.source, source);
    ck_assert_str_eq(d.requested, "sRGB");
    ck_assert_str_eq(d.detected, "scene_linear_srgb");
    ck_assert_str_eq(d.xyz_to_scene_linear, xyz);
    ck_assert_str_eq(d.working_space, "Linear Rec.709");
    ck_assert(d.has_alpha_type && d.alpha == TXM_ALPHA_STRAIGHT && !d.envlatl && d.format_version == 0);
    ck_assert_str_eq(d.sha1, "716B430976BC0C1A51CE3BCE6730E059041FEF91");
    ck_assert(d.average_count == 4 && d.constant_count == 0 && d.average[3] == 1);
    txm_tx_description_free(&d);
    ck_assert_ptr_null(d.source);
}

/* The path of this source looks like the text that follows it. */
TEST(test_describe_confusing_source)
{
    char confusing[256];
    snprintf(confusing, sizeof confusing, "%s/a (colorspace: x, xyz_to_scene_linear:1, alpha: auto).png", dir);
    copy_file(source, confusing);
    snprintf(source, sizeof source, "%s", confusing);
    FREED char *path = make(NULL, false);
    SCOPED(txm_tx_close) txm_tx *tx = NULL;
    txm_tx_description d;
    ck_assert_int_eq(txm_tx_open(path, &tx, NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_describe(tx, &d, NULL), TXM_OK);
    ck_assert_str_eq(d.source, confusing);
    ck_assert_str_eq(d.detected, "scene_linear_srgb");
    ck_assert(d.alpha == TXM_ALPHA_STRAIGHT);
    txm_tx_description_free(&d);
}

/* Working spaces are recognised by these texts, which must be those of the built-in config. */
TEST(test_working_space_names)
{
    static const char *const names[] = {"Linear Rec.709", "Linear Rec.2020", "ACEScg"};
    for (size_t i = 0; i < 3; i++) {
        const txm_context_options options = {
            .struct_size = sizeof(txm_context_options), .threads = 1, .working_space = names[i]};
        SCOPED(txm_tx_close) txm_tx *tx = NULL;
        txm_tx_description d;
        txm_context_free(&context);
        ck_assert_int_eq(txm_context_new(&options, &context, NULL), TXM_OK);
        FREED char *path = make(NULL, true);
        ck_assert_int_eq(txm_tx_open(path, &tx, NULL), TXM_OK);
        ck_assert_int_eq(txm_tx_describe(tx, &d, NULL), TXM_OK);
        ck_assert_str_eq(d.working_space, names[i]);
        txm_tx_description_free(&d);
    }
}
