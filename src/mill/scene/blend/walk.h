/* SPDX-License-Identifier: Apache-2.0
 *
 * Going through the blocks of a file, more than once. Struct definitions, without which no struct can be read, are at
 * the end of the file. If the stream can seek (plain files, zstd with a seek table), the end is read first, which takes
 * milliseconds even for a scene of gigabytes. A file that can only be decompressed from its start would be decompressed
 * twice, or three times for a library; its first walk therefore records everything that may be needed on a tape, which
 * later walks read.
 */
#ifndef TXM_BLEND_WALK_H
#define TXM_BLEND_WALK_H
#include "base/bytes.h"
#include "mill/scene/blend/model.h"

enum {
    TXM_TAPE_MAX_BYTES = 32 << 20, /* beyond this the file is decompressed again */
    /* Pointers to data-blocks are in structs and in arrays (the material slots of a mesh). Larger blocks are
     * coordinates and the like. */
    TXM_MAX_EDGE_BLOCK_BYTES = 256 << 10
};

/* Zero-initialise, then set graph and limit_bytes. */
typedef struct txm_tape {
    bool graph; /* every data-block counts, not only those that own trees, images and libraries */
    size_t limit_bytes;
    bool failed;   /* limit or memory exhausted: the tape is empty and unusable */
    txm_role role; /* role of the run that is being recorded */
    txm_bytes data;
} txm_tape;

void txm_tape_free(txm_tape *tape);

/* A walk from the first block to ENDB. Zero-initialise, then set stream, format and tape. */
typedef struct txm_walk {
    txm_stream *stream;
    const txm_blend_layout *format;
    const txm_tape *tape; /* a complete tape; NULL: read from the stream */
    uint64_t at;          /* position of the next block, in the stream or on the tape */
    uint64_t payload;     /* position of the current block's payload on the tape */
    size_t kept;          /* how much of it is on the tape */
} txm_walk;

/* Reads the next block; not to be called after ENDB. Fails as txm_block_read does. */
txm_status txm_walk_next(txm_walk *walk, txm_block *out, txm_error *err);
/* Reads the first `bytes` bytes of the current block, which must have as many. */
txm_status txm_walk_read(txm_walk *walk, const txm_block *block, void *dst, size_t bytes, txm_error *err);

/* Finds and parses the DNA1 block: from the end if the stream can seek there cheaply, else by walking all blocks, which
 * `tape` then records (it stays empty otherwise). */
txm_status txm_locate_dna(txm_stream *stream, const txm_blend_layout *format, txm_tape *tape, txm_dna **out,
                          txm_error *err);
#endif
