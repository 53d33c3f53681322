/* SPDX-License-Identifier: Apache-2.0
 *
 * A run: the block of a data-block (ID) and those of its DATA blocks that matter. Addresses of DATA blocks repeat
 * between runs, so pointers are resolved within the run that contains them.
 */
#ifndef TXM_SCENE_SCENE_RUN_H
#define TXM_SCENE_SCENE_RUN_H
#include "mill/scene/model.h"

typedef struct txm_run_block {
    uint64_t address, position, bytes; /* place of the block's whole payload */
    txm_kind kind;
    size_t at, kept; /* the part of the payload in memory: `kept` bytes at run->data + at */
} txm_run_block;

enum {
    TXM_RUN_MAX_BYTES = 32 << 20, /* limit for payloads, and as much for the table; 10,000 nodes take a tenth of it */
    TXM_RUN_MAX_BLOCK_BYTES = 64 << 10, /* no struct is needed beyond this */
    TXM_RUN_MAX_NAME_BYTES = 64         /* limit of a text in a block of its own */
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

/* The block at an address; NULL if there is none or it has another struct. */
const txm_run_block *txm_run_find(txm_run *run, uint64_t address, txm_kind kind);
/* Whether another step along a list is allowed: false once as many steps were taken as there are blocks. */
static inline bool txm_run_step(txm_run *run)
{
    return run->steps++ < run->blocks.count;
}

static inline txm_record txm_run_record(const txm_run *run, const txm_run_block *block)
{
    return block->kept ? (txm_record){run->data + block->at, block->kept} : (txm_record){NULL, 0};
}
#endif
