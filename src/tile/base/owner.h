/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose file is that? Processes on many hosts leave temporaries and claims in one folder; each says who made it, and
 * others can tell whether that process still lives.
 *
 * A process id means something only where it was given: on one machine, since its last start, in one container. So the
 * owner of a file is host name, a number for "this kernel and this id space", process id and the process's start time
 * (ids are used again).
 */
#ifndef TXM_BASE_OWNER_H
#define TXM_BASE_OWNER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tile/base/shared.h"

enum { TXM_HOST_BYTES = 65 };

typedef struct txm_owner {
    char host[TXM_HOST_BYTES]; /* without '/' and blanks */
    uint32_t machine;          /* digest of the kernel's boot id and the process id space */
    long pid;
    uint64_t start; /* of the process, in the kernel's ticks; 0: unknown */
} txm_owner;

typedef enum txm_owner_state {
    TXM_OWNER_ALIVE,
    TXM_OWNER_DEAD,
    TXM_OWNER_ELSEWHERE /* another host or container: unknown from here */
} txm_owner_state;

/* This process. */
TXM_SHARED txm_owner txm_owner_self(void);
TXM_SHARED txm_owner_state txm_owner_state_of(const txm_owner *owner);

/* 64 random bits: unique names. */
TXM_SHARED uint64_t txm_random_bits(void);

/* "HOST-MACHINE-PID" as file names hold it, at most TXM_OWNER_TEXT - 1 bytes. */
enum { TXM_OWNER_TEXT = 100 };
void txm_owner_print(const txm_owner *owner, char out[TXM_OWNER_TEXT]);
/* The reverse, of the `bytes` bytes at `text`; the start time is unknown then. 0, or -1 if it is no such text. */
int txm_owner_parse(const char *text, size_t bytes, txm_owner *out);

/* ---- names of files that say whose they are ----
 *
 * `.<what>.<host>-<machine>-<pid>-<random><suffix>`: unique over hosts and processes, and whoever finds one left behind
 * can tell whether its process still lives. The file says so from the moment it exists, whatever is, or is not yet, in
 * it. */

/* Path of a new such name of this process in `folder`. `what` is shortened where the name would pass the 255 bytes that
 * file systems allow; `suffix` has up to 32 bytes. New string, NULL when memory is exhausted. */
TXM_SHARED char *txm_owned_path(const char *folder, const char *what, const char *suffix);
/* Removes such a file: what is left of it makes others wait, or stays for ever, so that a failure that passes does not
 * count. Whether it is gone. */
TXM_SHARED bool txm_owned_remove(const char *path);
/* A new file in `folder`, open for reading and writing, that has no name; `what`: of its short-lived name where the
 * file system (NFS, FUSE) cannot do without one. -1 with errno. */
TXM_SHARED int txm_nameless_file(const char *folder, const char *what);
/* The state of the process that such a name tells. ELSEWHERE for names of another form. */
TXM_SHARED txm_owner_state txm_owned_name_state(const char *name, const char *suffix);
#endif
