/* SPDX-License-Identifier: Apache-2.0
 * Parts of the room color: what is known without loading a config, where a config comes from, similar names, missing
 * spaces, the matrix of names, configs as trees. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "mill/color/config.h"
#include "mill/color/known.h"
#include "mill/color/reduce.h"
#include "mill/color/tree.h"
#include "tile/ops/arith.h"
#include "txmill/color.h"
#include "util_check.h"

START_TEST(the_built_in_config_is_known)
{
    const txm_known_config *k = &txm_builtin_known;
    ck_assert_uint_gt(k->space_count, 10);
    ck_assert_str_eq(txm_known_canonical(k, "sRGB"), txm_known_canonical(k, "srgb"));
    ck_assert_str_eq(txm_known_canonical(k, "non-color"), "Non-Color");
    ck_assert_ptr_null(txm_known_canonical(k, "no such space"));
    const char *linear = txm_known_role_space(k, "scene_linear");
    ck_assert_ptr_nonnull(linear);
    ck_assert_str_eq(txm_known_role_space(k, "Scene_Linear"), linear);
    ck_assert_str_eq(txm_known_canonical(k, "scene_linear"), linear);
    ck_assert_ptr_null(txm_known_role_space(k, "no such role"));
    /* Every alias leads to its space. */
    for (size_t i = 0; i < k->space_count; i++)
        for (const char *const *alias = k->spaces[i].aliases; *alias; alias++)
            ck_assert_str_eq(txm_known_canonical(k, *alias), k->spaces[i].name);
}
END_TEST

static txm_color_config *load(void)
{
    const txm_color_options options = {.struct_size = sizeof options, .ignore_environment = true};
    txm_color_config *config = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_color_load(&options, &config, &err) == TXM_OK, "%s", err.message);
    return config;
}

/* The table that the build wrote must say the same as OpenColorIO. */
START_TEST(the_matrix_is_that_of_linear_rec709)
{
    static const float rec709[3][3] = {
        {3.2404f, -1.5371f, -0.4985f}, {-0.9693f, 1.8760f, 0.0416f}, {0.0556f, -0.2040f, 1.0572f}};
    txm_color_config *config = load();
    float matrix[12];
    txm_color_xyz_to_scene_linear(config, matrix);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            ck_assert_msg(fabsf(matrix[4 * r + c] - rec709[r][c]) < 2e-3f, "%d,%d: %g", r, c,
                          (double)matrix[4 * r + c]);
    txm_color_free(&config);
}
END_TEST

static const char *suggestion(const char *name)
{
    static txm_error err;
    txm_color_config *config = load();
    txm_error_clear(&err);
    txm_fail(&err, TXM_STATUS_COLORSPACE, "unknown");
    txm_color_suggest(config, name, &err);
    txm_color_suggest(config, name, NULL);
    txm_color_free(&config);
    return err.message;
}

START_TEST(near_names_are_suggested)
{
    ck_assert_ptr_nonnull(strstr(suggestion("sRBG"), "did you mean \"sRGB\""));
    ck_assert_ptr_nonnull(strstr(suggestion("non-colour"), "\"Non-Color\""));
    ck_assert_ptr_nonnull(strstr(suggestion("rec.709"), "Rec.709"));
    ck_assert_str_eq(suggestion("qqqqqqqqqqqqqqqq"), "unknown; 'txmill colorspaces' lists its names");
}
END_TEST

START_TEST(blenders_variable_hides_the_other)
{
    unsetenv("OCIO");
    ck_assert_ptr_null(txm_color_variable());
    setenv("OCIO", "/studio.ocio", 1);
    ck_assert_str_eq(txm_color_variable(), "OCIO");
    setenv("BLENDER_OCIO", "", 1);
    ck_assert_str_eq(txm_color_variable(), "BLENDER_OCIO");
    unsetenv("BLENDER_OCIO");
    unsetenv("OCIO");
}
END_TEST

START_TEST(advice_follows_the_reason)
{
    txm_error err = {0};
    txm_fail(&err, TXM_STATUS_CONFIG, "studio.ocio: broken");
    txm_color_advise(&err);
    ck_assert_int_eq(strncmp(err.message, "studio.ocio: broken; name another", 33), 0);
    ck_assert_int_eq(strncmp(txm_error_advice(&err), "name another", 12), 0);
    txm_color_advise(NULL);
}
END_TEST

