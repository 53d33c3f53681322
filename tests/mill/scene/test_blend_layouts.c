/* SPDX-License-Identifier: Apache-2.0
 * The same scenes in layouts that Blender 3.4 does not write: pointer sizes, byte orders, Blender 5's headers and
 * structs, compressions; and the conversions for old versions. */
#include <sys/stat.h>

#include "base/mem.h"
#include "base/path.h"
#include "util_blend.h"
#include "util_check.h"
#include "util_scene_file.h"

static const scene_layout as_written = {8, false, false, 304, false};

/* ---- a folder with textures and scenes ------------------------------------------------------------------------ */

static char *folder;

static void make_place(void)
{
    FREED char *textures = scene_path("textures");
    folder = make_folder();
    FREED char *link = txm_path_join(folder, "textures"), *lib = txm_path_join(folder, "lib");
    ck_assert_int_eq(symlink(textures, link), 0);
    ck_assert_int_eq(mkdir(lib, 0777), 0);
}

static void remove_place(void)
{
    remove_folder(folder);
}
FIXTURE(make_place, remove_place)

static scene_file *load(const char *name)
{
    FREED char *path = scene_path(name);
    size_t bytes;
    FREED uint8_t *data = scene_load(path, &bytes);
    scene_file *file = scene_parse(data, bytes);
    scene_slim(file, "MA WO LA LS NT IM LI ID OB ME GR SC GLOB", NULL); /* windows are half of it */
    return file;
}

static void store(const char *name, const void *data, size_t bytes)
{
    FREED char *path = txm_path_join(folder, name);
    spill(path, data, bytes);
}

static void store_scene(const char *name, const scene_file *file)
{
    size_t bytes;
    FREED uint8_t *data = scene_encode(file, &bytes);
    store(name, data, bytes);
}

static txm_scene *open_stored(const char *name)
{
    FREED char *path = txm_path_join(folder, name);
    txm_scene *blend = open_scene(path, true);
    return blend;
}

/* A scene of the test data that is written again. Change its definitions before the conversion, and its blocks after
 * it. */
typedef struct rewriting {
    scene_file *file, *definitions, *other;
} rewriting;

static rewriting rewrite(const char *name)
{
    rewriting r = {.file = load(name)};
    r.definitions = scene_definitions(r.file);
    return r;
}

static scene_file *convert(rewriting *r, scene_layout layout)
{
    return r->other = scene_convert(r->file, layout, r->definitions);
}

static txm_scene *finish(rewriting *r, const char *name)
{
    store_scene(name, r->other);
    scene_free(r->other);
    scene_free(r->definitions);
    scene_free(r->file);
    return open_stored(name);
}

/* The stored scene must have the same content as Blender's own file. */
static void check_same(const char *name)
{
    FREED char *path = scene_path(name);
    SCOPED(txm_scene_close) txm_scene *original = open_scene(path, true), *other = open_stored(name);
    FREED char *expected = describe(original), *got = describe(other);
    ck_assert_str_eq(got, expected);
}

/* ---- layouts -------------------------------------------------------------------------------------------------- */

static const scene_layout layouts[] = {
    {4, true, false, 304, false}, {8, false, true, 502, true},   {8, false, false, 304, false},
    {8, true, false, 304, false}, {4, false, false, 304, false}, {8, false, true, 502, false},
    {8, false, false, 304, true}, {4, true, false, 304, true},
};
enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* The first two differ in everything, which is enough for a sanitizer. */
#define LAYOUTS_TRIED (case_part() > 4 ? 2 : LAYOUTS)
TESTS(every_layout_reads_the_same, LAYOUTS_TRIED)
{
    static const char *const names[] = {"materials.blend", "packed.blend", "lint.blend", "inside.blend"};
    const scene_layout *layout = &layouts[_i];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        scene_file *file = load(names[i]), *other = scene_convert(file, *layout, NULL);
        store_scene(names[i], other);
        txm_scene *blend = open_stored(names[i]);
        const txm_scene_info *info = txm_scene_info_of(blend);
        ck_assert_int_eq(info->version, layout->version);
        ck_assert_uint_eq(info->pointer_bytes, layout->pointer_bytes);
        ck_assert_int_eq(info->big_endian, layout->big_endian);
        txm_scene_close(&blend);
        check_same(names[i]);
        scene_free(other);
        scene_free(file);
    }
}

