/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and writing files below the formats: front to back through a small buffer or at any place
 * (source_file), mostly appended (output); and where the pixels of a film scan end (film).
 */
#include <errno.h>
#include <fcntl.h>

#include "base/endian.h"
#include "base/output.h"
#include "base/whole.h"
#include "mill/source/readers.h"
#include "mill/source/source_file.h"
#include "util_check.h"

static char path[] = "/tmp/test_file_access-XXXXXX";
/* The file has more than two pieces, and the last one is not full. */
enum { BYTES = 2 * TXM_SOURCE_PIECE_BYTES + 777 };
static uint8_t content[BYTES];

static void write_file(const void *data, size_t bytes)
{
    SCOPED(close_descriptor) int fd = open(path, O_WRONLY | O_TRUNC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, bytes), (ssize_t)bytes);
}

static void setup(void)
{
    strcpy(path + sizeof path - 7, "XXXXXX");
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    close(fd);
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (uint8_t)(i * 31 + (i >> 8));
    write_file(content, BYTES);
}

static void teardown(void)
{
    unlink(path);
}
FIXTURE(setup, teardown)

/* ---- front to back ---------------------------------------------------------------------------------------------- */

static void must_get(txm_source_file *f, size_t offset, size_t bytes)
{
    FREED uint8_t *got = malloc(bytes);
    ck_assert_uint_eq(txm_source_file_tell(f), offset);
    ck_assert(txm_source_file_get(f, got, bytes));
    ck_assert_mem_eq(got, content + offset, bytes);
}

TEST(raster_reads_across_pieces)
{
    txm_source_file f;
    ck_assert_int_eq(txm_source_file_open(&f, path, true, NULL), TXM_OK);
    must_get(&f, 0, 5);
    must_get(&f, 5, TXM_SOURCE_PIECE_BYTES);
    must_get(&f, 5 + TXM_SOURCE_PIECE_BYTES, BYTES - 5 - TXM_SOURCE_PIECE_BYTES);
    ck_assert(!txm_source_file_fill(&f));
    ck_assert_int_eq(f.sys_errno, 0); /* the end of the file is not an error */
    txm_source_file_close(&f);
}

TEST(raster_seeks)
{
    uint8_t byte;
    txm_source_file f;
    ck_assert_int_eq(txm_source_file_open(&f, path, true, NULL), TXM_OK);
    must_get(&f, 0, 10);
    txm_source_file_seek(&f, BYTES - 3);
    must_get(&f, BYTES - 3, 3);
    txm_source_file_seek(&f, 7);
    must_get(&f, 7, 100);
    txm_source_file_seek(&f, BYTES + 100);
    ck_assert(!txm_source_file_get(&f, &byte, 1));
    txm_source_file_close(&f);
}

TEST(raster_names_what_it_cannot_open)
{
    txm_source_file f;
    txm_error err = {0};
    unlink(path);
    ck_assert_int_eq(txm_source_file_open(&f, path, true, &err), TXM_STATUS_NOT_FOUND);
    ck_assert_ptr_nonnull(strstr(err.message, path));
}

/* ---- at any place ----------------------------------------------------------------------------------------------- */

TEST(random_reads_what_there_is)
{
    uint8_t got[64];
    txm_source_file f = {.fd = -1};
    ck_assert_int_eq(txm_source_file_open(&f, path, false, NULL), TXM_OK);
    ck_assert_uint_eq(f.bytes, BYTES);
    ck_assert_int_eq(txm_source_file_read(&f, got, 64, 1000), 64);
    ck_assert_mem_eq(got, content + 1000, 64);
    ck_assert_int_eq(txm_source_file_read(&f, got, 64, BYTES - 10), 10);
    ck_assert_int_eq(txm_source_file_read(&f, got, 64, BYTES + 10), 0);
    ck_assert_int_eq(txm_source_file_status(&f, path, NULL), TXM_OK);
    txm_source_file_close(&f);
    ck_assert_int_eq(f.fd, -1);
}

TEST(random_keeps_the_first_failure)
{
    uint8_t got[8];
    txm_error err = {0};
    SCOPED(txm_source_file_close) txm_source_file f = {.fd = -1};
    ck_assert_int_eq(txm_source_file_open(&f, path, false, NULL), TXM_OK);
    int fd = open(path, O_WRONLY); /* it cannot be read */
    ck_assert_int_ge(dup2(fd, f.fd), 0);
    close(fd);
    ck_assert_int_eq(txm_source_file_read(&f, got, 8, 0), -1);
    ck_assert_int_eq(f.sys_errno, EBADF);
    ck_assert_int_ne(txm_source_file_status(&f, path, &err), TXM_OK);
    ck_assert_ptr_nonnull(strstr(err.message, path));
}

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static txm_output start_output(uint64_t start)
{
    txm_output out = {0};
    ck_assert_int_eq(txm_output_open(&out, open(path, O_RDWR), start, "name", NULL), TXM_OK);
    return out;
}

static void end_output(txm_output *out)
{
    int fd = out->fd;
    txm_output_free(out);
    close(fd);
}

