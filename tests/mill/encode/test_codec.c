/* SPDX-License-Identifier: Apache-2.0
 * Filters, Huffman codes and deflate streams, compared with their definitions and with the decoders of other
 * libraries. */
#include <isa-l/igzip_lib.h>
#include <libdeflate.h>
#include <zlib.h>

#include "base/mem.h"
#include "mill/encode/deflate.h"
#include "mill/encode/deflate_body.h"
#include "mill/encode/filter.h"
#include "mill/encode/tile.h"
#include "util_check.h"
#include "util_sparse.h"

static uint64_t seed;

static uint32_t next(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

/* ---- filters ---- */

TEST(predictors)
{
    uint8_t src[400], u8[400];
    uint16_t wide[400], u16[400];
    for (uint32_t channels = 1; channels <= 4; channels++)
        for (size_t pixels = 1; pixels < 100; pixels++) {
            size_t n = pixels * channels;
            for (size_t i = 0; i < n; i++)
                src[i] = (uint8_t)(wide[i] = (uint16_t)next());
            txm_predict_row_u8(src, n, channels, u8);
            txm_predict_row_u16(wide, n, channels, u16);
            for (size_t i = channels; i < n; i++) { /* as libtiff undoes it */
                u8[i] = (uint8_t)(u8[i] + u8[i - channels]);
                u16[i] = (uint16_t)(u16[i] + u16[i - channels]);
            }
            ck_assert_mem_eq(u8, src, n);
            ck_assert_mem_eq(u16, wide, 2 * n);
        }
}

TEST(zip_filter)
{
    uint8_t src[300], dst[300], back[300];
    for (size_t n = 1; n <= 300; n++) {
        for (size_t i = 0; i < n; i++)
            src[i] = (uint8_t)next();
        txm_zip_filter(src, n, dst);
        for (size_t i = 1; i < n; i++) /* as OpenEXR undoes it */
            dst[i] = (uint8_t)(dst[i - 1] + dst[i] - 128);
        for (size_t i = 0; i < n; i++)
            back[i] = i % 2 ? dst[(n + 1) / 2 + i / 2] : dst[i / 2];
        ck_assert_mem_eq(back, src, n);
    }
}

TEST(planes)
{
    uint16_t s16[400], d16[400];
    uint32_t s32[400], d32[400];
    for (uint32_t channels = 1; channels <= 4; channels++) {
        size_t pixels = 77;
        for (size_t i = 0; i < pixels * channels; i++)
            s16[i] = (uint16_t)(s32[i] = next());
        txm_planes_u16(s16, pixels, channels, d16);
        txm_planes_u32(s32, pixels, channels, d32);
        for (size_t i = 0; i < pixels; i++)
            for (uint32_t c = 0; c < channels; c++) {
                ck_assert_uint_eq(d16[c * pixels + i], s16[i * channels + c]);
                ck_assert_uint_eq(d32[c * pixels + i], s32[i * channels + c]);
            }
    }
}

/* Pixels that vectors filter at once, with rows apart, against the planes and the filter one after the other. */
TEST(half_filter)
{
    enum { W = 128, H = 64, CHANNELS = 4, STRIDE = W * CHANNELS + 12 };
    static uint16_t pixels[H * STRIDE], split[H * W * CHANNELS];
    static uint8_t expected[sizeof split];
    txm_half_filter filter = txm_half_filter_best();
    ck_assert(!txm_half_filter_fits(50));
    for (size_t i = 0; i < sizeof pixels / sizeof *pixels; i++)
        pixels[i] = (uint16_t)next();
    for (uint32_t w = 64; filter && w <= W; w += 64)
        for (uint32_t h = 1; h <= H; h += 7) {
            size_t n = (size_t)w * h * CHANNELS * sizeof *pixels;
            FREED uint8_t *exact = malloc(n); /* so that AddressSanitizer sees a byte too far */
            for (uint32_t y = 0; y < h; y++)
                txm_planes_u16(pixels + y * STRIDE, w, CHANNELS, split + y * w * CHANNELS);
            txm_zip_filter((const uint8_t *)split, n, expected);
            ck_assert(txm_half_filter_fits(w) && exact);
            filter((const uint8_t *)pixels, STRIDE * sizeof *pixels, w, h, exact);
            ck_assert_mem_eq(exact, expected, n);
        }
}

/* ---- Huffman codes ---- */

/* Checks that the code is complete and within the limit, that no rarer symbol has a shorter code, and that none is a
 * prefix of another. Returns the total bits. */
static uint64_t check_code(const uint32_t *f, size_t n, int max_bits)
{
    uint8_t lengths[TXM_HUFFMAN_MAX_SYMBOLS];
    uint16_t codes[TXM_HUFFMAN_MAX_SYMBOLS];
    uint64_t space = 0, bits = 0;
    bool ordered = true, prefix_free = true; /* flags: an assertion for each pair would take a second */
    txm_block_scratch scratch;
    txm_make_lengths(&scratch, f, n, max_bits, lengths);
    txm_make_codes(&scratch, lengths, n, codes);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_le(lengths[i], max_bits);
        ck_assert(!f[i] || lengths[i]);
        space += lengths[i] ? 1ull << (max_bits - lengths[i]) : 0;
        bits += (uint64_t)f[i] * lengths[i];
        for (size_t k = 0; k < n; k++) {
            ordered &= f[i] <= f[k] || lengths[i] <= lengths[k] || !f[k];
            if (k != i && lengths[i] && lengths[k] >= lengths[i]) /* the low bits come first */
                prefix_free &= (codes[k] & ((1u << lengths[i]) - 1)) != codes[i];
        }
    }
    ck_assert(ordered && prefix_free);
    ck_assert_uint_eq(space, 1ull << max_bits);
    return bits;
}

