/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of memory that outlive jobs. Pinning memory takes longer than filling it from a device, and consecutive images
 * are often alike, so a job's blocks are kept for the next job that needs the same size.
 *
 * Idle blocks do not raise the memory use above what jobs were allowed to take at once: they counted while they were in
 * use, and a job that needs another size first has all idle blocks of that kind freed.
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "device/convert/job_impl.h"

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

/* Rounds up in steps that grow with the size, so images of similar size share blocks. */
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

/* Removes the idle blocks of a kind from the list and returns them; with `bytes`, only the first of that size. The lock
 * must be held. */
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

/* Reuses an idle block of that size, or frees the other idle blocks of its kind and allocates a new one. All of it is
 * under the lock, so that another job does not allocate before the others are freed. */
int gpu_block_get(uint32_t device, bool pinned, uint64_t bytes, gpu_block **out)
{
    bytes = gpu_block_bytes(bytes);
    pthread_mutex_lock(&lock);
    gpu_block *b = take(device, pinned, bytes);
    int code = 0;
    if (!b && !(b = txm_calloc(1, sizeof *b)))
        code = GPU_NO_MEMORY;
    if (b && !b->memory) {
        free_blocks(take(device, pinned, 0));
        b->bytes = bytes;
        b->device = device;
        b->pinned = pinned;
        if ((code = pinned ? txm_rt_alloc_pinned(&b->memory, bytes) : txm_rt_alloc(&b->memory, bytes))) {
            free(b);
            b = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    *out = b;
    return code;
}

/* Keeps the block for the next job, because allocating pinned memory takes longer than converting a small image. */
void gpu_block_put(gpu_block *block)
{
    if (!block)
        return;
    pthread_mutex_lock(&lock);
    block->next = idle;
    idle = block;
    pthread_mutex_unlock(&lock);
}

/* Frees all idle blocks, once the process no longer needs the device. */
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
