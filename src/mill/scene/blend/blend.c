/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a .blend file into a txm_scene: from the linked models of the file and its libraries it makes the list of
 * images that a render will use, each once per combination of settings, with the nodes, materials and objects that use
 * it. They are sorted by name, so that the order does not depend on addresses of blocks.
 */
#include "mill/scene/blend/blend.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/color/config.h"
#include "tile/terms/extension.h"

static const txm_image *image_of(const txm_blend *blend, const txm_blend_use *use)
{
    return &blend->files.data[use->image_file].model.images.data[use->image];
}

static const char *image_name(const txm_blend *blend, const txm_blend_use *use)
{
    return blend->files.data[use->image_file].model.ids.data[image_of(blend, use)->id].name;
}

/* The scene itself comes before its libraries. */
static const char *library_path(const txm_blend *blend, uint32_t file)
{
    return file == 0 ? "" : blend->files.data[file].path;
}

/* The name without its type: "wood" of "MAwood". */
static const char *plain_name(const char *id_name)
{
    return strlen(id_name) > 2 ? id_name + 2 : "";
}

/* ---- uses ----------------------------------------------------------------------------------------------------- */

/* Only trees that a render can reach count. Nodes whose image is in a missing library are skipped: the library is
 * reported already. */
static bool collect_uses(txm_scene *scene)
{
    txm_blend *blend = scene->blend;
    for (uint32_t file = 0; file < blend->files.count; file++) {
        const txm_model *from = &blend->files.data[file].model;
        for (uint32_t t = 0; t < from->trees.count; t++) {
            const txm_tree *tree = &from->trees.data[t];
            for (uint32_t n = tree->nodes.begin; n < tree->nodes.end && from->ids.data[tree->id].reached; n++) {
                const txm_node *node = &from->nodes.data[n];
                txm_blend_use use = {file, tree->id, t, n, .image_file = file};
                uint32_t id;
                if (!node->id || !txm_blend_follow(blend, &use.image_file, node->id, &id))
                    continue;
                txm_model *model = &blend->files.data[use.image_file].model;
                use.image = model->ids.data[id].image;
                if (use.image == TXM_NO_INDEX)
                    continue; /* a node group, a script or the like */
                txm_image *image = &model->images.data[use.image];
                image->legacy_data |= node->legacy_data;
                const bool first = image->in_scene == TXM_NO_INDEX;
                txm_blend_use *origin = first ? TXM_STORE_ADD(&scene->store, &blend->origins) : NULL;
                txm_blend_use *out = origin || !first ? TXM_STORE_ADD(&scene->store, &blend->uses) : NULL;
                if (!out)
                    return false;
                *out = use;
                if (first) {
                    *origin = use;
                    image->in_scene = (uint32_t)blend->origins.count - 1;
                }
            }
        }
    }
    return true;
}

/* ---- order ---------------------------------------------------------------------------------------------------- */

/* Names are unique within a file; with libraries, their paths are compared too. */
static int compare_origins(const void *a, const void *b, void *user)
{
    const txm_blend *blend = user;
    const txm_blend_use *left = a, *right = b;
    int order = strcmp(image_name(blend, left), image_name(blend, right));
    if (order == 0)
        order = strcmp(library_path(blend, left->image_file), library_path(blend, right->image_file));
    return order ? order : left->image < right->image ? -1 : left->image > right->image;
}

/* Sorts by image first, so that the users of an image are contiguous. */
static int compare_uses(const void *a, const void *b, void *user)
{
    const txm_blend *blend = user;
    const txm_blend_use *left = a, *right = b;
    const txm_model *lm = &blend->files.data[left->file].model, *rm = &blend->files.data[right->file].model;
    uint32_t li = image_of(blend, left)->in_scene, ri = image_of(blend, right)->in_scene;
    if (li != ri)
        return li < ri ? -1 : 1;
    int order = strcmp(lm->ids.data[left->id].name, rm->ids.data[right->id].name);
    if (order == 0)
        order = strcmp(library_path(blend, left->file), library_path(blend, right->file));
    if (order == 0)
        order = strcmp(lm->nodes.data[left->node].name, rm->nodes.data[right->node].name);
    return order ? order : left->node < right->node ? -1 : left->node > right->node;
}

/* ---- users ---------------------------------------------------------------------------------------------------- */

/* The type of the owner, from the two letters in front of an ID's name. */
static const char *owner_type(const char *id_name)
{
    static const char *const types[][2] = {
        {"MA", "material"}, {"WO", "world"}, {"LA", "light"}, {"LS", "line style"}, {"NT", "node group"}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strncmp(id_name, types[i][0], 2) == 0)
            return types[i][1];
    return "other";
}

/* An unknown extension is reported as the default of the node. */
static txm_extension extension_of_blender(int number)
{
    switch (number) {
        TXM_EXTENSION_TABLE(TXM_EXTENSION_CASE)
    default:
        return TXM_EXTENSION_REPEAT;
    }
}

