/* SPDX-License-Identifier: Apache-2.0
 * From the name of a device to what its plug-in offers for look-ups. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tile/base/fail.h"
#include "tile/device/device_abi.h"
#include "tile/device/device_impl.h"

static const txm_device_plugin *txm_device_plugin_load(const char *backend, txm_error *err)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/txmill-%s.so", getenv("TXMILL_PLUGINS"), backend);
    void *h = dlopen(path, RTLD_NOW);
    const txm_device_plugin *p = h ? dlsym(h, TXM_DEVICE_SYMBOL) : NULL;
    if (!p)
        txm_fail(err, TXM_STATUS_DEVICE, "%s", dlerror());
    return p;
}

/* "BACKEND" or "BACKEND:N"; false: neither. */
static bool parse(const char *name, char backend[16], uint32_t *index)
{
    const char *colon = strchr(name, ':');
    const size_t length = colon ? (size_t)(colon - name) : strlen(name);
    *index = 0;
    if (!length || length >= 16 || (colon && !colon[1]))
        return false;
    memcpy(backend, name, length);
    backend[length] = 0;
    for (const char *c = colon ? colon + 1 : ""; *c; c++) {
        if (*c < '0' || *c > '9' || *index > 9999)
            return false;
        *index = *index * 10 + (uint32_t)(*c - '0');
    }
    return true;
}

/* A plug-in of another build would read what it is told wrongly. */
static bool fits(const txm_device_lookups *l)
{
    return l && l->abi == TXM_DEVICE_LOOKUPS_ABI && l->look_bytes == sizeof(txm_device_look) &&
           l->place_bytes == sizeof(txm_device_place) && l->texture_bytes == sizeof(txm_view_texture);
}

txm_status txm_device_find(const char *name, txm_device_found *found, txm_error *err)
{
    char backend[16];
    uint32_t index, count = 0;
    txm_device_info_raw info;
    *found = (txm_device_found){0};
    if (!name || !parse(name, backend, &index))
        return txm_fail(err, TXM_STATUS_USAGE, "'%s' names no device: they are called opencl:0, cuda:1 and the like",
                        name ? name : "");
    const txm_device_plugin *plugin = txm_device_plugin_load(backend, err);
    if (!plugin)
        return err ? err->status : TXM_STATUS_DEVICE;
    if (!fits(plugin->lookups))
        return txm_fail(err, TXM_STATUS_DEVICE, "%s: its plug-in is of another build, or knows no look-ups", backend);
    txm_status status = plugin->count(&count, err);
    if (status == TXM_OK && index >= count)
        status = txm_fail(err, TXM_STATUS_DEVICE, "there is no device %s:%u: 'txmill devices' lists those there are",
                          backend, index);
    if (status == TXM_OK)
        status = plugin->describe(index, &info, err);
    if (status == TXM_OK && !info.usable)
        status = txm_fail(err, TXM_STATUS_DEVICE, "%s:%u: %s", backend, index, info.reason);
    if (status)
        return status;
    found->lookups = plugin->lookups;
    found->index = index;
    found->memory_bytes = info.memory_bytes;
    found->piece_bytes = info.piece_bytes;
    snprintf(found->name, sizeof found->name, "%s:%u", backend, index);
    snprintf(found->title, sizeof found->title, "%s", info.name);
    return TXM_OK;
}
