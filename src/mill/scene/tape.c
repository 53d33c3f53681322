/* SPDX-License-Identifier: Apache-2.0
 *
 * The tape has an entry for each block of the first walk: its head, and the part of its payload that a later pass
 * reads. A tape that exceeds its bound is dropped; later passes then read the stream again.
 */
#include "mill/scene/tape.h"

#include "mill/scene/scene_run.h"

typedef struct entry {
    txm_block block;
    size_t kept;
} entry;

/* Whether blocks of a run of this role will be read once the struct definitions are known. */
static bool matters(const txm_tape *tape)
{
    return tape->graph ? tape->role != TXM_ROLE_INTERFACE
                       : tape->role != TXM_ROLE_INTERFACE && tape->role != TXM_ROLE_OTHER;
}

/* How much of the payload may be needed. Struct 0 is raw data: graphs look for pointers in it, and all passes for short
 * texts; in the rare file where it is a struct of interest, its bytes are read from the stream again. */
static size_t kept_of(const txm_tape *tape, const txm_block *block)
{
    bool pointers = tape->graph && block->bytes <= TXM_MAX_EDGE_BLOCK_BYTES;
    size_t limit = pointers           ? TXM_MAX_EDGE_BLOCK_BYTES
                   : block->sdna == 0 ? TXM_RUN_MAX_NAME_BYTES
                                      : TXM_RUN_MAX_BLOCK_BYTES;
    if (!pointers && block->sdna == 0 && block->bytes > limit) {
        return 0;
    }
    return block->bytes < limit ? (size_t)block->bytes : limit;
}

/* Called for each block of the first walk, before it is skipped. */
txm_status txm_tape_record(txm_tape *tape, txm_stream *stream, const txm_block *block, txm_error *err)
{
    entry e = {.block = *block};
    if (!txm_block_is(block, "DATA")) {
        tape->role = txm_block_is_id(block) ? txm_role_of(block->code) : TXM_ROLE_INTERFACE;
    }
    if (tape->failed || (txm_block_is(block, "DATA") && !matters(tape))) {
        return TXM_OK;
    }
    if (matters(tape) || txm_block_is(block, "GLOB")) {
        e.kept = kept_of(tape, block);
    }
    if (sizeof e + e.kept > tape->limit_bytes - tape->data.size || !txm_bytes_add(&tape->data, &e, sizeof e) ||
        !txm_bytes_reserve(&tape->data, e.kept)) {
        txm_tape_free(tape);
        tape->failed = true;
        return TXM_OK;
    }
    txm_status status = txm_stream_read(stream, tape->data.data + tape->data.size, e.kept, err);
    tape->data.size += status == TXM_OK ? e.kept : 0;
    return status;
}

void txm_tape_free(txm_tape *tape)
{
    txm_bytes_free(&tape->data);
}

/* Reads from the tape if there is one, else from the stream; callers need not distinguish. */
txm_status txm_walk_next(txm_walk *walk, txm_block *out, txm_error *err)
{
    if (!walk->tape) {
        uint64_t at = walk->at ? walk->at : walk->format->header_bytes;
        txm_status status = txm_block_read(walk->stream, walk->format, at, out, err);
        walk->at = status == TXM_OK ? out->position + out->bytes : at;
        return status;
    }
    entry e;
    memcpy(&e, walk->tape->data.data + walk->at, sizeof e);
    *out = e.block;
    walk->payload = walk->at + sizeof e;
    walk->kept = e.kept;
    walk->at = walk->payload + e.kept;
    return TXM_OK;
}

/* Bytes that are not on the tape are read from the stream. */
txm_status txm_walk_read(txm_walk *walk, const txm_block *block, void *dst, size_t bytes, txm_error *err)
{
    if (bytes == 0) {
        return TXM_OK;
    }
    if (walk->tape && bytes <= walk->kept) {
        memcpy(dst, walk->tape->data.data + walk->payload, bytes);
        return TXM_OK;
    }
    txm_status status = txm_stream_seek(walk->stream, block->position, err);
    return status == TXM_OK ? txm_stream_read(walk->stream, dst, bytes, err) : status;
}
