/* SPDX-License-Identifier: Apache-2.0
 * Helpers for tests of scenes. */
#include "util_blend.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/mem.h"
#include "base/path.h"
#include "util_check.h"

char *scene_path(const char *name)
{
    char *path = txm_path_absolute(testdata("blend/%s", name));
    ck_assert_ptr_nonnull(path);
    return path;
}

uint8_t *slurp(const char *path, size_t *bytes)
{
    FILE *f = fopen(path, "rb");
    ck_assert_msg(f != NULL, "cannot open %s", path);
    txm_bytes b = {0};
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, f)) > 0;) {
        ck_assert(txm_bytes_add(&b, chunk, n));
    }
    ck_assert(txm_bytes_add(&b, "", 0));
    fclose(f);
    *bytes = b.size;
    return (uint8_t *)b.data;
}

void spill(const char *path, const void *data, size_t bytes)
{
    FILE *f = fopen(path, "wb");
    ck_assert_ptr_nonnull(f);
    ck_assert_uint_eq(fwrite(data, 1, bytes, f), bytes);
    ck_assert_int_eq(fclose(f), 0);
}

char *make_folder(void)
{
    char *folder = txm_strdup("/tmp/txm-blend-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    return folder;
}

void remove_folder(char *folder)
{
    pid_t child = fork();
    if (child == 0) {
        execlp("rm", "rm", "-rf", "--", folder, (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
    free(folder);
}

txm_scene *open_scene(const char *path, bool lint)
{
    txm_scene_options options = {.struct_size = sizeof(txm_scene_options), .lint = lint};
    txm_scene *blend = NULL;
    txm_error err = {0};
    ck_assert_msg(txm_scene_open(path, &options, &blend, &err) == TXM_OK, "%s", err.message);
    return blend;
}

const txm_scene_image *image_named(const txm_scene *blend, const char *name)
{
    for (size_t i = 0; i < txm_scene_image_count(blend); i++) {
        if (strcmp(txm_scene_image_at(blend, i)->name, name) == 0) {
            return txm_scene_image_at(blend, i);
        }
    }
    ck_abort_msg("no image %s", name);
    return NULL;
}

/* ---- Blender's own list --------------------------------------------------------------------------------------- */

static const char *text_of(const cJSON *object, const char *member)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, member);
    ck_assert_msg(cJSON_IsString(item), "no text %s", member);
    return item->valuestring;
}

static const char *extension_name(txm_extension extension)
{
    static const char *const names[] = {"repeat", "extend", "clip", "mirror"};
    return names[extension];
}

/* Blender's lists have paths relative to the folder. */
static void check_path(const char *path, const char *expected, const char *folder)
{
    char *full = *expected ? txm_path_join(folder, expected) : txm_strdup("");
    ck_assert_str_eq(path, full);
    free(full);
}

static void check_user(const txm_scene_user *user, const cJSON *expected, const char *folder)
{
    ck_assert_str_eq(user->node, text_of(expected, "node"));
    ck_assert_str_eq(user->owner, text_of(expected, "owner"));
    ck_assert_str_eq(user->owner_type, text_of(expected, "owner_type"));
    ck_assert_str_eq(extension_name(user->extension), text_of(expected, "extension"));
    ck_assert_str_eq(user->interpolation, text_of(expected, "interpolation"));
    ck_assert_int_eq(user->environment, cJSON_IsTrue(cJSON_GetObjectItem(expected, "environment")));
    check_path(user->library, text_of(expected, "library"), folder);
}

/* The user that Blender lists with the same node and owner. */
static const cJSON *find_user(const cJSON *users, const txm_scene_user *user)
{
    const cJSON *item;
    cJSON_ArrayForEach(item, users)
    {
        if (strcmp(text_of(item, "node"), user->node) == 0 && strcmp(text_of(item, "owner"), user->owner) == 0) {
            return item;
        }
    }
    ck_abort_msg("Blender knows no node %s in %s", user->node, user->owner);
    return NULL;
}

static void check_packed(const txm_scene_image *image, const cJSON *packed)
{
    ck_assert_int_eq(image->state == TXM_SCENE_STATE_PACKED, cJSON_GetArraySize(packed) > 0);
    ck_assert_uint_eq(image->packed_count, (size_t)cJSON_GetArraySize(packed));
    for (size_t i = 0; i < image->packed_count; i++) {
        const cJSON *expected = cJSON_GetArrayItem(packed, (int)i);
        const char *name = text_of(expected, "name");
        ck_assert_uint_eq(image->packed[i].bytes, (uint64_t)cJSON_GetObjectItem(expected, "bytes")->valuedouble);
        if (*name) {
            ck_assert_str_eq(image->packed[i].name, name);
        }
    }
}

static void check_image(const txm_scene_image *image, const cJSON *expected, const char *folder)
{
    const char *alpha = text_of(expected, "alpha");
    ck_assert_str_eq(image->name, text_of(expected, "name"));
    ck_assert_str_eq(image->stored_path, text_of(expected, "stored_path"));
    ck_assert_str_eq(txm_scene_source_name(image->source), text_of(expected, "source"));
    ck_assert_str_eq(image->colorspace_stored, text_of(expected, "colorspace"));
    ck_assert_str_eq(txm_alpha_name(image->alpha), strcmp(alpha, "premul") ? alpha : "premultiplied");
    check_path(image->library, text_of(expected, "library"), folder);
    check_path(image->path, text_of(expected, "path"), folder);
    const cJSON *tiles = cJSON_GetObjectItem(expected, "tiles");
    ck_assert_uint_eq(image->tile_count, (size_t)cJSON_GetArraySize(tiles));
    for (size_t i = 0; i < image->tile_count; i++) {
        ck_assert_int_eq((int)image->tiles[i], cJSON_GetArrayItem(tiles, (int)i)->valueint);
    }
    const cJSON *users = cJSON_GetObjectItem(expected, "users");
    ck_assert_uint_eq(image->user_count, (size_t)cJSON_GetArraySize(users));
    for (size_t i = 0; i < image->user_count; i++) {
        check_user(&image->users[i], find_user(users, &image->users[i]), folder);
    }
    check_packed(image, cJSON_GetObjectItem(expected, "packed"));
}

void check_against_blender(const txm_scene *blend, const char *json_path, const char *folder)
{
    size_t bytes;
    char *text = (char *)slurp(json_path, &bytes);
    cJSON *list = cJSON_ParseWithLength(text, bytes);
    ck_assert_msg(cJSON_IsArray(list), "%s", json_path);
    ck_assert_uint_eq(txm_scene_image_count(blend), (size_t)cJSON_GetArraySize(list));
    for (size_t i = 0; i < txm_scene_image_count(blend); i++) {
        check_image(txm_scene_image_at(blend, i), cJSON_GetArrayItem(list, (int)i), folder);
    }
    cJSON_Delete(list);
    free(text);
}

/* ---- as text -------------------------------------------------------------------------------------------------- */

static void describe_image(txm_bytes *b, const txm_scene *blend, const txm_scene_image *image)
{
    txm_bytes_printf(b, "%s|%s|%s|%s|%d|%d|%s|%s|%d\n", image->name, image->stored_path, txm_path_base(image->path),
                     txm_path_base(image->library), image->source, image->state, image->colorspace_stored,
                     image->colorspace ? image->colorspace : "", image->alpha);
    for (size_t i = 0; i < image->tile_count; i++) {
        txm_bytes_printf(b, "  tile %u\n", image->tiles[i]);
    }
    for (size_t i = 0; i < image->file_count; i++) {
        txm_bytes_printf(b, "  file %u %s %d\n", image->files[i].number, txm_path_base(image->files[i].path),
                         image->files[i].exists);
    }
    for (size_t i = 0; i < image->packed_count; i++) {
        txm_bytes_printf(b, "  packed %u %s %llu\n", image->packed[i].number, image->packed[i].name,
                         (unsigned long long)image->packed[i].bytes);
    }
    for (size_t i = 0; i < image->user_count; i++) {
        const txm_scene_user *u = &image->users[i];
        txm_bytes_printf(b, "  user %s|%s|%s|%s|%d|%d|%s\n", u->node, u->owner, u->owner_type,
                         txm_path_base(u->library), u->environment, u->extension, u->interpolation);
        for (int frame = -5; frame <= 1000000; frame += frame < 5 ? 1 : 999995) {
            uint32_t number;
            if (txm_scene_frame_number(blend, u, frame, &number)) {
                char *path = txm_scene_numbered_path(image, number);
                txm_bytes_printf(b, "    frame %d: %u %s\n", frame, number, path ? txm_path_base(path) : "");
                free(path);
            }
        }
    }
}

char *describe(const txm_scene *blend)
{
    txm_bytes b = {0};
    for (size_t i = 0; i < txm_scene_image_count(blend); i++) {
        describe_image(&b, blend, txm_scene_image_at(blend, i));
    }
    size_t ranges;
    const txm_frame_range *range = txm_scene_frames(blend, &ranges);
    for (size_t i = 0; i < ranges; i++) {
        txm_bytes_printf(&b, "frames %d %d %d\n", range[i].first, range[i].last, range[i].step);
    }
    for (size_t i = 0; i < txm_scene_library_count(blend); i++) {
        const txm_scene_library *l = txm_scene_library_at(blend, i);
        txm_bytes_printf(&b, "library %s %d %zu\n", txm_path_base(l->path), l->state, l->lost);
    }
    for (size_t i = 0; i < txm_scene_finding_count(blend); i++) {
        const txm_scene_finding *f = txm_scene_finding_at(blend, i);
        txm_bytes_printf(&b, "finding %s %s\n", f->id, txm_scene_image_at(blend, f->image)->name);
    }
    ck_assert(txm_bytes_puts(&b, ""));
    return b.data;
}

/* ---- damaged scenes -------------------------------------------------------------------------------------------- */

const scene_layout scene_plain = {8, false, false, 304, false};

/* The structs that the reader uses; sockets, which are most of them, only where they matter. */
#define WITHOUT_SOCKETS                                                                                                \
    "Material World Lamp bNodeTree bNode NodeTexImage NodeTexEnvironment bNodeLink Image ImageTile ImagePackedFile "   \
    "PackedFile Library ID FileGlobal Object Mesh Collection CollectionObject CollectionChild"
#define WITH_SOCKETS WITHOUT_SOCKETS " bNodeSocket"

scene_file *small_scene(const char *name, const char *codes, scene_layout layout)
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

txm_status try_bytes(const void *data, size_t bytes, txm_scene **blend, txm_error *err)
{
    char path[64];
    txm_scene *own = NULL;
    txm_scene_options options = {.struct_size = sizeof(txm_scene_options), .lint = true};
    int fd = memfd_create("scene", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    *err = (txm_error){0};
    txm_status status = txm_scene_open(path, &options, &own, err);
    if (status != TXM_OK) {
        ck_assert_ptr_null(own);
        ck_assert_int_eq(err->status, status);
        ck_assert_ptr_nonnull(strstr(err->message, path));
    }
    if (blend) {
        *blend = own;
    } else {
        txm_scene_close(&own);
    }
    close(fd);
    return status;
}

txm_status try_scene(const scene_file *file, txm_scene **blend, txm_error *err)
{
    size_t bytes;
    uint8_t *data = scene_encode(file, &bytes);
    txm_status status = try_bytes(data, bytes, blend, err);
    free(data);
    return status;
}

void patch(uint8_t *at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> (8 * i));
    }
}
