/* SPDX-License-Identifier: Apache-2.0
 * Parts of the rooms convert and batch that otherwise are only reached through whole conversions. */
#include <sys/stat.h>

#include "base/fail.h"
#include "mill/convert/conform.h"
#include "mill/convert/resolve.h"
#include "mill/farm/batch.h"
#include "mill/farm/store.h"
#include "tile/terms/releases.h"
#include "txmill/color.h"
#include "txmill/garbage.h"
#include "txmill/out_file.h"
#include "util_batch.h"
#include "util_check.h"
#include "util_tx.h"
#include "util_writer.h"

/* ---- conversions of pixels --------------------------------------------------------------------------------------- */

typedef struct spaces {
    txm_color_config *config;
    const txm_color_space *data, *srgb, *other;
} spaces;

static const txm_color_space *space_of(const txm_color_config *config, const char *name)
{
    const txm_color_space *space = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_color_find(config, name, &space, &err) == TXM_OK, "%s", err.message);
    return space;
}

static spaces load_spaces(void)
{
    const txm_color_options options = {.struct_size = sizeof options, .ignore_environment = true};
    spaces s = {0};
    ck_assert_int_eq(txm_color_load(&options, &s.config, NULL), TXM_OK);
    s.data = space_of(s.config, "Non-Color");
    s.srgb = space_of(s.config, "sRGB");
    s.other = space_of(s.config, "ACEScg");
    return s;
}

/* 5.2 multiplies by alpha in files of four channels; 5.3 in those of two and of five and more too. Only the levels of
 * channel-packed sRGB with alpha differ otherwise. */
TEST(releases_differ_in_alpha)
{
    static const txm_alpha alphas[] = {TXM_ALPHA_STRAIGHT, TXM_ALPHA_PREMULTIPLIED, TXM_ALPHA_CHANNEL_PACKED,
                                       TXM_ALPHA_NONE, TXM_ALPHA_AUTO};
    spaces s = load_spaces();
    const txm_color_space *const all[] = {s.data, s.srgb, s.other};
    txm_settings settings;
    txm_settings_init(&settings);
    for (uint32_t channels = 1; channels <= 40; channels++)
        for (int a = 0; a < 5; a++)
            for (int i = 0; i < 3; i++)
                for (int told = 0; told < 2; told++) {
                    char older[TXM_KEY_HEX], newer[TXM_KEY_HEX], names[64];
                    const txm_source_info info = {.width = 64,
                                                  .height = 64,
                                                  .file_channels = channels,
                                                  .channels = channels < 4 ? channels : 4,
                                                  .type = TXM_TYPE_U8,
                                                  .file_alpha =
                                                      told ? TXM_FILE_ALPHA_UNASSOCIATED : TXM_FILE_ALPHA_SILENT};
                    const bool odd = channels == 2 || channels > 4;
                    const bool differ =
                        (odd && i > 0 && (alphas[a] == TXM_ALPHA_STRAIGHT || (alphas[a] == TXM_ALPHA_AUTO && told))) ||
                        ((odd || channels == 4) && i == 1 && alphas[a] == TXM_ALPHA_CHANNEL_PACKED);
                    const txm_release_image image = {&info, txm_color_space_class(all[i]), alphas[a], TXM_BLENDER_5_3};
                    ck_assert_int_eq(txm_releases_of(&image, names, sizeof names), differ);
                    ck_assert_str_eq(names, differ ? strchr(TXM_RELEASES_SPACED, ' ') + 1 : TXM_RELEASES_SPACED);
                    txm_settings_key(&info, all[i], alphas[a], TXM_BLENDER_5_2, &settings, older);
                    txm_settings_key(&info, all[i], alphas[a], TXM_BLENDER_5_3, &settings, newer);
                    ck_assert_int_eq(strcmp(older, newer) != 0, differ);
                }
    txm_color_free(&s.config);
}

/* What a file records about its release, and what follows for 5.3. */
TEST(releases_are_read_from_files)
{
    static const struct {
        const char *recorded, *requested;
        unsigned channels;
        txm_fitting fits;
        const char *says;
    } cases[] = {
        {"5.3", "sRGB", 4, TXM_FITTING_YES, ""},
        {"5.2 5.3", "sRGB", 4, TXM_FITTING_YES, ""},
        {"5.2", "sRGB", 4, TXM_FITTING_NO, "made for Blender 5.2: Blender 5.3 shows old pixels"},
        {NULL, "sRGB", 4, TXM_FITTING_NO, "made for Blender 5.2: Blender 5.3 shows old pixels"},
        {NULL, "sRGB", 1, TXM_FITTING_YES, ""},
        {NULL, "", 4, TXM_FITTING_UNKNOWN, "unless 5.3 did, Blender 5.3 shows other pixels"},
        {"6.7 7.0", "sRGB", 4, TXM_FITTING_NO, "made for Blender 6.7 7.0: Blender 5.3 shows newer pixels"},
        {"6.7 5.3", "sRGB", 4, TXM_FITTING_YES, ""},
        {"", "sRGB", 4, TXM_FITTING_UNKNOWN, "it does not record"},
        {"  rubbish 5.30 %s%n 5..3 5.3x ", "sRGB", 4, TXM_FITTING_UNKNOWN, "it does not record"},
    };
    const txm_source_info info = {.file_channels = 2, .channels = 2, .file_alpha = TXM_FILE_ALPHA_UNASSOCIATED};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char why[256] = "";
        txm_tx_description d = {.releases = (char *)cases[i].recorded, .average_count = cases[i].channels};
        snprintf(d.requested, sizeof d.requested, "%s", cases[i].requested);
        const txm_release_image image = {&info, TXM_COLOR_CLASS_SRGB, TXM_ALPHA_STRAIGHT, TXM_BLENDER_5_3};
        ck_assert_int_eq(txm_release_fits(&image, &d, why, sizeof why), cases[i].fits);
        ck_assert_msg(strstr(why, cases[i].says), "%zu: %s", i, why);
    }
}

