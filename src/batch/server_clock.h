/* SPDX-License-Identifier: Apache-2.0
 *
 * The time of the file server: that which it gives a file made for the purpose, `.clock.<owner>-<random>.txm-clock`
 * (see core/owner.h), which is gone when the call returns. The ages of files go by this clock alone, never by that
 * of the host.
 */
#ifndef TXM_BATCH_SERVER_CLOCK_H
#define TXM_BATCH_SERVER_CLOCK_H
#include <stdbool.h>
#include <time.h>

/* The present in `folder`. False, and *now untouched, where it is unknown: no file can be made there. */
bool txm_server_clock(const char *folder, struct timespec *now);
#endif
