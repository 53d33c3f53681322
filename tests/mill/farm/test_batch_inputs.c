/* SPDX-License-Identifier: Apache-2.0
 * Inputs of batches: globs, patterns, kinds of maps, rules, folders, lists. */
#include <fcntl.h>
#include <sys/stat.h>

#include "base/names.h"
#include "mill/farm/pattern.h"
#include "mill/rules/glob.h"
#include "mill/rules/kind.h"
#include "txmill/batch.h"
#include "util_batch.h"
#include "util_check.h"

/* ---- names ------------------------------------------------------------------------------------------------------ */

TEST(test_names)
{
    SCOPED(txm_names_free) txm_names names = {0};
    char text[32];
    const char *first = txm_names_put(&names, "n0");
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "n%u", i % 2500);
        txm_name *entry = txm_names_entry(&names, text);
        ck_assert_ptr_nonnull(entry);
        ck_assert_uint_eq(entry->value, i < 2500 ? 0 : i % 2500 + 1);
        entry->value = i % 2500 + 1;
    }
    ck_assert_uint_eq(names.count, 2500);
    ck_assert_ptr_eq(txm_names_put(&names, "n0"), first);
    ck_assert_ptr_ne(txm_names_copy(&names, "n0"), first);
    ck_assert_ptr_null(txm_names_put(&names, NULL));
    /* One is longer than a chunk, and one is empty. */
    FREED char *big = malloc(200001);
    memset(big, 'x', 200000);
    big[200000] = 0;
    ck_assert_str_eq(txm_names_put(&names, big), big);
    ck_assert_str_eq(txm_names_put(&names, ""), "");
}

/* ---- globs ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *glob, *path;
    bool matches;
} globs[] = {
    {"*.png", "a.png", true},
    {"*.png", "deep/er/a.PNG", true},
    {"*.png", "a.png.bak", false},
    {"wood?.png", "wood1.png", true},
    {"wood?.png", "wood.png", false},
    {"[a-c]*", "x/beta", true},
    {"[!a-c]*", "x/beta", false},
    {"\\*.png", "*.png", true},
    {"\\*.png", "a.png", false},
    {"normal/*.png", "normal/a.png", true},
    {"normal/*.png", "tex/normal/a.png", true},
    {"normal/*.png", "tex/abnormal/a.png", false},
    {"normal/*.png", "normal/deep/a.png", false},
    {"normal/**/*.png", "tex/normal/deep/er/a.png", true},
    {"normal/**/*.png", "tex/normal/a.png", true},
    {"normal/**", "tex/normal/deep/er/a.png", true},
    {"/abs/*", "/abs/a", true},
    {"/abs/*", "/other/abs/a", false},
    {"/**/a", "/x/y/a", true},
    {"**/a/**/b", "a/x/b", true},
    {"**/a/**/b", "x/b/a", false},
    {"a/", "x/a", true},
    {"caf\xE9*", "x/caf\xE9.png", true},
    {"*", "new\nline", true},
    {"", "a", false},
};

TESTS(test_globs, sizeof globs / sizeof *globs)
{
    ck_assert_msg(txm_glob_match(globs[_i].glob, globs[_i].path) == globs[_i].matches, "%s against %s", globs[_i].glob,
                  globs[_i].path);
}

TEST(test_glob_takes_no_exponential_time)
{
    /* 200 times `**` against 200 components: naive backtracking would never end. */
    char glob[2000] = "", path[2000] = "";
    for (int i = 0; i < 200; i++) {
        strcat(glob, "**/a/");
        strcat(path, "a/");
    }
    strcat(glob, "b");
    ck_assert(!txm_glob_match(glob, path));
    memset(glob, '*', 1000);
    strcpy(glob + 1000, "b");
    ck_assert(!txm_glob_match(glob, path));
}

