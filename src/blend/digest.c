/* SPDX-License-Identifier: Apache-2.0
 *
 * Images and libraries: their lists of tiles and packed files. A block is in one list only, so all lists
 * of a run together are followed for as many steps as it has blocks: one that bites its own tail ends.
 */
#include "blend/digest.h"

#include "blend/digest_tree.h"

enum { IGNORE_ALPHA_FLAG = 1 << 12 };

/* Where the bytes of a PackedFile block lie. False (and an empty `out`) when the file does not hold them. */
static bool find_packed(const txm_digest *d, txm_run *run, uint64_t address, txm_packed *out)
{
    const txm_run_block *head = txm_run_find(run, address, TXM_KIND_PACKED);
    if (!head) {
        return false;
    }
    txm_record r = txm_run_record(run, head);
    int64_t size = txm_record_integer(d->schema, r, TXM_PACKED_SIZE, 0);
    const txm_run_block *data = txm_run_find(run, txm_record_address(d->schema, r, TXM_PACKED_DATA), TXM_KIND_OTHER);
    if (!data || size <= 0 || (uint64_t)size > data->bytes) {
        return false;
    }
    out->position = data->position;
    out->bytes = (uint64_t)size;
    return true;
}

static bool digest_tiles(const txm_digest *d, txm_run *run, txm_record image, txm_image *out)
{
    uint64_t next = txm_record_address(d->schema, image, TXM_IMAGE_TILES);
    out->tiles.begin = (uint32_t)d->model->tiles.count;
    while (next && txm_run_step(run)) {
        const txm_run_block *b = txm_run_find(run, next, TXM_KIND_TILE);
        if (!b) {
            break;
        }
        txm_record r = txm_run_record(run, b);
        uint32_t *number = TXM_STORE_ADD(d->store, &d->model->tiles);
        if (!number) {
            return false;
        }
        /* Blender has 1001 where files hold 0. */
        int64_t stored = txm_record_integer(d->schema, r, TXM_TILE_NUMBER, 0);
        *number = stored > 0 && stored <= 9999 ? (uint32_t)stored : 1001;
        next = txm_record_address(d->schema, r, TXM_TILE_NEXT);
    }
    out->tiles.end = (uint32_t)d->model->tiles.count;
    return true;
}

static bool add_packed(const txm_digest *d, txm_packed packed)
{
    txm_packed *p = TXM_STORE_ADD(d->store, &d->model->packed);
    if (p) {
        *p = packed;
    }
    return p != NULL;
}

/* A list since 2.76 (one a tile and view), a single PackedFile before. */
static bool digest_packed(const txm_digest *d, txm_run *run, txm_record image, txm_image *out)
{
    txm_packed one = {.path = ""};
    uint64_t next = txm_record_address(d->schema, image, TXM_IMAGE_PACKED_FILES);
    out->packed.begin = (uint32_t)d->model->packed.count;
    while (next && txm_run_step(run)) {
        const txm_run_block *b = txm_run_find(run, next, TXM_KIND_IMAGE_PACKED);
        if (!b) {
            break;
        }
        txm_record r = txm_run_record(run, b);
        txm_packed p = {.path = txm_record_string(d->schema, r, TXM_IMAGE_PACKED_PATH, d->store)};
        p.tile = (uint32_t)txm_record_integer(d->schema, r, TXM_IMAGE_PACKED_TILE, 0);
        uint64_t file = txm_record_address(d->schema, r, TXM_IMAGE_PACKED_FILE_OF);
        if (!p.path || (file && find_packed(d, run, file, &p) && !add_packed(d, p))) {
            return false;
        }
        next = txm_record_address(d->schema, r, TXM_IMAGE_PACKED_NEXT);
    }
    uint64_t single = txm_record_address(d->schema, image, TXM_IMAGE_PACKED_FILE);
    if (d->model->packed.count == out->packed.begin && single && find_packed(d, run, single, &one) &&
        !add_packed(d, one)) {
        return false;
    }
    out->packed.end = (uint32_t)d->model->packed.count;
    return true;
}

static bool digest_image(const txm_digest *d, uint32_t id, txm_run *run, const txm_run_block *head)
{
    txm_record r = txm_run_record(run, head);
    txm_image image = {
        .id = id,
        .path = txm_record_string(d->schema, r, TXM_IMAGE_PATH, d->store),
        .colorspace = txm_record_string(d->schema, r, TXM_IMAGE_COLORSPACE, d->store),
        .source = (int)txm_record_integer(d->schema, r, TXM_IMAGE_SOURCE, 0),
        .alpha_mode = (int)txm_record_integer(d->schema, r, TXM_IMAGE_ALPHA_MODE, -1),
        .ignore_alpha = txm_record_integer(d->schema, r, TXM_IMAGE_FLAG, 0) & IGNORE_ALPHA_FLAG,
        .has_tile_list = txm_record_has(d->schema, r, TXM_IMAGE_TILES),
        .is_packed = txm_record_address(d->schema, r, TXM_IMAGE_PACKED_FILES) ||
                     txm_record_address(d->schema, r, TXM_IMAGE_PACKED_FILE),
        .in_scene = TXM_NO_INDEX,
    };
    if (!image.path || !image.colorspace || !digest_tiles(d, run, r, &image) || !digest_packed(d, run, r, &image)) {
        return false;
    }
    txm_image *out = TXM_STORE_ADD(d->store, &d->model->images);
    if (out) {
        *out = image;
        d->model->ids.data[id].image = (uint32_t)d->model->images.count - 1;
    }
    return out != NULL;
}

static bool digest_library(const txm_digest *d, uint32_t id, txm_run *run, const txm_run_block *head)
{
    txm_record r = txm_run_record(run, head);
    txm_library library = {.path = txm_record_string(d->schema, r, TXM_LIBRARY_PATH, d->store),
                           .archive_parent = txm_record_address(d->schema, r, TXM_LIBRARY_ARCHIVE_PARENT),
                           .packed.path = "",
                           .scene_file = TXM_NO_INDEX};
    uint64_t packed = txm_record_address(d->schema, r, TXM_LIBRARY_PACKED_FILE);
    txm_library *out = library.path ? TXM_STORE_ADD(d->store, &d->model->libraries) : NULL;
    if (!out) {
        return false;
    }
    if (packed) {
        find_packed(d, run, packed, &library.packed);
    }
    *out = library;
    d->model->ids.data[id].own_library = (uint32_t)d->model->libraries.count - 1;
    return true;
}

bool txm_digest_run(const txm_digest *d, uint32_t id, txm_run *run)
{
    const txm_id *owner = &d->model->ids.data[id];
    const txm_run_block *head;
    switch (owner->role) {
    case TXM_ROLE_IMAGE:
        head = txm_run_find(run, owner->address, TXM_KIND_IMAGE);
        return !head || digest_image(d, id, run, head);
    case TXM_ROLE_LIBRARY:
        head = txm_run_find(run, owner->address, TXM_KIND_LIBRARY);
        return !head || digest_library(d, id, run, head);
    case TXM_ROLE_TREE:
        return txm_digest_trees(d, id, run);
    default:
        return true;
    }
}
