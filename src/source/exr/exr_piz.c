/* SPDX-License-Identifier: Apache-2.0
 *
 * PIZ chunks of EXR files: 16-bit values, renumbered without gaps, through a Haar-like wavelet, in Huffman code.
 *
 * Layout: the range of used bytes of a bitmap of all 65536 values, those bytes, the size of the rest, and the rest:
 * least and greatest symbol, two sizes of which the number of code bits counts, the code lengths packed in 6 bits, and
 * the code. The greatest symbol stands for a run: 8 bits say how often the value before it is repeated.
 *
 * Nothing here trusts a size: every symbol, run and table index is checked against what it goes into.
 */
#include "source/exr/exr_piz.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

enum {
    VALUES = 65536,
    SYMBOLS = VALUES + 1, /* and the one for runs */
    MAX_LENGTH = 58,      /* bits of a code; the larger 6-bit numbers stand for runs of unused symbols */
    SHORT_RUN = 59,       /* to 62: 2 to 5 unused symbols */
    LONG_RUN = 63,        /* 8 more bits: 6 to 261 unused symbols */
    HEADER_BYTES = 20,
    FAST_BITS = 12
};

struct txm_exr_piz {
    uint16_t value[VALUES]; /* of the renumbered ones */
    uint8_t length[SYMBOLS];
    uint32_t symbol[SYMBOLS]; /* by length, then by number */
    /* Codes of one length are consecutive numbers from `base`; their symbols stand from `first` on. */
    uint64_t base[MAX_LENGTH + 1];
    uint32_t first[MAX_LENGTH + 1], count[MAX_LENGTH + 1];
    uint32_t fast[1 << FAST_BITS]; /* symbol * 64 + length for the short codes, 0 for others */
};

txm_exr_piz *txm_exr_piz_new(void)
{
    return txm_calloc(1, sizeof(txm_exr_piz));
}

void txm_exr_piz_free(txm_exr_piz *piz)
{
    free(piz);
}

/* ---- bits, the first one topmost ---- */

typedef struct bit_reader {
    const uint8_t *p, *end;
    uint64_t bits; /* left-aligned */
    unsigned have;
    int64_t left; /* bits that may still be taken; negative once too many were */
} bit_reader;

static void refill(bit_reader *r)
{
    while (r->have <= 56 && r->p < r->end) {
        r->bits |= (uint64_t)*r->p++ << (56 - r->have);
        r->have += 8;
    }
    /* Behind the end there are zeros, which `left` does not allow to be used. */
    if (r->p == r->end && r->have < 57)
        r->have = 57;
}

static void drop(bit_reader *r, unsigned n)
{
    r->bits <<= n;
    r->have = r->have > n ? r->have - n : 0;
    r->left -= n;
}

static unsigned take(bit_reader *r, unsigned n)
{
    refill(r);
    unsigned v = (unsigned)(r->bits >> (64 - n));
    drop(r, n);
    return v;
}

