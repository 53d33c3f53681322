/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists what this machine can compute with: the vector code that the CPU runs, and the devices of each plug-in, with
 * the reason where one cannot be used.
 */
#include "txmill/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/os/machine.h"
#include "base/pool.h"
#include "mill/convert/gpu_rates.h"
#include "mill/convert/gpus.h"
#include "tile/device/device_plugin.h"
#include "tile/ops/ops.h"

void txm_cpu_describe(txm_cpu_info *out)
{
    *out = (txm_cpu_info){.cores = txm_cpu_count(), .isa = txm_ops_best()->isa};
    for (size_t i = 0; i + 1 < TXM_MAX_ISAS && (out->isas[i] = txm_ops_isa_name(i)); i++)
        ;
}

static void describe(const txm_device_plugin *plugin, uint32_t device, txm_device_info *out)
{
    txm_device_facts info = {0};
    txm_error err = {0};
    bool ok = plugin->describe(device, &info, &err) == TXM_OK;
    *out = (txm_device_info){.index = device,
                             .memory_bytes = info.memory_bytes,
                             .free_bytes = info.free_bytes,
                             .processors = info.processors,
                             .usable = ok && info.usable};
    snprintf(out->backend, sizeof out->backend, "%s", plugin->name);
    snprintf(out->label, sizeof out->label, "%s:%u", plugin->name, device);
    snprintf(out->name, sizeof out->name, "%s", info.name);
    snprintf(out->architecture, sizeof out->architecture, "%s", info.architecture);
    snprintf(out->driver, sizeof out->driver, "%s", info.driver);
    if (!out->usable)
        snprintf(out->reason, sizeof out->reason, "%.250s", ok ? info.reason : err.message);
}

const char *txm_device_backend(size_t index)
{
    const txm_device_backend_row *b = txm_device_backend_at(index);
    return b ? b->name : NULL;
}

static txm_status list(const char *only, txm_device_info **out, size_t *count, txm_error *err)
{
    txm_error none = {0};
    const txm_device_backend_row *backend;
    bool known = !only;
    txm_error_clear(err);
    *out = NULL;
    *count = 0;
    for (size_t i = 0; (backend = txm_device_backend_at(i)); i++) {
        txm_error own = {0};
        if (only && strcmp(only, backend->name))
            continue;
        known = true;
        uint32_t n = 0;
        const txm_device_plugin *plugin;
        txm_status status = txm_device_count(backend, &plugin, &n, &own);
        size_t room = *count;
        if (status == TXM_STATUS_NO_MEMORY || (!status && !TXM_GROW(*out, room, *count + n))) {
            free(*out);
            *out = NULL;
            *count = 0;
            return txm_no_memory(err, NULL);
        }
        for (uint32_t d = 0; !status && d < n; d++)
            describe(plugin, d, &(*out)[(*count)++]);
        if (status && !none.status)
            none = own;
    }
    if (!known)
        return txm_fail(err, TXM_STATUS_USAGE, "there is no back-end '%s'", only);
    return *count ? TXM_OK : txm_fail_with(err, TXM_STATUS_DEVICE, &none);
}

txm_status txm_device_list(txm_device_info **out, size_t *count, txm_error *err)
{
    txm_error_clear(err);
    return list(NULL, out, count, err);
}

txm_status txm_device_list_of(const char *backend, txm_device_info **out, size_t *count, txm_error *err)
{
    txm_error_clear(err);
    return list(backend, out, count, err);
}

txm_status txm_device_measure(const txm_device_info *device, txm_device_rate rates[TXM_DEVICE_RATES], txm_error *err)
{
    int number;
    uint32_t devices;
    const txm_device_plugin *plugin;
    txm_gpu_rates r = {0};
    txm_error_clear(err);
    memset(rates, 0, TXM_DEVICE_RATES * sizeof *rates);
    const txm_device_backend_row *backend = txm_device_parse(device->label, &number);
    if (!backend || number < 0)
        return txm_fail(err, TXM_STATUS_USAGE, "there is no device '%s'", device->label);
    txm_status status = txm_device_count(backend, &plugin, &devices, err);
    const txm_gpu_jobs *jobs = status ? NULL : txm_gpu_jobs_of(plugin, err);
    if (!jobs)
        return TXM_STATUS_DEVICE;
    if ((uint32_t)number >= devices)
        return txm_fail(err, TXM_STATUS_DEVICE, "there is no device '%s'", device->label);
    snprintf(r.label, sizeof r.label, "%.8s:%d", backend->name, number % 1000);
    snprintf(r.name, sizeof r.name, "%s", device->name);
    snprintf(r.driver, sizeof r.driver, "%s", device->driver);
    if ((status = txm_gpu_rates_measure(jobs, (uint32_t)number, 1 + txm_gpus_ahead(device->processors), txm_ops_best(),
                                        &r, err)))
        return status;
    jobs->trim((uint32_t)number);
    for (int i = 0; i < TXM_DEVICE_RATES; i++) {
        const txm_gpu_rate *rate = &r.rate[i / 2][i % 2];
        rates[i] = (txm_device_rate){.type = (txm_type)(i / 2),
                                     .channels = i % 2 ? 4 : 1,
                                     .device_ns = rate->device * 1e9,
                                     .cpu_ns = rate->cpu * 1e9,
                                     .host_ns = rate->host * 1e9};
    }
    return txm_gpu_rates_write(&r, err);
}
