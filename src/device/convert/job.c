/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of a job: its memory, its slots, the chunks that go in and the results that come out.
 *
 * A job converts one image on one device. All its memory is two blocks, one on the device and one pinned, which are
 * laid out when the job is opened; nothing is allocated while chunks run. Chunks pass through a few slots in turn, so
 * that upload, kernels, download and the encoding of results overlap.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "device/convert/job_impl.h"

/* Pieces are aligned for the widest vector loads. */
enum { ALIGN = 256 };

/* ---- memory ------------------------------------------------------------------------------------------------------
 * A job takes one block of the device's memory and one pinned one. Both are laid out by the same walk: on the device,
 * only offsets in the block are known; pinned memory has addresses as soon as its block is allocated. */

typedef struct layout {
    uint8_t *base;
    uint64_t used;
} layout;

static uint64_t take(layout *l, uint64_t bytes)
{
    uint64_t at = l->used;
    l->used += (bytes + ALIGN - 1) / ALIGN * ALIGN;
    return at;
}

static void *take_pinned(layout *l, uint64_t bytes)
{
    uint64_t at = take(l, bytes);
    return l->base ? l->base + at : NULL;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t ceil_div(uint32_t a, uint32_t b)
{
    return (a + b - 1) / b;
}

/* Bytes of a row in the tx file's type, which tiles are cut from. */
static uint64_t stored_row(const txm_gpu_job *j, uint32_t width)
{
    return (uint64_t)width * j->plan.channels * txm_gpu_bytes(j->plan.type);
}

/* Bytes of an input row before or after conforming, whichever is wider. */
static uint64_t raw_row(const txm_gpu_job *j)
{
    uint32_t src = j->plan.conform.src_channels, most = src > j->plan.channels ? src : j->plan.channels;
    return (uint64_t)j->plan.width * most * txm_gpu_bytes(j->plan.type);
}

/* Returns the number of rows of each level that a chunk can complete: half of those of the level below, and one more at
 * either end if the filter had to wait for a row. */
static void plan_levels(txm_gpu_job *j)
{
    const txm_gpu_plan *p = &j->plan;
    uint32_t most = p->chunk_rows;
    j->levels = txm_level_count(p->width, p->height);
    for (uint32_t i = 0; i < j->levels; i++) {
        gpu_level *l = &j->level[i];
        const gpu_level *below = i ? l - 1 : NULL;
        l->width = txm_level_size(p->width, i);
        l->height = txm_level_size(p->height, i);
        l->box = below && below->width % 2 == 0 && below->height % 2 == 0;
        l->most_rows = most = least(most, l->height);
        most = most / 2 + 2;
    }
}

/* Reserves the rows that are still needed when a chunk arrives: those of a row of tiles that is waiting for its last
 * row, or for the two rows below it if it has borders; two rows above it; and the last row, which the next level may
 * need. */
static void lay_out_levels(txm_gpu_job *j, layout *device)
{
    const txm_gpu_plan *p = &j->plan;
    for (uint32_t i = 0; i < j->levels; i++) {
        gpu_level *l = &j->level[i];
        txm_gpu_store *s = &l->store;
        s->stride_bytes = stored_row(j, l->width);
        s->head_rows = p->borders ? least(l->height, p->tile_px + TXM_BORDER_PX) : 0;
        s->capacity = s->head_rows == l->height ? 1 : least(l->height, l->most_rows + p->tile_px + 2 * TXM_BORDER_PX);
        s->head = take(device, s->head_rows * s->stride_bytes);
        s->recent = take(device, s->capacity * s->stride_bytes);
        l->floats.none_kept = i == 0 || i + 1 == j->levels;
        if (l->floats.none_kept)
            continue;
        l->floats.stride = (uint64_t)l->width * p->channels;
        l->floats.capacity = l->most_rows + 2;
        l->floats.rows = take(device, l->floats.capacity * l->floats.stride * sizeof(float));
    }
}

/* Reserves output for one chunk: one more row of tiles than the chunk's rows fill, since one may have been waiting for
 * its last row. */
static void plan_output(txm_gpu_job *j)
{
    txm_gpu_plan *p = &j->plan;
    j->piece_capacity = 1;
    j->out_capacity = p->rows ? p->chunk_rows * stored_row(j, p->width) + ALIGN : 0;
    for (uint32_t i = 0; i < j->levels; i++) {
        const gpu_level *l = &j->level[i];
        uint32_t all = ceil_div(l->height, p->tile_px), some = ceil_div(l->most_rows, p->tile_px);
        uint32_t tiles = least(all, some + 1), borders = p->borders ? least(all, some + 2) : 0;
        uint64_t border_bytes =
            (uint64_t)txm_gpu_borders_pixels(p->tile_px, l->width, p->tile_px) * p->channels * txm_gpu_bytes(p->type);
        j->piece_capacity += tiles + borders;
        if (p->encoders) {
            uint32_t across = ceil_div(l->width, p->tile_px);
            j->tile_capacity += tiles * across;
            j->raw_capacity += tiles * (txm_gpu_tiles_bytes(p->type, p->channels, p->tile_px, l->width) + ALIGN);
            j->out_capacity += tiles * across * ALIGN; /* each stream is aligned */
        }
        j->out_capacity += tiles * (txm_gpu_tiles_bytes(p->type, p->channels, p->tile_px, l->width) + ALIGN);
        j->out_capacity += borders * (border_bytes + ALIGN);
    }
    p->encoders = p->encoders < j->tile_capacity ? p->encoders : (uint32_t)j->tile_capacity;
}

/* Called twice, first without memory to find out how much is needed and then to assign it. Sizes and places therefore
 * always agree. */
static void lay_out_slots(txm_gpu_job *j, layout *device, layout *pinned)
{
    uint64_t in = j->plan.chunk_rows * raw_row(j), stats = j->plan.chunk_rows * sizeof(txm_gpu_row_stats);
    for (uint32_t i = 0; i < j->plan.slots; i++) {
        gpu_slot *s = &j->slots[i];
        s->in = take_pinned(pinned, in);
        s->out = take_pinned(pinned, j->out_capacity);
        s->stats = take_pinned(pinned, stats);
        s->device_in = take(device, in);
        s->device_out = take(device, j->out_capacity);
        s->device_stats = take(device, stats);
        if (j->plan.encoders) {
            s->list = take_pinned(pinned, (j->tile_capacity + 1) * sizeof *s->list);
            s->device_list = take(device, (j->tile_capacity + 1) * sizeof *s->list);
        }
    }
    if (j->plan.encoders) {
        const uint64_t pixel = j->plan.channels * txm_gpu_bytes(j->plan.type);
        const txm_deflate_shape shape = txm_tile_shape(j->plan.type, pixel, pixel * j->plan.tile_px * j->plan.tile_px);
        j->scratch_bytes = txm_gpu_pack_layout(&shape).all;
        j->raw = take(device, j->raw_capacity);
        j->scratch = take(device, j->plan.encoders * j->scratch_bytes);
    }
}

/* Computes sizes and places in the same pass, for the same reason. */
static void lay_out(txm_gpu_job *j, uint64_t *device_bytes, uint64_t *pinned_bytes)
{
    layout device = {NULL, 0};
    layout pinned = {j->pinned_block ? gpu_block_memory(j->pinned_block) : NULL, 0};
    lay_out_levels(j, &device);
    lay_out_slots(j, &device, &pinned);
    *device_bytes = gpu_block_bytes(device.used);
    *pinned_bytes = gpu_block_bytes(pinned.used);
}

/* The exact amount of memory that a job with this plan takes. */
void gpu_memory(const txm_gpu_plan *plan, uint64_t *device_bytes, uint64_t *pinned_bytes)
{
    txm_gpu_job j = {.plan = *plan};
    plan_levels(&j);
    plan_output(&j);
    lay_out(&j, device_bytes, pinned_bytes);
}

/* ---- opening and closing ---------------------------------------------------------------------------------------- */

/* Converts device errors to a status that lets the conversion continue without the device. */
txm_status gpu_check(int code, const char *what, txm_error *err)
{
    if (!code)
        return TXM_OK;
    if (code == GPU_NO_ROOM)
        return txm_fail(err, TXM_STATUS_INTERNAL, "a chunk makes more than was planned for");
    if (code == GPU_NO_MEMORY)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "%s: out of memory", what);
    return txm_fail(err, txm_rt_out_of_memory(code) ? TXM_STATUS_NO_MEMORY : TXM_STATUS_DEVICE, "%s: %s", what,
                    txm_rt_text(code));
}

