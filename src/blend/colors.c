/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of colour spaces, as the config in force knows them.
 *
 * The scene's reader knows nothing of OpenColorIO: it asks these callbacks whether a name exists under this or another
 * spelling, and whether a space is data.
 */
#include "txmill/blend.h"

static const char *canonical(void *user, const char *name)
{
    return txm_color_canonical(user, name);
}

static bool is_data(void *user, const char *name)
{
    return txm_color_is_data(user, name);
}

txm_blend_colors txm_blend_colors_of(const txm_color_config *config)
{
    return (txm_blend_colors){(void *)config, canonical, is_data};
}
