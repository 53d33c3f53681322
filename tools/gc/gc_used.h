/* SPDX-License-Identifier: Apache-2.0
 * The tx files that scenes ask for. */
#ifndef TXM_TOOLS_GC_USED_H
#define TXM_TOOLS_GC_USED_H
#include "tools/gc/gc_args.h"
#include "txmill/garbage.h"

/* What the scenes of --keep-for ask for; free it with txm_used_free. Fails when one of them or a library cannot be
 * read: what it asks for is not known then. An image that is not there is no failure. */
txm_status txm_gc_find_used(const txm_gc_args *args, txm_used **used, txm_error *err);
#endif
