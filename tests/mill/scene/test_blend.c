/* SPDX-License-Identifier: Apache-2.0
 * Scenes that Blender 3.4.1 and 5.2.2 wrote, compared with what Blender's Python lists for them. */
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "txmill/scene.h"
#include "util_blend.h"
#include "util_check.h"

/* ---- against Blender's own list ------------------------------------------------------------------------------- */

static const char *const scenes[] = {"materials", "packed",  "linked",      "missing", "inside", "circle_a",
                                     "circle_b",  "lib/far", "lib/library", "lint",    "graph",  "overrides"};

TESTS(agrees_with_blender, sizeof scenes / sizeof *scenes)
{
    char name[64];
    snprintf(name, sizeof name, "%s.blend", scenes[_i]);
    FREED char *path = scene_path(name), *folder = scene_path("");
    snprintf(name, sizeof name, "%s.json", scenes[_i]);
    FREED char *json = scene_path(name);
    txm_scene *blend = open_scene(path, false);
    check_against_blender(blend, json, folder);
    txm_scene_close(&blend);
    ck_assert_ptr_null(blend);
}

TEST(tells_about_the_file)
{
    FREED char *path = scene_path("materials.blend");
    SCOPED(txm_scene_close) txm_scene *blend = open_scene(path, false);
    const txm_scene_info *info = txm_scene_info_of(blend);
    ck_assert_str_eq(info->path, path);
    ck_assert_int_eq(info->version, 304);
    ck_assert_int_eq(info->subversion, 6);
    ck_assert_str_eq(info->compression, "zstd");
    ck_assert_uint_eq(info->pointer_bytes, 8);
    ck_assert(!info->big_endian);
    ck_assert_ptr_null(info->working_space); /* files have one since Blender 5.1 */
    ck_assert_ptr_null(txm_scene_image_at(blend, txm_scene_image_count(blend)));
    ck_assert_ptr_null(txm_scene_library_at(blend, 0));
    ck_assert_ptr_null(txm_scene_finding_at(blend, 0));
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

TEST(finds_the_files_of_an_image)
{
    FREED char *path = scene_path("materials.blend"), *brick = scene_path("textures/brick.1012.png");
    SCOPED(txm_scene_close) txm_scene *blend = open_scene(path, false);
    const txm_scene_image *im = image_named(blend, "brick");
    ck_assert_int_eq(im->state, TXM_SCENE_STATE_READY);
    ck_assert_uint_eq(im->tile_count, 4);
    ck_assert_uint_eq(im->file_count, 3); /* 1013 is listed, but its file is missing */
    ck_assert_uint_eq(im->files[2].number, 1012);
    ck_assert_str_eq(im->files[2].path, brick);
    ck_assert_uint_eq(im->files[2].bytes, 74);
    im = image_named(blend, "cloth"); /* <UVTILE> */
    ck_assert_uint_eq(im->file_count, 2);
    ck_assert_uint_eq(im->files[1].number, 1002);
    ck_assert_str_eq(txm_path_base(im->files[1].path), "cloth_u2_v1.png");
    im = image_named(blend, "frames"); /* files with other digits or another extension are another sequence */
    ck_assert_uint_eq(im->file_count, 3);
    ck_assert_uint_eq(im->files[0].number, 1);
    ck_assert_uint_eq(im->files[2].number, 10);
    ck_assert_str_eq(txm_path_base(im->files[2].path), "frame_0010.png");
}

/* frames.tsv: which file Blender 5.3.0 shows in which node and frame. */
TEST(shows_the_frames_that_blender_shows)
{
    char *path = scene_path("frames.blend"), *table = scene_path("frames.tsv"), line[128], node[8], name[64];
    txm_scene *blend = open_scene(path, false);
    const txm_scene_image *im = image_named(blend, "frames");
    FILE *f = fopen(table, "r");
    size_t ranges, rows = 0;
    const txm_frame_range *range = txm_scene_frames(blend, &ranges);
    int frame;
    uint32_t number;
    ck_assert_uint_eq(ranges, 1);
    ck_assert(range->first == 0 && range->last == 12 && range->step == 1);
    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof line, f)) {
        if (sscanf(line, "%7[^\t]\t%d\t%63s", node, &frame, name) != 3)
            continue;
        size_t u = 0;
        while (u < im->user_count && strcmp(im->users[u].node, node))
            u++;
        ck_assert_uint_lt(u, im->user_count);
        ck_assert(txm_scene_frame_number(blend, &im->users[u], frame, &number));
        char *shown = txm_scene_numbered_path(im, number);
        ck_assert_str_eq(txm_path_base(shown), name);
        free(shown);
        rows++;
    }
    ck_assert_uint_eq(rows, 9 * 16);
    fclose(f);
    txm_scene_close(&blend);
    free(path);
    free(table);
    /* Where the frame is driven, or animated, it is unknown. */
    static const char *const varying[] = {"frames-driven.blend", "frames-keyed.blend"};
    for (size_t i = 0; i < 2; i++) {
        path = scene_path(varying[i]);
        blend = open_scene(path, false);
        im = image_named(blend, "frames");
        ck_assert(!txm_scene_frame_number(blend, im->users, 1, &number));
        txm_scene_close(&blend);
        free(path);
    }
    path = scene_path("materials.blend"); /* a single file has no frames */
    blend = open_scene(path, false);
    ck_assert_ptr_null(txm_scene_numbered_path(image_named(blend, "premul"), 1));
    FREED char *tile = txm_scene_numbered_path(image_named(blend, "brick"), 1013),
               *uv = txm_scene_numbered_path(image_named(blend, "cloth"), 1012);
    ck_assert_str_eq(txm_path_base(tile), "brick.1013.png");
    ck_assert_str_eq(txm_path_base(uv), "cloth_u2_v2.png");
    txm_scene_close(&blend);
    free(path);
}

