/* SPDX-License-Identifier: Apache-2.0
 * Parts of the room color: the matrix of names, a Blender in PATH, releases, Cycles' own sRGB, fingerprints. */
#include "base/fail.h"
#include "mill/color/config.h"
#include "tile/ops/arith.h"
#include "txmill/color.h"
#include "util_check.h"

static txm_color_config *load(void)
{
    const txm_color_options options = {.struct_size = sizeof options, .ignore_environment = true};
    txm_color_config *config = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_color_load(&options, &config, &err) == TXM_OK, "%s", err.message);
    return config;
}

/* ---- the matrix -------------------------------------------------------------------------------------------------- */

/* Makes a config whose space "other" has this matrix to scene_linear's space. `role` leads to "other", unless it is
 * NULL. */
static txm_status matrix_of(const char *role, const char *matrix, txm_color_config *config, txm_error *err)
{
    char text[1024], named[64] = "";
    static txm_color_library library;
    if (role)
        snprintf(named, sizeof named, ", %s: other", role);
    snprintf(text, sizeof text,
             "ocio_profile_version: 1\nroles: {default: lin, scene_linear: lin%s}\n"
             "displays:\n  d:\n    - !<View> {name: v, colorspace: lin}\n"
             "colorspaces:\n  - !<ColorSpace> {name: lin}\n"
             "  - !<ColorSpace>\n    name: other\n    from_reference: !<MatrixTransform> {matrix: [%s]}\n",
             named, matrix);
    *config = (txm_color_config){.name = (char *)"test.ocio", .library = &library};
    ck_assert_msg(txm_ocio_from_text(text, strlen(text), NULL, false, &library.ocio, err) == TXM_OK, "%s",
                  err->message);
    txm_status status = txm_color_compute_matrix(config, err);
    txm_ocio_free(&library.ocio);
    return status;
}

TEST(matrices_come_from_interchange_roles)
{
    static const char rec709[] = "3.24_-1.537_-0.4985_0_-0.9693_1.876_0.04156_0_0.05564_-0.204_1.057_0";
    static const char halves[] = "0.5, 0, 0, 0, 0, 0.25, 0, 0, 0, 0, 0.125, 0, 0, 0, 0, 1";
    static const char flat[] = "1, 1, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1";
    txm_color_config c;
    txm_error err = {0};
    ck_assert_int_eq(matrix_of("XYZ", halves, &c, &err), TXM_OK);
    ck_assert_str_eq(c.matrix_texts[0], "2_0_0_0_0_4_0_0_0_0_8_0");
    ck_assert(c.matrix[0] == 2.0f && c.matrix[5] == 4.0f && c.matrix[3] == 0.0f);
    ck_assert_str_eq(c.interop_id, "");
    /* Without a role, or with a role whose conversion is not a matrix, Cycles falls back to Rec.709. */
    ck_assert_int_eq(matrix_of(NULL, halves, &c, &err), TXM_OK);
    ck_assert_str_eq(c.matrix_texts[0], rec709);
    ck_assert_str_eq(c.interop_id, "lin_rec709_scene");
    ck_assert_int_eq(matrix_of("XYZ", flat, &c, &err), TXM_OK);
    ck_assert_str_eq(c.matrix_texts[0], rec709);
    /* The ACES role has precedence over XYZ and is adapted to the other white. */
    ck_assert_int_eq(matrix_of("aces_interchange", "1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1", &c, &err), TXM_OK);
    ck_assert_str_ne(c.matrix_texts[0], rec709);
    ck_assert_float_eq_tol(c.matrix[0], 1.0634955f, 1e-4f); /* CIE XYZ (D65) to ACES2065-1 */
    /* If txmill itself left the space out of the config, this is an error, because Cycles would have another matrix. */
    txm_color_missing missing = {.name = (char *)"other"};
    txm_color_config lacking = {.name = (char *)"test.ocio", .missing = {&missing, 1, 1}};
    txm_color_library library = {0};
    static const char text[] = "ocio_profile_version: 1\nroles: {default: lin, scene_linear: lin, XYZ: other}\n"
                               "displays:\n  d:\n    - !<View> {name: v, colorspace: lin}\n"
                               "colorspaces:\n  - !<ColorSpace> {name: lin}\n";
    lacking.library = &library;
    ck_assert_int_eq(txm_ocio_from_text(text, strlen(text), NULL, false, &library.ocio, &err), TXM_OK);
    ck_assert_int_eq(txm_color_compute_matrix(&lacking, &err), TXM_STATUS_CONFIG);
    ck_assert_ptr_nonnull(strstr(err.message, "role XYZ"));
    lacking.missing.count = 0;
    ck_assert_int_eq(txm_color_compute_matrix(&lacking, &err), TXM_OK);
    ck_assert_str_eq(lacking.matrix_texts[0], rec709);
    txm_ocio_free(&library.ocio);
}