/* ---- patterns --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *pattern, *name;
    bool matches;
} patterns[] = {
    {"wood.<UDIM>.png", "wood.1001.png", true},
    {"wood.<udim>.png", "wood.1999.png", true},
    {"wood.<UDIM>.png", "wood.1000.png", false},
    {"wood.<UDIM>.png", "wood.10010.png", false},
    {"wood.<UDIM>.png", "wood.101.png", false},
    {"wood_<UVTILE>.png", "wood_u1_v12.png", true},
    {"wood_<UVTILE>.png", "wood_u_v1.png", false},
    {"####.exr", "0001.exr", true},
    {"####.exr", "12345.exr", true},
    {"####.exr", "00123.exr", false},
    {"####.exr", "123.exr", false},
    {"f%04d.exr", "f0012.exr", true},
    {"f%04d.exr", "f012.exr", false},
    {"f%d.exr", "f12.exr", true},
    {"f%d.exr", "f012.exr", false},
    {"f%d.exr", "f0.exr", true},
    {"f<f>.exr", "f012.exr", true},
    {"f<f>.exr", "f.exr", false},
    {"a.<UDIM>.####.exr", "a.1001.0007.exr", true},
    {"100%.png", "100%.png", true},
    {"a<b>#.png", "a<b>7.png", true},
};

TESTS(test_patterns, sizeof patterns / sizeof *patterns)
{
    ck_assert_msg(txm_pattern_match(patterns[_i].pattern, patterns[_i].name) == patterns[_i].matches, "%s against %s",
                  patterns[_i].pattern, patterns[_i].name);
}

TEST(test_tiles_of_patterns)
{
    ck_assert_uint_eq(txm_pattern_tile("a.<UDIM>.tx", "a.1001.tx"), 1001);
    ck_assert_uint_eq(txm_pattern_tile("a.<udim>.tx", "a.9999.tx"), 9999);
    ck_assert_uint_eq(txm_pattern_tile("a.<UDIM>.tx", "b.1001.tx"), 0);
    ck_assert_uint_eq(txm_pattern_tile("a.<UVTILE>.tx", "a.u1_v1.tx"), 1001);
    ck_assert_uint_eq(txm_pattern_tile("a.<UVTILE>.tx", "a.u10_v1.tx"), 1010);
    ck_assert_uint_eq(txm_pattern_tile("a.<UVTILE>.tx", "a.u3_v12.tx"), 1113);
    ck_assert_uint_eq(txm_pattern_tile("a.<UVTILE>.tx", "a.u11_v1.tx"), 0);
    ck_assert_uint_eq(txm_pattern_tile("a.<UVTILE>.tx", "a.u0_v1.tx"), 0);
    ck_assert_uint_eq(txm_pattern_tile("a.<UVTILE>.tx", "a.u9_v900.tx"), 9999);
    ck_assert_uint_eq(txm_pattern_tile("a.<UVTILE>.tx", "a.u10_v900.tx"), 0);
    ck_assert_uint_eq(txm_pattern_tile("a.<UVTILE>.tx", "a.u1_v99999999999999999999.tx"), 0);
    /* Tokens of other programs. */
    static const struct {
        const char *pattern, *name;
        unsigned tile;
    } theirs[] = {{"a.%(UDIM)d.tx", "a.1012.tx", 1012}, {"a.%(udim)d.tx", "a.1000.tx", 0},
                  {"a_MAPID_.tx", "a_1003.tx", 1003},   {"a_MAPID_.tx", "a1003.tx", 1003},
                  {"a_MAPID_.tx", "a_1003_.tx", 1003},  {"a._MAPID_.tx", "a.1003.tx", 1003},
                  {"a_mapid_.tx", "a_1003.tx", 0},      {"u<U>_v<V>.tx", "u2_v1.tx", 1002},
                  {"u<u>_v<v>.tx", "u0_v1.tx", 1011},   {"u<U>_v<V>.tx", "u0_v1.tx", 0},
                  {"<V>x<U>.tx", "2x3.tx", 1013},       {"a.<UVTILE0>.tx", "a.u0_v0.tx", 1001}};
    for (size_t k = 0; k < sizeof theirs / sizeof *theirs; k++)
        ck_assert_msg(txm_pattern_tile(theirs[k].pattern, theirs[k].name) == theirs[k].tile, "%s", theirs[k].pattern);
    ck_assert(txm_pattern_match("a.$F4.tx", "a.0012.tx") && !txm_pattern_match("a.$F4.tx", "a.012.tx"));
    ck_assert(txm_pattern_match("a.$F.tx", "a.12.tx") && txm_pattern_match("a.<frame>.tx", "a.007.tx"));
    ck_assert(txm_pattern_match("a.<frame04>.tx", "a.0007.tx") && !txm_pattern_match("a.<f4>.tx", "a.007.tx"));
    ck_assert(!txm_pattern_is("cost$5.tx") && !txm_pattern_is("100%.tx") && !txm_pattern_is("MAPID_a.tx"));
    size_t bytes;
    ck_assert_ptr_null(txm_pattern_unknown("a@2x<b.png", &bytes));
    ck_assert_ptr_null(txm_pattern_unknown("a.<UDIM>.$F4.png", &bytes));
    ck_assert_str_eq(txm_pattern_unknown("x<y>/a.<tile>.png", &bytes), "<tile>.png");
    ck_assert_uint_eq(bytes, 6);
    ck_assert_str_eq(txm_pattern_unknown("a.$HIP.png", &bytes), "$HIP.png");
    ck_assert_str_eq(txm_pattern_unknown("a.@@@.png", &bytes), "@@@.png");
    ck_assert_uint_eq(txm_pattern_tile("a.####.tx", "a.1001.tx"), 0);
}