TEST(huffman_random)
{
    uint32_t f[TXM_HUFFMAN_MAX_SYMBOLS];
    for (int round = 0; round < 100; round++) {
        size_t n = 2 + next() % 285;
        uint32_t shape = next() % 4;
        for (size_t i = 0; i < n; i++)
            f[i] = shape == 0 ? next() % 3 : shape == 1 ? next() % 70000 : shape == 2 ? 1u << next() % 22 : next() % 2;
        check_code(f, n, n > 128 || shape == 2 ? 14 : 9);
    }
}

/* Optima are known, and Fibonacci frequencies make the deepest trees. */
TEST(huffman_known)
{
    const uint32_t abc[] = {5, 1, 1, 1}, equal[] = {7, 7, 7, 7, 7, 7, 7, 7};
    uint32_t fibonacci[40] = {1, 1}, none[30] = {0}, one[30] = {0};
    ck_assert_uint_eq(check_code(abc, 4, 15), 5 * 1 + 1 * 2 + 1 * 3 + 1 * 3);
    ck_assert_uint_eq(check_code(equal, 8, 15), 8 * 7 * 3);
    for (int i = 2; i < 40; i++)
        fibonacci[i] = fibonacci[i - 1] + fibonacci[i - 2];
    for (int bits = 6; bits <= 15; bits++)
        check_code(fibonacci, 40, bits);
    one[17] = 9;
    check_code(none, 30, 15);
    check_code(one, 30, 15);
    one[17] = 0, one[0] = 1;
    check_code(one, 30, 15);
}

/* ---- the sparse encoder ---- */

enum { LONGEST = 140000 };

/* Makes bytes of many kinds: noise, few values, runs, repeats at pixel distances, slopes, and mixtures of all. */
static void fill(uint8_t *p, size_t n, uint32_t kind)
{
    size_t i = 0;
    while (i < n) {
        size_t run = kind == 6 ? 1 + next() % 3000 : n, end = n - i < run ? n : i + run;
        uint32_t k = kind == 6 ? next() % 6 : kind, v = next(), distance = 1 + next() % 40000;
        for (; i < end; i++)
            p[i] = (uint8_t)(k == 0   ? next()
                             : k == 1 ? (next() & 3) * (next() & 1)
                             : k == 2 ? v
                             : k == 3 ? (i % 4 == 3 ? 0 : (next() % 9) - 4)
                             : k == 4 ? (i >= distance ? p[i - distance] : v + i)
                                      : (size_t)__builtin_ctz(next() | 1u << 20));
    }
}

