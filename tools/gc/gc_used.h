/* SPDX-License-Identifier: Apache-2.0
 * The tx files that scenes ask for. */
#ifndef TXM_TOOLS_GC_USED_H
#define TXM_TOOLS_GC_USED_H
#include "batch/names.h"
#include "tools/gc/gc_args.h"

/* Zero-initialise; free both with txm_names_free. */
typedef struct txm_gc_used {
    txm_names files;  /* txm_file_id of tx files that are there */
    txm_names packed; /* names of images that are inside the scenes: where they were unpacked to is not known */
} txm_gc_used;

/* What the scenes of --keep-for ask for. Fails when one of them or a library cannot be read: what it asks for is not
 * known then. An image that is not there is no failure. */
txm_status txm_gc_find_used(const txm_gc_args *args, txm_gc_used *used, txm_error *err);
#endif
