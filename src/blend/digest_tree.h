/* SPDX-License-Identifier: Apache-2.0
 *
 * Shader node trees of a run. */
#ifndef TXM_BLEND_DIGEST_TREE_H
#define TXM_BLEND_DIGEST_TREE_H
#include "blend/digest.h"

/* Adds every shader tree of the run of ID `id`. False when memory or the store's limit is exhausted. */
bool txm_digest_trees(const txm_digest *digest, uint32_t id, txm_run *run);
#endif
