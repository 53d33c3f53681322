/* SPDX-License-Identifier: Apache-2.0
 *
 * The page table. Its entries say of every tile and level whether it is in memory, and where; blocks of entries belong
 * to sources.
 */
#ifndef TXM_CACHE_TABLE_IMPL_H
#define TXM_CACHE_TABLE_IMPL_H
#include "tile/cache/catalog_impl.h"

/* A run of entries of the page table, identified by the first one. A source has one entry for each level, then the
 * tiles of the levels from `registered` on, finest first; a texture that is not open has one entry. When a source
 * registers more levels, it moves to a new block. The old block is kept for the requests of threads that have not seen
 * the move yet. */
typedef struct txm_block {
    uint32_t first;
    uint32_t count : 26, registered : 6;
    txm_source *source; /* NULL: the block belongs to `texture`, which is not open; both unset: free */
    uint64_t retired;   /* generation in which the source left the block; 0: in use */
    uint32_t next;      /* next in the queue of blocks that were left, oldest first */
    union {
        uint32_t texture;
        uint32_t of_source; /* next block that is or was this source's, counted from 1; 0: none */
    };
} txm_block;

/* A queue of blocks that were left; there is one queue per size. */
typedef struct txm_block_queue {
    uint32_t first, last; /* TXM_NO_BLOCK: empty */
} txm_block_queue;

enum { TXM_BLOCK_QUEUES = 256 };
#define TXM_NO_BLOCK 0xFFFFFFFFu

typedef struct txm_table {
    txm_tile_entry *entries;
    uint32_t count, capacity;
    uint32_t unregistered, unregistered_count; /* UNREGISTERED entries: as many as the largest level has tiles */
    txm_block *blocks;
    uint32_t block_count, block_capacity;
    txm_block_queue left[TXM_BLOCK_QUEUES];
} txm_table;

/* table.c: called with the lock held. */
bool txm_block_new(txm_cache *c, uint32_t count, uint32_t texture, txm_source *source, uint32_t *first);
/* Makes at least `count` consecutive UNREGISTERED entries, enough for all tiles of a level. */
bool txm_reserve_unregistered(txm_cache *c, uint32_t count);
void txm_block_retire(txm_cache *c, uint32_t first);
/* Called when a source is freed: requests for its entries are ignored from then on. */
void txm_blocks_disown(txm_cache *c, const txm_source *s);
txm_block *txm_block_of(txm_cache *c, uint32_t entry);
uint32_t txm_source_tiles(const txm_source *s, uint32_t from_level); /* of this level and all coarser ones */
uint32_t txm_entry_index(const txm_source *s, uint32_t level, uint32_t tile);
/* Finds the level of a source that an entry belongs to; `tile` is TXM_WHOLE_LEVEL for the level's own entry. */
#define TXM_WHOLE_LEVEL 0xFFFFFFFFu
void txm_block_locate(const txm_block *b, uint32_t entry, uint32_t *level, uint32_t *tile);
txm_status txm_source_register(txm_cache *c, txm_source *s, uint32_t level, txm_error *err);
/* Makes a texture show a source, whose average colour is in the texture already; NULL: nothing yet. The world must be
 * stopped. */
void txm_texture_show(txm_cache *c, uint32_t texture, const txm_source *s, uint32_t first);
#endif
