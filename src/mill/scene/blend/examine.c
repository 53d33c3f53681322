/* SPDX-License-Identifier: Apache-2.0
 *
 * Lint: compares what nodes do with an image with its colour space. From each image node the links are followed
 * downstream, through nodes that pass values on and in and out of node groups, to the sockets that use them. Since
 * this is only advice it may give up early: a walk takes at most MAX_STEPS steps, which also ends cycles, and all
 * walks together MAX_TOTAL_STEPS, which real scenes do not reach.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mill/scene/blend/blend.h"

enum { MAX_STEPS = 1 << 16, MAX_TOTAL_STEPS = 1 << 26, MAX_DEPTH = 16 };

enum { SOCKET_COLOR = 2, SOCKET_SHADER = 3 };

/* The uses of an image. */
enum { USED_AS_COLOR = 1, USED_AS_DATA = 2, USED_AS_NORMAL = 4 };

/* A group node that uses a tree. */
typedef struct call {
    uint32_t file, id;        /* the group */
    uint32_t from_file, tree; /* the tree that contains the node */
    uint32_t node;
} call;

typedef TXM_TABLE(call) call_table;

/* The group nodes that the walk has entered, innermost first. */
typedef struct frame {
    const struct frame *outer;
    const call *entered;
} frame;

typedef struct walk {
    const txm_scene *scene;
    const call_table *calls;
    unsigned steps, total_steps, uses;
} walk;

static bool may_step(walk *w)
{
    return w->steps++ < MAX_STEPS && w->total_steps++ < MAX_TOTAL_STEPS;
}

static void follow_output(walk *w, uint32_t file, const txm_tree *tree, uint32_t node, const char *socket,
                          const frame *inside, int depth);

