/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes the list of images and their users from the linked model of a scene and its libraries: the images that a
 * render will use, each once per combination of settings, with the nodes, materials and objects that use it. They are
 * sorted by name, so that the order does not depend on addresses of blocks.
 */
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "mill/scene/scene.h"
#include "tile/terms/extension.h"

static const txm_image *image_of(const txm_scene *blend, const txm_scene_use *use)
{
    return &blend->files.data[use->image_file].model.images.data[use->image];
}

static const txm_id *image_id_of(const txm_scene *blend, const txm_scene_use *use)
{
    return &blend->files.data[use->image_file].model.ids.data[image_of(blend, use)->id];
}

/* The scene itself comes before its libraries. */
static const char *library_path(const txm_scene *blend, uint32_t file)
{
    return file == 0 ? "" : blend->files.data[file].path;
}

/* The name without its type: "wood" of "MAwood". */
static const char *plain_name(const char *id_name)
{
    return strlen(id_name) > 2 ? id_name + 2 : "";
}

/* ---- uses ----------------------------------------------------------------------------------------------------- */

/* Nodes whose image is in a missing library are skipped: the library is reported already. */
static bool collect_node(txm_scene *blend, uint32_t file, uint32_t tree, uint32_t node)
{
    const txm_model *from = &blend->files.data[file].model;
    const txm_node *n = &from->nodes.data[node];
    txm_scene_use use = {.file = file, .id = from->trees.data[tree].id, .tree = tree, .node = node, .image_file = file};
    uint32_t id;
    if (!n->id || !txm_scene_follow(blend, &use.image_file, n->id, &id)) {
        return true;
    }
    txm_model *model = &blend->files.data[use.image_file].model;
    use.image = model->ids.data[id].image;
    if (use.image == TXM_NO_INDEX) {
        return true; /* a node group, a script or the like */
    }
    txm_image *image = &model->images.data[use.image];
    image->legacy_data |= n->legacy_data;
    if (image->in_scene == TXM_NO_INDEX) {
        txm_scene_use *origin = TXM_STORE_ADD(&blend->store, &blend->origins);
        if (!origin) {
            return false;
        }
        *origin = use;
        image->in_scene = (uint32_t)blend->origins.count - 1;
    }
    txm_scene_use *out = TXM_STORE_ADD(&blend->store, &blend->uses);
    if (out) {
        *out = use;
    }
    return out != NULL;
}

/* Only trees that a render can reach count. */
static bool collect_uses(txm_scene *blend)
{
    for (uint32_t file = 0; file < blend->files.count; file++) {
        const txm_model *model = &blend->files.data[file].model;
        for (size_t t = 0; t < model->trees.count; t++) {
            const txm_tree *tree = &model->trees.data[t];
            for (uint32_t n = tree->nodes.begin; n < tree->nodes.end && model->ids.data[tree->id].reached; n++) {
                if (!collect_node(blend, file, (uint32_t)t, n)) {
                    return false;
                }
            }
        }
    }
    return true;
}

/* ---- order ---------------------------------------------------------------------------------------------------- */

/* Names are unique within a file; with libraries, their paths are compared too. */
static int compare_origins(const void *a, const void *b, void *scene)
{
    const txm_scene *blend = scene;
    const txm_scene_use *left = a, *right = b;
    int order = strcmp(image_id_of(blend, left)->name, image_id_of(blend, right)->name);
    if (order == 0) {
        order = strcmp(library_path(blend, left->image_file), library_path(blend, right->image_file));
    }
    return order ? order : left->image < right->image ? -1 : left->image > right->image;
}

/* Sorts by image first, so that the users of an image are contiguous. */
static int compare_uses(const void *a, const void *b, void *scene)
{
    const txm_scene *blend = scene;
    const txm_scene_use *left = a, *right = b;
    const txm_model *lm = &blend->files.data[left->file].model, *rm = &blend->files.data[right->file].model;
    uint32_t li = image_of(blend, left)->in_scene, ri = image_of(blend, right)->in_scene;
    if (li != ri) {
        return li < ri ? -1 : 1;
    }
    int order = strcmp(lm->ids.data[left->id].name, rm->ids.data[right->id].name);
    if (order == 0) {
        order = strcmp(library_path(blend, left->file), library_path(blend, right->file));
    }
    if (order == 0) {
        order = strcmp(lm->nodes.data[left->node].name, rm->nodes.data[right->node].name);
    }
    return order ? order : left->node < right->node ? -1 : left->node > right->node;
}

/* Images get their numbers here, to which all later tables refer. */
static void put_in_order(txm_scene *blend)
{
    if (blend->origins.count == 0) {
        return;
    }
    qsort_r(blend->origins.data, blend->origins.count, sizeof *blend->origins.data, compare_origins, blend);
    for (size_t i = 0; i < blend->origins.count; i++) {
        const txm_scene_use *origin = &blend->origins.data[i];
        blend->files.data[origin->image_file].model.images.data[origin->image].in_scene = (uint32_t)i;
    }
    qsort_r(blend->uses.data, blend->uses.count, sizeof *blend->uses.data, compare_uses, blend);
}