TEST(output_appends_patches_and_reads_back)
{
    uint8_t got[BYTES];
    txm_output out = start_output(0);
    ck_assert(txm_output_append(&out, content, 100));
    ck_assert(txm_output_append(&out, content + 100, BYTES - 100));
    ck_assert_uint_eq(txm_output_end(&out), BYTES);
    ck_assert(txm_output_write(&out, 50, "patched", 7));
    ck_assert(txm_output_read(&out, 0, got, BYTES));
    ck_assert(!memcmp(got, content, 50) && !memcmp(got + 50, "patched", 7));
    ck_assert_mem_eq(got + 57, content + 57, BYTES - 57);
    ck_assert(txm_output_flush(&out));
    ck_assert_int_eq(txm_pread_all(out.fd, got, 7, 50), 0);
    ck_assert_mem_eq(got, "patched", 7);
    ck_assert_int_eq(txm_output_status(&out, NULL), TXM_OK);
    end_output(&out);
}

TEST(output_fills_gaps_with_zeros)
{
    uint8_t got[12];
    txm_output out = start_output(BYTES);
    ck_assert(txm_output_write(&out, BYTES + 10, "ab", 2));
    ck_assert(txm_output_read(&out, BYTES, got, 12));
    ck_assert_mem_eq(got, "\0\0\0\0\0\0\0\0\0\0ab", 12);
    ck_assert_uint_eq(txm_output_end(&out), BYTES + 12);
    end_output(&out);
}

TEST(output_fails_for_good)
{
    txm_error err = {0};
    int fd = open("/dev/full", O_RDWR);
    txm_output out = {0};
    ck_assert_int_eq(txm_output_open(&out, fd, 0, "name", NULL), TXM_OK);
    txm_output_append(&out, content, BYTES);
    ck_assert(!txm_output_flush(&out));
    ck_assert(!txm_output_append(&out, content, 1));
    ck_assert_int_eq(txm_output_status(&out, &err), TXM_STATUS_DISK_FULL);
    ck_assert_ptr_nonnull(strstr(err.message, "name"));
    end_output(&out);
}

/* ---- film scans ------------------------------------------------------------------------------------------------- */

enum { DPX_HEAD = 816 };

/* Makes the header of a DPX file with `bits` bits for each sample, whose pixels begin at byte 2048. */
static void write_head(unsigned descriptor, unsigned bits, bool filled, unsigned elements, unsigned encoding)
{
    uint8_t h[DPX_HEAD] = {0};
    memcpy(h, "XPDS", 4); /* little-endian */
    txm_store_le16(h + 770, (uint16_t)elements);
    h[800] = (uint8_t)descriptor;
    h[803] = (uint8_t)bits;
    txm_store_le16(h + 804, filled);
    txm_store_le16(h + 806, (uint16_t)encoding);
    txm_store_le32(h + 808, 2048);
    write_file(h, sizeof h);
}

/* These files are in RGB. */
static void write_dpx(unsigned bits, bool filled, unsigned elements, unsigned encoding)
{
    write_head(50, bits, filled, elements, encoding);
}

static uint64_t film_end(uint32_t width, uint32_t height, uint32_t channels)
{
    txm_source_info info = {.width = width, .height = height, .file_channels = channels};
    return txm_film_pixel_end(path, &info);
}

TEST(film_ends_are_computed)
{
    write_dpx(10, true, 1, 0);
    ck_assert_uint_eq(film_end(100, 20, 3), 2048 + 100 * 4 * 20); /* three samples in 32 bits */
    write_dpx(10, true, 1, 0);
    ck_assert_uint_eq(film_end(5, 1, 1), 2048 + 8);
    /* In 4:2:2, two pixels share their colour differences; each may have an alpha of its own. */
    write_head(100, 10, true, 1, 0);
    ck_assert_uint_eq(film_end(192, 3, 3), 2048 + 128 * 4 * 3);
    write_head(101, 16, false, 1, 0);
    ck_assert_uint_eq(film_end(64, 64, 4), 2048 + 64 * 3 * 2 * 64);
    write_dpx(12, true, 1, 0);
    ck_assert_uint_eq(film_end(100, 20, 3), 2048 + 100 * 6 * 20);
    write_dpx(8, false, 1, 0);
    ck_assert_uint_eq(film_end(100, 20, 4), 2048 + 100 * 4 * 20);
}

TEST(film_ends_are_left_open_where_unknown)
{
    write_dpx(8, false, 2, 0); /* two elements */
    ck_assert_uint_eq(film_end(100, 20, 3), 0);
    write_dpx(8, false, 1, 1); /* run-length encoded */
    ck_assert_uint_eq(film_end(100, 20, 3), 0);
    write_dpx(9, false, 1, 0); /* DPX has no such depth */
    ck_assert_uint_eq(film_end(100, 20, 3), 0);
    write_file("XPDS", 4); /* the header is incomplete */
    ck_assert_uint_eq(film_end(100, 20, 3), 0);
}

TEST(film_knows_cineon_in_both_byte_orders)
{
    uint8_t h[DPX_HEAD] = {0};
    h[198] = 10;
    txm_store_le32(h, 0x802a5fd7);
    txm_store_le32(h + 4, 1024);
    write_file(h, sizeof h);
    ck_assert_uint_eq(film_end(3, 2, 3), 1024 + 3 * 4 * 2);
    txm_store_le32(h, 0xd75f2a80); /* the same number in big-endian order */
    txm_store_le32(h + 4, 0x00040000);
    write_file(h, sizeof h);
    ck_assert_uint_eq(film_end(3, 2, 3), 1024 + 3 * 4 * 2);
}
