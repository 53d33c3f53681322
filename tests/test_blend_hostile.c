/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenes that are cut short, damaged or made to hurt: a clear error or a list, never a crash, in bounded memory.
 *
 * With TXM_WRITE_SMALL=FOLDER in the environment the small scenes are written there, as testdata/blend/small holds them
 * for the fuzzer. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/mem.h"
#include "core/path.h"
#include "util_blend.h"
#include "util_scene_file.h"

static const scene_layout plain = {8, false, false, 304, false};

/* A scene of the test data with only some kinds of data-blocks left in it. */
/* What the reader looks at; sockets, the most of it, only where they matter. */
#define WITHOUT_SOCKETS                                                                                                \
    "Material World Lamp bNodeTree bNode NodeTexImage NodeTexEnvironment bNodeLink Image ImageTile ImagePackedFile "   \
    "PackedFile Library ID FileGlobal Object Mesh Collection CollectionObject CollectionChild"
#define WITH_SOCKETS WITHOUT_SOCKETS " bNodeSocket"

static scene_file *small_scene(const char *name, const char *codes, scene_layout layout)
{
    char *path = scene_path(name);
    size_t bytes;
    uint8_t *data = scene_load(path, &bytes);
    scene_file *file = scene_parse(data, bytes);
    scene_slim(file, codes, strstr(codes, "NT") ? WITH_SOCKETS : WITHOUT_SOCKETS);
    scene_file *out = scene_convert(file, layout, NULL);
    scene_free(file);
    free(data);
    free(path);
    return out;
}

