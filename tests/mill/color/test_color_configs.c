/* SPDX-License-Identifier: Apache-2.0
 *
 * Configs from files and the environment: where they are found, how newer, incomplete and hostile ones are treated, and
 * the messages about them.
 */
#include <math.h>
#include <stdarg.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "mill/color/ocio.h"
#include "mill/color/scan.h"
#include "txmill/color.h"
#include "util_check.h"
#include "util_gamut.h"

static char folder[] = "/tmp/txmill-color-XXXXXX";

static void setup(void)
{
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    unsetenv("OCIO");
}

static void teardown(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    ck_assert_int_eq(system(command), 0);
}
FIXTURE(setup, teardown)

static const char *in_folder(const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const char *write_file(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static const char *write_file(const char *name, const char *format, ...)
{
    const char *path = in_folder(name);
    FILE *f = fopen(path, "w");
    va_list args;
    ck_assert_ptr_nonnull(f);
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
    ck_assert_int_eq(fclose(f), 0);
    return path;
}

static txm_color_config *load(const char *path)
{
    txm_color_options options = {
        .struct_size = sizeof(txm_color_options), .ocio_path = path, .ignore_environment = true};
    txm_color_config *config = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_color_load(&options, &config, &err) == TXM_OK, "%s", err.message);
    return config;
}

static void says(const char *message, const char *part)
{
    ck_assert_msg(strstr(message, part) != NULL, "\"%s\" does not say \"%s\"", message, part);
}

/* Loads a config that must fail, and returns the message. */
static const char *refused(const char *path, txm_status want)
{
    static txm_error err;
    txm_color_options options = {
        .struct_size = sizeof(txm_color_options), .ocio_path = path, .ignore_environment = true};
    txm_color_config *config = (txm_color_config *)&err;
    memset(&err, 0, sizeof err);
    ck_assert_int_eq(txm_color_load(&options, &config, &err), want);
    ck_assert_int_eq(err.status, want);
    ck_assert_ptr_null(config);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), want);
    /* Every error message suggests the built-in config, but txmill never falls back to it by itself. */
    says(err.message, "for the built-in config");
    return err.message;
}

/* ---- origin -------------------------------------------------------------------------------------------------- */

#define TEXTURE_SPACES                                                                                                 \
    "colorspaces:\n"                                                                                                   \
    "  - !<ColorSpace> {name: lin}\n"                                                                                  \
    "  - !<ColorSpace> {name: ciexyz, from_scene_reference: !<MatrixTransform> {matrix: [0.5, 0, 0, 0, 0, 0.25, 0, "   \
    "0, "                                                                                                              \
    "0, 0, 0.125, 0, 0, 0, 0, 1]}}\n"                                                                                  \
    "  - !<ColorSpace> {name: raw, isdata: true}\n"

static void store(const char *path, const char *text, size_t bytes)
{
    FILE *f = fopen(path, "w");
    ck_assert(f && fwrite(text, 1, bytes, f) == bytes && fclose(f) == 0);
}

TEST(environment_names_the_config)
{
    txm_color_config *config = NULL;
    txm_color_options ignore = {.struct_size = sizeof(txm_color_options), .ignore_environment = true},
                      option = {.struct_size = sizeof(txm_color_options), .ocio_path = testdata("golden/config.ocio")};
    setenv("OCIO", testdata("golden/config.ocio"), 1);
    ck_assert_int_eq(txm_color_load(NULL, &config, NULL), TXM_OK);
    ck_assert_str_eq(txm_color_config_name(config), testdata("golden/config.ocio"));
    ck_assert_str_eq(txm_color_config_version(config), "2.1");
    ck_assert_str_eq(txm_color_config_left_out(config), "");
    txm_color_free(&config);
    ck_assert_int_eq(txm_color_load(&ignore, &config, NULL), TXM_OK);
    ck_assert_str_eq(txm_color_config_name(config), "built-in");
    txm_color_free(&config);
    setenv("OCIO", "", 1);
    ck_assert_int_eq(txm_color_load(NULL, &config, NULL), TXM_OK);
    ck_assert_str_eq(txm_color_config_name(config), "built-in");
    txm_color_free(&config);
    setenv("OCIO", "/no/such/config.ocio", 1);
    txm_error err = {0};
    ck_assert_int_eq(txm_color_load(NULL, &config, &err), TXM_OK);
    ck_assert_str_eq(txm_color_config_name(config), "built-in");
    ck_assert_str_eq(txm_color_config_named_by(config), "");
    says(txm_color_config_replaced(config), "$OCIO: /no/such/config.ocio: ");
    txm_color_free(&config);
    /* Blender may be able to load what this library cannot. */
    setenv("OCIO", write_file("future.ocio", "ocio_profile_version: 9\nroles: {scene_linear: lin}\n" TEXTURE_SPACES),
           1);
    ck_assert_int_eq(txm_color_load(NULL, &config, &err), TXM_STATUS_CONFIG);
    ck_assert_ptr_null(config);
    says(err.message, "$OCIO");
    /* A variable of Blender's own hides the other one, even if it is empty. */
    setenv("BLENDER_OCIO", "", 1);
    ck_assert_int_eq(txm_color_load(NULL, &config, NULL), TXM_OK);
    ck_assert_str_eq(txm_color_config_name(config), "built-in");
    txm_color_free(&config);
    setenv("BLENDER_OCIO", testdata("golden/config.ocio"), 1);
    ck_assert_int_eq(txm_color_load(NULL, &config, NULL), TXM_OK);
    ck_assert_str_eq(txm_color_config_named_by(config), "BLENDER_OCIO");
    ck_assert_str_eq(txm_color_config_replaced(config), "");
    txm_color_free(&config);
    unsetenv("BLENDER_OCIO");
    setenv("OCIO", "/no/such/config.ocio", 1);
    /* The option is considered first, however broken the variable is. */
    ck_assert_int_eq(txm_color_load(&option, &config, NULL), TXM_OK);
    txm_color_free(&config);
}

