/* SPDX-License-Identifier: Apache-2.0
 *
 * Interprets an image's settings for the version that wrote the file: images get the colour space and alpha type that
 * the render sees, their list of tiles, and paths with this system's separators. The changes are those that Blender
 * makes when it opens an old file.
 */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "mill/color/config.h"
#include "mill/scene/blend/blend.h"
#include "tile/terms/settings.h"

enum { FIRST_TILE = 1001 };

/* Whether the file is older than that version, compared as Blender does. */
static bool before(const txm_model *model, int version, int subversion)
{
    return model->format.version < version || (model->format.version == version && model->subversion < subversion);
}

/* ---- tiled paths ---------------------------------------------------------------------------------------------- */

/* Characters that may come before and after a UDIM number, as in wood.1001.png. */
static bool separates(char c)
{
    return c == '.' || c == '_' || c == '-';
}

/* The last UDIM number in a file name: four digits, of which the first is 1 or 2, between separators. NULL if there is
 * none. */
static const char *last_udim(const char *name)
{
    const char *found = NULL;
    for (const char *p = name; *p; p++) {
        size_t digits = strspn(p, "0123456789");
        if (digits == 4 && (*p == '1' || *p == '2') && p > name && separates(p[-1]) && separates(p[4]))
            found = p;
        p += digits ? digits - 1 : 0;
    }
    return found;
}

/* The last "u1_v1" that ends before a separator; *length receives its length. */
static const char *last_uv(const char *name, size_t *length)
{
    const char *found = NULL;
    for (const char *p = name; *p; p++) {
        size_t u = *p == 'u' ? strspn(p + 1, "0123456789") : 0;
        if (u < 1 || u > 2 || p[1 + u] != '_' || p[2 + u] != 'v')
            continue;
        size_t v = strspn(p + 3 + u, "0123456789");
        if (v >= 1 && v <= 3 && separates(p[3 + u + v])) {
            found = p;
            *length = 3 + u + v;
        }
    }
    return found;
}

/* Before 3.1.6 the path of a tiled image is that of its first tile: the token replaces the number. */
static const char *with_token(txm_scene *scene, const char *path)
{
    if (strstr(path, "<UDIM>") || strstr(path, "<UVTILE>"))
        return path;
    const char *name = txm_path_base(path), *token = "<UDIM>";
    size_t length = 4;
    const char *at = last_udim(name);
    if (!at) {
        at = last_uv(name, &length);
        token = "<UVTILE>";
    }
    if (!at)
        return path;
    char text[1100]; /* stored paths have at most 1024 bytes */
    size_t head = (size_t)(at - path), tail = strlen(at + length);
    if (head + 8 + tail >= sizeof text)
        return path;
    memcpy(text, path, head);
    memcpy(text + head, token, strlen(token));
    memcpy(text + head + strlen(token), at + length, tail);
    return txm_store_string(&scene->store, text, head + strlen(token) + tail);
}

/* Windows separates paths with backslashes; Blender accepts both, and converts them when it opens a file, except for
 * those before the name of a server. */
static const char *with_slashes(txm_scene *scene, const char *path)
{
    char text[1100]; /* stored paths have at most 1024 bytes */
    size_t n = strlen(path);
    if (n >= sizeof text || !strchr(path, '\\'))
        return path;
    const size_t server = txm_scene_server_bytes(path);
    for (size_t i = 0; i <= n; i++)
        text[i] = path[i] == '\\' && i >= server ? '/' : path[i];
    return txm_store_string(&scene->store, text, n);
}

/* Before tiles were stored in a list, a tiled image had a single one. */
static bool settle_tiles(txm_scene *scene, const txm_model *model, const txm_image *image, txm_scene_image *out)
{
    static const uint32_t first_tile[1] = {FIRST_TILE};
    if (out->source != TXM_SCENE_SOURCE_TILED)
        return true;
    out->tiles = first_tile;
    out->tile_count = 1;
    if (image->has_tile_list && !before(model, 283, 3) && image->tiles.end > image->tiles.begin) {
        out->tiles = model->tiles.data + image->tiles.begin;
        out->tile_count = image->tiles.end - image->tiles.begin;
    }
    if (before(model, 301, 6))
        out->stored_path = with_token(scene, out->stored_path);
    return out->stored_path != NULL;
}

/* ---- colour and alpha ----------------------------------------------------------------------------------------- */

/* If there is no config, every name is its own canonical name. */
static const char *canonical(const txm_scene *scene, const char *name)
{
    const txm_scene_colors *c = &scene->options.colors;
    return c->canonical ? c->canonical(c->user, name) : name;
}

/* The name that Cycles gets for a stored one, which is part of the name of the tx file. NULL: Blender clears it. */
static const char *opened(const txm_scene *scene, const char *stored, const char *interop_id)
{
    if (!*stored)
        return NULL;
    if (scene->options.opened)
        return scene->options.opened(scene->options.colors.user, stored, interop_id);
    return canonical(scene, stored) ? stored : NULL;
}

