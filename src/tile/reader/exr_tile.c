/* SPDX-License-Identifier: Apache-2.0
 *
 * Decodes one EXR tile. Its chunk names the tile and holds rows of planes, in alphabetical order of the channels; data
 * that does not shrink is stored uncompressed. The rarer codecs (PIZ, PXR24, B44; from version 3.2 on also DWA) go
 * through OpenEXRCore, which reads from our map and returns the planes of a tile as they are in the file. Its context
 * is created when the first tile with one of these codecs is read.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mem.h"
#include "tile/decode/exr_decode.h"
#include "tile/reader/exr_reader.h"
#include "tile/reader/openexr_core.h"

#ifdef __SSE2__
#include <emmintrin.h>

#include "base/os/pages.h"
#endif

/* ---- from planes to pixels --------------------------------------------------------------------------------------- */

#ifdef __SSE2__
/* Four planes of 16-bit samples, eight pixels at a time; returns the number of pixels of the row that were done. */
static uint32_t weave_row_16x4(const uint8_t *const plane[4], uint8_t *dst, uint32_t w)
{
    uint32_t x = 0;
    for (; x + 8 <= w; x += 8) {
        __m128i r = _mm_loadu_si128((const void *)(plane[0] + 2 * x));
        __m128i g = _mm_loadu_si128((const void *)(plane[1] + 2 * x));
        __m128i b = _mm_loadu_si128((const void *)(plane[2] + 2 * x));
        __m128i a = _mm_loadu_si128((const void *)(plane[3] + 2 * x));
        __m128i rg = _mm_unpacklo_epi16(r, g), ba = _mm_unpacklo_epi16(b, a);
        __m128i *out = (void *)(dst + 8 * (size_t)x);
        _mm_storeu_si128(out, _mm_unpacklo_epi32(rg, ba));
        _mm_storeu_si128(out + 1, _mm_unpackhi_epi32(rg, ba));
        rg = _mm_unpackhi_epi16(r, g);
        ba = _mm_unpackhi_epi16(b, a);
        _mm_storeu_si128(out + 2, _mm_unpacklo_epi32(rg, ba));
        _mm_storeu_si128(out + 3, _mm_unpackhi_epi32(rg, ba));
    }
    return x;
}

/* Four planes of 32-bit samples, four pixels at a time. */
static uint32_t weave_row_32x4(const uint8_t *const plane[4], uint8_t *dst, uint32_t w)
{
    uint32_t x = 0;
    for (; x + 4 <= w; x += 4) {
        __m128i r = _mm_loadu_si128((const void *)(plane[0] + 4 * x));
        __m128i g = _mm_loadu_si128((const void *)(plane[1] + 4 * x));
        __m128i b = _mm_loadu_si128((const void *)(plane[2] + 4 * x));
        __m128i a = _mm_loadu_si128((const void *)(plane[3] + 4 * x));
        __m128i rg = _mm_unpacklo_epi32(r, g), ba = _mm_unpacklo_epi32(b, a);
        __m128i *out = (void *)(dst + 16 * (size_t)x);
        _mm_storeu_si128(out, _mm_unpacklo_epi64(rg, ba));
        _mm_storeu_si128(out + 1, _mm_unpackhi_epi64(rg, ba));
        rg = _mm_unpackhi_epi32(r, g);
        ba = _mm_unpackhi_epi32(b, a);
        _mm_storeu_si128(out + 2, _mm_unpacklo_epi64(rg, ba));
        _mm_storeu_si128(out + 3, _mm_unpackhi_epi64(rg, ba));
    }
    return x;
}
#endif

/* Interleaves rows of planes (`planes` planes of w samples per row) into pixels; the n-th plane becomes channel
 * slot[n]. */
static void interleave(const uint8_t *src, uint8_t *dst, uint32_t w, uint32_t h, uint32_t planes, unsigned sample_bytes,
                       const uint8_t *slot)
{
    size_t plane_bytes = (size_t)w * sample_bytes, pixel_bytes = planes * sample_bytes;
    for (uint32_t y = 0; y < h; y++, dst += w * pixel_bytes) {
        const uint8_t *plane[TXM_MAX_CHANNELS] = {0};
        for (uint32_t c = 0; c < planes; c++, src += plane_bytes)
            plane[slot[c]] = src;
        uint32_t done = 0;
#ifdef __SSE2__
        if (planes == 4)
            done = sample_bytes == 2 ? weave_row_16x4(plane, dst, w) : weave_row_32x4(plane, dst, w);
#endif
        for (uint32_t c = 0; c < planes; c++)
            for (uint32_t x = done; x < w; x++)
                memcpy(dst + x * pixel_bytes + c * sample_bytes, plane[c] + x * sample_bytes, sample_bytes);
    }
}

