/* SPDX-License-Identifier: Apache-2.0
 *
 * What `make` does about a limit of the disk space: it says beforehand what will go, and removes it after the run.
 *
 * The limit is that of the tx files below the folder of the project's .txmill, or else below the folders that are named
 * and those of named scenes and beside named images; and in an absolute cache folder. What the run needs stays.
 */
#ifndef TXM_TOOLS_MAKE_LIMIT_H
#define TXM_TOOLS_MAKE_LIMIT_H
#include "tools/make/make_run.h"
#include "tools/output/exits.h"
#include "tools/output/json.h"
#include "txmill/garbage.h"

typedef struct txm_make_limit {
    const txm_make_args *args; /* NULL: no limit */
    txm_used *used;
    uint64_t needed_bytes; /* files of this run that exist */
    char *roots[2];        /* owned; NULL: the operands' */
    const txm_operands *operands;
    txm_error err; /* exhausted memory, for the end of the run */
} txm_make_limit;

/* Zero-initialise. Prepares a run with args->limit; does nothing if there is none. */
txm_status txm_make_limit_begin(txm_make_limit *limit, const txm_make_args *args, const txm_operands *operands,
                                txm_error *err);
/* A file of the run was found or made. */
void txm_make_limit_add(txm_make_limit *limit, const txm_batch_file *file);
/* The plan is made: says whether `tx_bytes` more will fit, and for a dry run which files would leave. `emit` takes JSON
 * objects, NULL without --json. */
void txm_make_limit_plan(txm_make_limit *limit, uint64_t tx_bytes);
/* After the run: removes what is over the limit, or lists it where it may not. Files that stay although they should
 * leave are failures in *tally. */
txm_status txm_make_limit_keep(txm_make_limit *limit, uint64_t tx_bytes, txm_tally *tally,
                               void (*emit)(void *user, cJSON *object), void *user, txm_error *err);
void txm_make_limit_free(txm_make_limit *limit);
#endif
