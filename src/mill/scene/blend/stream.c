/* SPDX-License-Identifier: Apache-2.0
 *
 * Chooses the decoder, buffers small reads, and guards against decompression bombs; also contains the decoder for
 * plain files. Whatever the compression is, callers see one sequence of bytes with a position. Files that would
 * decompress to far more than their size are refused.
 */
#include "mill/scene/blend/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/mem.h"
#include "base/whole.h"

enum { BUFFER_BYTES = 64 * 1024 };
/* Output that is never refused: real scenes compress 2 to 20 times, meshes that are all zeros some hundred times. */
static const uint64_t free_output_bytes = UINT64_C(1) << 30;
static const uint64_t most_output_per_input = 4096;

struct txm_stream {
    const txm_stream_ops *ops;
    void *decoder;
    txm_stream_input input;
    char *name;
    uint64_t decoder_at; /* position of the decoder's next byte: the end of the buffer */
    uint64_t produced;   /* number of bytes that the decoder has delivered */
    size_t begin, end;   /* the unread part of the buffer */
    uint8_t buffer[BUFFER_BYTES];
};

txm_status txm_stream_input_read(txm_stream_input *input, void *dst, size_t bytes, size_t *got, txm_error *err)
{
    ssize_t n;
    do {
        n = pread(input->fd, dst, bytes, (off_t)input->offset);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return txm_fail_errno(err, errno, "%s: reading at byte %llu failed", input->name,
                              (unsigned long long)input->offset);
    }
    if (n == 0 && bytes > 0) {
        *got = 0;
        /* If the file is longer than what could be read, it is not damaged: it is being written, or its disk fails. */
        struct stat st;
        if (fstat(input->fd, &st) != 0)
            return txm_fail_errno(err, errno, "%s: cannot be examined", input->name);
        if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > input->offset) {
            return txm_fail(err, TXM_STATUS_CHANGED, "%s: ended after %llu of %llu bytes while it was read",
                            input->name, (unsigned long long)input->offset, (unsigned long long)st.st_size);
        }
        return TXM_OK;
    }
    input->offset += (uint64_t)n;
    input->consumed += (uint64_t)n;
    *got = (size_t)n;
    return TXM_OK;
}

/* ---- plain files ---------------------------------------------------------------------------------------------- */

/* A plain file needs no state: its position is the input's. */
static txm_status plain_pull(void *self, txm_stream_input *input, uint8_t *dst, size_t bytes, size_t *got,
                             txm_error *err)
{
    (void)self;
    return txm_stream_input_read(input, dst, bytes, got, err);
}

static txm_status plain_jump(void *self, txm_stream_input *input, uint64_t from, uint64_t to, uint64_t *landed,
                             txm_error *err)
{
    (void)self;
    (void)from;
    (void)err;
    /* The position stays within the file, since file offsets are signed; a read there reports the end anyway. */
    input->offset = to < input->file_bytes ? to : input->file_bytes;
    *landed = input->offset;
    return TXM_OK;
}

static bool plain_size(const void *self, const txm_stream_input *input, uint64_t *bytes)
{
    (void)self;
    *bytes = input->file_bytes;
    return true;
}

const txm_stream_ops txm_stream_plain = {"plain", NULL, plain_pull, plain_jump, plain_size, NULL};

/* ---- streams -------------------------------------------------------------------------------------------------- */

enum { MAGIC_BYTES = 4 };

txm_status txm_stream_open(const char *path, txm_stream **out, txm_error *err)
{
    /* O_NONBLOCK: opening a FIFO must not hang; it has no effect on regular files. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return txm_fail_errno(err, errno, "%s: cannot open", path);
    return txm_stream_from_fd(fd, path, out, err);
}

txm_status txm_stream_from_fd(int fd, const char *name, txm_stream **out, txm_error *err)
{
    txm_stream *s = txm_calloc(1, sizeof *s);
    struct stat st;
    uint8_t magic[MAGIC_BYTES];
    int64_t got = 0;
    txm_status status = TXM_OK;
    if (!s || !(s->name = txm_strdup(name))) {
        close(fd);
        free(s);
        return txm_no_memory(err, name);
    }
    s->input.fd = fd;
    s->input.name = s->name;
    if (fstat(fd, &st) != 0) {
        status = txm_fail_errno(err, errno, "%s: cannot examine", name);
    } else if (!S_ISREG(st.st_mode)) {
        status = txm_fail(err, TXM_STATUS_NOT_A_FILE, "%s: not a regular file: give the path of a .blend file", name);
    } else {
        s->input.file_bytes = (uint64_t)st.st_size;
        if ((got = txm_pread_most(fd, magic, sizeof magic, 0)) < 0)
            status = txm_fail_errno(err, errno, "%s: reading at byte 0 failed", name);
    }
    if (status == TXM_OK) {
        /* The first bytes decide, not the name. */
        static const uint8_t zstd[4] = {0x28, 0xB5, 0x2F, 0xFD};
        const txm_stream_ops *ops = got >= 2 && magic[0] == 0x1F && magic[1] == 0x8B ? &txm_stream_gzip
                                    : got >= 4 && memcmp(magic, zstd, 4) == 0        ? &txm_stream_zstd
                                                                                     : &txm_stream_plain;
        status = ops->open ? ops->open(&s->input, &s->decoder, err) : TXM_OK;
        s->ops = status == TXM_OK ? ops : NULL; /* without a decoder there is none to close */
    }
    if (status != TXM_OK) {
        txm_stream_close(&s);
        return status;
    }
    *out = s;
    return TXM_OK;
}

