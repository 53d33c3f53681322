/* SPDX-License-Identifier: Apache-2.0
 *
 * A server in copies of its process: what a copy may have damaged goes with it, and the next one begins with what was
 * loaded before the first.
 *
 * Elsewhere: macOS has fork, but its frameworks do not survive it, and no signal for the death of a parent. Windows has
 * no copies of processes; a new process, which loads everything again, takes their place on both.
 */
#ifndef TXM_BASE_OS_COPIES_H
#define TXM_BASE_OS_COPIES_H

/* Runs `serve` in a copy of this process, and in another one after each that ended with status `renew`; then this
 * process ends as its copy did, or with failure + errno. A copy ends with this process, and when it is asked to stop.
 */
_Noreturn void txm_serve_in_copies(void (*serve)(void), int renew, int failure);
#endif
