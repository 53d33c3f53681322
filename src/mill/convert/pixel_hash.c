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

struct txm_pixel_hash {
    const txm_ops *ops;
    uint32_t width, height, channels, blocks;
    txm_type type;
    txm_sha1 **open;               /* the digest of each block that has begun and not ended */
    txm_sha1_pair **open_pairs;    /* the same for blocks that are hashed in pairs, at the index of the even one */
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
        h->open_pairs = txm_calloc(h->blocks, sizeof *h->open_pairs);
        h->digests = txm_calloc(h->blocks, sizeof *h->digests);
    }
    if (!h || !h->open || !h->open_pairs || !h->digests) {
        txm_pixel_hash_free(&h);
        return txm_no_memory(err, NULL);
    }
    *out = h;
    return TXM_OK;
}

void txm_pixel_hash_free(txm_pixel_hash **hash)
{
    txm_pixel_hash *h = hash ? *hash : NULL;
    if (!h)
        return;
    for (uint32_t b = 0; h->open && b < h->blocks; b++)
        txm_sha1_free(h->open[b]);
    for (uint32_t b = 0; h->open_pairs && b < h->blocks; b++)
        free(h->open_pairs[b]);
    free(h->open);
    free(h->open_pairs);
    free(h->digests);
    free(h);
    *hash = NULL;
}

static void add_row(txm_pixel_hash *h, txm_sha1 *sha, const uint8_t *row)
{
    size_t samples = (size_t)h->width * h->channels, bytes = txm_type_bytes(h->type);
    if (h->type == TXM_TYPE_FLOAT) {
        txm_sha1_add(sha, row, samples * bytes);
        return;
    }
    _Alignas(64) float wide[CHUNK];
    for (size_t i = 0; i < samples; i += CHUNK) {
        size_t n = samples - i < CHUNK ? samples - i : CHUNK;
        h->ops->to_float(h->type, row + i * bytes, wide, n);
        txm_sha1_add(sha, wide, n * sizeof *wide);
    }
}

void txm_pixel_hash_rows(txm_pixel_hash *h, uint32_t y, uint32_t rows, const void *pixels, size_t stride_bytes)
{
    uint32_t block = y / TXM_HASH_BLOCK_ROWS;
    uint64_t block_end = ((uint64_t)block + 1) * TXM_HASH_BLOCK_ROWS;
    if (!h->open[block] && !(h->open[block] = txm_sha1_new()))
        return; /* leaves the digest empty, which txm_pixel_hash_finish reports */
    for (uint32_t r = 0; r < rows; r++)
        add_row(h, h->open[block], (const uint8_t *)pixels + r * stride_bytes);
    if (y + rows == block_end || y + rows == h->height) {
        txm_sha1_finish(h->open[block], h->digests[block]);
        txm_sha1_free(h->open[block]);
        h->open[block] = NULL;
    }
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

static void add_row_pair(txm_pixel_hash *h, txm_sha1_pair *sha, const uint8_t *a, const uint8_t *b)
{
    size_t samples = (size_t)h->width * h->channels, bytes = txm_type_bytes(h->type);
    if (h->type == TXM_TYPE_FLOAT) {
        txm_sha1_pair_add(sha, a, b, samples * bytes);
        return;
    }
    _Alignas(64) float wide[2][CHUNK / 2];
    for (size_t i = 0; i < samples; i += CHUNK / 2) {
        size_t n = samples - i < CHUNK / 2 ? samples - i : CHUNK / 2;
        h->ops->to_float(h->type, a + i * bytes, wide[0], n);
        h->ops->to_float(h->type, b + i * bytes, wide[1], n);
        size_t next = i + n, end = samples - next < n ? samples : next + n;
        prefetch(a + next * bytes, a + end * bytes);
        prefetch(b + next * bytes, b + end * bytes);
        txm_sha1_pair_add(sha, wide[0], wide[1], n * sizeof **wide);
    }
}

void txm_pixel_hash_pair(txm_pixel_hash *h, uint32_t y, uint32_t rows, const void *pixels, const void *partner,
                         size_t stride_bytes)
{
    uint32_t block = y / TXM_HASH_BLOCK_ROWS;
    txm_sha1_pair *sha = h->open_pairs[block];
    if (!sha) {
        if (!(sha = malloc(sizeof *sha)))
            return; /* leaves the digests empty, which txm_pixel_hash_finish reports */
        txm_sha1_pair_begin(sha);
        h->open_pairs[block] = sha;
    }
    for (uint32_t r = 0; r < rows; r++)
        add_row_pair(h, sha, (const uint8_t *)pixels + r * stride_bytes, (const uint8_t *)partner + r * stride_bytes);
    if ((y + rows) % TXM_HASH_BLOCK_ROWS == 0) {
        txm_sha1_pair_finish(sha, h->digests[block], h->digests[block + 1]);
        free(sha);
        h->open_pairs[block] = NULL;
    }
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
