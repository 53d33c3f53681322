/* SPDX-License-Identifier: Apache-2.0
 * Cheap tests first: of a million bits some hundred thousand could begin a dynamic block, a few hundred have a complete
 * code of the code lengths, and one or two are a begin. */
#include "codec/find_block.h"

#include <string.h>

enum {
    HEADER_BYTES = 1024, /* more than a block's code lengths can take */
    AT_A_TIME = 48,      /* bits tried from one word: a test looks at 13, and bytes are whole */
    PRECODE_AT = 17,     /* bits in front of the lengths of the precode */
    FEWEST_PRECODES = 4,
    LENGTH_BITS = 3,
    GROUP_BITS = 4 * LENGTH_BITS, /* four lengths are looked up at once */
    GROUPS = 5,                   /* 19 lengths at most */
    WHOLE = 128                   /* the sum of a complete precode: 128 / 2^length each */
};

typedef struct sums {
    uint16_t of[1 << GROUP_BITS];
} sums;

static void make_sums(sums *s)
{
    for (unsigned i = 0; i < 1 << GROUP_BITS; i++) {
        s->of[i] = 0;
        for (unsigned k = 0; k < GROUP_BITS; k += LENGTH_BITS) {
            unsigned length = i >> k & 7;
            s->of[i] += length ? WHOLE >> length : 0;
        }
    }
}

static uint64_t word_at(const uint8_t *p, unsigned bit)
{
    uint64_t word;
    memcpy(&word, p + bit / 8, sizeof word);
    return word >> bit % 8;
}

/* Bit i is set where bits i, i + 1, ... are: not the last block, dynamic, at most 286 literals and lengths, at most 30
 * distances. The upper bits of the result say nothing. */
static uint64_t could_begin(uint64_t w)
{
    uint64_t dynamic = ~w & ~(w >> 1) & (w >> 2);
    uint64_t ones = w & w >> 1;
    ones &= ones >> 2; /* bits i to i + 3 are ones: 30 or 31 in the counts whose upper bits these are */
    return dynamic & ~(ones >> 4) & ~(ones >> 9);
}

static bool precode_is_complete(const sums *s, const uint8_t *p, unsigned bit)
{
    unsigned count = FEWEST_PRECODES + (unsigned)(word_at(p, bit + PRECODE_AT - 4) & 15), sum = 0;
    uint64_t lengths = word_at(p, bit + PRECODE_AT) & ((UINT64_C(1) << LENGTH_BITS * count) - 1);
    for (int i = 0; i < GROUPS; i++)
        sum += s->of[lengths >> i * GROUP_BITS & ((1 << GROUP_BITS) - 1)];
    return sum == WHOLE;
}

/* The whole header. */
static bool codes_are_complete(const uint8_t *p, const uint8_t *end, unsigned bit)
{
    txm_bit_reader r = {.in = p + bit / 8, .end = end};
    txm_code_lengths l;
    txm_decode_code code;
    txm_fill_bits(&r);
    txm_take_bits(&r, bit % 8 + 3);
    return txm_code_lengths_read(&l, &r) && txm_decode_code_order(&code, l.of, l.litlens) == 0 &&
           txm_decode_code_order(&code, l.of + l.litlens, l.distances) == 0 && r.past <= r.count / 8;
}

/* The first of the bits in `mask`, counted from p; -1 if there is none. */
static int find_in_word(const sums *s, const uint8_t *p, const uint8_t *end, uint64_t mask)
{
    for (uint64_t at = could_begin(word_at(p, 0)) & mask; at; at &= at - 1) {
        unsigned bit = (unsigned)__builtin_ctzll(at);
        if (precode_is_complete(s, p, bit) && codes_are_complete(p, end, bit))
            return (int)bit;
    }
    return -1;
}

bool txm_find_block(txm_bit_source *source, uint64_t from, uint64_t to)
{
    const uint64_t all = (UINT64_C(1) << AT_A_TIME) - 1;
    uint64_t mask = all << from % 8 & all;
    sums s;
    make_sums(&s);
    for (uint64_t byte = from / 8; 8 * byte < to;) {
        size_t bytes, i;
        const uint8_t *p = txm_source_peek(source, byte, HEADER_BYTES, &bytes);
        if (!p || bytes == 0)
            return false;
        size_t begins = bytes < HEADER_BYTES ? bytes : bytes - HEADER_BYTES + 1; /* whose headers are all there */
        for (i = 0; i < begins && 8 * (byte + i) < to; i += AT_A_TIME / 8) {
            int bit = find_in_word(&s, p + i, p + bytes, mask);
            mask = all;
            if (bit >= 0) {
                uint64_t found = 8 * (byte + i) + (unsigned)bit;
                return found < to && txm_source_seek(source, found);
            }
        }
        byte += i;
    }
    return false;
}
