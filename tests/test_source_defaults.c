/* SPDX-License-Identifier: Apache-2.0
 * What `default` and `auto` stand for, a line a format. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "source/defaults.h"
#include "source/readers.h"
#include "util_check.h"

static txm_color_config *config;

static void load_config(void)
{
    txm_error err = {0};
    char *path = txm_asprintf("%s/golden/config.ocio", getenv("TXM_TESTDATA"));
    txm_color_options options = {
        .struct_size = sizeof(txm_color_options), .ocio_path = path, .ignore_environment = true};
    ck_assert_msg(txm_color_load(&options, &config, &err) == TXM_OK, "%s", err.message);
    free(path);
}

static void free_config(void)
{
    txm_color_free(&config);
}

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
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "", "Linear", LINEAR, TXM_ALPHA_PREMULTIPLIED, LINEAR},
    {"a.exr", "openexr", TXM_TYPE_U8, 1, "", "Linear", LINEAR, TXM_ALPHA_PREMULTIPLIED, "sRGB"}, /* uint channels */
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "lin_ap1_scene", "Linear", "ACEScg", TXM_ALPHA_PREMULTIPLIED,
     "lin_ap1_scene"},
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "lin_ap0_scene", "Linear", "ACES2065-1", TXM_ALPHA_PREMULTIPLIED,
     "lin_ap0_scene"},
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "g99_unheard_of", "Linear", LINEAR, TXM_ALPHA_PREMULTIPLIED, LINEAR},
    {"a.exr", "openexr", TXM_TYPE_HALF, 4, "Non-Color", "Linear", "Non-Color", TXM_ALPHA_PREMULTIPLIED, "Non-Color"},
    {"a.hdr", "hdr", TXM_TYPE_FLOAT, 3, "", "Linear", LINEAR, TXM_ALPHA_PREMULTIPLIED, LINEAR},
    {"a.dpx", "dpx", TXM_TYPE_U16, 3, "", "KodakLog", LINEAR, TXM_ALPHA_PREMULTIPLIED, "sRGB"},
    {"a.cin", "cineon", TXM_TYPE_U16, 3, "", "KodakLog", LINEAR, TXM_ALPHA_PREMULTIPLIED, "sRGB"},
    {"a.png", "png", TXM_TYPE_U8, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.png", "png", TXM_TYPE_U16, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.png", "png", TXM_TYPE_U8, 3, "g24_rec709_display", "sRGB", "Rec.1886", TXM_ALPHA_STRAIGHT,
     "g24_rec709_display"},
    {"a.png", "png", TXM_TYPE_U8, 3, "pq_p3d65_display", "", "sRGB", TXM_ALPHA_STRAIGHT,
     "sRGB"}, /* not in this config */
    {"a.png", "png", TXM_TYPE_U8, 4, "Non-Color", "sRGB", "Non-Color", TXM_ALPHA_CHANNEL_PACKED, "Non-Color"},
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
    /* Formats that Blender does not read: by sample type. */
    {"a.pfm", "pnm", TXM_TYPE_FLOAT, 3, "", "Linear", LINEAR, TXM_ALPHA_STRAIGHT, LINEAR},
    {"a.ppm", "pnm", TXM_TYPE_U16, 3, "", "Rec709", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    {"a.fits", "fits", TXM_TYPE_FLOAT, 1, "", "", LINEAR, TXM_ALPHA_STRAIGHT, LINEAR},
    {"a.gif", "gif", TXM_TYPE_U8, 4, "", "sRGB", "sRGB", TXM_ALPHA_STRAIGHT, "sRGB"},
    /* The name counts where the content does not decide. */
    {"a.hdr", "png", TXM_TYPE_U8, 4, "", "sRGB", "sRGB", TXM_ALPHA_PREMULTIPLIED, "sRGB"},
    {"a.png", "openexr", TXM_TYPE_HALF, 4, "", "Linear", LINEAR, TXM_ALPHA_PREMULTIPLIED, LINEAR},
};

START_TEST(defaults_by_format)
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
END_TEST

/* Gammas that have an interop id, for literal auto alone: the built-in config knows them. */
START_TEST(gammas_of_auto)
{
    static const char *const hints[][2] = {
        {"Gamma2.2", "g22_rec709_scene"}, {"Gamma1.8", "g18_rec709_scene"}, {"Gamma3", "sRGB"}};
    const txm_color_options options = {.struct_size = sizeof(txm_color_options), .ignore_environment = true};
    txm_color_config *c = NULL;
    ck_assert_int_eq(txm_color_load(&options, &c, NULL), TXM_OK);
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        txm_source_info info = {.type = TXM_TYPE_U8, .channels = 3, .file_channels = 3, .format = "png"};
        const char *space = NULL;
        strcpy(info.colorspace_hint, hints[i][0]);
        ck_assert_str_eq(txm_source_auto_space(&info, c), hints[i][1]);
        ck_assert_int_eq(txm_source_scene_defaults(&info, "a.png", c, &space, NULL), TXM_OK);
        ck_assert_str_eq(space, "sRGB");
    }
    txm_color_free(&c);
}
END_TEST

/* A file rule counts before the role and after the file's own metadata; the default rule never counts. */
START_TEST(file_rules)
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
END_TEST

START_TEST(code_points)
{
    ck_assert_str_eq(txm_interop_from_cicp(1, 13), "srgb_rec709_display");
    ck_assert_str_eq(txm_interop_from_cicp(9, 16), "pq_rec2020_display");
    ck_assert_str_eq(txm_interop_from_cicp(12, 13), "srgb_p3d65_display");
    ck_assert_str_eq(txm_interop_from_cicp(2, 2), "");
    ck_assert_str_eq(txm_interop_from_cicp(255, 0), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("source_defaults");
    TCase *defaults = add_case(suite, "defaults");
    tcase_add_unchecked_fixture(defaults, load_config, free_config);
    tcase_add_loop_test(defaults, defaults_by_format, 0, sizeof cases / sizeof cases[0]);
    add_tests(defaults, gammas_of_auto, file_rules, code_points);
    return run_suite(suite);
}
