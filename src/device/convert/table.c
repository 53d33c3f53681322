/* SPDX-License-Identifier: Apache-2.0
 *
 * The plug-in's table of functions for jobs, and the data that all jobs of a device share.
 */
#include <pthread.h>

#include "device/convert/job_impl.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static txm_rt_memory device_tables[TXM_DEVICES_MAX];

/* Uploads the host's own tables, so device and host compute with the same numbers. */
static txm_status upload_tables(txm_rt_memory device, txm_error *err)
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
        code = txm_rt_upload(device, 0, tables, sizeof(txm_tables), stream);
    if (!code)
        code = txm_rt_record(event, stream);
    if (!code)
        code = txm_rt_reach(event, true, &reached);
    txm_rt_stream_free(stream);
    txm_rt_event_free(event);
    return gpu_check(code, "tables", err);
}

/* Uploads them once per device and process. */
txm_status gpu_tables(uint32_t device, txm_rt_memory *out, txm_error *err)
{
    txm_status status = TXM_OK;
    txm_rt_memory memory = NULL;
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

const txm_gpu_jobs txm_gpu_jobs_table = {
    .abi = TXM_GPU_ABI,
    .plan_bytes = sizeof(txm_gpu_plan),
    .result_bytes = sizeof(txm_gpu_result),
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
