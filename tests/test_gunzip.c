/* SPDX-License-Identifier: Apache-2.0
 * gzip files inflated on several threads, in chunks so small that a file crosses thousands: what comes out is what
 * zlib's own inflater gives, and errors are found where it finds them. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "codec/gunzip.h"
#include "util_deflate.h"

enum { SOURCE_BYTES = 600000, PULL_BYTES = 70001 };

/* ---- contents ------------------------------------------------------------------------------------------------- */

static uint64_t seed;

static uint32_t next(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

/* Blocks of 512 bytes whose heads repeat, with coordinates: marks are carried from chunk to chunk. */
static void make_scene(uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)(i % 512 < 24   ? (uint8_t) "DATA\x00\x02\x00\x00 a head repeats.."[i % 512]
                         : i % 4 == 3   ? 0x3f
                         : i % 12 >= 10 ? i / 4096
                                        : next() >> 3);
}

static void make_text(uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = next() % 8 || i < 40 ? (uint8_t)('a' + next() % 9) : p[i - 1 - next() % 40];
}

static void make_noise(uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        p[i] = (uint8_t)next();
}

/* Runs of all small distances, and long stretches of nothing. */
static void make_runs(uint8_t *p, size_t bytes)
{
    for (size_t i = 0; i < bytes;) {
        size_t distance = 1 + next() % 20, n = next() % 32 ? next() % 600 : 40000;
        for (size_t k = 0; k < n && i < bytes; k++, i++)
            p[i] = k < distance || i < distance ? (uint8_t)(next() % 5) : p[i - distance];
    }
}

/* All of them in turn: pictures between meshes. */
static void make_mixture(uint8_t *p, size_t bytes)
{
    static void (*const make[])(uint8_t *, size_t) = {make_scene, make_noise, make_text, make_runs};
    for (size_t i = 0, k = 0; i < bytes; k++) {
        size_t n = 20000 + next() % 150000;
        n = n < bytes - i ? n : bytes - i;
        make[k % 4](p + i, n);
        i += n;
    }
}

static void (*const contents[])(uint8_t *, size_t) = {make_scene, make_text, make_noise, make_runs, make_mixture};
enum { CONTENTS = sizeof contents / sizeof *contents };

/* ---- files in memory ------------------------------------------------------------------------------------------ */

typedef struct file {
    uint8_t *data;
    size_t bytes;
    size_t most_at_once, fails_from; /* of a read; the offset from which reading fails, 0: it does not */
} file;

static bool read_file(void *context, uint64_t offset, uint8_t *dst, size_t bytes, size_t *got)
{
    const file *f = context;
    size_t left = offset < f->bytes ? f->bytes - (size_t)offset : 0;
    if (f->fails_from && offset >= f->fails_from)
        return false;
    *got = left < bytes ? left : bytes;
    if (f->most_at_once && *got > f->most_at_once)
        *got = f->most_at_once;
    memcpy(dst, f->data + offset, *got);
    return true;
}

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
    uint8_t *packed = deflate_member(data, bytes, kind, &n);
    append(f, packed, n);
    free(packed);
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

/* ---- inflating ------------------------------------------------------------------------------------------------ */

static txm_gunzip_settings in_chunks(unsigned threads, size_t chunk_bytes)
{
    return (txm_gunzip_settings){{threads, chunk_bytes, 16 * chunk_bytes + 65536}, 0};
}

/* Everything that can be pulled. */
static txm_gunzipped pull_all(txm_gunzip *g, uint8_t *dst, size_t room, size_t *total)
{
    size_t got = 1;
    txm_gunzipped status = TXM_GUNZIP_OK;
    uint64_t used = 0;
    for (*total = 0; status == TXM_GUNZIP_OK && got; *total += got) {
        size_t want = room - *total < PULL_BYTES ? room - *total : PULL_BYTES;
        status = txm_gunzip_pull(g, dst + *total, want, &got);
        ck_assert_uint_le(got, want);
        ck_assert_uint_ge(txm_gunzip_used(g), used);
        used = txm_gunzip_used(g);
    }
    return status;
}

