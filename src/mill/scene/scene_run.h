/* SPDX-License-Identifier: Apache-2.0
 *
 * A run: the block of a data-block (ID) and the DATA blocks that follow it, as far as they matter. Addresses of DATA
 * blocks repeat between runs, so pointers are resolved inside the run that holds them.
 */
#ifndef TXM_SCENE_SCENE_RUN_H
#define TXM_SCENE_SCENE_RUN_H
#include "mill/scene/model.h"

typedef struct txm_run_block {
    uint64_t address, position, bytes; /* of the block's whole payload */
    txm_kind kind;
    size_t at, kept; /* part of the payload that is held: run->data + at, kept bytes */
} txm_run_block;

enum {
    TXM_RUN_MAX_BYTES = 32 << 20,       /* payloads, and as much for the table; 10,000 nodes take a tenth of it */
    TXM_RUN_MAX_BLOCK_BYTES = 64 << 10, /* more of one struct is never needed */
    TXM_RUN_MAX_NAME_BYTES = 64         /* of a text in a block of its own */
};

typedef struct txm_run {
    txm_store budget;
    TXM_TABLE(txm_run_block) blocks;
    uint8_t *data;
    size_t used, capacity;
    bool ordered;
    size_t steps; /* taken along lists */
} txm_run;

/* Empties a run (zero-initialised before first use) and keeps its memory. */
void txm_run_reset(txm_run *run);
void txm_run_free(txm_run *run);

/* Adds a block and a copy of the first `bytes` bytes of its payload. False beyond the bound. */
bool txm_run_add(txm_run *run, const txm_block *block, txm_kind kind, const uint8_t *payload, size_t bytes);

/* The block at an address. NULL if there is none or it holds another struct. */
const txm_run_block *txm_run_find(txm_run *run, uint64_t address, txm_kind kind);
/* Whether another step along a list is allowed: false once all lists together passed as many blocks as there are. */
static inline bool txm_run_step(txm_run *run)
{
    return run->steps++ < run->blocks.count;
}

static inline txm_record txm_run_record(const txm_run *run, const txm_run_block *block)
{
    return block->kept ? (txm_record){run->data + block->at, block->kept} : (txm_record){NULL, 0};
}
#endif
