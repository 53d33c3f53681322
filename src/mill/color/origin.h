/* SPDX-License-Identifier: Apache-2.0
 * Finds and reads the config that the user named. */
#ifndef TXM_COLOR_ORIGIN_H
#define TXM_COLOR_ORIGIN_H
#include "mill/color/config.h"

/* The variable that names a config, as in Blender: BLENDER_OCIO if it is set, else OCIO; NULL if neither is. */
const char *txm_color_variable(void);

/* Sets name and ocio; for a config newer than the library also version, missing and left_out. *broken: Blender cannot
 * load it either, so that the reason is not this library. */
txm_status txm_color_load_origin(txm_color_config *config, const char *origin, bool *broken, txm_error *err);

/* Appends to a message what to do about a config that cannot be used. `err` may be NULL. */
void txm_color_advise(txm_error *err);
#endif
