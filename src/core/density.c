/* SPDX-License-Identifier: Apache-2.0 */
#include "core/density.h"

#include <stddef.h>

void txm_density_drop_nonsense(txm_density *density)
{
    float *numbers[] = {&density->aspect, &density->x, &density->y};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(*numbers[i] > 0 && *numbers[i] < 0x1p32f)) /* NaN as well */
            *numbers[i] = 0;
}