/* Plans are made by txmill itself; this only catches bugs in it. */
static bool sensible(const txm_gpu_plan *p)
{
    const txm_gpu_conform *c = &p->conform;
    return !txm_type_is_float(p->type) && p->width && p->height && p->width <= TXM_MAX_LOOKUP_PX &&
           p->height <= TXM_MAX_LOOKUP_PX && p->tile_px >= TXM_MIN_TILE_PX && p->tile_px <= TXM_MAX_TILE_PX &&
           (p->tile_px & (p->tile_px - 1)) == 0 && p->chunk_rows && p->chunk_rows <= TXM_GPU_MAX_CHUNK_ROWS &&
           p->chunk_rows % p->tile_px == 0 && p->slots >= 2 && p->slots <= TXM_GPU_MAX_SLOTS && c->src_channels >= 1 &&
           c->src_channels <= 4 && (c->channels == 4 || (c->channels == 1 && c->src_channels == 1)) &&
           (p->channels == c->channels || p->channels == 1) &&
           (!p->encoders || (p->filter && (p->level == 0 || p->level == 1)));
}

/* One block on the device and one pinned block hold everything that a job needs. With only two allocations, there is
 * little to undo if one fails. */
static txm_status open_memory(txm_gpu_job *j, txm_error *err)
{
    uint64_t device_bytes, pinned_bytes;
    lay_out(j, &device_bytes, &pinned_bytes);
    txm_status status =
        gpu_check(gpu_block_get(j->device, false, device_bytes, &j->device_block), "device memory", err);
    if (!status)
        status = gpu_check(gpu_block_get(j->device, true, pinned_bytes, &j->pinned_block), "pinned memory", err);
    if (status)
        return status;
    j->memory = gpu_block_memory(j->device_block);
    lay_out(j, &device_bytes, &pinned_bytes);
    return TXM_OK;
}

