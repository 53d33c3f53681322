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
#define TXM_ADLER(src, size_bytes) libdeflate_adler32(1, src, size_bytes)
#include "mill/encode/deflate_stream.h"

/* The fastest level is the sparse encoder's search for few matches, for any input; the other levels are
 * libdeflate's. */
enum { MAX_LEVEL = 12 };

struct txm_deflate {
    int level;
    txm_deflate_shape shape;
    txm_sparse *sparse;                                       /* level 0 */
    struct libdeflate_compressor *compressors[MAX_LEVEL + 1]; /* indexed by level, created on first use */
};

txm_sparse *txm_sparse_new(size_t max_bytes)
{
    txm_sparse *s = txm_calloc(1, sizeof *s);
    if (!s)
        return NULL;
    txm_sparse_begin(s, txm_alloc_pixels(max_bytes / TXM_MIN_MATCH + 1, sizeof *s->sequences),
                     txm_alloc_pixels(max_bytes + TXM_RUN_BYTES, 1));
    s->literal_writer = txm_literal_writer_best();
    if (!s->sequences || !s->literals)
        txm_sparse_free(&s);
    return s;
}

void txm_sparse_free(txm_sparse **sparse)
{
    if (sparse && *sparse) {
        free((*sparse)->sequences);
        free((*sparse)->literals);
        free(*sparse);
        *sparse = NULL;
    }
}

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
    if (level <= TXM_LEVEL_SPARSE && !(d->sparse = txm_sparse_new(shape->max_bytes))) {
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

size_t txm_deflate_bound(const txm_deflate *d)
{
    size_t most = libdeflate_zlib_compress_bound(NULL, d->shape.max_bytes);
    size_t sparse = txm_stream_bound(&d->shape);
    return d->sparse && sparse > most ? sparse : most;
}

txm_status txm_deflate_run(txm_deflate *d, const uint8_t *src, size_t size_bytes, uint8_t *dst, size_t *encoded_bytes,
                           txm_error *err)
{
    int level = d->level;
    if (level <= TXM_LEVEL_SPARSE &&
        !(level = txm_write_stream(d->sparse, d->level, &d->shape, src, size_bytes, dst, encoded_bytes)))
        return TXM_OK;
    struct libdeflate_compressor **c = &d->compressors[level];
    if (!*c && !(*c = libdeflate_alloc_compressor(level)))
        return txm_fail(err, TXM_STATUS_NO_MEMORY, "no memory for a zip encoder of level %d", level);
    size_t n = libdeflate_zlib_compress(*c, src, size_bytes, dst, txm_deflate_bound(d));
    if (!n)
        return txm_fail(err, TXM_STATUS_INTERNAL, "libdeflate refused a tile of %zu bytes", size_bytes);
    *encoded_bytes = n;
    return TXM_OK;
}
