/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of a claim, and the clock that its age is measured by.
 *
 * Claims keep two hosts from making the same tx file (claims.h describes their use). A claim is a small file with its
 * owner's name and a random number; these functions create, read, remove and break it. It is created by link(), which
 * is atomic on file servers, so that exactly one of several attempts succeeds and no process reads half a claim. Before
 * a claim is removed it is read again, since hosts may race at any point.
 *
 * The host's clock cannot measure ages, because the clocks of a farm differ by minutes. The server stamps every file
 * that it creates, so creating a file yields the server's time.
 */
#ifndef TXM_FARM_CLAIM_FILE_H
#define TXM_FARM_CLAIM_FILE_H
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

#include "base/os/owner.h"

typedef struct txm_claim_note {
    bool named; /* the note has an owner; false for a claim that is just being written, or was left empty */
    txm_owner owner;
    uint64_t nonce; /* distinguishes this claim from all others */
    struct stat st;
} txm_claim_note;

/* Creates the file, which appears complete. *fd receives the open descriptor. Returns 0 or an errno; EEXIST if the file
 * exists already. No file is left after a failure. */
int txm_claim_file_make(const char *path, int *fd);
/* Removes a claim of this process, whose descriptor is `fd`, unless another process took it over. Returns whether this
 * process's claim is gone. */
bool txm_claim_file_remove(const char *path, int fd);
/* A claim that is held, for handlers of signals; it must not change while it is listed. */
typedef struct txm_held_claim {
    char *path;
    int fd;
} txm_held_claim;
/* Lists a claim. Returns its place in the list; -1: the list is full, and the sweepers take care of it. */
int txm_claim_file_list(const txm_held_claim *claim);
/* Removes it from the list. false: a handler may still read it, so that it must not be freed; the process ends. */
bool txm_claim_file_unlist(int place);
/* Removes the files of all claims in the list. Async-signal-safe. */
void txm_claim_file_remove_all(void);

/* Returns 0 or an errno. A file with other content counts as a claim without an owner. */
int txm_claim_file_read(const char *path, txm_claim_note *out);
/* Removes the claim that `note` was read from, but not one that took its place in the meantime. If several processes
 * try, only one succeeds. Returns whether this call removed it. */
bool txm_claim_file_break(const char *path, const txm_claim_note *note);
/* Breaks the claim, or the right to break one, at `path` if its owner is known to be dead. Returns whether it did. */
bool txm_claim_file_sweep(const char *path);

/* The time of the file server of `folder`, from the timestamp of a file created for the purpose,
 * `.clock.<owner>-<random>.txm-clock` (base/os/owner.h), which is removed before the call returns. Ages of files
 * are measured by this clock and never by the host's. Returns false, with *now unchanged, if no file can be created
 * there. */
bool txm_server_clock(const char *folder, struct timespec *now);
#endif