/* Events mark when a slot has been computed and when its results have been copied back. */
static txm_status open_streams(txm_gpu_job *j, txm_error *err)
{
    int code = 0;
    for (int i = 0; !code && i < TXM_GPU_STREAMS; i++)
        code = txm_rt_stream_new(&j->streams[i]);
    if (!code && j->plan.encoders)
        code = txm_rt_stream_new(&j->downloads);
    for (uint32_t i = 0; !code && i < j->plan.slots; i++) {
        gpu_slot *s = &j->slots[i];
        if (!(code = txm_rt_event_new(&s->computed)) && !(code = txm_rt_event_new(&s->counted)))
            code = txm_rt_event_new(&s->done);
    }
    return gpu_check(code, "streams", err);
}

/* On failure, gpu_close frees whatever was opened. The tables of curves belong to the device, not the job: the first
 * job that needs them uploads them. */
txm_status gpu_open(uint32_t device, const txm_gpu_plan *plan, txm_gpu_job **out, txm_error *err)
{
    if (!sensible(plan))
        return txm_fail(err, TXM_STATUS_INTERNAL, "the plan for the GPU is wrong");
    txm_gpu_job *j = txm_calloc(1, sizeof *j);
    if (!j)
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory");
    j->plan = *plan;
    j->device = device;
    plan_levels(j);
    plan_output(j);
    txm_status status = gpu_check(txm_rt_use(device), "device", err);
    for (uint32_t i = 0; !status && i < plan->slots; i++)
        if (!(j->slots[i].pieces = txm_calloc(j->piece_capacity, sizeof(txm_gpu_piece))))
            status = txm_fail(err, TXM_STATUS_NO_MEMORY, "out of memory");
    if (!status && plan->curve)
        status = gpu_tables(device, &j->tables, err);
    if (status || (status = open_memory(j, err)) || (status = open_streams(j, err)))
        gpu_close(&j);
    else
        *out = j;
    return status;
}

/* It also closes a partly opened job. The blocks are kept for the next job, because pinning memory is slow. */
void gpu_close(txm_gpu_job **job)
{
    txm_gpu_job *j = job ? *job : NULL;
    if (!j)
        return;
    (void)txm_rt_use(j->device);
    for (int i = 0; i < TXM_GPU_STREAMS; i++)
        txm_rt_stream_free(j->streams[i]);
    txm_rt_stream_free(j->downloads);
    for (uint32_t i = 0; i < TXM_GPU_MAX_SLOTS; i++) {
        txm_rt_event_free(j->slots[i].computed);
        txm_rt_event_free(j->slots[i].counted);
        txm_rt_event_free(j->slots[i].done);
        free(j->slots[i].pieces);
    }
    gpu_block_put(j->pinned_block);
    gpu_block_put(j->device_block);
    free(j);
    *job = NULL;
}

