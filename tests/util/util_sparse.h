/* SPDX-License-Identifier: Apache-2.0
 * A stream of the sparse encoder without a survey before. */
#ifndef TXM_TEST_UTIL_SPARSE_H
#define TXM_TEST_UTIL_SPARSE_H
#include "mill/encode/sparse_body.h"

static inline size_t sparse_run(txm_sparse *s, const uint8_t *src, size_t bytes, size_t block_bytes, size_t step_bytes,
                                txm_search search, uint8_t *dst)
{
    s->surveyed_block = 0;
    return txm_encode_sparse(s, src, bytes, block_bytes, step_bytes, search, dst);
}
#endif
