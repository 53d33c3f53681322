/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices that run lookups for a render or for frames: opens the devices named in an option, for one cache.
 */
#ifndef STM_STREAM_DEVICES_H
#define STM_STREAM_DEVICES_H
#include "render/render.h"
#include "txtile/device.h"

enum { STM_RENDER_DEVICES_MOST = 32 };

typedef struct stm_render_devices {
    txm_device *items[STM_RENDER_DEVICES_MOST];
    size_t count; /* 0: lookups run on the processor */
} stm_render_devices;

/* `names` are separated by commas; NULL: none. `memory_bytes` is the memory of each device for tiles; 0: the cache's
 * budget. If this fails, devices that are open must still be closed. */
txm_status stm_render_devices_open(stm_render_devices *devices, const char *names, uint64_t memory_bytes,
                                   txm_cache *cache, txm_error *err);
/* Must be called before the cache is freed. */
void stm_render_devices_close(stm_render_devices *devices);
/* Statistics of the devices: *out has one element for each open device; free() it. */
txm_status stm_render_devices_note(const stm_render_devices *devices, stm_render_device **out, txm_error *err);
#endif