TESTS(libraries_of_every_layout_read_the_same, LAYOUTS_TRIED)
{
    static const char *const names[] = {"linked.blend", "lib/library.blend", "lib/far.blend"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        /* Each file has another layout: a library need not come from the Blender that links it. */
        scene_file *file = load(names[i]), *other = scene_convert(file, layouts[((size_t)_i + i) % LAYOUTS], NULL);
        store_scene(names[i], other);
        scene_free(other);
        scene_free(file);
    }
    check_same("linked.blend");
}

/* Blender 5.1's struct definitions have longer names and the working space. */
static rewriting rewrite_for_blender5(const char *name)
{
    rewriting r = rewrite(name);
    scene_rename_field(r.definitions, "ID", "name[66]", "name[258]");
    scene_add_field(r.definitions, "FileGlobal", "char", "colorspace_scene_linear_name[64]");
    return r;
}

static const scene_layout blender5 = {8, false, true, 501, false};

TEST(reads_the_structs_of_blender_5)
{
    rewriting r = rewrite_for_blender5("materials.blend");
    scene_file *other = convert(&r, blender5);
    char longer[258] = "IM";
    memset(longer + 2, 'n', 200);
    scene_set_text(other, scene_find(other, "IM", "IMwood"), "id.name", longer);
    scene_block *global = scene_find(other, "GLOB", NULL);
    scene_set_text(other, global, "colorspace_scene_linear_name", "Linear Rec.2020");
    scene_set_number(other, global, "subversion", 7);
    SCOPED(txm_scene_close) txm_scene *blend = finish(&r, "five.blend");
    const txm_scene_info *info = txm_scene_info_of(blend);
    ck_assert_int_eq(info->version, 501);
    ck_assert_int_eq(info->subversion, 7);
    ck_assert_str_eq(info->working_space, "Linear Rec.2020");
    ck_assert_uint_eq(image_named(blend, longer + 2)->user_count, 2);
}

TEST(paths_of_packed_data_blocks_belong_to_their_library)
{
    rewriting r = rewrite_for_blender5("linked.blend");
    scene_add_field(r.definitions, "Library", "Library", "*archive_parent_library");
    scene_file *other = convert(&r, blender5);
    scene_block *library = scene_find(other, "LI", NULL);
    /* Makes a complete data-block with a library, as Blender 5 packs them. */
    scene_set_number(other, scene_find(other, "IM", "IMlocal"), "id.lib", library->address);
    SCOPED(txm_scene_close) txm_scene *blend = finish(&r, "packed_data.blend");
    FREED char *expected = txm_path_join(folder, "lib/textures/wood.png");
    ck_assert_str_eq(image_named(blend, "local")->path, expected);
}

/* ---- compression ---------------------------------------------------------------------------------------------- */

static void check_compressed(const char *name, uint8_t *data, size_t bytes, const char *compression)
{
    store(name, data, bytes);
    free(data);
    check_same(name);
    SCOPED(txm_scene_close) txm_scene *blend = open_stored(name);
    ck_assert_str_eq(txm_scene_info_of(blend)->compression, compression);
}

TEST(every_compression_reads_the_same)
{
    const char *name = "packed.blend";
    FREED char *path = scene_path(name);
    size_t bytes, packed_bytes;
    uint8_t *plain = scene_load(path, &bytes), *packed, *gzip;
    packed = scene_zstd(plain, bytes, 4096, true, &packed_bytes); /* blocks cross frames */
    check_compressed(name, packed, packed_bytes, "zstd");
    packed = scene_zstd(plain, bytes, 100000, false, &packed_bytes);
    check_compressed(name, packed, packed_bytes, "zstd");
    packed = scene_zstd(plain, bytes, bytes, false, &packed_bytes);
    check_compressed(name, packed, packed_bytes, "zstd");
    packed = scene_zstd(plain, bytes, 65536, true, &packed_bytes);
    packed[packed_bytes - 9 - 8] ^= 1; /* a seek table that does not match the frames is ignored */
    check_compressed(name, packed, packed_bytes, "zstd");
    gzip = scene_gzip(plain, bytes, &packed_bytes);
    check_compressed(name, gzip, packed_bytes, "gzip");
    gzip = scene_gzip(plain, bytes / 2, &packed_bytes); /* two members, and bytes after them */
    size_t rest_bytes;
    uint8_t *rest = scene_gzip(plain + bytes / 2, bytes - bytes / 2, &rest_bytes);
    gzip = realloc(gzip, packed_bytes + rest_bytes + 5);
    memcpy(gzip + packed_bytes, rest, rest_bytes);
    memcpy(gzip + packed_bytes + rest_bytes, "trail", 5);
    check_compressed(name, gzip, packed_bytes + rest_bytes + 5, "gzip");
    free(rest);
    uint8_t *copy = malloc(bytes);
    memcpy(copy, plain, bytes);
    check_compressed(name, copy, bytes, "plain");
    free(plain);
}