START_TEST(missing_spaces_own_their_strings)
{
    txm_color_missing_list list = {0};
    for (int i = 0; i < 20; i++) {
        txm_color_missing *m = txm_color_missing_add(&list);
        ck_assert_ptr_nonnull(m);
        ck_assert_ptr_null(m->name);
        m->name = strdup("space");
        m->aliases = calloc(2, sizeof *m->aliases);
        m->aliases[0] = strdup("alias");
    }
    ck_assert_uint_eq(list.count, 20);
    txm_color_missing_free(&list);
    ck_assert_ptr_null(list.items);
    txm_color_missing_free(&list);
    txm_color_missing_free(NULL);
}
END_TEST

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

START_TEST(matrices_come_from_interchange_roles)
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
END_TEST

/* A context that must ignore the environment does not search PATH, and a config that was found is kept. */
START_TEST(a_blender_in_path_lends_its_config)
{
    char folder[] = "/tmp/txm-XXXXXX", text[4096];
    txm_ocio *first = NULL, *second = NULL;
    txm_color_config *alone = load(), *config = NULL;
    const txm_color_options options = {.struct_size = sizeof options};
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(text, sizeof text,
             "mkdir -p %s/9.1/datafiles/colormanagement && touch %s/blender && chmod +x %s/blender && "
             "cp '%s/golden/config.ocio' %s/9.1/datafiles/colormanagement",
             folder, folder, folder, getenv("TXM_TESTDATA"), folder);
    ck_assert_int_eq(system(text), 0);
    unsetenv("OCIO");
    char *kept = strdup(getenv("PATH"));
    setenv("PATH", folder, 1);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_blenders(alone, &first, NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_color_blenders(config, &first, NULL), TXM_OK);
    setenv("PATH", kept, 1);
    ck_assert_int_eq(txm_color_blenders(config, &second, NULL), TXM_OK);
    ck_assert(first && first == second);
    snprintf(text, sizeof text, "rm -r %s", folder);
    ck_assert_int_eq(system(text), 0);
    txm_color_free(&config);
    txm_color_free(&alone);
    free(kept);
}
END_TEST

START_TEST(versions_have_names_and_matrices)
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
END_TEST

START_TEST(builtin_srgb_is_encoded_or_decoded)
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
END_TEST

/* ---- fingerprints ------------------------------------------------------------------------------------------------ */

/* Changes a digit to the next one. */
static void step(char *digit)
{
    *digit = *digit == '0' ? '1' : *digit == 'A' ? '9' : (char)(*digit - 1);
}

START_TEST(fingerprints_follow_the_transform)
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
END_TEST

/* ---- trees ------------------------------------------------------------------------------------------------------- */

static const char tree_text[] = "a: one\n"
                                "list: [x, &second y, z]\n"
                                "map: !<Tag> {k: v, again: *second}\n"
                                "a: shadowed\n";

static const char *written(txm_tree *tree)
{
    static char text[1024];
    txm_bytes out = {0};
    ck_assert_int_eq(txm_tree_write(tree, &out, NULL), TXM_OK);
    snprintf(text, sizeof text, "%.*s", (int)out.size, out.data);
    txm_bytes_free(&out);
    return text;
}

START_TEST(trees_are_read_and_written_without_what_was_dropped)
{
    txm_tree t;
    int key = 0;
    ck_assert_int_eq(txm_tree_load(&t, tree_text, strlen(tree_text), NULL), TXM_OK);
    int root = txm_tree_root(&t), list = txm_tree_value(&t, root, "list"), map = txm_tree_value(&t, root, "map");
    ck_assert_int_eq(root, 1);
    ck_assert_str_eq(txm_tree_text(&t, txm_tree_value(&t, root, "a")), "one");
    ck_assert_uint_eq(txm_tree_count(&t, root), 4);
    ck_assert_uint_eq(txm_tree_count(&t, list), 3);
    ck_assert_str_eq(txm_tree_text(&t, txm_tree_item(&t, list, 2, NULL)), "z");
    ck_assert_str_eq(txm_tree_text(&t, txm_tree_item(&t, map, 1, &key)), "y");
    ck_assert_str_eq(txm_tree_text(&t, key), "again");
    /* A node of another type, and nodes that do not exist. */
    ck_assert_ptr_null(txm_tree_text(&t, list));
    ck_assert_ptr_null(txm_tree_text(&t, 0));
    ck_assert_ptr_null(txm_tree_text(&t, 9999));
    ck_assert_int_eq(txm_tree_value(&t, list, "a"), 0);
    ck_assert_int_eq(txm_tree_value(&t, root, "b"), 0);
    ck_assert_uint_eq(txm_tree_count(&t, txm_tree_value(&t, root, "a")), 0);
    /* Values are dropped and restored; nodes out of range are ignored. */
    txm_tree_drop(&t, list, true);
    txm_tree_drop(&t, 9999, true);
    txm_tree_drop(&t, -1, true);
    ck_assert(txm_tree_is_dropped(&t, list) && !txm_tree_is_dropped(&t, map) && !txm_tree_is_dropped(&t, 9999));
    ck_assert_ptr_null(strstr(written(&t), "list"));
    ck_assert_ptr_nonnull(strstr(written(&t), "!<Tag>"));
    txm_tree_drop(&t, list, false);
    txm_tree_drop(&t, txm_tree_item(&t, list, 0, NULL), true);
    ck_assert_ptr_nonnull(strstr(written(&t), "list: [y, z]"));
    /* The text that an alias repeats is written out. */
    ck_assert_ptr_nonnull(strstr(written(&t), "again: y"));
    txm_tree_free(&t);
    txm_tree_free(&t);
}
END_TEST

