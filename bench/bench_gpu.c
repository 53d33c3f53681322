/* SPDX-License-Identifier: Apache-2.0
 *
 * Compares each kernel's bytes and time with the bandwidth of a plain copy on the same device, for an image of 8192 x
 * 8192 RGBA of 8 and 16 bits. bench_gpu [WIDTH]
 */
#include <stdio.h>
#include <stdlib.h>

#include "mill/gpu/gpu_jobs.h"
#include "tile/device/device_plugin.h"

enum { MEASURES = 16, CHUNK_ROWS = 4096 };

static txm_status bench(const txm_gpu_jobs *jobs, uint32_t device, uint32_t width, txm_type type, txm_error *err)
{
    const txm_gpu_plan plan = {.width = width,
                               .height = 2 * CHUNK_ROWS,
                               .tile_px = TXM_DEFAULT_TILE_PX,
                               .type = type,
                               .conform = {.src_channels = 4, .channels = 4},
                               .channels = 4,
                               .curve = type == TXM_TYPE_U8 ? TXM_CURVE_SRGB : TXM_CURVE_NONE,
                               .filter = true,
                               .borders = true,
                               .rows = true,
                               .chunk_rows = CHUNK_ROWS,
                               .slots = 2,
                               .encoders = UINT32_MAX};
    txm_gpu_measure m[MEASURES];
    size_t count = MEASURES;
    double copy = 0;
    txm_status status = jobs->bench(device, &plan, m, &count, err);
    if (status)
        return status;
    printf("\n%s RGBA, %u x %d px at once\n\n| step | MB, counted | ms, model: bytes at a copy's rate | ms, measured | "
           "GB/s | "
           "model / measured |\n|---|---|---|---|---|---|\n",
           txm_type_name(type), width, CHUNK_ROWS);
    for (size_t i = 0; i < count; i++) {
        double rate = (double)m[i].bytes / m[i].seconds;
        /* Transfers come first; kernels are compared with the copy on the device. */
        if (i == 2)
            copy = rate;
        printf("| %s | %.1f | ", m[i].name, (double)m[i].bytes * 1e-6);
        if (i >= 2)
            printf("%.3f", (double)m[i].bytes / copy * 1e3);
        printf(" | %.3f | %.1f | ", m[i].seconds * 1e3, rate * 1e-9);
        if (i < 2)
            puts("|");
        else
            printf("%.0f %% |\n", 100 * rate / copy);
    }
    return TXM_OK;
}

/* Measures every usable device of a back-end. */
static txm_status bench_all(const txm_device_backend_row *backend, uint32_t width, txm_error *err)
{
    uint32_t devices = 0;
    const txm_device_plugin *plugin;
    if (txm_device_count(backend, &plugin, &devices, err)) {
        printf("skip %s (%s)\n", backend->name, err->message);
        return TXM_OK;
    }
    const txm_gpu_jobs *jobs = txm_gpu_jobs_of(plugin, err);
    txm_status status = jobs ? TXM_OK : err->status;
    for (uint32_t i = 0; i < devices && !status; i++) {
        txm_device_facts facts;
        if (plugin->describe(i, &facts, err) || !facts.usable)
            continue;
        printf("%s:%u %s\n", backend->name, i, facts.name);
        if ((status = bench(jobs, i, width, TXM_TYPE_U8, err)) == TXM_OK)
            status = bench(jobs, i, width, TXM_TYPE_U16, err);
    }
    return status;
}

int main(int argc, char **argv)
{
    uint32_t width = argc > 1 ? (uint32_t)atoi(argv[1]) : 8192;
    const txm_device_backend_row *backend;
    for (size_t i = 0; (backend = txm_device_backend_at(i)); i++) {
        txm_error err = {0};
        if (bench_all(backend, width, &err)) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
    }
    return 0;
}
