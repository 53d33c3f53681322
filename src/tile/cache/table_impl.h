/* SPDX-License-Identifier: Apache-2.0
 *
 * The page table. Its entries say of every tile and level whether it is in memory, and where; blocks of entries belong
 * to sources.
 */
#ifndef TXM_CACHE_TABLE_IMPL_H
#define TXM_CACHE_TABLE_IMPL_H
#include "tile/cache/catalog_impl.h"

/* A run of numbers of tiles, identified by the first one. A texture that is not open has one number. A source has a
 * first block with one number for each of its levels, or one number if it is packed; levels that are registered get
 * blocks of their own, with the numbers of their tiles, finest level first. */
typedef struct txm_block {
    uint32_t first;
    uint32_t count : 26, registered : 6; /* registered: the block's finest level; TXM_BLOCK_OF_LEVELS: a first block */
    txm_source *source;                  /* NULL: the block belongs to `texture`, which is not open; both unset: free */
    uint64_t retired;                    /* generation in which the source left the block; 0: in use */
    uint32_t next;                       /* next in the queue of blocks that were left, oldest first */
    union {
        uint32_t texture;
        uint32_t of_source; /* next block that is or was this source's, counted from 1; 0: none */
    };
} txm_block;

enum { TXM_BLOCK_OF_LEVELS = 63 };

/* A queue of blocks that were left; there is one queue per size. */
typedef struct txm_block_queue {
    uint32_t first, last; /* TXM_NO_BLOCK: empty */
} txm_block_queue;

enum { TXM_BLOCK_QUEUES = 256 };
#define TXM_NO_BLOCK 0xFFFFFFFFu

/* The entries of TXM_LEAF_TILES consecutive numbers. `live` counts those that must be kept: tiles that are in memory,
 * being read, staged or permanently failed, and the numbers of levels and of textures that are not open. A leaf without
 * any is idle. Idle leaves are kept for a while, because their marks tell which tiles were loaded before. */
typedef struct txm_leaf {
    uint32_t number; /* TXM_NO_LEAF: unused */
    uint32_t next;   /* next idle one */
    uint16_t live;
    bool idle; /* it is in the queue of idle ones, and was idle when it got there */
} txm_leaf;

#define TXM_NO_LEAF 0xFFFFFFFFu

/* Numbers are never moved, because lookups hold them; leaves are at any place in `entries`. */
typedef struct txm_table {
    txm_tile_entry *entries;
    uint32_t *words; /* one for each leaf: the index of its entries, or the state of all its tiles */
    uint32_t count;  /* number of tiles that have numbers */
    uint32_t word_count, word_capacity;
    txm_leaf *leaves; /* of `entries`, in their order */
    uint32_t entry_count, entry_capacity, leaf_capacity;
    uint32_t leaves_free, leaves_idle;
    uint32_t idle_first, idle_last;            /* TXM_NO_LEAF: none */
    uint32_t unlinked;                         /* list of leaves that are free when lookups were waited for */
    uint32_t free_from;                        /* all leaves before it are in use */
    uint32_t unregistered, unregistered_count; /* UNREGISTERED numbers: as many as the largest level has tiles */
    txm_block *blocks;
    uint32_t block_count, block_capacity;
    txm_block_queue left[TXM_BLOCK_QUEUES];
} txm_table;

/* table.c: called with the lock held. */
void txm_table_init(txm_table *t);
void txm_table_free(txm_cache *c);
/* Frees what the table does not need any more. May evict tiles. */
void txm_table_trim(txm_cache *c);
/* For a texture, or with `level` for a source. False: out of memory. */
bool txm_block_new(txm_cache *c, uint32_t count, uint32_t texture, txm_source *source, uint32_t level, uint32_t *first);
/* Makes at least `count` consecutive UNREGISTERED numbers, enough for all tiles of a level. */
bool txm_reserve_unregistered(txm_cache *c, uint32_t count);
void txm_block_retire(txm_cache *c, uint32_t first);
/* Leaves all blocks of a source, whose tiles must have been evicted. */
void txm_blocks_retire(txm_cache *c, const txm_source *s);
/* Called when a source is freed: requests for its tiles are ignored from then on. */
void txm_blocks_disown(txm_cache *c, const txm_source *s);
txm_block *txm_block_of(txm_cache *c, uint32_t number);
uint32_t txm_source_tiles(const txm_source *s, uint32_t from_level); /* of this level and all coarser ones */
uint32_t txm_number(const txm_source *s, uint32_t level, uint32_t tile);
/* Finds the level of a source that a number belongs to; `tile` is TXM_WHOLE_LEVEL for the level's own number. */
#define TXM_WHOLE_LEVEL 0xFFFFFFFFu
void txm_block_locate(const txm_block *b, uint32_t number, uint32_t *level, uint32_t *tile);
/* The entry of a number; NULL: its leaf has none. */
txm_tile_entry *txm_entry(const txm_cache *c, uint32_t number);
/* The slot or state of a number. */
uint32_t txm_entry_slot(const txm_cache *c, uint32_t number);
/* Sets it. If the leaf has no entries, this does nothing, because then there is nothing to forget. */
void txm_entry_set(txm_cache *c, uint32_t number, uint32_t slot);
/* Gives the leaf of a number entries, if it has none; false: out of memory. May evict tiles. */
bool txm_entry_make(txm_cache *c, uint32_t number);
/* Sets the state of all tiles of a leaf without entries. */
void txm_leaf_fail(txm_cache *c, uint32_t number, uint32_t state);
/* Makes a tile that is not in memory LOADING, unless it is being read or has permanently failed. The leaf must have
 * entries. */
bool txm_claim(txm_cache *c, uint32_t number);
/* Counts an entry that must be kept, for staged tiles, or ceases to. */
void txm_entry_keep(txm_cache *c, uint32_t number, int change);
/* Takes idle leaves out of the table, before tiles are evicted or in case of need; the second frees them, after lookups
 * were waited for. `all`: even those that may stay for their marks. */
bool txm_leaves_unlink(txm_cache *c, bool all);
void txm_leaves_free(txm_cache *c);
/* Calls `each` for the numbers of a source's tiles that have entries. */
void txm_each_tile(txm_cache *c, const txm_source *s, void (*each)(txm_cache *c, uint32_t number, void *arg),
                   void *arg);
txm_status txm_source_register(txm_cache *c, txm_source *s, uint32_t level, txm_error *err);
/* Makes a texture show a source, whose average colour is in the texture already; NULL: nothing yet. The world must be
 * stopped. */
void txm_texture_show(txm_cache *c, uint32_t texture, const txm_source *s, uint32_t first);
#endif
