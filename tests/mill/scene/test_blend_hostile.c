/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenes that are cut short, damaged or misleading give a clear error or a list, and never a crash.
 *
 * test_blend_bombs.c has those that claim to be too large.
 *
 * With TXM_WRITE_SMALL=FOLDER in the environment, the small scenes are written there, as testdata/blend/small has them
 * for the fuzzer. */
#include <dirent.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/scene/blend/stream.h"
#include "util_blend.h"
#include "util_check.h"
#include "util_scene_file.h"

/* ---- small scenes --------------------------------------------------------------------------------------------- */

static const struct {
    const char *scene, *codes, *name;
    scene_layout layout;
} smalls[] = {
    {"lint.blend", "NT IM GLOB", "lint.blend", {8, false, false, 304, false}},
    {"linked.blend", "MA WO ID LI IM GLOB", "linked_5.blend", {8, false, true, 502, false}},
    {"packed.blend", "MA IM GLOB", "packed_big_endian.blend", {4, true, false, 279, true}},
    {"lib/library.blend", "MA WO IM LI ID OB ME GR GLOB", "library.blend", {8, false, false, 304, false}},
    {"materials.blend", "IM WO LA GLOB", "materials_4.blend", {4, false, false, 300, false}},
};
enum { SMALLS = sizeof smalls / sizeof *smalls };

TESTS(small_scenes_open, SMALLS)
{
    txm_error err;
    txm_scene *blend;
    scene_file *file = small_scene(smalls[_i].scene, smalls[_i].codes, smalls[_i].layout);
    ck_assert_msg(try_scene(file, &blend, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_gt(txm_scene_image_count(blend), 0);
    txm_scene_close(&blend);
    const char *folder = getenv("TXM_WRITE_SMALL");
    if (folder) {
        size_t bytes;
        FREED uint8_t *data = scene_encode(file, &bytes);
        FREED char *path = txm_path_join(folder, smalls[_i].name);
        spill(path, data, bytes);
    }
    scene_free(file);
}

/* ---- cut and damaged ------------------------------------------------------------------------------------------ */

/* A file with one material and one image, in as few bytes as possible. */
static uint8_t *tiny(size_t *bytes)
{
    scene_file *file = small_scene("lib/far.blend", "IM GLOB", scene_plain);
    uint8_t *data = scene_encode(file, bytes);
    scene_free(file);
    return data;
}

TEST(cut_at_every_byte)
{
    size_t bytes, zstd_bytes, gzip_bytes;
    FREED uint8_t *data = tiny(&bytes), *zstd = scene_zstd(data, bytes, 2000, true, &zstd_bytes),
                  *gzip = scene_gzip(data, bytes, &gzip_bytes);
    txm_error err;
    for (size_t n = 0; n < bytes; n++) {
        ck_assert_msg(try_bytes(data, n, NULL, &err) == TXM_STATUS_CORRUPT, "plain, %zu bytes", n);
    }
    for (size_t n = 0; n < gzip_bytes; n++) {
        /* Without its checksum all blocks are there. */
        txm_status status = try_bytes(gzip, n, NULL, &err);
        ck_assert_msg(status == TXM_STATUS_CORRUPT || (status == TXM_OK && n + 12 >= gzip_bytes), "gzip, %zu bytes", n);
    }
    for (size_t n = 0; n < zstd_bytes; n++) {
        /* Without its seek table, the file can still be read completely. */
        txm_status status = try_bytes(zstd, n, NULL, &err);
        ck_assert_msg(status == TXM_STATUS_CORRUPT ||
                          (status == TXM_OK && n + 8 * (bytes / 2000 + 1) + 17 >= zstd_bytes),
                      "zstd, %zu bytes: %s", n, err.message);
    }
    ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_OK);
}

/* There is memory for a stream, but not for the 128 KiB of its decoder. */
TEST(a_decoder_without_memory)
{
#ifndef __SANITIZE_ADDRESS__
    enum { PIECE_BYTES = 110 * 1024, PIECES = 4096 };
    static void *pieces[PIECES];
    size_t bytes, packed_bytes, count = 0;
    uint8_t *data = tiny(&bytes), *packed = scene_zstd(data, bytes, 2000, true, &packed_bytes);
    char *folder = make_folder(), *path = txm_path_join(folder, "packed.blend");
    txm_stream *stream = NULL;
    txm_error err = {0};
    struct rlimit limit, none;
    spill(path, packed, packed_bytes);
    void *room = malloc(PIECE_BYTES);
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_AS, &none);
    while (count < PIECES && (pieces[count] = malloc(PIECE_BYTES)))
        count++;
    free(room);
    txm_status status = txm_stream_open(path, &stream, &err);
    setrlimit(RLIMIT_AS, &limit);
    while (count > 0)
        free(pieces[--count]);
    ck_assert_msg(status == TXM_STATUS_NO_MEMORY, "%d: %s", (int)status, err.message);
    ck_assert_ptr_null(stream);
    free(path);
    remove_folder(folder);
    free(packed);
    free(data);
#endif
}

