/* SPDX-License-Identifier: Apache-2.0
 *
 * Where Cycles looks for a tx file, and in what state it is there.
 *
 * The room src/cache knows how Cycles' texture cache uses the file system: which name it looks up (name.h), where and
 * when it takes a file (here), how a file appears under its name complete or not at all (publish.h), and how borders
 * are added to a finished file (borders.h).
 */
#ifndef TXM_CACHE_LOOKUP_H
#define TXM_CACHE_LOOKUP_H
#include "cache/name.h"
#include "txmill/inspect.h"

/* Look-up order as Cycles: (a) the configured folder, (b) blender_tx if that is not the configured one, (c) the source.
 * Fails only for problems with the source itself. */
txm_status txm_tx_lookup(const char *source_path, const char *cache_dir, const txm_tx_key *key, txm_found *out,
                         txm_error *err);
#endif