void txm_stream_close(txm_stream **stream)
{
    txm_stream *s = stream ? *stream : NULL;
    if (!s)
        return;
    if (s->ops && s->ops->close)
        s->ops->close(s->decoder);
    close(s->input.fd);
    free(s->name);
    free(s);
    *stream = NULL;
}

static txm_status pull(txm_stream *s, uint8_t *dst, size_t bytes, size_t *got, txm_error *err)
{
    txm_status status = s->ops->pull(s->decoder, &s->input, dst, bytes, got, err);
    if (status != TXM_OK)
        return status;
    s->decoder_at += *got;
    s->produced += *got;
    if (s->produced > free_output_bytes &&
        s->produced - free_output_bytes > s->input.consumed * most_output_per_input) {
        return txm_fail(err, TXM_STATUS_TOO_LARGE,
                        "%s: %llu compressed bytes decompress to more than %llu: refused as a decompression bomb",
                        s->name, (unsigned long long)s->input.consumed, (unsigned long long)s->produced);
    }
    return TXM_OK;
}

/* The usual damage is a copy that was interrupted. */
static txm_status ended(const txm_stream *s, txm_error *err)
{
    return txm_fail(err, TXM_STATUS_CORRUPT,
                    "%s: the data ends at byte %llu in the middle of a block: the file is truncated", s->name,
                    (unsigned long long)s->decoder_at);
}

txm_status txm_stream_read(txm_stream *s, void *dst, size_t bytes, txm_error *err)
{
    uint8_t *to = dst;
    while (bytes > 0) {
        size_t have = s->end - s->begin, got = 0;
        if (have > 0) {
            size_t n = have < bytes ? have : bytes;
            memcpy(to, s->buffer + s->begin, n);
            s->begin += n;
            to += n;
            bytes -= n;
            continue;
        }
        /* Large reads go directly to the caller's memory. */
        bool direct = bytes >= BUFFER_BYTES;
        txm_status status = pull(s, direct ? to : s->buffer, direct ? bytes : BUFFER_BYTES, &got, err);
        if (status != TXM_OK)
            return status;
        if (got == 0)
            return ended(s, err);
        s->begin = 0;
        s->end = direct ? 0 : got;
        if (direct) {
            to += got;
            bytes -= got;
        }
    }
    return TXM_OK;
}

/* Seeking backwards always works, but is expensive in gzip, which starts again. */
txm_status txm_stream_seek(txm_stream *s, uint64_t position, txm_error *err)
{
    uint64_t buffered_from = s->decoder_at - s->end;
    if (position >= buffered_from && position <= s->decoder_at) {
        s->begin = (size_t)(position - buffered_from);
        return TXM_OK;
    }
    s->begin = s->end = 0;
    uint64_t landed;
    txm_status status = s->ops->jump(s->decoder, &s->input, s->decoder_at, position, &landed, err);
    if (status != TXM_OK)
        return status;
    s->decoder_at = landed;
    while (s->decoder_at < position) {
        size_t got, want = BUFFER_BYTES;
        if (position - s->decoder_at < want)
            want = (size_t)(position - s->decoder_at);
        status = pull(s, s->buffer, want, &got, err);
        if (status != TXM_OK)
            return status;
        if (got == 0)
            return ended(s, err);
    }
    return TXM_OK;
}

bool txm_stream_size(const txm_stream *s, uint64_t *bytes)
{
    return s->ops->size && s->ops->size(s->decoder, &s->input, bytes);
}

const char *txm_stream_name(const txm_stream *s)
{
    return s->name;
}

const char *txm_stream_compression(const txm_stream *s)
{
    return s->ops->compression;
}
