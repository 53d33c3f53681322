/* SPDX-License-Identifier: Apache-2.0
 * The name that programs know this header by that were written when scenes were those of Blender alone. */
#include "txmill/scene.h"
