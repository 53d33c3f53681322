/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes that use a data-block (images, groups), and for lint every node and the links between them. Unconnected nodes
 * count: a render loads their images as soon as someone connects them, and Blender's own operator takes them too.
 */
#include "blend/digest_tree.h"

#include <stdlib.h>
#include <string.h>

enum { SHADER_TREE = 0, ENVIRONMENT_NODE = 157, NON_COLOR_DATA = 0 };

/* What the node's storage block says about texture look-up. */
static void digest_storage(const txm_digest *d, txm_run *run, uint64_t address, txm_node *node)
{
    const txm_run_block *image = txm_run_find(run, address, TXM_KIND_TEX_IMAGE);
    const txm_run_block *environment = txm_run_find(run, address, TXM_KIND_TEX_ENVIRONMENT);
    int64_t color_space = -1;
    if (image && !node->environment) {
        txm_record r = txm_run_record(run, image);
        node->extension = (int)txm_record_integer(d->schema, r, TXM_TEX_IMAGE_EXTENSION, 0);
        node->interpolation = (int)txm_record_integer(d->schema, r, TXM_TEX_IMAGE_INTERPOLATION, 0);
        color_space = txm_record_integer(d->schema, r, TXM_TEX_IMAGE_COLOR_SPACE, -1);
    } else if (environment && node->environment) {
        txm_record r = txm_run_record(run, environment);
        node->interpolation = (int)txm_record_integer(d->schema, r, TXM_TEX_ENVIRONMENT_INTERPOLATION, 0);
        color_space = txm_record_integer(d->schema, r, TXM_TEX_ENVIRONMENT_COLOR_SPACE, -1);
    }
    node->legacy_data = color_space == NON_COLOR_DATA;
}

static bool digest_node(const txm_digest *d, txm_run *run, uint64_t address, txm_record r)
{
    uint64_t id = txm_record_address(d->schema, r, TXM_NODE_ID);
    if (!id && !d->links) {
        return true;
    }
    txm_node *node = TXM_STORE_ADD(d->store, &d->model->nodes);
    if (!node) {
        return false;
    }
    node->address = address;
    node->id = id;
    node->name = txm_record_string(d->schema, r, TXM_NODE_NAME, d->store);
    node->idname = txm_record_string(d->schema, r, TXM_NODE_IDNAME, d->store);
    if (!node->name || !node->idname) {
        return false;
    }
    node->environment = !strcmp(node->idname, "ShaderNodeTexEnvironment") ||
                        txm_record_integer(d->schema, r, TXM_NODE_TYPE, 0) == ENVIRONMENT_NODE;
    digest_storage(d, run, txm_record_address(d->schema, r, TXM_NODE_STORAGE), node);
    return true;
}

/* ---- links ---------------------------------------------------------------------------------------------------- */