/* ---- OpenEXRCore ------------------------------------------------------------------------------------------------- */

struct txm_exr_core {
    const txm_openexr_core *exr;
    exr_context_t context;
    atomic_size_t bytes; /* allocated by the context */
};

/* Bytes that OpenEXRCore has allocated in this thread, less those it has freed. Its allocator does not receive the
 * file, so calls that may grow a context are measured one by one. */
static _Thread_local size_t core_taken;

static void *core_allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    core_taken += txm_usable_bytes(memory);
    return memory;
}

static void core_release(void *memory)
{
    core_taken -= txm_usable_bytes(memory);
    free(memory);
}

/* Suppresses messages, because failures are reported by status. */
static void stay_quiet(exr_const_context_t context, exr_result_t code, const char *message)
{
    (void)context, (void)code, (void)message;
}

/* OpenEXRCore reads through this function and never opens the file itself. */
static int64_t read_map(exr_const_context_t context, void *user, void *buffer, uint64_t bytes, uint64_t offset,
                        exr_stream_error_func_ptr_t error)
{
    (void)context, (void)error;
    const txm_tx *tx = user;
    if (offset > tx->map.bytes)
        return -1;
    if (bytes > tx->map.bytes - offset)
        bytes = tx->map.bytes - offset;
    return txm_map_copy(&tx->map, offset, bytes, buffer) ? (int64_t)bytes : -1;
}

static int64_t map_size(exr_const_context_t context, void *user)
{
    (void)context;
    return (int64_t)((const txm_tx *)user)->map.bytes;
}

/* Sets our own limits, so that its header parser refuses the same files as ours. */
static struct txm_exr_core *core_new(const txm_openexr_core *exr, const txm_tx *tx, txm_error *err)
{
    exr_context_initializer_t init = EXR_DEFAULT_CONTEXT_INITIALIZER;
    init.error_handler_fn = stay_quiet;
    init.user_data = (void *)tx;
    init.read_fn = read_map;
    init.size_fn = map_size;
    init.alloc_fn = core_allocate;
    init.free_fn = core_release;
    init.max_image_width = init.max_image_height = TXM_MAX_SIZE_PX;
    init.max_tile_width = init.max_tile_height = TXM_MAX_TILE_PX;
    struct txm_exr_core *core = txm_calloc(1, sizeof *core);
    const size_t before = core_taken;
    const exr_result_t rv = core ? exr->exr_start_read(&core->context, tx->path, &init) : EXR_ERR_OUT_OF_MEMORY;
    if (rv == EXR_ERR_OUT_OF_MEMORY)
        txm_no_memory(err, NULL);
    else if (rv != EXR_ERR_SUCCESS)
        txm_fail(err, TXM_STATUS_CORRUPT, "OpenEXRCore cannot open the file");
    if (rv != EXR_ERR_SUCCESS) {
        free(core);
        return NULL;
    }
    core->exr = exr;
    atomic_init(&core->bytes, core_taken - before);
    return core;
}

/* The file's context, created by the first thread that needs it. NULL, with the failure, if OpenEXRCore refuses the
 * file. */
static struct txm_exr_core *core_of(const txm_openexr_core *exr, txm_tx *tx, txm_error *err)
{
    struct txm_exr_core *core = atomic_load_explicit(&tx->exr_core, memory_order_acquire);
    if (core)
        return core;
    pthread_mutex_lock(&tx->lock);
    core = atomic_load(&tx->exr_core);
    if (!core && (core = core_new(exr, tx, err)))
        atomic_store_explicit(&tx->exr_core, core, memory_order_release);
    pthread_mutex_unlock(&tx->lock);
    return core;
}

/* Called when the file is closed and no thread is reading. */
void txm_exr_core_free(txm_tx *tx)
{
    struct txm_exr_core *core = atomic_load(&tx->exr_core);
    if (core)
        core->exr->exr_finish(&core->context);
    free(core);
    atomic_store(&tx->exr_core, NULL);
}

uint64_t txm_exr_core_bytes(const txm_tx *tx)
{
    struct txm_exr_core *core = atomic_load(&((txm_tx *)tx)->exr_core);
    return core ? txm_usable_bytes(core) + atomic_load(&core->bytes) : 0;
}

/* PIZ buffers are much larger than a tile: its Huffman tables take 900 KB. */
uint64_t txm_exr_chunk_bytes(const txm_scratch *scratch)
{
    const exr_decode_pipeline_t *chunk = scratch->exr_chunk;
    return chunk ? txm_usable_bytes(scratch->exr_chunk) + chunk->packed_alloc_size + chunk->unpacked_alloc_size +
                       chunk->scratch_alloc_size_1 + chunk->scratch_alloc_size_2
                 : 0;
}

