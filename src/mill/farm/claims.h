/* SPDX-License-Identifier: Apache-2.0
 *
 * Claims: of all processes on all hosts that want to make a tx file, one does.
 *
 * A claim is a file `.<tx name>.txm-claim` beside the target, put there by link(), which file servers do atomically. It
 * names its owner and is renewed (its time set by the file server) every few seconds while the owner lives. A claim is
 * stale when its owner is known to be dead (same host), or when it was seen without a change for a while. How long that
 * while is goes by the watcher's own stopwatch alone, so no two clocks are ever compared for it; only to shorten it, a
 * claim's time is compared with the time that the same file server gives a new file. A host whose clock is wrong thus
 * neither loses its claims nor takes others'.
 *
 * Losing a claim that is still needed (a process that was stopped for a minute) costs double work, never a wrong file:
 * publishing is atomic in any case.
 */
#ifndef TXM_FARM_CLAIMS_H
#define TXM_FARM_CLAIMS_H
#include <stdbool.h>

#include "txtile/status.h"

typedef struct txm_claims txm_claims; /* what this process holds, and the thread that renews it */
typedef struct txm_claim txm_claim;

/* Seconds. */
typedef struct txm_claim_times {
    double renew;   /* between renewals */
    double stale;   /* without change, after which a claim is anybody's */
    double confirm; /* the same when the file server's own times say that it is older than `stale` */
    double unnamed; /* the same for a claim that names nobody: its owner died between making and writing it */
} txm_claim_times;

/* 5, 60, 15 and 3 seconds. */
extern const txm_claim_times txm_claim_times_default;

/* NULL, with errno, when memory is exhausted or no thread can be started. */
txm_claims *txm_claims_new(const txm_claim_times *times);
void txm_claims_free(txm_claims **claims); /* drops what is held; NULL-safe */

/* Takes the claim on `target`, creating its folder if need be. LOCKED: another process holds it (the message says who):
 * try again later, this is also how stale claims are found out. IO, DENIED, DISK_FULL, NO_MEMORY. Thread-safe. */
txm_status txm_claims_take(txm_claims *claims, const char *target, txm_claim **out, txm_error *err);
/* Gives it back. NULL-safe. */
void txm_claims_drop(txm_claims *claims, txm_claim **claim);

/* Path of the claim on a target. New string. */
char *txm_claim_path(const char *target);
#endif
