/* SPDX-License-Identifier: Apache-2.0
 * Parts of the room color: what is known without loading, where a config comes from, near names, missing spaces. */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "txmill/color.h"
#include "color/config.h"
#include "color/known.h"
#include "color/origin.h"
#include "color/reduce.h"
#include "core/fail.h"
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
    /* Every alias leads to its own space. */
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

/* The table that the build wrote says what the library would. */
START_TEST(the_matrix_is_that_of_linear_rec709)
{
    static const float rec709[3][3] = {{3.2404f, -1.5371f, -0.4985f}, {-0.9693f, 1.8760f, 0.0416f},
                                       {0.0556f, -0.2040f, 1.0572f}};
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
    static char message[512];
    txm_color_config *config = load();
    snprintf(message, sizeof message, "unknown");
    txm_color_suggest(config, name, message, sizeof message);
    txm_color_free(&config);
    return message;
}

START_TEST(near_names_are_suggested)
{
    ck_assert_ptr_nonnull(strstr(suggestion("sRBG"), "did you mean \"sRGB\""));
    ck_assert_ptr_nonnull(strstr(suggestion("non-colour"), "\"Non-Color\""));
    ck_assert_ptr_nonnull(strstr(suggestion("rec.709"), "Rec.709"));
    ck_assert_str_eq(suggestion("qqqqqqqqqqqqqqqq"), "unknown; 'txmill colorspaces' lists its names");
}
END_TEST

START_TEST(options_win_over_the_environment)
{
    txm_color_options options = {.struct_size = sizeof options};
    unsetenv("OCIO");
    ck_assert_ptr_null(txm_color_origin(NULL));
    setenv("OCIO", "/studio.ocio", 1);
    ck_assert_str_eq(txm_color_origin(&options), "/studio.ocio");
    options.ocio_path = "/mine.ocio";
    ck_assert_str_eq(txm_color_origin(&options), "/mine.ocio");
    options.ocio_path = NULL;
    options.ignore_environment = true;
    ck_assert_ptr_null(txm_color_origin(&options));
    setenv("OCIO", "", 1);
    options.ignore_environment = false;
    ck_assert_ptr_null(txm_color_origin(&options));
    unsetenv("OCIO");
}
END_TEST

START_TEST(advice_follows_the_reason)
{
    txm_error err = {0};
    txm_fail(&err, TXM_STATUS_CONFIG, "studio.ocio: broken");
    txm_color_advise(&err);
    ck_assert_int_eq(strncmp(err.message, "studio.ocio: broken; name another", 33), 0);
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

int main(void)
{
    Suite *suite = suite_create("parts of color");
    TCase *t = add_case(suite, "parts");
    tcase_set_timeout(t, 60);
    add_tests(t, the_built_in_config_is_known, the_matrix_is_that_of_linear_rec709, near_names_are_suggested,
              options_win_over_the_environment, advice_follows_the_reason, missing_spaces_own_their_strings);
    return run_suite(suite);
}
