/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that load the tiles of a batch beside those that trace. They have a low priority, and an allowance of
 * processor time for each frame: when it is used up, they rest until the next frame, so that frames do not slow down
 * while tiles are loaded. A loaded part may take longer than what is left; the next allowance is then shorter.
 */
#ifndef STM_STREAM_FRAME_LOADER_H
#define STM_STREAM_FRAME_LOADER_H
#include "txtile/cache.h"

typedef struct stm_loader stm_loader;

/* For a cache whose option `threads` is 1. NULL, with errno, if no thread can be started. */
stm_loader *stm_loader_new(unsigned threads);
/* Must have no batch. NULL-safe; sets *loader to NULL. */
void stm_loader_free(stm_loader **loader);

/* Begins to load a batch, which the caller leaves alone until it has taken it back. */
void stm_loader_give(stm_loader *loader, txm_ticket *ticket);
/* Whether all tiles of the batch have been loaded. */
bool stm_loader_is_done(stm_loader *loader);
/* Takes the batch back, complete or not; waits for the tiles that threads are reading. */
void stm_loader_take_back(stm_loader *loader);
/* Begins a frame with this allowance. */
void stm_loader_allow(stm_loader *loader, double seconds);
#endif
