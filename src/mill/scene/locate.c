/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the struct definitions. Only ENDB follows DNA1, so in a plain or seekable file there is one position near the
 * end at which a head has a length that leads to ENDB and then to the end of the file. If it is found, the blocks need
 * not be walked. If the stream cannot seek, or the end is not as expected, the blocks are walked from the start up to
 * DNA1, and recorded on the tape.
 */
#include "mill/scene/locate.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"

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
    if (!payload) {
        return txm_no_memory(err, name);
    }
    txm_status status = txm_stream_seek(stream, block->position, err);
    if (status == TXM_OK) {
        status = txm_stream_read(stream, payload, bytes, err);
    }
    if (status != TXM_OK) {
        free(payload);
        return status;
    }
    return txm_dna_parse(format, payload, bytes, name, out, err);
}

/* Looks for the head with matching lengths in the last bytes of the file. */
static bool find_in_tail(const txm_blend_layout *format, const uint8_t *tail, size_t tail_bytes, uint64_t tail_at,
                         txm_block *out)
{
    size_t head_bytes = format->head_bytes;
    if (tail_bytes < 2 * head_bytes || memcmp(tail + tail_bytes - head_bytes, "ENDB", 4) != 0) {
        return false;
    }
    for (size_t i = tail_bytes - 2 * head_bytes + 1; i-- > 0;) {
        if (tail[i] == 'D' && memcmp(tail + i, "DNA1", 4) == 0 &&
            txm_block_decode(format, tail + i, tail_at + i, out) &&
            out->position + out->bytes == tail_at + tail_bytes - head_bytes) {
            return true;
        }
    }
    return false;
}

/* A file without the expected end is not an error here: the walk will report what is wrong. */
static bool locate_from_end(txm_stream *stream, const txm_blend_layout *format, txm_block *out)
{
    uint64_t size;
    if (!txm_stream_size(stream, &size) || size < format->header_bytes) {
        return false;
    }
    size_t bytes = size < TAIL_BYTES ? (size_t)size : TAIL_BYTES;
    uint8_t *tail = malloc(bytes);
    bool found = tail && txm_stream_seek(stream, size - bytes, NULL) == TXM_OK &&
                 txm_stream_read(stream, tail, bytes, NULL) == TXM_OK &&
                 find_in_tail(format, tail, bytes, size - bytes, out);
    free(tail);
    return found;
}

/* Walks all blocks, records them on the tape, and parses the definitions. */
static txm_status walk(txm_stream *stream, const txm_blend_layout *format, txm_tape *tape, txm_dna **dna,
                       txm_error *err)
{
    txm_walk blocks = {.stream = stream, .format = format};
    txm_block block;
    for (;;) {
        txm_status status = txm_walk_next(&blocks, &block, err);
        if (status == TXM_OK) {
            status = txm_tape_record(tape, stream, &block, err);
        }
        if (status == TXM_OK && !*dna && txm_block_is(&block, "DNA1")) {
            status = parse_at(stream, format, &block, dna, err);
        }
        if (status != TXM_OK) {
            return status;
        }
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
                                                                : walk(stream, format, tape, &dna, err);
    if (status != TXM_OK) {
        txm_dna_free(&dna);
        return status;
    }
    *out = dna;
    return TXM_OK;
}