static void check_raw(const uint8_t *packed, size_t size, const uint8_t *want, size_t n, uint8_t *back)
{
    /* zlib decodes the stream, and sees nothing after its end; libdeflate is stricter about codes. */
    z_stream z = {.next_in = (uint8_t *)packed, .avail_in = (uInt)size, .next_out = back, .avail_out = (uInt)n};
    ck_assert_int_eq(inflateInit2(&z, -15), Z_OK);
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(z.total_in, size);
    ck_assert_uint_eq(z.total_out, n);
    inflateEnd(&z);
    ck_assert_mem_eq(back, want, n);
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    size_t got = 0;
    memset(back, 0xaa, n);
    ck_assert_int_eq(libdeflate_deflate_decompress(d, packed, size, back, n, &got), LIBDEFLATE_SUCCESS);
    ck_assert_uint_eq(got, n);
    ck_assert_mem_eq(back, want, n);
    libdeflate_free_decompressor(d);
}

TESTS(sparse_round_trip, 7)
{
    txm_sparse *s = txm_sparse_new(LONGEST);
    uint8_t *back = malloc(LONGEST);
    seed = (uint64_t)_i + 1;
    for (int round = 0; round < 20; round++) {
        size_t n = 1 + (round % 3 ? next() % 3000 : round % 2 ? next() % LONGEST : (uint32_t)round);
        size_t step = 1 + next() % 8, block = round % 4 ? 1 + next() % 70000 : n;
        /* Sizes are exact, so that AddressSanitizer sees a byte too far. */
        uint8_t *src = malloc(n), *dst = malloc(txm_sparse_bound(n, block)),
                *again = malloc(txm_sparse_bound(n, block));
        fill(src, n, (uint32_t)_i);
        for (txm_search search = TXM_SEARCH_FEW; search <= TXM_SEARCH_FEWEST; search++) {
            size_t size = sparse_run(s, src, n, block, step, search, dst);
            ck_assert_uint_le(size, txm_sparse_bound(n, block));
            check_raw(dst, size, src, n, back);
            /* Neither a survey nor an earlier stream influences the next stream. */
            txm_sparse *fresh = txm_sparse_new(n);
            txm_survey_of(s, src, n, block, step, 4, 0);
            ck_assert_uint_eq(sparse_run(round % 2 ? s : fresh, src, n, block, step, search, again), size);
            ck_assert_mem_eq(again, dst, size);
            txm_sparse_free(&fresh);
            txm_survey_of(s, src, n, block, step, 4, 0);
            size = txm_encode_sparse(s, src, n, block, step, search, again);
            ck_assert_uint_le(size, txm_sparse_bound(n, block));
            check_raw(again, size, src, n, back);
        }
        free(src), free(dst), free(again);
    }
    free(back);
    txm_sparse_free(&s);
    txm_sparse_free(&s);
}

/* All small sizes, as corner tiles have them. */
TEST(sparse_small)
{
    SCOPED(txm_sparse_free) txm_sparse *s = txm_sparse_new(600);
    uint8_t src[600], dst[4096], back[600];
    for (size_t n = 1; n <= 600; n++) {
        fill(src, n, (uint32_t)n % 7);
        check_raw(dst, sparse_run(s, src, n, n, 1 + n % 8, (txm_search)(n % 3), dst), src, n, back);
        check_raw(dst, sparse_run(s, src, n, (n + 1) / 2, 1, TXM_SEARCH_MANY, dst), src, n, back);
    }
}

