/* SPDX-License-Identifier: Apache-2.0
 * Structs of settings and options as programs hand them over: of the version that the program was compiled with. */
#ifndef TXM_BASE_OPTIONS_H
#define TXM_BASE_OPTIONS_H
#include <stddef.h>

#include "tile/base/shared.h"
#include "txtile/settings.h"
#include "txtile/status.h"

/* Copies what was given, whose first member says how large it is, over the defaults in `own` (of own_bytes): members
 * that an older program does not know keep their defaults. NULL is all defaults. USAGE for what no txm_..._init opened,
 * and for a newer program's struct that asks for something unknown here. `name` is the type's, for messages. */
TXM_SHARED txm_status txm_options_take(void *own, size_t own_bytes, const void *given, const char *name,
                                       txm_error *err);

/* The same for settings, which are checked, too. */
TXM_SHARED txm_status txm_settings_take(txm_settings *own, const txm_settings *given, txm_error *err);
/* USAGE for an alpha type, compression or tile size that there is none of. */
TXM_SHARED txm_status txm_settings_in_bounds(const txm_settings *settings, txm_error *err);

/* What a txm_..._init_sized does: fills in the defaults in `all` (of all_bytes), as far as the program's struct of
 * struct_size bytes has room, and 0 beyond. */
TXM_SHARED void txm_options_open(void *options, size_t struct_size, const void *all, size_t all_bytes);
#endif
