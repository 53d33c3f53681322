/* SPDX-License-Identifier: Apache-2.0
 *
 * Scans the blocks of a file in one pass. In the scene itself every node tree counts, so only data-blocks that own
 * trees, images and libraries are read, and all other blocks are skipped. Of a library only what is linked counts,
 * which may be a collection that leads through objects and meshes to materials: the pointers of every data-block to
 * other data-blocks are kept as edges of a graph.
 */
#include "mill/scene/blend/scan.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "mill/scene/blend/digest.h"
#include "mill/scene/blend/walk.h"

typedef struct scan {
    txm_stream *stream;
    const txm_scan_options *options;
    txm_store *store;
    txm_model *model;
    txm_schema schema;
    txm_dna *dna;
    txm_walk walk;
    txm_run run;
    uint32_t current; /* the ID of this run; TXM_NO_INDEX: one that does not matter */
    uint32_t next_id; /* the next ID; with a graph all IDs are already known */
    uint8_t *payload; /* TXM_MAX_EDGE_BLOCK_BYTES: the part of the current block that is read */
} scan;

/* The message names this file; that of txm_scene_exhausted names the scene. */
static txm_status exhausted(const scan *s, txm_error *err)
{
    if (!s->store->over_limit)
        return txm_no_memory(err, txm_stream_name(s->stream));
    return txm_fail(err, TXM_STATUS_TOO_LARGE, "%s: its node trees and data-blocks need more than %zu MiB of memory",
                    txm_stream_name(s->stream), s->store->limit_bytes >> 20);
}

/* ---- what counts ---------------------------------------------------------------------------------------------- */

