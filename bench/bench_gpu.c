/* SPDX-License-Identifier: Apache-2.0
 *
 * Each kernel's bytes and time against the bandwidth of a plain copy on the same device, for an image of 8192 x 8192
 * RGBA8 (sRGB) and half. bench_gpu [WIDTH]
 */
#include <stdio.h>
#include <stdlib.h>

#include "mill/gpu/gpu_plugin.h"

enum { MEASURES = 16, CHUNK_ROWS = 4096 };

static txm_status bench(const txm_gpu_plugin *plugin, uint32_t device, uint32_t width, txm_type type, txm_error *err)
{
    const txm_gpu_plan plan = {.width = width,
                               .height = 2 * CHUNK_ROWS,
                               .tile_px = TXM_DEFAULT_TILE_PX,
                               .type = type,
                               .conform = {.src_channels = 4, .channels = 4},
                               .channels = 4,
                               .srgb = type == TXM_TYPE_U8,
                               .filter = true,
                               .borders = true,
                               .rows = true,
                               .chunk_rows = CHUNK_ROWS,
                               .slots = 2};
    txm_gpu_measure m[MEASURES];
    size_t count = MEASURES;
    double copy = 0;
    txm_status status = plugin->bench(device, &plan, m, &count, err);
    if (status)
        return status;
    printf("\n%s RGBA, %u x %d px at once\n\n| step | MB | ms | GB/s | of a copy |\n|---|---|---|---|---|\n",
           txm_type_name(type), width, CHUNK_ROWS);
    for (size_t i = 0; i < count; i++) {
        double rate = (double)m[i].bytes / m[i].seconds;
        /* Transfers come first; the copy on the device is what kernels are measured by. */
        if (i == 2)
            copy = rate;
        printf("| %s | %.1f | %.3f | %.1f | ", m[i].name, (double)m[i].bytes * 1e-6, m[i].seconds * 1e3, rate * 1e-9);
        if (i < 2)
            puts("|");
        else
            printf("%.0f %% |\n", 100 * rate / copy);
    }
    return TXM_OK;
}

int main(int argc, char **argv)
{
    uint32_t devices = 0, width = argc > 1 ? (uint32_t)atoi(argv[1]) : 8192;
    txm_error err = {0};
    const txm_gpu_plugin *plugin = txm_gpu_plugin_load(txm_gpu_backend_at(0), &err);
    if (!plugin || plugin->count(&devices, &err) || !devices) {
        printf("skip bench-gpu (%s)\n", err.status ? err.message : "there is no CUDA device");
        return 0;
    }
    for (uint32_t i = 0; i < devices && !err.status; i++) {
        txm_gpu_info info;
        if (plugin->describe(i, &info, &err) || !info.usable)
            continue;
        printf("cuda:%u %s\n", i, info.name);
        if (bench(plugin, i, width, TXM_TYPE_U8, &err) == TXM_OK)
            bench(plugin, i, width, TXM_TYPE_HALF, &err);
    }
    if (err.status)
        fprintf(stderr, "%s\n", err.message);
    return err.status != TXM_OK;
}
