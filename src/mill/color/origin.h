/* SPDX-License-Identifier: Apache-2.0
 * Where a config comes from. */
#ifndef TXM_COLOR_ORIGIN_H
#define TXM_COLOR_ORIGIN_H
#include "mill/color/config.h"

/* --ocio, then $OCIO; NULL: the built-in config. */
const char *txm_color_origin(const txm_color_options *options);

/* Sets name, ocio, and, for a config newer than the library, version, missing and left_out. */
txm_status txm_color_load_origin(txm_color_config *config, const char *origin, txm_error *err);

/* Adds to a recorded message what to do about a config that cannot be used. `err` may be NULL. */
void txm_color_advise(txm_error *err);
#endif
