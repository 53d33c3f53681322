/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes zlib streams and chooses the encoder for each.
 *
 * A stream comes from the sparse encoder or from libdeflate, at the given level or, at level 0, as a survey of the
 * filtered bytes suggests. The choice depends on nothing but the bytes, so every machine writes the same file.
 */
#include "mill/encode/deflate.h"

#include <libdeflate.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/encode/sparse.h"
#include "tile/decode/inflate_parts.h"

/* The fastest level is the sparse encoder's search for few matches, for any input; the other levels are
 * libdeflate's. */
enum {
    HARDLY_ANYTHING = 32,
    SPARSE = 1,
    MAX_LEVEL = 12,
    MAX_BLOCK_BYTES = 1 << 16,
    ZLIB_HEADER_BYTES = 2,
    ZLIB_TRAILER_BYTES = 4
};

struct txm_deflate {
    int level;
    txm_deflate_shape shape;
    txm_sparse *sparse;                                       /* level 0 */
    struct libdeflate_compressor *compressors[MAX_LEVEL + 1]; /* indexed by level, created on first use */
};

/* libdeflate's compressors are created on first use, because a level takes up to a megabyte. */
txm_status txm_deflate_new(int level, const txm_deflate_shape *shape, txm_deflate **out, txm_error *err)
{
    if (level < 0 || level > MAX_LEVEL)
        return txm_fail(err, TXM_STATUS_USAGE, "zip level %d: must be 1 (fastest) to %d (smallest), or 0 to adapt",
                        level, MAX_LEVEL);
    txm_deflate *d = txm_calloc(1, sizeof *d);
    if (!d)
        return txm_no_memory(err, NULL);
    d->level = level;
    d->shape = *shape;
    if (level <= SPARSE && !(d->sparse = txm_sparse_new(shape->max_bytes))) {
        txm_deflate_free(&d);
        return txm_no_memory(err, NULL);
    }
    *out = d;
    return TXM_OK;
}

void txm_deflate_free(txm_deflate **deflate)
{
    if (!deflate || !*deflate)
        return;
    for (int i = 0; i <= MAX_LEVEL; i++)
        libdeflate_free_compressor((*deflate)->compressors[i]);
    txm_sparse_free(&(*deflate)->sparse);
    free(*deflate);
    *deflate = NULL;
}

/* The size of blocks: one part, or an equal share of a part that is long. */
static size_t block_bytes(const txm_deflate *d, size_t size_bytes)
{
    size_t part = (size_bytes + (size_t)d->shape.parts - 1) / (size_t)d->shape.parts;
    size_t pieces = (part + MAX_BLOCK_BYTES - 1) / MAX_BLOCK_BYTES;
    return (part + pieces - 1) / pieces;
}

size_t txm_deflate_bound(const txm_deflate *d)
{
    size_t most = libdeflate_zlib_compress_bound(NULL, d->shape.max_bytes);
    /* Short inputs have short blocks, in which headers weigh more. */
    size_t block = block_bytes(d, d->shape.max_bytes), sparse = txm_sparse_bound(d->shape.max_bytes, block);
    if (txm_sparse_bound(d->shape.max_bytes, TXM_IN_PARTS) > sparse)
        sparse = txm_sparse_bound(d->shape.max_bytes, TXM_IN_PARTS);
    sparse += ZLIB_HEADER_BYTES + ZLIB_TRAILER_BYTES;
    return d->sparse && sparse > most ? sparse : most;
}

/* Chooses the level of a stream, SPARSE or one of libdeflate's, and how the sparse encoder searches.
 *
 * If matches would save little compared with literals, searching for few of them is both faster and gives smaller
 * streams, the more so the less there is to save. Otherwise several candidates are compared. If 8 bits were widened to
 * 16, or half to float, and some bytes repeat others or are zero, libdeflate finds the resulting short matches: at
 * level 6 for bytes that are nearly all matches, for which it is fast. Tiles of one colour, which may be numerous, also
 * take half the bytes at that level. The thresholds were fitted to 60,000 tiles of photographs, renderings and maps;
 * bench/bench_codec.c measures the results. */
static int choose_level(const txm_deflate *d, const uint8_t *src, size_t size_bytes, txm_search *search)
{
    uint64_t few_bits = size_bytes * 8 / 10;
    /* A sixteenth of EXR's split bytes is a sufficient sample, and an eighth of TIFF's; a quarter is needed if low
     * bytes repeat high ones. */
    size_t apart = d->shape.parts > 1 ? 16 : d->shape.wide ? 4 : 8, block = block_bytes(d, size_bytes);
    txm_survey s = txm_sparse_survey(d->sparse, src, size_bytes, block, d->shape.step_bytes, apart, few_bits);
    double share = (double)s.literal_bits / (8 * (double)size_bytes);
    double by_4 = (double)s.saved_by_4 / (double)(s.literal_bits + 1);
    double by_8 = (double)s.saved_by_8 / (double)(s.literal_bits + 1);
    bool few = by_4 < (d->shape.wide ? 0.01 : 0.03) && by_8 < (share < 0.25 ? 0.10 : 0.15);
    few = few && s.literal_bits >= few_bits;
    *search = !few ? TXM_SEARCH_MANY : d->shape.parts > 1 ? TXM_SEARCH_FEWEST : TXM_SEARCH_FEW;
    if (s.literal_bits < size_bytes * 8 / HARDLY_ANYTHING)
        return 6;
    return few || !d->shape.widened ? SPARSE : s.literal_bits < few_bits ? 6 : 4;
}

txm_status txm_deflate_run(txm_deflate *d, const uint8_t *src, size_t size_bytes, uint8_t *dst, size_t *encoded_bytes,
                           txm_error *err)
{
    txm_search search = TXM_SEARCH_FEW;
    int level = d->level ? d->level : choose_level(d, src, size_bytes, &search);
    if (level == SPARSE) {
        /* Readers that do not support parts see an ordinary zlib stream. */
        const bool in_parts = d->shape.parts > 1 && size_bytes <= TXM_PARTS_MAX_BYTES;
        const size_t block = in_parts ? TXM_IN_PARTS : block_bytes(d, size_bytes), step = d->shape.step_bytes;
        size_t n = ZLIB_HEADER_BYTES;
        dst[0] = 0x78; /* deflate, window of 32 KiB */
        dst[1] = 0x5e; /* states a fast encoder, and makes the header a multiple of 31 */
        n += d->level ? txm_sparse_run(d->sparse, src, size_bytes, block, step, search, dst + n)
                      : txm_sparse_run_surveyed(d->sparse, src, size_bytes, block, step, search, dst + n);
        const uint32_t check = libdeflate_adler32(1, src, size_bytes);
        for (int i = 0; i < ZLIB_TRAILER_BYTES; i++)
            dst[n + (size_t)i] = (uint8_t)(check >> (24 - 8 * i));
        *encoded_bytes = n + ZLIB_TRAILER_BYTES;
        return TXM_OK;
    }
    struct libdeflate_compressor **c = &d->compressors[level];
    if (!*c && !(*c = libdeflate_alloc_compressor(level)))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a zip encoder of level %d", level);
    size_t n = libdeflate_zlib_compress(*c, src, size_bytes, dst, txm_deflate_bound(d));
    if (!n)
        return txm_fail(err, TXM_STATUS_INTERNAL, "libdeflate refused a tile of %zu bytes", size_bytes);
    *encoded_bytes = n;
    return TXM_OK;
}