/* That the file gives these bytes; then once more, from the start. */
static void check_gives(file *f, const uint8_t *expected, size_t bytes, txm_gunzip_settings settings)
{
    uint8_t *dst = malloc(bytes + 100);
    txm_gunzip *g = txm_gunzip_new(&settings, f->bytes, read_file, read_file, f);
    ck_assert(g && dst);
    for (int i = 0; i < 2; i++) {
        size_t total;
        memset(dst, 0x55, bytes);
        ck_assert_int_eq(pull_all(g, dst, bytes + 100, &total), TXM_GUNZIP_OK);
        ck_assert_uint_eq(total, bytes);
        ck_assert(memcmp(dst, expected, bytes) == 0);
        txm_gunzip_rewind(g);
    }
    txm_gunzip_free(&g);
    ck_assert_ptr_null(g);
    free(dst);
}

static const size_t chunks[] = {700, 5000, 60000};
static const deflate_kind kinds[] = {
    {0, Z_DEFAULT_STRATEGY, 8, Z_NO_FLUSH, 0},
    {1, Z_DEFAULT_STRATEGY, 8, Z_NO_FLUSH, 0},
    {2, Z_DEFAULT_STRATEGY, 1, Z_NO_FLUSH, 0},
    {3, Z_DEFAULT_STRATEGY, 9, Z_NO_FLUSH, 0},
    {4, Z_FILTERED, 8, Z_NO_FLUSH, 0},
    {5, Z_DEFAULT_STRATEGY, 3, Z_NO_FLUSH, 0},
    {6, Z_DEFAULT_STRATEGY, 8, Z_NO_FLUSH, 0},
    {7, Z_DEFAULT_STRATEGY, 2, Z_NO_FLUSH, 0},
    {9, Z_DEFAULT_STRATEGY, 9, Z_NO_FLUSH, 0},
    {6, Z_FIXED, 8, Z_NO_FLUSH, 0},
    {6, Z_HUFFMAN_ONLY, 8, Z_NO_FLUSH, 0},
    {6, Z_RLE, 8, Z_NO_FLUSH, 0},
    {6, Z_DEFAULT_STRATEGY, 8, Z_SYNC_FLUSH, 3000},
    {1, Z_DEFAULT_STRATEGY, 8, Z_FULL_FLUSH, 20000},
    {6, Z_DEFAULT_STRATEGY, 8, Z_PARTIAL_FLUSH, 900},
    {1, Z_DEFAULT_STRATEGY, 8, Z_BLOCK, 7000},
};
enum { KINDS = sizeof kinds / sizeof *kinds, CHUNKS = sizeof chunks / sizeof *chunks };

START_TEST(every_kind_of_stream)
{
    for (size_t c = 0; c < CONTENTS; c++) {
        file f = {0};
        contents[c](source, SOURCE_BYTES);
        append_member(&f, source, SOURCE_BYTES, kinds[_i]);
        for (size_t i = 0; i < CHUNKS; i++)
            check_gives(&f, source, SOURCE_BYTES, in_chunks(2, chunks[i]));
        check_gives(&f, source, SOURCE_BYTES, in_chunks(0, 1));
        free(f.data);
    }
}
END_TEST