/* ---- users ---------------------------------------------------------------------------------------------------- */

/* The type of the owner, from the two letters in front of an ID's name. */
static const char *owner_type(const char *id_name)
{
    static const char *const types[][2] = {
        {"MA", "material"}, {"WO", "world"}, {"LA", "light"}, {"LS", "line style"}, {"NT", "node group"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strncmp(id_name, types[i][0], 2) == 0) {
            return types[i][1];
        }
    }
    return "other";
}

/* An extension that this version does not support is reported as the default of the node. */
static txm_extension extension_of_blender(int number)
{
    switch (number) {
        TXM_EXTENSION_TABLE(TXM_EXTENSION_CASE)
    default:
        return TXM_EXTENSION_REPEAT;
    }
}

/* Settings that this version does not support are reported as the default of the node. */
static txm_scene_user user_of(const txm_scene *blend, const txm_scene_use *use)
{
    static const char *const interpolations[] = {"linear", "closest", "cubic", "smart"};
    const txm_model *model = &blend->files.data[use->file].model;
    const txm_node *node = &model->nodes.data[use->node];
    const char *owner = model->ids.data[use->id].name;
    bool interpolation_known = node->interpolation >= 0 && node->interpolation < 4;
    return (txm_scene_user){
        .node = node->name,
        .owner = plain_name(owner),
        .owner_type = owner_type(owner),
        .library = library_path(blend, use->file),
        .environment = node->environment,
        .extension = node->environment ? TXM_EXTENSION_REPEAT : extension_of_blender(node->extension),
        .interpolation = interpolations[interpolation_known ? node->interpolation : 0],
    };
}

/* Afterwards each image has its part of the table. */
static bool collect_users(txm_scene *blend)
{
    for (size_t i = 0; i < blend->uses.count; i++) {
        txm_scene_user *user = TXM_STORE_ADD(&blend->store, &blend->users);
        if (!user) {
            return false;
        }
        *user = user_of(blend, &blend->uses.data[i]);
    }
    /* The table does not grow any more, so images may point into it. */
    for (size_t i = 0, begin = 0; i < blend->images.count; i++) {
        size_t end = begin;
        while (end < blend->uses.count && image_of(blend, &blend->uses.data[end])->in_scene == i) {
            end++;
        }
        blend->images.data[i].users = blend->users.data + begin;
        blend->images.data[i].user_count = end - begin;
        begin = end;
    }
    return true;
}

/* For each image, fills in what its settings mean (settle.c), which files it has (expand.c) and what is packed
 * (unpack.c). */
txm_status txm_scene_collect(txm_scene *blend, txm_error *err)
{
    if (!collect_uses(blend)) {
        return txm_scene_exhausted(blend, err);
    }
    put_in_order(blend);
    for (size_t i = 0; i < blend->origins.count; i++) {
        const txm_scene_use *origin = &blend->origins.data[i];
        const txm_scene_file *file = &blend->files.data[origin->image_file];
        const txm_image *image = image_of(blend, origin);
        txm_scene_image *out = TXM_STORE_ADD(&blend->store, &blend->images);
        if (!out) {
            return txm_scene_exhausted(blend, err);
        }
        out->name = plain_name(image_id_of(blend, origin)->name);
        out->library = library_path(blend, origin->image_file);
        txm_status status = txm_scene_settle(blend, file, image, out, err);
        if (status == TXM_OK) {
            status = txm_scene_expand(blend, image, out, err);
        }
        if (status == TXM_OK) {
            status = txm_scene_name_packed(blend, file, image, out, err);
        }
        if (status != TXM_OK) {
            return status;
        }
    }
    return collect_users(blend) ? TXM_OK : txm_scene_exhausted(blend, err);
}

/* Paths are relative to the file from which the data-block came originally, even if a library passed it on. */
const char *txm_scene_folder_of(txm_scene *blend, const txm_scene_file *file, const txm_id *id)
{
    const txm_model *model = &file->model;
    uint32_t library = id->library ? txm_model_find(model, id->library) : TXM_NO_INDEX;
    if (library == TXM_NO_INDEX || model->ids.data[library].own_library == TXM_NO_INDEX) {
        return file->folder;
    }
    const txm_library *named = &model->libraries.data[model->ids.data[library].own_library];
    /* An archive of packed data-blocks may have no path of its own; then its parent's counts. */
    uint32_t parent = !*named->path ? txm_model_find(model, named->archive_parent) : TXM_NO_INDEX;
    if (parent != TXM_NO_INDEX && model->ids.data[parent].own_library != TXM_NO_INDEX) {
        named = &model->libraries.data[model->ids.data[parent].own_library];
    }
    const char *path = txm_scene_path(blend, named->path, file->folder);
    char *folder = path ? txm_path_dir(path) : NULL;
    const char *kept = folder ? txm_store_string(&blend->store, folder, strlen(folder)) : NULL;
    free(folder);
    return kept;
}
