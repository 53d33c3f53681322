/* SPDX-License-Identifier: Apache-2.0
 *
 * Extracts images, libraries and shader trees from a run. Nodes that use a data-block (images, groups) are kept; for
 * lint, every node and the links between them. Unconnected nodes count too: a render loads their images as soon as
 * they are connected, and Blender's own operator includes them. Images and libraries have lists of tiles and packed
 * files. A block is in at most one list, so all lists of a run together are followed for as many steps as it has
 * blocks, which ends cyclic ones.
 */
#include "mill/scene/blend/digest.h"

#include <stdlib.h>
#include <string.h>

/* ---- runs -------------------------------------------------------------------------------------------------------- */

void txm_run_reset(txm_run *run)
{
    run->budget.limit_bytes = TXM_RUN_MAX_BYTES;
    run->blocks.count = 0;
    run->used = run->steps = 0;
    run->ordered = false;
}

void txm_run_free(txm_run *run)
{
    free(run->blocks.data);
    free(run->data);
    memset(run, 0, sizeof *run);
}

/* For a block whose payload is not kept, place and size are stored: packed files are read later. */
bool txm_run_add(txm_run *run, const txm_block *block, txm_kind kind, const uint8_t *payload, size_t bytes)
{
    /* The size is bounded, since a data-block can claim any number of blocks. */
    if (bytes > TXM_RUN_MAX_BYTES - run->used) {
        run->budget.over_limit = true;
        return false;
    }
    if (run->used + bytes > run->capacity) {
        size_t capacity = run->capacity ? run->capacity : TXM_RUN_MAX_BLOCK_BYTES;
        while (capacity < run->used + bytes)
            capacity *= 2;
        uint8_t *data = realloc(run->data, capacity);
        if (!data)
            return false;
        run->data = data;
        run->capacity = capacity;
    }
    txm_run_block *b = TXM_STORE_ADD(&run->budget, &run->blocks);
    if (!b)
        return false;
    *b = (txm_run_block){block->address, block->position, block->bytes, kind, run->used, bytes};
    if (bytes > 0)
        memcpy(run->data + run->used, payload, bytes);
    run->used += bytes;
    run->ordered = false;
    return true;
}

/* Sorts by address, then by kind, then in file order. The kind is part of the key so that lookup stays fast if many
 * blocks have the same address. */
static int compare_blocks(const void *a, const void *b)
{
    const txm_run_block *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    if (left->kind != right->kind)
        return left->kind < right->kind ? -1 : 1;
    return left->position < right->position ? -1 : left->position > right->position;
}

/* The block at an address, which is sorted for at the first lookup; NULL if there is none or it has another struct. */
static const txm_run_block *find_block(txm_run *run, uint64_t address, txm_kind kind)
{
    if (!run->ordered && run->blocks.count > 0)
        qsort(run->blocks.data, run->blocks.count, sizeof *run->blocks.data, compare_blocks);
    run->ordered = true;
    size_t low = 0, high = run->blocks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const txm_run_block *b = &run->blocks.data[middle];
        if (b->address < address || (b->address == address && b->kind < kind))
            low = middle + 1;
        else
            high = middle;
    }
    if (address == 0 || low == run->blocks.count)
        return NULL;
    const txm_run_block *found = &run->blocks.data[low];
    return found->address == address && found->kind == kind ? found : NULL;
}

/* The next block of a list; NULL at its end, which an invalid pointer is too, and after as many steps as there are
 * blocks. */
static const txm_run_block *step(txm_run *run, uint64_t next, txm_kind kind)
{
    return next && run->steps++ < run->blocks.count ? find_block(run, next, kind) : NULL;
}

static txm_record record_of(const txm_run *run, const txm_run_block *block)
{
    return block->kept ? (txm_record){run->data + block->at, block->kept} : (txm_record){NULL, 0};
}

/* ---- shader trees ------------------------------------------------------------------------------------------------ */

enum { SHADER_TREE = 0, ENVIRONMENT_NODE = 157, NON_COLOR_DATA = 0 };