/* What official Blender 5.3.0 made of each. */
TEST(projects_name_configs)
{
    static const struct {
        const char *toml, *name; /* of the config; NULL: the built-in one */
    } rows[] = {
        {"schema_version = 1\nname = 'p'\nocio_config = '{project_root}/lin.ocio'\n", "/lin.ocio"},
        {"ocio_config = \"{project_root}/lin.ocio\" # of the film\nschema_version = 0\nname = "
         "\"\"\"p\"\"\"\n[a.b]\nc=[1,{d=2}]\n",
         "/lin.ocio"},
        {"\xEF\xBB\xBFschema_version = -1\nname = ' '\nocio_config = '{project_root}/lin.ocio'\n", "/lin.ocio"},
        {"schema_version = 1\nname = 'p'\nocio_config = '/tmp/../{project_root}/lin.ocio'\n", "/lin.ocio"},
        {"schema_version = 1\nname = 'p'\nocio_config = \"{project_root}/lin.ocio\\u0000x\"\n", "/lin.ocio"},
        {"schema_version = 1\r\nname = 'p'\r\nocio_config = '{project_root}/lin.ocio'\r\n", "/lin.ocio"},
        {"schema_version = 1\nocio_config = '{project_root}/lin.ocio'\n", NULL},
        {"schema_version = 1\nname = ''\nocio_config = '{project_root}/lin.ocio'\n", NULL},
        {"schema_version = 1\nname = 3\nocio_config = '{project_root}/lin.ocio'\n", NULL},
        {"name = 'p'\nocio_config = '{project_root}/lin.ocio'\n", NULL},
        {"schema_version = 2\nname = 'p'\nocio_config = '{project_root}/lin.ocio'\n", NULL},
        {"schema_version = 1.0\nname = 'p'\nocio_config = '{project_root}/lin.ocio'\n", NULL},
        {"schema_version = '1'\nname = 'p'\nocio_config = '{project_root}/lin.ocio'\n", NULL},
        {"schema_version = 1\nname = 'p'\nocio_config = 'lin.ocio'\n", NULL},
        {"schema_version = 1\nname = 'p'\nocio_config = '{project_root}lin.ocio'\n", NULL},
        {"schema_version = 1\nname = 'p'\nocio_config = '{project_root}/none.ocio'\n", NULL},
        {"schema_version = 1\nname = 'p'\nocio_config = '{other}/lin.ocio'\n", NULL},
        {"schema_version = 1\nname = 'p'\nocio_config = ''\n", NULL},
        {"schema_version = 1\nname = 'p'\nocio_config = 3\n", NULL},
        {"schema_version = 1\nname = 'p'\nocio_config = ['{project_root}/lin.ocio']\n", NULL},
        {"schema_version = 1\nname = 'p'\n", NULL},
        {"schema_version = 1\nname = 'p'\n[color]\nocio_config = '{project_root}/lin.ocio'\n", NULL},
        {"schema_version = 1\nname = 'p'\nocio_config = '{project_root}/lin.ocio\n", NULL},
        {"schema_version = 1\nname = 'p'\nocio_config = '{project_root}/lin.ocio'\nocio_config = 'x'\n", NULL},
        {"", NULL},
    };
    static const char number[] = "schema_version = 1\nname = 'p'\nocio_config = 3\n";
    static char deep[1 << 16] = "schema_version = 1\nname = 'p'\nocio_config = '{project_root}/lin.ocio'\na = ";
    FREED char *below = txm_asprintf("%s/.blender_project", folder), *path = txm_asprintf("%s/project.toml", below);
    txm_color_options options = {.struct_size = sizeof options, .ocio_path = path, .ignore_environment = true};
    txm_color_config *config = NULL;
    write_file("lin.ocio", "ocio_profile_version: 2\nroles: {default: lin, scene_linear: lin}\n" TEXTURE_SPACES);
    ck_assert_int_eq(mkdir(below, 0700), 0);
    ck_assert(txm_color_is_project(path) && txm_color_is_project(".blender_project/project.toml"));
    ck_assert(!txm_color_is_project("project.toml") && !txm_color_is_project("x.blender_project/project.toml") &&
              !txm_color_is_project(NULL));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        store(path, rows[i].toml, strlen(rows[i].toml));
        ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
        const char *name = txm_color_config_name(config),
                   *end = name + strlen(name) - (rows[i].name ? strlen(rows[i].name) : 0);
        ck_assert_msg(rows[i].name ? end > name && !strcmp(end, rows[i].name) : !strcmp(name, "built-in"), "%s: %s",
                      rows[i].toml, name);
        ck_assert_str_eq(txm_color_config_named_by(config), rows[i].name ? path : "");
        txm_color_free(&config);
    }
    /* 5.2 knows no projects. */
    store(path, rows[0].toml, strlen(rows[0].toml));
    options.blender = TXM_BLENDER_5_2;
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    ck_assert_str_eq(txm_color_config_name(config), "built-in");
    txm_color_free(&config);
    options.blender = TXM_BLENDER_NEWEST;
    /* The environment comes first. */
    options.ignore_environment = false;
    setenv("OCIO", testdata("golden/config.ocio"), 1);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    ck_assert_str_eq(txm_color_config_named_by(config), "OCIO");
    txm_color_free(&config);
    unsetenv("OCIO");
    /* Hostile files. */
    size_t n = strlen(deep);
    memset(deep + n, '[', sizeof deep - 1 - n);
    store(path, deep, sizeof deep - 1);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    says(txm_color_config_replaced(config), "not TOML");
    txm_color_free(&config);
    char *dotted = malloc(1 << 20);
    ck_assert_ptr_nonnull(dotted);
    for (size_t i = 0; i < (1 << 20) - 8; i += 2)
        memcpy(dotted + i, "a.", 2);
    memcpy(dotted + (1 << 20) - 8, "a = 1\n  ", 8);
    store(path, dotted, 1 << 20);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    says(txm_color_config_replaced(config), "more than 10000 dots");
    txm_color_free(&config);
    store(path, dotted + (1 << 20) - 8 - 20000, 20008);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    says(txm_color_config_replaced(config), "not a project for Blender");
    txm_color_free(&config);
    free(dotted);
    store(path, number, sizeof number - 1);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    says(txm_color_config_replaced(config), "ocio_config is not a text");
    txm_color_free(&config);
    ck_assert_int_eq(truncate(path, (1 << 20) + 1), 0);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    says(txm_color_config_replaced(config), "larger than 1 MiB");
    txm_color_free(&config);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    says(txm_color_config_replaced(config), "not a regular file");
    txm_color_free(&config);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    says(txm_color_config_replaced(config), "No such file");
    txm_color_free(&config);
    ck_assert_int_eq(rmdir(below), 0);
}