TEST(test_what_is_a_pattern)
{
    ck_assert(txm_pattern_is("dir/a.<UDIM>.png"));
    ck_assert(txm_pattern_is("a%03d"));
    ck_assert(!txm_pattern_is("a.<UDIM>/b.png"));
    ck_assert(!txm_pattern_is("100%.png"));
    ck_assert(!txm_pattern_is("%s%x%0d<UDI>.png"));
}

/* ---- kinds ------------------------------------------------------------------------------------------------------ */

static const struct {
    const char *path;
    txm_map_kind kind;
} kinds[] = {
    {"tex/wood_normal.png", TXM_MAP_NORMAL},
    {"tex/WoodNormal.1001.exr", TXM_MAP_NORMAL},
    {"wood-nor-gl-4k.png", TXM_MAP_NORMAL},
    {"normal_map.jpg", TXM_MAP_NORMAL},
    {"normalmap.jpg", TXM_MAP_NORMAL},
    {"WOOD_NRM.TIF", TXM_MAP_NORMAL},
    {"wood_rough_2k.png", TXM_MAP_ROUGHNESS},
    {"wood.glossiness.png", TXM_MAP_ROUGHNESS},
    {"plate_metal_u1_v1.png", TXM_MAP_DATA},
    {"x_ambient_occlusion.png", TXM_MAP_DATA},
    {"ao.png", TXM_MAP_DATA},
    {"rusty_metal_diffuse.png", TXM_MAP_COLOR},
    {"wood_BaseColor.png", TXM_MAP_COLOR},
    {"wood_base_color.<UDIM>.png", TXM_MAP_COLOR},
    {"brick_wall_arm_2k.png", TXM_MAP_DATA},
    {"T_Rock_MRAO.png", TXM_MAP_DATA},
    {"T_Rock_2K_ORM.tga", TXM_MAP_DATA},
    {"tgxkbd_4K_ORDp.jpg", TXM_MAP_DATA},
    {"vlkhcbxia_2K_DpRA.jpg", TXM_MAP_DATA},
    {"Bricks089_4K-JPG_AmbientOcclusion.jpg", TXM_MAP_DATA},
    {"Bricks089_4K-JPG_NormalGL.jpg", TXM_MAP_NORMAL},
    {"Bricks089_4K-JPG_Color.jpg", TXM_MAP_COLOR},
    {"wall_AORM.1001.png", TXM_MAP_DATA},
    {"Wall_MaskMap.png", TXM_MAP_DATA},
    {"Wall_MetallicSmoothness.png", TXM_MAP_DATA},
    {"wall_occlusionRoughnessMetallic.png", TXM_MAP_DATA},
    {"robot_arm_diff_2k.png", TXM_MAP_COLOR},
    {"T_Rock_N.png", TXM_MAP_NORMAL},
    {"T_Rock_01_R.tga", TXM_MAP_ROUGHNESS},
    {"T_Rock_BC.png", TXM_MAP_COLOR},
    {"T_Rock_D_2K.png", TXM_MAP_COLOR},
    {"plan_n.png", TXM_MAP_UNKNOWN},
    {"T_N.png", TXM_MAP_UNKNOWN},
    {"charm.png", TXM_MAP_UNKNOWN},
    {"normal_wood.png", TXM_MAP_UNKNOWN},
    {"abnormal.png", TXM_MAP_UNKNOWN},
    {"normal/wood.png", TXM_MAP_UNKNOWN},
    {"4k.png", TXM_MAP_UNKNOWN},
    {"", TXM_MAP_UNKNOWN},
    {".png", TXM_MAP_UNKNOWN},
    {"caf\xE9_normal.png", TXM_MAP_NORMAL},
};