/* `field` is the first of the four. */
static void digest_frames(const txm_digest *d, txm_record r, txm_field_id field, txm_sequence_use *out)
{
    out->known = txm_record_has(d->schema, r, field);
    out->frames = (int32_t)txm_record_integer(d->schema, r, field, 0);
    out->start = (int32_t)txm_record_integer(d->schema, r, field + 1, 1);
    out->offset = (int32_t)txm_record_integer(d->schema, r, field + 2, 0);
    out->cyclic = txm_record_integer(d->schema, r, field + 3, 0) != 0;
}

/* Without lint only nodes that use a data-block are kept: scenes have hundreds of thousands of others. */
static bool digest_node(const txm_digest *d, txm_run *run, uint64_t address, txm_record r)
{
    uint64_t id = txm_record_address(d->schema, r, TXM_NODE_ID);
    if (!id && !d->links)
        return true;
    txm_node *node = TXM_STORE_ADD(d->store, &d->model->nodes);
    if (!node)
        return false;
    node->address = address;
    node->id = id;
    node->name = txm_record_string(d->schema, r, TXM_NODE_NAME, d->store);
    node->idname = txm_record_string(d->schema, r, TXM_NODE_IDNAME, d->store);
    if (!node->name || !node->idname)
        return false;
    node->environment = !strcmp(node->idname, "ShaderNodeTexEnvironment") ||
                        txm_record_integer(d->schema, r, TXM_NODE_TYPE, 0) == ENVIRONMENT_NODE;
    const uint64_t storage = txm_record_address(d->schema, r, TXM_NODE_STORAGE);
    const txm_run_block *image = find_block(run, storage, TXM_KIND_TEX_IMAGE),
                        *environment = find_block(run, storage, TXM_KIND_TEX_ENVIRONMENT);
    int64_t color_space = -1;
    if (image && !node->environment) {
        r = record_of(run, image);
        node->extension = (int)txm_record_integer(d->schema, r, TXM_TEX_IMAGE_EXTENSION, 0);
        node->interpolation = (int)txm_record_integer(d->schema, r, TXM_TEX_IMAGE_INTERPOLATION, 0);
        color_space = txm_record_integer(d->schema, r, TXM_TEX_IMAGE_COLOR_SPACE, -1);
        digest_frames(d, r, TXM_TEX_IMAGE_FRAMES, &node->frames);
    } else if (environment && node->environment) {
        r = record_of(run, environment);
        node->interpolation = (int)txm_record_integer(d->schema, r, TXM_TEX_ENVIRONMENT_INTERPOLATION, 0);
        color_space = txm_record_integer(d->schema, r, TXM_TEX_ENVIRONMENT_COLOR_SPACE, -1);
        digest_frames(d, r, TXM_TEX_ENVIRONMENT_FRAMES, &node->frames);
    }
    node->legacy_data = color_space == NON_COLOR_DATA;
    return true;
}

/* ---- links ---------------------------------------------------------------------------------------------------- */

