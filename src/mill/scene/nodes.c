/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the images of a scene from its image nodes, each once per combination of file and settings, with their users.
 * The result has the same tables as that of a .blend file, sorted by path, so that commands need not distinguish them.
 */
#include "mill/scene/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/path.h"
#include "mill/color/config.h"
#include "tile/terms/extension.h"
#include "tile/terms/settings.h"

txm_status txm_nodes_add_library(txm_scene *scene, const char *path, const char *parent, txm_status status,
                                 const char *message, txm_error *err)
{
    if (scene->libraries.count >= TXM_SCENE_MAX_FILES) {
        return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: the scene consists of more than %d files", scene->info.path,
                        TXM_SCENE_MAX_FILES);
    }
    txm_scene_library *library = TXM_STORE_ADD(&scene->store, &scene->libraries);
    if (!library)
        return txm_scene_exhausted(scene, err);
    *library = (txm_scene_library){.path = txm_scene_keep(scene, path),
                                   .parent = txm_scene_keep(scene, parent),
                                   .state = status == TXM_OK                 ? TXM_SCENE_LIBRARY_STATE_READ
                                            : status == TXM_STATUS_NOT_FOUND ? TXM_SCENE_LIBRARY_STATE_MISSING
                                                                             : TXM_SCENE_LIBRARY_STATE_BROKEN,
                                   .status = status,
                                   .message = txm_scene_keep(scene, message)};
    return library->path && library->parent && library->message ? TXM_OK : txm_scene_exhausted(scene, err);
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* Index of the word in a list that ends with NULL; 0, Cycles' default, if it is not in the list. */
static int word_index(const char *word, const char *const *words)
{
    for (int i = 0; word && words[i]; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    return 0;
}

txm_alpha txm_node_alpha(const char *word)
{
    for (int a = 0; word && a <= TXM_ALPHA_AUTO; a++)
        if (a != TXM_ALPHA_DEFAULT && strcmp(word, txm_alpha_stored_name((txm_alpha)a)) == 0)
            return (txm_alpha)a;
    return TXM_ALPHA_AUTO;
}

txm_extension txm_node_extension(const char *word)
{
    static const char *const words[] = {TXM_EXTENSION_TABLE(TXM_EXTENSION_CYCLES) NULL};
    return (txm_extension)word_index(word, words);
}

const char *txm_node_interpolation(const char *word)
{
    static const char *const words[] = {"linear", "closest", "cubic", "smart", NULL};
    return words[word_index(word, words)];
}

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

/* A space that Cycles defines itself needs no config. An unknown space stays in the name, and pixels count as
 * scene-linear. NULL if memory is exhausted. */
static const char *space_setting(txm_scene *scene, const char *stored, txm_scene_image *out)
{
    const txm_scene_colors *c = &scene->options.colors;
    bool builtin = strcmp(stored, txm_builtin_srgb_name) == 0;
    const char *name = !*stored ? NULL : builtin || !c->canonical ? stored : c->canonical(c->user, stored);
    out->colorspace_known = name || !*stored;
    if (name) {
        out->colorspace_name = txm_scene_keep(scene, name);
        out->data = txm_scene_is_data(scene, name);
    }
    if (!*stored)
        return "auto";
    if (name)
        return txm_scene_keep(scene, txm_space_setting(stored));
    char *setting = txm_space_unknown(stored);
    const char *kept = setting ? txm_scene_keep(scene, setting) : NULL;
    free(setting);
    return kept;
}

txm_status txm_nodes_add(txm_scene *scene, txm_node_list *list, const txm_image_node *node, txm_error *err)
{
    txm_node_entry *e = TXM_STORE_ADD(&scene->store, &list->entries);
    if (!e)
        return txm_scene_exhausted(scene, err);
    e->image = (txm_scene_image){
        .name = txm_scene_keep(scene, *node->path ? txm_path_base(node->path) : node->node),
        .stored_path = txm_scene_keep(scene, node->stored_path),
        .path = txm_scene_keep(scene, node->path),
        .library = "",
        .source = node->tiled ? TXM_SCENE_SOURCE_TILED : TXM_SCENE_SOURCE_FILE,
        .state = node->inside ? TXM_SCENE_STATE_PACKED : TXM_SCENE_STATE_READY,
        .colorspace_stored = txm_scene_keep(scene, node->colorspace),
        .alpha = node->alpha,
    };
    e->image.colorspace = space_setting(scene, node->colorspace, &e->image);
    e->user = (txm_scene_user){.node = txm_scene_keep(scene, node->node),
                               .owner = txm_scene_keep(scene, node->owner),
                               .owner_type = node->owner_type,
                               .library = txm_scene_keep(scene, node->library),
                               .environment = node->environment,
                               .extension = node->extension,
                               .interpolation = node->interpolation};
    e->normal = node->normal;
    /* An index into the table, which moves as it grows. */
    e->tiles_begin = scene->tiles.count;
    bool kept = true;
    for (size_t i = 0; kept && node->tiled && i < node->tile_count; i++) {
        uint32_t *tile = TXM_STORE_ADD(&scene->store, &scene->tiles);
        kept = tile != NULL;
        if (tile) {
            *tile = node->tiles[i];
            e->image.tile_count++;
        }
    }
    kept = kept && e->image.name && e->image.stored_path && e->image.path && e->image.colorspace_stored &&
           e->image.colorspace && (!e->image.colorspace_known || !*node->colorspace || e->image.colorspace_name) &&
           e->user.node && e->user.owner && e->user.library;
    return kept ? TXM_OK : txm_scene_exhausted(scene, err);
}

/* ---- images ------------------------------------------------------------------------------------------------------ */

/* Nodes that are equal in these use the same tx files. */
static int compare_lookups(const txm_scene_image *a, const txm_scene_image *b)
{
    int order = strcmp(a->path, b->path);
    if (order == 0)
        order = strcmp(a->colorspace, b->colorspace);
    if (order == 0)
        order = (int)a->alpha - (int)b->alpha;
    if (order == 0)
        order = (int)a->source - (int)b->source;
    if (order || a->tile_count != b->tile_count)
        return order ? order : a->tile_count < b->tile_count ? -1 : 1;
    return a->tile_count ? memcmp(a->tiles, b->tiles, a->tile_count * sizeof *a->tiles) : 0;
}

static int compare_nodes(const void *a, const void *b)
{
    const txm_node_entry *left = a, *right = b;
    int order = compare_lookups(&left->image, &right->image);
    if (order == 0)
        order = strcmp(left->user.owner, right->user.owner);
    return order ? order : strcmp(left->user.node, right->user.node);
}

/* There is one image for each file and settings; nodes without a path are never merged. */
static bool starts_image(const txm_node_list *list, size_t i)
{
    const txm_node_entry *e = list->entries.data;
    return i == 0 || !*e[i].image.path || compare_lookups(&e[i - 1].image, &e[i].image) != 0;
}

txm_status txm_nodes_collect(txm_scene *scene, txm_node_list *list, txm_error *err)
{
    for (size_t i = 0; i < list->entries.count; i++) {
        txm_node_entry *e = &list->entries.data[i];
        e->image.tiles = e->image.tile_count ? &scene->tiles.data[e->tiles_begin] : NULL;
    }
    if (list->entries.count)
        qsort(list->entries.data, list->entries.count, sizeof *list->entries.data, compare_nodes);
    /* Users are in the order of the images, so that each image has a contiguous part. */
    for (size_t i = 0; i < list->entries.count; i++) {
        const txm_node_entry *e = &list->entries.data[i];
        txm_scene_user *user = TXM_STORE_ADD(&scene->store, &scene->users);
        if (!user)
            return txm_scene_exhausted(scene, err);
        *user = e->user;
        if (starts_image(list, i)) {
            txm_scene_image *image = TXM_STORE_ADD(&scene->store, &scene->images);
            if (!image)
                return txm_scene_exhausted(scene, err);
            *image = e->image;
        }
        scene->images.data[scene->images.count - 1].user_count++;
    }
    txm_status status = TXM_OK;
    const txm_scene_user *users = scene->users.data;
    for (size_t i = 0; status == TXM_OK && i < scene->images.count; i++) {
        txm_scene_image *image = &scene->images.data[i];
        image->users = users;
        users += image->user_count;
        status = txm_scene_expand(scene, image->state == TXM_SCENE_STATE_PACKED, image, err);
    }
    if (status != TXM_OK)
        return status;
    /* Each image gets one finding, whichever of its nodes are used for normals. */
    const txm_scene_colors *c = &scene->options.colors;
    const char *canonical = c->canonical ? c->canonical(c->user, "scene_linear") : NULL;
    const char *linear = canonical ? canonical : "scene_linear";
    size_t image = 0, last = SIZE_MAX;
    for (size_t i = 0; scene->options.lint && i < list->entries.count; i++) {
        image += i > 0 && starts_image(list, i);
        const txm_scene_image *used = &scene->images.data[image];
        /* A scene-linear space keeps the values, only under another name. */
        const char *name = used->colorspace_name;
        if (list->entries.data[i].normal && image != last && !used->data && name && strcmp(name, linear) != 0 &&
            strcmp(name, "scene_linear") != 0 && !txm_scene_report_normal(scene, image))
            return txm_scene_exhausted(scene, err);
        last = list->entries.data[i].normal ? image : last;
    }
    return TXM_OK;
}
