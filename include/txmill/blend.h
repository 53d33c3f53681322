/* SPDX-License-Identifier: Apache-2.0
 * The former name of txmill/scene.h, from when scenes were .blend files only; kept for programs that include it. */
#include "txmill/scene.h"
