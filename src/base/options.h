/* SPDX-License-Identifier: Apache-2.0
 * Structs of options as programs pass them, in the version with which the program was compiled. */
#ifndef TXM_BASE_OPTIONS_H
#define TXM_BASE_OPTIONS_H
#include <stddef.h>

#include "txtile/status.h"

/* Copies `given`, whose first member is its size, over the defaults in `own` (of own_bytes): members that an older
 * program does not have keep their defaults. NULL means all defaults. USAGE for a struct that was not initialised, and
 * for a newer program's struct that sets members unknown here. `name` is that of the type, for messages. */
txm_status txm_options_take(void *own, size_t own_bytes, const void *given, const char *name, txm_error *err);

/* Implements txm_..._init_sized: copies the defaults from `all` (of all_bytes) as far as the program's struct of
 * struct_size bytes has room, and zeroes the rest. */
void txm_options_open(void *options, size_t struct_size, const void *all, size_t all_bytes);
#endif
