/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of memory that outlive jobs. Pinning memory takes a system longer than a device takes to fill it, and one
 * image is mostly like the next, so a job's blocks are kept for the next job that wants as much.
 *
 * Blocks that are kept never add to what jobs were allowed to take at once: they were part of it when they were in use,
 * and a job that wants another size has all idle ones of its kind freed before it asks for its own.
 */
#include <pthread.h>
#include <stdlib.h>

#include "device/convert/job_impl.h"
#include "tile/base/mem.h"

enum { STEPS = 8 };

struct gpu_block {
    gpu_block *next;
    void *memory;
    uint64_t bytes;
    uint32_t device;
    bool pinned;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gpu_block *idle;

/* Rounded up by steps that grow with the size, so that images of nearly one size share blocks. */
uint64_t gpu_block_bytes(uint64_t bytes)
{
    uint64_t step = 4096;
    while (step * STEPS < bytes)
        step *= 2;
    return (bytes + step - 1) / step * step;
}

void *gpu_block_memory(const gpu_block *block)
{
    return block->memory;
}

static void free_block(gpu_block *b)
{
    if (b->pinned)
        txm_rt_free_pinned(b->memory);
    else
        txm_rt_free(b->memory);
    free(b);
}

/* Takes the idle blocks of a kind out of the list; returns them. With `bytes` only the first of that size. Lock held.
 */
static gpu_block *take(uint32_t device, bool pinned, uint64_t bytes)
{
    gpu_block *taken = NULL;
    for (gpu_block **at = &idle; *at;) {
        gpu_block *b = *at;
        if (b->device != device || b->pinned != pinned || (bytes && (taken || b->bytes != bytes))) {
            at = &b->next;
            continue;
        }
        *at = b->next;
        b->next = taken;
        taken = b;
    }
    return taken;
}

static void free_blocks(gpu_block *b)
{
    for (gpu_block *next; b; b = next) {
        next = b->next;
        free_block(b);
    }
}

/* A block of that size, or memory that others' idle blocks are freed for. */
int gpu_block_get(uint32_t device, bool pinned, uint64_t bytes, gpu_block **out)
{
    bytes = gpu_block_bytes(bytes);
    pthread_mutex_lock(&lock);
    gpu_block *b = take(device, pinned, bytes), *others = b ? NULL : take(device, pinned, 0);
    pthread_mutex_unlock(&lock);
    free_blocks(others);
    if (b) {
        *out = b;
        return 0;
    }
    if (!(b = txm_calloc(1, sizeof *b)))
        return GPU_NO_MEMORY;
    b->bytes = bytes;
    b->device = device;
    b->pinned = pinned;
    int code = pinned ? txm_rt_alloc_pinned(&b->memory, bytes) : txm_rt_alloc(&b->memory, bytes);
    if (code)
        free(b);
    else
        *out = b;
    return code;
}

/* Kept for the next job: allocating pinned memory takes longer than converting a small image. */
void gpu_block_put(gpu_block *block)
{
    if (!block)
        return;
    pthread_mutex_lock(&lock);
    block->next = idle;
    idle = block;
    pthread_mutex_unlock(&lock);
}

/* When the process is done with the device. */
void gpu_trim(uint32_t device)
{
    (void)txm_rt_use(device);
    for (int pinned = 0; pinned < 2; pinned++) {
        pthread_mutex_lock(&lock);
        gpu_block *b = take(device, pinned, 0);
        pthread_mutex_unlock(&lock);
        free_blocks(b);
    }
}
