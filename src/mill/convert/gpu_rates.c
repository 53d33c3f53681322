/* SPDX-License-Identifier: Apache-2.0
 *
 * Measuring what pixels cost.
 *
 * A small strip is run through the CPU's code, and a trial image through the device, each once per kind of image.
 * Their times per pixel, and the time that starting takes, are what `auto` decides by.
 */
#include "mill/convert/gpu_rates.h"

#include <string.h>
#include <time.h>

#include "mill/pyramid/pyramid.h"
#include "tile/base/clock.h"
#include "tile/base/mem.h"

/* A strip that takes a fraction of a millisecond, and an image that fills a device. */
enum { STRIP_W = 2048, STRIP_H = 32, TRIAL_W = 2048, TRIAL_H = 1024, TRIAL_CHUNK = 256 };

/* ---- the CPU ---------------------------------------------------------------------------------------------------- */

/* The pyramid's sink: rows are computed and forgotten. */
static void *place(void *context, uint32_t level, uint32_t y)
{
    (void)level, (void)y;
    return context; /* every row in the same place: nobody looks at them */
}

static void placed(void *context, uint32_t level, uint32_t y)
{
    (void)context, (void)level, (void)y;
}

/* In CPU time of the thread: other load of the machine must not count. */
double txm_cpu_seconds_per_pixel(const txm_ops *ops, const txm_gpu_plan *plan)
{
    const txm_pyramid_spec spec = {STRIP_W, STRIP_H, plan->channels, plan->type, plan->srgb, false, false};
    size_t row = STRIP_W * plan->channels * txm_type_bytes(plan->type);
    uint8_t *pixels = txm_alloc_pixels(STRIP_H, row), *out = txm_alloc_pixels(1, row);
    const txm_pyramid_sink sink = {out, place, placed};
    txm_pyramid *pyramid = NULL;
    double seconds = 0;
    if (pixels && out && txm_pyramid_new(&spec, ops, &sink, &pyramid, NULL) == TXM_OK) {
        /* Ordinary values of every type: as half and float they are small and positive. */
        for (size_t i = 0; i < row * STRIP_H; i++)
            pixels[i] = (uint8_t)(0x20 + i * 37 % 24);
        uint64_t begin = txm_clock_ns(CLOCK_THREAD_CPUTIME_ID);
        txm_pyramid_push(pyramid, pixels, row, STRIP_H);
        seconds = 1e-9 * (double)(txm_clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin);
    }
    txm_pyramid_free(&pyramid);
    free(pixels);
    free(out);
    return seconds / ((double)STRIP_W * STRIP_H);
}

/* ---- a device --------------------------------------------------------------------------------------------------- */

/* One chunk at a time, each waited for: rates, not overlap, are wanted. */
static txm_status run_chunks(const txm_gpu_plugin *p, txm_gpu_job *job, const txm_gpu_plan *plan, txm_error *err)
{
    txm_status status = TXM_OK;
    for (uint32_t y = 0; !status && y < plan->height; y += plan->chunk_rows) {
        txm_gpu_result *done = NULL;
        uint8_t *pixels = p->place(job);
        memset(pixels, 0x55, (size_t)plan->chunk_rows * plan->width * 4);
        if (!(status = p->submit(job, plan->chunk_rows, false, err)) && !(status = p->collect(job, true, &done, err)))
            p->release(job, done);
    }
    return status;
}

/* Twice: the first round pays for what a process pays once, the second one counts. Opening and closing are
 * charged to the size of the buffers, running to the pixels. */
txm_status txm_gpu_rates_measure(const txm_gpu_plugin *p, uint32_t device, txm_gpu_rates *out, txm_error *err)
{
    const txm_gpu_plan plan = {.width = TRIAL_W,
                               .height = TRIAL_H,
                               .tile_px = TXM_DEFAULT_TILE_PX,
                               .type = TXM_TYPE_U8,
                               .conform = {.src_channels = 4, .channels = 4},
                               .channels = 4,
                               .srgb = true,
                               .filter = true,
                               .borders = true,
                               .chunk_rows = TRIAL_CHUNK,
                               .slots = 2};
    uint64_t device_bytes, pinned_bytes;
    txm_status status = TXM_OK;
    p->memory(&plan, &device_bytes, &pinned_bytes);
    for (int round = 0; !status && round < 2; round++) {
        txm_gpu_job *job = NULL;
        double begin = txm_clock_seconds();
        if ((status = p->open(device, &plan, &job, err)))
            break;
        double opened = txm_clock_seconds();
        status = run_chunks(p, job, &plan, err);
        double ran = txm_clock_seconds();
        p->close(&job);
        double closed = txm_clock_seconds();
        out->per_buffer_byte = (opened - begin + closed - ran) / (double)pinned_bytes;
        out->per_stored_byte = (ran - opened) / ((double)TRIAL_W * TRIAL_H * 4);
    }
    return status;
}

/* Buffers cost by their size, pixels by their bytes. */
double txm_gpu_seconds(const txm_gpu_plugin *p, const txm_gpu_rates *rates, const txm_gpu_plan *plan)
{
    uint64_t device_bytes, pinned_bytes;
    double pixels = (double)plan->width * plan->height;
    p->memory(plan, &device_bytes, &pinned_bytes);
    return rates->per_buffer_byte * (double)pinned_bytes +
           rates->per_stored_byte * pixels * plan->channels * (double)txm_type_bytes(plan->type);
}
