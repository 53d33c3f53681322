/* SPDX-License-Identifier: Apache-2.0
 * What is to be thought of one file that is named like a tx file. */
#ifndef TXM_FARM_GARBAGE_JUDGE_H
#define TXM_FARM_GARBAGE_JUDGE_H
#include <sys/stat.h>

#include "txmill/garbage.h"

typedef struct txm_garbage_verdict {
    bool garbage;
    txm_garbage why; /* if it is garbage */
    txm_kept kept;   /* if it is not */
    char *image;     /* where its image is or was, as far as it is known; owned */
} txm_garbage_verdict;

/* `st` is the file's. The age is not looked at. Fails where the file or its image cannot be examined (IO, DENIED), and
 * with NO_MEMORY; *out holds nothing then. */
txm_status txm_garbage_judge(const char *tx_path, const struct stat *st, const txm_garbage_options *options,
                             txm_garbage_verdict *out, txm_error *err);
#endif
