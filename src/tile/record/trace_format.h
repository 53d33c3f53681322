/* SPDX-License-Identifier: Apache-2.0
 *
 * The format of traces, which writer and reader share; txmill-trace(5) describes it byte by byte. All numbers are
 * little-endian.
 */
#ifndef TXM_RECORD_TRACE_FORMAT_H
#define TXM_RECORD_TRACE_FORMAT_H

#define TXM_TRACE_MAGIC "TXMTRACE"

enum {
    TXM_TRACE_VERSION = 1,
    TXM_TRACE_HEADER_BYTES = 16,       /* magic, version, and what the trace holds */
    TXM_TRACE_BLOCK_HEADER_BYTES = 24, /* kind, thread, stored bytes, raw bytes; xxh64 of the stored bytes */
    TXM_TRACE_BLOCK_MAX = 1 << 20      /* raw bytes */
};
enum { TXM_TRACE_HAS_TILES = 1, TXM_TRACE_HAS_LOOKUPS = 2 };

/* The kinds of blocks. Each block is one zstd frame. */
typedef enum txm_trace_block {
    TXM_TRACE_BLOCK_TEXTURES = 1,
    TXM_TRACE_BLOCK_TILES,
    TXM_TRACE_BLOCK_END, /* the last one */
    TXM_TRACE_BLOCK_SAMPLERS,
    TXM_TRACE_BLOCK_LOOKUPS,
    TXM_TRACE_BLOCK_CONSTANTS,
    TXM_TRACE_BLOCK_PARTIAL /* the reason why the trace covers only a part of the work */
} txm_trace_block;

/* TEXTURES: records of this size, each followed by the path. */
enum { TXM_TRACE_TEXTURE_BYTES = 32 };
enum { TXM_TRACE_WIDENED = 1 }; /* flags of a texture */

/* TILES: LEB128 numbers. A number above 0 is one tile: the zigzag difference of its txm_tile_key from the previous one
 * in the block. 0 announces one of the following, according to the number after it: */
typedef enum txm_trace_mark {
    TXM_TRACE_MARK_EPOCH = 0,
    TXM_TRACE_MARK_LAUNCH = 1,
    TXM_TRACE_MARK_TILES = 2 /* at least 2: that many tiles of one lookup follow, as differences that may be 0 */
} txm_trace_mark;
enum { TXM_TRACE_NUMBER_BYTES = 10 };

/* SAMPLERS: number, rule, mode, filter, on_miss, anisotropy, after, chance, a zero byte, mip bias. */
enum { TXM_TRACE_SAMPLER_BYTES = 16 };

/* LOOKUPS: their number, launch, epoch; then columns of 32-bit values. Each value is exclusive-ored with the previous
 * one of its column (0 for the first), and a column is stored as four planes of bytes, lowest first. */
enum { TXM_TRACE_LOOKUPS_HEAD_BYTES = 12, TXM_TRACE_COLUMNS = 9, TXM_TRACE_LOOKUPS_MAX = 4096 };
typedef enum txm_trace_column {
    TXM_TRACE_COLUMN_TEXTURE = 0,
    TXM_TRACE_COLUMN_SAMPLER,
    TXM_TRACE_COLUMN_RANDOM,
    TXM_TRACE_COLUMN_PLACE /* u, v, dudx, dvdx, dudy, dvdy */
} txm_trace_column;

/* CONSTANTS: the key of a tile of one colour, and its pixel, padded with zeros. */
enum { TXM_TRACE_CONSTANT_BYTES = 24, TXM_TRACE_PIXEL_BYTES = 16 };

/* PARTIAL: a sentence in UTF-8, without a zero byte. */
enum { TXM_TRACE_PARTIAL_MAX = 1024 };

/* END: policy, keep_epochs and max_bytes, which are settings; then tiles loaded, bytes loaded, tiles loaded again,
 * nanoseconds loading, and lookups, all since the trace began; 64 bits each. */
enum { TXM_TRACE_END_SETTINGS = 3, TXM_TRACE_END_NUMBERS = 8, TXM_TRACE_END_BYTES = 8 * TXM_TRACE_END_NUMBERS };

#endif