/* Opens bytes as a scene. On failure the message names it. */
static txm_status try_bytes(const void *data, size_t bytes, txm_blend **blend, txm_error *err)
{
    char path[64];
    txm_blend *own = NULL;
    txm_blend_options options = {.lint = true};
    int fd = memfd_create("scene", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *err = (txm_error){0};
    txm_status status = txm_blend_open(path, &options, &own, err);
    if (status != TXM_OK) {
        ck_assert_ptr_null(own);
        ck_assert_int_eq(err->status, status);
        ck_assert_ptr_nonnull(strstr(err->message, path));
    }
    if (blend) {
        *blend = own;
    } else {
        txm_blend_close(&own);
    }
    close(fd);
    return status;
}

static txm_status try_scene(const scene_file *file, txm_blend **blend, txm_error *err)
{
    size_t bytes;
    uint8_t *data = scene_encode(file, &bytes);
    txm_status status = try_bytes(data, bytes, blend, err);
    free(data);
    return status;
}

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

START_TEST(small_scenes_open)
{
    txm_error err;
    txm_blend *blend;
    scene_file *file = small_scene(smalls[_i].scene, smalls[_i].codes, smalls[_i].layout);
    ck_assert_msg(try_scene(file, &blend, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_gt(txm_blend_image_count(blend), 0);
    txm_blend_close(&blend);
    const char *folder = getenv("TXM_WRITE_SMALL");
    if (folder) {
        size_t bytes;
        uint8_t *data = scene_encode(file, &bytes);
        char *path = txm_path_join(folder, smalls[_i].name);
        spill(path, data, bytes);
        free(path);
        free(data);
    }
    scene_free(file);
}
END_TEST

/* ---- cut and damaged ------------------------------------------------------------------------------------------ */

/* One material and one image, as few bytes as there can be. */
static uint8_t *tiny(size_t *bytes)
{
    scene_file *file = small_scene("lib/far.blend", "IM GLOB", plain);
    uint8_t *data = scene_encode(file, bytes);
    scene_free(file);
    return data;
}

START_TEST(cut_at_every_byte)
{
    size_t bytes, zstd_bytes, gzip_bytes;
    uint8_t *data = tiny(&bytes), *zstd = scene_zstd(data, bytes, 2000, true, &zstd_bytes),
            *gzip = scene_gzip(data, bytes, &gzip_bytes);
    txm_error err;
    for (size_t n = 0; n < bytes; n++) {
        ck_assert_msg(try_bytes(data, n, NULL, &err) == TXM_CORRUPT, "plain, %zu bytes", n);
    }
    for (size_t n = 0; n < gzip_bytes; n++) {
        /* Without its checksum all blocks are there. */
        txm_status status = try_bytes(gzip, n, NULL, &err);
        ck_assert_msg(status == TXM_CORRUPT || (status == TXM_OK && n + 12 >= gzip_bytes), "gzip, %zu bytes", n);
    }
    for (size_t n = 0; n < zstd_bytes; n++) {
        /* Without its seek table the file is whole. */
        txm_status status = try_bytes(zstd, n, NULL, &err);
        ck_assert_msg(status == TXM_CORRUPT || (status == TXM_OK && n + 8 * (bytes / 2000 + 1) + 17 >= zstd_bytes),
                      "zstd, %zu bytes: %s", n, err.message);
    }
    ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_OK);
    free(data);
    free(zstd);
    free(gzip);
}
END_TEST

START_TEST(any_byte_may_be_wrong)
{
    size_t bytes;
    txm_error err;
    uint8_t *data = tiny(&bytes);
    for (size_t i = 0; i < bytes; i++) {
        uint8_t was = data[i];
        data[i] ^= 0xFF;
        try_bytes(data, bytes, NULL, &err); /* an error or a list: the sanitizers decide */
        data[i] = (uint8_t)(was + 1);
        try_bytes(data, bytes, NULL, &err);
        data[i] = was;
    }
    uint8_t *zstd = scene_zstd(data, bytes, 4000, true, &bytes);
    for (size_t i = 0; i < bytes; i++) {
        zstd[i] ^= 0x55;
        try_bytes(zstd, bytes, NULL, &err);
        zstd[i] ^= 0x55;
    }
    free(zstd);
    free(data);
}
END_TEST

START_TEST(garbage_is_no_scene)
{
    static const struct {
        const char *bytes;
        size_t count;
        txm_status status;
    } inputs[] = {{"", 0, TXM_CORRUPT},
                  {"BLENDER", 7, TXM_CORRUPT},
                  {"BLENDER-v304", 12, TXM_CORRUPT},
                  {"BLENDER-x304", 12, TXM_CORRUPT},
                  {"BLENDER-vabc", 12, TXM_CORRUPT},
                  {"BLENDER17-01v0502", 17, TXM_CORRUPT},
                  {"BLENDER17-02v0600", 17, TXM_NEWER},
                  {"BLENDER19-01v0600xx", 19, TXM_NEWER},
                  {"\x89PNG\r\n\x1a\n picture", 16, TXM_CORRUPT},
                  {"\x1F\x8B\x08 gzip", 8, TXM_CORRUPT},
                  {"\x28\xB5\x2F\xFD zstd", 9, TXM_CORRUPT}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        txm_error err;
        ck_assert_msg(try_bytes(inputs[i].bytes, inputs[i].count, NULL, &err) == inputs[i].status, "input %zu: %s", i,
                      err.message);
    }
}
END_TEST

START_TEST(only_files_are_scenes)
{
    char *folder = make_folder(), *fifo = txm_path_join(folder, "fifo"), *none = txm_path_join(folder, "none");
    txm_blend *blend = NULL;
    ck_assert_int_eq(mkfifo(fifo, 0666), 0);
    ck_assert_int_eq(txm_blend_open(folder, NULL, &blend, NULL), TXM_NOT_A_FILE);
    ck_assert_int_eq(txm_blend_open(fifo, NULL, &blend, NULL), TXM_NOT_A_FILE);
    ck_assert_int_eq(txm_blend_open("/dev/zero", NULL, &blend, NULL), TXM_NOT_A_FILE);
    ck_assert_int_eq(txm_blend_open(none, NULL, &blend, NULL), TXM_NOT_FOUND);
    ck_assert_ptr_null(blend);
    free(fifo);
    free(none);
    remove_folder(folder);
}
END_TEST

/* ---- impossible numbers --------------------------------------------------------------------------------------- */

/* Writes a little-endian number over the bytes at `at`. */
static void patch(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}

START_TEST(lengths_are_checked)
{
    static const uint64_t lengths[] = {1u << 30, INT32_MAX, 0x80000000u, UINT32_MAX};
    static const uint64_t large[] = {UINT64_C(1) << 40, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    txm_error err;
    size_t bytes;
    uint8_t *data = tiny(&bytes);
    for (size_t i = 0; i < 4; i++) {
        patch(data + 12 + 4, lengths[i], 4); /* of the first block */
        ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_CORRUPT);
    }
    free(data);
    scene_layout layout = {8, false, true, 502, false};
    scene_file *file = small_scene("lib/far.blend", "IM GLOB", layout);
    data = scene_encode(file, &bytes);
    for (size_t i = 0; i < 4; i++) {
        patch(data + 17 + 16, large[i], 8);
        ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_CORRUPT);
    }
    free(data);
    scene_free(file);
}
END_TEST

START_TEST(definitions_are_checked)
{
    static const char *const tags[] = {"NAME", "TYPE", "STRC"};
    txm_error err;
    size_t bytes;
    uint8_t *data = tiny(&bytes);
    for (size_t i = 0; i < 3; i++) {
        uint8_t *tag = memmem(data, bytes, tags[i], 4), count[4];
        ck_assert_ptr_nonnull(tag);
        memcpy(count, tag + 4, 4);
        patch(tag + 4, UINT32_MAX, 4);
        ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_CORRUPT);
        ck_assert_ptr_nonnull(strstr(err.message, "DNA1"));
        patch(tag + 4, 100000, 4);
        ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_CORRUPT);
        memcpy(tag + 4, count, 4);
    }
    uint8_t *structs = (uint8_t *)memmem(data, bytes, "STRC", 4) + 8;
    patch(structs, UINT16_MAX, 2); /* a type that does not exist */
    ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_CORRUPT);
    free(data);
}
END_TEST

