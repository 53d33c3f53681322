/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of lookups. Each runs a body of kernels_lookup.h in every thread, in blocks of TXM_DEVICE_ROW threads.
 */
#ifndef TXM_LOOKUP_ENTRIES_H
#define TXM_LOOKUP_ENTRIES_H
#include "device/lookup/kernels_lookup.h"
#include "device/runtime/entry.h"

#define TXM_LOOKUP_MEMORIES const txm_device_memories m = {m0, m1, m2, m3, m4, m5, m6, m7}

TXM_ENTRY(lookup, txm_device_args, 64)
{
    TXM_LOOKUP_MEMORIES;
    txm_device_lookup_body(TXM_ARGS, &m, 0, TXM_ID(0));
}

TXM_ENTRY(several, txm_device_args, 64)
{
    TXM_LOOKUP_MEMORIES;
    txm_device_lookup_body(TXM_ARGS, &m, 1, TXM_ID(0));
}

TXM_ENTRY(bin, txm_device_args, 64)
{
    TXM_LOOKUP_MEMORIES;
    txm_device_bin_body(TXM_ARGS, &m, TXM_ID(0));
}

#define TXM_QUICK_ENTRY(name, bin, linear, type)                                                                       \
    TXM_DENSE_ENTRY(name, txm_device_args, 64, 16)                                                                     \
    {                                                                                                                  \
        TXM_LOOKUP_MEMORIES;                                                                                           \
        txm_device_quick_body(TXM_ARGS, &m, (bin) + (type), linear, type, TXM_ID(0));                                  \
    }
TXM_QUICK_ENTRY(linear_u8, TXM_BIN_LINEAR, 1, TXM_TYPE_U8)
TXM_QUICK_ENTRY(linear_u16, TXM_BIN_LINEAR, 1, TXM_TYPE_U16)
TXM_QUICK_ENTRY(linear_half, TXM_BIN_LINEAR, 1, TXM_TYPE_HALF)
TXM_QUICK_ENTRY(linear_float, TXM_BIN_LINEAR, 1, TXM_TYPE_FLOAT)
TXM_QUICK_ENTRY(pixel_u8, TXM_BIN_PIXEL, 0, TXM_TYPE_U8)
TXM_QUICK_ENTRY(pixel_u16, TXM_BIN_PIXEL, 0, TXM_TYPE_U16)
TXM_QUICK_ENTRY(pixel_half, TXM_BIN_PIXEL, 0, TXM_TYPE_HALF)
TXM_QUICK_ENTRY(pixel_float, TXM_BIN_PIXEL, 0, TXM_TYPE_FLOAT)

TXM_ENTRY(place, txm_device_place, 64)
{
    txm_device_place_body(TXM_ARGS, m0, m1, m2, TXM_ID(0) % TXM_DEVICE_ROW, TXM_ID(0) / TXM_DEVICE_ROW);
}
#endif