/* A context that must ignore the environment does not search PATH, and a config that was found is kept. */
TEST(a_blender_in_path_lends_its_config)
{
    char folder[] = "/tmp/txm-XXXXXX", text[4096];
    txm_ocio *first = NULL, *second = NULL;
    SCOPED(txm_color_free) txm_color_config *alone = load(), *config = NULL;
    const txm_color_options options = {.struct_size = sizeof options};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(text, sizeof text,
             "mkdir -p %s/9.1/datafiles/colormanagement && touch %s/blender && chmod +x %s/blender && "
             "cp '%s/golden/config.ocio' %s/9.1/datafiles/colormanagement",
             folder, folder, folder, getenv("TXM_TESTDATA"), folder);
    ck_assert_int_eq(system(text), 0);
    unsetenv("OCIO");
    FREED char *kept = strdup(getenv("PATH"));
    setenv("PATH", folder, 1);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_blenders(alone, &first, NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_color_blenders(config, &first, NULL), TXM_OK);
    setenv("PATH", kept, 1);
    ck_assert_int_eq(txm_color_blenders(config, &second, NULL), TXM_OK);
    ck_assert(first && first == second);
    snprintf(text, sizeof text, "rm -r %s", folder);
    ck_assert_int_eq(system(text), 0);
}

TEST(versions_have_names_and_matrices)
{
    txm_blender b = TXM_BLENDER_NEWEST;
    ck_assert(txm_blender_parse("5.3", &b) && b == TXM_BLENDER_5_3);
    ck_assert(txm_blender_parse("5.2.14", &b) && b == TXM_BLENDER_5_2);
    ck_assert(!txm_blender_parse("5.20", &b) && !txm_blender_parse("5.3.", &b) && !txm_blender_parse("", &b));
    ck_assert(b == TXM_BLENDER_5_2);
    ck_assert_str_eq(txm_blender_name(TXM_BLENDER_NEWEST), txm_release_names[TXM_RELEASE_COUNT - 1]);
    ck_assert_str_eq(txm_blender_name((txm_blender)1), "");
    ck_assert_int_eq(txm_blender_index((txm_blender)1), -1);
    for (int i = 0; i < TXM_RELEASE_COUNT; i++)
        ck_assert_int_eq(txm_blender_index(txm_blender_versions()[i]), i);
    ck_assert(txm_blender_versions()[TXM_RELEASE_COUNT] == TXM_BLENDER_NEWEST);
    /* Both texts exist, whichever version the config is for; the id depends on the version. */
    txm_color_config c;
    txm_error err = {0};
    static const char halves[] = "0.5, 0, 0, 0, 0, 0.25, 0, 0, 0, 0, 0.125, 0, 0, 0, 0, 1";
    ck_assert_int_eq(matrix_of(NULL, halves, &c, &err), TXM_OK);
    ck_assert_str_eq(txm_color_xyz_text_of(&c, TXM_BLENDER_5_3),
                     "3.241_-1.537_-0.4986_0_-0.9692_1.876_0.04156_0_0.05563_-0.204_1.057_0");
    ck_assert_str_eq(c.srgb_interop_id, "srgb_rec709_scene");
    ck_assert_int_eq(matrix_of("XYZ", halves, &c, &err), TXM_OK);
    ck_assert_str_eq(c.matrix_texts[0], c.matrix_texts[1]);
    ck_assert_str_eq(c.srgb_interop_id, "");
    txm_color_options options;
    txm_color_options_init(&options);
    options.blender = (txm_blender)501;
    txm_color_config *none = NULL;
    ck_assert_int_eq(txm_color_load(&options, &none, &err), TXM_STATUS_USAGE);
}