/* Guesses are what most of it is made of: else nothing here would be tested. */
START_TEST(guesses_are_right)
{
    size_t all = 0, taken = 0;
    file f = {0};
    make_scene(source, SOURCE_BYTES);
    append_member(&f, source, SOURCE_BYTES, (deflate_kind){1, Z_DEFAULT_STRATEGY, 3, Z_NO_FLUSH, 0});
    txm_guess guess;
    ck_assert(txm_guess_init(&guess, 1 << 20, read_file, &f));
    static uint8_t map[TXM_MARK_MAP];
    for (int i = 0; i < TXM_FIRST_MARK; i++)
        map[i] = (uint8_t)i;
    uint8_t *dst = malloc(SOURCE_BYTES);
    atomic_bool unwanted = false;
    /* From place to place: each guess begins where the one before has ended, and is at that place of the source. */
    uint64_t at = 8 * (uint64_t)(f.bytes / 3);
    const uint8_t *where = NULL;
    for (; at < 8 * f.bytes - 400000; all++) {
        ck_assert(txm_guess_begin(&guess, at, 8 * f.bytes));
        taken += where && guess.begin == at;
        txm_guess_finish(&guess, guess.begin + 8 * 5000, &unwanted);
        ck_assert_uint_ge(guess.end, guess.begin + 8 * 5000);
        if (where) {
            ck_assert_uint_eq(guess.begin, at);
            memcpy(map + TXM_FIRST_MARK, where - TXM_WINDOW, TXM_WINDOW);
            txm_resolve_marks(dst, guess.samples + TXM_WINDOW, guess.count, map);
            ck_assert(memcmp(dst, where, guess.count) == 0);
            where += guess.count;
        } else { /* the noise of the first one's end is found once in the source */
            uint8_t key[64];
            map[TXM_FIRST_MARK] = 0;
            txm_resolve_marks(key, guess.samples + TXM_WINDOW + guess.count - 64, 64, map);
            where = memmem(source, SOURCE_BYTES, key, 64);
            ck_assert_ptr_nonnull(where);
            where += 64;
        }
        at = guess.end;
    }
    ck_assert_uint_ge(all, 15);
    ck_assert_uint_eq(taken, all - 1);
    txm_guess_free(&guess);
    free(dst);
    free(f.data);
}
END_TEST

START_TEST(several_members_and_what_follows)
{
    static const char *const behind[] = {"", "t", "\x1F", "trailing bytes", "\x1F\x8C\x08"};
    make_mixture(source, SOURCE_BYTES);
    for (size_t b = 0; b < sizeof behind / sizeof *behind; b++) {
        file f = {0};
        for (size_t at = 0, k = 0; at < SOURCE_BYTES; k++) {
            size_t n = k % 3 ? 1 + next() % 400000 : next() % 200; /* guesses cross them */
            n = n < SOURCE_BYTES - at ? n : SOURCE_BYTES - at;
            append_member(&f, source + at, n, kinds[k % KINDS]);
            at += n;
        }
        append_member(&f, source, 0, kinds[1]);
        append(&f, behind[b], strlen(behind[b]));
        for (size_t i = 0; i < CHUNKS; i++)
            check_gives(&f, source, SOURCE_BYTES, in_chunks(2, chunks[i]));
        free(f.data);
    }
}
END_TEST

START_TEST(every_part_of_a_header)
{
    make_text(source, 100000);
    file plain = {0}, f = {0};
    append_member(&plain, source, 100000, kinds[1]);
    append(&f, "\x1F\x8B\x08\x1E\0\0\0\0\0\x03", 10); /* all but the flag for text */
    append(&f, "\x05\0extra", 7);
    append(&f, "name\0a comment", 15);
    uLong crc = crc32(0, f.data, (uInt)f.bytes);
    append(&f, (uint8_t[]){(uint8_t)crc, (uint8_t)(crc >> 8)}, 2);
    append(&f, plain.data + 10, plain.bytes - 10);
    check_gives(&f, source, 100000, in_chunks(1, 700));
    size_t total;
    uint8_t *dst = malloc(100000);
    plain.data[3] = 0x20; /* a flag that nobody knows */
    txm_gunzip_settings reserved = in_chunks(1, 700);
    txm_gunzip *unknown = txm_gunzip_new(&reserved, plain.bytes, read_file, read_file, &plain);
    ck_assert_int_eq(pull_all(unknown, dst, 100000, &total), TXM_GUNZIP_DAMAGED);
    txm_gunzip_free(&unknown);
    for (size_t n = 0; n < 34; n++) { /* cut within, and damaged */
        file cut = {f.data, n, 0, 0};
        txm_gunzip_settings settings = in_chunks(1, 700);
        txm_gunzip *g = txm_gunzip_new(&settings, n, read_file, read_file, &cut);
        ck_assert_int_eq(pull_all(g, dst, 100000, &total), TXM_GUNZIP_CUT);
        txm_gunzip_free(&g);
        f.data[n] ^= 1;
        g = txm_gunzip_new(&settings, f.bytes, read_file, read_file, &f);
        ck_assert_int_ne(pull_all(g, dst, 100000, &total), TXM_GUNZIP_OK);
        txm_gunzip_free(&g);
        f.data[n] ^= 1;
    }
    free(dst);
    free(plain.data);
    free(f.data);
}
END_TEST

