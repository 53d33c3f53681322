/* SPDX-License-Identifier: Apache-2.0
 * Decides whether a file that is named like a tx file is garbage. */
#ifndef TXM_FARM_GARBAGE_JUDGE_H
#define TXM_FARM_GARBAGE_JUDGE_H
#include <sys/stat.h>

#include "txmill/garbage.h"

typedef struct txm_garbage_verdict {
    bool garbage;
    txm_garbage why; /* valid if it is garbage */
    txm_kept kept;   /* valid if it is not */
    char *image;     /* path of its image, present or gone, if known; owned */
} txm_garbage_verdict;

/* `st` is the file's. Its age is not considered. Fails if the file or its image cannot be examined (IO, DENIED), and
 * with NO_MEMORY; *out is then empty. */
txm_status txm_garbage_judge(const char *tx_path, const struct stat *st, const txm_garbage_options *options,
                             txm_garbage_verdict *out, txm_error *err);
#endif
