/* SPDX-License-Identifier: Apache-2.0
 *
 * The table that the plug-in exports: the runtime's devices, and the functions for conversion and lookups.
 */
#include "base/fail.h"
#include "device/convert/jobs.h"
#include "device/lookup/lookups.h"
#include "device/runtime/runtime.h"

/* Returns the same status for no driver and no device; doctor and `txmill devices` show the message. */
static txm_status count(uint32_t *devices, txm_error *err)
{
    uint32_t n = 0;
    int code = txm_rt_count(&n);
    if (code)
        return txm_fail(err, TXM_STATUS_DEVICE, "no %s driver or device can be used: %s", txm_rt_title,
                        txm_rt_text(code));
    *devices = n < TXM_DEVICES_MAX ? n : TXM_DEVICES_MAX;
    return TXM_OK;
}

static txm_status describe_plugin(uint32_t device, txm_device_facts *out, txm_error *err)
{
    *out = (txm_device_facts){0};
    int code = txm_rt_describe(device, out);
    return code ? txm_fail(err, TXM_STATUS_DEVICE, "%s", txm_rt_text(code)) : TXM_OK;
}

__attribute__((visibility("default"))) const txm_device_plugin txm_device_plugin_table = {
    .abi = TXM_DEVICE_ABI,
    .facts_bytes = sizeof(txm_device_facts),
    .error_bytes = sizeof(txm_error),
    .name = txm_rt_name,
    .count = count,
    .describe = describe_plugin,
    .note = txm_rt_note,
    .jobs = &txm_gpu_jobs_table,
    .lookups = &txm_lookup_table,
};
