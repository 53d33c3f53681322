/* SPDX-License-Identifier: Apache-2.0
 * The device plug-ins of this process: one per back-end, all with the table of device_abi.h. */
#ifndef TXM_DEVICE_DEVICE_PLUGIN_H
#define TXM_DEVICE_DEVICE_PLUGIN_H
#include <stddef.h>

#include "base/shared.h"
#include "tile/device/device_abi.h"

/* A back-end, which is the plug-in txmill-NAME.so. */
typedef struct txm_device_backend_row {
    const char *name;  /* name in labels of devices and in files: "cuda" */
    const char *title; /* name that users read: "CUDA" */
} txm_device_backend_row;

/* The back-ends of this build, in the order in which they are tried; NULL beyond the last. */
TXM_SHARED const txm_device_backend_row *txm_device_backend_at(size_t index);

/* Parses "BACKEND" (*only is -1) or "BACKEND:N"; NULL if `word` is neither. */
TXM_SHARED const txm_device_backend_row *txm_device_parse(const char *word, int *only);

/* Loads the plug-in of a back-end on first use; it stays loaded. NULL, with DEVICE, if there is none or it is from
 * another build. */
const txm_device_plugin *txm_device_plugin_load(const txm_device_backend_row *backend, txm_error *err);

/* The number of devices that a plug-in finds; DEVICE, with the reason, if there are none. */
TXM_SHARED txm_status txm_device_count(const txm_device_backend_row *backend, const txm_device_plugin **plugin,
                                       uint32_t *count, txm_error *err);
#endif
