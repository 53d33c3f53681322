/* SPDX-License-Identifier: Apache-2.0
 *
 * Owners of temporary files and claims. Processes on many hosts create them in the same folder; each file names its
 * owner, so that others can find out whether that process is alive. A process id is valid only on one machine, since
 * its last start, in one container. The owner of a file therefore consists of host name, a number for the kernel and
 * its id space, process id, and the process's start time (since ids are reused).
 *
 * Elsewhere: macOS has kern.bootsessionuuid, and proc_pidinfo in place of /proc. Windows has OpenProcess,
 * GetProcessTimes and BCryptGenRandom, and FILE_FLAG_DELETE_ON_CLOSE in place of files without a name.
 */
#ifndef TXM_BASE_OS_OWNER_H
#define TXM_BASE_OS_OWNER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TXM_HOST_BYTES = 65 };

typedef struct txm_owner {
    char host[TXM_HOST_BYTES]; /* name without '/' and blanks */
    uint32_t machine;          /* digest of the kernel's boot id and the process id space */
    long pid;
    uint64_t start; /* the process's start, in ticks of the kernel; 0: unknown */
} txm_owner;

typedef enum txm_owner_state {
    TXM_OWNER_ALIVE,
    TXM_OWNER_DEAD,
    TXM_OWNER_ELSEWHERE /* the process is on another host or in a container, so its state is unknown */
} txm_owner_state;

/* The owner that this process is. */
txm_owner txm_owner_self(void);
txm_owner_state txm_owner_state_of(const txm_owner *owner);

/* 64 random bits, for unique names. */
uint64_t txm_random_bits(void);

/* The text "HOST-MACHINE-PID" in file names, at most TXM_OWNER_TEXT - 1 bytes. */
enum { TXM_OWNER_TEXT = 100 };
void txm_owner_print(const txm_owner *owner, char out[TXM_OWNER_TEXT]);
/* Parses such a text of `bytes` bytes; the start time is then unknown. Returns 0, or -1 if the text is malformed. */
int txm_owner_parse(const char *text, size_t bytes, txm_owner *out);

/* ---- names of files that name their owner ----
 *
 * `.<what>.<host>-<machine>-<pid>-<random><suffix>`: unique across hosts and processes, and other processes can find
 * out whether the owner is alive, from the moment the file exists and whatever its content is. */

/* The path for a new file of this process in `folder`. `what` is shortened if the name would exceed the 255 bytes of
 * file systems; `suffix` has up to 32 bytes. New string, NULL if memory is exhausted. */
char *txm_owned_path(const char *folder, const char *what, const char *suffix);
/* Removes such a file, and tries again after failures that may be temporary, since a file that is left makes others
 * wait, or stays forever. Returns whether it is gone. */
bool txm_owned_remove(const char *path);
/* Creates a file without a name in `folder`, open for reading and writing. On file systems that need a name for it
 * (NFS, FUSE), `what` is part of the short-lived name. -1 with errno. */
int txm_nameless_file(const char *folder, const char *what);
/* The state of the process that such a name contains. ELSEWHERE for other names. */
txm_owner_state txm_owned_name_state(const char *name, const char *suffix);
#endif
