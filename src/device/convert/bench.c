/* SPDX-License-Identifier: Apache-2.0
 *
 * Measures plain copies and each kernel, between two events of one stream, and reports the best of several rounds. A
 * round repeats its step, because events of some drivers are too coarse for a step that takes microseconds. The
 * bytes reported are the least that a kernel must read and write, so bytes per second can be compared with the
 * bandwidth of a copy.
 */
#include "device/convert/job_impl.h"

#include <string.h>

#include "base/fail.h"

enum { ROUNDS = 10, REPEATS = 8, EVENTS = 2 };

typedef struct bench {
    txm_gpu_job *job;
    gpu_slot *slot;
    txm_rt_stream stream;
    txm_rt_event events[EVENTS];
    txm_gpu_measure *out;
    size_t room, count;
    gpu_level *l0, *l1, *l2;
    uint32_t rows;
    size_t chunk_bytes; /* size of level 0 as stored */
} bench;

typedef int (*step_fn)(bench *b);

/* Reports the fastest round, since the others were disturbed. */
static txm_status measure(bench *b, const char *name, step_fn step, uint64_t bytes, txm_error *err)
{
    double best = 0;
    if (b->count == b->room)
        return TXM_OK;
    for (int i = 0; i < ROUNDS; i++) {
        double seconds = 0;
        bool reached;
        int code = txm_rt_record(b->events[0], b->stream);
        for (int k = 0; k < REPEATS && !code; k++)
            code = step(b);
        if (!code)
            code = txm_rt_record(b->events[1], b->stream);
        if (!code)
            code = txm_rt_reach(b->events[1], true, &reached);
        if (!code)
            code = txm_rt_elapsed(b->events[0], b->events[1], &seconds);
        if (code)
            return gpu_check(code, name, err);
        best = i == 0 || seconds < best ? seconds : best;
    }
    best /= REPEATS;
    b->out[b->count++] = (txm_gpu_measure){name, bytes, best};
    return TXM_OK;
}

/* Reads and writes each byte once: an upper bound for everything that stays on the device. */
static int copy(bench *b)
{
    return txm_rt_copy(b->job->memory, b->slot->device_out, b->job->memory, b->slot->device_in, b->chunk_bytes,
                       b->stream);
}

/* Upper bounds for transfers over the bus, one for each direction; a conversion on the device cannot be faster than the
 * slower one. */
static int upload(bench *b)
{
    return txm_rt_upload(b->job->memory, b->slot->device_in, b->slot->in, b->chunk_bytes, b->stream);
}

static int download(bench *b)
{
    return txm_rt_download(b->slot->out, b->job->memory, b->slot->device_out, b->chunk_bytes, b->stream);
}

/* The functions from here on run one kernel each, with the arguments that a job gives it for one chunk. */
static int ingest(bench *b)
{
    const txm_gpu_plan *p = &b->job->plan;
    const txm_gpu_ingest a = {.type = p->type,
                              .channels = p->channels,
                              .raw = b->slot->device_in,
                              .raw_stride_bytes = b->l0->store.stride_bytes,
                              .width = p->width,
                              .rows = b->rows,
                              .conform = {.src_channels = p->channels, .channels = p->channels},
                              .box = true,
                              .curve = p->curve,
                              .store0 = b->l0->store,
                              .store1 = b->l1->store,
                              .floats1 = b->l1->floats};
    return gpu_run_ingest(b->job, &a, b->stream);
}

static int count_rows(bench *b)
{
    const txm_gpu_plan *p = &b->job->plan;
    const txm_gpu_count a = {.type = p->type,
                             .raw = b->slot->device_in,
                             .raw_stride_bytes = b->l0->store.stride_bytes,
                             .width = p->width,
                             .rows = b->rows,
                             .conform = {.src_channels = p->channels, .channels = p->channels},
                             .out = b->slot->device_stats};
    return gpu_run_count(b->job, &a, b->stream);
}

static int level(bench *b)
{
    const txm_gpu_plan *p = &b->job->plan;
    const txm_gpu_level a = {.type = p->type,
                             .channels = p->channels,
                             .box = true,
                             .curve = p->curve,
                             .src_width = b->l1->width,
                             .src_height = b->l1->height,
                             .width = b->l2->width,
                             .height = b->l2->height,
                             .rows = b->rows / 4,
                             .src = b->l1->floats,
                             .dst = b->l2->floats,
                             .store = b->l2->store};
    return gpu_run_level(b->job, &a, b->stream);
}

static int tiles(bench *b)
{
    const txm_gpu_plan *p = &b->job->plan;
    const txm_gpu_tiles a = {.type = p->type,
                             .channels = p->channels,
                             .tile_px = p->tile_px,
                             .tile_shift = txm_gpu_shift(p->tile_px),
                             .filter = true,
                             .width = b->l0->width,
                             .height = b->l0->height,
                             .bands = b->rows / p->tile_px,
                             .store = b->l0->store,
                             .out = p->encoders ? b->job->raw : b->slot->device_out};
    return gpu_run_tiles(b->job, &a, b->stream);
}

