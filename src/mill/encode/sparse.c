/* SPDX-License-Identifier: Apache-2.0
 *
 * The deflate encoder for filtered pixels, on the processor.
 */
#include "mill/encode/sparse.h"

#include "base/endian.h"
#include "base/mem.h"
#include "mill/encode/sparse_body.h"

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

size_t txm_sparse_bound(size_t size_bytes, size_t block_bytes)
{
    /* No literal takes more than TXM_LITLEN_BITS; a flush writes eight bytes, not all of which count. */
    size_t blocks = block_bytes ? size_bytes / block_bytes + 1 : TXM_MAX_PARTS;
    return 2 * size_bytes + blocks * TXM_BLOCK_HEADER_BYTES + sizeof(uint64_t);
}

txm_survey txm_sparse_survey(txm_sparse *s, const uint8_t *src, size_t size_bytes, size_t block_bytes,
                             size_t step_bytes, size_t stripes_apart, uint64_t few_bits)
{
    return txm_survey_of(s, src, size_bytes, block_bytes, step_bytes, stripes_apart, few_bits);
}

size_t txm_sparse_run(txm_sparse *s, const uint8_t *src, size_t size_bytes, size_t block_bytes, size_t step_bytes,
                      txm_search search, uint8_t *dst)
{
    s->surveyed_block = 0;
    return txm_encode_sparse(s, src, size_bytes, block_bytes, step_bytes, search, dst);
}

/* The encoder's blocks may differ from the survey's; the costs are those of the surveyed block in which one begins. */
size_t txm_sparse_run_surveyed(txm_sparse *s, const uint8_t *src, size_t size_bytes, size_t block_bytes,
                               size_t step_bytes, txm_search search, uint8_t *dst)
{
    return txm_encode_sparse(s, src, size_bytes, block_bytes, step_bytes, search, dst);
}
