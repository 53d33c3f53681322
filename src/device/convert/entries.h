/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of conversion. Each runs a body of kernels.h in every thread, with one instance for each type and number
 * of channels.
 */
#ifndef TXM_CONVERT_ENTRIES_H
#define TXM_CONVERT_ENTRIES_H
#include "device/runtime/entry.h"
#include "mill/gpu/kernels.h"
#include "mill/gpu/pack.h"

/* m0: the job's memory; m1: the tables of the curve. */
#define TXM_CURVE ((TXM_GLOBAL const txm_tables *)(TXM_GLOBAL void *)m1)

/* Threads are arranged in rows: neighbours in x touch neighbouring pixels. When rows are counted, the channels of a row
 * are adjacent, so they read the same pixels, and a block has few rows, so a chunk fills many blocks. */
#define TXM_CONVERT_ENTRIES(suffix, type, channels)                                                                    \
    TXM_ENTRY(ingest_##suffix, txm_gpu_ingest, 256)                                                                    \
    {                                                                                                                  \
        txm_gpu_ingest_body(TXM_ARGS, m0, TXM_CURVE, type, channels, TXM_ID(0), TXM_ID(1));                            \
    }                                                                                                                  \
    TXM_ENTRY(level_##suffix, txm_gpu_level, 256)                                                                      \
    {                                                                                                                  \
        txm_gpu_level_body(TXM_ARGS, m0, TXM_CURVE, type, channels, TXM_ID(0), TXM_ID(1));                             \
    }                                                                                                                  \
    TXM_ENTRY(tiles_##suffix, txm_gpu_tiles, 256)                                                                      \
    {                                                                                                                  \
        txm_gpu_tiles_body(TXM_ARGS, m0, type, channels, TXM_ID(0), TXM_ID(1), TXM_ID(2));                             \
    }                                                                                                                  \
    TXM_ENTRY(borders_##suffix, txm_gpu_borders, 256)                                                                  \
    {                                                                                                                  \
        txm_gpu_borders_body(TXM_ARGS, m0, type, channels, TXM_ID(0), TXM_ID(1), TXM_ID(2));                           \
    }                                                                                                                  \
    TXM_ENTRY(count_##suffix, txm_gpu_count, 64)                                                                       \
    {                                                                                                                  \
        txm_gpu_count_body(TXM_ARGS, m0, type, TXM_ID(0) % channels, TXM_ID(0) / channels);                            \
    }

TXM_CONVERT_ENTRIES(u8_1, TXM_TYPE_U8, 1)
TXM_CONVERT_ENTRIES(u8_4, TXM_TYPE_U8, 4)
TXM_CONVERT_ENTRIES(u16_1, TXM_TYPE_U16, 1)
TXM_CONVERT_ENTRIES(u16_4, TXM_TYPE_U16, 4)

TXM_ENTRY(pack, txm_gpu_pack, TXM_GPU_PACK_LANES)
{
    txm_gpu_pack_body(TXM_ARGS, m0, TXM_ID(0));
}
#endif
