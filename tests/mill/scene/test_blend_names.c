/* SPDX-License-Identifier: Apache-2.0
 * Colour space names in scenes, and the tx files that Blender 5.2.2 and 5.2.3 looked up for them while rendering:
 * testdata/blend/stored-names.tsv has every name, alias and role of their config, and words that the config does not
 * have. And what Blender 5.3.0 made of names with interop ids when it opened a scene: testdata/blend/opened-names.tsv.
 */
#include "base/mem.h"
#include "tile/terms/settings.h"
#include "txmill/color.h"
#include "txmill/inspect.h"
#include "util_blend.h"
#include "util_check.h"

/* Stores a scene at `path` whose only image has this colour space, given as bytes, and opens it. */
static txm_scene *scene_with(const scene_file *scene, const char *name, const txm_color_config *config,
                             const char *path)
{
    scene_file *file = scene_convert(scene, scene_plain, NULL);
    for (size_t i = 0; i < file->block_count; i++) {
        if (strcmp(file->blocks[i].type, "Image") == 0) {
            scene_set_text(file, &file->blocks[i], "colorspace_settings.name", name);
        }
    }
    size_t bytes;
    uint8_t *data = scene_encode(file, &bytes);
    const txm_scene_options options = {
        .struct_size = sizeof options, .colors = txm_scene_colors_of(config), .opened = txm_scene_opened_name};
    txm_scene *blend = NULL;
    spill(path, data, bytes);
    ck_assert_int_eq(txm_scene_open(path, &options, &blend, NULL), TXM_OK);
    ck_assert_uint_eq(txm_scene_image_count(blend), 1);
    free(data);
    scene_free(file);
    return blend;
}

/* Returns the digest in the name of an image's tx file. */
static void digest_of(const txm_scene_image *image, const txm_color_config *config, char digest[33])
{
    txm_settings settings;
    txm_found found;
    txm_settings_init(&settings);
    settings.colorspace = image->colorspace;
    settings.alpha = TXM_ALPHA_STRAIGHT;
    FREED char *picture = scene_path("textures/wood.png");
    ck_assert_int_eq(txm_look_up(config, picture, &settings, &found, NULL), TXM_OK);
    snprintf(digest, 33, "%s", strstr(found.path, ".png.0-") + strlen(".png.0-"));
    txm_found_clear(&found);
}

TEST(names_are_looked_up_as_they_are_stored)
{
    char *path = scene_path("stored-names.tsv"), *folder = make_folder(),
         *stored = txm_asprintf("%s/scene.blend", folder);
    size_t bytes, rows = 0;
    char *table = (char *)slurp(path, &bytes), *rest = table, *line;
    scene_file *scene = small_scene("lib/far.blend", "MA IM GLOB", scene_plain);
    txm_color_config *config = NULL;
    const txm_color_options of_5_2 = {.struct_size = sizeof of_5_2, .blender = TXM_BLENDER_5_2};
    ck_assert_int_eq(txm_color_load(&of_5_2, &config, NULL), TXM_OK);
    while ((line = strsep(&rest, "\n")) && *line) {
        char *name = strsep(&line, "\t"), digest[33];
        txm_scene *blend = scene_with(scene, name, config, stored);
        const txm_scene_image *image = txm_scene_image_at(blend, 0);
        digest_of(image, config, digest);
        ck_assert_msg(strcmp(digest, line) == 0, "\"%s\" is looked up as \"%s\": %s, not %s", name, image->colorspace,
                      digest, line);
        ck_assert_str_eq(image->colorspace_stored, name);
        ck_assert_int_eq(image->colorspace_known, image->colorspace_name || !*name);
        txm_scene_close(&blend);
        rows++;
    }
    ck_assert_uint_eq(rows, 366);
    txm_color_free(&config);
    scene_free(scene);
    free(table);
    free(stored);
    remove_folder(folder);
    free(path);
}

TEST(names_are_opened_as_the_release_opens_them)
{
    char *path = scene_path("opened-names.tsv"), *rest, *line;
    size_t bytes, rows = 0;
    FREED char *table = (char *)slurp(path, &bytes);
    rest = table;
    txm_color_options options = {.struct_size = sizeof options, .blender = TXM_BLENDER_5_2};
    SCOPED(txm_color_free) txm_color_config *older = NULL, *config = NULL;
    ck_assert_int_eq(txm_color_load(&options, &older, NULL), TXM_OK);
    options.blender = TXM_BLENDER_5_3;
    ck_assert_int_eq(txm_color_load(&options, &config, NULL), TXM_OK);
    for (; (line = strsep(&rest, "\n")) && *line; rows++) {
        const char *name = strsep(&line, "\t"), *id = strsep(&line, "\t");
        const char *opened = *name ? txm_scene_opened_name(config, name, id) : NULL;
        ck_assert_msg(strcmp(opened ? opened : "", line) == 0, "'%s' with id '%s' becomes '%s', not '%s'", name, id,
                      opened ? opened : "", line);
        opened = txm_scene_opened_name(older, name, id);
        ck_assert(!opened || strcmp(opened, name) == 0);
    }
    ck_assert_uint_eq(rows, 317);
    free(path);
}

/* Blender's config has a role whose name has another meaning on a command line. */
TEST(words_may_be_names)
{
    static const struct {
        const char *setting, *name;
        txm_space_choice choice;
    } rows[] = {{NULL, NULL, TXM_SPACE_DEFAULT},     {"default", NULL, TXM_SPACE_DEFAULT},
                {"auto", NULL, TXM_SPACE_AUTO},      {"=default", "default", TXM_SPACE_NAMED},
                {"=auto", "auto", TXM_SPACE_NAMED},  {"Default", "Default", TXM_SPACE_NAMED},
                {"=sRGB", "=sRGB", TXM_SPACE_NAMED}, {"", "", TXM_SPACE_NAMED},
                {"=", NULL, TXM_SPACE_UNSET}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name;
        ck_assert_int_eq(txm_space_chosen(rows[i].setting, &name), rows[i].choice);
        ck_assert_pstr_eq(name, rows[i].name);
        if (rows[i].choice == TXM_SPACE_NAMED) {
            ck_assert_str_eq(txm_space_setting(name), rows[i].setting);
        }
    }
    ck_assert_str_eq(txm_space_setting(NULL), "=");
}
