/* SPDX-License-Identifier: Apache-2.0
 *
 * What writer and reader of traces agree on; txmill-trace(5) describes it byte by byte. All numbers are little-endian.
 */
#ifndef TXM_CACHE_TRACE_FORMAT_H
#define TXM_CACHE_TRACE_FORMAT_H

#define TXM_TRACE_MAGIC "TXMTRACE"

enum {
    TXM_TRACE_VERSION = 1,
    TXM_TRACE_HEADER_BYTES = 16,       /* magic, version, flags: TXM_TRACE_TILES, TXM_TRACE_LOOKUPS */
    TXM_TRACE_BLOCK_HEADER_BYTES = 24, /* kind, thread, stored bytes, raw bytes; xxh64 of the stored bytes */
    TXM_TRACE_BLOCK_MAX = 1 << 20      /* raw bytes */
};

/* A block is one zstd frame. */
typedef enum txm_trace_block {
    TXM_TRACE_BLOCK_TEXTURES = 1,
    TXM_TRACE_BLOCK_TILES,
    TXM_TRACE_BLOCK_END, /* the last one */
    TXM_TRACE_BLOCK_SAMPLERS,
    TXM_TRACE_BLOCK_LOOKUPS,
    TXM_TRACE_BLOCK_CONSTANTS,
    TXM_TRACE_BLOCK_PARTIAL /* why the trace covers only a part of the work */
} txm_trace_block;

/* TEXTURES: records of this size, and the path. */
enum { TXM_TRACE_TEXTURE_BYTES = 32 };
enum { TXM_TRACE_WIDENED = 1 }; /* flags of a texture */

/* TILES: LEB128 numbers. A number above 0 is one tile: the zigzag difference of its txm_tile_key from the one before in
 * the block. 0 is followed by a number that says what comes: */
typedef enum txm_trace_mark {
    TXM_TRACE_MARK_EPOCH = 0,
    TXM_TRACE_MARK_LAUNCH = 1,
    TXM_TRACE_MARK_TILES = 2 /* this many, or more: differences of the tiles of one lookup, which may be 0 */
} txm_trace_mark;
enum { TXM_TRACE_NUMBER_BYTES = 10 };

/* SAMPLERS: number, rule, mode, filter, on_miss, anisotropy, after, chance, a zero byte, mip bias. */
enum { TXM_TRACE_SAMPLER_BYTES = 16 };

/* LOOKUPS: how many, launch, epoch; then columns of 32 bits each, every value exclusive-or the one before in its column
 * (which is 0 for the first), stored as four planes of bytes, lowest first. */
enum { TXM_TRACE_LOOKUPS_HEAD_BYTES = 12, TXM_TRACE_COLUMNS = 9, TXM_TRACE_LOOKUPS_MAX = 4096 };
typedef enum txm_trace_column {
    TXM_TRACE_COLUMN_TEXTURE = 0,
    TXM_TRACE_COLUMN_SAMPLER,
    TXM_TRACE_COLUMN_RANDOM,
    TXM_TRACE_COLUMN_PLACE /* u, v, dudx, dvdx, dudy, dvdy */
} txm_trace_column;

/* CONSTANTS: key of a tile of one colour, and its pixel, filled up with zeros. */
enum { TXM_TRACE_CONSTANT_BYTES = 24, TXM_TRACE_PIXEL_BYTES = 16 };

/* PARTIAL: a sentence in UTF-8, without a zero byte. */
enum { TXM_TRACE_PARTIAL_MAX = 1024 };

/* END: policy, keep_epochs, max_bytes, tiles loaded, bytes loaded, tiles loaded again, nanoseconds loading, lookups;
 * 64 bits each, since the trace began. */
enum { TXM_TRACE_END_BYTES = 64 };

#endif
