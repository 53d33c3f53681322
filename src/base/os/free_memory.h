/* SPDX-License-Identifier: Apache-2.0
 *
 * How much memory this process may still take.
 *
 * Elsewhere: macOS has host_statistics64. Windows has GlobalMemoryStatusEx and QueryInformationJobObject.
 */
#ifndef TXM_BASE_OS_FREE_MEMORY_H
#define TXM_BASE_OS_FREE_MEMORY_H
#include <stdint.h>

/* The least of what the machine has free, what the groups (cgroups, of version 1 or 2) of this process may still take,
 * and what its limit of address space leaves; UINT64_MAX if nothing is known. `root` is put before the paths of /proc
 * and /sys; "" except in tests. */
uint64_t txm_free_memory(const char *root);
#endif
