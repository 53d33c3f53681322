/* SPDX-License-Identifier: Apache-2.0
 * From an image to its tx file without a colour config, compared with the golden table and the converter; and the
 * encoding that a file records. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/path.h"
#include "txmill/convert.h"
#include "txmill/inspect.h"
#include "txtile/cache.h"
#include "txtile/describe.h"
#include "txtile/name.h"
#include "util_check.h"

/* ---- paths ------------------------------------------------------------------------------------------------------ */

/* Names every row of the golden table from the words that a scene uses. */
TEST(golden_names)
{
    const char *name = testdata("golden/manifest.tsv");
    char line[1024], image[300];
    unsigned rows = 0;
    FILE *f = fopen(name, "r");
    ck_assert_msg(f != NULL, "%s: %s", name, strerror(errno));
    while (fgets(line, sizeof line, f)) {
        char *field[5], *rest = line, *path;
        txm_error err;
        txm_tx_wanted wanted;
        if (line[0] == '#')
            continue;
        for (int i = 0; i < 5; i++)
            field[i] = strsep(&rest, "\t\n");
        txm_tx_wanted_init(&wanted);
        wanted.colorspace = field[1];
        ck_assert(txm_alpha_parse(field[2], &wanted.alpha));
        wanted.cache_dir = !strcmp(field[3], "golden:cache")       ? "cache"
                           : !strcmp(field[3], "golden:abs-cache") ? "/any/where/abs-cache"
                                                                   : field[3];
        snprintf(image, sizeof image, "/any/where/src/%s", field[0]);
        ck_assert_msg(txm_tx_path_of(image, &wanted, &path, &err) == TXM_OK, "%s", err.message);
        if (strcmp(field[4], field[0]) != 0) /* a 1x1 image is used as it is, so its row has the image's name */
            ck_assert_str_eq(txm_path_base(path), field[4]);
        free(path);
        rows++;
    }
    fclose(f);
    ck_assert_uint_eq(rows, 97);
}

static void expect_same(const txm_tx_wanted *a, const txm_tx_wanted *b, bool same)
{
    char *x, *y;
    ck_assert_int_eq(txm_tx_path_of("a/wood.png", a, &x, NULL), TXM_OK);
    ck_assert_int_eq(txm_tx_path_of("a/wood.png", b, &y, NULL), TXM_OK);
    ck_assert_msg(!strcmp(x, y) == same, "%s and %s", x, y);
    free(x);
    free(y);
}

/* Different words for the same settings give the same name, and different settings give different names. */
TEST(words)
{
    static const char *const data_names[] = {"non-color", "Raw", "Generic Data", "Utility - Raw", "data"};
    txm_tx_wanted a, b;
    txm_tx_wanted_init(&a);
    expect_same(&a, NULL, true);
    b = a;
    b.working_space = "linear rec.709";
    expect_same(&a, &b, true);
    b.working_space = "lin_rec709_scene";
    expect_same(&a, &b, true);
    b.working_space = "3.241_-1.537_-0.4986_0_-0.9692_1.876_0.04155_0_0.05563_-0.204_1.057_0";
    expect_same(&a, &b, true);
    b.working_space = "ACEScg";
    expect_same(&a, &b, false);
    b = a;
    a.colorspace = "Non-Color";
    for (size_t i = 0; i < sizeof data_names / sizeof *data_names; i++) {
        b.colorspace = data_names[i];
        expect_same(&a, &b, true);
    }
    b.colorspace = "My Data";
    expect_same(&a, &b, false);
    b.data = true;
    expect_same(&a, &b, true);
    a = b;
    a.equiangular = true;
    expect_same(&a, &b, false);
}