TEST(any_byte_may_be_wrong)
{
    size_t bytes;
    txm_error err;
    FREED uint8_t *data = tiny(&bytes);
    for (size_t i = 0; i < bytes; i += (case_part() + 1) / 2) {
        uint8_t was = data[i];
        data[i] ^= 0xFF;
        try_bytes(data, bytes, NULL, &err); /* an error or a list: sanitizers find the rest */
        data[i] = (uint8_t)(was + 1);
        try_bytes(data, bytes, NULL, &err);
        data[i] = was;
    }
    FREED uint8_t *zstd = scene_zstd(data, bytes, 4000, true, &bytes);
    for (size_t i = 0; i < bytes; i += (case_part() + 1) / 2) {
        zstd[i] ^= 0x55;
        try_bytes(zstd, bytes, NULL, &err);
        zstd[i] ^= 0x55;
    }
}

TEST(garbage_is_no_scene)
{
    static const struct {
        const char *bytes;
        size_t count;
        txm_status status;
    } inputs[] = {{"", 0, TXM_STATUS_CORRUPT},
                  {"BLENDER", 7, TXM_STATUS_CORRUPT},
                  {"BLENDER-v304", 12, TXM_STATUS_CORRUPT},
                  {"BLENDER-x304", 12, TXM_STATUS_CORRUPT},
                  {"BLENDER-vabc", 12, TXM_STATUS_CORRUPT},
                  {"BLENDER17-01v0502", 17, TXM_STATUS_CORRUPT},
                  {"BLENDER17-02v0600", 17, TXM_STATUS_NEWER},
                  {"BLENDER19-01v0600xx", 19, TXM_STATUS_NEWER},
                  {"\x89PNG\r\n\x1a\n picture", 16, TXM_STATUS_CORRUPT},
                  {"\x1F\x8B\x08 gzip", 8, TXM_STATUS_CORRUPT},
                  {"\x28\xB5\x2F\xFD zstd", 9, TXM_STATUS_CORRUPT}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        txm_error err;
        ck_assert_msg(try_bytes(inputs[i].bytes, inputs[i].count, NULL, &err) == inputs[i].status, "input %zu: %s", i,
                      err.message);
    }
}

TEST(only_files_are_scenes)
{
    char *folder = make_folder(), *fifo = txm_path_join(folder, "fifo"), *none = txm_path_join(folder, "none");
    txm_scene *blend = NULL;
    ck_assert_int_eq(mkfifo(fifo, 0666), 0);
    ck_assert_int_eq(txm_scene_open(folder, NULL, &blend, NULL), TXM_STATUS_NOT_A_FILE);
    ck_assert_int_eq(txm_scene_open(fifo, NULL, &blend, NULL), TXM_STATUS_NOT_A_FILE);
    ck_assert_int_eq(txm_scene_open("/dev/zero", NULL, &blend, NULL), TXM_STATUS_NOT_A_FILE);
    ck_assert_int_eq(txm_scene_open(none, NULL, &blend, NULL), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_null(blend);
    free(fifo);
    free(none);
    remove_folder(folder);
}

/* ---- impossible numbers --------------------------------------------------------------------------------------- */

TEST(lengths_are_checked)
{
    static const uint64_t lengths[] = {1u << 30, INT32_MAX, 0x80000000u, UINT32_MAX};
    static const uint64_t large[] = {UINT64_C(1) << 40, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    txm_error err;
    size_t bytes;
    uint8_t *data = tiny(&bytes);
    for (size_t i = 0; i < 4; i++) {
        patch(data + 12 + 4, lengths[i], 4); /* of the first block */
        ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_STATUS_CORRUPT);
    }
    free(data);
    scene_layout layout = {8, false, true, 502, false};
    scene_file *file = small_scene("lib/far.blend", "IM GLOB", layout);
    data = scene_encode(file, &bytes);
    for (size_t i = 0; i < 4; i++) {
        patch(data + 17 + 16, large[i], 8);
        ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_STATUS_CORRUPT);
    }
    free(data);
    scene_free(file);
}