TEST(what_is_no_config_is_refused)
{
    says(refused(in_folder("missing.ocio"), TXM_STATUS_CONFIG), "No such file");
    says(refused("", TXM_STATUS_CONFIG), "No such file");
    says(refused(folder, TXM_STATUS_CONFIG), "not a regular file");
    says(refused(write_file("empty.ocio", "%s", ""), TXM_STATUS_CONFIG), "empty");
    says(refused(write_file("text.ocio", "just words\n"), TXM_STATUS_CONFIG), "not a usable OCIO config");
    says(refused(write_file("list.ocio", "- a\n- b\n"), TXM_STATUS_CONFIG), "not a usable OCIO config");
    says(refused(write_file("cut.ocio", "ocio_profile_version: 2\nroles: {a: b"), TXM_STATUS_CONFIG), "line");
    says(refused(write_file("tag.ocio", "ocio_profile_version: 2\nroles: !<\n"), TXM_STATUS_CONFIG), "invalid YAML");
    says(refused(write_file("three.ocio", "ocio_profile_version: 3.1\n"), TXM_STATUS_CONFIG), "3.1");
    ck_assert_int_eq(mkfifo(in_folder("pipe.ocioz"), 0600), 0);
    says(refused(in_folder("pipe.ocioz"), TXM_STATUS_CONFIG), "not a regular file");
    ck_assert_int_eq(mkfifo(in_folder("pipe.ocio"), 0600), 0);
    says(refused(in_folder("pipe.ocio"), TXM_STATUS_CONFIG), "not a regular file");
}

TEST(archives_need_a_newer_library)
{
    txm_color_options options = {.struct_size = sizeof(txm_color_options), .ocio_path = "ocio://no-such-config"};
    txm_color_config *config = NULL;
    txm_error err = {0};
    /* Every OpenColorIO refuses it: old ones cannot read archives, and new ones find no such config. */
    ck_assert_int_eq(txm_color_load(&options, &config, &err), TXM_STATUS_CONFIG);
    says(err.message, "ocio://no-such-config");
    says(refused(write_file("broken.ocioz", "PK"), TXM_STATUS_CONFIG), "broken.ocioz");
}

/* ---- hostile YAML -------------------------------------------------------------------------------------------- */

static txm_status scan(const char *text, txm_error *err)
{
    txm_config_scan found;
    return txm_config_scan_text(text, strlen(text), &found, err);
}

TEST(scan_finds_the_version)
{
    txm_config_scan found = {0};
    const char text[] = "# ocio_profile_version: 9\nroles: {ocio_profile_version: 8}\nname: ocio_profile_version\n"
                        "ocio_profile_version: 2.4\n";
    ck_assert_int_eq(txm_config_scan_text(text, sizeof text - 1, &found, NULL), TXM_OK);
    ck_assert_uint_eq(found.major, 2);
    ck_assert_uint_eq(found.minor, 4);
    ck_assert_int_eq(txm_config_scan_text("a: b", 4, &found, NULL), TXM_OK);
    ck_assert_uint_eq(found.major, 0);
}

