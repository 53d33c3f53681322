/* SPDX-License-Identifier: Apache-2.0
 *
 * Detects failed reads in any library: most of them report damage instead, and some continue with what was in memory.
 */
#ifndef TXM_SOURCE_READS_H
#define TXM_SOURCE_READS_H

/* Returns the errno of the first read or seek of this process that failed since the last call; 0 if none did. */
int txm_reads_failed(void);
#endif
