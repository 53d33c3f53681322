/* SPDX-License-Identifier: Apache-2.0
 *
 * The zlib stream of a tile by our own encoder, and which tiles are libdeflate's: one source for the processor
 * (deflate.c) and for devices (src/mill/gpu/pack.h).
 */
#ifndef TXM_ENCODE_DEFLATE_STREAM_H
#define TXM_ENCODE_DEFLATE_STREAM_H
#include "mill/encode/sparse_body.h"

enum {
    TXM_HARDLY_ANYTHING = 32,
    TXM_LEVEL_SPARSE = 1,
    TXM_MAX_BLOCK_BYTES = 1 << 16,
    TXM_ZLIB_HEADER_BYTES = 2,
    TXM_ZLIB_TRAILER_BYTES = 4
};

/* The size of blocks: one part, or an equal share of a part that is long. */
TXM_ARITH size_t txm_stream_block(const txm_deflate_shape *shape, size_t size_bytes)
{
    size_t part = (size_bytes + (size_t)shape->parts - 1) / (size_t)shape->parts;
    size_t pieces = (part + TXM_MAX_BLOCK_BYTES - 1) / TXM_MAX_BLOCK_BYTES;
    return (part + pieces - 1) / pieces;
}

/* The largest size of a stream of our own encoder. */
TXM_ARITH size_t txm_stream_bound(const txm_deflate_shape *shape)
{
    /* Short inputs have short blocks, in which headers weigh more. */
    const size_t n = shape->max_bytes, blocks = txm_sparse_bound(n, txm_stream_block(shape, n)),
                 parts = txm_sparse_bound(n, TXM_IN_PARTS);
    return TXM_ZLIB_HEADER_BYTES + TXM_ZLIB_TRAILER_BYTES + (blocks > parts ? blocks : parts);
}

/* Chooses the level of a stream, SPARSE or one of libdeflate's, and how the sparse encoder searches.
 *
 * If matches would save little compared with literals, searching for few of them is both faster and gives smaller
 * streams, the more so the less there is to save. Otherwise several candidates are compared. If 8 bits were widened to
 * 16, or half to float, and some bytes repeat others or are zero, libdeflate finds the resulting short matches: at
 * level 6 for bytes that are nearly all matches, for which it is fast. Tiles of one colour, which may be numerous, also
 * take half the bytes at that level. The thresholds were fitted to 60,000 tiles of photographs, renderings and maps;
 * bench/bench_codec.c measures the results. */
TXM_ARITH int txm_choose_level(TXM_GLOBAL txm_sparse *sparse, const txm_deflate_shape *shape,
                               TXM_GLOBAL const uint8_t *src, size_t size_bytes, txm_search *search)
{
    uint64_t few_bits = size_bytes * 8 / 10;
    /* A sixteenth of EXR's split bytes is a sufficient sample, and an eighth of TIFF's; a quarter is needed if low
     * bytes repeat high ones. */
    size_t apart = shape->parts > 1 ? 16 : shape->wide ? 4 : 8, block = txm_stream_block(shape, size_bytes);
    txm_survey s = txm_survey_of(sparse, src, size_bytes, block, shape->step_bytes, apart, few_bits);
    double share = (double)s.literal_bits / (8 * (double)size_bytes);
    double by_4 = (double)s.saved_by_4 / (double)(s.literal_bits + 1);
    double by_8 = (double)s.saved_by_8 / (double)(s.literal_bits + 1);
    bool few = by_4 < (shape->wide ? 0.01 : 0.03) && by_8 < (share < 0.25 ? 0.10 : 0.15);
    few = few && s.literal_bits >= few_bits;
    *search = !few ? TXM_SEARCH_MANY : shape->parts > 1 ? TXM_SEARCH_FEWEST : TXM_SEARCH_FEW;
    if (s.literal_bits < size_bytes * 8 / TXM_HARDLY_ANYTHING)
        return 6;
    return few || !shape->widened ? TXM_LEVEL_SPARSE : s.literal_bits < few_bits ? 6 : 4;
}

/* Whoever has a faster one defines TXM_ADLER. */
#ifndef TXM_ADLER
#define TXM_ADLER txm_adler
#endif
TXM_ARITH uint32_t txm_adler(TXM_GLOBAL const uint8_t *src, size_t size_bytes)
{
    uint32_t a = 1, b = 0;
    for (size_t i = 0; i < size_bytes; i++) {
        a += src[i];
        b += a;
        if (i % 4096 == 4095 || i + 1 == size_bytes) {
            a %= 65521u;
            b %= 65521u;
        }
    }
    return b << 16 | a;
}

/* Returns 0 after writing the stream, or the level of libdeflate that is to write it. `level` is 0 or TXM_LEVEL_SPARSE;
 * dst has room for txm_sparse_bound and what zlib adds. */
TXM_ARITH int txm_write_stream(TXM_GLOBAL txm_sparse *sparse, int level, const txm_deflate_shape *shape,
                               TXM_GLOBAL const uint8_t *src, size_t size_bytes, TXM_GLOBAL uint8_t *dst,
                               size_t *encoded_bytes)
{
    txm_search search = TXM_SEARCH_FEW;
    sparse->surveyed_block = 0;
    if (level == 0 && (level = txm_choose_level(sparse, shape, src, size_bytes, &search)) != TXM_LEVEL_SPARSE)
        return level;
    /* Readers that do not support parts see an ordinary zlib stream. */
    const bool in_parts = shape->parts > 1 && size_bytes <= TXM_PARTS_MAX_BYTES;
    const size_t block = in_parts ? TXM_IN_PARTS : txm_stream_block(shape, size_bytes);
    size_t n = TXM_ZLIB_HEADER_BYTES;
    dst[0] = 0x78; /* deflate, window of 32 KiB */
    dst[1] = 0x5e; /* states a fast encoder, and makes the header a multiple of 31 */
    n += txm_encode_sparse(sparse, src, size_bytes, block, shape->step_bytes, search, dst + n);
    const uint32_t check = TXM_ADLER(src, size_bytes);
    for (int i = 0; i < TXM_ZLIB_TRAILER_BYTES; i++)
        dst[n + (size_t)i] = (uint8_t)(check >> (24 - 8 * i));
    *encoded_bytes = n + TXM_ZLIB_TRAILER_BYTES;
    return 0;
}
#endif