/* ---- damage --------------------------------------------------------------------------------------------------- */

/* Whatever comes out is a beginning of what zlib gives; and it is an error where zlib finds one. */
static txm_gunzipped check_as_zlib(file *f, size_t most, txm_gunzip_settings settings)
{
    uint8_t *expected, *dst = malloc(most + 100);
    size_t expected_bytes, total;
    bool good = zlib_gunzip(f->data, f->bytes, most, &expected, &expected_bytes);
    txm_gunzip *g = txm_gunzip_new(&settings, f->bytes, read_file, read_file, f);
    ck_assert(g && dst);
    txm_gunzipped status = pull_all(g, dst, most + 100, &total);
    ck_assert_int_eq(status == TXM_GUNZIP_OK, good);
    ck_assert_uint_le(total, expected_bytes);
    ck_assert(!good || total == expected_bytes);
    ck_assert(memcmp(dst, expected, total) == 0);
    txm_gunzip_free(&g);
    free(expected);
    free(dst);
    return status;
}

START_TEST(truncated_anywhere)
{
    file f = {0};
    make_mixture(source, 400000);
    append_member(&f, source, 400000, kinds[_i]);
    size_t whole = f.bytes;
    for (size_t k = 0; k < 80; k++) {
        f.bytes = k < 20 ? whole - 1 - k : next() % whole;
        ck_assert_int_eq(check_as_zlib(&f, 400000, in_chunks(2, chunks[k % CHUNKS])), TXM_GUNZIP_CUT);
    }
    free(f.data);
}
END_TEST

START_TEST(damaged_anywhere)
{
    file f = {0};
    make_mixture(source, 400000);
    append_member(&f, source, 400000, kinds[_i]);
    size_t harmless = 0; /* what fills a byte up in front of a stored block */
    for (size_t k = 0; k < 80; k++) {
        size_t at = k < 8 ? f.bytes - 1 - k : 10 + next() % (f.bytes - 10); /* the trailer first */
        uint8_t flip = (uint8_t)(1 << next() % 8);
        f.data[at] ^= flip;
        harmless += check_as_zlib(&f, 2000000, in_chunks(2, chunks[k % CHUNKS])) == TXM_GUNZIP_OK;
        f.data[at] ^= flip;
    }
    ck_assert_uint_le(harmless, 2);
    free(f.data);
}
END_TEST

START_TEST(files_that_cannot_be_read)
{
    file f = {0};
    make_scene(source, SOURCE_BYTES);
    append_member(&f, source, SOURCE_BYTES, kinds[1]);
    uint8_t *dst = malloc(SOURCE_BYTES);
    for (size_t k = 0; k < 30; k++) {
        size_t total;
        txm_gunzip_settings settings = in_chunks(2, chunks[k % CHUNKS]);
        f.fails_from = 1 + next() % (f.bytes - 1);
        txm_gunzip *g = txm_gunzip_new(&settings, f.bytes, read_file, read_file, &f);
        ck_assert_int_eq(pull_all(g, dst, SOURCE_BYTES, &total), TXM_GUNZIP_UNREAD);
        ck_assert(memcmp(dst, source, total) == 0);
        txm_gunzip_free(&g);
    }
    f.fails_from = 0;
    f.most_at_once = 777; /* short reads */
    check_gives(&f, source, SOURCE_BYTES, in_chunks(2, 5000));
    free(dst);
    free(f.data);
}
END_TEST

