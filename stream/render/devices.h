/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices that run lookups for a render or for frames: opens the devices named in an option, for one cache.
 */
#ifndef TXM_STREAM_DEVICES_H
#define TXM_STREAM_DEVICES_H
#include "render/render.h"
#include "txtile/device.h"

enum { TXM_RENDER_DEVICES_MOST = 32 };

typedef struct txm_render_devices {
    txm_device *items[TXM_RENDER_DEVICES_MOST];
    size_t count; /* 0: lookups run on the processor */
} txm_render_devices;

/* `names` are separated by commas; NULL: none. `memory_bytes` is the memory of each device for tiles; 0: the cache's
 * budget. If this fails, devices that are open must still be closed. */
txm_status txm_render_devices_open(txm_render_devices *devices, const char *names, uint64_t memory_bytes,
                                   txm_cache *cache, txm_error *err);
/* Must be called before the cache is freed. */
void txm_render_devices_close(txm_render_devices *devices);
/* Statistics of the devices: *out has one element for each open device; free() it. */
txm_status txm_render_devices_note(const txm_render_devices *devices, txm_render_device **out, txm_error *err);
#endif