static bool settle_colorspace(txm_scene *scene, const txm_model *model, const txm_image *image, txm_scene_image *out)
{
    bool legacy_data = image->legacy_data && before(model, 280, 66);
    const char *stored = legacy_data ? "Non-Color" : image->colorspace;
    const char *requested = opened(scene, stored, legacy_data ? "" : image->interop_id),
               *name = requested ? canonical(scene, requested) : NULL;
    if (!name && legacy_data)
        requested = name = canonical(scene, "data"); /* the config may have another name for its data space */
    out->colorspace_stored = stored;
    out->colorspace_known = name || !*stored;
    requested = txm_space_setting(requested);
    out->colorspace = txm_scene_keep(scene, requested);
    if (name) {
        out->colorspace_name = txm_scene_keep(scene, name);
        out->data = txm_scene_is_data(scene, name);
    }
    return out->colorspace && (!name || out->colorspace_name);
}

/* ---- library overrides ------------------------------------------------------------------------------------------ */

typedef struct source {
    const txm_image *image;
    const txm_blend_file *file;
} source;

static bool sets_path(const txm_image *image)
{
    return image->own_path;
}

static bool sets_alpha(const txm_image *image)
{
    return image->own_alpha;
}

/* Finds the image from which an override takes a property: the next one in the chain of libraries that sets it, else
 * the last one that exists. Properties for which `own` is false are not set by the override. */
static source source_of(const txm_scene *scene, source of, bool (*own)(const txm_image *))
{
    for (int hops = 0; of.image->overrides && !(own && own(of.image)) && hops < 64; hops++) {
        uint32_t file = (uint32_t)(of.file - scene->blend->files.data), id;
        if (!txm_blend_follow(scene->blend, &file, of.image->overrides, &id))
            break; /* Blender keeps the scene's values if the library is missing */
        const txm_model *model = &scene->blend->files.data[file].model;
        if (model->ids.data[id].image == TXM_NO_INDEX)
            break;
        of = (source){&model->images.data[model->ids.data[id].image], &scene->blend->files.data[file]};
    }
    return of;
}

/* Paths are relative to the file from which the data-block came originally, even if a library passed it on. */
static const char *folder_of(txm_scene *scene, const txm_blend_file *file, const txm_id *id)
{
    const txm_model *model = &file->model;
    uint32_t library = id->library ? txm_model_find(model, id->library) : TXM_NO_INDEX;
    if (library == TXM_NO_INDEX || model->ids.data[library].own_library == TXM_NO_INDEX)
        return file->folder;
    const txm_library *named = &model->libraries.data[model->ids.data[library].own_library];
    /* An archive of packed data-blocks may have no path of its own; then its parent's counts. */
    uint32_t parent = !*named->path ? txm_model_find(model, named->archive_parent) : TXM_NO_INDEX;
    if (parent != TXM_NO_INDEX && model->ids.data[parent].own_library != TXM_NO_INDEX)
        named = &model->libraries.data[model->ids.data[parent].own_library];
    const char *path = txm_scene_path(scene, named->path, file->folder);
    char *folder = path ? txm_path_dir(path) : NULL;
    const char *kept = folder ? txm_scene_keep(scene, folder) : NULL;
    free(folder);
    return kept;
}

txm_status txm_blend_settle(txm_scene *scene, const txm_blend_file *file, const txm_image *image, txm_scene_image *out,
                            txm_error *err)
{
    const source self = {image, file}, all = source_of(scene, self, NULL), path = source_of(scene, self, sets_path),
                 alpha = source_of(scene, self, sets_alpha);
    out->stored_path = with_slashes(scene, path.image->path);
    out->source = (txm_scene_source)all.image->source;
    /* An unknown mode of a later Blender gives that of a new image. */
    static const txm_alpha modes[] = {TXM_ALPHA_STRAIGHT, TXM_ALPHA_PREMULTIPLIED, TXM_ALPHA_CHANNEL_PACKED,
                                      TXM_ALPHA_NONE};
    const int mode = alpha.image->alpha_mode;
    const bool ignored = before(&alpha.file->model, 280, 70) && alpha.image->ignore_alpha;
    out->alpha = ignored                                                   ? TXM_ALPHA_NONE
                 : mode >= 0 && mode < (int)(sizeof modes / sizeof *modes) ? modes[mode]
                                                                           : TXM_ALPHA_DEFAULT;
    if (!out->stored_path || !settle_tiles(scene, &all.file->model, all.image, out) ||
        !settle_colorspace(scene, &all.file->model, all.image, out))
        return txm_scene_exhausted(scene, err);
    const char *folder = folder_of(scene, path.file, &path.file->model.ids.data[path.image->id]);
    out->path = !folder ? NULL : *out->stored_path ? txm_scene_path(scene, out->stored_path, folder) : "";
    return out->path ? TXM_OK : txm_scene_exhausted(scene, err);
}