static int borders(bench *b)
{
    const txm_gpu_plan *p = &b->job->plan;
    const txm_gpu_borders a = {p->type, p->channels,          p->tile_px,   b->l0->width,       b->l0->height,
                               0,       b->rows / p->tile_px, b->l0->store, b->slot->device_out};
    return gpu_run_borders(b->job, &a, b->stream);
}

/* Compresses what `tiles` made. */
static int compress(bench *b)
{
    gpu_slot *s = b->slot;
    const txm_gpu_plan *p = &b->job->plan;
    const uint32_t bytes = p->tile_px * p->tile_px * p->channels * txm_gpu_bytes(p->type);
    s->tiles = b->rows / p->tile_px * (p->width / p->tile_px);
    s->list[0] = (txm_gpu_packed){0};
    for (uint32_t i = 0; i < s->tiles; i++)
        s->list[1 + i] = (txm_gpu_packed){.from = i * bytes, .bytes = bytes};
    const txm_gpu_pack a = gpu_pack_args(b->job, s);
    int code = txm_rt_upload(b->job->memory, s->device_list, s->list, (s->tiles + 1) * sizeof *s->list, b->stream);
    return code ? code : gpu_run_pack(b->job, &a, b->stream);
}

/* Fills the device's memory, because kernels also read rows that only a further chunk would store. The contents are
 * noise of a few bits, which affects the time of compression alone. */
static int fill(bench *b)
{
    uint64_t bytes, pinned;
    int code = 0;
    gpu_memory(&b->job->plan, &bytes, &pinned);
    uint32_t noise = 1;
    for (size_t i = 0; i < b->chunk_bytes; i++, noise = noise * 1664525u + 1013904223u)
        b->slot->in[i] = (uint8_t)(0x20 + (noise >> 24) % 24);
    for (uint64_t at = 0; at < bytes && !code; at += b->chunk_bytes)
        code = txm_rt_upload(b->job->memory, at, b->slot->in, bytes - at < b->chunk_bytes ? bytes - at : b->chunk_bytes,
                             b->stream);
    return code;
}

/* The job's buffers are the input. */
static txm_status run_bench(bench *b, txm_error *err)
{
    const txm_gpu_plan *p = &b->job->plan;
    uint64_t stored = b->chunk_bytes, pixels = (uint64_t)p->width * b->rows, light = p->channels * sizeof(float);
    uint64_t pixel = p->channels * txm_gpu_bytes(p->type);
    uint64_t border =
        (uint64_t)txm_gpu_borders_pixels(p->tile_px, p->width, p->tile_px) * (b->rows / p->tile_px) * pixel;
    txm_status status;
    if ((status = gpu_check(fill(b), "memory", err)) || (status = measure(b, "upload", upload, stored, err)) ||
        (status = measure(b, "download", download, stored, err)) ||
        (status = measure(b, "copy", copy, 2 * stored, err)) ||
        (status = measure(b, "ingest (conform, level 1)", ingest, 2 * stored + pixels / 4 * (pixel + light), err)) ||
        (status = measure(b, "statistics", count_rows, stored, err)) ||
        (status = measure(b, "level 2", level, pixels / 4 * light + pixels / 16 * (pixel + light), err)) ||
        (status = measure(b, "tiles", tiles, 2 * stored, err)) ||
        (status = measure(b, "borders", borders, 2 * border, err)))
        return status;
    /* Only whole tiles, so that each is as large as the others. */
    return p->encoders && p->width % p->tile_px == 0 ? measure(b, "compress (bytes before)", compress, stored, err)
                                                     : TXM_OK;
}

/* Called by bench/ through the plug-in's table. */
txm_status gpu_bench(uint32_t device, const txm_gpu_plan *plan, txm_gpu_measure *out, size_t *count, txm_error *err)
{
    txm_gpu_job *j = NULL;
    if (plan->width % 4 || plan->height % 4 || plan->chunk_rows % plan->tile_px || plan->height <= plan->chunk_rows)
        return txm_fail(err, TXM_STATUS_USAGE,
                        "the benchmark wants edges that halve twice and more rows than a chunk has");
    txm_status status = gpu_open(device, plan, &j, err);
    if (status)
        return status;
    bench b = {.job = j,
               .slot = &j->slots[0],
               .stream = j->streams[0],
               .out = out,
               .room = *count,
               .l0 = &j->level[0],
               .l1 = &j->level[1],
               .l2 = &j->level[2],
               .rows = plan->chunk_rows,
               .chunk_bytes = plan->chunk_rows * j->level[0].store.stride_bytes};
    for (int i = 0; !status && i < EVENTS; i++)
        status = gpu_check(txm_rt_event_new(&b.events[i]), "events", err);
    if (!status)
        status = run_bench(&b, err);
    *count = b.count;
    for (int i = 0; i < EVENTS; i++)
        txm_rt_event_free(b.events[i]);
    gpu_close(&j);
    return status;
}
