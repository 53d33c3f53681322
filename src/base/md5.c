/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of 64 bytes are mixed into four words, each in 64 steps. The last one or two blocks contain the rest of the
 * message, a 1 bit, zeros, and the message's length in bits.
 */
#include "base/md5.h"

#include <stdint.h>
#include <string.h>

#include "base/endian.h"
#include "base/text.h"

enum { BLOCK = 64, LENGTH_AT = 56 };

/* floor(2^32 |sin(i + 1)|) */
static const uint32_t SINES[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};

/* Four rounds of 16 steps; each round reads the words of the block in another order. */
static void mix_block(uint32_t state[4], const uint8_t *block)
{
    static const uint8_t TURNS[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned i = 0; i < 64; i++) {
        unsigned round = i / 16, word = round == 0 ? i : round == 1 ? 5 * i + 1 : round == 2 ? 3 * i + 5 : 7 * i;
        uint32_t f = round == 0   ? (b & c) | (~b & d)
                     : round == 1 ? (d & b) | (~d & c)
                     : round == 2 ? b ^ c ^ d
                                  : c ^ (b | ~d);
        uint32_t sum = a + f + SINES[i] + txm_load_le32(block + word % 16 * 4);
        a = d;
        d = c;
        c = b;
        b += sum << TURNS[round][i % 4] | sum >> (32 - TURNS[round][i % 4]);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void txm_md5_hex(const void *data, size_t size_bytes, char out[TXM_MD5_HEX])
{
    const uint8_t *bytes = data;
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint8_t last[2 * BLOCK] = {0};
    size_t whole = size_bytes / BLOCK * BLOCK, rest = size_bytes - whole;
    size_t last_bytes = rest < LENGTH_AT ? BLOCK : 2 * BLOCK;
    for (size_t at = 0; at < whole; at += BLOCK)
        mix_block(state, bytes + at);
    if (rest)
        memcpy(last, bytes + whole, rest);
    last[rest] = 0x80;
    txm_store_le64(last + last_bytes - 8, (uint64_t)size_bytes * 8);
    for (size_t at = 0; at < last_bytes; at += BLOCK)
        mix_block(state, last + at);
    for (unsigned i = 0; i < 4; i++)
        txm_store_le32(last + 4 * i, state[i]);
    txm_hex_text(last, 16, true, out);
}