TEST(versions_are_read)
{
    unsigned major = 7, minor = 7;
    ck_assert(txm_config_parse_version("2", &major, &minor) && major == 2 && minor == 0);
    ck_assert(txm_config_parse_version("2.11", &major, &minor) && major == 2 && minor == 11);
    static const char *const wrong[] = {"", ".", "2.", ".2", "2.x", "-2", "2.4.1", "99999", "2.99999", " 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!txm_config_parse_version(wrong[i], &major, &minor), "%s", wrong[i]);
}

TEST(scan_bounds_depth_and_size)
{
    static char text[3 * TXM_CONFIG_MAX_NODES];
    txm_error err = {0};
    memset(text, '[', TXM_CONFIG_MAX_DEPTH + 1);
    ck_assert_int_eq(scan(text, &err), TXM_STATUS_CONFIG);
    says(err.message, "deeper");
    memset(text + TXM_CONFIG_MAX_DEPTH, ']', TXM_CONFIG_MAX_DEPTH);
    ck_assert_int_eq(scan(text, NULL), TXM_OK);
    /* One list that is too long, and many short ones that are too long together. */
    strcpy(text, "[a");
    for (int i = 0; i < 2 * TXM_CONFIG_MAX_ITEMS; i++)
        strcat(text + 2 * i, ",a");
    strcat(text, "]");
    txm_error_clear(&err);
    ck_assert_int_eq(scan(text, &err), TXM_STATUS_CONFIG);
    says(err.message, "more entries");
}

TEST(scan_counts_what_aliases_stand_for)
{
    char text[4096] = "- &a0 [x, x, x, x, x, x, x, x, x, x]\n";
    txm_error err = {0};
    for (int i = 1; i < 5; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "- &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i - 1, i - 1, i - 1, i - 1);
    }
    ck_assert_int_eq(scan(text, NULL), TXM_OK);
    for (int i = 5; i < 40; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, "- &a%d [*a%d, *a%d, *a%d, *a%d]\n", i, i - 1, i - 1, i - 1, i - 1);
    }
    ck_assert_int_eq(scan(text, &err), TXM_STATUS_CONFIG);
    says(err.message, "more entries");
    txm_error_clear(&err);
    ck_assert_int_eq(scan("a: &a [*a]", &err), TXM_STATUS_CONFIG);
    says(err.message, "inside");
    txm_error_clear(&err);
    ck_assert_int_eq(scan("a: *b", &err), TXM_STATUS_CONFIG);
    says(err.message, "refers to an anchor that does not exist");
    /* A name may be defined again for another node. */
    ck_assert_int_eq(scan("- &a x\n- &a [*a, *a]\n- *a\n", NULL), TXM_STATUS_CONFIG);
    ck_assert_int_eq(scan("- &a x\n- &a [y]\n- *a\n", NULL), TXM_OK);
}

/* ---- configs from elsewhere ----------------------------------------------------------------------------------- */

/* An old custom role: scene_linear to XYZ is diag(1/2, 1/4, 1/8), so the way back is diag(2, 4, 8). */
TEST(xyz_role_gives_the_matrix)
{
    const char *path = write_file("xyz.ocio", "ocio_profile_version: 2\n"
                                              "roles: {default: lin, scene_linear: lin, XYZ: ciexyz}\n" TEXTURE_SPACES);
    SCOPED(txm_color_free) txm_color_config *config = load(path);
    ck_assert_str_eq(txm_color_xyz_to_scene_linear_text(config), "2_0_0_0_0_4_0_0_0_0_8_0");
    ck_assert_str_eq(txm_color_working_interop_id(config), "");
    ck_assert_str_eq(txm_color_config_version(config), "2.0");
}

TEST(no_interchange_role_is_rec709)
{
    const char *path = write_file("plain.ocio", "ocio_profile_version: 1\n"
                                                "roles: {default: lin, scene_linear: lin}\n" TEXTURE_SPACES);
    SCOPED(txm_color_free) txm_color_config *config = load(path);
    ck_assert_str_eq(txm_color_xyz_text_of(config, TXM_BLENDER_5_2),
                     "3.24_-1.537_-0.4985_0_-0.9693_1.876_0.04156_0_0.05564_-0.204_1.057_0");
    ck_assert_str_eq(txm_color_xyz_to_scene_linear_text(config),
                     "3.241_-1.537_-0.4986_0_-0.9692_1.876_0.04156_0_0.05563_-0.204_1.057_0");
}

TEST(scene_linear_is_needed)
{
    says(refused(write_file("role.ocio", "ocio_profile_version: 2\nroles: {default: lin}\n" TEXTURE_SPACES),
                 TXM_STATUS_CONFIG),
         "scene_linear");
    says(refused(write_file("to-nothing.ocio",
                            "ocio_profile_version: 2\nroles: {default: lin, scene_linear: none}\n" TEXTURE_SPACES),
                 TXM_STATUS_CONFIG),
         "scene_linear");
}

/* Tables are searched beside the config; if one is missing, only its space is unavailable. */
TEST(tables_beside_the_config)
{
    const txm_color_space *space = NULL;
    txm_error err = {0};
    float rgba[4] = {0.5f, 0.25f, 1, 1};
    write_file("half.spi1d", "Version 1\nFrom 0.0 1.0\nLength 2\nComponents 1\n{\n0.0\n0.5\n}\n");
    const char *path = write_file(
        "tables.ocio", "ocio_profile_version: 2\nroles: {default: lin, scene_linear: lin}\n" TEXTURE_SPACES
                       "  - !<ColorSpace> {name: table, to_scene_reference: !<FileTransform> {src: half.spi1d}}\n"
                       "  - !<ColorSpace> {name: lost, to_scene_reference: !<FileTransform> {src: no-such.spi1d}}\n");
    SCOPED(txm_color_free) txm_color_config *config = load(path);
    ck_assert_int_eq(txm_color_find(config, "table", &space, &err), TXM_OK);
    txm_color_apply(space, rgba, 1);
    ck_assert_float_eq_tol(rgba[0], 0.25f, 1e-6f);
    ck_assert_float_eq_tol(rgba[2], 0.5f, 1e-6f);
    const txm_color_space *lost = NULL;
    ck_assert_int_eq(txm_color_find(config, "lost", &lost, &err), TXM_STATUS_COLORSPACE);
    ck_assert_ptr_null(lost);
    says(err.message, "lost");
    says(err.message, "no-such.spi1d");
    /* The failure is remembered: it is reported again without another attempt. */
    txm_error_clear(&err);
    ck_assert_int_eq(txm_color_find(config, "lost", &lost, &err), TXM_STATUS_COLORSPACE);
    says(err.message, "no-such.spi1d");
}

