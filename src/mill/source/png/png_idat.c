/* SPDX-License-Identifier: Apache-2.0
 *
 * The zlib stream in a PNG's IDAT chunks. ISA-L inflates about twice as fast as zlib and checks the stream's Adler-32
 * itself; chunk structure and CRCs are checked here. Errors are the same as in libpng: a wrong CRC of a chunk that was
 * needed, another chunk where pixels are missing, a stream that ends early. Data after the last pixel are tolerated,
 * since libpng only warns of them.
 */
#include "mill/source/png/png.h"

#include <isa-l/crc.h>
#include <string.h>

#include "base/endian.h"

enum { MAX_CHUNK_BYTES = 0x7fffffff, MAX_MATCH_BYTES = 258 };

/* The first failure is kept, since later ones follow from it. */
static bool fail_idat(txm_png_idat *idat, txm_status status, const char *reason)
{
    idat->status = status;
    idat->reason = reason;
    return false;
}

static bool fail_read(txm_png_idat *idat)
{
    return idat->file->sys_errno ? fail_idat(idat, TXM_STATUS_IO, strerror(idat->file->sys_errno))
                                 : fail_idat(idat, TXM_STATUS_CORRUPT, "the file ends inside the pixel data");
}

static const uint8_t idat_type[4] = {'I', 'D', 'A', 'T'};

/* The CRC begins with the chunk's type. */
static void begin_chunk(txm_png_idat *idat, uint32_t bytes)
{
    idat->left = bytes;
    idat->crc = crc32_gzip_refl(0, idat_type, sizeof idat_type);
}

void txm_png_idat_begin(txm_png_idat *idat)
{
    txm_source_file_seek(idat->file, idat->start);
    begin_chunk(idat, idat->start_bytes);
    idat->starved = true;
    idat->ended = false;
    idat->status = TXM_OK;
    idat->reason = NULL;
    isal_inflate_init(&idat->state);
    idat->state.crc_flag = ISAL_ZLIB;
}

/* CRCs are checked although Adler-32 covers the same bytes: libpng does so, and both must agree on which files are
 * damaged. */
static bool check_crc(txm_png_idat *idat)
{
    uint8_t stored[4];
    if (!txm_source_file_get(idat->file, stored, sizeof stored))
        return fail_read(idat);
    return txm_load_be32(stored) == idat->crc || fail_idat(idat, TXM_STATUS_CORRUPT, "CRC error in an IDAT chunk");
}

/* Takes what the buffer has of the current chunk, and updates the CRC. Before, it closes chunks that are at their end
 * and opens the next one, which must be IDAT too. */
static size_t next_piece(txm_png_idat *idat, uint8_t **piece)
{
    txm_source_file *file = idat->file;
    while (!idat->left) {
        uint8_t head[8];
        if (!check_crc(idat))
            return 0;
        if (!txm_source_file_get(file, head, sizeof head))
            return fail_read(idat);
        if (memcmp(head + 4, idat_type, sizeof idat_type) != 0)
            return fail_idat(idat, TXM_STATUS_CORRUPT, "not enough image data");
        if (txm_load_be32(head) > MAX_CHUNK_BYTES)
            return fail_idat(idat, TXM_STATUS_CORRUPT, "an IDAT chunk of more than 2^31 - 1 bytes");
        begin_chunk(idat, txm_load_be32(head));
    }
    if (!txm_source_file_fill(file))
        return fail_read(idat);
    size_t n = file->end - file->pos < idat->left ? file->end - file->pos : idat->left;
    *piece = file->buffer + file->pos;
    idat->crc = crc32_gzip_refl(idat->crc, *piece, n);
    idat->left -= (uint32_t)n;
    file->pos += n;
    return n;
}

/* The inflater's codes from ISAL_INVALID_BLOCK down. */
static const char *inflate_reason(int code)
{
    return code == ISAL_INVALID_BLOCK        ? "invalid deflate block"
           : code == ISAL_INVALID_SYMBOL     ? "invalid deflate symbol"
           : code == ISAL_INVALID_LOOKBACK   ? "invalid deflate distance too far back"
           : code == ISAL_INCORRECT_CHECKSUM ? "wrong Adler-32 checksum of the pixel data"
           : code == ISAL_NEED_DICT          ? "the zlib stream needs a preset dictionary"
                                             : "not a zlib stream";
}

size_t txm_png_idat_read(txm_png_idat *idat, uint8_t *dst, size_t bytes)
{
    struct inflate_state *s = &idat->state;
    size_t done = 0;
    while (done < bytes && !idat->ended && !idat->status) {
        if (idat->starved) {
            size_t n = next_piece(idat, &s->next_in);
            if (!n)
                break;
            s->avail_in = (uint32_t)n;
        }
        uint32_t want = bytes - done < (1u << 30) ? (uint32_t)(bytes - done) : 1u << 30;
        s->next_out = dst + done;
        s->avail_out = want;
        int code = isal_inflate(s);
        done += want - s->avail_out;
        /* Room left in the output means that all input was used, but output may still be pending inside. */
        idat->starved = s->avail_out > 0;
        idat->ended = s->block_state == ISAL_BLOCK_FINISH;
        if (code < 0 || code == ISAL_NEED_DICT)
            fail_idat(idat, TXM_STATUS_CORRUPT, inflate_reason(code));
        /* A match that points before the first byte is counted, but was never written. */
        if (code == ISAL_INVALID_LOOKBACK)
            done -= done < MAX_MATCH_BYTES ? done : MAX_MATCH_BYTES;
    }
    return done;
}

/* Reads to the end of the last chunk, so that its CRC is checked too. */
bool txm_png_idat_finish(txm_png_idat *idat)
{
    uint8_t extra, *piece;
    /* One byte is enough to see that there is too much; a bomb after the last row is not decompressed. */
    if (!idat->ended && !idat->status)
        txm_png_idat_read(idat, &extra, 1);
    while (!idat->status && idat->left)
        next_piece(idat, &piece);
    return !idat->status && check_crc(idat);
}
