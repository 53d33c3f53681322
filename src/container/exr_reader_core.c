/* SPDX-License-Identifier: Apache-2.0
 *
 * EXR's rarer codecs (PIZ, PXR24, B44; versions from 3.2 on: DWA) through OpenEXRCore, which reads from our map and
 * hands back a tile's planes as they stood in the file. Its context is made when the first such tile is read.
 */
#include <openexr.h>
#include <stdlib.h>

#include "container/exr_reader.h"
#include "core/mem.h"

struct txm_exr_core {
    exr_context_t context;
};

/* Failures are reported by status: nothing is printed. */
static void stay_quiet(exr_const_context_t context, exr_result_t code, const char *message)
{
    (void)context, (void)code, (void)message;
}

static int64_t read_map(exr_const_context_t context, void *user, void *buffer, uint64_t bytes, uint64_t offset,
                        exr_stream_error_func_ptr_t error)
{
    (void)context, (void)error;
    const txm_tx *tx = user;
    if (offset > tx->map.bytes)
        return -1;
    if (bytes > tx->map.bytes - offset)
        bytes = tx->map.bytes - offset;
    memcpy(buffer, tx->map.data + offset, bytes);
    return (int64_t)bytes;
}

static int64_t map_size(exr_const_context_t context, void *user)
{
    (void)context;
    return (int64_t)((const txm_tx *)user)->map.bytes;
}

static struct txm_exr_core *core_new(const txm_tx *tx)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.error_handler_fn = stay_quiet;
    init.user_data = (void *)tx;
    init.read_fn = read_map;
    init.size_fn = map_size;
    init.max_image_width = init.max_image_height = TXM_MAX_SIZE_PX;
    init.max_tile_width = init.max_tile_height = TXM_MAX_TILE_PX;
    struct txm_exr_core *core = txm_calloc(1, sizeof *core);
    if (core && exr_start_read(&core->context, tx->path, &init) != EXR_ERR_SUCCESS) {
        free(core);
        core = NULL;
    }
    return core;
}

/* The file's context; the first thread that needs it makes it. NULL if OpenEXRCore refuses the file. */
static struct txm_exr_core *core_of(txm_tx *tx)
{
    struct txm_exr_core *core = atomic_load_explicit(&tx->exr_core, memory_order_acquire);
    if (core)
        return core;
    pthread_mutex_lock(&tx->lock);
    core = atomic_load(&tx->exr_core);
    if (!core && (core = core_new(tx)))
        atomic_store_explicit(&tx->exr_core, core, memory_order_release);
    pthread_mutex_unlock(&tx->lock);
    return core;
}

void txm_exr_core_free(txm_tx *tx)
{
    struct txm_exr_core *core = atomic_load(&tx->exr_core);
    if (core)
        exr_finish(&core->context);
    free(core);
    atomic_store(&tx->exr_core, NULL);
}

void txm_exr_chunk_free(txm_scratch *scratch)
{
    exr_decode_pipeline_t *chunk = scratch->exr_chunk;
    if (chunk && chunk->context)
        exr_decoding_destroy(chunk->context, chunk);
    free(chunk);
    scratch->exr_chunk = NULL;
}

txm_status txm_exr_core_decode(const txm_tx *tx, const txm_tile_id *tile, txm_scratch *scratch, uint8_t *dst,
                               txm_error *err)
{
    struct txm_exr_core *core = core_of((txm_tx *)tx);
    if (!core)
        return txm_fail(err, TXM_CORRUPT, "OpenEXRCore cannot open the file");
    if (!scratch->exr_chunk && !(scratch->exr_chunk = txm_calloc(1, sizeof(exr_decode_pipeline_t))))
        return txm_fail(err, TXM_NO_MEMORY, "memory is exhausted");
    exr_decode_pipeline_t *chunk = scratch->exr_chunk;
    size_t raw_bytes = (size_t)tile->w * tile->h * tx->pixel_bytes;
    int level = (int)tile->level;
    exr_chunk_info_t info;
    exr_result_t rv = exr_read_tile_chunk_info(core->context, 0, (int)tile->x, (int)tile->y, level, level, &info);
    /* The two parsers agree on every sound file; where they do not, sizes are not to be trusted. */
    if (rv == EXR_ERR_SUCCESS && (info.unpacked_size != raw_bytes || info.packed_size >= raw_bytes))
        rv = EXR_ERR_CORRUPT_CHUNK;
    if (rv == EXR_ERR_SUCCESS)
        rv = chunk->context ? exr_decoding_update(core->context, 0, &info, chunk)
                            : exr_decoding_initialize(core->context, 0, &info, chunk);
    if (rv == EXR_ERR_SUCCESS && !chunk->read_fn)
        rv = exr_decoding_choose_default_routines(core->context, 0, chunk);
    if (rv == EXR_ERR_SUCCESS) {
        chunk->unpack_and_convert_fn = NULL; /* the pipeline ends with the planes, which we weave ourselves */
        rv = exr_decoding_run(core->context, 0, chunk);
    }
    if (rv == EXR_ERR_SUCCESS && (!chunk->unpacked_buffer || chunk->unpacked_alloc_size < raw_bytes))
        rv = EXR_ERR_CORRUPT_CHUNK;
    if (rv != EXR_ERR_SUCCESS) {
        txm_exr_chunk_free(scratch); /* whatever state it is in */
        if (rv == EXR_ERR_FEATURE_NOT_IMPLEMENTED)
            return txm_fail(err, TXM_UNSUPPORTED, "OpenEXRCore does not decode %s", tx->info.compression);
        return txm_fail(err, rv == EXR_ERR_OUT_OF_MEMORY ? TXM_NO_MEMORY : TXM_CORRUPT, "its %s data are damaged (%s)",
                        tx->info.compression, exr_get_default_error_message(rv));
    }
    txm_exr_interleave(chunk->unpacked_buffer, dst, tile->w, tile->h, tx->info.channels,
                       (unsigned)txm_type_bytes(tx->info.type), tx->exr_slot);
    return TXM_OK;
}
