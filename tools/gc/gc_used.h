/* SPDX-License-Identifier: Apache-2.0 The tx files that scenes use. */
#ifndef TXM_TOOLS_GC_USED_H
#define TXM_TOOLS_GC_USED_H
#include "tools/gc/gc_args.h"
#include "txmill/garbage.h"

/* Finds what the scenes of --keep-for use; free it with txm_used_free. Fails if a scene or library cannot be read,
 * because what it uses is then unknown. A missing image is not a failure. */
txm_status txm_gc_find_used(const txm_gc_args *args, txm_used **used, txm_error *err);
#endif