TEST(builtin_srgb_is_encoded_or_decoded)
{
    txm_color_config c = {.blender = TXM_BLENDER_5_2, .srgb_interop_id = "srgb_rec709_scene"};
    txm_color_space space = {.name = txm_builtin_srgb_name};
    txm_error err = {0};
    float pixel[8] = {0.5f, 0.002f, -1.0f, 0.25f, 1.0f, 0.0f, 2.0f, 1.0f};
    ck_assert_int_eq(txm_builtin_srgb_build(&c, &space, &err), TXM_OK);
    ck_assert_int_eq(space.color_class, TXM_COLOR_CLASS_OTHER);
    txm_builtin_srgb_apply(space.builtin, pixel, 2);
    ck_assert_float_eq_tol(pixel[0], 0.7353569f, 1e-6f);
    ck_assert_float_eq_tol(pixel[1], 0.02584f, 1e-7f);
    ck_assert(pixel[2] == 0.0f && pixel[3] == 0.25f && pixel[7] == 1.0f);
    char encoded[200];
    snprintf(encoded, sizeof encoded, "%s", txm_builtin_srgb_id(space.builtin));
    free(space.builtin);
    /* Rec.709 itself needs no matrix. */
    c.blender = TXM_BLENDER_5_3;
    space = (txm_color_space){.name = txm_builtin_srgb_name};
    ck_assert_int_eq(txm_builtin_srgb_build(&c, &space, &err), TXM_OK);
    ck_assert_int_eq(space.color_class, TXM_COLOR_CLASS_OTHER);
    float coded[8] = {0.7353569f, 0.02584f, 0.5f, 0.25f, 0.5f, 0.5f, 0.5f, 1.0f}, mean;
    txm_builtin_srgb_apply_grey(space.builtin, coded + 4, &mean, 1);
    ck_assert_float_eq_tol(mean, txm_srgb_decode_grey(0.5f), 1e-7f);
    txm_builtin_srgb_apply(space.builtin, coded, 1);
    ck_assert_float_eq_tol(coded[0], 0.5f, 1e-5f);
    ck_assert_float_eq(coded[2], txm_srgb_decode_rgba(0.5f));
    free(space.builtin);
    /* The working space has half the values of Rec.709. */
    const txm_matrix3 *rec709 = &txm_releases.xyz_to_rec709[txm_release_column(TXM_BLENDER_5_3)];
    for (int k = 0; k < 12; k++)
        c.matrix[k] = k % 4 == 3 ? 0.0f : (*rec709)[k / 4][k % 4] * 0.5f;
    c.srgb_interop_id = "";
    ck_assert_int_eq(txm_builtin_srgb_build(&c, &space, &err), TXM_OK);
    ck_assert_str_ne(encoded, txm_builtin_srgb_id(space.builtin));
    float grey[4] = {0.7353569f, 0.02584f, 1.0f, 1.0f};
    txm_builtin_srgb_apply(space.builtin, grey, 1);
    ck_assert_float_eq_tol(grey[0], 0.25f, 1e-5f);
    ck_assert_float_eq_tol(grey[1], 0.001f, 1e-5f);
    ck_assert_float_eq_tol(grey[2], 0.5f, 1e-5f);
    free(space.builtin);
    txm_matrix3 singular = {{1, 1, 0}, {1, 1, 0}, {0, 0, 1}}, out;
    ck_assert(!txm_matrix_invert((const float(*)[3])singular, out));
    txm_matrix_multiply(*rec709, (const float(*)[3])singular, out);
    ck_assert(out[0][0] == out[0][1]);
}

/* ---- fingerprints ------------------------------------------------------------------------------------------------ */

/* Changes a digit to the next one. */
static void step(char *digit)
{
    *digit = *digit == '0' ? '1' : *digit == 'A' ? '9' : (char)(*digit - 1);
}

TEST(fingerprints_follow_the_transform)
{
    txm_color_config c = {.blender = TXM_BLENDER_5_2, .srgb_interop_id = "srgb_rec709_scene"};
    txm_color_space space = {.name = txm_builtin_srgb_name};
    txm_error err = {0};
    ck_assert_int_eq(txm_builtin_srgb_build(&c, &space, &err), TXM_OK);
    txm_color_take_fingerprint(&space);
    char text[TXM_FINGERPRINT_BYTES];
    snprintf(text, sizeof text, "%s", txm_color_fingerprint(&space));
    size_t digits = (size_t)(strchr(text, ' ') + 1 - text);
    ck_assert_uint_eq(strlen(text) - digits, 27 * 8);
    ck_assert(txm_color_fingerprint_fits(&space, text));
    /* The last bits of a number may differ, its upper half may not. Between versions of OpenColorIO it may differ
     * altogether. */
    step(&text[digits + 7]);
    ck_assert(txm_color_fingerprint_fits(&space, text));
    step(&text[digits + 4]);
    ck_assert(!txm_color_fingerprint_fits(&space, text));
    text[0] = 'x';
    ck_assert(txm_color_fingerprint_fits(&space, text));
    step(&text[digits + 2]);
    ck_assert(!txm_color_fingerprint_fits(&space, text));
    /* A class differs from numbers and from other classes. Other text proves nothing. */
    ck_assert(!txm_color_fingerprint_fits(&space, "data"));
    static const char *const nothing[] = {"", " ", "2.1.2", "2.1.2 ", "2.1.2 ZZ", "scene", "2.1.2 00"};
    for (size_t i = 0; i < sizeof nothing / sizeof *nothing; i++)
        ck_assert(txm_color_fingerprint_fits(&space, nothing[i]));
    memcpy(text + digits, "7F800000", 8); /* infinite */
    ck_assert(txm_color_fingerprint_fits(&space, text));
    text[digits + 27 * 8 - 1] = 0;
    ck_assert(txm_color_fingerprint_fits(&space, text));
    free(space.builtin);
    space = (txm_color_space){.name = "x", .color_class = TXM_COLOR_CLASS_SRGB};
    ck_assert(txm_color_fingerprint_fits(&space, "scene_linear_srgb"));
    ck_assert(!txm_color_fingerprint_fits(&space, "scene_linear"));
}