/* The tree's node at an address; TXM_NO_INDEX if there is none. Nodes are sorted by address. */
static uint32_t node_at(const txm_model *model, txm_span nodes, uint64_t address)
{
    uint32_t low = nodes.begin, high = nodes.end;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (model->nodes.data[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < nodes.end && model->nodes.data[low].address == address ? low : TXM_NO_INDEX;
}

/* A socket's identifier; before 2.67 sockets have only a name. */
static const char *socket_name(const txm_digest *d, txm_run *run, uint64_t address, int *type)
{
    const txm_run_block *b = find_block(run, address, TXM_KIND_SOCKET);
    if (!b)
        return "";
    txm_record r = record_of(run, b);
    *type = (int)txm_record_integer(d->schema, r, TXM_SOCKET_TYPE, -1);
    txm_field_id field = txm_record_has(d->schema, r, TXM_SOCKET_IDENTIFIER) ? TXM_SOCKET_IDENTIFIER : TXM_SOCKET_NAME;
    return txm_record_string(d->schema, r, field, d->store);
}

static int compare_links(const void *a, const void *b)
{
    const txm_link *left = a, *right = b;
    return left->from < right->from ? -1 : left->from > right->from;
}

/* Sorts the links by the node that they leave. */
static bool digest_links(const txm_digest *d, txm_run *run, uint64_t next, txm_span nodes)
{
    size_t begin = d->model->links.count;
    for (const txm_run_block *b; (b = step(run, next, TXM_KIND_LINK));) {
        txm_record r = record_of(run, b);
        int from_type = -1;
        txm_link link = {.to_type = -1};
        link.from = node_at(d->model, nodes, txm_record_address(d->schema, r, TXM_LINK_FROM_NODE));
        link.to = node_at(d->model, nodes, txm_record_address(d->schema, r, TXM_LINK_TO_NODE));
        next = txm_record_address(d->schema, r, TXM_LINK_NEXT);
        if (link.from == TXM_NO_INDEX || link.to == TXM_NO_INDEX)
            continue;
        link.from_socket = socket_name(d, run, txm_record_address(d->schema, r, TXM_LINK_FROM_SOCKET), &from_type);
        link.to_socket = socket_name(d, run, txm_record_address(d->schema, r, TXM_LINK_TO_SOCKET), &link.to_type);
        txm_link *out = link.from_socket && link.to_socket ? TXM_STORE_ADD(d->store, &d->model->links) : NULL;
        if (!out)
            return false;
        *out = link;
    }
    if (d->model->links.count > begin)
        qsort(d->model->links.data + begin, d->model->links.count - begin, sizeof(txm_link), compare_links);
    return true;
}

/* ---- trees ---------------------------------------------------------------------------------------------------- */

static int compare_nodes(const void *a, const void *b)
{
    const txm_node *left = a, *right = b;
    return left->address < right->address ? -1 : left->address > right->address;
}

/* The list of nodes is followed by its pointers, as in Blender; an invalid pointer ends it. */
static bool digest_tree(const txm_digest *d, uint32_t id, txm_run *run, txm_record tree)
{
    txm_model *m = d->model;
    txm_span nodes = {.begin = (uint32_t)m->nodes.count}, links = {.begin = (uint32_t)m->links.count};
    uint64_t next = txm_record_address(d->schema, tree, TXM_TREE_NODES);
    for (const txm_run_block *b; (b = step(run, next, TXM_KIND_NODE));) {
        txm_record r = record_of(run, b);
        if (!digest_node(d, run, next, r))
            return false;
        next = txm_record_address(d->schema, r, TXM_NODE_NEXT);
    }
    nodes.end = (uint32_t)m->nodes.count;
    if (d->links && nodes.end > nodes.begin) {
        qsort(m->nodes.data + nodes.begin, nodes.end - nodes.begin, sizeof *m->nodes.data, compare_nodes);
        if (!digest_links(d, run, txm_record_address(d->schema, tree, TXM_TREE_LINKS), nodes))
            return false;
    }
    links.end = (uint32_t)m->links.count;
    txm_tree *out = TXM_STORE_ADD(d->store, &m->trees);
    if (out) {
        *out = (txm_tree){id, nodes, links};
        m->ids.data[id].trees.end = (uint32_t)m->trees.count;
    }
    return out != NULL;
}

/* ---- images and libraries ---------------------------------------------------------------------------------------- */

enum { IGNORE_ALPHA_FLAG = 1 << 12 };

/* Finds the bytes of a PackedFile block. false, with an empty `out`, if the file lacks them. */
static bool find_packed(const txm_digest *d, txm_run *run, uint64_t address, txm_packed *out)
{
    const txm_run_block *head = find_block(run, address, TXM_KIND_PACKED);
    if (!head)
        return false;
    txm_record r = record_of(run, head);
    int64_t size = txm_record_integer(d->schema, r, TXM_PACKED_SIZE, 0);
    const txm_run_block *data = find_block(run, txm_record_address(d->schema, r, TXM_PACKED_DATA), TXM_KIND_OTHER);
    if (!data || size <= 0 || (uint64_t)size > data->bytes)
        return false;
    out->position = data->position;
    out->bytes = (uint64_t)size;
    return true;
}

/* The numbers of UDIM tiles. Images without a list have tile 1001. */
static bool digest_tiles(const txm_digest *d, txm_run *run, txm_record image, txm_image *out)
{
    uint64_t next = txm_record_address(d->schema, image, TXM_IMAGE_TILES);
    out->tiles.begin = (uint32_t)d->model->tiles.count;
    for (const txm_run_block *b; (b = step(run, next, TXM_KIND_TILE));) {
        txm_record r = record_of(run, b);
        uint32_t *number = TXM_STORE_ADD(d->store, &d->model->tiles);
        if (!number)
            return false;
        /* Files store 0 for Blender's 1001. */
        int64_t stored = txm_record_integer(d->schema, r, TXM_TILE_NUMBER, 0);
        *number = stored > 0 && stored <= 9999 ? (uint32_t)stored : 1001;
        next = txm_record_address(d->schema, r, TXM_TILE_NEXT);
    }
    out->tiles.end = (uint32_t)d->model->tiles.count;
    return true;
}

/* Since 2.76 this is a list (one per tile and view), before that a single PackedFile. */
static bool digest_packed(const txm_digest *d, txm_run *run, txm_record image, txm_image *out)
{
    txm_packed one = {.path = ""};
    uint64_t next = txm_record_address(d->schema, image, TXM_IMAGE_PACKED_FILES);
    out->packed.begin = (uint32_t)d->model->packed.count;
    for (const txm_run_block *b; (b = step(run, next, TXM_KIND_IMAGE_PACKED));) {
        txm_record r = record_of(run, b);
        txm_packed p = {.path = txm_record_string(d->schema, r, TXM_IMAGE_PACKED_PATH, d->store)};
        p.tile = (uint32_t)txm_record_integer(d->schema, r, TXM_IMAGE_PACKED_TILE, 0);
        uint64_t file = txm_record_address(d->schema, r, TXM_IMAGE_PACKED_FILE_OF);
        txm_packed *kept = NULL;
        const bool found = p.path && file && find_packed(d, run, file, &p);
        if (!p.path || (found && !(kept = TXM_STORE_ADD(d->store, &d->model->packed))))
            return false;
        if (kept)
            *kept = p;
        next = txm_record_address(d->schema, r, TXM_IMAGE_PACKED_NEXT);
    }
    uint64_t single = txm_record_address(d->schema, image, TXM_IMAGE_PACKED_FILE);
    if (d->model->packed.count == out->packed.begin && single && find_packed(d, run, single, &one)) {
        txm_packed *kept = TXM_STORE_ADD(d->store, &d->model->packed);
        if (!kept)
            return false;
        *kept = one;
    }
    out->packed.end = (uint32_t)d->model->packed.count;
    return true;
}

static bool is_text(txm_record block, const char *text)
{
    size_t n = strlen(text);
    return block.bytes > n && memcmp(block.data, text, n + 1) == 0;
}

/* Blender recreates a library override when it opens the file: as a copy of the library's data-block, in which it
 * changes the listed properties. Of those that matter here, only path and alpha type can be listed. */
static void digest_override(const txm_digest *d, txm_run *run, txm_record head, txm_image *out)
{
    const txm_run_block *b = find_block(run, txm_record_address(d->schema, head, TXM_ID_OVERRIDE), TXM_KIND_OVERRIDE);
    if (!b)
        return;
    txm_record r = record_of(run, b);
    out->overrides = txm_record_address(d->schema, r, TXM_OVERRIDE_REFERENCE);
    uint64_t next = txm_record_address(d->schema, r, TXM_OVERRIDE_PROPERTIES);
    while ((b = step(run, next, TXM_KIND_OVERRIDDEN))) {
        r = record_of(run, b);
        next = txm_record_address(d->schema, r, TXM_OVERRIDDEN_NEXT);
        b = find_block(run, txm_record_address(d->schema, r, TXM_OVERRIDDEN_PATH), TXM_KIND_OTHER);
        r = b ? record_of(run, b) : (txm_record){NULL, 0};
        out->own_path |= is_text(r, "filepath");
        out->own_alpha |= is_text(r, "alpha_mode");
    }
}

/* Keeps everything as it is stored; settle.c interprets it for the file's version. */
static bool digest_image(const txm_digest *d, uint32_t id, txm_run *run, const txm_run_block *head)
{
    txm_record r = record_of(run, head);
    txm_image image = {
        .id = id,
        .path = txm_record_string(d->schema, r, TXM_IMAGE_PATH, d->store),
        .colorspace = txm_record_string(d->schema, r, TXM_IMAGE_COLORSPACE, d->store),
        .interop_id = txm_record_string(d->schema, r, TXM_IMAGE_INTEROP_ID, d->store),
        .source = (int)txm_record_integer(d->schema, r, TXM_IMAGE_SOURCE, 0),
        .alpha_mode = (int)txm_record_integer(d->schema, r, TXM_IMAGE_ALPHA_MODE, -1),
        .ignore_alpha = txm_record_integer(d->schema, r, TXM_IMAGE_FLAG, 0) & IGNORE_ALPHA_FLAG,
        .has_tile_list = txm_record_has(d->schema, r, TXM_IMAGE_TILES),
        .is_packed = txm_record_address(d->schema, r, TXM_IMAGE_PACKED_FILES) ||
                     txm_record_address(d->schema, r, TXM_IMAGE_PACKED_FILE),
        .in_scene = TXM_NO_INDEX,
    };
    if (!image.path || !image.colorspace || !image.interop_id || !digest_tiles(d, run, r, &image) ||
        !digest_packed(d, run, r, &image))
        return false;
    digest_override(d, run, r, &image);
    txm_image *out = TXM_STORE_ADD(d->store, &d->model->images);
    if (out) {
        *out = image;
        d->model->ids.data[id].image = (uint32_t)d->model->images.count - 1;
    }
    return out != NULL;
}

/* A library may be packed: a file inside the file. */
static bool digest_library(const txm_digest *d, uint32_t id, txm_run *run, const txm_run_block *head)
{
    txm_record r = record_of(run, head);
    txm_library library = {.path = txm_record_string(d->schema, r, TXM_LIBRARY_PATH, d->store),
                           .archive_parent = txm_record_address(d->schema, r, TXM_LIBRARY_ARCHIVE_PARENT),
                           .packed.path = "",
                           .scene_file = TXM_NO_INDEX};
    uint64_t packed = txm_record_address(d->schema, r, TXM_LIBRARY_PACKED_FILE);
    txm_library *out = library.path ? TXM_STORE_ADD(d->store, &d->model->libraries) : NULL;
    if (!out)
        return false;
    if (packed)
        find_packed(d, run, packed, &library.packed);
    *out = library;
    d->model->ids.data[id].own_library = (uint32_t)d->model->libraries.count - 1;
    return true;
}

static bool digest_scene(const txm_digest *d, txm_record r)
{
    txm_frame_range *out = TXM_STORE_ADD(d->store, &d->model->ranges);
    if (out)
        *out = (txm_frame_range){(int32_t)txm_record_integer(d->schema, r, TXM_SCENE_FIRST, 1),
                                 (int32_t)txm_record_integer(d->schema, r, TXM_SCENE_LAST, 1),
                                 (int32_t)txm_record_integer(d->schema, r, TXM_SCENE_STEP, 1)};
    return out != NULL;
}

/* A data-block whose head is missing is known only by its address. */
bool txm_digest_run(const txm_digest *d, uint32_t id, txm_run *run)
{
    const txm_id *owner = &d->model->ids.data[id];
    const txm_run_block *head;
    switch (owner->role) {
    case TXM_ROLE_IMAGE:
        head = find_block(run, owner->address, TXM_KIND_IMAGE);
        return !head || digest_image(d, id, run, head);
    case TXM_ROLE_LIBRARY:
        head = find_block(run, owner->address, TXM_KIND_LIBRARY);
        return !head || digest_library(d, id, run, head);
    case TXM_ROLE_SCENE:
        head = find_block(run, owner->address, TXM_KIND_SCENE);
        return !head || digest_scene(d, record_of(run, head));
    case TXM_ROLE_TREE:
        d->model->ids.data[id].trees = (txm_span){(uint32_t)d->model->trees.count, (uint32_t)d->model->trees.count};
        find_block(run, 0, TXM_KIND_TREE); /* sorts the table before it is walked */
        for (size_t i = 0; i < run->blocks.count; i++) {
            const txm_run_block *b = &run->blocks.data[i];
            const txm_record tree = record_of(run, b);
            if (b->kind == TXM_KIND_TREE &&
                txm_record_integer(d->schema, tree, TXM_TREE_TYPE, SHADER_TREE) == SHADER_TREE &&
                !digest_tree(d, id, run, tree))
                return false;
        }
        return true;
    default:
        return true;
    }
}
