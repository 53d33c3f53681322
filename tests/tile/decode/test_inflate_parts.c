/* SPDX-License-Identifier: Apache-2.0
 * Deflate blocks decoded in parallel, compared with the decoders of other libraries, and streams that are not of that
 * kind. */
#include <libdeflate.h>
#include <zlib.h>

#include "base/mem.h"
#include "tile/decode/decode_table.h"
#include "tile/decode/inflate_parts.h"
#include "util_check.h"
#include "util_sparse.h"

static uint64_t seed = 7;

static uint32_t next(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

/* A stream and what it decompresses to. */
typedef struct sample {
    size_t n, packed;
    uint8_t *src, *stream, *back;
} sample;

static txm_parts *parts;
static sample s;

static void setup(void)
{
    parts = txm_parts_new();
    ck_assert_ptr_nonnull(parts);
}

static void drop(void)
{
    free(s.src), free(s.stream), free(s.back);
    memset(&s, 0, sizeof s);
}

static void teardown(void)
{
    drop();
    txm_parts_free(&parts);
    ck_assert_ptr_null(parts);
}
FIXTURE(setup, teardown)

/* Low bytes are noise of `bits` bits and high bytes mostly zero; occasionally a row repeats. */
static void make_source(size_t n, unsigned noise_bits)
{
    drop();
    s.n = n;
    s.src = txm_alloc_pixels(n, 1);
    s.back = txm_alloc_pixels(n, 1);
    s.stream = txm_alloc_pixels(3 * n + 4096, 1);
    ck_assert(s.src && s.back && s.stream);
    for (size_t i = 0; i < n; i++)
        s.src[i] = (uint8_t)(i < (n + 1) / 2 ? next() & ((1u << noise_bits) - 1)
                             : next() % 32   ? 128
                                             : 128 + next() % 9);
    for (size_t i = 200; i + 64 < n; i += 200 + next() % 400) {
        if (next() % 2)
            memset(s.src + i, 128, 64);
        else
            memcpy(s.src + i, s.src + i - 41 - next() % 100, 40);
    }
}

static void encode_in_parts(void)
{
    SCOPED(txm_sparse_free) txm_sparse *sparse = txm_sparse_new(s.n);
    ck_assert_ptr_nonnull(sparse);
    s.packed = sparse_run(sparse, s.src, s.n, TXM_IN_PARTS, 2, (txm_search)(s.n % 3), s.stream);
    ck_assert_uint_le(s.packed, txm_sparse_bound(s.n, TXM_IN_PARTS));
}

/* Compresses with zlib, and flushes at the end of each part, which leaves a mark in the stream. */
static void encode_by_zlib(int flush, int level)
{
    z_stream z = {0};
    size_t ends[TXM_MAX_PARTS], count = txm_parts_of(s.n, ends);
    ck_assert_int_eq(deflateInit2(&z, level, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = s.src;
    z.next_out = s.stream;
    z.avail_out = (uInt)(3 * s.n + 4096);
    for (size_t i = 0; i < count; i++) {
        z.avail_in = (uInt)(ends[i] - (i ? ends[i - 1] : 0));
        ck_assert_int_ge(deflate(&z, i + 1 < count ? flush : Z_FINISH), Z_OK);
    }
    s.packed = z.total_out;
    deflateEnd(&z);
}

/* The allocation is exactly as large as needed, so that AddressSanitizer sees the first byte beyond it. */
static size_t inflate_exactly(const uint8_t *stream, size_t bytes)
{
    uint8_t *src = malloc(bytes ? bytes : 1), *dst = malloc(s.n);
    ck_assert(src && dst);
    memcpy(src, stream, bytes);
    size_t used = txm_parts_inflate(parts, src, bytes, dst, s.n);
    memcpy(s.back, dst, s.n);
    free(src), free(dst);
    return used;
}

static bool right(void)
{
    return !memcmp(s.back, s.src, s.n);
}

static const size_t sizes[] = {2,     3,     64,    511,   4096,  8192,  16382, 16383,
                               16384, 16385, 24576, 32768, 40000, 65536, 99999, TXM_PARTS_MAX_BYTES};
enum { SIZES = sizeof sizes / sizeof *sizes };

TESTS(own_streams, SIZES)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    for (unsigned noise = 0; noise <= 8; noise++) {
        make_source(sizes[_i], noise);
        encode_in_parts();
        ck_assert_int_eq(libdeflate_deflate_decompress(d, s.stream, s.packed, s.back, s.n, NULL), LIBDEFLATE_SUCCESS);
        ck_assert(right());
        ck_assert_uint_eq(inflate_exactly(s.stream, s.packed), s.packed);
        ck_assert(right());
    }
    libdeflate_free_decompressor(d);
}

/* Bytes after a stream are ignored and not counted. */
TEST(stops_at_the_end)
{
    make_source(32768, 5);
    encode_in_parts();
    for (size_t i = 0; i < 20; i++)
        s.stream[s.packed + i] = (uint8_t)next();
    for (size_t more = 0; more < 20; more++) {
        ck_assert_uint_eq(inflate_exactly(s.stream, s.packed + more), s.packed);
        ck_assert(right());
    }
}

/* As long as its window of symbols suffices, zlib writes each part as one dynamic block: with long codes and all kinds
 * of matches. */
TEST(foreign_parts)
{
    int decoded = 0;
    for (size_t i = 0; i < SIZES; i++)
        for (unsigned noise = 0; noise <= 8; noise++) {
            make_source(sizes[i], noise);
            encode_by_zlib(Z_FULL_FLUSH, 1 + (int)noise);
            size_t used = inflate_exactly(s.stream, s.packed);
            ck_assert(used == 0 || (used == s.packed && right()));
            decoded += used != 0;
        }
    ck_assert_int_gt(decoded, 20);
}

/* Matches that reach into the part before, and streams without marks, are left to other decoders. */
TEST(not_in_parts)
{
    int refused = 0, count = 0;
    for (size_t i = 4; i < SIZES; i++, count++) {
        make_source(sizes[i], 3);
        memcpy(s.src + s.n / 2, s.src + s.n / 2 - s.n / 8, s.n / 8);
        encode_by_zlib(Z_SYNC_FLUSH, 6);
        size_t used = inflate_exactly(s.stream, s.packed);
        ck_assert(used == 0 || right());
        refused += used == 0;
        encode_by_zlib(Z_NO_FLUSH, 6);
        ck_assert_uint_eq(inflate_exactly(s.stream, s.packed), 0);
    }
    ck_assert_int_eq(refused, count);
}

TESTS(truncated, 2)
{
    make_source(_i ? 16384 : 5000, 6);
    encode_in_parts();
    for (size_t n = 0; n < s.packed; n += 1 + n / 300)
        ck_assert_uint_eq(inflate_exactly(s.stream, n), 0);
    ck_assert_uint_eq(inflate_exactly(s.stream, s.packed - 1), 0);
}

/* After any flipped bit, the stream is refused or decodes to what libdeflate makes of it. */
TESTS(flipped_bits, SIZES - 6)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    const size_t size = sizes[_i + 3];
    uint8_t *other = malloc(size);
    size_t got;
    make_source(size, 4);
    encode_in_parts();
    const size_t rounds = some_of(6000);
    for (size_t k = 0; k < rounds; k++) {
        size_t at = k < rounds / 2 ? k % s.packed : next() % s.packed;
        uint8_t bit = (uint8_t)(1u << next() % 8);
        s.stream[at] ^= bit;
        if (inflate_exactly(s.stream, s.packed)) {
            ck_assert_int_eq(libdeflate_deflate_decompress(d, s.stream, s.packed, other, s.n, &got),
                             LIBDEFLATE_SUCCESS);
            ck_assert_uint_eq(got, s.n);
            ck_assert_mem_eq(other, s.back, s.n);
        }
        s.stream[at] ^= bit;
    }
    free(other);
    libdeflate_free_decompressor(d);
}

TEST(marks_in_the_data)
{
    /* Stored bytes that look like a mark end the first part too early. */
    make_source(32768, 8);
    for (size_t i = 0; i + 4 < s.n; i += 4)
        memcpy(s.src + i, "\0\0\xff\xff", 4);
    encode_by_zlib(Z_FULL_FLUSH, 0);
    ck_assert_uint_eq(inflate_exactly(s.stream, s.packed), 0);
    encode_in_parts();
    ck_assert_uint_eq(inflate_exactly(s.stream, s.packed), s.packed);
    ck_assert(right());
}

static bool read_table(const uint8_t *bytes, size_t n)
{
    static txm_decode_table table;
    txm_bit_reader r = {.in = bytes, .end = bytes + n};
    return txm_decode_table_read(&table, &r);
}

/* Tables that no encoder writes are refused and left to the library; they are never decoded by guessing. */
TEST(codes_that_are_none_are_refused)
{
    static const uint8_t zeros[64] = {0};
    uint8_t ones[64];
    memset(ones, 0xFF, sizeof ones);
    ck_assert(!read_table(zeros, sizeof zeros));
    ck_assert(!read_table(ones, sizeof ones));
    ck_assert(!read_table(zeros, 0));
}
