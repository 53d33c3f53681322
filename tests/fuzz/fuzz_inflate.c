/* SPDX-License-Identifier: Apache-2.0
 * Fuzzes the inflater of parts: libdeflate must decode the same. Half of the inputs are used as streams. The other half
 * is first encoded in parts, which mutations would hardly find, and then damaged.
 * Seeds: testdata/golden/[a-z]*.png */
#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tile/decode/inflate_parts.h"
#include "util_sparse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CONTROL_BYTES = 8, DAMAGES = 2 };

static void check(int ok)
{
    if (!ok)
        abort();
}

/* Replaces *stream with its encoding. The control bytes say where and how it is damaged. */
static void encode_and_damage(const uint8_t *control, uint8_t **stream, size_t *bytes)
{
    uint8_t *packed = malloc(txm_sparse_bound(*bytes, TXM_IN_PARTS));
    txm_sparse *sparse = txm_sparse_new(*bytes);
    check(packed && sparse);
    *bytes = sparse_run(sparse, *stream, *bytes, TXM_IN_PARTS, 1 + control[0] / 2 % 4, (txm_search)(control[0] / 8 % 3),
                        packed);
    for (int i = 0; i < DAMAGES; i++)
        packed[(control[3 * i + 2] | (size_t)control[3 * i + 3] << 8) % *bytes] ^= control[3 * i + 1];
    txm_sparse_free(&sparse);
    free(*stream);
    *stream = packed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < CONTROL_BYTES + 2)
        return 0;
    size_t bytes = size - CONTROL_BYTES;
    bool encode = data[0] & 1;
    size_t n = encode ? bytes : 1 + (data[1] | (size_t)(data[2] & 3) << 8 | (size_t)data[2] << 9) % TXM_PARTS_MAX_BYTES;
    if (n > TXM_PARTS_MAX_BYTES)
        return 0;
    uint8_t *stream = malloc(bytes), *dst = malloc(n), *other = malloc(n);
    txm_parts *parts = txm_parts_new();
    check(stream && dst && other && parts);
    memcpy(stream, data + CONTROL_BYTES, bytes);
    if (encode)
        encode_and_damage(data, &stream, &bytes);
    size_t used = txm_parts_inflate(parts, stream, bytes, dst, n);
    check(used <= bytes);
    if (used) {
        struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
        size_t in = 0, out = 0;
        check(d && libdeflate_deflate_decompress_ex(d, stream, bytes, other, n, &in, &out) == LIBDEFLATE_SUCCESS);
        check(in == used && out == n && !memcmp(dst, other, n));
        libdeflate_free_decompressor(d);
    }
    txm_parts_free(&parts);
    free(stream), free(dst), free(other);
    return 0;
}
