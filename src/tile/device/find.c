/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds a device by its name, and the functions for lookups in its plug-in.
 */
#include <stdio.h>

#include "base/fail.h"
#include "tile/device/device_impl.h"
#include "tile/device/device_plugin.h"

txm_status txm_device_find(const char *name, txm_device_found *found, txm_error *err)
{
    int only = -1;
    uint32_t count = 0;
    txm_device_facts facts;
    const txm_device_plugin *plugin = NULL;
    const txm_device_backend_row *backend = name ? txm_device_parse(name, &only) : NULL;
    *found = (txm_device_found){0};
    if (!backend)
        return txm_fail(err, TXM_STATUS_USAGE, "'%s' is not a device: their names are like opencl:0 and cuda:1",
                        name ? name : "");
    txm_status status = txm_device_count(backend, &plugin, &count, err);
    const uint32_t index = only < 0 ? 0 : (uint32_t)only;
    /* Sizes are compared, because a plug-in of another build would misread its arguments. */
    const txm_device_lookups *l = status == TXM_OK ? plugin->lookups : NULL;
    if (status == TXM_OK &&
        !(l && l->abi == TXM_DEVICE_LOOKUPS_ABI && l->args_bytes == sizeof(txm_device_args) &&
          l->place_bytes == sizeof(txm_device_place) && l->texture_bytes == sizeof(txm_view_texture)))
        status = txm_fail(err, TXM_STATUS_DEVICE, "%s: its plug-in is from another build, or does not support lookups",
                          name);
    if (status == TXM_OK && index >= count)
        status =
            txm_fail(err, TXM_STATUS_DEVICE, "no device %s: 'txmill devices' lists the devices of this machine", name);
    if (status == TXM_OK)
        status = plugin->describe(index, &facts, err);
    if (status == TXM_OK && !facts.usable)
        status = txm_fail(err, TXM_STATUS_DEVICE, "%s: %s", name, facts.reason);
    if (status)
        return status;
    found->lookups = plugin->lookups;
    found->note = plugin->note;
    found->index = index;
    found->memory_bytes = facts.memory_bytes;
    found->piece_bytes = facts.piece_bytes;
    snprintf(found->name, sizeof found->name, "%s:%u", backend->name, index);
    snprintf(found->title, sizeof found->title, "%s", facts.name);
    return TXM_OK;
}