/* The survey distinguishes noise from repetition. */
TEST(survey)
{
    enum { N = 16384 };
    SCOPED(txm_sparse_free) txm_sparse *s = txm_sparse_new(N);
    FREED uint8_t *p = malloc(N);
    fill(p, N, 0);
    txm_survey noise = txm_survey_of(s, p, N, N, 4, 4, 0);
    ck_assert_uint_gt(noise.literal_bits, 7 * N);
    ck_assert_uint_lt(noise.saved_by_4 * 50, noise.literal_bits);
    for (size_t i = 256; i < N; i++)
        p[i] = p[i - 256];
    txm_survey rows = txm_survey_of(s, p, N, N, 4, 4, 0);
    ck_assert_uint_gt(rows.saved_by_8 * 3, rows.literal_bits * 2);
    /* If literals are cheap, the search ends, but only for that block. Literals are counted the same way. */
    txm_survey cheap = txm_survey_of(s, p, N, N, 4, 4, rows.literal_bits + 1);
    ck_assert_uint_eq(cheap.literal_bits, rows.literal_bits);
    ck_assert_uint_eq(cheap.saved_by_8, 0);
    ck_assert_uint_eq(txm_survey_of(s, p, N, N, 4, 4, rows.literal_bits).saved_by_8, rows.saved_by_8);
    ck_assert_uint_gt(txm_survey_of(s, p, N, N / 2, 4, 4, 8 * N).saved_by_8, 0);
    memset(p, 7, N);
    ck_assert_uint_lt(txm_survey_of(s, p, N, N, 4, 4, 0).literal_bits, N);
}

/* Runs of every length, with short codes and the longest ones, written by vector instructions and by the plain loop. */
TEST(vector_literals)
{
    enum { RUNS = 300, MOST = RUNS * 400 };
    txm_literal_writer vector = txm_literal_writer_best();
    uint8_t *plain = malloc(2 * MOST), *wide = malloc(2 * MOST);
    ck_assert(plain && wide);
    for (int round = 0; vector && round < 40; round++) {
        txm_sequence sequences[RUNS];
        size_t n = 0, at = 0;
        for (int i = 0; i < RUNS; i++) {
            sequences[i] = (txm_sequence){next() % (i % 2 ? 40 : 200), (uint16_t)(3 + next() % 100), 1};
            n += sequences[i].literals + sequences[i].length;
        }
        n += (size_t)(round % 3) * 50; /* literals after the last match */
        uint8_t *src = malloc(n);      /* exact, so that AddressSanitizer sees a byte too far */
        uint32_t litlen[2][TXM_LITLEN_SYMBOLS] = {{0}}, distance[TXM_DISTANCE_SYMBOLS] = {RUNS};
        fill(src, n, (uint32_t)round % 7);
        for (int i = 0; i <= RUNS; i++) {
            size_t end = i < RUNS ? at + sequences[i].literals : n;
            for (; at < end; at++)
                litlen[0][src[at]] += round % 2 ? 1 : 1 + next() % 1000 * (next() % 9 == 0); /* any code will do */
            if (i < RUNS)
                litlen[0][txm_code_length(sequences[i].length).symbol]++;
            at += i < RUNS ? sequences[i].length : 0;
        }
        memcpy(litlen[1], litlen[0], sizeof *litlen);
        txm_bit_writer a = {0, 0, plain}, b = {0, 0, wide};
        static txm_block_scratch block;
        txm_write_block(&block, &a, src, n, sequences, RUNS, litlen[0], distance, NULL, true);
        txm_write_block(&block, &b, src, n, sequences, RUNS, litlen[1], distance, vector, true);
        ck_assert_int_eq(a.out - plain, b.out - wide);
        ck_assert_uint_eq(a.count, b.count);
        ck_assert_uint_eq(a.bits, b.bits);
        ck_assert_mem_eq(plain, wide, (size_t)(a.out - plain));
        free(src);
    }
    free(plain), free(wide);
}

/* ---- zlib streams ---- */

/* Decodes a zlib stream of n bytes with three libraries. */
static void check_stream(struct libdeflate_decompressor *d, const uint8_t *src, size_t n, uint8_t *stream, size_t bytes)
{
    FREED uint8_t *back = malloc(n);
    uLongf by_zlib = n;
    size_t by_libdeflate = 0;
    struct inflate_state isal;
    ck_assert_int_eq(uncompress(back, &by_zlib, stream, bytes), Z_OK);
    ck_assert_uint_eq(by_zlib, n);
    ck_assert_mem_eq(back, src, n);
    memset(back, 0, n);
    ck_assert_int_eq(libdeflate_zlib_decompress(d, stream, bytes, back, n, &by_libdeflate), LIBDEFLATE_SUCCESS);
    ck_assert_uint_eq(by_libdeflate, n);
    ck_assert_mem_eq(back, src, n);
    memset(back, 0, n);
    isal_inflate_init(&isal);
    isal.crc_flag = ISAL_ZLIB;
    isal.next_in = stream, isal.avail_in = (uint32_t)bytes;
    isal.next_out = back, isal.avail_out = (uint32_t)n;
    ck_assert_int_eq(isal_inflate(&isal), ISAL_DECOMP_OK);
    ck_assert_uint_eq(isal.total_out, n);
    ck_assert_int_eq(isal.block_state, ISAL_BLOCK_FINISH);
    ck_assert_mem_eq(back, src, n);
}

