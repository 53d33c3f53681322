/* SPDX-License-Identifier: Apache-2.0
 *
 * Converts the blocks of a run, a data-block with its DATA blocks, into entries of the model: images, trees, nodes and
 * links, which refer to each other by index instead of addresses in Blender's memory. All other content of a
 * data-block is dropped here, so that memory depends on the textures of a scene and not on its size.
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

/* Adds the content of the run of ID `id` (an index into model->ids whose role is known). The ID's own block is the one
 * at its address. false if memory or the store's limit is exhausted. */
bool txm_digest_run(const txm_digest *digest, uint32_t id, txm_run *run);
#endif