TEST(says_why_there_is_nothing_to_convert)
{
    static const struct {
        const char *name;
        txm_scene_state state;
        size_t files;
    } expected[] = {{"wood", TXM_SCENE_STATE_READY, 1},          {"missing", TXM_SCENE_STATE_MISSING, 1},
                    {"missing set", TXM_SCENE_STATE_MISSING, 0}, {"generated", TXM_SCENE_STATE_NO_FILE, 0},
                    {"movie", TXM_SCENE_STATE_NO_FILE, 0},       {"no path", TXM_SCENE_STATE_NO_PATH, 0}};
    FREED char *path = scene_path("materials.blend");
    SCOPED(txm_scene_close) txm_scene *blend = open_scene(path, false);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const txm_scene_image *im = image_named(blend, expected[i].name);
        ck_assert_int_eq(im->state, expected[i].state);
        ck_assert_uint_eq(im->file_count, expected[i].files);
    }
    ck_assert(!image_named(blend, "missing")->files[0].exists);
}

/* ---- colour spaces -------------------------------------------------------------------------------------------- */

static const char *canonical(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "Linear") == 0 ? "Linear Rec.709" : strcmp(name, "Raw") == 0 ? NULL : name;
}

static bool is_data(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "Non-Color") == 0;
}

TEST(takes_the_configs_names)
{
    FREED char *path = scene_path("materials.blend");
    txm_scene_options options = {.struct_size = sizeof(txm_scene_options),
                                 .colors = {.canonical = canonical, .is_data = is_data}};
    SCOPED(txm_scene_close) txm_scene *blend = NULL;
    ck_assert_int_eq(txm_scene_open(path, &options, &blend, NULL), TXM_OK);
    const txm_scene_image *im = image_named(blend, "premul");
    ck_assert_str_eq(im->colorspace_stored, "Linear");
    ck_assert_str_eq(im->colorspace, "Linear"); /* Cycles uses it as it is */
    ck_assert_str_eq(im->colorspace_name, "Linear Rec.709");
    ck_assert(im->colorspace_known && !im->data);
    im = image_named(blend, "rough"); /* unknown in this config, so Blender clears it */
    ck_assert_str_eq(im->colorspace_stored, "Raw");
    ck_assert_str_eq(im->colorspace, "=");
    ck_assert(!im->colorspace_known && !im->colorspace_name);
    ck_assert(image_named(blend, "wood normal")->data);
}

/* ---- libraries ------------------------------------------------------------------------------------------------ */