/* Nodes whose output is a transformed input. */
static bool passes_on(const char *idname)
{
    static const char *const names[] = {
        "NodeReroute",          "ShaderNodeSeparateRGB",  "ShaderNodeSeparateColor",  "ShaderNodeSeparateXYZ",
        "ShaderNodeCombineRGB", "ShaderNodeCombineColor", "ShaderNodeCombineXYZ",     "ShaderNodeMath",
        "ShaderNodeVectorMath", "ShaderNodeMapRange",     "ShaderNodeClamp",          "ShaderNodeValToRGB",
        "ShaderNodeRGBToBW",    "ShaderNodeRGBCurve",     "ShaderNodeVectorCurve",    "ShaderNodeFloatCurve",
        "ShaderNodeInvert",     "ShaderNodeGamma",        "ShaderNodeBrightContrast", "ShaderNodeHueSaturation",
        "ShaderNodeMixRGB",     "ShaderNodeMix",          "ShaderNodeSqueeze",        NULL};
    for (size_t i = 0; names[i]; i++)
        if (strcmp(idname, names[i]) == 0)
            return true;
    return false;
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

/* Sorts by the group that is called, so that its callers are contiguous. */
static int compare_calls(const void *a, const void *b)
{
    const call *left = a, *right = b;
    if (left->file != right->file)
        return left->file < right->file ? -1 : 1;
    return left->id < right->id ? -1 : left->id > right->id;
}

static bool collect_calls(txm_scene *scene, uint32_t file, uint32_t t, call_table *calls)
{
    const txm_model *model = &scene->blend->files.data[file].model;
    const txm_tree *tree = &model->trees.data[t];
    for (uint32_t n = tree->nodes.begin; n < tree->nodes.end && model->ids.data[tree->id].reached; n++) {
        call c = {.file = file, .from_file = file, .tree = t, .node = n};
        if (!model->nodes.data[n].id || !txm_blend_follow(scene->blend, &c.file, model->nodes.data[n].id, &c.id) ||
            scene->blend->files.data[c.file].model.ids.data[c.id].role != TXM_ROLE_TREE)
            continue;
        call *out = TXM_STORE_ADD(&scene->store, calls);
        if (!out)
            return false;
        *out = c;
    }
    return true;
}

static size_t first_call(const call_table *calls, uint32_t file, uint32_t id)
{
    call key = {.file = file, .id = id};
    size_t low = 0, high = calls->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_calls(&calls->data[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void enter_group(walk *w, uint32_t file, uint32_t tree, uint32_t node, const char *socket, const frame *inside,
                        int depth)
{
    const txm_scene *scene = w->scene;
    call entered = {.file = file, .from_file = file, .tree = tree, .node = node};
    uint64_t group = scene->blend->files.data[file].model.nodes.data[node].id;
    if (!txm_blend_follow(scene->blend, &entered.file, group, &entered.id))
        return;
    const frame here = {inside, &entered};
    const txm_model *model = &scene->blend->files.data[entered.file].model;
    txm_span trees = model->ids.data[entered.id].trees;
    for (uint32_t t = trees.begin; t < trees.end; t++) {
        const txm_tree *inner = &model->trees.data[t];
        for (uint32_t n = inner->nodes.begin; n < inner->nodes.end && may_step(w); n++)
            if (strcmp(model->nodes.data[n].idname, "NodeGroupInput") == 0)
                follow_output(w, entered.file, inner, n, socket, &here, depth + 1);
    }
}

/* Leaves a group: returns to where the walk entered it, or to all users of the group if it began inside. */
static void leave_group(walk *w, uint32_t file, const txm_tree *tree, const char *socket, const frame *inside,
                        int depth)
{
    if (inside) {
        const call *c = inside->entered;
        const txm_tree *outer = &w->scene->blend->files.data[c->from_file].model.trees.data[c->tree];
        follow_output(w, c->from_file, outer, c->node, socket, inside->outer, depth + 1);
        return;
    }
    for (size_t i = first_call(w->calls, file, tree->id); i < w->calls->count && may_step(w); i++) {
        const call *c = &w->calls->data[i];
        if (c->file != file || c->id != tree->id)
            break;
        const txm_tree *outer = &w->scene->blend->files.data[c->from_file].model.trees.data[c->tree];
        follow_output(w, c->from_file, outer, c->node, socket, NULL, depth + 1);
    }
}

/* ---- walking -------------------------------------------------------------------------------------------------- */

/* Follows the links out of a node; if `socket` is set, only those of that socket. */
static void follow_output(walk *w, uint32_t file, const txm_tree *tree, uint32_t node, const char *socket,
                          const frame *inside, int depth)
{
    const txm_model *model = &w->scene->blend->files.data[file].model;
    uint32_t low = tree->links.begin, high = tree->links.end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (model->links.data[middle].from < node)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < tree->links.end && model->links.data[low].from == node && depth < MAX_DEPTH; low++) {
        const txm_link *link = &model->links.data[low];
        if ((!socket || strcmp(link->from_socket, socket) == 0) && may_step(w)) {
            /* Links lead in and out of groups as in Blender's evaluation; the kind of each use is recorded. */
            const txm_node *to = &model->nodes.data[link->to];
            bool factor =
                strncmp(link->to_socket, "Fac", 3) == 0; /* this input of a mix is a mask and is not mixed itself */
            if (strcmp(to->idname, "ShaderNodeGroup") == 0) {
                enter_group(w, file, (uint32_t)(tree - model->trees.data), link->to, link->to_socket, inside, depth);
            } else if (strcmp(to->idname, "NodeGroupOutput") == 0) {
                leave_group(w, file, tree, link->to_socket, inside, depth);
            } else if (passes_on(to->idname) && (!factor || strcmp(to->idname, "ShaderNodeValToRGB") == 0)) {
                follow_output(w, file, tree, link->to, NULL, inside, depth + 1);
            } else {
                w->uses |= strcmp(to->idname, "ShaderNodeNormalMap") == 0 ? USED_AS_NORMAL | USED_AS_DATA
                           : link->to_type == SOCKET_COLOR                ? USED_AS_COLOR
                           : link->to_type == SOCKET_SHADER               ? 0u
                                                                          : USED_AS_DATA;
            }
        }
    }
}

/* ---- findings ------------------------------------------------------------------------------------------------- */

static int compare_paths(const void *a, const void *b, void *user)
{
    const txm_scene *scene = user;
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    int order = strcmp(scene->images.data[left].path, scene->images.data[right].path);
    return order ? order : left < right ? -1 : left > right;
}

/* A file in two colour spaces needs two tx files, and is usually a mistake. All names of the data space lead to the
 * same tx file; two names of another space lead to two. */
static bool report_shared_files(txm_scene *scene)
{
    size_t count = scene->images.count;
    size_t *order = txm_calloc(count, sizeof *order);
    bool ok = order != NULL;
    for (size_t i = 0; ok && i < count; i++)
        order[i] = i;
    if (ok && count > 0)
        qsort_r(order, count, sizeof *order, compare_paths, scene);
    for (size_t i = 1; ok && i < count; i++) {
        const txm_scene_image *a = &scene->images.data[order[i - 1]], *b = &scene->images.data[order[i]];
        if (a->state != TXM_SCENE_STATE_READY || strcmp(a->path, b->path) != 0 || (a->data && b->data) ||
            strcmp(a->colorspace, b->colorspace) == 0)
            continue;
        ok = txm_scene_add_finding(scene, "two-colorspaces", order[i],
                                   txm_asprintf("images \"%s\" (%s) and \"%s\" (%s) are the same file: %s", a->name,
                                                txm_scene_space_shown(a), b->name, txm_scene_space_shown(b), a->path));
    }
    free(order);
    return ok;
}

/* Starts a walk, with its own count of steps, at each node that uses the image. */
static bool examine_uses(txm_scene *scene, const call_table *calls)
{
    walk w = {.scene = scene, .calls = calls};
    /* Uses are in the order of the images. */
    for (size_t u = 0, image = 0; image < scene->images.count; image++) {
        w.uses = 0;
        for (size_t n = 0; n < scene->images.data[image].user_count; n++, u++) {
            const txm_blend_use *use = &scene->blend->uses.data[u];
            w.steps = 0;
            follow_output(&w, use->file, &scene->blend->files.data[use->file].model.trees.data[use->tree], use->node,
                          "Color", NULL, 0);
        }
        /* Both findings are mistakes in nearly every scene that has them. */
        const txm_scene_image *i = &scene->images.data[image];
        if (w.uses & USED_AS_NORMAL && !i->data && !txm_scene_report_normal(scene, image))
            return false;
        if (w.uses & USED_AS_COLOR && w.uses & USED_AS_DATA &&
            !txm_scene_add_finding(scene, "color-and-data", image,
                                   txm_asprintf("image \"%s\" (%s) is used as colour and as data: one of them is wrong",
                                                i->name, txm_scene_space_shown(i))))
            return false;
    }
    return true;
}

txm_status txm_blend_examine(txm_scene *scene, txm_error *err)
{
    call_table calls = {0};
    bool ok = true;
    for (uint32_t file = 0; ok && file < scene->blend->files.count; file++)
        for (size_t t = 0; ok && t < scene->blend->files.data[file].model.trees.count; t++)
            ok = collect_calls(scene, file, (uint32_t)t, &calls);
    if (ok && calls.count > 0)
        qsort(calls.data, calls.count, sizeof *calls.data, compare_calls);
    ok = ok && examine_uses(scene, &calls) && report_shared_files(scene);
    free(calls.data);
    return ok ? TXM_OK : txm_scene_exhausted(scene, err);
}
