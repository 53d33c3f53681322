/* SPDX-License-Identifier: Apache-2.0
 *
 * A memory barrier in all threads of this process, executed by one of them, so that the others need none.
 *
 * Elsewhere: Windows has FlushProcessWriteBuffers. macOS has nothing that promises it; txm_barrier_possible would say
 * no, and threads use barriers of their own, as on a Linux that forbids membarrier(2).
 */
#ifndef TXM_BASE_OS_BARRIER_H
#define TXM_BASE_OS_BARRIER_H
#include <stdbool.h>

/* Asks the system once; false if threads have to use barriers of their own. */
bool txm_barrier_possible(void);
/* The barrier; false if the system refuses, as in a sandbox that was entered after the question. */
bool txm_barrier_everywhere(void);
/* The nearest to a barrier without the system's: it interrupts all processors that run this process, and waits far
 * longer than any of them delays a write. */
void txm_barrier_by_force(void);
/* Lets other threads run first. */
void txm_yield(void);
#endif
