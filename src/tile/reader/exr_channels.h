/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which the channels of an EXR part become the channels of a pixel. In the file they are sorted by name.
 */
#ifndef TXM_READER_EXR_CHANNELS_H
#define TXM_READER_EXR_CHANNELS_H
#include <stdint.h>

#include "tile/base/shared.h"

enum { TXM_EXR_MAX_CHANNELS = 64 };

/* order[i]: which of the `count` names (in any order, at most TXM_EXR_MAX_CHANNELS) is delivered as channel i. As
 * OpenImageIO has it: by layer; within a layer R G B Y A Z and their likes, but R G B X Y Z A where it has an X and a Y
 * or Z (positions, normals, vectors); unknown names last, by name. The layer is all up to the last '.'. */
TXM_SHARED void txm_exr_channel_order(const char *const names[], uint32_t count, uint32_t order[]);

#endif
