/* SPDX-License-Identifier: Apache-2.0
 *
 * Samples are converted to float32, which OpenImageIO hashes, in a buffer. The digest of a single block of 256 rows is
 * the image's; for several, it is the digest of their concatenated digests.
 */
#include "mill/convert/pixel_hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mem.h"
#include "mill/convert/sha1_pair.h"

/* The number of samples that are converted at a time: 16 KiB of floats, which stay in the first-level cache until they
 * are hashed. */
enum { CHUNK = 4096, CACHE_LINE = 64 };

/* The digest of a block that has begun and not ended, or of a pair, at the index of the even one. */
typedef struct open_block {
    txm_sha1 *alone;
    txm_sha1_pair *pair;
} open_block;

struct txm_pixel_hash {
    const txm_ops *ops;
    uint32_t width, height, channels, blocks;
    txm_type type;
    open_block *open;
    char (*digests)[TXM_SHA1_HEX]; /* digests of finished blocks */
};

txm_status txm_pixel_hash_new(uint32_t width, uint32_t height, uint32_t channels, txm_type type, const txm_ops *ops,
                              txm_pixel_hash **out, txm_error *err)
{
    txm_pixel_hash *h = txm_calloc(1, sizeof *h);
    if (h) {
        h->ops = ops;
        h->width = width;
        h->height = height;
        h->channels = channels;
        h->type = type;
        h->blocks = (height + TXM_HASH_BLOCK_ROWS - 1) / TXM_HASH_BLOCK_ROWS;
        h->open = txm_calloc(h->blocks, sizeof *h->open);
        h->digests = txm_calloc(h->blocks, sizeof *h->digests);
    }
    if (!h || !h->open || !h->digests) {
        txm_pixel_hash_free(&h);
        return txm_no_memory(err, NULL);
    }
    *out = h;
    return TXM_OK;
}

static void close_block(open_block *o)
{
    txm_sha1_free(o->alone);
    free(o->pair);
    *o = (open_block){0};
}

void txm_pixel_hash_free(txm_pixel_hash **hash)
{
    txm_pixel_hash *h = hash ? *hash : NULL;
    if (!h)
        return;
    for (uint32_t b = 0; h->open && b < h->blocks; b++)
        close_block(&h->open[b]);
    free(h->open);
    free(h->digests);
    free(h);
    *hash = NULL;
}

bool txm_pixel_hash_pairs(const txm_pixel_hash *h, uint32_t block)
{
    uint64_t end = ((uint64_t)block / 2 + 1) * 2 * TXM_HASH_BLOCK_ROWS;
    return end <= h->height && txm_sha1_pair_available();
}

/* Fetches the next piece of a row into the cache while this one is hashed: bands wait for their partners until they
 * have left it. */
static void prefetch(const uint8_t *from, const uint8_t *to)
{
    for (; from < to; from += CACHE_LINE)
        __builtin_prefetch(from, 0, 2);
}

/* Adds a row to a block, or this and its partner to a pair of blocks. */
static void add_row(const txm_pixel_hash *h, const open_block *o, const uint8_t *a, const uint8_t *b)
{
    _Alignas(64) float wide[2][CHUNK / 2];
    const size_t samples = (size_t)h->width * h->channels, bytes = txm_type_bytes(h->type),
                 most = b ? CHUNK / 2 : CHUNK;
    for (size_t i = 0, n; i < samples; i += n) {
        const void *one = a + i * bytes, *other = b ? b + i * bytes : NULL;
        n = samples - i < most ? samples - i : most;
        if (h->type != TXM_TYPE_FLOAT) {
            h->ops->to_float(h->type, one, wide[0], n);
            one = wide[0];
        }
        if (h->type != TXM_TYPE_FLOAT && b) {
            const size_t next = i + n, end = samples - next < n ? samples : next + n;
            h->ops->to_float(h->type, other, wide[1], n);
            other = wide[1];
            prefetch(a + next * bytes, a + end * bytes);
            prefetch(b + next * bytes, b + end * bytes);
        }
        if (b)
            txm_sha1_pair_add(o->pair, one, other, n * sizeof(float));
        else
            txm_sha1_add(o->alone, one, n * sizeof(float));
    }
}

void txm_pixel_hash_rows(txm_pixel_hash *h, uint32_t y, uint32_t rows, const void *pixels, const void *partner,
                         size_t stride_bytes)
{
    const uint32_t block = y / TXM_HASH_BLOCK_ROWS;
    open_block *o = &h->open[block];
    /* Without memory the digests stay empty, which txm_pixel_hash_finish reports. */
    if (partner && !o->pair && (o->pair = malloc(sizeof *o->pair)))
        txm_sha1_pair_begin(o->pair);
    if (!partner && !o->alone)
        o->alone = txm_sha1_new();
    if (partner ? !o->pair : !o->alone)
        return;
    for (uint32_t r = 0; r < rows; r++)
        add_row(h, o, (const uint8_t *)pixels + r * stride_bytes,
                partner ? (const uint8_t *)partner + r * stride_bytes : NULL);
    if ((y + rows) % TXM_HASH_BLOCK_ROWS != 0 && y + rows != h->height)
        return;
    if (partner)
        txm_sha1_pair_finish(o->pair, h->digests[block], h->digests[block + 1]);
    else
        txm_sha1_finish(o->alone, h->digests[block]);
    close_block(o);
}

txm_status txm_pixel_hash_finish(txm_pixel_hash *h, char out[TXM_SHA1_HEX], txm_error *err)
{
    bool complete = true;
    for (uint32_t b = 0; b < h->blocks; b++)
        complete &= h->digests[b][0] != 0;
    txm_sha1 *sha = complete ? txm_sha1_new() : NULL;
    if (!sha)
        return txm_no_memory(err, NULL);
    if (h->blocks == 1)
        memcpy(out, h->digests[0], TXM_SHA1_HEX);
    for (uint32_t b = 0; h->blocks > 1 && b < h->blocks; b++)
        txm_sha1_add(sha, h->digests[b], TXM_SHA1_HEX - 1);
    if (h->blocks > 1)
        txm_sha1_finish(sha, out);
    txm_sha1_free(sha);
    return TXM_OK;
}