START_TEST(definitions_must_be_there)
{
    txm_error err;
    size_t bytes;
    uint8_t *data = tiny(&bytes);
    memcpy(memmem(data, bytes, "DNA1", 4), "DATA", 4);
    ck_assert_int_eq(try_bytes(data, bytes, NULL, &err), TXM_CORRUPT);
    ck_assert_ptr_nonnull(strstr(err.message, "DNA1"));
    free(data);
}
END_TEST

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

START_TEST(lists_may_bite_their_tails)
{
    static const struct {
        const char *type, *next;
    } lists[] = {{"bNode", "next"}, {"bNodeLink", "next"}, {"ImageTile", "next"}, {"ImagePackedFile", "next"}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        txm_error err;
        bool packed = strcmp(lists[i].type, "ImagePackedFile") == 0;
        scene_file *file = small_scene(packed ? "packed.blend" : "lint.blend", "MA NT IM GLOB", plain);
        scene_block *block = find_type(file, lists[i].type, 0);
        scene_set_number(file, block, lists[i].next, block->address);
        ck_assert_msg(try_scene(file, NULL, &err) == TXM_OK, "%s: %s", lists[i].type, err.message);
        scene_free(file);
    }
}
END_TEST

START_TEST(groups_may_hold_themselves)
{
    txm_error err;
    scene_file *file = small_scene("lint.blend", "MA NT IM GLOB", plain);
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
END_TEST

START_TEST(libraries_may_be_the_scene_itself)
{
    char *folder = make_folder(), *path = txm_path_join(folder, "self.blend");
    scene_file *file = small_scene("linked.blend", "MA WO ID LI IM GLOB", plain);
    scene_set_text(file, scene_find(file, "LI", NULL), "name", "//self.blend");
    size_t bytes;
    uint8_t *data = scene_encode(file, &bytes);
    spill(path, data, bytes);
    txm_blend *blend = open_scene(path, true);
    ck_assert_uint_eq(txm_blend_library_count(blend), 0);
    ck_assert_uint_eq(txm_blend_image_count(blend), 1); /* the placeholders stand for themselves: nothing */
    txm_blend_close(&blend);
    /* And two files that say of each other that they have it. */
    char *other = txm_path_join(folder, "other.blend");
    spill(other, data, bytes);
    free(data);
    scene_set_text(file, scene_find(file, "LI", NULL), "name", "//other.blend");
    data = scene_encode(file, &bytes);
    spill(path, data, bytes);
    blend = open_scene(path, true);
    ck_assert_uint_eq(txm_blend_library_count(blend), 1);
    txm_blend_close(&blend);
    free(data);
    scene_free(file);
    free(path);
    free(other);
    remove_folder(folder);
}
END_TEST

START_TEST(pointers_may_lead_anywhere)
{
    txm_error err;
    for (uint64_t value = 1; value; value = value < UINT64_MAX / 16 ? value * 16 + 1 : 0) {
        scene_file *file = small_scene("lint.blend", "MA NT IM GLOB", plain);
        scene_set_number(file, find_type(file, "bNode", 1), "id", value);
        scene_set_number(file, find_type(file, "bNode", 2), "storage", value);
        scene_set_number(file, find_type(file, "bNodeTree", 0), "links.first", value);
        scene_set_number(file, find_type(file, "bNodeLink", 3), "fromnode", value);
        ck_assert_msg(try_scene(file, NULL, &err) == TXM_OK, "%s", err.message);
        scene_free(file);
    }
}
END_TEST

/* ---- bombs ---------------------------------------------------------------------------------------------------- */

/* What the process has held at most, in MB; 0 under sanitizers, which have their own idea of memory. */
static long peak_megabytes(void)
{
#if defined(__SANITIZE_ADDRESS__)
    return 0;
#else
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
#endif
}

/* A file of `head`, then `times` times `piece`, each a frame. */
static uint8_t *repeated(const txm_bytes *head, const txm_bytes *piece, size_t times, size_t *bytes)
{
    size_t head_bytes, piece_bytes;
    uint8_t *a = scene_zstd((uint8_t *)head->data, head->size, head->size, false, &head_bytes);
    uint8_t *b = scene_zstd((uint8_t *)piece->data, piece->size, piece->size, false, &piece_bytes);
    uint8_t *out = malloc(head_bytes + times * piece_bytes);
    memcpy(out, a, head_bytes);
    for (size_t i = 0; i < times; i++) {
        memcpy(out + head_bytes + i * piece_bytes, b, piece_bytes);
    }
    *bytes = head_bytes + times * piece_bytes;
    free(a);
    free(b);
    return out;
}

static void put_head(txm_bytes *b, const char *code, size_t bytes, uint64_t address)
{
    uint8_t head[24] = {0};
    memcpy(head, code, strlen(code));
    patch(head + 4, bytes, 4);
    patch(head + 8, address, 8);
    ck_assert(txm_bytes_add(b, head, sizeof head));
}

START_TEST(bombs_are_refused)
{
    txm_bytes head = {0}, piece = {0};
    enum { ZEROS = 64 << 20 };
    ck_assert(txm_bytes_puts(&head, "BLENDER-v304"));
    put_head(&piece, "DATA", ZEROS, 1);
    ck_assert(txm_bytes_reserve(&piece, ZEROS));
    memset(piece.data + piece.size, 0, ZEROS);
    piece.size += ZEROS;
    size_t bytes;
    uint8_t *bomb = repeated(&head, &piece, 200, &bytes); /* 12.5 GiB out of some 400 kB */
    txm_bytes_free(&head);
    txm_bytes_free(&piece);
    txm_error err;
    ck_assert_int_eq(try_bytes(bomb, bytes, NULL, &err), TXM_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(err.message, "bomb"));
    ck_assert_int_lt(peak_megabytes(), 200);
    /* As a library it is a broken one: the rest of the scene is listed. */
    char *folder = make_folder(), *lib = txm_path_join(folder, "lib"), *library = txm_path_join(lib, "library.blend"),
         *path = txm_path_join(folder, "linked.blend");
    ck_assert_int_eq(mkdir(lib, 0777), 0);
    spill(library, bomb, bytes);
    scene_file *file = small_scene("linked.blend", "MA WO ID LI IM GLOB", plain);
    size_t scene_bytes;
    uint8_t *scene = scene_encode(file, &scene_bytes);
    spill(path, scene, scene_bytes);
    txm_blend *blend = open_scene(path, false);
    ck_assert_int_eq(txm_blend_library_at(blend, 0)->state, TXM_BLEND_LIBRARY_BROKEN);
    ck_assert_int_eq(txm_blend_library_at(blend, 0)->status, TXM_TOO_LARGE);
    ck_assert_uint_eq(txm_blend_image_count(blend), 1);
    txm_blend_close(&blend);
    scene_free(file);
    free(scene);
    free(path);
    free(library);
    free(lib);
    remove_folder(folder);
    free(bomb);
}
END_TEST

START_TEST(masses_of_data_blocks_are_refused)
{
    /* Millions of libraries' placeholders, the smallest data-blocks that are kept. */
    scene_file *file = small_scene("linked.blend", "ID GLOB", plain);
    size_t encoded_bytes, bytes;
    uint8_t *encoded = scene_encode(file, &encoded_bytes);
    uint8_t *definitions = memmem(encoded, encoded_bytes, "DNA1", 4);
    scene_block *id = scene_find(file, "ID", NULL);
    txm_bytes head = {0}, piece = {0}, end = {0};
    ck_assert(txm_bytes_add(&head, encoded, 12));
    uint32_t sdna = 0;
    for (size_t at = 12; at < encoded_bytes && !sdna;) { /* the number of struct ID in this file */
        sdna = memcmp(encoded + at, "ID\0\0", 4) == 0 ? encoded[at + 16] : 0;
        at += 24 + (encoded[at + 4] | (size_t)encoded[at + 5] << 8 | (size_t)encoded[at + 6] << 16);
    }
    for (size_t i = 0; i < 20000; i++) {
        put_head(&piece, "ID", id->bytes, 4096 + 16 * i);
        patch((uint8_t *)piece.data + piece.size - 8, sdna, 4);
        ck_assert(txm_bytes_add(&piece, id->data, id->bytes));
    }
    uint8_t *masses = repeated(&head, &piece, 100, &bytes); /* two million */
    ck_assert(txm_bytes_add(&end, definitions, (size_t)(encoded + encoded_bytes - definitions)));
    size_t end_bytes;
    uint8_t *tail = scene_zstd((uint8_t *)end.data, end.size, end.size, false, &end_bytes);
    masses = realloc(masses, bytes + end_bytes);
    memcpy(masses + bytes, tail, end_bytes);
    txm_bytes_free(&head);
    txm_bytes_free(&piece);
    txm_bytes_free(&end);
    txm_error err;
    ck_assert_int_eq(try_bytes(masses, bytes + end_bytes, NULL, &err), TXM_TOO_LARGE);
    ck_assert_ptr_nonnull(strstr(err.message, "128 MiB"));
    ck_assert_int_lt(peak_megabytes(), 200);
    free(tail);
    free(masses);
    free(encoded);
    scene_free(file);
}
END_TEST

/* ---- what the fuzzer found ------------------------------------------------------------------------------------ */

START_TEST(inputs_that_once_crashed)
{
    char *path = scene_path("bad");
    DIR *dir = opendir(path);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (e->d_name[0] != '.') {
            char *file = txm_path_join(path, e->d_name);
            size_t bytes;
            txm_error err;
            uint8_t *data = slurp(file, &bytes);
            try_bytes(data, bytes, NULL, &err);
            free(data);
            free(file);
        }
    }
    if (dir) {
        closedir(dir);
    }
    free(path);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("blend_hostile");
    TCase *t = tcase_create("hostile");
    tcase_add_loop_test(t, small_scenes_open, 0, SMALLS);
    tcase_add_test(t, cut_at_every_byte);
    tcase_add_test(t, any_byte_may_be_wrong);
    tcase_add_test(t, garbage_is_no_scene);
    tcase_add_test(t, only_files_are_scenes);
    tcase_add_test(t, lengths_are_checked);
    tcase_add_test(t, definitions_are_checked);
    tcase_add_test(t, definitions_must_be_there);
    tcase_add_test(t, lists_may_bite_their_tails);
    tcase_add_test(t, groups_may_hold_themselves);
    tcase_add_test(t, libraries_may_be_the_scene_itself);
    tcase_add_test(t, pointers_may_lead_anywhere);
    tcase_add_test(t, bombs_are_refused);
    tcase_add_test(t, masses_of_data_blocks_are_refused);
    tcase_add_test(t, inputs_that_once_crashed);
    suite_add_tcase(suite, t);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
