/* SPDX-License-Identifier: Apache-2.0
 *
 * SHA-1 of two messages at once: buffering and padding (FIPS 180-4).
 */
#include "mill/convert/sha1_pair.h"

#include <stdio.h>
#include <string.h>

#include "tile/ops/ops.h"

bool txm_sha1_pair_available(void)
{
#if defined(__x86_64__)
    return txm_cpu_has_sha();
#else
    return false;
#endif
}

void txm_sha1_pair_begin(txm_sha1_pair *p)
{
    static const uint32_t initial[5] = {0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u};
    memset(p, 0, sizeof *p);
#if defined(__x86_64__)
    p->blocks = strcmp(txm_ops_best()->isa, "avx512") == 0 ? txm_sha1_pair_blocks_avx512 : txm_sha1_pair_blocks_shani;
#endif
    memcpy(p->state[0], initial, sizeof initial);
    memcpy(p->state[1], initial, sizeof initial);
}

void txm_sha1_pair_add(txm_sha1_pair *p, const void *a, const void *b, size_t size_bytes)
{
    const uint8_t *pa = a, *pb = b;
    p->total_bytes += size_bytes;
    if (p->rest_bytes) {
        size_t take = 64 - p->rest_bytes < size_bytes ? 64 - p->rest_bytes : size_bytes;
        memcpy(p->rest[0] + p->rest_bytes, pa, take);
        memcpy(p->rest[1] + p->rest_bytes, pb, take);
        p->rest_bytes += take;
        pa += take;
        pb += take;
        size_bytes -= take;
        if (p->rest_bytes < 64)
            return;
        p->blocks(p->state, p->rest[0], p->rest[1], 1);
    }
    p->blocks(p->state, pa, pb, size_bytes / 64);
    p->rest_bytes = size_bytes % 64;
    memcpy(p->rest[0], pa + size_bytes - p->rest_bytes, p->rest_bytes);
    memcpy(p->rest[1], pb + size_bytes - p->rest_bytes, p->rest_bytes);
}

void txm_sha1_pair_finish(txm_sha1_pair *p, char a[TXM_SHA1_HEX], char b[TXM_SHA1_HEX])
{
    /* Padding: 0x80, zeros up to 8 bytes before a block's end, the length in bits, big-endian. */
    uint8_t tail[128] = {0x80};
    uint64_t bits = p->total_bytes * 8;
    size_t size = (p->rest_bytes < 56 ? 56 : 120) - p->rest_bytes;
    for (int i = 0; i < 8; i++)
        tail[size + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    txm_sha1_pair_add(p, tail, tail, size + 8);
    for (int i = 0; i < 5; i++) {
        snprintf(a + 8 * i, 9, "%08X", p->state[0][i]);
        snprintf(b + 8 * i, 9, "%08X", p->state[1][i]);
    }
}
