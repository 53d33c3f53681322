/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the files of an image on disk: a single one, the existing tiles of a UDIM set, or the existing frames of a
 * sequence, in the order of their numbers. For a sequence the folder is read and matching names are taken, so that the
 * cost depends on the folder and not on the range that the file claims.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/path.h"
#include "mill/scene/blend/blend.h"

typedef TXM_TABLE(txm_scene_image_file) file_table;

/* A file that exists but cannot be examined is not missing. */
static bool is_missing(int sys_errno)
{
    return sys_errno == ENOENT || sys_errno == ENOTDIR;
}

/* Whether the path cannot be accessed until somebody fixes it. Other failures may be temporary. */
static bool is_out_of_reach(int sys_errno)
{
    return is_missing(sys_errno) || sys_errno == EACCES || sys_errno == ELOOP || sys_errno == ENAMETOOLONG;
}

/* Adds a file; with `only_existing`, only if it exists. One that cannot be accessed counts as existing, and so does a
 * folder or a pipe: opening it will report what is wrong. */
static txm_status add_image_file(txm_scene *scene, file_table *files, const char *path, uint32_t number,
                                 bool only_existing, txm_error *err)
{
    struct stat st;
    int rc = stat(path, &st) == 0 ? 0 : errno;
    bool exists = !is_missing(rc);
    if (rc && !is_out_of_reach(rc))
        return txm_fail_errno(err, rc, "%s: cannot be examined", path);
    if (!exists && only_existing)
        return TXM_OK;
    const char *kept = txm_scene_keep(scene, path);
    txm_scene_image_file *f = kept ? TXM_STORE_ADD(&scene->store, files) : NULL;
    if (!f)
        return txm_scene_exhausted(scene, err);
    *f = (txm_scene_image_file){kept, number, exists, !rc && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0};
    return TXM_OK;
}

static int compare_numbers(const void *a, const void *b)
{
    const txm_scene_image_file *left = a, *right = b;
    if (left->number != right->number)
        return left->number < right->number ? -1 : 1;
    return strcmp(left->path, right->path);
}

enum { MOST_DIGITS = 9 }; /* of a frame number: a larger one is a date or the like */

/* ---- numbered files ------------------------------------------------------------------------------------------- */

/* Adds the files of the folder whose names differ from `like` only in these digits, and have as many, unless the number
 * needs more. */
static txm_status read_frames(txm_scene *scene, const char *folder, const char *like, size_t begin, size_t digits,
                              bool may_be_longer, file_table *files, txm_error *err)
{
    txm_status status = TXM_OK;
    struct dirent *entry;
    DIR *dir = opendir(folder);
    if (!dir) /* without the folder there are no frames: the image is missing */
        return is_out_of_reach(errno) ? TXM_OK : txm_fail_errno(err, errno, "%s: cannot open the folder", folder);
    while (status == TXM_OK && (errno = 0, entry = readdir(dir))) {
        if (strncmp(entry->d_name, like, begin) != 0)
            continue;
        const size_t found = strspn(entry->d_name + begin, "0123456789");
        const bool longer = may_be_longer && found > digits && found <= MOST_DIGITS && entry->d_name[begin] != '0';
        if ((found != digits && !longer) || strcmp(entry->d_name + begin + found, like + begin + digits) != 0)
            continue;
        char *path = txm_path_join(folder, entry->d_name);
        uint32_t number = (uint32_t)strtoul(entry->d_name + begin, NULL, 10);
        status = path ? add_image_file(scene, files, path, number, true, err) : txm_scene_exhausted(scene, err);
        free(path);
    }
    if (status == TXM_OK && errno)
        status = txm_fail_errno(err, errno, "%s: cannot read the folder", folder);
    closedir(dir);
    return status;
}

/* ---- UDIM ----------------------------------------------------------------------------------------------------- */

/* The path of a tile: <UDIM> becomes its number, <UVTILE> its column and row counted from 1. A path without a token is
 * one file for all tiles. NULL if memory is exhausted. */
static char *tile_path(const char *path, uint32_t tile)
{
    const char *udim = strstr(path, "<UDIM>"), *uv = strstr(path, "<UVTILE>");
    uint32_t index = tile > 1000 ? tile - 1001 : 0;
    if (udim)
        return txm_asprintf("%.*s%04u%s", (int)(udim - path), path, tile, udim + strlen("<UDIM>"));
    if (uv) {
        return txm_asprintf("%.*su%u_v%u%s", (int)(uv - path), path, index % 10 + 1, index / 10 + 1,
                            uv + strlen("<UVTILE>"));
    }
    return txm_strdup(path);
}