static bool collect_users(txm_scene *scene)
{
    static const char *const interpolations[] = {"linear", "closest", "cubic", "smart"};
    const txm_blend *blend = scene->blend;
    for (size_t i = 0; i < blend->uses.count; i++) {
        const txm_blend_use *use = &blend->uses.data[i];
        const txm_model *model = &blend->files.data[use->file].model;
        const txm_node *node = &model->nodes.data[use->node];
        const char *owner = model->ids.data[use->id].name;
        txm_scene_user *user = TXM_STORE_ADD(&scene->store, &scene->users);
        txm_sequence_use *frames = TXM_STORE_ADD(&scene->store, &scene->frames);
        if (!user || !frames)
            return false;
        *frames = node->frames;
        *user = (txm_scene_user){
            .node = node->name,
            .owner = plain_name(owner),
            .owner_type = owner_type(owner),
            .library = library_path(blend, use->file),
            .environment = node->environment,
            .extension = node->environment ? TXM_EXTENSION_REPEAT : extension_of_blender(node->extension),
            .interpolation =
                interpolations[node->interpolation > 0 && node->interpolation < 4 ? node->interpolation : 0],
        };
    }
    /* The table does not grow any more, so images may point into it. */
    for (size_t i = 0, begin = 0; i < scene->images.count; i++) {
        size_t end = begin;
        while (end < blend->uses.count && image_of(blend, &blend->uses.data[end])->in_scene == i)
            end++;
        scene->images.data[i].users = scene->users.data + begin;
        scene->images.data[i].user_count = end - begin;
        begin = end;
    }
    return true;
}

/* ---- images ---------------------------------------------------------------------------------------------------- */

static txm_status collect(txm_scene *scene, txm_error *err)
{
    txm_blend *blend = scene->blend;
    if (!collect_uses(scene))
        return txm_scene_exhausted(scene, err);
    if (blend->origins.count)
        qsort_r(blend->origins.data, blend->origins.count, sizeof *blend->origins.data, compare_origins, blend);
    /* Images get their numbers here, to which all later tables refer. */
    for (size_t i = 0; i < blend->origins.count; i++) {
        const txm_blend_use *origin = &blend->origins.data[i];
        blend->files.data[origin->image_file].model.images.data[origin->image].in_scene = (uint32_t)i;
    }
    if (blend->uses.count)
        qsort_r(blend->uses.data, blend->uses.count, sizeof *blend->uses.data, compare_uses, blend);
    for (size_t i = 0; i < blend->origins.count; i++) {
        const txm_blend_use *origin = &blend->origins.data[i];
        const txm_blend_file *file = &blend->files.data[origin->image_file];
        const txm_image *image = image_of(blend, origin);
        txm_scene_image *out = TXM_STORE_ADD(&scene->store, &scene->images);
        if (!out)
            return txm_scene_exhausted(scene, err);
        out->name = plain_name(image_name(blend, origin));
        out->library = library_path(blend, origin->image_file);
        txm_status status = txm_blend_settle(scene, file, image, out, err);
        if (status == TXM_OK)
            status = txm_scene_expand(scene, image->is_packed, out, err);
        if (status == TXM_OK)
            status = txm_blend_name_packed(scene, file, image, out, err);
        if (status != TXM_OK)
            return status;
    }
    for (size_t i = 0; i < blend->files.count; i++)
        scene->varies_frames |= blend->files.data[i].model.varies_frames;
    return collect_users(scene) ? TXM_OK : txm_scene_exhausted(scene, err);
}

/* Blender goes by the matrix, whatever the stored name is: it takes the config's space with the interop id of the
 * working space that the matrix is that of, or else the config's own. */
static const char *working_space(const txm_scene_colors *c, const txm_model *m)
{
    if (!c->canonical)
        return *m->working_space ? m->working_space : NULL;
    if (m->has_to_xyz) {
        const char *id = txm_working_space_id(m->to_xyz);
        return id ? c->canonical(c->user, id) : NULL;
    }
    const char *name = *m->working_space ? c->canonical(c->user, m->working_space) : NULL;
    /* If the config lacks it, the user of the name reports that. */
    return name ? name : *m->working_space ? m->working_space : NULL;
}

txm_status txm_scene_read_blend(txm_scene *scene, const char *path, txm_error *err)
{
    scene->blend = txm_calloc(1, sizeof *scene->blend);
    if (!scene->blend)
        return txm_no_memory(err, path);
    txm_status status = txm_blend_link(scene, path, err);
    if (status != TXM_OK)
        return status;
    const txm_model *m = &scene->blend->files.data[0].model;
    const char *space = working_space(&scene->options.colors, m);
    scene->info = (txm_scene_info){.path = scene->info.path,
                                   .version = m->format.version,
                                   .subversion = m->subversion,
                                   .compression = m->compression,
                                   .pointer_bytes = m->format.pointer_bytes,
                                   .big_endian = m->format.big_endian,
                                   .working_space = space ? txm_scene_keep(scene, space) : NULL,
                                   .format = scene->info.format};
    if (space && !scene->info.working_space)
        return txm_scene_exhausted(scene, err);
    status = collect(scene, err);
    return status == TXM_OK && scene->options.lint ? txm_blend_examine(scene, err) : status;
}

void txm_blend_free(txm_scene *scene)
{
    txm_blend *blend = scene->blend;
    for (size_t i = 0; blend && i < blend->files.count; i++)
        txm_model_free(&blend->files.data[i].model);
    if (blend) {
        free(blend->files.data);
        free(blend->uses.data);
        free(blend->origins.data);
        free(blend);
    }
}