/* Each scratch object has its own decoding pipeline, which is kept from tile to tile. */
void txm_exr_chunk_free(txm_scratch *scratch)
{
    exr_decode_pipeline_t *chunk = scratch->exr_chunk;
    if (chunk && chunk->context)
        txm_openexr_core_load()->exr_decoding_destroy(chunk->context, chunk);
    free(chunk);
    scratch->exr_chunk = NULL;
}

/* Decodes a tile with OpenEXRCore into interleaved pixels at `dst`, without gaps. */
static txm_status core_decode(const txm_tx *tx, const txm_tile_id *tile, txm_scratch *scratch, uint8_t *dst,
                              txm_error *err)
{
    const txm_openexr_core *exr = txm_openexr_core_load();
    if (!exr && txm_openexr_core_lacked_memory())
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "there is not enough memory to load " TXM_OPENEXR_SONAME);
    if (!exr)
        return txm_fail(err, TXM_STATUS_NOT_INSTALLED,
                        "its %s data need the library " TXM_OPENEXR_SONAME ", which is not installed",
                        tx->info.compression);
    txm_error refused = {0};
    struct txm_exr_core *core = core_of(exr, (txm_tx *)tx, &refused);
    if (!core)
        return txm_fail_as(err, &refused);
    if (!scratch->exr_chunk && !(scratch->exr_chunk = txm_calloc(1, sizeof(exr_decode_pipeline_t))))
        return txm_no_memory(err, NULL);
    exr_decode_pipeline_t *chunk = scratch->exr_chunk;
    size_t raw_bytes = (size_t)tile->w * tile->h * tx->pixel_bytes;
    int level = (int)tile->level;
    exr_chunk_info_t info;
    const size_t before = core_taken; /* the first tile reads the table of all tiles, which stays in memory */
    exr_result_t rv = exr->exr_read_tile_chunk_info(core->context, 0, (int)tile->x, (int)tile->y, level, level, &info);
    atomic_fetch_add(&core->bytes, core_taken - before);
    /* Both parsers agree on every valid file; if they differ, the sizes cannot be trusted. */
    if (rv == EXR_ERR_SUCCESS && (info.unpacked_size != raw_bytes || info.packed_size >= raw_bytes))
        rv = EXR_ERR_CORRUPT_CHUNK;
    if (rv == EXR_ERR_SUCCESS)
        rv = chunk->context ? exr->exr_decoding_update(core->context, 0, &info, chunk)
                            : exr->exr_decoding_initialize(core->context, 0, &info, chunk);
    if (rv == EXR_ERR_SUCCESS && !chunk->read_fn)
        rv = exr->exr_decoding_choose_default_routines(core->context, 0, chunk);
    if (rv == EXR_ERR_SUCCESS) {
        chunk->unpack_and_convert_fn = NULL; /* the pipeline ends with the planes, which are interleaved below */
        rv = exr->exr_decoding_run(core->context, 0, chunk);
    }
    if (rv == EXR_ERR_SUCCESS && (!chunk->unpacked_buffer || chunk->unpacked_alloc_size < raw_bytes))
        rv = EXR_ERR_CORRUPT_CHUNK;
    if (rv != EXR_ERR_SUCCESS) {
        txm_exr_chunk_free(scratch); /* its state after an error is unknown */
        if (rv == EXR_ERR_FEATURE_NOT_IMPLEMENTED)
            return txm_fail(err, TXM_STATUS_UNSUPPORTED, "OpenEXRCore does not decode %s", tx->info.compression);
        return txm_fail(err, rv == EXR_ERR_OUT_OF_MEMORY ? TXM_STATUS_NO_MEMORY : TXM_STATUS_CORRUPT,
                        "its %s data is damaged (%s)", tx->info.compression, exr->exr_get_default_error_message(rv));
    }
    interleave(chunk->unpacked_buffer, dst, tile->w, tile->h, tx->info.channels,
               (unsigned)txm_type_bytes(tx->info.type), tx->exr_slot);
    return TXM_OK;
}

/* ---- tiles ------------------------------------------------------------------------------------------------------- */

/* The offset of a tile and the header of its chunk must agree, because offset tables of damaged files may point to
 * other tiles. */