/* Adds all tiles of the set; missing ones are listed as such. */
static txm_status expand_tiles(txm_scene *scene, const txm_scene_image *image, file_table *files, txm_error *err)
{
    txm_status status = TXM_OK;
    if (!image->tile_count) {
        /* Without a list of tiles, those in the folder are taken: four digits replace the token. */
        char *like = tile_path(image->path, 1001), *folder = like ? txm_path_dir(like) : NULL;
        const char *name = txm_path_base(image->path), *token = strstr(name, "<UDIM>");
        status = !folder ? txm_scene_exhausted(scene, err)
                 : token ? read_frames(scene, folder, txm_path_base(like), (size_t)(token - name), 4, false, files, err)
                         : add_image_file(scene, files, like, 1001, true, err);
        free(folder);
        free(like);
        return status;
    }
    bool has_token = strstr(image->path, "<UDIM>") || strstr(image->path, "<UVTILE>");
    for (size_t i = 0; status == TXM_OK && i < (has_token ? image->tile_count : 1); i++) {
        char *path = tile_path(image->path, image->tiles[i]);
        status =
            path ? add_image_file(scene, files, path, image->tiles[i], true, err) : txm_scene_exhausted(scene, err);
        free(path);
    }
    return status;
}

/* ---- sequences ------------------------------------------------------------------------------------------------ */

/* A frame number is the last digits of a name before the extension; *digits is 0 if there are none. Returns where they
 * begin. */
static size_t find_digits(const char *name, size_t *digits)
{
    size_t end = (size_t)(txm_path_ext(name) - name);
    while (end > 0 && !isdigit((unsigned char)name[end - 1]))
        end--;
    size_t begin = end;
    while (begin > 0 && isdigit((unsigned char)name[begin - 1]))
        begin--;
    *digits = end - begin > MOST_DIGITS ? 0 : end - begin;
    return begin;
}

/* A name without a number is a single file, whatever the image's type is. */
static txm_status expand_sequence(txm_scene *scene, const txm_scene_image *image, file_table *files, txm_error *err)
{
    const char *like = txm_path_base(image->path);
    size_t digits;
    const size_t begin = find_digits(like, &digits);
    if (!digits)
        return add_image_file(scene, files, image->path, 0, true, err);
    char *folder = txm_path_dir(image->path);
    txm_status status =
        folder ? read_frames(scene, folder, like, begin, digits, true, files, err) : txm_scene_exhausted(scene, err);
    free(folder);
    return status;
}

const txm_frame_range *txm_scene_frames(const txm_scene *scene, size_t *count)
{
    *count = scene->blend ? scene->blend->files.data[0].model.ranges.count : 0;
    return *count ? scene->blend->files.data[0].model.ranges.data : NULL;
}

/* As Blender's BKE_image_user_frame_get: without a cycle, the first and the last frame stay. Values may be hostile. */
bool txm_scene_frame_number(const txm_scene *scene, const txm_scene_user *user, int32_t frame, uint32_t *number)
{
    const size_t index = (size_t)(user - scene->users.data);
    if (scene->varies_frames || index >= scene->frames.count || !scene->frames.data[index].known)
        return false;
    const txm_sequence_use *use = &scene->frames.data[index];
    const int64_t length = use->frames;
    int64_t at = (int64_t)frame - use->start + 1;
    if (use->cyclic && length > 0) {
        at %= length;
        at += at <= 0 ? length : 0;
    }
    at = at < 0 || length <= 0 ? 0 : at > length ? length : at;
    at += length ? use->offset : 0;
    *number = at < 0 ? 0 : (uint32_t)at;
    return true;
}

char *txm_scene_numbered_path(const txm_scene_image *image, uint32_t number)
{
    const char *name = txm_path_base(image->path);
    size_t digits;
    const size_t begin = find_digits(name, &digits);
    const bool has_token = strstr(image->path, "<UDIM>") || strstr(image->path, "<UVTILE>");
    if (image->source == TXM_SCENE_SOURCE_TILED && has_token)
        return tile_path(image->path, number);
    if (image->source != TXM_SCENE_SOURCE_SEQUENCE || !digits)
        return NULL;
    return txm_asprintf("%.*s%0*u%s", (int)(name + begin - image->path), image->path, (int)digits, number,
                        name + begin + digits);
}

