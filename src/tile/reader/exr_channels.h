/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which the channels of an EXR part become the channels of a pixel. In the file they are sorted by name.
 */
#ifndef TXM_READER_EXR_CHANNELS_H
#define TXM_READER_EXR_CHANNELS_H
#include <stdint.h>

#include "base/shared.h"

enum { TXM_EXR_MAX_CHANNELS = 64 };

/* order[i] is the index of the name (of `count` in any order, at most TXM_EXR_MAX_CHANNELS) that becomes channel i. The
 * order is that of OpenImageIO: by layer; within a layer R G B Y A Z and their synonyms, or R G B X Y Z A if the layer
 * has an X and a Y or Z (positions, normals, vectors); unknown names last, by name. The layer is everything up to the
 * last '.'. */
TXM_SHARED void txm_exr_channel_order(const char *const names[], uint32_t count, uint32_t order[]);

#endif
