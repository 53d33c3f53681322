/* SPDX-License-Identifier: Apache-2.0
 *
 * What libtxtile shows to libtxmill alone.
 *
 * libtxmill holds no copy of libtxtile's code: files that it maps are known to txm_tx_catch_fault, and both share one
 * set of threads. What it takes from there beyond the public headers is marked here, and exported under a symbol
 * version that is another with each release (scripts/exports.sh): a program cannot come to rely on it, and two
 * libraries that do not belong together do not load.
 */
#ifndef TXM_BASE_SHARED_H
#define TXM_BASE_SHARED_H

#define TXM_SHARED __attribute__((visibility("default")))
#endif
