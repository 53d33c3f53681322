/* SPDX-License-Identifier: Apache-2.0
 *
 * Collects the blocks of a run: a data-block and the blocks that follow it up to the next one, which are all that its
 * pointers can reach. A run is collected, digested and dropped, so memory holds one at a time. Blocks are sorted by
 * address at the first lookup. The number of steps along pointers is bounded, so that cyclic lists end.
 */
#include "mill/scene/scene_run.h"

#include <stdlib.h>
#include <string.h>

/* Keeps the memory for the next run. */
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

/* The size is bounded, since a data-block can claim any number of blocks. */
static bool reserve_run(txm_run *run, size_t bytes)
{
    if (bytes > TXM_RUN_MAX_BYTES - run->used) {
        run->budget.over_limit = true;
        return false;
    }
    if (run->used + bytes > run->capacity) {
        size_t capacity = run->capacity ? run->capacity : TXM_RUN_MAX_BLOCK_BYTES;
        while (capacity < run->used + bytes) {
            capacity *= 2;
        }
        uint8_t *data = realloc(run->data, capacity);
        if (!data) {
            return false;
        }
        run->data = data;
        run->capacity = capacity;
    }
    return true;
}

/* For a block whose payload is not kept, place and size are stored: packed files are read later. */
bool txm_run_add(txm_run *run, const txm_block *block, txm_kind kind, const uint8_t *payload, size_t bytes)
{
    txm_run_block *b = reserve_run(run, bytes) ? TXM_STORE_ADD(&run->budget, &run->blocks) : NULL;
    if (!b) {
        return false;
    }
    *b = (txm_run_block){block->address, block->position, block->bytes, kind, run->used, bytes};
    if (bytes > 0) {
        memcpy(run->data + run->used, payload, bytes);
    }
    run->used += bytes;
    run->ordered = false;
    return true;
}

/* Sorts by address, then by kind, then in file order. The kind is part of the key so that lookup stays fast if many
 * blocks have the same address. */
static int compare_blocks(const void *a, const void *b)
{
    const txm_run_block *left = a, *right = b;
    if (left->address != right->address) {
        return left->address < right->address ? -1 : 1;
    }
    if (left->kind != right->kind) {
        return left->kind < right->kind ? -1 : 1;
    }
    return left->position < right->position ? -1 : left->position > right->position;
}

/* A pointer to a block of another kind is invalid. */
const txm_run_block *txm_run_find(txm_run *run, uint64_t address, txm_kind kind)
{
    if (!run->ordered && run->blocks.count > 0) {
        qsort(run->blocks.data, run->blocks.count, sizeof *run->blocks.data, compare_blocks);
    }
    run->ordered = true;
    size_t low = 0, high = run->blocks.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const txm_run_block *b = &run->blocks.data[middle];
        if (b->address < address || (b->address == address && b->kind < kind)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (address == 0 || low == run->blocks.count) {
        return NULL;
    }
    const txm_run_block *found = &run->blocks.data[low];
    return found->address == address && found->kind == kind ? found : NULL;
}
