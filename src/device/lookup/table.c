/* SPDX-License-Identifier: Apache-2.0
 *
 * The plug-in's table of functions for lookups: the runtime's own calls, and the kernels.
 */
#include "device/lookup/lookups.h"
#include "device/lookup/program.h"

static int launch(uint32_t kernel, uint64_t rows, void *const *memories, uint32_t count, const void *args, size_t bytes,
                  void *stream)
{
    const uint32_t threads[3] = {(uint32_t)(rows * TXM_DEVICE_ROW), 1, 1};
    return rows ? txm_rt_launch(&txm_lookup_program, kernel, threads, memories, count, args, bytes, stream) : 0;
}

static int place(const txm_device_place *args, void *const memories[TXM_DEVICE_PLACE_MEMORIES], void *stream)
{
    const uint64_t rows = args->runs + (args->clear_words + TXM_DEVICE_ROW - 1ull) / TXM_DEVICE_ROW;
    return launch(TXM_LOOKUP_PLACE, rows, memories, TXM_DEVICE_PLACE_MEMORIES, args, sizeof *args, stream);
}

static int lookup(const txm_device_args *args, void *const memories[TXM_MEMORIES], void *stream)
{
    const uint64_t rows = (args->count + TXM_DEVICE_ROW - 1ull) / TXM_DEVICE_ROW;
    const uint32_t count = TXM_MEMORIES;
    int code = args->sorted ? launch(TXM_LOOKUP_BIN, rows, memories, count, args, sizeof *args, stream) : 0;
    for (uint32_t bin = 1; !code && bin < TXM_BINS; bin++)
        if (args->bins >> bin & 1)
            code = launch(TXM_LOOKUP_QUICK + bin - 1, rows, memories, count, args, sizeof *args, stream);
    if (!code && args->kinds)
        code = launch(TXM_LOOKUP_SEVERAL, rows, memories, count, args, sizeof *args, stream);
    return code ? code : launch(TXM_LOOKUP_LOOK, rows, memories, count, args, sizeof *args, stream);
}

const txm_device_lookups txm_lookup_table = {.abi = TXM_DEVICE_LOOKUPS_ABI,
                                             .args_bytes = sizeof(txm_device_args),
                                             .place_bytes = sizeof(txm_device_place),
                                             .texture_bytes = sizeof(txm_view_texture),
                                             .text = txm_rt_text,
                                             .out_of_memory = txm_rt_out_of_memory,
                                             .use = txm_rt_use,
                                             .alloc = txm_rt_alloc,
                                             .alloc_host = txm_rt_alloc_host,
                                             .free = txm_rt_free,
                                             .alloc_pinned = txm_rt_alloc_pinned,
                                             .free_pinned = txm_rt_free_pinned,
                                             .stream_new = txm_rt_stream_new,
                                             .stream_free = txm_rt_stream_free,
                                             .follow = txm_rt_follow,
                                             .handles = txm_rt_handles,
                                             .event_new = txm_rt_event_new,
                                             .event_free = txm_rt_event_free,
                                             .record = txm_rt_record,
                                             .reach = txm_rt_reach,
                                             .elapsed = txm_rt_elapsed,
                                             .upload = txm_rt_upload,
                                             .download = txm_rt_download,
                                             .place = place,
                                             .lookup = lookup};
