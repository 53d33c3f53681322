/* SPDX-License-Identifier: Apache-2.0
 * The converter's hooks that fetch files from the store of a batch and add them to it. */
#ifndef TXM_FARM_STORED_H
#define TXM_FARM_STORED_H
#include "mill/farm/batch.h"
#include "mill/farm/store.h"

/* Puts the file from the store into place; false if the store lacks it, or fails, which causes a warning. *object
 * (free()) receives the path under which the file is to be added after it was made; NULL if it is not. */
bool txm_batch_fetch(txm_batch *batch, const txm_making *making, txm_result *result, char **object);
/* Adds a file that was made. Failures cause warnings, because the conversion itself succeeded. */
void txm_batch_keep(txm_batch *batch, const txm_making *making, const char *object);
#endif
