/* SPDX-License-Identifier: Apache-2.0
 *
 * The machine and what of it this process may use.
 *
 * Elsewhere: macOS has getrlimit, sysctl("hw.memsize") and uname, and no cgroups. Windows has GetSystemInfo,
 * GlobalMemoryStatusEx, limits of job objects in place of those of processes, GetDiskFreeSpaceEx and
 * GetVolumeInformation, and RtlGetVersion.
 */
#ifndef TXM_BASE_OS_MACHINE_H
#define TXM_BASE_OS_MACHINE_H
#include <stdbool.h>
#include <stdint.h>

/* Number of processors that this process may use: those of its affinity, as far as its cgroup's quota goes. */
unsigned txm_cpu_count(void);
/* The machine's memory; 0 if unknown. */
uint64_t txm_machine_bytes(void);

typedef enum txm_limit {
    TXM_LIMIT_ADDRESSES,
    TXM_LIMIT_DATA,
    TXM_LIMIT_FILES,
    TXM_LIMIT_FILE_BYTES,
    TXM_LIMIT_CORE,
    TXM_LIMIT_PROCESSES
} txm_limit;

/* What a limit of this process is; false if there is none. */
bool txm_limit_of(txm_limit limit, uint64_t *value);
/* Lowers or raises it, as far as the user's hard limit allows; UINT64_MAX: none. Whether that is the limit now. */
bool txm_limit_set(txm_limit limit, uint64_t value);
/* Ends this process when it has used so many more seconds of processor time (txm_end_cause: OVERTIME). */
void txm_limit_time(uint32_t seconds);

/* "Linux 6.1.0, x86_64"; "" if unknown. */
enum { TXM_SYSTEM_BYTES = 200 };
void txm_system_text(char out[TXM_SYSTEM_BYTES]);

typedef struct txm_volume {
    uint64_t free_bytes; /* for this user */
    bool read_only;
    bool network;  /* its files are on another machine */
    bool no_reads; /* it does not record when a file was read */
    char kind[48]; /* of file system: "ext4" */
} txm_volume;
/* The file system on which a path is; false and errno if it cannot be examined. */
bool txm_volume_of(const char *path, txm_volume *out);
#endif
