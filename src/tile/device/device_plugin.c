/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding and loading device plug-ins.
 *
 * The name of a back-end gives the table of its plug-in, if the plug-in exists and was built from the same header. It
 * is loaded once per process and never unloaded. Errors name the places that were searched.
 */
#include "tile/device/device_plugin.h"

#include <ctype.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/os/library.h"
#include "base/os/plugin.h"
#include "tile/terms/backends.h"

#define ROW(name, title) {name, title},
static const txm_device_backend_row backends[] = {TXM_BACKENDS(ROW)};

enum { BACKENDS = sizeof backends / sizeof *backends };

/* Never unloaded, because a driver's threads cannot be. Two threads that load the same one get the same table, so no
 * lock is needed, which the child of a fork() could find taken for ever. */
static _Atomic(const txm_device_plugin *) plugins[BACKENDS];

const txm_device_backend_row *txm_device_backend_at(size_t index)
{
    return index < BACKENDS ? &backends[index] : NULL;
}

static char *find_file(const txm_device_backend_row *b, char **looked_in)
{
    char file[64];
    snprintf(file, sizeof file, "txmill-%s.so", b->name);
    return txm_plugin_path(file, looked_in);
}

/* Compares versions and sizes, because structs of a plug-in from another build would be misread. */
static bool plugin_fits(const txm_device_plugin *p, const char *backend)
{
    return p->abi == TXM_DEVICE_ABI && p->facts_bytes == sizeof(txm_device_facts) &&
           p->error_bytes == sizeof(txm_error) && !strcmp(p->name, backend);
}

/* Loads a plug-in for good: drivers do not survive being unloaded. */
static const txm_device_plugin *load_device_plugin(const txm_device_backend_row *b, txm_error *err)
{
    char *looked_in = NULL, *path = find_file(b, &looked_in);
    const char *why = "";
    void *handle = path ? txm_library_open(path, &why) : NULL;
    const txm_device_plugin *p = handle ? txm_library_find(handle, TXM_DEVICE_SYMBOL, &why) : NULL;
    if (!path)
        txm_fail(err, TXM_STATUS_DEVICE, "%s", looked_in ? looked_in : "the plug-in was not found");
    else if (!p)
        txm_fail(err, TXM_STATUS_DEVICE, "%s", why);
    else if (!plugin_fits(p, b->name))
        txm_fail(err, TXM_STATUS_DEVICE, "%s is from another build", path);
    bool good = p && plugin_fits(p, b->name);
    if (handle && !good)
        txm_library_refuse(handle);
    free(path);
    free(looked_in);
    return good ? p : NULL;
}

const txm_device_plugin *txm_device_plugin_load(const txm_device_backend_row *backend, txm_error *err)
{
    const txm_device_plugin *loaded = atomic_load(&plugins[backend - backends]);
    if (!loaded && (loaded = load_device_plugin(backend, err)))
        atomic_store(&plugins[backend - backends], loaded);
    return loaded;
}

txm_status txm_device_count(const txm_device_backend_row *backend, const txm_device_plugin **plugin, uint32_t *count,
                            txm_error *err)
{
    *count = 0;
    if (!(*plugin = txm_device_plugin_load(backend, err)))
        return TXM_STATUS_DEVICE;
    txm_status status = (*plugin)->count(count, err);
    if (!status && !*count)
        status = txm_fail(err, TXM_STATUS_DEVICE, "there is no %s device", backend->title);
    return status;
}

const txm_device_backend_row *txm_device_parse(const char *word, int *only)
{
    const txm_device_backend_row *backend;
    size_t n = strcspn(word, ":"), i = 0;
    *only = -1;
    while ((backend = txm_device_backend_at(i++)) && (strncmp(backend->name, word, n) || backend->name[n]))
        ;
    if (!backend || !word[n])
        return backend;
    if (!isdigit((unsigned char)word[n + 1]))
        return NULL;
    char *end;
    unsigned long number = strtoul(word + n + 1, &end, 10);
    if (*end || number > INT_MAX)
        return NULL;
    *only = (int)number;
    return backend;
}
