/* SPDX-License-Identifier: Apache-2.0
 * The former name of txtile/pixel.h, from before libtxtile had its own folder; kept for programs that include it. */
#include "txtile/pixel.h"