/* A space that refers to itself is unavailable, with all that need it, but the process survives. */
TEST(spaces_in_a_circle)
{
    static const struct {
        const char *name, *says;
    } bad[] = {
        {"self", "\"self\" refers to itself"},
        {"a", "refers to itself: a -> b -> c -> a"},
        {"b", "refers to itself: b -> c -> a -> b"},
        {"group", "refers to itself: a -> b -> c -> a"},
        {"through look", "refers to itself: through look -> odd -> through look"},
        {"back", "\"back\" refers to itself"},
        {"by role", "\"by role\" refers to itself"},
        {"by alias", "\"by alias\" refers to itself"},
        {"one", "refers to itself: one -> two -> one"},
    };
    const char *path = write_file(
        "circles.ocio",
        "ocio_profile_version: 2\nroles: {default: lin, scene_linear: lin, turn: by role}\n"
        "looks:\n  - !<Look> {name: odd, process_space: lin, transform: !<ColorSpaceTransform> {src: through look, "
        "dst: "
        "lin}}\n" TEXTURE_SPACES
        "  - !<ColorSpace> {name: self, to_scene_reference: !<ColorSpaceTransform> {src: self, dst: lin}}\n"
        "  - !<ColorSpace> {name: a, to_scene_reference: !<ColorSpaceTransform> {src: b, dst: lin}}\n"
        "  - !<ColorSpace> {name: b, to_scene_reference: !<ColorSpaceTransform> {src: c, dst: lin}}\n"
        "  - !<ColorSpace> {name: c, to_scene_reference: !<ColorSpaceTransform> {src: a, dst: lin}}\n"
        "  - !<ColorSpace> {name: group, to_scene_reference: !<GroupTransform> {children: [!<ColorSpaceTransform> "
        "{src: "
        "a, dst: lin}]}}\n"
        "  - !<ColorSpace> {name: through look, to_scene_reference: !<LookTransform> {src: lin, dst: lin, looks: "
        "+odd}}\n"
        "  - !<ColorSpace> {name: back, from_scene_reference: !<ColorSpaceTransform> {src: lin, dst: back}}\n"
        "  - !<ColorSpace> {name: by role, to_scene_reference: !<ColorSpaceTransform> {src: turn, dst: lin}}\n"
        "  - !<ColorSpace> {name: by alias, aliases: [alias], to_scene_reference: !<ColorSpaceTransform> {src: alias, "
        "dst: "
        "lin}}\n"
        /* OpenColorIO follows both directions, although no conversion to the reference leads back here. */
        "  - !<ColorSpace> {name: one, to_scene_reference: !<ColorSpaceTransform> {src: two, dst: lin}, "
        "from_scene_reference: !<ExponentTransform> {value: [2, 2, 2, 1]}}\n"
        "  - !<ColorSpace> {name: two, to_scene_reference: !<ExponentTransform> {value: [2, 2, 2, 1]}, "
        "from_scene_reference: !<ColorSpaceTransform> {src: lin, dst: one}}\n"
        "  - !<ColorSpace> {name: sound, to_scene_reference: !<ExponentTransform> {value: [2, 2, 2, 1]}}\n");
    txm_color_config *config = load(path);
    const txm_color_space *space = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        txm_error err = {0};
        ck_assert_int_eq(txm_color_find(config, bad[i].name, &space, &err), TXM_STATUS_COLORSPACE);
        says(err.message, bad[i].says);
    }
    txm_error none = {0};
    float rgba[4] = {0.5f, 0.5f, 0.5f, 1};
    ck_assert_msg(txm_color_find(config, "sound", &space, &none) == TXM_OK, "%s", none.message);
    txm_color_apply(space, rgba, 1);
    ck_assert_double_eq_tol(rgba[0], 0.25, OCIO_POWER_ERROR);
    txm_color_free(&config);
    txm_error err = {0};
    config = load(write_file(
        "circle.ocio",
        "ocio_profile_version: 2\nroles: {default: lin, scene_linear: self}\n" TEXTURE_SPACES
        "  - !<ColorSpace> {name: self, to_scene_reference: !<ColorSpaceTransform> {src: self, dst: lin}}\n"));
    ck_assert_int_eq(txm_color_find(config, "lin", &space, &err), TXM_STATUS_COLORSPACE);
    says(err.message, "\"self\" refers to itself");
    txm_color_free(&config);
}

/* Each space uses the one before it twice, so OpenColorIO would build 2^60 transforms. */
TEST(spaces_that_multiply)
{
    static char text[60 * 300];
    size_t n = 0;
    for (int i = 1; i <= 60; i++)
        n += (size_t)snprintf(
            text + n, sizeof text - n,
            "  - !<ColorSpace> {name: s%d, to_scene_reference: !<GroupTransform> {children: ["
            "!<ColorSpaceTransform> {src: s%d, dst: lin}, !<ColorSpaceTransform> {src: s%d, dst: lin}]}}\n",
            i, i - 1, i - 1);
    SCOPED(txm_color_free)
    txm_color_config *config = load(
        write_file("bomb.ocio",
                   "ocio_profile_version: 2\nroles: {default: lin, scene_linear: lin}\n" TEXTURE_SPACES
                   "  - !<ColorSpace> {name: s0, to_scene_reference: !<ExponentTransform> {value: [2, 2, 2, 1]}}\n%s",
                   text));
    const txm_color_space *space = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_color_find(config, "s5", &space, &err) == TXM_OK, "%s", err.message);
    ck_assert_int_eq(txm_color_find(config, "s60", &space, &err), TXM_STATUS_COLORSPACE);
    says(err.message, "more than 10000 transforms");
}

