/* SPDX-License-Identifier: Apache-2.0
 * The name that programs know this header by that were written before libtxtile had a folder of its own. */
#include "txtile/ray.h"
