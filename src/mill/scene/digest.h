/* SPDX-License-Identifier: Apache-2.0
 *
 * From the blocks of a run to entries of the model.
 *
 * In: one data-block with its DATA blocks, whose pointers are addresses in the memory of the Blender that saved
 * the file. Out: images, trees, nodes and links as the model keeps them, by index. Anything else of a
 * data-block is forgotten here, so that memory follows what renders look up and not what a scene weighs.
 */
#ifndef TXM_SCENE_DIGEST_H
#define TXM_SCENE_DIGEST_H
#include "mill/scene/scene_run.h"

typedef struct txm_digest {
    const txm_schema *schema;
    txm_model *model;
    txm_store *store;
    bool links; /* keep all nodes and the links between them, for lint */
} txm_digest;

/* Adds what the run of ID `id` (an index into model->ids, role known) holds. False when memory or the store's limit is
 * exhausted. The ID's own block is the one at its address. */
bool txm_digest_run(const txm_digest *digest, uint32_t id, txm_run *run);
#endif