TEST(zlib_streams)
{
    static const int levels[] = {0, 1, 2, 4, 6, 9, 12};
    enum { N = 32768 };
    struct libdeflate_decompressor *reader = libdeflate_alloc_decompressor();
    FREED uint8_t *src = malloc(N);
    txm_error err = {0};
    for (size_t l = 0; l < sizeof levels / sizeof *levels; l++)
        for (int parts = 1; parts <= 2; parts++) {
            SCOPED(txm_deflate_free) txm_deflate *d = NULL;
            txm_deflate_shape shape = {N, parts == 2 ? 1 : 4, parts, l % 2, l % 2};
            ck_assert_int_eq(txm_deflate_new(levels[l], &shape, &d, &err), TXM_OK);
            FREED uint8_t *dst = malloc(txm_deflate_bound(d));
            for (uint32_t kind = 0; kind <= 6; kind++)
                for (size_t n = N; n; n = n > 40 ? n / 3 : n - 1) {
                    size_t size = 0;
                    fill(src, n, kind);
                    ck_assert_int_eq(txm_deflate_run(d, src, n, dst, &size, &err), TXM_OK);
                    check_stream(reader, src, n, dst, size);
                }
        }
    libdeflate_free_decompressor(reader);
}

/* ---- tiles ---- */

