/* SPDX-License-Identifier: Apache-2.0
 * Requests to stop. */
#ifndef TXM_BASE_CANCEL_H
#define TXM_BASE_CANCEL_H
#include <stdbool.h>

/* Whether the flag, which another thread or a signal handler sets, requests a stop. `flag` may be NULL. */
static inline bool txm_is_cancelled(const volatile int *flag)
{
    return flag && __atomic_load_n(flag, __ATOMIC_ACQUIRE);
}
#endif
