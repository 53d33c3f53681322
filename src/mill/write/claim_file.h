/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a claim: who holds it; and the clock by which its age counts.
 *
 * Claims keep two hosts from making the same tx file (claims.h says how they are used). A claim is one small file that
 * names its owner and carries a random number; here it is made, read, removed and broken. It appears by link(), which
 * file servers do atomically, so that of all who try one succeeds and nobody reads half a claim; and before one is
 * removed it is read again, since hosts may race at any point.
 *
 * Ages cannot be told by the host's own clock, since clocks of a farm disagree by minutes. The server stamps
 * every file that it makes, so a file made now tells its time.
 */
#ifndef TXM_FARM_CLAIM_FILE_H
#define TXM_FARM_CLAIM_FILE_H
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "tile/base/owner.h"

/* The content of a claim file. */
typedef struct txm_claim_note {
    bool named; /* it names its owner; an empty one is just being written, or was left so */
    txm_owner owner;
    uint64_t nonce; /* tells this claim from all others */
    struct stat st;
} txm_claim_note;

/* Makes the file, which appears complete. *fd receives the open descriptor. 0 or an errno: EEXIST when it is there
 * already. No file remains after a failure. */
int txm_claim_file_make(const char *path, int *fd);
/* Removes a claim of this process's, whose descriptor is `fd`, unless another took it over. Whether it is gone. */
bool txm_claim_file_remove(const char *path, int fd);
/* 0 or an errno. A file with other content counts as a claim without an owner. */
int txm_claim_file_read(const char *path, txm_claim_note *out);
/* Removes the claim that `note` was read from, and no other that took its place in the meantime: of those who want to,
 * one can. Whether it is gone by this call. */
bool txm_claim_file_break(const char *path, const txm_claim_note *note);
/* Breaks what is at `path`, a claim or the right to break one, if its owner is known to be dead. Whether it did. */
bool txm_claim_file_sweep(const char *path);

/* The time of the file server of `folder`: that which it gives a file made for the purpose,
 * `.clock.<owner>-<random>.txm-clock` (tile/base/owner.h), which is gone when the call returns. Ages of files go by
 * this clock, never by the host's. False, and *now untouched, where no file can be made there. */
bool txm_server_clock(const char *folder, struct timespec *now);
#endif