TEST(wrong_formats)
{
    static const struct {
        txm_tile_format format;
        const char *says;
    } cases[] = {{{TXM_TYPE_U8, 0, 64, {TXM_CODEC_ZIP, 0}}, "channels"},
                 {{TXM_TYPE_U8, 5, 64, {TXM_CODEC_ZIP, 0}}, "channels"},
                 {{TXM_TYPE_U8, 4, 48, {TXM_CODEC_ZIP, 0}}, "power of two"},
                 {{TXM_TYPE_U8, 4, 8, {TXM_CODEC_ZIP, 0}}, "power of two"},
                 {{TXM_TYPE_U8, 4, 2048, {TXM_CODEC_ZIP, 0}}, "power of two"},
                 {{TXM_TYPE_U8, 4, 64, {TXM_CODEC_ZIP, 13}}, "zip level"},
                 {{TXM_TYPE_U8, 4, 64, {TXM_CODEC_ZIP, -1}}, "zip level"},
                 {{TXM_TYPE_U8, 4, 64, {TXM_CODEC_ZSTD, 20}}, "zstd level"},
                 {{TXM_TYPE_HALF, 4, 64, {TXM_CODEC_ZSTD, 0}}, "use zip or none"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        txm_error err = {0};
        txm_tile_encoder *e = NULL;
        ck_assert_int_eq(txm_tile_encoder_new(&cases[i].format, &e, &err), TXM_STATUS_USAGE);
        ck_assert_ptr_null(e);
        ck_assert_msg(strstr(err.message, cases[i].says), "%s", err.message);
    }
}

TEST(wrong_tile)
{
    txm_tile_format format = {TXM_TYPE_U8, 4, 64, {TXM_CODEC_ZIP, 0}};
    txm_tile_encoder *e = NULL;
    static uint8_t pixels[65 * 65 * 4];
    const void *encoded = NULL;
    size_t size = 99;
    ck_assert_int_eq(txm_tile_encoder_new(&format, &e, NULL), TXM_OK);
    ck_assert_int_eq(txm_tile_encode(e, pixels, 65 * 4, 65, 64, &encoded, &size, NULL), TXM_STATUS_INTERNAL);
    ck_assert_int_eq(txm_tile_encode(e, pixels, 65 * 4, 64, 0, &encoded, &size, NULL), TXM_STATUS_INTERNAL);
    ck_assert_ptr_null(encoded);
    ck_assert_uint_eq(size, 99);
    txm_tile_encoder_free(&e);
    txm_tile_encoder_free(&e);
    ck_assert_ptr_null(e);
}

/* Noise does not shrink: EXR stores it uncompressed, and in TIFF it grows slightly. */
TEST(incompressible)
{
    static _Alignas(16) uint8_t pixels[64 * 64 * 16];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(next() >> 8);
    for (txm_type type = TXM_TYPE_U8; type <= TXM_TYPE_FLOAT; type++) {
        txm_tile_format format = {type, 4, 64, {TXM_CODEC_ZIP, 0}};
        size_t raw = 64 * 64 * 4 * txm_type_bytes(type), size = 0;
        SCOPED(txm_tile_encoder_free) txm_tile_encoder *e = NULL;
        const void *encoded = NULL;
        ck_assert_int_eq(txm_tile_encoder_new(&format, &e, NULL), TXM_OK);
        ck_assert_int_eq(txm_tile_encode(e, pixels, raw / 64, 64, 64, &encoded, &size, NULL), TXM_OK);
        if (txm_type_is_float(type))
            ck_assert_uint_le(size, raw);
        if (type == TXM_TYPE_HALF) { /* stored as planes, whichever way they were filtered */
            static uint16_t split[64 * 64 * 4];
            for (size_t y = 0; y < 64; y++)
                txm_planes_u16((const uint16_t *)(const void *)pixels + y * 256, 64, 4, split + y * 256);
            ck_assert_uint_eq(size, raw);
            ck_assert_mem_eq(encoded, split, raw);
        }
        ck_assert_uint_lt(size, raw + raw / 64);
    }
}

/* Images that are mostly empty become small. */
TEST(one_colour)
{
    static uint8_t pixels[64 * 64 * 16];
    for (txm_type type = TXM_TYPE_U8; type <= TXM_TYPE_FLOAT; type++) {
        txm_tile_format format = {type, 4, 64, {TXM_CODEC_ZIP, 0}};
        size_t row = 64 * 4 * txm_type_bytes(type), size = 0;
        SCOPED(txm_tile_encoder_free) txm_tile_encoder *e = NULL;
        const void *encoded = NULL;
        ck_assert_int_eq(txm_tile_encoder_new(&format, &e, NULL), TXM_OK);
        ck_assert_int_eq(txm_tile_encode(e, pixels, row, 64, 64, &encoded, &size, NULL), TXM_OK);
        ck_assert_uint_lt(300 * size, 64 * row);
    }
}

/* What the encoder did before does not influence its output. */
TESTS(no_memory_of_earlier_tiles, 4)
{
    txm_tile_format format = {(txm_type)_i, 4, 64, {TXM_CODEC_ZIP, 0}};
    size_t row = 64 * 4 * txm_type_bytes(format.type), first_size = 0, size = 0;
    static uint8_t a[64 * 64 * 16], b[64 * 64 * 16];
    SCOPED(txm_tile_encoder_free) txm_tile_encoder *e = NULL;
    const void *encoded;
    fill(a, sizeof a, 3);
    fill(b, sizeof b, 4);
    ck_assert_int_eq(txm_tile_encoder_new(&format, &e, NULL), TXM_OK);
    ck_assert_int_eq(txm_tile_encode(e, a, row, 50, 33, &encoded, &first_size, NULL), TXM_OK);
    FREED uint8_t *first = malloc(first_size);
    memcpy(first, encoded, first_size);
    for (uint32_t w = 1; w <= 64; w += 9) {
        ck_assert_int_eq(txm_tile_encode(e, b, row, w, 65 - w, &encoded, &size, NULL), TXM_OK);
        ck_assert_int_eq(txm_tile_encode(e, a, row, 50, 33, &encoded, &size, NULL), TXM_OK);
        ck_assert_uint_eq(size, first_size);
        ck_assert_mem_eq(encoded, first, size);
    }
}
