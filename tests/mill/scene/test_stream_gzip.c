/* SPDX-License-Identifier: Apache-2.0
 * The gzip decoder of scenes accepts whatever zlib accepts, with the same bytes, and fails where zlib fails. */
#include <stdint.h>
#include <sys/mman.h>
#include <zlib.h>

#include "mill/scene/blend/stream.h"
#include "util_check.h"

typedef struct deflate_kind {
    int level, strategy, memory; /* of deflateInit2; memory 1 to 9: blocks of 128 symbols to 32768 */
    int flush;                   /* Z_NO_FLUSH, or a flush every `flush_bytes` bytes */
    size_t flush_bytes;
} deflate_kind;

enum { GZIP = 16 + 15 };

static void must(bool good)
{
    if (!good)
        abort();
}

/* Compresses into one gzip member. free() it. */
static uint8_t *deflate_member(const uint8_t *data, size_t bytes, deflate_kind kind, size_t *packed_bytes)
{
    z_stream z = {0};
    size_t pieces = kind.flush_bytes ? bytes / kind.flush_bytes + 1 : 1, room = 2 * bytes + 64 * pieces + 1024;
    uint8_t *packed = malloc(room);
    must(packed && deflateInit2(&z, kind.level, Z_DEFLATED, GZIP, kind.memory, kind.strategy) == Z_OK);
    z.next_in = (Bytef *)data;
    z.next_out = packed;
    z.avail_out = (uInt)room;
    for (size_t left = bytes; kind.flush_bytes && left > kind.flush_bytes; left -= kind.flush_bytes) {
        z.avail_in = (uInt)kind.flush_bytes;
        must(deflate(&z, kind.flush) == Z_OK && z.avail_in == 0);
    }
    z.avail_in = (uInt)(bytes - (size_t)(z.next_in - data));
    must(deflate(&z, Z_FINISH) == Z_STREAM_END);
    *packed_bytes = z.total_out;
    must(deflateEnd(&z) == Z_OK);
    return packed;
}

/* Inflates one member, as far as there is room. */
static int inflate_member(z_stream *z)
{
    must(inflateReset(z) == Z_OK);
    int rc;
    do {
        rc = inflate(z, Z_NO_FLUSH);
    } while (rc == Z_OK && z->avail_out);
    return rc;
}

/* Whether zlib accepts the file: members one after the other, up to data that is not one. *dst, to be freed, receives
 * the content as far as it can be decoded, at most `most` bytes. */
static bool zlib_gunzip(const uint8_t *file, size_t bytes, size_t most, uint8_t **dst, size_t *got)
{
    z_stream z = {0};
    *dst = malloc(most + 1);
    must(*dst && inflateInit2(&z, GZIP) == Z_OK);
    z.next_in = (Bytef *)file;
    z.avail_in = (uInt)bytes;
    z.next_out = *dst;
    z.avail_out = (uInt)most + 1;
    int rc;
    do {
        rc = inflate_member(&z);
    } while (rc == Z_STREAM_END && z.avail_in >= 2 && z.next_in[0] == 0x1F && z.next_in[1] == 0x8B);
    *got = (size_t)(z.next_out - *dst);
    must(inflateEnd(&z) == Z_OK);
    return rc == Z_STREAM_END && *got <= most;
}

enum { SOURCE_BYTES = 300000, PULL_BYTES = 70001 };

/* ---- contents ------------------------------------------------------------------------------------------------- */

static uint64_t seed;

