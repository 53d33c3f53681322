/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding and loading GPU plug-ins.
 *
 * In: the name of a back-end. Out: its table, if the plug-in is there and was built from the same header. It is loaded
 * once per process and stays; failures say where it was looked for.
 */
#include "mill/gpu/gpu_plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile/base/fail.h"
#include "tile/base/plugin.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A second back-end is a second row. */
static const txm_gpu_backend backends[] = {{"cuda", "CUDA"}};

enum { BACKENDS = sizeof backends / sizeof *backends };

static const txm_gpu_plugin *plugins[BACKENDS]; /* stay loaded: a driver's threads cannot be unloaded */

const txm_gpu_backend *txm_gpu_backend_at(size_t index)
{
    return index < BACKENDS ? &backends[index] : NULL;
}

static char *find_file(const txm_gpu_backend *b, char **looked_in)
{
    char file[64];
    snprintf(file, sizeof file, "txmill-%s.so", b->name);
    return txm_plugin_path(file, looked_in);
}

/* Versions and sizes: a plug-in of another build would read structs wrongly. */
static bool fits(const txm_gpu_plugin *p, const char *backend)
{
    return p->abi == TXM_GPU_ABI && p->plan_bytes == sizeof(txm_gpu_plan) && p->info_bytes == sizeof(txm_gpu_info) &&
           p->result_bytes == sizeof(txm_gpu_result) && p->error_bytes == sizeof(txm_error) &&
           !strcmp(p->name, backend);
}

/* Never unloaded: drivers do not like it. */
static const txm_gpu_plugin *load(const txm_gpu_backend *b, txm_error *err)
{
    char *looked_in = NULL, *path = find_file(b, &looked_in);
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const txm_gpu_plugin *p = handle ? dlsym(handle, TXM_GPU_SYMBOL) : NULL;
    if (!path)
        txm_fail(err, TXM_STATUS_DEVICE, "%s", looked_in ? looked_in : "the plug-in was not found");
    else if (!p)
        txm_fail(err, TXM_STATUS_DEVICE, "%s", dlerror());
    else if (!fits(p, b->name))
        txm_fail(err, TXM_STATUS_DEVICE, "%s is of another build", path);
    bool good = p && fits(p, b->name);
    if (handle && !good)
        dlclose(handle);
    free(path);
    free(looked_in);
    return good ? p : NULL;
}

const txm_gpu_plugin *txm_gpu_plugin_load(const txm_gpu_backend *backend, txm_error *err)
{
    const txm_gpu_plugin **plugin = &plugins[backend - backends];
    pthread_mutex_lock(&lock);
    if (!*plugin)
        *plugin = load(backend, err);
    const txm_gpu_plugin *loaded = *plugin;
    pthread_mutex_unlock(&lock);
    return loaded;
}

/* Without loading anything. */
bool txm_gpu_plugin_exists(void)
{
    bool any = false;
    for (size_t i = 0; i < BACKENDS && !any; i++) {
        char *path = find_file(&backends[i], NULL);
        any = path != NULL;
        free(path);
    }
    return any;
}