/* A table that never ends, or never delivers a byte, is not opened. */
TEST(tables_that_are_no_files)
{
    SCOPED(txm_color_free)
    txm_color_config *config = load(write_file(
        "devices.ocio", "ocio_profile_version: 2\nroles: {default: lin, scene_linear: lin}\n" TEXTURE_SPACES
                        "  - !<ColorSpace> {name: pipe, to_scene_reference: !<FileTransform> {src: pipe.spi1d}}\n"
                        "  - !<ColorSpace> {name: zero, to_scene_reference: !<FileTransform> {src: /dev/zero}}\n"
                        "  - !<ColorSpace> {name: link, to_scene_reference: !<FileTransform> {src: link.cube}}\n"
                        "  - !<ColorSpace> {name: huge, to_scene_reference: !<FileTransform> {src: huge.cube}}\n"));
    static const char *const names[] = {"pipe", "zero", "link", "huge"};
    ck_assert_int_eq(mkfifo(in_folder("pipe.spi1d"), 0600), 0);
    ck_assert_int_eq(symlink("/dev/zero", in_folder("link.cube")), 0);
    ck_assert_int_eq(truncate(write_file("huge.cube", "LUT_3D_SIZE 2\n"), (off_t)1 << 40), 0);
    for (size_t i = 0; i < 4; i++) {
        const txm_color_space *space = NULL;
        txm_error err = {0};
        ck_assert_int_eq(txm_color_find(config, names[i], &space, &err), TXM_STATUS_COLORSPACE);
        says(err.message, i == 3 ? "larger than the 256 MiB" : "not a regular file");
    }
}

/* A downloaded config may name any file of the user's as a table: what is in it is nobody's business. */
TEST(tables_are_not_quoted)
{
    static const char *const names[] = {"cube", "spi1d", "spi3d", "csp", "3dl", "vf", "lut", "cc", "clf", "spimtx"};
    txm_bytes text = {0};
    txm_bytes_puts(&text, "ocio_profile_version: 2\nroles: {default: lin, scene_linear: lin}\n" TEXTURE_SPACES);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char file[32];
        snprintf(file, sizeof file, "secret.%s", names[i]);
        write_file(file, "SECRET's 1 2 3\nroot:'SECRET' SECRET\n<SECRET>\n");
        txm_bytes_printf(&text, "  - !<ColorSpace> {name: %s, to_scene_reference: !<FileTransform> {src: %s}}\n",
                         names[i], file);
    }
    txm_color_config *config = load(write_file("secrets.ocio", "%s", text.data));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const txm_color_space *space = NULL;
        txm_error err = {0};
        ck_assert_int_eq(txm_color_find(config, names[i], &space, &err), TXM_STATUS_COLORSPACE);
        ck_assert_msg(!strstr(err.message, "SECRET"), "%s", err.message);
    }
    txm_color_free(&config);
    txm_bytes_free(&text);
    says(refused(write_file("secret.ocio", "pass: *SECRET\n"), TXM_STATUS_CONFIG), "it has no ocio_profile_version");
}

TEST(file_rules_that_match)
{
    const char *path = write_file(
        "rules.ocio", "ocio_profile_version: 2\nroles: {default: lin, scene_linear: lin, data: raw}\n"
                      "file_rules:\n"
                      "  - !<Rule> {name: normals, colorspace: data, pattern: \"*_nor*\", extension: \"*\"}\n"
                      "  - !<Rule> {name: exr, colorspace: lin, regex: \".*[.]exr$\"}\n"
                      "  - !<Rule> {name: gone, colorspace: nowhere, pattern: \"*gone*\", extension: \"*\"}\n"
                      "  - !<Rule> {name: Default, colorspace: ciexyz}\n" TEXTURE_SPACES);
    txm_color_config *config = load(path);
    ck_assert_str_eq(txm_color_file_rule(config, "/a/wall_nor_gl.png"), "raw");
    ck_assert_str_eq(txm_color_file_rule(config, "wall.exr"), "lin");
    /* The default rule matches everything, so it does not count; nor does a space that does not exist. */
    ck_assert_ptr_null(txm_color_file_rule(config, "wall.png"));
    ck_assert_ptr_null(txm_color_file_rule(config, "gone.png"));
    ck_assert_ptr_null(txm_color_file_rule(config, NULL));
    txm_color_free(&config);
    config = load(NULL);
    ck_assert_ptr_null(txm_color_file_rule(config, "wall_nor_gl.png"));
    txm_color_free(&config);
}

/* ---- configs newer than OpenColorIO ----------------------------------------------------------------------------- */

static void check_unavailable(const txm_color_config *config, const char *name, const char *part)
{
    const txm_color_space *space = NULL;
    txm_error err = {0};
    ck_assert_str_eq(txm_color_canonical(config, name), name);
    ck_assert_int_eq(txm_color_find(config, name, &space, &err), TXM_STATUS_COLORSPACE);
    ck_assert_ptr_null(space);
    says(err.message, name);
    says(err.message, part);
}