txm_status txm_exr_find_tile(const txm_tx *tx, const txm_tile_id *tile, txm_span *out, txm_error *err)
{
    const txm_reader_level *l = &tx->levels[tile->level];
    uint64_t offset = txm_load_le64(l->offsets + 8 * ((size_t)tile->y * l->shape.tiles_x + tile->x));
    /* This was checked when the file was opened, but the map shows the current state of the file. */
    if (!txm_map_holds(&tx->map, offset, TXM_EXR_CHUNK_HEADER_BYTES))
        return txm_fail(err, TXM_STATUS_CORRUPT, "lies outside of the file");
    uint8_t head[TXM_EXR_CHUNK_HEADER_BYTES];
    if (!txm_map_copy(&tx->map, offset, sizeof head, head))
        return txm_fail(err, TXM_STATUS_IO, "cannot be read");
    uint32_t bytes = txm_load_le32(head + 16);
    if (txm_load_le32(head) != tile->x || txm_load_le32(head + 4) != tile->y ||
        txm_load_le32(head + 8) != tile->level || txm_load_le32(head + 12) != tile->level)
        return txm_fail(err, TXM_STATUS_CORRUPT, "another tile is in its place (byte %" PRIu64 ")", offset);
    if (!txm_map_holds(&tx->map, offset + TXM_EXR_CHUNK_HEADER_BYTES, bytes))
        return txm_fail(err, TXM_STATUS_CORRUPT, "its %u bytes at byte %" PRIu64 " reach beyond the end of the file",
                        bytes, offset + TXM_EXR_CHUNK_HEADER_BYTES);
    *out = (txm_span){tx->map.data + offset + TXM_EXR_CHUNK_HEADER_BYTES, bytes};
    return TXM_OK;
}

/* Decodes ZIP, ZIPS or RLE into scratch->tile, as planes row by row. */
static txm_status expand_exr_tile(const txm_tx *tx, const txm_span *span, txm_scratch *scratch, size_t raw_bytes,
                                  txm_error *err)
{
    bool ok;
    if (tx->exr_compression == TXM_EXR_RLE) {
        ok = txm_exr_rle_decode(span->data, span->bytes, scratch->raw, raw_bytes);
    } else {
        txm_status status = txm_inflate(span, TXM_ZLIB_PARTS, scratch, scratch->raw, raw_bytes, &ok, err);
        if (status != TXM_OK)
            return status;
    }
    if (!ok)
        return txm_fail(err, TXM_STATUS_CORRUPT, "its %s data is damaged (%zu bytes)", tx->info.compression,
                        span->bytes);
    txm_exr_unsplit(scratch->raw, scratch->tile, raw_bytes);
    return TXM_OK;
}

/* A chunk as large as its pixels is not compressed, whatever the header says. */
txm_status txm_exr_decode_tile(const txm_tx *tx, const txm_tile_id *tile, const txm_span *span, txm_scratch *scratch,
                               txm_pixels *out, txm_error *err)
{
    size_t raw_bytes = (size_t)tile->w * tile->h * tx->pixel_bytes;
    txm_status status = txm_scratch_need(tx, &scratch->raw, err);
    if (status == TXM_OK)
        status = txm_scratch_need(tx, &scratch->tile, err);
    if (status != TXM_OK)
        return status;
    *out = (txm_pixels){scratch->raw, tile->w * tx->pixel_bytes};
    if (span->bytes > raw_bytes)
        return txm_fail(err, TXM_STATUS_CORRUPT, "its %zu bytes are more than its pixels take (%zu)", span->bytes,
                        raw_bytes);
    const uint8_t *planes = scratch->tile;
    if (span->bytes == raw_bytes)
        planes = span->data;
    else if (tx->exr_compression == TXM_EXR_NONE)
        return txm_fail(err, TXM_STATUS_CORRUPT, "has %zu bytes instead of %zu", span->bytes, raw_bytes);
    else if (tx->exr_compression > TXM_EXR_ZIP)
        return core_decode(tx, tile, scratch, scratch->raw, err);
    else
        status = expand_exr_tile(tx, span, scratch, raw_bytes, err);
    if (status != TXM_OK)
        return status;
    if (tx->info.channels == 1)
        out->data = planes;
    else
        interleave(planes, scratch->raw, tile->w, tile->h, tx->info.channels, (unsigned)txm_type_bytes(tx->info.type),
                   tx->exr_slot);
    return TXM_OK;
}

/* The end of the last tile in the file. */
uint64_t txm_exr_image_end(const txm_tx *tx)
{
    uint64_t last = 0, end = 0;
    for (uint32_t i = 0; i < tx->info.levels; i++) {
        const txm_reader_level *l = &tx->levels[i];
        uint64_t tiles = (uint64_t)l->shape.tiles_x * l->shape.tiles_y;
        for (uint64_t t = 0; t < tiles; t++) {
            uint64_t at = txm_load_le64(l->offsets + 8 * t);
            last = at > last ? at : last;
        }
    }
    if (txm_map_needs(&tx->map, last, TXM_EXR_CHUNK_HEADER_BYTES))
        end = last + TXM_EXR_CHUNK_HEADER_BYTES + txm_load_le32(tx->map.data + last + 16);
    return end < tx->map.bytes ? end : tx->map.bytes;
}
