/* SPDX-License-Identifier: Apache-2.0
 *
 * The table that a device plug-in (txmill-cuda.so, txmill-opencl.so) exports, under one name.
 *
 * The table lists the devices. Their functions are in two more tables, each with a version of its own, which are
 * defined beside the code that uses them: conversion (mill/gpu/gpu_abi.h) and lookups (lookup_abi.h). A plug-in never
 * prints.
 */
#ifndef TXM_DEVICE_DEVICE_ABI_H
#define TXM_DEVICE_DEVICE_ABI_H
#include <stdbool.h>
#include <stdint.h>

#include "txtile/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* This number is raised whenever something below changes: a plug-in from another build is then refused instead of
 * misread. */
enum { TXM_DEVICE_ABI = 4, TXM_DEVICES_MAX = 32 };
#define TXM_DEVICE_SYMBOL "txm_device_plugin_table"

typedef struct txm_device_facts {
    char name[256];
    uint64_t memory_bytes, free_bytes;
    uint64_t piece_bytes;  /* the largest allocation */
    uint32_t processors;   /* multiprocessors or compute units */
    char architecture[32]; /* "9.0" (compute capability), "3.0" (OpenCL) */
    char driver[32];       /* the driver's version: "13.0" (CUDA), "3.1+debian" */
    bool usable;
    char reason[200]; /* why the device cannot be used */
} txm_device_facts;

struct txm_gpu_jobs;
struct txm_device_lookups;

typedef struct txm_device_plugin {
    uint32_t abi;
    uint32_t facts_bytes, error_bytes; /* sizeof the structures that the plug-in was built with */
    const char *name;                  /* "cuda" */

    /* DEVICE, with the reason, if there is no driver or no device. */
    txm_status (*count)(uint32_t *devices, txm_error *err);
    txm_status (*describe)(uint32_t device, txm_device_facts *out, txm_error *err);

    /* Returns a problem that did not stop any work, as one line that stays valid; NULL: none. */
    const char *(*note)(void);

    const struct txm_gpu_jobs *jobs;
    const struct txm_device_lookups *lookups; /* NULL: none */
} txm_device_plugin;

#ifdef __cplusplus
}
#endif
#endif
