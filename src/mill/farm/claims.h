/* SPDX-License-Identifier: Apache-2.0
 *
 * Claims make sure that of all processes on all hosts which want to make a tx file, one does. A claim is a file `.<tx
 * name>.txm-claim` beside the target, created with link(), which file servers execute atomically. It names its owner,
 * which renews it every few seconds by having the file server set its time.
 *
 * A claim is stale if its owner is known to be dead (on the same host), or if it has not changed for a while. That
 * period is measured by the monotonic clock of the process that waits, so that clocks are never compared; a claim's
 * time is compared only with the time that the same file server gives a new file, and only to shorten the period. A
 * host whose clock is wrong therefore neither loses its claims nor takes those of others. If a claim is lost that is
 * still needed (by a process that was stopped for a minute), work is done twice, but no wrong file appears, because
 * publishing is atomic.
 */
#ifndef TXM_FARM_CLAIMS_H
#define TXM_FARM_CLAIMS_H
#include <stdbool.h>

#include "txtile/status.h"

typedef struct txm_claims txm_claims; /* the claims of this process, and the thread that renews them */
typedef struct txm_claim txm_claim;

/* Periods in seconds. */
typedef struct txm_claim_times {
    double renew;   /* between renewals */
    double stale;   /* time without a change after which a claim is stale */
    double confirm; /* the same if it is older than `stale` by the file server's own times */
    double unnamed; /* the same for a claim without an owner, who died between creating and writing it */
} txm_claim_times;

/* 5, 60, 15 and 3 seconds. */
extern const txm_claim_times txm_claim_times_default;

/* Returns NULL, with errno, if memory is exhausted or no thread can be started. */
txm_claims *txm_claims_new(const txm_claim_times *times);
void txm_claims_free(txm_claims **claims); /* drops all claims that are held; NULL-safe */

/* Takes the claim on `target` and creates its folder if it does not exist. LOCKED: another process holds it (the
 * message says which): try again later; repeated tries also detect stale claims. IO, DENIED, DISK_FULL, NO_MEMORY.
 * Thread-safe. */
txm_status txm_claims_take(txm_claims *claims, const char *target, txm_claim **out, txm_error *err);
/* Drops a claim. NULL-safe. */
void txm_claims_drop(txm_claims *claims, txm_claim **claim);

/* The path of the claim on a target: a new string. */
char *txm_claim_path(const char *target);
#endif
