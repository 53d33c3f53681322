/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds and loads a module. If that fails, the message says what to install: the module may have been left out of the
 * build, or its library may be missing on this machine.
 */
#include "render/module.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/base/plugin.h"

const void *txm_module_table(const txm_module *m, txm_error *err)
{
    char *looked_in = NULL, *path = txm_plugin_path(m->file, &looked_in);
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    const void *table = handle ? dlsym(handle, m->symbol) : NULL;
    if (!path && !looked_in)
        txm_no_memory(err, NULL);
    else if (!path)
        txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s, which Python wheels leave out: %s", m->lack, looked_in);
    else if (!table) {
        const char *why = dlerror();
        if (txm_loading_lacked_memory(why))
            txm_fail(err, TXM_STATUS_NO_MEMORY, "there is not enough memory to load %s: %s", m->file, why);
        else
            txm_fail(err, TXM_STATUS_UNSUPPORTED, "%s; on Debian and Ubuntu install %s: %s", m->lack, m->package, why);
    }
    free(path);
    free(looked_in);
    return table;
}
