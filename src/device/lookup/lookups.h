/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions for lookups that the plug-in exports.
 */
#ifndef TXM_LOOKUP_LOOKUPS_H
#define TXM_LOOKUP_LOOKUPS_H
#include "tile/device/lookup_abi.h"

extern const txm_device_lookups txm_lookup_table;
#endif