static void expect_usage(const char *image, const txm_tx_wanted *wanted, const char *says)
{
    char *path = (char *)"left";
    txm_error err;
    txm_found found = {.path = path};
    ck_assert_int_eq(txm_tx_path_of(image, wanted, &path, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_null(path);
    ck_assert_msg(strstr(err.message, says) != NULL, "%s", err.message);
    ck_assert_int_eq(txm_tx_find(image, wanted, &found, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_null(found.path);
}

TEST(nonsense)
{
    static const char *const spaces[] = {"Linear",
                                         "1",
                                         "1_2_3",
                                         "1_2_3_4_5_6_7_8_9_10_11_",
                                         "1_2_3_4_5_6_7_8_9_10_11_x",
                                         "1_2_3_4_5_6_7_8_9_10_11_12_13",
                                         "_",
                                         "1__2"};
    txm_tx_wanted wanted = {0};
    expect_usage("a.png", &wanted, "txm_tx_wanted_init");
    txm_tx_wanted_init(&wanted);
    expect_usage(NULL, &wanted, "no image given");
    expect_usage("", &wanted, "no image given");
    wanted.colorspace = NULL;
    expect_usage("a.png", &wanted, "a.png: no colour space given");
    wanted.colorspace = "";
    expect_usage("a.png", &wanted, "a.png: no colour space given");
    txm_tx_wanted_init(&wanted);
    wanted.alpha = TXM_ALPHA_DEFAULT;
    expect_usage("a.png", &wanted, "a.png: no alpha mode given");
    wanted.alpha = (txm_alpha)17;
    expect_usage("a.png", &wanted, "a.png: no alpha mode given");
    txm_tx_wanted_init(&wanted);
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        wanted.working_space = spaces[i];
        expect_usage("a.png", &wanted, "working space");
    }
}

/* A program that was compiled when the struct was shorter gets defaults for the members it does not know. */
TEST(older_programs)
{
    txm_tx_wanted wanted, whole;
    memset(&wanted, 0xAA, sizeof wanted);
    txm_tx_wanted_init_sized(&wanted, offsetof(txm_tx_wanted, working_space));
    txm_tx_wanted_init(&whole);
    expect_same(&wanted, &whole, true);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static char dir[64], image[256];
static txm_context *context;

static void set_up(void)
{
    char command[900];
    txm_error err;
    snprintf(dir, sizeof dir, "/tmp/txm-name-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    snprintf(image, sizeof image, "%s/rgb8.png", dir);
    snprintf(command, sizeof command, "cp '%s' '%s' '%s'", testdata("golden/rgb8.png"),
             testdata("golden/half-rgba.exr"), dir);
    ck_assert_int_eq(system(command), 0);
    ck_assert_int_eq(unsetenv("OCIO"), 0);
    ck_assert_msg(txm_context_new(NULL, &context, &err) == TXM_OK, "%s", err.message);
}

static void tear_down(void)
{
    char command[100];
    txm_context_free(&context);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
}
FIXTURE(set_up, tear_down)

/* Converts the image; *path is the tx file's path, to be freed. */
static void make(const char *source, const char *colorspace, const char *cache_dir, char **path)
{
    txm_settings settings;
    txm_result result;
    txm_error err;
    txm_settings_init(&settings);
    settings.colorspace = colorspace;
    settings.cache_dir = cache_dir;
    ck_assert_msg(txm_convert(context, source, &settings, NULL, &result, &err) == TXM_OK, "%s", err.message);
    *path = strdup(result.tx_path);
    ck_assert_ptr_nonnull(*path);
    txm_result_clear(&result);
}

/* ---- encodings -------------------------------------------------------------------------------------------------- */

/* Expects the same answer from the file, its description and the cache. */
static void expect_encoding(const char *tx_path, txm_encoding encoding)
{
    txm_tx *tx;
    txm_tx_description d;
    SCOPED(txm_cache_free) txm_cache *cache = NULL;
    txm_view_texture shape;
    uint32_t texture;
    txm_error err;
    ck_assert_msg(txm_tx_open(tx_path, &tx, &err) == TXM_OK, "%s", err.message);
    ck_assert_str_eq(txm_encoding_name(txm_tx_info_of(tx)->encoding), txm_encoding_name(encoding));
    ck_assert_int_eq(txm_tx_describe(tx, &d, &err), TXM_OK);
    ck_assert_int_eq(d.encoding, encoding);
    txm_tx_description_free(&d);
    txm_tx_close(&tx);
    ck_assert_int_eq(txm_cache_new(NULL, &cache, &err), TXM_OK);
    ck_assert_int_eq(txm_cache_add(cache, tx_path, TXM_EXTENSION_REPEAT, &texture, &err), TXM_OK);
    ck_assert_int_eq(txm_cache_open(cache, texture, &shape, &err), TXM_OK);
    ck_assert_uint_eq(shape.encoding, encoding);
}

/* Tests TIFF and OpenEXR, and a colour space from which the converter changes pixels to the working space. */
TEST(encodings)
{
    static const struct {
        const char *image, *space;
        txm_encoding encoding;
    } cases[] = {{"rgb8.png", "sRGB", TXM_ENCODING_SRGB},
                 {"rgb8.png", "Non-Color", TXM_ENCODING_DATA},
                 {"rgb8.png", "Linear Rec.709", TXM_ENCODING_LINEAR},
                 {"rgb8.png", "ACEScg", TXM_ENCODING_LINEAR},
                 {"half-rgba.exr", "Linear Rec.709", TXM_ENCODING_LINEAR},
                 {"half-rgba.exr", "sRGB", TXM_ENCODING_SRGB},
                 {"half-rgba.exr", "Non-Color", TXM_ENCODING_DATA}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[300], *tx;
        snprintf(path, sizeof path, "%s/%s", dir, cases[i].image);
        make(path, cases[i].space, NULL, &tx);
        expect_encoding(tx, cases[i].encoding);
        free(tx);
    }
}

/* Files of other programs do not record an encoding. A description that only resembles Blender's does not count
 * either. */
TEST(unknown_encodings)
{
    FREED char *tx = NULL;
    expect_encoding(testdata("golden/tiled-source.tif"), TXM_ENCODING_UNKNOWN);
    make(image, "sRGB", NULL, &tx);
    FILE *f = fopen(tx, "r+b");
    ck_assert_ptr_nonnull(f);
    static char bytes[1 << 20];
    size_t n = fread(bytes, 1, sizeof bytes, f);
    static const char mark[] = ", xyz_to_scene_linear:";
    char *at = memmem(bytes, n, mark, sizeof mark - 1);
    ck_assert_ptr_nonnull(at);
    ck_assert_int_eq(fseek(f, (long)(at - bytes), SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(";", 1, 1, f), 1);
    fclose(f);
    expect_encoding(tx, TXM_ENCODING_UNKNOWN);
    ck_assert_str_eq(txm_encoding_name((txm_encoding)9), "unknown");
}
