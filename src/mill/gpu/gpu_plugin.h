/* SPDX-License-Identifier: Apache-2.0
 * The GPU plug-ins of this process: one per back-end, all behind the table of gpu_abi.h. */
#ifndef TXM_GPU_GPU_PLUGIN_H
#define TXM_GPU_GPU_PLUGIN_H
#include "mill/gpu/gpu_abi.h"

/* A back-end is the plug-in txmill-NAME.so. */
typedef struct txm_gpu_backend {
    const char *name;  /* in the names of devices and files: "cuda" */
    const char *title; /* for people: "CUDA" */
} txm_gpu_backend;

/* The back-ends that this build knows, in the order in which they are tried; NULL beyond the last. */
const txm_gpu_backend *txm_gpu_backend_at(size_t index);

/* Loads the plug-in of a back-end on first use; it stays loaded. NULL with DEVICE when there is none or it is of
 * another build. */
const txm_gpu_plugin *txm_gpu_plugin_load(const txm_gpu_backend *backend, txm_error *err);

/* Whether there is a file to load for any back-end; cheap. */
bool txm_gpu_plugin_exists(void);
#endif
