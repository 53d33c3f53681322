/* SPDX-License-Identifier: Apache-2.0
 * Listing what this machine can compute with. */
#include "txmill/devices.h"

#include <stdio.h>
#include <stdlib.h>

#include "convert/gpu_plugin.h"
#include "core/fail.h"
#include "core/mem.h"
#include "core/pool.h"
#include "device/ops.h"

void txm_cpu_describe(txm_cpu_info *out)
{
    *out = (txm_cpu_info){.cores = txm_cpu_count(), .isa = txm_ops_best()->isa};
    for (size_t i = 0; i + 1 < TXM_MAX_ISAS && (out->isas[i] = txm_ops_isa_name(i)); i++)
        ;
}

static void describe(const txm_gpu_plugin *plugin, uint32_t device, txm_cuda_info *out)
{
    txm_gpu_info info = {0};
    txm_error err = {0};
    bool ok = plugin->describe(device, &info, &err) == TXM_OK;
    *out = (txm_cuda_info){.index = device,
                           .memory_bytes = info.memory_bytes,
                           .free_bytes = info.free_bytes,
                           .compute_major = info.major,
                           .compute_minor = info.minor,
                           .multiprocessors = info.multiprocessors,
                           .driver_major = info.driver / 1000,
                           .driver_minor = info.driver % 1000 / 10,
                           .usable = ok && info.usable};
    snprintf(out->name, sizeof out->name, "%s", info.name);
    if (!out->usable)
        snprintf(out->reason, sizeof out->reason, "%.250s", ok ? info.reason : err.message);
}

txm_status txm_cuda_list(txm_cuda_info **out, size_t *count, txm_error *err)
{
    txm_error_clear(err);
    uint32_t n = 0;
    const txm_gpu_plugin *plugin = txm_gpu_plugin_load(err);
    if (!plugin)
        return TXM_DEVICE;
    txm_status status = plugin->count(&n, err);
    if (status)
        return status;
    if (!n)
        return txm_fail(err, TXM_DEVICE, "there is no CUDA device");
    txm_cuda_info *list = txm_calloc(n, sizeof *list);
    if (!list)
        return txm_no_memory(err, NULL);
    for (uint32_t i = 0; i < n; i++)
        describe(plugin, i, &list[i]);
    *out = list;
    *count = n;
    return TXM_OK;
}
