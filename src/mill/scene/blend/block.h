/* SPDX-License-Identifier: Apache-2.0
 *
 * The frame of a .blend file: its header and the heads of its blocks, in every layout since 2.4. Heads are read one
 * after the other, and checked against the end of the file before anything is allocated for their payload. schema.h
 * interprets payloads.
 */
#ifndef TXM_BLEND_BLOCK_H
#define TXM_BLEND_BLOCK_H
#include <string.h>

#include "mill/scene/blend/stream.h"

/* The layout of block heads. */
typedef enum txm_block_layout {
    TXM_BLOCK_HEAD4,       /* 20 bytes, 4-byte addresses */
    TXM_BLOCK_SMALL_HEAD8, /* 24 bytes, 8-byte addresses, lengths below 2 GiB */
    TXM_BLOCK_LARGE_HEAD8  /* 32 bytes, file format 1: 8-byte addresses and lengths */
} txm_block_layout;

typedef struct txm_blend_layout {
    txm_block_layout layout;
    unsigned header_bytes, head_bytes, pointer_bytes;
    bool big_endian;
    int version; /* as in the header: 279, 304, 501 */
} txm_blend_layout;

typedef struct txm_block {
    char code[5];             /* index of the struct in its payload */
    uint32_t sdna;            /* index of the struct that it holds */
    uint64_t address;         /* where it was in memory, which pointers to it contain */
    uint64_t position, bytes; /* place of the payload */
} txm_block;

/* Reads the file's header from the start. CORRUPT if it is not a .blend file, NEWER for an unknown file format. */
txm_status txm_blend_read_header(txm_stream *stream, txm_blend_layout *out, txm_error *err);

/* Decodes a block head of format->head_bytes bytes at `position`. false if it is impossible. */
bool txm_block_decode(const txm_blend_layout *format, const uint8_t *head, uint64_t position, txm_block *out);

/* Reads the head at `position`, but not its payload. CORRUPT if it is impossible or its payload would extend beyond the
 * end of the file. */
txm_status txm_block_read(txm_stream *stream, const txm_blend_layout *format, uint64_t position, txm_block *out,
                          txm_error *err);

static inline bool txm_block_is(const txm_block *block, const char *code)
{
    return strcmp(block->code, code) == 0;
}

/* Whether the block is that of a data-block (ID), which has a code of two letters, and not one of its DATA blocks. */
static inline bool txm_block_is_id(const txm_block *block)
{
    return block->code[0] && block->code[1] && !block->code[2];
}
#endif