/* Keys are equal if and only if the pixels are equal. */
TEST(settings_keys_tell_pixels_apart)
{
    enum { KEYS = 5 };
    char key[KEYS][TXM_KEY_HEX], other[TXM_KEY_HEX];
    spaces s = load_spaces();
    txm_settings settings;
    txm_settings_init(&settings);
    txm_source_info info = {.width = 64,
                            .height = 64,
                            .file_channels = 4,
                            .channels = 4,
                            .type = TXM_TYPE_U8,
                            .file_alpha = TXM_FILE_ALPHA_UNASSOCIATED};
    txm_settings_key(&info, s.srgb, TXM_ALPHA_STRAIGHT, TXM_BLENDER_5_2, &settings, key[0]);
    txm_settings_key(&info, s.data, TXM_ALPHA_STRAIGHT, TXM_BLENDER_5_2, &settings, key[1]);
    txm_settings_key(&info, s.other, TXM_ALPHA_STRAIGHT, TXM_BLENDER_5_2, &settings, key[2]);
    txm_settings_key(&info, s.srgb, TXM_ALPHA_NONE, TXM_BLENDER_5_2, &settings, key[3]);
    settings.equiangular = true;
    txm_settings_key(&info, s.srgb, TXM_ALPHA_STRAIGHT, TXM_BLENDER_5_2, &settings, key[4]);
    for (int i = 0; i < KEYS; i++)
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(key[i], key[j]);
    /* Tile size and compression do not change pixels. */
    settings.equiangular = false;
    settings.tile_px = 64;
    settings.compression = (txm_compression){TXM_CODEC_NONE, 0};
    txm_settings_key(&info, s.srgb, TXM_ALPHA_STRAIGHT, TXM_BLENDER_5_2, &settings, other);
    ck_assert_str_eq(other, key[0]);
    txm_color_free(&s.config);
}

/* ---- batches ----------------------------------------------------------------------------------------------------- */

TEST(contents_are_told_by_sha256)
{
    char hex[TXM_CONTENT_HEX];
    txm_error err = {0};
    volatile int cancel = 1;
    batch_enter();
    batch_file("abc", "abc");
    ck_assert_int_eq(txm_content_hash("abc", NULL, hex, &err), TXM_OK);
    ck_assert_str_eq(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    ck_assert_int_eq(txm_content_hash("nothing", NULL, hex, &err), TXM_STATUS_NOT_FOUND);
    txm_error_clear(&err);
    ck_assert_int_eq(txm_content_hash("abc", &cancel, hex, &err), TXM_STATUS_CANCELLED);
    batch_leave();
}

TEST(names_against_classes)
{
    ck_assert_uint_eq(txm_lint_settings("wood_normal.png", "scene_linear_srgb", 64, 64), TXM_LINT_DATA_AS_COLOR);
    ck_assert_uint_eq(txm_lint_settings("wood_normal.png", "data", 64, 64), 0);
    ck_assert_uint_eq(txm_lint_settings("wood_normal.exr", "scene_linear", 64, 64), 0);
    ck_assert_uint_eq(txm_lint_settings("wood_basecolor.png", "data", 64, 64), TXM_LINT_COLOR_AS_DATA);
    ck_assert_uint_eq(txm_lint_settings("wood.png", "data", 16385, 64), TXM_LINT_LARGE);
    ck_assert_str_eq(txm_lint_name(TXM_LINT_GREY), "grey-rgb");
    ck_assert_str_eq(txm_lint_name(TXM_LINT_END), "");
}

TEST(output_appears_whole_or_not_at_all)
{
    txm_out_file *f = NULL;
    txm_error err = {0};
    batch_enter();
    batch_file("log", "old");
    ck_assert_int_eq(txm_out_file_begin("log", false, &f, &err), TXM_OK);
    fputs("new", txm_out_file_stream(f));
    txm_out_file_abort(&f);
    ck_assert_ptr_null(f);
    size_t bytes;
    uint8_t *text = load_file("log", &bytes);
    ck_assert(bytes == 3 && !memcmp(text, "old", 3));
    free(text);
    ck_assert_int_eq(txm_out_file_begin("folder/log", false, &f, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_out_file_begin("folder/log", true, &f, &err), TXM_OK);
    fputs("new", txm_out_file_stream(f));
    ck_assert_int_eq(txm_out_file_commit(&f, &err), TXM_OK);
    text = load_file("folder/log", &bytes);
    ck_assert(bytes == 3 && !memcmp(text, "new", 3));
    free(text);
    ck_assert_uint_eq(batch_count(), 2);
    batch_leave();
}