/* ---- chunks ----------------------------------------------------------------------------------------------------- */

/* NULL if all slots are in use. Repeated calls before gpu_submit return the same place, since only one chunk is filled
 * at a time. */
uint8_t *gpu_place(txm_gpu_job *j)
{
    for (uint32_t i = 0; !j->placed && i < j->plan.slots; i++) {
        gpu_slot *s = &j->slots[i];
        if (atomic_load(&s->state) == SLOT_FREE) {
            atomic_store(&s->state, SLOT_PLACED);
            j->placed = s;
        }
    }
    return j->placed ? j->placed->in : NULL;
}

/* Returns at once, with everything queued on the device. Only the last chunk may end with an incomplete row of
 * tiles. */
txm_status gpu_submit(txm_gpu_job *j, uint32_t rows, bool conformed, txm_error *err)
{
    gpu_slot *s = j->placed;
    uint32_t y = j->level[0].made, left = j->plan.height - y;
    if (!s || !rows || rows > left || rows > j->plan.chunk_rows || (rows < left && rows % j->plan.tile_px))
        return txm_fail(err, TXM_STATUS_INTERNAL, "%u rows at row %u of %u for a GPU", rows, y, j->plan.height);
    txm_status status = gpu_check(txm_rt_use(j->device), "device", err);
    if (!status)
        status = gpu_launch(j, s, rows, conformed, err);
    if (status)
        return status;
    atomic_store(&s->state, SLOT_SUBMITTED);
    j->queue[j->queued++] = s;
    j->placed = NULL;
    return TXM_OK;
}

/* Copies output back whose length is known now: it depends on how well tiles were compressed. */
static int fetch(txm_gpu_job *j, gpu_slot *s, bool wait)
{
    bool reached = false;
    if (s->fetching)
        return 0;
    int code = txm_rt_reach(s->counted, wait, &reached);
    if (code || !reached)
        return code;
    const size_t bytes = s->streams_at + s->list[0].at;
    bool sane = bytes <= j->out_capacity;
    for (uint32_t i = 1; sane && i <= s->tiles; i++)
        sane = s->list[i].size <= s->list[i].bytes && s->list[i].at <= s->list[0].at &&
               s->list[i].size <= s->list[0].at - s->list[i].at;
    if (!sane)
        return GPU_NO_ROOM;
    for (size_t i = 0; i < s->result.piece_count; i++)
        if (s->pieces[i].packed)
            s->pieces[i].bytes = s->out + s->streams_at;
    s->fetching = true;
    if (bytes && (code = txm_rt_download(s->out, j->memory, s->device_out, bytes, j->downloads)))
        return code;
    return txm_rt_record(s->done, j->downloads);
}

/* Returns results in the order of submission. *out is NULL if nothing is ready. */
txm_status gpu_collect(txm_gpu_job *j, bool wait, txm_gpu_result **out, txm_error *err)
{
    *out = NULL;
    if (!j->queued)
        return TXM_OK;
    gpu_slot *s = j->queue[0];
    bool reached = false;
    int code = txm_rt_use(j->device);
    for (uint32_t i = 0; i < j->queued && !code; i++)
        code = fetch(j, j->queue[i], wait && i == 0);
    if (!code && s->fetching)
        code = txm_rt_reach(s->done, wait, &reached);
    if (code)
        return gpu_check(code, "kernels", err);
    if (!reached)
        return TXM_OK;
    j->queued--;
    memmove(j->queue, j->queue + 1, j->queued * sizeof *j->queue);
    atomic_store(&s->state, SLOT_COLLECTED);
    *out = &s->result;
    return TXM_OK;
}

/* Makes the slot available again. Any thread may call this, so a slot's state is atomic; the rest of a job is used by
 * one thread at a time. */
void gpu_release(txm_gpu_job *j, txm_gpu_result *result)
{
    gpu_slot *s = (gpu_slot *)(void *)((char *)result - offsetof(gpu_slot, result));
    (void)j;
    atomic_store(&s->state, SLOT_FREE);
}
