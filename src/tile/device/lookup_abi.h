/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that a plug-in provides for lookups on its devices: memory, copies and kernels. Work is queued in a
 * stream and done in that order; only `reach` waits.
 *
 * Functions return 0, or a code that `text` turns into a message. The calling thread works on the device that it used
 * last.
 */
#ifndef TXM_DEVICE_LOOKUP_ABI_H
#define TXM_DEVICE_LOOKUP_ABI_H
#include <stdbool.h>
#include <stddef.h>

#include "tile/sample/device_args.h"

enum { TXM_DEVICE_LOOKUPS_ABI = 4, TXM_DEVICE_PLACE_MEMORIES = 3 };

typedef struct txm_device_lookups {
    uint32_t abi, args_bytes, place_bytes, texture_bytes; /* version, sizes of structs: other builds are refused */
    const char *(*text)(int code);
    bool (*out_of_memory)(int code);
    int (*use)(uint32_t device);
    /* Allocate memory of the device, and memory of the machine that kernels read and write directly. */
    int (*alloc)(void **memory, size_t bytes);
    int (*alloc_host)(void **memory, size_t bytes);
    void (*free)(void *memory); /* frees both kinds; NULL-safe */
    /* Allocates pinned memory of the machine, for copies to and from the device. */
    int (*alloc_pinned)(void **memory, size_t bytes);
    void (*free_pinned)(void *memory);
    int (*stream_new)(void **stream);
    void (*stream_free)(void *stream); /* waits for queued work; NULL-safe */
    int (*follow)(void *stream, void *event);
    void (*handles)(void *stream, void *handles[3]); /* context, device, queue */
    int (*event_new)(void **event);
    void (*event_free)(void *event);
    int (*record)(void *event, void *stream);
    int (*reach)(void *event, bool wait, bool *reached);
    int (*elapsed)(void *begin, void *end, double *seconds);
    int (*upload)(void *memory, uint64_t at, const void *pinned, size_t bytes, void *stream);
    int (*download)(void *pinned, void *memory, uint64_t at, size_t bytes, void *stream);
    int (*place)(const txm_device_place *args, void *const memories[TXM_DEVICE_PLACE_MEMORIES], void *stream);
    int (*lookup)(const txm_device_args *args, void *const memories[TXM_MEMORIES], void *stream);
} txm_device_lookups;
#endif
