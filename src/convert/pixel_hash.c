/* SPDX-License-Identifier: Apache-2.0
 * SHA-1 of level 0. */
#include "convert/pixel_hash.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

/* Samples widened at a time: 16 KiB of floats, which stay in the first-level cache between widening and hashing. */
enum { CHUNK = 4096 };

struct txm_pixel_hash {
    const txm_ops *ops;
    uint32_t width, height, channels, blocks;
    txm_type type;
    txm_sha1 **open;               /* the running digest of each block that has begun and not ended */
    char (*digests)[TXM_SHA1_HEX]; /* of the finished ones */
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
        return txm_fail(err, TXM_NO_MEMORY, "out of memory for hashing");
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
    free(h->open);
    free(h->digests);
    free(h);
    *hash = NULL;
}

static void add_row(txm_pixel_hash *h, txm_sha1 *sha, const uint8_t *row)
{
    size_t samples = (size_t)h->width * h->channels, bytes = txm_type_bytes(h->type);
    if (h->type == TXM_FLOAT) {
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
        return; /* leaves the digest empty, which finish reports */
    for (uint32_t r = 0; r < rows; r++)
        add_row(h, h->open[block], (const uint8_t *)pixels + r * stride_bytes);
    if (y + rows == block_end || y + rows == h->height) {
        txm_sha1_finish(h->open[block], h->digests[block]);
        txm_sha1_free(h->open[block]);
        h->open[block] = NULL;
    }
}

void txm_pixel_hash_finish(txm_pixel_hash *h, char out[TXM_SHA1_HEX])
{
    if (h->blocks == 1) {
        memcpy(out, h->digests[0], TXM_SHA1_HEX);
        return;
    }
    txm_sha1 *sha = txm_sha1_new();
    out[0] = 0;
    for (uint32_t b = 0; sha && b < h->blocks; b++)
        txm_sha1_add(sha, h->digests[b], TXM_SHA1_HEX - 1);
    if (sha)
        txm_sha1_finish(sha, out);
    txm_sha1_free(sha);
}