txm_status txm_scene_expand(txm_scene *scene, bool is_packed, txm_scene_image *out, txm_error *err)
{
    file_table files = {0};
    txm_status status = TXM_OK;
    bool has_files = out->source == TXM_SCENE_SOURCE_FILE || out->source == TXM_SCENE_SOURCE_SEQUENCE ||
                     out->source == TXM_SCENE_SOURCE_TILED;
    out->state = TXM_SCENE_STATE_READY;
    if (!has_files) /* movies, generated and viewer images have none in Cycles' cache */
        out->state = TXM_SCENE_STATE_NO_FILE;
    else if (is_packed)
        out->state = TXM_SCENE_STATE_PACKED;
    else if (!*out->path)
        out->state = TXM_SCENE_STATE_NO_PATH;
    else if (out->source == TXM_SCENE_SOURCE_TILED)
        status = expand_tiles(scene, out, &files, err);
    else if (out->source == TXM_SCENE_SOURCE_SEQUENCE)
        status = expand_sequence(scene, out, &files, err);
    else
        status = add_image_file(scene, &files, out->path, 0, false, err);
    if (status != TXM_OK) {
        free(files.data);
        return status;
    }
    if (out->state == TXM_SCENE_STATE_READY) {
        if (files.count > 1)
            qsort(files.data, files.count, sizeof *files.data, compare_numbers);
        if (files.count == 0 || (files.count == 1 && !files.data[0].exists))
            out->state = TXM_SCENE_STATE_MISSING;
    }
    out->files = files.data;
    out->file_count = files.count;
    return TXM_OK;
}

/* ---- stored paths ------------------------------------------------------------------------------------------------ */

size_t txm_scene_server_bytes(const char *stored)
{
    static const char *const starts[] = {"\\\\?\\UNC\\", "\\\\?\\", "\\\\"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(stored, starts[i], strlen(starts[i])) == 0)
            return strlen(starts[i]);
    return 0;
}

/* Backslashes come from Windows and are separators too, but Blender keeps those that come before a server. NULL if
 * memory is exhausted. */
static char *stored_slashes(const char *stored)
{
    char *path = txm_strdup(stored);
    for (char *p = path ? path + txm_scene_server_bytes(path) : NULL; p && *p; p++)
        *p = *p == '\\' ? '/' : *p;
    return path;
}

static bool is_drive(const char *path)
{
    return isalpha((unsigned char)path[0]) && path[1] == ':' && (path[2] == '/' || path[2] == '\\' || !path[2]);
}

static char path_letter(char c, bool folds)
{
    return c == '\\' ? '/' : folds ? (char)tolower((unsigned char)c) : c;
}

/* The length of the start of `path` that is `from`, without its last slash; 0 if it has another start. */
static size_t mapped_bytes(const char *path, const char *from)
{
    bool server = from[0] && strchr("/\\", from[0]) && from[1] == from[0], folds = server || is_drive(from);
    size_t n = strlen(from);
    while (n > 1 && strchr("/\\", from[n - 1]))
        n--;
    /* "//" in a .blend file is its folder, so a server is named with backslashes. */
    if (server && strncmp(path, "\\\\", 2) != 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        if (path_letter(path[i], folds) != path_letter(from[i], folds))
            return 0;
    return !path[n] || strchr("/\\", path[n]) ? n : 0;
}

bool txm_path_map_apply(const txm_path_map *maps, size_t count, const char *stored, char **out)
{
    *out = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t n = mapped_bytes(stored, maps[i].from);
        char *rest = n ? stored_slashes(stored + n) : NULL, *joined = NULL;
        if (rest) {
            joined = txm_asprintf("%s/%s", maps[i].to, rest);
            *out = joined ? txm_path_normal(joined) : NULL;
        }
        free(rest);
        free(joined);
        if (n)
            return true;
    }
    return false;
}

/* "//" is the folder of the .blend file, and "P:\" is "/p/", as in Blender. */
const char *txm_scene_path(txm_scene *scene, const char *stored, const char *folder)
{
    char *slashes = NULL, *path = NULL;
    if (!txm_path_map_apply(scene->options.maps, scene->options.map_count, stored, &path))
        slashes = stored_slashes(stored);
    if (slashes && slashes[0] == '/' && slashes[1] == '/') {
        char *joined = txm_asprintf("%s/%s", folder, slashes + 2);
        path = joined ? txm_path_normal(joined) : NULL;
        free(joined);
    } else if (slashes) {
        if (is_drive(slashes) && slashes[2]) {
            slashes[1] = (char)tolower((unsigned char)slashes[0]);
            slashes[0] = '/';
        }
        path = txm_path_absolute(slashes);
    }
    const char *kept = path ? txm_scene_keep(scene, path) : NULL;
    free(path);
    free(slashes);
    return kept;
}