/* ---- guesses that come to nothing ----------------------------------------------------------------------------- */

/* Streams within a stored block: the search finds blocks that are none of this stream. */
START_TEST(false_starts)
{
    file inner = {0}, f = {0};
    make_scene(source, 200000);
    size_t used = 0;
    while (used < SOURCE_BYTES - 200000) {
        inner.bytes = 0;
        append_member(&inner, source, 100000, kinds[used % 5 + 1]);
        append(&inner, source, 1 + next() % 7);
        memmove(source + 200000 + used, inner.data,
                inner.bytes < SOURCE_BYTES - 200000 - used ? inner.bytes : SOURCE_BYTES - 200000 - used);
        used += inner.bytes;
    }
    append_member(&f, source, SOURCE_BYTES, (deflate_kind){0, Z_DEFAULT_STRATEGY, 8, Z_NO_FLUSH, 0});
    for (size_t i = 0; i < CHUNKS; i++)
        check_gives(&f, source, SOURCE_BYTES, in_chunks(2, chunks[i]));
    f.bytes = 0;
    append_member(&f, source, SOURCE_BYTES, kinds[1]);
    for (size_t i = 0; i < CHUNKS; i++)
        check_gives(&f, source, SOURCE_BYTES, in_chunks(2, chunks[i]));
    free(inner.data);
    free(f.data);
}
END_TEST

/* A chunk inflates to a thousand times its size: room for a part of it. */
START_TEST(more_than_there_is_room_for)
{
    enum { LARGE = 20000000 };
    file f = {0};
    uint8_t *zeros = calloc(1, LARGE);
    ck_assert_ptr_nonnull(zeros);
    for (size_t i = 0; i < LARGE; i += 1 + next() % 20000)
        zeros[i] = (uint8_t)next();
    append_member(&f, zeros, LARGE, kinds[1]);
    check_gives(&f, zeros, LARGE, in_chunks(2, 40000));
    txm_gunzip_settings narrow = {{2, 5000, 1000}, 0}; /* hardly a block */
    check_gives(&f, zeros, LARGE, narrow);
    free(zeros);
    free(f.data);
}
END_TEST

START_TEST(stopped_in_the_middle)
{
    file f = {0};
    make_scene(source, SOURCE_BYTES);
    append_member(&f, source, SOURCE_BYTES, kinds[1]);
    uint8_t *dst = malloc(SOURCE_BYTES);
    for (size_t k = 0; k < 60; k++) {
        txm_gunzip_settings settings = in_chunks(1 + k % 4, chunks[k % CHUNKS]);
        settings.start_bytes = k % 5 ? 0 : 100000;
        txm_gunzip *g = txm_gunzip_new(&settings, f.bytes, read_file, read_file, &f);
        for (int turn = 0; turn < 3; turn++) {
            size_t stop = next() % SOURCE_BYTES, total = 0, got = 1;
            for (; total < stop && got; total += got)
                ck_assert_int_eq(txm_gunzip_pull(g, dst + total, stop - total, &got), TXM_GUNZIP_OK);
            ck_assert_uint_eq(total, stop);
            ck_assert(memcmp(dst, source, stop) == 0);
            txm_gunzip_rewind(g);
        }
        txm_gunzip_free(&g);
    }
    free(dst);
    free(f.data);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("gunzip");
    TCase *t = tcase_create("streams");
    tcase_set_timeout(t, 300);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_loop_test(t, every_kind_of_stream, 0, KINDS);
    tcase_add_test(t, guesses_are_right);
    tcase_add_test(t, several_members_and_what_follows);
    tcase_add_test(t, every_part_of_a_header);
    tcase_add_loop_test(t, truncated_anywhere, 0, KINDS);
    tcase_add_loop_test(t, damaged_anywhere, 0, KINDS);
    tcase_add_test(t, files_that_cannot_be_read);
    tcase_add_test(t, false_starts);
    tcase_add_test(t, more_than_there_is_room_for);
    tcase_add_test(t, stopped_in_the_middle);
    suite_add_tcase(s, t);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
