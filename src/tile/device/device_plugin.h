/* SPDX-License-Identifier: Apache-2.0
 * The device plug-ins of this process: one per back-end, all behind the table of device_abi.h. */
#ifndef TXM_DEVICE_DEVICE_PLUGIN_H
#define TXM_DEVICE_DEVICE_PLUGIN_H
#include <stddef.h>

#include "tile/base/shared.h"
#include "tile/device/device_abi.h"

/* A back-end is the plug-in txmill-NAME.so. */
typedef struct txm_device_backend_row {
    const char *name;  /* in the names of devices and files: "cuda" */
    const char *title; /* for people: "CUDA" */
} txm_device_backend_row;

/* The back-ends that this build knows, in the order in which they are tried; NULL beyond the last. */
TXM_SHARED const txm_device_backend_row *txm_device_backend_at(size_t index);

/* "BACKEND" (*only is -1) or "BACKEND:N"; NULL if it is neither. */
TXM_SHARED const txm_device_backend_row *txm_device_parse(const char *word, int *only);

/* Loads the plug-in of a back-end on first use; it stays loaded. NULL with DEVICE when there is none or it is of
 * another build. */
const txm_device_plugin *txm_device_plugin_load(const txm_device_backend_row *backend, txm_error *err);

/* How many devices a plug-in finds: DEVICE, with the reason, also where that is none. */
TXM_SHARED txm_status txm_device_count(const txm_device_backend_row *backend, const txm_device_plugin **plugin,
                                       uint32_t *count, txm_error *err);
#endif
