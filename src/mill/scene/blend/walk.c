/* SPDX-License-Identifier: Apache-2.0
 *
 * The tape has an entry for each block of the first walk: its head, and the part of its payload that a later pass
 * reads. A tape that exceeds its bound is dropped; later passes then read the stream again.
 */
#include "mill/scene/blend/walk.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/scene/blend/digest.h"

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
    const bool animates = tape->role == TXM_ROLE_ACTION || tape->role == TXM_ROLE_TREE;
    const size_t text_bytes = animates ? TXM_RUN_MAX_RNA_PATH_BYTES : TXM_RUN_MAX_NAME_BYTES;
    if (tape->role == TXM_ROLE_ACTION && !tape->graph && block->sdna != 0 && txm_block_is(block, "DATA"))
        return 0; /* curves */
    bool pointers = tape->graph && block->bytes <= TXM_MAX_EDGE_BLOCK_BYTES;
    size_t limit = pointers ? TXM_MAX_EDGE_BLOCK_BYTES : block->sdna == 0 ? text_bytes : TXM_RUN_MAX_BLOCK_BYTES;
    if (!pointers && block->sdna == 0 && block->bytes > limit)
        return 0;
    return block->bytes < limit ? (size_t)block->bytes : limit;
}

/* Records a block, if it may be needed, with the part of its payload that may be needed. The stream is right after its
 * head. Fails only if the stream does. */
static txm_status record(txm_tape *tape, txm_stream *stream, const txm_block *block, txm_error *err)
{
    entry e = {.block = *block};
    if (!txm_block_is(block, "DATA"))
        tape->role = txm_block_is_id(block) ? txm_role_of(block->code) : TXM_ROLE_INTERFACE;
    if (tape->failed || (txm_block_is(block, "DATA") && !matters(tape)))
        return TXM_OK;
    if (matters(tape) || txm_block_is(block, "GLOB"))
        e.kept = kept_of(tape, block);
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
    if (bytes == 0)
        return TXM_OK;
    if (walk->tape && bytes <= walk->kept) {
        memcpy(dst, walk->tape->data.data + walk->payload, bytes);
        return TXM_OK;
    }
    txm_status status = txm_stream_seek(walk->stream, block->position, err);
    return status == TXM_OK ? txm_stream_read(walk->stream, dst, bytes, err) : status;
}

/* ---- definitions ------------------------------------------------------------------------------------------------- */

enum { TAIL_BYTES = 1 << 20 };

/* The size comes from the file and is checked before memory is allocated. */
static txm_status parse_at(txm_stream *stream, const txm_blend_layout *format, const txm_block *block, txm_dna **out,
                           txm_error *err)
{
    const char *name = txm_stream_name(stream);
    if (block->bytes > TXM_DNA_MAX_BYTES) {
        return txm_fail(err, TXM_STATUS_CORRUPT,
                        "%s: struct definitions of %llu bytes (DNA1 block at byte %llu) are impossible", name,
                        (unsigned long long)block->bytes, (unsigned long long)block->position);
    }
    size_t bytes = (size_t)block->bytes;
    uint8_t *payload = malloc(bytes ? bytes : 1);
    if (!payload)
        return txm_no_memory(err, name);
    txm_status status = txm_stream_seek(stream, block->position, err);
    if (status == TXM_OK)
        status = txm_stream_read(stream, payload, bytes, err);
    if (status != TXM_OK) {
        free(payload);
        return status;
    }
    return txm_dna_parse(format, payload, bytes, name, out, err);
}

/* A file without the expected end is not an error here: the walk will report what is wrong. */
static bool locate_from_end(txm_stream *stream, const txm_blend_layout *format, txm_block *out)
{
    uint64_t size;
    if (!txm_stream_size(stream, &size) || size < format->header_bytes)
        return false;
    size_t bytes = size < TAIL_BYTES ? (size_t)size : TAIL_BYTES;
    uint8_t *tail = malloc(bytes);
    bool found = false;
    if (tail && txm_stream_seek(stream, size - bytes, NULL) == TXM_OK &&
        txm_stream_read(stream, tail, bytes, NULL) == TXM_OK && bytes >= 2 * format->head_bytes &&
        memcmp(tail + bytes - format->head_bytes, "ENDB", 4) == 0) {
        /* Only one head has a length that leads to ENDB. */
        const uint64_t end = size - format->head_bytes;
        for (size_t i = bytes - 2 * format->head_bytes + 1; !found && i-- > 0;) {
            found = memcmp(tail + i, "DNA1", 4) == 0 && txm_block_decode(format, tail + i, size - bytes + i, out) &&
                    out->position + out->bytes == end;
        }
    }
    free(tail);
    return found;
}

/* Walks all blocks, records them on the tape, and parses the definitions. */
static txm_status walk_to_definitions(txm_stream *stream, const txm_blend_layout *format, txm_tape *tape, txm_dna **dna,
                                      txm_error *err)
{
    txm_walk blocks = {.stream = stream, .format = format};
    txm_block block;
    for (;;) {
        txm_status status = txm_walk_next(&blocks, &block, err);
        if (status == TXM_OK)
            status = record(tape, stream, &block, err);
        if (status == TXM_OK && !*dna && txm_block_is(&block, "DNA1"))
            status = parse_at(stream, format, &block, dna, err);
        if (status != TXM_OK)
            return status;
        if (txm_block_is(&block, "ENDB")) {
            return *dna ? TXM_OK
                        : txm_fail(err, TXM_STATUS_CORRUPT, "%s: the file has no struct definitions (DNA1 block)",
                                   txm_stream_name(stream));
        }
    }
}

/* Reading from the end saves a whole pass over files of gigabytes. */
txm_status txm_locate_dna(txm_stream *stream, const txm_blend_layout *format, txm_tape *tape, txm_dna **out,
                          txm_error *err)
{
    txm_block block;
    txm_dna *dna = NULL;
    txm_status status = locate_from_end(stream, format, &block) ? parse_at(stream, format, &block, &dna, err)
                                                                : walk_to_definitions(stream, format, tape, &dna, err);
    if (status != TXM_OK) {
        txm_dna_free(&dna);
        return status;
    }
    *out = dna;
    return TXM_OK;
}
