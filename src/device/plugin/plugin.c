/* SPDX-License-Identifier: Apache-2.0
 * The table that the plug-in exports, and what a device holds for all jobs. */
#include <pthread.h>

#include "tile/base/fail.h"

#include "device/convert/job_impl.h"

/* ---- tables of the curve ---------------------------------------------------------------------------------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *device_tables[TXM_GPU_MAX_DEVICES];

/* The host's own tables: device and host compute with the same numbers. */
static txm_status upload_tables(void *device, txm_error *err)
{
    txm_rt_stream stream = NULL;
    txm_rt_event event = NULL;
    bool reached;
    const txm_tables *tables = txm_tables_of_u8();
    txm_tables_of_u16();
    int code = txm_rt_stream_new(&stream);
    if (!code)
        code = txm_rt_event_new(&event);
    if (!code)
        code = txm_rt_upload(device, tables, sizeof(txm_tables), stream);
    if (!code)
        code = txm_rt_record(event, stream);
    if (!code)
        code = txm_rt_reach(event, true, &reached);
    txm_rt_stream_free(stream);
    txm_rt_event_free(event);
    return gpu_check(code, "tables", err);
}

/* Once per device and process. */
txm_status gpu_tables(uint32_t device, const txm_tables **out, txm_error *err)
{
    txm_status status = TXM_OK;
    void *memory = NULL;
    pthread_mutex_lock(&lock);
    if (!device_tables[device]) {
        status = gpu_check(txm_rt_alloc(&memory, sizeof(txm_tables)), "device memory", err);
        if (!status)
            status = upload_tables(memory, err);
        if (!status)
            device_tables[device] = memory;
        else
            txm_rt_free(memory);
    }
    *out = device_tables[device];
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- devices ---------------------------------------------------------------------------------------------------- */

/* No driver and no device are one answer here; doctor and `txmill devices` pass the text on. */
static txm_status count(uint32_t *devices, txm_error *err)
{
    uint32_t n = 0;
    int code = txm_rt_count(&n);
    if (code)
        return txm_fail(err, TXM_STATUS_DEVICE, "no CUDA driver or device can be used: %s", txm_rt_text(code));
    *devices = n < TXM_GPU_MAX_DEVICES ? n : TXM_GPU_MAX_DEVICES;
    return TXM_OK;
}

static txm_status describe(uint32_t device, txm_gpu_info *out, txm_error *err)
{
    *out = (txm_gpu_info){0};
    return gpu_check(txm_rt_describe(device, out), "device", err);
}

__attribute__((visibility("default"))) const txm_gpu_plugin txm_gpu_plugin_table = {
    .abi = TXM_GPU_ABI,
    .plan_bytes = sizeof(txm_gpu_plan),
    .info_bytes = sizeof(txm_gpu_info),
    .result_bytes = sizeof(txm_gpu_result),
    .error_bytes = sizeof(txm_error),
    .name = "cuda",
    .count = count,
    .describe = describe,
    .memory = gpu_memory,
    .open = gpu_open,
    .place = gpu_place,
    .submit = gpu_submit,
    .collect = gpu_collect,
    .release = gpu_release,
    .close = gpu_close,
    .trim = gpu_trim,
    .bench = gpu_bench,
};
