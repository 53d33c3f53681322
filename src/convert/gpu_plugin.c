/* SPDX-License-Identifier: Apache-2.0
 * Finding and loading the GPU plug-in. */
#include "convert/gpu_plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "core/fail.h"
#include "core/plugin.h"

#define PLUGIN_FILE "txmill-cuda.so"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const txm_gpu_plugin *plugin; /* stays loaded: a driver's threads cannot be unloaded */

static bool fits(const txm_gpu_plugin *p)
{
    return p->abi == TXM_GPU_ABI && p->plan_bytes == sizeof(txm_gpu_plan) && p->info_bytes == sizeof(txm_gpu_info) &&
           p->result_bytes == sizeof(txm_gpu_result) && p->error_bytes == sizeof(txm_error);
}

static void load(txm_error *err)
{
    char *looked_in = NULL, *path = txm_plugin_path(PLUGIN_FILE, &looked_in);
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const txm_gpu_plugin *p = handle ? dlsym(handle, TXM_GPU_SYMBOL) : NULL;
    if (!path)
        txm_fail(err, TXM_DEVICE, "%s", looked_in ? looked_in : "there is no " PLUGIN_FILE);
    else if (!p)
        txm_fail(err, TXM_DEVICE, "%s", dlerror());
    else if (!fits(p))
        txm_fail(err, TXM_DEVICE, "%s is of another build", path);
    else
        plugin = p;
    if (handle && !plugin)
        dlclose(handle);
    free(path);
    free(looked_in);
}

const txm_gpu_plugin *txm_gpu_plugin_load(txm_error *err)
{
    pthread_mutex_lock(&lock);
    if (!plugin)
        load(err);
    pthread_mutex_unlock(&lock);
    return plugin;
}

bool txm_gpu_plugin_exists(void)
{
    char *path = txm_plugin_path(PLUGIN_FILE, NULL);
    free(path);
    return path != NULL;
}
