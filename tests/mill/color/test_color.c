/* SPDX-License-Identifier: Apache-2.0
 *
 * Configs: what the name of a tx file depends on (matrix text, roles, classes), for the built-in config and for the one
 * with which the golden files were made.
 */
#include <ctype.h>

#include "mill/color/known.h"
#include "txmill/color.h"
#include "util_check.h"

static const char BLENDER_MATRIX[] = "3.241_-1.537_-0.4986_0_-0.9692_1.876_0.04155_0_0.05563_-0.204_1.057_0";

static txm_color_config *load(const char *ocio_path, const char *working_space)
{
    txm_color_options options = {.struct_size = sizeof(txm_color_options),
                                 .ocio_path = ocio_path,
                                 .ignore_environment = true,
                                 .working_space = working_space};
    txm_color_config *config = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_color_load(&options, &config, &err) == TXM_OK, "%s", err.message);
    return config;
}

/* Test 0 runs with the built-in config, test 1 with the golden one. */
static txm_color_config *load_nth(int i)
{
    return load(i == 0 ? NULL : testdata("golden/config.ocio"), NULL);
}

TESTS(matrix_text_is_blenders, 2)
{
    SCOPED(txm_color_free) txm_color_config *config = load_nth(_i);
    float matrix[12];
    ck_assert_str_eq(txm_color_xyz_to_scene_linear_text(config), BLENDER_MATRIX);
    txm_color_xyz_to_scene_linear(config, matrix);
    /* Values close to where rounding changes: 0.0415547 prints as 0.04155, and 0.0415551 would print as 0.04156. */
    ck_assert_float_eq_tol(matrix[6], 0.0415547f, 1e-7f);
    ck_assert_float_eq(matrix[3], 0.0f);
    ck_assert_str_eq(txm_color_working_interop_id(config), "lin_rec709_scene");
}

TESTS(roles_and_names, 2)
{
    txm_color_config *config = load_nth(_i);
    ck_assert_str_eq(txm_color_role(config, "scene_linear"), "Linear Rec.709");
    ck_assert_str_eq(txm_color_role(config, "default_byte"), "sRGB");
    ck_assert_str_eq(txm_color_role(config, "default_float"), "Linear Rec.709");
    ck_assert_str_eq(txm_color_role(config, "data"), "Non-Color");
    ck_assert_ptr_null(txm_color_role(config, "no_such_role"));
    ck_assert_ptr_null(txm_color_role(config, "sRGB"));
    ck_assert_str_eq(txm_color_canonical(config, "srgb_rec709_scene"), "sRGB");
    ck_assert_str_eq(txm_color_canonical(config, "lin_rec709"), "Linear Rec.709");
    ck_assert_str_eq(txm_color_canonical(config, "SRGB"), "sRGB");
    ck_assert_str_eq(txm_color_canonical(config, "data"), "Non-Color");
    ck_assert_ptr_null(txm_color_canonical(config, "No Such Space"));
    ck_assert_ptr_null(txm_color_canonical(config, ""));
    ck_assert_ptr_null(txm_color_canonical(config, NULL));
    ck_assert(txm_color_is_data(config, "Raw"));
    ck_assert(!txm_color_is_data(config, "sRGB"));
    ck_assert(!txm_color_is_data(config, "No Such Space"));
    txm_color_free(&config);
    ck_assert_ptr_null(config);
    txm_color_free(&config);
    txm_color_free(NULL);
}

/* Rows of the golden manifest whose space the config has must be detected as Blender did. */
TESTS(golden_classes, 2)
{
    SCOPED(txm_color_free) txm_color_config *config = load_nth(_i);
    FILE *f = fopen(testdata("golden/manifest.tsv"), "r");
    char line[2048];
    int rows = 0;
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        char *rest = line, *column[13] = {0};
        const txm_color_space *space = NULL;
        for (int i = 0; i < 13; i++)
            column[i] = strsep(&rest, "\t");
        if (!column[12] || line[0] == '#' || !txm_color_canonical(config, column[1]) || !*column[11])
            continue;
        ck_assert_int_eq(txm_color_find(config, column[1], &space, NULL), TXM_OK);
        ck_assert_str_eq(txm_color_space_detected(space), column[11]);
        rows++;
    }
    fclose(f);
    ck_assert_int_ge(rows, 60);
}