TEST(definitions_are_checked)
{
    static const char *const tags[] = {"NAME", "TYPE", "STRC"};
    txm_error err;
    size_t bytes;
    FREED uint8_t *data = tiny(&bytes);
    for (size_t i = 0; i < 3; i++) {
        uint8_t *tag = memmem(data, bytes, tags[i], 4), count[4];
        ck_assert_ptr_nonnull(tag);
        memcpy(count, tag + 4, 4);
        patch(tag + 4, UINT32_MAX, 4);
        ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_STATUS_CORRUPT);
        ck_assert_ptr_nonnull(strstr(err.message, "DNA1"));
        patch(tag + 4, 100000, 4);
        ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_STATUS_CORRUPT);
        memcpy(tag + 4, count, 4);
    }
    uint8_t *structs = (uint8_t *)memmem(data, bytes, "STRC", 4) + 8;
    patch(structs, UINT16_MAX, 2); /* a type that does not exist */
    ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_STATUS_CORRUPT);
}

TEST(definitions_must_be_there)
{
    txm_error err;
    size_t bytes;
    FREED uint8_t *data = tiny(&bytes);
    memcpy(memmem(data, bytes, "DNA1", 4), "DATA", 4);
    ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_STATUS_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "DNA1"));
}

/* ---- circles -------------------------------------------------------------------------------------------------- */

static scene_block *find_type(scene_file *file, const char *type, size_t number)
{
    for (size_t i = 0; i < file->block_count; i++) {
        if (strcmp(file->blocks[i].type, type) == 0 && number-- == 0) {
            return &file->blocks[i];
        }
    }
    ck_abort_msg("no %s", type);
    return NULL;
}

