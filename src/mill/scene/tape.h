/* SPDX-License-Identifier: Apache-2.0
 *
 * Going through the blocks of a file more than once. The struct definitions are at the end, so a file that can only
 * be decompressed from its start would be decompressed twice, or three times for a library. On its first walk all that
 * can matter is therefore put on a tape, and later walks take it from there.
 */
#ifndef TXM_SCENE_TAPE_H
#define TXM_SCENE_TAPE_H
#include "mill/scene/model.h"
#include "tile/base/bytes.h"

enum {
    TXM_TAPE_MAX_BYTES = 32 << 20, /* beyond that the file is decompressed again */
    /* Pointers to data-blocks are in structs and in arrays of them (the material slots of a mesh). Larger blocks are
     * coordinates and the like. */
    TXM_MAX_EDGE_BLOCK_BYTES = 256 << 10
};

/* Zero-initialise, with graph and limit_bytes set. */
typedef struct txm_tape {
    bool graph; /* every data-block counts, not only those that own trees, images and libraries */
    size_t limit_bytes;
    bool failed;   /* limit or memory exhausted: the tape is empty and useless */
    txm_role role; /* of the run that is being recorded */
    txm_bytes data;
} txm_tape;

/* Puts a block on the tape, if it can matter, with the part of its payload that can. The stream is then after its head.
 * Only the stream's failures are failures. */
txm_status txm_tape_record(txm_tape *tape, txm_stream *stream, const txm_block *block, txm_error *err);
void txm_tape_free(txm_tape *tape);

/* One walk from the first block to ENDB. Zero-initialise, with stream, format and tape set. */
typedef struct txm_walk {
    txm_stream *stream;
    const txm_blend_format *format;
    const txm_tape *tape; /* a complete one; NULL: from the stream */
    uint64_t at;          /* of the next block, in the stream or on the tape */
    uint64_t payload;     /* on the tape: of the current block */
    size_t kept;          /* and how much of it is there */
} txm_walk;

/* The next block; not to be called after ENDB. The file's errors, as txm_block_read. */
txm_status txm_walk_next(txm_walk *walk, txm_block *out, txm_error *err);
/* The first `bytes` bytes of the current block, which has that many. */
txm_status txm_walk_read(txm_walk *walk, const txm_block *block, void *dst, size_t bytes, txm_error *err);
#endif
