/* SPDX-License-Identifier: Apache-2.0
 * Checks the outputs of `txmill make` that the user named: -o and the outputs of a list. */
#ifndef TXM_TOOLS_MAKE_GUARD_H
#define TXM_TOOLS_MAKE_GUARD_H
#include "tools/make/make_run.h"

/* Does the same as txm_guard_output, for -o. An output in a list fails only its own entry. USAGE, NO_MEMORY. */
txm_status txm_make_guard(const txm_make_args *args, txm_inputs *inputs, txm_error *err);
#endif