TESTS(test_kinds, sizeof kinds / sizeof *kinds)
{
    ck_assert_msg(txm_map_kind_of(kinds[_i].path) == kinds[_i].kind, "%s: %d", kinds[_i].path,
                  (int)txm_map_kind_of(kinds[_i].path));
}

TEST(test_kind_of_long_names)
{
    char name[5000];
    for (int i = 0; i < 4900; i++)
        name[i] = i % 3 ? 'a' : '_';
    strcpy(name + 4900, "_normal.png");
    ck_assert_int_eq(txm_map_kind_of(name), TXM_MAP_NORMAL);
    memset(name, 'a', 4900);
    ck_assert_int_eq(txm_map_kind_of(name), TXM_MAP_NORMAL);
}

/* ---- rules ------------------------------------------------------------------------------------------------------ */

TEST(test_rules_first_match_counts)
{
    txm_rules *rules;
    txm_error err = {0};
    ck_assert_int_eq(txm_rules_new(&rules, &err), TXM_OK);
    ck_assert_ptr_null(txm_rules_match(rules, "a_normal.png"));
    ck_assert_int_eq(txm_rules_preset(rules, "pbr", &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add(rules, "*.exr=ACEScg", "--rule", &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add(rules, "*=sRGB,none", "--rule", &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add(rules, "a=b*=,premultiplied", "--rule", &err), TXM_OK);
    const txm_rule *r = txm_rules_match(rules, "x/b.exr");
    ck_assert_str_eq(r->colorspace, "ACEScg");
    ck_assert_int_eq(r->alpha, TXM_ALPHA_DEFAULT);
    r = txm_rules_match(rules, "a_normal.png");
    ck_assert_str_eq(r->colorspace, "sRGB"); /* globs take precedence over the preset, whatever the order */
    ck_assert_int_eq(r->alpha, TXM_ALPHA_NONE);
    txm_rules_free(&rules);
    ck_assert_ptr_null(rules);
    ck_assert_int_eq(txm_rules_new(&rules, &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add(rules, "a=b*=,premultiplied", "--rule", &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add(rules, "odd*=Space, with comma", "--rule", &err), TXM_OK);
    ck_assert_int_eq(txm_rules_preset(rules, "pbr", &err), TXM_OK);
    r = txm_rules_match(rules, "A=b.png");
    ck_assert_ptr_null(r->colorspace);
    ck_assert_int_eq(r->alpha, TXM_ALPHA_PREMULTIPLIED);
    ck_assert_str_eq(txm_rules_match(rules, "odd.png")->colorspace, "Space, with comma");
    ck_assert_str_eq(txm_rules_match(rules, "w_normal.png")->colorspace, "Non-Color");
    ck_assert_ptr_null(txm_rules_match(rules, "w_color.png"));
    txm_rules_free(&rules);
}

TEST(test_limits_first_match_counts)
{
    SCOPED(txm_rules_free) txm_rules *rules = NULL;
    txm_error err = {0};
    ck_assert_int_eq(txm_rules_new(&rules, &err), TXM_OK);
    ck_assert_uint_eq(txm_rules_limit(rules, "a.png"), 0);
    ck_assert_uint_eq(txm_rules_limit(NULL, "a.png"), 0);
    ck_assert_int_eq(txm_rules_add_limit(rules, "hero/*\tnone", &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add_limit(rules, "my back ground/*  2k", &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add_limit(rules, "*.exr 300", &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add_limit(rules, "4K", &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add_limit(rules, "*.png 16", &err), TXM_OK);
    ck_assert_uint_eq(txm_rules_limit(rules, "/film/Hero/a.exr"), TXM_NO_LIMIT);
    ck_assert_uint_eq(txm_rules_limit(rules, "my back ground/a.png"), 2048);
    ck_assert_uint_eq(txm_rules_limit(rules, "a.exr"), 300);
    ck_assert_uint_eq(txm_rules_limit(rules, "a.png"), 4096);
    ck_assert_ptr_null(txm_rules_match(rules, "a.exr"));
    /* What is said about an image counts, then the settings, then rules; for scenes too, unless rules were applied. */
    txm_settings s;
    txm_settings_init(&s);
    txm_input input = {.path = "a.exr", .from_scene = true};
    txm_rules_apply(rules, &input, &s);
    ck_assert_uint_eq(s.limit_px, 300);
    s.limit_px = 100;
    txm_rules_apply(rules, &input, &s);
    ck_assert_uint_eq(s.limit_px, 100);
    input.limit_px = 50;
    txm_rules_apply(rules, &input, &s);
    ck_assert_uint_eq(s.limit_px, 50);
    s.limit_px = 0;
    input = (txm_input){.path = "a.exr", .ruled = true};
    txm_rules_apply(rules, &input, &s);
    ck_assert_uint_eq(s.limit_px, 0);
}

static const char *const bad_limits[] = {"",
                                         "2k2",
                                         "0",
                                         "-1",
                                         "background/*",
                                         "background/* ",
                                         "15",
                                         "2 k",
                                         "1e3",
                                         "1025k",
                                         "1048577",
                                         "99999999999999999999",
                                         "+64",
                                         "a* 2m",
                                         "* 0k",
                                         "* 4294967360",
                                         "0x800",
                                         "k",
                                         "None",
                                         "2kk",
                                         "a none2",
                                         "2048px",
                                         " ",
                                         "1.5k"};

TESTS(test_bad_limits, sizeof bad_limits / sizeof *bad_limits)
{
    SCOPED(txm_rules_free) txm_rules *rules = NULL;
    txm_error err = {0};
    ck_assert_int_eq(txm_rules_new(&rules, &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add_limit(rules, bad_limits[_i], &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "must be a size, such as 2048 or 2k, from 16 to 1024k, or none"));
    ck_assert_uint_eq(txm_rules_limit(rules, "background/a.png"), 0);
}

static const char *const bad_rules[] = {"*.png", "=sRGB", "*.png=", "*.png=,alfa", ""};

TESTS(test_bad_rules, sizeof bad_rules / sizeof *bad_rules)
{
    SCOPED(txm_rules_free) txm_rules *rules = NULL;
    txm_error err = {0};
    ck_assert_int_eq(txm_rules_new(&rules, &err), TXM_OK);
    ck_assert_int_eq(txm_rules_add(rules, bad_rules[_i], "--rule", &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "--rule"));
    ck_assert_ptr_null(txm_rules_match(rules, "a.png"));
}

TEST(test_rules_file)
{
    batch_enter();
    txm_rules *rules;
    txm_error err = {0};
    ck_assert_int_eq(txm_rules_new(&rules, &err), TXM_OK);
    batch_file("r.txt", "# comment\n\n*.exr=ACEScg\r\n*_m.png=Non-Color,none");
    ck_assert_int_eq(txm_rules_load(rules, "r.txt", NULL, &err), TXM_OK);
    ck_assert_str_eq(txm_rules_match(rules, "x.exr")->colorspace, "ACEScg");
    ck_assert_str_eq(txm_rules_match(rules, "x_m.png")->origin, "r.txt:4");
    batch_file("r.txt", "*.exr=ACEScg\nnonsense\n");
    ck_assert_int_eq(txm_rules_load(rules, "r.txt", NULL, &err), TXM_STATUS_USAGE);
    ck_assert_ptr_nonnull(strstr(err.message, "r.txt:2"));
    txm_error_clear(&err);
    ck_assert_int_eq(txm_rules_load(rules, "none.txt", NULL, &err), TXM_STATUS_NOT_FOUND);
    txm_error_clear(&err);
    ck_assert_int_eq(txm_rules_preset(rules, "prb", &err), TXM_STATUS_USAGE);
    char *line = malloc(10001);
    memset(line, 'a', 10000);
    line[10000] = 0;
    batch_file("r.txt", line);
    txm_error_clear(&err);
    ck_assert_int_eq(txm_rules_load(rules, "r.txt", NULL, &err), TXM_STATUS_USAGE);
    free(line);
    txm_rules_free(&rules);
    batch_leave();
}

/* ---- inputs ----------------------------------------------------------------------------------------------------- */

/* Returns the paths of all inputs, separated by spaces, with '!' before those that failed. */
static const char *paths(const txm_inputs *inputs)
{
    static char text[4096];
    text[0] = 0;
    for (size_t i = 0; i < txm_inputs_count(inputs); i++) {
        const txm_input *in = txm_inputs_at(inputs, i);
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s%s", i ? " " : "", in->status ? "!" : "", in->path);
    }
    return text;
}

static txm_inputs *collect(const txm_inputs_options *options, const char *const *arguments)
{
    txm_inputs *inputs;
    txm_error err = {0};
    ck_assert_int_eq(txm_inputs_new(options, &inputs, &err), TXM_OK);
    for (; *arguments; arguments++)
        ck_assert_int_eq(txm_inputs_add(inputs, *arguments, &err), TXM_OK);
    return inputs;
}

#define COLLECT(options, ...) collect(options, (const char *const[]){__VA_ARGS__, NULL})

static void make_tree(void)
{
    batch_enter();
    batch_folder("t");
    batch_folder("t/sub");
    batch_folder("t/sub/blender_tx");
    batch_folder("t/.hidden");
    batch_folder("t/zz");
    batch_file("t/b.png", "");
    batch_file("t/A.JPG", "");
    batch_file("t/notes.txt", "");
    batch_file("t/ready.tx", "");
    batch_file("t/.thumb.png", "");
    batch_file("t/.hidden/h.png", "");
    batch_file("t/sub/c.exr", "");
    batch_file("t/sub/blender_tx/d.png", "");
    batch_file("t/zz/e.png", "");
    ck_assert_int_eq(mkfifo("t/pipe.png", 0666), 0);
    ck_assert_int_eq(symlink("..", "t/sub/up"), 0);
    ck_assert_int_eq(symlink("zz", "t/aa"), 0);
    ck_assert_int_eq(symlink("nowhere", "t/dangling.png"), 0);
}

TEST(test_folder)
{
    const txm_inputs_options recursive = {.struct_size = sizeof(txm_inputs_options), .recursive = true};
    make_tree();
    txm_inputs *inputs = COLLECT(&recursive, "t");
    ck_assert_str_eq(paths(inputs), "t/A.JPG t/b.png t/dangling.png t/aa/e.png t/sub/c.exr");
    ck_assert_ptr_null(txm_inputs_at(inputs, 5));
    txm_inputs_free(&inputs);
    inputs = COLLECT(&recursive, "t/sub/");
    ck_assert_str_eq(paths(inputs),
                     "t/sub/c.exr t/sub/up/A.JPG t/sub/up/b.png t/sub/up/dangling.png t/sub/up/aa/e.png");
    txm_inputs_free(&inputs);
    inputs = COLLECT(NULL, "t");
    ck_assert_str_eq(paths(inputs), "!t");
    ck_assert_int_eq(txm_inputs_at(inputs, 0)->status, TXM_STATUS_NOT_A_FILE);
    ck_assert_ptr_nonnull(strstr(txm_inputs_at(inputs, 0)->message, "folder"));
    txm_inputs_free(&inputs);
    batch_leave();
}

TEST(test_include_exclude)
{
    make_tree();
    const char *const include[] = {"*.txt", "sub/*", NULL}, *const exclude[] = {"a*", "up", NULL};
    const txm_inputs_options some = {.struct_size = sizeof(txm_inputs_options), .recursive = true, .include = include};
    txm_inputs *inputs = COLLECT(&some, "t");
    ck_assert_str_eq(paths(inputs), "t/notes.txt t/sub/c.exr");
    txm_inputs_free(&inputs);
    const txm_inputs_options others = {
        .struct_size = sizeof(txm_inputs_options), .recursive = true, .exclude = exclude};
    inputs = COLLECT(&others, "t");
    ck_assert_str_eq(paths(inputs), "t/b.png t/dangling.png t/sub/c.exr t/zz/e.png");
    txm_inputs_free(&inputs);
    batch_leave();
}

TEST(test_deep_and_unreadable)
{
    const txm_inputs_options recursive = {.struct_size = sizeof(txm_inputs_options), .recursive = true};
    batch_enter();
    char path[2000] = "d";
    for (int i = 0; i < 300; i++) {
        batch_folder(path);
        strcat(path, "/d");
    }
    strcat(path, ".png");
    batch_file(path, "");
    txm_inputs *inputs = COLLECT(&recursive, "d");
    ck_assert_str_eq(paths(inputs), path);
    txm_inputs_free(&inputs);
    batch_folder("locked");
    ck_assert_int_eq(chmod("locked", 0), 0);
    inputs = COLLECT(&recursive, "locked");
    if (geteuid() != 0) { /* root can read everything */
        ck_assert_str_eq(paths(inputs), "!locked");
        ck_assert_int_eq(txm_inputs_at(inputs, 0)->status, TXM_STATUS_DENIED);
    }
    txm_inputs_free(&inputs);
    batch_leave();
}

TEST(test_pattern_inputs)
{
    batch_enter();
    batch_file("w.1002.png", "");
    batch_file("w.1001.png", "");
    batch_file("f10.exr", "");
    batch_file("f9.exr", "");
    batch_file("#.png", "");
    batch_file("1.png", "");
    batch_folder("w.1003.png");
    txm_inputs *inputs = COLLECT(NULL, "w.<UDIM>.png", "./f<f>.exr", "#.png", "none.####.exr", "no/such.<UDIM>.png");
    ck_assert_str_eq(paths(inputs),
                     "w.1001.png w.1002.png ./f9.exr ./f10.exr #.png !none.####.exr !no/such.<UDIM>.png");
    ck_assert_str_eq(txm_inputs_at(inputs, 1)->pattern, "w.<UDIM>.png");
    ck_assert_ptr_null(txm_inputs_at(inputs, 4)->pattern);
    ck_assert_int_eq(txm_inputs_at(inputs, 5)->status, TXM_STATUS_NOT_FOUND);
    ck_assert_int_eq(txm_inputs_at(inputs, 6)->status, TXM_STATUS_NOT_FOUND);
    txm_inputs_free(&inputs);
    batch_leave();
}

TEST(test_lists)
{
    batch_enter();
    batch_file("a.png", "");
    batch_file("lines",
               "a.png\r\n\nmissing.png\n{\"path\": \"b.png\", \"colorspace\": \"ACEScg\", \"alpha\": \"none\"}\n"
               "{\"path\": \"c.png\"\n{\"path\": \"d.png\", \"colourspace\": \"x\"}\n{\"alpha\": \"none\"}\n"
               "{\"path\": 7}\n{\"path\": \"e\", \"alpha\": \"alfa\"}\n{\"path_encoded\": \"caf%E9%0a.png\"}\n"
               "{\"path_encoded\": \"%zz\"}\n@a.png");
    txm_inputs *inputs = COLLECT(NULL, "@lines", "@none");
    ck_assert_str_eq(
        paths(inputs),
        "a.png missing.png b.png !lines:5 !d.png !lines:7 !lines:8 !e caf\xE9\n.png !lines:11 @a.png !none");
    const txm_input *b = txm_inputs_at(inputs, 2);
    ck_assert_str_eq(b->colorspace, "ACEScg");
    ck_assert_int_eq(b->alpha, TXM_ALPHA_NONE);
    ck_assert_str_eq(b->origin, "lines:4");
    ck_assert_ptr_nonnull(strstr(txm_inputs_at(inputs, 4)->message, "colourspace"));
    ck_assert_int_eq(txm_inputs_at(inputs, 11)->status, TXM_STATUS_NOT_FOUND);
    txm_inputs_free(&inputs);
    /* NUL bytes separate the names, so newlines may be part of them. */
    FILE *f = fopen("nuls", "wb");
    fwrite("new\nline.png\0a.png", 1, 18, f);
    fclose(f);
    inputs = COLLECT(NULL, "@nuls");
    ck_assert_str_eq(paths(inputs), "new\nline.png a.png");
    txm_inputs_free(&inputs);
    /* This is not a list. */
    char *big = malloc(2 << 20);
    memset(big, 'x', (2 << 20) - 1);
    big[(2 << 20) - 1] = 0;
    batch_file("big", big);
    free(big);
    batch_file("empty", "");
    inputs = COLLECT(NULL, "@big", "@empty", "@.");
    ck_assert_str_eq(paths(inputs), "!big !.");
    txm_inputs_free(&inputs);
    batch_leave();
}
