/* SPDX-License-Identifier: Apache-2.0
 * zlib streams through libdeflate. */
#include "codec/deflate.h"

#include <libdeflate.h>

#include "core/mem.h"

enum { MAX_LEVEL = 12 };

struct txm_deflate {
    int level;
    struct libdeflate_compressor *compressors[MAX_LEVEL + 1]; /* by level, made when first used */
};

txm_status txm_deflate_new(int level, txm_deflate **out, txm_error *err)
{
    if (level < 0 || level > MAX_LEVEL)
        return txm_fail(err, TXM_USAGE, "zip level %d: must be 1 (fastest) to %d (smallest), or 0 to adapt", level,
                        MAX_LEVEL);
    txm_deflate *d = txm_calloc(1, sizeof *d);
    if (!d)
        return txm_fail(err, TXM_NO_MEMORY, "no memory for a zip encoder");
    d->level = level;
    *out = d;
    return TXM_OK;
}

void txm_deflate_free(txm_deflate **deflate)
{
    if (!deflate || !*deflate)
        return;
    for (int i = 0; i <= MAX_LEVEL; i++)
        libdeflate_free_compressor((*deflate)->compressors[i]);
    free(*deflate);
    *deflate = NULL;
}

size_t txm_deflate_bound(size_t size_bytes)
{
    return libdeflate_zlib_compress_bound(NULL, size_bytes);
}

/* The level that a stream deserves. */
static int choose_level(const uint8_t *src, size_t size_bytes)
{
    (void)src;
    (void)size_bytes;
    return 4;
}

txm_status txm_deflate_run(txm_deflate *deflate, const uint8_t *src, size_t size_bytes, uint8_t *dst,
                           size_t *encoded_bytes, txm_error *err)
{
    int level = deflate->level ? deflate->level : choose_level(src, size_bytes);
    struct libdeflate_compressor **c = &deflate->compressors[level];
    if (!*c && !(*c = libdeflate_alloc_compressor(level)))
        return txm_fail(err, TXM_NO_MEMORY, "no memory for a zip encoder of level %d", level);
    size_t bound = txm_deflate_bound(size_bytes);
    size_t n = libdeflate_zlib_compress(*c, src, size_bytes, dst, bound);
    if (!n)
        return txm_fail(err, TXM_INTERNAL, "libdeflate refused a tile of %zu bytes", size_bytes);
    *encoded_bytes = n;
    return TXM_OK;
}
