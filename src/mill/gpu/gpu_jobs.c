/* SPDX-License-Identifier: Apache-2.0
 * Checks the version and sizes of a plug-in's table of jobs, because structs of another build would be misread. */
#include "mill/gpu/gpu_jobs.h"

#include "base/fail.h"

const txm_gpu_jobs *txm_gpu_jobs_of(const txm_device_plugin *plugin, txm_error *err)
{
    const txm_gpu_jobs *j = plugin->jobs;
    if (j && j->abi == TXM_GPU_ABI && j->plan_bytes == sizeof(txm_gpu_plan) &&
        j->result_bytes == sizeof(txm_gpu_result))
        return j;
    txm_fail(err, TXM_STATUS_DEVICE, "txmill-%s.so is from another build", plugin->name);
    return NULL;
}