/* Whether the payload of a block of this kind is needed in a run of this role. */
static bool wants(const scan *s, txm_role role, txm_kind kind)
{
    switch (role) {
    case TXM_ROLE_TREE:
        return kind == TXM_KIND_TREE || kind == TXM_KIND_NODE || kind == TXM_KIND_TEX_IMAGE ||
               kind == TXM_KIND_TEX_ENVIRONMENT ||
               (s->options->links && (kind == TXM_KIND_LINK || kind == TXM_KIND_SOCKET));
    case TXM_ROLE_IMAGE:
        return kind == TXM_KIND_IMAGE || kind == TXM_KIND_TILE || kind == TXM_KIND_IMAGE_PACKED ||
               kind == TXM_KIND_PACKED || kind == TXM_KIND_OVERRIDE || kind == TXM_KIND_OVERRIDDEN;
    case TXM_ROLE_LIBRARY:
        return kind == TXM_KIND_LIBRARY || kind == TXM_KIND_PACKED;
    default:
        return false;
    }
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

/* Every data-block has an entry, even if it only passes links on. */
static bool add_id(scan *s, const txm_block *block)
{
    txm_id *id = TXM_STORE_ADD(s->store, &s->model->ids);
    if (id) {
        *id = (txm_id){.address = block->address,
                       .name = "",
                       .role = txm_role_of(block->code),
                       .target = TXM_NO_INDEX,
                       .image = TXM_NO_INDEX,
                       .own_library = TXM_NO_INDEX};
    }
    return id != NULL;
}

/* Collects the addresses of all IDs, so that the second pass can recognise pointers to them. */
static txm_status survey(scan *s, txm_error *err)
{
    txm_block block;
    s->walk.at = 0;
    for (;;) {
        txm_status status = txm_walk_next(&s->walk, &block, err);
        if (status != TXM_OK)
            return status;
        if (txm_block_is(&block, "ENDB"))
            return txm_model_order_addresses(s->model) ? TXM_OK : exhausted(s, err);
        if (txm_block_is_id(&block) && !add_id(s, &block))
            return exhausted(s, err);
    }
}

/* Adds an edge for every word of a payload that is the address of an ID. Since it is not known which words are
 * pointers, this may find too many, but never too few. */
static bool add_edges(scan *s, const uint8_t *payload, size_t bytes)
{
    size_t step = s->schema.format.pointer_bytes;
    for (size_t i = 0; i + step <= bytes; i += step) {
        uint64_t word = txm_load_uint(payload + i, step, s->schema.format.big_endian);
        uint32_t target = txm_model_find(s->model, word), last = TXM_NO_INDEX;
        if (s->model->edges.count > s->model->ids.data[s->current].edges.begin)
            last = s->model->edges.data[s->model->edges.count - 1];
        /* Objects with many slots for one material are common, so immediate repetitions are skipped. */
        if (target == TXM_NO_INDEX || target == s->current || target == last)
            continue;
        uint32_t *edge = TXM_STORE_ADD(s->store, &s->model->edges);
        if (!edge)
            return false;
        *edge = target;
    }
    return true;
}

/* ---- runs ----------------------------------------------------------------------------------------------------- */

/* Makes the block's ID the current one; none if it does not matter. */
static txm_status begin_run(scan *s, const txm_block *block, txm_error *err)
{
    txm_role role = txm_role_of(block->code);
    txm_run_reset(&s->run);
    if (s->options->graph) {
        if (s->next_id == s->model->ids.count) {
            return txm_fail(err, TXM_STATUS_CHANGED, "%s: the file changed while it was read",
                            txm_stream_name(s->stream));
        }
        s->current = s->next_id++;
    } else if (role != TXM_ROLE_OTHER && role != TXM_ROLE_INTERFACE) {
        if (!add_id(s, block))
            return exhausted(s, err);
        s->current = (uint32_t)s->model->ids.count - 1;
    }
    if (s->current != TXM_NO_INDEX) {
        uint32_t edges = (uint32_t)s->model->edges.count;
        s->model->ids.data[s->current].edges = (txm_span){edges, edges};
    }
    return TXM_OK;
}

/* Reads as much of a block as is needed: the part with pointers, the fields that are kept, or nothing. */
static txm_status add_to_run(scan *s, const txm_block *block, bool is_head, txm_error *err)
{
    txm_role role = s->model->ids.data[s->current].role;
    txm_kind kind = txm_schema_kind(&s->schema, block->sdna);
    /* The arrays of meshes, which are large and contain no pointers, are not read. Struct 0 is also used for raw data,
     * such as arrays of pointers. */
    bool edges = s->options->graph && role != TXM_ROLE_INTERFACE && block->bytes <= TXM_MAX_EDGE_BLOCK_BYTES &&
                 (block->sdna == 0 || txm_dna_has_pointers(s->dna, block->sdna));
    /* Of packed files only the place is kept. The names of overridden properties are also blocks without a kind, but
     * short ones. */
    bool place = kind == TXM_KIND_OTHER && (role == TXM_ROLE_IMAGE || role == TXM_ROLE_LIBRARY);
    /* Of what animates only the paths of properties are read. */
    bool path = kind == TXM_KIND_OTHER && !is_head && (role == TXM_ROLE_TREE || role == TXM_ROLE_ACTION) &&
                block->sdna == 0 && block->bytes <= TXM_RUN_MAX_RNA_PATH_BYTES;
    bool keep = is_head || wants(s, role, kind) || (place && block->bytes <= TXM_RUN_MAX_NAME_BYTES);
    size_t limit = edges ? TXM_MAX_EDGE_BLOCK_BYTES : keep || path ? TXM_RUN_MAX_BLOCK_BYTES : 0;
    size_t bytes = block->bytes < limit ? (size_t)block->bytes : limit;
    /* The block is read in one piece, because compressed streams must never go back. */
    txm_status status = txm_walk_read(&s->walk, block, s->payload, bytes, err);
    if (status != TXM_OK)
        return status;
    if (path)
        s->model->varies_frames |= memmem(s->payload, bytes, "image_user.", 11) != NULL;
    if (is_head) { /* every data-block begins with the struct ID */
        txm_id *id = &s->model->ids.data[s->current];
        const txm_record head = {s->payload, bytes};
        id->name = txm_record_string(&s->schema, head, TXM_ID_NAME, s->store);
        id->library = txm_record_address(&s->schema, head, TXM_ID_LIB);
        if (!id->name)
            return exhausted(s, err);
    }
    if (keep || place) {
        size_t kept = !keep ? 0 : bytes < TXM_RUN_MAX_BLOCK_BYTES ? bytes : TXM_RUN_MAX_BLOCK_BYTES;
        bool added = txm_run_add(&s->run, block, kind, s->payload, kept);
        if (!added && !s->run.budget.over_limit)
            return exhausted(s, err);
        if (!added) {
            return txm_fail(err, TXM_STATUS_TOO_LARGE,
                            "%s: the data-block %s, around byte %llu, has more than %d MiB of nodes",
                            txm_stream_name(s->stream), s->model->ids.data[s->current].name,
                            (unsigned long long)block->position, TXM_RUN_MAX_BYTES >> 20);
        }
    }
    /* The list pointers in the ID struct lead to neighbours, which do not matter. */
    size_t skip = is_head ? txm_dna_struct_bytes(s->dna, s->schema.structs[TXM_KIND_ID]) : 0;
    if (edges && skip < bytes && !add_edges(s, s->payload + skip, bytes - skip))
        return exhausted(s, err);
    return TXM_OK;
}

static txm_status read_global(scan *s, const txm_block *block, txm_error *err)
{
    size_t bytes = block->bytes < TXM_RUN_MAX_BLOCK_BYTES ? (size_t)block->bytes : TXM_RUN_MAX_BLOCK_BYTES;
    txm_status status = txm_walk_read(&s->walk, block, s->payload, bytes, err);
    if (status != TXM_OK)
        return status;
    txm_record r = {s->payload, bytes};
    s->model->subversion = (int)txm_record_integer(&s->schema, r, TXM_GLOBAL_SUBVERSION, 0);
    const char *space = txm_record_string(&s->schema, r, TXM_GLOBAL_SCENE_LINEAR, s->store);
    if (!space)
        return exhausted(s, err);
    strncpy(s->model->working_space, space, sizeof s->model->working_space - 1);
    s->model->has_to_xyz = txm_record_floats(&s->schema, r, TXM_GLOBAL_TO_XYZ, s->model->to_xyz, 9);
    return TXM_OK;
}

/* ---- the pass ------------------------------------------------------------------------------------------------- */

/* Reads blocks up to ENDB; a file without it was truncated. */
static txm_status pass(scan *s, txm_error *err)
{
    txm_block block;
    s->walk.at = 0;
    for (;;) {
        txm_status status = txm_walk_next(&s->walk, &block, err);
        const bool data = status == TXM_OK && txm_block_is(&block, "DATA");
        if (status == TXM_OK && !data && s->current != TXM_NO_INDEX) { /* it ends the run before it */
            const txm_digest digest = {&s->schema, s->model, s->store, s->options->links};
            status = txm_digest_run(&digest, s->current, &s->run) ? TXM_OK : exhausted(s, err);
            s->model->ids.data[s->current].edges.end = (uint32_t)s->model->edges.count;
            s->current = TXM_NO_INDEX;
        }
        if (status == TXM_OK && txm_block_is(&block, "GLOB")) {
            status = read_global(s, &block, err);
        } else if (status == TXM_OK) {
            status = txm_block_is_id(&block) ? begin_run(s, &block, err) : TXM_OK;
            if (status == TXM_OK && s->current != TXM_NO_INDEX)
                status = add_to_run(s, &block, !data, err);
        }
        if (status != TXM_OK)
            return status;
        if (txm_block_is(&block, "ENDB")) {
            /* With a graph, addresses were sorted before the edges were found. */
            bool ok = s->options->graph || txm_model_order_addresses(s->model);
            return ok && txm_model_order_names(s->model) ? TXM_OK : exhausted(s, err);
        }
    }
}

/* Reads the file once from start to end, so that compressed files are decompressed once. */
txm_status txm_scan(txm_stream *stream, const txm_scan_options *options, txm_store *store, txm_model *model,
                    txm_error *err)
{
    scan s = {.stream = stream, .options = options, .store = store, .model = model, .current = TXM_NO_INDEX};
    txm_tape tape = {.graph = options->graph, .limit_bytes = TXM_TAPE_MAX_BYTES};
    txm_blend_layout format;
    txm_status status = txm_blend_read_header(stream, &format, err);
    if (status != TXM_OK)
        return status;
    model->format = format;
    strncpy(model->compression, txm_stream_compression(stream), sizeof model->compression - 1);
    status = txm_locate_dna(stream, &format, &tape, &s.dna, err);
    if (status == TXM_OK) {
        txm_schema_init(&s.schema, &format, s.dna);
        s.walk = (txm_walk){.stream = stream, .format = &format, .tape = tape.data.size > 0 ? &tape : NULL};
        s.payload = malloc(TXM_MAX_EDGE_BLOCK_BYTES);
        if (!s.payload)
            status = txm_no_memory(err, txm_stream_name(stream));
    }
    if (status == TXM_OK && options->graph)
        status = survey(&s, err);
    if (status == TXM_OK)
        status = pass(&s, err);
    if (status != TXM_OK)
        txm_model_free(model);
    free(s.payload);
    txm_run_free(&s.run);
    txm_tape_free(&tape);
    txm_dna_free(&s.dna);
    return status;
}