static uint32_t read32(const uint8_t *p)
{
    return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* ---- Huffman code ---- */

/* Code lengths of symbols `least` to `greatest`; the rest has none. */
static bool read_lengths(txm_exr_piz *z, bit_reader *r, uint32_t least, uint32_t greatest)
{
    memset(z->length, 0, sizeof z->length);
    for (uint32_t s = least; s <= greatest;) {
        unsigned l = take(r, 6);
        if (r->left < 0)
            return false;
        if (l < SHORT_RUN) {
            z->length[s++] = (uint8_t)l;
            continue;
        }
        uint32_t run = l == LONG_RUN ? take(r, 8) + LONG_RUN - SHORT_RUN + 2 : l - SHORT_RUN + 2;
        if (run > greatest - s + 1)
            return false;
        s += run;
    }
    return r->left >= 0;
}

/* Canonical codes, the longest with the smallest numbers. */
static bool build_code(txm_exr_piz *z, uint32_t greatest)
{
    uint32_t next[MAX_LENGTH + 1], at = 0;
    uint64_t code = 0;
    memset(z->count, 0, sizeof z->count);
    memset(z->fast, 0, sizeof z->fast);
    for (uint32_t s = 0; s <= greatest; s++)
        z->count[z->length[s]]++;
    for (int l = MAX_LENGTH; l > 0; l--) {
        z->base[l] = code;
        code = (code + z->count[l]) >> 1;
    }
    for (int l = 1; l <= MAX_LENGTH; l++) {
        next[l] = z->first[l] = at;
        at += z->count[l];
    }
    for (uint32_t s = 0; s <= greatest; s++) {
        unsigned l = z->length[s];
        if (!l)
            continue;
        uint64_t number = z->base[l] + (next[l] - z->first[l]);
        z->symbol[next[l]++] = s;
        if (number >> l)
            return false; /* more codes than this length has */
        for (uint32_t i = 0; l <= FAST_BITS && i < 1u << (FAST_BITS - l); i++)
            z->fast[(number << (FAST_BITS - l)) + i] = s << 6 | l;
    }
    return true;
}

/* The next symbol, or SYMBOLS if the bits are none. */
static uint32_t next_symbol(const txm_exr_piz *z, bit_reader *r)
{
    refill(r);
    uint32_t quick = z->fast[r->bits >> (64 - FAST_BITS)];
    if (quick) {
        drop(r, quick & 63);
        return quick >> 6;
    }
    for (unsigned l = FAST_BITS + 1; l <= MAX_LENGTH; l++) {
        uint64_t number = r->bits >> (64 - l);
        if (number >= z->base[l] && number - z->base[l] < z->count[l]) {
            drop(r, l);
            return z->symbol[z->first[l] + (uint32_t)(number - z->base[l])];
        }
    }
    return SYMBOLS;
}

static bool decode_values(const txm_exr_piz *z, bit_reader *r, uint32_t run_symbol, uint16_t *out, size_t count)
{
    for (size_t i = 0; i < count;) {
        uint32_t s = next_symbol(z, r);
        if (s == run_symbol && i > 0) {
            unsigned n = take(r, 8);
            if (n > count - i)
                return false;
            for (uint16_t last = out[i - 1]; n > 0; n--)
                out[i++] = last;
        } else if (s < VALUES && s != run_symbol) {
            out[i++] = (uint16_t)s;
        } else {
            return false;
        }
        if (r->left < 0)
            return false;
    }
    return true;
}

static bool unhuffman(txm_exr_piz *z, const uint8_t *in, size_t bytes, uint16_t *out, size_t count)
{
    if (bytes < HEADER_BYTES)
        return false;
    uint32_t least = read32(in), greatest = read32(in + 4), code_bits = read32(in + 12);
    if (least > greatest || greatest >= SYMBOLS)
        return false;
    bit_reader r = {.p = in + HEADER_BYTES, .end = in + bytes, .left = (int64_t)(bytes - HEADER_BYTES) * 8};
    int64_t all = r.left;
    if (!read_lengths(z, &r, least, greatest) || !build_code(z, greatest))
        return false;
    /* The code begins with a byte of its own. */
    const uint8_t *code = in + HEADER_BYTES + (size_t)((all - r.left + 7) / 8);
    if (code_bits > (uint64_t)(in + bytes - code) * 8)
        return false;
    r = (bit_reader){.p = code, .end = in + bytes, .left = code_bits};
    return decode_values(z, &r, greatest, out, count);
}

/* ---- wavelet ---- */

/* From average and difference to the two values. Values below 2^14 leave room for signed differences; others wrap. */
static inline void pair14(uint16_t average, uint16_t difference, uint16_t *a, uint16_t *b)
{
    int d = (int16_t)difference, first = (int16_t)average + (d & 1) + (d >> 1);
    *a = (uint16_t)first;
    *b = (uint16_t)(first - d);
}

static inline void pair16(uint16_t average, uint16_t difference, uint16_t *a, uint16_t *b)
{
    unsigned second = (average - (difference >> 1)) & 0xffffu;
    *b = (uint16_t)second;
    *a = (uint16_t)(difference + second - 0x8000u);
}

static inline void pair(bool small, uint16_t average, uint16_t difference, uint16_t *a, uint16_t *b)
{
    if (small)
        pair14(average, difference, a, b);
    else
        pair16(average, difference, a, b);
}

/* One scale of the transform: squares of four values, `step` apart, hold an average and three differences. */
static inline void undo_scale(bool small, uint16_t *v, size_t nx, size_t dx, size_t ny, size_t dy, size_t step)
{
    size_t right = step * dx, below = step * dy, y = 0;
    for (; y + 2 * step <= ny; y += 2 * step) {
        uint16_t *p = v + y * dy;
        size_t x = 0;
        for (; x + 2 * step <= nx; x += 2 * step, p += 2 * right) {
            uint16_t a, b, c, d;
            pair(small, p[0], p[below], &a, &c);
            pair(small, p[right], p[below + right], &b, &d);
            pair(small, a, b, &p[0], &p[right]);
            pair(small, c, d, &p[below], &p[below + right]);
        }
        if (nx & step) /* a last column without a neighbour */
            pair(small, p[0], p[below], &p[0], &p[below]);
    }
    if (ny & step) {
        uint16_t *p = v + y * dy;
        for (size_t x = 0; x + 2 * step <= nx; x += 2 * step, p += 2 * right)
            pair(small, p[0], p[right], &p[0], &p[right]);
    }
}

/* Values of nx columns dx apart and ny rows dy apart, from the coarsest scale that both directions have down to the
 * finest. */
static void unwavelet(bool small, uint16_t *v, size_t nx, size_t dx, size_t ny, size_t dy)
{
    size_t least = nx < ny ? nx : ny, step = 1;
    while (step <= least / 2)
        step *= 2;
    for (step /= 2; step >= 1; step /= 2) {
        if (small)
            undo_scale(true, v, nx, dx, ny, dy, step);
        else
            undo_scale(false, v, nx, dx, ny, dy, step);
    }
}

/* ---- a chunk ---- */

/* Reads which values occur. Returns how many bytes that took, 0 if it is damaged; *greatest is the last new number. */
static size_t read_values(txm_exr_piz *z, const uint8_t *in, size_t bytes, uint32_t *greatest)
{
    uint8_t used[VALUES / 8] = {0};
    if (bytes < 4)
        return 0;
    size_t first = in[0] | (size_t)in[1] << 8, last = in[2] | (size_t)in[3] << 8, taken = 4;
    if (last >= sizeof used)
        return 0;
    if (first <= last) {
        if (last - first + 1 > bytes - 4)
            return 0;
        memcpy(used + first, in + 4, last - first + 1);
        taken += last - first + 1;
    }
    uint32_t n = 0;
    for (uint32_t v = 0; v < VALUES; v++)
        if (v == 0 || used[v >> 3] & 1u << (v & 7))
            z->value[n++] = (uint16_t)v;
    *greatest = n - 1;
    memset(z->value + n, 0, (VALUES - n) * sizeof z->value[0]);
    return taken;
}

bool txm_exr_unpiz(txm_exr_piz *z, const uint8_t *in, size_t bytes, const txm_exr_planes *planes, uint16_t *scratch,
                   uint8_t *out)
{
    size_t halves = planes->sample_bytes / 2, plane = (size_t)planes->width * planes->height * halves;
    size_t count = plane * planes->channels, row = (size_t)planes->width * halves;
    uint32_t greatest;
    size_t taken = read_values(z, in, bytes, &greatest);
    if (!taken || bytes - taken < 4)
        return false;
    uint32_t rest = read32(in + taken);
    taken += 4;
    if (rest > bytes - taken || !unhuffman(z, in + taken, rest, scratch, count))
        return false;
    for (uint32_t c = 0; c < planes->channels; c++)
        for (size_t h = 0; h < halves; h++)
            unwavelet(greatest < 1 << 14, scratch + c * plane + h, planes->width, halves, planes->height, row);
    for (size_t i = 0; i < count; i++)
        scratch[i] = z->value[scratch[i]];
    /* From whole channels to rows of channels. */
    for (uint32_t y = 0; y < planes->height; y++)
        for (uint32_t c = 0; c < planes->channels; c++, out += row * 2)
            memcpy(out, scratch + c * plane + y * row, row * 2);
    return true;
}
