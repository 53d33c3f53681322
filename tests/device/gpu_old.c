/* SPDX-License-Identifier: Apache-2.0
 * The table of a device plug-in whose interface has another version number: nothing else in it may be used. */
#include "tile/device/device_abi.h"

__attribute__((visibility("default"))) const txm_device_plugin txm_device_plugin_table = {.abi = TXM_DEVICE_ABI + 1};
