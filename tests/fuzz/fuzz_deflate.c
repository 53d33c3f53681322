/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the deflate encoders: what they write must decode to what they were given.
 * Seeds: testdata/golden/[a-z]*.png */
#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "mill/encode/deflate.h"
#include "util_sparse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONTROL_BYTES = 4, LONGEST = 1 << 14, MAX_BLOCKS = 100 };

static void check(int ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= CONTROL_BYTES || size > LONGEST)
        return 0;
    /* The first bytes select the shape. The rest is repeated, so that it reaches beyond one block and to the far end of
     * the window. */
    size_t step = 1 + data[0] % 8, repeats = 1 + data[1] % 16, block = 1 + (size_t)(data[2] | data[3] << 8);
    size_t piece = size - CONTROL_BYTES, n = piece * repeats, got = 0, packed = 0;
    if (n / block > MAX_BLOCKS)
        return 0;
    uint8_t *src = malloc(n), *back = malloc(n), *raw = malloc(txm_sparse_bound(n, block));
    txm_sparse *sparse = txm_sparse_new(n);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    check(src && back && raw && sparse && d);
    for (size_t i = 0; i < repeats; i++)
        memcpy(src + i * piece, data + CONTROL_BYTES, piece);
    for (txm_search search = TXM_SEARCH_FEW; search <= TXM_SEARCH_FEWEST; search++) {
        packed = sparse_run(sparse, src, n, block, step, search, raw);
        check(packed <= txm_sparse_bound(n, block));
        memset(back, 0, n);
        check(libdeflate_deflate_decompress(d, raw, packed, back, n, &got) == LIBDEFLATE_SUCCESS && got == n);
        check(!memcmp(src, back, n));
    }

    txm_deflate_shape shape = {n, step, 1 + (data[1] >> 7), data[0] >> 7, data[2] & 1};
    txm_deflate *deflate = NULL;
    check(txm_deflate_new(0, &shape, &deflate, NULL) == TXM_OK);
    uint8_t *zlib = malloc(txm_deflate_bound(deflate));
    check(zlib && txm_deflate_run(deflate, src, n, zlib, &packed, NULL) == TXM_OK);
    memset(back, 0, n);
    check(libdeflate_zlib_decompress(d, zlib, packed, back, n, &got) == LIBDEFLATE_SUCCESS && got == n);
    check(!memcmp(src, back, n));

    txm_deflate_free(&deflate);
    libdeflate_free_decompressor(d);
    txm_sparse_free(&sparse);
    free(zlib), free(src), free(back), free(raw);
    return 0;
}
