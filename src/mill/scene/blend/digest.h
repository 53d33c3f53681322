/* SPDX-License-Identifier: Apache-2.0
 *
 * A run is the block of a data-block (ID) and those of its DATA blocks that matter, which are all that its pointers can
 * reach: addresses of DATA blocks repeat between runs. A run is collected, digested into entries of the model (images,
 * trees, nodes and links, which refer to each other by index) and dropped, so memory depends on the textures of a scene
 * and not on its size.
 */
#ifndef TXM_BLEND_DIGEST_H
#define TXM_BLEND_DIGEST_H
#include "mill/scene/blend/model.h"

typedef struct txm_run_block {
    uint64_t address, position, bytes; /* place of the block's whole payload */
    txm_kind kind;
    size_t at, kept; /* the part of the payload in memory: `kept` bytes at run->data + at */
} txm_run_block;

enum {
    TXM_RUN_MAX_BYTES = 32 << 20, /* limit for payloads, and as much for the table; 10,000 nodes take a tenth of it */
    TXM_RUN_MAX_BLOCK_BYTES = 64 << 10, /* no struct is needed beyond this */
    TXM_RUN_MAX_NAME_BYTES = 64,        /* limit of a text in a block of its own */
    TXM_RUN_MAX_RNA_PATH_BYTES = 512    /* the same for the path of an animated property */
};

typedef struct txm_run {
    txm_store budget;
    TXM_TABLE(txm_run_block) blocks;
    uint8_t *data;
    size_t used, capacity;
    bool ordered;
    size_t steps; /* number of steps along lists so far */
} txm_run;

/* Empties a run, which is zero-initialised before its first use, and keeps its memory. */
void txm_run_reset(txm_run *run);
void txm_run_free(txm_run *run);

/* Adds a block and a copy of the first `bytes` bytes of its payload. false beyond the bound. */
bool txm_run_add(txm_run *run, const txm_block *block, txm_kind kind, const uint8_t *payload, size_t bytes);

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
