/* SPDX-License-Identifier: Apache-2.0
 * The worker records reads that failed, for its decoders. Its functions replace the C library's in this program, too,
 * so their source is part of it. */
#include "mill/source/oiio/worker/reads.c"

#include <fcntl.h>
#include <stdint.h>

#include "util_check.h"
#include "util_tx.h"

/* Makes a file of these bytes. */
static const char *file_of(const char *text)
{
    const char *path = temp_file("read");
    save_file(path, text, strlen(text));
    txm_reads_failed();
    return path;
}

/* Opens a file whose reads fail with EIO from the start. */
static int failing(void)
{
    int fd = open("/proc/self/mem", O_RDONLY);
    ck_assert_int_ge(fd, 0);
    return fd;
}

TEST(good_reads_are_none)
{
    char bytes[8];
    SCOPED(close_descriptor) int fd = open(file_of("0123456789"), O_RDONLY);
    FILE *f = fopen(temp_file("read"), "rb");
    ck_assert_int_eq(read(fd, bytes, 8), 8);
    ck_assert_mem_eq(bytes, "01234567", 8);
    ck_assert_int_eq(pread(fd, bytes, 8, 6), 4); /* up to the end */
    ck_assert_int_eq(read(fd, bytes, 8), 2);
    ck_assert_int_eq(read(fd, bytes, 8), 0);
    ck_assert_int_eq(fseek(f, 4, SEEK_SET), 0);
    ck_assert_uint_eq(fread(bytes, 2, 4, f), 3);
    ck_assert_mem_eq(bytes, "456789", 6);
    ck_assert_uint_eq(fread(bytes, 1, 1, f), 0);
    ck_assert_int_eq(txm_reads_failed(), 0);
    fclose(f);
}

TEST(failed_reads_are_told_once)
{
    char bytes[8];
    int fd = failing();
    ck_assert_int_eq(pread(fd, bytes, 8, 0), -1);
    ck_assert_int_eq(errno, EIO);
    ck_assert_int_eq(txm_reads_failed(), EIO);
    ck_assert_int_eq(txm_reads_failed(), 0);
    ck_assert_int_eq(read(fd, bytes, 8), -1);
    ck_assert_int_eq(txm_reads_failed(), EIO);
    FILE *f = fdopen(fd, "rb");
    ck_assert_uint_eq(fread(bytes, 1, 8, f), 0);
    ck_assert(ferror(f));
    ck_assert_int_eq(txm_reads_failed(), EIO);
    /* An earlier failure of the stream is forgotten. */
    fread(bytes, 1, 8, f);
    ck_assert_int_eq(txm_reads_failed(), 0);
    fclose(f);
}

/* Decoders cause these errors with damaged files. */
TEST(mistakes_of_the_caller_are_none)
{
    char bytes[8];
    int folder = open("/", O_RDONLY), ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    txm_reads_failed();
    ck_assert_int_eq(read(folder, bytes, 8), -1);      /* EISDIR */
    ck_assert_int_eq(read(-1, bytes, 8), -1);          /* EBADF */
    ck_assert_int_eq(pread(ends[0], bytes, 8, 0), -1); /* ESPIPE */
    FILE *f = fopen(file_of("0123456789"), "rb"), *piped = fdopen(ends[0], "rb");
    ck_assert_int_ne(fseek(f, -1, SEEK_SET), 0); /* EINVAL */
    ck_assert_int_ne(fseek(f, -20, SEEK_CUR), 0);
    ck_assert_int_ne(fseek(piped, 1, SEEK_SET), 0);
    ck_assert_int_eq(txm_reads_failed(), 0);
    fclose(piped);
    fclose(f);
    close(folder);
    close(ends[1]);
}

/* A name that leads nowhere is usual; one that cannot be followed is a failure. */
TEST(sizes_that_cannot_be_read)
{
    struct stat st;
    const char *loop = temp_file("loop");
    ck_assert_int_eq(__xstat(1, temp_file("nothing"), &st), -1);
    ck_assert_int_eq(txm_reads_failed(), 0);
    ck_assert_int_eq(__xstat(1, file_of("0123"), &st), 0);
    ck_assert_int_eq(st.st_size, 4);
    ck_assert_int_eq(symlink(loop, loop), 0);
    ck_assert_int_eq(__xstat(1, loop, &st), -1);
    ck_assert_int_eq(txm_reads_failed(), ELOOP);
    unlink(loop);
}

/* The first failure is kept. */
TEST(the_first_failure_is_the_cause)
{
    note_errno(ENODEV);
    note_errno(EIO);
    note_errno(EINVAL);
    ck_assert_int_eq(txm_reads_failed(), ENODEV);
}

/* Once a stream was at its end, it stays there. If the file has more, a read was lost. */
TEST(an_end_before_the_end_is_a_failure)
{
    char bytes[16];
    FILE *f = fopen(file_of("0123"), "rb");
    ck_assert_uint_eq(fread(bytes, 1, 8, f), 4);
    ck_assert_int_eq(txm_reads_failed(), 0);
    ck_assert(feof(f));
    int fd = open(temp_file("read"), O_WRONLY | O_APPEND);
    ck_assert_int_eq(write(fd, "4567", 4), 4);
    close(fd);
    ck_assert_uint_eq(fread(bytes, 1, 8, f), 0);
    ck_assert_int_eq(txm_reads_failed(), EIO);
    fclose(f);
}

/* Every file has such a place, so the file system must have failed. */
TEST(places_that_must_exist)
{
    FILE *f = fopen(file_of("0123"), "rb");
    if (fseeko(f, INT64_MAX, SEEK_SET) != 0 && errno == EINVAL)
        ck_assert_int_eq(txm_reads_failed(), EINVAL);
    ck_assert_int_eq(fseek(f, 1000, SEEK_SET), 0);
    ck_assert_int_eq(txm_reads_failed(), 0);
    fclose(f);
}
