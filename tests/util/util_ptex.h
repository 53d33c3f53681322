/* SPDX-License-Identifier: Apache-2.0
 * Ptex files in memory: constant faces of given sizes, without neighbours, one channel of bytes. Blocks of zlib are
 * stored, not compressed. */
#ifndef TESTS_UTIL_PTEX_H
#define TESTS_UTIL_PTEX_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "txtile/ptex.h"

enum { MADE_PTEX_PIECE = 65535 };

/* Writes bytes as a zlib stream without compression; returns its length. */
static inline size_t store_zlib(const uint8_t *plain, uint32_t bytes, uint8_t *out)
{
    uint8_t *at = out;
    uint32_t a = 1, b = 0;
    *at++ = 0x78;
    *at++ = 0x01;
    for (uint32_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < MADE_PTEX_PIECE ? bytes - done : MADE_PTEX_PIECE;
        const uint8_t head[] = {done + n == bytes, (uint8_t)n, (uint8_t)(n >> 8), (uint8_t)~n, (uint8_t)(~n >> 8)};
        memcpy(at, head, sizeof head);
        memcpy(at + sizeof head, plain + done, n);
        at += sizeof head + n;
    }
    for (uint32_t i = 0; i < bytes; i++) {
        a = (a + plain[i]) % 65521;
        b = (b + a) % 65521;
    }
    const uint8_t sum[] = {(uint8_t)(b >> 8), (uint8_t)b, (uint8_t)(a >> 8), (uint8_t)a};
    memcpy(at, sum, sizeof sum);
    return (size_t)(at - out) + sizeof sum;
}

/* Returns the file, to be freed, or NULL. `faces` is at least 1. `sizes`: log2 of each face's size; NULL: 1 x 1
 * texel. */
static inline uint8_t *made_ptex(uint32_t faces, const uint8_t (*sizes)[2], bool quads, size_t *bytes)
{
    const uint32_t raw[3] = {20 * faces, faces, 4 * faces}, most = 20 * faces;
    uint8_t *plain = calloc(1, most), *file = calloc(3, most + most / MADE_PTEX_PIECE * 5 + 128);
    uint8_t *at = file ? file + 64 : NULL;
    uint32_t zip[3] = {0};
    for (int p = 0; p < 3 && plain && file; p++) {
        memset(plain, 0, most);
        for (uint32_t i = 0; i < faces && p == 0; i++) {
            uint8_t *face = plain + (size_t)20 * i;
            face[0] = sizes ? sizes[i][0] : 0;
            face[1] = sizes ? sizes[i][1] : 0;
            face[3] = TXM_PTEX_CONSTANT;
            memset(face + 4, 0xFF, 16);
        }
        at += p == 2 ? 16 : 0; /* the level's header */
        zip[p] = (uint32_t)store_zlib(plain, raw[p], at);
        at += zip[p];
    }
    free(plain);
    if (!plain || !file) {
        free(file);
        return NULL;
    }
    const uint32_t head[16] = {0x78657450, 1,      quads,  0,  0xFFFFFFFF, 1 | 1 << 16, faces,
                               0,          zip[0], zip[1], 16, 4,          zip[2]};
    const uint32_t level[] = {zip[2], 0, zip[2], faces};
    memcpy(file, head, sizeof head);
    memcpy(file + 64 + zip[0] + zip[1], level, sizeof level);
    *bytes = (size_t)(at - file);
    return file;
}
#endif
