/* SPDX-License-Identifier: Apache-2.0
 * A plug-in whose device is the processor: the kernels of look-ups compiled as C, run where they are put in line. So
 * the logic of devices is tested wherever there is no driver, under sanitizers, too. "cpu:0" to "cpu:3" are four of
 * them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/lookup/kernels_lookup.h"
#include "tile/device/device_abi.h"
#include "tile/device/lookup_abi.h"

enum { DEVICES = 4, NO_MEMORY = 1, LOST = 2 };

static const char *text(int code)
{
    return code == NO_MEMORY ? "no memory" : "lost";
}

static bool out_of_memory(int code)
{
    return code == NO_MEMORY;
}

static int use(uint32_t device)
{
    return device < DEVICES ? 0 : LOST;
}

/* $TXM_TEST_DEVICE_BYTES: the most that one allocation may have. */
static int alloc(void **memory, size_t bytes)
{
    const char *most = getenv("TXM_TEST_DEVICE_BYTES");
    *memory = most && bytes > strtoull(most, NULL, 10) ? NULL : malloc(bytes ? bytes : 1);
    return *memory ? 0 : NO_MEMORY;
}

static int alloc_pinned(void **memory, size_t bytes)
{
    *memory = malloc(bytes ? bytes : 1);
    return *memory ? 0 : NO_MEMORY;
}

static int stream_new(void **stream)
{
    *stream = malloc(1);
    return *stream ? 0 : NO_MEMORY;
}

static int event_new(void **event)
{
    *event = calloc(1, sizeof(double));
    return *event ? 0 : NO_MEMORY;
}

static int record(void *event, void *stream)
{
    struct timespec t;
    (void)stream;
    clock_gettime(CLOCK_MONOTONIC, &t);
    *(double *)event = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    return 0;
}

static int reach(void *event, bool wait, bool *reached)
{
    (void)event, (void)wait;
    *reached = true;
    return 0;
}

static int elapsed(void *begin, void *end, double *seconds)
{
    *seconds = *(double *)end - *(double *)begin;
    return 0;
}

static int upload(void *memory, size_t at, const void *pinned, size_t bytes, void *stream)
{
    (void)stream;
    memcpy((uint8_t *)memory + at, pinned, bytes);
    return 0;
}

static int download(void *pinned, void *memory, size_t at, size_t bytes, void *stream)
{
    (void)stream;
    memcpy(pinned, (uint8_t *)memory + at, bytes);
    return 0;
}

static int place(const txm_device_place *args, void *const m[TXM_DEVICE_PLACE_MEMORIES], void *stream)
{
    const uint32_t rows = args->runs + (args->clear_words + TXM_DEVICE_ROW - 1) / TXM_DEVICE_ROW;
    (void)stream;
    for (uint32_t y = 0; y < rows; y++)
        for (uint32_t x = 0; x < TXM_DEVICE_ROW; x++)
            txm_device_place_body(args, m[0], m[1], m[2], x, y);
    return 0;
}

static int look(const txm_device_look *args, void *const m[TXM_DEVICE_LOOK_MEMORIES], void *stream)
{
    (void)stream;
    for (uint32_t i = 0; i < args->count; i++)
        txm_device_look_body(args, m[0], m[1], m[2], m[3], m[4], m[5], i);
    return 0;
}

static const txm_device_lookups lookups = {.abi = TXM_DEVICE_LOOKUPS_ABI,
                                           .look_bytes = sizeof(txm_device_look),
                                           .place_bytes = sizeof(txm_device_place),
                                           .texture_bytes = sizeof(txm_view_texture),
                                           .text = text,
                                           .out_of_memory = out_of_memory,
                                           .use = use,
                                           .alloc = alloc,
                                           .alloc_host = alloc_pinned,
                                           .free = free,
                                           .alloc_pinned = alloc_pinned,
                                           .free_pinned = free,
                                           .stream_new = stream_new,
                                           .stream_free = free,
                                           .event_new = event_new,
                                           .event_free = free,
                                           .record = record,
                                           .reach = reach,
                                           .elapsed = elapsed,
                                           .upload = upload,
                                           .download = download,
                                           .place = place,
                                           .look = look};

static txm_status count(uint32_t *devices, txm_error *err)
{
    (void)err;
    *devices = DEVICES;
    return TXM_OK;
}

static txm_status describe(uint32_t device, txm_device_info_raw *out, txm_error *err)
{
    (void)device, (void)err;
    memset(out, 0, sizeof *out);
    strcpy(out->name, "the processor, for tests");
    out->memory_bytes = (uint64_t)1 << 30;
    out->piece_bytes = (uint64_t)1 << 29;
    out->usable = true;
    return TXM_OK;
}

__attribute__((visibility("default")))
const txm_device_plugin txm_device_plugin_table = {.abi = TXM_DEVICE_ABI,
                                                   .info_bytes = sizeof(txm_device_info_raw),
                                                   .error_bytes = sizeof(txm_error),
                                                   .name = "cpu",
                                                   .count = count,
                                                   .describe = describe,
                                                   .lookups = &lookups};
