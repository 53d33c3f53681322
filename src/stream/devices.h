/* SPDX-License-Identifier: Apache-2.0
 *
 * The devices that look up for a render or for frames: from the option's names to open devices of one cache. */
#ifndef TXM_STREAM_DEVICES_H
#define TXM_STREAM_DEVICES_H
#include "stream/render.h"
#include "txtile/device.h"

enum { TXM_RENDER_DEVICES_MOST = 32 };

typedef struct txm_render_devices {
    txm_device *items[TXM_RENDER_DEVICES_MOST];
    size_t count; /* 0: the processor looks up */
} txm_render_devices;

/* Names separated by commas; NULL: none. `memory_bytes`: of each, for tiles; 0: the cache's budget. Where it fails,
 * those that are open are to be closed. */
txm_status txm_render_devices_open(txm_render_devices *devices, const char *names, uint64_t memory_bytes,
                                   txm_cache *cache, txm_error *err);
/* Before the cache is freed. */
void txm_render_devices_close(txm_render_devices *devices);
/* What they did: *out has as many as are open; free() it. */
txm_status txm_render_devices_note(const txm_render_devices *devices, txm_render_device **out, txm_error *err);
#endif