TEST(lists_may_bite_their_tails)
{
    static const struct {
        const char *type, *next;
    } lists[] = {{"bNode", "next"}, {"bNodeLink", "next"}, {"ImageTile", "next"}, {"ImagePackedFile", "next"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        txm_error err;
        bool packed = strcmp(lists[i].type, "ImagePackedFile") == 0;
        scene_file *file = small_scene(packed ? "packed.blend" : "lint.blend", "MA NT IM GLOB", scene_plain);
        scene_block *block = find_type(file, lists[i].type, 0);
        scene_set_number(file, block, lists[i].next, block->address);
        ck_assert_msg(try_scene(file, NULL, &err) == TXM_OK, "%s: %s", lists[i].type, err.message);
        scene_free(file);
    }
}

TEST(numbers_may_be_impossible)
{
    txm_error err;
    txm_scene *blend = NULL;
    scene_file *file = small_scene("packed.blend", "MA IM GLOB", scene_plain);
    for (size_t i = 0; i < file->block_count; i++) {
        scene_block *b = &file->blocks[i];
        if (strcmp(b->type, "ImageTile") == 0) {
            scene_set_number(file, b, "tile_number", 123456);
        } else if (strcmp(b->type, "PackedFile") == 0) {
            scene_set_number(file, b, "size", 0x7FFFFFFF); /* more than there are */
        }
    }
    ck_assert_int_eq(try_scene(file, &blend, &err), TXM_OK);
    for (size_t i = 0; i < txm_scene_image_count(blend); i++) {
        const txm_scene_image *image = txm_scene_image_at(blend, i);
        ck_assert_uint_eq(image->packed_count, 0);
        for (size_t tile = 0; tile < image->tile_count; tile++) {
            ck_assert_uint_eq(image->tiles[tile], 1001);
        }
    }
    txm_scene_close(&blend);
    scene_free(file);
}

TEST(groups_may_hold_themselves)
{
    txm_error err;
    scene_file *file = small_scene("lint.blend", "MA NT IM GLOB", scene_plain);
    scene_block *group = scene_find(file, "NT", "NTtakes a normal");
    for (size_t i = 0; i < file->block_count; i++) {
        size_t bytes;
        scene_block *b = &file->blocks[i];
        if (strcmp(b->type, "bNode") == 0 &&
            strcmp((char *)scene_at(file, b, "idname", &bytes), "ShaderNodeNormalMap") == 0) {
            scene_set_text(file, b, "idname", "ShaderNodeGroup");
            scene_set_number(file, b, "id", group->address);
        }
    }
    ck_assert_msg(try_scene(file, NULL, &err) == TXM_OK, "%s", err.message);
    scene_free(file);
}

TEST(libraries_may_be_the_scene_itself)
{
    char *folder = make_folder(), *path = txm_path_join(folder, "self.blend");
    scene_file *file = small_scene("linked.blend", "MA WO ID LI IM GLOB", scene_plain);
    scene_set_text(file, scene_find(file, "LI", NULL), "name", "//self.blend");
    size_t bytes;
    uint8_t *data = scene_encode(file, &bytes);
    spill(path, data, bytes);
    txm_scene *blend = open_scene(path, true);
    ck_assert_uint_eq(txm_scene_library_count(blend), 0);
    ck_assert_uint_eq(txm_scene_image_count(blend), 1); /* placeholders that refer to themselves lead to nothing */
    txm_scene_close(&blend);
    /* Then two files, each of which claims to be packed in the other. */
    char *other = txm_path_join(folder, "other.blend");
    spill(other, data, bytes);
    free(data);
    scene_set_text(file, scene_find(file, "LI", NULL), "name", "//other.blend");
    data = scene_encode(file, &bytes);
    spill(path, data, bytes);
    blend = open_scene(path, true);
    ck_assert_uint_eq(txm_scene_library_count(blend), 1);
    txm_scene_close(&blend);
    free(data);
    scene_free(file);
    free(path);
    free(other);
    remove_folder(folder);
}

/* Writes inside.blend with other bytes in place of the library that is packed into it. Frees `library`. */
static uint8_t *pack_library(uint8_t *library, size_t *bytes)
{
    FREED char *path = scene_path("inside.blend");
    size_t loaded_bytes;
    FREED uint8_t *loaded = scene_load(path, &loaded_bytes);
    scene_file *file = scene_parse(loaded, loaded_bytes);
    scene_slim(file, "LI ID GLOB", NULL);
    scene_block *packed = find_type(file, "PackedFile", 0), *content = NULL;
    for (size_t i = 0; i < file->block_count; i++) {
        if (file->blocks[i].address == scene_number(file, packed, "data")) {
            content = &file->blocks[i];
        }
    }
    ck_assert_ptr_nonnull(content);
    scene_set_number(file, packed, "size", *bytes);
    free(content->data);
    content->data = library;
    content->bytes = *bytes;
    uint8_t *out = scene_encode(file, bytes);
    scene_free(file);
    return out;
}

TEST(packed_libraries_nest_to_a_bound)
{
    size_t bytes;
    txm_error err;
    SCOPED(txm_scene_close) txm_scene *blend = NULL;
    FREED uint8_t *data = tiny(&bytes);
    for (int nesting = 0; nesting < 12; nesting++) {
        data = pack_library(data, &bytes);
    }
    ck_assert_msg(try_bytes(data, bytes, &blend, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(txm_scene_library_count(blend), 9);
    for (size_t i = 0; i < 8; i++) {
        ck_assert_int_eq(txm_scene_library_at(blend, i)->status, TXM_OK);
    }
    ck_assert_int_eq(txm_scene_library_at(blend, 8)->status, TXM_STATUS_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(txm_scene_library_at(blend, 8)->message, "nested in more than 8 packed libraries"));
}

TEST(pointers_may_lead_anywhere)
{
    txm_error err;
    for (uint64_t value = 1; value; value = value < UINT64_MAX / 16 ? value * 16 + 1 : 0) {
        scene_file *file = small_scene("lint.blend", "MA NT IM GLOB", scene_plain);
        scene_set_number(file, find_type(file, "bNode", 1), "id", value);
        scene_set_number(file, find_type(file, "bNode", 2), "storage", value);
        scene_set_number(file, find_type(file, "bNodeTree", 0), "links.first", value);
        scene_set_number(file, find_type(file, "bNodeLink", 3), "fromnode", value);
        ck_assert_msg(try_scene(file, NULL, &err) == TXM_OK, "%s", err.message);
        scene_free(file);
    }
}

/* ---- what the fuzzer found ------------------------------------------------------------------------------------ */

TEST(inputs_that_once_crashed)
{
    FREED char *path = scene_path("bad");
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] != '.') {
            FREED char *file = txm_path_join(path, e->d_name);
            size_t bytes;
            txm_error err;
            FREED uint8_t *data = slurp(file, &bytes);
            try_bytes(data, bytes, NULL, &err);
        }
    }
    if (dir) {
        closedir(dir);
    }
}

int main(void)
{
    return run_tests_in_one_process();
}
