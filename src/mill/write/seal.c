/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the seals in a file, computes the digest without them, and writes it into them.
 */
#include "mill/write/seal.h"

#include <errno.h>
#include <libdeflate.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/endian.h"
#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"
#include "txmill/out_file.h"

enum {
    LOOK_BYTES = 64 << 10,
    DIGITS = 16,
    CRC_BYTES = 4,
    CHUNK_HEAD_BYTES = 8, /* of PNG: length and type */
    MOST_BLANKS = 32,
    PIECE_BYTES = 1 << 20
};

typedef struct blank {
    uint64_t at;
    size_t bytes; /* DIGITS: a seal; CRC_BYTES: the checksum of a chunk */
} blank;

typedef struct sealed_file {
    int fd;
    uint64_t bytes;
    blank blanks[MOST_BLANKS];
    size_t count;
    int sys_errno; /* of the first call that failed */
    uint8_t *piece;
} sealed_file;

/* Reads all bytes or fails; a file that ends early is being changed. */
static bool read_part(sealed_file *f, void *dst, size_t bytes, uint64_t at)
{
    const int rc = txm_pread_all(f->fd, dst, bytes, at);
    if (rc)
        f->sys_errno = rc;
    return rc == 0;
}

static bool write_part(sealed_file *f, const void *data, size_t bytes, uint64_t at)
{
    const int rc = txm_pwrite_all(f->fd, data, bytes, at);
    if (rc)
        f->sys_errno = rc;
    return rc == 0;
}

static void add_blank(sealed_file *f, uint64_t at, size_t bytes)
{
    if (f->count < MOST_BLANKS)
        f->blanks[f->count++] = (blank){at, bytes};
}

static void find_seals(sealed_file *f, const uint8_t *data, size_t bytes, uint64_t at)
{
    static const size_t name = sizeof TXM_OUT_FILE_SEAL - 1 - DIGITS;
    const uint8_t *p = data, *end = data + bytes;
    while ((p = memmem(p, (size_t)(end - p), TXM_OUT_FILE_SEAL, name)) && (size_t)(end - p) >= name + DIGITS) {
        p += name;
        if (strspn((const char *)p, "0123456789abcdef") >= DIGITS)
            add_blank(f, at + (uint64_t)(p - data), DIGITS);
    }
}

static bool digest(sealed_file *f, char hex[DIGITS + 1])
{
    XXH64_state_t *state = XXH64_createState();
    bool good = state != NULL;
    if (!state)
        f->sys_errno = ENOMEM;
    else
        XXH64_reset(state, 0);
    for (uint64_t at = 0; good && at < f->bytes;) {
        const size_t n = f->bytes - at < PIECE_BYTES ? (size_t)(f->bytes - at) : PIECE_BYTES;
        good = read_part(f, f->piece, n, at);
        if (good) {
            for (size_t i = 0; i < f->count; i++)
                for (size_t k = 0; k < f->blanks[i].bytes; k++) {
                    const uint64_t byte = f->blanks[i].at + k;
                    if (byte >= at && byte < at + n)
                        f->piece[byte - at] = f->blanks[i].bytes == DIGITS ? '0' : 0;
                }
            XXH64_update(state, f->piece, n);
        }
        at += n;
    }
    if (good)
        snprintf(hex, DIGITS + 1, "%016llx", (unsigned long long)XXH64_digest(state));
    XXH64_freeState(state);
    return good;
}

/* Finds the seals in both ends of the file, and in PNG the checksums of the chunks that contain them. The ends are read
 * into `piece`, which has one more byte, so that text in it ends. */
static bool open_sealed(sealed_file *f, int fd)
{
    static const uint8_t magic[8] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    struct stat st;
    *f = (sealed_file){.fd = fd, .piece = malloc(PIECE_BYTES + 1)};
    if (!f->piece)
        f->sys_errno = ENOMEM;
    else if (fstat(fd, &st) != 0)
        f->sys_errno = errno;
    else
        f->bytes = (uint64_t)st.st_size;
    const size_t head = f->bytes < 2 * LOOK_BYTES ? (size_t)f->bytes : LOOK_BYTES;
    if (f->sys_errno || !read_part(f, f->piece, head, 0))
        return false;
    f->piece[head] = 0;
    find_seals(f, f->piece, head, 0);
    const size_t seals = f->count;
    const bool png = head >= sizeof magic && memcmp(f->piece, magic, sizeof magic) == 0;
    for (size_t at = sizeof magic; png && at + CHUNK_HEAD_BYTES < head;) {
        const uint64_t end = at + CHUNK_HEAD_BYTES + (uint64_t)txm_load_be32(f->piece + at);
        bool holds = false;
        for (size_t i = 0; i < seals; i++)
            holds |= f->blanks[i].at >= at && f->blanks[i].at < end;
        if (end + CRC_BYTES > head)
            break;
        if (holds)
            add_blank(f, end, CRC_BYTES);
        at = (size_t)end + CRC_BYTES;
    }
    const uint64_t tail = f->bytes - LOOK_BYTES;
    if (head < f->bytes) {
        if (!read_part(f, f->piece, LOOK_BYTES, tail))
            return false;
        f->piece[LOOK_BYTES] = 0;
        find_seals(f, f->piece, LOOK_BYTES, tail);
    }
    return true;
}

txm_status txm_seal_file(int fd, const char *name, txm_error *err)
{
    sealed_file f;
    char hex[DIGITS + 1];
    bool good = open_sealed(&f, fd);
    if (good && f.count) {
        good = digest(&f, hex);
        for (size_t i = 0; good && i < f.count; i++)
            if (f.blanks[i].bytes == DIGITS)
                good = write_part(&f, hex, DIGITS, f.blanks[i].at);
        /* Chunks with seals are in the first part of the file. */
        for (size_t i = 0; good && i < f.count; i++) {
            const blank *crc = &f.blanks[i];
            uint32_t length = 0;
            if (crc->bytes != CRC_BYTES)
                continue;
            good = read_part(&f, f.piece, (size_t)crc->at, 0);
            uint64_t at = 8;
            for (; good && at < crc->at; at += CHUNK_HEAD_BYTES + (uint64_t)length + CRC_BYTES) {
                length = txm_load_be32(f.piece + at);
                if (at + CHUNK_HEAD_BYTES + length == crc->at)
                    break;
            }
            uint8_t sum[CRC_BYTES];
            const uint32_t value = good ? libdeflate_crc32(0, f.piece + at + 4, 4 + (size_t)length) : 0;
            for (int k = 0; k < CRC_BYTES; k++)
                sum[k] = (uint8_t)(value >> (24 - 8 * k));
            good = good && write_part(&f, sum, CRC_BYTES, crc->at);
        }
    }
    free(f.piece);
    return good ? TXM_OK : txm_fail_errno(err, f.sys_errno, "%s: the digest of the file cannot be written", name);
}

txm_status txm_seal_check(int fd, const char *name, bool *whole, txm_error *err)
{
    sealed_file f;
    char hex[DIGITS + 1], there[DIGITS];
    bool good = open_sealed(&f, fd) && (!f.count || digest(&f, hex));
    *whole = good && f.count;
    for (size_t i = 0; good && i < f.count; i++)
        if (f.blanks[i].bytes == DIGITS) {
            good = read_part(&f, there, DIGITS, f.blanks[i].at);
            *whole &= good && memcmp(there, hex, DIGITS) == 0;
        }
    free(f.piece);
    return good ? TXM_OK : txm_fail_errno(err, f.sys_errno, "%s: cannot be examined", name);
}
