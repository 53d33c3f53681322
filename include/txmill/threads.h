/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads that many calls share. A context has some of its own.
 */
#ifndef TXMILL_THREADS_H
#define TXMILL_THREADS_H

#include "txmill/export.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct txm_pool txm_pool;

/* `threads` counts every thread that computes, the caller included, and is at least 1. NULL, with errno, when threads
 * cannot be started. */
TXM_API txm_pool *txm_pool_new(unsigned threads);
TXM_API void txm_pool_free(txm_pool *pool); /* nothing may use it any more; NULL-safe */

#ifdef __cplusplus
}
#endif
#endif