TEST(unpacks_from_every_compression)
{
    FREED char *path = scene_path("packed.blend");
    size_t bytes, packed_bytes;
    FREED uint8_t *plain = scene_load(path, &bytes);
    uint8_t *forms[] = {scene_gzip(plain, bytes, &packed_bytes)};
    store("form.blend", forms[0], packed_bytes);
    txm_scene *blend = open_stored("form.blend");
    txm_scene_entry *entries;
    size_t count, content_bytes;
    ck_assert_int_eq(txm_scene_entries(blend, folder, &entries, &count, NULL), TXM_OK);
    ck_assert_uint_eq(count, 6);
    for (size_t i = 0; i < count; i++) {
        FREED uint8_t *content = slurp(entries[i].path, &content_bytes);
        ck_assert_mem_eq(content, "\x89PNG", 4);
    }
    txm_scene_entries_free(&entries, count);
    txm_scene_close(&blend);
    free(forms[0]);
}

/* ---- old versions --------------------------------------------------------------------------------------------- */

/* Opens materials.blend as if an old Blender had written it, after changing it with `edit`. */
static txm_scene *old_scene(int version, int subversion, void (*edit)(const scene_file *file, scene_block *block),
                            const char *hide_field)
{
    rewriting r = rewrite("materials.blend");
    scene_layout layout = as_written;
    layout.version = version;
    if (hide_field) { /* this version has no such field */
        scene_rename_field(r.definitions, "Image", hide_field, "not_yet");
    }
    scene_file *other = convert(&r, layout);
    scene_set_number(other, scene_find(other, "GLOB", NULL), "subversion", (uint64_t)subversion);
    for (size_t i = 0; edit && i < other->block_count; i++) {
        edit(other, &other->blocks[i]);
    }
    return finish(&r, "old.blend");
}

static void take_as_data(const scene_file *file, scene_block *block)
{
    if (strcmp(block->type, "NodeTexImage") == 0) {
        scene_set_number(file, block, "color_space", 0);
    } else if (strcmp(block->type, "NodeTexEnvironment") == 0) {
        scene_set_number(file, block, "color_space", 1);
    }
}

TEST(data_nodes_make_data_images)
{
    txm_scene *blend = old_scene(280, 65, take_as_data, NULL);
    ck_assert_str_eq(image_named(blend, "wood")->colorspace_stored, "Non-Color");
    ck_assert(image_named(blend, "wood")->data);
    ck_assert_str_eq(image_named(blend, "sky")->colorspace_stored, "sRGB"); /* its node says colour */
    txm_scene_close(&blend);
    blend = old_scene(280, 66, take_as_data, NULL);
    ck_assert_str_eq(image_named(blend, "wood")->colorspace_stored, "sRGB");
    txm_scene_close(&blend);
}

static void ignore_alpha(const scene_file *file, scene_block *block)
{
    if (strcmp(block->code, "IM") == 0) {
        scene_set_number(file, block, "flag", scene_number(file, block, "flag") | 1 << 12);
    }
}