/* The tree's node at an address; TXM_NO_INDEX if there is none. Nodes were sorted by address before. */
static uint32_t node_at(const txm_model *model, txm_span nodes, uint64_t address)
{
    uint32_t low = nodes.begin, high = nodes.end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (model->nodes.data[middle].address < address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < nodes.end && model->nodes.data[low].address == address ? low : TXM_NO_INDEX;
}

/* A socket's identifier; before 2.67 sockets have a name only. */
static const char *socket_name(const txm_digest *d, txm_run *run, uint64_t address, int *type)
{
    const txm_run_block *b = txm_run_find(run, address, TXM_KIND_SOCKET);
    if (!b) {
        return "";
    }
    txm_record r = txm_run_record(run, b);
    *type = (int)txm_record_integer(d->schema, r, TXM_SOCKET_TYPE, -1);
    txm_field_id field = txm_record_has(d->schema, r, TXM_SOCKET_IDENTIFIER) ? TXM_SOCKET_IDENTIFIER : TXM_SOCKET_NAME;
    return txm_record_string(d->schema, r, field, d->store);
}

static int compare_links(const void *a, const void *b)
{
    const txm_link *left = a, *right = b;
    return left->from < right->from ? -1 : left->from > right->from;
}

/* Links end up ordered by the node that they come from. */
static bool digest_links(const txm_digest *d, txm_run *run, uint64_t next, txm_span nodes)
{
    size_t begin = d->model->links.count;
    while (next && txm_run_step(run)) {
        const txm_run_block *b = txm_run_find(run, next, TXM_KIND_LINK);
        if (!b) {
            break;
        }
        txm_record r = txm_run_record(run, b);
        int from_type = -1;
        txm_link link = {.to_type = -1};
        link.from = node_at(d->model, nodes, txm_record_address(d->schema, r, TXM_LINK_FROM_NODE));
        link.to = node_at(d->model, nodes, txm_record_address(d->schema, r, TXM_LINK_TO_NODE));
        next = txm_record_address(d->schema, r, TXM_LINK_NEXT);
        if (link.from == TXM_NO_INDEX || link.to == TXM_NO_INDEX) {
            continue;
        }
        link.from_socket = socket_name(d, run, txm_record_address(d->schema, r, TXM_LINK_FROM_SOCKET), &from_type);
        link.to_socket = socket_name(d, run, txm_record_address(d->schema, r, TXM_LINK_TO_SOCKET), &link.to_type);
        txm_link *out = link.from_socket && link.to_socket ? TXM_STORE_ADD(d->store, &d->model->links) : NULL;
        if (!out) {
            return false;
        }
        *out = link;
    }
    if (d->model->links.count > begin) {
        qsort(d->model->links.data + begin, d->model->links.count - begin, sizeof(txm_link), compare_links);
    }
    return true;
}

/* ---- trees ---------------------------------------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b)
{
    const txm_node *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

static bool digest_tree(const txm_digest *d, uint32_t id, txm_run *run, txm_record tree)
{
    txm_model *m = d->model;
    txm_span nodes = {.begin = (uint32_t)m->nodes.count}, links = {.begin = (uint32_t)m->links.count};
    uint64_t next = txm_record_address(d->schema, tree, TXM_TREE_NODES);
    while (next && txm_run_step(run)) {
        const txm_run_block *b = txm_run_find(run, next, TXM_KIND_NODE);
        if (!b) {
            break;
        }
        txm_record r = txm_run_record(run, b);
        if (!digest_node(d, run, next, r)) {
            return false;
        }
        next = txm_record_address(d->schema, r, TXM_NODE_NEXT);
    }
    nodes.end = (uint32_t)m->nodes.count;
    if (d->links && nodes.end > nodes.begin) {
        qsort(m->nodes.data + nodes.begin, nodes.end - nodes.begin, sizeof *m->nodes.data, compare_nodes);
        if (!digest_links(d, run, txm_record_address(d->schema, tree, TXM_TREE_LINKS), nodes)) {
            return false;
        }
    }
    links.end = (uint32_t)m->links.count;
    txm_tree *out = TXM_STORE_ADD(d->store, &m->trees);
    if (out) {
        *out = (txm_tree){id, nodes, links};
        m->ids.data[id].trees.end = (uint32_t)m->trees.count;
    }
    return out != NULL;
}

bool txm_digest_trees(const txm_digest *d, uint32_t id, txm_run *run)
{
    d->model->ids.data[id].trees = (txm_span){(uint32_t)d->model->trees.count, (uint32_t)d->model->trees.count};
    /* Look-ups order the table: once before walking it. */
    txm_run_find(run, 0, TXM_KIND_TREE);
    for (size_t i = 0; i < run->blocks.count; i++) {
        if (run->blocks.data[i].kind != TXM_KIND_TREE) {
            continue;
        }
        txm_record tree = txm_run_record(run, &run->blocks.data[i]);
        if (txm_record_integer(d->schema, tree, TXM_TREE_TYPE, SHADER_TREE) == SHADER_TREE &&
            !digest_tree(d, id, run, tree)) {
            return false;
        }
    }
    return true;
}
