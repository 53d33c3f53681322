/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing pictures through the OpenImageIO module. Reading happens in a worker process because files are not to be
 * trusted; what is written here is our own, so the module is loaded into this process.
 */
#include "source/oiio/image_write.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

#include "source/oiio/oiio_module.h"
#include "core/plugin.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const txm_oiio_module *module; /* stays loaded: OpenImageIO's threads cannot be unloaded */

static const txm_oiio_module *load(txm_error *err)
{
    char *looked_in = NULL, *path = txm_plugin_path("txmill-oiio.so", &looked_in);
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const txm_oiio_module *m = handle ? dlsym(handle, TXM_OIIO_MODULE_SYMBOL) : NULL;
    if (!path)
        txm_fail(err, TXM_UNSUPPORTED, "writing images needs txmill-oiio.so, which is not in %s; raw output does not",
                 looked_in ? looked_in : "its place");
    else if (!m)
        txm_fail(err, TXM_UNSUPPORTED, "writing images: %s", dlerror());
    else if (m->version != TXM_OIIO_MODULE_VERSION || m->error_bytes != sizeof(txm_error))
        txm_fail(err, TXM_UNSUPPORTED, "writing images: %s is of another build", path);
    else
        module = m;
    if (handle && !module)
        dlclose(handle);
    free(path);
    free(looked_in);
    return module;
}

txm_status txm_picture_write(const char *path, const txm_picture *picture, txm_error *err)
{
    txm_error inner = {0};
    pthread_mutex_lock(&lock);
    const txm_oiio_module *m = module ? module : load(&inner);
    pthread_mutex_unlock(&lock);
    txm_status status = m ? m->write(path, picture, &inner) : inner.status;
    return status == TXM_OK ? TXM_OK : txm_fail(err, status, "%s: %s", path, inner.message);
}