TEST(follows_what_is_linked_and_no_more)
{
    FREED char *path = scene_path("linked.blend"), *far = scene_path("lib/far.blend"),
               *lib = scene_path("lib/library.blend");
    SCOPED(txm_scene_close) txm_scene *blend = open_scene(path, false);
    ck_assert_uint_eq(txm_scene_library_count(blend), 2);
    ck_assert_str_eq(txm_scene_library_at(blend, 0)->path, lib);
    ck_assert_str_eq(txm_scene_library_at(blend, 0)->parent, path);
    ck_assert_str_eq(txm_scene_library_at(blend, 1)->path, far);
    ck_assert_str_eq(txm_scene_library_at(blend, 1)->parent, lib);
    /* Materials are found from a collection through objects and meshes, also those in a library's library. */
    ck_assert_str_eq(image_named(blend, "object")->library, lib);
    ck_assert_str_eq(image_named(blend, "far")->library, far);
    for (size_t i = 0; i < txm_scene_image_count(blend); i++) {
        ck_assert_str_ne(txm_scene_image_at(blend, i)->name, "unused");
    }
    /* The override belongs to the scene, and its image to the library. */
    const txm_scene_image *im = image_named(blend, "lib");
    ck_assert_uint_eq(im->user_count, 2);
    ck_assert_str_eq(im->users[0].owner, "lib material");
    ck_assert_str_eq(im->users[0].library, lib);
    ck_assert_str_eq(im->users[1].owner, "overridden");
    ck_assert_str_eq(im->users[1].library, "");
}

TEST(reports_missing_libraries)
{
    FREED char *path = scene_path("missing.blend"), *gone = scene_path("lib/gone.blend");
    SCOPED(txm_scene_close) txm_scene *blend = open_scene(path, false);
    ck_assert_uint_eq(txm_scene_library_count(blend), 1);
    const txm_scene_library *l = txm_scene_library_at(blend, 0);
    ck_assert_str_eq(l->path, gone);
    ck_assert_int_eq(l->state, TXM_SCENE_LIBRARY_STATE_MISSING);
    ck_assert_int_eq(l->status, TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(l->message, "gone.blend"));
}

/* Makes a scene that links a library, in its own folder. `content` is the library's content. */
static txm_scene *with_library(char *folder, const void *content, size_t bytes)
{
    FREED char *path = scene_path("linked.blend"), *copy = txm_path_join(folder, "linked.blend");
    FREED char *lib = txm_path_join(folder, "lib"), *library = txm_path_join(lib, "library.blend");
    size_t scene_bytes;
    FREED uint8_t *scene = slurp(path, &scene_bytes);
    spill(copy, scene, scene_bytes);
    mkdir(lib, 0777);
    spill(library, content, bytes);
    txm_scene *blend = open_scene(copy, false);
    return blend;
}

TEST(reports_broken_and_changed_libraries)
{
    char *folder = make_folder(), *other = scene_path("lib/far.blend");
    txm_scene *blend = with_library(folder, "no scene", 8);
    const txm_scene_library *l = txm_scene_library_at(blend, 0);
    ck_assert_int_eq(l->state, TXM_SCENE_LIBRARY_STATE_BROKEN);
    ck_assert_int_eq(l->status, TXM_STATUS_CORRUPT);
    ck_assert_uint_eq(l->lost, 0);
    txm_scene_close(&blend);
    size_t bytes;
    uint8_t *content = slurp(other, &bytes); /* a good file that lacks the linked data-blocks */
    blend = with_library(folder, content, bytes);
    l = txm_scene_library_at(blend, 0);
    ck_assert_int_eq(l->state, TXM_SCENE_LIBRARY_STATE_READ);
    ck_assert_uint_ge(l->lost, 3);
    txm_scene_close(&blend);
    free(content);
    free(other);
    remove_folder(folder);
}

TEST(reads_packed_libraries)
{
    FREED char *path = scene_path("inside.blend");
    txm_scene *blend = open_scene(path, false);
    ck_assert_uint_eq(txm_scene_library_count(blend), 1);
    ck_assert_int_eq(txm_scene_library_at(blend, 0)->state, TXM_SCENE_LIBRARY_STATE_PACKED);
    ck_assert_int_eq(image_named(blend, "far")->state, TXM_SCENE_STATE_READY);
    txm_scene_close(&blend);
    /* It is read from a copy of its bytes, for which there must be a place. */
    setenv("TMPDIR", "/proc/no-folder", 1);
    blend = open_scene(path, false);
    unsetenv("TMPDIR");
    ck_assert_int_eq(txm_scene_library_at(blend, 0)->state, TXM_SCENE_LIBRARY_STATE_MISSING);
    ck_assert_ptr_nonnull(strstr(txm_scene_library_at(blend, 0)->message, "TMPDIR"));
    txm_scene_close(&blend);
}

