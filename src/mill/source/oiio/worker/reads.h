/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads that failed, in whatever library: most call it damage, and some go on with what was in memory.
 */
#ifndef TXM_SOURCE_READS_H
#define TXM_SOURCE_READS_H

/* The errno of the first read or seek of this process that failed since it was asked last; 0: none did. */
int txm_reads_failed(void);
#endif
