/* SPDX-License-Identifier: Apache-2.0
 * Opens the devices that run the lookups of a picture, and collects their statistics. */
#include "render/devices.h"
#include "base/base.h"

#include <stdio.h>
#include <string.h>

txm_status stm_render_devices_open(stm_render_devices *devices, const char *names, uint64_t memory_bytes,
                                   txm_cache *cache, txm_error *err)
{
    txm_device_options how;
    txm_device_options_init(&how);
    how.memory_bytes = memory_bytes;
    devices->count = 0;
    while (names && *names) {
        char one[64];
        const size_t length = strcspn(names, ",");
        if (devices->count == STM_RENDER_DEVICES_MOST)
            return stm_fail(err, TXM_STATUS_USAGE, "more than %d devices", STM_RENDER_DEVICES_MOST);
        snprintf(one, sizeof one, "%.*s", (int)(length < sizeof one ? length : sizeof one - 1), names);
        txm_error own = {0};
        if (txm_device_open(cache, one, &how, &devices->items[devices->count], &own))
            return stm_fail(err, own.status, "%s; use --device cpu", own.message);
        devices->count++;
        names += length + (names[length] == ',');
    }
    return TXM_OK;
}

void stm_render_devices_close(stm_render_devices *devices)
{
    while (devices->count)
        txm_device_close(&devices->items[--devices->count]);
}

txm_status stm_render_devices_note(const stm_render_devices *devices, stm_render_device **out, txm_error *err)
{
    *out = devices->count ? stm_calloc(devices->count, sizeof **out) : NULL;
    if (devices->count && !*out)
        return stm_no_memory(err, NULL);
    for (size_t i = 0; i < devices->count; i++) {
        stm_render_device *d = &(*out)[i];
        snprintf(d->name, sizeof d->name, "%s", txm_device_name(devices->items[i]));
        snprintf(d->title, sizeof d->title, "%s", txm_device_title(devices->items[i]));
        snprintf(d->problem, sizeof d->problem, "%s", txm_device_problem(devices->items[i]));
        txm_device_stats_of(devices->items[i], &d->stats);
    }
    return TXM_OK;
}