TEST(the_old_flag_ignores_alpha)
{
    txm_scene *blend = old_scene(280, 69, ignore_alpha, NULL);
    ck_assert_int_eq(image_named(blend, "wood")->alpha, TXM_ALPHA_NONE);
    txm_scene_close(&blend);
    blend = old_scene(280, 70, ignore_alpha, NULL);
    ck_assert_int_eq(image_named(blend, "wood")->alpha, TXM_ALPHA_STRAIGHT);
    txm_scene_close(&blend);
    blend = old_scene(265, 0, NULL, "alpha_mode");
    ck_assert_int_eq(image_named(blend, "wood")->alpha, TXM_ALPHA_DEFAULT);
    txm_scene_close(&blend);
}

TEST(images_without_tile_list_have_one_tile)
{
    txm_scene *blend = old_scene(283, 2, NULL, NULL);
    ck_assert_uint_eq(image_named(blend, "brick")->tile_count, 1);
    ck_assert_uint_eq(image_named(blend, "brick")->tiles[0], 1001);
    txm_scene_close(&blend);
    blend = old_scene(290, 0, NULL, "tiles");
    ck_assert_uint_eq(image_named(blend, "brick")->tile_count, 1);
    txm_scene_close(&blend);
    blend = old_scene(283, 3, NULL, NULL);
    ck_assert_uint_eq(image_named(blend, "brick")->tile_count, 4);
    txm_scene_close(&blend);
}

static void name_the_first_tile(const scene_file *file, scene_block *block)
{
    size_t bytes;
    const char *path = strcmp(block->code, "IM") ? "" : (const char *)scene_at(file, block, "name", &bytes);
    if (strcmp(path, "//textures/brick.<UDIM>.png") == 0) {
        scene_set_text(file, block, "name", "//2001_textures.1003.d/../textures\\brick.1001.png");
    } else if (strcmp(path, "//textures/cloth_<UVTILE>.png") == 0) {
        scene_set_text(file, block, "name", "//textures/cloth_u1_v1.png");
    } else if (strcmp(path, "//textures/nothing.<UDIM>.png") == 0) {
        scene_set_text(file, block, "name", "//textures/20011_name_0999.png");
    }
}

TEST(old_tiled_paths_get_their_token)
{
    txm_scene *blend = old_scene(301, 5, name_the_first_tile, NULL);
    ck_assert_str_eq(txm_path_base(image_named(blend, "brick")->path), "brick.<UDIM>.png");
    ck_assert_uint_eq(image_named(blend, "brick")->file_count, 3);
    ck_assert_str_eq(txm_path_base(image_named(blend, "cloth")->path), "cloth_<UVTILE>.png");
    ck_assert_uint_eq(image_named(blend, "cloth")->file_count, 2);
    ck_assert_str_eq(txm_path_base(image_named(blend, "missing set")->path), "20011_name_0999.png");
    ck_assert_str_eq(txm_path_base(image_named(blend, "single tile")->path), "single.<UDIM>.png");
    ck_assert_str_eq(txm_path_base(image_named(blend, "wood")->path), "wood.png"); /* not a tiled image */
    txm_scene_close(&blend);
    blend = old_scene(301, 6, name_the_first_tile, NULL);
    ck_assert_str_eq(txm_path_base(image_named(blend, "brick")->path), "brick.1001.png");
    txm_scene_close(&blend);
}

TEST(old_files_have_one_packed_file)
{
    rewriting r = rewrite("packed.blend");
    scene_rename_field(r.definitions, "Image", "packedfiles", "not_yet");
    scene_file *other = convert(&r, as_written);
    scene_block *wood = scene_find(other, "IM", "IMpacked wood"), *packed = NULL;
    for (scene_block *b = wood + 1; !packed; b++) {
        ck_assert_str_eq(b->code, "DATA");
        packed = strcmp(b->type, "PackedFile") == 0 ? b : NULL;
    }
    scene_set_number(other, wood, "packedfile", packed->address);
    SCOPED(txm_scene_close) txm_scene *blend = finish(&r, "old.blend");
    const txm_scene_image *im = image_named(blend, "packed wood");
    ck_assert_int_eq(im->state, TXM_SCENE_STATE_PACKED);
    ck_assert_uint_eq(im->packed_count, 1);
    ck_assert_str_eq(im->packed[0].name, "wood.png");
    ck_assert_int_eq(image_named(blend, "not packed")->state, TXM_SCENE_STATE_READY);
}
