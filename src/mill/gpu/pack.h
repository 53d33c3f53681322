/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel that compresses tiles: a thread makes the zlib streams of one tile after the other, with the source and so
 * the bytes of the processor's encoder (src/mill/encode/deflate_stream.h), in scratch memory of its own. Streams are
 * stored without gaps, in any order, so a list says where each one is. Tiles that libdeflate compresses better, and
 * those that do not shrink, are stored as they are for the processor.
 */
#ifndef TXM_GPU_PACK_H
#define TXM_GPU_PACK_H
#include "mill/encode/deflate_stream.h"
#include "mill/gpu/pixel.h"

/* An element of the list; of the first one, `at` counts the bytes that are used, and the rest is unused. */
typedef struct txm_gpu_packed {
    uint32_t from, bytes; /* the filtered tile, and its size */
    uint32_t at, size;    /* what became of it */
    uint32_t encoded;     /* a zlib stream; otherwise the filtered bytes */
} txm_gpu_packed;

typedef struct txm_gpu_pack {
    txm_type type;
    uint32_t pixel_bytes, tile_bytes; /* tile_bytes: of a full tile */
    int32_t level;                    /* 0 or 1, of zip */
    uint32_t workers, tiles;
    uint64_t list, raw, out; /* offsets: of the list, with one element more than tiles; of filtered tiles; of streams */
    uint64_t scratch, scratch_bytes; /* of the first worker, and for each of them */
} txm_gpu_pack;

enum { TXM_GPU_PACK_LANES = 32 /* threads of a worker, so that no warp has two: their ways part at once */ };

#if defined(__OPENCL_VERSION__)
#define TXM_GPU_ADD(p, n) atomic_add((volatile __global uint *)(p), n)
#elif defined(__CUDA_ARCH__)
#define TXM_GPU_ADD(p, n) atomicAdd(p, n)
#else
/* A loop over threads. */
#define TXM_GPU_ADD(p, n) ((*(p) += (n)) - (n))
#endif

/* Offsets in a worker's scratch memory. */
typedef struct txm_gpu_pack_places {
    uint64_t sequences, literals, stream, all;
} txm_gpu_pack_places;

TXM_ARITH uint64_t txm_gpu_aligned(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

TXM_ARITH txm_gpu_pack_places txm_gpu_pack_layout(const txm_deflate_shape *shape)
{
    txm_gpu_pack_places p;
    p.sequences = txm_gpu_aligned(sizeof(txm_sparse));
    p.literals = p.sequences + txm_gpu_aligned((shape->max_bytes / TXM_MIN_MATCH + 1) * (uint64_t)sizeof(txm_sequence));
    p.stream = p.literals + txm_gpu_aligned(shape->max_bytes + TXM_RUN_BYTES);
    p.all = p.stream + txm_gpu_aligned(txm_stream_bound(shape));
    return p;
}

TXM_ARITH void txm_gpu_pack_tile(const txm_gpu_pack *a, TXM_GLOBAL uint8_t *m, TXM_GLOBAL txm_sparse *sparse,
                                 const txm_deflate_shape *shape, TXM_GLOBAL uint8_t *stream,
                                 TXM_GLOBAL txm_gpu_packed *list, uint32_t tile)
{
    TXM_GLOBAL txm_gpu_packed *to = list + 1 + tile;
    TXM_GLOBAL const uint8_t *src = m + a->raw + to->from;
    size_t n = 0;
    const bool encoded = !txm_write_stream(sparse, a->level, shape, src, to->bytes, stream, &n) && n < to->bytes;
    const uint32_t size = encoded ? (uint32_t)n : to->bytes;
    const uint32_t at = TXM_GPU_ADD(&list->at, (size + 15) / 16 * 16);
    TXM_GLOBAL uint8_t *dst = m + a->out + at;
    TXM_GLOBAL const uint8_t *from = encoded ? stream : src;
    uint32_t i = 0;
    for (; i + 8 <= size; i += 8)
        txm_gpu_save_64(dst + i, txm_gpu_load_64(from + i));
    for (; i < size; i++)
        dst[i] = from[i];
    to->at = at;
    to->size = size;
    to->encoded = encoded;
}

TXM_ARITH void txm_gpu_pack_body(const txm_gpu_pack *a, TXM_GLOBAL uint8_t *m, uint32_t thread)
{
    const uint32_t worker = thread / TXM_GPU_PACK_LANES;
    if (worker >= a->workers || thread % TXM_GPU_PACK_LANES)
        return;
    TXM_GLOBAL uint8_t *own = m + a->scratch + worker * a->scratch_bytes;
    TXM_GLOBAL txm_sparse *sparse = (TXM_GLOBAL txm_sparse *)(TXM_GLOBAL void *)own;
    TXM_GLOBAL txm_gpu_packed *list = (TXM_GLOBAL txm_gpu_packed *)(TXM_GLOBAL void *)(m + a->list);
    const txm_deflate_shape shape = txm_tile_shape(a->type, a->pixel_bytes, a->tile_bytes);
    const txm_gpu_pack_places p = txm_gpu_pack_layout(&shape);
    txm_sparse_begin(sparse, (TXM_GLOBAL txm_sequence *)(TXM_GLOBAL void *)(own + p.sequences), own + p.literals);
    for (uint32_t tile = worker; tile < a->tiles; tile += a->workers)
        txm_gpu_pack_tile(a, m, sparse, &shape, own + p.stream, list, tile);
}
#endif