/* ---- packed images -------------------------------------------------------------------------------------------- */

static void check_unpacked(txm_scene *blend, const char *name, size_t packed, const char *folder, const char *file,
                           const char *like)
{
    size_t image = 0, bytes, expected_bytes;
    while (txm_scene_image_at(blend, image) != image_named(blend, name)) {
        image++;
    }
    FREED char *path = NULL, *expected = txm_path_join(folder, file);
    txm_error err = {0};
    ck_assert_msg(txm_scene_unpack(blend, image, packed, folder, &path, &err) == TXM_OK, "%s", err.message);
    ck_assert_str_eq(path, expected);
    FREED uint8_t *content = slurp(path, &bytes);
    if (like) {
        FREED char *source = scene_path(like);
        FREED uint8_t *wanted = slurp(source, &expected_bytes);
        ck_assert_uint_eq(bytes, expected_bytes);
        ck_assert_mem_eq(content, wanted, bytes);
    }
}

TEST(unpacks_as_blender_would)
{
    char *path = scene_path("packed.blend"), *names_path = scene_path("packed_names.json"), *top = make_folder();
    char *folder = txm_path_join(top, "made/below");
    size_t bytes;
    char *text = (char *)slurp(names_path, &bytes);
    cJSON *names = cJSON_ParseWithLength(text, bytes), *item;
    txm_scene *blend = open_scene(path, false);
    check_unpacked(blend, "packed wood", 0, folder, "wood.png", "textures/wood.png");
    check_unpacked(blend, "packed brick", 0, folder, "brick.1001.png", "textures/brick.1001.png");
    check_unpacked(blend, "packed brick", 1, folder, "brick.1002.png", "textures/brick.1002.png");
    check_unpacked(blend, "packed brick", 2, folder, "brick.1012.png", "textures/brick.1012.png");
    check_unpacked(blend, "painted: a/b", 0, folder, "painted_ a_b.png", NULL);
    cJSON_ArrayForEach(item, names)
    {
        FREED char *made = txm_path_join(folder, item->valuestring);
        struct stat st;
        ck_assert_msg(stat(made, &st) == 0, "%s", made);
    }
    /* Files with the same content are left alone, and files with other content are not overwritten. */
    check_unpacked(blend, "packed wood", 0, folder, "wood.png", "textures/wood.png");
    char *wood = txm_path_join(folder, "wood.png");
    spill(wood, "other", 5);
    check_unpacked(blend, "packed wood", 0, folder, "wood.001.png", "textures/wood.png");
    check_unpacked(blend, "packed wood", 0, folder, "wood.001.png", "textures/wood.png");
    char *none = wood;
    ck_assert_int_eq(txm_scene_unpack(blend, 99, 0, folder, &none, NULL), TXM_STATUS_USAGE);
    ck_assert_ptr_null(none);
    txm_scene_close(&blend);
    cJSON_Delete(names);
    free(text);
    free(wood);
    free(path);
    free(names_path);
    free(folder);
    remove_folder(top);
}

/* ---- entries -------------------------------------------------------------------------------------------------- */

TEST(lists_what_a_render_loads)
{
    FREED char *path = scene_path("materials.blend"), *wood = scene_path("textures/wood.png");
    SCOPED(txm_scene_close) txm_scene *blend = open_scene(path, false);
    txm_scene_entry *entries = NULL;
    size_t count = 0, woods = 0, bricks = 0;
    ck_assert_int_eq(txm_scene_entries(blend, NULL, &entries, &count, NULL), TXM_OK);
    for (size_t i = 0; i < count; i++) {
        ck_assert(txm_path_is_absolute(entries[i].path));
        const txm_scene_image *im = txm_scene_image_at(blend, entries[i].image);
        ck_assert_int_eq(im->state, TXM_SCENE_STATE_READY);
        ck_assert_str_eq(entries[i].colorspace, im->colorspace);
        woods += strcmp(entries[i].path, wood) == 0;
        if (strcmp(im->name, "brick") == 0) {
            ck_assert_str_eq(entries[i].pattern, im->path);
            bricks++;
        }
    }
    ck_assert_uint_eq(woods, 2); /* once as sRGB with straight alpha, and once as linear and premultiplied */
    ck_assert_uint_eq(bricks, 3);
    ck_assert_uint_eq(count, 3 + 2 + 3 + 1 + 2 + 8);
    txm_scene_entries_free(&entries, count);
    ck_assert_ptr_null(entries);
}