static uint32_t next(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

/* Makes heads that repeat, text, noise, and runs of all small distances in turn, like pictures between meshes. */
static void make_mixture(uint8_t *p, size_t bytes)
{
    for (size_t i = 0, k = 0, end = 0; i < bytes; i++) {
        if (i >= end) {
            end = i + 20000 + next() % 50000;
            k = (k + 1) % 4;
        }
        const size_t back = 1 + next() % 40;
        p[i] = k == 0                                 ? (uint8_t) "DATA\x00\x02\x00\x00 a head repeats.."[i % 24]
               : k == 1 && i >= 40 && next() % 8 == 0 ? p[i - back]
               : k == 1                               ? (uint8_t)('a' + next() % 9)
               : k == 2                               ? (uint8_t)next()
               : i >= 20                              ? p[i - 1 - i / 5000 % 20]
                                                      : 0;
    }
}

/* Stored, with fixed codes, with a small window, and flushed. */
static const deflate_kind kinds[] = {
    {0, Z_DEFAULT_STRATEGY, 8, Z_NO_FLUSH, 0},
    {1, Z_DEFAULT_STRATEGY, 8, Z_NO_FLUSH, 0},
    {6, Z_FIXED, 8, Z_NO_FLUSH, 0},
    {7, Z_DEFAULT_STRATEGY, 2, Z_NO_FLUSH, 0},
    {6, Z_DEFAULT_STRATEGY, 8, Z_SYNC_FLUSH, 3000},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- files in memory ------------------------------------------------------------------------------------------ */

typedef struct file {
    uint8_t *data;
    size_t bytes;
} file;

static void append(file *f, const void *data, size_t bytes)
{
    f->data = realloc(f->data, f->bytes + bytes);
    ck_assert_ptr_nonnull(f->data);
    memcpy(f->data + f->bytes, data, bytes);
    f->bytes += bytes;
}

static void append_member(file *f, const uint8_t *data, size_t bytes, deflate_kind kind)
{
    size_t n;
    FREED uint8_t *packed = deflate_member(data, bytes, kind, &n);
    append(f, packed, n);
}

static uint8_t *source;

static void setup(void)
{
    seed = 7;
    source = malloc(SOURCE_BYTES);
    ck_assert_ptr_nonnull(source);
}

static void teardown(void)
{
    free(source);
}
FIXTURE(setup, teardown)

/* ---- inflating ------------------------------------------------------------------------------------------------ */

typedef struct decoder {
    txm_stream_input input;
    void *self;
} decoder;

static decoder open_decoder(const file *f)
{
    decoder d = {.input = {.fd = memfd_create("gzip", MFD_CLOEXEC), .name = "f", .file_bytes = f->bytes}};
    ck_assert_int_eq(write(d.input.fd, f->data, f->bytes), (ssize_t)f->bytes);
    ck_assert_int_eq(txm_stream_gzip.open(&d.input, &d.self, NULL), TXM_OK);
    return d;
}

static void close_decoder(decoder *d)
{
    txm_stream_gzip.close(d->self);
    close(d->input.fd);
}

/* Reads at most `most` bytes. *total is the number that came before the end or the failure. */
static txm_status pull(decoder *d, uint8_t *dst, size_t most, size_t *total, txm_error *err)
{
    size_t got = 1;
    txm_status status = TXM_OK;
    for (*total = 0; status == TXM_OK && got && *total < most; *total += got) {
        size_t want = most - *total < PULL_BYTES ? most - *total : PULL_BYTES;
        got = 0;
        status = txm_stream_gzip.pull(d->self, &d->input, dst + *total, want, &got, err);
        ck_assert_uint_le(got, want);
    }
    return status;
}

/* Checks that the file gives these bytes and no more. */
static void check_gives(const file *f, const uint8_t *expected, size_t bytes)
{
    FREED uint8_t *dst = malloc(bytes + 100);
    size_t total;
    decoder d = open_decoder(f);
    txm_error err = {0};
    ck_assert_msg(pull(&d, dst, bytes + 100, &total, &err) == TXM_OK, "%s", err.message);
    ck_assert_uint_eq(total, bytes);
    ck_assert(memcmp(dst, expected, bytes) == 0);
    close_decoder(&d);
}

TESTS(every_kind_of_stream, KINDS)
{
    file f = {0};
    make_mixture(source, SOURCE_BYTES);
    append_member(&f, source, SOURCE_BYTES, kinds[_i]);
    check_gives(&f, source, SOURCE_BYTES);
    free(f.data);
}

TEST(several_members_and_what_follows)
{
    static const char *const behind[] = {"", "t", "\x1F", "trailing bytes", "\x1F\x8C\x08"};
    make_mixture(source, SOURCE_BYTES);
    for (size_t b = 0; b < sizeof behind / sizeof *behind; b++) {
        file f = {0};
        for (size_t at = 0, k = 0; at < SOURCE_BYTES; k++) {
            size_t n = k % 3 ? 1 + next() % 200000 : next() % 200;
            n = n < SOURCE_BYTES - at ? n : SOURCE_BYTES - at;
            append_member(&f, source + at, n, kinds[k % KINDS]);
            at += n;
        }
        append_member(&f, source, 0, kinds[1]);
        append(&f, behind[b], strlen(behind[b]));
        check_gives(&f, source, SOURCE_BYTES);
        free(f.data);
    }
}

/* A member begins, and ends, at each of the last bytes of the decoder's buffer. */
TEST(members_across_the_buffer)
{
    enum { BUFFER = 128 * 1024, SMALL = 11 };
    make_mixture(source, SOURCE_BYTES);
    for (size_t before_end = 0, stored = BUFFER - 1000; before_end < 40; before_end++) {
        file f = {0};
        append_member(&f, source, stored, kinds[0]);
        if (f.bytes != BUFFER - before_end) {
            stored += BUFFER - before_end - f.bytes;
            f.bytes = 0;
            append_member(&f, source, stored, kinds[0]);
            ck_assert_uint_eq(f.bytes, BUFFER - before_end);
        }
        for (size_t i = 0; i < 3; i++)
            append_member(&f, source + stored + i * SMALL, SMALL, kinds[1]);
        check_gives(&f, source, stored + (size_t)3 * SMALL);
        free(f.data);
    }
}

TEST(back_to_the_start)
{
    file f = {0};
    size_t total;
    uint64_t landed;
    uint8_t *dst = malloc(SOURCE_BYTES);
    make_mixture(source, SOURCE_BYTES);
    append_member(&f, source, SOURCE_BYTES, kinds[1]);
    decoder d = open_decoder(&f);
    for (int k = 0; k < 20; k++) {
        size_t stop = next() % SOURCE_BYTES;
        ck_assert_int_eq(pull(&d, dst, stop, &total, NULL), TXM_OK);
        ck_assert_uint_eq(total, stop);
        ck_assert(memcmp(dst, source, stop) == 0);
        ck_assert_int_eq(txm_stream_gzip.jump(d.self, &d.input, stop, stop + 9, &landed, NULL), TXM_OK);
        ck_assert_uint_eq(landed, stop); /* there is no shorter way forward */
        ck_assert_int_eq(txm_stream_gzip.jump(d.self, &d.input, stop + 1, stop, &landed, NULL), TXM_OK);
        ck_assert_uint_eq(landed, 0);
    }
    close_decoder(&d);
    free(dst);
    free(f.data);
}

/* ---- damage --------------------------------------------------------------------------------------------------- */

/* The result is a prefix of zlib's, and there is an error if zlib reports one, which is returned. */
static bool check_as_zlib(const file *f, size_t most)
{
    uint8_t *expected, *dst = malloc(most + 100);
    size_t expected_bytes, total;
    bool good = zlib_gunzip(f->data, f->bytes, most, &expected, &expected_bytes);
    decoder d = open_decoder(f);
    txm_error err = {0};
    txm_status status = pull(&d, dst, most + 100, &total, &err);
    ck_assert_msg(status == (good ? TXM_OK : TXM_STATUS_CORRUPT), "zlib %d, %s", good, err.message);
    ck_assert(!good || total == expected_bytes);
    ck_assert(memcmp(dst, expected, total < expected_bytes ? total : expected_bytes) == 0);
    close_decoder(&d);
    free(expected);
    free(dst);
    return good;
}

TEST(every_part_of_a_header)
{
    make_mixture(source, 100000);
    file plain = {0}, f = {0};
    append_member(&plain, source, 100000, kinds[1]);
    append(&f, "\x1F\x8B\x08\x1E\0\0\0\0\0\x03", 10); /* all except the flag for text */
    append(&f, "\x05\0extra", 7);
    append(&f, "name\0a comment", 15);
    uLong crc = crc32(0, f.data, (uInt)f.bytes);
    append(&f, (uint8_t[]){(uint8_t)crc, (uint8_t)(crc >> 8)}, 2);
    size_t head_bytes = f.bytes;
    append(&f, plain.data + 10, plain.bytes - 10);
    check_gives(&f, source, 100000);
    plain.data[3] = 0x20; /* an unknown flag */
    ck_assert(!check_as_zlib(&plain, 100000));
    for (size_t n = 2; n < head_bytes; n++) { /* cut short within, and damaged; the magic has been seen */
        ck_assert(!check_as_zlib(&(file){f.data, n}, 100000));
        f.data[n] ^= 1;
        ck_assert(!check_as_zlib(&f, 100000));
        f.data[n] ^= 1;
    }
    free(plain.data);
    free(f.data);
}

TESTS(truncated_anywhere, KINDS)
{
    file f = {0};
    make_mixture(source, SOURCE_BYTES);
    append_member(&f, source, SOURCE_BYTES, kinds[_i]);
    size_t whole = f.bytes;
    for (size_t k = 0; k < some_of(80); k++) {
        f.bytes = k < some_of(20) ? whole - 1 - k : 4 + next() % (whole - 4);
        ck_assert(!check_as_zlib(&f, SOURCE_BYTES));
    }
    free(f.data);
}

TESTS(damaged_anywhere, KINDS)
{
    file f = {0};
    make_mixture(source, SOURCE_BYTES);
    append_member(&f, source, SOURCE_BYTES, kinds[_i]);
    size_t harmless = 0; /* bits that fill the byte before a stored block */
    for (size_t k = 0; k < some_of(80); k++) {
        size_t at = k < 8 ? f.bytes - 1 - k : 10 + next() % (f.bytes - 10); /* the trailer first */
        uint8_t flip = (uint8_t)(1 << next() % 8);
        f.data[at] ^= flip;
        harmless += check_as_zlib(&f, 2000000);
        f.data[at] ^= flip;
    }
    ck_assert_uint_le(harmless, 2);
    free(f.data);
}

int main(void)
{
    return run_tests_in_one_process();
}
