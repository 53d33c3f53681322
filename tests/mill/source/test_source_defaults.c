/* SPDX-License-Identifier: Apache-2.0
 * The colour spaces that `default` and `auto` mean, one line for each format. */
#include "base/mem.h"
#include "mill/source/defaults.h"
#include "mill/source/readers.h"
#include "util_check.h"
#include "util_png.h"

static txm_color_config *config;

static void load_config(void)
{
    FREED char *path = txm_asprintf("%s/golden/config.ocio", getenv("TXM_TESTDATA"));
    txm_color_options options = {
        .struct_size = sizeof(txm_color_options), .ocio_path = path, .ignore_environment = true};
    if (txm_color_load(&options, &config, NULL) != TXM_OK)
        abort();
}

static void free_config(void)
{
    txm_color_free(&config);
}
FIXTURE_ONCE(load_config, free_config)

#define LINEAR "Linear Rec.709"

static const struct {
    const char *path, *format;
    txm_type type;
    uint32_t channels;
    const char *interop_id, *hint;
    const char *space; /* expected for `default` */
    txm_alpha alpha;
    const char *auto_space;
} cases[] = {
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "", "", LINEAR, TXM_ALPHA_PREMULTIPLIED, LINEAR},
    {"a.exr", "openexr", TXM_TYPE_U8, 1, "", "", LINEAR, TXM_ALPHA_PREMULTIPLIED, "sRGB"}, /* uint channels */
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "lin_ap1_scene", "lin_ap1_scene", "ACEScg", TXM_ALPHA_PREMULTIPLIED,
     "lin_ap1_scene"},
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "lin_ap0_scene", "", "ACES2065-1", TXM_ALPHA_PREMULTIPLIED, LINEAR},
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "g99_unheard_of", "g99_unheard_of", LINEAR, TXM_ALPHA_PREMULTIPLIED, LINEAR},
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "Non-Color", "Non-Color", "Non-Color", TXM_ALPHA_PREMULTIPLIED, "Non-Color"},
    {"a.hdr", "hdr", TXM_TYPE_FLOAT, 3, "", "lin_rec709_scene", LINEAR, TXM_ALPHA_PREMULTIPLIED, "lin_rec709_scene"},
    {"a.dpx", "dpx", TXM_TYPE_U16, 3, "", "KodakLog", LINEAR, TXM_ALPHA_PREMULTIPLIED, "sRGB"},
    {"a.cin", "cineon", TXM_TYPE_U16, 3, "", "KodakLog", LINEAR, TXM_ALPHA_PREMULTIPLIED, "sRGB"},
    {"a.png", "png", TXM_TYPE_U8, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.png", "png", TXM_TYPE_U16, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.png", "png", TXM_TYPE_U8, 3, "g24_rec709_display", "g24_rec709_display", "Rec.1886", TXM_ALPHA_STRAIGHT,
     "g24_rec709_display"},
    {"a.png", "png", TXM_TYPE_U8, 3, "pq_p3d65_display", "pq_p3d65_display", "sRGB", TXM_ALPHA_STRAIGHT,
     "sRGB"}, /* not in this config */
    {"a.png", "png", TXM_TYPE_U8, 4, "Non-Color", "Non-Color", "Non-Color", TXM_ALPHA_CHANNEL_PACKED, "Non-Color"},
    {"a.tif", "tiff", TXM_TYPE_U8, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.tif", "tiff", TXM_TYPE_U16, 3, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.tif", "tiff", TXM_TYPE_U16, 4, "", "sRGB", "sRGB", TXM_ALPHA_PREMULTIPLIED, "sRGB"},
    {"a.tif", "tiff", TXM_TYPE_FLOAT, 4, "", "", "sRGB", TXM_ALPHA_STRAIGHT, LINEAR},
    {"a.jpg", "jpeg", TXM_TYPE_U8, 3, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.jp2", "jpeg2000", TXM_TYPE_U16, 3, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.webp", "webp", TXM_TYPE_U8, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.tga", "targa", TXM_TYPE_U8, 4, "", "", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.bmp", "bmp", TXM_TYPE_U8, 3, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.sgi", "sgi", TXM_TYPE_U16, 3, "", "", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.avif", "heif", TXM_TYPE_U16, 3, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.dds", "dds", TXM_TYPE_U8, 4, "", "", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.dds", "dds", TXM_TYPE_HALF, 4, "", "", LINEAR, TXM_ALPHA_STRAIGHT, LINEAR},
    {"a.psd", "psd", TXM_TYPE_U8, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.psd", "psd", TXM_TYPE_U16, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"}, /* its hint counts */
    {"a.psd", "psd", TXM_TYPE_U16, 4, "", "", LINEAR, TXM_ALPHA_STRAIGHT, "sRGB"},
    /* Blender does not read these formats: the sample type decides. */
    {"a.pfm", "pnm", TXM_TYPE_FLOAT, 3, "", "", LINEAR, TXM_ALPHA_STRAIGHT, LINEAR},
    {"a.ppm", "pnm", TXM_TYPE_U16, 3, "", "Rec709", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.fits", "fits", TXM_TYPE_FLOAT, 1, "", "", LINEAR, TXM_ALPHA_STRAIGHT, LINEAR},
    {"a.gif", "gif", TXM_TYPE_U8, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    /* If the content does not decide, the file name does. */
    {"a.hdr", "png", TXM_TYPE_U8, 4, "", "sRGB", "sRGB", TXM_ALPHA_PREMULTIPLIED, "sRGB"},
    {"a.png", "openexr", TXM_TYPE_HALF, 4, "", "", LINEAR, TXM_ALPHA_PREMULTIPLIED, LINEAR},
};

TESTS(defaults_by_format, sizeof cases / sizeof *cases)
{
    txm_source_info info = {.width = 8, .height = 8, .type = cases[_i].type, .channels = cases[_i].channels};
    info.file_channels = info.channels;
    strcpy(info.format, cases[_i].format);
    strcpy(info.interop_id, cases[_i].interop_id);
    strcpy(info.colorspace_hint, cases[_i].hint);
    info.tiff_premultiplied_default =
        strcmp(info.format, "tiff") == 0 && info.channels == 4 && info.type == TXM_TYPE_U16;
    const char *space = NULL;
    txm_alpha alpha = TXM_ALPHA_DEFAULT;
    ck_assert_int_eq(txm_source_scene_defaults(&info, cases[_i].path, config, &space, &alpha), TXM_OK);
    ck_assert_str_eq(space, cases[_i].space);
    ck_assert_str_eq(txm_alpha_name(alpha), txm_alpha_name(cases[_i].alpha));
    ck_assert_str_eq(txm_source_auto_space(&info, config), cases[_i].auto_space);
    ck_assert_int_eq(txm_source_scene_defaults(&info, cases[_i].path, config, NULL, NULL), TXM_OK);
}

/* A file rule takes precedence over the role, and the file's metadata over the rule. The default rule never counts. */
TEST(file_rules)
{
    char path[] = "/tmp/txm-rules-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    static const char text[] = "ocio_profile_version: 2\n"
                               "roles: {scene_linear: lin, default_byte: srgb, default_float: lin, data: raw}\n"
                               "file_rules:\n"
                               "  - !<Rule> {name: normals, colorspace: raw, pattern: \"*_nor*\", extension: \"*\"}\n"
                               "  - !<Rule> {name: Default, colorspace: lin}\n"
                               "displays: {d: [!<View> {name: v, colorspace: srgb}]}\n"
                               "colorspaces:\n"
                               "  - !<ColorSpace> {name: lin, aliases: [lin_rec709_scene]}\n"
                               "  - !<ColorSpace> {name: srgb}\n"
                               "  - !<ColorSpace> {name: raw, isdata: true}\n";
    ck_assert_int_eq(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    txm_error err = {0};
    txm_color_config *c = NULL;
    txm_color_options options = {
        .struct_size = sizeof(txm_color_options), .ocio_path = path, .ignore_environment = true};
    ck_assert_msg(txm_color_load(&options, &c, &err) == TXM_OK, "%s", err.message);
    txm_source_info info = {.type = TXM_TYPE_U8, .channels = 3, .file_channels = 3, .format = "png"};
    const char *space;
    txm_alpha alpha;
    ck_assert_int_eq(txm_source_scene_defaults(&info, "/tex/wood_nor_gl.png", c, &space, &alpha), TXM_OK);
    ck_assert_str_eq(space, "raw");
    ck_assert_int_eq(alpha, TXM_ALPHA_CHANNEL_PACKED);
    ck_assert_int_eq(txm_source_scene_defaults(&info, "/tex/wood_diff.png", c, &space, &alpha), TXM_OK);
    ck_assert_str_eq(space, "srgb");
    ck_assert_int_eq(alpha, TXM_ALPHA_STRAIGHT);
    strcpy(info.interop_id, "lin_rec709_scene");
    ck_assert_int_eq(txm_source_scene_defaults(&info, "/tex/wood_nor_gl.png", c, &space, &alpha), TXM_OK);
    ck_assert_str_eq(space, "lin");
    txm_color_free(&c);
    unlink(path);
}

/* ---- PNG chunks -------------------------------------------------------------------------------------------------- */

typedef struct chunk_of {
    const char *type;
    uint8_t data[25];
    size_t bytes;
    bool damaged;
} chunk_of;

/* For a file with these chunks in this order: the space that Blender sets when it loads the file, and the one that
 * `auto` becomes (NULL: the role for bytes), as Blender 5.2.2 and the official 5.2.3 answered. */
#define CICP(...)                                                                                                      \
    {                                                                                                                  \
        "cICP", {__VA_ARGS__}, sizeof(uint8_t[]){__VA_ARGS__}, false                                                   \
    }
#define DAMAGED_CICP(...)                                                                                              \
    {                                                                                                                  \
        "cICP", {__VA_ARGS__}, sizeof(uint8_t[]){__VA_ARGS__}, true                                                    \
    }
#define GAMMA(v)                                                                                                       \
    {                                                                                                                  \
        "gAMA", {(v) >> 24 & 255, (v) >> 16 & 255, (v) >> 8 & 255, (v)&255}, 4, false                                  \
    }
#define SRGB(v)                                                                                                        \
    {                                                                                                                  \
        "sRGB", {v}, 1, false                                                                                          \
    }
/* An Exif directory with only the colour space. */
#define EXIF(v)                                                                                                        \
    {                                                                                                                  \
        "eXIf", {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0xa0, 1, 0, 3, 0, 0, 0, 1, (v) >> 8 & 255, (v)&255, 0, 0}, 22,     \
            false                                                                                                      \
    }
#define TEXT(...)                                                                                                      \
    {                                                                                                                  \
        "tEXt", "oiio:ColorSpace\0" __VA_ARGS__, 16 + sizeof __VA_ARGS__ - 1, false                                    \
    }
static const struct {
    chunk_of chunks[3];
    const char *loaded, *automatic;
} pictures[] = {
    {{{0}}, "sRGB", "srgb_rec709_scene"},
    {{CICP(9, 16, 1, 1)}, "sRGB", "srgb_rec709_scene"},
    {{CICP(9, 16, 9, 0)}, "sRGB", "srgb_rec709_scene"},
    {{CICP(9, 16, 0, 0)}, "Rec.2100-PQ", "pq_rec2020_display"},
    {{CICP(9, 16, 0, 2)}, "Rec.2100-PQ", "pq_rec2020_display"},
    {{DAMAGED_CICP(9, 16, 0, 1)}, "sRGB", "srgb_rec709_scene"},
    {{CICP(9, 16, 0)}, "sRGB", "srgb_rec709_scene"},
    {{CICP(9, 16, 0, 1, 0)}, "sRGB", "srgb_rec709_scene"},
    {{CICP(9, 16, 0, 1), CICP(1, 8, 0, 1)}, "Rec.2100-PQ", "pq_rec2020_display"},
    {{DAMAGED_CICP(9, 16, 0, 1), CICP(1, 8, 0, 1)}, "Linear Rec.709", "lin_rec709_scene"},
    {{CICP(9, 16, 1, 1), CICP(1, 8, 0, 1)}, "sRGB", "srgb_rec709_scene"},
    {{GAMMA(0)}, "sRGB", "lin_rec709_scene"},
    {{GAMMA(1)}, "sRGB", NULL},
    {{GAMMA(41600)}, "sRGB", "g24_rec709_scene"},
    {{GAMMA(41667)}, "sRGB", "g24_rec709_scene"},
    {{GAMMA(42000)}, "sRGB", "g24_rec709_scene"},
    {{GAMMA(43000)}, "sRGB", NULL},
    {{GAMMA(45000)}, "sRGB", "g22_rec709_scene"},
    {{GAMMA(45455)}, "sRGB", "g22_rec709_scene"},
    {{GAMMA(46512)}, "sRGB", "g22_rec709_scene"},
    {{GAMMA(47619)}, "sRGB", NULL},
    {{GAMMA(55000)}, "sRGB", "g18_rec709_scene"},
    {{GAMMA(55556)}, "sRGB", "g18_rec709_scene"},
    {{GAMMA(90000)}, "sRGB", NULL},
    {{GAMMA(99000)}, "sRGB", "lin_rec709_scene"},
    {{GAMMA(100000)}, "sRGB", "lin_rec709_scene"},
    {{GAMMA(101000)}, "sRGB", "lin_rec709_scene"},
    {{GAMMA(110000)}, "sRGB", NULL},
    {{GAMMA(100000), SRGB(0)}, "sRGB", "srgb_rec709_scene"},
    {{SRGB(9), GAMMA(100000)}, "sRGB", "lin_rec709_scene"},
    {{CICP(1, 8, 0, 1), GAMMA(45455)}, "Linear Rec.709", "lin_rec709_scene"},
    {{GAMMA(41667), CICP(9, 18, 0, 1)}, "Rec.2100-HLG", "hlg_rec2020_display"},
    {{CICP(9, 1, 0, 1), GAMMA(100000)}, "Rec.2020", "lin_rec709_scene"},
    {{GAMMA(41667), CICP(9, 1, 0, 1)}, "Rec.2020", "g24_rec709_scene"},
    {{CICP(9, 16, 0, 1), EXIF(1)}, "sRGB", "srgb_rec709_scene"},
    {{EXIF(2), CICP(9, 16, 0, 1)}, "sRGB", "srgb_rec709_scene"},
    {{EXIF(0), CICP(9, 1, 0, 1)}, "sRGB", "srgb_rec709_scene"},
    {{EXIF(0xffff), CICP(9, 16, 0, 1)}, "Rec.2100-PQ", "pq_rec2020_display"},
    {{EXIF(0xffff), CICP(12, 1, 0, 1)}, "Display P3", "srgb_rec709_scene"},
    {{EXIF(1), CICP(1, 8, 0, 1), GAMMA(100000)}, "sRGB", "srgb_rec709_scene"},
    {{GAMMA(100000), EXIF(1)}, "sRGB", "srgb_rec709_scene"},
    {{GAMMA(100000), EXIF(0xffff)}, "sRGB", "lin_rec709_scene"},
    {{TEXT("ACEScg")}, "sRGB", "ACEScg"},
    {{TEXT("ACEScg"), GAMMA(45455)}, "sRGB", "ACEScg"},
    {{TEXT("nonsense"), GAMMA(45455)}, "sRGB", NULL},
    {{TEXT("Gamma2.2"), GAMMA(45455)}, "sRGB", NULL},
    {{TEXT("ACEScg"), CICP(9, 16, 0, 1)}, "Rec.2100-PQ", "pq_rec2020_display"},
    {{TEXT("ACEScg"), EXIF(1)}, "sRGB", "srgb_rec709_scene"},
    {{TEXT("AdobeRGB")}, "sRGB", "AdobeRGB"},
};

static void check_picture(const chunk_of *chunks, size_t count, uint8_t interlace, const char *loaded,
                          const char *automatic, const char *what)
{
    const png_layout layout = {3, 2, 8, PNG_RGB, interlace};
    const txm_color_options options = {.struct_size = sizeof options, .ignore_environment = true};
    const uint8_t rows[2 * 9] = {1, 2, 3};
    char path[] = "/tmp/txm-colors-XXXXXX.png";
    txm_bytes f = {0};
    txm_color_config *own = NULL;
    txm_source *source = NULL;
    txm_error err = {0};
    int fd = mkstemps(path, 4);
    ck_assert_int_ge(fd, 0);
    png_begin(&f, &layout);
    for (size_t i = 0; i < count && chunks[i].type; i++)
        png_chunk_crc(&f, chunks[i].type, chunks[i].data, chunks[i].bytes, chunks[i].damaged);
    png_finish(&f, &layout, rows, 0);
    ck_assert_int_eq(write(fd, f.data, f.size), (ssize_t)f.size);
    close(fd);
    ck_assert_int_eq(txm_color_load(&options, &own, NULL), TXM_OK);
    ck_assert_msg(txm_source_open(path, NULL, &source, &err) == TXM_OK, "%s: %s", what, err.message);
    const txm_source_info *info = txm_source_info_of(source);
    const char *space = NULL, *other = txm_source_auto_space(info, own);
    ck_assert_int_eq(txm_source_scene_defaults(info, path, own, &space, NULL), TXM_OK);
    ck_assert_msg(strcmp(space, loaded) == 0, "%s: loaded as %s, Blender's %s", what, space, loaded);
    automatic = automatic ? automatic : "sRGB";
    ck_assert_msg(strcmp(other, automatic) == 0, "%s: auto is %s, Blender's %s", what, other, automatic);
    txm_source_close(&source);
    txm_color_free(&own);
    txm_bytes_free(&f);
    unlink(path);
}

TESTS(colors_of_png, sizeof pictures / sizeof *pictures)
{
    char what[32];
    snprintf(what, sizeof what, "row %d", _i);
    check_picture(pictures[_i].chunks, 3, 0, pictures[_i].loaded, pictures[_i].automatic, what);
}

/* OpenImageIO reads interlaced files, with the same result. */
TESTS(colors_of_interlaced_png, 14)
{
    static const int rows[] = {0, 1, 3, 11, 14, 18, 22, 25, 30, 32, 34, 37, 40, 42};
    int row = rows[_i];
    char what[32];
    snprintf(what, sizeof what, "row %d, interlaced", row);
    check_picture(pictures[row].chunks, 3, 1, pictures[row].loaded, pictures[row].automatic, what);
}

/* Tests every pair of code points. */
TEST(code_points)
{
    static const struct {
        unsigned primaries, transfer;
        const char *loaded, *automatic;
    } rows[] = {{1, 1, "Rec.1886", "g24_rec709_display"},
                {1, 4, "Gamma 2.2 Encoded Rec.709", "g22_rec709_scene"},
                {1, 8, "Linear Rec.709", "lin_rec709_scene"},
                {9, 1, "Rec.2020", NULL},
                {9, 8, "Linear Rec.2020", "lin_rec2020_scene"},
                {9, 16, "Rec.2100-PQ", "pq_rec2020_display"},
                {9, 18, "Rec.2100-HLG", "hlg_rec2020_display"},
                {10, 8, "Linear CIE-XYZ D65", "lin_ciexyzd65_scene"},
                {12, 1, "Display P3", NULL},
                {12, 8, "Linear DCI-P3 D65", "lin_p3d65_scene"},
                {12, 13, "Display P3", "srgb_p3d65_scene"}};
    const txm_color_options options = {.struct_size = sizeof options, .ignore_environment = true};
    SCOPED(txm_color_free) txm_color_config *own = NULL;
    ck_assert_int_eq(txm_color_load(&options, &own, NULL), TXM_OK);
    for (unsigned primaries = 0; primaries < 256; primaries++) {
        for (unsigned transfer = 0; transfer < 256; transfer++) {
            const char *loaded, *automatic, *want = "sRGB", *want_auto = NULL;
            for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                if (rows[i].primaries == primaries && rows[i].transfer == transfer) {
                    want = rows[i].loaded;
                    want_auto = rows[i].automatic;
                }
            }
            txm_interop_from_cicp(primaries, transfer, &loaded, &automatic);
            loaded = txm_color_canonical(own, loaded);
            ck_assert_msg(strcmp(loaded ? loaded : "sRGB", want) == 0, "%u, %u: %s", primaries, transfer, loaded);
            if (want_auto)
                ck_assert_str_eq(automatic, want_auto);
            else
                ck_assert_msg(!automatic || !txm_color_canonical(own, automatic) ||
                                  strcmp(automatic, "srgb_rec709_scene") == 0,
                              "%u, %u: %s", primaries, transfer, automatic);
        }
    }
}

int main(void)
{
    return run_tests_in_one_process();
}