START_TEST(trees_are_edited)
{
    static const char *const entries[][2] = {{"name", "new"}, {"colorspace", "raw"}};
    txm_tree t;
    ck_assert_int_eq(txm_tree_load(&t, tree_text, strlen(tree_text), NULL), TXM_OK);
    int root = txm_tree_root(&t);
    ck_assert(txm_tree_set(&t, root, "a", "two"));
    ck_assert(!txm_tree_set(&t, root, "b", "three"));
    ck_assert(!txm_tree_set(&t, txm_tree_value(&t, root, "list"), "a", "three"));
    ck_assert(txm_tree_append(&t, root, "list", "w"));
    ck_assert(txm_tree_append(&t, root, "fresh", "first"));
    ck_assert(!txm_tree_append(&t, txm_tree_value(&t, root, "a"), "fresh", "no mapping"));
    ck_assert(txm_tree_append_mapping(&t, root, "made", "View", entries, 2));
    const char *text = written(&t);
    ck_assert_ptr_nonnull(strstr(text, "a: two"));
    ck_assert_ptr_nonnull(strstr(text, "list: [x, y, z, w]"));
    ck_assert_ptr_nonnull(strstr(text, "fresh: [first]"));
    ck_assert_ptr_nonnull(strstr(text, "name: new, colorspace: raw"));
    /* Values that were added after loading cannot be dropped. */
    int fresh = txm_tree_value(&t, root, "fresh");
    txm_tree_drop(&t, fresh, true);
    ck_assert(!txm_tree_is_dropped(&t, fresh));
    txm_tree_free(&t);
}
END_TEST

START_TEST(what_is_no_yaml_is_refused)
{
    static const char *const wrong[] = {"a: [1, 2", "a: *nowhere", "\x01", "a: b: c", "a: \"open"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        txm_tree t;
        txm_error err = {0};
        ck_assert_msg(txm_tree_load(&t, wrong[i], strlen(wrong[i]), &err) == TXM_STATUS_CONFIG, "%s", wrong[i]);
        ck_assert_int_eq(strncmp(err.message, "invalid YAML: ", 14), 0);
        txm_tree_free(&t);
    }
    txm_tree empty;
    ck_assert_int_eq(txm_tree_load(&empty, "", 0, NULL), TXM_OK);
    ck_assert_int_eq(txm_tree_root(&empty), 0);
    ck_assert_int_eq(txm_tree_value(&empty, 0, "a"), 0);
    txm_tree_free(&empty);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("parts of color");
    TCase *t = add_case(suite, "parts");
    tcase_set_timeout(t, 60);
    add_tests(t, the_built_in_config_is_known, the_matrix_is_that_of_linear_rec709, near_names_are_suggested,
              blenders_variable_hides_the_other, advice_follows_the_reason, missing_spaces_own_their_strings,
              matrices_come_from_interchange_roles, a_blender_in_path_lends_its_config,
              versions_have_names_and_matrices, builtin_srgb_is_encoded_or_decoded, fingerprints_follow_the_transform,
              trees_are_read_and_written_without_what_was_dropped, trees_are_edited, what_is_no_yaml_is_refused);
    return run_suite(suite);
}
