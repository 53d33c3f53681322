/* SPDX-License-Identifier: Apache-2.0
 * A batch and its store: the converter's hooks that fetch and keep. */
#ifndef TXM_FARM_STORED_H
#define TXM_FARM_STORED_H
#include "mill/farm/batch.h"
#include "mill/farm/store.h"

/* Puts what the store has into place; false when it has nothing, or it failed, which is warned of. *object (free())
 * receives where the file is to be kept once it was made, NULL when it is not. */
bool txm_batch_fetch(txm_batch *batch, const txm_making *making, txm_result *result, char **object);
/* Keeps what was made. Failures are warned of: the conversion itself succeeded. */
void txm_batch_keep(txm_batch *batch, const txm_making *making, const char *object);
#endif