TEST(unpacks_for_a_batch_when_asked)
{
    char *path = scene_path("packed.blend"), *folder = make_folder();
    txm_scene *blend = open_scene(path, false);
    txm_scene_entry *entries = NULL;
    size_t count = 0;
    ck_assert_int_eq(txm_scene_entries(blend, NULL, &entries, &count, NULL), TXM_OK);
    ck_assert_uint_eq(count, 1);
    txm_scene_entries_free(&entries, count);
    ck_assert_int_eq(txm_scene_entries(blend, folder, &entries, &count, NULL), TXM_OK);
    ck_assert_uint_eq(count, 1 + 5);
    for (size_t i = 0; i < count; i++) {
        struct stat st;
        ck_assert_int_eq(stat(entries[i].path, &st), 0);
    }
    txm_scene_entries_free(&entries, count);
    char *below = txm_path_join(folder, "wood.png/impossible");
    txm_scene_entry rubbish;
    entries = &rubbish;
    count = 1;
    ck_assert_int_ne(txm_scene_entries(blend, below, &entries, &count, NULL), TXM_OK);
    ck_assert_ptr_null(entries);
    ck_assert_uint_eq(count, 0);
    free(below);
    txm_scene_close(&blend);
    free(path);
    remove_folder(folder);
}

/* ---- lint ----------------------------------------------------------------------------------------------------- */

TEST(finds_what_nodes_do_wrong)
{
    static const struct {
        const char *id, *image;
    } expected[] = {{"normal-map-color", "bad normal"},
                    {"color-and-data", "both"},
                    {"normal-map-color", "grouped normal"},
                    {"color-and-data", "held"},
                    {"two-colorspaces", "same file"}};
    FREED char *path = scene_path("lint.blend");
    txm_scene *blend = open_scene(path, true);
    ck_assert_uint_eq(txm_scene_finding_count(blend), 5);
    for (size_t i = 0; i < 5; i++) {
        const txm_scene_finding *f = txm_scene_finding_at(blend, i);
        ck_assert_str_eq(f->id, expected[i].id);
        ck_assert_str_eq(txm_scene_image_at(blend, f->image)->name, expected[i].image);
        ck_assert_ptr_nonnull(strstr(f->message, expected[i].image));
    }
    /* The list is the same with and without lint. */
    FREED char *with = describe(blend);
    txm_scene_close(&blend);
    blend = open_scene(path, false);
    FREED char *without = describe(blend);
    ck_assert(strncmp(with, without, strlen(without)) == 0);
    txm_scene_close(&blend);
}

/* ---- Debian's own scenes -------------------------------------------------------------------------------------- */

TESTS(reads_blenders_own_files, 6)
{
    static const char *const files[] = {"addons/materials_library_vx/sample_materials.blend",
                                        "addons/materials_library_vx/templates.blend",
                                        "startup/bl_app_templates_system/2D_Animation/startup.blend",
                                        "startup/bl_app_templates_system/Sculpting/startup.blend",
                                        "startup/bl_app_templates_system/VFX/startup.blend",
                                        "startup/bl_app_templates_system/Video_Editing/startup.blend"};
    static const int versions[] = {282, 278, 280,
                                   280, 280, 280}; /* of Blender 3.4; newer packages may have newer scenes */
    const bool newer = system("dpkg --compare-versions \"$(dpkg-query -W -f '${Version}' blender-data)\" ge 3.5") == 0;
    FREED char *path = txm_asprintf("/usr/share/blender/scripts/%s", files[_i]);
    struct stat st;
    if (stat(path, &st) == 0) {
        txm_scene *blend = open_scene(path, true);
        const int version = txm_scene_info_of(blend)->version;
        ck_assert_msg(newer ? version >= versions[_i] : version == versions[_i], "%s: %d", path, version);
        ck_assert_uint_eq(txm_scene_image_count(blend), 0); /* none of them uses textures */
        txm_scene_close(&blend);
    } else {
        printf("skip %s (package blender-data is not installed)\n", files[_i]);
    }
}