TESTS(default_roles_are_classed, 2)
{
    SCOPED(txm_color_free) txm_color_config *config = load_nth(_i);
    const txm_color_space *byte = NULL, *again = NULL, *linear = NULL, *data = NULL;
    ck_assert_int_eq(txm_color_find(config, "default_byte", &byte, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_space_class(byte), TXM_COLOR_CLASS_SRGB);
    ck_assert_int_eq(txm_color_find(config, "srgb", &again, NULL), TXM_OK);
    ck_assert_ptr_eq(byte, again);
    ck_assert_int_eq(txm_color_find(config, "default_float", &linear, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_space_class(linear), TXM_COLOR_CLASS_SCENE_LINEAR);
    ck_assert_int_eq(txm_color_find(config, "Generic Data", &data, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_space_class(data), TXM_COLOR_CLASS_DATA);
    ck_assert_str_eq(txm_color_space_name(data), "Non-Color");
}

/* Writes the built-in config's text to a file, so that OpenColorIO loads it; the built-in config itself uses what the
 * build recorded. */
static txm_color_config *load_builtin_text(void)
{
    char path[] = "/tmp/txm-color-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, txm_builtin_config, txm_builtin_config_bytes), (ssize_t)txm_builtin_config_bytes);
    close(fd);
    txm_color_config *config = load(path, NULL);
    unlink(path);
    return config;
}

/* Both configs must resolve a name, in any case, to the same space of the same class. */
static void same_name(const txm_color_config *a, const txm_color_config *b, const char *name)
{
    const txm_color_space *x = NULL, *y = NULL;
    char other[256];
    size_t n = strlen(name);
    ck_assert_uint_lt(n, sizeof other);
    for (size_t i = 0; i <= n; i++)
        other[i] = (char)(i % 2 ? toupper(name[i]) : tolower(name[i]));
    ck_assert_str_eq(txm_color_canonical(a, name), txm_color_canonical(b, name));
    ck_assert_str_eq(txm_color_canonical(a, other), txm_color_canonical(b, other));
    ck_assert_int_eq(txm_color_find(a, name, &x, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_find(b, name, &y, NULL), TXM_OK);
    ck_assert_str_eq(txm_color_space_detected(x), txm_color_space_detected(y));
    ck_assert_str_eq(txm_color_space_transform_id(x), txm_color_space_transform_id(y));
    ck_assert_int_eq(txm_color_is_data(a, name), txm_color_is_data(b, name));
}

TEST(known_as_loaded)
{
    static const char *const roles[] = {
        "aces_interchange", "cie_xyz_d65_interchange", "color_picking", "data",         "default",
        "default_byte",     "default_float",           "reference",     "scene_linear", "texture_paint"};
    SCOPED(txm_color_free) txm_color_config *known = load(NULL, NULL), *loaded = load_builtin_text();
    float a[12], b[12];
    txm_color_xyz_to_scene_linear(known, a);
    txm_color_xyz_to_scene_linear(loaded, b);
    ck_assert_mem_eq(a, b, sizeof a);
    ck_assert_str_eq(txm_color_config_version(known), txm_color_config_version(loaded));
    ck_assert_str_eq(txm_color_working_interop_id(known), txm_color_working_interop_id(loaded));
    ck_assert_ptr_null(txm_color_file_rule(known, "a_srgb.exr"));
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        ck_assert_str_eq(txm_color_role(known, roles[i]), txm_color_role(loaded, roles[i]));
        same_name(known, loaded, roles[i]);
    }
    ck_assert_uint_ge(txm_color_count(loaded), 50);
    size_t same = 0;
    for (size_t i = 0, at = 0; i < txm_color_count(loaded); i++) {
        txm_color_entry k, l;
        ck_assert_int_eq(txm_color_entry_at(loaded, i, &l, NULL), TXM_OK);
        ck_assert_int_eq(txm_color_entry_at(known, at, &k, NULL), TXM_OK);
        if (strcmp(k.name, l.name) != 0) { /* this OpenColorIO cannot build it, so it comes last */
            ck_assert_int_eq(txm_color_find(known, l.name, &(const txm_color_space *){NULL}, NULL),
                             TXM_STATUS_COLORSPACE);
            continue;
        }
        at++;
        if (!l.available) /* the text alone lacks the computed tables */
            continue;
        same++;
        ck_assert_str_eq(k.family, l.family);
        ck_assert_str_eq(k.description, l.description);
        ck_assert_int_eq(k.color_class, l.color_class);
        ck_assert(k.available && l.available);
        same_name(known, loaded, k.name);
        for (size_t j = 0; k.aliases[j] || l.aliases[j]; j++) {
            ck_assert_str_eq(k.aliases[j], l.aliases[j]);
            same_name(known, loaded, k.aliases[j]);
        }
    }
    ck_assert_uint_ge(same, 50);
}

/* If the working space is the config's own, under any of its names, nothing changes; another one is converted to. */
TEST(working_spaces)
{
    SCOPED(txm_color_free) txm_color_config *own = load(NULL, "lin_rec709_scene"), *other = load(NULL, "ACEScg");
    const txm_color_space *space = NULL;
    ck_assert_str_eq(txm_color_xyz_to_scene_linear_text(own), BLENDER_MATRIX);
    ck_assert_str_ne(txm_color_xyz_to_scene_linear_text(other), BLENDER_MATRIX);
    ck_assert_str_eq(txm_color_working_interop_id(other), "lin_ap1_scene");
    ck_assert_int_eq(txm_color_find(other, "Linear Rec.709", &space, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_space_class(space), TXM_COLOR_CLASS_OTHER);
    ck_assert_int_eq(txm_color_find(own, "ACEScg", &space, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_space_class(space), TXM_COLOR_CLASS_OTHER);
}
