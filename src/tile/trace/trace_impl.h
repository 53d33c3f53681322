/* SPDX-License-Identifier: Apache-2.0
 *
 * An open trace, which trace_read.c fills and the cursors of trace_cursor.c read.
 */
#ifndef TXM_TRACE_IMPL_H
#define TXM_TRACE_IMPL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#include "tile/record/trace_format.h"
#include "txtile/trace.h"

/* A block of the file, as described by its header. */
typedef struct txm_trace_stored {
    uint64_t offset; /* place of the stored bytes */
    uint64_t check;
    uint32_t kind, thread, stored, raw;
} txm_trace_stored;

/* A tile of one colour. */
typedef struct txm_trace_constant_tile {
    txm_tile_name tile;
    uint8_t pixel[TXM_TRACE_PIXEL_BYTES];
} txm_trace_constant_tile;

/* The texture that a number means from a block on. */
typedef struct txm_trace_naming {
    uint32_t number, texture;
    size_t block;
} txm_trace_naming;

struct txm_trace {
    int fd;
    char *path;
    uint64_t bytes;
    txm_trace_stored *blocks;
    size_t block_count, block_capacity;
    txm_trace_texture *textures;
    size_t texture_count, texture_capacity;
    txm_trace_naming *namings; /* sorted by number, then by block */
    size_t naming_count, naming_capacity;
    txm_sampler *samplers;
    size_t sampler_count, sampler_capacity;
    txm_trace_constant_tile *constants; /* sorted by tile */
    size_t constant_count, constant_capacity;
    txm_trace_info info;
};

/* Fails with CORRUPT; `why` describes the damage. */
txm_status txm_trace_corrupt(const txm_trace *t, txm_error *err, const char *why);
/* Checks a block and unpacks it to `raw`, which has TXM_TRACE_BLOCK_MAX bytes; `stored` is a buffer of
 * txm_trace_stored_max() bytes. */
txm_status txm_trace_unpack(const txm_trace *t, const txm_trace_stored *b, ZSTD_DCtx *zstd, uint8_t *stored,
                            uint8_t *raw, txm_error *err);
size_t txm_trace_stored_max(void);
/* The texture that `number` means in that block; TXM_NO_TEXTURE: none. */
uint32_t txm_trace_find_naming(const txm_trace *t, uint32_t number, size_t at_block);
/* Number of tiles of a level; `texture` is an index. 0: there is no such level or texture. */
uint32_t txm_trace_level_tiles(const txm_trace *t, uint32_t texture, uint32_t level);
#endif
