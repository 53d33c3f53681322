/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks what libtxtile exports only for libtxmill. libtxmill contains no copy of libtxtile's code, so that
 * txm_tx_catch_fault finds files that it maps, and both use the same threads. What it needs beyond the public headers
 * is marked here, and exported under a symbol version that changes with each release (scripts/exports.sh): programs
 * cannot rely on it, and two libraries of different releases do not load.
 */
#ifndef TXM_BASE_SHARED_H
#define TXM_BASE_SHARED_H

#define TXM_SHARED __attribute__((visibility("default")))
#endif