TEST(newer_config_keeps_what_textures_need)
{
    static const char *const order[] = {
        "sRGB - Display", "Display P3 HDR - Display", "ACES2065-1", "CIE XYZ-D65",  "ARRI LogC4",
        "Linear Rec.709", "sRGB - Texture",           "Half Known", "Behind LogC4", "Raw"};
    SCOPED(txm_color_free) txm_color_config *config = load(testdata("color/newer-2.9.ocio")), *builtin = load(NULL);
    const txm_color_space *space = NULL;
    ck_assert_str_eq(txm_color_config_version(config), "2.9");
    ck_assert_str_eq(txm_color_xyz_to_scene_linear_text(config), txm_color_xyz_to_scene_linear_text(builtin));
    ck_assert_str_eq(txm_color_working_interop_id(config), "lin_rec709_scene");
    ck_assert_str_eq(txm_color_canonical(config, "srgb_rec709_scene"), "sRGB - Texture");
    ck_assert_str_eq(txm_color_canonical(config, "srgb_rec709_display"), "sRGB - Display");
    ck_assert_str_eq(txm_color_canonical(config, "data"), "Raw");
    ck_assert_str_eq(txm_color_file_rule(config, "a_nor.png"), "Raw");
    ck_assert_int_eq(txm_color_find(config, "default_byte", &space, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_space_class(space), TXM_COLOR_CLASS_SRGB);
    ck_assert_int_eq(txm_color_find(config, "srgb_display", &space, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_space_class(space), TXM_COLOR_CLASS_SRGB);
    ck_assert_uint_eq(txm_color_count(config), sizeof order / sizeof *order);
    for (size_t i = 0; i < txm_color_count(config); i++) {
        txm_color_entry entry;
        ck_assert_int_eq(txm_color_entry_at(config, i, &entry, NULL), TXM_OK);
        ck_assert_str_eq(entry.name, order[i]);
    }
}

TEST(newer_config_says_what_is_left_out)
{
    SCOPED(txm_color_free) txm_color_config *config = load(testdata("color/newer-2.9.ocio"));
    const char *left_out = txm_color_config_left_out(config);
    txm_color_entry entry;
    static const char *const parts[] = {"displays", "looks",      "named_transforms", "future",
                                        "ACES 2.0", "ARRI LogC4", "Half Known",       "Display P3 HDR - Display"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        says(left_out, parts[i]);
    ck_assert_ptr_null(strstr(left_out, "Un-tone-mapped"));
    check_unavailable(config, "ARRI LogC4", "ARRI_LOGC9_to_ACES2065-1");
    check_unavailable(config, "Display P3 HDR - Display", "OpenColorIO");
    /* A transform with a key that OpenColorIO does not know is refused and not applied in part. */
    check_unavailable(config, "Half Known", "twist");
    /* If a space needs another one that is missing, the message names that one. */
    check_unavailable(config, "Behind LogC4", "ARRI LogC4");
    ck_assert_int_eq(txm_color_entry_at(config, 4, &entry, NULL), TXM_OK);
    ck_assert(!entry.available);
    ck_assert_str_eq(entry.family, "Input");
    ck_assert_str_eq(entry.aliases[0], "arri_logc4");
    ck_assert_ptr_null(entry.aliases[1]);
    ck_assert_str_eq(txm_color_canonical(config, "ARRI_LogC4"), "ARRI LogC4");
    /* A role or rule that leads to such a space still does: to substitute another space would be wrong. */
    ck_assert_str_eq(txm_color_role(config, "color_timing"), "ARRI LogC4");
    ck_assert_str_eq(txm_color_canonical(config, "color_timing"), "ARRI LogC4");
    ck_assert_str_eq(txm_color_file_rule(config, "a_logc4.exr"), "ARRI LogC4");
    ck_assert_int_eq(txm_color_entry_at(config, txm_color_count(config), &entry, NULL), TXM_STATUS_USAGE);
}

/* Display-referred spaces need the default view transform. Without it they are unavailable; they are not converted in
 * some other way. */
TESTS(lost_default_view_is_not_replaced, 2)
{
    /* This one is the default because it is named so, or because it is the first. */
    const char *named = _i ? "default_view_transform: future\n" : "";
    const char *path = write_file(
        "view.ocio",
        "ocio_profile_version: 2.7\nroles: {default: lin, scene_linear: lin}\n"
        "%sview_transforms:\n"
        "  - !<ViewTransform> {name: future, from_scene_reference: !<FutureTransform> {}}\n"
        "  - !<ViewTransform> {name: simple, from_scene_reference: !<MatrixTransform> {offset: [1, 1, 1, 0]}}\n"
        "display_colorspaces:\n"
        "  - !<ColorSpace> {name: screen, from_display_reference: !<MatrixTransform> {offset: [2, 2, 2, "
        "0]}}\n" TEXTURE_SPACES,
        named);
    SCOPED(txm_color_free) txm_color_config *config = load(path);
    const txm_color_space *space = NULL;
    says(txm_color_config_left_out(config), "future");
    ck_assert_int_eq(txm_color_find(config, "screen", &space, NULL), TXM_STATUS_COLORSPACE);
    ck_assert_int_eq(txm_color_find(config, "lin", &space, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_find(config, "ciexyz", &space, NULL), TXM_OK);
    ck_assert_int_eq(txm_color_find(config, "raw", &space, NULL), TXM_OK);
    ck_assert_ptr_null(strstr(txm_color_config_left_out(config), "colour spaces"));
}

TEST(newer_config_may_still_be_broken)
{
    const char *message =
        refused(write_file("twice.ocio", "ocio_profile_version: 2.9\nroles: {default: a, scene_linear: a}\n"
                                         "colorspaces:\n  - !<ColorSpace> {name: a}\n  - !<ColorSpace> {name: a}\n"),
                TXM_STATUS_CONFIG);
    says(message, "already defined");
    says(message, "2.9");
    refused(write_file("odd.ocio", "ocio_profile_version: 2.9\nroles: 5\ncolorspaces: [1, {a: b}, [c]]\n"),
            TXM_STATUS_CONFIG);
    refused(write_file("odd.ocio", "ocio_profile_version: 2.9\nroles: {default: a, scene_linear: a}\n"
                                   "colorspaces: {a: b}\nview_transforms: x\nfile_rules: &a [x, {name: [x]}]\n"
                                   "display_colorspaces: *a\n"),
            TXM_STATUS_CONFIG);
    refused(write_file("odd.ocio", "ocio_profile_version: 2.9\n"), TXM_STATUS_CONFIG);
    refused(write_file("odd.ocio", "[ocio_profile_version, 2.9]\n"), TXM_STATUS_CONFIG);
}

/* Names of tx files and all pixels depend on these two roles. */
TEST(roles_that_cannot_be_left_out)
{
    const char future[] = "  - !<ColorSpace> {name: future, to_scene_reference: !<FutureTransform> {}}\n";
    const char *message = refused(write_file("linear.ocio",
                                             "ocio_profile_version: 2.9\nroles: {default: lin, scene_linear: "
                                             "future}\n" TEXTURE_SPACES "%s",
                                             future),
                                  TXM_STATUS_CONFIG);
    says(message, "scene_linear, which cannot be built");
    message = refused(write_file("aces.ocio",
                                 "ocio_profile_version: 2.9\nroles: {default: lin, scene_linear: lin, "
                                 "aces_interchange: future}\n" TEXTURE_SPACES "%s",
                                 future),
                      TXM_STATUS_CONFIG);
    says(message, "aces_interchange, which cannot be built");
}

/* If another space has this interop id as its name or alias, that space keeps it. */
TEST(interop_ids_do_not_clash)
{
    const char *path = write_file(
        "ids.ocio", "ocio_profile_version: 2.9\nroles: {default: a, scene_linear: a}\n"
                    "colorspaces:\n"
                    "  - !<ColorSpace> {name: a, interop_id: lin_rec709_scene}\n"
                    "  - !<ColorSpace> {name: b, aliases: [LIN_REC709_SCENE], interop_id: srgb_rec709_scene}\n"
                    "  - !<ColorSpace> {name: c, interop_id: srgb_rec709_scene}\n");
    SCOPED(txm_color_free) txm_color_config *config = load(path);
    ck_assert_str_eq(txm_color_canonical(config, "lin_rec709_scene"), "b");
    ck_assert_str_eq(txm_color_canonical(config, "srgb_rec709_scene"), "b");
    ck_assert_uint_eq(txm_color_count(config), 3);
}

/* ---- names --------------------------------------------------------------------------------------------------- */

TEST(unknown_names_get_suggestions)
{
    static const struct {
        const char *typed, *near;
    } rows[] = {{"sRBG", "\"sRGB\""},
                {"Linear Rec709", "\"Linear Rec.709\""},
                {"ACEScgg", "\"ACEScg\""},
                {"non color", "\"Non-Color\""},
                {"LogC4", "\"ARRI LogC4\""},
                {"linear", "\"Linear Rec"},
                {"srgb_rec709_scen", "\"sRGB\""}};
    SCOPED(txm_color_free) txm_color_config *config = load(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const txm_color_space *space = NULL;
        txm_error err = {0};
        if (txm_color_canonical(config, rows[i].typed))
            continue;
        ck_assert_int_eq(txm_color_find(config, rows[i].typed, &space, &err), TXM_STATUS_COLORSPACE);
        says(err.message, rows[i].typed);
        says(err.message, "did you mean");
        says(err.message, rows[i].near);
    }
}

TEST(strange_names_are_just_unknown)
{
    SCOPED(txm_color_free) txm_color_config *config = load(NULL);
    const txm_color_space *space = NULL;
    txm_error err = {0};
    FREED char *endless = malloc(100001);
    ck_assert_ptr_nonnull(endless);
    memset(endless, 'x', 100000);
    endless[100000] = 0;
    ck_assert_int_eq(txm_color_find(config, endless, &space, &err), TXM_STATUS_COLORSPACE);
    ck_assert_uint_lt(strlen(err.message), sizeof err.message);
    txm_error_clear(&err);
    ck_assert_int_eq(txm_color_find(config, "zzzzzzzzzzzzzzz", &space, &err), TXM_STATUS_COLORSPACE);
    ck_assert_ptr_null(strstr(err.message, "did you mean"));
    says(err.message, "txmill colorspaces");
    ck_assert_int_eq(txm_color_find(config, "", &space, NULL), TXM_STATUS_COLORSPACE);
    ck_assert_int_eq(txm_color_find(config, NULL, &space, NULL), TXM_STATUS_COLORSPACE);
    ck_assert_int_eq(txm_color_find(config, "%s%n\xff\x01", &space, NULL), TXM_STATUS_COLORSPACE);
    ck_assert_ptr_null(space);
}
