/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of lookups. Each runs a body of kernels_lookup.h in every thread, in blocks of TXM_DEVICE_ROW threads.
 */
#ifndef TXM_LOOKUP_ENTRIES_H
#define TXM_LOOKUP_ENTRIES_H
#include "device/lookup/kernels_lookup.h"
#include "device/runtime/entry.h"

TXM_ENTRY(lookup, txm_device_lookup, 64)
{
    txm_device_lookup_body(TXM_ARGS, m0, m1, m2, m3, m4, m5, TXM_ID(0));
}

TXM_ENTRY(place, txm_device_place, 64)
{
    txm_device_place_body(TXM_ARGS, m0, m1, m2, TXM_ID(0) % TXM_DEVICE_ROW, TXM_ID(0) / TXM_DEVICE_ROW);
}
#endif
