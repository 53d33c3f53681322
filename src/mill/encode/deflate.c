/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib streams, and the choice of the encoder for each.
 *
 * In: the filtered bytes of a tile and a level, or 0 for "adapt". Out: a zlib stream from the sparse encoder or from
 * libdeflate, whichever a survey of the bytes says. It depends on nothing but the bytes, so every machine writes the
 * same file.
 */
#include "mill/encode/deflate.h"

#include <libdeflate.h>

#include "mill/encode/sparse.h"
#include "tile/base/fail.h"
#include "tile/base/mem.h"
#include "tile/decode/inflate_parts.h"

/* The fastest level is the sparse encoder's search for few matches, on whatever it meets; the others are libdeflate's.
 */
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
    struct libdeflate_compressor *compressors[MAX_LEVEL + 1]; /* by level, made when first used */
};

/* libdeflate's compressors are made when they are first used: a level takes up to a megabyte. */
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

/* Blocks of one part's bytes each, or of an equal share of them where a part is long. */
static size_t block_bytes(const txm_deflate *d, size_t size_bytes)
{
    size_t part = (size_bytes + (size_t)d->shape.parts - 1) / (size_t)d->shape.parts;
    size_t pieces = (part + MAX_BLOCK_BYTES - 1) / MAX_BLOCK_BYTES;
    return (part + pieces - 1) / pieces;
}

/* For whichever encoder is chosen. */
size_t txm_deflate_bound(const txm_deflate *d)
{
    size_t most = libdeflate_zlib_compress_bound(NULL, d->shape.max_bytes);
    /* Short inputs have short blocks: their headers count for more. */
    size_t block = block_bytes(d, d->shape.max_bytes), sparse = txm_sparse_bound(d->shape.max_bytes, block);
    if (txm_sparse_bound(d->shape.max_bytes, TXM_IN_PARTS) > sparse)
        sparse = txm_sparse_bound(d->shape.max_bytes, TXM_IN_PARTS);
    sparse += ZLIB_HEADER_BYTES + ZLIB_TRAILER_BYTES;
    return d->sparse && sparse > most ? sparse : most;
}

/* The level that a stream deserves, SPARSE or one of libdeflate's, and how the former searches.
 *
 * Where matches would save little on the literals' cost, looking for few is both faster and smaller, the more so the
 * less there is to save. Elsewhere several candidates are compared, or, where 8 bits were widened to 16 and low bytes
 * repeat high ones, libdeflate finds the short matches that this makes: level 6 on bytes that are nearly all matches,
 * for which it is fast. Tiles of one colour, of which there may be many, take half of the bytes by that level, too. The
 * limits were fitted on 60,000 tiles of photographs, renderings and maps; bench/bench_codec.c measures what comes of
 * them.
 */
static int choose_level(const txm_deflate *d, const uint8_t *src, size_t size_bytes, txm_search *search)
{
    uint64_t few_bits = size_bytes * 8 / 10;
    /* A sixteenth of EXR's split bytes tells enough, and an eighth of TIFF's; where low bytes repeat high ones, it
     * takes a quarter. */
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
    return few || !d->shape.wide ? SPARSE : s.literal_bits < few_bits ? 6 : 4;
}

/* Streams in parts look like any other zlib stream to readers that do not know about parts. */
static void run_sparse(txm_deflate *d, const uint8_t *src, size_t size_bytes, txm_search search, uint8_t *dst,
                       size_t *encoded_bytes)
{
    dst[0] = 0x78; /* deflate, window of 32 KiB */
    dst[1] = 0x5e; /* a fast encoder made it; makes the header a multiple of 31 */
    bool in_parts = d->shape.parts > 1 && size_bytes <= TXM_PARTS_MAX_BYTES;
    size_t block = in_parts ? TXM_IN_PARTS : block_bytes(d, size_bytes);
    size_t step = d->shape.step_bytes, n = ZLIB_HEADER_BYTES;
    n += d->level ? txm_sparse_run(d->sparse, src, size_bytes, block, step, search, dst + n)
                  : txm_sparse_run_surveyed(d->sparse, src, size_bytes, block, step, search, dst + n);
    uint32_t check = libdeflate_adler32(1, src, size_bytes);
    for (int i = 0; i < ZLIB_TRAILER_BYTES; i++)
        dst[n + (size_t)i] = (uint8_t)(check >> (24 - 8 * i));
    *encoded_bytes = n + ZLIB_TRAILER_BYTES;
}

/* The choice depends on the bytes alone. */
txm_status txm_deflate_run(txm_deflate *d, const uint8_t *src, size_t size_bytes, uint8_t *dst, size_t *encoded_bytes,
                           txm_error *err)
{
    txm_search search = TXM_SEARCH_FEW;
    int level = d->level ? d->level : choose_level(d, src, size_bytes, &search);
    if (level == SPARSE) {
        run_sparse(d, src, size_bytes, search, dst, encoded_bytes);
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
