/* SPDX-License-Identifier: Apache-2.0
 * The versions of Blender's texture cache format. */
#include "container/blender_format.h"

#include <stddef.h>

/* In rising order; the last one is written. */
static const txm_blender_format formats[] = {
    {0, "5.2", TXM_BLENDER_SOFTWARE "0"},
};

enum { FORMATS = sizeof formats / sizeof *formats };

const txm_blender_format *txm_blender_format_now(void)
{
    return &formats[FORMATS - 1];
}

const txm_blender_format *txm_blender_format_of(unsigned version)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].version == version)
            return &formats[i];
    return NULL;
}
